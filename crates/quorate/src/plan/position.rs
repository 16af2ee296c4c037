//! Positions: places in the plan's own order of the claims.
//!
//! An *index* is a place in the caller's slice, and a *position* is a place in the plan's order. A position has a type
//! of its own, so the compiler sees if one is used for the other. Claims that the search looks at together have
//! neighbouring positions.

use std::ops::{Index, IndexMut};

/// A place in the plan's order of claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Position(usize);

/// A run of consecutive positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    start: usize,
    end: usize,
}

impl Span {
    /// The positions from `start` up to but not including `end`.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end, "a span from {start} to {end}");
        Self { start, end }
    }

    /// The span without positions.
    pub(crate) const EMPTY: Self = Self { start: 0, end: 0 };

    /// The positions from `first` to `last`, both included.
    pub(crate) fn from_to(first: Position, last: Position) -> Self {
        Self::new(first.0, last.0 + 1)
    }

    pub(crate) fn len(self) -> usize {
        self.end - self.start
    }

    /// The boundary before its first position. Boundary 0 lies before the first claim of the plan, and boundary i
    /// between the positions i - 1 and i.
    pub(crate) fn start(self) -> usize {
        self.start
    }

    /// The boundary behind its last position.
    pub(crate) fn end(self) -> usize {
        self.end
    }

    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = Position> {
        (self.start..self.end).map(Position)
    }

    /// The items that stand in it. The items must be in the order of their positions.
    pub(crate) fn of<T>(self, items: &[T], position: impl Fn(&T) -> Position) -> &[T] {
        let before = |boundary| items.partition_point(|item| position(item).0 < boundary);
        &items[before(self.start)..before(self.end)]
    }

    /// Whether all its positions are in the other span.
    pub(crate) fn is_within(self, other: Self) -> bool {
        other.start <= self.start && self.end <= other.end
    }

    /// Whether the spans have a position in common.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The parts between boundaries that lie in it and ascend.
    pub(crate) fn cut(self, boundaries: &[usize]) -> Vec<Self> {
        let starts = std::iter::once(self.start).chain(boundaries.iter().copied());
        let ends = boundaries.iter().copied().chain([self.end]);
        starts.zip(ends).map(|(start, end)| Self::new(start, end)).collect()
    }

    /// The parts before and behind a span that lies within it.
    pub(crate) fn without(self, inner: Self) -> [Self; 2] {
        [Self::new(self.start, inner.start), Self::new(inner.end, self.end)]
    }

    /// Consecutive spans of `size` positions each. The last span can be shorter.
    pub(crate) fn chunks(self, size: usize) -> impl Iterator<Item = Self> {
        (self.start..self.end).step_by(size).map(move |start| Self::new(start, (start + size).min(self.end)))
    }
}

/// A value for every position.
#[derive(Clone, Debug)]
pub(crate) struct ByPosition<T>(Vec<T>);

impl<T> ByPosition<T> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All positions.
    pub(crate) fn span(&self) -> Span {
        Span::new(0, self.0.len())
    }

    /// The values in the order of the positions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// Adds the value of the next position, and returns the position.
    pub(crate) fn push(&mut self, value: T) -> Position {
        self.0.push(value);
        Position(self.0.len() - 1)
    }

    /// The values of the positions before and behind a boundary.
    pub(crate) fn around(&self, boundary: usize) -> (&T, &T) {
        (&self.0[boundary - 1], &self.0[boundary])
    }
}

impl<T> Default for ByPosition<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> FromIterator<T> for ByPosition<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl<T> Index<Position> for ByPosition<T> {
    type Output = T;

    fn index(&self, position: Position) -> &T {
        &self.0[position.0]
    }
}

impl<T> IndexMut<Position> for ByPosition<T> {
    fn index_mut(&mut self, position: Position) -> &mut T {
        &mut self.0[position.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_cut_and_compare() {
        let span = Span::new(2, 7);
        assert_eq!(span.cut(&[4, 6]), [Span::new(2, 4), Span::new(4, 6), Span::new(6, 7)]);
        assert_eq!(span.without(Span::new(3, 5)), [Span::new(2, 3), Span::new(5, 7)]);
        assert!(Span::new(3, 7).is_within(span) && !Span::new(1, 3).is_within(span));
        assert!(Span::new(6, 9).overlaps(span) && !Span::new(7, 9).overlaps(span));
        assert!(Span::EMPTY.iter().next().is_none());
        assert_eq!(span.chunks(2).collect::<Vec<_>>(), [Span::new(2, 4), Span::new(4, 6), Span::new(6, 7)]);
        let positions: Vec<_> = Span::new(0, 9).iter().step_by(2).collect();
        assert_eq!(span.of(&positions, |position| *position), [Position(2), Position(4), Position(6)]);
        assert!(Span::EMPTY.of(&positions, |position| *position).is_empty());
    }
}
