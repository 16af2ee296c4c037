//! Polynomials whose coefficients are points: a transform in the exponent.
//!
//! The coefficients A₀, A₁, … of a commitment make the polynomial Σ Aₖ·Xᵏ, whose value at the point of a participant is
//! the participant's verification key. All values at roots of unity come from butterflies, as in a transform of scalars:
//! a polynomial modulo X^2m - c² becomes one modulo X^m - c and one modulo X^m + c, for which the upper half is
//! multiplied by c, and is added to the lower half and subtracted from it.

use quorate::{
    Options,
    threads::{parallel, parallel_chunks},
};
use quorate_curve::{Bls12381Group, Domain, Scalar, Segments};

/// The values of Σ Aₖ·Xᵏ at the first `count` points of a domain of 2^k points. There are at most as many coefficients as
/// points. They must be in the subgroup of order r.
///
/// Cost: for t coefficients about half a multiplication for each value and binary digit of t, and two additions.
pub(crate) fn values_in<G: Bls12381Group>(
    domain: &Domain,
    coefficients: &[G],
    count: usize,
    options: &Options,
) -> Vec<G> {
    let Options { backend, threads, .. } = *options;
    let points = domain.points();
    let mut values = vec![G::IDENTITY; domain.len()];
    values[..coefficients.len()].copy_from_slice(coefficients);
    let (mut size, mut length) = (domain.len(), coefficients.len());
    while size > 1 {
        let half = size / 2;
        let blocks = count.div_ceil(size);
        // Coefficients that are zero are not multiplied. The root of the first block is one.
        let uppers = length.saturating_sub(half);
        let turned: Vec<_> = (1..blocks).flat_map(|block| (0..uppers).map(move |i| (block, i))).collect();
        let products = parallel_chunks(threads, &turned, LEAST_MULTIPLES, |turned| {
            let upper: Vec<_> = turned.iter().map(|(block, i)| values[block * size + half + i]).collect();
            let roots: Vec<_> = turned.iter().map(|(block, _)| points[2 * block]).collect();
            backend.multiples(&upper, &roots)
        });
        for ((block, i), product) in turned.into_iter().zip(products) {
            values[block * size + half + i] = product;
        }
        let pairs: Vec<_> = (0..blocks).flat_map(|block| (0..uppers).map(move |i| block * size + i)).collect();
        let sums = parallel_chunks(threads, &pairs, LEAST_SUMS, |pairs| {
            let both = pairs.iter().flat_map(|lower| {
                let (a, b) = (values[*lower], values[lower + half]);
                [[a, b], [a, b.negate()]]
            });
            let sums = backend.sums(&both.collect::<Segments<G>>());
            sums.chunks_exact(2).map(|sums| [sums[0], sums[1]]).collect()
        });
        for (lower, [sum, difference]) in pairs.into_iter().zip(sums) {
            (values[lower], values[lower + half]) = (sum, difference);
        }
        for block in values.chunks_exact_mut(size).take(blocks) {
            let (lower, upper) = block.split_at_mut(half);
            upper[uppers..].copy_from_slice(&lower[uppers..]);
        }
        (size, length) = (half, length.min(half));
    }
    values.truncate(count);
    values
}

/// The values at any points: a multi-scalar multiplication for each.
pub(crate) fn values_at<G: Bls12381Group>(points: &[Scalar], coefficients: &[G], options: &Options) -> Vec<G> {
    parallel(options.threads, points.len(), |i| value_at(points[i], coefficients, options))
}

/// The value at a point.
fn value_at<G: Bls12381Group>(point: Scalar, coefficients: &[G], options: &Options) -> G {
    let powers = std::iter::successors(Some(Scalar::ONE), |power| Some(*power * point));
    options.backend.msm(&coefficients.iter().copied().zip(powers).collect::<Vec<_>>())
}

/// A thread for fewer multiplications or sums than this costs more than it saves.
const LEAST_MULTIPLES: usize = 16;
const LEAST_SUMS: usize = 512;
