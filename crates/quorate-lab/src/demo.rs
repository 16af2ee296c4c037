//! `quorate-lab demo`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    io::Write as _,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Args;
use indicatif::HumanCount;
use quorate_evm::alloy_primitives::{Address, B256};
use quorate_host::{
    exit::{Exit, Failure, Result, note, output},
    flag::variable,
};
use quorate_lab::network::{
    LocalError, LocalNetwork, LocalOperator, LocalPart, LocalPeers, LocalPrograms, LocalSettings,
};
use serde_json::Value;
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
    time::sleep,
};

/// Start a whole network on this machine, run tasks, and show what happens
///
/// A local chain, its contracts, and operators with unequal stakes, each with a signer and a node of its own. They agree on the
/// price of a pair: operator 1 lies about every price for which it is elected, and operator 2 crashes and comes back. Everything
/// is made for the demonstration and ends with it.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many operators: 4 to 50
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(4..=50))]
    nodes: u16,

    /// How many tasks
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    tasks: u16,

    /// Talk by HTTP to the first node, and not by libp2p
    #[arg(long)]
    http: bool,

    /// Go on after the tasks, until Ctrl-C, so that the dashboards stay
    #[arg(long)]
    keep: bool,

    /// The first dashboard's port; the others follow
    #[arg(long, value_name = "PORT", default_value_t = 9_601)]
    port: u16,

    /// The chain's program [default: the one that `make contracts` installs, or `anvil` on the PATH]
    #[arg(long, value_name = "FILE", env = variable("QUORATE_ANVIL"))]
    anvil: Option<PathBuf>,

    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

/// Seconds between two tasks.
const EVERY: u64 = 2;
/// The operator that lies, and the one that crashes.
const LIAR: usize = 1;
const CRASHES: usize = 2;
/// How long the last tasks may take to settle.
const PATIENCE: Duration = Duration::from_secs(45);

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let settings = self.settings()?;
        // Its drop waits for a chain that still starts, so that nothing is left of it.
        Runtime::new().map_err(Failure::internal)?.block_on(async {
            let begun = Instant::now();
            // Before the first process starts, so that a signal leaves none behind.
            let listen = |kind| signal(kind).map_err(Failure::internal);
            let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
            let mut interrupted = async || {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            };
            note(format!("starting a chain, its contracts and {} operators …", self.nodes));
            let network = tokio::select! {
                network = LocalNetwork::start(settings) => network.map_err(failure)?,
                () = interrupted() => return Err(Failure::interrupted()),
            };
            let mut show = Show::new(&self, network);
            show.introduce(begun.elapsed())?;
            let ended = tokio::select! {
                ended = show.watch() => ended,
                () = interrupted() => Err(Failure::interrupted()),
            };
            let summary = match &ended {
                Ok(()) => show.summary(begun.elapsed()).await,
                Err(_) => Ok(true),
            };
            if ended.is_ok() && self.keep {
                note("the network runs on; Ctrl-C ends it");
                interrupted().await;
            }
            let left = tokio::select! {
                left = show.network.stop() => left,
                // Asked a second time, it does not wait: what is left is killed.
                () = interrupted() => Vec::new(),
            };
            for operator in left {
                note(format!("operator {operator}: its node did not end by itself within two minutes"));
            }
            ended?;
            Ok(if summary? { Exit::Success } else { Exit::Negative })
        })
    }

    fn settings(&self) -> Result<LocalSettings> {
        let mut programs = LocalPrograms::find().map_err(Failure::usage)?;
        if let Some(anvil) = &self.anvil {
            programs.anvil.clone_from(anvil);
        }
        let operators = (0..usize::from(self.nodes)).map(|operator| LocalOperator {
            // Unequal, and none has a third: 13, 12, 11 … and no less than 5.
            stake: 13_u64.saturating_sub(operator as u64).max(5),
            execute: programs.work(operator == LIAR),
            validate: programs.work(false),
            aggregate: true,
        });
        Ok(LocalSettings {
            operators: operators.collect(),
            programs,
            peers: if self.http { LocalPeers::Http } else { LocalPeers::Libp2p },
            block_time: 1,
            task_every: EVERY,
            task_payload: r#"{"pair":"ETH/USD","time":{time}}"#.to_owned(),
            epoch_length: 3_600,
            options: vec!["--stragglers".into(), "300".into(), "--turn".into(), "4000".into()],
            first_port: Some(self.port),
        })
    }
}

fn failure(error: LocalError) -> Failure {
    match error {
        LocalError::File { .. } | LocalError::Program { .. } => Failure::io(error),
        error => Failure::refused(error),
    }
}

