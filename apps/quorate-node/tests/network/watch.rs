//! A node watches a settlement beside its own work: a false posting is challenged, a true one is not, a restart goes on where it was,
//! and a chain's node that is silent is said, and keeps the node from nothing else.

use std::{
    fs,
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    process::Command,
    sync::{Arc, Mutex},
    thread::sleep,
    time::{Duration, Instant},
};

use quorate_evm::{
    KeyGroup, MemberSet,
    alloy_primitives::{Address, B256, U64},
    quorum::Store,
};
use quorate_lab::{
    network::{LocalNetwork, LocalOperator, LocalPart, LocalPeers, LocalPrograms, LocalSettings},
    proxy::{Proxy, ProxyReply},
    run::{Run as _, command, get},
    settlement::{CONDITIONS, LocalSettlement},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::rig::PATIENCE;

/// The account that pays for the watch.
const WATCHER: usize = 5;
/// What the contract's `statusOf` answers.
const POSTED: u8 = 1;
const DROPPED: u8 = 5;

/// A network of one operator, whose node watches a settlement on another chain.
struct Watching {
    runtime: Runtime,
    network: LocalNetwork,
    settlement: LocalSettlement,
    proxy: Proxy,
    _key: TempDir,
}

impl Watching {
    /// `None`, with a printed line, if a program is absent.
    fn start() -> Option<Self> {
        let programs = LocalPrograms::or_skip()?;
        let mut settlement = LocalSettlement::deploy_optimistic(KeyGroup::Bls12381G2Nu, 4)?;
        settlement.begin(vec![1; 4], 3, false);
        settlement.enter();
        let proxy = Proxy::start(&settlement.url());
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("watcher");
        fs::write(&key, settlement.node.key(WATCHER)).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        let (contract, key) = (settlement.contract().to_string(), key.display().to_string());
        let options = [
            ["--watch", &contract],
            ["--watch-rpc", &proxy.url],
            ["--watch-confirmations", "0"],
            ["--watch-poll", "100"],
            ["--watch-key-file", &key],
        ];
        let (execute, validate) = (programs.work(false), programs.work(false));
        let settings = LocalSettings {
            operators: vec![LocalOperator { stake: 10, execute, validate, aggregate: true }],
            programs,
            peers: LocalPeers::Libp2p,
            block_time: 1,
            task_every: 1,
            task_payload: r#"{"pair":"ETH/USD","time":{time}}"#.to_owned(),
            epoch_length: 3_600,
            options: options.concat().into_iter().map(str::to_owned).collect(),
            first_port: None,
        };
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let network = runtime.block_on(LocalNetwork::start(settings)).unwrap();
        Some(Self { runtime, network, settlement, proxy, _key: folder })
    }

    fn log(&self) -> String {
        fs::read_to_string(self.network.operator_folder(0).join("node.log")).unwrap()
    }

    fn metrics(&self) -> String {
        get(TcpStream::connect(self.network.interface(0)).unwrap(), "/metrics").1
    }

    fn reasons(&self) -> Vec<String> {
        self.runtime.block_on(self.network.reasons(0)).unwrap()
    }

    /// How many tasks the node knows to be settled.
    fn settled(&self) -> usize {
        let tasks = self.runtime.block_on(self.network.get(0, "/v1/tasks")).unwrap();
        let is_settled = |task: &&Value| task.pointer("/settlement/approved") == Some(&json!(true));
        tasks["tasks"].as_array().unwrap().iter().filter(is_settled).count()
    }

    #[track_caller]
    fn wait(&self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            assert!(begun.elapsed() < PATIENCE, "{what}: {}", self.log());
            sleep(Duration::from_millis(100));
        }
    }
}

fn result(number: u8) -> B256 {
    B256::repeat_byte(number)
}

#[test]
fn a_node_challenges_what_is_false_and_goes_on_after_a_restart() {
    let Some(mut watching) = Watching::start() else { return };
    let all = MemberSet::full(4);
    let watcher = watching.settlement.node.account(WATCHER);
    watching.settlement.settle(&all, &[result(1)], Store::Slot(0));
    let honest = watching.settlement.post(&all, &[result(2)], &[result(2)], 0);
    let garbage = watching.settlement.post(&all, &[result(3)], &[result(4)], 1);
    watching.wait("the demand", |this| this.settlement.demand(&garbage).is_some());
    let first = watching.settlement.demand(&garbage);
    assert_eq!(first.map(|demand| demand.challenger), Some(watcher));
    watching.wait("the metrics", |this| {
        let text = this.metrics();
        ["quorate_watcher_found_false_total 1", "quorate_watcher_open{verdict=\"true\"} 1", "quorate_follower_ready 1"]
            .iter()
            .all(|line| text.contains(line))
    });
    watching.wait("ready", |this| {
        this.reasons().is_empty() && this.metrics().contains("quorate_node_problem{component=\"watch\"} 0")
    });

    // Killed. Meanwhile the time for the answer passes, and more garbage comes.
    watching.network.kill(0, LocalPart::Node);
    watching.settlement.node.pass(u64::from(CONDITIONS.answer) + 1);
    watching.settlement.node.mine(u64::from(CONDITIONS.answerBlocks) + 1);
    let before = watching.settlement.node.block();
    let second = watching.settlement.post(&all, &[result(5)], &[result(6)], 2);
    let oldest = Arc::new(Mutex::new(u64::MAX));
    let asked = Arc::clone(&oldest);
    watching.proxy.follows(move |question, node| {
        if question["method"] == "eth_getLogs" {
            let from: U64 = serde_json::from_value(question["params"][0]["fromBlock"].clone()).unwrap();
            let mut oldest = asked.lock().unwrap();
            *oldest = (*oldest).min(from.to());
        }
        node.answer(question).map(ProxyReply::Answer)
    });
    watching.network.start_part(0, LocalPart::Node).unwrap();
    watching.wait("the drop", |this| this.settlement.status(&garbage, first) == DROPPED);
    watching.wait("the second demand", |this| this.settlement.demand(&second).is_some());
    assert_eq!((watching.settlement.status(&honest, None), watching.settlement.demand(&honest)), (POSTED, None));
    let oldest = *oldest.lock().unwrap();
    assert!(oldest > 1 && oldest <= before, "it read the logs from block {oldest} on, at block {before}");
    assert_eq!(watching.runtime.block_on(watching.network.stop()), [0_usize; 0]);
}

