//! A whole `TaskNetwork`: what its epochs, tasks, tallies and claims cost, through the real contracts, with keys in G2 of
//! BN254.

use quorate_evm::{
    KeyGroup, MemberSet, Network,
    alloy_primitives::{Address, B256, FixedBytes, U256, keccak256},
    alloy_sol_types::{SolCall, SolConstructor, SolValue},
    base::{NEWEST, Table, WeightPage},
    contract::{
        TASK_NETWORK_CODE, TEST_TOKEN_CODE, TaskNetwork, TestToken, Verifier,
        task_network::ITaskNetwork::{Parameters, Share, Task},
    },
    digest::{Contract, KeyPossession},
    gas::Measured,
    quorum::Store,
    state::NEVER,
};

use super::deployed::{Deployed, Model, TASKS, engine, row};
use crate::{
    chain::{CHAIN_ID, Chain, SENDER},
    row::Row,
};

/// The length of an epoch in seconds.
const DAY: u64 = 86_400;

/// The stake of each operator, in the token's units. The network counts in hundreds of units.
const STAKE: u64 = 100_000;
const UNIT: u64 = 100;

/// The tasks of the larger call.
const MANY: usize = 10;

/// The gas of a network of n operators in an epoch. They are those of `deployed`, and have keys in G2 of BN254.
pub(super) fn rows(deployed: &Deployed) -> Vec<Row> {
    assert_eq!(deployed.network.key_group, KeyGroup::Bn254G2, "the verifier is the one of this key group");
    let n = deployed.network.keys.len();
    let mut world = World::new(deployed);
    let of = |name: &str, gas: &[u64], note: &str| {
        row(&format!("gas/network-{name}"), &engine(KeyGroup::Bn254G2), n, gas, note)
    };
    // In epoch 0 a verifier takes no base as weighed, so the next epoch is measured.
    world.chain.wait(DAY);
    let snapshot = world.snapshot();
    world.submit(&MemberSet::full(n), 1, Store::Slot(NEWEST));
    let mut trace = Model::Miss.trace(n, TASKS);
    trace.retain(|quorum| world.network.weight(quorum) >= world.network.required);
    let (ones, many) = trace.split_at(trace.len() / 2);
    let one: Vec<_> = ones.iter().map(|signers| world.submit(signers, 1, Store::Nowhere)).collect();
    let ten: Vec<_> = many.iter().map(|signers| world.submit(signers, MANY, Store::Nowhere)).collect();
    let (quorums, tasks) = (world.quorums.len(), world.tasks.len());
    world.chain.wait(2 * DAY);
    let (tally, earned) = world.tally();
    let claim = world.claim(&earned);
    vec![
        of("snapshot", &[snapshot], "once in an epoch, each operator with one key"),
        of("submit", &one, "one task by a new quorum, from the full set; weights of those who miss it are read"),
        of("submit-10", &ten, "ten tasks by a new quorum, from the full set"),
        of("tally", &[tally], &format!("{quorums} quorums, {tasks} tasks")),
        of("claim", &[claim], "one epoch, the first tokens of its owner"),
    ]
}

/// A network with staked operators whose keys are in pages, and what was submitted to it.
struct World<'a> {
    chain: Chain,
    operators: &'a Deployed,
    address: Address,
    verifier: Address,
    network: Network,
    /// The id of the epoch's snapshot.
    snapshot: FixedBytes<20>,
    quorums: Vec<MemberSet>,
    tasks: Vec<Task>,
}

