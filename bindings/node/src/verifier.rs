//! Packed claims to verdicts.

use napi::{Env, bindgen_prelude::Object};
use napi_derive::napi;
use quorate::ClaimBytes;
use quorate_c::{CallFailure, Engine, EngineOptions, packed};

use crate::{
    fault::{Result, called},
    job::{Abort, abortable_job},
    keys::closed,
    keyset::{NamedSets, kept},
    verdicts::NativeVerdicts,
};

/// A verifier, until it is closed.
#[napi]
pub struct NativeVerifier(Option<Engine>);

impl NativeVerifier {
    fn open(&self) -> std::result::Result<&Engine, CallFailure> {
        self.0.as_ref().ok_or_else(|| closed("verifier"))
    }
}

#[napi]
impl NativeVerifier {
    /// A verifier that knows no statement. Zeros, and the empty name, are the defaults of `EngineOptions`.
    #[napi(constructor)]
    pub fn new(threads: u32, soundness: u32, backend: String, most_known: u32) -> Result<Self> {
        let most_known = most_known.into();
        let options = EngineOptions { threads, soundness, backend: &backend, most_known };
        called(|| Engine::new(&options)).map(|engine| Self(Some(engine)))
    }

    /// Verifies packed claims on another thread.
    #[napi(ts_return_type = "Promise<NativeVerdicts>")]
    pub fn verify<'env>(
        &self,
        env: &'env Env,
        packed: &[u8],
        sets: NamedSets<'_>,
        remember: bool,
        abort: Abort<'_>,
    ) -> Result<Object<'env>> {
        let (engine, sets) = called(|| Ok((self.open()?.clone(), kept(&sets)?)))?;
        let packed = packed.to_vec();
        abortable_job(env, &abort, packed.len(), move || {
            let claims = packed::read(&packed)?;
            drop((packed, sets));
            verified(&engine, &claims, remember)
        })
    }

    /// Verifies packed claims on this thread.
    #[napi]
    pub fn verify_sync(&self, packed: &[u8], sets: NamedSets<'_>, remember: bool) -> Result<NativeVerdicts> {
        called(|| {
            let _kept = kept(&sets)?;
            verified(self.open()?, &packed::read(packed)?, remember)
        })
    }

    /// What would be computed to verify packed claims.
    #[napi]
    pub fn plan(&self, packed: &[u8], sets: NamedSets<'_>) -> Result<String> {
        called(|| {
            let _kept = kept(&sets)?;
            Ok(self.open()?.plan(&packed::read(packed)?))
        })
    }

    /// How many statements are known.
    #[napi]
    pub fn known(&self) -> Result<u32> {
        called(|| Ok(u32::try_from(self.open()?.verifier().known()).unwrap_or(u32::MAX)))
    }

    /// Forgets all known statements.
    #[napi]
    pub fn forget(&self) -> Result<()> {
        called(|| {
            self.open()?.verifier().forget_known();
            Ok(())
        })
    }

    /// Frees what it keeps as soon as no call has it, and fails later calls. To close it again does nothing.
    #[napi]
    pub fn close(&mut self) {
        self.0 = None;
    }
}

fn verified(
    engine: &Engine,
    claims: &[ClaimBytes],
    remember: bool,
) -> std::result::Result<NativeVerdicts, CallFailure> {
    Ok(NativeVerdicts::of(&engine.verify(claims, remember)?))
}
