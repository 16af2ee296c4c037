//! What is on the board, whether the node is ready, and what Prometheus is told.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use prometheus_client::metrics::{counter::Counter, family::Family};
use quorate_chain::watch::WatchMetrics;
use quorate_evm::alloy_primitives::{Address, B256};
use quorate_host::metrics::Watched as _;

use super::{
    bounds::{MAX_MEMBERS, MAX_PUNISHMENTS, MAX_SUBMISSIONS, clipped, push_bounded},
    report::{
        BanRow, ChainReport, Component, Count, IdentityReport, MemberReport, PeerRow, PunishmentKind, PunishmentReport,
        Purpose, RewardsReport, SubmissionReport, SubmissionState,
    },
    task::{Standing, Tasks},
};
use crate::{
    metrics::{ChainNow, Metrics, Now},
    transport::Counts,
};
use quorate_network::roles::ConflictReport;

/// What a node must have to be ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectations {
    /// The longest time since the chain was read, in milliseconds.
    pub chain_age_ms: u64,
    /// The longest time between two turns of the node's loop, in milliseconds.
    pub turn_age_ms: u64,
    /// The least number of peers: zero for a node that is alone.
    pub peers: usize,
}

impl Default for Expectations {
    /// The chain was read and the loop has turned within a minute, and there is a peer.
    fn default() -> Self {
        Self { chain_age_ms: 60_000, turn_age_ms: 60_000, peers: 1 }
    }
}

/// What is on the board.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) identity: Option<IdentityReport>,
    /// The last reading of the chain, and when it was.
    pub(super) chain: Option<(ChainReport, u64)>,
    /// Of each component that was heard of: its problem, or that it works.
    pub(super) components: BTreeMap<Component, Option<String>>,
    pub(super) stopping: bool,
    /// When the node's loop turned last. No clock of the machine, which may be set, counts here.
    pub(super) turned: Option<Instant>,
    pub(super) tasks: Tasks,
    /// The newest last.
    pub(super) submissions: VecDeque<Submission>,
    /// The newest last.
    pub(super) punishments: VecDeque<PunishmentReport>,
    /// How many there were, with those that the list has no room for.
    pub(super) penalised: usize,
    /// The same of those that were slashed.
    pub(super) slashed: usize,
    pub(super) conflicts: Vec<ConflictReport>,
    /// How many there are, with those that the list has no room for.
    pub(super) conflicts_in_all: usize,
    pub(super) members: Vec<MemberReport>,
    pub(super) standings: BTreeMap<Address, Standing>,
    pub(super) rewards: Option<RewardsReport>,
    pub(super) peers: Vec<PeerRow>,
    pub(super) bans: Vec<BanRow>,
    pub(super) transport: Counts,
    /// The settlement that the node watches, if it watches one, and what the watch counts.
    pub(super) watch: Option<(Address, Arc<WatchMetrics>)>,
}

/// A transaction, and when it was first and last heard of.
#[derive(Clone, Debug)]
pub(super) struct Submission {
    pub(super) report: SubmissionReport,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) replaced: u32,
}

impl State {
    pub(super) fn submission(&mut self, report: SubmissionReport, now_ms: u64, metrics: &Metrics) {
        let report = bounded_submission(report);
        let same = |held: &Submission| {
            let held = &held.report;
            let nonces = match (held.nonce, report.nonce) {
                (Some(held), Some(found)) => held == found,
                _ => !held.state.has_ended(),
            };
            held.purpose == report.purpose && nonces
        };
        let found = self.submissions.iter_mut().rev().find(|held| same(held));
        let changed = found.as_ref().is_none_or(|held| {
            let other = report.transaction.is_some() && held.report.transaction != report.transaction;
            held.report.state != report.state || other
        });
        if changed {
            metrics.submission(&report);
        }
        if report.state == SubmissionState::Sent
            && let Purpose::Settle { id } = report.purpose
        {
            self.tasks.submitted(id, now_ms);
        }
        let Some(held) = found else {
            if report.state == SubmissionState::Final {
                metrics.paid(&report);
            }
            let replaced = u32::from(report.state == SubmissionState::Replaced);
            let submission = Submission { report, first: now_ms, last: now_ms, replaced };
            return push_bounded(&mut self.submissions, submission, MAX_SUBMISSIONS);
        };
        if changed {
            held.last = now_ms;
            held.replaced += u32::from(report.state == SubmissionState::Replaced);
        }
        let before = &held.report;
        let was_final = before.state == SubmissionState::Final;
        held.report = SubmissionReport {
            transaction: report.transaction.or(before.transaction),
            nonce: report.nonce.or(before.nonce),
            gas_used: report.gas_used.or(before.gas_used),
            fee: report.fee.or(before.fee),
            estimate: report.estimate.or(before.estimate),
            ..report
        };
        if held.report.state == SubmissionState::Undone {
            (held.report.gas_used, held.report.fee) = (None, None);
        }
        if !was_final && held.report.state == SubmissionState::Final {
            metrics.paid(&held.report);
        }
    }

