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

use alloc::{boxed::Box, collections::VecDeque, string::String, vec::Vec};
use core::{
    any::Any,
    array::from_fn,
    cell::RefCell,
    fmt::Debug,
    marker::PhantomData,
    ops::{Add, Mul, Neg, Sub},
};
use std::{format, thread, thread_local};

use crate::{
    arithmetic::{Curve, field::Field as _},
    backend::{
        lanes::{
            constant::Constant,
            field::{Field, Fp2, LANES, Lanes, Mask, Parameters, PrimeField, Wide, Words},
            instructions::{BASELINE, Token},
            thresholds::Thresholds,
        },
        serial::Serial,
    },
    polynomial::{Coefficient, Monomial, Polynomial},
};

/// A coefficient: an element of Fp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number<C: Parameters>(pub(super) C::Element);

impl<C: Parameters> Number<C> {
    fn of(constant: &Constant<C>) -> Self {
        // The words are the number times 2^(48·LIMBS), and an element outside the lanes is stored times 2^ELEMENT_BITS.
        let doublings = 48 * C::LIMBS as u32 - C::ELEMENT_BITS;
        let power = (0..doublings).fold(Self::one().0, |power, _| power.doubled());
        Self(C::of_words(constant.words).times(&power.inverse()))
    }

    pub(super) fn power(self, words: &[u64]) -> Self {
        (0..64 * words.len()).rev().fold(Self::one(), |power, bit| {
            let square = power.times(&power);
            if words[bit / 64] >> (bit % 64) & 1 == 1 { square.times(&self) } else { square }
        })
    }
}

impl<C: Parameters> Coefficient for Number<C> {
    fn zero() -> Self {
        Self(C::Element::default())
    }

    fn one() -> Self {
        Self(C::G1::one())
    }

    fn plus(&self, other: &Self) -> Self {
        Self(self.0.plus(&other.0))
    }

    fn times(&self, other: &Self) -> Self {
        Self(self.0.times(&other.0))
    }

    fn negated(&self) -> Self {
        Self(C::Element::default().minus(&self.0))
    }
}

type Terms<C> = Polynomial<Number<C>>;

/// What a variable stands for.
enum Variable<C: Parameters> {
    /// Any number.
    Free,
    /// The inverse of a polynomial in variables that were made before.
    Inverse(Terms<C>),
    /// A number whose power with this exponent is a polynomial in variables that were made before.
    Root(u32, Terms<C>),
}

/// What a formula is falsified in, to see that its proof fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Falsified {
    /// a.minus(b) is b - a.
    Minus,
    /// The reduced sum of products is twice that.
    Reduced,
}

/// What all elements of a proof share.
struct State<C: Parameters> {
    polynomials: Vec<Terms<C>>,
    variables: Vec<Variable<C>>,
    /// Polynomials that were taken to be not zero, with one as the coefficient of the last term.
    not_zero: Vec<Terms<C>>,
    /// The powers a^((p - 3)/4) that have a variable.
    powers: Vec<(Terms<C>, u32)>,
    /// Whether the next elements of which a power is computed are squares.
    squares: VecDeque<bool>,
    /// How many of the next sums of products become variables, and those that did.
    cuts: usize,
    cut: Vec<(Terms<C>, u32)>,
    falsified: Option<Falsified>,
}

