//! `service/*`: claims that arrive one by one, in a node that embeds the batcher, and over sockets.
//!
//! Latencies are counted from the time at which a claim should have been sent (`load`).

pub(crate) mod load;
pub(crate) mod policy;
pub(crate) mod arrivals;
mod remote;

use std::{
    iter,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use blst::{BLST_ERROR, min_pk};
use quorate::{Backend, ClaimBytes, Messages, MinPk, Options, Reason, Suite, Verdict, Verifier, aggregate::aggregate};
use quorate_batcher::{Batcher, Class, Event, Observer, Settings};
use rand_core::Rng;

use self::{
    load::{Driven, Expected, Target, drive, drive_at, in_turn, resident_mib},
    policy::{Collector, Embedded, FIXED_64, LODESTAR, NAIVE, Policy},
    remote::ServerProcess,
};
use crate::{
    batch::TAG,
    data::{self, Signed},
    measure::{Run, cpu_time},
    row::{Figures, Latency, Row, Times},
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let bench = Bench::new(run);
    let mut rows = bench.throughput();
    rows.extend(bench.rates());
    rows.extend(bench.block_latency());
    rows.extend(bench.liar());
    rows.extend(bench.overload());
    rows.extend(bench.sync());
    rows
}

/// What all rows use.
pub(crate) struct Bench<'a> {
    pub(crate) run: &'a Run,
    /// Claims with keys and messages of their own.
    pub(crate) claims: Arc<Vec<ClaimBytes>>,
    pub(crate) signed: Vec<Signed<MinPk>>,
    pub(crate) threads: usize,
}

/// Counts batches.
#[derive(Default)]
pub(crate) struct Batches {
    batches: AtomicU64,
    claims: AtomicU64,
    wait_us: AtomicU64,
    suspects_us: AtomicU64,
}

impl Observer for Batches {
    fn observe(&self, event: &Event<'_>) {
        if let Event::Batch(report) = event {
            self.batches.fetch_add(1, Ordering::Relaxed);
            self.claims.fetch_add(report.claims as u64, Ordering::Relaxed);
            let waits = report.waits.iter().map(|wait| wait.as_micros() as u64).sum();
            self.wait_us.fetch_add(waits, Ordering::Relaxed);
            if report.kind == quorate_batcher::BatchKind::Suspects {
                self.suspects_us.fetch_add(report.took.as_micros() as u64, Ordering::Relaxed);
            }
        }
    }
}

impl Batches {
    /// Batches, claims, and the sum of their waits in microseconds.
    pub(crate) fn counts(&self) -> [u64; 3] {
        [&self.batches, &self.claims, &self.wait_us].map(|count| count.load(Ordering::Relaxed))
    }

    /// The mean number of claims in a batch since earlier counts, and the mean wait of a claim in milliseconds.
    pub(crate) fn means_since(&self, before: [u64; 3]) -> (f64, f64) {
        let now = self.counts();
        let [batches, claims, wait] = std::array::from_fn(|i| (now[i] - before[i]) as f64);
        (claims / batches.max(1.0), wait / claims.max(1.0) / 1e3)
    }
}

impl<'a> Bench<'a> {
    fn new(run: &'a Run) -> Self {
        Self::with_claims(run, run.choose(4096, 16_384))
    }

    /// The same with so many claims, which come again when all have come.
    fn with_claims(run: &'a Run, n: usize) -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(2);
        let signed = signed_by(threads, n, |i| i, |i| i);
        let claims = signed.iter().map(bytes).collect();
        Self { run, claims: Arc::new(claims), signed, threads }
    }

    /// How long one load lasts.
    pub(crate) fn time(&self) -> Duration {
        self.run.choose(Duration::from_millis(1500), Duration::from_secs(3))
    }

