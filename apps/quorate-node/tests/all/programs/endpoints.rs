//! HTTP endpoints on loopback.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use quorate_network::message::MAX_RESULT;
use quorate_node::programs::{Program, ProgramInput, ProgramSetupError};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};

use super::*;

/// A server that answers every request alike, on a free port. It stops when it is dropped.
struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    most: Arc<AtomicUsize>,
    task: AbortHandle,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Sends these bytes after `wait`, and closes the connection.
    async fn start(answer: impl Into<Vec<u8>>, wait: Duration) -> Self {
        Self::full(answer, wait, 0).await
    }

    /// The same, but nothing is sent before so many requests wait for it.
    async fn full(answer: impl Into<Vec<u8>>, wait: Duration, enough: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, running, most) = <(Arc<Mutex<Vec<String>>>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let (seen, highest, answer) = (requests.clone(), most.clone(), answer.into());
        let task = tokio::spawn(async move {
            // Connections end with the server.
            let mut connections = JoinSet::new();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (seen, highest, running, answer) = (seen.clone(), highest.clone(), running.clone(), answer.clone());
                connections.spawn(async move {
                    let request = read_request(&mut stream).await;
                    seen.lock().unwrap().push(request);
                    highest.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    while highest.load(Ordering::SeqCst) < enough {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    tokio::time::sleep(wait).await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    // The client may be gone.
                    drop(stream.write_all(&answer).await);
                    drop(stream.shutdown().await);
                });
            }
        });
        Self { address, requests, most, task: task.abort_handle() }
    }

    /// Sends this body with a status.
    async fn answering(status: &str, body: &[u8]) -> Self {
        Self::start(answer(status, body), Duration::ZERO).await
    }

    fn programs(&self, time: Duration) -> Programs {
        programs(Program::endpoint(&format!("http://{}/work?token=secret", self.address)).unwrap(), time)
    }
}

fn answer(status: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// A request with a length, as text.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() >= length.parse().unwrap() {
                return text;
            }
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(length @ 1..) => request.extend_from_slice(&chunk[..length]),
            _ => return text,
        }
    }
}

#[tokio::test]
async fn a_request_is_one_post_with_the_documented_object() {
    let server = Server::answering("200 OK", b"\0\xff12.5\n").await;
    assert_eq!(server.programs(LONG).execute(&task("{}")).await.unwrap(), b"\0\xff12.5\n"[..]);
    let error = server.programs(LONG).validate(&task("{}"), &"1".into()).await.unwrap_err();
    assert_failed(&error, |why| matches!(why, ProgramFailure::NoVerdict(_)));

    let requests = server.requests.lock().unwrap().clone();
    let inputs =
        [ProgramInput::execute(NETWORK, &task("{}")), ProgramInput::validate(NETWORK, &task("{}"), &"1".into())];
    assert_eq!(requests.len(), inputs.len());
    for (request, input) in requests.iter().zip(inputs) {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /work?token=secret HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("\r\ncontent-type: application/json"), "{head}");
        assert_eq!(serde_json::from_str::<ProgramInput>(body).unwrap(), input);
    }
}

