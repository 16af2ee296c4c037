//! Miller loops of the ate pairing with shared squarings (16 pairs at a time, blst's own stride) and the final
//! exponentiation.

use alloc::vec::Vec;

use blst::{blst_final_exp, blst_fp12, blst_fp12_conjugate, blst_fp12_mul, blst_miller_loop_n};

use crate::{
    group::{G1, G2, Group, sealed::Sealed},
    pairing::{Gt, MillerValue, Pairing},
};

pub(crate) fn miller_products(pairs: &[(G1, G2)], ends: &[usize]) -> Vec<MillerValue> {
    let mut start = 0;
    ends.iter().map(|&end| miller_product(&pairs[core::mem::replace(&mut start, end)..end])).collect()
}

pub(crate) fn final_exponentiations(values: &[MillerValue]) -> Vec<Gt> {
    values.iter().map(final_exponentiation).collect()
}

fn miller_product(pairs: &[(G1, G2)]) -> MillerValue {
    let finite = pairs.iter().filter(|(p, q)| !p.is_identity() && !q.is_identity());
    let (p, q): (Vec<_>, Vec<_>) = finite.map(|(p, q)| (p.inner(), q.inner())).unzip();
    if p.is_empty() {
        return MillerValue::ONE;
    }
    let (p_pointers, q_pointers) = ([p.as_ptr(), core::ptr::null()], [q.as_ptr(), core::ptr::null()]);
    let mut out = blst_fp12::default();
    // SAFETY: two arrays of the same length; a null pointer after the first says that the points follow each other.
    unsafe { blst_miller_loop_n(&mut out, q_pointers.as_ptr(), p_pointers.as_ptr(), p.len()) };
    MillerValue::new(Pairing::Ate, out)
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
