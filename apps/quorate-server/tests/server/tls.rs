//! The address with TLS: its certificate, and clients that show theirs. openssl makes them, and curl is the client.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use prost::Message as _;
use quorate_host::{unix_seconds, utc};
use quorate_lab::run::{Folder, Ran, Run as _, Running, has, shell};
use quorate_server::{Server, config::Config};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Runtime;

use crate::{
    bounds::claim,
    grpc::{
        claims, framed,
        proto::{VerifyRequest, VerifyResponse},
    },
    rig::Rig,
};

/// Whether what these tests need is here. Each is asked, so that a run says all that is missing.
fn can_run() -> bool {
    !["curl", "openssl"].map(has).contains(&false)
}

/// An authority that signs certificates.
struct Authority(Folder);

/// The files of a certificate and of its key.
#[derive(Clone)]
struct Certificate {
    file: String,
    key: String,
}

impl Authority {
    fn new() -> Self {
        let this = Self(Folder::new());
        this.openssl(&format!("req -x509 {KEY} -subj /CN=authority -keyout ca.key -out ca.crt"));
        this
    }

    /// A certificate for DNS names.
    fn signs(&self, file: &str, names: &[&str]) -> Certificate {
        let certificate = self.asked(file, names);
        let by = "-CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile extensions";
        self.openssl(&format!("x509 -req -in {file}.csr {by} -out {file}.crt"));
        certificate
    }

    /// A certificate for a DNS name until a second of Unix time.
    fn signs_until(&self, file: &str, name: &str, end: u64) -> Certificate {
        let certificate = self.asked(file, &[name]);
        let end: String = utc(end).chars().filter(char::is_ascii_digit).collect();
        self.0.file("index", "");
        let rules =
            "[ca]\ndefault_ca=d\n[d]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n";
        self.0.file("ca.cnf", format!("{rules}[p]\ncommonName=supplied\n"));
        let by = "-config ca.cnf -cert ca.crt -keyfile ca.key -startdate 20240101000000Z -extfile extensions";
        self.openssl(&format!("ca -batch -notext {by} -enddate {end}Z -in {file}.csr -out {file}.crt"));
        certificate
    }

    /// What a certificate is asked for with, and where it will be.
    fn asked(&self, file: &str, names: &[&str]) -> Certificate {
        let names: Vec<_> = names.iter().map(|name| format!("DNS:{name}")).collect();
        let extensions = "basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth,clientAuth\n";
        self.0.file("extensions", format!("{extensions}subjectAltName={}\n", names.join(",")));
        self.openssl(&format!("req {KEY} -subj /CN=ignored -keyout {file}.key -out {file}.csr"));
        Certificate { file: self.0.path(&format!("{file}.crt")), key: self.0.path(&format!("{file}.key")) }
    }

    fn openssl(&self, arguments: &str) {
        shell(&format!("exec openssl {arguments}")).current_dir(self.0.path("")).ran().exits(0);
    }

    fn file(&self) -> String {
        self.0.path("ca.crt")
    }
}

const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

/// A server with a certificate for localhost.
fn rig(certificate: &Certificate, change: impl FnOnce(&mut Config)) -> Rig {
    Rig::with(|config| {
        config.listen.tls = "127.0.0.1:0".to_owned();
        (config.tls.certificate, config.tls.key) = (certificate.file.clone(), certificate.key.clone());
        change(config);
    })
}

/// Asks over TLS; the server's certificate is one of this authority. The status of the answer comes behind its body, in a line of its own.
fn ask(rig: &Rig, authority: &Authority, body: &str, more: &[&str]) -> Ran {
    let body = authority.0.file("body", body);
    let url = format!("https://localhost:{}/v1/verify", rig.tls_address().port());
    let mut command = shell("exec curl \"$@\"");
    command.args(["curl", "--silent", "--show-error", "--max-time", "60", "--cacert", &authority.file()]);
    command.args(["--header", "Content-Type: application/json", "--data-binary", &format!("@{body}")]);
    command.args(["--write-out", "\n%{http_version} %{http_code}"]).args(more).arg(url).ran()
}

fn showing(certificate: &Certificate) -> [&str; 4] {
    ["--cert", &certificate.file, "--key", &certificate.key]
}

