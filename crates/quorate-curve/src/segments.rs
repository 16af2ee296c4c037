//! Items in consecutive segments, for the verbs that compute one result for each of several lists.
//!
//! One value holds all items in one list and the places where it is cut, so that the two always fit together.
//!
//! ```
//! use quorate_curve::{Backend, G1, Group, Segments};
//!
//! let mut points = Segments::new();
//! points.extend([G1::generator(), G1::generator().negate()]);
//! points.close();
//! points.push(G1::generator());
//! points.close();
//! assert_eq!(Backend::auto().sums(&points), [G1::IDENTITY, G1::generator()]);
//! ```

use alloc::vec::Vec;
use core::ops::Range;

use crate::weight::Weight;

/// Items in consecutive segments. A segment may be empty.
///
/// [`push`](Self::push) and [`extend`](Extend::extend) add to the open segment, and [`close`](Self::close) ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments<T> {
    items: Vec<T>,
    /// Where each segment ends among the items, ascending.
    ends: Vec<usize>,
}

impl<T> Segments<T> {
    /// No segment.
    pub const fn new() -> Self {
        Self { items: Vec::new(), ends: Vec::new() }
    }

    /// No segment yet, with room for this many items and segments.
    pub fn with_capacity(items: usize, segments: usize) -> Self {
        Self { items: Vec::with_capacity(items), ends: Vec::with_capacity(segments) }
    }

    /// One segment of all items.
    pub fn one(items: Vec<T>) -> Self {
        Self { ends: alloc::vec![items.len()], items }
    }

    /// Segments of `size` items each. The last segment is shorter if the size does not divide the number of items.
    /// Without items there is no segment.
    ///
    /// # Panics
    /// If the size is zero.
    pub fn of_size(size: usize, items: Vec<T>) -> Self {
        let n = items.len();
        Self { items, ends: (1..=n.div_ceil(size)).map(|i| n.min(i * size)).collect() }
    }

    /// The items, of which each segment ends before one of `ends`.
    ///
    /// # Panics
    /// If the ends do not ascend to the number of items.
    pub(crate) fn from_ends(items: Vec<T>, ends: Vec<usize>) -> Self {
        assert_ascend(&ends, items.len());
        Self { items, ends }
    }

    /// Adds an item to the open segment.
    pub fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Ends the open segment, which may be empty.
    pub fn close(&mut self) {
        self.ends.push(self.items.len());
    }

    /// How many segments are closed.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no segment is closed.
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The closed segments, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> + DoubleEndedIterator + Clone {
        self.cut().iter()
    }

    /// The items of all segments in one slice, including those of a segment that is still open.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The items of all segments, without the cuts.
    pub fn into_items(self) -> Vec<T> {
        self.items
    }

    /// The segments as the backends take them.
    pub(crate) fn cut(&self) -> Cut<'_, T> {
        Cut { items: &self.items, ends: &self.ends }
    }

    /// Panics if the last segment is open, because a verb would ignore its items.
    #[track_caller]
    pub(crate) fn assert_closed(&self) {
        let closed = self.ends.last().copied().unwrap_or(0);
        assert_eq!(closed, self.items.len(), "close the last segment before you pass the segments to a verb");
    }
}

impl<T> Default for Segments<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Extend<T> for Segments<T> {
    /// Adds items to the open segment.
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.items.extend(items);
    }
}

impl<T, S: IntoIterator<Item = T>> FromIterator<S> for Segments<T> {
    /// A closed segment for each list.
    fn from_iter<I: IntoIterator<Item = S>>(lists: I) -> Self {
        let mut segments = Self::new();
        for list in lists {
            segments.extend(list);
            segments.close();
        }
        segments
    }
}

/// Panics unless the ends of segments ascend to the number of items. The lengths of segments are differences of ends, and
/// the backends reserve memory by them.
fn assert_ascend(ends: &[usize], items: usize) {
    let ascend = ends.is_sorted() && ends.last().copied().unwrap_or(0) == items;
    assert!(ascend, "the ends of segments must ascend to the number of items");
}

/// Points in consecutive segments, each point with its weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedSegments<G> {
    points: Segments<G>,
    /// A weight for each point.
    weights: Vec<Weight>,
}

impl<G> WeightedSegments<G> {
    /// No segment.
    pub const fn new() -> Self {
        Self { points: Segments::new(), weights: Vec::new() }
    }

    /// No segment yet, with room for this many points and segments.
    pub fn with_capacity(points: usize, segments: usize) -> Self {
        Self { points: Segments::with_capacity(points, segments), weights: Vec::with_capacity(points) }
    }

