//! A dealer who lies in one thing, and does everything else so that the lie is least likely to be seen.

use quorate::{Backend, Bls12381Suite, Options, rand_core::CryptoRng};
use quorate_curve::{Bls12381Group, G1, Group, Scalar, SecretPolynomial, SecretScalar};

use crate::{
    one_round::{
        ShareReceivers, ShareStatement, UncheckedShareTranscript,
        challenge::Said,
        deal::{Encryption, LastProof, Masks, all_are_shown, append},
        parameters::{DIGITS, RowBounds, integer},
    },
    pedersen::second_base,
};

/// What it changes, each at the moment at which an honest dealer has just made it.
pub(super) struct Liar<'a> {
    /// The points of the commitment, compressed.
    pub(super) commitment: &'a dyn Fn(&mut [u8]),
    /// Shares, digits and nonces.
    pub(super) secrets: &'a dyn Fn(&mut Encryption<'_>),
    /// Who the receivers are when digits are encrypted. Everything else is for the true ones.
    pub(super) encrypts_to: Option<&'a ShareReceivers>,
    pub(super) encapsulations: &'a dyn Fn(&mut [G1]),
    /// The encrypted digits.
    pub(super) digits: &'a dyn Fn(&mut [G1]),
    /// Multiples of the second base that are added to encrypted digits at places, and counted as blindings.
    pub(super) beside: &'a [(usize, Scalar)],
    /// Masks of zero, which leave the most room for digits: sums that are too large are cut.
    pub(super) masks_nothing: bool,
    /// The commitments to masks.
    pub(super) masks: &'a dyn Fn(&mut [G1]),
    /// The first message, compressed.
    pub(super) first: &'a dyn Fn(&mut [u8]),
}

/// It lies in nothing.
impl Default for Liar<'_> {
    fn default() -> Self {
        Self {
            commitment: &|_| {},
            secrets: &|_| {},
            encrypts_to: None,
            encapsulations: &|_| {},
            digits: &|_| {},
            beside: &[],
            masks_nothing: false,
            masks: &|_| {},
            first: &|_| {},
        }
    }
}

impl Liar<'_> {
    /// As [`publish`](crate::one_round::publish), and shares may be zero.
    pub(super) fn publish<S: Bls12381Suite>(
        &self,
        suite: S,
        receivers: &ShareReceivers,
        statement: &ShareStatement,
        polynomial: &SecretPolynomial,
        rng: &mut impl CryptoRng,
    ) -> UncheckedShareTranscript {
        let (options, committee) = (Options::default(), receivers.committee());
        let shares: Vec<_> = committee.indices().map(|index| polynomial.value(&committee.point(index)).ok()).collect();
        let held = shares.iter().map(|share| share.clone().unwrap_or_else(one)).collect();
        let mut secrets = Encryption::new(receivers, held, rng).expect("not zero");
        for (digits, _) in secrets.digits.iter_mut().zip(&shares).filter(|(_, share)| share.is_none()) {
            **digits = [0; DIGITS];
        }
        (self.secrets)(&mut secrets);

        let mut bytes: Vec<u8> = Vec::new();
        append(&mut bytes, &polynomial.coefficients().iter().map(S::public_key).collect::<Vec<_>>());
        (self.commitment)(&mut bytes);
        let mut encapsulations: Vec<_> = secrets.nonces.iter().map(SecretScalar::times_g1).collect();
        (self.encapsulations)(&mut encapsulations);
        append(&mut bytes, &encapsulations);
        let mut digits = encrypt(&secrets, self.encrypts_to.unwrap_or(receivers));
        for (place, number) in self.beside {
            digits[*place] = Backend::Portable.sum(&[digits[*place], times(second_base(), *number)]);
        }
        (self.digits)(&mut digits);
        append(&mut bytes, &digits);
        let dealt = Said::begin(statement, receivers, suite.name()).and(&bytes);

        let bounds = RowBounds::of(committee.participants());
        loop {
            let mut masks = Masks::draw(receivers, &options, rng).expect("not zero");
            if self.masks_nothing {
                masks.numbers.fill(0);
                masks.commitments = masks.blindings.iter().map(|secret| secret.sign_in_g1(&second_base())).collect();
            }
            (self.masks)(&mut masks.commitments);
            let mut shown = Vec::new();
            append(&mut shown, &masks.commitments);
            let said = dealt.and(&shown);
            let signs = said.signs(committee.participants());
            let mut sums = masks.numbers.clone();
            signs.add_sums(secrets.all_digits(), &mut sums);
            if self.masks_nothing {
                sums.iter_mut().for_each(|sum| *sum = (*sum).clamp(-bounds.shown, bounds.shown));
            } else if !all_are_shown(bounds, &sums) {
                continue;
            }
            let sums: Vec<_> = sums.iter().flat_map(|sum| sum.to_be_bytes()).collect();
            let said = said.and(&sums);
            let mut weights = said.weights(&signs);
            for (weight, _) in weights.participants.iter_mut().zip(&shares).filter(|(_, share)| share.is_none()) {
                *weight = Scalar::ZERO;
            }
            let beside: Scalar = self.beside.iter().map(|(place, number)| weights.digits[*place] * *number).sum();
            let in_first = beside * weights.rows[0].inverse().expect("not zero");
            masks.blindings[0] =
                SecretScalar::combination([(Scalar::ONE, &masks.blindings[0]), (in_first, &one())]).expect("not zero");
            let last = LastProof::new(&secrets, &masks, &weights, rng).expect("not zero");
            let mut first = last.first_message::<S>(&options);
            (self.first)(&mut first);
            shown.extend(sums);
            shown.extend(last.answers(said.and(&first).challenge(), first).expect("not zero"));
            bytes.extend(shown);
            return UncheckedShareTranscript(bytes);
        }
    }
}

/// Digits of any size, to any keys.
fn encrypt(secrets: &Encryption<'_>, receivers: &ShareReceivers) -> Vec<G1> {
    let mut points = Vec::new();
    for ((member, slot), digits) in receivers.seats().zip(&secrets.digits) {
        let key = receivers.keys()[member].point();
        for (nonce, digit) in secrets.nonces[slot * DIGITS..].iter().zip(digits.iter()) {
            let digit = times(G1::generator(), integer((*digit).into()));
            points.push(Backend::Portable.sum(&[nonce.sign_in_g1(&key), digit]));
        }
    }
    points
}

pub(super) fn times(point: G1, number: Scalar) -> G1 {
    Backend::Portable.msm(&[(point, number)])
}

/// Adds to a compressed point.
pub(super) fn add_to<G: Bls12381Group>(bytes: &mut [u8], point: G) {
    let sum = Backend::Portable.sum(&[Backend::Portable.decode(bytes).expect("a point"), point]);
    bytes.copy_from_slice(sum.compress().as_ref());
}

fn one() -> SecretScalar {
    SecretScalar::from_bytes(&Scalar::ONE.to_bytes()).expect("not zero")
}
