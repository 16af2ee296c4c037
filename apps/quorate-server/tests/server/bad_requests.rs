//! Requests that are not understood: each is named, and nothing is verified.

use std::io::Write;

use serde_json::json;

use crate::rig::{Rig, answer, ask, example};

fn good() -> String {
    example("one-false.jsonl").lines().next().unwrap().to_owned()
}

#[test]
fn bad_bodies_are_named_with_place_and_field() {
    let rig = Rig::with(|config| {
        config.limits.claims = 2;
        config.limits.keys = 3;
        config.limits.body_bytes = 100_000;
    });
    let good = good();
    let keys = json!({"suite": "eth2", "public_keys": ["", "", "", ""], "message": "", "signature": ""}).to_string();
    let deep = "[".repeat(50_000);
    let closed = format!("{deep}{}", "]".repeat(50_000));
    let deeper = format!("{{\"suite\": {}", "[".repeat(50_000));
    for (body, status, code, expected) in [
        ("", 400, "bad-body", "holds no claims"),
        ("[]", 400, "bad-body", "holds no claims"),
        ("hello", 400, "bad-body", "line 1"),
        ("[{\"suite\":", 400, "bad-body", "ends in the middle"),
        (&deep, 400, "bad-body", "ends in the middle"),
        (&closed, 422, "bad-claim", "element [0]"),
        (&deeper, 400, "bad-body", "ends in the middle"),
        ("{}", 422, "bad-claim", "element [0]: \"public_key\" is missing"),
        ("[5]", 422, "bad-claim", "element [0]"),
        (&format!("[{good}, {good}, {good}]"), 413, "too-many", "more than 2 claims"),
        (&good.replace("eth2", "eth3"), 422, "bad-claim", "\"suite\": "),
        (&good.replace("\"signature\"", "\"signature\": \"0g\", \"x\""), 422, "bad-claim", "signature"),
        (&good.replace("\"message\"", "\"message\": 5, \"x\""), 422, "bad-claim", "message"),
        (&keys, 422, "bad-claim", "\"public_keys\": found 4 keys, expected at most 3"),
        (&" ".repeat(100_001), 413, "too-long", "100000 bytes"),
    ] {
        let answer = rig.verify(body);
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{body:.90}: {answer:?}");
        assert!(answer.message().contains(expected), "{body:.90}: {}", answer.message());
    }
    let second = rig.verify(&format!("[{good}, {{}}]"));
    assert_eq!(second.json()["error"]["element"], 1);
    assert!(rig.get("/metrics").body.contains("interface=\"json\",result=\"bad-claim\"}"));
    let metrics = rig.get("/metrics").body;
    let mut counted = metrics.lines().filter(|line| line.starts_with("quorate_claims_total{"));
    assert!(counted.clone().count() == 6 && counted.all(|line| line.ends_with(" 0")), "something was verified");
}

#[test]
fn bytes_that_are_not_utf8() {
    let rig = Rig::start();
    let answer = rig.post("/v1/verify", "application/json", b"{\"suite\": \"\xff\"}");
    assert_eq!(answer.status, 400);
    assert!(answer.message().contains("UTF-8"), "{}", answer.message());
    let lines = rig.post("/v1/verify", "application/x-ndjson", b"{\xff}\n").lines();
    assert!(lines[0]["reason"].as_str().unwrap().contains("UTF-8"));
}

#[test]
fn wrong_content_types_and_packed_bodies() {
    let rig = Rig::start();
    let good = good();
    for (headers, expected) in [
        ("", "Content-Type is missing"),
        ("Content-Type: text/plain\r\n", "found the Content-Type \"text/plain\""),
        ("Content-Type: application/x-www-form-urlencoded\r\n", "expected application/json"),
        ("Content-Type: application/json\r\nContent-Encoding: gzip\r\n", "packed"),
        ("Content-Type: application/json\r\nContent-Encoding: br\r\n", "packed"),
        (
            "Content-Type: application/json\r\nContent-Encoding: identity\r\nContent-Encoding: gzip\r\n",
            "content-encoding stands there twice",
        ),
        ("Content-Type: application/json\r\nContent-Type: text/plain\r\n", "content-type stands there twice"),
    ] {
        let head = format!(
            "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
            good.len()
        );
        let answer = ask(rig.tcp(), &head, good.as_bytes());
        assert_eq!((answer.status, answer.code().as_str()), (415, "content-type"), "{headers}");
        assert!(answer.message().contains(expected), "{}", answer.message());
    }
    let with_charset = rig.post("/v1/verify", "Application/JSON; charset=utf-8", &good);
    assert_eq!(with_charset.status, 200);
}

#[test]
fn bad_queries() {
    let rig = Rig::start();
    for (query, expected) in [
        ("class=urgent", "class: found \"urgent\", expected block, duty or gossip"),
        ("clas=block", "\"clas\""),
        ("suite=eth3", "suite: "),
        ("deadline_ms=0", "deadline_ms: found \"0\""),
        ("deadline_ms=1&deadline_ms=2", "twice"),
        ("class=%ff", "class"),
    ] {
        let answer = rig.post(&format!("/v1/verify?{query}"), "application/json", good());
        assert_eq!((answer.status, answer.code().as_str()), (400, "bad-query"), "{query}: {answer:?}");
        assert!(answer.message().contains(expected), "{}", answer.message());
    }
}

#[test]
fn a_line_that_is_too_long_ends_the_stream_with_a_reason() {
    let rig = Rig::with(|config| config.limits.line_bytes = 5_000);
    let body = format!("{}\n{}\n", good(), "x".repeat(5_001));
    let lines = rig.post("/v1/verify", "application/x-ndjson", body).lines();
    assert_eq!(lines[0]["valid"], true);
    assert_eq!((&lines[1]["error"]["code"], &lines[1]["error"]["line"]), (&json!("too-long"), &json!(2)));
}

#[test]
fn a_page_of_another_name_is_not_answered() {
    let rig = Rig::start();
    let answer = ask(rig.tcp(), "GET /v1/sources HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", b"");
    assert_eq!(answer.status, 421, "{answer:?}");
    let rig = Rig::with(|config| config.listen.hosts = vec!["evil.example".to_owned()]);
    let answer = ask(rig.tcp(), "GET /v1/sources HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", b"");
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn a_request_without_host() {
    let rig = Rig::start();
    for (hosts, expected) in [("", 400), ("Host: localhost\r\n", 200), ("Host: localhost\r\nHost: localhost\r\n", 400)]
    {
        let answer = ask(rig.tcp(), &format!("GET /livez HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n"), b"");
        assert_eq!(answer.status, expected, "{answer:?}");
    }
    // Some balancers ask for the health in HTTP/1.0, which has no such header.
    assert_eq!(ask(rig.tcp(), "GET /livez HTTP/1.0\r\n\r\n", b"").status, 200);
}

#[test]
fn requests_that_are_not_http() {
    let rig = Rig::start();
    for request in [
        &b"hello\r\n\r\n"[..],
        b"\x00\xff\x00\xff\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ] {
        let mut stream = rig.tcp();
        stream.write_all(request).unwrap();
        let found = answer(stream);
        assert!([0, 400, 505].contains(&found.status), "{found:?}");
    }
    assert_eq!(rig.get("/livez").status, 200);
}
