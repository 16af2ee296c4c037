//! Sums and multiples of slices of points.

use blst::{BLST_ERROR, blst_p1, blst_p1_affine, blst_p2, blst_p2_affine};
use quorate_curve::{Bls12381Group, G1, G2};

use crate::{
    check::{Check, Identity},
    points,
};

/// Sums and multiples of slices of points: blst's trait of this name, for the same types and those of
/// [`min_pk`](crate::min_pk) and [`min_sig`](crate::min_sig).
///
/// It is a trait of its own because Rust allows a foreign trait for slices of our types only to the trait's crate.
pub trait MultiPoint {
    /// The sum.
    type Output;

    /// Σ nᵢ·Pᵢ, for little-endian scalars of `nbits` bits that follow each other in whole bytes.
    ///
    /// # Panics
    /// If there are no points or too few bytes of scalars.
    fn mult(&self, scalars: &[u8], nbits: usize) -> Self::Output;

    /// The sum.
    ///
    /// # Panics
    /// If there are no points.
    fn add(&self) -> Self::Output;

    /// Whether every point is in the subgroup and none is the identity.
    ///
    /// # Errors
    /// `BLST_PK_IS_INFINITY` or `BLST_POINT_NOT_IN_GROUP`, for the first point that is not.
    fn validate(&self) -> Result<(), BLST_ERROR> {
        Err(BLST_ERROR::BLST_POINT_NOT_IN_GROUP)
    }
}

macro_rules! raw_points {
    ($affine:ident, $jacobian:ident, $group:ident, $sum:ty) => {
        impl MultiPoint for [$affine] {
            type Output = $jacobian;

            fn mult(&self, scalars: &[u8], nbits: usize) -> $jacobian {
                let sum = match points::multiply(&curve_points::<$group>(self), scalars, nbits, Check::Waived) {
                    Some(point) => <$sum>::from_public_key(&point.to_blst().into()),
                    None => points::multiply_by_blst(self, scalars, nbits, <$sum>::add_aggregate),
                };
                sum.into()
            }

            fn add(&self) -> $jacobian {
                match points::sum(&curve_points::<$group>(self)) {
                    Some(point) => <$sum>::from_public_key(&point.to_blst().into()).into(),
                    None => blst::MultiPoint::add(self),
                }
            }

            fn validate(&self) -> Result<(), BLST_ERROR> {
                points::validate(&curve_points::<$group>(self), Identity::Refused)
            }
        }
    };
}

raw_points!(blst_p1_affine, blst_p1, G1, blst::min_pk::AggregatePublicKey);
raw_points!(blst_p2_affine, blst_p2, G2, blst::min_sig::AggregatePublicKey);

fn curve_points<G: Bls12381Group>(points: &[G::Blst]) -> Vec<G> {
    points.iter().map(|point| G::from_blst_assuming_on_curve(*point)).collect()
}
