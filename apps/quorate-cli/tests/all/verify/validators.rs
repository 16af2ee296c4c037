//! Deposits, changes of withdrawal credentials and exits of validators, with keys made here.

use quorate::MinPk;
use quorate_formats::{
    network::KnownNetwork,
    operation::{Compounding, CredentialsChange, DepositMessage, VoluntaryExit, credentials_of_address},
};
use serde_json::{Value, json};

use crate::verify::run::{Folder, Verdicts as _, secret, single, verify, verify_input};

const GWEI: u64 = 1_000_000_000;

fn network(name: &str) -> &'static KnownNetwork {
    KnownNetwork::of_name(name).unwrap()
}

fn key(i: u8) -> [u8; 48] {
    secret(MinPk::Eth2, i).public_key().to_bytes()
}

fn sign(i: u8, root: &[u8; 32]) -> [u8; 96] {
    secret(MinPk::Eth2, i).sign(MinPk::Eth2, root).to_bytes()
}

/// A deposit with true roots and a true signature, whatever it says.
fn deposit(i: u8, name: &str, credentials: [u8; 32], amount: u64, version: [u8; 4]) -> Value {
    let message = DepositMessage { public_key: key(i), withdrawal_credentials: credentials, amount };
    let signature = sign(i, &message.signing_root(version));
    json!({
        "pubkey": const_hex::encode(message.public_key),
        "withdrawal_credentials": const_hex::encode(credentials),
        "amount": amount,
        "signature": const_hex::encode(signature),
        "deposit_message_root": const_hex::encode(message.root()),
        "deposit_data_root": const_hex::encode(message.data_root(&signature)),
        "fork_version": const_hex::encode(version),
        "network_name": name,
        "deposit_cli_version": "2.7.0",
    })
}

fn address() -> [u8; 32] {
    credentials_of_address(Compounding::No, &[0x11; 20])
}

fn of_mainnet(i: u8) -> Value {
    deposit(i, "mainnet", address(), 32 * GWEI, [0; 4])
}

fn change(i: u8, index: u64, name: &str) -> Value {
    let network = network(name);
    let message = CredentialsChange { validator_index: index, from_public_key: key(i), to_address: [0x11; 20] };
    let root = message.signing_root(network.genesis_fork_version(), &network.genesis_validators_root);
    json!({
        "message": {
            "validator_index": index.to_string(),
            "from_bls_pubkey": const_hex::encode_prefixed(message.from_public_key),
            "to_execution_address": const_hex::encode_prefixed(message.to_address),
        },
        "signature": const_hex::encode_prefixed(sign(i, &root)),
        "metadata": {
            "network_name": name,
            "genesis_validators_root": const_hex::encode_prefixed(network.genesis_validators_root),
            "deposit_cli_version": "2.7.0",
        },
    })
}

fn exit(i: u8, index: u64, epoch: u64, name: &str) -> Value {
    let network = network(name);
    let root = VoluntaryExit { epoch, validator_index: index }
        .signing_root(network.exit_fork_version(), &network.genesis_validators_root);
    json!({
        "message": {"epoch": epoch.to_string(), "validator_index": index.to_string()},
        "signature": const_hex::encode_prefixed(sign(i, &root)),
    })
}

#[track_caller]
fn reason(document: &Value, arguments: &[&str]) -> String {
    let ran = verify_input(&[&["--verdicts"], arguments].concat(), document.to_string()).exits(1);
    ran.object()["reason"].as_str().unwrap().to_owned()
}

/// All of these were "valid": each locks the stake for ever, or loses it.
#[test]
fn deposits_that_lose_the_stake_fail_a_check_that_is_named() {
    verify_input(&["--verdicts"], json!([of_mainnet(1)]).to_string()).exits(0);
    let mut not_padded = [0; 32];
    not_padded[0] = 1;
    not_padded[1..21].fill(0x11);
    let mut of_builders = address();
    of_builders[0] = 3;
    let mut address_as_hash = address();
    address_as_hash[0] = 0;
    let cases = [
        (deposit(1, "mainnet", not_padded, 32 * GWEI, [0; 4]), "withdrawal_credentials"),
        (deposit(1, "mainnet", of_builders, 32 * GWEI, [0; 4]), "withdrawal_credentials"),
        (deposit(1, "mainnet", address_as_hash, 32 * GWEI, [0; 4]), "withdrawal_credentials"),
        (deposit(1, "mainnet", address(), 0, [0; 4]), "amount"),
        (deposit(1, "mainnet", address(), GWEI - 1, [0; 4]), "amount"),
        (deposit(1, "mainnet", address(), 2048 * GWEI + 1, [0; 4]), "amount"),
        (deposit(1, "gnosis", address(), GWEI, [0; 4]), "fork_version"),
        (deposit(1, "chiado", address(), GWEI, [0, 0, 0, 0x64]), "fork_version"),
        (deposit(1, "Mainnet", address(), 32 * GWEI, [0x10, 0, 0x09, 0x10]), "fork_version"),
    ];
    for (deposit, check) in cases {
        let reason = reason(&json!([deposit]), &[]);
        assert!(reason.starts_with(&format!("{check}: ")), "{check}: {reason}");
    }
    for (name, version) in [("gnosis", [0, 0, 0, 0x64]), ("Chiado", [0, 0, 0, 0x6f]), ("Hoodi", [0x10, 0, 0x09, 0x10])]
    {
        verify_input(&[], json!([deposit(1, name, address(), GWEI, version)]).to_string()).exits(0);
    }
}

