//! Claims as bytes, of any suite: the verdicts of a batch are those of each claim alone, on every backend, and none is
//! undecided.
#![no_main]

use std::{num::NonZeroUsize, sync::LazyLock};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use quorate::{AnySuite, Backend, ClaimBytes, Messages, MinPk, MinSig, Options, Reason, SecretKey, Suite, Verdict, Verifier};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

#[derive(Arbitrary, Debug)]
struct Entry {
    suite: u8,
    keys: Vec<Bytes>,
    messages: Shape,
    signature: Bytes,
    source: Option<u8>,
}

#[derive(Arbitrary, Debug)]
enum Shape {
    Shared(u8),
    Each(Vec<u8>),
    ProofOfPossession,
}

/// An encoding from the pool, with a byte changed or not; or anything.
#[derive(Arbitrary, Debug)]
enum Bytes {
    Pool(u8),
    Changed(u8, u8, u8),
    Any(Vec<u8>),
}

/// Keys of both variants, and their signatures over the message [0].
static POOL: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    fn of<S: Suite>(suite: S, pool: &mut Vec<Vec<u8>>) {
        for i in 0..3 {
            let secret = SecretKey::key_gen(suite, &[i; 32], b"fuzz").expect("32 bytes");
            pool.push(secret.public_key().to_bytes().as_ref().to_vec());
            pool.push(secret.sign(suite, &[0]).to_bytes().as_ref().to_vec());
        }
    }
    let mut pool = Vec::new();
    of(MinPk::Eth2, &mut pool);
    of(MinSig::Basic, &mut pool);
    pool
});

fuzz_target!(|entries: Vec<Entry>| {
    let claims: Vec<_> = entries.into_iter().take(6).map(ClaimBytes::from).collect();
    let alone: Vec<_> = claims.iter().map(ClaimBytes::verify).collect();
    for backend in Backend::available() {
        let options = Options { threads: NonZeroUsize::MIN, backend: *backend, ..Options::default() };
        let outcome = Verifier::new(options).verify(&claims, &mut ChaCha20Rng::from_seed([7; 32]));
        assert_eq!(outcome.verdicts, alone, "{backend}");
        assert!(!outcome.verdicts.contains(&Verdict::Invalid(Reason::Undecided)));
    }
});

impl From<Entry> for ClaimBytes {
    fn from(entry: Entry) -> Self {
        let suites: Vec<_> = AnySuite::all().collect();
        Self {
            suite: suites[usize::from(entry.suite) % suites.len()],
            public_keys: entry.keys.into_iter().take(4).map(Vec::from).collect(),
            messages: match entry.messages {
                Shape::Shared(message) => Messages::Shared([message % 3].into()),
                Shape::Each(each) => Messages::Each(each.into_iter().take(4).map(|m| [m % 3].into()).collect()),
                Shape::ProofOfPossession => Messages::ProofOfPossession,
            },
            signature: entry.signature.into(),
            source: entry.source.map(|source| u64::from(source % 3).into()),
        }
    }
}

impl From<Bytes> for Vec<u8> {
    fn from(bytes: Bytes) -> Self {
        let pooled = |i: u8| POOL[usize::from(i) % POOL.len()].clone();
        match bytes {
            Bytes::Pool(i) => pooled(i),
            Bytes::Changed(i, at, with) => {
                let mut bytes = pooled(i);
                let n = bytes.len();
                bytes[usize::from(at) % n] ^= with;
                bytes
            }
            Bytes::Any(bytes) => bytes,
        }
    }
}
