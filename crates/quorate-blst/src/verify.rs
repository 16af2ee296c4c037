//! Claims: one, several in one aggregate, or many sets with weights. The answers are blst's for every point of the curve.
//!
//! blst's ate pairing does not see the part of a point of E(Fp) outside the subgroup, and neither does the engine's. With a
//! point of the twist outside the subgroup, only the product for one key and one signature is blst's. So in the other calls,
//! where the caller waives its check and it matters, the engine finds out whether there is such a point, and then blst
//! decides the call.

use std::collections::HashSet;

use quorate::{
    Bls12381Suite, Claim, Keys, Options, ParseError, PublicKey, Reason, Signature, Soundness, Tag, UncheckedSignature,
    Verdict, all_valid, claim::ClaimSignature, verify,
};
use quorate_curve::{Backend, Group, GroupId};
use rand::{
    SeedableRng,
    rngs::{StdRng, SysRng},
};

use crate::{
    check::{Check, Identity},
    points,
    threads::{Portion, threads},
};

/// A key, a message and a signature.
pub(crate) struct Set<'a, S: Bls12381Suite> {
    pub(crate) key: S::Key,
    pub(crate) message: &'a [u8],
    pub(crate) signature: S::Signature,
}

/// What the caller asked to check.
#[derive(Clone, Copy)]
pub(crate) struct Checks {
    pub(crate) keys: Check,
    pub(crate) signatures: Check,
}

/// Whether the key made the signature over `prefix` and the message.
///
/// [`Backend::pairs_to_one`] says what blst says, also with points of the twist outside the subgroup.
pub(crate) fn one<S: Bls12381Suite>(set: &Set<'_, S>, tag: &[u8], prefix: &[u8], checks: Checks) -> bool {
    let Ok(key) = PublicKey::<S>::assume_in_subgroup(set.key) else { return false };
    if checks.keys == Check::Wanted && !Backend::auto().is_member(&set.key) {
        return false;
    }
    let signature: ClaimSignature<S> = match checks.signatures {
        Check::Wanted => UncheckedSignature::from_point(set.signature).into(),
        Check::Waived => Signature::assume_in_subgroup(set.signature).into(),
    };
    key.verify_under_tag(tag, prefix, set.message, signature).is_valid()
}

/// Whether the signature is the aggregate of signatures of these keys over these messages, one each.
///
/// `blst` is what blst answers, asked only if a point of the twist is outside the subgroup and its check is waived.
pub(crate) fn aggregate<S: Bls12381Suite>(
    suite: S,
    statements: &[(S::Key, &[u8])],
    signature: S::Signature,
    tag: &[u8],
    checks: Checks,
    blst: impl FnOnce() -> bool,
) -> bool {
    let keys: Vec<_> = statements.iter().map(|(key, _)| *key).collect();
    match check_keys::<S>(&keys, checks.keys) {
        KeysAre::Refused => return false,
        KeysAre::Outside => return blst(),
        KeysAre::Usable => {}
    }
    let statements = statements.iter().map(|(key, message)| Some((assumed::<S>(*key)?, (*message).into())));
    let Some(statements) = statements.collect() else { return false };
    let claim = Claim::each(suite, statements, claim_signature::<S>(signature, checks.signatures));
    let claim = [claim.under_tag(Tag::from(tag))];
    let valid = all_valid(&claim, &options(keys.len(), Soundness::Bits64, checks), &mut weights());
    valid || (waived_in_the_twist::<S>(checks) && !Backend::auto().is_member(&signature) && blst())
}

