//! Signers post, servers keep and serve, and a node that syncs asks them: honest ones, liars, dead ones and slow ones.
//!
//! The file is long because all its tests share one cast of signers, servers and headers.

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use clap::Parser;
use quorate::{MinPk, SecretKey, proof_of_possession};
use quorate_checkpoint::{Checkpoint, IndexedSignature, Posting, SUITE, Served, SetManifest, Sets, SignerEntry};
use quorate_host::exit::Exit;
use quorate_lab::run::{Run as _, Running, Signal};
use quorate_server::fetch;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    process::{Listening, program},
    rig::{Answer, LONG_MS, PATIENCE, Rig, answer, ask, eventually, path, post},
};

const CHAIN: [u8; 32] = [0xc1; 32];
const WEEK: u64 = 7 * 24 * 3600;

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn key(i: u8) -> SecretKey<MinPk> {
    SecretKey::key_gen(SUITE, &[i; 32], b"").unwrap()
}

/// Five signers, of whom three must sign.
fn set() -> SetManifest {
    let entry = |i| SignerEntry {
        public_key: key(i).public_key().to_bytes(),
        proof: proof_of_possession::prove(SUITE, &key(i)).unwrap().to_bytes(),
    };
    SetManifest { epoch: 1, threshold: 3, signers: (0..5).map(entry).collect() }
}

fn block(height: u64) -> [u8; 32] {
    let mut hash = [0xb0; 32];
    hash[24..].copy_from_slice(&height.to_be_bytes());
    hash
}

fn at(height: u64) -> Checkpoint {
    let issued_at = now() - 60;
    Checkpoint {
        chain_id: CHAIN,
        height,
        block_hash: block(height),
        previous: if height == 100 { [0; 32] } else { [1; 32] },
        issued_at,
        expires_at: issued_at + WEEK,
        set_epoch: 1,
    }
}

/// Another block at the same height.
fn other(checkpoint: &Checkpoint) -> Checkpoint {
    Checkpoint { block_hash: [0x66; 32], ..checkpoint.clone() }
}

fn signed(checkpoint: &Checkpoint, by: &[u8]) -> Posting {
    let message = checkpoint.signing_bytes(&set().id());
    let signature =
        |i: &u8| IndexedSignature { index: u16::from(*i), signature: key(*i).sign(SUITE, &message).to_bytes() };
    Posting { document: checkpoint.clone(), bitmap: None, sum: None, signatures: by.iter().map(signature).collect() }
}

fn text(posting: &Posting) -> String {
    serde_json::to_string(posting).unwrap()
}

fn hex(bytes: [u8; 32]) -> String {
    const_hex::encode_prefixed(bytes)
}

/// The fields of `[checkpoint]`, with files in a folder.
pub(crate) fn fields(folder: &Path) -> [(&'static str, String); 4] {
    let sets = path(folder, "sets.json");
    fs::write(&sets, serde_json::to_string(&Sets { first: set(), rotations: Vec::new() }).unwrap()).unwrap();
    [("sets", sets), ("pin", hex(set().id())), ("chain_id", hex(CHAIN)), ("folder", path(folder, "board"))]
}

/// A server with a board.
struct Board {
    rig: Rig,
    _folder: TempDir,
}

impl Board {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut quorate_server::config::Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let rig = Rig::with(|config| {
            let [sets, pin, chain_id, folder] = fields(folder.path()).map(|(_, value)| value);
            let checkpoint = &mut config.checkpoint;
            (checkpoint.sets, checkpoint.pin) = (sets, pin);
            (checkpoint.chain_id, checkpoint.folder) = (chain_id, folder);
            change(config);
        });
        Self { rig, _folder: folder }
    }

    fn post(&self, checkpoint: &Checkpoint, by: &[u8]) -> Answer {
        self.rig.post("/v1/checkpoint", "application/json", text(&signed(checkpoint, by)))
    }

    fn served(&self) -> Served {
        Served::from_json(self.rig.get("/v1/checkpoint").body.as_bytes()).unwrap()
    }

    fn node(&self) -> String {
        format!("http://{}", self.rig.address)
    }

    fn socket(&self) -> String {
        format!("unix:{}", self.rig.socket_path("claims"))
    }
}

/// A node that syncs: its folder, and its chain of headers up to height 1,000.
struct Syncing {
    folder: TempDir,
    runtime: Runtime,
}

#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    command: fetch::Command,
}

