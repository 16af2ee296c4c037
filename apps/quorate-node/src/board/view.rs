//! What the board shows: copied from it in one moment, and written as JSON by `/v1/status` and `/v1/tasks`.
//!
//! In JSON, whole numbers that may be above 2^53 are text: weights, fees and amounts of tokens. Times are milliseconds since
//! 1970.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
};

use quorate_chain::watch::{PostingCounts, WatchSight};
use quorate_evm::{
    SnapshotId,
    alloy_primitives::{Address, B256, U256},
};
use serde::{Serialize, Serializer};

use super::{
    bounds::SHOWN_TASKS,
    report::{
        BanRow, Component, MemberReport, PeerRow, PunishmentKind, PunishmentReport, Purpose, RewardsReport,
        SubmissionState,
    },
    state::{State, Submission},
    task::Record,
    transport::TransportView,
};
use crate::metrics::Metrics;
use quorate_network::roles::{ConflictReport, Roles, RoundPart, RoundReport};

/// All that there is to show.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    /// When it was copied.
    pub now_ms: u64,
    /// Whether the node can do its work.
    pub ready: bool,
    /// Why it cannot, in words.
    pub reasons: Vec<String>,
    /// Who the node is, once it has said so.
    pub node: Option<NodeView>,
    /// The last reading of the chain.
    pub chain: Option<ChainView>,
    /// Components with a problem.
    pub problems: Vec<ProblemView>,
    /// What was counted since the start.
    pub counts: CountsView,
    /// The newest tasks, the newest first. `/v1/tasks` has them.
    #[serde(skip)]
    pub tasks: Vec<TaskView>,
    /// This node's transactions, the newest first.
    pub submissions: Vec<SubmissionView>,
    /// The members of the running epoch, the heaviest first: at most 200, and always this node's own.
    pub operators: Vec<OperatorView>,
    /// How many members there are.
    pub operators_in_all: usize,
    /// The weight of all members.
    #[serde(serialize_with = "text")]
    pub operators_weight: u128,
    /// Who lost stake, the newest first: at most 200.
    pub punishments: Vec<PunishmentView>,
    /// How many punishments there were.
    pub punishments_in_all: usize,
    /// Conflicts that the node knows: at most 200.
    pub conflicts: Vec<ConflictView>,
    /// How many there are.
    pub conflicts_in_all: usize,
    /// The peers that are connected: at most 200.
    pub peers: Vec<PeerView>,
    /// How many there are.
    pub peers_in_all: usize,
    /// The peers and strangers that are banned: the first 200 that [`NodeBoard::bans`](super::NodeBoard::bans) got.
    pub bans: Vec<BanView>,
    /// How many there are.
    pub bans_in_all: usize,
    /// The operator's stake and rewards.
    pub rewards: Option<RewardsView>,
    /// The watch of an optimistic settlement, if the node watches one.
    pub watch: Option<WatchView>,
}

/// Who the node is.
#[derive(Clone, Debug, Serialize)]
pub struct NodeView {
    /// The chain's id.
    pub chain_id: u64,
    /// The network's contract.
    pub contract: Address,
    /// The operator whose key the signer holds.
    pub operator: Option<Address>,
    /// `perform`, `attest`, `aggregate`.
    pub roles: Vec<&'static str>,
    /// The name under which peers know the node.
    pub peer_id: String,
    /// The version of the program.
    pub version: String,
    /// When the process started.
    pub started_ms: u64,
}

/// The last reading of the chain.
#[derive(Clone, Debug, Serialize)]
pub struct ChainView {
    /// The newest block.
    pub head: u64,
    /// Its time, in seconds since 1970.
    pub time_s: u64,
    /// The newest block that nothing undoes.
    pub final_block: u64,
    /// The epoch of the newest block.
    pub epoch: u64,
    /// The epoch's snapshot.
    pub snapshot: Option<SnapshotId>,
    /// Why what the chain's node says is not the present.
    pub behind: Option<String>,
    /// When the chain was read.
    pub read_ms: u64,
}

/// A component with a problem.
#[derive(Clone, Debug, Serialize)]
pub struct ProblemView {
    /// The component's name, such as `signer`.
    pub component: &'static str,
    /// What it is, in words.
    pub problem: String,
}

