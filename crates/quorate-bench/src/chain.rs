//! An EVM in this process. Each call is a transaction of its own, with cold storage.

use std::sync::LazyLock;

use anyhow::{Result, bail};
use quorate_evm::{
    alloy_primitives::{Address, Bytes, Log, U256},
    alloy_sol_types::{SolCall, SolEvent},
};
use revm::{
    Context, ExecuteCommitEvm, MainBuilder, MainContext,
    context::{
        TxEnv,
        result::{ExecutionResult, Output},
        transaction::{AccessList, AccessListItem},
    },
    database::{CacheDB, EmptyDB},
    handler::EthPrecompiles,
    precompile::{Precompile, PrecompileResult, Precompiles, u64_to_address},
    primitives::{TxKind, hardfork::SpecId},
};

/// The chain's id.
pub(crate) const CHAIN_ID: u64 = 31_337;

/// The sender of all transactions.
pub(crate) const SENDER: Address = Address::repeat_byte(0x51);

/// What a chain charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prices {
    /// The hard fork Osaka.
    Osaka,
    /// Glamsterdam as revm has it: state that is created costs much more (EIP-8037), and so does calldata.
    Glamsterdam,
    /// Osaka, and each precompile of BN254 and BLS12-381 costs twice as much. No proposal says this; several raise some of
    /// these prices.
    PrecompilesTwice,
}

impl Prices {
    fn spec(self) -> SpecId {
        match self {
            Self::Osaka | Self::PrecompilesTwice => SpecId::OSAKA,
            Self::Glamsterdam => SpecId::AMSTERDAM,
        }
    }

    /// The gas that a transaction may use (EIP-7825). In Glamsterdam the gas of new state does not count towards it
    /// (EIP-8037), and comes from what a transaction has beyond.
    fn most_gas(self) -> u64 {
        match self {
            Self::Osaka | Self::PrecompilesTwice => 1 << 24,
            Self::Glamsterdam => (1 << 24) + (1 << 27),
        }
    }

    fn precompiles(self) -> EthPrecompiles {
        static TWICE: LazyLock<Precompiles> = LazyLock::new(|| {
            let mut precompiles = Precompiles::osaka().clone();
            let twice = |address, charge| {
                let osaka = Precompiles::osaka().get(&u64_to_address(address)).expect("Osaka has it");
                Precompile::new(osaka.id().clone(), *osaka.address(), charge)
            };
            precompiles.extend([
                twice(0x06, charged_twice::<0x06>),
                twice(0x07, charged_twice::<0x07>),
                twice(0x08, charged_twice::<0x08>),
                twice(0x0b, charged_twice::<0x0b>),
                twice(0x0d, charged_twice::<0x0d>),
                twice(0x0f, charged_twice::<0x0f>),
                twice(0x10, charged_twice::<0x10>),
            ]);
            precompiles
        });
        match self {
            Self::Osaka | Self::Glamsterdam => EthPrecompiles::new(self.spec()),
            Self::PrecompilesTwice => EthPrecompiles { precompiles: &TWICE, spec: self.spec() },
        }
    }
}

/// A precompile of Osaka that takes twice the gas.
fn charged_twice<const ADDRESS: u64>(input: &[u8], gas: u64, reservoir: u64) -> PrecompileResult {
    let osaka = Precompiles::osaka().get(&u64_to_address(ADDRESS)).expect("Osaka has it");
    let mut output = osaka.execute(input, gas / 2, reservoir)?;
    output.gas_used *= 2;
    Ok(output)
}

/// A chain's state, and what it charges.
#[derive(Clone)]
pub(crate) struct Chain {
    state: CacheDB<EmptyDB>,
    prices: Prices,
    /// The number of the block that is being made, and its second.
    number: u64,
    time: u64,
}

impl Chain {
    pub(crate) fn new(prices: Prices) -> Self {
        Self { state: CacheDB::new(EmptyDB::default()), prices, number: 1, time: 1 }
    }

    /// The number of the block that is being made.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Ends the block, and begins another one so many seconds later.
    pub(crate) fn wait(&mut self, seconds: u64) {
        self.number += 1;
        self.time += seconds;
    }

