//! Tests of the program as a process: the socket, kill -9, full disks, moves to another machine.

mod rig;

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixStream},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use proptest::prelude::*;
use quorate_evm::{
    KeyGroup, Task,
    alloy_primitives::B256,
    bls12381::{DigestHash, decode_key, decode_signature},
    digest::PeerBinding,
};
use quorate_lab::{
    needs::skip,
    run::{self, Run as _, Running, ServiceManager, shell},
};
use quorate_signer_client::{
    SignerClient, SignerError,
    client::ClientSettings,
    protocol::{LONGEST_LINE, RefusalCode},
    record_file::RecordFile,
};
use rig::{OPERATOR, Place, VERIFIER, network};
use rustix::process::Signal;
use tempfile::TempDir;

fn code(error: SignerError) -> RefusalCode {
    match error {
        SignerError::Refused(refusal) => refusal.code,
        other => panic!("{other:?}"),
    }
}

/// Sends bytes on a connection of its own and returns the lines that come back until the signer closes it, or until there
/// are as many as are wanted.
fn talk(place: &Place, bytes: &[u8], wanted: usize) -> Vec<serde_json::Value> {
    let mut stream = UnixStream::connect(place.socket()).expect("connects");
    stream.set_read_timeout(Some(run::LIMIT)).expect("sets");
    // The signer may close before it has read everything.
    let _ = stream.write_all(bytes);
    let lines = BufReader::new(stream).lines().take(wanted).map_while(Result::ok);
    lines.map(|line| serde_json::from_str(&line).expect("JSON")).collect()
}

#[tokio::test]
async fn a_node_signs_over_the_socket() {
    let place = Place::new();
    let signer = place.start();
    let client = place.client();
    let key = client.public_key().await.expect("a key");
    assert_eq!((key.key_group, &key.public_key), (KeyGroup::Bls12381G2, &place.public_key));
    let point = decode_key(&key.public_key).expect("a key");
    let verifies = |digest, signature: &[u8]| {
        DigestHash::Uniform.verify(&point, &[digest], &decode_signature(signature).expect("a signature"))
    };

    let task = place.task(1, 1);
    let signature = client.sign_task(network().domain(), &task).await.expect("signs");
    assert!(verifies(task.digest(network().domain()), &signature));
    assert_eq!(client.sign_task(network().domain(), &task).await.expect("signs again"), signature);
    assert_eq!(
        code(client.sign_task(network().domain(), &place.task(1, 2)).await.expect_err("a conflict")),
        RefusalCode::Conflict
    );

    let binding = PeerBinding { network: network().domain(), peer: &[7; 38] };
    assert!(verifies(binding.digest(), &client.bind_peer(&binding).await.expect("binds")));
    let proof = client.possession(network().domain(), VERIFIER, OPERATOR).await.expect("proves");
    assert!(verifies(proof.digest.0, &proof.proof));
    assert_eq!(proof.public_key, key.public_key);

    let status = client.status().await.expect("answers");
    assert_eq!((status.tasks, status.retired, status.storage_error), (Some(1), false, None));
    assert_eq!((status.network, status.verifier, status.operator), (network(), VERIFIER, OPERATOR));
    assert_eq!(status.epoch, Some(place.epoch()));
    // `status` asks the signer that runs.
    let (exit, out, _) = place.run(&["status"]);
    assert_eq!(exit, 0);
    assert_eq!(
        serde_json::from_str::<quorate_signer_client::protocol::StatusAnswer>(&out).expect("JSON").tasks,
        Some(1)
    );
    drop(signer);
    // And reads the record of one that does not.
    let (exit, out, _) = place.run(&["status"]);
    assert!(exit == 0 && out.contains("\"tasks\": 1"), "{out}");
}

#[tokio::test]
async fn epochs_and_networks_that_are_not_ours() {
    let place = Place::new();
    let _signer = place.start();
    let client = place.client();
    let task = place.task(1, 1);
    for (epoch, expected) in [
        (place.epoch() + 1, RefusalCode::FutureEpoch),
        (u64::MAX, RefusalCode::FutureEpoch),
        // `init` has set the floor to the epoch in which it ran.
        (place.epoch() - 1, RefusalCode::BelowFloor),
        (place.epoch() - 2, RefusalCode::ClosedEpoch),
        (0, RefusalCode::ClosedEpoch),
    ] {
        assert_eq!(
            code(client.sign_task(network().domain(), &Task { epoch, ..task }).await.expect_err("refused")),
            expected,
            "{epoch}"
        );
    }
    let mut other = network().domain();
    other.chain_id += 1;
    assert_eq!(code(client.sign_task(other, &task).await.expect_err("refused")), RefusalCode::WrongNetwork);
    assert_eq!(client.status().await.expect("answers").tasks, Some(0));
}

