//! `quorate-chain weigh`.

use std::path::PathBuf;

use alloy::primitives::{Address, Bytes, U256};
use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate_chain::{
    account::{Account, AccountError},
    rpc::Rpc,
    settlement::passed_to_enter,
};
use quorate_evm::{
    Network, Sender, Transaction, Upkeep, WeightPart,
    alloy_sol_types::SolCall,
    contract::{Settlement, StakeRegistrar},
    state,
};
use quorate_host::{
    dash::{self, name_of},
    exit::{Exit, Failure, Result},
    file, unix_seconds,
};
use tokio::runtime::Runtime;

use crate::{
    print::line,
    wallet::{Sending, send},
};

/// Begin the next epoch of a settlement whose registrar takes its weights from a restaking protocol
///
/// Once the epoch is due, anyone may weigh the operators and begin it. This sends the registrar's `weigh`, as often as it
/// takes, then `beginEpoch` with the threshold that the weights need, and then the settlement's `enter`, from the head that the
/// contract's last log has. If an epoch waits to be entered, it sends `enter` alone. Run it by a timer. The exit code is 1 if the epoch
/// is not due yet, or if the file of the network is behind and no epoch waits. If the epoch is due and a transaction is refused,
/// costs too much or fails, it is 3. If Ctrl-C or SIGTERM ends the command, it names the transaction that may have been sent, and the
/// code is 130.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The settlement's network, which `quorate-chain follow` keeps; `-` is standard input
    #[arg(long, value_name = "FILE", default_value = "network.json", env = "QUORATE_CHAIN_NETWORK")]
    network: PathBuf,

    /// How many operators to weigh in one transaction, at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    step: u64,

    #[command(flatten)]
    sending: Sending,
}

const EXAMPLES: &str = "\
Example:
  quorate-chain weigh --rpc http://localhost:8545 --network network.json \\
      --key-file payer.json";

impl Arguments {
    /// Runs the command.
    pub(crate) fn run(self, runtime: &Runtime) -> Result {
        let node = self.sending.node()?;
        let text = dash::text(&self.network, file::LARGEST_DOCUMENT)?;
        let network = Network::from_json(text.as_bytes());
        let network = network.with_context(|| name_of(&self.network)).map_err(Failure::usage)?;
        let next = runtime.block_on(self.next(&node, &network))?;
        let account = self.sending.account(&node, network.chain_id)?;
        let sending = async {
            if let Some(registrar) = next {
                self.begin(&node, &account, &network, registrar).await?;
            }
            send_due(&account, &self.enter(&node, &network).await?).await
        };
        runtime.block_on(account.until_interrupted(sending))?;
        Ok(Exit::Success)
    }

    /// The registrar, if it can begin an epoch now; none if one waits to be entered.
    async fn next(&self, node: &Rpc, network: &Network) -> Result<Option<Address>> {
        let (settlement, name) = (network.contract, name_of(&self.network));
        self.sending.check(node, network.chain_id, settlement).await?;
        if node.read(settlement, &Settlement::waitingCall {}, None).await.map_err(Failure::io)? {
            return Ok(None);
        }
        // A file that nobody keeps is better known before anything is sent.
        let state = node.read(settlement, &Settlement::stateCall {}, None).await.map_err(Failure::io)?;
        if network.state().with_context(|| name.clone()).map_err(Failure::usage)? != state {
            return Err(Failure::refused(anyhow!("{name} is not the settlement's state any more; follow first")));
        }
        let registrar = node.read(settlement, &Settlement::registrarCall {}, None).await.map_err(Failure::io)?;
        let running = node.read(registrar, &StakeRegistrar::runningEpochCall {}, None).await;
        let running = running.with_context(|| format!("the registrar {registrar} is not a stake registrar"));
        let due = running.map_err(Failure::usage)?.due.to::<u64>();
        // The chain's time is that of its newest block, which may be old; the next block has at least this machine's.
        let time = node.newest().await.map_err(Failure::io)?.timestamp.max(unix_seconds());
        if time < due {
            return Err(Failure::refused(anyhow!("the next epoch is due in {} s, at {due} in Unix time", due - time)));
        }
        Ok(Some(registrar))
    }

