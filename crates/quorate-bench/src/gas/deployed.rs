//! A settlement in an EVM of this process, its operators, and the quorums that sign.

use std::{iter, rc::Rc};

use quorate::{Backend, MinSig, SecretKey, aggregate::aggregate};
use quorate_bn254::{Bn254SecretKey, Bn254Signature, hash_to_curve::try_and_increment};
use quorate_evm::{
    Base, KeyGroup, MemberSet, Network, Order, QuorumSignature, SettlementPlan,
    alloy_primitives::{Address, B256, Bytes, U256},
    alloy_sol_types::{SolCall, SolConstructor},
    base::{NEWEST, PART, Pricing, Table, Weigh, WeightPage},
    bls12381::{self, DigestHash},
    contract::Settlement,
    digest::{Contract, KeyPossession},
    gas::{Measured, Storing},
    hint::CounterHint,
    quorum::Store,
    refresh::{PolicyOutcome, Trace},
    state,
};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};

use crate::{
    chain::{CHAIN_ID, Chain, Prices, SENDER},
    row::{Figures, Gas, Row},
};

/// The number of tasks in a row, as in the source.
pub(super) const TASKS: usize = 10;

/// The largest relative error of the gas model that a transaction may show. Most are within 0.2 %.
pub(super) const MODEL_ERROR: f64 = 0.02;

/// The weight of each operator, and the weight that is required: one operator is enough.
pub(super) const WEIGHT: u64 = 1_000_000;

/// The nonce of the first page: the contract's constructor takes the one before.
pub(super) const FIRST_PAGE: u32 = 2;

/// The slot with the full set, which is pinned.
pub(super) const PINNED: u16 = 1;

/// The first slot of the ring in which anyone may store.
pub(super) const RING: u16 = 2;

/// Where a policy stores bases.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// As the newest base; the full set is pinned in the ring.
    Newest,
    /// In this number of slots of the ring; the full set stays the newest base.
    Ring(u16),
}

pub(super) fn engine(key_group: KeyGroup) -> String {
    format!("quorate/{key_group}")
}

pub(super) fn row(bench: &str, engine: &str, n: usize, gas: &[u64], note: &str) -> Row {
    Row {
        bench: bench.into(),
        engine: engine.into(),
        threads: 1,
        n,
        per: "transaction".into(),
        figures: Figures::Gas(Gas::of(gas)),
        cpu_us: None,
        latency_ms: None,
        refused: None,
        traffic: None,
        note: note.into(),
    }
}

/// How the signers change from task to task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Model {
    /// From task to task, each operator joins or leaves with a probability of 10 %, as in the source.
    Flip,
    /// Each operator misses a task with a probability of 10 %.
    Miss,
    /// A quarter of the operators is off duty, each quarter in turn. Each other operator misses a task with a probability of
    /// 2 %.
    Shifts,
}

impl Model {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Flip => "gas/flip",
            Self::Miss => "gas/miss",
            Self::Shifts => "gas/shifts",
        }
    }

    /// The quorums that follow the full set. None is empty.
    pub(super) fn trace(self, n: usize, tasks: usize) -> Vec<MemberSet> {
        let mut rng = ChaCha20Rng::seed_from_u64(n as u64);
        let mut members = vec![true; n];
        let mut next = |task: usize| loop {
            let mut quorum = if self == Self::Flip { members.clone() } else { vec![true; n] };
            let percent = if self == Self::Shifts { 2 } else { 10 };
            quorum.iter_mut().for_each(|member| *member ^= rng.next_u64() % 100 < percent);
            if self == Self::Shifts {
                quorum.iter_mut().enumerate().for_each(|(i, member)| *member &= i * 4 / n != task % 4);
            }
            if quorum.contains(&true) {
                members.clone_from(&quorum);
                break (0..n).filter(|i| quorum[*i]).collect();
            }
        };
        (0..tasks).map(&mut next).collect()
    }
}

