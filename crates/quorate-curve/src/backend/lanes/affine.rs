//! Sums of affine points: eight additions at a time, with one inversion for a round of them (Montgomery's trick).
//!
//! ```text
//! λ = (y₂ - y₁)/(x₂ - x₁), or 3x²/2y for a doubling;    x₃ = λ² - x₁ - x₂;    y₃ = λ(x₁ - x₃) - y₁
//! ```
//!
//! Points stay in the form of the lanes from one sum to the next: a [`Table`] stores each coordinate as a
//! [row](Field::Row). [`sums`] puts segments of table entries side by side, one in each lane, and adds the vectors in
//! rounds. Points that are added once are not stored first: they are loaded where they lie ([`Outside`]). Identities, equal points and opposite points are exact in every lane. The orders of both curves are odd, so
//! that neither has a point of order 2, and y = 0 is only the identity's.

use alloc::vec::Vec;
use core::ops::Range;

use super::{
    curve::InLanes,
    field::{Field, LANES, Lanes, Mask},
    instructions::in_lanes,
};
use crate::segments::Segments;

/// Eight affine points. In the lanes of the mask the point is the identity, and both coordinates are zero in every
/// limb.
#[derive(Clone, Copy)]
pub(crate) struct Points<F> {
    pub(crate) x: F,
    pub(crate) y: F,
    pub(crate) identity: Mask,
}

/// The lanes where the sum needs another slope or none.
#[derive(Clone, Copy)]
struct Exceptions {
    equal: Mask,
    opposite: Mask,
}

in_lanes! {
    #[inline]
    fn denominator<F: Field>(lanes: F::Lanes, a: &Points<F>, b: &Points<F>) -> (F, Exceptions) {
        let run = b.x.subtract::<3, 1>(&a.x);
        let identity = a.identity | b.identity;
        let vertical = run.is_zero() & !identity;
        if identity | vertical == 0 {
            return (run.factor(), Exceptions { equal: 0, opposite: 0 });
        }
        let equal = vertical & b.y.subtract::<3, 1>(&a.y).is_zero();
        let opposite = vertical & !equal;
        let run = F::one(run.lanes()).or(identity | opposite, &a.y.doubled().or(equal, &run).carried());
        (run, Exceptions { equal, opposite })
    }
}

in_lanes! {
    #[inline]
    fn add<F: Field>(lanes: F::Lanes, a: &Points<F>, b: &Points<F>, inverse: &F, exceptions: Exceptions) -> Points<F> {
        let mut rise = b.y.subtract::<3, 1>(&a.y).factor();
        if exceptions.equal != 0 {
            let square = a.x.squared();
            rise = square.doubled().plus(&square).carried().or(exceptions.equal, &rise);
        }
        let sum = ordinary(lanes, a, &a.x.plus(&b.x), &rise.times(inverse));
        let identity = a.identity | b.identity | exceptions.opposite;
        if identity == 0 {
            return sum;
        }
        let both = a.identity & b.identity | exceptions.opposite;
        let pick = |sum: &F, a_part: &F, b_part: &F| {
            let sum = b_part.or(a.identity, sum);
            let sum = a_part.or(b.identity, &sum);
            F::zero(sum.lanes()).or(both, &sum)
        };
        Points { x: pick(&sum.x, &a.x, &b.x), y: pick(&sum.y, &a.y, &b.y), identity: both }
    }
}

in_lanes! {
    /// The third point on the line through two points, reflected.
    #[inline]
    fn ordinary<F: Field>(lanes: F::Lanes, a: &Points<F>, sum_of_x: &F, slope: &F) -> Points<F> {
        let x = slope.squared().subtract::<5, 2>(sum_of_x).shrunk();
        let y = slope.times(&a.x.subtract::<3, 1>(&x).factor()).subtract::<3, 1>(&a.y).shrunk();
        Points { x, y, identity: 0 }
    }
}

/// Elements that are inverted together. None may be zero in any lane. The inverses come out in reverse order.
pub(crate) struct Chain<F> {
    values: Vec<F>,
    before: Vec<F>,
    product: F,
}

