//! The schedule at times that the tests choose.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use quorate::{Backend, MinPk, Suite};

use super::*;
use crate::{pool::Appraiser, settings::SourceSettings};

const MS: Duration = Duration::from_millis(1);

fn settings() -> Settings {
    Settings { backend: Backend::Portable, threads: NonZeroUsize::MIN, ..Settings::default() }
}

fn claim(message: u32, source: Option<u64>) -> ClaimBytes {
    let key = message.to_be_bytes();
    ClaimBytes {
        source: source.map(SourceId::from),
        ..ClaimBytes::single(MinPk::Eth2.any(), &key, &message.to_be_bytes(), &[])
    }
}

/// How many claims with messages of their own fill a time.
fn claims_in(time: Duration) -> usize {
    let alone = Forecast::of(&claim(0, None), Backend::Portable).alone();
    (time.as_nanos() as u64 / alone) as usize
}

struct Rig {
    appraiser: Appraiser,
    schedule: Schedule<u32>,
    start: Instant,
    /// By asker: what was answered without a verdict.
    refused: BTreeMap<u32, Refused>,
    overloads: Vec<OverloadChange>,
    next: u32,
}

impl Rig {
    fn new(settings: Settings) -> Self {
        let (schedule, start, appraiser) = (Schedule::new(settings), Instant::now(), Appraiser::new(Backend::Portable));
        Self { appraiser, schedule, start, refused: BTreeMap::new(), overloads: Vec::new(), next: 0 }
    }

    fn at(&self, ms: u64) -> Instant {
        self.start + MS * u32::try_from(ms).unwrap()
    }

    fn admit(&mut self, ms: u64, class: Class, source: Option<u64>, deadline: Option<u64>) -> u32 {
        let asker = self.next;
        self.next += 1;
        let deadline = deadline.map(|ms| self.at(ms));
        let now = self.at(ms);
        let waiting = self.appraiser.appraise(claim(asker, source), class, deadline, asker, now);
        let (rejected, change) = self.schedule.admit(waiting);
        self.keep(rejected);
        self.overloads.extend(change);
        asker
    }

    /// A claim with many statements, and a message that makes it long: whom of those that wait it cost an answer.
    fn admit_large(&mut self, ms: u64, source: Option<u64>, statements: u32, bytes: usize) -> (u32, Vec<u32>) {
        let asker = self.next;
        self.next += 1;
        let mut messages: Vec<_> = (0..statements).map(|i| (asker, i)).map(|i| format!("{i:?}").into_bytes()).collect();
        messages[0].resize(bytes, 0);
        let claim = ClaimBytes {
            public_keys: vec![vec![1; 48]; statements as usize].into(),
            messages: quorate::Messages::Each(messages.into_iter().map(Into::into).collect()),
            ..claim(asker, source)
        };
        let waiting = self.appraiser.appraise(claim, Class::Gossip, None, asker, self.at(ms));
        let (rejected, _) = self.schedule.admit(waiting);
        let refused = rejected.iter().map(|(waiting, _)| waiting.asker).collect();
        self.keep(rejected);
        (asker, refused)
    }

    fn keep(&mut self, rejected: Vec<Rejected<u32>>) {
        for (waiting, refused) in rejected {
            assert_eq!(self.refused.insert(waiting.asker, refused), None, "{} was answered twice", waiting.asker);
        }
    }

    fn next(&mut self, ms: u64, role: Role) -> Next<u32> {
        let now = self.at(ms);
        let (next, rejected) = self.schedule.next(role, now);
        self.keep(rejected);
        next
    }

    fn batch(&mut self, ms: u64) -> Batch<u32> {
        match self.next(ms, Role::All) {
            Next::Batch(batch) => batch,
            other => panic!("{other:?}"),
        }
    }

    /// Begins a batch of one claim at once, so that the next claims have a reason to wait.
    fn begin(&mut self, ms: u64) {
        let first = self.admit(ms, Class::Gossip, None, None);
        let batch = self.batch(ms);
        assert_eq!((askers(&batch), batch.closed_by), (vec![first], ClosedBy::Idle));
        self.done(&batch);
    }

    fn done(&mut self, batch: &Batch<u32>) {
        let Batch { kind, planned_by_table, planned, .. } = *batch;
        self.schedule.done(kind, planned_by_table, planned, false);
    }

    /// Whether there is room for a claim of one statement.
    fn has_room(&self, ms: u64, class: Class, source: Option<u64>) -> bool {
        let claim = claim(0, source);
        let work = Forecast::of(&claim, Backend::Portable).alone();
        self.schedule.has_room(class, claim.source.as_ref(), work, self.at(ms))
    }

    fn found_false(&mut self, ms: u64, asker: u32, source: u64) -> bool {
        let now = self.at(ms);
        let banned = self.schedule.found_false(&claim(asker, Some(source)), Reason::Mismatch, now);
        let is_banned = banned.is_some();
        self.keep(banned.into_iter().flat_map(|banned| banned.evicted).collect());
        is_banned
    }
}

fn askers(batch: &Batch<u32>) -> Vec<u32> {
    batch.claims.iter().map(|waiting| waiting.asker).collect()
}

/// How long workers pay for the beginning of a batch: of one worker, eight times what that takes; of eight and more, that time.
fn paid_by_one_batch(threads: usize) -> Duration {
    Duration::from_nanos(Forecast::of_batch(Backend::Portable) * 8 / threads.min(8) as u64)
}

/// Who comes to an idle machine waits for nothing.
#[test]
fn a_lone_claim_is_verified_at_once() {
    let mut rig = Rig::new(settings());
    for ms in [0, 20, 1000] {
        let lone = rig.admit(ms, Class::Gossip, None, None);
        assert!(rig.schedule.next_close(rig.at(ms)).unwrap() <= rig.at(ms));
        let batch = rig.batch(ms);
        assert_eq!((askers(&batch), batch.closed_by, batch.kind), (vec![lone], ClosedBy::Idle, BatchKind::Gossip));
        rig.done(&batch);
        assert!(matches!(rig.next(ms, Role::All), Next::Idle));
    }
}

