//! The curve BN254: y² = x³ + 3 over a field of 254 bits, whose pairing the EVM computes (EIP-197). It gives about 100 bits of security.
//!
//! The portable backend has the fields and the additions in projective coordinates of arkworks, one item at a time. Its sums are
//! quorate's own, the same as on BLS12-381. So are all formulas of the lanes, of which [`lanes`] has the numbers, and by which the portable
//! backend pairs and checks many points.

mod inverse;
mod fp2;
mod points;
pub(crate) mod lanes;
#[cfg(all(test, feature = "soak"))]
mod soak;

use alloc::{boxed::Box, vec::Vec};
use core::fmt::{self, Debug};

use ark_bn254::{Fq, Fq2, G1Affine, G2Affine};

pub use self::points::Bn254;
use self::points::{Coordinates, from_ark, to_ark};
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
use crate::backend::lanes::{pairing, stored::Rows, subgroup, sum};
use crate::{
    arithmetic::{Curve, curve::GroupId},
    backend::{
        choice::{Backend, dispatch},
        lanes::{
            field::Parameters,
            members::{self, RandomTrits},
            stored::{PointStore, Unchanged},
            weighted_sum as weighted_sum_in_lanes,
        },
        portable::{affine, weighted_sum},
        serial::Serial,
    },
    group::{
        Group, PairingCurve, cut,
        sealed::{Sealed, Verbs},
        weighted_cut,
    },
    pairing::{CurveId, Gt, MillerValue, Pairing},
    segments::{Cut, Segments, UncheckedSegments, WeightedSegments},
    weight::Soundness,
};

/// Does the work of a verb: that of the portable backend, or that of the lanes with their token for this curve.
macro_rules! in_lanes_or {
    ($backend:expr, $portable:expr, |$lanes:ident| $in_lanes:expr) => {
        dispatch!($backend, $portable, |$lanes| {
            let $lanes = $lanes.on::<Bn254>();
            $in_lanes
        })
    };
}

macro_rules! group {
    ($(#[$doc:meta])* $name:ident, $id:ident, $is_whole:literal, $field:ident, $affine:ident) => {
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
                in_lanes_or!(backend, points.iter().map(|point| point.0.in_subgroup()).collect(), |lanes| {
                    subgroup::in_subgroup(lanes, Self::slice(points))
                })
            }

            fn all_in_subgroup(backend: Backend, points: &[Self], random: &[RandomTrits]) -> bool {
                let serially = || members::all_in_subgroup(Serial::<Bn254>::new(), Self::slice(points), random);
                Self::IS_WHOLE_CURVE
                    || in_lanes_or!(backend, serially(), |lanes| {
                        members::all_in_subgroup(lanes, Self::slice(points), random)
                    })
            }

            fn is_member(_: Backend, point: &Self) -> bool {
                point.0.in_subgroup()
            }

            fn sums_members_from(backend: Backend, soundness: Soundness) -> Option<usize> {
                if Self::IS_WHOLE_CURVE {
                    return None;
                }
                let serially = || weighted_sum_in_lanes::sums_members_from(Serial::<Bn254>::new(), Self::ID, soundness);
                in_lanes_or!(backend, serially(), |lanes| {
                    weighted_sum_in_lanes::sums_members_from(lanes, Self::ID, soundness)
                })
            }

            fn sum(backend: Backend, points: &[Self]) -> Self {
                Self::sums(backend, &Segments::one(points.to_vec()))[0]
            }

            fn sums(backend: Backend, points: &Segments<Self>) -> Vec<Self> {
                let points = cut(points);
                let portable = || affine::sums(points.to_segments());
                let sums: Vec<Coordinates<$field>> = in_lanes_or!(backend, portable(), |lanes| sum::sums(lanes, points));
                sums.into_iter().map(Self).collect()
            }

            fn store(backend: Backend) -> Box<dyn PointStore<Self::Affine>> {
                let sums = |points: Cut<'_, Self::Affine>| affine::sums(points.to_segments());
                in_lanes_or!(backend, Box::new(Unchanged { points: Vec::new(), sums }), |lanes| {
                    Box::new(Rows::<_, Coordinates<$field>>::new(lanes))
                })
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
                soundness: Soundness,
            ) -> Option<Vec<Self>> {
                let weighted = points.weighted();
                if Self::IS_WHOLE_CURVE {
                    return Some(Self::weighted_sums(backend, weighted));
                }
                let (weighted, further) = (weighted_cut(weighted), points.further());
                let serially = || {
                    let lanes = Serial::<Bn254>::new();
                    weighted_sum_in_lanes::weighted_sums_of_members(lanes, weighted, further, soundness)
                };
                let sums: Option<Vec<Coordinates<$field>>> = in_lanes_or!(backend, serially(), |lanes| {
                    weighted_sum_in_lanes::weighted_sums_of_members(lanes, weighted, further, soundness)
                });
                Some(sums?.into_iter().map(Self).collect())
            }
        }
    };
}

