//! The networks of beacon chains that are built in: one table for everything that depends on a network.
//!
//! Deposits, changes of withdrawal credentials and exits ([`operation`](crate::operation)), light clients and whole chains are signed
//! under the versions and the roots that stand here.

use crate::ssz::Root;

/// A network of a beacon chain that is built in.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownNetwork {
    /// The name in messages first, then others.
    names: &'static [&'static str],
    /// Ethereum's or Gnosis's.
    pub family: Family,
    /// The root that is part of what is signed, so that a signature counts on this network alone.
    pub genesis_validators_root: Root,
    /// The forks in the order of their epochs.
    pub forks: &'static [ForkActivation],
}

impl KnownNetwork {
    /// All of them.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        BUILT_IN.iter()
    }

    /// The network of this name, in capital or small letters.
    #[must_use]
    pub fn of_name(name: &str) -> Option<&'static Self> {
        Self::all().find(|network| network.names.iter().any(|known| known.eq_ignore_ascii_case(name)))
    }

    /// The network with this genesis validators root.
    #[must_use]
    pub fn of_genesis(genesis_validators_root: &Root) -> Option<&'static Self> {
        Self::all().find(|network| network.genesis_validators_root == *genesis_validators_root)
    }

    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.names[0]
    }

    /// The version under which deposits and changes of withdrawal credentials are signed, in all forks.
    #[must_use]
    pub fn genesis_fork_version(&self) -> [u8; 4] {
        self.forks[0].version
    }

    /// The version under which exits are signed since Deneb (EIP-7044): Capella's.
    #[must_use]
    pub fn exit_fork_version(&self) -> [u8; 4] {
        let capella = self.forks.iter().find(|activation| activation.fork == Fork::Capella);
        capella.expect("every network of the table has Capella, as a test checks").version
    }
}

/// Networks that share sizes, and what a stake is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Ethereum's main network and its test networks. Stakes are counted in Gwei of ETH.
    Ethereum,
    /// Gnosis and its test network. Stakes are counted in Gwei of mGNO, of which 32 are one GNO.
    Gnosis,
}

/// A fork of the beacon chain. Later ones compare greater. A reader of objects has to know every fork, so a match on them is
/// exhaustive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the specification's")]
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

    /// The last of them.
    pub(crate) const LATEST: Self = Self::Gloas;

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
/// ones of the Fusaka upgrade (2025-12-03 21:49, 2025-10-01 08:48, 2025-10-28 18:53 UTC). Those of Gnosis are in
/// `mainnet/config.yaml` and `chiado/config.yaml` of gnosischain/configs.
const BUILT_IN: [KnownNetwork; 7] = [
    KnownNetwork {
        names: &["mainnet"],
        family: Family::Ethereum,
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
    KnownNetwork {
        names: &["sepolia"],
        family: Family::Ethereum,
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
    KnownNetwork {
        names: &["holesky"],
        family: Family::Ethereum,
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
    KnownNetwork {
        names: &["hoodi"],
        family: Family::Ethereum,
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
    KnownNetwork {
        names: &["goerli", "prater"],
        family: Family::Ethereum,
        genesis_validators_root: root(0x043db0d9a83813551ee2f33450d23797, 0x757d430911a9320530ad8a0eabc43efb),
        forks: &[
            fork(Fork::Phase0, 0, 0x0000_1020),
            fork(Fork::Altair, 36_660, 0x0100_1020),
            fork(Fork::Bellatrix, 112_260, 0x0200_1020),
            fork(Fork::Capella, 162_304, 0x0300_1020),
            fork(Fork::Deneb, 231_680, 0x0400_1020),
        ],
    },
    KnownNetwork {
        names: &["gnosis"],
        family: Family::Gnosis,
        genesis_validators_root: root(0xf5dcb5564e829aab27264b9becd5dfaa, 0x017085611224cb3036f573368dbb9d47),
        forks: &[
            fork(Fork::Phase0, 0, 0x0000_0064),
            fork(Fork::Altair, 512, 0x0100_0064),
            fork(Fork::Bellatrix, 385_536, 0x0200_0064),
            fork(Fork::Capella, 648_704, 0x0300_0064),
            fork(Fork::Deneb, 889_856, 0x0400_0064),
            fork(Fork::Electra, 1_337_856, 0x0500_0064),
            fork(Fork::Fulu, 1_714_688, 0x0600_0064),
        ],
    },
    KnownNetwork {
        names: &["chiado"],
        family: Family::Gnosis,
        genesis_validators_root: root(0x9d642dac73058fbf39c0ae41ab1e34e4, 0xd889043cb199851ded7095bc99eb4c1e),
        forks: &[
            fork(Fork::Phase0, 0, 0x0000_006f),
            fork(Fork::Altair, 90, 0x0100_006f),
            fork(Fork::Bellatrix, 180, 0x0200_006f),
            fork(Fork::Capella, 244_224, 0x0300_006f),
            fork(Fork::Deneb, 516_608, 0x0400_006f),
            fork(Fork::Electra, 948_224, 0x0500_006f),
            fork(Fork::Fulu, 1_353_216, 0x0600_006f),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_and_epochs_rise_together() {
        for network in KnownNetwork::all() {
            assert_eq!((network.forks[0].fork, network.forks[0].epoch), (Fork::Phase0, 0), "{}", network.name());
            for pair in network.forks.windows(2) {
                assert!(pair[0].fork < pair[1].fork && pair[0].epoch <= pair[1].epoch, "{}", network.name());
                assert_ne!(pair[0].version, pair[1].version);
            }
        }
    }

    #[test]
    fn the_latest_fork_is_the_last_one() {
        assert_eq!(Fork::ALL.last(), Some(&Fork::LATEST));
    }

    #[test]
    fn no_two_networks_share_what_is_signed() {
        for network in KnownNetwork::all() {
            let same = |other: &&KnownNetwork| {
                other.genesis_validators_root == network.genesis_validators_root
                    || other.genesis_fork_version() == network.genesis_fork_version()
                    || other.exit_fork_version() == network.exit_fork_version()
            };
            assert_eq!(KnownNetwork::all().filter(same).count(), 1, "{}", network.name());
            assert_eq!(KnownNetwork::of_genesis(&network.genesis_validators_root), Some(network));
        }
    }

    #[test]
    fn a_name_is_found_in_any_case() {
        for (name, found) in [("Mainnet", "mainnet"), ("CHIADO", "chiado"), ("Prater", "goerli"), ("gnosis", "gnosis")]
        {
            assert_eq!(KnownNetwork::of_name(name).map(KnownNetwork::name), Some(found));
        }
        assert_eq!(KnownNetwork::of_name("mainnet "), None);
    }
}
