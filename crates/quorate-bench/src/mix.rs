//! `service/mix=P%` and `service/lone`: the votes that a node of a large network gets.
//!
//! Operators of such nodes see batches of about ten votes that hold about 1.2 messages. So votes come from peers, each has a key of
//! its own, and of ten that follow one another nine or ten have the same message. Half of them come in the first quarter of a third
//! of a slot, when a duty is due, and the others later. A third of a slot lasts 200 ms here in place of 4 s, and votes come at P %
//! of the rate at which the engine verifies them in batches of ten. Keys have been decoded and messages hashed before.
//!
//! More threads than the machine has cores show what many cores do to a way to collect votes: a vote finds an idle thread and
//! makes a batch by itself, where fewer threads would have let a batch grow. The threads share the cores that there are, so the
//! times are not those of a machine with so many cores, and the rate is a part of what this machine can verify.

use std::{
    num::NonZeroUsize,
    slice::from_ref,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use quorate::{ClaimBytes, Options, SourceId, Verdict, Verifier};
use quorate_batcher::Settings;
use rand_core::Rng;

use crate::{
    data,
    measure::Run,
    row::{Row, Times},
    service::{
        Bench, bytes,
        load::{Driven, drive_at, in_turn, poisson},
        policy::{Collector, FIXED_64, LODESTAR, NAIVE},
        signed_by,
    },
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let mut bench = of_votes(run, run.choose(2048, 8192));
    let verifier = Verifier::new(Options::default());
    for votes in bench.claims.chunks(256) {
        assert!(verifier.verify(votes, &mut data::rng()).all_valid());
    }
    let mut rows = bench.lone(&verifier);
    let cores = bench.threads;
    let ten = bench.engine_of(&verifier, 10);
    let note = "the raw batch of ten, on all threads at the same time".to_owned();
    rows.push(Row { note, ..bench.row("service/mix", "engine", 10, "claim", ten, None) });
    for threads in run.choose(&[2][..], &[1, 2, 16]) {
        bench.threads = *threads;
        // One thread verifies half of what two do at the same time.
        let used = cores.min(*threads);
        let us = ten.median * cores as f64 / used as f64;
        for percent in run.choose(&[50][..], &[10, 25, 50, 80]) {
            rows.extend(bench.mix(&verifier, *percent, f64::from(*percent) / 100.0 * 1e6 / us));
        }
    }
    rows
}

/// Votes with keys of their own, of peers.
fn of_votes(run: &Run, n: usize) -> Bench<'_> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(2);
    let message = |i: usize| if i.is_multiple_of(STRAY) { n + i } else { i / COMMITTEE };
    let signed = signed_by(threads, n, |i| i, message);
    let of_peer = |(i, signed)| ClaimBytes { source: Some(SourceId::from(i as u64 % PEERS)), ..bytes(signed) };
    let claims = Arc::new(signed.iter().enumerate().map(of_peer).collect());
    Bench { run, claims, signed, threads }
}

