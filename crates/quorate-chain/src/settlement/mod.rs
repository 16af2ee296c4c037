//! Follows a settlement on its chain: what [`quorate_evm::follow`] rebuilds from logs and calldata, read from a node.
//!
//! [`SettlementFollower::turn`] reads what is confirmed, forgets what a reorganisation undid, and compares with the contract. It goes
//! on from a file, its cursor. A node that answers with less of the chain than before is taken for one that lags: nothing is forgotten
//! and nothing is decided from its answer.
//!
//! | module | contents |
//! |---|---|
//! | `error` | why a settlement cannot be followed, or not now |
//! | `settings` | how it is followed |
//! | `cursor` | the file from which it goes on |
//! | `metrics` | what is counted |
//! | `chain` | blocks, and the settlement after each of them |
//! | `entering` | what `enter` passes, without following |

mod error;
mod settings;
mod cursor;
pub(crate) mod metrics;
mod chain;
mod entering;

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use quorate_evm::follow::Follower;
use quorate_host::file::FileError;

pub use entering::passed_to_enter;
pub use error::{OptionNames, SettlementError, SettlementPlace};
pub use metrics::SettlementMetrics;
pub use settings::SettlementSettings;

use self::chain::{Chain, Step, Target};
use crate::rpc::{Rpc, RpcBlock};

/// Who hears what happens while a settlement is followed.
pub trait SettlementListener {
    /// It still works: it asks the node, or has got an answer.
    fn turns(&mut self) {}

    /// The logs up to a block were read, of those up to another one. There are so many keys and results now.
    fn read(&mut self, _block: u64, _target: u64, _keys: u64, _results: u64) {}

    /// Something that a person should know.
    fn note(&mut self, text: &str);

    /// Something that a person should do something about.
    fn problem(&mut self, text: &str);
}

/// Where a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettlementTurn {
    /// All that is confirmed was read, and the contract compared.
    Compared,
    /// Not yet.
    Behind,
    /// The first block has not so many confirmations yet.
    Before,
}

/// A settlement that is followed, with the file of its cursor.
pub struct SettlementFollower<L> {
    /// Who hears what happens.
    pub listener: L,
    chain: Chain,
    settings: SettlementSettings,
    saved: Instant,
    /// Whether the last cursor was too long to be written.
    is_too_long: bool,
    metrics: Arc<SettlementMetrics>,
}

/// How often the cursor is saved while many blocks are read.
const SAVED_EVERY: Duration = Duration::from_secs(10);

impl<L: SettlementListener> SettlementFollower<L> {
    /// Asks the node for the settlement, and goes on from the cursor, if there is one. One that is too long is taken for none.
    ///
    /// # Errors
    /// The node does not answer, the contract is not a settlement, or the cursor is not one of it.
    pub async fn open(
        node: Rpc,
        settings: SettlementSettings,
        metrics: Arc<SettlementMetrics>,
        mut listener: L,
    ) -> Result<Self, SettlementError> {
        let mut chain = Chain::open(node, &settings, Arc::clone(&metrics)).await?;
        match cursor::read(&settings.cursor) {
            Ok(Some(cursor)) => chain.resume(cursor, &settings.cursor)?,
            Ok(None) => {}
            Err(SettlementError::Unread(FileError::TooLarge { path, limit })) => listener
                .note(&format!("{} has more than {limit} bytes, the limit: the logs are read anew", path.display())),
            Err(error) => return Err(error),
        }
        Ok(Self { listener, chain, settings, saved: Instant::now(), is_too_long: false, metrics })
    }

    /// Reads what is confirmed, and compares the contract.
    ///
    /// # Errors
    /// [`SettlementError`]. If it is not one that [may pass](SettlementError::may_pass), the cursor is removed where what it holds does
    /// not match.
    pub async fn turn(&mut self) -> Result<SettlementTurn, SettlementError> {
        self.listener.turns();
        let target = match self.chain.target().await? {
            Target::Block(target) => Some(target),
            Target::None => None,
            Target::Unclear => return Ok(self.behind()),
        };
        if !self.chain.go_back().await? {
            return Ok(self.behind());
        }
        while let Some(target) = target {
            let step = match self.chain.step(target).await {
                Err(error @ (SettlementError::Contradiction { .. } | SettlementError::Log { .. })) => {
                    return self.doubts(error);
                }
                step => step?,
            };
            self.listener.turns();
            self.show(target);
            if matches!(step, Step::Done) {
                break;
            }
            if self.saved.elapsed() > SAVED_EVERY {
                self.save()?;
                self.saved = Instant::now();
            }
        }
        if target.is_none() || self.chain.block() < target {
            return Ok(if self.chain.is_before(target) { SettlementTurn::Before } else { SettlementTurn::Behind });
        }
        let compared = match self.chain.compare().await {
            Err(error @ SettlementError::Differs(_)) => return self.doubts(error),
            // A node that does not answer says nothing of what was read.
            compared => compared?,
        };
        self.tell();
        Ok(if compared { SettlementTurn::Compared } else { SettlementTurn::Behind })
    }

