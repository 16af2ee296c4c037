//! Proof that signers have signed two things that exclude each other. Everyone who follows the sets can check it.

use quorate::{MinPk, PublicKey, SourceId, rand_core::CryptoRng};
use serde::{Deserialize, Serialize};

use crate::{
    checkpoint::Checkpoint,
    json::{self, JsonError},
    sets::{Rotation, RotationError, SetChain},
    signatures::{Flaw, Posting, SignedCheckpoint, unite},
};

/// Two things that were each signed by enough signers, and exclude each other.
///
/// Two checkpoints exclude each other if they are of one chain and one height and have different block hashes. Their other
/// fields may differ or not: two checkpoints with the same block hash say nothing that is false, although an honest signer
/// signs only one of them. If both are of one set, at least 2m - n of its keys signed both. If they are of different sets,
/// it may be that no key signed both; skipping stops all the same.
///
/// Two changes of a set exclude each other if they begin at one set and lead to different ones. At least 2m - n of the old
/// set's keys signed both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Equivocation {
    /// Two checkpoints.
    Checkpoints(Box<[Posting; 2]>),
    /// Two changes of a set.
    Rotations(Box<[Rotation; 2]>),
}

/// Why something is not evidence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceError {
    /// Both can be true.
    #[error(
        "the two do not exclude each other: expected one chain, one height and two block hashes, or one set and two that follow it"
    )]
    Compatible,
    /// One of them is not signed by enough signers.
    #[error("{} of the two is not signed by enough signers{}", if *place == 0 { "the first" } else { "the second" }, flaw.as_ref().map(|flaw| format!(": {flaw}")).unwrap_or_default())]
    Unsigned {
        /// 0 or 1.
        place: usize,
        /// What is wrong, if a signature is.
        flaw: Option<Flaw>,
    },
    /// A change of the set is not signed by enough signers of the old one.
    #[error(transparent)]
    Rotation(#[from] RotationError),
    /// The change begins at a set that is not of this chain.
    #[error("the change of the set begins at a set that does not follow from the pinned one")]
    UnknownSet,
}

impl Equivocation {
    /// The evidence in two signed checkpoints, if they exclude each other and both have enough signatures.
    pub fn between(a: &SignedCheckpoint, b: &SignedCheckpoint) -> Option<Self> {
        let excluded = exclude(a.checkpoint(), b.checkpoint()) && a.is_complete() && b.is_complete();
        excluded.then(|| Self::Checkpoints(Box::new([a.to_posting(), b.to_posting()])))
    }

    /// Verifies the evidence, and names the keys that signed both.
    ///
    /// # Errors
    /// [`EvidenceError`]: it proves nothing.
    pub fn verify(&self, chain: &SetChain, rng: &mut impl CryptoRng) -> Result<Vec<PublicKey<MinPk>>, EvidenceError> {
        match self {
            Self::Checkpoints(both) => {
                if !exclude(&both[0].document, &both[1].document) {
                    return Err(EvidenceError::Compatible);
                }
                let sources = both.iter().enumerate().map(|(place, posting)| (SourceId::from(place as u64), posting));
                let (signed, flaws) = unite(sources, chain.sets(), rng);
                let mut keys = Vec::new();
                for (place, posting) in both.iter().enumerate() {
                    let signed = signed.iter().find(|signed| *signed.checkpoint() == posting.document);
                    let Some(signed) = signed.filter(|signed| signed.is_complete()) else {
                        let flaw = flaws.into_iter().find(|flaw| flaw.node == SourceId::from(place as u64));
                        return Err(EvidenceError::Unsigned { place, flaw });
                    };
                    let set = chain.sets().iter().find(|set| set.epoch() == posting.document.set_epoch);
                    let set = set.ok_or(EvidenceError::UnknownSet)?;
                    keys.push(signed.signers().map(|index| set.keys()[usize::from(index)]).collect::<Vec<_>>());
                }
                Ok(common(&keys[0], &keys[1]))
            }
            Self::Rotations(both) => {
                let [a, b] = &**both;
                if a.from != b.from || a.to.id() == b.to.id() {
                    return Err(EvidenceError::Compatible);
                }
                let old = chain.sets().iter().find(|set| set.id() == a.from).ok_or(EvidenceError::UnknownSet)?;
                a.check_old(old, rng)?;
                b.check_old(old, rng)?;
                let keys = |rotation: &Rotation| -> Vec<_> {
                    rotation.old.iter().map(|signature| old.keys()[usize::from(signature.index)]).collect()
                };
                Ok(common(&keys(a), &keys(b)))
            }
        }
    }

    /// Reads the JSON of evidence.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, JsonError> {
        json::object(bytes, LARGEST, "evidence against signers")
    }
}

fn exclude(a: &Checkpoint, b: &Checkpoint) -> bool {
    a.chain_id == b.chain_id && a.height == b.height && a.block_hash != b.block_hash
}

fn common(a: &[PublicKey<MinPk>], b: &[PublicKey<MinPk>]) -> Vec<PublicKey<MinPk>> {
    a.iter().filter(|key| b.contains(key)).copied().collect()
}

/// Two changes of sets of 1,024 signers have 1.6 MB.
const LARGEST: usize = 4 << 20;
