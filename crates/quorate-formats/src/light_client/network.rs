//! Ethereum networks: what a signing domain depends on, and which fork is in force at a slot.

use std::str::FromStr;

use thiserror::Error;

use crate::network::{Family, Fork, ForkActivation, KnownNetwork};
use crate::signing::{DomainType, signing_root};
use crate::ssz::Root;

/// Slots in an epoch of the mainnet preset.
const SLOTS_PER_EPOCH: u64 = 32;
/// Slots in which one sync committee signs: 256 epochs.
const SLOTS_PER_PERIOD: u64 = 8192;

/// A network of the mainnet preset, with committees of 512 and epochs of 32 slots.
///
/// Networks of another preset, such as Gnosis and minimal test networks, have other periods and cannot be described here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeaconNetwork {
    /// Its name in messages.
    pub name: String,
    /// The root that is part of every signed message, so that a signature counts on this network alone.
    pub genesis_validators_root: Root,
    /// The forks in the order of their epochs; empty if they are not known.
    forks: Vec<ForkActivation>,
    /// A version that replaces that of every fork.
    fork_version: Option<[u8; 4]>,
}

impl BeaconNetwork {
    /// A network that is not built in. Every signature is checked under this one fork version. A document's `version` field, or
    /// the length of its branches, says which fork's layout it has.
    #[must_use]
    pub fn custom(genesis_validators_root: Root, fork_version: [u8; 4]) -> Self {
        Self { name: "custom".to_owned(), genesis_validators_root, forks: Vec::new(), fork_version: Some(fork_version) }
    }

    /// The same network, with the values given here instead of its own. With another root and a fork version it is another network,
    /// whose forks came at other epochs: [`custom`](Self::custom).
    #[must_use]
    pub fn with(self, overrides: &Overrides) -> Self {
        if let Overrides { genesis_validators_root: Some(root), fork_version: Some(version) } = *overrides
            && root != self.genesis_validators_root
        {
            return Self::custom(root, version);
        }
        Self {
            genesis_validators_root: overrides.genesis_validators_root.unwrap_or(self.genesis_validators_root),
            fork_version: overrides.fork_version.or(self.fork_version),
            ..self
        }
    }

    /// The names of the networks that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KnownNetwork::all().filter(|network| network.family == Family::Ethereum).map(KnownNetwork::name)
    }

    /// Whether a document that states this name can be of this network. A network that is built in has its names, in capital or small
    /// letters; one that is not can have any other.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let known = |name: &str| KnownNetwork::of_name(name).map(KnownNetwork::name);
        known(name) == known(&self.name)
    }

    /// The forks in the order of their epochs; empty if they are not known.
    #[must_use]
    pub fn forks(&self) -> &[ForkActivation] {
        &self.forks
    }

    /// The sync committee period of a slot.
    #[must_use]
    pub fn period(slot: u64) -> u64 {
        slot / SLOTS_PER_PERIOD
    }

    /// The fork in force at a slot, if the network's forks are known.
    pub(super) fn fork(&self, slot: u64) -> Option<Fork> {
        self.activation(slot).map(|activation| activation.fork)
    }

    /// What a committee signs for a block: the root of `SigningData`.
    ///
    /// The fork version is that of the slot before the signature's slot, in which the block was attested
    /// (altair/light-client/sync-protocol.md, `validate_light_client_update`).
    pub(super) fn signing_root(&self, block: &Root, signature_slot: u64) -> Root {
        let version = self.fork_version(signature_slot.max(1) - 1);
        signing_root(block, DomainType::SyncCommittee, version, &self.genesis_validators_root)
    }

    fn fork_version(&self, slot: u64) -> [u8; 4] {
        let scheduled = || self.activation(slot).map(|activation| activation.version);
        self.fork_version.or_else(scheduled).unwrap_or_default()
    }

    fn activation(&self, slot: u64) -> Option<&ForkActivation> {
        let epoch = slot / SLOTS_PER_EPOCH;
        self.forks.iter().rev().find(|activation| activation.epoch <= epoch)
    }
}

impl FromStr for BeaconNetwork {
    type Err = UnknownNetwork;

    fn from_str(name: &str) -> Result<Self, UnknownNetwork> {
        let known = KnownNetwork::of_name(name).filter(|network| network.family == Family::Ethereum);
        let known = known.ok_or_else(|| UnknownNetwork(name.to_owned()))?;
        Ok(Self {
            name: known.name().to_owned(),
            genesis_validators_root: known.genesis_validators_root,
            forks: known.forks.to_vec(),
            fork_version: None,
        })
    }
}

/// No network of this name is built in.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "found the network {0:?}, expected mainnet, sepolia, holesky, hoodi or goerli; for another network give its genesis validators \
     root and its fork version"
)]
pub struct UnknownNetwork(String);

/// Values that replace a network's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Replaces the network's root.
    pub genesis_validators_root: Option<Root>,
    /// Replaces the version of every fork.
    pub fork_version: Option<[u8; 4]>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mainnet() -> BeaconNetwork {
        "mainnet".parse().unwrap()
    }

    #[test]
    fn the_last_slot_before_a_fork_is_the_old_forks() {
        let first = 194_048 * SLOTS_PER_EPOCH;
        assert_eq!(mainnet().fork(first - 1), Some(Fork::Bellatrix));
        assert_eq!(mainnet().fork(first), Some(Fork::Capella));
        // The signature in the fork's first slot is over a block of the slot before.
        let block = [7; 32];
        let old = mainnet().with(&Overrides { fork_version: Some([2, 0, 0, 0]), ..Overrides::default() });
        assert_eq!(mainnet().signing_root(&block, first), old.signing_root(&block, first + 5));
        assert_ne!(mainnet().signing_root(&block, first + 1), old.signing_root(&block, first + 1));
    }

    #[test]
    fn several_forks_at_genesis_leave_the_last() {
        let hoodi: BeaconNetwork = "hoodi".parse().unwrap();
        assert_eq!(hoodi.fork(0), Some(Fork::Deneb));
    }

    #[test]
    fn slot_zero_has_a_domain() {
        assert_eq!(mainnet().signing_root(&[7; 32], 0), mainnet().signing_root(&[7; 32], 1));
    }

    #[test]
    fn custom_networks_have_one_version_and_no_schedule() {
        let custom = BeaconNetwork::custom(mainnet().genesis_validators_root, [3, 0, 0, 0]);
        let slot = 194_048 * SLOTS_PER_EPOCH + 9;
        assert_eq!(custom.signing_root(&[7; 32], slot), mainnet().signing_root(&[7; 32], slot));
        assert_eq!(custom.fork(slot), None);
        let other_root = Overrides { genesis_validators_root: Some([1; 32]), ..Overrides::default() };
        assert_ne!(mainnet().with(&other_root).signing_root(&[7; 32], slot), mainnet().signing_root(&[7; 32], slot));
        let other = Overrides { fork_version: Some([3, 0, 0, 0]), ..other_root };
        assert_eq!(mainnet().with(&other), BeaconNetwork::custom([1; 32], [3, 0, 0, 0]));
        let same = Overrides { genesis_validators_root: Some(mainnet().genesis_validators_root), ..other };
        assert_eq!(mainnet().with(&same).fork(slot), Some(Fork::Capella));
    }

    #[test]
    fn unknown_names_are_told_what_is_known() {
        assert!("gnosis".parse::<BeaconNetwork>().unwrap_err().to_string().contains("hoodi"));
        assert_eq!("prater".parse::<BeaconNetwork>().unwrap().name, "goerli");
    }
}
