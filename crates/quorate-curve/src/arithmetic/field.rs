//! blst's operations of Fp and Fp2, made safe.

use core::{mem::MaybeUninit, slice};

use blst::*;

/// An element of the coordinate field of a curve.
pub trait Field: Copy + Default + Eq {
    fn plus(&self, other: &Self) -> Self;
    fn minus(&self, other: &Self) -> Self;
    fn times(&self, other: &Self) -> Self;
    fn squared(&self) -> Self;
    /// The inverse of a non-zero element.
    fn inverse(&self) -> Self;

    fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    fn doubled(&self) -> Self {
        self.plus(self)
    }
}

/// One of the fields of BLS12-381, Fp or Fp2.
pub trait BlstField: Field {
    /// The product with an element of Fp.
    fn times_fp(&self, other: &blst_fp) -> Self;
    /// The parts of the element, fully reduced and in Montgomery form: one in Fp, two in Fp2.
    fn parts(&self) -> &[blst_fp];
}

/// What blst has written, word by word. Its assembly writes words of 64 bits, and a load of 128 bits would wait until both are in the cache.
///
/// # Safety
/// The element is written, and consists of words of 64 bits.
#[inline(always)]
unsafe fn taken<T: Copy>(element: &MaybeUninit<T>) -> T {
    let mut out = MaybeUninit::<T>::uninit();
    let (from, to) = (element.as_ptr().cast::<u64>(), out.as_mut_ptr().cast::<u64>());
    // SAFETY: as many words as the element has.
    unsafe {
        for word in 0..size_of::<T>() / 8 {
            to.add(word).write(from.add(word).read_volatile());
        }
        out.assume_init()
    }
}

macro_rules! field {
    ($field:ident, $add:ident, $sub:ident, $mul:ident, $sqr:ident, $inverse:ident, $times_fp:expr, $parts:expr) => {
        impl Field for $field {
            #[inline]
            fn plus(&self, other: &Self) -> Self {
                let mut out = MaybeUninit::uninit();
                // SAFETY: valid references, and blst writes the whole element.
                unsafe {
                    $add(out.as_mut_ptr(), self, other);
                    taken(&out)
                }
            }

            #[inline]
            fn minus(&self, other: &Self) -> Self {
                let mut out = MaybeUninit::uninit();
                // SAFETY: valid references, and blst writes the whole element.
                unsafe {
                    $sub(out.as_mut_ptr(), self, other);
                    taken(&out)
                }
            }

            #[inline]
            fn times(&self, other: &Self) -> Self {
                let mut out = MaybeUninit::uninit();
                // SAFETY: valid references, and blst writes the whole element.
                unsafe {
                    $mul(out.as_mut_ptr(), self, other);
                    taken(&out)
                }
            }

            #[inline]
            fn squared(&self) -> Self {
                let mut out = MaybeUninit::uninit();
                // SAFETY: valid references, and blst writes the whole element.
                unsafe {
                    $sqr(out.as_mut_ptr(), self);
                    taken(&out)
                }
            }

            fn inverse(&self) -> Self {
                let mut out = MaybeUninit::uninit();
                // SAFETY: valid references, and blst writes the whole element.
                unsafe {
                    $inverse(out.as_mut_ptr(), self);
                    taken(&out)
                }
            }
        }

        impl BlstField for $field {
            #[inline]
            fn times_fp(&self, other: &blst_fp) -> Self {
                let times_fp: fn(&$field, &blst_fp) -> $field = $times_fp;
                times_fp(self, other)
            }

            #[inline]
            fn parts(&self) -> &[blst_fp] {
                let parts: fn(&$field) -> &[blst_fp] = $parts;
                parts(self)
            }
        }
    };
}

field!(
    blst_fp,
    blst_fp_add,
    blst_fp_sub,
    blst_fp_mul,
    blst_fp_sqr,
    blst_fp_inverse,
    |a, b| a.times(b),
    slice::from_ref
);
field!(
    blst_fp2,
    blst_fp2_add,
    blst_fp2_sub,
    blst_fp2_mul,
    blst_fp2_sqr,
    blst_fp2_inverse,
    |a, b| blst_fp2 { fp: [a.fp[0].times(b), a.fp[1].times(b)] },
    |a| &a.fp
);
