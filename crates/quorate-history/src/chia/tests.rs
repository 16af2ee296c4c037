use std::{collections::BTreeMap, fs, path::PathBuf};

use quorate::SecretKey;
use serde_json::{Value, json};

use super::*;

/// The folder of real blocks, if the test data is on this machine.
fn folder() -> Option<PathBuf> {
    quorate_lab::vectors::path("07_chia_blocks")
}

fn all(text: &str) -> Vec<Result<ChiaBlock, Malformed>> {
    read(text.as_bytes()).map(Result::unwrap).collect()
}

fn one(value: &Value) -> ChiaBlock {
    let mut blocks = all(&value.to_string());
    assert_eq!(blocks.len(), 1);
    blocks.remove(0).unwrap()
}

fn reason(value: &Value) -> String {
    all(&value.to_string()).remove(0).unwrap_err().reason
}

/// The kinds of claims that are invalid.
fn invalid(block: &ChiaBlock) -> Vec<&'static str> {
    let invalid = block.claims.iter().filter(|claim| {
        let valid = claim.claim.verify().is_valid();
        assert!(!(valid && claim.failed.is_some()), "{}", claim.kind);
        !valid
    });
    invalid.map(|claim| claim.kind.name()).collect()
}

fn unverified(block: &ChiaBlock) -> Vec<&'static str> {
    block.unverified.iter().map(|unverified| unverified.kind.name()).collect()
}

/// Flips the lowest bit of a field in hexadecimal.
fn flip(field: &mut Value) {
    let text = field.as_str().unwrap();
    let mut bytes = const_hex::decode(text).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    *field = const_hex::encode_prefixed(bytes).into();
}

fn secret(number: u8) -> SecretKey<MinPk> {
    SecretKey::key_gen(MinPk::Chia, &[number; 32], b"").unwrap()
}

fn hex(bytes: impl AsRef<[u8]>) -> Value {
    const_hex::encode_prefixed(bytes).into()
}

/// A block of our own keys: what it signs is signed by whoever signs in [`signed`].
fn unsigned() -> Value {
    let (hash, none) = (hex([7; 32]), Value::Null);
    let vdf = |byte: u8| json!({"challenge": hash, "number_of_iterations": 9, "output": {"data": hex([byte; 100])}});
    json!({
        "finished_sub_slots": [],
        "reward_chain_block": {
            "height": 12, "total_iters": 1, "signage_point_index": 3, "pos_ss_cc_challenge_hash": hash,
            "proof_of_space": {
                "challenge": hash, "pool_public_key": hex(secret(2).public_key().to_bytes()),
                "pool_contract_puzzle_hash": none, "plot_public_key": hex(secret(1).public_key().to_bytes()),
                "size": 32, "proof": "0xabcd",
            },
            "challenge_chain_sp_vdf": vdf(1), "challenge_chain_sp_signature": hex([0; 96]),
            "reward_chain_sp_vdf": vdf(2), "reward_chain_sp_signature": hex([0; 96]),
        },
        "foliage": {
            "foliage_block_data": {
                "unfinished_reward_block_hash": hash, "pool_target": {"puzzle_hash": hash, "max_height": 5},
                "pool_signature": hex([0; 96]), "farmer_reward_puzzle_hash": hash, "extension_data": hash,
            },
            "foliage_block_data_signature": hex([0; 96]),
            "foliage_transaction_block_hash": hash, "foliage_transaction_block_signature": hex([0; 96]),
        },
        "foliage_transaction_block": {
            "prev_transaction_block_hash": hash, "timestamp": 8, "filter_hash": hash, "additions_root": hash,
            "removals_root": hash, "transactions_info_hash": hash,
        },
        "transactions_info": {
            "generator_root": hash, "generator_refs_root": hash, "aggregated_signature": hex([0; 96]), "fees": 6, "cost": 7,
            "reward_claims_incorporated": [{"parent_coin_info": hash, "puzzle_hash": hash, "amount": 9}],
        },
    })
}

