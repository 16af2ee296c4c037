//! A board on disk: what a node has acknowledged is there after a restart, and after a kill at any moment.
//!
//! The file has two lines: the SHA-256 of the second one, and the board as JSON. The first one finds damage, not forgery.
//! All signatures are verified again whenever the file is read.

use std::path::Path;

use quorate::{SourceId, rand_core::CryptoRng};
use quorate_host::exit::{Ends, Exit};
use quorate_host::file::{FileError, WholeFile};
use serde::{Deserialize, Serialize};

use crate::{
    board::{Board, PostError, Posted},
    evidence::Equivocation,
    hex,
    json::{self, JsonError},
    sealed,
    sets::{RotationError, SetChain, Sets},
    signatures::Posting,
};

/// A [`Board`] and its file. What is posted is on the disk before [`post`](Self::post) returns.
#[derive(Debug)]
pub struct KeptBoard {
    board: Board,
    file: WholeFile,
    /// What the file holds.
    written: Vec<u8>,
    failures: u64,
    is_failing: bool,
}

/// Why a board cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeptBoardError {
    /// The file was not read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The sets that were given do not follow from the pinned one.
    #[error(transparent)]
    Sets(#[from] RotationError),
    /// The file was cut off or changed.
    #[error(
        "{path} is damaged: {reason}; bring it back from a copy, or move it away and ask the signers to post their checkpoints again"
    )]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        reason: BoardDamage,
    },
}

impl Ends for KeptBoardError {
    fn exit(&self) -> Exit {
        match self {
            Self::File(error) => error.exit(),
            Self::Sets(_) | Self::Damaged { .. } => Exit::Usage,
        }
    }
}

/// What is wrong with the file of a board.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoardDamage {
    /// The checksum does not fit.
    #[error("the checksum in its first line is not that of the rest")]
    Checksum,
    /// It is not the JSON of a board.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// It was made for something else.
    #[error("it is of another chain")]
    OtherChain,
    /// Its sets do not follow from the pinned one.
    #[error(transparent)]
    Sets(#[from] RotationError),
    /// One of its checkpoints is not signed by its signers.
    #[error("the checkpoint at height {height} is not signed as it says")]
    Checkpoint {
        /// Its height.
        height: u64,
    },
    /// Its evidence proves nothing.
    #[error("its evidence proves nothing")]
    Evidence,
}

/// The second line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    version: u16,
    #[serde(with = "hex::array")]
    chain_id: [u8; 32],
    sets: Sets,
    complete: Option<Posting>,
    waiting: Vec<Posting>,
    evidence: Option<Equivocation>,
}

impl KeptBoard {
    /// Opens the file of a board, or begins one, and locks it. `sets` are what the operator knows of the sets of signers; what
    /// the file knows beyond them stays. If the two contradict each other, that is evidence, and the board serves it.
    ///
    /// # Errors
    /// [`KeptBoardError`]: the sets are not in order, or the file is used by another process, damaged or not readable.
    pub fn open(
        path: &Path,
        chain_id: [u8; 32],
        sets: &Sets,
        pinned: [u8; 32],
        slack: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, KeptBoardError> {
        let chain = SetChain::follow(sets, pinned, rng)?;
        let (file, contents) = WholeFile::open(path, LARGEST as u64)?;
        let mut board = match &contents {
            None => Board::new(chain_id, chain, slack),
            Some(contents) => restore(contents, chain_id, pinned, slack, rng)
                .map_err(|reason| KeptBoardError::Damaged { path: path.display().to_string(), reason })?,
        };
        for rotation in &sets.rotations {
            // One that the file knows changes nothing, and one that excludes another is kept as evidence.
            let _ = board.rotate(rotation.clone(), rng);
        }
        let written = contents.unwrap_or_default();
        let mut this = Self { board, file, written, failures: 0, is_failing: false };
        // A folder that cannot be written is found now, and not by the first signer.
        this.write(&this.board.clone())?;
        Ok(this)
    }

    /// Takes signatures of a checkpoint, as [`Board::post`] does. What it answers is on the disk.
    ///
    /// # Errors
    /// [`FileError`]: it could not be written, and nothing was kept. The inner error is the board's.
    pub fn post(
        &mut self,
        posting: &Posting,
        source: SourceId,
        now: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<Result<Posted, PostError>, FileError> {
        let mut next = self.board.clone();
        let posted = next.post(posting, source, now, rng);
        if posted.is_ok() {
            self.write(&next)?;
            self.board = next;
        }
        Ok(posted)
    }

    /// How often the board could not be written since it was opened, because a disk was full or failed. Each posting tries again.
    pub fn write_failures(&self) -> u64 {
        self.failures
    }

    /// Whether the last attempt to write failed.
    pub fn is_failing(&self) -> bool {
        self.is_failing
    }

    /// What is held.
    pub fn board(&self) -> &Board {
        &self.board
    }

    fn write(&mut self, board: &Board) -> Result<(), FileError> {
        let json = serde_json::to_string(&Form {
            version: 1,
            chain_id: board.chain_id(),
            sets: board.sets().to_sets(),
            complete: board.complete().map(|signed| signed.to_posting()),
            waiting: board.waiting().iter().map(|signed| signed.to_posting()).collect(),
            evidence: board.evidence().cloned(),
        });
        let bytes = sealed::with_checksum(&json.expect("numbers, lists and hexadecimal can always be written"));
        if bytes != self.written {
            let replaced = self.file.replace(&bytes);
            self.is_failing = replaced.is_err();
            self.failures += u64::from(replaced.is_err());
            replaced?;
            self.written = bytes;
        }
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn interrupt(&mut self, before: quorate_host::file::Before) {
        self.file.interrupt(before);
    }
}

/// The board of a file. What can be verified is verified, each checkpoint under the set that was the newest when it was posted.
fn restore(
    contents: &[u8],
    chain_id: [u8; 32],
    pinned: [u8; 32],
    slack: u64,
    rng: &mut impl CryptoRng,
) -> Result<Board, BoardDamage> {
    let json = sealed::checked(contents).ok_or(BoardDamage::Checksum)?;
    let form: Form = json::object(json, LARGEST, "a board of checkpoints")?;
    if form.version != 1 {
        let reason = format!("in the field version: found {}, expected 1", form.version);
        return Err(JsonError::Unfit { what: "a board of checkpoints", reason }.into());
    }
    if form.chain_id != chain_id {
        return Err(BoardDamage::OtherChain);
    }
    let first = Sets { first: form.sets.first, rotations: Vec::new() };
    let mut board = Board::new(chain_id, SetChain::follow(&first, pinned, rng)?, slack);
    let mut rotations = form.sets.rotations.into_iter();
    for posting in form.complete.iter().chain(&form.waiting) {
        while posting.document.set_epoch != board.sets().newest().epoch()
            && let Some(rotation) = rotations.next()
        {
            board.rotate(rotation, rng)?;
        }
        // Whether it has expired since is for those who use it to say.
        let posted = board.post(posting, SourceId::from("file"), posting.document.issued_at, rng);
        if !posted.is_ok_and(|posted| posted.flaws.is_empty() && posted.signatures == posting.signatures.len()) {
            return Err(BoardDamage::Checkpoint { height: posting.document.height });
        }
    }
    rotations.try_for_each(|rotation| board.rotate(rotation, rng))?;
    if let Some(evidence) = form.evidence {
        board.accuse(evidence, rng).map_err(|_| BoardDamage::Evidence)?;
    }
    Ok(board)
}

/// Sets of the greatest size, 3 signatures for each of 1,024 signers, and evidence have less.
const LARGEST: usize = 24 << 20;
