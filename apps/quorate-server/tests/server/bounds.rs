//! What strangers can make the server hold, and whom they can keep out.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    sync::Arc,
    thread,
    time::Duration,
};

use arrow_array::{
    ArrayRef, BinaryArray, ListArray, RecordBatch, StringArray, builder::BinaryBuilder, builder::ListBuilder,
};
use bytes::Bytes;
use futures_util::future::join_all;
use quorate_lab::run::{Running, Signal, command_after};
use serde_json::{Value, json};
use tokio::{runtime::Runtime, sync::mpsc};

use crate::{
    grpc::{Caller, framed, proto, unary},
    process::{ALLOCATOR, Listening, program},
    rig::{Rig, answer, ask, eventually, example, post},
};

/// A claim whose keys are short on the wire and long in memory.
fn many_keys(keys: usize) -> String {
    let keys = vec!["\"\""; keys].join(",");
    format!(r#"{{"suite":"eth2","public_keys":[{keys}],"message":"","signature":""}}"#)
}

fn arrow_of_many_keys(keys: usize) -> Vec<u8> {
    let mut lists = ListBuilder::new(BinaryBuilder::new());
    (0..keys).for_each(|_| lists.values().append_value(b""));
    lists.append(true);
    let lists: ListArray = lists.finish();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("suite", Arc::new(StringArray::from(vec!["eth2"]))),
        ("public_keys", Arc::new(lists)),
        ("message", Arc::new(BinaryArray::from_vec(vec![b""]))),
        ("signature", Arc::new(BinaryArray::from_vec(vec![b""]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn grpc_of_many_keys(keys: usize) -> Bytes {
    let claim = proto::Claim { suite: "eth2".to_owned(), public_keys: vec![Bytes::new(); keys], ..Default::default() };
    framed(&proto::VerifyRequest { common: None, claims: vec![claim] })
}

/// An AUG suite hashes a message behind each key, so one request of 8 MB had all cores hash for minutes. It is refused at once, and that
/// is no overload for others.
#[test]
fn a_claim_that_hashes_too_much_is_refused() {
    let rig = Rig::start();
    let (keys, message) = (vec!["c0"; 200], "00".repeat(2 << 20));
    let large = json!({"suite": "chia", "public_keys": keys, "message": message, "signature": ""}).to_string();
    let answer = rig.verify(&large);
    assert_eq!((answer.status, answer.code().as_str()), (413, "too-long"), "{answer:?}");
    assert!(answer.message().contains("hashes the message behind each key"), "{}", answer.message());
    let claim = proto::Claim {
        suite: "chia".to_owned(),
        public_keys: vec![Bytes::from_static(b"\xc0"); 200],
        message: Some(vec![0; 2 << 20].into()),
        ..proto::Claim::default()
    };
    let request = proto::VerifyRequest { common: None, claims: vec![claim] };
    let (code, why) = Runtime::new().unwrap().block_on(unary(&rig, &request)).unwrap_err();
    assert!(code == "11" && why.contains("hashes%20the%20message"), "{code}: {why}");
    assert_eq!(rig.get("/readyz").status, 200);
    let signed = example("one-false.jsonl");
    let answers = rig.verify(&format!("[{large}, {}]", signed.lines().next().unwrap())).json();
    assert_eq!((&answers[0]["refused"], &answers[1]["valid"]), (&json!("overloaded"), &json!(true)), "{answers}");
}

/// 30 bodies of 8 MB, each one claim of 2.7 million empty keys, made a server of 256 MiB hold 2.7 GB. Here it has 64 MiB for requests, and
/// no more address space than that and what a server without requests takes. Claims come on all ways at once; afterwards it serves.
#[test]
fn what_all_requests_hold_is_bounded_under_ulimit() {
    let arguments = ["--listen", "127.0.0.1:0", "--threads", "1", "--set", "limits.memory_bytes=67108864"];
    let mut command = command_after(&format!("ulimit -v {ADDRESS_SPACE_KIB}"), "quorate-server");
    command.args(arguments);
    // What a thread's own heap reserves is not memory that anything holds.
    command.envs(ALLOCATOR).env("TOKIO_WORKER_THREADS", "2");
    let server = Listening::of(&mut command);
    let (json, many, arrow) =
        (many_keys(2_700_000), format!("[{}]", vec![many_keys(90_000); 27].join(",")), arrow_of_many_keys(1_900_000));
    let lines = format!("{}\n", many_keys(340_000)).repeat(8);
    let grpc = grpc_of_many_keys(2_000_000);
    let runtime = Runtime::new().unwrap();
    thread::scope(|scope| {
        for _ in 0..5 {
            for (content_type, body) in [
                ("application/json", json.as_bytes()),
                ("application/json", many.as_bytes()),
                ("application/vnd.apache.arrow.stream", &arrow),
                ("application/x-ndjson", lines.as_bytes()),
            ] {
                scope.spawn(|| {
                    let answer = post(server.connect(), "/v1/verify", content_type, body);
                    assert!([200, 413, 422, 503].contains(&answer.status), "{answer:?}");
                    assert!(!answer.body.contains("\"valid\":true"), "{answer:?}");
                });
            }
        }
        let sent = (0..10).map(|_| async {
            let caller = Caller::connect(server.address()).await;
            let (send, sent) = mpsc::channel(1);
            send.send(grpc.clone()).await.unwrap();
            drop(send);
            Some(caller.call("Verify", sent).await?.status().as_u16())
        });
        let statuses = runtime.block_on(join_all(sent));
        assert!(statuses.iter().all(|status| matches!(status, Some(200))), "{statuses:?}");
    });
    let claim = example("one-false.jsonl").lines().next().unwrap().to_owned();
    eventually("what the requests held comes back", || {
        post(server.connect(), "/v1/verify", "application/json", claim.as_bytes()).status == 200
            && get(&server, "/metrics").contains("quorate_held_bytes 0\n")
    });
}

/// In units of 1024 bytes.
const ADDRESS_SPACE_KIB: u32 = 600_000;

/// One message of a megabyte, which each of a thousand rows names.
#[cfg(target_os = "linux")]
fn arrow_of_one_long_message() -> Vec<u8> {
    use arrow_array::{DictionaryArray, Int8Array};
    let keys = Int8Array::from(vec![0; 1_000]);
    let of = |value: &[u8]| -> ArrayRef {
        Arc::new(DictionaryArray::new(keys.clone(), Arc::new(BinaryArray::from_vec(vec![value]))))
    };
    let suites = DictionaryArray::new(keys.clone(), Arc::new(StringArray::from(vec!["eth2"])));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("suite", Arc::new(suites)),
        ("public_key", of(&[0xc0; 48])),
        ("message", of(&vec![b'm'; 1 << 20])),
        ("signature", of(b"")),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// What the allocator keeps counts, too: 120 requests of a megabyte made a server with the limits of the default take 1.4 GB for good,
/// though requests held 256 MiB at most, because the thread of each had a heap of its own.
#[cfg(target_os = "linux")]
#[test]
fn a_server_stays_within_the_memory_that_operators_give_it() {
    let server = Listening::of(program().args(["--listen", "127.0.0.1:0"]).envs(ALLOCATOR));
    let body = arrow_of_one_long_message();
    for _ in 0..6 {
        thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    let answer = post(server.connect(), "/v1/verify", "application/vnd.apache.arrow.stream", &body);
                    assert_eq!(answer.status, 503, "{answer:?}");
                });
            }
        });
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.run.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    // docs/operate.md, "Limits and memory".
    assert!(peak_kib < 1 << 20, "{peak_kib} KiB");
}

fn get(server: &Listening, path: &str) -> String {
    let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    ask(server.connect(), &head, b"").body
}

/// Two connections with 32 streams of HEADERS each, and nothing else, held all memory for 30 seconds.
#[test]
fn calls_without_a_message_hold_no_memory() {
    let (rig, runtime) = (Rig::start(), Runtime::new().unwrap());
    runtime.block_on(async {
        let mut silent = Vec::new();
        for _ in 0..2 {
            let caller = Caller::connect(rig.address).await;
            for _ in 0..32 {
                let (send, sent) = mpsc::channel(1);
                let call = caller.clone();
                silent.push((send, tokio::spawn(async move { call.call("Verify", sent).await.is_some() })));
            }
        }
        // Eight of them on each connection, and the others wait on the client's side.
        eventually("the calls are in progress", || in_progress(&rig) == 16);
        let metrics = rig.get("/metrics").body;
        assert!(metrics.contains("quorate_held_bytes 0\n"), "{metrics}");
        assert_eq!(rig.verify(example("one-false.jsonl").lines().next().unwrap()).status, 200);
        // A piece of a message of 3 MB takes a portion of the memory, and not the message's length.
        for (send, _) in &silent {
            // Calls beyond the eight that came before the server had said so were refused.
            let _ = send.send(Bytes::from(vec![0, 0, 0x30, 0, 0, 7])).await;
        }
        eventually("the pieces have come", || held(&rig) > 0);
        assert!(held(&rig) <= 16 * (64 << 10), "{}", held(&rig));
    });
}

fn gauge(rig: &Rig, name: &str) -> usize {
    let text = rig.get("/metrics").body;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_else(|| panic!("{name}: {text}"))
}

fn in_progress(rig: &Rig) -> usize {
    gauge(rig, "quorate_requests_in_progress")
}

fn held(rig: &Rig) -> usize {
    gauge(rig, "quorate_held_bytes")
}

/// 128 streams on 4 connections took all places for requests.
#[test]
fn one_connection_has_so_many_requests_in_progress() {
    let rig = Rig::with(|config| config.limits.requests_per_connection = 3);
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let caller = Caller::connect(rig.address).await;
        let mut open = Vec::new();
        for _ in 0..20 {
            let (send, sent) = mpsc::channel(1);
            let call = caller.clone();
            open.push((send, tokio::spawn(async move { call.post("/v1/verify", "application/x-ndjson", sent).await })));
        }
        eventually("the streams are open", || in_progress(&rig) == 3);
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(in_progress(&rig), 3);
    });
}

