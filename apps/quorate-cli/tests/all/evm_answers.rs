//! What `quorate evm` answers to fixed questions, as files that the tests of the npm package read (`bindings/node/test/evm`): the package
//! has to give the same answers.
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use std::fs;

use quorate_evm::{
    Base, KeyGroup, MemberSet, Network, OperatorKey, SnapshotId, Task,
    alloy_primitives::{Address, B256},
    base::Table,
    digest::{Contract, KeyPossession},
    network::sum_of_keys,
};
use quorate_lab::{
    needs::checkout,
    run::{Folder, Run as _, command},
};
use serde_json::{Value, json};

const RESULTS: [&str; 2] = [
    "0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1",
    "0xb2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2",
];
const DEADLINE: u64 = 1_800_000_000;
const HUB: Address = Address::repeat_byte(0x77);

/// Four members with fixed secrets, of whom any three are enough. The newest base is all of them. A weight is above 2^53, which
/// `JSON.parse` would round.
fn network(operators: &[OperatorKey]) -> Network {
    let key_group = operators[0].key_group();
    let Table { key_pages, weight_pages, weights } = Table::paged(key_group, vec![(1 << 53) + 1; 4], 1);
    let keys: Vec<_> = operators.iter().map(OperatorKey::member).collect();
    let signers = MemberSet::full(4);
    let key = sum_of_keys(key_group, &keys, &signers).unwrap();
    Network {
        key_group,
        chain_id: 31337,
        contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3".parse().unwrap(),
        nonce: 17,
        table: 0,
        epoch: 3,
        required: 3 * ((1 << 53) + 1),
        enough: 3,
        paid: 0,
        keys,
        weights,
        key_pages,
        weight_pages,
        bases: vec![Base { slot: 0, epoch: 0, weight: 0, key, signers }],
        unknown_newest: None,
    }
}

/// Everything from the keys to the calldata, by the program.
fn answers(key_group: KeyGroup) -> Value {
    let folder = Folder::new();
    let operators: Vec<_> = (1..=4).map(|i| OperatorKey::from_entropy(key_group, &[i; 48])).collect();
    let network = network(&operators);
    let text = serde_json::to_string(&network).unwrap();
    let file = folder.file("network.json", &text);
    let evm = |arguments: &[&str]| command("quorate").arg("evm").args(arguments).ran().exits(0).object();
    let (deadline, mut lines) = (DEADLINE.to_string(), Vec::new());
    for index in [0, 1, 3] {
        let key = folder.file("key", const_hex::encode(operators[index].to_bytes()));
        #[cfg(unix)]
        fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let (name, settled) = (key_group.name(), ["--result", RESULTS[0], "--result", RESULTS[1]]);
        let arguments = ["sign", "--key-group", name, "--key", &key, "--network", &file, "--deadline", &deadline];
        lines.push(evm(&[&arguments[..], &settled].concat()));
    }
    let signed = folder.file("signed.jsonl", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    let aggregate = evm(&["aggregate", "--network", &file, "--json", &signed]);
    let quorum = folder.file("quorum.json", aggregate.to_string());
    let plan = evm(&["plan", "--network", &file, "--quorum", &quorum, "--json"]);
    let planned = folder.file("plan.json", plan.to_string());
    let hub = (key_group != KeyGroup::Bn254G2).then(|| evm(&["hub", "--hub", &HUB.to_string(), "--plan", &planned]));
    json!({
        "network": text,
        "results": RESULTS,
        "deadline": DEADLINE,
        "lines": lines,
        "aggregate": aggregate,
        "plan": plan,
        "hub": hub,
    })
}

/// Digests of what no command signs, by the crate.
fn digests() -> Value {
    let contract = Contract { chain_id: u64::MAX, address: Address::repeat_byte(0xaa) };
    let task = Task {
        epoch: u64::MAX,
        snapshot: SnapshotId::repeat_byte(1),
        id: B256::repeat_byte(2),
        performer: 3,
        result: B256::repeat_byte(4),
        approved: true,
    };
    let rejected = Task { approved: false, ..task };
    let possession = KeyPossession { verifier: contract, owner: Address::repeat_byte(5), key: &[6; 128] };
    let hex = |digest: [u8; 32]| const_hex::encode_prefixed(digest);
    json!({
        "approved": hex(task.digest(contract)),
        "rejected": hex(rejected.digest(contract)),
        "possession": hex(possession.digest()),
    })
}

/// `QUORATE_WRITE=1 cargo test -p quorate-cli --test all evm_answers` writes the files.
#[test]
fn the_answers_are_those_that_the_npm_package_is_tested_with() {
    let all = KeyGroup::ALL.map(|key_group| (key_group.name(), answers(key_group)));
    for (name, answers) in all.into_iter().chain([("digests", digests())]) {
        let path = checkout().join("bindings/node/test/evm").join(format!("{name}.json"));
        let text = format!("{answers:#}\n");
        if std::env::var_os("QUORATE_WRITE").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == text,
            "{} is out of date: QUORATE_WRITE=1 cargo test -p quorate-cli --test all evm_answers",
            path.display()
        );
    }
}