/// The operators' secrets.
#[derive(Clone)]
pub(super) enum Secrets {
    Bn254(Rc<[Bn254SecretKey]>),
    Bls12381(DigestHash, Rc<[SecretKey<MinSig>]>),
}

impl Secrets {
    pub(super) fn new(key_group: KeyGroup, n: usize) -> Self {
        let seeds = (0..n as u64).map(|i| {
            let mut seed = [7; 48];
            seed[..8].copy_from_slice(&i.to_le_bytes());
            seed
        });
        match DigestHash::of(key_group) {
            Some(hash) => Self::Bls12381(
                hash,
                seeds.map(|seed| SecretKey::key_gen(bls12381::SUITE, &seed, b"").expect("48 bytes")).collect(),
            ),
            None => Self::Bn254(seeds.map(|seed| Bn254SecretKey::from_entropy(&seed)).collect()),
        }
    }

    /// The key of an operator as `Network` has it.
    pub(super) fn member(&self, key_group: KeyGroup, index: usize) -> Bytes {
        match self {
            Self::Bn254(secrets) if key_group == KeyGroup::Bn254G2 => secrets[index].public_key_g2().to_bytes().into(),
            Self::Bn254(secrets) => secrets[index].dual_key().to_bytes().into(),
            Self::Bls12381(_, secrets) => bls12381::encode_key(&secrets[index].public_key()).into(),
        }
    }

    /// The proof of possession of an operator, as the contract takes it.
    pub(super) fn possession(&self, index: usize, member: &Bytes, digest: &[u8; 32]) -> Bytes {
        let hint = CounterHint::new(digest);
        match self.sign(&iter::once(index).collect(), &[*digest]) {
            // With a key in G1 the key in G2 follows the signature.
            QuorumSignature::Bn254(signature) => {
                let twin = if member.len() == KeyGroup::Bn254G1.member_bytes() { &member[64..] } else { &[] };
                [&signature[..], twin, &[hint.counter], &hint.y].concat().into()
            }
            QuorumSignature::Bls12381(signature) => signature.to_vec().into(),
        }
    }

    /// The sum of the members' signatures over every digest.
    pub(super) fn sign(&self, members: &MemberSet, digests: &[[u8; 32]]) -> QuorumSignature {
        match self {
            Self::Bn254(secrets) => {
                let messages: Vec<_> = digests.iter().map(|digest| try_and_increment(digest).point).collect();
                let each = members.iter().flat_map(|i| messages.iter().map(move |message| secrets[i].sign(message)));
                QuorumSignature::Bn254(each.sum::<Bn254Signature>().to_bytes())
            }
            Self::Bls12381(hash, secrets) => {
                let each = members.iter().flat_map(|i| digests.iter().map(move |d| hash.sign(&secrets[i], d)));
                let sum = aggregate(&each.collect::<Vec<_>>(), Backend::Portable).expect("a quorum signs a digest");
                QuorumSignature::Bls12381(bls12381::encode_signature(&sum))
            }
        }
    }
}

/// A settlement with registered operators, whose keys and weights are in pages. The full set is a pinned base, and the
/// newest base.
#[derive(Clone)]
pub(super) struct Deployed {
    pub(super) chain: Chain,
    pub(super) network: Network,
    pub(super) secrets: Secrets,
    pub(super) address: Address,
}

impl Deployed {
    pub(super) fn new(key_group: KeyGroup, weights: &[u64], prices: Prices) -> Self {
        let arguments =
            Settlement::constructorCall { registrar: SENDER, pinned: U256::from(1), changesAStore: U256::from(2) };
        let code = [key_group.creation_code(), &arguments.abi_encode()].concat();
        Self::of_code(Chain::new(prices), key_group, weights, code.into())
    }

