//! The same interface over gRPC. The client writes its frames itself.

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    time::{Duration, Instant},
};

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::Stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::{Request, Response, body::Body as _, body::Frame, body::Incoming, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use serde_json::Value;
use tokio::{net::TcpStream, runtime::Runtime, sync::mpsc, time::timeout};

use self::proto::{
    Answer, Claim, Common, StreamRequest, VerifyRequest, VerifyResponse, claim::Source, stream_request::Of,
};
use crate::rig::{PATIENCE, Rig, ask, eventually, example};

#[allow(dead_code, missing_docs, unreachable_pub, clippy::all, reason = "it is generated")]
pub(crate) mod proto {
    tonic::include_proto!("quorate.v1");
}

pub(crate) fn claims() -> Vec<Claim> {
    let bytes = |text: &Value| Bytes::from(const_hex::decode(text.as_str().unwrap()).unwrap());
    let claim = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        Claim {
            id: line["id"].as_str().unwrap().to_owned(),
            suite: line["suite"].as_str().unwrap().to_owned(),
            public_keys: vec![bytes(&line["public_key"])],
            message: Some(bytes(&line["message"])),
            signature: bytes(&line["signature"]),
            ..Claim::default()
        }
    };
    example("one-false.jsonl").lines().map(claim).collect()
}

pub(crate) fn framed(message: &impl Message) -> Bytes {
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.encoded_len()).unwrap());
    message.encode(&mut frame).unwrap();
    frame.freeze()
}

type Pieces = Pin<Box<dyn Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>;

/// A connection for calls.
#[derive(Clone)]
pub(crate) struct Caller {
    sender: http2::SendRequest<StreamBody<Pieces>>,
    address: SocketAddr,
    token: Option<String>,
}

impl Caller {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self { sender, address, token: None }
    }

    /// The same with a token in each request.
    pub(crate) fn with_token(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    /// Calls a method. What is sent goes through the channel.
    pub(crate) async fn call(&self, method: &str, sent: mpsc::Receiver<Bytes>) -> Option<Response<Incoming>> {
        let path = if method.contains('/') { method.to_owned() } else { format!("quorate.v1.Verifier/{method}") };
        self.post(&format!("/{path}"), "application/grpc", sent).await
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        content_type: &str,
        sent: mpsc::Receiver<Bytes>,
    ) -> Option<Response<Incoming>> {
        let body: Pieces = Box::pin(futures_util::stream::unfold(sent, |mut sent| async move {
            sent.recv().await.map(|piece| (Ok::<_, Infallible>(Frame::data(piece)), sent))
        }));
        let mut request = Request::post(format!("http://{}{path}", self.address));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request =
            request.header("content-type", content_type).header("te", "trailers").body(StreamBody::new(body)).unwrap();
        self.sender.clone().send_request(request).await.ok()
    }
}

async fn call(rig: &Rig, method: &str, sent: mpsc::Receiver<Bytes>) -> Response<Incoming> {
    Caller::connect(rig.address).await.call(method, sent).await.unwrap()
}

/// The message of a unary answer, or its code and reason.
pub(crate) async fn unary(rig: &Rig, request: &VerifyRequest) -> Result<VerifyResponse, (String, String)> {
    let (send, sent) = mpsc::channel(1);
    send.send(framed(request)).await.unwrap();
    drop(send);
    let response = call(rig, "Verify", sent).await;
    let head = response.headers().clone();
    let body = response.into_body().collect().await.unwrap();
    let trailers = body.trailers().cloned().unwrap_or(head);
    let text = |name: &str| trailers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    match text("grpc-status").as_str() {
        "0" => Ok(VerifyResponse::decode(&body.to_bytes()[5..]).unwrap()),
        code => Err((code.to_owned(), text("grpc-message"))),
    }
}

