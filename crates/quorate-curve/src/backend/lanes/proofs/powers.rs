//! Exponents: of the final exponentiation, of powers by the parameter, of the loops. They are computed by the same code, in which an
//! element is the exponent of what it stands for.

use core::marker::PhantomData;

use super::{naive::Specified, symbolic::Symbols};
use crate::{
    backend::lanes::{
        compressed, curve,
        field::{Extension, LoopStep, Parameters},
        fp12::raised_by_squares,
        pairing::final_exponentiation,
    },
    pairing::Bls12381,
    scalar::Scalar,
};

/// A polynomial in the absolute value n of the parameter, of which the coefficients are the constant one first.
pub(super) type InN = [i128; DEGREE];

/// Above every degree that comes up.
const DEGREE: usize = 64;

fn number(n: i128) -> InN {
    let mut out = [0; DEGREE];
    out[0] = n;
    out
}

fn sum(a: InN, b: InN) -> InN {
    core::array::from_fn(|i| a[i] + b[i])
}

fn scaled(a: InN, by: i128) -> InN {
    a.map(|k| k * by)
}

fn product(a: InN, b: InN) -> InN {
    let mut out = [0; DEGREE];
    for (i, k) in a.into_iter().enumerate().filter(|(_, k)| *k != 0) {
        for (j, l) in b.into_iter().enumerate().filter(|(_, l)| *l != 0) {
            out[i + j] += k * l;
        }
    }
    out
}

fn power(a: InN, times: usize) -> InN {
    (0..times).fold(number(1), |power, _| product(power, a))
}

/// The polynomial with these coefficients.
pub(super) fn polynomial(coefficients: &[i128]) -> InN {
    let mut out = [0; DEGREE];
    out[..coefficients.len()].copy_from_slice(coefficients);
    out
}

/// An exponent Σ aⱼ(n)·pʲ modulo p¹² - 1, the order of all elements but zero.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Exponent<C> {
    by_power_of_p: [InN; 12],
    curve: PhantomData<C>,
}

impl<C: Specified> Exponent<C> {
    fn of(exponents: &[(usize, InN)]) -> Self {
        let mut by_power_of_p = [[0; DEGREE]; 12];
        for (j, a) in exponents {
            by_power_of_p[j % 12] = sum(by_power_of_p[j % 12], *a);
        }
        Self { by_power_of_p, curve: PhantomData }
    }

    fn one() -> Self {
        Self::of(&[(0, number(1))])
    }

    fn each(&self, compute: impl Fn(InN) -> InN) -> Self {
        Self { by_power_of_p: self.by_power_of_p.map(compute), curve: PhantomData }
    }

    fn raised_to_p(&self, times: usize) -> Self {
        Self { by_power_of_p: core::array::from_fn(|j| self.by_power_of_p[(j + 12 - times) % 12]), curve: PhantomData }
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            by_power_of_p: core::array::from_fn(|j| sum(self.by_power_of_p[j], other.by_power_of_p[j])),
            curve: PhantomData,
        }
    }
}

impl<C: Specified> Extension for Exponent<C> {
    /// [`towers`](super::towers) prove that it is the value raised to p⁶.
    fn conjugated(&self) -> Self {
        self.raised_to_p(6)
    }

    fn times(&self, other: &Self) -> Self {
        self.plus(other)
    }

    fn cyclotomic_squared(&self) -> Self {
        self.plus(self)
    }

    fn raised_to_parameter(&self) -> Self {
        self.each(|a| product(a, polynomial(&[0, 1])))
    }

    fn frobenius(&self) -> Self {
        self.raised_to_p(1)
    }

    fn inverted(&self) -> Self {
        self.each(|a| scaled(a, -1))
    }
}

/// A family of curves: polynomials in n.
pub(super) struct Family {
    /// `over`·p.
    pub(super) p: InN,
    pub(super) over: i128,
    pub(super) r: InN,
    /// The hard part, by powers of p.
    pub(super) hard: [InN; 4],
    /// The hard part is this number, which r does not divide, times (p⁴ - p² + 1)/r.
    pub(super) multiple: InN,
}

/// BLS12: with the parameter z = -n, p = (z - 1)²(z⁴ - z² + 1)/3 + z and r = z⁴ - z² + 1.
fn bls12() -> Family {
    let z = polynomial(&[0, -1]);
    let square = power(sum(z, number(-1)), 2);
    let r = polynomial(&[1, 0, -1, 0, 1]);
    // (z - 1)²·(z + p)·(z² + p² - 1) + 3.
    let rest = sum(power(z, 2), number(-1));
    Family {
        p: sum(product(square, r), scaled(z, 3)),
        over: 3,
        r,
        hard: [sum(product(square, product(z, rest)), number(3)), product(square, rest), product(square, z), square],
        multiple: number(3),
    }
}

