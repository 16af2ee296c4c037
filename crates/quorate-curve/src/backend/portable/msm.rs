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

    use crate::{Backend, G1, G2, Group};

    /// The group order r, little-endian.
    const ORDER: [u8; 32] = [
        0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0x02, 0xa4, 0xbd, 0x53, 0x05, 0xd8,
        0xa1, 0x09, 0x08, 0xd8, 0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73,
    ];

    fn scalar(low: u64) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&low.to_le_bytes());
        bytes
    }

    /// 0, 1, 2, r - 1, r, r + 1, the largest scalar, and some that look random.
    fn scalars(n: usize) -> Vec<[u8; 32]> {
        let near_order = |by: u8| {
            let mut bytes = ORDER;
            bytes[0] = by;
            bytes
        };
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        (0..n)
            .map(|i| match i % 12 {
                0 => [0xff; 32],
                1 => near_order(0),
                2 => ORDER,
                3 => near_order(2),
                4 => scalar(0),
                5 => scalar(1),
                6 => scalar(2),
                _ => [0; 32].map(|_: u8| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                    (state >> 56) as u8
                }),
            })
            .collect()
    }

    /// Double and add.
    fn times<G: Group>(point: G, scalar: &[u8; 32]) -> G {
        let bits = (0..256).rev().map(|i| scalar[i / 8] >> (i % 8) & 1);
        bits.fold(G::IDENTITY, |sum, bit| {
            let addend = if bit == 1 { point } else { G::IDENTITY };
            Backend::Portable.sum(&[sum, sum, addend])
        })
    }

    fn zip<G: Group>(points: &[G], scalars: &[[u8; 32]]) -> Vec<(G, [u8; 32])> {
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
            for first in 0..if n <= 3 { 12 } else { 1 } {
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
