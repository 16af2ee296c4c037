//! A network for one test, and what is asked of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::{Duration, Instant},
};

use quorate_evm::{
    MemberSet,
    alloy_primitives::{Address, B256, Bytes, U256, keccak256},
    alloy_sol_types::SolEvent,
    contract::TaskNetwork,
};
use quorate_lab::{
    network::{LocalNetwork, LocalOperator, LocalPart, LocalPeers, LocalPrograms, LocalSettings},
    run::{Run as _, command},
};
use serde_json::{Value, json};
use tokio::time::sleep;

/// What to start.
pub(crate) struct Plan {
    pub(crate) operators: usize,
    pub(crate) peers: LocalPeers,
    /// In seconds.
    pub(crate) epoch_length: u64,
    /// A task of the schedule every so many seconds; zero for none.
    pub(crate) task_every: u64,
    /// The operator whose results are false.
    pub(crate) liar: Option<usize>,
    /// How long a program takes, in seconds, beside the time that it needs.
    pub(crate) pause: Option<&'static str>,
    /// Further options of each node.
    pub(crate) options: Vec<&'static str>,
}

impl Default for Plan {
    /// Four operators by libp2p in a long epoch.
    fn default() -> Self {
        Self {
            operators: 4,
            peers: LocalPeers::Libp2p,
            epoch_length: 3_600,
            task_every: 0,
            liar: None,
            pause: None,
            options: Vec::new(),
        }
    }
}

/// A network that runs.
pub(crate) struct Net {
    pub(crate) local: LocalNetwork,
    operators: usize,
    next: u64,
}

/// A task that the test hands in.
#[derive(Clone, Debug)]
pub(crate) struct GivenTask {
    pub(crate) id: B256,
    pub(crate) epoch: u64,
    /// What its payload says.
    pub(crate) time: u64,
    body: Value,
}

/// What the chain has.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) settled: BTreeMap<B256, Vec<Settled>>,
    pub(crate) slashed: Vec<(Address, B256)>,
    pub(crate) penalised: Vec<(Address, B256)>,
    /// Of each quorum: its epoch, its block, and the indices that signed.
    pub(crate) quorums: Vec<(u64, u64, MemberSet)>,
    /// The block of each epoch's snapshot.
    pub(crate) snapshots: BTreeMap<u64, u64>,
}

/// A settlement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settled {
    pub(crate) epoch: u64,
    pub(crate) performer: u64,
    pub(crate) result: B256,
    pub(crate) approved: bool,
    pub(crate) block: u64,
}

/// More than anything takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);
/// The payload of scheduled tasks.
pub(crate) const PAYLOAD: &str = r#"{"pair":"ETH/USD","time":{time}}"#;

impl Net {
    /// Starts a network. `None`, with a printed line, if a program is absent.
    pub(crate) async fn start(plan: Plan) -> Option<Self> {
        let programs = LocalPrograms::or_skip()?;
        let work = |lie: bool| {
            let work = programs.work(lie);
            match plan.pause {
                None => work,
                Some(pause) => format!("sh -c \"sleep {pause}; exec {work}\""),
            }
        };
        let operators = (0..plan.operators).map(|operator| LocalOperator {
            // Unequal, and of four any three are a quorum: 11, 10, 10, 9.
            stake: [11, 10, 10, 9][operator % 4],
            execute: work(plan.liar == Some(operator)),
            validate: work(false),
            aggregate: true,
        });
        let options = ["--stragglers", "300", "--turn", "3000"].into_iter().chain(plan.options.iter().copied());
        let settings = LocalSettings {
            operators: operators.collect(),
            programs,
            peers: plan.peers,
            block_time: 1,
            task_every: plan.task_every,
            task_payload: PAYLOAD.to_owned(),
            epoch_length: plan.epoch_length,
            options: options.map(str::to_owned).collect(),
            first_port: None,
        };
        let local = LocalNetwork::start(settings).await.unwrap();
        Some(Self { local, operators: plan.operators, next: 1_700_000_000 })
    }

    /// The numbers of all operators.
    pub(crate) fn all(&self) -> std::ops::Range<usize> {
        0..self.operators
    }

    /// The running epoch, as the contract says.
    pub(crate) async fn epoch(&self) -> u64 {
        self.local.rpc().read(self.contract(), &TaskNetwork::currentEpochCall {}, None).await.unwrap().to()
    }

    /// The index of an operator's key.
    pub(crate) async fn index(&self, operator: usize) -> u32 {
        let call = TaskNetwork::keyOfCall { operator: self.local.operator(operator) };
        self.local.rpc().read(self.contract(), &call, None).await.unwrap().to()
    }

    fn contract(&self) -> Address {
        self.local.deployed().network
    }

