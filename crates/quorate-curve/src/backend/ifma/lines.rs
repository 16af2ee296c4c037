//! The lines of a fixed point of G2, kept so that eight of them are loaded into lanes quickly.
//!
//! A coefficient is eight limbs in one cache line: a vector for each lane, which a transposition makes a vector for each
//! limb. No multiplication into another form, no shifts.

use alloc::boxed::Box;
use core::arch::x86_64::*;

#[cfg(debug_assertions)]
use super::bound::Bound;
use super::{LANES, fp::Fp, fp2::Fp2, kernel::Limbs, rows::transpose};

/// The steps of the ate pairing's loop: 63 doublings and 5 additions.
pub(crate) const STEPS: usize = 68;

/// The lines of a point, one a step.
pub(crate) type Lines = Box<[Line]>;

/// The parts of the two coefficients of a line, in limbs below one unit, values below 2.1p. 256 bytes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Line([Limbs; 4]);

/// One line of each lane from the coefficients of all, limbs below one unit and values below 2.1p.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn scatter(slope: &Fp2, rest: &Fp2) -> [Line; LANES] {
    let mut lines = [Line([[0; 8]; 4]); LANES];
    for (i, part) in [&slope.c0, &slope.c1, &rest.c0, &rest.c1].into_iter().enumerate() {
        #[cfg(debug_assertions)]
        {
            part.bound.assert_factor(1);
            part.bound.assert_value(2.1);
        }
        for (line, limbs) in lines.iter_mut().zip(transpose(part.limbs)) {
            // SAFETY: room for eight words.
            unsafe { _mm512_storeu_si512(line.0[i].as_mut_ptr().cast(), limbs) };
        }
    }
    lines
}

/// The coefficients of all from one line of each lane.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(crate) fn gather(lines: &[&Line; LANES]) -> (Fp2, Fp2) {
    let part = |i: usize| Fp {
        // SAFETY: eight words each.
        limbs: transpose(lines.map(|line| unsafe { _mm512_loadu_si512(line.0[i].as_ptr().cast()) })),
        #[cfg(debug_assertions)]
        bound: Bound { value: 2.1, ..Bound::CANONICAL },
    };
    (Fp2::new(part(0), part(1)), Fp2::new(part(2), part(3)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::ifma::{
        fp2::tests::{elements2, load},
        lanes_or_skip,
    };

    #[test]
    fn gathered_is_what_was_scattered() {
        if !lanes_or_skip() {
            return;
        }
        let vectors = elements2();
        for (i, a) in vectors.iter().enumerate() {
            let b = &vectors[(i + 1) % vectors.len()];
            // SAFETY: lanes were found, here and below.
            let lines = unsafe { scatter(&load(a).shrunk(), &load(b).shrunk()) };
            // SAFETY: see above.
            let (slope, rest) = unsafe { gather(&core::array::from_fn(|lane| &lines[7 - lane])) };
            let (mut a, mut b) = (*a, *b);
            a.reverse();
            b.reverse();
            assert_eq!((slope.store(), rest.store()), (a, b));
        }
    }
}
