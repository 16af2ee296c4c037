//! What the operator earned, as the chain's logs tell it.
//!
//! Signers of a quorum share what was set aside for them by weight, and the elected performer of an approved task is paid
//! for it. The contract pays both when an epoch is tallied and claimed, and rounds down there; so a sum here may be a few units
//! more than what can be claimed.
//!
//! Only epochs whose snapshot the node was told are counted, claims included: those since it started, and the few before whose
//! conflicts can still be reported. Of older ones the logs do not say who earned what; `quorate-node claim` asks the contract.

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
    /// The epochs in which it earned something.
    epochs: BTreeMap<u64, EpochRewards>,
}

/// What it earned and was paid in one epoch.
#[derive(Debug, Default)]
struct EpochRewards {
    attested: U256,
    /// How many of its tasks were approved for good. A node that runs for years keeps no list of them.
    performed: usize,
    /// Those of which a reorganisation can undo the settlement.
    recent: BTreeSet<B256>,
    claimed: U256,
}

impl Rewards {
    pub(super) fn new(operator: Address, performer_reward: u128) -> Self {
        Self { operator, performer_reward, epochs: BTreeMap::new() }
    }

    /// What was earned in all epochs that are counted.
    pub(super) fn earned(&self) -> U256 {
        let attested = self.epochs.values().fold(U256::ZERO, |sum, epoch| sum + epoch.attested);
        let performed: usize = self.epochs.values().map(|epoch| epoch.performed + epoch.recent.len()).sum();
        attested + U256::from(self.performer_reward) * U256::from(performed)
    }

    /// What was paid of it.
    pub(super) fn claimed(&self) -> U256 {
        self.epochs.values().fold(U256::ZERO, |sum, epoch| sum + epoch.claimed)
    }

    /// Takes a change. `snapshots` are those that the chain has; of epochs without one nothing is known, and nothing counted.
    pub(super) fn change(&mut self, change: &Change, snapshots: &BTreeMap<u64, std::sync::Arc<Snapshot>>) {
        match change {
            Change::Attested { epoch, .. } => {
                let share = self.share(change, snapshots);
                if !share.is_zero() {
                    self.epochs.entry(*epoch).or_default().attested += share;
                }
            }
            // It is told as recent, as final, or as first one and then the other. In between the snapshot may go.
            Change::Settled { id, epoch, performer, approved: true, rewarded: true, finality, .. } => {
                let is_own = |snapshot: &Snapshot| {
                    let elected = snapshot.performer(*id);
                    U256::from(elected) == *performer && snapshot.owner(elected) == Some(self.operator)
                };
                let was_recent = self.epochs.get_mut(epoch).is_some_and(|epoch| epoch.recent.remove(id));
                if was_recent || snapshots.get(epoch).is_some_and(|snapshot| is_own(snapshot)) {
                    let epoch = self.epochs.entry(*epoch).or_default();
                    match finality {
                        Finality::Recent => _ = epoch.recent.insert(*id),
                        Finality::Final => epoch.performed += 1,
                    }
                }
            }
            Change::Unsettled { id } => self.epochs.values_mut().for_each(|epoch| _ = epoch.recent.remove(id)),
            Change::Claimed { operator, epoch, amount, .. } if *operator == self.operator => {
                if let Some(epoch) = self.epochs.get_mut(epoch) {
                    epoch.claimed += *amount;
                }
            }
            Change::Undone(undone) => match &**undone {
                Change::Attested { epoch, .. } => {
                    let share = self.share(undone, snapshots);
                    if let Some(epoch) = self.epochs.get_mut(epoch) {
                        epoch.attested = epoch.attested.saturating_sub(share);
                    }
                }
                Change::Claimed { operator, epoch, amount, .. } if *operator == self.operator => {
                    if let Some(epoch) = self.epochs.get_mut(epoch) {
                        epoch.claimed = epoch.claimed.saturating_sub(*amount);
                    }
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
            performer: U256::from(performer),
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

    /// After a restart, a settlement is told when it is final already.
    #[test]
    fn a_settlement_counts_once_whether_recent_or_final() {
        let snapshots = snapshots();
        let own = (0..).map(B256::with_last_byte).find(|id| snapshots[&7].performer(*id) == 1).unwrap();
        let told = |last| match settled(own, 1, true) {
            Change::Settled { id, epoch, performer, result, approved, rewarded, transaction, block, .. } => {
                let finality = last;
                Change::Settled { id, epoch, performer, result, approved, rewarded, transaction, block, finality }
            }
            _ => panic!("a settlement"),
        };
        for told in [vec![told(Finality::Final)], vec![told(Finality::Recent), told(Finality::Final)]] {
            let mut rewards = Rewards::new(OWN, 50);
            told.iter().for_each(|change| rewards.change(change, &snapshots));
            assert_eq!(rewards.earned(), U256::from(50), "{told:?}");
        }
    }

    /// Of what nothing can undo, the number is all that is kept. The snapshot may be gone when a settlement becomes final.
    #[test]
    fn final_settlements_are_a_number() {
        let (snapshots, mut rewards) = (snapshots(), Rewards::new(OWN, 50));
        let own = (0..=255).map(B256::with_last_byte).filter(|id| snapshots[&7].performer(*id) == 1);
        let own: Vec<_> = own.take(10).collect();
        let told = |id, last| {
            let mut change = settled(id, 1, true);
            if let Change::Settled { finality, .. } = &mut change {
                *finality = last;
            }
            change
        };
        own.iter().for_each(|id| rewards.change(&told(*id, Finality::Recent), &snapshots));
        rewards.change(&told(own[0], Finality::Final), &snapshots);
        own[1..9].iter().for_each(|id| rewards.change(&told(*id, Finality::Final), &BTreeMap::new()));
        assert_eq!((rewards.epochs[&7].performed, rewards.epochs[&7].recent.len()), (9, 1));
        assert_eq!(rewards.earned(), U256::from(500));
        rewards.change(&Change::Unsettled { id: own[9] }, &snapshots);
        assert_eq!(rewards.earned(), U256::from(450));
    }

    /// What was earned in an epoch without a snapshot is not known, so what was claimed of it is not subtracted from others.
    #[test]
    fn claims_count_in_the_epochs_that_are_known() {
        let (snapshots, mut rewards) = (snapshots(), Rewards::new(OWN, 50));
        rewards.change(&attested(&[1, 2], 90), &snapshots);
        let claimed =
            |operator, epoch, amount| Change::Claimed { operator, epoch, index: 1, amount: U256::from(amount) };
        for change in [claimed(OWN, 6, 1_000), claimed(OWN, 7, 100), claimed(Address::ZERO, 7, 9)] {
            rewards.change(&change, &snapshots);
        }
        assert_eq!((rewards.earned(), rewards.claimed()), (U256::from(166), U256::from(100)));
        rewards.change(&Change::Undone(Box::new(claimed(OWN, 7, 100))), &snapshots);
        assert_eq!(rewards.claimed(), U256::ZERO);
    }
}