/// The first claims of a burst go at once, one to each worker, however long the workers were idle. The others gather although a
/// worker is idle, until the workers have paid for the beginning of another batch, and are verified together.
#[test]
fn a_burst_gathers_behind_its_first_claims() {
    for threads in [1, 4, 32] {
        let mut rig = Rig::new(Settings { threads: NonZeroUsize::new(threads).unwrap(), ..settings() });
        for ms in [0, 1000] {
            (0..threads).for_each(|_| rig.begin(ms));
            let others: Vec<_> = (0..20).map(|_| rig.admit(ms, Class::Gossip, None, None)).collect();
            let paid = rig.at(ms) + paid_by_one_batch(threads);
            assert!(matches!(rig.next(ms, Role::All), Next::At(at) if at == paid), "{threads}");
            assert_eq!(rig.schedule.next_close(rig.at(ms)), Some(paid));
            let batch = rig.batch(ms + 5);
            assert_eq!((askers(&batch), batch.closed_by), (others, ClosedBy::Idle));
            rig.done(&batch);
        }
    }
}

/// Claims come one after another, so many at a time with a gap in milliseconds, to workers that are idle in between: how many
/// batches they make in two seconds, and how long one waits at most, in milliseconds.
fn stream(threads: usize, at_a_time: usize, gap: u64) -> (usize, u128) {
    let mut rig = Rig::new(Settings { threads: NonZeroUsize::new(threads).unwrap(), ..settings() });
    let (mut batches, mut longest) = (0, 0);
    for ms in 0..2000 {
        for _ in 0..if ms % gap == 0 { at_a_time } else { 0 } {
            rig.admit(ms, Class::Gossip, None, None);
            while let Next::Batch(batch) = rig.next(ms, Role::All) {
                let waits = batch.claims.iter().map(|waiting| rig.at(ms).duration_since(waiting.arrived).as_millis());
                longest = waits.fold(longest, u128::max);
                batches += 1;
                rig.done(&batch);
            }
        }
    }
    (batches, longest)
}

/// Of a steady stream the beginning of batches takes an eighth of the workers' time, or the time of one of them if they are more
/// than eight, however many of them are idle.
#[test]
fn a_steady_stream_makes_batches() {
    for threads in [1, 4, 16] {
        let (batches, longest) = stream(threads, 2 * threads, 1);
        let begun = batches as f64 * Forecast::of_batch(Backend::Portable) as f64 / 1e9;
        let part = begun / 2.0 / (threads as f64 / 8.0).min(1.0);
        assert!((0.9..1.03).contains(&part), "{part} of what {threads} workers pay");
        assert!(longest <= 5, "{longest} ms with {threads} workers");
    }
}

/// Where claims come with longer gaps, each goes at once, on as many workers as come at a time.
#[test]
fn a_slow_stream_waits_for_nothing() {
    assert_eq!(stream(1, 1, 5), (400, 0));
    assert_eq!(stream(16, 8, 5), (8 * 400, 0));
}

/// A caller that asks one by one waits beside an idle worker: what the beginning of its last batch cost is not paid yet. It waits until
/// that is paid, and no longer than `linger`.
#[test]
fn a_lone_caller_waits_no_longer_than_linger() {
    let paid = paid_by_one_batch(1);
    for (linger, waits) in [(MS / 10, MS / 10), (100 * MS, paid)] {
        let mut rig = Rig::new(Settings { linger, ..settings() });
        rig.begin(0);
        rig.admit(0, Class::Gossip, None, None);
        let close = rig.start + waits;
        assert!(matches!(rig.next(0, Role::All), Next::At(at) if at == close), "{linger:?}");
    }
}

/// `linger` is the longest wait beside an idle worker, and a batch that is full does not wait.
#[test]
fn a_batch_closes_when_it_is_full_or_has_waited() {
    let mut rig = Rig::new(Settings { linger: 2 * MS, ..settings() });
    rig.begin(0);
    rig.admit(1, Class::Gossip, None, None);
    assert!(matches!(rig.next(1, Role::All), Next::At(at) if at == rig.at(3)));
    assert_eq!(rig.schedule.next_close(rig.at(1)), Some(rig.at(3)));
    rig.admit(2, Class::Gossip, None, None);
    let batch = rig.batch(3);
    assert_eq!((askers(&batch), batch.closed_by, batch.kind), (vec![1, 2], ClosedBy::Wait, BatchKind::Gossip));
    rig.done(&batch);
    for _ in 0..claims_in(25 * MS) + 1 {
        rig.admit(4, Class::Gossip, None, None);
    }
    let batch = rig.batch(4);
    assert_eq!(batch.closed_by, ClosedBy::Full);
    assert!(batch.planned >= 25 * MS && batch.planned < 27 * MS, "{:?}", batch.planned);
    assert!(matches!(rig.next(4, Role::All), Next::At(_) | Next::Idle));
}

/// A target that no clock reaches panicked in every worker.
#[test]
fn a_target_without_an_end_is_no_fault() {
    let mut rig = Rig::new(Settings { target: Duration::MAX, queue: Duration::MAX, ..settings() });
    let (lone, duty) = (rig.admit(0, Class::Gossip, Some(7), None), rig.admit(0, Class::Duty, None, Some(60_000)));
    let batch = rig.batch(0);
    assert_eq!(askers(&batch), [duty, lone]);
    rig.done(&batch);
    rig.found_false(0, 1000, 7);
    let suspect = rig.admit(0, Class::Gossip, Some(7), None);
    let batch = rig.batch(100);
    assert_eq!((askers(&batch), batch.kind), (vec![suspect], BatchKind::Suspects));
}

/// Batches that had to begin, however soon after one another, leave no debt: the next claims wait as after one batch.
#[test]
fn batches_that_had_to_begin_leave_no_debt() {
    let mut rig = Rig::new(Settings { linger: 100 * MS, ..settings() });
    for _ in 0..10 {
        rig.admit(0, Class::Gossip, None, Some(1));
        let batch = rig.batch(0);
        rig.done(&batch);
    }
    rig.admit(0, Class::Gossip, None, None);
    assert_eq!(rig.schedule.next_close(rig.start), Some(rig.start + paid_by_one_batch(1)));
}