    /// A batcher that remembers nothing, so that a claim that comes again is verified again, and that has decoded all
    /// keys.
    pub(crate) fn embedded(&self, settings: Settings) -> (Arc<Embedded>, Arc<Batches>) {
        let observer = Arc::new(Batches::default());
        let settings = Settings { known: 0, threads: self.threads.try_into().expect("a thread"), ..settings };
        let batcher = Batcher::start_with(settings, None, Some(observer.clone())).expect("the settings are good");
        for claims in self.claims.chunks(200) {
            let answers: Vec<_> =
                claims.iter().map(|claim| batcher.submit(claim.clone(), Class::Block, None)).collect();
            assert!(answers.into_iter().all(|answer| answer.wait() == Ok(Verdict::Valid)));
        }
        (Arc::new(Embedded { batcher, claims: self.claims.clone(), class: Class::Gossip }), observer)
    }

    /// Claims a second that the engine verifies in batches of a size, each on a thread of its own.
    fn engine(&self, batch: usize) -> Times {
        self.engine_of(&Verifier::new(Options::default()), batch)
    }

    /// The same by a verifier that may have decoded keys and hashed messages before.
    pub(crate) fn engine_of(&self, verifier: &Verifier, batch: usize) -> Times {
        let rounds = self.run.choose(3, 9);
        let per_thread = (self.run.choose(2000, 4000) / batch).max(1);
        let times = (0..=rounds)
            .map(|_| {
                let start = Instant::now();
                thread::scope(|scope| {
                    for t in 0..self.threads {
                        let claims = &self.claims;
                        scope.spawn(move || {
                            for i in 0..per_thread {
                                let from = (t * per_thread + i) * batch % (claims.len() - batch);
                                let outcome = verifier.verify(&claims[from..from + batch], &mut data::rng());
                                assert!(outcome.all_valid());
                            }
                        });
                    }
                });
                start.elapsed().as_secs_f64() * 1e6 / (per_thread * batch * self.threads) as f64
            })
            .skip(1)
            .collect();
        Times::of(times)
    }

    /// The highest rate at which nothing is refused and 99 of 100 claims have their verdict within 100 ms.
    fn highest_rate<T: Target>(&self, target: &Arc<T>, around: f64) -> Option<Driven> {
        let steps: &[f64] =
            self.run.choose(&[0.3, 0.6, 0.8, 0.9], &[0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]);
        let mut best = None;
        let mut failed = 0;
        for step in steps {
            let driven = drive(target, around * step, self.time(), in_turn(&self.claims));
            if driven.refused == 0 && driven.percentile(99.0) <= 100.0 {
                best = Some(driven);
            } else {
                failed += 1;
                // One failure can be the machine's.
                if failed == 2 {
                    break;
                }
            }
        }
        best
    }

    fn throughput(&self) -> Vec<Row> {
        let bench = "service/throughput";
        let (embedded, seen) = self.embedded(Settings::default());
        let first = 1e6 / self.engine(256).median;
        let driven = self.highest_rate(&embedded, first);
        // Once more at that rate, for the size of the batches there.
        let before = seen.counts();
        let highest = driven.as_ref().map_or(first, Driven::throughput);
        drive(&embedded, highest, self.time(), in_turn(&self.claims));
        let (batch, _) = seen.means_since(before);
        drop(embedded);
        let engine = self.engine((batch as usize).clamp(1, 512));
        let rate = 1e6 / engine.median;
        let mut rows = vec![Row {
            note: format!("the raw batch of {batch:.0}"),
            ..self.row(bench, "engine", 1, "claim", engine, None)
        }];
        rows.extend(
            driven.map(|driven| {
                self.rate_row(bench, "quorate/embedded", &driven, &format!("{batch:.0} in a batch"), rate)
            }),
        );
        match ServerProcess::start(self.threads) {
            Ok(server) => {
                let open = |name| match name {
                    "quorate/unix" => server.unix(&self.claims),
                    _ => server.http(&self.claims),
                };
                for name in ["quorate/unix", "quorate/http"] {
                    let remote = Arc::new(open(name).expect("the server listens"));
                    // The server decodes all keys once.
                    drive(
                        &remote,
                        0.3 * rate,
                        Duration::from_secs_f64(self.claims.len() as f64 / rate / 0.3),
                        in_turn(&self.claims),
                    );
                    if let Some(driven) = self.highest_rate(&remote, rate) {
                        rows.push(self.rate_row(bench, name, &driven, "claims and verdicts as JSON lines", rate));
                    }
                }
            }
            Err(error) => eprintln!("service/throughput over sockets is left out: {error:#}"),
        }
        let collectors: [(&str, Collector); 4] = [
            ("policy/fixed-64", self.collector(FIXED_64)),
            ("policy/32-128-in-50ms", self.collector(LODESTAR)),
            ("policy/one-by-one", self.collector(NAIVE)),
            ("blst", self.blst()),
        ];
        for (name, collector) in collectors {
            let collector = Arc::new(collector);
            let around = match name {
                "blst" => 1e6 / self.blst_us() * self.threads as f64,
                "policy/one-by-one" => 1e6 / self.engine(1).median,
                _ => rate,
            };
            if let Some(driven) = self.highest_rate(&collector, around) {
                let what = format!("{:.0} in a batch", collector.mean_batch());
                rows.push(self.rate_row(bench, name, &driven, &what, rate));
            }
        }
        rows
    }

