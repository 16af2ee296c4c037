//! Whole chains, with the expected answer of every signature: generated eras, a block of Gnosis, and the official phase0 cases.
//!
//! `quorate_lab::vectors` says where they lie, and what a test does without them.
#![allow(clippy::unwrap_used, reason = "a vector that does not read fails its test")]

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Cursor,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use quorate::{ClaimBytes, Messages, Options, Verifier};
use quorate_formats::network::Fork;
use quorate_history::{
    Block, Chain, ChainClaim, Committees, EraError, EraFile, Eras, Preset, State, Surroundings, Validator,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A folder of the chains, if the test data is on this machine.
fn folder(name: &str) -> Option<PathBuf> {
    quorate_lab::vectors::path(Path::new("20_history").join(name))
}

/// What is expected of a signature: number of keys, signing root, verdict.
type Expected = (usize, String, bool);
/// A block (its slot or its number), a kind, and a place in the block.
type Key = (u64, String, String);

/// The rows of a table under their keys: six columns from `block` on.
fn rows<'a>(lines: impl Iterator<Item = Vec<&'a str>>) -> BTreeMap<Key, Expected> {
    let row = |columns: Vec<&str>| {
        let [block, kind, place, keys, root, verdict, ..] = columns[..] else { panic!("{columns:?}") };
        let key = (block.parse().unwrap(), kind.to_owned(), place.to_owned());
        (key, (keys.parse().unwrap(), root.to_owned(), verdict == "true"))
    };
    lines.map(row).collect()
}

/// What became of claims, under their keys.
fn judged(claims: Vec<(u64, ChainClaim)>) -> BTreeMap<Key, Expected> {
    let verifier = Verifier::new(Options::default());
    let bytes: Vec<ClaimBytes> = claims.iter().map(|(_, claim)| claim.claim.clone()).collect();
    let verdicts = verifier.prepare(&bytes).decide(&mut ChaCha20Rng::from_seed([7; 32])).verdicts;
    let judge = |((block, claim), verdict): ((u64, ChainClaim), quorate::Verdict)| {
        let Messages::Shared(message) = &claim.claim.messages else { panic!("a message of its own for each key") };
        let valid = claim.failed.is_none() && verdict.is_valid();
        let key = (block, claim.kind.to_string(), claim.index.to_string());
        (key, (claim.claim.public_keys.len(), const_hex::encode(message), valid))
    };
    claims.into_iter().zip(verdicts).map(judge).collect()
}

fn agree(what: &str, found: &BTreeMap<Key, Expected>, expected: &BTreeMap<Key, Expected>) {
    for (key, row) in expected {
        assert_eq!(found.get(key), Some(row), "{what}: {key:?}");
    }
    for key in found.keys() {
        assert!(expected.contains_key(key), "{what}: {key:?} is not expected");
    }
}

fn chain(folder: &Path) -> Chain {
    Chain::from_json(&fs::read_to_string(folder.join("chain.json")).unwrap(), "chain.json").unwrap()
}

fn era(folder: &Path, era: u64) -> Vec<u8> {
    fs::read(folder.join(format!("minimal-{era:05}.era"))).unwrap()
}

fn open(bytes: Vec<u8>) -> EraFile<Cursor<Vec<u8>>> {
    EraFile::open(Cursor::new(bytes)).unwrap()
}

/// The claims of an era, up to the error that ends it.
fn claims(eras: &mut Eras, bytes: Vec<u8>) -> (Vec<(u64, ChainClaim)>, Result<(), EraError>) {
    let mut claims = Vec::new();
    let read = eras.claims(&mut open(bytes), |claim| {
        claims.push((claim.slot, claim));
        ControlFlow::Continue(())
    });
    (claims, read)
}

