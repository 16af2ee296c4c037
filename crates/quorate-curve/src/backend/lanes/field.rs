//! What a kind of lanes offers: the token, eight elements of Fp, and the operations of a field that Fp and Fp2 share.
//!
//! The formulas of both curves, of hashing and of the pairings are generic over these traits, so that each stands in the
//! program once. Methods are always inlined: in a function of [`in_lanes!`](super::instructions::in_lanes), a formula
//! becomes vector code. A formula does not mention bounds. Debug builds assert them on every path that a test runs.

use alloc::vec::Vec;
use core::fmt::Debug;

use smallvec::SmallVec;

pub(crate) use super::instructions::{LANES, Mask};
use super::{
    constant::{Constant, Modulus},
    instructions::{Token, in_lanes},
    thresholds::Thresholds,
};
use crate::{
    arithmetic::{self, Curve, field::Field as _},
    pairing::{Gt, MillerValue, sealed::Target},
    segments::Cut,
};

/// The words of the parts of eight elements. Fp has no second part and ignores it.
pub(crate) type Words = [[[u64; LANES]; 6]; 2];

/// A kind of lanes, in which the numbers of a curve are.
pub trait Lanes: Token {
    /// The curve.
    type Curve: Parameters;
    /// Where the lanes are faster than the portable backend, and which of their methods is the fastest.
    const THRESHOLDS: Thresholds;
    /// Eight elements of Fp.
    type Fp: PrimeField<Lanes = Self, Fp = Self::Fp, Curve = Self::Curve, Element = <Self::Curve as Parameters>::Element>;
    /// How many lanes exist: [`LANES`], the lower four, or the lowest one. What is loaded into the others is lost, they give zeros,
    /// and masks do not have them.
    const WIDTH: usize;
    /// The lower four lanes or the lowest one, if they cost less alone, otherwise these lanes.
    type Narrow: Lanes<Curve = Self::Curve, Fp: PrimeField<Row = <Self::Fp as Field>::Row>>;

    /// The token of these lower lanes.
    fn narrow(self) -> Self::Narrow;
}

/// Eight elements of the coordinate field of a curve.
pub trait Field: Copy {
    /// The token of the lanes.
    type Lanes: Lanes<Fp = Self::Fp>;
    /// Eight elements of Fp.
    type Fp: PrimeField<Lanes = Self::Lanes, Fp = Self::Fp>;
    /// One element outside the lanes.
    type Element: Copy;
    /// The number of elements of Fp in an element.
    const PARTS: usize;
    /// One element in memory, in the form of the lanes: a row of limbs. A transposition turns eight rows into a vector
    /// for each limb, which is far cheaper than a multiplication.
    type Row: Copy + Send + Sync + 'static;
    const ZERO_ROW: Self::Row;

    /// The token that the elements were made from.
    fn lanes(&self) -> Self::Lanes;
    fn zero(lanes: Self::Lanes) -> Self;
    fn one(lanes: Self::Lanes) -> Self;
    /// Elements, one in each lane.
    fn load(lanes: Self::Lanes, elements: &[&Self::Element; LANES]) -> Self;
    /// The elements, each in its canonical form.
    fn store(&self) -> [Self::Element; LANES];
    /// An element from the words of its parts, which are numbers below 2^384 and not in Montgomery form.
    fn from_words(lanes: Self::Lanes, words: &Words) -> Self;

    /// Elements from their rows.
    fn gather(lanes: Self::Lanes, rows: &[&Self::Row; LANES]) -> Self;
    /// The row of each element, which is [`shrunk`](Self::shrunk).
    fn scatter(&self) -> [Self::Row; LANES];
    /// Lanes whose limbs are all zero.
    fn blank(&self) -> Mask;

