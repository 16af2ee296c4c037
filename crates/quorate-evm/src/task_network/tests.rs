//! Networks made by hand: logs and calldata in, changes out.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, FixedBytes, Log, U256, keccak256};
use alloy_sol_types::{SolCall as _, SolEvent as _, SolValue as _};

use super::{
    block::BlockLogs,
    change::Change,
    contradiction::{BlockContradiction, Contradiction},
    log::{Event, PlacedLog},
    state::{State, TransactionLogs},
    terms::ContractTerms,
    view::{NetworkDraft, NetworkView},
};
use crate::{
    Finality, KeyGroup, MemberSet, OperatorKey, Quorum,
    base::{KeyPage, WeightPage},
    contract::{TaskNetwork, task_network::ITaskNetwork::Task},
    digest::Contract,
    quorum::{Proof, Store},
};

pub(super) fn terms() -> ContractTerms {
    ContractTerms {
        chain_id: 1,
        contract: Address::repeat_byte(0xaa),
        verifier: Address::repeat_byte(0xbb),
        token: Address::repeat_byte(0xcc),
        source: None,
        key_group: KeyGroup::Bls12381G2,
        pinned_slots: 1,
        genesis: 1_000,
        epoch_length: 100,
        slashing_window: 100,
        withdrawal_delay: 300,
        unit: 1,
        minimum_stake: 1,
        maximum_operators: 10,
        quorum_numerator: 2,
        quorum_denominator: 3,
        performer_reward: 5,
        attester_reward: 50,
        penalty_share: 1,
        slash_share: 1,
        bounty_share: 1,
    }
}

/// A contract that emits logs: as much of it as the logs need, written down a second time.
#[derive(Clone, Default)]
struct Model {
    roster: U256,
    /// The running table: keys, owners and weights.
    keys: Vec<(Bytes, Address, u64)>,
    next: Vec<(Bytes, Address, u64)>,
    table: u16,
    pages: u64,
    transactions: u64,
    weights: BTreeMap<u64, Vec<u64>>,
}

fn owner(seed: u8) -> Address {
    Address::repeat_byte(seed)
}

fn key(seed: u8) -> Bytes {
    OperatorKey::from_entropy(KeyGroup::Bls12381G2, &[seed; 48]).member()
}

fn low(hash: B256) -> U256 {
    U256::from_be_slice(&hash[12..])
}

impl Model {
    fn transaction(&mut self, events: Vec<Event>, calldata: Vec<u8>) -> TransactionLogs {
        self.transactions += 1;
        TransactionLogs { hash: B256::from(U256::from(self.transactions)), events, calldata: calldata.into() }
    }

    fn register(&mut self, seed: u8, weight: u64) -> TransactionLogs {
        self.admit(key(seed), owner(seed), weight)
    }

    /// Registers a key as the contract keeps it.
    fn admit(&mut self, key: Bytes, operator: Address, weight: u64) -> TransactionLogs {
        let index = self.keys.len();
        let mut events = vec![Event::KeyAdded { table: self.table, index, key: key.clone() }];
        self.keys.push((key.clone(), operator, weight));
        if !self.next.is_empty() {
            let (table, first) = (self.table + 1, self.next.len());
            let indices = (index as u32).to_be_bytes().to_vec().into();
            events.push(Event::KeysCarried { table, first, indices });
            self.next.push((key.clone(), operator, weight));
        }
        events.push(Event::Told(Change::Registered { operator, index: index as u32, stake: U256::from(weight) }));
        let part = (self.roster, U256::from(self.table), U256::from(index), operator, keccak256(&key));
        self.roster = low(keccak256(part.abi_encode()));
        self.transaction(events, Vec::new())
    }

    fn next_page(&mut self) -> u64 {
        self.pages += 1;
        self.pages + 1
    }

