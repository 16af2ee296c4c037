//! Integers times powers of two, and polynomials with them.

use core::cmp::Ordering;

use num_bigint::BigInt;

use crate::{
    backend::lanes::constant::Modulus,
    polynomial::{Coefficient, Polynomial},
};

/// An integer times a power of two.
#[derive(Clone, Debug)]
pub(in crate::backend) struct Dyadic {
    pub(super) integer: BigInt,
    pub(super) power: i64,
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
    pub(super) fn counted_in(&self, power: i64) -> BigInt {
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

    pub(super) fn size(&self) -> Self {
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
