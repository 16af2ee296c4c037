//! Membership of the subgroup of order r, eight points at a time: M. Scott, <https://eprint.iacr.org/2021/1130>.
//!
//! A point P of E(Fp) is in G1 if and only if φ(P) = -z²·P, and one of the twist is in G2 if and only if ψ(P) = z·P.

use alloc::vec::Vec;

use blst::{blst_p1_affine, blst_p2_affine};

use super::{
    FEW,
    curve::{Affine, InLanes, Jacobian, psi, times_minus_z, times_minus_z_jacobian, turned},
    field::Field,
    fp::Fp,
    fp2::Fp2,
    vector::{Ifma, LANES, Mask, in_lanes},
};
use crate::{
    arithmetic::Curve,
    backend::portable::{self, hash_to_curve::HashForSums},
};

pub(crate) fn in_subgroup<C: Subgroup>(lanes: Ifma, points: &[C]) -> Vec<bool> {
    if points.len() < FEW {
        return portable::subgroup::in_subgroup(points);
    }
    let mut out: Vec<_> = points.iter().map(Curve::is_identity).collect();
    let finite: Vec<_> = (0..points.len()).filter(|i| !out[*i]).collect();
    for chunk in finite.chunks(LANES) {
        let chosen: Vec<_> = chunk.iter().map(|i| points[*i]).collect();
        let Members { members, undecided } = C::members(lanes, &chosen);
        for (lane, i) in chunk.iter().enumerate() {
            out[*i] = if undecided >> lane & 1 == 1 { points[*i].in_subgroup() } else { members >> lane & 1 == 1 };
        }
    }
    out
}

/// The lanes of points in the subgroup, and the lanes where the formulas did not hold, which are points of small order.
pub struct Members {
    members: Mask,
    undecided: Mask,
}

/// The test of membership of each curve.
pub trait Subgroup: InLanes + HashForSums {
    /// Tests one to eight finite points.
    fn members(lanes: Ifma, points: &[Self]) -> Members;
}

impl Subgroup for blst_p1_affine {
    fn members(lanes: Ifma, points: &[Self]) -> Members {
        members_of_g1(lanes, points)
    }
}

impl Subgroup for blst_p2_affine {
    fn members(lanes: Ifma, points: &[Self]) -> Members {
        members_of_g2(lanes, points)
    }
}

in_lanes! {
    fn members_of_g1(lanes: Ifma, points: &[blst_p1_affine]) -> Members {
        let point = Affine::<Fp>::load(lanes, points);
        let product = times_minus_z_jacobian(&times_minus_z(&point));
        // z²·P = -φ(P)
        members(&product, &Affine { x: turned(&point.x), y: point.y }.negated())
    }

    fn members_of_g2(lanes: Ifma, points: &[blst_p2_affine]) -> Members {
        let point = Affine::<Fp2>::load(lanes, points);
        // -z·P = -ψ(P)
        members(&times_minus_z(&point), &psi(&point).negated())
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn members<F: Field>(product: &Jacobian<F>, expected: &Affine<F>) -> Members {
    Members { members: product.equals(expected), undecided: product.z.is_zero() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Backend, G1, G2, Group,
        backend::ifma::{
            curve::tests::{points, small_g1, small_g2},
            lanes_or_skip,
        },
    };

    fn agrees<G: Group>(small: &[G::Affine]) {
        if lanes_or_skip().is_none() {
            return;
        }
        let lanes = Backend::auto();
        let mut points: Vec<_> = points(small).into_iter().map(G::wrap).collect();
        points.insert(5, G::IDENTITY);
        let members = Backend::Portable.in_subgroup(&points);
        assert!(members.contains(&true) && members.contains(&false));
        assert_eq!(lanes.in_subgroup(&points), members);
        let at = |i: usize| points[i % points.len()];
        for n in [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65] {
            let some: Vec<_> = (0..n).map(|i| at(i * 7 + n)).collect();
            assert_eq!(lanes.in_subgroup(&some), Backend::Portable.in_subgroup(&some), "{n} points");
        }
        // One point outside in every lane among points inside, and the other way round.
        let (good, bad) = (G::generator(), G::wrap(small[0]));
        assert!(!Backend::Portable.in_subgroup(&[bad])[0]);
        for lane in 0..LANES {
            for (most, one, answer) in [(good, bad, true), (bad, good, false)] {
                let mut eight = [most; LANES];
                eight[lane] = one;
                let got = lanes.in_subgroup(&eight);
                assert!(got.iter().enumerate().all(|(i, got)| *got == (answer ^ (i == lane))), "lane {lane}");
            }
        }
    }

    #[test]
    fn small_subgroup_g1() {
        agrees::<G1>(&small_g1());
    }

    #[test]
    fn small_subgroup_g2() {
        agrees::<G2>(&small_g2());
    }
}