/// A batch closes so early before a deadline that the planned work ends in time. Who comes too late is told so.
#[test]
fn deadlines_close_batches_and_pass() {
    let mut rig = Rig::new(Settings { linger: 80 * MS, ..settings() });
    rig.begin(0);
    rig.admit(0, Class::Gossip, None, None);
    rig.admit(0, Class::Duty, None, Some(4));
    let Next::At(close) = rig.next(0, Role::All) else { panic!("nothing is planned") };
    assert!(close > rig.at(1) && close < rig.at(3), "{:?}", close - rig.start);
    let batch = rig.batch(3);
    assert_eq!((askers(&batch), batch.closed_by, batch.kind), (vec![2, 1], ClosedBy::Deadline, BatchKind::Duty));
    rig.done(&batch);
    let late = rig.admit(30, Class::Gossip, None, Some(30));
    assert_eq!(rig.refused[&late], Refused::DeadlinePassed);
    let passed = rig.admit(30, Class::Gossip, None, Some(40));
    let block = rig.admit(30, Class::Block, None, Some(40));
    assert!(!matches!(rig.next(41, Role::All), Next::Batch(_)));
    assert_eq!((rig.refused[&passed], rig.refused[&block]), (Refused::DeadlinePassed, Refused::DeadlinePassed));
    assert!(rig.schedule.is_done());
}

/// The claims of a suspect wait for those of others of their kind, also if the machine is idle, and their batches pay for nothing.
#[test]
fn suspects_wait_on_an_idle_machine() {
    let mut rig = Rig::new(settings());
    rig.found_false(0, 1000, 7);
    rig.admit(0, Class::Gossip, Some(7), None);
    assert!(matches!(rig.next(0, Role::All), Next::At(at) if at == rig.at(100)));
    let batch = rig.batch(100);
    assert_eq!((batch.kind, batch.closed_by), (BatchKind::Suspects, ClosedBy::Wait));
    let honest = rig.admit(100, Class::Gossip, Some(8), None);
    assert_eq!(askers(&rig.batch(100)), [honest]);
}

/// A block is taken at once by the worker that waits for blocks, and no other batch starts before it is done.
#[test]
fn a_block_waits_for_nothing_and_others_wait_for_it() {
    let mut rig = Rig::new(settings());
    let gossip = rig.admit(0, Class::Gossip, None, None);
    assert!(matches!(rig.next(0, Role::Blocks), Next::Idle));
    let block = rig.admit(1, Class::Block, None, None);
    let Next::Batch(batch) = rig.next(1, Role::Blocks) else { panic!("the block waits") };
    assert_eq!((askers(&batch), batch.kind, batch.closed_by), (vec![block], BatchKind::Block, ClosedBy::Block));
    assert!(matches!(rig.next(50, Role::All), Next::Idle));
    assert_eq!(rig.schedule.next_close(rig.at(50)), None);
    rig.done(&batch);
    assert_eq!(askers(&rig.batch(50)), [gossip]);
    // If the worker of blocks is busy, any other one takes the next block.
    rig.admit(60, Class::Block, None, None);
    assert_eq!(rig.batch(60).kind, BatchKind::Block);
}

/// Duties go before gossip, and gossip fills the batch up.
#[test]
fn duties_go_before_gossip() {
    let mut rig = Rig::new(settings());
    let gossip = rig.admit(0, Class::Gossip, None, None);
    let duty = rig.admit(1, Class::Duty, None, None);
    let batch = rig.batch(5);
    assert_eq!((askers(&batch), batch.kind), (vec![duty, gossip], BatchKind::Duty));
}

/// When too much waits, the oldest gossip is refused, the newest is verified first, and the overload is told once.
#[test]
fn an_overload_keeps_the_newest_gossip() {
    let mut rig = Rig::new(settings());
    let room = claims_in(50 * MS);
    for _ in 0..2 * room {
        rig.admit(0, Class::Gossip, None, None);
    }
    assert_eq!(rig.overloads, [OverloadChange::Begins]);
    let refused: Vec<_> = rig.refused.keys().copied().collect();
    assert_eq!(refused, (0..room as u32).collect::<Vec<_>>());
    assert!(rig.refused.values().all(|refused| *refused == Refused::Overloaded));
    let load = rig.schedule.load();
    assert!(load.overloaded && !load.is_ready() && load.waiting_us() <= load.capacity_us);
    let batch = rig.batch(0);
    assert_eq!(askers(&batch)[0], 2 * room as u32 - 1);
    // Duties push gossip out, but gossip pushes no duty out.
    for _ in 0..room {
        rig.admit(1, Class::Duty, None, None);
    }
    let last = rig.admit(1, Class::Gossip, None, None);
    assert_eq!(rig.refused[&last], Refused::Overloaded);
    assert_eq!(rig.schedule.load().gossip_us, 0);
    // A block finds room even then.
    let block = rig.admit(1, Class::Block, None, None);
    assert!(!rig.refused.contains_key(&block));
    assert_eq!(rig.overloads.len(), 1);
    while !rig.schedule.is_done() {
        if let Next::Batch(batch) = rig.next(100, Role::All) {
            rig.done(&batch);
        }
        rig.schedule.running = 0;
        let change = rig.schedule.end_overload();
        rig.overloads.extend(change);
    }
    assert!(matches!(rig.overloads[..], [OverloadChange::Begins, OverloadChange::Ends { .. }]), "{:?}", rig.overloads);
    assert!(rig.schedule.load().is_ready());
}