    fn carry(&mut self, indices: &[u32]) -> TransactionLogs {
        let (table, first, keys) = (self.table + 1, self.next.len(), indices.len());
        let packed: Bytes = indices.iter().flat_map(|index| index.to_be_bytes()).collect();
        self.roster = low(keccak256((self.roster, keccak256(&packed)).abi_encode()));
        self.next.extend(indices.iter().map(|index| self.keys[*index as usize].clone()));
        let paged = Event::KeysPaged { nonce: self.next_page(), table, first, keys };
        self.transaction(vec![paged, Event::KeysCarried { table, first, indices: packed }], Vec::new())
    }

    fn renew(&mut self) {
        self.table += 1;
        self.keys = std::mem::take(&mut self.next);
    }

    fn snapshot(&mut self, epoch: u64) -> TransactionLogs {
        let weights: Vec<u64> = self.keys.iter().map(|(_, _, weight)| *weight).collect();
        let packed: Vec<u8> = weights.iter().flat_map(|weight| weight.to_be_bytes()).collect();
        let total: u128 = weights.iter().copied().map(u128::from).sum();
        let (beacon, table) = (B256::repeat_byte(epoch as u8 + 1), self.table);
        let parts = (beacon, U256::from(table), self.roster, keccak256(packed)).abi_encode();
        let id = FixedBytes::from_slice(&keccak256(parts)[..20]);
        self.weights.insert(epoch, weights);
        let fixed = Event::Snapshotted { epoch, total, required: total * 2 / 3, table, beacon, id };
        let paged = Event::WeightsPaged { nonce: self.next_page(), epoch, first: 0 };
        self.transaction(vec![fixed, paged], Vec::new())
    }

    fn settle(&mut self, epoch: u64, id: u8, signers: &MemberSet, store: Store) -> TransactionLogs {
        let (events, calldata) = (settled(epoch, id, signers), submitted(epoch, id, signers, store));
        self.transaction(events, calldata)
    }

    /// A network of four operators with a snapshot of epoch 0.
    fn begin(&mut self) -> Vec<TransactionLogs> {
        let mut all: Vec<_> = (1..=4).map(|seed| self.register(seed, 10 * u64::from(seed))).collect();
        all.push(self.snapshot(0));
        all
    }
}

fn settled(epoch: u64, id: u8, signers: &MemberSet) -> Vec<Event> {
    let task = Change::Settled {
        id: B256::repeat_byte(id),
        epoch,
        performer: U256::ZERO,
        result: B256::ZERO,
        approved: true,
        rewarded: true,
        transaction: B256::ZERO,
        block: 0,
        finality: Finality::Recent,
    };
    let weight = signers.iter().map(|index| 10 * (index as u128 + 1)).sum();
    vec![Event::Told(task), Event::Attested { epoch, signers: signers.clone(), weight, amount: 50 }]
}

fn submitted(epoch: u64, id: u8, signers: &MemberSet, store: Store) -> Vec<u8> {
    let keys = signers.iter().map(|_| vec![0; 192].into()).collect();
    let quorum = Quorum {
        base: None,
        store,
        key_pages: vec![],
        weights: vec![],
        keys,
        signers: signers.clone(),
        proof: Proof::Bls12381G2 { signature: [1; 96] },
    };
    let task = Task { id: B256::repeat_byte(id), performer: U256::ZERO, result: B256::ZERO, approved: true };
    let quorum = quorum.encode().unwrap().into();
    TaskNetwork::submitTasksCall { epoch: U256::from(epoch), tasks: vec![task], quorum }.abi_encode()
}

/// A state after these transactions.
fn after(transactions: &[TransactionLogs], weights: &BTreeMap<u64, Vec<u64>>) -> Result<State, Contradiction> {
    let mut state = State::default();
    for transaction in transactions {
        state.apply(&terms(), transaction, weights)?;
    }
    Ok(state)
}

fn block(number: u64, fork: u8, transactions: Vec<TransactionLogs>) -> BlockLogs {
    BlockLogs { id: (number, B256::from(U256::from(number << 8 | u64::from(fork)))), transactions }
}