/// A balancer sent claims to a server that refused all of them, because nothing waited in its queue.
#[test]
fn readyz_says_no_when_nearly_all_places_are_taken() {
    let rig = Rig::with(|config| config.limits.requests = 5);
    let head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: 9\r\n\r\n";
    let mut open = Vec::new();
    for taken in 1..=4 {
        let mut stream = rig.tcp();
        stream.write_all(head.as_bytes()).unwrap();
        open.push(stream);
        eventually("the stream is in progress", || in_progress(&rig) == taken);
        assert_eq!(rig.get("/readyz").status, if taken < 4 { 200 } else { 503 }, "{taken}");
    }
    let body = rig.get("/readyz").body;
    assert!(body.starts_with("nearly all places for requests"), "{body}");
    drop(open);
    eventually("the places are free", || rig.get("/readyz").status == 200);
}

/// 256 connections on which something harmless is asked now and then kept everybody else out.
#[test]
fn an_idle_connection_makes_room_for_a_new_one() {
    let rig = Rig::with(|config| config.limits.connections = 3);
    let mut idle: Vec<TcpStream> = (0..2).map(|_| rig.tcp()).collect();
    for stream in &mut idle {
        stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 200 OK\r\n");
    }
    // One with a request in progress is not idle.
    let mut busy = rig.tcp();
    busy.write_all(b"POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: 9\r\n\r\n").unwrap();
    eventually("its request is in progress", || rig.is_asked(1));
    for _ in 0..5 {
        // An idle connection may stay for longer than this waits.
        assert_eq!(rig.get("/livez").status, 200);
    }
    busy.write_all(b"\n\n\n\n\n\n\n\n\n").unwrap();
    let mut answer = [0; 15];
    busy.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
}