/// Claims that are refused for their size while little waits are one overload, too, and not one each.
#[test]
fn an_overload_by_large_claims_is_told_once() {
    let mut rig = Rig::new(settings());
    let alone = Forecast::of(&claim(0, None), Backend::Portable).alone();
    // Less than half of the queue waits, and claims of most of it come. They push nothing out.
    let statements = (rig.schedule.capacity() / alone) as u32;
    let large = |asker: u32| {
        let messages = (0..statements).map(|i| i.to_be_bytes()[..].into()).collect();
        let keys = vec![vec![1; 48]; statements as usize];
        ClaimBytes { public_keys: keys.into(), messages: quorate::Messages::Each(messages), ..claim(asker, None) }
    };
    for _ in 0..claims_in(20 * MS) {
        rig.admit(0, Class::Gossip, None, None);
    }
    for asker in 1000..1020 {
        let waiting = rig.appraiser.appraise(large(asker), Class::Gossip, None, asker, rig.start);
        let (rejected, change) = rig.schedule.admit(waiting);
        rig.overloads.extend(change);
        assert_eq!(rejected.iter().map(|(waiting, _)| waiting.asker).collect::<Vec<_>>(), [asker]);
    }
    assert_eq!(rig.overloads, [OverloadChange::Begins]);
    assert_eq!(rig.schedule.end_overload(), Some(OverloadChange::Ends { refused: 20 }));
}

/// Claims filled the memory and little of the time: the overload began and ended at every turn of a worker.
#[test]
fn an_overload_by_bytes_ends_when_half_of_them_is_free() {
    for (source, part) in [(8, 1), (7, PART_OF_SUSPECTS)] {
        let mut rig = Rig::new(Settings { queue_bytes: 1 << 20, ..settings() });
        rig.found_false(0, 1000, 7);
        for _ in 0..30 {
            rig.admit_large(0, Some(source), 1, 100 << 10);
        }
        let load = rig.schedule.load();
        assert!(load.waiting_us() < load.capacity_us / 2 / part as u64 && !rig.refused.is_empty());
        let bytes = |rig: &Rig| rig.schedule.gossip.bytes() + rig.schedule.suspects.bytes();
        while bytes(&rig) > (1 << 20) / part / 2 {
            assert_eq!(rig.schedule.end_overload(), None);
            let oldest = rig.schedule.gossip.remove_oldest().or_else(|| rig.schedule.suspects.remove_oldest());
            assert!(oldest.is_some());
        }
        assert!(rig.schedule.end_overload().is_some() && rig.schedule.load().claims > 0);
    }
}

/// One claim that is larger than the queue is taken where nothing waits, and pushes nothing out otherwise.
#[test]
fn a_large_claim_does_not_empty_the_queue() {
    let mut rig = Rig::new(settings());
    let large = |asker: u32| {
        let messages = (0..2000u32).map(|i| i.to_be_bytes()[..].into()).collect();
        let claim = claim(asker, None);
        ClaimBytes { public_keys: vec![vec![1; 48]; 2000].into(), messages: quorate::Messages::Each(messages), ..claim }
    };
    rig.admit(0, Class::Gossip, None, None);
    let now = rig.start;
    let (rejected, _) = rig.schedule.admit(rig.appraiser.appraise(large(50), Class::Gossip, None, 50, now));
    assert_eq!(rejected.iter().map(|(waiting, _)| waiting.asker).collect::<Vec<_>>(), [50]);
    let batch = rig.batch(5);
    rig.done(&batch);
    let (rejected, _) = rig.schedule.admit(rig.appraiser.appraise(large(51), Class::Gossip, None, 51, now));
    assert!(rejected.is_empty());
    assert_eq!(askers(&rig.batch(5)), [51]);
    // Memory has a bound of its own.
    let mut rig = Rig::new(Settings { queue_bytes: 10_000, ..settings() });
    let (rejected, change) = rig.schedule.admit(rig.appraiser.appraise(large(0), Class::Block, None, 0, now));
    assert!(matches!(rejected[..], [(_, Refused::TooLarge)]) && change.is_none() && rig.schedule.load().is_ready());
    for _ in 0..100 {
        rig.admit(0, Class::Gossip, None, None);
        assert!(rig.schedule.load().bytes <= 10_000);
    }
}

/// A claim fits where nothing waits, and one of 8 MiB with a message behind each of 42,000 keys took all cores for minutes. It makes no
/// overload, which would keep others from sending claims.
#[test]
fn a_claim_that_hashes_more_than_may_wait_is_refused() {
    let most = Settings::default().queue_bytes;
    for (suite, keys, bytes, expected) in [
        (MinPk::Chia, 42_000, 2_100_000, Some(Refused::TooLarge)),
        (MinPk::Chia, 2048, most / 2048 + 1, Some(Refused::TooLarge)),
        (MinPk::Chia, 2048, most / 2048, None),
        (MinPk::Eth2, 2048, most / 2048 + 1, None),
        (MinPk::Eth2, 1, most / 32, None),
    ] {
        let large = ClaimBytes {
            suite: suite.any(),
            public_keys: vec![vec![1; 48]; keys].into(),
            messages: quorate::Messages::Shared(vec![0; bytes].into()),
            ..claim(0, None)
        };
        for class in Class::ALL {
            let mut rig = Rig::new(settings());
            let waiting = rig.appraiser.appraise(large.clone(), class, None, 0, rig.start);
            let (rejected, change) = rig.schedule.admit(waiting);
            let refused: Vec<_> = rejected.iter().map(|(_, refused)| *refused).collect();
            assert_eq!(refused, Vec::from_iter(expected), "{suite}, {keys} keys, {bytes} bytes, {class:?}");
            assert!(change.is_none() && !rig.schedule.load().overloaded);
        }
    }
}

/// Whoever sent a false claim chose the class of the next one, and so its batch: a block is verified at once, with other blocks.
#[test]
fn a_block_of_a_suspect_is_a_suspects_claim() {
    let mut rig = Rig::new(settings());
    let waiting = rig.admit(0, Class::Block, Some(7), None);
    let honest = rig.admit(0, Class::Block, Some(8), None);
    rig.found_false(0, 1000, 7);
    let later = rig.admit(0, Class::Block, Some(7), None);
    let Next::Batch(batch) = rig.next(0, Role::Blocks) else { panic!("the block waits") };
    assert_eq!((askers(&batch), batch.kind), (vec![honest], BatchKind::Block));
    rig.done(&batch);
    assert!(matches!(rig.next(0, Role::Blocks), Next::Idle));
    let batch = rig.batch(100);
    assert_eq!((askers(&batch), batch.kind), (vec![waiting, later], BatchKind::Suspects));
    // They push out no claim of others.
    let mut rig = Rig::new(settings());
    rig.found_false(0, 1000, 7);
    let gossip: Vec<_> = (0..claims_in(49 * MS)).map(|_| rig.admit(0, Class::Gossip, Some(8), None)).collect();
    for _ in 0..claims_in(20 * MS) {
        rig.admit(0, Class::Block, Some(7), None);
    }
    assert!(gossip.iter().all(|asker| !rig.refused.contains_key(asker)) && !rig.refused.is_empty());
}

