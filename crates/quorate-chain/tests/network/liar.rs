//! A node that lies or hangs, in front of a true one.

use std::time::Duration;

use quorate_chain::{
    Call, FeeLimits, Payer, Rpc, RpcLimits, SubmitEvent, SubmitSettings, Submitter,
    account::Account,
    deploy::NetworkPlan,
    task_network::{NetworkFollowError, NetworkFollower},
};
use quorate_evm::{
    KeyGroup, MemberSet,
    alloy_primitives::{B256, U256},
    alloy_sol_types::{SolCall as _, SolEvent as _},
    contract::{TaskNetwork, TestToken, Verifier},
    task_network::Change,
};
use quorate_lab::proxy::Proxy;
use serde_json::{Value, json};

use crate::world::{STAKES, World};

fn is_call(question: &Value, selector: [u8; 4]) -> bool {
    let data = question["params"][0]["data"].as_str().unwrap_or_default();
    question["method"] == "eth_call" && data.starts_with(&quorate_evm::alloy_primitives::hex::encode_prefixed(selector))
}

/// The logs of an answer with this topic.
fn logs(answer: &mut Value, topic: B256) -> impl Iterator<Item = &mut Value> {
    let topic = json!(topic);
    let all = answer["result"].as_array_mut().map(|logs| logs.iter_mut()).into_iter().flatten();
    all.filter(move |log| log["topics"][0] == topic)
}