    fn collector(&self, policy: Policy) -> Collector {
        Collector::start(policy, self.verifier(), self.claims.clone(), self.threads)
    }

    /// A verifier that has decoded all keys, as the batcher of [`Self::embedded`] has.
    fn verifier(&self) -> Verifier {
        let verifier = Verifier::new(Options::default());
        for claims in self.claims.chunks(200) {
            assert!(verifier.verify(claims, &mut data::rng()).all_valid());
        }
        verifier
    }

    /// blst, one by one, from decoded keys.
    fn blst(&self) -> Collector {
        let prepared: Vec<_> = self.signed.iter().map(blst_claim).collect();
        let verify = move |indices: &[usize]| indices.iter().map(|i| prepared[*i].verify()).collect();
        Collector::with(NAIVE, self.threads, Box::new(verify))
    }

    /// What blst takes for one claim, in microseconds.
    fn blst_us(&self) -> f64 {
        let prepared: Vec<_> = self.signed[..64].iter().map(blst_claim).collect();
        let start = Instant::now();
        assert!(prepared.iter().all(|claim| claim.verify().is_valid()));
        start.elapsed().as_secs_f64() * 1e6 / 64.0
    }

    /// The same load at rates from ten to a hundred thousand claims a second.
    fn rates(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for rate in self.run.choose(&[100u32, 10_000][..], &[10, 100, 1000, 3000, 10_000, 30_000, 100_000]) {
            let bench = format!("service/rate={rate}");
            let time = if *rate < 100 { 2 * self.time() } else { self.time() };
            let drive = |target: &Arc<_>| drive(target, f64::from(*rate), time, in_turn(&self.claims));
            let (embedded, seen) = self.embedded(Settings::default());
            let before = seen.counts();
            let driven = load::drive(&embedded, f64::from(*rate), time, in_turn(&self.claims));
            let (batch, wait) = seen.means_since(before);
            rows.push(self.cpu_row(&bench, "quorate/embedded", &driven, batch, Some(wait)));
            for (name, policy) in
                [("policy/fixed-64", FIXED_64), ("policy/32-128-in-50ms", LODESTAR), ("policy/one-by-one", NAIVE)]
            {
                let collector = Arc::new(self.collector(policy));
                let driven = drive(&collector);
                rows.push(self.cpu_row(&bench, name, &driven, collector.mean_batch(), None));
            }
        }
        rows
    }

