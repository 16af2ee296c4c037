//! A settlement's logs, made by hand, and the network that they tell. On a node they are followed in `crates/quorate-chain`.
#![allow(clippy::unwrap_used, reason = "what a test cannot run fails it")]

use std::sync::Arc;

use quorate_evm::{
    EpochError, Head, KeyGroup, MemberSet, Network, NetworkError, NextEpoch, Order, PlanError,
    alloy_primitives::{Address, B256, Bytes, U256},
    alloy_sol_types::SolCall as _,
    base::{KeyPage, PART, WeightPage},
    bls12381::DigestHash,
    contract::Settlement,
    digest::{Contract, Results},
    follow::{Deployment, FollowError, Follower, NoNetwork, Note, SettlementEvent},
    gas::Measured,
    hub::{self, Settling},
    network::DecodedKeys,
    posting::{Moment, PostedResults, PostingFault, Recomputed},
    quorum::{NONE, Store},
    state,
};
use quorate_lab::operators::Operators;

const DEPLOYMENT: Deployment = Deployment {
    chain_id: 1,
    contract: Address::repeat_byte(0xaa),
    pinned_slots: 1,
    changes_a_store: 5,
    digest_hash: None,
};

fn pack(weights: &[u64]) -> Bytes {
    weights.iter().flat_map(|weight| weight.to_be_bytes()).collect()
}

fn begin(threshold: u64, weights: &[u64], required: u128, renew: bool) -> Vec<u8> {
    let required = U256::from(required).to();
    Settlement::beginCall { threshold, weights: pack(weights), required, renew }.abi_encode()
}

fn prepare(weights: &[u64]) -> Vec<u8> {
    Settlement::prepareCall { threshold: 1, weights: pack(weights) }.abi_encode()
}

fn word(head: Head) -> U256 {
    head.encode().unwrap()
}

/// Both kinds of keys on BLS12-381 have 192 bytes. The contract's code tells which they are, and where it tells nothing, no
/// key is taken.
#[test]
fn the_code_tells_key_groups_of_one_length_apart() {
    for key_group in KeyGroup::ALL {
        let operators = Operators::new(key_group, 1);
        let key = operators.member(0).slice(..key_group.key_bytes());
        let added = SettlementEvent::KeyAdded { table: 0, index: 0, key: key.clone() };
        let code = key_group.creation_code();
        let digest_hash = DigestHash::in_code(code);
        assert_eq!(digest_hash, DigestHash::of(key_group), "{key_group}");
        let mut follower = Follower::new(Deployment { digest_hash, ..DEPLOYMENT });
        follower.apply(std::slice::from_ref(&added), &[]).unwrap();
        assert_eq!(serde_json::to_value(&follower).unwrap()["key_group"], key_group.name());
        let other = match digest_hash {
            None => Some(DigestHash::Uniform),
            Some(_) => None,
        };
        let mut follower = Follower::new(Deployment { digest_hash: other, ..DEPLOYMENT });
        assert_eq!(follower.apply(&[added], &[]), Err(FollowError::KeyLength(key.len())), "{key_group}");
    }
    assert_eq!(DigestHash::in_code(b""), None);
    let both = [KeyGroup::Bls12381G2, KeyGroup::Bls12381G2Nu].map(|group| group.creation_code().to_vec());
    assert_eq!(DigestHash::in_code(&both.concat()), None);
}

/// The log of a registration, and its call, in whose proof the key in G2 beside a key in G1 is that of `twin`.
fn registered(operators: &Operators, index: usize, twin: usize) -> (SettlementEvent, Vec<u8>) {
    let verifier = Contract { chain_id: 1, address: DEPLOYMENT.contract };
    let (key, mut proof) = operators.registration(index, verifier, Address::ZERO);
    if index != twin {
        let (_, other) = operators.registration(twin, verifier, Address::ZERO);
        proof = [&proof[..64], &other[64..192], &proof[192..]].concat().into();
    }
    let event = SettlementEvent::KeyAdded { table: 0, index, key: key.clone() };
    (event, Settlement::registerCall { owner: Address::ZERO, key, proof }.abi_encode())
}

/// A follower, the network that it has to find, and the operators.
struct World {
    follower: Follower,
    network: Network,
    operators: Operators,
}

impl World {
    /// Four members of the weights 1, 2, 3 and 4, of which 6 are required, in epoch 1.
    fn new() -> Self {
        Self::of(KeyGroup::Bn254G2)
    }

