//! One element of Fp12 with its coefficients in six lanes, for when there are not eight elements to fill eight lanes.
//!
//! The element is (a₀ + b₀·s) + (a₁ + b₁·s)·w + (a₂ + b₂·s)·w² with s = w³ and s² = w⁶ = 1 + i: three elements of Fp4 =
//! Fp2(s), on which both products work. The lanes hold a₀, b₀, a₁, b₁, a₂, b₂ and twice zero. An operation reads a zero
//! where it needs no coefficient.

use blst::{blst_fp2, blst_fp12};

use super::{
    constant::Constant,
    field::{Field, LANES, Mask, PrimeField},
    fp2::Fp2,
    fp12::{Extension, FROBENIUS},
    instructions::in_lanes,
};
use crate::arithmetic::fp12;

/// An element of Fp12. Coefficients have limbs below one unit and values below 2.1p.
#[derive(Clone, Copy)]
pub(crate) struct Spread<P>(Fp2<P>);

/// The power of w of each lane's coefficient.
const POWER_OF_W: [usize; 6] = [0, 3, 1, 4, 2, 5];

/// A lane of zeros.
const NONE: i64 = 6;

/// The lanes from which six coefficients come. The last two lanes take zeros.
#[inline(always)]
const fn six([a, b, c, d, e, f]: [i64; 6]) -> [i64; LANES] {
    [a, b, c, d, e, f, NONE, NONE]
}

impl<P: PrimeField> Spread<P> {
    pub(crate) fn load(lanes: P::Lanes, value: &blst_fp12) -> Self {
        let zero = blst_fp2::default();
        let mut coefficients = [&zero; LANES];
        for (coefficient, power) in coefficients.iter_mut().zip(POWER_OF_W) {
            *coefficient = &value.fp6[power % 2].fp2[power / 2];
        }
        Self(Fp2::load(lanes, &coefficients))
    }

    pub(crate) fn store(&self) -> blst_fp12 {
        let mut value = blst_fp12::default();
        for (coefficient, power) in self.0.store().into_iter().zip(POWER_OF_W) {
            value.fp6[power % 2].fp2[power / 2] = coefficient;
        }
        value
    }
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

    fn frobenius(&self) -> Self {
        frobenius(self.0.lanes(), self)
    }