    /// The same with the creation code of a settlement, whose registrar is the sender.
    pub(super) fn of_code(mut chain: Chain, key_group: KeyGroup, weights: &[u64], code: Bytes) -> Self {
        let n = weights.len();
        let address = chain.create(code).expect("the settlement is deployed");
        let secrets = Secrets::new(key_group, n);
        let keys: Vec<Bytes> = (0..n).map(|i| secrets.member(key_group, i)).collect();
        let verifier = Contract { chain_id: CHAIN_ID, address };
        for (i, member) in keys.iter().enumerate() {
            let key = member.slice(..key_group.key_bytes());
            let digest = KeyPossession { verifier, owner: SENDER, key: &key }.digest();
            let proof = secrets.possession(i, member, &digest);
            let call = Settlement::registerCall { owner: SENDER, key, proof };
            chain.call(address, call.abi_encode().into()).expect("the key is registered");
        }
        let Table { key_pages, weight_pages, weights } = Table::paged(key_group, weights.to_vec(), FIRST_PAGE);
        for page in &key_pages {
            let keys = &keys[page.first..page.first + page.keys];
            let tail: Vec<u8> = keys.iter().flat_map(|key| key[..key_group.key_bytes()].to_vec()).collect();
            let (first, keys) = (U256::from(page.first), U256::from(page.keys));
            let call = Settlement::compactCall { first, keys, nonces: vec![], tail: tail.into() };
            chain.call(address, call.abi_encode().into()).expect("the keys are in a page");
        }
        // With equal stakes one operator is enough, as in the source. With others, two thirds of all weight are required.
        let equal = weights.iter().all(|weight| weight == &weights[0]);
        let all: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        let required = if equal { weights[0].into() } else { all * 2 / 3 };
        let (threshold, _) = state::enough(&weights, required);
        let network = Network {
            required,
            enough: 0,
            keys,
            weights,
            key_pages,
            ..Network::deployed(key_group, CHAIN_ID, address)
        };
        let mut this = Self { chain, network, secrets, address };
        this.begin(U256::ZERO, threshold);
        for page in weight_pages {
            this.publish(page);
        }
        // If one operator is enough, every quorum is counted. Otherwise later quorums start from the weight of the full set.
        let weigh = if equal { Weigh::IfNeeded } else { Weigh::Always };
        let all = MemberSet::full(n);
        this.settle_weighed(&all, 1, Store::Slot(RING), weigh);
        let call = Settlement::pinCall { slot: U256::from(PINNED), from: U256::from(RING) };
        this.chain.call(address, call.abi_encode().into()).expect("the full set is pinned");
        let pinned = Base { slot: PINNED, ..this.network.bases[0].clone() };
        this.network.bases.insert(0, pinned);
        this.settle_weighed(&all, 1, Store::Slot(NEWEST), weigh);
        this
    }

    /// Begins the next epoch, and enters it from this head. Returns the gas of `begin` and of `enter`. The epoch has no pages
    /// of weights.
    pub(super) fn begin(&mut self, head: U256, threshold: u64) -> [u64; 2] {
        let Network { weights, required, .. } = &self.network;
        let enough = state::enough_by(weights, *required, threshold);
        let required = U256::from(*required).to();
        let weights = weights.iter().flat_map(|weight| weight.to_be_bytes()).collect::<Vec<_>>().into();
        let call = Settlement::beginCall { threshold, weights, required, renew: false };
        let begin = self.chain.call(self.address, call.abi_encode().into()).expect("the epoch has begun");
        let call = Settlement::enterCall { head, newest: self.network.newest() };
        let enter = self.chain.call(self.address, call.abi_encode().into()).expect("the epoch is entered");
        self.network.epoch += 1;
        self.network.enough = enough;
        self.network.weight_pages.clear();
        [begin, enter]
    }

    /// Puts a part of the weights into a page, which the contract must make with this nonce. Returns the gas.
    pub(super) fn publish(&mut self, page: WeightPage) -> u64 {
        let end = self.network.weights.len().min((page.part + 1) * PART);
        let weights = self.network.weights[page.part * PART..end].iter().flat_map(|weight| weight.to_be_bytes());
        let call = Settlement::publishCall { part: U256::from(page.part), weights: weights.collect::<Vec<_>>().into() };
        self.network.weight_pages.push(page);
        self.chain.call(self.address, call.abi_encode().into()).expect("the weights are in a page")
    }

