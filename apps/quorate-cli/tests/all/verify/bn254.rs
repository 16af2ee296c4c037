//! The suites on BN254: the same stream, verdicts and exit codes on BN254.

use quorate_bn254::{Bn254SecretKey, Bn254Signature, Bn254Suite, drand_message, sum as sum_keys};
use serde_json::{Value, json};

use crate::verify::{
    files::parquet,
    run::{Folder, Verdicts as _, claim, example, false_claim, lines, verify, verify_input, with, without},
};

fn secret(i: u8) -> Bn254SecretKey {
    Bn254SecretKey::from_entropy(&[i; 48])
}

fn key(suite: Bn254Suite, i: u8) -> String {
    match suite.has_dual_keys() {
        false => const_hex::encode(secret(i).public_key_g2().to_bytes()),
        true => const_hex::encode(secret(i).dual_key().to_bytes()),
    }
}

/// The sum of the signers' signatures, each over a message.
fn sum(suite: Bn254Suite, signed: &[(u8, &[u8])]) -> String {
    let each = signed.iter().map(|(i, message)| suite.sign(&secret(*i), message).unwrap());
    const_hex::encode(each.sum::<Bn254Signature>().to_bytes())
}

/// Key `i` claims a message with a signature over another or the same.
fn single(suite: Bn254Suite, i: u8, message: &[u8], signed: &[u8]) -> Value {
    json!({
        "id": format!("b{i}"),
        "suite": suite.name(),
        "public_key": key(suite, i),
        "message": const_hex::encode(message),
        "signature": sum(suite, &[(i, signed)]),
    })
}

fn evmnet(i: u8) -> Value {
    let message = drand_message(i.into());
    single(Bn254Suite::DrandEvmnet, i, &message, &message)
}

fn eigenlayer(i: u8) -> Value {
    single(Bn254Suite::EigenLayer, i, &[i; 32], &[i; 32])
}

/// Keys over one message.
fn shared(suite: Bn254Suite, keys: &[u8], message: &[u8]) -> Value {
    let signed: Vec<_> = keys.iter().map(|i| (*i, message)).collect();
    json!({
        "suite": suite.name(),
        "public_keys": keys.iter().map(|i| key(suite, *i)).collect::<Vec<_>>(),
        "message": const_hex::encode(message),
        "signature": sum(suite, &signed),
    })
}

/// Keys over a message each.
fn each(suite: Bn254Suite, pairs: &[(u8, &[u8])]) -> Value {
    json!({
        "suite": suite.name(),
        "public_keys": pairs.iter().map(|(i, _)| key(suite, *i)).collect::<Vec<_>>(),
        "messages": pairs.iter().map(|(_, message)| const_hex::encode(message)).collect::<Vec<_>>(),
        "signature": sum(suite, pairs),
    })
}

#[test]
fn both_suites_among_claims_of_the_other_curve() {
    let lied = single(Bn254Suite::DrandEvmnet, 5, &drand_message(5), &drand_message(6));
    let claims = [evmnet(1), claim(1), eigenlayer(2), lied.clone(), false_claim(2), with(lied, "source", "peer-9")];
    let ran = verify_input(&["--verdicts", "--json"], lines(&claims)).exits(1).says("source peer-9: 1 false");
    let mut objects = ran.objects();
    let summary = objects.pop().unwrap();
    let reason = "the signature does not match the keys and messages";
    assert_eq!(objects[0], json!({"index": 0, "id": "b1", "valid": true}));
    assert_eq!(objects[3], json!({"index": 3, "id": "b5", "valid": false, "reason": reason}));
    let valid: Vec<_> = objects.iter().map(|object| object["valid"] == true).collect();
    assert_eq!(valid, [true, true, true, false, false, false]);
    assert_eq!(summary["suites"], json!(["drand-evmnet", "eigenlayer", "eth2"]));
    assert_eq!((&summary["valid"], &summary["invalid"]), (&json!(3), &json!(3)));
}

#[test]
fn the_suite_of_the_command_line_and_what_it_took() {
    let claims: Vec<_> = (1..=5).map(|i| without(evmnet(i), "suite")).collect();
    let arguments = ["--suite", "drand-evmnet", "--json", "--threads", "2"];
    let ran = verify_input(&arguments, lines(&claims)).exits(0).says("5 claims: 5 valid");
    let summary = ran.object();
    let counts = ["hashes", "pairings", "final_exponentiations"].map(|field| summary[field].as_u64().unwrap());
    assert_eq!(counts, [5, 6, 1]);
    let ran = verify_input(&["--suite", "eigenlayer", "--json"], lines(&[without(eigenlayer(1), "suite")])).exits(0);
    assert_eq!((&ran.object()["pairings"], &ran.object()["final_exponentiations"]), (&json!(2), &json!(1)));
    let named = without(evmnet(1), "suite");
    verify_input(&[], lines(std::slice::from_ref(&named))).exits(2).says("--suite NAME");
    verify_input(&["--suite", "eth2"], lines(&[named])).exits(1);
}

