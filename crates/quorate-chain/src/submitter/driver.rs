//! Carries out what the machine says: asks the node, signs, sends.

use std::{collections::BTreeMap, time::Instant};

use alloy::{
    eips::eip2718::Encodable2718 as _,
    network::{EthereumWallet, NetworkTransactionBuilder as _, TransactionBuilder as _},
    primitives::{Address, B256, Bytes, U256},
    rpc::types::{AccessList, AccessListItem, TransactionRequest},
};
use quorate_evm::cost::MOST_GAS;
use serde_json::json;
use tokio::{
    sync::mpsc::{Receiver, Sender},
    time::{MissedTickBehavior, interval},
};

use super::{
    call::{Call, SubmitEvent, SubmitSettings},
    machine::{Content, Due, Machine, Mined, Sight},
    payer::Payer,
};
use crate::{
    gas::gas_limit,
    nonce::count,
    rpc::{Rpc, RpcBlock, RpcError},
    task_network::Confirmations,
};

/// The machine, and what it acts on.
pub(super) struct Driver<L> {
    rpc: Rpc,
    wallet: EthereumWallet,
    address: Address,
    chain_id: u64,
    settings: SubmitSettings,
    machine: Machine<L>,
    /// The signed bytes of transactions that are not final.
    signed: BTreeMap<B256, Bytes>,
    begun: Instant,
    calls: Receiver<Call<L>>,
    events: Sender<SubmitEvent<L>>,
    /// Whether the last round failed, so that a failure is logged once.
    fails: bool,
}

/// Why a round ended early.
enum Stop {
    Rpc(RpcError),
    /// Nobody reads events any more.
    Ended,
}

impl From<RpcError> for Stop {
    fn from(error: RpcError) -> Self {
        Self::Rpc(error)
    }
}

/// Why a call is not sent.
enum Unsent {
    /// The contract or the node refuses it, for this reason.
    Refused(String),
    Rpc(RpcError),
}

impl From<RpcError> for Unsent {
    fn from(error: RpcError) -> Self {
        match error {
            RpcError::Refused { .. } | RpcError::Halted { .. } if !error.may_pass() => {
                Self::Refused(error.revert().unwrap_or_else(|| error.to_string()))
            }
            _ => Self::Rpc(error),
        }
    }
}

