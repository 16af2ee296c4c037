//! The curve BN254: y² = x³ + 3 over a field of 254 bits, whose pairing the EVM computes (EIP-197). It gives about 100 bits of security.
//!
//! The portable backend has the fields, additions in projective coordinates and pairings of arkworks, one item at a time. Its sums are
//! quorate's own, the same as on BLS12-381. So are all formulas of the lanes, of which [`lanes`] has the numbers.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod lanes;
mod inverse;

use alloc::vec::Vec;
use core::{
    fmt::{self, Debug},
    hash::Hash,
};

use ark_bn254::{Bn254 as Ark, Fq, Fq2, Fq12, G1Affine, G2Affine, g1, g2};
use ark_ec::{
    AffineRepr, CurveGroup,
    pairing::{MillerLoopOutput, Pairing as _},
    scalar_mul::glv::GLVConfig,
    short_weierstrass::{Affine as ArkAffine, Projective, SWCurveConfig},
};
use ark_ff::{AdditiveGroup, Field as _, MontFp};

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::backend::lanes::{pairing, subgroup, sum, weighted_sum as weighted_sum_in_lanes};
use crate::{
    arithmetic::{Curve, curve::GroupId, field::Field},
    backend::{
        choice::{Backend, dispatch},
        portable::{affine, weighted_sum},
    },
    group::{
        Group, PairingCurve, cut,
        sealed::{Sealed, Verbs},
        weighted_cut,
    },
    pairing::{CurveId, Gt, MillerValue, Pairing, sealed::Target},
    segments::{Cut, Segments, UncheckedSegments, WeightedSegments},
    weight::Soundness,
};

/// The curve BN254, as a type. No value of it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bn254 {}

impl Target for Bn254 {
    type Value = Fq12;
    const ONE: Fq12 = Fq12::ONE;

    fn multiply(a: &Fq12, b: &Fq12) -> Fq12 {
        a * b
    }

    fn conjugate(a: &Fq12) -> Fq12 {
        let mut out = *a;
        out.conjugate_in_place();
        out
    }
}

/// A point by its coordinates; (0, 0) is the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Coordinates<F> {
    x: F,
    y: F,
}

/// Does the work of a verb: that of the portable backend, or that of the lanes with their token for this curve.
macro_rules! in_lanes_or {
    ($backend:expr, $portable:expr, |$lanes:ident| $in_lanes:expr) => {
        dispatch!($backend, $portable, |$lanes| {
            let $lanes = $lanes.on::<Bn254>();
            $in_lanes
        })
    };
}

macro_rules! field {
    ($field:ident, $inverse:expr) => {
        impl Field for $field {
            #[inline]
            fn plus(&self, other: &Self) -> Self {
                *self + other
            }

            #[inline]
            fn minus(&self, other: &Self) -> Self {
                *self - other
            }

            #[inline]
            fn times(&self, other: &Self) -> Self {
                *self * other
            }

            #[inline]
            fn squared(&self) -> Self {
                self.square()
            }

            fn inverse(&self) -> Self {
                let inverse: fn(&Self) -> Self = $inverse;
                inverse(self)
            }
        }
    };
}

field!(Fq, inverse::inverse);
field!(Fq2, |element| {
    let inverse = inverse::inverse(&(element.c0.square() + element.c1.square()));
    Fq2::new(element.c0 * inverse, -element.c1 * inverse)
});

