//! What keys and signatures can do, as bytes: for callers whose language has no type for a suite.
//!
//! ```
//! use quorate_c::{suites, verbs};
//! let eth2 = verbs::of(suites::by_name("eth2")?);
//! let signer = eth2.derive(&[7; 32], b"")?;
//! let sum = eth2.aggregate(&[signer.sign(b"a")?, signer.sign(b"b")?].concat())?;
//! assert_eq!(sum.len(), 96);
//! # Ok::<(), quorate_c::CallFailure>(())
//! ```

use std::{
    num::NonZeroUsize,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use quorate::{
    AnyKeySet, AnySuite, Backend, Bitmap, InSuite, KeySet, MisuseError, PublicKey, SecretKey, Signature, Suite,
    UncheckedSignature,
    aggregate::{aggregate, subtract},
    bdn,
    keyset::Possession,
    naive, proof_of_possession,
};
use zeroize::Zeroizing;

use crate::{
    engine::random,
    fault::{CallFailure, Code},
    suites,
    verdicts::Verdicts,
};

/// What can be done in a suite. Several keys or signatures stand one after another, each with the length of the suite.
pub trait SuiteVerbs: Send + Sync {
    /// Reads a public key: canonical, in the subgroup, not the identity.
    ///
    /// # Errors
    /// [`Code::Encoding`].
    fn check_public_key(&self, key: &[u8]) -> Result<(), CallFailure>;

    /// Reads a signature: canonical, in the subgroup.
    ///
    /// # Errors
    /// [`Code::Encoding`].
    fn check_signature(&self, signature: &[u8]) -> Result<(), CallFailure>;

    /// The sum of signatures, all of which are checked. Cost: a membership check and an addition for each.
    ///
    /// # Errors
    /// [`Code::Encoding`]; [`Code::Misuse`] for none, and in a BDN suite, where each would need its key.
    fn aggregate(&self, signatures: &[u8]) -> Result<Vec<u8>, CallFailure>;

    /// The sum of signatures that [`check_signature`](Self::check_signature) has accepted: whether they are in the subgroup is not checked
    /// again. Cost: decoding and an addition for each.
    ///
    /// # Errors
    /// As [`aggregate`](Self::aggregate).
    fn aggregate_checked(&self, signatures: &[u8]) -> Result<Vec<u8>, CallFailure>;

    /// The aggregate of a BDN suite: the signature of several keys over one message, with their coefficients. The signature of each key
    /// stands at its place. All are decoded and checked, and believed to be valid: verify each first, as a claim of one key, or a false one
    /// spoils the aggregate. A claim of all the keys verifies it, and so does one of their sum. Cost: decoding both, and a sum with weights
    /// of 128 bits.
    ///
    /// # Errors
    /// [`Code::Encoding`]; [`Code::Misuse`] in another suite, for none, for other numbers of keys than of signatures, and if a key stands
    /// there twice.
    fn bdn_aggregate(&self, keys: &[u8], signatures: &[u8]) -> Result<Vec<u8>, CallFailure>;

    /// The sum of public keys, all of which are checked; in a BDN suite with its coefficients. In the other suites rely on it only if the
    /// owner of each has shown that it holds the secret.
    ///
    /// # Errors
    /// [`Code::Encoding`]; [`Code::Misuse`] for none, if they add up to the identity, in a BDN suite if one stands there twice, and under
    /// `eigenlayer`.
    fn aggregate_public_keys(&self, keys: &[u8]) -> Result<Vec<u8>, CallFailure>;

    /// A sum of signatures without some of its parts. Without parts it is the sum.
    ///
    /// # Errors
    /// [`Code::Encoding`]; [`Code::Misuse`] in a BDN suite.
    fn subtract(&self, sum: &[u8], parts: &[u8]) -> Result<Vec<u8>, CallFailure>;

    /// A new secret key from the random numbers of the operating system.
    ///
    /// # Errors
    /// [`Code::System`].
    fn generate(&self) -> Result<Box<dyn Signer>, CallFailure>;

    /// `KeyGen` (draft-irtf-cfrg-bls-signature-05, section 2.3; in the suite `chia` that of draft 3) of at least 32 bytes of key material.
    ///
    /// # Errors
    /// [`Code::Encoding`].
    fn derive(&self, material: &[u8], info: &[u8]) -> Result<Box<dyn Signer>, CallFailure>;

    /// Reads a secret key: 32 bytes, a big-endian scalar in 1..r.
    ///
    /// # Errors
    /// [`Code::Encoding`].
    fn secret(&self, bytes: &[u8]) -> Result<Box<dyn Signer>, CallFailure>;

    /// A committee without members.
    fn committee(&self) -> Box<dyn MemberKeys>;
}

/// A secret key, which is wiped when it is dropped. Constant-time code alone computes with it.
pub trait Signer: Send + Sync {
    /// The big-endian scalar. Whoever copies it wipes the copy.
    fn to_bytes(&self) -> Zeroizing<[u8; 32]>;

    /// The public key as claims have it.
    fn public_key(&self) -> Vec<u8>;

    /// Signs a message.
    ///
    /// # Errors
    /// [`Code::Misuse`], if the suite signs no such message: `eigenlayer` signs 32 bytes.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, CallFailure>;

    /// A proof that the owner of the public key holds the secret.
    ///
    /// # Errors
    /// [`Code::Misuse`], if the suite has no such proofs.
    fn prove(&self) -> Result<Vec<u8>, CallFailure>;
}

/// A committee's keys by index: [`KeySet`]. Threads can use it at the same time.
pub trait MemberKeys: Send + Sync {
    /// Adds members, all of them or none; no keys add none. `assumed` says that their owners have shown elsewhere that they hold their secrets.
    ///
    /// # Errors
    /// [`Code::Encoding`].
    fn push(&self, keys: &[u8], assumed: bool) -> Result<(), CallFailure>;

    /// Verifies a member's proof of possession, and records it if it is true.
    ///
    /// # Errors
    /// [`Code::Encoding`], [`Code::Misuse`].
    fn prove(&self, index: usize, proof: &[u8]) -> Result<bool, CallFailure>;

    /// How many members there are.
    fn members(&self) -> usize;

    /// The sum of members' keys, also of members that have proven nothing: verify with [`verify`](Self::verify), and not under this sum.
    /// Bit i of `members`, from the lowest bit of the first byte, is the member with index i.
    ///
    /// # Errors
    /// [`Code::Misuse`], if there is no such member, and in a BDN suite.
    fn sum(&self, members: &[u8]) -> Result<Vec<u8>, CallFailure>;

    /// Whether these members signed a message: one verdict.
    ///
    /// # Errors
    /// [`Code::Encoding`], [`Code::Misuse`].
    fn verify(&self, members: &[u8], message: &[u8], signature: &[u8]) -> Result<Verdicts, CallFailure>;

    /// The set as it is now, for claims that name its members. Later changes are not those of the handle.
    fn handle(&self) -> AnyKeySet;
}

/// The verbs of a suite.
#[must_use]
pub fn of(suite: AnySuite) -> Box<dyn SuiteVerbs> {
    struct Erase;
    impl InSuite for Erase {
        type Output = Box<dyn SuiteVerbs>;
        fn run_in<S: Suite>(self, suite: S) -> Box<dyn SuiteVerbs> {
            Box::new(In(suite))
        }
    }
    suite.run(Erase)
}

struct In<S>(S);

impl<S: Suite> In<S> {
    fn keys(&self, bytes: &[u8]) -> Result<Vec<PublicKey<S>>, CallFailure> {
        let parts = suites::parts("public keys", bytes, self.0.key_length())?.into_iter().enumerate();
        let keys = parts.map(|(index, key)| PublicKey::from_claim(self.0, key).map_err(|error| at(index, error)));
        keys.collect()
    }

    fn signatures(&self, bytes: &[u8]) -> Result<Vec<Signature<S>>, CallFailure> {
        let parts = suites::parts("signatures", bytes, size_of::<S::SignatureBytes>())?.into_iter().enumerate();
        parts.map(|(index, bytes)| Signature::from_bytes(bytes).map_err(|error| at(index, error))).collect()
    }

    fn held(&self, secret: SecretKey<S>) -> Box<dyn Signer> {
        Box::new(Held { suite: self.0, secret })
    }
}

fn at(index: usize, error: quorate::ParseError) -> CallFailure {
    CallFailure::new(Code::Encoding, format!("{error} (number {}, counted from 0)", index))
}

impl<S: Suite> SuiteVerbs for In<S> {
    fn check_public_key(&self, key: &[u8]) -> Result<(), CallFailure> {
        PublicKey::from_claim(self.0, key)?;
        Ok(())
    }

    fn check_signature(&self, signature: &[u8]) -> Result<(), CallFailure> {
        Signature::<S>::from_bytes(signature)?;
        Ok(())
    }

    fn aggregate(&self, signatures: &[u8]) -> Result<Vec<u8>, CallFailure> {
        bdn::refuse_plain_sums(self.0)?;
        Ok(aggregate(&self.signatures(signatures)?, Backend::auto())?.to_bytes().as_ref().to_vec())
    }

    fn aggregate_checked(&self, signatures: &[u8]) -> Result<Vec<u8>, CallFailure> {
        bdn::refuse_plain_sums(self.0)?;
        let parts = suites::parts("signatures", signatures, size_of::<S::SignatureBytes>())?;
        let decoded = UncheckedSignature::<S>::from_bytes_each(&parts, Backend::auto()).into_iter().enumerate();
        let checked = decoded.map(|(index, signature)| {
            Ok(Signature::assume_in_subgroup(signature.map_err(|error| at(index, error))?.point()))
        });
        let sum = aggregate::<S>(&checked.collect::<Result<Vec<_>, CallFailure>>()?, Backend::auto())?;
        Ok(sum.to_bytes().as_ref().to_vec())
    }

    fn bdn_aggregate(&self, keys: &[u8], signatures: &[u8]) -> Result<Vec<u8>, CallFailure> {
        let (keys, signatures) = (self.keys(keys)?, self.signatures(signatures)?);
        if keys.len() != signatures.len() {
            let (keys, signatures) = (keys.len(), signatures.len());
            return Err(CallFailure::misuse(format!(
                "found {keys} public keys and {signatures} signatures, expected the signature of each key"
            )));
        }
        let signed: Vec<_> = keys.into_iter().zip(signatures).collect();
        Ok(bdn::aggregate(self.0, &signed, Backend::auto())?.to_bytes().as_ref().to_vec())
    }

    fn aggregate_public_keys(&self, keys: &[u8]) -> Result<Vec<u8>, CallFailure> {
        suites::single_key_length(self.0.any())?;
        Ok(bdn::sum_of_keys(self.0, &self.keys(keys)?, Backend::auto())?.to_bytes().as_ref().to_vec())
    }

    fn subtract(&self, sum: &[u8], parts: &[u8]) -> Result<Vec<u8>, CallFailure> {
        bdn::refuse_plain_sums(self.0)?;
        let rest = subtract(Signature::from_bytes(sum)?, &self.signatures(parts)?, Backend::auto());
        Ok(rest.to_bytes().as_ref().to_vec())
    }

    fn generate(&self) -> Result<Box<dyn Signer>, CallFailure> {
        Ok(self.held(SecretKey::generate(self.0, &mut random()?)))
    }

    fn derive(&self, material: &[u8], info: &[u8]) -> Result<Box<dyn Signer>, CallFailure> {
        Ok(self.held(SecretKey::key_gen(self.0, material, info)?))
    }

    fn secret(&self, bytes: &[u8]) -> Result<Box<dyn Signer>, CallFailure> {
        let mut secret = Zeroizing::new([0; 32]);
        if bytes.len() != secret.len() {
            return Err(CallFailure::new(
                Code::Encoding,
                format!("secret key: found {} bytes, expected 32", bytes.len()),
            ));
        }
        secret.copy_from_slice(bytes);
        Ok(self.held(SecretKey::from_bytes(&secret)?))
    }

    fn committee(&self) -> Box<dyn MemberKeys> {
        Box::new(Members { suite: In(self.0), set: RwLock::new(Arc::new(KeySet::new(self.0, Backend::auto()))) })
    }
}

struct Held<S: Suite> {
    suite: S,
    secret: SecretKey<S>,
}

impl<S: Suite> Signer for Held<S> {
    fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        self.secret.to_bytes()
    }

    fn public_key(&self) -> Vec<u8> {
        self.secret.claim_key(self.suite)
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, CallFailure> {
        match self.suite.message_flaw(message) {
            Some(flaw) => Err(CallFailure::misuse(flaw.to_string())),
            None => Ok(self.secret.sign(self.suite, message).to_bytes().as_ref().to_vec()),
        }
    }

    fn prove(&self) -> Result<Vec<u8>, CallFailure> {
        let proof = proof_of_possession::prove(self.suite, &self.secret);
        let none = || CallFailure::from(MisuseError::NoProofsOfPossession(self.suite.name()));
        Ok(proof.ok_or_else(none)?.to_bytes().as_ref().to_vec())
    }
}

/// Why members make no claim. Whoever verifies adds up nothing.
fn of_members(error: MisuseError) -> CallFailure {
    match error {
        MisuseError::NothingToAggregate => CallFailure::misuse("no members signed: the bitmap is empty"),
        other => other.into(),
    }
}

struct Members<S: Suite> {
    suite: In<S>,
    /// Shared with claims that name members. A set that changes meanwhile becomes a copy.
    set: RwLock<Arc<KeySet<S>>>,
}

/// The value of a lock. A thread that panicked left it as it was, because what a set keeps is written last.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// The same, to change it.
fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl<S: Suite> MemberKeys for Members<S> {
    fn push(&self, keys: &[u8], assumed: bool) -> Result<(), CallFailure> {
        let keys = suites::parts("public keys", keys, self.suite.0.key_length())?;
        // In a set of their own: decoding many takes seconds, and whoever hands in a claim about the set would wait for it.
        let mut decoded = KeySet::new(self.suite.0, Backend::auto());
        let ended = decoded.decode(&keys, assumed, NonZeroUsize::MIN, &mut random()?);
        ended.map_err(|error| CallFailure::new(Code::Encoding, error.to_string()))?;
        let indices: Vec<_> = (0..decoded.len() as u32).collect();
        let keys = decoded.keys(&indices)?;
        let mut set = write(&self.set);
        let set = Arc::make_mut(&mut set);
        keys.into_iter().for_each(|key| if assumed { set.push_assumed(key) } else { set.push(key) });
        Ok(())
    }

    fn prove(&self, index: usize, proof: &[u8]) -> Result<bool, CallFailure> {
        let proof = Signature::from_bytes(proof)?;
        // The pairings hold neither the lock nor the set, so a false proof costs those who use the set no wait and no copy.
        let claim = read(&self.set).possession_claim(index, proof)?;
        if !naive::verify(&claim).is_valid() {
            return Ok(false);
        }
        // Meanwhile the set has grown at most: the member has the key that was proven.
        let mut set = write(&self.set);
        if set.possession(index)? != Possession::Proven {
            Arc::make_mut(&mut set).record_proven(index)?;
        }
        Ok(true)
    }

    fn members(&self) -> usize {
        read(&self.set).len()
    }

    fn sum(&self, members: &[u8]) -> Result<Vec<u8>, CallFailure> {
        let sum = read(&self.set).sum(&Bitmap::from_le_bytes(members))?;
        Ok(S::encode_key(&sum).as_ref().to_vec())
    }

    fn verify(&self, members: &[u8], message: &[u8], signature: &[u8]) -> Result<Verdicts, CallFailure> {
        let signature = UncheckedSignature::from_bytes(signature)?;
        let claim = read(&self.set).claim(&Bitmap::from_le_bytes(members), message, signature);
        Ok(naive::verify(&claim.map_err(of_members)?).into())
    }

    fn handle(&self) -> AnyKeySet {
        Arc::clone(&*read(&self.set)).into()
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc::channel, thread, time::Duration};

    use quorate::MinPk;

    use super::*;

    /// Otherwise a claim about the set, which reads it, would wait until all keys are decoded.
    #[test]
    fn keys_are_decoded_while_others_read_the_set() {
        let set = RwLock::new(Arc::new(KeySet::new(MinPk::Eth2, Backend::auto())));
        let members = Members { suite: In(MinPk::Eth2), set };
        let key = of(MinPk::Eth2.any()).derive(&[7; 32], b"").unwrap().public_key();
        let (answers, received) = channel();
        let reading = read(&members.set);
        thread::scope(|scope| {
            scope.spawn(|| answers.send(members.push(&[&key[..], &[0; 48]].concat(), true)));
            let answer = received.recv_timeout(Duration::from_secs(60));
            drop(reading);
            assert_eq!(answer.expect("an answer while the set is read").unwrap_err().code, Code::Encoding);
        });
        assert_eq!(members.members(), 0, "all of them, or none");
        members.push(&key, false).unwrap();
        members.push(&key, true).unwrap();
        let possession = |index| read(&members.set).possession(index).unwrap();
        assert_eq!([possession(0), possession(1)], [Possession::Unproven, Possession::Assumed]);
        assert_eq!(members.sum(&[1]).unwrap(), key);
    }

    /// Otherwise strangers who send false proofs, or a true one often, would have a set that claims name copied each time.
    #[test]
    fn a_proof_that_tells_nothing_new_neither_copies_the_set_nor_waits_for_its_readers() {
        let set = RwLock::new(Arc::new(KeySet::new(MinPk::Eth2, Backend::auto())));
        let members = Members { suite: In(MinPk::Eth2), set };
        let [first, second] = [1, 2].map(|seed| of(MinPk::Eth2.any()).derive(&[seed; 32], b"").unwrap());
        members.push(&first.public_key(), false).unwrap();
        let (proof, of_another) = (first.prove().unwrap(), second.prove().unwrap());
        let named = members.handle();
        let (answers, received) = channel();
        let reading = read(&members.set);
        thread::scope(|scope| {
            scope.spawn(|| answers.send(members.prove(0, &of_another)));
            let answer = received.recv_timeout(Duration::from_secs(60));
            drop(reading);
            assert!(!answer.expect("an answer while the set is read").unwrap());
        });
        assert_eq!(members.prove(1, &proof).unwrap_err().code, Code::Misuse);
        assert_eq!(members.handle(), named);
        assert_eq!(read(&members.set).possession(0), Ok(Possession::Unproven));
        assert!(members.prove(0, &proof).unwrap());
        assert_eq!(read(&members.set).possession(0), Ok(Possession::Proven));
        let proven = members.handle();
        assert_ne!(proven, named, "claims keep the set that they named");
        assert!(members.prove(0, &proof).unwrap());
        assert!(!members.prove(0, &of_another).unwrap());
        assert_eq!(members.handle(), proven);
    }
}
