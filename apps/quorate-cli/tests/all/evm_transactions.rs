//! Runs `quorate evm` where it makes transactions for `quorate-chain send`, and where it reads a network or a quorum in place
//! of flags.
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use std::fs;

use quorate_evm::{
    KeyGroup, Network, OperatorKey, Sender, Transaction,
    alloy_primitives::{Address, B256, U256},
    alloy_sol_types::SolCall,
    contract::{Settlement, StakeRegistrar},
};
use quorate_lab::{
    needs::example,
    run::{Folder, Ran, Run as _, command},
};
use serde_json::{Value, json};

const OWNER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const REGISTRAR: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const CONTRACT: &str = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const RESULT: &str = "0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";

fn evm(arguments: &[&str]) -> Ran {
    command("quorate").arg("evm").args(arguments).ran()
}

fn network() -> Network {
    serde_json::from_str(&fs::read_to_string(example("network.json")).unwrap()).unwrap()
}

/// The one transaction that a command prints.
fn transaction(arguments: &[&str]) -> Transaction {
    let all = transactions(arguments);
    let [one] = &all[..] else { panic!("one transaction: {all:?}") };
    one.clone()
}

fn transactions(arguments: &[&str]) -> Vec<Transaction> {
    let out = evm(arguments).exits(0).out;
    let all: Vec<Transaction> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for transaction in &all {
        assert_eq!(transaction.chain_id, 1);
    }
    all
}

/// An operator's key in a file.
fn key(folder: &Folder, key_group: KeyGroup) -> String {
    let operator = OperatorKey::from_entropy(key_group, &[1; 48]);
    folder.file("operator.key", const_hex::encode(operator.to_bytes()))
}

#[test]
fn a_registration_is_for_who_has_to_send_it() {
    let folder = Folder::new();
    let (key, network) = (key(&folder, KeyGroup::Bn254G2), example("network.json"));
    let register = ["register", "--key-group", "bn254-g2", "--key", &key, "--owner", OWNER, "--transactions"];
    let by_file = [&register[..], &["--network", &network]].concat();
    let one = transaction(&by_file);
    assert_eq!((one.to, one.sender), (CONTRACT.parse().unwrap(), Sender::Registrar));
    let call = Settlement::registerCall::abi_decode(&one.calldata).unwrap();
    assert_eq!(call.owner, OWNER.parse::<Address>().unwrap());
    assert_eq!(transaction(&[&register[..], &["--contract", CONTRACT, "--chain", "1"]].concat()), one);

    let staked = [&by_file[..], &["--stake-registrar", REGISTRAR]].concat();
    let stake = transaction(&staked);
    assert_eq!((stake.to, stake.sender), (REGISTRAR.parse().unwrap(), Sender::Account(OWNER.parse().unwrap())));
    // The proof is one for the settlement, which checks it.
    let entry = StakeRegistrar::registerCall::abi_decode(&stake.calldata).unwrap();
    assert_eq!((entry.key, entry.proof), (call.key.clone(), call.proof.clone()));
    let rotated = transaction(&[&staked[..], &["--rotate"]].concat());
    assert_eq!(StakeRegistrar::rotateCall::abi_decode(&rotated.calldata).unwrap().proof, call.proof);
    // Whoever reviews the file sees that a key is replaced.
    assert_eq!(rotated.about, format!("replace the key of {OWNER} by another key of bn254-g2"));
    let page = evm(&[&register[..7], &["--network", &network, "--stake-registrar", REGISTRAR]].concat()).exits(0).out;
    assert!(page.contains(REGISTRAR) && page.contains("register(bytes,bytes), sent by the owner"), "{page}");

    for (more, reason) in [
        (&["--rotate"][..], "--stake-registrar"),
        (&["--json"], "cannot be used with"),
        (&["--contract", CONTRACT], "cannot be used with"),
        (&["--stake-registrar", REGISTRAR, "--task-network", CONTRACT, "--stake", "1"], "cannot be used with"),
    ] {
        evm(&[&by_file[..], more].concat()).exits(2).says(reason);
    }
    evm(&register).exits(2).says("--network");
    evm(&[&register[..], &["--chain", "1"]].concat()).exits(2).says("--contract");
    let other = ["register", "--key-group", "bn254-g1", "--key", &key, "--owner", OWNER, "--network", &network];
    evm(&other).exits(2).says("found keys of bn254-g2, expected bn254-g1 as in --key-group");
}

