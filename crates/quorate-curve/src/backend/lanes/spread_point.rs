//! One point with its coordinates in lanes, for when there are not eight points to fill eight lanes.
//!
//! The point is (X/Z, Y/Z). The formulas are complete (J. Renes, C. Costello and L. Batina,
//! <https://eprint.iacr.org/2015/1060>, algorithms 7 and 9): they hold for every two points of a curve without a point of order two,
//! the identity (0 : 1 : 0) among them. The order of E(Fp) is odd, and so is that of the twist. A doubling takes two times four products
//! side by side, so a chain of doublings waits for two products each and not for seven.

use core::marker::PhantomData;

use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};

use super::{
    curve::{InLanes, double_and_add},
    field::{LANES, Mask, PrimeField},
    instructions::in_lanes,
};
use crate::{
    arithmetic::{
        BlstCurve,
        field::{BlstField, Field as _},
    },
    pairing::Bls12381,
};

/// X, Y and Z in the first three slots. They have limbs below 2 units and values below 4.2p.
pub struct SpreadPoint<P, C>(pub(super) P, PhantomData<C>);

/// A curve whose coordinates fit a slot, a fourth of the lanes at most: one lane for an element of Fp, two for one of Fp2.
pub trait InSlots: InLanes<Parameters = Bls12381> + BlstCurve {
    /// The lanes of a slot.
    const SLOT: usize;

    /// The element of these parts.
    fn element(parts: &[blst_fp]) -> Self::Field;
    /// The product in each slot. The factors have limbs below 2 units, the first one has a value below 18p.
    fn product<P: PrimeField<Curve = Bls12381>>(a: &P, b: &P) -> P;
    /// A fourth of the constant of the curve equation times the element of each slot, which has limbs below one unit and a value below
    /// 2.1p. It has limbs below 3 units and a value below 6.1p.
    fn times_constant<P: PrimeField<Curve = Bls12381>>(a: &P) -> P;
}

impl InSlots for blst_p1_affine {
    const SLOT: usize = 1;

    fn element(parts: &[blst_fp]) -> blst_fp {
        parts[0]
    }

    #[inline(always)]
    fn product<P: PrimeField<Curve = Bls12381>>(a: &P, b: &P) -> P {
        a.times(b)
    }

    #[inline(always)]
    fn times_constant<P: PrimeField<Curve = Bls12381>>(a: &P) -> P {
        *a
    }
}

/// The lanes of the real parts.
const REAL: Mask = 0b0101_0101;

impl InSlots for blst_p2_affine {
    const SLOT: usize = 2;

    fn element(parts: &[blst_fp]) -> blst_fp2 {
        blst_fp2 { fp: [parts[0], parts[1]] }
    }

    /// a₀·(b₀ + b₁·i) + a₁·(-b₁ + b₀·i).
    #[inline(always)]
    fn product<P: PrimeField<Curve = Bls12381>>(a: &P, b: &P) -> P {
        let real = a.permuted([0, 0, 2, 2, 4, 4, 6, 6]);
        let imaginary = a.permuted([1, 1, 3, 3, 5, 5, 7, 7]);
        let signed = P::zero(a.lanes()).subtract::<18, 2>(&imaginary).or(REAL, &imaginary);
        P::sum_of_two_products([&real, &signed], [b, &swapped(b)])
    }

    /// (1 + i)·a.
    #[inline(always)]
    fn times_constant<P: PrimeField<Curve = Bls12381>>(a: &P) -> P {
        let other = swapped(a);
        a.minus(&other).or(REAL, &a.plus(&other))
    }
}

/// The real part of each slot in the place of the imaginary part, and the other way round.
#[inline(always)]
fn swapped<P: PrimeField>(a: &P) -> P {
    a.permuted([1, 0, 3, 2, 5, 4, 7, 6])
}

/// The lanes from which the slots come. From the fifth on they are those of a second vector.
const fn slots<C: InSlots>(from: [usize; 4]) -> [i64; LANES] {
    let mut lanes = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        let slot = from[lane / C::SLOT % 4];
        lanes[lane] = (slot / 4 * LANES + slot % 4 * C::SLOT + lane % C::SLOT) as i64;
        lane += 1;
    }
    lanes
}

/// The lanes of a slot.
const fn slot<C: InSlots>(slot: usize) -> Mask {
    ((1 << C::SLOT) - 1) << (slot * C::SLOT)
}

/// 3b times each element, where the curve is y² = x³ + b, with limbs below one unit and a value below 8.4p.
#[inline(always)]
fn times_3b<P: PrimeField<Curve = Bls12381>, C: InSlots>(a: &P) -> P {
    let fourth = C::times_constant(a).carried();
    fourth.doubled().plus(&fourth).shrunk().doubled().doubled().carried()
}