group!(
    /// An affine point of the first group, over Fp. Its cofactor is 1, so every point of the curve is a member.
    Bn254G1,
    G1,
    true,
    Fq,
    G1Affine
);
group!(
    /// An affine point of the twist, over Fp2.
    Bn254G2,
    G2,
    false,
    Fq2,
    G2Affine
);

impl Bn254G1 {
    /// a^((p + 1)/4) for each element a, which is a root of it if it is a square.
    ///
    /// Cost: 251 squares and some 50 products each.
    pub fn square_roots(backend: Backend, squares: &[Fq]) -> Vec<Fq> {
        in_lanes_or!(backend, self::lanes::square_roots(Serial::<Bn254>::new(), squares), |lanes| {
            self::lanes::square_roots(lanes, squares)
        })
    }
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
        Self::products(backend, pairs.cut())
    }

    fn miller_product(backend: Backend, pairs: &[(Bn254G1, Bn254G2)]) -> MillerValue<Self> {
        Self::products(backend, Cut::new(pairs, &[pairs.len()]))[0]
    }

    fn final_exponentiations(backend: Backend, values: &[MillerValue<Self>]) -> Vec<Gt<Self>> {
        in_lanes_or!(backend, values.iter().map(Self::final_exponentiation).collect(), |lanes| {
            pairing::final_exponentiations(lanes, values)
        })
    }

    fn pairs_to_one<const N: usize>(backend: Backend, pairs: &[(Bn254G1, Bn254G2); N]) -> bool {
        Self::final_exponentiations(backend, &[Self::miller_product(backend, pairs)])[0].is_one()
    }
}

impl Bn254 {
    /// The Miller value of each product.
    fn products(backend: Backend, pairs: Cut<'_, (Bn254G1, Bn254G2)>) -> Vec<MillerValue<Self>> {
        in_lanes_or!(backend, <Self as Parameters>::miller_products(pairs, finite), |lanes| {
            pairing::ate_products(lanes, pairs, finite)
        })
    }
}

