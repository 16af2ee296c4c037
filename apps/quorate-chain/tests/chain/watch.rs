//! `watch`: true postings are left alone, false ones are challenged, and what is not known does not count as true.

use std::{
    fs::File,
    net::TcpStream,
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

use quorate_evm::{
    KeyGroup, MemberSet,
    alloy_primitives::{B256, U256},
    alloy_sol_types::SolEvent as _,
    contract::OptimisticSettlement,
    posting::{Moment, PostedResults, ProofDemand},
    quorum::Store,
};
use quorate_lab::{
    anvil::events,
    proxy::{Proxy, ProxyReply},
    run::{Run as _, Running, Signal, get},
};
use serde_json::json;

use crate::{
    program::{Folder, program},
    world::{CONDITIONS, MONEY, World},
};

/// The account that watches, and that of a stranger.
const WATCHER: usize = 5;
const STRANGER: usize = 6;

/// What the contract's `statusOf` answers.
const POSTED: u8 = 1;
const DEMANDED: u8 = 2;
const FINAL: u8 = 3;
const SETTLED: u8 = 4;
const DROPPED: u8 = 5;

/// Each weighs 1, and any three are enough.
fn started(key_group: KeyGroup) -> Option<World> {
    let mut world = World::deploy_optimistic(key_group, 4)?;
    world.begin(vec![1; 4], 3, false);
    world.enter();
    Some(world)
}

fn result(number: u8) -> B256 {
    B256::repeat_byte(number)
}

fn watch(folder: &Folder, url: &str, world: &World, more: &[&str]) -> Command {
    let mut command = program();
    command.args(["watch", "--rpc", url, "--contract", &world.contract().to_string(), "--confirmations", "0"]);
    command.arg("--cursor").arg(folder.path("watch.cursor")).args(["--every", "0.1"]).args(more);
    command
}

/// `watch` in the background, which pays. What it prints is in the files `out` and `err`.
fn paying(folder: &Folder, url: &str, world: &World, more: &[&str]) -> Running {
    let mut command = watch(folder, url, world, more);
    command.env("QUORATE_CHAIN_KEY", world.node.key(WATCHER));
    let file = |name: &str| File::options().create(true).append(true).open(folder.path(name)).unwrap();
    Running::start(command.stdout(file("out")).stderr(file("err")))
}

fn said(folder: &Folder) -> String {
    ["out", "err"].map(|name| std::fs::read_to_string(folder.path(name)).unwrap()).concat()
}

fn wait(what: &str, folder: &Folder, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}: {}", said(folder));
        sleep(Duration::from_millis(50));
    }
}

fn wait_until_said(text: &str, folder: &Folder) {
    wait(text, folder, || said(folder).contains(text));
}

/// The status in the contract, with a demand of the watcher or the stranger, if there is one.
fn status(world: &World, posting: &PostedResults, demand: Option<ProofDemand>) -> u8 {
    let call = OptimisticSettlement::statusOfCall { posting: posting.named(), demand_: ProofDemand::named(demand) };
    world.node.read(world.contract(), &call)
}

/// The last demand of a posting.
fn demand(world: &World, posting: &PostedResults) -> Option<ProofDemand> {
    let filter = json!({ "fromBlock": "0x0", "address": world.contract() });
    let logs = world.node.ask("eth_getLogs", json!([filter]));
    let logs: Vec<alloy::rpc::types::Log> = serde_json::from_value(logs).unwrap();
    let demands = logs.iter().filter_map(|log| log.log_decode::<OptimisticSettlement::Demanded>().ok());
    let of_it = demands.filter(|log| log.inner.id == posting.id()).last()?;
    let OptimisticSettlement::Demanded { challenger, when, .. } = of_it.inner.data;
    Some(ProofDemand { challenger, when: Moment::of_word(when) })
}

fn credit(world: &World, account: usize) -> U256 {
    let owner = world.node.account(account);
    world.node.read(world.contract(), &OptimisticSettlement::accountOfCall { owner }).credit
}

