//! Presets: the sizes and times in which the networks of the beacon chain differ.

use std::{fmt, str::FromStr};

use ssz_types::typenum::{U4, U8, U16, U32, U64, U512, U8192, U131072, Unsigned};
use thiserror::Error;

/// The sizes and times of a network, as far as blocks, states and committees depend on them.
///
/// Spec: ethereum/consensus-specs, `presets/mainnet` and `presets/minimal`; gnosischain/specs, `consensus/preset/gnosis`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Ethereum's main network and its public test networks.
    Mainnet,
    /// Test networks with small committees.
    Minimal,
    /// Gnosis: mainnet's, with half the slots in an epoch and half the withdrawals in a block.
    Gnosis,
}

impl Preset {
    /// Slots in an epoch.
    #[must_use]
    pub const fn slots_per_epoch(self) -> u64 {
        match self {
            Self::Mainnet => 32,
            Self::Minimal => 8,
            Self::Gnosis => 16,
        }
    }

    /// Slots of which a state keeps the block roots. An era is as long, and so is the period of a sync committee.
    #[must_use]
    pub const fn slots_per_historical_root(self) -> u64 {
        match self {
            Self::Mainnet | Self::Gnosis => 8192,
            Self::Minimal => 64,
        }
    }

    /// Epochs of which a state keeps the RANDAO mixes.
    #[must_use]
    pub const fn epochs_per_historical_vector(self) -> u64 {
        match self {
            Self::Mainnet | Self::Gnosis => 65_536,
            Self::Minimal => 64,
        }
    }

    /// Epochs of which a state keeps the slashed balances.
    #[must_use]
    pub const fn epochs_per_slashings_vector(self) -> u64 {
        match self {
            Self::Mainnet | Self::Gnosis => 8192,
            Self::Minimal => 64,
        }
    }

    /// Members of a sync committee.
    #[must_use]
    pub const fn sync_committee_size(self) -> usize {
        match self {
            Self::Mainnet | Self::Gnosis => 512,
            Self::Minimal => 32,
        }
    }

    /// The most committees that attest in one slot.
    #[must_use]
    pub const fn max_committees_per_slot(self) -> usize {
        match self {
            Self::Mainnet | Self::Gnosis => 64,
            Self::Minimal => 4,
        }
    }

    /// Validators that a committee has at least, if there are several committees in a slot.
    #[must_use]
    pub const fn target_committee_size(self) -> usize {
        match self {
            Self::Mainnet | Self::Gnosis => 128,
            Self::Minimal => 4,
        }
    }

    /// Rounds of the shuffle that makes committees.
    #[must_use]
    pub const fn shuffle_rounds(self) -> u8 {
        match self {
            Self::Mainnet | Self::Gnosis => 90,
            Self::Minimal => 10,
        }
    }

    /// The name in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mainnet => "mainnet",
            Self::Minimal => "minimal",
            Self::Gnosis => "gnosis",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        let all = [Self::Mainnet, Self::Minimal, Self::Gnosis];
        all.into_iter().find(|preset| preset.name() == name).ok_or_else(|| UnknownPreset(name.to_owned()))
    }
}

/// No preset has the name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("found the preset {0:?}, expected mainnet, minimal or gnosis")]
pub struct UnknownPreset(String);

/// A preset as a type, for SSZ objects whose types depend on it.
pub(crate) trait Sizes: 'static {
    /// `SYNC_COMMITTEE_SIZE`.
    type SyncCommittee: Unsigned + Clone;
    /// `MAX_COMMITTEES_PER_SLOT`.
    type Committees: Unsigned + Clone;
    /// `MAX_VALIDATORS_PER_COMMITTEE * MAX_COMMITTEES_PER_SLOT`.
    type Attesters: Unsigned + Clone;
    /// `MAX_WITHDRAWALS_PER_PAYLOAD`.
    type Withdrawals: Unsigned;
}

/// [`Preset::Mainnet`].
pub(crate) struct Mainnet;
/// [`Preset::Minimal`].
pub(crate) struct Minimal;
/// [`Preset::Gnosis`].
pub(crate) struct Gnosis;

impl Sizes for Mainnet {
    type SyncCommittee = U512;
    type Committees = U64;
    type Attesters = U131072;
    type Withdrawals = U16;
}

impl Sizes for Minimal {
    type SyncCommittee = U32;
    type Committees = U4;
    type Attesters = U8192;
    type Withdrawals = U4;
}

impl Sizes for Gnosis {
    type SyncCommittee = U512;
    type Committees = U64;
    type Attesters = U131072;
    type Withdrawals = U8;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree<S: Sizes>(preset: Preset) {
        assert_eq!(S::SyncCommittee::to_usize(), preset.sync_committee_size());
        assert_eq!(S::Committees::to_usize(), preset.max_committees_per_slot());
        assert_eq!(S::Attesters::to_usize(), 2048 * preset.max_committees_per_slot());
        assert_eq!(preset.name().parse(), Ok(preset));
    }

    #[test]
    fn types_and_numbers_agree() {
        agree::<Mainnet>(Preset::Mainnet);
        agree::<Minimal>(Preset::Minimal);
        agree::<Gnosis>(Preset::Gnosis);
        assert!("ephemery".parse::<Preset>().is_err());
    }
}