impl Syncing {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let headers: String = (50..=1000).map(|height| format!("{height} {}\n", hex(block(height)))).collect();
        fs::write(folder.path().join("headers"), headers).unwrap();
        Self { folder, runtime: Runtime::new().unwrap() }
    }

    fn arguments(&self, command: &str, more: &[&str]) -> Vec<String> {
        let ratchet = path(self.folder.path(), "ratchet");
        let (chain, pin) = (hex(CHAIN), hex(set().id()));
        let all = [command, "--folder", &ratchet, "--chain-id", &chain, "--pin", &pin];
        all.iter().chain(more).map(|argument| (*argument).to_owned()).collect()
    }

    fn run(&self, command: &str, more: &[&str], now: u64) -> (Exit, String) {
        let line = ["checkpoint".to_owned()].into_iter().chain(self.arguments(command, more));
        let line = Line::try_parse_from(line).unwrap();
        let mut out = Vec::new();
        match self.runtime.block_on(fetch::run(&line.command, now, &mut out)) {
            Ok(exit) => {
                let text = String::from_utf8(out).unwrap();
                let json = more.contains(&"--json");
                assert!(json || text.lines().all(|line| line.chars().count() <= 80), "{text}");
                (exit, text)
            }
            Err(failure) => (failure.exit, format!("{:#}", failure.error)),
        }
    }

    fn fetch_at(&self, nodes: &[String], now: u64) -> (Exit, String) {
        let headers = path(self.folder.path(), "headers");
        let mut more = vec!["--headers", &headers, "--depth", "20", "--timeout", TIMEOUT];
        nodes.iter().for_each(|node| more.extend(["--node", node]));
        self.run("fetch", &more, now)
    }

    fn fetch(&self, nodes: &[String]) -> (Exit, String) {
        self.fetch_at(nodes, now())
    }

    fn fetch_json(&self, nodes: &[String]) -> (Exit, Value) {
        let headers = path(self.folder.path(), "headers");
        let mut more = vec!["--json", "--headers", &headers, "--depth", "20", "--timeout", TIMEOUT];
        nodes.iter().for_each(|node| more.extend(["--node", node]));
        let (exit, text) = self.run("fetch", &more, now());
        (exit, serde_json::from_str(&text).unwrap())
    }
}

/// How long a node may take, in seconds: a test with a silent one waits for so long, and a busy machine needs some for those that answer.
const TIMEOUT: &str = "20";

/// Something that listens, and does with every connection what it wants.
fn stranger(behave: impl Fn(std::net::TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || listener.incoming().flatten().for_each(&behave));
    format!("http://{address}")
}

/// Answers with a head and a body, whatever is asked.
fn answering(head: &'static str, body: Vec<u8>) -> String {
    stranger(move |mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n", body.len());
        let _ = stream.write_all(&body);
    })
}

#[test]
fn three_of_five_through_three_servers() {
    let boards = [Board::new(), Board::new(), Board::new()];
    let checkpoint = at(800);
    for (board, by) in boards.iter().zip([0, 2, 4]) {
        let answer = board.post(&checkpoint, &[by]);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json(), json!({"signatures": 1, "needed": 3, "complete": false, "false_signatures": []}));
    }
    // Two of them are asked over TCP, and one over its socket.
    let nodes = [boards[0].node(), boards[1].socket(), boards[2].node()];
    let syncing = Syncing::new();
    let (exit, text) = syncing.fetch(&nodes);
    assert_eq!(exit, Exit::Success, "{text}");
    assert!(
        text.starts_with("Skip the signatures in blocks up to height 800, and verify them afterwards.\n"),
        "{text}"
    );
    for node in &nodes {
        assert!(text.contains(&format!("  {node}")), "{text}");
    }
    assert_eq!(text.matches("height 800 (1 signed)").count(), 3, "{text}");
    let words = text.replace('\n', " ");
    assert!(words.contains("3 of 5 signers say") && words.contains("with 200 blocks above it"), "{text}");

    // Assumed, then proven.
    let (exit, text) = syncing.run("status", &[], now());
    assert_eq!(exit, Exit::Success);
    assert!(text.contains("Held: height 800") && text.contains("blocks 1 to 800"), "{text}");
    assert!(text.contains("No evidence against signers."), "{text}");
    let (exit, text) = syncing.run("prove", &["--up-to", "300"], now());
    assert!(exit == Exit::Success && text.contains("blocks 301 to 800"), "{text}");
    let (exit, text) = syncing.run("prove", &["--up-to", "801"], now());
    assert!(exit == Exit::Usage && text.contains("expected one from 301 to 800"), "{text}");
    let (exit, text) = syncing.run("prove", &["--up-to", "800", "--json"], now());
    let status: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((exit, &status["to_prove"], &status["held"]["height"]), (Exit::Success, &Value::Null, &json!(800)));

    // A machine reads the same.
    let (exit, fetched) = syncing.fetch_json(&nodes);
    assert_eq!((exit, &fetched["decision"], &fetched["skip_up_to"]), (Exit::Success, &json!("skip"), &json!(800)));
    assert_eq!(
        fetched["nodes"][1],
        json!({"node": nodes[1], "counted": true, "sent": [{"height": 800, "signatures": 1}], "faults": []})
    );

    // A block that turns out to be invalid is an alarm for good.
    let (_, text) = syncing.run("refute", &["--height", "7"], now());
    assert!(text.contains("ALARM: the skipped block at height 7 is invalid"), "{text}");
    let (exit, text) = syncing.fetch(&nodes);
    assert!(exit == Exit::Negative && text.contains("the skipped block at height 7\nis invalid"), "{text}");
}

