//! Proof that products are exact for every pair of bounds that [`Bound`](super::bound::Bound) accepts.
//!
//! A kernel runs once, on sizes: polynomials without negative coefficients in the units and the values of its factors, which
//! numbers do not exceed. So each sum of high parts has a size in these four variables. It is below 2^99 for all bounds that are
//! accepted: its coefficients are at most those of a column that `Bound` computes, which is at most [`MOST_PRODUCTS`], and little more.

use alloc::boxed::Box;
use core::ops::{Add, Mul};

use num_bigint::BigInt;

use super::{
    bound::{
        Bound, LARGEST_FACTOR, MOST_PRODUCTS, TOP_OF_P, columns_of_product, columns_of_product_in_fp2,
        columns_of_square_in_fp2,
    },
    kernel::Numbers,
    word::{Cut, High, LIMB_BITS, Repeat, Sum, Word},
};
use crate::{
    backend::{
        lanes::constant::Modulus,
        symbolic::{Dyadic, Value, power_of_two},
    },
    pairing::Bls12381,
    polynomial::{Coefficient, Polynomial},
};

/// What the absolute value of a number does not exceed.
#[derive(Clone, Copy)]
struct Size(&'static Proof);

struct Proof {
    size: Value,
    /// The columns of which `Bound` knows that they are small enough, in products of units.
    columns: &'static [Size],
}

impl Size {
    fn of(self, size: Value) -> Self {
        Self(Box::leak(Box::new(Proof { size, columns: self.0.columns })))
    }

    fn constant(self, n: f64) -> Self {
        self.of(Polynomial::constant(Dyadic::of(n.abs())))
    }

    fn two_to(self, power: i64) -> Self {
        self.of(Polynomial::constant(Dyadic::new(1, power)))
    }

    fn scaled(self, power: i64) -> Self {
        self.of(self.0.size.scaled(&Dyadic::new(1, power)))
    }

    fn half(self) -> Self {
        self.two_to(-1)
    }

    /// The largest size, for the largest factors.
    fn largest(self) -> Dyadic {
        largest(&self.0.size)
    }

    /// Asserts that the number is below 2^`bits`.
    #[track_caller]
    fn below(self, bits: i64, what: &str) -> Self {
        assert!(self.largest() < Dyadic::new(1, bits), "not proved: {what}");
        self
    }

    /// Asserts that the number is a column of which `proofs::reduce` proves the bound of the result.
    fn assert_column(self) {
        assert!(self.largest() <= Dyadic::from(power_of_two(47) * 48_u32), "not proved: columns of 48 units");
    }

    fn integer(self) -> Self {
        self.below(53, "a number has at most 53 bits")
    }

    /// High parts, which are below 2^99 for the largest factors, or because some column is at most [`MOST_PRODUCTS`] products of
    /// units: what exceeds the column is at most what is left to 32 of them.
    #[track_caller]
    fn in_binade(self) -> Self {
        let left = Dyadic::of(32.0 - MOST_PRODUCTS).times(&Dyadic::new(1, 94));
        let is_below = |column: &Size| {
            let more = self.0.size.minus(&column.scaled(94).0.size);
            let more = Polynomial::of_terms(
                more.terms().filter(|(_, k)| **k > Dyadic::zero()).map(|(m, k)| (m.clone(), k.clone())),
            );
            largest(&more) < left
        };
        let is_small = self.largest() < Dyadic::new(1, 99);
        assert!(is_small || self.0.columns.iter().any(is_below), "not proved: a sum stays in its binade");
        self
    }
}

/// What a polynomial without negative coefficients is at most.
fn largest(size: &Value) -> Dyadic {
    size.terms().fold(Dyadic::zero(), |sum, (monomial, k)| {
        let term = monomial.iter().fold(k.clone(), |term, (variable, power)| {
            (0..*power).fold(term, |term, _| term.times(&Dyadic::of(LARGEST_FACTOR[*variable as usize % 2])))
        });
        sum.plus(&term)
    })
}

impl Add for Size {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.of(self.0.size.plus(&other.0.size))
    }
}

impl Mul for Size {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.of(self.0.size.times(&other.0.size))
    }
}

impl From<f64> for Size {
    fn from(n: f64) -> Self {
        assert!(n >= 0.0);
        Self(Box::leak(Box::new(Proof { size: Polynomial::constant(Dyadic::of(n)), columns: &[] })))
    }
}

impl Word for Size {
    type High = High<Size>;

