//! `send --transactions`: what is sent, and what is refused before it costs anything.

use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

use quorate_evm::{
    KeyGroup, MemberSet, NextEpoch, Sender, Transaction, Upkeep,
    alloy_primitives::{Address, B256, Bytes, U64},
    alloy_sol_types::SolEvent as _,
    base::PART,
    contract::Hub,
    quorum::Store,
};

use crate::program::{Folder, program};
use quorate_lab::{
    proxy::{Proxy, ProxyReply},
    run::{Ran, Run as _, Running, Signal},
    settlement::{LocalSettlement, creation},
};
use serde_json::json;

/// A settlement with keys and no epoch, and a folder whose network is followed.
fn world(operators: u8) -> Option<(LocalSettlement, Folder)> {
    let world = LocalSettlement::deploy(KeyGroup::Bn254G2, operators)?;
    let folder = Folder::new();
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    Some((world, folder))
}

/// `send` of these transactions, paid by an account.
fn send(folder: &Folder, world: &LocalSettlement, account: usize, all: &[Transaction]) -> Command {
    let lines: Vec<_> = all.iter().map(|one| serde_json::to_string(one).unwrap()).collect();
    let file = folder.write("transactions.jsonl", lines.join("\n\n"));
    let mut command = program();
    command.args(["send", "--rpc", &world.url(), "--transactions"]).arg(file);
    command.env("QUORATE_CHAIN_KEY", world.node.key(account));
    command
}

fn first_epoch(world: &LocalSettlement, weights: Vec<u64>, required: u128) -> Vec<Transaction> {
    let next = NextEpoch { weights, required, renew: false };
    next.calls(&world.network).unwrap().transactions(&world.network)
}

#[test]
fn an_epoch_is_begun_and_entered_and_the_file_is_not_sent_twice() {
    let Some((mut world, folder)) = world(4) else { return };
    let all = first_epoch(&world, vec![10, 20, 30, 40], 60);
    // Account 1 is not the registrar. Nothing is sent, although anyone may enter.
    let block = world.node.block();
    let ended = send(&folder, &world, 1, &all).ran().exits(2);
    ended
        .says("line 1: forget what was prepared before")
        .says("the settlement's registrar, has to send this")
        .says(&world.node.account(1).to_string());
    assert_eq!(world.node.block(), block);

    let ended = send(&folder, &world, 0, &all).ran().exits(0);
    // Blank lines are counted, so that the number is that of an editor.
    for words in ["line 1       forget", "line 3       begin epoch 1", "line 5       enter epoch 1", "gas used"] {
        assert!(ended.out.contains(words), "{ended:#?}");
    }
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    let network = folder.network().unwrap();
    assert_eq!((network.epoch, &network.weights[..], network.enough), (1, &[10, 20, 30, 40][..], 3));

    // The contract would begin another epoch with the same weights, and `enter` would fail: nothing would settle.
    let block = world.node.block();
    let ended = send(&folder, &world, 0, &all).ran().exits(1);
    ended.says("no line was sent").says("the settlement's last epoch is 1").says("was begun already");
    assert_eq!(world.node.block(), block);
    world.network = network;
}

/// A result that settles between `begin` and its plan makes `enter` out of date. The follower prints the right one.
#[test]
fn enter_that_is_out_of_date_is_made_anew() {
    let Some((mut world, folder)) = world(4) else { return };
    world.begin(vec![1; 4], 3, false);
    world.enter();
    let all = first_epoch(&world, vec![1; 4], 2);
    world.settle(&MemberSet::full(4), &[B256::repeat_byte(1)], Store::Slot(0));
    let ended = send(&folder, &world, 0, &all).ran().exits(1);
    ended.says("line 5 (the lines before it were sent)").says("NotThisState: The head and the newest commitment");
    folder.once(&world.url(), world.contract(), &[]).exits(1).says("quorate evm call enter");
    let (head, newest) = (world.network.head().encode().unwrap(), world.network.newest());
    let enter = Upkeep::EnterFrom { head, newest }.transaction(&world.network).unwrap();
    send(&folder, &world, 1, &[enter]).ran().exits(0);
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    assert_eq!(folder.network().unwrap().epoch, 2);
}