/// A claim under the attacker's key that is a deposit as well was valid as a claim, and the deposit was not looked at.
#[test]
fn a_deposit_that_is_a_claim_as_well_is_neither() {
    let mut both = deposit(1, "mainnet", [0; 32], 0, [0; 4]);
    for (field, value) in single(MinPk::Eth2, 2, &[1], &[1]).as_object().unwrap() {
        both[field] = value.clone();
    }
    let folder = Folder::new();
    let (forged, true_one) =
        (folder.file("forged.json", both.to_string()), folder.file("true.json", json!([of_mainnet(1)]).to_string()));
    let ran = verify(&["-q", "--verdicts", "--network", "mainnet", &forged, &true_one]).exits(2);
    let ran = ran.says("the field \"message\" of the format jsonl").says("of the format deposit");
    assert_eq!(ran.valid(), [true]);
}

/// A deposit of hoodi whose file does not say so was "valid", and lost on any other network.
#[test]
fn deposits_of_a_network_that_is_not_known_need_the_flag() {
    let andes = deposit(1, "andes", address(), 2500 * GWEI, [1, 1, 0x75, 0x51]);
    let document = json!([andes]).to_string();
    let ran = verify_input(&[], &document).exits(2).says("the network \"andes\" is not known, so nothing says whether");
    let ran = ran.says("--network NAME").says("--fork-version HEX");
    assert!(ran.err.contains("no claims judged, 1 malformed"), "{}", ran.err);
    let ran = verify_input(&["--fork-version", "01017551", "--explain"], &document).exits(0);
    for check in ["deposit_message_root", "deposit_data_root", "withdrawal_credentials", "amount", "fork_version"] {
        assert!(ran.err.contains(&format!("passed       {check}: ")), "{check}: {}", ran.err);
    }
    assert!(reason(&json!([andes]), &["--fork-version", "00000000"]).starts_with("fork_version: "));
    let mut nameless = deposit(1, "hoodi", address(), 32 * GWEI, [0x10, 0, 0x09, 0x10]);
    nameless.as_object_mut().unwrap().remove("network_name");
    let document = json!([nameless]).to_string();
    verify_input(&[], &document).exits(2).says("the file names no network, so nothing says whether 0x10000910");
    verify_input(&["--network", "hoodi"], &document).exits(0);
}

/// `--network holesky` on deposits of mainnet said `2 valid`.
#[test]
fn deposits_are_compared_with_the_network_of_the_flag() {
    let document = json!([of_mainnet(1), of_mainnet(2)]);
    verify_input(&["--network", "mainnet"], document.to_string()).exits(0).says("2 claims: 2 valid");
    let ran = verify_input(&["--network", "holesky", "--verdicts"], document.to_string()).exits(1);
    assert_eq!(ran.valid(), [false, false]);
    assert!(ran.objects()[0]["reason"].as_str().unwrap().starts_with("network_name: expected the network holesky"));
    let mut nameless = of_mainnet(1);
    nameless.as_object_mut().unwrap().remove("network_name");
    assert!(reason(&json!([nameless]), &["--network", "holesky"]).starts_with("fork_version: "));
}