    fn of(key_group: KeyGroup) -> Self {
        let operators = Operators::new(key_group, 4);
        let mut follower = Follower::new(Deployment { digest_hash: DigestHash::of(key_group), ..DEPLOYMENT });
        let keys: Vec<_> = operators.members();
        for index in 0..keys.len() {
            let (event, call) = registered(&operators, index, index);
            assert_eq!(apply(&mut follower, event, &call), []);
        }
        let network = Network {
            key_group,
            chain_id: 1,
            contract: DEPLOYMENT.contract,
            nonce: 0,
            table: 0,
            epoch: 1,
            required: 6,
            enough: 3,
            paid: 0,
            keys,
            weights: vec![1, 2, 3, 4],
            key_pages: Vec::new(),
            weight_pages: Vec::new(),
            bases: Vec::new(),
            unknown_newest: None,
        };
        let terms = word(network.head());
        assert_eq!(apply(&mut follower, SettlementEvent::EpochBegun { terms }, &begin(3, &[1, 2, 3, 4], 6, false)), []);
        let waiting = NoNetwork::Waiting { epoch: 1, head: U256::ZERO, newest: B256::ZERO };
        assert_eq!(follower.network().unwrap_err(), waiting);
        assert_eq!(follower.state(), state::entering(state::state(U256::ZERO, B256::ZERO), terms));
        assert_eq!(follower.last_epoch(), (1, true));
        apply(&mut follower, SettlementEvent::EpochEntered { head: terms, newest: B256::ZERO }, &[]);
        Self { follower, network, operators }
    }

    /// Plans a result, and says the log and the calldata with which it settles.
    fn settle(&mut self, signers: &[usize], store: Store) -> (SettlementEvent, Vec<u8>) {
        let signers: MemberSet = signers.iter().copied().collect();
        let results = [B256::repeat_byte(self.network.nonce as u8 + 1)];
        let plan = self.network.plan(&Measured::default(), &signers, Order::of(&results).stored(store)).unwrap();
        let call = plan.call(&self.operators.sign(&signers, &plan.digests)).unwrap();
        let changed = plan.way.changed.len() as u32;
        match store {
            Store::Rental if self.network.paid + changed >= 5 => self.network.settled_and_rented(&plan, 2),
            _ => self.network.settled(&plan),
        }
        let (head, newest) = (word(self.network.head()), self.network.newest());
        (SettlementEvent::Settled { head, newest, results: results.to_vec() }, call.to_vec())
    }

    /// Posts a result that these members sign, to slot 0.
    fn post(&mut self, signers: &[usize]) -> PostedResults {
        let signers: MemberSet = signers.iter().copied().collect();
        let (epoch, nonce) = (self.network.epoch, self.network.nonce);
        let (head, deadline, results) = (word(self.network.head()), u64::MAX, vec![B256::repeat_byte(9)]);
        let settlement = Contract { chain_id: 1, address: DEPLOYMENT.contract };
        let digest = Results { settlement, epoch, nonce, deadline, store: NONE, results: &results }.digest();
        let evidence = [signers.as_bytes(), self.operators.sign(&signers, &[digest]).as_bytes()].concat().into();
        let (poster, when) = (Address::ZERO, Moment::default());
        let posting = PostedResults { head, deadline, results, evidence, poster, when, slot: 0 };
        self.network.nonce += 1;
        let (head, newest) = (word(self.network.head()), self.network.newest());
        let posted = SettlementEvent::Posted { head, newest, posting: posting.clone().into() };
        assert_eq!(apply(&mut self.follower, posted, &[]), []);
        posting
    }

    fn check(&mut self) {
        assert_eq!(self.follower.network().unwrap(), (self.network.clone(), vec![]));
        assert_eq!(self.follower.state(), self.network.state().unwrap());
        // What is kept goes on as what kept it.
        let kept = serde_json::to_vec(&self.follower).unwrap();
        self.follower = serde_json::from_slice(&kept).unwrap();
        assert_eq!(serde_json::to_vec(&self.follower).unwrap(), kept);
    }
}

fn apply(follower: &mut Follower, event: SettlementEvent, calldata: &[u8]) -> Vec<Note> {
    follower.apply(&[event], calldata).unwrap()
}

/// A hub is called with the calls of several settlements. The proofs stand beside these calls, and each kind of keys has proofs of
/// another length.
#[test]
fn a_base_that_a_hub_stored() {
    let with_hubs: Vec<_> = KeyGroup::ALL.into_iter().filter(|key_group| key_group.hub_codes().is_some()).collect();
    assert_eq!(with_hubs.len(), 3);
    for key_group in with_hubs {
        let mut world = World::of(key_group);
        for (signers, store) in [(&[0, 1, 2, 3][..], Store::Slot(0)), (&[1, 2, 3], Store::Slot(4))] {
            let (event, calldata) = world.settle(signers, store);
            let settling = Settling::of_call(key_group, DEPLOYMENT.contract, &calldata).unwrap();
            let other =
                Settling { settlement: Address::repeat_byte(9), call: vec![1; 40].into(), proof: vec![2].into() };
            let notes = apply(&mut world.follower, event, &hub::call(&[other, settling]));
            assert_eq!(notes, [], "{key_group}");
            world.check();
        }
        assert_eq!(world.network.bases.len(), 2, "{key_group}");
    }
}