    fn splat(self, n: f64) -> Self {
        self.constant(n)
    }
    fn repeat(self, n: &Repeat) -> Self {
        self.constant(n.once())
    }
    fn constants<T>(constants: &T) -> &T {
        constants
    }
    fn plus(self, other: Self) -> Self {
        (self + other).integer()
    }
    fn minus(self, other: Self) -> Self {
        self.plus(other)
    }
    fn minus_product(self, a: Self, b: Self) -> Self {
        (self + a * b).integer()
    }
    fn nearest(self, factor: f64) -> Self {
        (self * self.constant(factor) + self.half()).below(51, "a quotient has at most 51 bits")
    }
    /// What does not depend on the factors is a column or a result.
    fn cut(self) -> Cut<Self> {
        if self.0.size.terms().all(|(monomial, _)| monomial.is_empty()) {
            self.assert_column();
        }
        self.below(98, "a number that is cut has at most 98 bits");
        Cut { carry: self.scaled(-48) + self.half(), rest: self.two_to(47) }
    }
    fn plus_multiple(self, n: Self) -> Self {
        (self + n.scaled(-48)).integer()
    }
    fn digit(self, factor: f64) -> Self {
        (self * self.constant(factor)).below(99, "a product stays in its binade");
        self.two_to(47)
    }
    fn cleared(self, a: Self, b: Self) -> Self {
        (self + a * b).below(100, "a cleared sum has at most 53 bits above 2^48")
    }
    fn no_high(self) -> High<Self> {
        High(self.constant(0.0))
    }
    fn add_product(sum: &mut Sum<Self>, a: Self, b: Self) {
        let rest = a.two_to(47);
        *sum = Sum { high: High((sum.high.0 + a * b + rest).in_binade()), low: (sum.low + rest).integer() };
    }
    fn subtract_product(sum: &mut Sum<Self>, a: Self, b: Self) {
        Self::add_product(sum, a, b);
    }
    /// High parts are below 2^99, as each was shown to be when it was made.
    fn plus_high(self, _: High<Self>) -> Self {
        (self + self.two_to(51)).integer()
    }
}

/// The units and the value of a factor.
fn bound(place: u32) -> [Size; 2] {
    [2 * place, 2 * place + 1].map(|variable| Size::from(0.0).of(Polynomial::variable(variable)))
}

/// The limbs of a factor, for a kernel whose columns `Bound` accepts.
fn limbs<const N: usize>([units, value]: [Size; 2], columns: &[Size]) -> [Size; N] {
    let columns: &'static [Size] = Box::leak(columns.into());
    let unit = units.two_to(47);
    // The highest limb has at most the highest of the value, and what the lower ones are worth there, with their sign.
    let top = value * (Size::from(TOP_OF_P) * unit + Size::from(1.0)) + units + Size::from(1.0);
    core::array::from_fn(|i| {
        let limb = if i + 1 < N { units * unit } else { top };
        Size(Box::leak(Box::new(Proof { size: limb.0.size.clone(), columns })))
    })
}

/// Limbs of a unit and at most 64 more: as large as the proofs of kernels know results.
fn assert_one_unit<const N: usize>(out: &[Size; N]) {
    let most: BigInt = power_of_two(LIMB_BITS - 1) + 64;
    assert!(out[..N - 1].iter().all(|limb| limb.largest() <= most.clone().into()), "not proved: a limb of one unit");
}

fn products<C: Modulus, const N: usize>() {
    let (a, b) = (bound(0), bound(1));
    let columns = columns_of_product(a, b);
    let (x, y) = (limbs(a, &columns), limbs(b, &columns));
    assert_one_unit(&Numbers::<C, N>::product_reduced(&x, &y));
    let columns = columns_of_product(a, a);
    assert_one_unit(&Numbers::<C, N>::square_reduced(&limbs(a, &columns)));
    let columns = columns_of_product_in_fp2(a, b);
    let (x, y) = (limbs(a, &columns), limbs(b, &columns));
    Numbers::<C, N>::product2([&x, &x], [&y, &y])
        .as_flattened()
        .as_flattened()
        .iter()
        .for_each(|column| column.assert_column());
    let columns = columns_of_square_in_fp2(a);
    let x = limbs(a, &columns);
    Numbers::<C, N>::square2(&x, &x).iter().for_each(assert_one_unit);
}

#[test]
fn products_of_all_bounds_stay_in_their_binade() {
    products::<Bls12381, 8>();
    #[cfg(feature = "bn254")]
    products::<crate::Bn254, 6>();
}

/// The highest column, which is large where values are, has to be one of those that `Bound` computes.
#[test]
#[should_panic(expected = "a sum stays in its binade")]
fn the_highest_column_cannot_be_left_out() {
    let (a, b) = (bound(0), bound(1));
    let columns = &columns_of_product(a, b)[..3];
    Numbers::<Bls12381, 8>::product_reduced(&limbs(a, columns), &limbs(b, columns));
}

/// Seven products meet in the sixth column.
#[test]
#[should_panic(expected = "a sum stays in its binade")]
fn six_products_are_too_few() {
    let (a, b) = (bound(0), bound(1));
    let columns = &columns_of_product(a, b)[1..];
    Numbers::<Bls12381, 8>::product_reduced(&limbs(a, columns), &limbs(b, columns));
}

/// Their highest limbs alone make a column that leaves its binade.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "products of units in a column")]
fn large_values_in_small_limbs_are_no_factors() {
    let large = Bound::new(1.0001, 30.0);
    large.of_product(large);
}
