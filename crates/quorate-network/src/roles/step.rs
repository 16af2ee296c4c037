//! The one entry: an event comes in, outputs come out.

use std::{collections::BTreeSet, sync::Arc};

use quorate_evm::{
    Finality,
    alloy_primitives::{Address, B256, Bytes},
};

use super::{
    event::{NodeEvent, NodeOutput},
    state::{Due, Execution, MAX_BRANCHES, Node, OpenTask, Retry, Round, SettledTask, earlier, remembered_from},
};
use crate::groups::Groups;

impl Node {
    /// Takes an event and says what to do, in order. `now` is the node's own time in milliseconds, which passes as a stopwatch
    /// does: nothing that waits goes on while `now` is less than the greatest one so far, which counts instead. After a restart
    /// it may be less than before.
    ///
    /// The new state and the outputs are a function of the state, the event and `now` alone.
    pub fn step(&mut self, event: NodeEvent, now: u64) -> Vec<NodeOutput> {
        self.now = self.now.max(now);
        if !std::mem::replace(&mut self.begun, true) {
            self.begin();
        }
        let mut out = Vec::new();
        match event {
            NodeEvent::Task { id, epoch, payload } => self.task(id, epoch, payload, &mut out),
            NodeEvent::Epoch(epoch) => self.epoch(epoch, &mut out),
            NodeEvent::Snapshot(snapshot) => {
                // Two epochs can have snapshots of one id, and the groups of each are those of its own epoch.
                let groups = Arc::new(Groups::new(&snapshot, self.settings.group));
                self.snapshots.insert(snapshot.epoch(), (snapshot, groups));
                self.look_at_all(&mut out);
            }
            NodeEvent::SnapshotRemoved { epoch } => {
                self.snapshots.remove(&epoch);
                self.look_at_all(&mut out);
            }
            NodeEvent::Settled { id, epoch, finality } => {
                self.settled.insert(id, SettledTask { epoch, finality, number: self.settlements });
                self.settlements += 1;
                if finality == Finality::Final {
                    self.unsaved |= self.saved.pending.remove(&id).is_some();
                }
                self.look_at(id, &mut out);
            }
            NodeEvent::Unsettled { id } => self.unsettled(id, &mut out),
            NodeEvent::SettleFailed { id } => self.settle_failed(id, &mut out),
            NodeEvent::Slashed { operator, id, epoch } => {
                self.slashed.insert((operator, id, epoch), self.epoch);
                self.look_at_conflict(operator, id, &mut out);
            }
            NodeEvent::Unslashed { operator, id, epoch } => self.unslashed(operator, id, epoch, &mut out),
            NodeEvent::ReportFailed { operator, id } => self.report_failed(operator, id, &mut out),
            NodeEvent::Received { source, message } => self.receive(source, message.message(), &mut out),
            NodeEvent::Asked { source, request } => self.answer(source, &request, &mut out),
            NodeEvent::AnswerWasFull => self.ask_on(&mut out),
            NodeEvent::Executed { id, bytes } => self.executed(id, bytes, &mut out),
            NodeEvent::ExecuteFailed { id } => {
                if let Some(task) = self.tasks.get_mut(&id) {
                    task.execution = Execution::Idle;
                    task.execute.failed(&self.settings, self.now);
                }
                self.look_at(id, &mut out);
            }
            NodeEvent::Validated { candidate, approved } => self.validated(&candidate, Some(approved), &mut out),
            NodeEvent::ValidateFailed { candidate } => self.validated(&candidate, None, &mut out),
            NodeEvent::Signed { candidate, signature } => self.signed(candidate, signature, &mut out),
            NodeEvent::SignRefused { candidate, refusal } => self.sign_refused(candidate, refusal, &mut out),
            NodeEvent::Tick => self.tick(&mut out),
        }
        self.ask(&mut out);
        if std::mem::take(&mut self.unsaved) {
            out.insert(0, NodeOutput::Save);
        }
        self.wake(&mut out);
        out
    }

