//! The map of G2's suites: RFC 9380, section 8.8.2, as [the portable backend](crate::backend::portable::map_to_g2)
//! describes it. The difference is that the two points are added before the isogeny, and that its images are in
//! Jacobian coordinates.

use blst::blst_p2_affine;

use super::{
    curve::{Affine, Jacobian, add, add_affine, double, psi, times_minus_z, times_minus_z_jacobian},
    field::{Field, Lanes, Mask, PrimeField},
    fp2::Fp2,
    hash_to_curve::{HashInLanes, Swu},
    instructions::in_lanes,
    spread_point::SpreadPoint,
    square_root,
    unroll::limbs_of,
};
use crate::{
    arithmetic::Curve,
    backend::portable::map_to_g2::{self, B_OVER_Z_A, MINUS_B_OVER_A, ROOT_OF_MINUS_125, clear_cofactor, fp2},
    pairing::Bls12381,
};

impl HashInLanes for blst_p2_affine {
    const PORTABLE_IS_UNCLEARED: bool = true;

    #[inline(always)]
    fn swu<L: Lanes<Curve = Bls12381>>(lanes: L) -> Swu<Fp2<L::Fp>> {
        Swu {
            a: Fp2::splat(lanes, &fp2(0, 240)),
            b: Fp2::splat(lanes, &fp2(1012, 1012)),
            z: Fp2::splat(lanes, &fp2(-2, -1)),
            minus_b_over_a: Fp2::splat(lanes, &MINUS_B_OVER_A),
            b_over_z_a: Fp2::splat(lanes, &B_OVER_Z_A),
        }
    }

    #[inline(always)]
    fn roots<L: Lanes<Curve = Bls12381>, const N: usize>(
        lanes: L,
        u: &[Fp2<L::Fp>; N],
        z_u2: &[Fp2<L::Fp>; N],
        g1: &[Fp2<L::Fp>; N],
    ) -> [(Fp2<L::Fp>, Mask); N] {
        roots(lanes, u, z_u2, g1)
    }

    #[inline(always)]
    fn isogeny<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Affine<Fp2<L::Fp>>) -> Jacobian<Fp2<L::Fp>> {
        isogeny(lanes, point)
    }

    #[inline(always)]
    fn clear<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Affine<Fp2<L::Fp>>) -> Jacobian<Fp2<L::Fp>> {
        clear(lanes, point)
    }

    fn clear_spread<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Self) -> SpreadPoint<L::Fp, Self> {
        let minus = point.signed(true);
        let [point, turned, minus_psi] =
            [*point, minus.turned(1), map_to_g2::psi(&minus)].map(|p| SpreadPoint::load(lanes, &p));
        let rest = turned.doubled().plus(&SpreadPoint::load(lanes, &minus)).plus(&minus_psi);
        point.times_minus_z().plus(&point).plus(&minus_psi).times_minus_z().plus(&rest)
    }

    fn clear_one(&self) -> Self {
        clear_cofactor(&[*self])[0]
    }
}

in_lanes! {
    /// A root of each g(x₁), or of g(x₂) = (Zu²)³·g(x₁) if g(x₁) is not a square. The norm 125·N(u)⁶·N(g(x₁)) of g(x₂)
    /// has the root √-125·N(u)³·√-N(g(x₁)).
    fn roots<P: PrimeField<Curve = Bls12381>>[N: usize](
        lanes: P::Lanes, u: &[Fp2<P>; N], z_u2: &[Fp2<P>; N], g1: &[Fp2<P>; N],
    ) -> [(Fp2<P>, Mask); N] {
        let norms = square_root::roots(lanes, &limbs_of!(I < N => g1[I].norm()));
        let root_of_minus_125 = P::splat(lanes, &ROOT_OF_MINUS_125);
        let of = |i: usize| {
            let is_square = norms[i].is_square;
            let g2 = z_u2[i].squared().times(&z_u2[i]).times(&g1[i]);
            let norm = u[i].norm().carried();
            let root = norm.squared().times(&norm).times(&root_of_minus_125).times(&norms[i].root);
            (g1[i].or(is_square, &g2), norms[i].root.or(is_square, &root))
        };
        let squares = limbs_of!(I < N => of(I));
        let roots = square_root::from_norms(lanes, &limbs_of!(I < N => squares[I].0), &limbs_of!(I < N => squares[I].1));
        limbs_of!(I < N => (roots[I], norms[I].is_square))
    }

    /// With w = x - x₀: `X = xw² + 48i·w + 16(1 + i), Y = y·(32(1 + i) + 48i·w - w³), Z = 3w`, which is never zero.
    fn isogeny<P: PrimeField<Curve = Bls12381>>(lanes: P::Lanes, point: &Affine<Fp2<P>>) -> Jacobian<Fp2<P>> {
        let constant = |a, b| Fp2::splat(lanes, &fp2(a, b));
        let w = point.x.plus(&constant(6, -6)).carried();
        let w2 = w.squared();
        let linear = w.times(&constant(0, 48));
        let x = point.x.times(&w2).plus(&linear).plus(&constant(16, 16)).carried();
        let y = linear.plus(&constant(32, 32)).minus(&w2.times(&w)).carried();
        Jacobian { x, y: y.times(&point.y), z: w.times(&constant(3, 0)) }
    }

    /// `(z² - z - 1)·P + (z - 1)·ψ(P) + ψ²(2P)`, in the same steps as the portable backend.
    fn clear<P: PrimeField<Curve = Bls12381>>(lanes: P::Lanes, point: &Affine<Fp2<P>>) -> Jacobian<Fp2<P>> {
        let omega = Fp2::splat(lanes, &blst_p2_affine::turn_field(blst_p2_affine::one(), 1));
        let minus = point.negated();
        let minus_psi = psi(point).negated();
        let twice = double(lanes, &Affine { x: minus.x.times(&omega), y: minus.y }.to_jacobian());
        let rest = add(lanes, &twice, &add_affine(lanes, &minus.to_jacobian(), &minus_psi));
        // In the subgroup -z·P is -ψ(P), so the formula for their sum would not hold. P is added first.
        let inner = add_affine(lanes, &add_affine(lanes, &times_minus_z(lanes, point), point), &minus_psi);
        add(lanes, &times_minus_z_jacobian(lanes, &inner), &rest)
    }
}
