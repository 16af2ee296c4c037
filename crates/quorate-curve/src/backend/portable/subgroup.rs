//! Membership of the subgroup of order r, point by point: M. Scott, <https://eprint.iacr.org/2021/1130>.

use alloc::vec::Vec;

use crate::arithmetic::Curve;

pub(crate) fn in_subgroup<C: Curve>(points: &[C]) -> Vec<bool> {
    points.iter().map(C::in_subgroup).collect()
}
