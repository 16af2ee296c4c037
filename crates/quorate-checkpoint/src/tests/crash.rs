//! Programs that are killed between check and write, disks that are full, and files that were forged.

use std::{
    env, fs,
    io::{BufRead, BufReader, ErrorKind, Write},
    path::Path,
    process::Stdio,
    thread,
    time::Duration,
};

use quorate_lab::run::{self, Running};
use sha2::{Digest as _, Sha256};

use super::*;
use quorate_host::file::Step;

const STEPS: [Step; 5] = [Step::Create, Step::Write, Step::Flush, Step::Rename, Step::FlushFolder];

fn answers() -> Vec<NodeAnswer> {
    three(&[signed(&at(200), &[0, 1, 2])])
}

fn open(folder: &Path) -> Client {
    Client::open(policy(), &folder.join("ratchet"), &mut rng()).unwrap()
}

/// A child is killed (SIGKILL) in front of each step of writing. Whoever opens the file then finds the old state or the
/// new one, and goes on.
#[test]
fn kill_between_check_and_write() {
    for (number, step) in STEPS.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        assert!(
            open(folder.path())
                .update(&three(&[signed(&at(100), &[0, 1, 2])]), NOW, &HEADERS, &mut rng())
                .decision
                .skips(100)
        );
        run_and_kill("tests::crash::the_child_that_is_killed", folder.path(), number);
        let mut client = open(folder.path());
        let height = if step == Step::FlushFolder { 200 } else { 100 };
        assert_eq!(client.held().unwrap().checkpoint().height, height, "{step:?}");
        assert!(client.decide(NOW, &HEADERS).skips(height));
        assert!(client.update(&answers(), NOW, &HEADERS, &mut rng()).decision.skips(200));
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["ratchet", "ratchet.lock"], "{step:?}");
    }
}

/// Not a test of its own: what the test above runs and kills.
#[test]
fn the_child_that_is_killed() {
    let (Some(folder), Ok(step)) = (env::var_os(FOLDER), env::var(STEP)) else { return };
    let mut client = open(Path::new(&folder));
    client.interrupt(wait_at(STEPS[step.parse::<usize>().unwrap()]));
    let _ = client.update(&answers(), NOW, &HEADERS, &mut rng());
    panic!("it should have been killed");
}

/// A signer is killed while it writes its record, and while it waits for the disk. No signature has left, and none of another
/// checkpoint leaves later if the line is there.
#[test]
fn kill_before_a_signature_leaves() {
    for (number, step) in STEPS.into_iter().enumerate().filter(|(_, step)| matches!(step, Step::Write | Step::Flush)) {
        let folder = tempfile::tempdir().unwrap();
        let printed = run_and_kill("tests::crash::the_signer_that_is_killed", folder.path(), number);
        assert!(!printed.contains("0x"), "{printed}");
        let mut record = SignerRecord::open(&folder.path().join("record"), &key(0).public_key()).unwrap();
        let other = Checkpoint { block_hash: [6; 32], ..at(100) };
        let refused = record.sign(&other, chain().newest(), &key(0));
        match step {
            Step::Write => assert!(refused.is_ok()),
            _ => assert!(matches!(refused, Err(SignError::AnotherAtThisHeight { height: 100, .. }))),
        }
    }
}

/// Not a test of its own: what the test above runs and kills.
#[test]
fn the_signer_that_is_killed() {
    let (Some(folder), Ok(step)) = (env::var_os(FOLDER), env::var(STEP)) else { return };
    let mut record = SignerRecord::begin(&Path::new(&folder).join("record"), &key(0).public_key()).unwrap();
    record.interrupt(wait_at(STEPS[step.parse::<usize>().unwrap()]));
    let posting = record.sign(&at(100), chain().newest(), &key(0)).unwrap();
    println!("{}", serde_json::to_string(&posting).unwrap());
    panic!("it should have been killed");
}

