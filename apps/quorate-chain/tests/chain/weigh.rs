//! `weigh`, against a registrar that forgets a weighing.

use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use quorate_evm::{
    KeyGroup, Network,
    alloy_primitives::{Address, B256, Bytes, U64, U256},
    alloy_sol_types::SolCall,
    contract::{Settlement, StakeRegistrar},
};
use quorate_lab::{proxy::Proxy, run::Run as _};
use serde_json::{Value, json};

use crate::program::{Folder, program};

/// A settlement before its first epoch.
fn network() -> Network {
    Network::deployed(KeyGroup::Bn254G1, 1, Address::repeat_byte(3))
}

/// What a call is made with.
fn data(call: &impl SolCall) -> String {
    Bytes::from(call.abi_encode()).to_string()
}

/// The answer of a contract: a word for each number.
fn words(numbers: &[u64]) -> Value {
    let words = numbers.iter().flat_map(|number| U256::from(*number).to_be_bytes::<32>());
    json!(words.collect::<Bytes>())
}

/// The block of each transaction.
const BLOCK: B256 = B256::repeat_byte(9);

/// A node with a block every 12 seconds, whose registrar has so many keys. After each transaction it has forgotten the weighing that was
/// under way before, and begun another. The second value counts the transactions.
fn forgetful(keys: u64) -> (Proxy, Arc<AtomicU64>) {
    registrar(keys, |sent, _| [5_000 * sent, if sent == 0 { 0 } else { 50 }])
}

/// The same with another weighing after so many transactions: when it began, and how many keys it has weighed. The question is of the state
/// after [`BLOCK`], or of that of the newest block, which may be an older one.
fn registrar(keys: u64, weighing: impl Fn(u64, bool) -> [u64; 2] + Send + 'static) -> (Proxy, Arc<AtomicU64>) {
    let sent = Arc::new(AtomicU64::new(0));
    let counted = sent.clone();
    let node = Proxy::alone(move |method, parameters| {
        Ok(match method {
            "eth_getCode" => json!("0x60"),
            "eth_getBlockByNumber" => {
                let number = parameters[0].as_str().unwrap_or_default();
                let number = u64::from_str_radix(number.trim_start_matches("0x"), 16).unwrap_or(100);
                let (hash, time) = (B256::from(U256::from(number)), U64::from(12 * number));
                json!({ "number": U64::from(number), "hash": hash, "parentHash": B256::ZERO, "timestamp": time })
            }
            "eth_call" => {
                let asked = parameters[0]["data"].as_str().unwrap_or_default();
                let weighings = sent.load(Ordering::SeqCst);
                if asked == data(&Settlement::registrarCall {}) {
                    words(&[7])
                } else if asked == data(&StakeRegistrar::runningEpochCall {}) {
                    words(&[0, 0, 0, keys, 0, 0, 0])
                } else if asked == data(&StakeRegistrar::WEIGHING_TIMECall {}) {
                    words(&[3_600])
                } else if asked == data(&StakeRegistrar::lastWeighingCall {}) {
                    let [captured, weighed] = weighing(weighings, parameters[1]["blockHash"] == json!(BLOCK));
                    words(&[captured, 0, keys, weighed, 0])
                } else if asked == data(&StakeRegistrar::weightsCall {}) {
                    return Err("execution reverted: all are weighed".to_owned());
                } else {
                    // No epoch waits.
                    words(&[0])
                }
            }
            "eth_getTransactionCount" => json!("0x7"),
            "eth_sendRawTransaction" => {
                sent.fetch_add(1, Ordering::SeqCst);
                json!(B256::ZERO)
            }
            "eth_getTransactionReceipt" => {
                json!({ "status": "0x1", "gasUsed": "0x5208", "blockNumber": "0x1", "blockHash": BLOCK })
            }
            // The chain's id, the tip, and an estimate.
            _ => json!("0x1"),
        })
    });
    (node, counted)
}

