//! Programs that are killed between check and write, disks that are full, and files that were forged.

use std::{
    env, fs,
    io::{BufRead, BufReader, ErrorKind, Write},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use sha2::{Digest as _, Sha256};

use super::*;
use crate::file::Step;

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
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "tests::crash::the_child_that_is_killed", "--nocapture"])
            .env(FOLDER, folder.path())
            .env(STEP, number.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("reached")), "the child ended before {step:?}");
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
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
    let step = STEPS[step.parse::<usize>().unwrap()];
    let mut client = open(Path::new(&folder));
    client.interrupt(Box::new(move |at| {
        if at == step {
            println!("\nreached");
            std::io::stdout().flush()?;
            thread::sleep(Duration::from_secs(60));
        }
        Ok(())
    }));
    let _ = client.update(&answers(), NOW, &HEADERS, &mut rng());
    panic!("it should have been killed");
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
    let other = ClientPolicy { chain_id: [1; 32], ..policy() };
    assert!(Client::open(other, &path, &mut rng()).is_err());
    let other = ClientPolicy { pinned: [1; 32], ..policy() };
    assert!(Client::open(other, &path, &mut rng()).is_err());
}

/// A forger who can write the file, and computes the checksum, still cannot make signatures.
#[test]
fn forged_files_are_not_believed() {
    let mut node = Node::new();
    let _ = node.update(&answers());
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
    fs::write(&path, sealed(json)).unwrap();
    assert!(Client::open(policy(), &path, &mut rng()).is_ok());
    for forged in forgeries {
        assert_ne!(forged, json);
        fs::write(&path, sealed(&forged)).unwrap();
        let error = Client::open(policy(), &path, &mut rng()).unwrap_err();
        assert!(matches!(error, RatchetError::Damaged { .. }), "{forged}");
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