    /// Adds a point to the open segment.
    pub fn push(&mut self, point: G, weight: Weight) {
        self.points.push(point);
        self.weights.push(weight);
    }

    /// Ends the open segment, which may be empty.
    pub fn close(&mut self) {
        self.points.close();
    }

    /// How many segments are closed.
    pub const fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether no segment is closed.
    pub const fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// How many points there are in all segments.
    pub const fn point_count(&self) -> usize {
        self.weights.len()
    }

    /// The points of each closed segment, with their weights.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[G], &[Weight])> + DoubleEndedIterator + Clone {
        WeightedCut { points: self.points.cut(), weights: &self.weights }.iter()
    }

    /// The points without their weights.
    pub(crate) const fn points(&self) -> &Segments<G> {
        &self.points
    }

    /// The weights of all points.
    pub(crate) fn weights(&self) -> &[Weight] {
        &self.weights
    }
}

impl<G> Default for WeightedSegments<G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<G> Extend<(G, Weight)> for WeightedSegments<G> {
    /// Adds points to the open segment.
    fn extend<I: IntoIterator<Item = (G, Weight)>>(&mut self, points: I) {
        points.into_iter().for_each(|(point, weight)| self.push(point, weight));
    }
}

impl<G, S: IntoIterator<Item = (G, Weight)>> FromIterator<S> for WeightedSegments<G> {
    /// A closed segment for each list.
    fn from_iter<I: IntoIterator<Item = S>>(lists: I) -> Self {
        let mut segments = Self::new();
        for list in lists {
            segments.extend(list);
            segments.close();
        }
        segments
    }
}

/// Points whose membership of the subgroup is unknown, in consecutive segments. Each has its weight and 64 further
/// random bits for [`Backend::weighted_sums_of_members`].
///
/// [`Backend::weighted_sums_of_members`]: crate::Backend::weighted_sums_of_members
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncheckedSegments<G> {
    weighted: WeightedSegments<G>,
    /// 64 random bits for each point.
    further: Vec<u64>,
}

impl<G> UncheckedSegments<G> {
    /// No segment.
    pub const fn new() -> Self {
        Self { weighted: WeightedSegments::new(), further: Vec::new() }
    }

    /// Adds a point to the open segment. Draw `further` from the same generator as the weight, after all points are
    /// fixed.
    pub fn push(&mut self, point: G, weight: Weight, further: u64) {
        self.weighted.push(point, weight);
        self.further.push(further);
    }

    /// Ends the open segment, which may be empty.
    pub fn close(&mut self) {
        self.weighted.close();
    }

    /// How many segments are closed.
    pub const fn len(&self) -> usize {
        self.weighted.len()
    }

    /// Whether no segment is closed.
    pub const fn is_empty(&self) -> bool {
        self.weighted.is_empty()
    }

    /// How many points there are in all segments.
    pub const fn point_count(&self) -> usize {
        self.further.len()
    }

    /// The points and their weights.
    pub const fn weighted(&self) -> &WeightedSegments<G> {
        &self.weighted
    }

    /// The random bits of all points.
    pub(crate) fn further(&self) -> &[u64] {
        &self.further
    }
}

impl<G> Default for UncheckedSegments<G> {
    fn default() -> Self {
        Self::new()
    }
}

/// Borrowed items in consecutive segments: what the backends take.
#[doc(hidden)]
pub struct Cut<'a, T> {
    items: &'a [T],
    ends: &'a [usize],
}

impl<T> Clone for Cut<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Cut<'_, T> {}

impl<'a, T> Cut<'a, T> {
    /// The items, of which each segment ends before one of `ends`.
    ///
    /// # Panics
    /// If the ends do not ascend to the number of items.
    pub(crate) fn new(items: &'a [T], ends: &'a [usize]) -> Self {
        assert_ascend(ends, items.len());
        Self { items, ends }
    }

    /// The items of all segments.
    pub(crate) const fn items(self) -> &'a [T] {
        self.items
    }

    /// Where each segment ends among the items.
    pub(crate) const fn ends(self) -> &'a [usize] {
        self.ends
    }

    /// A copy that owns its items.
    pub(crate) fn to_segments(self) -> Segments<T>
    where
        T: Clone,
    {
        Segments { items: self.items.to_vec(), ends: self.ends.to_vec() }
    }

    /// How many segments there are.
    pub(crate) const fn len(self) -> usize {
        self.ends.len()
    }

    /// The places of each segment among the items.
    pub(crate) fn ranges(self) -> impl ExactSizeIterator<Item = Range<usize>> + DoubleEndedIterator + Clone + 'a {
        let ends = self.ends;
        (0..ends.len()).map(move |i| if i == 0 { 0 } else { ends[i - 1] }..ends[i])
    }

    /// The segments, in order.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = &'a [T]> + DoubleEndedIterator + Clone + 'a {
        self.ranges().map(move |range| &self.items[range])
    }
}

