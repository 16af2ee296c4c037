//! `send`: a plan is sent, or refused before it costs anything.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use quorate_evm::{
    KeyGroup, MemberSet, Network, SettlementPlan,
    alloy_primitives::{B256, Bytes},
    gas::{Measured, Storing},
    quorum::Store,
};
use quorate_lab::{
    proxy::Proxy,
    run::{Run as _, Running},
    settlement::LocalSettlement,
};
use serde_json::{Value, json};

use crate::program::{Folder, program};

/// The fields of `quorate evm plan --json` that are read.
fn plan_json(network: &Network, plan: &SettlementPlan, call: &Bytes) -> Value {
    json!({
        "key_group": network.key_group,
        "chain_id": network.chain_id,
        "contract": network.contract.to_string(),
        "state": plan.state().unwrap(),
        "access_list": plan.access_list,
        "gas": { "total": plan.estimate(&Measured::default(), call, Storing::Nowhere).total(), "check": 1 },
        "calldata": call,
    })
}

/// `quorate-chain send` with account 1's key in the environment.
fn send(folder: &Folder, world: &LocalSettlement) -> Command {
    let mut command = program();
    command.args(["send", "--rpc", &world.url(), "--network"]).arg(folder.path("network.json"));
    command.arg("--plan").arg(folder.path("plan.json")).env("QUORATE_CHAIN_KEY", world.node.key(1));
    command
}

#[test]
fn a_plan_is_sent_once_and_refused_afterwards() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 12) else { return };
    world.compact(0, 12);
    world.begin(vec![1; 12], 3, false);
    world.enter();
    let folder = Folder::new();
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    let (plan, call) = world.plan(&MemberSet::full(12), &[B256::repeat_byte(1)], Store::Nowhere);
    let json = plan_json(&world.network, &plan, &call);
    folder.write("plan.json", json.to_string());

    // What is wrong is found before anything is sent.
    let ended = send(&folder, &world).env_remove("QUORATE_CHAIN_KEY").ran().exits(2);
    ended.says("pass --key-file FILE, or set QUORATE_CHAIN_KEY");
    let ended = send(&folder, &world).env("QUORATE_CHAIN_KEY", "5ec7e7").ran().exits(2);
    let ended = ended.says("QUORATE_CHAIN_KEY is not a key");
    assert!(!ended.err.contains("5ec7e7"));
    // The tip alone is 1 gwei.
    send(&folder, &world).args(["--max-fee", "1"]).ran().exits(1).says("more than --max-fee 1");
    send(&folder, &world).env("QUORATE_CHAIN_MAX_FEE", "1").ran().exits(1).says("more than --max-fee 1");
    let changed = |name: &str, value: Value| {
        let mut changed = json.clone();
        changed[name] = value;
        folder.write("plan.json", changed.to_string());
        send(&folder, &world).ran()
    };
    changed("calldata", Value::Null).exits(2).says("no calldata; plan with --signature");
    changed("state", json!(B256::ZERO)).exits(1).says("moved since").says("plan and sign again");
    let gas = json!({ "total": 16_777_217, "check": 1 });
    changed("gas", gas)
        .exits(2)
        .says("plan.json: the transaction takes about 16777217 gas, and one has at most 16777216");
    changed("chain_id", json!(1)).exits(2).says("plan with this network");
    // The last byte of the calldata is a part of the hint.
    let mut wrong = call.to_vec();
    let place = wrong.len() - 100;
    wrong[place] ^= 1;
    changed("calldata", json!(Bytes::from(wrong))).exits(1).says("the contract refuses the call, so it is not sent");

    folder.write("plan.json", json.to_string());
    let block = world.node.block();
    let ended = send(&folder, &world).ran().exits(0);
    assert_eq!(world.node.block(), block + 1);
    for word in ["transaction  0x", "gas used", "planned", "by the node"] {
        assert!(ended.out.contains(word), "{ended:#?}");
    }
    world.settled(&plan);

    // The network file is that of the state before, and the contract moved.
    send(&folder, &world).ran().exits(1).says("the contract's state moved").says("follow, plan and sign again");
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    send(&folder, &world).ran().exits(1).says("network.json moved since");
    assert_eq!(folder.network().unwrap(), world.network);
    assert_eq!(world.node.block(), block + 1);
}

