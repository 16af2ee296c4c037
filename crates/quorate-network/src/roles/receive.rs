//! Signed messages: what is kept of them, and what they prove.
//!
//! Of each signer, a round keeps the first attestation. A second one that conflicts becomes evidence and is not counted.

use std::collections::btree_map::Entry;

use quorate_evm::{
    Task,
    alloy_primitives::{Address, B256},
};

use super::{
    event::{NodeOutput, PeerSource},
    state::{Conflict, Node, OpenTask, Ready, Retry, Round},
};
use crate::{
    groups::Audience,
    message::{Attestation, ConflictEvidence, PartialSum, Signed},
};

impl Node {
    pub(super) fn receive(&mut self, source: PeerSource, message: &Signed, out: &mut Vec<NodeOutput>) {
        let screened = self.screen(message);
        match screened {
            Ok(()) => out.push(NodeOutput::Accepted { source }),
            Err(refusal) => {
                out.push(NodeOutput::Refused { source, refusal });
                if !refusal.is_worth_verifying() {
                    return;
                }
            }
        }
        if let Signed::Evidence(evidence) = message {
            // The message itself is forwarded, so it is not published again.
            if let Ok(operator) = self.accused(evidence) {
                self.add_conflict(operator, evidence.clone(), out);
            }
            return;
        }
        if let Signed::Sum(sum) = message {
            return if screened.is_ok() {
                self.insert_sum(sum, out)
            };
        }
        for attestation in message.attestations() {
            let id = attestation.candidate().id;
            let Some(mut task) = self.tasks.remove(&id) else { continue };
            if let (Signed::Result(result), Ok(())) = (message, screened) {
                let key = (result.candidate().epoch, result.candidate().snapshot);
                if let Some(round) = task.rounds.get_mut(&key) {
                    round.result = Some(result.clone());
                    // If it came as an answer, the sums that belong to it are asked for soon.
                    if task.asked > 0 && round.groups.top() != 0 {
                        task.ask_interval = self.settings.ask_first;
                        task.ask_at = self.period_after(self.now + task.ask_interval);
                    }
                }
            }
            self.insert(&mut task, attestation, out);
            self.tasks.insert(id, task);
            self.look_at(id, out);
        }
    }

    /// Counts an attestation if its signer has none in the round, and compares it with all others of its signer.
    pub(super) fn insert(&mut self, task: &mut OpenTask, attestation: &Attestation, out: &mut Vec<NodeOutput>) {
        let candidate = *attestation.candidate();
        let key = (candidate.epoch, candidate.snapshot);
        let Some(round) = task.rounds.get_mut(&key) else { return };
        let Some(operator) = round.snapshot.owner(attestation.index()) else { return };
        match round.attested.entry(attestation.index()) {
            Entry::Occupied(first) => {
                let evidence = ConflictEvidence::new(first.get().clone(), attestation.clone());
                evidence.into_iter().for_each(|evidence| self.found_conflict(operator, evidence, out));
            }
            Entry::Vacant(place) => {
                place.insert(attestation.clone());
                if round.names_elected(&candidate) {
                    round.add_attestation((candidate.result, candidate.approved), attestation.index());
                    self.count(round, candidate);
                }
            }
        }
        for evidence in task.conflicts_across(operator, attestation).collect::<Vec<_>>() {
            if self.is_reportable(&evidence) {
                self.found_conflict(operator, evidence, out);
            }
        }
    }

    fn insert_sum(&mut self, sum: &PartialSum, out: &mut Vec<NodeOutput>) {
        let candidate = *sum.candidate();
        let Some(signers) = self.signers(sum) else { return };
        let Some(mut task) = self.tasks.remove(&candidate.id) else { return };
        if let Some(round) = task.rounds.get_mut(&(candidate.epoch, candidate.snapshot)) {
            round.insert_sum(sum.clone(), signers);
            self.count(round, candidate);
        }
        self.tasks.insert(candidate.id, task);
        self.look_at(candidate.id, out);
    }

    /// Notes whether a candidate weighs enough to settle.
    fn count(&mut self, round: &mut Round, candidate: Task) {
        let held = round.held.get(&(candidate.result, candidate.approved));
        if round.ready.is_none() && held.is_some_and(|held| held.weight > round.snapshot.required()) {
            let place = self.place(&round.snapshot, candidate.id);
            let begins = self.now + self.settings.stragglers;
            round.ready = Some(Ready { candidate, begins, place });
        }
        let Some(ready) = &round.ready else { return };
        let signed = if round.sums.is_empty() {
            round.attested.len()
        } else {
            let held = round.held.get(&(ready.candidate.result, ready.candidate.approved));
            held.map_or(0, |held| held.signers.len())
        };
        if signed == round.members
            && let Some(ready) = &mut round.ready
        {
            ready.begins = ready.begins.min(self.now);
        }
    }

    /// Compares what each operator signed for a task in two epochs, after the chain has taken or replaced a snapshot.
    pub(super) fn compare_epochs(&mut self, id: B256, out: &mut Vec<NodeOutput>) {
        let Some(task) = self.tasks.get(&id) else { return };
        let rounds: Vec<_> =
            task.rounds.iter().filter(|((epoch, snapshot), _)| self.is_in_chain(*epoch, *snapshot)).collect();
        let mut found = Vec::new();
        for (place, ((epoch, _), round)) in rounds.iter().enumerate() {
            for ((other_epoch, _), other) in &rounds[..place] {
                for (index, attestation) in round.attested.iter().filter(|_| epoch != other_epoch) {
                    let Some(operator) = round.snapshot.owner(*index) else { continue };
                    let held = other.snapshot.index_of(operator).and_then(|index| other.attested.get(&index));
                    let evidence = held.and_then(|held| ConflictEvidence::new(held.clone(), attestation.clone()));
                    found.extend(evidence.map(|evidence| (operator, evidence)));
                }
            }
        }
        for (operator, evidence) in found {
            self.found_conflict(operator, evidence, out);
        }
    }

    /// A conflict that this node found: everybody shall know it.
    fn found_conflict(&mut self, operator: Address, evidence: ConflictEvidence, out: &mut Vec<NodeOutput>) {
        if self.add_conflict(operator, evidence.clone(), out) {
            out.push(NodeOutput::Publish(Signed::Evidence(evidence), Audience::Everybody));
        }
    }

    /// Keeps evidence of a conflict, and says whether it is new. There is one for each operator and id: that of the latest
    /// epoch, because the contract slashes again for a later epoch, and not for an earlier one. Evidence that the chain can
    /// use takes the place of evidence that it cannot.
    fn add_conflict(&mut self, operator: Address, evidence: ConflictEvidence, out: &mut Vec<NodeOutput>) -> bool {
        let id = evidence.id();
        match self.conflicts.get(&(id, operator)).map(|held| &held.evidence) {
            Some(_) if !self.is_reportable(&evidence) => return false,
            Some(held) if self.is_reportable(held) && evidence.epoch() <= held.epoch() => return false,
            _ => {}
        }
        self.unsaved |= self.saved.keep_evidence(operator, &evidence);
        match self.conflicts.entry((id, operator)) {
            Entry::Occupied(mut held) => {
                let conflict = held.get_mut();
                (conflict.evidence, conflict.place, conflict.report) = (evidence, None, Retry::default());
            }
            Entry::Vacant(place) => {
                place.insert(Conflict::new(evidence, self.now));
                self.found += 1;
                out.push(NodeOutput::ConflictFound { operator, id });
            }
        }
        self.look_at_conflict(operator, id, out);
        true
    }
}
