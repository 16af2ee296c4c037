//! What the tests of the lanes share: the kinds of lanes that this CPU has, and inputs at the edges of their limbs.

use alloc::{format, string::String, vec, vec::Vec};
use std::{println, sync::Mutex};

use blst::{blst_fp, blst_fp2, blst_fp6, blst_fp12, blst_fp12_frobenius_map};

use super::{
    constant::{Constant, P_WORDS},
    field::{Field, LANES, Lanes, PrimeField},
    fp2::Fp2,
};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::backend::choice::{Avx2, Avx512, Ifma};
use crate::{
    Backend,
    arithmetic::{
        curve::ONE,
        field::Field as _,
        fp12::{self, conjugate, inverse, multiply, square},
    },
    pairing::Bls12381,
};

/// Calls a function with the token of each kind of lanes that this CPU has, or with what a closure makes of it. A new kind of
/// lanes is a new line here.
macro_rules! for_each_kind {
    ($test:ident $(, |$lanes:ident| $token:expr)?) => {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        {
            use $crate::backend::lanes::tests::{avx2_or_skip, avx512_or_skip, ifma_or_skip, run};
            run(ifma_or_skip()$(.map(|$lanes| $token))?, $test);
            run(avx512_or_skip()$(.map(|$lanes| $token))?, $test);
            run(avx2_or_skip()$(.map(|$lanes| $token))?, $test);
        }
        #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
        {
            use $crate::backend::{choice::Neon, lanes::tests::run};
            run(Neon::detect()$(.map(|$lanes| $token))?, $test);
        }
    };
}
pub(crate) use for_each_kind;

/// The same, and the token of lanes without vectors, from which the portable backend takes some verbs.
macro_rules! for_each_kind_and_serially {
    ($test:ident) => {
        $crate::backend::lanes::tests::for_each_kind!($test);
        $crate::backend::lanes::tests::run(Some(<$crate::backend::serial::Serial>::new()), $test);
    };
}
pub(crate) use for_each_kind_and_serially;

/// The same as `for_each_kind`, and the token of one lane without vectors, in which the portable backend pairs.
macro_rules! for_each_kind_and_one_lane {
    ($test:ident) => {
        $crate::backend::lanes::tests::for_each_kind!($test);
        $crate::backend::lanes::tests::run(Some($crate::backend::serial::Serial::<_, 1>::new()), $test);
    };
}
pub(crate) use for_each_kind_and_one_lane;