/// A network that is watched.
struct Show<'a> {
    arguments: &'a Arguments,
    network: LocalNetwork,
    names: BTreeMap<Address, usize>,
    /// The tasks in the order in which they were seen, as the first node sees them now.
    order: Vec<B256>,
    tasks: BTreeMap<B256, Value>,
    shown: BTreeSet<B256>,
    gas: BTreeMap<B256, u64>,
    /// Whether the crash was, and whether it is over.
    crashed: bool,
    restarted: bool,
}

impl<'a> Show<'a> {
    fn new(arguments: &'a Arguments, network: LocalNetwork) -> Self {
        let names = (0..usize::from(arguments.nodes)).map(|operator| (network.operator(operator), operator)).collect();
        Self {
            arguments,
            network,
            names,
            order: Vec::new(),
            tasks: BTreeMap::new(),
            shown: BTreeSet::new(),
            gas: BTreeMap::new(),
            crashed: false,
            restarted: false,
        }
    }

    fn introduce(&self, took: Duration) -> Result<()> {
        print(format!(
            "\
chain       {}, a block a second
network     {}
operators   {} with unequal stakes; a quorum weighs more than two thirds
            operator {LIAR} lies, operator {CRASHES} will crash
nodes       ready after {:.1} s; they talk by {}
dashboard   http://{}/, and the next ports for the others

task  performer  verdict   signed  quorum  settled      gas",
            self.network.rpc().shown(),
            self.network.deployed().network,
            self.arguments.nodes,
            took.as_secs_f64(),
            if self.arguments.http { "HTTP to operator 0" } else { "libp2p" },
            self.network.interface(0),
        ))
    }

    /// Shows tasks as they settle, and lets the crash happen, until all have settled or none does any more.
    async fn watch(&mut self) -> Result<()> {
        let wanted = usize::from(self.arguments.tasks);
        let mut last = Instant::now();
        while self.shown.len() < wanted && last.elapsed() < PATIENCE {
            sleep(Duration::from_millis(250)).await;
            // The first node does not crash; one answer that is missing is not a loss.
            let Ok(answer) = self.network.get(0, "/v1/tasks").await else { continue };
            let mut seen: Vec<_> = tasks_of(&answer).filter_map(|task| Some((id_of(task)?, task.clone()))).collect();
            seen.sort_by_key(|(id, task)| (number(task, "/times/known"), *id));
            for (id, task) in seen {
                if !self.order.contains(&id) && self.order.len() < wanted {
                    self.order.push(id);
                }
                self.tasks.insert(id, task);
            }
            for place in 0..self.order.len() {
                let id = self.order[place];
                if !self.shown.contains(&id) && self.tasks[&id].pointer("/settlement/transaction").is_some() {
                    self.shown.insert(id);
                    self.line(place, id).await?;
                    last = Instant::now();
                }
            }
            self.crash(wanted).await?;
        }
        Ok(())
    }

    async fn line(&mut self, place: usize, id: B256) -> Result<()> {
        let task = &self.tasks[&id];
        let transaction =
            task.pointer("/settlement/transaction").and_then(Value::as_str).and_then(|text| text.parse().ok());
        if let Some(transaction) = transaction
            && let Ok(Some(receipt)) = self.network.rpc().receipt(transaction).await
        {
            self.gas.insert(id, receipt.gas_used.to());
        }
        let approved = task.pointer("/settlement/approved").and_then(Value::as_bool) == Some(true);
        let weight = |name: &str| task.get(name).and_then(Value::as_str).and_then(|text| text.parse::<f64>().ok());
        let signed = weight("weight").zip(weight("total")).map(|(weight, total)| 100.0 * weight / total.max(1.0));
        print(format!(
            "{:>4}  operator {:<1} {:<9} {:>5}  {:>6}  {:>7}  {:>7}",
            place + 1,
            self.performer(task).map_or("?".to_owned(), |operator| operator.to_string()),
            if approved { "approved" } else { "rejected" },
            signed.map_or("?".to_owned(), |share| format!("{share:.0} %")),
            seconds(since(task, "/times/result", "/times/quorum")),
            seconds(since(task, "/times/result", "/times/settled")),
            self.gas.get(&id).map_or("?".to_owned(), |gas| HumanCount(*gas).to_string()),
        ))
    }

    fn performer(&self, task: &Value) -> Option<usize> {
        let owner: Address = task.pointer("/performer/owner")?.as_str()?.parse().ok()?;
        self.names.get(&owner).copied()
    }

    async fn crash(&mut self, wanted: usize) -> Result<()> {
        if !self.crashed && self.shown.len() >= wanted.div_ceil(3) {
            self.crashed = true;
            self.network.kill(CRASHES, LocalPart::Node);
            print(format!("      operator {CRASHES} crashes (kill -9)"))?;
        }
        if self.crashed && !self.restarted && self.shown.len() >= (2 * wanted).div_ceil(3) {
            self.restarted = true;
            self.network.start_part(CRASHES, LocalPart::Node).map_err(failure)?;
            print(format!("      operator {CRASHES} comes back"))?;
        }
        Ok(())
    }

