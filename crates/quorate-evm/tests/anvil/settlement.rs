//! `Settlement`: fifty operators, thirty tasks of quorums that change, rotation, a slashed operator.

use quorate_evm::{
    BackEnd, Bitmap, Network,
    alloy_primitives::{B256, U256},
    alloy_sol_types::{SolConstructor, SolError},
    base::KeyPage,
    contract::SettlementBn254G2 as Settlement,
    gas::Measured,
    network::Plan,
    quorum::Store,
};

use crate::{
    chain::{Chain, events},
    rig::Operators,
};

#[test]
fn thirty_tasks_with_keys_in_g2_of_bn254() {
    run(BackEnd::Bn254G2, 50, 30);
}

#[test]
fn tasks_with_keys_in_g1_of_bn254() {
    run(BackEnd::Bn254G1, 50, 10);
}

#[test]
fn tasks_with_keys_in_g2_of_bls12381() {
    run(BackEnd::Bls12381G2, 50, 10);
}

fn run(back_end: BackEnd, operators: u8, tasks: usize) {
    let Some(chain) = Chain::start() else { return };
    let mut world = World::deploy(chain, back_end, operators);
    world.pin_the_full_set();
    let n = usize::from(operators);

    // Quorums change from task to task, some results come together, some quorums are stored.
    let mut signers = Bitmap::full(n);
    let mut sent = 0;
    for task in 0..tasks {
        for k in 0..5 {
            toggle(&mut signers, (task * 7 + k * (11 + task)) % n);
        }
        let results: Vec<_> = (0..1 + task % 3).map(|i| B256::repeat_byte((task * 3 + i) as u8)).collect();
        let store = match task % 4 {
            1 => Store::Slot(1),
            3 => Store::Slot(2 + (task as u32 / 4) % 2),
            _ => Store::Nowhere,
        };
        world.settle(&signers, &results, store);
        sent += results.len() as u64;
    }
    let head = world.chain.read(world.network.contract, &Settlement::headCall {});
    assert_eq!((head.nonce, head.epoch), (sent + 1, 1));

    // Operator 7 rotates: a new key at a new index, the old one weighs nothing from the next epoch on. Operator 3 is
    // slashed: so does its key. Bases of the epoch before keep their keys.
    let new = world.register(operators + 1);
    world.network.weights.push(world.network.weights[7]);
    (world.network.weights[7], world.network.weights[3]) = (0, 0);
    world.begin_epoch();
    toggle(&mut signers, new);
    for gone in [3, 7] {
        signers.remove(gone);
    }
    let plan = world.settle(&signers, &[B256::repeat_byte(0xee)], Store::Slot(1));
    assert!(plan.base_slot().is_some(), "a base of the old epoch is near");
    let full: u128 = world.network.weights.iter().map(|weight| u128::from(*weight)).sum();
    assert_eq!(full, (u128::from(operators) - 1) * 1_000);
    // Whoever was slashed may sign on, and weighs nothing.
    let mut with_slashed = signers.clone();
    with_slashed.insert(3);
    let heavier = world.settle(&with_slashed, &[B256::repeat_byte(0xef)], Store::Nowhere);
    assert_eq!(heavier.weight, plan.weight);

    world.refusals(&signers);
}

/// A settlement on a node, and as its aggregator follows it.
struct World {
    chain: Chain,
    operators: Operators,
    network: Network,
}

impl World {
    /// Deploys, registers operators with their proofs, moves all keys but ten into a page, begins the first epoch.
    fn deploy(chain: Chain, back_end: BackEnd, n: u8) -> Self {
        let arguments = Settlement::constructorCall {
            registrar: chain.account(0),
            leastKeysAPage: U256::from(1),
            pinned: U256::from(1),
            changesAStore: U256::from(100),
        };
        let code = [&back_end.creation_code()[..], &arguments.abi_encode()].concat();
        let contract = chain.create(code.into());
        let network = Network {
            back_end,
            chain_id: chain.id(),
            contract,
            nonce: 0,
            epoch: 0,
            required: None,
            keys: Vec::new(),
            weights: vec![1_000; n.into()],
            key_pages: Vec::new(),
            weight_pages: Vec::new(),
            bases: Vec::new(),
        };
        let mut this = Self { chain, operators: Operators::new(back_end, 0), network };
        for (index, seed) in (1..=n).enumerate() {
            assert_eq!(this.register(seed), index);
        }
        let call = Settlement::compactCall { keys: U256::from(n - 10) };
        let receipt = this.chain.send(contract, &call);
        for paged in events::<Settlement::KeysPaged>(&receipt) {
            let page = KeyPage { nonce: paged.nonce.to(), first: paged.first.to(), keys: paged.keys.to() };
            this.network.key_pages.push(page);
        }
        this.begin_epoch();
        this
    }

    /// One more key, with its proof of possession: its index as the contract says it.
    fn register(&mut self, seed: u8) -> usize {
        self.operators.push(seed);
        let owner = self.chain.account(0);
        let verifier = self.chain.contract(self.network.contract);
        let place = self.network.keys.len();
        let (key, proof) = self.operators.registration(place, verifier, owner.into());
        let call = Settlement::registerCall { owner, key, proof };
        let receipt = self.chain.send(self.network.contract, &call);
        let [registered] = &events::<Settlement::Registered>(&receipt)[..] else { panic!("one key: {receipt:?}") };
        self.network.keys.push(self.operators.member(place));
        registered.index.to()
    }

