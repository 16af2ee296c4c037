//! Packed claims to verdicts.

use napi::{Env, bindgen_prelude::Object};
use napi_derive::napi;
use quorate::ClaimBytes;
use quorate_c::{CallFailure, Engine, EngineOptions, packed};

use crate::{
    fault::{Result, called},
    job::{Abort, abortable_job},
    keyset::{NamedSets, kept},
    verdicts::NativeVerdicts,
};

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
        let (engine, packed, sets) = (self.0.clone(), packed.to_vec(), kept(&sets));
        abortable_job(env, &abort, move || {
            let claims = packed::read(&packed)?;
            drop((packed, sets));
            verified(&engine, &claims, remember)
        })
    }

    /// Verifies packed claims on this thread.
    #[napi]
    pub fn verify_sync(&self, packed: &[u8], _sets: NamedSets<'_>, remember: bool) -> Result<NativeVerdicts> {
        called(|| verified(&self.0, &packed::read(packed)?, remember))
    }

    /// What would be computed to verify packed claims.
    #[napi]
    pub fn plan(&self, packed: &[u8], _sets: NamedSets<'_>) -> Result<String> {
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

fn verified(
    engine: &Engine,
    claims: &[ClaimBytes],
    remember: bool,
) -> std::result::Result<NativeVerdicts, CallFailure> {
    Ok(NativeVerdicts::of(&engine.verify(claims, remember)?))
}