/// Each lie is an error that changes nothing, and the truth after it is told as if nothing had been.
#[test]
fn lies_are_found_and_change_nothing() {
    let Some(world) = World::with_operators(KeyGroup::Bls12381G2) else { return };
    world.snapshot();
    let liar = Proxy::start(&world.node.url());
    let limits = RpcLimits {
        timeout: Duration::from_secs(60),
        tries: 1,
        first_wait: Duration::from_millis(1),
        answer_bytes: 1 << 20,
    };
    let rpc = Rpc::with(&liar.url, limits).unwrap();
    let open = NetworkFollower::open(rpc, world.deployed.network, world.settings());
    let mut follower = world.runtime.block_on(open).unwrap();
    let all = MemberSet::full(STAKES.len());
    let fails = |follower: &mut NetworkFollower, what: &str| {
        let before = (follower.view().block(), follower.view().network(0));
        // Whoever asks again is told the same.
        for _ in 0..2 {
            let error = world.try_poll(follower).expect_err(what);
            println!("{what}: {error}");
            assert!(matches!(error, NetworkFollowError::Contradiction { .. }), "{what}: {error}");
            assert_eq!((follower.view().block(), follower.view().network(0)), before, "{what}");
        }
    };

    // Operators and weights.
    for (what, topic) in [
        ("a key left out", Verifier::KeyAdded::SIGNATURE_HASH),
        ("an owner left out", TaskNetwork::Registered::SIGNATURE_HASH),
        ("a snapshot left out", TaskNetwork::EpochSnapshotted::SIGNATURE_HASH),
        ("a page left out", Verifier::WeightsPaged::SIGNATURE_HASH),
    ] {
        liar.tells(move |question, answer| {
            if question["method"] == "eth_getLogs"
                && let Some(logs) = answer["result"].as_array_mut()
                && let Some(place) = logs.iter().position(|log| log["topics"][0] == json!(topic))
            {
                logs.remove(place);
            }
            true
        });
        fails(&mut follower, what);
    }
    liar.tells(|_, answer| {
        for log in logs(answer, TaskNetwork::Registered::SIGNATURE_HASH).take(1) {
            log["topics"][1] = json!(B256::with_last_byte(1));
        }
        true
    });
    fails(&mut follower, "an owner exchanged");
    liar.tells(|_, answer| {
        for log in logs(answer, Verifier::KeyAdded::SIGNATURE_HASH).take(1) {
            let data = log["data"].as_str().unwrap();
            let last = if data.ends_with("00") { "01" } else { "00" };
            log["data"] = json!(format!("{}{last}", &data[..data.len() - 2]));
        }
        true
    });
    fails(&mut follower, "a key exchanged");
    liar.tells(|question, answer| {
        if is_call(question, Verifier::weightsOfCall::SELECTOR) {
            // Two of equal length: the sum stays.
            let mut weights: Vec<u64> = STAKES.iter().map(|stake| stake / 100).collect();
            weights.swap(0, 1);
            answer["result"] = json!(quorate_evm::alloy_primitives::Bytes::from(
                Verifier::weightsOfCall::abi_encode_returns(&weights)
            ));
        }
        true
    });
    fails(&mut follower, "weights exchanged");
    liar.tells(|question, answer| {
        if is_call(question, TaskNetwork::snapshotOfCall::SELECTOR) {
            let text = answer["result"].as_str().unwrap().to_owned();
            let digit = if &text[200..201] == "1" { "2" } else { "1" };
            answer["result"] = json!(format!("{}{digit}{}", &text[..200], &text[201..]));
        }
        true
    });
    fails(&mut follower, "a snapshot that the contract does not have");

    liar.tells_the_truth();
    assert!(world.poll(&mut follower).iter().any(|change| matches!(change, Change::Snapshot(_))));

    // A settlement.
    let task = world.task(&follower, 1, true);
    world.settle(&follower, &all, &task);
    liar.tells(|_, answer| {
        for log in logs(answer, TaskNetwork::TaskSettled::SIGNATURE_HASH) {
            log["topics"][1] = json!(B256::repeat_byte(9));
        }
        true
    });
    fails(&mut follower, "a task that was not settled");
    liar.tells(|_, answer| {
        for log in logs(answer, TaskNetwork::TaskSettled::SIGNATURE_HASH) {
            log["blockHash"] = json!(B256::repeat_byte(9));
        }
        true
    });
    fails(&mut follower, "logs of another block");
    liar.tells(|question, answer| {
        if question["method"] == "eth_getTransactionByHash" {
            answer["result"] = Value::Null;
        }
        true
    });
    fails(&mut follower, "a transaction left out");

    // A base that is not the verifier's is left out, which costs gas alone.
    liar.tells(|question, answer| {
        if is_call(question, Verifier::commitmentAtCall::SELECTOR) {
            answer["result"] = json!(B256::repeat_byte(9));
        }
        true
    });
    let changes = world.poll(&mut follower);
    assert!(changes.iter().any(|change| matches!(change, Change::Settled { id, .. } if *id == task.id)));
    assert!(follower.view().network(0).unwrap().bases.is_empty());
    liar.tells_the_truth();

    // A node that hangs, or answers without end, is an error. What comes after it is told.
    let next = world.task(&follower, 2, true);
    world.settle(&follower, &all, &next);
    liar.tells(|_, _| false);
    assert!(matches!(world.try_poll(&mut follower), Err(NetworkFollowError::Rpc(_))));
    liar.tells(|_, answer| {
        answer["more"] = json!("x".repeat(2 << 20));
        true
    });
    assert!(matches!(world.try_poll(&mut follower), Err(NetworkFollowError::Rpc(_))));
    // In the middle of a poll.
    let mut left = 3;
    liar.tells(move |_, _| {
        left -= 1;
        left >= 0
    });
    assert!(matches!(world.try_poll(&mut follower), Err(NetworkFollowError::Rpc(_))));
    liar.tells_the_truth();
    let changes = world.poll(&mut follower);
    assert!(changes.iter().any(|change| matches!(change, Change::Settled { id, .. } if *id == next.id)), "{changes:?}");
    assert_eq!(follower.view().network(0).unwrap().bases.len(), 1, "the second quorum was stored");

    // A node that is behind is waited for, and is not a reorganisation.
    let newest = world.node.ask("eth_getBlockByNumber", json!([format!("{:#x}", world.node.block() - 1), false]));
    liar.tells(move |question, answer| {
        if question["method"] == "eth_getBlockByNumber" && question["params"][0] == "latest" {
            answer["result"] = newest.clone();
        }
        true
    });
    assert_eq!(world.poll(&mut follower), []);
    let place = U256::ZERO;
    let held = world.node.read(world.deployed.verifier, &Verifier::commitmentAtCall { place });
    assert_eq!(follower.view().network(0).unwrap().bases[0].commitment(), held);
}

