//! An EVM in this process. Each call is a transaction of its own, with cold storage.

use anyhow::{Result, bail};
use quorate_evm::alloy_primitives::{Address, Bytes};
use revm::{
    Context, ExecuteCommitEvm, MainBuilder, MainContext,
    context::{
        TxEnv,
        result::{ExecutionResult, Output},
        transaction::{AccessList, AccessListItem},
    },
    database::{CacheDB, EmptyDB},
    primitives::{TxKind, hardfork::SpecId},
};

/// The chain's id.
pub(crate) const CHAIN_ID: u64 = 31_337;

/// The sender of all transactions.
pub(crate) const SENDER: Address = Address::repeat_byte(0x51);

/// A chain's state.
#[derive(Clone)]
pub(crate) struct Chain(CacheDB<EmptyDB>);

impl Chain {
    pub(crate) fn new() -> Self {
        Self(CacheDB::new(EmptyDB::default()))
    }

    /// Deploys a contract.
    pub(crate) fn create(&mut self, code: Bytes) -> Result<Address> {
        match self.transact(TxKind::Create, code, &[])? {
            (_, Output::Create(_, Some(address))) => Ok(address),
            (_, output) => bail!("no contract: {output:?}"),
        }
    }

    /// Calls a contract. Returns the gas of the whole transaction.
    pub(crate) fn call(&mut self, to: Address, data: Bytes) -> Result<u64> {
        self.call_listed(to, data, &[])
    }

    /// The same, with accounts in the access list.
    pub(crate) fn call_listed(&mut self, to: Address, data: Bytes, listed: &[Address]) -> Result<u64> {
        Ok(self.transact(TxKind::Call(to), data, listed)?.0)
    }

    fn transact(&mut self, kind: TxKind, data: Bytes, listed: &[Address]) -> Result<(u64, Output)> {
        let mut evm = Context::mainnet()
            .with_db(&mut self.0)
            .modify_cfg_chained(|cfg| {
                cfg.set_spec_and_mainnet_gas_params(SpecId::OSAKA);
                cfg.chain_id = CHAIN_ID;
                // Gas has no price here, so the sender needs no balance.
                cfg.disable_nonce_check = true;
            })
            .build_mainnet();
        let item = |address: &Address| AccessListItem { address: *address, storage_keys: Vec::new() };
        let transaction = TxEnv::builder()
            .caller(SENDER)
            .kind(kind)
            .data(data)
            .chain_id(Some(CHAIN_ID))
            .access_list(AccessList(listed.iter().map(item).collect()))
            .build();
        let Ok(transaction) = transaction else { bail!("not a transaction: {transaction:?}") };
        match evm.transact_commit(transaction)? {
            ExecutionResult::Success { gas, output, .. } => Ok((gas.tx_gas_used(), output)),
            refused => bail!("refused: {refused:?}"),
        }
    }
}
