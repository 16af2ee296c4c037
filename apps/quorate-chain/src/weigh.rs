//! `quorate-chain weigh`.

use std::{path::PathBuf, time::Duration};

use alloy::primitives::{Address, B256, Bytes, U256};
use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate_chain::{
    account::{Account, AccountError},
    rpc::{Rpc, RpcBlock, RpcError, TransactionReceipt},
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
    file,
    flag::variable,
    unix_seconds,
};
use tokio::{runtime::Runtime, time::sleep};

use crate::{
    print::line,
    wallet::{Sending, send},
};

/// Begin the next epoch of a settlement whose registrar takes its weights from a restaking protocol
///
/// Once the epoch is due, anyone may weigh the operators and begin it. This sends the registrar's `weigh`, as often as it
/// takes, then `beginEpoch` with the threshold that the weights need, and then the settlement's `enter`, from the head that the
/// contract's last log has. If an epoch waits to be entered, it sends `enter` alone. Run it by a timer. The exit code is 1 if the epoch
/// is not due yet. If it is due and a transaction is refused, costs too much or fails, it is 3. If Ctrl-C or SIGTERM ends the command, it
/// names the transaction that may have been sent, and the code is 130. The file of the network may be behind.
///
/// The registrar forgets a weighing that takes more than an hour, and dead keys have to be weighed, too. If the chain makes too few blocks
/// in an hour for so many transactions, nothing is sent, and the error names the least --step. If they take longer all the same, the
/// command ends with an error as soon as a weighing that it began has begun anew, or as soon as it has sent more transactions than so many
/// keys need. All have exit code 3.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The settlement's network, which `quorate-chain follow` keeps; `-` is standard input
    #[arg(long, value_name = "FILE", default_value = "network.json", env = variable("QUORATE_CHAIN_NETWORK"))]
    network: PathBuf,

    /// How many keys to weigh in one transaction, at most. By default 50, or more if the registrar has so many keys that they would not
    /// be weighed within its hour if each transaction took two blocks: 110 for 16,384 keys and blocks of 12 seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    step: Option<u64>,

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
            send_due(&account, &self.enter(&node, &network).await?).await.map(drop)
        };
        runtime.block_on(account.until_interrupted(sending))?;
        Ok(Exit::Success)
    }

    /// The registrar, if it can begin an epoch now; none if one waits to be entered.
    async fn next(&self, node: &Rpc, network: &Network) -> Result<Option<Address>> {
        let settlement = network.contract;
        self.sending.check(node, network.chain_id, settlement).await?;
        if node.read(settlement, &Settlement::waitingCall {}, None).await.map_err(Failure::io)? {
            return Ok(None);
        }
        let registrar = node.read(settlement, &Settlement::registrarCall {}, None).await.map_err(Failure::io)?;
        let running = node.read(registrar, &StakeRegistrar::runningEpochCall {}, None).await;
        let running = running.map_err(|error| {
            // Of a node that fails nothing is known of the registrar.
            let is_of_registrar = error.is_of_contract();
            let error = anyhow::Error::from(error);
            if is_of_registrar {
                Failure::usage(error.context(format!("the registrar {registrar} is not a stake registrar")))
            } else {
                Failure::io(error)
            }
        });
        let due = running?.due.to::<u64>();
        // The chain's time is that of its newest block, which may be old; the next block has at least this machine's.
        let time = node.newest().await.map_err(Failure::io)?.timestamp.max(unix_seconds());
        if time < due {
            return Err(Failure::refused(anyhow!("the next epoch is due in {} s, at {due} in Unix time", due - time)));
        }
        Ok(Some(registrar))
    }

    /// How to weigh. Refuses a number of keys with which the registrar would forget the weighing before it is done.
    async fn steps(&self, node: &Rpc, registrar: Address) -> Result<Steps> {
        let running = node.read(registrar, &StakeRegistrar::runningEpochCall {}, None).await.map_err(Failure::io)?;
        let weighing = node.read(registrar, &StakeRegistrar::lastWeighingCall {}, None).await.map_err(Failure::io)?;
        let allowed = node.read(registrar, &StakeRegistrar::WEIGHING_TIMECall {}, None).await.map_err(Failure::io)?;
        let newest = node.newest().await.map_err(Failure::io)?;
        let (allowed, block) = (allowed.to(), shortest_block(node, newest).await?);
        // Which table a new weighing is of: that of the contract's `_start`.
        let renews = running.walked != 0 && running.walked == running.keys;
        let keys = if renews { running.carried } else { running.keys };
        let whole = Pace { keys: keys.into(), seconds: allowed, block };
        let (step, least) = (self.step.unwrap_or_else(|| whole.usual_step()), whole.least_step(1));
        if step >= least {
            return Ok(Steps { step, keys: keys.into(), before: weighing.captured.to(), allowed });
        }
        Err(Failure::io(anyhow!(
            "the registrar {registrar} forgets a weighing that is not done in time: it has {keys} keys, dead ones counted, and {allowed} \
             s. With a transaction in each block, and a block every {block} s, --step has to be at least {least}, and it is {step}: pass a \
             larger one"
        )))
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
        let Steps { step, keys, before, allowed } = self.steps(node, registrar).await?;
        let most_for = |keys: u64| keys.div_ceil(step) + MORE;
        // When the weighing of this command began; how many transactions weigh, and how many may.
        let (mut own, mut sent, mut most) = (None, 0, most_for(keys));
        let block = loop {
            let weigh = StakeRegistrar::weighCall { count: U256::from(step) };
            let weighed = send_due(account, &call("weigh operators", weigh.abi_encode())).await;
            let weighed = weighed.map_err(|failure| {
                let smaller = matches!(failure.error.downcast_ref(), Some(AccountError::Gas(_)));
                if smaller { failure.context(format!("--step is {step}; try a smaller one")) } else { failure }
            })?;
            sent += 1;
            let block = weighed.block_hash;
            let weighing = read_after(node, registrar, &StakeRegistrar::lastWeighingCall {}, block).await?;
            // The second in which the weighing started names it. Somebody may have begun one too early for this command to end it: then
            // the next one is its own.
            let captured: u64 = weighing.captured.to();
            if captured == 0 {
                return Err(Failure::io(anyhow!(
                    "after the transaction in block {} the registrar {registrar} has no weighing: somebody began the epoch in the same \
                     block, or the node is behind or lies; run it again",
                    weighed.block_number
                )));
            }
            if weighing.weighed == weighing.keys {
                break block;
            }
            if captured != before && own.is_none() {
                (own, sent, most) = (Some(captured), 1, most_for(weighing.keys.into()));
            }
            // A reorganisation moves it by a few seconds, and the weighing goes on.
            if own.is_some_and(|begun| captured > begun + allowed) {
                return Err(Failure::io(anyhow!(
                    "the weighing took longer than the registrar {registrar} allows, so it was forgotten and began anew, with {} of {} \
                     keys: run it with a --step above {step}, or carry the live keys to the next table first",
                    weighing.weighed,
                    weighing.keys
                )));
            }
            if sent >= most {
                return Err(Failure::io(anyhow!(
                    "{sent} transactions are more than {} keys need, and the registrar {registrar} has weighed {}: somebody begins its \
                     weighings anew, or the node lies; look at its last weighing, at another node, before you run it again",
                    weighing.keys,
                    weighing.weighed
                )));
            }
        };
        let packed = read_after(node, registrar, &StakeRegistrar::weightsCall {}, block).await?;
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
        send_due(account, &call(&about, begin.abi_encode())).await.map(drop)
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

/// How the registrar's keys are weighed.
#[derive(Clone, Copy, Debug)]
struct Steps {
    /// How many keys a transaction weighs, at most.
    step: u64,
    /// How many keys a new weighing has, dead ones counted.
    keys: u64,
    /// The second in which the weighing started that the registrar had before; 0 if it had none.
    before: u64,
    /// Seconds after which the registrar forgets a weighing.
    allowed: u64,
}

/// How many keys have to be weighed in what time.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// All keys of the table that is weighed, dead ones counted.
    keys: u64,
    /// Seconds after its start at which the registrar forgets a weighing.
    seconds: u64,
    /// Seconds from a block to the next one; 0 if that is not known, or less than one.
    block: u64,
}