    /// The sum. Sums and differences take no carries.
    fn plus(&self, other: &Self) -> Self;
    /// The sum of two numbers with limbs below one unit, as a factor of another such sum.
    fn sum_factor(&self, other: &Self) -> Self;
    /// The difference to a number with limbs below one unit and a value below 4p.
    fn minus(&self, other: &Self) -> Self;
    /// The difference to a sum of two such numbers.
    fn minus_sum(&self, other: &Self) -> Self;
    /// The difference to a number with limbs below `UNITS` units and a value below `TIMES`·p. Unsigned lanes add `TIMES`·p,
    /// so that no limb becomes negative.
    fn subtract<const TIMES: i64, const UNITS: i64>(&self, other: &Self) -> Self;
    /// The negative of a number with limbs below one unit and a value below 4p.
    fn negated(&self) -> Self;
    /// The same number with limbs below one unit.
    fn carried(&self) -> Self;
    /// The same element with limbs below one unit and a small value: below 2.1p in unsigned lanes, beside ±p/2 in signed
    /// ones.
    fn shrunk(&self) -> Self;
    /// The number as [`times`](Self::times) accepts it, from limbs below 4 units.
    fn factor(&self) -> Self;
    /// The product of numbers with limbs below 2 units.
    fn times(&self, other: &Self) -> Self;
    /// The square of a number with limbs below 2 units and a value below 16p.
    fn squared(&self) -> Self;
    /// The product with an element of Fp.
    fn times_fp(&self, other: &Self::Fp) -> Self;
    /// The inverses of elements that are not zero, with limbs below one unit and values below 4p. Six products of Fp
    /// and one inversion outside the lanes. An element of Fp2 is inverted through its norm.
    fn inverted(&self) -> Self;

    /// `self` in the lanes of the mask, `other` elsewhere.
    fn or(&self, mask: Mask, other: &Self) -> Self;
    /// The lanes that are zero. It accepts a value below 8p with limbs below 4 units.
    fn is_zero(&self) -> Mask;
    /// The lanes where both are the same. The other number has limbs below one unit and a value below 4p.
    fn equals(&self, other: &Self) -> Mask;
    /// `sgn0` of RFC 9380, section 4.1. Values are below 8p.
    fn is_odd(&self) -> Mask;
    /// The lanes whose element is larger than its negative. Values are below 8p.
    fn is_larger(&self) -> Mask;
    /// The image of points under the Frobenius map: that of the twist is ψ, and points over Fp are their own images. Coordinates have
    /// limbs below one unit and values below 4p.
    fn image(x: &Self, y: &Self) -> (Self, Self);
    /// Lane i takes the element of lane `from[i]`.
    fn permuted(&self, from: [i64; LANES]) -> Self;
    /// Lane i takes the element of lane `from[i]` of `self`, or of lane `from[i]` - 8 of `other`.
    fn gathered(&self, other: &Self, from: [i64; LANES]) -> Self;

    #[inline(always)]
    fn doubled(&self) -> Self {
        self.plus(self)
    }

    /// One element in every lane.
    #[inline(always)]
    fn splat(lanes: Self::Lanes, element: &Self::Element) -> Self {
        Self::load(lanes, &[element; LANES])
    }
}

/// Eight elements of Fp, in the form of their lanes. What differs between the lanes is here.
pub trait PrimeField: Field<Element = <<Self as PrimeField>::Curve as Parameters>::Element, Fp = Self> {
    /// The curve whose coordinates the elements are.
    type Curve: Parameters;

    /// Eight products or sums of products, in the form in which sums cost the least: before their reduction, where a
    /// reduction costs more than sums of what is not reduced.
    type Products: Copy;
    /// Eight elements in the form in which long chains of products are the fastest.
    type Link: Copy;

    /// The number of sums of products that may be reduced onto an element before it is shrunk. `None` if each reduction
    /// shrinks it.
    const LINES_BETWEEN_SHRINKS: Option<usize>;

    /// A constant in every lane.
    fn constant(lanes: Self::Lanes, constant: &Constant<Self::Curve>) -> Self;
    /// A constant for each lane.
    fn constants(lanes: Self::Lanes, constants: &[Constant<Self::Curve>; LANES]) -> Self;

