//! The gas of settling a quorum's results: whole transactions with cold storage, ten in a row, as the source measured.

mod baselines;
mod epoch;
mod hub;
mod task_network;

use std::{iter, rc::Rc};

use quorate::{Backend, MinSig, SecretKey, aggregate::aggregate};
use quorate_bn254::{Bn254SecretKey, Bn254Signature, hash_to_curve::try_and_increment};
use quorate_evm::{
    Base, KeyGroup, MemberSet, Network, Order, QuorumSignature, SettlementPlan,
    alloy_primitives::{Address, B256, Bytes, U256},
    alloy_sol_types::{SolCall, SolConstructor},
    base::{NEWEST, PART, Pricing, Table, Weigh, WeightPage},
    bls12381::{self, DigestHash},
    contract::SettlementBn254G2,
    digest::{Contract, KeyPossession},
    gas::{Measured, Storing},
    hint::CounterHint,
    quorum::Store,
    refresh::{Policy, PolicyOutcome, Trace},
    state::{self, Head},
};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};

use self::{
    baselines::{Baseline, Registries},
    epoch::per_task,
};
use crate::{
    chain::{CHAIN_ID, Chain, Prices, SENDER},
    measure::Run,
    row::{Figures, Gas, Row},
};

/// The number of tasks in a row, as in the source.
const TASKS: usize = 10;

/// The largest relative error of the gas model that a transaction may show. Most are within 0.2 %.
const MODEL_ERROR: f64 = 0.02;

/// The weight of each operator, and the weight that is required: one operator is enough.
const WEIGHT: u64 = 1_000_000;

/// The nonce of the first page: the contract's constructor takes the one before.
const FIRST_PAGE: u32 = 2;

/// The slot with the full set, which is pinned.
const PINNED: u16 = 1;

/// The first slot of the ring in which anyone may store.
const RING: u16 = 2;

/// Where a policy stores bases.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// As the newest base; the full set is pinned in the ring.
    Newest,
    /// In this number of slots of the ring; the full set stays the newest base.
    Ring(u16),
}

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let sizes = run.choose(&[10, 100][..], &[4, 10, 50, 100, 200, 1000]);
    let mut rows = Vec::new();
    for &n in sizes {
        let deploy = |stakes: Stakes, prices: Prices| {
            let deploy = |key_group: &KeyGroup| Deployed::new(*key_group, &stakes.weights(n), prices);
            KeyGroup::ALL.iter().map(deploy).collect::<Vec<_>>()
        };
        let deployed = deploy(Stakes::Equal, Prices::Osaka);
        for model in [Model::Flip, Model::Miss] {
            let trace = model.trace(n, TASKS);
            for deployed in &deployed {
                // If operators flip, a quorum is nearest to the last one. If they miss tasks, it is nearest to the full set.
                let (stored, note) = match model {
                    Model::Flip => {
                        let last = |trace: &Trace<'_>| trace.run(Policy::Ring { slots: 1 });
                        (deployed.stored(&trace, Keep::Newest, last), "the last quorum is stored as the newest base")
                    }
                    _ => (Vec::new(), "from the full set"),
                };
                let gas = deployed.clone().settle_each(&trace, Keep::Newest, &stored);
                rows.push(row(model.name(), &engine(deployed.network.key_group), n, &gas, note));
            }
            rows.extend(Baseline::ALL.iter().filter_map(|baseline| baseline.row(model, n, &trace)));
            if model == Model::Miss {
                rows.extend(Registries::ALL.map(|registries| registries.row(n, &trace)));
            }
        }
        rows.push(baselines::same_quorum(n));
        rows.extend(hub::rows(n, &Model::Flip.trace(n, TASKS)));
        rows.extend(deployed.iter().flat_map(|deployed| exact(deployed, n)));
        rows.extend(deployed.iter().map(|deployed| weighed(deployed, n)));
        rows.extend(
            deployed.iter().filter(|of| of.network.key_group == KeyGroup::Bn254G2).flat_map(task_network::rows),
        );
        rows.extend(deployed.iter().map(|deployed| begun(deployed, "gas/begin")));
        rows.extend(
            deployed.iter().flat_map(|deployed| per_task(deployed, &missed(deployed, n, Stakes::Equal.name()))),
        );
        for stakes in [Stakes::Lognormal, Stakes::Zipf] {
            for deployed in deploy(stakes, Prices::Osaka) {
                let missed = missed(&deployed, n, stakes.name());
                rows.extend(per_task(&deployed, &missed));
                rows.push(missed);
            }
        }
        for (prices, name) in [(Prices::Glamsterdam, "glamsterdam"), (Prices::PrecompilesTwice, "precompiles-twice")] {
            let deployed = deploy(Stakes::Equal, prices);
            rows.extend(deployed.iter().map(|deployed| missed(deployed, n, &format!("gas/miss-{name}"))));
            rows.extend(deployed.iter().map(|deployed| begun(deployed, &format!("gas/begin-{name}"))));
        }
    }
    rows.extend(KeyGroup::ALL.iter().flat_map(|key_group| changed(*key_group)));
    for model in [Model::Flip, Model::Miss, Model::Shifts] {
        rows.extend(refresh(model, run.choose(20, 100)));
    }
    rows
}

