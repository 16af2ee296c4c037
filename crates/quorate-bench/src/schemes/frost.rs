//! FROST by frost-secp256k1-tr (RFC 9591, with keys and challenges of BIP-340): two rounds, and any t of n delegates sign. The
//! result is a BIP-340 signature. A trusted dealer made the shares of the key before the clock runs.

use std::collections::BTreeMap;

use frost_core::{CheaterDetection, aggregate_custom};
use frost_secp256k1_tr::{
    Error, Identifier, Signature, SigningPackage,
    keys::{IdentifierList, KeyPackage, PublicKeyPackage, generate_with_dealer},
    rand_core as old_rand_core,
    round1::{self, NonceCommitment, SigningCommitments, SigningNonces},
    round2::{self, SignatureShare},
};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;
use secp256k1::{XOnlyPublicKey, schnorr};

use super::protocol::{Finished, Ledger, Protocol, Step, another_message, bitmap, message, others};
use crate::data;

pub(super) struct Frost {
    n: usize,
    threshold: usize,
    identifiers: Vec<Identifier>,
    packages: Vec<KeyPackage>,
    public: PublicKeyPackage,
    /// The group's key, for the verifier.
    key: XOnlyPublicKey,
    message: Vec<u8>,
}

/// What the primary has of one session.
struct Session {
    package: SigningPackage,
    shares: BTreeMap<Identifier, SignatureShare>,
}

impl Frost {
    pub(super) fn new(n: usize, threshold: usize) -> Self {
        let count = |number: usize| u16::try_from(number).expect("few delegates");
        let dealt = generate_with_dealer(count(n), count(threshold), IdentifierList::Default, Random(data::rng()));
        let (shares, public) = dealt.expect("a threshold among the delegates");
        let package = |share| KeyPackage::try_from(share).expect("the dealer is honest");
        let (identifiers, packages) = shares.into_iter().map(|(name, share)| (name, package(share))).unzip();
        let key = public.verifying_key().serialize().expect("not the identity");
        // One byte for the sign of y, which BIP-340 leaves out.
        let key = XOnlyPublicKey::from_byte_array(array(&key[1..])).expect("a key");
        Self { n, threshold, identifiers, packages, public, key, message: message() }
    }

    fn commit(&self, index: usize, rng: &mut Random) -> (SigningNonces, SigningCommitments) {
        round1::commit(self.packages[index].signing_share(), rng)
    }

    fn sign_in(
        &self,
        index: usize,
        commitments: BTreeMap<Identifier, SigningCommitments>,
        nonces: &SigningNonces,
        message: &[u8],
    ) -> SignatureShare {
        round2::sign(&SigningPackage::new(commitments, message), nonces, &self.packages[index]).expect("enough signers")
    }

    /// A session of these signers, from decoded points.
    fn session(&self, signers: &[usize], corrupted: &[usize]) -> Session {
        let mut rng = Random(data::rng());
        let (nonces, commitments): (Vec<_>, Vec<_>) = signers.iter().map(|i| self.commit(*i, &mut rng)).unzip();
        let commitments = self.named(signers, commitments);
        let shares = signers.iter().zip(&nonces).map(|(i, nonces)| {
            let message = if corrupted.contains(i) { &another_message() } else { &self.message };
            self.sign_in(*i, commitments.clone(), nonces, message)
        });
        let shares = self.named(signers, shares.collect());
        Session { package: SigningPackage::new(commitments, &self.message), shares }
    }

    fn named<T>(&self, signers: &[usize], items: Vec<T>) -> BTreeMap<Identifier, T> {
        signers.iter().map(|i| self.identifiers[*i]).zip(items).collect()
    }

    /// The signature, or all the delegates whose shares are bad. The library adds up the shares, verifies the sum, and if
    /// it is invalid each share.
    fn settle(&self, session: &Session) -> Result<Signature, Vec<usize>> {
        let all = CheaterDetection::AllCheaters;
        match aggregate_custom(&session.package, &session.shares, &self.public, all) {
            Ok(signature) => Ok(signature),
            Err(Error::InvalidSignatureShare { culprits }) => {
                let index = |name| self.identifiers.iter().position(|other| other == name).expect("a delegate");
                Err(culprits.iter().map(index).collect())
            }
            Err(other) => panic!("the library refused a session: {other}"),
        }
    }

    /// The least delegates of whom nothing bad is known.
    fn asked(&self, bad: &[usize]) -> Vec<usize> {
        let mut asked = others(self.n, bad);
        assert!(asked.len() >= self.threshold, "fewer than {} delegates are left", self.threshold);
        asked.truncate(self.threshold);
        asked
    }
}

impl Protocol for Frost {
    fn engine(&self) -> String {
        format!("frost-{}/frost-secp256k1-tr", self.threshold)
    }

