//! Pairings, values of the Miller loop and of the target group.

use alloc::boxed::Box;
use core::{fmt, ops::Mul};

use blst::{blst_fp2, blst_fp6, blst_fp12};

#[cfg(target_arch = "x86_64")]
use crate::backend::ifma;
use crate::{
    backend::{
        Backend,
        portable::{
            curve::{ONE, ZERO},
            pairing::{STEPS, conjugate, multiply},
        },
    },
    group::G2,
};

/// Which bilinear map a product is made of. Every pairing is a fixed power of every other on G1 × G2, so each tells whether
/// a product is one, but their values must not be mixed: [`MillerValue`] remembers its pairing and refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the engine has a generator for each")]
pub enum Pairing {
    /// The optimal ate pairing e(P, Q) = f_{z,Q}(P), z being the curve's parameter. Q is of order r, P any point of
    /// E(Fp): the value does not see the part of P whose order divides the cofactor.
    Ate,
    /// The twisted ate pairing t(P, Q) = f_{z²,P}(Q). P is of order r, Q any point of the twist: t(P, Q) does not see the
    /// part of Q whose order divides the cofactor, and so is bilinear in hashes whose cofactor was never cleared.
    TwistedAte,
}

/// A point of G2 with the lines of the ate pairing's loop, which are about four tenths of its work: for a point that is paired
/// at least three times. Made by [`Backend::prepare`](crate::Backend::prepare), for [`Pairing::Ate`].
///
/// About 200 bytes, and on the heap 17,408 in lanes and 19,584 by blst. Any back end takes it; one that did not make it uses
/// the point alone and saves nothing.
#[derive(Clone)]
pub struct PreparedG2 {
    pub(crate) point: G2,
    pub(crate) lines: PreparedLines,
}

/// In the form of the back end that made them. Those of the identity are never used.
#[derive(Clone)]
pub(crate) enum PreparedLines {
    Portable(Box<[blst_fp6; STEPS]>),
    #[cfg(target_arch = "x86_64")]
    Ifma(ifma::lines::Lines),
}

impl PreparedG2 {
    pub(crate) fn new(point: G2, lines: PreparedLines) -> Self {
        Self { point, lines }
    }

    /// Whether a back end has a use for the lines.
    pub(crate) fn fits(&self, backend: Backend) -> bool {
        match (&self.lines, backend) {
            (PreparedLines::Portable(_), Backend::Portable) => true,
            #[cfg(target_arch = "x86_64")]
            (PreparedLines::Ifma(_), Backend::Ifma(_)) => true,
            #[cfg(target_arch = "x86_64")]
            _ => false,
        }
    }

    /// The point.
    pub const fn point(&self) -> G2 {
        self.point
    }
}

impl fmt::Debug for PreparedG2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreparedG2({:?})", self.point)
    }
}

/// A product of Miller loops of one pairing, before the final exponentiation. Multiplicative; 576 bytes and its pairing.
///
/// Two values can mean the same pairing and differ here: compare them as [`Gt`].
#[derive(Clone, Copy, Debug)]
pub struct MillerValue {
    pub(crate) value: blst_fp12,
    /// None for the empty product, which is one in every pairing.
    pairing: Option<Pairing>,
}

impl MillerValue {
    /// The empty product.
    pub const ONE: Self = Self { value: FP12_ONE, pairing: None };

    pub(crate) fn new(pairing: Pairing, value: blst_fp12) -> Self {
        Self { value, pairing: Some(pairing) }
    }
}

impl Mul for MillerValue {
    type Output = Self;

    /// # Panics
    /// If the values are of different pairings: their product means nothing.
    fn mul(self, other: Self) -> Self {
        if let (Some(one), Some(another)) = (self.pairing, other.pairing) {
            assert_eq!(one, another, "a product of Miller values is of one pairing");
        }
        Self { value: multiply(&self.value, &other.value), pairing: self.pairing.or(other.pairing) }
    }
}

impl core::iter::Product for MillerValue {
    fn product<I: Iterator<Item = Self>>(values: I) -> Self {
        values.reduce(Mul::mul).unwrap_or(Self::ONE)
    }
}

/// An element of the target group, of order r. Values of different [`Pairing`]s are powers of each other: compare and
/// multiply those of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gt(pub(crate) blst_fp12);

impl Gt {
    /// The neutral element.
    pub const ONE: Self = Self(FP12_ONE);