/// Claims without a source are kept apart as soon as others name theirs, and blocks without one are not: a node's own block would wait.
#[test]
fn a_block_without_a_source_is_no_suspects() {
    let mut rig = Rig::new(settings());
    let before = rig.admit(0, Class::Block, None, None);
    rig.admit(0, Class::Gossip, Some(8), None);
    let after = rig.admit(0, Class::Block, None, None);
    let Next::Batch(batch) = rig.next(0, Role::Blocks) else { panic!("the blocks wait") };
    assert_eq!((askers(&batch), batch.kind), (vec![before, after], BatchKind::Block));
}

/// The first false claim of a source puts what waits of it to the suspects. The ban refuses it at once, also the blocks.
#[test]
fn a_ban_evicts_the_queue_of_its_source_at_once() {
    let mut rig = Rig::new(settings());
    let lies: Vec<_> = (0..10).map(|_| rig.admit(0, Class::Gossip, Some(7), None)).collect();
    let block = rig.admit(0, Class::Block, Some(7), None);
    let honest = rig.admit(0, Class::Gossip, Some(8), None);
    assert!(!rig.found_false(1, 100, 7));
    assert_eq!(rig.schedule.load().claims, 12);
    assert!(rig.schedule.load().suspects_us > 9 * rig.schedule.load().gossip_us);
    assert!(!rig.found_false(1, 101, 7) && rig.found_false(1, 102, 7));
    assert!(lies.iter().chain([&block]).all(|asker| rig.refused[asker] == Refused::Banned));
    let later = rig.admit(2, Class::Block, Some(7), None);
    assert_eq!(rig.refused[&later], Refused::Banned);
    assert_eq!(askers(&rig.batch(5)), [honest]);
    assert_eq!(rig.schedule.until_ban(&7.into(), rig.at(5)), 0);
    assert!(rig.schedule.pardon(&7.into()));
    assert_eq!(rig.schedule.until_ban(&7.into(), rig.at(5)), 3);
    let now = rig.start;
    assert!(rig.schedule.ban(&9.into(), now, MS * 1000).is_some());
    let banned = rig.admit(6, Class::Gossip, Some(9), None);
    assert_eq!(rig.refused[&banned], Refused::Banned);
}

/// Suspects share batches with each other alone, one at a time, and get an eighth of the workers' time while others
/// wait.
#[test]
fn suspects_spoil_only_each_others_batches() {
    let mut rig =
        Rig::new(Settings { sources: SourceSettings { ban_at: 1e9, ..SourceSettings::default() }, ..settings() });
    rig.found_false(0, 1000, 1);
    rig.found_false(0, 1001, 2);
    // What they got while nobody else waited is soon forgotten.
    for _ in 0..500 {
        rig.schedule.running += 1;
        rig.schedule.done(BatchKind::Suspects, 0, 25 * MS, false);
    }
    let room = claims_in(50 * MS);
    let mut time = BTreeMap::<_, Duration>::new();
    for round in 0..200u64 {
        let ms = 26 * round;
        for i in 0..room as u64 {
            rig.admit(ms, Class::Gossip, Some(i % 4), None);
        }
        let batch = rig.batch(ms);
        let suspects: BTreeSet<_> = batch
            .claims
            .iter()
            .map(|waiting| waiting.claim.source == Some(1.into()) || waiting.claim.source == Some(2.into()))
            .collect();
        assert_eq!(suspects, [batch.kind == BatchKind::Suspects].into());
        if batch.kind == BatchKind::Suspects {
            // The other worker does not get a second batch of suspects.
            assert_ne!(rig.batch(ms).kind, BatchKind::Suspects);
            rig.schedule.running -= 1;
        }
        *time.entry(batch.kind.name()).or_default() += batch.planned;
        rig.done(&batch);
    }
    let share = time["suspects"].as_secs_f64() / (time["suspects"] + time["gossip"]).as_secs_f64();
    assert!((0.05..0.15).contains(&share), "{share}");
}

/// Two sources send; one floods. It gets no more of a batch than its share.
#[test]
fn a_flood_gets_its_share_of_a_batch() {
    let mut rig = Rig::new(settings());
    for _ in 0..claims_in(45 * MS) {
        rig.admit(0, Class::Gossip, Some(1), None);
    }
    let honest = rig.admit(0, Class::Gossip, Some(2), None);
    let batch = rig.batch(1);
    assert!(askers(&batch).contains(&honest));
    let flood = batch.claims.len() - 1;
    // Of two sources, each has a half.
    assert!(flood <= claims_in(25 * MS) / 2 + 1, "{flood} of {}", claims_in(25 * MS));
}

/// Batches that take longer than the table says make the same time hold less work.
#[test]
fn the_pace_of_the_machine_is_measured() {
    let mut rig = Rig::new(settings());
    let capacity = rig.schedule.capacity();
    for _ in 0..100 {
        rig.schedule.running += 1;
        rig.schedule.done(BatchKind::Gossip, 1_000_000, 2 * MS, true);
    }
    assert!((rig.schedule.pace - 2.0).abs() < 0.01);
    assert!(rig.schedule.capacity().abs_diff(capacity / 2) < capacity / 100);
    assert!(rig.schedule.load().capacity_us.abs_diff(50_000) < 10);
    // Whatever is measured, it stays within bounds.
    for took in [Duration::ZERO, Duration::MAX] {
        for _ in 0..1000 {
            rig.schedule.running += 1;
            rig.schedule.done(BatchKind::Gossip, 1, took, true);
        }
        assert!((PACE_LEAST..=PACE_MOST).contains(&rig.schedule.pace));
    }
}

