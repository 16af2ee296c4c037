//! Eight elements of Fp12 = Fp6(w), w² = v, and Fp6 = Fp2(v), v³ = ξ.
//!
//! Products of coefficients are summed before they are reduced: a multiplication needs six reductions instead of
//! eighteen.

use super::{
    compressed::{POWERS, first_coefficients, powers},
    field::{Field, LANES, Parameters, PrimeField, invert_all},
    fp2::Fp2,
    instructions::in_lanes,
    wide::{Wide, sum},
};
use crate::pairing::sealed::Target;

/// c0 + c1·v + c2·v² in each lane.
pub(crate) type Fp6<P> = [Fp2<P>; 3];

pub(crate) use super::field::Extension;

/// Elements of Fp12 outside the lanes.
type Value<P> = <<P as PrimeField>::Curve as Target>::Value;

/// even + odd·w in each lane.
#[derive(Clone, Copy)]
pub(crate) struct Fp12<P> {
    pub(crate) even: Fp6<P>,
    pub(crate) odd: Fp6<P>,
}

/// A sum of products of Fp2 over the field `P`: `each!(a, + b, - c)`.
macro_rules! each {
    ($first:expr $(, $sign:tt $term:expr)*) => {{
        let first: &Wide<P> = &$first;
        Wide::<P> {
            c0: sum!(first.c0 $(, $sign $term.c0)*),
            c1: sum!(first.c1 $(, $sign $term.c1)*),
        }
    }};
}
pub(super) use each;

impl<P: PrimeField> Fp12<P> {
    /// The token that the value was made from.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> P::Lanes {
        self.even[0].lanes()
    }

    pub(crate) fn one(lanes: P::Lanes) -> Self {
        let zero = Fp2::zero(lanes);
        Self { even: [Fp2::one(lanes), zero, zero], odd: [zero; 3] }
    }

    pub(crate) fn load(lanes: P::Lanes, values: &[&Value<P>; LANES]) -> Self {
        let part = |half: usize| {
            core::array::from_fn(|i| Fp2::load(lanes, &values.map(|value| P::Curve::coefficient(value, 2 * i + half))))
        };
        Self { even: part(0), odd: part(1) }
    }

    pub(crate) fn store(&self) -> [Value<P>; LANES] {
        let parts = [&self.even, &self.odd].map(|half| half.map(|c| c.store()));
        core::array::from_fn(|lane| {
            P::Curve::of_coefficients(core::array::from_fn(|power| parts[power % 2][power / 2][lane]))
        })
    }

    /// The square. Coefficients are those of products, before and after.
    pub(crate) fn squared(&self) -> Self {
        squared(self.lanes(), self)
    }
}

/// An element of the cyclotomic subgroup raised to the difference of two numbers without a common bit, of which the first is larger: a
/// square for each bit and a product for each that is set. The inverse costs nothing.
pub(super) fn raised_by_squares<E: Extension>(f: &E, [plus, minus]: [u64; 2]) -> E {
    let mut power = *f;
    for bit in (0..plus.ilog2()).rev() {
        power = power.cyclotomic_squared();
        if plus >> bit & 1 == 1 {
            power = power.times(f);
        } else if minus >> bit & 1 == 1 {
            power = power.times(&f.conjugated());
        }
    }
    power
}

impl<P: PrimeField> Extension for Fp12<P> {
    fn conjugated(&self) -> Self {
        conjugated(self.lanes(), self)
    }

    fn times(&self, other: &Self) -> Self {
        times(self.lanes(), self, other)
    }

    fn cyclotomic_squared(&self) -> Self {
        cyclotomic_squared(self.lanes(), self)
    }

    fn raised_to_parameter(&self) -> Self {
        if P::Curve::IS_SPARSE
            && let Some(power) = raised_by_compressed_squares(self.lanes(), self)
        {
            return power;
        }
        raised_by_squares(self, P::Curve::PARAMETER)
    }

    fn frobenius(&self) -> Self {
        frobenius(self.lanes(), self)
    }

    fn inverted(&self) -> Self {
        inverted(self.lanes(), self)
    }
}

/// A value that lines are multiplied into. It counts them and shrinks its coefficients in time.
pub(crate) struct Accumulator<P> {
    value: Fp12<P>,
    lines: usize,
}

