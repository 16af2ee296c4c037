//! Coefficients of small committees with integers as points, as integers over one denominator.
//!
//! For example, the coefficients of the participants 1, 2, 3 are 3, -3, 1, and those of 1, 2, 4 are 8, -6, 1 over 3. A
//! multiplication by a number of a few bits costs a few additions.

use quorate_curve::Scalar;

use crate::committee::{Committee, Identifiers, Index};

/// The most signers. The integers of more do not fit the words of the computation.
const SIGNERS_UP_TO: usize = 20;

/// The largest numerator. With more bits a common multi-scalar multiplication costs less.
const LARGEST: i128 = 1 << 40;

/// The numerators of L(x), and their common denominator. `None` if the points are not integers, or if a number is too
/// large.
pub(super) fn integers(committee: &Committee, signers: &[Index]) -> Option<(Vec<i64>, Scalar)> {
    if committee.identifiers() != Identifiers::Integers || signers.len() > SIGNERS_UP_TO {
        return None;
    }
    let points: Vec<i128> = signers.iter().map(|index| index.number().into()).collect();
    let fractions: Option<Vec<_>> = points.iter().map(|x| fraction(*x, &points)).collect();
    let fractions = fractions?;
    let denominator = fractions.iter().try_fold(1_i128, |multiple, (_, denominator)| {
        multiple.checked_mul(denominator / divisor(multiple, *denominator))
    })?;
    let numerators: Option<Vec<_>> = fractions
        .iter()
        .map(|(numerator, own)| {
            let numerator = numerator.checked_mul(denominator / own)?;
            (numerator.abs() <= LARGEST).then(|| i64::try_from(numerator).ok()).flatten()
        })
        .collect();
    Some((numerators?, Scalar::reduce(&denominator.to_be_bytes())))
}

/// ∏ y/(y - x) over the other points y, with a positive denominator.
fn fraction(x: i128, points: &[i128]) -> Option<(i128, i128)> {
    points.iter().filter(|y| **y != x).try_fold((1_i128, 1_i128), |(numerator, denominator), y| {
        let (numerator, denominator) = (numerator.checked_mul(*y)?, denominator.checked_mul(y - x)?);
        let divisor = divisor(numerator, denominator) * denominator.signum();
        Some((numerator / divisor, denominator / divisor))
    })
}

/// The greatest common divisor, positive, of numbers that are not zero.
fn divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
