//! Weighted sums Σ wᵢ·Pᵢ for weights in Z\[ω\] (see [`crate::weight`]), by three methods for three sizes.
//!
//! Few points: Straus' method. Each point gets a table of P, 2P and (1-ω)P. Then each digit costs two doublings, and
//! for each point the addition of a table entry times a unit, in Jacobian coordinates.
//!
//! Many short segments: the same method for all segments at once, in affine coordinates, with one inversion a step for
//! all.
//!
//! Long segments: buckets. For each pair of digits, each point times a unit is added to one of 57 buckets. The buckets
//! are added up into three sums for each place (for 1, 2 and 1 - ω), and the places are joined by doublings. All but
//! the last step is affine. For d digits it costs about `255/256·d/2` additions a point and `28·d` a segment.

use alloc::{vec, vec::Vec};

use super::affine;
use crate::{
    arithmetic::Curve,
    segments::{Segments, WeightedCut},
    weight::{DIGITS, Digit, Kind, Weight},
};

/// The weighted sum of each segment.
pub(crate) fn weighted_sums<C: Curve>(points: WeightedCut<'_, C>) -> Vec<C> {
    if points.weights().iter().all(|w| *w == Weight::ONE) {
        let points = points.points();
        return affine::sums(points.to_segments());
    }
    let mut sums = vec![C::IDENTITY; points.points().len()];
    let mut short = Short::default();
    for (i, (points, weights)) in points.iter().enumerate() {
        if points.len() < BUCKETS_FROM {
            short.push(i, points, weights);
        } else {
            sums[i] = buckets(points, weights);
        }
    }
    for (i, sum) in short.indices.iter().zip(short.sums()) {
        sums[*i] = sum;
    }
    sums
}

/// The length from which segments are summed by buckets.
const BUCKETS_FROM: usize = 48;

/// The short segments of a call.
struct Short<C> {
    indices: Vec<usize>,
    points: Segments<C>,
    weights: Vec<Weight>,
}

impl<C> Default for Short<C> {
    fn default() -> Self {
        Self { indices: Vec::new(), points: Segments::new(), weights: Vec::new() }
    }
}

impl<C: Curve> Short<C> {
    fn push(&mut self, index: usize, points: &[C], weights: &[Weight]) {
        self.indices.push(index);
        self.points.extend(points.iter().copied());
        self.points.close();
        self.weights.extend_from_slice(weights);
    }

    fn sums(&self) -> Vec<C> {
        let points = self.points.items();
        let tables = tables(points);
        if points.len() < C::SUMMED_IN_STEP_FROM { self.straus(&tables) } else { self.in_step(&tables) }
    }

    fn straus(&self, tables: &[[C; 3]]) -> Vec<C> {
        let sums = self.points.cut().ranges().map(|range| {
            let (tables, weights) = (&tables[range.clone()], &self.weights[range]);
            let mut sum = C::IDENTITY.to_jacobian();
            for place in (0..longest(weights)).rev() {
                sum = C::double(&C::double(&sum));
                for (table, weight) in tables.iter().zip(weights) {
                    if let Some(entry) = entry(table, weight.digit(place)) {
                        sum = C::add_affine(&sum, &entry);
                    }
                }
            }
            sum
        });
        C::to_affine(&sums.collect::<Vec<_>>())
    }

    fn in_step(&self, tables: &[[C; 3]]) -> Vec<C> {
        let mut sums = vec![C::IDENTITY; self.points.len()];
        for place in (0..longest(&self.weights)).rev() {
            affine::double_all(&mut sums);
            affine::double_all(&mut sums);
            let mut summands = Segments::with_capacity(self.weights.len() + sums.len(), sums.len());
            for (sum, range) in sums.iter().zip(self.points.cut().ranges()) {
                let entries = tables[range.clone()].iter().zip(&self.weights[range]);
                summands.push(*sum);
                summands.extend(entries.filter_map(|(table, weight)| entry(table, weight.digit(place))));
                summands.close();
            }
            sums = affine::sums(summands);
        }
        sums
    }
}