#[test]
fn two_processes_do_not_use_one_folder() {
    let boards = [Board::new(), Board::new(), Board::new()];
    boards.iter().for_each(|board| assert_eq!(board.post(&at(800), &[0, 1, 2]).status, 200));
    let (nodes, syncing) = (boards.each_ref().map(Board::node), Syncing::new());
    assert_eq!(syncing.fetch(&nodes).0, Exit::Success);
    let other = fs::File::open(syncing.folder.path().join("ratchet/ratchet.lock")).unwrap();
    other.lock().unwrap();
    let prove = syncing.run("prove", &["--up-to", "300"], now());
    for (exit, text) in [syncing.fetch(&nodes), syncing.run("status", &[], now()), prove] {
        assert!(exit == Exit::Negative && text.contains("is used by another process"), "{text}");
    }
    drop(other);
    assert_eq!(syncing.fetch(&nodes).0, Exit::Success);
    // A file that is longer than any ratchet is a wrong input, and no fault of the disk.
    let ratchet = fs::File::options().write(true).open(syncing.folder.path().join("ratchet/ratchet")).unwrap();
    ratchet.set_len(17 << 20).unwrap();
    let (exit, text) = syncing.fetch(&nodes);
    assert!(exit == Exit::Usage && text.contains("the limit"), "{text}");
}

#[test]
fn two_thirds_of_the_nodes_lie() {
    let (honest, third) = (Board::new(), Board::new());
    for board in [&honest, &third] {
        board.post(&at(800), &[0, 2, 4]);
    }
    // They serve the true sets, and signatures that are false, of a higher block, in the names of all signers.
    let lie = || {
        let mut posting = signed(&at(900), &[0, 1, 2, 3, 4]);
        let stolen = signed(&at(899), &[0, 1, 2, 3, 4]).signatures;
        posting.signatures = stolen;
        let sets = Sets { first: set(), rotations: Vec::new() };
        Served { sets, checkpoints: vec![posting], evidence: None }.to_json().into_bytes()
    };
    let liars = [0; 6].map(|_| answering("200 OK", lie()));
    let nodes: Vec<_> = [honest.node(), honest.socket(), third.node()].into_iter().chain(liars).collect();
    let (exit, text) = Syncing::new().fetch(&nodes);
    assert_eq!(exit, Exit::Success, "{text}");
    assert!(text.starts_with("Skip the signatures in blocks up to height 800,"), "{text}");
    assert_eq!(text.matches("does not count: sent 5 signatures, 0 true;").count(), 6, "{text}");
    // Those whose signatures are all false have not answered: without three honest ones, everything is verified.
    for nodes in [&nodes[1..], &nodes[3..]] {
        let (exit, text) = Syncing::new().fetch(nodes);
        assert_eq!(exit, Exit::Negative, "{text}");
        assert!(text.starts_with("Verify the signatures in all blocks.\nWhy: "), "{text}");
        assert!(text.contains("nodes answered in order, expected at least"), "{text}");
    }
}

