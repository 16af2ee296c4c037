//! Claims: "these keys signed these messages, and this is the sum of their signatures".
//!
//! Every kind of signature is such a claim. A single signature is a claim with one statement. A multi-signature is n
//! keys over one message. A block of transactions is n statements over n messages.
//!
//! ```
//! use quorate::{Backend, Claim, MinPk, SecretKey, aggregate, naive};
//! let suite = MinPk::Eth2;
//! let secrets = [1, 2, 3].map(|i| SecretKey::key_gen(suite, &[i; 32], b"").expect("32 bytes"));
//! let keys = secrets.iter().map(SecretKey::public_key).collect();
//! let signatures: Vec<_> = secrets.iter().map(|s| s.sign(suite, b"block root")).collect();
//! let sum = aggregate::aggregate(&signatures, Backend::auto())?;
//! assert!(naive::verify(&Claim::shared(suite, keys, &b"block root"[..], sum)).is_valid());
//! # Ok::<(), aggregate::MisuseError>(())
//! ```

use std::{collections::HashSet, fmt, hash::Hash, sync::Arc};

use quorate_curve::{Group, Weight};

use crate::{
    bdn,
    key::PublicKey,
    parse::ParseError,
    proof_of_possession::proof_tag,
    signature::{Signature, UncheckedSignature},
    suite::{Scheme, Suite},
    tag::{SuiteTag, Tag},
};

/// Who sent a claim. The caller gives it meaning: an index into its peers, a peer's name, a validator's number.
///
/// ```
/// use quorate::SourceId;
/// assert_eq!(SourceId::from(7u64).to_string(), "7");
/// assert_ne!(SourceId::from("7"), SourceId::from(7u64));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceId {
    /// A number.
    Number(u64),
    /// A name.
    Name(Arc<str>),
}

