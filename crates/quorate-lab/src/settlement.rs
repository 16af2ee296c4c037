//! A settlement on a node, and its network as the test knows it, which a program has to find by itself.

use alloy::rpc::types::Log;
use quorate_evm::{
    KeyGroup, MemberSet, Network, Order, Sender, SettlementPlan, Transaction,
    alloy_primitives::{Address, B256, Bytes, U256, Uint},
    alloy_sol_types::{SolCall as _, SolConstructor as _},
    base::{KeyPage, PART, WeightPage},
    contract::{OptimisticSettlement, Settlement, optimistic_settlement::IOptimisticSettlement},
    digest::Results,
    gas::Measured,
    posting::{Moment, PostedResults, ProofDemand},
    quorum::{NONE, Store},
    state::{self, Head},
};
use serde_json::json;

use crate::{
    anvil::{TestNode, events},
    operators::Operators,
};

/// A settlement on a node of its own.
pub struct LocalSettlement {
    /// The node.
    pub node: TestNode,
    /// The network, as a follower has to find it.
    pub network: Network,
    /// The head in the contract's state.
    head: U256,
    operators: Operators,
    /// The operator of each index of the table.
    members: Vec<usize>,
    /// The keys that were carried to the next table.
    carried: Vec<usize>,
    next_pages: Vec<KeyPage>,
}

/// The number of changed members after which ski rental stores.
pub const CHANGES_A_STORE: u32 = 5;

/// The account that posts.
pub const POSTER: usize = 1;

/// The penalty and the bond, in wei.
pub const MONEY: u128 = 1_000_000_000_000_000;

/// What the settlement fixes to which results are posted.
pub const CONDITIONS: IOptimisticSettlement::Conditions = IOptimisticSettlement::Conditions {
    window: 4_000,
    windowBlocks: 40,
    answer: 400,
    answerBlocks: 8,
    slots: 4,
    penalty: Uint::from_limbs([MONEY as u64, 0]),
    bond: Uint::from_limbs([MONEY as u64, 0]),
};

impl LocalSettlement {
    /// Deploys a settlement and registers operators. `None` if there is no node.
    pub fn deploy(key_group: KeyGroup, operators: u8) -> Option<Self> {
        Self::deploy_by(key_group, operators, |registrar| {
            let (pinned, changes) = (U256::from(1), U256::from(CHANGES_A_STORE));
            let arguments = Settlement::constructorCall { registrar, pinned, changesAStore: changes };
            [key_group.creation_code(), &arguments.abi_encode()].concat()
        })
    }

    /// The same with a settlement to which results are posted. Account 1 has a deposit.
    pub fn deploy_optimistic(key_group: KeyGroup, operators: u8) -> Option<Self> {
        let this = Self::deploy_by(key_group, operators, |registrar| {
            let (pinned, changes) = (U256::from(1), U256::from(CHANGES_A_STORE));
            let conditions_ = CONDITIONS;
            let arguments =
                OptimisticSettlement::constructorCall { registrar, pinned, changesAStore: changes, conditions_ };
            [key_group.optimistic_code().unwrap(), &arguments.abi_encode()].concat()
        })?;
        let deposit = u128::from(CONDITIONS.slots) * MONEY;
        this.node.pay(POSTER, this.contract(), &OptimisticSettlement::depositCall {}, deposit);
        Some(this)
    }

    fn deploy_by(key_group: KeyGroup, operators: u8, code: impl FnOnce(Address) -> Vec<u8>) -> Option<Self> {
        let node = TestNode::start()?;
        let code = code(node.account(0));
        let network = node.network(key_group, node.create(code.into()));
        let (members, carried, next_pages) = (Vec::new(), Vec::new(), Vec::new());
        let none = Operators::new(key_group, 0);
        let mut this = Self { node, network, head: U256::ZERO, operators: none, members, carried, next_pages };
        (1..=operators).for_each(|seed| this.register(seed));
        Some(this)
    }

    /// Where the node answers.
    pub fn url(&self) -> String {
        self.node.url()
    }

    /// The settlement's address.
    pub fn contract(&self) -> Address {
        self.network.contract
    }