/// What was counted since the start.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct CountsView {
    /// Tasks whose approval is final.
    pub approved: u64,
    /// Tasks whose rejection is final.
    pub rejected: u64,
    /// Tasks that can settle no more, or made room for others. One of these may settle all the same, and counts there, too.
    pub lapsed: u64,
    /// Tasks that can still settle.
    pub open: u64,
    /// Signed messages from peers, without those in answers.
    pub received: u64,
    /// Messages with true signatures, those in answers included.
    pub verified: u64,
    /// Messages with a false one, those in answers included.
    pub r#false: u64,
    /// Messages that were dropped before anybody verified them, those in answers included.
    pub ignored: u64,
    /// Signed messages of this node.
    pub published: u64,
    /// Tasks that the user's program executed.
    pub executed: u64,
    /// Results that the user's program judged.
    pub validated: u64,
    /// Calls that failed.
    pub failures: u64,
    /// What the transport dropped and refused.
    pub transport: TransportView,
    /// Of the tasks shown: half had a quorum this soon after their result, in milliseconds.
    pub quorum_p50_ms: Option<u64>,
    /// Of the tasks shown: half were settled this soon after their result, in milliseconds.
    pub settled_p50_ms: Option<u64>,
}

/// A task.
#[derive(Clone, Debug, Serialize)]
pub struct TaskView {
    /// Its id.
    pub id: B256,
    /// Its epoch.
    pub epoch: u64,
    /// What people see of its payload.
    pub label: String,
    /// How far it is.
    pub state: TaskState,
    /// What this node's operator does.
    pub part: Option<&'static str>,
    /// Who performs it.
    pub performer: Option<MissingView>,
    /// Keccak-256 of the result.
    pub result: Option<B256>,
    /// How many bytes the result has.
    pub result_length: Option<usize>,
    /// The verdict of most weight, or the settled one.
    pub approved: Option<bool>,
    /// The weight under it.
    #[serde(serialize_with = "text")]
    pub weight: u128,
    /// The weight under other verdicts.
    #[serde(serialize_with = "text")]
    pub against: u128,
    /// What a quorum must exceed.
    #[serde(serialize_with = "text")]
    pub required: u128,
    /// The weight of all members.
    #[serde(serialize_with = "text")]
    pub total: u128,
    /// How many signed it.
    pub signers: usize,
    /// How many members there are.
    pub members: usize,
    /// Whose signature is missing, by index: at most 64.
    pub missing: Vec<MissingView>,
    /// How many are missing.
    pub missing_in_all: usize,
    /// When the first aggregator's turn begins, if there is a quorum.
    pub turns_begin_ms: Option<u64>,
    /// When this node's turn begins, if it settles tasks.
    pub turn_ms: Option<u64>,
    /// When each thing was first so.
    pub times: TimesView,
    /// What the chain says.
    pub settlement: Option<SettlementView>,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// It waits for its epoch's snapshot.
    Waiting,
    /// There is no result yet.
    Performing,
    /// There is no quorum yet.
    Attesting,
    /// There is a quorum, and this node has no transaction that settles it.
    Quorum,
    /// This node's transaction is on its way.
    Submitted,
    /// It is settled, and a reorganisation can undo that.
    Settled,
    /// It is settled for good.
    Final,
    /// It can settle no more, or this node works on it no more, because it made room for another one.
    Lapsed,
}

impl TaskState {
    /// A word for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Performing => "performing",
            Self::Attesting => "attesting",
            Self::Quorum => "quorum",
            Self::Submitted => "submitted",
            Self::Settled => "settled",
            Self::Final => "final",
            Self::Lapsed => "lapsed",
        }
    }
}

/// A member whose signature is missing, or who performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MissingView {
    /// Its index in the epoch's table.
    pub index: u32,
    /// The owner of the key.
    pub owner: Address,
    /// Its weight.
    #[serde(serialize_with = "text")]
    pub weight: u64,
}

/// When each thing was first so.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TimesView {
    /// The operator's own source named it.
    pub known: Option<u64>,
    /// Its result was there.
    pub result: Option<u64>,
    /// A quorum had signed it.
    pub quorum: Option<u64>,
    /// This node sent a transaction.
    pub submitted: Option<u64>,
    /// The chain had settled it.
    pub settled: Option<u64>,
    /// Nothing could undo that.
    #[serde(rename = "final")]
    pub finalised: Option<u64>,
}