impl<P: PrimeField> Accumulator<P> {
    pub(crate) fn new(value: Fp12<P>) -> Self {
        Self { value, lines: 0 }
    }

    /// The value with coefficients below 2.1p.
    pub(crate) fn value(&mut self) -> &mut Fp12<P> {
        if self.lines > 0 && P::LINES_BETWEEN_SHRINKS.is_some() {
            shrink(self.value.lanes(), &mut self.value);
            self.lines = 0;
        }
        &mut self.value
    }

    /// Multiplies by 1 + (2a + 2b·v)·v^SHIFT·w, where a and b have limbs below one unit and values below 4p.
    #[inline(always)]
    pub(crate) fn times_line<const SHIFT: usize>(&mut self, a: &Fp2<P>, b: &Fp2<P>) {
        if P::LINES_BETWEEN_SHRINKS == Some(self.lines) {
            shrink(self.value.lanes(), &mut self.value);
            self.lines = 0;
        }
        self.lines += 1;
        times_line::<_, SHIFT>(a.lanes(), &mut self.value, a, b);
    }

    /// Multiplies by `scale` + (2a + 2b·v)·v^SHIFT·w, where all three have limbs below one unit and values below 4p.
    #[inline(always)]
    pub(crate) fn times_scaled_line<const SHIFT: usize>(&mut self, scale: &Fp2<P>, a: &Fp2<P>, b: &Fp2<P>) {
        times_scaled_line::<_, SHIFT>(a.lanes(), self.value(), scale, a, b);
    }
}

