//! Plain sums, by blst's batch-affine additions.

use alloc::vec::Vec;

use super::{Curve, affine};
use crate::{group::Group, segments::Segments};

/// The sum of all points.
pub(crate) fn sum<G: Group>(points: &[G]) -> G {
    G::wrap(G::Affine::to_affine(&[jacobian::<G>(points)])[0])
}

/// The sum of each segment.
pub(crate) fn sums<G: Group>(points: &Segments<G>) -> Vec<G> {
    let sums: Vec<_> = points.iter().map(jacobian::<G>).collect();
    G::Affine::to_affine(&sums).into_iter().map(G::wrap).collect()
}

fn jacobian<G: Group>(points: &[G]) -> <G::Affine as Curve>::Jacobian {
    match G::slice(points) {
        [] => G::Affine::IDENTITY.to_jacobian(),
        [one] => one.to_jacobian(),
        many if many.len() >= BATCHED && has_x_zero::<G>() => {
            affine::sums(Segments::one(many.to_vec()))[0].to_jacobian()
        }
        // Identities are left out: blst takes one beside a point with x = 0 for its double.
        many => {
            let finite = many.iter().filter(|p| **p != G::Affine::IDENTITY).map(core::ptr::from_ref);
            G::Affine::sum(&finite.collect::<Vec<_>>())
        }
    }
}

/// From so many points on blst adds in batches, where it takes a point with x = 0 beside the identity for a doubling, and
/// either can be a sum of some of the points.
const BATCHED: usize = 32;

/// Whether the curve has points with x = 0: E(Fp) has (0, ±2), of order 3; on the twist 4(1 + i) is no square.
fn has_x_zero<G: Group>() -> bool {
    G::COORDINATES.len() == 2
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

    /// Points of order 3 whose sums have x = 0, beside pairs of opposite points.
    #[test]
    fn sums_with_x_zero_beside_sums_that_are_the_identity() {
        let mut bytes = [0; G1::COMPRESSED];
        bytes[0] = 0x80;
        let three: G1 = Backend::Portable.decode(&bytes).expect("(0, 2)");
        let (p, mut state) = (G1::generator(), 1_u32);
        let pool = [three, three.negate(), p, p.negate()];
        for n in 2..70 {
            for _ in 0..20 {
                let summands: alloc::vec::Vec<_> = (0..n)
                    .map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        pool[state as usize >> 30]
                    })
                    .collect();
                let one_by_one = summands.iter().fold(G1::IDENTITY, |sum, point| Backend::Portable.sum(&[sum, *point]));
                for backend in Backend::available() {
                    assert_eq!(backend.sum(&summands), one_by_one, "{backend}, {n} points");
                }
            }
        }
    }
}
