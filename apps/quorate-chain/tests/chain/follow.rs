//! `follow`: everything that changes a network, restarts, reorganisations.

use std::{
    collections::HashSet,
    fs,
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread::sleep,
    time::{Duration, Instant},
};

use quorate_evm::{
    KeyGroup, MemberSet, Network,
    alloy_primitives::{B256, Bytes, U64, U256},
    alloy_sol_types::SolCall as _,
    base::PART,
    contract::Settlement,
    quorum::Store,
    state,
};
use quorate_lab::{
    proxy::{Proxy, ProxyReply},
    run::{LIMIT, Ran, Run as _, Signal, get},
    settlement::{LocalSettlement, forwarder, opaque, pack},
};
use serde_json::json;

use crate::program::Folder;

#[test]
fn a_settlement_with_keys_in_g2_of_bn254() {
    history(KeyGroup::Bn254G2);
}

/// The key in G2 of each member is in the calldata of its registration alone.
#[test]
fn a_settlement_with_keys_in_g1_of_bn254() {
    history(KeyGroup::Bn254G1);
}

#[test]
fn a_settlement_with_keys_in_g2_of_bls12381() {
    history(KeyGroup::Bls12381G2);
}

/// Its keys are those of the other settlement on BLS12-381; its code tells that it is this one.
#[test]
fn a_settlement_with_keys_in_g2_of_bls12381_and_a_nonuniform_hash() {
    history(KeyGroup::Bls12381G2Nu);
}

/// Follows a settlement by runs that end, each of which goes on where the one before ended.
fn history(key_group: KeyGroup) {
    let Some(mut world) = LocalSettlement::deploy(key_group, 12) else { return };
    let folder = Folder::new();
    let once = |world: &LocalSettlement| folder.once(&world.url(), world.contract(), &[]);
    let check = |world: &LocalSettlement, step: &str| {
        once(world).exits(0);
        assert_eq!(folder.network().unwrap(), world.network, "{step}");
    };
    let all = MemberSet::full(12);
    let but = |left: &[usize]| all.symmetric_difference(&left.iter().copied().collect());
    let result = |number: u8| B256::repeat_byte(number);

    // From the keys alone the registrar makes the first epoch.
    check(&world, "before the first epoch");
    world.compact(0, 8);
    world.begin(vec![100; 12], 700, false);
    once(&world)
        .exits(1)
        .says("epoch 1 was begun, and nothing settles until someone sends `quorate evm call enter --head 0x000");
    world.enter();
    check(&world, "the first epoch");

    // The quorum is counted, so its base is not weighed.
    world.settle(&all, &[result(1)], Store::Slot(0));
    world.settle(&but(&[3]), &[result(2), result(3)], Store::Slot(2));
    check(&world, "bases in two slots");
    world.settle(&but(&[3, 4]), &[result(4)], Store::Nowhere);
    world.pin(2);
    check(&world, "a pinned base");
    for number in 5..9 {
        world.settle(&but(&[usize::from(number), 11]), &[result(number)], Store::Rental);
        check(&world, "ski rental");
    }
    assert!(world.network.paid < 5 && world.network.bases.iter().any(|base| base.slot == 2));

    // In the second epoch, some members weigh so little that the weights are read.
    world.register(50);
    let weights = (0..13).map(|i| if i < 6 { 1 } else { 1_000 }).collect();
    world.begin(weights, 5_000, false);
    world.enter();
    world.publish(0);
    check(&world, "published weights");
    let heavy: MemberSet = (6..12).collect();
    world.settle(&heavy, &[result(9)], Store::Slot(3));
    check(&world, "a weighed base");
    assert_eq!(world.network.bases.iter().find(|base| base.slot == 3).unwrap().weight, 6_000);

    // A contract that passes its calldata on is seen through.
    let through = world.node.create(forwarder(world.contract()));
    let (plan, call) = world.plan(&but(&[0]), &[result(10)], Store::Slot(0));
    world.node.send_from(0, through, call);
    world.settled(&plan);
    check(&world, "a call by a contract that passes calldata on");

    // One that keeps the calldata elsewhere is not. The newest base is left out, and the state is still right.
    let (plan, call) = world.plan(&but(&[1, 2]), &[result(11)], Store::Slot(0));
    let unseen = world.node.create(opaque(world.contract(), &call));
    world.node.send_from(0, unseen, Bytes::new());
    world.settled(&plan);
    let notes = once(&world).exits(0);
    notes.says("result 10 was settled by a call that is not in its transaction's calldata");
    let expected = without_newest(&world.network);
    assert_eq!(folder.network().unwrap(), expected);
    assert_eq!(expected.state(), world.network.state());
    // Such a network plans from another base, and the settlement's newest base is passed with the call.
    world.network = expected;
    world.settle(&heavy, &[result(12)], Store::Nowhere);
    check(&world, "the newest base is unknown");

    // A slot of the ring is overwritten unseen: the contract says so.
    let (plan, call) = world.plan(&but(&[1]), &[result(13)], Store::Slot(3));
    let unseen = world.node.create(opaque(world.contract(), &call));
    world.node.send_from(0, unseen, Bytes::new());
    world.settled(&plan);
    world.network.bases.retain(|base| base.slot != 3);
    once(&world).exits(0).says("slot 3 holds a base that is not known");
    check(&world, "a slot that is unknown");

    // The table is renewed: six keys are carried, and no base is.
    world.compact(0, 13);
    let page = world.network.key_pages.last().unwrap().nonce;
    world.carry(&[12, 0, 7], page);
    world.carry(&[3, 4, 11], page);
    check(&world, "carried keys do not count before the switch");
    world.begin(vec![10; 6], 40, true);
    once(&world).exits(1).says("epoch 3 was begun");
    world.enter();
    check(&world, "the next table");
    world.settle(&MemberSet::full(5), &[result(14)], Store::Slot(0));
    world.register(51);
    check(&world, "settled in the next table");

    // A run from the beginning finds the same, three blocks at a time.
    let anew = Folder::new();
    anew.once(&world.url(), world.contract(), &["--blocks", "3"]).exits(0);
    assert_eq!(anew.network().unwrap(), world.network);
}

