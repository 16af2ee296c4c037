//! Pairings, values of the Miller loop and of the target group, of each curve.

use core::ops::Mul;

use blst::blst_fp12;

use crate::arithmetic::fp12;

/// The curve BLS12-381, as a type. No value of it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bls12381 {}

/// A curve, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CurveId {
    /// BLS12-381.
    Bls12381,
    /// BN254.
    Bn254,
}

pub(crate) mod sealed {
    use core::fmt::Debug;

    /// The field of a curve's Miller values and of its target group.
    pub trait Target: Sized {
        type Value: Copy + Eq + Debug + Send + Sync + 'static;
        const ONE: Self::Value;
        fn multiply(a: &Self::Value, b: &Self::Value) -> Self::Value;
        /// a raised to p⁶, which in the target group is the inverse.
        fn conjugate(a: &Self::Value) -> Self::Value;
    }
}

use sealed::Target;

impl Target for Bls12381 {
    type Value = blst_fp12;
    const ONE: blst_fp12 = fp12::ONE;

    fn multiply(a: &blst_fp12, b: &blst_fp12) -> blst_fp12 {
        fp12::multiply(a, b)
    }

    fn conjugate(a: &blst_fp12) -> blst_fp12 {
        fp12::conjugate(a)
    }
}

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

impl Pairing {
    /// Every pairing, the optimal ate pairing first. BLS12-381 has all of them, and BN254 has the first alone.
    pub const ALL: [Self; 2] = [Self::Ate, Self::TwistedAte];
}

/// A product of Miller loops of one pairing of the curve `C`, before the final exponentiation. Values can be multiplied. On
/// BLS12-381 576 bytes and the name of the pairing.
///
/// Two values of the same product of pairings can differ. To compare them, raise them to elements of [`Gt`].
#[derive(Clone, Copy, Debug)]
pub struct MillerValue<C: Target = Bls12381> {
    pub(crate) value: C::Value,
    /// `None` for the empty product, which is one in every pairing.
    pairing: Option<Pairing>,
}

impl<C: Target> MillerValue<C> {
    /// The empty product.
    pub const ONE: Self = Self { value: C::ONE, pairing: None };

    pub(crate) fn new(pairing: Pairing, value: C::Value) -> Self {
        Self { value, pairing: Some(pairing) }
    }
}

impl<C: Target> Mul for MillerValue<C> {
    type Output = Self;

    /// # Panics
    /// If the values are of different pairings.
    fn mul(self, other: Self) -> Self {
        if let (Some(one), Some(another)) = (self.pairing, other.pairing) {
            assert_eq!(one, another, "the Miller values of a product must be of one pairing");
        }
        Self { value: C::multiply(&self.value, &other.value), pairing: self.pairing.or(other.pairing) }
    }
}

impl<C: Target> core::iter::Product for MillerValue<C> {
    fn product<I: Iterator<Item = Self>>(values: I) -> Self {
        values.reduce(Mul::mul).unwrap_or(Self::ONE)
    }
}

/// An element of the target group of the curve `C`, of order r. Compare and multiply only elements of one [`Pairing`]: those of another
/// are a power of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gt<C: Target = Bls12381>(pub(crate) C::Value);

impl<C: Target> Gt<C> {
    /// The neutral element.
    pub const ONE: Self = Self(C::ONE);

    /// Whether this is the neutral element. It is exactly if the product of pairings is one.
    pub fn is_one(&self) -> bool {
        self.0 == C::ONE
    }

    /// The inverse. In the target group it is the conjugate, which costs almost nothing.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self(C::conjugate(&self.0))
    }
}

impl<C: Target> Mul for Gt<C> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(C::multiply(&self.0, &other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, G1, G2, Group, Segments};
    use alloc::{vec, vec::Vec};

    #[test]
    fn one_is_blst_one() {
        assert_eq!(MillerValue::<Bls12381>::ONE.value, blst_fp12::default());
        assert!(Backend::Portable.final_exponentiation(MillerValue::<Bls12381>::ONE).is_one());
    }

    #[test]
    fn empty_product_and_identity_pairs_are_one() {
        let b = Backend::Portable;
        for pairs in [&[][..] as &[(G1, G2)], &[(G1::IDENTITY, G2::generator())], &[(G1::generator(), G2::IDENTITY)]] {
            assert!(b.final_exponentiation(b.miller_product(pairs)).is_one());
        }
    }

    /// No loop runs for them: a search for false claims asks for many products without pairs.
    #[test]
    fn products_without_pairs_are_the_empty_product() {
        for backend in Backend::available() {
            for pairing in Pairing::ALL {
                for products in [1, 3, 8, 9] {
                    let pairs = Segments::from_ends(vec![(G1::IDENTITY, G2::generator()); 2], vec![2; products]);
                    let values: Vec<MillerValue> = backend.miller_products(pairing, &pairs);
                    assert_eq!(values.len(), products);
                    assert!(values.iter().all(|value| value.pairing.is_none()), "{backend}, {pairing:?}");
                }
            }
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
        for pairing in Pairing::ALL {
            let values = b.miller_products(pairing, &Segments::from_ends(vec![pair; 6], vec![0, 1, 1, 3, 6]));
            let powers = b.final_exponentiations(&values);
            assert_eq!(powers, [Gt::ONE, powers[1], Gt::ONE, powers[1] * powers[1], powers[3] * powers[1]]);
            assert_eq!(powers[1] == one, pairing == Pairing::Ate);
        }
    }

    #[test]
    #[should_panic(expected = "one pairing")]
    fn values_of_two_pairings_are_not_multiplied() {
        let one = |pairing| MillerValue::<Bls12381>::new(pairing, fp12::ONE);
        let _ = one(Pairing::Ate) * one(Pairing::TwistedAte);
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
