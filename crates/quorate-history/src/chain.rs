//! What has to be known of a chain beside its files: preset, genesis, and which fork an epoch has.

use quorate_formats::{
    array_from_hex,
    json::object,
    network::{Family, Fork, ForkActivation, KnownNetwork},
};
use serde::Deserialize;
use serde_json::json;
use thiserror::Error;

use crate::preset::Preset;

/// The configuration of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Its name in messages.
    pub name: String,
    /// Its sizes.
    pub preset: Preset,
    /// The root that is part of what is signed, so that a signature counts on this chain alone.
    pub genesis_validators_root: [u8; 32],
    /// The version under which deposits and changes of withdrawal credentials are signed, in all forks.
    pub genesis_fork_version: [u8; 4],
    /// The version under which exits are signed since Deneb (EIP-7044). It is known if the chain has Deneb.
    capella_fork_version: Option<[u8; 4]>,
    /// The forks, in the order of their epochs.
    forks: Vec<ForkActivation>,
}

impl Chain {
    /// A chain that is built in, by its name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        KnownNetwork::of_name(name).map(Self::from)
    }

    /// The names of the chains that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KnownNetwork::all().map(KnownNetwork::name)
    }

    /// The chain that is built in and has this genesis validators root.
    #[must_use]
    pub fn of_genesis(genesis_validators_root: &[u8; 32]) -> Option<Self> {
        KnownNetwork::of_genesis(genesis_validators_root).map(Self::from)
    }

    /// Reads a configuration: a JSON object with `preset`, `genesis_validators_root`, `genesis_fork_version`,
    /// `capella_fork_version` (needed for exits since Deneb if `forks` does not list Capella) and `forks`, a list of objects with
    /// `name`, `epoch` and `version` in the order of the epochs. A version that stands in `forks`, too, must be the same there. Other
    /// fields are skipped.
    ///
    /// # Errors
    /// [`ChainError`].
    pub fn from_json(text: &str, name: &str) -> Result<Self, ChainError> {
        let read: Configuration = object(text.trim()).map_err(|error| ChainError(error.to_string()))?;
        let in_field = |field: &str| {
            let field = field.to_owned();
            move |reason: String| ChainError(format!("\"{field}\": {reason}"))
        };
        let mut forks: Vec<ForkActivation> = Vec::new();
        for (i, fork) in read.forks.iter().enumerate() {
            let known = Fork::from_name(&fork.name).ok_or_else(|| {
                let reason = format!(
                    "found {:?}, expected phase0, altair, bellatrix, capella, deneb, electra, fulu or gloas",
                    fork.name
                );
                in_field(&format!("forks[{i}].name"))(reason)
            })?;
            if forks.last().is_some_and(|last| last.fork >= known || last.epoch > fork.epoch) {
                return Err(in_field(&format!("forks[{i}]"))(
                    "found a fork that is earlier than the one before it; list the forks in their order".to_owned(),
                ));
            }
            let version = bytes(&fork.version).map_err(in_field(&format!("forks[{i}].version")))?;
            forks.push(ForkActivation { fork: known, epoch: fork.epoch, version });
        }
        if forks.first().is_none_or(|first| first.epoch > 0) {
            let reason = "expected the fork that is in force in epoch 0 first, with \"epoch\": 0";
            return Err(in_field("forks")(reason.to_owned()));
        }
        let capella = read.capella_fork_version.as_deref().map(|text| stated_version(text, &forks, Fork::Capella));
        let capella = capella.transpose().map_err(in_field("capella_fork_version"))?;
        let capella = capella.or_else(|| version_of(&forks, Fork::Capella));
        if capella.is_none() && forks.last().is_some_and(|last| last.fork >= Fork::Deneb) {
            let reason = "the field is missing, but exits are signed under this version since Deneb";
            return Err(in_field("capella_fork_version")(reason.to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            preset: read.preset.parse().map_err(|error| in_field("preset")(format!("{error}")))?,
            genesis_validators_root: bytes(&read.genesis_validators_root)
                .map_err(in_field("genesis_validators_root"))?,
            genesis_fork_version: stated_version(&read.genesis_fork_version, &forks, Fork::Phase0)
                .map_err(in_field("genesis_fork_version"))?,
            capella_fork_version: capella,
            forks,
        })
    }

    /// The configuration as [`from_json`](Self::from_json) reads it, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        let text = const_hex::encode_prefixed::<&[u8]>;
        let forks = self.forks.iter().map(|ForkActivation { fork, epoch, version }| {
            json!({"name": fork.name(), "epoch": epoch, "version": text(version)})
        });
        let mut configuration = json!({
            "preset": self.preset.name(),
            "genesis_validators_root": text(&self.genesis_validators_root),
            "genesis_fork_version": text(&self.genesis_fork_version),
            "forks": forks.collect::<Vec<_>>(),
        });
        if let Some(version) = &self.capella_fork_version {
            configuration["capella_fork_version"] = text(version).into();
        }
        configuration.to_string()
    }

    /// The epoch of a slot.
    #[must_use]
    pub const fn epoch(&self, slot: u64) -> u64 {
        slot / self.preset.slots_per_epoch()
    }

    /// The fork that is in force in an epoch.
    #[must_use]
    pub fn fork(&self, epoch: u64) -> Fork {
        self.forks[self.place(epoch)].fork
    }

    /// The fork version of the states of an epoch.
    #[must_use]
    pub fn current_version(&self, epoch: u64) -> [u8; 4] {
        self.forks[self.place(epoch)].version
    }

    /// The epoch in which the fork of an epoch came into force.
    pub(crate) fn fork_epoch(&self, epoch: u64) -> u64 {
        self.forks[self.place(epoch)].epoch
    }

    /// The fork version that the states of an epoch have as the one before theirs. None if their fork is in force from epoch 0 on: nothing
    /// is signed under an earlier version then, and genesis states have different ones.
    pub(crate) fn previous_version(&self, epoch: u64) -> Option<[u8; 4]> {
        let current = self.place(epoch);
        let previous = current.checked_sub(1).filter(|_| self.forks[current].epoch > 0);
        previous.map(|previous| self.forks[previous].version)
    }

    /// The fork version under which a block of epoch `now` sees a message of epoch `epoch` signed.
    ///
    /// A state knows its own fork and the one before it, so the version of a message from long ago is not the one of that time
    /// (`get_domain`).
    pub(crate) fn version(&self, now: u64, epoch: u64) -> [u8; 4] {
        let current = self.place(now);
        let place = if epoch < self.forks[current].epoch { current.saturating_sub(1) } else { current };
        self.forks[place].version
    }

    /// The fork version under which a block of epoch `now` sees an exit of epoch `epoch` signed.
    pub(crate) fn exit_version(&self, now: u64, epoch: u64) -> [u8; 4] {
        if self.fork(now) >= Fork::Deneb {
            self.capella_fork_version.expect("a chain with Deneb has it")
        } else {
            self.version(now, epoch)
        }
    }

    /// Whether this chain is the other one, with further forks at most. Roots and names are not compared.
    pub(crate) fn extends(&self, known: &Self) -> bool {
        self.preset == known.preset
            && self.genesis_fork_version == known.genesis_fork_version
            && self.capella_fork_version == known.capella_fork_version
            && self.forks.starts_with(&known.forks)
    }

    fn place(&self, epoch: u64) -> usize {
        self.forks.iter().rposition(|fork| fork.epoch <= epoch).expect("the first fork is in force from epoch 0 on")
    }
}

