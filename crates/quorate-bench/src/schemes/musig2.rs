//! MuSig2 by libsecp256k1 (BIP-327): two rounds, and all n delegates must sign. The result is a BIP-340 signature.

use rand_chacha::ChaCha20Rng;
use rand_core::Rng;
use secp256k1::{
    Keypair, PublicKey,
    musig::{
        AggregatedNonce, KeyAggCache, PartialSignature, PublicNonce, SecretNonce, Session, SessionSecretRand,
        new_nonce_pair,
    },
    schnorr,
};
use sha2::{Digest as _, Sha256};

use super::protocol::{Finished, Ledger, Protocol, Step, another_message, bitmap, message, others, seed};
use crate::data;

pub(super) struct Musig2 {
    secrets: Vec<Keypair>,
    keys: Vec<PublicKey>,
    message: Vec<u8>,
    /// The sum of all keys.
    all: KeyAggCache,
}

/// All nonces and shares of one session, as the primary has them.
struct Shares {
    nonces: Vec<PublicNonce>,
    shares: Vec<PartialSignature>,
}

impl Musig2 {
    pub(super) fn new(n: usize) -> Self {
        let secrets: Vec<_> = (0..n).map(|i| Keypair::from_secret_bytes(seed(i)).expect("below the order")).collect();
        let keys: Vec<_> = secrets.iter().map(Keypair::public_key).collect();
        let all = sum(&keys, &others(n, &[]));
        Self { secrets, keys, message: message(), all }
    }

    /// The first round of a delegate. The public nonce is what it sends.
    fn nonces(&self, index: usize, digest: &[u8; 32], rng: &mut ChaCha20Rng) -> (SecretNonce, PublicNonce) {
        let mut randomness = [0; 32];
        rng.fill_bytes(&mut randomness);
        let secret = self.secrets[index].secret_key();
        let randomness = SessionSecretRand::assume_unique_per_nonce_gen(randomness, &secret);
        new_nonce_pair(randomness, None, Some(secret), self.keys[index], Some(digest), None)
    }

    /// A session of all delegates.
    fn shares(&self, corrupted: &[usize]) -> Shares {
        let (digest, mut rng) = (digest(&self.message), data::rng());
        let nonces = (0..self.keys.len()).map(|i| self.nonces(i, &digest, &mut rng));
        let (secret, nonces): (Vec<_>, Vec<_>) = nonces.unzip();
        let sum = sum_of_nonces(&nonces);
        let shares = secret.into_iter().enumerate().map(|(i, nonce)| {
            let session = Session::new(&self.all, sum, &signed(&self.message, corrupted.contains(&i)));
            session.partial_sign(nonce, &self.secrets[i], &self.all)
        });
        Shares { shares: shares.collect(), nonces }
    }

    /// A session of all delegates, and its signature.
    fn settled(&self) -> (Shares, schnorr::Signature) {
        let sent = self.shares(&[]);
        let session = Session::new(&self.all, sum_of_nonces(&sent.nonces), &digest(&self.message));
        let signature = self.settle(&others(self.keys.len(), &[]), &self.all, &session, &sent).expect("good shares");
        (sent, signature)
    }

    /// Adds up the shares of a session, and verifies the sum. If it is invalid, verifies each share: the bad ones.
    fn settle(&self, signers: &[usize], keys: &KeyAggCache, session: &Session, sent: &Shares) -> Settled {
        let signature = session.partial_sig_agg(&sent.shares.iter().collect::<Vec<_>>());
        if let Ok(signature) = signature.verify(&keys.agg_pk(), &digest(&self.message)) {
            return Ok(signature);
        }
        let each = signers.iter().zip(sent.shares.iter().zip(&sent.nonces));
        let bad = each.filter(|(i, (share, nonce))| !session.partial_verify(keys, share, nonce, self.keys[**i]));
        Err(bad.map(|(i, _)| *i).collect())
    }
}

/// A valid signature, or the delegates whose shares are bad.
type Settled = Result<schnorr::Signature, Vec<usize>>;

/// MuSig2 of libsecp256k1 signs messages of 32 bytes.
fn digest(message: &[u8]) -> [u8; 32] {
    Sha256::digest(message).into()
}

/// The digest that a delegate signs.
fn signed(message: &[u8], is_corrupted: bool) -> [u8; 32] {
    if is_corrupted { digest(&another_message()) } else { digest(message) }
}

fn sum(keys: &[PublicKey], signers: &[usize]) -> KeyAggCache {
    KeyAggCache::new(&signers.iter().map(|i| &keys[*i]).collect::<Vec<_>>())
}

fn sum_of_nonces(nonces: &[PublicNonce]) -> AggregatedNonce {
    AggregatedNonce::new(&nonces.iter().collect::<Vec<_>>())
}

impl Protocol for Musig2 {
    fn engine(&self) -> String {
        "musig2/libsecp256k1".into()
    }

    fn note(&self) -> String {
        format!("all {} must sign", self.keys.len())
    }

