//! Hashing to the curve, with one inversion for all the points of a call.

use alloc::vec::Vec;

use super::Curve;
use crate::group::Group;

pub(crate) fn hash_to_curve<G: Group>(dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<G> {
    let points: Vec<_> = messages.iter().map(|(prefix, body)| G::Affine::hash(body, dst, prefix)).collect();
    G::Affine::to_affine(&points).into_iter().map(G::wrap).collect()
}

/// In G2 the cofactor is left in; in G1, where clearing it is a quarter of the work, the hashes are whole.
pub(crate) fn hash_for_sums<G: Group>(dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<G> {
    G::Affine::hash_for_sums(dst, messages).into_iter().map(G::wrap).collect()
}

pub(crate) fn clear_sums<G: Group>(sums: &[G]) -> Vec<G> {
    G::Affine::clear_sums(G::slice(sums)).into_iter().map(G::wrap).collect()
}