    /// a₀·b₀ + a₁·b₁, with one reduction where a reduction costs more than sums of what is not reduced. The first factors have limbs
    /// below 4 units, the second ones below 2.
    fn sum_of_two_products(a: [&Self; 2], b: [&Self; 2]) -> Self;
    fn times_in_fp2(a: &Fp2<Self>, b: &Fp2<Self>) -> Fp2<Self>;
    fn squared_in_fp2(a: &Fp2<Self>) -> Fp2<Self>;
    /// The product, for sums of products.
    fn wide_product(a: &Fp2<Self>, b: &Fp2<Self>) -> Wide<Self>;
    /// The square of values below 8p, for sums of products.
    fn wide_square(a: &Fp2<Self>) -> Wide<Self>;
    /// The first term, then each term less or more: `true` takes a term away.
    fn sum_of_products<const N: usize>(first: &Self::Products, terms: [(bool, &Self::Products); N]) -> Self::Products;
    /// Nine times the products. Then [`settled`](Self::settled) must follow.
    fn nine_times(products: &Self::Products) -> Self::Products;
    /// The same products in a form in which further sums cost the least of what they may.
    fn settled(products: &Self::Products) -> Self::Products;
    /// The reduced sum, with limbs below one unit.
    fn reduced(products: &Self::Products) -> Self;
    /// Adds the reduced sum to the element. Then it has limbs below one unit.
    fn add_reduced(&mut self, products: &Self::Products);

    /// The element as the first link of a chain. It accepts limbs below 4 units.
    fn to_link(&self) -> Self::Link;
    fn from_link(link: &Self::Link) -> Self;
    /// Multiplies a link by another, in its place: a copy would cost a tenth of a square.
    fn multiply_link(a: &mut Self::Link, b: &Self::Link);
    fn square_link(a: &mut Self::Link);

    /// The number of bits of a limb. A number is stored times two to the number of bits of all limbs.
    #[cfg(test)]
    const LIMB_BITS: usize;
    /// The same element with limbs and a value that are as large as a factor's may be.
    #[cfg(test)]
    fn largest(&self) -> Self;
}

/// What the formulas need to know of a pairing-friendly curve: its numbers, and the few steps that differ.
///
/// p is 3 modulo 4, Fp2 = Fp(i) with i² = -1, Fp6 = Fp2(v) with v³ = ξ, and Fp12 = Fp6(w) with w² = v. The equation of the sextic twist has
/// the curve's constant times ξ or divided by ξ.
pub trait Parameters: Modulus + Target {
    /// An element of Fp outside the lanes.
    type Element: arithmetic::field::Field + Debug + Send + Sync;
    /// An element of Fp2 outside the lanes.
    type Element2: arithmetic::field::Field + Debug;
    /// A point of the curve outside the lanes.
    type G1: Curve<Field = Self::Element>;
    /// A point of the twist outside the lanes.
    type G2: Curve<Field = Self::Element2>;

    /// The absolute value of the number that the curve is made from, by which the final exponentiation raises: the difference of two
    /// numbers without a common bit.
    const PARAMETER: [u64; 2];
    /// Whether so few bits of the parameter are set that a power by it is best made of compressed squares.
    const IS_SPARSE: bool;
    /// The steps of the Miller loop of the ate pairing. A square of the value comes before each doubling but the first.
    const LOOP: &'static [LoopStep];
    /// Whether the loop is over a negative number, of which the steps take the absolute value.
    const IS_LOOP_NEGATIVE: bool;
    /// Whether the twist's equation has the curve's constant times ξ.
    const TWIST_MULTIPLIES: bool;
    /// ξ^(i(p-1)/6), i = 0 … 5: a coefficient of w^i raised to p is its conjugate times this.
    const FROBENIUS: [[Constant<Self>; 2]; 6];
    /// The factors of x and y in ψ, the Frobenius map carried over to the twist: (x, y) → (a·xᵖ, b·yᵖ).
    const PSI: [[Constant<Self>; 2]; 2];

    /// The words of an element's Montgomery form.
    fn words(element: &Self::Element) -> [u64; 6];
    /// The element with this Montgomery form, which is below p.
    fn of_words(words: [u64; 6]) -> Self::Element;
    fn parts(element: &Self::Element2) -> [&Self::Element; 2];
    fn of_parts(parts: [Self::Element; 2]) -> Self::Element2;
    /// The coefficient of w^`power`.
    fn coefficient(value: &Self::Value, power: usize) -> &Self::Element2;
    /// The value with these coefficients of w⁰ to w⁵.
    fn of_coefficients(coefficients: [Self::Element2; 6]) -> Self::Value;
    /// The inverse, and zero of zero.
    fn inverse(value: &Self::Value) -> Self::Value;