    /// An operator lost stake. What is told twice counts once.
    pub(super) fn punished(&mut self, report: PunishmentReport) {
        if !self.drop_punishment(report.operator, report.id, report.kind) {
            *self.number_of(report.kind) += 1;
        }
        push_bounded(&mut self.punishments, report, MAX_PUNISHMENTS);
    }

    /// A reorganisation undid a punishment. It undoes the newest blocks, so that the list still has the punishment.
    pub(super) fn unpunished(&mut self, operator: Address, id: B256, kind: PunishmentKind) {
        if self.drop_punishment(operator, id, kind) {
            let number = self.number_of(kind);
            *number = number.saturating_sub(1);
        }
    }

    /// Removes a punishment from the list; `false` if it is not there.
    fn drop_punishment(&mut self, operator: Address, id: B256, kind: PunishmentKind) -> bool {
        let before = self.punishments.len();
        self.punishments.retain(|held| (held.operator, held.id, held.kind) != (operator, id, kind));
        self.punishments.len() < before
    }

    fn number_of(&mut self, kind: PunishmentKind) -> &mut usize {
        match kind {
            PunishmentKind::Penalised => &mut self.penalised,
            PunishmentKind::Slashed { .. } => &mut self.slashed,
        }
    }

    /// Ready is what was proved: what nothing was heard of is a reason.
    pub(super) fn readiness(&self, expectations: &Expectations, now_ms: u64) -> Result<(), Vec<String>> {
        let mut reasons = Vec::new();
        if self.stopping {
            reasons.push("the node is stopping".to_owned());
        }
        let roles = self.identity.as_ref().map(|identity| identity.roles);
        if roles.is_none() {
            reasons.push("the node is starting".to_owned());
        }
        reasons.extend(self.hangs(expectations));
        match &self.chain {
            None => reasons.push("the chain was not read yet".to_owned()),
            Some((chain, read)) => {
                let age = now_ms.saturating_sub(*read);
                if age > expectations.chain_age_ms {
                    reasons.push(format!("the chain was last read {} s ago", age / 1000));
                }
                reasons.extend(chain.behind.as_ref().map(|why| format!("the chain is behind: {why}")));
                if chain.snapshot.is_none() {
                    reasons.push(format!("the chain has no snapshot for epoch {}", chain.epoch));
                } else if let Some(operator) = self.signs_without_weight() {
                    reasons.push(format!(
                        "the operator {operator} has no weight in epoch {}, and nothing that it signs counts: a seat has weight from the \
                         epoch after `quorate-node register` on",
                        chain.epoch
                    ));
                }
            }
        }
        for component in Component::ALL {
            let needed = match component {
                Component::Signer => roles.is_some_and(|roles| roles.signs()),
                Component::Disk => true,
                Component::Chain | Component::Programs | Component::Payer | Component::Stake | Component::Tasks => {
                    false
                }
                Component::Watch => self.watch.is_some(),
                // Of peers the list says more, and it is looked at below.
                Component::Pool | Component::Peers => continue,
            };
            match self.components.get(&component) {
                Some(None) if component == Component::Watch => {
                    // One that hangs says nothing.
                    let late = self.watch.as_ref().and_then(|(_, watch)| watch.ready().err());
                    reasons.extend(late.map(|why| format!("{}: {why}", component.name())));
                }
                Some(None) => {}
                // An operator's signer and programs matter to a node that uses them, and it says so only then.
                Some(Some(problem)) => reasons.push(format!("{}: {problem}", component.name())),
                None if needed => reasons.push(format!("{}: nothing was heard of it yet", component.name())),
                None => {}
            }
        }
        reasons.extend(self.lacks_peers(expectations));
        if reasons.is_empty() { Ok(()) } else { Err(reasons) }
    }