    /// What the chain charges.
    pub(crate) fn prices(&self) -> Prices {
        self.prices
    }

    /// The second of the block that is being made.
    pub(crate) fn time(&self) -> u64 {
        self.time
    }

    /// The address of a contract that the sender will create after so many others.
    pub(crate) fn next_contract(&self, others: u64) -> Address {
        let nonce = self.state.cache.accounts.get(&SENDER).map_or(0, |account| account.info.nonce);
        SENDER.create(nonce + others)
    }

    /// Deploys a contract.
    pub(crate) fn create(&mut self, code: Bytes) -> Result<Address> {
        match self.transact(SENDER, TxKind::Create, code, &[])? {
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
        Ok(self.send(SENDER, to, data, listed)?.gas)
    }

    /// Calls a contract from an account, with accounts in the access list.
    pub(crate) fn send(&mut self, from: Address, to: Address, data: Bytes, listed: &[Address]) -> Result<Sent> {
        Ok(self.transact(from, TxKind::Call(to), data, listed)?.0)
    }

    /// Calls a function of a contract from an account. The call must not revert.
    pub(crate) fn sent<C: SolCall>(&mut self, from: Address, to: Address, call: &C) -> Sent {
        self.send(from, to, call.abi_encode().into(), &[]).expect(C::SIGNATURE)
    }

    /// What a function of a contract returns. The chain stays as it is.
    pub(crate) fn read<C: SolCall>(&self, to: Address, call: &C) -> C::Return {
        let sent = self.clone().transact(SENDER, TxKind::Call(to), call.abi_encode().into(), &[]).expect(C::SIGNATURE);
        C::abi_decode_returns(sent.1.data()).expect(C::SIGNATURE)
    }

    fn transact(&mut self, from: Address, kind: TxKind, data: Bytes, listed: &[Address]) -> Result<(Sent, Output)> {
        let mut evm = Context::mainnet()
            .with_db(&mut self.state)
            .modify_block_chained(|block| {
                block.number = U256::from(self.number);
                block.timestamp = U256::from(self.time);
            })
            .modify_cfg_chained(|cfg| {
                cfg.set_spec_and_mainnet_gas_params(self.prices.spec());
                cfg.chain_id = CHAIN_ID;
                // Gas has no price here, so the sender needs no balance.
                cfg.disable_nonce_check = true;
            })
            .build_mainnet()
            .with_precompiles(self.prices.precompiles());
        let item = |address: &Address| AccessListItem { address: *address, storage_keys: Vec::new() };
        let transaction = TxEnv::builder()
            .caller(from)
            .kind(kind)
            .gas_limit(self.prices.most_gas())
            .data(data)
            .chain_id(Some(CHAIN_ID))
            .access_list(AccessList(listed.iter().map(item).collect()))
            .build();
        let Ok(transaction) = transaction else { bail!("not a transaction: {transaction:?}") };
        match evm.transact_commit(transaction)? {
            ExecutionResult::Success { gas, output, logs, .. } => Ok((Sent { gas: gas.tx_gas_used(), logs }, output)),
            refused => bail!("refused: {refused:?}"),
        }
    }
}

/// A transaction that did not revert.
pub(crate) struct Sent {
    /// The gas of the whole transaction.
    pub(crate) gas: u64,
    logs: Vec<Log>,
}

impl Sent {
    /// The events of one kind, in their order.
    pub(crate) fn events<E: SolEvent>(&self) -> Vec<E> {
        let of_kind = self.logs.iter().filter(|log| log.topics().first() == Some(&E::SIGNATURE_HASH));
        of_kind.map(|log| E::decode_log_data(&log.data).expect(E::SIGNATURE)).collect()
    }

    /// The only event of one kind.
    pub(crate) fn event<E: SolEvent>(&self) -> E {
        let [event] =
            <[E; 1]>::try_from(self.events()).unwrap_or_else(|found| panic!("{} of {}", found.len(), E::SIGNATURE));
        event
    }
}
