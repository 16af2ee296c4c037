//! Pairings, values of the Miller loop and of the target group.

use core::ops::Mul;

use blst::blst_fp12;

use crate::arithmetic::fp12::{ONE, conjugate, multiply};

/// The bilinear map of a product. On G1 × G2 each pairing is a fixed power of the other, so both say whether a product
/// is one. Their values must not be mixed: [`MillerValue`] remembers its pairing and refuses another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pairing {
    /// The optimal ate pairing e(P, Q) = f_{z,Q}(P), where z is the curve's parameter. Q must have order r, and P may
    /// be any point of E(Fp): a part of P whose order divides the cofactor does not change the value.
    Ate,
    /// The twisted ate pairing t(P, Q) = f_{z²,P}(Q). P must have order r, and Q may be any point of the twist: a part
    /// of Q whose order divides the cofactor does not change the value. Therefore t is bilinear in hashes whose
    /// cofactor was never cleared.
    TwistedAte,
}

/// A product of Miller loops of one pairing, before the final exponentiation. Values can be multiplied. 576 bytes and
/// the name of the pairing.
///
/// Two values of the same product of pairings can differ. To compare them, raise them to elements of [`Gt`].
#[derive(Clone, Copy, Debug)]
pub struct MillerValue {
    pub(crate) value: blst_fp12,
    /// `None` for the empty product, which is one in every pairing.
    pairing: Option<Pairing>,
}

impl MillerValue {
    /// The empty product.
    pub const ONE: Self = Self { value: ONE, pairing: None };

    pub(crate) fn new(pairing: Pairing, value: blst_fp12) -> Self {
        Self { value, pairing: Some(pairing) }
    }
}

impl Mul for MillerValue {
    type Output = Self;

    /// # Panics
    /// If the values are of different pairings.
    fn mul(self, other: Self) -> Self {
        if let (Some(one), Some(another)) = (self.pairing, other.pairing) {
            assert_eq!(one, another, "the Miller values of a product must be of one pairing");
        }
        Self { value: multiply(&self.value, &other.value), pairing: self.pairing.or(other.pairing) }
    }
}

impl core::iter::Product for MillerValue {
    fn product<I: Iterator<Item = Self>>(values: I) -> Self {
        values.reduce(Mul::mul).unwrap_or(Self::ONE)
    }
}

/// An element of the target group, of order r. Compare and multiply only elements of one [`Pairing`]: those of another
/// are a power of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gt(pub(crate) blst_fp12);

impl Gt {
    /// The neutral element.
    pub const ONE: Self = Self(ONE);

    /// Whether this is the neutral element. It is exactly if the product of pairings is one.
    pub fn is_one(&self) -> bool {
        *self == Self::ONE
    }

    /// The inverse. In the target group it is the conjugate, which costs almost nothing.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self(conjugate(&self.0))
    }
}

impl Mul for Gt {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(multiply(&self.0, &other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, G1, G2, Group, Segments};
    use alloc::vec;

    #[test]
    fn one_is_blst_one() {
        assert_eq!(MillerValue::ONE.value, blst_fp12::default());
        assert!(Backend::Portable.final_exponentiation(MillerValue::ONE).is_one());
    }

    #[test]
    fn empty_product_and_identity_pairs_are_one() {
        let b = Backend::Portable;
        for pairs in [&[][..], &[(G1::IDENTITY, G2::generator())], &[(G1::generator(), G2::IDENTITY)]] {
            assert!(b.final_exponentiation(b.miller_product(pairs)).is_one());
        }
    }

    #[test]
    fn identity_pairs_among_others_change_nothing() {
        let b = Backend::Portable;
        let (g1, g2) = (G1::generator(), G2::generator());
        let plain = b.final_exponentiation(b.miller_product(&[(g1, g2)]));
        let mixed = b.miller_product(&[(G1::IDENTITY, g2), (g1, g2), (g1, G2::IDENTITY)]);
        assert_eq!(b.final_exponentiation(mixed), plain);
        assert!(!plain.is_one());
    }

    #[test]
    fn segments_are_products_of_their_own() {
        let b = Backend::Portable;
        let pair = (G1::generator(), G2::generator());
        let one = b.final_exponentiation(b.miller_product(&[pair]));
        for pairing in b.pairings() {
            let values = b.miller_products(*pairing, &Segments::from_ends(vec![pair; 6], vec![0, 1, 1, 3, 6]));
            let powers = b.final_exponentiations(&values);
            assert_eq!(powers, [Gt::ONE, powers[1], Gt::ONE, powers[1] * powers[1], powers[3] * powers[1]]);
            assert_eq!(powers[1] == one, *pairing == Pairing::Ate);
        }
    }

    #[test]
    #[should_panic(expected = "one pairing")]
    fn values_of_two_pairings_are_not_multiplied() {
        let _ = MillerValue::new(Pairing::Ate, ONE) * MillerValue::new(Pairing::TwistedAte, ONE);
    }

    #[test]
    fn bilinear_over_every_stride() {
        let b = Backend::Portable;
        let (g1, g2) = (G1::generator(), G2::generator());
        let one = b.final_exponentiation(b.miller_product(&[(g1, g2)]));
        let mut power = Gt::ONE;
        for n in 1..=35 {
            power = power * one;
            let pairs = vec![(g1, g2); n];
            assert_eq!(b.final_exponentiation(b.miller_product(&pairs)), power, "{n} pairs");
        }
        assert!((power * power.inverse()).is_one());
    }
}
