//! Signed statements to measure with, the same in every run.

use std::num::NonZeroUsize;

use quorate::{Backend, Bls12381Suite, Claim, Options, PublicKey, SecretKey, Signature, UncheckedSignature};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

/// A statement with its own signature.
pub(crate) struct Signed<S: Bls12381Suite> {
    pub(crate) key: PublicKey<S>,
    pub(crate) message: Vec<u8>,
    pub(crate) signature: Signature<S>,
}

impl<S: Bls12381Suite> Signed<S> {
    /// A claim whose signature the batch still has to check for membership.
    pub(crate) fn unchecked(&self, suite: S) -> Claim<S> {
        let signature = UncheckedSignature::from_point(self.signature.point());
        Claim::single(suite, self.key, self.message.clone(), signature)
    }

    /// A claim whose signature is known to be a member.
    pub(crate) fn checked(&self, suite: S) -> Claim<S> {
        Claim::single(suite, self.key, self.message.clone(), self.signature)
    }
}

/// `n` statements by the keys `key(i)` over the 32-byte messages `message(i)`.
pub(crate) fn signed<S: Bls12381Suite>(
    suite: S,
    n: usize,
    key: impl Fn(usize) -> usize,
    message: impl Fn(usize) -> usize,
) -> Vec<Signed<S>> {
    let mut secrets = std::collections::HashMap::new();
    (0..n)
        .map(|i| {
            let secret = secrets.entry(key(i)).or_insert_with_key(|k| {
                let mut material = [0; 32];
                material[..8].copy_from_slice(&k.to_le_bytes());
                SecretKey::key_gen(suite, &material, b"bench").expect("32 bytes are enough")
            });
            let mut text = vec![0; 32];
            text[..8].copy_from_slice(&message(i).to_le_bytes());
            Signed { key: secret.public_key(), signature: secret.sign(suite, &text), message: text }
        })
        .collect()
}

/// A CSPRNG for weights.
pub(crate) fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([9; 32])
}

/// Options for a backend and a number of threads.
pub(crate) fn options(backend: Backend, threads: usize) -> Options {
    Options { threads: NonZeroUsize::new(threads).expect("at least one thread"), backend, ..Options::default() }
}
