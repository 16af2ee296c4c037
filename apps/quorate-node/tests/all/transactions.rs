//! `create` against a node without a chain. A transaction is told before it is sent, so that a user finds it whatever happens next, and
//! the exit code says at whom a failure lies.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use quorate_evm::alloy_primitives::{Address, B256};
use quorate_lab::{
    proxy::Proxy,
    run::{Folder, Run as _, Running, Signal, command},
};
use serde_json::{Value, json};

/// The key that pays, in hexadecimal.
const KEY: &str = "0707070707070707070707070707070707070707070707070707070707070707";

/// A node without a chain, on which a unit of gas costs 2 gwei, and how many transactions it was sent. It takes all of them and mines none,
/// if `answer` has nothing else for a method after so many transactions.
fn chain(mut answer: impl FnMut(&str, usize) -> Option<Value> + Send + 'static) -> (Proxy, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let node = Proxy::alone(move |method, _| {
        if method == "eth_sendRawTransaction" {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        if let Some(answer) = answer(method, counted.load(Ordering::SeqCst)) {
            return Ok(answer);
        }
        Ok(match method {
            "eth_getBlockByNumber" => json!({
                "number": "0x1",
                "hash": B256::ZERO,
                "parentHash": B256::ZERO,
                "timestamp": "0x1",
                "baseFeePerGas": "0x77359400"
            }),
            "eth_sendRawTransaction" => json!(B256::ZERO),
            "eth_getTransactionReceipt" => json!(null),
            // The chain's id, the tip in wei, the nonce, and an estimate.
            _ => json!("0x1"),
        })
    });
    (node, sent)
}

/// The receipt of a transaction that created a contract.
fn receipt(contract: Address) -> Value {
    json!({
        "status": "0x1",
        "gasUsed": "0x5208",
        "blockNumber": "0x1",
        "blockHash": B256::ZERO,
        "contractAddress": contract
    })
}

fn create(folder: &Folder, node: &Proxy) -> Command {
    let mut create = command("quorate-node");
    create.args(["create", "--rpc", &node.url, "--key-file", &folder.file("payer", KEY)]);
    create
}

#[test]
fn no_network_is_made_if_gas_costs_more_than_the_limit() {
    let (node, sent) = chain(|_, _| None);
    let folder = Folder::new();
    let ended = create(&folder, &node).env("QUORATE_NODE_MAX_FEE", "1").ran().exits(1);
    ended.says("the token: a unit of gas costs 3 gwei, more than --max-fee 1");
    create(&folder, &node).args(["--max-fee", "2"]).ran().exits(1).says("more than --max-fee 2");
    assert_eq!(sent.load(Ordering::SeqCst), 0);
}

/// Milliseconds, as JavaScript has them. Nothing would ever settle, and the pool's tokens would be gone.
#[test]
fn no_network_is_made_whose_first_epoch_never_begins() {
    let (node, sent) = chain(|_, _| None);
    let ended = create(&Folder::new(), &node).args(["--genesis", "1798761600000"]).ran().exits(2);
    ended.says("the genesis is 1798761600000").says("write seconds of Unix time");
    assert_eq!(sent.load(Ordering::SeqCst), 0);
}

/// A node that fails at the question for the decimals does not make another contract of the token.
#[test]
fn a_node_that_fails_does_not_make_the_token_another_contract() {
    for (words, exit) in [("15/second request limit reached", 3), ("execution reverted", 2)] {
        let (node, sent) = chain(|_, _| None);
        let front = Proxy::start(&node.url);
        front.tells(move |question, answer| {
            if question["method"] == "eth_call" {
                let error = json!({ "code": -32005, "message": words });
                *answer = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
            }
            true
        });
        let token = Address::repeat_byte(7).to_string();
        let ended = create(&Folder::new(), &front).args(["--token", &token]).ran().exits(exit);
        let said = if exit == 3 { words } else { "does not say its decimals; is it a token?" };
        assert!(ended.err.contains(said), "{ended:#?}");
        assert_eq!(sent.load(Ordering::SeqCst), 0);
    }
}

