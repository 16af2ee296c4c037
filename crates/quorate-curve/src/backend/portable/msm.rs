//! Multi-scalar multiplication Σ nᵢ·Pᵢ for public scalars, by blst's implementation of Pippenger's algorithm.
//!
//! For few points blst makes a table of the multiples of each, up to eight, by additions that are not complete, and inverts the Z of all
//! tables together. A point of order 3 has 3·P = 0 in its table, so that this product is zero, and the tables of all other points are
//! lost. E(Fp) has two such points, (0, ±2), and they are added apart. All other orders of both curves are at least 11.

use alloc::vec::Vec;

use crate::arithmetic::{BlstCurve, Curve, field::Field as _};

pub(crate) fn msm<C: BlstCurve>(terms: impl Iterator<Item = (C, [u8; 32])>) -> C {
    let terms = terms.filter(|(point, _)| *point != C::IDENTITY);
    let (of_order_three, others): (Vec<_>, Vec<_>) = terms.partition(|(point, _)| point.x().is_zero());
    // 256 is 1 modulo 3, so a number has the rest of the sum of its bytes.
    let rest = |scalar: &[u8; 32]| scalar.iter().map(|byte| u64::from(*byte)).sum::<u64>() % 3;
    let of_order_three: Vec<_> = of_order_three.iter().map(|(point, scalar)| (*point, rest(scalar))).collect();
    let (points, scalars): (Vec<_>, Vec<_>) = others.into_iter().unzip();
    let sum = if points.is_empty() { C::IDENTITY.to_jacobian() } else { C::multi_scalar_sum(&points, &scalars) };
    C::to_affine(&[C::add_affine(&sum, &short_msm(&of_order_three))])[0]
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

    use crate::{Backend, Bls12381Group, G1, G2, Group as _, Scalar, scalar::tests::scalars};

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

    /// What is left of a sum when a multiple of the cofactor clears it.
    fn cleared(sum: G1) -> G1 {
        let third = Backend::Portable.short_msm(&[(sum, 0x4600_5555_5555_aaab)]);
        Backend::Portable.short_msm(&[(third, 3)])
    }

    /// Points of E(Fp) outside the subgroup: of order 3, of another small order, and whose parts of order r and of small order are both
    /// there.
    fn outside_the_subgroup() -> Vec<G1> {
        let decoded = |last| {
            let mut bytes = [0; G1::COMPRESSED];
            (bytes[0], bytes[G1::COMPRESSED - 1]) = (0x80, last);
            Backend::Portable.decode::<G1>(&bytes).ok()
        };
        let mut points: Vec<_> = (0..=u8::MAX).filter_map(decoded).take(6).collect();
        assert!(points.iter().all(|point| !Backend::Portable.is_member(point)));
        // r·P = (r - 1)·P + P.
        let small = |point: &G1| Backend::Portable.sum(&[times(*point, &-Scalar::ONE), *point]);
        let orders: Vec<_> = points[1..].iter().map(small).collect();
        assert!(orders.iter().all(|point| !point.is_identity() && cleared(*point).is_identity()));
        points.push(points[0].negate());
        points.extend(orders);
        points.push(Backend::Portable.sum(&[points[0], G1::generator()]));
        points
    }

    /// Points of small order change nothing but the part of small order of the sum, whichever of them stand beside the others, and however
    /// few terms there are.
    #[test]
    fn small_order_beside_members() {
        let outside = outside_the_subgroup();
        let names: Vec<_> = (0..40u8).map(|i| [i]).collect();
        let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
        let members: Vec<G1> = Backend::Portable.hash_to_curve(b"msm", &messages);
        let scalars = scalars(40);
        for n in [1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 40] {
            for (first, point) in outside.iter().enumerate() {
                for places in [&[0][..], &[n - 1], &[0, n / 2, n - 1]] {
                    let mut points = members[..n].to_vec();
                    places.iter().for_each(|place| points[*place] = *point);
                    let scalars: Vec<_> = scalars.iter().cycle().skip(first).take(n).copied().collect();
                    let terms = zip(&points, &scalars);
                    let expected: Vec<_> = terms.iter().map(|(point, scalar)| times(*point, scalar)).collect();
                    let expected = cleared(Backend::Portable.sum(&expected));
                    for backend in Backend::available() {
                        let sum = cleared(backend.msm(&terms));
                        assert_eq!(sum, expected, "{backend}, n = {n}, point {first} at {places:?}");
                    }
                }
            }
        }
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