fn generated_chain(name: &str, expected_rows: usize, expected_false: usize) {
    let Some(folder) = folder(name) else { return };
    let mut eras = Eras::new(chain(&folder));
    let (mut count, mut lies) = (0, 0);
    for number in 0..3 {
        let (claims, read) = claims(&mut eras, era(&folder, number));
        read.unwrap();
        if number == 0 {
            assert!(claims.is_empty());
            continue;
        }
        let text = fs::read_to_string(folder.join(format!("claims-{number:05}.tsv"))).unwrap();
        let expected = rows(text.lines().skip(1).map(|line| line.split('\t').collect()));
        lies += expected.values().filter(|(_, _, valid)| !valid).count();
        count += expected.len();
        agree(name, &judged(claims), &expected);
    }
    assert_eq!((count, lies), (expected_rows, expected_false), "{name}");
}

#[test]
fn every_signature_of_capella() {
    generated_chain("capella", 850, 0);
}

#[test]
fn every_signature_of_deneb() {
    generated_chain("deneb", 808, 2);
}

#[test]
fn every_signature_of_a_fork_inside_an_era() {
    generated_chain("capella_deneb", 787, 2);
}

#[test]
fn every_planted_lie_of_deneb() {
    generated_chain("deneb_lies", 838, 15);
}

#[test]
fn a_false_deposit_is_the_only_lie_that_a_chain_may_hold() {
    let Some(folder) = folder("deneb") else { return };
    let mut eras = Eras::new(chain(&folder));
    eras.begin_with(&mut open(era(&folder, 0))).unwrap();
    let (claims, read) = claims(&mut eras, era(&folder, 1));
    read.unwrap();
    let may_be_false: BTreeMap<Key, bool> = claims
        .iter()
        .map(|(slot, c)| ((*slot, c.kind.to_string(), c.index.to_string()), c.kind.may_be_false()))
        .collect();
    let found = judged(claims);
    let lies: Vec<&Key> = found.iter().filter(|(_, (_, _, valid))| !valid).map(|(key, _)| key).collect();
    assert_eq!(lies.len(), 2);
    assert!(lies.iter().all(|key| may_be_false[key] && key.1 == "deposit"), "{lies:?}");
}

/// An era that stands beside this file: made by `eth-consensus-specs` 1.7.0a13 with its own state transition, which checked every
/// signature. Two empty slots, four attestations in each block.
fn era_of_the_specification(fork: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(fork);
    let mut eras = Eras::new(chain(&folder));
    eras.begin_with(&mut open(era(&folder, 0))).unwrap();
    let (claims, read) = claims(&mut eras, era(&folder, 1));
    read.unwrap();
    let found = judged(claims);
    assert!(found.values().all(|(_, _, valid)| *valid), "{fork}");
    let of = |wanted: &str| found.keys().filter(|(_, kind, _)| kind == wanted).count();
    assert_eq!(
        (of("proposer"), of("randao"), of("sync"), of("attestation"), found.len()),
        (61, 61, 61, 240, 423),
        "{fork}"
    );
}

#[test]
fn every_signature_of_electra() {
    era_of_the_specification("electra");
}

#[test]
fn every_signature_of_fulu() {
    era_of_the_specification("fulu");
}

// What ties files to each other and to their chain.

#[test]
fn missing_state_of_the_era_before() {
    let Some(folder) = folder("capella") else { return };
    let mut eras = Eras::new(chain(&folder));
    let (none, read) = claims(&mut eras, era(&folder, 1));
    assert!(none.is_empty());
    let expected = "era 1 begins with the state at the end of era 0, and no input that can be read has it; give the file of that era too";
    assert_eq!(read.unwrap_err().to_string(), expected);
    // Its own state is known now.
    claims(&mut eras, era(&folder, 2)).1.unwrap();

    // A gap.
    let mut eras = Eras::new(chain(&folder));
    eras.begin_with(&mut open(era(&folder, 0))).unwrap();
    assert!(matches!(claims(&mut eras, era(&folder, 2)).1, Err(EraError::NoStateBefore { era: 2 })));
}