impl<P: PrimeField<Curve = Bls12381>, C: InSlots> SpreadPoint<P, C> {
    pub(super) fn new(coordinates: P) -> Self {
        Self(coordinates, PhantomData)
    }

    /// A finite point.
    pub(crate) fn load(lanes: P::Lanes, point: &C) -> Self {
        let (x, y, one, zero) = (point.x(), point.y(), C::one(), blst_fp::default());
        let mut elements = [&zero; LANES];
        let parts = x.parts().iter().chain(y.parts()).chain(one.parts());
        elements.iter_mut().zip(parts).for_each(|(element, part)| *element = part);
        Self::new(P::load(lanes, &elements))
    }

    pub(crate) fn to_affine(&self) -> C {
        let parts = self.0.store();
        let coordinate = |slot: usize| C::element(&parts[slot * C::SLOT..][..C::SLOT]);
        let z = coordinate(2);
        if z.is_zero() {
            return C::IDENTITY;
        }
        let inverse = z.inverse();
        C::at(coordinate(0).times(&inverse), coordinate(1).times(&inverse))
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        add(self.0.lanes(), self, other)
    }

    pub(crate) fn doubled(&self) -> Self {
        double(self.0.lanes(), self)
    }

    /// |z|·P for the curve's parameter z.
    pub(crate) fn times_minus_z(&self) -> Self {
        times_minus_z(self.0.lanes(), self)
    }

    /// Whether this is the finite point.
    pub(crate) fn is(&self, point: &C) -> bool {
        is(self.0.lanes(), self, point)
    }
}

