//! A node's side: from the answers of several nodes to the decision how far it may skip.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    path::Path,
};

use quorate::{SourceId, rand_core::CryptoRng};
use quorate_host::file::WholeFile;

use crate::{
    checkpoint::Checkpoint,
    evidence::{Equivocation, EvidenceError},
    json::JsonError,
    ratchet::{Alarm, Ratchet, RatchetError},
    sets::{RotationError, SetChain, Sets},
    signatures::{Flaw, FlawKind, Posting, SignedCheckpoint, unite},
    wire::Served,
};

/// The chain of block headers that the caller has chosen, by proof of work or by finality. Checkpoints never choose it.
pub trait HeaderChain {
    /// The greatest height.
    fn tip(&self) -> u64;

    /// The hash of the block at a height, or `None` above the tip, and at a slot without a block.
    fn hash(&self, height: u64) -> Option<[u8; 32]>;
}

/// What a client insists on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPolicy {
    /// The chain that it follows.
    pub chain_id: [u8; 32],
    /// The id of the first set of signers, from somewhere that the user trusts: the program itself, or its documentation.
    pub pinned: [u8; 32],
    /// How many nodes must answer. The default is 3.
    pub least_nodes: usize,
    /// How many blocks must stand above the checkpoint's. It has no default, because chains differ: take what nobody can
    /// rewrite, for example two weeks of blocks.
    pub burial: u64,
    /// How many seconds the clocks of signers and nodes may differ. The default is 600.
    pub slack: u64,
    /// How many seconds a checkpoint may be valid. The default is 60 days, so that stolen keys make none that last.
    pub longest_life: u64,
}

impl ClientPolicy {
    /// The defaults, for a chain, a pinned set and a depth.
    pub fn new(chain_id: [u8; 32], pinned: [u8; 32], burial: u64) -> Self {
        Self { chain_id, pinned, least_nodes: 3, burial, slack: 600, longest_life: 60 * 24 * 3600 }
    }
}

/// What a node answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAnswer {
    /// Its name. Two answers of one node count once.
    pub node: SourceId,
    /// The body of its answer, or why there is none. Read no more than [`LARGEST_ANSWER`](crate::LARGEST_ANSWER) bytes and
    /// one from a node: a longer answer is refused.
    pub body: Result<Vec<u8>, String>,
}

/// What a node may do with the blocks that it has not verified yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a block may be skipped only if the decision says so"]
pub enum Decision {
    /// Signatures in blocks up to this height need not be verified now. Verify them afterwards: [`Client::to_prove`].
    Skip {
        /// The height of the checkpoint.
        height: u64,
        /// Its block.
        block_hash: [u8; 32],
    },
    /// Verify every block.
    VerifyAll(NotSkipped),
}

impl Decision {
    /// Whether the block at a height, of the header chain that the decision was made for, may be skipped.
    #[must_use]
    pub fn skips(&self, height: u64) -> bool {
        matches!(self, Self::Skip { height: last, .. } if height <= *last)
    }
}

