//! Sums, by batches of affine additions in lanes.

use alloc::vec::Vec;

use super::{
    affine::{self, Entry, Table},
    curve::InLanes,
    vector::{Ifma, LANES},
};
use crate::{
    backend::portable,
    segments::{Cut, Segments},
};

/// The sum of each segment.
pub(crate) fn sums<C: InLanes>(lanes: Ifma, points: Cut<'_, C>) -> Vec<C> {
    let n = points.items().len();
    if n < LANES_FROM && (points.len() < LANES || n < 2 * LANES) {
        return portable::sum::sums(points);
    }
    let table = Table::of(lanes, points.items(), false);
    let entries = (0..n).map(|i| Entry::new(i, 0, false)).collect();
    affine::sums(&table, &Segments::from_ends(entries, points.ends().to_vec()), false).to_points()
}

/// The number of points from which the lanes are faster than blst, measured at 64 to 96 in G2 and 96 to 128 in G1. They
/// are also faster if each lane has a sum.
const LANES_FROM: usize = 96;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    use crate::{
        Backend, G1, G2, Group,
        backend::ifma::{affine::tests::hashed, lanes_or_skip},
    };

    fn agrees<G: Group>() {
        if lanes_or_skip().is_none() {
            return;
        }
        let lanes = Backend::auto();
        let mut points: Vec<G> = hashed(40);
        points[7] = G::IDENTITY;
        points[12] = points[11].negate();
        let points: Vec<G> = points.iter().cycle().take(1500).copied().collect();
        // The edges of a vector, the break-even, and sums long enough to be cut.
        for n in [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 95, 96, 97, 1023, 1500] {
            assert_eq!(lanes.sum(&points[..n]), Backend::Portable.sum(&points[..n]), "{n} points");
            for ends in [vec![n], vec![0, n / 3, n / 3, n]] {
                let segments = Segments::from_ends(points[..n].to_vec(), ends);
                assert_eq!(lanes.sums(&segments), Backend::Portable.sums(&segments), "{n} points");
            }
        }
        assert!(lanes.sums(&Segments::<G>::new()).is_empty());
        for (segments, length) in [(150, 10), (8, 2), (9, 2), (17, 3)] {
            // An empty segment before the others.
            let ends = (0..=segments).map(|i| length * i).collect();
            let segments = Segments::from_ends(points[..segments * length].to_vec(), ends);
            assert_eq!(lanes.sums(&segments), Backend::Portable.sums(&segments));
        }
    }

    #[test]
    fn agrees_with_portable() {
        agrees::<G1>();
        agrees::<G2>();
    }
}