in_lanes! {
    fn conjugated<P: PrimeField>(lanes: P::Lanes, f: &Fp12<P>) -> Fp12<P> {
        Fp12 { even: f.even, odd: f.odd.map(|c| c.negated().shrunk()) }
    }

    fn shrink<P: PrimeField>(lanes: P::Lanes, f: &mut Fp12<P>) {
        for c in f.even.iter_mut().chain(&mut f.odd) {
            *c = c.shrunk();
        }
    }

    #[inline(never)]
    fn times_line<P: PrimeField>[SHIFT: usize](lanes: P::Lanes, f: &mut Fp12<P>, a: &Fp2<P>, b: &Fp2<P>) {
        add_products::<_, SHIFT>(f, a, b, |products, c| products.reduce_onto(c));
    }

    #[inline(never)]
    fn times_scaled_line<P: PrimeField>[SHIFT: usize](lanes: P::Lanes, f: &mut Fp12<P>, scale: &Fp2<P>, a: &Fp2<P>, b: &Fp2<P>) {
        add_products::<_, SHIFT>(f, a, b, |products, c| {
            *c = each!(*products, + Wide::product(c, scale)).reduced();
        });
    }

    #[inline(never)]
    fn times<P: PrimeField>(lanes: P::Lanes, a: &Fp12<P>, b: &Fp12<P>) -> Fp12<P> {
        let v0 = product6(lanes, &a.even, &b.even);
        let v1 = product6(lanes, &a.odd, &b.odd);
        let both = product6(lanes, &sum6(&a.even, &a.odd), &sum6(&b.even, &b.odd));
        Fp12 { even: plus_times_v(&v0, &v1), odd: rest(&both, &v0, &v1) }
    }

    #[inline(never)]
    fn squared<P: PrimeField>(lanes: P::Lanes, a: &Fp12<P>) -> Fp12<P> {
        // (e + o·w)² = (e + o)(e + v·o) - e·o - v·e·o + 2·e·o·w
        let [o0, o1, o2] = a.odd;
        let shifted = [o2.times_xi().carried(), o0, o1];
        let cross = product6(lanes, &a.even, &a.odd);
        let both = product6(lanes, &sum6(&a.even, &a.odd), &sum6(&a.even, &shifted));
        let cross_shifted = [times_xi(&cross[2]), cross[0], cross[1]];
        let twice = |c: &Wide<P>| each!(c, + c).reduced();
        Fp12 { even: rest(&both, &cross, &cross_shifted), odd: [twice(&cross[0]), twice(&cross[1]), twice(&cross[2])] }
    }

    #[inline(never)]
    fn cyclotomic_squared<P: PrimeField>(lanes: P::Lanes, f: &Fp12<P>) -> Fp12<P> {
        let ([e0, e1, e2], [o0, o1, o2]) = (&f.even, &f.odd);
        let [t0, t1] = square4(lanes, e0, o1);
        let [t2, t3] = square4(lanes, o0, e2);
        let [t4, t5] = square4(lanes, e1, o2);
        Fp12 {
            even: [thrice_less(&t0, e0), thrice_less(&t2, e1), thrice_less(&t4, e2)],
            odd: [thrice_more(&times_xi(&t5), o0), thrice_more(&t1, o1), thrice_more(&t3, o2)],
        }
    }

    /// Squares an element of the cyclotomic subgroup so many times, but for the coefficients of 1 and w³ ([`compressed`]
    /// has the formulas). The others are those of w, w⁴, w² and w⁵.
    ///
    /// [`compressed`]: super::compressed
    #[inline(never)]
    pub(super) fn compressed_squares<P: PrimeField>(lanes: P::Lanes, f: &mut [Fp2<P>; 4], times: u32) {
        for _ in 0..times {
            let [a1, b1, a2, b2] = &*f;
            let [t2, t3] = square4(lanes, a1, b1);
            let [t4, t5] = square4(lanes, a2, b2);
            *f = [thrice_more(&times_xi(&t5), a1), thrice_less(&t4, b1), thrice_less(&t2, a2), thrice_more(&t3, b2)];
        }
    }

    /// f raised to the parameter, from powers f^(2^k) of which four coefficients were squared. `None` if the others do not
    /// follow from these, as for the value one.
    fn raised_by_compressed_squares<P: PrimeField>(lanes: P::Lanes, f: &Fp12<P>) -> Option<Fp12<P>> {
        let known = [f.odd[0], f.even[2], f.even[1], f.odd[2]];
        let powers = powers(known, |f, times| compressed_squares(f[0].lanes(), f, times));
        let mut inverses = [f.even[0]; POWERS];
        for (inverse, [a1, ..]) in inverses.iter_mut().zip(&powers) {
            if a1.is_zero() != 0 {
                return None;
            }
            *inverse = a1.doubled().doubled().shrunk();
        }
        invert_all(&mut inverses);
        let mut product: Option<Fp12<P>> = None;
        for (known, inverse) in powers.iter().zip(&inverses) {
            let ([a0, b0], [a1, b1, a2, b2]) = (first_coefficients(known, inverse), *known);
            let power = Fp12 { even: [a0, a2, b1], odd: [a1, b0, b2] };
            product = Some(product.map_or(power, |product| product.times(&power)));
        }
        product
    }

    fn frobenius<P: PrimeField>(lanes: P::Lanes, f: &Fp12<P>) -> Fp12<P> {
        // The coefficient of w^i is conjugated and multiplied by ξ^(i(p-1)/6).
        let of = |c: &Fp2<P>, i: usize| c.conjugated().shrunk().times(&Fp2::constant(lanes, &P::Curve::FROBENIUS[i]));
        Fp12 {
            even: [f.even[0].conjugated().shrunk(), of(&f.even[1], 2), of(&f.even[2], 4)],
            odd: [of(&f.odd[0], 1), of(&f.odd[1], 3), of(&f.odd[2], 5)],
        }
    }

    fn inverted<P: PrimeField>(lanes: P::Lanes, f: &Fp12<P>) -> Fp12<P> {
        let (even2, odd2) = (product6(lanes, &f.even, &f.even), product6(lanes, &f.odd, &f.odd));
        let norm = [
            each!(even2[0], - times_xi(&odd2[2])).reduced(),
            each!(even2[1], - odd2[0]).reduced(),
            each!(even2[2], - odd2[1]).reduced(),
        ];
        let inverse = inverted6(lanes, &norm);
        Fp12 {
            even: product6(lanes, &f.even, &inverse).map(|c| c.reduced()),
            odd: product6(lanes, &f.odd, &inverse).map(|c| c.reduced().negated().shrunk()),
        }
    }
}