/// A misspelt field may be one that was meant, so it is named as one of a claim is.
#[test]
fn fields_that_are_skipped_are_named_once() {
    let with = |mut document: Value, pointer: &str, field: &str| {
        document.pointer_mut(pointer).unwrap()[field] = 1.into();
        json!([document.clone(), document]).to_string()
    };
    let key = const_hex::encode_prefixed(key(1));
    let exits = ["--network", "mainnet", "--public-key", &format!("5={key}")];
    for (document, arguments, name) in [
        (with(of_mainnet(1), "", "ammount"), &[][..], "ammount"),
        (with(change(1, 5, "mainnet"), "/message", "fee"), &[], "message.fee"),
        (with(change(1, 5, "mainnet"), "/metadata", "network"), &[], "metadata.network"),
        (with(exit(1, 5, 9, "mainnet"), "", "fork_version"), &exits, "fork_version"),
    ] {
        let ran = verify_input(arguments, &document).exits(0);
        let warning = format!("standard input, element [0]: warning: the unknown field {name:?} is skipped");
        assert_eq!((ran.err.matches("unknown field").count(), ran.err.contains(&warning)), (1, true), "{}", ran.err);
        assert!(!verify_input(&[arguments, &["-q"]].concat(), &document).exits(0).err.contains("unknown"));
    }
    for (document, arguments) in
        [(of_mainnet(1), &[][..]), (change(1, 5, "mainnet"), &[]), (exit(1, 5, 9, "mainnet"), &exits)]
    {
        assert!(!verify_input(arguments, json!([document]).to_string()).exits(0).err.contains("unknown field"));
    }
}

#[test]
fn a_key_that_occurs_twice_is_said() {
    let folder = Folder::new();
    let first = folder.file("first.json", json!([of_mainnet(1), of_mainnet(2)]).to_string());
    let second = folder.file("second.json", json!([of_mainnet(3), of_mainnet(1)]).to_string());
    let ran = verify(&["--json", &first, &second]).exits(0).says("second.json, element [1]: warning: the key 0x");
    let ran = ran.says("has a deposit already").says("first.json, element [0])");
    assert_eq!((&ran.object()["valid"], &ran.object()["repeated"]), (&json!(4), &json!(1)));
    assert_eq!(ran.err.matches("warning").count(), 1, "{}", ran.err);
    assert!(!verify(&[&first]).exits(0).err.contains("warning"));
    let many: Vec<_> = std::iter::repeat_n(of_mainnet(1), 30).collect();
    verify_input(&[], json!(many).to_string()).exits(0).says("19 more errors of this kind: a validator occurs twice");
}

#[test]
fn changes_of_credentials_are_verified_and_a_forged_field_is_named() {
    for name in ["mainnet", "hoodi", "gnosis"] {
        let document = json!([change(1, 5, name), change(2, 6, name)]);
        let ran = verify_input(&["--verdicts"], document.to_string()).exits(0);
        assert_eq!(ran.valid(), [true, true]);
        assert_eq!(ran.objects()[0]["id"], 5);
        verify_input(&["--network", name], document.to_string()).exits(0);
    }
    let forged = |pointer: &str, value: &str| {
        let mut document = json!([change(1, 5, "mainnet")]);
        *document.pointer_mut(pointer).unwrap() = value.into();
        reason(&document, &[])
    };
    let mismatch = "the signature does not match the keys and messages";
    assert_eq!(forged("/0/message/validator_index", "6"), mismatch);
    assert_eq!(forged("/0/message/to_execution_address", &format!("0x{}", "12".repeat(20))), mismatch);
    assert_eq!(forged("/0/message/from_bls_pubkey", &const_hex::encode(key(2))), mismatch);
    assert!(forged("/0/message/to_execution_address", &"00".repeat(20)).starts_with("to_execution_address: "));
    let root = const_hex::encode(network("hoodi").genesis_validators_root);
    assert!(
        forged("/0/metadata/genesis_validators_root", &root).starts_with("genesis_validators_root: expected 0x4b36")
    );
    assert!(forged("/0/metadata/network_name", "hoodi").starts_with("genesis_validators_root: expected 0x212f"));
    assert!(forged("/0/metadata/network_name", "andes").starts_with("network_name: expected mainnet"));
    let document = json!([change(1, 5, "mainnet")]);
    assert!(reason(&document, &["--network", "hoodi"]).starts_with("network_name: expected the network hoodi"));
    verify_input(&[], json!([change(1, 5, "mainnet"), change(2, 5, "mainnet")]).to_string())
        .exits(0)
        .says("warning: validator 5 has a change already");
}

