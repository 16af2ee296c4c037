//! Who performs a task, and in which order aggregators settle it. Both follow from an epoch's snapshot and the task's id,
//! so every node computes the same.
//!
//! The performer is that of `Leader.sol`. The order of aggregators is not a rule of the contract, where anyone may settle.
//! It only keeps many nodes from paying for the same settlement:
//!
//! 1. Place k is drawn by weight from the operators that have no place yet. The point of the draw is
//!    keccak256("quorate.aggregator" ‖ beacon ‖ id ‖ k), k as eight bytes, big-endian, modulo the weight that is left.
//!    The weights that are left, added up in the order of their indices, cut the range of points into intervals.
//! 2. There are at most [`MAX_PLACES`] places. All others, and nodes without stake, share the place behind the last.
//!
//! The aggregator at place k may settle from k turns after the quorum is ready. So if those before it are silent, it takes
//! over, and after the last turn anyone may settle.

use quorate_evm::{
    SnapshotId,
    alloy_primitives::{Address, B256, U256, keccak256},
};

/// The most aggregators with a place of their own. If a third of the stake is silent, all 32 are with a probability of
/// about 3^-32.
pub const MAX_PLACES: usize = 32;

/// What is fixed for an epoch, as the chain tells it. It is checked, so there is somebody to elect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    epoch: u64,
    id: SnapshotId,
    beacon: B256,
    /// Of each index: the weight and the key's owner.
    members: Vec<(u64, Address)>,
    /// The sum of the weights up to and with each index.
    sums: Vec<u128>,
    required: u128,
}

/// Why values are not a snapshot: whoever read them from the chain is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Nobody has weight.
    #[error("epoch {0}: nobody has weight")]
    Weightless(u64),
    /// The weights of all members are not more than a quorum must exceed.
    #[error("epoch {epoch}: a quorum must weigh more than {required}, and all members together weigh {total}")]
    Unreachable {
        /// The epoch.
        epoch: u64,
        /// What a quorum must exceed.
        required: u128,
        /// The weight of all members.
        total: u128,
    },
    /// Two quorums could have no member in common.
    #[error("epoch {epoch}: a quorum must exceed {required}, less than half of {total}")]
    TooLow {
        /// The epoch.
        epoch: u64,
        /// What a quorum must exceed.
        required: u128,
        /// The weight of all members.
        total: u128,
    },
    /// There are more members than an index can name.
    #[error("epoch {epoch}: {members} members; indices have 32 bits")]
    TooMany {
        /// The epoch.
        epoch: u64,
        /// How many.
        members: usize,
    },
}

impl Snapshot {
    /// A snapshot of the contract: the weight and the owner of the key at each index of the epoch's table, and what a
    /// quorum must exceed.
    ///
    /// # Errors
    /// [`SnapshotError`].
    pub fn new(
        epoch: u64,
        id: SnapshotId,
        beacon: B256,
        members: Vec<(u64, Address)>,
        required: u128,
    ) -> Result<Self, SnapshotError> {
        if u32::try_from(members.len()).is_err() {
            return Err(SnapshotError::TooMany { epoch, members: members.len() });
        }
        let sums: Vec<u128> = members
            .iter()
            .scan(0_u128, |sum, (weight, _)| {
                *sum += u128::from(*weight);
                Some(*sum)
            })
            .collect();
        let total = sums.last().copied().unwrap_or(0);
        if total == 0 {
            return Err(SnapshotError::Weightless(epoch));
        }
        if required >= total {
            return Err(SnapshotError::Unreachable { epoch, required, total });
        }
        // `_requiredOf` rounds down, and the contract's fraction is at least half.
        if required < total / 2 {
            return Err(SnapshotError::TooLow { epoch, required, total });
        }
        Ok(Self { epoch, id, beacon, members, sums, required })
    }

    /// The epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The snapshot's id.
    pub fn id(&self) -> SnapshotId {
        self.id
    }

    /// The beacon that elections of the epoch take.
    pub fn beacon(&self) -> B256 {
        self.beacon
    }

