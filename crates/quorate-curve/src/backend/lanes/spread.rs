//! One element of Fp12 with its coefficients in six lanes, for when there are not eight elements to fill eight lanes.
//!
//! The element is (a₀ + b₀·s) + (a₁ + b₁·s)·w + (a₂ + b₂·s)·w² with s = w³ and s² = w⁶ = ξ: three elements of Fp4 =
//! Fp2(s), on which both products work. The lanes hold a₀, b₀, a₁, b₁, a₂, b₂ and twice zero. An operation reads a zero
//! where it needs no coefficient.

use super::{
    compressed::{self, Layout, POWERS},
    constant::Constant,
    field::{Extension, Field, LANES, Lanes, Mask, Parameters, PrimeField},
    fp2::Fp2,
    fp12::{each, raised_by_squares},
    instructions::in_lanes,
    wide::{Wide, sum},
};
use crate::pairing::sealed::Target;

/// An element of Fp12. Coefficients have limbs below one unit and values below 2.1p.
#[derive(Clone, Copy)]
pub(crate) struct Spread<P>(pub(super) Fp2<P>);

/// The power of w of each lane's coefficient.
const POWER_OF_W: [usize; 6] = [0, 3, 1, 4, 2, 5];

/// The lane of the coefficient of each power of w.
const LANE_OF_POWER: [usize; 6] = [0, 2, 4, 1, 3, 5];

/// A lane of zeros.
const NONE: i64 = 6;

/// The lanes from which six coefficients come. The last two lanes take zeros.
#[inline(always)]
const fn six([a, b, c, d, e, f]: [i64; 6]) -> [i64; LANES] {
    [a, b, c, d, e, f, NONE, NONE]
}

impl<P: PrimeField> Spread<P> {
    pub(crate) fn load(lanes: P::Lanes, value: &<P::Curve as Target>::Value) -> Self {
        let zero = <P::Curve as Parameters>::Element2::default();
        let mut coefficients = [&zero; LANES];
        for (coefficient, power) in coefficients.iter_mut().zip(POWER_OF_W) {
            *coefficient = P::Curve::coefficient(value, power);
        }
        Self(Fp2::load(lanes, &coefficients))
    }

    pub(crate) fn store(&self) -> <P::Curve as Target>::Value {
        let coefficients = self.0.store();
        P::Curve::of_coefficients(core::array::from_fn(|power| coefficients[LANE_OF_POWER[power]]))
    }
}

impl<P: PrimeField> Spread<P> {
    pub(crate) fn one(lanes: P::Lanes) -> Self {
        Self(Fp2::one(lanes).or(1, &Fp2::zero(lanes)))
    }

    /// 21 products in Fp2, four in each lane, of which the sums are reduced once.
    pub(crate) fn squared(&self) -> Self {
        squared(self.0.lanes(), self)
    }

    /// The product with the line of a pair. 18 products in Fp2, three in each lane, of which the sums are reduced once.
    pub(crate) fn times_line(&self, lines: &ScaledLines<P>, pair: usize) -> Self {
        times_line(self.0.lanes(), self, lines, pair as i64)
    }
}

/// Lines `scale` + (2a + 2b·v)·w, times v if the twist multiplies by ξ. The three have limbs below one unit and values below 4p.
pub(crate) struct ScaledLines<P> {
    /// scale, a and b.
    pub(crate) coefficients: [Fp2<P>; 3],
    /// The lane of each for the first pair. The next lanes have those of the next pairs.
    pub(crate) lanes: [i64; 3],
}