/// The network of a follower that did not see how the newest base was stored.
fn without_newest(network: &Network) -> Network {
    let mut network = Network { unknown_newest: Some(network.newest()), ..network.clone() };
    network.bases.retain(|base| base.slot != 0);
    network
}

fn started(operators: u8) -> Option<LocalSettlement> {
    let mut world = LocalSettlement::deploy(KeyGroup::Bn254G2, operators)?;
    world.begin(vec![1; operators.into()], 3, false);
    world.enter();
    Some(world)
}

#[test]
fn a_reorganisation_is_undone_and_ctrl_c_ends_cleanly() {
    let Some(mut world) = started(4) else { return };
    let all = MemberSet::full(4);
    world.settle(&all, &[B256::repeat_byte(1)], Store::Slot(0));
    let folder = Folder::new();
    let (program, address) = folder.served(&world.url(), world.contract());
    folder.wait("the first result", |network| *network == world.network);
    let get = |path: &str| get(TcpStream::connect(&address).unwrap(), path);
    let metric = |name: &str| -> u64 {
        let text = get("/metrics").1;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap()
    };
    let settled = "quorate_follower_events_total{event=\"settled\"}";
    assert_eq!(get("/livez").0, 200);
    assert_eq!((metric("quorate_follower_reorganisations_total"), metric(settled)), (0, 1));
    assert_eq!((metric("quorate_follower_keys"), metric("quorate_follower_results")), (4, 1));

    // The chain goes two blocks on, and then takes them back for three others.
    let snapshot = world.node.ask("evm_snapshot", json!([]));
    let before = world.network.clone();
    let two: MemberSet = [0, 1, 2].into_iter().collect();
    world.settle(&two, &[B256::repeat_byte(2)], Store::Slot(0));
    world.settle(&all, &[B256::repeat_byte(3)], Store::Slot(5));
    let left = folder.wait("the branch that is left", |network| network.nonce == 3);
    assert_eq!(left, world.network);
    assert_eq!(world.node.ask("evm_revert", json!([snapshot])), json!(true));
    world = world.back_to(before);
    for number in 4..8 {
        world.settle(&all, &[B256::repeat_byte(number)], Store::Slot(2));
    }
    let network = folder.wait("the branch that stays", |network| network.nonce == 5);
    assert_eq!(network, world.network);
    // It may be about to look at the last block once more.
    let begun = Instant::now();
    while metric("quorate_follower_lag_blocks") > 0 || metric("quorate_follower_ready") == 0 {
        assert!(begun.elapsed() < LIMIT, "it lags");
        sleep(Duration::from_millis(50));
    }
    assert_eq!(get("/readyz"), (200, "ok\n".to_owned()));
    // Both results of the branch that was left count, because the contract had them.
    assert_eq!((metric("quorate_follower_reorganisations_total"), metric(settled)), (1, 7));
    assert_eq!(metric("quorate_follower_results"), 5);
    assert_eq!(metric("quorate_follower_block"), metric("quorate_follower_head"));
    assert_eq!(metric("quorate_follower_matched_block"), metric("quorate_follower_head"));
    assert_eq!(metric("quorate_follower_ready"), 1);
    program.signal(Signal::INT);
    let ended = program.ends().exits(0);
    ended.says("is not the chain's any more").says("stopped after block");

    // While nobody follows, the chain is reorganised below the cursor. The next run reads all anew.
    let snapshot = world.node.ask("evm_snapshot", json!([]));
    let before = world.network.clone();
    world.settle(&all, &[B256::repeat_byte(8)], Store::Slot(0));
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    assert_eq!(world.node.ask("evm_revert", json!([snapshot])), json!(true));
    world = world.back_to(before);
    world.settle(&two, &[B256::repeat_byte(9)], Store::Slot(2));
    let ended = folder.once(&world.url(), world.contract(), &[]).exits(0);
    ended.says("is not the chain's any more: the logs are read anew from block 0 on");
    assert_eq!(folder.network().unwrap(), world.network);
}

