//! What the formulas must compute, in the plainest way: schoolbook products, chords and tangents by their slopes.

use alloc::vec::Vec;
use core::{
    array::from_fn,
    ops::{Add, Mul, Neg, Sub},
};

use super::{
    proof::{Number, Parts, Proof},
    symbolic::{Symbolic, Symbols},
};
use crate::{
    backend::lanes::{
        field::{Field as _, Fp2, Parameters},
        fp12::Fp12,
    },
    pairing::Bls12381,
    polynomial::Coefficient as _,
};

/// A curve with what its specifications need.
pub(super) trait Specified: Parameters {
    /// The parts of ξ.
    const XI: [i64; 2];
    /// The constant of the curve equation.
    const B: i64;
}

impl Specified for Bls12381 {
    const XI: [i64; 2] = [1, 1];
    const B: i64 = 4;
}

/// Defines tests that run for each curve.
macro_rules! on_each_curve {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident<$curve:ident>() $body:block
    )*) => {
        $( fn $name<$curve: $crate::backend::lanes::proofs::naive::Specified>() $body )*

        mod bls12381 {
            $(
                $(#[$attribute])*
                #[test]
                fn $name() {
                    super::$name::<$crate::pairing::Bls12381>();
                }
            )*
        }

        #[cfg(all(
            feature = "bn254",
            any(
                all(target_arch = "x86_64", target_feature = "sse2"),
                all(target_arch = "aarch64", target_feature = "neon")
            )
        ))]
        mod bn254 {
            $(
                $(#[$attribute])*
                #[test]
                fn $name() {
                    super::$name::<$crate::Bn254>();
                }
            )*
        }
    };
}
pub(super) use on_each_curve;

/// What points have as coordinates.
pub(super) trait Ring:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// The inverse of what is not zero.
    fn inverse(self) -> Self;

    fn squared(self) -> Self {
        self * self
    }

    fn cubed(self) -> Self {
        self * self * self
    }
}

impl<C: Parameters> Ring for Symbolic<C> {
    fn inverse(self) -> Self {
        self.inverted()
    }
}

/// a + b·i in Fp2, i² = -1.
#[derive(Clone, Copy)]
pub(super) struct Naive2<C>(pub(super) [Symbolic<C>; 2]);

impl<C: Parameters> Naive2<C> {
    pub(super) fn of(element: &Fp2<Symbolic<C>>) -> Self {
        Self([element.c0, element.c1])
    }

    pub(super) fn real(element: Symbolic<C>) -> Self {
        Self([element, Symbolic::zero(element.lanes())])
    }

    /// The token of the parts.
    fn lanes(self) -> Symbols<C> {
        self.0[0].lanes()
    }

    pub(super) fn zero(lanes: Symbols<C>) -> Self {
        Self::real(Symbolic::zero(lanes))
    }

    pub(super) fn conjugate(self) -> Self {
        Self([self.0[0], -self.0[1]])
    }

    pub(super) fn fp2(self) -> Fp2<Symbolic<C>> {
        Fp2 { c0: self.0[0], c1: self.0[1] }
    }

    /// The power of a constant.
    pub(super) fn power(self, words: &[u64]) -> Self {
        let one = Self::real(Symbolic::one(self.lanes()));
        (0..64 * words.len()).rev().fold(one, |power, bit| {
            let square = power * power;
            if words[bit / 64] >> (bit % 64) & 1 == 1 { square * self } else { square }
        })
    }
}

impl<C: Parameters> Add for Naive2<C> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] + other.0[i]))
    }
}

impl<C: Parameters> Sub for Naive2<C> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] - other.0[i]))
    }
}

impl<C: Parameters> Mul for Naive2<C> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        Self([a * c - b * d, a * d + b * c])
    }
}

impl<C: Parameters> Neg for Naive2<C> {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.map(|part| -part))
    }
}

impl<C: Parameters> Ring for Naive2<C> {
    fn inverse(self) -> Self {
        let [a, b] = self.0;
        let inverse = (a * a + b * b).inverted();
        Self([a * inverse, -b * inverse])
    }
}

impl<C: Parameters> Parts<C> for Naive2<C> {
    fn parts(self) -> Vec<Symbolic<C>> {
        self.0.into()
    }
}

/// The coefficients of w⁰ to w⁵ in Fp2\[w\]/(w⁶ - ξ).
#[derive(Clone, Copy)]
pub(super) struct Naive12<C>(pub(super) [Naive2<C>; 6]);

impl<C: Specified> Naive12<C> {
    pub(super) fn of(element: &Fp12<Symbolic<C>>) -> Self {
        Self(from_fn(|power| {
            let half = if power % 2 == 0 { &element.even } else { &element.odd };
            Naive2::of(&half[power / 2])
        }))
    }