/// P, 2P and (1-ω)P of each point.
fn tables<C: Curve>(points: &[C]) -> Vec<[C; 3]> {
    let summands = points.iter().flat_map(|p| [*p, *p, *p, p.turned(1).signed(true)]).collect();
    let multiples = affine::sums(Segments::of_size(2, summands));
    points.iter().zip(multiples.chunks_exact(2)).map(|(p, m)| [*p, m[0], m[1]]).collect()
}

/// digit · P from the table of P, or `None` for the digit zero.
fn entry<C: Curve>(table: &[C; 3], digit: Digit) -> Option<C> {
    digit.kind.index().map(|kind| table[kind].turned(digit.turn).signed(digit.negative))
}

fn buckets<C: Curve>(points: &[C], weights: &[Weight]) -> C {
    // ωP and ω²P are computed once for each point, because every place of its weight uses them.
    let turned: Vec<[C; 3]> = points.iter().map(|p| [*p, p.turned(1), p.turned(2)]).collect();
    let pairs = longest(weights).div_ceil(2);
    let contents = fill_buckets(&turned, weights, pairs);

    // Adds the 57 buckets of each pair of places up into the three sums of each place.
    let mut summands = Segments::new();
    for bucket in contents.chunks_exact(BUCKETS) {
        for place in 0..2 {
            for kind in 0..3 {
                for (content, digits) in bucket.iter().zip(&SLOTS.digits) {
                    let digit = digits[place];
                    if digit.kind.index() == Some(kind) && *content != C::IDENTITY {
                        summands.push(content.turned(digit.turn).signed(digit.negative));
                    }
                }
                summands.close();
            }
        }
    }
    let kinds = affine::sums(summands);

    let mut sum = C::IDENTITY.to_jacobian();
    for place in kinds.chunks_exact(3).rev() {
        // 4·sum + ones + 2·twos + (1-ω)·thetas, as 2·(2·sum + twos) + ones + thetas - ω·thetas.
        let [ones, twos, thetas] = [place[0], place[1], place[2]];
        sum = C::double(&C::add_affine(&C::double(&sum), &twos));
        for term in [ones, thetas, thetas.turned(1).signed(true)] {
            sum = C::add_affine(&sum, &term);
        }
    }
    C::to_affine(&[sum])[0]
}

/// The contents of the buckets of each pair of places: a counting sort of the points, then one sum for each bucket.
fn fill_buckets<C: Curve>(turned: &[[C; 3]], weights: &[Weight], pairs: usize) -> Vec<C> {
    let slots = || (0..pairs).flat_map(|pair| weights.iter().map(move |w| (pair, SLOTS.of_byte[w.byte(pair)])));
    let mut ends = vec![0; pairs * BUCKETS];
    for (pair, slot) in slots() {
        if let Some(slot) = slot {
            ends[pair * BUCKETS + slot.bucket as usize] += 1;
        }
    }
    let mut total = 0;
    let mut next: Vec<usize> = ends
        .iter_mut()
        .map(|end| {
            total += *end;
            let start = total - *end;
            *end = total;
            start
        })
        .collect();
    let mut sorted = vec![C::IDENTITY; total];
    for ((pair, slot), point) in slots().zip(turned.iter().cycle()) {
        if let Some(slot) = slot {
            let place = &mut next[pair * BUCKETS + slot.bucket as usize];
            sorted[*place] = point[slot.turn as usize].signed(slot.negative);
            *place += 1;
        }
    }
    affine::sums(Segments::from_ends(sorted, ends))
}

pub(in crate::backend) fn longest(weights: &[Weight]) -> usize {
    weights.iter().map(|w| w.digits()).max().unwrap_or(0)
}

impl Kind {
    /// Place in a table of the multiples by 1, 2 and 1 - ω.
    pub(in crate::backend) fn index(self) -> Option<usize> {
        match self {
            Self::Zero => None,
            Self::One => Some(0),
            Self::Two => Some(1),
            Self::Theta => Some(2),
        }
    }
}

