//! Claims as bytes, of any suite: in a batch each has the verdict that it has alone, on every backend, and none is undecided.
//!
//! A claim begins as a valid one of its suite. Then its bytes are changed, or not.

use std::{collections::BTreeMap, num::NonZeroUsize, sync::LazyLock};

use arbitrary::Arbitrary;
use quorate::{
    AnySuite, Backend, Bls12381Suite, Bn254Suite, ClaimBytes, Messages, Options, Reason, Scheme, SecretKey, Signature,
    Verdict, Verifier, aggregate::aggregate, bdn, proof_of_possession,
};
use quorate_bn254::{Bn254SecretKey, Bn254Signature};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

#[derive(Arbitrary, Debug)]
struct Input {
    entries: Vec<Entry>,
    two_threads: bool,
}

/// A claim: its suite by index, its signers and messages by their index in the pool of the suite.
#[derive(Arbitrary, Debug)]
struct Entry {
    suite: u8,
    shape: Shape,
    key_change: (u8, Change),
    signature_change: Change,
    source: Option<bool>,
}

#[derive(Arbitrary, Debug)]
enum Shape {
    Single(u8, u8),
    Shared([Option<u8>; 3], u8),
    Each([Option<(u8, u8)>; 3]),
    ProofOfPossession(u8),
    /// As many keys and messages as it says, signed by the first key alone.
    Unequal([Option<u8>; 2], [Option<u8>; 2]),
}

#[derive(Arbitrary, Debug)]
enum Change {
    None,
    /// These bits of this byte are the opposite.
    Flip(u8, u8),
    /// So many bytes are left.
    Cut(u8),
    /// All zero, but for these bits of the first byte: the identity, and points of small order.
    Zeros(u8),
    /// Other bytes.
    Any(Vec<u8>),
}

/// Keys, and messages that each of them signed. Messages are 32 bytes, which every suite takes.
const KEYS: u8 = 3;
const MESSAGES: u8 = 3;

/// The sum of the signatures of signers over messages, each by its index.
type Signing = Box<dyn Fn(&[(u8, u8)]) -> Vec<u8> + Send + Sync>;

/// The encodings of a suite's keys, and their owners' signatures.
struct Signers {
    keys: Vec<Vec<u8>>,
    /// The sum of the signatures of these keys over these messages.
    sign: Signing,
    /// The key's proof of possession; nothing where the suite has none.
    prove: Box<dyn Fn(u8) -> Vec<u8> + Send + Sync>,
}

static SIGNERS: LazyLock<BTreeMap<AnySuite, Signers>> = LazyLock::new(|| {
    let signers = |suite| match suite {
        AnySuite::MinPk(suite) => on_bls12381(suite),
        AnySuite::MinSig(suite) => on_bls12381(suite),
        AnySuite::Bn254(suite) => on_bn254(suite),
        other => panic!("{other} has no signers here"),
    };
    AnySuite::all().map(|suite| (suite, signers(suite))).collect()
});

pub fn run(bytes: &[u8]) {
    let Some(input) = crate::structured::<Input>(bytes) else { return };
    let claims: Vec<_> = input.entries.into_iter().take(6).map(ClaimBytes::from).collect();
    let alone: Vec<_> = claims.iter().map(ClaimBytes::verify).collect();
    assert!(!alone.contains(&Verdict::Invalid(Reason::Undecided)));
    let threads = NonZeroUsize::MIN.saturating_add(usize::from(input.two_threads));
    for backend in Backend::available() {
        let verifier = Verifier::new(Options { threads, backend: *backend, ..Options::default() });
        // The second time, the verifier has the keys of the first.
        for _ in 0..2 {
            let outcome = verifier.verify(&claims, &mut ChaCha20Rng::from_seed([7; 32]));
            assert_eq!(outcome.verdicts, alone, "{backend}");
            assert_eq!(outcome.all_valid(), !claims.is_empty() && alone.iter().all(|verdict| verdict.is_valid()));
        }
    }
}

