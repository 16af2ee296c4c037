//! What cannot be followed, and what the program says to it.

use std::{
    fs::{self, File},
    path::Path,
    time::Instant,
};

use quorate_evm::{
    KeyGroup, MemberSet, Network,
    alloy_primitives::{Address, B256, Bytes, U256},
    alloy_sol_types::{SolConstructor as _, SolEvent as _},
    contract::Settlement,
    quorum::Store,
};

use crate::program::{Folder, program};
use quorate_lab::{
    anvil::TestNode,
    proxy::Proxy,
    run::Run as _,
    settlement::{LocalSettlement, emitter, forwarder},
};
use serde_json::{Value, json};

#[test]
fn a_node_that_is_not_there() {
    let (folder, begun) = (Folder::new(), Instant::now());
    let ended = folder.once("http://user:secret@127.0.0.1:1/key", Address::ZERO, &[]).exits(3);
    let ended = ended.says("the node at 127.0.0.1:1 does not answer eth_chainId").says("check --rpc");
    assert!(!ended.err.contains("secret") && !ended.err.contains("/key"), "{ended:?}");
    assert!(begun.elapsed().as_secs() < 60 && !folder.has_cursor());

    for (url, words) in [("ws://localhost", "expected http or https"), ("localhost", "--rpc")] {
        folder.once(url, Address::ZERO, &[]).exits(2).says(words);
    }
}

/// So files of services and of containers unset one.
#[test]
fn a_variable_that_is_set_to_nothing_is_not_set() {
    let follow = || {
        let mut follow = program();
        follow.args(["follow", "--once", "--contract", &Address::ZERO.to_string(), "--from-block", "7"]);
        follow
    };
    follow().env("QUORATE_CHAIN_RPC", "").ran().exits(2).says("required").says("--rpc <URL>");
    let ended = follow().args(["--rpc", "localhost"]).env("QUORATE_CHAIN_METRICS", "").ran().exits(2).says("--rpc");
    assert!(!ended.err.contains("QUORATE_CHAIN_METRICS"), "{ended:?}");
}

#[test]
fn a_wrong_address_and_files_of_others() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    world.begin(vec![1; 4], 3, false);
    world.enter();
    let folder = Folder::new();
    let (url, late) = (world.url(), world.node.block().to_string());
    // Also a node that reads its chain anew has no contract at the address, so whoever starts the program has to try again.
    let nowhere = Address::repeat_byte(1);
    let mut watch = program();
    watch
        .args(["watch", "--rpc", &url, "--contract", &nowhere.to_string(), "--cursor"])
        .arg(folder.path("watch.cursor"));
    for ended in [folder.once(&url, nowhere, &[]), watch.ran()] {
        let ended = ended.exits(3).says("there is no contract at 0x0101");
        ended.says("check --contract").says("wait if the node has not read the whole chain yet");
    }
    let other = world.node.create(forwarder(Address::repeat_byte(2)));
    folder.once(&url, other, &[]).exits(2).says("does not answer as a settlement does").says("check --contract");

    // Too late a start: the keys before it are missing.
    let ended = folder.once(&url, world.contract(), &["--from-block", &late]).exits(1);
    ended.says("epoch 1 was entered, but it was not begun").says("from the block of the deployment");
    let ended = folder.once(&url, world.contract(), &["--from-block", "3"]).exits(1);
    ended.says("logs are missing: key");
    let ended = folder.once(&url, world.contract(), &["--from-block", "900"]).exits(1);
    ended.says("block 900 has not so many --confirmations");
    assert!(folder.network().is_none() && !folder.has_cursor());

    // The files of another settlement are not overwritten.
    folder.once(&url, world.contract(), &[]).exits(0);
    let Some(second) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    let ended = folder.once(&second.url(), second.node.create(forwarder(Address::ZERO)), &[]).exits(2);
    ended.says("choose another --network file");
    fs::remove_file(folder.path("network.json")).unwrap();
    folder.write("network.json", "{}");
    folder.once(&url, world.contract(), &[]).exits(2).says("is not a network").says("not overwritten");
    fs::remove_file(folder.path("network.json")).unwrap();
    folder.write("network.json.cursor", "{}");
    folder.once(&url, world.contract(), &[]).exits(2).says("this is not a cursor; delete it");
}

