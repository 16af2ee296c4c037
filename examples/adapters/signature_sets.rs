//! Signature sets, as Ethereum's clients verify them.
//!
//! For engineers of a beacon node whose code has sets of a signature, the keys that signed, and a signing root. Copy
//! [`SignatureSet`] and the two functions below it, give them your types, and keep one `Verifier` for the whole node.
//! Copy the shape of [`Block`] too: it says what must be signed apart from the code that makes the sets, so that a set
//! which somebody forgets is named, and not silently left unchecked.
//!
//! Run it in the repository: `cargo run -p quorate --example signature-sets`

use std::error::Error;

use quorate::{
    AnyKeySet, AnySuite, Backend, ClaimBytes, Completeness, Expected, KeySet, Members, Messages, MinPk, MisuseError,
    Options, PublicKeys, Reason, SecretKey, Signature, Verifier, aggregate::aggregate,
};

/// That of all signatures but a sync aggregate's, which may have no signers: `MinPk::Eth2SyncAggregate`.
const SUITE: AnySuite = AnySuite::MinPk(MinPk::Eth2);

/// A signature over a signing root, and the validators whose keys made it, by their numbers.
#[derive(Clone)]
struct SignatureSet {
    signature: [u8; 96],
    signing_keys: Vec<u32>,
    signing_root: [u8; 32],
}

impl SignatureSet {
    fn claim(&self, validators: &AnyKeySet) -> ClaimBytes {
        ClaimBytes::of_members(
            validators,
            Members::Indices(self.signing_keys.clone()),
            self.signing_root,
            self.signature,
        )
    }
}

/// Whether there are sets and all of them are valid.
fn verify_signature_sets(verifier: &Verifier, validators: &AnyKeySet, sets: &[SignatureSet]) -> bool {
    !sets.is_empty() && false_sets(verifier, validators, sets).is_empty()
}

/// The indices of the sets that are not valid, and why: all are verified at once, and a search finds the false ones.
fn false_sets(verifier: &Verifier, validators: &AnyKeySet, sets: &[SignatureSet]) -> Vec<(usize, Reason)> {
    let claims: Vec<_> = sets.iter().map(|set| set.claim(validators)).collect();
    let verdicts = verifier.verify(&claims, &mut rand::rng()).verdicts;
    verdicts.iter().enumerate().filter_map(|(index, verdict)| Some((index, verdict.reason()?))).collect()
}

/// What a block says is signed. Your roots come from the block and the fork's domains.
struct Block {
    proposer: u32,
    root: [u8; 32],
    epoch: [u8; 32],
    /// The committee's members who attest, and the root of what they attest.
    attestations: Vec<(Vec<u32>, [u8; 32])>,
}

impl Block {
    /// Every signature that the block must have. It is written without a look at the code that makes the sets.
    fn expected(&self, validators: &AnyKeySet) -> Result<Expected, MisuseError> {
        let mut expected = Expected::new();
        let mut require = |name: String, signers: &[u32], root: &[u8; 32]| {
            let keys = PublicKeys::Members(validators.clone(), Members::Indices(signers.to_vec()));
            expected.require(name, SUITE, keys, Messages::Shared((*root).into()))
        };
        require("proposer".to_owned(), &[self.proposer], &self.root)?;
        require("randao".to_owned(), &[self.proposer], &self.epoch)?;
        for (i, (attesters, root)) in self.attestations.iter().enumerate() {
            require(format!("attestation {i}"), attesters, root)?;
        }
        Ok(expected)
    }

    /// Verifies the sets of this block. The block is valid only if the answer is complete.
    fn verify(&self, verifier: &Verifier, of: &AnyKeySet, sets: &[SignatureSet]) -> Result<Completeness, MisuseError> {
        let claims: Vec<_> = sets.iter().map(|set| set.claim(of)).collect();
        let outcome = verifier.verify(&claims, &mut rand::rng());
        self.expected(of)?.check(&claims, &outcome.verdicts)
    }
}

