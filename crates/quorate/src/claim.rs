//! Claims: "these keys signed these messages, and this is the sum of their signatures".
//!
//! There is no other kind. A single signature is a claim of one statement; a multi-signature is n keys over one message;
//! a block is n statements over n messages.
//!
//! ```
//! use quorate::{Claim, MinPk, SecretKey, aggregate, naive};
//! let suite = MinPk::Eth2;
//! let secrets = [1, 2, 3].map(|i| SecretKey::key_gen(suite, &[i; 32], b"").expect("32 bytes"));
//! let keys = secrets.iter().map(SecretKey::public_key).collect();
//! let signatures: Vec<_> = secrets.iter().map(|s| s.sign(suite, b"block root")).collect();
//! let sum = aggregate::aggregate(&signatures)?;
//! assert!(naive::verify(&Claim::shared(suite, keys, &b"block root"[..], sum)).is_valid());
//! # Ok::<(), aggregate::MisuseError>(())
//! ```

use std::{collections::HashSet, sync::Arc};

use quorate_curve::Group;

use crate::{
    key::PublicKey,
    signature::{Signature, UncheckedSignature},
    suite::{Scheme, Suite},
};

/// Who sent a claim: a number that the caller gives meaning to, such as an index into its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u64);

/// One or more statements and one signature over all of them. Owns what it needs and crosses threads.
///
/// Its verdict is about the whole: a valid aggregate does not make each of its statements' own signatures known.
/// In a POP suite it does not check that the keys' owners possess their secrets: see [`possession`](crate::possession).
#[derive(Clone, Debug)]
pub struct Claim<S: Suite> {
    suite: S,
    tag: &'static str,
    statements: Statements<S>,
    signature: ClaimSignature<S>,
    defect: Option<Defect>,
    source: Option<SourceId>,
}

/// The statements of a claim.
#[derive(Clone, Debug)]
pub(crate) enum Statements<S: Suite> {
    /// All keys signed one message: `FastAggregateVerify`, in which the sum of the keys must not be the identity.
    Shared(Vec<PublicKey<S>>, Arc<[u8]>),
    /// Each key signed its message: `AggregateVerify`.
    Each(Vec<(PublicKey<S>, Arc<[u8]>)>),
}

/// A claim's signature, with or without the check of its membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimSignature<S: Suite> {
    /// In the subgroup.
    Checked(Signature<S>),
    /// On the curve; the batch checks the rest.
    Unchecked(UncheckedSignature<S>),
}

/// What makes a claim false before any arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Defect {
    NoStatements,
    RepeatedMessage,
    IdentityAggregateKey,
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
    /// Without keys it is invalid, except in the profile `eth2` with the identity signature. With two or more keys in a
    /// NUL suite it is invalid, since their messages are equal.
    pub fn shared(
        suite: S,
        keys: Vec<PublicKey<S>>,
        message: impl Into<Arc<[u8]>>,
        signature: impl Into<ClaimSignature<S>>,
    ) -> Self {
        Self::new(suite, Statements::Shared(keys, message.into()), signature.into())
    }

    /// Each key signed its own message: `AggregateVerify` (sections 2.9 and 3). Statements may repeat where the scheme
    /// lets messages repeat; without statements it is invalid.
    pub fn each(suite: S, statements: Vec<(PublicKey<S>, Arc<[u8]>)>, signature: impl Into<ClaimSignature<S>>) -> Self {
        Self::new(suite, Statements::Each(statements), signature.into())
    }

    /// A proof of possession: `PopVerify` (section 3.3.3). `None` in a suite whose scheme has none.
    pub fn possession(suite: S, key: PublicKey<S>, proof: impl Into<ClaimSignature<S>>) -> Option<Self> {
        let tag = suite.possession_tag()?;
        Some(Self { tag, ..Self::single(suite, key, key.to_bytes(), proof) })
    }

    /// The same claim, sent by `source`.
    #[must_use]
    pub fn from_source(self, source: SourceId) -> Self {
        Self { source: Some(source), ..self }
    }

    /// The suite it was made under.
    pub fn suite(&self) -> S {
        self.suite
    }

    /// Who sent it, if that was said.
    pub fn source(&self) -> Option<SourceId> {
        self.source
    }

    /// The signature.
    pub fn signature(&self) -> ClaimSignature<S> {
        self.signature
    }

    /// The key and message of each statement, repeats included.
    pub fn statements(&self) -> impl Iterator<Item = (PublicKey<S>, &Arc<[u8]>)> {
        let (shared, each) = match &self.statements {
            Statements::Shared(keys, message) => (Some((keys, message)), None),
            Statements::Each(statements) => (None, Some(statements)),
        };
        let shared = shared.into_iter().flat_map(|(keys, message)| keys.iter().map(move |key| (*key, message)));
        shared.chain(each.into_iter().flatten().map(|(key, message)| (*key, message)))
    }

    /// How many statements it makes.
    pub fn len(&self) -> usize {
        match &self.statements {
            Statements::Shared(keys, _) => keys.len(),
            Statements::Each(statements) => statements.len(),
        }
    }

    /// Whether it makes no statement: an aggregate all of whose statements were known and subtracted, or a false claim.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tag its messages are hashed under.
    pub(crate) fn tag(&self) -> &'static str {
        self.tag
    }

    /// Whether each message is hashed behind its key. A proof of possession's never is.
    pub(crate) fn is_augmented(&self) -> bool {
        self.suite.scheme() == Scheme::Augmented
    }

    /// Whether the sum of its keys must not be the identity: keys that share a message are one key, and checked as one.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(&self.statements, Statements::Shared(keys, _) if keys.len() > 1) && !self.is_augmented()
    }

    pub(crate) fn defect(&self) -> Option<Defect> {
        self.defect
    }

    /// The same claim about fewer statements, whose signatures were subtracted from its own.
    pub(crate) fn reduced(
        &self,
        statements: Vec<(PublicKey<S>, Arc<[u8]>)>,
        signature: ClaimSignature<S>,
        defect: Option<Defect>,
    ) -> Self {
        Self { statements: Statements::Each(statements), signature, defect, ..*self }
    }

    fn new(suite: S, statements: Statements<S>, signature: ClaimSignature<S>) -> Self {
        let defect = defect(suite, &statements);
        Self { suite, tag: suite.id(), statements, signature, defect, source: None }
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

    /// The compressed encoding.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.point().compress().as_ref().to_vec()
    }
}

impl<S: Suite> From<Signature<S>> for ClaimSignature<S> {
    fn from(signature: Signature<S>) -> Self {
        Self::Checked(signature)
    }
}

impl<S: Suite> From<UncheckedSignature<S>> for ClaimSignature<S> {
    fn from(signature: UncheckedSignature<S>) -> Self {
        Self::Unchecked(signature)
    }
}

fn defect<S: Suite>(suite: S, statements: &Statements<S>) -> Option<Defect> {
    match statements {
        Statements::Shared(keys, _) if keys.is_empty() => (!suite.allows_no_keys()).then_some(Defect::NoStatements),
        Statements::Each(statements) if statements.is_empty() => Some(Defect::NoStatements),
        _ if suite.scheme() != Scheme::Basic => None,
        Statements::Shared(keys, _) => (keys.len() > 1).then_some(Defect::RepeatedMessage),
        Statements::Each(statements) => {
            let mut seen = HashSet::with_capacity(statements.len());
            let distinct = statements.iter().all(|(_, message)| seen.insert(message));
            (!distinct).then_some(Defect::RepeatedMessage)
        }
    }
}