    pub(super) fn fp12(self) -> Fp12<Symbolic<C>> {
        let half = |odd: usize| from_fn(|i| self.0[2 * i + odd].fp2());
        Fp12 { even: half(0), odd: half(1) }
    }

    pub(super) fn variable(proof: &Proof<C>) -> Self {
        Self(from_fn(|_| Naive2::of(&proof.in_fp2())))
    }

    /// The coefficient at one power of w, and zeros.
    pub(super) fn monomial(power: usize, coefficient: Naive2<C>) -> Self {
        Self(from_fn(|i| if i == power { coefficient } else { Naive2::zero(coefficient.lanes()) }))
    }

    pub(super) fn one(proof: &Proof<C>) -> Self {
        Self::monomial(0, Naive2::real(proof.number(1)))
    }

    /// 1/w^power.
    pub(super) fn over_w(proof: &Proof<C>, power: usize) -> Self {
        Self::monomial(6 - power, xi(proof).inverse())
    }

    /// Each coefficient of w^k times a constant of its own.
    pub(super) fn each(self, of: impl Fn(usize, Naive2<C>) -> Naive2<C>) -> Self {
        Self(from_fn(|k| of(k, self.0[k])))
    }

    /// The value raised to p: coefficients are conjugated, and w^p = w·ξ^((p - 1)/6).
    pub(super) fn frobenius(self, proof: &Proof<C>) -> Self {
        let w = w_to_p_minus_one(proof);
        self.each(|k, c| (0..k).fold(c.conjugate(), |product, _| product * w))
    }
}

impl<C: Specified> Add for Naive12<C> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.each(|k, c| c + other.0[k])
    }
}

impl<C: Specified> Sub for Naive12<C> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.each(|k, c| c - other.0[k])
    }
}

impl<C: Specified> Mul for Naive12<C> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let lanes = self.0[0].lanes();
        let mut product = [Naive2::zero(lanes); 12];
        for i in 0..6 {
            for j in 0..6 {
                product[i + j] = product[i + j] + self.0[i] * other.0[j];
            }
        }
        let xi = xi_of(lanes);
        Self(from_fn(|k| product[k] + xi * product[k + 6]))
    }
}

impl<C: Specified> Parts<C> for Naive12<C> {
    fn parts(self) -> Vec<Symbolic<C>> {
        self.0.parts()
    }
}

pub(super) fn xi<C: Specified>(proof: &Proof<C>) -> Naive2<C> {
    xi_of(proof.lanes)
}

fn xi_of<C: Specified>(lanes: Symbols<C>) -> Naive2<C> {
    let one = Symbolic::one(lanes);
    Naive2(C::XI.map(|part| (1..part).fold(one, |sum, _| sum + one)))
}

/// ξ^((p - 1)/6).
pub(super) fn w_to_p_minus_one<C: Specified>(proof: &Proof<C>) -> Naive2<C> {
    xi(proof).power(&over_small(minus_one::<C>(), 6))
}

/// p - 1, of which the last bits are binary 10.
pub(super) fn minus_one<C: Parameters>() -> [u64; 6] {
    let mut words = C::P;
    words[0] -= 1;
    words
}

/// A number divided by a small one that divides it.
pub(super) fn over_small(words: [u64; 6], by: u64) -> [u64; 6] {
    let (mut out, mut rest) = ([0; 6], 0_u128);
    for i in (0..6).rev() {
        let part = rest << 64 | u128::from(words[i]);
        out[i] = (part / u128::from(by)) as u64;
        rest = part % u128::from(by);
    }
    assert_eq!(rest, 0, "{by} divides the number");
    out
}

/// Whether a constant is a square, by Euler's criterion.
pub(super) fn is_square<C: Parameters>(number: Number<C>) -> bool {
    number.power(&over_small(minus_one::<C>(), 2)) == Number::one()
}

/// The slope of the line through two points of different x.
pub(super) fn chord<F: Ring>([x1, y1]: [F; 2], [x2, y2]: [F; 2]) -> F {
    (y2 - y1) * (x2 - x1).inverse()
}

/// The slope of the tangent of y² = x³ + ax + b, for the derivative 3x² + a of the right side.
pub(super) fn tangent<F: Ring>([x, y]: [F; 2], a: Option<F>) -> F {
    let cube = x * x + x * x + x * x;
    a.map_or(cube, |a| cube + a) * (y + y).inverse()
}

/// The third point on the line with a slope through two points, reflected.
pub(super) fn third<F: Ring>([x1, y1]: [F; 2], [x2, _]: [F; 2], slope: F) -> [F; 2] {
    let x3 = slope * slope - x1 - x2;
    [x3, slope * (x1 - x3) - y1]
}