/// What was prepared before an interruption does not count twice.
#[test]
fn prepared_weights_are_sent_again_from_the_start() {
    let Some((world, folder)) = world(4) else { return };
    let mut sequence = first_epoch(&world, vec![1; 4], 3);
    // As if the weights were too many for one call.
    let (about, calldata) = ("prepare".to_owned(), world.prepare_call(1, &[1; PART]));
    sequence.insert(1, Transaction { about, calldata, ..sequence[0].clone() });
    send(&folder, &world, 0, &sequence[..2]).ran().exits(0);
    send(&folder, &world, 0, &sequence[..3]).ran().exits(0);
    let members = quorate_evm::Head::decode(world.terms()).members;
    assert_eq!(members, 2_048 + 4, "what was prepared first is forgotten");
}

/// What was prepared earlier may be lost, or would stand twice, and the contract does not say.
#[test]
fn an_epoch_is_sent_from_its_first_line() {
    let Some((world, folder)) = world(4) else { return };
    let mut sequence = first_epoch(&world, vec![1; 4], 3);
    let (about, calldata) = ("prepare".to_owned(), world.prepare_call(1, &[1; PART]));
    sequence.insert(1, Transaction { about, calldata, ..sequence[0].clone() });
    let block = world.node.block();
    // Every second line is blank: 3 prepares, and 5 begins.
    for from in ["2", "3", "5"] {
        let ended = send(&folder, &world, 0, &sequence).args(["--from-line", from]).ran().exits(2);
        ended.says("an epoch is sent from its first line on").says("pass --from-line 1");
    }
    let cut = send(&folder, &world, 0, &sequence[1..]).ran().exits(2);
    cut.says("line 1: an epoch is sent from its first line on").says("make the file anew");
    assert_eq!(world.node.block(), block);
    // Somebody else prepares an epoch, too.
    let other = Transaction { after_epoch: None, ..sequence[1].clone() };
    sequence.insert(1, other);
    let ended = send(&folder, &world, 0, &sequence).ran().exits(1);
    let ended = ended
        .says("line 5 (to go on, send the file from line 1)")
        .says("had 2048 weights of the next epoch")
        .says("prepared 0");
    assert!(!ended.out.contains("begin epoch 1"), "{ended:#?}");
    // `enter` is no part of it.
    sequence.remove(1);
    send(&folder, &world, 0, &sequence[..3]).ran().exits(0);
    send(&folder, &world, 0, &sequence).args(["--from-line", "7"]).ran().exits(0);
}

/// What was prepared for an epoch that was given up does not stand before the few weights of another one.
#[test]
fn prepared_weights_of_an_epoch_that_was_given_up() {
    let Some((world, folder)) = world(4) else { return };
    world.prepare(1, &[1; PART]);
    send(&folder, &world, 0, &first_epoch(&world, vec![1; 4], 3)).ran().exits(0);
    assert_eq!(quorate_evm::Head::decode(world.terms()).members, 4);
    // The follower knows it, too.
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    assert_eq!(folder.network().unwrap().weights, [1; 4]);
}

#[test]
fn what_is_wrong_with_the_last_line_is_known_before_the_first_is_sent() {
    let Some((world, folder)) = world(4) else { return };
    let all = first_epoch(&world, vec![1; 4], 3);
    let block = world.node.block();
    let wrong = |change: fn(&mut Transaction)| -> Ran {
        let mut all = all.clone();
        change(all.last_mut().unwrap());
        send(&folder, &world, 0, &all).ran()
    };
    wrong(|last| last.chain_id = 1).exits(2).says("line 5").says("the transaction for chain 1").says("check --rpc");
    wrong(|last| last.to = Address::repeat_byte(7)).exits(2).says("line 5").says("there is no contract at 0x0707");
    let account = |last: &mut Transaction| last.sender = Sender::Account(Address::repeat_byte(9));
    wrong(account).exits(2).says("line 5: enter epoch 1").says("the owner of the key, has to send this");
    let text = folder.write("transactions.jsonl", "{}\n");
    let of = |path: &PathBuf| {
        let mut command = program();
        command.args(["send", "--rpc", &world.url(), "--transactions"]).arg(path);
        command.env("QUORATE_CHAIN_KEY", world.node.key(0)).ran()
    };
    of(&text).exits(2).says("line 1: this is not a transaction").says("missing field");
    of(&folder.write("transactions.jsonl", "\n")).exits(2).says("nothing to send is not success");
    let late = send(&folder, &world, 0, &all).args(["--from-line", "6"]).ran().exits(2);
    late.says("no transaction from line 6 on");
    assert_eq!(world.node.block(), block);
}

