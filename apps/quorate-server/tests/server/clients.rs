//! Clients that are known by a token, and no others.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::net::UnixStream,
    thread,
};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use prost::Message as _;
use quorate_server::config::Config;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::{runtime::Runtime, sync::mpsc};

use crate::{
    bounds::claim,
    grpc::{
        Caller, claims, framed,
        proto::{self, Common, StreamRequest, VerifyRequest, stream_request::Of},
    },
    rig::{Answer, Rig, ask, eventually, get, secret},
};

pub(crate) fn tokens(clients: &[(&str, &str)]) -> String {
    let line = |(name, token): &(&str, &str)| format!("{name} = \"{}\"\n", const_hex::encode(Sha256::digest(token)));
    clients.iter().map(line).collect()
}

/// A server that knows alice and bob.
fn rig() -> Rig {
    rig_with(|_| {})
}

fn rig_with(change: impl FnOnce(&mut Config)) -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let file = secret(folder.path(), "tokens.toml", &tokens(&[("alice", "of alice"), ("bob", "of bob")]));
    Rig::with(|config| {
        config.clients.tokens = file;
        change(config);
    })
}

fn with_token(rig: &Rig, method: &str, path: &str, token: Option<&str>, body: &str) -> Answer {
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n{authorization}\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    ask(rig.tcp(), &head, body.as_bytes())
}

pub(crate) fn verify(rig: &Rig, token: Option<&str>, claim: &Value) -> Answer {
    with_token(rig, "POST", "/v1/verify", token, &claim.to_string())
}

