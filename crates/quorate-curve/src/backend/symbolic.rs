//! Numbers of which a proof knows what they are made of: kernels that run on them are proved for all inputs.
//!
//! A kernel computes with a `Word`. On a [`Symbol`] it makes no numbers but facts: each symbol is a polynomial with integer
//! coefficients over integer variables, and the range of its values. A limb of the input is a variable. So are the two parts of a number
//! x that is cut at 2^b: x = low + 2^b·high. Every sum and product stays a polynomial, and an operation whose result could leave the
//! range in which the lanes are exact panics.
//!
//! In the end each high part is replaced by (x - low)/2^b. What remains of a kernel is a polynomial over the limbs and the low parts,
//! with coefficients that are integers divided by powers of two. From it follow
//!
//! - the congruence: a difference is a multiple of an odd p, whatever the inputs are, if every coefficient is one
//!   ([`assert_congruent`]). What the coefficients are divided by is invertible modulo p;
//! - the bound: the least and the greatest value of each term add up to those of the whole ([`bounds`]).
//!
//! That a digit clears a column (that a low part is zero) follows from the same polynomials modulo 2^b, in which a low part is as
//! good as what it was cut from ([`Proof::is_divisible`]).
//!
//! [`proves`] runs a kernel and its checks; [`misses_no_step`] falsifies one step after the other, and asserts that no proof survives.

use alloc::{boxed::Box, collections::BTreeMap, format, string::String, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    cmp::Ordering,
    ops::RangeInclusive,
};
use std::{panic, sync::Once, thread_local};

use num_bigint::BigInt;

use crate::{
    backend::lanes::constant::Modulus,
    polynomial::{Coefficient, Polynomial},
};

/// An integer times a power of two.
#[derive(Clone, Debug)]
pub(in crate::backend) struct Dyadic {
    integer: BigInt,
    power: i64,
}

impl Dyadic {
    pub(in crate::backend) fn new(integer: impl Into<BigInt>, power: i64) -> Self {
        Self { integer: integer.into(), power }
    }

    /// The number that a double is.
    pub(in crate::backend) fn of(n: f64) -> Self {
        let (bits, mut power) = (n.to_bits(), -1074);
        let mut integer = (bits & ((1 << 52) - 1)) as i64;
        let exponent = (bits >> 52 & 0x7ff) as i64;
        assert!(exponent != 0x7ff, "{n} is no number");
        if exponent > 0 {
            integer |= 1 << 52;
            power += exponent - 1;
        }
        Self::new(if n < 0.0 { -integer } else { integer }, power)
    }

    /// The integer that counts 2^`power`, which is not above that of the number.
    fn counted_in(&self, power: i64) -> BigInt {
        self.integer.clone() << (self.power - power)
    }

    /// Both as integers that count the same power of two.
    fn aligned(&self, other: &Self) -> (BigInt, BigInt, i64) {
        let power = self.power.min(other.power);
        (self.counted_in(power), other.counted_in(power), power)
    }

    pub(in crate::backend) fn minus(&self, other: &Self) -> Self {
        self.plus(&other.negated())
    }

    fn size(&self) -> Self {
        if self.integer < BigInt::ZERO { self.negated() } else { self.clone() }
    }
}

impl From<BigInt> for Dyadic {
    fn from(n: BigInt) -> Self {
        Self::new(n, 0)
    }
}

impl PartialEq for Dyadic {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let (a, b, _) = self.aligned(other);
        a.partial_cmp(&b)
    }
}

impl Coefficient for Dyadic {
    fn zero() -> Self {
        Self::new(0, 0)
    }
    fn one() -> Self {
        Self::new(1, 0)
    }
    fn plus(&self, other: &Self) -> Self {
        let (a, b, power) = self.aligned(other);
        Self::new(a + b, power)
    }
    fn times(&self, other: &Self) -> Self {
        Self::new(&self.integer * &other.integer, self.power + other.power)
    }
    fn negated(&self) -> Self {
        Self::new(-&self.integer, self.power)
    }
}