#[test]
fn parquet_rows_on_bn254() {
    let folder = Folder::new();
    let lied = single(Bn254Suite::EigenLayer, 3, &[3; 32], &[4; 32]);
    let path = folder.file("claims.parquet", parquet(&[evmnet(1), eigenlayer(2), lied, claim(4)]));
    assert_eq!(verify(&["--verdicts", &path]).exits(1).valid(), [true, true, false, true]);
}

#[test]
fn several_statements() {
    let one = [1; 32];
    let claims = [
        shared(Bn254Suite::EigenLayer, &[1, 2, 3], &one),
        with(shared(Bn254Suite::EigenLayer, &[1, 2, 3], &one), "signature", sum(Bn254Suite::EigenLayer, &[(1, &one)])),
        each(Bn254Suite::DrandEvmnet, &[(1, b"a"), (2, b"b")]),
        each(Bn254Suite::EigenLayer, &[(1, &one), (2, &one)]),
        // A NUL suite takes no message twice, in either form.
        each(Bn254Suite::DrandEvmnet, &[(1, b"a"), (2, b"a")]),
        shared(Bn254Suite::DrandEvmnet, &[1, 2], b"a"),
        json!({"suite": "eigenlayer", "public_keys": [], "message": "", "signature": "00".repeat(64)}),
    ];
    let ran = verify_input(&["--verdicts"], lines(&claims)).exits(1);
    assert_eq!(ran.valid(), [true, false, true, true, false, false, false]);
    let reasons: Vec<_> = ran.objects()[4..].iter().map(|o| o["reason"].as_str().unwrap().to_owned()).collect();
    assert!(reasons[..2].iter().all(|reason| reason.contains("NUL or BDN suite forbids")), "{reasons:?}");
    assert_eq!(reasons[2], "the claim has no keys and messages");
}

/// Under each suite in the form of the draft: a signature, several of one message, a lie, and the signature under the suite of the
/// other hash function.
#[test]
fn suites_by_their_ids() {
    for (hash, other) in [("KECCAK-256", "SHA-256"), ("SHA-256", "KECCAK-256")] {
        for (scheme, of_one_message) in [("NUL", false), ("AUG", true), ("POP", true)] {
            let named = |hash: &str| format!("BLS_SIG_BN254G1_XMD:{hash}_SVDW_RO_{scheme}_");
            let suite: Bn254Suite = named(hash).parse().unwrap();
            let claims = [
                single(suite, 1, b"one", b"one"),
                single(suite, 1, b"one", b"two"),
                with(single(suite, 1, b"one", b"one"), "suite", named(other)),
                each(suite, &[(1, b"one"), (2, b"two")]),
                shared(suite, &[1, 2, 3], b"one"),
            ];
            let ran = verify_input(&["--verdicts"], lines(&claims)).exits(1);
            assert_eq!(ran.valid(), [true, false, false, true, of_one_message], "{suite}");
        }
    }
}

/// The opposite of a key, so that the two add up to the identity.
fn opposite(i: u8) -> String {
    let key = secret(i).public_key_g2();
    let other = secret(i + 1).public_key_g2();
    let negated = sum_keys(Some(other), [], [key, other]).unwrap();
    const_hex::encode(negated.to_bytes())
}