#[test]
fn dead_slow_garbled_and_endless_nodes() {
    let board = [Board::new(), Board::new(), Board::new()];
    board.iter().for_each(|board| assert_eq!(board.post(&at(800), &[0, 1, 2]).status, 200));
    let slow = stranger(|stream| {
        thread::spawn(move || {
            thread::sleep(PATIENCE);
            drop(stream);
        });
    });
    // It sends another byte of the head from time to time.
    let dripping = stranger(|mut stream| {
        thread::spawn(move || {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ");
            while stream.write_all(b"x").is_ok() {
                thread::sleep(Duration::from_millis(100));
            }
        });
    });
    let garbage = answering("200 OK", b"\x1b[2Jhello".to_vec());
    let no_http = stranger(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(&[7; 1000]);
    });
    let stated = answering("200 OK", vec![b' '; 100 << 20]);
    static SENT: AtomicU64 = AtomicU64::new(0);
    let endless = stranger(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let chunk = [b"10000\r\n".as_slice(), &[b' '; 1 << 16], b"\r\n"].concat();
        while SENT.load(Ordering::Relaxed) < 100 << 20 && stream.write_all(&chunk).is_ok() {
            SENT.fetch_add(1 << 16, Ordering::Relaxed);
        }
    });
    let cut_off = stranger(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{");
    });
    let elsewhere = answering("302 Found\r\nLocation: http://127.0.0.1:1/v1/checkpoint", Vec::new());
    let without = Rig::start();
    let bad: Vec<(String, &str)> = vec![
        // No test listens there, because it is a port of root's.
        ("http://127.0.0.1:1".to_owned(), "it cannot be reached"),
        (slow, "it did not answer within 20 s"),
        (dripping, "it did not answer within 20 s"),
        (garbage, "it does not begin with {"),
        (no_http, "it does not speak HTTP as it should: invalid HTTP"),
        (stated, "longer than 8388608 bytes"),
        (endless, "longer than 8388608 bytes"),
        (cut_off, "ended before its end"),
        (elsewhere, "a redirect to http://127.0.0.1:1/v1/checkpoint, which is not followed"),
        (format!("http://{}", without.address), "404, expected 200: this server has no checkpoints"),
        ("unix:/nowhere/at/all".to_owned(), "it cannot be reached"),
        // The same node by another name.
        (format!("http://localhost:{}", board[0].rig.address.port()), "named twice"),
    ];
    let good = board.iter().map(Board::node);
    let nodes: Vec<_> = good.clone().chain(bad.iter().map(|(node, _)| node.clone())).collect();
    let begun = Instant::now();
    let (exit, report) = Syncing::new().fetch_json(&nodes);
    // All at the same time, and for the slow ones no longer than said.
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    assert_eq!((exit, &report["skip_up_to"]), (Exit::Success, &json!(800)), "{report}");
    assert!(SENT.load(Ordering::Relaxed) < 40 << 20, "{SENT:?} bytes were read");
    for (place, (node, reason)) in bad.iter().enumerate() {
        let found = &report["nodes"][place + 3];
        assert_eq!((&found["node"], &found["counted"]), (&json!(node), &json!(false)), "{found}");
        let fault = found["faults"][0].as_str().unwrap();
        assert!(fault.contains(reason) && !fault.contains('\x1b'), "{fault}");
    }
    // Two good ones are too few.
    let (exit, text) = Syncing::new().fetch(&nodes[1..12]);
    assert_eq!(exit, Exit::Negative, "{text}");
    assert!(text.contains("Why: 2 nodes answered in order, expected at least 3"), "{text}");
    assert_eq!(text.matches("does not count: ").count(), 9, "{text}");
}