/// The points of a pair, or `None` if one of them is the identity.
fn finite((p, q): &(Bn254G1, Bn254G2)) -> Option<(Coordinates<Fq>, Coordinates<Fq2>)> {
    (!p.is_identity() && !q.is_identity()).then_some((p.0, q.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::{Kind, Weight};
    use alloc::vec;
    use ark_bn254::Fr;
    use ark_bn254::g1;
    use ark_ec::{
        AffineRepr, CurveGroup, PrimeGroup, VariableBaseMSM, pairing::Pairing as _, scalar_mul::glv::GLVConfig,
        short_weierstrass::Projective,
    };
    use ark_ff::{AdditiveGroup, Field as _, PrimeField};

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

    /// The order of the twist divided by 10069, and by 5864401, the least primes that divide it.
    const WITHOUT_A_FACTOR: [&[u64]; 2] = [
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

    /// The answers of the definition, for members, points of the twist at large, and points of the small prime orders that divide the
    /// cofactor, alone and beside a member.
    #[test]
    fn membership_is_that_of_the_definition() {
        let mut x = Fq2::new(Fq::from(1), Fq::from(3));
        let (mut members, mut others) = (0, 0);
        let mut all = vec![];
        for i in 1..40_u64 {
            x.c1 += Fq::ONE;
            let Some(point) = G2Affine::get_point_from_x_unchecked(x, i % 2 == 0) else { continue };
            let member = (point.mul_by_cofactor_to_group() * Fr::from(i)).into_affine();
            let small = WITHOUT_A_FACTOR.map(|multiplier| point.into_group().mul_bigint(multiplier).into_affine());
            let both = small.map(|small| (small + member).into_affine());
            for point in [point, member].into_iter().chain(small).chain(both) {
                let expected = point.into_group().mul_bigint(Fr::MODULUS).into_affine().is_zero();
                let point = Bn254G2::from_ark_assuming_on_curve(&point);
                assert_eq!(Backend::Portable.is_member(&point), expected, "{point:?}");
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

    /// Among many, where sums are checked in place of points: one point outside, also one of the least order, and two that cancel.
    #[test]
    fn a_point_outside_among_many_is_found_in_their_sums() {
        let outside = outside();
        let small = WITHOUT_A_FACTOR.map(|multiplier| {
            let point = outside.to_ark().into_group().mul_bigint(multiplier).into_affine();
            assert!(!point.is_zero());
            Bn254G2::from_ark_assuming_on_curve(&point)
        });
        let member = |i: u64| {
            let point = (G2Affine::generator() * Fr::from(i * i + 2)).into_affine();
            Bn254G2::from_ark_assuming_on_curve(&point)
        };
        let members: Vec<_> = (0..200).map(member).collect();
        with_each_backend(|backend| {
            for soundness in [Soundness::Bits64, Soundness::Bits128] {
                let mut state = 7_u64;
                let weights: Vec<_> = (0..members.len())
                    .map(|_| {
                        let mut next = || {
                            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                            state ^ state >> 29
                        };
                        Weight::draw(soundness, &mut next)
                    })
                    .collect();
                let checked = |points: &[Bn254G2]| {
                    let mut segments = UncheckedSegments::new();
                    points.iter().zip(&weights).for_each(|(point, weight)| segments.push(*point, *weight, 0));
                    segments.close();
                    let sums = backend.weighted_sums(segments.weighted());
                    (backend.weighted_sums_of_members(&segments, soundness), sums)
                };
                let (found, sums) = checked(&members);
                assert_eq!(found, Some(sums));
                for bad in [small[0], small[1], outside] {
                    for place in [0, 7, 8, 100, 199] {
                        let mut points = members.clone();
                        points[place] = backend.sum(&[points[place], bad]);
                        assert_eq!(checked(&points).0, None, "at {place}");
                        points[(place + 1) % 200] = backend.sum(&[points[(place + 1) % 200], bad.negate()]);
                        assert_eq!(checked(&points).0, None, "two at {place}");
                    }
                }
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

    /// The product of the pairings of each segment.
    pub(super) fn pairings_by_arkworks(segments: &Segments<(Bn254G1, Bn254G2)>) -> Vec<Gt<Bn254>> {
        let product = |pairs: &[(Bn254G1, Bn254G2)]| {
            Gt(ark_bn254::Bn254::multi_pairing(
                pairs.iter().map(|(p, _)| p.to_ark()),
                pairs.iter().map(|(_, q)| q.to_ark()),
            )
            .0)
        };
        segments.iter().map(product).collect()
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
        let mut pairs: Vec<_> = (0..97).map(pair).collect();
        pairs[3].0 = Bn254G1::IDENTITY;
        pairs[20].1 = Bn254G2::IDENTITY;
        with_each_backend(|backend| {
            for n in [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 65, 97] {
                for ends in [vec![n], vec![n / 2, n], vec![0, n / 3, n / 3, n], (0..=n).collect()] {
                    let segments = Segments::from_ends(pairs[..n].to_vec(), ends);
                    let values = backend.miller_products(Pairing::Ate, &segments);
                    let expected = pairings_by_arkworks(&segments);
                    assert_eq!(Backend::Portable.final_exponentiations(&values), expected, "{n} pairs");
                    for some in 0..=values.len() {
                        assert_eq!(backend.final_exponentiations(&values[..some]), expected[..some], "{n} pairs");
                    }
                }
            }
        });
    }
}
