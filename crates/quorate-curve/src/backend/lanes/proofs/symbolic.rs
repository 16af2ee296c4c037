//! A field of polynomials over Fp, in whose elements the formulas of the lanes compute as in numbers.
//!
//! An element has a polynomial in each lane. It has no limbs and no bounds, so that `carried`, `shrunk` and the like change nothing: the
//! bounds are the business of the kernels. What is not algebraic has no answer here, and a formula that asks for it panics.
//!
//! - **Zero or not:** a polynomial is zero if the relations of the proof make it zero. Any other polynomial that is not a constant is taken
//!   to be not zero, and the proof remembers it. It must name the factors of all of these at its end ([`Proof::finish`]): the formula's
//!   exceptional cases.
//! - **Inverses:** the inverse of d is a new variable i with the relation d·i = 1, and d is remembered as not zero.
//! - **Roots:** a^((p - 3)/4), whose exponent is counted, is a new variable c with c² = ±1/a. The proof says whether a is a square.
//!
//! [`Proof::finish`]: super::proof::Proof::finish

use alloc::vec::Vec;
use core::{
    array::from_fn,
    marker::PhantomData,
    ops::{Add, Mul, Neg, Sub},
};

use super::proof::{Falsified, Number, ONE, State, Terms, ZERO, exponent_of_root, value, with};
use crate::{
    arithmetic::{self, field::Field as _},
    backend::{
        lanes::{
            constant::Constant,
            field::{Field, Fp2, LANES, Lanes, Mask, Parameters, PrimeField, Wide, Words},
            instructions::{BASELINE, Token},
            thresholds::Thresholds,
        },
        serial::Serial,
    },
    polynomial::{Coefficient as _, Polynomial},
};

/// The token of the lanes of polynomials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Symbols<C>(PhantomData<C>);

// SAFETY: it names no instructions.
unsafe impl<C: Parameters> Token for Symbols<C> {
    const INSTRUCTIONS: u8 = BASELINE;
}

impl<C: Parameters> Symbols<C> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<C: Parameters> Lanes for Symbols<C> {
    type Curve = C;
    const THRESHOLDS: Thresholds = <Serial>::THRESHOLDS;
    type Fp = Symbolic<C>;
    const WIDTH: usize = LANES;
    type Narrow = Self;

    fn narrow(self) -> Self {
        self
    }
}

/// A polynomial in each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbolic<C> {
    pub(super) ids: [u32; LANES],
    curve: PhantomData<C>,
}

impl<C: Parameters> Symbolic<C> {
    pub(super) fn in_every_lane(id: u32) -> Self {
        Self::of_ids([id; LANES])
    }

    fn of_ids(ids: [u32; LANES]) -> Self {
        Self { ids, curve: PhantomData }
    }

    /// The first lane of each.
    pub(super) fn of_lanes(lanes: [Self; LANES]) -> Self {
        Self::of_ids(lanes.map(|lane| lane.ids[0]))
    }

    /// The element of a lane in every lane.
    pub(super) fn lane(self, lane: usize) -> Self {
        Self::in_every_lane(self.ids[lane])
    }

    pub(super) fn terms(self, lane: usize) -> Terms<C> {
        with(|state: &mut State<C>| state.polynomials[self.ids[lane] as usize].clone())
    }

    /// The coefficients of a polynomial in one variable, the constant one first.
    fn coefficients(self) -> Vec<Number<C>> {
        let mut coefficients = Vec::new();
        for (monomial, k) in self.terms(0).terms() {
            assert!(monomial.len() <= 1, "a polynomial in one variable");
            let power = monomial.first().map_or(0, |(_, power)| *power as usize);
            coefficients.resize(coefficients.len().max(power + 1), Number::zero());
            coefficients[power] = *k;
        }
        coefficients
    }

    pub(super) fn degree(self) -> usize {
        self.coefficients().len() - 1
    }

    /// Whether polynomials in one variable have no common root, by Euclid's algorithm.
    pub(super) fn is_coprime_to(self, other: Self) -> bool {
        let (mut a, mut b) = (self.coefficients(), other.coefficients());
        while let Some(last) = b.last() {
            let inverse = Number(last.0.inverse());
            while a.len() >= b.len() {
                let factor = a[a.len() - 1].times(&inverse).negated();
                let shift = a.len() - b.len();
                for (i, k) in b.iter().enumerate() {
                    a[shift + i] = a[shift + i].plus(&k.times(&factor));
                }
                while a.last() == Some(&Number::zero()) {
                    a.pop();
                }
            }
            core::mem::swap(&mut a, &mut b);
        }
        a.len() == 1
    }

    fn constant_of(number: Number<C>) -> Self {
        Self::in_every_lane(with(|state| state.add(Polynomial::constant(number))))
    }

