//! Membership of the subgroup of order r, eight points at a time: M. Scott, <https://eprint.iacr.org/2021/1130>.
//!
//! A point P of E(Fp) is in G1 if and only if φ(P) = -z²·P, and one of the twist is in G2 if and only if ψ(P) = z·P.

use alloc::vec::Vec;

use blst::{blst_p1_affine, blst_p2_affine};

use super::{
    curve::{Affine, InLanes, Jacobian, psi, times_minus_z, times_minus_z_jacobian, turned},
    field::{Field, LANES, Lanes, Mask},
    fp2::Fp2,
    instructions::in_lanes,
    spread_point::SpreadPoint,
};
use crate::{arithmetic::Curve, backend::portable::map_to_g2, pairing::Bls12381};

pub(crate) fn in_subgroup<L: Lanes, C: Subgroup<Parameters = L::Curve>>(lanes: L, points: &[C]) -> Vec<bool> {
    let mut out: Vec<_> = points.iter().map(Curve::is_identity).collect();
    let finite: Vec<_> = (0..points.len()).filter(|i| !out[*i]).collect();
    let (finite, rest) = finite.split_at(L::THRESHOLDS.points_in_lanes(finite.len()));
    for chunk in finite.chunks(LANES) {
        let chosen: Vec<_> = chunk.iter().map(|i| points[*i]).collect();
        let Membership { members, undecided } = C::members(lanes, &chosen);
        for (lane, i) in chunk.iter().enumerate() {
            out[*i] = if undecided >> lane & 1 == 1 { points[*i].in_subgroup() } else { members >> lane & 1 == 1 };
        }
    }
    rest.iter().for_each(|i| out[*i] = C::is_member(lanes, &points[*i]));
    out
}

/// The lanes of points in the subgroup, and the lanes where the formulas did not hold, which are points of small order.
pub struct Membership {
    pub(crate) members: Mask,
    pub(crate) undecided: Mask,
}

/// The test of membership of each curve.
pub trait Subgroup: InLanes {
    /// What is checked beside the positions of the weights, if position sums are checked in place of points.
    const FURTHER: Further;
    /// Tests one to eight finite points.
    fn members<L: Lanes<Curve = Self::Parameters>>(lanes: L, points: &[Self]) -> Membership;

    /// Tests a finite point.
    fn is_member<L: Lanes<Curve = Self::Parameters>>(lanes: L, point: &Self) -> bool {
        let _ = lanes;
        point.in_subgroup()
    }
}

/// Further positions, by which a point outside the subgroup is missed with the probability that the soundness allows
/// (`docs/soundness.md`).
#[derive(Clone, Copy)]
pub enum Further {
    /// Digits 0, 1 and -1, for the same number of positions with any soundness.
    Signs,
    /// So many digits for 64 bits of soundness, and for 128.
    Digits([usize; 2]),
}

impl Subgroup for blst_p1_affine {
    /// A position sum can miss a point of order 3 with probability 7/16.
    const FURTHER: Further = Further::Signs;

    fn members<L: Lanes<Curve = Bls12381>>(lanes: L, points: &[Self]) -> Membership {
        members_of_g1(lanes, points)
    }

    fn is_member<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Self) -> bool {
        if !L::THRESHOLDS.spread_points {
            return point.in_subgroup();
        }
        // z²·P = -φ(P)
        let product = SpreadPoint::<L::Fp, Self>::load(lanes, point).times_minus_z().times_minus_z();
        product.is(&point.turned(1).signed(true))
    }
}

impl Subgroup for blst_p2_affine {
    const FURTHER: Further = Further::Digits([6, 11]);

    fn members<L: Lanes<Curve = Bls12381>>(lanes: L, points: &[Self]) -> Membership {
        members_of_g2(lanes, points)
    }

    fn is_member<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Self) -> bool {
        if !L::THRESHOLDS.spread_points {
            return point.in_subgroup();
        }
        // -z·P = -ψ(P)
        SpreadPoint::<L::Fp, Self>::load(lanes, point).times_minus_z().is(&map_to_g2::psi(point).signed(true))
    }
}

in_lanes! {
    fn members_of_g1<L: Lanes<Curve = Bls12381>>(lanes: L, points: &[blst_p1_affine]) -> Membership {
        let point = Affine::<L::Fp>::load(lanes, points);
        let product = times_minus_z_jacobian(lanes, &times_minus_z(lanes, &point));
        // z²·P = -φ(P)
        members(&product, &Affine { x: turned(&point.x), y: point.y }.negated())
    }

    fn members_of_g2<L: Lanes<Curve = Bls12381>>(lanes: L, points: &[blst_p2_affine]) -> Membership {
        let point = Affine::<Fp2<L::Fp>>::load(lanes, points);
        // -z·P = -ψ(P)
        members(&times_minus_z(lanes, &point), &psi(&point).negated())
    }
}

#[inline(always)]
fn members<F: Field>(product: &Jacobian<F>, expected: &Affine<F>) -> Membership {
    Membership { members: product.equals(expected), undecided: product.z.is_zero() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Backend, Bls12381Group, G1, G2,
        backend::lanes::{
            curve::tests::{points, small_g1, small_g2},
            tests::backends_in_lanes,
        },
    };

    fn agrees<G: Bls12381Group>(lanes: Backend, small: &[G::Affine]) {
        let mut points: Vec<_> = points(small).into_iter().map(G::wrap).collect();
        points.insert(5, G::IDENTITY);
        let members = Backend::Portable.in_subgroup(&points);
        assert!(members.contains(&true) && members.contains(&false));
        assert_eq!(lanes.in_subgroup(&points), members, "{lanes}");
        assert!(points.iter().zip(&members).all(|(point, member)| lanes.is_member(point) == *member), "{lanes}");
        let at = |i: usize| points[i % points.len()];
        for n in (0..=17).chain([63, 64, 65]) {
            let some: Vec<_> = (0..n).map(|i| at(i * 7 + n)).collect();
            assert_eq!(lanes.in_subgroup(&some), Backend::Portable.in_subgroup(&some), "{lanes}, {n} points");
        }
        // One point outside in every lane among points inside, and the other way round.
        let (good, bad) = (G::generator(), G::wrap(small[0]));
        assert!(!Backend::Portable.in_subgroup(&[bad])[0]);
        for lane in 0..LANES {
            for (most, one, answer) in [(good, bad, true), (bad, good, false)] {
                let mut eight = [most; LANES];
                eight[lane] = one;
                let got = lanes.in_subgroup(&eight);
                assert!(got.iter().enumerate().all(|(i, got)| *got == (answer ^ (i == lane))), "{lanes}, lane {lane}");
            }
        }
    }

    #[test]
    fn small_subgroup_g1() {
        backends_in_lanes().for_each(|lanes| agrees::<G1>(lanes, &small_g1()));
    }

    #[test]
    fn small_subgroup_g2() {
        backends_in_lanes().for_each(|lanes| agrees::<G2>(lanes, &small_g2()));
    }
}
