//! Packed claims to verdicts.

use napi::bindgen_prelude::{AsyncTask, Uint8Array};
use napi_derive::napi;
use quorate_c::{CallFailure, Engine, EngineOptions, Ruled, Verdicts, packed};

use crate::{
    fault::{Result, called},
    job::{Job, job},
};

/// The verdicts of a call.
#[napi(object)]
pub struct NativeVerdicts {
    /// A digit for each claim, in the order of the claims: the number of its `Ruled`.
    pub codes: String,
    /// Of each claim that is not valid, in the order of the claims: why.
    pub reasons: Vec<String>,
}

/// A verifier.
#[napi]
pub struct NativeVerifier(Engine);

#[napi]
impl NativeVerifier {
    /// A verifier that knows no statement. Zeros, and the empty name, are the defaults of `EngineOptions`.
    #[napi(constructor)]
    pub fn new(threads: u32, soundness: u32, backend: String, most_known: u32) -> Result<Self> {
        let most_known = most_known.into();
        let options = EngineOptions { threads, soundness, backend: &backend, most_known };
        called(|| Engine::new(&options)).map(Self)
    }

    /// Verifies packed claims on a thread of libuv. JavaScript must not change the bytes before the promise is settled.
    #[napi(ts_return_type = "Promise<NativeVerdicts>")]
    pub fn verify(&self, packed: Uint8Array, remember: bool) -> AsyncTask<Job<NativeVerdicts>> {
        let engine = self.0.clone();
        job(move || verified(&engine, &packed, remember))
    }

    /// Verifies packed claims on this thread.
    #[napi]
    pub fn verify_sync(&self, packed: &[u8], remember: bool) -> Result<NativeVerdicts> {
        called(|| verified(&self.0, packed, remember))
    }

    /// What would be computed to verify packed claims.
    #[napi]
    pub fn plan(&self, packed: &[u8]) -> Result<String> {
        called(|| Ok(self.0.plan(&packed::read(packed)?)))
    }

    /// How many statements are known.
    #[napi]
    pub fn known(&self) -> u32 {
        u32::try_from(self.0.verifier().known()).unwrap_or(u32::MAX)
    }

    /// Forgets all known statements.
    #[napi]
    pub fn forget(&self) {
        self.0.verifier().forget_known();
    }
}

fn verified(engine: &Engine, packed: &[u8], remember: bool) -> std::result::Result<NativeVerdicts, CallFailure> {
    Ok(NativeVerdicts::of(&engine.verify(&packed::read(packed)?, remember)?))
}

impl NativeVerdicts {
    pub(crate) fn of(verdicts: &Verdicts) -> Self {
        let others = verdicts.ruled().enumerate().filter(|(_, ruled)| *ruled != Ruled::Valid);
        let reasons = others.map(|(index, _)| verdicts.reason(index)).collect();
        Self::ruled(verdicts.ruled(), reasons)
    }

    /// Verdicts, and why those that are not valid are not.
    pub(crate) fn ruled(ruled: impl Iterator<Item = Ruled>, reasons: Vec<String>) -> Self {
        Self { codes: ruled.map(|ruled| char::from(b'0' + ruled as u8)).collect(), reasons }
    }
}
