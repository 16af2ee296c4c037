//! Lanes without vectors: items one after another, by the arithmetic of their curve's crate. So the portable backend takes those
//! formulas of the lanes that need fewer operations than one item at a time: sums of many points in buckets, with one inversion for
//! many additions of affine points, and on one lane alone Miller loops and final exponentiations.
//!
//! Every number is below p, in Montgomery form. So no operation has a bound to keep.

use core::{array::from_fn, marker::PhantomData};

use blst::blst_fp;

use super::lanes::{
    constant::{Constant, doubled, half_of_p},
    field::{Field, Fp2, LANES, Lanes, Mask, Parameters, PrimeField, Wide, Words},
    instructions::{BASELINE, Token},
    thresholds::Thresholds,
};
use crate::{
    arithmetic::{curve::ZERO, field::Field as _},
    pairing::Bls12381,
};

/// The token of `N` lanes of a curve. Every CPU has what these lanes need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Serial<C = Bls12381, const N: usize = LANES>(PhantomData<C>);

impl<C, const N: usize> Serial<C, N> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

/// A curve of which items are computed one after another.
pub(crate) trait InSeries: Parameters {
    /// Zero, as a constant.
    const ZERO: Self::Element;
    /// Where these lanes are faster than the functions of the curve's crate.
    const IN_SERIES: Thresholds;
}

impl InSeries for Bls12381 {
    const ZERO: blst_fp = ZERO;
    const IN_SERIES: Thresholds = Thresholds {
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
        values: 1,
        spread: false,
        compressed: false,
    };
}

// SAFETY: it names no instructions.
unsafe impl<C: InSeries, const N: usize> Token for Serial<C, N> {
    const INSTRUCTIONS: u8 = BASELINE;
}

impl<C: InSeries, const N: usize> Lanes for Serial<C, N> {
    type Curve = C;
    const THRESHOLDS: Thresholds = C::IN_SERIES;
    const WIDTH: usize = N;
    type Fp = Fp<C, N>;
    type Narrow = Serial<C, 1>;

    fn narrow(self) -> Serial<C, 1> {
        Serial::new()
    }
}

/// Elements of Fp. Those of lanes beyond the `N`th are not there.
#[derive(Clone, Copy)]
pub(crate) struct Fp<C: InSeries, const N: usize>([C::Element; N]);

/// An element for each of `N` lanes. A closure, as `array::from_fn` takes one, would stay a function of its own, and its element would be
/// copied.
macro_rules! in_each {
    ($lane:ident => $element:expr) => {{
        let mut out = Self([C::ZERO; N]);
        for $lane in 0..N {
            out.0[$lane] = $element;
        }
        out
    }};
}

impl<C: InSeries, const N: usize> Fp<C, N> {
    /// The lanes of which something holds.
    #[inline(always)]
    fn lanes_where(&self, holds: impl Fn(&C::Element) -> bool) -> Mask {
        self.0.iter().enumerate().map(|(lane, element)| Mask::from(holds(element)) << lane).sum()
    }

    /// The element of a lane, and zero if the lane is not there.
    #[inline(always)]
    fn lane(&self, lane: usize) -> C::Element {
        self.0.get(lane).copied().unwrap_or_default()
    }
}

/// The words of an element's number, which is below p.
fn number<C: Parameters>(element: &C::Element) -> [u64; 6] {
    C::words(&element.times(&C::of_words([1, 0, 0, 0, 0, 0])))
}

/// The element of a number below 2^384.
fn of_number<C: InSeries>(mut number: [u64; 6]) -> C::Element {
    // A few times at most: p is more than a tenth of 2^384.
    while number.iter().rev().ge(C::P.iter().rev()) {
        let mut borrow = false;
        for (word, of_p) in number.iter_mut().zip(C::P) {
            let (less, first) = word.overflowing_sub(of_p);
            let (less, second) = less.overflowing_sub(u64::from(borrow));
            (*word, borrow) = (less, first | second);
        }
    }
    C::of_words(number).times(&C::of_words(const { doubled::<C>([1, 0, 0, 0, 0, 0], 2 * C::ELEMENT_BITS) }))
}

impl<C: InSeries, const N: usize> Field for Fp<C, N> {
    type Lanes = Serial<C, N>;
    type Fp = Self;
    type Element = C::Element;
    const PARTS: usize = 1;
    type Row = C::Element;
    const ZERO_ROW: C::Element = C::ZERO;

    #[inline(always)]
    fn lanes(&self) -> Serial<C, N> {
        Serial::new()
    }

    #[inline(always)]
    fn zero(_: Serial<C, N>) -> Self {
        Self([C::ZERO; N])
    }

    #[inline(always)]
    fn one(lanes: Serial<C, N>) -> Self {
        Self::constant(lanes, const { &Constant::ONE })
    }

    #[inline(always)]
    fn load(_: Serial<C, N>, elements: &[&C::Element; LANES]) -> Self {
        in_each!(lane => *elements[lane])
    }

    #[inline(always)]
    fn store(&self) -> [C::Element; LANES] {
        from_fn(|lane| self.lane(lane))
    }

    #[inline(always)]
    fn from_words(_: Serial<C, N>, words: &Words) -> Self {
        in_each!(lane => of_number::<C>(words[0].map(|word| word[lane])))
    }

