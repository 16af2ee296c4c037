//! A claim list that a block must have complete: [`Expected`] names what is missing, so that nothing goes unchecked.
//!
//! A batch says of each of its claims whether it is valid. It cannot say that a claim was left out. So whoever verifies a block
//! states from the block itself which statements must be proven, apart from the code that makes the claims, and compares both.
//!
//! ```
//! use quorate::{ClaimBytes, Expected, Finding, Messages, MinPk, Options, SecretKey, Suite, Verifier};
//! # let [proposer, attester] = [1, 2].map(|i| SecretKey::key_gen(MinPk::Eth2, &[i; 32], b"").expect("32 bytes"));
//! # let key = |secret: &SecretKey<MinPk>| secret.public_key().to_bytes().to_vec();
//! # let sign = |secret: &SecretKey<MinPk>, message: &[u8]| secret.sign(MinPk::Eth2, message).to_bytes();
//! let suite = MinPk::Eth2.any();
//! let mut expected = Expected::new();
//! expected.require("proposer", suite, vec![key(&proposer)], Messages::Shared((*b"block root").into()))?;
//! expected.require("randao", suite, vec![key(&proposer)], Messages::Shared((*b"epoch").into()))?;
//! expected.require("attestation 0", suite, vec![key(&attester)], Messages::Shared((*b"vote").into()))?;
//!
//! // The code that makes the claims forgets the randao, and the attestation is a forgery.
//! let claims = [
//!     ClaimBytes::single(suite, &key(&proposer), b"block root", &sign(&proposer, b"block root")),
//!     ClaimBytes::single(suite, &key(&attester), b"vote", &sign(&attester, b"another vote")),
//! ];
//! let outcome = Verifier::new(Options::default()).verify(&claims, &mut rand::rng());
//! let found = expected.check(&claims, &outcome.verdicts)?;
//! assert!(!found.is_complete());
//! assert_eq!(found.missing().collect::<Vec<_>>(), ["randao"]);
//! assert_eq!(
//!     found.to_string(),
//!     "incomplete: \"randao\" is in no claim; \"attestation 0\" is false (claim 1): \
//!      the signature does not match the keys and messages"
//! );
//! assert_eq!(found.findings()[0], ("proposer".to_owned(), Finding::Proven { claim: 0 }));
//! # Ok::<(), quorate::MisuseError>(())
//! ```

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

#[cfg(feature = "bn254")]
use quorate_bn254::DualKey;
use sha2::{Digest, Sha256};

use crate::{
    aggregate::MisuseError,
    claim_bytes::{ClaimBytes, Messages, PublicKeys},
    suite::{AnySuite, Scheme},
    verdict::{Reason, Verdict},
};

/// What a list of claims must prove: statements, each with a name.
///
/// Call [`require`](Self::require) for each signature that the block must have, and [`check`](Self::check) with the verdicts. Fill it
/// from the block and not from the claims: a list that is made from the claims lacks what they lack.
///
/// A name and a claim meet if they make the same statement: the same suite, the same bytes of the keys, encoded or as members of a set,
/// and the same messages. The keys over a shared message are compared in any order, with their repeats. Where each key has its own
/// message, the order counts. A statement of one key is the same in both forms. Each claim meets one name: a statement that is required
/// twice must be claimed twice, because the block has two signatures of it.
///
/// Encoded keys are claimed without a proof of possession, so a claim of them can be valid where one of the members whose keys they are is
/// not. A statement that several members of a POP suite must make is therefore required only of members who have all shown that they
/// possess their secrets: [`require`](Self::require) refuses others, and no claim proves what was refused. Encoded keys that you require
/// are your word that somebody checked possession.
///
/// An empty list of requirements is never complete.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// In the order in which the caller required them.
    required: Vec<(String, Requirement)>,
    names: HashSet<String>,
}

/// A statement that is required.
#[derive(Clone, Debug)]
struct Requirement {
    statement: Statement,
    /// Why no claim proves it, however its keys are stated.
    refused: Option<Reason>,
}