/// Four validators, a block of theirs, and its sets.
fn tiny_case() -> Result<(AnyKeySet, Block, Vec<SignatureSet>), Box<dyn Error>> {
    let secret = |i: u32| SecretKey::key_gen(MinPk::Eth2, &[i as u8; 32], b"");
    let mut validators = KeySet::new(MinPk::Eth2, Backend::auto());
    for i in 0..4 {
        validators.push_assumed(secret(i)?.public_key()); // its deposit has proven that the owner has the secret
    }
    let attestations = vec![(vec![0, 1, 3], [3; 32]), (vec![1, 2], [4; 32])];
    let block = Block { proposer: 2, root: [1; 32], epoch: [2; 32], attestations };
    let set = |signing_keys: &[u32], signing_root: [u8; 32]| -> Result<SignatureSet, Box<dyn Error>> {
        let sign = |i: &u32| Ok(secret(*i)?.sign(MinPk::Eth2, &signing_root));
        let parts: Vec<Signature<MinPk>> = signing_keys.iter().map(sign).collect::<Result<_, Box<dyn Error>>>()?;
        let signature = aggregate(&parts, Backend::auto())?.to_bytes();
        Ok(SignatureSet { signature, signing_keys: signing_keys.to_vec(), signing_root })
    };
    let mut sets = vec![set(&[block.proposer], block.root)?, set(&[block.proposer], block.epoch)?];
    for (attesters, root) in &block.attestations {
        sets.push(set(attesters, *root)?);
    }
    Ok((validators.into_any(), block, sets))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (validators, block, mut sets) = tiny_case()?;
    let verifier = Verifier::new(Options::default());
    println!("all sets are valid:  {}", verify_signature_sets(&verifier, &validators, &sets));
    println!("the block is         {}", block.verify(&verifier, &validators, &sets)?);

    sets[2].signature = sets[3].signature;
    for (index, reason) in false_sets(&verifier, &validators, &sets) {
        println!("set {index} is false:      {reason}");
    }

    let sets = &tiny_case()?.2[2..];
    println!("without two sets, all are valid: {}", verify_signature_sets(&verifier, &validators, sets));
    println!("but the block is {}", block.verify(&verifier, &validators, sets)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verifier() -> Verifier {
        Verifier::new(Options::default())
    }

    #[test]
    fn a_whole_block_is_complete() {
        let (validators, block, sets) = tiny_case().unwrap();
        assert!(verify_signature_sets(&verifier(), &validators, &sets));
        assert!(block.verify(&verifier(), &validators, &sets).unwrap().is_complete());
        assert!(!verify_signature_sets(&verifier(), &validators, &[]), "nothing is not a success");
    }

    #[test]
    fn each_forged_set_is_named() {
        let (validators, block, sets) = tiny_case().unwrap();
        for (i, name) in ["proposer", "randao", "attestation 0", "attestation 1"].into_iter().enumerate() {
            let mut forged = sets.clone();
            forged[i].signature = sets[(i + 1) % sets.len()].signature;
            assert!(!verify_signature_sets(&verifier(), &validators, &forged));
            assert_eq!(false_sets(&verifier(), &validators, &forged), [(i, Reason::Mismatch)]);
            let found = block.verify(&verifier(), &validators, &forged).unwrap();
            assert_eq!(found.false_names().collect::<Vec<_>>(), [(name, Reason::Mismatch)]);
        }
    }

    /// The sets that are there are valid, so a batch alone says yes.
    #[test]
    fn each_forgotten_set_is_named() {
        let (validators, block, sets) = tiny_case().unwrap();
        for (i, name) in ["proposer", "randao", "attestation 0", "attestation 1"].into_iter().enumerate() {
            let mut rest = sets.clone();
            rest.remove(i);
            assert!(verify_signature_sets(&verifier(), &validators, &rest));
            let found = block.verify(&verifier(), &validators, &rest).unwrap();
            assert!(!found.is_complete());
            assert_eq!(found.missing().collect::<Vec<_>>(), [name]);
        }
        // Two sets of one kind do not stand for two kinds.
        let doubled = [sets[0].clone(), sets[0].clone(), sets[2].clone(), sets[3].clone()];
        let found = block.verify(&verifier(), &validators, &doubled).unwrap();
        assert_eq!((found.missing().collect::<Vec<_>>(), found.unexpected()), (vec!["randao"], &[1][..]));
    }

    #[test]
    fn other_signers_and_validators_that_do_not_exist() {
        let (validators, block, mut sets) = tiny_case().unwrap();
        sets[2].signing_keys = vec![0, 1];
        sets[3].signing_keys.push(9);
        let reasons: Vec<_> = false_sets(&verifier(), &validators, &sets).into_iter().map(|(_, why)| why).collect();
        assert_eq!(reasons, [Reason::Mismatch, Reason::NoSuchMember { index: 9, members: 4 }]);
        let found = block.verify(&verifier(), &validators, &sets).unwrap();
        assert_eq!(found.missing().collect::<Vec<_>>(), ["attestation 0", "attestation 1"]);
        assert_eq!(found.unexpected(), [2, 3]);
    }
}