#[test]
fn who_is_not_known_gets_nothing_but_the_health() {
    let rig = rig();
    for token in [None, Some("of mallory"), Some("")] {
        let refused = verify(&rig, token, &claim(true, None));
        assert_eq!((refused.status, refused.code().as_str()), (401, "unknown-client"), "{refused:?}");
        assert!(refused.head.contains("www-authenticate: bearer"), "{refused:?}");
    }
    for path in ["/", "/metrics", "/v1/known", "/v1/sources", "/v1/checkpoint", "/openapi.json", "/nothing"] {
        assert_eq!(rig.get(path).status, 401, "{path}");
        assert_ne!(with_token(&rig, "GET", path, Some("of bob"), "").status, 401, "{path}");
    }
    for path in ["/livez", "/readyz"] {
        assert_eq!(rig.get(path).status, 200, "{path}");
    }
    assert_eq!(get(rig.socket("claims"), "/v1/known").status, 401, "a socket is no name");
    assert_eq!(verify(&rig, Some("of alice"), &claim(true, None)).json()[0]["valid"], true);
    let metrics = get(rig.socket("admin"), "/metrics").body;
    assert!(metrics.contains("quorate_unknown_clients_total 11\n"), "{metrics}");
    // Nor while it stops, for which it waits for a request.
    let (address, admin) = (rig.address, rig.socket_path("admin"));
    let connect = move || TcpStream::connect(address).unwrap();
    let mut unfinished = connect();
    let head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
                Authorization: Bearer of bob\r\nContent-Length: 2\r\n\r\n[";
    unfinished.write_all(head.as_bytes()).unwrap();
    eventually("the request is in progress", || rig.is_asked(1));
    let stopping = thread::spawn(move || rig.stop());
    eventually("it drains", || get(connect(), "/readyz").status == 503);
    assert_eq!(get(connect(), "/metrics").status, 401);
    let head = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer of bob\r\n\r\n";
    assert_eq!(ask(connect(), head, b"").status, 200);
    assert_eq!(get(UnixStream::connect(admin).unwrap(), "/metrics").status, 200, "an administrator needs no token");
    unfinished.write_all(b"]").unwrap();
    assert!(stopping.join().unwrap());
}

/// Bob lies in the name of one of alice's peers, and has a source of his own banned.
#[test]
fn no_client_has_a_source_of_another_one_banned() {
    let rig = rig();
    for stated in [Some("peer7"), Some("alice/peer7"), None] {
        for _ in 0..3 {
            assert_eq!(verify(&rig, Some("of bob"), &claim(false, stated)).json()[0]["valid"], false);
        }
    }
    for stated in [Some("peer7"), None] {
        assert_eq!(verify(&rig, Some("of alice"), &claim(true, stated)).json()[0]["valid"], true);
    }
    assert_eq!(verify(&rig, Some("of bob"), &claim(true, Some("peer7"))).status, 403);
    let names = |sources: Value| -> Vec<String> {
        sources.as_array().unwrap().iter().map(|source| source["source"].as_str().unwrap().to_owned()).collect()
    };
    let seen_by = |token| names(with_token(&rig, "GET", "/v1/sources", Some(token), "").json());
    let of_bob = seen_by("of bob");
    assert!(of_bob.iter().any(|name| name == "bob/peer7") && of_bob.iter().any(|name| name == "bob/alice/peer7"));
    assert!(of_bob.iter().all(|name| name.starts_with("bob/")), "{of_bob:?}");
    assert_eq!(seen_by("of alice"), [""; 0], "no client learns of another one's sources");
    assert_eq!(names(rig.admin_get("/v1/sources").json()), of_bob, "an administrator sees all");
    // An administrator names them as they are listed.
    let pardon = json!({"source": "bob/peer7"}).to_string();
    assert_eq!(rig.admin("/v1/pardon", &pardon).json(), json!({"done": true}));
    assert_eq!(verify(&rig, Some("of bob"), &claim(true, Some("peer7"))).status, 200);
}

/// One client could take all places, and the others were refused as long as it liked.
#[test]
fn a_client_leaves_places_to_others() {
    let rig = rig_with(|config| config.limits.requests = 4);
    let open: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = rig.tcp();
            let head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
                        Authorization: Bearer of alice\r\nContent-Length: 9\r\n\r\n";
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    eventually("both streams are in progress", || rig.is_asked(2));
    let claim = claim(true, None);
    let refused = verify(&rig, Some("of alice"), &claim);
    assert_eq!((refused.status, refused.code().as_str()), (503, "overloaded"), "{refused:?}");
    assert_eq!(verify(&rig, Some("of bob"), &claim).status, 200);
    drop(open);
    eventually("her places are free", || verify(&rig, Some("of alice"), &claim).status == 200);
}

#[test]
fn calls_of_grpc_need_a_token_too() {
    let (rig, runtime) = (rig(), Runtime::new().unwrap());
    let status = |method: &str, token: Option<&str>| {
        runtime.block_on(async {
            let caller = Caller::connect(rig.address).await;
            let caller = token.map_or(caller.clone(), |token| caller.with_token(token));
            let (send, sent) = mpsc::channel::<Bytes>(1);
            send.send(framed(&VerifyRequest::default())).await.unwrap();
            drop(send);
            let response = caller.call(method, sent).await.unwrap();
            response.headers().get("grpc-status").map(|status| status.to_str().unwrap().to_owned())
        })
    };
    for method in ["Verify", "VerifyStream", "grpc.reflection.v1.ServerReflection/ServerReflectionInfo"] {
        assert_eq!(status(method, None).as_deref(), Some("16"), "{method}");
        assert_eq!(status(method, Some("of mallory")).as_deref(), Some("16"), "{method}");
        assert_ne!(status(method, Some("of bob")).as_deref(), Some("16"), "{method}");
    }
    assert_ne!(status("grpc.health.v1.Health/Check", None).as_deref(), Some("16"));
}

#[test]
fn tokens_change_while_the_server_runs() {
    let rig = rig();
    let file = rig.secret("new.toml", &tokens(&[("alice", "new"), ("carol", "of carol")]));
    let path = file.clone();
    assert_eq!(rig.reload(move |config| config.clients.tokens = path).unwrap().changed, ["clients.tokens"]);
    let status = |token| verify(&rig, Some(token), &claim(true, None)).status;
    assert_eq!([status("of alice"), status("of bob"), status("new"), status("of carol")], [401, 401, 200, 200]);
    // A file that lets nobody in changes nothing, and neither does one that others may read.
    rig.secret("new.toml", "");
    assert!(format!("{:#}", rig.reload(|_| {}).unwrap_err()).contains("names no client"));
    rig.secret("new.toml", &tokens(&[("alice", "leaked")]));
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let error = format!("{:#}", rig.reload(|_| {}).unwrap_err());
    assert!(error.starts_with("clients.tokens: ") && error.contains("other users can read it (mode 644)"), "{error}");
    assert_eq!([status("leaked"), status("new")], [401, 200]);
}

/// Whoever holds a token that leaked opens a stream before its operator takes the token away.
#[test]
fn a_stream_ends_when_its_clients_token_is_taken_away() {
    let (rig, runtime) = (rig(), Runtime::new().unwrap());
    let line = claim(true, None).to_string() + "\n";
    let head = format!(
        "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\n\
         Authorization: Bearer of bob\r\nContent-Length: {}\r\n\r\n",
        3 * line.len()
    );
    let (mut lines, mut answered) = (rig.tcp(), Vec::new());
    lines.write_all(head.as_bytes()).unwrap();
    let (send, mut answers) = runtime.block_on(async {
        let (send, sent) = mpsc::channel::<Bytes>(4);
        send.send(framed(&StreamRequest { of: Some(Of::Common(Common::default())) })).await.unwrap();
        let caller = Caller::connect(rig.address).await.with_token("of bob");
        (send, caller.call("VerifyStream", sent).await.unwrap().into_body())
    });
    let message = framed(&StreamRequest { of: Some(Of::Claim(claims().remove(0))) });
    for valid in [1, 2] {
        lines.write_all(line.as_bytes()).unwrap();
        while String::from_utf8_lossy(&answered).matches("\"valid\":true").count() < valid {
            let mut byte = [0];
            lines.read_exact(&mut byte).unwrap();
            answered.push(byte[0]);
        }
        runtime.block_on(async {
            send.send(message.clone()).await.unwrap();
            let frame = answers.frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(proto::Answer::decode(&frame[5..]).unwrap().valid);
        });
        // A reload that leaves bob his token leaves him his streams.
        let file = rig.secret("same.toml", &tokens(&[("alice", "of alice"), ("bob", "of bob")]));
        rig.reload(move |config| config.clients.tokens = file).unwrap();
    }
    let file = rig.secret("without_bob.toml", &tokens(&[("alice", "of alice")]));
    rig.reload(move |config| config.clients.tokens = file).unwrap();
    lines.write_all(line.as_bytes()).unwrap();
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("\"code\":\"unknown-client\"") && rest.contains("\"line\":3"), "{rest}");
    assert!(!rest.contains("\"valid\""), "{rest}");
    let trailers = runtime.block_on(async {
        send.send(message).await.unwrap();
        answers.collect().await.unwrap().trailers().cloned()
    });
    assert_eq!(trailers.unwrap().get("grpc-status").unwrap(), "16");
}

/// A token that is another client's after a reload would go on in the name of the first one.
#[test]
fn a_stream_ends_when_its_token_is_another_clients() {
    let rig = rig();
    let line = claim(true, None).to_string() + "\n";
    let head = format!(
        "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\n\
         Authorization: Bearer of bob\r\nContent-Length: {}\r\n\r\n",
        line.len()
    );
    let mut lines = rig.tcp();
    lines.write_all(head.as_bytes()).unwrap();
    eventually("the stream is in progress", || rig.is_asked(1));
    let file = rig.secret("renamed.toml", &tokens(&[("carol", "of bob")]));
    rig.reload(move |config| config.clients.tokens = file).unwrap();
    lines.write_all(line.as_bytes()).unwrap();
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("unknown-client") && rest.contains("began under another name"), "{rest}");
}