    /// ξ·a for an element with limbs below one unit and values below 4p. It has limbs below three units and values below 8p.
    fn times_xi<P: PrimeField<Curve = Self>>(a: &Fp2<P>) -> Fp2<P>;
    /// ξ·a for a sum of products.
    fn wide_times_xi<P: PrimeField<Curve = Self>>(a: &Wide<P>) -> Wide<P>;
    /// a + ξ·b for sums of products.
    fn plus_times_xi<P: PrimeField<Curve = Self>>(a: &Wide<P>, b: &Wide<P>) -> Wide<P>;
    /// a + α·b and a + β·b, where α·β = ξ, so that their product is a² + ξ·b² + (α + β)·ab.
    fn factors_of_norm<P: PrimeField<Curve = Self>>(a: &Fp2<P>, b: &Fp2<P>) -> [Fp2<P>; 2];
    /// (α + β)·a for the same α and β, with limbs below one unit.
    fn times_sum_of_factors<P: PrimeField<Curve = Self>>(a: &Fp2<P>) -> Fp2<P>;
    /// The hard part of the final exponentiation, of an element of the cyclotomic subgroup.
    fn hard_part<E: Extension>(f: &E) -> E;

    /// The Miller value of each product of the ate pairing outside the lanes. `finite` gives the points of a pair, or `None` if one of
    /// them is the identity.
    fn miller_products<T>(
        pairs: Cut<'_, T>,
        finite: impl Fn(&T) -> Option<(Self::G1, Self::G2)>,
    ) -> Vec<MillerValue<Self>>;
    /// The final exponentiation outside the lanes.
    fn final_exponentiation(value: &MillerValue<Self>) -> Gt<Self>;
}

/// A step of a Miller loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopStep {
    /// Doubles the point.
    Double,
    /// Adds its base.
    Add,
    /// Subtracts its base.
    Subtract,
    /// Adds ψ of its base, the Frobenius map carried over to the twist.
    AddImage,
    /// Subtracts ψ² of its base.
    SubtractSecondImage,
}

/// The operations of a final exponentiation, on eight elements of Fp12 ([`Fp12`](super::fp12::Fp12)) and on one
/// ([`Spread`](super::spread::Spread)).
pub trait Extension: Copy {
    /// even - odd·w, which is the value raised to p⁶. In the cyclotomic subgroup it is the inverse.
    fn conjugated(&self) -> Self;
    /// The product. It accepts coefficients below 4p and gives coefficients of about 2p.
    fn times(&self, other: &Self) -> Self;
    /// The square of an element of the cyclotomic subgroup (R. Granger and M. Scott, <https://eprint.iacr.org/2009/565>).
    fn cyclotomic_squared(&self) -> Self;
    /// An element of the cyclotomic subgroup raised to the absolute value of the curve's parameter.
    fn raised_to_parameter(&self) -> Self;
    /// Raised to p.
    fn frobenius(&self) -> Self;
    /// The inverse. The inverse of zero is zero.
    fn inverted(&self) -> Self;
}

/// c0 + c1·i in each lane.
#[derive(Clone, Copy)]
pub struct Fp2<P> {
    pub(crate) c0: P,
    pub(crate) c1: P,
}

/// A product in Fp2, or a sum of products.
#[derive(Clone, Copy)]
pub struct Wide<P: PrimeField> {
    pub(crate) c0: P::Products,
    pub(crate) c1: P::Products,
}

/// Vectors on the stack if there is one, so that a single message is hashed without allocation.
pub(crate) type Few<T> = SmallVec<[T; 1]>;

/// Replaces each element by its inverse, and leaves zeros. Montgomery's trick inverts all vectors together, and then
/// all lanes. It accepts limbs below 2 units and values below 8p. Three products a vector, and one inversion.
pub(crate) fn invert_all<F: Field>(elements: &mut [F]) {
    if let Some(first) = elements.first() {
        invert_elements(first.lanes(), elements);
    }
}

