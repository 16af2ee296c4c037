//! Claims as data: a suite, and bytes that have not been decoded yet.
//!
//! ```
//! use quorate::{AnySuite, ClaimBytes, MinPk, SecretKey};
//! # let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"")?;
//! # let (key, signature) = (secret.public_key().to_bytes(), secret.sign(MinPk::Eth2, b"hello").to_bytes());
//! let suite: AnySuite = "eth2".parse().expect("a suite's name");
//! let claim = ClaimBytes::single(suite, &key, b"hello", &signature);
//! assert!(claim.verify().is_valid());
//! // Bytes that do not decode make the claim invalid.
//! let verdict = ClaimBytes::single(suite, &key[1..], b"hello", &signature).verify();
//! assert_eq!(verdict.to_string(), "invalid: public key: found 47 bytes, expected the 48 bytes of a G1 point");
//! # Ok::<(), quorate::ParseError>(())
//! ```

use std::{borrow::Cow, sync::Arc};

use crate::{
    claim::SourceId,
    key::PublicKey,
    keyset::{AnyKeySet, Members},
    suite::{AnySuite, MinSig, Scheme},
};

/// A claim as data: what a line of a file, a request or a packet says. [`Verifier`](crate::Verifier) decodes and
/// verifies it.
///
/// Encodings: compressed points on BLS12-381; on BN254 the words of the EVM, as the suite describes them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimBytes {
    /// The suite.
    pub suite: AnySuite,
    /// The public keys.
    pub public_keys: PublicKeys,
    /// The messages that they signed.
    pub messages: Messages,
    /// The encoded signature, an aggregate if there are several statements.
    pub signature: Vec<u8>,
    /// Who sent the claim.
    pub source: Option<SourceId>,
}

/// The public keys of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PublicKeys {
    /// Their encodings.
    Encoded(Vec<Vec<u8>>),
    /// Members of a set of keys that were decoded and checked before, so that the claim costs no decoding. In a POP suite
    /// several members must all have shown that they possess their secrets. If they signed one message, their sum costs what
    /// [`KeySet::sum`](crate::KeySet::sum) costs. Then known statements are subtracted from claims of at most 4,096 members, and in one
    /// call from claims of at most 131,072 members together; the rest of the claims is summed.
    Members(AnyKeySet, Members),
}

impl PublicKeys {
    /// How many there are, repeats included.
    pub fn len(&self) -> usize {
        match self {
            Self::Encoded(keys) => keys.len(),
            Self::Members(_, members) => members.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The encoding of the key at a place, if there is one: of a member of a set on BN254 that of its key in G2. In a bitmap the members
    /// before it are counted, so for many places take all [`encodings`](Self::encodings).
    pub fn encoded(&self, place: usize) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Encoded(keys) => Some(keys.get(place)?.into()),
            Self::Members(set, members) => Some(set.encoded_key(members.at(place)?)?.into()),
        }
    }

    /// The encodings of all keys. That of a member whom the set does not have is empty.
    pub fn encodings(&self) -> Vec<Cow<'_, [u8]>> {
        match self {
            Self::Encoded(keys) => keys.iter().map(Cow::from).collect(),
            Self::Members(set, members) => {
                members.indices().iter().map(|index| set.encoded_key(*index).unwrap_or_default().into()).collect()
            }
        }
    }

    /// The list of encodings, if it is one.
    pub fn as_encoded(&self) -> Option<&Vec<Vec<u8>>> {
        if let Self::Encoded(keys) = self { Some(keys) } else { None }
    }

    /// The list of encodings, to change it, if it is one.
    pub fn as_encoded_mut(&mut self) -> Option<&mut Vec<Vec<u8>>> {
        if let Self::Encoded(keys) = self { Some(keys) } else { None }
    }
}

impl FromIterator<Vec<u8>> for PublicKeys {
    /// Encoded keys.
    fn from_iter<I: IntoIterator<Item = Vec<u8>>>(keys: I) -> Self {
        Self::Encoded(keys.into_iter().collect())
    }
}

impl From<Vec<Vec<u8>>> for PublicKeys {
    fn from(keys: Vec<Vec<u8>>) -> Self {
        Self::Encoded(keys)
    }
}

/// The messages of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Messages {
    /// Every key signed this message.
    Shared(Arc<[u8]>),
    /// Each key signed the message at its index. A claim with another number of messages than keys is invalid.
    Each(Vec<Arc<[u8]>>),
    /// A proof of possession: the claim's only key signed its own encoding, under the tag for such proofs.
    ProofOfPossession,
}

impl ClaimBytes {
    /// One key signed one message.
    pub fn single(suite: AnySuite, public_key: &[u8], message: &[u8], signature: &[u8]) -> Self {
        Self::shared(suite, vec![public_key.to_vec()], message, signature)
    }

    /// All keys signed one message.
    pub fn shared(
        suite: AnySuite,
        public_keys: impl Into<PublicKeys>,
        message: impl Into<Arc<[u8]>>,
        signature: impl Into<Vec<u8>>,
    ) -> Self {
        let messages = Messages::Shared(message.into());
        Self { suite, public_keys: public_keys.into(), messages, signature: signature.into(), source: None }
    }

