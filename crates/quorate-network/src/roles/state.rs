//! What a node knows, and its bounds.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use quorate_evm::{
    Finality, MemberSet, SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes},
};

use super::{
    event::{MessageRefusal, NodeOutput, NotTaken, PeerSource},
    saved::{Saved, SavedEvidence},
};
use crate::{
    election::Snapshot,
    groups::{GROUP, Groups, add_up},
    message::{Attestation, Branch, ConflictEvidence, PartialSum, Signed, TaskResult},
};

/// What a node does. A node with none of these still forwards, answers and finds conflicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// Executes the tasks for which its operator is elected.
    pub perform: bool,
    /// Checks the results of others and signs verdicts.
    pub attest: bool,
    /// Settles tasks and reports conflicts on the chain.
    pub aggregate: bool,
}

impl Roles {
    /// Whether the node needs its operator's signatures.
    pub fn signs(&self) -> bool {
        self.perform || self.attest
    }
}

/// How a node behaves. Times are in milliseconds. Of `submission_timeout`, `retry`, `ask_first`, `ask_most`, `group` and `gather`,
/// zero means 1. Of `stragglers`, `turn`, `submission_timeout`, `retry`, `retry_most`, `ask_first` and `ask_most`, more than a year means a
/// year.
#[derive(Clone, Debug)]
pub struct NodeSettings {
    /// The operator whose key the signer holds. Without one, a node can only aggregate.
    pub operator: Option<Address>,
    /// What it does.
    pub roles: Roles,
    /// How long an aggregator waits for further signatures once a quorum is there. Fewer missing members cost less gas.
    pub stragglers: u64,
    /// How long each aggregator has before the next one takes over: longer than a transaction takes to be mined and seen.
    pub turn: u64,
    /// How long the node waits for its own transaction before it submits again.
    pub submission_timeout: u64,
    /// After what time a program that failed, a signer that is silent or a refused transaction is tried again. For programs and
    /// transactions the time doubles with each failure, until a new epoch begins.
    pub retry: u64,
    /// The longest time between two of these tries.
    pub retry_most: u64,
    /// After what time a node first asks a peer for what it missed of a task. The time doubles with each question, and each is
    /// asked at a multiple of this one.
    pub ask_first: u64,
    /// The longest time between two questions.
    pub ask_most: u64,
    /// The most tasks that the node holds at one time. If it holds as many, a new one takes the place of the one that the chain
    /// settled for good before all others; without such a one, of the one that was named first of those that are not settled, on which no
    /// program works here, and which have found no quorum within `patience`; without such a one, it is not taken.
    pub most_tasks: usize,
    /// How long a task without a quorum keeps its place when further ones need it, from when it was named or its epoch began: longer
    /// than performers and attesters take.
    pub patience: u64,
    /// How many epochs evidence is kept after its epoch can settle nothing more: the contract's `slashingWindow`, rounded
    /// up.
    pub evidence_epochs: u64,
    /// The most members of a group ([`GROUP`]): the same at all nodes of a network.
    pub group: usize,
    /// How long the signatures of a group are gathered until their sum is published, if some are missing. Each level above
    /// adds as much.
    pub gather: u64,
    /// How long each member that was drawn to publish a branch's sum has before the next one does.
    pub relief: u64,
    /// How long after its attestation an attester waits for a quorum, in a network of several groups. Then it publishes the
    /// attestation to everybody.
    pub appeal: u64,
    /// Adds verified signatures up; `None` if one does not decode. [`add_up`] but in simulations.
    pub add_up: fn(&[&Bytes]) -> Option<Bytes>,
}

impl Default for NodeSettings {
    /// No operator and no role. The times suit blocks of 2 to 12 seconds.
    fn default() -> Self {
        Self {
            operator: None,
            roles: Roles::default(),
            stragglers: 500,
            turn: 36_000,
            submission_timeout: 180_000,
            retry: 2_000,
            retry_most: 300_000,
            ask_first: 2_000,
            ask_most: 30_000,
            most_tasks: 1024,
            patience: 900_000,
            evidence_epochs: 2,
            group: GROUP,
            gather: 400,
            relief: 600,
            appeal: 10_000,
            add_up,
        }
    }
}

