//! Miller loops of the ate pairing with shared squarings, and the final exponentiation. blst shares the squarings among
//! 16 pairs at a time; the loop over prepared points shares them among all pairs.

use alloc::{boxed::Box, vec::Vec};
use core::ptr;

use blst::{
    blst_final_exp, blst_fp, blst_fp6, blst_fp12, blst_miller_loop_n, blst_p1_affine, blst_p2_affine,
    blst_precompute_lines,
};

use crate::{
    arithmetic::{
        curve::PARAMETER,
        field::{BlstField, Field},
        fp12::{conjugate, multiply_by_line, square},
    },
    pairing::{Gt, MillerValue, Pairing},
    segments::Cut,
};

/// The number of steps of a loop: 63 doublings and 5 additions.
const STEPS: usize = 68;

/// The lines of a point, one for each step.
pub(crate) type Lines = Box<[blst_fp6; STEPS]>;

/// A value for each segment. `finite` gives the points of a pair, or `None` if one of them is the identity.
pub(crate) fn miller_products<T>(
    pairs: Cut<'_, T>,
    finite: impl Fn(&T) -> Option<(blst_p1_affine, blst_p2_affine)>,
) -> Vec<MillerValue> {
    let product = |pairs: &[T]| {
        let (p, q): (Vec<_>, Vec<_>) = pairs.iter().filter_map(&finite).unzip();
        miller_product(&p, &q)
    };
    pairs.iter().map(product).collect()
}

fn miller_product(p: &[blst_p1_affine], q: &[blst_p2_affine]) -> MillerValue {
    assert_eq!(p.len(), q.len());
    if p.is_empty() {
        return MillerValue::ONE;
    }
    let (p_pointers, q_pointers) = ([p.as_ptr(), ptr::null()], [q.as_ptr(), ptr::null()]);
    let mut out = blst_fp12::default();
    // SAFETY: two arrays of the same length; a null pointer after the first says that the points follow each other.
    unsafe { blst_miller_loop_n(&mut out, q_pointers.as_ptr(), p_pointers.as_ptr(), p.len()) };
    MillerValue::new(Pairing::Ate, out)
}

/// The product of a few pairs, without allocation. `None` stands for a pair with an identity.
pub(crate) fn miller_product_of<const N: usize>(pairs: [Option<(blst_p1_affine, blst_p2_affine)>; N]) -> MillerValue {
    let (mut p, mut q) = ([blst_p1_affine::default(); N], [blst_p2_affine::default(); N]);
    let mut n = 0;
    for (finite_p, finite_q) in pairs.into_iter().flatten() {
        (p[n], q[n]) = (finite_p, finite_q);
        n += 1;
    }
    miller_product(&p[..n], &q[..n])
}

/// The lines of each point.
pub(crate) fn prepare(points: &[blst_p2_affine]) -> impl Iterator<Item = Lines> {
    points.iter().map(|point| {
        let mut lines = Box::new([blst_fp6::default(); STEPS]);
        // SAFETY: as many lines as blst writes, and a valid reference.
        unsafe { blst_precompute_lines(lines.as_mut_ptr(), point) };
        lines
    })
}

/// A value for each segment. `finite` gives a point of G1 and the lines of a point of G2, or `None` if either point is
/// the identity.
pub(crate) fn miller_products_prepared<'a, T: 'a>(
    pairs: Cut<'a, T>,
    finite: impl Fn(&'a T) -> Option<(blst_p1_affine, &'a Lines)>,
) -> Vec<MillerValue> {
    pairs.iter().map(|pairs| miller_product_prepared(pairs.iter().filter_map(&finite))).collect()
}

/// blst's own loop over prepared lines takes one pair. Here all pairs share the squarings.
fn miller_product_prepared<'a>(pairs: impl Iterator<Item = (blst_p1_affine, &'a Lines)>) -> MillerValue {
    // Two coefficients of blst's lines lack their factors -2x and 2y.
    let factors = |(p, lines): (blst_p1_affine, _)| (blst_fp::default().minus(&p.x.doubled()), p.y.doubled(), lines);
    let pairs: Vec<_> = pairs.map(factors).collect();
    if pairs.is_empty() {
        return MillerValue::ONE;
    }
    let mut value = blst_fp12::default();
    let mut step = 0;
    let mut times_lines = |value: &mut blst_fp12| {
        for (x, y, lines) in &pairs {
            let [constant, by_x, by_y] = &lines[step].fp2;
            multiply_by_line(value, &blst_fp6 { fp2: [*constant, by_x.times_fp(x), by_y.times_fp(y)] });
        }
        step += 1;
    };
    for bit in (0..63).rev() {
        // The first square of one is one.
        if bit < 62 {
            square(&mut value);
        }
        times_lines(&mut value);
        if PARAMETER >> bit & 1 == 1 {
            times_lines(&mut value);
        }
    }
    MillerValue::new(Pairing::Ate, conjugate(&value))
}

pub(crate) fn final_exponentiations(values: &[MillerValue]) -> Vec<Gt> {
    values.iter().map(final_exponentiation).collect()
}

pub(crate) fn final_exponentiation(value: &MillerValue) -> Gt {
    let mut out = blst_fp12::default();
    // SAFETY: valid references.
    unsafe { blst_final_exp(&mut out, &value.value) };
    Gt(out)
}
