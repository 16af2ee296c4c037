//! The operator's own word on a task: as its performer, or as an attester.
//!
//! ```text
//! performer:  Idle ── Execute ── Executed ──┐
//!                                           ├── Sign ── Signed ── Publish ── Done
//! attester:   Idle ── Validate ─ Validated ─┘     └──── refused for good ─── Abstained
//! ```
//!
//! The operator says one thing in each epoch and snapshot, and in different epochs the same (`Saved::permits`). The signer
//! has the same rule, and its record has the last word.

use quorate_evm::{
    SnapshotId, Task,
    alloy_primitives::{B256, Bytes},
};

use super::{
    event::{NodeOutput, SignerRefusal},
    saved::SavedVerdict,
    state::{Duty, Execution, Node, OpenTask},
};
use crate::{
    groups::Audience,
    message::{Attestation, Branch, MAX_RESULT, Signed, TaskResult, candidate_for},
};

impl Node {
    /// Goes on with the operator's verdict in a round, and says when to look again.
    pub(super) fn own_verdict(
        &mut self,
        id: B256,
        task: &mut OpenTask,
        key: (u64, SnapshotId),
        out: &mut Vec<NodeOutput>,
    ) -> Option<u64> {
        let round = task.rounds.get_mut(&key)?;
        let own = round.own?;
        match round.duty {
            Duty::Validating | Duty::Done | Duty::Abstained => return None,
            Duty::Idle if self.now < round.judge.at => return Some(round.judge.at),
            Duty::Signing(_, at) if self.now < at => return Some(at),
            Duty::Idle | Duty::Signing(..) => {}
        }
        if let Some(verdict) = self.saved.verdict_in(id, key) {
            let candidate = verdict.candidate;
            return self.say(task, candidate, out);
        }
        if own == round.performer {
            if !self.settings.roles.perform || round.result.is_some() {
                return None;
            }
            let Some((last, bytes)) = self.saved.results.get_mut(&id) else {
                return match task.execution {
                    Execution::Idle if self.now < task.execute.at => Some(task.execute.at),
                    Execution::Running => None,
                    Execution::Idle => {
                        task.execution = Execution::Running;
                        out.push(NodeOutput::Execute { id, epoch: key.0, payload: task.payload.clone() });
                        None
                    }
                };
            };
            if *last < key.0 {
                *last = key.0;
                self.unsaved = true;
            }
            let candidate = candidate_for(key.0, key.1, id, own, bytes);
            return self.say(task, candidate, out);
        }
        let result = round.result.as_ref().filter(|_| self.settings.roles.attest)?;
        let candidate = *result.candidate();
        if !self.saved.permits(&candidate) && !self.saved.permits(&Task { approved: false, ..candidate }) {
            round.duty = Duty::Abstained;
            out.push(NodeOutput::Abstained { candidate });
            return None;
        }
        round.duty = Duty::Validating;
        out.push(NodeOutput::Validate { candidate, payload: task.payload.clone(), bytes: result.bytes().clone() });
        None
    }

    /// Signs a candidate and publishes the signature, as far as the signer has answered.
    fn say(&mut self, task: &mut OpenTask, candidate: Task, out: &mut Vec<NodeOutput>) -> Option<u64> {
        let key = (candidate.epoch, candidate.snapshot);
        let again = self.now + self.settings.retry;
        let round = task.rounds.get_mut(&key)?;
        match self.saved.verdict_in(candidate.id, key) {
            Some(SavedVerdict { candidate: signed, signature: Some(signature) }) if *signed == candidate => {
                round.duty = Duty::Done;
                let signature = signature.clone();
                self.publish(task, candidate, signature, out);
                return None;
            }
            Some(begun) if begun.candidate == candidate => {}
            None if self.saved.permits(&candidate) => {
                let verdict = SavedVerdict { candidate, signature: None };
                self.saved.verdicts.entry(candidate.id).or_default().push(verdict);
                self.unsaved = true;
            }
            _ => {
                round.duty = Duty::Abstained;
                out.push(NodeOutput::Abstained { candidate });
                return None;
            }
        }
        round.duty = Duty::Signing(candidate, again);
        out.push(NodeOutput::Sign { candidate });
        Some(again)
    }

