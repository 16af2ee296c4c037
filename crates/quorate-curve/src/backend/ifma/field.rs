//! The trait that eight elements of Fp and eight of Fp2 share, for the formulas of both curves.
//!
//! Methods are always inlined: in a function that is compiled with AVX-512, a formula becomes vector code. A formula
//! does not mention bounds. Debug builds assert them on every path that a test runs.

use alloc::vec::Vec;

use blst::{blst_fp, blst_fp2};

use super::{
    fp::Fp,
    fp2::Fp2,
    square_root,
    vector::{Ifma, LANES, Mask, in_lanes},
};

/// The words of the parts of eight elements. Fp has no second part and ignores it.
pub(crate) type Words = [[[u64; LANES]; 6]; 2];

/// Eight elements of the coordinate field of a curve.
pub trait Field: Copy {
    /// One element of blst.
    type Element: Copy;
    /// The number of elements of Fp in an element.
    const PARTS: usize;

    /// The token that the elements were made from.
    fn lanes(&self) -> Ifma;
    fn zero(lanes: Ifma) -> Self;
    fn one(lanes: Ifma) -> Self;
    fn load(lanes: Ifma, elements: &[&Self::Element; LANES]) -> Self;
    fn store(&self) -> [Self::Element; LANES];
    /// See [`Fp::plus`], and likewise for every other method of this trait.
    fn plus(&self, other: &Self) -> Self;
    fn minus(&self, other: &Self) -> Self;
    fn minus_sum(&self, other: &Self) -> Self;
    fn subtract<const TIMES: i64, const UNITS: i64>(&self, other: &Self) -> Self;
    fn negated(&self) -> Self;
    fn carried(&self) -> Self;
    fn shrunk(&self) -> Self;
    /// The number as [`times`](Self::times) accepts it, from limbs below 4 units. In Fp it is unchanged, in Fp2 its
    /// carries are taken.
    fn factor(&self) -> Self;
    /// It accepts limbs below 2 units.
    fn times(&self, other: &Self) -> Self;
    /// It accepts limbs below 2 units and values below 16p.
    fn squared(&self) -> Self;
    fn times_fp(&self, other: &Fp) -> Self;
    fn or(&self, mask: Mask, other: &Self) -> Self;
    fn is_zero(&self) -> Mask;
    /// The lanes where both are the same.
    fn equals(&self, other: &Self) -> Mask;
    fn is_odd(&self) -> Mask;
    fn is_larger(&self) -> Mask;
    /// An element from the words of its parts: see [`Fp::from_words`].
    fn from_words(lanes: Ifma, words: &Words) -> Self;
    /// The square roots, and the lanes where they are roots: see [`square_root`].
    fn square_roots<const N: usize>(squares: &[Self; N]) -> [(Self, Mask); N];
    /// The inverses of elements that are not zero, with limbs below one unit and values below 4p. Six products of Fp
    /// and one inversion by blst. An element of Fp2 is inverted through its norm.
    fn inverted(&self) -> Self;

    #[inline(always)]
    fn doubled(&self) -> Self {
        self.plus(self)
    }
}

