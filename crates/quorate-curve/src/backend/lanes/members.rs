//! Whether all of many points are in the subgroup: through sums with random signs, which are checked in their place.
//!
//! Each point gets 84 random trits: 0, 1 or -1. The sum of the points with their trits at one place is checked exactly.
//! If a point is outside the subgroup, at most one of the three values of its trit hides that in the sum, because 2 divides no
//! cofactor. So all 84 sums miss it with a probability of at most 3^-84·(1 + 2^-28) < 2^-133 (`docs/soundness.md`).
//!
//! The sums share their additions: the trits of some places are one number, whose bucket is added to once.

use alloc::{vec, vec::Vec};

use super::{
    affine::{self, Entry, table_of},
    field::Lanes,
    subgroup::{self, Subgroup},
    weighted_sum::Cells,
};
use crate::segments::Segments;

/// The trits of a point.
const TRITS: usize = 84;

/// The trits of a word: it is a fraction of 2^64, and these are its first digits in base 3. The probability of every list of
/// them is at most 3^-21·(1 + 2^-30).
const OF_WORD: usize = 21;

/// Points that are checked together, so that what is computed of them fits the caches.
const TOGETHER: usize = 1 << 16;

/// The number of points from which sums cost less than a check of each point.
const LEAST: usize = 256;

/// The number of points from which seven trits are one number, and not three.
const MANY: usize = 1 << 11;

/// Random bits for the trits of a point.
pub(crate) type RandomTrits = [u64; TRITS / OF_WORD];

/// Whether all points are in the subgroup. Each has its random bits.
pub(crate) fn all_in_subgroup<L: Lanes, C: Subgroup<Parameters = L::Curve>>(
    lanes: L,
    points: &[C],
    random: &[RandomTrits],
) -> bool {
    points.chunks(TOGETHER).zip(random.chunks(TOGETHER)).all(|(points, random)| {
        let checked = if points.len() < LEAST { points.to_vec() } else { sums(lanes, points, random) };
        subgroup::in_subgroup(lanes, &checked).into_iter().all(|member| member)
    })
}

/// The sum of the points with their trits, at each place.
fn sums<L: Lanes, C: Subgroup<Parameters = L::Curve>>(lanes: L, points: &[C], random: &[RandomTrits]) -> Vec<C> {
    let trits = Trits::new(if points.len() < MANY { 3 } else { 7 });
    let buckets = affine::sums(&table_of(lanes, points, false), &trits.in_buckets(random), false);
    trits.in_places().sums(&buckets, false).to_points()
}

/// So many trits as one number.
struct Trits {
    together: usize,
    /// By number: its bucket, and whether it is the number of that bucket negated. `None` for zero.
    slots: Vec<Option<(usize, bool)>>,
    /// By bucket: its trits.
    buckets: Vec<Vec<i8>>,
}

impl Trits {
    fn new(together: usize) -> Self {
        let trits = |number: usize| -> Vec<i8> {
            (0..together as u32).map(|place| [0, 1, -1][number / 3_usize.pow(place) % 3]).collect()
        };
        let negative = |number: usize| -> usize {
            let digit = |place: u32| [0, 2, 1][number / 3_usize.pow(place) % 3] * 3_usize.pow(place);
            (0..together as u32).map(digit).sum()
        };
        let mut slots = vec![None; 3_usize.pow(together as u32)];
        let mut buckets = Vec::new();
        for number in 0..slots.len() {
            let trits = trits(number);
            if trits.iter().find(|trit| **trit != 0) == Some(&1) {
                slots[number] = Some((buckets.len(), false));
                slots[negative(number)] = Some((buckets.len(), true));
                buckets.push(trits);
            }
        }
        Self { together, slots, buckets }
    }

    /// The points of each bucket of each number of trits.
    fn in_buckets(&self, random: &[RandomTrits]) -> Segments<Entry> {
        let (of_word, numbers) = (OF_WORD / self.together, TRITS / self.together);
        let mut cells = Cells::new(numbers * self.buckets.len());
        for (point, words) in random.iter().enumerate() {
            for (word, bits) in words.iter().enumerate() {
                let mut rest = *bits;
                for number in word * of_word..(word + 1) * of_word {
                    let product = self.slots.len() as u128 * u128::from(rest);
                    rest = product as u64;
                    if let Some((bucket, negative)) = self.slots[(product >> 64) as usize] {
                        cells.push(number * self.buckets.len() + bucket, Entry::new(point, 0, negative));
                    }
                }
            }
        }
        cells.in_order()
    }

