//! What receivers make of transcripts: the key, and their shares of it.

use std::cell::LazyCell;

use quorate::{Backend, Bls12381Suite, Options, PublicKey, SecretKey, rand_core::CryptoRng};
use quorate_curve::{Bls12381Group, G1, Group, Scalar, SecretScalar, marking::declassify};
use zeroize::Zeroizing;

use super::{
    digits::weighted,
    key::ShareDecryptionKey,
    parameters::{DIGIT_BITS, DIGITS, RowBounds, powers},
    receivers::ShareReceivers,
    search::{DigitTable, FAR, NEAR},
    verify::{ShareTranscript, without_cofactor},
};
use crate::{
    committee::Index,
    interpolation::{Interpolation, InterpolationError},
    shared_key::SharedKey,
    sharing::{Commitment, KeyShare, SharingError},
};

/// Transcripts of one ceremony and what each is multiplied by in the key that they make.
#[derive(Clone, Debug)]
pub struct Contributions<'a, S: Bls12381Suite> {
    transcripts: Vec<(Scalar, &'a ShareTranscript<S>)>,
    commitment: Commitment<S>,
}

/// Why transcripts make no key, or a receiver has no share of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContributionsError {
    /// There is no transcript.
    #[error("there are no transcripts")]
    None,
    /// A coefficient of the sum is the identity, so that the key would have another threshold, or be none.
    #[error("the contributions cancel, so they make no key: run another ceremony")]
    Cancelled,
    /// Too few dealers of the previous key.
    #[error(transparent)]
    TooFew(#[from] InterpolationError),
    /// A share is zero, which is no share: docs/one-round.md says how a dealer makes its own share so.
    #[error("the share of participant {0} is zero, which is no share")]
    ZeroShare(Index),
    /// The secret key is not that of the member.
    #[error("the digits of participant {0} are not encrypted to this key")]
    OtherKey(Index),
    /// The share is not what the commitment says. It is a fault of this program.
    #[error(transparent)]
    Share(#[from] SharingError),
}

impl<'a, S: Bls12381Suite> Contributions<'a, S> {
    /// A new key: the sum of what the dealers contribute.
    ///
    /// # Errors
    /// [`ContributionsError::None`], [`ContributionsError::Cancelled`].
    ///
    /// # Panics
    /// If transcripts are for different receivers.
    ///
    /// Cost: t additions for each transcript.
    pub fn to_new_key(
        transcripts: impl IntoIterator<Item = &'a ShareTranscript<S>>,
        options: &Options,
    ) -> Result<Self, ContributionsError> {
        Self::new(transcripts.into_iter().map(|transcript| (Scalar::ONE, transcript)).collect(), options)
    }

    /// The previous key, shared anew. Of the dealers, those count that [`Interpolation`] chooses: those of the lowest indices, or whole
    /// cosets of roots of unity. Each must share its share, which [`ShareTranscript::shares_share`] checks.
    ///
    /// # Errors
    /// [`ContributionsError`].
    ///
    /// # Panics
    /// If transcripts are for different receivers.
    ///
    /// Cost: t multi-scalar multiplications of as many points as there are dealers.
    pub fn to_previous_key(
        previous: &SharedKey<S>,
        transcripts: &[(Index, &'a ShareTranscript<S>)],
        options: &Options,
    ) -> Result<Self, ContributionsError> {
        let available: Vec<_> = transcripts.iter().map(|(index, _)| *index).collect();
        let interpolation = Interpolation::new(previous.committee(), &available, options)?;
        let signers = interpolation.signers();
        let of = |index: &Index| transcripts.iter().find(|(dealer, _)| dealer == index).expect("it is available").1;
        Self::new(interpolation.coefficients().into_iter().zip(signers.iter().map(of)).collect(), options)
    }

    fn new(transcripts: Vec<(Scalar, &'a ShareTranscript<S>)>, options: &Options) -> Result<Self, ContributionsError> {
        let (_, first) = transcripts.first().ok_or(ContributionsError::None)?;
        let same = transcripts.iter().all(|(_, of)| of.receivers == first.receivers);
        assert!(same, "transcripts for the same receivers");
        let one = transcripts.iter().all(|(factor, _)| *factor == Scalar::ONE);
        let point = |k: usize| {
            let points = transcripts.iter().map(|(factor, of)| (of.commitment.points()[k].point(), *factor));
            let sum = if one {
                options.backend.sum(&points.map(|(point, _)| point).collect::<Vec<_>>())
            } else {
                options.backend.msm(&points.collect::<Vec<_>>())
            };
            PublicKey::assume_in_subgroup(sum).map_err(|_| ContributionsError::Cancelled)
        };
        let points = (0..first.commitment.points().len()).map(point).collect::<Result<_, _>>()?;
        Ok(Self { commitment: Commitment::from_points(points), transcripts })
    }

    /// The commitment to the key and all shares of it.
    pub fn commitment(&self) -> &Commitment<S> {
        &self.commitment
    }

    /// The shares of the member at a place, from 0 on. Each was checked against the commitment.
    ///
    /// # Errors
    /// [`ContributionsError::OtherKey`], [`ContributionsError::ZeroShare`].
    ///
    /// # Panics
    /// If the transcripts are for other receivers.
    ///
    /// Cost: in a new key 11 multiplications for each share, and a search; in others, for each transcript. Where dealers have
    /// encrypted digits as large as their proofs allow, a longer search for each of them, and in a new key one more search for each half
    /// of the transcripts, of those and so on, down to each of these dealers.
    pub fn decrypt(
        &self,
        key: &ShareDecryptionKey,
        receivers: &ShareReceivers,
        member: usize,
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<KeyShare<S>>, ContributionsError> {
        let same = self.transcripts.iter().all(|(_, of)| of.receivers == *receivers.digest());
        assert!(same, "the receivers of the transcripts");
        let base = without_cofactor(&G1::generator());
        let (near, far) = (DigitTable::new(base, NEAR, options), LazyCell::new(|| DigitTable::new(base, FAR, options)));
        let indices: Vec<_> = receivers.shares_of(member).collect();
        let Some(first) = indices.first() else { return Ok(Vec::new()) };
        if receivers.keys().get(member) != Some(&key.encryption_key()) {
            return Err(ContributionsError::OtherKey(*first));
        }
        let mut shares = Vec::with_capacity(indices.len());
        for (slot, index) in indices.into_iter().enumerate() {
            let decryption = Decryption { key, receivers, slot, index, options };
            let secret = decryption.share(&self.transcripts, &near, || &far, rng)?;
            let secret = SecretKey::from_bytes(&secret.to_bytes()).map_err(|_| ContributionsError::ZeroShare(index))?;
            shares.push(KeyShare::new(index, secret));
        }
        self.commitment.proves_all(receivers.committee(), &shares, options, rng)?;
        Ok(shares)
    }
}

impl<S: Bls12381Suite> ShareTranscript<S> {
    /// Whether the dealer shares its share of the previous key.
    pub fn shares_share(&self, previous: &SharedKey<S>, dealer: Index, backend: Backend) -> bool {
        previous.verification_key(dealer, backend).is_ok_and(|key| key == self.commitment.public_key())
    }
}

/// What it takes to decrypt one share.
struct Decryption<'a> {
    key: &'a ShareDecryptionKey,
    receivers: &'a ShareReceivers,
    slot: usize,
    index: Index,
    options: &'a Options,
}

impl Decryption<'_> {
    /// The sum of what the transcripts give this participant, each times its factor.
    ///
    /// Transcripts without factors are decrypted as one. Where a dealer has encrypted a digit that no honest one has, their halves are, and
    /// so on: c such dealers of D take at most 1 + 2·c·⌈log2 D⌉ searches, and a long one for each of them.
    fn share<'t, S: Bls12381Suite>(
        &self,
        transcripts: &[(Scalar, &ShareTranscript<S>)],
        near: &DigitTable,
        far: impl Fn() -> &'t DigitTable,
        rng: &mut impl CryptoRng,
    ) -> Result<SecretScalar, ContributionsError> {
        let are_summed = transcripts.iter().all(|(factor, _)| *factor == Scalar::ONE);
        let mut parts = if are_summed { vec![transcripts] } else { transcripts.chunks(1).collect() };
        let largest = RowBounds::of(self.receivers.committee().participants()).largest_digit();
        let mut shares = Vec::with_capacity(transcripts.len());
        while let Some(part) = parts.pop() {
            let summed: Vec<_> = part.iter().map(|(_, transcript)| *transcript).collect();
            let digits = match self.digits(&summed, summed.len() as i64 * HONEST, near, rng) {
                Some(digits) => digits,
                // A verified transcript has digits up to `largest`, so that only another key finds none.
                None if part.len() == 1 => {
                    self.digits(&summed, largest, far(), rng).ok_or(ContributionsError::OtherKey(self.index))?
                }
                None => {
                    let (one, other) = part.split_at(part.len() / 2);
                    parts.extend([one, other]);
                    continue;
                }
            };
            // Dealers may have given this participant zero, which adds nothing to its share.
            shares.extend(weighted(&powers(), digits.iter().copied()).ok().map(|share| (part[0].0, share)));
        }
        let zero = |_| ContributionsError::ZeroShare(self.index);
        SecretScalar::combination(shares.iter().map(|(factor, share)| (*factor, share))).map_err(zero)
    }

    /// The sum of the digits that transcripts have for this participant, if each is at most `farthest` from zero.
    ///
    /// A random number is added to each, so that what is looked up says less about the digit.
    fn digits<S: Bls12381Suite>(
        &self,
        transcripts: &[&ShareTranscript<S>],
        farthest: i64,
        table: &DigitTable,
        rng: &mut impl CryptoRng,
    ) -> Option<Zeroizing<[i64; DIGITS]>> {
        let backend = Backend::Portable;
        let column = |digit: usize| {
            let begin = (self.index.place() * DIGITS + digit) * G1::COMPRESSED;
            let encodings: Vec<_> = transcripts.iter().map(|of| &of.digits[begin..][..G1::COMPRESSED]).collect();
            let points = self.options.backend.decode_each::<G1>(&encodings).into_iter();
            let points: Vec<_> = points.map(|point| point.expect("it was decoded before")).collect();
            let encapsulations: Vec<_> =
                transcripts.iter().map(|of| of.encapsulations[self.slot * DIGITS + digit]).collect();
            (self.options.backend.sum(&points), self.options.backend.sum(&encapsulations))
        };
        let mut offsets = Zeroizing::new([0; DIGITS]);
        let mut points = Vec::with_capacity(DIGITS);
        for (digit, offset) in offsets.iter_mut().enumerate() {
            *offset = (rng.next_u64() >> (u64::BITS - OFFSET_BITS)) as i64;
            let (digit, encapsulation) = column(digit);
            // From here on the time may show digit + offset, of which the offset hides the digit.
            let mask = declassify(self.key.times_plus_short(&encapsulation, -*offset, OFFSET_BITS as usize)).negate();
            points.push(without_cofactor(&backend.sum(&[digit, mask])));
        }
        let steps = table.large_steps(farthest + (1 << OFFSET_BITS), self.options);
        let found = table.find(&points, &steps, self.options);
        let mut digits = Zeroizing::new([0; DIGITS]);
        for ((digit, found), offset) in digits.iter_mut().zip(found).zip(offsets.iter()) {
            *digit = found? - offset;
        }
        Some(digits)
    }
}

/// The bits of the number that hides which place of the table a digit is at.
const OFFSET_BITS: u32 = 31;

/// The farthest digit of an honest dealer.
const HONEST: i64 = 1 << (DIGIT_BITS - 1);