/// The lanes from which the products take their first factors, and those of their second factors: for the coefficient of each w^k, the
/// coefficients of w^i and w^(k - i). The first is that of ξ·w^i, eight lanes further, where i > k.
const fn factors_of_square() -> [[[i64; LANES]; 2]; 4] {
    // i for each k. Where k is even, the first two products are squares, and one is left over.
    const FIRST: [[usize; 6]; 4] = [[0, 0, 1, 0, 2, 0], [3, 2, 4, 1, 5, 1], [1, 3, 0, 4, 0, 2], [2, 6, 3, 6, 1, 6]];
    let mut out = [[[NONE; LANES]; 2]; 4];
    let mut product = 0;
    while product < 4 {
        let mut lane = 0;
        while lane < 6 {
            let (k, i) = (POWER_OF_W[lane], FIRST[product][POWER_OF_W[lane]]);
            if i < 6 {
                let j = (k + 6 - i) % 6;
                let turn = if i + j >= 6 { LANES as i64 } else { 0 };
                out[product] = with(out[product], lane, [LANE_OF_POWER[i] as i64 + turn, LANE_OF_POWER[j] as i64]);
            }
            lane += 1;
        }
        product += 1;
    }
    out
}

const fn with(mut lanes: [[i64; LANES]; 2], lane: usize, [first, second]: [i64; 2]) -> [[i64; LANES]; 2] {
    lanes[0][lane] = first;
    lanes[1][lane] = second;
    lanes
}

/// The lanes of the coefficients of w^(k - d) for each w^k, and of ξ·w^(k - d + 6), eight lanes further, where d > k.
const fn shifted(d: usize) -> [i64; LANES] {
    let mut out = [NONE; LANES];
    let mut lane = 0;
    while lane < 6 {
        let k = POWER_OF_W[lane];
        out[lane] = if k < d { (LANE_OF_POWER[k + 6 - d] + LANES) as i64 } else { LANE_OF_POWER[k - d] as i64 };
        lane += 1;
    }
    out
}

impl<P: PrimeField> Extension for Spread<P> {
    fn conjugated(&self) -> Self {
        conjugated(self.0.lanes(), self)
    }

    /// Eighteen products in Fp2, three in each lane.
    fn times(&self, other: &Self) -> Self {
        times(self.0.lanes(), self, other)
    }

    /// Six products in Fp2, one in each lane.
    fn cyclotomic_squared(&self) -> Self {
        cyclotomic_squared(self.0.lanes(), self)
    }

    fn raised_to_parameter(&self) -> Self {
        if P::Curve::IS_SPARSE
            && <P::Lanes as Lanes>::THRESHOLDS.compressed
            && let Some(power) = raised_by_compressed_squares(self)
        {
            return power;
        }
        raised_by_squares(self, P::Curve::PARAMETER)
    }

    fn frobenius(&self) -> Self {
        frobenius(self.0.lanes(), self)
    }

    /// The portable field inverts, because a single inversion has no work for lanes.
    fn inverted(&self) -> Self {
        Self::load(self.0.lanes(), &P::Curve::inverse(&self.store()))
    }
}

/// f raised to the parameter, from powers f^(2^k) of which four coefficients were squared. `None` if the others do not follow
/// from these, as for the value one.
fn raised_by_compressed_squares<P: PrimeField>(f: &Spread<P>) -> Option<Spread<P>> {
    let lanes = f.0.lanes();
    let powers = compressed::powers_of_one::<P>(lanes, &compressed_rows(lanes, f));
    let [a0, b0] = compressed::restored::<P>(lanes, &powers)?;
    let mut product = of_rows(lanes, &a0[0], &b0[0], &powers[0]);
    for k in 1..POWERS {
        product = product.times(&of_rows(lanes, &a0[k], &b0[k], &powers[k]));
    }
    Some(product)
}

in_lanes! {
    /// The coefficients without a₀ and b₀.
    fn compressed_rows<P: PrimeField>(lanes: P::Lanes, f: &Spread<P>) -> compressed::Rows<P> {
        let [_, _, a1, b1, a2, b2, _, _] = f.0.shrunk().scatter();
        [a1, b1, a2, b2]
    }

    fn of_rows<P: PrimeField>(
        lanes: P::Lanes,
        a0: &<Fp2<P> as Field>::Row,
        b0: &<Fp2<P> as Field>::Row,
        rest: &compressed::Rows<P>,
    ) -> Spread<P> {
        let ([a1, b1, a2, b2], zero) = (rest, &Fp2::<P>::ZERO_ROW);
        Spread(Fp2::gather(lanes, &[a0, b0, a1, b1, a2, b2, zero, zero]))
    }
}