fn balance(world: &World, account: usize) -> U256 {
    let answer = world.node.ask("eth_getBalance", json!([world.node.account(account), "latest"]));
    serde_json::from_value(answer).unwrap()
}

/// The time for the answer passes.
fn answer_passes(world: &World) {
    world.node.pass(u64::from(CONDITIONS.answer) + 1);
    world.node.mine(u64::from(CONDITIONS.answerBlocks) + 1);
}

#[test]
fn a_true_posting_is_left_alone_and_garbage_is_challenged_dropped_and_paid() {
    for key_group in [KeyGroup::Bn254G1, KeyGroup::Bls12381G2, KeyGroup::Bls12381G2Nu] {
        let Some(mut world) = started(key_group) else { return };
        let all = MemberSet::full(4);
        world.settle(&all, &[result(1)], Store::Slot(0));
        let honest = world.post(&all, &[result(2), result(3)], &[result(2), result(3)], 0);
        let garbage = world.post(&all, &[result(4)], &[result(5)], 2);
        let light: MemberSet = [0, 1].into_iter().collect();
        let light = world.post(&light, &[result(6)], &[result(6)], 3);
        let folder = Folder::new();

        // Without a payer it says what it found.
        let ended = watch(&folder, &world.url(), &world, &["--once"]).ran().exits(1);
        let ended = ended.says("its signature is false").says("its signers weigh 2, and 3 are required");
        assert!(
            ended.out.contains("slot 0, results 1 to 2") && ended.out.contains("true, posted; final in"),
            "{ended:?}"
        );
        assert_eq!(demand(&world, &garbage), None);

        let before = balance(&world, WATCHER);
        let address = "127.0.0.1:0";
        let mut running = paying(&folder, &world.url(), &world, &["--metrics", address]);
        wait("both demands", &folder, || demand(&world, &garbage).is_some() && demand(&world, &light).is_some());
        let demands = [&garbage, &light].map(|posting| demand(&world, posting));
        assert_eq!(demands.map(|demand| demand.unwrap().challenger), [world.node.account(WATCHER); 2]);
        let metrics = said(&folder);
        let address = metrics.split_once("metrics are at http://").unwrap().1.split_once('/').unwrap().0;
        let text = get(TcpStream::connect(address).unwrap(), "/metrics").1;
        for line in ["quorate_watcher_found_false_total 2", "quorate_watcher_open{verdict=\"true\"} 1"] {
            assert!(text.contains(line), "{line}: {text}");
        }
        answer_passes(&world);
        wait("the drops", &folder, || {
            [&garbage, &light]
                .into_iter()
                .zip(demands)
                .all(|(posting, demand)| status(&world, posting, demand) == DROPPED)
        });
        wait("the credit", &folder, || credit(&world, WATCHER).is_zero() && balance(&world, WATCHER) > before);
        // Half of each penalty, less the gas.
        assert!(balance(&world, WATCHER) - before < U256::from(MONEY));
        assert_eq!((status(&world, &honest, None), demand(&world, &honest)), (POSTED, None));
        world.node.pass(u64::from(CONDITIONS.window) + 1);
        world.node.mine(u64::from(CONDITIONS.windowBlocks) + 1);
        wait_until_said("true, final", &folder);
        assert_eq!(status(&world, &honest, None), FINAL);
        running.signal(Signal::INT);
        assert_eq!(running.ended(), 0);
    }
}

