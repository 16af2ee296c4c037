//! Makes logs and calldata of bytes, and reads them as a follower does: for tests with random bytes, and for the fuzzer.
//!
//! Most numbers are those that the network expects, so that what follows is reached; a byte decides when one is wrong.
//! Hashes are kept here a second time, because no bytes guess them.

use std::collections::BTreeMap;

use quorate_evm::{
    KeyGroup, MemberSet, Quorum,
    alloy_primitives::{Address, B256, FixedBytes, Log, LogData, U256, keccak256},
    alloy_sol_types::{SolCall as _, SolEvent, SolValue as _},
    contract::{TaskNetwork as Network, Verifier, task_network::ITaskNetwork::Task},
    quorum::{Proof, Store},
    task_network::{BlockContradiction, BlockLogs, Change, ContractTerms, NetworkView, PlacedLog},
};

use crate::terms::some_terms;

const NETWORK: Address = Address::repeat_byte(0xaa);
const VERIFIER: Address = Address::repeat_byte(0xbb);
const KEY_GROUP: KeyGroup = KeyGroup::Bls12381G2;
/// The most transactions of one input.
const MOST: usize = 48;

/// Replays what the bytes say. Panics if something is not as it must be. Returns how many transactions were taken.
pub fn check(bytes: &[u8]) -> usize {
    let mut input = Input(bytes);
    let mut chain = Chain::new();
    let mut taken = 0;
    for block in 0..MOST as u64 {
        if input.0.is_empty() {
            break;
        }
        taken += usize::from(chain.transaction(block, &mut input));
    }
    taken
}

/// Bytes that are used up. Where none are left, zeros.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken.to_vec()
    }

    /// A number, which is seldom another one.
    fn near(&mut self, number: u64) -> U256 {
        match self.byte() {
            254 => U256::from(number.wrapping_add(self.byte().into())),
            255 => U256::from_be_slice(&self.bytes(32)),
            _ => U256::from(number),
        }
    }

    fn signers(&mut self) -> MemberSet {
        let bits = u16::from_be_bytes([self.byte(), self.byte()]);
        (0..16).filter(|index| bits >> index & 1 == 1).collect()
    }
}

struct Chain {
    view: NetworkView,
    /// The hash of all keys and owners, as the contract keeps it.
    roster: U256,
    /// The keys of the running table that have an owner.
    owned: u64,
    table: u64,
    epoch: u64,
}

/// What a transaction does if it is taken.
#[derive(Default)]
struct Effects {
    keys: Vec<(u64, Address, Vec<u8>)>,
    weights: BTreeMap<u64, Vec<u64>>,
    calldata: Vec<u8>,
}

impl Chain {
    fn new() -> Self {
        let terms = ContractTerms { genesis: 1_000, ..some_terms() };
        assert!(terms.contract == NETWORK && terms.verifier == VERIFIER && terms.key_group == KEY_GROUP);
        Self { view: NetworkView::new(terms), roster: U256::ZERO, owned: 0, table: 0, epoch: 0 }
    }

    /// Whether it was taken.
    fn transaction(&mut self, block: u64, input: &mut Input<'_>) -> bool {
        let mut effects = Effects::default();
        let logs: Vec<Log> = match input.byte() % 8 {
            0..=2 => self.register(input, &mut effects),
            3 => self.snapshot(input, &mut effects),
            4 | 5 => self.settle(input, &mut effects),
            6 => self.others(input),
            _ => (0..input.byte() % 4).map(|_| raw(input)).collect(),
        };
        if effects.calldata.is_empty() {
            let length = input.byte().into();
            effects.calldata = input.bytes(length);
        }
        let before = self.extent();
        let Ok(changes) = self.read(block, &logs, effects.calldata, &effects.weights) else {
            assert_eq!(self.extent(), before, "what is refused changes nothing");
            return false;
        };
        assert!(changes.len() <= logs.len(), "{changes:?} of {logs:?}");
        for (index, owner, key) in effects.keys {
            let part = (self.roster, U256::from(self.table), U256::from(index), owner, keccak256(key));
            self.roster = U256::from_be_slice(&keccak256(part.abi_encode())[12..]);
            self.owned += 1;
        }
        for change in &changes {
            let Change::Snapshot(told) = change else { continue };
            self.epoch = told.epoch + 1;
            let total: u128 = told.members.iter().map(|member| u128::from(member.weight)).sum();
            assert_eq!(total, told.total, "{told:?}");
            let planned = self.view.network(told.epoch).expect("the epoch has a snapshot");
            assert_eq!(planned.keys.len(), told.members.len());
        }
        let _ = self.view.network(self.epoch.saturating_sub(1));
        true
    }