/// SHA-256 of a suite, keys and messages.
type Statement = [u8; 32];

impl Expected {
    /// Nothing is required yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires that these keys signed these messages under a suite, in one claim.
    ///
    /// # Errors
    /// [`MisuseError::RepeatedName`] if the name was given before. For members of a set in a POP suite [`MisuseError::NoSuchMember`], and
    /// [`MisuseError::PossessionUnproven`] if they are several and one of them has proven nothing: then no claim proves the statement.
    /// After each error the statement is required all the same, so that a caller who ignores the error leaves nothing unchecked.
    ///
    /// Cost: a SHA-256 of the keys and the messages, the keys over a shared message sorted. It encodes each member of a key set.
    pub fn require(
        &mut self,
        name: impl Into<String>,
        suite: AnySuite,
        public_keys: impl Into<PublicKeys>,
        messages: Messages,
    ) -> Result<(), MisuseError> {
        let (name, index, public_keys) = (name.into(), self.required.len(), public_keys.into());
        let proven = match &public_keys {
            PublicKeys::Members(set, members) if suite.scheme() == Scheme::ProofOfPossession => set.proven(members),
            _ => Ok(()),
        };
        let statement = statement(suite, &public_keys, &messages);
        let requirement = Requirement { statement, refused: proven.err().map(Reason::of_members) };
        self.required.push((name.clone(), requirement));
        if self.names.insert(name) { proven } else { Err(MisuseError::RepeatedName { index }) }
    }

    /// How many statements are required.
    pub fn len(&self) -> usize {
        self.required.len()
    }

    /// Whether none is required.
    pub fn is_empty(&self) -> bool {
        self.required.is_empty()
    }

    /// Compares the claims and their verdicts, in the order of the claims, with what is required.
    ///
    /// Among claims that make the same statement the valid ones are taken first, and among names that require the same statement the
    /// earlier ones. It takes the caller's word that the verdicts are those of the claims.
    ///
    /// # Errors
    /// [`MisuseError::UnequalVerdicts`] if there is not one verdict for each claim.
    ///
    /// Cost: that of [`require`](Self::require) for each claim, and no pairing.
    pub fn check(&self, claims: &[ClaimBytes], verdicts: &[Verdict]) -> Result<Completeness, MisuseError> {
        if claims.len() != verdicts.len() {
            return Err(MisuseError::UnequalVerdicts { claims: claims.len(), verdicts: verdicts.len() });
        }
        // By statement the claims that make it, the one that is taken first at the end.
        let mut making = HashMap::<Statement, Vec<usize>>::with_capacity(claims.len());
        let (valid, invalid): (Vec<_>, Vec<_>) = (0..claims.len()).rev().partition(|index| verdicts[*index].is_valid());
        for index in invalid.into_iter().chain(valid) {
            let ClaimBytes { suite, public_keys, messages, .. } = &claims[index];
            making.entry(statement(*suite, public_keys, messages)).or_default().push(index);
        }
        let mut is_expected = vec![false; claims.len()];
        let mut finding = |Requirement { statement, refused }: &Requirement| {
            let Some(claim) = making.get_mut(statement).and_then(Vec::pop) else { return Finding::Missing };
            is_expected[claim] = true;
            match (verdicts[claim], *refused) {
                (Verdict::Valid, None) => Finding::Proven { claim },
                (Verdict::Valid, Some(reason)) | (Verdict::Invalid(reason), _) => Finding::False { claim, reason },
            }
        };
        let findings = self.required.iter().map(|(name, required)| (name.clone(), finding(required))).collect();
        let unexpected = (0..claims.len()).filter(|index| !is_expected[*index]).collect();
        Ok(Completeness { findings, unexpected })
    }
}

/// Whether claims prove all that is expected, and nothing else: the answer of [`Expected::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a list is complete only if the answer says so"]
pub struct Completeness {
    findings: Vec<(String, Finding)>,
    unexpected: Vec<usize>,
}

