//! Ethereum networks: what a signing domain depends on, and which fork is in force at a slot.

use std::str::FromStr;

use thiserror::Error;

use crate::ssz::{self, Root};

/// Slots in an epoch of the mainnet preset.
const SLOTS_PER_EPOCH: u64 = 32;
/// Slots in which one sync committee signs: 256 epochs.
const SLOTS_PER_PERIOD: u64 = 8192;
const DOMAIN_SYNC_COMMITTEE: [u8; 4] = [0x07, 0, 0, 0];

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

    /// The same network, with the values given here instead of its own.
    #[must_use]
    pub fn with(self, overrides: &Overrides) -> Self {
        Self {
            genesis_validators_root: overrides.genesis_validators_root.unwrap_or(self.genesis_validators_root),
            fork_version: overrides.fork_version.or(self.fork_version),
            ..self
        }
    }

    /// The names of the networks that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|network| network.names[0])
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
        let domain = ssz::domain(DOMAIN_SYNC_COMMITTEE, &version, &self.genesis_validators_root);
        ssz::parent(block, &domain)
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
        let built_in = BUILT_IN
            .iter()
            .find(|network| network.names.contains(&name))
            .ok_or_else(|| UnknownNetwork(name.to_owned()))?;
        Ok(Self {
            name: built_in.names[0].to_owned(),
            genesis_validators_root: built_in.genesis_validators_root,
            forks: built_in.forks.to_vec(),
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

/// A fork of the beacon chain. Later ones compare greater. A reader of objects has to know every fork, so a match on them is
/// exhaustive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, clippy::exhaustive_enums, reason = "the names are the specification's")]
pub enum Fork {
    Phase0,
    Altair,
    Bellatrix,
    Capella,
    Deneb,
    Electra,
    Fulu,
    Gloas,
}

impl Fork {
    /// All forks, in their order.
    const ALL: [Self; 8] = [
        Self::Phase0,
        Self::Altair,
        Self::Bellatrix,
        Self::Capella,
        Self::Deneb,
        Self::Electra,
        Self::Fulu,
        Self::Gloas,
    ];

    /// The name that the Beacon API's `version` field uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Phase0 => "phase0",
            Self::Altair => "altair",
            Self::Bellatrix => "bellatrix",
            Self::Capella => "capella",
            Self::Deneb => "deneb",
            Self::Electra => "electra",
            Self::Fulu => "fulu",
            Self::Gloas => "gloas",
        }
    }

    /// The fork of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fork| fork.name() == name)
    }
}

/// A fork of one network: from which epoch on it is in force, and the version under which messages are signed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkActivation {
    /// The fork.
    pub fork: Fork,
    /// The first epoch in which it is in force.
    pub epoch: u64,
    /// Its version.
    pub version: [u8; 4],
}

struct BuiltIn {
    names: &'static [&'static str],
    genesis_validators_root: Root,
    forks: &'static [ForkActivation],
}

const fn fork(fork: Fork, epoch: u64, version: u32) -> ForkActivation {
    ForkActivation { fork, epoch, version: version.to_be_bytes() }
}

const fn root(high: u128, low: u128) -> Root {
    let (high, low) = (high.to_be_bytes(), low.to_be_bytes());
    let mut root = [0; 32];
    let mut at = 0;
    while at < 16 {
        root[at] = high[at];
        root[at + 16] = low[at];
        at += 1;
    }
    root
}