    /// Reads a block with one transaction, whose bases the verifier has. Says what changed.
    fn read(
        &mut self,
        number: u64,
        logs: &[Log],
        calldata: Vec<u8>,
        weights: &BTreeMap<u64, Vec<u64>>,
    ) -> Result<Vec<Change>, BlockContradiction> {
        let (block, transaction) = ((number, B256::from(U256::from(number))), B256::from(U256::from(number + 1)));
        let placed = |(index, log): (u64, &Log)| PlacedLog { block, transaction, index, log: log.clone() };
        let logs = (0..).zip(logs).map(placed).collect();
        let mut blocks = BlockLogs::of(self.view.terms(), logs, number, block)?;
        blocks
            .iter_mut()
            .for_each(|block| block.add_calldata(&BTreeMap::from([(transaction, calldata.clone().into())])));
        let mut draft = self.view.draft();
        draft.read(&blocks, weights, block, Some(number))?;
        // It adds up the keys of bases, which need not be points.
        let bases = draft.bases_to_compare();
        let held: Vec<_> = bases.iter().map(|(_, commitment)| *commitment).collect();
        draft.compare_bases(&bases, &held);
        let told = draft.told().to_vec();
        (self.view, _) = draft.finish(block, 0, Some(number));
        Ok(told)
    }

    /// What the verifier's `extent()` says if the logs are its logs.
    fn extent(&self) -> (u64, u64, u64) {
        self.view.draft().extent()
    }

    /// One key or two.
    fn register(&self, input: &mut Input<'_>, effects: &mut Effects) -> Vec<Log> {
        let mut logs = Vec::new();
        for place in 0..1 + u64::from(input.byte() == 9) {
            let index = self.extent().0 + place;
            let length = if input.byte() == 255 { 100 } else { KEY_GROUP.key_bytes() };
            let key = vec![input.byte(); length];
            let (operator, stake) = (Address::repeat_byte(input.byte()), input.near(5));
            let (table, at) = (input.near(self.table), input.near(index));
            logs.push(of(VERIFIER, &Verifier::KeyAdded { table, index: at, key: key.clone().into() }));
            logs.push(of(NETWORK, &Network::Registered { operator, index: input.near(index), stake }));
            effects.keys.push((index, operator, key));
        }
        logs
    }

    /// The weights of all keys. Their hash is right, unless a byte says otherwise.
    fn snapshot(&self, input: &mut Input<'_>, effects: &mut Effects) -> Vec<Log> {
        let weights: Vec<u64> = (0..self.owned).map(|_| input.byte().into()).collect();
        let packed: Vec<u8> = weights.iter().flat_map(|weight| weight.to_be_bytes()).collect();
        let beacon = B256::repeat_byte(input.byte());
        let parts = (beacon, U256::from(self.table), self.roster, keccak256(packed)).abi_encode();
        let id = FixedBytes::from_slice(&keccak256(parts)[..20]);
        let total = input.near(weights.iter().sum());
        let required = input.near(weights.iter().sum::<u64>() * 2 / 3);
        let operators = input.near(self.owned);
        let (epoch, table) = (input.near(self.epoch), input.near(self.table));
        if input.byte() != 255 {
            effects.weights.insert(self.epoch, weights);
        }
        let fixed = Network::EpochSnapshotted { epoch, total, required, operators, table, beacon, id };
        let page = self.page(input);
        let paged = Verifier::WeightsPaged { nonce: page, epoch, first: input.near(0), keys: operators };
        vec![of(NETWORK, &fixed), of(VERIFIER, &paged)]
    }

