//! The number-theoretic transform in lanes: the values of a polynomial at all points of a domain of 2^k points, and the
//! way back.
//!
//! A polynomial modulo X^2m - c² becomes one modulo X^m - c and one modulo X^m + c, until constants are left. The first
//! block is modulo X^N - 1. With the order of [`Domain`](crate::Domain), the root c of block j is the same number on each
//! level. A vector holds eight consecutive coefficients:
//!
//! - As long as a block has more than eight coefficients, all lanes have the same root.
//! - The last three levels work inside blocks of eight. Eight vectors are transposed, so that each lane has a block and
//!   its own root.
//!
//! A level adds 3r to the largest value, and a value may be 35r large. So values are shrunk before the last six levels, and
//! at most eight come before these.
//!
//! A large polynomial does not fit a cache. So three levels at a time are computed in the caller's memory, where values
//! are below 2.1r, until blocks have [`CACHED`] coefficients. Each of these is finished alone, two levels in a pass.
//!
//! The way back is the same in the reverse order. There a block's root is divided by: the inverse of the root of block
//! j is the negative of the root of another block ([`mirror`]).

use alloc::vec::Vec;
use core::array::from_fn;

use super::{Ifma, fr::Fr};
use crate::{
    backend::lanes::{field::LANES, instructions::in_lanes},
    scalar::Scalar,
};

/// The number of points from which there are lanes to fill.
pub(crate) const POINTS_FROM: usize = LANES * LANES;

/// The number of coefficients of which 40 bytes each fit the second cache of a core. With more, values would have to be
/// shrunk more often.
const CACHED: usize = 1 << 14;

/// Replaces the coefficients of each block of `size` by values. The first block has the number `block`. `roots` are
/// sixteen times the roots of the blocks of the last level, in their order.
pub(crate) fn evaluate(lanes: Ifma, roots: &[Scalar], size: usize, block: usize, values: &mut [Scalar]) {
    if size < POINTS_FROM {
        each_64(values, size * block, |values, block| split_small(lanes, roots, values, block, size));
        return;
    }
    let mut scratch = Vec::new();
    for (i, values) in values.chunks_exact_mut(size).enumerate() {
        evaluate_block(lanes, roots, values, block + i, &mut scratch);
    }
}

/// Replaces the values of each block of `size` by coefficients. `factor` is 16/size.
pub(crate) fn interpolate(
    lanes: Ifma,
    roots: &[Scalar],
    size: usize,
    block: usize,
    values: &mut [Scalar],
    factor: &Scalar,
) {
    if size < POINTS_FROM {
        each_64(values, size * block, |values, block| join_small(lanes, roots, values, block, size, factor));
        return;
    }
    let mut scratch = Vec::new();
    for (i, values) in values.chunks_exact_mut(size).enumerate() {
        interpolate_block(lanes, roots, values, block + i, factor, &mut scratch);
    }
}

/// Calls `compute` with blocks of 64 and their numbers. The first and the last may be there only in part, and are filled
/// up with zeros. `first` is the position of the first scalar.
fn each_64(values: &mut [Scalar], first: usize, mut compute: impl FnMut(&mut [Scalar; 64], usize)) {
    let (mut rest, mut first) = (values, first);
    while !rest.is_empty() {
        let (block, place) = (first / 64, first % 64);
        let (now, later) = rest.split_at_mut(rest.len().min(64 - place));
        match now.first_chunk_mut() {
            Some(whole) => compute(whole, block),
            None => {
                let mut whole = [Scalar::ZERO; 64];
                whole[place..][..now.len()].copy_from_slice(now);
                compute(&mut whole, block);
                now.copy_from_slice(&whole[place..][..now.len()]);
            }
        }
        first += now.len();
        rest = later;
    }
}

/// `scratch` is memory for a block of vectors, whatever it holds.
fn evaluate_block(lanes: Ifma, roots: &[Scalar], values: &mut [Scalar], block: usize, scratch: &mut Vec<Fr>) {
    if values.len() <= CACHED {
        load(lanes, values, scratch);
        split(lanes, roots, scratch, block);
        store(lanes, scratch, values);
        return;
    }
    let parts = parts(values.len());
    match parts {
        8 => split_in_memory::<8>(lanes, roots, values, block),
        4 => split_in_memory::<4>(lanes, roots, values, block),
        _ => split_in_memory::<2>(lanes, roots, values, block),
    }
    for (i, values) in values.chunks_exact_mut(values.len() / parts).enumerate() {
        evaluate_block(lanes, roots, values, parts * block + i, scratch);
    }
}

