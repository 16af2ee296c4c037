//! The parts of a plan: claims, messages, sums of keys, and terms. A term is one pairing.

use std::sync::Arc;

use quorate_curve::Weight;

use super::position::{Position, Span};
use crate::{
    claim::{ClaimSignature, SourceId},
    hash_cache::{MessageDigest, UnprefixedDigest},
    key::PublicKey,
    suite::Suite,
    tag::SuiteTag,
    verdict::Reason,
};

/// A claim in a plan.
#[derive(Clone, Debug)]
pub(crate) struct Planned<S: Suite> {
    /// Its index in the caller's slice.
    pub(crate) index: usize,
    pub(crate) source: Option<SourceId>,
    pub(crate) signature: ClaimSignature<S>,
}

/// A claim that is false before any arithmetic.
#[derive(Clone, Debug)]
pub(crate) struct Defective {
    /// Its index in the caller's slice.
    pub(crate) index: usize,
    pub(crate) source: Option<SourceId>,
    pub(crate) reason: Reason,
}

/// Everything that goes into the hash of a message.
#[derive(Clone, Debug)]
pub(crate) struct Message<S: Suite> {
    pub(crate) tag: SuiteTag,
    /// The key that an AUG suite hashes in front of the body.
    pub(crate) prefix: Option<PublicKey<S>>,
    pub(crate) body: Arc<[u8]>,
}

impl<S: Suite> Message<S> {
    /// The digests by which the hashes of messages are cached. Of messages that follow each other and differ in their prefixes alone,
    /// the body is read once.
    pub(crate) fn digests(messages: &[Self]) -> Vec<MessageDigest> {
        let mut digests = Vec::with_capacity(messages.len());
        for run in messages.chunk_by(|a, b| a.tag == b.tag && Arc::ptr_eq(&a.body, &b.body)) {
            let unprefixed = UnprefixedDigest::of(run[0].tag.hashing(), &run[0].body);
            digests.extend(run.iter().map(|message| match message.prefix {
                Some(key) => unprefixed.behind(key.to_bytes().as_ref()),
                None => unprefixed.behind(&[]),
            }));
        }
        digests
    }
}

/// The sum of the keys of the claim at `position` over one message.
#[derive(Clone, Debug)]
pub(crate) struct KeySum {
    pub(crate) position: Position,
    /// Indices into the plan's keys. A key that occurs twice is added twice.
    pub(crate) keys: Vec<usize>,
    /// The coefficient of each of these keys, in a claim that has coefficients.
    pub(crate) coefficients: Option<Vec<Weight>>,
    /// Whether the claim is false if the sum is the identity.
    pub(crate) must_not_vanish: bool,
}

/// A pairing of a key or a message with a weighted sum.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) vertex: Vertex,
    /// What is summed on the other side, in the order of the positions.
    pub(crate) parts: Vec<Part>,
}

/// The vertex of the cover that a term stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Vertex {
    /// `e(Σ w·pk, H(m))`
    Message(usize),
    /// `e(pk, Σ w·H(m))`
    Key(usize),
}

/// An operand of a weighted sum, multiplied by the weight of the claim at `position`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) position: Position,
    pub(crate) operand: Operand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Key(usize),
    Sum(usize),
    Message(usize),
}

impl Term {
    /// The positions from its first part to its last part.
    pub(crate) fn span(&self) -> Span {
        match (self.parts.first(), self.parts.last()) {
            (Some(first), Some(last)) => Span::from_to(first.position, last.position),
            _ => Span::EMPTY,
        }
    }
}