    /// A task of the epoch that began last, with its call.
    fn settle(&self, input: &mut Input<'_>, effects: &mut Effects) -> Vec<Log> {
        let (epoch, id) = (input.near(self.epoch.saturating_sub(1)), B256::repeat_byte(input.byte()));
        let (performer, result) = (input.near(0), B256::repeat_byte(input.byte()));
        let signers = input.signers();
        let store = match input.byte() % 2 {
            0 => Store::Nowhere,
            _ => Store::Slot(u16::from(input.byte() % 6)),
        };
        let quorum = Quorum {
            base: None,
            store,
            key_pages: Vec::new(),
            weights: Vec::new(),
            keys: signers.iter().map(|_| vec![0; KEY_GROUP.key_bytes()].into()).collect(),
            signers: signers.clone(),
            proof: Proof::Bls12381G2 { signature: [1; 96] },
        };
        let quorum = match input.byte() {
            255 => input.bytes(200),
            _ => quorum.encode().unwrap_or_default(),
        };
        let task = Task { id, performer, result, approved: true };
        let call = Network::submitTasksCall { epoch, tasks: vec![task], quorum: quorum.into() };
        effects.calldata = [input.bytes(3), call.abi_encode()].concat();
        let settled = Network::TaskSettled { id, epoch, performer, result, approved: true, rewarded: true };
        let bitmap = match input.byte() {
            255 => input.bytes(20),
            _ => signers.as_bytes().to_vec(),
        };
        let (weight, amount) = (input.near(7), input.near(50));
        let attested = Network::Attested { epoch, signers: bitmap.into(), weight, amount };
        vec![of(NETWORK, &settled), of(NETWORK, &attested)]
    }

    /// Pages, carried keys and pinned bases.
    fn others(&self, input: &mut Input<'_>) -> Vec<Log> {
        let (_, carried, _) = self.extent();
        let table = input.near(self.table + 1);
        let first = input.near(carried);
        match input.byte() % 3 {
            0 => {
                let keys = input.near(1);
                let paged = Verifier::KeysPaged { nonce: self.page(input), table, first, keys };
                let count = usize::from(input.byte() % 4);
                let indices = (0..count).flat_map(|_| u32::from(input.byte() % 8).to_be_bytes()).collect();
                vec![of(VERIFIER, &paged), of(VERIFIER, &Verifier::KeysCarried { table, first, indices })]
            }
            1 => {
                let indices = input.bytes(9).into();
                vec![of(VERIFIER, &Verifier::KeysCarried { table, first, indices })]
            }
            _ => {
                let (slot, from) = (input.near(1), input.near(0));
                vec![of(VERIFIER, &Verifier::BasePinned { slot, from })]
            }
        }
    }

    /// The nonce of the verifier's next page.
    fn page(&self, input: &mut Input<'_>) -> U256 {
        input.near(self.extent().2 + 1)
    }
}

fn of(address: Address, event: &impl SolEvent) -> Log {
    Log { address, data: event.encode_log_data() }
}

/// A log whose topics and data are what the bytes are, under a topic that is known or not.
fn raw(input: &mut Input<'_>) -> Log {
    const KNOWN: [(Address, B256); 8] = [
        (VERIFIER, Verifier::KeyAdded::SIGNATURE_HASH),
        (VERIFIER, Verifier::KeysCarried::SIGNATURE_HASH),
        (NETWORK, Network::EpochSnapshotted::SIGNATURE_HASH),
        (NETWORK, Network::TaskSettled::SIGNATURE_HASH),
        (NETWORK, Network::Attested::SIGNATURE_HASH),
        (NETWORK, Network::Slashed::SIGNATURE_HASH),
        (NETWORK, Network::Tallied::SIGNATURE_HASH),
        (NETWORK, Network::KeyRotated::SIGNATURE_HASH),
    ];
    let (address, topic) = match input.byte() {
        known @ 0..=199 => KNOWN[usize::from(known % 8)],
        200..=220 => (VERIFIER, B256::from_slice(&padded(&input.bytes(32)))),
        _ => (Address::repeat_byte(input.byte()), KNOWN[0].1),
    };
    let more = (0..input.byte() % 4).map(|_| B256::from_slice(&padded(&input.bytes(32))));
    let mut topics: Vec<B256> = std::iter::once(topic).chain(more).collect();
    if input.byte() == 255 {
        topics.clear();
    }
    let length = usize::from(input.byte()) * 2;
    Log { address, data: LogData::new_unchecked(topics, input.bytes(length).into()) }
}

fn padded(bytes: &[u8]) -> [u8; 32] {
    let mut word = [0; 32];
    word[32 - bytes.len()..].copy_from_slice(bytes);
    word
}
