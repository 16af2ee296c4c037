//! A network on a node, with operators of unequal stakes whose keys the test holds.

use quorate_chain::{
    FeeLimits, Payer, Rpc,
    account::Account,
    deploy::{self, Deployed, NetworkPlan},
    rpc::TransactionReceipt,
    task_network::{Confirmations, FollowSettings, NetworkFollowError, NetworkFollower},
};
use quorate_evm::{
    KeyGroup, MemberSet, Task,
    alloy_primitives::{Address, B256, Bytes, FixedBytes, U256},
    contract::{TaskNetwork, TestToken},
    digest::Contract,
    task_network::{self, Change, PlannedCall, SignedTask},
};
use quorate_lab::{anvil::TestNode, operators::Operators};
use tokio::runtime::{Builder, Runtime};

/// The stake of each operator: unequal, in the token's units.
pub(crate) const STAKES: [u64; 7] = [90_000, 40_000, 30_000, 20_000, 10_000, 5_000, 1_000];
pub(crate) const UNIT: u64 = 100;
pub(crate) const DAY: u64 = 86_400;

pub(crate) struct World {
    pub(crate) node: TestNode,
    pub(crate) runtime: Runtime,
    pub(crate) rpc: Rpc,
    pub(crate) deployed: Deployed,
    pub(crate) operators: Operators,
}

impl World {
    /// Deploys a network without operators. `None` if there is no node.
    pub(crate) fn deploy(plan: &NetworkPlan) -> Option<Self> {
        let node = TestNode::start()?;
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let rpc = Rpc::new(&node.url()).unwrap();
        let payer = Payer::from_hex(&node.key(0)).unwrap();
        let deployed = runtime.block_on(async {
            let account = Account::new(rpc.clone(), payer, FeeLimits::default()).await.unwrap();
            deploy::task_network(&account, plan).await.unwrap()
        });
        Some(Self { node, runtime, rpc, deployed, operators: Operators::new(plan.key_group, 0) })
    }

    /// A network of all operators.
    pub(crate) fn with_operators(key_group: KeyGroup) -> Option<Self> {
        let plan = NetworkPlan { key_group, ..NetworkPlan::default() };
        let mut this = Self::deploy(&plan)?;
        for (operator, stake) in STAKES.into_iter().enumerate() {
            this.register(operator, operator as u8 + 1, stake);
        }
        Some(this)
    }

    pub(crate) fn settings(&self) -> FollowSettings {
        FollowSettings {
            from_block: self.deployed.block,
            confirmations: Confirmations::Blocks(2),
            blocks_per_request: 5,
            ..FollowSettings::default()
        }
    }

    pub(crate) fn follower(&self) -> NetworkFollower {
        let open = NetworkFollower::open(self.rpc.clone(), self.deployed.network, self.settings());
        self.runtime.block_on(open).unwrap()
    }

    pub(crate) fn poll(&self, follower: &mut NetworkFollower) -> Vec<Change> {
        self.try_poll(follower).unwrap()
    }

    pub(crate) fn try_poll(&self, follower: &mut NetworkFollower) -> Result<Vec<Change>, NetworkFollowError> {
        self.runtime.block_on(follower.poll())
    }

    /// The account of an operator. Account 0 is the deployer's.
    pub(crate) fn account(&self, operator: usize) -> Address {
        self.node.account(operator + 1)
    }

    /// A key made from a seed, which nobody registers here.
    pub(crate) fn new_key(&mut self, operator: usize, seed: u8) -> (usize, Bytes, Bytes) {
        let key = self.operators.members().len();
        self.operators.push(seed);
        let verifier = self.node.contract(self.deployed.verifier);
        let (bytes, proof) = self.operators.registration(key, verifier, self.account(operator));
        (key, bytes, proof)
    }

    /// Gives an operator tokens, and registers it with a key.
    pub(crate) fn register(&mut self, operator: usize, seed: u8, stake: u64) {
        let (to, amount) = (self.account(operator), U256::from(stake));
        self.node.send(self.deployed.token, &TestToken::transferCall { to, value: amount });
        let (_, key, proof) = self.new_key(operator, seed);
        let terms = self.follower().view().terms().clone();
        for call in [task_network::approve(&terms, amount), task_network::register(&terms, key, proof, amount)] {
            self.node.send_from(operator + 1, call.to, call.calldata);
        }
    }

    pub(crate) fn snapshot(&self) {
        self.node.send(self.deployed.network, &TaskNetwork::snapshotCall {});
    }

    /// A task of the performer that the contract elects.
    pub(crate) fn task(&self, follower: &NetworkFollower, number: u8, approved: bool) -> Task {
        let (epoch, id) = (follower.view().epoch(), B256::repeat_byte(number));
        let call = TaskNetwork::performerOfCall { epoch: U256::from(epoch), id };
        let performer = self.node.read(self.deployed.network, &call).to();
        let snapshot: FixedBytes<20> = follower.view().snapshot(epoch).unwrap().id;
        Task { epoch, snapshot, id, performer, result: B256::repeat_byte(!number), approved }
    }

    /// The contract, for which tasks are signed.
    pub(crate) fn domain(&self) -> Contract {
        self.node.contract(self.deployed.network)
    }

    /// The plan of a task that these members sign.
    pub(crate) fn plan(&self, follower: &NetworkFollower, signers: &MemberSet, task: &Task) -> PlannedCall {
        let signature = self.operators.sign(signers, &[task.digest(self.domain())]);
        follower.view().settle(task, signers, &signature).unwrap()
    }

    /// Settles a task. Returns what the plan estimates and what it took, in gas.
    pub(crate) fn settle(&self, follower: &NetworkFollower, signers: &MemberSet, task: &Task) -> (u64, u64) {
        let plan = self.plan(follower, signers, task);
        let receipt = self.node.send_listed(0, plan.to, plan.calldata, &plan.access_list);
        (plan.gas.unwrap(), receipt.gas_used)
    }

    /// A task that one key signed.
    pub(crate) fn signed(&self, key: usize, task: Task) -> SignedTask {
        let signature = self.operators.sign(&std::iter::once(key).collect(), &[task.digest(self.domain())]);
        SignedTask { task, key: self.operators.member(key), signature: signature.as_bytes().to_vec().into() }
    }

    /// Replaces the newest blocks by empty ones, as many.
    pub(crate) fn reorganise(&self, depth: u64) {
        self.node.ask("anvil_reorg", serde_json::json!([depth, []]));
    }

    pub(crate) fn receipt(&self, transaction: B256) -> Option<TransactionReceipt> {
        self.runtime.block_on(self.rpc.receipt(transaction)).unwrap()
    }
}
