//! The keys that sign checkpoints, each with the proof that its owner possesses the secret.

use std::collections::HashMap;

use quorate::{
    Claim, MinPk, Options, ParseError, PublicKey, Reason, Signature, Soundness, UncheckedSignature, Verdict,
};
use quorate::{rand_core::CryptoRng, verify};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{
    hex,
    json::{self, JsonError},
};

/// The suite of all signatures and proofs of possession: `eth2`, keys of 48 bytes.
pub const SUITE: MinPk = MinPk::Eth2;

/// A set has at most this many signers.
pub const MOST_SIGNERS: usize = 1024;

/// A set as it is written down: nothing in it is checked. [`SignerSet::prove`] checks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetManifest {
    /// The number of the set: a rotation adds one.
    pub epoch: u64,
    /// How many signers must sign (m).
    pub threshold: u16,
    /// The signers. A signer's index is its place here, from 0 on.
    pub signers: Vec<SignerEntry>,
}

/// A key of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignerEntry {
    /// The compressed key.
    #[serde(with = "hex::array")]
    pub public_key: [u8; 48],
    /// The proof that its owner possesses the secret: `quorate pop prove --suite eth2`.
    #[serde(with = "hex::array")]
    pub proof: [u8; 96],
}

/// Why a manifest is not a set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// Too few or too many signers.
    #[error("found {found} signers, expected 1 to {MOST_SIGNERS}")]
    Signers {
        /// How many.
        found: usize,
    },
    /// Two disjoint groups could each be enough, or no group is.
    #[error("found threshold {threshold} for {signers} signers, expected more than half of them and at most all")]
    Threshold {
        /// How many signers must sign: m.
        threshold: u16,
        /// How many signers the set has: n.
        signers: usize,
    },
    /// A key does not decode.
    #[error("signer {index}: {error}")]
    Key {
        /// From 0 on.
        index: usize,
        /// What is wrong.
        error: ParseError,
    },
    /// A key stands in the set twice, and would count twice.
    #[error("signers {first} and {second} have the same key; list each key once")]
    RepeatedKey {
        /// From 0 on.
        first: usize,
        /// From 0 on.
        second: usize,
    },
    /// Nobody has shown that the owner of a key has its secret, so it may be a rogue key.
    #[error("signer {index}: its proof of possession is false: {reason}")]
    Possession {
        /// From 0 on.
        index: usize,
        /// What is wrong.
        reason: Reason,
    },
}

impl SetManifest {
    /// SHA-256 of the tag `QUORATE-CHECKPOINT-V01-SIGNERSET`, the epoch (8 bytes), the threshold (2), the number of
    /// signers (2), and each key (48) with its proof (96). Whoever pins a set pins this.
    pub fn id(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(TAG);
        hash.update(self.epoch.to_be_bytes());
        hash.update(self.threshold.to_be_bytes());
        hash.update(u16::try_from(self.signers.len()).unwrap_or(u16::MAX).to_be_bytes());
        for SignerEntry { public_key, proof } in &self.signers {
            hash.update(public_key);
            hash.update(proof);
        }
        hash.finalize().into()
    }

    /// Reads the JSON of a manifest.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, JsonError> {
        json::object(bytes, LARGEST, "a set of signers")
    }
}

/// Distinct keys that are each proven to be possessed, of which m sign. More than half must sign (2m > n), so that two
/// checkpoints with enough signatures have at least 2m - n signers in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignerSet {
    manifest: SetManifest,
    id: [u8; 32],
    keys: Vec<PublicKey<MinPk>>,
}