/// Whether every set is true.
///
/// `blst` is what blst answers, asked only if a point of the twist is outside the subgroup and its check is waived.
pub(crate) fn all<S: Bls12381Suite>(
    suite: S,
    sets: &[Set<'_, S>],
    tag: &[u8],
    checks: Checks,
    soundness: Soundness,
    blst: impl FnOnce() -> bool,
) -> bool {
    match check_keys::<S>(&sets.iter().map(|set| set.key).collect::<Vec<_>>(), checks.keys) {
        KeysAre::Refused => return false,
        KeysAre::Outside => return blst(),
        KeysAre::Usable => {}
    }
    let valid = match sets {
        // The keys were checked, or need not be.
        [set] => one(set, tag, b"", Checks { keys: Check::Waived, ..checks }),
        _ => claims(suite, sets, tag, checks)
            .is_some_and(|claims| all_valid(&claims, &options(sets.len(), soundness, checks), &mut weights())),
    };
    if valid {
        return true;
    }
    let outside = || {
        let signatures: Vec<_> = sets.iter().map(|set| set.signature).collect();
        points::validate(&signatures, Identity::Allowed).is_err()
    };
    waived_in_the_twist::<S>(checks) && outside() && blst()
}

/// Which sets are true.
///
/// `blst` is what blst answers about a set, asked only if it has a point of the twist outside the subgroup whose check is
/// waived.
pub(crate) fn each<S: Bls12381Suite>(
    suite: S,
    sets: &[Set<'_, S>],
    tag: &[u8],
    checks: Checks,
    blst: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let keys: Vec<_> = sets.iter().map(|set| set.key).collect();
    let wanted = checks.keys == Check::Wanted || S::Key::ID == GroupId::G2;
    let members = if wanted { points::members(&keys) } else { vec![true; keys.len()] };
    let usable = sets.iter().zip(&members).filter(|(set, member)| **member && !set.key.is_identity());
    let claims = claims(suite, usable.map(|(set, _)| set), tag, checks).unwrap_or_default();
    let outcome = verify(&claims, &options(claims.len(), Soundness::Bits64, checks), &mut weights());
    let mut verdicts = outcome.verdicts.into_iter();
    let not_in_subgroup = Verdict::Invalid(Reason::Parse(ParseError::SignatureNotInSubgroup));
    let answer = |i: usize| {
        if keys[i].is_identity() {
            return false;
        }
        if !members[i] {
            return checks.keys == Check::Waived && blst(i);
        }
        match verdicts.next() {
            Some(verdict) if verdict == not_in_subgroup => checks.signatures == Check::Waived && blst(i),
            verdict => verdict.is_some_and(|verdict| verdict.is_valid()),
        }
    };
    (0..sets.len()).map(answer).collect()
}

/// What the check of keys says.
enum KeysAre {
    /// One is outside the subgroup although the caller wants it inside.
    Refused,
    /// One is outside the subgroup of the twist, and the caller waived the check.
    Outside,
    Usable,
}

/// Checks each distinct key, if the caller wants it or if no pairing is exact for keys outside.
fn check_keys<S: Bls12381Suite>(keys: &[S::Key], check: Check) -> KeysAre {
    if check == Check::Waived && S::Key::ID == GroupId::G1 {
        return KeysAre::Usable;
    }
    let distinct: HashSet<_> = keys.iter().copied().collect();
    let distinct: Vec<_> = distinct.into_iter().collect();
    match (points::validate(&distinct, Identity::Allowed), check) {
        (Ok(()), _) => KeysAre::Usable,
        (Err(_), Check::Wanted) => KeysAre::Refused,
        (Err(_), Check::Waived) => KeysAre::Outside,
    }
}

/// A claim about each set. `None` if a key is the identity.
fn claims<'a, S: Bls12381Suite>(
    suite: S,
    sets: impl IntoIterator<Item = &'a Set<'a, S>>,
    tag: &[u8],
    checks: Checks,
) -> Option<Vec<Claim<S>>> {
    let tag = Tag::from(tag);
    let claim = |set: &Set<'_, S>| {
        let signature = claim_signature::<S>(set.signature, checks.signatures);
        Some(Claim::single(suite, assumed::<S>(set.key)?, set.message, signature).under_tag(tag.clone()))
    };
    sets.into_iter().map(claim).collect()
}

fn assumed<S: Bls12381Suite>(key: S::Key) -> Option<PublicKey<S>> {
    PublicKey::assume_in_subgroup(key).ok()
}

/// A waived signature in G1 needs no check, because the ate pairing is exact for it. One in the twist is checked in any
/// case, so that the answer does not depend on weights.
fn claim_signature<S: Bls12381Suite>(point: S::Signature, check: Check) -> ClaimSignature<S> {
    match (check, S::Signature::ID) {
        (Check::Waived, GroupId::G1) => Signature::assume_in_subgroup(point).into(),
        _ => UncheckedSignature::from_point(point).into(),
    }
}

fn waived_in_the_twist<S: Bls12381Suite>(checks: Checks) -> bool {
    checks.signatures == Check::Waived && S::Signature::ID == GroupId::G2
}

/// The generator of a call's weights, with a fresh seed of the operating system's.
///
/// `rand::rng()` is not used, because it is not seeded anew in a process that forks: the children of a server that forks would
/// draw the same weights, and whoever learns them from one child could forge a batch for another.
///
/// # Panics
/// If the operating system has no random numbers.
fn weights() -> StdRng {
    StdRng::try_from_rng(&mut SysRng).expect("the operating system has random numbers")
}

fn options(items: usize, soundness: Soundness, checks: Checks) -> Options {
    let keys = match checks.keys {
        Check::Wanted => Keys::Checked,
        Check::Waived => Keys::Assumed,
    };
    Options { threads: threads(items, CLAIMS), soundness, keys, ..Options::default() }
}

/// The fewest claims for which another thread pays off.
const CLAIMS: Portion = Portion { one_at_a_time: 2, in_lanes: 16 };