    /// The first step: it tells what time it is.
    fn begin(&mut self) {
        // What waits by a clock that was ahead would wait until that time has come.
        let latest = self.now + self.settings.submission_timeout;
        let waiting = self.saved.pending.values_mut().chain(self.saved.reports.values_mut());
        for until in waiting.filter(|until| **until > latest) {
            *until = latest;
            self.unsaved = true;
        }
        // The chain tells its past first, so by then it is known who was slashed.
        let begins = self.now + self.settings.turn;
        self.conflicts.values_mut().for_each(|conflict| conflict.begins = begins);
    }

    fn task(&mut self, id: B256, epoch: u64, payload: Bytes, out: &mut Vec<NodeOutput>) {
        if let Err(reason) = self.screen_task(id, epoch, &payload) {
            return out.push(NodeOutput::NotTaken { id, reason });
        }
        if self.is_full() && !self.tasks.contains_key(&id) {
            if self.is_final(id) {
                // Others are not pushed out for it.
                return;
            }
            if let Some(first) = self.first_to_go() {
                if !self.is_final(first) {
                    out.push(NodeOutput::Dropped { id: first });
                }
                self.make_room(first);
            }
        }
        let first_question = self.period_after(self.now + self.settings.ask_first);
        let task = self.tasks.entry(id).or_insert_with(|| {
            self.taken += 1;
            OpenTask {
                payload,
                number: self.taken,
                since: self.now,
                epochs: BTreeSet::new(),
                rounds: Default::default(),
                execution: Execution::Idle,
                execute: Retry::default(),
                submit: Retry::default(),
                ask_at: first_question,
                ask_interval: self.settings.ask_first,
                asked: 0,
                wake: None,
            }
        });
        if task.epochs.insert(epoch) {
            task.since = self.now;
            task.ask_at = first_question;
            task.ask_interval = self.settings.ask_first;
        }
        self.look_at(id, out);
    }

    /// Drops a task that the chain has settled for good, or that found no quorum, with what was kept of it. What nodes that still hold
    /// it say of it is refused here as that of an unknown task, but for evidence. Conflicts that are saved stay, and the signer's record.
    fn make_room(&mut self, id: B256) {
        let Some(task) = self.tasks.remove(&id) else { return };
        task.wake.into_iter().for_each(|at| _ = self.wakes.remove(&(at, Due::Task(id))));
        for (_, snapshot) in task.rounds.into_keys() {
            self.places.remove(&(snapshot, id));
        }
        self.unsaved |= self.saved.results.remove(&id).is_some();
        self.unsaved |= self.saved.verdicts.remove(&id).is_some();
        let accused = self.evidence_of(id).map(|(operator, _)| operator);
        let unsaved: Vec<Address> = accused.filter(|operator| !self.saved.has_evidence(*operator, id)).collect();
        for operator in unsaved {
            let wake = self.conflicts.remove(&(id, operator)).and_then(|conflict| conflict.wake);
            wake.into_iter().for_each(|at| _ = self.wakes.remove(&(at, Due::Conflict(operator, id))));
        }
    }

