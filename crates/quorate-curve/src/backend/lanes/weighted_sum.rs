//! Weighted sums Σ wᵢ·Pᵢ for weights in Z\[ω\] (see [`crate::weight`]), through the sum of each digit position:
//!
//! ```text
//! Aⱼ = Σᵢ δᵢⱼ·Pᵢ,    Σ wᵢ·Pᵢ = Σⱼ 4ʲ·Aⱼ
//! ```
//!
//! Batches of affine additions ([`affine`]) compute the position sums, in one of two ways:
//!
//! - Few points: each has a table of P, 2P and (1-ω)P, and the entries are added times a unit.
//! - Many points: each is added to one of 57 buckets for each pair of digits, as in the portable backend. The buckets
//!   are added up into a sum for each position and kind of digit. This costs an addition for each point and pair of
//!   digits, and about 28 for each position.
//!
//! Many segments are joined in lanes, one in each lane, and few by the portable backend. Everything is exact for every point of the
//! curve.
//!
//! Long because the tests of membership through sums stand here, beside the digits that they are about.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use super::{
    affine::{self, Entry, Source as _, Table, table_of},
    curve::{self, Affine, InLanes, Jacobian},
    field::{Field, LANES, Lanes, Mask},
    instructions::in_lanes,
    subgroup::{self, Further, Subgroup},
};
use crate::{
    arithmetic::curve::{Curve, GroupId},
    backend::portable::{
        self,
        weighted_sum::{BUCKETS, SLOTS, longest},
    },
    segments::{Cut, Segments, WeightedCut},
    weight::{DIGITS, Soundness, Weight},
};

/// The weighted sum of each segment.
pub(crate) fn weighted_sums<L: Lanes, C: InLanes<Parameters = L::Curve>>(
    lanes: L,
    weighted: WeightedCut<'_, C>,
) -> Vec<C> {
    let (points, weights) = (weighted.points().items(), weighted.weights());
    if weights.iter().all(|w| *w == Weight::ONE) {
        return super::sum::sums(lanes, weighted.points());
    }
    if weights.len() < L::THRESHOLDS.weighted_sum && weighted.points().len() < L::THRESHOLDS.weighted_sums {
        return portable::weighted_sum::weighted_sums(weighted);
    }
    let table = table_of(lanes, points, true);
    let mut sums = vec![C::IDENTITY; weighted.points().len()];
    let mut classes = [const { Vec::new() }; 2];
    for (i, range) in weighted.points().ranges().enumerate() {
        let class = usize::from(range.len() >= L::THRESHOLDS.buckets);
        classes[class].push((i, range));
    }
    for (class, method) in classes.iter().zip([Method::Tables, Method::Buckets]) {
        let (indices, segments): (Vec<_>, Vec<_>) = class.iter().cloned().unzip();
        if segments.is_empty() {
            continue;
        }
        let places = segments.iter().map(|s| longest(&weights[s.clone()])).max().unwrap_or(0);
        let positions = Positions { segments: &segments, places, nibbles: nibbles_of(weights, places) };
        let joined = if indices.len() < L::THRESHOLDS.joined_segments {
            join_one_by_one::<C>(&positions.sums(&table, method).to_points(), places, places)
        } else {
            let joined = joined::<L, C>(&positions, &table, method);
            let blst = |i: usize| {
                let range = segments[i].clone();
                by_blst(&points[range.clone()], &weights[range])
            };
            joined.into_iter().enumerate().map(|(i, sum)| sum.unwrap_or_else(|| blst(i))).collect()
        };
        for (index, sum) in indices.into_iter().zip(joined) {
            sums[index] = sum;
        }
    }
    sums
}

/// The number of points from which [`weighted_sums_of_members`] is cheaper than a check of each point.
///
/// In G1 a position sum can miss a point of order 3 with probability 7/16, so that it takes 29 further positions, and 57
/// for 128 bits. For so many a point has not enough random bits.
pub(crate) const fn sums_members_from<L: Lanes>(_: L, group: GroupId, soundness: Soundness) -> Option<usize> {
    match (group, soundness) {
        (GroupId::G1, Soundness::Bits64) => Some(L::THRESHOLDS.members_in_g1),
        (GroupId::G1, Soundness::Bits128) => None,
        (GroupId::G2, Soundness::Bits64) => Some(L::THRESHOLDS.members_in_g2),
        // Twice as many positions pay off from twice as many points.
        (GroupId::G2, Soundness::Bits128) => Some(2 * L::THRESHOLDS.members_in_g2),
    }
}