/// A node: any of the three roles, as one state machine.
#[derive(Clone, Debug)]
pub struct Node {
    pub(super) settings: NodeSettings,
    pub(super) saved: Saved,
    /// Whether `saved` has changed in this step.
    pub(super) unsaved: bool,
    /// The greatest time that was passed in.
    pub(super) now: u64,
    /// Whether there was a step.
    pub(super) begun: bool,
    /// The epoch of the newest block.
    pub(super) epoch: u64,
    /// The snapshots that the chain has, by epoch, each with its groups.
    pub(super) snapshots: BTreeMap<u64, (Arc<Snapshot>, Arc<Groups>)>,
    pub(super) tasks: BTreeMap<B256, OpenTask>,
    /// How many tasks were taken.
    pub(super) taken: u64,
    /// The ids that the chain has settled.
    pub(super) settled: BTreeMap<B256, SettledTask>,
    /// How many settlements were told.
    pub(super) settlements: u64,
    /// By task and operator, so that those of one task stand together.
    pub(super) conflicts: BTreeMap<(B256, Address), Conflict>,
    /// How many conflicts were found, without those that were saved before.
    pub(super) found: u64,
    /// Whom the chain has slashed for which id, with the later epoch of the conflict, and the epoch in which the node saw it.
    pub(super) slashed: BTreeMap<(Address, B256, u64), u64>,
    /// The conflicts that this node reported in this epoch, without those of which it knows that they were refused.
    pub(super) reported: BTreeSet<(Address, B256)>,
    /// This node's place among the aggregators, of tasks for which it was computed.
    pub(super) places: BTreeMap<(SnapshotId, B256), u64>,
    /// When something is due.
    pub(super) wakes: BTreeSet<(u64, Due)>,
    /// The time of the last `WakeAt`.
    pub(super) woken_at: Option<u64>,
    /// Tasks that a peer shall be asked about in this step.
    pub(super) to_ask: Vec<B256>,
    /// Which peers were asked back about which tasks in this period of `ask_first`.
    pub(super) asked_back: (u64, BTreeSet<(PeerSource, B256)>),
    /// How many attestations and members were looked at for the questions of peers.
    #[cfg(test)]
    pub(super) looked_at: std::cell::Cell<usize>,
}

/// What is due at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Task(B256),
    Conflict(Address, B256),
}

/// A task that the operator's own source has named.
#[derive(Clone, Debug)]
pub(super) struct OpenTask {
    pub(super) payload: Bytes,
    /// Its place in the order in which tasks were taken. Nodes with one source of tasks take them in one order.
    pub(super) number: u64,
    /// Since when it can find a quorum: when it was named for an epoch last, or when that one began.
    pub(super) since: u64,
    /// The epochs for which it was named.
    pub(super) epochs: BTreeSet<u64>,
    /// One for each epoch and snapshot. Those of snapshots that were replaced stay, because a chain can return to them.
    pub(super) rounds: BTreeMap<(u64, SnapshotId), Round>,
    pub(super) execution: Execution,
    /// When the user's program executes it again, after failures.
    pub(super) execute: Retry,
    /// When a submission is repeated, after refusals.
    pub(super) submit: Retry,
    pub(super) ask_at: u64,
    pub(super) ask_interval: u64,
    /// How often a peer was asked.
    pub(super) asked: u64,
    /// Under which time it stands in `wakes`.
    pub(super) wake: Option<u64>,
}

/// A settlement that the chain told.
#[derive(Clone, Copy, Debug)]
pub(super) struct SettledTask {
    /// The epoch whose weights decided.
    pub(super) epoch: u64,
    pub(super) finality: Finality,
    /// How many were told before it. They are told in the order of the chain, which is the same at all nodes.
    pub(super) number: u64,
}

/// Whether the user's program executes the task.
#[derive(Clone, Copy, Debug)]
pub(super) enum Execution {
    /// Not now, and not before [`OpenTask::execute`] says.
    Idle,
    Running,
}

/// When something that fails is tried again: after twice as long a time with each failure.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Retry {
    /// Not before this time.
    pub(super) at: u64,
    /// How long it waits after the next failure, once there was one.
    wait: u64,
}