impl<L: Clone + Send + Sync + 'static> Driver<L> {
    pub(super) async fn new(
        rpc: Rpc,
        payer: Payer,
        settings: SubmitSettings,
        calls: Receiver<Call<L>>,
        events: Sender<SubmitEvent<L>>,
    ) -> Result<Self, RpcError> {
        let (address, chain_id) = (payer.address(), rpc.chain_id().await?);
        let mined = count(&rpc, address, "latest").await?;
        let pending = count(&rpc, address, "pending").await?;
        let machine = Machine::new(settings.clone(), mined, pending, 1);
        Ok(Self {
            rpc,
            wallet: payer.wallet(),
            address,
            chain_id,
            settings,
            machine,
            signed: BTreeMap::new(),
            begun: Instant::now(),
            calls,
            events,
            fails: false,
        })
    }

    /// Milliseconds since the start, at least 1.
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// Works until nobody submits or reads any more.
    pub(super) async fn run(mut self) {
        let mut ticks = interval(self.settings.poll.max(std::time::Duration::from_millis(1)));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let has_room = self.machine.has_room();
            tokio::select! {
                call = self.calls.recv(), if has_room => match call {
                    Some(call) => {
                        let now = self.now();
                        self.machine.submit(call, now);
                    }
                    None => return,
                },
                _ = ticks.tick() => {}
            }
            while self.machine.has_room()
                && let Ok(call) = self.calls.try_recv()
            {
                let now = self.now();
                self.machine.submit(call, now);
            }
            match self.round().await {
                Ok(()) => self.fails = false,
                Err(Stop::Ended) => return,
                Err(Stop::Rpc(error)) => {
                    if !std::mem::replace(&mut self.fails, true) {
                        tracing::warn!(%error, "transactions wait for the node");
                    }
                }
            }
        }
    }

    async fn round(&mut self) -> Result<(), Stop> {
        let newest = self.rpc.newest().await?;
        let sight = self.sight(&newest).await?;
        let now = self.now();
        for event in self.machine.observe(&sight, now) {
            self.tell(event).await?;
        }
        let unfinished = self.machine.unfinished();
        self.signed.retain(|hash, _| unfinished.contains(hash));
        let prices = self.settings.fees.prices(&self.rpc, &newest).await?;
        for due in self.machine.due(prices, now) {
            self.carry_out(due).await?;
        }
        while let Some(call) = self.machine.next().cloned() {
            match self.simulate(&call).await {
                Ok(gas_limit) => {
                    let now = self.now();
                    // It costs too much now.
                    let Some(due) = self.machine.accept(gas_limit, prices, now) else { break };
                    self.carry_out(due).await?;
                }
                Err(Unsent::Refused(reason)) => {
                    if let Some(event) = self.machine.refused(reason) {
                        self.tell(event).await?;
                    }
                }
                Err(Unsent::Rpc(error)) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn tell(&self, event: SubmitEvent<L>) -> Result<(), Stop> {
        self.events.send(event).await.map_err(|_| Stop::Ended)
    }

    async fn sight(&self, newest: &RpcBlock) -> Result<Sight, RpcError> {
        let last_final = match self.settings.confirmations {
            Confirmations::Blocks(behind) => newest.number.checked_sub(behind),
            Confirmations::Finalized => self.rpc.block("finalized").await?.map(|block| block.number),
        };
        let nonce = count(&self.rpc, self.address, "latest").await?;
        let mut mined = BTreeMap::new();
        for hash in self.machine.unfinished() {
            let Some(receipt) = self.rpc.receipt(hash).await? else { continue };
            let gas_used: u64 = receipt.gas_used.to();
            let price: u128 = receipt.effective_gas_price.saturating_to();
            let at = Mined {
                hash,
                block: receipt.block_number.to(),
                block_hash: receipt.block_hash,
                gas_used,
                fee_paid: price.saturating_mul(gas_used.into()),
                succeeded: !receipt.status.is_zero(),
            };
            mined.insert(hash, at);
        }
        Ok(Sight { newest: newest.number, last_final, nonce, mined })
    }

    /// Lets the node call the contract in the newest block's state. Returns the limit of the gas.
    async fn simulate(&self, call: &Call<L>) -> Result<u64, Unsent> {
        let request = self.request(call);
        let simulated = match call.gas_limit {
            Some(limit) => request.clone().with_gas_limit(limit.min(MOST_GAS)),
            None => request.clone(),
        };
        let _: Bytes = self.rpc.ask("eth_call", json!([simulated, "latest"])).await?;
        if let Some(limit) = call.gas_limit {
            return Ok(limit.min(MOST_GAS));
        }
        let estimate = self.rpc.quantity("eth_estimateGas", json!([request, "latest"])).await?;
        gas_limit(estimate).map_err(|error| Unsent::Refused(error.to_string()))
    }

    fn request(&self, call: &Call<L>) -> TransactionRequest {
        let item = |address: &Address| AccessListItem { address: *address, storage_keys: Vec::new() };
        TransactionRequest::default()
            .with_from(self.address)
            .with_to(call.to)
            .with_input(call.calldata.clone())
            .with_value(call.value)
            .with_access_list(AccessList(call.access_list.iter().map(item).collect()))
    }

    async fn carry_out(&mut self, due: Due<L>) -> Result<(), Stop> {
        let (nonce, hash, sent) = match due {
            Due::Again { hash } => (None, hash, None),
            Due::Send { nonce, call, gas_limit, fees, content } => {
                let request = match (&call, content) {
                    (Some(call), Content::Call) => self.request(call),
                    _ => {
                        let nothing = TransactionRequest::default().with_value(U256::ZERO);
                        nothing.with_from(self.address).with_to(self.address)
                    }
                };
                let request = request
                    .with_chain_id(self.chain_id)
                    .with_nonce(nonce)
                    .with_gas_limit(gas_limit)
                    .with_max_fee_per_gas(fees.max_fee)
                    .with_max_priority_fee_per_gas(fees.tip);
                let signed = match request.build(&self.wallet).await {
                    Ok(signed) => signed,
                    // All fields are set, and the wallet has the key of `from`.
                    Err(error) => {
                        tracing::error!(%error, "a transaction cannot be signed");
                        return Ok(());
                    }
                };
                let hash = *signed.tx_hash();
                self.signed.insert(hash, signed.encoded_2718().into());
                let now = self.now();
                (Some(nonce), hash, self.machine.sent(nonce, hash, fees, content, now))
            }
        };
        let Some(bytes) = self.signed.get(&hash) else { return Ok(()) };
        let answer = self.rpc.ask::<B256>("eth_sendRawTransaction", json!([bytes])).await;
        if let Err(error @ RpcError::Refused { message, .. }) = &answer {
            // If it is there already, or something with its nonce is, the next rounds see what.
            if let Some(nonce) = nonce
                && error.send_refusal().is_none()
                && let Some(refused) = self.machine.rejected(nonce, hash, message.clone())
            {
                return self.tell(refused).await;
            }
        }
        if let Some(sent) = sent {
            self.tell(sent).await?;
        }
        match answer {
            Ok(_) | Err(RpcError::Refused { .. }) => Ok(()),
            // Whether the node has it is not known. It is sent again later.
            Err(error) => Err(error.into()),
        }
    }
}