    /// The latency of a block of 128 statements that nobody has seen, by keys that are decoded: alone, and while gossip saturates
    /// the queue. A block comes when it is due, whether or not the last one has been answered.
    fn block_latency(&self) -> Vec<Row> {
        let statements = 128;
        let time = self.time();
        // At any moment of a batch.
        let mut rng = data::rng();
        let arrivals: Vec<_> = iter::repeat_with(|| Duration::from_micros(20_000 + u64::from(rng.next_u32() % 7000)))
            .scan(Duration::ZERO, |due, step| {
                *due += step;
                Some(*due)
            })
            .take_while(|due| *due < time.mul_f64(0.9))
            .collect();
        let loads = [("idle", 0.0), ("gossip at capacity", 1.5e6 / self.engine(256).median)];
        let signed = signed_by(
            self.threads,
            statements * arrivals.len() * loads.len(),
            |i| i % self.claims.len(),
            |i| (1 << 33) + i,
        );
        let blocks: Vec<_> = signed.chunks(statements).map(block).collect();
        let mut rows = Vec::new();
        for ((name, rate), blocks) in loads.into_iter().zip(blocks.chunks(arrivals.len())) {
            let (embedded, _) = self.embedded(Settings::default());
            let of_blocks = Arc::new(Embedded {
                batcher: embedded.batcher.clone(),
                claims: Arc::new(blocks.to_vec()),
                class: Class::Block,
            });
            let driven = thread::scope(|scope| {
                if rate > 0.0 {
                    scope.spawn(|| drive(&embedded, rate, time, in_turn(&embedded.claims)));
                }
                drive_at(&of_blocks, arrivals.iter().copied(), in_turn(&of_blocks.claims))
            });
            assert_eq!(driven.refused, 0, "a block is taken before everything else");
            let us = |percent| driven.percentile(percent) * 1e3;
            let times = Times { min: us(0.0), median: us(50.0), max: us(100.0) };
            rows.push(Row {
                note: name.to_owned(),
                ..self.row("service/block-latency", "quorate/embedded", statements, "block", times, Some(&driven))
            });
        }
        rows
    }

    /// A hundred sources, of which one sends false claims alone: a part of all.
    fn liar(&self) -> Vec<Row> {
        let n = self.claims.len();
        // The second half of the claims is false.
        let claims = self.claims.iter().enumerate().map(|(i, claim)| {
            let signature = if i < n / 2 { i } else { (i + 1) % n };
            let source = if i < n / 2 { i as u64 % 99 } else { 99 };
            ClaimBytes {
                signature: self.claims[signature].signature.clone(),
                source: Some(source.into()),
                ..claim.clone()
            }
        });
        let claims = Arc::new(claims.collect::<Vec<_>>());
        let rate = 0.7e6 / self.engine(256).median;
        let time = self.time();
        let mut clean = 0.0;
        let mut rows = Vec::new();
        for percent in [0u64, 1, 10, 50] {
            let (warm, seen) = self.embedded(Settings::default());
            let target =
                Arc::new(Embedded { batcher: warm.batcher.clone(), claims: claims.clone(), class: Class::Gossip });
            let choose = |i: u64| {
                let lies = i % 100 < percent;
                let index = if lies { n / 2 + i as usize % (n / 2) } else { i as usize % (n / 2) };
                Expected { index, valid: !lies, counts: !lies }
            };
            let honest = 1.0 - percent as f64 / 100.0;
            let driven = drive(&target, rate / honest, time, choose);
            let report = warm.batcher.sources();
            let found = report.first().map_or(0, |source| source.false_claims);
            // The first three tenths have the liar's first false claims in them.
            let inner: Vec<_> = driven.by_tenth.iter().skip(3).take((time.as_millis() / 100) as usize - 4).collect();
            let worst = inner.iter().map(|verdicts| **verdicts).min().unwrap_or(0) as f64 * 10.0;
            if percent == 0 {
                clean = driven.throughput();
            }
            let us = 1e6 / driven.throughput();
            let times = Times { min: us, median: us, max: 1e6 / worst.max(1.0) };
            let suspects = seen.suspects_us.load(Ordering::Relaxed) as f64 / 1e3;
            let note = format!(
                "{:.0} % of the clean throughput, {found} false claims looked at, suspects took {suspects:.0} ms, {:.1} % refused",
                100.0 * driven.throughput() / clean,
                100.0 * driven.refused_part(),
            );
            let bench = format!("service/liar={percent}%");
            rows.push(Row { note, ..self.row(&bench, "quorate/embedded", 1, "claim", times, Some(&driven)) });
        }
        rows
    }