impl Retry {
    /// Notes a failure.
    pub(super) fn failed(&mut self, settings: &NodeSettings, now: u64) {
        let wait = self.wait.max(settings.retry);
        (self.at, self.wait) = (now + wait, wait.saturating_mul(2).min(settings.retry_most));
    }
}

/// A task in one epoch under one snapshot: one performer, and one attestation of each signer.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) groups: Arc<Groups>,
    /// The elected performer.
    pub(super) performer: u32,
    /// The index of the node's own operator.
    pub(super) own: Option<u32>,
    /// How many indices have weight.
    pub(super) members: usize,
    pub(super) result: Option<TaskResult>,
    /// What each signer signed first. A signer fills one place at most, so nobody can crowd out others.
    pub(super) attested: BTreeMap<u32, Attestation>,
    /// The sums that came, by branch: of the result that is there, so there are two ballots at most. Those of one branch have
    /// no signer in common.
    pub(super) sums: BTreeMap<Ballot, BTreeMap<Branch, Vec<HeldSum>>>,
    /// What is held of each result and verdict, of signatures that name the elected performer: always that of
    /// [`cover`](Self::cover).
    pub(super) held: BTreeMap<Ballot, Support>,
    /// The branches of the node's operator below the last level, from its group up: how many members each has, and the
    /// operator's turn among those who publish its sums.
    pub(super) places: Vec<(Branch, usize, Option<u64>)>,
    /// How far the sum of each of those branches is, by level and verdict.
    pub(super) shares: BTreeMap<(u8, bool), Share>,
    /// When the operator's attestation was published.
    pub(super) spoke_at: Option<u64>,
    /// Whether it was published to everybody, because there was no quorum.
    pub(super) appealed: bool,
    pub(super) duty: Duty,
    /// When the user's program judges the result again, after failures.
    pub(super) judge: Retry,
    pub(super) ready: Option<Ready>,
}

/// A result's hash and a verdict: what tells the candidates of a round apart.
pub(super) type Ballot = (B256, bool);

/// Who signed a ballot, and their weight.
#[derive(Clone, Debug, Default)]
pub(super) struct Support {
    pub(super) signers: MemberSet,
    pub(super) weight: u128,
}

/// A sum, with the indices of its signers.
#[derive(Clone, Debug)]
pub(super) struct HeldSum {
    pub(super) sum: PartialSum,
    pub(super) signers: MemberSet,
}

/// How far the sum of a branch is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// Since when there is a signature that no published sum has.
    pub(super) since: Option<u64>,
    /// Since when all members of the branch have signed.
    pub(super) whole: Option<u64>,
    /// When this node published a sum last.
    pub(super) last: Option<u64>,
    /// Set when this node's sum would have been no gain: how many had signed then, and how many of them were in published
    /// sums. As long as both stay the same, it is not tried again.
    pub(super) vain: Option<(usize, usize)>,
}

/// How far the operator's own verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duty {
    /// Nothing was begun, and no program judges before [`Round::judge`] says.
    Idle,
    /// The user's program judges the result.
    Validating,
    /// The signer was asked, and is asked again at this time.
    Signing(Task, u64),
    /// It was published.
    Done,
    /// There will be none.
    Abstained,
}

/// A candidate that weighs enough.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    pub(super) candidate: Task,
    /// When the first aggregator's turn begins.
    pub(super) begins: u64,
    /// How many turns pass before that of this node.
    pub(super) place: u64,
}

/// A conflict of one operator, and the report of it.
#[derive(Clone, Debug)]
pub(super) struct Conflict {
    pub(super) evidence: ConflictEvidence,
    /// When the first reporter's turn begins.
    pub(super) begins: u64,
    /// How many turns pass before that of this node, once it was computed.
    pub(super) place: Option<u64>,
    /// When a report is repeated, after refusals.
    pub(super) report: Retry,
    pub(super) wake: Option<u64>,
}

/// How much a node holds, to compare with its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Tasks that are open.
    pub tasks: usize,
    /// Attestations of all of them.
    pub attestations: usize,
    /// Sums of all of them.
    pub sums: usize,
    /// Results, those that the node executed included.
    pub results: usize,
    /// Operators with conflicting signatures, counted for each task.
    pub conflicts: usize,
}