/// The network is the same as before, and its file is not there any more.
#[test]
fn a_file_that_is_taken_away_is_written_again() {
    let Some(world) = started(4) else { return };
    let folder = Folder::new();
    let program = folder.background(&world.url(), world.contract(), &["--confirmations", "0"]);
    folder.wait("the file", |network| *network == world.network);
    fs::remove_file(folder.path("network.json")).unwrap();
    world.node.mine(1);
    folder.wait("the file again", |network| *network == world.network);
    program.signal(Signal::INT);
    program.ends().exits(0);
}

/// A node that does not answer any more: the follower tells it as long as it asks, and then ends with the code of a peer that cannot be
/// reached.
#[test]
fn whoever_watches_sees_that_a_node_is_silent() {
    let Some(world) = started(4) else { return };
    let (folder, proxy) = (Folder::new(), Proxy::start(&world.url()));
    let (program, address) = folder.served(&proxy.url, world.contract());
    folder.wait("the first epoch", |network| *network == world.network);
    let (fails, failed) = mpsc::channel();
    let mut asked = 0;
    proxy.follows(move |_, _| {
        // Nobody listens once the test has seen the first.
        let _ = fails.send(());
        asked += 1;
        // The program asks so often and ends. It is to wait for this test.
        Ok(if asked <= 2 { ProxyReply::Busy } else { ProxyReply::Hang })
    });
    failed.recv_timeout(LIMIT).unwrap();
    failed.recv_timeout(LIMIT).unwrap();
    let text = get(TcpStream::connect(&address).unwrap(), "/metrics").1;
    let line =
        |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
    assert_ne!(line("quorate_follower_rpc_retries_total"), "quorate_follower_rpc_retries_total 0");
    let unreachable = "quorate_follower_rpc_failures_total{kind=\"unreachable\"}";
    assert_ne!(line(unreachable), format!("{unreachable} 0"));
    proxy.follows(|_, _| Ok(ProxyReply::Busy));
    program.ends().exits(3).says("does not answer");
}