#[test]
fn an_era_of_another_chain_with_the_same_genesis() {
    let (Some(one), Some(other)) = (folder("deneb"), folder("deneb_lies")) else { return };
    let mut eras = Eras::new(chain(&one));
    eras.begin_with(&mut open(era(&one, 0))).unwrap();
    eras.begin_with(&mut open(era(&one, 1))).unwrap();
    let (none, read) = claims(&mut eras, era(&other, 2));
    let error = read.unwrap_err().to_string();
    assert!(none.is_empty() && error.contains("the block of slot 64: it builds on the block 0x"), "{error}");
}

#[test]
fn state_of_another_network() {
    let Some(folder) = folder("deneb") else { return };
    let mut eras = Eras::new(Chain::built_in("mainnet").unwrap());
    let error = eras.begin_with(&mut open(era(&folder, 0))).unwrap_err().to_string();
    assert!(
        error.starts_with("offset 8, the state: it is of another network: its genesis validators root is 0x2d95"),
        "{error}"
    );
    assert!(
        error.ends_with("expected 0x4b363db94e286120d76eb905340fdd4e54bfe9f06bf33ff6cf5ad27f511bfe95 of mainnet"),
        "{error}"
    );
    // A network whose forks are others.
    let text = fs::read_to_string(folder.join("chain.json")).unwrap().replace("0x04000001", "0x05000001");
    let mut eras = Eras::new(Chain::from_json(&text, "chain.json").unwrap());
    let error = eras.begin_with(&mut open(era(&folder, 0))).unwrap_err().to_string();
    assert!(
        error.contains("its fork version in epoch 0 is 0x04000001, expected 0x05000001 by the forks of chain.json"),
        "{error}"
    );
    // The same network, read with the sizes of another preset.
    let text = fs::read_to_string(folder.join("chain.json")).unwrap().replace("minimal", "gnosis");
    let mut eras = Eras::new(Chain::from_json(&text, "chain.json").unwrap());
    let error = eras.begin_with(&mut open(era(&folder, 1))).unwrap_err().to_string();
    assert!(error.contains("found a state of slot 64, expected the end of an era, which has 8192 slots"), "{error}");
}

/// The records of a file: type and packed bytes.
fn records(bytes: &[u8]) -> Vec<([u8; 2], Vec<u8>)> {
    let (mut records, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at + 2..at + 6].try_into().unwrap()) as usize;
        records.push((bytes[at..at + 2].try_into().unwrap(), bytes[at + 8..at + 8 + length].to_vec()));
        at += 8 + length;
    }
    records
}

/// A file of these blocks, by slot, and a state, with indices that fit.
fn file(blocks: &[(u64, Vec<u8>)], state: &[u8], slot: u64) -> Vec<u8> {
    let record = |kind: [u8; 2], bytes: &[u8]| {
        [&kind[..], &u32::try_from(bytes.len()).unwrap().to_le_bytes(), &[0, 0], bytes].concat()
    };
    let index = |first: u64, places: &[i64]| {
        let places: Vec<u8> = places.iter().flat_map(|place| place.to_le_bytes()).collect();
        record(*b"i2", &[&first.to_le_bytes()[..], &places, &(places.len() as u64 / 8).to_le_bytes()].concat())
    };
    let mut bytes = record(*b"e2", &[]);
    let mut places = [0; 64];
    for (slot, packed) in blocks {
        places[(slot % 64) as usize] = bytes.len() as i64;
        bytes.extend(record([1, 0], packed));
    }
    let state_place = bytes.len() as i64;
    bytes.extend(record([2, 0], state));
    let at = bytes.len() as i64;
    bytes.extend(index(slot - 64, &places.map(|place| if place == 0 { 0 } else { place - at })));
    let at = bytes.len() as i64;
    bytes.extend(index(slot, &[state_place - at]));
    bytes
}

