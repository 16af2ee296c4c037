//! A checkpoint and who has signed it: signatures by index, united from several answers, each verified before it counts.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use quorate::{
    Backend, Bitmap, MinPk, ParseError, Reason, Signature, SourceId, UncheckedSignature, aggregate::aggregate,
    rand_core::CryptoRng,
};
use serde::{Deserialize, Serialize};

use crate::{
    checkpoint::Checkpoint,
    hex,
    json::{self, JsonError},
    set::{SignerSet, judge},
};

/// A signature and the index of the key that is said to have made it. Nothing is checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexedSignature {
    /// The signer's place in the set, from 0 on.
    pub index: u16,
    /// The compressed signature.
    #[serde(with = "hex::array")]
    pub signature: [u8; 96],
}

/// A checkpoint with signatures as they are sent: the body of `POST /v1/checkpoint`, what a signer writes, and a part of
/// what a node serves. Nothing is checked; [`unite`] checks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Posting {
    /// What was signed.
    pub document: Checkpoint,
    /// Who signed: bit i, from the least significant bit of the first byte on, is the signer with index i. If it is
    /// there, it must fit the signatures.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "hex::optional_bytes")]
    pub bitmap: Option<Vec<u8>>,
    /// The sum of the signatures, which verifies under the sum of the keys. If it is there, it must fit the signatures.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "hex::optional_array")]
    pub sum: Option<[u8; 96]>,
    /// The signatures, with ascending indices.
    pub signatures: Vec<IndexedSignature>,
}

impl Posting {
    /// Reads the JSON of a posting.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, JsonError> {
        json::object(bytes, LARGEST, "a checkpoint with its signatures")
    }
}

/// A checkpoint with verified signatures of its set. One key counts once, however often its signature was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    checkpoint: Checkpoint,
    threshold: usize,
    signers: usize,
    signatures: BTreeMap<u16, Signature<MinPk>>,
}

impl SignedCheckpoint {
    /// What was signed.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// The indices of those who signed, ascending.
    pub fn signers(&self) -> impl Iterator<Item = u16> {
        self.signatures.keys().copied()
    }

    /// How many distinct keys signed.
    pub fn count(&self) -> usize {
        self.signatures.len()
    }

    /// Whether as many keys signed as the set's threshold says.
    pub fn is_complete(&self) -> bool {
        self.count() >= self.threshold
    }

    /// How many keys must sign.
    pub fn threshold(&self) -> usize {
        self.threshold
    }

    /// Bitmap, sum and single signatures, as they are sent.
    pub fn to_posting(&self) -> Posting {
        let signatures: Vec<_> = self.signatures.values().copied().collect();
        let sum = aggregate(&signatures, Backend::auto()).ok().map(|sum| sum.to_bytes());
        let list = self.signatures.iter();
        Posting {
            document: self.checkpoint.clone(),
            bitmap: Some(bitmap(self.signers(), self.signers)),
            sum,
            signatures: list.map(|(index, s)| IndexedSignature { index: *index, signature: s.to_bytes() }).collect(),
        }
    }

    /// Adds verified signatures of the same checkpoint.
    pub(crate) fn absorb(&mut self, other: Self) {
        debug_assert_eq!(self.checkpoint, other.checkpoint);
        self.signatures.extend(other.signatures);
    }

    /// Takes a signature back.
    pub(crate) fn remove(&mut self, index: u16) {
        self.signatures.remove(&index);
    }
}

/// What is wrong with a posting, and who sent it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("checkpoint at height {height}, set epoch {set_epoch}: {kind}")]
pub struct Flaw {
    /// Who sent it.
    pub node: SourceId,
    /// The height of its checkpoint.
    pub height: u64,
    /// The epoch that its checkpoint states.
    pub set_epoch: u64,
    /// What is wrong.
    pub kind: FlawKind,
}

/// What can be wrong with a posting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlawKind {
    /// No set of this epoch is known.
    #[error("there is no set of signers with this epoch")]
    UnknownEpoch,
    /// An index stands twice, or before a smaller one. None of the signatures counts.
    #[error("the index {index} does not follow a smaller one; list each signer once, in ascending order")]
    NotAscending {
        /// The index.
        index: u16,
    },
    /// The set has no such signer. None of the signatures counts.
    #[error("found index {index}, but the set has the signers 0 to {}", signers - 1)]
    NoSuchSigner {
        /// The index.
        index: u16,
        /// How many signers there are.
        signers: usize,
    },
    /// The bitmap is not that of the signatures. None of them counts.
    #[error("the bitmap is not that of the signatures beside it")]
    Bitmap,
    /// The sum is not that of the signatures. None of them counts.
    #[error("the sum is not that of the signatures beside it")]
    Sum,
    /// A signature is false. It does not count; the others beside it may.
    #[error("the signature of signer {index} is false: {reason}")]
    Signature {
        /// The signer's index in its set.
        index: u16,
        /// What is wrong.
        reason: Reason,
    },
}

