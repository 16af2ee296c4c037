//! The number-theoretic transform, one scalar at a time: the values of a polynomial at all points of a domain of 2^k
//! points, and the way back.
//!
//! A polynomial modulo X^2m - c² becomes one modulo X^m - c and one modulo X^m + c, until constants are left. With the
//! order of [`Domain`](crate::Domain), the root c of block j is the same number on each level.

use crate::scalar::Scalar;

/// Replaces coefficients by values. `roots` are the roots of the blocks of the last level, in their order.
pub(crate) fn evaluate(roots: &[Scalar], values: &mut [Scalar]) {
    let mut size = values.len();
    while size > 1 {
        for (block, root) in values.chunks_exact_mut(size).zip(roots) {
            let (lower, upper) = block.split_at_mut(size / 2);
            for (a, b) in lower.iter_mut().zip(upper) {
                let product = *b * *root;
                (*a, *b) = (*a + product, *a - product);
            }
        }
        size /= 2;
    }
}

/// Replaces values by coefficients. `factor` is the inverse of their number.
pub(crate) fn interpolate(roots: &[Scalar], values: &mut [Scalar], factor: &Scalar) {
    let mut size = 2;
    while size <= values.len() {
        for (i, block) in values.chunks_exact_mut(size).enumerate() {
            // -1/c is the root of another block.
            let root = match i {
                0 => -roots[0],
                _ => roots[3 * (1 << i.ilog2()) - 1 - i],
            };
            let (lower, upper) = block.split_at_mut(size / 2);
            for (a, b) in lower.iter_mut().zip(upper) {
                (*a, *b) = (*a + *b, (*b - *a) * root);
            }
        }
        size *= 2;
    }
    values.iter_mut().for_each(|value| *value = *value * *factor);
}
