//! Eight elements of Fp12 = Fp6(w), w² = v, and Fp6 = Fp2(v), v³ = 1 + i.
//!
//! Products of coefficients are summed before they are reduced: a multiplication needs six reductions instead of
//! eighteen.

use blst::{blst_fp2, blst_fp6, blst_fp12};

use super::{
    fp2::Fp2,
    kernel::{Limbs, limbs},
    vector::{Ifma, LANES, in_lanes},
    wide::{Wide, combine},
    word::Word,
};

/// c0 + c1·v + c2·v² in each lane.
pub(crate) type Fp6 = [Fp2; 3];

/// even + odd·w in each lane.
#[derive(Clone, Copy)]
pub(crate) struct Fp12 {
    pub(crate) even: Fp6,
    pub(crate) odd: Fp6,
}

/// The number of lines after which the coefficients are shrunk. Each line adds about 2p to them, and after a ninth the
/// sums would be too far below zero.
const LINES_BETWEEN_SHRINKS: usize = 8;

/// [`combine`] for both parts.
macro_rules! each {
    ($($name:ident = $wide:expr),+ => $sum:expr) => {{
        $(let $name: &Wide = &$wide;)+
        Wide { c0: combine!($($name = $name.c0),+ => $sum), c1: combine!($($name = $name.c1),+ => $sum) }
    }};
}

impl Fp12 {
    /// The token that the value was made from.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> Ifma {
        self.even[0].lanes()
    }

    pub(crate) fn one(lanes: Ifma) -> Self {
        let zero = Fp2::zero(lanes);
        Self { even: [Fp2::one(lanes), zero, zero], odd: [zero; 3] }
    }

    pub(crate) fn load(lanes: Ifma, values: &[&blst_fp12; LANES]) -> Self {
        let part = |half: usize| {
            core::array::from_fn(|i| Fp2::load(lanes, &core::array::from_fn(|lane| &values[lane].fp6[half].fp2[i])))
        };
        Self { even: part(0), odd: part(1) }
    }

    pub(crate) fn store(&self) -> [blst_fp12; LANES] {
        let parts = [&self.even, &self.odd].map(|half| half.map(|c| c.store()));
        let fp2 = |lane: usize, half: usize, i: usize| -> blst_fp2 { parts[half][i][lane] };
        core::array::from_fn(|lane| blst_fp12 {
            fp6: core::array::from_fn(|half| blst_fp6 { fp2: core::array::from_fn(|i| fp2(lane, half, i)) }),
        })
    }

    /// The square. Coefficients are those of products, before and after.
    pub(crate) fn squared(&self) -> Self {
        squared(self.lanes(), self)
    }
}

/// The operations of a final exponentiation, on eight elements of Fp12 ([`Fp12`]) and on one
/// ([`Spread`](super::spread::Spread)).
pub(crate) trait Extension: Copy {
    /// even - odd·w, which is the value raised to p⁶. In the cyclotomic subgroup it is the inverse.
    fn conjugated(&self) -> Self;
    /// The product. It accepts coefficients below 4p and gives coefficients of about 2p.
    fn times(&self, other: &Self) -> Self;
    /// The square of an element of the cyclotomic subgroup (R. Granger and M. Scott, <https://eprint.iacr.org/2009/565>).
    fn cyclotomic_squared(&self) -> Self;
    /// Raised to p.
    fn frobenius(&self) -> Self;
    /// The inverse. The inverse of zero is zero.
    fn inverted(&self) -> Self;
}

impl Extension for Fp12 {
    fn conjugated(&self) -> Self {
        conjugated(self.lanes(), self)
    }

    fn times(&self, other: &Self) -> Self {
        times(self.lanes(), self, other)
    }

    fn cyclotomic_squared(&self) -> Self {
        cyclotomic_squared(self.lanes(), self)
    }

    fn frobenius(&self) -> Self {
        frobenius(self.lanes(), self)
    }

    fn inverted(&self) -> Self {
        inverted(self.lanes(), self)
    }
}

/// A value that lines are multiplied into. It counts them and shrinks its coefficients in time.
pub(crate) struct Accumulator {
    value: Fp12,
    lines: usize,
}

impl Accumulator {
    pub(crate) fn new(value: Fp12) -> Self {
        Self { value, lines: 0 }
    }