#[test]
fn every_way_to_store() {
    let mut world = World::new();
    world.check();
    // Three members are enough to be counted; two are weighed.
    for (signers, store) in [
        (&[0, 1, 2, 3][..], Store::Slot(0)),
        (&[1, 2, 3], Store::Slot(4)),
        (&[2, 3], Store::Slot(7)),
        (&[2, 3], Store::Slot(0)),
        (&[0, 2, 3], Store::Nowhere),
        (&[0, 1, 2], Store::Rental),
        (&[1, 2, 3], Store::Rental),
        (&[0, 1, 2, 3], Store::Rental),
        (&[0, 1, 3], Store::Rental),
        (&[0, 3, 1], Store::Rental),
        (&[0, 2, 1], Store::Rental),
        (&[1, 2, 3], Store::Rental),
    ] {
        let (event, call) = world.settle(signers, store);
        assert_eq!(apply(&mut world.follower, event, &call), []);
        world.check();
    }
    assert_eq!(world.network.bases.iter().map(|base| base.slot).collect::<Vec<_>>(), [0, 2, 4, 7]);
    assert_eq!(world.network.bases.iter().find(|base| base.slot == 7).unwrap().weight, 7);
    // A base is pinned; another that is not known takes the slot's place.
    apply(&mut world.follower, SettlementEvent::BasePinned { slot: 1, from: 7 }, &[]);
    let mut pinned = world.network.bases[3].clone();
    pinned.slot = 1;
    world.network.bases.insert(1, pinned);
    world.check();
    let notes = apply(&mut world.follower, SettlementEvent::BasePinned { slot: 1, from: 9 }, &[]);
    assert_eq!(notes, [Note::BaseUnknown { slot: 1 }]);
    world.network.bases.remove(1);
    world.check();
    let commitments = world.follower.commitments();
    let expected: Vec<_> =
        world.network.bases[1..].iter().map(|base| (base.slot, U256::from(base.slot), base.commitment())).collect();
    assert_eq!(commitments, expected);
}

#[test]
fn calls_of_one_transaction_are_told_apart() {
    let mut world = World::new();
    let calls = [world.settle(&[0, 1, 2], Store::Slot(0)), world.settle(&[1, 2, 3], Store::Slot(3))];
    let (events, calls): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
    assert_eq!(world.follower.apply(&events, &[&[7; 13][..], &calls[0], &calls[1]].concat()).unwrap(), []);
    world.check();
}

#[test]
fn what_was_not_seen_is_left_out_and_the_state_is_right() {
    let mut world = World::new();
    let (event, call) = world.settle(&[0, 1, 2], Store::Slot(0));
    apply(&mut world.follower, event, &call);
    let (event, _) = world.settle(&[1, 2, 3], Store::Slot(0));
    assert_eq!(apply(&mut world.follower, event, &[]), [Note::SettledUnseen { nonce: 1 }]);
    let (network, notes) = world.follower.network().unwrap();
    assert_eq!(notes, []);
    assert_eq!((network.bases.len(), network.unknown_newest), (0, Some(world.network.newest())));
    assert_eq!(network.state(), world.network.state());
    assert_eq!(world.follower.state(), world.network.state().unwrap());
    // It plans from the empty quorum, and is known again once another newest base is stored.
    let signers: MemberSet = [0, 1, 2].into_iter().collect();
    let plan = network.plan(&Measured::default(), &signers, Order::of(&[B256::ZERO])).unwrap();
    assert_eq!((plan.base_slot(), plan.newest), (None, world.network.newest()));
    let twice = Network { unknown_newest: Some(B256::ZERO), ..world.network.clone() };
    assert_eq!(twice.check(), Err(NetworkError::NewestTwice { place: 0 }));
}

