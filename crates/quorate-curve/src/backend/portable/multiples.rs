//! The multiples nᵢ·Pᵢ of points by public scalars, one at a time.

use alloc::vec::Vec;

use crate::arithmetic::BlstCurve;

/// Each point of the subgroup of order r times the scalar at its place.
pub(crate) fn multiples<C: BlstCurve>(points: &[C], scalars: &[[u8; 32]]) -> Vec<C> {
    let each = points.iter().zip(scalars);
    C::to_affine(&each.map(|(point, scalar)| C::times(&point.to_jacobian(), scalar)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use crate::{Backend, Bls12381Group, G1, G2, scalar::tests::scalars};

    /// Every number of points up to two vectors and more, identities among them, by scalars of every kind.
    fn agrees<G: Bls12381Group>() {
        let names: Vec<_> = (0..70u8).map(|i| [i]).collect();
        let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
        let mut points: Vec<G> = Backend::Portable.hash_to_curve(b"multiples", &messages);
        (points[3], points[10], points[11]) = (G::IDENTITY, points[9], points[9].negate());
        let scalars = scalars(points.len() + 16);
        let expected = |first: usize| -> Vec<G> {
            let scalars = &scalars[first..];
            points.iter().zip(scalars).map(|(point, scalar)| Backend::Portable.msm(&[(*point, *scalar)])).collect()
        };
        for backend in Backend::available() {
            for first in 0..16 {
                assert_eq!(backend.multiples(&points, &scalars[first..][..70]), expected(first), "{backend}, {first}");
            }
            for n in 0..20 {
                assert_eq!(backend.multiples(&points[..n], &scalars[..n]), expected(0)[..n], "{backend}, {n}");
            }
        }
    }

    #[test]
    fn multiples_are_sums_of_one_term_g1() {
        agrees::<G1>();
    }

    #[test]
    fn multiples_are_sums_of_one_term_g2() {
        agrees::<G2>();
    }
}
