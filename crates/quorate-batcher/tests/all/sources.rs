//! Liars: what they cost, and whom they harm.

use std::{
    num::NonZeroUsize,
    thread,
    time::{Duration, Instant},
};

use quorate::{Backend, ClaimBytes, KeySet, Members, MinPk, MinSig, PublicKeys, Suite, Verdict};
use quorate_batcher::{BatchKind, Batcher, Class, Refused, Settings, SourceSettings, Standing};

use crate::claims::{Seen, block, claim, from, secret};

fn settings() -> Settings {
    Settings { threads: NonZeroUsize::MIN, queue: Duration::from_secs(60), ..Settings::default() }
}

/// One sender fills its share of a batch with lies. It is banned while the search in that batch goes on, so that most of
/// its lies are never looked at, what it has in the queue is refused at once, and everybody else gets verdicts.
#[test]
fn a_sender_is_banned_before_its_batch_has_ended() {
    for backend in Backend::available() {
        let seen = Seen::new();
        let batcher =
            Batcher::start_with(Settings { backend: *backend, ..settings() }, None, Some(seen.clone())).unwrap();
        let lies: Vec<_> = (0..300).map(|i| from(claim(MinPk::Eth2, 1, i, true), 666)).collect();
        let honest: Vec<_> = (0..100).map(|i| from(claim(MinPk::Eth2, 2, i, false), u64::from(i % 10))).collect();
        // All of them wait until a block has been verified.
        let statements: Vec<_> = (0..200).map(|i| claim(MinPk::Eth2, 3, i, false)).collect();
        let block = batcher.submit(block(MinPk::Eth2, &statements), Class::Block, None);
        let submit = |claim| batcher.submit(claim, Class::Gossip, None);
        let lies: Vec<_> = lies.into_iter().map(submit).collect();
        let honest: Vec<_> = honest.into_iter().map(submit).collect();
        assert_eq!(block.wait(), Ok(Verdict::Valid));
        let answers: Vec<_> = lies.into_iter().map(quorate_batcher::Pending::wait).collect();
        assert!(answers.iter().all(|answer| *answer != Ok(Verdict::Valid)));
        let found = answers.iter().filter(|answer| answer.is_ok()).count();
        let refused = answers.iter().filter(|answer| **answer == Err(Refused::Banned)).count();
        assert_eq!(found + refused, 300);
        assert!((3..60).contains(&found), "{found} lies were looked for with {backend:?}");
        assert!(honest.into_iter().all(|pending| pending.wait() == Ok(Verdict::Valid)));
        let bans = seen.bans.lock().unwrap();
        assert_eq!(bans.len(), 1);
        assert_eq!((bans[0].0.as_str(), bans[0].1), ("666", 3));
        let report = &batcher.sources()[0];
        assert_eq!((report.standing, report.evidence.is_empty()), (Standing::Banned, false));
        let late = batcher.submit(from(claim(MinPk::Eth2, 1, 1, false), 666), Class::Gossip, None);
        assert_eq!(late.wait(), Err(Refused::Banned));
        assert!(batcher.pardon(&666.into()));
        let pardoned = batcher.submit(from(claim(MinPk::Eth2, 1, 1, false), 666), Class::Gossip, None);
        assert_eq!(pardoned.wait(), Ok(Verdict::Valid));
    }
}

/// Refused claims, duplicates, claims without a source, and those that an old key set does not fit count for nobody. Only what was
/// proven false does.
#[test]
fn only_proven_lies_count() {
    let batcher = Batcher::start(settings()).unwrap();
    let truth = from(claim(MinPk::Eth2, 1, 1, false), 5);
    for _ in 0..10 {
        assert_eq!(batcher.submit(truth.clone(), Class::Gossip, None).wait(), Ok(Verdict::Valid));
        let late = batcher.submit(truth.clone(), Class::Gossip, Some(Instant::now()));
        assert_eq!(late.wait(), Err(Refused::DeadlinePassed));
        assert!(!batcher.submit(claim(MinPk::Eth2, 1, 1, true), Class::Gossip, None).wait().unwrap().is_valid());
    }
    // A member whom the set does not have yet, one whose proof it does not have, and a set that was taken for another one.
    let mut set = KeySet::new(MinPk::Eth2, Backend::Portable);
    set.push_assumed(secret(MinPk::Eth2, 1).public_key());
    set.push(secret(MinPk::Eth2, 2).public_key());
    let set = set.into_any();
    let (same, other) = (MinPk::Eth2.any(), MinSig::ProofOfPossession.any());
    for (suite, members) in [(same, vec![2]), (same, vec![0, 1]), (other, vec![0])] {
        let public_keys = PublicKeys::Members(set.clone(), Members::Indices(members));
        let claim = ClaimBytes { suite, public_keys, ..truth.clone() };
        assert!(!batcher.submit(claim, Class::Gossip, None).wait().unwrap().is_valid());
    }
    assert!(batcher.sources().is_empty());
    // Bytes that do not decode are proven false by themselves.
    let mut garbage = truth;
    garbage.signature = vec![1; 96];
    assert!(!batcher.submit(garbage, Class::Gossip, None).wait().unwrap().is_valid());
    assert_eq!(batcher.sources()[0].standing, Standing::Suspect);
}