    /// Each key signed the message at its place. A claim with another number of messages than keys is invalid.
    pub fn each(
        suite: AnySuite,
        public_keys: impl Into<PublicKeys>,
        messages: Vec<Arc<[u8]>>,
        signature: impl Into<Vec<u8>>,
    ) -> Self {
        let messages = Messages::Each(messages);
        Self { suite, public_keys: public_keys.into(), messages, signature: signature.into(), source: None }
    }

    /// These members of a set signed one message, under the suite of the set.
    pub fn of_members(
        set: &AnyKeySet,
        members: Members,
        message: impl Into<Arc<[u8]>>,
        signature: impl Into<Vec<u8>>,
    ) -> Self {
        Self::shared(set.suite(), PublicKeys::Members(set.clone(), members), message, signature)
    }

    /// The same claim, sent by `source`.
    #[must_use]
    pub fn from_source(self, source: impl Into<SourceId>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// A proof of possession: the owner of a key signed the key's encoding.
    pub fn proof_of_possession(suite: AnySuite, public_key: &[u8], proof: &[u8]) -> Self {
        Self { messages: Messages::ProofOfPossession, ..Self::single(suite, public_key, &[], proof) }
    }

    /// How many statements the claim makes.
    pub fn statements(&self) -> usize {
        self.public_keys.len()
    }

    /// How many bytes of messages are hashed to the curve for the claim. Most suites hash each message once. An AUG suite hashes a message
    /// that all keys signed behind each of them, so a short claim can ask for much: for callers that bound what they compute.
    pub fn hashed_bytes(&self) -> u64 {
        match &self.messages {
            Messages::Shared(message) if self.suite.scheme() == Scheme::Augmented => {
                message.len() as u64 * self.statements() as u64
            }
            Messages::Shared(message) => message.len() as u64,
            Messages::Each(messages) => messages.iter().map(|message| message.len() as u64).sum(),
            Messages::ProofOfPossession => 0,
        }
    }

    /// About how many bytes of memory the claim takes, for callers that bound what they hold: also the keys of members, which are
    /// copied while it is verified ([`memory_of_members`]).
    pub fn memory(&self) -> usize {
        let Self { suite, public_keys, messages, signature, source } = self;
        size_of::<Self>()
            + memory_of(public_keys, messages, signature, source.as_ref())
            + memory_of_members(*suite, public_keys, messages)
    }
}

/// About how many bytes of memory the parts of a claim take beside their own sizes: the room of lists that is not used, and the
/// allocator's own words, included.
pub fn memory_of(
    public_keys: &PublicKeys,
    messages: &Messages,
    signature: &Vec<u8>,
    source: Option<&SourceId>,
) -> usize {
    let messages = match messages {
        Messages::Shared(message) => SHARED + message.len(),
        Messages::Each(messages) => {
            let held = messages.iter().map(|message| SHARED + message.len()).sum::<usize>();
            held + messages.capacity() * size_of::<Arc<[u8]>>()
        }
        Messages::ProofOfPossession => 0,
    };
    let keys = match public_keys {
        PublicKeys::Encoded(keys) => {
            let unused = (keys.capacity() - keys.len()) * size_of::<Vec<u8>>();
            unused + keys.iter().map(memory_of_element).sum::<usize>()
        }
        PublicKeys::Members(_, members) => members.memory(),
    };
    let source = if let Some(SourceId::Name(name)) = source { name.len() } else { 0 };
    keys + messages + signature.capacity() + source
}

/// About how many bytes the keys of members take while their claim is verified: a bit names a member, and its key has 200 bytes.
/// Members of a POP suite who all signed one message are added up where they lie, and take none; if something is known about the
/// message, the keys of at most 131,072 of them are copied, for all claims of a call together.
pub fn memory_of_members(suite: AnySuite, public_keys: &PublicKeys, messages: &Messages) -> usize {
    const KEY: usize = size_of::<PublicKey<MinSig>>();
    match (public_keys, messages) {
        (PublicKeys::Encoded(_), _) => 0,
        (PublicKeys::Members(..), Messages::Shared(_)) if suite.scheme() == Scheme::ProofOfPossession => 0,
        (PublicKeys::Members(_, members), _) => members.len().saturating_mul(KEY),
    }
}

/// About how many bytes an element of a list of byte strings takes: its place in the list, its bytes, and the allocator's own
/// word for them.
pub fn memory_of_element(element: &Vec<u8>) -> usize {
    const ALLOCATION: usize = 16;
    size_of::<Vec<u8>>() + if element.capacity() == 0 { 0 } else { ALLOCATION + element.capacity() }
}

/// What a shared byte string takes beside its bytes: two counters, and the allocator's own word.
const SHARED: usize = 32;

/// A claim with its suite as a value of one variant's type.
pub(crate) struct Item<'a, S> {
    /// Its index in the caller's slice.
    pub(crate) index: usize,
    pub(crate) suite: S,
    pub(crate) claim: &'a ClaimBytes,
}