/// The chain of the settlement is silent. The node says so, settles its own tasks, and watches again when it answers.
#[test]
fn a_watch_that_is_blind_is_said_and_keeps_the_node_from_nothing() {
    let Some(mut watching) = Watching::start() else { return };
    watching.wait("ready", |this| this.reasons().is_empty());
    watching.proxy.follows(move |_, _| Ok(ProxyReply::Busy));
    let is_blind = |this: &Watching| {
        // A turn that began in time says of the payer's account that nobody tells it, and has looked.
        let says = "nothing is recomputed until it answers";
        this.reasons().iter().any(|reason| reason.starts_with("watch: ") && reason.contains(says))
    };
    watching.wait("the reason", is_blind);
    let settled = watching.settled();
    watching.wait("tasks that are settled meanwhile", |this| this.settled() > settled + 1);
    assert!(is_blind(&watching) && watching.metrics().contains("quorate_node_problem{component=\"watch\"} 1"));
    let garbage = watching.settlement.post(&MemberSet::full(4), &[result(1)], &[result(2)], 0);
    watching.proxy.tells_the_truth();
    watching.wait("the demand", |this| this.settlement.demand(&garbage).is_some());
    watching.wait("ready again", |this| this.reasons().is_empty());
    assert!(watching.log().contains("nothing is recomputed until it answers"));

    // It is silent when the node starts: the node works all the same, and the watch begins when it answers.
    watching.network.kill(0, LocalPart::Node);
    watching.proxy.follows(move |_, _| Ok(ProxyReply::Busy));
    watching.network.start_part(0, LocalPart::Node).unwrap();
    let log = watching.log();
    watching.wait("the first lines", |this| this.log()[log.len()..].contains("check --watch-rpc"));
    watching.wait("an interface", |this| TcpStream::connect(this.network.interface(0)).is_ok());
    let reasons = |this: &Watching| this.runtime.block_on(this.network.reasons(0)).unwrap_or_default();
    watching.wait("the one reason", |this| {
        let reasons = reasons(this);
        reasons.len() == 1 && reasons[0].starts_with("watch: check --watch-rpc")
    });
    let settled = watching.settled();
    watching.wait("tasks that are settled meanwhile", |this| this.settled() > settled + 1);
    watching.proxy.tells_the_truth();
    watching.wait("ready after all", |this| reasons(this).is_empty());
    assert_eq!(watching.runtime.block_on(watching.network.stop()), [0_usize; 0]);
}

/// The node does not start with options that mean nothing, or that disturb it.
#[test]
fn options_of_a_watch_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    fs::write(&key, "07".repeat(32)).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let key = key.display().to_string();
    let (data, contract) = (folder.path().join("node").display().to_string(), Address::ZERO.to_string());
    let run = |more: &[&str]| {
        let mut node: Command = command("quorate-node");
        let base = ["run", "--data", &data, "--rpc", "http://127.0.0.1:1", "--contract", &contract, "--http", ""];
        node.args(base).args(["--aggregate", "--key-file", &key]).args(more).ran()
    };
    run(&["--watch-key-file", &key]).exits(2).says("--watch-key-file is about a watch").says("--watch does not name");
    let same = run(&["--watch", &contract, "--watch-key-file", &key]).exits(2);
    same.says("hold the key of one account").says("name the key of another account");
    run(&["--watch", &contract, "--watch-prove"]).exits(2).says("--watch-key-file does not name it");
    run(&["--watch", &contract, "--watch-rpc", "ws://localhost"]).exits(2).says("--watch-rpc: ");
    run(&["--watch-chain-id", "1"]).exits(2).says("--watch-chain-id is about a watch");
    run(&["--watch-most-bond", "0.03"]).exits(2).says("--watch-most-bond is about a watch");
    run(&["--watch", &contract, "--watch-most-bond", "1e3"])
        .exits(2)
        .says("--watch-most-bond: \"1e3\" is not an amount");
    let printed = run(&["--watch", &contract, "--watch-unknown", "report", "--watch-prove", "--print-config"]).exits(0);
    for line in [format!("watch = \"{contract}\""), "watch-unknown = \"report\"".into(), "watch-prove = true".into()] {
        assert!(printed.out.contains(&line), "{line}: {printed:?}");
    }
}
