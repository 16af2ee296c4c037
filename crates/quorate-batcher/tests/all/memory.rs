//! A node that restarts knows what it verified before.

use std::{
    num::NonZeroUsize,
    thread,
    time::{Duration, Instant},
};

use quorate::{ClaimBytes, MinPk, Verdict};
use quorate_batcher::{BatchKind, Batcher, Class, KnownStore, OpenedStore, Settings, StoreSettings};

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
    let deadline = Instant::now() + Duration::from_secs(20);
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

/// The store cannot be written: verification goes on, and the fault is told once.
#[test]
fn a_store_that_fails_costs_no_verdict() {
    // A device that is always full cannot hold a database, so the store is opened, and then its folder goes.
    let folder = tempfile::tempdir().unwrap();
    let (batcher, _, _) = start(folder.path(), 100);
    drop(folder);
    let claims: Vec<_> = (0..4).map(|i| claim(MinPk::Basic, 1, i, false)).collect();
    verify(&batcher, &claims);
    assert_eq!(batcher.known(), 4);
}