/// Unites what several sources sent, of any checkpoints. Every distinct signature is verified in one batch, and counts
/// only if it is true. Gives one [`SignedCheckpoint`] for each checkpoint with at least one true signature, in the order
/// of the postings, and the flaws with the sources that sent them.
///
/// `sets` are those whose signatures are accepted; a checkpoint belongs to the one with its epoch.
///
/// Cost: a pairing and a subgroup check for each distinct signature, a hash for each checkpoint.
pub fn unite<'a>(
    postings: impl IntoIterator<Item = (SourceId, &'a Posting)>,
    sets: &[SignerSet],
    rng: &mut impl CryptoRng,
) -> (Vec<SignedCheckpoint>, Vec<Flaw>) {
    let mut united: Vec<(SignedCheckpoint, &SignerSet, Arc<[u8]>)> = Vec::new();
    let mut places: HashMap<&Checkpoint, usize> = HashMap::new();
    let mut flaws = Vec::new();
    let mut senders: BTreeMap<(usize, u16, [u8; 96]), Vec<SourceId>> = BTreeMap::new();
    for (source, posting) in postings {
        let checkpoint = &posting.document;
        let flaw =
            |kind| Flaw { node: source.clone(), height: checkpoint.height, set_epoch: checkpoint.set_epoch, kind };
        let Some(set) = sets.iter().find(|set| set.epoch() == checkpoint.set_epoch) else {
            flaws.push(flaw(FlawKind::UnknownEpoch));
            continue;
        };
        if let Err(kind) = check_shape(posting, set.keys().len()) {
            flaws.push(flaw(kind));
            continue;
        }
        let place = *places.entry(checkpoint).or_insert_with(|| {
            let signed = SignedCheckpoint {
                checkpoint: checkpoint.clone(),
                threshold: set.threshold(),
                signers: set.keys().len(),
                signatures: BTreeMap::new(),
            };
            united.push((signed, set, checkpoint.signing_bytes(&set.id()).into()));
            united.len() - 1
        });
        for IndexedSignature { index, signature } in &posting.signatures {
            senders.entry((place, *index, *signature)).or_default().push(source.clone());
        }
    }
    let statements: Vec<_> = senders
        .keys()
        .map(|(place, index, signature)| {
            let (_, set, message) = &united[*place];
            set.statement(*index, message, *signature).expect("the indices were compared with the set")
        })
        .collect();
    for (((place, index, _), sources), judged) in senders.into_iter().zip(judge(&statements, rng)) {
        let signed = &mut united[place].0;
        match judged {
            Ok(signature) => drop(signed.signatures.insert(index, signature)),
            Err(reason) => flaws.extend(sources.into_iter().map(|node| Flaw {
                node,
                height: signed.checkpoint.height,
                set_epoch: signed.checkpoint.set_epoch,
                kind: FlawKind::Signature { index, reason },
            })),
        }
    }
    let signed = united.into_iter().map(|(signed, ..)| signed).filter(|signed| signed.count() > 0);
    (signed.collect(), flaws)
}

/// What costs nothing to check.
fn check_shape(posting: &Posting, signers: usize) -> Result<(), FlawKind> {
    check_indices(&posting.signatures, signers)?;
    let indices = posting.signatures.iter().map(|signature| signature.index);
    if posting.bitmap.as_ref().is_some_and(|found| *found != bitmap(indices, signers)) {
        return Err(FlawKind::Bitmap);
    }
    let Some(sum) = posting.sum else { return Ok(()) };
    let points =
        posting.signatures.iter().map(|signature| UncheckedSignature::<MinPk>::from_bytes(&signature.signature));
    let points: Result<Vec<_>, ParseError> = points.map(|signature| Ok(signature?.point())).collect();
    // A signature that does not decode is named as false later.
    let fits = points.is_ok_and(|points| {
        !points.is_empty() && UncheckedSignature::<MinPk>::from_point(Backend::auto().sum(&points)).to_bytes() == sum
    });
    if fits { Ok(()) } else { Err(FlawKind::Sum) }
}

/// Indices ascend, so that no signer stands there twice, and the set has them.
pub(crate) fn check_indices(signatures: &[IndexedSignature], signers: usize) -> Result<(), FlawKind> {
    for (place, IndexedSignature { index, .. }) in signatures.iter().enumerate() {
        if usize::from(*index) >= signers {
            return Err(FlawKind::NoSuchSigner { index: *index, signers });
        }
        if place > 0 && signatures[place - 1].index >= *index {
            return Err(FlawKind::NotAscending { index: *index });
        }
    }
    Ok(())
}

/// One bit for each signer of the set, in whole bytes.
fn bitmap(indices: impl Iterator<Item = u16>, signers: usize) -> Vec<u8> {
    let mut bytes = vec![0; signers.div_ceil(8)];
    for index in Bitmap::from_indices(indices.map(usize::from)).indices() {
        bytes[index / 8] |= 1 << (index % 8);
    }
    bytes
}

/// 1,024 signatures have 230 kB.
const LARGEST: usize = 512 << 10;
