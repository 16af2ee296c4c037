//! A configuration that is read again while the server runs: what changes, what needs a restart, and that nothing changes by halves.

use std::{fs, thread, time::Duration};

use quorate::{MinPk, SecretKey};
use quorate_host::options::Source;
use quorate_server::config::Config;
use serde_json::json;

use crate::{
    bounds::claim,
    clients,
    rig::{Rig, eventually},
};

/// A file with the key of a seed, and a claim by the first member of the set.
fn key_set(rig: &Rig, seed: u8) -> (String, String) {
    let secret = SecretKey::key_gen(MinPk::Eth2, &[seed; 32], b"").unwrap();
    let file = rig.secret("keys", &const_hex::encode(secret.public_key().to_bytes()));
    let signature = const_hex::encode(secret.sign(MinPk::Eth2, b"head").to_bytes());
    let message = const_hex::encode(b"head");
    (file, json!({"key_set": "sync", "members": [0], "message": message, "signature": signature}).to_string())
}

#[test]
fn key_sets_are_read_again_although_their_names_stay() {
    let rig = Rig::with(|config| config.verify.suite = "eth2".to_owned());
    let (file, by_first) = key_set(&rig, 1);
    assert_eq!(rig.verify(&by_first).status, 422, "there is no set yet");
    let reloaded = rig.reload(move |config| config.verify.key_sets = vec![format!("sync={file}")]).unwrap();
    assert_eq!((reloaded.changed, reloaded.waiting), (vec!["verify.key_sets".to_owned()], vec![]));
    assert_eq!(rig.verify(&by_first).json()[0]["valid"], true);
    // The file holds other keys, and the configuration is the same.
    let (file, by_second) = key_set(&rig, 2);
    assert_eq!(rig.verify(&by_second).json()[0]["valid"], false);
    assert_eq!(rig.reload(|_| {}).unwrap(), quorate_server::Reloaded::default());
    assert_eq!(rig.verify(&by_second).json()[0]["valid"], true);
    // A file that does not read leaves the set as it was.
    fs::write(&file, "no key").unwrap();
    let error = format!("{:#}", rig.reload(|config| config.limits.claims = 1).unwrap_err());
    assert!(error.starts_with("verify.key_sets: ") && error.contains(&file), "{error}");
    assert_eq!(rig.verify(&by_second).json()[0]["valid"], true);
    assert_eq!(
        rig.verify(&format!("[{by_second}, {by_second}]")).status,
        200,
        "half of the new configuration is in force"
    );
}

#[test]
fn limits_and_thresholds_change_and_an_address_waits() {
    let rig = Rig::start();
    let two = format!("[{0}, {0}]", claim(true, None));
    assert_eq!(rig.verify(&two).status, 200);
    let reloaded = rig.reload(|config| {
        config.limits.claims = 1;
        config.sources.ban_at = 1.0;
        config.listen.address = "127.0.0.1:1".to_owned();
        config.verify.threads = 7;
    });
    let reloaded = reloaded.unwrap();
    assert_eq!(reloaded.changed, ["limits.claims", "sources.ban_at"]);
    assert_eq!(reloaded.waiting, ["listen.address", "verify.threads"]);
    assert_eq!(rig.verify(&two).code(), "too-many");
    assert_eq!(rig.verify(&claim(false, Some("mallory")).to_string()).json()[0]["valid"], false);
    assert_eq!(rig.verify(&claim(true, Some("mallory")).to_string()).code(), "banned", "one false claim bans now");
    let metrics = rig.get("/metrics").body;
    assert!(metrics.contains("quorate_reloads_total{result=\"applied\"} 1\n"), "{metrics}");
    assert!(metrics.contains("quorate_reloads_total{result=\"refused\"} 0\n"), "{metrics}");
}