    /// The value with coefficients below 2.1p.
    pub(crate) fn value(&mut self) -> &mut Fp12 {
        if self.lines > 0 {
            shrink(self.value.lanes(), &mut self.value);
            self.lines = 0;
        }
        &mut self.value
    }

    /// Multiplies by 1 + (2a + 2b·v)·v^SHIFT·w, where a and b have limbs below one unit and values below 4p.
    #[inline(always)]
    pub(crate) fn times_line<const SHIFT: usize>(&mut self, a: &Fp2, b: &Fp2) {
        if self.lines == LINES_BETWEEN_SHRINKS {
            shrink(self.value.lanes(), &mut self.value);
            self.lines = 0;
        }
        self.lines += 1;
        times_line::<SHIFT>(a.lanes(), &mut self.value, a, b);
    }

    /// Multiplies by `scale` + (2a + 2b·v)·v^SHIFT·w, where all three have limbs below one unit and values below 4p.
    #[inline(always)]
    pub(crate) fn times_scaled_line<const SHIFT: usize>(&mut self, scale: &Fp2, a: &Fp2, b: &Fp2) {
        times_scaled_line::<SHIFT>(a.lanes(), self.value(), scale, a, b);
    }
}

in_lanes! {
    fn conjugated(lanes: Ifma, f: &Fp12) -> Fp12 {
        Fp12 { even: f.even, odd: f.odd.map(|c| c.negated().shrunk()) }
    }

    fn shrink(lanes: Ifma, f: &mut Fp12) {
        for c in f.even.iter_mut().chain(&mut f.odd) {
            *c = c.shrunk();
        }
    }

    #[inline(never)]
    fn times_line[SHIFT: usize](lanes: Ifma, f: &mut Fp12, a: &Fp2, b: &Fp2) {
        add_products::<SHIFT>(f, a, b, |products, c| products.reduce_onto(c));
    }

    #[inline(never)]
    fn times_scaled_line[SHIFT: usize](lanes: Ifma, f: &mut Fp12, scale: &Fp2, a: &Fp2, b: &Fp2) {
        add_products::<SHIFT>(f, a, b, |products, c| {
            *c = each!(p = *products, s = Wide::product(c, scale) => p.plus(s)).reduced();
        });
    }

    #[inline(never)]
    fn times(lanes: Ifma, a: &Fp12, b: &Fp12) -> Fp12 {
        let v0 = product6(&a.even, &b.even);
        let v1 = product6(&a.odd, &b.odd);
        let both = product6(&sum6(&a.even, &a.odd), &sum6(&b.even, &b.odd));
        Fp12 { even: plus_times_v(&v0, &v1), odd: rest(&both, &v0, &v1) }
    }

    #[inline(never)]
    fn squared(lanes: Ifma, a: &Fp12) -> Fp12 {
        // (e + o·w)² = (e + o)(e + v·o) - e·o - v·e·o + 2·e·o·w
        let [o0, o1, o2] = a.odd;
        let shifted = [o2.times_one_plus_i().carried(), o0, o1];
        let cross = product6(&a.even, &a.odd);
        let both = product6(&sum6(&a.even, &a.odd), &sum6(&a.even, &shifted));
        let cross_shifted = [times_xi(&cross[2]), cross[0], cross[1]];
        let twice = |c: &Wide| each!(c = c => c.plus(c)).reduced();
        Fp12 { even: rest(&both, &cross, &cross_shifted), odd: [twice(&cross[0]), twice(&cross[1]), twice(&cross[2])] }
    }

    #[inline(never)]
    fn cyclotomic_squared(lanes: Ifma, f: &Fp12) -> Fp12 {
        let ([e0, e1, e2], [o0, o1, o2]) = (&f.even, &f.odd);
        let [t0, t1] = square4(e0, o1);
        let [t2, t3] = square4(o0, e2);
        let [t4, t5] = square4(e1, o2);
        Fp12 {
            even: [thrice_less(&t0, e0), thrice_less(&t2, e1), thrice_less(&t4, e2)],
            odd: [thrice_more(&times_xi(&t5), o0), thrice_more(&t1, o1), thrice_more(&t3, o2)],
        }
    }

    fn frobenius(lanes: Ifma, f: &Fp12) -> Fp12 {
        // The coefficient of w^i is conjugated and multiplied by (1 + i)^(i(p-1)/6).
        let of = |c: &Fp2, i: usize| c.conjugated().shrunk().times(&Fp2::constant(lanes, &FROBENIUS[i]));
        Fp12 {
            even: [f.even[0].conjugated().shrunk(), of(&f.even[1], 2), of(&f.even[2], 4)],
            odd: [of(&f.odd[0], 1), of(&f.odd[1], 3), of(&f.odd[2], 5)],
        }
    }

    fn inverted(lanes: Ifma, f: &Fp12) -> Fp12 {
        let (even2, odd2) = (product6(&f.even, &f.even), product6(&f.odd, &f.odd));
        let norm = [
            each!(x = even2[0], y = times_xi(&odd2[2]) => x.minus(y)).reduced(),
            each!(x = even2[1], y = odd2[0] => x.minus(y)).reduced(),
            each!(x = even2[2], y = odd2[1] => x.minus(y)).reduced(),
        ];
        let inverse = inverted6(&norm);
        Fp12 {
            even: product6(&f.even, &inverse).map(|c| c.reduced()),
            odd: product6(&f.odd, &inverse).map(|c| c.reduced().negated().shrunk()),
        }
    }
}

