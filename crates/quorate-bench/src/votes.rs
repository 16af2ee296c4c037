//! `votes/*`: the votes of a slot without committees, by the members of one large set of keys.
//!
//! Signing a million times takes minutes. So the secrets are in arithmetic progression: key i is A + i·D, its signature of a message
//! is that of A plus i times that of D, and both are made by additions. Nothing that is measured knows.

use std::{hint::black_box, num::NonZeroUsize};

use blst::{BLST_ERROR, min_pk};
use quorate::{
    AnyKeySet, Backend, Bitmap, ClaimBytes, KeySet, Members, MinPk, Options, PublicKeys, SecretKey, Suite, Verifier,
};
use quorate_curve::{Bls12381Group, Group, Segments};
use rand_core::Rng;

use crate::{
    batch::TAG,
    data,
    measure::{Engine, Run, measure},
    row::Row,
};

const SUITE: MinPk = MinPk::Eth2;

/// Messages that the votes of a slot are about: the head, and what latecomers saw.
const MESSAGES: usize = 4;

/// Votes that are verified at a time, which bounds the memory of a stream.
const WINDOW: usize = 1 << 15;

/// Keys of which blst checks the membership, and votes that it verifies one by one.
const SAMPLE: usize = 1 << 8;

/// Members whose keys one aggregate sums.
const ADDED: usize = 30_000;

/// Aggregates of other members, more than a set keeps the sums of.
const AGGREGATES: usize = 16;

pub(crate) fn run(run: &Run) -> Vec<Row> {
    // A million votes take the slower backends minutes.
    let fastest = Run { backends: run.backends[..1].to_vec(), ..run.clone() };
    let mut rows = Vec::new();
    for (log, run) in run.choose(&[(14, run)][..], &[(17, run), (20, &fastest)]) {
        let slot = Slot::new(1 << *log);
        rows.extend(slot.keys(run));
        rows.extend(slot.sums(run));
        for bad in [0, 1, 1_000] {
            rows.extend(slot.votes(run, bad));
        }
    }
    rows
}

/// The members of a set, and the vote of each.
struct Slot {
    keys: Vec<[u8; 48]>,
    messages: Vec<[u8; 32]>,
    /// By member. Member i votes for the message at i modulo [`MESSAGES`].
    signatures: Vec<[u8; 96]>,
}

impl Slot {
    fn new(members: usize) -> Self {
        let [first, step] = [1, 2].map(|i| SecretKey::<MinPk>::key_gen(SUITE, &[i; 32], b"votes").expect("32 bytes"));
        let keys = progression(first.public_key().point(), step.public_key().point(), members);
        let messages: Vec<_> = (0..MESSAGES).map(|i| [i as u8; 32]).collect();
        let by_message: Vec<_> = messages
            .iter()
            .map(|message| {
                let [first, step] = [&first, &step].map(|secret| secret.sign(SUITE, message).point());
                progression(first, step, members)
            })
            .collect();
        Self {
            keys: keys.iter().map(Bls12381Group::compress).collect(),
            messages,
            signatures: (0..members).map(|i| by_message[i % MESSAGES][i].compress()).collect(),
        }
    }

    fn encodings(&self) -> Vec<&[u8]> {
        self.keys.iter().map(|key| &key[..]).collect()
    }

    fn set(&self, backend: Backend, threads: usize) -> KeySet<MinPk> {
        let mut set = KeySet::new(SUITE, backend);
        let threads = NonZeroUsize::new(threads).expect("a thread");
        set.decode(&self.encodings(), true, threads, &mut data::rng()).expect("the keys are valid");
        set
    }

    /// Keys from bytes, and from a saved set.
    fn keys(&self, run: &Run) -> Vec<Row> {
        let n = self.keys.len();
        let saved = self.set(Backend::auto(), 2).to_saved();
        let mut engines = vec![
            Engine::new("blst", 1, || {
                for key in self.keys.iter().cycle().step_by(n / SAMPLE).take(SAMPLE) {
                    black_box(min_pk::PublicKey::key_validate(key).expect("a key"));
                }
            })
            .items(SAMPLE)
            .note("decoded and validated one by one, a sample of 256"),
        ];
        engines.extend(run.each(&[1, 2]).map(|(backend, threads)| {
            Engine::of(backend, threads, move || assert_eq!(self.set(backend, threads).len(), n))
        }));
        let mut rows = measure(&format!("votes/keys={n}"), n, "key", n, run.choose(1, 2), engines);
        let engines = run.each(&[1, 2]).map(|(backend, threads)| {
            let (saved, threads_of_set) = (&saved, NonZeroUsize::new(threads).expect("a thread"));
            Engine::of(backend, threads, move || {
                let set = AnyKeySet::from_saved(saved, backend, threads_of_set).expect("a saved set");
                assert_eq!(set.len(), n);
            })
        });
        rows.extend(measure(&format!("votes/keys-saved={n}"), n, "key", n, run.choose(1, 3), engines.collect()));
        rows
    }