    /// A new task of the running epoch for which the contract elects an operator.
    pub(crate) async fn task(&mut self, performer: usize) -> GivenTask {
        let (epoch, index) = (self.epoch().await, self.index(performer).await);
        loop {
            self.next += 1;
            let time = self.next;
            let payload = json!({ "pair": "ETH/USD", "time": time });
            let id = keccak256(payload.to_string());
            let call = TaskNetwork::performerOfCall { epoch: U256::from(epoch), id };
            // There is no performer before the epoch has a snapshot.
            let Ok(elected) = self.local.rpc().read(self.contract(), &call, None).await else {
                sleep(Duration::from_millis(200)).await;
                continue;
            };
            if elected == U256::from(index) {
                return GivenTask { id, epoch, time, body: json!({ "payload": payload, "id": id, "epoch": epoch }) };
            }
        }
    }

    /// Hands a task in at nodes, each of which must take it. One whose loop does not answer in time is asked again, as it says.
    pub(crate) async fn give(&self, task: &GivenTask, nodes: impl IntoIterator<Item = usize>) {
        for node in nodes {
            self.until(&format!("node {node} takes {}", task.id), async || {
                let (status, answer) = self.local.post_task(node, &task.body).await.unwrap();
                let is_silent = status == 503 && answer["error"]["code"] == "no-answer";
                assert!(is_silent || (status, &answer["id"]) == (202, &json!(task.id)), "node {node}: {answer}");
                !is_silent
            })
            .await;
        }
    }

    /// Hands a task in at all nodes.
    pub(crate) async fn give_all(&self, task: &GivenTask) {
        self.give(task, self.all()).await;
    }

    /// What the chain has now.
    pub(crate) async fn ledger(&self) -> Ledger {
        let filter = json!([{ "address": self.contract(), "fromBlock": "0x0" }]);
        let logs = self.local.ask("eth_getLogs", filter).await.unwrap();
        let mut ledger = Ledger::default();
        for log in logs.as_array().unwrap() {
            let topics: Vec<B256> = serde_json::from_value(log["topics"].clone()).unwrap();
            let data: Bytes = serde_json::from_value(log["data"].clone()).unwrap();
            let block = serde_json::from_value::<U256>(log["blockNumber"].clone()).unwrap().to();
            if let Ok(event) = TaskNetwork::TaskSettled::decode_raw_log(topics.iter().copied(), &data) {
                let (epoch, performer) = (event.epoch.to(), event.performer.to());
                let (result, approved) = (event.result, event.approved);
                let settled = Settled { epoch, performer, result, approved, block };
                ledger.settled.entry(event.id).or_default().push(settled);
            } else if let Ok(event) = TaskNetwork::Slashed::decode_raw_log(topics.iter().copied(), &data) {
                ledger.slashed.push((event.operator, event.id));
            } else if let Ok(event) = TaskNetwork::Penalised::decode_raw_log(topics.iter().copied(), &data) {
                ledger.penalised.push((event.operator, event.id));
            } else if let Ok(event) = TaskNetwork::Attested::decode_raw_log(topics.iter().copied(), &data) {
                ledger.quorums.push((event.epoch.to(), block, MemberSet::from_bytes(&event.signers).unwrap()));
            } else if let Ok(event) = TaskNetwork::EpochSnapshotted::decode_raw_log(topics.iter().copied(), &data) {
                ledger.snapshots.insert(event.epoch.to(), block);
            }
        }
        ledger
    }

    /// Waits until the chain has settled tasks, and says how each. An id that was settled twice fails the test.
    pub(crate) async fn settled(&self, ids: impl IntoIterator<Item = B256>) -> Vec<Settled> {
        let ids: Vec<_> = ids.into_iter().collect();
        self.until(&format!("settled: {ids:?}"), async || self.has_settled(ids.iter().copied()).await).await;
        let ledger = self.ledger().await;
        assert!(ledger.settled.values().all(|settled| settled.len() == 1), "{ledger:?}");
        ids.iter().map(|id| ledger.settled[id][0]).collect()
    }

    /// Whether the chain has settled all of these tasks.
    pub(crate) async fn has_settled(&self, ids: impl IntoIterator<Item = B256>) -> bool {
        let ledger = self.ledger().await;
        ids.into_iter().all(|id| ledger.settled.contains_key(&id))
    }

    /// A task in the words of a node; null if the node does not know it.
    pub(crate) async fn seen(&self, node: usize, id: B256) -> Value {
        let tasks = self.local.get(node, "/v1/tasks").await.unwrap_or_default();
        let mut tasks = tasks["tasks"].as_array().cloned().unwrap_or_default();
        tasks.retain(|task| task["id"] == json!(id));
        tasks.pop().unwrap_or_default()
    }

    /// Waits until nodes say that a task is settled for good.
    pub(crate) async fn is_final(&self, id: B256, nodes: impl IntoIterator<Item = usize>) {
        for node in nodes {
            self.until(&format!("node {node} says that {id} is final"), async || {
                self.seen(node, id).await["state"] == "final"
            })
            .await;
        }
    }

