//! Dealing: a transcript for a secret polynomial.

use quorate::{Backend, Bls12381Suite, Options, rand_core::CryptoRng, threads::parallel};
use quorate_curve::{Bls12381Group, G1, Scalar, SecretError, SecretPolynomial, SecretScalar, marking::declassify};
use zeroize::Zeroizing;

use super::{
    challenge::{Said, ShareStatement, Weights},
    digits::{digits, weighted},
    parameters::{DIGIT_BITS, DIGITS, ROWS, RowBounds},
    receivers::ShareReceivers,
    transcript::UncheckedShareTranscript,
};
use crate::{
    pedersen::second_base,
    sharing::{listed, values},
};

/// Deals the values of a polynomial of t coefficients to the receivers: its constant coefficient is what the dealer shares.
///
/// # Errors
/// [`SecretError::Zero`], if a share or a number drawn is zero: with random coefficients it does not happen.
///
/// # Panics
/// If the polynomial has not t coefficients.
///
/// Cost, all in constant time and on all threads: 11 multiplications in G1 for each share, t in the group of keys, and
/// 128 for each trial at masks, of which the first succeeds three times out of five. How many it takes does not depend on
/// the secrets.
pub fn publish<S: Bls12381Suite>(
    suite: S,
    receivers: &ShareReceivers,
    statement: &ShareStatement,
    polynomial: &SecretPolynomial,
    options: &Options,
    rng: &mut impl CryptoRng,
) -> Result<UncheckedShareTranscript, SecretError> {
    let (committee, threads) = (receivers.committee(), options.threads);
    assert_eq!(
        polynomial.coefficients().len(),
        committee.threshold(),
        "the coefficients of a polynomial of degree t - 1"
    );
    let secrets = Encryption::new(receivers, values(committee, polynomial)?, rng)?;
    let commitment = parallel(threads, committee.threshold(), |i| S::public_key(&polynomial.coefficients()[i]));
    let mut bytes = Vec::new();
    append(&mut bytes, &commitment);
    let encapsulations = parallel(threads, secrets.nonces.len(), |i| secrets.nonces[i].times_g1());
    append(&mut bytes, &encapsulations);
    append(&mut bytes, &secrets.encrypt(options));
    let dealt = Said::begin(statement, receivers, suite.name()).and(&bytes);
    // Whatever was tried before is forgotten.
    loop {
        let masks = Masks::draw(receivers, options, rng)?;
        let mut shown = Vec::new();
        append(&mut shown, &masks.commitments);
        let said = dealt.and(&shown);
        let signs = said.signs(committee.participants());
        let Some(sums) = masks.cover(|sums| signs.add_sums(secrets.all_digits(), sums)) else { continue };
        let sums = declassify(*sums);
        let sums: Vec<_> = sums.iter().flat_map(|sum| sum.to_be_bytes()).collect();
        let said = said.and(&sums);
        let weights = said.weights(&signs);
        shown.extend(sums);
        let last = LastProof::new(&secrets, &masks, &weights, rng)?;
        let first = last.first_message::<S>(options);
        shown.extend(last.answers(said.and(&first).challenge(), first)?);
        bytes.extend(shown);
        return Ok(UncheckedShareTranscript(bytes));
    }
}

/// Appends points that are published, and so are secret no more.
pub(super) fn append<'a, G: Bls12381Group>(bytes: &mut Vec<u8>, points: impl IntoIterator<Item = &'a G>) {
    points.into_iter().for_each(|point| bytes.extend(declassify(*point).compress().as_ref()));
}

/// A secret scalar, uniform but for 2^-128.
pub(crate) fn random(rng: &mut impl CryptoRng) -> Result<SecretScalar, SecretError> {
    let mut material = Zeroizing::new([0; 32]);
    rng.fill_bytes(material.as_mut_slice());
    SecretScalar::key_gen(material.as_slice(), b"")
}

/// All shares, their digits, and the nonces that encrypt these.
pub(super) struct Encryption<'a> {
    pub(super) receivers: &'a ShareReceivers,
    pub(super) shares: Vec<SecretScalar>,
    pub(super) digits: Vec<Zeroizing<[i64; DIGITS]>>,
    /// For each slot, one for each digit.
    pub(super) nonces: Vec<SecretScalar>,
}