/// After its first lie a source's claims are verified apart from those of honest ones.
#[test]
fn suspects_are_verified_apart() {
    let seen = Seen::new();
    let settings = Settings { longest_wait: Duration::from_millis(40), ..settings() };
    let batcher = Batcher::start_with(settings, None, Some(seen.clone())).unwrap();
    assert!(!batcher.submit(from(claim(MinPk::Eth2, 1, 0, true), 1), Class::Gossip, None).wait().unwrap().is_valid());
    let pending: Vec<_> = (0..40)
        .map(|i| batcher.submit(from(claim(MinPk::Eth2, 2, i, false), u64::from(i % 4)), Class::Gossip, None))
        .collect();
    assert!(pending.into_iter().all(|pending| pending.wait() == Ok(Verdict::Valid)));
    let batches = seen.batches.lock().unwrap();
    let of = |kind| batches.iter().filter(|batch| batch.kind == kind).map(|batch| batch.claims).sum::<usize>();
    assert_eq!((of(BatchKind::Suspects), of(BatchKind::Gossip)), (10, 31));
}

/// Many sources, each banned by another thread's batch, at the same time.
#[test]
fn bans_from_several_workers() {
    let settings = Settings { threads: NonZeroUsize::new(3).unwrap(), ..settings() };
    let batcher = Batcher::start(settings).unwrap();
    thread::scope(|scope| {
        for t in 0..4u64 {
            let batcher = &batcher;
            scope.spawn(move || {
                for i in 0..30u32 {
                    let lie = i % 2 == 0;
                    let answer =
                        batcher.submit(from(claim(MinPk::Eth2, 1, i, lie), 100 + t), Class::Gossip, None).wait();
                    match answer {
                        Ok(verdict) => assert_eq!(verdict.is_valid(), !lie),
                        Err(refused) => assert_eq!(refused, Refused::Banned),
                    }
                }
            });
        }
    });
    assert!(batcher.sources().iter().all(|source| source.standing == Standing::Banned && source.false_claims == 3));
    assert_eq!(batcher.sources().len(), 4);
}

/// New settings judge what comes from then on, and what cannot work changes nothing.
#[test]
fn settings_of_sources_change_while_it_runs() {
    let batcher = Batcher::start(settings()).unwrap();
    let lie = |i| batcher.submit(from(claim(MinPk::Eth2, 1, i, true), 7), Class::Gossip, None).wait();
    assert!(lie(0).is_ok() && lie(1).is_ok());
    let strict = SourceSettings { ban_at: 1.0, ..SourceSettings::default() };
    let wrong = SourceSettings { share: 2.0, ..strict.clone() };
    assert!(batcher.set_sources(wrong).unwrap_err().to_string().contains("sources.share"));
    assert_eq!(batcher.sources()[0].standing, Standing::Suspect, "two lies do not ban");
    batcher.set_sources(strict).unwrap();
    assert!(lie(2).is_ok());
    assert_eq!(batcher.sources()[0].standing, Standing::Banned);
    let other = batcher.submit(from(claim(MinPk::Eth2, 1, 3, true), 8), Class::Gossip, None).wait();
    assert!(other.is_ok());
    assert_eq!(batcher.banned(), 2, "one lie bans now");
    batcher.set_sources(SourceSettings::default()).unwrap();
    assert_eq!(batcher.banned(), 2, "bans in force stay");
}
