//! The board of checkpoints: signers post to it, and nodes that sync read it. What it has acknowledged is on the disk.

use std::{
    fs::File,
    io::BufReader,
    path::Path,
    sync::{Mutex, PoisonError, RwLock},
};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use quorate::SourceId;
use quorate_checkpoint::{Alarm, FileError, KeptBoard, LARGEST_ANSWER, PostError, Posted, Posting, Sets};
use quorate_formats::array_from_hex;
use quorate_host::{file::make_private_folder, listen::Places, text::read_text, unix_seconds};
use tokio::sync::OwnedSemaphorePermit;

use crate::config::CheckpointSettings;

/// What the server knows about checkpoints.
#[derive(Debug)]
pub(crate) struct Board {
    kept: Mutex<KeptBoard>,
    /// What is shown of it, so that nobody who reads waits for a posting that is being verified.
    shown: RwLock<Shown>,
    places: Places,
}

/// A board as others see it.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// The answer to `GET /v1/checkpoint`.
    pub(crate) json: Bytes,
    pub(crate) summary: Summary,
}

/// What a board holds, in numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    /// The newest checkpoint that enough signers have signed, or else the one that has the most signatures.
    pub(crate) best: Option<Best>,
    /// How many signers must sign.
    pub(crate) needed: usize,
    /// How many there are in the newest set.
    pub(crate) signers: usize,
    /// Checkpoints that are held.
    pub(crate) documents: usize,
    /// Signatures under them.
    pub(crate) signatures: usize,
    /// Whether signers have signed two things that exclude each other.
    pub(crate) evidence: bool,
    /// How often the board could not be written down.
    pub(crate) write_failures: u64,
    /// Whether it could not be written down the last time.
    pub(crate) is_failing: bool,
}

/// A checkpoint of a board.
#[derive(Clone, Debug)]
pub(crate) struct Best {
    pub(crate) height: u64,
    pub(crate) signatures: usize,
    pub(crate) issued_at: u64,
    pub(crate) expires_at: u64,
}

impl Board {
    /// Opens the board that the configuration names.
    pub(crate) fn open(config: &CheckpointSettings) -> anyhow::Result<Option<Self>> {
        if !config.is_configured() {
            return Ok(None);
        }
        let (pin, chain_id) = (array_from_hex(&config.pin)?, array_from_hex(&config.chain_id)?);
        let read = || -> anyhow::Result<Sets> {
            let text = read_text(BufReader::new(File::open(&config.sets)?), LARGEST_ANSWER as u64)?;
            Ok(Sets::from_json(text.as_bytes())?)
        };
        let sets = read().with_context(|| format!("checkpoint.sets: {}", config.sets))?;
        let folder = Path::new(&config.folder);
        make_private_folder(folder).with_context(|| format!("checkpoint.folder: {}", config.folder))?;
        let kept = KeptBoard::open(&folder.join("board"), chain_id, &sets, pin, config.slack_s, &mut rand::rng());
        let kept = kept.context("checkpoint")?;
        let shown = Shown::of(&kept);
        ensure!(
            shown.json.len() <= LARGEST_ANSWER,
            "checkpoint.sets: with these sets an answer has {} bytes, and nodes read at most {LARGEST_ANSWER}; begin the file with \
             a newer set, which nodes must then pin",
            shown.json.len()
        );
        if shown.summary.evidence {
            tell(&kept);
        }
        let places = Places::new(config.postings);
        Ok(Some(Self { kept: Mutex::new(kept), shown: RwLock::new(shown), places }))
    }

    /// A place for a posting, if one is free. Dropping it gives it back.
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.places.free().clone().try_acquire_owned().ok()
    }

    /// Takes a posting. One is verified after the other, so that strangers take at most one core. It blocks.
    pub(crate) fn post(&self, posting: &Posting) -> Result<Result<Posted, PostError>, FileError> {
        // A thread that panicked has changed nothing: the board is replaced as a whole.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.board().evidence().is_some();
        let height = |kept: &KeptBoard| kept.board().complete().map(|signed| signed.checkpoint().height);
        let before = height(&kept);
        let failed_before = kept.is_failing();
        let posted = kept.post(posting, SourceId::from("posting"), unix_seconds(), &mut rand::rng());
        match &posted {
            Err(error) => {
                // Only the first one: a stranger may post again and again.
                if !failed_before {
                    tracing::error!(%error, "a checkpoint cannot be written down, so it is not taken; the next posting tries again");
                }
                *self.shown.write().unwrap_or_else(PoisonError::into_inner) = Shown::of(&kept);
            }
            Ok(_) if failed_before && !kept.is_failing() => {
                tracing::info!(failures = kept.write_failures(), "checkpoints are written down again");
            }
            Ok(_) => {}
        }
        let posted = posted?;
        if posted.is_ok() {
            if !known && kept.board().evidence().is_some() {
                tell(&kept);
            }
            if let Some(height) = height(&kept).filter(|height| Some(*height) != before) {
                tracing::info!(height, "enough signers have signed a checkpoint");
            }
            *self.shown.write().unwrap_or_else(PoisonError::into_inner) = Shown::of(&kept);
        }
        Ok(posted)
    }

    pub(crate) fn shown(&self) -> Shown {
        self.shown.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Writes evidence into the log.
fn tell(kept: &KeptBoard) {
    let Some(evidence) = kept.board().evidence() else { return };
    let keys = evidence.verify(kept.board().sets(), &mut rand::rng()).unwrap_or_default();
    let keys: Vec<_> = keys.iter().map(|key| const_hex::encode_prefixed(key.to_bytes())).collect();
    tracing::error!(
        signed_both = keys.join(" "),
        "evidence against signers of checkpoints: {}; /v1/checkpoint serves it, and nodes that see it stop skipping",
        Alarm::Equivocation(evidence.clone())
    );
}

impl Shown {
    fn of(kept: &KeptBoard) -> Self {
        let board = kept.board();
        let all = || board.complete().into_iter().chain(board.waiting());
        let best = board.complete().or_else(|| board.waiting().iter().max_by_key(|signed| signed.count()));
        let newest = board.sets().newest();
        let summary = Summary {
            best: best.map(|signed| Best {
                height: signed.checkpoint().height,
                signatures: signed.count(),
                issued_at: signed.checkpoint().issued_at,
                expires_at: signed.checkpoint().expires_at,
            }),
            needed: newest.threshold(),
            signers: newest.keys().len(),
            documents: all().count(),
            signatures: all().map(|signed| signed.count()).sum(),
            evidence: board.evidence().is_some(),
            write_failures: kept.write_failures(),
            is_failing: kept.is_failing(),
        };
        Self { json: board.serve().to_json().into(), summary }
    }
}