/// The node takes the transaction, what it answers cannot be read, and then it knows nothing of it. The hash is known all the same, and what
/// cannot be told is not sent.
#[test]
fn a_plan_that_may_have_been_sent_is_named_by_its_transaction() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    world.begin(vec![1; 4], 3, false);
    world.enter();
    let folder = Folder::new();
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    let (plan, call) = world.plan(&MemberSet::full(4), &[B256::repeat_byte(1)], Store::Slot(0));
    folder.write("plan.json", plan_json(&world.network, &plan, &call).to_string());
    let node = Proxy::start(&world.url());
    let mut nonce = None;
    node.tells(move |question, answer| {
        match question["method"].as_str() {
            Some("eth_sendRawTransaction") => answer["result"] = json!("nothing"),
            Some("eth_getTransactionReceipt" | "eth_getTransactionByHash") => answer["result"] = Value::Null,
            Some("eth_getTransactionCount") => {
                let told = answer["result"].clone();
                answer["result"] = nonce.get_or_insert(told).clone();
            }
            _ => {}
        }
        true
    });
    let key = world.node.key(1);
    let send = || {
        let mut command = program();
        command.args(["send", "--wait", "1", "--rpc", &node.url, "--plan"]).arg(folder.path("plan.json"));
        command.env("QUORATE_CHAIN_NETWORK", folder.path("network.json"));
        command.env("QUORATE_CHAIN_KEY", &key);
        command
    };
    #[cfg(target_os = "linux")]
    {
        let (block, full) = (world.node.block(), std::fs::File::options().write(true).open("/dev/full").unwrap());
        let mut command = send();
        command.stdout(full).stderr(std::process::Stdio::piped());
        let ended = quorate_lab::run::Running::start(&mut command).ends().exits(3);
        let ended = ended.says("the transaction's hash cannot be written, so it is not sent: No space left");
        assert!(!ended.err.contains("may have been sent"), "{ended:#?}");
        assert_eq!(world.node.block(), block);
    }
    let ended = send().ran().exits(3).says("error: transaction 0x").says(" may have been sent, and may be mined: ");
    let hash = ended.out.lines().find_map(|line| line.strip_prefix("transaction  ")).unwrap();
    assert!(ended.err.contains(hash) && ended.err.contains("look for it by its hash"), "{ended:#?}");
    world.node.mine(1);
    world.settled(&plan);
    send().ran().exits(1).says("the contract's state moved");
}

/// A gateway hands the transaction on, and answers with an error of its own. It is found, and nobody sends it again.
#[test]
fn an_unknown_error_of_the_node_may_have_sent_the_transaction() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    world.begin(vec![1; 4], 3, false);
    world.enter();
    let folder = Folder::new();
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    let (plan, call) = world.plan(&MemberSet::full(4), &[B256::repeat_byte(1)], Store::Slot(0));
    folder.write("plan.json", plan_json(&world.network, &plan, &call).to_string());
    let node = Proxy::start(&world.url());
    node.tells(|question, answer| {
        if question["method"] == "eth_sendRawTransaction" {
            let error = json!({ "code": -32603, "message": "internal error: upstream timed out" });
            *answer = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
        }
        true
    });
    let mut command = program();
    command.args(["send", "--rpc", &node.url, "--network"]).arg(folder.path("network.json"));
    command.arg("--plan").arg(folder.path("plan.json")).env("QUORATE_CHAIN_KEY", world.node.key(1));
    let ended = command.ran().exits(0).says("internal error: upstream timed out").says("may be sent all the same");
    assert!(ended.out.contains("gas used"), "{ended:#?}");
    world.settled(&plan);
}