/// The weighted sum Σ wᵢ·Pᵢ of each segment, or `None` if a point is not in the subgroup. With enough points, the position
/// sums over all segments are checked in place of the points, and so are those of the digits in `further`: see
/// `docs/soundness.md`.
pub(crate) fn weighted_sums_of_members<L: Lanes, C: Subgroup<Parameters = L::Curve>>(
    lanes: L,
    weighted: WeightedCut<'_, C>,
    further: &[u64],
    soundness: Soundness,
) -> Option<Vec<C>> {
    let (points, weights) = (weighted.points().items(), weighted.weights());
    if sums_members_from(lanes, C::ID, soundness).is_none_or(|least| points.len() < least) {
        let members = subgroup::in_subgroup(lanes, points).into_iter().all(|member| member);
        return members.then(|| weighted_sums(lanes, weighted));
    }
    let table = table_of(lanes, points, true);
    let segments: Vec<_> = weighted.points().ranges().collect();
    let method = if points.len() < L::THRESHOLDS.buckets * segments.len() { Method::Tables } else { Method::Buckets };
    let (positions, digits) = of_members(&segments, weights, further, C::FURTHER, soundness);
    let sums = positions.sums(&table, method);
    let checked: Vec<C> = positions.over_all_segments().sums(&sums, false).to_points();
    if !subgroup::in_subgroup(lanes, &checked).into_iter().all(|member| member) {
        return None;
    }
    if segments.len() < L::THRESHOLDS.joined_segments {
        return Some(join_one_by_one(&sums.to_points(), positions.places, digits));
    }
    let joined = join::<L, C>(&positions, sums, Addends::Sums, digits);
    let joined = joined
        .into_iter()
        .zip(weighted.iter())
        .map(|(sum, (points, weights))| sum.unwrap_or_else(|| by_blst(points, weights)));
    Some(joined.collect())
}

/// The weighted sum of a segment for which a formula of the lanes did not hold.
fn by_blst<C: Curve>(points: &[C], weights: &[Weight]) -> C {
    portable::weighted_sum::weighted_sums(WeightedCut::new(Cut::new(points, &[points.len()]), weights))[0]
}

/// The number of further positions in G1.
const SIGNS: usize = 29;

/// The nibbles of 29 digits from 0, 1 and -1: the first digits of the word in base 3, as a fraction of 2^64. Every list of
/// digits has a probability of at most 3^-29·(1 + 2^-18).
fn signs(word: u64) -> [u8; SIGNS] {
    let mut rest = word;
    core::array::from_fn(|_| {
        let product = 3 * u128::from(rest);
        rest = product as u64;
        // 1 and -1 are the digits with the nibbles 1 and 4.
        [0, 1, 4][(product >> 64) as usize]
    })
}

/// The positions of the weights and of what is checked beside them. The first positions are those of the weights, and their number is the
/// second result.
fn of_members<'a>(
    segments: &'a [Range<usize>],
    weights: &[Weight],
    further: &[u64],
    kind: Further,
    soundness: Soundness,
) -> (Positions<'a>, usize) {
    let digits = soundness.bits() as usize / 4;
    let (more, signs) = match kind {
        Further::Signs => (SIGNS, further.iter().map(|word| signs(*word)).collect()),
        Further::Digits([with_64, with_128]) => (if digits == 16 { with_64 } else { with_128 }, Vec::new()),
    };
    let digits = digits.max(longest(weights));
    let nibbles = nibbles(weights.len(), digits + more, |point, place| {
        if place < digits {
            return weights[point].nibble(place);
        }
        match kind {
            Further::Signs => signs[point][place - digits],
            Further::Digits(_) => (further[point] >> (4 * (place - digits))) as u8 & 15,
        }
    });
    (Positions { segments, places: digits + more, nibbles }, digits)
}

/// How position sums are computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Tables,
    Buckets,
}

/// The digit positions of the weights of some segments.
///
/// Which entries of which table a sum has does not depend on the lanes. So that this is compiled once and not for each kind of lanes and
/// each group, everything but [`sums`](Self::sums) gives [`Cells`].
pub(super) struct Positions<'a> {
    pub(super) segments: &'a [Range<usize>],
    pub(super) places: usize,
    /// The digits of each point at the places below `places`: see [`nibbles`].
    pub(super) nibbles: Vec<u8>,
}

/// The digit of each point at each place, those of one point side by side.
pub(super) fn nibbles(points: usize, places: usize, nibble: impl Fn(usize, usize) -> u8) -> Vec<u8> {
    let mut nibbles = Vec::with_capacity(points * places);
    for point in 0..points {
        nibbles.extend((0..places).map(|place| nibble(point, place)));
    }
    nibbles
}

/// The digits of weights.
fn nibbles_of(weights: &[Weight], places: usize) -> Vec<u8> {
    nibbles(weights.len(), places, |point, place| weights[point].nibble(place))
}