impl Pace {
    /// The fewest keys a transaction has to weigh for all to be weighed, and the epoch begun, in time. Each transaction takes so many
    /// blocks.
    fn least_step(self, blocks: u64) -> u64 {
        let transactions = self.seconds.checked_div(blocks.saturating_mul(self.block)).unwrap_or(u64::MAX);
        // The last one begins the epoch. A chain that makes blocks on demand may have had none for an hour.
        self.keys.div_ceil(transactions.saturating_sub(1).max(1)).max(1)
    }

    /// How many keys a transaction weighs if nobody says it.
    fn usual_step(self) -> u64 {
        self.least_step(2).max(LEAST_STEP)
    }
}

/// How many keys a transaction weighs if there are few.
const LEAST_STEP: u64 = 50;

/// So many transactions may weigh no new keys: others weigh them, or register keys, meanwhile.
const MORE: u64 = 3;

/// How often, and after which pause, a node is asked for what follows from a block that it may not have yet.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_secs(2);

/// How many blocks tell how far apart blocks are.
const BLOCKS: usize = 8;

/// The most seconds between the blocks of a chain that makes them by itself. If they are further apart, it makes one when somebody sends
/// something, so they do not tell when the next one comes.
const LONGEST_BLOCK: u64 = 60;

/// The fewest seconds from one of the newest blocks to the next; 0 if that is not known. The fewest, since nobody may have asked for a
/// block for long, or a proposer may have missed its slot.
async fn shortest_block(node: &Rpc, newest: RpcBlock) -> Result<u64> {
    let (mut later, mut shortest) = (newest, None);
    for _ in 0..BLOCKS {
        let Some(number) = later.number.checked_sub(1) else { break };
        let Some(block) = node.block_at(number).await.map_err(Failure::io)? else { break };
        let seconds = later.timestamp.saturating_sub(block.timestamp);
        shortest = Some(shortest.map_or(seconds, |least: u64| least.min(seconds)));
        later = block;
    }
    Ok(shortest.filter(|seconds| *seconds <= LONGEST_BLOCK).unwrap_or(0))
}