/// `factor` is sixteen times what the coefficients of the block are multiplied by. `scratch` is memory for a block of
/// vectors, whatever it holds.
fn interpolate_block(
    lanes: Ifma,
    roots: &[Scalar],
    values: &mut [Scalar],
    block: usize,
    factor: &Scalar,
    scratch: &mut Vec<Fr>,
) {
    if values.len() <= CACHED {
        load(lanes, values, scratch);
        join(lanes, roots, scratch, block);
        scale(lanes, scratch, factor);
        store(lanes, scratch, values);
        return;
    }
    let parts = parts(values.len());
    for (i, values) in values.chunks_exact_mut(values.len() / parts).enumerate() {
        interpolate_block(lanes, roots, values, parts * block + i, factor, scratch);
    }
    match parts {
        8 => join_in_memory::<8>(lanes, roots, values, block),
        4 => join_in_memory::<4>(lanes, roots, values, block),
        _ => join_in_memory::<2>(lanes, roots, values, block),
    }
}

/// How many parts a block of more than [`CACHED`] coefficients is cut into.
const fn parts(coefficients: usize) -> usize {
    let rest = coefficients / CACHED;
    if rest < 8 { rest } else { 8 }
}

in_lanes! {
    /// `PARTS` parts of a block, which `log2(PARTS)` levels make, in the caller's memory.
    fn split_in_memory[PARTS: usize](lanes: Ifma, roots: &[Scalar], values: &mut [Scalar], block: usize) {
        let part = values.len() / PARTS;
        // The roots of the levels, one after another.
        let root = |i: usize| {
            let blocks = 1 << (i + 1).ilog2();
            Fr::splat_sixteenth(lanes, &roots[blocks * block + (i + 1 - blocks)])
        };
        let roots: [Fr; PARTS] = from_fn(|i| if i + 1 < PARTS { root(i) } else { Fr::one(lanes) });
        for at in (0..part).step_by(LANES) {
            let mut x: [Fr; PARTS] = from_fn(|i| sixteenths(lanes, &values[i * part + at..]));
            let (mut half, mut next) = (PARTS / 2, roots.iter());
            while half > 0 {
                for start in (0..PARTS).step_by(2 * half) {
                    let root = next.next().expect("a root for each block");
                    for i in start..start + half {
                        [x[i], x[i + half]] = Fr::butterfly(&x[i], &x[i + half], root);
                    }
                }
                half /= 2;
            }
            for (i, x) in x.iter().enumerate() {
                values[i * part + at..][..LANES].copy_from_slice(&x.sixteenfold());
            }
        }
    }

    /// The way back from [`split_in_memory`].
    fn join_in_memory[PARTS: usize](lanes: Ifma, roots: &[Scalar], values: &mut [Scalar], block: usize) {
        let part = values.len() / PARTS;
        let root = |i: usize| {
            let blocks = 1 << (i + 1).ilog2();
            negative_inverse(lanes, roots, blocks * block + (i + 1 - blocks))
        };
        let roots: [Fr; PARTS] = from_fn(|i| if i + 1 < PARTS { root(i) } else { Fr::one(lanes) });
        for at in (0..part).step_by(LANES) {
            let mut x: [Fr; PARTS] = from_fn(|i| sixteenths(lanes, &values[i * part + at..]));
            let mut half = 1;
            while half < PARTS {
                let blocks = PARTS / (2 * half);
                for (i, start) in (0..PARTS).step_by(2 * half).enumerate() {
                    let root = &roots[blocks - 1 + i];
                    for i in start..start + half {
                        (x[i], x[i + half]) = joined(&x[i], &x[i + half], root);
                    }
                }
                half *= 2;
            }
            for (i, x) in x.iter().enumerate() {
                values[i * part + at..][..LANES].copy_from_slice(&x.sixteenfold());
            }
        }
    }

    fn load(lanes: Ifma, values: &[Scalar], vectors: &mut Vec<Fr>) {
        vectors.clear();
        vectors.extend(values.chunks_exact(LANES).map(|eight| sixteenths(lanes, eight)));
    }

    fn store(lanes: Ifma, vectors: &[Fr], values: &mut [Scalar]) {
        for (vector, eight) in vectors.iter().zip(values.chunks_exact_mut(LANES)) {
            eight.copy_from_slice(&vector.sixteenfold());
        }
    }

    fn scale(lanes: Ifma, vectors: &mut [Fr], factor: &Scalar) {
        let factor = Fr::splat_sixteenth(lanes, factor);
        vectors.iter_mut().for_each(|vector| *vector = vector.times(&factor));
    }

    /// All levels below block `block`.
    fn split(lanes: Ifma, roots: &[Scalar], vectors: &mut [Fr], block: usize) {
        let n = vectors.len();
        if n == LANES {
            vectors.iter_mut().for_each(|vector| *vector = vector.shrunk());
            split_64(lanes, roots, vectors.first_chunk_mut().expect("eight vectors"), block, POINTS_FROM);
        } else if n == 2 * LANES {
            let root = Fr::splat_sixteenth(lanes, &roots[block]);
            let (lower, upper) = vectors.split_at_mut(LANES);
            for (a, b) in lower.iter_mut().zip(upper.iter_mut()) {
                [*a, *b] = Fr::butterfly(a, b, &root);
            }
            split(lanes, roots, lower, 2 * block);
            split(lanes, roots, upper, 2 * block + 1);
        } else {
            split_twice(lanes, roots, vectors, block);
            for (i, quarter) in vectors.chunks_exact_mut(n / 4).enumerate() {
                split(lanes, roots, quarter, 4 * block + i);
            }
        }
    }

    /// Two levels.
    fn split_twice(lanes: Ifma, roots: &[Scalar], vectors: &mut [Fr], block: usize) {
        let root = Fr::splat_sixteenth(lanes, &roots[block]);
        let below = [0, 1].map(|i| Fr::splat_sixteenth(lanes, &roots[2 * block + i]));
        let [a, b, c, d] = quarters(vectors);
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            let [first, third] = Fr::butterfly(a, c, &root);
            let [second, fourth] = Fr::butterfly(b, d, &root);
            [*a, *b] = Fr::butterfly(&first, &second, &below[0]);
            [*c, *d] = Fr::butterfly(&third, &fourth, &below[1]);
        }
    }

    /// The levels below a block of eight vectors whose blocks have at most `size` coefficients.
    fn split_64(lanes: Ifma, roots: &[Scalar], vectors: &mut [Fr; 8], block: usize, size: usize) {
        for half in [4, 2, 1].into_iter().filter(|half| 2 * LANES * half <= size) {
            for (i, start) in (0..8).step_by(2 * half).enumerate() {
                let root = Fr::splat_sixteenth(lanes, &roots[4 / half * block + i]);
                for at in start..start + half {
                    [vectors[at], vectors[at + half]] = Fr::butterfly(&vectors[at], &vectors[at + half], &root);
                }
            }
        }
        // Now each vector is a block, and then each lane.
        let mut x = Fr::transposed(vectors);
        for half in [4, 2, 1].into_iter().filter(|half| 2 * half <= size) {
            for (i, start) in (0..LANES).step_by(2 * half).enumerate() {
                let root = Fr::sixteenths(lanes, from_fn(|lane| &roots[4 / half * (LANES * block + lane) + i]));
                for at in start..start + half {
                    [x[at], x[at + half]] = Fr::butterfly(&x[at], &x[at + half], &root);
                }
            }
        }
        *vectors = Fr::transposed(&x);
    }

    fn split_small(lanes: Ifma, roots: &[Scalar], values: &mut [Scalar; 64], block: usize, size: usize) {
        let mut vectors = from_fn(|i| sixteenths(lanes, &values[LANES * i..]));
        split_64(lanes, roots, &mut vectors, block, size);
        store(lanes, &vectors, values);
    }

    /// All levels below block `block`, on the way back. Values are below 6.1·r afterwards.
    fn join(lanes: Ifma, roots: &[Scalar], vectors: &mut [Fr], block: usize) {
        let n = vectors.len();
        if n == LANES {
            join_64(lanes, roots, vectors.first_chunk_mut().expect("eight vectors"), block, POINTS_FROM);
        } else if n == 2 * LANES {
            let (lower, upper) = vectors.split_at_mut(LANES);
            join(lanes, roots, lower, 2 * block);
            join(lanes, roots, upper, 2 * block + 1);
            let root = negative_inverse(lanes, roots, block);
            for (a, b) in lower.iter_mut().zip(upper) {
                (*a, *b) = joined(a, b, &root);
                *a = a.shrunk();
            }
        } else {
            for (i, quarter) in vectors.chunks_exact_mut(n / 4).enumerate() {
                join(lanes, roots, quarter, 4 * block + i);
            }
            join_twice(lanes, roots, vectors, block);
        }
    }

    /// Two levels of values below 6.1·r, which stay so.
    fn join_twice(lanes: Ifma, roots: &[Scalar], vectors: &mut [Fr], block: usize) {
        let root = negative_inverse(lanes, roots, block);
        let below = [0, 1].map(|i| negative_inverse(lanes, roots, 2 * block + i));
        let [a, b, c, d] = quarters(vectors);
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            let (first, second) = joined(a, b, &below[0]);
            let (third, fourth) = joined(c, d, &below[1]);
            (*a, *c) = joined(&first, &third, &root);
            (*b, *d) = joined(&second, &fourth, &root);
            *a = a.shrunk();
        }
    }

    /// The way back from [`split_64`].
    fn join_64(lanes: Ifma, roots: &[Scalar], vectors: &mut [Fr; 8], block: usize, size: usize) {
        let mut x = Fr::transposed(vectors);
        for half in [1, 2, 4].into_iter().filter(|half| 2 * half <= size) {
            for (i, start) in (0..LANES).step_by(2 * half).enumerate() {
                let root = |lane| negative_inverse_of(roots, 4 / half * (LANES * block + lane) + i);
                let root = Fr::sixteenths(lanes, from_fn(root).each_ref());
                for at in start..start + half {
                    (x[at], x[at + half]) = joined(&x[at], &x[at + half], &root);
                }
            }
        }
        // Two of the eight are sums of sums.
        (x[0], x[1]) = (x[0].shrunk(), x[1].shrunk());
        *vectors = Fr::transposed(&x);
        for half in [1, 2, 4].into_iter().filter(|half| 2 * LANES * half <= size) {
            for (i, start) in (0..8).step_by(2 * half).enumerate() {
                let root = negative_inverse(lanes, roots, 4 / half * block + i);
                for at in start..start + half {
                    let (sum, product) = joined(&vectors[at], &vectors[at + half], &root);
                    (vectors[at], vectors[at + half]) = (sum.shrunk(), product);
                }
            }
        }
    }

    fn join_small(lanes: Ifma, roots: &[Scalar], values: &mut [Scalar; 64], block: usize, size: usize, factor: &Scalar) {
        let mut vectors = from_fn(|i| sixteenths(lanes, &values[LANES * i..]));
        join_64(lanes, roots, &mut vectors, block, size);
        scale(lanes, &mut vectors, factor);
        store(lanes, &vectors, values);
    }
}