pub(crate) fn claim(is_true: bool, source: Option<&str>) -> Value {
    let claims = example("one-false.jsonl");
    let line = claims.lines().nth(if is_true { 0 } else { 3 }).unwrap();
    let mut claim: Value = serde_json::from_str(line).unwrap();
    if let Some(source) = source {
        claim["source"] = json!(source);
    }
    claim
}

/// A request on a connection that stays open.
fn verify_on(stream: &mut TcpStream, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    write!(
        stream,
        "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut reader = BufReader::new(stream);
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.to_lowercase();
        if let Some(rest) = line.strip_prefix("http/1.1 ") {
            status = rest[..3].parse().unwrap();
        } else if let Some(rest) = line.strip_prefix("content-length: ") {
            length = rest.trim().parse().unwrap();
        } else if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

/// Lies without a source were nobody's, and spoiled everybody's batches for ever. Now they are their connection's.
#[test]
fn lies_without_a_source_are_their_connections() {
    let rig = Rig::start();
    let (mut liar, mut honest) = (rig.tcp(), rig.tcp());
    for _ in 0..3 {
        assert_eq!(verify_on(&mut liar, &claim(false, None)).1[0]["valid"], false);
    }
    let (status, answer) = verify_on(&mut liar, &claim(true, None));
    assert_eq!((status, &answer["error"]["code"]), (403, &json!("banned")));
    // The others are not concerned: neither who names a source, nor who does not.
    assert_eq!(verify_on(&mut honest, &claim(true, None)).1[0]["valid"], true);
    assert_eq!(verify_on(&mut liar, &claim(true, Some("node-b"))).1[0]["valid"], true);
    let sources = rig.get("/v1/sources").json();
    assert_eq!(sources.as_array().unwrap().len(), 1);
    let name = sources[0]["source"].as_str().unwrap().to_owned();
    assert!(name.starts_with("connection:") && name.ends_with(" of 127.0.0.1"), "{name}");
    assert_eq!((&sources[0]["standing"], &sources[0]["false_claims"]), (&json!("banned"), &json!(3)));
    // Nobody takes a connection's name, and an administrator pardons it like any other.
    let (status, answer) = verify_on(&mut honest, &claim(true, Some(&name)));
    assert_eq!((status, &answer["error"]["code"]), (422, &json!("bad-claim")));
    assert_eq!(rig.admin("/v1/pardon", &json!({"source": name}).to_string()).json(), json!({"done": true}));
    assert_eq!(verify_on(&mut liar, &claim(true, None)).1[0]["valid"], true);
}

/// With `sources.by_connection`, three lies as node-b do not ban the node-b of another connection.
#[test]
fn a_client_bans_no_source_of_another_one() {
    for (by_connection, status) in [(true, 200), (false, 403)] {
        let rig = Rig::with(|config| config.sources.by_connection = by_connection);
        let (mut liar, mut honest) = (rig.tcp(), rig.tcp());
        for _ in 0..3 {
            verify_on(&mut liar, &claim(false, Some("node-b")));
        }
        assert_eq!(verify_on(&mut liar, &claim(true, Some("node-b"))).0, 403);
        assert_eq!(verify_on(&mut honest, &claim(true, Some("node-b"))).0, status);
    }
}

/// An idle server refused up to 1,060 of them as overloaded: it waited for half of the queue, of which a suspect has a quarter.
#[test]
fn all_true_claims_of_a_suspect_are_answered() {
    let rig = Rig::with(|config| (config.verify.threads, config.verify.queue_us) = (2, 50_000));
    assert_eq!(rig.verify(&claim(false, Some("node-b")).to_string()).json()[0]["valid"], false);
    let claims = example("claims.jsonl");
    let mut all: Vec<Value> = claims.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    all.retain(|claim| claim["public_key"].is_string());
    let all: Vec<Value> = all
        .into_iter()
        .cycle()
        .take(1299)
        .map(|mut claim| {
            claim["source"] = json!("node-b");
            claim
        })
        .collect();
    let answer = rig.verify(&Value::from(all).to_string());
    let answers = answer.json();
    let refused: Vec<_> = answers.as_array().unwrap().iter().filter(|answer| answer["valid"] != true).collect();
    assert!(
        refused.is_empty() && answers.as_array().unwrap().len() == 1299,
        "{}: {:?}",
        refused.len(),
        refused.first()
    );
    assert_eq!(gauge(&rig, "quorate_overloads_total"), 0);
}

/// A balancer that asks while the server drains is told so, on a new connection.
#[test]
fn readyz_says_503_while_draining() {
    let mut server = Listening::start(&[]);
    // It drains until this request is whole.
    let (mut asking, body) = server.ask_in_part(&claim(true, None).to_string());
    assert_eq!(get(&server, "/readyz"), "ok\n");
    server.run.signal(Signal::TERM);
    eventually("it drains", || get(&server, "/readyz") == "the server is stopping\n");
    let ready = ask(server.connect(), "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"");
    assert_eq!(ready.status, 503);
    assert!(ready.head.contains("connection: close"), "{}", ready.head);
    let late = post(server.connect(), "/v1/verify", "application/json", claim(true, None).to_string().as_bytes());
    assert_eq!((late.status, late.code().as_str()), (503, "stopped"), "{late:?}");
    asking.write_all(body.as_bytes()).unwrap();
    assert_eq!(answer(asking).json()[0]["valid"], true);
    assert_eq!(server.run.ended(), 0);
}

/// 2,500 damaged streams wrote 761 KB of backtraces: the library panics for some of them, and the panic is caught.
#[test]
fn damaged_arrow_streams_write_no_backtraces() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = program();
    command.args(["--listen", "127.0.0.1:0"]).env("RUST_BACKTRACE", "1");
    let mut run = Running::start(command.stderr(std::fs::File::create(&log).unwrap()));
    let read = || std::fs::read_to_string(&log).unwrap();
    let line = || {
        read().split_once("http://").and_then(|(_, rest)| rest.split_once('\n')).map(|(line, _)| line.trim().to_owned())
    };
    eventually("it listens", || line().is_some());
    let address = line().unwrap();
    let good = arrow_of_many_keys(3);
    let mut answers = std::collections::BTreeMap::<u16, usize>::new();
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 0x41;
        let stream = TcpStream::connect(&address).unwrap();
        let answer = post(stream, "/v1/verify", "application/vnd.apache.arrow.stream", &damaged);
        *answers.entry(answer.status).or_default() += 1;
    }
    run.kill();
    let (written, sent) = (read(), answers.values().sum::<usize>());
    assert!(sent == good.len() && !answers.contains_key(&0) && !answers.contains_key(&500), "{answers:?}");
    assert!(!written.contains("panicked") && written.len() < 1000, "{} bytes: {written:.2000}", written.len());
}
