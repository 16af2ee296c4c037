//! A node's process on this machine, and transactions to it, one at a time.
//!
//! It is the `anvil` that `make contracts` installs.

use std::{
    env::{self, consts},
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};

use alloy::{
    eips::BlockId,
    network::TransactionBuilder,
    node_bindings::{Anvil, AnvilInstance, NodeError},
    providers::{Provider, ProviderBuilder, RootProvider},
    rpc::types::{AccessList, AccessListItem, TransactionReceipt, TransactionRequest},
};
use quorate_evm::{
    KeyGroup, Network,
    alloy_primitives::{Address, Bytes, U64, U256, hex},
    alloy_sol_types::{SolCall, SolEvent},
    digest::Contract,
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::needs::{checkout, skip};

/// The program `anvil`: where `QUORATE_ANVIL` names one, where `make contracts` installs it, or on the PATH.
pub fn find() -> Option<PathBuf> {
    let named = env::var_os("QUORATE_ANVIL").map(PathBuf::from);
    let modules = checkout().join("contracts/node_modules");
    let installed = [modules.join(of_this_machine()), modules.join(".bin/anvil")];
    let path = env::var_os("PATH").unwrap_or_default();
    named
        .or_else(|| installed.into_iter().find(|path| path.exists()))
        .or_else(|| env::split_paths(&path).map(|folder| folder.join("anvil")).find(|path| path.is_file()))
}

/// The program itself in `node_modules`, by the names of the system and the CPU that the package has: `.bin/anvil` starts it from Node.js,
/// which takes longer, and which leaves it running when it is killed.
fn of_this_machine() -> String {
    let system = if consts::OS == "macos" { "darwin" } else { consts::OS };
    let cpu = match consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("@foundry-rs/anvil-{system}-{cpu}/bin/anvil")
}

/// The program `anvil`; `None`, with a printed line, if there is none.
///
/// # Panics
/// If there is none and `CI=true`.
#[track_caller]
pub fn program() -> Option<PathBuf> {
    let found = find();
    if found.is_none() {
        skip("there is no anvil (`make contracts` installs it)");
    }
    found
}

/// Starts a chain with the rules of Osaka on a free port of loopback, which has so many accounts. It ends when it is dropped.
///
/// # Errors
/// It cannot be started, or does not listen in time.
pub fn start(program: &Path, accounts: usize) -> Result<AnvilInstance, NodeError> {
    let accounts = accounts.to_string();
    // A busy machine takes long to start it, and a wrapper that is given up leaves the chain behind.
    let anvil = Anvil::new().path(program).timeout(300_000);
    anvil.args(["--hardfork", "osaka", "--host", "127.0.0.1", "--accounts", &accounts]).try_spawn()
}

/// A node for one test. Dropping it ends the process, also after a panic.
pub struct TestNode {
    runtime: Runtime,
    provider: RootProvider,
    node: AnvilInstance,
}

impl TestNode {
    /// Starts a node with ten accounts. If there is no `anvil`, prints a line and returns `None`.
    ///
    /// # Panics
    /// If there is no `anvil` and `CI=true`, or if it does not start.
    pub fn start() -> Option<Self> {
        Self::with_accounts(10)
    }

    /// The same with so many accounts. Each start computes half their square of public keys: alloy computes those of all keys it has read
    /// again with each line of the node's greeting.
    ///
    /// # Panics
    /// If there is no `anvil` and `CI=true`, or if it does not start.
    pub fn with_accounts(accounts: usize) -> Option<Self> {
        let program = program()?;
        // The first test that starts sets it for all.
        drop(rustls::crypto::ring::default_provider().install_default());
        let node = start(&program, accounts).unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let provider = {
            let _entered = runtime.enter();
            ProviderBuilder::new().disable_recommended_fillers().connect_http(node.endpoint_url())
        };
        Some(Self { runtime, provider, node })
    }

    /// The node's endpoint.
    pub fn url(&self) -> String {
        self.node.endpoint()
    }

    /// The id of its chain.
    pub fn chain_id(&self) -> u64 {
        self.node.chain_id()
    }

    /// The address of an account for which the node signs.
    pub fn account(&self, index: usize) -> Address {
        self.node.addresses()[index]
    }

    /// The key of an account, in hexadecimal.
    pub fn key(&self, index: usize) -> String {
        hex::encode(self.node.keys()[index].to_bytes())
    }

    /// A contract of this chain, as digests contain it.
    pub fn contract(&self, address: Address) -> Contract {
        Contract { chain_id: self.chain_id(), address }
    }

    /// The network of a contract that was just deployed, without members.
    pub fn network(&self, key_group: KeyGroup, contract: Address) -> Network {
        Network::deployed(key_group, self.chain_id(), contract)
    }

    /// The result of a method that must succeed.
    pub fn ask(&self, method: &'static str, parameters: Value) -> Value {
        self.runtime.block_on(async { self.provider.raw_request(method.into(), parameters).await.unwrap() })
    }

    /// The number of the newest block.
    pub fn block(&self) -> u64 {
        serde_json::from_value::<U64>(self.ask("eth_blockNumber", json!([]))).unwrap().to()
    }

    /// Mines empty blocks.
    pub fn mine(&self, blocks: u64) {
        self.ask("anvil_mine", json!([blocks]));
    }

    /// The time of the newest block.
    pub fn now(&self) -> u64 {
        let block = self.runtime.block_on(async { self.provider.get_block(BlockId::latest()).await.unwrap() });
        block.expect("there is a block").header.timestamp
    }

    /// Moves the chain's time forward.
    pub fn pass(&self, seconds: u64) {
        self.ask("evm_increaseTime", json!([seconds]));
        self.ask("evm_mine", json!([]));
    }

    /// The address of the contract that account 0 creates with its `after`-th transaction from now.
    pub fn next_contract(&self, after: u64) -> Address {
        let count =
            self.runtime.block_on(async { self.provider.get_transaction_count(self.account(0)).await.unwrap() });
        self.account(0).create(count + after)
    }

    /// Deploys a contract from account 0.
    pub fn create(&self, code: Bytes) -> Address {
        let receipt = self.transact(0, TransactionRequest::default().with_deploy_code(code));
        receipt.contract_address.unwrap()
    }

    /// Sends a call from account 0, which must succeed.
    pub fn send(&self, to: Address, call: &impl SolCall) -> TransactionReceipt {
        self.send_from(0, to, call.abi_encode().into())
    }

    /// Sends calldata from an account as a transaction, which must succeed.
    pub fn send_from(&self, account: usize, to: Address, data: Bytes) -> TransactionReceipt {
        self.send_listed(account, to, data, &[])
    }

    /// The same with accounts in the access list.
    pub fn send_listed(&self, account: usize, to: Address, data: Bytes, listed: &[Address]) -> TransactionReceipt {
        let mut request = TransactionRequest::default().with_to(to).with_input(data);
        if !listed.is_empty() {
            let item = |address: &Address| AccessListItem { address: *address, storage_keys: Vec::new() };
            request = request.with_access_list(AccessList(listed.iter().map(item).collect()));
        }
        self.transact(account, request)
    }

    /// Sends a call with money from an account, which must succeed.
    pub fn pay(&self, account: usize, to: Address, call: &impl SolCall, wei: u128) -> TransactionReceipt {
        let request = TransactionRequest::default().with_to(to).with_input(call.abi_encode());
        self.transact(account, request.with_value(U256::from(wei)))
    }

    /// Sends calldata from account 0 as a transaction, which must fail.
    pub fn fails(&self, to: Address, data: Bytes) {
        let receipt = self.mined(0, TransactionRequest::default().with_to(to).with_input(data));
        assert!(!receipt.status(), "not refused: {receipt:?}");
    }

    /// The answer of a call.
    pub fn read<C: SolCall>(&self, to: Address, call: &C) -> C::Return {
        let answer = self.call(to, call.abi_encode().into()).unwrap();
        C::abi_decode_returns(&answer).unwrap()
    }

    /// The revert data of calldata that a contract refuses.
    pub fn refusal(&self, to: Address, data: Bytes) -> Bytes {
        self.call(to, data).expect_err("the contract refuses it")
    }

    /// The answer, or the revert data.
    fn call(&self, to: Address, data: Bytes) -> Result<Bytes, Bytes> {
        let request = TransactionRequest::default().with_from(self.account(0)).with_to(to).with_input(data);
        self.runtime.block_on(async { self.provider.call(request).await }).map_err(|error| {
            let error = error.as_error_resp().unwrap_or_else(|| panic!("the node answers: {error}")).clone();
            error.as_revert_data().unwrap_or_default()
        })
    }

    fn transact(&self, account: usize, request: TransactionRequest) -> TransactionReceipt {
        let receipt = self.mined(account, request);
        assert!(receipt.status(), "refused: {receipt:?}");
        receipt
    }

    fn mined(&self, account: usize, request: TransactionRequest) -> TransactionReceipt {
        // The gas limit is that of EIP-7825. The node mines each transaction almost at once.
        let request = request.with_from(self.account(account)).with_gas_limit(1 << 24);
        self.runtime.block_on(async {
            let hash = *self.provider.send_transaction(request).await.unwrap().tx_hash();
            for _ in 0..60_000 {
                if let Some(receipt) = self.provider.get_transaction_receipt(hash).await.unwrap() {
                    return receipt;
                }
                sleep(Duration::from_millis(5));
            }
            panic!("the node mined nothing in 300 seconds")
        })
    }
}

/// The events of a kind in a receipt.
pub fn events<E: SolEvent>(receipt: &TransactionReceipt) -> Vec<E> {
    let logs = receipt.logs().iter().filter(|log| log.topic0() == Some(&E::SIGNATURE_HASH));
    logs.map(|log| E::decode_log_data(log.data()).unwrap()).collect()
}