    fn begin_epoch(&mut self) {
        let total: u128 = self.network.weights.iter().map(|weight| u128::from(*weight)).sum();
        let required = total / 4;
        let call = Settlement::beginCall { weights: self.network.weights.clone(), required };
        let receipt = self.chain.send(self.network.contract, &call);
        let pages = events::<Settlement::WeightsPaged>(&receipt);
        self.network.weight_pages = pages.iter().map(|page| page.nonce.to()).collect();
        self.network.epoch += 1;
        self.network.required = Some(required);
    }

    /// The full set in slot 0, where nobody stores.
    fn pin_the_full_set(&mut self) {
        let all = Bitmap::full(self.network.keys.len());
        self.settle(&all, &[B256::ZERO], Store::Slot(1));
        let call = Settlement::pinCall { slot: U256::ZERO, from: U256::from(1) };
        self.chain.send(self.network.contract, &call);
        let mut pinned = self.network.bases[0].clone();
        pinned.slot = 0;
        self.network.bases.insert(0, pinned);
    }

    /// Plan, sign, send: what the events say is what was sent, the gas is what was estimated, the slot holds the base.
    fn settle(&mut self, signers: &Bitmap, results: &[B256], store: Store) -> Plan {
        let measured = Measured::default();
        let plan = self.network.plan(&measured, signers, results).unwrap();
        let signature = self.operators.sign(signers, &plan.digests);
        assert!(plan.verify(&signature).unwrap());
        let call = plan.call(store, &signature, results).unwrap();
        let receipt = self.chain.send_from(1, self.network.contract, call.clone());

        let [settled] = &events::<Settlement::Settled>(&receipt)[..] else { panic!("one event: {receipt:?}") };
        assert_eq!(settled.nonce, U256::from(self.network.nonce));
        assert_eq!((&settled.results[..], settled.weight), (results, U256::from(plan.weight)));

        let storing = self.network.storing(&plan, store);
        let estimate = plan.estimate(self.network.back_end, &measured, &call, storing).total();
        let error = (estimate as f64 - receipt.gas_used as f64) / receipt.gas_used as f64;
        let (back_end, changed) = (self.network.back_end, plan.way.changed.len());
        println!(
            "{back_end}, {changed} changed, {} results, {storing:?}: {} gas, {error:+.3}",
            results.len(),
            receipt.gas_used
        );
        assert!(error.abs() < TOLERANCE, "{back_end}: {} gas, {estimate} estimated", receipt.gas_used);

        self.network.settled(&plan, if let Store::Slot(slot) = store { Some(slot) } else { None });
        for base in &self.network.bases {
            let call = Settlement::commitmentAtCall { slot: U256::from(base.slot) };
            assert_eq!(
                self.chain.read(self.network.contract, &call),
                B256::from(base.commitment()),
                "slot {}",
                base.slot
            );
        }
        plan
    }

    /// What the contract refuses: a signature of others, one over another result, results again, a quorum too light.
    fn refusals(&self, signers: &Bitmap) {
        let (measured, results) = (Measured::default(), [B256::repeat_byte(0xdd)]);
        let plan = self.network.plan(&measured, signers, &results).unwrap();
        let mut fewer = signers.clone();
        fewer.remove(signers.iter().next().unwrap());
        for signature in [self.operators.sign(&fewer, &plan.digests), self.operators.sign(signers, &[[9; 32]])] {
            assert!(!plan.verify(&signature).unwrap());
            let call = plan.call(Store::Nowhere, &signature, &results).unwrap();
            let refusal = self.chain.refusal(self.network.contract, call);
            assert_eq!(refusal[..4], Settlement::FalseSignature::SELECTOR);
        }
        let before = Network { nonce: self.network.nonce - 1, ..self.network.clone() };
        let replayed = before.plan(&measured, signers, &results).unwrap();
        let signature = self.operators.sign(signers, &replayed.digests);
        let refusal =
            self.chain.refusal(self.network.contract, replayed.call(Store::Nowhere, &signature, &results).unwrap());
        // The hint of the digest before fits the digest that comes next by chance alone.
        assert!(!refusal.is_empty());
        let few: Bitmap = signers.iter().take(3).collect();
        let light = self.network.plan(&measured, &few, &results).unwrap();
        let signature = self.operators.sign(&few, &light.digests);
        let refusal =
            self.chain.refusal(self.network.contract, light.call(Store::Nowhere, &signature, &results).unwrap());
        assert_eq!(refusal[..4], Settlement::QuorumTooLight::SELECTOR);
    }
}

fn toggle(members: &mut Bitmap, index: usize) {
    if members.contains(index) { members.remove(index) } else { members.insert(index) }
}

/// Of the estimate, whose prices of the contracts' own code are sums of parts (`gas::Measured`).
const TOLERANCE: f64 = 0.05;
