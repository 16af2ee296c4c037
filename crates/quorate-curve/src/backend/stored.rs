//! Points that a backend keeps in its own form, to sum some of them by index.

use alloc::{boxed::Box, vec::Vec};
use core::fmt;

use super::{
    choice::{Backend, dispatch},
    lanes::stored::PointStore,
};
use crate::group::Group;

/// Points of which some are summed, again and again: the keys of a large committee. The backend that made the list keeps
/// them in the form in which it computes, so that a sum neither copies nor converts them.
///
/// ```
/// use quorate_curve::{Backend, G1, Group};
/// let mut points = Backend::auto().store();
/// points.extend(&[G1::generator(), G1::IDENTITY, G1::generator().negate()]);
/// assert_eq!(points.sum(&[0, 1], &[]), G1::generator());
/// assert_eq!(points.sum(&[0], &[2]), Backend::auto().sum(&[G1::generator(), G1::generator()]));
/// ```
///
/// A point of G1 takes 128 bytes in lanes. Elsewhere it takes 96 bytes on BLS12-381 and 64 on BN254. One of G2 takes twice as many.
pub struct StoredPoints<G: Group> {
    backend: Backend,
    store: Box<dyn PointStore<G::Affine>>,
}

impl<G: Group> StoredPoints<G> {
    pub(super) fn new(backend: Backend) -> Self {
        Self { backend, store: G::store(backend) }
    }

    /// The backend that keeps them.
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// Adds points behind those that are there.
    ///
    /// # Panics
    /// If there are 2^28 points or more.
    pub fn extend(&mut self, points: &[G]) {
        let points = G::slice(points);
        dispatch!(self.backend, self.store.push_each(points), |_lanes| self.store.push_each(points));
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The points at these indices.
    ///
    /// # Panics
    /// If an index is not below [`len`](Self::len).
    pub fn get(&self, indices: &[u32]) -> Vec<G> {
        let points = dispatch!(self.backend, self.store.get(indices), |_lanes| self.store.get(indices));
        points.into_iter().map(G::wrap).collect()
    }

    /// The sum of the points at the indices `added`, minus those at the indices `subtracted`. An index may repeat.
    ///
    /// # Panics
    /// If an index is not below [`len`](Self::len).
    pub fn sum(&self, added: &[u32], subtracted: &[u32]) -> G {
        let sum = || self.store.sum(added, subtracted);
        G::wrap(dispatch!(self.backend, sum(), |_lanes| sum()))
    }
}

impl<G: Group> Clone for StoredPoints<G> {
    fn clone(&self) -> Self {
        Self { backend: self.backend, store: self.store.copy() }
    }
}

impl<G: Group> fmt::Debug for StoredPoints<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredPoints({} points of {}, {})", self.len(), G::NAME, self.backend)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::{
        G1, G2,
        backend::lanes::affine::tests::{hashed, outside},
    };

    /// Sums with repeats, identities and opposite points, below and above the break-even of every backend.
    fn agrees<G: Group>(points: &[G]) {
        let n = points.len() as u32;
        for backend in Backend::available() {
            let mut stored = backend.store();
            // In parts that end within a vector.
            for part in points.chunks(13) {
                stored.extend(part);
            }
            assert_eq!(stored.len(), points.len());
            let all: Vec<u32> = (0..n).rev().chain([n - 1, 0]).collect();
            let expected: Vec<_> = all.iter().map(|i| points[*i as usize]).collect();
            assert_eq!(stored.clone().get(&all), expected, "{backend}");
            for (added, subtracted) in
                [(0, 0), (1, 0), (0, 1), (1, 1), (7, 2), (40, 3), (3, 40), (300, 0), (0, 300), (700, 600)]
            {
                let added: Vec<u32> = (0..added).map(|i| i * i % n).collect();
                let subtracted: Vec<u32> = (0..subtracted).map(|i| (i * 7 + 3) % n).collect();
                let mut summands: Vec<G> = added.iter().map(|i| points[*i as usize]).collect();
                summands.extend(subtracted.iter().map(|i| points[*i as usize].negate()));
                assert_eq!(stored.sum(&added, &subtracted), Backend::Portable.sum(&summands), "{backend}");
                assert!(stored.sum(&added, &added).is_identity(), "{backend}");
            }
        }
    }

    #[test]
    fn sums_by_index_are_sums_of_the_points() {
        let mut g1: Vec<G1> = hashed(40);
        g1.extend([G1::IDENTITY, g1[11].negate(), g1[11], outside()]);
        let mut g2: Vec<G2> = hashed(40);
        g2.extend([G2::IDENTITY, g2[1].negate(), g2[1], outside()]);
        agrees(&g1);
        agrees(&g2);
    }

    #[cfg(feature = "bn254")]
    #[test]
    fn sums_by_index_of_bn254_are_sums_of_the_points() {
        fn multiples<G: Group>() -> Vec<G> {
            let mut multiples = vec![G::IDENTITY, G::generator()];
            for _ in 0..40 {
                multiples.push(Backend::Portable.sum(&[multiples[multiples.len() - 1], G::generator()]));
            }
            multiples.push(multiples[9].negate());
            multiples
        }
        agrees(&multiples::<crate::Bn254G1>());
        agrees(&multiples::<crate::Bn254G2>());
    }

    #[test]
    fn an_index_beyond_the_points_is_refused() {
        for backend in Backend::available() {
            let mut stored = backend.store();
            stored.extend(&hashed::<G1>(3));
            for length in [1, 500] {
                for (added, subtracted) in [(vec![3; length], vec![]), (vec![], vec![u32::MAX; length])] {
                    let sum = std::panic::AssertUnwindSafe(|| stored.sum(&added, &subtracted));
                    assert!(std::panic::catch_unwind(sum).is_err(), "{backend}");
                }
            }
        }
    }
}
