//! `TaskNetwork` with a verifier and fifty staked operators: thirty tasks, a penalty, a conflict, the rotation of a key.

use quorate_evm::{
    KeyGroup, MemberSet, Network, SettlementPlan,
    alloy_primitives::{Address, B256, FixedBytes, U256},
    alloy_sol_types::{SolCall, SolConstructor, SolError},
    base::{KeyPage, WeightPage},
    contract::{
        TASK_NETWORK_CODE, TEST_TOKEN_CODE, TaskNetwork, TestToken, Verifier,
        task_network::ITaskNetwork::{Attestation, Parameters, Task},
    },
    gas::{Calldata, Measured, Rejection, RewardRecord, Storing, Submission},
    hint::CounterHint,
    quorum::Store,
};
use quorate_lab::{
    anvil::{TestNode, events},
    operators::Operators,
};

const OPERATORS: usize = 50;
const DAY: u64 = 86_400;
/// The stake of each operator, in the token's units. The network counts in hundreds of units.
const STAKE: u64 = 100_000;
const UNIT: u64 = 100;

#[test]
fn thirty_tasks_a_conflict_and_a_rotation() {
    let Some(chain) = TestNode::with_accounts(OPERATORS + 1) else { return };
    let mut world = World::deploy(chain);
    let mut signers = MemberSet::full(OPERATORS);
    for number in 0..30 {
        for k in 0..3 {
            let member = (number * 7 + k * (11 + number)) % OPERATORS;
            if signers.contains(member) && signers.len() > 38 { signers.remove(member) } else { signers.insert(member) }
        }
        let tasks: Vec<_> = (0..1 + number % 2).map(|i| world.task(number * 2 + i, true)).collect();
        let store = if number % 3 == 0 { Store::Slot([0, 2, 3][number / 3 % 3]) } else { Store::Nowhere };
        world.submit(&signers, &tasks, store);
    }

    // The performer of a rejected task loses stake, once in an epoch.
    let rejected = world.task(100, false);
    let performer: usize = rejected.performer.to();
    let mut same = (101..).map(|number| world.task(number, false)).filter(|task| task.performer == rejected.performer);
    let again = [same.next().expect("endless"), same.next().expect("endless")];
    world.submit(&signers, &[rejected], Store::Nowhere);
    world.submit(&signers, &again[..1], Store::Nowhere);
    world.submit(&signers, &again[1..], Store::Nowhere);
    let left = STAKE - STAKE / 100;
    assert_eq!(world.stake(performer), U256::from(left));

    // Operator 3 signs two results of one id, and is reported.
    let culprit = if performer == 3 { 4 } else { 3 };
    world.report(culprit);
    assert_eq!(world.stake(culprit), U256::from(STAKE / 2));

    // A day later operator 7 rotates its key. Bases of the epoch before remain bases; the weights are new.
    world.chain.pass(DAY);
    let owner = if performer == 7 { 8 } else { 7 };
    let index = world.rotate(owner);
    assert_eq!(index, OPERATORS);
    world.snapshot();
    assert_eq!(world.network.weights[owner], 0, "the old key weighs nothing");
    assert_eq!(world.network.weights[index], STAKE / UNIT);
    assert_eq!(world.network.weights[performer], left / UNIT);
    assert_eq!(world.network.weights[culprit], STAKE / UNIT / 2);
    signers.remove(owner);
    signers.insert(index);
    let task = world.task(200, true);
    let plan = world.submit(&signers, &[task], Store::Slot(2));
    assert!(plan.base_slot().is_some(), "a base of the epoch before is near");

    world.refusals(&signers);
}

/// A task network on a node, and the network as its aggregator follows it.
struct World {
    chain: TestNode,
    operators: Operators,
    tasks: Address,
    verifier: Address,
    network: Network,
    /// The id of the epoch's snapshot.
    snapshot: FixedBytes<20>,
    /// The quorums of the epoch.
    records: Vec<MemberSet>,
    /// The performers that were fined in the epoch.
    fined: Vec<U256>,
}

