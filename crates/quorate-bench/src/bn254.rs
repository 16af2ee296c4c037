//! `bn254/*`: operators of EigenLayer, Symbiotic or a beacon on BN254. Beside quorate's plans stands what a program on arkworks does: each
//! claim by its own pairings.

use std::hint::black_box;

use ark_bn254::{Bn254, Fr, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup, pairing::Pairing};
use ark_ff::Zero;
use quorate::{
    Backend, Bn254Suite, Claim, Plan, PublicKey, Soundness, UncheckedSignature, culprit, execute::Execution, verify,
};
use quorate_bn254::{
    Bn254PublicKey, Bn254SecretKey, DRAND_EVMNET_TAG,
    hash_to_curve::{Roots, hash_to_curve, hash_to_curve_parts},
};
use quorate_curve::{Bn254G1, Bn254G2, Group, Segments, Weight, WeightedSegments};
use quorate_evm::{Collection, KeyGroup, Network, OperatorKey, alloy_primitives::Address, base::Table};
use rand_core::Rng;

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
    rows.extend(collected(run));
    rows.extend(verbs(run));
    rows
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
    engines.extend(run.each(if votes.len() >= 100 { &[1, 2] } else { &[1] }).map(|(backend, threads)| {
        let (claims, options) = (&claims, data::options(backend, threads));
        Engine::of(backend, threads, move || {
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
    let plans: Vec<_> = run.backends.iter().map(|backend| Plan::new(&claims, &data::options(*backend, 1))).collect();
    let failed: Vec<_> = plans.iter().map(|plan| Execution::new(plan, &mut data::rng())).collect();
    let mut engines = vec![
        Engine::new("arkworks", 1, || {
            let found =
                votes.iter().zip(&decoded).position(|(vote, (key, signature))| !vote.by_arkworks(*key, *signature));
            assert_eq!(found, Some(wrong));
            let rest = votes.iter().zip(&decoded).skip(wrong + 1);
            assert!(rest.into_iter().all(|(vote, (key, signature))| vote.by_arkworks(*key, *signature)));
        })
        .note("each by its own pairings"),
    ];
    engines.extend(run.backends.iter().zip(&failed).map(|(backend, failed)| {
        Engine::of(*backend, 1, move || assert_eq!(culprit::search(failed).culprits(), [wrong]))
    }));
    measure("bn254/bad=1", n, "search", 1, run.choose(2, 15), engines)
}

/// Keys in G2 from bytes, checked; and keys in both groups, of which each pair is checked as well.
fn keys(run: &Run) -> Vec<Row> {
    let n = 128;
    let votes: Vec<_> = (0..n as u64).map(|i| Vote::of(i, 0)).collect();
    let single: Vec<_> = votes.iter().map(|vote| &vote.key[..]).collect();
    let mut engines = vec![Engine::new("arkworks", 1, || {
        assert!(single.iter().all(|bytes| Bn254PublicKey::<G2Affine>::from_bytes(black_box(bytes)).is_ok()));
    })];
    engines.extend(read(run, &single));
    let mut rows = measure("bn254/key-from-bytes", n, "key", n, run.choose(3, 21), engines);
    let dual: Vec<_> = (0..n as u64)
        .map(|i| {
            let mut entropy = [7; 48];
            entropy[..8].copy_from_slice(&i.to_be_bytes());
            Bn254SecretKey::from_entropy(&entropy).dual_key().to_bytes()
        })
        .collect();
    let both: Vec<_> = dual.iter().map(|bytes| &bytes[..]).collect();
    let mut engines = vec![
        Engine::new("arkworks", 1, || assert!(both.iter().all(|bytes| SUITE.key(black_box(bytes)).is_ok())))
            .note("each by its own pairings"),
    ];
    engines.extend(read(run, &both));
    rows.extend(measure("bn254/dual-key-from-bytes", n, "key", n, run.choose(3, 21), engines));
    rows
}

/// Each backend reads the keys.
fn read<'a>(run: &'a Run, keys: &'a [&'a [u8]]) -> impl Iterator<Item = Engine<'a>> {
    run.backends.iter().map(|backend| {
        Engine::of(*backend, 1, || {
            let keys = PublicKey::<Bn254Suite>::from_bytes_each(black_box(keys), *backend);
            assert!(keys.iter().all(Result::is_ok));
        })
    })
}

/// The signatures of a thousand operators over one result, one of them false: what an aggregator collects.
fn collected(run: &Run) -> Vec<Row> {
    let (n, wrong, digest) = (run.choose(100, 1000), 42, [7; 32]);
    let operators: Vec<_> = (0..n as u64)
        .map(|i| {
            let mut entropy = [7; 48];
            entropy[..8].copy_from_slice(&i.to_be_bytes());
            OperatorKey::from_entropy(KeyGroup::Bn254G1, &entropy)
        })
        .collect();
    let Table { key_pages, weight_pages, .. } = Table::paged(KeyGroup::Bn254G1, vec![100; n], 1);
    let network = Network {
        key_group: KeyGroup::Bn254G1,
        chain_id: 1,
        contract: Address::ZERO,
        nonce: 0,
        epoch: 1,
        required: 100,
        enough: n as u32,
        paid: 0,
        table: 0,
        unknown_newest: None,
        keys: operators.iter().map(OperatorKey::member).collect(),
        weights: vec![100; n],
        key_pages,
        weight_pages,
        bases: vec![],
    };
    let digest_of = |i: usize| if i == wrong { [8; 32] } else { digest };
    let signatures: Vec<_> = operators.iter().enumerate().map(|(i, o)| (i, o.sign(&digest_of(i)))).collect();
    let engines = run.each(&[1]).map(|(backend, threads)| {
        let (network, signatures) = (&network, &signatures);
        Engine::of(backend, threads, move || {
            let mut collection = Collection::new(network, digest);
            let answers = collection.add(signatures, &data::options(backend, 1), &mut data::rng());
            assert!(answers.iter().enumerate().all(|(i, answer)| answer.is_ok() == (i != wrong)));
        })
    });
    measure("bn254/collect", n, "signature", n, run.choose(2, 9), engines.collect())
}

/// The verbs of the curve, whose costs the plan weighs, beside arkworks.
fn verbs(run: &Run) -> Vec<Row> {
    let (n, rounds) = (run.choose(128, 1024), run.choose(3, 15));
    let messages: Vec<_> = (0..n as u64).map(quorate_bn254::drand_message).collect();
    let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
    let hashes = |backend: Backend| {
        let roots: Roots<'_> = &|squares| Bn254G1::square_roots(backend, squares);
        let parts = hash_to_curve_parts(&messages, DRAND_EVMNET_TAG, roots);
        let points = parts.as_flattened().iter().map(Bn254G1::from_ark_assuming_on_curve).collect();
        backend.sums(&Segments::of_size(2, points))
    };
    let p = hashes(Backend::Portable);
    let q: Vec<_> = (0..n as u64).map(|i| (G2Affine::generator() * Fr::from(i * i + 3)).into_affine()).collect();
    let q: Vec<_> = q.iter().map(Bn254G2::from_ark_assuming_on_curve).collect();
    let pairs: Vec<_> = p.iter().copied().zip(q.iter().copied()).collect();
    let (ark_p, ark_q): (Vec<_>, Vec<_>) = pairs.iter().map(|(p, q)| (p.to_ark(), q.to_ark())).unzip();
    let mut rng = data::rng();
    let weights: Vec<_> = (0..n).map(|_| Weight::draw(Soundness::Bits64, || rng.next_u64())).collect();
    let mut rows = Vec::new();
    let mut add = |verb: &str, n: usize, item: &'static str, ark: Option<&dyn Fn()>, work: &dyn Fn(Backend)| {
        let mut engines: Vec<_> = ark.into_iter().map(|ark| Engine::new("arkworks", 1, ark)).collect();
        engines.extend(run.each(&[1]).map(|(backend, threads)| Engine::of(backend, threads, move || work(backend))));
        rows.extend(measure(&format!("bn254/{verb}"), n, item, n, rounds, engines));
    };
    let ark = || {
        for (message, hash) in messages.iter().zip(&p) {
            let point = hash_to_curve(black_box(message), DRAND_EVMNET_TAG).point();
            assert!(Bn254G1::from_ark_assuming_on_curve(&point) == *hash);
        }
    };
    add("hash", n, "message", Some(&ark), &|backend| assert_eq!(hashes(backend), p));
    for n in [1, 2, 8, n] {
        let ark = || {
            let _ = black_box(Bn254::multi_miller_loop(&ark_p[..n], &ark_q[..n]));
        };
        add("miller", n, "pair", Some(&ark), &|backend| {
            let _ = black_box(backend.miller_product(&pairs[..n]));
        });
    }
    for n in [1, 8] {
        let values =
            Backend::Portable.miller_products(quorate_curve::Pairing::Ate, &Segments::of_size(1, pairs[..n].to_vec()));
        add("final-exponentiation", n, "value", None, &|backend| {
            assert_eq!(backend.final_exponentiations(black_box(&values)).len(), n);
        });
    }
    let ark = || assert!(ark_q.iter().all(|point| black_box(point).is_in_correct_subgroup_assuming_on_curve()));
    add("subgroup-g2", n, "point", Some(&ark), &|backend| assert!(backend.in_subgroup(&q).into_iter().all(|is| is)));
    let (sixteens_g1, sixteens_g2) = (cut(&p, &weights), cut(&q, &weights));
    add("g1-weighted-16-64", n, "point", None, &|backend| {
        assert_eq!(backend.weighted_sums(&sixteens_g1).len(), n / 16)
    });
    add("g2-weighted-16-64", n, "point", None, &|backend| {
        assert_eq!(backend.weighted_sums(&sixteens_g2).len(), n / 16)
    });
    add("g1-sum", n, "point", None, &|backend| assert!(!backend.sum(black_box(&p)).is_identity()));
    add("g2-sum", n, "point", None, &|backend| assert!(!backend.sum(black_box(&q)).is_identity()));
    rows
}

/// Segments of 16 weighted points.
fn cut<G: Group>(points: &[G], weights: &[Weight]) -> WeightedSegments<G> {
    let weighted: Vec<_> = points.iter().copied().zip(weights.iter().copied()).collect();
    weighted.chunks(16).map(|segment| segment.iter().copied()).collect()
}