    /// blst inverts, because a single inversion has no work for lanes.
    fn inverted(&self) -> Self {
        Self::load(self.0.lanes(), &fp12::inverse(&self.store()))
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

    /// Two products square each aⱼ + bⱼ·s. The factor 1 + i makes the last term simple:
    ///
    /// ```text
    /// a² + (1 + i)·b² = (a + i·b)·(a + (1 - i)·b) - a·b,    2ab = 2·(a·b)
    /// ```
    ///
    /// Each coefficient of the square is 3t - 2c or 3t + 2c, where t is such a term of some j and c is the old
    /// coefficient. One factor is multiplied by 3 before the product, because the reduction of the product then keeps
    /// 3t as small as t.
    #[inline(never)]
    fn cyclotomic_squared<P: PrimeField>(lanes: P::Lanes, f: &Spread<P>) -> Spread<P> {
        // In a lane of some a, `c` is a and `other` is b. In a lane of b it is the other way round.
        const OF_B: Mask = 0b10_1010;
        // 3t - 2c is for a₀, b₁ and a₂. For a₁ alone, t = 2(1 + i)·a₂b₂.
        const LESS: Mask = 0b01_1001;
        const TIMES_XI: Mask = 0b00_0100;
        let c = &f.0;
        let other = c.permuted(six([1, 0, 3, 2, 5, 4]));
        let plus_i = Fp2::new(other.c0.minus(&c.c1), other.c1.plus(&c.c0));
        let plus_turned = Fp2::new(other.c0.plus(&c.c0).plus(&c.c1), other.c1.plus(&c.c1).minus(&c.c0));
        let left = plus_i.or(OF_B, c);
        let left = left.doubled().plus(&left).carried();
        let products = left.times(&plus_turned.or(OF_B, &other).carried());
        let ab = products.permuted(six([0, 0, 4, 4, 2, 2]));
        let sum = products.permuted(six([1, NONE, NONE, 5, 3, NONE]));
        let less = sum.subtract::<8, 3>(&ab.plus(&c.doubled()));
        let more = ab.times_one_plus_i().or(TIMES_XI, &ab).plus(c).doubled();
        Spread(less.or(LESS, &more).shrunk())
    }

    #[inline(never)]
    fn times<P: PrimeField>(lanes: P::Lanes, f: &Spread<P>, g: &Spread<P>) -> Spread<P> {
        let (f, g) = (factors(f), factors(g));
        let (v0, v1, both) = (f.a.times(&g.a), f.b.times(&g.b), f.sum.times(&g.sum));
        // The products are a + b·s.
        let a = v1.times_one_plus_i().plus(&v0).shrunk();
        let b = both.minus_sum(&v0.plus(&v1)).shrunk();
        const B: i64 = LANES as i64;
        let of = |from| a.gathered(&b, six(from));
        // P₀ + (P₁₂ - P₁ - P₂)·s + (P₀₁ - P₀ - P₁ + P₂·s)·w + (P₀₂ - P₀ - P₂ + P₁)·w², lane by lane.
        let more = of([P0, B + P0, P01, B + P01, P02, B + P02]).plus(&of([NONE, P12, NONE, P2, P1, B + P1]));
        let less = of([NONE, P1, P0, B + P0, P0, B + P0]).plus(&of([NONE, P2, P1, B + P1, P2, B + P2]));
        // s·(b·s) = (1 + i)·b.
        let b_more = b.permuted(six([P12, NONE, P2, NONE, NONE, NONE]));
        let first = |product| six([product, NONE, NONE, NONE, NONE, NONE]);
        let b_less = b.permuted(first(P1)).plus(&b.permuted(first(P2)));
        let turned = b_more.minus_sum(&b_less).shrunk().times_one_plus_i();
        Spread(more.minus_sum(&less).plus(&turned).shrunk())
    }

    #[inline(never)]
    fn frobenius<P: PrimeField>(lanes: P::Lanes, f: &Spread<P>) -> Spread<P> {
        let factors = Fp2::new(P::constants(lanes, &FROBENIUS_BY_LANE[0]), P::constants(lanes, &FROBENIUS_BY_LANE[1]));
        Spread(f.0.conjugated().shrunk().times(&factors))
    }
}

/// (1 + i)^(k(p-1)/6) for the power k of each lane, by part.
static FROBENIUS_BY_LANE: [[Constant; LANES]; 2] = {
    let mut out = [[Constant::ZERO; LANES]; 2];
    let mut lane = 0;
    while lane < 6 {
        out[0][lane] = FROBENIUS[POWER_OF_W[lane]][0];
        out[1][lane] = FROBENIUS[POWER_OF_W[lane]][1];
        lane += 1;
    }
    out
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arithmetic::fp12::{conjugate, inverse, multiply, square},
        backend::lanes::tests::{in_each_kind, values},
    };
    use blst::blst_fp12_frobenius_map;

    fn blst_frobenius(a: &blst_fp12) -> blst_fp12 {
        let mut out = blst_fp12::default();
        // SAFETY: valid references.
        unsafe { blst_fp12_frobenius_map(&mut out, a, 1) };
        out
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
                assert_eq!(x.frobenius().store(), blst_frobenius(a));
                assert_eq!(x.inverted().store(), inverse(a));
                // Into the cyclotomic subgroup, by the easy part of the final exponentiation.
                let unitary = multiply(&conjugate(a), &inverse(a));
                let mut expected = multiply(&blst_frobenius(&blst_frobenius(&unitary)), &unitary);
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
        /// An operation leaves zeros in the lanes without a coefficient, as the next operation expects.
        fn idle_lanes_stay_zero(lanes: L) {
            let values = values().concat();
            let (x, y) = (Spread::<L::Fp>::load(lanes, &values[5]), Spread::<L::Fp>::load(lanes, &values[6]));
            let products = [x.times(&y), x.conjugated().times(&y), x.cyclotomic_squared()];
            for value in [x, x.conjugated(), x.frobenius()].into_iter().chain(products) {
                let idle = &value.0.store()[6..];
                assert_eq!(idle, [blst_fp2::default(); 2]);
            }
        }
    }
}