impl<F: Field> Chain<F> {
    #[inline(always)]
    pub(crate) fn new(lanes: F::Lanes) -> Self {
        Self { values: Vec::new(), before: Vec::new(), product: F::one(lanes) }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, value: F) {
        self.before.push(self.product);
        self.product = self.product.times(&value);
        self.values.push(value);
    }

    #[inline(always)]
    pub(crate) fn invert(&mut self) {
        if !self.values.is_empty() {
            self.product = self.product.inverted();
        }
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> F {
        let one = F::one(self.product.lanes());
        let (Some(value), Some(before)) = (self.values.pop(), self.before.pop()) else { return one };
        let inverse = self.product.times(&before);
        self.product = if self.values.is_empty() { one } else { self.product.times(&value) };
        inverse
    }
}

in_lanes! {
    /// Adds the second point of each pair to the first. No point may be in two pairs.
    pub(super) fn add_pairs<F: Field>(lanes: F::Lanes, points: &mut [Points<F>], pairs: &[(u32, u32)], chain: &mut Chain<F>) {
        let mut exceptions = Vec::with_capacity(pairs.len());
        for &(a, b) in pairs {
            let (run, exception) = denominator(lanes, &points[a as usize], &points[b as usize]);
            chain.push(run);
            exceptions.push(exception);
        }
        chain.invert();
        for (&(a, b), exception) in pairs.iter().zip(exceptions).rev() {
            let inverse = chain.pop();
            points[a as usize] = add(lanes, &points[a as usize], &points[b as usize], &inverse, exception);
        }
    }
}

/// A table entry: a point times ω^turn, and negated or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry(u32);

impl Entry {
    /// A turn other than 0 needs a table with turns.
    #[inline(always)]
    pub(crate) fn new(index: usize, turn: u8, negative: bool) -> Self {
        Self(((index as u32 + 1) << 3) | u32::from(turn) << 1 | u32::from(negative))
    }

    /// The identity.
    pub(crate) const NONE: Self = Self(0);

    /// The place of the point behind the identity, which stands at 0.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.0 as usize >> 3
    }

    /// 1 if it is negated.
    #[inline(always)]
    pub(super) fn sign(self) -> usize {
        self.0 as usize & 1
    }
}

/// Points as rows. The first is the identity.
pub(crate) struct Table<F: Field> {
    lanes: F::Lanes,
    /// The number of rows of x for each point: 3 if the table has ωx and ω²x too, otherwise 1.
    turns: usize,
    x: Vec<F::Row>,
    /// y and -y.
    y: Vec<[F::Row; 2]>,
    beta: <F::Fp as Field>::Element,
}

impl<F: Field> Table<F> {
    /// A table of `n` points that are all the identity.
    pub(super) fn new(lanes: F::Lanes, n: usize, turns: bool, beta: <F::Fp as Field>::Element) -> Self {
        assert_nameable(n);
        let turns = if turns { 3 } else { 1 };
        Self {
            lanes,
            turns,
            x: alloc::vec![F::ZERO_ROW; (n + 1) * turns],
            y: alloc::vec![[F::ZERO_ROW; 2]; n + 1],
            beta,
        }
    }

    /// The token that the table was made from.
    pub(crate) fn lanes(&self) -> F::Lanes {
        self.lanes
    }

    /// The same table, whose points are loaded into other lanes with the same rows.
    pub(crate) fn in_other_lanes<N: Field<Row = F::Row, Fp: Field<Element = <F::Fp as Field>::Element>>>(
        self,
        lanes: N::Lanes,
    ) -> Table<N> {
        Table { lanes, turns: self.turns, x: self.x, y: self.y, beta: self.beta }
    }

    pub(crate) fn len(&self) -> usize {
        self.y.len() - 1
    }

    #[inline(always)]
    fn row_of_x(&self, entry: Entry) -> usize {
        entry.index() * self.turns + (entry.0 as usize >> 1 & 3)
    }

    /// Stores eight points, or as many as there are indices, at their places.
    #[inline(always)]
    pub(crate) fn put(&mut self, points: &Points<F>, indices: &[u32], beta: &F::Fp) {
        put(self.lanes, self, points, indices, beta);
    }

