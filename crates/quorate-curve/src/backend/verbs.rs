//! The verbs on points of one group, each compiled here once for G1 and once for G2.
//!
//! Were they generic in the group, each crate that calls one would compile the formulas of all kinds of lanes again.

use alloc::{boxed::Box, vec::Vec};

use blst::{blst_p1_affine, blst_p2_affine};

use super::{
    choice::{Backend, dispatch},
    lanes::{
        self,
        members::RandomTrits,
        stored::{PointStore, Rows, Unchanged},
    },
    portable::{self, hash_to_curve::HashForSums},
    serial::Serial,
};
use crate::{
    arithmetic::Curve,
    encoding::DecodeError,
    group::{
        G1, G2, Group as _, cut,
        sealed::{Bls12381Verbs, Sealed, Verbs},
        weighted_cut,
    },
    scalar::Scalar,
    segments::{Cut, Segments, UncheckedSegments, WeightedSegments},
    weight::Soundness,
};

macro_rules! verbs {
    ($group:ident, $affine:ident) => {
        impl Verbs for $group {
            fn in_subgroup(backend: Backend, points: &[Self]) -> Vec<bool> {
                let points = Self::slice(points);
                dispatch!(backend, portable::subgroup::in_subgroup(points), |lanes| {
                    lanes::subgroup::in_subgroup(lanes, points)
                })
            }

            fn all_in_subgroup(backend: Backend, points: &[Self], random: &[RandomTrits]) -> bool {
                let points = Self::slice(points);
                dispatch!(backend, lanes::members::all_in_subgroup(<Serial>::new(), points, random), |lanes| {
                    lanes::members::all_in_subgroup(lanes, points, random)
                })
            }

            fn is_member(backend: Backend, point: &Self) -> bool {
                let point = point.inner();
                point.is_identity()
                    || dispatch!(backend, point.in_subgroup(), |lanes| {
                        lanes::subgroup::Subgroup::is_member(lanes, &point)
                    })
            }

            fn sums_members_from(backend: Backend, soundness: Soundness) -> Option<usize> {
                dispatch!(
                    backend,
                    lanes::weighted_sum::sums_members_from(<Serial>::new(), Self::ID, soundness),
                    |lanes| { lanes::weighted_sum::sums_members_from(lanes, Self::ID, soundness) }
                )
            }

            fn sum(backend: Backend, points: &[Self]) -> Self {
                let ends = [points.len()];
                let points = Cut::new(Self::slice(points), &ends);
                Self::wrap(dispatch!(backend, portable::sum::sums(points), |lanes| lanes::sum::sums(lanes, points))[0])
            }

            fn sums(backend: Backend, points: &Segments<Self>) -> Vec<Self> {
                let points = cut(points);
                wrap(dispatch!(backend, portable::sum::sums(points), |lanes| lanes::sum::sums(lanes, points)))
            }

            fn store(backend: Backend) -> Box<dyn PointStore<Self::Affine>> {
                dispatch!(backend, Box::new(Unchanged { points: Vec::new(), sums: portable::sum::sums }), |lanes| {
                    Box::new(Rows::<_, $affine>::new(lanes))
                })
            }

            fn weighted_sums(backend: Backend, points: &WeightedSegments<Self>) -> Vec<Self> {
                let points = weighted_cut(points);
                wrap(dispatch!(backend, portable::weighted_sum::weighted_sums(points), |lanes| {
                    lanes::weighted_sum::weighted_sums(lanes, points)
                }))
            }

            fn weighted_sums_of_members(
                backend: Backend,
                points: &UncheckedSegments<Self>,
                soundness: Soundness,
            ) -> Option<Vec<Self>> {
                let weighted = weighted_cut(points.weighted());
                let further = points.further();
                let serially =
                    || lanes::weighted_sum::weighted_sums_of_members(<Serial>::new(), weighted, further, soundness);
                let sums = dispatch!(backend, serially(), |lanes| {
                    lanes::weighted_sum::weighted_sums_of_members(lanes, weighted, further, soundness)
                });
                sums.map(wrap)
            }
        }

        impl Bls12381Verbs for $group {
            fn decode_each(backend: Backend, encodings: &[&[u8]]) -> Vec<Result<Self, DecodeError>> {
                wrap_each(dispatch!(backend, portable::encoding::decode_each(encodings), |lanes| {
                    lanes::encoding::decode_each(lanes, encodings)
                }))
            }

            fn decode_uncompressed_each(backend: Backend, encodings: &[&[u8]]) -> Vec<Result<Self, DecodeError>> {
                wrap_each(dispatch!(backend, portable::encoding::decode_uncompressed_each(encodings), |lanes| {
                    lanes::encoding::decode_uncompressed_each(lanes, encodings)
                }))
            }

            fn hash_to_curve(backend: Backend, dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<Self> {
                wrap(dispatch!(backend, portable::hash_to_curve::hash_to_curve(dst, messages), |lanes| {
                    lanes::hash_to_curve::hash_to_curve(lanes, dst, messages)
                }))
            }

            fn hash_to_curve_one(backend: Backend, dst: &[u8], message: (&[u8], &[u8])) -> Self {
                Self::wrap(dispatch!(backend, portable::hash_to_curve::hash_to_curve_one(dst, message), |lanes| {
                    lanes::hash_to_curve::HashInLanes::hash_to_curve_one(lanes, dst, message)
                }))
            }

            fn encode_to_curve_one(dst: &[u8], message: (&[u8], &[u8])) -> Self {
                Self::wrap(portable::hash_to_curve::encode_to_curve_one(dst, message))
            }

            fn hash_for_sums(backend: Backend, dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<Self> {
                wrap(dispatch!(backend, HashForSums::hash_for_sums(dst, messages), |lanes| {
                    lanes::hash_to_curve::hash_for_sums(lanes, dst, messages)
                }))
            }

            fn clear_sums(backend: Backend, sums: &[Self]) -> Vec<Self> {
                let sums = Self::slice(sums);
                wrap(dispatch!(backend, HashForSums::clear_sums(sums), |lanes| {
                    lanes::hash_to_curve::clear_sums(lanes, sums)
                }))
            }

            fn msm(backend: Backend, terms: &[(Self, Scalar)]) -> Self {
                let term = |(point, scalar): &(Self, Scalar)| (point.inner(), scalar.to_le_bytes());
                Self::wrap(dispatch!(backend, lanes::msm::msm(<Serial>::new(), terms, term), |lanes| {
                    lanes::msm::msm(lanes, terms, term)
                }))
            }

            fn multiples(backend: Backend, points: &[Self], scalars: &[Scalar]) -> Vec<Self> {
                let points = Self::slice(points);
                let scalars: Vec<_> = scalars.iter().map(|scalar| scalar.to_le_bytes()).collect();
                wrap(dispatch!(backend, portable::multiples::multiples(points, &scalars), |lanes| {
                    lanes::multiples::multiples(lanes, points, &scalars)
                }))
            }

            fn short_msm(terms: &[(Self, i64)]) -> Self {
                let positive = |(point, n): &(Self, i64)| (point.inner().signed(*n < 0), n.unsigned_abs());
                Self::wrap(portable::msm::short_msm(&terms.iter().map(positive).collect::<Vec<_>>()))
            }
        }
    };
}

verbs!(G1, blst_p1_affine);
verbs!(G2, blst_p2_affine);

/// The points of a backend as points of a group.
fn wrap<G: Sealed>(points: Vec<G::Affine>) -> Vec<G> {
    points.into_iter().map(G::wrap).collect()
}

fn wrap_each<G: Sealed>(points: Vec<Result<G::Affine, DecodeError>>) -> Vec<Result<G, DecodeError>> {
    points.into_iter().map(|point| point.map(G::wrap)).collect()
}
