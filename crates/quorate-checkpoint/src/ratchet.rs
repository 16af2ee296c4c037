//! What a client holds on disk. It only moves forward: to later sets, higher checkpoints, later times.
//!
//! The file has two lines: the SHA-256 of the second one, and the state as JSON. The first one finds damage, not forgery.
//! What can be verified is verified again whenever the file is read, so a forged checkpoint is not believed. The latest
//! time, the proven height and the absence of an alarm cannot be verified: whoever can write the file can set them back.

use std::path::Path;

use quorate::{SourceId, rand_core::CryptoRng};
use quorate_host::exit::{Ends, Exit};
use quorate_host::file::{FileError, WholeFile};
use serde::{Deserialize, Serialize};

use crate::{
    evidence::Equivocation,
    hex,
    json::{self, JsonError},
    sealed,
    sets::{RotationError, SetChain, Sets},
    signatures::{Posting, SignedCheckpoint, unite},
};

/// Why skipping has stopped for good. An operator must find out what happened, and then begin anew: with another file, and
/// with a pinned set that can be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Alarm {
    /// Enough signers signed two things that exclude each other.
    Equivocation(Equivocation),
    /// A block that had been skipped turned out to be invalid.
    InvalidBlock {
        /// Its height.
        height: u64,
    },
}

impl std::fmt::Display for Alarm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Equivocation(_) => f.write_str("enough signers have signed two things that exclude each other"),
            Self::InvalidBlock { height } => write!(f, "the skipped block at height {height} is invalid"),
        }
    }
}

/// Why the file of a client cannot be used. All blocks must be verified until an operator has looked at it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RatchetError {
    /// It was not read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// It was made for another chain.
    #[error(
        "{path} is of another chain, {}, and not of {}; give that chain's id, or another file",
        hex::prefixed(found),
        hex::prefixed(expected)
    )]
    OtherChain {
        /// The file.
        path: String,
        /// Its chain.
        found: [u8; 32],
        /// The chain that was asked for.
        expected: [u8; 32],
    },
    /// Its sets begin with another one than the pinned.
    #[error(
        "{path} follows from the pin {}, and not from {}; give that pin if you trust it, or another file",
        hex::prefixed(found),
        hex::prefixed(pinned)
    )]
    OtherPin {
        /// The file.
        path: String,
        /// The id of its first set.
        found: [u8; 32],
        /// The pinned id.
        pinned: [u8; 32],
    },
    /// It was cut off or changed.
    #[error("{path} is damaged: {reason}; verify all blocks, and bring the file back from a copy or move it away")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        reason: Damage,
    },
    /// A height was reported as verified that cannot be.
    #[error("found height {found} as verified, {}", to_prove(*least, *most))]
    NotSkipped {
        /// The height.
        found: u64,
        /// The first that is not proven.
        least: u64,
        /// The height of the checkpoint.
        most: u64,
    },
    /// A block was reported as invalid that was never skipped.
    #[error("found height {found} of an invalid block, {}", skipped(*most))]
    NeverSkipped {
        /// The height.
        found: u64,
        /// The height of the checkpoint; 0 if none is held.
        most: u64,
    },
}

fn to_prove(least: u64, most: u64) -> String {
    match most {
        0 => "and no block was skipped, because no checkpoint is held".to_owned(),
        _ if least > most => format!("and all blocks that were skipped, up to {most}, are verified already"),
        _ => format!("expected one from {least} to {most}, of which the blocks were skipped"),
    }
}

fn skipped(most: u64) -> String {
    match most {
        0 => "and no block was skipped, because no checkpoint is held".to_owned(),
        _ => format!("expected one from 1 to {most}, of which the blocks were skipped"),
    }
}

impl Ends for RatchetError {
    fn exit(&self) -> Exit {
        match self {
            Self::File(error) => error.exit(),
            Self::OtherChain { .. }
            | Self::OtherPin { .. }
            | Self::Damaged { .. }
            | Self::NotSkipped { .. }
            | Self::NeverSkipped { .. } => Exit::Usage,
        }
    }
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The checksum does not fit.
    #[error("the checksum in its first line is not that of the rest")]
    Checksum,
    /// It is not the JSON of a ratchet.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// It was made for something else.
    #[error("it is of another chain")]
    OtherChain {
        /// The chain that it was made for.
        found: [u8; 32],
    },
    /// Its sets do not follow from the pinned one.
    #[error(transparent)]
    Sets(#[from] RotationError),
    /// Its checkpoint is of another chain, or not signed by enough signers of its sets.
    #[error("its checkpoint is of another chain, or not signed by enough signers")]
    Checkpoint,
    /// Its evidence proves nothing.
    #[error("its evidence proves nothing")]
    Evidence,
    /// Heights contradict each other.
    #[error("more blocks are proven in it than were skipped")]
    Proven,
}

/// The state of a client, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ratchet {
    pub(crate) chain_id: [u8; 32],
    /// The sets that follow from the pinned one, once a node has sent them.
    pub(crate) chain: Option<SetChain>,
    /// The newest checkpoint that was accepted.
    pub(crate) held: Option<SignedCheckpoint>,
    /// The latest time that the caller has told, in Unix seconds.
    pub(crate) latest_time: u64,
    /// All blocks up to this height are verified.
    pub(crate) proven: u64,
    pub(crate) alarm: Option<Alarm>,
}