macro_rules! group {
    ($(#[$doc:meta])* $name:ident, $id:ident, $is_whole:literal, $field:ident, $config:path, $affine:ident, $omega:expr, $is_member:expr) => {
        impl Curve for Coordinates<$field> {
            type Jacobian = Projective<$config>;
            type Field = $field;

            const ID: GroupId = GroupId::$id;
            const IDENTITY: Self = Self { x: $field::ZERO, y: $field::ZERO };
            const SUMMED_IN_STEP_FROM: usize = 128;

            fn generator() -> Self {
                let point = <$config as SWCurveConfig>::GENERATOR;
                Self { x: point.x, y: point.y }
            }

            #[inline]
            fn at(x: $field, y: $field) -> Self {
                Self { x, y }
            }

            #[inline]
            fn x(&self) -> $field {
                self.x
            }

            #[inline]
            fn y(&self) -> $field {
                self.y
            }

            fn one() -> $field {
                $field::ONE
            }

            fn in_subgroup(&self) -> bool {
                $is_member(self)
            }

            fn turn_field(x: $field, turn: u8) -> $field {
                let omega: $field = $omega;
                match turn {
                    0 => x,
                    1 => x * omega,
                    _ => x * omega.square(),
                }
            }

            fn to_jacobian(&self) -> Self::Jacobian {
                to_ark(self).into_group()
            }

            fn to_affine(points: &[Self::Jacobian]) -> Vec<Self> {
                Projective::normalize_batch(points).iter().map(from_ark).collect()
            }

            fn double(point: &Self::Jacobian) -> Self::Jacobian {
                point.double()
            }

            fn add_affine(a: &Self::Jacobian, b: &Self) -> Self::Jacobian {
                *a + to_ark(b)
            }

            fn signed(self, negative: bool) -> Self {
                if negative { Self { x: self.x, y: -self.y } } else { self }
            }
        }

        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(Coordinates<$field>);

        impl $name {
            /// Takes a point of arkworks without looking at it. It must be on the curve.
            pub fn from_ark_assuming_on_curve(point: &$affine) -> Self {
                Self(from_ark(point))
            }

            /// The point as arkworks has it.
            pub fn to_ark(&self) -> $affine {
                to_ark(&self.0)
            }
        }

        impl Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({}, {})"), self.0.x, self.0.y)
            }
        }

        impl Sealed for $name {
            type Affine = Coordinates<$field>;
            fn inner(self) -> Self::Affine {
                self.0
            }
            fn wrap(inner: Self::Affine) -> Self {
                Self(inner)
            }
            fn slice(points: &[Self]) -> &[Self::Affine] {
                // SAFETY: the type is a transparent wrapper of its only field.
                unsafe { core::slice::from_raw_parts(points.as_ptr().cast(), points.len()) }
            }
        }

        impl Group for $name {
            type Curve = Bn254;
            const ID: GroupId = GroupId::$id;
            const IS_WHOLE_CURVE: bool = $is_whole;
            const IDENTITY: Self = Self(<Coordinates<$field> as Curve>::IDENTITY);

            fn generator() -> Self {
                Self(Curve::generator())
            }
        }

        impl Verbs for $name {
            fn in_subgroup(backend: Backend, points: &[Self]) -> Vec<bool> {
                if Self::IS_WHOLE_CURVE {
                    return alloc::vec![true; points.len()];
                }
                in_lanes_or!(backend, points.iter().map(Self::is_member).collect(), |lanes| {
                    subgroup::in_subgroup(lanes, Self::slice(points))
                })
            }

            fn is_member(&self) -> bool {
                self.0.in_subgroup()
            }

            fn sum(backend: Backend, points: &[Self]) -> Self {
                Self::sums(backend, &Segments::one(points.to_vec()))[0]
            }

            fn sums(backend: Backend, points: &Segments<Self>) -> Vec<Self> {
                let points = cut(points);
                let portable = || affine::sums(Segments::from_ends(points.items().to_vec(), points.ends().to_vec()));
                let sums: Vec<Coordinates<$field>> = in_lanes_or!(backend, portable(), |lanes| sum::sums(lanes, points));
                sums.into_iter().map(Self).collect()
            }

            fn weighted_sums(backend: Backend, points: &WeightedSegments<Self>) -> Vec<Self> {
                let points = weighted_cut(points);
                let sums: Vec<Coordinates<$field>> =
                    in_lanes_or!(backend, weighted_sum::weighted_sums(points), |lanes| {
                        weighted_sum_in_lanes::weighted_sums(lanes, points)
                    });
                sums.into_iter().map(Self).collect()
            }

            fn weighted_sums_of_members(
                backend: Backend,
                points: &UncheckedSegments<Self>,
                _: Soundness,
            ) -> Option<Vec<Self>> {
                let weighted = points.weighted();
                let are_members = Self::in_subgroup(backend, weighted.points().items()).into_iter().all(|member| member);
                are_members.then(|| Self::weighted_sums(backend, weighted))
            }
        }
    };
}

// ω has one eigenvalue on both groups: arkworks' endomorphisms have λ and λ².
group!(
    /// An affine point of the first group, over Fp. Its cofactor is 1, so every point of the curve is a member.
    Bn254G1,
    G1,
    true,
    Fq,
    g1::Config,
    G1Affine,
    g1::Config::ENDO_COEFFS[0],
    |_| true
);
group!(
    /// An affine point of the twist, over Fp2.
    Bn254G2,
    G2,
    false,
    Fq2,
    g2::Config,
    G2Affine,
    g2::Config::ENDO_COEFFS[0].square(),
    is_member
);