/// A key that is registered already: the contract's error in words, and the line from which to go on.
#[test]
fn registrations_go_on_behind_the_ones_that_were_sent() {
    let Some((mut world, folder)) = world(1) else { return };
    let registrations: Vec<_> = (7..=9).map(|seed| world.registration(seed)).collect();
    send(&folder, &world, 0, &registrations[..1]).ran().exits(0);
    let ended = send(&folder, &world, 0, &registrations).ran().exits(1);
    ended.says("line 1 (no line was sent)").says("KeyTaken (key = …): The key has an index already");
    let ended = send(&folder, &world, 0, &registrations).args(["--from-line", "3"]).ran().exits(0);
    assert!(!ended.out.contains("line 1 ") && ended.out.contains("line 5 "), "{ended:#?}");
    // The file names the settlement.
    let mut follow = program();
    follow.args(["follow", "--once", "--confirmations", "0", "--rpc", &world.url(), "--network"]);
    follow.arg(folder.path("network.json")).ran().exits(0);
    assert_eq!(folder.network().unwrap().keys.len(), 4);
    let mut nowhere = program();
    nowhere.args(["follow", "--once", "--rpc", &world.url(), "--network"]).arg(folder.path("other.json"));
    nowhere.ran().exits(2).says("--contract has to name the settlement");
}

/// A call that the EVM stops is the fault of what was called, not of the chain's node: it is not sent, and the error says what to do. Nor
/// is such a contract followed.
#[test]
fn a_call_that_the_evm_stops() {
    let Some((world, folder)) = world(4) else { return };
    for (code, words) in [
        // INVALID
        (&[0xfe][..], "an instruction that the chain does not know"),
        // JUMPDEST PUSH0 JUMP: it runs until no gas is left.
        (&[0x5b, 0x5f, 0x56], "the call needs more gas than it was given"),
        // POP, of nothing
        (&[0x50], "does what the EVM forbids"),
        // PUSH0 JUMP, to what is not a JUMPDEST
        (&[0x5f, 0x56], "does what the EVM forbids"),
    ] {
        let to = world.node.create(creation(code));
        let call = without_calldata(world.network.chain_id, to);
        let block = world.node.block();
        let ended = send(&folder, &world, 0, &[call]).ran().exits(1);
        ended.says("the call fails, so it is not sent").says(words).says("Check the contract's address");
        assert_eq!(world.node.block(), block);
        let ended = Folder::new().once(&world.url(), to, &[]).exits(2);
        ended.says("does not answer as a settlement does").says("check --contract").says(words);
    }
}

#[cfg(unix)]
#[test]
fn a_raw_key_in_a_file_and_its_mode() {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    let Some((world, folder)) = world(4) else { return };
    let all = first_epoch(&world, vec![1; 4], 3);
    let key = folder.write("payer.key", format!("0x{}\n", world.node.key(0)));
    let sent = |mode: u32, more: &[&str]| {
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        send(&folder, &world, 0, &all).env_remove("QUORATE_CHAIN_KEY").arg("--key-file").arg(&key).args(more).ran()
    };
    let file = folder.write("passphrase", "none");
    let ended = sent(0o600, &["--passphrase-file", file.to_str().unwrap()]).exits(2);
    let ended = ended.says("holds a key that is not encrypted");
    assert!(!ended.err.contains("has mode"), "{ended:#?}");
    let ended = sent(0o640, &[]).exits(0);
    let ended = ended.says("payer.key has mode 0640: others than its owner can use it; chmod 600");
    assert!(!ended.err.contains(&world.node.key(0)) && !ended.out.contains(&world.node.key(0)));

    for (text, words) in [
        ("", "expected an Ethereum keystore"),
        ("12", "expected an Ethereum keystore"),
        (&"0".repeat(64), "not a key of secp256k1"),
    ] {
        folder.write("payer.key", text);
        sent(0o600, &[]).exits(2).says(words);
    }
}