/// What a number is in the variables.
pub(in crate::backend) type Value = Polynomial<Dyadic>;

/// 2^`bits`.
pub(in crate::backend) fn power_of_two(bits: u32) -> BigInt {
    BigInt::from(1) << bits
}

/// p.
pub(in crate::backend) fn prime<C: Modulus>() -> BigInt {
    C::P.iter().rev().fold(BigInt::ZERO, |sum, word| (sum << 64) + word)
}

/// A number in a kernel.
#[derive(Clone, Copy, Debug)]
pub(in crate::backend) struct Symbol(usize);

/// What the symbols of a thread stand for.
#[derive(Default)]
struct Proof {
    numbers: Vec<Number>,
    variables: Vec<Variable>,
    /// What was cut down: so that both halves of a product, or of a column, are of one cut. A number between two nearest ones can be cut
    /// in two ways, so it is cut anew each time.
    cuts: Vec<(Value, u32, Parts)>,
    /// How many steps were made.
    steps: usize,
    /// The step that is false, if one is.
    falsified: Option<usize>,
    /// What false steps made, and whether anything read it.
    made_falsely: Vec<usize>,
    is_falsehood_read: bool,
    /// The integers nearest to a number times a factor: the same for the same ones.
    nearest: Vec<(Value, f64, Symbol)>,
    /// How the open questions on a path are answered: a bit for each, from the lowest.
    answers: u32,
    /// The numbers that were asked whether they are negative, and the answers.
    answered: Vec<(Value, bool)>,
}

#[derive(Clone)]
struct Number {
    value: Value,
    least: BigInt,
    most: BigInt,
    /// Only so many of the lowest bits in the lane are those of the value.
    known: Option<u32>,
    /// The bits of other numbers stand in this one as they are: it is cut where they are cut.
    is_joined: bool,
}

struct Variable {
    least: Dyadic,
    most: Dyadic,
    definition: Definition,
    /// The number of which this is the high part, and where it was cut.
    high_of: Option<(Symbol, u32)>,
    /// The variable by those that are never replaced, once it was asked for.
    reduced: Option<Value>,
}

