//! Square roots: from an x to the y of a point.

use ark_bn254::{Fq, G1Affine};
use ark_ff::{BigInteger, Field, LegendreSymbol, PrimeField};

/// x³ + 3, the square of the y that belong to x. It is never zero: the order of the curve is odd, so no point has y = 0.
pub fn right_side(x: Fq) -> Fq {
    x.square() * x + Fq::from(3u8)
}

/// Whether a field element, read as an integer, is even or odd: `sgn0` of RFC 9380, section 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parity {
    /// `sgn0` is 0.
    Even,
    /// `sgn0` is 1.
    Odd,
}

/// The parity of a field element.
pub fn parity(element: Fq) -> Parity {
    if element.into_bigint().is_odd() { Parity::Odd } else { Parity::Even }
}

/// Whether an element is a square; zero is one.
pub(super) fn is_square(element: Fq) -> bool {
    element.legendre() != LegendreSymbol::QuadraticNonResidue
}

/// The square root that has the wanted parity; `None` if there is no root.
pub(super) fn root_of_parity(square: Fq, wanted: Parity) -> Option<Fq> {
    let root = square.sqrt()?;
    Some(if parity(root) == wanted { root } else { -root })
}

/// The point with these coordinates, which are on the curve.
pub(super) fn point(x: Fq, y: Fq) -> G1Affine {
    let point = G1Affine::new_unchecked(x, y);
    debug_assert!(point.is_on_curve(), "y is a root of x³ + 3");
    point
}
