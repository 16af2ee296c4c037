//! The inverse modulo p, by the binary algorithm with approximations of T. Pornin, <https://eprint.iacr.org/2020/972>.
//!
//! A step of the affine formulas takes one inversion for all its points, and arkworks' takes as long as 320 products (crypto-bigint's as
//! long). This one takes a quarter of that.
//!
//! Its time depends on the number, which must be public.

use ark_bn254::Fq;
use ark_ff::{BigInt, Fp, PrimeField};

/// p, the lowest word first.
const P: [u64; 4] = Fq::MODULUS.0;

/// -1/p modulo 2^31.
const MINUS_INVERSE: u64 = 0x64866389;

/// 2^768 mod p as a Montgomery form. The product with it turns the inverse of a·2^256 into that of a, times 2^256.
const CUBE: Fq = Fp(
    BigInt([0xb1cd_6daf_da15_30df, 0x62f2_10e6_a728_3db6, 0xef7f_0b0c_0ada_0afb, 0x20fd_6e90_2d59_2544]),
    core::marker::PhantomData,
);

/// The number of steps that are taken at a time, with the lowest bits of both numbers and as many and two of the highest.
const STEPS: u32 = 31;

/// The inverse of an element. The inverse of zero is zero.
///
/// Cost: 17 or fewer rounds of 31 steps.
pub(super) fn inverse(element: &Fq) -> Fq {
    // With the number y: a = u·y and b = v·y modulo p.
    let (mut a, mut b) = (element.0.0, P);
    let (mut u, mut v) = ([1, 0, 0, 0], [0; 4]);
    while a != [0; 4] {
        let factors = factors(&a, &b);
        let [(sign_a, next_a), (sign_b, next_b)] = factors.map(|[f, g]| divided(combined(&a, f, &b, g)));
        (a, b) = (next_a, next_b);
        let [[f0, g0], [f1, g1]] = factors;
        (u, v) =
            (reduced(combined(&u, f0 * sign_a, &v, g0 * sign_a)), reduced(combined(&u, f1 * sign_b, &v, g1 * sign_b)));
    }
    Fp::<_, 4>(BigInt(v), core::marker::PhantomData) * CUBE
}

/// The factors [f, g] of both numbers after 31 steps, each of which halves a, or subtracts the less from the more and halves it: a becomes
/// (a·f + b·g)/2^31.
fn factors(a: &[u64; 4], b: &[u64; 4]) -> [[i64; 2]; 2] {
    let top = (0..4).rev().find(|i| a[*i] | b[*i] != 0).unwrap_or(0);
    let shift = (a[top] | b[top]).leading_zeros();
    // The 33 bits from the highest of either number on, and the lowest 31.
    let approximate = |n: &[u64; 4]| {
        if top == 0 {
            return n[0];
        }
        let high = if shift == 0 { n[top] } else { n[top] << shift | n[top - 1] >> (64 - shift) };
        high >> STEPS << STEPS | n[0] & ((1 << STEPS) - 1)
    };
    let (mut a, mut b) = (approximate(a), approximate(b));
    let (mut of_a, mut of_b) = ([1_i64, 0], [0_i64, 1]);
    for _ in 0..STEPS {
        if a & 1 == 1 {
            if a < b {
                core::mem::swap(&mut a, &mut b);
                core::mem::swap(&mut of_a, &mut of_b);
            }
            a -= b;
            of_a = [of_a[0] - of_b[0], of_a[1] - of_b[1]];
        }
        a >>= 1;
        of_b = [2 * of_b[0], 2 * of_b[1]];
    }
    [of_a, of_b]
}

/// a·f + b·g, in two's complement.
fn combined(a: &[u64; 4], f: i64, b: &[u64; 4], g: i64) -> [u64; 5] {
    let (mut out, mut carry) = ([0; 5], 0_i128);
    for i in 0..4 {
        carry += i128::from(a[i]) * i128::from(f) + i128::from(b[i]) * i128::from(g);
        out[i] = carry as u64;
        carry >>= 64;
    }
    out[4] = carry as u64;
    out
}

/// The sign and the absolute value of a number divided by 2^31, which is below 2^256.
fn divided(number: [u64; 5]) -> (i64, [u64; 4]) {
    let shifted: [u64; 4] = core::array::from_fn(|i| number[i] >> STEPS | number[i + 1] << (64 - STEPS));
    if number[4] >> 63 == 0 {
        return (1, shifted);
    }
    let (mut negated, mut carry) = ([0; 4], true);
    for (out, word) in negated.iter_mut().zip(shifted) {
        (*out, carry) = (!word).overflowing_add(u64::from(carry));
    }
    (-1, negated)
}

/// A number between -2^31·p and 2^31·p, divided by 2^31 modulo p: at least 0 and below p.
fn reduced(number: [u64; 5]) -> [u64; 4] {
    let digit = number[0].wrapping_mul(MINUS_INVERSE) & ((1 << STEPS) - 1);
    let (mut sum, mut carry) = ([0; 5], 0_u128);
    for i in 0..5 {
        carry += u128::from(number[i]) + u128::from(P.get(i).copied().unwrap_or(0)) * u128::from(digit);
        sum[i] = carry as u64;
        carry >>= 64;
    }
    let negative = sum[4] >> 63 == 1;
    let shifted: [u64; 4] = core::array::from_fn(|i| sum[i] >> STEPS | sum[i + 1] << (64 - STEPS));
    // Between -p and 2p, and the bits of 2p fit.
    let (mut other, mut carry) = ([0; 4], false);
    for i in 0..4 {
        let (word, first) = if negative { shifted[i].overflowing_add(P[i]) } else { shifted[i].overflowing_sub(P[i]) };
        let (word, second) =
            if negative { word.overflowing_add(carry.into()) } else { word.overflowing_sub(carry.into()) };
        (other[i], carry) = (word, first | second);
    }
    if negative || !carry { other } else { shifted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use ark_ff::{AdditiveGroup, Field};

    /// Inverses of small and large numbers, of powers of two and their neighbours as elements and as Montgomery forms, and of others.
    #[test]
    fn inverses_are_those_of_arkworks() {
        let raw = |words: [u64; 4]| Fp::<_, 4>(BigInt(words), core::marker::PhantomData);
        let mut elements: Vec<Fq> = (1..200_u64).flat_map(|n| [Fq::from(n), -Fq::from(n), raw([n, 0, 0, 0])]).collect();
        for bit in 0..254 {
            let mut words = [0; 4];
            words[bit / 64] = 1 << (bit % 64);
            elements.extend([raw(words), raw(words) - Fq::ONE, Fq::ONE - raw(words), -raw(words)]);
        }
        let mut random = Fq::from(7_u64);
        for _ in 0..5000 {
            random = random.square() + Fq::from(3_u64);
            elements.push(random);
        }
        assert_eq!(inverse(&Fq::ZERO), Fq::ZERO);
        for element in elements.into_iter().filter(|element| *element != Fq::ZERO) {
            assert_eq!(Some(inverse(&element)), Field::inverse(&element), "{element}");
        }
    }

    #[test]
    fn the_constants_are_what_they_are_called() {
        assert_eq!((P[0].wrapping_mul(MINUS_INVERSE) + 1) & ((1 << STEPS) - 1), 0);
        let r = (0..256).fold(Fq::ONE, |power, _| power.double());
        assert_eq!(CUBE, r.square());
    }
}