impl From<u64> for SourceId {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for SourceId {
    fn from(name: &str) -> Self {
        Self::Name(name.into())
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for SourceId {
    /// An integer or a string.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for SourceId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl serde::de::Visitor<'_> for Visitor {
            type Value = SourceId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an integer from 0 to 2^64 - 1")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<SourceId, E> {
                Ok(SourceId::Number(number))
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<SourceId, E> {
                Ok(SourceId::from(name))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// One or more statements and one signature over all of them. A statement is a key and a message: "this key signed this
/// message". The claim owns its data and can cross threads.
///
/// The verdict is about the whole claim: if an aggregate is valid, the signatures of its single statements are still
/// unknown. In a POP suite the verdict does not say that the owners of the keys possess their secrets: see
/// [`proof_of_possession`](crate::proof_of_possession).
#[derive(Clone, Debug)]
pub struct Claim<S: Suite> {
    suite: S,
    tag: SuiteTag,
    statements: Statements<S>,
    signature: ClaimSignature<S>,
    defect: Option<Defect>,
    source: Option<SourceId>,
}

/// The statements of a claim.
#[derive(Clone, Debug)]
pub(crate) enum Statements<S: Suite> {
    /// All keys signed one message: `FastAggregateVerify`, in which the sum of the keys must not be the identity. In a BDN suite
    /// two or more keys have the coefficients of their set.
    Shared(Vec<PublicKey<S>>, Arc<[u8]>),
    /// The rest of a claim with coefficients: those of the set that the claim was about.
    Weighted(Vec<(PublicKey<S>, Weight)>, Arc<[u8]>),
    /// Each key signed its message: `AggregateVerify`.
    Each(Vec<(PublicKey<S>, Arc<[u8]>)>),
}

/// The signature of a claim. Its membership of the subgroup was checked, or the batch still has to check it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimSignature<S: Suite> {
    /// In the subgroup.
    Checked(Signature<S>),
    /// On the curve. The batch checks whether it is in the subgroup.
    Unchecked(UncheckedSignature<S>),
}

/// What makes a claim invalid before any arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Defect {
    NoStatements,
    RepeatedMessage,
    RepeatedKey,
    IdentityAggregateKey,
    Message(ParseError),
}

impl<S: Suite> Claim<S> {
    /// One key signed one message: `Verify`.
    pub fn single(
        suite: S,
        key: PublicKey<S>,
        message: impl Into<Arc<[u8]>>,
        signature: impl Into<ClaimSignature<S>>,
    ) -> Self {
        Self::new(suite, Statements::Each(vec![(key, message.into())]), signature.into())
    }

    /// All keys signed one message: `FastAggregateVerify` (section 3.3.4). Keys may repeat.
    ///
    /// A claim without keys is invalid, except in the suite `eth2-sync-aggregate` with the identity signature. A claim
    /// of two or more keys in a NUL suite is invalid, since their messages are equal. In a BDN suite the keys are those of a set
    /// of signers, in any order and without repeats, and the signature is the one of [`bdn::aggregate`].
    pub fn shared(
        suite: S,
        keys: Vec<PublicKey<S>>,
        message: impl Into<Arc<[u8]>>,
        signature: impl Into<ClaimSignature<S>>,
    ) -> Self {
        Self::new(suite, Statements::Shared(keys, message.into()), signature.into())
    }

    /// Each key signed its own message: `AggregateVerify` (sections 2.9 and 3). Statements may repeat in AUG and POP
    /// suites. In NUL and BDN suites all messages must differ. A claim without statements is invalid.
    pub fn each(suite: S, statements: Vec<(PublicKey<S>, Arc<[u8]>)>, signature: impl Into<ClaimSignature<S>>) -> Self {
        Self::new(suite, Statements::Each(statements), signature.into())
    }

    /// A proof of possession: `PopVerify` (section 3.3.3). `None` in a suite whose scheme has no such proofs.
    pub fn proof_of_possession(suite: S, key: PublicKey<S>, proof: impl Into<ClaimSignature<S>>) -> Option<Self> {
        let tag = proof_tag(suite)?;
        Some(Self { tag, ..Self::single(suite, key, key.to_bytes().as_ref(), proof) })
    }

    /// The same claim, sent by `source`.
    #[must_use]
    pub fn from_source(self, source: impl Into<SourceId>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// The same claim with its messages hashed under this tag, in the place of the suite's. An AUG suite still hashes
    /// each message behind its signer's key, and a NUL suite still forbids equal messages.
    #[must_use]
    pub fn under_tag(self, tag: Tag) -> Self {
        Self { tag: tag.in_place_of(&self.tag), ..self }
    }

    /// The suite it was made under.
    pub fn suite(&self) -> S {
        self.suite
    }

    /// Who sent it, if the caller said so.
    pub fn source(&self) -> Option<&SourceId> {
        self.source.as_ref()
    }

    /// The signature.
    pub fn signature(&self) -> ClaimSignature<S> {
        self.signature
    }

    /// The key and message of each statement, repeats included.
    pub fn statements(&self) -> impl Iterator<Item = (PublicKey<S>, &Arc<[u8]>)> {
        (0..self.len()).map(|i| match &self.statements {
            Statements::Shared(keys, message) => (keys[i], message),
            Statements::Weighted(keys, message) => (keys[i].0, message),
            Statements::Each(statements) => (statements[i].0, &statements[i].1),
        })
    }

    /// How many statements it makes, repeats included.
    pub fn len(&self) -> usize {
        match &self.statements {
            Statements::Shared(keys, _) => keys.len(),
            Statements::Weighted(keys, _) => keys.len(),
            Statements::Each(statements) => statements.len(),
        }
    }

    /// Whether it makes no statement. That is so if all its statements were known and subtracted, or if it was made
    /// without statements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tag its messages are hashed under.
    pub(crate) fn tag(&self) -> &SuiteTag {
        &self.tag
    }

    /// Whether the suite hashes each message behind its signer's key. A proof of possession is never hashed that way,
    /// because only POP suites have such proofs.
    pub(crate) fn is_augmented(&self) -> bool {
        self.suite.scheme() == Scheme::Augmented
    }

    /// Whether several keys signed its one message, perhaps some that were subtracted. Then the sum of the keys must not be the
    /// identity.
    pub(crate) fn is_shared(&self) -> bool {
        match &self.statements {
            Statements::Shared(keys, _) => keys.len() > 1 && !self.is_augmented(),
            Statements::Weighted(..) => true,
            Statements::Each(_) => false,
        }
    }

    /// Whether its keys have coefficients: whether two or more keys of a BDN suite signed its one message.
    pub(crate) fn has_coefficients(&self) -> bool {
        match &self.statements {
            Statements::Shared(keys, _) => self.suite.scheme() == Scheme::Bdn && keys.len() > 1,
            Statements::Weighted(..) => true,
            Statements::Each(_) => false,
        }
    }

    /// The coefficient of each of its keys, if they have coefficients.
    pub(crate) fn coefficients(&self) -> Option<Vec<Weight>> {
        match &self.statements {
            Statements::Shared(keys, _) if self.has_coefficients() => {
                // With a key that occurs twice the claim has a defect, so nobody asks. Without any coefficient its keys would add up
                // to the identity, and the claim would be invalid all the same.
                Some(bdn::coefficients(&self.tag, keys).unwrap_or_default())
            }
            Statements::Weighted(keys, _) => Some(keys.iter().map(|(_, coefficient)| *coefficient).collect()),
            Statements::Shared(..) | Statements::Each(_) => None,
        }
    }

    pub(crate) fn defect(&self) -> Option<Defect> {
        self.defect
    }

    /// The same claim about fewer statements. The caller has subtracted the signatures of the others.
    pub(crate) fn reduced(
        &self,
        statements: Statements<S>,
        signature: ClaimSignature<S>,
        defect: Option<Defect>,
    ) -> Self {
        let (tag, source) = (self.tag.clone(), self.source.clone());
        Self { suite: self.suite, tag, statements, signature, defect, source }
    }

    fn new(suite: S, statements: Statements<S>, signature: ClaimSignature<S>) -> Self {
        let defect = defect(suite, &statements).or_else(|| message_flaw(suite, &statements).map(Defect::Message));
        Self { suite, tag: suite.tag(), statements, signature, defect, source: None }
    }
}

impl<S: Suite> ClaimSignature<S> {
    /// The point.
    pub fn point(&self) -> S::Signature {
        match self {
            Self::Checked(signature) => signature.point(),
            Self::Unchecked(signature) => signature.point(),
        }
    }

    /// The encoding that a claim has.
    pub fn to_bytes(&self) -> S::SignatureBytes {
        S::encode_signature(&self.point())
    }
}

impl<S: Suite> From<Signature<S>> for ClaimSignature<S> {
    fn from(signature: Signature<S>) -> Self {
        Self::Checked(signature)
    }
}

impl<S: Suite> From<UncheckedSignature<S>> for ClaimSignature<S> {
    fn from(signature: UncheckedSignature<S>) -> Self {
        if S::Signature::IS_WHOLE_CURVE {
            Self::Checked(Signature::from_member(signature.point()))
        } else {
            Self::Unchecked(signature)
        }
    }
}

fn defect<S: Suite>(suite: S, statements: &Statements<S>) -> Option<Defect> {
    match statements {
        Statements::Shared(keys, _) if keys.is_empty() => (!suite.allows_no_keys()).then_some(Defect::NoStatements),
        Statements::Each(statements) if statements.is_empty() => Some(Defect::NoStatements),
        Statements::Shared(keys, _) => match suite.scheme() {
            Scheme::Basic => (keys.len() > 1).then_some(Defect::RepeatedMessage),
            Scheme::Bdn => repeats(keys.iter()).then_some(Defect::RepeatedKey),
            Scheme::Augmented | Scheme::ProofOfPossession => None,
        },
        Statements::Each(statements) => match suite.scheme() {
            Scheme::Basic | Scheme::Bdn => {
                repeats(statements.iter().map(|(_, message)| message)).then_some(Defect::RepeatedMessage)
            }
            Scheme::Augmented | Scheme::ProofOfPossession => None,
        },
        // A rest has what its claim had.
        Statements::Weighted(..) => None,
    }
}

/// What is wrong with the first message that cannot be signed.
fn message_flaw<S: Suite>(suite: S, statements: &Statements<S>) -> Option<ParseError> {
    match statements {
        Statements::Shared(_, message) | Statements::Weighted(_, message) => suite.message_flaw(message),
        Statements::Each(statements) => statements.iter().find_map(|(_, message)| suite.message_flaw(message)),
    }
}

fn repeats<T: Eq + Hash>(mut items: impl ExactSizeIterator<Item = T>) -> bool {
    let mut seen = HashSet::with_capacity(items.len());
    !items.all(|item| seen.insert(item))
}