/// Far likelier than a settlement with the same address is the wrong node. Whoever deploys the same way on several chains has settlements
/// with one address. Without a cursor the file alone tells the chain.
#[test]
fn a_node_of_another_chain_names_rpc() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    world.begin(vec![1; 4], 3, false);
    world.enter();
    let folder = Folder::new();
    let chain_id = world.network.chain_id;
    let other = Network { chain_id: chain_id + 1, ..world.network.clone() };
    folder.write("network.json", serde_json::to_vec(&other).unwrap());
    let ended = folder.once(&world.url(), world.contract(), &[]).exits(2);
    ended
        .says(&format!("the node is of chain {chain_id}, and "))
        .says(&format!("on chain {}; check --rpc", chain_id + 1))
        .says("this one is not overwritten");
    assert_eq!(folder.network(), Some(other));
    assert!(!folder.has_cursor());
}

/// A cursor whose state is not that of the contract leads to no file, and is taken away.
#[test]
fn a_state_that_does_not_match_is_never_written() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    world.begin(vec![1; 4], 3, false);
    world.enter();
    let folder = Folder::new();
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    let written = folder.network();
    let cursor = fs::read_to_string(folder.path("network.json.cursor")).unwrap();
    // The same head with another newest base.
    let zero = format!("\"newest\":\"{}\"", B256::ZERO);
    assert!(cursor.contains(&zero));
    folder.write("network.json.cursor", cursor.replace(&zero, &format!("\"newest\":\"{}\"", B256::repeat_byte(1))));
    world.node.mine(1);
    let ended = folder.once(&world.url(), world.contract(), &[]).exits(1);
    ended.says("nothing is written").says("the number of results (0 in the logs)");
    assert!(!folder.has_cursor() && folder.network() == written);
    // The run after it begins anew, and is right.
    world.settle(&MemberSet::full(4), &[B256::ZERO], Store::Slot(0));
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    assert_eq!(folder.network().unwrap(), world.network);
}

/// A settlement that was followed, and in whose cursor somebody has changed the keys.
fn with_cursor(change: impl FnOnce(&mut Value)) -> Option<(LocalSettlement, Folder)> {
    let mut world = LocalSettlement::deploy(KeyGroup::Bn254G2, 4)?;
    world.begin(vec![1; 4], 3, false);
    world.enter();
    let folder = Folder::new();
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    let path = folder.path("network.json.cursor");
    let mut cursor: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut cursor["follower"]["tables"]["0"]["keys"]);
    fs::write(&path, cursor.to_string()).unwrap();
    Some((world, folder))
}

/// A cursor whose keys are not those of the logs is taken away as well, or every run after it would fail as this one.
#[test]
fn a_cursor_that_the_logs_contradict_is_not_kept() {
    let pop = |keys: &mut Value| drop(keys.as_array_mut().unwrap().pop());
    let Some((mut world, folder)) = with_cursor(pop) else { return };
    world.register(9);
    let ended = folder.once(&world.url(), world.contract(), &[]).exits(1);
    ended.says("logs are missing: key 4 follows, expected 3");
    assert!(!folder.has_cursor());
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    assert_eq!(folder.network().unwrap(), world.network);
}

/// Whoever adds its keys up cuts each at fixed places.
#[test]
fn a_cursor_with_a_torn_key_is_refused() {
    let Some((mut world, folder)) = with_cursor(|keys| keys[1] = json!("0x00")) else { return };
    world.settle(&MemberSet::full(4), &[B256::ZERO], Store::Slot(0));
    let ended = folder.once(&world.url(), world.contract(), &[]).exits(2);
    ended.says("this is not a cursor: keys[1]: 1 bytes, expected 128; delete it");
}

/// Long postings may have made it so. A watcher that does not start again for that would watch nothing.
#[test]
fn a_cursor_that_is_too_long_is_taken_for_none() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    world.begin(vec![1; 4], 3, false);
    world.enter();
    let folder = Folder::new();
    let long = File::create(folder.path("network.json.cursor")).unwrap();
    long.set_len((64 << 20) + 1).unwrap();
    let ended = folder.once(&world.url(), world.contract(), &[]).exits(0);
    ended.says("network.json.cursor has more than 67108864 bytes, the limit: the logs are read anew");
    assert_eq!(folder.network().unwrap(), world.network);
    assert!(folder.path("network.json.cursor").metadata().unwrap().len() < 64 << 20);
}

