//! Claims, true and false, and what a batcher told its observer.

use std::sync::{Arc, Mutex};

use quorate::{Backend, Bls12381Suite, ClaimBytes, Messages, SecretKey, aggregate::aggregate};
use quorate_batcher::{BatchReport, Event, Observer, Refused};

pub(crate) fn secret<S: Bls12381Suite>(suite: S, i: u8) -> SecretKey<S> {
    SecretKey::key_gen(suite, &[i; 32], b"batcher").unwrap()
}

/// Key `key` signed message `i`, or another message.
pub(crate) fn claim<S: Bls12381Suite>(suite: S, key: u8, i: u32, lie: bool) -> ClaimBytes {
    let (secret, signed) = (secret(suite, key), if lie { !i } else { i });
    let (key, signature) = (secret.public_key().to_bytes(), secret.sign(suite, &signed.to_be_bytes()).to_bytes());
    ClaimBytes::single(suite.any(), key.as_ref(), &i.to_be_bytes(), signature.as_ref())
}

pub(crate) fn from(claim: ClaimBytes, source: u64) -> ClaimBytes {
    ClaimBytes { source: Some(source.into()), ..claim }
}

/// One claim with the sum of the signatures of several.
pub(crate) fn block<S: Bls12381Suite>(suite: S, claims: &[ClaimBytes]) -> ClaimBytes {
    let signatures: Vec<_> =
        claims.iter().map(|claim| quorate::Signature::<S>::from_bytes(&claim.signature).unwrap()).collect();
    let messages = claims.iter().map(|claim| match &claim.messages {
        Messages::Shared(message) => message.clone(),
        other => panic!("{other:?}"),
    });
    ClaimBytes {
        suite: suite.any(),
        public_keys: claims.iter().flat_map(|claim| claim.public_keys.as_encoded().unwrap().clone()).collect(),
        messages: Messages::Each(messages.collect()),
        signature: aggregate(&signatures, Backend::Portable).unwrap().to_bytes().as_ref().to_vec(),
        source: None,
    }
}

/// What happened.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) batches: Mutex<Vec<BatchReport>>,
    pub(crate) refused: Mutex<Vec<Refused>>,
    pub(crate) bans: Mutex<Vec<(String, u64, usize)>>,
    pub(crate) stored: Mutex<usize>,
    pub(crate) others: Mutex<Vec<String>>,
}

impl Seen {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }
}

impl Observer for Seen {
    fn observe(&self, event: &Event<'_>) {
        match event {
            Event::Batch(report) => self.batches.lock().unwrap().push((*report).clone()),
            Event::Refused { refused, .. } => self.refused.lock().unwrap().push(*refused),
            Event::Banned { source, evicted } => {
                self.bans.lock().unwrap().push((source.source.to_string(), source.false_claims, *evicted));
            }
            Event::Stored { statements } => *self.stored.lock().unwrap() += statements,
            other => self.others.lock().unwrap().push(format!("{other:?}")),
        }
    }
}