#[test]
fn http_and_grpc_over_tls() {
    if !can_run() {
        return;
    }
    let authority = Authority::new();
    let rig = rig(&authority.signs("server", &["localhost"]), |_| {});
    for (version, expected) in [("--http1.1", "\n1.1 200"), ("--http2", "\n2 200")] {
        let answer = ask(&rig, &authority, &claim(true, None).to_string(), &[version]).exits(0).out;
        assert!(answer.contains("\"valid\":true") && answer.ends_with(expected), "{answer}");
    }
    let (frame, answer) = (authority.0.path("frame"), authority.0.path("answer"));
    fs::write(&frame, framed(&VerifyRequest { common: None, claims: claims() })).unwrap();
    let url = format!("https://localhost:{}/quorate.v1.Verifier/Verify", rig.tls_address().port());
    let mut command = shell("exec curl \"$@\"");
    command.args([
        "curl",
        "--silent",
        "--http2",
        "--cacert",
        &authority.file(),
        "--header",
        "Content-Type: application/grpc",
    ]);
    command.args(["--header", "TE: trailers", "--data-binary", &format!("@{frame}"), "--output", &answer, &url]);
    command.ran().exits(0);
    let answers = VerifyResponse::decode(&fs::read(answer).unwrap()[5..]).unwrap().answers;
    assert_eq!(answers.iter().map(|answer| answer.valid).collect::<Vec<_>>(), [true, true, true, false]);
    // What is no TLS gets no answer.
    let mut plain = TcpStream::connect(rig.tls_address()).unwrap();
    plain.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut bytes = Vec::new();
    let _ = plain.read_to_end(&mut bytes);
    assert!(!String::from_utf8_lossy(&bytes).contains("HTTP"), "{bytes:?}");
}

#[test]
fn a_certificate_is_the_name_of_a_client() {
    if !can_run() {
        return;
    }
    let (authority, other) = (Authority::new(), Authority::new());
    let rig = rig(&authority.signs("server", &["localhost"]), |config| config.tls.clients = authority.file());
    let alice = authority.signs("alice", &["alice.example"]);
    for _ in 0..3 {
        ask(&rig, &authority, &claim(false, Some("peer7")).to_string(), &showing(&alice)).exits(0);
    }
    let sources = rig.admin_get("/v1/sources").json();
    assert_eq!(sources[0]["source"], "alice.example/peer7");
    let bob = authority.signs("bob", &["bob.example"]);
    let answer = ask(&rig, &authority, &claim(true, Some("peer7")).to_string(), &showing(&bob)).exits(0).out;
    assert!(answer.contains("\"valid\":true"), "alice has no source of bob's banned: {answer}");
    let refused = ask(&rig, &authority, &claim(true, Some("peer7")).to_string(), &showing(&alice)).exits(0).out;
    assert!(refused.ends_with("403"), "{refused}");
    // Nobody without a certificate, or with one of another authority.
    let body = claim(true, None).to_string();
    for more in [&[][..], &showing(&other.signs("alice", &["alice.example"]))] {
        assert_ne!(ask(&rig, &authority, &body, more).code, 0, "{more:?}");
    }
    // And nobody where certificates cannot be shown.
    assert_eq!(rig.verify(&body).status, 401);
}

/// The connection was reset, and neither the client nor the log said why.
#[test]
fn a_certificate_with_two_names_is_told_why() {
    if !can_run() {
        return;
    }
    let authority = Authority::new();
    let rig = rig(&authority.signs("server", &["localhost"]), |config| config.tls.clients = authority.file());
    let two = authority.signs("two", &["alice.example", "bob.example"]);
    let answer = ask(&rig, &authority, &claim(true, None).to_string(), &showing(&two)).exits(0).out;
    assert!(answer.ends_with("401") && answer.contains("\"unknown-client\""), "{answer}");
    assert!(answer.contains("not for exactly one DNS name"), "{answer}");
}

/// A connection by openssl, which shows a certificate.
fn connection(rig: &Rig, certificate: &Certificate, more: &str) -> Command {
    let Certificate { file, key } = certificate;
    let port = rig.tls_address().port();
    shell(&format!("exec openssl s_client -connect 127.0.0.1:{port} -cert {file} -key {key} {more}"))
}

/// A session that was opened again brought the certificate of its client along, also one that had expired.
#[test]
fn a_session_is_not_opened_again_where_clients_show_certificates() {
    if !can_run() {
        return;
    }
    let authority = Authority::new();
    let server = authority.signs("server", &["localhost"]);
    let alice = authority.signs("alice", &["alice.example"]);
    for (clients, expected) in [("", true), (authority.file().as_str(), false)] {
        let rig = rig(&server, |config| config.tls.clients = clients.to_owned());
        let text = connection(&rig, &alice, "-tls1_2 -reconnect").ran().all();
        assert!(text.contains("New, TLSv1.2"), "{text}");
        assert_eq!(text.contains("Reused, TLSv1.2"), expected, "{text}");
        // Nor is one handed out in TLS 1.3.
        let mut asking = connection(&rig, &alice, "-tls1_3 -ign_eof");
        let request = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let text = asking.ran_with(request).all();
        assert!(text.contains("200 OK"), "{text}");
        assert_eq!(text.contains("Post-Handshake New Session Ticket arrived"), expected, "{text}");
    }
}

