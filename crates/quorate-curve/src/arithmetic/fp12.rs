//! blst's operations on Fp12 = Fp6(w), made safe. blst allows the result in the place of a factor.

use core::ptr;

use blst::{
    blst_fp, blst_fp2, blst_fp6, blst_fp12, blst_fp12_conjugate, blst_fp12_mul, blst_fp12_mul_by_xy00z0, blst_fp12_sqr,
};

use super::curve::{ONE as ONE_FP, ZERO as ZERO_FP};

/// One.
pub(crate) const ONE: blst_fp12 = {
    const fn real(c0: blst_fp) -> blst_fp6 {
        const ZERO: blst_fp2 = blst_fp2 { fp: [ZERO_FP, ZERO_FP] };
        blst_fp6 { fp2: [blst_fp2 { fp: [c0, ZERO_FP] }, ZERO, ZERO] }
    }
    blst_fp12 { fp6: [real(ONE_FP), real(ZERO_FP)] }
};

/// a·b.
pub(crate) fn multiply(a: &blst_fp12, b: &blst_fp12) -> blst_fp12 {
    let mut out = *a;
    let out_pointer = ptr::from_mut(&mut out);
    // SAFETY: valid pointers.
    unsafe { blst_fp12_mul(out_pointer, out_pointer, b) };
    out
}

/// Squares a in place.
pub(crate) fn square(a: &mut blst_fp12) {
    let a = ptr::from_mut(a);
    // SAFETY: a valid pointer.
    unsafe { blst_fp12_sqr(a, a) };
}

/// Multiplies a in place by a line of the ate pairing, x + y·v + z·v·w.
pub(crate) fn multiply_by_line(a: &mut blst_fp12, line: &blst_fp6) {
    let a = ptr::from_mut(a);
    // SAFETY: valid pointers.
    unsafe { blst_fp12_mul_by_xy00z0(a, a, line) };
}

/// The inverse of a. The inverse of zero is zero.
pub(crate) fn inverse(a: &blst_fp12) -> blst_fp12 {
    let mut out = *a;
    // SAFETY: valid references.
    unsafe { blst::blst_fp12_inverse(&mut out, a) };
    out
}

/// a raised to p⁶. In the cyclotomic subgroup this is the inverse.
pub(crate) fn conjugate(a: &blst_fp12) -> blst_fp12 {
    let mut out = *a;
    // SAFETY: a valid reference.
    unsafe { blst_fp12_conjugate(&mut out) };
    out
}