/// Reads one block.
fn read(draft: &mut NetworkDraft, model: &Model, block: BlockLogs, last_final: Option<u64>) -> Vec<Change> {
    let id = block.id;
    draft.told.clear();
    draft.read(&[block], &model.weights, id, last_final).unwrap();
    draft.told.clone()
}

#[test]
fn reorganisations_of_one_to_three_blocks() {
    let mut model = Model::default();
    let all = MemberSet::full(4);
    let mut draft = NetworkView::new(terms()).draft();
    let registered = (1..=4).map(|seed| model.register(seed, 10 * u64::from(seed))).collect();
    read(&mut draft, &model, block(1, 0, registered), Some(1));
    let snapshot = model.snapshot(0);
    let told = read(&mut draft, &model, block(2, 0, vec![snapshot]), Some(1));
    assert!(matches!(&told[..], [Change::Snapshot(snapshot)] if snapshot.members[3].owner == owner(4)), "{told:?}");
    let first = model.settle(0, 1, &all, Store::Slot(0));
    read(&mut draft, &model, block(3, 0, vec![first]), Some(1));
    let mut three = all.clone();
    three.remove(0);
    let second = model.settle(0, 2, &three, Store::Slot(0));
    read(&mut draft, &model, block(4, 0, vec![second]), Some(1));
    let signers = |draft: &NetworkDraft| {
        let network = draft.view.history.state().unwrap().network(&terms(), 0).unwrap();
        network.bases.into_iter().map(|base| base.signers).collect::<Vec<_>>()
    };
    assert_eq!(signers(&draft), [three]);

    // One block: the base before is in the slot again.
    let undone = draft.view.history.undo().unwrap();
    assert!(matches!(&undone[0], Change::Undone(inner) if matches!(**inner, Change::Attested { .. })), "{undone:?}");
    assert_eq!(undone[1], Change::Unsettled { id: B256::repeat_byte(2) });
    assert_eq!(signers(&draft), std::slice::from_ref(&all));
    // Two: no base.
    let undone = draft.view.history.undo().unwrap();
    assert_eq!(undone[1], Change::Unsettled { id: B256::repeat_byte(1) });
    assert!(signers(&draft).is_empty());
    // Three: no snapshot.
    assert_eq!(draft.view.history.undo().unwrap(), [Change::SnapshotRemoved { epoch: 0 }]);
    assert!(draft.view.history.state().unwrap().network(&terms(), 0).is_none());
    // Four: the first block is final.
    assert_eq!(draft.view.history.undo(), None);

    // The other branch takes another snapshot, with one more operator.
    let mut branch = model.clone();
    (branch.weights, branch.pages, branch.transactions) = (BTreeMap::new(), 0, 90);
    let fifth = branch.register(5, 7);
    let snapshot = branch.snapshot(0);
    let told = read(&mut draft, &branch, block(2, 1, vec![fifth, snapshot]), Some(1));
    assert!(matches!(&told[1], Change::Snapshot(snapshot) if snapshot.total == 107), "{told:?}");
}

#[test]
fn a_settlement_is_final_once_its_block_is() {
    let mut model = Model::default();
    let mut draft = NetworkView::new(terms()).draft();
    let begin = model.begin();
    read(&mut draft, &model, block(1, 0, begin), None);
    let all = MemberSet::full(4);
    for (number, last_final, expected) in
        [(2, None, Finality::Recent), (3, Some(3), Finality::Final), (4, Some(1), Finality::Recent)]
    {
        let settle = model.settle(0, number as u8, &all, Store::Nowhere);
        let told = read(&mut draft, &model, block(number, 0, vec![settle]), last_final);
        let of = |change: &Change| match change {
            Change::Settled { id, finality, .. } => Some((id[0], *finality)),
            _ => None,
        };
        let mut found: Vec<_> = told.iter().filter_map(of).collect();
        // What was recent before is final with its block.
        if number == 3 {
            assert_eq!(found.pop(), Some((2, Finality::Final)));
        }
        assert_eq!(found, [(number as u8, expected)]);
    }
}