    fn publish(&mut self, task: &mut OpenTask, candidate: Task, signature: Bytes, out: &mut Vec<NodeOutput>) {
        let key = (candidate.epoch, candidate.snapshot);
        let Some(round) = task.rounds.get_mut(&key) else { return };
        let Some(own) = round.own else { return };
        round.spoke_at = Some(self.now);
        let group = round.groups.group(own).map(|number| Branch { level: 0, number });
        let group = group.map_or(Audience::Everybody, |group| round.groups.audience(group));
        let result = self.saved.results.get(&candidate.id).filter(|_| own == round.performer);
        let (message, audience) = if let Some((_, bytes)) = result {
            let result = TaskResult::new(key.0, key.1, candidate.id, own, bytes.clone(), signature)
                .expect("lengths were checked when the program and the signer answered");
            round.result.get_or_insert_with(|| result.clone());
            (Signed::Result(result), Audience::Everybody)
        } else {
            let attestation = Attestation::new(candidate, own, signature);
            (Signed::Attestation(attestation.expect("the length was checked when the signer answered")), group)
        };
        for attestation in message.attestations() {
            self.insert(task, attestation, out);
        }
        out.push(NodeOutput::Publish(message, audience));
    }

    pub(super) fn executed(&mut self, id: B256, bytes: Bytes, out: &mut Vec<NodeOutput>) {
        let Some(task) = self.tasks.get_mut(&id) else { return };
        task.execution = Execution::Idle;
        if bytes.len() > MAX_RESULT {
            task.execute.failed(&self.settings, self.now);
        } else {
            let last = task.epochs.last().copied().unwrap_or(self.epoch);
            self.saved.results.entry(id).or_insert((last, bytes));
            self.unsaved = true;
        }
        self.look_at(id, out);
    }

    /// The user's program has judged a result, or failed (`None`).
    pub(super) fn validated(&mut self, candidate: &Task, approved: Option<bool>, out: &mut Vec<NodeOutput>) {
        let key = (candidate.epoch, candidate.snapshot);
        let usable = self.is_open(key.0) && self.is_in_chain(key.0, key.1) && !self.settled.contains_key(&candidate.id);
        let Some(mut task) = self.tasks.remove(&candidate.id) else { return };
        if let Some(round) = task.rounds.get_mut(&key)
            && round.duty == Duty::Validating
            && round.result.as_ref().is_some_and(|result| result.candidate() == candidate)
        {
            match approved {
                None => {
                    round.judge.failed(&self.settings, self.now);
                    round.duty = Duty::Idle;
                }
                // If the chain returns to the snapshot, or undoes the settlement, the program judges again.
                Some(_) if !usable => round.duty = Duty::Idle,
                Some(approved) => {
                    self.say(&mut task, Task { approved, ..*candidate }, out);
                }
            }
        }
        self.tasks.insert(candidate.id, task);
        self.look_at(candidate.id, out);
    }

    pub(super) fn signed(&mut self, candidate: Task, signature: Bytes, out: &mut Vec<NodeOutput>) {
        // A signer whose answer has no possible length is asked again after `retry`.
        if Attestation::new(candidate, 0, signature.clone()).is_err() {
            return;
        }
        let verdicts = self.saved.verdicts.get_mut(&candidate.id).into_iter().flatten();
        let Some(verdict) = verdicts.into_iter().find(|verdict| verdict.candidate == candidate) else { return };
        // The signer may be asked twice, and its answer is the same then.
        if verdict.signature.as_ref() != Some(&signature) {
            verdict.signature = Some(signature);
            self.unsaved = true;
        }
        self.set_duty(&candidate, Duty::Idle);
        self.look_at(candidate.id, out);
    }

    pub(super) fn sign_refused(&mut self, candidate: Task, refusal: SignerRefusal, out: &mut Vec<NodeOutput>) {
        match refusal {
            SignerRefusal::NotNow => {
                self.set_duty(&candidate, Duty::Signing(candidate, self.now + self.settings.retry));
            }
            SignerRefusal::Conflict => {
                if let Some(verdicts) = self.saved.verdicts.get_mut(&candidate.id) {
                    verdicts.retain(|verdict| verdict.candidate != candidate);
                    self.unsaved = true;
                }
                self.set_duty(&candidate, Duty::Abstained);
                out.push(NodeOutput::Abstained { candidate });
            }
        }
        self.look_at(candidate.id, out);
    }

    /// Sets how far a verdict is, if the signer was asked for it.
    fn set_duty(&mut self, candidate: &Task, duty: Duty) {
        let key = (candidate.epoch, candidate.snapshot);
        if let Some(round) = self.tasks.get_mut(&candidate.id).and_then(|task| task.rounds.get_mut(&key))
            && matches!(round.duty, Duty::Signing(asked, _) if asked == *candidate)
        {
            round.duty = duty;
        }
    }
}