    /// The sum of the keys of an aggregate's members, each time of others.
    fn sums(&self, run: &Run) -> Vec<Row> {
        let (n, mut rng) = (self.keys.len(), data::rng());
        let added = ADDED.min(n / 4);
        let aggregates: Vec<_> = (0..AGGREGATES)
            .map(|_| {
                let mut members = std::collections::BTreeSet::new();
                while members.len() < added {
                    members.insert((rng.next_u64() % n as u64) as usize);
                }
                Bitmap::from_indices(members)
            })
            .collect();
        let sets: Vec<_> = run.backends.iter().map(|backend| (*backend, self.set(*backend, 2))).collect();
        let expected: Vec<_> = aggregates.iter().map(|members| sets[0].1.sum(members).expect("members")).collect();
        let decoded: Vec<_> = self.keys.iter().map(|key| min_pk::PublicKey::uncompress(key).expect("a key")).collect();
        let (mut next, aggregates, expected) = (0, &aggregates, &expected);
        let mut engines = vec![Engine::new("blst", 1, move || {
            next = (next + 1) % AGGREGATES;
            let keys: Vec<_> = aggregates[next].indices().map(|i| &decoded[i]).collect();
            let sum = min_pk::AggregatePublicKey::aggregate(&keys, false).expect("keys").to_public_key();
            let bytes = expected[next].compress();
            assert_eq!(sum.compress(), bytes);
        })];
        engines.extend(sets.iter().map(|(backend, set)| {
            let mut next = 0;
            Engine::of(*backend, 1, move || {
                next = (next + 1) % AGGREGATES;
                assert_eq!(set.sum(&aggregates[next]), Ok(expected[next]));
            })
        }));
        measure(&format!("votes/sum-of={added}"), n, "sum", 1, run.choose(4, 32), engines)
    }

    /// All votes, of which some are false, from bytes to verdicts. The members' keys are decoded.
    fn votes(&self, run: &Run, bad: usize) -> Vec<Row> {
        let n = self.keys.len();
        let bad = bad.min(n / 8);
        let mut signatures = self.signatures.clone();
        let wrong: Vec<usize> = (0..bad).map(|k| (k * n + n / 3) / bad.max(1)).collect();
        for i in &wrong {
            // The signature of another member for the same message.
            signatures[*i] = self.signatures[(i + MESSAGES) % n];
        }
        let (signatures, wrong) = (&signatures, &wrong);
        let sample = (0..n).step_by(n / SAMPLE).take(SAMPLE);
        // As the members of a set are.
        let decoded: Vec<_> =
            sample.map(|i| (i, min_pk::PublicKey::uncompress(&self.keys[i]).expect("a key"))).collect();
        let mut engines = vec![
            Engine::new("blst", 1, move || {
                for (i, key) in &decoded {
                    let signature = min_pk::Signature::uncompress(&signatures[*i]).expect("a signature");
                    let message = &self.messages[*i % MESSAGES];
                    let is_true = signature.verify(true, message, TAG, &[], key, false) == BLST_ERROR::BLST_SUCCESS;
                    assert_eq!(is_true, wrong.binary_search(i).is_err());
                }
            })
            .items(SAMPLE)
            .note("one by one, a sample of 256, keys decoded beforehand"),
        ];
        let sets: Vec<_> = run.backends.iter().map(|backend| (*backend, self.set(*backend, 2).into_any())).collect();
        let of =
            |backend: Backend| sets.iter().find(|(of, _)| *of == backend).expect("each backend has a set").1.clone();
        engines.extend(run.each(&[1, 2]).map(|(backend, threads)| {
            let set = of(backend);
            Engine::of(backend, threads, move || {
                assert_eq!(self.verdicts(&set, signatures, &data::options(backend, threads)), *wrong);
            })
        }));
        measure(&format!("votes/bad={bad}"), n, "vote", n, run.choose(1, 2), engines)
    }

    /// The votes that are false. A window of them is verified at a time, as they come.
    fn verdicts(&self, set: &AnyKeySet, signatures: &[[u8; 96]], options: &Options) -> Vec<usize> {
        let (verifier, mut rng) = (Verifier::new(*options), data::rng());
        let messages: Vec<std::sync::Arc<[u8]>> = self.messages.iter().map(|message| message[..].into()).collect();
        let mut found = Vec::new();
        for (window, signatures) in signatures.chunks(WINDOW).enumerate() {
            let first = window * WINDOW;
            let claim = |(i, signature): (usize, &[u8; 96])| {
                let member = PublicKeys::Members(set.clone(), Members::Indices(vec![(first + i) as u32]));
                ClaimBytes::shared(SUITE.any(), member, messages[i % MESSAGES].clone(), signature.to_vec())
            };
            let claims: Vec<_> = signatures.iter().enumerate().map(claim).collect();
            found.extend(verifier.verify(&claims, &mut rng).invalid().map(|i| first + i));
        }
        found
    }
}

/// a, a + d, a + 2·d, …
fn progression<G: Group>(a: G, d: G, n: usize) -> Vec<G> {
    let backend = Backend::auto();
    let mut points = vec![a];
    let mut step = d;
    while points.len() < n {
        let next: Segments<G> = points.iter().map(|point| [*point, step]).collect();
        points.extend(backend.sums(&next));
        step = backend.sum(&[step, step]);
    }
    points.truncate(n);
    points
}