/// The contract does not check the performer of an approved task, so a quorum may sign any number.
#[test]
fn any_performer_of_an_approved_task_is_told() {
    let (ContractTerms { contract, verifier, .. }, id) = (terms(), B256::repeat_byte(1));
    for performer in [U256::from(1) << 40, U256::MAX] {
        let (epoch, result) = (U256::ZERO, B256::ZERO);
        let settled = TaskNetwork::TaskSettled { id, epoch, performer, result, approved: true, rewarded: true };
        let log = Log { address: contract, data: settled.encode_log_data() };
        let placed = PlacedLog { block: (1, B256::ZERO), transaction: B256::ZERO, index: 0, log };
        let event = Event::decode(&placed, contract, verifier).unwrap();
        let Some(Event::Told(Change::Settled { performer: told, .. })) = event else { panic!("{event:?}") };
        assert_eq!(told, performer);
    }
}

/// A performer is fined once in an epoch, until the block of its rejected task is undone.
#[test]
fn a_fine_is_known() {
    let mut model = Model::default();
    let mut draft = NetworkView::new(terms()).draft();
    let begin = model.begin();
    read(&mut draft, &model, block(1, 0, begin), Some(1));
    let fined = |draft: &NetworkDraft, epoch, performer| draft.view.history.state().unwrap().is_fined(epoch, performer);
    let mut rejected = model.settle(0, 1, &MemberSet::full(4), Store::Nowhere);
    let Event::Told(Change::Settled { approved, .. }) = &mut rejected.events[0] else { panic!("{rejected:?}") };
    *approved = false;
    let approved = model.settle(0, 2, &MemberSet::full(4), Store::Nowhere);
    read(&mut draft, &model, block(2, 0, vec![approved]), Some(1));
    assert!(!fined(&draft, 0, 0));
    read(&mut draft, &model, block(3, 0, vec![rejected]), Some(1));
    assert!(fined(&draft, 0, 0));
    assert!(!fined(&draft, 0, 1), "another performer");
    assert!(!fined(&draft, 1, 0), "another epoch");
    draft.view.history.undo().unwrap();
    assert!(!fined(&draft, 0, 0));
}

/// Each log that is missing, or stands elsewhere, is found.
#[test]
fn gaps_are_found() {
    let mut model = Model::default();
    let mut all = model.begin();
    all.push(model.settle(0, 1, &MemberSet::full(4), Store::Nowhere));
    let whole = after(&all, &model.weights).unwrap();
    assert_eq!(whole.extent(), (4, 0, 2));
    for transaction in 0..all.len() {
        for event in 0..all[transaction].events.len() {
            let mut less = all.clone();
            let left_out = less[transaction].events.remove(event);
            let found = after(&less, &model.weights);
            // These alone lead on: the comparison with the contract finds that they are missing.
            let is_last = transaction + 1 == all.len()
                || matches!(left_out, Event::WeightsPaged { .. } | Event::Told(Change::Settled { .. }));
            assert_eq!(found.is_ok(), is_last, "{left_out:?}: {found:?}");
        }
    }
    assert_ne!(after(&all[..4], &model.weights).unwrap().extent(), whole.extent());
    // From a later block on.
    let found = after(&all[1..], &model.weights).unwrap_err();
    assert_eq!(found, Contradiction::Gap { what: "key", found: 1, expected: 0 });
    // A page that is left out before another one.
    let page = |nonce| Event::KeysPaged { nonce, table: 0, first: 0, keys: 1 };
    let mut later = all.clone();
    later.push(TransactionLogs { events: vec![page(4)], ..TransactionLogs::default() });
    let found = after(&later, &model.weights).unwrap_err();
    assert_eq!(found, Contradiction::Gap { what: "page", found: 4, expected: 3 });
}

