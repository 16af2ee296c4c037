//! Products in Fp2 = Fp(i), i² = -1, outside the lanes: three products of integers and two reductions by Montgomery, where arkworks
//! computes four products.
//!
//! p is below 2^254, so a sum of two elements has four words, and a sum of two products is below p·2^256, which a reduction accepts.

use ark_bn254::{Fq, Fq2, FqConfig};
use ark_ff::{BigInt, Fp, MontConfig, PrimeField};
use core::marker::PhantomData;

/// p in words, the lowest first.
const P: [u64; 4] = Fq::MODULUS.0;

/// -1/p modulo 2^64.
const MINUS_INVERSE: u64 = <FqConfig as MontConfig<4>>::INV;

/// (a0·b0 - a1·b1) + ((a0 + a1)·(b0 + b1) - a0·b0 - a1·b1)·i.
#[inline]
pub(super) fn product(a: &Fq2, b: &Fq2) -> Fq2 {
    let (a0, a1, b0, b1) = (&a.c0.0.0, &a.c1.0.0, &b.c0.0.0, &b.c1.0.0);
    let (v0, v1) = (wide(a0, b0), wide(a1, b1));
    let both = wide(&sum(a0, a1), &sum(b0, b1));
    Fq2::new(reduced(&difference(&v0, &v1)), reduced(&less(&less(&both, &v0).0, &v1).0))
}

/// (a0 + a1)·(a0 - a1) + 2·a0·a1·i.
#[inline]
pub(super) fn square(a: &Fq2) -> Fq2 {
    let (a0, a1) = (&a.c0.0.0, &a.c1.0.0);
    let real = wide(&sum(a0, a1), &(a.c0 - a.c1).0.0);
    Fq2::new(reduced(&real), reduced(&wide(&sum(a0, a0), a1)))
}

/// The sum of two elements, not reduced.
#[inline(always)]
fn sum(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let (mut out, mut carry) = ([0; 4], false);
    for i in 0..4 {
        (out[i], carry) = a[i].carrying_add(b[i], carry);
    }
    out
}

/// The product of two integers.
#[inline(always)]
fn wide(a: &[u64; 4], b: &[u64; 4]) -> [u64; 8] {
    let mut out = [0; 8];
    for i in 0..4 {
        let mut carry = 0;
        for j in 0..4 {
            (out[i + j], carry) = a[i].carrying_mul_add(b[j], out[i + j], carry);
        }
        out[i + 4] = carry;
    }
    out
}

/// a - b modulo 2^512, and whether b is larger.
#[inline(always)]
fn less(a: &[u64; 8], b: &[u64; 8]) -> ([u64; 8], bool) {
    let (mut out, mut borrow) = ([0; 8], false);
    for i in 0..8 {
        (out[i], borrow) = a[i].borrowing_sub(b[i], borrow);
    }
    (out, borrow)
}

/// The difference of two products, plus p·2^256 if it is below zero.
#[inline(always)]
fn difference(a: &[u64; 8], b: &[u64; 8]) -> [u64; 8] {
    let (mut out, is_below) = less(a, b);
    let (mask, mut carry) = (u64::from(is_below).wrapping_neg(), false);
    for i in 0..4 {
        (out[4 + i], carry) = out[4 + i].carrying_add(P[i] & mask, carry);
    }
    out
}

/// The element t/2^256 modulo p, for t below p·2^256.
#[inline(always)]
fn reduced(t: &[u64; 8]) -> Fq {
    let (mut t, mut over) = (*t, false);
    for i in 0..4 {
        let times = t[i].wrapping_mul(MINUS_INVERSE);
        let mut carry = 0;
        for j in 0..4 {
            (t[i + j], carry) = times.carrying_mul_add(P[j], t[i + j], carry);
        }
        (t[i + 4], over) = t[i + 4].carrying_add(carry, over);
    }
    // Below 2p, which has four words.
    let upper = [t[4], t[5], t[6], t[7]];
    let (mut lower, mut borrow) = ([0; 4], false);
    for i in 0..4 {
        (lower[i], borrow) = upper[i].borrowing_sub(P[i], borrow);
    }
    Fp(BigInt(if borrow { upper } else { lower }), PhantomData)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use ark_ff::{AdditiveGroup, Field};

    /// Parts at the edges of words and of p as Montgomery forms, and others.
    #[test]
    fn products_are_those_of_arkworks() {
        let raw = |words: [u64; 4]| Fp::<_, 4>(BigInt(words), PhantomData);
        let mut parts: Vec<Fq> = alloc::vec![Fq::ZERO, raw([1, 0, 0, 0]), -raw([1, 0, 0, 0]), Fq::ONE, -Fq::ONE];
        for bit in (0..254).filter(|bit| bit % 32 < 2 || *bit > 250) {
            let mut words = [0; 4];
            words[bit / 64] = 1 << (bit % 64);
            parts.extend([raw(words), raw(words) - raw([1, 0, 0, 0]), -raw(words)]);
        }
        let mut random = Fq::from(11_u64);
        for _ in 0..20 {
            random = random.square() + Fq::from(5_u64);
            parts.push(random);
        }
        let elements: Vec<_> = parts.iter().flat_map(|c0| parts.iter().map(move |c1| Fq2::new(*c0, *c1))).collect();
        for (i, a) in elements.iter().enumerate() {
            assert_eq!(square(a), a.square());
            for b in [&elements[(7 * i + 3) % elements.len()], &elements[(31 * i + 11) % elements.len()], a] {
                assert_eq!(product(a, b), a * b);
            }
        }
    }
}