    /// Weighs everybody, and begins the epoch with the weights that the registrar has then.
    async fn begin(&self, node: &Rpc, account: &Account, network: &Network, registrar: Address) -> Result<()> {
        let call = |about: &str, calldata: Vec<u8>| Transaction {
            about: about.to_owned(),
            chain_id: network.chain_id,
            to: registrar,
            sender: Sender::Anyone,
            after_epoch: None,
            access_list: Vec::new(),
            calldata: calldata.into(),
        };
        loop {
            let weigh = StakeRegistrar::weighCall { count: U256::from(self.step) };
            let weighed = send_due(account, &call("weigh operators", weigh.abi_encode())).await;
            weighed.map_err(|failure| {
                let smaller = matches!(failure.error.downcast_ref(), Some(AccountError::Gas(_)));
                if smaller { failure.context(format!("--step is {}; try a smaller one", self.step)) } else { failure }
            })?;
            let weighing = node.read(registrar, &StakeRegistrar::lastWeighingCall {}, None).await;
            let weighing = weighing.map_err(Failure::io)?;
            if weighing.weighed == weighing.keys {
                break;
            }
        }
        let packed = node.read(registrar, &StakeRegistrar::weightsCall {}, None).await.map_err(Failure::io)?;
        let numerator = node.read(registrar, &StakeRegistrar::numeratorCall {}, None).await.map_err(Failure::io)?;
        let denominator = node.read(registrar, &StakeRegistrar::denominatorCall {}, None).await.map_err(Failure::io)?;
        let weights = unpack(&packed);
        let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        let part = WeightPart::new(numerator, denominator)
            .ok_or_else(|| Failure::usage(anyhow!("the registrar {registrar} is not a stake registrar")))?;
        let required = part.exceeded_by(total);
        let (threshold, _) = state::enough(&weights, required);
        let begin = StakeRegistrar::beginEpochCall { threshold };
        let about = format!("begin the epoch: {} keys weigh {total}, required: {required}", weights.len());
        send_due(account, &call(&about, begin.abi_encode())).await
    }

    /// `enter`, from the head and the newest base that the contract has: results may have settled since the file was written, and `follow`
    /// writes none while an epoch waits.
    async fn enter(&self, node: &Rpc, network: &Network) -> Result<Transaction> {
        let contract = network.contract;
        let passed = passed_to_enter(node, contract).await.map_err(Failure::io)?;
        let (head, newest) = passed.ok_or_else(|| {
            Failure::io(anyhow!(
                "the last log of {contract} does not lead to its state: the node left logs out, or somebody entered the epoch; try \
                 again, or another node"
            ))
        })?;
        let enter = Upkeep::EnterFrom { head, newest }.transaction(network);
        enter.with_context(|| name_of(&self.network)).map_err(Failure::usage)
    }
}

/// Sends a transaction of an epoch that is due.
async fn send_due(account: &Account, call: &Transaction) -> Result<()> {
    line(format!("what         {}", call.about))?;
    send(account, call).await.map(drop).map_err(|failed| of_due_epoch(failed.failure))
}

/// The failure of a transaction whose epoch is due. A timer takes exit code 1 for an epoch that is not due yet, so this one has another.
fn of_due_epoch(failure: Failure) -> Failure {
    let exit = if failure.exit == Exit::Negative { Exit::Io } else { failure.exit };
    Failure { exit, ..failure }
}

/// The weights of all indices, 8 bytes each.
fn unpack(packed: &Bytes) -> Vec<u64> {
    let (weights, _) = packed.as_chunks::<8>();
    weights.iter().map(|weight| u64::from_be_bytes(*weight)).collect()
}