/// A node that does not tell the contract's state costs nothing that was read before.
#[test]
fn a_node_without_the_state_leaves_the_cursor() {
    let Some(world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    let (folder, proxy) = (Folder::new(), Proxy::start(&world.url()));
    folder.once(&proxy.url, world.contract(), &[]).exits(0);
    let cursor = fs::read(folder.path("network.json.cursor")).unwrap();
    proxy.tells(|question, answer| {
        if question["method"] == "eth_call" && question["params"][1].is_object() {
            let error = json!({ "code": -32000, "message": "missing trie node" });
            *answer = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
        }
        true
    });
    world.node.mine(1);
    folder.once(&proxy.url, world.contract(), &[]).exits(3).says("missing trie node");
    assert_eq!(fs::read(folder.path("network.json.cursor")).unwrap(), cursor);
}

/// Weights that the contract does not have are not believed, even if the state matches.
#[test]
fn weights_that_the_contract_does_not_have_are_left_out() {
    let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
    world.begin(vec![1, 1, 1, 2], 3, false);
    world.enter();
    let folder = Folder::new();
    folder.once(&world.url(), world.contract(), &[]).exits(0);
    let cursor = fs::read_to_string(folder.path("network.json.cursor")).unwrap();
    assert!(cursor.contains("[1,1,1,2]"));
    folder.write("network.json.cursor", cursor.replace("[1,1,1,2]", "[2,1,1,1]"));
    fs::remove_file(folder.path("network.json")).unwrap();
    let ended = folder.once(&world.url(), world.contract(), &[]).exits(1);
    ended.says("the weights of epoch 1 are not in the calldata");
    assert!(folder.network().is_none());
}

/// A registrar may emit what it likes. What only looks like a log of the settlement says nothing, and stops nobody.
#[test]
fn logs_of_the_registrar_under_the_topics_of_the_settlement() {
    let Some(node) = TestNode::start() else { return };
    let registrar = node.create(emitter(Settlement::KeyAdded::SIGNATURE_HASH));
    let arguments = Settlement::constructorCall { registrar, pinned: U256::ZERO, changesAStore: U256::ONE };
    let code = [KeyGroup::Bn254G2.creation_code(), &arguments.abi_encode()].concat();
    let settlement = node.create(code.into());
    node.send_from(0, registrar, Bytes::new());
    Folder::new().once(&node.url(), settlement, &[]).exits(1).says("the settlement has no keys yet");
}

#[test]
fn addresses_with_a_wrong_digit_are_refused() {
    for (wrong, why) in [
        ("0x5FbDB2315678afecb367f032d93F642f64180aa4", "EIP-55"),
        ("5FbDB2315678afecb367f032d93F642f64180aa3", "expected 40 hexadecimal digits after 0x"),
    ] {
        for command in ["follow", "watch"] {
            let reading = [command, "--once", "--rpc", "http://127.0.0.1:1"];
            program().args(reading).args(["--contract", wrong]).ran().exits(2).says("--contract").says(why);
            program().args(reading).env("QUORATE_CHAIN_CONTRACT", wrong).ran().exits(2).says(why);
        }
    }
}

/// `-` is standard input where a file is read, and no name of a file that is written.
#[test]
fn a_dash() {
    let at = ["--rpc", "http://127.0.0.1:1", "--contract", "0x0101010101010101010101010101010101010101"];
    for (command, flag) in [("follow", "--network"), ("watch", "--cursor")] {
        program().arg(command).args(at).args([flag, "-"]).ran().exits(2).says(flag).says("give a name");
    }
    let of = |what: &[&str]| {
        let mut send = program();
        send.args(["send", "--rpc", "http://127.0.0.1:1"]).args(what);
        send
    };
    of(&["--transactions", "-"]).ran_with("{}").exits(2).says("standard input, line 1: this is not a transaction");
    of(&["--plan", "-", "--network", "-"]).ran_with("{}").exits(2).says("cannot be read twice");
    of(&["--plan", "Cargo.toml", "--network", "-"]).ran_with("{}").exits(2).says("standard input: this is not a net");
    let mut weigh = program();
    weigh.args(["weigh", "--rpc", "http://127.0.0.1:1", "--network", "-"]);
    weigh.ran_with("{}").exits(2).says("standard input: this is not a network");
}

/// Editors on Windows put a byte order mark before a text.
#[test]
fn a_marked_file_is_read_by_every_program() {
    let folder = Folder::new();
    let text = "\u{feff}{}";
    let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (marked, utf_16) = (folder.write("marked", text), folder.write("utf-16", utf_16));
    let of = |arguments: &[&str], path: &Path| {
        let (command, flags) = arguments.split_first().unwrap();
        program().args([*command, "--rpc", "http://127.0.0.1:1"]).args(flags).arg(path).ran().exits(2)
    };
    for arguments in [&["send", "--transactions"][..], &["weigh", "--network"], &["send", "--plan", "-", "--network"]] {
        of(arguments, &marked).says("missing field");
        of(arguments, &utf_16).says("found text in UTF-16, expected UTF-8");
    }
}

#[test]
fn metrics_are_for_this_machine_and_for_a_program_that_stays() {
    let follow = |more: &[&str]| {
        let contract = "0x0101010101010101010101010101010101010101";
        program().args(["follow", "--rpc", "http://127.0.0.1:1", "--contract", contract]).args(more).ran()
    };
    follow(&["--metrics", "0.0.0.0:0"]).refused("--beyond-loopback");
    follow(&["--metrics", "127.0.0.1:0", "--once"]).exits(2).says("--once");
    follow(&["--beyond-loopback"]).exits(2).says("--metrics");
    follow(&["--beyond-loopback", "--once"]).exits(2).says("cannot be used with");
}

/// One file of variables serves several commands. What is exported conflicts with nothing that is typed, and demands nothing.
#[test]
fn what_is_exported_excludes_nothing() {
    let contract = "0x0101010101010101010101010101010101010101";
    let run = |command: &str, more: &[&str], exported: &[(&str, &str)]| {
        let mut run = program();
        run.args([command, "--rpc", "http://127.0.0.1:1"]).args(more).envs(exported.iter().copied()).ran_with("")
    };
    let of = ["--contract", contract];
    let watched = [("QUORATE_CHAIN_METRICS", "0.0.0.0:0"), ("QUORATE_CHAIN_BEYOND_LOOPBACK", "true")];
    for command in ["follow", "watch"] {
        // The node does not answer.
        let once = run(command, &[&of[..], &["--once"]].concat(), &watched).exits(3);
        assert!(!once.err.contains("metrics are at"), "{once:?}");
        run(command, &of, &watched[..1]).exits(2).says("--beyond-loopback");
        run(command, &of, &[("QUORATE_CHAIN_METRICS", "here")]).exits(2).says("QUORATE_CHAIN_METRICS: found \"here\"");
    }
    let passphrase = [("QUORATE_CHAIN_PASSPHRASE_FILE", "none"), ("QUORATE_CHAIN_KEY", "5ec7e7")];
    run("send", &["--transactions", "-"], &passphrase).exits(2).says("standard input has no transaction");
    run("send", &["--transactions", "-", "--passphrase-file", "none"], &[]).exits(2).says("--key-file");
}

/// A gas price of zero sends nothing, and the node's program refuses it too.
#[test]
fn a_limit_of_fees_is_at_least_one() {
    for flag in ["--max-fee", "--max-tip"] {
        program().args(["send", flag, "0"]).ran().exits(2).says(flag).says("0 is not in 1..");
    }
}

/// It may hold the key of a provider.
#[test]
fn no_help_shows_the_url_of_a_node() {
    for command in ["follow", "send", "weigh", "watch"] {
        for help in ["-h", "--help"] {
            let url = "https://node.example/SECRET";
            let shown = program().args([command, help]).env("QUORATE_CHAIN_RPC", url).ran().exits(0).all();
            assert!(shown.contains("--rpc <URL>") && !shown.contains("SECRET"), "{command}: {shown}");
        }
    }
}

#[test]
fn help_fits_80_columns() {
    for arguments in [
        &["--help"][..],
        &["follow", "--help"],
        &["send", "--help"],
        &["weigh", "--help"],
        &["watch", "--help"],
        &["follow", "-h"],
    ] {
        let ended = program().args(arguments).ran().exits(0);
        assert!(ended.out.lines().count() > 8);
        for line in ended.out.lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
    }
}
