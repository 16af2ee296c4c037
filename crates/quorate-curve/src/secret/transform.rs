//! The values of a secret polynomial at all points of a domain, in constant time: the number-theoretic transform of the
//! portable backend, on memory that is wiped.
//!
//! Which numbers are multiplied and added, and where they are in memory, depends on the number of coefficients and of
//! points alone. The arithmetic is that of blst, which does not branch.

use alloc::vec::Vec;

use blst::*;

use crate::scalar::Scalar;

/// Secret elements of Fr, which are wiped when they are dropped.
pub(super) struct Secrets(Vec<blst_fr>);

impl Drop for Secrets {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|secret| zeroize::Zeroize::zeroize(&mut secret.l));
    }
}

impl Secrets {
    /// The coefficients of a polynomial, with zeros up to `size` of them. The memory is never moved.
    pub(super) fn of<'a>(coefficients: impl Iterator<Item = &'a blst_scalar>, size: usize) -> Self {
        let mut secrets = Self(alloc::vec![blst_fr::default(); size]);
        for (secret, coefficient) in secrets.0.iter_mut().zip(coefficients) {
            // SAFETY: valid references, and a scalar below r.
            unsafe { blst_fr_from_scalar(secret, coefficient) };
        }
        secrets
    }

    /// Replaces the first `coefficients` elements, of which the others are zero, by the values at the first `count` points
    /// of a domain of 2^k points. Values at other points are left unfinished.
    ///
    /// A polynomial modulo X^2m - c² becomes one modulo X^m - c and one modulo X^m + c, as in a
    /// [`Domain`](crate::Domain). `points` are those of the domain.
    pub(super) fn evaluate(&mut self, points: &[Scalar], coefficients: usize, count: usize) {
        let (mut size, mut length) = (self.0.len(), coefficients);
        let mut product = Self(alloc::vec![blst_fr::default()]);
        let product: *mut blst_fr = &mut product.0[0];
        while size > 1 {
            let half = size / 2;
            let blocks = self.0.chunks_exact_mut(size).take(count.div_ceil(size));
            for (block, root) in blocks.zip(points.iter().step_by(2)) {
                let (lower, upper) = block.split_at_mut(half);
                if length <= half {
                    upper[..length].copy_from_slice(&lower[..length]);
                    continue;
                }
                for (a, b) in lower.iter_mut().zip(upper) {
                    let (a, b): (*mut blst_fr, *mut blst_fr) = (a, b);
                    // SAFETY: three different elements that are alive; blst allows the result to be an argument.
                    unsafe {
                        blst_fr_mul(product, b, &root.0);
                        blst_fr_sub(b, a, product);
                        blst_fr_add(a, a, product);
                    }
                }
            }
            (size, length) = (half, length.min(half));
        }
    }

    /// The elements.
    pub(super) fn iter(&self) -> impl Iterator<Item = &blst_fr> {
        self.0.iter()
    }
}
