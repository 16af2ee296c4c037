//! Points that stay in the form of the lanes: a row for each coordinate, so that a sum loads them without a multiplication.

use alloc::{boxed::Box, vec::Vec};

use super::{
    affine::{self, Entry, Points, Source, assert_nameable, load, prefetch, store},
    curve::InLanes,
    field::{Field, LANES, Lanes, Mask},
    instructions::in_lanes,
};
use crate::{
    arithmetic::Curve,
    segments::{Cut, Segments},
};

/// What a backend does with the points that it keeps.
pub trait PointStore<C>: Send + Sync {
    fn push_each(&mut self, points: &[C]);
    fn len(&self) -> usize;
    fn get(&self, indices: &[u32]) -> Vec<C>;
    fn sum(&self, added: &[u32], subtracted: &[u32]) -> C;
    fn copy(&self) -> Box<dyn PointStore<C>>;
}

/// Points outside the lanes, for the backend that has none.
pub(crate) struct Unchanged<C> {
    pub(crate) points: Vec<C>,
    /// The sum of each segment.
    pub(crate) sums: fn(Cut<'_, C>) -> Vec<C>,
}

impl<C: Curve + Send + Sync + 'static> PointStore<C> for Unchanged<C> {
    fn push_each(&mut self, points: &[C]) {
        self.points.extend_from_slice(points);
    }

    fn len(&self) -> usize {
        self.points.len()
    }

    fn get(&self, indices: &[u32]) -> Vec<C> {
        indices.iter().map(|i| self.points[*i as usize]).collect()
    }

    fn sum(&self, added: &[u32], subtracted: &[u32]) -> C {
        let minus = subtracted.iter().map(|i| self.points[*i as usize].signed(true));
        let summands: Vec<_> = self.get(added).into_iter().chain(minus).collect();
        (self.sums)(Cut::new(&summands, &[summands.len()]))[0]
    }

    fn copy(&self) -> Box<dyn PointStore<C>> {
        Box::new(Self { points: self.points.clone(), sums: self.sums })
    }
}

/// The coordinates of points as rows, x and y of a point side by side.
pub(crate) struct Rows<L: Lanes, C: InLanes<Parameters = L::Curve>> {
    lanes: L,
    rows: Vec<Row<L, C>>,
}

type Row<L, C> = [<<C as InLanes>::In<L> as Field>::Row; 2];

impl<L: Lanes, C: InLanes<Parameters = L::Curve>> Rows<L, C> {
    pub(crate) fn new(lanes: L) -> Self {
        Self { lanes, rows: Vec::new() }
    }

    /// The rows of an entry, if it names a point.
    #[inline(always)]
    fn of(&self, entry: Entry) -> Option<&Row<L, C>> {
        // The first entry names the identity.
        self.rows.get(entry.index().wrapping_sub(1))
    }

    fn entry(&self, index: u32, negative: bool) -> Entry {
        assert!((index as usize) < self.rows.len(), "index {index} of {} points", self.rows.len());
        Entry::new(index as usize, 0, negative)
    }
}

in_lanes! {
    fn push<L: Lanes, C: InLanes<Parameters = L::Curve>>(lanes: L, rows: &mut Vec<Row<L, C>>, points: &[C]) {
        for eight in points.chunks(LANES) {
            let Points { x, y, identity } = load(lanes, eight);
            let (x, y) = if identity == 0 {
                (x, y)
            } else {
                let zero = C::In::<L>::zero(lanes);
                (zero.or(identity, &x), zero.or(identity, &y))
            };
            let (x, y) = (x.scatter(), y.scatter());
            for lane in 0..eight.len() {
                rows.push([x[lane], y[lane]]);
            }
        }
    }

    #[inline]
    fn gather<L: Lanes, C: InLanes<Parameters = L::Curve>>(
        lanes: L, points: &Rows<L, C>, entries: &[Entry; LANES],
    ) -> Points<C::In<L>> {
        let none = [<C::In<L> as Field>::ZERO_ROW; 2];
        let (mut x, mut y) = ([&none[0]; LANES], [&none[1]; LANES]);
        let mut negative: Mask = 0;
        for lane in 0..LANES {
            if let Some([row_of_x, row_of_y]) = points.of(entries[lane]) {
                x[lane] = row_of_x;
                y[lane] = row_of_y;
                negative |= (entries[lane].sign() as Mask) << lane;
            }
        }
        let (x, mut y) = (C::In::<L>::gather(lanes, &x), C::In::<L>::gather(lanes, &y));
        let identity = y.blank();
        let negative = negative & !identity;
        if negative != 0 {
            let minus = C::In::<L>::zero(lanes).subtract::<3, 1>(&y).shrunk();
            y = minus.or(negative, &y);
        }
        Points { x, y, identity }
    }

    fn stored<L: Lanes, C: InLanes<Parameters = L::Curve>>(
        lanes: L, points: &Rows<L, C>, entries: &[Entry; LANES],
    ) -> [C; LANES] {
        store::<L, C>(&gather(lanes, points, entries))
    }
}

impl<L: Lanes, C: InLanes<Parameters = L::Curve>> Source<C::In<L>> for Rows<L, C> {
    #[inline(always)]
    fn lanes(&self) -> L {
        self.lanes
    }

    #[inline(always)]
    fn beta(&self) -> <L::Fp as Field>::Element {
        C::beta()
    }

    #[inline(always)]
    fn gather(&self, entries: &[Entry; LANES]) -> Points<C::In<L>> {
        gather(self.lanes, self, entries)
    }

    #[inline(always)]
    fn prefetch(&self, entries: &[Entry; LANES]) {
        entries.iter().filter_map(|entry| self.of(*entry)).for_each(prefetch);
    }
}

impl<L: Lanes, C: InLanes<Parameters = L::Curve>> PointStore<C> for Rows<L, C> {
    fn push_each(&mut self, points: &[C]) {
        assert_nameable(self.rows.len() + points.len());
        self.rows.reserve(points.len());
        push(self.lanes, &mut self.rows, points);
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get(&self, indices: &[u32]) -> Vec<C> {
        let mut points = Vec::with_capacity(indices.len() + LANES);
        for eight in indices.chunks(LANES) {
            let mut entries = [Entry::NONE; LANES];
            for (entry, index) in entries.iter_mut().zip(eight) {
                *entry = self.entry(*index, false);
            }
            points.extend_from_slice(&stored(self.lanes, self, &entries));
        }
        points.truncate(indices.len());
        points
    }

    fn sum(&self, added: &[u32], subtracted: &[u32]) -> C {
        let n = added.len() + subtracted.len();
        if n < L::THRESHOLDS.sum {
            let minus = self.get(subtracted).into_iter().map(|point| point.signed(true));
            let summands: Vec<_> = self.get(added).into_iter().chain(minus).collect();
            return C::sums(Cut::new(&summands, &[n]))[0];
        }
        let added = added.iter().map(|i| self.entry(*i, false));
        let subtracted = subtracted.iter().map(|i| self.entry(*i, true));
        let entries = Segments::one(added.chain(subtracted).collect());
        affine::sums(self, &entries, false).to_points()[0]
    }

    fn copy(&self) -> Box<dyn PointStore<C>> {
        Box::new(Self { lanes: self.lanes, rows: self.rows.clone() })
    }
}