/// What the chain says about a task.
#[derive(Clone, Debug, Serialize)]
pub struct SettlementView {
    /// The verdict.
    pub approved: bool,
    /// Whether the performer and the attesters are paid.
    pub rewarded: bool,
    /// The transaction.
    pub transaction: B256,
    /// Its block.
    pub block: u64,
    /// The account that sent it.
    pub by: Option<Address>,
    /// Whether this node sent it.
    pub own: bool,
    /// Its gas.
    pub gas_used: Option<u64>,
    /// What it cost, in wei.
    #[serde(serialize_with = "maybe_text")]
    pub fee: Option<u128>,
}

/// A transaction of this node.
#[derive(Clone, Debug, Serialize)]
pub struct SubmissionView {
    /// `settle`, `report` or `other`.
    pub purpose: &'static str,
    /// The task that it is about.
    pub id: Option<B256>,
    /// What it is for, in words, if it is about no task.
    pub words: Option<String>,
    /// How far it is.
    pub state: &'static str,
    /// Why it was refused.
    pub refusal: Option<String>,
    /// Its hash.
    pub transaction: Option<B256>,
    /// Its nonce.
    pub nonce: Option<u64>,
    /// How often it was replaced.
    pub replaced: u32,
    /// Its gas.
    pub gas_used: Option<u64>,
    /// The gas that was estimated.
    pub estimate: Option<u64>,
    /// What it cost, in wei.
    #[serde(serialize_with = "maybe_text")]
    pub fee: Option<u128>,
    /// When it was first heard of.
    pub first_ms: u64,
    /// When it last changed.
    pub last_ms: u64,
}

/// A member of the running epoch.
#[derive(Clone, Debug, Serialize)]
pub struct OperatorView {
    /// Its index in the epoch's table.
    pub index: u32,
    /// The owner of the key.
    pub owner: Address,
    /// Its weight.
    #[serde(serialize_with = "text")]
    pub weight: u64,
    /// Whether it is this node's operator.
    pub own: bool,
    /// Settled tasks that it signed.
    pub signed: u64,
    /// Settled tasks that it did not sign.
    pub missing: u64,
    /// How often it lost stake, of the newest 1,000 punishments of the network.
    pub punishments: u64,
    /// How much stake it lost by these.
    #[serde(serialize_with = "text")]
    pub lost: U256,
    /// Whether one of these was for a conflict.
    pub slashed: bool,
}

/// An operator that lost stake.
#[derive(Clone, Debug, Serialize)]
pub struct PunishmentView {
    /// The operator's account.
    pub operator: Address,
    /// For which task.
    pub id: B256,
    /// `penalised` or `slashed`.
    pub kind: &'static str,
    /// How much.
    #[serde(serialize_with = "text")]
    pub amount: U256,
    /// The block in which it happened.
    pub at_block: u64,
}

/// A conflict that the node knows.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ConflictView {
    /// Who signed both.
    pub operator: Address,
    /// The task.
    pub id: B256,
    /// Whether the contract would take the evidence.
    pub reportable: bool,
    /// Whether the chain has slashed the operator for it.
    pub slashed: bool,
}

/// A peer that is connected.
#[derive(Clone, Debug, Serialize)]
pub struct PeerView {
    /// Its name.
    pub peer_id: String,
    /// Its operator.
    pub operator: Option<Address>,
    /// Its address.
    pub address: String,
    /// When it connected.
    pub since_ms: u64,
    /// Bytes from it.
    pub bytes_in: u64,
    /// Bytes to it.
    pub bytes_out: u64,
    /// Messages from it.
    pub messages_in: u64,
    /// Messages to it.
    pub messages_out: u64,
    /// What the transport thinks of it.
    pub score: f64,
}

/// A peer or a stranger that is banned.
#[derive(Clone, Debug, Serialize)]
pub struct BanView {
    /// Its name, or its address if it has shown none.
    pub peer_id: String,
    /// Its operator; none for a stranger.
    pub operator: Option<Address>,
    /// The reason of the ban, in words.
    pub reason: String,
    /// When the ban ends.
    pub until_ms: u64,
}