    /// Drops what can settle no more. Snapshots stay as long as conflicts of their epoch can be reported. Of the conflicts about tasks
    /// that are not held, those stay that are saved: an operator can sign one about each task. Of a task that is held for a later epoch, the
    /// settlement stays, which counts in every epoch, and what the operator said, which binds it in every epoch.
    fn epoch(&mut self, epoch: u64, out: &mut Vec<NodeOutput>) {
        if epoch == self.epoch {
            return;
        }
        self.epoch = epoch;
        let open = epoch.saturating_sub(1);
        let kept = open.saturating_sub(self.settings.evidence_epochs);
        self.tasks.retain(|id, task| {
            (task.execute, task.submit) = (Retry::default(), Retry::default());
            if task.epochs.contains(&epoch) {
                task.since = self.now;
            }
            task.epochs.retain(|epoch| *epoch >= open);
            task.rounds.retain(|(epoch, _), _| *epoch >= open);
            task.rounds.values_mut().for_each(|round| round.judge = Retry::default());
            let keep = !task.epochs.is_empty();
            if let (false, Some(at)) = (keep, task.wake) {
                self.wakes.remove(&(at, Due::Task(*id)));
            }
            keep
        });
        self.places.clear();
        let remembered = remembered_from(epoch);
        self.settled.retain(|id, settled| settled.epoch >= remembered || self.tasks.contains_key(id));
        self.snapshots.retain(|epoch, _| *epoch >= kept);
        self.slashed.retain(|_, epoch| *epoch >= kept);
        self.reported.clear();
        self.conflicts.retain(|(id, operator), conflict| {
            conflict.report = Retry::default();
            let evidence = &conflict.evidence;
            let keep = evidence.first().candidate().epoch.min(evidence.second().candidate().epoch) >= kept
                && (self.tasks.contains_key(id) || self.saved.has_evidence(*operator, *id));
            if let (false, Some(at)) = (keep, conflict.wake) {
                self.wakes.remove(&(at, Due::Conflict(*operator, *id)));
            }
            keep
        });
        let waiting = self.saved.pending.len() + self.saved.reports.len();
        // What was submitted before a restart waits, even if the task was not named again yet.
        let (tasks, conflicts, now) = (&self.tasks, &self.conflicts, self.now);
        self.saved.pending.retain(|id, until| tasks.contains_key(id) || *until > now);
        self.saved.reports.retain(|(operator, id), until| conflicts.contains_key(&(*id, *operator)) || *until > now);
        self.unsaved |= self.saved.forget_evidence(|operator, id| !conflicts.contains_key(&(id, operator)));
        self.unsaved |= waiting != self.saved.pending.len() + self.saved.reports.len();
        self.unsaved |= self.saved.forget_results(|id, last| last < open && !tasks.contains_key(&id));
        self.unsaved |= self.saved.forget_verdicts(remembered, |id| tasks.contains_key(&id));
        self.look_at_all(out);
    }

    fn tick(&mut self, out: &mut Vec<NodeOutput>) {
        self.woken_at = None;
        let due: Vec<Due> = self.wakes.iter().take_while(|(at, _)| *at <= self.now).map(|(_, due)| *due).collect();
        for due in due {
            match due {
                Due::Task(id) => self.look_at(id, out),
                Due::Conflict(operator, id) => self.look_at_conflict(operator, id, out),
            }
        }
    }

    fn look_at_all(&mut self, out: &mut Vec<NodeOutput>) {
        for id in self.tasks.keys().copied().collect::<Vec<_>>() {
            self.look_at(id, out);
            self.compare_epochs(id, out);
        }
        for (id, operator) in self.conflicts.keys().copied().collect::<Vec<_>>() {
            self.look_at_conflict(operator, id, out);
        }
    }

    /// Does all that is due for a task, and notes when the next thing is. It may be called at any time.
    pub(super) fn look_at(&mut self, id: B256, out: &mut Vec<NodeOutput>) {
        let Some(mut task) = self.tasks.remove(&id) else { return };
        if let Some(at) = task.wake.take() {
            self.wakes.remove(&(at, Due::Task(id)));
        }
        let mut wake = None;
        for epoch in task.epochs.clone() {
            let held = self.snapshots.get(&epoch).filter(|_| self.is_open(epoch)).cloned();
            let Some((snapshot, groups)) = held else { continue };
            let key = (epoch, snapshot.id());
            if !task.rounds.contains_key(&key) {
                let others = task.rounds.keys().filter(|(other, _)| *other == epoch).copied().collect::<Vec<_>>();
                if others.len() >= MAX_BRANCHES {
                    task.rounds.remove(&others[0]);
                }
                task.rounds.insert(key, Round::new(snapshot, groups, id, self.settings.operator));
            }
            if !self.settled.contains_key(&id) {
                earlier(&mut wake, self.own_verdict(id, &mut task, key, out));
                earlier(&mut wake, self.share(&mut task, key, out));
                earlier(&mut wake, self.settle(&task, key, out));
            }
            earlier(&mut wake, self.when_to_ask(id, &mut task));
        }
        task.wake = wake;
        if let Some(at) = wake {
            self.wakes.insert((at, Due::Task(id)));
        }
        self.tasks.insert(id, task);
    }
}
