//! Square roots: from an x to the y of a point.

use ark_bn254::{Fq, G1Affine};
use ark_ff::{BigInteger, Field, PrimeField, SqrtPrecomputation};

/// What computes a^((p + 1)/4) for each of many elements: a root of those that are squares. Many roots at a time can be computed in lanes,
/// and they are most of the time of a hash.
pub type Roots<'a> = &'a dyn Fn(&[Fq]) -> Vec<Fq>;

/// [`Roots`] one by one, by arkworks.
pub fn roots_one_by_one(elements: &[Fq]) -> Vec<Fq> {
    elements.iter().map(|element| element.pow(ROOT_EXPONENT)).collect()
}

/// (p + 1)/4 in words of 64 bits, the lowest first.
const ROOT_EXPONENT: &[u64] = match Fq::SQRT_PRECOMP {
    Some(SqrtPrecomputation::Case3Mod4 { modulus_plus_one_div_four }) => modulus_plus_one_div_four,
    _ => panic!("p is 3 modulo 4"),
};

/// The y = (x³ + 3)^((p + 1)/4) of each x, and `None` where no point has this x.
pub(super) fn lifted(x: &[Fq], roots: Roots<'_>) -> Vec<Option<Fq>> {
    let squares: Vec<_> = x.iter().map(|x| right_side(*x)).collect();
    roots(&squares).into_iter().zip(squares).map(|(root, square)| (root.square() == square).then_some(root)).collect()
}

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

/// The root or its negative, whichever has the wanted parity.
pub(super) fn of_parity(root: Fq, wanted: Parity) -> Fq {
    if parity(root) == wanted { root } else { -root }
}

/// The point with these coordinates, which are on the curve.
pub(super) fn point(x: Fq, y: Fq) -> G1Affine {
    let point = G1Affine::new_unchecked(x, y);
    debug_assert!(point.is_on_curve(), "y is a root of x³ + 3");
    point
}
