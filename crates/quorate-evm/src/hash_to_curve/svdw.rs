//! RFC 9380, section 6.6.1: the Shallue–van de Woestijne map to y² = x³ + 3 with Z = 1.

use ark_ff::{AdditiveGroup, Field, MontFp};

use super::{is_square, parity, point, right_side, root_of_parity};
use crate::bn254::{Fp, G1};

/// Which x the map took. A closed set, and the contract's numbers: 1, 2, 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the map has three candidates")]
pub enum Candidate {
    /// The first x.
    First = 1,
    /// The second: the first is on no point.
    Second = 2,
    /// The third: the first two are on no point.
    Third = 3,
}

/// A point of the map, and which x it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// The point.
    pub point: G1,
    /// Which x.
    pub candidate: Candidate,
}

/// `map_to_curve`: one inversion, up to three tests for a square, one root.
pub fn map_to_curve(u: Fp) -> Mapped {
    let (candidate, x) = choose(candidates(u));
    let y = root_of_parity(right_side(x), parity(u)).expect("one of the three candidates is on the curve");
    Mapped { point: point(x, y), candidate }
}

/// The three x of the map, of which the first that is on the curve is taken:
/// x1 = c2 - t, x2 = c2 + t, x3 = Z + c4·(tv2²/d)², where tv1 = 1 - c1·u², tv2 = 1 + c1·u², d = tv1·tv2,
/// t = u·tv1·c3/d, and 1/d is 0 for d = 0.
pub fn candidates(u: Fp) -> [Fp; 3] {
    let square = u.square() * C1;
    let (tv1, tv2) = (Fp::ONE - square, Fp::ONE + square);
    let inverse = (tv1 * tv2).inverse().unwrap_or(Fp::ZERO);
    let t = u * tv1 * inverse * C3;
    [C2 - t, C2 + t, Z + C4 * (tv2.square() * inverse).square()]
}

/// d = 1 - 16u⁴, which the map inverts; zero for u = ±1/2.
pub fn denominator(u: Fp) -> Fp {
    let square = u.square() * C1;
    Fp::ONE - square.square()
}

fn choose([x1, x2, x3]: [Fp; 3]) -> (Candidate, Fp) {
    if is_square(right_side(x1)) {
        (Candidate::First, x1)
    } else if is_square(right_side(x2)) {
        (Candidate::Second, x2)
    } else {
        (Candidate::Third, x3)
    }
}

const Z: Fp = Fp::ONE;
/// g(Z) = Z³ + 3.
const C1: Fp = MontFp!("4");
/// -Z/2.
const C2: Fp = MontFp!("10944121435919637611123202872628637544348155578648911831344518947322613104291");
/// The even root of -g(Z)·(3Z² + 4A) = -12.
const C3: Fp = MontFp!("8815841940592487685674414971303048083897117035520822607866");
/// -4·g(Z)/(3Z² + 4A) = -16/3.
const C4: Fp = MontFp!("7296080957279758407415468581752425029565437052432607887563012631548408736189");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash_to_curve::Parity;

    /// Section 6.6.1's definitions of the constants, for A = 0, B = 3.
    #[test]
    fn constants_are_what_the_rfc_defines() {
        let g = |x: Fp| x.square() * x + Fp::from(3u8);
        assert_eq!(C1, g(Z));
        assert_eq!(C2.double(), -Z);
        assert_eq!(C3.square(), -g(Z) * Fp::from(3u8) * Z.square());
        assert_eq!(parity(C3), Parity::Even);
        assert_eq!(C4 * Fp::from(3u8) * Z.square(), -g(Z) * Fp::from(4u8));
        // H.1 asks of Z: g(Z) ≠ 0, -(3Z² + 4A)/(4g(Z)) ≠ 0 and a square, g(Z) or g(-Z/2) a square.
        assert!(is_square(-Fp::from(3u8) / (g(Z) * Fp::from(4u8))));
        assert!(is_square(g(Z)) || is_square(g(C2)));
    }

    /// u = ±1/2 makes the denominator zero, which `inv0` maps to zero: x1 = x2 = -1/2. u = 0 makes t zero.
    #[test]
    fn exceptional_u() {
        let half = Fp::from(2u8).inverse().expect("p is odd");
        for u in [half, -half, Fp::ZERO] {
            assert_eq!(denominator(u).inverse().is_none(), u != Fp::ZERO);
            let [x1, x2, x3] = candidates(u);
            assert_eq!((x1, x2), (C2, C2));
            assert!(u == Fp::ZERO || x3 == Z);
            let mapped = map_to_curve(u);
            assert_eq!(mapped.candidate, Candidate::First);
            assert!(mapped.point.is_on_curve());
            assert_eq!(parity(mapped.point.y), parity(u));
        }
    }
}