    /// Computes each lane, and lanes with the same polynomials once.
    fn each(self, other: Self, compute: impl Fn(&mut State<C>, u32, u32) -> u32) -> Self {
        with(|state| {
            let mut ids = [ZERO; LANES];
            for lane in 0..LANES {
                let of = |lane: usize| (self.ids[lane], other.ids[lane]);
                let known = (0..lane).find(|before| of(*before) == of(lane));
                ids[lane] = known.map_or_else(|| compute(state, of(lane).0, of(lane).1), |before| ids[before]);
            }
            Self::of_ids(ids)
        })
    }

    fn by(self, other: Self, compute: impl Fn(&Terms<C>, &Terms<C>) -> Terms<C>) -> Self {
        self.each(other, |state, a, b| {
            let made = compute(&state.polynomials[a as usize], &state.polynomials[b as usize]);
            state.add(made)
        })
    }

    fn is_falsified(falsified: Falsified) -> bool {
        with(|state: &mut State<C>| state.falsified == Some(falsified))
    }
}

// What specifications compute with. Nothing falsifies it.

impl<C: Parameters> Add for Symbolic<C> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.by(other, Polynomial::plus)
    }
}

impl<C: Parameters> Sub for Symbolic<C> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.by(other, Polynomial::minus)
    }
}

impl<C: Parameters> Mul for Symbolic<C> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.by(other, Polynomial::times)
    }
}

impl<C: Parameters> Neg for Symbolic<C> {
    type Output = Self;

    fn neg(self) -> Self {
        self.by(self, |a, _| a.negated())
    }
}

impl<C: Parameters> Field for Symbolic<C> {
    type Lanes = Symbols<C>;
    type Fp = Self;
    type Element = C::Element;
    const PARTS: usize = 1;
    type Row = u32;
    const ZERO_ROW: u32 = ZERO;

    fn lanes(&self) -> Symbols<C> {
        Symbols(PhantomData)
    }

    fn zero(_: Symbols<C>) -> Self {
        Self::in_every_lane(ZERO)
    }

    fn one(_: Symbols<C>) -> Self {
        Self::in_every_lane(ONE)
    }

    fn load(_: Symbols<C>, elements: &[&C::Element; LANES]) -> Self {
        Self::of_ids(elements.map(|element| Self::constant_of(Number(*element)).ids[0]))
    }

    fn store(&self) -> [C::Element; LANES] {
        from_fn(|lane| value(&self.terms(lane)).expect("constants alone have values").0)
    }

    fn from_words(_: Symbols<C>, _: &Words) -> Self {
        panic!("words are not algebraic")
    }

    fn gather(_: Symbols<C>, rows: &[&u32; LANES]) -> Self {
        Self::of_ids(rows.map(|row| *row))
    }

    fn scatter(&self) -> [u32; LANES] {
        self.ids
    }

    fn blank(&self) -> Mask {
        (0..LANES).map(|lane| Mask::from(self.ids[lane] == ZERO) << lane).sum()
    }

    fn plus(&self, other: &Self) -> Self {
        *self + *other
    }

    fn sum_factor(&self, other: &Self) -> Self {
        *self + *other
    }

    fn minus(&self, other: &Self) -> Self {
        if Self::is_falsified(Falsified::Minus) { *other - *self } else { *self - *other }
    }

    fn minus_sum(&self, other: &Self) -> Self {
        *self - *other
    }

    fn subtract<const TIMES: i64, const UNITS: i64>(&self, other: &Self) -> Self {
        *self - *other
    }

    fn negated(&self) -> Self {
        -*self
    }

    fn carried(&self) -> Self {
        *self
    }

    fn shrunk(&self) -> Self {
        *self
    }

    fn factor(&self) -> Self {
        *self
    }

    fn times(&self, other: &Self) -> Self {
        *self * *other
    }

    fn squared(&self) -> Self {
        *self * *self
    }

    fn times_fp(&self, other: &Self) -> Self {
        *self * *other
    }

    fn inverted(&self) -> Self {
        self.each(*self, |state, a, _| state.inverse(a))
    }

    fn or(&self, mask: Mask, other: &Self) -> Self {
        Self::of_ids(from_fn(|lane| if mask >> lane & 1 == 1 { self.ids[lane] } else { other.ids[lane] }))
    }

    fn is_zero(&self) -> Mask {
        let answers = self.each(*self, |state, a, _| u32::from(state.is_zero(a)));
        (0..LANES).map(|lane| Mask::from(answers.ids[lane] == 1) << lane).sum()
    }

    fn equals(&self, other: &Self) -> Mask {
        (*self - *other).is_zero()
    }

    fn is_odd(&self) -> Mask {
        panic!("signs are not algebraic")
    }

    fn is_larger(&self) -> Mask {
        panic!("signs are not algebraic")
    }

    fn image(x: &Self, y: &Self) -> (Self, Self) {
        (*x, *y)
    }

    fn permuted(&self, from: [i64; LANES]) -> Self {
        Self::of_ids(from.map(|lane| self.ids[lane as usize]))
    }

    fn gathered(&self, other: &Self, from: [i64; LANES]) -> Self {
        Self::of_ids(from.map(|lane| [self, other][lane as usize / LANES].ids[lane as usize % LANES]))
    }
}