/// Adds the product of f and (2a + 2b·v)·v^SHIFT·w to f, one coefficient at a time. `add` adds a coefficient.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn add_products<const SHIFT: usize>(f: &mut Fp12, a: &Fp2, b: &Fp2, add: impl Fn(&Wide, &mut Fp2)) {
    let line = Line { twice_a: a.doubled(), twice_b: b.doubled(), sum: a.plus(b), difference: a.minus(b).carried() };
    let by_odd = times_binomial(&f.odd, &line);
    let by_even = times_binomial(&f.even, &line);
    // First coefficients times v^(SHIFT + 1), then coefficients times v^SHIFT.
    if SHIFT == 0 {
        add(&times_xi(&second(&by_odd)), &mut f.even[0]);
        add(&ends(&by_odd), &mut f.even[1]);
        add(&first(&by_odd), &mut f.even[2]);
        add(&ends(&by_even), &mut f.odd[0]);
        add(&first(&by_even), &mut f.odd[1]);
        add(&second(&by_even), &mut f.odd[2]);
    } else {
        add(&times_xi(&first(&by_odd)), &mut f.even[0]);
        add(&times_xi(&second(&by_odd)), &mut f.even[1]);
        add(&ends(&by_odd), &mut f.even[2]);
        add(&times_xi(&second(&by_even)), &mut f.odd[0]);
        add(&ends(&by_even), &mut f.odd[1]);
        add(&first(&by_even), &mut f.odd[2]);
    }
}

/// The values of 2a + 2b·v at the points 0 and ∞ of v, and half its values at 1 and -1.
struct Line {
    twice_a: Fp2,
    twice_b: Fp2,
    sum: Fp2,
    difference: Fp2,
}

/// The values of (c0 + c1·v + c2·v²)·(2a + 2b·v) at 0 and ∞, and half its values at 1 and -1. The four coefficients
/// follow from them.
struct Values {
    at_zero: Wide,
    at_one: Wide,
    at_minus_one: Wide,
    at_infinity: Wide,
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn times_binomial(c: &Fp6, line: &Line) -> Values {
    let outer = c[0].plus(&c[2]);
    Values {
        at_zero: Wide::product(&c[0], &line.twice_a),
        at_one: Wide::product(&outer.plus(&c[1]).carried(), &line.sum),
        at_minus_one: Wide::product(&outer.subtract::<32, 1>(&c[1]).carried(), &line.difference),
        at_infinity: Wide::product(&c[2], &line.twice_b),
    }
}

/// The coefficient of v.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn first(w: &Values) -> Wide {
    each!(p = w.at_one, m = w.at_minus_one, h = w.at_infinity => p.minus(m).minus(h))
}

/// The coefficient of v².
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn second(w: &Values) -> Wide {
    each!(p = w.at_one, m = w.at_minus_one, l = w.at_zero => p.plus(m).minus(l))
}

/// The coefficient of 1 and (1 + i) times that of v³.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn ends(w: &Values) -> Wide {
    plus_times_xi(&w.at_zero, &w.at_infinity)
}