/// Adds the product of f and (2a + 2b·v)·v^SHIFT·w to f, one coefficient at a time. `add` adds a coefficient.
#[inline(always)]
fn add_products<P: PrimeField, const SHIFT: usize>(
    f: &mut Fp12<P>,
    a: &Fp2<P>,
    b: &Fp2<P>,
    add: impl Fn(&Wide<P>, &mut Fp2<P>),
) {
    let line = Line { twice_a: a.doubled(), twice_b: b.doubled(), sum: a.plus(b), difference: a.minus(b).carried() };
    let by_odd = times_binomial(a.lanes(), &f.odd, &line);
    let by_even = times_binomial(a.lanes(), &f.even, &line);
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
struct Line<P> {
    twice_a: Fp2<P>,
    twice_b: Fp2<P>,
    sum: Fp2<P>,
    difference: Fp2<P>,
}

/// The values of (c0 + c1·v + c2·v²)·(2a + 2b·v) at 0 and ∞, and half its values at 1 and -1. The four coefficients
/// follow from them.
struct Values<P: PrimeField> {
    at_zero: Wide<P>,
    at_one: Wide<P>,
    at_minus_one: Wide<P>,
    at_infinity: Wide<P>,
}

in_lanes! {
    #[inline]
    fn times_binomial<P: PrimeField>(lanes: P::Lanes, c: &Fp6<P>, line: &Line<P>) -> Values<P> {
        let outer = c[0].plus(&c[2]);
        Values {
            at_zero: Wide::product(&c[0], &line.twice_a),
            at_one: Wide::product(&outer.plus(&c[1]).carried(), &line.sum),
            at_minus_one: Wide::product(&outer.subtract::<32, 1>(&c[1]).carried(), &line.difference),
            at_infinity: Wide::product(&c[2], &line.twice_b),
        }
    }
}

/// The coefficient of v.
#[inline(always)]
fn first<P: PrimeField>(w: &Values<P>) -> Wide<P> {
    each!(w.at_one, -w.at_minus_one, -w.at_infinity)
}

/// The coefficient of v².
#[inline(always)]
fn second<P: PrimeField>(w: &Values<P>) -> Wide<P> {
    each!(w.at_one, + w.at_minus_one, - w.at_zero)
}

/// The coefficient of 1 and ξ times that of v³.
#[inline(always)]
fn ends<P: PrimeField>(w: &Values<P>) -> Wide<P> {
    plus_times_xi(&w.at_zero, &w.at_infinity)
}

/// ξ·a
#[inline(always)]
fn times_xi<P: PrimeField>(a: &Wide<P>) -> Wide<P> {
    P::Curve::wide_times_xi(a)
}

/// a + ξ·b
#[inline(always)]
fn plus_times_xi<P: PrimeField>(a: &Wide<P>, b: &Wide<P>) -> Wide<P> {
    P::Curve::plus_times_xi(a, b)
}

in_lanes! {
    /// The coefficients of a product in Fp6, by six products in Fp2 (Karatsuba), before their reduction.
    #[inline(never)]
    fn product6<P: PrimeField>(lanes: P::Lanes, a: &Fp6<P>, b: &Fp6<P>) -> [Wide<P>; 3] {
        let (v0, v1, v2) = (Wide::product(&a[0], &b[0]), Wide::product(&a[1], &b[1]), Wide::product(&a[2], &b[2]));
        let c01 = cross(a, b, 0, 1);
        let c02 = cross(a, b, 0, 2);
        let c12 = cross(a, b, 1, 2);
        let upper = each!(c12, - v1, - v2);
        let middle = each!(c01, - v0, - v1);
        [
            plus_times_xi(&v0, &upper),
            plus_times_xi(&middle, &v2),
            each!(c02, - v0, - v2, + v1),
        ]
    }
}

/// (aᵢ + aⱼ)·(bᵢ + bⱼ)
#[inline(always)]
fn cross<P: PrimeField>(a: &Fp6<P>, b: &Fp6<P>, i: usize, j: usize) -> Wide<P> {
    Wide::product(&a[i].sum_factor(&a[j]), &b[i].sum_factor(&b[j]))
}

#[inline(always)]
fn sum6<P: PrimeField>(a: &Fp6<P>, b: &Fp6<P>) -> Fp6<P> {
    [a[0].plus(&b[0]).carried(), a[1].plus(&b[1]).carried(), a[2].plus(&b[2]).carried()]
}

/// a + b·v, reduced.
#[inline(always)]
fn plus_times_v<P: PrimeField>(a: &[Wide<P>; 3], b: &[Wide<P>; 3]) -> Fp6<P> {
    [plus_times_xi(&a[0], &b[2]).reduced(), each!(a[1], + b[0]).reduced(), each!(a[2], + b[1]).reduced()]
}

/// a - b - c, reduced.
#[inline(always)]
fn rest<P: PrimeField>(a: &[Wide<P>; 3], b: &[Wide<P>; 3], c: &[Wide<P>; 3]) -> Fp6<P> {
    [each!(a[0], -b[0], -c[0]).reduced(), each!(a[1], -b[1], -c[1]).reduced(), each!(a[2], -b[2], -c[2]).reduced()]
}

in_lanes! {
    /// (a + b·t)² with t² = ξ, before its reduction: a² + ξ·b² and 2ab.
    #[inline]
    fn square4<P: PrimeField>(lanes: P::Lanes, a: &Fp2<P>, b: &Fp2<P>) -> [Wide<P>; 2] {
        let (a2, b2) = (Wide::square(a), Wide::square(b));
        let both = Wide::square(&a.plus(b));
        [plus_times_xi(&a2, &b2), each!(both, - a2, - b2)]
    }
}

/// 3t - 2c
#[inline(always)]
fn thrice_less<P: PrimeField>(t: &Wide<P>, c: &Fp2<P>) -> Fp2<P> {
    let mut sum = Fp2::zero(c.lanes()).minus_sum(&c.doubled());
    each!(t, + t, + t).reduce_onto(&mut sum);
    if P::LINES_BETWEEN_SHRINKS.is_some() { sum.shrunk() } else { sum }
}

/// 3t + 2c
#[inline(always)]
fn thrice_more<P: PrimeField>(t: &Wide<P>, c: &Fp2<P>) -> Fp2<P> {
    let mut sum = c.doubled();
    each!(t, + t, + t).reduce_onto(&mut sum);
    if P::LINES_BETWEEN_SHRINKS.is_some() { sum.shrunk() } else { sum }
}

in_lanes! {
    pub(super) fn inverted6<P: PrimeField>(lanes: P::Lanes, a: &Fp6<P>) -> Fp6<P> {
        let [a0, a1, a2] = a;
        let t0 = each!(Wide::square(a0), - times_xi(&Wide::product(a1, a2))).reduced();
        let t1 = each!(times_xi(&Wide::square(a2)), - Wide::product(a0, a1)).reduced();
        let t2 = each!(Wide::square(a1), - Wide::product(a0, a2)).reduced();
        let cross = each!(Wide::product(a1, &t2), + Wide::product(a2, &t1));
        let inverse = plus_times_xi(&Wide::product(a0, &t0), &cross).reduced().inverted();
        [t0.times(&inverse), t1.times(&inverse), t2.times(&inverse)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arithmetic::{
            curve::PARAMETER,
            field::Field as _,
            fp12::{ONE, conjugate, multiply},
        },
        backend::lanes::{
            field::Lanes,
            tests::{cyclotomic, elements2, in_each_kind, load2, power, root, values, without_a1},
        },
    };
    use alloc::vec::Vec;
    use blst::*;

    fn load_values<L: Lanes<Curve = crate::pairing::Bls12381>>(lanes: L, values: &[blst_fp12; 8]) -> Fp12<L::Fp> {
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
    in_each_kind! {
        fn agrees_with_blst(lanes: L) {
            let vectors = values();
            for (i, a) in vectors.iter().enumerate() {
                let b = &vectors[(i + 11) % vectors.len()];
                let (x, y) = (load_values(lanes, a), load_values(lanes, b));
                assert_eq!(x.store(), *a);
                let products: [_; 8] = core::array::from_fn(|lane| multiply(&a[lane], &b[lane]));
                assert_eq!(x.times(&y).store(), products);
                // SAFETY: see above.
                assert_eq!(x.squared().store(), each(a, |a, out| unsafe { blst_fp12_sqr(out, a) }));
                // SAFETY: see above.
                assert_eq!(x.inverted().store(), each(a, |a, out| unsafe { blst_fp12_inverse(out, a) }));
                // SAFETY: see above.
                assert_eq!(x.frobenius().store(), each(a, |a, out| unsafe { blst_fp12_frobenius_map(out, a, 1) }));
                let conjugate = each(a, |a, out| *out = conjugate(a));
                assert_eq!(x.conjugated().store(), conjugate);
                // Into the cyclotomic subgroup, by the easy part of the final exponentiation.
                let unitary = x.conjugated().times(&x.inverted());
                let cyclotomic = unitary.frobenius().frobenius().times(&unitary);
                assert_eq!(cyclotomic.cyclotomic_squared().store(), cyclotomic.squared().store());
            }
        }
    }

    in_each_kind! {
        /// By compressed squares. A lane in which a₁ is zero in a power, as in the value one, needs others.
        fn powers_by_the_parameter(lanes: L) {
            let mut values: Vec<_> = values().into_iter().step_by(9).map(|v| v.map(|a| cyclotomic(&a))).collect();
            let a1_of_last_power = (0..63).fold(without_a1(), |f, _| root(&f));
            let [last, ..] = values[..] else { unreachable!("there are values") };
            for special in [ONE, blst_fp12::default(), a1_of_last_power, without_a1()] {
                for lane in 0..8 {
                    values.push(last);
                    let n = values.len();
                    values[n - 1][lane] = special;
                }
            }
            for (i, f) in values.iter().enumerate() {
                let expected = f.map(|f| power(&f, &[PARAMETER]));
                let f = load_values(lanes, f);
                assert_eq!(f.raised_to_parameter().store(), expected);
                assert_eq!(raised_by_squares(&f, [PARAMETER, 0]).store(), expected);
                let compressed = raised_by_compressed_squares(lanes, &f).map(|power| power.store());
                // a₁ of the last element is zero, but not in a power.
                let is_hidden = (values.len() - 32..values.len() - 8).contains(&i);
                assert_eq!(compressed, (!is_hidden).then_some(expected), "values {i}");
            }
        }
    }

    in_each_kind! {
        /// Lines that are multiplied in one after another, past several shrinks, are products with 1 + (2a +
        /// 2b·v)·v^SHIFT·w.
        fn lines_are_products(lanes: L) {
            lines::<L, 0>(lanes);
            lines::<L, 1>(lanes);
        }
    }

    fn lines<L: Lanes<Curve = crate::pairing::Bls12381>, const SHIFT: usize>(lanes: L) {
        let elements = elements2();
        let mut lines = Accumulator::new(load_values(lanes, &values()[0]));
        let mut expected = values()[0];
        for n in 0..3 * L::Fp::LINES_BETWEEN_SHRINKS.unwrap_or(8) + 1 {
            let (a, b) = (&elements[n % elements.len()], &elements[(3 * n + 1) % elements.len()]);
            lines.times_line::<SHIFT>(&load2(lanes, a), &load2(lanes, b));
            for lane in 0..8 {
                let mut line = blst_fp12::default();
                line.fp6[1].fp2[SHIFT] = a[lane].doubled();
                line.fp6[1].fp2[SHIFT + 1] = b[lane].doubled();
                expected[lane] = multiply(&expected[lane], &line);
            }
        }
        assert_eq!(lines.value().store(), expected);
        for n in 0..20 {
            let [a, b, scale] = [1, 3, 7].map(|stride| &elements[(stride * n + 1) % elements.len()]);
            lines.times_scaled_line::<SHIFT>(&load2(lanes, scale), &load2(lanes, a), &load2(lanes, b));
            for lane in 0..8 {
                let mut line = blst_fp12::default();
                line.fp6[0].fp2[0] = scale[lane];
                line.fp6[1].fp2[SHIFT] = a[lane].doubled();
                line.fp6[1].fp2[SHIFT + 1] = b[lane].doubled();
                expected[lane] = multiply(&expected[lane], &line);
            }
            assert_eq!(lines.value().store(), expected);
            lines.times_line::<SHIFT>(&Fp2::zero(lanes), &Fp2::zero(lanes));
        }
    }
}
