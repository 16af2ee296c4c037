//! The operators of a simulated network: unequal stakes, keys that are replaced, and who lies.

use std::sync::Arc;

use quorate_evm::{
    SnapshotId,
    alloy_primitives::{Address, B256, keccak256},
};

use super::{
    chance::Chance,
    faults::{Lie, Scenario},
};
use quorate_network::election::Snapshot;

#[derive(Clone, Debug)]
pub(super) struct Operator {
    pub(super) address: Address,
    stake: u64,
    /// From this epoch on it has its second key, at another index. The first one weighs nothing then.
    rotates: u64,
    pub(super) lie: Option<Lie>,
}

#[derive(Clone, Debug)]
pub(super) struct Operators(pub(super) Vec<Operator>);

impl Operators {
    pub(super) fn new(scenario: &Scenario, chance: &mut Chance) -> Self {
        let mut operators: Vec<_> = (0..scenario.operators)
            .map(|number| Operator {
                address: address(number),
                // A few have much more than the others.
                stake: 100 + chance.between(0, 100) * if chance.permille(200) { 4 } else { 1 },
                rotates: chance.between(1, 4),
                lie: None,
            })
            .collect();
        let total: u64 = operators.iter().map(|operator| operator.stake).sum();
        let mut order: Vec<_> = (0..operators.len()).collect();
        chance.shuffle(&mut order);
        // Weights of an epoch differ from stakes by up to 3%. So three tenths stay below a third.
        let mut left = total * 3 / 10;
        let mut lies = scenario.lies.iter().cycle().skip(chance.below(scenario.lies.len().max(1)));
        for number in order {
            let operator = &mut operators[number];
            if let (true, Some(lie)) =
                (operator.stake <= left, (!scenario.lies.is_empty()).then(|| lies.next()).flatten())
            {
                left -= operator.stake;
                operator.lie = Some(*lie);
            }
        }
        Self(operators)
    }

    pub(super) fn number_of(&self, address: Address) -> Option<usize> {
        self.0.iter().position(|operator| operator.address == address)
    }

    pub(super) fn is_honest(&self, address: Address) -> bool {
        self.number_of(address).is_some_and(|number| self.0[number].lie.is_none())
    }

    /// What a contract would fix for an epoch. The id hashes the beacon and the weights.
    pub(super) fn snapshot(&self, epoch: u64, beacon: B256) -> Arc<Snapshot> {
        let count = self.0.len();
        let member = |index: usize| {
            let operator = &self.0[index % count];
            let has_second = epoch >= operator.rotates;
            let change = 100 + (index as u64 * 7 + epoch * 13) % 4;
            let weight = if has_second == (index >= count) { operator.stake * change } else { 0 };
            (weight, operator.address)
        };
        let members: Vec<_> = (0..2 * count).map(member).collect();
        let total: u128 = members.iter().map(|member| u128::from(member.0)).sum();
        let weights: Vec<u8> = members.iter().flat_map(|member| member.0.to_be_bytes()).collect();
        let hash = keccak256([beacon.as_slice(), &epoch.to_be_bytes(), &weights].concat());
        let id = SnapshotId::from_slice(&hash[..20]);
        Arc::new(Snapshot::new(epoch, id, beacon, members, total * 2 / 3).expect("everybody has stake"))
    }

    /// What those honest operators weigh in an epoch whose number `counts`.
    pub(super) fn honest_weight(&self, snapshot: &Snapshot, counts: impl Fn(usize) -> bool) -> u128 {
        let is_counted = |number: usize| self.0[number].lie.is_none() && counts(number);
        let number_of = |index: u32| self.number_of(snapshot.owner(index)?);
        let honest = snapshot.indices().filter(|index| number_of(*index).is_some_and(is_counted));
        honest.map(|index| u128::from(snapshot.weight(index))).sum()
    }
}

fn address(number: usize) -> Address {
    let mut bytes = [0xaa; 20];
    bytes[12..].copy_from_slice(&(number as u64).to_be_bytes());
    Address::from(bytes)
}