in_lanes! {
    fn times_minus_z<P: PrimeField<Curve = Bls12381>, C: InSlots>(lanes: P::Lanes, p: &SpreadPoint<P, C>) -> SpreadPoint<P, C> {
        double_and_add(SpreadPoint::new(p.0), |sum| double(lanes, sum), |sum| add(lanes, sum, p))
    }

    /// `X₃ = 2XY·u, Y₃ = 8Y²·c + u·(Y² + c), Z₃ = 8Y²·YZ` with `c = 3b·Z², u = Y² - 3c`.
    #[inline(never)]
    pub(super) fn double<P: PrimeField<Curve = Bls12381>, C: InSlots>(lanes: P::Lanes, p: &SpreadPoint<P, C>) -> SpreadPoint<P, C> {
        let p = &p.0;
        // Y², YZ, Z², XY
        let products = C::product(&p.permuted(const { slots::<C>([1, 1, 2, 0]) }), &p.permuted(const { slots::<C>([1, 2, 2, 1]) }));
        let yy = products.permuted(const { slots::<C>([0; 4]) });
        let c = times_3b::<P, C>(&products.permuted(const { slots::<C>([2; 4]) }));
        let u = yy.subtract::<26, 3>(&c.doubled().plus(&c)).shrunk();
        let eight = yy.doubled().doubled().doubled().carried();
        let sum = yy.plus(&c).carried();
        // XY, 8Y², u and YZ times 2u, c, Y² + c and 8Y²
        let left = eight.or(const { slot::<C>(1) }, &products.permuted(const { slots::<C>([3, 3, 3, 1]) }));
        let left = u.or(const { slot::<C>(2) }, &left);
        let right = c.or(const { slot::<C>(1) }, &u.doubled());
        let right = sum.or(const { slot::<C>(2) }, &eight.or(const { slot::<C>(3) }, &right));
        let products = C::product(&left, &right);
        let zero = P::zero(lanes);
        let rest = products.gathered(&zero, const { slots::<C>([4, 2, 4, 4]) });
        SpreadPoint::new(products.permuted(const { slots::<C>([0, 1, 3, 3]) }).plus(&rest))
    }

    /// With the products `x, y, z` of the same coordinates and the sums `xy = X₁Y₂ + X₂Y₁, yz, zx`, and with
    /// `c = 3b·zx, less = y - 3b·z, more = y + 3b·z`:
    ///
    /// `X₃ = xy·less - yz·c, Y₃ = less·more + c·3x, Z₃ = more·yz + 3x·xy`
    #[inline(never)]
    pub(super) fn add<P: PrimeField<Curve = Bls12381>, C: InSlots>(
        lanes: P::Lanes, p: &SpreadPoint<P, C>, q: &SpreadPoint<P, C>,
    ) -> SpreadPoint<P, C> {
        let (p, q) = (&p.0, &q.0);
        let products = C::product(p, q);
        let next = |a: &P| a.permuted(const { slots::<C>([1, 2, 0, 3]) });
        // xy, yz, zx
        let crossed = C::product(p, &next(q)).plus(&C::product(&next(p), q)).shrunk();
        let each = |a: &P, slot: usize| a.permuted(slots::<C>([slot; 4]));
        let (y, three_b_z) = (each(&products, 1), times_3b::<P, C>(&each(&products, 2)));
        let x = each(&products, 0);
        let x3 = x.doubled().plus(&x).carried();
        let c = times_3b::<P, C>(&each(&crossed, 2));
        let less = y.subtract::<9, 1>(&three_b_z).shrunk();
        let more = y.plus(&three_b_z).carried();
        let in_slots = |[a, b, c]: [&P; 3]| a.or(const { slot::<C>(0) }, &b.or(const { slot::<C>(1) }, c));
        let (xy, yz) = (each(&crossed, 0), each(&crossed, 1));
        let first = C::product(&in_slots([&xy, &less, &more]), &in_slots([&less, &more, &yz]));
        let minus_yz = yz.negated().carried();
        let second = C::product(&in_slots([&minus_yz, &c, &x3]), &in_slots([&c, &x3, &xy]));
        SpreadPoint::new(first.plus(&second))
    }

    fn is<P: PrimeField<Curve = Bls12381>, C: InSlots>(lanes: P::Lanes, p: &SpreadPoint<P, C>, point: &C) -> bool {
        let p = p.0.shrunk();
        let z = p.permuted(const { slots::<C>([2; 4]) });
        // xZ, yZ and Z
        let expected = C::product(&z, &SpreadPoint::<P, C>::load(lanes, point).0);
        let coordinates = const { slot::<C>(0) | slot::<C>(1) };
        let is_finite = !p.is_zero() & const { slot::<C>(2) } != 0;
        is_finite && p.equals(&expected) & coordinates == coordinates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::curve::PARAMETER;
    use crate::backend::{
        lanes::{
            curve::tests::{points, small_g1, small_g2},
            tests::in_each_kind,
        },
        portable::hash_to_curve::HashForSums,
    };

    /// Sums of every two points, equal, opposite and of small order, and what follows from them with the identity.
    fn formulas_hold<P: PrimeField<Curve = Bls12381>, C: InSlots + HashForSums>(lanes: P::Lanes, small: &[C]) {
        let points = points(small);
        let affine = |point: C::Jacobian| C::to_affine(&[point])[0];
        for (i, a) in points.iter().enumerate() {
            let (p, j) = (SpreadPoint::<P, C>::load(lanes, a), a.to_jacobian());
            let identity = p.plus(&SpreadPoint::load(lanes, &a.signed(true)));
            assert!(identity.to_affine().is_identity() && identity.doubled().to_affine().is_identity());
            assert!(identity.times_minus_z().plus(&identity).to_affine().is_identity());
            assert!(!identity.is(a) && identity.plus(&p).is(a) && p.plus(&identity).is(a));
            assert!(p.is(a) && !p.is(&a.signed(true)));
            assert!(p.doubled().to_affine() == affine(C::double(&j)));
            let mut product = C::IDENTITY.to_jacobian();
            for bit in (0..64).rev() {
                product = C::double(&product);
                if PARAMETER >> bit & 1 == 1 {
                    product = C::add_affine(&product, a);
                }
            }
            assert!(p.times_minus_z().to_affine() == affine(product), "point {i}");
            for b in &points {
                let q = SpreadPoint::<P, C>::load(lanes, b);
                let sum = p.plus(&q);
                let expected = affine(C::add_affine(&j, b));
                assert!(sum.to_affine() == expected);
                assert!(expected.is_identity() || sum.is(&expected) && !sum.is(&expected.signed(true)));
                // Another x with the same y.
                assert!(expected.x().is_zero() || !sum.is(&expected.turned(1)));
                // No coordinate of either is one.
                assert!(
                    sum.plus(&q.doubled()).to_affine()
                        == affine(C::add(&expected.to_jacobian(), &C::double(&b.to_jacobian())))
                );
            }
        }
    }

    in_each_kind! {
        fn formulas_hold_for_every_two_points_g1(lanes: L) {
            if L::WIDTH == LANES {
                formulas_hold::<L::Fp, blst_p1_affine>(lanes, &small_g1());
            }
        }
    }

    in_each_kind! {
        fn formulas_hold_for_every_two_points_g2(lanes: L) {
            if L::WIDTH == LANES {
                formulas_hold::<L::Fp, blst_p2_affine>(lanes, &small_g2());
            }
        }
    }
}