/// Borrowed points in consecutive segments, with a weight for each point.
pub(crate) struct WeightedCut<'a, C> {
    points: Cut<'a, C>,
    weights: &'a [Weight],
}

impl<C> Clone for WeightedCut<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for WeightedCut<'_, C> {}

impl<'a, C> WeightedCut<'a, C> {
    /// The weights of the points, in the same order.
    pub(crate) fn new(points: Cut<'a, C>, weights: &'a [Weight]) -> Self {
        debug_assert_eq!(points.items.len(), weights.len());
        Self { points, weights }
    }

    /// The points without their weights.
    pub(crate) const fn points(self) -> Cut<'a, C> {
        self.points
    }

    /// The weights of all points.
    pub(crate) const fn weights(self) -> &'a [Weight] {
        self.weights
    }

    /// The points of each segment, with their weights.
    pub(crate) fn iter(
        self,
    ) -> impl ExactSizeIterator<Item = (&'a [C], &'a [Weight])> + DoubleEndedIterator + Clone + 'a {
        self.points.ranges().map(move |range| (&self.points.items[range.clone()], &self.weights[range]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, G1, Group};
    use alloc::vec;

    #[test]
    fn segments_are_read_as_they_were_written() {
        let mut segments = Segments::with_capacity(5, 4);
        segments.close();
        segments.extend([1, 2]);
        segments.push(3);
        segments.close();
        segments.close();
        segments.push(4);
        segments.close();
        assert_eq!((segments.len(), segments.items()), (4, &[1, 2, 3, 4][..]));
        assert!(segments.iter().eq([&[][..], &[1, 2, 3], &[], &[4]]));
        assert_eq!(segments, [vec![], vec![1, 2, 3], vec![], vec![4]].into_iter().collect());
        assert_eq!(segments, Segments::from_ends(vec![1, 2, 3, 4], vec![0, 3, 3, 4]));
        assert!(Segments::<u8>::new().is_empty() && !segments.is_empty());
    }

    #[test]
    fn segments_of_one_size() {
        assert_eq!(Segments::of_size(2, vec![1, 2, 3, 4, 5]), Segments::from_ends(vec![1, 2, 3, 4, 5], vec![2, 4, 5]));
        assert_eq!(Segments::of_size(2, vec![1, 2]), Segments::one(vec![1, 2]));
        assert_eq!(Segments::<u8>::of_size(1, vec![]), Segments::new());
        assert_eq!(Segments::<u8>::one(vec![]).len(), 1);
    }

    /// The public functions can only make ends that ascend, whatever is pushed and closed.
    #[test]
    fn ends_ascend_by_construction() {
        let mut segments = Segments::new();
        for step in 0..100_usize {
            match step * step % 7 {
                0 | 1 => segments.close(),
                2 => segments.extend([step, step]),
                _ => segments.push(step),
            }
            assert!(segments.ends.is_sorted() && segments.ends.last().is_none_or(|end| *end <= segments.items.len()));
        }
        for size in 1..9 {
            assert_ascend(&Segments::of_size(size, vec![0; 7]).ends, 7);
        }
    }

    /// Inside the crate, ends are refused before a backend sees them and reserves memory by their differences.
    #[test]
    fn ends_that_do_not_ascend_are_refused() {
        for ends in [vec![2, 1, 3], vec![4, 3], vec![usize::MAX, 3], vec![3, 2], vec![], vec![4]] {
            let items = vec![G1::generator(); 3];
            let borrowed = std::panic::catch_unwind(|| Cut::new(&items, &ends).len());
            assert!(borrowed.is_err(), "{ends:?}");
            let owned =
                std::panic::catch_unwind(|| Backend::auto().sums(&Segments::from_ends(items.clone(), ends.clone())));
            assert!(owned.is_err(), "{ends:?}");
        }
    }

    #[test]
    #[should_panic(expected = "close the last segment")]
    fn an_open_segment_is_refused() {
        let mut segments = Segments::one(vec![G1::generator()]);
        segments.push(G1::generator());
        let _ = Backend::Portable.sums(&segments);
    }
}
