//! Products in Fp2 that are added up before they become elements.
//!
//! Where a reduction costs as much as a product, a sum of products is reduced once. [`sum`] writes such a sum, which is
//! computed in one pass, because a sum of vectors that goes through memory costs more than its additions.

pub(crate) use super::field::Wide;
use super::{field::PrimeField, fp2::Fp2};

/// A sum of products of the field `P`: `sum!(a.c0, + b.c1, - c.c0)`.
macro_rules! sum {
    ($first:expr $(, $sign:tt $term:expr)*) => {
        P::sum_of_products(
            &$first,
            [$(($crate::backend::lanes::wide::is_minus!($sign), &$term)),*],
        )
    };
}
pub(crate) use sum;

macro_rules! is_minus {
    (+) => {
        false
    };
    (-) => {
        true
    };
}
pub(crate) use is_minus;

impl<P: PrimeField> Wide<P> {
    /// The product of factors with limbs below 2 units.
    #[inline(always)]
    pub(crate) fn product(a: &Fp2<P>, b: &Fp2<P>) -> Self {
        P::wide_product(a, b)
    }

    /// The square of a number with limbs below 2 units and values below 8p.
    #[inline(always)]
    pub(crate) fn square(a: &Fp2<P>) -> Self {
        P::wide_square(a)
    }

    /// The element, with limbs below one unit.
    #[inline(always)]
    pub(crate) fn reduced(&self) -> Fp2<P> {
        Fp2::new(P::reduced(&self.c0), P::reduced(&self.c1))
    }

    /// Adds the element to another. Then it has limbs below one unit.
    #[inline(always)]
    pub(crate) fn reduce_onto(&self, to: &mut Fp2<P>) {
        to.c0.add_reduced(&self.c0);
        to.c1.add_reduced(&self.c1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arithmetic::field::Field as _,
        backend::lanes::{
            field::Field as _,
            tests::{elements2, in_each_kind, load2},
        },
    };

    in_each_kind! {
        fn sums_of_products_are_reduced_once(lanes: L) {
            let vectors = elements2();
            for (i, a) in vectors.iter().enumerate() {
                let b = &vectors[(5 * i + 3) % vectors.len()];
                let (x, y) = (load2(lanes, a), load2(lanes, b));
                let (product, square) = (Wide::product(&x, &y), Wide::square(&x));
                let sum = Wide {
                    c0: L::Fp::sum_of_products(&product.c0, [(true, &square.c0), (false, &square.c1)]),
                    c1: L::Fp::sum_of_products(&product.c1, [(true, &square.c0), (true, &square.c1)]),
                };
                let one_plus_i = blst::blst_fp2 { fp: [crate::arithmetic::curve::ONE; 2] };
                let expected: [_; 8] = core::array::from_fn(|lane| {
                    let (a, b) = (&a[lane], &b[lane]);
                    a.times(b).minus(&a.squared().times(&one_plus_i)).plus(b)
                });
                let mut onto = y;
                sum.reduce_onto(&mut onto);
                assert_eq!(onto.store(), expected);
            }
        }
    }
}
