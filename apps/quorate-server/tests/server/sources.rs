//! False claims count for their source, and administrators pardon and ban.

use serde_json::{Value, json};

use crate::rig::{Rig, example};

/// A claim of a source, true or false.
fn claim(source: &str, is_true: bool) -> String {
    let claims = example("one-false.jsonl");
    let line = claims.lines().nth(if is_true { 0 } else { 3 }).unwrap();
    let mut claim: Value = serde_json::from_str(line).unwrap();
    claim["source"] = json!(source);
    claim.to_string()
}

#[test]
fn a_source_that_lies_is_banned_and_pardoned() {
    let rig = Rig::start();
    let name = "<script>alert(\"mallory\")</script>";
    for _ in 0..3 {
        assert_eq!(rig.verify(&claim(name, false)).json()[0]["valid"], false);
    }
    let refused = rig.verify(&claim(name, true));
    assert_eq!((refused.status, refused.code().as_str()), (403, "banned"), "{refused:?}");
    // With claims of others it is not an error of the request.
    let both = rig.verify(&format!("[{}, {}]", claim(name, true), claim("honest", true)));
    assert_eq!(both.status, 200);
    assert_eq!((&both.json()[0]["refused"], &both.json()[0]["valid"]), (&json!("banned"), &json!(false)));
    assert_eq!(both.json()[1]["valid"], true);

    let sources = rig.get("/v1/sources").json();
    assert_eq!(sources.as_array().unwrap().len(), 1, "the honest one is not listed");
    assert_eq!((&sources[0]["source"], &sources[0]["standing"]), (&json!(name), &json!("banned")));
    assert_eq!(sources[0]["false_claims"], 3);
    let evidence = &sources[0]["evidence"][0];
    assert_eq!(evidence["reason"], "the signature does not match the keys and messages");
    assert_eq!(evidence["claim"]["digest"].as_str().unwrap().len(), 64);
    let page = rig.get("/");
    assert!(page.body.contains("&lt;script&gt;alert(&quot;mallory&quot;)&lt;/script&gt;"), "{}", page.body);
    assert!(!page.body.contains("<script>alert"));
    assert!(page.head.contains("content-security-policy: default-src 'none'"));

    let source = json!({"source": name}).to_string();
    assert_eq!(rig.post("/v1/pardon", "application/json", &source).status, 404, "only administrators pardon");
    assert_eq!(rig.admin("/v1/pardon", &source).json(), json!({"done": true}));
    assert_eq!(rig.admin("/v1/pardon", &source).json(), json!({"done": false}));
    assert_eq!(rig.verify(&claim(name, true)).json()[0]["valid"], true);
}

#[test]
fn an_administrator_bans() {
    let rig = Rig::start();
    let ban = json!({"source": 7, "seconds": 60}).to_string();
    assert_eq!(rig.post("/v1/ban", "application/json", &ban).status, 404);
    assert_eq!(rig.admin("/v1/ban", &ban).json(), json!({"done": true}));
    let mut of_7: Value = serde_json::from_str(&claim("", true)).unwrap();
    of_7["source"] = json!(7);
    assert_eq!(rig.verify(&of_7.to_string()).status, 403);
    let metrics = rig.get("/metrics").body;
    assert!(metrics.contains("quorate_banned_sources 1\n"), "{metrics}");
    for (body, expected) in [
        (json!({"source": 7}), "seconds"),
        (json!({"source": 7, "seconds": 0}), "\"seconds\": found 0"),
        (json!({"source": 7, "seconds": 1e18 as u64}), "seconds"),
        (json!({"source": -7, "seconds": 1}), "integer from 0"),
        (json!({"sauce": 7, "seconds": 1}), "sauce"),
        (json!([]), "body"),
    ] {
        let answer = rig.admin("/v1/ban", &body.to_string());
        assert_eq!((answer.status, answer.code().as_str()), (400, "bad-body"), "{answer:?}");
        assert!(answer.message().contains(expected), "{}", answer.message());
    }
    let long = json!({"source": "a".repeat(256 << 10), "seconds": 1}).to_string();
    let answer = rig.admin("/v1/ban", &long);
    assert_eq!((answer.status, answer.code()), (413, "too-long".to_owned()));
}

