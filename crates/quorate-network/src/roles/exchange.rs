//! What gossip lost: a node tells a peer what it holds of its open tasks, and the peer sends the rest.
//!
//! A node asks as long as a task is open, settled or not: two nodes may each hold one half of a conflict. The questions
//! become rarer, down to one in `ask_most`. They have the same times for all tasks, multiples of `ask_first`, so that one
//! request asks about many.
//!
//! A question also tells what the asker holds. If that is a result or a signature that this node lacks of an open task, it
//! asks the asker back, once a task and period: whom it would ask by itself is chance, and the asker may be the only one
//! that has it.
//!
//! What a sum holds counts as held. But who signed two candidates that conflict, at least one of them in a sum, is a
//! *suspect*: a sum is not evidence, so a node asks for a suspect's attestations.

use std::collections::{BTreeMap, BTreeSet};

use quorate_evm::{
    MemberSet, Task,
    alloy_primitives::{Address, B256},
};

use super::{
    event::{NodeOutput, PeerSource},
    state::{HeldSum, Node, OpenTask, Round},
};
use crate::groups::Audience;
use crate::message::{
    Branch, ConflictEvidence, HeldBallot, HeldTask, MAX_ANSWER_ATTESTATIONS, MAX_ANSWER_RESULTS, MAX_ANSWER_SUMS,
    MAX_BITMAP, MAX_EVIDENCE, MAX_HELD, MAX_MESSAGE, MAX_REQUEST_TASKS, PeerAnswer, PeerRequest,
};

impl Node {
    /// Notes that a peer shall be asked about a task, if it is time, and says when it is time again.
    pub(super) fn when_to_ask(&mut self, id: B256, task: &mut OpenTask) -> Option<u64> {
        if self.now >= task.ask_at {
            self.to_ask.push(id);
            task.asked += 1;
            task.ask_interval = (task.ask_interval * 2).min(self.settings.ask_most);
            // A tick that comes a little late moves nothing.
            let period = self.now - self.now % self.settings.ask_first;
            task.ask_at = self.period_after(period + task.ask_interval);
        }
        Some(task.ask_at)
    }

    /// The first time from this one on at which questions are asked.
    pub(super) fn period_after(&self, time: u64) -> u64 {
        time.next_multiple_of(self.settings.ask_first)
    }

    /// A peer answered as much as an answer takes, so there may be more. Whatever was asked about and is not settled is asked
    /// about soon.
    pub(super) fn ask_on(&mut self, out: &mut Vec<NodeOutput>) {
        let (interval, soon) = (self.settings.ask_first, self.period_after(self.now + self.settings.ask_first));
        let asked = self.tasks.iter_mut().filter(|(id, task)| task.asked > 0 && !self.settled.contains_key(*id));
        let asked: Vec<B256> = asked
            .map(|(id, task)| {
                task.ask_interval = interval;
                task.ask_at = task.ask_at.min(soon);
                *id
            })
            .collect();
        asked.into_iter().for_each(|id| self.look_at(id, out));
    }

    /// Asks about all tasks whose time has come, with as few requests as the limits allow.
    pub(super) fn ask(&mut self, out: &mut Vec<NodeOutput>) {
        let ids = std::mem::take(&mut self.to_ask);
        let mut requests: BTreeMap<Audience, (PeerRequest, usize)> = BTreeMap::new();
        for id in ids {
            let Some(task) = self.tasks.get(&id) else { continue };
            let suspects = self.suspects(id, task);
            let rounds = task.rounds.iter();
            for (_, round) in rounds.filter(|((epoch, snapshot), _)| self.is_in_chain(*epoch, *snapshot)) {
                let held = self.held(id, round, &suspects);
                let more = size_of_held(&held);
                let audience = whom_to_ask(task.asked, round, &suspects);
                let (request, size) = requests.entry(audience).or_default();
                if *size + more > MAX_MESSAGE - HEADER || request.tasks.len() == MAX_REQUEST_TASKS {
                    out.push(NodeOutput::Ask(std::mem::take(request), audience));
                    *size = 0;
                }
                *size += more;
                request.tasks.push(held);
            }
        }
        for (audience, (request, _)) in requests {
            out.push(NodeOutput::Ask(request, audience));
        }
    }

