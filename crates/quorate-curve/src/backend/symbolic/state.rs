//! What a proof knows: its variables, the numbers that are made of them, and how those are cut.

use alloc::{collections::BTreeMap, vec::Vec};
use core::cell::RefCell;
use std::thread_local;

use num_bigint::BigInt;

use super::dyadic::{Dyadic, Value, power_of_two};
use crate::polynomial::{Coefficient, Polynomial};

/// A number in a kernel.
#[derive(Clone, Copy, Debug)]
pub(in crate::backend) struct Symbol(pub(super) usize);

/// What the symbols of a thread stand for.
#[derive(Default)]
pub(super) struct Proof {
    pub(super) numbers: Vec<Number>,
    pub(super) variables: Vec<Variable>,
    /// What was cut down: so that both halves of a product, or of a column, are of one cut. A number between two nearest ones can be cut
    /// in two ways, so it is cut anew each time.
    pub(super) cuts: Vec<(Value, u32, Parts)>,
    /// How many steps were made.
    pub(super) steps: usize,
    /// The step that is false, if one is.
    pub(super) falsified: Option<usize>,
    /// What false steps made, and whether anything read it.
    pub(super) made_falsely: Vec<usize>,
    pub(super) is_falsehood_read: bool,
    /// The integers nearest to a number times a factor: the same for the same ones.
    pub(super) nearest: Vec<(Value, f64, Symbol)>,
    /// How the open questions on a path are answered: a bit for each, from the lowest.
    pub(super) answers: u32,
    /// The numbers that were asked whether they are negative, and the answers.
    pub(super) answered: Vec<(Value, bool)>,
}

#[derive(Clone)]
pub(super) struct Number {
    pub(super) value: Value,
    pub(super) least: BigInt,
    pub(super) most: BigInt,
    /// Only so many of the lowest bits in the lane are those of the value.
    pub(super) known: Option<u32>,
    /// The bits of other numbers stand in this one as they are: it is cut where they are cut.
    pub(super) is_joined: bool,
}

pub(super) struct Variable {
    pub(super) least: Dyadic,
    pub(super) most: Dyadic,
    pub(super) definition: Definition,
    /// The number of which this is the high part, and where it was cut.
    pub(super) high_of: Option<(Symbol, u32)>,
    /// The variable by those that are never replaced, once it was asked for.
    pub(super) reduced: Option<Value>,
}

#[derive(Clone)]
pub(super) enum Definition {
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
}

pub(super) fn with<T>(act: impl FnOnce(&mut Proof) -> T) -> T {
    PROOF.with_borrow_mut(act)
}

impl Proof {
    /// What a symbol stands for.
    pub(super) fn read(&mut self, symbol: Symbol) -> Number {
        self.is_falsehood_read |= self.made_falsely.contains(&symbol.0);
        self.numbers[symbol.0].clone()
    }

    pub(super) fn variable(&mut self, least: Dyadic, most: Dyadic, definition: Definition) -> Value {
        self.variables.push(Variable { least, most, definition, high_of: None, reduced: None });
        Polynomial::variable(self.variables.len() as u32 - 1)
    }

    pub(super) fn number(&mut self, value: Value, least: BigInt, most: BigInt) -> Symbol {
        self.numbers.push(Number { value, least, most, known: None, is_joined: false });
        Symbol(self.numbers.len() - 1)
    }

    /// The parts of a number. Where the polynomials say that the low part is zero, it is.
    pub(super) fn cut(&mut self, x: Symbol, bits: u32, rounding: Rounding) -> Parts {
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

    pub(super) fn zero(&mut self) -> Symbol {
        self.number(Polynomial::zero(), BigInt::ZERO, BigInt::ZERO)
    }

    /// A number in whose bits those of others stand.
    pub(super) fn joined(&mut self, value: Value, least: BigInt, most: BigInt) -> Symbol {
        let joined = self.number(value, least, most);
        self.numbers[joined.0].is_joined = true;
        joined
    }

    /// The parts of u + 2^s·v with a u below 2^s by the parts of u or v, and those of the high part of a number by its own.
    pub(super) fn cut_in_place(&mut self, value: &Value, bits: u32) -> Option<Parts> {
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
    pub(super) fn range_of(&self, value: &Value) -> (BigInt, BigInt) {
        let (least, most) = self.bounds_of(value);
        assert!(least.power.min(most.power) >= 0, "a number is an integer");
        (least.counted_in(0), most.counted_in(0))
    }

    /// Whether a number is a multiple of 2^b for all inputs: a low part that was cut at 2^b or above differs from what it was cut
    /// from by such a multiple.
    pub(super) fn is_divisible(&self, value: &Value, bits: u32) -> bool {
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
    pub(super) fn reduced(&mut self, value: &Value) -> Value {
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

    pub(super) fn bounds(&mut self, value: &Value) -> (Dyadic, Dyadic) {
        let value = self.reduced(value);
        self.bounds_of(&value)
    }

    pub(super) fn bounds_of(&self, value: &Value) -> (Dyadic, Dyadic) {
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
    pub(super) fn step(&mut self, made: Symbol) -> Symbol {
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

pub(super) fn product<T: Multiply + PartialOrd + Clone>(a: &(T, T), b: &(T, T)) -> (T, T) {
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
pub(super) trait Multiply {
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