    #[inline(always)]
    fn gather(lanes: Serial<C, N>, rows: &[&C::Element; LANES]) -> Self {
        Self::load(lanes, rows)
    }

    #[inline(always)]
    fn scatter(&self) -> [C::Element; LANES] {
        self.store()
    }

    #[inline(always)]
    fn blank(&self) -> Mask {
        self.is_zero()
    }

    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        in_each!(lane => self.0[lane].plus(&other.0[lane]))
    }

    #[inline(always)]
    fn sum_factor(&self, other: &Self) -> Self {
        self.plus(other)
    }

    #[inline(always)]
    fn minus(&self, other: &Self) -> Self {
        in_each!(lane => self.0[lane].minus(&other.0[lane]))
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
        in_each!(lane => C::ZERO.minus(&self.0[lane]))
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
        in_each!(lane => self.0[lane].times(&other.0[lane]))
    }

    #[inline(always)]
    fn squared(&self) -> Self {
        in_each!(lane => self.0[lane].squared())
    }

    #[inline(always)]
    fn times_fp(&self, other: &Self) -> Self {
        self.times(other)
    }

    /// One inversion for all lanes, by Montgomery's trick.
    #[inline(always)]
    fn inverted(&self) -> Self {
        // What comes before each lane, and then its inverse.
        let (mut out, mut product) = ([C::ZERO; N], self.0[0]);
        for (place, element) in out.iter_mut().zip(&self.0).skip(1) {
            *place = product;
            product = product.times(element);
        }
        let mut inverse = product.inverse();
        for (place, element) in out.iter_mut().zip(&self.0).skip(1).rev() {
            *place = inverse.times(place);
            inverse = inverse.times(element);
        }
        out[0] = inverse;
        Self(out)
    }

    #[inline(always)]
    fn or(&self, mask: Mask, other: &Self) -> Self {
        in_each!(lane => if mask >> lane & 1 == 1 { self.0[lane] } else { other.0[lane] })
    }

    #[inline(always)]
    fn is_zero(&self) -> Mask {
        self.lanes_where(C::Element::is_zero)
    }

    #[inline(always)]
    fn equals(&self, other: &Self) -> Mask {
        self.minus(other).is_zero()
    }

    #[inline(always)]
    fn is_odd(&self) -> Mask {
        self.lanes_where(|element| number::<C>(element)[0] & 1 == 1)
    }

    #[inline(always)]
    fn is_larger(&self) -> Mask {
        self.lanes_where(|element| number::<C>(element).iter().rev().gt(const { &half_of_p::<C>() }.iter().rev()))
    }

    #[inline(always)]
    fn image(x: &Self, y: &Self) -> (Self, Self) {
        (*x, *y)
    }

    #[inline(always)]
    fn permuted(&self, from: [i64; LANES]) -> Self {
        in_each!(lane => self.lane(from[lane] as usize))
    }

    #[inline(always)]
    fn gathered(&self, other: &Self, from: [i64; LANES]) -> Self {
        in_each!(lane => [self, other][from[lane] as usize / LANES].lane(from[lane] as usize % LANES))
    }
}

/// Both parts for each of `N` lanes, from an element of Fp2.
macro_rules! in_each_of_fp2 {
    ($lane:ident => $element:expr) => {{
        let mut out = Fp2 { c0: Self([C::ZERO; N]), c1: Self([C::ZERO; N]) };
        for $lane in 0..N {
            let element = $element;
            let [c0, c1] = C::parts(&element);
            (out.c0.0[$lane], out.c1.0[$lane]) = (*c0, *c1);
        }
        out
    }};
}

/// The element of Fp2 in a lane.
#[inline(always)]
fn at_lane<C: InSeries, const N: usize>(a: &Fp2<Fp<C, N>>, lane: usize) -> C::Element2 {
    C::of_parts([a.c0.0[lane], a.c1.0[lane]])
}

impl<C: InSeries, const N: usize> PrimeField for Fp<C, N> {
    type Curve = C;
    /// Reduced, as the products of the curve's crate are.
    type Products = Self;
    type Link = Self;

    const LINES_BETWEEN_SHRINKS: Option<usize> = None;

    #[inline(always)]
    fn constant(_: Serial<C, N>, constant: &Constant<C>) -> Self {
        Self([C::of_words(constant.words); N])
    }

    #[inline(always)]
    fn constants(_: Serial<C, N>, constants: &[Constant<C>; LANES]) -> Self {
        in_each!(lane => C::of_words(constants[lane].words))
    }

    #[inline(always)]
    fn sum_of_two_products(a: [&Self; 2], b: [&Self; 2]) -> Self {
        a[0].times(b[0]).plus(&a[1].times(b[1]))
    }

    #[inline(always)]
    fn times_in_fp2(a: &Fp2<Self>, b: &Fp2<Self>) -> Fp2<Self> {
        in_each_of_fp2!(lane => at_lane(a, lane).times(&at_lane(b, lane)))
    }

    #[inline(always)]
    fn squared_in_fp2(a: &Fp2<Self>) -> Fp2<Self> {
        in_each_of_fp2!(lane => at_lane(a, lane).squared())
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
    fn sum_of_products<const TERMS: usize>(first: &Self, terms: [(bool, &Self); TERMS]) -> Self {
        let mut sum = *first;
        for (minus, term) in &terms {
            sum = if *minus { sum.minus(term) } else { sum.plus(term) };
        }
        sum
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