    /// Who signed candidates that conflict, as far as sums tell it too, and without evidence so far.
    fn suspects(&self, id: B256, task: &OpenTask) -> BTreeSet<Address> {
        let mut signed: BTreeMap<Address, BTreeSet<Task>> = BTreeMap::new();
        if task.rounds.values().all(|round| round.sums.is_empty()) {
            return BTreeSet::new();
        }
        for ((epoch, snapshot), round) in &task.rounds {
            if !self.is_in_chain(*epoch, *snapshot) {
                continue;
            }
            let singly = round.attested.values().map(|attestation| (attestation.index(), *attestation.candidate()));
            let summed = round.sums.iter().flat_map(|((result, approved), sums)| {
                let (epoch, snapshot) = (*epoch, *snapshot);
                let (performer, result, approved) = (round.performer, *result, *approved);
                let candidate = Task { epoch, snapshot, id, performer: performer.into(), result, approved };
                let signers = sums.values().flatten().flat_map(|held| held.signers.iter());
                signers.filter_map(move |index| Some((u32::try_from(index).ok()?, candidate)))
            });
            for (index, candidate) in singly.chain(summed) {
                if let Some(operator) = round.snapshot.owner(index) {
                    signed.entry(operator).or_default().insert(candidate);
                }
            }
        }
        let conflict = |candidates: &BTreeSet<Task>| {
            candidates.iter().any(|one| candidates.iter().any(|other| one.is_slashed_with(other)))
        };
        let proven = |operator: &Address| self.conflicts.contains_key(&(*operator, id));
        let signed = signed.into_iter().filter(|(operator, candidates)| !proven(operator) && conflict(candidates));
        signed.map(|(operator, _)| operator).collect()
    }

    fn held(&self, id: B256, round: &Round, suspects: &BTreeSet<Address>) -> HeldTask {
        let mut ballots: BTreeMap<(B256, bool), MemberSet> = BTreeMap::new();
        for (ballot, held) in round.held.iter().filter(|(ballot, _)| round.sums.contains_key(*ballot)) {
            let suspect = |index: usize| {
                let owner = u32::try_from(index).ok().and_then(|index| round.snapshot.owner(index));
                owner.is_some_and(|owner| suspects.contains(&owner))
            };
            ballots.insert(*ballot, held.signers.iter().filter(|index| !suspect(*index)).collect());
        }
        for attestation in round.attested.values().filter(|held| round.names_elected(held.candidate())) {
            let candidate = attestation.candidate();
            ballots.entry((candidate.result, candidate.approved)).or_default().insert(attestation.index() as usize);
        }
        // Keys of a table that a bitmap cannot name are asked for each time: no network has so many.
        ballots.retain(|_, signers| signers.as_bytes().len() <= MAX_BITMAP);
        let ballots = ballots.into_iter().take(MAX_HELD);
        let accused = self.evidence_of(id).filter_map(|(operator, _)| round.snapshot.index_of(operator));
        let accused = accused.map(|index| index as usize).filter(|index| *index < 8 * MAX_BITMAP).collect();
        HeldTask {
            id,
            epoch: round.snapshot.epoch(),
            snapshot: round.snapshot.id(),
            result: round.result.as_ref().map(|result| result.candidate().result),
            ballots: ballots.map(|((result, approved), signers)| HeldBallot { result, approved, signers }).collect(),
            accused,
        }
    }

    /// Answers a peer with what it does not hold, as much as one answer takes, and asks it for what this node does not hold.
    /// An answer may be empty: a peer that gets none waits for it, and asks others less.
    pub(super) fn answer(&mut self, source: PeerSource, request: &PeerRequest, out: &mut Vec<NodeOutput>) {
        out.push(NodeOutput::Answer { to: source, answer: self.answer_to(request) });
        let request = self.asked_back(source, request);
        if !request.tasks.is_empty() {
            out.push(NodeOutput::AskPeer { peer: source, request });
        }
    }

    /// What a peer is asked that has shown what it holds.
    fn asked_back(&mut self, source: PeerSource, shown: &PeerRequest) -> PeerRequest {
        let period = self.now / self.settings.ask_first;
        if self.asked_back.0 != period {
            self.asked_back = (period, BTreeSet::new());
        }
        let (mut request, mut size) = (PeerRequest::default(), HEADER);
        for theirs in shown.tasks.iter().take(MAX_REQUEST_TASKS) {
            let Some(task) = self.tasks.get(&theirs.id).filter(|_| !self.settled.contains_key(&theirs.id)) else {
                continue;
            };
            let round = task.rounds.get(&(theirs.epoch, theirs.snapshot));
            let round = round.filter(|_| self.is_in_chain(theirs.epoch, theirs.snapshot));
            let Some(round) = round.filter(|round| self.lacks(round, theirs)) else { continue };
            let held = self.held(theirs.id, round, &self.suspects(theirs.id, task));
            size += size_of_held(&held);
            if size > MAX_MESSAGE {
                break;
            }
            if self.asked_back.1.insert((source, theirs.id)) {
                request.tasks.push(held);
            }
        }
        request
    }