#[derive(Clone)]
enum Definition {
    /// An input, or what an approximation is off by.
    Free,
    /// x modulo 2^b.
    Low { of: Value, bits: u32 },
    /// A polynomial in older variables.
    Is(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backend) enum Rounding {
    /// The low part is from 0 to 2^b - 1.
    Down,
    /// The low part is from -2^(b-1) to 2^(b-1).
    Nearest,
}

/// The two parts of a number: low + 2^b·high.
#[derive(Clone, Copy)]
pub(in crate::backend) struct Parts {
    pub(in crate::backend) low: Symbol,
    pub(in crate::backend) high: Symbol,
}

thread_local! {
    static PROOF: RefCell<Proof> = RefCell::default();
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

fn with<T>(act: impl FnOnce(&mut Proof) -> T) -> T {
    PROOF.with_borrow_mut(act)
}

impl Proof {
    /// What a symbol stands for.
    fn read(&mut self, symbol: Symbol) -> Number {
        self.is_falsehood_read |= self.made_falsely.contains(&symbol.0);
        self.numbers[symbol.0].clone()
    }

    fn variable(&mut self, least: Dyadic, most: Dyadic, definition: Definition) -> Value {
        self.variables.push(Variable { least, most, definition, high_of: None, reduced: None });
        Polynomial::variable(self.variables.len() as u32 - 1)
    }

    fn number(&mut self, value: Value, least: BigInt, most: BigInt) -> Symbol {
        self.numbers.push(Number { value, least, most, known: None, is_joined: false });
        Symbol(self.numbers.len() - 1)
    }

    /// The parts of a number. Where the polynomials say that the low part is zero, it is.
    fn cut(&mut self, x: Symbol, bits: u32, rounding: Rounding) -> Parts {
        let Number { value, least, most, is_joined, .. } = self.read(x);
        let is_unique = rounding == Rounding::Down;
        if let Some((_, _, parts)) = self.cuts.iter().rev().find(|(of, b, _)| is_unique && *b == bits && *of == value) {
            return *parts;
        }
        let unit = power_of_two(bits);
        let half: BigInt = &unit >> 1;
        let is_low = match rounding {
            Rounding::Down => least >= BigInt::ZERO && most < unit,
            Rounding::Nearest => -&half < least && most < half,
        };
        let parts = if is_low {
            Parts { low: x, high: self.zero() }
        } else if let Some(parts) = (is_joined && is_unique).then(|| self.cut_in_place(&value, bits)).flatten() {
            parts
        } else {
            let is_cleared = self.is_divisible(&value, bits);
            let (least_low, most_low) = match rounding {
                Rounding::Down => (BigInt::ZERO, &unit - 1),
                Rounding::Nearest => (-&half, half),
            };
            let low = if is_cleared {
                Polynomial::zero()
            } else {
                let definition = Definition::Low { of: value.clone(), bits };
                self.variable(least_low.clone().into(), most_low.clone().into(), definition)
            };
            let high = value.minus(&low).scaled(&Dyadic::new(1, -i64::from(bits)));
            // The least quotient leaves the greatest low part. A shift of a negative number rounds down.
            let (least, most): (BigInt, BigInt) =
                ((least - &most_low + &unit - 1) >> bits, (most - &least_low) >> bits);
            let high = self.variable(least.clone().into(), most.clone().into(), Definition::Is(high));
            if let Some(variable) = self.variables.last_mut().filter(|_| is_unique) {
                variable.high_of = Some((x, bits));
            }
            let high = self.number(high, least, most);
            Parts {
                low: if is_cleared {
                    self.number(low, BigInt::ZERO, BigInt::ZERO)
                } else {
                    self.number(low, least_low, most_low)
                },
                high,
            }
        };
        if is_unique {
            self.cuts.push((value, bits, parts));
        }
        parts
    }

    fn zero(&mut self) -> Symbol {
        self.number(Polynomial::zero(), BigInt::ZERO, BigInt::ZERO)
    }

    /// A number in whose bits those of others stand.
    fn joined(&mut self, value: Value, least: BigInt, most: BigInt) -> Symbol {
        let joined = self.number(value, least, most);
        self.numbers[joined.0].is_joined = true;
        joined
    }

    /// The parts of u + 2^s·v with a u below 2^s by the parts of u or v, and those of the high part of a number by its own.
    fn cut_in_place(&mut self, value: &Value, bits: u32) -> Option<Parts> {
        if bits == 0 {
            let (least, most) = self.range_of(value);
            return Some(Parts { low: self.zero(), high: self.joined(value.clone(), least, most) });
        }
        let mut terms = value.terms();
        if let (Some((monomial, k)), None) = (terms.next(), terms.next())
            && let [(variable, 1)] = monomial[..]
            && *k == Dyadic::one()
            && let Some((of, place)) = self.variables[variable as usize].high_of
        {
            let high = self.cut(of, place + bits, Rounding::Down).high;
            let above = self.read(high).value.scaled(&Dyadic::new(1, bits.into()));
            let low = self.joined(value.minus(&above), BigInt::ZERO, power_of_two(bits) - 1);
            return Some(Parts { low, high });
        }
        let place_of = |k: &Dyadic| k.power + k.integer.trailing_zeros().unwrap_or(0) as i64;
        let mut places: Vec<_> = value.terms().map(|(_, k)| place_of(k)).filter(|place| *place > 0).collect();
        places.sort_unstable();
        for place in places {
            let part = |is_upper: bool| {
                Polynomial::of_terms(
                    value
                        .terms()
                        .filter(|(_, k)| (place_of(k) >= place) == is_upper)
                        .map(|(m, k)| (m.clone(), k.clone())),
                )
            };
            let lower = part(false);
            let (least, most) = self.range_of(&lower);
            if least < BigInt::ZERO || most >= power_of_two(place as u32) {
                continue;
            }
            let u = self.joined(lower.clone(), least.clone(), most.clone());
            let upper = part(true).scaled(&Dyadic::new(1, -place));
            let (least_v, most_v) = self.range_of(&upper);
            let v = self.joined(upper.clone(), least_v, most_v);
            let place = place as u32;
            let (low, high) = if place <= bits {
                let parts = self.cut(v, bits - place, Rounding::Down);
                let above = self.read(parts.low).value.scaled(&Dyadic::new(1, place.into()));
                (lower.plus(&above), self.read(parts.high).value)
            } else {
                let parts = self.cut(u, bits, Rounding::Down);
                let above = upper.scaled(&Dyadic::new(1, i64::from(place - bits)));
                (self.read(parts.low).value, self.read(parts.high).value.plus(&above))
            };
            let (least, most) = self.range_of(&high);
            return Some(Parts {
                low: self.joined(low, BigInt::ZERO, power_of_two(bits) - 1),
                high: self.joined(high, least, most),
            });
        }
        None
    }

    /// The range that a polynomial has by those of its variables.
    fn range_of(&self, value: &Value) -> (BigInt, BigInt) {
        let (least, most) = self.bounds_of(value);
        assert!(least.power.min(most.power) >= 0, "a number is an integer");
        (least.counted_in(0), most.counted_in(0))
    }

    /// Whether a number is a multiple of 2^b for all inputs: a low part that was cut at 2^b or above differs from what it was cut
    /// from by such a multiple.
    fn is_divisible(&self, value: &Value, bits: u32) -> bool {
        let unit = power_of_two(bits);
        let modulo = |value: &Value| {
            Polynomial::of_terms(value.terms().map(|(monomial, k)| {
                let integer = k.counted_in(k.power.min(0));
                assert!(k.power >= 0 || (&integer % power_of_two(-k.power as u32)) == BigInt::ZERO);
                (monomial.clone(), Dyadic::from((integer >> (-k.power).max(0)) % &unit))
            }))
        };
        let mut rest = modulo(value);
        loop {
            let newest = rest.terms().flat_map(|(monomial, _)| monomial).map(|(variable, _)| *variable).filter(|variable| {
                matches!(&self.variables[*variable as usize].definition, Definition::Low { bits: b, .. } if *b >= bits)
            });
            let Some(newest) = newest.max() else { return rest.is_zero() };
            let Definition::Low { of, .. } = &self.variables[newest as usize].definition else { return false };
            rest = modulo(&replaced(&rest, |variable| (variable == newest).then(|| of.clone())));
        }
    }

    /// A polynomial in the variables that are never replaced.
    fn reduced(&mut self, value: &Value) -> Value {
        let mut found = BTreeMap::new();
        for variable in value.terms().flat_map(|(monomial, _)| monomial).map(|(variable, _)| *variable) {
            if found.contains_key(&variable) {
                continue;
            }
            let known = &self.variables[variable as usize];
            let reduced = match (&known.reduced, &known.definition) {
                (Some(reduced), _) => Some(reduced.clone()),
                (None, Definition::Is(value)) => {
                    let value = value.clone();
                    let reduced = self.reduced(&value);
                    self.variables[variable as usize].reduced = Some(reduced.clone());
                    Some(reduced)
                }
                (None, _) => None,
            };
            found.insert(variable, reduced);
        }
        replaced(value, |variable| found[&variable].clone())
    }

    fn bounds(&mut self, value: &Value) -> (Dyadic, Dyadic) {
        let value = self.reduced(value);
        self.bounds_of(&value)
    }

    fn bounds_of(&self, value: &Value) -> (Dyadic, Dyadic) {
        let mut sum = (Dyadic::zero(), Dyadic::zero());
        for (monomial, k) in value.terms() {
            let mut range = (k.clone(), k.clone());
            for (variable, power) in monomial {
                let Variable { least, most, .. } = &self.variables[*variable as usize];
                for _ in 0..*power {
                    range = product(&range, &(least.clone(), most.clone()));
                }
            }
            sum = (sum.0.plus(&range.0), sum.1.plus(&range.1));
        }
        sum
    }

    /// The symbol, or a false one if its step is to be false.
    fn step(&mut self, made: Symbol) -> Symbol {
        let is_false = self.falsified == Some(self.steps);
        self.steps += 1;
        if !is_false {
            return made;
        }
        let Number { value, least, most, known, is_joined } = self.read(made);
        let one_more = self.number(value.plus(&Polynomial::constant(Dyadic::one())), least, most + 1);
        (self.numbers[one_more.0].known, self.numbers[one_more.0].is_joined) = (known, is_joined);
        self.made_falsely.push(one_more.0);
        one_more
    }
}

/// The polynomial with variables replaced by polynomials.
fn replaced(value: &Value, by: impl Fn(u32) -> Option<Value>) -> Value {
    let mut kept = Vec::new();
    let mut out = Polynomial::zero();
    for (monomial, k) in value.terms() {
        let (mut rest, mut factor) = (Vec::new(), None::<Value>);
        for (variable, power) in monomial {
            match by(*variable) {
                None => rest.push((*variable, *power)),
                Some(value) => {
                    for _ in 0..*power {
                        factor = Some(factor.map_or_else(|| value.clone(), |factor| factor.times(&value)));
                    }
                }
            }
        }
        match factor {
            None => kept.push((rest, k.clone())),
            Some(factor) => out.add(&factor.times(&Polynomial::of_terms([(rest, k.clone())]))),
        }
    }
    out.add(&Polynomial::of_terms(kept));
    out
}

fn product<T: PartialOrd + Clone>(a: &(T, T), b: &(T, T)) -> (T, T)
where
    T: Multiply,
{
    let ends = [a.0.multiplied(&b.0), a.0.multiplied(&b.1), a.1.multiplied(&b.0), a.1.multiplied(&b.1)];
    let (mut least, mut most) = (ends[0].clone(), ends[0].clone());
    for end in &ends[1..] {
        if *end < least {
            least = end.clone();
        }
        if *end > most {
            most = end.clone();
        }
    }
    (least, most)
}

/// What ends of ranges do.
trait Multiply {
    fn multiplied(&self, other: &Self) -> Self;
}

impl Multiply for Dyadic {
    fn multiplied(&self, other: &Self) -> Self {
        self.times(other)
    }
}

impl Multiply for BigInt {
    fn multiplied(&self, other: &Self) -> Self {
        self * other
    }
}

impl Symbol {
    /// An input with any integer of a range.
    pub(in crate::backend) fn input(range: RangeInclusive<BigInt>) -> Self {
        let (least, most) = range.into_inner();
        assert!(least <= most);
        with(|proof| {
            let value = proof.variable(least.clone().into(), most.clone().into(), Definition::Free);
            proof.number(value, least, most)
        })
    }

    pub(in crate::backend) fn constant(n: impl Into<BigInt>) -> Self {
        let n = n.into();
        with(|proof| proof.number(Polynomial::constant(n.clone().into()), n.clone(), n))
    }

    pub(in crate::backend) fn range(self) -> RangeInclusive<BigInt> {
        with(|proof| {
            let Number { least, most, .. } = proof.read(self);
            least..=most
        })
    }

    pub(in crate::backend) fn value(self) -> Value {
        with(|proof| proof.read(self).value)
    }

    fn of(value: Value, least: BigInt, most: BigInt) -> Self {
        with(|proof| proof.number(value, least, most))
    }

    /// What the number is, for an operation that reads all of its bits.
    #[track_caller]
    fn whole(self) -> (Value, BigInt, BigInt) {
        let Number { value, least, most, known, .. } = with(|proof| proof.read(self));
        assert!(known.is_none(), "a number of which only the lowest bits are known is read whole");
        (value, least, most)
    }

    pub(in crate::backend) fn sum(self, other: Self) -> Self {
        let ((a, a_least, a_most), (b, b_least, b_most)) = (self.whole(), other.whole());
        Self::of(a.plus(&b), a_least + b_least, a_most + b_most)
    }

    pub(in crate::backend) fn difference(self, other: Self) -> Self {
        let ((a, a_least, a_most), (b, b_least, b_most)) = (self.whole(), other.whole());
        Self::of(a.minus(&b), a_least - b_most, a_most - b_least)
    }

    /// The product. Of truncated numbers it is that of their lowest 52 bits.
    pub(in crate::backend) fn product(self, other: Self) -> Self {
        let [a, b] = [self, other].map(|symbol| with(|proof| proof.read(symbol)));
        let (least, most) = product(&(a.least, a.most), &(b.least, b.most));
        Self::of(a.value.times(&b.value), least, most)
    }

    pub(in crate::backend) fn shifted(self, bits: u32) -> Self {
        let (value, least, most) = self.whole();
        Self::of(value.scaled(&Dyadic::new(1, bits.into())), least << bits, most << bits)
    }

    /// Both parts of the number.
    pub(in crate::backend) fn cut_at(self, bits: u32, rounding: Rounding) -> Parts {
        self.whole();
        with(|proof| proof.cut(self, bits, rounding))
    }

    /// The number modulo 2^`bits`.
    pub(in crate::backend) fn lowest(self, bits: u32) -> Self {
        if with(|proof| proof.read(self).known).is_some_and(|known| bits > known) {
            self.whole();
        }
        with(|proof| proof.cut(self, bits, Rounding::Down).low)
    }

    /// Its lowest 52 bits, which is all that an operation may read of it.
    pub(in crate::backend) fn truncated_to_52(self) -> Self {
        let low = self.lowest(52);
        with(|proof| {
            let mut number = proof.read(low);
            number.known = Some(52);
            proof.numbers.push(number);
            Self(proof.numbers.len() - 1)
        })
    }

    /// The number above its lowest bits.
    pub(in crate::backend) fn moved_down(self, bits: u32) -> Self {
        let high = if bits == 0 { self } else { self.cut_at(bits, Rounding::Down).high };
        let (value, least, most) = high.whole();
        with(|proof| proof.joined(value, least, most))
    }

    /// The number below another one that is moved up to begin where this one ends. In the lane are the lowest 64 bits.
    pub(in crate::backend) fn with_above(self, above: Self, bits: u32) -> Self {
        self.assert_within(BigInt::ZERO..=power_of_two(bits) - 1, "bits do not meet others");
        let ((a, ..), (b, ..)) = (self.whole(), above.whole());
        with(|proof| {
            let value = a.plus(&b.scaled(&Dyadic::new(1, bits.into())));
            let (least, most) = proof.range_of(&value);
            let joined = proof.joined(value, least, most.clone());
            proof.numbers[joined.0].known = (most > i64::MAX.into()).then_some(64);
            joined
        })
    }

    /// The number divided by 2^`bits`, of which it has to be a multiple for all inputs.
    pub(in crate::backend) fn divided(self, bits: u32) -> Self {
        assert_divisible(&self.whole().0, bits);
        self.cut_at(bits, Rounding::Down).high
    }

    /// The integer nearest to the number times `factor`; either one if two are.
    pub(in crate::backend) fn nearest_to(self, factor: f64) -> Self {
        let (value, least, most) = self.whole();
        let known =
            |proof: &Proof| proof.nearest.iter().find(|(of, by, _)| *by == factor && *of == value).map(|known| known.2);
        if let Some(nearest) = with(|proof| known(proof)) {
            return nearest;
        }
        let (of, by) = (value.clone(), factor);
        let half = Dyadic::new(1, -1);
        let factor = Dyadic::of(factor);
        let (least, most) = product(&(least.into(), most.into()), &(factor.clone(), factor.clone()));
        with(|proof| {
            let error = proof.variable(half.negated(), half, Definition::Free);
            // The integer nearest to n, the greater one of two.
            let rounded = |n: &Dyadic| {
                let twice = n.times(&Dyadic::new(2, 0)).plus(&Dyadic::one());
                let power = twice.power.min(0);
                twice.counted_in(power) >> (1 - power)
            };
            let (least, most) = (-rounded(&least.negated()), rounded(&most));
            let definition = Definition::Is(value.scaled(&factor).minus(&error));
            let value = proof.variable(least.clone().into(), most.clone().into(), definition);
            let nearest = proof.number(value, least, most);
            proof.nearest.push((of, by, nearest));
            nearest
        })
    }

    /// Whether the number is negative. If it can be either, [`on_each_path`] has an answer.
    pub(in crate::backend) fn is_negative(self) -> bool {
        let (value, least, most) = self.whole();
        if most < BigInt::ZERO || least >= BigInt::ZERO {
            return most < BigInt::ZERO;
        }
        with(|proof| {
            if let Some((_, answer)) = proof.answered.iter().find(|(of, _)| *of == value) {
                return *answer;
            }
            let answer = proof.answers >> proof.answered.len() & 1 == 1;
            proof.answered.push((value, answer));
            answer
        })
    }

    /// The result of a step of a kernel: a false one, if this step is to be false.
    pub(in crate::backend) fn step(self) -> Self {
        with(|proof| proof.step(self))
    }

    /// Asserts that the number can only be in a range.
    #[track_caller]
    pub(in crate::backend) fn assert_within(self, range: RangeInclusive<BigInt>, what: &str) -> Self {
        let found = self.range();
        assert!(found.start() >= range.start() && found.end() <= range.end(), "not proved: {what}");
        self
    }
}

/// Σ limb·2^(`bits`·i).
pub(in crate::backend) fn value_of(limbs: &[Symbol], bits: u32) -> Value {
    limbs.iter().enumerate().fold(Polynomial::zero(), |sum, (i, limb)| {
        sum.plus(&limb.value().scaled(&Dyadic::new(1, i64::from(bits) * i as i64)))
    })
}

/// Asserts that two numbers are the same modulo an odd number, whatever the inputs are.
#[track_caller]
pub(in crate::backend) fn assert_congruent(a: &Value, b: &Value, modulus: &BigInt) {
    assert!(modulus % 2 == BigInt::from(1));
    let difference = with(|proof| proof.reduced(&a.minus(b)));
    for (monomial, k) in difference.terms() {
        let is_multiple = (&k.integer % modulus) == BigInt::ZERO;
        assert!(
            is_multiple,
            "not proved: the same modulo p, because of the term {monomial:?}, {k:?}, of {}",
            difference.terms().count()
        );
    }
}

/// Asserts that two numbers are the same, whatever the inputs are.
#[track_caller]
pub(in crate::backend) fn assert_same(a: &Value, b: &Value) {
    let difference = with(|proof| proof.reduced(&a.minus(b)));
    assert!(difference.is_zero(), "not proved: the same, because of {} terms", difference.terms().count());
}

/// Asserts that a number is a multiple of 2^`bits`, whatever the inputs are.
#[track_caller]
pub(in crate::backend) fn assert_divisible(value: &Value, bits: u32) {
    assert!(with(|proof| proof.is_divisible(value, bits)), "not proved: a multiple of 2^{bits}");
}

/// The least and the greatest value, or numbers beyond them.
pub(in crate::backend) fn bounds(value: &Value) -> (Dyadic, Dyadic) {
    with(|proof| proof.bounds(value))
}

/// The greatest absolute value, or a number beyond it.
pub(in crate::backend) fn size(value: &Value) -> Dyadic {
    let (least, most) = bounds(value);
    if least.size() > most.size() { least.size() } else { most.size() }
}

/// Runs a kernel for each way in which at most so many questions for a sign can be answered. `check` gets what `run` gives, and the
/// numbers that were asked for, each with whether it is negative: that is what it may assume.
pub(in crate::backend) fn on_each_path<T>(questions: u32, run: impl Fn() -> T, check: impl Fn(T, &[(Value, bool)])) {
    in_each_case(0..1 << questions, |answers| {
        with(|proof| (proof.answers, proof.answered) = (answers, Vec::new()));
        let made = run();
        let answered = with(|proof| proof.answered.clone());
        assert!(answered.len() <= questions as usize, "more questions than answers");
        check(made, &answered);
    });
}

/// Runs a kernel for each of the cases that its inputs fall into. A step that is false is so in all cases.
pub(in crate::backend) fn in_each_case<T>(cases: impl IntoIterator<Item = T>, run: impl Fn(T)) {
    let before = with(|proof| proof.steps);
    for case in cases {
        with(|proof| proof.steps = before);
        run(case);
    }
}

/// Runs a kernel whose results are only compared with: its steps are not those of the proof.
pub(in crate::backend) fn beside<T>(run: impl FnOnce() -> T) -> T {
    let (steps, falsified) = with(|proof| (proof.steps, proof.falsified.take()));
    let made = run();
    with(|proof| (proof.steps, proof.falsified) = (steps, falsified));
    made
}

/// Runs a kernel and its checks on fresh symbols. The number of its steps.
pub(in crate::backend) fn proves(proof: impl Fn()) -> usize {
    with(|state| *state = Proof::default());
    proof();
    with(|state| state.steps)
}

/// Whether the panics of this thread are expected, and not reported.
fn quiet(is_quiet: bool) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                report(panic);
            }
        }));
    });
    QUIET.set(is_quiet);
}