/// A node on which so many transactions of the account wait. It takes a transaction, and no block has it, or one with this status.
fn taking(waiting: u64, status: Option<u64>) -> Proxy {
    Proxy::alone(move |method, parameters| {
        let block = || json!({ "number": "0x1", "hash": B256::ZERO, "parentHash": B256::ZERO, "timestamp": "0x1" });
        let receipt = |status| json!({ "status": U64::from(status), "gasUsed": "0x5208", "blockNumber": "0x1", "blockHash": B256::ZERO });
        Ok(match method {
            "eth_getCode" => json!("0x60"),
            "eth_getBlockByNumber" => block(),
            "eth_getTransactionCount" => json!(U64::from(if parameters[1] == "latest" { 7 } else { 7 + waiting })),
            "eth_sendRawTransaction" => json!(B256::ZERO),
            "eth_getTransactionReceipt" => status.map_or(json!(null), receipt),
            // The chain's id, the tip, and an estimate.
            _ => json!("0x1"),
        })
    })
}

fn without_calldata(chain_id: u64, to: Address) -> Transaction {
    let (about, access_list, calldata) = ("call it".to_owned(), Vec::new(), Bytes::new());
    Transaction { about, chain_id, to, sender: Sender::Anyone, after_epoch: None, access_list, calldata }
}

/// A hub that skips a settlement does not revert. Whoever sent the call is told, and the lines behind it are not sent.
#[test]
fn a_settlement_that_a_hub_skips_is_named() {
    let Some((world, folder)) = world(1) else { return };
    let settlement = Address::repeat_byte(9);
    // MSTORE(0, 32), and LOG3(0, 64, topic, 1, settlement): the reason has no bytes.
    let mstore = [0x60, 0x20, 0x5f, 0x52];
    let topics =
        [&[0x73][..], settlement.as_slice(), &[0x60, 1, 0x7f], Hub::Skipped::SIGNATURE_HASH.as_slice()].concat();
    let log = [&mstore[..], &topics, &[0x60, 0x40, 0x5f, 0xa3, 0x00]].concat();
    let to = world.node.create(creation(&log));
    let call = without_calldata(world.network.chain_id, to);
    let block = world.node.block();
    let ended = send(&folder, &world, 0, &[call.clone(), call]).ran().exits(1);
    ended
        .says("line 1: transaction 0x")
        .says("the hub skipped 1 of its quorums")
        .says("quorum 1 (from 0 on)")
        .says(&settlement.to_string());
    assert_eq!(world.node.block(), block + 1);
}

/// `send` of one transaction, for whose receipt nobody waits.
fn send_one(folder: &Folder, node: &Proxy) -> Command {
    let call = without_calldata(1, Address::repeat_byte(1));
    let file = folder.write("transactions.jsonl", serde_json::to_string(&call).unwrap());
    let mut command = program();
    command.args(["send", "--wait", "0", "--rpc", &node.url, "--transactions"]).arg(file);
    command.env("QUORATE_CHAIN_KEY", "07".repeat(32));
    command
}

fn sent_to(waiting: u64, status: Option<u64>) -> Ran {
    send_one(&Folder::new(), &taking(waiting, status)).ran()
}

/// The node does not answer, and may have the transaction. A service manager ends a timer's run by the second signal.
#[test]
fn send_that_is_terminated_names_its_transaction() {
    let node = Proxy::start(&taking(0, None).url);
    node.follows(|question, node| match question["method"].as_str() {
        Some("eth_sendRawTransaction") => Ok(ProxyReply::Hang),
        _ => node.answer(question).map(ProxyReply::Answer),
    });
    for signal in [Signal::INT, Signal::TERM] {
        let folder = Folder::new();
        let mut command = send_one(&folder, &node);
        let mut running = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let mut out = BufReader::new(running.child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains("transaction  0x") {
            assert_ne!(out.read_line(&mut said).unwrap(), 0, "{said}");
        }
        running.signal(signal);
        let ended = running.ends().exits(130);
        let hash = said.lines().find_map(|line| line.strip_prefix("transaction  ")).unwrap();
        ended.says(&format!("interrupted; transaction {hash} may have been sent, and may still be mined"));
    }
}

/// What waits may be the same, from a run that was given up.
#[test]
fn what_waits_is_not_sent_again() {
    sent_to(1, None).exits(1).says("line 1 (no line was sent)").says("wait to be mined (1)");
}

#[test]
fn a_line_that_was_sent_is_named_by_its_transaction() {
    for (status, exit, reason) in
        [(None, 3, " is in no block after 0 s"), (Some(0), 1, " was mined in block 1 and reverted")]
    {
        sent_to(0, status).exits(exit).says("transactions.jsonl, line 1: transaction 0x").says(reason);
    }
    sent_to(0, Some(1)).exits(0);
}
