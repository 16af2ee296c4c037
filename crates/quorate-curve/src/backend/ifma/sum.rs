//! Plain sums, by batch-affine additions in lanes.

use alloc::vec::Vec;

use super::{
    LANES,
    affine::{self, Entry, Table},
};
use crate::{backend::portable, group::Group, segments::Segments};

/// The sum of all points.
pub(crate) fn sum<G: Group>(points: &[G]) -> G {
    if points.len() < LANES_FROM {
        return portable::sum::sum(points);
    }
    let table = Table::of(G::slice(points), false);
    G::wrap(affine::sums(&table, &Segments::one(entries(points.len())), false).to_points()[0])
}

/// The sum of each segment.
pub(crate) fn sums<G: Group>(points: &Segments<G>) -> Vec<G> {
    let n = points.items().len();
    if n < LANES_FROM && (points.len() < LANES || n < 2 * LANES) {
        return portable::sum::sums(points);
    }
    let table = Table::of(G::slice(points.items()), false);
    let entries = Segments::cut(entries(n), points.ranges().map(|range| range.end).collect());
    affine::sums(&table, &entries, false).to_points().into_iter().map(G::wrap).collect()
}

/// The first n points of a table.
fn entries(n: usize) -> Vec<Entry> {
    (0..n).map(|i| Entry::new(i, 0, false)).collect()
}

/// Fewer points are summed by blst, unless they make a sum for each lane: measured at 64 to 96 in G2 and 96 to 128 in G1.
const LANES_FROM: usize = 96;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

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
            assert_eq!(sum(&points[..n]), portable::sum::sum(&points[..n]), "{n} points");
            for ends in [vec![n], vec![0, n / 3, n / 3, n]] {
                let segments = Segments::cut(points[..n].to_vec(), ends);
                assert_eq!(sums(&segments), portable::sum::sums(&segments), "{n} points");
            }
        }
        assert!(sums(&Segments::<G>::new()).is_empty());
        for (segments, length) in [(150, 10), (8, 2), (9, 2), (17, 3)] {
            // An empty one before the others.
            let ends = (0..=segments).map(|i| length * i).collect();
            let segments = Segments::cut(points[..segments * length].to_vec(), ends);
            assert_eq!(sums(&segments), portable::sum::sums(&segments));
        }
    }

    #[test]
    fn agrees_with_portable() {
        agrees::<G1>();
        agrees::<G2>();
    }
}
