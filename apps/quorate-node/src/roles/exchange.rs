//! What gossip lost: a node tells a peer what it holds of its open tasks, and the peer sends the rest.
//!
//! A node asks as long as a task is open, settled or not: two nodes may each hold one half of a conflict. The questions
//! become rarer, down to one in `ask_most`.

use std::collections::BTreeMap;

use quorate_evm::{MemberSet, alloy_primitives::B256};

use super::{
    event::{Output, Source},
    state::{Node, Round, Task},
};
use crate::message::{
    Answer, Evidence, Held, HeldBallot, MAX_ANSWER_ATTESTATIONS, MAX_ANSWER_RESULTS, MAX_BITMAP, MAX_EVIDENCE,
    MAX_HELD, MAX_MESSAGE, MAX_REQUEST_TASKS, Request,
};

impl Node {
    /// Notes that a peer shall be asked about a task, if it is time, and says when it is time again.
    pub(super) fn when_to_ask(&mut self, id: B256, task: &mut Task) -> Option<u64> {
        if self.now >= task.ask_at {
            self.to_ask.push(id);
            task.ask_interval = (task.ask_interval * 2).min(self.settings.ask_most);
            task.ask_at = self.now + task.ask_interval;
        }
        Some(task.ask_at)
    }

    /// Asks about all tasks whose time has come, with as few requests as the limits allow.
    pub(super) fn ask(&mut self, out: &mut Vec<Output>) {
        let ids = std::mem::take(&mut self.to_ask);
        let mut request = Request::default();
        let mut size = 0;
        for id in ids {
            let Some(task) = self.tasks.get(&id) else { continue };
            let rounds = task.rounds.iter();
            for (_, round) in rounds.filter(|((epoch, snapshot), _)| self.is_in_chain(*epoch, *snapshot)) {
                let held = self.held(id, round);
                let more = size_of_held(&held);
                if size + more > MAX_MESSAGE - HEADER || request.tasks.len() == MAX_REQUEST_TASKS {
                    out.push(Output::Ask(std::mem::take(&mut request)));
                    size = 0;
                }
                size += more;
                request.tasks.push(held);
            }
        }
        if !request.tasks.is_empty() {
            out.push(Output::Ask(request));
        }
    }

    fn held(&self, id: B256, round: &Round) -> Held {
        let mut ballots: BTreeMap<(B256, bool), MemberSet> = BTreeMap::new();
        for attestation in round.attested.values().filter(|held| held.candidate().performer == round.performer) {
            let candidate = attestation.candidate();
            ballots.entry((candidate.result, candidate.approved)).or_default().insert(attestation.index() as usize);
        }
        // Keys of a table that a bitmap cannot name are asked for each time: no network has so many.
        ballots.retain(|_, signers| signers.as_bytes().len() <= MAX_BITMAP);
        let ballots = ballots.into_iter().take(MAX_HELD);
        let accused = self.evidence_of(id).filter_map(|(operator, _)| round.snapshot.index_of(operator));
        let accused = accused.map(|index| index as usize).filter(|index| *index < 8 * MAX_BITMAP).collect();
        Held {
            id,
            epoch: round.snapshot.epoch(),
            snapshot: round.snapshot.id(),
            result: round.result.as_ref().map(|result| result.candidate().result),
            ballots: ballots.map(|((result, approved), signers)| HeldBallot { result, approved, signers }).collect(),
            accused,
        }
    }

    /// Answers a peer with what it does not hold, as much as one answer takes.
    pub(super) fn answer(&self, source: Source, request: &Request, out: &mut Vec<Output>) {
        let mut answer = Answer::default();
        for held in request.tasks.iter().take(MAX_REQUEST_TASKS) {
            let task = self.tasks.get(&held.id);
            let Some(round) = task.and_then(|task| task.rounds.get(&(held.epoch, held.snapshot))) else { continue };
            let mut implied = held.result;
            if let (None, Some(result)) = (held.result, &round.result)
                && answer.results.len() < MAX_ANSWER_RESULTS
            {
                implied = Some(result.candidate().result);
                answer.results.push(result.clone());
            }
            for attestation in round.attested.values() {
                let candidate = attestation.candidate();
                let index = attestation.index();
                // A result is its performer's attestation. One that names another performer would be refused.
                let known = index == round.performer && candidate.approved && implied == Some(candidate.result);
                let known = known || candidate.performer != round.performer;
                let listed = held.ballots.iter().any(|ballot| {
                    (ballot.result, ballot.approved) == (candidate.result, candidate.approved)
                        && ballot.signers.contains(index as usize)
                });
                if !known && !listed && answer.attestations.len() < MAX_ANSWER_ATTESTATIONS {
                    answer.attestations.push(attestation.clone());
                }
            }
            for (operator, evidence) in self.evidence_of(held.id) {
                let index = round.snapshot.index_of(operator);
                let known = index.is_some_and(|index| held.accused.contains(index as usize));
                if !known && self.is_reportable(evidence) && answer.evidence.len() < MAX_EVIDENCE {
                    answer.evidence.push(evidence.clone());
                }
            }
        }
        if !answer.is_empty() {
            out.push(Output::Answer { to: source, answer });
        }
    }

    /// Evidence of conflicts about a task, and who signed both.
    fn evidence_of(&self, id: B256) -> impl Iterator<Item = (quorate_evm::alloy_primitives::Address, &Evidence)> {
        let of_task = self.conflicts.iter().filter(move |((_, of), _)| *of == id);
        of_task.map(|((operator, _), conflict)| (*operator, &conflict.evidence))
    }
}

/// The most bytes of a request before its first task.
const HEADER: usize = 64;

/// The most bytes that a task takes in a request: lengths and integers are below ten bytes each.
fn size_of_held(held: &Held) -> usize {
    let ballots: usize = held.ballots.iter().map(|ballot| 43 + ballot.signers.as_bytes().len()).sum();
    32 + 10 + 20 + 33 + 10 + ballots + 10 + held.accused.as_bytes().len()
}
