//! Operations of the lanes' fields and the same operations by blst, for `quorate-bench field` alone.
//!
//! This module is not an interface and may change in any version.

use alloc::{boxed::Box, vec::Vec};
use core::fmt;

use blst::blst_fp12;

use crate::backend::Backend;

/// An operation that is applied to its own result, as many times as the caller says, on eight items.
pub struct Operation {
    /// The name of its row, as in `field/fp-multiply`.
    pub name: &'static str,
    /// In lanes. The answer is the result of the first item.
    pub lanes: Box<dyn Fn(usize) -> blst_fp12>,
    /// By blst, item by item, with the same answer. `None` if blst has no such operation.
    pub blst: Option<fn(usize) -> blst_fp12>,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operation({})", self.name)
    }
}

/// The operations of a backend's fields that have a row. The portable backend has none, because its fields are blst's.
pub fn operations(backend: Backend) -> Vec<Operation> {
    match backend {
        Backend::Portable => Vec::new(),
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Backend::Ifma(token) => lanes::operations(token),
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Backend::FmaAvx512(token) => lanes::operations(token),
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Backend::FmaAvx2(token) => lanes::operations(token),
        #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
        Backend::FmaNeon(token) => lanes::operations(token),
    }
}

#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
mod lanes {
    use alloc::{boxed::Box, vec, vec::Vec};

    use blst::*;

    use super::Operation;
    use crate::{
        arithmetic::{self, field::Field as _},
        backend::lanes::{
            field::{Field, LANES, Lanes},
            fp2::Fp2,
            fp12::{Accumulator, Extension, Fp12},
        },
    };

    pub(super) fn operations<L: Lanes<Curve = crate::pairing::Bls12381>>(lanes: L) -> Vec<Operation> {
        type Function<L> = fn(L, usize) -> blst_fp12;
        let in_lanes = |compute: Function<L>| Box::new(move |times| compute(lanes, times));
        let operation = |name, compute, blst| Operation { name, lanes: in_lanes(compute), blst: Some(blst) };
        let without_rival = |name, compute| Operation { name, lanes: in_lanes(compute), blst: None };
        vec![
            operation("fp-multiply", |l, n| fp(l, n, |a, b| a.times(b)), |n| scalar(n, of_fp, |a, b| a.times(b))),
            operation("fp-square", |l, n| fp(l, n, |a, _| a.squared()), |n| scalar(n, of_fp, |a, _| a.squared())),
            operation("fp-invert", |l, n| fp(l, n, |a, _| a.inverted()), |n| scalar(n, of_fp, |a, _| a.inverse())),
            operation("fp2-multiply", |l, n| fp2(l, n, |a, b| a.times(b)), |n| scalar(n, of_fp2, |a, b| a.times(b))),
            operation("fp2-square", |l, n| fp2(l, n, |a, _| a.squared()), |n| scalar(n, of_fp2, |a, _| a.squared())),
            operation(
                "fp12-multiply",
                |l, n| fp12(l, n, |a, b| a.times(b)),
                |n| scalar(n, |x| x, arithmetic::fp12::multiply),
            ),
            operation("fp12-square", |l, n| fp12(l, n, |a, _| a.squared()), |n| scalar(n, |x| x, |a, _| square(a))),
            without_rival("fp12-cyclotomic-square", |l, n| fp12(l, n, |a, _| a.cyclotomic_squared())),
            without_rival("fp12-line", line),
        ]
    }

    /// A value without a special coefficient.
    fn start() -> blst_fp12 {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut word = || {
            state = state.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(0x1234_5677);
            state >> 8
        };
        let mut element = || blst_fp { l: core::array::from_fn(|_| word()) };
        let mut fp2 = || blst_fp2 { fp: core::array::from_fn(|_| element()) };
        blst_fp12 { fp6: core::array::from_fn(|_| blst_fp6 { fp2: core::array::from_fn(|_| fp2()) }) }
    }

    fn of_fp(value: blst_fp12) -> blst_fp {
        value.fp6[0].fp2[0].fp[0]
    }

    fn of_fp2(value: blst_fp12) -> blst_fp2 {
        value.fp6[0].fp2[0]
    }

    /// A part of a value, as an answer.
    trait Part: Copy {
        fn answer(self) -> blst_fp12;
    }

    impl Part for blst_fp {
        fn answer(self) -> blst_fp12 {
            blst_fp2 { fp: [self, blst_fp::default()] }.answer()
        }
    }

    impl Part for blst_fp2 {
        fn answer(self) -> blst_fp12 {
            let mut out = blst_fp12 { fp6: [blst_fp6 { fp2: [blst_fp2::default(); 3] }; 2] };
            out.fp6[0].fp2[0] = self;
            out
        }
    }

    impl Part for blst_fp12 {
        fn answer(self) -> blst_fp12 {
            self
        }
    }

    fn square(a: &blst_fp12) -> blst_fp12 {
        let mut out = *a;
        arithmetic::fp12::square(&mut out);
        out
    }

    fn scalar<T: Part>(times: usize, part: impl Fn(blst_fp12) -> T, operation: impl Fn(&T, &T) -> T) -> blst_fp12 {
        let by = part(start());
        let mut items = [by; LANES];
        for _ in 0..times {
            for item in &mut items {
                *item = operation(item, &by);
            }
        }
        items[0].answer()
    }

    fn fp<L: Lanes<Curve = crate::pairing::Bls12381>>(
        lanes: L,
        times: usize,
        operation: impl Fn(&L::Fp, &L::Fp) -> L::Fp,
    ) -> blst_fp12 {
        let by = L::Fp::splat(lanes, &of_fp(start()));
        let mut items = by;
        for _ in 0..times {
            items = operation(&items, &by);
        }
        items.store()[0].answer()
    }

    fn fp2<L: Lanes<Curve = crate::pairing::Bls12381>>(
        lanes: L,
        times: usize,
        operation: impl Fn(&Fp2<L::Fp>, &Fp2<L::Fp>) -> Fp2<L::Fp>,
    ) -> blst_fp12 {
        let by = Fp2::splat(lanes, &of_fp2(start()));
        let mut items = by;
        for _ in 0..times {
            items = operation(&items, &by);
        }
        items.store()[0].answer()
    }

    fn fp12<L: Lanes<Curve = crate::pairing::Bls12381>>(
        lanes: L,
        times: usize,
        operation: impl Fn(&Fp12<L::Fp>, &Fp12<L::Fp>) -> Fp12<L::Fp>,
    ) -> blst_fp12 {
        let by = Fp12::load(lanes, &[&start(); LANES]);
        let mut items = by;
        for _ in 0..times {
            items = operation(&items, &by);
        }
        items.store()[0]
    }

    /// Multiplies one line into a value over and over.
    fn line<L: Lanes<Curve = crate::pairing::Bls12381>>(lanes: L, times: usize) -> blst_fp12 {
        let [a, b] = [0, 1].map(|i| Fp2::<L::Fp>::splat(lanes, &start().fp6[0].fp2[i]));
        let mut lines = Accumulator::new(Fp12::load(lanes, &[&start(); LANES]));
        for _ in 0..times {
            lines.times_line::<0>(&a, &b);
        }
        lines.value().store()[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_an_operation_agree() {
        let mut compared = 0;
        for operation in operations(Backend::auto()) {
            let Some(blst) = operation.blst else { continue };
            for times in [0, 1, 2, 10] {
                assert_eq!((operation.lanes)(times), blst(times), "{} {times} times", operation.name);
            }
            compared += 1;
        }
        assert_eq!(compared > 0, Backend::auto().lanes() > 1, "{compared}");
    }
}