/// Sends a transaction of an epoch that is due. The answer is its receipt.
async fn send_due(account: &Account, call: &Transaction) -> Result<TransactionReceipt> {
    line(format!("what         {}", call.about))?;
    send(account, call).await.map(|sent| sent.receipt).map_err(|failed| of_due_epoch(failed.failure))
}

/// What the registrar says after the block of a transaction. The newest block may be an older one: a node behind the one that told of the
/// transaction may not have its block yet. Then it refuses the question, and is asked again for a while.
async fn read_after<C: SolCall>(node: &Rpc, registrar: Address, call: &C, block: B256) -> Result<C::Return> {
    for _ in 1..TRIES {
        match node.read(registrar, call, Some(block)).await {
            Err(error @ RpcError::Refused { .. }) if !error.is_of_contract() => sleep(PAUSE).await,
            answer => return answer.map_err(Failure::io),
        }
    }
    node.read(registrar, call, Some(block)).await.map_err(Failure::io)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest table, and a chain with blocks of 12 seconds: 300 in an hour.
    const LARGEST: Pace = Pace { keys: 16_384, seconds: 3_600, block: 12 };

    #[test]
    fn the_largest_table_is_weighed_within_the_hour() {
        // 149 transactions of two blocks, or 299 of one, and one that begins the epoch: 16,384 keys are more than 149 * 109 and 299 * 54.
        assert_eq!((LARGEST.usual_step(), LARGEST.least_step(1)), (110, 55));
    }

    #[test]
    fn few_keys_fast_blocks_and_little_time() {
        assert_eq!(Pace { keys: 1_000, ..LARGEST }.usual_step(), 50);
        assert_eq!(Pace { keys: 0, ..LARGEST }.least_step(1), 1);
        // Nothing is known of the blocks, or they follow each other within a second.
        assert_eq!(Pace { block: 0, ..LARGEST }.usual_step(), 50);
        // All at once, where no block comes in time.
        assert_eq!(Pace { block: 86_400, ..LARGEST }.least_step(1), 16_384);
        assert_eq!(Pace { seconds: 0, ..LARGEST }.least_step(1), 16_384);
    }
}