    /// Whether a peer shows a result or a signature that this node does not hold. In a network of groups, of signatures those
    /// of its own group count: others come in sums.
    fn lacks(&self, round: &Round, theirs: &HeldTask) -> bool {
        let own_group = round.own.and_then(|own| round.groups.group(own));
        let is_heard = |index: u32| {
            let group = round.groups.group(index);
            group.is_some() && (round.groups.top() == 0 || group == own_group)
        };
        let accused = |index: u32| {
            let owner = round.snapshot.owner(index);
            owner.is_some_and(|owner| self.conflicts.contains_key(&(owner, theirs.id)))
        };
        let held = |ballot: (B256, bool), index: u32| {
            let single = round.attested.get(&index).map(|held| (held.candidate().result, held.candidate().approved));
            single == Some(ballot)
                || round.held.get(&ballot).is_some_and(|support| support.signers.contains(index as usize))
        };
        let signer = |ballot: &HeldBallot| {
            let mut signers = ballot.signers.iter().filter_map(|index| u32::try_from(index).ok());
            let ballot = (ballot.result, ballot.approved);
            signers.any(|index| is_heard(index) && !held(ballot, index) && !accused(index))
        };
        (theirs.result.is_some() && round.result.is_none()) || theirs.ballots.iter().any(signer)
    }

    fn answer_to(&self, request: &PeerRequest) -> PeerAnswer {
        let mut answer = PeerAnswer::default();
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
                let known = known || !round.names_elected(candidate);
                let listed = held.ballots.iter().any(|ballot| {
                    (ballot.result, ballot.approved) == (candidate.result, candidate.approved)
                        && ballot.signers.contains(index as usize)
                });
                if !known && !listed && answer.attestations.len() < MAX_ANSWER_ATTESTATIONS {
                    answer.attestations.push(attestation.clone());
                }
            }
            // Sums come after the result: the peer has yet to verify the one of this answer, and takes no sums without it. Those
            // of the largest branches first.
            for (ballot, sums) in round.sums.iter().filter(|(ballot, _)| held.result == Some(ballot.0)) {
                let listed = held.ballots.iter().find(|listed| (listed.result, listed.approved) == *ballot);
                let news = |held: &&HeldSum| listed.is_none_or(|listed| !held.signers.is_subset(&listed.signers));
                for held in sums.values().rev().flatten().filter(news) {
                    if answer.sums.len() < MAX_ANSWER_SUMS {
                        answer.sums.push(held.sum.clone());
                    }
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
        answer
    }

    /// Evidence of conflicts about a task, and who signed both.
    fn evidence_of(
        &self,
        id: B256,
    ) -> impl Iterator<Item = (quorate_evm::alloy_primitives::Address, &ConflictEvidence)> {
        let of_task = self.conflicts.iter().filter(move |((_, of), _)| *of == id);
        of_task.map(|((operator, _), conflict)| (*operator, &conflict.evidence))
    }
}

/// Who may have what a node misses of a round. In turn: everybody, the group of a suspect, the own group. Without a suspect the
/// own group takes its turn.
fn whom_to_ask(turn: u64, round: &Round, suspects: &BTreeSet<Address>) -> Audience {
    let suspects: Vec<u32> = suspects.iter().filter_map(|suspect| round.snapshot.index_of(*suspect)).collect();
    let suspect = (turn / 3).checked_rem(suspects.len() as u64).and_then(|at| suspects.get(at as usize)).copied();
    let member = match turn % 3 {
        1 => None,
        2 => suspect.or(round.own),
        _ => round.own,
    };
    let group = member.and_then(|index| round.groups.group(index));
    group.map_or(Audience::Everybody, |number| round.groups.audience(Branch { level: 0, number }))
}

/// The most bytes of a request before its first task.
const HEADER: usize = 64;

/// The most bytes that a task takes in a request: lengths and integers are below ten bytes each.
fn size_of_held(held: &HeldTask) -> usize {
    let ballots: usize = held.ballots.iter().map(|ballot| 43 + ballot.signers.as_bytes().len()).sum();
    32 + 10 + 20 + 33 + 10 + ballots + 10 + held.accused.as_bytes().len()
}