/// The places of six products in Fp4, of which Karatsuba's method makes one in Fp12 = Fp4(w): those of the coefficients
/// of 1, w and w², and those of sums of two of them.
const P0: i64 = 0;
const P1: i64 = 1;
const P2: i64 = 2;
const P01: i64 = 3;
const P12: i64 = 4;
const P02: i64 = 5;

/// Six factors a + b·s in Fp4.
struct Factors<P> {
    a: Fp2<P>,
    b: Fp2<P>,
    sum: Fp2<P>,
}

#[inline(always)]
fn factors<P: PrimeField>(f: &Spread<P>) -> Factors<P> {
    let f = &f.0;
    let a = f.permuted(six([0, 2, 4, 0, 2, 0])).plus(&f.permuted(six([NONE, NONE, NONE, 2, 4, 4])));
    let b = f.permuted(six([1, 3, 5, 1, 3, 1])).plus(&f.permuted(six([NONE, NONE, NONE, 3, 5, 5])));
    Factors { sum: a.plus(&b).carried(), a, b }
}

in_lanes! {
    fn conjugated<P: PrimeField>(lanes: P::Lanes, f: &Spread<P>) -> Spread<P> {
        const ODD_POWERS: Mask = 0b10_0110;
        Spread(f.0.negated().shrunk().or(ODD_POWERS, &f.0))
    }

    #[inline(never)]
    fn cyclotomic_squared<P: PrimeField>(lanes: P::Lanes, f: &Spread<P>) -> Spread<P> {
        const LAYOUT: Layout = Layout {
            of_b: 0b10_1010,
            other: six([1, 0, 3, 2, 5, 4]),
            a: six([0, 0, 4, 4, 2, 2]),
            b: six([1, NONE, NONE, 5, 3, NONE]),
            less: 0b01_1001,
            times_xi: 0b00_0100,
        };
        Spread(compressed::squared(&f.0, LAYOUT))
    }

    #[inline(never)]
    fn squared<P: PrimeField>(lanes: P::Lanes, f: &Spread<P>) -> Spread<P> {
        const FACTORS: [[[i64; LANES]; 2]; 4] = factors_of_square();
        /// The lanes of w, w³ and w⁵, whose first two products count twice like all others that are no squares.
        const ODD_POWERS: Mask = 0b10_0110;
        let f = &f.0;
        let xi = f.times_xi().carried();
        let first = |product: usize| f.gathered(&xi, FACTORS[product][0]);
        let product = |i: usize, first: &Fp2<P>| Wide::product(first, &f.permuted(FACTORS[i][1]));
        let once_or_twice = |i: usize| product(i, &first(i).doubled().or(ODD_POWERS, &first(i)));
        let twice = |i: usize| product(i, &first(i).doubled());
        Spread(each!(once_or_twice(0), + once_or_twice(1), + twice(2), + twice(3)).reduced())
    }

    #[inline(never)]
    fn times_line<P: PrimeField>(lanes: P::Lanes, f: &Spread<P>, lines: &ScaledLines<P>, pair: i64) -> Spread<P> {
        let f = &f.0;
        let xi = f.times_xi().carried();
        let [of_a, of_b] = if P::Curve::TWIST_MULTIPLIES { const { [shifted(3), shifted(5)] } } else { const { [shifted(1), shifted(3)] } };
        let of = |i: usize| lines.coefficients[i].permuted([lines.lanes[i] + pair; LANES]);
        let by_scale = Wide::product(f, &of(0));
        let by_a = Wide::product(&f.gathered(&xi, of_a), &of(1).doubled());
        let by_b = Wide::product(&f.gathered(&xi, of_b), &of(2).doubled());
        Spread(each!(by_scale, + by_a, + by_b).reduced())
    }

    #[inline(never)]
    fn times<P: PrimeField>(lanes: P::Lanes, f: &Spread<P>, g: &Spread<P>) -> Spread<P> {
        let (f, g) = (factors(f), factors(g));
        let (v0, v1, both) = (f.a.times(&g.a), f.b.times(&g.b), f.sum.times(&g.sum));
        // The products are a + b·s.
        let a = v1.times_xi().plus(&v0).shrunk();
        let b = both.minus_sum(&v0.plus(&v1)).shrunk();
        const B: i64 = LANES as i64;
        let of = |from| a.gathered(&b, six(from));
        // P₀ + (P₁₂ - P₁ - P₂)·s + (P₀₁ - P₀ - P₁ + P₂·s)·w + (P₀₂ - P₀ - P₂ + P₁)·w², lane by lane.
        let more = of([P0, B + P0, P01, B + P01, P02, B + P02]).plus(&of([NONE, P12, NONE, P2, P1, B + P1]));
        let less = of([NONE, P1, P0, B + P0, P0, B + P0]).plus(&of([NONE, P2, P1, B + P1, P2, B + P2]));
        // s·(b·s) = ξ·b.
        let b_more = b.permuted(six([P12, NONE, P2, NONE, NONE, NONE]));
        let first = |product| six([product, NONE, NONE, NONE, NONE, NONE]);
        let b_less = b.permuted(first(P1)).plus(&b.permuted(first(P2)));
        let turned = b_more.minus_sum(&b_less).shrunk().times_xi();
        Spread(more.minus_sum(&less).plus(&turned).shrunk())
    }

    #[inline(never)]
    fn frobenius<P: PrimeField>(lanes: P::Lanes, f: &Spread<P>) -> Spread<P> {
        let [c0, c1] = &const { frobenius_by_lane::<P::Curve>() };
        let factors = Fp2::new(P::constants(lanes, c0), P::constants(lanes, c1));
        Spread(f.0.conjugated().shrunk().times(&factors))
    }
}

