//! Membership of the subgroup of order r, point by point: M. Scott, <https://eprint.iacr.org/2021/1130>.

use alloc::vec::Vec;

use super::Curve;
use crate::group::Group;

pub(crate) fn in_subgroup<G: Group>(points: &[G]) -> Vec<bool> {
    points.iter().map(|point| point.inner().in_subgroup()).collect()
}