impl Bn254G1 {
    /// a^((p + 1)/4) for each element a, which is a root of it if it is a square.
    ///
    /// Cost: 251 squares and some 50 products each.
    pub fn square_roots(backend: Backend, squares: &[Fq]) -> Vec<Fq> {
        in_lanes_or!(backend, squares.iter().map(|square| square.pow(ROOT_EXPONENT)).collect(), |lanes| {
            self::lanes::square_roots(lanes, squares)
        })
    }
}

/// (p + 1)/4 in words of 64 bits, the lowest first.
const ROOT_EXPONENT: [u64; 4] =
    [0x4f08_2305_b61f_3f52, 0x65e0_5aa4_5a1c_72a3, 0x6e14_116d_a060_5617, 0x0c19_139c_b84c_680a];

fn to_ark<P: SWCurveConfig>(point: &Coordinates<P::BaseField>) -> ArkAffine<P> {
    if point.x == P::BaseField::ZERO && point.y == P::BaseField::ZERO {
        ArkAffine::identity()
    } else {
        ArkAffine::new_unchecked(point.x, point.y)
    }
}

fn from_ark<P: SWCurveConfig>(point: &ArkAffine<P>) -> Coordinates<P::BaseField> {
    let zero = P::BaseField::ZERO;
    point.xy().map_or(Coordinates { x: zero, y: zero }, |(x, y)| Coordinates { x, y })
}

/// The curve's parameter x.
const PARAMETER: u64 = 4_965_661_367_192_848_881;

/// Whether a point of the twist has order r: [x+1]Q + ψ([x]Q) + ψ²([x]Q) = ψ³([2x]Q) (Dai, Lin, Zhao and Zhou, ePrint 2022/348, section 5.1).
///
/// Cost: a multiplication by the 63 bits of x, where arkworks multiplies by the 127 bits of 6x².
fn is_member(point: &Coordinates<Fq2>) -> bool {
    let affine: G2Affine = to_ark(point);
    let by_x =
        (0..u64::BITS - PARAMETER.leading_zeros()).rev().fold(Projective::default(), |sum: Projective<_>, bit| {
            let twice = sum.double();
            if PARAMETER >> bit & 1 == 1 { twice + affine } else { twice }
        });
    let once = psi(by_x);
    by_x + affine + once + psi(once) == psi(psi(psi(by_x.double())))
}

/// The endomorphism ψ, the Frobenius map of the curve carried over to the twist: (x, y) → (ξ^((p-1)/3)·xᵖ, ξ^((p-1)/2)·yᵖ), where ξ = 9 + i.
fn psi(point: Projective<g2::Config>) -> Projective<g2::Config> {
    const OF_X: Fq2 = Fq2::new(
        MontFp!("21575463638280843010398324269430826099269044274347216827212613867836435027261"),
        MontFp!("10307601595873709700152284273816112264069230130616436755625194854815875713954"),
    );
    const OF_Y: Fq2 = Fq2::new(
        MontFp!("2821565182194536844548159561693502659359617185244120367078079554186484126554"),
        MontFp!("3505843767911556378687030309984248845540243509899259641013678093033130930403"),
    );
    let [mut x, mut y, mut z] = [point.x, point.y, point.z];
    [&mut x, &mut y, &mut z].into_iter().for_each(|coordinate| coordinate.frobenius_map_in_place(1));
    Projective::new_unchecked(OF_X * x, OF_Y * y, z)
}

impl PairingCurve for Bn254 {
    const ID: CurveId = CurveId::Bn254;
    type G1 = Bn254G1;
    type G2 = Bn254G2;

    fn backend(chosen: Backend) -> Backend {
        chosen
    }

    fn miller_products(
        backend: Backend,
        pairing: Pairing,
        pairs: &Segments<(Bn254G1, Bn254G2)>,
    ) -> Vec<MillerValue<Self>> {
        assert_eq!(pairing, Pairing::Ate, "BN254 has the ate pairing alone");
        let portable = || pairs.iter().map(|pairs| miller_product(pairs.iter().filter_map(finite))).collect();
        in_lanes_or!(backend, portable(), |lanes| pairing::ate_products(lanes, pairs.cut(), finite))
    }

