//! `network/gas-day`: a day of the demonstration's traffic, sixty times as fast. What a settlement cost is what the chain says; what
//! it should have cost is what the node that sent it had estimated.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use quorate_evm::{
    alloy_primitives::{B256, Bytes, U64},
    alloy_sol_types::SolEvent as _,
    contract::TaskNetwork,
};
use quorate_lab::network::{LocalNetwork, LocalPart, LocalPrograms};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    answers::{self, Gas},
    watched::{Work, settings},
};

/// The operators of the demonstration: one whose results are false, and one that crashes.
pub(super) const OPERATORS: usize = 7;
const LIAR: usize = 1;
const CRASHES: usize = 2;
/// Seconds of an epoch, which stands for an hour.
const HOUR: u64 = 60;
/// The operator crashes at the begin of each hour whose number is divisible by this, and starts again half an hour later.
const CRASH_EVERY: u64 = 6;
/// How often the nodes are asked. A node remembers its newest hundred transactions.
const ASK: Duration = Duration::from_secs(5);
/// How long the nodes may take to tell the last estimates of the day.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was seen.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Day {
    /// Of each settlement.
    pub(super) gas: Vec<Gas>,
    /// Settlements that reject a result, because the liar performed the task.
    pub(super) rejected: usize,
    /// The gas of all transactions: settlements, snapshots, bases, tallies, and those that failed.
    pub(super) everything: u64,
}

/// Runs the network for so many hours of the day, with a task each minute of it.
pub(super) async fn watch(programs: &LocalPrograms, hours: u64) -> Result<Day> {
    let work = |operator| Work { lies_to_perform: operator == LIAR, lies_to_attest: false };
    let mut settings = settings(programs, OPERATORS, work, 1);
    settings.epoch_length = HOUR;
    settings.options.extend(["--turn".into(), "4000".into()]);
    let mut network = LocalNetwork::start(settings).await?;
    let day = run(&mut network, hours).await;
    let day = day.with_context(|| format!("the log of node 0 ends with:\n{}", network.last_lines(0, LocalPart::Node)));
    // A node that has to be killed at the end has done its work all the same.
    network.stop().await;
    day
}

async fn run(network: &mut LocalNetwork, hours: u64) -> Result<Day> {
    let (first, begun) = (network.rpc().newest().await?.number, Instant::now());
    let mut estimates = BTreeMap::new();
    for half in 0..2 * hours {
        match (half / 2 % CRASH_EVERY, half % 2) {
            (0, 0) => network.kill(CRASHES, LocalPart::Node),
            (0, _) => network.start_part(CRASHES, LocalPart::Node)?,
            _ => {}
        }
        while begun.elapsed() < Duration::from_secs((half + 1) * HOUR / 2) {
            sleep(ASK).await;
            ask(network, &mut estimates).await?;
        }
    }
    let last = network.rpc().newest().await?.number;
    let mut receipts = Vec::new();
    for block in first + 1..=last {
        let of_block = network.ask("eth_getBlockReceipts", json!([format!("{block:#x}")])).await?;
        receipts.extend(of_block.as_array().with_context(|| format!("block {block} has no receipts"))?.iter().cloned());
    }
    let begun = Instant::now();
    loop {
        let day = Day::of(&receipts, &estimates);
        if day.is_ok() || begun.elapsed() > PATIENCE {
            return day;
        }
        sleep(ASK).await;
        ask(network, &mut estimates).await?;
    }
}

/// Adds what the nodes say of their settlements. The one that has crashed says nothing.
async fn ask(network: &LocalNetwork, estimates: &mut BTreeMap<B256, u64>) -> Result<()> {
    for operator in 0..OPERATORS {
        if let Ok(status) = network.get(operator, "/v1/status").await {
            let found = answers::estimates(&status).with_context(|| format!("operator {operator}"))?;
            estimates.extend(found);
        }
    }
    Ok(())
}

impl Day {
    /// What the receipts of a day's blocks tell, with the estimate for each transaction that settled tasks.
    ///
    /// # Errors
    /// A receipt cannot be read, or no node told the estimate of a transaction that settled a task.
    fn of(receipts: &[Value], estimates: &BTreeMap<B256, u64>) -> Result<Self> {
        let mut day = Self::default();
        for receipt in receipts {
            let hash: B256 = field(receipt, "transactionHash")?;
            let used = field::<U64>(receipt, "gasUsed")?.to();
            day.everything += used;
            let mut settles = false;
            for log in receipt["logs"].as_array().with_context(|| format!("transaction {hash} has no logs"))? {
                let (topics, data): (Vec<B256>, Bytes) = (field(log, "topics")?, field(log, "data")?);
                if let Ok(settled) = TaskNetwork::TaskSettled::decode_raw_log(topics, &data) {
                    settles = true;
                    day.rejected += usize::from(!settled.approved);
                }
            }
            if settles {
                let estimated = estimates.get(&hash);
                let estimated =
                    *estimated.with_context(|| format!("no node told the estimate of transaction {hash}"))?;
                day.gas.push(Gas { used, estimated });
            }
        }
        ensure!(!day.gas.is_empty(), "nothing was settled");
        Ok(day)
    }
}

fn field<T: serde::de::DeserializeOwned>(value: &Value, name: &str) -> Result<T> {
    serde_json::from_value(value[name].clone()).with_context(|| format!("the chain's `{name}` cannot be read: {value}"))
}

#[cfg(test)]
mod tests {
    use quorate_evm::alloy_primitives::U256;

    use super::*;

    fn receipt(hash: u8, used: u64, approved: Option<bool>) -> Value {
        let event = |approved| {
            let (id, result) = (B256::ZERO, B256::ZERO);
            let (epoch, performer) = (U256::from(3), U256::from(1));
            TaskNetwork::TaskSettled { id, epoch, performer, result, approved, rewarded: approved }
        };
        let logs: Vec<_> = approved.map(|approved| event(approved).encode_log_data()).into_iter().collect();
        let logs: Vec<_> = logs.iter().map(|log| json!({ "topics": log.topics(), "data": log.data })).collect();
        json!({ "transactionHash": B256::repeat_byte(hash), "gasUsed": format!("{used:#x}"), "logs": logs })
    }

    #[test]
    fn settlements_are_compared_and_everything_is_counted() {
        let receipts = [receipt(1, 200_000, Some(true)), receipt(2, 90_000, None), receipt(3, 300_000, Some(false))];
        let mut estimates = BTreeMap::from([(B256::repeat_byte(1), 201_000), (B256::repeat_byte(3), 299_000)]);
        let gas = vec![Gas { used: 200_000, estimated: 201_000 }, Gas { used: 300_000, estimated: 299_000 }];
        assert_eq!(Day::of(&receipts, &estimates).unwrap(), Day { gas, rejected: 1, everything: 590_000 });
        estimates.remove(&B256::repeat_byte(3));
        let error = Day::of(&receipts, &estimates).unwrap_err().to_string();
        assert!(error.contains("no node told the estimate of transaction 0x0303"), "{error}");
        assert!(Day::of(&receipts[1..2], &estimates).unwrap_err().to_string().contains("nothing was settled"));
    }
}