impl Bench<'_> {
    /// Each way to collect votes, at a rate a second.
    fn mix(&self, verifier: &Verifier, percent: u32, rate: f64) -> Vec<Row> {
        let bench = format!("service/mix={percent}%");
        let arrivals = || bursts(rate).take_while(|due| *due < self.time());
        let (embedded, seen) = self.embedded(Settings::default());
        let before = seen.counts();
        let driven = drive_at(&embedded, arrivals(), in_turn(&self.claims));
        let (batch, wait) = seen.means_since(before);
        drop(embedded);
        let mut rows = vec![self.cpu_row(&bench, "quorate/embedded", &driven, batch, Some(wait))];
        for (name, policy) in
            [("policy/one-by-one", NAIVE), ("policy/fixed-64", FIXED_64), ("policy/32-128-in-50ms", LODESTAR)]
        {
            let collector = Arc::new(Collector::start(policy, verifier.clone(), self.claims.clone(), self.threads));
            let driven = drive_at(&collector, arrivals(), in_turn(&self.claims));
            rows.push(self.cpu_row(&bench, name, &driven, collector.mean_batch(), None));
        }
        rows
    }

    /// Votes of which each comes to an idle batcher, beside the same votes verified on this thread: by a verifier, and as bytes of
    /// which nothing was decoded or hashed before.
    fn lone(&self, verifier: &Verifier) -> Vec<Row> {
        let (embedded, _) = self.embedded(Settings::default());
        let by_verifier =
            |vote: &ClaimBytes| verifier.verify(from_ref(vote), &mut data::rng()).verdicts.pop().expect("a verdict");
        let by_batcher = |vote: &ClaimBytes| {
            let answer = embedded.batcher.submit(vote.clone(), embedded.class, None);
            answer.wait().expect("an idle batcher refuses nothing")
        };
        let engines: [(&str, &str, VerifyOne<'_>); 3] = [
            ("engine", "by the verifier, key and message known", &by_verifier),
            ("quorate/embedded", "an idle batcher, key and message known", &by_batcher),
            ("alone", "from bytes, nothing known", &ClaimBytes::verify),
        ];
        let mut latencies = engines.map(|_| Vec::new());
        for vote in self.claims.iter().take(self.run.choose(300, 2000)) {
            for ((_, _, verify), latencies) in engines.iter().zip(&mut latencies) {
                // Votes come at any moment. Whoever verifies has slept before.
                thread::sleep(Duration::from_micros(1000 + u64::from(data::rng().next_u32() % 2000)));
                let sent = Instant::now();
                assert_eq!(verify(vote), Verdict::Valid);
                latencies.push(sent.elapsed());
            }
        }
        let rows = engines.iter().zip(latencies).map(|((engine, note, _), mut latencies)| {
            latencies.sort_unstable();
            let times = Times::of(latencies.iter().map(|latency| latency.as_secs_f64() * 1e6).collect());
            let driven = Driven { verified: latencies.len() as u64, latencies, ..Driven::default() };
            Row { note: (*note).to_owned(), ..self.row("service/lone", engine, 1, "claim", times, Some(&driven)) }
        });
        rows.collect()
    }
}

/// What verifies a vote and waits for its verdict.
type VerifyOne<'a> = &'a dyn Fn(&ClaimBytes) -> Verdict;

/// The times at which votes come at a rate a second, without an end: those of Poisson arrivals, moved closer together in the bursts
/// and apart between them.
fn bursts(rate: f64) -> impl Iterator<Item = Duration> {
    poisson(rate).map(|even| {
        let thirds = even.as_secs_f64() / THIRD.as_secs_f64();
        let (third, part) = (thirds.floor(), thirds.fract());
        let moved = if part < IN_BURST {
            part / IN_BURST * BURST
        } else {
            BURST + (part - IN_BURST) / (1.0 - IN_BURST) * (1.0 - BURST)
        };
        THIRD.mul_f64(third + moved)
    })
}

/// A third of a slot.
const THIRD: Duration = Duration::from_millis(200);
/// The part of it in which its burst comes, and the part of its votes that are the burst.
const BURST: f64 = 0.25;
const IN_BURST: f64 = 0.5;
/// How many votes come with one message.
const COMMITTEE: usize = 512;
/// One vote of so many has a message of its own.
const STRAY: usize = 50;
/// How many peers send votes.
const PEERS: u64 = 64;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::measure::Effort;

    /// Ten votes that follow one another have 1.2 messages on average, and no two of them a key.
    #[test]
    fn ten_votes_have_about_1_2_messages() {
        let run = Run { effort: Effort::Quick, backends: vec![] };
        let votes = of_votes(&run, 600).claims;
        let distinct = |ten: &[ClaimBytes]| ten.iter().map(|vote| vote.messages.clone()).collect::<HashSet<_>>().len();
        let mean = votes.windows(10).map(distinct).sum::<usize>() as f64 / (votes.len() - 9) as f64;
        assert!((1.15..1.25).contains(&mean), "{mean}");
        assert_eq!(votes.iter().map(|vote| &vote.public_keys).collect::<HashSet<_>>().len(), votes.len());
    }

    /// Half of the votes of a third of a slot come in its first quarter, and the rate is that which was asked for.
    #[test]
    fn half_of_the_votes_come_in_bursts() {
        let times: Vec<_> = bursts(10_000.0).take_while(|due| *due < Duration::from_secs(2)).collect();
        assert!(times.is_sorted());
        assert!((19_000..21_000).contains(&times.len()), "{}", times.len());
        let in_burst = times.iter().filter(|due| (due.as_millis() % 200) < 50).count();
        let part = in_burst as f64 / times.len() as f64;
        assert!((0.48..0.52).contains(&part), "{part}");
    }
}
