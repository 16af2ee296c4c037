//! Operations of many scalars, one at a time.

use alloc::vec::Vec;

use crate::scalar::Scalar;

/// aᵢ·bᵢ, in the place of aᵢ.
pub(crate) fn multiply(a: &mut [Scalar], b: &[Scalar]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = *a * *b);
}

/// Adds factor·bᵢ to aᵢ.
pub(crate) fn add_multiple(a: &mut [Scalar], factor: Scalar, b: &[Scalar]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = *a + factor * *b);
}

/// The inverses. If one scalar is zero, the answer is false and nothing changes.
///
/// One inversion and three products each: each inverse is the inverse of the product so far, times the product before.
pub(crate) fn invert(scalars: &mut [Scalar]) -> bool {
    let mut product = Scalar::ONE;
    let products = scalars.iter().map(|scalar| {
        let before = product;
        product = before * *scalar;
        before
    });
    let products: Vec<_> = products.collect();
    let Some(mut inverse) = product.inverse() else { return false };
    for (scalar, before) in scalars.iter_mut().zip(&products).rev() {
        (*scalar, inverse) = (inverse * *before, inverse * *scalar);
    }
    true
}

/// The value of a polynomial at each point, the constant coefficient first.
pub(crate) fn values(coefficients: &[Scalar], points: &[Scalar]) -> Vec<Scalar> {
    let value = |point: &Scalar| coefficients.iter().rev().fold(Scalar::ZERO, |sum, c| sum * *point + *c);
    points.iter().map(value).collect()
}

/// For each point x the product of x - root over the roots other than x.
pub(crate) fn differences(points: &[Scalar], roots: &[Scalar]) -> Vec<Scalar> {
    let product = |x: &Scalar| roots.iter().filter(|root| *root != x).map(|root| *x - *root).product();
    points.iter().map(product).collect()
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::{collection::vec, prelude::*};

    use crate::{Backend, Scalar, scalar::tests::scalars};

    const LENGTHS: [usize; 11] = [0, 1, 2, 7, 8, 9, 15, 16, 17, 40, 65];

    #[test]
    fn products_and_multiples() {
        for backend in Backend::available() {
            for n in LENGTHS {
                // Every pair of the special scalars meets.
                for turn in 0..16 {
                    let (a, b) = (scalars(n), scalars(n + turn)[turn..].to_vec());
                    let mut products = a.clone();
                    backend.multiply(&mut products, &b);
                    assert_eq!(products, a.iter().zip(&b).map(|(a, b)| *a * *b).collect::<Vec<_>>(), "{backend}, {n}");
                    let factor = scalars(turn + 1)[turn];
                    let mut sums = a.clone();
                    backend.add_multiple(&mut sums, factor, &b);
                    let expected: Vec<_> = a.iter().zip(&b).map(|(a, b)| *a + factor * *b).collect();
                    assert_eq!(sums, expected, "{backend}, {n}");
                }
            }
        }
    }

    #[test]
    fn inverses_of_all_or_none() {
        for backend in Backend::available() {
            for n in LENGTHS {
                let mut some: Vec<_> = scalars(2 * n).into_iter().filter(|scalar| !scalar.is_zero()).take(n).collect();
                let inverses = backend.inverses(&some).expect("none is zero");
                let one_by_one: Vec<_> = some.iter().map(|scalar| scalar.inverse().expect("not zero")).collect();
                assert_eq!(inverses, one_by_one, "{backend}, {n}");
                for place in 0..some.len() {
                    let kept = core::mem::replace(&mut some[place], Scalar::ZERO);
                    assert_eq!(backend.inverses(&some), None, "{backend}, a zero at {place} of {n}");
                    some[place] = kept;
                }
            }
        }
    }

    #[test]
    fn values_of_polynomials() {
        for backend in Backend::available() {
            for n in LENGTHS {
                let points = scalars(n);
                for coefficients in [0, 1, 2, 5, 16].map(scalars) {
                    let powers =
                        |point: &Scalar| (0..).map(|i| point.power(i)).zip(&coefficients).map(|(x, c)| x * *c).sum();
                    let expected: Vec<Scalar> = points.iter().map(powers).collect();
                    assert_eq!(backend.values(&coefficients, &points), expected, "{backend}, {n}");
                }
            }
        }
    }

    #[test]
    fn products_of_differences() {
        for backend in Backend::available() {
            for n in LENGTHS {
                for roots in [0, 1, 3, 16, 33].map(scalars) {
                    let points = scalars(n);
                    let expected = points.iter().map(|x| {
                        roots.iter().map(|root| *x - *root).filter(|difference| !difference.is_zero()).product()
                    });
                    let expected: Vec<Scalar> = expected.collect();
                    assert_eq!(backend.differences(&points, &roots), expected, "{backend}, {n}, {}", roots.len());
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "need one length")]
    fn products_of_lists_of_two_lengths_are_refused() {
        Backend::auto().multiply(&mut [Scalar::ONE; 3], &[Scalar::ONE; 2]);
    }

    proptest! {
        #[test]
        fn backends_agree(bytes in vec(any::<[u8; 32]>(), 0..100), factor: [u8; 32]) {
            let (scalars, factor): (Vec<_>, _) = (bytes.iter().map(|b| Scalar::reduce(b)).collect(), Scalar::reduce(&factor));
            let results = Backend::available().iter().map(|backend| {
                let (mut squares, mut sums) = (scalars.clone(), scalars.clone());
                backend.multiply(&mut squares, &scalars);
                backend.add_multiple(&mut sums, factor, &squares);
                (squares, sums.clone(), backend.inverses(&scalars), backend.values(&scalars, &sums))
            });
            let results: Vec<_> = results.collect();
            prop_assert!(results.iter().all(|result| *result == results[0]));
        }
    }
}