/// The block with its signatures, in the order in which they are made, and the hashes that it states.
fn signed(mut block: Value) -> Value {
    for kind in [
        ClaimKind::RewardChainSp,
        ClaimKind::ChallengeChainSp,
        ClaimKind::Pool,
        ClaimKind::FoliageTransactionBlock,
        ClaimKind::FoliageBlockData,
    ] {
        let parsed: FullBlock = serde_json::from_value(block.clone()).unwrap();
        if let (Some(transactions), Some(info)) = (&parsed.foliage_transaction_block, &parsed.transactions_info) {
            block["foliage"]["foliage_transaction_block_hash"] = hex(hash(transactions));
            block["foliage_transaction_block"]["transactions_info_hash"] = hex(hash(info));
        }
        let data = &mut block["foliage"]["foliage_block_data"];
        data["unfinished_reward_block_hash"] = hex(hash(&parsed.reward_chain_block));
        let Some(claim) = one(&block).claims.into_iter().find(|claim| claim.kind == kind) else { continue };
        let Messages::Shared(message) = &claim.claim.messages else { panic!("one message") };
        let signer = if kind == ClaimKind::Pool { secret(2) } else { secret(1) };
        let signature = hex(signer.sign(MinPk::Chia, message).to_bytes());
        match kind {
            ClaimKind::RewardChainSp => block["reward_chain_block"]["reward_chain_sp_signature"] = signature,
            ClaimKind::ChallengeChainSp => block["reward_chain_block"]["challenge_chain_sp_signature"] = signature,
            ClaimKind::Pool => block["foliage"]["foliage_block_data"]["pool_signature"] = signature,
            ClaimKind::FoliageTransactionBlock => block["foliage"]["foliage_transaction_block_signature"] = signature,
            _ => block["foliage"]["foliage_block_data_signature"] = signature,
        }
    }
    block
}

#[test]
fn every_known_answer_and_a_mutated_byte_of_each() {
    let Some(folder) = folder() else { return };
    let answers: Value =
        serde_json::from_slice(&fs::read(folder.join("derived_aug_signatures_a.json")).unwrap()).unwrap();
    let mut expected: BTreeMap<(String, String), [Vec<u8>; 3]> = BTreeMap::new();
    for case in answers["cases"].as_array().unwrap() {
        let text = |name: &str| case[name].as_str().unwrap();
        assert_eq!(case["expected"], true);
        let file = text("source").rsplit('/').next().unwrap().to_owned();
        let kind = text("kind").strip_suffix("_signature").unwrap().to_owned();
        let bytes = ["pubkey", "message", "signature"].map(|name| const_hex::decode(text(name)).unwrap());
        expected.insert((file, kind), bytes);
    }
    let mut found = 0;
    for (file, height) in
        [("300000.json", 300_000), ("466212.json", 466_212), ("1315537.json", 1_315_537), ("1315544.json", 1_315_544)]
    {
        let block = all(&fs::read_to_string(folder.join(file)).unwrap()).remove(0).unwrap();
        assert_eq!(block.height, height);
        assert_eq!(unverified(&block), if height == 300_000 { vec![] } else { vec!["transactions"] });
        for claim in block.claims {
            found += 1;
            let [key, message, signature] = &expected[&(file.to_owned(), claim.kind.to_string())];
            assert_eq!(claim.kind.place(claim.slot).to_string(), format!("height {height}"));
            assert_eq!(claim.failed, None);
            let mut bytes = claim.claim;
            assert_eq!(bytes.suite.name(), "chia");
            assert_eq!(*bytes.public_keys.as_encoded().unwrap(), [key.as_slice()]);
            assert_eq!(bytes.messages, Messages::Shared(message.as_slice().into()));
            assert_eq!(&bytes.signature, signature);
            assert!(bytes.verify().is_valid(), "{file} {}", claim.kind);
            let right = bytes.clone();
            bytes.signature[95] ^= 1;
            assert!(!bytes.verify().is_valid());
            bytes = right.clone();
            bytes.public_keys.as_encoded_mut().unwrap()[0][47] ^= 1;
            assert!(!bytes.verify().is_valid());
            let mut message = message.clone();
            message[0] ^= 1;
            bytes = ClaimBytes { messages: Messages::Shared(message.into()), ..right };
            assert!(!bytes.verify().is_valid());
        }
    }
    assert_eq!((found, expected.len()), (17, 17));
}

