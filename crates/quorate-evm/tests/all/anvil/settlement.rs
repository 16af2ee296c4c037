//! `Settlement` with fifty operators: thirty tasks with changing quorums, the rotation of a key, a slashed operator.

use quorate_evm::{
    KeyGroup, MemberSet, Network, Order, SettlementPlan,
    alloy_primitives::{B256, Bytes, U256},
    alloy_sol_types::{SolConstructor, SolError},
    base::{KeyPage, Weighing, WeightPage},
    contract::{Hub, HubSettlement, Settlement},
    gas::Measured,
    hub::{self, Settling},
    quorum::Store,
    state::{self, Head, NEVER},
};
use quorate_lab::{
    anvil::{TestNode, events},
    operators::Operators,
};

#[test]
fn thirty_tasks_with_keys_in_g2_of_bn254() {
    run(KeyGroup::Bn254G2, 50, 30);
}

#[test]
fn tasks_with_keys_in_g1_of_bn254() {
    run(KeyGroup::Bn254G1, 50, 10);
}

#[test]
fn tasks_with_keys_in_g2_of_bls12381() {
    run(KeyGroup::Bls12381G2, 50, 10);
}

#[test]
fn tasks_with_keys_in_g2_of_bls12381_and_a_nonuniform_hash() {
    run(KeyGroup::Bls12381G2Nu, 50, 10);
}

/// The head is zero then: it requires no weight and no member, so a single registered key might seem enough.
#[test]
fn before_the_first_epoch_nothing_settles() {
    let Some(chain) = TestNode::start() else { return };
    let world = World::deploy(chain, KeyGroup::Bn254G2, 12);
    // The plan is made as if one member were enough.
    let network = Network { epoch: 1, weights: vec![1], required: 1, enough: 1, ..world.network.clone() };
    let one = MemberSet::full(1);
    let mut plan = network.plan(&Measured::default(), &one, Order::of(&[B256::ZERO])).unwrap();
    plan.head = Head::default();
    let signature = world.operators.sign(&one, &plan.digests);
    let refusal = world.chain.refusal(network.contract, plan.call(&signature).unwrap());
    assert_eq!(refusal[..4], Settlement::TooFewMembers::SELECTOR);
}

/// Quorums whose signatures a hub checks together. The settlement knows the state after them as if each had settled alone.
#[test]
fn three_quorums_by_a_hub() {
    let mut served = 0;
    for key_group in KeyGroup::ALL {
        let Some(codes) = key_group.hub_codes() else { continue };
        served += 1;
        three_by_a_hub(key_group, codes);
    }
    assert_eq!(served, 3, "hubs take all keys but those in G2 of BN254");
}

