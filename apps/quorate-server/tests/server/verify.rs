//! Claims in, verdicts out.

use std::{
    io::{BufRead, BufReader, Write},
    sync::Arc,
};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use serde_json::{Value, json};

use crate::rig::{Rig, example, post};

fn array(lines: &str) -> String {
    format!("[{}]", lines.lines().collect::<Vec<_>>().join(",\n"))
}

#[test]
fn one_claim_and_an_array_as_json() {
    let rig = Rig::start();
    let claims = example("one-false.jsonl");
    let one = rig.verify(claims.lines().next().unwrap());
    assert_eq!(one.status, 200, "{one:?}");
    assert_eq!(one.json(), json!([{"index": 0, "id": "mainnet block 17034870, credential change 0", "valid": true}]));
    let all = rig.verify(&array(&claims)).json();
    let valid: Vec<_> = all.as_array().unwrap().iter().map(|answer| answer["valid"].as_bool().unwrap()).collect();
    assert_eq!(valid, [true, true, true, false]);
    assert_eq!(
        all[3],
        json!({"index": 3, "id": "the same change, with another one's signature", "valid": false,
               "reason": "the signature does not match the keys and messages"})
    );
    assert!(rig.stop());
}

#[test]
fn the_examples_as_lines_over_tcp_and_a_socket() {
    let rig = Rig::start();
    let claims = example("claims.jsonl");
    let by_tcp = rig.post("/v1/verify", "application/x-ndjson", &claims);
    let by_socket = post(rig.socket("claims"), "/v1/verify", "application/x-ndjson", claims.as_bytes());
    for answer in [by_tcp, by_socket] {
        assert_eq!(answer.status, 200);
        let lines = answer.lines();
        assert_eq!(lines.len(), claims.lines().count());
        for (index, line) in lines.iter().enumerate() {
            assert_eq!((&line["index"], &line["valid"]), (&json!(index), &json!(true)), "{line}");
        }
    }
}

#[test]
fn a_suite_for_all_claims_and_one_of_the_configuration() {
    let without = example("one-false.jsonl")
        .lines()
        .next()
        .unwrap()
        .replace("\"suite\": \"eth2\",", "")
        .replace("\"suite\":\"eth2\",", "");
    assert!(!without.contains("suite"));
    let rig = Rig::start();
    assert!(rig.verify(&without).message().contains("?suite=NAME"));
    let answer = rig.post("/v1/verify?suite=eth2&class=block&deadline_ms=60000", "application/json", &without);
    assert_eq!(answer.json()[0]["valid"], true, "{answer:?}");
    let rig = Rig::with(|config| config.verify.suite = "eth2".to_owned());
    assert_eq!(rig.verify(&without).json()[0]["valid"], true);
}