impl<'a> Encryption<'a> {
    pub(super) fn new(
        receivers: &'a ShareReceivers,
        shares: Vec<SecretScalar>,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SecretError> {
        let count = receivers.slots() * DIGITS;
        let nonces = listed(count, (0..count).map(|_| random(rng)))?;
        Ok(Self { receivers, digits: shares.iter().map(digits).collect(), shares, nonces })
    }

    pub(super) fn all_digits(&self) -> impl Iterator<Item = i64> {
        self.digits.iter().flat_map(|digits| digits.iter().copied())
    }

    /// s·g + r·y for each digit s of each share.
    fn encrypt(&self, options: &Options) -> Vec<G1> {
        let seats: Vec<_> = self.receivers.seats().collect();
        let encrypted = parallel(options.threads, seats.len(), |share| {
            let (member, slot) = seats[share];
            let key = self.receivers.keys()[member].point();
            let nonces = &self.nonces[slot * DIGITS..][..DIGITS];
            let digits = self.digits[share].iter().zip(nonces);
            digits.map(|(digit, nonce)| nonce.times_plus_short(&key, *digit, DIGIT_BITS as usize)).collect::<Vec<_>>()
        });
        encrypted.concat()
    }
}

/// The numbers that hide the random sums, and commitments to them: y·g + t·h.
pub(super) struct Masks {
    bounds: RowBounds,
    pub(super) numbers: Zeroizing<[i64; ROWS]>,
    pub(super) blindings: Vec<SecretScalar>,
    pub(super) commitments: Vec<G1>,
}

impl Masks {
    pub(super) fn draw(
        receivers: &ShareReceivers,
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SecretError> {
        let bounds = RowBounds::of(receivers.committee().participants());
        let numbers = mask_numbers(bounds, rng);
        let blindings = listed(ROWS, (0..ROWS).map(|_| random(rng)))?;
        let base: G1 = second_base();
        let bits = (i64::BITS - bounds.mask.leading_zeros()) as usize;
        let commitments =
            parallel(options.threads, ROWS, |row| blindings[row].times_plus_short(&base, numbers[row], bits));
        Ok(Self { bounds, numbers, blindings, commitments })
    }

    /// The masked sums, or `None` if one of them could tell something of the digits.
    fn cover(&self, add_sums: impl FnOnce(&mut [i64; ROWS])) -> Option<Zeroizing<[i64; ROWS]>> {
        let mut sums = self.numbers.clone();
        add_sums(&mut sums);
        all_are_shown(self.bounds, &sums).then_some(sums)
    }
}

/// One mask for each random sum.
pub(super) fn mask_numbers(bounds: RowBounds, rng: &mut impl CryptoRng) -> Zeroizing<[i64; ROWS]> {
    let width = 2 * bounds.mask.unsigned_abs() + 1;
    let mut numbers = Zeroizing::new([0; ROWS]);
    for number in numbers.iter_mut() {
        // Uniform below a power of two: a number that is too large says nothing of the others.
        let below = loop {
            let drawn = rng.next_u64() & (width.next_power_of_two() - 1);
            if declassify(drawn < width) {
                break drawn;
            }
        };
        *number = below as i64 - bounds.mask;
    }
    numbers
}

/// Whether all sums are in the range that each of them reaches whatever the digits are. Which are not is not looked at.
pub(super) fn all_are_shown(bounds: RowBounds, sums: &[i64; ROWS]) -> bool {
    let farthest = sums.iter().fold(0, |farthest, sum| sum.unsigned_abs().max(farthest));
    declassify(farthest <= bounds.shown.unsigned_abs())
}

/// What the dealer proves last: it knows nonces, blindings, a key and a number with which everything adds up.
pub(super) struct LastProof<'a> {
    secrets: &'a Encryption<'a>,
    weights: &'a Weights,
    /// The sum of the blindings, the sum of the shares, and the sum of the digits alone.
    sums: [SecretScalar; 3],
    /// The secrets of the first message: one for each nonce and each sum.
    pub(super) first: Vec<SecretScalar>,
}

impl<'a> LastProof<'a> {
    pub(super) fn new(
        secrets: &'a Encryption<'a>,
        masks: &Masks,
        weights: &'a Weights,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SecretError> {
        let sums = [
            SecretScalar::combination(weights.rows.iter().copied().zip(&masks.blindings))?,
            SecretScalar::combination(weights.participants.iter().copied().zip(&secrets.shares))?,
            weighted(&weights.alone, secrets.all_digits())?,
        ];
        let count = secrets.nonces.len() + sums.len();
        let first = listed(count, (0..count).map(|_| random(rng)))?;
        Ok(Self { secrets, weights, sums, first })
    }

    pub(super) fn first_message<S: Bls12381Suite>(&self, options: &Options) -> Vec<u8> {
        let [of_nonces @ .., of_blinding, of_key, of_alone] = &self.first[..] else {
            unreachable!("three more than nonces")
        };
        let sum = |weights: &[Scalar], others: &[G1]| {
            let keys = self.weighted_keys(weights, options);
            let terms = of_nonces.iter().zip(keys).map(|(secret, key)| secret.sign_in_g1(&key));
            Backend::Portable.sum(&terms.chain(others.iter().copied()).collect::<Vec<_>>())
        };
        let mut points: Vec<_> = of_nonces.iter().map(SecretScalar::times_g1).collect();
        points.push(sum(&self.weights.digits, &[of_blinding.sign_in_g1(&second_base()), of_key.times_g1()]));
        points.push(sum(&self.weights.alone, &[of_alone.times_g1()]));
        let mut bytes = Vec::new();
        append(&mut bytes, &points);
        append(&mut bytes, [&S::public_key(of_key)]);
        bytes
    }

    /// The first message and the answers.
    pub(super) fn answers(&self, challenge: Scalar, mut bytes: Vec<u8>) -> Result<Vec<u8>, SecretError> {
        for (first, secret) in self.first.iter().zip(self.secrets.nonces.iter().chain(&self.sums)) {
            let answer = SecretScalar::combination([(Scalar::ONE, first), (challenge, secret)])?;
            bytes.extend(declassify(*answer.to_bytes()));
        }
        Ok(bytes)
    }

    /// The keys times the weights of the digits that are encrypted with each nonce.
    fn weighted_keys(&self, weights: &[Scalar], options: &Options) -> Vec<G1> {
        let receivers = self.secrets.receivers;
        let slots = receivers.by_slot();
        parallel(options.threads, self.secrets.nonces.len(), |nonce| {
            let (slot, digit) = (nonce / DIGITS, nonce % DIGITS);
            let term =
                |(member, share): &(usize, usize)| (receivers.keys()[*member].point(), weights[share * DIGITS + digit]);
            options.backend.msm(&slots[slot].iter().map(term).collect::<Vec<_>>())
        })
    }
}