#[test]
fn bytes_that_are_no_key_or_signature() {
    let suite = Bn254Suite::DrandEvmnet;
    let prime = "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47";
    let signature = evmnet(1)["signature"].as_str().unwrap().to_owned();
    let cases = [
        (with(evmnet(1), "public_key", "00".repeat(127)), "public key in G2: 127 bytes, expected 128"),
        (with(evmnet(1), "public_key", "00".repeat(128)), "public key in G2: the point is the identity"),
        (with(evmnet(1), "public_key", "01".repeat(128)), "public key in G2: the point is not on the curve"),
        (with(evmnet(1), "signature", &signature[..96]), "signature: 48 bytes, expected 64"),
        (with(evmnet(1), "signature", "01".repeat(64)), "signature: the point is not on the curve"),
        (
            with(evmnet(1), "signature", format!("{prime}{}", &signature[64..])),
            "signature: x is not below the field modulus",
        ),
        (with(eigenlayer(1), "message", "00"), "message: 1 bytes, expected 32"),
        (with(eigenlayer(1), "public_key", key(suite, 1)), "public key in G1 and G2: 128 bytes, expected 192"),
        (
            with(eigenlayer(1), "public_key", key(Bn254Suite::EigenLayer, 1)[..128].to_owned() + &key(suite, 2)),
            "do not belong together",
        ),
        (
            with(each(suite, &[(1, b"a"), (2, b"b")]), "public_keys", json!([key(suite, 1), "00"])),
            "public key in G2: 1 bytes, expected 128 (key 2 of 2)",
        ),
        (
            with(shared(suite, &[1, 2], b"a"), "public_keys", json!([key(suite, 1), opposite(1)])),
            "two messages of the aggregate are equal, which a NUL or BDN suite forbids",
        ),
        // A claim of the other curve under this suite.
        (with(claim(1), "suite", "drand-evmnet"), "public key in G2: 48 bytes, expected 128"),
        (with(evmnet(1), "suite", "eth2"), "public key: "),
    ];
    let claims: Vec<_> = cases.iter().map(|(claim, _)| claim.clone()).chain([evmnet(9)]).collect();
    let ran = verify_input(&["--verdicts"], lines(&claims)).exits(1);
    assert_eq!(ran.objects().len(), claims.len());
    for (object, (_, reason)) in ran.objects().iter().zip(&cases) {
        assert!(object["reason"].as_str().unwrap_or_default().contains(reason), "{object}, expected {reason}");
    }
    assert_eq!(ran.valid().last(), Some(&true));
}

#[test]
fn a_plan_is_explained() {
    // One message, so one pairing for its keys and one for the signatures.
    let votes: Vec<_> = (1..=9).map(|i| single(Bn254Suite::EigenLayer, i, &[7; 32], &[7; 32])).collect();
    let ran = verify_input(&["--explain"], lines(&votes))
        .exits(0)
        .says("9 keys, 1 message")
        .says("2: 1 by message, 0 by key, 1 for the signatures");
    // Every point of the first group is a member.
    assert!(!ran.err.contains("subgroup"), "{}", ran.err);
}

#[test]
fn claims_are_remembered_and_subtracted() {
    let folder = Folder::new();
    let known = folder.path("known");
    let votes = [evmnet(1), eigenlayer(2)];
    verify_input(&["--remember", &known], lines(&votes)).exits(0).says("2 remembered");
    verify_input(&["--known", &known], lines(&votes)).exits(0).says("2 statements known");
    // A known claim with another signature is false.
    let lie = with(evmnet(1), "signature", evmnet(2)["signature"].clone());
    let ran = verify_input(&["--known", &known, "--verdicts"], lines(&[lie, evmnet(3)])).exits(1);
    assert_eq!(ran.valid(), [false, true]);
    verify_input(&["--known", &known, "--soundness", "128"], lines(&[evmnet(3)])).exits(0);
}

#[test]
fn rounds_of_a_network_on_bn254() {
    let ran = verify(&["--json", &example("drand-bn254.json")]).exits(0);
    assert_eq!((&ran.object()["valid"], &ran.object()["suites"]), (&json!(5), &json!(["drand-evmnet"])));
    let document: Value = serde_json::from_str(&std::fs::read_to_string(example("drand-bn254.json")).unwrap()).unwrap();
    let folder = Folder::new();
    let info = folder.file("info.json", document["chain_info"].to_string());
    let [first, second] = [0, 1].map(|i| document["beacons"][i].clone());
    let rounds = json!([first, with(second, "round", 7)]).to_string();
    let ran = verify_input(&["--verdicts", "--chain-info", &info], &rounds).exits(1);
    assert_eq!(ran.valid(), [true, false]);
    // Mainnet's key is another.
    verify(&["--chain", "evmnet", &example("drand-bn254.json")]).exits(2).says("but the chosen chain has");
    let ran = verify_input(&["--verdicts", "--chain", "evmnet"], document["beacons"][0].to_string()).exits(1);
    assert_eq!(ran.object()["reason"], "the signature does not match the keys and messages");
}

#[test]
fn suites_are_listed() {
    let help = verify(&["--help"]).exits(0).out;
    assert!(help.contains("drand-evmnet") && help.contains("eigenlayer"), "{help}");
    assert!(help.contains("BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_") && help.contains("about 100 bits"), "{help}");
    verify(&["--suite", "evmnet"]).exits(2).says("drand-g1-legacy, drand-evmnet, eigenlayer) or an IETF id");
}