/// The snapshot's id is a hash of all keys, owners and weights.
#[test]
fn what_is_exchanged_is_found() {
    let mut model = Model::default();
    let all = model.begin();
    let refused = |all: &[TransactionLogs], weights: &BTreeMap<u64, Vec<u64>>| after(all, weights).unwrap_err();
    let wrong = Contradiction::SnapshotId { epoch: 0 };
    for weights in [vec![20, 10, 30, 40], vec![10, 20, 30], vec![10, 20, 30, 41], vec![]] {
        assert_eq!(refused(&all, &BTreeMap::from([(0, weights)])), wrong);
    }
    let mut owners = all.clone();
    if let Event::Told(Change::Registered { operator, .. }) = &mut owners[2].events[1] {
        *operator = owner(9);
    }
    assert_eq!(refused(&owners, &model.weights), wrong);
    let mut keys = all.clone();
    if let Event::KeyAdded { key: of, .. } = &mut keys[2].events[0] {
        *of = key(9);
    }
    assert_eq!(refused(&keys, &model.weights), wrong);
    for change in 0..3 {
        let mut snapshot = all.clone();
        if let Event::Snapshotted { required, beacon, id, .. } = &mut snapshot[4].events[0] {
            match change {
                0 => *required -= 1,
                1 => *beacon = B256::ZERO,
                _ => *id = FixedBytes::ZERO,
            }
        }
        assert_eq!(refused(&snapshot, &model.weights), wrong);
    }
    let mut twice = all.clone();
    twice.push(all[4].clone());
    assert_eq!(refused(&twice, &model.weights), wrong);
    let mut short = all.clone();
    short[0].events[0] = Event::KeyAdded { table: 0, index: 0, key: vec![1; 128].into() };
    assert!(matches!(refused(&short, &model.weights), Contradiction::Form { .. }));
    let mut owned = all.clone();
    let again = owned[0].events[1].clone();
    owned[0].events.push(again);
    assert_eq!(refused(&owned, &model.weights), Contradiction::Unknown { what: "key", number: 0 });
    let all_sign = MemberSet::full(4);
    let mut early = all[..4].to_vec();
    early.push(model.settle(0, 1, &all_sign, Store::Nowhere));
    assert_eq!(refused(&early, &model.weights), Contradiction::Unknown { what: "epoch", number: 0 });
}

/// Bases come from calldata, which may be nested. What is not the call of the logs is not taken.
#[test]
fn bases_are_those_of_the_calls_that_were_made() {
    let mut model = Model::default();
    let mut all = model.begin();
    let signers = MemberSet::full(4);
    let mut three = signers.clone();
    three.remove(1);
    let slots = |all: &[TransactionLogs]| {
        let state = after(all, &model.weights).unwrap();
        let bases = state.network(&terms(), 0).unwrap().bases;
        let slots: Vec<_> = bases.iter().map(|base| (base.slot, base.signers.len())).collect();
        assert_eq!(bases.len(), state.commitments(KeyGroup::Bls12381G2).len());
        (slots, state.unseen())
    };
    let call = submitted(0, 1, &signers, Store::Slot(3));
    let with = |calldata: Vec<u8>| {
        let made = TransactionLogs { hash: B256::ZERO, events: settled(0, 1, &signers), calldata: calldata.into() };
        [&all[..], &[made]].concat()
    };
    assert_eq!(slots(&with(call.clone())), (vec![(3, 4)], 0));
    assert_eq!(slots(&with([&[7; 37], &call[..], &[1; 9]].concat())), (vec![(3, 4)], 0));
    // A call of another epoch, another task, other signers, or none.
    for other in [
        submitted(1, 1, &signers, Store::Slot(3)),
        submitted(0, 2, &signers, Store::Slot(3)),
        submitted(0, 1, &three, Store::Slot(3)),
        Vec::new(),
    ] {
        assert_eq!(slots(&with(other)), (vec![], 1));
    }
    // Among several, the one that was made.
    let several = [submitted(0, 1, &three, Store::Slot(4)), call].concat();
    assert_eq!(slots(&with(several)), (vec![(3, 4)], 0));

    // A pinned slot gets a copy of what was in the other.
    all.push(TransactionLogs {
        hash: B256::ZERO,
        events: settled(0, 1, &signers),
        calldata: submitted(0, 1, &signers, Store::Slot(0)).into(),
    });
    let pin =
        |slot, from| TransactionLogs { events: vec![Event::BasePinned { slot, from }], ..TransactionLogs::default() };
    all.push(pin(1, 0));
    assert_eq!(slots(&all).0, [(0, 4), (1, 4)]);
    all.push(pin(1, 9));
    assert_eq!(slots(&all).0, [(0, 4)], "what slot 9 held is not known");
}

