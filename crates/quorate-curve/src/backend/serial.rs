//! Lanes without vectors: eight items, one after another, by blst's arithmetic. So the portable backend takes those formulas of the
//! lanes that need fewer operations than one item at a time: sums of many points in buckets, with one inversion for many
//! additions of affine points.
//!
//! Every number is blst's: below p, in Montgomery form. So no operation has a bound to keep.

use core::array::from_fn;

use blst::{blst_fp, blst_fp2};

use super::lanes::{
    constant::{Constant, Modulus, doubled, half_of_p},
    field::{Field, Fp2, LANES, Lanes, Mask, PrimeField, Wide, Words, invert_lanes},
    instructions::{BASELINE, Token},
    thresholds::Thresholds,
};
use crate::{arithmetic::field::Field as _, pairing::Bls12381};

/// The token. Every CPU has what these lanes need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Serial;

// SAFETY: it names no instructions.
unsafe impl Token for Serial {
    const INSTRUCTIONS: u8 = BASELINE;
}

impl Lanes for Serial {
    type Curve = Bls12381;
    const THRESHOLDS: Thresholds = Thresholds {
        // blst computes these faster one by one.
        items: usize::MAX,
        messages: usize::MAX,
        points: usize::MAX,
        spread_points: false,
        sum: usize::MAX,
        weighted_sum: usize::MAX,
        weighted_sums: usize::MAX,
        buckets: 96,
        // blst joins the positions of a sum.
        joined_segments: usize::MAX,
        // Measured below 16 and at 16 to 24.
        members_in_g1: 16,
        members_in_g2: 24,
        // Measured at 8 to 16.
        msm: 16,
        multiples: usize::MAX,
        spread_pairs: 0,
        pairs: usize::MAX,
        pairs_left: usize::MAX,
        narrow_pairs: usize::MAX,
        prepared_pairs: usize::MAX,
        inversions: 1,
        twisted_inversions: 1,
        values: usize::MAX,
        spread: false,
        compressed: false,
    };
    const WIDTH: usize = LANES;
    type Fp = Fp;
    type Narrow = Self;

    fn narrow(self) -> Self {
        self
    }
}

/// Eight elements of Fp.
#[derive(Clone, Copy)]
pub(crate) struct Fp([blst_fp; LANES]);

impl Fp {
    #[inline(always)]
    fn each(&self, other: &Self, compute: impl Fn(&blst_fp, &blst_fp) -> blst_fp) -> Self {
        Self(from_fn(|lane| compute(&self.0[lane], &other.0[lane])))
    }

    /// The lanes of which something holds.
    #[inline(always)]
    fn lanes_where(&self, holds: impl Fn(&blst_fp) -> bool) -> Mask {
        self.0.iter().enumerate().map(|(lane, element)| Mask::from(holds(element)) << lane).sum()
    }
}

/// The words of an element's number, which is below p.
fn number(element: &blst_fp) -> [u64; 6] {
    element.times(&blst_fp { l: [1, 0, 0, 0, 0, 0] }).l
}

/// The element of a number below 2^384.
fn of_number(mut number: [u64; 6]) -> blst_fp {
    // A few times at most: p is more than a tenth of 2^384.
    while number.iter().rev().ge(Bls12381::P.iter().rev()) {
        let mut borrow = false;
        for (word, of_p) in number.iter_mut().zip(Bls12381::P) {
            let (less, first) = word.overflowing_sub(of_p);
            let (less, second) = less.overflowing_sub(u64::from(borrow));
            (*word, borrow) = (less, first | second);
        }
    }
    blst_fp { l: number }.times(const { &blst_fp { l: doubled::<Bls12381>([1, 0, 0, 0, 0, 0], 2 * 384) } })
}

impl Field for Fp {
    type Lanes = Serial;
    type Fp = Self;
    type Element = blst_fp;
    const PARTS: usize = 1;
    type Row = blst_fp;
    const ZERO_ROW: blst_fp = blst_fp { l: [0; 6] };

    #[inline(always)]
    fn lanes(&self) -> Serial {
        Serial
    }

    #[inline(always)]
    fn zero(_: Serial) -> Self {
        Self([Self::ZERO_ROW; LANES])
    }

    #[inline(always)]
    fn one(lanes: Serial) -> Self {
        Self::constant(lanes, const { &Constant::ONE })
    }

    #[inline(always)]
    fn load(_: Serial, elements: &[&blst_fp; LANES]) -> Self {
        Self(elements.map(|element| *element))
    }

    #[inline(always)]
    fn store(&self) -> [blst_fp; LANES] {
        self.0
    }

    #[inline(always)]
    fn from_words(_: Serial, words: &Words) -> Self {
        Self(from_fn(|lane| of_number(words[0].map(|word| word[lane]))))
    }

    #[inline(always)]
    fn gather(lanes: Serial, rows: &[&blst_fp; LANES]) -> Self {
        Self::load(lanes, rows)
    }

    #[inline(always)]
    fn scatter(&self) -> [blst_fp; LANES] {
        self.0
    }