impl World {
    /// Deploys token, verifier and network, registers operators with stake, moves most keys into a page, and takes the first
    /// epoch's weights.
    fn deploy(chain: TestNode) -> Self {
        let supply = U256::from(1u64 << 40);
        let code = [TEST_TOKEN_CODE, &TestToken::constructorCall { supply }.abi_encode()].concat();
        let token = chain.create(code.into());
        let arguments = Verifier::constructorCall { network: chain.next_contract(1), pinned: U256::from(1) };
        let verifier = chain.create([KeyGroup::Bn254G2.verifier_code(), &arguments.abi_encode()].concat().into());
        let parameters = Parameters {
            token,
            verifier,
            admin: chain.account(0),
            genesis: chain.now(),
            epochLength: DAY,
            slashingWindow: DAY,
            withdrawalDelay: 3 * DAY,
            unit: UNIT.into(),
            minimumStake: 1_000,
            maximumOperators: 100,
            quorumNumerator: 2,
            quorumDenominator: 3,
            performerReward: 50,
            attesterReward: 500,
            penaltyShare: 100,
            slashShare: 5_000,
            bountyShare: 500,
        };
        let arguments = TaskNetwork::constructorCall { parameters };
        let tasks = chain.create([TASK_NETWORK_CODE, &arguments.abi_encode()].concat().into());
        // The verifier does not count members.
        let network = chain.network(KeyGroup::Bn254G2, tasks);
        let mut this = Self {
            chain,
            operators: Operators::new(KeyGroup::Bn254G2, 0),
            tasks,
            verifier,
            network,
            snapshot: FixedBytes::ZERO,
            records: Vec::new(),
            fined: Vec::new(),
        };
        let pool = U256::from(1_000_000);
        this.chain.send(token, &TestToken::approveCall { spender: tasks, value: pool });
        this.chain.send(tasks, &TaskNetwork::fundCall { amount: pool });
        let amount = U256::from(STAKE);
        for operator in 0..OPERATORS {
            let to = this.account(operator);
            this.chain.send(token, &TestToken::transferCall { to, value: amount });
            let approve = TestToken::approveCall { spender: tasks, value: amount };
            this.chain.send_from(operator + 1, token, approve.abi_encode().into());
            let (key, proof) = this.key(operator, operator as u8 + 1);
            let call = TaskNetwork::registerCall { key, proof, amount };
            let receipt = this.chain.send_from(operator + 1, tasks, call.abi_encode().into());
            assert_eq!(events::<TaskNetwork::Registered>(&receipt)[0].index, U256::from(operator));
        }
        let tail: Vec<u8> = this.network.keys[..40].concat();
        let (first, keys) = (U256::ZERO, U256::from(40));
        let call = Verifier::compactCall { first, keys, nonces: vec![], tail: tail.into() };
        let receipt = this.chain.send(verifier, &call);
        for paged in events::<Verifier::KeysPaged>(&receipt) {
            let page = KeyPage { nonce: paged.nonce.to(), first: paged.first.to(), keys: paged.keys.to() };
            this.network.key_pages.push(page);
        }
        this.snapshot();
        this
    }

    /// The account of an operator. Account 0 belongs to the aggregator, who is also the admin.
    fn account(&self, operator: usize) -> Address {
        self.chain.account(operator + 1)
    }

    /// A new key of an operator and its proof, for the verifier.
    fn key(
        &mut self,
        operator: usize,
        seed: u8,
    ) -> (quorate_evm::alloy_primitives::Bytes, quorate_evm::alloy_primitives::Bytes) {
        self.operators.push(seed);
        let index = self.network.keys.len();
        self.network.keys.push(self.operators.member(index));
        self.operators.registration(index, self.chain.contract(self.verifier), self.account(operator))
    }