    /// Ten times more than the capacity for a while: memory, answers, and how long it takes to be ready again.
    fn overload(&self) -> Vec<Row> {
        let (embedded, _) = self.embedded(Settings::default());
        let before = resident_mib();
        let rate = 10e6 / self.engine(256).median;
        let time = self.run.choose(Duration::from_secs(3), Duration::from_secs(60));
        let driven = drive(&embedded, rate, time, in_turn(&self.claims));
        let end = Instant::now();
        while !embedded.batcher.load().is_ready() {
            assert!(end.elapsed() < Duration::from_secs(5), "{:?}", embedded.batcher.load());
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(driven.sent, driven.verified + driven.refused);
        let us = 1e6 / driven.throughput();
        let note = format!(
            "{} claims, every one answered, {:.0} % refused; {} MiB more memory; ready again {} ms after the last answer",
            driven.sent,
            100.0 * driven.refused_part(),
            resident_mib().saturating_sub(before),
            end.elapsed().as_millis(),
        );
        let times = Times { min: us, median: us, max: us };
        vec![Row { note, ..self.row("service/overload=10x", "quorate/embedded", 1, "claim", times, Some(&driven)) }]
    }

    /// Initial sync: blocks of a thousand statements one after another, with nothing known and with 90 % known.
    fn sync(&self) -> Vec<Row> {
        let (statements, blocks) = (1000, self.run.choose(4, 100));
        let own = |i| (1 << 32) + i;
        let signed = signed_by(self.threads, statements * blocks, own, own);
        let blocks: Vec<_> = signed.chunks(statements).map(block).collect();
        let mut rows = Vec::new();
        for known in [0, 90] {
            let settings = Settings {
                known: 1 << 18,
                threads: self.threads.try_into().expect("a thread"),
                queue: Duration::from_secs(600),
                queue_bytes: 1 << 30,
                ..Settings::default()
            };
            let batcher = Batcher::start(settings).expect("the settings are good");
            let gossip = signed.iter().enumerate().filter(|(i, _)| i % 100 < known).map(|(_, signed)| bytes(signed));
            let answers: Vec<_> = gossip.map(|claim| batcher.submit(claim, Class::Gossip, None)).collect();
            assert!(answers.into_iter().all(|answer| answer.wait() == Ok(Verdict::Valid)));
            let cpu = cpu_time();
            let start = Instant::now();
            let answers: Vec<_> =
                blocks.iter().map(|block| batcher.submit(block.clone(), Class::Gossip, None)).collect();
            let mut latencies = Vec::new();
            for answer in answers {
                assert_eq!(answer.wait(), Ok(Verdict::Valid));
                latencies.push(start.elapsed());
            }
            let took = start.elapsed().as_secs_f64();
            let spent = cpu_time().zip(cpu).map_or(Duration::ZERO, |(after, before)| after.saturating_sub(before));
            let cores = spent.as_secs_f64() / took;
            let us = took * 1e6 / blocks.len() as f64;
            let note = format!("{:.0} blocks a second, {cores:.1} cores", blocks.len() as f64 / took);
            let bench = format!("service/sync-known={known}");
            let times = Times { min: us, median: us, max: us };
            rows.push(Row { note, ..self.row(&bench, "quorate/embedded", statements, "block", times, None) });
        }
        rows
    }

    /// A row, with the latencies of a load if there was one.
    pub(crate) fn row(
        &self,
        bench: &str,
        engine: &str,
        n: usize,
        per: &str,
        times: Times,
        driven: Option<&Driven>,
    ) -> Row {
        Row {
            bench: bench.into(),
            engine: engine.into(),
            threads: self.threads,
            n,
            per: per.into(),
            figures: Figures::Us(times),
            cpu_us: None,
            latency_ms: driven.map(latency),
            refused: driven.map(Driven::refused_part),
            traffic: None,
            note: String::new(),
        }
    }

    /// The time between two verdicts.
    fn rate_row(&self, bench: &str, engine: &str, driven: &Driven, what: &str, engine_rate: f64) -> Row {
        let us = 1e6 / driven.throughput();
        let note = format!(
            "{:.0} a second, {:.0} % of the engine, {what}",
            driven.throughput(),
            100.0 * driven.throughput() / engine_rate
        );
        let times = Times { min: us, median: us, max: us };
        Row { note, ..self.row(bench, engine, 1, "claim", times, Some(driven)) }
    }

    /// The CPU time of a verdict.
    pub(crate) fn cpu_row(&self, bench: &str, engine: &str, driven: &Driven, batch: f64, wait: Option<f64>) -> Row {
        let us = driven.cpu.as_secs_f64() * 1e6 / driven.verified.max(1) as f64;
        let wait = wait.map_or(String::new(), |wait| format!(", {wait:.1} ms of waiting"));
        let refused = 100.0 * driven.refused_part();
        let note = format!("CPU time; {batch:.1} in a batch{wait}, {refused:.0} % refused");
        let times = Times { min: us, median: us, max: us };
        Row { note, ..self.row(bench, engine, 1, "claim", times, Some(driven)) }
    }
}

fn latency(driven: &Driven) -> Latency {
    let [p50, p90, p99] = [50.0, 90.0, 99.0].map(|percent| driven.percentile(percent));
    Latency { p50, p90: Some(p90), p99 }
}

/// `n` signed statements by the keys `key(i)` over the messages `message(i)`, made on several threads.
pub(crate) fn signed_by(
    threads: usize,
    n: usize,
    key: impl Fn(usize) -> usize + Copy + Send,
    message: impl Fn(usize) -> usize + Copy + Send,
) -> Vec<Signed<MinPk>> {
    let per_thread = n.div_ceil(threads);
    thread::scope(|scope| {
        let made = (0..threads).map(|t| {
            let (start, end) = ((t * per_thread).min(n), ((t + 1) * per_thread).min(n));
            scope.spawn(move || data::signed(MinPk::Eth2, end - start, |i| key(start + i), |i| message(start + i)))
        });
        let made: Vec<_> = made.collect();
        made.into_iter().flat_map(|thread| thread.join().expect("signing does not panic")).collect()
    })
}

pub(crate) fn bytes(signed: &Signed<MinPk>) -> ClaimBytes {
    let (key, signature) = (signed.key.to_bytes(), signed.signature.to_bytes());
    ClaimBytes::single(MinPk::Eth2.any(), key.as_ref(), &signed.message, signature.as_ref())
}

/// One claim with the sum of the signatures.
fn block(signed: &[Signed<MinPk>]) -> ClaimBytes {
    let signatures: Vec<_> = signed.iter().map(|signed| signed.signature).collect();
    let sum = aggregate(&signatures, Backend::auto()).expect("signatures to add");
    ClaimBytes {
        suite: MinPk::Eth2.any(),
        public_keys: signed.iter().map(|signed| signed.key.to_bytes().to_vec()).collect(),
        messages: Messages::Each(signed.iter().map(|signed| signed.message[..].into()).collect()),
        signature: sum.to_bytes().to_vec(),
        source: None,
    }
}

/// A claim as blst takes it.
struct BlstClaim {
    key: min_pk::PublicKey,
    message: Vec<u8>,
    signature: Vec<u8>,
}

fn blst_claim(signed: &Signed<MinPk>) -> BlstClaim {
    BlstClaim {
        key: min_pk::PublicKey::from_bytes(&signed.key.to_bytes()).expect("a key"),
        message: signed.message.clone(),
        signature: signed.signature.to_bytes().to_vec(),
    }
}

impl BlstClaim {
    fn verify(&self) -> Verdict {
        let signature = min_pk::Signature::from_bytes(&self.signature).expect("a signature");
        match signature.verify(true, &self.message, TAG, &[], &self.key, false) {
            BLST_ERROR::BLST_SUCCESS => Verdict::Valid,
            _ => Verdict::Invalid(Reason::Mismatch),
        }
    }
}
