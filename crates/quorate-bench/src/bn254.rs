//! `bn254/*`: operators of EigenLayer, Symbiotic or a beacon on BN254. Beside quorate's plans stands what a program on arkworks does: each
//! claim by its own pairings.

use std::hint::black_box;

use ark_bn254::{Bn254, G1Affine, G2Affine};
use ark_ec::{AffineRepr, pairing::Pairing};
use ark_ff::Zero;
use quorate::{Backend, Bn254Suite, Claim, Plan, PublicKey, UncheckedSignature, culprit, execute::Execution, verify};
use quorate_bn254::{Bn254PublicKey, Bn254SecretKey};

use crate::{
    data,
    measure::{Engine, Run, measure},
    row::Row,
};

const SUITE: Bn254Suite = Bn254Suite::EigenLayer;

/// One signature, decoded.
#[derive(Clone, Copy)]
struct Vote {
    key: [u8; 128],
    message: [u8; 32],
    signature: [u8; 64],
}

impl Vote {
    fn of(signer: u64, message: u64) -> Self {
        let mut entropy = [7; 48];
        entropy[..8].copy_from_slice(&signer.to_be_bytes());
        let secret = Bn254SecretKey::from_entropy(&entropy);
        let message = quorate_bn254::drand_message(message);
        let hash = SUITE.hash(&message).expect("a digest");
        Self { key: secret.public_key_g2().to_bytes(), message, signature: secret.sign(&hash).to_bytes() }
    }

    fn claim(&self) -> Claim<Bn254Suite> {
        let key = PublicKey::from_bytes(&self.key).expect("a key");
        let signature = UncheckedSignature::from_bytes(&self.signature).expect("a signature");
        Claim::single(SUITE, key, self.message, signature)
    }

    /// e(H(m), key) · e(signature, -g), the message hashed inside.
    fn by_arkworks(&self, key: G2Affine, signature: G1Affine) -> bool {
        let hash = SUITE.hash(black_box(&self.message)).expect("a digest");
        Bn254::multi_pairing([hash.point(), signature], [key, -G2Affine::generator()]).is_zero()
    }
}

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let mut rows = verified(run, "bn254/verify", &[Vote::of(0, 0)]);
    for n in run.choose(&[128][..], &[16, 128, 1024]) {
        let votes = |message: fn(u64) -> u64| (0..*n).map(|i| Vote::of(i, message(i))).collect::<Vec<_>>();
        rows.extend(verified(run, "bn254/distinct", &votes(|i| i)));
        rows.extend(verified(run, "bn254/same-message", &votes(|_| 0)));
    }
    rows.extend(one_false(run));
    rows.extend(keys(run));
    rows
}

fn threads(run: &Run, n: usize) -> impl Iterator<Item = usize> {
    run.choose(&[1][..], if n >= 100 { &[1, 2] } else { &[1] }).iter().copied()
}

/// Decoded points, the messages hashed inside.
fn verified(run: &Run, bench: &str, votes: &[Vote]) -> Vec<Row> {
    let claims: Vec<_> = votes.iter().map(Vote::claim).collect();
    let decoded = decoded(votes);
    let mut engines = vec![
        Engine::new("arkworks", 1, || {
            assert!(votes.iter().zip(&decoded).all(|(vote, (key, signature))| vote.by_arkworks(*key, *signature)));
        })
        .note("each by its own pairings"),
    ];
    engines.extend(threads(run, votes.len()).map(|threads| {
        let (claims, options) = (&claims, data::options(Backend::Portable, threads));
        Engine::of(Backend::Portable, threads, move || {
            let outcome = verify(black_box(claims), &options, &mut data::rng());
            assert!(outcome.all_valid() && outcome.verdicts.len() == claims.len());
        })
    }));
    let n = votes.len();
    measure(bench, n, "claim", n, run.choose(3, (1000 / n).clamp(5, 101)), engines)
}

fn decoded(votes: &[Vote]) -> Vec<(G2Affine, G1Affine)> {
    let each = votes.iter().map(|vote| {
        let key = Bn254PublicKey::<G2Affine>::from_bytes(&vote.key).expect("a key");
        (key.point(), quorate_bn254::Bn254Signature::from_bytes(&vote.signature).expect("a signature").point())
    });
    each.collect()
}

/// One false signature among 128 over distinct messages; the time beyond the batch that failed.
fn one_false(run: &Run) -> Vec<Row> {
    let (n, wrong) = (128, 42);
    let mut votes: Vec<_> = (0..n as u64).map(|i| Vote::of(i, i)).collect();
    votes[wrong].signature = votes[wrong + 1].signature;
    let claims: Vec<_> = votes.iter().map(Vote::claim).collect();
    let decoded = decoded(&votes);
    let plan = Plan::new(&claims, &data::options(Backend::Portable, 1));
    let failed = Execution::new(&plan, &mut data::rng());
    let engines = vec![
        Engine::new("arkworks", 1, || {
            let found =
                votes.iter().zip(&decoded).position(|(vote, (key, signature))| !vote.by_arkworks(*key, *signature));
            assert_eq!(found, Some(wrong));
            let rest = votes.iter().zip(&decoded).skip(wrong + 1);
            assert!(rest.into_iter().all(|(vote, (key, signature))| vote.by_arkworks(*key, *signature)));
        })
        .note("each by its own pairings"),
        Engine::of(Backend::Portable, 1, || assert_eq!(culprit::search(&failed).culprits(), [wrong])),
    ];
    measure("bn254/bad=1", n, "search", 1, run.choose(2, 15), engines)
}

/// Keys in G2 from bytes, checked; and keys in both groups, of which each pair is checked as well.
fn keys(run: &Run) -> Vec<Row> {
    let n = 128;
    let votes: Vec<_> = (0..n as u64).map(|i| Vote::of(i, 0)).collect();
    let single: Vec<_> = votes.iter().map(|vote| &vote.key[..]).collect();
    let engines = vec![
        Engine::new("arkworks", 1, || {
            assert!(single.iter().all(|bytes| Bn254PublicKey::<G2Affine>::from_bytes(black_box(bytes)).is_ok()));
        }),
        Engine::of(Backend::Portable, 1, || {
            let keys = PublicKey::<Bn254Suite>::from_bytes_each(black_box(&single), Backend::Portable);
            assert!(keys.iter().all(Result::is_ok));
        }),
    ];
    let mut rows = measure("bn254/key-from-bytes", n, "key", n, run.choose(3, 21), engines);
    let dual: Vec<_> = (0..n as u64)
        .map(|i| {
            let mut entropy = [7; 48];
            entropy[..8].copy_from_slice(&i.to_be_bytes());
            Bn254SecretKey::from_entropy(&entropy).dual_key().to_bytes()
        })
        .collect();
    let both: Vec<_> = dual.iter().map(|bytes| &bytes[..]).collect();
    let engines = vec![
        Engine::new("arkworks", 1, || assert!(both.iter().all(|bytes| SUITE.key(black_box(bytes)).is_ok())))
            .note("each by its own pairings"),
        Engine::of(Backend::Portable, 1, || {
            let keys = PublicKey::<Bn254Suite>::from_bytes_each(black_box(&both), Backend::Portable);
            assert!(keys.iter().all(Result::is_ok));
        }),
    ];
    rows.extend(measure("bn254/dual-key-from-bytes", n, "key", n, run.choose(3, 21), engines));
    rows
}