    /// What was read does not match: the last blocks are read again, or, if that was tried often enough, it is an error, and what was read
    /// is not to be read again from the cursor.
    fn doubts(&mut self, error: SettlementError) -> Result<SettlementTurn, SettlementError> {
        if self.chain.read_again() {
            return Ok(self.behind());
        }
        self.remove_cursor();
        Err(error)
    }

    fn behind(&mut self) -> SettlementTurn {
        self.tell();
        SettlementTurn::Behind
    }

    /// Prints what the user should know.
    fn tell(&mut self) {
        for note in self.chain.notes.drain(..) {
            self.listener.note(&note);
        }
    }

    fn show(&mut self, target: u64) {
        self.tell();
        let (block, follower) = (self.chain.block().unwrap_or_default(), self.chain.seen());
        let (keys, results) = match follower {
            Some(follower) => {
                self.metrics.settlement(follower);
                (follower.keys() as u64, follower.head().nonce)
            }
            None => (0, 0),
        };
        self.listener.read(block, target, keys, results);
    }

    /// The last block that was read.
    pub fn block(&self) -> Option<u64> {
        self.chain.block()
    }

    /// The newest block of the chain, as it was seen last.
    pub fn newest(&self) -> Option<RpcBlock> {
        self.chain.newest()
    }

    /// Takes the weights of the running epoch from elsewhere, after all was [`Compared`](SettlementTurn::Compared), if no calldata tells
    /// them ([`NoNetwork::NoWeights`](quorate_evm::follow::NoNetwork::NoWeights)). The answer is whether the contract has these.
    ///
    /// # Errors
    /// The node does not answer.
    pub async fn take_weights(&mut self, weights: Vec<u64>) -> Result<bool, SettlementError> {
        self.chain.take_weights(weights).await
    }

    /// The settlement after the last block that was read.
    pub fn follower(&mut self) -> Option<&mut Follower> {
        self.chain.follower()
    }

    /// The same, and who hears what happens.
    pub(crate) fn parts(&mut self) -> (Option<&mut Follower>, &mut L) {
        (self.chain.follower(), &mut self.listener)
    }

    /// How often blocks that were read were forgotten, by a reorganisation or because they are read again.
    pub(crate) fn forgotten(&self) -> u64 {
        self.chain.forgotten()
    }

    /// The id of the settlement's chain.
    pub fn chain_id(&self) -> u64 {
        self.chain.chain_id()
    }

    /// How it follows.
    pub fn settings(&self) -> &SettlementSettings {
        &self.settings
    }

    /// Takes note that all that is confirmed was read and compared, and whatever is done after that was done. `waits` says whether the
    /// network could not be written all the same.
    pub fn caught_up(&self, waits: bool) {
        self.metrics.caught_up(waits);
    }

    /// Writes the cursor. One that is too long to be read again is not written, which is said once: the file stays as it is.
    ///
    /// # Errors
    /// [`SettlementError::Unwritten`].
    pub fn save(&mut self) -> Result<(), SettlementError> {
        let Some(cursor) = self.chain.cursor() else { return Ok(()) };
        let path = &self.settings.cursor;
        let is_too_long = !cursor::write(path, &cursor)?;
        if is_too_long && !self.is_too_long {
            self.listener.note(&format!(
                "what is to be written to {} has more than {} bytes, because of long postings: after a restart the logs are read \
                 from an older block on",
                path.display(),
                cursor::MOST_BYTES
            ));
        }
        self.is_too_long = is_too_long;
        Ok(())
    }

    /// Forgets all that was read, and the cursor: the next turn reads the logs from the first block of the settings on.
    pub fn begin_anew(&mut self) {
        self.chain.begin_anew(self.settings.from_block);
        self.remove_cursor();
    }

    fn remove_cursor(&self) {
        // If it stays, the next run compares again, and says the same.
        let _ = fs::remove_file(&self.settings.cursor);
    }
}