/// (1 + i)·a
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn times_xi(a: &Wide) -> Wide {
    Wide { c0: combine!(x = a.c0, y = a.c1 => x.minus(y)), c1: combine!(x = a.c0, y = a.c1 => x.plus(y)) }
}

/// a + (1 + i)·b
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn plus_times_xi(a: &Wide, b: &Wide) -> Wide {
    Wide {
        c0: combine!(a = a.c0, x = b.c0, y = b.c1 => a.plus(x).minus(y)),
        c1: combine!(a = a.c1, x = b.c0, y = b.c1 => a.plus(x).plus(y)),
    }
}

/// The coefficients of a product in Fp6, by six products in Fp2 (Karatsuba), before their reduction.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn product6(a: &Fp6, b: &Fp6) -> [Wide; 3] {
    let (v0, v1, v2) = (Wide::product(&a[0], &b[0]), Wide::product(&a[1], &b[1]), Wide::product(&a[2], &b[2]));
    let c01 = cross(a, b, 0, 1);
    let c02 = cross(a, b, 0, 2);
    let c12 = cross(a, b, 1, 2);
    let upper = each!(c = c12, s = v1, t = v2 => c.minus(s).minus(t));
    let middle = each!(c = c01, s = v0, t = v1 => c.minus(s).minus(t));
    [
        plus_times_xi(&v0, &upper),
        plus_times_xi(&middle, &v2),
        each!(c = c02, s = v0, t = v2, u = v1 => c
        .minus(s)
        .minus(t)
        .plus(u)),
    ]
}

/// (aᵢ + aⱼ)·(bᵢ + bⱼ)
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn cross(a: &Fp6, b: &Fp6, i: usize, j: usize) -> Wide {
    Wide::product(&a[i].plus(&a[j]).carried(), &b[i].plus(&b[j]).carried())
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn sum6(a: &Fp6, b: &Fp6) -> Fp6 {
    [a[0].plus(&b[0]).carried(), a[1].plus(&b[1]).carried(), a[2].plus(&b[2]).carried()]
}

/// a + b·v, reduced.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn plus_times_v(a: &[Wide; 3], b: &[Wide; 3]) -> Fp6 {
    [
        plus_times_xi(&a[0], &b[2]).reduced(),
        each!(x = a[1], y = b[0] => x.plus(y)).reduced(),
        each!(x = a[2], y = b[1] => x.plus(y)).reduced(),
    ]
}

/// a - b - c, reduced.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn rest(a: &[Wide; 3], b: &[Wide; 3], c: &[Wide; 3]) -> Fp6 {
    [
        each!(x = a[0], y = b[0], z = c[0] => x.minus(y).minus(z)).reduced(),
        each!(x = a[1], y = b[1], z = c[1] => x.minus(y).minus(z)).reduced(),
        each!(x = a[2], y = b[2], z = c[2] => x.minus(y).minus(z)).reduced(),
    ]
}

/// (a + b·t)² with t² = 1 + i, before its reduction: a² + (1 + i)·b² and 2ab.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn square4(a: &Fp2, b: &Fp2) -> [Wide; 2] {
    let (a2, b2) = (Wide::square(a), Wide::square(b));
    let both = Wide::square(&a.plus(b));
    [plus_times_xi(&a2, &b2), each!(c = both, s = a2, t = b2 => c.minus(s).minus(t))]
}

/// 3t - 2c
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn thrice_less(t: &Wide, c: &Fp2) -> Fp2 {
    let mut sum = Fp2::zero(c.lanes()).minus_sum(&c.doubled());
    each!(t = t => t.plus(t).plus(t)).reduce_onto(&mut sum);
    sum.shrunk()
}