/// The parts of era 1: its blocks by slot, and its state.
fn parts(folder: &Path) -> (Vec<(u64, Vec<u8>)>, Vec<u8>) {
    let mut blocks = Vec::new();
    let mut state = Vec::new();
    for (kind, packed) in records(&era(folder, 1)) {
        match kind {
            [1, 0] => {
                let slot = u64::from_le_bytes(unpacked(&packed)[100..108].try_into().unwrap());
                blocks.push((slot, packed));
            }
            [2, 0] => state = packed,
            _ => {}
        }
    }
    (blocks, state)
}

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    std::io::copy(&mut snap::read::FrameDecoder::new(packed), &mut bytes).unwrap();
    bytes
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut to = snap::write::FrameEncoder::new(Vec::new());
    std::io::Write::write_all(&mut to, bytes).unwrap();
    to.into_inner().unwrap()
}

/// What era 1 of `deneb` comes to if its parts are changed.
fn changed(change: impl FnOnce(&mut Vec<(u64, Vec<u8>)>, &mut Vec<u8>)) -> Option<String> {
    let folder = folder("deneb")?;
    let (mut blocks, mut state) = parts(&folder);
    change(&mut blocks, &mut state);
    let mut eras = Eras::new(chain(&folder));
    eras.begin_with(&mut open(era(&folder, 0))).unwrap();
    Some(claims(&mut eras, file(&blocks, &state, 64)).1.map_or_else(|error| error.to_string(), |()| "read".to_owned()))
}

#[test]
fn blocks_that_are_removed_foreign_or_in_another_slot() {
    let Some(whole) = changed(|_, _| ()) else { return };
    assert_eq!(whole, "read");
    let error = changed(|blocks, _| drop(blocks.remove(20))).unwrap();
    assert!(
        error.contains("the state: it has the block 0x") && error.contains("in slot 23, which the file does not hold"),
        "{error}"
    );
    let error = changed(|blocks, _| drop(blocks.pop())).unwrap();
    assert!(error.contains("in slot 63, which the file does not hold"), "{error}");
    let error = changed(|blocks, _| blocks[6].0 = 7).unwrap();
    assert!(error.contains("the block of slot 7: it is of slot 9"), "{error}");
    // A graffito, at 84 + 100 + 96 + 72 bytes, is not a signature, and yet the block is another one.
    let error = changed(|blocks, _| {
        let mut bytes = unpacked(&blocks[3].1);
        bytes[352] ^= 1;
        blocks[3].1 = packed(&bytes);
    });
    let error = error.unwrap();
    assert!(
        error.contains("the block of slot 4: its root is 0x") && error.contains("one of them is not of this chain"),
        "{error}"
    );
}

#[test]
fn ssz_offsets_that_lie() {
    // The body of a block begins at 184 and its slashings' offset at 200 bytes behind; the state's offsets are at 176 + 2 * 2048.
    let in_block = |value: u32| {
        changed(|blocks, _| {
            let mut bytes = unpacked(&blocks[0].1);
            bytes[384..388].copy_from_slice(&value.to_le_bytes());
            blocks[0].1 = packed(&bytes);
        })
    };
    let Some(error) = in_block(u32::MAX) else { return };
    assert!(
        error.contains("offset 8, the block of slot 1: it is not a block of the fork deneb and the preset minimal: the offset 4294967295"),
        "{error}"
    );
    assert!(in_block(0).unwrap().contains("points into the fields of fixed length"));
    let in_state = |at: usize, value: u32| {
        changed(|_, state| {
            let mut bytes = unpacked(state);
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            *state = packed(&bytes);
        })
        .unwrap()
    };
    let first = 176 + 2 * 2048;
    assert!(in_state(first, 7).contains("its first offset is 7, expected"));
    // Eth1 data, its votes, and the deposit index stand between the first offset and the validators'.
    let validators = first + 4 + 72 + 4 + 8;
    assert!(in_state(validators, 0).contains("offsets must not fall"));
    assert!(in_state(validators, u32::MAX).contains("offsets must not fall"));
    let error = in_state(validators + 4, u32::MAX);
    assert!(error.contains("offsets must not fall"), "{error}");
}

