//! Key sets by number, so that a claim names its set in every language, also where it is packed into bytes.
//!
//! ```
//! use quorate::Members;
//! use quorate_c::{Code, NumberedSet, sets, suites};
//! let set = NumberedSet::new(suites::by_name("eth2")?);
//! let number = set.number();
//! assert_eq!(sets::public_keys(number, Members::Indices(vec![0, 3]))?.len(), 2);
//! drop(set);
//! assert_eq!(sets::public_keys(number, Members::Indices(vec![0])).unwrap_err().code, Code::Handle);
//! # Ok::<(), quorate_c::CallFailure>(())
//! ```

use std::{
    collections::BTreeMap,
    ops::Deref,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use quorate::{AnySuite, Members, PublicKeys};

use crate::{
    fault::{CallFailure, Code},
    verbs::{self, MemberKeys},
};

/// The sets that claims can name.
static SETS: RwLock<BTreeMap<u64, Arc<dyn MemberKeys>>> = RwLock::new(BTreeMap::new());

/// A committee's keys with a number, by which claims name the set until it is dropped. A number is given once in a process.
pub struct NumberedSet {
    number: u64,
    keys: Arc<dyn MemberKeys>,
}

impl NumberedSet {
    /// A set without members.
    #[must_use]
    pub fn new(suite: AnySuite) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let keys: Arc<dyn MemberKeys> = verbs::of(suite).committee().into();
        SETS.write().unwrap_or_else(PoisonError::into_inner).insert(number, Arc::clone(&keys));
        Self { number, keys }
    }

    /// Its number, which is not 0.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl Deref for NumberedSet {
    type Target = dyn MemberKeys;

    fn deref(&self) -> &Self::Target {
        &*self.keys
    }
}

impl Drop for NumberedSet {
    fn drop(&mut self) {
        SETS.write().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

/// The public keys of a claim that names members of the set with this number. The claim keeps the set as it is now: what happens to the set
/// later changes no verdict.
///
/// # Errors
/// [`Code::Handle`]: there is no such set any more.
pub fn public_keys(number: u64, members: Members) -> Result<PublicKeys, CallFailure> {
    let keys = SETS.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned();
    let keys = keys.ok_or_else(|| {
        let text = format!("there is no key set with the number {number}: it is freed, or none of this process");
        CallFailure::new(Code::Handle, text)
    })?;
    Ok(PublicKeys::Members(keys.handle(), members))
}

#[cfg(test)]
mod tests {
    use quorate::{ClaimBytes, MinPk, Suite as _};

    use super::*;

    /// A claim holds the set as it was when the claim was read, also after the set has grown or is gone.
    #[test]
    fn a_claim_keeps_the_set_that_it_named() {
        let eth2 = verbs::of(MinPk::Eth2.any());
        let signers = [1, 2].map(|i| eth2.derive(&[i; 32], b"").unwrap());
        let set = NumberedSet::new(MinPk::Eth2.any());
        set.push(&signers[0].public_key(), true).unwrap();
        let claim = |members: &[u32]| {
            let keys = public_keys(set.number(), Members::Indices(members.to_vec())).unwrap();
            ClaimBytes::shared(MinPk::Eth2.any(), keys, *b"vote", signers[members.len() - 1].sign(b"vote").unwrap())
        };
        let (first, beyond) = (claim(&[0]), claim(&[1]));
        set.push(&signers[1].public_key(), true).unwrap();
        assert_eq!(set.members(), 2);
        assert!(first.verify().is_valid());
        assert_eq!(beyond.verify().to_string(), "invalid: the claim names member 1 of a key set of 1");
        assert_eq!(claim(&[0]).public_keys, claim(&[0]).public_keys, "of one set, as long as it does not change");
        assert_ne!(claim(&[0]).public_keys, first.public_keys);
        let other = NumberedSet::new(MinPk::Eth2.any());
        assert!(set.number() != other.number());
        drop(set);
        assert!(first.verify().is_valid());
    }
}
