//! Suites and backends.

use napi_derive::napi;
use quorate::{AnySuite, Backend};
use quorate_c::suites;

use crate::fault::{Result, called};

/// A suite.
#[napi(object)]
pub struct NativeSuite {
    /// Its name.
    pub name: String,
    /// Its number in packed claims.
    pub number: u32,
    /// How many bytes a public key has.
    pub public_key_length: u32,
    /// How many bytes a signature has.
    pub signature_length: u32,
}

/// All suites.
#[napi]
pub fn suites() -> Result<Vec<NativeSuite>> {
    let suite = |suite: AnySuite| {
        let (key, signature) = suites::lengths(suite);
        Ok(NativeSuite {
            name: suite.name().to_owned(),
            number: suites::number(suite)?,
            public_key_length: key as u32,
            signature_length: signature as u32,
        })
    };
    called(|| AnySuite::all().map(suite).collect())
}

/// The names of the backends of this machine, the fastest first.
#[napi]
pub fn backends() -> Vec<String> {
    Backend::available().iter().map(|backend| backend.name().to_owned()).collect()
}
