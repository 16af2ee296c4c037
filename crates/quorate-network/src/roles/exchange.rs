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
    state::{Ballot, HeldSum, Node, OpenTask, Round},
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
        let proven = |operator: &Address| self.conflicts.contains_key(&(id, *operator));
        let signed = signed.into_iter().filter(|(operator, candidates)| !proven(operator) && conflict(candidates));
        signed.map(|(operator, _)| operator).collect()
    }

    fn held(&self, id: B256, round: &Round, suspects: &BTreeSet<Address>) -> HeldTask {
        let mut ballots: BTreeMap<Ballot, MemberSet> = BTreeMap::new();
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
        // An honest node names a round once. A repetition would cost as much as the first entry, and bring nothing.
        let mut named = BTreeSet::new();
        let entries = request.tasks.iter().take(MAX_REQUEST_TASKS);
        let shown: Vec<_> = entries.filter(|held| named.insert((held.id, held.epoch, held.snapshot))).collect();
        out.push(NodeOutput::Answer { to: source, answer: self.answer_to(&shown) });
        let request = self.asked_back(source, &shown);
        if !request.tasks.is_empty() {
            out.push(NodeOutput::AskPeer { peer: source, request });
        }
    }

    /// What a peer is asked that has shown what it holds.
    ///
    /// Cost: that of [`lacks`](Self::lacks) for each entry; a pass over what is held of a task, once a period.
    fn asked_back(&mut self, source: PeerSource, shown: &[&HeldTask]) -> PeerRequest {
        let period = self.now / self.settings.ask_first;
        if self.asked_back.0 != period {
            self.asked_back = (period, BTreeSet::new());
        }
        let (mut request, mut size) = (PeerRequest::default(), HEADER);
        for theirs in shown {
            let was_asked = self.asked_back.1.contains(&(source, theirs.id));
            let wanted = !was_asked && !self.settled.contains_key(&theirs.id);
            let Some(task) = self.tasks.get(&theirs.id).filter(|_| wanted) else { continue };
            let round = task.rounds.get(&(theirs.epoch, theirs.snapshot));
            let round = round.filter(|_| self.is_in_chain(theirs.epoch, theirs.snapshot));
            let Some(round) = round.filter(|round| self.lacks(round, theirs)) else { continue };
            let held = self.held(theirs.id, round, &self.suspects(theirs.id, task));
            size += size_of_held(&held);
            if size > MAX_MESSAGE {
                break;
            }
            self.asked_back.1.insert((source, theirs.id));
            request.tasks.push(held);
        }
        request
    }

    /// Whether a peer shows a result or a signature that this node does not hold. In a network of groups, of signatures those
    /// of its own group count: others come in sums.
    ///
    /// Cost: a look at a bit for each member of the group and each ballot, whatever bits the peer has set.
    fn lacks(&self, round: &Round, theirs: &HeldTask) -> bool {
        let own = round.own.and_then(|own| round.groups.group(own)).map(|number| Branch { level: 0, number });
        let heard = if round.groups.top() == 0 { Some(round.groups.whole()) } else { own };
        let heard: &[u32] = heard.map_or(&[], |group| round.groups.members(group));
        let accused = |index: u32| {
            let owner = round.snapshot.owner(index);
            owner.is_some_and(|owner| self.conflicts.contains_key(&(theirs.id, owner)))
        };
        let held = |ballot: Ballot, index: u32| {
            let single = round.attested.get(&index).map(|held| (held.candidate().result, held.candidate().approved));
            single == Some(ballot)
                || round.held.get(&ballot).is_some_and(|support| support.signers.contains(index as usize))
        };
        let shows = |signers: &MemberSet, index: u32| {
            #[cfg(test)]
            self.looked_at.set(self.looked_at.get() + 1);
            signers.contains(index as usize)
        };
        let news = |(ballot, signers): (Ballot, &MemberSet)| {
            heard.iter().any(|index| shows(signers, *index) && !held(ballot, *index) && !accused(*index))
        };
        (theirs.result.is_some() && round.result.is_none()) || ballots_of(theirs).into_iter().any(news)
    }

    /// What a peer does not hold.
    ///
    /// Cost: a look at each attestation and sum that is held of the tasks in question.
    fn answer_to(&self, shown: &[&HeldTask]) -> PeerAnswer {
        let mut answer = PeerAnswer::default();
        for held in shown {
            let ballots = ballots_of(held);
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
                let listed = ballots.get(&(candidate.result, candidate.approved));
                let listed = listed.is_some_and(|signers| signers.contains(index as usize));
                #[cfg(test)]
                self.looked_at.set(self.looked_at.get() + 1);
                if !known && !listed && answer.attestations.len() < MAX_ANSWER_ATTESTATIONS {
                    answer.attestations.push(attestation.clone());
                }
            }
            // Sums come after the result: the peer has yet to verify the one of this answer, and takes no sums without it. Those
            // of the largest branches first.
            for (ballot, sums) in round.sums.iter().filter(|(ballot, _)| held.result == Some(ballot.0)) {
                let listed = ballots.get(ballot);
                let news = |held: &&HeldSum| listed.is_none_or(|listed| !held.signers.is_subset(listed));
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
    pub(super) fn evidence_of(&self, id: B256) -> impl Iterator<Item = (Address, &ConflictEvidence)> {
        let of_task = self.conflicts.range((id, Address::ZERO)..=(id, Address::repeat_byte(0xff)));
        of_task.map(|((_, operator), conflict)| (*operator, &conflict.evidence))
    }
}

/// What a peer shows, by ballot. An honest node shows a ballot once; of repetitions the first counts.
fn ballots_of(held: &HeldTask) -> BTreeMap<Ballot, &MemberSet> {
    let mut ballots = BTreeMap::new();
    for HeldBallot { result, approved, signers } in &held.ballots {
        ballots.entry((*result, *approved)).or_insert(signers);
    }
    ballots
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quorate_evm::{SnapshotId, alloy_primitives::Bytes};

    use super::super::{event::NodeEvent, saved::Saved, state::NodeSettings};
    use super::*;
    use crate::{
        election::Snapshot,
        message::{Attestation, Signed, Verified},
    };

    /// A peer repeats one entry as often as a question allows, with every bit set that is no member's. It breaks no limit, so the
    /// cost must not depend on its bits and repetitions.
    #[test]
    fn a_question_costs_no_more_than_its_members() {
        const MEMBERS: u32 = 5;
        let id = B256::repeat_byte(0x1d);
        let members = (0..MEMBERS).map(|index| (1, Address::repeat_byte(index as u8 + 1))).collect();
        let snapshot = Snapshot::new(0, SnapshotId::repeat_byte(1), B256::repeat_byte(1), members, 3).unwrap();
        let snapshot = Arc::new(snapshot);
        let performer = snapshot.performer(id).into();
        let mut node = Node::new(NodeSettings::default(), 0, Saved::default());
        node.step(NodeEvent::Snapshot(snapshot.clone()), 0);
        node.step(NodeEvent::Task { id, epoch: 0, payload: Bytes::new() }, 0);
        let candidate =
            Task { epoch: 0, snapshot: snapshot.id(), id, performer, result: B256::repeat_byte(2), approved: true };
        for index in 0..MEMBERS {
            let attestation = Attestation::new(candidate, index, vec![1].into()).unwrap();
            let message = Verified::by_the_caller(Signed::Attestation(attestation));
            node.step(NodeEvent::Received { source: PeerSource(1), message }, 0);
        }
        let others: MemberSet = (MEMBERS as usize..8 * MAX_BITMAP).collect();
        let ballot = |result: usize| {
            let result = B256::left_padding_from(&result.to_be_bytes());
            HeldBallot { result, approved: true, signers: others.clone() }
        };
        let ballots: Vec<_> = (0..MAX_HELD).map(|number| ballot(number / 2)).collect();
        let held =
            HeldTask { id, epoch: 0, snapshot: snapshot.id(), result: None, ballots, accused: MemberSet::default() };
        let request = PeerRequest { tasks: vec![held; MAX_REQUEST_TASKS] };
        let outputs = node.step(NodeEvent::Asked { source: PeerSource(1), request }, 1);
        let [NodeOutput::Answer { answer, .. }] = &outputs[..] else { panic!("{outputs:?}") };
        assert_eq!(answer.attestations.len(), MEMBERS as usize, "each once");
        // Each attestation is looked at once, and each member in each of the ballots, of which half are repetitions.
        assert_eq!(node.looked_at.get(), MEMBERS as usize * (1 + MAX_HELD / 2));
    }
}
