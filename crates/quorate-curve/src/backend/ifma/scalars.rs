//! Operations of many scalars, eight at a time.

use alloc::vec::Vec;
use core::array::from_fn;

use super::{
    Ifma,
    fr::{FORM, Fr},
};
use crate::{
    backend::{
        lanes::{field::LANES, instructions::in_lanes},
        portable,
    },
    scalar::Scalar,
};

/// The number of scalars from which the lanes are faster.
const FEW: usize = 2 * LANES;

/// aᵢ·bᵢ, in the place of aᵢ.
pub(crate) fn multiply(lanes: Ifma, a: &mut [Scalar], b: &[Scalar]) {
    let (eights, rest) = a.split_at_mut(a.len() / LANES * LANES);
    multiply_eights(lanes, eights, b);
    portable::scalars::multiply(rest, &b[eights.len()..]);
}

/// Adds factor·bᵢ to aᵢ.
pub(crate) fn add_multiple(lanes: Ifma, a: &mut [Scalar], factor: Scalar, b: &[Scalar]) {
    let (eights, rest) = a.split_at_mut(a.len() / LANES * LANES);
    add_multiple_of_eights(lanes, eights, &(factor * FORM), b);
    portable::scalars::add_multiple(rest, factor, &b[eights.len()..]);
}

/// The inverses. If one scalar is zero, the answer is false and nothing changes.
///
/// Each lane inverts the scalars that lie in it, and the inverses of the eight products are computed together.
pub(crate) fn invert(lanes: Ifma, scalars: &mut [Scalar]) -> bool {
    if scalars.len() < FEW {
        return portable::scalars::invert(scalars);
    }
    // The last vector may have lanes left over, with ones.
    let (eights, rest) = scalars.split_at_mut(scalars.len() / LANES * LANES);
    let mut last = [Scalar::ONE; LANES];
    last[..rest.len()].copy_from_slice(rest);
    let done = invert_eights(lanes, eights, &mut last);
    rest.copy_from_slice(&last[..rest.len()]);
    done
}

/// The value of a polynomial at each point, the constant coefficient first.
pub(crate) fn values(lanes: Ifma, coefficients: &[Scalar], points: &[Scalar]) -> Vec<Scalar> {
    let (eights, rest) = points.split_at(points.len() / LANES * LANES);
    let mut values = Vec::with_capacity(points.len());
    values_at_eights(lanes, coefficients, eights, &mut values);
    values.extend(portable::scalars::values(coefficients, rest));
    values
}

/// The number of vectors of points whose products are computed at a time, so that the latencies of each hide behind the
/// others.
const TOGETHER: usize = 4;

/// For each point x the product of x - root over the roots other than x.
pub(crate) fn differences(lanes: Ifma, points: &[Scalar], roots: &[Scalar]) -> Vec<Scalar> {
    if points.len() < FEW {
        return portable::scalars::differences(points, roots);
    }
    let mut products = Vec::with_capacity(points.len().next_multiple_of(TOGETHER * LANES));
    let (many, rest) = points.split_at(points.len() / (TOGETHER * LANES) * TOGETHER * LANES);
    differences_of_eights::<TOGETHER>(lanes, many, roots, &mut products);
    for few in rest.chunks(LANES) {
        let mut eight = [Scalar::ZERO; LANES];
        eight[..few.len()].copy_from_slice(few);
        differences_of_eights::<1>(lanes, &eight, roots, &mut products);
    }
    products.truncate(points.len());
    products
}

in_lanes! {
    fn differences_of_eights[N: usize](lanes: Ifma, points: &[Scalar], roots: &[Scalar], products: &mut Vec<Scalar>) {
        // Each factor is a sixteenth of a difference.
        let factor = Fr::splat_sixteenth(lanes, &(FORM.power(roots.len() as u64) * FORM));
        let sixteenth = Fr::splat_sixteenth(lanes, &Scalar::ONE);
        for points in points.chunks_exact(N * LANES) {
            let points: [Fr; N] = from_fn(|i| Fr::sixteenths(lanes, from_fn(|lane| &points[LANES * i + lane])));
            let mut out = [Fr::one(lanes); N];
            for root in roots {
                let root = Fr::splat_sixteenth(lanes, root);
                for (out, point) in out.iter_mut().zip(&points) {
                    let difference = sixteenth.or(point.is_same(&root), &point.minus::<1>(&root));
                    *out = out.times(&difference);
                }
            }
            out.iter().for_each(|out| products.extend(out.times(&factor).store()));
        }
    }

    fn multiply_eights(lanes: Ifma, a: &mut [Scalar], b: &[Scalar]) {
        for (a, b) in a.chunks_exact_mut(LANES).zip(b.chunks_exact(LANES)) {
            let product = Fr::sixteenths(lanes, from_fn(|i| &a[i])).times(&Fr::load(lanes, from_fn(|i| &b[i])));
            a.copy_from_slice(&product.sixteenfold());
        }
    }

    fn add_multiple_of_eights(lanes: Ifma, a: &mut [Scalar], factor: &Scalar, b: &[Scalar]) {
        let factor = Fr::splat_sixteenth(lanes, factor);
        for (a, b) in a.chunks_exact_mut(LANES).zip(b.chunks_exact(LANES)) {
            let product = Fr::sixteenths(lanes, from_fn(|i| &b[i])).times(&factor);
            a.copy_from_slice(&product.plus(&Fr::sixteenths(lanes, from_fn(|i| &a[i]))).sixteenfold());
        }
    }

    fn invert_eights(lanes: Ifma, scalars: &mut [Scalar], last: &mut [Scalar; LANES]) -> bool {
        let vectors = scalars.chunks_exact(LANES).chain([&last[..]]);
        let vectors: Vec<_> = vectors.map(|eight| Fr::load(lanes, from_fn(|i| &eight[i])).shrunk()).collect();
        let mut product = Fr::one(lanes);
        let products = vectors.iter().map(|vector| {
            let before = product;
            product = before.times(vector);
            before
        });
        let before: Vec<_> = products.collect();
        let mut inverses = product.store();
        if !portable::scalars::invert(&mut inverses) {
            return false;
        }
        let mut inverse = Fr::load(lanes, inverses.each_ref()).shrunk();
        let vectors = vectors.iter().zip(&before).rev();
        for (eight, (vector, before)) in [&mut last[..]].into_iter().chain(scalars.chunks_exact_mut(LANES).rev()).zip(vectors) {
            eight.copy_from_slice(&inverse.times(before).store());
            inverse = inverse.times(vector);
        }
        true
    }

    fn values_at_eights(lanes: Ifma, coefficients: &[Scalar], points: &[Scalar], values: &mut Vec<Scalar>) {
        for eight in points.chunks_exact(LANES) {
            let point = Fr::load(lanes, from_fn(|i| &eight[i])).shrunk();
            let value = coefficients.iter().rev().fold(None, |sum: Option<Fr>, coefficient| {
                let coefficient = Fr::splat_sixteenth(lanes, coefficient);
                Some(sum.map_or(coefficient, |sum| sum.times(&point).plus(&coefficient)))
            });
            values.extend(value.map_or([Scalar::ZERO; LANES], |value| value.sixteenfold()));
        }
    }
}
