//! kill -9 at random moments: what was acknowledged is there, and nothing else ever is.

use std::{
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::Stdio,
    thread,
    time::Duration,
};

use quorate::{ClaimBytes, MinPk, Suite};
use quorate_batcher::{KnownStore, OpenedStore, StoreSettings};
use quorate_lab::run::{Running, test};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};

const NOW: u64 = 1_790_000_000;
/// Set in the process that writes and is killed.
const FOLDER: &str = "QUORATE_KILLED_STORE";

fn claim(i: u64) -> ClaimBytes {
    ClaimBytes::single(MinPk::Eth2.any(), &[7; 48], &i.to_be_bytes(), &[i.to_le_bytes(); 12].concat())
}

/// Not a test but the process that is killed: it writes for ever, and says what it has written.
#[test]
fn writer() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let (store, opened) = KnownStore::open(Path::new(&folder), StoreSettings::default()).unwrap();
    let mut next = match opened {
        OpenedStore::Existing { records } => records,
        OpenedStore::New => 0,
        other => panic!("{other:?}"),
    };
    loop {
        let n = 1 + next % 97;
        store.put(&(next..next + n).map(claim).collect::<Vec<_>>(), NOW).unwrap();
        next += n;
        println!("acknowledged {next}");
    }
}

/// One store that is killed again and again. Each time it opens, with everything that was acknowledged.
fn kill(times: u32, seed: u8) {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    let mut acknowledged = 0;
    // Before it is killed, in microseconds.
    let mut most = 60_000;
    for time in 0..times {
        let mut writer = test("kill::writer");
        let writer = writer.env(FOLDER, folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut writer = Running::start(writer);
        let lines = BufReader::new(writer.child.stdout.take().unwrap()).lines();
        // What the child printed before it was killed is read to the end.
        let reader = thread::spawn(move || {
            let said = lines.map_while(Result::ok);
            let numbers = said.filter_map(|line| line.rsplit_once("acknowledged ")?.1.parse::<u64>().ok());
            numbers.last()
        });
        thread::sleep(Duration::from_micros(u64::from(rng.next_u32() % most)));
        writer.kill();
        acknowledged = reader.join().unwrap().unwrap_or(acknowledged);
        if acknowledged == 0 {
            // A slow machine needs longer to start the program and to write the first record.
            most = (most * 2).min(20_000_000);
        }
        let (store, opened) = KnownStore::open(folder.path(), StoreSettings::default()).unwrap();
        let records = store.records().unwrap();
        assert!(matches!(opened, OpenedStore::Existing { .. } | OpenedStore::New), "{opened:?} after kill {time}");
        assert!(records >= acknowledged, "{records} of {acknowledged} after kill {time}");
        // The last ones, and some of all.
        let last = acknowledged.saturating_sub(100)..acknowledged;
        let some: Vec<_> = (0..50).map(|_| rng.next_u64() % (records + 1)).collect();
        for i in last.chain(some.into_iter().filter(|i| *i < acknowledged)) {
            assert_eq!(store.signature(&claim(i), 0, NOW).unwrap(), Some(claim(i).signature), "record {i}");
        }
        for i in acknowledged..records + 200 {
            let signature = store.signature(&claim(i), 0, NOW).unwrap();
            assert!(signature.is_none_or(|signature| signature == claim(i).signature), "record {i}");
        }
    }
    assert!(acknowledged > 0, "nothing was ever written");
    println!("{times} kills, {acknowledged} records acknowledged, none lost");
}

#[test]
fn nothing_acknowledged_is_lost_by_kill_9() {
    kill(25, 1);
}

/// `make soak` runs it.
#[test]
#[ignore = "takes minutes"]
fn soak_a_thousand_kills() {
    for seed in 0..10 {
        kill(100, seed);
    }
}