    /// Settles results of a quorum, which is weighed if it has to be. Returns the gas and the plan.
    pub(super) fn settle(&mut self, signers: &MemberSet, results: usize, store: Store) -> (u64, SettlementPlan) {
        self.settle_weighed(signers, results, store, Weigh::IfNeeded)
    }

    /// The same, with a quorum that is weighed if it has to be, or always.
    pub(super) fn settle_weighed(
        &mut self,
        signers: &MemberSet,
        results: usize,
        store: Store,
        weigh: Weigh,
    ) -> (u64, SettlementPlan) {
        let results: Vec<_> = (0..results).map(|i| B256::repeat_byte(0xa0 + i as u8)).collect();
        let measured = Measured::default();
        let order = Order { weigh, ..Order::of(&results).stored(store) };
        let plan = self.network.plan(&measured, signers, order).expect("a quorum of the network");
        let signature = self.secrets.sign(signers, &plan.digests);
        let call = plan.call(&signature).expect("it fits");
        let gas = self.chain.call_listed(self.address, call.clone(), &plan.access_list).expect("the quorum settles");
        let storing = self.network.storing(&plan);
        let estimate = plan.estimate(&measured, &call, storing).total();
        let error = estimate as f64 / gas as f64 - 1.0;
        let modelled = self.chain.prices() == Prices::Osaka;
        assert!(
            !modelled || error.abs() < MODEL_ERROR,
            "the model says {estimate} where {gas} are used: {:?}",
            plan.way.steps
        );
        self.network.settled(&plan);
        (gas, plan)
    }

    /// The gas of each quorum of a trace, from the nearest base. The quorums with an index in `stored` are stored.
    pub(super) fn settle_each(&mut self, trace: &[MemberSet], keep: Keep, stored: &[usize]) -> Vec<u64> {
        let mut count = 0;
        let each = trace.iter().enumerate().map(|(i, signers)| {
            let store = match keep {
                _ if !stored.contains(&i) => Store::Nowhere,
                Keep::Newest => Store::Slot(NEWEST),
                Keep::Ring(slots) => {
                    count += 1;
                    Store::Slot(RING + (count - 1) % slots)
                }
            };
            self.settle(signers, 1, store).0
        });
        each.collect()
    }

    /// The quorums of a trace that a policy stores, by the gas model.
    pub(super) fn stored(
        &self,
        trace: &[MemberSet],
        keep: Keep,
        choose: impl Fn(&Trace<'_>) -> PolicyOutcome,
    ) -> Vec<usize> {
        let measured = Measured::default();
        let Network { keys, .. } = &self.network;
        let table = self.network.sources();
        let (key_group, weigh) = (self.network.key_group, Weigh::IfNeeded);
        let pricing = Pricing { key_group, measured: &measured, table: &table, head: self.network.head(), weigh };
        let all = MemberSet::full(keys.len());
        let base = |slot, signers: &MemberSet| Base {
            slot,
            epoch: 0,
            weight: 0,
            key: vec![0; key_group.key_bytes()].into(),
            signers: signers.clone(),
        };
        let (slot, slot_of_all, store) = match keep {
            Keep::Newest => (NEWEST, PINNED, measured.store(Storing::AsNewest)),
            Keep::Ring(_) => (RING, NEWEST, measured.store(Storing::OverAnother)),
        };
        // The difference is what a quorum costs more than one that is a base.
        let exact = pricing.way(Some((0, &base(slot, &all))), &all).gas;
        let difference = |from: Option<usize>, to: usize| {
            let from = from.map_or_else(|| base(slot_of_all, &all), |from| base(slot, &trace[from]));
            pricing.way(Some((0, &from)), &trace[to]).gas.saturating_sub(exact)
        };
        choose(&Trace { quorums: trace.len(), store, difference: &difference }).stored
    }
}
