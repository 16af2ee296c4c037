//! What the tests of the lanes share: the kinds of lanes that this CPU has, and inputs at the edges of their limbs.

use alloc::{format, string::String, vec, vec::Vec};
use std::{println, sync::Mutex};

use blst::{blst_fp, blst_fp2, blst_fp6, blst_fp12};

use super::{
    constant::{Constant, P_WORDS, limbs_of_48, limbs_of_50},
    field::{Field, LANES, Lanes, PrimeField},
    fp2::Fp2,
};
use crate::{
    arithmetic::{curve::ONE, field::Field as _},
    backend::{
        fma::{Avx2, Avx512},
        ifma::Ifma,
        soak::backends_in_lanes,
    },
};

/// Calls a function with the token of each kind of lanes that this CPU has. A new kind of lanes is a new line here.
macro_rules! for_each_kind {
    ($test:ident) => {{
        use $crate::backend::lanes::tests::{avx2_or_skip, avx512_or_skip, ifma_or_skip, run};
        run(ifma_or_skip(), $test);
        run(avx512_or_skip(), $test);
        run(avx2_or_skip(), $test);
    }};
}
pub(crate) use for_each_kind;

/// Defines tests that run once for each kind of lanes. Their argument is the token.
macro_rules! in_each_kind {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident($lanes:ident: $kind:ident) $body:block
    )*) => { $(
        $(#[$attribute])*
        #[test]
        fn $name() {
            fn test<$kind: $crate::backend::lanes::field::Lanes>($lanes: $kind) $body
            $crate::backend::lanes::tests::for_each_kind!(test);
        }
    )* };
}
pub(crate) use in_each_kind;

/// Runs a test, and prints in which lanes, so that a failure says it.
pub(crate) fn run<L: Lanes>(lanes: Option<L>, test: impl Fn(L)) {
    if let Some(lanes) = lanes {
        println!("in lanes of {}", name(lanes));
        test(lanes);
    }
}

/// The name of the token's type.
pub(crate) fn name<L: Lanes>(lanes: L) -> String {
    format!("{lanes:?}").trim_end_matches("(())").into()
}

/// The token of the lanes, if this CPU has them. If not, says that the test is skipped.
fn or_skip<L: Lanes>(lanes: Option<L>, instructions: &str) -> Option<L> {
    if lanes.is_none() {
        println!("skipped: no {instructions} on this CPU");
    }
    lanes
}

pub(crate) fn ifma_or_skip() -> Option<Ifma> {
    or_skip(Ifma::detect(), "AVX-512 IFMA")
}

pub(crate) fn avx512_or_skip() -> Option<Avx512> {
    or_skip(Avx512::detect(), "AVX-512 F and VL")
}

pub(crate) fn avx2_or_skip() -> Option<Avx2> {
    or_skip(Avx2::detect(), "AVX2 and FMA")
}

/// A number below 2^384 as an element.
pub(crate) fn number(words: [u64; 6]) -> blst_fp {
    let mut out = blst_fp::default();
    // SAFETY: six words in.
    unsafe { blst::blst_fp_from_uint64(&mut out, words.as_ptr()) };
    out
}

/// Elements at the edges of all limbs, of 48, 50, 52 and 64 bits, and some that look random. The number of elements is
/// a multiple of eight.
pub(crate) fn elements() -> Vec<blst_fp> {
    let mut elements = vec![blst_fp::default(), ONE, blst_fp::default().minus(&ONE)];
    let edges = [25, 24, 52, 64].into_iter().flat_map(|step| (0..380).step_by(step));
    for bit in edges.chain([47, 49, 51, 63, 95, 99, 380]) {
        let mut words = [0; 6];
        words[bit / 64] = 1 << (bit % 64);
        let power = number(words);
        // As a number and as a Montgomery form.
        elements.extend([power, power.minus(&ONE), blst_fp { l: words }]);
    }
    let mut random = number([3, 1, 4, 1, 5, 9]);
    for _ in 0..64 {
        random = random.squared().plus(&ONE);
        elements.push(random);
    }
    while elements.len() % LANES != 0 {
        elements.push(ONE);
    }
    elements
}

/// Vectors of elements of Fp2 whose parts are at the edges of limbs, and others.
pub(crate) fn elements2() -> Vec<[blst_fp2; LANES]> {
    let parts = elements();
    let element = |i: usize| blst_fp2 { fp: [parts[i % parts.len()], parts[(7 * i + i / parts.len()) % parts.len()]] };
    (0..2 * parts.len() / LANES).map(|v| core::array::from_fn(|lane| element(LANES * v + lane))).collect()
}

/// Vectors of values whose coefficients are at the edges of limbs, and others.
pub(crate) fn values() -> Vec<[blst_fp12; LANES]> {
    let elements: Vec<_> = elements2().concat();
    let value = |i: usize| blst_fp12 {
        fp6: core::array::from_fn(|half| blst_fp6 {
            fp2: core::array::from_fn(|j| elements[(i * 5 + half * 17 + j * 29 + i / 7) % elements.len()]),
        }),
    };
    (0..30).map(|v| core::array::from_fn(|lane| value(LANES * v + lane))).collect()
}

/// Eight elements that stand side by side in memory.
pub(crate) fn load<F: Field>(lanes: F::Lanes, elements: &[F::Element; LANES]) -> F {
    F::load(lanes, &elements.each_ref())
}

pub(crate) fn load2<L: Lanes>(lanes: L, elements: &[blst_fp2; LANES]) -> Fp2<L::Fp> {
    load(lanes, elements)
}

/// Numbers below 2^384 in the form that products and reductions compute with, which is the words themselves.
pub(crate) fn stored<P: PrimeField>(lanes: P::Lanes, words: &[[u64; 6]; LANES]) -> P {
    let constants = words.map(|words| Constant { limbs_of_50: limbs_of_50(words), limbs_of_48: limbs_of_48(words) });
    P::constants(lanes, &constants)
}

/// The same element, p added so many times. Each adds p to the bound of the value.
pub(crate) fn raised<P: PrimeField>(a: &P, times: u64) -> P {
    let p: P = stored(a.lanes(), &[P_WORDS; LANES]);
    (0..times).fold(*a, |sum, _| sum.plus(&p).carried())
}

/// The same element, p subtracted so many times. Each adds at most 4p to the bound of the value.
pub(crate) fn lowered<P: PrimeField>(a: &P, times: u64) -> P {
    let p: P = stored(a.lanes(), &[P_WORDS; LANES]);
    (0..times).fold(*a, |sum, _| sum.minus(&p).carried())
}

/// A backend whose lanes have no line in `for_each_kind` would be offered without a test.
#[test]
fn lanes_of_every_backend_are_tested() {
    static KINDS: Mutex<Vec<String>> = Mutex::new(Vec::new());
    fn record<L: Lanes>(lanes: L) {
        KINDS.lock().expect("no test panics with it").push(name(lanes));
    }
    for_each_kind!(record);
    let kinds = KINDS.lock().expect("no test panics with it");
    for backend in backends_in_lanes() {
        // A backend shows its token.
        let shown = format!("{backend:?}");
        assert!(kinds.iter().any(|kind| shown.contains(kind.as_str())), "{shown} is none of {kinds:?}");
    }
}