    /// Prints what happened. Answers whether all went as it should.
    async fn summary(&mut self, took: Duration) -> Result<bool> {
        let settled: Vec<&Value> =
            self.order.iter().filter(|id| self.shown.contains(*id)).map(|id| &self.tasks[id]).collect();
        let lies = settled.iter().filter(|task| self.performer(task) == Some(LIAR)).count();
        let rejected =
            settled.iter().filter(|task| task.pointer("/settlement/approved") == Some(&Value::Bool(false))).count();
        let status = self.network.get(0, "/v1/status").await.map_err(failure)?;
        let punished: Vec<&Value> = status.get("punishments").and_then(Value::as_array).into_iter().flatten().collect();
        let liar = self.network.operator(LIAR);
        let of_liar = |entry: &&Value| {
            entry.get("operator").and_then(Value::as_str).and_then(|text| text.parse().ok()) == Some(liar)
        };
        let only_the_liar = punished.iter().all(of_liar);
        let quorums = sorted(settled.iter().filter_map(|task| since(task, "/times/result", "/times/quorum")));
        let mined = sorted(settled.iter().filter_map(|task| since(task, "/times/result", "/times/settled")));
        let gas = sorted(self.gas.values().copied());
        let complete = settled.len() == usize::from(self.arguments.tasks);
        // The contract fines a performer for the first rejected task of an epoch.
        let as_it_should = complete && rejected == lies && only_the_liar && punished.len() == usize::from(lies != 0);
        if self.arguments.json {
            let median = |values: &[u64]| values.get(values.len() / 2).copied();
            print(serde_json::json!({
                "tasks": self.arguments.tasks, "settled": settled.len(), "rejected": rejected, "lies": lies,
                "quorum_ms": {"median": median(&quorums), "max": quorums.last()},
                "settled_ms": {"median": median(&mined), "max": mined.last()},
                "gas": {"median": median(&gas), "max": gas.last()},
                "punished": punished.len(), "seconds": took.as_secs_f64(), "as_it_should": as_it_should,
            }))?;
            return Ok(as_it_should);
        }
        print(format!(
            "
settled     {} of {} tasks, {rejected} of them rejected; {lies} were performed by the liar
quorum      {} after the result, {} at most
on chain    {} after the result, {} at most
gas         {} a task, {} at most
punished    {}
time        {:.0} s in all",
            settled.len(),
            self.arguments.tasks,
            seconds(quorums.get(quorums.len() / 2).copied()),
            seconds(quorums.last().copied()),
            seconds(mined.get(mined.len() / 2).copied()),
            seconds(mined.last().copied()),
            gas.get(gas.len() / 2).map_or("?".to_owned(), |gas| HumanCount(*gas).to_string()),
            gas.last().map_or("?".to_owned(), |gas| HumanCount(*gas).to_string()),
            self.punishments(&punished),
            took.as_secs_f64(),
        ))?;
        if !as_it_should {
            note("not everything went as it should; the logs are lost with the demonstration, --keep keeps it");
        }
        Ok(as_it_should)
    }

    fn punishments(&self, punished: &[&Value]) -> String {
        let text = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).unwrap_or("?").to_owned();
        let each = punished.iter().map(|entry| {
            let operator = text(entry, "operator").parse().ok().and_then(|owner: Address| self.names.get(&owner));
            let who = operator.map_or_else(|| text(entry, "operator"), |operator| format!("operator {operator}"));
            let amount = text(entry, "amount").parse().map_or(f64::NAN, |amount: f64| amount / 1e18);
            format!("{who}, {}: {amount:.2} tokens", text(entry, "kind"))
        });
        let all: Vec<_> = each.collect();
        if all.is_empty() { "nobody; the liar was not elected".to_owned() } else { all.join("; ") }
    }
}

fn tasks_of(answer: &Value) -> impl Iterator<Item = &Value> {
    let list = answer.get("tasks").unwrap_or(answer);
    list.as_array().into_iter().flatten()
}

fn id_of(task: &Value) -> Option<B256> {
    task.get("id")?.as_str()?.parse().ok()
}

fn number(task: &Value, pointer: &str) -> Option<u64> {
    task.pointer(pointer)?.as_u64()
}

/// The milliseconds from one time of a task to another.
fn since(task: &Value, from: &str, to: &str) -> Option<u64> {
    Some(number(task, to)?.saturating_sub(number(task, from)?))
}

fn seconds(milliseconds: Option<u64>) -> String {
    milliseconds.map_or("?".to_owned(), |time| format!("{:.2} s", time as f64 / 1_000.0))
}

fn sorted(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable();
    values
}

/// Prints to standard output.
fn print(text: impl Display) -> Result<()> {
    let mut out = output();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(Failure::io)
}
