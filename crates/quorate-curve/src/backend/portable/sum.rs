//! Plain sums, by blst's batch-affine additions.

use alloc::vec::Vec;

use super::affine;
use crate::{
    arithmetic::{BlstCurve, curve::GroupId},
    segments::{Cut, Segments},
};

/// The sum of each segment.
pub(crate) fn sums<C: BlstCurve>(points: Cut<'_, C>) -> Vec<C> {
    let sums: Vec<_> = points.iter().map(sum).collect();
    C::to_affine(&sums)
}

fn sum<C: BlstCurve>(points: &[C]) -> C::Jacobian {
    match points {
        [] => C::IDENTITY.to_jacobian(),
        [one] => one.to_jacobian(),
        many if many.len() >= BATCHED && has_x_zero(C::ID) => {
            affine::sums(Segments::one(many.to_vec()))[0].to_jacobian()
        }
        // Identities are left out, because blst adds one to a point with x = 0 as if it doubled the point.
        many => C::sum_of_finite(&many.iter().filter(|point| **point != C::IDENTITY).collect::<Vec<_>>()),
    }
}

/// The number of points from which blst adds in batches. There it doubles a point with x = 0 instead of adding the
/// identity, and both can occur as sums of some of the points.
const BATCHED: usize = 32;

/// Whether the curve has points with x = 0. E(Fp) has (0, ±2), of order 3. The twist has none, because 4(1 + i) is not
/// a square.
const fn has_x_zero(group: GroupId) -> bool {
    match group {
        GroupId::G1 => true,
        GroupId::G2 => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Backend, Bls12381Group, G1, Group};

    /// G1's curve has points with x = 0, outside the subgroup. An identity beside one must not double it.
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