/// Whoever calls through another contract can put any bytes beside the true call.
#[test]
fn false_calls_in_the_calldata() {
    let mut world = World::new();
    let (SettlementEvent::Settled { head, newest, results }, _) = world.settle(&[0, 1, 2], Store::Slot(0)) else {
        panic!()
    };
    // The same head and result with other signers, one of whom has no key.
    for signers in [vec![0, 1, 3], vec![0, 1, 2, 4]] {
        let mut other = World::new();
        other.operators.push(40);
        other.network.keys = other.operators.members();
        let (_, call) = other.settle(&signers, Store::Slot(0));
        let mut follower = world.follower.clone();
        apply(&mut follower, SettlementEvent::Settled { head, newest, results: results.clone() }, &call);
        let (network, _) = follower.network().unwrap();
        assert_eq!((network.bases.len(), network.unknown_newest), (0, Some(newest)), "{signers:?}");
        assert_eq!(follower.state(), world.network.state().unwrap());
    }
    // Weights that do not lead to the terms.
    let terms = word(Head { epoch: 2, members: 4, enough: 3, required: 6, ..Head::default() });
    for call in [
        begin(3, &[1, 2, 3], 6, false),
        begin(3, &[1, 2, 3, 4], 7, false),
        begin(3, &[1, 2, 3, 4], 6, true),
        begin(0, &[1, 2, 3, 4], 6, false),
        begin(3, &[1, 1, 3, 4], 6, false),
        begin(3, &[1, 2, 3, 4, 5], 6, false),
        prepare(&[1, 2, 3, 4]),
    ] {
        let mut follower = world.follower.clone();
        assert_eq!(
            apply(&mut follower, SettlementEvent::EpochBegun { terms }, &call),
            [Note::WeightsUnseen { epoch: 2 }]
        );
        let head = word(Head { nonce: 0, ..Head::decode(terms) });
        apply(&mut follower, SettlementEvent::EpochEntered { head, newest: B256::ZERO }, &[]);
        assert_eq!(follower.network().unwrap_err(), NoNetwork::NoWeights(2));
    }
}

#[test]
fn prepared_weights_stand_before_those_of_begin() {
    let mut world = World::new();
    let parts = [vec![5u64; PART], vec![7; PART], vec![9, 2]];
    let all = parts.concat();
    let (required, epoch, members) = (1_000, 2, all.len() as u32);
    let enough = state::enough_by(&all, required, 5);
    let terms = word(Head { epoch, members, enough, required, ..Head::default() });
    let begun = begin(5, &parts[2], required, false);
    let log = |members, weights| SettlementEvent::WeightsPrepared { members, weights };
    // Without a log, or without the calldata of a log, or with a call of another length, the weights are not known.
    for (logs, calldata) in [
        (vec![], prepare(&parts[0])),
        (vec![log(0, PART)], prepare(&parts[0])),
        (vec![log(0, PART), log(PART, PART)], vec![]),
        (vec![log(0, 2 * PART)], prepare(&parts[0])),
    ] {
        let mut follower = world.follower.clone();
        logs.into_iter().for_each(|log| drop(apply(&mut follower, log, &calldata)));
        let notes = apply(&mut follower, SettlementEvent::EpochBegun { terms }, &begun);
        let known = follower.clone().packed_weights().len();
        assert_eq!((notes, known), (vec![Note::WeightsUnseen { epoch }], 1));
    }
    // What was discarded comes first.
    for (members, weights) in [(0, &vec![3; PART]), (0, &parts[0]), (PART, &parts[1])] {
        assert_eq!(apply(&mut world.follower, log(members, PART), &prepare(weights)), []);
    }
    assert_eq!(apply(&mut world.follower, SettlementEvent::EpochBegun { terms }, &begun), []);
    apply(&mut world.follower, SettlementEvent::EpochEntered { head: terms, newest: B256::ZERO }, &[]);
    let packed: Vec<_> = parts.iter().map(|part| pack(part)).collect();
    assert_eq!(world.follower.packed_weights(), packed);
    // After a part was prepared and discarded, which leaves no log, `begin` has all weights.
    let weights = [vec![4; PART], vec![1, 2, 3]].concat();
    let (threshold, enough) = state::enough(&weights, required);
    let terms = word(Head { epoch: 3, members: weights.len() as u32, enough, required, ..Head::default() });
    let mut follower = world.follower.clone();
    assert_eq!(apply(&mut follower, log(0, PART), &prepare(&parts[0])), []);
    let begun = begin(threshold, &weights, required, false);
    assert_eq!(apply(&mut follower, SettlementEvent::EpochBegun { terms }, &begun), []);
    apply(&mut follower, SettlementEvent::EpochEntered { head: terms, newest: B256::ZERO }, &[]);
    assert_eq!(follower.packed_weights(), [pack(&weights[..PART]), pack(&weights[PART..])]);
    let (network, _) = world.follower.network().unwrap();
    assert_eq!((network.keys.len(), network.weights), (4, all));
    assert_eq!(world.follower.forget_weights(), Note::WeightsUnseen { epoch });
    assert_eq!(world.follower.network().unwrap_err(), NoNetwork::NoWeights(epoch));
}