#[test]
fn what_makes_no_sense_changes_nothing() {
    let rig = Rig::start();
    let error = rig.reload(|config| {
        config.limits.claims = 1;
        config.limits.body_bytes = config.limits.memory_bytes + 1;
    });
    assert_eq!(error.unwrap_err().to_string().split(':').next(), Some("limits.body_bytes"));
    let two = format!("[{0}, {0}]", claim(true, None));
    assert_eq!(rig.verify(&two).status, 200);
    let metrics = rig.get("/metrics").body;
    assert!(metrics.contains("quorate_reloads_total{result=\"refused\"} 1\n"), "{metrics}");
}

#[test]
fn a_reload_does_not_open_a_server_that_has_clients() {
    let rig = Rig::start();
    let file = rig.secret("tokens.toml", &clients::tokens(&[("alice", "of alice")]));
    assert_eq!(rig.reload(|config| config.clients.tokens = file).unwrap().changed, ["clients.tokens"]);
    let claim = claim(true, None);
    assert_eq!(rig.verify(&claim.to_string()).status, 401);
    let error = rig.reload(|config| config.clients.tokens.clear()).unwrap_err().to_string();
    assert!(
        error.starts_with("clients.tokens: ") && error.contains("restart the server to answer everybody"),
        "{error}"
    );
    assert_eq!(rig.verify(&claim.to_string()).status, 401);
    assert_eq!(clients::verify(&rig, Some("of alice"), &claim).status, 200);
}

#[test]
fn an_empty_file_changes_nothing_where_there_are_clients() {
    let rig = Rig::with(|config| config.limits.claims = 1);
    let file = rig.secret("tokens.toml", &clients::tokens(&[("alice", "of alice")]));
    rig.reload(|config| config.clients.tokens = file).unwrap();
    let empty = Config::read(Some(Source { name: "server.toml", text: "" }), [], &[]).unwrap();
    let error = rig.reload(|config| *config = empty).unwrap_err().to_string();
    assert!(error.starts_with("clients.tokens: "), "{error}");
    let claim = claim(true, None);
    let two = json!([claim, claim]);
    assert_eq!(rig.verify(&claim.to_string()).status, 401);
    assert_eq!(clients::verify(&rig, Some("of alice"), &two).code(), "too-many", "a limit has changed");
}

/// Fewer places, while all of them are taken, and more of them again.
#[test]
fn places_for_connections_follow_the_configuration() {
    let rig = Rig::with(|config| config.limits.connections = 8);
    let free = |rig: &Rig| {
        let metrics = crate::rig::get(rig.socket("admin"), "/metrics").body;
        let line = metrics.lines().find_map(|line| line.strip_prefix("quorate_connections_free ")).unwrap().to_owned();
        line.parse::<usize>().unwrap()
    };
    let taken: Vec<_> = (0..6).map(|_| rig.tcp()).collect();
    eventually("all six are accepted", || free(&rig) == 2);
    rig.reload(|config| config.limits.connections = 4).unwrap();
    assert_eq!(free(&rig), 0);
    drop(taken);
    eventually("four are left", || free(&rig) == 4);
    thread::sleep(Duration::from_millis(50));
    assert_eq!(free(&rig), 4);
    rig.reload(|config| config.limits.connections = 9).unwrap();
    assert_eq!(free(&rig), 9);
}

/// The longest message of gRPC is one of the limits.
#[test]
fn the_longest_message_changes() {
    use crate::grpc::{
        proto::{Claim, VerifyRequest},
        unary,
    };
    let (rig, runtime) = (Rig::start(), tokio::runtime::Runtime::new().unwrap());
    rig.reload(|config| config.limits.body_bytes = 1000).unwrap();
    let claim = Claim { signature: vec![0; 2000].into(), ..Claim::default() };
    let request = VerifyRequest { common: None, claims: vec![claim] };
    let (code, message) = runtime.block_on(unary(&rig, &request)).unwrap_err();
    assert_eq!(code, "11", "{message}");
}