/// A node knows a block before it finds its logs: the blocks are read again, and each event counts once.
#[test]
fn logs_that_come_late_count_once() {
    let Some(mut world) = started(4) else { return };
    let (folder, proxy) = (Folder::new(), Proxy::start(&world.url()));
    let (program, address) = folder.served(&proxy.url, world.contract());
    folder.wait("the first epoch", |network| *network == world.network);
    // While the node tells of no new block, three come. The last one's logs are left out of the first answer.
    let (leaves_out, left_out) = mpsc::channel();
    let newest = world.node.block();
    proxy.follows(move |question, node| {
        let mut question = question.clone();
        if question["params"][0] == "latest" {
            question["params"][0] = json!(U64::from(newest));
        }
        node.answer(&question).map(ProxyReply::Answer)
    });
    for number in 1..4 {
        world.settle(&MemberSet::full(4), &[B256::repeat_byte(number)], Store::Slot(0));
    }
    let mut late = true;
    proxy.follows(move |question, node| {
        let mut answer = node.answer(question)?;
        if question["method"] == "eth_getLogs"
            && let Some(logs) = answer["result"].as_array_mut()
            && logs.len() > 1
            && std::mem::take(&mut late)
        {
            let last = logs.last().unwrap()["blockNumber"].clone();
            logs.retain(|log| log["blockNumber"] != last);
            leaves_out.send(logs.len()).unwrap();
        }
        Ok(ProxyReply::Answer(answer))
    });
    assert_ne!(left_out.recv_timeout(LIMIT).unwrap(), 0);
    folder.wait("the third result", |network| *network == world.network);
    let text = get(TcpStream::connect(&address).unwrap(), "/metrics").1;
    assert!(text.contains("quorate_follower_events_total{event=\"settled\"} 3\n"), "{text}");
    program.signal(Signal::INT);
    program.ends().exits(0);
}

/// A provider cuts off what logs say, for some seconds. The follower ends with 1, with which systemd starts it again, and reads all anew.
#[test]
fn a_node_that_garbles_its_logs_does_not_end_a_service_for_good() {
    let Some(mut world) = started(4) else { return };
    let folder = Folder::new();
    let proxy = Proxy::start(&world.url());
    let program = folder.background(&proxy.url, world.contract(), &["--confirmations", "0"]);
    folder.wait("the first epoch", |network| *network == world.network);
    proxy.tells(|question, answer| {
        if question["method"] == "eth_getLogs" {
            for log in answer["result"].as_array_mut().into_iter().flatten() {
                let data = log["data"].as_str().unwrap_or_default().to_owned();
                log["data"] = json!(data[..data.len().max(4) - 2]);
            }
        }
        true
    });
    world.settle(&MemberSet::full(4), &[B256::repeat_byte(1)], Store::Slot(0));
    program.ends().exits(1).says("the node garbles its logs");
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    assert_eq!(folder.network().unwrap(), world.network);
}

/// The chain leaves its last block while the program asks about it: after the logs for a transaction, or for the contract's state.
#[test]
fn a_reorganisation_between_two_questions_is_undone() {
    let Some(mut world) = started(4) else { return };
    let all = MemberSet::full(4);
    world.settle(&all, &[B256::repeat_byte(1)], Store::Slot(0));
    let folder = Folder::new();
    let proxy = Proxy::start(&world.url());
    let program = folder.background(&proxy.url, world.contract(), &["--confirmations", "0"]);
    folder.wait("the first result", |network| *network == world.network);
    for (nonce, method) in [(2, "eth_getTransactionByHash"), (3, "eth_call")] {
        let snapshot = world.node.ask("evm_snapshot", json!([]));
        let before = world.network.clone();
        let (left, leaves) = mpsc::channel();
        let mut revert = Some(json!({ "jsonrpc": "2.0", "id": 1, "method": "evm_revert", "params": [snapshot] }));
        proxy.follows(move |question, node| {
            if question["method"] == method
                && let Some(revert) = revert.take()
            {
                assert_eq!(node.answer(&revert)?["result"], json!(true));
                left.send(()).unwrap();
            }
            node.answer(question).map(ProxyReply::Answer)
        });
        world.settle(&all, &[B256::repeat_byte(0xaa)], Store::Slot(0));
        leaves.recv_timeout(LIMIT).unwrap();
        world = world.back_to(before);
        world.settle(&all, &[B256::repeat_byte(nonce)], Store::Slot(0));
        folder.wait("the branch that stays", |network| *network == world.network);
    }
    program.signal(Signal::INT);
    program.ends().exits(0);
}