/// Every field that is signed, in a real block whose signatures are all there.
#[test]
fn a_changed_field_makes_its_claims_invalid() {
    let Some(folder) = folder() else { return };
    let file: Value = serde_json::from_slice(&fs::read(folder.join("1315544.json")).unwrap()).unwrap();
    assert_eq!(invalid(&one(&file)), Vec::<&str>::new());
    let cases: [(&str, &[&str]); 18] = [
        ("/reward_chain_block/reward_chain_sp_vdf/output/data", &["reward_chain_sp", "foliage_block_data"]),
        ("/reward_chain_block/challenge_chain_sp_vdf/output/data", &["challenge_chain_sp", "foliage_block_data"]),
        ("/reward_chain_block/reward_chain_sp_signature", &["reward_chain_sp", "foliage_block_data"]),
        ("/reward_chain_block/challenge_chain_sp_signature", &["challenge_chain_sp", "foliage_block_data"]),
        ("/reward_chain_block/proof_of_space/proof", &["foliage_block_data"]),
        ("/reward_chain_block/pos_ss_cc_challenge_hash", &["foliage_block_data"]),
        ("/foliage/foliage_block_data/farmer_reward_puzzle_hash", &["foliage_block_data"]),
        ("/foliage/foliage_block_data/extension_data", &["foliage_block_data"]),
        ("/foliage/foliage_block_data/unfinished_reward_block_hash", &["foliage_block_data"]),
        ("/foliage/foliage_block_data/pool_target/puzzle_hash", &["foliage_block_data", "pool"]),
        ("/foliage/foliage_block_data/pool_signature", &["foliage_block_data", "pool"]),
        ("/foliage/foliage_transaction_block_hash", &["foliage_transaction_block"]),
        ("/foliage/foliage_transaction_block_signature", &["foliage_transaction_block"]),
        ("/foliage_transaction_block/transactions_info_hash", &["foliage_transaction_block"]),
        ("/transactions_info/generator_root", &["foliage_transaction_block"]),
        ("/transactions_info/generator_refs_root", &["foliage_transaction_block"]),
        ("/transactions_info/aggregated_signature", &["foliage_transaction_block"]),
        ("/transactions_info/reward_claims_incorporated/0/puzzle_hash", &["foliage_transaction_block"]),
    ];
    for (field, expected) in cases {
        let mut changed = file.clone();
        flip(changed["block"].pointer_mut(field).unwrap());
        assert_eq!(invalid(&one(&changed)), expected, "{field}");
    }
    for field in [
        "/foliage_transaction_block/timestamp",
        "/transactions_info/fees",
        "/transactions_info/cost",
        "/transactions_info/reward_claims_incorporated/0/amount",
    ] {
        let mut changed = file.clone();
        *changed["block"].pointer_mut(field).unwrap() = 1.into();
        assert_eq!(invalid(&one(&changed)), ["foliage_transaction_block"], "{field}");
    }
}

#[test]
fn a_block_of_our_own_keys() {
    let block = one(&signed(unsigned()));
    assert_eq!((block.height, block.claims.len()), (12, 5));
    assert_eq!(invalid(&block), Vec::<&str>::new());
    assert_eq!(unverified(&block), ["transactions"]);
    // The height of a target is big-endian. In the real blocks it is 0.
    let target = [&[7; 32][..], &[0, 0, 0, 5]].concat();
    assert_eq!(block.claims[4].claim.messages, Messages::Shared(target.into()));
}

/// A block whose parts contradict each other names the field, and no key.
#[test]
fn hashes_that_a_block_states_of_itself() {
    for (field, name) in [
        ("/foliage/foliage_transaction_block_hash", "foliage_transaction_block_hash"),
        ("/transactions_info/generator_root", "transactions_info_hash"),
    ] {
        let mut block = signed(unsigned());
        flip(block.pointer_mut(field).unwrap());
        let block = one(&block);
        let claim = &block.claims[3];
        let check = claim.failed.as_ref().unwrap();
        assert_eq!(check.name, name);
        assert!(check.detail.contains("but the fields of the block hash to 0x"), "{}", check.detail);
        assert!(claim.claim.public_keys.is_empty());
    }
}