#[test]
fn two_documents_at_one_height() {
    let (checkpoint, nodes) = (at(800), [Board::new(), Board::new(), Board::new()]);
    nodes[0].post(&checkpoint, &[0, 1, 2]);
    nodes[1].post(&other(&checkpoint), &[2, 3, 4]);
    let names: Vec<_> = nodes.iter().map(Board::node).collect();
    // Nobody but the node that syncs has seen both.
    assert!(nodes.iter().all(|node| node.served().evidence.is_none()));
    let syncing = Syncing::new();
    let (exit, text) = syncing.fetch(&names);
    assert_eq!(exit, Exit::Negative, "{text}");
    assert!(
        text.replace('\n', " ").contains("enough signers have signed two things that exclude each other"),
        "{text}"
    );
    let (exit, status) = syncing.run("status", &["--json"], now());
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(exit, Exit::Negative);
    assert_eq!(status["signed_both"], json!([const_hex::encode_prefixed(key(2).public_key().to_bytes())]));
    assert_eq!(status["evidence"]["checkpoints"].as_array().unwrap().len(), 2);
    let (_, text) = syncing.run("status", &[], now());
    assert!(text.contains("ALARM: ") && text.contains("signed both: 0x"), "{text}");

    // A server that gets the second one too has evidence, and serves it over TCP and over its socket.
    let answer = nodes[0].post(&other(&checkpoint), &[2, 3, 4]);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(nodes[0].served().evidence.is_some());
    let head = "GET /v1/checkpoint HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = ask(nodes[0].rig.socket("claims"), head, b"");
    assert!(Served::from_json(answer.body.as_bytes()).unwrap().evidence.is_some());
    let metrics = nodes[0].rig.get("/metrics").body;
    assert!(metrics.contains("quorate_checkpoint_evidence 1\n"), "{metrics}");
    assert!(nodes[0].rig.get("/").body.contains("Evidence: signers signed two things"));
    // That one is enough, beside two that know nothing.
    let fresh = [nodes[0].node(), nodes[2].node(), Board::new().node()];
    let third = Board::new();
    let (exit, text) = Syncing::new().fetch(&[fresh[0].clone(), fresh[1].clone(), third.socket()]);
    assert!(exit == Exit::Negative && text.contains("exclude each other"), "{text}");
    // It is an alarm for good, also when all nodes are honest again.
    let honest = [Board::new(), Board::new(), Board::new()];
    honest.iter().for_each(|board| assert_eq!(board.post(&at(900), &[0, 1, 3]).status, 200));
    let (exit, _) = syncing.fetch(&honest.each_ref().map(Board::node));
    assert_eq!(exit, Exit::Negative);
}