#[test]
fn claims_and_verdicts() {
    let (rig, runtime) = (Rig::start(), Runtime::new().unwrap());
    let request = VerifyRequest { common: None, claims: claims() };
    let answers = runtime.block_on(unary(&rig, &request)).unwrap().answers;
    let valid: Vec<_> = answers.iter().map(|answer| answer.valid).collect();
    assert_eq!(valid, [true, true, true, false]);
    assert_eq!(answers[3].reason.as_deref(), Some("the signature does not match the keys and messages"));
    assert_eq!(answers[1].id, "mainnet block 17034870, credential change 1");
}

/// A page anywhere sent false claims in an honest peer's name, as a request for which a browser asks nobody: it had no content type.
#[test]
fn a_page_in_a_browser_calls_nothing() {
    let rig = Rig::start();
    let lie = || Claim { source: Some(Source::SourceName("peer7".to_owned())), ..claims().remove(3) };
    let frame = framed(&VerifyRequest { common: None, claims: vec![lie(), lie(), lie()] });
    let send = |method: &str, path: &str, headers: &str| {
        let head = format!(
            "{method} /{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
            frame.len()
        );
        ask(rig.tcp(), &head, &frame)
    };
    for path in [
        "quorate.v1.Verifier/Verify",
        "quorate.v1.Verifier/VerifyStream",
        "grpc.health.v1.Health/Check",
        "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    ] {
        for headers in ["", "Content-Type: text/plain\r\n", "Content-Type: text/plain; application/grpc\r\n"] {
            let answer = send("POST", path, headers);
            assert_eq!((answer.status, answer.code().as_str()), (415, "content-type"), "{path}: {headers}");
        }
        assert_eq!(send("GET", path, "Content-Type: application/grpc\r\n").status, 415, "{path}");
    }
    assert_eq!(rig.get("/v1/sources").json(), Value::Array(vec![]));
    let metrics = rig.get("/metrics").body;
    assert!(
        metrics.contains("quorate_requests_total{interface=\"unknown\",result=\"content-type\"} 16\n"),
        "{metrics}"
    );
}

/// What had no place, came too slowly or was too long was not among the requests that metrics count.
#[test]
fn every_call_is_counted_with_its_end() {
    use std::io::Write as _;
    let rig = Rig::with(|config| (config.limits.requests, config.limits.body_bytes) = (1, 1000));
    let runtime = Runtime::new().unwrap();
    let taken = |places: usize| {
        let line = format!("quorate_requests_in_progress {places}\n");
        eventually("the places are not as they should be", || rig.get("/metrics").body.contains(&line));
    };
    // A place is given back a moment after the answer.
    let ask = |request: &VerifyRequest| {
        taken(0);
        runtime.block_on(unary(&rig, request))
    };
    let request = VerifyRequest { common: None, claims: vec![claims().remove(0)] };
    ask(&request).unwrap();
    assert_eq!(ask(&VerifyRequest::default()).unwrap_err().0, "3");
    let long = Claim { signature: vec![0; 2000].into(), ..Claim::default() };
    assert_eq!(ask(&VerifyRequest { common: None, claims: vec![long] }).unwrap_err().0, "11");
    let mut open = rig.tcp();
    let head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: 9\r\n\r\n";
    taken(0);
    open.write_all(head.as_bytes()).unwrap();
    taken(1);
    assert_eq!(runtime.block_on(unary(&rig, &request)).unwrap_err().0, "8");
    let metrics = rig.get("/metrics").body;
    for result in ["answered", "bad-claim", "too-long", "overloaded"] {
        let line = format!("quorate_requests_total{{interface=\"grpc\",result=\"{result}\"}} 1\n");
        assert!(metrics.contains(&line), "{result}: {metrics}");
    }
}