/// The key in G2 beside a key in G1 comes from calldata, in which anyone who passes the call on may put what looks like it before and
/// behind it.
#[test]
fn a_key_in_g2_is_that_of_the_call_that_was_made() {
    let terms = ContractTerms { key_group: KeyGroup::Bn254G1, ..terms() };
    let verifier = Contract { chain_id: terms.chain_id, address: terms.verifier };
    let operators = [1, 2].map(|seed| OperatorKey::from_entropy(KeyGroup::Bn254G1, &[seed; 48]));
    let [true_one, other] = [0, 1].map(|place| operators[place].registration(verifier, owner(1)));
    let call = |proof: Vec<u8>| {
        let key = true_one.key.clone();
        TaskNetwork::registerCall { key, proof: proof.into(), amount: U256::ONE }.abi_encode()
    };
    // The key in G2 of another operator, the identity, no point, and too few bytes.
    let foreign = call([&true_one.proof[..64], &other.proof[64..]].concat());
    let [identity, no_point] = [0, 7].map(|byte| call([&true_one.proof[..64], &[byte; 161]].concat()));
    let short = call(true_one.proof[..191].to_vec());
    let made = call(true_one.proof.to_vec());
    let decoys = [foreign, identity, no_point, short].concat();
    let unseen = Bytes::from([&true_one.key[..], &[0; 128]].concat());
    for (calldata, expected) in [
        ([&decoys[..], &made].concat(), operators[0].member()),
        ([&made[..], &decoys].concat(), operators[0].member()),
        (made, operators[0].member()),
        (decoys, unseen.clone()),
        (Vec::new(), unseen),
    ] {
        let (mut model, mut state) = (Model::default(), State::default());
        let registered = model.admit(true_one.key.clone(), owner(1), 10);
        let all = [TransactionLogs { calldata: calldata.into(), ..registered }, model.snapshot(0)];
        for transaction in &all {
            state.apply(&terms, transaction, &model.weights).unwrap();
        }
        assert_eq!(state.network(&terms, 0).unwrap().keys, [expected]);
    }
}

/// Slots are used in turn, so that the last bases stay. Pinned slots are left out, and a new table begins anew.
#[test]
fn slots_are_used_in_turn() {
    let mut model = Model::default();
    let mut all = model.begin();
    let signers = MemberSet::full(4);
    let weights = model.weights.clone();
    let next = |all: &[TransactionLogs], pinned| after(all, &weights).unwrap().next_slot(pinned);
    assert_eq!(next(&all, 1), 0);
    for (task, (slot, expected)) in (1..).zip([(0, 2), (2, 3), (3, 4), (4, 0), (9, 0), (2, 3)]) {
        all.push(model.settle(0, task, &signers, Store::Slot(slot)));
        assert_eq!(next(&all, 1), expected, "after slot {slot}");
    }
    all.push(model.settle(0, 7, &signers, Store::Nowhere));
    assert_eq!(next(&all, 1), 3);
    assert_eq!((next(&all, 0), next(&all, u16::MAX)), (3, 0));
    let state = after(&all, &model.weights).unwrap();
    assert_eq!(state.network(&terms(), 0).unwrap().bases.len(), 5);
}