#[test]
fn what_is_false_is_named_and_not_kept() {
    let board = Board::new();
    let checkpoint = at(800);
    let mut posting = signed(&checkpoint, &[0, 1, 3]);
    posting.signatures[1].signature = signed(&other(&checkpoint), &[1]).signatures[0].signature;
    let send = |posting: &Posting| board.rig.post("/v1/checkpoint", "application/json", text(posting));
    let answer = send(&posting);
    assert_eq!(answer.status, 200, "{answer:?}");
    let taken = answer.json();
    assert_eq!((&taken["signatures"], &taken["complete"]), (&json!(2), &json!(false)));
    assert_eq!(taken["false_signatures"][0]["index"], 1);
    posting.signatures.retain(|signature| signature.index == 1);
    let answer = send(&posting);
    assert_eq!((answer.status, answer.code().as_str()), (422, "false-signatures"), "{answer:?}");
    assert_eq!(answer.json()["error"]["false_signatures"][0]["index"], 1);
    assert!(answer.message().contains("the signature of signer 1 is false"), "{}", answer.message());
    let kept: Vec<_> = board.served().checkpoints[0].signatures.iter().map(|signature| signature.index).collect();
    assert_eq!(kept, [0, 3]);
    for (posting, status, code, expected) in [
        (signed(&Checkpoint { chain_id: [1; 32], ..at(800) }, &[0]), 422, "other-chain", "another chain"),
        (signed(&Checkpoint { set_epoch: 2, ..at(800) }, &[0]), 422, "set-epoch", "found set epoch 2"),
        (signed(&Checkpoint { expires_at: now() - 1, ..at(800) }, &[0]), 422, "expired", "sign a new one"),
        (signed(&Checkpoint { issued_at: now() + 3600, ..at(800) }, &[0]), 422, "from-the-future", "clocks"),
    ] {
        let answer = send(&posting);
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{answer:?}");
        assert!(answer.message().contains(expected), "{}", answer.message());
    }
    assert_eq!(board.post(&checkpoint, &[2]).json()["complete"], true);
    assert_eq!(board.post(&at(700), &[2]).code(), "lower");
    let metrics = board.rig.get("/metrics").body;
    for line in [
        "quorate_checkpoint_documents 1\n",
        "quorate_checkpoint_signatures 3\n",
        "quorate_checkpoint_height 800\n",
        "quorate_checkpoint_evidence 0\n",
        "quorate_checkpoint_false_signatures_total 2\n",
        "quorate_requests_total{interface=\"checkpoint\",result=\"expired\"} 1\n",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    let page = board.rig.get("/").body;
    assert!(page.contains("3 of 5 signers, 3 needed") && page.contains("800"), "{page}");
    let openapi = board.rig.get("/openapi.json").json();
    assert!(openapi["paths"]["/v1/checkpoint"]["post"]["responses"]["422"].is_object(), "{openapi}");
}

#[test]
fn bad_postings() {
    let board = Board::with(|config| config.checkpoint.body_bytes = 5000);
    let good = text(&signed(&at(800), &[0]));
    for (content_type, body, status, code, expected) in [
        (
            "text/plain",
            good.as_str(),
            415,
            "content-type",
            "found the Content-Type \"text/plain\", expected application/json",
        ),
        ("application/x-ndjson", &good, 415, "content-type", "expected application/json"),
        ("application/json", "", 400, "bad-body", "does not begin with {"),
        ("application/json", "[]", 400, "bad-body", "does not begin with {"),
        ("application/json", &good.replace("800", "\"800\""), 400, "bad-body", "document.height"),
        ("application/json", &good[..100], 400, "bad-body", "EOF"),
        ("application/json", &"[".repeat(4000), 400, "bad-body", "does not begin with {"),
        ("application/json", &format!("{{\"document\":{}", "[".repeat(4000)), 400, "bad-body", "document"),
        ("application/json", &format!("{good}{}", " ".repeat(5000)), 413, "too-long", "5000 bytes"),
    ] {
        let answer = board.rig.post("/v1/checkpoint", content_type, body);
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{body:.60}: {answer:?}");
        assert!(answer.message().contains(expected), "{body:.60}: {}", answer.message());
        assert!(!answer.message().contains("arrow"), "{}", answer.message());
    }
    assert!(board.served().checkpoints.is_empty());
    // Postings in progress have places of their own, and the one whose body does not come keeps no other one out.
    let board = Board::with(|config| config.checkpoint.postings = 1);
    let posting = text(&signed(&at(800), &[0]));
    let head = "POST /v1/checkpoint HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
                Content-Length: 99\r\n\r\n";
    let begins = || {
        let mut waiting = board.rig.tcp();
        waiting.write_all(head.as_bytes()).unwrap();
        waiting
    };
    let waiting = begins();
    eventually("the first posting waits for its body", || board.rig.is_asked(1));
    let post = || board.rig.post("/v1/checkpoint", "application/json", &posting);
    assert_eq!(post().code(), "overloaded");
    drop(waiting);
    eventually("the place comes back with the client's end", || post().status == 200);
    board.rig.reload(|config| config.limits.body_ms = 300).unwrap();
    let late = answer(begins());
    assert_eq!((late.status, late.code().as_str()), (408, "timeout"), "{late:?}");
    board.rig.reload(|config| config.limits.body_ms = LONG_MS).unwrap();
    eventually("the place comes back with its time", || post().status == 200);
    // More places than any semaphore has.
    let board = Board::with(|config| config.checkpoint.postings = usize::MAX);
    assert_eq!(board.post(&at(800), &[0]).status, 200);
}

#[test]
fn without_the_section() {
    let rig = Rig::start();
    for answer in [rig.get("/v1/checkpoint"), rig.post("/v1/checkpoint", "application/json", "{}")] {
        assert_eq!((answer.status, answer.code().as_str()), (404, "no-checkpoints"));
        assert!(answer.message().contains("[checkpoint]") && answer.message().contains("chain_id"), "{answer:?}");
    }
    assert!(!rig.get("/").body.contains("<h3>Checkpoint</h3>"));
}

/// The server is killed (SIGKILL) right after its answer.
#[test]
fn kill_after_a_posting_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let fields = fields(folder.path()).map(|(name, value)| format!("checkpoint.{name}={value}"));
    let arguments: Vec<&str> = fields.iter().flat_map(|field| ["--set", field]).collect();
    for by in 0..5 {
        let server = Listening::start(&arguments);
        let answer =
            post(server.connect(), "/v1/checkpoint", "application/json", text(&signed(&at_fixed(), &[by])).as_bytes());
        assert_eq!((answer.status, &answer.json()["signatures"]), (200, &json!(by + 1)), "{answer:?}");
        // The drop kills it.
    }
    let server = Listening::start(&arguments);
    let head = "GET /v1/checkpoint HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let served = Served::from_json(ask(server.connect(), head, b"").body.as_bytes()).unwrap();
    assert_eq!(served.checkpoints[0].signatures.len(), 5);
    // Two servers do not share a folder.
    let again = || program().args(["--listen", "127.0.0.1:0"]).args(&arguments).ran();
    again().exits(1).says("used by another process");
    drop(server);
    // A board that was damaged is named, and not begun anew.
    fs::write(folder.path().join("board/board"), "damaged").unwrap();
    again().exits(2).says("board/board is damaged");
}