impl SignerSet {
    /// Checks a manifest: the threshold, the keys, that no key stands there twice, and all proofs of possession in one
    /// batch.
    ///
    /// # Errors
    /// [`SetError`].
    ///
    /// Cost: for each signer a subgroup check in each group, a hash and a pairing.
    pub fn prove(manifest: SetManifest, rng: &mut impl CryptoRng) -> Result<Self, SetError> {
        let (signers, threshold) = (manifest.signers.len(), manifest.threshold);
        if !(1..=MOST_SIGNERS).contains(&signers) {
            return Err(SetError::Signers { found: signers });
        }
        if 2 * usize::from(threshold) <= signers || usize::from(threshold) > signers {
            return Err(SetError::Threshold { threshold, signers });
        }
        let options = options();
        let encodings: Vec<_> = manifest.signers.iter().map(|signer| &signer.public_key[..]).collect();
        let keys = PublicKey::from_bytes_each(&encodings, options.backend).into_iter().enumerate();
        let keys = keys.map(|(index, key)| key.map_err(|error| SetError::Key { index, error }));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let mut seen = HashMap::new();
        for (second, key) in keys.iter().enumerate() {
            if let Some(first) = seen.insert(key, second) {
                return Err(SetError::RepeatedKey { first, second });
            }
        }
        let mut claims = Vec::with_capacity(signers);
        for (index, (key, signer)) in keys.iter().zip(&manifest.signers).enumerate() {
            let proof = UncheckedSignature::from_bytes(&signer.proof)
                .map_err(|error| SetError::Possession { index, reason: error.into() })?;
            claims.push(Claim::proof_of_possession(SUITE, *key, proof).expect("eth2 has proofs of possession"));
        }
        let verdicts = verify(&claims, &options, rng).verdicts;
        if let Some((index, reason)) = verdicts.iter().enumerate().find_map(|(i, verdict)| Some((i, verdict.reason()?)))
        {
            return Err(SetError::Possession { index, reason });
        }
        Ok(Self { id: manifest.id(), manifest, keys })
    }

    /// What it was made of.
    pub fn manifest(&self) -> &SetManifest {
        &self.manifest
    }

    /// The id that nodes pin, 32 bytes: [`SetManifest::id`].
    pub fn id(&self) -> [u8; 32] {
        self.id
    }

    /// Its number.
    pub fn epoch(&self) -> u64 {
        self.manifest.epoch
    }

    /// How many signers must sign (m).
    pub fn threshold(&self) -> usize {
        self.manifest.threshold.into()
    }

    /// The keys, by index (n of them; at least one).
    pub fn keys(&self) -> &[PublicKey<MinPk>] {
        &self.keys
    }

    /// The index of a key.
    pub fn index_of(&self, key: &PublicKey<MinPk>) -> Option<u16> {
        let index = self.keys.iter().position(|other| other == key)?;
        Some(u16::try_from(index).expect("a set has at most 1,024 signers"))
    }

    /// Verifies signatures of this set's keys in one batch with others. See [`Statement`].
    pub(crate) fn statement(
        &self,
        index: u16,
        message: &std::sync::Arc<[u8]>,
        signature: [u8; 96],
    ) -> Option<Statement> {
        let key = *self.keys.get(usize::from(index))?;
        Some(Statement { key, message: message.clone(), signature })
    }
}

/// "This key signed this message", as bytes that nobody has verified.
pub(crate) struct Statement {
    key: PublicKey<MinPk>,
    message: std::sync::Arc<[u8]>,
    signature: [u8; 96],
}

/// Verifies statements in one batch: the signature of each that is true.
pub(crate) fn judge(statements: &[Statement], rng: &mut impl CryptoRng) -> Vec<Result<Signature<MinPk>, Reason>> {
    let options = options();
    let encodings: Vec<_> = statements.iter().map(|statement| &statement.signature[..]).collect();
    let decoded = UncheckedSignature::<MinPk>::from_bytes_each(&encodings, options.backend);
    let claims: Vec<_> = (statements.iter().zip(&decoded))
        .filter_map(|(Statement { key, message, .. }, signature)| {
            Some(Claim::single(SUITE, *key, message.clone(), (*signature).ok()?))
        })
        .collect();
    let mut verdicts = verify(&claims, &options, rng).verdicts.into_iter();
    let judged = decoded.into_iter().map(|signature| {
        let signature = signature.map_err(Reason::from)?;
        match verdicts.next() {
            // The batch has checked that it is in the subgroup.
            Some(Verdict::Valid) => Ok(Signature::assume_in_subgroup(signature.point())),
            Some(Verdict::Invalid(reason)) => Err(reason),
            None => Err(Reason::Undecided),
        }
    });
    judged.collect()
}

/// Checkpoints are rare, so the stronger bound costs nothing that matters.
fn options() -> Options {
    Options { soundness: Soundness::Bits128, ..Options::default() }
}

const TAG: &[u8; 32] = b"QUORATE-CHECKPOINT-V01-SIGNERSET";

/// A set of 1,024 signers has 350 kB.
const LARGEST: usize = 1 << 20;