thread_local! {
    static STATE: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

fn with<C: Parameters, T>(compute: impl FnOnce(&mut State<C>) -> T) -> T {
    STATE.with_borrow_mut(|state| {
        let state = state.as_mut().and_then(|state| state.downcast_mut());
        compute(state.expect("the element belongs to a proof of this thread, on this curve"))
    })
}

const ZERO: u32 = 0;
const ONE: u32 = 1;

impl<C: Parameters> State<C> {
    fn add(&mut self, polynomial: Terms<C>) -> u32 {
        if polynomial.is_zero() && !self.polynomials.is_empty() {
            return ZERO;
        }
        self.polynomials.push(polynomial);
        (self.polynomials.len() - 1) as u32
    }

    fn variable(&mut self, variable: Variable<C>) -> u32 {
        self.variables.push(variable);
        (self.variables.len() - 1) as u32
    }

    /// A polynomial that is zero only if the relations make this one zero: the numerator, with the lowest powers of roots. The
    /// denominators are powers of what was taken to be not zero.
    fn reduced(&self, polynomial: &Terms<C>) -> Terms<C> {
        let mut reduced = polynomial.clone();
        for (index, variable) in self.variables.iter().enumerate().rev() {
            let (exponent, base, lifts) = match variable {
                Variable::Free => continue,
                Variable::Inverse(of) => (1, of, true),
                Variable::Root(exponent, of) => (*exponent, of, false),
            };
            // The coefficients of the powers of the variable.
            let mut by_power: Vec<Vec<(Monomial, Number<C>)>> = Vec::new();
            for (monomial, k) in reduced.terms() {
                let power = monomial.iter().find(|(v, _)| *v == index as u32).map_or(0, |(_, power)| *power) as usize;
                by_power.resize_with(by_power.len().max(power + 1), Vec::new);
                by_power[power].push((monomial.iter().filter(|(v, _)| *v != index as u32).copied().collect(), *k));
            }
            let by_power: Vec<_> = by_power.into_iter().map(Polynomial::of_terms).collect();
            if by_power.len() <= exponent as usize && !(lifts && by_power.len() > 1) {
                continue;
            }
            // The sum of coefficients times powers of the base, by Horner's rule.
            let horner = |parts: &mut dyn Iterator<Item = &Terms<C>>| {
                parts.fold(Polynomial::zero(), |sum: Terms<C>, part| sum.times(base).plus(part))
            };
            reduced = if lifts {
                horner(&mut by_power.iter())
            } else {
                let exponent = exponent as usize;
                (0..exponent).fold(Polynomial::zero(), |sum: Terms<C>, low| {
                    let rest = horner(&mut by_power.iter().skip(low).step_by(exponent).rev());
                    let power = (0..low).fold(Polynomial::constant(Number::one()), |power: Terms<C>, _| {
                        power.times(&Polynomial::variable(index as u32))
                    });
                    sum.plus(&rest.times(&power))
                })
            };
        }
        reduced
    }

    fn is_zero(&mut self, id: u32) -> bool {
        let reduced = self.reduced(&self.polynomials[id as usize]);
        if !reduced.is_zero() && value(&reduced).is_none() {
            self.take_as_not_zero(&reduced);
        }
        reduced.is_zero()
    }

    fn take_as_not_zero(&mut self, reduced: &Terms<C>) {
        let monic = monic(reduced);
        if !self.not_zero.contains(&monic) {
            self.not_zero.push(monic);
        }
    }

    fn inverse(&mut self, id: u32) -> u32 {
        let reduced = self.reduced(&self.polynomials[id as usize]);
        assert!(!reduced.is_zero(), "zero has no inverse");
        let polynomial = self.polynomials[id as usize].clone();
        if let Some(value) = value(&polynomial) {
            return self.add(Polynomial::constant(Number(value.0.inverse())));
        }
        let known = self.variables.iter().position(|v| matches!(v, Variable::Inverse(of) if *of == polynomial));
        let index = known.map(|index| index as u32).unwrap_or_else(|| {
            if value(&reduced).is_none() {
                self.take_as_not_zero(&reduced);
            }
            self.variable(Variable::Inverse(polynomial))
        });
        self.add(Polynomial::variable(index))
    }

    /// a^((p - 3)/4).
    fn power_for_root(&mut self, id: u32) -> u32 {
        let base = self.polynomials[id as usize].clone();
        if let Some(value) = value(&base) {
            return self.add(Polynomial::constant(value.power(&exponent_of_root::<C>())));
        }
        let known = self.powers.iter().find(|(of, _)| *of == base).map(|(_, index)| *index);
        let index = known.unwrap_or_else(|| {
            let is_square = self.squares.pop_front().expect("the proof says whether each element is a square");
            let inverse = self.inverse(id);
            let inverse = self.polynomials[inverse as usize].clone();
            let square = if is_square { inverse } else { inverse.negated() };
            let index = self.variable(Variable::Root(2, square));
            self.powers.push((base, index));
            index
        });
        self.add(Polynomial::variable(index))
    }

    fn cut(&mut self, id: u32) -> u32 {
        if self.cuts == 0 {
            return id;
        }
        self.cuts -= 1;
        let index = self.variable(Variable::Free);
        self.cut.push((self.polynomials[id as usize].clone(), index));
        self.add(Polynomial::variable(index))
    }
}

/// The value of a constant.
fn value<C: Parameters>(polynomial: &Terms<C>) -> Option<Number<C>> {
    let mut terms = polynomial.terms();
    match (terms.next(), terms.next()) {
        (None, _) => Some(Number::zero()),
        (Some((monomial, k)), None) if monomial.is_empty() => Some(*k),
        _ => None,
    }
}

/// The polynomial divided by the coefficient of its last term.
fn monic<C: Parameters>(polynomial: &Terms<C>) -> Terms<C> {
    let (_, last) = polynomial.terms().last().expect("not zero");
    polynomial.scaled(&Number(last.0.inverse()))
}

/// (p - 3)/4, which is p/4 without the last two bits, because p ends in binary 11.
fn exponent_of_root<C: Parameters>() -> [u64; 6] {
    from_fn(|i| C::P[i] >> 2 | C::P.get(i + 1).map_or(0, |next| next << 62))
}

/// The proof of an identity. Its elements belong to it and to its thread.
pub(super) struct Proof<C: Parameters> {
    pub(super) lanes: Symbols<C>,
    is_finished: bool,
}

impl<C: Parameters> Proof<C> {
    pub(super) fn new() -> Self {
        let mut state = State::<C> {
            polynomials: Vec::new(),
            variables: Vec::new(),
            not_zero: Vec::new(),
            powers: Vec::new(),
            squares: VecDeque::new(),
            cuts: 0,
            cut: Vec::new(),
            falsified: None,
        };
        assert_eq!(state.add(Polynomial::zero()), ZERO);
        assert_eq!(state.add(Polynomial::constant(Number::one())), ONE);
        let before = STATE.replace(Some(Box::new(state)));
        assert!(before.is_none(), "a thread has one proof at a time");
        Self { lanes: Symbols(PhantomData), is_finished: false }
    }

    fn new_variable(&self, variable: Variable<C>) -> Symbolic<C> {
        with(|state: &mut State<C>| {
            let index = state.variable(variable);
            Symbolic::in_every_lane(state.add(Polynomial::variable(index)))
        })
    }

    pub(super) fn variable(&self) -> Symbolic<C> {
        self.new_variable(Variable::Free)
    }

    pub(super) fn variables<const N: usize>(&self) -> [Symbolic<C>; N] {
        from_fn(|_| self.variable())
    }

    /// A number of which the power is this.
    pub(super) fn root(&self, exponent: u32, power: Symbolic<C>) -> Symbolic<C> {
        self.new_variable(Variable::Root(exponent, power.terms(0)))
    }

    pub(super) fn in_fp2(&self) -> Fp2<Symbolic<C>> {
        Fp2 { c0: self.variable(), c1: self.variable() }
    }

    pub(super) fn number(&self, n: i64) -> Symbolic<C> {
        let one = Symbolic::one(self.lanes);
        let sum = (0..64).rev().fold(Symbolic::zero(self.lanes), |sum, bit| {
            let twice = sum + sum;
            if n.unsigned_abs() >> bit & 1 == 1 { twice + one } else { twice }
        });
        if n < 0 { -sum } else { sum }
    }

    /// Whether each of the next elements is a square of which a power for a root is computed.
    pub(super) fn squares(&self, squares: &[bool]) {
        with(|state: &mut State<C>| state.squares.extend(squares));
    }

    /// So many of the next sums of products become new variables when they are reduced.
    pub(super) fn cut(&self, sums: usize) {
        with(|state: &mut State<C>| state.cuts = sums);
    }

    /// What [`cut`](Self::cut) replaced: the sums, and their variables.
    pub(super) fn cut_off(&self) -> Vec<(Symbolic<C>, Symbolic<C>)> {
        with(|state: &mut State<C>| {
            assert_eq!(state.cuts, 0, "fewer sums of products than were to become variables");
            let cut = core::mem::take(&mut state.cut);
            let pairs = cut.into_iter().map(|(sum, index)| (state.add(sum), state.add(Polynomial::variable(index))));
            pairs.map(|(sum, variable)| (Symbolic::in_every_lane(sum), Symbolic::in_every_lane(variable))).collect()
        })
    }

    pub(super) fn falsify(&self, falsified: Falsified) {
        with(|state: &mut State<C>| state.falsified = Some(falsified));
    }

    /// Both sides are the same in every lane, wherever the relations hold.
    #[track_caller]
    pub(super) fn equal(&self, what: &str, found: impl Parts<C>, expected: impl Parts<C>) {
        let (found, expected) = (found.parts(), expected.parts());
        assert_eq!(found.len(), expected.len(), "{what}");
        for (i, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let difference = found - expected;
            for lane in 0..LANES {
                let known = (0..lane).any(|before| difference.ids[before] == difference.ids[lane]);
                let is_proved = known || with(|s: &mut State<C>| s.reduced(&s.polynomials[difference.ids[lane] as usize]).is_zero());
                assert!(is_proved, "not proved: {what}, part {i}, lane {lane}");
            }
        }
    }

    /// Ends the proof. Each polynomial that was taken to be not zero is a product of the exceptional cases and a factor of Fp, and each
    /// exceptional case is in such a product.
    #[track_caller]
    pub(super) fn finish(mut self, exceptions: &[(&str, Symbolic<C>)]) {
        self.is_finished = true;
        let mut unnamed = with(|state: &mut State<C>| {
            assert!(state.squares.is_empty(), "fewer powers than the proof says squares of");
            state.not_zero.clone()
        });
        let mut needed = alloc::vec![false; exceptions.len()];
        // The products of so many exceptional cases, each with the places of its factors, which never fall.
        let mut products = alloc::vec![(Symbolic::one(self.lanes), Vec::new())];
        for _ in 0..MOST_FACTORS {
            if unnamed.is_empty() {
                break;
            }
            let mut longer = Vec::new();
            for (product, factors) in products {
                for next in factors.last().copied().unwrap_or(0)..exceptions.len() {
                    let product = product * exceptions[next].1;
                    let reduced = with(|state: &mut State<C>| state.reduced(&state.polynomials[product.ids[0] as usize]));
                    let factors = [&factors[..], &[next]].concat();
                    let before = unnamed.len();
                    unnamed.retain(|polynomial| *polynomial != monic(&reduced));
                    if unnamed.len() < before {
                        factors.iter().for_each(|factor| needed[*factor] = true);
                    }
                    longer.push((product, factors));
                }
            }
            products = longer;
        }
        assert!(unnamed.is_empty(), "unnamed exceptional cases: {}", shown(&unnamed));
        for (needed, (name, _)) in needed.into_iter().zip(exceptions) {
            assert!(needed, "the proof needs no {name}");
        }
    }
}

/// The most factors of what a formula divides by or asks about, of which each is an exceptional case.
const MOST_FACTORS: usize = 4;

fn shown(polynomials: &impl Debug) -> String {
    let shown = format!("{polynomials:?}");
    shown.chars().take(2000).collect()
}

impl<C: Parameters> Drop for Proof<C> {
    fn drop(&mut self) {
        STATE.set(None);
        if !thread::panicking() {
            assert!(self.is_finished, "a proof ends with its exceptional cases");
        }
    }
}

/// What consists of elements.
pub(super) trait Parts<C: Parameters> {
    fn parts(self) -> Vec<Symbolic<C>>;
}

impl<C: Parameters> Parts<C> for Symbolic<C> {
    fn parts(self) -> Vec<Symbolic<C>> {
        Vec::from([self])
    }
}

impl<C: Parameters> Parts<C> for Fp2<Symbolic<C>> {
    fn parts(self) -> Vec<Symbolic<C>> {
        Vec::from([self.c0, self.c1])
    }
}

impl<C: Parameters> Parts<C> for Wide<Symbolic<C>> {
    fn parts(self) -> Vec<Symbolic<C>> {
        Vec::from([self.c0, self.c1])
    }
}

impl<C: Parameters, T: Parts<C>, const N: usize> Parts<C> for [T; N] {
    fn parts(self) -> Vec<Symbolic<C>> {
        self.into_iter().flat_map(Parts::parts).collect()
    }
}

impl<C: Parameters, T: Parts<C>, U: Parts<C>> Parts<C> for (T, U) {
    fn parts(self) -> Vec<Symbolic<C>> {
        self.0.parts().into_iter().chain(self.1.parts()).collect()
    }
}

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
    const THRESHOLDS: Thresholds = Serial::THRESHOLDS;
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
    ids: [u32; LANES],
    curve: PhantomData<C>,
}

impl<C: Parameters> Symbolic<C> {
    fn in_every_lane(id: u32) -> Self {
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

    fn terms(self, lane: usize) -> Terms<C> {
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

impl<C: Parameters> crate::arithmetic::field::Field for Single<C> {
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