/// The second line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    version: u16,
    #[serde(with = "hex::array")]
    chain_id: [u8; 32],
    sets: Option<Sets>,
    held: Option<Posting>,
    latest_time: u64,
    proven: u64,
    alarm: Option<Alarm>,
}

impl Ratchet {
    fn new(chain_id: [u8; 32]) -> Self {
        Self { chain_id, chain: None, held: None, latest_time: 0, proven: 0, alarm: None }
    }

    /// Opens the file, and verifies everything in it. Without a file nothing is held yet.
    pub(crate) fn open(
        path: &Path,
        chain_id: [u8; 32],
        pinned: [u8; 32],
        rng: &mut impl CryptoRng,
    ) -> Result<(Self, WholeFile), RatchetError> {
        let (file, contents) = WholeFile::open(path, LARGEST as u64)?;
        let Some(contents) = contents else { return Ok((Self::new(chain_id), file)) };
        let state = Self::from_bytes(&contents, chain_id, pinned, rng);
        let path = path.display().to_string();
        let state = state.map_err(|reason| match reason {
            Damage::OtherChain { found } => RatchetError::OtherChain { path, found, expected: chain_id },
            Damage::Sets(RotationError::NotPinned { found, pinned }) => RatchetError::OtherPin { path, found, pinned },
            reason => RatchetError::Damaged { path, reason },
        })?;
        Ok((state, file))
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let form = Form {
            version: 1,
            chain_id: self.chain_id,
            sets: self.chain.as_ref().map(SetChain::to_sets),
            held: self.held.as_ref().map(SignedCheckpoint::to_posting),
            latest_time: self.latest_time,
            proven: self.proven,
            alarm: self.alarm.clone(),
        };
        let json = serde_json::to_string(&form).expect("numbers, lists and hexadecimal can always be written");
        sealed::with_checksum(&json)
    }

    /// Reads the file, and believes nothing in it that can be verified.
    pub(crate) fn from_bytes(
        bytes: &[u8],
        chain_id: [u8; 32],
        pinned: [u8; 32],
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Damage> {
        let json = sealed::checked(bytes).ok_or(Damage::Checksum)?;
        let form: Form = json::object(json, LARGEST, "a client's ratchet")?;
        if form.version != 1 {
            let reason = format!("in the field version: found {}, expected 1", form.version);
            return Err(JsonError::Unfit { what: "a client's ratchet", reason }.into());
        }
        if form.chain_id != chain_id {
            return Err(Damage::OtherChain { found: form.chain_id });
        }
        let chain = form.sets.map(|sets| SetChain::follow(&sets, pinned, rng)).transpose()?;
        let sets = chain.as_ref().map(SetChain::sets).unwrap_or_default();
        let held = match form.held {
            None => None,
            Some(posting) if posting.document.chain_id != chain_id => return Err(Damage::Checkpoint),
            Some(posting) => {
                let (signed, _) = unite([(SourceId::from("file"), &posting)], sets, rng);
                Some(signed.into_iter().find(SignedCheckpoint::is_complete).ok_or(Damage::Checkpoint)?)
            }
        };
        if let Some(Alarm::Equivocation(evidence)) = &form.alarm {
            let verified = chain.as_ref().map(|chain| evidence.verify(chain, rng));
            verified.and_then(Result::ok).ok_or(Damage::Evidence)?;
        }
        if form.proven > held.as_ref().map_or(0, |held| held.checkpoint().height) {
            return Err(Damage::Proven);
        }
        let Form { latest_time, proven, alarm, .. } = form;
        Ok(Self { chain_id, chain, held, latest_time, proven, alarm })
    }
}

/// Sets and evidence of the greatest size have less.
const LARGEST: usize = 16 << 20;
