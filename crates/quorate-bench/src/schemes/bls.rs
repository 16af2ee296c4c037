//! BLS by quorate: one round, no nonces, and any delegates may be absent. Each delegate signs its own message, or all sign one
//! message, with proofs of possession or with BDN's coefficients.

use std::{slice::from_ref, sync::Arc};

use quorate::{
    Backend, Bls12381Suite, Claim, MinPk, MinSig, PublicKey, SecretKey, Signature, UncheckedSignature, aggregate,
    all_valid, bdn, claim::ClaimSignature, naive, verify,
};

use super::{
    protocol::{Finished, Ledger, Protocol, Step, another_message, bitmap, message, message_of, others, seed},
    sizes::Sizes,
};
use crate::{
    data,
    measure::{Engine, Run, measure},
    row::Row,
};

/// What protects an aggregate against rogue keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The messages differ, and no keys are summed.
    Distinct,
    /// Owners of keys proved possession, before the clock runs.
    Possession,
    /// Keys and shares have coefficients of the set of signers.
    Coefficients,
}

pub(super) struct Bls<S: Bls12381Suite> {
    engine: &'static str,
    suite: S,
    kind: Kind,
    backend: Backend,
    secrets: Vec<SecretKey<S>>,
    keys: Vec<PublicKey<S>>,
    messages: Vec<Arc<[u8]>>,
    /// The sum of all keys, where keys are summed.
    all: Option<PublicKey<S>>,
}

impl<S: Bls12381Suite> Bls<S> {
    pub(super) fn new(engine: &'static str, suite: S, kind: Kind, backend: Backend, n: usize) -> Self {
        let secrets = secrets(suite, n);
        let keys: Vec<_> = secrets.iter().map(SecretKey::public_key).collect();
        let message = |i| if kind == Kind::Distinct { message_of(i) } else { message() };
        let messages = (0..n).map(|i| message(i).into()).collect();
        let all = sum_of_keys(suite, kind, &keys, backend);
        Self { engine, suite, kind, backend, secrets, keys, messages, all }
    }

    fn n(&self) -> usize {
        self.keys.len()
    }

    fn share(&self, index: usize, is_corrupted: bool) -> Signature<S> {
        let message = if is_corrupted { &another_message() } else { &self.messages[index][..] };
        self.secrets[index].sign(self.suite, message)
    }

    /// What the primary got from all delegates.
    fn shares(&self, corrupted: &[usize]) -> Vec<UncheckedSignature<S>> {
        let shares = (0..self.n()).map(|i| self.share(i, corrupted.contains(&i)));
        shares.map(|share| UncheckedSignature::from_point(share.point())).collect()
    }

    /// Checks that shares are in the subgroup. One that is not would be another kind of lie than those planted here.
    fn members(&self, shares: &[UncheckedSignature<S>]) -> Vec<Signature<S>> {
        let points: Vec<_> = shares.iter().map(UncheckedSignature::point).collect();
        assert!(self.backend.in_subgroup(&points).into_iter().all(|is_member| is_member));
        points.into_iter().map(Signature::assume_in_subgroup).collect()
    }

    /// The aggregate of the shares of these signers.
    fn sum(&self, signers: &[usize], shares: &[Signature<S>]) -> Signature<S> {
        let sum = match self.kind {
            Kind::Distinct | Kind::Possession => aggregate::aggregate(shares, self.backend),
            Kind::Coefficients => {
                let signed: Vec<_> = signers.iter().map(|i| self.keys[*i]).zip(shares.iter().copied()).collect();
                bdn::aggregate(self.suite, &signed, self.backend)
            }
        };
        sum.expect("shares of distinct keys")
    }

    /// That all delegates signed, under the sum of all keys if there is one.
    fn claim_of_all(&self, signature: impl Into<ClaimSignature<S>>) -> Claim<S> {
        match self.all {
            None => self.claim(&others(self.n(), &[]), signature),
            Some(key) => Claim::single(self.suite, key, self.messages[0].clone(), signature),
        }
    }

    /// That these delegates signed, each key by itself.
    fn claim(&self, signers: &[usize], signature: impl Into<ClaimSignature<S>>) -> Claim<S> {
        match self.kind {
            Kind::Distinct => {
                let statements = signers.iter().map(|i| (self.keys[*i], self.messages[*i].clone())).collect();
                Claim::each(self.suite, statements, signature)
            }
            Kind::Possession | Kind::Coefficients => {
                let keys = signers.iter().map(|i| self.keys[*i]).collect();
                Claim::shared(self.suite, keys, self.messages[0].clone(), signature)
            }
        }
    }

    /// The delegates whose shares are bad, by one batch.
    fn bad<T: Into<ClaimSignature<S>> + Copy>(&self, shares: &[T]) -> Vec<usize> {
        let claim = |(i, share): (usize, &T)| Claim::single(self.suite, self.keys[i], self.messages[i].clone(), *share);
        let claims: Vec<_> = shares.iter().enumerate().map(claim).collect();
        verify(&claims, &data::options(self.backend, 1), &mut data::rng()).invalid().collect()
    }

    fn holds(&self, claim: &Claim<S>) -> bool {
        all_valid(from_ref(claim), &data::options(self.backend, 1), &mut data::rng())
    }
}

