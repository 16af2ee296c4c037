//! Hashing to the curve, with one inversion for all the points of a call.

use alloc::vec::Vec;

use super::Curve;
use crate::group::Group;

pub(crate) fn hash_to_curve<G: Group>(dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<G> {
    let points: Vec<_> = messages.iter().map(|(prefix, body)| G::Affine::hash(body, dst, prefix)).collect();
    G::Affine::to_affine(&points).into_iter().map(G::wrap).collect()
}