#[test]
fn a_stop_answers_everything() {
    let mut rig = Rig::new(settings());
    let (a, b) = (rig.admit(0, Class::Gossip, None, None), rig.admit(0, Class::Duty, None, None));
    rig.schedule.stop();
    let late = rig.admit(0, Class::Block, None, None);
    assert_eq!(rig.refused[&late], Refused::Stopped);
    let batch = rig.batch(0);
    assert_eq!((askers(&batch), batch.closed_by), (vec![b, a], ClosedBy::Stop));
    assert!(matches!(rig.next(0, Role::All), Next::End));
    assert!(matches!(rig.next(0, Role::Blocks), Next::End));
    assert!(!rig.schedule.is_done());
    rig.done(&batch);
    assert!(rig.schedule.is_done() && rig.schedule.abandon().is_empty());
}

proptest! {
    /// Whatever happens in whatever order, every claim is in exactly one place: waiting, in a batch, or refused. What
    /// waits stays within the limits, and when the claims stop coming everything is answered.
    #[test]
    fn every_claim_gets_one_answer(
        steps in prop::collection::vec((0u8..10, 0u64..6, prop::option::of(0u64..4), prop::option::of(0u64..60)), 1..150),
        linger in 0u64..20,
    ) {
        let limits = Settings { linger: MS * linger as u32, queue: 8 * MS, target: 3 * MS, ..settings() };
        let mut rig = Rig::new(limits);
        let (mut ms, mut admitted, mut verified) = (0, BTreeSet::new(), BTreeSet::new());
        let mut running: Vec<Batch<u32>> = Vec::new();
        for (step, by, source, deadline) in steps {
            ms += by;
            match step {
                0..5 => {
                    let class = Class::ALL[usize::from(step) % 3];
                    admitted.insert(rig.admit(ms, class, source, deadline.map(|after| ms + after)));
                }
                5..7 => {
                    let role = if step == 5 { Role::All } else { Role::Blocks };
                    if let Next::Batch(batch) = rig.next(ms, role) {
                        prop_assert!(!batch.claims.is_empty());
                        for asker in askers(&batch) {
                            prop_assert!(verified.insert(asker), "{asker} is verified twice");
                        }
                        running.push(batch);
                    }
                }
                7 => if let Some(batch) = running.pop() { rig.done(&batch) },
                8 => { rig.found_false(ms, 0, source.unwrap_or(0)); }
                _ => { rig.schedule.pardon(&source.unwrap_or(0).into()); }
            }
            let load = rig.schedule.load();
            prop_assert!(load.waiting_us() <= load.capacity_us || load.claims == 1);
            prop_assert_eq!(load.claims + verified.len() + rig.refused.len(), admitted.len());
        }
        rig.schedule.stop();
        for batch in running.drain(..) { rig.done(&batch) }
        for _ in 0..admitted.len() + 1 {
            match rig.next(ms, Role::All) {
                Next::Batch(batch) => {
                    verified.extend(askers(&batch));
                    rig.done(&batch);
                }
                Next::End => break,
                _ => {}
            }
        }
        prop_assert!(rig.schedule.is_done());
        let answered: BTreeSet<_> = verified.iter().chain(rig.refused.keys()).copied().collect();
        prop_assert_eq!(verified.len() + rig.refused.len(), answered.len());
        prop_assert_eq!(answered, admitted);
    }
}

/// Claims without a source were never suspects, so lies among them spoiled everybody's batches.
#[test]
fn claims_without_a_source_are_suspects_like_any_other() {
    let mut rig = Rig::new(settings());
    let lie = |rig: &mut Rig, ms| {
        let now = rig.at(ms);
        assert!(rig.schedule.found_false(&claim(1000, None), Reason::Mismatch, now).is_none());
    };
    // Where nobody names a source, there is nobody to be kept apart from.
    lie(&mut rig, 0);
    let alone = rig.admit(1, Class::Gossip, None, None);
    assert_eq!(askers(&rig.batch(6)), [alone]);
    // The first claim with a source finds them apart.
    let waiting = rig.admit(10, Class::Gossip, None, None);
    let honest = rig.admit(10, Class::Gossip, Some(7), None);
    let batch = rig.batch(15);
    assert_eq!((askers(&batch), batch.kind), (vec![honest], BatchKind::Gossip));
    let later = rig.admit(16, Class::Duty, None, None);
    let batch = rig.batch(120);
    assert_eq!((askers(&batch), batch.kind), (vec![waiting, later], BatchKind::Suspects));
    rig.done(&batch);
    // However many lies come, they ban nobody.
    (0..100).for_each(|_| lie(&mut rig, 130));
    let more = rig.admit(140, Class::Gossip, None, None);
    assert!(!rig.refused.contains_key(&more) && rig.schedule.sources(9, |_| true, rig.at(140)).1 == 0);
    // After a time without lies they are as good as others.
    let hours = 10 * 3_600_000;
    rig.admit(hours, Class::Gossip, Some(7), None);
    let trusted = rig.admit(hours, Class::Gossip, None, None);
    assert!(askers(&rig.batch(hours + 5)).contains(&trusted));
}

/// A source with duties and gossip counted as two, and got half of a batch although nobody else waited.
#[test]
fn a_source_with_duties_and_gossip_is_one() {
    let mut rig = Rig::new(settings());
    for _ in 0..5 {
        rig.admit(0, Class::Duty, None, None);
    }
    for _ in 0..claims_in(45 * MS) {
        rig.admit(0, Class::Gossip, None, None);
    }
    let batch = rig.batch(0);
    assert!(batch.planned >= 25 * MS, "{:?}", batch.planned);
}

/// One that names no source and floods gets no more of a batch than its share.
#[test]
fn a_flood_without_a_source_gets_its_share_of_a_batch() {
    let mut rig = Rig::new(settings());
    for _ in 0..claims_in(45 * MS) {
        rig.admit(0, Class::Gossip, None, None);
    }
    let honest = rig.admit(0, Class::Gossip, Some(2), None);
    let batch = rig.batch(1);
    let flood = batch.claims.len() - 1;
    assert!(askers(&batch).contains(&honest) && flood <= claims_in(25 * MS) / 2 + 1, "{flood}");
}

