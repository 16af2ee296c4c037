//! What validators sign: the root of an object, under a domain.
//!
//! Spec: ethereum/consensus-specs, `specs/phase0/beacon-chain.md`, `compute_domain` and `compute_signing_root`.

use crate::ssz::{self, Root};

/// What is signed, as the specification's domain types tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the specification's")]
pub enum DomainType {
    BeaconProposer,
    BeaconAttester,
    Randao,
    Deposit,
    VoluntaryExit,
    SyncCommittee,
    BlsToExecutionChange,
}

impl DomainType {
    /// The four bytes with which the domain begins.
    #[must_use]
    pub const fn bytes(self) -> [u8; 4] {
        match self {
            Self::BeaconProposer => [0, 0, 0, 0],
            Self::BeaconAttester => [1, 0, 0, 0],
            Self::Randao => [2, 0, 0, 0],
            Self::Deposit => [3, 0, 0, 0],
            Self::VoluntaryExit => [4, 0, 0, 0],
            Self::SyncCommittee => [7, 0, 0, 0],
            Self::BlsToExecutionChange => [10, 0, 0, 0],
        }
    }
}

/// The root that is signed for an object: under a domain type, a fork version and a chain's genesis validators root.
#[must_use]
pub fn signing_root(
    object: &Root,
    domain_type: DomainType,
    fork_version: [u8; 4],
    genesis_validators_root: &Root,
) -> Root {
    let fork_data = ssz::parent(&ssz::leaf(&fork_version), genesis_validators_root);
    let mut domain = Root::default();
    domain[..4].copy_from_slice(&domain_type.bytes());
    domain[4..].copy_from_slice(&fork_data[..28]);
    ssz::parent(object, &domain)
}
