//! `watch`: true postings are left alone, false ones are challenged, and what is not known does not count as true.

use std::{
    fs::File,
    net::TcpStream,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::sleep,
    time::{Duration, Instant},
};

use quorate_evm::{
    KeyGroup, MemberSet,
    alloy_primitives::{B256, U256, hex},
    alloy_sol_types::{SolCall as _, SolEvent as _},
    contract::{OptimisticSettlement, Settlement},
    quorum::Store,
};
use quorate_lab::{
    anvil::events,
    proxy::{Proxy, ProxyReply},
    run::{LIMIT, Run as _, Running, Signal, get},
    settlement::{CONDITIONS, LocalSettlement, MONEY},
};
use serde_json::json;

use crate::program::{Folder, program};

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
fn started(key_group: KeyGroup) -> Option<LocalSettlement> {
    let mut world = LocalSettlement::deploy_optimistic(key_group, 4)?;
    world.begin(vec![1; 4], 3, false);
    world.enter();
    Some(world)
}

fn result(number: u8) -> B256 {
    B256::repeat_byte(number)
}

/// Without confirmations, unless the arguments name them.
fn watch(folder: &Folder, url: &str, world: &LocalSettlement, more: &[&str]) -> Command {
    let mut command = program();
    command.args(["watch", "--rpc", url, "--contract", &world.contract().to_string()]);
    if !more.contains(&"--confirmations") {
        command.args(["--confirmations", "0"]);
    }
    command.arg("--cursor").arg(folder.path("watch.cursor")).args(["--every", "0.1"]).args(more);
    command
}

/// `watch` in the background, which pays. What it prints is in the files `out` and `err`.
fn paying(folder: &Folder, url: &str, world: &LocalSettlement, more: &[&str]) -> Running {
    let mut command = watch(folder, url, world, more);
    command.env("QUORATE_CHAIN_KEY", world.node.key(WATCHER));
    let file = |name: &str| File::options().create(true).append(true).open(folder.path(name)).unwrap();
    Running::start(command.stdout(file("out")).stderr(file("err")))
}

fn said(folder: &Folder) -> String {
    ["out", "err"].map(|name| std::fs::read_to_string(folder.path(name)).unwrap()).concat()
}

/// Where the program says that its metrics are.
fn metrics_in(folder: &Folder) -> String {
    said(folder).split_once("metrics are at http://").unwrap().1.split_once('/').unwrap().0.to_owned()
}

fn wait(what: &str, folder: &Folder, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LIMIT, "{what}: {}", said(folder));
        sleep(Duration::from_millis(50));
    }
}

fn wait_until_said(text: &str, folder: &Folder) {
    wait(text, folder, || said(folder).contains(text));
}

fn credit(world: &LocalSettlement, account: usize) -> U256 {
    let owner = world.node.account(account);
    world.node.read(world.contract(), &OptimisticSettlement::accountOfCall { owner }).credit
}

fn balance(world: &LocalSettlement, account: usize) -> U256 {
    let answer = world.node.ask("eth_getBalance", json!([world.node.account(account), "latest"]));
    serde_json::from_value(answer).unwrap()
}