    /// Registers the key of a further operator.
    pub fn register(&mut self, seed: u8) {
        let operator = self.operators.members().len();
        self.operators.push(seed);
        let owner = self.node.account(0);
        let verifier = self.node.contract(self.contract());
        let (key, proof) = self.operators.registration(operator, verifier, owner);
        self.node.send(self.contract(), &Settlement::registerCall { owner, key, proof });
        self.network.keys.push(self.operators.member(operator));
        self.members.push(operator);
    }

    /// The transaction that registers the key of an operator who is not registered.
    pub fn registration(&mut self, seed: u8) -> Transaction {
        let operator = self.operators.members().len();
        self.operators.push(seed);
        let (owner, to) = (self.node.account(0), self.contract());
        let (key, proof) = self.operators.registration(operator, self.node.contract(to), owner);
        Transaction {
            about: "register".to_owned(),
            chain_id: self.node.chain_id(),
            to,
            sender: Sender::Registrar,
            after_epoch: None,
            access_list: Vec::new(),
            calldata: Settlement::registerCall { owner, key, proof }.abi_encode().into(),
        }
    }

    /// The terms of the last epoch that was begun.
    pub fn terms(&self) -> U256 {
        self.node.read(self.contract(), &Settlement::termsCall {})
    }

    /// Copies keys to a page.
    pub fn compact(&mut self, first: usize, keys: usize) {
        let size = self.network.key_group.key_bytes();
        let tail: Vec<u8> =
            self.network.keys[first..first + keys].iter().flat_map(|key| key[..size].to_vec()).collect();
        let call = Settlement::compactCall {
            first: U256::from(first),
            keys: U256::from(keys),
            nonces: Vec::new(),
            tail: tail.into(),
        };
        let receipt = self.node.send(self.contract(), &call);
        let [paged] = &events::<Settlement::KeysPaged>(&receipt)[..] else { panic!("one page: {receipt:?}") };
        self.network.key_pages.push(KeyPage { nonce: paged.nonce.to(), first, keys });
    }

    /// Carries keys, which a page holds, to the next table.
    pub fn carry(&mut self, indices: &[u32], page: u32) {
        let packed: Vec<u8> = indices.iter().flat_map(|index| index.to_be_bytes()).collect();
        let call = Settlement::carryCall { indices: packed.into(), nonces: vec![U256::from(page)] };
        let receipt = self.node.send(self.contract(), &call);
        let [paged] = &events::<Settlement::KeysPaged>(&receipt)[..] else { panic!("one page: {receipt:?}") };
        let (first, keys) = (self.carried.len(), indices.len());
        self.next_pages.push(KeyPage { nonce: paged.nonce.to(), first, keys });
        self.carried.extend(indices.iter().map(|index| *index as usize));
    }

    /// Begins an epoch, of the next table if it renews.
    pub fn begin(&mut self, weights: Vec<u64>, required: u128, renew: bool) {
        let (threshold, enough) = state::enough(&weights, required);
        let call =
            Settlement::beginCall { threshold, weights: pack(&weights), required: U256::from(required).to(), renew };
        self.node.send(self.contract(), &call);
        self.network.epoch += 1;
        (self.network.required, self.network.enough, self.network.weights) = (required, enough, weights);
        self.network.weight_pages.clear();
        if renew {
            let carried = std::mem::take(&mut self.carried);
            self.network.table += 1;
            self.network.keys = carried.iter().map(|index| self.network.keys[*index].clone()).collect();
            self.members = carried.iter().map(|index| self.members[*index]).collect();
            self.network.key_pages = std::mem::take(&mut self.next_pages);
        }
    }

    /// Enters the epoch that was begun last.
    pub fn enter(&mut self) {
        self.node.send(self.contract(), &Settlement::enterCall { head: self.head, newest: self.network.newest() });
        if Head::decode(self.head).table != self.network.table {
            self.network.bases.clear();
            self.network.unknown_newest = None;
        }
        self.head = self.network.head().encode().unwrap();
    }

    /// Prepares weights of the next epoch.
    pub fn prepare(&self, threshold: u64, weights: &[u64]) {
        self.node.send(self.contract(), &Settlement::prepareCall { threshold, weights: pack(weights) });
    }

