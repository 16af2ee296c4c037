//! What a kernel does with symbols, and what is asserted of them.

use core::ops::RangeInclusive;

use num_bigint::BigInt;

use super::{
    dyadic::{Dyadic, Value, power_of_two},
    state::{Definition, Number, Parts, Proof, Rounding, Symbol, product, with},
};
use crate::polynomial::{Coefficient, Polynomial};

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