/// The bucket of a pair of digits, which are unit · (digits of the bucket): unit · point is added to it.
#[derive(Clone, Copy)]
pub(in crate::backend) struct Slot {
    pub(in crate::backend) bucket: u8,
    pub(in crate::backend) turn: u8,
    pub(in crate::backend) negative: bool,
}

/// The slot of each of the 256 pairs of digits, and the digits that each bucket stands for.
pub(in crate::backend) struct Slots {
    pub(in crate::backend) of_byte: [Option<Slot>; 256],
    pub(in crate::backend) digits: [[Digit; 2]; BUCKETS],
}

/// The number of pairs of digits up to a unit.
pub(in crate::backend) const BUCKETS: usize = 57;

pub(in crate::backend) const SLOTS: Slots = {
    const ZERO: Digit = DIGITS[0];
    let mut of_byte = [None; 256];
    let mut digits = [[ZERO; 2]; BUCKETS];
    let mut used = 0;
    let mut byte = 1;
    while byte < 256 {
        let (low, high) = (DIGITS[byte & 15], DIGITS[byte >> 4]);
        // Divide by the unit of the lower digit, or of the upper one if the lower is zero.
        let unit = if matches!(low.kind, Kind::Zero) { high } else { low };
        let quotient = [divide(low, unit), divide(high, unit)];
        let mut bucket = 0;
        while bucket < used && !(same(digits[bucket][0], quotient[0]) && same(digits[bucket][1], quotient[1])) {
            bucket += 1;
        }
        if bucket == used {
            digits[used] = quotient;
            used += 1;
        }
        of_byte[byte] = Some(Slot { bucket: bucket as u8, turn: unit.turn, negative: unit.negative });
        byte += 1;
    }
    assert!(used == BUCKETS);
    Slots { of_byte, digits }
};

/// `digit` divided by the unit of `by`.
const fn divide(digit: Digit, by: Digit) -> Digit {
    match digit.kind {
        Kind::Zero => digit,
        kind => Digit { kind, turn: (digit.turn + 3 - by.turn) % 3, negative: digit.negative != by.negative },
    }
}

