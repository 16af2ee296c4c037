//! Plain sums, by blst's batch-affine additions.

use alloc::vec::Vec;

use super::Curve;
use crate::group::Group;

pub(crate) fn sums<G: Group>(points: &[G], ends: &[usize]) -> Vec<G> {
    let points = G::slice(points);
    let mut start = 0;
    let sums: Vec<_> = ends
        .iter()
        .map(|&end| {
            let stretch = &points[core::mem::replace(&mut start, end)..end];
            match stretch {
                [] => G::Affine::IDENTITY.to_jacobian(),
                [one] => one.to_jacobian(),
                // blst's batch addition takes a point with x = 0 beside the identity for a doubling: leave identities out.
                many => {
                    let finite = many.iter().filter(|p| **p != G::Affine::IDENTITY).map(core::ptr::from_ref);
                    G::Affine::sum(&finite.collect::<Vec<_>>())
                }
            }
        })
        .collect();
    G::Affine::to_affine(&sums).into_iter().map(G::wrap).collect()
}