/// A posting that somebody demands for nothing is proven, and the watcher gets the bond.
#[test]
fn a_demanded_true_posting_is_proven() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let all = MemberSet::full(4);
    world.settle(&all, &[result(1)], Store::Slot(0));
    let signers: MemberSet = [0, 1, 3].into_iter().collect();
    let honest = world.post(&signers, &[result(2)], &[result(2)], 1);
    // The next epoch is entered, and the proof names the one of the posting.
    world.begin(vec![7; 4], 21, false);
    world.enter();
    let call = OptimisticSettlement::demandCall { posting_: honest.named() };
    let receipt = world.node.pay(STRANGER, world.contract(), &call, MONEY);
    assert_eq!(events::<OptimisticSettlement::Demanded>(&receipt).len(), 1);
    let demand = demand(&world, &honest);
    let folder = Folder::new();
    watch(&folder, &world.url(), &world, &["--once"]).ran().exits(0);
    let mut running = paying(&folder, &world.url(), &world, &["--prove"]);
    wait("the proof", &folder, || status(&world, &honest, demand) == SETTLED);
    wait_until_said("settled", &folder);
    wait("the bond", &folder, || said(&folder).contains("withdraw the credit: done"));
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// Without `--prove` it is left to the poster; and whoever did not demand drops nothing.
#[test]
fn a_demand_of_others_is_not_the_watchers() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let garbage = world.post_evidence(vec![0; 3].into(), &[result(1)], 1);
    let call = OptimisticSettlement::demandCall { posting_: garbage.named() };
    world.node.pay(STRANGER, world.contract(), &call, MONEY);
    let folder = Folder::new();
    let mut running = paying(&folder, &world.url(), &world, &[]);
    wait_until_said("its evidence is no bitmap of signers", &folder);
    let demand = demand(&world, &garbage);
    answer_passes(&world);
    sleep(Duration::from_secs(2));
    assert_eq!(status(&world, &garbage, demand), DEMANDED);
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// It is killed after its demand. The next run goes on from the cursor, and drops the posting.
#[test]
fn a_watcher_that_is_killed_goes_on() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let all = MemberSet::full(4);
    let garbage = world.post(&all, &[result(1)], &[result(2)], 0);
    let folder = Folder::new();
    let mut running = paying(&folder, &world.url(), &world, &[]);
    wait("the demand", &folder, || demand(&world, &garbage).is_some());
    running.kill();
    answer_passes(&world);
    let second = world.post(&all, &[result(3)], &[result(4)], 1);
    let mut running = paying(&folder, &world.url(), &world, &[]);
    let first = demand(&world, &garbage);
    wait("the drop", &folder, || status(&world, &garbage, first) == DROPPED);
    wait("the second demand", &folder, || demand(&world, &second).is_some());
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// A false posting leaves the chain, and a true one takes its place: nothing is demanded of it.
#[test]
fn a_reorganisation_takes_a_posting_back() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let all = MemberSet::full(4);
    let snapshot = world.node.ask("evm_snapshot", json!([]));
    let before = world.network.clone();
    world.post(&all, &[result(1)], &[result(2)], 0);
    let folder = Folder::new();
    let mut command = watch(&folder, &world.url(), &world, &[]);
    let file = |name: &str| File::create(folder.path(name)).unwrap();
    let mut running = Running::start(command.stdout(file("out")).stderr(file("err")));
    wait_until_said("its signature is false", &folder);
    assert_eq!(world.node.ask("evm_revert", json!([snapshot])), json!(true));
    world = world.back_to(before);
    let honest = world.post(&all, &[result(3)], &[result(3)], 0);
    world.node.mine(2);
    wait_until_said("true, posted", &folder);
    assert!(said(&folder).contains("is not the chain's any more"));
    assert_eq!(status(&world, &honest, None), POSTED);
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
    // A run that begins anew finds nothing to complain of.
    watch(&Folder::new(), &world.url(), &world, &["--once"]).ran().exits(0);
}

