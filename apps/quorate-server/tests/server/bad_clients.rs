//! Clients that are slow, silent or gone. They hold no memory and no place for long, and the others are served.

use std::{
    io::{ErrorKind, Read, Write},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::rig::{PATIENCE, Rig, answer, eventually, example, get};

/// How long it takes until the server closes a connection.
fn closed_after(mut stream: impl Read) -> Duration {
    let begun = Instant::now();
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "the server did not close: {error}"),
    }
    begun.elapsed()
}

/// Less than the ten seconds of the default, so that a shorter limit is seen to be kept. Each test shortens one limit alone: a client
/// that a busy machine stops for a second must not be ended by another one.
const SOON: Duration = Duration::from_secs(9);

#[test]
fn a_half_open_connection_is_closed() {
    // Until the first words of HTTP/2 are there or another head begins, a connection is silent.
    let rig = Rig::with(|config| (config.limits.header_ms, config.limits.idle_ms) = (300, 800));
    assert!(closed_after(rig.tcp()) < SOON);
    assert!(closed_after(rig.socket("claims")) < SOON);
    // One byte of a request, or of the first words of HTTP/2, is not enough.
    for begin in ["P", "PRI * HTTP/2.0\r\n"] {
        let mut stream = rig.tcp();
        stream.write_all(begin.as_bytes()).unwrap();
        assert!(closed_after(stream) < SOON, "{begin}");
    }
}

#[test]
fn a_connection_that_asks_nothing_more_is_closed() {
    let rig = Rig::with(|config| config.limits.idle_ms = 800);
    let mut stream = rig.tcp();
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(closed_after(stream) < SOON);
}

#[test]
fn slow_loris() {
    let rig = Rig::with(|config| config.limits.header_ms = 300);
    let mut stream = rig.tcp();
    let begun = Instant::now();
    let _ = stream.write_all(b"GET / HTTP/1.1\r\n");
    while stream.write_all(b"X-Slow: 1\r\n").is_ok() && begun.elapsed() < SOON {
        thread::sleep(Duration::from_millis(50));
    }
    assert!(begun.elapsed() < SOON, "the head of a request may take for ever");
}

#[test]
fn a_body_that_trickles() {
    let rig = Rig::with(|config| config.limits.body_ms = 400);
    let mut stream = rig.tcp();
    let head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
                Content-Length: 1000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(50));
        if stream.write_all(b" ").is_err() {
            break;
        }
    }
    let answer = answer(stream);
    assert_eq!((answer.status, answer.code().as_str()), (408, "timeout"), "{answer:?}");
}

#[test]
fn a_line_that_trickles() {
    let rig = Rig::with(|config| config.limits.body_ms = 400);
    let mut stream = rig.tcp();
    let head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\n\
                Content-Length: 1000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(50));
        if stream.write_all(b" ").is_err() {
            break;
        }
    }
    let answer = answer(stream);
    assert_eq!((answer.status, &answer.lines()[0]["error"]["code"]), (200, &json!("timeout")), "{answer:?}");
}

