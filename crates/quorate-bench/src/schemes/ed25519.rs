//! Ed25519 by ed25519-dalek, the naive alternative: the signatures of a quorum stand side by side.

use ed25519_dalek::{Signature, Signer, SigningKey, Verifier, VerifyingKey, verify_batch};

use super::{
    aws_lc,
    protocol::{Finished, Ledger, Protocol, Step, another_message, bitmap, message, others, seed},
};

pub(super) struct Ed25519 {
    secrets: Vec<SigningKey>,
    keys: Vec<VerifyingKey>,
    quorum: usize,
    message: Vec<u8>,
}

impl Ed25519 {
    pub(super) fn new(n: usize, quorum: usize) -> Self {
        let secrets: Vec<_> = (0..n).map(|i| SigningKey::from_bytes(&seed(i))).collect();
        let keys = secrets.iter().map(SigningKey::verifying_key).collect();
        Self { secrets, keys, quorum, message: message() }
    }

    fn n(&self) -> usize {
        self.keys.len()
    }

    fn share(&self, index: usize, is_corrupted: bool) -> Signature {
        let message = if is_corrupted { &another_message() } else { &self.message };
        self.secrets[index].sign(message)
    }

    fn shares(&self, corrupted: &[usize]) -> Vec<Signature> {
        (0..self.n()).map(|i| self.share(i, corrupted.contains(&i))).collect()
    }

    /// Whether the first signatures are all valid, in one batch.
    fn holds(&self, shares: &[Signature]) -> bool {
        let messages = vec![&self.message[..]; shares.len()];
        verify_batch(&messages, shares, &self.keys[..shares.len()]).is_ok()
    }

    fn is_good(&self, index: usize, share: &Signature) -> bool {
        self.keys[index].verify(&self.message, share).is_ok()
    }
}

impl Protocol for Ed25519 {
    fn engine(&self) -> String {
        format!("ed25519-x{}/dalek", self.quorum)
    }

    fn note(&self) -> String {
        format!("{} signatures of {}, in a batch", self.quorum, self.n())
    }

    fn aggregate_keys(&self) -> Option<Step<'_>> {
        None
    }

    fn sign(&self) -> Step<'_> {
        let expected = self.share(0, false);
        Box::new(move || assert_eq!(self.share(0, false), expected))
    }

    fn aggregate(&self) -> Option<Step<'_>> {
        None
    }

    fn verify(&self) -> Step<'_> {
        let shares = self.shares(&[]);
        Box::new(move || assert!(self.holds(&shares[..self.quorum])))
    }

    fn find_bad(&self, corrupted: &[usize]) -> Step<'_> {
        let (shares, expected) = (self.shares(corrupted), corrupted.to_vec());
        Box::new(move || {
            let mut bad = Vec::new();
            if !self.holds(&shares) {
                bad.extend((0..self.n()).filter(|i| !self.is_good(*i, &shares[*i])));
            }
            assert_eq!(bad, expected);
        })
    }

    /// The primary takes the first signatures. If their batch is invalid, it takes the first good ones.
    fn run(&self, corrupted: &[usize], ledger: &mut Ledger) -> Finished {
        let sent = ledger.one_round(corrupted, |i, is_corrupted| self.share(i, is_corrupted).to_bytes().to_vec());
        ledger.primary(|| {
            let shares: Vec<_> = sent.iter().map(|share| Signature::from_slice(share).expect("a signature")).collect();
            let mut signers = others(self.quorum, &[]);
            if !self.holds(&shares[..self.quorum]) {
                let good = (0..self.n()).filter(|i| self.is_good(*i, &shares[*i]));
                signers = good.take(self.quorum).collect();
                assert_eq!(signers.len(), self.quorum, "enough delegates are good");
            }
            let signatures = signers.iter().flat_map(|i| shares[*i].to_bytes());
            Finished { result: signatures.chain(bitmap(self.n(), &signers)).collect(), signers }
        })
    }

    /// Each signature alone, by AWS-LC where it is built in.
    fn accepts(&self, finished: &Finished) -> bool {
        let signatures = finished.result[..64 * self.quorum].chunks(64);
        finished.signers.len() == self.quorum
            && finished
                .signers
                .iter()
                .zip(signatures)
                .all(|(i, signature)| aws_lc::is_valid(self.keys[*i].as_bytes(), &self.message, signature))
    }
}