const fn same(a: Digit, b: Digit) -> bool {
    a.kind as u8 == b.kind as u8 && a.turn == b.turn && a.negative == b.negative
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::{
        Backend, Bls12381Group, G1, G2, Group,
        weight::{Eisenstein, value},
    };

    /// Double and add over a + b·ω, from the definition.
    fn naive<G: Bls12381Group>(point: G, weight: Weight) -> G {
        let (mut a, mut b): Eisenstein = (0, 0);
        for i in (0..32).rev() {
            let (da, db) = value(weight.digit(i));
            (a, b) = (4 * a + da, 4 * b + db);
        }
        let times = |p: G, n: i128| {
            let mut sum = G::IDENTITY;
            for bit in (0..128).rev() {
                sum = Backend::Portable.sum(&[sum, sum]);
                if n.unsigned_abs() >> bit & 1 == 1 {
                    sum = Backend::Portable.sum(&[sum, p]);
                }
            }
            if n < 0 { sum.negate() } else { sum }
        };
        let omega = G::wrap(point.inner().turned(1));
        Backend::Portable.sum(&[times(point, a), times(omega, b)])
    }

    fn hashed<G: Bls12381Group>(n: usize) -> Vec<G> {
        let names: Vec<_> = (0..n).map(|i| i.to_le_bytes()).collect();
        let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
        Backend::Portable.hash_to_curve(b"weighted sums", &messages)
    }

    /// Weights that look random, and extreme ones: all digits the same, one digit, 64 and 128 bits.
    fn weights(n: usize) -> Vec<Weight> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u128;
        (0..n)
            .map(|i| {
                state = state.wrapping_mul(0x2545_f491_4f6c_dd1d_1234_5678_9abc_def1).wrapping_add(0xdead_beef);
                let bits = match i % 5 {
                    0 => state,
                    1 => state >> 64,
                    2 => 1 << (state % 128),
                    3 => u128::MAX / 15 * (state % 15 + 1),
                    _ => state & 0xff,
                };
                Weight::from_bits(bits).unwrap_or(Weight::ONE)
            })
            .collect()
    }

    /// The weighted sum of one segment.
    fn weighted_sum<G: Bls12381Group>(points: &[G], weights: &[Weight]) -> G {
        let points = points.iter().copied().zip(weights.iter().copied());
        Backend::Portable.weighted_sums(&core::iter::once(points).collect())[0]
    }

    fn agrees_with_naive<G: Bls12381Group>() {
        for n in [0, 1, 2, 7, 8, 9, 15, 16, BUCKETS_FROM - 1, BUCKETS_FROM, BUCKETS_FROM + 1] {
            let (points, weights) = (hashed::<G>(n), weights(n));
            let terms: Vec<_> = points.iter().zip(&weights).map(|(p, w)| naive(*p, *w)).collect();
            assert_eq!(weighted_sum(&points, &weights), Backend::Portable.sum(&terms), "{} n = {n}", G::NAME);
        }
    }

    #[test]
    fn agrees_with_the_definition() {
        agrees_with_naive::<G1>();
        agrees_with_naive::<G2>();
    }

    #[test]
    fn every_byte_of_a_weight() {
        let point = hashed::<G1>(1)[0];
        for byte in 1..256u128 {
            let weight = Weight::from_bits(byte).unwrap();
            let mut padded = vec![point];
            padded.resize(BUCKETS_FROM, G1::IDENTITY);
            let by_buckets = weighted_sum(&padded, &vec![weight; padded.len()]);
            assert_eq!(by_buckets, naive(point, weight), "{byte:#x}");
        }
    }

    #[test]
    fn segments_short_long_and_empty() {
        let mut points = hashed::<G2>(3 * BUCKETS_FROM).into_iter().zip(weights(3 * BUCKETS_FROM));
        let lengths = [0, 1, 0, 4, BUCKETS_FROM, 2 * BUCKETS_FROM - 7, 2];
        let segments = lengths.map(|n| points.by_ref().take(n).collect::<Vec<_>>()).into_iter().collect();
        assert!(points.next().is_none());
        let sums = Backend::Portable.weighted_sums(&segments);
        assert_eq!(sums.len(), lengths.len());
        for (sum, (points, weights)) in sums.into_iter().zip(segments.iter()) {
            assert_eq!(sum, weighted_sum(points, weights), "{} points", points.len());
        }
    }

    #[test]
    fn equal_points_equal_digits_and_cancellation() {
        let point = hashed::<G1>(1)[0];
        let w = weights(1)[0];
        for n in [2, 9, BUCKETS_FROM + 4] {
            let points: Vec<_> = (0..n).map(|i| if i % 2 == 0 { point } else { point.negate() }).collect();
            let sum = weighted_sum(&points, &vec![w; n]);
            assert_eq!(sum, if n % 2 == 0 { G1::IDENTITY } else { naive(point, w) }, "{n} cancelling");
            let equal = weighted_sum(&vec![point; n], &vec![w; n]);
            assert_eq!(equal, Backend::Portable.sum(&vec![naive(point, w); n]), "{n} equal");
        }
    }

    /// ω is the same number on both groups: e(ω·g1, g2) = e(g1, ω·g2), and ω² + ω + 1 = 0.
    #[test]
    fn omega_agrees_on_both_groups() {
        fn turned<G: Bls12381Group>(turn: u8) -> G {
            G::wrap(G::generator().inner().turned(turn))
        }
        let b = Backend::Portable;
        let product = b.miller_product(&[(turned::<G1>(1), G2::generator()), (G1::generator().negate(), turned(1))]);
        assert!(b.final_exponentiation(product).is_one());
        assert!(b.sum::<G1>(&[turned(0), turned(1), turned(2)]).is_identity());
        assert!(b.sum::<G2>(&[turned(0), turned(1), turned(2)]).is_identity());
    }
}