    /// The points `from`..`from + 8` of the table, with identities beyond its end.
    #[inline(always)]
    pub(crate) fn eight(&self, from: usize) -> Points<F> {
        let mut entries = [Entry::NONE; LANES];
        for (lane, entry) in entries.iter_mut().enumerate() {
            if from + lane < self.len() {
                *entry = Entry::new(from + lane, 0, false);
            }
        }
        self.gather(&entries)
    }

    /// The points of the table outside the lanes.
    pub(crate) fn to_points<C: InLanes<Parameters = <F::Lanes as Lanes>::Curve, In<F::Lanes> = F>>(&self) -> Vec<C> {
        let mut out = Vec::with_capacity(self.len() + LANES);
        drain::<F::Lanes, C>(self.lanes, self, &mut out);
        out.truncate(self.len());
        out
    }
}

/// Points that entries name.
pub(crate) trait Source<F: Field> {
    fn lanes(&self) -> F::Lanes;
    /// β, of the turns.
    fn beta(&self) -> <F::Fp as Field>::Element;
    /// Eight entries.
    fn gather(&self, entries: &[Entry; LANES]) -> Points<F>;
    /// Fetches eight entries into the caches, for sources that are larger.
    fn prefetch(&self, entries: &[Entry; LANES]);
}

impl<F: Field> Source<F> for Table<F> {
    #[inline(always)]
    fn lanes(&self) -> F::Lanes {
        self.lanes
    }

    #[inline(always)]
    fn beta(&self) -> <F::Fp as Field>::Element {
        self.beta
    }

    #[inline(always)]
    fn gather(&self, entries: &[Entry; LANES]) -> Points<F> {
        gather(self.lanes, self, entries)
    }

    #[inline(always)]
    fn prefetch(&self, entries: &[Entry; LANES]) {
        for entry in entries {
            prefetch(&self.x[self.row_of_x(*entry)]);
            prefetch(&self.y[entry.index()][entry.sign()]);
        }
    }
}

/// Points outside the lanes, of which each is loaded when it is added. Entries have neither turns nor signs.
pub(super) struct Outside<'p, L: Lanes, C: InLanes<Parameters = L::Curve>> {
    lanes: L,
    points: &'p [C],
}

impl<'p, L: Lanes, C: InLanes<Parameters = L::Curve>> Outside<'p, L, C> {
    pub(crate) fn new(lanes: L, points: &'p [C]) -> Self {
        assert_nameable(points.len());
        Self { lanes, points }
    }
}

impl<L: Lanes, C: InLanes<Parameters = L::Curve>> Source<C::In<L>> for Outside<'_, L, C> {
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
        let mut eight = [C::IDENTITY; LANES];
        for (point, entry) in eight.iter_mut().zip(entries) {
            if *entry != Entry::NONE {
                *point = self.points[entry.index() - 1];
            }
        }
        load(self.lanes, &eight)
    }

    #[inline(always)]
    fn prefetch(&self, entries: &[Entry; LANES]) {
        for entry in entries {
            // The first entry names nothing.
            if let Some(point) = self.points.get(entry.index().wrapping_sub(1)) {
                prefetch(point);
            }
        }
    }
}

/// Panics if there are more points than entries can name.
pub(super) fn assert_nameable(points: usize) {
    assert!(points < 1 << 28, "{points} points");
}

/// A table of the points.
pub(crate) fn table_of<L: Lanes, C: InLanes<Parameters = L::Curve>>(
    lanes: L,
    points: &[C],
    turns: bool,
) -> Table<C::In<L>> {
    let mut table = Table::new(lanes, points.len(), turns, C::beta());
    fill(lanes, &mut table, points);
    table
}

