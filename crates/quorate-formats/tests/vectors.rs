//! Real inputs: drand rounds and Ethereum light-client objects from public repositories, with expected messages.
//!
//! `quorate_lab::vectors` says where they lie, and what a test does without them.
#![allow(clippy::unwrap_used, reason = "a vector that does not read fails its test")]

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use quorate::Messages;
use quorate_formats::drand::{self, ChainInfo, DrandOptions};
use quorate_formats::light_client::{BeaconNetwork, Document, MIN_PARTICIPANTS, SyncCommittees, Teaching};
use quorate_formats::{
    CheckResult, Entry, Format, InputError, Place, Record, SigningContext, change, deposit, guess, peek,
};
use quorate_lab::vectors;
use serde_json::Value;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value}"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files
}

fn guessed(path: &Path) -> Format {
    peek(BufReader::new(fs::File::open(path).unwrap())).unwrap().0.unwrap()
}

fn shared(record: &Record) -> String {
    match &record.messages {
        Messages::Shared(message) => const_hex::encode_prefixed(message),
        _ => panic!("expected one message for all keys"),
    }
}

fn open(path: &Path) -> BufReader<fs::File> {
    BufReader::new(fs::File::open(path).unwrap())
}

/// All rounds of a document, or the error that ends it.
fn rounds(document: &Value) -> Result<Vec<Entry>, InputError> {
    drand::read(document.to_string().as_bytes(), &DrandOptions::default())?.collect()
}

/// What the bundles of a folder come to.
#[derive(Debug, Default, PartialEq)]
struct Rounds {
    read: usize,
    /// Files over BN254.
    on_bn254: usize,
    /// Files and rounds of another shape than this test knows.
    skipped: usize,
}

impl Rounds {
    fn skip(&mut self, what: &str, why: &dyn Display) {
        self.skipped += 1;
        println!("skipped: {what}: {why}");
    }

    /// Reads a bundle and compares each round with what the bundle says of it.
    fn bundle(&mut self, name: &str, mut file: Value) {
        let Some(beacons) = file["beacons"].as_array().cloned() else {
            return self.skip(name, &"it has no list `beacons`");
        };
        // One hash lacks a digit at its source.
        if file["chain_info"]["hash"].as_str().is_some_and(|hash| hash.len() % 2 == 1) {
            let refused = rounds(&file);
            assert!(matches!(refused, Err(InputError::ChainInfo { .. })), "{name}");
            file["chain_info"].as_object_mut().unwrap().remove("hash").unwrap();
        }
        let entries = match rounds(&file) {
            Ok(entries) => entries,
            Err(error) => return self.skip(name, &error),
        };
        assert_eq!(entries.len(), beacons.len(), "{name}");
        self.on_bn254 += usize::from(file["chain_info"]["curve"] == "BN254");
        for (entry, beacon) in entries.iter().zip(&beacons) {
            let record = match entry {
                Ok(record) => record,
                Err(malformed) => {
                    self.skip(name, malformed);
                    continue;
                }
            };
            assert_eq!(record.id.as_ref().unwrap().as_json(), beacon["round"].to_string());
            assert_eq!(const_hex::encode(&record.signature), text(beacon, "signature"));
            assert_eq!(
                const_hex::encode(&record.public_keys.as_encoded().unwrap()[0]),
                text(&file["chain_info"], "public_key")
            );
            assert_eq!(record.failed_check(), None);
            match beacon["message"].as_str() {
                Some(message) => assert_eq!(shared(record)[2..], *message, "{name} {beacon}"),
                None => println!("{name} {beacon}: nothing says what it signs"),
            }
            self.read += 1;
        }
    }
}

#[test]
fn drand_messages() {
    let Some(folder) = vectors::path("06_drand") else { return };
    let mut rounds = Rounds::default();
    for path in files(&folder) {
        let file = json(&path);
        if file["beacons"].is_array() {
            assert_eq!(guessed(&path), Format::Drand, "{}", path.display());
        }
        rounds.bundle(&path.display().to_string(), file);
    }
    println!("{rounds:?}");
    assert!(rounds.read > 100 && rounds.on_bn254 > 0 && rounds.skipped < rounds.read);
}