#[test]
fn a_connection_ends_with_the_certificate_of_its_client() {
    if !can_run() {
        return;
    }
    let authority = Authority::new();
    let rig = rig(&authority.signs("server", &["localhost"]), |config| {
        config.tls.clients = authority.file();
        // Nothing else ends it.
        (config.limits.header_ms, config.limits.idle_ms) = (600_000, 600_000);
    });
    // A busy machine may need longer until it has asked: then the certificate is good for longer.
    let asked = [20, 60, 180].into_iter().any(|seconds| {
        let end = unix_seconds() + seconds;
        let mut asking = connection(&rig, &authority.signs_until("alice", "alice.example", end), "-quiet");
        let mut open = Running::start(asking.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
        // Where the handshake has failed, nobody reads it.
        let _ = open.child.stdin.as_mut().unwrap().write_all(b"GET /v1/known HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let ran = open.ends();
        let is_answered = ran.out.contains("200 OK");
        assert!(!is_answered || unix_seconds() > end, "{ran:?}");
        is_answered
    });
    assert!(asked, "no answer came before the end of the certificate");
}

#[test]
fn a_connection_ends_when_its_authority_is_gone() {
    if !can_run() {
        return;
    }
    let (old, new) = (Authority::new(), Authority::new());
    let rig = rig(&old.signs("server", &["localhost"]), |config| {
        config.tls.clients = old.file();
        (config.limits.header_ms, config.limits.idle_ms) = (600_000, 600_000);
    });
    let mut asking = connection(&rig, &old.signs("alice", &["alice.example"]), "-quiet");
    let mut open = Running::start(asking.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()));
    open.child.stdin.as_mut().unwrap().write_all(b"GET /v1/known HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert_eq!(open.ended_within(Duration::from_secs(6)), None);
    let authorities = new.file();
    rig.reload(move |config| config.tls.clients = authorities).unwrap();
    open.ended();
}

#[test]
fn a_token_serves_where_there_is_no_certificate() {
    if !can_run() {
        return;
    }
    let authority = Authority::new();
    let folder = tempfile::tempdir().unwrap();
    let tokens = format!("carol = \"{}\"\n", const_hex::encode(Sha256::digest("of carol")));
    let tokens = crate::rig::secret(folder.path(), "tokens.toml", &tokens);
    let rig = rig(&authority.signs("server", &["localhost"]), |config| {
        config.tls.clients = authority.file();
        config.clients.tokens = tokens;
    });
    let status = |more: &[&str]| ask(&rig, &authority, &claim(true, None).to_string(), more).exits(0).out;
    assert!(status(&["--header", "Authorization: Bearer of carol"]).ends_with("200"));
    assert!(status(&[]).ends_with("401"));
    assert!(status(&showing(&authority.signs("alice", &["alice.example"]))).ends_with("200"));
}

#[test]
fn certificates_change_while_the_server_runs() {
    if !can_run() {
        return;
    }
    let (old, new) = (Authority::new(), Authority::new());
    let rig = rig(&old.signs("server", &["localhost"]), |_| {});
    let body = claim(true, None).to_string();
    let fresh = new.signs("server", &["localhost"]);
    // A key that is not that of the certificate changes nothing.
    let (certificate, wrong) = (fresh.file.clone(), old.0.path("server.key"));
    let error = rig.reload(move |config| (config.tls.certificate, config.tls.key) = (certificate, wrong)).unwrap_err();
    assert!(format!("{error:#}").starts_with(&format!("tls: {}", fresh.file)), "{error:#}");
    ask(&rig, &old, &body, &[]).exits(0);
    let Certificate { file, key } = fresh;
    rig.reload(move |config| (config.tls.certificate, config.tls.key) = (file, key)).unwrap();
    ask(&rig, &new, &body, &[]).exits(0);
    assert_ne!(ask(&rig, &old, &body, &[]).code, 0);
}

#[test]
fn a_key_that_others_may_read_and_files_that_are_none_stop_the_start() {
    if !can_run() {
        return;
    }
    let authority = Authority::new();
    let Certificate { file, key } = authority.signs("server", &["localhost"]);
    let start = |certificate: &str, key: &str| {
        let mut config = Config::default();
        (config.listen.address, config.listen.tls) = (String::new(), "127.0.0.1:0".to_owned());
        (config.tls.certificate, config.tls.key) = (certificate.to_owned(), key.to_owned());
        let error = Runtime::new().unwrap().block_on(Server::start(config)).err().unwrap();
        format!("{error:#}")
    };
    assert!(start(&key, &key).contains("found none; expected certificates in PEM"));
    let no_key = authority.0.path("no-key");
    fs::copy(&file, &no_key).unwrap();
    fs::set_permissions(&no_key, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(start(&file, &no_key).contains("expected a private key in PEM"));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(start(&file, &key).contains("other users can read it (mode 644)"));
}

#[test]
fn a_handshake_that_does_not_end_is_closed() {
    if !can_run() {
        return;
    }
    let authority = Authority::new();
    let rig = rig(&authority.signs("server", &["localhost"]), |config| config.limits.header_ms = 300);
    let begun = Instant::now();
    let mut stream = TcpStream::connect(rig.tls_address()).unwrap();
    // The beginning of a record of a handshake.
    stream.write_all(&[22, 3, 1, 2, 0]).unwrap();
    stream.set_read_timeout(Some(crate::rig::PATIENCE)).unwrap();
    assert_eq!(stream.read(&mut [0; 16]).unwrap_or(0), 0);
    assert!(begun.elapsed() >= Duration::from_millis(250));
}