impl From<&KnownNetwork> for Chain {
    fn from(network: &KnownNetwork) -> Self {
        Self {
            name: network.name().to_owned(),
            preset: match network.family {
                Family::Ethereum => Preset::Mainnet,
                Family::Gnosis => Preset::Gnosis,
            },
            genesis_validators_root: network.genesis_validators_root,
            genesis_fork_version: network.genesis_fork_version(),
            capella_fork_version: Some(network.exit_fork_version()),
            forks: network.forks.to_vec(),
        }
    }
}

/// A file does not describe a chain.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ChainError(String);

#[derive(Deserialize)]
#[serde(expecting = "an object that describes a chain")]
struct Configuration {
    preset: String,
    genesis_validators_root: String,
    genesis_fork_version: String,
    capella_fork_version: Option<String>,
    forks: Vec<ConfiguredFork>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with name, epoch and version")]
struct ConfiguredFork {
    name: String,
    epoch: u64,
    version: String,
}

fn bytes<const N: usize>(text: &str) -> Result<[u8; N], String> {
    array_from_hex(text).map_err(|error| error.to_string())
}

fn version_of(forks: &[ForkActivation], wanted: Fork) -> Option<[u8; 4]> {
    forks.iter().find(|fork| fork.fork == wanted).map(|fork| fork.version)
}

/// A fork's version that stands in a field of its own. If the list has the fork, it must say the same.
fn stated_version(text: &str, forks: &[ForkActivation], fork: Fork) -> Result<[u8; 4], String> {
    let stated = bytes(text)?;
    match version_of(forks, fork) {
        Some(listed) if listed != stated => Err(format!(
            "found {}, but \"forks\" lists {} with the version {}; correct one of them",
            const_hex::encode_prefixed(stated),
            fork.name(),
            const_hex::encode_prefixed(listed)
        )),
        _ => Ok(stated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"preset": "minimal", "genesis_validators_root": "0x2d95ac4f2ebf43c4424aec9ec320f238c6746c0bcbaf8bd63599d29bf1069ca9",
        "genesis_fork_version": "0x00000001", "forks": [{"name": "capella", "epoch": 0, "version": "0x03000001"},
        {"name": "deneb", "epoch": 11, "version": "0x04000001"}]}"#;

    #[test]
    fn built_in_chains_are_found_by_their_genesis() {
        for name in Chain::names() {
            let chain = Chain::built_in(name).unwrap();
            assert_eq!(Chain::of_genesis(&chain.genesis_validators_root), Some(chain));
        }
        let gnosis = Chain::built_in("gnosis").unwrap();
        assert_eq!((gnosis.fork(1_337_856), gnosis.current_version(1_337_855)), (Fork::Electra, [4, 0, 0, 0x64]));
        assert_eq!(gnosis.capella_fork_version, Some([3, 0, 0, 0x64]));
        assert_eq!(Chain::built_in("chiado").map(|chain| chain.preset), Some(Preset::Gnosis));
        assert_eq!(Chain::built_in("ropsten"), None);
    }

    #[test]
    fn a_message_from_long_ago_has_the_version_before_the_current_one() {
        let mainnet = Chain::built_in("mainnet").unwrap();
        let deneb = 269_568;
        assert_eq!(mainnet.version(deneb, deneb), [4, 0, 0, 0]);
        assert_eq!(mainnet.version(deneb, deneb - 1), [3, 0, 0, 0]);
        assert_eq!(mainnet.version(deneb, 5), [3, 0, 0, 0]);
        assert_eq!(mainnet.version(deneb - 1, deneb + 9), [3, 0, 0, 0]);
        assert_eq!(mainnet.version(0, 0), [0; 4]);
    }

    #[test]
    fn a_file_describes_a_chain() {
        let chain = Chain::from_json(FILE, "chain.json").unwrap();
        assert_eq!((chain.preset, chain.fork(10), chain.fork(11)), (Preset::Minimal, Fork::Capella, Fork::Deneb));
        assert_eq!((chain.exit_version(10, 3), chain.exit_version(11, 3)), ([3, 0, 0, 1], [3, 0, 0, 1]));
        let from_deneb_on = FILE.replacen("\"capella\", \"epoch\": 0", "\"bellatrix\", \"epoch\": 0", 1);
        let error = Chain::from_json(&from_deneb_on, "x").unwrap_err().to_string();
        assert!(error.starts_with("\"capella_fork_version\": the field is missing"), "{error}");
    }

    #[test]
    fn a_wrong_field_is_named() {
        for (from, to, expected) in [
            ("minimal", "tiny", "\"preset\": found the preset \"tiny\", expected mainnet, minimal or gnosis"),
            ("\"capella\"", "\"shapella\"", "\"forks[0].name\": found \"shapella\""),
            ("0x04000001", "0x040000", "\"forks[1].version\": found 6 hexadecimal digits, expected 8"),
            ("\"epoch\": 0", "\"epoch\": 3", "\"forks\": expected the fork that is in force in epoch 0"),
            ("\"deneb\"", "\"altair\"", "\"forks[1]\": found a fork that is earlier"),
            ("\"genesis_fork_version\"", "\"version\"", "genesis_fork_version"),
            (
                "\"forks\"",
                "\"capella_fork_version\": \"0x03000000\", \"forks\"",
                "\"capella_fork_version\": found 0x03000000, but \"forks\" lists capella with the version 0x03000001",
            ),
            (
                "{\"name\": \"capella\"",
                "{\"name\": \"phase0\", \"epoch\": 0, \"version\": \"0x00000002\"}, {\"name\": \"capella\"",
                "\"genesis_fork_version\": found 0x00000001, but \"forks\" lists phase0 with the version 0x00000002",
            ),
        ] {
            let error = Chain::from_json(&FILE.replacen(from, to, 1), "x").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
