//! A committee's keys by index.

use std::sync::Arc;

use napi::{
    Env,
    bindgen_prelude::{ClassInstance, Object, Uint8ArraySlice},
};
use napi_derive::napi;
use quorate_c::{CallFailure, MemberKeys, NumberedSet, suites};

use crate::{
    fault::{Result, called},
    job::{Abort, abortable_job},
    keys::bytes,
    verdicts::NativeVerdicts,
};

/// A committee's keys by index. Members are bits, from the lowest bit of the first byte.
#[napi]
pub struct NativeKeySet(Arc<NumberedSet>);

/// The sets that packed claims name by their numbers.
pub(crate) type NamedSets<'a> = Vec<ClassInstance<'a, NativeKeySet>>;

/// Keeps sets until the claims that name them are read, also if JavaScript has forgotten them by then.
pub(crate) fn kept(sets: &NamedSets<'_>) -> Vec<Arc<NumberedSet>> {
    sets.iter().map(|set| Arc::clone(&set.0)).collect()
}

#[napi]
impl NativeKeySet {
    /// A committee without members.
    #[napi(constructor)]
    pub fn new(suite: u32) -> Result<Self> {
        called(|| Ok(Self(Arc::new(NumberedSet::new(suites::by_number(suite)?)))))
    }

    /// Its number in packed claims. Below 2^53, a number of JavaScript is exact.
    #[napi]
    pub fn number(&self) -> f64 {
        self.0.number() as f64
    }

    /// Adds members, all of them or none.
    #[napi]
    pub fn push(&self, keys: &[u8], assumed: bool) -> Result<()> {
        called(|| self.0.push(keys, assumed))
    }

    /// Verifies a member's proof of possession, and records it if it is true.
    #[napi]
    pub fn prove(&self, index: u32, proof: &[u8]) -> Result<bool> {
        called(|| self.0.prove(index as usize, proof))
    }

    /// How many members there are.
    #[napi]
    pub fn size(&self) -> u32 {
        u32::try_from(self.0.members()).unwrap_or(u32::MAX)
    }

    /// The sum of members' keys.
    #[napi]
    pub fn sum<'env>(&self, env: &'env Env, members: &[u8]) -> Result<Uint8ArraySlice<'env>> {
        bytes(env, || self.0.sum(members))
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
        let committee = self.0.clone();
        let [members, message, signature] = [members, message, signature].map(<[u8]>::to_vec);
        abortable_job(env, &abort, move || verified(&**committee, &members, &message, &signature))
    }

    /// Whether members signed a message.
    #[napi]
    pub fn verify_sync(&self, members: &[u8], message: &[u8], signature: &[u8]) -> Result<NativeVerdicts> {
        called(|| verified(&**self.0, members, message, signature))
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