    /// Whether this is the neutral element: whether the product of pairings that it came from is one.
    pub fn is_one(&self) -> bool {
        *self == Self::ONE
    }

    /// The inverse: in the target group it is the conjugate, which costs next to nothing.
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

const FP12_ONE: blst_fp12 = {
    const ZERO_FP2: blst_fp2 = blst_fp2 { fp: [ZERO, ZERO] };
    const ZERO_FP6: blst_fp6 = blst_fp6 { fp2: [ZERO_FP2; 3] };
    blst_fp12 { fp6: [blst_fp6 { fp2: [blst_fp2 { fp: [ONE, ZERO] }, ZERO_FP2, ZERO_FP2] }, ZERO_FP6] }
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{G1, Group, Segments};
    use alloc::{vec, vec::Vec};

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
            let values = b.miller_products(*pairing, &Segments::cut(vec![pair; 6], vec![0, 1, 1, 3, 6]));
            let powers = b.final_exponentiations(&values);
            assert_eq!(powers, [Gt::ONE, powers[1], Gt::ONE, powers[1] * powers[1], powers[3] * powers[1]]);
            assert_eq!(powers[1] == one, *pairing == Pairing::Ate);
        }
    }

    #[test]
    #[should_panic(expected = "one pairing")]
    fn values_of_two_pairings_are_not_multiplied() {
        let _ = MillerValue::new(Pairing::Ate, FP12_ONE) * MillerValue::new(Pairing::TwistedAte, FP12_ONE);
    }

    #[test]
    fn bilinear_over_every_stride() {
        let b = Backend::Portable;
        let (g1, g2) = (G1::generator(), G2::generator());
        let one = b.final_exponentiation(b.miller_product(&[(g1, g2)]));
        let mut power = Gt::ONE;
        for n in 1..=35 {
            power = power * one;
            let pairs = alloc::vec![(g1, g2); n];
            assert_eq!(b.final_exponentiation(b.miller_product(&pairs)), power, "{n} pairs");
        }
        assert!((power * power.inverse()).is_one());
    }

    /// Around every width, with identities on both sides, by points that either back end prepared.
    #[test]
    fn prepared_points_have_the_values_of_their_points() {
        let oracle = Backend::Portable;
        for n in [0, 1, 2, 4, 5, 7, 8, 9, 15, 16, 17, 65, 130] {
            let names: Vec<_> = (0..n).map(usize::to_le_bytes).collect();
            let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
            let mut ps = oracle.hash_to_curve::<G1>(b"p", &messages);
            let mut qs = oracle.hash_to_curve::<G2>(b"q", &messages);
            if n > 7 {
                ps[3] = G1::IDENTITY;
                (ps[5], qs[5]) = (G1::IDENTITY, G2::IDENTITY);
                qs[n - 1] = G2::IDENTITY;
            }
            let pairs: Vec<_> = ps.iter().copied().zip(qs.iter().copied()).collect();
            for ends in [vec![n], vec![n / 2, n], vec![0, n / 3, n / 3, n], (0..=n).collect()] {
                let segments = Segments::cut(pairs.clone(), ends.clone());
                let expected = oracle.final_exponentiations(&oracle.miller_products(Pairing::Ate, &segments));
                for maker in Backend::available() {
                    let prepared = maker.prepare(&qs);
                    assert!(prepared.iter().map(PreparedG2::point).eq(qs.iter().copied()));
                    let pairs = Segments::cut(ps.iter().copied().zip(&prepared).collect(), ends.clone());
                    for backend in Backend::available() {
                        let values = backend.miller_products_prepared(&pairs);
                        let values = oracle.final_exponentiations(&values);
                        assert_eq!(values, expected, "{n} points of {maker} by {backend} to {ends:?}");
                    }
                }
            }
        }
    }

    /// Identities alone, whatever their lines are.
    #[test]
    fn prepared_identities_are_one() {
        for b in Backend::available() {
            let prepared = b.prepare(&[G2::IDENTITY, G2::generator()]);
            let pairs: Vec<_> = (0..9).map(|_| (G1::generator(), &prepared[0])).collect();
            for n in 0..=9 {
                let values = b.miller_products_prepared(&Segments::one(pairs[..n].to_vec()));
                assert!(b.final_exponentiation(values[0] * MillerValue::ONE).is_one());
            }
            let values = b.miller_products_prepared(&Segments::one(vec![(G1::IDENTITY, &prepared[1]); 9]));
            assert!(b.final_exponentiation(values[0]).is_one());
        }
    }
}
