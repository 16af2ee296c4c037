//! A transcript as bytes: what a dealer publishes, and what it must look like before anything is proven.

use quorate::{Bls12381Suite, Options, threads::parallel_chunks};
use quorate_curve::{Bls12381Group, G1, Scalar};

use super::{
    parameters::{DIGITS, ROWS, RowBounds},
    receivers::ShareReceivers,
};
use crate::committee::Committee;

/// What a dealer published, unproven: commitment, encapsulations, digits, masks, sums, first message and answers, one after the
/// other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncheckedShareTranscript(pub Vec<u8>);

/// Why a transcript proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareTranscriptError {
    /// It has not as many bytes as these receivers and this threshold need.
    #[error("the transcript has {found} bytes, and one for these receivers has {expected}")]
    Length {
        /// The bytes found.
        found: usize,
        /// The bytes expected.
        expected: usize,
    },
    /// The commitment to the polynomial has a point that is no key.
    #[error(transparent)]
    Commitment(#[from] crate::sharing::SharingError),
    /// A point or a number does not decode.
    #[error("{part} {place}, from 0 on, is not what stands there in a transcript")]
    Part {
        /// "encapsulation", "digit" and so on.
        part: &'static str,
        /// Its place.
        place: usize,
    },
    /// A random sum of digits is larger than those that an honest dealer shows.
    #[error("the sum {place} of digits, from 0 on, is larger than {most}")]
    LargeSum {
        /// Its place.
        place: usize,
        /// The largest that may be shown.
        most: i64,
    },
    /// The digits are not what is claimed: not small, or not the shares that the commitment commits to, or the dealer does
    /// not know what it encrypted.
    #[error(
        "the proof is false: the encrypted digits are not small, or are not the shares that the commitment commits to"
    )]
    Proof,
    /// The dealer shares another secret than its share of the previous key.
    #[error("the dealer does not share its share of the previous key")]
    OtherSecret,
}

/// Where the parts of a transcript are, in bytes. Points are compressed, and numbers are big-endian.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// The commitment: t keys.
    pub(super) commitment: usize,
    /// The encapsulations r·g: one for each slot and digit.
    pub(super) encapsulations: usize,
    /// The encrypted digits s·g + r·y, digit after digit of participant after participant.
    pub(super) digits: usize,
    /// The commitments to the masks of the random sums.
    pub(super) masks: usize,
    /// The random sums with their masks: 8 bytes each.
    pub(super) sums: usize,
    /// The dealer's first message of the last proof: as many points as encapsulations, two more, and a key.
    pub(super) first: usize,
    /// Its answers: as many scalars as encapsulations, and three more.
    pub(super) answers: usize,
    /// The end.
    pub(super) end: usize,
}

impl Layout {
    pub(super) fn of<S: Bls12381Suite>(receivers: &ShareReceivers) -> Self {
        Self::new::<S>(receivers.committee(), receivers.slots())
    }

    /// For a committee, of whose members none has more than so many shares.
    pub(super) fn new<S: Bls12381Suite>(committee: &Committee, slots: usize) -> Self {
        let encapsulated = slots * DIGITS;
        let encapsulations = committee.threshold() * S::Key::COMPRESSED;
        let digits = encapsulations + encapsulated * G1::COMPRESSED;
        let masks = digits + committee.participants() * DIGITS * G1::COMPRESSED;
        let sums = masks + ROWS * G1::COMPRESSED;
        let first = sums + ROWS * 8;
        let answers = first + (encapsulated + 2) * G1::COMPRESSED + S::Key::COMPRESSED;
        Self {
            commitment: 0,
            encapsulations,
            digits,
            masks,
            sums,
            first,
            answers,
            end: answers + (encapsulated + 3) * 32,
        }
    }
}

/// A thread for fewer points than this costs more than it saves.
const LEAST_POINTS: usize = 64;

/// The parts of a transcript, decoded. The points of G1 were checked for membership where it says so.
pub(super) struct Parts<S: Bls12381Suite> {
    /// In the subgroup, and none the identity.
    pub(super) encapsulations: Vec<G1>,
    /// On the curve.
    pub(super) digits: Vec<G1>,
    /// On the curve.
    pub(super) masks: Vec<G1>,
    pub(super) sums: Vec<i64>,
    /// On the curve: those that belong to the encapsulations, to the digits with the masks, and to the digits alone.
    pub(super) first: Vec<G1>,
    /// In the subgroup.
    pub(super) first_key: S::Key,
    /// Those that belong to the encapsulations, to the masks, to the key, and to the digits alone.
    pub(super) answers: Vec<Scalar>,
}

impl<S: Bls12381Suite> Parts<S> {
    /// Decodes all but the commitment, on all threads.
    pub(super) fn read(
        bytes: &[u8],
        layout: &Layout,
        receivers: &ShareReceivers,
        options: &Options,
    ) -> Result<Self, ShareTranscriptError> {
        let Options { backend, threads, .. } = *options;
        let points = |part: &'static str, begin: usize, end: usize| -> Result<Vec<G1>, ShareTranscriptError> {
            let encodings: Vec<_> = bytes[begin..end].chunks_exact(G1::COMPRESSED).collect();
            let points = parallel_chunks(threads, &encodings, LEAST_POINTS, |some| backend.decode_each::<G1>(some));
            let points = points.into_iter().enumerate();
            points.map(|(place, point)| point.map_err(|_| ShareTranscriptError::Part { part, place })).collect()
        };
        let encapsulations = points("encapsulation", layout.encapsulations, layout.digits)?;
        for (place, is_member) in backend.in_subgroup(&encapsulations).into_iter().enumerate() {
            use quorate_curve::Group as _;
            if !is_member || encapsulations[place].is_identity() {
                return Err(ShareTranscriptError::Part { part: "encapsulation", place });
            }
        }
        let most = RowBounds::of(receivers.committee().participants()).shown;
        let sum = |(place, bytes): (usize, &[u8])| {
            let sum = i64::from_be_bytes(bytes.try_into().expect("8 bytes"));
            let is_small = sum.unsigned_abs() <= most.unsigned_abs();
            if is_small { Ok(sum) } else { Err(ShareTranscriptError::LargeSum { place, most }) }
        };
        let sums = bytes[layout.sums..layout.first].chunks_exact(8).enumerate().map(sum).collect::<Result<_, _>>()?;
        let key = layout.answers - S::Key::COMPRESSED;
        let part = || ShareTranscriptError::Part { part: "key of the first message", place: 0 };
        let first_key: S::Key = backend.decode(&bytes[key..layout.answers]).map_err(|_| part())?;
        if !backend.is_member(&first_key) {
            return Err(part());
        }
        let answer = |(place, bytes): (usize, &[u8])| {
            let part = ShareTranscriptError::Part { part: "answer", place };
            Scalar::from_bytes(bytes.try_into().expect("32 bytes")).map_err(|_| part)
        };
        let answers = bytes[layout.answers..layout.end].chunks_exact(32).enumerate();
        Ok(Self {
            encapsulations,
            digits: points("digit", layout.digits, layout.masks)?,
            masks: points("mask", layout.masks, layout.sums)?,
            sums,
            first: points("point of the first message", layout.first, key)?,
            first_key,
            answers: answers.map(answer).collect::<Result<_, _>>()?,
        })
    }
}
