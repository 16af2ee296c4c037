//! The program: its configuration, what it refuses to start with, and how it ends.

use std::{
    fs::{self, Permissions},
    io::{BufRead, BufReader, Read as _, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    os::unix::{fs::PermissionsExt as _, net::UnixListener},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use quorate_lab::run::{Run as _, Running, Signal, command, command_after, shell};
use quorate_server::config::PREFIX;

use crate::{
    bounds::claim,
    checkpoints,
    rig::{LONG_MS, PATIENCE, answer, eventually, example, get, path, post},
};

/// How glibc's allocator is set where operators start the server (docs/operate.md, "Limits and memory").
pub(crate) const ALLOCATOR: [(&str, &str); 2] = [("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "131072")];

pub(crate) fn program() -> Command {
    command("quorate-server")
}

/// A server in a process of its own, and where it listens.
pub(crate) struct Listening {
    pub(crate) run: Running,
    address: String,
}

impl Listening {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::of(program().args(["--listen", "127.0.0.1:0"]).args(arguments))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        // No test here is about a late client or a short drain unless an argument says so, and arguments count more than variables.
        for limit in ["LIMITS_HEADER_MS", "LIMITS_BODY_MS", "LIMITS_IDLE_MS", "LIMITS_WRITE_MS", "DRAIN_DEADLINE_MS"] {
            command.env(format!("{PREFIX}{limit}"), LONG_MS.to_string());
        }
        let mut run = Running::start(command.stderr(Stdio::piped()));
        let mut lines = BufReader::new(run.child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().expect("the server ended").unwrap();
            if let Some((_, address)) = line.split_once("http://") {
                break address.trim_end_matches(['"', '}']).to_owned();
            }
        };
        thread::spawn(move || lines.for_each(drop));
        Self { run, address }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address.parse().unwrap()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Whether so many requests are in progress.
    fn is_asked(&self, requests: usize) -> bool {
        get(self.connect(), "/metrics").body.contains(&format!("quorate_requests_in_progress {requests}\n"))
    }

    /// Sends the first half of a request, and waits until that is in progress. Gives the connection, and the other half.
    pub(crate) fn ask_in_part(&self, claims: &str) -> (TcpStream, String) {
        // The place of an earlier one is given back a moment after its answer.
        eventually("nothing else is asked", || self.is_asked(0));
        let (begin, end) = claims.split_at(claims.len() / 2);
        let mut stream = self.connect();
        let head =
            "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n";
        write!(stream, "{head}Content-Length: {}\r\n\r\n{begin}", claims.len()).unwrap();
        eventually("the request is in progress", || self.is_asked(1));
        (stream, end.to_owned())
    }

    /// Makes [`SUSPECT`] a suspect, whose claims wait for `verify.longest_wait_ms` although a thread is idle.
    fn suspect(&self) {
        let lie = claim(false, Some(SUSPECT)).to_string();
        let answer = post(self.connect(), "/v1/verify", "application/json", lie.as_bytes());
        assert_eq!(answer.json()[0]["valid"], false);
    }
}

/// The source of a false claim.
const SUSPECT: &str = "a suspect";

/// A claim that waits for its verdict, and one that has come in part.
#[test]
fn sigterm_answers_what_was_asked() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = Listening::start(&["--set", "verify.longest_wait_ms=3000"]);
        server.suspect();
        let mut idle = server.connect();
        idle.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let (mut in_part, rest) = server.ask_in_part(&claim(true, None).to_string());
        let (waits, stream) = (claim(true, Some(SUSPECT)).to_string(), server.connect());
        let asking = thread::spawn(move || post(stream, "/v1/verify", "application/json", waits.as_bytes()));
        // It waits for those of other suspects, for three seconds. A slower machine sees its answer.
        eventually("the second claim has come", || asking.is_finished() || server.is_asked(2));
        server.run.signal(signal);
        in_part.write_all(rest.as_bytes()).unwrap();
        for answer in [answer(in_part), asking.join().unwrap()] {
            assert_eq!(answer.status, 200, "{answer:?}");
            assert_eq!(answer.json()[0]["valid"], true);
        }
        assert_eq!(server.run.ended(), 0);
    }
}

#[test]
fn sigterm_ends_streams_with_a_reason() {
    let mut server = Listening::start(&[]);
    let mut stream = server.connect();
    let claim = example("one-false.jsonl").lines().next().unwrap().to_owned();
    let head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\n\
                Content-Length: 100000\r\n\r\n";
    writeln!(stream, "{head}{claim}").unwrap();
    // The verdict of the first line has left.
    let mut begin = Vec::new();
    while !begin.ends_with(b"}\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        begin.push(byte[0]);
    }
    server.run.signal(Signal::TERM);
    let lines = answer(begin.as_slice().chain(stream)).lines();
    assert_eq!((lines.len(), &lines[0]["valid"]), (2, &true.into()), "{lines:?}");
    assert_eq!((&lines[1]["error"]["code"], &lines[1]["error"]["line"]), (&"stopped".into(), &2.into()));
    assert_eq!(server.run.ended(), 0);
}

#[test]
fn a_second_signal_ends_at_once() {
    let mut server = Listening::start(&[]);
    // A request whose body does not come keeps the server waiting, for longer than this test waits.
    let _asking = server.ask_in_part("[]");
    server.run.signal(Signal::TERM);
    // Two signals that come before the first one is handled count as one.
    eventually("it drains", || get(server.connect(), "/readyz").status == 503);
    assert!(server.run.runs(), "it did not wait");
    server.run.signal(Signal::TERM);
    assert_eq!(server.run.ended(), 130);
}

/// A start that read a large key set looked at no signal, not even at a second one.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_start() {
    for signal in [Signal::TERM, Signal::INT] {
        let folder = tempfile::tempdir().unwrap();
        let pipe = path(folder.path(), "keys");
        shell(&format!("exec mkfifo '{pipe}'")).ran().exits(0);
        // Nobody writes into it, so it is read for ever.
        let key_sets = format!("verify.key_sets=all={pipe}");
        let mut command = program();
        command.args(["--listen", "127.0.0.1:0", "--suite", "eth2", "--set", &key_sets]);
        let mut run = Running::start(&mut command);
        // The last one that it listens for.
        eventually("it handles no signals", || run.catches(Signal::HUP));
        assert_eq!(run.ended_within(Duration::from_millis(300)), None);
        run.signal(signal);
        assert_eq!(run.ended(), 0);
    }
}

#[test]
fn the_deadline_ends_what_does_not_end() {
    let mut server = Listening::start(&["--set", "drain.deadline_ms=500"]);
    let _asking = server.ask_in_part("[]");
    let begun = Instant::now();
    server.run.signal(Signal::TERM);
    assert_eq!(server.run.ended(), 130);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn the_printed_configuration_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.toml");
    let print = |command: &mut Command| command.arg("--print-config").ran().exits(0).out;
    fs::write(&file, "[limits]\nclaims = 5\nkeys = 5\n[log]\nformat = \"json\"\n").unwrap();
    let mut first = program();
    first
        .env("QUORATE_SERVER_CONFIG", &file)
        .env("QUORATE_SERVER_LIMITS_CLAIMS", "6")
        .env("QUORATE_SERVER_LIMITS_KEYS", "6");
    let printed = print(first.args(["--set", "limits.keys=7"]));
    for line in ["claims = 6\n", "keys = 7\n", "format = \"json\"\n"] {
        assert!(printed.contains(line), "{printed}");
    }
    fs::write(&file, &printed).unwrap();
    assert_eq!(print(program().arg("--config").arg(&file)), printed);
}

/// A terminal of 80 columns breaks no word of it. Usage lines, which clap never breaks, are not counted.
#[test]
fn help_fits_a_terminal() {
    for arguments in [
        &["--help"][..],
        &["demo", "--help"],
        &["checkpoint", "--help"],
        &["checkpoint", "fetch", "--help"],
        &["checkpoint", "status", "--help"],
        &["checkpoint", "prove", "--help"],
        &["checkpoint", "refute", "--help"],
    ] {
        let help = program().args(arguments).ran().exits(0).out;
        let wide = help.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{arguments:?}");
    }
}

#[test]
fn wrong_configurations_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.toml");
    fs::write(&file, "[limits]\nclaimz = 5\n").unwrap();
    for (code, expected, command) in [
        (2, "server.toml", program().arg("--config").arg(&file)),
        (2, "claimz", program().arg("--config").arg(&file)),
        (2, "none.toml", program().args(["--config", "/none.toml"])),
        (2, "QUORATE_SERVER_LIMITS_CLAIMS", program().env("QUORATE_SERVER_LIMITS_CLAIMS", "x")),
        (2, "QUORATE_SERVER_LIMIT_CLAIMS", program().env("QUORATE_SERVER_LIMIT_CLAIMS", "5")),
        (2, "limits.claims", program().args(["--set", "limits.claims=0"])),
        (2, "SECTION.FIELD=VALUE", program().args(["--set", "limits.claims"])),
        (2, "listen.address", program().args(["--listen", "0.0.0.0:9596"])),
        (2, "--lisen", program().args(["--lisen", "x"])),
    ] {
        command.ran().exits(code).says(expected);
    }
}

