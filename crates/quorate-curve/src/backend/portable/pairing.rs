//! Miller loops of the ate pairing with shared squarings (16 pairs at a time, blst's own stride; all pairs of prepared
//! points) and the final exponentiation.

use alloc::{boxed::Box, vec::Vec};
use core::ptr;

use blst::{
    blst_final_exp, blst_fp, blst_fp6, blst_fp12, blst_fp12_conjugate, blst_fp12_mul, blst_fp12_mul_by_xy00z0,
    blst_fp12_sqr, blst_miller_loop_n, blst_precompute_lines,
};

use super::field::Field;
use crate::{
    group::{G1, G2, Group, sealed::Sealed},
    pairing::{Gt, MillerValue, Pairing, PreparedG2, PreparedLines},
    segments::Segments,
};

/// |x|, the absolute value of the curve's parameter.
pub(crate) const PARAMETER: u64 = 0xd201_0000_0001_0000;

/// The steps of a loop: 63 doublings and 5 additions.
pub(crate) const STEPS: usize = 68;

pub(crate) fn miller_products(pairs: &Segments<(G1, G2)>) -> Vec<MillerValue> {
    pairs.iter().map(miller_product).collect()
}

pub(crate) fn final_exponentiations(values: &[MillerValue]) -> Vec<Gt> {
    values.iter().map(final_exponentiation).collect()
}

pub(crate) fn miller_product(pairs: &[(G1, G2)]) -> MillerValue {
    let finite = pairs.iter().filter(|(p, q)| !p.is_identity() && !q.is_identity());
    let (p, q): (Vec<_>, Vec<_>) = finite.map(|(p, q)| (p.inner(), q.inner())).unzip();
    if p.is_empty() {
        return MillerValue::ONE;
    }
    let (p_pointers, q_pointers) = ([p.as_ptr(), ptr::null()], [q.as_ptr(), ptr::null()]);
    let mut out = blst_fp12::default();
    // SAFETY: two arrays of the same length; a null pointer after the first says that the points follow each other.
    unsafe { blst_miller_loop_n(&mut out, q_pointers.as_ptr(), p_pointers.as_ptr(), p.len()) };
    MillerValue::new(Pairing::Ate, out)
}

pub(crate) fn prepare(points: &[G2]) -> Vec<PreparedG2> {
    let prepare = |point: &G2| {
        let mut lines = Box::new([blst_fp6::default(); STEPS]);
        // SAFETY: as many lines as blst writes, and a valid reference.
        unsafe { blst_precompute_lines(lines.as_mut_ptr(), &point.inner()) };
        PreparedG2::new(*point, PreparedLines::Portable(lines))
    };
    points.iter().map(prepare).collect()
}

pub(crate) fn miller_products_prepared(pairs: &Segments<(G1, &PreparedG2)>) -> Vec<MillerValue> {
    pairs.iter().map(miller_product_prepared).collect()
}

/// blst's own loop over prepared lines takes one pair. Here all pairs share the squarings.
fn miller_product_prepared(pairs: &[(G1, &PreparedG2)]) -> MillerValue {
    let finite = pairs.iter().filter(|(p, q)| !p.is_identity() && !q.point.is_identity());
    let prepared = finite.filter_map(|(p, q)| match &q.lines {
        PreparedLines::Portable(lines) => {
            // Two coefficients of blst's lines lack their factors -2x and 2y.
            let p = p.inner();
            Some((blst_fp::default().minus(&p.x.doubled()), p.y.doubled(), lines))
        }
        #[cfg(target_arch = "x86_64")]
        PreparedLines::Ifma(_) => None,
    });
    let prepared: Vec<_> = prepared.collect();
    if prepared.is_empty() {
        return MillerValue::ONE;
    }
    let mut value = blst_fp12::default();
    let mut step = 0;
    let mut times_lines = |value: &mut blst_fp12| {
        for (x, y, lines) in &prepared {
            let [constant, by_x, by_y] = &lines[step].fp2;
            let line = blst_fp6 { fp2: [*constant, by_x.times_fp(x), by_y.times_fp(y)] };
            let value = ptr::from_mut(value);
            // SAFETY: valid pointers; blst allows the result in the place of a factor.
            unsafe { blst_fp12_mul_by_xy00z0(value, value, &line) };
        }
        step += 1;
    };
    for bit in (0..63).rev() {
        // The first square of one is one.
        if bit < 62 {
            let value = ptr::from_mut(&mut value);
            // SAFETY: valid pointers; blst allows the result in the place of the factor.
            unsafe { blst_fp12_sqr(value, value) };
        }
        times_lines(&mut value);
        if PARAMETER >> bit & 1 == 1 {
            times_lines(&mut value);
        }
    }
    MillerValue::new(Pairing::Ate, conjugate(&value))
}

fn final_exponentiation(value: &MillerValue) -> Gt {
    let mut out = blst_fp12::default();
    // SAFETY: valid references.
    unsafe { blst_final_exp(&mut out, &value.value) };
    Gt(out)
}

pub(crate) fn multiply(a: &blst_fp12, b: &blst_fp12) -> blst_fp12 {
    let mut out = blst_fp12::default();
    // SAFETY: valid references.
    unsafe { blst_fp12_mul(&mut out, a, b) };
    out
}

pub(crate) fn conjugate(a: &blst_fp12) -> blst_fp12 {
    let mut out = *a;
    // SAFETY: a valid reference.
    unsafe { blst_fp12_conjugate(&mut out) };
    out
}