    /// The call that prepares weights.
    pub fn prepare_call(&self, threshold: u64, weights: &[u64]) -> Bytes {
        Settlement::prepareCall { threshold, weights: pack(weights) }.abi_encode().into()
    }

    /// Copies a part of the running epoch's weights to a page.
    pub fn publish(&mut self, part: usize) {
        let weights = self.network.weights.chunks(PART).nth(part).unwrap();
        let call = Settlement::publishCall { part: U256::from(part), weights: pack(weights) };
        let receipt = self.node.send(self.contract(), &call);
        let [page] = &events::<Settlement::WeightsPaged>(&receipt)[..] else { panic!("one page: {receipt:?}") };
        self.network.weight_pages.push(WeightPage { nonce: page.nonce.to(), part });
    }

    /// A plan with its calldata, for results that these members sign.
    pub fn plan(&self, signers: &MemberSet, results: &[B256], store: Store) -> (SettlementPlan, Bytes) {
        let plan = self.network.plan(&Measured::default(), signers, Order::of(results).stored(store)).unwrap();
        let signature = self.operators.sign(&signers.iter().map(|index| self.members[index]).collect(), &plan.digests);
        assert!(plan.verify(&signature).unwrap());
        let call = plan.call(&signature).unwrap();
        (plan, call)
    }

    /// Takes note that a plan settled.
    pub fn settled(&mut self, plan: &SettlementPlan) {
        let changed = plan.way.changed.len() as u32;
        if plan.order.store == Store::Rental && self.network.paid + changed >= CHANGES_A_STORE {
            self.network.settled_and_rented(plan, 2);
        } else {
            self.network.settled(plan);
        }
        self.head = self.network.head().encode().unwrap();
        let state = self.node.read(self.contract(), &Settlement::stateCall {});
        assert_eq!(self.network.state().unwrap(), state);
    }

    /// Settles results by a call of the settlement.
    pub fn settle(&mut self, signers: &MemberSet, results: &[B256], store: Store) {
        let (plan, call) = self.plan(signers, results, store);
        self.node.send_from(0, self.contract(), call);
        self.settled(&plan);
    }

    /// Posts results that these members sign, or, if `signed` says so, others. The slot is empty.
    pub fn post(&mut self, signers: &MemberSet, results: &[B256], signed: &[B256], slot: u64) -> PostedResults {
        let (settlement, deadline) = (self.node.contract(self.contract()), u64::MAX);
        let (epoch, nonce) = (self.network.epoch, self.network.nonce);
        let digest = Results { settlement, epoch, nonce, deadline, store: NONE, results: signed }.digest();
        let members = signers.iter().map(|index| self.members[index]).collect();
        let signature = self.operators.sign(&members, &[digest]);
        let evidence = [signers.as_bytes(), signature.as_bytes()].concat();
        self.post_evidence(evidence.into(), results, slot)
    }

    /// Posts results with evidence of any kind.
    pub fn post_evidence(&mut self, evidence: Bytes, results: &[B256], slot: u64) -> PostedResults {
        let (head, newest, deadline) = (self.head, self.network.newest(), u64::MAX);
        let place = IOptimisticSettlement::Place {
            slot: U256::from(slot),
            content: B256::ZERO,
            when: Moment::default().word(),
        };
        let call = OptimisticSettlement::postCall {
            head,
            newest,
            deadline,
            results: results.to_vec(),
            evidence: evidence.clone(),
            place,
        };
        let receipt = self.node.send_from(POSTER, self.contract(), call.abi_encode().into());
        let [posted] = &events::<OptimisticSettlement::Posted>(&receipt)[..] else {
            panic!("one posting: {receipt:?}")
        };
        let (after, _, told) = PostedResults::of_log(&posted.posting).unwrap();
        self.network.nonce += results.len() as u64;
        self.head = self.network.head().encode().unwrap();
        assert_eq!(after, self.head);
        let poster = self.node.account(POSTER);
        let posting =
            PostedResults { head, deadline, results: results.to_vec(), evidence, poster, when: told.when, slot };
        assert_eq!(told, posting);
        posting
    }