fn three_by_a_hub(key_group: KeyGroup, [hub_code, settlement_code]: [&'static [u8]; 2]) {
    let Some(chain) = TestNode::start() else { return };
    let hub = chain.create(hub_code.into());
    let arguments = HubSettlement::constructorCall {
        registrar: chain.account(0),
        pinned: U256::from(1),
        changesAStore: U256::from(CHANGES_A_STORE),
        hub,
    };
    let code = [settlement_code, &arguments.abi_encode()].concat();
    let mut world = World::deploy_code(chain, key_group, 12, code.into());
    world.network.weights = vec![1_000; 12];
    world.begin_epoch(Threshold::Sharp);
    world.settle(&MemberSet::full(12), &[B256::ZERO], Store::Slot(0));

    let (contract, measured) = (world.network.contract, Measured::default());
    let mut all = Vec::new();
    for i in 0..3 {
        let signers: MemberSet = (0..12).filter(|member| member % 5 != i).collect();
        let results: Vec<_> = (0..=i).map(|j| B256::repeat_byte((10 * i + j) as u8)).collect();
        let plan = world.network.plan(&measured, &signers, Order::of(&results).stored(Store::Slot(0))).unwrap();
        let call = plan.call(&world.operators.sign(&signers, &plan.digests)).unwrap();
        all.push(Settling::of_call(key_group, contract, &call).unwrap());
        world.network.settled(&plan);
    }
    // The signature of another quorum. What else stands in the proof belongs to the digest and the key.
    let mut wrong = all.clone();
    let signature = key_group.signature_bytes();
    wrong[2].proof = [&all[1].proof[..signature], &all[2].proof[signature..]].concat().into();
    let refusal = world.chain.refusal(hub, hub::call(&wrong));
    assert_eq!(refusal[..4], Hub::FalseSignatures::SELECTOR);

    let receipt = world.chain.send_from(1, hub, hub::call(&all));
    let settled = events::<Settlement::SettledAll>(&receipt);
    assert_eq!(settled.iter().map(|event| event.results.len()).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(world.chain.read(contract, &Settlement::stateCall {}), world.network.state().unwrap());
    // The next one settles alone, from the base that the hub's last quorum became.
    world.settle(&(0..12).filter(|member| member % 5 != 2).collect(), &[B256::ZERO], Store::Nowhere);
}

fn run(key_group: KeyGroup, operators: u8, tasks: usize) {
    let Some(chain) = TestNode::start() else { return };
    let mut world = World::deploy(chain, key_group, operators);
    let n = usize::from(operators);
    world.network.weights = vec![1_000; n];
    world.begin_epoch(Threshold::Useless);
    world.pin_the_full_set();

    // Quorums change from task to task, some calls settle several results, some quorums are stored. In the first epoch the
    // contract reads weights, in the second it counts members.
    let mut signers = MemberSet::full(n);
    let mut sent = 1;
    for task in 0..tasks {
        if task == tasks / 2 {
            world.begin_epoch(Threshold::Sharp);
        }
        for k in 0..5 {
            toggle(&mut signers, (task * 7 + k * (11 + task)) % n);
        }
        let results: Vec<_> = (0..1 + task % 3).map(|i| B256::repeat_byte((task * 3 + i) as u8)).collect();
        let store = match task % 4 {
            1 => Store::Slot(2),
            2 => Store::Slot(0),
            3 => Store::Slot(3 + (task as u16 / 4) % 2),
            _ => Store::Nowhere,
        };
        let plan = world.settle(&signers, &results, store);
        assert_eq!(plan.way.weighing == Weighing::Counted, task >= tasks / 2);
        sent += results.len() as u64;
    }
    assert_eq!((world.network.nonce, world.network.epoch), (sent, 2));

    // Operator 7 rotates its key: the new key has a new index, and the old key weighs nothing from the next epoch on.
    // Operator 3 is slashed, and its key weighs nothing either. Bases of the epoch before keep their keys.
    let new = world.register(operators + 1);
    world.network.weights.push(world.network.weights[7]);
    (world.network.weights[7], world.network.weights[3]) = (0, 0);
    world.begin_epoch(Threshold::Useless);
    toggle(&mut signers, new);
    for gone in [3, 7] {
        signers.remove(gone);
    }
    let plan = world.settle(&signers, &[B256::repeat_byte(0xee)], Store::Slot(2));
    assert!(plan.base_slot().is_some(), "a base of the old epoch is near");
    let full: u128 = world.network.weights.iter().map(|weight| u128::from(*weight)).sum();
    assert_eq!(full, (u128::from(operators) - 1) * 1_000);
    // A slashed operator can still sign, and weighs nothing.
    let mut with_slashed = signers.clone();
    with_slashed.insert(3);
    let heavier = world.settle(&with_slashed, &[B256::repeat_byte(0xef)], Store::Nowhere);
    assert_eq!(heavier.weight, plan.weight);

    // Ski rental counts changed members until it stores the quorum in the first slot that is not pinned.
    while world.network.paid != 0 || signers.contains(11) {
        signers = MemberSet::full(n + 1).symmetric_difference(&[3, 7, 11].into_iter().collect());
        toggle(&mut signers, 12 + world.network.nonce as usize % 30);
        world.settle(&signers, &[B256::repeat_byte(0xf0)], Store::Rental);
    }
    assert_eq!(world.network.bases.iter().find(|base| base.slot == 2).unwrap().signers, signers);

    world.refusals(&signers);
}

/// The threshold that `begin` is given, from which it computes a number of members.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Threshold {
    /// The best threshold.
    Sharp,
    /// A threshold from which no number of members follows.
    Useless,
}

/// A settlement on a node, and the network as its aggregator follows it.
struct World {
    chain: TestNode,
    operators: Operators,
    network: Network,
    /// The head in the contract's state. Until the next epoch is entered, it is that of the epoch before.
    shown: U256,
}

impl World {
    /// Deploys the contract, registers operators with their proofs, and copies all keys but ten to a page.
    fn deploy(chain: TestNode, key_group: KeyGroup, n: u8) -> Self {
        let arguments = Settlement::constructorCall {
            registrar: chain.account(0),
            pinned: U256::from(1),
            changesAStore: U256::from(CHANGES_A_STORE),
        };
        let code = [key_group.creation_code(), &arguments.abi_encode()].concat();
        Self::deploy_code(chain, key_group, n, code.into())
    }

    /// The same with the creation code of a settlement, whose registrar is the first account.
    fn deploy_code(chain: TestNode, key_group: KeyGroup, n: u8, code: Bytes) -> Self {
        let contract = chain.create(code);
        let network = chain.network(key_group, contract);
        let mut this = Self { chain, operators: Operators::new(key_group, 0), network, shown: U256::ZERO };
        for (index, seed) in (1..=n).enumerate() {
            assert_eq!(this.register(seed), index);
        }
        let paged = usize::from(n) - 10;
        let keys: Vec<u8> =
            this.network.keys[..paged].iter().flat_map(|key| key[..key_group.key_bytes()].to_vec()).collect();
        let call =
            Settlement::compactCall { first: U256::ZERO, keys: U256::from(paged), nonces: vec![], tail: keys.into() };
        let receipt = this.chain.send(contract, &call);
        for paged in events::<Settlement::KeysPaged>(&receipt) {
            let page = KeyPage { nonce: paged.nonce.to(), first: paged.first.to(), keys: paged.keys.to() };
            this.network.key_pages.push(page);
        }
        this
    }

    /// Registers one more key with its proof of possession. Returns the index that the contract reports.
    fn register(&mut self, seed: u8) -> usize {
        self.operators.push(seed);
        let owner = self.chain.account(0);
        let verifier = self.chain.contract(self.network.contract);
        let place = self.network.keys.len();
        let (key, proof) = self.operators.registration(place, verifier, owner);
        let call = Settlement::registerCall { owner, key, proof };
        let receipt = self.chain.send(self.network.contract, &call);
        let [registered] = &events::<Settlement::Registered>(&receipt)[..] else { panic!("one key: {receipt:?}") };
        self.network.keys.push(self.operators.member(place));
        registered.index.to()
    }

    /// Begins an epoch and enters it. Between the two, nothing settles.
    fn begin_epoch(&mut self, threshold: Threshold) {
        let contract = self.network.contract;
        let total: u128 = self.network.weights.iter().map(|weight| u128::from(*weight)).sum();
        let required = total / 4;
        let (sharp, enough) = state::enough(&self.network.weights, required);
        let (threshold, enough) = if threshold == Threshold::Sharp { (sharp, enough) } else { (1, NEVER) };
        assert_eq!(enough, state::enough_by(&self.network.weights, required, threshold));
        let before = Head::decode(self.shown);
        assert_eq!(
            self.chain.read(contract, &Settlement::stateCall {}),
            state::state(self.shown, self.network.newest())
        );
        let weights: Vec<u8> = self.network.weights.iter().flat_map(|weight| weight.to_be_bytes()).collect();
        let call = Settlement::beginCall {
            threshold,
            weights: weights.clone().into(),
            required: U256::from(required).to(),
            renew: false,
        };
        let receipt = self.chain.send(contract, &call);
        self.network.weight_pages.clear();
        self.network.epoch += 1;
        (self.network.required, self.network.enough) = (required, enough);

        let terms = Head { nonce: 0, paid: 0, ..self.network.head() };
        let [begun] = &events::<Settlement::EpochBegun>(&receipt)[..] else { panic!("one event: {receipt:?}") };
        assert_eq!((begun.epoch, Head::decode(begun.terms)), (U256::from(terms.epoch), terms));
        let newest = self.network.newest();
        let folded = state::entering(state::state(self.shown, newest), begun.terms);
        assert_eq!(self.chain.read(contract, &Settlement::stateCall {}), folded);
        assert!(self.chain.read(contract, &Settlement::waitingCall {}));
        assert_eq!(self.refusal_of_all(), Settlement::NotThisState::SELECTOR);

        self.chain.send(contract, &Settlement::enterCall { head: self.shown, newest });
        assert_eq!(self.network.head(), terms.entered(&before));
        self.shown = self.network.head().encode().unwrap();
        // Every second epoch has a page of weights. In the others, weights are passed in calldata.
        if self.network.epoch % 2 == 1 {
            let call = Settlement::publishCall { part: U256::ZERO, weights: weights.into() };
            let receipt = self.chain.send(contract, &call);
            let [page] = &events::<Settlement::WeightsPaged>(&receipt)[..] else { panic!("one event: {receipt:?}") };
            self.network.weight_pages = vec![WeightPage { nonce: page.nonce.to(), part: 0 }];
        }
        assert!(!self.chain.read(contract, &Settlement::waitingCall {}));
        assert_eq!(self.chain.read(contract, &Settlement::stateCall {}), self.network.state().unwrap());
    }

    /// The error with which the contract refuses a settlement by all members.
    fn refusal_of_all(&self) -> [u8; 4] {
        let all = MemberSet::full(self.network.weights.len());
        let plan = self.network.plan(&Measured::default(), &all, Order::of(&[B256::ZERO])).unwrap();
        let signature = self.operators.sign(&all, &plan.digests);
        self.chain.refusal(self.network.contract, plan.call(&signature).unwrap())[..4].try_into().unwrap()
    }

    /// Pins the full set in slot 1, where no call stores.
    fn pin_the_full_set(&mut self) {
        let all = MemberSet::full(self.network.keys.len());
        self.settle(&all, &[B256::ZERO], Store::Slot(2));
        let call = Settlement::pinCall { slot: U256::from(1), from: U256::from(2) };
        self.chain.send(self.network.contract, &call);
        let mut pinned = self.network.bases[0].clone();
        pinned.slot = 1;
        self.network.bases.insert(0, pinned);
    }

    /// Plans, signs and sends. The events match the call, the gas matches the estimate, and the slots hold the bases.
    fn settle(&mut self, signers: &MemberSet, results: &[B256], store: Store) -> SettlementPlan {
        let measured = Measured::default();
        let deadline = self.chain.now() + 60;
        let order = Order { deadline, store, ..Order::of(results) };
        let plan = self.network.plan(&measured, signers, order).unwrap();
        let signature = self.operators.sign(signers, &plan.digests);
        assert!(plan.verify(&signature).unwrap());
        let call = plan.call(&signature).unwrap();
        let receipt = self.chain.send_listed(1, self.network.contract, call.clone(), &plan.access_list);

        let one = events::<Settlement::Settled>(&receipt);
        let one = one.into_iter().map(|event| (event.head, event.newest, vec![event.result]));
        let all = events::<Settlement::SettledAll>(&receipt);
        let logs: Vec<_> = one.chain(all.into_iter().map(|event| (event.head, event.newest, event.results))).collect();

        let storing = self.network.storing(&plan);
        let estimate = plan.estimate(&measured, &call, storing).total();
        let error = (estimate as f64 - receipt.gas_used as f64) / receipt.gas_used as f64;
        let (key_group, changed, weighing) = (self.network.key_group, plan.way.changed.len(), plan.way.weighing);
        println!(
            "{key_group}, {changed} changed, {weighing:?}, {} results, {storing:?}: {} gas, {error:+.3}",
            results.len(),
            receipt.gas_used
        );
        let rented = store == Store::Rental && self.network.paid + changed as u32 >= CHANGES_A_STORE;
        assert!(rented || error.abs() < TOLERANCE, "{key_group}: {} gas, {estimate} estimated", receipt.gas_used);

        if rented {
            self.network.settled_and_rented(&plan, 2);
        } else {
            self.network.settled(&plan);
        }
        self.shown = self.network.head().encode().unwrap();
        // The log tells the next state.
        assert_eq!(logs, [(self.shown, self.network.newest(), results.to_vec())]);
        let contract = self.network.contract;
        assert_eq!(self.chain.read(contract, &Settlement::stateCall {}), self.network.state().unwrap());
        for base in self.network.bases.iter().filter(|base| base.slot != 0) {
            let call = Settlement::commitmentAtCall { place: U256::from(base.slot) };
            assert_eq!(self.chain.read(contract, &call), base.commitment(), "slot {}", base.slot);
        }
        plan
    }

    /// The contract refuses the signature of other members, a signature over another result, results that settled before, and
    /// a quorum that is too light.
    fn refusals(&self, signers: &MemberSet) {
        let (measured, order) = (Measured::default(), Order::of(&[B256::repeat_byte(0xdd)]));
        let plan = self.network.plan(&measured, signers, order.clone()).unwrap();
        let mut fewer = signers.clone();
        fewer.remove(signers.iter().next().unwrap());
        for signature in [self.operators.sign(&fewer, &plan.digests), self.operators.sign(signers, &[[9; 32]])] {
            assert!(!plan.verify(&signature).unwrap());
            let refusal = self.chain.refusal(self.network.contract, plan.call(&signature).unwrap());
            assert_eq!(refusal[..4], Settlement::FalseSignature::SELECTOR);
        }
        // Nobody but the signers can choose another slot or deadline.
        let signature = self.operators.sign(signers, &plan.digests);
        for order in [order.clone().stored(Store::Slot(0)), Order { deadline: u64::MAX - 1, ..order.clone() }] {
            let other = self.network.plan(&measured, signers, order).unwrap();
            let refusal = self.chain.refusal(self.network.contract, other.call(&signature).unwrap());
            assert_eq!(refusal[..4], Settlement::FalseSignature::SELECTOR);
        }
        let late = self.network.plan(&measured, signers, Order { deadline: 1, ..order.clone() }).unwrap();
        let signature = self.operators.sign(signers, &late.digests);
        let refusal = self.chain.refusal(self.network.contract, late.call(&signature).unwrap());
        assert_eq!(refusal[..4], Settlement::DeadlinePassed::SELECTOR);
        let refusal = |network: &Network, signers: &MemberSet, head: Option<Head>| {
            let mut plan = network.plan(&measured, signers, order.clone()).unwrap();
            plan.head = head.unwrap_or(plan.head);
            let signature = self.operators.sign(signers, &plan.digests);
            <[u8; 4]>::try_from(&self.chain.refusal(network.contract, plan.call(&signature).unwrap())[..4]).unwrap()
        };
        let before = Network { nonce: self.network.nonce - 1, ..self.network.clone() };
        assert_eq!(refusal(&before, signers, None), Settlement::NotThisState::SELECTOR);
        // Terms that the contract does not have; then its true terms, under which three members are too few.
        let few: MemberSet = signers.iter().take(3).collect();
        let weighed = Network { required: 1, ..self.network.clone() };
        // Two keys weigh nothing, so at least one of any three members weighs something.
        let counted = Network { enough: 3, ..weighed.clone() };
        let head = Some(self.network.head());
        assert_eq!(refusal(&weighed, &few, None), Settlement::NotThisState::SELECTOR);
        assert_eq!(refusal(&weighed, &few, head), Settlement::QuorumTooLight::SELECTOR);
        assert_eq!(refusal(&counted, &few, head), Settlement::TooFewMembers::SELECTOR);
    }
}

/// The number of changed members after which ski rental stores.
const CHANGES_A_STORE: u32 = 20;

fn toggle(members: &mut MemberSet, index: usize) {
    if members.contains(index) { members.remove(index) } else { members.insert(index) }
}

/// The largest relative error of the estimate.
const TOLERANCE: f64 = 0.05;
