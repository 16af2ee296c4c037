//! Modelled signatures, and the process that makes an operator's.
//!
//! A signature is eight bytes that follow from the key's index and from what it signs. Nobody in the simulation makes one
//! for a key that is not theirs, so it is as good as a real one.

use std::hash::{DefaultHasher, Hash, Hasher};

use quorate_evm::alloy_primitives::Bytes;

use crate::message::{Attestation, Candidate};

/// The signature of the key at an index.
pub(super) fn sign(index: u32, candidate: &Candidate) -> Bytes {
    let mut hasher = DefaultHasher::new();
    (index, candidate).hash(&mut hasher);
    Bytes::copy_from_slice(&hasher.finish().to_be_bytes())
}

pub(super) fn is_true(attestation: &Attestation) -> bool {
    *attestation.signature() == sign(attestation.index(), attestation.candidate())
}

pub(super) fn attest(candidate: Candidate, index: u32) -> Attestation {
    Attestation::new(candidate, index, sign(index, &candidate)).expect("eight bytes are a signature's length")
}

/// A signer with its record, which is on disk and survives every crash. The rule is that of `Slashing.sol`.
#[derive(Clone, Debug, Default)]
pub(super) struct Signer {
    record: Vec<Candidate>,
}

impl Signer {
    /// Whether it signs. It does not sign what conflicts with anything in its record; it signs the same twice.
    pub(super) fn permits(&mut self, candidate: &Candidate) -> bool {
        let permitted = !self.record.iter().any(|signed| signed.conflicts_with(candidate));
        if permitted && !self.record.contains(candidate) {
            self.record.push(*candidate);
        }
        permitted
    }
}
