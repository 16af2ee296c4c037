//! A node that restarts knows what it verified before.

use std::{
    num::NonZeroUsize,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use quorate::{ClaimBytes, MinPk, Soundness, Verdict};
use quorate_batcher::{BatchKind, Batcher, Class, KnownStore, OpenedStore, Settings, StoreSettings};
use quorate_lab::run::LIMIT;

use crate::claims::{Seen, block, claim};

fn start(folder: &std::path::Path, known: usize) -> (Batcher, std::sync::Arc<Seen>, OpenedStore) {
    let (store, opened) = KnownStore::open(folder, StoreSettings::default()).unwrap();
    let seen = Seen::new();
    let settings =
        Settings { threads: NonZeroUsize::MIN, known, queue: Duration::from_secs(60), ..Settings::default() };
    (Batcher::start_with(settings, Some(store), Some(seen.clone())).unwrap(), seen, opened)
}

fn verify(batcher: &Batcher, claims: &[ClaimBytes]) {
    let pending: Vec<_> = claims.iter().map(|claim| batcher.submit(claim.clone(), Class::Gossip, None)).collect();
    assert!(pending.into_iter().all(|pending| pending.wait() == Ok(Verdict::Valid)));
}

pub(crate) fn wait_until_stored(seen: &Seen, statements: usize) {
    let deadline = Instant::now() + LIMIT;
    while *seen.stored.lock().unwrap() < statements {
        assert!(Instant::now() < deadline, "{} of {statements}", seen.stored.lock().unwrap());
        thread::sleep(Duration::from_millis(2));
    }
}

/// Gossip is verified, the node restarts, and the block costs no more than before: from memory if the statements fit
/// there, from the disk if they do not.
#[test]
fn a_block_after_a_restart_subtracts_what_was_stored() {
    let transactions: Vec<_> = (0..24).map(|i| claim(MinPk::Basic, 1 + (i % 4) as u8, i, false)).collect();
    for known in [1000, 8] {
        let folder = tempfile::tempdir().unwrap();
        let (batcher, seen, opened) = start(folder.path(), known);
        assert_eq!(opened, OpenedStore::New);
        verify(&batcher, &transactions[..22]);
        // What is not a single statement, or false, or known, is not stored.
        assert_eq!(
            batcher.submit(block(MinPk::Basic, &transactions[..3]), Class::Gossip, None).wait(),
            Ok(Verdict::Valid)
        );
        assert!(!batcher.submit(claim(MinPk::Basic, 1, 99, true), Class::Gossip, None).wait().unwrap().is_valid());
        wait_until_stored(&seen, 22);
        drop(batcher);

        let (batcher, seen, opened) = start(folder.path(), known);
        assert_eq!(opened, OpenedStore::Existing { records: 22 });
        assert_eq!(batcher.known(), 22.min(known / 2));
        assert_eq!(batcher.submit(block(MinPk::Basic, &transactions), Class::Block, None).wait(), Ok(Verdict::Valid));
        let batches = seen.batches.lock().unwrap();
        let [report] = &batches[..] else { panic!("{batches:?}") };
        assert_eq!(report.kind, BatchKind::Block);
        // A memory of eight statements holds four at the start, recalls the others, and forgets some of these.
        let least = if known == 1000 { 22 } else { 5 };
        assert!((least..=22).contains(&report.subtracted), "{report:?}");
    }
}

/// The settings of a server change, and its store is of the time before.
#[test]
fn a_batcher_knows_nothing_that_was_verified_with_a_weaker_bound() {
    let folder = tempfile::tempdir().unwrap();
    let transactions: Vec<_> = (0..4).map(|i| claim(MinPk::Basic, 1, i, false)).collect();
    let start = |soundness| {
        let (store, _) = KnownStore::open(folder.path(), StoreSettings::default()).unwrap();
        let settings =
            Settings { threads: NonZeroUsize::MIN, soundness, queue: Duration::from_secs(60), ..Settings::default() };
        let seen = Seen::new();
        (Batcher::start_with(settings, Some(store), Some(seen.clone())).unwrap(), seen)
    };
    let (batcher, seen) = start(Soundness::Bits64);
    verify(&batcher, &transactions);
    wait_until_stored(&seen, 4);
    drop(batcher);
    for (soundness, known) in [(Soundness::Bits128, 0), (Soundness::Bits64, 4)] {
        let (batcher, _) = start(soundness);
        assert_eq!(batcher.known(), known, "{soundness:?}");
    }
    // What the stricter one verifies is known to both.
    let (batcher, seen) = start(Soundness::Bits128);
    verify(&batcher, &transactions[..2]);
    wait_until_stored(&seen, 2);
    drop(batcher);
    for (soundness, known) in [(Soundness::Bits128, 2), (Soundness::Bits64, 4)] {
        let (batcher, _) = start(soundness);
        assert_eq!(batcher.known(), known, "{soundness:?}");
    }
}

/// A block over one message is hashed and paired once, whatever is known of it: what is read from the store for it costs time alone.
#[test]
fn a_block_over_one_message_recalls_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let votes: Vec<_> = (1..7).map(|key| claim(MinPk::Eth2, key, 1, false)).collect();
    let others: Vec<_> = (0..8).map(|i| claim(MinPk::Eth2, 1, 100 + i, false)).collect();
    let (store, _) = KnownStore::open(folder.path(), StoreSettings::default()).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    store.put(&votes, now - 60).unwrap();
    store.put(&others, now).unwrap();
    drop(store);
    // The memory holds four of the newest at the start, which are others.
    let (batcher, seen, _) = start(folder.path(), 8);
    let several = ClaimBytes { messages: votes[0].messages.clone(), ..block(MinPk::Eth2, &votes) };
    // A statement alone saves its hash and its pairing.
    for (claim, subtracted) in [(several, 0), (votes[0].clone(), 1)] {
        assert_eq!(batcher.submit(claim, Class::Block, None).wait(), Ok(Verdict::Valid));
        assert_eq!(seen.batches.lock().unwrap().pop().unwrap().subtracted, subtracted);
    }
}
