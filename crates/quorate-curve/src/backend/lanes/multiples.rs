//! The multiples nᵢ·Pᵢ of points by public scalars, eight at a time.
//!
//! On the subgroup of order r, the endomorphism ω is the multiplication by -z². So a scalar n = a + b·z² multiplies as
//! the element a - b·ω of Z\[ω\] does, which is written in base 4 with the digits of weights ([`crate::weight`]):
//!
//! ```text
//! a - b·ω = Σ δⱼ·4ʲ,    n·P = Σ 4ʲ·(δⱼ·P)
//! ```
//!
//! The digits are ω and signs times 1, 2 and 1 - ω, so that a table of three multiples of each point is enough. With |a|
//! and |b| at most z²/2 + 1, the element is smaller than 2^127.3, and after 65 digits nothing is left: each digit leaves
//! (v - δ)/4, of which the absolute value is at most |v|/4 + 1/2, so after k of them at most |v|/4^k + 2/3. An element
//! below one is zero.
//!
//! Cost: 130 doublings and 65 additions for eight points.

use alloc::vec::Vec;

use super::{
    affine::table_of,
    curve::InLanes,
    field::Lanes,
    msm::split,
    weighted_sum::{Method, Positions, joined, nibbles},
};
use crate::{
    arithmetic::{BlstCurve, curve::PARAMETER},
    backend::portable,
    weight::{DIGITS, Eisenstein, NIBBLE_OF_RESIDUE, value},
};

/// Each point of the subgroup of order r times the scalar at its place.
pub(crate) fn multiples<L: Lanes, C: InLanes<Parameters = L::Curve> + BlstCurve>(
    lanes: L,
    points: &[C],
    scalars: &[[u8; 32]],
) -> Vec<C> {
    if points.len() < L::THRESHOLDS.multiples {
        return portable::multiples::multiples(points, scalars);
    }
    let chunks = points.chunks(TOGETHER).zip(scalars.chunks(TOGETHER));
    chunks.flat_map(|(points, scalars)| together(lanes, points, scalars)).collect()
}

/// The number of points whose tables are in the second cache at a time.
const TOGETHER: usize = 1 << 10;

fn together<L: Lanes, C: InLanes<Parameters = L::Curve> + BlstCurve>(
    lanes: L,
    points: &[C],
    scalars: &[[u8; 32]],
) -> Vec<C> {
    let table = table_of(lanes, points, true);
    let numbers: Vec<_> = scalars.iter().map(|scalar| digits(element(split(scalar)))).collect();
    let places = numbers.iter().map(|(_, len)| *len).max().unwrap_or(0);
    let segments: Vec<_> = (0..points.len()).map(|i| i..i + 1).collect();
    let nibbles = nibbles(points.len(), places, |point, place| numbers[point].0[place]);
    let positions = Positions { segments: &segments, places, nibbles };
    let multiples = joined::<L, C>(&positions, &table, Method::Tables);
    // A sum met its own negative or double on the way, as multiples of a point by small numbers can.
    let by_blst = |i: usize| portable::multiples::multiples(&points[i..=i], &scalars[i..=i])[0];
    multiples.into_iter().enumerate().map(|(i, multiple)| multiple.unwrap_or_else(|| by_blst(i))).collect()
}

/// a - b·ω for a + b·z², with parts of at most z²/2 + 1. The powers of z² are z⁴ = z² - 1 modulo r.
fn element([a, b]: [u128; 2]) -> Eisenstein {
    const SQUARE: u128 = PARAMETER as u128 * PARAMETER as u128;
    let carry = a > SQUARE / 2;
    let b = b + u128::from(carry);
    let wraps = b > SQUARE / 2;
    // The differences are below 2^127, although the numbers are not.
    let a = if carry { a.wrapping_sub(SQUARE) } else { a } as i128 - i128::from(wraps);
    let b = if wraps { (b + 1).wrapping_sub(SQUARE) } else { b } as i128;
    (a, -b)
}

/// The most digits.
const MOST: usize = 65;

/// The nibbles of the digits, the lowest first, and how many there are.
fn digits((mut a, mut b): Eisenstein) -> ([u8; MOST], usize) {
    let mut nibbles = [0; MOST];
    let mut len = 0;
    while (a, b) != (0, 0) {
        let nibble = NIBBLE_OF_RESIDUE[(a & 3) as usize | ((b & 3) as usize) << 2];
        let (c, d) = VALUES[nibble as usize];
        nibbles[len] = nibble;
        (a, b) = ((a - c) >> 2, (b - d) >> 2);
        len += 1;
    }
    (nibbles, len)
}

/// The values of the digits, by nibble.
const VALUES: [Eisenstein; 16] = {
    let mut values = [(0, 0); 16];
    let mut nibble = 0;
    while nibble < 16 {
        values[nibble] = value(DIGITS[nibble]);
        nibble += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scalar, scalar::tests::scalars};

    fn wide(number: u128) -> Scalar {
        Scalar::reduce(&number.to_be_bytes())
    }

    /// The digits of scalars at the edges of the halves make the scalar, where ω stands for -z².
    #[test]
    fn digits_make_the_scalar() {
        let square = u128::from(PARAMETER) * u128::from(PARAMETER);
        let z2 = wide(square);
        let half = [square / 2, square / 2 + 1, square / 2 - 1, square - 1, 1].map(wide);
        let edges = half.iter().flat_map(|a| half.iter().map(move |b| *a + *b * z2));
        let mut longest = 0;
        for scalar in edges.chain(scalars(1000)) {
            let (a, b) = element(split(&scalar.to_le_bytes()));
            assert!(a.unsigned_abs() <= square / 2 + 1 && b.unsigned_abs() <= square / 2 + 1, "{scalar:?}");
            let (nibbles, len) = digits((a, b));
            longest = longest.max(len);
            let part = |n: i128| if n < 0 { -wide(n.unsigned_abs()) } else { wide(n.unsigned_abs()) };
            let sum = nibbles[..len].iter().rev().fold(Scalar::ZERO, |sum, nibble| {
                let (a, b) = VALUES[usize::from(*nibble)];
                sum * Scalar::from(4) + part(a) - part(b) * z2
            });
            assert_eq!(sum, scalar);
        }
        assert!((64..=MOST).contains(&longest), "{longest} digits");
    }
}
