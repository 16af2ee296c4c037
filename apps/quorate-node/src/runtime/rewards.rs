//! What the operator earned, as the chain's logs tell it.
//!
//! Signers of a quorum share what was set aside for them by weight, and the elected performer of an approved task is paid
//! for it. The contract pays both when an epoch is tallied and claimed, and rounds down there; so a sum here may be a few units
//! more than what can be claimed.

use std::collections::{BTreeMap, BTreeSet};

use quorate_evm::{
    Finality,
    alloy_primitives::{Address, B256, U256},
    task_network::Change,
};

use quorate_network::election::Snapshot;

/// What an operator earned and was paid, in the token's smallest unit.
#[derive(Debug)]
pub(super) struct Rewards {
    operator: Address,
    performer_reward: u128,
    attested: U256,
    performed: BTreeSet<B256>,
    claimed: U256,
}

impl Rewards {
    pub(super) fn new(operator: Address, performer_reward: u128) -> Self {
        Self { operator, performer_reward, attested: U256::ZERO, performed: BTreeSet::new(), claimed: U256::ZERO }
    }

    /// What was earned since the first block that was read.
    pub(super) fn earned(&self) -> U256 {
        self.attested + U256::from(self.performer_reward) * U256::from(self.performed.len())
    }

    /// What was paid of it.
    pub(super) fn claimed(&self) -> U256 {
        self.claimed
    }

    /// Takes a change. `snapshots` are those that the chain has; of epochs without one nothing is known, and nothing counted.
    pub(super) fn change(&mut self, change: &Change, snapshots: &BTreeMap<u64, std::sync::Arc<Snapshot>>) {
        match change {
            Change::Attested { .. } => self.attested += self.share(change, snapshots),
            Change::Settled {
                id,
                epoch,
                performer,
                approved: true,
                rewarded: true,
                finality: Finality::Recent,
                ..
            } => {
                let elected = snapshots.get(epoch).filter(|snapshot| snapshot.performer(*id) == *performer);
                if elected.and_then(|snapshot| snapshot.owner(*performer)) == Some(self.operator) {
                    self.performed.insert(*id);
                }
            }
            Change::Unsettled { id } => drop(self.performed.remove(id)),
            Change::Claimed { operator, amount, .. } if *operator == self.operator => self.claimed += *amount,
            Change::Undone(undone) => match &**undone {
                Change::Attested { .. } => {
                    self.attested = self.attested.saturating_sub(self.share(undone, snapshots));
                }
                Change::Claimed { operator, amount, .. } if *operator == self.operator => {
                    self.claimed = self.claimed.saturating_sub(*amount);
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// The operator's part of what was set aside for the signers of a quorum.
    fn share(&self, change: &Change, snapshots: &BTreeMap<u64, std::sync::Arc<Snapshot>>) -> U256 {
        let Change::Attested { epoch, signers, weight, amount, .. } = change else { return U256::ZERO };
        let Some(snapshot) = snapshots.get(epoch) else { return U256::ZERO };
        let Some(own) = snapshot.index_of(self.operator).filter(|own| signers.contains(*own as usize)) else {
            return U256::ZERO;
        };
        U256::from(*amount) * U256::from(snapshot.weight(own)) / U256::from((*weight).max(1))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const OWN: Address = Address::repeat_byte(2);

    fn snapshots() -> BTreeMap<u64, Arc<Snapshot>> {
        let members = vec![(10, Address::repeat_byte(1)), (30, OWN), (60, Address::repeat_byte(3))];
        let snapshot = Snapshot::new(7, quorate_evm::SnapshotId::ZERO, B256::repeat_byte(9), members, 66).unwrap();
        BTreeMap::from([(7, Arc::new(snapshot))])
    }

    fn attested(signers: &[usize], weight: u128) -> Change {
        let signers = signers.iter().copied().collect();
        Change::Attested { epoch: 7, signers, weight, amount: 500, transaction: B256::ZERO }
    }

    fn settled(id: B256, performer: u32, approved: bool) -> Change {
        Change::Settled {
            id,
            epoch: 7,
            performer,
            result: B256::ZERO,
            approved,
            rewarded: true,
            transaction: B256::ZERO,
            block: 1,
            finality: Finality::Recent,
        }
    }

    #[test]
    fn signers_share_by_weight() {
        let (snapshots, mut rewards) = (snapshots(), Rewards::new(OWN, 50));
        rewards.change(&attested(&[1, 2], 90), &snapshots);
        assert_eq!(rewards.earned(), U256::from(166), "500 * 30 / 90");
        rewards.change(&attested(&[0, 2], 70), &snapshots);
        assert_eq!(rewards.earned(), U256::from(166), "others signed");
        rewards.change(&Change::Undone(Box::new(attested(&[1, 2], 90))), &snapshots);
        assert_eq!(rewards.earned(), U256::ZERO);
    }

    #[test]
    fn elected_performers_are_paid_once() {
        let (snapshots, mut rewards) = (snapshots(), Rewards::new(OWN, 50));
        let elected = |index| (0..).map(B256::with_last_byte).find(|id| snapshots[&7].performer(*id) == index).unwrap();
        let (own, other) = (elected(1), elected(2));
        for change in [settled(own, 1, true), settled(own, 1, true), settled(other, 2, true), settled(other, 1, true)] {
            rewards.change(&change, &snapshots);
        }
        assert_eq!(rewards.earned(), U256::from(50));
        rewards.change(&Change::Unsettled { id: own }, &snapshots);
        rewards.change(&settled(own, 1, false), &snapshots);
        assert_eq!(rewards.earned(), U256::ZERO);
    }
}