/// Runs the proof, and once more for each `QUORATE_PROVE_EVERY`th step with this step falsified: its result is one more. Each of those
/// has to fail, so no step is without effect on what is proved. `make prove` falsifies every step.
#[track_caller]
pub(in crate::backend) fn misses_no_step(proof: impl Fn() + panic::RefUnwindSafe) {
    let every = std::env::var("QUORATE_PROVE_EVERY").map_or(101, |every| every.parse().expect("a number of steps"));
    let steps = proves(&proof);
    assert!(steps > 0, "a proof about nothing");
    quiet(true);
    let survivors: Vec<String> = (0..steps)
        .step_by(every)
        .filter(|step| {
            let run = panic::catch_unwind(|| {
                with(|state| *state = Proof { falsified: Some(*step), ..Proof::default() });
                proof();
            });
            // What nothing reads is not computed in the lanes.
            run.is_ok() && with(|state| state.is_falsehood_read)
        })
        .map(|step| format!("{step}"))
        .collect();
    quiet(false);
    assert!(survivors.is_empty(), "of {steps} steps, these may be false: {}", survivors.join(", "));
}

/// Tests that prove a kernel for both curves, each with its number of limbs, and falsify its steps.
macro_rules! proofs {
    ($($(#[$doc:meta])* fn $name:ident<$c:ident, $n:ident>() $body:block)*) => { $(
        $(#[$doc])*
        #[test]
        fn $name() {
            fn prove<$c: $crate::backend::lanes::constant::Modulus, const $n: usize>() $body
            $crate::backend::symbolic::misses_no_step(prove::<$crate::pairing::Bls12381, 8>);
            #[cfg(feature = "bn254")]
            $crate::backend::symbolic::misses_no_step(prove::<$crate::Bn254, 6>);
        }
    )* };
}
pub(in crate::backend) use proofs;