in_lanes! {
    #[inline]
    fn gather<F: Field>(lanes: F::Lanes, table: &Table<F>, entries: &[Entry; LANES]) -> Points<F> {
        let mut x = [&table.x[0]; LANES];
        let mut y = [&table.y[0][0]; LANES];
        for lane in 0..LANES {
            let entry = entries[lane];
            x[lane] = &table.x[table.row_of_x(entry)];
            y[lane] = &table.y[entry.index()][entry.sign()];
        }
        let (x, y) = (F::gather(lanes, &x), F::gather(lanes, &y));
        Points { x, y, identity: y.blank() }
    }

    #[inline]
    fn put<F: Field>(lanes: F::Lanes, table: &mut Table<F>, points: &Points<F>, indices: &[u32], beta: &F::Fp) {
        let zero = F::zero(lanes);
        let mut negative = zero.subtract::<3, 1>(&points.y).shrunk();
        if points.identity != 0 {
            negative = zero.or(points.identity, &negative);
        }
        let (x, y, negative) = (points.x.scatter(), points.y.scatter(), negative.scatter());
        for (lane, &index) in indices.iter().enumerate() {
            table.x[(index as usize + 1) * table.turns] = x[lane];
            table.y[index as usize + 1] = [y[lane], negative[lane]];
        }
        if table.turns == 3 {
            // 1 + β + β² = 0.
            let once = points.x.times_fp(beta).shrunk();
            let twice = zero.subtract::<5, 2>(&points.x.plus(&once)).shrunk();
            let (once, twice) = (once.scatter(), twice.scatter());
            for (lane, &index) in indices.iter().enumerate() {
                table.x[(index as usize + 1) * 3 + 1] = once[lane];
                table.x[(index as usize + 1) * 3 + 2] = twice[lane];
            }
        }
    }

    fn fill<L: Lanes, C: InLanes<Parameters = L::Curve>>(lanes: L, table: &mut Table<C::In<L>>, points: &[C]) {
        let beta = L::Fp::splat(lanes, &table.beta);
        for (vector, eight) in points.chunks(LANES).enumerate() {
            let mut indices = [0; LANES];
            for (lane, index) in indices.iter_mut().enumerate() {
                *index = (vector * LANES + lane) as u32;
            }
            table.put(&load(lanes, eight), &indices[..eight.len()], &beta);
        }
    }

    fn drain<L: Lanes, C: InLanes<Parameters = L::Curve>>(lanes: L, table: &Table<C::In<L>>, out: &mut Vec<C>) {
        for vector in 0..table.len().div_ceil(LANES) {
            out.extend_from_slice(&store::<L, C>(&table.eight(vector * LANES)));
        }
    }
}

/// Nothing but x86-64 has an instruction for it in stable Rust.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn prefetch<T>(_: &T) {}

/// Fetches a row of memory into the caches.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn prefetch<T>(row: &T) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for line in 0..size_of::<T>().div_ceil(64) {
        let row = core::ptr::from_ref(row).cast::<i8>().wrapping_add(64 * line);
        // SAFETY: every x86-64 CPU has the instruction, and it does not read the memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(row) };
    }
}

/// Eight points from outside the lanes. Identities fill the lanes that are left. Two multiplications for each part of a coordinate.
#[inline(always)]
pub(crate) fn load<L: Lanes, C: InLanes<Parameters = L::Curve>>(lanes: L, points: &[C]) -> Points<C::In<L>> {
    let mut x = [C::IDENTITY.x(); LANES];
    let mut y = x;
    let mut identity: Mask = !0;
    for (lane, point) in points.iter().enumerate() {
        x[lane] = point.x();
        y[lane] = point.y();
        if !point.is_identity() {
            identity &= !(1 << lane);
        }
    }
    let mut refs = [&x[0]; LANES];
    let mut y_refs = [&y[0]; LANES];
    for lane in 0..LANES {
        refs[lane] = &x[lane];
        y_refs[lane] = &y[lane];
    }
    let (x, y) = (C::In::<L>::load(lanes, &refs).shrunk(), C::In::<L>::load(lanes, &y_refs).shrunk());
    Points { x, y, identity }
}

/// The eight points outside the lanes.
#[inline(always)]
pub(crate) fn store<L: Lanes, C: InLanes<Parameters = L::Curve>>(points: &Points<C::In<L>>) -> [C; LANES] {
    let (x, y) = (points.x.store(), points.y.store());
    let mut out = [C::IDENTITY; LANES];
    for lane in 0..LANES {
        out[lane] = C::at(x[lane], y[lane]);
    }
    out
}

