//! How the members of a snapshot divide into groups that add up their own signatures, so that a node's work grows with the
//! logarithm of the network and not with the network.
//!
//! ```text
//! level 2, everybody:   ┌──────────── the sums of at most 16 branches ────────────┐
//! level 1, branches:    sums of 16 groups        sums of 16 groups             …
//! level 0, groups:      64 members: attestations  64 members: attestations     …
//! ```
//!
//! A *group* has at most [`GROUP`] members. Its members send each other their attestations. Some of them, drawn by weight for
//! each task, publish the sum of what they hold to the *branch* above: the members of 16 groups, or of as many
//! branches. The members of the last level are everybody, so each node ends with a sum for each of the last branches, and any
//! aggregator can settle. A network of one group has no sums: everybody gets every attestation.
//!
//! Who is in which group follows from the snapshot's beacon, so nobody chooses the group in which he is, and every node
//! computes the same.

use std::collections::BTreeMap;

use quorate_evm::{
    MemberSet,
    alloy_primitives::{B256, Bytes, keccak256},
    bls12381,
};

use crate::{
    election::Snapshot,
    message::{Branch, FANOUT},
};

/// The most members of a group.
pub const GROUP: usize = 64;

/// How many members of a branch are drawn to publish its sums. If a third of the stake is silent, all are with a probability
/// of about 3^-8, and then attesters appeal.
pub const SUMMERS: usize = 8;

/// To whom a message is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Audience {
    /// To all nodes.
    Everybody,
    /// To the members of a branch, in the groups of an epoch.
    Branch(u64, Branch),
}

/// The groups of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    epoch: u64,
    /// The indices with weight, those of group 0 first, ascending in each group.
    order: Vec<u32>,
    /// The place in `order` of each group's first member, and behind the last one the number of members.
    starts: Vec<usize>,
    /// Of each index with weight: its place in `order`.
    places: BTreeMap<u32, usize>,
    /// The level whose only branch has all members.
    top: u8,
}

impl Groups {
    /// The groups of a snapshot, with at most `size` members each, which is [`GROUP`] but in tests. Their sizes differ by at
    /// most one.
    ///
    /// Cost: a hash for each member, and a sort.
    ///
    /// # Panics
    /// If `size` is zero.
    pub fn new(snapshot: &Snapshot, size: usize) -> Self {
        let beacon = snapshot.beacon();
        let hash = |index: u32| keccak256([&b"quorate.group"[..], beacon.as_slice(), &index.to_be_bytes()].concat());
        let mut shuffled: Vec<_> = snapshot.indices().map(|index| (hash(index), index)).collect();
        shuffled.sort_unstable();
        let members = shuffled.len();
        let groups = members.div_ceil(size).max(1);
        let starts: Vec<usize> = (0..=groups).map(|group| (group * members).div_ceil(groups)).collect();
        let mut order: Vec<u32> = shuffled.into_iter().map(|(_, index)| index).collect();
        for group in starts.windows(2) {
            order[group[0]..group[1]].sort_unstable();
        }
        let places = order.iter().enumerate().map(|(place, index)| (*index, place)).collect();
        let mut top = 0;
        while u64::from(FANOUT).pow(top) < groups as u64 {
            top += 1;
        }
        let top = u8::try_from(top).expect("2^32 members need 7 levels");
        Self { epoch: snapshot.epoch(), order, starts, places, top }
    }

    /// The level whose only branch has all members; 0 if there is one group, and so no sums.
    pub fn top(&self) -> u8 {
        self.top
    }

    /// The group of an index with weight.
    pub fn group(&self, index: u32) -> Option<u32> {
        let place = self.places.get(&index)?;
        u32::try_from(self.starts.partition_point(|start| start <= place) - 1).ok()
    }

    /// The branches of an index below the last level, its group first.
    pub fn path(&self, index: u32) -> impl Iterator<Item = Branch> + use<> {
        let group = self.group(index).map(|number| Branch { level: 0, number });
        let top = self.top;
        std::iter::successors(group, |branch| Some(branch.above())).take_while(move |branch| branch.level < top)
    }

