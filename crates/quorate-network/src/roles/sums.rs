//! Sums of a branch's signatures, for the branch above: who publishes them, and when.
//!
//! ```text
//! group:   attestations ── all are there, or `gather` has passed ──> sum ──> branch: sums of its groups ──> … ──> everybody
//! ```
//!
//! A few members of each branch are drawn by weight for a task. The first of them publishes; the next one does if the first
//! has not after `relief`, and publishes what is missing in what it saw published. Signatures that come later are published in
//! a further sum, at most one in `gather`.
//!
//! Members that are drawn may be silent, or publish sums that fit to no others. So an attester whose task has no quorum after
//! `appeal` publishes its attestation to everybody, as in a network of one group. That costs messages and loses nothing.

use std::collections::BTreeSet;

use quorate_evm::{MemberSet, SnapshotId, Task};

use super::{
    event::NodeOutput,
    state::{Duty, Node, OpenTask, Round, Share, earlier},
};
use crate::{
    groups::Audience,
    message::{Branch, PartialSum, Signed},
};

impl Node {
    /// Publishes the sums that are due for a round, and an appeal, and says when to look again.
    pub(super) fn share(
        &mut self,
        task: &mut OpenTask,
        key: (u64, SnapshotId),
        out: &mut Vec<NodeOutput>,
    ) -> Option<u64> {
        let round = task.rounds.get_mut(&key)?;
        let result = round.result.as_ref().map(|result| *result.candidate())?;
        let mut wake = None;
        for approved in [true, false] {
            let candidate = Task { approved, ..result };
            for place in 0..round.places.len() {
                earlier(&mut wake, self.share_branch(round, candidate, place, out));
            }
        }
        earlier(&mut wake, self.appeal(round, out));
        wake
    }

    /// Publishes the sum of one branch of the node's operator, the one at this place of its path, if it is due.
    fn share_branch(&self, round: &mut Round, candidate: Task, place: usize, out: &mut Vec<NodeOutput>) -> Option<u64> {
        let (branch, members, turn) = *round.places.get(place)?;
        let key = (branch.level, candidate.approved);
        let share = round.shares.get(&key).copied().unwrap_or_default();
        let Step { share, wake, sum } = self.next_sum(round, candidate, (branch, members, turn?), share);
        round.shares.insert(key, share);
        if let Some((sum, signers)) = sum {
            out.push(NodeOutput::Publish(Signed::Sum(sum.clone()), round.groups.audience(branch.above())));
            round.insert_sum(sum, signers);
        }
        wake
    }

    fn next_sum(
        &self,
        round: &Round,
        candidate: Task,
        (branch, members, turn): (Branch, usize, u64),
        share: Share,
    ) -> Step {
        let ballot = (candidate.result, candidate.approved);
        let cover = round.branch_cover(ballot, branch);
        let shown = round.sums_of(ballot, branch).iter();
        let shown = shown.fold(MemberSet::default(), |union, held| union.union(&held.signers));
        let seen = (cover.signers.len(), shown.len());
        if cover.signers.is_subset(&shown) || share.vain == Some(seen) {
            return Step { share: Share { since: None, whole: None, ..share }, wake: None, sum: None };
        }
        let since = share.since.unwrap_or(self.now);
        let whole = share.whole.or((cover.signers.len() == members).then_some(self.now));
        let gathered = since + self.settings.gather * (u64::from(branch.level) + 1);
        let begins = whole.map_or(gathered, |whole| whole.min(gathered));
        let again = share.last.map_or(0, |last| last + self.settings.gather);
        let due = (begins + turn * self.settings.relief).max(again);
        if self.now < due {
            return Step { share: Share { since: Some(since), whole, ..share }, wake: Some(due), sum: None };
        }
        // What was not shown yet, if it can be told apart; else all of it, which takes the place of what was shown.
        let mut pieces: Vec<_> = cover.pieces.iter().filter(|(signers, _)| signers.is_disjoint(&shown)).collect();
        let mut signers = pieces.iter().fold(MemberSet::default(), |union, (signers, _)| union.union(signers));
        if !cover.signers.is_subset(&shown.union(&signers)) {
            pieces = cover.pieces.iter().collect();
            signers = cover.signers.clone();
        }
        let signatures: Vec<_> = pieces.into_iter().map(|(_, signature)| *signature).collect();
        let sum = round.is_gain(ballot, branch, &signers).then(|| (self.settings.add_up)(&signatures)).flatten();
        let places = round.groups.places(branch, &signers);
        let sum = sum.zip(places).and_then(|(sum, places)| PartialSum::new(candidate, branch, places, sum).ok());
        let last = if sum.is_some() { Some(self.now) } else { share.last };
        let vain = sum.is_none().then_some(seen);
        let share = Share { since: None, whole: None, last, vain };
        Step { share, wake: None, sum: sum.map(|sum| (sum, signers)) }
    }

    /// Publishes the operator's own attestation to everybody, once, if the task has no quorum for too long.
    fn appeal(&self, round: &mut Round, out: &mut Vec<NodeOutput>) -> Option<u64> {
        // A quorum that was there can be gone, if a sum with more signers and less weight took the place of another one.
        let quorum = round.held.values().any(|held| held.weight > round.snapshot.required());
        let own = round.own.filter(|_| round.groups.top() != 0 && !quorum && !round.appealed)?;
        // The performer's attestation is in its result, which everybody gets.
        let attestation = round.attested.get(&own).filter(|_| round.duty == Duty::Done && own != round.performer)?;
        let due = round.spoke_at? + self.settings.appeal;
        if self.now < due {
            return Some(due);
        }
        out.push(NodeOutput::Publish(Signed::Attestation(attestation.clone()), Audience::Everybody));
        round.appealed = true;
        None
    }

    /// The branches at which the node's operator listens, in epochs that can settle: for them the transport subscribes.
    pub fn audiences(&self) -> BTreeSet<Audience> {
        let open = self.snapshots.values().filter(|(snapshot, _)| self.is_open(snapshot.epoch()));
        let heard = open.filter_map(|(snapshot, groups)| {
            let own = self.settings.operator.and_then(|operator| snapshot.index_of(operator))?;
            Some(groups.path(own).map(|branch| groups.audience(branch)).collect::<Vec<_>>())
        });
        heard.flatten().chain([Audience::Everybody]).collect()
    }
}

/// What is done about a branch's sum: how far it is, when to look again, and what is published, with the indices of its
/// signers.
struct Step {
    share: Share,
    wake: Option<u64>,
    sum: Option<(PartialSum, MemberSet)>,
}