/// `quorate-chain weigh` at this node.
fn weigh(folder: &Folder, node: &Proxy) -> Command {
    let file = folder.write("network.json", serde_json::to_string(&network()).unwrap());
    let mut command = program();
    command.args(["weigh", "--rpc", &node.url, "--network"]).arg(file).env("QUORATE_CHAIN_KEY", "07".repeat(32));
    command
}

/// It would pay for ever, and no epoch would begin.
#[test]
fn a_weighing_that_begins_anew_ends_the_command() {
    let ((node, sent), folder) = (forgetful(200), Folder::new());
    let ended = weigh(&folder, &node).ran().exits(3);
    ended.says("so it was forgotten and began anew, with 50 of 200 keys").says("--step above 50");
    assert_eq!(sent.load(Ordering::SeqCst), 2);
}

/// The file of a settlement that settles often is always behind by the follower's confirmations. `enter` is made of what the chain says.
#[test]
fn a_file_that_is_behind_stops_no_epoch_that_is_due() {
    let ((node, sent), folder) = (forgetful(200), Folder::new());
    let mut command = weigh(&folder, &node);
    let behind = Network { paid: 1, ..network() };
    folder.write("network.json", serde_json::to_string(&behind).unwrap());
    command.ran().exits(3).says("so it was forgotten and began anew");
    assert_eq!(sent.load(Ordering::SeqCst), 2);
}

/// 299 blocks of an hour have room for 16,146 keys.
#[test]
fn a_step_that_is_too_small_for_the_hour_is_refused_before_anything_is_sent() {
    let ((node, sent), folder) = (forgetful(16_384), Folder::new());
    let ended = weigh(&folder, &node).args(["--step", "54"]).ran().exits(3);
    ended.says("it has 16384 keys").says("--step has to be at least 55, and it is 54");
    assert_eq!(sent.load(Ordering::SeqCst), 0);
    weigh(&folder, &node).args(["--step", "55"]).ran().exits(3).says("--step above 55");
    assert_eq!(sent.load(Ordering::SeqCst), 2);
}

/// A node that fails just at this question says nothing about the registrar, and the timer asks again.
#[test]
fn a_node_that_fails_does_not_make_the_registrar_another_contract() {
    for (words, exit) in [("header not found", 3), ("execution timeout", 3), ("execution reverted", 2)] {
        let ((node, sent), folder) = (forgetful(200), Folder::new());
        let front = Proxy::start(&node.url);
        front.tells(move |question, answer| {
            if question["params"][0]["data"] == data(&StakeRegistrar::runningEpochCall {}) {
                let error = json!({ "code": -32000, "message": words });
                *answer = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
            }
            true
        });
        let ended = weigh(&folder, &front).ran().exits(exit).says(words);
        assert_eq!(ended.err.contains("is not a stake registrar"), exit == 2, "{ended:#?}");
        assert_eq!(sent.load(Ordering::SeqCst), 0);
    }
}

/// The newest block of a node that lags is older than that of the transaction: by it, no key is to be weighed.
#[test]
fn a_node_that_is_behind_ends_no_weighing() {
    let weighing = |sent: u64, is_after: bool| if is_after { [5_000, 50 * sent] } else { [0, 200] };
    let ((node, sent), folder) = (registrar(200, weighing), Folder::new());
    weigh(&folder, &node).ran().exits(3).says("all are weighed");
    assert_eq!(sent.load(Ordering::SeqCst), 4);
}

/// Four transactions are enough for 200 keys. Each further one would be paid for nothing.
#[test]
fn a_weighing_that_never_ends_is_not_paid_for_ever() {
    let ((node, sent), folder) = (registrar(200, |_, _| [5_000, 50]), Folder::new());
    weigh(&folder, &node).ran().exits(3).says("7 transactions are more than 200 keys need").says("has weighed 50");
    assert_eq!(sent.load(Ordering::SeqCst), 7);
}

#[test]
fn a_registrar_without_a_weighing_after_the_transaction_begins_no_epoch() {
    let ((node, sent), folder) = (registrar(0, |_, _| [0, 0]), Folder::new());
    weigh(&folder, &node).ran().exits(3).says("has no weighing").says("run it again");
    assert_eq!(sent.load(Ordering::SeqCst), 1);
}