    /// The status of a posting in the contract, with a demand of its proof, if there is one.
    pub fn status(&self, posting: &PostedResults, demand: Option<ProofDemand>) -> u8 {
        let call = OptimisticSettlement::statusOfCall { posting: posting.named(), demand_: ProofDemand::named(demand) };
        self.node.read(self.contract(), &call)
    }

    /// The last demand of the proof of a posting.
    pub fn demand(&self, posting: &PostedResults) -> Option<ProofDemand> {
        let filter = json!({ "fromBlock": "0x0", "address": self.contract() });
        let logs: Vec<Log> = serde_json::from_value(self.node.ask("eth_getLogs", json!([filter]))).unwrap();
        let demands = logs.iter().filter_map(|log| log.log_decode::<OptimisticSettlement::Demanded>().ok());
        let of_it = demands.filter(|log| log.inner.id == posting.id()).last()?;
        let OptimisticSettlement::Demanded { challenger, when, .. } = of_it.inner.data;
        Some(ProofDemand { challenger, when: Moment::of_word(when) })
    }

    /// The settlement after the chain went back to where the network was this.
    pub fn back_to(mut self, network: Network) -> Self {
        self.head = network.head().encode().unwrap();
        self.network = network;
        self
    }

    /// Copies a base to the pinned slot 1.
    pub fn pin(&mut self, from: u16) {
        self.node.send(self.contract(), &Settlement::pinCall { slot: U256::from(1), from: U256::from(from) });
        let mut pinned = self.network.bases.iter().find(|base| base.slot == from).unwrap().clone();
        pinned.slot = 1;
        self.network.bases.retain(|base| base.slot != 1);
        self.network.bases.push(pinned);
        self.network.bases.sort_by_key(|base| base.slot);
    }
}

/// Weights as the contract takes them.
pub fn pack(weights: &[u64]) -> Bytes {
    weights.iter().flat_map(|weight| weight.to_be_bytes()).collect()
}

/// A contract that passes its calldata on to another one.
pub fn forwarder(to: Address) -> Bytes {
    // CALLDATACOPY(0, 0, CALLDATASIZE); CALL(GAS, to, 0, 0, CALLDATASIZE, 0, 0); revert if that failed.
    let start = [0x36, 0x5f, 0x5f, 0x37, 0x5f, 0x5f, 0x36, 0x5f, 0x5f, 0x73];
    creation(&[&start[..], to.as_slice(), &or_revert(37)].concat())
}

/// A contract that calls another one with calldata of its own.
pub fn opaque(to: Address, call: &[u8]) -> Bytes {
    // CODECOPY(0, 46, length); CALL(GAS, to, 0, 0, length, 0, 0); revert if that failed.
    let [high, low] = (call.len() as u16).to_be_bytes();
    let start = [0x61, high, low, 0x60, 46, 0x5f, 0x39, 0x5f, 0x5f, 0x61, high, low, 0x5f, 0x5f, 0x73];
    creation(&[&start[..], to.as_slice(), &or_revert(42), call].concat())
}

/// A contract that emits a log with this topic and no data.
pub fn emitter(topic: B256) -> Bytes {
    // LOG1(0, 0, topic).
    creation(&[&[0x7f][..], topic.as_slice(), &[0x5f, 0x5f, 0xa1, 0x00]].concat())
}

/// GAS CALL ISZERO PUSH1 JUMPI STOP JUMPDEST PUSH0 PUSH0 REVERT. The byte after PUSH1 is where JUMPDEST stands.
fn or_revert(at: u8) -> [u8; 11] {
    [0x5a, 0xf1, 0x15, 0x60, at, 0x57, 0x00, 0x5b, 0x5f, 0x5f, 0xfd]
}

/// A contract with this code.
pub fn creation(code: &[u8]) -> Bytes {
    // PUSH2 length DUP1 PUSH1 11 PUSH0 CODECOPY PUSH0 RETURN, and the code.
    let length = (code.len() as u16).to_be_bytes();
    [&[0x61, length[0], length[1], 0x80, 0x60, 11, 0x5f, 0x39, 0x5f, 0xf3, 0x00][..], code].concat().into()
}