/// Without the variable that names its clients, a server would answer everybody.
#[test]
fn a_variable_that_is_not_utf8_is_refused() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    let (value, name) = (OsStr::from_bytes(b"/tmp/\xff"), OsStr::from_bytes(b"QUORATE_SERVER_LIMITS_\xff"));
    for (expected, command) in [
        ("QUORATE_SERVER_CLIENTS_TOKENS", program().env("QUORATE_SERVER_CLIENTS_TOKENS", value)),
        ("QUORATE_SERVER_LIMITS_CLAIMS", program().env("QUORATE_SERVER_LIMITS_CLAIMS", OsStr::from_bytes(b"\xff5"))),
        ("QUORATE_SERVER_LIMITS_", program().env(name, "5")),
    ] {
        command.arg("--print-config").ran().exits(2).says(expected).says("not UTF-8");
    }
    program().env("OTHER_VARIABLE", value).arg("--print-config").ran().exits(0);
}

/// A start that fails again as long as nobody mends a file ends with 2, so that systemd does not repeat it.
#[test]
fn files_that_the_configuration_names_and_that_are_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode| {
        let path = path(folder.path(), name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    };
    let (bans, hash) = (file("bans", "{", 0o600), "ab".repeat(32));
    let (bad, open) = (file("bad", "alice = \"ab\"\n", 0o600), file("open", &format!("a = \"{hash}\"\n"), 0o644));
    let (sets, no_pem) = (file("sets", "{}", 0o600), file("pem", "no PEM", 0o600));
    let known = path(folder.path(), "known");
    fs::create_dir(&known).unwrap();
    fs::set_permissions(&known, Permissions::from_mode(0o777)).unwrap();
    let (pin, board) = (format!("0x{hash}"), path(folder.path(), "board"));
    for (expected, fields) in [
        ("sources.bans", &[("sources.bans", &bans)][..]),
        ("clients.tokens", &[("clients.tokens", &bad)]),
        ("clients.tokens", &[("clients.tokens", &open)]),
        ("known.folder", &[("known.folder", &known)]),
        ("tls", &[("listen.tls", &"127.0.0.1:0".to_owned()), ("tls.certificate", &no_pem), ("tls.key", &no_pem)]),
        (
            "checkpoint.sets",
            &[
                ("checkpoint.folder", &board),
                ("checkpoint.sets", &sets),
                ("checkpoint.pin", &pin),
                ("checkpoint.chain_id", &pin),
            ],
        ),
    ] {
        let fields = fields.iter().flat_map(|(field, value)| ["--set".to_owned(), format!("{field}={value}")]);
        program().args(["--listen", "127.0.0.1:0"]).args(fields).ran().exits(2).says(expected);
    }
    // A file that cannot be read may be there the next time.
    let none = format!("clients.tokens={}", path(folder.path(), "none"));
    program().args(["--listen", "127.0.0.1:0", "--set", &none]).ran().exits(3).says("clients.tokens");
}