impl Positions<'_> {
    /// The digit of a point at a place.
    fn nibble(&self, point: usize, place: usize) -> u8 {
        self.nibbles[point * self.places + place]
    }

    /// The sum of each position. Entry `places`·i + j is that of place j of segment i.
    fn sums<F: Field>(&self, table: &Table<F>, method: Method) -> Table<F> {
        match method {
            Method::Tables => self.of_multiples().sums(&self.multiples(table.len()).sums(table, true), false),
            Method::Buckets => {
                let kinds = self.kinds_of_buckets().sums(&self.buckets().sums(table, true), true);
                self.of_kinds().sums(&kinds, false)
            }
        }
    }

    /// P, 2P and (1-ω)P of every point of the table.
    fn multiples(&self, points: usize) -> Cells {
        let mut cells = Cells::new(3 * points);
        for point in self.segments.iter().flat_map(Range::clone) {
            let entry = Entry::new(point, 0, false);
            for (kind, other) in [None, Some(entry), Some(Entry::new(point, 1, true))].into_iter().enumerate() {
                cells.push(3 * point + kind, entry);
                other.into_iter().for_each(|other| cells.push(3 * point + kind, other));
            }
        }
        cells
    }

    /// The position sums from the multiples of the points.
    fn of_multiples(&self) -> Cells {
        let mut cells = Cells::new(self.segments.len() * self.places);
        for (i, segment) in self.segments.iter().enumerate() {
            for point in segment.clone() {
                for place in 0..self.places {
                    if let Some(entry) = entry_of(point, self.nibble(point, place)) {
                        cells.push(i * self.places + place, entry);
                    }
                }
            }
        }
        cells
    }

    /// The buckets of each pair of digits.
    fn buckets(&self) -> Cells {
        let pairs = self.places.div_ceil(2);
        let mut cells = Cells::new(self.segments.len() * pairs * BUCKETS);
        for (i, segment) in self.segments.iter().enumerate() {
            for point in segment.clone() {
                for pair in 0..pairs {
                    let low = self.nibble(point, 2 * pair);
                    let high = if 2 * pair + 1 < self.places { self.nibble(point, 2 * pair + 1) } else { 0 };
                    if let Some(slot) = SLOTS_OF_BYTES[(low | high << 4) as usize] {
                        let entry = Entry::new(point, slot.turn, slot.negative);
                        cells.push((i * pairs + pair) * BUCKETS + slot.bucket as usize, entry);
                    }
                }
            }
        }
        cells
    }

    /// The sums of the three kinds of digits of each position, from the buckets.
    fn kinds_of_buckets(&self) -> Cells {
        let pairs = self.places.div_ceil(2);
        let mut cells = Cells::new(self.segments.len() * self.places * 3);
        for i in 0..self.segments.len() {
            for place in 0..self.places {
                for (bucket, digits) in SLOTS.digits.iter().enumerate() {
                    let digit = digits[place % 2];
                    if let Some(kind) = digit.kind.index() {
                        let index = (i * pairs + place / 2) * BUCKETS + bucket;
                        cells.push(3 * (i * self.places + place) + kind, Entry::new(index, digit.turn, digit.negative));
                    }
                }
            }
        }
        cells
    }

    /// The position sums from the sums of the three kinds of digits: ones + 2·twos + thetas - ω·thetas.
    fn of_kinds(&self) -> Cells {
        let positions = self.segments.len() * self.places;
        let mut cells = Cells::new(positions);
        for i in 0..positions {
            let [ones, twos, thetas] = [0, 1, 2].map(|kind| Entry::new(3 * i + kind, 0, false));
            for entry in [ones, twos, twos, thetas, Entry::new(3 * i + 2, 1, true)] {
                cells.push(i, entry);
            }
        }
        cells
    }

    /// The sum of each position over all segments, from the position sums.
    fn over_all_segments(&self) -> Cells {
        let mut cells = Cells::new(self.places);
        for i in 0..self.segments.len() * self.places {
            cells.push(i % self.places, Entry::new(i, 0, false));
        }
        cells
    }

    /// The entries of eight segments at a place.
    fn eight(&self, addends: Addends, vector: usize, place: usize) -> [Entry; LANES] {
        let mut entries = [Entry::NONE; LANES];
        for (segment, slot) in (vector * LANES..self.segments.len()).zip(&mut entries) {
            *slot = match addends {
                Addends::Sums => Entry::new(segment * self.places + place, 0, false),
                Addends::Multiples => {
                    let point = self.segments[segment].start;
                    entry_of(point, self.nibble(point, place)).unwrap_or(Entry::NONE)
                }
            };
        }
        entries
    }
}

