//! What validators sign: the root of an object, under a domain.
//!
//! Spec: ethereum/consensus-specs, `specs/phase0/beacon-chain.md`, `compute_domain` and `compute_signing_root`.

use sha2::{Digest, Sha256};

/// What is signed, as the specification's domain types tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DomainType {
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
    pub(crate) const fn bytes(self) -> [u8; 4] {
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
pub(crate) fn signing_root(
    object: &[u8; 32],
    domain_type: DomainType,
    fork_version: [u8; 4],
    genesis_validators_root: &[u8; 32],
) -> [u8; 32] {
    let mut version = [0; 32];
    version[..4].copy_from_slice(&fork_version);
    let fork_data = parent(&version, genesis_validators_root);
    let mut domain = [0; 32];
    domain[..4].copy_from_slice(&domain_type.bytes());
    domain[4..].copy_from_slice(&fork_data[..28]);
    parent(object, &domain)
}

fn parent(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    Sha256::new().chain_update(left).chain_update(right).finalize().into()
}