/// What is in these folders was acknowledged. The rule that makes them private also writes their names to the disk.
#[test]
fn folders_below_a_missing_one_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| path(folder.path(), name);
    let [sets, pin, chain_id, _] = checkpoints::fields(folder.path()).map(|(_, value)| value);
    let fields = [
        ("checkpoint.sets", &sets),
        ("checkpoint.pin", &pin),
        ("checkpoint.chain_id", &chain_id),
        ("checkpoint.folder", &at("of/board")),
        ("known.folder", &at("of-known/known")),
        ("sources.bans", &at("of-bans/bans/file")),
    ];
    let fields: Vec<_> = fields.into_iter().map(|(field, value)| format!("{field}={value}")).collect();
    let server = Listening::start(&fields.iter().flat_map(|field| ["--set", field]).collect::<Vec<_>>());
    drop(server);
    fs::write(at("headers"), format!("100 0x{}\n", "ab".repeat(32))).unwrap();
    let mut fetch = program();
    fetch.args(["checkpoint", "fetch", "--folder", &at("of-ratchet/ratchet"), "--chain-id", &chain_id, "--pin", &pin]);
    fetch.args(["--headers", &at("headers"), "--depth", "20"]);
    // Nothing listens there, and no block is skipped.
    fetch.args((1..4).flat_map(|port| ["--node".to_owned(), format!("http://127.0.0.1:{port}")])).ran().exits(1);
    for made in
        ["of", "of/board", "of-known", "of-known/known", "of-bans", "of-bans/bans", "of-ratchet", "of-ratchet/ratchet"]
    {
        assert_eq!(fs::metadata(at(made)).unwrap().permissions().mode() & 0o777, 0o700, "{made}");
    }
}

#[test]
fn a_port_in_use() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    program().args(["--listen", &address]).ran().exits(3).says(&address).says("choose another port");
}