/// A suspect has a quarter of the queue. Whoever waited for half of the whole handed in too much, and was refused as overloaded.
#[test]
fn an_idle_queue_takes_all_claims_of_a_suspect_one_after_the_other() {
    let mut rig = Rig::new(settings());
    rig.found_false(0, 1000, 7);
    let (mut ms, mut handed_in) = (0, 0);
    while handed_in < 1299 {
        while handed_in < 1299 && rig.has_room(ms, Class::Gossip, Some(7)) {
            rig.admit(ms, Class::Gossip, Some(7), None);
            handed_in += 1;
        }
        // Others find room all the while.
        assert!(rig.has_room(ms, Class::Gossip, Some(8)) && rig.has_room(ms, Class::Gossip, None));
        if let Next::Batch(batch) = rig.next(ms, Role::All) {
            rig.done(&batch);
        }
        ms += 1;
        assert!(ms < 100_000, "{handed_in} were handed in");
    }
    assert!(rig.refused.is_empty() && rig.overloads.is_empty(), "{:?}", rig.overloads);
}

/// Claims can fill the memory of the queue long before they fill its time. Whoever looked at the time alone handed in too much.
#[test]
fn an_idle_queue_of_little_memory_takes_all_claims_one_after_the_other() {
    let mut rig = Rig::new(settings());
    rig.admit(0, Class::Gossip, None, None);
    let mut rig = Rig::new(Settings { queue_bytes: 10 * rig.schedule.load().bytes, ..settings() });
    let (mut ms, mut handed_in) = (0, 0);
    while handed_in < 100 {
        while handed_in < 100 && rig.has_room(ms, Class::Gossip, None) {
            rig.admit(ms, Class::Gossip, None, None);
            handed_in += 1;
        }
        if let Next::Batch(batch) = rig.next(ms, Role::All) {
            rig.done(&batch);
        }
        ms += 1;
        assert!(ms < 10_000, "{handed_in} were handed in");
    }
    assert!(rig.refused.is_empty() && rig.overloads.is_empty(), "{:?}", rig.overloads);
    // It says that it is nearly full before it refuses any.
    let mut rig = Rig::new(Settings { queue_bytes: rig.schedule.load().capacity_bytes, ..settings() });
    for full in 0..10 {
        assert_eq!(rig.schedule.load().is_ready(), full < 8, "{full} of 10");
        rig.admit(0, Class::Gossip, None, None);
    }
    assert!(rig.refused.is_empty());
}

/// Gossip filled half of the queue, and kept back the blocks and duties of a request of many claims, although it makes room for them.
#[test]
fn what_is_urgent_finds_room_among_gossip() {
    let mut rig = Rig::new(settings());
    rig.admit(0, Class::Gossip, None, None);
    let bytes = 40 * rig.schedule.load().bytes;
    // The queue is full by its work, and by its memory.
    for (limits, full) in [(settings(), claims_in(50 * MS)), (Settings { queue_bytes: bytes, ..settings() }, 40)] {
        let mut rig = Rig::new(limits);
        rig.found_false(0, 1000, 9);
        let room = |rig: &Rig, source: Option<u64>| Class::ALL.map(|class| rig.has_room(0, class, source));
        assert_eq!((room(&rig, Some(7)), room(&rig, Some(9))), ([true; 3], [true; 3]));
        let admit = |rig: &mut Rig, class: Class, n: usize| {
            for _ in 0..n {
                rig.admit(0, class, Some(7), None);
            }
        };
        admit(&mut rig, Class::Gossip, full);
        assert_eq!((room(&rig, Some(7)), room(&rig, Some(9))), ([true, true, false], [false; 3]));
        // Claims without a source are suspects, but not blocks: those are the caller's own.
        let now = rig.at(0);
        assert!(rig.schedule.found_false(&claim(1000, None), Reason::Mismatch, now).is_none());
        assert_eq!(room(&rig, None), [true, false, false]);
        admit(&mut rig, Class::Duty, full / 2 + 1);
        assert_eq!(room(&rig, Some(7)), [true, false, false]);
        admit(&mut rig, Class::Block, full / 2 + 1);
        assert_eq!(room(&rig, Some(7)), [false; 3]);
    }
}

/// A duty of more than a quarter of the queue pushes no gossip out. Those of a request of many were handed in among gossip all the
/// same, and refused.
#[test]
fn a_large_duty_waits_for_the_room_that_it_cannot_make() {
    let mut rig = Rig::new(settings());
    for _ in 0..claims_in(30 * MS) {
        rig.admit(0, Class::Gossip, Some(7), None);
    }
    let most = rig.schedule.capacity() / LARGE_OF_QUEUE;
    let room = |work: u64| Class::ALL.map(|class| rig.schedule.has_room(class, Some(&8.into()), work, rig.at(0)));
    assert_eq!([most, most + 1].map(room), [[true, true, false], [true, false, false]]);
}

/// A claim that did not fit all the same pushed out whatever it could, and was refused then.
#[test]
fn a_claim_that_does_not_fit_pushes_nothing_out() {
    let large = |asker: u32, statements: u32| {
        let messages = (0..statements).map(|i| i.to_be_bytes()[..].into()).collect();
        let keys = vec![vec![1; 48]; statements as usize];
        ClaimBytes { public_keys: keys.into(), messages: quorate::Messages::Each(messages), ..claim(asker, Some(7)) }
    };
    let full = claims_in(50 * MS);
    // What fills the queue but for two claims of a source, what that source sends then, and how much of it: of a block, more than the
    // queue takes.
    for (waits, new, statements, standing) in [
        (Class::Block, Class::Block, 2 * full, Standing::Trusted),
        (Class::Block, Class::Duty, 10, Standing::Trusted),
        (Class::Duty, Class::Gossip, 10, Standing::Trusted),
        (Class::Duty, Class::Block, 10, Standing::Suspect),
    ] {
        let mut rig = Rig::new(settings());
        let why = if standing == Standing::Suspect {
            rig.found_false(0, 1000, 7);
            Refused::SuspectsOverloaded
        } else {
            Refused::Overloaded
        };
        for _ in 0..full - 2 {
            rig.admit(0, waits, Some(8), None);
        }
        for _ in 0..2 {
            rig.admit(0, Class::Gossip, Some(7), None);
        }
        assert!(rig.refused.is_empty());
        let waiting = rig.appraiser.appraise(large(5000, statements as u32), new, None, 5000, rig.start);
        let (rejected, _) = rig.schedule.admit(waiting);
        let refused: Vec<_> = rejected.iter().map(|(waiting, refused)| (waiting.asker, *refused)).collect();
        assert_eq!(refused, [(5000, why)], "{new} where {waits} waits");
        assert_eq!(rig.schedule.load().claims, full);
    }
}

