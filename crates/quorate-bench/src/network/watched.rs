//! One network, from its start to its end.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    convert::Infallible,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail, ensure};
use quorate_evm::{KeyGroup, OperatorKey, bls12381};
use quorate_lab::network::{LocalNetwork, LocalOperator, LocalPart, LocalPeers, LocalPrograms, LocalSettings};
use serde_json::Value;
use tokio::time::sleep;

use super::{
    answers::{self, Gas, Node},
    cpu,
};

/// What is started and measured.
pub(super) struct Plan {
    operators: usize,
    /// Those whose programs judge each result by the opposite of the truth.
    liars: Vec<usize>,
    tasks: usize,
    /// Seconds from one task to the next.
    pub(super) every: u64,
}

impl Plan {
    pub(super) fn new(operators: usize, with_liars: bool, tasks: usize) -> Self {
        let liars = if with_liars { liars(operators) } else { Vec::new() };
        Self { operators, liars, tasks, every: if operators <= 10 { 2 } else { 4 } }
    }
}

/// The stake of an operator: unequal, and none has a third.
fn stake(operator: usize) -> u64 {
    13_u64.saturating_sub(operator as u64).max(5)
}

/// Each third operator, as long as the liars weigh less than a third.
fn liars(operators: usize) -> Vec<usize> {
    let total: u64 = (0..operators).map(stake).sum();
    let mut liars = Vec::new();
    let mut weight = 0;
    for operator in (1..operators).step_by(3) {
        weight += stake(operator);
        if 3 * weight >= total {
            break;
        }
        liars.push(operator);
    }
    liars
}

/// What was seen.
pub(super) struct Seen {
    pub(super) operators: usize,
    /// The part of the stake that lies.
    pub(super) liars_share: f64,
    pub(super) every: u64,
    pub(super) cores: usize,
    /// Of each task.
    pub(super) quorum_ms: Vec<f64>,
    /// Of each task.
    pub(super) mined_ms: Vec<f64>,
    /// Of each task.
    pub(super) seen_ms: Vec<f64>,
    /// Of each task.
    pub(super) gas: Vec<Gas>,
    /// Transactions that failed, because another node had settled the task.
    pub(super) reverted: usize,
    pub(super) load: Load,
    /// The part of the machine's CPU time that nodes, their programs and signers used together.
    pub(super) busy: f64,
}

/// What a node spends on a task, on average.
pub(super) struct Load {
    /// The CPU time of its process.
    pub(super) node_ms: f64,
    /// The part of it for signatures of other nodes: the threads of the batcher, and the decoding of each signature, which the
    /// node's loop does, at the price that is measured here.
    pub(super) verification_ms: f64,
    /// The CPU time of the user's programs.
    pub(super) programs_ms: f64,
    /// The CPU time of the signer.
    pub(super) signer_ms: f64,
    pub(super) bytes_in: f64,
    pub(super) bytes_out: f64,
}

/// Tasks that are not measured: the mesh of the peers is being built.
const WARM_UP: usize = 2;
/// How long the last tasks may take until they are settled. A slow network is measured, and not given up.
const PATIENCE: Duration = Duration::from_secs(300);
/// How often the nodes are asked.
const ASK: Duration = Duration::from_millis(500);
/// How often the chain is asked whether it has mined a block.
const LOOK: Duration = Duration::from_millis(20);
/// How the names of the batcher's threads begin, as far as the kernel keeps them.
const VERIFIERS: [&str; 2] = ["quorate-batch", "quorate-block"];

/// Whether the programs of an operator answer the opposite of the truth.
pub(super) struct Work {
    pub(super) lies_to_perform: bool,
    pub(super) lies_to_attest: bool,
}

/// A network over libp2p on a chain with a block a second: as many operators with unequal stakes, the work of each, and the
/// seconds from one task to the next.
pub(super) fn settings(
    programs: &LocalPrograms,
    operators: usize,
    work: impl Fn(usize) -> Work,
    task_every: u64,
) -> LocalSettings {
    let operator = |operator: usize| {
        let Work { lies_to_perform, lies_to_attest } = work(operator);
        let (execute, validate) = (programs.work(lies_to_perform), programs.work(lies_to_attest));
        LocalOperator { stake: stake(operator), execute, validate, aggregate: true }
    };
    LocalSettings {
        operators: (0..operators).map(operator).collect(),
        programs: programs.clone(),
        peers: LocalPeers::Libp2p,
        block_time: 1,
        task_every,
        task_payload: r#"{"pair":"ETH/USD","time":{time}}"#.to_owned(),
        epoch_length: 3_600,
        options: vec!["--stragglers".into(), "300".into()],
        first_port: None,
    }
}