/// What is added up to the sum of a segment.
#[derive(Clone, Copy)]
enum Addends {
    /// The sums of its positions.
    Sums,
    /// The multiples of its only point.
    Multiples,
}

/// Σ 4ʲ·Aⱼ of each segment, or `None` if a formula did not hold.
pub(super) fn joined<L: Lanes, C: InLanes<Parameters = L::Curve>>(
    positions: &Positions<'_>,
    table: &Table<C::In<L>>,
    method: Method,
) -> Vec<Option<C>> {
    let single = method == Method::Tables && positions.segments.iter().all(|s| s.len() == 1);
    let (table, addends) = if single {
        (positions.multiples(table.len()).sums(table, true), Addends::Multiples)
    } else {
        (positions.sums(table, method), Addends::Sums)
    };
    join::<L, C>(positions, table, addends, positions.places)
}

/// Σ 4ʲ·Aⱼ, j < `digits`, of each segment. The addends stand in the table. Segments beside full vectors take the lanes that cost less
/// alone, if they fit.
fn join<L: Lanes, C: InLanes<Parameters = L::Curve>>(
    positions: &Positions<'_>,
    table: Table<C::In<L>>,
    addends: Addends,
    digits: usize,
) -> Vec<Option<C>> {
    let segments = positions.segments;
    let (full, left) = (segments.len() / LANES, segments.len() % LANES);
    let fits = const { <L::Narrow as Lanes>::WIDTH < LANES } && (1..=<L::Narrow as Lanes>::WIDTH).contains(&left);
    let vectors = if fits { full } else { segments.len().div_ceil(LANES) };
    let lanes = table.lanes();
    let entries = |vector: usize, place: usize| positions.eight(addends, vector, place);
    let mut sums = join_vectors::<L, C>(lanes, &table, 0..vectors, digits, &entries);
    if fits {
        let table = table.in_other_lanes(lanes.narrow());
        sums.extend(join_vectors::<L::Narrow, C>(lanes.narrow(), &table, full..full + 1, digits, &entries));
    }
    sums.truncate(segments.len());
    sums
}

const SLOTS_OF_BYTES: [Option<portable::weighted_sum::Slot>; 256] = SLOTS.of_byte;

/// The entry for digit · P in a table of multiples, or `None` for the digit zero.
fn entry_of(point: usize, nibble: u8) -> Option<Entry> {
    let digit = DIGITS[nibble as usize];
    digit.kind.index().map(|kind| Entry::new(3 * point + kind, digit.turn, digit.negative))
}

/// Entries, each with the cell to whose sum it belongs.
pub(super) struct Cells {
    entries: Vec<(u32, Entry)>,
    /// The number of entries of each cell.
    counts: Vec<usize>,
}

impl Cells {
    pub(super) fn new(cells: usize) -> Self {
        Self { entries: Vec::new(), counts: vec![0; cells] }
    }

    pub(super) fn push(&mut self, cell: usize, entry: Entry) {
        self.counts[cell] += 1;
        self.entries.push((cell as u32, entry));
    }

    /// The sum of each cell.
    pub(super) fn sums<F: Field>(self, table: &Table<F>, turns: bool) -> Table<F> {
        affine::sums(table, &self.in_order(), turns)
    }

    /// The entries of each cell side by side.
    pub(super) fn in_order(mut self) -> Segments<Entry> {
        // The counts become the starts of the cells. Each entry that is put in its place moves the start, and in the
        // end they are the ends.
        let mut total = 0;
        for count in &mut self.counts {
            total += core::mem::replace(count, total);
        }
        let mut sorted = vec![Entry::NONE; self.entries.len()];
        for (cell, entry) in self.entries {
            let next = &mut self.counts[cell as usize];
            sorted[*next] = entry;
            *next += 1;
        }
        Segments::from_ends(sorted, self.counts)
    }
}

/// Σ 4ʲ·Aⱼ, j < `digits`, of each segment, which has `places` position sums.
fn join_one_by_one<C: Curve>(sums: &[C], places: usize, digits: usize) -> Vec<C> {
    let joined: Vec<_> =
        sums.chunks_exact(places.max(1))
            .map(|sums| {
                sums[..digits].iter().rev().fold(C::IDENTITY.to_jacobian(), |sum, position| {
                    C::add_affine(&C::double(&C::double(&sum)), position)
                })
            })
            .collect();
    C::to_affine(&joined)
}