/// Defines tests whose argument is a token. The first word is the macro that calls them.
macro_rules! tests_of_kinds {
    ($each:ident: $(
        $(#[$attribute:meta])*
        fn $name:ident($lanes:ident: $kind:ident) $body:block
    )*) => { $(
        $(#[$attribute])*
        #[test]
        fn $name() {
            fn test<$kind: $crate::backend::lanes::field::Lanes<Curve = $crate::pairing::Bls12381>>($lanes: $kind) $body
            $crate::backend::lanes::tests::$each!(test);
        }
    )* };
}
pub(crate) use tests_of_kinds;

/// Defines tests that run once for each kind of lanes. Their argument is the token.
macro_rules! in_each_kind {
    ($($tests:tt)*) => { $crate::backend::lanes::tests::tests_of_kinds! { for_each_kind: $($tests)* } };
}
pub(crate) use in_each_kind;

/// Defines tests that also run in lanes without vectors.
macro_rules! in_each_kind_and_serially {
    ($($tests:tt)*) => { $crate::backend::lanes::tests::tests_of_kinds! { for_each_kind_and_serially: $($tests)* } };
}
pub(crate) use in_each_kind_and_serially;

/// Defines tests that also run in one lane without vectors.
macro_rules! in_each_kind_and_one_lane {
    ($($tests:tt)*) => { $crate::backend::lanes::tests::tests_of_kinds! { for_each_kind_and_one_lane: $($tests)* } };
}
pub(crate) use in_each_kind_and_one_lane;

/// Runs a test, and prints in which lanes, so that a failure says it.
pub(crate) fn run<L: Lanes>(lanes: Option<L>, test: impl Fn(L)) {
    if let Some(lanes) = lanes {
        println!("in lanes of {}", name(lanes));
        test(lanes);
    }
}

/// The name of the token's type.
pub(crate) fn name<L: Lanes>(lanes: L) -> String {
    format!("{lanes:?}").split('(').next().unwrap_or_default().into()
}

/// The token of the lanes, if this CPU has them. If not, says that the test is skipped.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
fn or_skip<L: Lanes>(lanes: Option<L>, instructions: &str) -> Option<L> {
    if lanes.is_none() {
        println!("skipped: no {instructions} on this CPU");
    }
    lanes
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) fn ifma_or_skip() -> Option<Ifma> {
    or_skip(Ifma::detect(), "AVX-512 IFMA")
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) fn avx512_or_skip() -> Option<Avx512> {
    or_skip(Avx512::detect(), "AVX-512 F and VL")
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) fn avx2_or_skip() -> Option<Avx2> {
    or_skip(Avx2::detect(), "AVX2 and FMA")
}

/// The backends with lanes that this CPU has. If it has none, says that the test is skipped.
pub(crate) fn backends_in_lanes() -> impl Iterator<Item = Backend> {
    let backends: Vec<_> = Backend::available().iter().copied().filter(|b| *b != Backend::Portable).collect();
    if backends.is_empty() {
        println!("skipped: this machine has only the portable backend");
    }
    backends.into_iter()
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

/// `a` raised to p.
pub(crate) fn frobenius(a: &blst_fp12) -> blst_fp12 {
    let mut out = blst_fp12::default();
    // SAFETY: valid references.
    unsafe { blst_fp12_frobenius_map(&mut out, a, 1) };
    out
}

/// Into the cyclotomic subgroup, by the easy part of the final exponentiation.
pub(crate) fn cyclotomic(a: &blst_fp12) -> blst_fp12 {
    let unitary = multiply(&conjugate(a), &inverse(a));
    multiply(&frobenius(&frobenius(&unitary)), &unitary)
}

/// `a` raised to a number in words of 64 bits, the lowest first.
pub(crate) fn power(a: &blst_fp12, words: &[u64]) -> blst_fp12 {
    let mut power = fp12::ONE;
    for bit in (0..64 * words.len()).rev() {
        square(&mut power);
        if words[bit / 64] >> (bit % 64) & 1 == 1 {
            power = multiply(&power, a);
        }
    }
    power
}

/// An element of the cyclotomic subgroup with a₁ = 0: i/(4 + i) + 4s/(4 + i) + (4 + i)/2·u²·s·w + (u + u·s)·w² with
/// u³ = 8(4 + 3i)/((1 + i)(4 + i)³).
pub(crate) fn without_a1() -> blst_fp12 {
    let u = blst_fp2 {
        fp: [
            blst_fp {
                l: [
                    0xf8a6_a5a4_20bc_dd30,
                    0xd054_912d_587a_33dc,
                    0x0a0b_4756_62bd_9450,
                    0x3bc7_c6bc_7596_9158,
                    0xf0de_319d_a463_ae7b,
                    0x1109_af96_3192_c0b4,
                ],
            },
            blst_fp {
                l: [
                    0xf220_a946_2ff5_3024,
                    0xdd75_3cf5_8299_8bb5,
                    0xea64_b405_7de1_cc72,
                    0x02b1_342b_c39e_6f76,
                    0xef4d_12c5_5692_bd2c,
                    0x102b_0352_0e84_5235,
                ],
            },
        ],
    };
    let (zero, two) = (blst_fp::default(), ONE.doubled());
    let [i, four, half] = [[zero, ONE], [two.doubled(), zero], [two.inverse(), zero]].map(|fp| blst_fp2 { fp });
    let sum = four.plus(&i);
    let mut value = blst_fp12::default();
    let coefficients = [
        i.times(&sum.inverse()),
        four.times(&sum.inverse()),
        blst_fp2::default(),
        sum.times(&half).times(&u.squared()),
        u,
        u,
    ];
    for (coefficient, power) in coefficients.into_iter().zip([0, 3, 1, 4, 2, 5]) {
        value.fp6[power % 2].fp2[power / 2] = coefficient;
    }
    let [twice, four_times] = [2, 4].map(|n| (0..n).fold(value, |value, _| frobenius(&value)));
    assert_eq!(multiply(&value, &four_times), twice, "not in the cyclotomic subgroup");
    value
}

/// The square root in the cyclotomic subgroup, whose order n = p⁴ - p² + 1 is odd: a to the power of (n + 1)/2 =
/// p²(p + 1)(p - 1)/2 + 1.
pub(crate) fn root(a: &blst_fp12) -> blst_fp12 {
    let mut half_of_p = P_WORDS.map(|word| word >> 1);
    for i in 0..5 {
        half_of_p[i] |= P_WORDS[i + 1] << 63;
    }
    let power = power(a, &half_of_p);
    let power = multiply(&power, &frobenius(&power));
    multiply(&frobenius(&frobenius(&power)), a)
}

/// Eight elements that stand side by side in memory.
pub(crate) fn load<F: Field>(lanes: F::Lanes, elements: &[F::Element; LANES]) -> F {
    F::load(lanes, &elements.each_ref())
}

pub(crate) fn load2<L: Lanes<Curve = Bls12381>>(lanes: L, elements: &[blst_fp2; LANES]) -> Fp2<L::Fp> {
    load(lanes, elements)
}

/// Numbers below 2^384 in the form that products and reductions compute with, which is the words themselves.
pub(crate) fn stored<P: PrimeField<Curve = Bls12381>>(lanes: P::Lanes, words: &[[u64; 6]; LANES]) -> P {
    let constants = words.map(|words| Constant::of_forms(words, words, words));
    P::constants(lanes, &constants)
}

/// 1/R, which turns what is stored into its number. R is 2^(8·`LIMB_BITS`).
pub(crate) fn over_r<L: Lanes<Curve = Bls12381>>() -> blst_fp {
    let bits = 4 * <L::Fp as PrimeField>::LIMB_BITS;
    let mut root_of_r = [0; 6];
    root_of_r[bits / 64] = 1 << (bits % 64);
    number(root_of_r).squared().inverse()
}

/// The same element, p added so many times. Each adds p to the bound of the value.
pub(crate) fn raised<P: PrimeField<Curve = Bls12381>>(a: &P, times: u64) -> P {
    let p: P = stored(a.lanes(), &[P_WORDS; LANES]);
    (0..times).fold(*a, |sum, _| sum.plus(&p).carried())
}

/// The same element, p subtracted so many times. Each adds at most 4p to the bound of the value.
pub(crate) fn lowered<P: PrimeField<Curve = Bls12381>>(a: &P, times: u64) -> P {
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