/// The time for a body is that in which it comes. A claim of a suspect waits for longer until it is verified.
#[test]
fn the_time_for_a_body_is_not_that_of_its_verification() {
    let rig = Rig::with(|config| {
        config.limits.body_ms = 1000;
        config.verify.longest_wait_ms = 3000;
    });
    let runtime = Runtime::new().unwrap();
    // A body that a busy machine delays for that long is sent again. If the verification counted, none would ever come in time.
    let verdict = |claim: Claim| {
        let claims = vec![Claim { source: Some(Source::SourceName("a suspect".to_owned())), ..claim }];
        let request = VerifyRequest { common: None, claims };
        let mut verdict = None;
        eventually("a body comes in time", || {
            let begun = Instant::now();
            let answered = runtime.block_on(unary(&rig, &request));
            verdict = match answered {
                Ok(response) => Some((response.answers[0].valid, begun.elapsed())),
                Err((code, why)) => {
                    assert_eq!(code, "4", "{why}");
                    None
                }
            };
            verdict.is_some()
        });
        verdict.unwrap()
    };
    assert!(!verdict(claims().remove(3)).0);
    let (is_valid, took) = verdict(claims().remove(0));
    assert!(is_valid && took > Duration::from_millis(1000), "it did not wait: {took:?}");
    // A message that is cut off, and one behind which the body does not end.
    let message = framed(&VerifyRequest { common: None, claims: claims() });
    for begin in [message.slice(..20), message] {
        let status = runtime.block_on(async {
            let (send, sent) = mpsc::channel(1);
            send.send(begin).await.unwrap();
            let response = call(&rig, "Verify", sent).await;
            drop(send);
            response.headers().get("grpc-status").map(|status| status.to_str().unwrap().to_owned())
        });
        assert_eq!(status.as_deref(), Some("4"));
    }
}