    /// Where the members of a branch stand in the order of all; empty if there is no such branch.
    fn range(&self, branch: Branch) -> std::ops::Range<usize> {
        if branch.level > self.top {
            return 0..0;
        }
        let groups = self.starts.len() - 1;
        let width = u64::from(FANOUT).pow(branch.level.into());
        let start = |number: u64| {
            let group = usize::try_from(number.saturating_mul(width)).unwrap_or(usize::MAX);
            self.starts[group.min(groups)]
        };
        start(branch.number.into())..start(u64::from(branch.number) + 1)
    }

    /// The members of a branch in the order of its groups, ascending in each group.
    pub fn members(&self, branch: Branch) -> &[u32] {
        &self.order[self.range(branch)]
    }

    /// The groups or branches right below a branch.
    pub fn below(&self, branch: Branch) -> impl Iterator<Item = Branch> + '_ {
        let level = branch.level.checked_sub(1);
        let first = branch.number.saturating_mul(FANOUT);
        let below = level
            .into_iter()
            .flat_map(move |level| (first..first.saturating_add(FANOUT)).map(move |number| Branch { level, number }));
        below.filter(|below| !self.range(*below).is_empty())
    }

    /// The branch that has all members.
    pub fn whole(&self) -> Branch {
        Branch { level: self.top, number: 0 }
    }

    /// To whom the attestations of a group are published, or the sums of the branches right below a branch.
    pub fn audience(&self, branch: Branch) -> Audience {
        if branch.level >= self.top { Audience::Everybody } else { Audience::Branch(self.epoch, branch) }
    }

    /// Whether a sum of a branch is published to an index: to members of the branch above. Sums of the last branches are
    /// published to everybody, also to nodes without stake.
    pub fn hears(&self, index: Option<u32>, branch: Branch) -> bool {
        let above = branch.above();
        branch.level < self.top
            && (above.level == self.top || index.is_some_and(|index| self.path(index).any(|own| own == above)))
    }

    /// The branches of an index below the last level, its group first: how many members each has, and the turn of the index
    /// among those who publish its sums for a task, if it was drawn.
    pub fn summers(&self, snapshot: &Snapshot, id: B256, index: u32) -> Vec<(Branch, usize, Option<u64>)> {
        let place = |branch: Branch| {
            let members = self.members(branch);
            let purpose: [&[u8]; 3] = [b"quorate.sum", &[branch.level], &branch.number.to_be_bytes()];
            let drawn = snapshot.draw(&purpose, id, members.iter().copied(), SUMMERS);
            let turn = drawn.iter().position(|drawn| *drawn == index).map(|turn| turn as u64);
            (branch, members.len(), turn)
        };
        self.path(index).map(place).collect()
    }

    /// The indices of the members at some places of a branch; `None` if there is no such place.
    pub fn indices(&self, branch: Branch, places: &MemberSet) -> Option<MemberSet> {
        let members = self.members(branch);
        places.iter().map(|place| members.get(place).map(|index| *index as usize)).collect()
    }

    /// The places of some members of a branch; `None` if one of them is not a member.
    pub fn places(&self, branch: Branch, indices: &MemberSet) -> Option<MemberSet> {
        let range = self.range(branch);
        let place = |index: usize| {
            let place = *self.places.get(&u32::try_from(index).ok()?)?;
            range.contains(&place).then(|| place - range.start)
        };
        indices.iter().map(place).collect()
    }
}

/// The sum of signatures of BLS12-381, as the contract takes them. `None` if one of them does not decode, or the list is empty.
///
/// Cost: a decoding with its subgroup check for each signature.
pub fn add_up(signatures: &[&Bytes]) -> Option<Bytes> {
    let points = signatures.iter().map(|bytes| bls12381::decode_signature(bytes).ok()).collect::<Option<Vec<_>>>()?;
    let sum = quorate::aggregate::aggregate(&points, quorate::Backend::Portable).ok()?;
    Some(Bytes::copy_from_slice(&bls12381::encode_signature(&sum)))
}

#[cfg(test)]
mod tests {
    use quorate_evm::{SnapshotId, alloy_primitives::Address};

    use super::*;

    fn groups(members: usize, size: usize) -> (Snapshot, Groups) {
        // Each seventh index has no weight.
        let weights = (0..members).map(|index| (u64::from(index % 7 != 6), Address::ZERO)).collect();
        let snapshot = Snapshot::new(4, SnapshotId::ZERO, B256::repeat_byte(9), weights, members as u128 * 6 / 7 - 1);
        let snapshot = snapshot.unwrap();
        let groups = Groups::new(&snapshot, size);
        (snapshot, groups)
    }