in_lanes! {
    /// Σ 4ʲ·Aⱼ of each lane of each vector, computed in Jacobian coordinates.
    fn join_vectors<L: Lanes, C: InLanes<Parameters = L::Curve>>(
        lanes: L,
        table: &Table<C::In<L>>,
        vectors: Range<usize>,
        places: usize,
        entries: &dyn Fn(usize, usize) -> [Entry; LANES],
    ) -> Vec<Option<C>> {
        let mut sums = Vec::with_capacity(vectors.len());
        let mut identities: Vec<Mask> = Vec::with_capacity(vectors.len());
        let one = C::In::<L>::one(lanes);
        for vector in vectors {
            let mut sum = Jacobian { x: one, y: one, z: one };
            let mut identity = !0;
            for place in (0..places).rev() {
                if identity != !0 {
                    sum = curve::double(lanes, &curve::double(lanes, &sum));
                }
                let addend = table.gather(&entries(vector, place));
                if addend.identity == !0 {
                    continue;
                }
                let affine = Affine { x: addend.x, y: addend.y };
                let mut next = curve::add_affine(lanes, &sum, &affine);
                if identity | addend.identity != 0 {
                    let pick = |old: &C::In<L>, next: &C::In<L>, first: &C::In<L>| {
                        old.or(addend.identity, &first.or(identity, next))
                    };
                    next = Jacobian {
                        x: pick(&sum.x, &next.x, &affine.x),
                        y: pick(&sum.y, &next.y, &affine.y),
                        z: pick(&sum.z, &next.z, &one),
                    };
                    identity &= addend.identity;
                }
                sum = next;
            }
            sums.push(sum);
            identities.push(identity);
        }
        let mut out = Vec::with_capacity(sums.len() * LANES);
        for (sums, identity) in curve::to_affine::<L, C>(lanes, &sums).into_iter().zip(identities) {
            for (lane, sum) in sums.into_iter().enumerate() {
                out.push(if identity >> lane & 1 == 1 { Some(C::IDENTITY) } else { sum });
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Backend, Bls12381Group, G1, G2, Group,
        backend::lanes::{
            affine::tests::hashed,
            curve::tests::{points, small_g1, small_g2},
            tests::{in_each_kind, in_each_kind_and_serially},
        },
        group::{sealed::Sealed, weighted_cut},
        segments::{UncheckedSegments, WeightedSegments},
    };

    /// A generator of numbers that look random.
    struct Words(u64);

    impl Words {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        fn weight(&mut self, soundness: Soundness) -> Weight {
            Weight::draw(soundness, || self.next())
        }
    }

    /// Weights of both lengths, short ones, and ones whose digits are all the same.
    fn weights(n: usize) -> Vec<Weight> {
        let mut words = Words(n as u64);
        (0..n)
            .map(|i| match i % 7 {
                0 => words.weight(Soundness::Bits128),
                1 => Weight::from_bits(u128::MAX / 15 * (1 + i as u128 % 15)).unwrap(),
                2 => Weight::from_bits(1 << (words.next() % 64)).unwrap(),
                _ => words.weight(Soundness::Bits64),
            })
            .collect()
    }

    /// Points in segments of these lengths.
    fn cut<G: Bls12381Group>(points: &[G], weights: &[Weight], lengths: &[usize]) -> WeightedSegments<G> {
        let mut points = points.iter().copied().zip(weights.iter().copied());
        lengths.iter().map(|n| points.by_ref().take(*n).collect::<Vec<_>>()).collect()
    }

    /// The weighted sum of one segment.
    fn weighted_sum<G: Bls12381Group>(points: &[G], weights: &[Weight]) -> G {
        Backend::Portable.weighted_sums(&cut(points, weights, &[points.len()]))[0]
    }

    /// The weighted sum of each segment in lanes.
    fn in_lanes<L: Lanes<Curve = crate::pairing::Bls12381>, G: Bls12381Group>(
        lanes: L,
        segments: &WeightedSegments<G>,
    ) -> Vec<G> {
        weighted_sums(lanes, weighted_cut(segments)).into_iter().map(G::wrap).collect()
    }

    /// The weighted sum of one segment, or `None` if a point is not in the subgroup.
    fn sum_of_members<L: Lanes<Curve = crate::pairing::Bls12381>, G: Bls12381Group>(
        lanes: L,
        points: &[G],
        weights: &[Weight],
        further: &[u64],
        soundness: Soundness,
    ) -> Option<G> {
        let mut segments = UncheckedSegments::new();
        for ((point, weight), further) in points.iter().zip(weights).zip(further) {
            segments.push(*point, *weight, *further);
        }
        segments.close();
        let (weighted, further) = (weighted_cut(segments.weighted()), segments.further());
        weighted_sums_of_members(lanes, weighted, further, soundness).map(|sums| G::wrap(sums[0]))
    }

    fn agrees<L: Lanes<Curve = crate::pairing::Bls12381>, G: Bls12381Group>(lanes: L, small: &[G::Affine]) {
        let mut pool: Vec<G> = hashed(50);
        pool.extend(points(small).into_iter().map(G::wrap));
        pool.extend([G::IDENTITY, pool[0].negate(), pool[1]]);
        let at = |i: usize| pool[(i * 7 + i / pool.len()) % pool.len()];
        let (few, b) = (L::THRESHOLDS.weighted_sum, L::THRESHOLDS.buckets);
        let lengths = [0, 1, few - 1, few, few + 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, b - 1, b, b + 1, 300];
        for n in lengths {
            let points: Vec<G> = (0..n).map(|i| at(i + n)).collect();
            let weights = weights(n);
            let expected = weighted_sum(&points, &weights);
            assert_eq!(in_lanes(lanes, &cut(&points, &weights, &[n])), [expected], "{} n = {n}", G::NAME);
        }
        // Segments of one point: as many as fill some lanes, or all. Up to four beside full vectors may take four lanes.
        for n in [1, 2, 3, 4, 5, few, 7, 8, 9, 12, 13, 15, 16, 17, 63, 64, 65, 256] {
            let points: Vec<G> = (0..n).map(at).collect();
            let segments = cut(&points, &weights(n), &vec![1; n]);
            let expected = Backend::Portable.weighted_sums(&segments);
            assert_eq!(in_lanes(lanes, &segments), expected, "{} {n} segments", G::NAME);
        }
        // Segments of all lengths in one call, and many with few points.
        for lengths in [
            &lengths[..],
            &[3; 40],
            &[2; 4],
            &[0, 9, 0, 1],
            &[0; 3],
            &[40; 11],
            &[0, 1, 2, 3, 4, 5, 30, 30, 30, 30, 30, 200, 5, 1],
        ] {
            let n = lengths.iter().sum();
            let segments = cut(&(0..n).map(at).collect::<Vec<G>>(), &weights(n), lengths);
            let expected = Backend::Portable.weighted_sums(&segments);
            assert_eq!(in_lanes(lanes, &segments), expected, "{} {lengths:?}", G::NAME);
        }
        // Equal and opposite points under equal weights.
        for n in [16, b] {
            for weight in weights(7) {
                let equal = vec![pool[0]; n];
                let opposite: Vec<G> = (0..n).map(|i| if i % 2 == 0 { pool[0] } else { pool[0].negate() }).collect();
                for points in [equal, opposite] {
                    let segments = cut(&points, &vec![weight; n], &[n]);
                    assert_eq!(in_lanes(lanes, &segments), Backend::Portable.weighted_sums(&segments));
                }
            }
        }
    }

    in_each_kind! {
        fn agrees_with_portable_g1(lanes: L) {
            agrees::<L, G1>(lanes, &small_g1());
        }
    }

    in_each_kind! {
        fn agrees_with_portable_g2(lanes: L) {
            agrees::<L, G2>(lanes, &small_g2());
        }
    }

    fn agrees_of_members<L: Lanes<Curve = crate::pairing::Bls12381>, G: Bls12381Group>(lanes: L) {
        let mut words = Words(1);
        let (b, m) = (L::THRESHOLDS.buckets, sums_members_from(lanes, G::ID, Soundness::Bits64).expect("a number"));
        let mut points: Vec<G> = hashed(b.max(2 * m) + 1);
        (points[3], points[5], points[6]) = (G::IDENTITY, points[4], points[4].negate());
        for n in [0, 1, 7, 8, 9, 64, 65, b - 1, b, b + 1, m - 1, m, m + 1, 2 * m - 1, 2 * m] {
            for soundness in [Soundness::Bits64, Soundness::Bits128] {
                let points = &points[..n];
                let weights: Vec<_> = (0..n).map(|_| words.weight(soundness)).collect();
                let further: Vec<_> = (0..n).map(|_| words.next()).collect();
                let expected = weighted_sum(points, &weights);
                assert_eq!(sum_of_members(lanes, points, &weights, &further, soundness), Some(expected));
            }
        }
    }

    in_each_kind_and_serially! {
        fn sums_of_members_g1(lanes: L) {
            agrees_of_members::<L, G1>(lanes);
        }
    }

    in_each_kind_and_serially! {
        fn sums_of_members_g2(lanes: L) {
            agrees_of_members::<L, G2>(lanes);
        }
    }

    in_each_kind_and_serially! {
        /// Points of small order of E(Fp) beside members: alone, in pairs that cancel, in a majority, and all the same.
        /// Those of order 3 are the ones that a position of a weight misses most often.
        fn small_subgroup_in_sums_of_members_g1(lanes: L) {
            let mut words = Words(4);
            let n = L::THRESHOLDS.members_in_g1;
            let members: Vec<G1> = hashed(n);
            let add = |a: G1, b: G1| Backend::Portable.sum(&[a, b]);
            let small: Vec<_> = small_g1().into_iter().filter(|p| !p.in_subgroup()).map(G1::wrap).collect();
            assert!(small.len() > 8, "{} points outside", small.len());
            for (round, bad) in small.iter().chain([&small[0]; 30]).cycle().take(200).enumerate() {
                let (bad, place) = (*bad, round % n);
                let mut points = members.clone();
                match round / 7 % 5 {
                    0 => points[place] = add(points[place], bad),
                    1 => points[place] = bad,
                    2 => {
                        points[place] = add(points[place], bad);
                        points[(place + 9) % n] = add(points[(place + 9) % n], bad.negate());
                    }
                    3 => points.iter_mut().skip(place % 2).step_by(2).for_each(|point| *point = add(*point, bad)),
                    _ => points = vec![bad; n],
                }
                let soundness = if round % 2 == 0 { Soundness::Bits64 } else { Soundness::Bits128 };
                let weights: Vec<_> = (0..n).map(|_| words.weight(soundness)).collect();
                let further: Vec<_> = (0..n).map(|_| words.next()).collect();
                assert_eq!(sum_of_members(lanes, &points, &weights, &further, soundness), None, "round {round}");
            }
        }
    }

    in_each_kind_and_serially! {
        /// Under equal weights only the further digits find a pair that cancels. T and -T with digits that differ in a
        /// single position, for every position and both differences, so that each position is computed and checked.
        fn every_position_tells_membership_g1(lanes: L) {
            let n = L::THRESHOLDS.members_in_g1;
            let mut words = Words(5);
            let mut points: Vec<G1> = hashed(n);
            let small = G1::wrap(small_g1()[0]);
            assert!(!small.is_identity() && !small.inner().in_subgroup());
            let (i, j) = (n / 3, n - 1);
            (points[i], points[j]) = (small, small.negate());
            let mut weights: Vec<_> = (0..n).map(|_| words.weight(Soundness::Bits64)).collect();
            let mut further: Vec<_> = (0..n).map(|_| words.next()).collect();
            let ones = u128::from(u64::MAX / 15);
            for position in 0..16 + SIGNS {
                for digit in [1, 2] {
                    (weights[i], further[i]) = (Weight::from_bits(ones).unwrap(), 0);
                    (weights[j], further[j]) = (weights[i], further[i]);
                    assert!(sum_of_members(lanes, &points, &weights, &further, Soundness::Bits64).is_some());
                    if position < 16 {
                        // 0 and -1 in the place of 1.
                        let nibble = if digit == 1 { 1 } else { 1 ^ 4 };
                        weights[j] = Weight::from_bits(ones ^ nibble << (4 * position)).unwrap();
                    } else {
                        let place = position - 16;
                        further[j] = ((digit << 64_u128) / 3_u128.pow(place as u32 + 1)) as u64 + 1;
                        let expected: Vec<_> =
                            (0..SIGNS).map(|k| if k == place { [0, 1, 4][digit as usize] } else { 0 }).collect();
                        assert_eq!(signs(further[j])[..], expected);
                    }
                    let sum = sum_of_members(lanes, &points, &weights, &further, Soundness::Bits64);
                    assert_eq!(sum, None, "position {position}, digit {digit}");
                }
            }
        }
    }

    /// Each digit takes its three values equally often.
    #[test]
    fn further_digits_are_uniform() {
        let mut words = Words(6);
        let mut counts = [[0; 3]; SIGNS];
        for _ in 0..30_000 {
            for (counts, nibble) in counts.iter_mut().zip(signs(words.next())) {
                counts[[0, 1, 4].iter().position(|known| *known == nibble).expect("one of three")] += 1;
            }
        }
        assert!(counts.iter().flatten().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert_eq!((signs(0), signs(u64::MAX)), ([0; SIGNS], [4; SIGNS]));
    }

    in_each_kind_and_serially! {
        /// Points of small order beside members, alone, in pairs that cancel, and all the same. Fresh weights find
        /// them.
        fn small_subgroup_in_sums_of_members(lanes: L) {
            let mut words = Words(2);
            let n = 2 * L::THRESHOLDS.members_in_g2;
            let members: Vec<G2> = hashed(n);
            let add = |a: G2, b: G2| Backend::Portable.sum(&[a, b]);
            // Points of order 13, and of a large order outside the subgroup.
            let small: Vec<_> = small_g2().into_iter().filter(|p| !p.in_subgroup()).map(G2::wrap).collect();
            // The eigenvectors of ω among the points of order 13. A position misses these most often.
            let small: Vec<_> = small
                .iter()
                .flat_map(|t| {
                    let times = |n: usize| vec![t.negate(); n];
                    [3, 9]
                        .map(|n| Backend::Portable.sum(&[times(n), vec![G2::wrap(t.inner().turned(1))]].concat()))
                        .into_iter()
                        .chain([*t])
                })
                .filter(|p| !p.inner().in_subgroup())
                .collect();
            assert!(small.len() > 8, "{} points outside", small.len());
            for (round, bad) in small.iter().cycle().take(200).enumerate() {
                let bad = *bad;
                let place = round % n;
                let mut points = members.clone();
                match round / small.len() % 5 {
                    0 => points[place] = add(points[place], bad),
                    1 => points[place] = bad,
                    // Two that cancel.
                    2 => {
                        points[place] = add(points[place], bad);
                        points[(place + 9) % n] = add(points[(place + 9) % n], bad.negate());
                    }
                    // All points the same, of the small order.
                    3 => points = vec![add(members[0], bad); n],
                    _ => points = vec![bad; n],
                }
                let soundness = if round % 2 == 0 { Soundness::Bits64 } else { Soundness::Bits128 };
                let weights: Vec<_> = (0..n).map(|_| words.weight(soundness)).collect();
                let further: Vec<_> = (0..n).map(|_| words.next()).collect();
                assert_eq!(sum_of_members(lanes, &points, &weights, &further, soundness), None, "round {round}");
            }
        }
    }

    in_each_kind_and_serially! {
        /// Only the further digits find a pair that cancels under equal weights. If these digits are equal too, nothing
        /// finds it.
        fn cancelling_pair_under_equal_weights(lanes: L) {
            let mut words = Words(3);
            let n = 4 * L::THRESHOLDS.members_in_g2;
            let add = |a: G2, b: G2| Backend::Portable.sum(&[a, b]);
            let outside = small_g2().into_iter().filter(|p| !p.in_subgroup());
            let bad = outside.map(G2::wrap).next_back().expect("of order 13");
            let mut points: Vec<G2> = hashed(n);
            (points[0], points[n - 1]) = (add(points[0], bad), add(points[n - 1], bad.negate()));
            for soundness in [Soundness::Bits64, Soundness::Bits128].repeat(20) {
                let weights = vec![words.weight(soundness); n];
                let further: Vec<_> = (0..n).map(|_| words.next()).collect();
                assert_eq!(sum_of_members(lanes, &points, &weights, &further, soundness), None);
                let expected = weighted_sum(&points, &weights);
                assert_eq!(sum_of_members(lanes, &points, &weights, &vec![7; n], soundness), Some(expected));
            }
        }
    }

    in_each_kind_and_serially! {
        /// T and -T, whose digits differ in a single position, for every position of the weights and of the further
        /// digits. So each position is computed, and each is checked.
        fn every_position_tells_membership(lanes: L) {
            let small = G2::wrap(small_g2()[1]);
            assert!(!small.is_identity() && !small.inner().in_subgroup());
            for (soundness, digits, more) in [(Soundness::Bits64, 16, 6), (Soundness::Bits128, 32, 11)] {
                for n in [2 * L::THRESHOLDS.members_in_g2, L::THRESHOLDS.buckets.max(2 * L::THRESHOLDS.members_in_g2)] {
                    let mut words = Words(n as u64);
                    let mut points: Vec<G2> = hashed(n);
                    let mut weights: Vec<_> = (0..n).map(|_| words.weight(soundness)).collect();
                    let mut further: Vec<_> = (0..n).map(|_| words.next()).collect();
                    let (i, j) = (n / 3, n - 1);
                    (points[i], points[j]) = (small, small.negate());
                    for position in 0..digits + more {
                        // The lowest digits are 0 and 1, and their difference is a unit, which takes no point to zero.
                        let ones = (u128::MAX >> (128 - soundness.bits())) / 15;
                        (weights[i], further[i]) = (Weight::from_bits(ones).unwrap(), u64::MAX / 15);
                        (weights[j], further[j]) = (weights[i], further[i]);
                        assert!(sum_of_members(lanes, &points, &weights, &further, soundness).is_some());
                        if position < digits {
                            weights[j] = Weight::from_bits(ones ^ 1 << (4 * position)).unwrap();
                        } else {
                            further[j] ^= 1 << (4 * (position - digits));
                        }
                        let sum = sum_of_members(lanes, &points, &weights, &further, soundness);
                        assert_eq!(sum, None, "{soundness:?}, {n} points, position {position}");
                    }
                }
            }
        }
    }
}