macro_rules! field {
    ($lanes:ident, $element:ident, $factor:expr, $from_words:expr, $square_roots:ident) => {
        impl Field for $lanes {
            type Element = $element;
            const PARTS: usize = size_of::<$element>() / size_of::<blst_fp>();

            #[inline(always)]
            fn lanes(&self) -> Ifma {
                self.lanes()
            }
            #[inline(always)]
            fn zero(lanes: Ifma) -> Self {
                Self::zero(lanes)
            }
            #[inline(always)]
            fn one(lanes: Ifma) -> Self {
                Self::one(lanes)
            }
            #[inline(always)]
            fn load(lanes: Ifma, elements: &[&$element; LANES]) -> Self {
                Self::load(lanes, elements)
            }
            #[inline(always)]
            fn store(&self) -> [$element; LANES] {
                self.store()
            }
            #[inline(always)]
            fn plus(&self, other: &Self) -> Self {
                self.plus(other)
            }
            #[inline(always)]
            fn minus(&self, other: &Self) -> Self {
                self.minus(other)
            }
            #[inline(always)]
            fn minus_sum(&self, other: &Self) -> Self {
                self.minus_sum(other)
            }
            #[inline(always)]
            fn subtract<const TIMES: i64, const UNITS: i64>(&self, other: &Self) -> Self {
                self.subtract::<TIMES, UNITS>(other)
            }
            #[inline(always)]
            fn negated(&self) -> Self {
                self.negated()
            }
            #[inline(always)]
            fn carried(&self) -> Self {
                self.carried()
            }
            #[inline(always)]
            fn shrunk(&self) -> Self {
                self.shrunk()
            }
            #[inline(always)]
            fn times(&self, other: &Self) -> Self {
                self.times(other)
            }
            #[inline(always)]
            fn squared(&self) -> Self {
                self.squared()
            }
            #[inline(always)]
            fn or(&self, mask: Mask, other: &Self) -> Self {
                self.or(mask, other)
            }
            #[inline(always)]
            fn is_zero(&self) -> Mask {
                self.is_zero()
            }
            #[inline(always)]
            fn equals(&self, other: &Self) -> Mask {
                self.equals(other)
            }
            #[inline(always)]
            fn is_odd(&self) -> Mask {
                self.is_odd()
            }
            #[inline(always)]
            fn is_larger(&self) -> Mask {
                self.is_larger()
            }
            #[inline(always)]
            fn factor(&self) -> Self {
                $factor(self)
            }
            #[inline(always)]
            fn from_words(lanes: Ifma, words: &Words) -> Self {
                $from_words(lanes, words)
            }
            #[inline(always)]
            fn square_roots<const N: usize>(squares: &[Self; N]) -> [(Self, Mask); N] {
                square_root::$square_roots(squares[0].lanes(), squares)
            }
            #[inline(always)]
            fn times_fp(&self, other: &Fp) -> Self {
                Self::times_fp(self, other)
            }
            #[inline(always)]
            fn inverted(&self) -> Self {
                Self::inverted(self)
            }
        }
    };
}

field!(Fp, blst_fp, |a: &Fp| *a, |lanes, words: &Words| Fp::from_words(lanes, &words[0]), in_fp);
field!(
    Fp2,
    blst_fp2,
    Fp2::carried,
    |lanes, words: &Words| Fp2::new(Fp::from_words(lanes, &words[0]), Fp::from_words(lanes, &words[1])),
    in_fp2
);

/// Replaces each element by its inverse, and leaves zeros. Montgomery's trick inverts all vectors together, and then
/// all lanes. It accepts limbs below 2 units and values below 8p. Three products a vector, and one inversion.
pub(crate) fn invert_all<F: Field>(elements: &mut [F]) {
    if let Some(first) = elements.first() {
        invert_elements(first.lanes(), elements);
    }
}

in_lanes! {
    fn invert_elements<F: Field>(lanes: Ifma, elements: &mut [F]) {
        // What comes before each element: its zeros, and the product so far, in which ones stand for zeros.
        let mut before = Vec::with_capacity(elements.len());
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
    use crate::{
        arithmetic::field::Field as _,
        backend::ifma::{fp::tests::elements, lanes_or_skip},
    };

    #[test]
    fn inverses_of_many_with_zeros_among_them() {
        let Some(lanes) = lanes_or_skip() else { return };
        let elements = elements();
        let mut vectors: Vec<Fp> =
            elements.chunks_exact(8).map(|e| Fp::load(lanes, &core::array::from_fn(|i| &e[i]))).collect();
        invert_all(&mut vectors);
        let inverted: Vec<_> = vectors.iter().flat_map(|v| v.store()).collect();
        for (a, inverse) in elements.iter().zip(inverted) {
            assert_eq!(inverse, if a.is_zero() { *a } else { a.inverse() });
        }
        let mut zeros = [Fp::zero(lanes); 2];
        invert_all(&mut zeros);
        assert!(zeros.iter().flat_map(|v| v.store()).all(|e| e.is_zero()));
    }
}