impl<'a> World<'a> {
    fn new(operators: &'a Deployed) -> Self {
        let mut chain = Chain::new(operators.chain.prices());
        let keys = &operators.network.keys;
        let supply = U256::from(1u64 << 40);
        let code = [TEST_TOKEN_CODE, &TestToken::constructorCall { supply }.abi_encode()].concat();
        let token = chain.create(code.into()).expect("the token is deployed");
        // The network is what the sender creates after the token and the verifier.
        let arguments = Verifier::constructorCall { network: chain.next_contract(1), pinned: U256::ZERO };
        let code = [KeyGroup::Bn254G2.verifier_code(), &arguments.abi_encode()].concat();
        let verifier = chain.create(code.into()).expect("the verifier is deployed");
        let parameters = Parameters {
            token,
            verifier,
            admin: SENDER,
            genesis: chain.time(),
            epochLength: DAY,
            slashingWindow: DAY,
            withdrawalDelay: 3 * DAY,
            unit: UNIT.into(),
            minimumStake: 1_000,
            maximumOperators: 1_000,
            quorumNumerator: 2,
            quorumDenominator: 3,
            performerReward: 50,
            attesterReward: 5_000,
            penaltyShare: 100,
            slashShare: 5_000,
            bountyShare: 500,
        };
        let arguments = TaskNetwork::constructorCall { parameters };
        let code = [TASK_NETWORK_CODE, &arguments.abi_encode()].concat();
        let address = chain.create(code.into()).expect("the network is deployed");

        let pool = U256::from(100_000_000);
        chain.sent(SENDER, token, &TestToken::approveCall { spender: address, value: pool });
        chain.sent(SENDER, address, &TaskNetwork::fundCall { amount: pool });
        let amount = U256::from(STAKE);
        for (i, key) in keys.iter().enumerate() {
            let owner = owner(i);
            chain.sent(SENDER, token, &TestToken::transferCall { to: owner, value: amount });
            chain.sent(owner, token, &TestToken::approveCall { spender: address, value: amount });
            let contract = Contract { chain_id: CHAIN_ID, address: verifier };
            let digest = KeyPossession { verifier: contract, owner, key }.digest();
            let proof = operators.secrets.possession(i, key, &digest);
            chain.sent(owner, address, &TaskNetwork::registerCall { key: key.clone(), proof, amount });
        }
        let mut table = Table::paged(KeyGroup::Bn254G2, vec![STAKE / UNIT; keys.len()], 0);
        for page in &mut table.key_pages {
            let tail = keys[page.first..page.first + page.keys].concat().into();
            let (first, keys) = (U256::from(page.first), U256::from(page.keys));
            let sent = chain.sent(SENDER, verifier, &Verifier::compactCall { first, keys, nonces: vec![], tail });
            page.nonce = sent.event::<Verifier::KeysPaged>().nonce.to();
        }
        let network = Network {
            // The verifier makes the pages, so it is the contract of the access list.
            contract: verifier,
            nonce: 0,
            epoch: 0,
            required: 0,
            enough: NEVER,
            keys: keys.clone(),
            weights: table.weights,
            key_pages: table.key_pages,
            weight_pages: Vec::new(),
            bases: Vec::new(),
            ..operators.network.clone()
        };
        let (snapshot, quorums, tasks) = (FixedBytes::ZERO, Vec::new(), Vec::new());
        Self { chain, operators, address, verifier, network, snapshot, quorums, tasks }
    }

    fn snapshot(&mut self) -> u64 {
        let sent = self.chain.sent(SENDER, self.address, &TaskNetwork::snapshotCall {});
        let taken = sent.event::<TaskNetwork::EpochSnapshotted>();
        let pages = sent.events::<Verifier::WeightsPaged>().into_iter().enumerate();
        self.network.weight_pages = pages.map(|(part, page)| WeightPage { nonce: page.nonce.to(), part }).collect();
        self.network.epoch = taken.epoch.to();
        (self.snapshot, self.network.required) = (taken.id, taken.required.to::<u128>() + 1);
        let weights = self.chain.read(self.verifier, &Verifier::weightsOfCall { epoch: taken.epoch });
        assert_eq!(weights, self.network.weights, "the weights of the epoch");
        sent.gas
    }

    fn epoch(&self) -> U256 {
        U256::from(self.network.epoch)
    }