/// A table of the sums of each segment of entries.
pub(crate) fn sums<F: Field, P: Source<F>>(points: &P, entries: &Segments<Entry>, turns: bool) -> Table<F> {
    let (pieces, again) = pieces(entries);
    let mut out = Table::new(points.lanes(), pieces.len(), turns && again.is_none(), points.beta());
    add_up(points.lanes(), points, entries.items(), &pieces, &mut out);
    match again {
        None => out,
        Some(again) => sums(&out, &again, turns),
    }
}

/// The segments, cut where they are longer than an even share, and how the sums of the pieces are added if any was cut. Panics if there
/// are more entries than the ends of a piece can name.
fn pieces<T>(entries: &Segments<T>) -> (Vec<(u32, u32)>, Option<Segments<Entry>>) {
    let n = entries.items().len();
    assert!(u32::try_from(n).is_ok(), "{n} entries");
    let most = (n / 64).max(16);
    let (mut pieces, mut ends_of_pieces) = (Vec::with_capacity(entries.len() + 64), Vec::with_capacity(entries.len()));
    for Range { mut start, end } in entries.cut().ranges() {
        while end - start > most {
            pieces.push((start as u32, (start + most) as u32));
            start += most;
        }
        pieces.push((start as u32, end as u32));
        ends_of_pieces.push(pieces.len());
    }
    let again = (pieces.len() > entries.len()).then(|| {
        let sums = (0..pieces.len()).map(|i| Entry::new(i, 0, false)).collect();
        Segments::from_ends(sums, ends_of_pieces)
    });
    (pieces, again)
}

/// The segments that are not empty, sorted by length, so that lanes idle for at most eight times the longest.
fn longest_first(segments: &[(u32, u32)]) -> Vec<u32> {
    let length = |i: u32| {
        let (start, end) = segments[i as usize];
        end - start
    };
    let mut order: Vec<u32> = (0..segments.len() as u32).filter(|&i| length(i) > 0).collect();
    order.sort_unstable_by_key(|&i| core::cmp::Reverse(length(i)));
    order
}

/// The number of vectors that are added at a time: enough to hide an inversion, and few enough for the second cache.
const TOGETHER: usize = 512;