/// The final exponentiation raises to (p⁶ - 1)(p² + 1) times the hard part, and the hard part is a multiple of (p⁴ - p² + 1)/r.
pub(super) fn final_exponentiation_of<C: Specified>(family: &Family) {
    let hard = family.hard;
    let hard_part = Exponent::<C>::of(&[(0, hard[0]), (1, hard[1]), (2, hard[2]), (3, hard[3])]);
    let squared = hard_part.raised_to_p(2).plus(&hard_part);
    let expected = squared.raised_to_p(6).plus(&squared.inverted());
    assert_eq!(final_exponentiation(Symbols::<C>::new(), &Exponent::<C>::one()), expected);
    // With P = over·p: Σ hardⱼ·Pʲ·over^(3 - j)·r·over = multiple·(P⁴ - over²·P² + over⁴).
    let Family { p, over, r, multiple, .. } = family;
    let scaled_power = |j: usize| scaled(power(*p, j), over.pow(4 - j as u32));
    let hard = (0..4).fold(number(0), |total, j| sum(total, product(hard[j], scaled_power(j))));
    let cyclotomic = sum(sum(scaled_power(4), scaled(scaled_power(2), -1)), scaled_power(0));
    assert_eq!(product(hard, *r), product(*multiple, cyclotomic));
    // The numbers are the curve's.
    let n = parameter::<C>();
    assert_eq!(at(*p, n), times(C::P, *over as u64));
}

/// The absolute value of the parameter.
pub(super) fn parameter<C: Parameters>() -> u64 {
    C::PARAMETER[0] - C::PARAMETER[1]
}

/// The product modulo 2^384.
fn times(a: [u64; 6], by: u64) -> [u64; 6] {
    let mut carry = 0_u128;
    a.map(|word| {
        carry += u128::from(word) * u128::from(by);
        let low = carry as u64;
        carry >>= 64;
        low
    })
}

/// The value at a number modulo 2^384.
pub(super) fn at(polynomial: InN, n: u64) -> [u64; 6] {
    polynomial.into_iter().rev().fold([0; 6], |value, k| {
        let sign = if k < 0 { u64::MAX } else { 0 };
        let added = [k as u64, (k >> 64) as u64, sign, sign, sign, sign];
        let mut carry = 0_u128;
        let value = times(value, n);
        core::array::from_fn(|i| {
            carry += u128::from(value[i]) + u128::from(added[i]);
            let low = carry as u64;
            carry >>= 64;
            low
        })
    })
}

/// Squares and products, or products with inverses, make the parameter.
pub(super) fn power_by_the_parameter<C: Specified>() {
    let raised = raised_by_squares(&Exponent::<C>::one(), C::PARAMETER);
    let n = number(parameter::<C>().into());
    // An inverse in the cyclotomic subgroup is the value raised to p⁶.
    let by_one_and_p6 = [0, 6].map(|j| raised.by_power_of_p[j]);
    assert_eq!(sum(by_one_and_p6[0], scaled(by_one_and_p6[1], -1)), n);
    assert_eq!(raised, Exponent::of(&[(0, by_one_and_p6[0]), (6, by_one_and_p6[1])]));
}

/// The multiple of the base that the loop makes.
pub(super) fn loop_makes(steps: &[LoopStep]) -> (i128, &[LoopStep]) {
    let images = steps.iter().position(|step| !matches!(step, LoopStep::Double | LoopStep::Add | LoopStep::Subtract));
    let (steps, images) = steps.split_at(images.unwrap_or(steps.len()));
    let multiple = steps.iter().fold(1, |multiple, step| match step {
        LoopStep::Double => 2 * multiple,
        LoopStep::Add => multiple + 1,
        _ => multiple - 1,
    });
    (multiple, images)
}

#[test]
fn final_exponentiation_bls12381() {
    final_exponentiation_of::<Bls12381>(&bls12());
    // r is the order of the scalars: -1 is r - 1.
    let mut r = at(bls12().r, parameter::<Bls12381>());
    r[0] -= 1;
    assert_eq!((-Scalar::ONE).to_le_bytes(), bytes(r));
    power_by_the_parameter::<Bls12381>();
}

fn bytes(words: [u64; 6]) -> [u8; 32] {
    assert_eq!(words[4..], [0, 0]);
    core::array::from_fn(|i| words[i / 8].to_le_bytes()[i % 8])
}

/// The powers f^(2^k) whose product is f raised to the parameter.
#[test]
fn powers_of_compressed_squares_make_the_parameter() {
    let powers = compressed::powers(1_u64, |f, times| *f <<= times);
    assert!(powers.iter().all(|power| power.is_power_of_two()));
    assert_eq!(powers.iter().sum::<u64>(), parameter::<Bls12381>());
}

/// |z|·P by doubling and adding.
#[test]
fn doubling_and_adding_makes_the_parameter() {
    let multiple = curve::double_and_add(1_u64, |sum| 2 * sum, |sum| sum + 1);
    assert_eq!(multiple, parameter::<Bls12381>());
}

#[test]
fn steps_of_the_miller_loop_bls12381() {
    assert_eq!(loop_makes(Bls12381::LOOP), (parameter::<Bls12381>().into(), &[][..]));
}
