//! Answers: one for each claim, the right one, whoever asks and however it ends.

use std::{
    collections::VecDeque,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use quorate::{Backend, ClaimBytes, MinPk, MinSig, Verdict};
use quorate_batcher::{BatchKind, Batcher, Class, Event, Observer, Refused, Settings, SettingsError, StartError};
use quorate_lab::run::LIMIT;

use crate::claims::{Seen, block, claim, from};

fn settings(threads: usize) -> Settings {
    Settings { threads: NonZeroUsize::new(threads).unwrap(), queue: Duration::from_secs(60), ..Settings::default() }
}

/// Claims of both variants, aggregates, and bytes of every kind that does not decode.
fn mixed() -> Vec<ClaimBytes> {
    let mut claims: Vec<_> = (0..40).map(|i| claim(MinPk::Eth2, 1 + (i % 5) as u8, i / 3, i % 7 == 0)).collect();
    claims.extend((0..20).map(|i| claim(MinSig::Basic, 1 + (i % 3) as u8, i, i % 6 == 0)));
    claims.push(block(MinPk::Eth2, &claims[1..6]));
    claims.push(block(MinPk::Eth2, &claims[5..9]));
    let mut bad = claims[1].clone();
    bad.signature.truncate(95);
    claims.push(bad);
    let mut bad = claims[1].clone();
    bad.public_keys.as_encoded_mut().unwrap()[0] = vec![0xc0; 48];
    claims.push(bad);
    claims.push(ClaimBytes { public_keys: vec![].into(), ..claims[1].clone() });
    claims
}

/// Every answer is the verdict that the claim gets alone, whichever batch it was in and whoever waited for it.
#[test]
fn answers_are_those_of_each_claim_alone() {
    let claims = mixed();
    let expected: Vec<_> = claims.iter().map(ClaimBytes::verify).collect();
    for backend in Backend::available() {
        for threads in [1, 2] {
            let batcher = Batcher::start(Settings { backend: *backend, ..settings(threads) }).unwrap();
            let submit = |i: usize, claim: &ClaimBytes| batcher.submit(claim.clone(), Class::ALL[i % 3], None);
            let pending: Vec<_> = claims.iter().enumerate().map(|(i, claim)| submit(i, claim)).collect();
            let answers: Vec<_> = pending.into_iter().map(|pending| pending.wait().unwrap()).collect();
            // Verdicts of flaws can name another reason in a batch: only the truth is compared.
            let valid = |verdicts: &[Verdict]| verdicts.iter().map(|verdict| verdict.is_valid()).collect::<Vec<_>>();
            assert_eq!(valid(&answers), valid(&expected));
            // Again, when single statements are known.
            let again: Vec<_> = claims.iter().enumerate().map(|(i, claim)| submit(i, claim)).collect();
            let again: Vec<_> = again.into_iter().map(|pending| pending.wait().unwrap()).collect();
            assert_eq!(valid(&again), valid(&expected));
        }
    }
}

/// Claims that come together are one batch, also where a worker waits for work and would begin with the first one.
#[test]
fn claims_that_come_together_are_one_batch() {
    let seen = Seen::new();
    let batcher = Batcher::start_with(settings(1), None, Some(seen.clone())).unwrap();
    let mut claims: VecDeque<_> = (0..20).map(|i| claim(MinPk::Eth2, 1, i, i == 7)).collect();
    let pending = batcher.submit_as_fits(&mut claims, Class::Gossip, None);
    assert!(claims.is_empty());
    let answers: Vec<_> = pending.into_iter().map(|pending| pending.wait().unwrap().is_valid()).collect();
    assert_eq!(answers, (0..20).map(|i| i != 7).collect::<Vec<_>>());
    assert_eq!(seen.batches.lock().unwrap().iter().map(|batch| batch.claims).collect::<Vec<_>>(), [20]);
    // What has no room stays with the caller; the first one goes in whatever waits.
    let narrow = Settings { queue: Duration::from_micros(1), ..settings(1) };
    let batcher = Batcher::start(narrow).unwrap();
    let mut claims: VecDeque<_> = (0..5).map(|i| claim(MinPk::Eth2, 1, i, false)).collect();
    let pending = batcher.submit_as_fits(&mut claims, Class::Gossip, None);
    assert_eq!((pending.len(), claims.len()), (1, 4));
    assert_eq!(claims.front().map(|left| &left.messages), Some(&claim(MinPk::Eth2, 1, 1, false).messages));
    pending.into_iter().for_each(|pending| assert!(pending.wait().unwrap().is_valid()));
}

/// Tasks of a runtime with one thread, and threads without a runtime, at the same time.
#[test]
fn tasks_and_threads_ask_at_the_same_time() {
    let batcher = Batcher::start(settings(2)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    thread::scope(|scope| {
        for t in 0..3u32 {
            let batcher = batcher.clone();
            scope.spawn(move || {
                for i in 0..20 {
                    let lie = i % 5 == t;
                    let answer = batcher.submit(claim(MinPk::Eth2, 1, 1000 * t + i, lie), Class::Duty, None).wait();
                    assert_eq!(answer.unwrap().is_valid(), !lie);
                }
            });
        }
        runtime.block_on(async {
            let ticks = tokio::spawn(async {
                let mut ticks = 0;
                loop {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    ticks += 1;
                    if ticks == 30 {
                        return;
                    }
                }
            });
            for i in 0..20 {
                let answer = batcher.submit(claim(MinSig::Basic, 2, i, i == 3), Class::Gossip, None).await;
                assert_eq!(answer.unwrap().is_valid(), i != 3);
            }
            // The runtime's only thread was never blocked by a verification.
            tokio::time::timeout(LIMIT, ticks).await.unwrap().unwrap();
        });
    });
}

/// Claims with one message that arrive between others are verified in one batch: all but the first, which the idle worker takes.
#[test]
fn what_arrives_together_is_verified_together() {
    let seen = Seen::new();
    let batcher = Batcher::start_with(settings(1), None, Some(seen.clone())).unwrap();
    let claims: Vec<_> = (0..30).map(|i| claim(MinPk::Eth2, i, u32::from(i % 3), false)).collect();
    let pending: Vec<_> = claims.into_iter().map(|claim| batcher.submit(claim, Class::Gossip, None)).collect();
    assert!(pending.into_iter().all(|pending| pending.wait() == Ok(Verdict::Valid)));
    let batches = seen.batches.lock().unwrap();
    assert_eq!(batches.iter().map(|batch| batch.claims).sum::<usize>(), 30);
    // The worker may begin while they are still handed in, and again.
    assert!(batches.len() <= 8, "{batches:?}");
    // One pairing for each message, and those of the signatures.
    let work = batches.iter().max_by_key(|batch| batch.claims).unwrap().work;
    assert!(work.hashes <= 3 && work.pairings <= 8, "{work:?}");
}

/// A block is answered while gossip keeps every worker busy, and uses what gossip has proven.
#[test]
fn a_block_subtracts_what_gossip_has_proven() {
    let seen = Seen::new();
    let batcher = Batcher::start_with(settings(1), None, Some(seen.clone())).unwrap();
    let transactions: Vec<_> = (0..20).map(|i| claim(MinPk::Basic, 1 + (i % 4) as u8, i, false)).collect();
    let first: Vec<_> =
        transactions[..18].iter().map(|claim| batcher.submit(claim.clone(), Class::Gossip, None)).collect();
    assert!(first.into_iter().all(|pending| pending.wait() == Ok(Verdict::Valid)));
    assert_eq!(batcher.known(), 18);
    let known = block(MinPk::Basic, &transactions);
    assert_eq!(batcher.knows(&known).iter().filter(|known| **known).count(), 18);
    let busy: Vec<_> = (0..200).map(|i| batcher.submit(claim(MinPk::Eth2, 9, i, false), Class::Gossip, None)).collect();
    assert_eq!(batcher.submit(known, Class::Block, None).wait(), Ok(Verdict::Valid));
    // A block with the same statements and another sum is false, although all of its statements are known.
    let mut forged = block(MinPk::Basic, &transactions[..18]);
    forged.signature = block(MinPk::Basic, &transactions[..17]).signature;
    assert!(!batcher.submit(forged, Class::Block, None).wait().unwrap().is_valid());
    assert!(busy.into_iter().all(|pending| pending.wait() == Ok(Verdict::Valid)));
    let batches = seen.batches.lock().unwrap();
    let blocks: Vec<_> = batches.iter().filter(|batch| batch.kind == BatchKind::Block).collect();
    assert_eq!(blocks.iter().map(|batch| batch.subtracted).collect::<Vec<_>>(), [18, 18]);
    drop(batches);
    batcher.forget_known();
    assert_eq!(batcher.known(), 0);
}

/// Stopping answers what waits. What does not fit before the time is refused, and so is what comes later.
#[test]
fn a_stop_leaves_nobody_without_an_answer() {
    for by in [Duration::from_secs(60), Duration::ZERO] {
        let seen = Seen::new();
        let settings = Settings { backend: Backend::Portable, linger: Duration::from_secs(30), ..settings(1) };
        let batcher = Batcher::start_with(settings, None, Some(seen)).unwrap();
        let pending: Vec<_> =
            (0..60).map(|i| batcher.submit(claim(MinPk::Eth2, 1, i, false), Class::Gossip, None)).collect();
        batcher.stop(Instant::now() + by);
        let answers: Vec<_> = pending.into_iter().map(quorate_batcher::Pending::wait).collect();
        assert!(answers.iter().all(|answer| matches!(answer, Ok(Verdict::Valid) | Err(Refused::Stopped))));
        if !by.is_zero() {
            assert!(answers.iter().all(Result::is_ok));
        }
        let late = batcher.submit(claim(MinPk::Eth2, 1, 1, false), Class::Block, None);
        assert_eq!(late.wait(), Err(Refused::Stopped));
        assert!(batcher.load().stopping && !batcher.load().is_ready());
        batcher.stop(Instant::now());
    }
}

/// Dropping the last clone answers everything, and ends the threads.
#[test]
fn a_drop_leaves_nobody_without_an_answer() {
    let settings = Settings { longest_wait: Duration::from_secs(30), ..settings(2) };
    let batcher = Batcher::start(settings).unwrap();
    let clone = batcher.clone();
    // The second claim of a suspect waits.
    let of_suspect = |i, lie| clone.submit(from(claim(MinPk::Eth2, 1, i, lie), 7), Class::Gossip, None);
    assert!(!of_suspect(0, true).wait().unwrap().is_valid());
    let pending = of_suspect(1, false);
    drop(batcher);
    drop(clone);
    assert_eq!(pending.wait(), Err(Refused::Stopped));
}

/// A pending answer that nobody waits for is not a problem, and the claim is verified nevertheless.
#[test]
fn an_answer_that_nobody_waits_for() {
    let batcher = Batcher::start(settings(1)).unwrap();
    drop(batcher.submit(claim(MinPk::Eth2, 1, 1, false), Class::Gossip, None));
    let other = batcher.submit(claim(MinPk::Eth2, 1, 2, false), Class::Gossip, None);
    assert_eq!(other.wait(), Ok(Verdict::Valid));
    assert_eq!(batcher.known(), 2);
}

/// Ten times more than fits: every claim has an answer, what waits stays within its limit, and it recovers.
#[test]
fn an_overload_is_told_once_and_ends() {
    let seen = Seen::new();
    let settings = Settings { backend: Backend::Portable, queue: Duration::from_millis(20), ..settings(1) };
    let batcher = Batcher::start_with(settings, None, Some(seen.clone())).unwrap();
    let claims: Vec<_> = (0..40).map(|i| claim(MinPk::Eth2, 1, i, false)).collect();
    let mut pending = Vec::new();
    for i in 0..600 {
        pending.push(batcher.submit(claims[i % 40].clone(), Class::Gossip, None));
        // A batch that took longer than its plan makes more of what waits, until the next claim comes: a busy machine takes many times as
        // long. The exact bound is proved by the tests of the schedule, whose clock is their own.
        let load = batcher.load();
        assert!(load.waiting_us() <= 40 * load.capacity_us, "{load:?}");
    }
    let answers: Vec<_> = pending.into_iter().map(quorate_batcher::Pending::wait).collect();
    let refused = answers.iter().filter(|answer| **answer == Err(Refused::Overloaded)).count();
    assert!(
        refused > 0 && answers.iter().all(|answer| matches!(answer, Ok(Verdict::Valid) | Err(Refused::Overloaded)))
    );
    let deadline = Instant::now() + LIMIT;
    while !batcher.load().is_ready() {
        assert!(Instant::now() < deadline, "it does not recover: {:?}", batcher.load());
        thread::sleep(Duration::from_millis(1));
    }
    let others = seen.others.lock().unwrap();
    let begins = others.iter().filter(|event| *event == "OverloadBegins").count();
    assert_eq!(others.iter().filter(|event| event.starts_with("OverloadEnds")).count(), begins);
    assert!(begins >= 1, "{others:?}");
    assert_eq!(seen.refused.lock().unwrap().len(), refused);
}

#[test]
fn a_deadline_that_passed_is_refused() {
    let batcher = Batcher::start(settings(1)).unwrap();
    let pending = batcher.submit(claim(MinPk::Eth2, 1, 1, false), Class::Gossip, Some(Instant::now()));
    assert_eq!(pending.wait(), Err(Refused::DeadlinePassed));
    let soon =
        batcher.submit(claim(MinPk::Eth2, 1, 1, false), Class::Gossip, Some(Instant::now() + Duration::from_secs(600)));
    assert_eq!(soon.wait(), Ok(Verdict::Valid));
}

/// An observer that panics costs nobody an answer.
#[test]
fn an_observer_that_panics() {
    struct Panics;
    impl Observer for Panics {
        fn observe(&self, _: &Event<'_>) {
            panic!("as the test wants");
        }
    }
    let batcher = Batcher::start_with(settings(1), None, Some(Arc::new(Panics))).unwrap();
    for i in 0..3 {
        let answer = batcher.submit(from(claim(MinPk::Eth2, 1, i, true), 1), Class::Gossip, None).wait();
        assert!(!answer.unwrap().is_valid());
    }
    assert_eq!(
        batcher.submit(from(claim(MinPk::Eth2, 1, 9, false), 1), Class::Gossip, None).wait(),
        Err(Refused::Banned)
    );
    assert_eq!(batcher.submit(claim(MinPk::Eth2, 1, 9, false), Class::Gossip, None).wait(), Ok(Verdict::Valid));
}

#[test]
fn settings_that_cannot_work_do_not_start() {
    let error = Batcher::start(Settings { target: Duration::ZERO, ..Settings::default() }).unwrap_err();
    assert!(matches!(error, StartError::Settings(SettingsError::Zero("target"))));
}

/// A watchdog sees a worker that hangs, although others answer.
#[test]
fn the_pulse_stands_still_while_a_worker_hangs() {
    #[derive(Default)]
    struct Hangs(Mutex<()>, AtomicBool);
    impl Observer for Hangs {
        fn observe(&self, event: &Event<'_>) {
            if matches!(event, Event::Batch(report) if report.kind == BatchKind::Gossip) {
                self.1.store(true, Ordering::Relaxed);
                drop(self.0.lock().unwrap());
            }
        }
    }
    let hangs = Arc::new(Hangs::default());
    let batcher = Batcher::start_with(settings(1), None, Some(hangs.clone())).unwrap();
    let moves = |patience: Duration| {
        let (begun, before) = (Instant::now(), batcher.pulse());
        while begun.elapsed() < patience {
            if batcher.pulse().has_moved_since(before) {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    };
    assert!(moves(Duration::from_secs(60)), "workers that sleep are woken");
    let hanging = hangs.0.lock().unwrap();
    let pending = batcher.submit(claim(MinPk::Eth2, 1, 1, false), Class::Gossip, None);
    while !hangs.1.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(5));
    }
    // The worker of blocks goes on, and alone it is no sign of life.
    let blocks = batcher.submit(claim(MinPk::Eth2, 1, 2, false), Class::Block, None);
    assert!(blocks.wait().unwrap().is_valid());
    assert!(!moves(Duration::from_millis(300)));
    drop(hanging);
    assert!(moves(Duration::from_secs(60)) && pending.wait().unwrap().is_valid());
}