#[test]
fn a_socket_file_that_exists() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| path(folder.path(), name);
    let _live = UnixListener::bind(at("live")).unwrap();
    drop(UnixListener::bind(at("dead")).unwrap());
    fs::write(at("file"), "precious").unwrap();
    for (flag, name, code, expected) in [
        ("--socket", "live", 1, "another program listens"),
        ("--admin-socket", "live", 1, "another program listens"),
        ("--socket", "file", 2, "a file that is not a socket"),
        ("--socket", "none/socket", 3, "none/socket"),
    ] {
        program().args(["--listen", "127.0.0.1:0", flag, &at(name)]).ran().exits(code).says(expected).says(name);
    }
    assert_eq!(fs::read_to_string(at("file")).unwrap(), "precious");
    assert!(Path::new(&at("live")).exists());
    let mut server = Listening::start(&["--socket", &at("dead")]);
    server.run.signal(Signal::TERM);
    assert_eq!(server.run.ended(), 0);
    assert!(!Path::new(&at("dead")).exists());
}

/// A service manager starts it again: the other one may end.
#[test]
fn a_second_server_on_one_folder_or_socket_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| path(folder.path(), name);
    let _first = Listening::start(&["--socket", &at("socket"), "--known", &at("known")]);
    for (flag, name, expected) in [
        ("--socket", "socket", "another program listens on this socket"),
        ("--known", "known", "another process has this store open"),
    ] {
        program().args(["--listen", "127.0.0.1:0", flag, &at(name)]).ran().exits(1).says(expected);
    }
}

#[test]
fn a_server_killed_with_its_socket_starts_again() {
    let folder = tempfile::tempdir().unwrap();
    let socket = path(folder.path(), "socket");
    let known = path(folder.path(), "known");
    for _ in 0..2 {
        let server = Listening::start(&["--socket", &socket, "--known", &known]);
        assert!(Path::new(&socket).exists());
        let claims = example("one-false.jsonl");
        let answered = post(server.connect(), "/v1/verify", "application/x-ndjson", claims.as_bytes());
        assert_eq!(answered.lines().len(), 4);
        // The drop kills it.
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    use std::os::unix::net::UnixStream;

    // Log lines that cannot be written are lost, and the server goes on.
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    // It cannot say at which port it listens, so it has a socket.
    let folder = tempfile::tempdir().unwrap();
    let socket = path(folder.path(), "socket");
    let mut command = program();
    command.args(["--listen", "", "--socket", &socket, "--set", "log.level=debug"]).stderr(full.try_clone().unwrap());
    let mut run = Running::start(&mut command);
    eventually("the server listens", || UnixStream::connect(&socket).is_ok());
    let (claims, stream) = (example("one-false.jsonl"), UnixStream::connect(&socket).unwrap());
    assert_eq!(post(stream, "/v1/verify", "application/x-ndjson", claims.as_bytes()).lines().len(), 4);
    run.signal(Signal::TERM);
    assert_eq!(run.ended(), 0);
    // Output that was asked for and cannot be written is an error.
    Running::start(program().arg("--print-config").stdout(full)).ends().exits(3);

    // A store that cannot be written: the server says so, or goes on without.
    let known = path(folder.path(), "known");
    let mut command = command_after("trap '' XFSZ; ulimit -f 1", "quorate-server");
    command.args(["--listen", "127.0.0.1:0", "--known", &known]).ran().exits(3).says("known.folder");
}

#[test]
fn the_demonstration_shows_batches_a_culprit_and_a_ban() {
    let demo = |seconds: &str| {
        let mut command = program();
        command.args(["--listen", "127.0.0.1:0", "demo", "--seconds", seconds]);
        command
    };
    // Ctrl-C ends it when everything was shown, and comes whatever it does then.
    let mut run = Running::start(demo("240").stdout(Stdio::piped()));
    let mut out = BufReader::new(run.child.stdout.take().unwrap());
    let mut text = String::new();
    let claims = |text: &str| -> u64 {
        text.lines().filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
    };
    while !text.contains("mallory is banned after") || claims(&text) <= 50 {
        assert!(out.read_line(&mut text).unwrap() > 0, "{text}");
    }
    run.signal(Signal::INT);
    out.read_to_string(&mut text).unwrap();
    assert_eq!(run.ended(), 0);
    assert!(text.lines().filter(|line| line.ends_with(" %")).count() < 240, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("http://127.0.0.1:"), "{text}");
    // And it ends by itself.
    demo("1").ran().exits(0);
}

#[test]
fn log_lines_are_json_where_that_is_asked_for() {
    let mut command = program();
    let mut run = Running::start(command.args(["--listen", "127.0.0.1:0", "--log", "json"]).stderr(Stdio::piped()));
    let mut line = String::new();
    BufReader::new(run.child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let logged: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert!(logged["message"].as_str().unwrap().starts_with("listening on http://"), "{line}");
}