#[test]
fn a_table_of_claims_as_an_arrow_stream() {
    let claims: Vec<Value> =
        example("one-false.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let column = |name: &str| {
        let texts: Vec<_> = claims.iter().map(|claim| claim[name].as_str().unwrap().to_owned()).collect();
        Arc::new(StringArray::from(texts)) as ArrayRef
    };
    let columns = ["id", "suite", "public_key", "message", "signature"].map(|name| (name, column(name)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    let stream = writer.into_inner().unwrap();
    let rig = Rig::start();
    let answer = rig.post("/v1/verify", "application/vnd.apache.arrow.stream", &stream);
    assert_eq!(answer.json(), rig.verify(&array(&example("one-false.jsonl"))).json());
    assert_eq!(answer.json()[3]["valid"], false);
    let cut = rig.post("/v1/verify", "application/vnd.apache.arrow.stream", &stream[..stream.len() / 2]);
    assert_eq!((cut.status, cut.code().as_str()), (400, "bad-body"), "{cut:?}");
}

#[test]
fn verdicts_leave_before_the_stream_ends() {
    let rig = Rig::start();
    let mut stream = rig.tcp();
    let head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut next = move || loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the stream ended");
        if line.starts_with('{') {
            return serde_json::from_str::<Value>(&line).unwrap();
        }
    };
    for (index, claim) in example("one-false.jsonl").lines().enumerate() {
        write!(stream, "{:x}\r\n{claim}\n\r\n", claim.len() + 1).unwrap();
        let answer = next();
        assert_eq!((&answer["index"], &answer["valid"]), (&json!(index), &json!(index < 3)), "{answer}");
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
}

#[test]
fn a_line_that_makes_no_claim_leaves_the_others_alone() {
    let rig = Rig::start();
    let good = example("one-false.jsonl").lines().next().unwrap().to_owned();
    let body = format!("{good}\n\nnot a claim\n{{\"suite\": \"eth2\"}}\n{good}");
    let lines = rig.post("/v1/verify", "application/x-ndjson", body).lines();
    assert_eq!(lines.len(), 4);
    assert_eq!((&lines[0]["valid"], &lines[3]["valid"]), (&json!(true), &json!(true)));
    assert_eq!((&lines[1]["malformed"], &lines[1]["line"]), (&json!(true), &json!(3)));
    assert!(lines[2]["reason"].as_str().unwrap().contains("\"public_key\" is missing"), "{}", lines[2]);
    assert_eq!(lines[2]["line"], 4);
}

#[test]
fn more_claims_than_the_queue_takes_are_no_overload() {
    // Room for a few claims at a time.
    let rig = Rig::with(|config| config.verify.queue_us = 5_000);
    let good = example("one-false.jsonl").lines().next().unwrap().to_owned();
    let many = vec![good; 300].join("\n");
    for answers in [
        rig.verify(&array(&many)).json().as_array().unwrap().clone(),
        rig.post("/v1/verify", "application/x-ndjson", &many).lines(),
    ] {
        assert_eq!(answers.len(), 300);
        assert!(answers.iter().all(|answer| answer["valid"] == true), "{answers:?}");
        assert!(answers.iter().zip(0..).all(|(answer, index)| answer["index"] == index));
    }
}

/// Claims that wait for room in the queue have the deadline of their request, and not one each.
#[test]
fn a_deadline_is_counted_from_the_request() {
    let rig = Rig::with(|config| {
        config.verify.queue_us = 1;
        config.verify.threads = 1;
        config.verify.backend = "portable".to_owned();
        config.known.in_memory = 0;
    });
    let good = example("one-false.jsonl").lines().next().unwrap().to_owned();
    let many = array(&vec![good; 300].join("\n"));
    let answers = rig.post("/v1/verify?deadline_ms=20", "application/json", &many).json();
    assert_eq!(answers[299]["refused"], "deadline", "{}", answers[299]);
}

#[test]
fn what_is_measured_and_described() {
    let rig = Rig::start();
    rig.verify(&array(&example("one-false.jsonl")));
    let metrics = rig.get("/metrics");
    assert!(metrics.head.contains("content-type: application/openmetrics-text"));
    for part in [
        "quorate_claims_total{class=\"gossip\",verdict=\"valid\"} 3\n",
        "quorate_claims_total{class=\"gossip\",verdict=\"invalid\"} 1\n",
        "quorate_culprits_total 1\n",
        "quorate_requests_total{interface=\"json\",result=\"answered\"} 1\n",
        "quorate_queue_planned_seconds{class=\"block\"} 0.0\n",
        "quorate_batch_claims_bucket{le=",
        "quorate_wait_seconds_bucket{le=",
        "quorate_verify_seconds_bucket{le=",
        "quorate_known_statements 3\n",
        "quorate_bans_total 0\n",
        "quorate_known_hits_total 0\n",
    ] {
        assert!(metrics.body.contains(part), "{part}\n{}", metrics.body);
    }
    assert!(metrics.body.ends_with("# EOF\n"));
    assert_eq!(rig.get("/v1/known").json()["statements"], 3);
    for (path, status) in [("/livez", 200), ("/readyz", 200), ("/", 200), ("/nothing", 404), ("/v1/verify", 405)] {
        assert_eq!(rig.get(path).status, status, "{path}");
    }
    let described = rig.get("/openapi.json").json();
    assert_eq!(rig.admin_get("/openapi.json").json(), described);
    assert!(described["openapi"].as_str().unwrap().starts_with("3."));
    let paths: Vec<_> = described["paths"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        paths,
        [
            "/livez",
            "/metrics",
            "/readyz",
            "/v1/ban",
            "/v1/checkpoint",
            "/v1/known",
            "/v1/pardon",
            "/v1/sources",
            "/v1/verify"
        ]
    );
}