/// A poll that is dropped at any question is as if it had not been.
#[test]
fn a_poll_may_be_dropped() {
    let Some(world) = World::with_operators(KeyGroup::Bls12381G2) else { return };
    world.snapshot();
    let mut whole = world.follower();
    let expected = world.poll(&mut whole);
    let mut follower = world.follower();
    let mut wait = Duration::from_micros(200);
    let told = loop {
        let poll = async { tokio::time::timeout(wait, follower.poll()).await };
        match world.runtime.block_on(poll) {
            Ok(told) => break told.unwrap(),
            Err(_) => wait = wait * 5 / 4,
        }
    };
    assert_eq!(told, expected);
    assert_eq!(follower.view().network(0), whole.view().network(0));
}

/// A node asked for a tip of a thousand gwei, and the account paid it. What both kinds of senders pay is the base fee and their limit.
#[test]
fn a_node_that_asks_for_a_large_tip_gets_no_more_than_the_limit() {
    let Some(world) = World::deploy(&NetworkPlan::default()) else { return };
    let liar = Proxy::start(&world.node.url());
    liar.tells(|question, answer| {
        if question["method"] == "eth_maxPriorityFeePerGas" {
            answer["result"] = json!(U256::from(1_000 * GWEI));
        }
        true
    });
    let payer = || Payer::from_hex(&world.node.key(0)).unwrap();
    let limits = FeeLimits { max_tip_gwei: 2, ..FeeLimits::default() };
    let transfer = TestToken::transferCall { to: world.node.account(1), value: U256::ONE };
    let (by_account, by_submitter) = world.runtime.block_on(async {
        let rpc = Rpc::new(&liar.url).unwrap();
        let account = Account::new(rpc.clone(), payer(), limits).await.unwrap();
        let receipt = account.send("transfer", world.deployed.token, &transfer).await.unwrap().receipt;
        let settings = SubmitSettings { fees: limits, poll: Duration::from_millis(25), ..SubmitSettings::default() };
        let (submitter, mut events) = Submitter::start(rpc, payer(), settings).await.unwrap();
        let calldata = transfer.abi_encode().into();
        let call = Call {
            label: (),
            to: world.deployed.token,
            calldata,
            value: U256::ZERO,
            access_list: Vec::new(),
            gas_limit: None,
        };
        submitter.submit(call).unwrap();
        loop {
            match events.recv().await.unwrap() {
                SubmitEvent::Mined { gas_used, fee_paid, .. } => {
                    break (receipt.effective_gas_price, U256::from(fee_paid / u128::from(gas_used)));
                }
                SubmitEvent::Sent { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    });
    // The base fee of the node's chain is a gwei at most.
    for paid in [by_account, by_submitter] {
        assert!((2 * GWEI..=3 * GWEI).contains(&paid.to::<u64>()), "{paid}");
    }
    // And more than all of it is allowed is not paid at all.
    let dear = FeeLimits { max_fee_gwei: 0, ..limits };
    let refused = world.runtime.block_on(async {
        let account = Account::new(Rpc::new(&liar.url).unwrap(), payer(), dear).await.unwrap();
        account.send("transfer", world.deployed.token, &transfer).await.unwrap_err().to_string()
    });
    assert!(refused.contains("gwei, more than --max-fee 0"), "{refused}");
}

const GWEI: u64 = 1_000_000_000;