/// Keys are carried to the next table, together with one that comes meanwhile. The epoch before keeps its table.
#[test]
fn a_renewed_table() {
    let mut model = Model::default();
    let mut all = model.begin();
    let signers = MemberSet::full(4);
    all.push(model.settle(0, 1, &signers, Store::Slot(0)));
    all.push(model.carry(&[3, 1]));
    all.push(model.register(6, 60));
    all.push(model.carry(&[0]));
    let carried = after(&all, &model.weights).unwrap();
    assert_eq!(carried.extent(), (5, 4, 4));
    model.renew();
    all.push(model.snapshot(1));
    let mut state = after(&all, &model.weights).unwrap();
    let snapshot = state.snapshot(1).unwrap();
    let owners: Vec<_> = snapshot.members.iter().map(|member| (member.owner, member.weight)).collect();
    assert_eq!(owners, [(owner(4), 40), (owner(2), 20), (owner(6), 60), (owner(1), 10)]);
    assert_eq!(state.extent(), (4, 0, 5));
    let network = state.network(&terms(), 1).unwrap();
    let pages = [KeyPage { nonce: 3, first: 0, keys: 2 }, KeyPage { nonce: 4, first: 3, keys: 1 }];
    assert_eq!((network.table, &network.key_pages[..], network.bases.len()), (1, &pages[..], 0));
    assert_eq!(network.weight_pages, [WeightPage { nonce: 5, part: 0 }]);
    network.check().unwrap();
    let before = state.network(&terms(), 0).unwrap();
    assert_eq!((before.table, before.keys.len(), before.bases.len()), (0, 5, 1));
    before.check().unwrap();
    // A quorum of the epoch before settles under its own table.
    let late = model.settle(0, 2, &signers, Store::Slot(7));
    state.apply(&terms(), &late, &model.weights).unwrap();
    assert_eq!(state.network(&terms(), 0).unwrap().bases.len(), 2);
    assert!(state.network(&terms(), 1).unwrap().bases.is_empty());

    // Two epochs later the old table is forgotten.
    let next = model.snapshot(2);
    state.apply(&terms(), &next, &model.weights).unwrap();
    assert!(state.network(&terms(), 0).is_none() && state.network(&terms(), 1).is_some());
    assert_eq!(state.epochs().collect::<Vec<_>>(), [1, 2]);
    assert!(state.commitments(KeyGroup::Bls12381G2).is_empty());

    // Carried in another order, the id is another one.
    let place = all.len() - 4;
    let Event::KeysCarried { indices, .. } = &mut all[place].events[1] else { panic!("{:?}", all[place]) };
    *indices = [1_u32, 3].iter().flat_map(|index| index.to_be_bytes()).collect();
    assert_eq!(after(&all, &model.weights).unwrap_err(), Contradiction::SnapshotId { epoch: 1 });
}

/// Ski rental's account grows with what is brought in, and ends with a base.
#[test]
fn rent_is_paid_until_a_base_is_stored() {
    let mut model = Model::default();
    let mut all = model.begin();
    let signers = MemberSet::full(4);
    let rent = |all: &[TransactionLogs]| after(all, &model.weights).unwrap().rent();
    assert_eq!(rent(&all), 0);
    let settle = |id, store| TransactionLogs {
        hash: B256::ZERO,
        events: settled(0, id, &signers),
        calldata: submitted(0, id, &signers, store).into(),
    };
    all.push(settle(1, Store::Nowhere));
    let once = rent(&all);
    assert!(once > 4 * 2_000, "four keys from calldata: {once}");
    all.push(settle(2, Store::Nowhere));
    assert_eq!(rent(&all), 2 * once);
    all.push(settle(3, Store::Slot(0)));
    assert_eq!(rent(&all), 0);
}