/// The operator's stake and rewards, in the token's smallest unit.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RewardsView {
    /// What was earned in the epochs since the node started, and in the few before whose conflicts can still be reported.
    #[serde(serialize_with = "text")]
    pub earned: U256,
    /// What was claimed of it.
    #[serde(serialize_with = "text")]
    pub claimed: U256,
    /// What is staked.
    #[serde(serialize_with = "text")]
    pub stake: U256,
    /// What is left of it to be claimed. Of older epochs there may be more.
    #[serde(serialize_with = "text")]
    pub pending: U256,
    /// How many decimals people write the token with.
    pub decimals: u8,
}

/// What the watch of an optimistic settlement saw when it looked last.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WatchView {
    /// The settlement.
    pub contract: Address,
    /// When all that is confirmed had been recomputed; none before that.
    pub looked_ms: Option<u64>,
    /// Postings that are neither final nor decided, and were found true.
    pub r#true: u64,
    /// Those of them that were found false.
    pub r#false: u64,
    /// Those of them that could not be recomputed.
    pub unknown: u64,
    /// Postings in the last quarter of their window that are not found true, and whose proof nobody demanded.
    pub late: u64,
    /// Postings that became final without a proof, and were not found true.
    pub final_doubtful: u64,
    /// How often a posting was found false, since the start.
    pub found_false: u64,
    /// How many demands the payer can pay; none without a payer, and before its account was read.
    pub demands: Option<u64>,
}

