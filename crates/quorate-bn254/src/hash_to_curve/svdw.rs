//! RFC 9380, section 6.6.1: the Shallue–van de Woestijne map to y² = x³ + 3 with Z = 1.

use ark_bn254::{Fq, G1Affine};
use ark_ff::{AdditiveGroup, Field, MontFp, batch_inversion};

use super::roots::{Roots, lifted, of_parity, parity, point, roots_one_by_one};

/// Which of the three candidates for x the map took. The numbers are those that the contract reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Candidate {
    /// The first candidate is the x of a point.
    First = 1,
    /// The second is, and the first is not.
    Second = 2,
    /// The first two are not; then the third always is.
    Third = 3,
}

/// A result of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// The point.
    pub point: G1Affine,
    /// Which candidate is its x.
    pub candidate: Candidate,
}

/// `map_to_curve`: one inversion and up to three roots.
pub fn map_to_curve(u: Fq) -> Mapped {
    map_to_curve_each(&[u], &roots_one_by_one)[0]
}

/// `map_to_curve` of each element: one inversion for all, and 1.75 roots for each on average.
pub fn map_to_curve_each(u: &[Fq], roots: Roots<'_>) -> Vec<Mapped> {
    let mut inverses: Vec<_> = u.iter().map(|u| denominator(*u)).collect();
    // It leaves zeros.
    batch_inversion(&mut inverses);
    let candidates: Vec<_> = u.iter().zip(inverses).map(|(u, inverse)| from_inverse(*u, inverse)).collect();
    let mut mapped = vec![None; u.len()];
    let mut open: Vec<_> = (0..u.len()).collect();
    for (place, candidate) in [Candidate::First, Candidate::Second, Candidate::Third].into_iter().enumerate() {
        let x: Vec<_> = open.iter().map(|i| candidates[*i][place]).collect();
        for ((i, x), y) in open.iter().zip(&x).zip(lifted(&x, roots)) {
            mapped[*i] = y.map(|y| Mapped { point: point(*x, of_parity(y, parity(u[*i]))), candidate });
        }
        open.retain(|i| mapped[*i].is_none());
    }
    assert!(open.is_empty(), "one of the three candidates is on the curve");
    mapped.into_iter().flatten().collect()
}

/// The three candidates for x. The map takes the first for which x³ + 3 is a square:
/// x1 = c2 - t, x2 = c2 + t, x3 = Z + c4·(tv2²/d)², where tv1 = 1 - c1·u², tv2 = 1 + c1·u², d = tv1·tv2,
/// t = u·tv1·c3/d, and 1/d counts as 0 for d = 0.
pub fn candidates(u: Fq) -> [Fq; 3] {
    from_inverse(u, denominator(u).inverse().unwrap_or(Fq::ZERO))
}

/// The candidates from the inverse of the [`denominator`].
fn from_inverse(u: Fq, inverse: Fq) -> [Fq; 3] {
    let square = u.square() * C1;
    let (tv1, tv2) = (Fq::ONE - square, Fq::ONE + square);
    let t = u * tv1 * inverse * C3;
    [C2 - t, C2 + t, Z + C4 * (tv2.square() * inverse).square()]
}

/// d = 1 - 16u⁴, which the map inverts. It is zero for u = ±1/2.
pub fn denominator(u: Fq) -> Fq {
    let square = u.square() * C1;
    Fq::ONE - square.square()
}

const Z: Fq = Fq::ONE;
/// g(Z) = Z³ + 3.
const C1: Fq = MontFp!("4");
/// -Z/2.
const C2: Fq = MontFp!("10944121435919637611123202872628637544348155578648911831344518947322613104291");
/// The even root of -g(Z)·(3Z² + 4A) = -12.
const C3: Fq = MontFp!("8815841940592487685674414971303048083897117035520822607866");
/// -4·g(Z)/(3Z² + 4A) = -16/3.
const C4: Fq = MontFp!("7296080957279758407415468581752425029565437052432607887563012631548408736189");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash_to_curve::roots::Parity;

    fn is_square(element: Fq) -> bool {
        element.legendre() != ark_ff::LegendreSymbol::QuadraticNonResidue
    }

    /// Section 6.6.1 defines the constants; here A = 0 and B = 3.
    #[test]
    fn constants_are_what_the_rfc_defines() {
        let g = |x: Fq| x.square() * x + Fq::from(3u8);
        assert_eq!(C1, g(Z));
        assert_eq!(C2.double(), -Z);
        assert_eq!(C3.square(), -g(Z) * Fq::from(3u8) * Z.square());
        assert_eq!(parity(C3), Parity::Even);
        assert_eq!(C4 * Fq::from(3u8) * Z.square(), -g(Z) * Fq::from(4u8));
        // Appendix H.1 asks of Z: g(Z) ≠ 0, -(3Z² + 4A)/(4g(Z)) ≠ 0 and a square, g(Z) or g(-Z/2) a square.
        assert!(is_square(-Fq::from(3u8) / (g(Z) * Fq::from(4u8))));
        assert!(is_square(g(Z)) || is_square(g(C2)));
    }

    /// u = ±1/2 makes the denominator zero, which `inv0` maps to zero: x1 = x2 = -1/2. u = 0 makes t zero.
    #[test]
    fn exceptional_u() {
        let half = Fq::from(2u8).inverse().expect("p is odd");
        for u in [half, -half, Fq::ZERO] {
            assert_eq!(denominator(u).inverse().is_none(), u != Fq::ZERO);
            let [x1, x2, x3] = candidates(u);
            assert_eq!((x1, x2), (C2, C2));
            assert!(u == Fq::ZERO || x3 == Z);
            let mapped = map_to_curve(u);
            assert_eq!(mapped.candidate, Candidate::First);
            assert!(mapped.point.is_on_curve());
            assert_eq!(parity(mapped.point.y), parity(u));
        }
    }
}