    /// Why fewer peers are connected than there must be, in words.
    pub(super) fn lacks_peers(&self, expectations: &Expectations) -> Option<String> {
        let (found, least) = (self.peers.len(), expectations.peers);
        (found < least).then(|| match found {
            0 => "no peer is connected".to_owned(),
            _ => format!("{found} peers are connected; there must be {least}"),
        })
    }

    /// Why the node does no work, in words, if its loop has turned before and hangs. What runs beside the loop still tells the board
    /// that all is well.
    pub(super) fn hangs(&self, expectations: &Expectations) -> Option<String> {
        let age = self.turned?.elapsed();
        let hangs = age > Duration::from_millis(expectations.turn_age_ms);
        hangs.then(|| format!("the node's loop has not turned for {} s", age.as_secs()))
    }

    /// The operator of a node that signs, if the running epoch does not count its signatures.
    fn signs_without_weight(&self) -> Option<Address> {
        let identity = self.identity.as_ref().filter(|identity| identity.roles.signs())?;
        // A list that is full may lack the operator.
        let is_cut = self.members.len() >= MAX_MEMBERS;
        let has_weight = |operator: &Address| is_cut || self.members.iter().any(|member| member.owner == *operator);
        identity.operator.filter(|operator| !has_weight(operator))
    }

    pub(super) fn now(&self, expectations: &Expectations, now_ms: u64) -> Now {
        let identity = self.identity.as_ref();
        let [penalised, slashed] = PunishmentKind::NAMES;
        let failing = |component: Component| {
            (component.name(), self.components.get(&component).is_some_and(|problem| problem.is_some()))
        };
        Now {
            version: identity.map(|identity| identity.version.clone()).unwrap_or_default(),
            started_ms: identity.map_or(0, |identity| identity.started),
            ready: self.readiness(expectations, now_ms).is_ok(),
            open_tasks: self.tasks.open(),
            members: self.members.len(),
            conflicts: self.conflicts_in_all,
            punishments: [(penalised, self.penalised), (slashed, self.slashed)],
            peers: self.peers.len(),
            bans: self.bans.len(),
            problems: Component::ALL.map(failing).to_vec(),
            chain: self.chain.as_ref().map(|(chain, read)| ChainNow {
                head: chain.head,
                final_block: chain.final_block,
                epoch: chain.epoch,
                head_age_ms: now_ms.saturating_sub(chain.time.saturating_mul(1000)),
                read_age_ms: now_ms.saturating_sub(*read),
            }),
            tokens: self.rewards.map(|rewards| {
                let RewardsReport { earned, claimed, stake, pending, decimals } = rewards;
                let unit = 10_f64.powi(i32::from(decimals));
                [stake, earned, claimed, pending].map(|amount| f64::from(amount) / unit)
            }),
        }
    }
}

impl Metrics {
    /// Counters that stand at zero from the beginning, so that a rate sees their first change.
    pub(super) fn begun() -> Self {
        let this = Self::default();
        let zero = |family: &Family<[(&'static str, &'static str); 1], Counter>, label, values: &[&'static str]| {
            values.iter().for_each(|value| drop(family.get_or_create(&[(label, *value)])));
        };
        zero(&this.tasks, "outcome", &["approved", "rejected", "lapsed"]);
        zero(&this.signatures, "signature", &["signed", "missing"]);
        zero(&this.verifications, "outcome", &["true", "false", "ignored"]);
        zero(&this.programs, "program", &["execute", "validate"]);
        zero(&this.failures, "component", &Component::ALL.map(Component::name));
        zero(&this.bytes, "direction", &["in", "out"]);
        zero(&this.messages, "direction", &["in", "out"]);
        for purpose in Purpose::NAMES {
            for state in SubmissionState::NAMES {
                drop(this.submissions.get_or_create(&[("purpose", purpose), ("state", state)]));
            }
            let of_purpose = [("purpose", purpose)];
            drop(this.gas_used.get_or_create(&of_purpose));
            drop(this.gas_estimated.get_or_create(&of_purpose));
            drop(this.fees.get_or_create(&of_purpose));
        }
        this.transport(&Counts::default(), &Counts::default());
        this
    }