/// What the claims say about a required statement. Every match must decide about each of these, so the list is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A valid claim makes the statement.
    Proven {
        /// Its index.
        claim: usize,
    },
    /// A claim makes the statement, and it is not valid, or [`Expected::require`] refused the members who were to make it.
    False {
        /// Its index.
        claim: usize,
        /// Why it is not valid, or why they were refused.
        reason: Reason,
    },
    /// No claim makes the statement, or too few for all the names that require it.
    Missing,
}

impl Completeness {
    /// Whether something is required, a valid claim of its own proves each requirement, and no other claim is there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let proven = self.findings.iter().filter(|(_, finding)| matches!(finding, Finding::Proven { .. })).count();
        proven > 0 && proven == self.findings.len() && self.unexpected.is_empty()
    }

    /// By name, in the order in which they were required: what was found.
    pub fn findings(&self) -> &[(String, Finding)] {
        &self.findings
    }

    /// The names of the statements that no claim makes.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().filter(|(_, finding)| *finding == Finding::Missing).map(|(name, _)| &name[..])
    }

    /// The names of the statements that are claimed falsely, and why the claim is not valid.
    pub fn false_names(&self) -> impl Iterator<Item = (&str, Reason)> {
        self.findings.iter().filter_map(|(name, finding)| match finding {
            Finding::False { reason, .. } => Some((&name[..], *reason)),
            Finding::Proven { .. } | Finding::Missing => None,
        })
    }

    /// The indices of the claims that nobody expected, ascending: of another statement, or one more of an expected one. They are listed
    /// whether valid or not.
    pub fn unexpected(&self) -> &[usize] {
        &self.unexpected
    }
}

impl fmt::Display for Completeness {
    /// `complete: 3 statements proven`, or `incomplete: ` and everything that is wrong. Names are quoted and escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_complete() {
            return write!(f, "complete: {} statements proven", self.findings.len());
        }
        let findings = self.findings.iter().filter_map(|(name, finding)| match finding {
            Finding::Proven { .. } => None,
            Finding::False { claim, reason } => Some(format!("{name:?} is false (claim {claim}): {reason}")),
            Finding::Missing => Some(format!("{name:?} is in no claim")),
        });
        let nothing = self.findings.is_empty().then(|| "nothing is required".to_owned());
        let unexpected = self.unexpected.iter().map(|claim| format!("claim {claim} is not expected"));
        let parts: Vec<_> = nothing.into_iter().chain(findings).chain(unexpected).collect();
        write!(f, "incomplete: {}", parts.join("; "))
    }
}

/// The digest of what keys and messages state. Lengths stand in front of all bytes, so that no two statements are the same bytes.
fn statement(suite: AnySuite, public_keys: &PublicKeys, messages: &Messages) -> Statement {
    let encodings = public_keys.encodings();
    let mut keys: Vec<_> = encodings.iter().map(|key| signer(suite, key)).collect();
    let (kind, messages) = match messages {
        Messages::Shared(message) => {
            keys.sort_unstable();
            (0, std::slice::from_ref(message))
        }
        // What one key signed is the same statement in both forms.
        Messages::Each(messages) if keys.len() == 1 && messages.len() == 1 => (0, &messages[..]),
        Messages::Each(messages) => (1, &messages[..]),
        Messages::ProofOfPossession => (2, &[][..]),
    };
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(b"quorate statement 1");
    add(suite.name().as_bytes());
    add(&[kind]);
    add(&(keys.len() as u64).to_le_bytes());
    keys.into_iter().for_each(&mut add);
    messages.iter().for_each(|message| add(message));
    hash.finalize().into()
}