impl WatchView {
    fn of(contract: Address, sight: WatchSight) -> Self {
        let WatchSight { looked_ms, open, finals, late, found_false, demands } = sight;
        let PostingCounts { r#true, r#false, unknown } = open;
        let final_doubtful = finals.r#false + finals.unknown;
        Self { contract, looked_ms, r#true, r#false, unknown, late, final_doubtful, found_false, demands }
    }
}

/// Rows of operators, peers, bans and punishments.
const SHOWN: usize = 200;
/// Missing members of one task.
const SHOWN_MISSING: usize = 64;

impl View {
    pub(super) fn of(state: &State, readiness: Result<(), Vec<String>>, metrics: &Metrics, now_ms: u64) -> Self {
        let operator = state.identity.as_ref().and_then(|identity| identity.operator);
        let settles = state.identity.as_ref().is_some_and(|identity| identity.roles.aggregate);
        let waiting: BTreeSet<B256> = state.submissions.iter().filter_map(waits_to_settle).collect();
        let gas: BTreeMap<B256, &Submission> =
            state.submissions.iter().filter_map(|held| Some((held.report.transaction?, held))).collect();
        let records = || state.tasks.newest().take(SHOWN_TASKS);
        let problems = state.components.iter().filter_map(|(component, problem)| {
            Some(ProblemView { component: component.name(), problem: problem.clone()? })
        });
        Self {
            now_ms,
            ready: readiness.is_ok(),
            reasons: readiness.err().unwrap_or_default(),
            node: state.identity.as_ref().map(|identity| NodeView {
                chain_id: identity.network.chain_id,
                contract: identity.network.address,
                operator: identity.operator,
                roles: names_of(identity.roles),
                peer_id: identity.peer_id.clone(),
                version: identity.version.clone(),
                started_ms: identity.started,
            }),
            chain: state.chain.as_ref().map(|(chain, read)| ChainView {
                head: chain.head,
                time_s: chain.time,
                final_block: chain.final_block,
                epoch: chain.epoch,
                snapshot: chain.snapshot,
                behind: chain.behind.clone(),
                read_ms: *read,
            }),
            problems: problems.collect(),
            counts: CountsView {
                open: state.tasks.open() as u64,
                quorum_p50_ms: median(records().filter_map(|task| Some(task.quorum?.saturating_sub(task.result?)))),
                settled_p50_ms: median(records().filter_map(|task| Some(task.settled?.saturating_sub(task.result?)))),
                transport: state.transport.into(),
                ..metrics.counts()
            },
            tasks: records().map(|record| task(record, settles, waiting.contains(&record.id), &gas)).collect(),
            submissions: state.submissions.iter().rev().map(submission).collect(),
            operators: operators(state, operator),
            operators_in_all: state.members.len(),
            operators_weight: state.members.iter().map(|member| u128::from(member.weight)).sum(),
            punishments: state.punishments.iter().rev().take(SHOWN).map(punishment).collect(),
            punishments_in_all: state.penalised.saturating_add(state.slashed),
            conflicts: state.conflicts.iter().map(conflict).collect(),
            conflicts_in_all: state.conflicts_in_all,
            peers: state.peers.iter().take(SHOWN).cloned().map(peer).collect(),
            peers_in_all: state.peers.len(),
            bans: state.bans.iter().take(SHOWN).cloned().map(ban).collect(),
            bans_in_all: state.bans.len(),
            rewards: state.rewards.map(|rewards| {
                let RewardsReport { earned, claimed, stake, pending, decimals } = rewards;
                RewardsView { earned, claimed, stake, pending, decimals }
            }),
            watch: state.watch.as_ref().map(|(contract, watch)| WatchView::of(*contract, watch.sight())),
        }
    }
}

fn names_of(roles: Roles) -> Vec<&'static str> {
    let Roles { perform, attest, aggregate } = roles;
    let names = [(perform, "perform"), (attest, "attest"), (aggregate, "aggregate")];
    names.into_iter().filter_map(|(has, name)| has.then_some(name)).collect()
}

fn waits_to_settle(submission: &Submission) -> Option<B256> {
    match submission.report.purpose {
        Purpose::Settle { id } if !submission.report.state.has_ended() => Some(id),
        _ => None,
    }
}

impl Metrics {
    fn counts(&self) -> CountsView {
        let outcome = |outcome| self.tasks.get_or_create(&[("outcome", outcome)]).get();
        let verified = |outcome| self.verifications.get_or_create(&[("outcome", outcome)]).get();
        let program = |program| self.programs.get_or_create(&[("program", program)]).get();
        let failed = |component: Component| self.failures.get_or_create(&[("component", component.name())]).get();
        CountsView {
            approved: outcome("approved"),
            rejected: outcome("rejected"),
            lapsed: outcome("lapsed"),
            received: self.received.get(),
            verified: verified("true"),
            r#false: verified("false"),
            ignored: verified("ignored"),
            published: self.published.get(),
            executed: program("execute"),
            validated: program("validate"),
            failures: Component::ALL.into_iter().map(failed).sum(),
            ..CountsView::default()
        }
    }
}

fn task(record: &Record, settles: bool, waits: bool, transactions: &BTreeMap<B256, &Submission>) -> TaskView {
    let round = record.report.as_ref().and_then(|report| report.round.as_ref());
    let leading = round.and_then(|round| round.leading.as_ref());
    let missing = || round.into_iter().flat_map(RoundReport::missing);
    let view = |(index, owner, weight)| MissingView { index, owner, weight };
    let settlement = record.settlement.as_ref();
    let ready = round.and_then(|round| round.ready);
    TaskView {
        id: record.id,
        epoch: record.epoch,
        label: record.label.clone(),
        state: match round {
            _ if record.finalised.is_some() => TaskState::Final,
            _ if settlement.is_some() => TaskState::Settled,
            _ if record.lapsed => TaskState::Lapsed,
            _ if waits => TaskState::Submitted,
            None => TaskState::Waiting,
            Some(round) if round.has_quorum() => TaskState::Quorum,
            Some(round) if round.result.is_some() => TaskState::Attesting,
            Some(_) => TaskState::Performing,
        },
        part: round.map(|round| name_of(round.part)),
        performer: round.and_then(|round| {
            let (index, snapshot) = (round.performer, &round.snapshot);
            Some(view((index, snapshot.owner(index)?, snapshot.weight(index))))
        }),
        result: settlement
            .map(|held| held.result)
            .or_else(|| round.and_then(|round| round.result).map(|held| held.hash)),
        result_length: round.and_then(|round| round.result).map(|held| held.length),
        approved: settlement.map(|held| held.approved).or_else(|| leading.map(|held| held.approved)),
        weight: leading.map_or(0, |held| held.weight),
        against: round.map_or(0, |round| round.against),
        required: round.map_or(0, |round| round.snapshot.required()),
        total: round.map_or(0, |round| round.snapshot.total()),
        signers: leading.map_or(0, |held| held.signers.len()),
        members: round.map_or(0, |round| round.snapshot.indices().count()),
        missing: missing().take(SHOWN_MISSING).map(view).collect(),
        missing_in_all: missing().count(),
        turns_begin_ms: ready.map(|ready| ready.begins),
        turn_ms: ready.filter(|_| settles).map(|ready| ready.turn),
        times: TimesView {
            known: record.known,
            result: record.result,
            quorum: record.quorum,
            submitted: record.submitted,
            settled: record.settled,
            finalised: record.finalised,
        },
        settlement: settlement.map(|held| {
            let own = transactions.get(&held.transaction).map(|own| &own.report);
            SettlementView {
                approved: held.approved,
                rewarded: held.rewarded,
                transaction: held.transaction,
                block: held.block,
                by: held.by,
                own: own.is_some(),
                gas_used: held.gas_used.or_else(|| own.and_then(|own| own.gas_used)),
                fee: held.fee.or_else(|| own.and_then(|own| own.fee)),
            }
        }),
    }
}

fn name_of(part: RoundPart) -> &'static str {
    match part {
        RoundPart::None => "none",
        RoundPart::Waiting => "waiting",
        RoundPart::Performing => "performing",
        RoundPart::Validating => "validating",
        RoundPart::Signing => "signing",
        RoundPart::Signed => "signed",
        RoundPart::Abstained => "abstained",
    }
}