/// Why all blocks must be verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSkipped {
    /// Skipping has stopped for good.
    #[error("skipping has stopped until an operator acts: {0}")]
    Alarm(Alarm),
    /// The clock shows an earlier time than before, so nobody knows what has expired.
    #[error("the clock was set back: it is {now}, and it was {latest} before; set the clock")]
    ClockSetBack {
        /// Unix seconds.
        now: u64,
        /// Unix seconds.
        latest: u64,
    },
    /// Too few nodes gave an answer that can be read.
    #[error("{answered} nodes answered in order, expected at least {needed}; name more nodes")]
    TooFewNodes {
        /// How many did.
        answered: usize,
        /// How many must.
        needed: usize,
    },
    /// The file was not written, so nothing new is believed.
    #[error("the checkpoint could not be written down: {0}")]
    NotWritten(String),
    /// No node has a checkpoint.
    #[error("no node has sent a checkpoint")]
    NoCheckpoint,
    /// Too few signers have signed.
    #[error("{found} signers have signed the checkpoint at height {height}, expected at least {needed}")]
    TooFewSignatures {
        /// Its height.
        height: u64,
        /// How many.
        found: usize,
        /// The threshold.
        needed: usize,
    },
    /// It is of an older set.
    #[error("the checkpoint at height {height} is of the set with epoch {found}, expected the newest, {newest}")]
    Epoch {
        /// Its height.
        height: u64,
        /// Its epoch.
        found: u64,
        /// The newest set's epoch.
        newest: u64,
    },
    /// It is too late to use it.
    #[error("the checkpoint at height {height} expired at {expires_at}, and it is {now}")]
    Expired {
        /// Its height.
        height: u64,
        /// Unix seconds.
        expires_at: u64,
        /// Unix seconds.
        now: u64,
    },
    /// It comes from the future.
    #[error("the checkpoint at height {height} was issued at {issued_at}, and it is {now}")]
    FromTheFuture {
        /// Its height.
        height: u64,
        /// Unix seconds.
        issued_at: u64,
        /// Unix seconds.
        now: u64,
    },
    /// It is valid for longer than the client allows.
    #[error("the checkpoint at height {height} is valid for more than {longest} seconds")]
    LivesTooLong {
        /// Its height.
        height: u64,
        /// The longest that the client allows.
        longest: u64,
    },
    /// It is not higher than the one held.
    #[error("the checkpoint at height {height} is not higher than the one held, at {held}")]
    NotHigher {
        /// Its height.
        height: u64,
        /// The held one's.
        held: u64,
    },
    /// It says that it is the first one, and one is held.
    #[error("the checkpoint at height {height} names no previous one, but one at {held} is held")]
    NoPrevious {
        /// Its height.
        height: u64,
        /// The held one's.
        held: u64,
    },
    /// The header chain has another block there, or none.
    #[error("the block at height {height} of the chosen header chain is not the checkpoint's")]
    NotOnChain {
        /// Its height.
        height: u64,
    },
    /// The header chain does not reach the block.
    #[error(
        "the chosen header chain ends at height {tip}, below the checkpoint at height {height}; give the newer headers too"
    )]
    AboveTip {
        /// The checkpoint's height.
        height: u64,
        /// The height of the newest block.
        tip: u64,
    },
    /// The block is too young.
    #[error("{found} blocks stand above the checkpoint at height {height}, expected at least {needed}")]
    NotBuried {
        /// Its height.
        height: u64,
        /// How many.
        found: u64,
        /// How many must.
        needed: u64,
    },
}

