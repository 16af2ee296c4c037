//! Claims that name members of the server's key sets.

use bytes::Bytes;
use quorate::{Backend, MinPk, SecretKey, aggregate::aggregate};
use quorate_server::{Server, config::Config};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{
    grpc::{
        proto::{Claim, VerifyRequest},
        unary,
    },
    rig::Rig,
};

fn secret(i: u8) -> SecretKey<MinPk> {
    SecretKey::key_gen(MinPk::Eth2, &[i; 32], b"").unwrap()
}

/// A server with the key set `sync` of four keys, and at most three keys a claim.
fn rig() -> Rig {
    let keys: String = (0..4).map(|i| const_hex::encode(secret(i).public_key().to_bytes()) + "\n").collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), keys).unwrap();
    Rig::with(|config| {
        config.verify.suite = "eth2".to_owned();
        config.verify.key_sets = vec![format!("sync={}", file.path().display())];
        config.limits.keys = 3;
    })
}

fn signed(keys: &[u8]) -> Vec<u8> {
    let signatures: Vec<_> = keys.iter().map(|i| secret(*i).sign(MinPk::Eth2, b"head")).collect();
    aggregate(&signatures, Backend::Portable).unwrap().to_bytes().to_vec()
}

#[test]
fn claims_by_members_over_http() {
    let rig = rig();
    let claim = |set: &str, members: serde_json::Value, keys: &[u8]| {
        let signature = const_hex::encode(signed(keys));
        json!({"key_set": set, "members": members, "message": const_hex::encode(b"head"), "signature": signature})
    };
    let claims = [
        claim("sync", json!("0x05"), &[0, 2]),
        claim("sync", json!([2, 0]), &[0, 2]),
        claim("sync", json!([2, 1]), &[0, 2]),
        claim("sync", json!([4]), &[0]),
    ];
    let answer = rig.verify(&json!(claims).to_string());
    let valid: Vec<_> = answer.json().as_array().unwrap().iter().map(|answer| answer["valid"].clone()).collect();
    assert_eq!(valid, [true, true, false, false], "{answer:?}");
    assert_eq!(answer.json()[3]["reason"], "the claim names member 4 of a key set of 4");
    let lines: String = claims.iter().map(|claim| format!("{claim}\n")).collect();
    assert_eq!(rig.post("/v1/verify", "application/x-ndjson", lines).lines().len(), 4);
    for (claim, expected) in [
        (claim("other", json!([0]), &[0]), "\"key_set\": found \"other\", expected one of the key sets \"sync\""),
        (claim("sync", json!("0x0f"), &[0]), "\"members\": found 4 members, expected at most 3"),
        (claim("sync", json!([0, 1, 2, 3]), &[0]), "\"members\": found 4 members, expected at most 3"),
        (claim("sync", json!([-1]), &[0]), "\"members[0]\": found integer `-1`"),
    ] {
        let refused = rig.verify(&claim.to_string());
        assert_eq!(refused.status, 422, "{refused:?}");
        assert!(refused.message().contains(expected), "{refused:?}");
    }
    // What was false is named in the evidence.
    let sources = rig.get("/v1/sources");
    assert!(sources.status == 200 && !sources.json().to_string().contains("\"digest\":\"\""), "{sources:?}");
}

#[test]
fn claims_by_members_over_grpc() {
    let (rig, runtime) = (rig(), Runtime::new().unwrap());
    let claim = |keys: &[u8]| Claim {
        key_set: "sync".to_owned(),
        message: Some(Bytes::from_static(b"head")),
        signature: signed(keys).into(),
        ..Claim::default()
    };
    let bitmap = |keys: &[u8], members: u8| Claim { members: vec![members].into(), ..claim(keys) };
    let verify = |claims: Vec<Claim>| runtime.block_on(unary(&rig, &VerifyRequest { common: None, claims }));
    let claims = vec![bitmap(&[0, 2], 5), Claim { indices: vec![2, 0], ..claim(&[0, 2]) }, bitmap(&[0, 2], 3)];
    let valid: Vec<_> = verify(claims).unwrap().answers.iter().map(|answer| answer.valid).collect();
    assert_eq!(valid, [true, true, false]);
    for (claim, expected) in [
        (Claim { indices: vec![0], ..bitmap(&[0], 1) }, "%22members%22%20and%20%22indices%22%20are%20both%20given"),
        (Claim { key_set: String::new(), ..bitmap(&[0], 1) }, "%22key_set%22%20is%20missing"),
        (Claim { key_set: "other".to_owned(), ..bitmap(&[0], 1) }, "expected%20one%20of%20the%20key%20sets"),
        (Claim { public_keys: vec![Bytes::new()], ..bitmap(&[0], 1) }, "%22public_keys%22%20and%20%22key_set%22"),
        (bitmap(&[0], 15), "%22members%22:%20found%204%20members,%20expected%20at%20most%203"),
        (Claim { indices: vec![0; 4], ..claim(&[0]) }, "indices:%20found%204%20members,%20expected%20at%20most%203"),
    ] {
        let (code, message) = verify(vec![claim]).unwrap_err();
        assert_eq!(code, "3", "{message}");
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn a_key_set_that_cannot_be_read_stops_the_start() {
    let mut config = Config::default();
    config.listen.address = "127.0.0.1:0".to_owned();
    config.verify.key_sets = vec!["sync=/nowhere".to_owned()];
    let error = Runtime::new().unwrap().block_on(Server::start(config)).err().unwrap();
    let error = format!("{error:#}");
    assert!(error.starts_with("verify.key_sets: /nowhere: cannot read the key set"), "{error}");
}