#[test]
fn the_first_signage_point_of_a_sub_slot() {
    let mut block = unsigned();
    block["reward_chain_block"]["signage_point_index"] = 0.into();
    block["reward_chain_block"]["reward_chain_sp_vdf"] = Value::Null;
    block["reward_chain_block"]["challenge_chain_sp_vdf"] = Value::Null;
    // The end of the slot before is in another block.
    let without = one(&signed(block.clone()));
    assert_eq!(unverified(&without), ["reward_chain_sp", "transactions"]);
    assert_eq!(invalid(&without), Vec::<&str>::new());
    assert_eq!(without.claims[0].claim.messages, Messages::Shared([7; 32].into()));
    // Or in this one.
    let vdf = json!({"challenge": hex([7; 32]), "number_of_iterations": 9, "output": {"data": hex([3; 100])}});
    block["finished_sub_slots"] = json!([{"reward_chain": {
        "end_of_slot_vdf": vdf, "challenge_chain_sub_slot_hash": hex([4; 32]),
        "infused_challenge_chain_sub_slot_hash": null, "deficit": 16,
    }}]);
    let with = signed(block);
    assert_eq!((unverified(&one(&with)), invalid(&one(&with))), (vec!["transactions"], vec![]));
    let mut changed = with.clone();
    changed["finished_sub_slots"][0]["reward_chain"]["deficit"] = 15.into();
    assert_eq!(invalid(&one(&changed)), ["reward_chain_sp"]);
}

#[test]
fn plots_that_pay_to_a_contract() {
    let mut block = unsigned();
    block["reward_chain_block"]["proof_of_space"]["pool_public_key"] = Value::Null;
    block["reward_chain_block"]["proof_of_space"]["pool_contract_puzzle_hash"] = hex([7; 32]);
    let stated = one(&signed(block.clone()));
    assert_eq!(unverified(&stated), ["transactions", "pool"]);
    block["foliage"]["foliage_block_data"]["pool_signature"] = Value::Null;
    let block = one(&signed(block));
    assert_eq!((unverified(&block), invalid(&block), block.claims.len()), (vec!["transactions"], vec![], 4));
}

#[test]
fn signatures_that_are_missing() {
    let mut block = unsigned();
    block["foliage"]["foliage_block_data"]["pool_signature"] = Value::Null;
    assert!(reason(&block).contains("pool_signature\" is missing"));
    for (part, field) in [
        ("foliage", "foliage_transaction_block_signature"),
        ("foliage", "foliage_transaction_block_hash"),
        ("", "foliage_transaction_block"),
        // Its own signature would be neither verified nor counted as not verified.
        ("", "transactions_info"),
    ] {
        let mut block = unsigned();
        let part = if part.is_empty() { &mut block } else { &mut block[part] };
        part[field] = Value::Null;
        assert!(reason(&block).contains("expected all four, or none"), "{field}");
    }
}

#[test]
fn fields_of_another_length_or_type_are_named() {
    let cases = [
        (
            "/foliage/foliage_block_data_signature",
            json!("0xab"),
            "\"foliage.foliage_block_data_signature\": found 2 hexadecimal digits, expected 192",
        ),
        (
            "/reward_chain_block/proof_of_space/plot_public_key",
            json!(7),
            "plot_public_key\": found integer `7`, expected a string of 48 bytes",
        ),
        ("/reward_chain_block/height", json!(-1), "\"reward_chain_block.height\": found integer `-1`"),
        ("/reward_chain_block/proof_of_space/version", json!(1), "version\": found 1, expected 0"),
        ("/finished_sub_slots", json!({}), "\"finished_sub_slots\": found an object"),
    ];
    for (field, value, expected) in cases {
        let mut block = unsigned();
        block["reward_chain_block"]["proof_of_space"]["version"] = 0.into();
        *block.pointer_mut(field).unwrap() = value;
        let reason = reason(&block);
        assert!(reason.contains(expected), "{reason}");
    }
}

/// Chia counts iterations with 128 bits.
#[test]
fn numbers_beyond_64_bits() {
    let text = unsigned().to_string();
    let (first, larger) = ("\"total_iters\":1}", "\"total_iters\":340282366920938463463374607431768211455}");
    assert!(text.contains(first));
    assert!(all(&text.replace(first, larger)).remove(0).is_ok());
    assert!(all(&text.replace(first, &larger.replace("455}", "456}"))).remove(0).is_err());
}