#[test]
fn bad_requests_are_named() {
    let (rig, runtime) = (Rig::with(|config| config.limits.claims = 2), Runtime::new().unwrap());
    let one = || claims().remove(0);
    let common = |common| VerifyRequest { common: Some(common), claims: vec![one()] };
    let only = |claim| VerifyRequest { common: None, claims: vec![claim] };
    for (request, expected) in [
        (VerifyRequest::default(), "no%20claims"),
        (VerifyRequest { common: None, claims: claims() }, "more%20than%202%20claims"),
        (common(Common { class: 9, ..Common::default() }), "common.class:%20found%209"),
        (common(Common { suite: "eth3".to_owned(), ..Common::default() }), "common.suite"),
        (common(Common { deadline_ms: u64::MAX, ..Common::default() }), "common.deadline_ms"),
        (only(Claim { suite: String::new(), ..one() }), "claims[0]:%20%22suite%22%20is%20missing"),
        (only(Claim { suite: "eth3".to_owned(), ..one() }), "claims[0]:%20%22suite%22:%20there%20is%20no%20suite"),
        (only(Claim { messages: vec![Bytes::new()], ..one() }), "both%20given"),
        (only(Claim { message: None, ..one() }), "found%201%20public%20key%20but%200%20messages"),
    ] {
        let (code, message) = runtime.block_on(unary(&rig, &request)).unwrap_err();
        assert_eq!(code, "3", "{message}");
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let long = VerifyRequest { common: None, claims: vec![Claim { signature: vec![0; 5 << 20].into(), ..one() }] };
    let (code, message) = runtime.block_on(unary(&rig, &long)).unwrap_err();
    assert_eq!(code, "11", "{message}");
}

/// No key or signature of a suite is so long: nobody has signed anything with it, so nobody is blamed.
#[test]
fn a_key_that_is_too_long_is_refused_in_every_door() {
    let (rig, runtime) = (Rig::start(), Runtime::new().unwrap());
    let long = Bytes::from(vec![1; 193]);
    let ask = |claim| runtime.block_on(unary(&rig, &VerifyRequest { common: None, claims: vec![claim] }));
    let claim = || Claim { source: Some(Source::SourceName("peer".to_owned())), ..claims().remove(0) };
    for (claim, field, named) in [
        (Claim { public_keys: vec![long.clone()], ..claim() }, "public_key", "%22public_keys[0]%22"),
        (Claim { signature: long.clone(), ..claim() }, "signature", "%22signature%22"),
    ] {
        let (code, message) = ask(claim).unwrap_err();
        let expected = format!("claims[0]:%20{named}:%20found%20193%20bytes,%20more%20than%20the%20192");
        assert!(code == "3" && message.contains(&expected), "{code}: {message}");
        let mut line: Value = serde_json::from_str(example("one-false.jsonl").lines().next().unwrap()).unwrap();
        line[field] = const_hex::encode(&long).into();
        let answer = rig.verify(&line.to_string());
        assert_eq!((answer.status, answer.code().as_str()), (422, "bad-claim"), "{answer:?}");
        assert!(answer.message().contains("found 193 bytes, more than the 192"), "{answer:?}");
    }
    assert!(ask(claim()).unwrap().answers[0].valid);
    // A trailer does not repeat all of a text.
    for length in [10_000, 1_000_000] {
        let (code, message) = ask(Claim { suite: "x".repeat(length), ..claim() }).unwrap_err();
        assert!(code == "3" && message.len() < 4096, "{code}: {}", message.len());
    }
    let common = Common { suite: "x".repeat(1_000_000), ..Common::default() };
    let request = VerifyRequest { common: Some(common), claims: vec![claim()] };
    let (code, message) = runtime.block_on(unary(&rig, &request)).unwrap_err();
    assert!(code == "3" && message.len() < 4096, "{code}: {}", message.len());
}

#[test]
fn a_stream_is_answered_as_it_comes() {
    let (rig, runtime) = (Rig::start(), Runtime::new().unwrap());
    runtime.block_on(async {
        let (send, sent) = mpsc::channel(4);
        let common = StreamRequest { of: Some(Of::Common(Common::default())) };
        send.send(framed(&common)).await.unwrap();
        let mut body = call(&rig, "VerifyStream", sent).await.into_body();
        for (index, claim) in claims().into_iter().enumerate() {
            send.send(framed(&StreamRequest { of: Some(Of::Claim(claim)) })).await.unwrap();
            let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
            let answer = Answer::decode(&frame[5..]).unwrap();
            assert_eq!((answer.index, answer.valid), (index as u64, index < 3));
        }
        send.send(framed(&StreamRequest { of: None })).await.unwrap();
        let last = body.collect().await.unwrap();
        assert_eq!(last.trailers().unwrap().get("grpc-status").unwrap(), "3");
    });
}

#[test]
fn a_reader_who_opens_no_window_is_cut_off() {
    let rig = Rig::with(|config| config.limits.write_ms = 300);
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let (send, sent) = mpsc::channel(4);
        send.send(framed(&StreamRequest { of: Some(Of::Common(Common::default())) })).await.unwrap();
        let body = call(&rig, "VerifyStream", sent).await.into_body();
        // A claim that does not decode is answered at once, with its long name.
        let claim = Claim { id: "x".repeat(30_000), public_keys: vec![Bytes::new()], ..claims().remove(0) };
        let message = framed(&StreamRequest { of: Some(Of::Claim(claim)) });
        // How many go into the buffers between the two does not depend on the time. The server waits for 20 seconds by default.
        let mut sent = 0;
        while timeout(Duration::from_secs(18), send.send(message.clone())).await.expect("it is not cut off").is_ok() {
            sent += 1;
            assert!(sent < 5000, "the server reads on and on");
        }
        drop(body);
    });
    eventually("its request is still in progress", || {
        rig.get("/metrics").body.contains("quorate_requests_in_progress 0\n")
    });
}

/// One message of a service that the tests know only by its bytes.
async fn bytes(caller: &Caller, method: &str, message: &[u8]) -> (Vec<u8>, String) {
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).unwrap());
    frame.put_slice(message);
    let (send, sent) = mpsc::channel(1);
    send.send(frame.freeze()).await.unwrap();
    drop(send);
    let response = caller.call(method, sent).await.unwrap();
    let head = response.headers().clone();
    let body = response.into_body().collect().await.unwrap();
    let trailers = body.trailers().cloned().unwrap_or(head);
    let status = trailers.get("grpc-status").map(|code| code.to_str().unwrap().to_owned()).unwrap_or_default();
    (body.to_bytes().to_vec(), status)
}

