//! A node's process on this machine, and transactions to it, one at a time.

use std::{path::Path, thread::sleep, time::Duration};

use alloy::{
    network::TransactionBuilder,
    node_bindings::{Anvil, AnvilInstance},
    providers::{Provider, ProviderBuilder, RootProvider},
    rpc::types::{TransactionReceipt, TransactionRequest},
};
use quorate_evm::{
    alloy_primitives::{Address, Bytes, U64},
    alloy_sol_types::{SolCall, SolEvent},
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A node for one test. Dropping it ends the process, also after a panic.
pub(crate) struct TestNode {
    runtime: Runtime,
    provider: RootProvider,
    node: AnvilInstance,
}

impl TestNode {
    /// Starts a node with the rules of Osaka on a free port. If there is no `anvil`, prints a line and returns `None`.
    pub(crate) fn start() -> Option<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts/node_modules/.bin/anvil");
        if !path.exists() {
            let line = format!("skipped: no {}; `make contracts` installs it", path.display());
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{line}, and this is CI");
            println!("{line}");
            return None;
        }
        let node = Anvil::new().path(path).args(["--hardfork", "osaka", "--host", "127.0.0.1"]).try_spawn().unwrap();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let provider = {
            let _entered = runtime.enter();
            ProviderBuilder::new().disable_recommended_fillers().connect_http(node.endpoint_url())
        };
        Some(Self { runtime, provider, node })
    }

    pub(crate) fn url(&self) -> String {
        self.node.endpoint()
    }

    pub(crate) fn chain_id(&self) -> u64 {
        self.node.chain_id()
    }

    /// The address of an account for which the node signs.
    pub(crate) fn account(&self, index: usize) -> Address {
        self.node.addresses()[index]
    }

    /// The key of an account, in hexadecimal.
    pub(crate) fn key(&self, index: usize) -> String {
        quorate_evm::alloy_primitives::hex::encode(self.node.keys()[index].to_bytes())
    }

    pub(crate) fn ask(&self, method: &'static str, parameters: Value) -> Value {
        self.runtime.block_on(async { self.provider.raw_request(method.into(), parameters).await.unwrap() })
    }

    pub(crate) fn block(&self) -> u64 {
        serde_json::from_value::<U64>(self.ask("eth_blockNumber", json!([]))).unwrap().to()
    }

    pub(crate) fn mine(&self, blocks: u64) {
        self.ask("anvil_mine", json!([blocks]));
    }

    /// Deploys a contract from account 0.
    pub(crate) fn create(&self, code: Bytes) -> Address {
        let receipt = self.transact(TransactionRequest::default().with_deploy_code(code));
        receipt.contract_address.unwrap()
    }

    /// Sends a call from account 0, which must succeed.
    pub(crate) fn send(&self, to: Address, call: &impl SolCall) -> TransactionReceipt {
        self.send_bytes(to, call.abi_encode().into())
    }

    pub(crate) fn send_bytes(&self, to: Address, data: Bytes) -> TransactionReceipt {
        self.transact(TransactionRequest::default().with_to(to).with_input(data))
    }

    /// Sends calldata from account 0 as a transaction, which must fail.
    pub(crate) fn fails(&self, to: Address, data: Bytes) {
        let receipt = self.mined(TransactionRequest::default().with_to(to).with_input(data));
        assert!(!receipt.status(), "not refused: {receipt:?}");
    }

    pub(crate) fn read<C: SolCall>(&self, to: Address, call: &C) -> C::Return {
        let request = TransactionRequest::default().with_to(to).with_input(call.abi_encode());
        let answer = self.runtime.block_on(async { self.provider.call(request).await.unwrap() });
        C::abi_decode_returns(&answer).unwrap()
    }

    fn transact(&self, request: TransactionRequest) -> TransactionReceipt {
        let receipt = self.mined(request);
        assert!(receipt.status(), "refused: {receipt:?}");
        receipt
    }

    fn mined(&self, request: TransactionRequest) -> TransactionReceipt {
        let request = request.with_from(self.account(0)).with_gas_limit(1 << 24);
        self.runtime.block_on(async {
            let hash = *self.provider.send_transaction(request).await.unwrap().tx_hash();
            for _ in 0..4_000 {
                if let Some(receipt) = self.provider.get_transaction_receipt(hash).await.unwrap() {
                    return receipt;
                }
                sleep(Duration::from_millis(5));
            }
            panic!("the node mined nothing in twenty seconds")
        })
    }
}

/// The events of a kind in a receipt.
pub(crate) fn events<E: SolEvent>(receipt: &TransactionReceipt) -> Vec<E> {
    let logs = receipt.logs().iter().filter(|log| log.topic0() == Some(&E::SIGNATURE_HASH));
    logs.map(|log| E::decode_log_data(log.data()).unwrap()).collect()
}