#[test]
fn lists_envelopes_and_one_after_the_other() {
    let block = signed(unsigned());
    let bad = json!({"success": false});
    let text =
        format!("{block}\n[{block}, {bad}, {block}] {}{}\n", json!({"blocks": [block, 5]}), json!({"block": block}));
    let found = all(&text);
    let good: Vec<bool> = found.iter().map(Result::is_ok).collect();
    assert_eq!(good, [true, true, false, true, true, false, true]);
    assert_eq!(found[6].as_ref().unwrap().place, Place::Element(6));
    let malformed = found[2].as_ref().unwrap_err();
    assert_eq!((malformed.place, malformed.reason.contains("missing field")), (Place::Element(2), true));
    assert!(found[5].as_ref().unwrap_err().reason.contains("found a number, expected a JSON object"));
    assert!(all(" \n").is_empty());
}

#[test]
fn a_mark_before_the_first_block_is_skipped() {
    let block = signed(unsigned());
    let found = all(&format!("\u{feff}{block}\n{block}"));
    assert!(found.len() == 2 && found.iter().all(Result::is_ok));
    // Between two blocks it is not white space.
    let error = read(format!("{block}\u{feff}{block}").as_bytes()).nth(1).unwrap().unwrap_err();
    assert!(matches!(error, ChiaError::NotJson { .. }), "{error}");
}

/// White space of any length is no end of the file, and takes nothing of the bound of the value behind it.
#[test]
fn a_value_behind_long_white_space_is_read() {
    for length in [0, 1, 7, 8, 9, 16, 17] {
        let white = " \n".repeat(length);
        let text = format!("{white}{{}}{white}[1,2,33]{white}");
        let reader = io::BufReader::with_capacity(3, text.as_bytes());
        let mut values = Values { reader: WithoutMark::new(reader), limit: 8 };
        let mut next = || values.next(Place::Element(0)).unwrap();
        assert_eq!([next(), next(), next()], [Some("{}".to_owned()), Some("[1,2,33]".to_owned()), None], "{length}");
    }
}

/// What is not a block takes more memory than its two characters, so no more of a list is read than was asked for.
#[test]
fn a_list_is_read_block_by_block() {
    let ones = ",\n1".repeat(100_000);
    for text in [format!("[ \"foliage, ]\" , [2]{ones} ]"), format!("{{\"blocks\": [\"foliage, ]\",[2]{ones}]}}")] {
        let mut blocks = read(text.as_bytes());
        for expected in ["found a string", "found a list", "found a number"] {
            let malformed = blocks.next().unwrap().unwrap().unwrap_err();
            assert!(malformed.reason.contains(expected), "{malformed}");
        }
        assert!(matches!(blocks.pending, Pending::List(_, read) if read < 30));
        assert_eq!(blocks.map(|block| block.unwrap().unwrap_err().place).last(), Some(Place::Element(100_001)));
    }
    assert_eq!(reason(&json!({"blocks": {}})), "\"blocks\": expected a list of blocks");
}

/// A block's own fields stand beside a list: neither may hide the other.
#[test]
fn a_list_does_not_hide_the_block_beside_it() {
    for field in ["reward_chain_block", "foliage"] {
        for (other, content) in [("blocks", json!([])), ("block", signed(unsigned()))] {
            let mut block = json!({"success": true});
            (block[field], block[other]) = (signed(unsigned())[field].clone(), content);
            let expected = format!("\"{field}\" and \"{other}\" are both given; keep one of them");
            assert_eq!(all(&block.to_string()).len(), 1);
            assert_eq!(reason(&block), expected);
        }
    }
}

#[test]
fn truncated_foreign_and_endless_files() {
    let block = signed(unsigned()).to_string();
    let text = format!("{block}\n{}", &block[..block.len() / 2]);
    let mut blocks = read(text.as_bytes());
    assert!(blocks.next().unwrap().unwrap().is_ok());
    let error = blocks.next().unwrap().unwrap_err().to_string();
    assert!(error.starts_with("element [1]: expected a block in JSON, but the file ends in the middle"), "{error}");
    assert!(blocks.next().is_none());
    let error = read(&b"hello"[..]).next().unwrap().unwrap_err().to_string();
    assert!(error.starts_with("element [0]: expected a block in JSON, but the value is not JSON: expected"), "{error}");
    let endless = io::BufReader::new(io::Read::chain(&b"[\""[..], io::repeat(b'x')));
    let mut values = Values { reader: WithoutMark::new(endless), limit: 1 << 16 };
    assert!(matches!(values.next(Place::Element(0)), Err(ChiaError::TooLong { .. })));
}