in_lanes! {
    /// Inverts elements that are not zero, all lanes with one inversion outside the lanes.
    ///
    /// The inverse of a lane is the product of the other lanes, divided by the product of all. Rotations gather the
    /// products.
    #[inline(never)]
    pub(crate) fn invert_lanes<P: PrimeField>(lanes: P::Lanes, a: &P) -> P {
        let is_whole = P::Lanes::WIDTH == LANES;
        let across = if is_whole { a.permuted([4, 5, 6, 7, 0, 1, 2, 3]) } else { P::one(lanes) };
        let pairs = if is_whole { a.times(&across) } else { *a };
        let beside = pairs.permuted([2, 3, 0, 1, 6, 7, 4, 5]);
        let fours = pairs.times(&beside);
        let next = fours.permuted([1, 0, 3, 2, 5, 4, 7, 6]);
        let product = fours.times(&next).store()[0];
        let inverse = P::splat(lanes, &product.inverse());
        let others = if is_whole { across.times(&beside) } else { beside };
        others.times(&next.times(&inverse))
    }

    fn invert_elements<F: Field>(lanes: F::Lanes, elements: &mut [F]) {
        // What comes before each element: its zeros, and the product so far, in which ones stand for zeros.
        let mut before = Few::with_capacity(elements.len());
        let mut product: Option<F> = None;
        for element in elements.iter_mut() {
            let zeros = element.is_zero();
            if zeros != 0 {
                *element = F::one(lanes).or(zeros, element);
            }
            before.push((zeros, product));
            product = Some(product.map_or(*element, |product| product.times(element)));
        }
        let Some(product) = product else { return };
        let mut inverse = product.carried().shrunk().inverted();
        for (element, (zeros, product)) in elements.iter_mut().zip(before).rev() {
            let inverted = product.map_or(inverse, |product| inverse.times(&product));
            if product.is_some() {
                inverse = inverse.times(element);
            }
            *element = inverted;
            if zeros != 0 {
                *element = F::zero(lanes).or(zeros, element);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blst::blst_fp;

    use crate::{
        arithmetic::curve::ONE,
        backend::lanes::{
            constant::P_WORDS,
            tests::{elements, in_each_kind_and_serially, load, lowered, number, over_r, raised, stored},
        },
    };

    in_each_kind_and_serially! {
        fn inverses_of_many_with_zeros_among_them(lanes: L) {
            let elements = elements();
            let mut vectors: Vec<L::Fp> =
                elements.chunks_exact(8).map(|e| L::Fp::load(lanes, &core::array::from_fn(|i| &e[i]))).collect();
            invert_all(&mut vectors);
            let inverted: Vec<_> = vectors.iter().flat_map(|v| v.store()).collect();
            for (a, inverse) in elements.iter().zip(inverted) {
                assert_eq!(inverse, if a.is_zero() { *a } else { a.inverse() });
            }
            let mut zeros = [L::Fp::zero(lanes); 2];
            invert_all(&mut zeros);
            assert!(zeros.iter().flat_map(|v| v.store()).all(|e| e.is_zero()));
        }
    }

    in_each_kind_and_serially! {
        fn agrees_with_blst(lanes: L) {
            let elements = elements();
            for a in elements.chunks_exact(8) {
                let a: &[blst_fp; 8] = a.try_into().expect("eight");
                let lanes_a: L::Fp = load(lanes, a);
                assert_eq!(lanes_a.store(), *a);
                assert_eq!(lanes_a.squared().store(), a.map(|a| a.squared()));
                for shift in 0..elements.len() / 3 {
                    let b: [blst_fp; 8] = core::array::from_fn(|i| elements[(shift * 3 + i) % elements.len()]);
                    let lanes_b: L::Fp = load(lanes, &b);
                    let each = |f: fn(&blst_fp, &blst_fp) -> blst_fp| -> [blst_fp; 8] {
                        core::array::from_fn(|i| f(&a[i], &b[i]))
                    };
                    for (a, b) in [(lanes_a, lanes_b), (lanes_a.largest(), lanes_b.largest())] {
                        assert_eq!(a.times(&b).store(), each(|a, b| a.times(b)));
                    }
                    assert_eq!(lanes_a.plus(&lanes_b).store(), each(|a, b| a.plus(b)));
                    assert_eq!(lanes_a.minus(&lanes_b).store(), each(|a, b| a.minus(b)));
                    assert_eq!(lanes_a.minus_sum(&lanes_b.doubled()).store(), each(|a, b| a.minus(&b.plus(b))));
                    let equal = lanes_a.equals(&lanes_b);
                    for lane in 0..8 {
                        assert_eq!(equal >> lane & 1 == 1, a[lane] == b[lane]);
                    }
                }
            }
        }
    }

    in_each_kind_and_serially! {
        /// Words are taken modulo p: beside every multiple of p below 2^384, and at the end.
        fn words_of_numbers_above_p(lanes: L) {
            // 2^384 - 1, where 2^384 modulo p is the Montgomery form of one.
            let mut numbers = alloc::vec![([u64::MAX; 6], number(ONE.l).minus(&ONE))];
            let mut words = [0; 6];
            for _ in 0..9 {
                numbers.push((words, blst_fp::default()));
                numbers.push(([words[0] + 1, words[1], words[2], words[3], words[4], words[5]], ONE));
                let mut carry = false;
                for (word, of_p) in words.iter_mut().zip(P_WORDS) {
                    let (sum, first) = word.overflowing_add(of_p);
                    let (sum, second) = sum.overflowing_add(u64::from(carry));
                    (*word, carry) = (sum, first | second);
                }
                assert!(!carry, "9p is below 2^384");
            }
            for (words, expected) in numbers {
                let eight = L::Fp::from_words(lanes, &[words.map(|word| [word; LANES]); 2]);
                assert_eq!(eight.store(), [expected; LANES], "{words:x?}");
            }
        }
    }

    in_each_kind_and_serially! {
        /// The words that are stored are a number times R.
        fn stored_words_are_times_r(lanes: L) {
            for words in [[1, 0, 0, 0, 0, 0], [7, 1 << 63, 0, 5, 0, 1]] {
                let expected = number(words).times(&over_r::<L>());
                assert_eq!(stored::<L::Fp>(lanes, &[words; LANES]).store(), [expected; LANES]);
            }
        }
    }

    in_each_kind_and_serially! {
        /// Zero as multiples of p, below zero too, and its neighbours. In all lanes, and in one lane alone.
        fn zero_in_every_form(lanes: L) {
            let of = |words: [u64; 6]| stored::<L::Fp>(lanes, &[words; LANES]);
            let mut below_p = P_WORDS;
            below_p[0] -= 1;
            let (zero, one, minus_one) = (of([0; 6]), of([1, 0, 0, 0, 0, 0]), of(below_p));
            let mut numbers = alloc::vec![(lowered(&zero, 1), !0), (lowered(&one, 1), 0), (lowered(&minus_one, 1), 0)];
            for times in 0..6 {
                numbers.extend([(&zero, !0), (&one, 0), (&minus_one, 0)].map(|(a, zeros)| (raised(a, times), zeros)));
            }
            for (i, (number, expected)) in numbers.iter().enumerate() {
                assert_eq!(number.is_zero(), *expected, "number {i}");
                for lane in 0..LANES {
                    let number = number.or(1 << lane, &L::Fp::one(lanes));
                    assert_eq!(number.is_zero(), expected & 1 << lane, "number {i} in lane {lane}");
                }
            }
        }
    }

    in_each_kind_and_serially! {
        /// Numbers at (p + 1)/2, and beside it by a bit of every limb: which is larger than its negative, and which is
        /// odd.
        fn signs_at_the_edges(lanes: L) {
            let words = |a: &blst_fp| {
                let mut out = [0; 6];
                // SAFETY: six words out.
                unsafe { blst::blst_uint64_from_fp(out.as_mut_ptr(), a) };
                out
            };
            // (p + 1)/2 is 1/2.
            let half = ONE.plus(&ONE).inverse();
            let mut numbers = elements();
            numbers.extend([half, half.minus(&ONE), half.plus(&ONE), half.minus(&ONE).minus(&ONE)]);
            for bit in [48, 50, 52, 64].into_iter().flat_map(|width| (0..381).step_by(width)) {
                let mut words = [0; 6];
                words[bit / 64] = 1 << (bit % 64);
                let bit = number(words);
                numbers.extend([half.plus(&bit), half.minus(&bit), half.minus(&bit).minus(&ONE)]);
            }
            for number in numbers {
                let (number_words, negative) = (words(&number), words(&blst_fp::default().minus(&number)));
                let larger = number_words.iter().rev().gt(negative.iter().rev());
                let eight = L::Fp::splat(lanes, &number);
                assert_eq!(eight.is_larger(), if larger { !0 } else { 0 }, "{number_words:x?}");
                assert_eq!(eight.is_odd(), if number_words[0] & 1 == 1 { !0 } else { 0 }, "{number_words:x?}");
            }
        }
    }
}
