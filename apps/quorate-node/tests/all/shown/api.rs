//! The interface over TCP: each route, names and tokens that are not ours, bodies and clients that misbehave.

use std::{
    collections::BTreeSet,
    fs,
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    time::{Duration, Instant},
};

use quorate_evm::alloy_primitives::{B256, Bytes, keccak256};
use quorate_network::roles::NotTaken;
use quorate_node::{
    api::{ApiLimits, ApiSettings, ServeError, TaskOrder, Token, serve},
    board::{Component, MemberReport, NodeBoard},
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime, sync::mpsc, sync::oneshot};

use crate::shown::rig::{EPOCH, chain, id, owner, ready, signed};

/// A test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A board that is served, and a loop that answers orders.
struct Rig {
    runtime: Runtime,
    address: SocketAddr,
    board: NodeBoard,
    orders: mpsc::Receiver<TaskOrder>,
    token: String,
    stop: Option<oneshot::Sender<()>>,
    served: Option<tokio::task::JoinHandle<Result<(), ServeError>>>,
    _folder: TempDir,
}

impl Rig {
    fn start() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut ApiSettings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = Token::read_or_create(&path).unwrap();
        let mut settings = ApiSettings { token: Some(token), ..ApiSettings::default() };
        change(&mut settings);
        let runtime = Runtime::new().unwrap();
        let (sender, orders) = mpsc::channel(1);
        let (stop, stopped) = oneshot::channel::<()>();
        let board = ready();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let stop_signal = async {
            let _ = stopped.await;
        };
        let served = runtime.spawn(serve(listener, board.clone(), sender, settings, stop_signal));
        // The board has a chain of long ago; the interface has the clock of now.
        board.chain(chain(EPOCH), now_ms());
        let token = std::fs::read_to_string(&path).unwrap().trim().to_owned();
        let (stop, served) = (Some(stop), Some(served));
        Self { runtime, address, board, orders, token, stop, served, _folder: folder }
    }

    fn tcp(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"), b"")
    }

    fn ask(&self, head: &str, body: &[u8]) -> Answer {
        let mut stream = self.tcp();
        stream.write_all(head.as_bytes()).unwrap();
        // The node may answer and close before it has read everything.
        let _ = stream.write_all(body);
        answer(stream)
    }

    /// Hands in a task with the token, and further headers.
    fn post(&self, headers: &str, body: &[u8]) -> Answer {
        self.ask(&self.post_head(headers, body.len()), body)
    }

    fn post_head(&self, headers: &str, length: usize) -> String {
        let authorization = format!("Authorization: Bearer {}\r\n", self.token);
        let content_type = "Content-Type: application/json\r\n";
        let defaults = [("authorization", authorization.as_str()), ("content-type", content_type)];
        let missing = defaults.iter().filter(|(name, _)| !headers.to_lowercase().contains(name));
        let more: String = missing.map(|(_, header)| *header).collect();
        format!(
            "POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}{more}\r\n"
        )
    }

    /// Hands in a task, and answers it as the loop would.
    fn order(&mut self, body: &str, reply: Result<u64, NotTaken>) -> (Answer, (B256, Option<u64>, Bytes)) {
        let (head, body) = (self.post_head("", body.len()), body.to_owned());
        let mut stream = self.tcp();
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let order = self.runtime.block_on(self.orders.recv()).unwrap();
        order.reply.send(reply).unwrap();
        (answer(stream), (order.id, order.epoch, order.payload))
    }

    /// Stops the interface, and waits for it.
    fn stop(&mut self) -> Result<(), ServeError> {
        drop(self.stop.take());
        self.runtime.block_on(self.served.take().unwrap()).unwrap()
    }
}

fn now_ms() -> u64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// Reads an answer up to the end of the connection.
fn answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A connection that was closed with something unread is reset after its answer.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}