impl From<Entry> for ClaimBytes {
    fn from(Entry { suite, shape, key_change, signature_change, source }: Entry) -> Self {
        let suites = SIGNERS.len();
        let (suite, signers) = SIGNERS.iter().nth(usize::from(suite) % suites).expect("an index below the length");
        let message = |m: u8| [m % MESSAGES; 32][..].into();
        let (keys, messages, mut signature) = match shape {
            Shape::Single(k, m) => (vec![k], Messages::Shared(message(m)), (signers.sign)(&[(k, m)])),
            Shape::Shared(keys, m) => {
                let keys: Vec<_> = keys.into_iter().flatten().collect();
                let statements: Vec<_> = keys.iter().map(|k| (*k, m)).collect();
                (keys, Messages::Shared(message(m)), (signers.sign)(&statements))
            }
            Shape::Each(statements) => {
                let statements: Vec<_> = statements.into_iter().flatten().collect();
                let messages = statements.iter().map(|(_, m)| message(*m)).collect();
                let keys = statements.iter().map(|(k, _)| *k).collect();
                (keys, Messages::Each(messages), (signers.sign)(&statements))
            }
            Shape::ProofOfPossession(k) => (vec![k], Messages::ProofOfPossession, (signers.prove)(k)),
            Shape::Unequal(keys, messages) => {
                let messages = messages.into_iter().flatten().map(message).collect();
                (keys.into_iter().flatten().collect(), Messages::Each(messages), (signers.sign)(&[(0, 0)]))
            }
        };
        let mut public_keys: Vec<_> = keys.iter().map(|k| signers.keys[usize::from(k % KEYS)].clone()).collect();
        let changed = usize::from(key_change.0).checked_rem(public_keys.len());
        if let Some(changed) = changed {
            key_change.1.apply(&mut public_keys[changed]);
        }
        signature_change.apply(&mut signature);
        Self {
            suite: *suite,
            public_keys: public_keys.into(),
            messages,
            signature,
            source: source.map(|source| u64::from(source).into()),
        }
    }
}

impl Change {
    fn apply(self, bytes: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::Flip(at, bits) => {
                let at = usize::from(at).checked_rem(bytes.len());
                at.into_iter().for_each(|at| bytes[at] ^= bits);
            }
            Self::Cut(length) => bytes.truncate(length.into()),
            Self::Zeros(first) => {
                bytes.fill(0);
                bytes.iter_mut().take(1).for_each(|byte| *byte = first);
            }
            Self::Any(other) => *bytes = other,
        }
    }
}

fn on_bls12381<S: Bls12381Suite>(suite: S) -> Signers {
    let secrets: Vec<_> = (0..KEYS).map(|i| SecretKey::key_gen(suite, &[i; 32], b"fuzz").expect("32 bytes")).collect();
    let signed = |secret: &SecretKey<S>| (0..MESSAGES).map(|m| secret.sign(suite, &[m; 32])).collect();
    let signatures: Vec<Vec<Signature<S>>> = secrets.iter().map(signed).collect();
    let bytes = |signature: Signature<S>| signature.to_bytes().as_ref().to_vec();
    let prove = |secret| proof_of_possession::prove(suite, secret).map(bytes).unwrap_or_default();
    let proofs: Vec<_> = secrets.iter().map(prove).collect();
    Signers {
        keys: secrets.iter().map(|secret| secret.public_key().to_bytes().as_ref().to_vec()).collect(),
        sign: Box::new(move |statements| {
            let parts = statements.iter().map(|(k, m)| signatures[usize::from(k % KEYS)][usize::from(m % MESSAGES)]);
            let parts: Vec<_> = parts.collect();
            let one_message = statements.windows(2).all(|pair| pair[0].1 == pair[1].1);
            let sum = if suite.scheme() == Scheme::Bdn && one_message {
                let keys = statements.iter().map(|(k, _)| secrets[usize::from(k % KEYS)].public_key());
                bdn::aggregate(suite, &keys.zip(parts).collect::<Vec<_>>(), Backend::Portable)
            } else {
                aggregate(&parts, Backend::Portable)
            };
            sum.map(bytes).unwrap_or_default()
        }),
        prove: Box::new(move |k| proofs[usize::from(k % KEYS)].clone()),
    }
}

fn on_bn254(suite: Bn254Suite) -> Signers {
    let secrets: Vec<_> = (0..KEYS).map(|i| Bn254SecretKey::from_entropy(&[i; 48])).collect();
    let sign = |secret: &Bn254SecretKey, m: u8| suite.sign(secret, &[m; 32]).expect("every suite takes 32 bytes");
    let signed = |secret: &Bn254SecretKey| (0..MESSAGES).map(|m| sign(secret, m)).collect();
    let signatures: Vec<Vec<Bn254Signature>> = secrets.iter().map(signed).collect();
    let prove = |secret| suite.prove_possession(secret).map(|proof| proof.to_bytes().to_vec()).unwrap_or_default();
    let proofs: Vec<_> = secrets.iter().map(prove).collect();
    let key = |secret: &Bn254SecretKey| match suite.has_dual_keys() {
        false => secret.public_key_g2().to_bytes().to_vec(),
        true => secret.dual_key().to_bytes().to_vec(),
    };
    Signers {
        keys: secrets.iter().map(key).collect(),
        sign: Box::new(move |statements| {
            let parts = statements.iter().map(|(k, m)| signatures[usize::from(k % KEYS)][usize::from(m % MESSAGES)]);
            parts.sum::<Bn254Signature>().to_bytes().to_vec()
        }),
        prove: Box::new(move |k| proofs[usize::from(k % KEYS)].clone()),
    }
}