/// A year in milliseconds. Added to the present time once for each operator, it is far from the end of 64 bits.
const YEAR: u64 = 365 * 24 * 3_600_000;

/// The most snapshots of one epoch for which a task keeps a round.
pub(super) const MAX_BRANCHES: usize = 4;

impl Node {
    /// A node in an epoch, with what it kept: `Saved::default()` at the first start.
    ///
    /// After a restart the caller sends the chain's snapshots and slashings, the settlements
    /// ([`needs_settlement`](Self::needs_settlement)), and the tasks, as if they were new.
    pub fn new(settings: NodeSettings, epoch: u64, saved: Saved) -> Self {
        // A time of zero would ask for a tick that is due at once, for ever, and times without end do not fit into 64 bits together.
        let settings = NodeSettings {
            stragglers: settings.stragglers.min(YEAR),
            turn: settings.turn.min(YEAR),
            submission_timeout: settings.submission_timeout.clamp(1, YEAR),
            retry: settings.retry.clamp(1, YEAR),
            retry_most: settings.retry_most.min(YEAR),
            ask_first: settings.ask_first.clamp(1, YEAR),
            ask_most: settings.ask_most.clamp(1, YEAR),
            group: settings.group.max(1),
            gather: settings.gather.max(1),
            ..settings
        };
        let conflict = |(key, SavedEvidence(evidence)): (&(Address, B256), &SavedEvidence)| {
            // The first step knows what time it is.
            ((key.1, key.0), Conflict::new(evidence.clone(), 0))
        };
        let conflicts = saved.evidence.iter().map(conflict).collect();
        Self {
            settings,
            saved,
            unsaved: false,
            now: 0,
            begun: false,
            epoch,
            snapshots: BTreeMap::new(),
            tasks: BTreeMap::new(),
            taken: 0,
            settled: BTreeMap::new(),
            settlements: 0,
            conflicts,
            found: 0,
            slashed: BTreeMap::new(),
            reported: BTreeSet::new(),
            places: BTreeMap::new(),
            wakes: BTreeSet::new(),
            woken_at: None,
            to_ask: Vec::new(),
            asked_back: (0, BTreeSet::new()),
            #[cfg(test)]
            looked_at: Default::default(),
        }
    }

    /// What must be on disk before the outputs behind [`NodeOutput::Save`] leave.
    pub fn saved(&self) -> &Saved {
        &self.saved
    }

    /// How much the node holds.
    pub fn footprint(&self) -> Footprint {
        let rounds = || self.tasks.values().flat_map(|task| task.rounds.values());
        Footprint {
            tasks: self.tasks.len(),
            attestations: rounds().map(|round| round.attested.len()).sum(),
            sums: rounds().flat_map(|round| round.sums.values()).flat_map(BTreeMap::values).map(Vec::len).sum(),
            results: rounds().filter(|round| round.result.is_some()).count() + self.saved.results.len(),
            conflicts: self.conflicts.len(),
        }
    }

    /// How many turns pass before this node's, for a task under a snapshot.
    pub(super) fn place(&mut self, snapshot: &Snapshot, id: B256) -> u64 {
        let operator = self.settings.operator;
        *self.places.entry((snapshot.id(), id)).or_insert_with(|| snapshot.place(id, operator))
    }

    /// Whether tasks of an epoch can settle now.
    pub(super) fn is_open(&self, epoch: u64) -> bool {
        epoch <= self.epoch && epoch + 1 >= self.epoch
    }

    /// Whether the chain has this snapshot for this epoch.
    pub(super) fn is_in_chain(&self, epoch: u64, id: SnapshotId) -> bool {
        self.snapshots.get(&epoch).is_some_and(|(snapshot, _)| snapshot.id() == id)
    }