/// What a node did wrong. It is for logs and for choosing nodes: no decision hangs on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NodeFault {
    /// It gave no answer.
    #[error("no answer: {0}")]
    NoAnswer(String),
    /// It is named twice, or behind more nodes than are asked.
    #[error("it is named twice, or more than {MOST_NODES} nodes are named; its answer was not read")]
    NotAsked,
    /// None of its signatures is true, so it has told nothing, and does not count among the nodes that answered in order.
    #[error("sent {sent} signature{}, 0 true", if *sent == 1 { "" } else { "s" })]
    NothingTrue {
        /// How many it sent.
        sent: usize,
    },
    /// Its answer cannot be read.
    #[error(transparent)]
    Unreadable(#[from] JsonError),
    /// Its sets do not follow from the pinned one.
    #[error(transparent)]
    Sets(#[from] RotationError),
    /// Its evidence proves nothing.
    #[error("its evidence proves nothing: {0}")]
    Evidence(#[from] EvidenceError),
    /// It sent a checkpoint of another chain.
    #[error("it sent a checkpoint of another chain")]
    OtherChain,
    /// A checkpoint of its answer is wrong.
    #[error(transparent)]
    Checkpoint(Flaw),
}

/// The nodes that sent signatures all of which are false, and how many each sent. What cannot be verified, such as signatures of an
/// unknown set, is not false.
fn nothing_true(postings: &[(SourceId, &Posting)], flaws: &[Flaw]) -> Vec<(SourceId, usize)> {
    let mut sent: BTreeMap<&SourceId, usize> = BTreeMap::new();
    for (node, posting) in postings {
        *sent.entry(node).or_default() += posting.signatures.len();
    }
    let false_ones = |node: &SourceId| {
        flaws.iter().filter(|flaw| flaw.node == *node && matches!(flaw.kind, FlawKind::Signature { .. })).count()
    };
    let liars = sent.into_iter().filter(|(node, sent)| *sent > 0 && false_ones(node) == *sent);
    liars.map(|(node, sent)| (node.clone(), sent)).collect()
}

/// What came of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Update {
    /// What to do.
    pub decision: Decision,
    /// Checkpoints that were not accepted, and why.
    pub refused: Vec<(Checkpoint, NotSkipped)>,
    /// What nodes did wrong.
    pub faults: Vec<(SourceId, NodeFault)>,
}

/// What a node holds of its checkpoints, on disk and in memory. It has no network and no clock: the caller asks the nodes
/// and tells the time.
///
/// A checkpoint never chooses a chain. It only says that blocks of the chain that the caller has chosen may be verified
/// later. Every failure means that all blocks are verified now.
#[derive(Debug)]
pub struct Client {
    policy: ClientPolicy,
    state: Ratchet,
    file: WholeFile,
}

impl Client {
    /// Opens the file of a client, or begins one, and locks it. Everything in it is verified again.
    ///
    /// # Errors
    /// [`RatchetError`]: it is used by another process, is damaged, or cannot be read. Then verify all blocks.
    pub fn open(policy: ClientPolicy, path: &Path, rng: &mut impl CryptoRng) -> Result<Self, RatchetError> {
        let (state, file) = Ratchet::open(path, policy.chain_id, policy.pinned, rng)?;
        Ok(Self { policy, state, file })
    }

    /// Takes the answers of nodes, and decides. `now` is in Unix seconds.
    ///
    /// Everything is checked first, then written to the disk, and only then used. A held checkpoint goes on counting if the
    /// nodes sent no better one.
    ///
    /// Cost: a pairing for each distinct signature of the answers, in one batch; and for each new set of signers a pairing
    /// for each of its keys.
    pub fn update(
        &mut self,
        answers: &[NodeAnswer],
        now: u64,
        headers: &impl HeaderChain,
        rng: &mut impl CryptoRng,
    ) -> Update {
        let mut report =
            Update { decision: Decision::VerifyAll(NotSkipped::NoCheckpoint), refused: Vec::new(), faults: Vec::new() };
        report.decision = self.try_update(answers, now, headers, rng, &mut report).unwrap_or_else(Decision::VerifyAll);
        report
    }

    fn try_update(
        &mut self,
        answers: &[NodeAnswer],
        now: u64,
        headers: &impl HeaderChain,
        rng: &mut impl CryptoRng,
        report: &mut Update,
    ) -> Result<Decision, NotSkipped> {
        self.check_alarm_and_clock(now)?;
        let answers = read(answers, &mut report.faults);
        let mut next = self.state.clone();
        next.latest_time = next.latest_time.max(now);
        // A node whose sets do not begin at the pinned one has not answered what was asked.
        let mut alarm = None;
        let mut heard = Vec::new();
        for (node, served) in answers {
            match follow(&mut next.chain, &served.sets, self.policy.pinned, rng) {
                Ok(()) => heard.push((node, served)),
                Err(Fork::Fault(error)) => report.faults.push((node, error.into())),
                Err(Fork::Equivocation(evidence)) => {
                    alarm.get_or_insert(Alarm::Equivocation(evidence));
                }
            }
        }
        if let Some(chain) = &next.chain {
            for (node, served) in &heard {
                match served.evidence.as_ref().map(|evidence| evidence.verify(chain, rng).map(|_| evidence)) {
                    None => {}
                    Some(Ok(evidence)) => {
                        alarm.get_or_insert_with(|| Alarm::Equivocation(evidence.clone()));
                    }
                    Some(Err(error)) => report.faults.push((node.clone(), error.into())),
                }
            }
        }
        let mut signed = Vec::new();
        if let Some(chain) = &next.chain {
            let (ours, others): (Vec<_>, Vec<_>) = heard
                .iter()
                .flat_map(|(node, served)| served.checkpoints.iter().map(move |posting| (node.clone(), posting)))
                .partition(|(_, posting)| posting.document.chain_id == self.policy.chain_id);
            report.faults.extend(others.into_iter().map(|(node, _)| (node, NodeFault::OtherChain)));
            let (united, flaws) = unite(ours.clone(), chain.sets(), rng);
            let liars = nothing_true(&ours, &flaws);
            heard.retain(|(node, _)| !liars.iter().any(|(liar, _)| liar == node));
            report.faults.extend(liars.into_iter().map(|(node, sent)| (node, NodeFault::NothingTrue { sent })));
            report.faults.extend(flaws.into_iter().map(|flaw| (flaw.node.clone(), NodeFault::Checkpoint(flaw))));
            signed = united;
        }
        let complete: Vec<_> = signed.iter().filter(|signed| signed.is_complete()).chain(&next.held).collect();
        let pairs = complete.iter().enumerate().flat_map(|(i, a)| complete[..i].iter().map(move |b| (*a, *b)));
        let equivocation = pairs.filter_map(|(a, b)| Equivocation::between(a, b)).next();
        if let Some(alarm) = alarm.or(equivocation.map(Alarm::Equivocation)) {
            next.alarm = Some(alarm);
            return Err(self.stop(next));
        }
        let (answered, needed) = (heard.len(), self.policy.least_nodes);
        if answered < needed {
            return Err(NotSkipped::TooFewNodes { answered, needed });
        }
        self.accept(&mut next, signed, now, headers, report);
        if next != self.state {
            self.file.replace(&next.to_bytes()).map_err(|error| NotSkipped::NotWritten(error.to_string()))?;
            self.state = next;
        }
        match (&self.state.held, report.refused.first()) {
            (None, Some((_, reason))) => Err(reason.clone()),
            _ => self.try_decide(now, headers),
        }
    }

    /// Puts the highest checkpoint that passes all checks in the place of the one held.
    fn accept(
        &self,
        next: &mut Ratchet,
        mut signed: Vec<SignedCheckpoint>,
        now: u64,
        headers: &impl HeaderChain,
        report: &mut Update,
    ) {
        let Some(chain) = &next.chain else { return };
        let newest = chain.newest().epoch();
        signed.sort_by_key(|signed| {
            (!signed.is_complete(), std::cmp::Reverse(signed.checkpoint().height), signed.checkpoint().clone())
        });
        for signed in signed {
            let checkpoint = signed.checkpoint().clone();
            if next.held.as_ref().is_some_and(|held| *held.checkpoint() == checkpoint) {
                continue;
            }
            match self.check(&signed, newest, next.held.as_ref(), now, headers) {
                Ok(()) => {
                    // What was proven counts only for the chain that the held checkpoint is on.
                    let held = next.held.as_ref().map(SignedCheckpoint::checkpoint);
                    if held.is_some_and(|held| headers.hash(held.height) != Some(held.block_hash)) {
                        next.proven = 0;
                    }
                    next.held = Some(signed);
                }
                Err(reason) => report.refused.push((checkpoint, reason)),
            }
        }
    }

    fn check(
        &self,
        signed: &SignedCheckpoint,
        newest: u64,
        held: Option<&SignedCheckpoint>,
        now: u64,
        headers: &impl HeaderChain,
    ) -> Result<(), NotSkipped> {
        let checkpoint = signed.checkpoint();
        let Checkpoint { height, issued_at, set_epoch, previous, .. } = *checkpoint;
        if !signed.is_complete() {
            return Err(NotSkipped::TooFewSignatures { height, found: signed.count(), needed: signed.threshold() });
        }
        if set_epoch != newest {
            return Err(NotSkipped::Epoch { height, found: set_epoch, newest });
        }
        if issued_at > now.saturating_add(self.policy.slack) {
            return Err(NotSkipped::FromTheFuture { height, issued_at, now });
        }
        if checkpoint.life().is_none_or(|life| life > self.policy.longest_life) {
            return Err(NotSkipped::LivesTooLong { height, longest: self.policy.longest_life });
        }
        if let Some(held) = held.map(|held| held.checkpoint().height) {
            if height <= held {
                return Err(NotSkipped::NotHigher { height, held });
            }
            if previous == [0; 32] {
                return Err(NotSkipped::NoPrevious { height, held });
            }
        }
        self.check_use(checkpoint, now, headers)
    }

    /// What can change after a checkpoint was accepted.
    fn check_use(&self, checkpoint: &Checkpoint, now: u64, headers: &impl HeaderChain) -> Result<(), NotSkipped> {
        let Checkpoint { height, block_hash, expires_at, .. } = *checkpoint;
        if now >= expires_at {
            return Err(NotSkipped::Expired { height, expires_at, now });
        }
        let tip = headers.tip();
        if height > tip {
            return Err(NotSkipped::AboveTip { height, tip });
        }
        if headers.hash(height) != Some(block_hash) {
            return Err(NotSkipped::NotOnChain { height });
        }
        let found = tip - height;
        if found < self.policy.burial {
            return Err(NotSkipped::NotBuried { height, found, needed: self.policy.burial });
        }
        Ok(())
    }

    fn check_alarm_and_clock(&self, now: u64) -> Result<(), NotSkipped> {
        if let Some(alarm) = &self.state.alarm {
            return Err(NotSkipped::Alarm(alarm.clone()));
        }
        let latest = self.state.latest_time;
        if now.saturating_add(self.policy.slack) < latest {
            return Err(NotSkipped::ClockSetBack { now, latest });
        }
        Ok(())
    }

    /// Decides by the checkpoint that is held, without asking anyone. Decide again whenever the header chain has changed
    /// below its tip: nothing of a decision is kept.
    pub fn decide(&self, now: u64, headers: &impl HeaderChain) -> Decision {
        self.try_decide(now, headers).unwrap_or_else(Decision::VerifyAll)
    }

    fn try_decide(&self, now: u64, headers: &impl HeaderChain) -> Result<Decision, NotSkipped> {
        self.check_alarm_and_clock(now)?;
        let held = self.state.held.as_ref().ok_or(NotSkipped::NoCheckpoint)?.checkpoint();
        self.check_use(held, now, headers)?;
        Ok(Decision::Skip { height: held.height, block_hash: held.block_hash })
    }

    /// The checkpoint that is held.
    pub fn held(&self) -> Option<&SignedCheckpoint> {
        self.state.held.as_ref()
    }

    /// Why skipping has stopped for good, if it has.
    pub fn alarm(&self) -> Option<&Alarm> {
        self.state.alarm.as_ref()
    }

    /// The sets of signers, once a node has sent them.
    pub fn sets(&self) -> Option<&SetChain> {
        self.state.chain.as_ref()
    }

    /// Assumed, then proven: the heights whose blocks are still to be verified, at the lowest class and oldest first.
    /// `None` if there are none. A node that had verified blocks before it skipped any tells so by
    /// [`proven`](Self::proven).
    ///
    /// After an alarm, too, these are the blocks that nobody has verified here.
    pub fn to_prove(&self) -> Option<RangeInclusive<u64>> {
        let last = self.state.held.as_ref()?.checkpoint().height;
        (self.state.proven < last).then(|| self.state.proven + 1..=last)
    }

    /// Records that all blocks up to a height are verified. The blocks are those of the chain with the held checkpoint. Heights
    /// that are recorded already may be told again.
    ///
    /// # Errors
    /// [`RatchetError::NotSkipped`] for a height of which no block was skipped, [`RatchetError::File`].
    pub fn proven(&mut self, height: u64) -> Result<(), RatchetError> {
        if (1..=self.state.proven).contains(&height) {
            return Ok(());
        }
        let range = self.to_prove();
        let most = self.state.held.as_ref().map_or(0, |held| held.checkpoint().height);
        if !range.is_some_and(|range| range.contains(&height)) {
            let least = self.state.proven.saturating_add(1);
            return Err(RatchetError::NotSkipped { found: height, least, most });
        }
        let next = Ratchet { proven: height, ..self.state.clone() };
        self.file.replace(&next.to_bytes())?;
        self.state = next;
        Ok(())
    }

    /// Records that a skipped block is invalid. Skipping stops for good, also if the record cannot be written.
    ///
    /// # Errors
    /// [`RatchetError::NeverSkipped`] for a height of which the block was not skipped, [`RatchetError::File`].
    pub fn refuted(&mut self, height: u64) -> Result<(), RatchetError> {
        let most = self.state.held.as_ref().map_or(0, |held| held.checkpoint().height);
        if height == 0 || height > most {
            return Err(RatchetError::NeverSkipped { found: height, most });
        }
        self.state.alarm.get_or_insert(Alarm::InvalidBlock { height });
        Ok(self.file.replace(&self.state.to_bytes())?)
    }

    /// Stops skipping: in memory at once, whether or not it can be written.
    fn stop(&mut self, next: Ratchet) -> NotSkipped {
        let alarm = next.alarm.clone().expect("an alarm stops");
        self.state = next;
        match self.file.replace(&self.state.to_bytes()) {
            Ok(()) => NotSkipped::Alarm(alarm),
            Err(error) => NotSkipped::NotWritten(format!("{alarm}; {error}")),
        }
    }

    #[cfg(test)]
    pub(crate) fn interrupt(&mut self, before: quorate_host::file::Before) {
        self.file.interrupt(before);
    }
}

/// The answers that can be read, one for each node.
fn read(answers: &[NodeAnswer], faults: &mut Vec<(SourceId, NodeFault)>) -> Vec<(SourceId, Served)> {
    let mut nodes = BTreeSet::new();
    let mut read = Vec::new();
    for NodeAnswer { node, body } in answers {
        let served = match body {
            _ if nodes.len() >= MOST_NODES || !nodes.insert(node) => Err(NodeFault::NotAsked),
            Ok(body) => Served::from_json(body).map_err(NodeFault::from),
            Err(reason) => Err(NodeFault::NoAnswer(reason.clone())),
        };
        match served {
            Ok(served) => read.push((node.clone(), served)),
            Err(fault) => faults.push((node.clone(), fault)),
        }
    }
    read
}

/// Why the sets of a node do not go with ours.
enum Fork {
    Fault(RotationError),
    Equivocation(Equivocation),
}

/// Adds the sets that a node knows and we do not. If it knows another one in the place of ours, its change of the set and
/// ours exclude each other.
fn follow(chain: &mut Option<SetChain>, sets: &Sets, pinned: [u8; 32], rng: &mut impl CryptoRng) -> Result<(), Fork> {
    let ours = match chain {
        Some(chain) if sets.first.id() == pinned => chain,
        // Another first set, or the first that we see.
        chain => {
            let first = Sets { first: sets.first.clone(), rotations: Vec::new() };
            chain.insert(SetChain::follow(&first, pinned, rng).map_err(Fork::Fault)?)
        }
    };
    for (place, theirs) in sets.rotations.iter().enumerate() {
        match ours.rotations().get(place) {
            None => ours.extend(theirs.clone(), rng).map_err(Fork::Fault)?,
            Some(known) if known.from == theirs.from && known.to == theirs.to => {}
            Some(known) => {
                let evidence = Equivocation::Rotations(Box::new([known.clone(), theirs.clone()]));
                return Err(match evidence.verify(ours, rng) {
                    Ok(_) => Fork::Equivocation(evidence),
                    Err(EvidenceError::Rotation(error)) => Fork::Fault(error),
                    Err(_) => Fork::Fault(RotationError::From { found: theirs.from, newest: known.from }),
                });
            }
        }
    }
    Ok(())
}

/// The answers of at most so many nodes are read.
pub const MOST_NODES: usize = 64;