    /// The weight of all members, in stake units.
    pub fn total(&self) -> u128 {
        self.sums.last().copied().unwrap_or(0)
    }

    /// A quorum must weigh more than this.
    pub fn required(&self) -> u128 {
        self.required
    }

    /// The weight of an index; zero if there is none.
    pub fn weight(&self, index: u32) -> u64 {
        self.members.get(index as usize).map_or(0, |member| member.0)
    }

    /// The owner of the key at an index, if it has weight.
    pub fn owner(&self, index: u32) -> Option<Address> {
        self.members.get(index as usize).filter(|member| member.0 != 0).map(|member| member.1)
    }

    /// The index at which an operator has weight. An operator that replaced its key has weight at one index alone.
    pub fn index_of(&self, operator: Address) -> Option<u32> {
        let found = self.members.iter().position(|(weight, owner)| *owner == operator && *weight != 0)?;
        u32::try_from(found).ok()
    }

    /// The indices with weight, ascending.
    pub fn indices(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..).zip(&self.members).filter(|(_, member)| member.0 != 0).map(|(index, _)| index)
    }

    /// The index of a task's performer: `TaskNetwork.performerOf`.
    ///
    /// The point keccak256(abi.encode(beacon, id)) mod total elects the first index whose running sum is above it.
    /// Cost: a hash and a binary search.
    pub fn performer(&self, id: B256) -> u32 {
        let point = point(&[self.beacon.as_slice(), id.as_slice()], self.total());
        let index = self.sums.partition_point(|sum| *sum <= point);
        u32::try_from(index).expect("`new` admits no more members than an index can name")
    }

    /// The aggregators of a task in the order of their turns: indices with weight, at most [`MAX_PLACES`].
    ///
    /// Cost: a hash and a pass over the members for each place.
    pub fn aggregators(&self, id: B256) -> Vec<u32> {
        self.draw(&[b"quorate.aggregator"], id, self.indices(), MAX_PLACES)
    }

    /// Draws places by weight from some indices, for a purpose and a task: at most `most`.
    ///
    /// Cost: a hash and a pass over the indices for each place.
    pub fn draw(&self, purpose: &[&[u8]], id: B256, from: impl Iterator<Item = u32>, most: usize) -> Vec<u32> {
        let mut left: Vec<(u32, u64)> = from.map(|index| (index, self.weight(index))).collect();
        let mut weight: u128 = left.iter().map(|(_, weight)| u128::from(*weight)).sum();
        let mut order = Vec::new();
        while weight != 0 && order.len() < most {
            let place = (order.len() as u64).to_be_bytes();
            let end: [&[u8]; 3] = [self.beacon.as_slice(), id.as_slice(), &place];
            let mut point = point(&[purpose, &end].concat(), weight);
            let drawn = left.iter().position(|(_, weight)| {
                let within = point < u128::from(*weight);
                point = point.saturating_sub(u128::from(*weight));
                within
            });
            let drawn = drawn.expect("the point is below the sum of the weights that are left");
            weight -= u128::from(std::mem::take(&mut left[drawn].1));
            order.push(left[drawn].0);
        }
        order
    }

    /// How many turns pass before an operator may settle a task: its place in the order, or the place behind the last.
    pub fn place(&self, id: B256, operator: Option<Address>) -> u64 {
        let order = self.aggregators(id);
        let index = operator.and_then(|operator| self.index_of(operator));
        let place = order.iter().position(|drawn| Some(*drawn) == index).unwrap_or(order.len());
        place as u64
    }
}