    fn note(&self) -> String {
        format!("{} of {} sign", self.threshold, self.n)
    }

    /// The dealer made the group's key.
    fn aggregate_keys(&self) -> Option<Step<'_>> {
        None
    }

    /// The generator starts anew each time, so that the share is known.
    fn sign(&self) -> Step<'_> {
        let session = self.session(&self.asked(&[]), &[]);
        Box::new(move || {
            let (nonces, _) = self.commit(0, &mut Random(data::rng()));
            let commitments = session.package.signing_commitments().clone();
            let share = self.sign_in(0, commitments, &nonces, &self.message);
            assert_eq!(Some(&share), session.shares.get(&self.identifiers[0]));
        })
    }

    fn aggregate(&self) -> Option<Step<'_>> {
        let session = self.session(&self.asked(&[]), &[]);
        Some(Box::new(move || assert!(self.settle(&session).is_ok())))
    }

    fn verify(&self) -> Step<'_> {
        let signature = self.settle(&self.session(&self.asked(&[]), &[])).expect("good shares");
        Box::new(move || assert!(self.public.verifying_key().verify(&self.message, &signature).is_ok()))
    }

    /// All delegates sign, so that there are as many shares as in the other schemes.
    fn find_bad(&self, corrupted: &[usize]) -> Step<'_> {
        let session = self.session(&others(self.n, &[]), corrupted);
        let expected = corrupted.to_vec();
        Box::new(move || assert_eq!(self.settle(&session).err().unwrap_or_default(), expected))
    }

    /// The primary asks the first delegates of whom nothing bad is known, until a session has good shares alone.
    fn run(&self, corrupted: &[usize], ledger: &mut Ledger) -> Finished {
        let mut rng = Random(data::rng());
        let mut bad = Vec::new();
        loop {
            ledger.attempt();
            let signers = self.asked(&bad);
            let first: Vec<_> = signers
                .iter()
                .map(|i| {
                    ledger.delegate(*i, || {
                        let (nonces, commitments) = self.commit(*i, &mut rng);
                        (written(&commitments), nonces)
                    })
                })
                .collect();
            // Who signs, and the commitments of each.
            let (package, to_all) = ledger.primary(|| {
                let commitments = first.iter().map(|(bytes, _)| read(bytes)).collect();
                let package = SigningPackage::new(self.named(&signers, commitments), &self.message);
                let bytes = first.iter().flat_map(|(bytes, _)| bytes);
                (package, bitmap(self.n, &signers).iter().chain(bytes).copied().collect::<Vec<_>>())
            });
            ledger.send_to(&signers, &to_all);
            let mut shares = Vec::with_capacity(signers.len());
            for (i, (_, nonces)) in signers.iter().zip(&first) {
                let message = if corrupted.contains(i) { &another_message() } else { &self.message };
                let (share, ()) = ledger.delegate(*i, || {
                    let commitments = to_all[self.n.div_ceil(8)..].chunks(2 * POINT).map(read).collect();
                    (self.sign_in(*i, self.named(&signers, commitments), nonces, message).serialize(), ())
                });
                shares.push(share);
            }
            let settled = ledger.primary(|| {
                let share = |bytes: &Vec<u8>| SignatureShare::deserialize(bytes).expect("a share");
                let shares = self.named(&signers, shares.iter().map(share).collect());
                self.settle(&Session { package, shares })
            });
            match settled {
                Ok(signature) => {
                    return Finished { result: signature.serialize().expect("a signature"), signers };
                }
                Err(found) => {
                    let planted: Vec<_> = signers.into_iter().filter(|i| corrupted.contains(i)).collect();
                    assert_eq!(found, planted);
                    bad.extend(found);
                }
            }
        }
    }

    /// BIP-340 by libsecp256k1, under the group's key.
    fn accepts(&self, finished: &Finished) -> bool {
        let signature = schnorr::Signature::from_byte_array(array(&finished.result));
        schnorr::verify(&signature, &self.message, &self.key).is_ok()
    }
}

/// Bytes of a compressed point.
const POINT: usize = 33;

fn written(commitments: &SigningCommitments) -> Vec<u8> {
    let both = [commitments.hiding(), commitments.binding()];
    both.into_iter().flat_map(|point| point.serialize().expect("not the identity")).collect()
}

fn read(bytes: impl AsRef<[u8]>) -> SigningCommitments {
    let (hiding, binding) = bytes.as_ref().split_at(POINT);
    let point = |bytes| NonceCommitment::deserialize(bytes).expect("a commitment");
    SigningCommitments::new(point(hiding), point(binding))
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("so many bytes")
}

/// The generator, by the traits of the older rand_core that the library takes.
struct Random(ChaCha20Rng);

impl old_rand_core::RngCore for Random {
    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), old_rand_core::Error> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

impl old_rand_core::CryptoRng for Random {}