fn submission(held: &Submission) -> SubmissionView {
    let report = &held.report;
    let (id, words) = match &report.purpose {
        Purpose::Settle { id } | Purpose::Report { id, .. } => (Some(*id), None),
        Purpose::Other(words) => (None, Some(words.clone())),
    };
    SubmissionView {
        purpose: report.purpose.name(),
        id,
        words,
        state: report.state.name(),
        refusal: match &report.state {
            SubmissionState::Refused(words) => Some(words.clone()),
            _ => None,
        },
        transaction: report.transaction,
        nonce: report.nonce,
        replaced: held.replaced,
        gas_used: report.gas_used,
        estimate: report.estimate,
        fee: report.fee,
        first_ms: held.first,
        last_ms: held.last,
    }
}

/// The heaviest members, and this node's own.
fn operators(state: &State, own: Option<Address>) -> Vec<OperatorView> {
    let mut members: Vec<_> = state.members.iter().filter(|member| member.weight != 0).collect();
    members.sort_by_key(|member| (std::cmp::Reverse(member.weight), member.index));
    let (shown, rest) = members.split_at(members.len().min(SHOWN));
    let mine = rest.iter().filter(|member| Some(member.owner) == own);
    let mut lost: BTreeMap<Address, (u64, U256, bool)> = BTreeMap::new();
    for held in &state.punishments {
        let (number, amount, slashed) = lost.entry(held.operator).or_default();
        *number += 1;
        *amount = amount.saturating_add(held.amount);
        *slashed |= matches!(held.kind, PunishmentKind::Slashed { .. });
    }
    let view = |member: &&MemberReport| {
        let standing = state.standings.get(&member.owner).copied().unwrap_or_default();
        let (punishments, amount, slashed) = lost.get(&member.owner).copied().unwrap_or_default();
        OperatorView {
            index: member.index,
            owner: member.owner,
            weight: member.weight,
            own: Some(member.owner) == own,
            signed: standing.signed,
            missing: standing.missing,
            punishments,
            lost: amount,
            slashed,
        }
    };
    shown.iter().chain(mine).map(view).collect()
}

fn punishment(held: &PunishmentReport) -> PunishmentView {
    let PunishmentReport { operator, id, kind, amount, at_block } = held.clone();
    PunishmentView { operator, id, kind: kind.name(), amount, at_block }
}

fn conflict(held: &ConflictReport) -> ConflictView {
    let ConflictReport { operator, id, reportable, slashed, .. } = *held;
    ConflictView { operator, id, reportable, slashed }
}

fn peer(row: PeerRow) -> PeerView {
    let PeerRow { peer_id, operator, address, since, bytes_in, bytes_out, messages_in, messages_out, score } = row;
    PeerView { peer_id, operator, address, since_ms: since, bytes_in, bytes_out, messages_in, messages_out, score }
}

fn ban(row: BanRow) -> BanView {
    let BanRow { peer_id, operator, reason, until } = row;
    BanView { peer_id, operator, reason, until_ms: until }
}

/// The time within which half of them are.
fn median(times: impl Iterator<Item = u64>) -> Option<u64> {
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    times.get(times.len().saturating_sub(1) / 2).copied()
}

fn text<S: Serializer>(number: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

fn maybe_text<S: Serializer>(number: &Option<impl Display>, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => serializer.collect_str(number),
        None => serializer.serialize_none(),
    }
}
