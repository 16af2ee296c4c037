//! Multi-scalar multiplication Σ nᵢ·Pᵢ for public scalars, by blst's implementation of Pippenger's algorithm. Its
//! additions are not complete for points of small order.

use alloc::vec::Vec;

use crate::arithmetic::{BlstCurve, Curve};

pub(crate) fn msm<C: BlstCurve>(terms: impl Iterator<Item = (C, [u8; 32])>) -> C {
    let (points, scalars): (Vec<_>, Vec<_>) = terms.filter(|(point, _)| *point != C::IDENTITY).unzip();
    if points.is_empty() {
        return C::IDENTITY;
    }
    C::to_affine(&[C::multi_scalar_sum(&points, &scalars)])[0]
}

/// The same for integers of few bits: all points share the doublings.
pub(crate) fn short_msm<C: Curve>(terms: &[(C, u64)]) -> C {
    let bits = 64 - terms.iter().fold(0, |any, (_, n)| any | n).leading_zeros();
    let sum = (0..bits).rev().fold(C::IDENTITY.to_jacobian(), |sum, bit| {
        let set = terms.iter().filter(|(_, n)| n >> bit & 1 == 1);
        set.fold(C::double(&sum), |sum, (point, _)| C::add_affine(&sum, point))
    });
    C::to_affine(&[sum])[0]
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use crate::{Backend, Bls12381Group, G1, G2, Scalar, scalar::tests::scalars};

    /// Double and add.
    fn times<G: Bls12381Group>(point: G, scalar: &Scalar) -> G {
        let bytes = scalar.to_bytes();
        let bits = (0..256).map(|i| bytes[i / 8] >> (7 - i % 8) & 1);
        bits.fold(G::IDENTITY, |sum, bit| {
            let addend = if bit == 1 { point } else { G::IDENTITY };
            Backend::Portable.sum(&[sum, sum, addend])
        })
    }

    fn zip<G: Bls12381Group>(points: &[G], scalars: &[Scalar]) -> Vec<(G, Scalar)> {
        points.iter().copied().zip(scalars.iter().copied()).collect()
    }

    fn agrees<G: Bls12381Group>(backend: Backend) {
        let names: Vec<_> = (0..40u8).map(|i| [i]).collect();
        let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
        let mut points: Vec<G> = Backend::Portable.hash_to_curve(b"msm", &messages);
        (points[9], points[10], points[11], points[17]) = (G::IDENTITY, points[8], points[8].negate(), G::generator());
        let scalars = scalars(points.len());
        for n in [0, 1, 2, 3, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 40] {
            // Short sums have every scalar in every place. Long ones are at the edges between the methods.
            for first in 0..if n <= 3 { 16 } else { 1 } {
                let turned: Vec<_> = scalars.iter().cycle().skip(first).take(n).copied().collect();
                let expected: Vec<_> = points.iter().zip(&turned).map(|(p, s)| times(*p, s)).collect();
                let got = backend.msm(&zip(&points[..n], &turned));
                assert_eq!(got, Backend::Portable.sum(&expected), "{backend}, {} n = {n}, from {first}", G::NAME);
            }
        }
        for n in [2, 33] {
            for scalar in &scalars {
                let equal = backend.msm(&vec![(points[0], *scalar); n]);
                assert_eq!(equal, Backend::Portable.sum(&vec![times(points[0], scalar); n]), "{backend}, {n} equal");
                let opposite = [(points[0], *scalar), (points[0].negate(), *scalar)].repeat(n);
                assert!(backend.msm(&opposite).is_identity());
            }
        }
        assert!(backend.msm(&zip(&[G::IDENTITY; 40], &scalars)).is_identity());
    }

    fn short_agrees<G: Bls12381Group>() {
        let numbers = [0, 1, -1, 2, 3, -3, 7, 1 << 40, -(1 << 40), i64::MAX, i64::MIN + 1];
        for backend in Backend::available() {
            for n in 0..=numbers.len() {
                for points in [vec![G::generator(); n], vec![G::IDENTITY; n]] {
                    let terms: Vec<_> = points.iter().copied().zip(numbers).collect();
                    let full = terms.iter().map(|(point, n)| {
                        let size = Scalar::from(n.unsigned_abs());
                        (*point, if *n < 0 { -size } else { size })
                    });
                    assert_eq!(backend.short_msm(&terms), backend.msm(&full.collect::<Vec<_>>()), "{backend}, {n}");
                }
            }
        }
    }

    #[test]
    fn short_integers_are_scalars() {
        short_agrees::<G1>();
        short_agrees::<G2>();
    }

    #[test]
    fn agrees_with_double_and_add_g1() {
        Backend::available().iter().for_each(|backend| agrees::<G1>(*backend));
    }

    #[test]
    fn agrees_with_double_and_add_g2() {
        Backend::available().iter().for_each(|backend| agrees::<G2>(*backend));
    }
}