    /// Submits so many new tasks that these members signed. Returns the gas.
    fn submit(&mut self, signers: &MemberSet, count: usize, store: Store) -> u64 {
        let tasks: Vec<_> = (0..count).map(|_| self.next_task()).collect();
        let digests: Vec<_> = tasks.iter().map(|task| self.digest(task)).collect();
        let plan = self.network.plan_digests(&Measured::default(), signers, &digests, store);
        let plan = plan.expect("a quorum of the network");
        let quorum = plan.quorum(&self.operators.secrets.sign(signers, &digests)).encode().expect("it fits").into();
        let call = TaskNetwork::submitTasksCall { epoch: self.epoch(), tasks, quorum };
        let sent = self.chain.send(SENDER, self.address, call.abi_encode().into(), &plan.access_list);
        let sent = sent.expect("the tasks settle");
        let attested = sent.event::<TaskNetwork::Attested>();
        assert_eq!((&attested.signers[..], attested.weight), (signers.as_bytes(), U256::from(plan.weight)));
        assert_eq!(sent.events::<TaskNetwork::TaskSettled>().iter().filter(|task| task.rewarded).count(), count);
        self.network.settled(&plan);
        // A quorum has one record, however often it signs.
        if !self.quorums.contains(signers) {
            self.quorums.push(signers.clone());
        }
        sent.gas
    }

    /// An approved task of the performer that the network elects.
    fn next_task(&mut self) -> Task {
        let id = B256::from(U256::from(self.tasks.len() + 1));
        let performer = self.chain.read(self.address, &TaskNetwork::performerOfCall { epoch: self.epoch(), id });
        let task = Task { id, performer, result: keccak256(id), approved: true };
        self.tasks.push(task.clone());
        task
    }

    fn digest(&self, task: &Task) -> [u8; 32] {
        let task = quorate_evm::Task {
            epoch: self.network.epoch.into(),
            snapshot: self.snapshot,
            id: task.id,
            performer: task.performer.to(),
            result: task.result,
            approved: task.approved,
        };
        task.digest(Contract { chain_id: CHAIN_ID, address: self.address })
    }

    /// Adds up the whole epoch. Returns the gas, and what each index earned.
    fn tally(&mut self) -> (u64, Vec<U256>) {
        let signers = self.quorums.iter().map(|quorum| quorum.as_bytes().to_vec().into()).collect();
        let call = TaskNetwork::tallyCall {
            epoch: self.epoch(),
            tasks: self.tasks.clone(),
            signers,
            earned: Default::default(),
        };
        let sent = self.chain.sent(SENDER, self.address, &call);
        let tallied = sent.event::<TaskNetwork::Tallied>();
        assert_eq!(tallied.root, proof_of(&tallied.earned, 0).1, "the root of the tree of shares");
        (sent.gas, tallied.earned)
    }

    /// The owner of index 0 claims what it earned. Returns the gas.
    fn claim(&mut self, earned: &[U256]) -> u64 {
        let (proof, _) = proof_of(earned, 0);
        let shares = vec![Share { epoch: self.epoch(), index: U256::ZERO, amount: earned[0], proof }];
        let sent = self.chain.sent(owner(0), self.address, &TaskNetwork::claimCall { operator: owner(0), shares });
        assert_eq!(sent.event::<TaskNetwork::Claimed>().amount, earned[0], "all is paid");
        sent.gas
    }
}

/// The account of an operator.
fn owner(index: usize) -> Address {
    Address::from_word(keccak256(U256::from(index).abi_encode()))
}

/// The proof of an index in the tree of shares (`ShareTree`), and the root. The leaves are a queue: each step takes two
/// nodes from its front and appends their parent.
fn proof_of(amounts: &[U256], index: usize) -> (Vec<B256>, B256) {
    let leaf = |(i, amount): (usize, &U256)| keccak256(keccak256((U256::from(i), *amount).abi_encode()));
    let mut nodes: Vec<_> = amounts.iter().enumerate().map(leaf).collect();
    let (mut own, mut proof) = (index, Vec::new());
    for front in (0..2 * amounts.len() - 2).step_by(2) {
        let [a, b] = [nodes[front], nodes[front + 1]];
        if own / 2 == front / 2 {
            proof.push(nodes[own ^ 1]);
            own = nodes.len();
        }
        nodes.push(keccak256([a.min(b), a.max(b)].concat()));
    }
    (proof, nodes[nodes.len() - 1])
}
