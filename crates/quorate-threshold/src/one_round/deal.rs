//! Dealing: a transcript for a secret polynomial.

use quorate::{Backend, Bls12381Suite, Options, rand_core::CryptoRng, threads::parallel};
use quorate_curve::{Bls12381Group, G1, Scalar, SecretError, SecretPolynomial, SecretScalar};
use zeroize::Zeroizing;

use super::{
    challenge::{Said, ShareStatement, Weights},
    digits::digits,
    parameters::{DIGIT_BITS, DIGITS, ROWS, RowBounds},
    receivers::ShareReceivers,
    transcript::UncheckedShareTranscript,
};
use crate::{pedersen::second_base, sharing::values};

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
    let shares = values(committee, polynomial)?;
    let commitment =
        parallel(threads, committee.threshold(), |i| S::public_key(&polynomial.coefficients()[i]).compress());
    let secrets = Encryption::new(receivers, &shares, rng)?;
    let mut bytes: Vec<u8> = commitment.iter().flat_map(|point| point.as_ref()).copied().collect();
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
        let sums: Vec<_> = sums.iter().flat_map(|sum| sum.to_be_bytes()).collect();
        let said = said.and(&sums);
        let weights = said.weights(&signs);
        shown.extend(sums);
        let last = LastProof { receivers, secrets: &secrets, masks: &masks, shares: &shares, weights: &weights };
        last.append::<S>(said, &mut shown, options, rng)?;
        bytes.extend(shown);
        return Ok(UncheckedShareTranscript(bytes));
    }
}

fn append<'a, G: Bls12381Group>(bytes: &mut Vec<u8>, points: impl IntoIterator<Item = &'a G>) {
    points.into_iter().for_each(|point| bytes.extend(point.compress().as_ref()));
}

/// A secret scalar, uniform but for 2^-128.
fn random(rng: &mut impl CryptoRng) -> Result<SecretScalar, SecretError> {
    let mut material = Zeroizing::new([0; 32]);
    rng.fill_bytes(material.as_mut_slice());
    SecretScalar::key_gen(material.as_slice(), b"")
}

/// The digits of all shares, and the nonces that encrypt them.
struct Encryption<'a> {
    receivers: &'a ShareReceivers,
    digits: Vec<Zeroizing<[i64; DIGITS]>>,
    /// For each slot, one for each digit.
    nonces: Vec<SecretScalar>,
}

impl<'a> Encryption<'a> {
    fn new(
        receivers: &'a ShareReceivers,
        shares: &[SecretScalar],
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SecretError> {
        let nonces = (0..receivers.slots() * DIGITS).map(|_| random(rng)).collect::<Result<_, _>>()?;
        Ok(Self { receivers, digits: shares.iter().map(digits).collect(), nonces })
    }

    fn all_digits(&self) -> impl Iterator<Item = i64> {
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
struct Masks {
    bounds: RowBounds,
    numbers: Zeroizing<Vec<i64>>,
    blindings: Vec<SecretScalar>,
    commitments: Vec<G1>,
}

impl Masks {
    fn draw(receivers: &ShareReceivers, options: &Options, rng: &mut impl CryptoRng) -> Result<Self, SecretError> {
        let bounds = RowBounds::of(receivers.committee().participants());
        let mut numbers = Zeroizing::new(Vec::with_capacity(ROWS));
        let width = 2 * bounds.mask.unsigned_abs() + 1;
        while numbers.len() < ROWS {
            // Uniform below a power of two: a number that is too large says nothing of the others.
            let number = rng.next_u64() & (width.next_power_of_two() - 1);
            if number < width {
                numbers.push(number as i64 - bounds.mask);
            }
        }
        let blindings = (0..ROWS).map(|_| random(rng)).collect::<Result<Vec<_>, _>>()?;
        let base: G1 = second_base();
        let bits = (i64::BITS - bounds.mask.leading_zeros()) as usize;
        let commitments =
            parallel(options.threads, ROWS, |row| blindings[row].times_plus_short(&base, numbers[row], bits));
        Ok(Self { bounds, numbers, blindings, commitments })
    }

    /// The masked sums, or `None` if one of them could tell something of the digits.
    fn cover(&self, add_sums: impl FnOnce(&mut [i64; ROWS])) -> Option<Zeroizing<[i64; ROWS]>> {
        let mut sums = Zeroizing::new([0; ROWS]);
        sums.copy_from_slice(&self.numbers);
        add_sums(&mut sums);
        let shown = self.bounds.shown.unsigned_abs();
        let farthest = sums.iter().fold(0, |farthest, sum| sum.unsigned_abs().max(farthest));
        (farthest <= shown).then_some(sums)
    }
}

/// What the dealer proves last: it knows nonces, blindings and a key with which everything adds up.
struct LastProof<'a> {
    receivers: &'a ShareReceivers,
    secrets: &'a Encryption<'a>,
    masks: &'a Masks,
    shares: &'a [SecretScalar],
    weights: &'a Weights,
}

impl LastProof<'_> {
    /// The keys times the weights of the digits that are encrypted with each nonce.
    fn weighted_keys(&self, options: &Options) -> Vec<G1> {
        let seats: Vec<_> = self.receivers.seats().collect();
        parallel(options.threads, self.secrets.nonces.len(), |nonce| {
            let (slot, digit) = (nonce / DIGITS, nonce % DIGITS);
            let of_slot = seats.iter().enumerate().filter(|(_, (_, of))| *of == slot);
            let terms = of_slot.map(|(share, (member, _))| {
                (self.receivers.keys()[*member].point(), self.weights.digits[share * DIGITS + digit])
            });
            options.backend.msm(&terms.collect::<Vec<_>>())
        })
    }

    fn append<S: Bls12381Suite>(
        &self,
        said: Said,
        bytes: &mut Vec<u8>,
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Result<(), SecretError> {
        let nonces = &self.secrets.nonces;
        let blinding = SecretScalar::combination(self.weights.rows.iter().copied().zip(&self.masks.blindings))?;
        let key = SecretScalar::combination(self.weights.participants.iter().copied().zip(self.shares))?;
        let first = (0..nonces.len() + 2).map(|_| random(rng)).collect::<Result<Vec<_>, _>>()?;
        let [of_nonces @ .., of_blinding, of_key] = &first[..] else { unreachable!("two more than nonces") };
        let mut terms: Vec<_> =
            of_nonces.iter().zip(self.weighted_keys(options)).map(|(secret, key)| secret.sign_in_g1(&key)).collect();
        terms.extend([of_blinding.sign_in_g1(&second_base()), of_key.times_g1()]);
        let mut points: Vec<_> = of_nonces.iter().map(SecretScalar::times_g1).collect();
        points.push(Backend::Portable.sum(&terms));
        let begin = bytes.len();
        append(bytes, &points);
        append(bytes, [&S::public_key(of_key)]);
        let challenge = said.and(&bytes[begin..]).challenge();
        for (first, secret) in first.iter().zip(nonces.iter().chain([&blinding, &key])) {
            let answer = SecretScalar::combination([(Scalar::ONE, first), (challenge, secret)])?;
            bytes.extend(answer.to_bytes().as_slice());
        }
        Ok(())
    }
}
