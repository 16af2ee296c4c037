//! A committee's keys by index.

use std::sync::Arc;

use napi::{
    Env,
    bindgen_prelude::{ClassInstance, Object, ObjectFinalize, Uint8ArraySlice},
};
use napi_derive::napi;
use quorate_c::{CallFailure, MemberKeys, NumberedSet, suites};

use crate::{
    external::ExternalMemory,
    fault::{Result, called},
    job::{Abort, abortable_job},
    keys::{bytes, closed},
    verdicts::NativeVerdicts,
};

/// A committee's keys by index, until it is closed. Members are bits, from the lowest bit of the first byte.
#[napi(custom_finalize)]
pub struct NativeKeySet {
    set: Option<Arc<NumberedSet>>,
    /// That of its members.
    memory: ExternalMemory,
}

/// About how many bytes a member takes: a point of G1 or G2, as the backend computes with it.
const MEMBER: usize = 128;

impl NativeKeySet {
    fn open(&self) -> std::result::Result<&Arc<NumberedSet>, CallFailure> {
        self.set.as_ref().ok_or_else(|| closed("key set"))
    }
}

impl ObjectFinalize for NativeKeySet {
    fn finalize(self, env: Env) -> napi::Result<()> {
        self.memory.tell(&env, 0);
        Ok(())
    }
}

/// The sets that packed claims name by their numbers.
pub(crate) type NamedSets<'a> = Vec<ClassInstance<'a, NativeKeySet>>;

/// Keeps sets until the claims that name them are read, also if JavaScript has forgotten or closed them by then.
///
/// # Errors
/// [`Code::Misuse`](quorate_c::Code): one is closed now.
pub(crate) fn kept(sets: &NamedSets<'_>) -> std::result::Result<Vec<Arc<NumberedSet>>, CallFailure> {
    sets.iter().map(|set| set.open().cloned()).collect()
}

#[napi]
impl NativeKeySet {
    /// A committee without members.
    #[napi(constructor)]
    pub fn new(suite: u32) -> Result<Self> {
        let set = called(|| Ok(NumberedSet::new(suites::by_number(suite)?)))?;
        Ok(Self { set: Some(Arc::new(set)), memory: ExternalMemory::default() })
    }

    /// Its number in packed claims. Below 2^53, a number of JavaScript is exact.
    #[napi]
    pub fn number(&self) -> Result<f64> {
        called(|| Ok(self.open()?.number() as f64))
    }

    /// Adds members, all of them or none.
    #[napi]
    pub fn push(&self, env: &Env, keys: &[u8], assumed: bool) -> Result<()> {
        let members = called(|| {
            let set = self.open()?;
            set.push(keys, assumed)?;
            Ok(set.members())
        })?;
        self.memory.tell(env, members * MEMBER);
        Ok(())
    }

    /// Verifies a member's proof of possession, and records it if it is true.
    #[napi]
    pub fn prove(&self, index: u32, proof: &[u8]) -> Result<bool> {
        called(|| self.open()?.prove(index as usize, proof))
    }

    /// How many members there are.
    #[napi]
    pub fn size(&self) -> Result<u32> {
        called(|| Ok(u32::try_from(self.open()?.members()).unwrap_or(u32::MAX)))
    }

    /// The sum of members' keys.
    #[napi]
    pub fn sum<'env>(&self, env: &'env Env, members: &[u8]) -> Result<Uint8ArraySlice<'env>> {
        bytes(env, || self.open()?.sum(members))
    }

    /// Whether members signed a message, on another thread.
    #[napi(ts_return_type = "Promise<NativeVerdicts>")]
    pub fn verify<'env>(
        &self,
        env: &'env Env,
        members: &[u8],
        message: &[u8],
        signature: &[u8],
        abort: Abort<'_>,
    ) -> Result<Object<'env>> {
        let committee = called(|| self.open().cloned())?;
        let [members, message, signature] = [members, message, signature].map(<[u8]>::to_vec);
        let bytes = members.len() + message.len() + signature.len();
        abortable_job(env, &abort, bytes, move || verified(&**committee, &members, &message, &signature))
    }

    /// Whether members signed a message.
    #[napi]
    pub fn verify_sync(&self, members: &[u8], message: &[u8], signature: &[u8]) -> Result<NativeVerdicts> {
        called(|| verified(&***self.open()?, members, message, signature))
    }

    /// Frees the set as soon as no call has it, and fails later calls. To close it again does nothing.
    #[napi]
    pub fn close(&mut self, env: &Env) {
        self.set = None;
        self.memory.tell(env, 0);
    }
}

fn verified(
    committee: &dyn MemberKeys,
    members: &[u8],
    message: &[u8],
    signature: &[u8],
) -> std::result::Result<NativeVerdicts, CallFailure> {
    Ok(NativeVerdicts::of(&committee.verify(members, message, signature)?))
}