/// A snapshot whose weights nobody asked for is not told, and nothing is planned with it.
#[test]
fn an_old_snapshot_says_nothing() {
    let mut model = Model::default();
    let mut draft = NetworkView::new(terms()).draft();
    let begin = model.begin();
    model.weights.clear();
    let told = read(&mut draft, &model, block(1, 0, begin), None);
    assert!(told.iter().all(|change| matches!(change, Change::Registered { .. })), "{told:?}");
    let state = draft.view.history.state().unwrap();
    assert!(state.network(&terms(), 0).is_none() && state.fixed(0).is_some());
}

/// An error in the middle leaves the draft unusable, and says which block it is.
#[test]
fn an_error_names_its_block() {
    let mut model = Model::default();
    let begin = model.begin();
    let mut draft = NetworkView::new(terms()).draft();
    let blocks = [block(7, 0, begin[..1].to_vec()), block(8, 0, begin[2..].to_vec())];
    let error = draft.read(&blocks, &model.weights, (9, B256::ZERO), None).unwrap_err();
    assert!(matches!(error, BlockContradiction { block: 8, .. }), "{error}");
}

#[test]
fn times_of_epochs() {
    let terms = terms();
    assert_eq!((terms.epoch_at(999), terms.epoch_at(1_000), terms.epoch_at(1_199)), (None, Some(0), Some(1)));
    assert_eq!((terms.closes_at(3), terms.slashable_until(3)), (1_500, 1_600));
    assert_eq!((terms.required(100), terms.required(2)), (66, 1));
    assert_eq!(terms.closes_at(u64::MAX), u64::MAX);
}

/// What a restaked operator weighs, as `RestakedTaskNetwork` reads it.
#[test]
fn stake_below_the_minimum_weighs_nothing() {
    let terms = ContractTerms { unit: 10, minimum_stake: 50, ..terms() };
    let weights = [0_u64, 49, 50, 59, 60].map(|stake| terms.weight_of(U256::from(stake)));
    assert_eq!(weights, [0, 0, 5, 5, 6]);
    assert_eq!(terms.weight_of(U256::MAX), u64::MAX);
    let dear = ContractTerms { unit: u128::MAX, minimum_stake: u128::MAX, ..terms };
    assert_eq!(dear.weight_of(U256::MAX), 1);
}

/// Whoever weighs operators names each that has a seat, and nobody else.
#[test]
fn who_has_a_seat_is_known() {
    let mut model = Model::default();
    let mut draft = NetworkView::new(terms()).draft();
    let seats = |draft: &NetworkDraft| draft.view.operators().collect::<Vec<_>>();
    assert_eq!(seats(&draft), [Address::ZERO; 0]);
    let begin = model.begin();
    read(&mut draft, &model, block(1, 0, begin), Some(1));
    assert_eq!(seats(&draft), [1, 2, 3, 4].map(owner));
    // One leaves, and another one takes the seat of a third: its key is the last of the table.
    let left = |seed, index| Event::Told(Change::SeatVacated { operator: owner(seed), index });
    let leaves = model.transaction(vec![left(2, 1)], Vec::new());
    let mut outbids = model.register(9, 50);
    outbids.events.insert(1, left(3, 2));
    read(&mut draft, &model, block(2, 0, vec![leaves, outbids]), Some(1));
    assert_eq!(seats(&draft), [1, 4, 9].map(owner));
    assert!(draft.view.has_seat(owner(9)) && !draft.view.has_seat(owner(3)));
    // It comes back with another key.
    let comes_back = model.admit(key(20), owner(2), 10);
    read(&mut draft, &model, block(3, 0, vec![comes_back]), Some(1));
    assert_eq!(seats(&draft), [1, 2, 4, 9].map(owner));
    // Reorganisations undo both.
    draft.view.history.undo().unwrap();
    assert_eq!(seats(&draft), [1, 4, 9].map(owner));
    draft.view.history.undo().unwrap();
    assert_eq!(seats(&draft), [1, 2, 3, 4].map(owner));
}
