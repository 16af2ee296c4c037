//! Sums, by batches of affine additions in lanes.

use alloc::vec::Vec;

use super::{
    affine::{self, Entry, Outside},
    curve::InLanes,
    field::{LANES, Lanes},
};
use crate::segments::{Cut, Segments};

/// The sum of each segment.
pub(crate) fn sums<L: Lanes, C: InLanes<Parameters = L::Curve>>(lanes: L, points: Cut<'_, C>) -> Vec<C> {
    let n = points.items().len();
    if n < L::THRESHOLDS.sum && (points.len() < LANES || n < 2 * LANES) {
        return C::sums(points);
    }
    let entries = (0..n).map(|i| Entry::new(i, 0, false)).collect();
    let entries = Segments::from_ends(entries, points.ends().to_vec());
    affine::sums(&Outside::new(lanes, points.items()), &entries, false).to_points()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    use crate::{
        Backend, Bls12381Group, G1, G2,
        backend::lanes::{affine::tests::hashed, tests::in_each_kind},
        group::cut,
    };

    fn agrees<L: Lanes<Curve = crate::pairing::Bls12381>, G: Bls12381Group>(lanes: L) {
        let sums = |segments: &Segments<G>| -> Vec<G> { sums(lanes, cut(segments)).into_iter().map(G::wrap).collect() };
        let mut points: Vec<G> = hashed(40);
        points[7] = G::IDENTITY;
        points[12] = points[11].negate();
        let points: Vec<G> = points.iter().cycle().take(1500).copied().collect();
        // The edges of a vector, the break-even, and sums long enough to be cut.
        let least = L::THRESHOLDS.sum;
        for n in [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, least - 1, least, least + 1, 1023, 1500] {
            let sum = sums(&Segments::one(points[..n].to_vec()))[0];
            assert_eq!(sum, Backend::Portable.sum(&points[..n]), "{n} points");
            for ends in [vec![n], vec![0, n / 3, n / 3, n]] {
                let segments = Segments::from_ends(points[..n].to_vec(), ends);
                assert_eq!(sums(&segments), Backend::Portable.sums(&segments), "{n} points");
            }
        }
        assert!(sums(&Segments::<G>::new()).is_empty());
        for (segments, length) in [(150, 10), (8, 2), (9, 2), (17, 3)] {
            // An empty segment before the others.
            let ends = (0..=segments).map(|i| length * i).collect();
            let segments = Segments::from_ends(points[..segments * length].to_vec(), ends);
            assert_eq!(sums(&segments), Backend::Portable.sums(&segments));
        }
    }

    in_each_kind! {
        fn agrees_with_portable(lanes: L) {
            agrees::<L, G1>(lanes);
            agrees::<L, G2>(lanes);
        }
    }
}