#[test]
fn a_ban_by_word_does_not_speak_of_false_claims() {
    let rig = Rig::start();
    let ban = json!({"source": "honest", "seconds": 60}).to_string();
    assert_eq!(rig.admin("/v1/ban", &ban).json(), json!({"done": true}));
    let refused = rig.verify(&claim("honest", true));
    assert_eq!(refused.status, 403);
    assert!(refused.message().contains("or the operator banned it"), "{}", refused.message());
}

/// No claim has such a source, and everybody would read the name in the list.
#[test]
fn a_ban_of_a_longer_name_is_refused() {
    let rig = Rig::start();
    let ban = |length: usize| rig.admin("/v1/ban", &json!({"source": "a".repeat(length), "seconds": 60}).to_string());
    let answer = ban(200_000);
    assert_eq!((answer.status, answer.code().as_str()), (400, "bad-body"), "{answer:?}");
    assert!(answer.message().contains("\"source\": found 200000 bytes of text"), "{}", answer.message());
    assert_eq!(rig.get("/v1/sources").json(), json!([]));
    assert_eq!(ban(32 << 10).json(), json!({"done": true}));
}

/// The numbers of connections begin anew with the server, so their bans are in no file.
#[test]
fn a_ban_of_a_connection_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bans.json").display().to_string();
    let rig = Rig::with(move |config| config.sources.bans = file);
    for (source, kept) in [(json!(7), true), (json!("connection:7"), false)] {
        let answer = rig.admin("/v1/ban", &json!({"source": source, "seconds": 60}).to_string());
        assert_eq!(answer.json(), json!({"done": true, "kept": kept}));
    }
}

/// An administrator reads the list in a terminal, and a liar chooses its name.
#[test]
fn a_terminal_obeys_no_name_in_the_list_of_sources() {
    let rig = Rig::start();
    let name = "m\u{9b}2Jallory\u{202e}\u{200b}";
    assert_eq!(rig.verify(&claim(name, false)).json()[0]["valid"], false);
    for answer in [rig.get("/v1/sources"), rig.admin_get("/v1/sources")] {
        assert_eq!(answer.json()[0]["source"], name);
        assert!(answer.head.contains("content-type: application/json"), "{answer:?}");
        assert!(answer.body.contains("m\\u009b2Jallory\\u202e\\u200b"), "{}", answer.body);
    }
}

/// Forty names as long as a name may be, each of which is six times as long in the answer.
#[test]
fn the_list_of_sources_is_bounded() {
    let rig = Rig::start();
    for number in 0..40 {
        let name = format!("{number:02}{}", "\u{7f}".repeat(32_000));
        let ban = json!({"source": name, "seconds": 60}).to_string();
        assert_eq!(rig.admin("/v1/ban", &ban).json(), json!({"done": true}));
    }
    for listed in [rig.get("/v1/sources"), rig.admin_get("/v1/sources")] {
        let sources = listed.json().as_array().unwrap().len();
        assert!(listed.body.len() <= 1 << 20 && sources > 0 && sources < 40, "{sources} in {}", listed.body.len());
        let left_out = format!("quorate-left-out: {}", 40 - sources);
        assert!(listed.head.lines().any(|line| line == left_out), "{}", listed.head);
    }
}

/// Whoever lists sources takes a place and memory like whoever verifies; an administrator is served without.
#[test]
fn the_list_of_sources_is_counted() {
    let rig = Rig::with(|config| {
        let limits = &mut config.limits;
        (limits.memory_bytes, limits.body_bytes, limits.line_bytes) = (8192, 8192, 8192);
    });
    assert_eq!(rig.get("/v1/sources").json(), json!([]));
    let ban = json!({"source": "m".repeat(10_000), "seconds": 60}).to_string();
    assert_eq!(rig.admin("/v1/ban", &ban).json(), json!({"done": true}));
    let refused = rig.get("/v1/sources");
    assert_eq!((refused.status, refused.code().as_str()), (503, "overloaded"), "{refused:?}");
    let listed = rig.admin_get("/v1/sources");
    assert!(listed.status == 200 && !listed.head.contains("quorate-left-out"), "{listed:?}");
}
