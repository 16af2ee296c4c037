//! Multi-scalar multiplication Σ nᵢ·Pᵢ for public scalars, by blst's implementation of Pippenger's algorithm. Its
//! additions are not complete for points of small order.

use alloc::vec::Vec;

use crate::arithmetic::Curve;

pub(crate) fn msm<C: Curve>(terms: impl Iterator<Item = (C, [u8; 32])>) -> C {
    let (points, scalars): (Vec<_>, Vec<_>) = terms.filter(|(point, _)| *point != C::IDENTITY).unzip();
    if points.is_empty() {
        return C::IDENTITY;
    }
    C::to_affine(&[C::multi_scalar_sum(&points, &scalars)])[0]
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use crate::{Backend, G1, G2, Group, Scalar, scalar::tests::scalars};

    /// Double and add.
    fn times<G: Group>(point: G, scalar: &Scalar) -> G {
        let bytes = scalar.to_bytes();
        let bits = (0..256).map(|i| bytes[i / 8] >> (7 - i % 8) & 1);
        bits.fold(G::IDENTITY, |sum, bit| {
            let addend = if bit == 1 { point } else { G::IDENTITY };
            Backend::Portable.sum(&[sum, sum, addend])
        })
    }

    fn zip<G: Group>(points: &[G], scalars: &[Scalar]) -> Vec<(G, Scalar)> {
        points.iter().copied().zip(scalars.iter().copied()).collect()
    }

    fn agrees<G: Group>(backend: Backend) {
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

    #[test]
    fn agrees_with_double_and_add_g1() {
        Backend::available().iter().for_each(|backend| agrees::<G1>(*backend));
    }

    #[test]
    fn agrees_with_double_and_add_g2() {
        Backend::available().iter().for_each(|backend| agrees::<G2>(*backend));
    }
}