#[test]
fn only_confirmed_blocks_count() {
    let Some(mut world) = started(4) else { return };
    let folder = Folder::new();
    let once = |world: &LocalSettlement, confirmations: &str| -> Ran {
        folder.once_behind(confirmations, &world.url(), world.contract(), &[])
    };
    world.node.mine(2);
    let before = world.network.clone();
    world.settle(&MemberSet::full(4), &[B256::ZERO], Store::Slot(0));
    world.node.mine(1);
    once(&world, "2").exits(0);
    assert_eq!(folder.network().unwrap(), before);
    world.node.mine(1);
    once(&world, "2").exits(0);
    assert_eq!(folder.network().unwrap(), world.network);
    // The node's final block lies 64 blocks behind.
    let folder = Folder::new();
    folder.once_behind("finalized", &world.url(), world.contract(), &[]).exits(1);
    world.node.mine(70);
    folder.once_behind("finalized", &world.url(), world.contract(), &[]).exits(0);
    assert_eq!(folder.network().unwrap(), world.network);
}

/// A stranger's calldata that looks like `prepare` is not looked at: the contract leaves no log for it. What was discarded does
/// not count.
#[test]
fn calldata_that_looks_like_prepare_does_not_blind_the_follower() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 2) else { return };
    let part = |weight: u64| vec![weight; PART];
    world.prepare(7, &part(9));
    world.node.send(world.contract(), &Settlement::discardCall {});
    world.prepare(7, &part(7));
    world.node.mine(20);
    let through = world.node.create(forwarder(world.contract()));
    // Only the registrar may prepare, so this call fails.
    let call = Settlement::prepareCall { threshold: 7, weights: pack(&part(5)) };
    world.node.fails(through, call.abi_encode().into());
    world.prepare(7, &part(8));
    // Transactions of strangers to themselves and to the settlement's registrar, right before `begin`.
    let like: Bytes = Settlement::prepareCall { threshold: 7, weights: pack(&part(6)) }.abi_encode().into();
    let (stranger, other) = (world.node.account(7), world.node.account(8));
    world.node.send_from(7, stranger, like.clone());
    world.node.send_from(8, other, [&like[..], &like[..]].concat().into());
    let all: Vec<u64> = [part(7), part(8), vec![70, 80]].concat();
    let required = 100;
    let call = Settlement::beginCall {
        threshold: 7,
        weights: pack(&all[2 * PART..]),
        required: U256::from(required).to(),
        renew: false,
    };
    world.node.send(world.contract(), &call);
    (world.network.epoch, world.network.required, world.network.weights) = (1, required, all.clone());
    world.network.enough = state::enough_by(&all, required, 7);
    world.enter();
    // The settlement has two keys. Its weights are known, and the contract has them.
    let folder = Folder::new();
    let ended = folder.once(&world.url(), world.contract(), &["--blocks", "4"]).exits(0);
    let ended = ended.says("epoch 1 has 4098 weights, and its table has 2 keys");
    assert_eq!(folder.network().unwrap(), world.network);
    assert!(!ended.err.contains("unknown") && !ended.err.contains("not in the calldata"), "{ended:?}");
}