/// A sixteenth of each of the first eight scalars.
#[inline(always)]
fn sixteenths(lanes: Ifma, scalars: &[Scalar]) -> Fr {
    let eight: &[Scalar; LANES] = scalars.first_chunk().expect("eight scalars");
    Fr::sixteenths(lanes, eight.each_ref())
}

/// a + b, and (b - a)·root for a canonical root. a is at most 16r.
#[inline(always)]
fn joined(a: &Fr, b: &Fr, root: &Fr) -> (Fr, Fr) {
    (a.plus(b), b.minus::<16>(a).times(root))
}

/// -1/c for the root c of a block, in every lane.
#[inline(always)]
fn negative_inverse(lanes: Ifma, roots: &[Scalar], block: usize) -> Fr {
    Fr::splat_sixteenth(lanes, &negative_inverse_of(roots, block))
}

/// -1/c for the root c of a block.
#[inline]
fn negative_inverse_of(roots: &[Scalar], block: usize) -> Scalar {
    if block == 0 { -roots[0] } else { roots[mirror(block)] }
}

/// The block whose root is -1/c, for the root c of a block that is not the first. From the level on that has 2^k
/// blocks, the roots of the blocks 2^k..2^(k + 1) are the powers of a root of unity of order 2^(k + 2) to all odd
/// exponents below 2^(k + 1), in bit-reversed order.
const fn mirror(block: usize) -> usize {
    3 * (1 << block.ilog2()) - 1 - block
}

fn quarters(vectors: &mut [Fr]) -> [&mut [Fr]; 4] {
    let (lower, upper) = vectors.split_at_mut(vectors.len() / 2);
    let ((a, b), (c, d)) = (lower.split_at_mut(lower.len() / 2), upper.split_at_mut(upper.len() / 2));
    [a, b, c, d]
}