/// The bytes of a key that say who signed. Under `eigenlayer` they are those of the key in G2, as a member of a set has them: a claim in
/// which the key in G1 beside it is another one is not valid.
fn signer(suite: AnySuite, key: &[u8]) -> &[u8] {
    match suite {
        #[cfg(feature = "bn254")]
        AnySuite::Bn254(suite) if suite.has_dual_keys() && key.len() == DualKey::BYTES => &key[DualKey::BYTES - 128..],
        _ => key,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use quorate_curve::{Backend, Group};

    use super::*;
    use crate::{
        key::{PublicKey, SecretKey},
        keyset::{AnyKeySet, Bitmap, KeySet, Members},
        suite::{MinPk, Suite},
    };

    const VALID: Verdict = Verdict::Valid;
    const FALSE: Verdict = Verdict::Invalid(Reason::Mismatch);

    fn eth2() -> AnySuite {
        MinPk::Eth2.any()
    }

    /// A claim whose signature nobody looks at.
    fn claim(suite: AnySuite, keys: impl Into<PublicKeys>, messages: Messages) -> ClaimBytes {
        ClaimBytes { messages, ..ClaimBytes::shared(suite, keys, *b"", *b"") }
    }

    fn shared(message: &[u8]) -> Messages {
        Messages::Shared(message.into())
    }

    fn each(messages: &[&[u8]]) -> Messages {
        Messages::Each(messages.iter().map(|message| (*message).into()).collect())
    }

    /// "Key" number i of so many.
    fn keys<const N: usize>(of: [u8; N]) -> Vec<Vec<u8>> {
        of.map(|i| vec![i; 48]).to_vec()
    }

    fn expecting(required: &[(&str, &ClaimBytes)]) -> Expected {
        let mut expected = Expected::new();
        for (name, ClaimBytes { suite, public_keys, messages, .. }) in required {
            expected.require(*name, *suite, public_keys.clone(), messages.clone()).unwrap();
        }
        expected
    }

    fn same(a: &ClaimBytes, b: &ClaimBytes) -> bool {
        expecting(&[("it", a)]).check(std::slice::from_ref(b), &[VALID]).unwrap().is_complete()
    }

    fn set<S: Suite>(suite: S) -> (AnyKeySet, Vec<Vec<u8>>) {
        let secrets = [1, 2, 3].map(|i| SecretKey::key_gen(suite, &[i; 32], b"").unwrap());
        let mut set = KeySet::new(suite, Backend::Portable);
        secrets.iter().for_each(|secret| set.push_assumed(secret.public_key()));
        (set.into_any(), secrets.iter().map(|secret| secret.claim_key(suite)).collect())
    }

    #[test]
    fn a_left_out_claim_is_named() {
        let [a, b, c] = [1, 2, 3].map(|i| claim(eth2(), keys([i]), shared(b"m")));
        let expected = expecting(&[("a", &a), ("b", &b), ("c", &c)]);
        let found = expected.check(&[c.clone(), a.clone()], &[VALID; 2]).unwrap();
        assert!(!found.is_complete());
        assert_eq!(found.missing().collect::<Vec<_>>(), ["b"]);
        assert_eq!(found.false_names().count() + found.unexpected().len(), 0);
        assert_eq!(found.to_string(), "incomplete: \"b\" is in no claim");
        let found = expected.check(&[c, b, a], &[VALID; 3]).unwrap();
        assert_eq!(found.findings().iter().map(|(name, _)| &name[..]).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(found.findings()[0].1, Finding::Proven { claim: 2 });
        assert_eq!(found.to_string(), "complete: 3 statements proven");
    }

    #[test]
    fn a_false_claim_is_named_with_its_reason() {
        let [a, b] = [1, 2].map(|i| claim(eth2(), keys([i]), shared(b"m")));
        let reason = Reason::NoStatements;
        let verdicts = [VALID, Verdict::Invalid(reason)];
        let found = expecting(&[("b", &b), ("a", &a)]).check(&[a, b], &verdicts).unwrap();
        assert!(!found.is_complete());
        assert_eq!(found.false_names().collect::<Vec<_>>(), [("b", reason)]);
        assert_eq!(found.findings()[0], ("b".to_owned(), Finding::False { claim: 1, reason }));
    }

    #[test]
    fn an_unexpected_claim_is_listed() {
        let [a, b] = [1, 2].map(|i| claim(eth2(), keys([i]), shared(b"m")));
        for verdict in [VALID, FALSE] {
            let found = expecting(&[("a", &a)]).check(&[b.clone(), a.clone()], &[verdict, VALID]).unwrap();
            assert_eq!((found.unexpected(), found.is_complete()), (&[0][..], false));
            assert_eq!(found.to_string(), "incomplete: claim 0 is not expected");
        }
    }

    #[test]
    fn nothing_required_is_never_complete() {
        let found = Expected::new().check(&[], &[]).unwrap();
        assert!(!found.is_complete());
        assert_eq!(found.to_string(), "incomplete: nothing is required");
        let a = claim(eth2(), keys([1]), shared(b"m"));
        let found = Expected::default().check(std::slice::from_ref(&a), &[VALID]).unwrap();
        assert_eq!((found.unexpected(), found.is_complete()), (&[0][..], false));
        let found = expecting(&[("a", &a)]).check(&[], &[]).unwrap();
        assert_eq!((found.missing().count(), found.is_complete()), (1, false));
    }

    #[test]
    fn verdicts_of_other_claims_are_refused() {
        let a = claim(eth2(), keys([1]), shared(b"m"));
        for verdicts in [&[][..], &[VALID; 2]] {
            let error = MisuseError::UnequalVerdicts { claims: 1, verdicts: verdicts.len() };
            assert_eq!(expecting(&[("a", &a)]).check(std::slice::from_ref(&a), verdicts), Err(error));
        }
    }

    /// The second statement is required all the same.
    #[test]
    fn a_repeated_name_is_an_error_and_leaves_nothing_unchecked() {
        let [a, b] = [1, 2].map(|i| claim(eth2(), keys([i]), shared(b"m")));
        let mut expected = expecting(&[("x", &a)]);
        let refused = expected.require("x", b.suite, b.public_keys.clone(), b.messages.clone());
        assert_eq!(refused, Err(MisuseError::RepeatedName { index: 1 }));
        assert_eq!(expected.len(), 2);
        let found = expected.check(std::slice::from_ref(&a), &[VALID]).unwrap();
        assert_eq!((found.missing().collect::<Vec<_>>(), found.is_complete()), (vec!["x"], false));
        assert!(expected.check(&[a, b], &[VALID; 2]).unwrap().is_complete());
    }

    /// A block has two signatures of one statement: one claim is not enough for both.
    #[test]
    fn a_statement_required_twice_is_claimed_twice() {
        let a = claim(eth2(), keys([1]), shared(b"m"));
        let expected = expecting(&[("first", &a), ("second", &a)]);
        let found = expected.check(std::slice::from_ref(&a), &[VALID]).unwrap();
        assert_eq!((found.missing().collect::<Vec<_>>(), found.is_complete()), (vec!["second"], false));
        let both = [a.clone(), a.clone()];
        assert!(expected.check(&both, &[VALID; 2]).unwrap().is_complete());
        let found = expected.check(&both, &[FALSE, VALID]).unwrap();
        assert_eq!(found.findings()[0].1, Finding::Proven { claim: 1 });
        assert_eq!(found.false_names().collect::<Vec<_>>(), [("second", Reason::Mismatch)]);
    }

    /// The statement is true, but a claim of the list is not, and the block's signature may be that of the false one.
    #[test]
    fn a_statement_claimed_truly_and_falsely_is_not_complete() {
        let a = claim(eth2(), keys([1]), shared(b"m"));
        for (verdicts, proving, other) in [([VALID, FALSE], 0, 1), ([FALSE, VALID], 1, 0), ([VALID, VALID], 0, 1)] {
            let found = expecting(&[("a", &a)]).check(&[a.clone(), a.clone()], &verdicts).unwrap();
            assert_eq!(found.findings()[0].1, Finding::Proven { claim: proving });
            assert_eq!((found.unexpected(), found.is_complete()), (&[other][..], false));
        }
    }

    #[test]
    fn members_of_a_set_are_their_encoded_keys() {
        let (set, encoded) = set(MinPk::Eth2);
        let members = |members: Members| PublicKeys::Members(set.clone(), members);
        let some = claim(eth2(), vec![encoded[2].clone(), encoded[0].clone()], shared(b"m"));
        for form in
            [Members::Bitmap(Bitmap::from_indices([0, 2])), Members::Indices(vec![0, 2]), Members::Indices(vec![2, 0])]
        {
            let by_members = claim(eth2(), members(form), shared(b"m"));
            assert!(same(&some, &by_members) && same(&by_members, &some));
        }
        for form in [Members::Indices(vec![0, 1]), Members::Indices(vec![0, 2, 2]), Members::Indices(vec![0, 2, 3])] {
            assert!(!same(&some, &claim(eth2(), members(form), shared(b"m"))));
        }
    }

    /// The set's check of possession was met around it: the member's encoded keys make the same statement, and a rogue key among them
    /// makes it valid.
    #[test]
    fn a_requirement_of_unproven_members_is_not_met_by_their_encoded_keys() {
        let secrets = [1, 2].map(|i| SecretKey::key_gen(MinPk::Eth2, &[i; 32], b"").unwrap());
        let [honest, other] = secrets.each_ref().map(SecretKey::public_key);
        // The other's key minus the honest one: both together are the other's, who signs for both.
        let rogue = PublicKey::from_point(Backend::Portable.sum(&[other.point(), honest.point().negate()])).unwrap();
        let signature = secrets[1].sign(MinPk::Eth2, b"m").to_bytes();
        let mut set = KeySet::new(MinPk::Eth2, Backend::Portable);
        set.push_assumed(honest);
        set.push(rogue);
        let set = set.into_any();
        let encoded: Vec<_> = [honest, rogue].iter().map(|key| key.to_bytes().to_vec()).collect();
        let by_keys = ClaimBytes::shared(eth2(), encoded.clone(), *b"m", signature);
        assert_eq!(by_keys.verify(), VALID);
        let reason = Reason::PossessionUnproven { index: 1 };
        for members in [Members::Indices(vec![0, 1]), Members::Bitmap(Bitmap::from_indices([0, 1]))] {
            let members = PublicKeys::Members(set.clone(), members);
            let by_members = ClaimBytes { public_keys: members.clone(), ..by_keys.clone() };
            assert_eq!(by_members.verify(), Verdict::Invalid(reason));
            for messages in [shared(b"m"), each(&[b"m", b"m"])] {
                let mut expected = Expected::new();
                let refused = expected.require("vote", eth2(), members.clone(), messages.clone());
                assert_eq!((refused, expected.len()), (Err(MisuseError::PossessionUnproven { index: 1 }), 1));
                for public_keys in [encoded.clone().into(), members.clone()] {
                    let claim = ClaimBytes { public_keys, messages: messages.clone(), ..by_keys.clone() };
                    let found = expected.check(std::slice::from_ref(&claim), &[VALID]).unwrap();
                    assert!(!found.is_complete());
                    assert_eq!(found.findings()[0].1, Finding::False { claim: 0, reason });
                }
                assert_eq!(expected.check(&[], &[]).unwrap().missing().collect::<Vec<_>>(), ["vote"]);
            }
        }
        // One member needs to show nothing, and the caller's encoded keys are the caller's word.
        let mut expected = Expected::new();
        let one = PublicKeys::Members(set.clone(), Members::Indices(vec![1]));
        assert_eq!(expected.require("one", eth2(), one, shared(b"m")), Ok(()));
        assert_eq!(expected.require("keys", eth2(), encoded, shared(b"m")), Ok(()));
        let absent = PublicKeys::Members(set, Members::Indices(vec![2]));
        let refused = expected.require("absent", eth2(), absent, shared(b"m"));
        assert_eq!(refused, Err(MisuseError::NoSuchMember { index: 2, members: 2 }));
    }

    /// Encoded, a key of EigenLayer has both groups. As a member it has G2 alone.
    #[cfg(feature = "bn254")]
    #[test]
    fn members_on_bn254_are_their_encoded_keys() {
        use quorate_bn254::Bn254Suite;
        for suite in [Bn254Suite::EigenLayer, Bn254Suite::KeccakProofOfPossession] {
            let (set, encoded) = set(suite);
            let by_members = PublicKeys::Members(set, Members::Indices(vec![0, 1]));
            let by_members = claim(suite.any(), by_members, shared(&[5; 32]));
            assert!(same(&by_members, &claim(suite.any(), encoded[..2].to_vec(), shared(&[5; 32]))), "{suite}");
            assert!(!same(&by_members, &claim(suite.any(), encoded[1..].to_vec(), shared(&[5; 32]))), "{suite}");
        }
    }

    #[test]
    fn the_order_of_keys_counts_where_each_has_its_message() {
        let over_one = |of| claim(eth2(), keys(of), shared(b"m"));
        assert!(same(&over_one([1, 2, 1]), &over_one([1, 1, 2])));
        assert!(!same(&over_one([1, 2, 1]), &over_one([1, 2, 2])));
        let over_two = |of| claim(eth2(), keys(of), each(&[b"a", b"b"]));
        assert!(same(&over_two([1, 2]), &over_two([1, 2])));
        assert!(!same(&over_two([1, 2]), &over_two([2, 1])));
    }

    #[test]
    fn other_statements_are_not_the_same() {
        let it = claim(eth2(), keys([1]), shared(b"ab"));
        assert!(same(&it, &claim(eth2(), keys([1]), each(&[b"ab"]))), "one key and one message are one statement");
        let possession = claim(eth2(), keys([1]), Messages::ProofOfPossession);
        assert!(same(&possession, &possession));
        let pair = claim(eth2(), keys([1, 2]), each(&[b"ab", b"ab"]));
        let others = [
            claim(MinPk::Eth2SyncAggregate.any(), keys([1]), shared(b"ab")),
            claim(eth2(), keys([2]), shared(b"ab")),
            claim(eth2(), keys([1, 1]), shared(b"ab")),
            claim(eth2(), keys([]), shared(b"ab")),
            claim(eth2(), vec![vec![1; 47]], shared(b"ab")),
            claim(eth2(), keys([1]), shared(b"a")),
            claim(eth2(), keys([1]), shared(b"")),
            claim(eth2(), keys([1]), each(&[b"a", b"b"])),
            claim(eth2(), keys([1]), each(&[])),
            claim(eth2(), keys([1, 2]), shared(b"ab")),
            claim(eth2(), keys([1, 2]), each(&[b"a", b"bab"])),
            possession,
        ];
        for other in &others {
            assert!(!same(&it, other) && !same(&pair, other), "{other:?}");
        }
    }

    #[test]
    fn names_are_escaped() {
        let a = claim(eth2(), keys([1]), shared(b"m"));
        let found = expecting(&[("\x1b[1m", &a)]).check(&[], &[]).unwrap();
        assert_eq!(found.to_string(), "incomplete: \"\\u{1b}[1m\" is in no claim");
    }

    /// A statement in a readable form, to compare with the digest.
    fn plain(claim: &ClaimBytes) -> impl PartialEq {
        let mut keys: Vec<_> = claim.public_keys.encodings().into_iter().map(|key| key.into_owned()).collect();
        let (kind, messages) = match &claim.messages {
            Messages::Shared(message) => (0, vec![message.clone()]),
            Messages::Each(messages) if (keys.len(), messages.len()) == (1, 1) => (0, messages.clone()),
            Messages::Each(messages) => (1, messages.clone()),
            Messages::ProofOfPossession => (2, vec![]),
        };
        if kind == 0 {
            keys.sort();
        }
        (claim.suite, kind, keys, messages)
    }

    fn any_claim(set: AnyKeySet, encoded: Vec<Vec<u8>>) -> impl Strategy<Value = ClaimBytes> {
        let message = prop::sample::select(vec![&b""[..], b"a", b"ab"]).prop_map(Arc::from);
        let messages = prop_oneof![
            message.clone().prop_map(Messages::Shared),
            prop::collection::vec(message, 0..3).prop_map(Messages::Each),
            Just(Messages::ProofOfPossession),
        ];
        let suite = prop::sample::select(vec![MinPk::Eth2, MinPk::Basic]);
        (prop::collection::vec(0..3_u32, 0..3), any::<bool>(), suite, messages).prop_map(
            move |(members, by_members, suite, messages)| {
                let encode = || members.iter().map(|i| encoded[*i as usize].clone()).collect();
                let members_of = || PublicKeys::Members(set.clone(), Members::Indices(members.clone()));
                claim(suite.any(), if by_members { members_of() } else { encode() }, messages)
            },
        )
    }

    proptest! {
        /// Every list of claims, against a count of equal statements in their readable form.
        #[test]
        fn agrees_with_a_count(
            (required, claims) in {
                let (set, encoded) = set(MinPk::Eth2);
                let all = prop::collection::vec(any_claim(set, encoded), 0..8);
                // Half of the lists have all that is required, and perhaps more.
                (all, 0..8_usize, any::<bool>()).prop_map(|(mut all, required, is_whole)| {
                    let more = all.split_off(required.min(all.len()));
                    let claims = more.into_iter().chain(all.iter().rev().filter(|_| is_whole).cloned()).collect::<Vec<_>>();
                    (all, claims)
                })
            },
            valid in prop::collection::vec(prop::bool::weighted(0.8), 10),
        ) {
            let names: Vec<_> = (0..required.len()).map(|i| i.to_string()).collect();
            let pairs: Vec<_> = names.iter().map(String::as_str).zip(&required).collect();
            let verdicts: Vec<_> = claims.iter().zip(&valid).map(|(_, ok)| if *ok { VALID } else { FALSE }).collect();
            let found = expecting(&pairs).check(&claims, &verdicts).unwrap();
            let of = |claims: &[ClaimBytes], it: &ClaimBytes| claims.iter().filter(|c| plain(c) == plain(it)).count();
            for (place, (it, (name, finding))) in required.iter().zip(found.findings()).enumerate() {
                prop_assert_eq!(name, &names[place]);
                let before = of(&required[..place], it);
                let making: Vec<_> = (0..claims.len()).filter(|i| plain(&claims[*i]) == plain(it)).collect();
                let proving = making.iter().filter(|i| verdicts[**i].is_valid()).count();
                match *finding {
                    Finding::Proven { claim } => {
                        prop_assert!(before < proving && making.contains(&claim) && verdicts[claim] == VALID);
                    }
                    Finding::False { claim, .. } => {
                        let is_next = (proving..making.len()).contains(&before);
                        prop_assert!(is_next && making.contains(&claim) && verdicts[claim] == FALSE);
                    }
                    Finding::Missing => prop_assert!(before >= making.len()),
                }
            }
            let met = found.findings().iter().filter_map(|(_, finding)| match finding {
                Finding::Proven { claim } | Finding::False { claim, .. } => Some(*claim),
                Finding::Missing => None,
            });
            let mut seen: Vec<_> = met.chain(found.unexpected().iter().copied()).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..claims.len()).collect::<Vec<_>>(), "each claim is in one place");
            let equal = required.len() == claims.len() && required.iter().all(|it| of(&required, it) == of(&claims, it));
            let complete = !required.is_empty() && equal && verdicts.iter().all(|verdict| verdict.is_valid());
            prop_assert_eq!(found.is_complete(), complete);
        }
    }
}