    fn aggregate_keys(&self) -> Option<Step<'_>> {
        let expected = self.all.agg_pk();
        let signers = others(self.keys.len(), &[]);
        Some(Box::new(move || assert_eq!(sum(&self.keys, &signers).agg_pk(), expected)))
    }

    /// The generator starts anew each time, so that the share is known.
    fn sign(&self) -> Step<'_> {
        let sent = self.shares(&[]);
        let (sum, expected) = (sum_of_nonces(&sent.nonces), sent.shares[0].serialize());
        Box::new(move || {
            let digest = digest(&self.message);
            let (secret, _) = self.nonces(0, &digest, &mut data::rng());
            let share = Session::new(&self.all, sum, &digest).partial_sign(secret, &self.secrets[0], &self.all);
            assert_eq!(share.serialize(), expected);
        })
    }

    fn aggregate(&self) -> Option<Step<'_>> {
        let (sent, expected) = self.settled();
        Some(Box::new(move || {
            let digest = digest(&self.message);
            let session = Session::new(&self.all, sum_of_nonces(&sent.nonces), &digest);
            let signature = session.partial_sig_agg(&sent.shares.iter().collect::<Vec<_>>());
            assert_eq!(signature.assume_valid(), expected);
        }))
    }

    fn verify(&self) -> Step<'_> {
        let (_, signature) = self.settled();
        Box::new(move || {
            assert!(schnorr::verify(&signature, &digest(&self.message), &self.all.agg_pk()).is_ok());
        })
    }

    fn find_bad(&self, corrupted: &[usize]) -> Step<'_> {
        let sent = self.shares(corrupted);
        let (signers, expected) = (others(self.keys.len(), &[]), corrupted.to_vec());
        // The nonces came, and were added up, in the round before.
        let sum = sum_of_nonces(&sent.nonces);
        Box::new(move || {
            let session = Session::new(&self.all, sum, &digest(&self.message));
            let bad = self.settle(&signers, &self.all, &session, &sent).err().unwrap_or_default();
            assert_eq!(bad, expected);
        })
    }

    /// The delegates know the sum of all keys before. If some of them turn out to be corrupted, the primary tells the others
    /// who is left, and each sums the keys of those anew.
    fn run(&self, corrupted: &[usize], ledger: &mut Ledger) -> Finished {
        let n = self.keys.len();
        let mut rng = data::rng();
        let mut signers = others(n, &[]);
        loop {
            ledger.attempt();
            let is_all = signers.len() == n;
            if !is_all {
                ledger.send_to(&signers, &bitmap(n, &signers));
            }
            let first: Vec<_> = signers
                .iter()
                .map(|i| {
                    ledger.delegate(*i, || {
                        let keys = if is_all { self.all } else { sum(&self.keys, &signers) };
                        let digest = digest(&self.message);
                        let (secret, public) = self.nonces(*i, &digest, &mut rng);
                        (public.serialize().to_vec(), (keys, digest, secret))
                    })
                })
                .collect();
            let (nonces, sum_of_all, to_all) = ledger.primary(|| {
                let nonces: Vec<_> = first
                    .iter()
                    .map(|(bytes, _)| PublicNonce::from_byte_array(&array(bytes)).expect("a nonce"))
                    .collect();
                let sum = sum_of_nonces(&nonces);
                (nonces, sum, sum.serialize())
            });
            ledger.send_to(&signers, &to_all);
            let mut second = Vec::with_capacity(signers.len());
            for (i, (_, (keys, digest, secret))) in signers.iter().zip(first) {
                let digest = if corrupted.contains(i) { signed(&self.message, true) } else { digest };
                let (share, ()) = ledger.delegate(*i, || {
                    let sum = AggregatedNonce::from_byte_array(&to_all).expect("a sum of nonces");
                    let session = Session::new(&keys, sum, &digest);
                    (session.partial_sign(secret, &self.secrets[*i], &keys).serialize().to_vec(), ())
                });
                second.push(share);
            }
            let settled = ledger.primary(|| {
                let keys = if is_all { self.all } else { sum(&self.keys, &signers) };
                let share = |bytes: &Vec<u8>| PartialSignature::from_byte_array(&array(bytes)).expect("a share");
                let session = Session::new(&keys, sum_of_all, &digest(&self.message));
                let shares = second.iter().map(share).collect();
                self.settle(&signers, &keys, &session, &Shares { nonces, shares })
            });
            match settled {
                Ok(signature) => {
                    let of_fewer = if is_all { Vec::new() } else { bitmap(n, &signers) };
                    let result = [&signature.to_byte_array()[..], &of_fewer].concat();
                    return Finished { result, signers };
                }
                Err(bad) => {
                    assert_eq!(bad, corrupted);
                    signers.retain(|i| !bad.contains(i));
                }
            }
        }
    }

    /// BIP-340 under the sum of the signers' keys.
    fn accepts(&self, finished: &Finished) -> bool {
        let signature = schnorr::Signature::from_byte_array(array(&finished.result[..64]));
        let key = sum(&self.keys, &finished.signers).agg_pk();
        schnorr::verify(&signature, &digest(&self.message), &key).is_ok()
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("so many bytes")
}