/// An element raised to a power.
#[derive(Clone, Copy)]
pub(super) struct Power<C> {
    base: Symbolic<C>,
    exponent: [u64; 6],
}

impl<C> Power<C> {
    fn add(&mut self, other: [u64; 6]) {
        let mut carry = false;
        for (word, other) in self.exponent.iter_mut().zip(other) {
            let (sum, first) = word.overflowing_add(other);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*word, carry) = (sum, first | second);
        }
        assert!(!carry, "an exponent of more than 384 bits");
    }
}

impl<C: Parameters> PrimeField for Symbolic<C> {
    type Curve = C;
    type Products = Self;
    type Link = Power<C>;

    const LINES_BETWEEN_SHRINKS: Option<usize> = None;

    fn constant(_: Symbols<C>, constant: &Constant<C>) -> Self {
        Self::constant_of(Number::of(constant))
    }

    fn constants(_: Symbols<C>, constants: &[Constant<C>; LANES]) -> Self {
        Self::of_ids(from_fn(|lane| Self::constant_of(Number::of(&constants[lane])).ids[0]))
    }

    fn sum_of_two_products(a: [&Self; 2], b: [&Self; 2]) -> Self {
        *a[0] * *b[0] + *a[1] * *b[1]
    }

    fn times_in_fp2(a: &Fp2<Self>, b: &Fp2<Self>) -> Fp2<Self> {
        Fp2 { c0: a.c0 * b.c0 - a.c1 * b.c1, c1: a.c0 * b.c1 + a.c1 * b.c0 }
    }

    fn squared_in_fp2(a: &Fp2<Self>) -> Fp2<Self> {
        Self::times_in_fp2(a, a)
    }

    fn wide_product(a: &Fp2<Self>, b: &Fp2<Self>) -> Wide<Self> {
        let Fp2 { c0, c1 } = Self::times_in_fp2(a, b);
        Wide { c0, c1 }
    }

    fn wide_square(a: &Fp2<Self>) -> Wide<Self> {
        Self::wide_product(a, a)
    }

    fn sum_of_products<const N: usize>(first: &Self, terms: [(bool, &Self); N]) -> Self {
        terms.iter().fold(*first, |sum, (minus, term)| if *minus { sum - **term } else { sum + **term })
    }

    fn nine_times(products: &Self) -> Self {
        (0..8).fold(*products, |sum, _| sum + *products)
    }

    fn settled(products: &Self) -> Self {
        *products
    }

    fn reduced(products: &Self) -> Self {
        if Self::is_falsified(Falsified::Reduced) {
            return *products + *products;
        }
        products.each(*products, |state, a, _| state.cut(a))
    }

    fn add_reduced(&mut self, products: &Self) {
        *self = *self + *products;
    }

    fn to_link(&self) -> Power<C> {
        Power { base: *self, exponent: [1, 0, 0, 0, 0, 0] }
    }

    fn from_link(link: &Power<C>) -> Self {
        assert_eq!(link.exponent, exponent_of_root::<C>(), "a power for a root is that with the exponent (p - 3)/4");
        link.base.each(link.base, |state, a, _| state.power_for_root(a))
    }

    fn multiply_link(a: &mut Power<C>, b: &Power<C>) {
        assert_eq!(a.base.ids, b.base.ids, "the powers of one element");
        a.add(b.exponent);
    }

    fn square_link(a: &mut Power<C>) {
        a.add(a.exponent);
    }

    const LIMB_BITS: usize = 48;

    fn largest(&self) -> Self {
        *self
    }
}

/// One polynomial, as the portable backend computes with numbers.
#[derive(Clone, Copy)]
pub(super) struct Single<C> {
    id: u32,
    curve: PhantomData<C>,
}

impl<C: Parameters> Single<C> {
    pub(super) const ZERO: Self = Self { id: ZERO, curve: PhantomData };
    pub(super) const ONE: Self = Self { id: ONE, curve: PhantomData };

    /// The element of the first lane.
    pub(super) fn of(element: Symbolic<C>) -> Self {
        Self { id: element.ids[0], curve: PhantomData }
    }

    pub(super) fn in_lanes(self) -> Symbolic<C> {
        Symbolic::in_every_lane(self.id)
    }
}

impl<C: Parameters> Default for Single<C> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<C: Parameters> PartialEq for Single<C> {
    fn eq(&self, other: &Self) -> bool {
        (self.in_lanes() - other.in_lanes()).is_zero() != 0
    }
}

impl<C: Parameters> Eq for Single<C> {}

impl<C: Parameters> arithmetic::field::Field for Single<C> {
    fn plus(&self, other: &Self) -> Self {
        Self::of(self.in_lanes() + other.in_lanes())
    }

    fn minus(&self, other: &Self) -> Self {
        Self::of(self.in_lanes() - other.in_lanes())
    }

    fn times(&self, other: &Self) -> Self {
        Self::of(self.in_lanes() * other.in_lanes())
    }

    fn squared(&self) -> Self {
        self.times(self)
    }

    fn inverse(&self) -> Self {
        Self::of(self.in_lanes().inverted())
    }
}