#[test]
fn each_reading_is_answered() {
    let rig = Rig::start();
    rig.board.task_seen(id(1), EPOCH, "price <b>", 1);
    let live = rig.get("/livez");
    assert_eq!((live.status, live.body.as_str()), (200, "ok\n"));
    let is_ready = rig.get("/readyz");
    assert_eq!((is_ready.status, is_ready.json()["ready"].as_bool()), (200, Some(true)), "{is_ready:?}");
    let metrics = rig.get("/metrics");
    assert!(metrics.head.contains("content-type: application/openmetrics-text; version=1.0.0"), "{}", metrics.head);
    assert!(metrics.body.ends_with("# EOF\n") && metrics.body.contains("quorate_node_ready 1\n"));
    let status = rig.get("/v1/status").json();
    assert_eq!((status["ready"].as_bool(), status["chain"]["head"].as_u64()), (Some(true), Some(100)));
    assert!(status.get("tasks").is_none());
    let tasks = rig.get("/v1/tasks").json();
    assert_eq!(
        (&tasks["tasks"][0]["id"], &tasks["tasks"][0]["label"]),
        (&id(1).to_string().into(), &"price <b>".into())
    );
    let page = rig.get("/");
    assert!(page.head.contains("content-security-policy: default-src 'none'; style-src 'self'; script-src 'self';"));
    assert!(page.head.contains("content-type: text/html; charset=utf-8") && page.body.contains("price &lt;b&gt;"));
    for (path, content_type) in [("/dashboard.css", "text/css"), ("/dashboard.js", "text/javascript")] {
        let asset = rig.get(path);
        assert!(asset.status == 200 && asset.head.contains(content_type), "{asset:?}");
    }
    for path in ["/", "/livez", "/metrics", "/v1/tasks", "/dashboard.js", "/nothing"] {
        assert!(rig.get(path).head.contains("x-content-type-options: nosniff"), "{path}");
    }
    let none = rig.get("/v2/tasks");
    assert_eq!((none.status, none.code().as_str()), (404, "not-found"));
    let other = rig.ask("DELETE /v1/tasks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", b"");
    assert_eq!((other.status, other.code().as_str()), (405, "method"));
}

/// Numbers above 2^53 are rounded by many a reader of JSON.
#[test]
fn weights_are_text_wherever_they_stand() {
    let rig = Rig::start();
    rig.board.members([MemberReport { index: 4, owner: owner(4), weight: u64::MAX }]);
    rig.board.task_seen(id(1), EPOCH, "price", 1);
    rig.board.task_report(signed(id(1), true, &[1, 2]), 2);
    let (status, tasks) = (rig.get("/v1/status").json(), rig.get("/v1/tasks").json());
    let heaviest = u64::MAX.to_string();
    assert_eq!([&status["operators"][0]["weight"], &status["operators_weight"]], [heaviest.as_str(); 2]);
    let task = &tasks["tasks"][0];
    assert_eq!(["weight", "against", "required", "total"].map(|name| &task[name]), ["50", "0", "100", "150"]);
    // The performer is the member of index 4; those of 0, 3 and 4 have not signed.
    assert_eq!(task["performer"]["weight"], "50");
    let missing = task["missing"].as_array().unwrap();
    assert_eq!(missing.iter().map(|absent| &absent["weight"]).collect::<Vec<_>>(), ["10", "40", "50"]);
}

#[test]
fn a_node_that_is_not_ready_says_why() {
    let rig = Rig::start();
    rig.board.problem(Component::Signer, Some("it is locked".to_owned()));
    let found = rig.get("/readyz");
    assert_eq!(found.status, 503);
    assert_eq!(found.json(), serde_json::json!({ "ready": false, "reasons": ["signer: it is locked"] }));
    assert_eq!(rig.get("/livez").status, 200, "it lives all the same");
    assert!(rig.get("/").body.contains("<li>signer: it is locked</li>"));
}

/// DNS rebinding: a page of evil.example has made its name point at this machine.
#[test]
fn a_foreign_host_is_not_answered() {
    let rig = Rig::with(|settings| settings.hosts = vec!["node.example".to_owned()]);
    let ask =
        |host: &str| rig.ask(&format!("GET /v1/status HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"), b"");
    for host in ["evil.example", "evil.example:80", "localhost.evil.example", ""] {
        let found = ask(host);
        assert_eq!(found.status, 421, "{host}: {found:?}");
        assert!(!found.body.contains("chain"), "{found:?}");
    }
    for host in ["localhost:9597", "127.0.0.1", "[::1]:1", "node.example"] {
        assert_eq!(ask(host).status, 200, "{host}");
    }
}