#[test]
fn lines_that_are_no_requests() {
    let place = Place::new();
    let _signer = place.start();
    let codes = |bytes: &[u8], wanted| -> Vec<String> {
        let text = |line: &serde_json::Value| line["code"].as_str().or(line["answer"].as_str()).map(str::to_owned);
        talk(&place, bytes, wanted).iter().map(|line| text(line).expect("a code")).collect()
    };
    let status = br#"{"request":"status"}"#;
    let lines =
        [b"{\n".as_slice(), b"\n", b"\xff\xfe\n", br#"{"request":"status","x":1}"#, b"\n", status, b"\n"].concat();
    // A connection goes on after them.
    assert_eq!(codes(&lines, 5), ["malformed", "malformed", "malformed", "malformed", "status"]);
    // The longest line is read; a longer one ends the connection, and nothing behind it is read.
    let padded = |length: usize| [status.as_slice(), &vec![b' '; length - status.len()], b"\n"].concat();
    assert_eq!(codes(&padded(LONGEST_LINE), 1), ["status"]);
    let long = [padded(LONGEST_LINE + 1), padded(100)].concat();
    assert_eq!(codes(&long, 9), ["line-too-long"]);
    // No newline ever comes.
    assert_eq!(codes(&vec![b'x'; 1 << 20], 9), ["line-too-long"]);
    // Half a request is not a request.
    let mut stream = UnixStream::connect(place.socket()).expect("connects");
    stream.write_all(status).expect("writes");
    stream.shutdown(std::net::Shutdown::Write).expect("ends");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("reads");
    assert_eq!(answer, "");
}

#[tokio::test]
async fn slow_clients_hold_up_nobody() {
    let place = Place::new();
    let _signer = place.start();
    let mut times = Vec::new();
    // A busy machine may be slow itself, but hardly so ten times.
    for first in (0..50).step_by(5) {
        let took = signed_beside_slow_clients(&place, first).await;
        // The signer ends slow connections after ten seconds.
        if took < Duration::from_secs(9) {
            return;
        }
        times.push(took);
    }
    panic!("{times:?}");
}

/// How long five signatures take, from a first task on, while thirty clients are slow.
async fn signed_beside_slow_clients(place: &Place, first: u32) -> Duration {
    // Some never finish a line, some never read what they asked for.
    let mut slow = Vec::new();
    for number in 0..30 {
        let mut stream = UnixStream::connect(place.socket()).expect("connects");
        if number % 2 == 0 {
            stream.write_all(b"{\"request\":").expect("writes");
        } else {
            stream.set_nonblocking(true).expect("sets");
            let lines = b"{\"request\":\"status\"}\n".repeat(4000);
            let _ = stream.write(&lines);
        }
        slow.push(stream);
    }
    let client = place.client();
    let begin = Instant::now();
    for id in first..first + 5 {
        client.sign_task(network().domain(), &place.task(id, 1)).await.expect("signs");
    }
    let took = begin.elapsed();
    drop(slow);
    took
}

#[tokio::test]
async fn too_many_connections() {
    let place = Place::new();
    let _signer = place.start();
    let mut held = Vec::new();
    for _ in 0..64 {
        let mut stream = UnixStream::connect(place.socket()).expect("connects");
        stream.write_all(b"{\"request\":\"status\"}\n").expect("writes");
        let mut line = String::new();
        BufReader::new(&mut stream).read_line(&mut line).expect("reads");
        assert!(line.contains("status"), "{line}");
        held.push(stream);
    }
    let client = place.client();
    assert_eq!(code(client.status().await.expect_err("busy")), RefusalCode::Busy);
    held.pop();
    let begin = Instant::now();
    // The same client connects again.
    while client.status().await.is_err() {
        assert!(begin.elapsed() < run::LIMIT);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn concurrent_conflicts_over_the_socket() {
    let place = Place::new();
    let _signer = place.start();
    for id in 0..4 {
        let mut requests = tokio::task::JoinSet::new();
        for result in 0..16 {
            let (client, task) = (place.client(), place.task(id, result));
            requests.spawn(async move { client.sign_task(network().domain(), &task).await.map_err(code) });
        }
        let answers = requests.join_all().await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        assert_eq!(answers.iter().filter(|answer| **answer == Err(RefusalCode::Conflict)).count(), 15);
    }
}

/// What a signer signed, by the task's id.
type Answered = BTreeMap<B256, (Task, [u8; 96])>;

/// Many clients ask for tasks that conflict, and the signer is killed in the middle, four times. What was answered is in the
/// record, and is answered again alike; nothing that conflicts with it is ever signed.
#[tokio::test]
async fn kill_9_loses_no_signature() {
    let place = Place::new();
    let answered: Arc<Mutex<Answered>> = Arc::default();
    for round in 0..4u32 {
        let mut signer = place.start();
        let mut clients = tokio::task::JoinSet::new();
        for number in 0..6u32 {
            let client = place.client();
            let (answered, place_task) = (answered.clone(), place.clone());
            clients.spawn(async move {
                for step in 0u32.. {
                    // Ids of earlier rounds come again, with other results.
                    let id = (step / 3) % (40 * (round + 1));
                    let task = place_task.task(id, (number + step) % 4);
                    match client.sign_task(network().domain(), &task).await {
                        Ok(signature) => {
                            let before = answered.lock().expect("lock").insert(task.id, (task, signature));
                            if let Some((other, same)) = before {
                                assert_eq!((other, same), (task, signature), "two signatures for one id");
                            }
                        }
                        Err(SignerError::Refused(refusal)) => assert_eq!(refusal.code, RefusalCode::Conflict),
                        Err(_) => return,
                    }
                }
            });
        }
        let (begin, enough) = (Instant::now(), answered.lock().expect("lock").len() + 20);
        while answered.lock().expect("lock").len() < enough {
            assert!(begin.elapsed() < run::LIMIT, "the signer is too slow");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        signer.kill();
        clients.join_all().await;
    }
    let answered = answered.lock().expect("lock").clone();
    assert!(answered.len() >= 80);
    // All of it is in the record, and the record has no contradiction.
    let (exit, out, _) = place.run(&["export"]);
    assert_eq!(exit, 0);
    let file = RecordFile::parse(out.as_bytes()).expect("a record without contradictions");
    let recorded: HashSet<Task> = file.tasks.iter().copied().collect();
    let _signer = place.start();
    let client = place.client();
    for (task, signature) in answered.values() {
        assert!(recorded.contains(task), "{task:?} was signed and is not recorded");
        assert_eq!(client.sign_task(network().domain(), task).await.expect("signed before"), *signature);
        let other = Task { approved: !task.approved, ..*task };
        assert_eq!(
            code(client.sign_task(network().domain(), &other).await.expect_err("a conflict")),
            RefusalCode::Conflict
        );
    }
}

#[tokio::test]
async fn a_second_signer() {
    let place = Place::new();
    let signer = place.start();
    let (exit, _, error) = place.run(&["run"]);
    assert!(exit == 1 && error.contains("another signer uses this folder"), "{exit}: {error}");
    for arguments in [&["export"][..], &["import", "/dev/null"]] {
        let (exit, _, _) = place.run(arguments);
        assert_ne!(exit, 0);
    }
    // Another record, with the same socket.
    let other = Place::new();
    let socket = place.socket();
    let (exit, _, error) = other.run(&["run", "--socket", socket.to_str().expect("UTF-8")]);
    assert!(exit == 1 && error.contains("another program listens"), "{exit}: {error}");
    assert!(place.client().status().await.is_ok());
    drop(signer);
}

#[tokio::test]
async fn the_socket_and_its_end() {
    let place = Place::new();
    for signal in [Signal::TERM, Signal::INT] {
        let mut signer = place.start();
        let mode = |path: &std::path::Path| fs::metadata(path).expect("exists").permissions().mode() & 0o777;
        assert_eq!(mode(&place.socket()), 0o600);
        assert_eq!(mode(place.socket().parent().expect("a folder")), 0o700);
        // A client that is connected and silent does not hold it up.
        let idle = UnixStream::connect(place.socket()).expect("connects");
        assert_eq!(signer.end(signal), 0);
        assert!(!place.socket().exists());
        drop(idle);
    }
    // After kill -9 the socket stays, and is replaced.
    place.start().kill();
    assert!(place.socket().exists());
    let _signer = place.start();
    assert!(place.client().status().await.is_ok());
}

#[tokio::test]
async fn a_client_finds_a_signer_that_was_restarted() {
    let place = Place::new();
    let mut signer = place.start();
    let client = place.client();
    let signature = client.sign_task(network().domain(), &place.task(1, 1)).await.expect("signs");
    signer.kill();
    assert!(matches!(client.status().await, Err(SignerError::Connect { .. } | SignerError::Lost { .. })));
    let _signer = place.start();
    assert_eq!(client.sign_task(network().domain(), &place.task(1, 1)).await.expect("signs"), signature);
    let mut signer = _signer;
    signer.kill();
    let _signer = place.start();
    // The connection that it holds is dead, and it connects again within one request.
    assert_eq!(client.sign_task(network().domain(), &place.task(1, 1)).await.expect("signs"), signature);
}

#[tokio::test]
async fn a_client_waits_no_longer_than_it_is_told() {
    let place = Place::new();
    let socket = place.folder().join("deaf.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("binds");
    let settings = ClientSettings { answer: Duration::from_millis(50), ..ClientSettings::default() };
    let client = SignerClient::with(&socket, settings);
    assert!(matches!(client.status().await, Err(SignerError::TimedOut { .. })));
    let nobody = SignerClient::new(place.folder().join("none.sock"));
    assert!(matches!(nobody.status().await, Err(SignerError::Connect { .. })));
}

/// Every jump up to that epoch would be believed, and the clock would not be watched at all.
#[test]
fn an_epoch_that_has_not_begun_is_refused() {
    let place = Place::new();
    for ahead in [1, 1_000_000] {
        let accepted = (place.epoch() + ahead).to_string();
        let (exit, _, error) = place.run(&["run", "--accept-epoch", &accepted]);
        assert!(exit == 2 && error.contains(&format!("--accept-epoch {accepted}: the signer's clock says")), "{error}");
    }
}

/// A node says that, and nothing else, about a signer that it does not reach.
#[tokio::test]
async fn a_socket_that_cannot_be_used_is_told_with_the_cause() {
    let place = Place::new();
    let in_folder = |name: &str| place.folder().join(name);
    let left = in_folder("left.sock");
    drop(std::os::unix::net::UnixListener::bind(&left).expect("binds"));
    for (socket, why) in [
        (in_folder("none.sock"), "No such file or directory"),
        (left, "refused"),
        (in_folder("key.json"), "refused"),
        (in_folder(&"x".repeat(200)), "must be shorter"),
    ] {
        let told = SignerClient::new(&socket).status().await.expect_err("no signer").to_string();
        assert!(told.contains("cannot connect to the signer (") && told.contains(why), "{told}");
    }
}

/// The disk is full: no signature, an error, and the process goes on answering. With room again, it signs again, and has
/// forgotten nothing.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let place = Place::new();
    // The file-size limit stands in for the disk. Its signal is ignored, so that writes fail as on a full disk.
    let size = fs::metadata(place.folder().join("data/record.redb")).expect("exists").len();
    let signer = place.start_with(&format!("trap '' XFSZ; ulimit -S -f {}", size.div_ceil(512)));
    let client = place.client();
    let mut signed = Vec::new();
    let mut failures = 0;
    // The first failure writes the record anew, which makes it smaller. Then it is full for good.
    while failures < 3 {
        let task = place.task(signed.len() as u32, 1);
        match client.sign_task(network().domain(), &task).await {
            Ok(signature) => {
                signed.push((task, signature));
                failures = 0;
            }
            Err(error) => {
                assert_eq!(code(error), RefusalCode::Storage);
                failures += 1;
            }
        }
        assert!(signed.len() < 2000, "the record does not grow");
    }
    eprintln!("{} tasks before the disk was full", signed.len());
    let refused = place.task(signed.len() as u32, 1);
    for _ in 0..3 {
        assert_eq!(code(client.sign_task(network().domain(), &refused).await.expect_err("full")), RefusalCode::Storage);
        assert!(client.public_key().await.is_ok());
        assert!(client.status().await.is_ok());
    }
    // There is room again.
    let limit = Rlimit { current: None, maximum: None };
    prlimit(Some(Pid::from_raw(signer.id() as i32).expect("a process")), Resource::Fsize, limit).expect("raises");
    // What failed was not signed, so another result may be signed for it, unless the record has it nevertheless.
    let again = client.sign_task(network().domain(), &refused).await;
    assert!(again.is_ok(), "{again:?}");
    let other = Task { approved: false, ..refused };
    assert_eq!(
        code(client.sign_task(network().domain(), &other).await.expect_err("a conflict")),
        RefusalCode::Conflict
    );
    for (task, signature) in signed.iter().rev().take(50).chain(signed.iter().take(50)) {
        assert_eq!(client.sign_task(network().domain(), task).await.expect("signed before"), *signature);
    }
    let status = client.status().await.expect("answers");
    assert_eq!((status.tasks, status.storage_error), (Some(signed.len() as u64 + 1), None));
    // Each failure is counted. The log says when they begin and end, and not each of them. Its last line comes behind the answer.
    let (told, ended) = ("no task is signed: ", "the record is read and written again");
    let log = signer.says(|log| log.contains(told) && log.matches(ended).count() == log.matches(told).count());
    let (told, failures) = (log.matches(told).count() as u64, status.storage_failures);
    assert!(failures >= 6 && told < failures, "{told} of {failures}: {log}");
}

/// The signer was killed, and the disk has no room for a new record. What was signed can be seen, and moved to another machine.
#[tokio::test]
async fn a_record_that_was_not_closed_is_read_without_room() {
    let place = Place::new();
    let mut signer = place.start();
    let client = place.client();
    client.sign_task(network().domain(), &place.task(1, 1)).await.expect("signs");
    signer.kill();
    let in_the_way = place.folder().join("data/record.redb.new");
    fs::create_dir(&in_the_way).expect("in the way of the new file");
    let (file, retired) = (place.folder().join("record.json"), place.folder().join("retired.json"));
    let [path, of_retired] = [&file, &retired].map(|path| path.to_str().expect("UTF-8"));
    for _ in 0..2 {
        let (exit, out, error) = place.run(&["status"]);
        assert!(exit == 0 && out.contains("\"tasks\": 1") && out.contains("\"storage_error\": null"), "{out}{error}");
    }
    let (exit, _, error) = place.run(&["export", "--out", path]);
    assert_eq!(exit, 0, "{error}");
    let exported = RecordFile::parse(&fs::read(&file).expect("reads")).expect("a record");
    assert_eq!(exported.tasks, [place.task(1, 1)]);
    // What writes to the record still needs a new file.
    for arguments in [&["run"][..], &["import", path], &["export", "--retire", "--out", of_retired]] {
        let (exit, _, error) = place.run(arguments);
        assert!(exit == 3 && error.contains("record.redb.new"), "{exit}: {error}");
    }
    assert!(!retired.exists());
    fs::remove_dir(&in_the_way).expect("room again");
    let _signer = place.start();
    assert_eq!(client.status().await.expect("answers").tasks, Some(1));
}

/// Standard error is a pipe that nobody reads: it is full after some hundred lines. Then it is closed.
#[tokio::test]
async fn a_log_that_nobody_reads_stops_no_signature() {
    let place = Place::new();
    let pipe = place.folder().join("pipe");
    let pipe = pipe.to_str().expect("UTF-8");
    // The shell holds both ends, so that it is open and never read.
    let mut signer = place.start_with(&format!("mkfifo {pipe}; exec 2<>{pipe}"));
    let client = place.client();
    let (task, other) = (place.task(1, 1), place.task(1, 2));
    let signature = client.sign_task(network().domain(), &task).await.expect("signs");
    let mut dropped = 0;
    for _ in 0..100 {
        for _ in 0..200 {
            assert_eq!(client.sign_task(network().domain(), &task).await.expect("signed before"), signature);
        }
        dropped = client.status().await.expect("answers").dropped_log_lines;
        if dropped > 0 {
            break;
        }
    }
    assert!(dropped > 0, "the pipe is not full");
    assert_eq!(
        code(client.sign_task(network().domain(), &other).await.expect_err("a conflict")),
        RefusalCode::Conflict
    );
    assert_eq!(signer.end(Signal::TERM), 0, "nor does it stop the end");
    let mut signer = place.start_with("exec 2>&-");
    assert_eq!(client.sign_task(network().domain(), &task).await.expect("signed before"), signature);
    assert_eq!(signer.end(Signal::TERM), 0);
}

/// A record that may not be looked at may be there. A second one for the key would sign what the first one forbids.
#[test]
fn a_record_out_of_reach_is_not_to_be_made_anew() {
    let place = Place::new();
    let file = place.folder().join("file");
    fs::write(&file, "").expect("writes");
    let beneath = file.join("data");
    let beneath = beneath.to_str().expect("UTF-8");
    for command in ["status", "run", "export"] {
        let (exit, _, error) = place.run(&[command, "--data", beneath]);
        assert!(exit == 3 && !error.contains("init") && error.contains(beneath), "{command}, {exit}: {error}");
    }
    // Another user's folder. Only the superuser can become another user.
    if rustix::process::geteuid().is_root() {
        let data = place.folder().join("data");
        for path in [place.folder(), &data] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("chmod");
        }
        let Some((_folder, mut command)) = as_another_user(&["status", "--data", data.to_str().expect("UTF-8")]) else {
            return;
        };
        let ran = command.ran().exits(3).says("user 65534 may not use it");
        assert!(!ran.err.contains("init"), "{ran:?}");
    } else {
        eprintln!("skipped: another user's folder, which only the superuser can try");
    }
}

/// The signer as a process of the user 65534, whom only the superuser can become, and the folder that it is run from. `None`,
/// with a printed line, without `setpriv`.
fn as_another_user(arguments: &[&str]) -> Option<(TempDir, Command)> {
    let become_nobody = "umask 0; exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"; true";
    if shell(become_nobody).args(["sh", "true"]).ran().code != 0 {
        skip("there is no setpriv, which starts a process of another user");
        return None;
    }
    // The program must be where the other user can run it.
    let folder = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().expect("a folder");
    let program = folder.path().join("quorate-signer");
    fs::copy(run::program("quorate-signer"), &program).expect("copies");
    let mut command = shell(become_nobody);
    command.arg("sh").arg(program).args(arguments);
    Some((folder, command))
}

/// Linux gives the file with the memory of a process that leaves no core dump to the superuser. Other processes of its own user
/// cannot read it either.
#[cfg(target_os = "linux")]
#[test]
fn the_process_leaves_no_core_dump() {
    use std::os::unix::fs::MetadataExt as _;
    // This command reads its input to the end before it looks for the folder.
    let arguments = ["import", "--data", "/nowhere", "-"];
    // Of a process of the superuser, the file tells nothing.
    let (_folder, mut command) = if rustix::process::geteuid().is_root() {
        let Some((folder, command)) = as_another_user(&arguments) else { return };
        (Some(folder), command)
    } else {
        let mut command = run::command("quorate-signer");
        command.args(arguments);
        (None, command)
    };
    let mut signer = Running::start(command.stdin(Stdio::piped()));
    let mut input = signer.child.stdin.take().expect("piped");
    // No pipe holds so much: once all of it is written, the program reads.
    input.write_all(&vec![b' '; 4 << 20]).expect("the program reads");
    let memory = fs::metadata(format!("/proc/{}/mem", signer.child.id())).expect("the program runs");
    assert_eq!(memory.uid(), 0, "another process of the same user may read its memory");
}

/// systemd starts a signer again after 3, and not after 2: a record that is damaged stays so.
#[test]
fn a_damaged_record_is_no_fault_of_the_disk() {
    let place = Place::new();
    let record = fs::File::options().write(true).open(place.folder().join("data/record.redb")).expect("opens");
    let length = record.metadata().expect("is there").len();
    for left in [length / 2, 100, 0] {
        record.set_len(left).expect("cuts");
        for command in ["run", "status", "export"] {
            let (exit, _, error) = place.run(&[command]);
            assert!(exit == 2 && error.contains("the record is damaged"), "{command}, {left} bytes, {exit}: {error}");
        }
    }
}

/// What a file says reaches the terminal as text alone.
#[test]
fn control_characters_of_a_file_reach_no_terminal() {
    let place = Place::new();
    let file = place.folder().join("a\u{1b}[31m\u{202e}.json");
    for text in ["{\"format\":\"\u{202e}evil\\u001b[2J\",\"version\":1}", "{\"\u{202e}\": 1}", "\u{1b}[2J"] {
        fs::write(&file, text).expect("writes");
        let (exit, out, error) = place.run(&["import", file.to_str().expect("UTF-8")]);
        assert_eq!(exit, 2, "{error}");
        for shown in [out, error] {
            assert!(shown.trim_end().chars().all(|letter| !letter.is_control() && letter != '\u{202e}'), "{shown:?}");
        }
    }
}

#[test]
fn a_folder_that_cannot_be_written() {
    let place = Place::new();
    let (exit, _, error) = place.run_with("trap '' XFSZ; ulimit -f 0", &["run"]);
    assert!(exit == 3 && error.contains("record"), "{exit}: {error}");
    let data = place.folder().join("other");
    let data = data.to_str().expect("UTF-8");
    let (exit, _, error) = place.run_with("trap '' XFSZ; ulimit -f 0", &place.init_arguments(data));
    assert_eq!(exit, 3, "{error}");
    // Nothing half-made is in its place.
    let (exit, _, error) = place.run_with("true", &place.init_arguments(data));
    assert_eq!(exit, 0, "{error}");
    // The bytes of the record are read-only, and the folder, too: whoever may do everything writes all the same.
    if !rustix::process::geteuid().is_root() {
        let folder = place.folder().join("data");
        fs::set_permissions(folder.join("record.redb"), fs::Permissions::from_mode(0o400)).expect("chmod");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).expect("chmod");
        let (exit, _, error) = place.run(&["run"]);
        assert_eq!(exit, 3, "{error}");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("chmod");
    } else {
        eprintln!("skipped: a folder of mode 0500, which the superuser can write");
    }
}

#[tokio::test]
async fn the_record_moves_to_another_machine() {
    let (here, there) = (Place::new(), Place::new());
    let mut signer = here.start();
    let client = here.client();
    let signature = client.sign_task(network().domain(), &here.task(1, 1)).await.expect("signs");
    assert_eq!(signer.end(Signal::TERM), 0);
    let file = here.folder().join("record.json");
    let path = file.to_str().expect("UTF-8");
    let (exit, _, error) = here.run(&["export", "--retire", "--out", path]);
    assert!(exit == 0 && error.contains("nothing more is signed here"), "{error}");
    assert_eq!(fs::metadata(&file).expect("exists").permissions().mode() & 0o777, 0o600);
    let (exit, _, error) = here.run(&["run"]);
    assert!(exit == 1 && error.contains("another machine"), "{exit}: {error}");

    let (exit, out, error) = there.run(&["import", path]);
    assert!(exit == 0 && out.starts_with("1 of 1 tasks added"), "{out}{error}");
    let _signer = there.start();
    let client = there.client();
    assert_eq!(client.sign_task(network().domain(), &there.task(1, 1)).await.expect("signed before"), signature);
    assert_eq!(
        code(client.sign_task(network().domain(), &there.task(1, 2)).await.expect_err("a conflict")),
        RefusalCode::Conflict
    );
}

/// Two signers would sign with one key, if whoever reads that it failed imports the file all the same.
#[test]
fn a_record_that_could_not_be_retired_is_said_to_sign() {
    let place = Place::new();
    let file = place.folder().join("record.json");
    let path = file.to_str().expect("UTF-8");
    // The file has room. Of the record only the first page can be written.
    let (exit, _, error) = place.run_with("trap '' XFSZ; ulimit -S -f 8", &["export", "--retire", "--out", path]);
    assert!(exit == 3 && error.contains(&format!("{path} is written, but the record here is NOT retired")), "{error}");
    assert!(file.exists());
    let (exit, out, error) = place.run(&["status"]);
    assert!(exit == 0 && out.contains("\"retired\": false"), "{out}{error}");
    let again = place.folder().join("again.json");
    let (exit, _, error) = place.run(&["export", "--retire", "--out", again.to_str().expect("UTF-8")]);
    assert!(exit == 0 && error.contains("nothing more is signed here"), "{exit}: {error}");
}

/// `-` is standard input of `import`. A file of that name is not written: a record that was retired for it would be nowhere else.
#[test]
fn the_record_moves_through_a_pipe() {
    let (here, there) = (Place::new(), Place::new());
    let (exit, _, error) = here.run(&["export", "--retire", "--out", "-"]);
    assert!(exit == 2 && error.contains("give a name"), "{exit}: {error}");
    let (_, out, _) = here.run(&["status"]);
    assert!(out.contains("\"retired\": false"), "{out}");
    let (exit, exported, error) = here.run(&["export"]);
    assert_eq!(exit, 0, "{error}");
    let import = |text: &str| there.command("true", &["import", "-"]).ran_with(text);
    let ran = import(&exported).exits(0);
    assert!(ran.out.starts_with("0 of 0 tasks added"), "{ran:?}");
    import(&format!("\u{feff}{exported}")).exits(0);
    import("{}").exits(2).says("standard input");
}

#[test]
fn addresses_with_a_wrong_digit_are_refused() {
    let place = Place::new();
    let data = place.folder().join("another");
    let right = place.init_arguments(data.to_str().expect("UTF-8"));
    for flag in ["--contract", "--verifier", "--operator"] {
        let value = 1 + right.iter().position(|argument| *argument == flag).expect("an argument of `init`");
        for (wrong, why) in [
            ("0x5FbDB2315678afecb367f032d93F642f64180aa4", "EIP-55"),
            ("5FbDB2315678afecb367f032d93F642f64180aa3", "expected 40 hexadecimal digits after 0x"),
        ] {
            let mut arguments = right.clone();
            arguments[value] = wrong;
            let (exit, _, error) = place.run(&arguments);
            assert!(exit == 2 && error.contains(flag) && error.contains(why), "{exit}: {error}");
        }
    }
    assert!(!data.exists());
}

#[test]
fn files_that_are_not_imported() {
    let place = Place::new();
    let (_, ours, _) = place.run(&["export"]);
    let file = place.folder().join("file.json");
    let import = |text: &str| {
        fs::write(&file, text).expect("writes");
        let (exit, _, error) = place.run(&["import", file.to_str().expect("UTF-8")]);
        (exit, error)
    };
    assert_eq!(import(&ours).0, 0);
    let mut record = RecordFile::parse(ours.as_bytes()).expect("ours");
    let mut other = record.clone();
    other.identity.network.chain_id += 1;
    let (exit, error) = import(&other.to_json().expect("plain types"));
    assert!(exit == 2 && error.contains("another network"), "{exit}: {error}");
    let mut other = record.clone();
    other.identity.public_key = vec![1; 192].into();
    let (exit, error) = import(&other.to_json().expect("plain types"));
    assert!(exit == 2 && error.contains("another public key"), "{exit}: {error}");
    // The operator may name the key that it used before, and the file must be of that one.
    let previous = format!("0x{}", "01".repeat(192));
    let path = file.to_str().expect("UTF-8");
    assert_eq!(place.run(&["import", "--previous-key", &previous, path]).0, 0);
    fs::write(&file, &ours).expect("writes");
    assert_eq!(place.run(&["import", "--previous-key", &previous, path]).0, 2);
    let (exit, error) = import(&ours.replace("\"floor\":", "\"floor\":1"));
    assert!(exit == 2 && error.contains("damaged"), "{exit}: {error}");
    record.tasks = vec![place.task(1, 1), place.task(1, 2)];
    record.tasks[1].epoch += 1;
    let (exit, error) = import(&record.to_json().expect("plain types"));
    assert!(exit == 2 && error.contains("contradicts itself"), "{exit}: {error}");
    let (exit, error) = import("{}");
    assert!(exit == 2 && error.contains("missing field `format`"), "{exit}: {error}");
    // The file of a passphrase that has digits alone.
    let (exit, error) = import("20260117\n");
    assert!(exit == 2 && error.contains("expected a record") && !error.contains("2026011"), "{exit}: {error}");
    let (exit, _, _) = place.run(&["import", "/nonexistent"]);
    assert_eq!(exit, 3);
}

#[test]
fn keys_that_do_not_open() {
    let place = Place::new();
    let wrong = place.folder().join("wrong");
    fs::write(&wrong, "wrong\n").expect("writes");
    let (exit, _, error) = place.run(&["run", "--passphrase-file", wrong.to_str().expect("UTF-8")]);
    assert!(exit == 2 && error.contains("wrong passphrase"), "{exit}: {error}");
    let (exit, _, error) = place.run(&["run", "--passphrase-file", "/nonexistent"]);
    assert!(exit == 3 && error.contains("/nonexistent"), "{exit}: {error}");
    let other = rig::keystore_of(place.folder(), "other.json", &[9; 48]);
    let (exit, _, error) = place.run(&["run", "--keystore", other.to_str().expect("UTF-8")]);
    assert!(exit == 2 && error.contains("the record was made for"), "{exit}: {error}");
}

#[tokio::test]
async fn no_line_has_a_secret() {
    for format in ["text", "json"] {
        let place = Place::new();
        let mut signer = place.start_with(&format!("export QUORATE_SIGNER_LOG={format}"));
        let client = place.client();
        client.sign_task(network().domain(), &place.task(1, 1)).await.expect("signs");
        client.sign_task(network().domain(), &place.task(1, 2)).await.expect_err("a conflict");
        client.possession(network().domain(), VERIFIER, OPERATOR).await.expect("proves");
        talk(&place, b"{\"request\":\"needle\"}\n", 1);
        signer.says(|log| log.contains("a task is signed") && log.contains("a task is not signed"));
        assert_eq!(signer.end(Signal::TERM), 0);
        let log = signer.log();
        if format == "json" {
            log.lines().for_each(|line| drop(serde_json::from_str::<serde_json::Value>(line).expect("JSON")));
        }
        for secret in [rig::PASSPHRASE, &place.secret, "needle"] {
            assert!(!log.to_lowercase().contains(&secret.to_lowercase()), "{log}");
        }
    }
}

/// What is signed and refused is counted on a socket of its own, where nothing can be signed, and nothing there tells what it was.
#[tokio::test]
async fn whoever_watches_sees_counts_and_no_secret() {
    let place = Place::new();
    let watch = place.folder().join("watch/metrics.sock");
    let mut signer = place.start_with(&format!("export QUORATE_SIGNER_METRICS_SOCKET={}", watch.display()));
    let get = |path: &str| run::get(UnixStream::connect(&watch).expect("connects"), path);
    let mode = |path: &std::path::Path| fs::metadata(path).expect("is there").permissions().mode() & 0o777;
    assert_eq!((mode(&watch), mode(watch.parent().expect("a folder"))), (0o600, 0o700));
    assert_eq!(get("/livez"), (200, "ok\n".to_owned()));
    assert_eq!(get("/readyz"), (200, "ok\n".to_owned()));
    let value = |text: &str, name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{name} is missing: {text}")).parse().expect("a number")
    };
    let before = get("/metrics").1;
    for (name, expected) in [
        ("quorate_signer_ready", 1.0),
        ("quorate_signer_refusals_total{code=\"conflict\"}", 0.0),
        ("quorate_signer_signatures_total{kind=\"task\"}", 0.0),
        ("quorate_signer_record_tasks", 0.0),
    ] {
        assert!((value(&before, name) - expected).abs() < 0.1, "{name}: {before}");
    }
    assert!(!before.contains("last_signature_time_seconds "), "{before}");

    let client = place.client();
    let task = place.task(0xdead_beef, 0xcafe_babe);
    for _ in 0..3 {
        client.sign_task(network().domain(), &task).await.expect("signs");
    }
    client.sign_task(network().domain(), &place.task(0xdead_beef, 2)).await.expect_err("a conflict");
    client.possession(network().domain(), VERIFIER, OPERATOR).await.expect("proves");
    client.bind_peer(&PeerBinding { network: network().domain(), peer: &[7; 38] }).await.expect("binds");
    talk(&place, b"{\"request\":\"needle\"}\n", 1);
    talk(&place, &[b'x'; LONGEST_LINE + 2], 1);
    let after = get("/metrics").1;
    for (name, expected) in [
        ("quorate_signer_signatures_total{kind=\"task\"}", 1.0),
        ("quorate_signer_signatures_total{kind=\"repeat\"}", 2.0),
        ("quorate_signer_signatures_total{kind=\"possession\"}", 1.0),
        ("quorate_signer_signatures_total{kind=\"peer\"}", 1.0),
        ("quorate_signer_refusals_total{code=\"conflict\"}", 1.0),
        ("quorate_signer_refusals_total{code=\"malformed\"}", 1.0),
        ("quorate_signer_refusals_total{code=\"line-too-long\"}", 1.0),
        ("quorate_signer_record_tasks", 1.0),
        ("quorate_signer_epoch", 7.0),
        ("quorate_signer_record_writes", 1.0),
    ] {
        assert!((value(&after, name) - expected).abs() < 0.1, "{name}: {after}");
    }
    assert!(value(&after, "quorate_signer_last_signature_time_seconds") > 1.7e9, "{after}");
    assert!(value(&after, "quorate_signer_record_bytes") > 1000.0, "{after}");
    for secret in [rig::PASSPHRASE, &place.secret, "needle", "deadbeef", "cafebabe"] {
        assert!(!after.to_lowercase().contains(&secret.to_lowercase()), "{secret}: {after}");
    }
    // Nothing is signed here, whatever is asked.
    let mut stream = UnixStream::connect(&watch).expect("connects");
    stream.write_all(b"{\"request\":\"public_key\"}\n\n").expect("writes");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("reads");
    assert!(!answer.contains("public_key"), "{answer}");

    let (exit, out, _) = place.run(&["status", "--running"]);
    assert!(exit == 0 && out.contains("\"tasks\": 1"), "{out}");
    assert_eq!(signer.end(Signal::TERM), 0);
    assert!(!watch.exists(), "the socket is left behind");
    // Without a signer, the record is not touched.
    let (exit, out, error) = place.run(&["status", "--running"]);
    assert!(exit == 3 && out.is_empty(), "{out}{error}");
}

#[test]
fn help_and_errors_of_the_command_line() {
    let run = |arguments: &[&str]| run::command("quorate-signer").args(arguments).ran();
    let out = run(&["--help"]).exits(0).out;
    for command in ["init", "run", "status", "export", "import"] {
        assert!(out.contains(command), "{out}");
        run(&[command, "--help"]).exits(0);
    }
    run(&[]).exits(2);
    run(&["sign"]).exits(2);
    run(&["status", "--data", "/nonexistent"]).refused("quorate-signer init");
    let place = Place::new();
    let data = place.folder().join("bn254");
    let mut arguments = place.init_arguments(data.to_str().expect("UTF-8"));
    for value in &mut arguments {
        if *value == "bls12381-g2" {
            *value = "bn254-g2";
        }
    }
    let (exit, _, error) = place.run_with("true", &arguments);
    assert!(exit == 2 && error.contains("bls12381-g2-nu"), "{error}");
    let data = place.folder().join("data");
    let (exit, _, error) = place.run_with("true", &place.init_arguments(data.to_str().expect("UTF-8")));
    assert!(exit == 2 && error.contains("there is a record already"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    /// Whatever bytes a client sends, the next client is answered.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..9000)) {
        let place = Place::new();
        let _signer = place.start();
        let mut stream = UnixStream::connect(place.socket()).expect("connects");
        let _ = stream.write_all(&bytes);
        drop(stream);
        let answer = talk(&place, b"{\"request\":\"public_key\"}\n", 1);
        prop_assert_eq!(answer[0]["answer"].as_str(), Some("public_key"));
    }
}

#[test]
fn a_service_manager_hears_of_the_start_the_record_and_the_stop() {
    let (place, manager) = (Place::new(), ServiceManager::new());
    let mut command = place.command("true", &["run"]);
    manager.starts(&mut command, Duration::from_millis(500));
    let mut signer = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    let listens = format!("STATUS=listening on {}", place.socket().display());
    assert_eq!(manager.hears(), ["READY=1", listens.as_str()]);
    assert!(UnixStream::connect(place.socket()).is_ok());
    manager.hears_life();
    manager.hears_life();
    signer.signal(Signal::TERM);
    assert_eq!(manager.hears_news()[0], "STOPPING=1");
    assert_eq!(signer.ended(), 0);
}
