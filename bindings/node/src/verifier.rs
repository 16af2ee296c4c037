//! Packed claims to verdicts.

use std::cell::Cell;

use napi::{
    Env,
    bindgen_prelude::{Object, ObjectFinalize},
};
use napi_derive::napi;
use quorate::ClaimBytes;
use quorate_c::{CallFailure, Engine, EngineOptions, packed};

use crate::{
    external::ExternalMemory,
    fault::{Result, called},
    job::{Abort, abortable_job},
    keys::closed,
    keyset::{NamedSets, kept},
    verdicts::NativeVerdicts,
};

/// A verifier, until it is closed.
#[napi(custom_finalize)]
pub struct NativeVerifier {
    engine: Option<Engine>,
    /// How many bytes of claims it was given, or [`MOST_KEPT`] if that is less.
    given: Cell<usize>,
    /// That of what it keeps.
    memory: ExternalMemory,
}

/// The most bytes that it keeps of decoded keys and of hashes. About as many as those of the claims that have them.
const MOST_KEPT: usize = 62 << 20;

/// About how many bytes a known statement takes.
const STATEMENT: usize = 675;

impl NativeVerifier {
    fn open(&self) -> std::result::Result<&Engine, CallFailure> {
        self.engine.as_ref().ok_or_else(|| closed("verifier"))
    }

    /// Tells V8 about how much memory it keeps, with so many bytes of claims more. What claims on another thread make it remember is told
    /// at the next call.
    fn tell(&self, env: &Env, more: usize) {
        let Some(engine) = &self.engine else { return };
        self.given.set(self.given.get().saturating_add(more).min(MOST_KEPT));
        self.memory.tell(env, self.given.get() + STATEMENT * engine.verifier().known());
    }
}

impl ObjectFinalize for NativeVerifier {
    fn finalize(self, env: Env) -> napi::Result<()> {
        self.memory.tell(&env, 0);
        Ok(())
    }
}

#[napi]
impl NativeVerifier {
    /// A verifier that knows no statement. Zeros, and the empty name, are the defaults of `EngineOptions`.
    #[napi(constructor)]
    pub fn new(threads: u32, soundness: u32, backend: String, most_known: u32) -> Result<Self> {
        let most_known = most_known.into();
        let options = EngineOptions { threads, soundness, backend: &backend, most_known };
        let engine = called(|| Engine::new(&options))?;
        Ok(Self { engine: Some(engine), given: Cell::default(), memory: ExternalMemory::default() })
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
        self.tell(env, packed.len());
        let packed = packed.to_vec();
        abortable_job(env, &abort, packed.len(), move || {
            let claims = packed::read(&packed)?;
            drop((packed, sets));
            verified(&engine, &claims, remember)
        })
    }

    /// Verifies packed claims on this thread.
    #[napi]
    pub fn verify_sync(&self, env: &Env, packed: &[u8], sets: NamedSets<'_>, remember: bool) -> Result<NativeVerdicts> {
        let verdicts = called(|| {
            let _kept = kept(&sets)?;
            verified(self.open()?, &packed::read(packed)?, remember)
        });
        self.tell(env, packed.len());
        verdicts
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
    pub fn forget(&self, env: &Env) -> Result<()> {
        called(|| {
            self.open()?.verifier().forget_known();
            Ok(())
        })?;
        self.tell(env, 0);
        Ok(())
    }

    /// Frees what it keeps as soon as no call has it, and fails later calls. To close it again does nothing.
    #[napi]
    pub fn close(&mut self, env: &Env) {
        self.engine = None;
        self.memory.tell(env, 0);
    }
}

fn verified(
    engine: &Engine,
    claims: &[ClaimBytes],
    remember: bool,
) -> std::result::Result<NativeVerdicts, CallFailure> {
    Ok(NativeVerdicts::of(&engine.verify(claims, remember)?))
}