/// The token is made. Of the verifier the node says nothing that can be read: of its sending, or of its receipt.
#[test]
fn what_may_have_been_sent_is_named() {
    let token = Address::repeat_byte(7);
    for misread in ["eth_sendRawTransaction", "eth_getTransactionReceipt"] {
        let (node, sent) = chain(move |method, sent| match (method, sent) {
            (method, 2) if method == misread => Some(json!("nothing")),
            ("eth_getTransactionReceipt", 1) => Some(receipt(token)),
            _ => None,
        });
        let ended = create(&Folder::new(), &node).ran().exits(3);
        let ended = ended.says("the token: sending transaction 0x").says(&format!("the token is at {token}"));
        let hash = ended.err.lines().find_map(|line| line.strip_prefix("the verifier: sending transaction "));
        let expected = format!("error: the verifier: transaction {} may have been sent", hash.unwrap());
        ended.says(&expected);
        assert_eq!(sent.load(Ordering::SeqCst), 2, "{misread}");
    }
}

/// A node refuses in words that are no known ones, so the transaction may be mined all the same, and is waited for for minutes. Why it is
/// waited for is said before.
#[test]
fn an_unknown_refusal_is_said_before_the_transaction_is_waited_for() {
    let words = "internal error: upstream timed out";
    let (node, _) = chain(|method, _| (method == "eth_getTransactionByHash").then_some(Value::Null));
    let front = Proxy::start(&node.url);
    front.tells(move |question, answer| {
        if question["method"] == "eth_sendRawTransaction" {
            let error = json!({ "code": -32603, "message": words });
            *answer = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
        }
        true
    });
    let folder = Folder::new();
    let mut running = Running::start(create(&folder, &front).stdout(Stdio::null()).stderr(Stdio::piped()));
    let mut err = BufReader::new(running.child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains(words) {
        assert_ne!(err.read_line(&mut said).unwrap(), 0, "{said}");
    }
    let hash = said.lines().find_map(|line| line.strip_prefix("the token: sending transaction ")).unwrap();
    assert!(said.contains(&format!("transaction {hash} may be sent all the same")), "{said}");
    running.signal(Signal::INT);
    assert_eq!(running.ended(), 130, "it still waits");
}

#[test]
fn an_interruption_names_what_may_still_be_mined() {
    let (node, _) = chain(|_, _| None);
    let folder = Folder::new();
    let mut running = Running::start(create(&folder, &node).stdout(Stdio::null()).stderr(Stdio::piped()));
    let mut err = BufReader::new(running.child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("sending transaction 0x") {
        assert_ne!(err.read_line(&mut said).unwrap(), 0, "{said}");
    }
    running.signal(Signal::INT);
    err.read_to_string(&mut said).unwrap();
    assert_eq!(running.ended(), 130, "{said}");
    let hash = said.lines().find_map(|line| line.strip_prefix("the token: sending transaction ")).unwrap();
    let expected = format!("interrupted; transaction {hash} may have been sent, and may still be mined");
    assert!(hash.len() == 66 && said.contains(&expected), "{said}");
}

/// The contracts are paid for, so their addresses are told. Then nothing more is sent.
#[cfg(target_os = "linux")]
#[test]
fn a_network_is_named_although_standard_output_is_full() {
    // The nonce is always 1, and the verifier expects the network at the one after it.
    let contract = quorate_chain::Payer::from_hex(KEY).unwrap().address().create(2);
    let (node, sent) = chain(move |method, _| (method == "eth_getTransactionReceipt").then(|| receipt(contract)));
    let folder = Folder::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut create = create(&folder, &node);
    create.args(["--give", &format!("{}=1", Address::repeat_byte(9))]).stdout(full).stderr(Stdio::piped());
    let ended = Running::start(&mut create).ends().exits(3);
    let ended = ended.says("the network is deployed, and nothing more is sent").says("No space left");
    for what in ["the token", "the verifier", "the network"] {
        assert!(ended.err.contains(&format!("{what} is at {contract}")), "{ended:#?}");
    }
    assert_eq!(sent.load(Ordering::SeqCst), 3);
}