    /// What a node says of itself.
    pub(crate) async fn status(&self, node: usize) -> Value {
        self.local.get(node, "/v1/status").await.unwrap()
    }

    /// A counter of a node.
    pub(crate) async fn count(&self, node: usize, name: &str) -> u64 {
        self.status(node).await["counts"][name].as_u64().unwrap()
    }

    /// Whether a peer is connected to a node.
    pub(crate) async fn has_peer(&self, node: usize, peer: &str) -> bool {
        self.status(node).await["peers"].as_array().unwrap().iter().any(|row| row["peer_id"] == peer)
    }

    /// Waits until a node shows a peer as banned. So the peer has tried to join it.
    pub(crate) async fn refused(&self, node: usize, peer: &str) {
        self.until(&format!("node {node} refuses {peer}"), async || {
            self.status(node).await["bans"].as_array().unwrap().iter().any(|row| row["peer_id"] == peer)
        })
        .await;
    }

    /// Waits until each of these nodes is ready.
    pub(crate) async fn ready(&mut self, nodes: impl IntoIterator<Item = usize>) {
        for node in nodes {
            self.local.node_ready(node).await.unwrap();
        }
    }

    /// Waits until a node is not ready, for a reason that holds a text.
    pub(crate) async fn not_ready(&self, node: usize, text: &str) {
        self.until(&format!("node {node} is not ready, because of {text:?}"), async || {
            self.local.reasons(node).await.is_ok_and(|reasons| reasons.iter().any(|reason| reason.contains(text)))
        })
        .await;
    }

    /// Checks that the chain has slashed nobody, that only a liar was fined, and that no node knows of a conflict.
    pub(crate) async fn nobody_punished_but(&self, liar: Option<usize>) {
        let ledger = self.ledger().await;
        assert_eq!(ledger.slashed, [], "{ledger:?}");
        let liar = liar.map(|liar| self.local.operator(liar));
        assert!(ledger.penalised.iter().all(|(operator, _)| Some(*operator) == liar), "{ledger:?}");
        for node in self.all() {
            assert_eq!(self.status(node).await["conflicts"], json!([]), "node {node}");
        }
    }

    /// Ends everything, and checks in the signers' records that nobody signed two verdicts or two results of a task. Any three of four
    /// operators are a quorum, so one may have been too late for every task.
    pub(crate) async fn nobody_signed_twice(mut self) {
        let mut idle = 0;
        for operator in self.all() {
            self.local.kill(operator, LocalPart::Node);
            self.local.kill(operator, LocalPart::Signer);
            idle += usize::from(signed_once(&self.local.operator_folder(operator).join("signer")).is_empty());
        }
        assert!(idle <= 1, "{idle} operators signed nothing");
    }

    /// Waits for a fact that must be so before an epoch can settle nothing more. Whether it is.
    pub(crate) async fn in_time(&self, epoch: u64, what: &str, mut is: impl AsyncFnMut() -> bool) -> bool {
        let mut is_so = false;
        self.until(what, async || {
            is_so = is().await;
            is_so || self.epoch().await > epoch + 1
        })
        .await;
        is_so
    }

    /// Waits for a fact.
    pub(crate) async fn until(&self, what: &str, mut is: impl AsyncFnMut() -> bool) {
        let begun = Instant::now();
        while !is().await {
            if begun.elapsed() >= PATIENCE {
                for node in self.all() {
                    for path in ["/v1/status", "/v1/tasks"] {
                        eprintln!("node {node}, {path}: {:?}", self.local.get(node, path).await);
                    }
                }
                panic!("not within {} s: {what}", PATIENCE.as_secs());
            }
            sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Checks in the record of a signer that has stopped that it signed no two verdicts and no two results of a task.
/// Returns the tasks that it signed.
pub(crate) fn signed_once(folder: &Path) -> BTreeSet<String> {
    let record = command("quorate-signer").arg("export").arg("--data").arg(folder).ran().exits(0).object();
    let (mut ids, mut contents) = (BTreeSet::new(), BTreeSet::new());
    for task in record["epochs"].as_array().unwrap().iter().flat_map(|epoch| epoch["tasks"].as_array().unwrap()) {
        let id = task["id"].to_string();
        contents.insert((id.clone(), task["result"].to_string(), task["approved"].to_string()));
        ids.insert(id);
    }
    assert_eq!(ids.len(), contents.len(), "{}: {record}", folder.display());
    ids
}

impl Drop for Net {
    /// Keeps the logs of a test that failed.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let name = std::thread::current().name().unwrap_or("network").replace("::", "-");
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // What cannot be kept is lost; the test fails in any case.
        let _ = fs::create_dir_all(&kept);
        for operator in self.all() {
            for log in ["node.log", "signer.log"] {
                let _ =
                    fs::copy(self.local.operator_folder(operator).join(log), kept.join(format!("{operator}-{log}")));
            }
        }
        eprintln!("the logs are in {}", kept.display());
    }
}