    /// The round of a candidate, if its task is known for its epoch, and the chain has its snapshot.
    fn round_of(&self, candidate: &Task) -> Result<&Round, MessageRefusal> {
        let Task { epoch, snapshot, id, .. } = *candidate;
        if !self.is_open(epoch) {
            return Err(MessageRefusal::Epoch { found: epoch, current: self.epoch });
        }
        if !self.is_in_chain(epoch, snapshot) {
            return Err(MessageRefusal::OtherSnapshot(epoch));
        }
        let round = self.tasks.get(&id).and_then(|task| task.rounds.get(&(epoch, snapshot)));
        round.ok_or(MessageRefusal::UnknownTask)
    }

    /// Whether a message would be used, before anybody verifies its signatures. Changes nothing.
    ///
    /// # Errors
    /// The refusal that [`Node::step`] will output. If [`MessageRefusal::is_worth_verifying`], verify and hand it on all the same.
    pub fn screen(&self, message: &Signed) -> Result<(), MessageRefusal> {
        match message {
            Signed::Result(result) => {
                let candidate = result.candidate();
                let round = self.round_of(candidate)?;
                elected(round, candidate)?;
                match &round.result {
                    None => Ok(()),
                    Some(held) if held.candidate() == candidate => Err(MessageRefusal::Duplicate),
                    Some(_) => Err(self.beside_another(round, result.attestation())),
                }
            }
            Signed::Attestation(attestation) => {
                let (candidate, index) = (attestation.candidate(), attestation.index());
                let round = self.round_of(candidate)?;
                if round.snapshot.weight(index) == 0 {
                    return Err(MessageRefusal::NoSuchSigner(index));
                }
                elected(round, candidate)?;
                match round.attested.get(&index) {
                    None => Ok(()),
                    Some(held) if held.candidate() == candidate => Err(MessageRefusal::Duplicate),
                    Some(_) => Err(self.beside_another(round, attestation)),
                }
            }
            Signed::Sum(sum) => {
                let candidate = sum.candidate();
                let round = self.round_of(candidate)?;
                elected(round, candidate)?;
                let signers = round.groups.indices(sum.branch(), sum.signers());
                let Some(signers) = signers.filter(|_| sum.branch().level < round.groups.top()) else {
                    return Err(MessageRefusal::NoSuchBranch(sum.branch()));
                };
                if !round.groups.hears(round.own, sum.branch()) {
                    return Err(MessageRefusal::OtherBranch(sum.branch()));
                }
                // Of other results there could be sums without end.
                if round.result.as_ref().is_none_or(|held| held.candidate().result != candidate.result) {
                    return Err(MessageRefusal::OtherResult);
                }
                let gain = round.is_gain((candidate.result, candidate.approved), sum.branch(), &signers);
                if gain { Ok(()) } else { Err(MessageRefusal::Duplicate) }
            }
            Signed::Evidence(evidence) => {
                let operator = self.accused(evidence)?;
                match self.conflicts.get(&(evidence.id(), operator)) {
                    Some(held) if held.evidence == *evidence => Err(MessageRefusal::Duplicate),
                    Some(held) if self.is_reportable(&held.evidence) && evidence.epoch() <= held.evidence.epoch() => {
                        Err(MessageRefusal::Duplicate)
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// The refusal of an attestation whose signer has another one in the round. It is worth verifying only if it makes evidence that
    /// the node does not have yet. Otherwise an operator with one known conflict could sign further candidates without end, and
    /// each node would verify them all.
    fn beside_another(&self, round: &Round, attestation: &Attestation) -> MessageRefusal {
        let (Task { epoch, id, .. }, index) = (*attestation.candidate(), attestation.index());
        let known = |operator: Address| {
            let held = self.conflicts.get(&(id, operator)).filter(|held| self.is_reportable(&held.evidence))?;
            Some((operator, held.evidence.epoch()))
        };
        let Some((operator, known)) = round.snapshot.owner(index).and_then(known) else {
            return MessageRefusal::Conflicting(index);
        };
        let task = self.tasks.get(&id);
        let mut across = task.into_iter().flat_map(|task| task.conflicts_across(operator, attestation));
        let is_later = |evidence: ConflictEvidence| evidence.epoch() > known && self.is_reportable(&evidence);
        if epoch > known || across.any(is_later) {
            MessageRefusal::Conflicting(index)
        } else {
            MessageRefusal::Duplicate
        }
    }

    /// Whether a task would be taken. Changes nothing.
    ///
    /// # Errors
    /// The [`NotTaken`] that [`Node::step`] will output.
    pub fn screen_task(&self, id: B256, epoch: u64, payload: &Bytes) -> Result<(), NotTaken> {
        let (current, most) = (self.epoch, self.settings.most_tasks);
        if !(current.saturating_sub(1)..=current.saturating_add(1)).contains(&epoch) {
            return Err(NotTaken::Epoch { found: epoch, current });
        }
        match self.tasks.get(&id) {
            Some(task) if task.payload != *payload => Err(NotTaken::OtherPayload),
            None if !self.takes_tasks() && !self.is_final(id) => Err(NotTaken::Full(most)),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether a task is over: the chain has settled it for good, and it is not held any more.
    pub fn is_over(&self, id: B256) -> bool {
        self.is_final(id) && !self.tasks.contains_key(&id)
    }

    /// Whether the settlement of an id in an epoch says anything to the node: it ends the task in later epochs, too, as long as the task is
    /// held. After a restart the caller also sends the settlements of the tasks that it is about to name.
    pub fn needs_settlement(&self, id: B256, epoch: u64) -> bool {
        epoch >= remembered_from(self.epoch) || self.tasks.contains_key(&id)
    }

    /// Whether a further task has a place, or another one makes room for it. Cost: a look at each task, if there are as many as allowed.
    pub fn takes_tasks(&self) -> bool {
        !self.is_full() || self.first_to_go().is_some()
    }

    /// Whether a further task has no place of its own.
    pub(super) fn is_full(&self) -> bool {
        self.tasks.len() >= self.settings.most_tasks
    }

    /// Whether the chain has settled an id for good.
    pub(super) fn is_final(&self, id: B256) -> bool {
        self.settled.get(&id).is_some_and(|settled| settled.finality == Finality::Final)
    }

    /// The task that makes room for another one: of those that are settled for good, the first in the order of the chain; else of those
    /// that had time for a quorum and have none, the one that was named first. So all nodes that hold the same tasks drop the same one,
    /// unless its own programs still work on it: under more load than they bear, every task would go while they do. A settlement that a
    /// reorganisation can undo keeps its task. Cost: a look at each task.
    pub(super) fn first_to_go(&self) -> Option<B256> {
        let finals = self.tasks.keys().copied().filter(|id| self.is_final(*id));
        let first_final = finals.min_by_key(|id| self.settled.get(id).map(|settled| settled.number));
        first_final.or_else(|| {
            let vain = self.tasks.iter().filter(|(id, task)| {
                let has_begun = task.epochs.first().is_some_and(|epoch| *epoch <= self.epoch);
                let has_quorum = task.rounds.values().any(|round| round.ready.is_some());
                let is_judged = task.rounds.values().any(|round| round.duty == Duty::Validating);
                let works = is_judged || matches!(task.execution, Execution::Running);
                let had_time = has_begun && self.now - task.since >= self.settings.patience;
                had_time && !works && !has_quorum && !self.settled.contains_key(*id)
            });
            vain.min_by_key(|(_, task)| task.number).map(|(id, _)| *id)
        })
    }

    /// The indices of a sum's signers, with which its signature is verified; `None` if the chain has no such snapshot, or the
    /// branch no such members.
    pub fn signers(&self, sum: &PartialSum) -> Option<MemberSet> {
        let Task { epoch, snapshot, .. } = *sum.candidate();
        let (_, groups) = self.snapshots.get(&epoch).filter(|(held, _)| held.id() == snapshot)?;
        groups.indices(sum.branch(), sum.signers())
    }

    /// The operator that signed both halves of evidence. The contract takes it longer than the task is open, so the chain must have
    /// both snapshots, and the node need not hold the task. But an operator can sign ids without end, so without the task there
    /// must be room for the evidence in what is saved.
    pub(super) fn accused(&self, evidence: &ConflictEvidence) -> Result<Address, MessageRefusal> {
        let owner = |attestation: &Attestation| {
            let Task { epoch, snapshot, .. } = *attestation.candidate();
            let held = self.snapshots.get(&epoch).filter(|(held, _)| held.id() == snapshot);
            let (held, _) = held.ok_or(MessageRefusal::OtherSnapshot(epoch))?;
            held.owner(attestation.index()).ok_or(MessageRefusal::NoSuchSigner(attestation.index()))
        };
        let (first, second) = (owner(evidence.first())?, owner(evidence.second())?);
        if first != second {
            return Err(MessageRefusal::NotOneOperator);
        }
        let id = evidence.id();
        let taken = self.tasks.contains_key(&id) || self.saved.has_room(first, id);
        if taken { Ok(first) } else { Err(MessageRefusal::UnknownTask) }
    }

    /// Whether the chain has slashed an operator for a conflict of an id in this epoch or a later one: it pays for an id once
    /// in each epoch (`Slashing.sol`).
    pub(super) fn is_slashed(&self, operator: Address, id: B256, epoch: u64) -> bool {
        self.slashed.range((operator, id, epoch)..=(operator, id, u64::MAX)).next().is_some()
    }

    /// Whether the contract would take evidence: the chain has both snapshots.
    pub(super) fn is_reportable(&self, evidence: &ConflictEvidence) -> bool {
        [evidence.first(), evidence.second()].into_iter().all(|attestation| {
            let candidate = attestation.candidate();
            self.is_in_chain(candidate.epoch, candidate.snapshot)
        })
    }

    /// Asks for a tick at the earliest time at which something is due.
    pub(super) fn wake(&mut self, out: &mut Vec<NodeOutput>) {
        if let Some((at, _)) = self.wakes.first()
            && self.woken_at != Some(*at)
        {
            self.woken_at = Some(*at);
            out.push(NodeOutput::WakeAt(*at));
        }
    }
}

impl Conflict {
    /// A conflict that nobody has reported.
    pub(super) fn new(evidence: ConflictEvidence, begins: u64) -> Self {
        Self { evidence, begins, place: None, report: Retry::default(), wake: None }
    }
}

impl OpenTask {
    /// The evidence that an attestation makes with those that its operator signed in other epochs.
    pub(super) fn conflicts_across(
        &self,
        operator: Address,
        attestation: &Attestation,
    ) -> impl Iterator<Item = ConflictEvidence> {
        let epoch = attestation.candidate().epoch;
        self.rounds.iter().filter(move |((other, _), _)| *other != epoch).filter_map(move |(_, round)| {
            let held = round.attested.get(&round.snapshot.index_of(operator)?)?;
            ConflictEvidence::new(held.clone(), attestation.clone())
        })
    }
}

impl Round {
    pub(super) fn new(snapshot: Arc<Snapshot>, groups: Arc<Groups>, id: B256, operator: Option<Address>) -> Self {
        let mut round = Self {
            performer: snapshot.performer(id),
            own: operator.and_then(|operator| snapshot.index_of(operator)),
            members: snapshot.indices().count(),
            snapshot,
            groups,
            result: None,
            attested: BTreeMap::new(),
            sums: BTreeMap::new(),
            held: BTreeMap::new(),
            places: Vec::new(),
            shares: BTreeMap::new(),
            spoke_at: None,
            appealed: false,
            duty: Duty::Idle,
            judge: Retry::default(),
            ready: None,
        };
        round.places = round.own.map_or_else(Vec::new, |own| round.groups.summers(&round.snapshot, id, own));
        round
    }
}

impl Round {
    /// Whether a candidate names the elected performer.
    pub(super) fn names_elected(&self, candidate: &Task) -> bool {
        candidate.performer == u64::from(self.performer)
    }
}

fn elected(round: &Round, candidate: &Task) -> Result<(), MessageRefusal> {
    let (found, elected) = (candidate.performer, round.performer.into());
    if round.names_elected(candidate) { Ok(()) } else { Err(MessageRefusal::NotElected { found, elected }) }
}

/// The first epoch of which settlements and verdicts are remembered although their tasks are not held: a reorganisation can undo the end
/// of an epoch, after which one more of the epochs before can settle.
pub(super) fn remembered_from(epoch: u64) -> u64 {
    epoch.saturating_sub(2)
}

/// Keeps the earlier of two times.
pub(super) fn earlier(wake: &mut Option<u64>, other: Option<u64>) {
    *wake = match (*wake, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
}
