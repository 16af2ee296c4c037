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

#[cfg(test)]
mod tests {
    use crate::{Backend, G1, Group};

    /// G1's curve has points with x = 0, outside the subgroup; identities beside one must not double it.
    #[test]
    fn point_with_x_zero_beside_identities() {
        let mut bytes = [0; G1::COMPRESSED];
        bytes[0] = 0x80;
        let point: G1 = Backend::Portable.decode(&bytes).expect("(0, 2)");
        for n in 1..20 {
            for place in 0..n {
                let mut summands = alloc::vec![G1::IDENTITY; n];
                summands[place] = point;
                assert_eq!(Backend::Portable.sum(&summands), point, "at {place} of {n}");
            }
        }
    }
}