/// A bundle that this test has not seen.
#[test]
fn a_bundle_of_another_shape_is_counted() {
    let bundle = |info: &str, beacons: &str| {
        serde_json::from_str::<Value>(&format!(r#"{{"chain_info": {info}, "beacons": {beacons}}}"#)).unwrap()
    };
    let mut rounds = Rounds::default();
    rounds.bundle("no list", bundle("null", "null"));
    rounds.bundle("no chain", bundle("null", r#"[{"round": 1, "signature": "ab"}]"#));
    let info = r#"{"public_key": "ab", "schemeID": "a scheme of later"}"#;
    rounds.bundle("unknown scheme", bundle(info, r#"[{"round": 1, "signature": "ab"}]"#));
    let info = r#"{"public_key": "ab", "schemeID": "pedersen-bls-unchained"}"#;
    let beacons =
        r#"[{"round": 1, "signature": null}, {"signature": "ab"}, {"round": 2, "signature": "ab", "message": null}]"#;
    rounds.bundle("null and missing", bundle(info, beacons));
    assert_eq!(rounds, Rounds { read: 1, on_bn254: 0, skipped: 5 });
}

#[test]
fn built_in_drand_chains() {
    let Some(folder) = vectors::path("06_drand") else { return };
    let chains = json(&folder.join("chains.json"));
    for name in ["default", "quicknet", "fastnet", "evmnet"] {
        let built_in = ChainInfo::well_known(name).unwrap();
        let mut stated = ChainInfo::from_json(&chains[name].to_string()).unwrap();
        stated.genesis_seed = stated.genesis_seed.or(built_in.genesis_seed.clone());
        assert_eq!(stated, built_in, "{name}");
        assert_eq!(ChainInfo::well_known(text(&chains[name], "hash")).unwrap(), built_in);
    }
}

/// All light-client objects of the sets that are JSON, read as one run.
fn documents(sets: &[(&str, &[&str])]) -> Vec<(String, Document)> {
    let mut documents = Vec::new();
    for (set, names) in sets {
        for name in *names {
            let name = format!("{set}/{name}");
            let Some(path) = vectors::path(&name) else { continue };
            assert_eq!(guessed(&path), Format::LightClient, "{}", path.display());
            let document = Document::read(open(&path), documents.len(), &name).unwrap();
            documents.push((name, document));
        }
    }
    documents
}

const BEACON_API: [&str; 4] = ["bootstrap.json", "finality.json", "optimistic.json", "updates.json"];
const SETS: [(&str, &[&str]); 3] = [
    ("07_eth_helios", &BEACON_API),
    ("07_eth_trin", &BEACON_API),
    ("07_eth_datachainlab", &["mainnet_light_client_update_slot_5841038.json"]),
];

fn mainnet() -> BeaconNetwork {
    "mainnet".parse().unwrap()
}

#[test]
fn light_client_claims_are_the_derived_ones() {
    let Some(derived) = vectors::path("07_eth_derived") else { return };
    let (names, documents): (Vec<_>, Vec<_>) = documents(&SETS).into_iter().unzip();
    let mut committees = SyncCommittees::default();
    let committee_file = derived.join("committees/mainnet_713.json");
    assert_eq!(guessed(&committee_file), Format::LightClient);
    let period = committees.add_file(&fs::read_to_string(committee_file).unwrap(), "713", None, &mainnet());
    assert_eq!(period.unwrap(), 713);
    let lessons = committees.learn(&documents, &mainnet(), MIN_PARTICIPANTS);
    assert!(
        lessons.iter().all(|lesson| matches!(lesson.teaching, Teaching::Learned | Teaching::KnownAlready)),
        "{lessons:?}"
    );

    let mut seen = BTreeSet::new();
    for (name, document) in names.iter().zip(&documents) {
        let cases = derived.join("sync_aggregate").join(format!("{}.json", name.replace('/', "__").replace('.', "_")));
        if !cases.exists() {
            assert!(name.contains("bootstrap"), "{name}");
            assert_eq!(document.records(&committees, &mainnet(), MIN_PARTICIPANTS).count(), 0);
            continue;
        }
        let cases = json(&cases);
        let cases = cases["cases"].as_array().unwrap();
        let records: Vec<_> = document.records(&committees, &mainnet(), MIN_PARTICIPANTS).map(Result::unwrap).collect();
        assert_eq!(records.len(), cases.len(), "{name}");
        for (record, case) in records.iter().zip(cases) {
            assert_eq!(shared(record), text(case, "signing_root"), "{name}");
            assert_eq!(const_hex::encode_prefixed(&record.signature), text(case, "signature"));
            assert_eq!(record.public_keys.len() as u64, case["participants"].as_u64().unwrap());
            let committee = json(&derived.join(text(case, "committee_file")));
            assert_eq!(record.public_keys, participants(&committee, text(case, "sync_committee_bits")).into());
            assert_eq!(record.failed_check(), None, "{name}: {:?}", record.checks);
            assert_eq!(record.suite.as_deref(), Some("eth2-sync-aggregate"));
            seen.insert(text(case, "signing_root").to_owned());
        }
    }
    println!("{} signing roots", seen.len());
    assert!(seen.len() >= 10);
}

/// The bytes of a content value in a file of the portal network: its fork digest, or offsets, and then SSZ.
fn portal(path: &Path) -> Vec<u8> {
    let text = fs::read_to_string(path).unwrap();
    let value = text.split("content_value:").nth(1).unwrap().split("content_key").next().unwrap();
    let digits: String = value.chars().filter(|c| !c.is_whitespace() && !"\"\\-".contains(*c)).collect();
    const_hex::decode(digits).unwrap()
}

/// A bootstrap and an update of mainnet as SSZ: alone, and as the Beacon API sends several.
#[test]
fn light_client_objects_in_ssz() {
    let Some(folder) = vectors::path("07_eth_portal/light_client/deneb") else { return };
    let bootstrap = portal(&folder.join("bootstrap.yaml")).split_off(4);
    let updates = portal(&folder.join("updates.yaml"));
    let second = u32::from_le_bytes(updates[4..8].try_into().unwrap()) as usize;
    let (first, second) = (&updates[12..second], &updates[second + 4..]);
    let chunk = |object: &[u8]| [&(object.len() as u64 + 4).to_le_bytes(), &[9; 4][..], object].concat();
    for file in [bootstrap.clone(), first.to_vec(), [chunk(first), chunk(second)].concat()] {
        assert_eq!(guess(&file), Ok(Format::LightClient));
        assert_eq!(peek(BufReader::with_capacity(9, &file[..])).unwrap().0, Ok(Format::LightClient));
    }
    let read = |bytes: &[u8], input| Document::read(bytes, input, "test.ssz").unwrap();
    let mut committees = SyncCommittees::default();
    let lesson = committees.learn(&[read(&bootstrap, 0)], &mainnet(), MIN_PARTICIPANTS).remove(0);
    assert_eq!(lesson.teaching, Teaching::Learned, "{:?}", lesson.checks);
    assert!(lesson.checks.iter().all(|check| check.result == CheckResult::Passed), "{:?}", lesson.checks);
    let documents = [read(first, 1), read(&[chunk(first), chunk(second)].concat(), 2)];
    let lessons = committees.learn(&documents, &mainnet(), MIN_PARTICIPANTS);
    println!("{:?}", lessons.iter().map(|lesson| (lesson.period, lesson.teaching)).collect::<Vec<_>>());
    assert!(lessons.len() >= 2 && lessons.iter().all(|lesson| lesson.teaching != Teaching::Refused));
    for lesson in &lessons {
        assert!(lesson.checks.iter().all(|check| check.result == CheckResult::Passed), "{:?}", lesson.checks);
    }
    // Cut off anywhere, it is an error and no panic.
    for object in [&bootstrap[..], first, &chunk(first)] {
        for end in (0..object.len()).step_by(97) {
            let document = Document::read(&object[..end], 0, "cut.ssz");
            let entries = document.map(|d| d.records(&committees, &mainnet(), MIN_PARTICIPANTS).collect::<Vec<_>>());
            assert!(entries.is_err() || entries.unwrap().iter().all(Result::is_err), "{end}");
        }
    }
}

#[test]
fn deposits_of_the_staking_tools() {
    let Some(derived) = vectors::path("07_eth_derived/deposits") else { return };
    let cases = json(&derived.join("deposit_signatures_a.json"));
    let cases = cases["cases"].as_array().unwrap();
    let mut read = 0;
    for case in cases {
        let source = text(case, "source");
        let Some((_, file)) = source.split_once("test_vectors/vectors/") else { continue };
        let Some(path) = vectors::path(format!("05_keys/lighthouse-validator-manager/{file}")) else { return };
        assert_eq!(guessed(&path), Format::Deposit);
        let records: Vec<Record> = deposit::read(open(&path), &SigningContext::default())
            .unwrap()
            .map(|entry| entry.unwrap().unwrap())
            .collect();
        let key = const_hex::decode(text(case, "pubkey")).unwrap();
        let record = records.iter().find(|record| record.public_keys.as_encoded().unwrap()[0] == key).unwrap();
        assert_eq!(shared(record)[2..], *text(case, "signing_root"), "{source}");
        assert_eq!(record.suite.as_deref(), Some("eth2"));
        assert!(record.checks.len() >= 2 && record.failed_check().is_none(), "{:?}", record.checks);
        read += 1;
    }
    println!("{read} deposits");
    assert!(read > 5);
}

/// Changes of a block of mainnet, in the form in which the deposit tools write them.
#[test]
fn changes_of_credentials_of_mainnet() {
    let Some(derived) = vectors::path("07_eth_derived/self_contained") else { return };
    let cases = json(&derived.join("17034870_block_ssz_bls_to_execution_change.json"));
    let cases = cases["cases"].as_array().unwrap();
    let changes = cases.iter().map(|case| {
        let message = serde_json::json!({
            "validator_index": case["validator_index"],
            "from_bls_pubkey": case["pubkey"],
            "to_execution_address": case["to_execution_address"],
        });
        let metadata = serde_json::json!({"network_name": case["network"]});
        serde_json::json!({"message": message, "signature": case["signature"], "metadata": metadata})
    });
    let document = serde_json::Value::from(changes.collect::<Vec<_>>()).to_string();
    assert_eq!(guess(document.as_bytes()), Ok(Format::Change));
    let records = change::read(document.as_bytes(), &SigningContext::default()).unwrap();
    let records: Vec<Record> = records.map(|entry| entry.unwrap().unwrap()).collect();
    for (record, case) in records.iter().zip(cases) {
        assert_eq!(
            format!(
                "0x{}",
                const_hex::encode(match &record.messages {
                    quorate::Messages::Shared(message) => message,
                    other => panic!("{other:?}"),
                })
            ),
            text(case, "signing_root")
        );
        assert!(record.failed_check().is_none(), "{:?}", record.checks);
    }
    println!("{} changes", records.len());
    assert!(records.len() == cases.len() && records.len() > 5);
}

fn participants(committee: &Value, bits: &str) -> Vec<Vec<u8>> {
    let bits = const_hex::decode(bits).unwrap();
    let keys = committee["pubkeys"].as_array().unwrap().iter().enumerate();
    keys.filter(|(index, _)| bits[index / 8] >> (index % 8) & 1 == 1)
        .map(|(_, key)| const_hex::decode(key.as_str().unwrap()).unwrap())
        .collect()
}

#[test]
fn branches_of_real_updates_prove() {
    let (_, documents): (Vec<_>, Vec<_>) = documents(&SETS[..2]).into_iter().unzip();
    if documents.is_empty() {
        return;
    }
    let mut committees = SyncCommittees::default();
    let lessons = committees.learn(&documents, &mainnet(), MIN_PARTICIPANTS);
    let bootstraps = lessons.iter().filter(|lesson| lesson.block_root.is_some());
    let checks: Vec<_> = bootstraps.flat_map(|lesson| &lesson.checks).collect();
    assert!(!checks.is_empty() && checks.iter().all(|check| check.result == CheckResult::Passed), "{checks:?}");
    let network = mainnet();
    let records = documents.iter().flat_map(|document| document.records(&committees, &network, MIN_PARTICIPANTS));
    let mut updates = 0;
    for record in records.map(Result::unwrap) {
        updates += 1;
        // Finality and the next committee of an optimistic update, and what takes a clock.
        let not_possible = record.checks.iter().filter(|check| check.result == CheckResult::NotPossible).count();
        assert!((1..=3).contains(&not_possible), "{:?}", record.checks);
        let execution = record.checks.iter().find(|check| check.name == "attested_execution_branch").unwrap();
        assert_eq!(execution.result, CheckResult::Passed, "{}", execution.detail);
    }
    println!("{updates} updates");
    assert!(updates > 2);
}

/// Flips one hex digit of each field in turn and expects that the named check sees it.
#[test]
fn a_flipped_digit_fails_its_branch() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let bootstrap = Document::read(open(&folder.join("bootstrap.json")), 0, "bootstrap").unwrap();
    let updates = json(&folder.join("updates.json"));
    let flips = [
        ("/data/finality_branch/3", "finality_branch"),
        ("/data/finalized_header/beacon/body_root", "finality_branch"),
        ("/data/next_sync_committee_branch/0", "next_sync_committee_branch"),
        ("/data/next_sync_committee/pubkeys/17", "next_sync_committee_branch"),
        ("/data/next_sync_committee/aggregate_pubkey", "next_sync_committee_branch"),
        ("/data/attested_header/execution/state_root", "attested_execution_branch"),
        ("/data/attested_header/execution/logs_bloom", "attested_execution_branch"),
        ("/data/attested_header/execution_branch/2", "attested_execution_branch"),
        ("/data/finalized_header/execution/extra_data", "finalized_execution_branch"),
    ];
    let documents = [bootstrap];
    let mut committees = SyncCommittees::default();
    committees.learn(&documents, &mainnet(), MIN_PARTICIPANTS);
    for (pointer, check) in flips {
        let mut update = updates[0].clone();
        let field = update.pointer_mut(pointer).unwrap();
        let text = field.as_str().unwrap();
        let last = if text.ends_with('0') { '1' } else { '0' };
        *field = Value::from(format!("{}{last}", &text[..text.len() - 1]));
        let document = Document::read(update.to_string().as_bytes(), 1, "flipped").unwrap();
        let record = document.records(&committees, &mainnet(), MIN_PARTICIPANTS).next().unwrap().unwrap();
        assert_eq!(record.failed_check().map(|failed| failed.name), Some(check), "{pointer}");
    }
}

#[test]
fn a_flipped_bootstrap_is_refused() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let good = fs::read_to_string(folder.join("bootstrap.json")).unwrap();
    let key = &json(&folder.join("bootstrap.json"))["data"]["current_sync_committee"]["pubkeys"][3];
    let other = key.as_str().unwrap().replace("0x8", "0x9").replace("0xa", "0xb");
    let forged = good.replacen(key.as_str().unwrap(), &other, 1);
    assert_ne!(forged, good);
    for (text, expected) in [(good, Teaching::Learned), (forged, Teaching::Refused)] {
        let documents = [Document::read(text.as_bytes(), 0, "bootstrap").unwrap()];
        assert_eq!(SyncCommittees::default().learn(&documents, &mainnet(), MIN_PARTICIPANTS)[0].teaching, expected);
    }
}

#[test]
fn later_committees_rest_on_the_update_that_named_them() {
    let (_, documents): (Vec<_>, Vec<_>) = documents(&SETS[..1]).into_iter().unzip();
    if documents.len() < BEACON_API.len() {
        return;
    }
    let mut committees = SyncCommittees::default();
    committees.learn(&documents, &mainnet(), MIN_PARTICIPANTS);
    let updates: Vec<_> = documents[3].records(&committees, &mainnet(), MIN_PARTICIPANTS).map(Result::unwrap).collect();
    assert_eq!(updates[0].rests_on, None);
    let origin = &updates[1].rests_on.as_ref().unwrap()[0];
    assert_eq!((origin.document.as_str(), origin.place), ("07_eth_helios/updates.json", Place::Element(0)));
}