    #[inline(always)]
    fn blank(&self) -> Mask {
        self.is_zero()
    }

    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        self.each(other, blst_fp::plus)
    }

    #[inline(always)]
    fn sum_factor(&self, other: &Self) -> Self {
        self.plus(other)
    }

    #[inline(always)]
    fn minus(&self, other: &Self) -> Self {
        self.each(other, blst_fp::minus)
    }

    #[inline(always)]
    fn minus_sum(&self, other: &Self) -> Self {
        self.minus(other)
    }

    #[inline(always)]
    fn subtract<const TIMES: i64, const UNITS: i64>(&self, other: &Self) -> Self {
        self.minus(other)
    }

    #[inline(always)]
    fn negated(&self) -> Self {
        Self::zero(Serial).minus(self)
    }

    #[inline(always)]
    fn carried(&self) -> Self {
        *self
    }

    #[inline(always)]
    fn shrunk(&self) -> Self {
        *self
    }

    #[inline(always)]
    fn factor(&self) -> Self {
        *self
    }

    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        self.each(other, blst_fp::times)
    }

    #[inline(always)]
    fn squared(&self) -> Self {
        Self(from_fn(|lane| self.0[lane].squared()))
    }

    #[inline(always)]
    fn times_fp(&self, other: &Self) -> Self {
        self.times(other)
    }

    #[inline(always)]
    fn inverted(&self) -> Self {
        invert_lanes(Serial, self)
    }

    #[inline(always)]
    fn or(&self, mask: Mask, other: &Self) -> Self {
        Self(from_fn(|lane| if mask >> lane & 1 == 1 { self.0[lane] } else { other.0[lane] }))
    }

    #[inline(always)]
    fn is_zero(&self) -> Mask {
        self.lanes_where(blst_fp::is_zero)
    }

    #[inline(always)]
    fn equals(&self, other: &Self) -> Mask {
        self.minus(other).is_zero()
    }

    #[inline(always)]
    fn is_odd(&self) -> Mask {
        self.lanes_where(|element| number(element)[0] & 1 == 1)
    }

    #[inline(always)]
    fn is_larger(&self) -> Mask {
        self.lanes_where(|element| number(element).iter().rev().gt(const { &half_of_p::<Bls12381>() }.iter().rev()))
    }

    #[inline(always)]
    fn image(x: &Self, y: &Self) -> (Self, Self) {
        (*x, *y)
    }

    #[inline(always)]
    fn permuted(&self, from: [i64; LANES]) -> Self {
        Self(from.map(|lane| self.0[lane as usize]))
    }

    #[inline(always)]
    fn gathered(&self, other: &Self, from: [i64; LANES]) -> Self {
        Self(from.map(|lane| [self, other][lane as usize / LANES].0[lane as usize % LANES]))
    }
}

/// Both parts of eight elements of Fp2, by an operation of one.
#[inline(always)]
fn in_fp2(a: &Fp2<Fp>, compute: impl Fn(usize, &blst_fp2) -> blst_fp2) -> Fp2<Fp> {
    let out: [_; LANES] = from_fn(|lane| compute(lane, &blst_fp2 { fp: [a.c0.0[lane], a.c1.0[lane]] }));
    Fp2 { c0: Fp(out.map(|element| element.fp[0])), c1: Fp(out.map(|element| element.fp[1])) }
}

impl PrimeField for Fp {
    type Curve = Bls12381;
    /// Reduced, as blst's products are.
    type Products = Self;
    type Link = Self;

    const LINES_BETWEEN_SHRINKS: Option<usize> = None;

    #[inline(always)]
    fn constant(_: Serial, constant: &Constant) -> Self {
        Self([blst_fp { l: constant.words }; LANES])
    }

    #[inline(always)]
    fn constants(_: Serial, constants: &[Constant; LANES]) -> Self {
        Self(constants.map(|constant| blst_fp { l: constant.words }))
    }

    #[inline(always)]
    fn sum_of_two_products(a: [&Self; 2], b: [&Self; 2]) -> Self {
        a[0].times(b[0]).plus(&a[1].times(b[1]))
    }

    #[inline(always)]
    fn times_in_fp2(a: &Fp2<Self>, b: &Fp2<Self>) -> Fp2<Self> {
        in_fp2(a, |lane, a| a.times(&blst_fp2 { fp: [b.c0.0[lane], b.c1.0[lane]] }))
    }

    #[inline(always)]
    fn squared_in_fp2(a: &Fp2<Self>) -> Fp2<Self> {
        in_fp2(a, |_, a| a.squared())
    }

    #[inline(always)]
    fn wide_product(a: &Fp2<Self>, b: &Fp2<Self>) -> Wide<Self> {
        let Fp2 { c0, c1 } = Self::times_in_fp2(a, b);
        Wide { c0, c1 }
    }

    #[inline(always)]
    fn wide_square(a: &Fp2<Self>) -> Wide<Self> {
        let Fp2 { c0, c1 } = Self::squared_in_fp2(a);
        Wide { c0, c1 }
    }

    #[inline(always)]
    fn sum_of_products<const N: usize>(first: &Self, terms: [(bool, &Self); N]) -> Self {
        terms.iter().fold(*first, |sum, (minus, term)| if *minus { sum.minus(term) } else { sum.plus(term) })
    }

    #[inline(always)]
    fn nine_times(products: &Self) -> Self {
        products.plus(&products.doubled().doubled().doubled())
    }

    #[inline(always)]
    fn settled(products: &Self) -> Self {
        *products
    }

    #[inline(always)]
    fn reduced(products: &Self) -> Self {
        *products
    }

    #[inline(always)]
    fn add_reduced(&mut self, products: &Self) {
        *self = self.plus(products);
    }

    #[inline(always)]
    fn to_link(&self) -> Self {
        *self
    }

    #[inline(always)]
    fn from_link(link: &Self) -> Self {
        *link
    }

    #[inline(always)]
    fn multiply_link(a: &mut Self, b: &Self) {
        *a = a.times(b);
    }

    #[inline(always)]
    fn square_link(a: &mut Self) {
        *a = a.squared();
    }

    #[cfg(test)]
    const LIMB_BITS: usize = 48;

    #[cfg(test)]
    fn largest(&self) -> Self {
        *self
    }
}