/// The key would count for nobody.
#[test]
fn register_refuses_the_zero_address_as_owner() {
    let folder = Folder::new();
    let (key, network) = (key(&folder, KeyGroup::Bn254G2), example("network.json"));
    let zero = Address::ZERO.to_string();
    let register = |more: &[&str]| {
        evm(&[&["register", "--key-group", "bn254-g2", "--key", &key, "--network", &network], more].concat())
    };
    register(&["--owner", &zero]).exits(2).says("--owner").says("nobody has the address zero");
    let registrar = register(&["--owner", OWNER, "--stake-registrar", &zero]);
    registrar.exits(2).says("--stake-registrar").says("nobody has the address zero");
}

/// What the call does not contain is neither dropped nor reported.
#[test]
fn each_flag_with_the_other_registrar_is_refused() {
    let folder = Folder::new();
    let (key, network) = (key(&folder, KeyGroup::Bn254G2), example("network.json"));
    let register =
        ["register", "--key-group", "bn254-g2", "--key", &key, "--owner", OWNER, "--network", &network, "--json"];
    for more in [
        &["--stake-registrar", REGISTRAR, "--stake", "1"][..],
        &["--task-network", CONTRACT, "--stake", "1", "--rotate"],
        &["--stake", "1", "--rotate"],
    ] {
        evm(&[&register[..], more].concat()).exits(2).says("cannot be used with");
    }
}

#[test]
fn an_epoch_is_a_transaction_for_each_call() {
    let folder = Folder::new();
    let weights = folder.file("weights.json", "[10, 20, 30, 40]");
    let network = example("network.json");
    let epoch = ["epoch", "--network", &network, "--weights", &weights, "--required", "60"];
    let report: Value = evm(&[&epoch[..], &["--json"]].concat()).exits(0).object();
    let [discard, begin, enter] = &transactions(&[&epoch[..], &["--transactions"]].concat())[..] else {
        panic!("three")
    };
    assert_eq!(discard.calldata[..], Settlement::discardCall {}.abi_encode());
    assert_eq!(json!([begin.calldata, enter.calldata]), json!([report["begin"], report["enter"]]));
    for one in [discard, begin] {
        assert_eq!((one.sender, one.after_epoch), (Sender::Registrar, Some(3)));
    }
    assert_eq!((enter.sender, enter.after_epoch), (Sender::Anyone, None));
}

/// Who was forgotten in the list could not sign in this epoch.
#[test]
fn epoch_names_the_keys_that_its_weights_leave_out() {
    let folder = Folder::new();
    let network = example("network.json");
    let epoch = |weights: &[u64], more: &[&str]| {
        let weights = folder.file("weights.json", format!("{weights:?}"));
        evm(&[&["epoch", "--network", &network, "--weights", &weights, "--more-than", "2/3"], more].concat()).exits(0)
    };
    for more in [&[][..], &["--json"], &["--transactions"]] {
        epoch(&[1; 3], more).says("warning: 9 of 12 keys have no weight: 3-11\n");
        epoch(&[1; 11], more).says("warning: 1 of 12 keys has no weight: 11\n");
        let full = epoch(&[1; 12], more);
        assert!(full.err.is_empty(), "{full:?}");
    }
    let renewed = epoch(&[1; 13], &["--renew"]);
    let renewed = renewed
        .says("warning: the network's file does not tell how many keys were carried; check that they are at least 13");
    assert!(!renewed.err.contains("have no weight"), "{renewed:?}");
}