    fn snapshot(&mut self) {
        let receipt = self.chain.send(self.tasks, &TaskNetwork::snapshotCall {});
        let [snapshot] = &events::<TaskNetwork::EpochSnapshotted>(&receipt)[..] else { panic!("one: {receipt:?}") };
        let pages = events::<Verifier::WeightsPaged>(&receipt);
        let page = |(part, page): (usize, &Verifier::WeightsPaged)| WeightPage { nonce: page.nonce.to(), part };
        self.network.weight_pages = pages.iter().enumerate().map(page).collect();
        self.network.epoch = snapshot.epoch.to();
        self.snapshot = snapshot.id;
        self.records.clear();
        self.fined.clear();
        self.network.required = snapshot.required.to::<u128>() + 1;
        self.network.weights = self.chain.read(self.verifier, &Verifier::weightsOfCall { epoch: snapshot.epoch });
        assert_eq!(U256::from(self.network.weights.iter().sum::<u64>()), snapshot.total);
    }

    /// A task of the performer that the network elects.
    fn task(&self, number: usize, approved: bool) -> Task {
        let id = B256::from(U256::from(number + 1));
        let call = TaskNetwork::performerOfCall { epoch: U256::from(self.network.epoch), id };
        let performer = self.chain.read(self.tasks, &call);
        Task { id, performer, result: B256::repeat_byte(number as u8), approved }
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
        task.digest(self.chain.contract(self.tasks))
    }

    /// Plans, signs and submits. The events match the call, and the slots hold the bases.
    fn submit(&mut self, signers: &MemberSet, tasks: &[Task], store: Store) -> SettlementPlan {
        let epoch = U256::from(self.network.epoch);
        let digests: Vec<_> = tasks.iter().map(|task| self.digest(task)).collect();
        let call = TaskNetwork::taskDigestCall { epoch, task: tasks[0].clone() };
        assert_eq!(self.chain.read(self.tasks, &call), B256::from(digests[0]));
        let plan = self.network.plan_digests(&Measured::default(), signers, &digests, store).unwrap();
        let signature = self.operators.sign(signers, &plan.digests);
        assert!(plan.verify(&signature).unwrap());
        let quorum = plan.quorum(&signature).encode().unwrap().into();
        let call = TaskNetwork::submitTasksCall { epoch, tasks: tasks.to_vec(), quorum };
        let receipt = self.chain.send(self.tasks, &call);

        let settled = events::<TaskNetwork::TaskSettled>(&receipt);
        assert_eq!(settled.len(), tasks.len());
        for (settled, task) in settled.iter().zip(tasks) {
            let said = (settled.id, settled.performer, settled.result, settled.approved, settled.epoch);
            assert_eq!(said, (task.id, task.performer, task.result, task.approved, epoch));
        }
        let [attested] = &events::<TaskNetwork::Attested>(&receipt)[..] else { panic!("one: {receipt:?}") };
        assert_eq!((&attested.signers[..], attested.weight), (signers.as_bytes(), U256::from(plan.weight)));
        let known = self.records.contains(signers);
        self.records.push(signers.clone());
        let record = if known { RewardRecord::Known } else { RewardRecord::New };
        let mut fines = 0;
        for task in tasks.iter().filter(|task| !task.approved) {
            if !self.fined.contains(&task.performer) {
                self.fined.push(task.performer);
                fines += 1;
            }
        }
        assert_eq!(events::<TaskNetwork::Penalised>(&receipt).len() as u64, fines);
        let rejection = Rejection { keys: self.network.weights.len() as u64, fines };
        let rejected = tasks.iter().any(|task| !task.approved).then_some(rejection);
        let submission = Submission { tasks: tasks.len() as u64, rejected, record, pays: true };
        let storing = match store {
            Store::Slot(slot) if self.network.bases.iter().all(|base| base.slot != slot) => Storing::New,
            _ => self.network.storing(&plan),
        };
        let of = Calldata::of(&call.abi_encode());
        let estimate = Measured::default().submit(plan.key_group, of, submission, &plan.way.steps, storing).total();
        let used = receipt.gas_used;
        println!(
            "{} changed, {} tasks: {used} gas, {:+.2} % estimated",
            plan.way.changed.len(),
            tasks.len(),
            100.0 * (estimate as f64 / used as f64 - 1.0)
        );
        assert!(estimate.abs_diff(used) * 100 <= 3 * used, "estimated {estimate}, used {used}");

        self.network.settled(&plan);
        for base in &self.network.bases {
            let call = Verifier::commitmentAtCall { place: U256::from(base.slot) };
            assert_eq!(self.chain.read(self.verifier, &call), base.commitment(), "slot {}", base.slot);
        }
        plan
    }

