//! Which signatures of a candidate a node holds: attestations one by one, and sums of them. Of signatures that have a signer
//! in common only one counts, because a sum cannot be taken apart.

use std::collections::BTreeMap;

use quorate_evm::{MemberSet, alloy_primitives::Bytes};

use super::state::{Ballot, HeldSum, Round, Support};
use crate::message::{Attestation, Branch, PartialSum};

/// Signatures of which no two have a signer in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Cover<'a> {
    pub(super) pieces: Vec<(MemberSet, &'a Bytes)>,
    pub(super) signers: MemberSet,
    pub(super) weight: u128,
}

impl<'a> Cover<'a> {
    /// Adds a signature, unless one of its signers is there already.
    fn add(&mut self, round: &Round, signers: &MemberSet, signature: &'a Bytes) {
        if self.signers.is_disjoint(signers) {
            self.weight += round.weight_of(signers);
            self.signers = self.signers.union(signers);
            self.pieces.push((signers.clone(), signature));
        }
    }

    fn add_all(&mut self, round: &Round, other: &Cover<'a>) {
        other.pieces.iter().for_each(|(signers, signature)| self.add(round, signers, signature));
    }
}

impl Round {
    /// A heavy cover of a ballot. For each branch there are two: its own sums, completed by what is held of the branches
    /// below; and what is held of those, completed by the branch's own sums. The heavier one counts.
    ///
    /// Cost: a pass over all that is held of the ballot.
    pub(super) fn cover(&self, ballot: Ballot) -> Cover<'_> {
        self.cover_of(ballot, self.groups.whole(), &self.single(ballot))
    }

    /// The same of one branch.
    pub(super) fn branch_cover(&self, ballot: Ballot, branch: Branch) -> Cover<'_> {
        self.cover_of(ballot, branch, &self.single(ballot))
    }

    fn cover_of<'a>(
        &'a self,
        ballot: Ballot,
        branch: Branch,
        single: &BTreeMap<u32, Vec<&'a Attestation>>,
    ) -> Cover<'a> {
        let mut sums = Cover::default();
        self.sums_of(ballot, branch).iter().for_each(|held| sums.add(self, &held.signers, held.sum.signature()));
        if branch.level == 0 {
            for attestation in single.get(&branch.number).into_iter().flatten() {
                let signer = [attestation.index() as usize].into_iter().collect();
                sums.add(self, &signer, attestation.signature());
            }
            return sums;
        }
        let mut below = Cover::default();
        for branch in self.groups.below(branch) {
            below.add_all(self, &self.cover_of(ballot, branch, single));
        }
        if sums.pieces.is_empty() {
            return below;
        }
        let alone = sums.clone();
        sums.add_all(self, &below);
        below.add_all(self, &alone);
        if below.weight > sums.weight { below } else { sums }
    }

    /// The attestations of a ballot that name the elected performer, by group.
    fn single(&self, ballot: Ballot) -> BTreeMap<u32, Vec<&Attestation>> {
        let mut by_group: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for attestation in self.attested.values() {
            let candidate = attestation.candidate();
            if (candidate.result, candidate.approved) == ballot
                && self.names_elected(candidate)
                && let Some(group) = self.groups.group(attestation.index())
            {
                by_group.entry(group).or_default().push(attestation);
            }
        }
        by_group
    }

    /// The sums of a branch that are held: no two have a signer in common.
    pub(super) fn sums_of(&self, ballot: Ballot, branch: Branch) -> &[HeldSum] {
        self.sums.get(&ballot).and_then(|sums| sums.get(&branch)).map_or(&[], Vec::as_slice)
    }

    /// Whether a sum of these indices has more signers than those sums of its branch whose place it would take. So a branch
    /// takes at most as many sums as it has members, whatever is sent.
    pub(super) fn is_gain(&self, ballot: Ballot, branch: Branch, signers: &MemberSet) -> bool {
        let overlapping = self.sums_of(ballot, branch).iter().filter(|held| !held.signers.is_disjoint(signers));
        signers.len() > overlapping.map(|held| held.signers.len()).sum()
    }

    /// Keeps a sum of these indices, if it is a gain, in place of those with which it has signers in common.
    ///
    /// Cost: that of a [`cover`](Self::cover).
    pub(super) fn insert_sum(&mut self, sum: PartialSum, signers: MemberSet) {
        let ballot = (sum.candidate().result, sum.candidate().approved);
        if self.is_gain(ballot, sum.branch(), &signers) {
            let held = self.sums.entry(ballot).or_default().entry(sum.branch()).or_default();
            held.retain(|other| other.signers.is_disjoint(&signers));
            held.push(HeldSum { sum, signers });
            self.recount(ballot);
        }
    }

    /// Adds an attestation that was just kept to what is held of its ballot. If its signer is in no sum, the cover is the one
    /// before with this attestation; else it may be another one.
    ///
    /// Cost: a look at each sum of the ballot, and a [`cover`](Self::cover) if one of them has the signer.
    pub(super) fn add_attestation(&mut self, ballot: Ballot, index: u32) {
        let mut sums = self.sums.get(&ballot).into_iter().flat_map(BTreeMap::values).flatten();
        if sums.any(|held| held.signers.contains(index as usize)) {
            return self.recount(ballot);
        }
        let held = self.held.entry(ballot).or_default();
        held.signers.insert(index as usize);
        held.weight += u128::from(self.snapshot.weight(index));
    }

    fn recount(&mut self, ballot: Ballot) {
        let Cover { signers, weight, .. } = self.cover(ballot);
        self.held.insert(ballot, Support { signers, weight });
    }

    fn weight_of(&self, signers: &MemberSet) -> u128 {
        let indices = signers.iter().filter_map(|index| u32::try_from(index).ok());
        indices.map(|index| u128::from(self.snapshot.weight(index))).sum()
    }
}