    fn miller_product(backend: Backend, pairs: &[(Bn254G1, Bn254G2)]) -> MillerValue<Self> {
        let ends = [pairs.len()];
        let portable = || miller_product(pairs.iter().filter_map(finite));
        let values = in_lanes_or!(backend, alloc::vec![portable()], |lanes| {
            pairing::ate_products(lanes, Cut::new(pairs, &ends), finite)
        });
        values[0]
    }

    fn final_exponentiations(backend: Backend, values: &[MillerValue<Self>]) -> Vec<Gt<Self>> {
        in_lanes_or!(backend, values.iter().map(final_exponentiation).collect(), |lanes| {
            pairing::final_exponentiations(lanes, values)
        })
    }

    fn pairs_to_one<const N: usize>(backend: Backend, pairs: &[(Bn254G1, Bn254G2); N]) -> bool {
        Self::final_exponentiations(backend, &[Self::miller_product(backend, pairs)])[0].is_one()
    }
}

/// The points of a pair, or `None` if one of them is the identity.
fn finite((p, q): &(Bn254G1, Bn254G2)) -> Option<(Coordinates<Fq>, Coordinates<Fq2>)> {
    (!p.is_identity() && !q.is_identity()).then_some((p.0, q.0))
}

/// The Miller value of finite pairs, by arkworks.
fn miller_product(pairs: impl Iterator<Item = (Coordinates<Fq>, Coordinates<Fq2>)>) -> MillerValue<Bn254> {
    let (p, q): (Vec<G1Affine>, Vec<G2Affine>) = pairs.map(|(p, q)| (to_ark(&p), to_ark(&q))).unzip();
    MillerValue::new(Pairing::Ate, Ark::multi_miller_loop(p, q).0)
}

