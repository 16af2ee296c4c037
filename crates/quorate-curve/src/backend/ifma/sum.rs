//! Plain sums, by batch-affine additions in lanes.

use alloc::vec::Vec;

use super::{
    LANES,
    affine::{self, Entry, Table},
};
use crate::{backend::portable, group::Group};

/// As the portable back end's.
pub(crate) fn sums<G: Group>(points: &[G], ends: &[usize]) -> Vec<G> {
    if points.len() < LANES_FROM && (ends.len() < LANES || points.len() < 2 * LANES) {
        return portable::sum::sums(points, ends);
    }
    let used = ends.last().copied().unwrap_or(0);
    let table = Table::of(&G::slice(points)[..used], false);
    let entries: Vec<_> = (0..used).map(|i| Entry::new(i, 0, false)).collect();
    let ends: Vec<_> = ends.iter().map(|&end| end as u32).collect();
    affine::sums(&table, &entries, &ends, false).to_points().into_iter().map(G::wrap).collect()
}

/// Fewer points are summed by blst, unless they make a sum for each lane: measured at 64 to 96 in G2 and 96 to 128 in G1.
const LANES_FROM: usize = 96;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        G1, G2,
        backend::ifma::{affine::tests::hashed, lanes_or_skip},
    };

    fn agrees<G: Group>() {
        if !lanes_or_skip() {
            return;
        }
        let mut points: Vec<G> = hashed(40);
        points[7] = G::IDENTITY;
        points[12] = points[11].negate();
        let points: Vec<G> = points.iter().cycle().take(1500).copied().collect();
        // Lane edges, the break-even, and long enough to be cut.
        for n in [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 95, 96, 97, 1023, 1500] {
            let thirds = [0, n / 3, n / 3, n];
            for ends in [&[n][..], &thirds, &[]] {
                let points = &points[..n];
                assert_eq!(sums(points, ends), portable::sum::sums(points, ends), "{ends:?}");
            }
        }
        for (stretches, length) in [(150, 10), (8, 2), (9, 2), (17, 3)] {
            let ends: Vec<_> = (0..=stretches).map(|i| length * i).collect();
            let points = &points[..stretches * length];
            assert_eq!(sums(points, &ends), portable::sum::sums(points, &ends));
        }
    }

    #[test]
    fn agrees_with_portable() {
        agrees::<G1>();
        agrees::<G2>();
    }
}