    fn set(members: &[u32]) -> MemberSet {
        members.iter().map(|index| *index as usize).collect()
    }

    #[test]
    fn everybody_with_weight_is_in_one_group_of_about_one_size() {
        for (members, size, expected, top) in
            [(7, 64, 1, 0), (74, 64, 1, 0), (75, 64, 2, 1), (700, 4, 150, 2), (1_200, 64, 17, 2), (1_190, 64, 16, 1)]
        {
            let (snapshot, groups) = groups(members, size);
            assert_eq!(groups.top(), top, "{members}");
            let all: Vec<_> = snapshot.indices().collect();
            assert_eq!(set(groups.members(groups.whole())), set(&all));
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            all.iter().for_each(|index| *counts.entry(groups.group(*index).unwrap()).or_default() += 1);
            assert_eq!(counts.len(), expected, "{members}");
            let (least, most) = (counts.values().min().unwrap(), counts.values().max().unwrap());
            assert!(*most <= size && most - least <= 1, "{counts:?}");
            assert_eq!((groups.group(6), groups.group(members as u32)), (None, None));
        }
    }

    #[test]
    fn branches_divide_into_those_below() {
        let (snapshot, groups) = groups(700, 2);
        assert_eq!(groups.top(), 3);
        let mut level = vec![groups.whole()];
        for down in (0..groups.top()).rev() {
            let below: Vec<_> = level.iter().flat_map(|branch| groups.below(*branch)).collect();
            assert!(below.iter().all(|branch| branch.level == down));
            assert_eq!(below.iter().map(|branch| groups.members(*branch).len()).sum::<usize>(), 600);
            for branch in &level {
                let below: Vec<u32> = groups.below(*branch).flat_map(|below| groups.members(below).to_vec()).collect();
                assert_eq!(groups.members(*branch), below);
                let some = set(&below.iter().copied().step_by(3).collect::<Vec<_>>());
                let places = groups.places(*branch, &some).unwrap();
                assert_eq!(places, (0..below.len()).step_by(3).collect());
                assert_eq!(groups.indices(*branch, &places), Some(some));
                assert_eq!(groups.indices(*branch, &[below.len()].into_iter().collect()), None);
            }
            level = below;
        }
        assert_eq!(groups.below(level[0]).count(), 0);
        for index in snapshot.indices() {
            let path: Vec<_> = groups.path(index).collect();
            assert_eq!(path.iter().map(|branch| branch.level).collect::<Vec<_>>(), [0, 1, 2]);
            assert!(path.iter().all(|branch| groups.members(*branch).contains(&index)));
            assert_eq!(path[0].number, groups.group(index).unwrap());
            for branch in path.iter().flat_map(|branch| groups.below(branch.above())) {
                assert!(groups.hears(Some(index), branch));
            }
        }
        let far = Branch { level: 0, number: 299 };
        let near = groups.members(Branch { level: 0, number: 0 })[0];
        assert!(
            !groups.hears(Some(near), far) && !groups.hears(None, far) && !groups.hears(Some(near), groups.whole())
        );
        assert!(groups.hears(None, Branch { level: 2, number: 1 }));
        assert_eq!(groups.places(far, &set(&[near])), None);
        assert_eq!(groups.audience(groups.whole()), Audience::Everybody);
        assert_eq!(groups.audience(far), Audience::Branch(4, far));
        for none in
            [Branch { level: 9, number: 0 }, Branch { level: 0, number: 300 }, Branch { level: 3, number: u32::MAX }]
        {
            assert!(groups.members(none).is_empty() && groups.indices(none, &MemberSet::full(1)).is_none());
        }
    }

    #[test]
    fn the_beacon_decides() {
        let weights = vec![(1, Address::ZERO); 100];
        let of = |beacon| {
            let snapshot = Snapshot::new(0, SnapshotId::ZERO, B256::repeat_byte(beacon), weights.clone(), 66).unwrap();
            let groups = Groups::new(&snapshot, 10);
            (0..100).map(|index| groups.group(index).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