#[test]
fn snappy_bomb_of_a_state() {
    // The offsets lie that there are validators up to a gigabyte.
    let error = changed(|_, state| {
        let mut bytes = unpacked(state);
        let balances = 176 + 2 * 2048 + 92;
        let participation = balances + 4 + 64 * 32 + 64 * 8;
        let inactivity = participation + 8 + 121;
        let header = inactivity + 4 + 2 * 33 * 48;
        for at in [balances, participation, participation + 4, inactivity, header, header + 4 + 16] {
            bytes[at..at + 4].copy_from_slice(&0x4000_0000_u32.to_le_bytes());
        }
        *state = packed(&bytes);
    });
    let Some(error) = error else { return };
    assert!(error.contains("its last offset is 1073741824, but it has at most"), "{error}");
}

// Blocks beside eras.

#[test]
fn gnosis_slot_300() {
    let Some(folder) = folder("gnosis") else { return };
    let document: Value = serde_json::from_slice(&fs::read(folder.join("gnosis_300_rpc.json")).unwrap()).unwrap();
    let block = Block::from_bytes(&phase0_block(&document["data"]), Fork::Phase0, Preset::Gnosis).unwrap();
    let keys = fs::read_to_string(folder.join("genesis_public_keys.txt")).unwrap();
    let validator = |line: &str| Validator {
        key: const_hex::decode_to_array(line).unwrap(),
        activation_epoch: 0,
        exit_epoch: u64::MAX,
    };
    let state = State {
        slot: 8192,
        block_roots: vec![[0; 32]; 8192],
        randao_mixes: vec![[0; 32]; 65_536],
        validators: keys.lines().map(validator).collect(),
        sync_committee: None,
    };
    let chain = Chain::built_in("gnosis").unwrap();
    let surroundings = Surroundings { chain: &chain, state: &state, sync_committee: None, previous_root: [0; 32] };
    let mut found =
        judged(surroundings.claims(&block, &mut Committees::new(chain.preset)).into_iter().map(|c| (300, c)).collect());
    // The committees of its attestations need the mix of epoch 16, which is not at hand.
    let attestations = found.len() - 2;
    found.retain(|(_, kind, _), _| kind != "attestation");
    println!("skipped: {attestations} attestations, no RANDAO mix of epoch 16");
    let row = |kind: &str, root: &str| ((300, kind.to_owned(), "0".to_owned()), (1, root.to_owned(), true));
    let expected = BTreeMap::from([
        row("proposer", "071c4eb88390bb86940b20ecde39436cb721c432c3586a46616de1621dd6bd25"),
        row("randao", "33816a52f53bd19bcec99d90a92313bba7f34662ab3881404b1675ead986f25b"),
    ]);
    agree("gnosis", &found, &expected);
}