in_lanes! {
    fn add_up<F: Field, P: Source<F>>(
        lanes: F::Lanes, source: &P, entries: &[Entry], segments: &[(u32, u32)], out: &mut Table<F>,
    ) {
        let length = |i: u32| {
            let (start, end) = segments[i as usize];
            end - start
        };
        let order = longest_first(segments);
        let beta = F::Fp::splat(lanes, &source.beta());
        let mut chain = Chain::<F>::new(lanes);
        let (mut points, mut rows) = (Vec::with_capacity(TOGETHER), Vec::with_capacity(TOGETHER));
        let (mut groups, mut pairs) = (Vec::new(), Vec::new());
        let mut eights = order.chunks(LANES).peekable();
        while let Some(eight) = eights.next() {
            let height = length(eight[0]);
            groups.push((eight, rows.len() as u32, height));
            for row in 0..height {
                let mut these = [Entry::NONE; LANES];
                for (entry, &i) in these.iter_mut().zip(eight) {
                    let (start, end) = segments[i as usize];
                    if start + row < end {
                        *entry = entries[(start + row) as usize];
                    }
                }
                rows.push(these);
            }
            if eights.peek().is_some_and(|next| rows.len() + length(next[0]) as usize <= TOGETHER) {
                continue;
            }
            for (i, these) in rows.iter().enumerate() {
                if let Some(soon) = rows.get(i + 3) {
                    source.prefetch(soon);
                }
                points.push(source.gather(these));
            }
            rows.clear();
            let highest = groups.iter().map(|g| g.2).max().unwrap_or(0);
            let mut stride = 1;
            while stride < highest {
                pairs.clear();
                for &(_, start, height) in &groups {
                    let mut row = 0;
                    while row + stride < height {
                        pairs.push((start + row, start + row + stride));
                        row += 2 * stride;
                    }
                }
                add_pairs(lanes, &mut points, &pairs, &mut chain);
                stride *= 2;
            }
            for &(eight, start, _) in &groups {
                out.put(&points[start as usize], eight, &beta);
            }
            points.clear();
            groups.clear();
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::vec;

    use super::*;
    use crate::{
        Backend, Bls12381Group, G1, G2,
        arithmetic::Curve,
        backend::{lanes::tests::in_each_kind_and_serially, portable},
    };

    /// Hashed points, and points on the curve outside the subgroup.
    pub(crate) fn hashed<G: Bls12381Group>(n: usize) -> Vec<G> {
        let names: Vec<_> = (0..n).map(|i| i.to_le_bytes()).collect();
        let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
        Backend::Portable.hash_to_curve(b"sums in lanes", &messages)
    }

    /// A point of the curve outside the subgroup, with the smallest x.
    pub(crate) fn outside<G: Bls12381Group>() -> G {
        (0..=255)
            .find_map(|x| {
                let mut bytes = vec![0; G::COMPRESSED];
                bytes[0] = 0x80;
                bytes[G::COMPRESSED - 1] = x;
                Backend::Portable.decode::<G>(&bytes).ok().filter(|p| !Backend::Portable.in_subgroup(&[*p])[0])
            })
            .expect("most points are outside")
    }

    fn exceptional<L: Lanes<Curve = crate::pairing::Bls12381>, G: Bls12381Group>(lanes: L) {
        let mut pool: Vec<G> = hashed(6);
        pool.extend([G::IDENTITY, pool[0].negate(), pool[1].negate(), pool[2], outside(), outside::<G>().negate()]);
        // Every pair in every lane, and segments of every small length with repeats, opposites and identities.
        let mut segments: Vec<Vec<G>> = vec![vec![]];
        for shift in 0..8 {
            segments.extend(vec![vec![pool[0], pool[1]]; shift]);
            for a in &pool {
                segments.extend(pool.iter().map(|b| vec![*a, *b]));
            }
        }
        for n in (1..40).chain([200, 700]) {
            segments.push((0..n).map(|i| pool[(i * i + n) % pool.len()]).collect());
            segments.push(vec![pool[n % 6]; n]);
        }
        let points: Vec<G> = segments.concat();
        let expected = portable::affine::sums(segments.iter().map(|s| G::slice(s).iter().copied()).collect());
        let table = table_of(lanes, G::slice(&points), true);
        assert!(table.to_points::<G::Affine>() == G::slice(&points));
        let mut entries = (0..points.len()).map(|i| Entry::new(i, 0, false));
        let entries = segments.iter().map(|s| entries.by_ref().take(s.len()).collect::<Vec<_>>()).collect();
        for turns in [false, true] {
            let got: Vec<G::Affine> = sums(&table, &entries, turns).to_points();
            for ((got, expected), segment) in got.iter().zip(&expected).zip(&segments) {
                assert_eq!(G::wrap(*got), G::wrap(*expected), "{segment:?}");
            }
        }
        // Turned and negative entries, and doublings.
        for turn in 0..3 {
            for negative in [false, true] {
                let entries = (0..points.len()).map(|i| Entry::new(i, turn, negative)).collect();
                let got: Vec<G::Affine> = sums(&table, &Segments::of_size(1, entries), false).to_points();
                for (got, point) in got.iter().zip(&points) {
                    let point = point.inner().turned(turn);
                    assert!(*got == if point.is_identity() { point } else { point.signed(negative) });
                }
            }
        }
    }

    /// Behind the last entry that 32 bits name, a piece would begin again at the first one, and the sum would be another.
    #[cfg(target_pointer_width = "64")]
    #[test]
    #[should_panic(expected = "4294967296 entries")]
    fn more_entries_than_pieces_can_name() {
        let _ = pieces(&Segments::one(vec![(); 1 << 32]));
    }

    in_each_kind_and_serially! {
        fn exceptional_additions_g1(lanes: L) {
            exceptional::<L, G1>(lanes);
        }
    }

    in_each_kind_and_serially! {
        fn exceptional_additions_g2(lanes: L) {
            exceptional::<L, G2>(lanes);
        }
    }
}