/// Anybody executes what a timelock was told to call, and may put what looks like the same call beside it. All calls that fit
/// to the log are kept, and the contract says which it took.
#[test]
fn false_prepares_beside_the_true_one() {
    let mut world = World::new();
    let (first, second, rest) = (vec![5u64; PART], vec![7; PART], vec![9, 2]);
    let (false_one, false_rest) = ([vec![6u64; PART], second.clone()].concat(), vec![9, 3]);
    let all = [first.clone(), second.clone(), rest.clone()].concat();
    let (required, epoch, members) = (1_000, 2, all.len() as u32);
    let enough = state::enough_by(&all, required, 5);
    let terms = word(Head { epoch, members, enough, required, ..Head::default() });
    let both = [first.clone(), second].concat();
    // Calls that cannot be the one of the log are not counted among those that are kept.
    let many = [prepare(&[]).repeat(256), begin(5, &[], required, false).repeat(256)].concat();
    let calldata = [&many[..], &prepare(&false_one), &prepare(&[1; PART]), &prepare(&both)].concat();
    let log = SettlementEvent::WeightsPrepared { members: 0, weights: 2 * PART };
    assert_eq!(apply(&mut world.follower, log, &calldata), []);
    let many = begin(5, &[1; 7], required, false).repeat(256);
    let calldata = [&many[..], &begin(5, &false_rest, required, false), &begin(5, &rest, required, false)].concat();
    assert_eq!(apply(&mut world.follower, SettlementEvent::EpochBegun { terms }, &calldata), []);
    apply(&mut world.follower, SettlementEvent::EpochEntered { head: terms, newest: B256::ZERO }, &[]);
    let follower = &mut world.follower;
    // It is kept as JSON as well.
    *follower = serde_json::from_slice(&serde_json::to_vec(follower).unwrap()).unwrap();
    let true_parts = [pack(&first), pack(&all[PART..2 * PART]), pack(&rest)];
    for (part, expected) in true_parts.iter().enumerate() {
        if follower.packed_weights()[part] != *expected {
            let place = follower.other_weights(part).iter().position(|other| other == expected).unwrap();
            follower.choose_weights(part, place);
        }
        assert!(follower.other_weights(part).is_empty(), "{part}");
    }
    assert_eq!(follower.packed_weights(), true_parts);
}

/// A stranger's call has the weights of the true one and another threshold.
#[test]
fn a_false_threshold_beside_the_true_one() {
    let mut world = World::new();
    let terms = word(Head { epoch: 2, ..world.network.head() });
    let calldata = [begin(1, &[1, 2, 3, 4], 6, false), begin(3, &[1, 2, 3, 4], 6, false)].concat();
    assert_eq!(apply(&mut world.follower, SettlementEvent::EpochBegun { terms }, &calldata), []);
}

/// A stranger made the registrar's contract begin an epoch, and its weights are in no calldata.
#[test]
fn weights_from_elsewhere() {
    let mut world = World::new();
    let (weights, epoch) = (vec![4, 3, 2, 1], 2);
    assert!(!world.follower.take_weights(weights.clone()), "they are known");
    let head = Head { epoch, ..world.network.head() };
    let (begun, unseen) = (SettlementEvent::EpochBegun { terms: word(head) }, Note::WeightsUnseen { epoch });
    assert_eq!(apply(&mut world.follower, begun, &[]), [unseen]);
    assert!(!world.follower.take_weights(weights.clone()), "the epoch is not entered");
    apply(&mut world.follower, SettlementEvent::EpochEntered { head: word(head), newest: B256::ZERO }, &[]);
    assert_eq!(world.follower.network().unwrap_err(), NoNetwork::NoWeights(epoch));
    for other in [&weights[..3], &[4, 3, 2, 1, 0], &[]] {
        assert!(!world.follower.take_weights(other.to_vec()), "{other:?}");
    }
    assert!(world.follower.take_weights(weights.clone()));
    assert_eq!(world.follower.packed_weights(), [pack(&weights)]);
    assert_eq!(world.follower.network().unwrap().0.weights, weights);
    // The contract has others.
    assert_eq!(world.follower.forget_weights(), Note::WeightsUnseen { epoch });
    assert_eq!(world.follower.network().unwrap_err(), NoNetwork::NoWeights(epoch));
}