#[test]
fn health_and_reflection_are_served() {
    let (rig, runtime) = (Rig::start(), Runtime::new().unwrap());
    runtime.block_on(async {
        let caller = Caller::connect(rig.address).await;
        // Field 1 of the question is the service, and field 1 of the answer is 1 for SERVING.
        let named = [&b"\x0a\x13"[..], b"quorate.v1.Verifier"].concat();
        for question in [&b""[..], &named] {
            let (answer, status) = bytes(&caller, "grpc.health.v1.Health/Check", question).await;
            assert_eq!((&answer[5..], status.as_str()), (&b"\x08\x01"[..], "0"));
        }
        assert_eq!(bytes(&caller, "grpc.health.v1.Health/Check", b"\x0a\x01x").await.1, "5");
        for version in ["v1", "v1alpha"] {
            let method = format!("grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
            // Field 7: list the services.
            let (answer, status) = bytes(&caller, &method, b"\x3a\x00").await;
            let text = String::from_utf8_lossy(&answer);
            assert!(text.contains("quorate.v1.Verifier") && text.contains("grpc.health.v1.Health"), "{status}: {text}");
            // Field 4: the file that defines a symbol.
            let question = [&b"\x22\x13"[..], b"quorate.v1.Verifier"].concat();
            let (answer, _) = bytes(&caller, &method, &question).await;
            assert!(String::from_utf8_lossy(&answer).contains("VerifyStream"));
        }
    });
}

/// A call of health on a connection of its own, with its question or without one.
async fn health(rig: &Rig, method: &str, asks: bool) -> (Caller, Response<Incoming>) {
    let caller = Caller::connect(rig.address).await;
    let response = health_by(&caller, method, asks).await;
    (caller, response)
}

/// The same on a connection that is there. Without a place, a question must come within a second: one that a busy machine delays for
/// longer is asked again.
async fn health_by(caller: &Caller, method: &str, asks: bool) -> Response<Incoming> {
    let begun = Instant::now();
    loop {
        let (send, sent) = mpsc::channel(1);
        let mut silent = Some(send);
        if asks && let Some(send) = silent.take() {
            send.send(Bytes::from_static(&[0; 5])).await.unwrap();
        }
        let called = timeout(PATIENCE, caller.call(&format!("grpc.health.v1.Health/{method}"), sent)).await;
        let response = called.expect("it is never answered").unwrap();
        let is_late = response.headers().get("grpc-status").is_some_and(|status| status == "4");
        if !(asks && is_late) || begun.elapsed() > PATIENCE {
            return response;
        }
    }
}

/// The next status that a watcher is told: 1 for SERVING, and 2 for NOT_SERVING.
async fn watched(body: &mut Incoming) -> u8 {
    let frame = timeout(PATIENCE, body.frame()).await.expect("nothing is told");
    frame.unwrap().unwrap().into_data().unwrap()[6]
}

/// Without a token one can ask for health, and keep no connection from others. Those who watched, or never said what they ask, had all
/// of them for good.
#[test]
fn whoever_asks_for_health_keeps_nobody_out() {
    let rig = Rig::with(|config| config.limits.connections = 8);
    let runtime = Runtime::new().unwrap();
    let (mut first, callers) = runtime.block_on(async {
        // The place of eight connections.
        let (caller, first) = health(&rig, "Watch", true).await;
        let (mut first, mut callers, mut others) = (first.into_body(), vec![caller], Vec::new());
        assert_eq!(watched(&mut first).await, 1);
        for _ in 0..5 {
            let (caller, other) = health(&rig, "Watch", true).await;
            callers.push(caller);
            others.push(other.into_body());
        }
        for mut other in others {
            assert_eq!(watched(&mut other).await, 1);
            let end = timeout(PATIENCE, other.collect()).await.expect("it watches on and on").unwrap();
            assert_eq!(end.trailers().unwrap()["grpc-status"], "8");
        }
        let (caller, silent) = health(&rig, "Check", false).await;
        assert_eq!(silent.headers()["grpc-status"], "4");
        callers.push(caller);
        let (caller, check) = health(&rig, "Check", true).await;
        assert_eq!(watched(&mut check.into_body()).await, 1);
        callers.push(caller);
        (first, callers)
    });
    assert_eq!(rig.get("/livez").status, 200, "{} connections are idle", callers.len());
    assert!(rig.stop());
    assert_eq!(runtime.block_on(watched(&mut first)), 2);
    let end = runtime.block_on(first.collect()).unwrap();
    assert_eq!(end.trailers().unwrap()["grpc-status"], "0");
}

/// Clients read a status in the head of a response only if nothing comes behind the head.
#[test]
fn an_answer_that_is_a_status_alone_ends_with_its_head() {
    let (rig, runtime) = (Rig::start(), Runtime::new().unwrap());
    runtime.block_on(async {
        let (caller, (send, sent)) = (Caller::connect(rig.address).await, mpsc::channel(1));
        send.send(Bytes::from_static(b"\0\0\0\0\x03\x0a\x01x")).await.unwrap();
        drop(send);
        let response = caller.call("grpc.health.v1.Health/Check", sent).await.unwrap();
        assert_eq!(response.headers()["grpc-status"], "5");
        assert!(response.body().is_end_stream());
    });
}

/// A few connections, each with many calls, had all places of those who watch.
#[test]
fn a_connection_that_watches_twice_leaves_places_to_others() {
    // There are two places.
    let rig = Rig::with(|config| config.limits.connections = 16);
    Runtime::new().unwrap().block_on(async {
        let (caller, first) = health(&rig, "Watch", true).await;
        let mut first = first.into_body();
        assert_eq!(watched(&mut first).await, 1);
        let mut second = health_by(&caller, "Watch", true).await.into_body();
        assert_eq!(watched(&mut second).await, 1);
        let (_other, third) = health(&rig, "Watch", true).await;
        let mut third = third.into_body();
        assert_eq!(watched(&mut third).await, 1);
        let end = timeout(PATIENCE, second.collect()).await.expect("it watches on and on").unwrap();
        assert_eq!(end.trailers().unwrap()["grpc-status"], "8");
        // The third would have ended by now, if it had no place.
        for watching in [&mut first, &mut third] {
            let next = timeout(Duration::from_millis(1500), watching.frame()).await;
            assert!(next.is_err(), "it ended: {next:?}");
        }
    });
}

/// A client that calls the server by the path of its socket was refused by the library for HTTP/2.
#[test]
fn grpc_over_a_unix_socket_takes_any_authority() {
    use std::io::{Read as _, Write as _};
    let rig = Rig::start();
    for authority in ["/run/quorate-server/claims.sock", "%2Frun%2Fq.sock", "unix:/run/q.sock", "localhost", "a b"] {
        let field = |name: &[u8], value: &[u8]| [name, &[u8::try_from(value.len()).unwrap()], value].concat();
        let fields = [
            b"\x83\x86".to_vec(),
            field(b"\x44", b"/grpc.health.v1.Health/Check"),
            field(b"\x41", authority.as_bytes()),
            field(b"\x5f", b"application/grpc"),
            field(b"\x00\x02te", b"trailers"),
        ]
        .concat();
        let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
            let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
            [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
        };
        let mut socket = rig.socket("claims");
        let sent = [
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
            frame(4, 0, 0, b""),
            frame(1, 4, 1, &fields),
            frame(0, 1, 1, &[0; 5]),
        ];
        socket.write_all(&sent.concat()).unwrap();
        // The answer to the call: its head, whose status is 200, and the message that says SERVING.
        let mut answer = Vec::new();
        while answer.len() < 2 {
            let mut head = [0; 9];
            socket.read_exact(&mut head).unwrap();
            let mut payload = vec![0; usize::from(head[1]) * 256 + usize::from(head[2])];
            socket.read_exact(&mut payload).unwrap();
            assert!(head[3] != 3 && head[3] != 7, "{authority}: the call was refused");
            if head[8] == 1 {
                answer.push(payload);
            }
        }
        assert_eq!((answer[0][0], &answer[1][5..]), (0x88, &b"\x08\x01"[..]), "{authority}");
    }
}