/// keccak256 of parts, modulo a total that is not zero.
fn point(parts: &[&[u8]], total: u128) -> u128 {
    let hash = U256::from_be_bytes(keccak256(parts.concat()).0);
    u128::try_from(hash % U256::from(total)).expect("the remainder is below a total of 128 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(weights: &[u64]) -> Snapshot {
        let members: Vec<_> =
            (1..).zip(weights).map(|(owner, weight)| (*weight, Address::repeat_byte(owner))).collect();
        let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        Snapshot::new(1, SnapshotId::ZERO, B256::repeat_byte(0xbe), members, total * 2 / 3).unwrap()
    }

    /// keccak256(be…be ‖ id) by another implementation, for the ids 0 to 11, reduced modulo 100 = 2 + 0 + 30 + 68.
    #[test]
    fn performers_are_those_of_the_contract() {
        let snapshot = snapshot(&[2, 0, 30, 68]);
        for (id, number) in (0..).zip(KNOWN_POINTS) {
            let expected = match number {
                0..2 => 0,
                2..32 => 2,
                _ => 3,
            };
            let id = B256::with_last_byte(id);
            assert_eq!(point(&[snapshot.beacon.as_slice(), id.as_slice()], 100), number);
            assert_eq!(snapshot.performer(id), expected);
        }
    }

    /// The example in the documentation of `Leader.sol`: with weights 2, 0 and 3, the numbers 0 and 1 elect index 0, and 2
    /// to 4 elect index 2.
    #[test]
    fn every_point_elects_by_its_interval() {
        let snapshot = snapshot(&[2, 0, 3]);
        let mut seen = [0; 3];
        for id in 0..200 {
            let id = B256::with_last_byte(id);
            let number = point(&[snapshot.beacon.as_slice(), id.as_slice()], 5);
            assert_eq!(snapshot.performer(id), if number < 2 { 0 } else { 2 });
            seen[snapshot.performer(id) as usize] += 1;
        }
        assert!(seen[0] > 40 && seen[1] == 0 && seen[2] > 80, "{seen:?}");
    }

    #[test]
    fn the_order_has_everybody_with_weight_once() {
        let order = snapshot(&[5, 0, 1, 90, 7]).aggregators(B256::repeat_byte(3));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 2, 3, 4]);
        assert_eq!(snapshot(&[1; 100]).aggregators(B256::ZERO).len(), MAX_PLACES);
    }

    /// Index 3 has nine tenths of the weight, so it is mostly first; ids give different orders.
    #[test]
    fn the_order_is_by_weight_and_id() {
        let snapshot = snapshot(&[4, 3, 3, 90]);
        let orders: Vec<_> = (0..100).map(|id| snapshot.aggregators(B256::with_last_byte(id))).collect();
        let first = orders.iter().filter(|order| order[0] == 3).count();
        assert!((80..=98).contains(&first), "{first}");
        assert!(orders.iter().any(|order| order != &orders[0]));
    }

    #[test]
    fn strangers_come_last() {
        let snapshot = snapshot(&[1, 1, 1]);
        let id = B256::ZERO;
        let mut places: Vec<_> = (1..=3).map(|i| snapshot.place(id, Some(Address::repeat_byte(i)))).collect();
        places.sort_unstable();
        assert_eq!(places, [0, 1, 2]);
        assert_eq!((snapshot.place(id, None), snapshot.place(id, Some(Address::ZERO))), (3, 3));
    }

    #[test]
    fn impossible_snapshots_are_refused() {
        let new = |weights: &[u64], required| {
            let members = weights.iter().map(|weight| (*weight, Address::ZERO)).collect();
            Snapshot::new(1, SnapshotId::ZERO, B256::ZERO, members, required)
        };
        assert_eq!(new(&[0, 0], 0), Err(SnapshotError::Weightless(1)));
        assert_eq!(new(&[], 0), Err(SnapshotError::Weightless(1)));
        assert_eq!(new(&[1, 2], 3), Err(SnapshotError::Unreachable { epoch: 1, required: 3, total: 3 }));
        assert_eq!(new(&[4, 6], 4), Err(SnapshotError::TooLow { epoch: 1, required: 4, total: 10 }));
        assert!(new(&[4, 6], 5).is_ok() && new(&[u64::MAX, u64::MAX], u128::from(u64::MAX)).is_ok());
    }

    const KNOWN_POINTS: [u128; 12] = [92, 95, 64, 13, 9, 67, 62, 40, 21, 11, 86, 40];
}