/// One document, however often it is asked for.
fn at_fixed() -> Checkpoint {
    static ISSUED: AtomicU64 = AtomicU64::new(0);
    let _ = ISSUED.compare_exchange(0, now() - 60, Ordering::Relaxed, Ordering::Relaxed);
    let issued_at = ISSUED.load(Ordering::Relaxed);
    Checkpoint { issued_at, expires_at: issued_at + WEEK, ..at(800) }
}

#[test]
fn wrong_sets_are_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let start = |fields: &[(&'static str, String); 4]| {
        let fields = fields.iter().map(|(name, value)| format!("checkpoint.{name}={value}"));
        let mut command = program();
        command.args(["--listen", "127.0.0.1:0"]);
        for field in fields {
            command.args(["--set", &field]);
        }
        command.ran()
    };
    let good = fields(folder.path());
    let changed = |place: usize, value: &str| {
        let mut fields = good.clone();
        fields[place].1 = value.to_owned();
        fields
    };
    let text = fs::read_to_string(&good[0].1).unwrap();
    let broken = path(folder.path(), "broken.json");
    fs::write(&broken, text.replacen("\"threshold\"", "\"treshold\"", 1)).unwrap();
    for (fields, code, expected) in [
        (changed(0, "/none.json"), 3, "checkpoint.sets: /none.json"),
        (changed(0, &broken), 2, "treshold"),
        (changed(0, ""), 2, "checkpoint.sets: found \"\""),
        (changed(1, &hex([9; 32])), 2, "expected the pinned one, 0x0909"),
        (changed(1, "0x12"), 2, "checkpoint.pin: found 2 hexadecimal digits, expected 64"),
        (changed(2, "c1"), 2, "checkpoint.chain_id"),
        (changed(3, "/proc/none"), 3, "checkpoint.folder: /proc/none"),
    ] {
        start(&fields).exits(code).says(expected);
    }
}

#[test]
fn fewer_than_three_nodes_and_other_bad_command_lines() {
    let syncing = Syncing::new();
    let [a, b] = ["http://127.0.0.1:1".to_owned(), "http://127.0.0.1:2".to_owned()];
    let (exit, text) = syncing.fetch(&[a.clone(), b.clone()]);
    assert_eq!(
        (exit, &*text),
        (Exit::Usage, "--node: found 2 nodes, 2 of them distinct; expected 3 to 16, each named once")
    );
    let (exit, text) = syncing.fetch(&[a.clone(), b.clone(), a.clone()]);
    assert!(exit == Exit::Usage && text.contains("found 3 nodes, 2 of them distinct"), "{text}");
    // Through the program, with its exit codes.
    let headers = path(syncing.folder.path(), "headers");
    let wrong = path(syncing.folder.path(), "wrong");
    fs::write(&wrong, "100 0x00\n").unwrap();
    let nodes = ["--node", &a, "--node", &b, "--node", "http://127.0.0.1:3"];
    for (more, code, expected) in [
        (vec!["--headers", &headers, "--depth", "20"], 1, "Verify the signatures in all blocks."),
        (
            vec!["--headers", &wrong, "--depth", "20"],
            2,
            "wrong: line 1: the hash: found 2 hexadecimal digits, expected 64",
        ),
        (vec!["--headers", "/none", "--depth", "20"], 3, "--headers /none"),
        (vec!["--headers", &headers], 2, "--depth"),
        (vec!["--headers", &headers, "--depth", "20", "--node", "https://a.example"], 2, "there is no TLS"),
        (vec!["--headers", &headers, "--depth", "20", "--listen", "127.0.0.1:0"], 2, "starts no server"),
        (vec!["--headers", &headers, "--depth", "20", "--pin", "0x12"], 2, "--pin"),
    ] {
        let more: Vec<_> = nodes.iter().copied().chain(more).collect();
        let ran = program().arg("checkpoint").args(syncing.arguments("fetch", &more)).ran().exits(code);
        assert!(ran.all().contains(expected), "{more:?}: {ran:#?}");
    }
    // There is no folder.
    program()
        .arg("checkpoint")
        .args(Syncing::new().arguments("status", &[]))
        .ran()
        .exits(3)
        .says("`checkpoint fetch` first");
}

