//! `block/*`: 1,000 signed transactions in a block with one aggregate signature, some of them verified before as gossip.
//!
//! The case of "BLS: Is it really that slow?" (A. Block, 2018). Beside it ECDSA over secp256k1, a signature a
//! transaction, which skips the known ones altogether. [`batches`] and the service's `arrivals` are what the source says of
//! transactions outside blocks.

mod batches;

use quorate::{Backend, Claim, Known, MinPk, aggregate, verify};
use secp256k1::{Message, SecretKey, ecdsa};

use crate::{
    batch::Blst,
    data::{self, signed},
    measure::{Engine, Run, measure},
    row::{Figures, Row, Times},
    service::arrivals,
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let n = 1000;
    let suite = MinPk::Eth2;
    let transactions = signed(suite, n, |i| i, |i| i);
    let statements = transactions.iter().map(|s| (s.key, s.message.clone().into())).collect();
    let signatures: Vec<_> = transactions.iter().map(|s| s.signature).collect();
    let sum = aggregate::aggregate(&signatures, Backend::auto()).expect("a thousand signatures");
    let block = Claim::each(suite, statements, quorate::UncheckedSignature::from_point(sum.point()));
    let blst = Blst::new(&transactions);
    let ecdsa = Ecdsa::new(n);

    let mut rows = Vec::new();
    for percent in [0, 50, 90, 100] {
        let mut known = Known::new();
        for s in &transactions[..n * percent / 100] {
            known.trust(suite, s.key, s.message.clone(), s.signature);
        }
        let mut engines = Vec::new();
        if percent == 0 {
            let work = || assert!(blst.aggregate_verify());
            engines.push(Engine::new("blst", 1, work).note("aggregates 1,000 signatures as well, about 1 ms"));
        }
        engines.extend(run.each(&[1, 2]).map(|(backend, threads)| {
            let (block, known) = (&block, &known);
            Engine::of(backend, threads, move || {
                let rest = block.without(known, backend);
                assert!(verify(&[rest], &data::options(backend, threads), &mut data::rng()).all_valid());
            })
        }));
        if percent < 100 {
            engines
                .push(Engine::new("secp256k1", 1, || ecdsa.verify(n - n * percent / 100)).note("libsecp256k1, ECDSA"));
        }
        let bench = format!("block/known={percent}");
        rows.extend(measure(&bench, n, "block", 1, run.choose(2, 11), engines));
        if let Some((bls, ecdsa)) = PUBLISHED.iter().find(|p| p.0 == percent).map(|p| (p.1, p.2)) {
            rows.push(published(&bench, n, "published/dash", bls * 1e3, "A. Block, 2018, Dash core benchmark"));
            rows.push(published(
                &bench,
                n,
                "published/dash-ecdsa",
                ecdsa * 1e3,
                "the same; 50 and 90 % skipped by estimate",
            ));
        }
    }
    rows.extend(batches::run(run));
    rows.extend(arrivals::run(run));
    rows
}

/// Percent known, milliseconds a block of 1,000, and of ECDSA.
const PUBLISHED: [(usize, f64, f64); 3] = [(0, 226.0, 60.0), (50, 111.0, 30.0), (90, 25.0, 6.0)];

/// A figure that was published and not measured here.
pub(crate) fn published(bench: &str, n: usize, engine: &str, us: f64, note: &str) -> Row {
    Row {
        bench: bench.into(),
        engine: engine.into(),
        threads: 1,
        n,
        per: "block".into(),
        figures: Figures::Us(Times { min: us, median: us, max: us }),
        cpu_us: None,
        latency_ms: None,
        refused: None,
        traffic: None,
        note: note.into(),
    }
}

struct Ecdsa {
    signed: Vec<(Message, ecdsa::Signature, secp256k1::PublicKey)>,
}

impl Ecdsa {
    fn new(n: usize) -> Self {
        let signed = (0..n as u64).map(|i| {
            let mut bytes = [1; 32];
            bytes[..8].copy_from_slice(&i.to_le_bytes());
            let secret = SecretKey::from_secret_bytes(bytes).expect("below the order");
            let message = Message::from_digest(bytes);
            (message, ecdsa::sign(message, &secret), secret.public_key())
        });
        Self { signed: signed.collect() }
    }

    fn verify(&self, n: usize) {
        for (message, signature, key) in &self.signed[..n] {
            assert!(ecdsa::verify(signature, *message, key).is_ok());
        }
    }
}
