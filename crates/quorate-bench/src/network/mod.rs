//! `network/*`: whole networks of nodes on this machine, each operator with a node and a signer as processes of their own, on
//! a local chain; and simulated networks, which are too large for one machine.
//!
//! | module | contents |
//! |---|---|
//! | `cpu` | CPU time of other processes |
//! | `answers` | what the nodes say about their tasks, checked |
//! | `watched` | one network, from its start to its end |
//! | `day` | the settlements of a day |
//! | `simulated` | large networks |

mod answers;
mod cpu;
mod watched;
mod day;
mod simulated;

use anyhow::{Context, Result};
use quorate_lab::network::LocalPrograms;

use self::{
    answers::Gas,
    watched::{Plan, Seen, watch},
};
use crate::{
    measure::Run,
    row::{Figures, Gas as MeanGas, Latency, Row, Times, short, whole},
};

/// How the nodes of these networks talk to each other.
const ENGINE: &str = "quorate/libp2p";

pub(crate) fn run(run: &Run) -> Result<Vec<Row>> {
    let programs = LocalPrograms::find()?;
    let runtime = runtime()?;
    let tasks = run.choose(8, 100);
    let sizes: &[usize] = run.choose(&[4, 10], &[4, 10, 25, 50]);
    let settled: &[usize] = run.choose(&[10], &[10, 50]);
    let watched = |operators: usize, liars: bool| {
        let plan = Plan::new(operators, liars, tasks);
        let who = if liars { ", a third of them liars" } else { "" };
        eprintln!("{operators} operators{who}: {tasks} tasks, one each {} s …", plan.every);
        let seen = runtime.block_on(watch(&programs, &plan));
        seen.with_context(|| format!("a network of {operators} operators{who}"))
    };
    let mut rows = Vec::new();
    let mut gas = Vec::new();
    let mut honest = None;
    for operators in sizes {
        let seen = watched(*operators, false)?;
        rows.push(seen.row("network/quorum", &seen.quorum_ms, seen.load_note()));
        if settled.contains(operators) {
            let noticed = latency(&seen.seen_ms);
            let [p50, p99] = [noticed.p50, noticed.p99].map(short);
            let note = format!(
                "{} tasks; {}; its node sees it after {p50} ms, 99 of 100 after {p99} ms",
                seen.tasks(),
                blocks(&seen.mined_ms)
            );
            rows.push(seen.row("network/settled", &seen.mined_ms, note));
        }
        gas.extend(seen.gas_rows("network/gas"));
        if *operators == LIARS_OF {
            honest = Some(latency(&seen.quorum_ms).p99);
        }
    }
    let seen = watched(LIARS_OF, true)?;
    let honest = honest.context("the same network without liars was not measured")?;
    let ratio = latency(&seen.quorum_ms).p99 / honest;
    let share = 100.0 * seen.liars_share;
    let note =
        format!("the liars weigh {share:.0} %; p99 is {ratio:.2} times that without liars; {}", seen.load_note());
    rows.push(seen.row("network/liars=33%", &seen.quorum_ms, note));
    gas.extend(seen.gas_rows("network/gas-liars=33%"));
    rows.extend(gas);
    Ok(rows)
}

/// `network/gas-day`.
pub(crate) fn day(run: &Run) -> Result<Vec<Row>> {
    let hours = run.choose(1, 24);
    eprintln!("{hours} hours of the demonstration's traffic in as many minutes …");
    let seen = runtime()?.block_on(day::watch(&LocalPrograms::find()?, hours))?;
    let each = whole(seen.everything as f64 / seen.gas.len() as f64);
    let note = format!(
        "{} tasks in {hours} epochs, {} of them rejected; with snapshots, bases, tallies and failures {each} a task",
        whole(seen.gas.len() as f64),
        seen.rejected,
    );
    Ok(gas_rows("network/gas-day", day::OPERATORS, &seen.gas, note).into())
}

/// `network/simulated`.
pub(crate) fn simulated(run: &Run) -> Result<Vec<Row>> {
    Ok(simulated::rows(&[100, 1_000, 10_000], run.choose(3, 15)))
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("no runtime for the clients of the nodes")
}

/// The size of the network with liars.
const LIARS_OF: usize = 10;