#[test]
fn calls_of_upkeep() {
    let file = example("network.json");
    let call = |arguments: &[&str]| {
        let (name, rest) = arguments.split_first().unwrap();
        transaction(&[&["call", name, "--network", &file][..], rest].concat())
    };
    let network = network();
    let enter = Settlement::enterCall::abi_decode(&call(&["enter"]).calldata).unwrap();
    assert_eq!((enter.head, enter.newest), (network.head().encode().unwrap(), network.newest()));
    let (head, newest) = (format!("0x{:064x}", 7), format!("0x{:064x}", 8));
    let enter = call(&["enter", "--head", &head, "--newest", &newest]);
    let enter = Settlement::enterCall::abi_decode(&enter.calldata).unwrap();
    assert_eq!((enter.head, enter.newest), (U256::from(7), B256::with_last_byte(8)));
    let compact = call(&["compact", "--first", "0", "--keys", "12"]);
    assert_eq!(Settlement::compactCall::abi_decode(&compact.calldata).unwrap().keys, U256::from(12));
    let publish = Settlement::publishCall::abi_decode(&call(&["publish", "--part", "0"]).calldata).unwrap();
    assert_eq!(publish.weights.len(), 8 * 12);
    let pin = call(&["pin", "--slot", "3", "--from", "1"]);
    assert_eq!((pin.sender, &pin.about[..]), (Sender::Registrar, "pin the base of slot 1 in slot 3"));
    let discard = call(&["discard"]);
    assert_eq!(discard.calldata[..], Settlement::discardCall {}.abi_encode());
    let page = &network.key_pages[0];
    let carry = call(&["carry", "--members", &format!("{}-{}", page.first, page.first + 1)]);
    assert_eq!(Settlement::carryCall::abi_decode(&carry.calldata).unwrap().indices.len(), 8);

    for (arguments, reason) in [
        (&["compact", "--first", "5", "--keys", "8"][..], "the network has 12 keys"),
        (&["publish", "--part", "1"], "there is no part 1"),
        (&["pin", "--slot", "3", "--from", "0"], "no base in slot 0 of the ring"),
        (&["carry", "--members", "12"], "there is no member 12"),
        (&["enter", "--head", "0x07"], "--head"),
    ] {
        let (name, rest) = arguments.split_first().unwrap();
        evm(&[&["call", name, "--network", &file][..], rest].concat()).exits(2).says(reason);
    }
}

/// The contract refuses larger pages.
#[test]
fn the_help_of_compact_has_the_sizes_of_pages() {
    let help = evm(&["call", "compact", "--help"]).exits(0).out;
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let [g2, g1, bls12381, _] = KeyGroup::ALL.map(KeyGroup::page_keys);
    let sizes = format!("up to {g2} keys of bn254-g2, {g1} of bn254-g1, or {bls12381} of bls12381-g2");
    assert!(words.contains(&sizes), "{sizes:?} in {help}");
}