/// The time for the answer passes.
fn answer_passes(world: &LocalSettlement) {
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
        assert_eq!(world.demand(&garbage), None);

        let before = balance(&world, WATCHER);
        let address = "127.0.0.1:0";
        let mut running = paying(&folder, &world.url(), &world, &["--metrics", address]);
        wait("both demands", &folder, || world.demand(&garbage).is_some() && world.demand(&light).is_some());
        let demands = [&garbage, &light].map(|posting| world.demand(posting));
        assert_eq!(demands.map(|demand| demand.unwrap().challenger), [world.node.account(WATCHER); 2]);
        let text = get(TcpStream::connect(metrics_in(&folder)).unwrap(), "/metrics").1;
        for line in ["quorate_watcher_found_false_total 2", "quorate_watcher_open{verdict=\"true\"} 1"] {
            assert!(text.contains(line), "{line}: {text}");
        }
        answer_passes(&world);
        wait("the drops", &folder, || {
            [&garbage, &light]
                .into_iter()
                .zip(demands)
                .all(|(posting, demand)| world.status(posting, demand) == DROPPED)
        });
        wait("the credit", &folder, || credit(&world, WATCHER).is_zero() && balance(&world, WATCHER) > before);
        // Half of each penalty, less the gas.
        assert!(balance(&world, WATCHER) - before < U256::from(MONEY));
        assert_eq!((world.status(&honest, None), world.demand(&honest)), (POSTED, None));
        world.node.pass(u64::from(CONDITIONS.window) + 1);
        world.node.mine(u64::from(CONDITIONS.windowBlocks) + 1);
        wait_until_said("true, final", &folder);
        assert_eq!(world.status(&honest, None), FINAL);
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
    let demand = world.demand(&honest);
    let folder = Folder::new();
    watch(&folder, &world.url(), &world, &["--once"]).ran().exits(0);
    let mut running = paying(&folder, &world.url(), &world, &["--prove"]);
    wait("the proof", &folder, || world.status(&honest, demand) == SETTLED);
    wait_until_said("settled", &folder);
    wait("the bond", &folder, || said(&folder).contains("withdraw the credit: done"));
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// The settlement settles after the last block that is confirmed, so its newest base is not the follower's. No block comes after that
/// until the proof is sent: with the follower's state the contract would refuse it for ever.
#[test]
fn a_proof_does_not_need_a_state_that_stands_still() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let all = MemberSet::full(4);
    world.settle(&all, &[result(1)], Store::Slot(0));
    let honest = world.post(&all, &[result(2)], &[result(2)], 1);
    let call = OptimisticSettlement::demandCall { posting_: honest.named() };
    world.node.pay(STRANGER, world.contract(), &call, MONEY);
    let demand = world.demand(&honest);
    world.node.mine(2);
    let others: MemberSet = [0, 1, 2].into_iter().collect();
    world.settle(&others, &[result(3)], Store::Slot(0));
    let folder = Folder::new();
    let mut running = paying(&folder, &world.url(), &world, &["--prove", "--confirmations", "2"]);
    wait("the proof", &folder, || world.status(&honest, demand) == SETTLED);
    assert!(!said(&folder).contains("refused"), "{}", said(&folder));
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// The chain's nodes take nothing that tips as little as is allowed. Whoever watches the watcher has to know it before the window is over.
#[test]
fn a_demand_that_no_node_takes_is_a_problem() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let proxy = Proxy::start(&world.url());
    proxy.follows(|question, node| {
        if question["method"] == "eth_sendRawTransaction" {
            let message = "transaction underpriced: gas tip cap 1, minimum needed 25000000000";
            let error = json!({ "code": -32000, "message": message });
            return Ok(ProxyReply::Answer(json!({ "jsonrpc": "2.0", "id": question["id"], "error": error })));
        }
        node.answer(question).map(ProxyReply::Answer)
    });
    let garbage = world.post(&MemberSet::full(4), &[result(1)], &[result(2)], 0);
    let folder = Folder::new();
    let mut running = paying(&folder, &proxy.url, &world, &[]);
    wait_until_said("is refused: transaction underpriced", &folder);
    assert_eq!(world.demand(&garbage), None);
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// A watcher that pays guards money, also when nobody can read what it prints. One that only prints has nothing else to do.
#[cfg(target_os = "linux")]
#[test]
fn watch_goes_on_and_demands_when_standard_output_is_full() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let garbage = world.post(&MemberSet::full(4), &[result(1)], &[result(2)], 0);
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let folder = Folder::new();
    folder.write("out", "");
    let err = File::create(folder.path("err")).unwrap();
    let mut command = watch(&folder, &world.url(), &world, &[]);
    command.env("QUORATE_CHAIN_KEY", world.node.key(WATCHER));
    let mut running = Running::start(command.stdout(full()).stderr(err));
    wait("the demand", &folder, || world.demand(&garbage).is_some());
    answer_passes(&world);
    let demand = world.demand(&garbage);
    wait("the drop", &folder, || world.status(&garbage, demand) == DROPPED);
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
    assert_eq!(said(&folder).matches("cannot write to standard output: No space left").count(), 1, "{}", said(&folder));
    for flags in [&[][..], &["--once"]] {
        let mut command = watch(&Folder::new(), &world.url(), &world, flags);
        let ended = Running::start(command.stdout(full()).stderr(Stdio::piped())).ends().exits(3);
        ended.says("error: cannot write to standard output: No space left");
    }
}

