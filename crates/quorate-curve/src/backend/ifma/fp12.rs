//! Eight elements of Fp12 = Fp6(w), w² = v, and Fp6 = Fp2(v), v³ = 1 + i.
//!
//! Products of coefficients are added up before they are reduced: six reductions a multiplication, not eighteen.

use blst::{blst_fp2, blst_fp6, blst_fp12};

use super::{
    LANES,
    fp::Mask,
    fp2::{Fp2, Wide},
    kernel::{Limbs, limbs},
};

/// c0 + c1·v + c2·v² in each lane.
pub(crate) type Fp6 = [Fp2; 3];

/// even + odd·w in each lane.
#[derive(Clone, Copy)]
pub(crate) struct Fp12 {
    pub(crate) even: Fp6,
    pub(crate) odd: Fp6,
}

/// How many p a coefficient may reach between two reductions, as [`Fp12::times_line`] counts them.
const LINES_BETWEEN_SHRINKS: usize = 8;

impl Fp12 {
    pub(crate) fn one() -> Self {
        Self { even: [Fp2::one(), Fp2::zero(), Fp2::zero()], odd: [Fp2::zero(); 3] }
    }

    pub(crate) fn load(values: &[&blst_fp12; LANES]) -> Self {
        let part = |half: usize| {
            core::array::from_fn(|i| Fp2::load(&core::array::from_fn(|lane| &values[lane].fp6[half].fp2[i])))
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

    pub(crate) fn or(&self, mask: Mask, other: &Self) -> Self {
        let select = |a: &Fp6, b: &Fp6| core::array::from_fn(|i| a[i].or(mask, &b[i]));
        Self { even: select(&self.even, &other.even), odd: select(&self.odd, &other.odd) }
    }

    /// even - odd·w: the value raised to p⁶, and in the cyclotomic subgroup the inverse.
    pub(crate) fn conjugated(&self) -> Self {
        // SAFETY: see the head of `fp.rs`.
        unsafe { conjugated(self) }
    }

    /// The product: coefficients below 4p on both sides, about 2p out.
    pub(crate) fn times(&self, other: &Self) -> Self {
        // SAFETY: see the head of `fp.rs`.
        unsafe { times(self, other) }
    }

    /// The square: coefficients of products in and out.
    pub(crate) fn squared(&self) -> Self {
        // SAFETY: see the head of `fp.rs`.
        unsafe { squared(self) }
    }

    /// The square of an element of the cyclotomic subgroup (R. Granger and M. Scott, <https://eprint.iacr.org/2009/565>).
    pub(crate) fn cyclotomic_squared(&self) -> Self {
        // SAFETY: see the head of `fp.rs`.
        unsafe { cyclotomic_squared(self) }
    }

    /// Raised to p.
    pub(crate) fn frobenius(&self) -> Self {
        // SAFETY: see the head of `fp.rs`.
        unsafe { frobenius(self) }
    }

    /// The inverse; zero of zero.
    pub(crate) fn inverted(&self) -> Self {
        // SAFETY: see the head of `fp.rs`.
        unsafe { inverted(self) }
    }
}

/// A value that lines are multiplied into: it counts them, and shrinks its coefficients in time.
pub(crate) struct Accumulator {
    value: Fp12,
    lines: usize,
}

impl Accumulator {
    pub(crate) fn new(value: Fp12) -> Self {
        Self { value, lines: 0 }
    }

    /// The value, its coefficients below 2.1p.
    pub(crate) fn value(mut self) -> Fp12 {
        if self.lines > 0 {
            // SAFETY: see the head of `fp.rs`.
            unsafe { shrink(&mut self.value) };
        }
        self.value
    }

    /// Multiplies by 1 + (2a + 2b·v)·v^SHIFT·w, of a and b below one unit and 4p.
    #[inline(always)]
    pub(crate) fn times_line<const SHIFT: usize>(&mut self, a: &Fp2, b: &Fp2) {
        if self.lines == LINES_BETWEEN_SHRINKS {
            // SAFETY: see the head of `fp.rs`.
            unsafe { shrink(&mut self.value) };
            self.lines = 0;
        }
        self.lines += 1;
        // SAFETY: see the head of `fp.rs`.
        unsafe { times_line::<SHIFT>(&mut self.value, a, b) }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn conjugated(f: &Fp12) -> Fp12 {
    Fp12 { even: f.even, odd: f.odd.map(|c| c.negated().shrunk()) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn shrink(f: &mut Fp12) {
    for c in f.even.iter_mut().chain(&mut f.odd) {
        *c = c.shrunk();
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn times_line<const SHIFT: usize>(f: &mut Fp12, a: &Fp2, b: &Fp2) {
    // Factors at the points 0, 1, -1 and ∞ of v.
    let sum = a.plus(b);
    let difference = a.minus(b).carried();
    let by_odd = times_binomial(&f.odd, a, b, &sum, &difference);
    let by_even = times_binomial(&f.even, a, b, &sum, &difference);
    add_shifted::<SHIFT, 1>(&mut f.even, &by_odd);
    add_shifted::<SHIFT, 0>(&mut f.odd, &by_even);
}

/// The coefficients of (c0 + c1·v + c2·v²)·(2a + 2b·v), by four products.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn times_binomial(c: &Fp6, a: &Fp2, b: &Fp2, sum: &Fp2, difference: &Fp2) -> [Wide; 4] {
    let outer = c[0].plus(&c[2]);
    let at_one = Wide::product(&outer.plus(&c[1]).carried(), sum);
    let at_minus_one = Wide::product(&outer.subtract::<32, 1>(&c[1]).carried(), difference);
    let lowest = Wide::product(&c[0], a).doubled();
    let highest = Wide::product(&c[2], b).doubled();
    let first = at_one.minus(&at_minus_one).minus(&highest);
    let second = at_one.plus(&at_minus_one).minus(&lowest);
    [lowest, first, second, highest]
}

/// Adds coefficients times v^(SHIFT + MORE) to an element of Fp6.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn add_shifted<const SHIFT: usize, const MORE: usize>(to: &mut Fp6, c: &[Wide; 4]) {
    match SHIFT + MORE {
        0 => {
            to[0] = c[0].plus(&c[3].times_one_plus_i()).plus_reduced(&to[0]);
            to[1] = c[1].plus_reduced(&to[1]);
            to[2] = c[2].plus_reduced(&to[2]);
        }
        1 => {
            to[0] = c[2].times_one_plus_i().plus_reduced(&to[0]);
            to[1] = c[0].plus(&c[3].times_one_plus_i()).plus_reduced(&to[1]);
            to[2] = c[1].plus_reduced(&to[2]);
        }
        _ => {
            to[0] = c[1].times_one_plus_i().plus_reduced(&to[0]);
            to[1] = c[2].times_one_plus_i().plus_reduced(&to[1]);
            to[2] = c[0].plus(&c[3].times_one_plus_i()).plus_reduced(&to[2]);
        }
    }
}

/// The coefficients of a product in Fp6, by six products in Fp2 (Karatsuba), before their reduction.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn product6(a: &Fp6, b: &Fp6) -> [Wide; 3] {
    let v: [Wide; 3] = core::array::from_fn(|i| Wide::product(&a[i], &b[i]));
    let cross = |i: usize, j: usize| {
        let sums = Wide::product(&a[i].plus(&a[j]).carried(), &b[i].plus(&b[j]).carried());
        sums.minus(&v[i]).minus(&v[j])
    };
    [cross(1, 2).times_one_plus_i().plus(&v[0]), cross(0, 1).plus(&v[2].times_one_plus_i()), cross(0, 2).plus(&v[1])]
}

/// a·v before its reduction.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn times_v(a: &[Wide; 3]) -> [Wide; 3] {
    [a[2].times_one_plus_i(), a[0], a[1]]
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn sum6(a: &Fp6, b: &Fp6) -> Fp6 {
    core::array::from_fn(|i| a[i].plus(&b[i]).carried())
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn times(a: &Fp12, b: &Fp12) -> Fp12 {
    let v0 = product6(&a.even, &b.even);
    let v1 = product6(&a.odd, &b.odd);
    let both = product6(&sum6(&a.even, &a.odd), &sum6(&b.even, &b.odd));
    let shifted = times_v(&v1);
    Fp12 {
        even: core::array::from_fn(|i| v0[i].plus(&shifted[i]).reduced()),
        odd: core::array::from_fn(|i| both[i].minus(&v0[i]).minus(&v1[i]).reduced()),
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn squared(a: &Fp12) -> Fp12 {
    // (e + o·w)² = (e + o)(e + v·o) - e·o - v·e·o + 2·e·o·w
    let [o0, o1, o2] = a.odd;
    let shifted = [o2.times_one_plus_i().carried(), o0, o1];
    let cross = product6(&a.even, &a.odd);
    let both = product6(&sum6(&a.even, &a.odd), &sum6(&a.even, &shifted));
    let cross_shifted = times_v(&cross);
    Fp12 {
        even: core::array::from_fn(|i| both[i].minus(&cross[i]).minus(&cross_shifted[i]).reduced()),
        odd: core::array::from_fn(|i| cross[i].doubled().reduced()),
    }
}

/// (a + b·t)² with t² = 1 + i, as (a² + (1 + i)·b², 2ab).
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn square4(a: &Fp2, b: &Fp2) -> (Fp2, Fp2) {
    let (a2, b2) = (Wide::square(a), Wide::square(b));
    let both = Wide::square(&a.plus(b));
    (a2.plus(&b2.times_one_plus_i()).reduced(), both.minus(&a2).minus(&b2).reduced())
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn cyclotomic_squared(f: &Fp12) -> Fp12 {
    let ([e0, e1, e2], [o0, o1, o2]) = (&f.even, &f.odd);
    let (t0, t1) = square4(e0, o1);
    let (t2, t3) = square4(o0, e2);
    let (t4, t5) = square4(e1, o2);
    let t5 = t5.times_one_plus_i().shrunk();
    // 3t - 2c and 3t + 2c.
    let less = |t: &Fp2, c: &Fp2| t.minus(c).shrunk().doubled().plus(t).shrunk();
    let more = |t: &Fp2, c: &Fp2| t.plus(c).doubled().plus(t).carried().shrunk();
    Fp12 { even: [less(&t0, e0), less(&t2, e1), less(&t4, e2)], odd: [more(&t5, o0), more(&t1, o1), more(&t3, o2)] }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn frobenius(f: &Fp12) -> Fp12 {
    // The coefficient of w^i is conjugated and multiplied by (1 + i)^(i(p-1)/6).
    let of = |c: &Fp2, i: usize| c.conjugated().shrunk().times(&Fp2::constant(&FROBENIUS[i]));
    Fp12 {
        even: [f.even[0].conjugated().shrunk(), of(&f.even[1], 2), of(&f.even[2], 4)],
        odd: [of(&f.odd[0], 1), of(&f.odd[1], 3), of(&f.odd[2], 5)],
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn inverted(f: &Fp12) -> Fp12 {
    let reduced = |c: [Wide; 3]| -> Fp6 { core::array::from_fn(|i| c[i].reduced()) };
    let (even2, odd2) = (product6(&f.even, &f.even), product6(&f.odd, &f.odd));
    let shifted = times_v(&odd2);
    let norm: Fp6 = core::array::from_fn(|i| even2[i].minus(&shifted[i]).reduced());
    let inverse = inverted6(&norm);
    Fp12 {
        even: reduced(product6(&f.even, &inverse)),
        odd: reduced(product6(&f.odd, &inverse)).map(|c| c.negated().shrunk()),
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn inverted6(a: &Fp6) -> Fp6 {
    let [a0, a1, a2] = a;
    let t0 = Wide::square(a0).minus(&Wide::product(a1, a2).times_one_plus_i()).reduced();
    let t1 = Wide::square(a2).times_one_plus_i().minus(&Wide::product(a0, a1)).reduced();
    let t2 = Wide::square(a1).minus(&Wide::product(a0, a2)).reduced();
    let cross = Wide::product(a1, &t2).plus(&Wide::product(a2, &t1)).times_one_plus_i();
    let norm = cross.plus(&Wide::product(a0, &t0)).reduced();
    let inverse = norm.inverted();
    [t0.times(&inverse), t1.times(&inverse), t2.times(&inverse)]
}

/// (1 + i)^(i(p-1)/6), i = 0 … 5, in Montgomery form.
const FROBENIUS: [[Limbs; 2]; 6] = [
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
mod tests {
    use super::*;
    use crate::backend::{
        ifma::{
            fp2::tests::{elements2, load},
            lanes_or_skip,
        },
        portable::field::Field as _,
    };
    use alloc::vec::Vec;
    use blst::*;

    fn values() -> Vec<[blst_fp12; 8]> {
        let elements: Vec<_> = elements2().concat();
        let value = |i: usize| blst_fp12 {
            fp6: core::array::from_fn(|half| blst_fp6 {
                fp2: core::array::from_fn(|j| elements[(i * 5 + half * 17 + j * 29 + i / 7) % elements.len()]),
            }),
        };
        (0..30).map(|v| core::array::from_fn(|lane| value(8 * v + lane))).collect()
    }

    fn lanes(values: &[blst_fp12; 8]) -> Fp12 {
        Fp12::load(&core::array::from_fn(|lane| &values[lane]))
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
        if !lanes_or_skip() {
            return;
        }
        let vectors = values();
        for (i, a) in vectors.iter().enumerate() {
            let b = &vectors[(i + 11) % vectors.len()];
            let (x, y) = (lanes(a), lanes(b));
            assert_eq!(x.store(), *a);
            let products: [_; 8] =
                core::array::from_fn(|lane| crate::backend::portable::pairing::multiply(&a[lane], &b[lane]));
            assert_eq!(x.times(&y).store(), products);
            // SAFETY: see above.
            assert_eq!(x.squared().store(), each(a, |a, out| unsafe { blst_fp12_sqr(out, a) }));
            // SAFETY: see above.
            assert_eq!(x.inverted().store(), each(a, |a, out| unsafe { blst_fp12_inverse(out, a) }));
            // SAFETY: see above.
            assert_eq!(x.frobenius().store(), each(a, |a, out| unsafe { blst_fp12_frobenius_map(out, a, 1) }));
            let conjugate = each(a, |a, out| *out = crate::backend::portable::pairing::conjugate(a));
            assert_eq!(x.conjugated().store(), conjugate);
            // Into the cyclotomic subgroup, by the easy part of the final exponentiation.
            let unitary = x.conjugated().times(&x.inverted());
            let cyclotomic = unitary.frobenius().frobenius().times(&unitary);
            assert_eq!(cyclotomic.cyclotomic_squared().store(), cyclotomic.squared().store());
        }
    }

    /// Lines one after another, past several shrinks, are products with 1 + (2a + 2b·v)·v^SHIFT·w.
    #[test]
    fn lines_are_products() {
        if !lanes_or_skip() {
            return;
        }
        lines::<0>();
        lines::<1>();
    }

    fn lines<const SHIFT: usize>() {
        let elements = elements2();
        let mut lines = Accumulator::new(lanes(&values()[0]));
        let mut expected = values()[0];
        for n in 0..3 * LINES_BETWEEN_SHRINKS + 1 {
            let (a, b) = (&elements[n % elements.len()], &elements[(3 * n + 1) % elements.len()]);
            lines.times_line::<SHIFT>(&load(a), &load(b));
            for lane in 0..8 {
                let mut line = blst_fp12::default();
                line.fp6[1].fp2[SHIFT] = a[lane].doubled();
                line.fp6[1].fp2[SHIFT + 1] = b[lane].doubled();
                expected[lane] = crate::backend::portable::pairing::multiply(&expected[lane], &line);
            }
        }
        assert_eq!(lines.value().store(), expected);
    }
}