    fn stake(&self, operator: usize) -> U256 {
        self.chain.read(self.tasks, &TaskNetwork::stakeOfCall { operator: self.account(operator) })
    }

    /// An operator signs two tasks with one id, and is reported.
    fn report(&self, operator: usize) {
        let first = self.task(1_000, true);
        let second = Task { result: B256::repeat_byte(0xff), ..first.clone() };
        let key = &self.network.keys[operator];
        let proof = |task: &Task, signer: usize| {
            let digest = self.digest(task);
            let hint = CounterHint::new(&digest);
            let signature = self.operators.sign(&std::iter::once(signer).collect(), &[digest]);
            [&key[..], signature.as_bytes(), &[hint.counter], &hint.y].concat().into()
        };
        let attested = |task: &Task, signer| Attestation {
            epoch: U256::from(self.network.epoch),
            task: task.clone(),
            proof: proof(task, signer),
        };
        let call = |signer| TaskNetwork::reportConflictCall {
            first: attested(&first, operator),
            second: attested(&second, signer),
        };
        // The signature of another operator proves nothing.
        self.chain.refusal(self.tasks, call(operator + 1).abi_encode().into());
        let receipt = self.chain.send(self.tasks, &call(operator));
        let [slashed] = &events::<TaskNetwork::Slashed>(&receipt)[..] else { panic!("one: {receipt:?}") };
        assert_eq!((slashed.operator, slashed.id), (self.account(operator), first.id));
        assert_eq!((slashed.amount, slashed.bounty), (U256::from(STAKE / 2), U256::from(STAKE / 40)));
    }

    fn rotate(&mut self, operator: usize) -> usize {
        let (key, proof) = self.key(operator, 200);
        let call = TaskNetwork::rotateKeyCall { key, proof };
        let receipt = self.chain.send_from(operator + 1, self.tasks, call.abi_encode().into());
        let [rotated] = &events::<TaskNetwork::KeyRotated>(&receipt)[..] else { panic!("one: {receipt:?}") };
        assert_eq!((rotated.operator, rotated.oldIndex), (self.account(operator), U256::from(operator)));
        rotated.newIndex.to()
    }

    /// The network refuses a task that settled before, a quorum that is too light, and a signature over another task.
    fn refusals(&self, signers: &MemberSet) {
        let network = Network { required: 1, ..self.network.clone() };
        let call = |signers: &MemberSet, task: &Task, signed: &Task| {
            let plan =
                network.plan_digests(&Measured::default(), signers, &[self.digest(task)], Store::Nowhere).unwrap();
            let signature = self.operators.sign(signers, &[self.digest(signed)]);
            let quorum = plan.quorum(&signature).encode().unwrap().into();
            let epoch = U256::from(self.network.epoch);
            let call = TaskNetwork::submitTasksCall { epoch, tasks: vec![task.clone()], quorum };
            self.chain.refusal(self.tasks, call.abi_encode().into())
        };
        let (old, new, other) = (self.task(6, true), self.task(300, true), self.task(301, true));
        assert_eq!(call(signers, &old, &old)[..4], TaskNetwork::AlreadySettled::SELECTOR);
        assert_eq!(call(signers, &new, &other)[..4], Verifier::FalseSignature::SELECTOR);
        let few: MemberSet = signers.iter().take(20).collect();
        assert_eq!(call(&few, &new, &new)[..4], TaskNetwork::QuorumTooLight::SELECTOR);
    }
}