/// The final exponentiation, by arkworks.
fn final_exponentiation(value: &MillerValue<Bn254>) -> Gt<Bn254> {
    Gt(Ark::final_exponentiation(MillerLoopOutput(value.value)).expect("a Miller value is not zero").0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::{Kind, Weight};
    use alloc::vec;
    use ark_bn254::Fr;
    use ark_ec::{PrimeGroup, VariableBaseMSM};
    use ark_ff::PrimeField;

    /// Runs a test with every backend of this machine, and says which.
    fn with_each_backend(test: impl Fn(Backend)) {
        for backend in Backend::available() {
            std::println!("with {backend}");
            test(*backend);
        }
    }

    /// ω as a scalar: λ of arkworks' endomorphism on the first group.
    fn omega() -> Fr {
        g1::Config::LAMBDA
    }

    /// The value of a weight.
    fn scalar(weight: Weight) -> Fr {
        (0..weight.digits()).rev().fold(Fr::ZERO, |value, place| {
            let digit = weight.digit(place);
            let kind = match digit.kind {
                Kind::Zero => Fr::ZERO,
                Kind::One => Fr::ONE,
                Kind::Two => Fr::from(2),
                Kind::Theta => Fr::ONE - omega(),
            };
            let unit = ark_ff::Field::pow(&omega(), [u64::from(digit.turn)]);
            value * Fr::from(4) + if digit.negative { -(kind * unit) } else { kind * unit }
        })
    }

    fn weights(n: usize) -> Vec<Weight> {
        let word = |i: usize| 0x9e37_79b9_7f4a_7c15_u128.wrapping_mul(0xd1b5_4a32_d192_ed03 * (i as u128 + 1));
        (0..n)
            .map(|i| Weight::from_bits(if i % 3 == 0 { word(i) >> 64 | 1 } else { word(i) | 1 }).expect("not zero"))
            .collect()
    }

    fn times<G: Group>(backend: Backend, point: G, weight: Weight) -> G {
        let mut segments = WeightedSegments::new();
        segments.push(point, weight);
        segments.close();
        backend.weighted_sums(&segments)[0]
    }

    macro_rules! sums_are_arkworks {
        ($test:ident, $group:ident) => {
            /// Sums of every length around the sizes where the method changes, with identities, equal and opposite points among them.
            #[test]
            fn $test() {
                with_each_backend(|backend| {
                    let multiple = |n: u64| {
                        let point = $group::generator().to_ark().into_group() * Fr::from(n * n + 1);
                        $group::from_ark_assuming_on_curve(&point.into_affine())
                    };
                    let mut points: Vec<_> = (0..400).map(multiple).collect();
                    (points[3], points[7], points[8], points[9]) =
                        ($group::IDENTITY, points[6], points[6].negate(), $group::IDENTITY);
                    let weights = weights(points.len());
                    for n in [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 47, 48, 49, 130, 400] {
                        let bases: Vec<_> = points[..n].iter().map($group::to_ark).collect();
                        let expected: Projective<_> = bases.iter().sum();
                        assert_eq!(backend.sum(&points[..n]).to_ark(), expected.into_affine(), "{n}");
                        let mut segments = UncheckedSegments::new();
                        points[..n].iter().zip(&weights).for_each(|(point, weight)| segments.push(*point, *weight, 0));
                        segments.close();
                        let scalars: Vec<_> = weights[..n].iter().map(|weight| scalar(*weight)).collect();
                        let expected = Projective::msm(&bases, &scalars).expect("as many").into_affine();
                        let sums = backend.weighted_sums(segments.weighted());
                        assert_eq!(sums[0].to_ark(), expected, "{n}");
                        assert_eq!(backend.weighted_sums_of_members(&segments, Soundness::Bits128), Some(sums), "{n}");
                    }
                });
            }
        };
    }

    sums_are_arkworks!(sums_in_g1_are_arkworks, Bn254G1);
    sums_are_arkworks!(sums_in_g2_are_arkworks, Bn254G2);

    /// A point of the twist whose order does not divide r, as almost all are.
    fn outside() -> Bn254G2 {
        let mut x = Fq2::new(Fq::from(1), Fq::from(0));
        loop {
            if let Some(point) = G2Affine::get_point_from_x_unchecked(x, false) {
                let point = Bn254G2::from_ark_assuming_on_curve(&point);
                assert!(
                    !point.to_ark().into_group().mul_bigint(Fr::MODULUS).into_affine().is_zero(),
                    "it has another order"
                );
                return point;
            }
            x.c0 += Fq::ONE;
        }
    }

    /// The answers of the definition, for members, points of the twist at large, and points of the small prime orders that divide the
    /// cofactor, alone and beside a member.
    #[test]
    fn membership_is_that_of_the_definition() {
        // The order of the twist divided by 10069, and by 5864401.
        let without_a_factor: [&[u64]; 2] = [
            &[
                0x1dbb_fa43_015f_1659,
                0x88a0_ba93_34d5_d06e,
                0xc616_fa58_e5b7_2d72,
                0x8ec1_2d22_f654_1370,
                0x85dd_3e29_9a8f_ab26,
                0xf2ec_8020_adba_71a1,
                0xb0cf_b56a_567e_a5a2,
                0x3b89_d84c_6eaa,
            ],
            &[
                0xac3b_8251_8671_0dfd,
                0x9cc4_40ec_f042_4dfa,
                0x2306_6c21_490c_32db,
                0x7ab5_0d66_e032_2103,
                0xfe02_6954_6e82_65a2,
                0xa406_f5bb_d101_9d45,
                0x3511_a2a9_daae_b99c,
                0x1a_2b77_49d0,
            ],
        ];
        let mut x = Fq2::new(Fq::from(1), Fq::from(3));
        let (mut members, mut others) = (0, 0);
        let mut all = vec![];
        for i in 1..40_u64 {
            x.c1 += Fq::ONE;
            let Some(point) = G2Affine::get_point_from_x_unchecked(x, i % 2 == 0) else { continue };
            let member = (point.mul_by_cofactor_to_group() * Fr::from(i)).into_affine();
            let small = without_a_factor.map(|multiplier| point.into_group().mul_bigint(multiplier).into_affine());
            let both = small.map(|small| (small + member).into_affine());
            for point in [point, member].into_iter().chain(small).chain(both) {
                let expected = point.into_group().mul_bigint(Fr::MODULUS).into_affine().is_zero();
                let point = Bn254G2::from_ark_assuming_on_curve(&point);
                assert_eq!(point.is_member(), expected, "{point:?}");
                all.push((point, expected));
                *if expected { &mut members } else { &mut others } += 1;
            }
        }
        assert!(members > 10 && others > 50, "{members} members, {others} others");
        all.push((Bn254G2::IDENTITY, true));
        with_each_backend(|backend| {
            for n in [1, 2, 7, 8, 9, 31, all.len()] {
                for some in all.chunks(n) {
                    let (points, expected): (Vec<_>, Vec<_>) = some.iter().copied().unzip();
                    assert_eq!(backend.in_subgroup(&points), expected, "{n} at a time");
                }
            }
        });
    }

    #[test]
    fn a_point_outside_the_subgroup_is_found() {
        with_each_backend(|backend| {
            let (member, outside) = (Bn254G2::generator(), outside());
            let both = backend.sum(&[member, outside]);
            assert_eq!(backend.in_subgroup(&[member, outside, Bn254G2::IDENTITY, both]), [true, false, true, false]);
            for place in 0..20 {
                let mut segments = UncheckedSegments::new();
                for (i, weight) in weights(20).into_iter().enumerate() {
                    segments.push(if i == place { outside } else { member }, weight, 0);
                }
                segments.close();
                assert_eq!(backend.weighted_sums_of_members(&segments, Soundness::Bits64), None, "at {place}");
            }
        });
    }

    /// e(wP, Q) = e(P, wQ) for weights of every digit, so ω has one eigenvalue on both groups; and e(P, Q)·e(-P, Q) = 1.
    #[test]
    fn weights_move_from_one_side_to_the_other() {
        with_each_backend(|backend| {
            let (p, q) = (Bn254G1::generator(), Bn254G2::generator());
            let (weighted_p, weighted_q) = (|weight| times(backend, p, weight), |weight| times(backend, q, weight));
            for weight in (1..16).map(|nibble| Weight::from_bits(nibble).expect("not zero")).chain(weights(4)) {
                assert!(
                    backend.pairs_to_one(&[(weighted_p(weight), q), (p.negate(), weighted_q(weight))]),
                    "{weight:?}"
                );
                let value = |pairs: &[(Bn254G1, Bn254G2)]| backend.final_exponentiation(backend.miller_product(pairs));
                let once = value(&[(weighted_p(weight), q)]);
                assert!(!once.is_one() && (once * once.inverse()).is_one());
                assert_eq!(once * once, value(&[(weighted_p(weight), q), (p, weighted_q(weight))]));
            }
        });
    }

    #[test]
    fn identities_pair_to_one() {
        with_each_backend(|backend| {
            let (p, q) = (Bn254G1::generator(), Bn254G2::generator());
            assert!(backend.pairs_to_one(&[(Bn254G1::IDENTITY, q), (p, Bn254G2::IDENTITY)]));
            assert!(
                backend.pairs_to_one::<Bn254G1, 0>(&[]) && !backend.pairs_to_one(&[(p, q), (Bn254G1::IDENTITY, q)])
            );
            let values = backend.miller_products(Pairing::Ate, &Segments::from_ends(vec![(p, q); 3], vec![0, 1, 3]));
            let powers = backend.final_exponentiations(&values);
            assert_eq!(powers, [Gt::ONE, powers[1], powers[1] * powers[1]]);
        });
    }

    /// Products of every number of pairs and their powers are those of arkworks, with identities among the pairs.
    #[test]
    fn pairings_are_arkworks() {
        let point = |n: u64| Fr::from(n * n + 7);
        let pair = |n: u64| {
            let p = (Bn254G1::generator().to_ark() * point(n)).into_affine();
            let q = (Bn254G2::generator().to_ark() * point(n + 90)).into_affine();
            (Bn254G1::from_ark_assuming_on_curve(&p), Bn254G2::from_ark_assuming_on_curve(&q))
        };
        let mut pairs: Vec<_> = (0..65).map(pair).collect();
        pairs[3].0 = Bn254G1::IDENTITY;
        pairs[20].1 = Bn254G2::IDENTITY;
        with_each_backend(|backend| {
            for n in [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 65] {
                for ends in [vec![n], vec![n / 2, n], vec![0, n / 3, n / 3, n], (0..=n).collect()] {
                    let segments = Segments::from_ends(pairs[..n].to_vec(), ends);
                    let values = backend.miller_products(Pairing::Ate, &segments);
                    let expected = Backend::Portable.miller_products(Pairing::Ate, &segments);
                    let expected = Backend::Portable.final_exponentiations(&expected);
                    assert_eq!(Backend::Portable.final_exponentiations(&values), expected, "{n} pairs");
                    for some in 0..=values.len() {
                        assert_eq!(backend.final_exponentiations(&values[..some]), expected[..some], "{n} pairs");
                    }
                }
            }
        });
    }
}