#[tokio::test]
async fn a_verdict_is_a_bool_and_nothing_else() {
    for (body, verdict) in [
        (r#"{"approved": true}"#, Some(true)),
        (r#"{"approved": false, "reason": "too high"}"#, Some(false)),
        (r#"{"approved": "true"}"#, None),
        (r#"{"approved": 1}"#, None),
        (r#"{"approved": null}"#, None),
        (r#"{"approved": true, "approved": false}"#, None),
        (r#"{"Approved": true}"#, None),
        (r#"{"approved": true} {"approved": true}"#, None),
        ("true", None),
        ("{}", None),
        ("", None),
    ] {
        let server = Server::answering("200 OK", body.as_bytes()).await;
        match server.programs(LONG).validate(&task("{}"), &"1".into()).await {
            Ok(found) => assert_eq!(Some(found), verdict, "{body}"),
            Err(error) => {
                assert_eq!(verdict, None, "{body}: {error}");
                assert_failed(&error, |why| matches!(why, ProgramFailure::NoVerdict(_)));
            }
        }
    }
}

#[tokio::test]
async fn other_statuses_are_no_answer() {
    let body = br#"{"approved": true}"#;
    for status in ["201 Created", "202 Accepted", "204 No Content", "400 Bad Request", "500 Oops", "503 Busy"] {
        let server = Server::answering(status, if status.starts_with("204") { b"" } else { body }).await;
        let both = server.programs(LONG);
        for error in
            [both.validate(&task("{}"), &"1".into()).await.unwrap_err(), both.execute(&task("{}")).await.unwrap_err()]
        {
            assert_failed(
                &error,
                |why| matches!(why, ProgramFailure::HttpStatus { found, .. } if status.starts_with(&found.to_string())),
            );
            // The address is told without what may be a token.
            assert!(error.to_string().starts_with(&format!("http://{}/work: answered", server.address)), "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        // Nothing is asked again.
        assert_eq!(server.requests.lock().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let target = Server::answering("200 OK", br#"{"approved": true}"#).await;
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let head = format!("HTTP/1.1 {status}\r\nLocation: http://{}/\r\nContent-Length: 0\r\n\r\n", target.address);
        let server = Server::start(head, Duration::ZERO).await;
        let error = server.programs(LONG).validate(&task("{}"), &"1".into()).await.unwrap_err();
        assert_failed(&error, |why| matches!(why, ProgramFailure::HttpStatus { found: 301..=308, .. }));
        assert!(error.to_string().contains("redirects are not followed"), "{error}");
    }
    assert!(target.requests.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_endpoint_that_does_not_answer_in_time() {
    let started = Instant::now();
    // Without an answer, and with one that begins and never goes on.
    let hanging = Server::start(answer("200 OK", b"12.5"), Duration::from_secs(300)).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let beginning = tokio::spawn(async move {
        let mut streams = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n12.5").await.unwrap();
            streams.push(stream);
        }
    });
    for address in [hanging.address, address] {
        let both = programs(Program::endpoint(&format!("http://{address}")).unwrap(), SHORT);
        let error = both.execute(&task("{}")).await.unwrap_err();
        assert_failed(&error, |why| matches!(why, ProgramFailure::Time(SHORT)));
    }
    beginning.abort();
    assert_soon(started);
}

#[tokio::test]
async fn an_answer_of_the_greatest_length_and_one_byte_more() {
    let server = Server::answering("200 OK", &[7; MAX_RESULT]).await;
    assert_eq!(server.programs(LONG).execute(&task("{}")).await.unwrap(), vec![7; MAX_RESULT]);
    let server = Server::answering("200 OK", &[7; MAX_RESULT + 1]).await;
    let error = server.programs(LONG).execute(&task("{}")).await.unwrap_err();
    assert_failed(&error, |why| matches!(why, ProgramFailure::Output));
    // Without a length, and far more than that.
    let endless = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &vec![7; 50 * MAX_RESULT]].concat();
    let server = Server::start(endless, Duration::ZERO).await;
    let error = server.programs(LONG).execute(&task("{}")).await.unwrap_err();
    assert_failed(&error, |why| matches!(why, ProgramFailure::Output));
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_none() {
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{\"approved\": true}";
    for text in [cut, "HTTP/1.1 200", "not HTTP at all\r\n\r\n", ""] {
        let server = Server::start(text, Duration::ZERO).await;
        let both = server.programs(LONG);
        for error in
            [both.validate(&task("{}"), &"1".into()).await.unwrap_err(), both.execute(&task("{}")).await.unwrap_err()]
        {
            assert_failed(&error, |why| matches!(why, ProgramFailure::NoAnswer(_)));
        }
    }
    let server = Server::answering("200 OK", b"").await;
    let error = server.programs(LONG).execute(&task("{}")).await.unwrap_err();
    assert_failed(&error, |why| matches!(why, ProgramFailure::NoResult));
}

#[tokio::test]
async fn an_endpoint_that_is_not_there() {
    let program = Program::endpoint("http://127.0.0.1:1/work?token=secret").unwrap();
    let error = execute_failure(program, LONG).await;
    assert_failed(&error, |why| matches!(why, ProgramFailure::NoAnswer(_)));
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn tls_is_not_replaced_by_plain_text() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let plain = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(&answer("200 OK", b"1")).await.unwrap();
        // Until the client goes.
        let mut seen = Vec::new();
        drop(stream.read_to_end(&mut seen).await);
        seen
    });
    match Program::endpoint(&format!("https://{address}")) {
        Ok(program) => {
            let error = execute_failure(program, LONG).await;
            assert_failed(&error, |why| matches!(why, ProgramFailure::NoAnswer(_)));
            let seen = plain.await.unwrap();
            assert!(!String::from_utf8_lossy(&seen).contains("payload"), "the task went out in plain text");
        }
        // A machine without a list of certificate authorities has no https, and says so.
        Err(why) => assert!(matches!(why, ProgramSetupError::Client(_)), "{why}"),
    }
}

#[test]
fn addresses_that_cannot_be_used() {
    let setup = |text: &str| Program::endpoint(text).unwrap_err();
    assert!(matches!(setup("ftp://127.0.0.1/"), ProgramSetupError::Address(_)));
    assert!(matches!(setup("127.0.0.1:80"), ProgramSetupError::Address(_)));
    assert!(matches!(setup("http://"), ProgramSetupError::Address(_)));
    assert_eq!(setup("http://me:word@127.0.0.1/"), ProgramSetupError::Credentials);
    assert_eq!(setup("http://:word@127.0.0.1/"), ProgramSetupError::Credentials);
    // Parsed from text, an address is never taken for a command.
    assert!(matches!("http://".parse::<Program>().unwrap_err(), ProgramSetupError::Address(_)));
}

#[tokio::test]
async fn many_requests_wait_for_their_turn() {
    let at_once = settings(LONG).at_once.get();
    let server = Server::full(answer("200 OK", b"12.5"), Duration::from_millis(30), at_once).await;
    let both = server.programs(LONG);
    let mut calls = JoinSet::new();
    for _ in 0..50 {
        let both = both.clone();
        calls.spawn(async move { both.execute(&task("{}")).await.unwrap() });
    }
    while let Some(call) = calls.join_next().await {
        assert_eq!(call.unwrap(), b"12.5"[..]);
    }
    assert_eq!(server.requests.lock().unwrap().len(), 50);
    assert_eq!(server.most.load(Ordering::SeqCst), at_once);
}