/// ξ^(k(p-1)/6) for the power k of each lane, by part.
const fn frobenius_by_lane<C: Parameters>() -> [[Constant<C>; LANES]; 2] {
    let mut out = [[Constant::ZERO; LANES]; 2];
    let mut lane = 0;
    while lane < 6 {
        out[0][lane] = C::FROBENIUS[POWER_OF_W[lane]][0];
        out[1][lane] = C::FROBENIUS[POWER_OF_W[lane]][1];
        lane += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use blst::{blst_fp2, blst_fp12};

    use crate::{
        arithmetic::field::Field as _,
        arithmetic::{
            curve::PARAMETER,
            fp12::{self, conjugate, inverse, multiply, square},
        },
        backend::lanes::tests::{
            cyclotomic, elements2, frobenius, in_each_kind, load2, power, root, values, without_a1,
        },
    };

    in_each_kind! {
        /// By compressed squares and by others, whichever the lanes choose.
        fn powers_by_the_parameter(lanes: L) {
            for a in values().concat().iter().step_by(7) {
                let f = cyclotomic(a);
                let expected = power(&f, &[PARAMETER]);
                let f = Spread::<L::Fp>::load(lanes, &f);
                let compressed = raised_by_compressed_squares(&f).map(|power| power.store());
                assert_eq!(compressed, Some(expected));
                assert_eq!(raised_by_squares(&f, [PARAMETER, 0]).store(), expected);
                assert_eq!(f.raised_to_parameter().store(), expected);
            }
        }
    }

    in_each_kind! {
        /// If a₁ is zero in one of the powers of which a power by the parameter is made, a₀ and b₀ do not follow from the
        /// compressed ones.
        fn powers_of_elements_without_a_coefficient(lanes: L) {
            let mut f = without_a1();
            // f^(2^k) has no a₁.
            for k in 0..64 {
                let eight = Spread::<L::Fp>::load(lanes, &f);
                let expected = power(&f, &[PARAMETER]);
                assert_eq!(eight.raised_to_parameter().store(), expected, "{k} squares");
                let is_hidden = raised_by_compressed_squares(&eight).is_none();
                assert_eq!(is_hidden, PARAMETER >> k & 1 == 1, "{k} squares");
                let next = root(&f);
                let mut squared = next;
                square(&mut squared);
                assert_eq!(squared, f);
                f = next;
            }
            for f in [fp12::ONE, blst_fp12::default()] {
                assert_eq!(Spread::<L::Fp>::load(lanes, &f).raised_to_parameter().store(), f);
            }
        }
    }

    in_each_kind! {
        fn agrees_with_blst(lanes: L) {
            let values = values().concat();
            for (i, a) in values.iter().enumerate() {
                let b = &values[(7 * i + 3) % values.len()];
                let (x, y) = (Spread::<L::Fp>::load(lanes, a), Spread::<L::Fp>::load(lanes, b));
                assert_eq!(x.store(), *a);
                assert_eq!(x.times(&y).store(), multiply(a, b));
                assert_eq!(x.conjugated().store(), conjugate(a));
                assert_eq!(x.frobenius().store(), frobenius(a));
                assert_eq!(x.inverted().store(), inverse(a));
                let mut expected = cyclotomic(a);
                let mut cyclotomic = Spread::<L::Fp>::load(lanes, &expected);
                for _ in 0..3 {
                    square(&mut expected);
                    cyclotomic = cyclotomic.cyclotomic_squared();
                    assert_eq!(cyclotomic.store(), expected);
                }
            }
        }
    }

    in_each_kind! {
        /// Squares and products with lines are those of elements of Fp12.
        fn squares_and_lines(lanes: L) {
            let values = values().concat();
            let coefficients = elements2();
            for (i, a) in values.iter().enumerate() {
                let mut squared = *a;
                square(&mut squared);
                let spread = Spread::<L::Fp>::load(lanes, a);
                assert_eq!(spread.squared().store(), squared);
                let eights = core::array::from_fn(|k| coefficients[(i + k) % coefficients.len()]);
                let lines = ScaledLines { coefficients: eights.map(|eight| load2(lanes, &eight)), lanes: [1, 2, 4] };
                for pair in 0..2 {
                    // 2a·w³ + 2b·w⁵ on the curve whose twist multiplies by ξ.
                    let [scale, a2, b2] = [(0, 1), (1, 2), (2, 4)].map(|(k, lane)| eights[k][lane + pair]);
                    let zero = blst_fp2::default();
                    let line = <crate::pairing::Bls12381 as Parameters>::of_coefficients(
                        [scale, zero, zero, a2.plus(&a2), zero, b2.plus(&b2)],
                    );
                    assert_eq!(spread.times_line(&lines, pair).store(), multiply(a, &line));
                }
            }
        }
    }

    in_each_kind! {
        /// An operation leaves zeros in the lanes without a coefficient, as the next operation expects.
        fn idle_lanes_stay_zero(lanes: L) {
            let values = values().concat();
            let (x, y) = (Spread::<L::Fp>::load(lanes, &values[5]), Spread::<L::Fp>::load(lanes, &values[6]));
            let lines = ScaledLines { coefficients: [x.0, y.0, x.0], lanes: [0, 2, 4] };
                let products = [x.times(&y), x.conjugated().times(&y), x.cyclotomic_squared(), x.squared(), x.times_line(&lines, 1)];
            for value in [x, x.conjugated(), x.frobenius()].into_iter().chain(products) {
                let idle = &value.0.store()[6..];
                assert_eq!(idle, [blst_fp2::default(); 2]);
            }
        }
    }
}