#[test]
fn an_expired_document() {
    let boards = [Board::new(), Board::new(), Board::new()];
    let checkpoint = Checkpoint { expires_at: now() + 3600, ..at(800) };
    boards.iter().for_each(|board| assert_eq!(board.post(&checkpoint, &[0, 1, 2]).status, 200));
    let (nodes, syncing) = (boards.each_ref().map(Board::node), Syncing::new());
    let (exit, text) = syncing.fetch_at(&nodes, checkpoint.expires_at - 1);
    assert_eq!(exit, Exit::Success, "{text}");
    let (exit, text) = syncing.fetch_at(&nodes, checkpoint.expires_at);
    assert!(exit == Exit::Negative && text.contains("expired at"), "{text}");
}

#[test]
fn a_block_that_is_young_or_on_another_chain() {
    for (checkpoint, reason) in [
        (at(981), "19 blocks stand above the checkpoint at height 981, expected at least"),
        (other(&at(800)), "the block at height 800 of the chosen header chain is not the"),
        (at(40), "the block at height 40 of the chosen header chain is not the"),
    ] {
        let boards = [Board::new(), Board::new(), Board::new()];
        boards.iter().for_each(|board| assert_eq!(board.post(&checkpoint, &[0, 1, 2]).status, 200));
        let (exit, text) = Syncing::new().fetch(&boards.each_ref().map(Board::node));
        assert_eq!(exit, Exit::Negative, "{text}");
        assert!(text.replace('\n', " ").contains(reason), "{text}");
    }
}

#[test]
fn a_clock_set_back() {
    let boards = [Board::new(), Board::new(), Board::new()];
    boards.iter().for_each(|board| assert_eq!(board.post(&at(800), &[0, 1, 2]).status, 200));
    let (nodes, syncing) = (boards.each_ref().map(Board::node), Syncing::new());
    let (exit, text) = syncing.fetch_at(&nodes, now() + 2 * WEEK);
    assert!(exit == Exit::Negative && text.contains("expired at"), "{text}");
    // At the earlier time it would count, but the ratchet knows the later one.
    let (exit, text) = syncing.fetch_at(&nodes, now());
    assert!(exit == Exit::Negative && text.contains("the clock was set back"), "{text}");
    assert_eq!(Syncing::new().fetch_at(&nodes, now()).0, Exit::Success);
}

#[test]
fn an_interrupted_fetch() {
    let syncing = Syncing::new();
    let (sender, connected) = std::sync::mpsc::channel();
    let silent = stranger(move |stream| sender.send(stream).unwrap());
    let headers = path(syncing.folder.path(), "headers");
    let more = [
        "--node",
        &silent,
        "--node",
        "http://127.0.0.1:1",
        "--node",
        "http://127.0.0.1:2",
        "--headers",
        &headers,
        "--depth",
        "1",
    ];
    for signal in [Signal::INT, Signal::TERM] {
        let mut command = program();
        command.arg("checkpoint").args(syncing.arguments("fetch", &more));
        let run = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let _stream = connected.recv_timeout(PATIENCE).unwrap();
        // The signal is listened for before the nodes are asked.
        run.signal(signal);
        let ran = run.ends().exits(130).says("verify all blocks");
        assert_eq!(ran.out, "");
    }
}

/// A socket that is there and never answers, and one that nobody listens on.
#[test]
fn silent_and_dead_sockets() {
    let boards = [Board::new(), Board::new(), Board::new()];
    boards.iter().for_each(|board| assert_eq!(board.post(&at(800), &[0, 1, 2]).status, 200));
    let folder = tempfile::tempdir().unwrap();
    let [silent, dead]: [PathBuf; 2] = ["silent", "dead"].map(|name| folder.path().join(name));
    let _listener = UnixListener::bind(&silent).unwrap();
    drop(UnixListener::bind(&dead).unwrap());
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(boards[0].rig.socket_path("claims"), &link).unwrap();
    let bad = [&silent, &dead, &link].map(|path| format!("unix:{}", path.display()));
    let nodes: Vec<_> = boards.iter().map(Board::socket).chain(bad).collect();
    let (exit, report) = Syncing::new().fetch_json(&nodes);
    assert_eq!(exit, Exit::Success, "{report}");
    for (place, reason) in [(3, "did not answer within 20 s"), (4, "cannot be reached"), (5, "named twice")] {
        let fault = report["nodes"][place]["faults"][0].as_str().unwrap();
        assert!(fault.contains(reason), "{fault}");
    }
}