/// A watcher that begins anew reads of several epochs before it asks the contract, which then tells of the last one alone.
#[test]
fn weights_of_a_past_epoch_that_were_not_confirmed() {
    let mut world = World::of(KeyGroup::Bls12381G2);
    // Two are fewer than those whose number is enough, so they are weighed: 7 and 3, of 6.
    let [heavy, light] = [world.post(&[2, 3]), world.post(&[0, 1])];
    let head = Head { epoch: 2, ..world.network.head() };
    let begun = SettlementEvent::EpochBegun { terms: word(Head { nonce: 0, ..head }) };
    assert_eq!(apply(&mut world.follower, begun, &begin(3, &[1, 2, 3, 4], 6, false)), []);
    apply(&mut world.follower, SettlementEvent::EpochEntered { head: word(head), newest: B256::ZERO }, &[]);
    world.follower.confirm_weights();
    let mut decoded = DecodedKeys::default();
    for (posting, unconfirmed) in
        [(heavy, Recomputed::True), (light, Recomputed::False(PostingFault::TooLight { weight: 3, required: 6 }))]
    {
        let unknown = Recomputed::Unknown("the weights of epoch 1 are not known".to_owned());
        assert_eq!(world.follower.recompute(&posting, &mut decoded), unknown);
        assert_eq!(world.follower.recompute_unconfirmed(&posting, &mut decoded), unconfirmed);
    }
}

/// Anyone with a deposit posts a megabyte, and a program keeps the states after many blocks.
#[test]
fn copies_of_a_follower_share_its_postings() {
    let mut world = World::of(KeyGroup::Bls12381G2);
    let posted = world.post(&[0, 1, 2]);
    let copy = world.follower.clone();
    let [here, there] = [&world.follower, &copy].map(|follower| &follower.postings().next().unwrap().posting);
    assert!(Arc::ptr_eq(here, there) && **here == posted);
    world.check();
}

/// A stake registrar begins the epoch. Its calldata has no weights, and its log has.
#[test]
fn weights_that_a_stake_registrar_states() {
    let mut world = World::new();
    let weights = vec![10, 20, 30, 40];
    let (_, enough) = state::enough(&weights, 67);
    let epoch = world.network.epoch + 1;
    let terms = word(Head { nonce: 0, epoch, enough, required: 67, paid: 0, ..world.network.head() });
    let begun = SettlementEvent::EpochBegun { terms };
    let weighed = |required, weights: &[u64]| SettlementEvent::EpochWeighed { required, weights: weights.to_vec() };
    for (events, found) in [
        (vec![weighed(67, &weights), begun.clone()], true),
        // Other weights than those of the terms: fewer, heavier ones, or another requirement.
        (vec![weighed(67, &weights[..3]), begun.clone()], false),
        (vec![weighed(67, &[40, 40, 40, 40]), begun.clone()], false),
        (vec![weighed(66, &weights), begun.clone()], false),
        // A log behind the epoch is not one of it.
        (vec![begun.clone(), weighed(67, &weights)], false),
    ] {
        let mut follower = world.follower.clone();
        let notes = follower.apply(&events, &[]).unwrap();
        assert_eq!(notes.is_empty(), found, "{events:?}: {notes:?}");
        let head = word(Head::decode(terms).entered(&follower.head()));
        apply(&mut follower, SettlementEvent::EpochEntered { head, newest: world.network.newest() }, &[]);
        assert_eq!(follower.network().is_ok_and(|(network, _)| network.weights == weights), found, "{events:?}");
    }
    world.follower.apply(&[weighed(67, &weights)], &[]).unwrap();
    assert_eq!(world.follower.last_epoch(), (epoch - 1, false), "nothing was begun");
}

/// As after a part of the weights was lost on the way: the contract does not compare weights with what is required.
#[test]
fn an_epoch_in_which_nothing_settles_is_noted() {
    let mut world = World::new();
    let terms = word(Head { epoch: 2, members: 4, enough: state::NEVER, required: 11, ..Head::default() });
    let begun = begin(4, &[1, 2, 3, 4], 11, false);
    assert_eq!(apply(&mut world.follower, SettlementEvent::EpochBegun { terms }, &begun), []);
    let head = word(Head::decode(terms).entered(&world.network.head()));
    let entered = SettlementEvent::EpochEntered { head, newest: world.network.newest() };
    let note = Note::NothingSettles { epoch: 2, total: 10, required: 11 };
    assert!(note.to_string().contains("together weigh 10, and a quorum needs 11; nothing settles"), "{note}");
    assert_eq!(apply(&mut world.follower, entered, &[]), [note]);
}