/// `sign` takes from the network what all operators have to agree on.
#[test]
fn a_network_in_place_of_flags() {
    let folder = Folder::new();
    let (key, network) = (key(&folder, KeyGroup::Bn254G2), example("network.json"));
    let sign = ["sign", "--key-group", "bn254-g2", "--key", &key, "--deadline", "4102444800", "--result", RESULT];
    let by_file = evm(&[&sign[..], &["--network", &network]].concat()).exits(0).object();
    let flags = ["--contract", CONTRACT, "--chain", "1", "--epoch", "3", "--nonce", "17"];
    assert_eq!(evm(&[&sign[..], &flags].concat()).exits(0).object(), by_file);
    let later = evm(&[&sign[..], &["--network", &network, "--nonce", "18"]].concat()).exits(0).object();
    assert_eq!((&later["nonce"], &later["epoch"]), (&json!(18), &json!(3)));
    evm(&[&sign[..], &flags[..6]].concat()).exits(2).says("--nonce");
    // The key is that of member 0.
    let by_index = |index: &str| evm(&[&sign[..], &["--network", &network, "--index", index]].concat());
    assert_eq!(by_index("0").exits(0).object()["index"], json!(0));
    by_index("5").exits(2).says("--index 5").says("it is not the key of member 5");
    by_index("99").exits(2).says("there is no member 99");
    // A deadline in milliseconds.
    let late = ["sign", "--key-group", "bn254-g2", "--key", &key, "--deadline", "4102444800000", "--result", RESULT];
    evm(&[&late[..], &["--network", &network]].concat()).exits(0).says("it is in seconds, not in milliseconds");
    // So many results fit into no transaction.
    let results = |number: usize| [["--result", RESULT]].repeat(number).concat();
    let plan = ["plan", "--network", &network, "--signers", "0-9"];
    for command in [&[&sign[..], &["--network", &network]].concat()[..], &plan] {
        evm(&[command, &results(3_000)].concat()).exits(0);
        evm(&[command, &results(4_200)].concat()).exits(2).says("131,072");
    }
    // Before the first epoch no result settles, so a signature would never count.
    let mut fresh = self::network();
    (fresh.epoch, fresh.enough, fresh.nonce, fresh.required) = (0, 16_777_215, 0, 0);
    (fresh.weights, fresh.bases) = (vec![], vec![]);
    let fresh = folder.file("fresh.json", serde_json::to_string(&fresh).unwrap());
    evm(&[&sign[..], &["--network", &fresh]].concat()).exits(2).says("before the first epoch");
    evm(&["plan", "--network", &fresh, "--signers", "0-9"]).exits(1).says("it weighs 0, and 1 are required");
}

/// What `aggregate` adds up is planned without its parts being typed again, and only for the network that it was signed for.
#[test]
fn a_quorum_in_place_of_flags() {
    let folder = Folder::new();
    let (network, lines) = (example("network.json"), example("signatures.jsonl"));
    // One of the signatures is false.
    let aggregated = evm(&["aggregate", "--network", &network, "--json", &lines]).exits(1).object();
    let plan = |object: &Value, more: &[&str]| {
        let quorum = folder.file("quorum.json", object.to_string());
        evm(&[&["plan", "--network", &network, "--quorum", &quorum, "--json"][..], more].concat())
    };
    let planned = plan(&aggregated, &[]).exits(0).object();
    let text = |name: &str| aggregated[name].as_str().unwrap().to_owned();
    let (signers, signature) = (text("signers"), text("signature"));
    let deadline = aggregated["deadline"].to_string();
    let store = aggregated["store"].to_string();
    let result = aggregated["results"][0].as_str().unwrap();
    let typed = ["--signers", &signers, "--deadline", &deadline, "--store", &store, "--result", result];
    let typed = [&["plan", "--network", &network, "--json", "--signature", &signature][..], &typed].concat();
    assert_eq!(evm(&typed).exits(0).object(), planned);
    assert!(planned["calldata"].is_string());

    for (field, value) in
        [("nonce", json!(18)), ("epoch", json!(2)), ("chain_id", json!(5)), ("contract", json!(OWNER))]
    {
        let mut other = aggregated.clone();
        other[field] = value;
        plan(&other, &[]).exits(2).says("follow, and sign and add up again");
    }
    for (field, value, code, reason) in [
        ("signature", Value::Null, 2, "none that was added up was true"),
        ("deadline", json!(1), 1, "the signature is not the sum"),
        ("bitmap", json!("0xff"), 1, ""),
        ("bitmap", json!("0xffff"), 2, "bitmap: there is no member 15"),
    ] {
        let mut other = aggregated.clone();
        other[field] = value;
        plan(&other, &[]).exits(code).says(reason);
    }
    plan(&json!({}), &[]).exits(2).says("this is not what `quorate evm aggregate --json` prints");
    plan(&aggregated, &["--deadline", "1"]).exits(2).says("cannot be used with");
    evm(&["plan", "--network", &network]).exits(2).says("--signers");
}