#[test]
fn a_task_goes_to_the_loop_and_its_answer_comes_back() {
    let mut rig = Rig::start();
    let (found, order) = rig.order(r#"{"payload": {"pair": "ETH/USD",  "minute": 1.50}}"#, Ok(7));
    let payload = Bytes::from_static(br#"{"pair": "ETH/USD",  "minute": 1.50}"#);
    assert_eq!(order, (keccak256(&payload), None, payload.clone()), "the JSON is as it was sent");
    assert_eq!(found.status, 202);
    assert_eq!(found.json(), serde_json::json!({ "id": keccak256(&payload), "epoch": 7 }));

    let body = format!(r#"{{"id": "{}", "epoch": 8, "payload": "0x00ff"}}"#, id(5));
    let (found, order) = rig.order(&body, Ok(8));
    assert_eq!((found.status, order), (202, (id(5), Some(8), Bytes::from_static(&[0, 255]))));

    let (found, _) = rig.order(&body, Err(NotTaken::Epoch { found: 8, current: 3 }));
    assert_eq!((found.status, found.code().as_str()), (422, "not-taken"));
    assert!(found.body.contains("the task is for epoch 8, and epoch 3 runs"), "{found:?}");
    let (found, _) = rig.order(&body, Err(NotTaken::Full(1024)));
    assert_eq!((found.status, found.code().as_str()), (503, "full"));
    assert!(found.head.contains("retry-after: 1"), "{}", found.head);
    let (found, _) = rig.order(&body, Err(NotTaken::OtherPayload));
    assert_eq!((found.status, found.code().as_str()), (409, "other-payload"));
    assert!(found.body.contains("with another id"), "{found:?}");
}

#[test]
fn a_body_that_is_no_task_is_refused_with_a_reason() {
    let rig = Rig::start();
    for (body, status, code, words) in [
        ("", 400, "bad-body", "expected"),
        ("[]", 400, "bad-body", "expected"),
        ("{}", 400, "bad-body", "missing field `payload`"),
        (r#"{"payload": 1, "weight": 2}"#, 400, "bad-body", "unknown field `weight`"),
        (r#"{"payload": 1, "epoch": -1}"#, 400, "bad-body", "invalid value"),
        (r#"{"payload": 1, "id": "0x12"}"#, 400, "bad-body", "expected"),
        (r#"{"payload": 1, "payload": 2}"#, 400, "bad-body", "duplicate field `payload`"),
        (r#"{"payload": "0x1"}"#, 422, "bad-payload", "found 1 hexadecimal digits"),
    ] {
        let found = rig.post("", body.as_bytes());
        assert_eq!((found.status, found.code().as_str()), (status, code), "{body}");
        assert!(found.body.contains(words), "{body}: {found:?}");
    }
    let found = rig.post("Content-Type: text/plain\r\n", b"{\"payload\": 1}");
    assert_eq!((found.status, found.code().as_str()), (415, "content-type"));
}

#[test]
fn only_who_has_the_token_hands_in_tasks() {
    let rig = Rig::start();
    let wrong = ["", "Bearer", "Bearer x", "Basic dXNlcg==", &format!("Bearer {}", "0".repeat(64))];
    for authorization in wrong {
        let found = rig.post(&format!("Authorization: {authorization}\r\n"), b"{\"payload\": 1}");
        assert_eq!((found.status, found.code().as_str()), (401, "token"), "{authorization}");
        assert!(found.head.contains("www-authenticate: bearer") && !found.body.contains(&rig.token));
    }
    let rig = Rig::with(|settings| settings.token = None);
    let found = rig.post("", b"{\"payload\": 1}");
    assert_eq!((found.status, found.code().as_str()), (403, "no-token"));
}

#[test]
fn a_loop_that_does_not_answer_is_said() {
    let mut rig = Rig::with(|settings| settings.limits.order_ms = 300);
    // It takes one order into its queue, and looks at none.
    let found = rig.post("", b"{\"payload\": 1}");
    assert_eq!((found.status, found.code().as_str()), (503, "no-answer"));
    let found = rig.post("", b"{\"payload\": 2}");
    assert_eq!((found.status, found.code().as_str()), (503, "overloaded"));
    rig.orders.close();
    let found = rig.post("", b"{\"payload\": 3}");
    assert_eq!((found.status, found.code().as_str()), (503, "stopping"));
}

#[test]
fn a_body_that_is_too_long_is_not_read() {
    let rig = Rig::with(|settings| settings.limits.body_bytes = 1_000);
    let body = format!("{{\"payload\": \"{}\"}}", "a".repeat(2_000));
    let found = rig.post("", body.as_bytes());
    assert_eq!((found.status, found.code().as_str()), (413, "too-long"));
    let chunked = format!(
        "POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\
         Content-Type: application/json\r\nAuthorization: Bearer {}\r\n\r\n",
        rig.token
    );
    let found = rig.ask(&chunked, format!("7d0\r\n{}\r\n0\r\n\r\n", "a".repeat(2_000)).as_bytes());
    assert_eq!((found.status, found.code().as_str()), (413, "too-long"));
    assert_eq!(rig.get("/livez").status, 200);
}

#[test]
fn a_head_that_is_too_long_is_not_read() {
    let rig = Rig::start();
    let head = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    let mut stream = rig.tcp();
    let _ = stream.write_all(head.as_bytes());
    assert!([0, 431].contains(&answer(stream).status));
    assert_eq!(rig.get("/livez").status, 200);
}

fn hasty() -> Rig {
    Rig::with(|settings| {
        settings.limits =
            ApiLimits { header_ms: 300, body_ms: 300, write_ms: 400, order_ms: 300, ..ApiLimits::default() }
    })
}

/// Less than the ten seconds of the default, so that a shorter limit is seen to be kept.
const SOON: Duration = Duration::from_secs(9);

/// How long it takes until the node closes a connection.
fn closed_after(mut stream: TcpStream) -> Duration {
    let begun = Instant::now();
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "the node did not close: {error}"),
    }
    begun.elapsed()
}

#[test]
fn silent_clients_are_closed() {
    let rig = hasty();
    assert!(closed_after(rig.tcp()) < SOON, "nothing came");
    let mut stream = rig.tcp();
    stream.write_all(b"G").unwrap();
    assert!(closed_after(stream) < SOON, "one byte came");
    let mut stream = rig.tcp();
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(closed_after(stream) < SOON, "nothing more came");
}

#[test]
fn a_head_that_trickles() {
    let rig = hasty();
    let mut stream = rig.tcp();
    let begun = Instant::now();
    let _ = stream.write_all(b"GET / HTTP/1.1\r\n");
    while stream.write_all(b"X-Slow: 1\r\n").is_ok() && begun.elapsed() < SOON {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(begun.elapsed() < SOON, "the head of a request may take for ever");
}

#[test]
fn a_body_that_trickles() {
    // The head has its time, however long this thread rests before it.
    let rig = Rig::with(|settings| settings.limits.body_ms = 300);
    let mut stream = rig.tcp();
    stream.write_all(rig.post_head("", 1_000).as_bytes()).unwrap();
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(50));
        if stream.write_all(b" ").is_err() {
            break;
        }
    }
    let found = answer(stream);
    assert_eq!((found.status, found.code().as_str()), (408, "timeout"), "{found:?}");
}

/// It asks for the page over and over and takes no answer.
#[test]
fn a_reader_who_never_reads() {
    let rig = hasty();
    for number in 0..200 {
        rig.board.task_seen(id(number), EPOCH, &"x".repeat(200), 1);
    }
    let mut stream = rig.tcp();
    stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let begun = Instant::now();
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100);
    while begun.elapsed() < 2 * SOON {
        match stream.write(&request) {
            Ok(_) => {}
            Err(error) if [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe].contains(&error.kind()) => return,
            Err(error) => assert!([ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()), "{error}"),
        }
    }
    panic!("the node neither reads nor closes");
}

#[test]
fn more_connections_than_allowed_wait_their_turn() {
    let rig = Rig::with(|settings| {
        settings.limits.connections = 1;
        settings.limits.body_ms = 900;
    });
    let mut first = rig.tcp();
    // A body that does not come: the connection is busy.
    let begun = Instant::now();
    first.write_all(rig.post_head("Expect: 100-continue\r\n", 1_000).as_bytes()).unwrap();
    // It says so when it waits for the body.
    let mut goes_on = [0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
    first.read_exact(&mut goes_on).unwrap();
    assert_eq!(goes_on, *b"HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(rig.get("/livez").status, 200);
    assert!(begun.elapsed() >= Duration::from_millis(900), "it did not wait");
    assert_eq!(answer(first).status, 408);
}

/// A client that holds all connections, and does nothing with them, keeps nobody else out.
#[test]
fn an_idle_connection_makes_room() {
    // An idle connection would stay for longer than the test waits for an answer.
    let rig = Rig::with(|settings| {
        settings.limits.connections = 2;
        settings.limits.header_ms = 10 * PATIENCE.as_millis() as u64;
    });
    let mut idle = [rig.tcp(), rig.tcp()];
    for stream in &mut idle {
        stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        // Idle is what has its answer.
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\nok\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            answer.extend(byte);
        }
    }
    assert_eq!(rig.get("/livez").status, 200, "it waited");
}

#[test]
fn a_connection_ends_some_day() {
    let rig = Rig::with(|settings| settings.limits.connection_ms = 600);
    let mut stream = rig.tcp();
    let begun = Instant::now();
    let mut buffer = [0; 4096];
    while begun.elapsed() < SOON {
        if stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").is_err() {
            return;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    panic!("the connection does not end");
}

#[test]
fn what_was_asked_is_answered_when_the_node_stops() {
    let most = 10 * PATIENCE.as_millis() as u64;
    let mut rig =
        Rig::with(|settings| settings.limits = ApiLimits { order_ms: most, drain_ms: most, ..ApiLimits::default() });
    let body = "{\"payload\": 1}";
    let mut stream = rig.tcp();
    stream.write_all(format!("{}{body}", rig.post_head("", body.len())).as_bytes()).unwrap();
    let order = rig.runtime.block_on(rig.orders.recv()).unwrap();
    drop(rig.stop.take());
    let begun = Instant::now();
    while TcpStream::connect(rig.address).is_ok() {
        assert!(begun.elapsed() < PATIENCE, "something new is accepted");
        std::thread::sleep(Duration::from_millis(20));
    }
    order.reply.send(Ok(7)).unwrap();
    assert_eq!(answer(stream).status, 202);
    assert!(rig.stop().is_ok());
}

#[test]
fn other_machines_are_let_in_only_on_purpose() {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let (tasks, _orders) = mpsc::channel(1);
        let refused = serve(listener, ready(), tasks.clone(), ApiSettings::default(), std::future::pending()).await;
        assert!(refused.unwrap_err().to_string().contains("is reached by other machines"));
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let settings = ApiSettings { beyond_loopback: true, ..ApiSettings::default() };
        assert!(serve(listener, ready(), tasks, settings, std::future::ready(())).await.is_ok());
    });
}

#[test]
fn every_code_that_the_node_sends_is_in_its_document() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(folder.join("../../docs/node.md")).unwrap();
    let rows: Vec<_> = document.lines().filter(|line| line.starts_with("| 4") || line.starts_with("| 5")).collect();
    let mut codes = BTreeSet::new();
    for file in fs::read_dir(folder.join("src/api")).unwrap() {
        let source = fs::read_to_string(file.unwrap().path()).unwrap();
        // A code stands behind its status, or is the first argument of `ApiError::unavailable`.
        let after_statuses = source.split("StatusCode::").skip(1).filter_map(|text| {
            let (status, after) = text.split_once(',')?;
            let is_status = status.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            is_status.then_some(after)
        });
        let unavailable = source.split("ApiError::unavailable(").skip(1);
        for text in after_statuses.chain(unavailable) {
            let Some(text) = text.trim_start().strip_prefix('"') else { continue };
            let (code, _) = text.split_once('"').unwrap();
            codes.insert(code.to_owned());
        }
    }
    assert!(codes.len() > 10, "{codes:?}");
    for code in codes {
        assert!(rows.iter().any(|row| row.contains(&format!("`{code}`"))), "no row of an error has `{code}`");
    }
}