/// Versions and epochs are those of `metadata/config.yaml` in eth-clients/mainnet, /sepolia, /holesky and /hoodi, and of
/// `prater/config.yaml` in eth-clients/goerli; the genesis validators roots are those that `/eth/v1/beacon/genesis` gives.
/// The Fulu epochs of mainnet, holesky and hoodi come from clients' network definitions; as times they are the announced
/// ones of the Fusaka upgrade (2025-12-03 21:49, 2025-10-01 08:48, 2025-10-28 18:53 UTC).
const BUILT_IN: [BuiltIn; 5] = [
    BuiltIn {
        names: &["mainnet"],
        genesis_validators_root: root(0x4b363db94e286120d76eb905340fdd4e, 0x54bfe9f06bf33ff6cf5ad27f511bfe95),
        forks: &[
            fork(Fork::Phase0, 0, 0x0000_0000),
            fork(Fork::Altair, 74_240, 0x0100_0000),
            fork(Fork::Bellatrix, 144_896, 0x0200_0000),
            fork(Fork::Capella, 194_048, 0x0300_0000),
            fork(Fork::Deneb, 269_568, 0x0400_0000),
            fork(Fork::Electra, 364_032, 0x0500_0000),
            fork(Fork::Fulu, 411_392, 0x0600_0000),
        ],
    },
    BuiltIn {
        names: &["sepolia"],
        genesis_validators_root: root(0xd8ea171f3c94aea21ebc42a1ed61052a, 0xcf3f9209c00e4efbaaddac09ed9b8078),
        forks: &[
            fork(Fork::Phase0, 0, 0x9000_0069),
            fork(Fork::Altair, 50, 0x9000_0070),
            fork(Fork::Bellatrix, 100, 0x9000_0071),
            fork(Fork::Capella, 56_832, 0x9000_0072),
            fork(Fork::Deneb, 132_608, 0x9000_0073),
            fork(Fork::Electra, 222_464, 0x9000_0074),
            fork(Fork::Fulu, 272_640, 0x9000_0075),
            fork(Fork::Gloas, 353_024, 0x9000_0076),
        ],
    },
    BuiltIn {
        names: &["holesky"],
        genesis_validators_root: root(0x9143aa7c615a7f7115e2b6aac319c035, 0x29df8242ae705fba9df39b79c59fa8b1),
        forks: &[
            fork(Fork::Phase0, 0, 0x0101_7000),
            fork(Fork::Altair, 0, 0x0201_7000),
            fork(Fork::Bellatrix, 0, 0x0301_7000),
            fork(Fork::Capella, 256, 0x0401_7000),
            fork(Fork::Deneb, 29_696, 0x0501_7000),
            fork(Fork::Electra, 115_968, 0x0601_7000),
            fork(Fork::Fulu, 165_120, 0x0701_7000),
        ],
    },
    BuiltIn {
        names: &["hoodi"],
        genesis_validators_root: root(0x212f13fc4df078b6cb7db228f1c83075, 0x66dcecf900867401a92023d7ba99cb5f),
        forks: &[
            fork(Fork::Phase0, 0, 0x1000_0910),
            fork(Fork::Altair, 0, 0x2000_0910),
            fork(Fork::Bellatrix, 0, 0x3000_0910),
            fork(Fork::Capella, 0, 0x4000_0910),
            fork(Fork::Deneb, 0, 0x5000_0910),
            fork(Fork::Electra, 2_048, 0x6000_0910),
            fork(Fork::Fulu, 50_688, 0x7000_0910),
        ],
    },
    // Retired in 2024; its beacon chain was called Prater.
    BuiltIn {
        names: &["goerli", "prater"],
        genesis_validators_root: root(0x043db0d9a83813551ee2f33450d23797, 0x757d430911a9320530ad8a0eabc43efb),
        forks: &[
            fork(Fork::Phase0, 0, 0x0000_1020),
            fork(Fork::Altair, 36_660, 0x0100_1020),
            fork(Fork::Bellatrix, 112_260, 0x0200_1020),
            fork(Fork::Capella, 162_304, 0x0300_1020),
            fork(Fork::Deneb, 231_680, 0x0400_1020),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn mainnet() -> BeaconNetwork {
        "mainnet".parse().unwrap()
    }

    #[test]
    fn forks_and_epochs_rise_together() {
        for built_in in &BUILT_IN {
            for pair in built_in.forks.windows(2) {
                assert!(pair[0].fork < pair[1].fork && pair[0].epoch <= pair[1].epoch, "{}", built_in.names[0]);
                assert_ne!(pair[0].version, pair[1].version);
            }
        }
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
    }

    #[test]
    fn unknown_names_are_told_what_is_known() {
        assert!("gnosis".parse::<BeaconNetwork>().unwrap_err().to_string().contains("hoodi"));
        assert_eq!("prater".parse::<BeaconNetwork>().unwrap().name, "goerli");
    }
}