/// Starts a network, runs its tasks, and ends it.
pub(super) async fn watch(programs: &LocalPrograms, plan: &Plan) -> Result<Seen> {
    let work = |operator| Work { lies_to_perform: false, lies_to_attest: plan.liars.contains(&operator) };
    let settings = settings(programs, plan.operators, work, plan.every);
    let network = LocalNetwork::start(settings).await?;
    let mined = RefCell::default();
    let seen = tokio::select! {
        seen = measure(&network, plan, &mined) => seen,
        never = see_blocks(&network, &mined) => match never {},
    };
    let seen =
        seen.with_context(|| format!("the log of node 0 ends with:\n{}", network.last_lines(0, LocalPart::Node)));
    // A node that has to be killed at the end has done its work all the same.
    network.stop().await;
    seen
}

/// When each block was mined, in milliseconds since 1970.
type Mined = RefCell<BTreeMap<u64, u64>>;

/// Notes when the chain has a new block, until it is dropped.
async fn see_blocks(network: &LocalNetwork, mined: &Mined) -> Infallible {
    loop {
        // An answer that is missing delays the next one.
        if let (Ok(newest), Ok(now)) = (network.rpc().newest().await, now_ms()) {
            let mut mined = mined.borrow_mut();
            let next = mined.last_key_value().map_or(newest.number, |(last, _)| last + 1);
            mined.extend((next..=newest.number).map(|block| (block, now)));
        }
        sleep(LOOK).await;
    }
}

async fn measure(network: &LocalNetwork, plan: &Plan, mined: &Mined) -> Result<Seen> {
    warm_up(network, plan).await?;
    let (before, begun, begun_ms) = (Counters::of(network, plan).await?, Instant::now(), now_ms()?);
    let ids = wait(network, plan, begun_ms, plan.tasks).await?;
    let wall = begun.elapsed();
    let after = Counters::of(network, plan).await?;
    // So that the settlements' gas is on every board.
    sleep(2 * ASK).await;
    let mut nodes = Vec::new();
    for operator in 0..plan.operators {
        let tasks = network.get(operator, "/v1/tasks").await?;
        nodes.push(Node { tasks, status: network.get(operator, "/v1/status").await? });
    }
    for (operator, node) in nodes.iter().enumerate() {
        answers::all_honest(&node.status).with_context(|| format!("operator {operator}"))?;
    }
    let tasks = ids.iter().map(|id| answers::settled(id, &nodes, &mined.borrow())).collect::<Result<Vec<_>>>()?;
    let total: u64 = (0..plan.operators).map(stake).sum();
    let lying: u64 = plan.liars.iter().copied().map(stake).sum();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let spent = after.since(&before)?;
    Ok(Seen {
        operators: plan.operators,
        liars_share: lying as f64 / total as f64,
        every: plan.every,
        cores,
        quorum_ms: tasks.iter().map(|task| task.quorum_ms).collect(),
        mined_ms: tasks.iter().map(|task| task.mined_ms).collect(),
        seen_ms: tasks.iter().map(|task| task.seen_ms).collect(),
        gas: tasks.iter().map(|task| task.gas).collect(),
        reverted: tasks.iter().map(|task| task.reverted).sum(),
        busy: (spent.node + spent.programs + spent.signer).as_secs_f64() / wall.as_secs_f64() / cores as f64,
        // Tasks come at a fixed rate, and as many were in progress at the beginning as at the end.
        load: spent.each(plan.operators as f64 * wall.as_secs_f64() / plan.every as f64),
    })
}

/// Waits until some tasks are settled.
async fn warm_up(network: &LocalNetwork, plan: &Plan) -> Result<()> {
    let begun = Instant::now();
    loop {
        sleep(ASK).await;
        let tasks = all_tasks(network, plan).await?;
        let known = answers::since(&tasks[0], 0);
        if known.iter().filter(|id| answers::is_settled(&tasks, id)).count() >= WARM_UP {
            return Ok(());
        }
        ensure!(
            begun.elapsed() <= PATIENCE,
            "the network does not begin: {} tasks came in {} s, and fewer than {WARM_UP} were settled",
            known.len(),
            PATIENCE.as_secs(),
        );
    }
}

async fn all_tasks(network: &LocalNetwork, plan: &Plan) -> Result<Vec<Value>> {
    let mut tasks = Vec::new();
    for operator in 0..plan.operators {
        tasks.push(network.get(operator, "/v1/tasks").await?);
    }
    Ok(tasks)
}