/// Runs a test of this program in a child, and kills it when it has reached a step. Gives what it had printed.
fn run_and_kill(test: &str, folder: &Path, step: usize) -> String {
    let mut command = run::test(test);
    command.env(FOLDER, folder).env(STEP, step.to_string()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = Running::start(&mut command);
    let mut printed = String::new();
    let reached = BufReader::new(process.child.stdout.take().unwrap()).lines().any(|line| {
        printed += &line.unwrap();
        printed.contains("reached")
    });
    assert!(reached, "the child ended before {:?}", STEPS[step]);
    process.kill();
    assert_ne!(process.ended(), 0);
    printed
}

/// Says that a step is reached, and waits there to be killed.
fn wait_at(step: Step) -> quorate_host::file::Before {
    Box::new(move |at| {
        if at == step {
            println!("\nreached");
            std::io::stdout().flush()?;
            thread::sleep(Duration::from_secs(60));
        }
        Ok(())
    })
}

const FOLDER: &str = "QUORATE_CHECKPOINT_TEST_FOLDER";
const STEP: &str = "QUORATE_CHECKPOINT_TEST_STEP";

/// A disk is full at each step. Nothing that was not written is used, and no lie about it remains.
#[test]
fn full_disk() {
    for failing in STEPS {
        let mut node = Node::new();
        node.client.interrupt(Box::new(move |step| match step == failing {
            true => Err(ErrorKind::StorageFull.into()),
            false => Ok(()),
        }));
        let update = node.update(&answers());
        assert!(matches!(why(&update.decision), NotSkipped::NotWritten(_)), "{failing:?}");
        assert!(node.client.held().is_none());
        assert_eq!(why(&node.decide()), NotSkipped::NoCheckpoint);
        let mut node = node.restart();
        assert!(node.update(&answers()).decision.skips(200));
        // An alarm stops also if it cannot be written.
        node.client.interrupt(Box::new(|_| Err(ErrorKind::StorageFull.into())));
        assert!(node.client.refuted(7).is_err());
        assert!(matches!(why(&node.decide()), NotSkipped::Alarm(_)));
    }
}

#[test]
fn torn_and_changed_files_are_refused() {
    let mut node = Node::new();
    let _ = node.update(&answers());
    let Node { client, folder } = node;
    drop(client);
    let path = folder.path().join("ratchet");
    let whole = fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let error = Client::open(policy(), &path, &mut rng()).unwrap_err();
        assert!(matches!(error, RatchetError::Damaged { .. }), "{error}");
    };
    for end in (0..whole.len()).step_by(53).chain([64, 65, whole.len() - 1]) {
        refused(&whole[..end]);
    }
    for place in (0..whole.len()).step_by(31) {
        let mut changed = whole.clone();
        changed[place] ^= 1;
        refused(&changed);
    }
    refused(&[&whole[..], b"\n"].concat());
    fs::write(&path, &whole).unwrap();
    assert!(Client::open(policy(), &path, &mut rng()).unwrap().decide(NOW, &HEADERS).skips(200));
    // The file of another chain is refused before anything is held in it, too.
    let empty = tempfile::tempdir().unwrap();
    let mut begun = open(empty.path());
    assert_eq!(why(&begun.update(&three(&[]), NOW, &HEADERS, &mut rng()).decision), NotSkipped::NoCheckpoint);
    drop(begun);
    let other = ClientPolicy { chain_id: [1; 32], ..policy() };
    for path in [&path, &empty.path().join("ratchet")] {
        let error = Client::open(other.clone(), path, &mut rng()).unwrap_err();
        assert!(matches!(error, RatchetError::OtherChain { found: CHAIN, .. }), "{error}");
    }
    let other = ClientPolicy { pinned: [1; 32], ..policy() };
    let error = Client::open(other, &path, &mut rng()).unwrap_err();
    assert!(matches!(error, RatchetError::OtherPin { .. }), "{error}");
    assert!(!error.to_string().contains("damaged"), "{error}");
}

/// A forger who can write the file, and computes the checksum, still cannot make signatures.
#[test]
fn forged_files_are_not_believed() {
    let mut node = Node::new();
    let _ = node.update(&answers());
    let node_holds = node.client.held().unwrap().to_posting();
    let path = node.folder.path().join("ratchet");
    let whole = fs::read_to_string(&path).unwrap();
    let json = whole.lines().nth(1).unwrap();
    drop(node.client);
    let forgeries = [
        json.replacen("\"height\":200", "\"height\":300", 1),
        json.replacen("\"threshold\":3", "\"threshold\":4", 1),
        json.replacen("\"proven\":0", "\"proven\":201", 1),
        json.replacen("\"index\":1", "\"index\":3", 1),
        json.replacen("\"version\":1,\"chain_id\"", "\"version\":2,\"chain_id\"", 1),
        json.replacen("\"alarm\":null", "\"alarm\":{\"equivocation\":{\"rotations\":[]}}", 1),
    ];
    let sealed = |json: &str| format!("{}\n{json}\n", const_hex::encode(Sha256::digest(json)));
    let held = |posting: &Posting| {
        let (before, after) = (json.find("\"held\":").unwrap(), json.find("\"latest_time\"").unwrap());
        format!("{}\"held\":{},{}", &json[..before], serde_json::to_string(posting).unwrap(), &json[after..])
    };
    assert_eq!(held(&node_holds), json);
    let other = Checkpoint { block_hash: [6; 32], ..at(200) };
    let false_evidence = Equivocation::Checkpoints(Box::new([signed(&at(200), &[0, 1, 2]), signed(&other, &[3, 4])]));
    let false_evidence = serde_json::to_string(&Alarm::Equivocation(false_evidence)).unwrap();
    let forgeries = forgeries.into_iter().chain([
        held(&signed(&at(300), &[0, 1])),
        held(&signed(&Checkpoint { chain_id: [1; 32], ..at(300) }, &[0, 1, 2])),
        json.replacen("\"alarm\":null", &format!("\"alarm\":{false_evidence}"), 1),
    ]);
    fs::write(&path, sealed(json)).unwrap();
    assert!(Client::open(policy(), &path, &mut rng()).is_ok());
    for forged in forgeries {
        assert_ne!(forged, json);
        fs::write(&path, sealed(&forged)).unwrap();
        let error = Client::open(policy(), &path, &mut rng()).unwrap_err();
        // Another threshold is another set, and so another pin.
        assert!(matches!(error, RatchetError::Damaged { .. } | RatchetError::OtherPin { .. }), "{forged}");
    }
}

#[test]
fn one_process_at_a_time() {
    let node = Node::new();
    let path = node.folder.path().join("ratchet");
    let error = Client::open(policy(), &path, &mut rng()).unwrap_err();
    assert!(matches!(error, RatchetError::File(FileError::Locked { .. })), "{error}");
    assert!(error.to_string().contains("used by another process"));
}