impl Seen {
    fn row(&self, bench: &str, times_ms: &[f64], note: String) -> Row {
        Row {
            bench: bench.into(),
            engine: ENGINE.into(),
            threads: self.cores,
            n: self.operators,
            per: "task".into(),
            figures: Figures::Us(Times::of(times_ms.iter().map(|ms| ms * 1e3).collect())),
            cpu_us: None,
            latency_ms: Some(latency(times_ms)),
            refused: None,
            traffic: None,
            note,
        }
    }

    /// What a node spends on a task, in words.
    fn load_note(&self) -> String {
        let load = &self.load;
        format!(
            "{} tasks, one each {} s; a node and task: {} ms of CPU, of it {} ms ({:.1} %) to verify; {} ms in the user's \
             programs, {} ms in the signer; {} bytes from peers, {} to them; in all {:.0} % of {} cores",
            self.tasks(),
            self.every,
            short(load.node_ms),
            short(load.verification_ms),
            100.0 * load.verification_ms / load.node_ms,
            short(load.programs_ms),
            short(load.signer_ms),
            whole(load.bytes_in),
            whole(load.bytes_out),
            100.0 * self.busy,
            self.cores,
        )
    }

    /// The gas of settlements, and what the plan estimated for the same ones.
    fn gas_rows(&self, bench: &str) -> [Row; 2] {
        let lost = match self.reverted {
            0 => String::new(),
            reverted => format!("; {reverted} more transactions failed because another node was faster"),
        };
        let minutes = short((self.every * self.gas.len() as u64) as f64 / 60.0);
        let note = format!("{} settlements, the tasks of {minutes} minutes{lost}", self.gas.len());
        gas_rows(bench, self.operators, &self.gas, note)
    }

    fn tasks(&self) -> usize {
        self.quorum_ms.len()
    }
}

/// What settlements of so many operators used, and what was estimated for them.
fn gas_rows(bench: &str, operators: usize, gas: &[Gas], note: String) -> [Row; 2] {
    let row = |engine: &str, of: fn(&Gas) -> u64, note: String| Row {
        bench: bench.into(),
        engine: engine.into(),
        threads: 1,
        n: operators,
        per: "transaction".into(),
        figures: Figures::Gas(MeanGas::of(&gas.iter().map(of).collect::<Vec<_>>())),
        cpu_us: None,
        latency_ms: None,
        refused: None,
        traffic: None,
        note,
    };
    [row("used/anvil", |gas| gas.used, note), row("estimated/plan", |gas| gas.estimated, compared(gas))]
}

/// How far estimates are from what was used.
fn compared(gas: &[Gas]) -> String {
    let sum = |of: fn(&Gas) -> u64| gas.iter().map(of).sum::<u64>() as f64;
    let total = 100.0 * (sum(|gas| gas.estimated) / sum(|gas| gas.used) - 1.0);
    let each = gas.iter().map(|gas| 100.0 * (gas.estimated as f64 / gas.used as f64 - 1.0));
    let most = each.reduce(|a, b| if b.abs() > a.abs() { b } else { a }).unwrap_or(0.0);
    format!("{total:+.2} % of what was used, in all; {most:+.2} % where they differ most")
}

/// Settlements that took more than three blocks.
fn blocks(mined_ms: &[f64]) -> String {
    let late = mined_ms.iter().filter(|ms| **ms > 3_000.0).count();
    format!("a block a second; {late} took longer than three blocks")
}

/// The median, and the time within which 99 of 100 are: the smallest that is not below so many.
fn latency(times_ms: &[f64]) -> Latency {
    let mut times = times_ms.to_vec();
    times.sort_by(f64::total_cmp);
    let p99 = times[(times.len() * 99).div_ceil(100).max(1) - 1];
    Latency { p50: Times::of(times).median, p90: None, p99 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_and_99_of_100_are_within_their_percentiles() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!((latency(&hundred).p50, latency(&hundred).p99), (50.5, 99.0));
        assert_eq!((latency(&[7.0]).p50, latency(&[7.0]).p99), (7.0, 7.0));
        assert_eq!(latency(&[1.0, 2.0, 30.0]).p99, 30.0);
    }

    #[test]
    fn estimates_are_compared_with_their_sign() {
        let gas = [Gas { used: 200_000, estimated: 202_000 }, Gas { used: 100_000, estimated: 97_000 }];
        assert_eq!(compared(&gas), "-0.33 % of what was used, in all; -3.00 % where they differ most");
    }
}