#[test]
fn watch_with_a_payer_outlives_a_closed_pipe() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let folder = Folder::new();
    folder.write("out", "");
    let err = File::create(folder.path("err")).unwrap();
    let mut command = watch(&folder, &world.url(), &world, &[]);
    command.env("QUORATE_CHAIN_KEY", world.node.key(WATCHER));
    let mut running = Running::start(command.stdout(Stdio::piped()).stderr(err));
    wait_until_said("pays, and is paid", &folder);
    drop(running.child.stdout.take());
    let garbage = world.post(&MemberSet::full(4), &[result(1)], &[result(2)], 0);
    wait("the demand", &folder, || world.demand(&garbage).is_some());
    wait_until_said("what is due is done all the same", &folder);
    assert!(running.runs(), "{}", said(&folder));
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
    let demand = world.demand(&garbage);
    answer_passes(&world);
    sleep(Duration::from_secs(2));
    assert_eq!(world.status(&garbage, demand), DEMANDED);
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// Without a payer nothing is proven, and whoever asked for proofs is told.
#[test]
fn proofs_without_a_payer() {
    let Some(world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let folder = Folder::new();
    let once = |more: &[&str]| watch(&folder, &world.url(), &world, &[&["--once"][..], more].concat()).ran().exits(0);
    once(&["--prove"]).says("--prove does nothing: --once sends nothing");
    assert!(!once(&[]).err.contains("--prove"));
    let [out, err] = ["out", "err"].map(|name| File::create(folder.path(name)).unwrap());
    let mut running = Running::start(watch(&folder, &world.url(), &world, &["--prove"]).stdout(out).stderr(err));
    wait_until_said("--prove does nothing: no payer is named", &folder);
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
    wait("the demand", &folder, || world.demand(&garbage).is_some());
    running.kill();
    answer_passes(&world);
    let second = world.post(&all, &[result(3)], &[result(4)], 1);
    let mut running = paying(&folder, &world.url(), &world, &[]);
    let first = world.demand(&garbage);
    wait("the drop", &folder, || world.status(&garbage, first) == DROPPED);
    wait("the second demand", &folder, || world.demand(&second).is_some());
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
    assert_eq!(world.status(&honest, None), POSTED);
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
    // A run that begins anew finds nothing to complain of.
    watch(&Folder::new(), &world.url(), &world, &["--once"]).ran().exits(0);
}

/// The same posting comes in a block of the same number and time, and in that branch a signer has another key. The node is silent in
/// between, so that the watcher does not see a chain without the posting.
#[test]
fn a_posting_that_is_true_in_one_branch_alone() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let snapshot = world.node.ask("evm_snapshot", json!([]));
    let (before, now) = (world.network.clone(), world.node.now());
    let next_block_at = |world: &LocalSettlement, time: u64| {
        world.node.ask("evm_setNextBlockTimestamp", json!([time]));
    };
    next_block_at(&world, now + 10);
    world.register(50);
    next_block_at(&world, now + 20);
    let posting = world.post(&MemberSet::full(5), &[result(1)], &[result(1)], 0);
    let (proxy, folder) = (Proxy::start(&world.url()), Folder::new());
    let mut command = watch(&folder, &proxy.url, &world, &[]);
    let file = |name: &str| File::create(folder.path(name)).unwrap();
    let mut running = Running::start(command.stdout(file("out")).stderr(file("err")));
    wait_until_said("true, posted", &folder);
    proxy.follows(|_, _| Ok(ProxyReply::Busy));
    wait_until_said("nothing is recomputed until it answers", &folder);
    assert_eq!(world.node.ask("evm_revert", json!([snapshot])), json!(true));
    world = world.back_to(before);
    next_block_at(&world, now + 10);
    world.register(51);
    next_block_at(&world, now + 20);
    let again = world.post_evidence(posting.evidence.clone(), &[result(1)], 0);
    assert_eq!(again.id(), posting.id());
    proxy.tells_the_truth();
    wait_until_said("its signature is false, posted", &folder);
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// The node hides the calldata in which the weights are. The posting is not counted as true, and is demanded near its end;
/// unless a report is all that is wanted.
#[test]
fn what_cannot_be_recomputed_is_demanded_in_time() {
    let Some(mut world) = LocalSettlement::deploy_optimistic(KeyGroup::Bls12381G2Nu, 4) else { return };
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
    assert_eq!(world.demand(&posting), None);
    let mut reporter = paying(&reporting, &proxy.url, &world, &["--unknown", "report"]);
    wait_until_said("not recomputed", &reporting);
    reporter.signal(Signal::INT);
    assert_eq!(reporter.ended(), 0);
    // Three quarters of both pass.
    world.node.pass(3 * u64::from(CONDITIONS.window) / 4);
    sleep(Duration::from_secs(1));
    assert_eq!(world.demand(&posting), None);
    world.node.mine(3 * u64::from(CONDITIONS.windowBlocks) / 4);
    wait_until_said("near the end of its window", &demanding);
    wait("the demand", &demanding, || world.demand(&posting).is_some());
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
    // The truth says that it was true.
    watch(&Folder::new(), &world.url(), &world, &["--once"]).ran().exits(0);
}

/// A watcher without a cursor reads of two epochs at once, and the contract confirms the weights of the last one alone. What those of the
/// first one make true is not demanded, and what they do not is.
#[test]
fn a_watcher_that_begins_anew_does_not_demand_true_postings_of_past_epochs() {
    let Some(mut world) = LocalSettlement::deploy_optimistic(KeyGroup::Bls12381G2Nu, 4) else { return };
    // Only the last one is heavy enough alone, so weights are needed.
    world.begin(vec![1, 1, 1, 5], 5, false);
    world.enter();
    let [light, heavy]: [MemberSet; 2] = [[0], [3]].map(|signers| signers.into_iter().collect());
    let heavy = world.post(&heavy, &[result(1)], &[result(1)], 0);
    let light = world.post(&light, &[result(2)], &[result(2)], 1);
    world.begin(vec![5, 1, 1, 1], 5, false);
    world.enter();
    let folder = Folder::new();
    let mut running = paying(&folder, &world.url(), &world, &[]);
    wait_until_said("true, posted", &folder);
    wait_until_said("not recomputed, the weights of epoch 1 are not known, posted", &folder);
    world.node.pass(3 * u64::from(CONDITIONS.window) / 4 + 10);
    world.node.mine(3 * u64::from(CONDITIONS.windowBlocks) / 4);
    wait("the demand", &folder, || world.demand(&light).is_some());
    assert_eq!((world.status(&heavy, None), world.demand(&heavy)), (POSTED, None), "{}", said(&folder));
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// The contract takes no proof of a final posting, so the node is not asked for one, turn after turn.
#[test]
fn the_proof_of_a_final_posting_is_not_simulated() {
    let Some(mut world) = LocalSettlement::deploy_optimistic(KeyGroup::Bls12381G2Nu, 4) else { return };
    world.begin(vec![1, 1, 1, 5], 5, false);
    world.enter();
    world.post(&[3].into_iter().collect(), &[result(1)], &[result(1)], 0);
    world.begin(vec![5, 1, 1, 1], 5, false);
    world.enter();
    let (proxy, simulated) = (Proxy::start(&world.url()), Arc::<AtomicU64>::default());
    let (seen, proof) = (Arc::clone(&simulated), hex::encode(OptimisticSettlement::proveCall::SELECTOR));
    proxy.tells(move |question, _| {
        let is_proof = question["method"] == "eth_call" && question["params"][0].to_string().contains(&proof);
        seen.fetch_add(u64::from(is_proof), Ordering::SeqCst);
        true
    });
    let look = || watch(&Folder::new(), &proxy.url, &world, &["--once"]).ran();
    let seen = look().exits(0);
    assert!(seen.out.contains("true, posted"), "{seen:?}");
    let before = simulated.load(Ordering::SeqCst);
    assert!(before > 0, "the posting is of a past epoch");
    world.node.pass(u64::from(CONDITIONS.window) + 1);
    world.node.mine(u64::from(CONDITIONS.windowBlocks) + 1);
    look().exits(1).says("not recomputed, the weights of epoch 1 are not known, FINAL, and nobody can undo it");
    assert_eq!(simulated.load(Ordering::SeqCst), before);
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
    proxy.tells(|question, answer| {
        if question["method"] == "eth_getLogs" {
            answer["result"] = json!([]);
        }
        true
    });
    let folder = Folder::new();
    let ended = watch(&folder, &proxy.url, &world, &["--once"]).ran().exits(1);
    ended.says("the contract's last epoch is 1, that of the logs is 0");
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
    wait("the demand", &folder, || world.demand(&garbage).is_some());
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// The node does not say what the payer has. All else goes on: postings are recomputed, the cursor is written, the demand is sent.
#[test]
fn a_payer_whose_account_is_not_told_keeps_nothing_from_being_recomputed() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let proxy = Proxy::start(&world.url());
    proxy.tells(|question, answer| {
        if question["method"] == "eth_getBalance" {
            *answer = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32000, "message": "no state is kept" } });
        }
        true
    });
    let folder = Folder::new();
    let mut running = paying(&folder, &proxy.url, &world, &["--metrics", "127.0.0.1:0"]);
    wait_until_said("error: what the payer has is not known: ", &folder);
    assert!(said(&folder).contains("no state is kept; what is due is sent all the same"), "{}", said(&folder));
    wait("the cursor", &folder, || std::fs::exists(folder.path("watch.cursor")).unwrap());
    let ready = || get(TcpStream::connect(metrics_in(&folder)).unwrap(), "/readyz");
    let (status, why) = ready();
    assert!(status == 503 && why.starts_with("what the payer has is not known"), "{why}");
    let garbage = world.post(&MemberSet::full(4), &[result(1)], &[result(2)], 0);
    wait("the demand", &folder, || world.demand(&garbage).is_some());
    assert!(!said(&folder).contains("nothing is recomputed"), "{}", said(&folder));
    proxy.tells_the_truth();
    wait("readiness", &folder, || ready().0 == 200);
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
    assert_eq!(said(&folder).matches("what the payer has is not known").count(), 1, "{}", said(&folder));
}

