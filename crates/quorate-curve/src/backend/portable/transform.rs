//! The number-theoretic transform, one scalar at a time: the values of a polynomial at all points of a domain of 2^k
//! points, and the way back.
//!
//! A polynomial modulo X^2m - c² becomes one modulo X^m - c and one modulo X^m + c, until constants are left. With the
//! order of [`Domain`](crate::Domain), the root c of block j is the same number on each level.

use crate::scalar::Scalar;

/// Replaces the coefficients of each block of `size` by values. The first block has the number `block`. `roots` are the
/// roots of the blocks of the last level, in their order.
pub(crate) fn evaluate(roots: &[Scalar], size: usize, block: usize, values: &mut [Scalar]) {
    let (mut size, mut block) = (size, block);
    while size > 1 {
        for (values, root) in values.chunks_exact_mut(size).zip(&roots[block..]) {
            let (lower, upper) = values.split_at_mut(size / 2);
            for (a, b) in lower.iter_mut().zip(upper) {
                let product = *b * *root;
                (*a, *b) = (*a + product, *a - product);
            }
        }
        (size, block) = (size / 2, 2 * block);
    }
}

/// Replaces the values of each block of `size` by coefficients. `factor` is 1/size.
pub(crate) fn interpolate(roots: &[Scalar], size: usize, block: usize, values: &mut [Scalar], factor: &Scalar) {
    let mut half = 1;
    while half < size {
        let first = size / (2 * half) * block;
        for (i, values) in values.chunks_exact_mut(2 * half).enumerate() {
            // -1/c is the root of another block.
            let root = match first + i {
                0 => -roots[0],
                i => roots[3 * (1 << i.ilog2()) - 1 - i],
            };
            let (lower, upper) = values.split_at_mut(half);
            for (a, b) in lower.iter_mut().zip(upper) {
                (*a, *b) = (*a + *b, (*b - *a) * root);
            }
        }
        half *= 2;
    }
    values.iter_mut().for_each(|value| *value = *value * *factor);
}