/// 3t + 2c
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn thrice_more(t: &Wide, c: &Fp2) -> Fp2 {
    let mut sum = c.doubled();
    each!(t = t => t.plus(t).plus(t)).reduce_onto(&mut sum);
    sum.shrunk()
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn inverted6(a: &Fp6) -> Fp6 {
    let [a0, a1, a2] = a;
    let t0 = each!(x = Wide::square(a0), y = times_xi(&Wide::product(a1, a2)) => x.minus(y)).reduced();
    let t1 = each!(x = times_xi(&Wide::square(a2)), y = Wide::product(a0, a1) => x.minus(y)).reduced();
    let t2 = each!(x = Wide::square(a1), y = Wide::product(a0, a2) => x.minus(y)).reduced();
    let cross = each!(x = Wide::product(a1, &t2), y = Wide::product(a2, &t1) => x.plus(y));
    let inverse = plus_times_xi(&Wide::product(a0, &t0), &cross).reduced().inverted();
    [t0.times(&inverse), t1.times(&inverse), t2.times(&inverse)]
}

/// (1 + i)^(i(p-1)/6), i = 0 … 5, in Montgomery form.
pub(super) const FROBENIUS: [[Limbs; 2]; 6] = [
    [
        limbs([
            0x5635_0003_480e_6299,
            0x8670_deb2_699e_b128,
            0x0983_e84e_f669_7c98,
            0xe3e8_a053_a4e6_fe97,
            0x385c_20d3_23ec_f271,
            0x156d_a47f_1286_6eb6,
        ]),
        [0; 8],
    ],
    [
        limbs([
            0x9363_b319_f1bf_e2a5,
            0x3627_282b_dc7f_1f1d,
            0x9a27_7f99_ec33_0378,
            0x00e8_fb52_3fa6_8db9,
            0x156d_936e_52dd_1e85,
            0x09d4_fca9_9e27_c2d3,
        ]),
        limbs([
            0x269b_4ce6_0e3f_c806,
            0xe884_d7d2_d4d4_e0e2,
            0xcd09_5307_0a7d_f2ab,
            0x638e_5032_b3de_8505,
            0x35ae_1447_f06e_8e52,
            0x102c_1540_9b58_23c7,
        ]),
    ],
    [
        [0; 8],
        limbs([
            0xbf64_8672_4246_0380,
            0x3047_60bf_97d3_1025,
            0xf0b2_76f2_6789_ba41,
            0xa7d2_0232_ae23_cafa,
            0x7819_3a47_3e91_ffdd,
            0x19b7_363f_5f9c_0cf2,
        ]),
    ],
    [
        limbs([
            0xed21_5aa3_3e59_7c2b,
            0x436d_e0ef_e9d0_a1f4,
            0xda42_8782_4782_2385,
            0x8358_3346_c474_f50c,
            0x129e_6cd9_42ba_1f62,
            0x03ab_ab92_8f29_004f,
        ]),
        limbs([
            0xed21_5aa3_3e59_7c2b,
            0x436d_e0ef_e9d0_a1f4,
            0xda42_8782_4782_2385,
            0x8358_3346_c474_f50c,
            0x129e_6cd9_42ba_1f62,
            0x03ab_ab92_8f29_004f,
        ]),
    ],
    [
        limbs([
            0x5b9a_8675_8a54_bb6e,
            0x980c_3f73_501d_c14e,
            0x9305_8ca0_6742_40b5,
            0x2743_5701_5f85_b6d2,
            0x6559_b364_1f33_4578,
            0x1523_c8d4_38a2_950e,
        ]),
        [0; 8],
    ],
    [
        limbs([
            0x8085_0dbd_3019_5ed0,
            0x7995_091b_c64f_c112,
            0x746a_071c_33b5_26fd,
            0x8441_2e99_041b_82c6,
            0x280c_0047_9597_3de7,
            0x0d80_a83c_2d50_c322,
        ]),
        limbs([
            0x3979_f242_cfe6_4bdb,
            0xa516_f6e2_eb04_3eed,
            0xf2c6_cb84_c2fb_cf26,
            0xe036_1ceb_ef69_8ff8,
            0x230f_a76e_adb4_6eef,
            0x0c80_69ae_0c2f_2378,
        ]),
    ],
];

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        arithmetic::field::Field as _,
        backend::ifma::{
            fp2::tests::{elements2, load},
            lanes_or_skip,
        },
    };
    use alloc::vec::Vec;
    use blst::*;

    /// Vectors of values whose coefficients are at the edges of limbs, and others.
    pub(in crate::backend::ifma) fn values() -> Vec<[blst_fp12; 8]> {
        let elements: Vec<_> = elements2().concat();
        let value = |i: usize| blst_fp12 {
            fp6: core::array::from_fn(|half| blst_fp6 {
                fp2: core::array::from_fn(|j| elements[(i * 5 + half * 17 + j * 29 + i / 7) % elements.len()]),
            }),
        };
        (0..30).map(|v| core::array::from_fn(|lane| value(8 * v + lane))).collect()
    }

    fn load_values(lanes: Ifma, values: &[blst_fp12; 8]) -> Fp12 {
        Fp12::load(lanes, &core::array::from_fn(|lane| &values[lane]))
    }

    fn each(values: &[blst_fp12; 8], f: impl Fn(&blst_fp12, &mut blst_fp12)) -> [blst_fp12; 8] {
        core::array::from_fn(|lane| {
            let mut out = blst_fp12::default();
            f(&values[lane], &mut out);
            out
        })
    }

    // SAFETY, for every block below: valid references.
    #[test]
    fn agrees_with_blst() {
        let Some(lanes) = lanes_or_skip() else { return };
        let vectors = values();
        for (i, a) in vectors.iter().enumerate() {
            let b = &vectors[(i + 11) % vectors.len()];
            let (x, y) = (load_values(lanes, a), load_values(lanes, b));
            assert_eq!(x.store(), *a);
            let products: [_; 8] = core::array::from_fn(|lane| crate::arithmetic::fp12::multiply(&a[lane], &b[lane]));
            assert_eq!(x.times(&y).store(), products);
            // SAFETY: see above.
            assert_eq!(x.squared().store(), each(a, |a, out| unsafe { blst_fp12_sqr(out, a) }));
            // SAFETY: see above.
            assert_eq!(x.inverted().store(), each(a, |a, out| unsafe { blst_fp12_inverse(out, a) }));
            // SAFETY: see above.
            assert_eq!(x.frobenius().store(), each(a, |a, out| unsafe { blst_fp12_frobenius_map(out, a, 1) }));
            let conjugate = each(a, |a, out| *out = crate::arithmetic::fp12::conjugate(a));
            assert_eq!(x.conjugated().store(), conjugate);
            // Into the cyclotomic subgroup, by the easy part of the final exponentiation.
            let unitary = x.conjugated().times(&x.inverted());
            let cyclotomic = unitary.frobenius().frobenius().times(&unitary);
            assert_eq!(cyclotomic.cyclotomic_squared().store(), cyclotomic.squared().store());
        }
    }

    /// Lines that are multiplied in one after another, past several shrinks, are products with 1 + (2a +
    /// 2b·v)·v^SHIFT·w.
    #[test]
    fn lines_are_products() {
        let Some(lanes) = lanes_or_skip() else { return };
        lines::<0>(lanes);
        lines::<1>(lanes);
    }

    fn lines<const SHIFT: usize>(lanes: Ifma) {
        let elements = elements2();
        let mut lines = Accumulator::new(load_values(lanes, &values()[0]));
        let mut expected = values()[0];
        for n in 0..3 * LINES_BETWEEN_SHRINKS + 1 {
            let (a, b) = (&elements[n % elements.len()], &elements[(3 * n + 1) % elements.len()]);
            lines.times_line::<SHIFT>(&load(lanes, a), &load(lanes, b));
            for lane in 0..8 {
                let mut line = blst_fp12::default();
                line.fp6[1].fp2[SHIFT] = a[lane].doubled();
                line.fp6[1].fp2[SHIFT + 1] = b[lane].doubled();
                expected[lane] = crate::arithmetic::fp12::multiply(&expected[lane], &line);
            }
        }
        assert_eq!(lines.value().store(), expected);
        for n in 0..20 {
            let [a, b, scale] = [1, 3, 7].map(|stride| &elements[(stride * n + 1) % elements.len()]);
            lines.times_scaled_line::<SHIFT>(&load(lanes, scale), &load(lanes, a), &load(lanes, b));
            for lane in 0..8 {
                let mut line = blst_fp12::default();
                line.fp6[0].fp2[0] = scale[lane];
                line.fp6[1].fp2[SHIFT] = a[lane].doubled();
                line.fp6[1].fp2[SHIFT + 1] = b[lane].doubled();
                expected[lane] = crate::arithmetic::fp12::multiply(&expected[lane], &line);
            }
            assert_eq!(lines.value().store(), expected);
            lines.times_line::<SHIFT>(&Fp2::zero(lanes), &Fp2::zero(lanes));
        }
    }
}