#[test]
fn a_payer_without_money_says_so_at_once() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let folder = Folder::new();
    let mut command = watch(&folder, &world.url(), &world, &["--metrics", "127.0.0.1:0"]);
    command.env("QUORATE_CHAIN_KEY", "07".repeat(32));
    let file = |name: &str| File::create(folder.path(name)).unwrap();
    let mut running = Running::start(command.stdout(file("out")).stderr(file("err")));
    wait_until_said("can pay 0 demands; the contract has 4 slots", &folder);
    world.post(&MemberSet::full(4), &[result(1)], &[result(2)], 0);
    wait_until_said("is refused", &folder);
    // It is in the log as an error, for whoever reads that, and in the metrics for whoever is to be woken.
    assert!(said(&folder).contains("error: the payer 0x"), "{}", said(&folder));
    let text = get(TcpStream::connect(metrics_in(&folder)).unwrap(), "/metrics").1;
    for line in
        ["quorate_watcher_payer_demands 0", "quorate_watcher_calls_total{call=\"demand\",outcome=\"refused\"} 1"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let Some(world) = LocalSettlement::deploy(KeyGroup::Bls12381G2Nu, 4) else { return };
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

/// Whoever answers for the node chooses neither the chain nor the amount for which the payer signs.
#[test]
fn a_payer_names_the_chain_and_the_highest_bond() {
    let Some(world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let folder = Folder::new();
    let once = |more: &[&str]| watch(&folder, &world.url(), &world, &[&["--once"][..], more].concat()).ran();
    let chain_id = world.node.chain_id().to_string();
    let ended = once(&["--chain-id", "7"]).exits(2);
    ended.says(&format!("the node is of chain {chain_id}, and --chain-id is 7; check --rpc"));
    let ended = once(&["--most-bond", "0.0009"]).exits(2);
    ended.says("a demand costs a bond of 0.001, and --most-bond is 0.0009");
    once(&["--most-bond", "1e3"]).exits(2).says("is not an amount");
    once(&["--chain-id", &chain_id, "--most-bond", "0.001"]).exits(0);
}

/// The block of a demand leaves the chain, and the posting stays: its proof is demanded again. Then the posting leaves, too, and the
/// same garbage comes in another block: that is another posting, and its proof is demanded as well.
#[test]
fn a_reorganisation_under_a_demand() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let all = MemberSet::full(4);
    let folder = Folder::new();
    let empty = world.node.ask("evm_snapshot", json!([]));
    let before = world.network.clone();
    let garbage = world.post(&all, &[result(1)], &[result(2)], 0);
    let posted = world.node.ask("evm_snapshot", json!([]));
    let mut running = paying(&folder, &world.url(), &world, &[]);
    wait("the demand", &folder, || world.demand(&garbage).is_some());
    wait_until_said(": done, in block", &folder);
    assert_eq!(world.node.ask("evm_revert", json!([posted])), json!(true));
    assert_eq!(world.demand(&garbage), None);
    // Another branch takes the place of the blocks that are gone.
    world.node.mine(3);
    wait("the demand in the other branch", &folder, || world.demand(&garbage).is_some());
    assert_eq!(world.node.ask("evm_revert", json!([empty])), json!(true));
    world = world.back_to(before);
    world.node.mine(6);
    let again = world.post(&all, &[result(1)], &[result(2)], 0);
    assert_ne!(again.id(), garbage.id());
    wait("the demand of the same garbage", &folder, || world.demand(&again).is_some());
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// Nobody watched while the window passed. The lie is final: that is said, and told, and nothing is sent.
#[test]
fn a_window_that_ended_while_nobody_watched() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let garbage = world.post(&MemberSet::full(4), &[result(1)], &[result(2)], 0);
    world.node.pass(u64::from(CONDITIONS.window) + 1);
    world.node.mine(u64::from(CONDITIONS.windowBlocks) + 1);
    let folder = Folder::new();
    let mut running = paying(&folder, &world.url(), &world, &["--metrics", "127.0.0.1:0"]);
    wait_until_said("its signature is false, FINAL, and nobody can undo it", &folder);
    sleep(Duration::from_secs(1));
    let text = get(TcpStream::connect(metrics_in(&folder)).unwrap(), "/metrics").1;
    for line in [
        "quorate_watcher_final{verdict=\"false\"} 1",
        "quorate_watcher_calls_total{call=\"demand\",outcome=\"sent\"} 0",
        "quorate_watcher_calls_total{call=\"demand\",outcome=\"refused\"} 0",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!((world.status(&garbage, None), world.demand(&garbage)), (FINAL, None));
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// Behind the URL a node answers that lags: its newest block is older than one that was seen. Nothing is forgotten for that, so
/// nothing is read or demanded twice.
#[test]
fn a_node_that_answers_with_an_older_block() {
    let Some(mut world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let proxy = Proxy::start(&world.url());
    let folder = Folder::new();
    let mut running = paying(&folder, &proxy.url, &world, &[]);
    let garbage = world.post(&MemberSet::full(4), &[result(1)], &[result(2)], 0);
    wait("the demand", &folder, || world.demand(&garbage).is_some());
    wait_until_said("its signature is false, demanded", &folder);
    let last = world.node.block() - 2;
    proxy.tells(move |question, answer| {
        if question["method"] == "eth_getBlockByNumber" {
            let number = question["params"][0].as_str().unwrap().trim_start_matches("0x");
            let asked = u64::from_str_radix(number, 16);
            if question["params"][0] == "latest" {
                answer["result"]["number"] = json!(format!("{last:#x}"));
            } else if asked.is_ok_and(|asked| asked > last) {
                answer["result"] = json!(null);
            }
        }
        true
    });
    wait_until_said("it lags, or several nodes answer by turns", &folder);
    sleep(Duration::from_secs(2));
    proxy.tells_the_truth();
    world.node.mine(1);
    let second = world.post(&MemberSet::full(4), &[result(3)], &[result(4)], 1);
    wait("the second demand", &folder, || world.demand(&second).is_some());
    let said = said(&folder);
    assert!(!said.contains("is not the chain's any more"), "{said}");
    assert_eq!(
        said.matches("slot 0, results 0 to 0").count(),
        4,
        "posted and demanded, once each in both streams: {said}"
    );
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 0);
}

/// The node answers until it is asked for what is fixed in the contract. That is no fault of the address.
#[test]
fn a_node_that_is_silent_is_not_a_wrong_address() {
    let Some(world) = started(KeyGroup::Bls12381G2Nu) else { return };
    let calls = [
        Settlement::pinnedSlotsCall::SELECTOR,
        Settlement::registrarCall::SELECTOR,
        OptimisticSettlement::conditionsCall::SELECTOR,
    ];
    for selector in calls {
        let proxy = Proxy::start(&world.url());
        proxy.follows(move |question, node| {
            let data = question["params"][0]["data"].as_str().unwrap_or_default();
            if data.starts_with(&hex::encode_prefixed(selector)) {
                return Ok(ProxyReply::Busy);
            }
            node.answer(question).map(ProxyReply::Answer)
        });
        let ended =
            watch(&Folder::new(), &proxy.url, &world, &["--once"]).ran().exits(3).says("does not answer eth_call");
        assert!(!ended.err.contains("--contract"), "{ended:?}");
    }
}