/// The node hides the calldata in which the weights are. The posting is not counted as true, and is demanded near its end;
/// unless a report is all that is wanted.
#[test]
fn what_cannot_be_recomputed_is_demanded_in_time() {
    let Some(mut world) = World::deploy_optimistic(KeyGroup::Bls12381G2Nu, 4) else { return };
    // Only the last one is heavy enough alone, so weights are needed.
    world.begin(vec![1, 1, 1, 5], 5, false);
    world.enter();
    let heavy: MemberSet = [3].into_iter().collect();
    let posting = world.post(&heavy, &[result(1)], &[result(1)], 0);
    let proxy = Proxy::start(&world.url());
    proxy.tells(|question, answer| {
        if question["method"] == "eth_getTransactionByHash" {
            answer["result"]["input"] = json!("0x");
        }
        true
    });
    let (demanding, reporting) = (Folder::new(), Folder::new());
    let mut running = paying(&demanding, &proxy.url, &world, &[]);
    let ended = watch(&reporting, &proxy.url, &world, &["--once"]).ran().exits(1);
    ended.says("not recomputed, the weights of epoch 1 are not known, posted");
    wait_until_said("not recomputed", &demanding);
    sleep(Duration::from_secs(1));
    assert_eq!(demand(&world, &posting), None);
    let mut reporter = paying(&reporting, &proxy.url, &world, &["--unknown", "report"]);
    wait_until_said("not recomputed", &reporting);
    reporter.signal(Signal::INT);
    assert_eq!(reporter.ended(), 0);
    // Three quarters of both pass.
    world.node.pass(3 * u64::from(CONDITIONS.window) / 4);
    sleep(Duration::from_secs(1));
    assert_eq!(demand(&world, &posting), None);
    world.node.mine(3 * u64::from(CONDITIONS.windowBlocks) / 4);
    wait_until_said("near the end of its window", &demanding);
    wait("the demand", &demanding, || demand(&world, &posting).is_some());
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
    // The truth says that it was true.
    watch(&Folder::new(), &world.url(), &world, &["--once"]).ran().exits(0);
}

/// A node hides the log of a posting's demand: what it says is not believed.
#[test]
fn a_node_that_hides_logs_is_not_believed() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let garbage = world.post(&MemberSet::full(4), &[result(1)], &[result(2)], 0);
    let call = OptimisticSettlement::demandCall { posting_: garbage.named() };
    world.node.pay(STRANGER, world.contract(), &call, MONEY);
    let proxy = Proxy::start(&world.url());
    proxy.tells(|question, answer| {
        if question["method"] == "eth_getLogs" {
            let logs = answer["result"].as_array_mut().unwrap();
            let hidden = OptimisticSettlement::Demanded::SIGNATURE_HASH;
            logs.retain(|log| log["topics"][0] != json!(hidden));
        }
        true
    });
    let folder = Folder::new();
    let ended = watch(&folder, &proxy.url, &world, &["--once"]).ran().exits(1);
    ended.says("the posting in slot 0 is posted by the logs, and not so in the contract");
}

/// It says so, goes on asking, and goes on watching.
#[test]
fn a_node_that_hangs_and_comes_back() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let all = MemberSet::full(4);
    let proxy = Proxy::start(&world.url());
    let folder = Folder::new();
    let mut running = paying(&folder, &proxy.url, &world, &[]);
    wait_until_said("pays, and is paid", &folder);
    sleep(Duration::from_millis(500));
    proxy.follows(|_, _| Ok(ProxyReply::Busy));
    wait_until_said("nothing is recomputed until it answers", &folder);
    let garbage = world.post(&all, &[result(1)], &[result(2)], 0);
    proxy.tells_the_truth();
    wait("the demand", &folder, || demand(&world, &garbage).is_some());
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

#[test]
fn a_payer_without_money_says_so_at_once() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let folder = Folder::new();
    let mut command = watch(&folder, &world.url(), &world, &[]);
    command.env("QUORATE_CHAIN_KEY", "07".repeat(32));
    let file = |name: &str| File::create(folder.path(name)).unwrap();
    let mut running = Running::start(command.stdout(file("out")).stderr(file("err")));
    wait_until_said("can pay 0 demands; the contract has 4 slots", &folder);
    world.post(&MemberSet::full(4), &[result(1)], &[result(2)], 0);
    wait_until_said("is refused", &folder);
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let Some(world) = World::deploy(KeyGroup::Bls12381G2Nu, 4) else { return };
    let folder = Folder::new();
    watch(&folder, &world.url(), &world, &["--once"]).ran().exits(2).says("nothing is posted");
    let Some(world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let many = ["--once", "--confirmations", "21"];
    let mut command = program();
    command.args(["watch", "--rpc", &world.url(), "--contract", &world.contract().to_string(), "--cursor"]);
    command.arg(folder.path("watch.cursor")).args(many).ran().exits(2).says("less than half of the window");
    // `follow` follows it as any settlement.
    folder.once(&world.url(), world.contract(), &[]).exits(0);
}