/// A source filled the queue and told one lie. All that it had waiting became claims of suspects, which honest gossip did not push out.
#[test]
fn a_flood_of_one_who_becomes_a_suspect_makes_room() {
    let mut rig = Rig::new(settings());
    let flood: Vec<_> = (0..claims_in(45 * MS)).map(|_| rig.admit(0, Class::Gossip, Some(7), None)).collect();
    rig.found_false(0, 1000, 7);
    let honest: Vec<_> =
        (0..claims_in(25 * MS) as u64).map(|i| rig.admit(1, Class::Gossip, Some(100 + i), None)).collect();
    assert!(honest.iter().all(|asker| !rig.refused.contains_key(asker)), "{} were refused", rig.refused.len());
    // The oldest went, and only as many as there had to.
    let first_left = flood.iter().position(|asker| !rig.refused.contains_key(asker)).unwrap();
    assert_eq!(first_left, rig.refused.len());
    let load = rig.schedule.load();
    assert!(load.suspects_us > load.capacity_us * 9 / 20, "{load:?}");
    // Below their part of the queue they stay, and gossip pushes out gossip.
    for _ in 0..claims_in(50 * MS) {
        rig.admit(2, Class::Gossip, Some(8), None);
    }
    let load = rig.schedule.load();
    assert!((load.capacity_us / 5..=load.capacity_us / 4).contains(&load.suspects_us), "{load:?}");
}

/// A claim that is larger than the suspects' part of the queue had no bound but that of the whole, and their bytes had none.
#[test]
fn large_claims_of_a_suspect_are_taken_where_nothing_waits() {
    let mut rig = Rig::new(settings());
    let statements = claims_in(50 * MS) as u32 * 7 / 20;
    rig.found_false(0, 1000, 7);
    let (first, refused) = rig.admit_large(0, Some(7), statements, 10);
    assert!(refused.is_empty());
    for _ in 0..2 {
        let (large, refused) = rig.admit_large(0, Some(7), statements, 10);
        assert_eq!((refused, rig.refused[&large]), (vec![large], Refused::SuspectsOverloaded));
    }
    let honest: Vec<_> = (0..claims_in(25 * MS)).map(|_| rig.admit(1, Class::Gossip, Some(8), None)).collect();
    assert!(honest.iter().all(|asker| !rig.refused.contains_key(asker)));
    let waits = [vec![first], honest].concat();
    assert!(waits.iter().all(|asker| !rig.refused.contains_key(asker)));
    // The same in bytes: two claims fill their quarter, and the third takes the place of the first.
    let mut rig = Rig::new(Settings { queue_bytes: 1 << 20, ..settings() });
    rig.found_false(0, 1000, 7);
    let large: Vec<_> = (0..3).map(|_| rig.admit_large(0, Some(7), 1, 100 << 10)).collect();
    assert_eq!([&large[0].1, &large[1].1, &large[2].1], [&vec![], &vec![], &vec![large[0].0]]);
    assert!(!rig.has_room(0, Class::Gossip, Some(7)) && rig.has_room(0, Class::Gossip, Some(8)));
}

/// The queue of suspects is full: they are told why, and it is not an overload of the others.
#[test]
fn an_overload_of_suspects_is_theirs_alone() {
    let mut rig = Rig::new(settings());
    rig.found_false(0, 1000, 7);
    for _ in 0..claims_in(50 * MS) {
        rig.admit(1, Class::Gossip, Some(7), None);
    }
    assert!(!rig.refused.is_empty());
    assert!(rig.refused.values().all(|refused| *refused == Refused::SuspectsOverloaded));
    assert_eq!(Refused::SuspectsOverloaded.name(), "overloaded");
    assert_eq!(rig.overloads, [OverloadChange::SuspectsBegin]);
    assert!(!rig.schedule.load().overloaded && rig.schedule.load().is_ready());
    let refused = rig.refused.len() as u64;
    while let Next::Batch(batch) = rig.next(500, Role::All) {
        rig.done(&batch);
    }
    assert_eq!(rig.schedule.end_overload(), Some(OverloadChange::SuspectsEnd { refused }));
    assert_eq!(rig.schedule.end_overload(), None);
}

/// It was charged as one that shares its message, although it pushed out the only one to share it with: so more waited than may.
#[test]
fn a_claim_that_pushes_out_the_last_one_with_its_message_is_charged_for_it() {
    let Forecast { own, hash, pairing } = Forecast::of(&claim(0, None), Backend::Portable);
    let alone = own + hash + pairing;
    let mut rig = Rig::new(Settings { queue: Duration::from_nanos(4 * alone), ..settings() });
    let admit = |rig: &mut Rig, message: u32| {
        let asker = rig.next;
        rig.next += 1;
        let waiting = rig.appraiser.appraise(claim(message, None), Class::Gossip, None, asker, rig.start);
        let (rejected, _) = rig.schedule.admit(waiting);
        rig.keep(rejected);
    };
    (0..4).for_each(|message| admit(&mut rig, message));
    assert_eq!((rig.schedule.gossip.charged(), rig.refused.len()), (4 * alone, 0));
    admit(&mut rig, 0);
    assert_eq!(rig.refused, BTreeMap::from([(0, Refused::Overloaded)]));
    assert_eq!(rig.schedule.gossip.charged(), 4 * alone);
    // One that does share its message pushes out only what its own cost needs.
    admit(&mut rig, 0);
    assert_eq!(rig.refused.len(), 2);
    assert_eq!(rig.schedule.gossip.charged(), 3 * alone + own);
}