/// A stranger makes the registrar begin an epoch by a contract that has the call in its code. Its weights come from a file, and count
/// if they are those of the contract.
#[test]
fn weights_that_are_in_no_calldata_come_from_a_file() {
    let Some(mut world) = started(4) else { return };
    let (weights, required) = (vec![5, 6, 7, 8], 11);
    let (threshold, enough) = state::enough(&weights, required);
    let call =
        Settlement::beginCall { threshold, weights: pack(&weights), required: U256::from(required).to(), renew: false };
    // The registrar is such a contract for one transaction. Before its code stands what creates it.
    let registrar = world.node.account(0);
    let code = opaque(world.contract(), &call.abi_encode()).slice(11..);
    world.node.ask("anvil_setCode", json!([registrar, code]));
    world.node.send_from(7, registrar, Bytes::new());
    world.node.ask("anvil_setCode", json!([registrar, "0x"]));
    (world.network.epoch, world.network.required, world.network.enough) = (2, required, enough);
    world.network.weights = weights;
    world.enter();

    let folder = Folder::new();
    let once = |more: &[&str]| folder.once(&world.url(), world.contract(), more);
    once(&[]).exits(1).says("the weights of epoch 2 are unknown").says("name a file of them with --weights");
    let file = |text: &str| folder.write("weights.json", text).display().to_string();
    for other in ["[5, 6, 7]", "[5, 6, 8, 7]"] {
        once(&["--weights", &file(other)]).exits(1).says("the contract has other ones than").says("weights.json");
    }
    once(&["--weights", &file("{}")]).exits(2).says("weights.json: expected a JSON list of numbers below 2^64");
    assert_eq!(folder.network(), None);
    once(&["--weights", &file("[5, 6, 7, 8]")]).exits(0);
    assert_eq!(folder.network().unwrap(), world.network);
    let piped = Folder::new();
    let mut follow = piped.follow(&world.url(), world.contract());
    follow.args(["--once", "--confirmations", "0", "--weights", "-"]);
    follow.ran_with("[5, 6, 8, 7]").exits(1).says("the contract has other ones than standard input");
    follow.ran_with("[5, 6, 7, 8]").exits(0);
    assert_eq!(piped.network().unwrap(), world.network);
    // From then on they are in the cursor.
    world.settle(&MemberSet::full(4), &[B256::ZERO], Store::Slot(0));
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    assert_eq!(folder.network().unwrap(), world.network);
}

/// A node refuses each kind of question once, and logs of more than two blocks always.
#[test]
fn a_node_that_refuses_is_asked_again_and_for_fewer_blocks() {
    let Some(mut world) = started(4) else { return };
    world.settle(&MemberSet::full(4), &[B256::ZERO], Store::Slot(0));
    world.node.mine(9);
    let proxy = Proxy::start(&world.url());
    let (overloaded, too_long) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
    // The chain's id is asked for once, so that a wrong URL is known at once.
    let mut asked = HashSet::from(["eth_chainId".to_owned()]);
    let counts = (overloaded.clone(), too_long.clone());
    proxy.follows(move |question, node| {
        let method = question["method"].as_str().unwrap_or_default();
        let number = |name: &str| serde_json::from_value::<U64>(question["params"][0][name].clone());
        if asked.insert(method.to_owned()) {
            counts.0.fetch_add(1, Ordering::SeqCst);
            return Ok(ProxyReply::Busy);
        }
        if method == "eth_getLogs" && number("toBlock")? - number("fromBlock")? > U64::ONE {
            counts.1.fetch_add(1, Ordering::SeqCst);
            let error = json!({ "code": -32005, "message": "query returned more than 10000 results" });
            return Ok(ProxyReply::Answer(json!({ "jsonrpc": "2.0", "id": question["id"], "error": error })));
        }
        node.answer(question).map(ProxyReply::Answer)
    });
    let folder = Folder::new();
    folder.once(&proxy.url, world.contract(), &["--blocks", "16"]).exits(0);
    assert_eq!(folder.network().unwrap(), world.network);
    assert!(overloaded.load(Ordering::SeqCst) >= 5 && too_long.load(Ordering::SeqCst) >= 3);
}