    pub(super) fn count(&self, what: Count, times: u64) {
        let verified = |outcome| self.verifications.get_or_create(&[("outcome", outcome)]).inc_by(times);
        let program = |program| self.programs.get_or_create(&[("program", program)]).inc_by(times);
        match what {
            Count::Received => self.received.inc_by(times),
            Count::Verified => verified("true"),
            Count::False => verified("false"),
            Count::Ignored => verified("ignored"),
            Count::Published => self.published.inc_by(times),
            Count::Executed => program("execute"),
            Count::Validated => program("validate"),
            Count::Failed(component) => self.failures.get_or_create(&[("component", component.name())]).inc_by(times),
        };
    }

    fn submission(&self, report: &SubmissionReport) {
        let labels = [("purpose", report.purpose.name()), ("state", report.state.name())];
        self.submissions.get_or_create(&labels).inc();
    }

    /// A transaction is final, so that what it cost is paid.
    fn paid(&self, report: &SubmissionReport) {
        let purpose = [("purpose", report.purpose.name())];
        if let Some(gas) = report.gas_used {
            self.gas_used.get_or_create(&purpose).inc_by(gas);
        }
        if let Some(gas) = report.estimate {
            self.gas_estimated.get_or_create(&purpose).inc_by(gas);
        }
        if let Some(fee) = report.fee {
            self.fees.get_or_create(&purpose).inc_by(fee as f64);
        }
    }

    /// Counts what a transport dropped and refused since the last report. One that has started anew begins at zero.
    pub(super) fn transport(&self, before: &Counts, after: &Counts) {
        let more = |event, of: fn(&Counts) -> u64| {
            let (before, after) = (of(before), of(after));
            let more = if after >= before { after - before } else { after };
            self.transport.get_or_create(&[("event", event)]).inc_by(more);
        };
        more("peer banned", |counts| counts.banned);
        more("stranger refused", |counts| counts.strangers);
        more("arrival dropped", |counts| counts.arrivals_dropped);
        more("call dropped", |counts| counts.calls_dropped);
        more("message unsent", |counts| counts.unsent);
        more("message unjudged", |counts| counts.unjudged);
        more("question unanswered", |counts| counts.unanswered);
    }

    /// Counts the conflicts that were found since the last report.
    pub(super) fn conflicts_found(&self, found: u64) {
        self.conflicts_found.inc_by(found.saturating_sub(self.conflicts_found.get()));
    }

    /// Counts what peers sent and got since the last report. A peer that has connected anew begins at zero.
    pub(super) fn traffic(&self, before: &[PeerRow], after: &[PeerRow]) {
        let before: BTreeMap<_, _> = before.iter().map(|row| (row.peer_id.as_str(), row)).collect();
        for row in after {
            let held = before.get(row.peer_id.as_str()).filter(|held| held.since == row.since);
            let more = |now: u64, of: fn(&PeerRow) -> u64| now.saturating_sub(held.map_or(0, |held| of(held)));
            let bytes = |way, times| self.bytes.get_or_create(&[("direction", way)]).inc_by(times);
            let messages = |way, times| self.messages.get_or_create(&[("direction", way)]).inc_by(times);
            bytes("in", more(row.bytes_in, |held| held.bytes_in));
            bytes("out", more(row.bytes_out, |held| held.bytes_out));
            messages("in", more(row.messages_in, |held| held.messages_in));
            messages("out", more(row.messages_out, |held| held.messages_out));
        }
    }
}

fn bounded_submission(report: SubmissionReport) -> SubmissionReport {
    let purpose = match report.purpose {
        Purpose::Other(words) => Purpose::Other(clipped(&words)),
        purpose => purpose,
    };
    let state = match report.state {
        SubmissionState::Refused(words) => SubmissionState::Refused(clipped(&words)),
        state => state,
    };
    SubmissionReport { purpose, state, ..report }
}