/// The key under which a signature of all of them over one message verifies. `None` if no keys are summed.
fn sum_of_keys<S: Bls12381Suite>(
    suite: S,
    kind: Kind,
    keys: &[PublicKey<S>],
    backend: Backend,
) -> Option<PublicKey<S>> {
    let sum = match kind {
        Kind::Distinct => return None,
        Kind::Possession => aggregate::aggregate_public_keys(keys, backend),
        Kind::Coefficients => bdn::aggregate_public_keys(suite, keys, backend),
    };
    Some(sum.expect("keys with a sum"))
}

/// The keys of many signers summed with coefficients, by every backend: one key of them.
pub(super) fn aggregate_many(run: &Run, sizes: &Sizes) -> Vec<Row> {
    let n = sizes.keys;
    let (min_pk, min_sig) = (keys(MinPk::Bdn, n), keys(MinSig::Bdn, n));
    let engines = run.backends.iter().flat_map(|backend| {
        [
            many("bls-bdn-min-pk/quorate", MinPk::Bdn, &min_pk, *backend),
            many("bls-bdn-min-sig/quorate", MinSig::Bdn, &min_sig, *backend),
        ]
    });
    measure("multi/aggregate-keys", n, "key", n, sizes.rounds, engines.collect())
}

fn many<'a, S: Bls12381Suite>(name: &str, suite: S, keys: &'a [PublicKey<S>], backend: Backend) -> Engine<'a> {
    let sum = move |backend| sum_of_keys(suite, Kind::Coefficients, keys, backend);
    let expected = sum(Backend::Portable);
    Engine::new(name, 1, move || assert_eq!(sum(backend), expected)).note(backend.name())
}

fn secrets<S: Bls12381Suite>(suite: S, n: usize) -> Vec<SecretKey<S>> {
    (0..n).map(|i| SecretKey::key_gen(suite, &seed(i), b"").expect("32 bytes are enough")).collect()
}

fn keys<S: Bls12381Suite>(suite: S, n: usize) -> Vec<PublicKey<S>> {
    secrets(suite, n).iter().map(SecretKey::public_key).collect()
}

impl<S: Bls12381Suite> Protocol for Bls<S> {
    fn engine(&self) -> String {
        self.engine.into()
    }

    fn note(&self) -> String {
        format!("{}; subgroup checks of shares inside", self.backend.name())
    }

    fn aggregate_keys(&self) -> Option<Step<'_>> {
        self.all?;
        Some(Box::new(|| assert_eq!(sum_of_keys(self.suite, self.kind, &self.keys, self.backend), self.all)))
    }

    fn sign(&self) -> Step<'_> {
        let expected = self.share(0, false);
        Box::new(move || assert_eq!(self.share(0, false), expected))
    }

    fn aggregate(&self) -> Option<Step<'_>> {
        let (shares, signers) = (self.shares(&[]), others(self.n(), &[]));
        let expected = self.sum(&signers, &self.members(&shares));
        Some(Box::new(move || assert_eq!(self.sum(&signers, &self.members(&shares)), expected)))
    }

    fn verify(&self) -> Step<'_> {
        let sum = self.sum(&others(self.n(), &[]), &self.members(&self.shares(&[])));
        let claim = self.claim_of_all(UncheckedSignature::from_point(sum.point()));
        Box::new(move || assert!(self.holds(&claim)))
    }

    fn find_bad(&self, corrupted: &[usize]) -> Step<'_> {
        let (shares, expected) = (self.shares(corrupted), corrupted.to_vec());
        Box::new(move || assert_eq!(self.bad(&shares), expected))
    }

    /// The shares that remain are proven by the batch, so their sum needs no check.
    fn run(&self, corrupted: &[usize], ledger: &mut Ledger) -> Finished {
        let sent =
            ledger.one_round(corrupted, |i, is_corrupted| self.share(i, is_corrupted).to_bytes().as_ref().to_vec());
        ledger.primary(|| {
            let bytes: Vec<_> = sent.iter().map(|share| &share[..]).collect();
            let shares = UncheckedSignature::from_bytes_each(&bytes, self.backend).into_iter();
            let shares = self.members(&shares.map(|share| share.expect("a share")).collect::<Vec<_>>());
            let mut signers = others(self.n(), &[]);
            let mut sum = self.sum(&signers, &shares);
            if !self.holds(&self.claim_of_all(sum)) {
                let bad = self.bad(&shares);
                assert_eq!(bad, corrupted);
                signers.retain(|i| !bad.contains(i));
                let good: Vec<_> = signers.iter().map(|i| shares[*i]).collect();
                sum = self.sum(&signers, &good);
            }
            let result = [sum.to_bytes().as_ref(), &bitmap(self.n(), &signers)].concat();
            Finished { result, signers }
        })
    }

    /// By the naive verifier, with the bytes decoded anew.
    fn accepts(&self, finished: &Finished) -> bool {
        let bytes = &finished.result[..finished.result.len() - self.n().div_ceil(8)];
        let decoded = Signature::from_bytes(bytes);
        decoded.is_ok_and(|signature| naive::verify(&self.claim(&finished.signers, signature)).is_valid())
    }
}
