//! A proof: its variables and their relations, what it took to be not zero, and whether two polynomials are the same wherever the relations
//! hold.

use alloc::{boxed::Box, collections::VecDeque, string::String, vec::Vec};
use core::{any::Any, array::from_fn, cell::RefCell, fmt::Debug};
use std::{format, thread, thread_local};

use super::symbolic::{Symbolic, Symbols};
use crate::{
    arithmetic::{Curve, field::Field as _},
    backend::lanes::{
        constant::Constant,
        field::{Field as _, Fp2, LANES, Parameters, Wide},
    },
    polynomial::{Coefficient, Monomial, Polynomial},
};

/// A coefficient: an element of Fp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number<C: Parameters>(pub(super) C::Element);

impl<C: Parameters> Number<C> {
    pub(super) fn of(constant: &Constant<C>) -> Self {
        Self(C::of_words(constant.words))
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

pub(super) type Terms<C> = Polynomial<Number<C>>;

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
pub(super) struct State<C: Parameters> {
    pub(super) polynomials: Vec<Terms<C>>,
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
    pub(super) falsified: Option<Falsified>,
}

thread_local! {
    static STATE: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

pub(super) fn with<C: Parameters, T>(compute: impl FnOnce(&mut State<C>) -> T) -> T {
    STATE.with_borrow_mut(|state| {
        let state = state.as_mut().and_then(|state| state.downcast_mut());
        compute(state.expect("the element belongs to a proof of this thread, on this curve"))
    })
}

pub(super) const ZERO: u32 = 0;
pub(super) const ONE: u32 = 1;

impl<C: Parameters> State<C> {
    pub(super) fn add(&mut self, polynomial: Terms<C>) -> u32 {
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

    pub(super) fn is_zero(&mut self, id: u32) -> bool {
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

    pub(super) fn inverse(&mut self, id: u32) -> u32 {
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
    pub(super) fn power_for_root(&mut self, id: u32) -> u32 {
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

    pub(super) fn cut(&mut self, id: u32) -> u32 {
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
pub(super) fn value<C: Parameters>(polynomial: &Terms<C>) -> Option<Number<C>> {
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
pub(super) fn exponent_of_root<C: Parameters>() -> [u64; 6] {
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
        Self { lanes: Symbols::new(), is_finished: false }
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
                let is_proved = known
                    || with(|s: &mut State<C>| s.reduced(&s.polynomials[difference.ids[lane] as usize]).is_zero());
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
                let from = factors.last().copied().unwrap_or(0);
                for (next, (_, exception)) in exceptions.iter().enumerate().skip(from) {
                    let product = product * *exception;
                    let reduced =
                        with(|state: &mut State<C>| state.reduced(&state.polynomials[product.ids[0] as usize]));
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