#[test]
fn a_body_that_ends_early() {
    let rig = Rig::start();
    for content_type in ["application/json", "application/x-ndjson"] {
        let mut stream = rig.tcp();
        let head = format!(
            "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\nContent-Length: 1000\r\n\r\n["
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let answer = answer(stream);
        assert!(answer.status == 0 || answer.code() == "cut-off", "{answer:?}");
    }
    eventually("requests are still in progress", || {
        let metrics = rig.get("/metrics").body;
        metrics.contains("quorate_requests_in_progress 0\n") && metrics.contains("quorate_held_bytes 0\n")
    });
}

#[test]
fn oversized_headers() {
    let rig = Rig::start();
    let mut stream = rig.tcp();
    let _ =
        stream.write_all(format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(100_000)).as_bytes());
    let found = answer(stream);
    assert!([0, 431].contains(&found.status), "{found:?}");
    let many: String = (0..200).map(|i| format!("X-{i}: 1\r\n")).collect();
    let mut stream = rig.tcp();
    stream.write_all(format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n").as_bytes()).unwrap();
    assert_eq!(answer(stream).status, 431);
    assert_eq!(rig.get("/livez").status, 200);
}

#[test]
fn a_reader_who_never_reads() {
    let rig = Rig::with(|config| config.limits.write_ms = 400);
    let mut stream = rig.tcp();
    stream.set_write_timeout(Some(SOON)).unwrap();
    let head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
                Content-Length: 1000000000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    // Each line is answered with a longer one. How many go into the buffers between the two does not depend on the time.
    let lines = "x\n".repeat(10_000);
    let mut sent = 0;
    while sent < MOST_BUFFERED {
        match stream.write(lines.as_bytes()) {
            Ok(bytes) => sent += bytes,
            Err(error) if [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe].contains(&error.kind()) => break,
            Err(error) => panic!("the server neither reads nor closes: {error}"),
        }
    }
    assert!(sent < MOST_BUFFERED, "the server reads on and on: {sent} bytes");
    eventually("its request is still in progress", || {
        rig.get("/metrics").body.contains("quorate_requests_in_progress 0\n")
    });
}

/// More than the buffers of a connection hold, in bytes.
const MOST_BUFFERED: usize = 64 << 20;

/// Clients of HTTP/2 that opened no window for an answer of three bytes kept all connections, and needed no token for that.
#[test]
fn an_answer_that_nobody_takes_keeps_nobody_out() {
    let rig = Rig::with(|config| config.limits.connections = 3);
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        let length = u8::try_from(payload.len()).unwrap();
        [&[0, 0, length, kind, flags, 0, 0, 0, stream][..], payload].concat()
    };
    let sent = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        // Streams begin with a window of zero bytes.
        frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]),
        frame(1, 5, 1, b"\x82\x86\x44\x06/livez\x41\x09localhost"),
    ];
    let silent = [(); 3].map(|()| {
        let mut stream = rig.tcp();
        stream.write_all(&sent.concat()).unwrap();
        // Until the head of the answer is there.
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head).unwrap();
            let mut payload = vec![0; usize::from(head[1]) * 256 + usize::from(head[2])];
            stream.read_exact(&mut payload).unwrap();
            if head[3] == 1 {
                break stream;
            }
        }
    });
    // Nothing else ends one of them, because they may be idle and leave answers unread for longer than this waits.
    assert_eq!(rig.get("/livez").status, 200);
    drop(silent);
}

/// A client that sent a blank line now and then kept its place for ever, and all places were gone after a few of them.
#[test]
fn blank_lines_are_silence() {
    let rig = Rig::with(|config| config.limits.body_ms = 1000);
    let mut stream = rig.tcp();
    let head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\n\
                Content-Length: 1000000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut to_server = stream.try_clone().unwrap();
    let sending = thread::spawn(move || {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && to_server.write_all(b"\n").is_ok() {
            thread::sleep(Duration::from_millis(100));
        }
    });
    let lines = answer(stream).lines();
    assert_eq!(lines[0]["error"]["code"], "timeout", "{lines:?}");
    sending.join().unwrap();
}

#[test]
fn places_and_memory_are_given_away_once() {
    let rig = Rig::with(|config| {
        config.limits.requests = 1;
        config.limits.connections = 3;
    });
    let mut stream = rig.tcp();
    let head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: 10\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    // On the socket, because a connection over TCP can make one close on which no request has come yet.
    eventually("the stream is in progress", || rig.is_asked(1));
    let busy = rig.verify("[]");
    assert_eq!((busy.status, busy.code().as_str()), (503, "overloaded"));
    assert!(busy.head.contains("retry-after: 1"), "{}", busy.head);
    assert_eq!(rig.get("/livez").status, 200, "a probe is not a request for verdicts");
    drop(stream);
    eventually("the place is free", || rig.verify("[]").status == 400);

    // Enough for the body, and not for the claim beside it.
    let claim = example("one-false.jsonl").lines().next().unwrap().to_owned();
    let rig = Rig::with(|config| {
        let limits = &mut config.limits;
        (limits.memory_bytes, limits.body_bytes, limits.line_bytes) = (claim.len(), claim.len(), claim.len());
    });
    let busy = rig.verify(&claim);
    assert_eq!((busy.status, busy.code().as_str()), (503, "overloaded"), "{busy:?}");
    assert_eq!(rig.verify(&format!("{claim} ")).status, 413);
}

#[test]
fn more_connections_than_allowed_wait_their_turn() {
    let rig = Rig::with(|config| config.limits.connections = 1);
    let mut first = rig.tcp();
    let head =
        "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n";
    first.write_all(head.as_bytes()).unwrap();
    // Until its request is in progress, it is idle, and would make room.
    eventually("the first request is in progress", || rig.is_asked(1));
    let (second, is_over) = (rig.tcp(), AtomicBool::new(false));
    thread::scope(|scope| {
        let second = scope.spawn(|| (get(second, "/livez").status, is_over.load(Ordering::SeqCst)));
        // Time in which it must not be answered.
        thread::sleep(Duration::from_millis(300));
        is_over.store(true, Ordering::SeqCst);
        // The first one is answered now, and is idle then.
        first.write_all(b"[]").unwrap();
        assert_eq!(second.join().unwrap(), (200, true), "it did not wait");
    });
}