/// Waits until so many tasks are settled of those that node 0 knows since a time. Answers with their ids, in the order of the
/// tasks.
async fn wait(network: &LocalNetwork, plan: &Plan, begun_ms: u64, wanted: usize) -> Result<Vec<String>> {
    let (begun, limit) = (Instant::now(), Duration::from_secs(plan.every) * wanted as u32 + PATIENCE);
    loop {
        sleep(ASK).await;
        let known = answers::since(&network.get(0, "/v1/tasks").await?, begun_ms);
        if known.len() >= wanted {
            let tasks = all_tasks(network, plan).await?;
            if known[..wanted].iter().all(|id| answers::is_settled(&tasks, id)) {
                return Ok(known[..wanted].to_vec());
            }
            if begun.elapsed() > limit {
                let open = known[..wanted].iter().filter(|id| !answers::is_settled(&tasks, id)).count();
                bail!("{open} of {wanted} tasks are not settled after {} s", limit.as_secs());
            }
        }
        ensure!(begun.elapsed() <= limit, "{} of {wanted} tasks came in {} s", known.len(), limit.as_secs());
    }
}

/// What all nodes have spent since their start.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    node: Duration,
    verifiers: Duration,
    programs: Duration,
    signer: Duration,
    verified: u64,
    bytes: [u64; 2],
}

impl Counters {
    async fn of(network: &LocalNetwork, plan: &Plan) -> Result<Self> {
        let mut sum = Self::default();
        for operator in 0..plan.operators {
            let ended = |part: &str| format!("operator {operator} has no {part}");
            let node = network.process(operator, LocalPart::Node).with_context(|| ended("node"))?;
            let signer = network.process(operator, LocalPart::Signer).with_context(|| ended("signer"))?;
            let process = cpu::of_process(node)?;
            sum.node += process.own;
            sum.programs += process.children;
            sum.verifiers += cpu::of_threads(node, &VERIFIERS)?;
            sum.signer += cpu::of_process(signer)?.own;
            let status = network.get(operator, "/v1/status").await?;
            sum.verified += answers::verified(&status)?;
            let bytes = answers::bytes(&status)?;
            sum.bytes = [sum.bytes[0] + bytes[0], sum.bytes[1] + bytes[1]];
        }
        Ok(sum)
    }

    fn since(&self, before: &Self) -> Result<Self> {
        let less = "a counter of the nodes went back: did one lose a peer?";
        let bytes = |i: usize| self.bytes[i].checked_sub(before.bytes[i]).context(less);
        Ok(Self {
            node: self.node.saturating_sub(before.node),
            verifiers: self.verifiers.saturating_sub(before.verifiers),
            programs: self.programs.saturating_sub(before.programs),
            signer: self.signer.saturating_sub(before.signer),
            verified: self.verified.checked_sub(before.verified).context(less)?,
            bytes: [bytes(0)?, bytes(1)?],
        })
    }

    /// For each of so many tasks of one node.
    fn each(&self, tasks: f64) -> Load {
        let ms = |time: Duration| time.as_secs_f64() * 1e3 / tasks;
        Load {
            node_ms: ms(self.node),
            verification_ms: ms(self.verifiers) + self.verified as f64 * decoding_ms() / tasks,
            programs_ms: ms(self.programs),
            signer_ms: ms(self.signer),
            bytes_in: self.bytes[0] as f64 / tasks,
            bytes_out: self.bytes[1] as f64 / tasks,
        }
    }
}

/// The least time in which a signature is brought into the batcher's encoding, with the check that it is on the curve, of many.
fn decoding_ms() -> f64 {
    let signature = OperatorKey::from_entropy(KeyGroup::Bls12381G2, &[7; 48]).sign(&[1; 32]);
    let times = (0..200).map(|_| {
        let start = Instant::now();
        assert!(bls12381::compress_signature(signature.as_bytes()).is_ok());
        start.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::INFINITY, f64::min)
}

fn now_ms() -> Result<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
    Ok(u64::try_from(since.as_millis())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Honest operators alone exceed two thirds, and no more liars of the same kind would fit.
    #[test]
    fn liars_weigh_almost_a_third() {
        for operators in [4, 10, 25, 50] {
            let total: u64 = (0..operators).map(stake).sum();
            let lying: u64 = liars(operators).into_iter().map(stake).sum();
            assert!(3 * (total - lying) > 2 * total, "{operators}: {lying} of {total}");
            assert!(lying * 4 > total, "{operators}: {lying} of {total}");
            assert!((0..operators).all(|operator| 3 * stake(operator) < total), "{operators}");
        }
        assert_eq!(liars(10), [1, 4, 7]);
        assert_eq!(Plan::new(10, false, 1).liars, [0; 0]);
    }

    #[test]
    fn counters_are_spread_over_the_tasks() {
        let before = Counters { verified: 5, bytes: [10, 20], ..Counters::default() };
        let node = Duration::from_millis(100);
        let after = Counters { node, verifiers: node / 2, verified: 5, bytes: [30, 60], ..before };
        let load = after.since(&before).unwrap().each(10.0);
        assert_eq!((load.node_ms, load.verification_ms, load.bytes_in, load.bytes_out), (10.0, 5.0, 2.0, 4.0));
        assert!(before.since(&after).unwrap_err().to_string().contains("went back"));
    }
}