/// As the Beacon API gives them, without metadata.
#[test]
fn changes_without_metadata_need_the_network() {
    let mut bare = change(1, 5, "mainnet");
    bare.as_object_mut().unwrap().remove("metadata");
    for document in [json!({"data": [bare]}), json!([bare]), bare.clone()] {
        verify_input(&["--network", "mainnet"], document.to_string()).exits(0);
        verify_input(&[], document.to_string()).exits(2).says("the file names no network").says("--network NAME");
    }
    let mainnet = network("mainnet");
    let root = const_hex::encode(mainnet.genesis_validators_root);
    let by_hand = ["--genesis-validators-root", &root, "--fork-version", "00000000"];
    verify_input(&by_hand, bare.to_string()).exits(0);
    assert_eq!(reason(&bare, &["--network", "holesky"]), "the signature does not match the keys and messages");
}

/// Each of these was valid under the version of another network than the one that its file names.
#[test]
fn a_network_that_the_file_names_has_its_own_version_and_root() {
    let (hoodi, holesky) = (network("hoodi"), network("holesky"));
    let version = const_hex::encode(hoodi.genesis_fork_version());
    let root = const_hex::encode(hoodi.genesis_validators_root);
    let by_hand = ["--genesis-validators-root", &root, "--fork-version", &version];
    let mut labelled = change(1, 5, "hoodi");
    labelled["metadata"] = json!({"network_name": "holesky"});
    assert!(reason(&labelled, &by_hand).starts_with("network_name: expected the network that has the fork version"));
    labelled["metadata"] = json!({"network_name": "hoodi"});
    verify_input(&by_hand, labelled.to_string()).exits(0);
    labelled["metadata"] = json!({"network_name": "devnet-7"});
    verify_input(&by_hand, labelled.to_string()).exits(0);
    let of_hoodi = deposit(1, "mainnet", address(), 32 * GWEI, hoodi.genesis_fork_version());
    assert!(
        reason(&of_hoodi, &["--fork-version", &version]).starts_with("network_name: expected the network that has")
    );
    let of_holesky = deposit(1, "holesky", address(), 32 * GWEI, holesky.genesis_fork_version());
    verify_input(&["--fork-version", &const_hex::encode(holesky.genesis_fork_version())], of_holesky.to_string())
        .exits(0);
}

#[test]
fn exits_are_verified_with_the_key_and_the_network_of_the_caller() {
    let (key_1, key_2) = (const_hex::encode_prefixed(key(1)), const_hex::encode_prefixed(key(2)));
    let single = exit(1, 5, 200_000, "mainnet");
    for document in [single.clone(), json!({"data": single}), json!([single])] {
        let ran = verify_input(&["--verdicts", "--network", "mainnet", "--public-key", &key_1], document.to_string());
        assert_eq!(ran.exits(0).object(), json!({"index": 0, "id": 5, "valid": true}));
    }
    let input = single.to_string();
    verify_input(&["--network", "mainnet"], &input)
        .exits(2)
        .says("--public-key 5=HEX")
        // The answer for all validators of a network has hundreds of MB, more than is read.
        .says("/validators?id=5 (--validators FILE)");
    verify_input(&["--public-key", &key_1], &input).exits(2).says("--network NAME").says("--fork-version HEX");
    let mismatch = "the signature does not match the keys and messages";
    assert_eq!(reason(&single, &["--network", "mainnet", "--public-key", &key_2]), mismatch);
    assert_eq!(reason(&single, &["--network", "hoodi", "--public-key", &key_1]), mismatch);
    for forged in [exit(1, 5, 200_001, "mainnet"), exit(1, 6, 200_000, "mainnet")] {
        let mut forged = forged;
        forged["signature"] = single["signature"].clone();
        assert_eq!(reason(&forged, &["--network", "mainnet", "--public-key", &key_1]), mismatch);
    }
    let two = json!([single, exit(2, 6, 0, "mainnet")]).to_string();
    let named = ["--network", "mainnet", "--public-key", &format!("5={key_1}"), "--public-key", &format!("6={key_2}")];
    verify_input(&named, &two).exits(0);
    verify_input(&["--network", "mainnet", "--public-key", &key_1], &two).exits(2).says("taken for validator 5");
    let folder = Folder::new();
    let answer = json!({"data": [{"index": "6", "validator": {"pubkey": key_2}}, {"index": "5", "validator": {"pubkey": key_1}}]});
    let answer = folder.file("validators.json", answer.to_string());
    verify_input(&["--network", "mainnet", "--validators", &answer], &two).exits(0);
    let clash = ["--network", "mainnet", "--validators", &answer, "--public-key", &format!("5={key_2}")];
    verify_input(&clash, &two).exits(2).says("found two keys of validator 5");
    verify_input(&["--network", "mainnet", "--public-key", "5=00"], &two)
        .exits(2)
        .says("found 2 hexadecimal digits, expected 96");
}