/// The contract does not compare weights with keys, so the epoch is one, and its network is that of the contract.
#[test]
fn a_renewed_table_with_fewer_keys_than_weights() {
    let mut world = World::new();
    apply(&mut world.follower, SettlementEvent::KeysPaged { nonce: 2, table: 1, first: 0, keys: 3 }, &[]);
    apply(&mut world.follower, SettlementEvent::KeysCarried { table: 1, first: 0, indices: vec![3, 1, 0] }, &[]);
    let weights = vec![5; 6];
    let terms = word(Head { table: 1, epoch: 2, members: 6, enough: 2, required: 10, ..Head::default() });
    assert_eq!(apply(&mut world.follower, SettlementEvent::EpochBegun { terms }, &begin(5, &weights, 10, true)), []);
    let head = word(Head::decode(terms).entered(&world.network.head()));
    let entered = SettlementEvent::EpochEntered { head, newest: B256::ZERO };
    let note = Note::WeightsBehindKeys { epoch: 2, weights: 6, keys: 3 };
    assert_eq!(apply(&mut world.follower, entered, &[]), [note]);
    let (network, notes) = world.follower.network().unwrap();
    assert_eq!((notes, network.keys.len(), &network.weights), (vec![], 3, &weights));
    assert_eq!(network.state().unwrap(), world.follower.state());
    // What is written is read, two of the three members are enough, and there is no fourth one.
    let network = Network::from_json(&serde_json::to_vec(&network).unwrap()).unwrap();
    let plan = |signers: MemberSet| network.plan(&Measured::default(), &signers, Order::of(&[B256::ZERO]));
    assert_eq!(plan([0, 2].into_iter().collect()).unwrap().weight, 10);
    let error = plan([0, 3].into_iter().collect()).unwrap_err();
    assert_eq!(error, PlanError::NoSuchMember { index: 3, members: 3 });
    // The next epoch has no such weights unless the table is renewed again.
    let next = |renew| NextEpoch { weights: weights.clone(), required: 10, renew }.calls(&network);
    assert_eq!(next(false), Err(EpochError::WeightsBehindKeys { weights: 6, keys: 3 }));
    assert!(next(true).is_ok());
}

#[test]
fn the_table_is_renewed() {
    let mut world = World::new();
    for (signers, slot) in [(&[0, 1, 2], 0), (&[1, 2, 3], 4)] {
        let (event, call) = world.settle(signers, Store::Slot(slot));
        apply(&mut world.follower, event, &call);
    }
    apply(&mut world.follower, SettlementEvent::KeysPaged { nonce: 1, table: 0, first: 0, keys: 4 }, &[]);
    // The page's log stands before that of the keys.
    apply(&mut world.follower, SettlementEvent::KeysPaged { nonce: 2, table: 1, first: 0, keys: 2 }, &[]);
    apply(&mut world.follower, SettlementEvent::KeysCarried { table: 1, first: 0, indices: vec![3, 1] }, &[]);
    world.network.key_pages = vec![KeyPage { nonce: 1, first: 0, keys: 4 }];
    world.check();
    let terms = word(Head { table: 1, epoch: 2, members: 2, enough: 2, required: 10, ..Head::default() });
    assert_eq!(apply(&mut world.follower, SettlementEvent::EpochBegun { terms }, &begin(5, &[5, 5], 10, true)), []);
    // A key that is added now is added to the next table, and weights that are published are those of the next epoch.
    apply(
        &mut world.follower,
        SettlementEvent::KeyAdded { table: 1, index: 2, key: world.network.keys[0].clone() },
        &[],
    );
    apply(&mut world.follower, SettlementEvent::WeightsPaged { nonce: 3, epoch: 2, first: 0 }, &[]);
    apply(&mut world.follower, SettlementEvent::WeightsPaged { nonce: 4, epoch: 1, first: 0 }, &[]);
    let head = word(Head::decode(terms).entered(&world.network.head()));
    apply(&mut world.follower, SettlementEvent::EpochEntered { head, newest: B256::ZERO }, &[]);
    let keys = &world.network.keys;
    let keys = [3, 1, 0].map(|index: usize| keys[index].clone()).to_vec();
    world.network = Network {
        table: 1,
        epoch: 2,
        required: 10,
        enough: 2,
        keys,
        weights: vec![5, 5],
        key_pages: vec![KeyPage { nonce: 2, first: 0, keys: 2 }],
        weight_pages: vec![WeightPage { nonce: 3, part: 0 }],
        bases: Vec::new(),
        ..world.network
    };
    world.check();
    assert_eq!(world.follower.keys(), 3);
}