    /// The buckets of each place.
    fn in_places(&self) -> Cells {
        let mut cells = Cells::new(TRITS);
        for number in 0..TRITS / self.together {
            for (bucket, trits) in self.buckets.iter().enumerate() {
                for (place, trit) in trits.iter().enumerate().filter(|(_, trit)| **trit != 0) {
                    let entry = Entry::new(number * self.buckets.len() + bucket, 0, *trit < 0);
                    cells.push(number * self.together + place, entry);
                }
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Backend, Bls12381Group, G1, G2, Group,
        backend::lanes::{
            affine::tests::hashed,
            curve::tests::{small_g1, small_g2},
        },
        group::sealed::Sealed,
    };

    /// Words of a generator that is good enough for a test.
    fn random(mut state: u64, points: usize) -> Vec<RandomTrits> {
        let mut next = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        };
        (0..points).map(|_| core::array::from_fn(|_| next())).collect()
    }

    /// Every trit is a third of the numbers, a bucket has its trits, and a number is that of its bucket or its negative.
    #[test]
    fn trits_are_balanced() {
        for together in [3, 7] {
            let trits = Trits::new(together);
            assert_eq!(trits.slots.len(), 2 * trits.buckets.len() + 1);
            for place in 0..together {
                let mut counts = [0; 3];
                for slot in &trits.slots {
                    let trit = slot
                        .map_or(0, |(bucket, negative)| trits.buckets[bucket][place] * if negative { -1 } else { 1 });
                    counts[(trit + 1) as usize] += 1;
                }
                assert_eq!(counts, [trits.slots.len() / 3; 3]);
            }
        }
    }

    /// The sums at all places are those of the points with their trits, which are read from the same words.
    #[test]
    fn sums_are_those_of_the_trits() {
        let points: Vec<G1> = hashed(300);
        let random = random(7, points.len());
        let mut expected = vec![Vec::new(); TRITS];
        for (point, words) in points.iter().zip(&random) {
            for (word, bits) in words.iter().enumerate() {
                let mut rest = *bits;
                for number in 0..OF_WORD / 3 {
                    let product = 27 * u128::from(rest);
                    rest = product as u64;
                    for place in 0..3 {
                        let summand = match (product >> 64) as usize / 3_usize.pow(place) % 3 {
                            0 => G1::IDENTITY,
                            1 => *point,
                            _ => point.negate(),
                        };
                        expected[word * OF_WORD + number * 3 + place as usize].push(summand);
                    }
                }
            }
        }
        let expected: Vec<G1> = expected.iter().map(|summands| Backend::Portable.sum(summands)).collect();
        let serial = <crate::backend::serial::Serial>::new();
        let found: Vec<G1> = sums(serial, G1::slice(&points), &random).into_iter().map(G1::wrap).collect();
        assert_eq!(found, expected);
    }

    /// A point of each small order, and one of every order at once, among many members, at several places.
    fn finds<G: Bls12381Group>(small: &[G::Affine]) {
        let members: Vec<G> = hashed(40);
        let is_outside = |point: &&G::Affine| !Backend::Portable.is_member(&G::wrap(**point));
        let small: Vec<_> = small.iter().filter(is_outside).collect();
        for backend in Backend::available() {
            for n in [0, 1, 255, 256, 300] {
                let points: Vec<G> = members.iter().cycle().take(n).copied().collect();
                assert!(backend.all_in_subgroup(&points, &random(1, points.len())), "{backend}, {n} members");
                for (i, outside) in small.iter().enumerate().filter(|_| n > 0) {
                    let mut points = points.clone();
                    let place = i * 37 % n;
                    // As it is, and hidden behind a member.
                    points[place] =
                        if i % 2 == 0 { G::wrap(**outside) } else { backend.sum(&[points[place], G::wrap(**outside)]) };
                    assert!(
                        !backend.all_in_subgroup(&points, &random(i as u64, points.len())),
                        "{backend}, {n}, point {i}"
                    );
                }
            }
        }
    }

    #[test]
    fn points_outside_g1_are_found() {
        finds::<G1>(&small_g1());
    }

    #[test]
    fn points_outside_g2_are_found() {
        finds::<G2>(&small_g2());
    }

    /// Pairs of opposite points outside cancel in a plain sum, but not with random trits. More points than are checked
    /// together, with the one outside in the last part.
    #[test]
    fn points_that_cancel_and_many_points() {
        let outside = <G1 as Sealed>::wrap(small_g1()[0]);
        let mut points: Vec<G1> = hashed(64).into_iter().cycle().take(TOGETHER + 300).collect();
        let backend = Backend::auto();
        assert!(backend.all_in_subgroup(&points, &random(3, points.len())));
        let last = points.len() - 1;
        points[last] = outside;
        points[last - 1] = outside.negate();
        assert!(!backend.all_in_subgroup(&points, &random(3, points.len())));
        points.swap(last, 5);
        points.swap(last - 1, 6);
        assert!(!backend.all_in_subgroup(&points, &random(3, points.len())));
    }
}
