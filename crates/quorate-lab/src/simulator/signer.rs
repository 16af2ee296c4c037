//! Modelled signatures, and the process that makes an operator's.
//!
//! A signature is eight bytes that follow from the key's index and from what it signs. Nobody in the simulation makes one
//! for a key that is not theirs, so it is as good as a real one.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    num::Wrapping,
};

use quorate_evm::{
    MemberSet, Task,
    alloy_primitives::{B256, Bytes},
};

use quorate_network::{
    election::Snapshot,
    message::{Attestation, Signed},
};

/// The signature of the key at an index.
pub(super) fn sign(index: u32, candidate: &Task) -> Bytes {
    let mut hasher = DefaultHasher::new();
    (index, candidate).hash(&mut hasher);
    Bytes::copy_from_slice(&hasher.finish().to_be_bytes())
}

pub(super) fn is_true(attestation: &Attestation) -> bool {
    *attestation.signature() == sign(attestation.index(), attestation.candidate())
}

/// The sum of signatures: as numbers of eight bytes.
pub(super) fn add_up(signatures: &[&Bytes]) -> Option<Bytes> {
    let numbers =
        signatures.iter().map(|bytes| bytes[..].try_into().ok().map(|bytes| Wrapping(u64::from_be_bytes(bytes))));
    let sum = numbers.sum::<Option<Wrapping<u64>>>();
    sum.map(|sum| Bytes::copy_from_slice(&sum.0.to_be_bytes()))
}

/// Whether a signature is the sum of those of the keys at some indices.
pub(super) fn is_sum(signers: &MemberSet, candidate: &Task, signature: &Bytes) -> bool {
    let signatures: Vec<_> = signers.iter().map(|index| sign(index as u32, candidate)).collect();
    add_up(&signatures.iter().collect::<Vec<_>>()).as_ref() == Some(signature)
}

/// Whether all signatures of a message are true, of a sum with these signers.
pub(super) fn are_true(message: &Signed, signers: Option<&MemberSet>) -> bool {
    let sum = match message {
        Signed::Sum(sum) => signers.is_some_and(|signers| is_sum(signers, sum.candidate(), sum.signature())),
        _ => true,
    };
    sum && message.attestations().iter().all(is_true)
}

pub(super) fn attest(candidate: Task, index: u32) -> Attestation {
    Attestation::new(candidate, index, sign(index, &candidate)).expect("eight bytes are a signature's length")
}

/// A signer with its record, which is on disk and survives every crash. The rule is that of the real one.
#[derive(Clone, Debug, Default)]
pub(super) struct Signer {
    record: Vec<Task>,
}

impl Signer {
    /// Whether it signs. It does not sign what conflicts with anything in its record; it signs the same twice.
    pub(super) fn permits(&mut self, candidate: &Task) -> bool {
        let permitted = !self.record.iter().any(|signed| signed.conflict_with(candidate).is_some());
        if permitted && !self.record.contains(candidate) {
            self.record.push(*candidate);
        }
        permitted
    }

    /// Whether the contract would slash the operator if it signed.
    pub(super) fn would_be_slashed(&self, candidate: &Task) -> bool {
        self.record.iter().any(|signed| signed.is_slashed_with(candidate))
    }

    /// Whether it has signed the task under another snapshot of the epoch. It signs no other result then.
    pub(super) fn is_bound(&self, id: B256, snapshot: &Snapshot) -> bool {
        let of_epoch = |signed: &&Task| signed.id == id && signed.epoch == snapshot.epoch();
        self.record.iter().filter(of_epoch).any(|signed| signed.snapshot != snapshot.id())
    }
}
