//! BLS by blst: all delegates sign one message, with keys in G1 and proofs of possession. blst has no search for bad shares, so
//! each is verified by itself if the sum of all is invalid.

use blst::{
    BLST_ERROR,
    min_pk::{AggregatePublicKey, AggregateSignature, PublicKey, SecretKey, Signature},
};
use quorate::{MinPk, Suite};

use super::protocol::{Finished, Ledger, Protocol, Step, another_message, bitmap, message, others, seed};

pub(super) struct BlsByBlst {
    secrets: Vec<SecretKey>,
    keys: Vec<PublicKey>,
    message: Vec<u8>,
    /// The sum of all keys.
    all: PublicKey,
}

impl BlsByBlst {
    pub(super) fn new(n: usize) -> Self {
        let secrets: Vec<_> = (0..n).map(|i| SecretKey::key_gen(&seed(i), &[]).expect("32 bytes are enough")).collect();
        let keys: Vec<_> = secrets.iter().map(SecretKey::sk_to_pk).collect();
        let all = sum_of_keys(&keys);
        Self { secrets, keys, message: message(), all }
    }

    fn n(&self) -> usize {
        self.keys.len()
    }

    fn share(&self, index: usize, is_corrupted: bool) -> Signature {
        let message = if is_corrupted { &another_message() } else { &self.message };
        self.secrets[index].sign(message, tag(), &[])
    }

    fn shares(&self, corrupted: &[usize]) -> Vec<Signature> {
        (0..self.n()).map(|i| self.share(i, corrupted.contains(&i))).collect()
    }

    /// With a subgroup check of the signature.
    fn holds(&self, key: &PublicKey, signature: &Signature) -> bool {
        signature.verify(true, &self.message, tag(), &[], key, false) == BLST_ERROR::BLST_SUCCESS
    }

    fn bad(&self, shares: &[Signature]) -> Vec<usize> {
        (0..self.n()).filter(|i| !self.holds(&self.keys[*i], &shares[*i])).collect()
    }
}

fn tag() -> &'static [u8] {
    MinPk::ProofOfPossession.id().as_bytes()
}

fn sum_of_keys(keys: &[PublicKey]) -> PublicKey {
    let sum = AggregatePublicKey::aggregate(&keys.iter().collect::<Vec<_>>(), false);
    sum.expect("keys to add").to_public_key()
}

/// With a subgroup check of each.
fn sum(shares: &[Signature]) -> Signature {
    let sum = AggregateSignature::aggregate(&shares.iter().collect::<Vec<_>>(), true);
    sum.expect("shares in the subgroup").to_signature()
}

impl Protocol for BlsByBlst {
    fn engine(&self) -> String {
        "bls-pop-min-pk/blst".into()
    }

    fn note(&self) -> String {
        "subgroup checks of shares inside".into()
    }

    fn aggregate_keys(&self) -> Option<Step<'_>> {
        Some(Box::new(|| assert!(sum_of_keys(&self.keys) == self.all)))
    }

    fn sign(&self) -> Step<'_> {
        let expected = self.share(0, false);
        Box::new(move || assert!(self.share(0, false) == expected))
    }

    fn aggregate(&self) -> Option<Step<'_>> {
        let shares = self.shares(&[]);
        let expected = sum(&shares);
        Some(Box::new(move || assert!(sum(&shares) == expected)))
    }

    fn verify(&self) -> Step<'_> {
        let sum = sum(&self.shares(&[]));
        Box::new(move || assert!(self.holds(&self.all, &sum)))
    }

    fn find_bad(&self, corrupted: &[usize]) -> Step<'_> {
        let (shares, expected) = (self.shares(corrupted), corrupted.to_vec());
        Box::new(move || {
            let bad = if self.holds(&self.all, &sum(&shares)) { Vec::new() } else { self.bad(&shares) };
            assert_eq!(bad, expected);
        })
    }

    fn run(&self, corrupted: &[usize], ledger: &mut Ledger) -> Finished {
        let sent = ledger.one_round(corrupted, |i, is_corrupted| self.share(i, is_corrupted).compress().to_vec());
        ledger.primary(|| {
            let shares: Vec<_> = sent.iter().map(|share| Signature::uncompress(share).expect("a share")).collect();
            let mut signers = others(self.n(), &[]);
            let mut result = sum(&shares);
            if !self.holds(&self.all, &result) {
                let bad = self.bad(&shares);
                assert_eq!(bad, corrupted);
                signers.retain(|i| !bad.contains(i));
                result = sum(&signers.iter().map(|i| shares[*i]).collect::<Vec<_>>());
            }
            Finished { result: [&result.compress()[..], &bitmap(self.n(), &signers)].concat(), signers }
        })
    }

    /// By the naive verifier of quorate.
    fn accepts(&self, finished: &Finished) -> bool {
        let key = |i: &usize| quorate::PublicKey::from_bytes(&self.keys[*i].compress()).expect("a key");
        let keys = finished.signers.iter().map(key).collect();
        let bytes = &finished.result[..finished.result.len() - self.n().div_ceil(8)];
        quorate::Signature::from_bytes(bytes).is_ok_and(|signature| {
            let claim = quorate::Claim::shared(MinPk::ProofOfPossession, keys, &self.message[..], signature);
            quorate::naive::verify(&claim).is_valid()
        })
    }
}