/// The SSZ bytes of a phase0 block with attestations alone, as the Beacon API writes it in JSON.
fn phase0_block(signed: &Value) -> Vec<u8> {
    let hex = |value: &Value| const_hex::decode(value.as_str().unwrap()).unwrap();
    let number = |value: &Value| value.as_str().unwrap().parse::<u64>().unwrap().to_le_bytes().to_vec();
    let offset = |value: usize| u32::try_from(value).unwrap().to_le_bytes().to_vec();
    let (message, body) = (&signed["message"], &signed["message"]["body"]);
    let attestation = |each: &Value| {
        let data = &each["data"];
        let checkpoint = |name: &str| [number(&data[name]["epoch"]), hex(&data[name]["root"])].concat();
        let data = [
            number(&data["slot"]),
            number(&data["index"]),
            hex(&data["beacon_block_root"]),
            checkpoint("source"),
            checkpoint("target"),
        ];
        [offset(228), data.concat(), hex(&each["signature"]), hex(&each["aggregation_bits"])].concat()
    };
    let attestations: Vec<Vec<u8>> = body["attestations"].as_array().unwrap().iter().map(attestation).collect();
    let mut at = 4 * attestations.len();
    let mut list = Vec::new();
    for each in &attestations {
        list.extend(offset(at));
        at += each.len();
    }
    list.extend(attestations.concat());
    let eth1 = &body["eth1_data"];
    let fixed = 96 + 72 + 32 + 5 * 4;
    let body = [
        hex(&body["randao_reveal"]),
        hex(&eth1["deposit_root"]),
        number(&eth1["deposit_count"]),
        hex(&eth1["block_hash"]),
        hex(&body["graffiti"]),
        offset(fixed),
        offset(fixed),
        offset(fixed),
        offset(fixed + list.len()),
        offset(fixed + list.len()),
        list,
    ];
    [
        offset(100),
        hex(&signed["signature"]),
        number(&message["slot"]),
        number(&message["proposer_index"]),
        hex(&message["parent_root"]),
        hex(&message["state_root"]),
        offset(84),
        body.concat(),
    ]
    .concat()
}

#[test]
fn official_phase0_cases() {
    let Some(folder) = folder("phase0") else { return };
    let text = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let mut cases: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let (case, rest) = line.split_once('\t').unwrap();
        cases.entry(case).or_default().push(rest.split('\t').collect());
    }
    let (mut count, mut lies) = (0, 0);
    for (case, lines) in &cases {
        let expected = rows(lines.iter().cloned());
        count += expected.len();
        lies += expected.values().filter(|(_, _, valid)| !valid).count();
        agree(case, &phase0_case(&folder.join(case), case), &expected);
    }
    assert_eq!((cases.len(), count, lies), (49, 1780, 6));
}

/// What became of the claims of a case's blocks.
fn phase0_case(folder: &Path, case: &str) -> BTreeMap<Key, Expected> {
    let read = |name: &str| {
        File::open(folder.join(name)).ok()?;
        Some(snap::raw::Decoder::new().decompress_vec(&fs::read(folder.join(name)).unwrap()).unwrap())
    };
    let pre = read("pre.ssz_snappy").unwrap();
    let chain = serde_json::json!({
        "preset": case.split('/').next().unwrap(),
        "genesis_validators_root": const_hex::encode(&pre[8..40]),
        "genesis_fork_version": const_hex::encode(&pre[52..56]),
        "forks": [{"name": "phase0", "epoch": 0, "version": const_hex::encode(&pre[52..56])}],
    });
    let chain = Chain::from_json(&chain.to_string(), case).unwrap();
    let mut state = State::from_bytes(&pre, &chain).unwrap();
    let mut committees = Committees::new(chain.preset);
    let mut claims = Vec::new();
    let mut epoch = chain.epoch(state.slot);
    for number in 0.. {
        let Some(bytes) = read(&format!("blocks_{number}.ssz_snappy")) else { break };
        let block = Block::from_bytes(&bytes, Fork::Phase0, chain.preset).unwrap();
        // What a transition does to the mixes; the validators of these cases stay as they are.
        let mixes = state.randao_mixes.len() as u64;
        while epoch < chain.epoch(block.slot) {
            state.randao_mixes[((epoch + 1) % mixes) as usize] = state.randao_mixes[(epoch % mixes) as usize];
            epoch += 1;
        }
        let surroundings = Surroundings { chain: &chain, state: &state, sync_committee: None, previous_root: [0; 32] };
        claims.extend(surroundings.claims(&block, &mut committees).into_iter().map(|claim| (number, claim)));
        let mix = &mut state.randao_mixes[(epoch % mixes) as usize];
        let reveal = Sha256::digest(block.randao_reveal);
        mix.iter_mut().zip(reveal).for_each(|(byte, revealed)| *byte ^= revealed);
    }
    judged(claims)
}