fn engine(key_group: KeyGroup) -> String {
    format!("quorate/{key_group}")
}

fn row(bench: &str, engine: &str, n: usize, gas: &[u64], note: &str) -> Row {
    let mut sorted = gas.to_vec();
    sorted.sort_unstable();
    let mean = gas.iter().sum::<u64>() as f64 / gas.len() as f64;
    let median = (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) as f64 / 2.0;
    Row {
        bench: bench.into(),
        engine: engine.into(),
        threads: 1,
        n,
        per: "transaction".into(),
        figures: Figures::Gas(Gas { mean, median }),
        latency_ms: None,
        traffic: None,
        note: note.into(),
    }
}

/// How the signers change from task to task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Model {
    /// From task to task, each operator joins or leaves with a probability of 10 %, as in the source.
    Flip,
    /// Each operator misses a task with a probability of 10 %.
    Miss,
    /// A quarter of the operators is off duty, each quarter in turn. Each other operator misses a task with a probability of
    /// 2 %.
    Shifts,
}

impl Model {
    fn name(self) -> &'static str {
        match self {
            Self::Flip => "gas/flip",
            Self::Miss => "gas/miss",
            Self::Shifts => "gas/shifts",
        }
    }

    /// The quorums that follow the full set. None is empty.
    fn trace(self, n: usize, tasks: usize) -> Vec<MemberSet> {
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
enum Secrets {
    Bn254(Rc<[Bn254SecretKey]>),
    Bls12381(DigestHash, Rc<[SecretKey<MinSig>]>),
}

impl Secrets {
    fn new(key_group: KeyGroup, n: usize) -> Self {
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
    fn member(&self, key_group: KeyGroup, index: usize) -> Bytes {
        match self {
            Self::Bn254(secrets) if key_group == KeyGroup::Bn254G2 => secrets[index].public_key_g2().to_bytes().into(),
            Self::Bn254(secrets) => secrets[index].dual_key().to_bytes().into(),
            Self::Bls12381(_, secrets) => bls12381::encode_key(&secrets[index].public_key()).into(),
        }
    }

    /// The proof of possession of an operator, as the contract takes it.
    fn possession(&self, index: usize, member: &Bytes, digest: &[u8; 32]) -> Bytes {
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
    fn sign(&self, members: &MemberSet, digests: &[[u8; 32]]) -> QuorumSignature {
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
struct Deployed {
    chain: Chain,
    network: Network,
    secrets: Secrets,
    address: Address,
}

impl Deployed {
    fn new(key_group: KeyGroup, weights: &[u64], prices: Prices) -> Self {
        let arguments = SettlementBn254G2::constructorCall {
            registrar: SENDER,
            pinned: U256::from(1),
            changesAStore: U256::from(2),
        };
        let code = [&key_group.creation_code()[..], &arguments.abi_encode()].concat();
        Self::of_code(Chain::new(prices), key_group, weights, code.into())
    }

    /// The same with the creation code of a settlement, whose registrar is the sender.
    fn of_code(mut chain: Chain, key_group: KeyGroup, weights: &[u64], code: Bytes) -> Self {
        let n = weights.len();
        let address = chain.create(code).expect("the settlement is deployed");
        let secrets = Secrets::new(key_group, n);
        let keys: Vec<Bytes> = (0..n).map(|i| secrets.member(key_group, i)).collect();
        let verifier = Contract { chain_id: CHAIN_ID, address };
        for (i, member) in keys.iter().enumerate() {
            let key = member.slice(..key_group.key_bytes());
            let digest = KeyPossession { verifier, owner: SENDER, key: &key }.digest();
            let proof = secrets.possession(i, member, &digest);
            let call = SettlementBn254G2::registerCall { owner: SENDER, key, proof };
            chain.call(address, call.abi_encode().into()).expect("the key is registered");
        }
        let Table { key_pages, weight_pages, weights } = Table::paged(key_group, weights.to_vec(), FIRST_PAGE);
        for page in &key_pages {
            let keys = &keys[page.first..page.first + page.keys];
            let tail: Vec<u8> = keys.iter().flat_map(|key| key[..key_group.key_bytes()].to_vec()).collect();
            let (first, keys) = (U256::from(page.first), U256::from(page.keys));
            let call = SettlementBn254G2::compactCall { first, keys, nonces: vec![], tail: tail.into() };
            chain.call(address, call.abi_encode().into()).expect("the keys are in a page");
        }
        // With equal stakes one operator is enough, as in the source. With others, two thirds of all weight are required.
        let equal = weights.iter().all(|weight| weight == &weights[0]);
        let all: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        let required = if equal { weights[0].into() } else { all * 2 / 3 };
        let (threshold, _) = state::enough(&weights, required);
        let network = Network {
            key_group,
            chain_id: CHAIN_ID,
            contract: address,
            nonce: 0,
            table: 0,
            epoch: 0,
            required,
            enough: 0,
            paid: 0,
            keys,
            weights,
            key_pages,
            weight_pages: Vec::new(),
            bases: Vec::new(),
            unknown_newest: None,
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
        let call = SettlementBn254G2::pinCall { slot: U256::from(PINNED), from: U256::from(RING) };
        this.chain.call(address, call.abi_encode().into()).expect("the full set is pinned");
        let pinned = Base { slot: PINNED, ..this.network.bases[0].clone() };
        this.network.bases.insert(0, pinned);
        this.settle_weighed(&all, 1, Store::Slot(NEWEST), weigh);
        this
    }

    /// Begins the next epoch, and enters it from this head. Returns the gas of `begin` and of `enter`. The epoch has no pages
    /// of weights.
    fn begin(&mut self, head: U256, threshold: u64) -> [u64; 2] {
        let Network { weights, required, .. } = &self.network;
        let enough = state::enough_by(weights, *required, threshold);
        let required = U256::from(*required).to();
        let weights = weights.iter().flat_map(|weight| weight.to_be_bytes()).collect::<Vec<_>>().into();
        let call = SettlementBn254G2::beginCall { threshold, weights, required, renew: false };
        let begin = self.chain.call(self.address, call.abi_encode().into()).expect("the epoch has begun");
        let call = SettlementBn254G2::enterCall { head, newest: self.network.newest() };
        let enter = self.chain.call(self.address, call.abi_encode().into()).expect("the epoch is entered");
        self.network.epoch += 1;
        self.network.enough = enough;
        self.network.weight_pages.clear();
        [begin, enter]
    }

    /// Puts a part of the weights into a page, which the contract must make with this nonce. Returns the gas.
    fn publish(&mut self, page: WeightPage) -> u64 {
        let end = self.network.weights.len().min((page.part + 1) * PART);
        let weights = self.network.weights[page.part * PART..end].iter().flat_map(|weight| weight.to_be_bytes());
        let call =
            SettlementBn254G2::publishCall { part: U256::from(page.part), weights: weights.collect::<Vec<_>>().into() };
        self.network.weight_pages.push(page);
        self.chain.call(self.address, call.abi_encode().into()).expect("the weights are in a page")
    }

    /// Settles results of a quorum, which is weighed if it has to be. Returns the gas and the plan.
    fn settle(&mut self, signers: &MemberSet, results: usize, store: Store) -> (u64, SettlementPlan) {
        self.settle_weighed(signers, results, store, Weigh::IfNeeded)
    }

    /// The same, with a quorum that is weighed if it has to be, or always.
    fn settle_weighed(
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
    fn settle_each(&mut self, trace: &[MemberSet], keep: Keep, stored: &[usize]) -> Vec<u64> {
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
    fn stored(&self, trace: &[MemberSet], keep: Keep, choose: impl Fn(&Trace<'_>) -> PolicyOutcome) -> Vec<usize> {
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

/// When to store a base: each policy over a longer trace of 100 operators, with keys in G2 of BN254. The policy "last" stores
/// as the newest base, which costs almost nothing. Rings store in slots that held another base before. The optimum is the
/// cheapest of three: the best choice of newest bases, the best choice of bases in one slot of the ring, and no base.
fn refresh(model: Model, tasks: usize) -> Vec<Row> {
    let mut deployed = Deployed::new(KeyGroup::Bn254G2, &[WEIGHT; 100], Prices::Osaka);
    let trace = model.trace(100, tasks);
    // A slot that holds a base costs a change and not a first write. These bases are too far from the trace to be used.
    for slot in RING..RING + 32 {
        deployed.settle(&MemberSet::full(1), 1, Store::Slot(slot));
    }
    type Choose = fn(&Trace<'_>) -> PolicyOutcome;
    let policies: [(&str, Keep, Choose); 5] = [
        ("full", Keep::Newest, |trace| trace.run(Policy::Pinned)),
        ("last", Keep::Newest, |trace| trace.run(Policy::Ring { slots: 1 })),
        ("ring-8", Keep::Ring(8), |trace| trace.run(Policy::Ring { slots: 8 })),
        ("ring-32", Keep::Ring(32), |trace| trace.run(Policy::Ring { slots: 32 })),
        ("ski-rental", Keep::Ring(1), |trace| trace.run(Policy::SkiRental)),
    ];
    let bench = model.name().replace("gas/", "gas/refresh-");
    let run = |keep: Keep, choose: Choose| {
        let stored = deployed.stored(&trace, keep, choose);
        (deployed.clone().settle_each(&trace, keep, &stored), stored.len())
    };
    let of = |name: &str, (gas, stored): &(Vec<u64>, usize)| {
        row(&bench, name, 100, gas, &format!("{stored} of {tasks} quorums stored; the full set is always a base"))
    };
    let runs = policies.map(|(name, keep, choose)| (name, run(keep, choose)));
    let best = [Keep::Newest, Keep::Ring(1)].map(|keep| run(keep, |trace| trace.optimum()));
    let best = best.iter().chain([&runs[0].1]).min_by_key(|(gas, _)| gas.iter().sum::<u64>()).expect("three");
    runs.iter().map(|(name, run)| of(name, run)).chain([of("optimum", best)]).collect()
}

/// A quorum that is a base, and the price of each further result of one quorum.
fn exact(deployed: &Deployed, n: usize) -> [Row; 2] {
    let mut deployed = deployed.clone();
    let all = MemberSet::full(n);
    let mut settle = |results| deployed.settle(&all, results, Store::Nowhere).0;
    // One result and several results are different calls.
    let (one, two, five) = (settle(1), settle(2), settle(5));
    let name = engine(deployed.network.key_group);
    [
        row("gas/exact", &name, n, &[one], "the quorum is a base"),
        row("gas/further-task", &name, n, &[(five - two) / 3], "each after the second of one quorum"),
    ]
}

/// How the operators' stakes are distributed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stakes {
    /// All are equal, so members are counted.
    Equal,
    /// The logarithm is normal with a deviation of 1: the middle two thirds of the stakes are within a factor of 7.
    Lognormal,
    /// The operator in place i has 1/i of the largest stake.
    Zipf,
}

impl Stakes {
    fn name(self) -> &'static str {
        match self {
            Self::Equal => "gas/miss",
            Self::Lognormal => "gas/stakes-lognormal",
            Self::Zipf => "gas/stakes-zipf",
        }
    }

    /// The weights of n operators, in an order that has nothing to do with their size.
    fn weights(self, n: usize) -> Vec<u64> {
        let mut rng = ChaCha20Rng::seed_from_u64(n as u64);
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        // Box and Muller's method makes a normal number of two uniform ones.
        let mut normal = || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        let mut weights: Vec<u64> = match self {
            Self::Equal => return vec![WEIGHT; n],
            Self::Lognormal => (0..n).map(|_| (WEIGHT as f64 * normal().exp()) as u64).collect(),
            Self::Zipf => (1..=n as u64).map(|place| 100 * WEIGHT / place).collect(),
        };
        for i in (1..n).rev() {
            weights.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
        }
        weights
    }
}

/// Operators miss tasks, and each quorum starts from the full set. With unequal stakes it was weighed when it was stored.
fn missed(deployed: &Deployed, n: usize, bench: &str) -> Row {
    let trace: Vec<_> = Model::Miss.trace(n, TASKS);
    let required = deployed.network.required;
    let heavy: Vec<_> = trace.into_iter().filter(|quorum| deployed.network.weight(quorum) >= required).collect();
    let gas = deployed.clone().settle_each(&heavy, Keep::Newest, &[]);
    let note = format!("{} of {TASKS} quorums weigh enough; from the full set", heavy.len());
    row(bench, &engine(deployed.network.key_group), n, &gas, &note)
}

/// The gas of `begin`, which publishes the weights of an epoch.
fn begun(deployed: &Deployed, bench: &str) -> Row {
    let mut deployed = deployed.clone();
    let Network { weights, required, .. } = &deployed.network;
    let ((threshold, _), head) = (state::enough(weights, *required), deployed.network.head());
    let [gas, _] = deployed.begin(head.encode().expect("it fits"), threshold);
    let n = deployed.network.weights.len();
    row(bench, &engine(deployed.network.key_group), n, &[gas], "once in an epoch")
}

/// One member is missing from a base that was weighed, and no number of members is enough, so the contract reads weights.
fn weighed(deployed: &Deployed, n: usize) -> Row {
    let mut deployed = deployed.clone();
    let head: Head = deployed.network.head();
    // The pages of the next epoch follow those of this one.
    let mut pages = std::mem::take(&mut deployed.network.weight_pages);
    deployed.begin(head.encode().expect("it fits"), 1);
    let count = pages.len() as u32;
    pages.iter_mut().for_each(|page| page.nonce += count);
    pages.into_iter().for_each(|page| {
        deployed.publish(page);
    });
    deployed.settle(&MemberSet::full(n), 1, Store::Slot(NEWEST));
    let (gas, _) = deployed.settle(&(1..n).collect(), 1, Store::Nowhere);
    row(
        "gas/weighed",
        &engine(deployed.network.key_group),
        n,
        &[gas],
        "one member missing; its weight is read from a page",
    )
}

/// By the number of members that changed, of 100.
fn changed(key_group: KeyGroup) -> Vec<Row> {
    let deployed = Deployed::new(key_group, &[WEIGHT; 100], Prices::Osaka);
    let of = |k: usize| {
        let signers: MemberSet = (k..100).collect();
        let (gas, _) = deployed.clone().settle(&signers, 1, Store::Nowhere);
        row(&format!("gas/changed={k}"), &engine(key_group), 100, &[gas], "from the full set")
    };
    [1, 2, 4, 8, 16, 32].into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use quorate_evm::base::Weighing;

    use super::*;

    const N: usize = 10;

    fn deployed(key_group: KeyGroup, stakes: Stakes) -> Deployed {
        Deployed::new(key_group, &stakes.weights(N), Prices::Osaka)
    }

    /// With unequal stakes the full set has a weight, and a quorum that is not counted reads the weights of those who miss.
    /// Weighed again on request, the full set keeps its weight, and the contract reads none.
    #[test]
    fn unequal_stakes_start_from_a_weighed_base() {
        for key_group in KeyGroup::ALL {
            let mut deployed = deployed(key_group, Stakes::Zipf);
            let all = MemberSet::full(N);
            let (gas, again) = deployed.settle_weighed(&all, 1, Store::Slot(NEWEST), Weigh::Always);
            assert_eq!((again.way.weighing, again.way.steps.weighed), (Weighing::FromBase, 0));
            let (counted, _) = deployed.clone().settle(&all, 1, Store::Slot(NEWEST));
            assert!(gas.abs_diff(counted) < 500, "{gas} and {counted}");
            let heavy = |quorum: &MemberSet| deployed.network.weight(quorum) >= deployed.network.required;
            let lightest = (0..N).filter(|i| heavy(&all.symmetric_difference(&[*i].into_iter().collect())));
            let lightest = lightest.min_by_key(|i| deployed.network.weights[*i]).unwrap();
            let mut signers = all;
            signers.remove(lightest);
            deployed.network.check().unwrap();
            let (_, plan) = deployed.settle_weighed(&signers, 1, Store::Nowhere, Weigh::Always);
            assert_eq!((plan.way.weighing, plan.way.steps.weighed), (Weighing::FromBase, 1));
        }
    }

    /// An epoch of equal stakes is `begin` and `enter`, and a task carries its part.
    #[test]
    fn an_epoch_is_spread_over_its_tasks() {
        for (stakes, least) in [(Stakes::Equal, 100_000.0), (Stakes::Lognormal, 180_000.0)] {
            let deployed = deployed(KeyGroup::Bn254G2, stakes);
            let task = missed(&deployed, N, stakes.name());
            let rows = per_task(&deployed, &task);
            let gas: Vec<_> = rows.iter().map(|row| row.figures.middle()).collect();
            assert!((least..least + 60_000.0).contains(&gas[0]), "{gas:?}");
            for (gas, tasks) in gas[1..].iter().zip([10.0, 100.0, 1_000.0]) {
                assert!((gas - task.figures.middle() - rows[0].figures.middle() / tasks).abs() <= 0.5);
            }
        }
    }

    /// Each operator who did not sign costs four cold slots and more. Through proxies its two calls cost 300 gas more each,
    /// and code.
    #[test]
    fn eigenlayer_pays_for_those_who_do_not_sign() {
        // The address and the nonce are the same, and so are the digest and the search for its point.
        let gas = |registries: Registries, absent: usize| registries.row(N, &[(absent..N).collect()]).figures.middle();
        let [bare, proxied] = Registries::ALL.map(|of| (gas(of, 4) - gas(of, 0)) / 4.0);
        assert!((4.0 * 2_100.0..20_000.0).contains(&bare), "{bare}");
        assert!((600.0..2_000.0).contains(&(proxied - bare)), "{bare} and {proxied}");
    }

    /// Everything is registered, submitted, tallied and paid, which the functions assert.
    #[test]
    fn a_network_runs_through_an_epoch() {
        let rows = task_network::rows(&deployed(KeyGroup::Bn254G2, Stakes::Equal));
        let gas: Vec<_> = rows.iter().map(|row| (row.bench.as_str(), row.figures.middle())).collect();
        assert_eq!(gas.len(), 5);
        assert!(gas[2].1 > gas[1].1 && gas[2].1 < 5.0 * gas[1].1, "ten tasks cost less than ten times one: {gas:?}");
    }
}