/// Whoever reads no further still has to know that the transaction counts, and standard error is open.
#[test]
fn send_names_the_transaction_when_the_pipe_closes_after_it() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    world.begin(vec![1; 4], 3, false);
    world.enter();
    let folder = Folder::new();
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    let (plan, call) = world.plan(&MemberSet::full(4), &[B256::repeat_byte(1)], Store::Slot(0));
    folder.write("plan.json", plan_json(&world.network, &plan, &call).to_string());
    let (node, gone) = (Proxy::start(&world.url()), Arc::new(AtomicBool::new(false)));
    let seen = Arc::clone(&gone);
    node.tells(move |question, answer| {
        if question["method"] == "eth_getTransactionReceipt" && !seen.load(Ordering::SeqCst) {
            answer["result"] = Value::Null;
        }
        true
    });
    let mut command = program();
    command.args(["send", "--rpc", &node.url, "--network"]).arg(folder.path("network.json"));
    command.arg("--plan").arg(folder.path("plan.json")).env("QUORATE_CHAIN_KEY", world.node.key(1));
    let mut running = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut first = String::new();
    BufReader::new(running.child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    gone.store(true, Ordering::SeqCst);
    let hash = first.trim().strip_prefix("transaction  ").unwrap();
    running.ends().exits(3).says(&format!("error: transaction {hash} is in block "));
    world.settled(&plan);
}

/// It would run out of gas, and be paid.
#[test]
fn an_estimate_above_the_most_is_not_sent() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    world.begin(vec![1; 4], 3, false);
    world.enter();
    let folder = Folder::new();
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    let (plan, call) = world.plan(&MemberSet::full(4), &[B256::repeat_byte(1)], Store::Slot(0));
    folder.write("plan.json", plan_json(&world.network, &plan, &call).to_string());
    let node = Proxy::start(&world.url());
    node.tells(|question, answer| {
        if question["method"] == "eth_estimateGas" {
            answer["result"] = json!("0x1000001");
        }
        true
    });
    let block = world.node.block();
    let mut command = program();
    command.args(["send", "--rpc", &node.url, "--network"]).arg(folder.path("network.json"));
    command.arg("--plan").arg(folder.path("plan.json")).env("QUORATE_CHAIN_KEY", world.node.key(1));
    let ended = command.ran().exits(1).says("the call needs 16777217 gas, and a transaction has at most 16777216");
    assert!(!ended.out.contains("transaction  0x"), "{ended:#?}");
    assert_eq!(world.node.block(), block);
}

/// The example of the Web3 Secret Storage Definition, with PBKDF2.
const KEYSTORE: &str = r#"{
  "crypto": {
    "cipher": "aes-128-ctr",
    "cipherparams": { "iv": "6087dab2f9fdbbfaddc31a909735c1e6" },
    "ciphertext": "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
    "kdf": "pbkdf2",
    "kdfparams": {
      "c": 262144,
      "dklen": 32,
      "prf": "hmac-sha256",
      "salt": "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd"
    },
    "mac": "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2"
  },
  "id": "3198bc9c-6672-5ab3-d995-4942343ae5b6",
  "version": 3
}"#;

#[test]
fn the_key_comes_from_a_keystore() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    world.begin(vec![1; 4], 3, false);
    world.enter();
    let folder = Folder::new();
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    let (plan, call) = world.plan(&MemberSet::full(4), &[B256::repeat_byte(1)], Store::Slot(0));
    folder.write("plan.json", plan_json(&world.network, &plan, &call).to_string());
    // As editors on Windows write both files.
    let keystore = folder.write("payer.json", format!("\u{feff}{KEYSTORE}"));
    let unlock = |passphrase: &str| {
        let file = folder.write("passphrase", format!("\u{feff}{passphrase}\r\n"));
        let mut command = send(&folder, &world);
        command.arg("--key-file").arg(&keystore).arg("--passphrase-file").arg(file);
        // No proxy is asked, whatever the environment says: nobody listens there.
        command.env_remove("QUORATE_CHAIN_KEY").env("http_proxy", "http://127.0.0.1:9").ran()
    };
    unlock("another").exits(2).says("or the passphrase is wrong");
    // An account without money: the node refuses.
    let poor = unlock("testpassword").exits(3).says("the node at localhost").says("Insufficient funds");
    poor.says("the payer 0x").says(" has 0 ETH");
    world.node.ask("anvil_setBalance", json!(["0x008aeeda4d805471df9b2a5b0f38a0c3bcba786b", "0xde0b6b3a7640000"]));
    unlock("testpassword").exits(0);
    world.settled(&plan);
}