/// Whoever follows from a block behind the deployment on has a true settlement's address.
#[test]
fn a_result_before_any_key_means_missing_logs() {
    let mut follower = Follower::new(DEPLOYMENT);
    let settled = SettlementEvent::Settled {
        head: word(Head { nonce: 1, ..Head::default() }),
        newest: B256::ZERO,
        results: vec![B256::ZERO],
    };
    let error = follower.apply(&[settled], &[]).unwrap_err();
    assert_eq!(error, FollowError::NoKeys);
    let words = error.to_string();
    assert!(
        words.starts_with("logs are missing: ") && words.contains("from the block of the deployment on"),
        "{words}"
    );
}

/// A gap is found where it is, and not by a file that does not match.
#[test]
fn missing_logs_are_refused() {
    let world = World::new();
    let refused = |event: SettlementEvent| world.follower.clone().apply(&[event], &[]).unwrap_err();
    let gap = |what, found, expected| FollowError::Gap { what, found, expected };
    let key = world.network.keys[0].clone();
    assert_eq!(refused(SettlementEvent::KeyAdded { table: 0, index: 5, key: key.clone() }), gap("key", 5, 4));
    assert_eq!(refused(SettlementEvent::KeyAdded { table: 0, index: 3, key: key.clone() }), gap("key", 3, 4));
    assert_eq!(
        refused(SettlementEvent::KeyAdded { table: 0, index: 4, key: key.slice(..64) }),
        FollowError::KeyLength(64)
    );
    assert_eq!(
        refused(SettlementEvent::KeyAdded { table: 0, index: 4, key: key.slice(..5) }),
        FollowError::KeyLength(5)
    );
    let head = |nonce, epoch| word(Head { nonce, epoch, ..world.network.head() });
    let settled = |nonce, results| SettlementEvent::Settled { head: head(nonce, 1), newest: B256::ZERO, results };
    assert_eq!(refused(settled(2, vec![B256::ZERO])), gap("result", 2, 1));
    assert_eq!(refused(settled(1, vec![B256::ZERO; 2])), gap("result", 1, 2));
    assert_eq!(refused(SettlementEvent::EpochBegun { terms: head(0, 3) }), gap("epoch", 3, 2));
    let entered = SettlementEvent::EpochEntered { head: head(0, 2), newest: B256::ZERO };
    assert_eq!(refused(entered), FollowError::NotBegun(2));
    let carried = SettlementEvent::KeysCarried { table: 1, first: 0, indices: vec![0, 4] };
    assert_eq!(refused(carried), FollowError::Carried { index: 4, keys: 4 });
    let carried = SettlementEvent::KeysCarried { table: 1, first: 1, indices: vec![0] };
    assert_eq!(refused(carried), gap("carried key", 1, 0));
    let mut fresh = Follower::new(DEPLOYMENT);
    assert_eq!(fresh.network().unwrap_err(), NoNetwork::NoKeys);
    apply(&mut fresh, SettlementEvent::KeyAdded { table: 0, index: 0, key }, &[]);
    // The network before the first epoch, from which `enter` takes the head: all of it is zero.
    let (network, notes) = fresh.network().unwrap();
    assert_eq!((network.keys.len(), network.epoch, network.enough, notes), (1, 0, state::NEVER, vec![]));
    assert_eq!(network.head().encode().unwrap(), U256::ZERO);
    assert_eq!(network.state().unwrap(), state::state(U256::ZERO, B256::ZERO));
}

#[test]
fn a_key_in_g1_needs_its_key_in_g2() {
    let operators = Operators::new(KeyGroup::Bn254G1, 3);
    let register = |index, twin| registered(&operators, index, twin);
    let mut follower = Follower::new(DEPLOYMENT);
    let (event, call) = register(0, 0);
    assert!(event.needs_calldata());
    assert_eq!(apply(&mut follower, event, &call), []);
    // Another member's key in G2, and none.
    let (event, call) = register(1, 0);
    assert_eq!(apply(&mut follower, event, &call), [Note::TwinUnseen { index: 1 }]);
    let (event, _) = register(2, 2);
    assert_eq!(apply(&mut follower, event, &[]), [Note::TwinUnseen { index: 2 }]);
    let terms = word(Head { epoch: 1, members: 3, enough: 1, required: 1, ..Head::default() });
    apply(&mut follower, SettlementEvent::EpochBegun { terms }, &begin(1, &[1, 1, 1], 1, false));
    apply(&mut follower, SettlementEvent::EpochEntered { head: terms, newest: B256::ZERO }, &[]);
    let (network, _) = follower.network().unwrap();
    assert_eq!(network.keys[0], operators.member(0));
    let plan = |member| network.plan(&Measured::default(), &[member].into_iter().collect(), Order::of(&[B256::ZERO]));
    assert!(plan(0).is_ok());
    assert!(plan(1).is_err_and(|error| error.to_string().starts_with("keys[1]")));
}
