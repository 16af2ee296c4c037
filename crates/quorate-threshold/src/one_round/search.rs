//! Finding a digit from its multiple of the generator: small steps in a table, and large steps until one of them meets it
//! (Shanks, 1971).

use std::collections::HashMap;

use quorate::{Backend, Options, threads::parallel_chunks};
use quorate_curve::{Bls12381Group, G1, Group, Segments};

/// The small steps: the multiples 1·b to n·b of a base b, which stand for those up to -n·b, too. It serves for any number of digits.
pub(super) struct DigitTable {
    base: G1,
    small: i64,
    places: HashMap<u64, u32>,
    backend: Backend,
}

/// Large steps on both sides of zero. However many they are, a few thousand are in memory.
pub(super) struct LargeSteps {
    /// 0, -1, -2 and so on times the distance, as multiples of b: what is added to a point that stands at the first of some.
    near: Vec<G1>,
    each_side: i64,
}

/// Small steps for the digits of honest dealers: as many as there are large ones for 11 digits.
pub(super) const NEAR: i64 = 1 << 17;

/// Small steps for digits as large as can be proven, in some 72 MB: 17 bytes for each of 2^22 places.
pub(super) const FAR: i64 = 1 << 21;

/// The steps of one kind that are points at a time, on each thread.
const TOGETHER: usize = 1 << 12;

/// How many times so many small steps are computed before they are put into the table.
const BLOCKS: usize = 16;

impl DigitTable {
    pub(super) fn new(base: G1, small: i64, options: &Options) -> Self {
        let mut places = HashMap::with_capacity(small as usize);
        let first = multiples(base, (small as usize).min(TOGETHER), options);
        let distance = Backend::Portable.short_msm(&[(base, TOGETHER as i64)]);
        let further = multiples(distance, (small as usize - 1) / TOGETHER, options);
        let starts: Vec<_> = std::iter::once(G1::IDENTITY).chain(further).collect();
        let mut numbers = 1..=small as u32;
        for starts in starts.chunks(BLOCKS) {
            // All points at once would take three times as much memory as the table.
            let steps = parallel_chunks(options.threads, starts, 1, |starts| {
                let block = |start: &G1| {
                    options.backend.sums(&first.iter().map(|step| [*start, *step]).collect::<Segments<G1>>())
                };
                starts.iter().flat_map(block).map(|step| short(&step)).collect()
            });
            places.extend(steps.into_iter().zip(&mut numbers));
        }
        Self { base, small, places, backend: options.backend }
    }

    /// The distance of two large steps: they and the small steps around them meet every number once.
    fn large(&self) -> i64 {
        2 * self.small + 1
    }

    /// The large steps for numbers of up to `farthest` on both sides.
    pub(super) fn large_steps(&self, farthest: i64, options: &Options) -> LargeSteps {
        let each_side = (farthest.saturating_sub(self.small).max(0) as usize).div_ceil(self.large() as usize);
        let base = Backend::Portable.short_msm(&[(self.base, -self.large())]);
        let near = std::iter::once(G1::IDENTITY).chain(multiples(base, (2 * each_side).min(TOGETHER - 1), options));
        LargeSteps { near: near.collect(), each_side: each_side as i64 }
    }

    /// The number n of each point n·b, if it is one that the steps meet.
    ///
    /// Every step is taken for every point, so that the time does not depend on where the numbers are. Which places of the
    /// table are looked up depends on them.
    pub(super) fn find(&self, points: &[G1], steps: &LargeSteps, options: &Options) -> Vec<Option<i64>> {
        let firsts = || (-steps.each_side..=steps.each_side).step_by(TOGETHER);
        let pairs: Vec<_> = (0..points.len()).flat_map(|place| firsts().map(move |first| (place, first))).collect();
        let found = parallel_chunks(options.threads, &pairs, 1, |pairs| {
            pairs.iter().map(|(place, first)| (*place, self.find_among(points[*place], *first, &steps.near))).collect()
        });
        let mut numbers = vec![None; points.len()];
        for (place, number) in found {
            numbers[place] = numbers[place].or(number);
        }
        numbers
    }

    /// The number, if it is near one of the large steps from the one of this number on.
    fn find_among(&self, point: G1, first: i64, near: &[G1]) -> Option<i64> {
        let begin = Backend::Portable.short_msm(&[(self.base, -first * self.large())]);
        let begin = Backend::Portable.sum(&[point, begin]);
        let sums = self.backend.sums(&near.iter().map(|step| [begin, *step]).collect::<Segments<G1>>());
        let mut found = None;
        for (sum, step) in sums.iter().zip(first..) {
            if let Some(small) = self.small(sum) {
                found = Some(step * self.large() + small);
            }
        }
        found
    }

    /// n for n·b, if it is among the small steps.
    fn small(&self, point: &G1) -> Option<i64> {
        if point.is_identity() {
            return Some(0);
        }
        let place = i64::from(*self.places.get(&short(point))?);
        // One multiple for both signs: the time does not tell which of them it is.
        let multiple = Backend::Portable.short_msm(&[(self.base, place)]);
        let signed = [(multiple, place), (multiple.negate(), -place)];
        signed.into_iter().find_map(|(multiple, n)| (multiple == *point).then_some(n))
    }
}

/// The lowest 64 bits of x: the same for a point and its negative.
fn short(point: &G1) -> u64 {
    let bytes = point.compress();
    u64::from_be_bytes(bytes.as_ref()[40..].try_into().expect("8 bytes"))
}

/// b, 2·b, 3·b and so on.
fn multiples(base: G1, count: usize, options: &Options) -> Vec<G1> {
    let mut multiples = Vec::with_capacity(count);
    multiples.extend((count > 0).then_some(base));
    while multiples.len() < count {
        let last = multiples[multiples.len() - 1];
        let new = (count - multiples.len()).min(multiples.len());
        let sums = parallel_chunks(options.threads, &multiples[..new], TOGETHER, |multiples| {
            options.backend.sums(&multiples.iter().map(|multiple| [*multiple, last]).collect::<Segments<G1>>())
        });
        multiples.extend(sums);
    }
    multiples
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: i64 = NEAR;
    const LARGE: i64 = 2 * SMALL + 1;

    #[test]
    fn numbers_are_found_on_both_sides_up_to_the_last_step() {
        let options = Options::default();
        let table = DigitTable::new(G1::generator(), SMALL, &options);
        let steps = table.large_steps(5 * LARGE, &options);
        let farthest = 5 * LARGE + SMALL;
        let numbers =
            [0, 1, -1, SMALL, -SMALL, SMALL + 1, -SMALL - 1, LARGE, 1_234_567, -1_300_000, farthest, -farthest];
        let point = |n: i64| Backend::Portable.short_msm(&[(G1::generator(), n)]);
        let points: Vec<_> = numbers.iter().map(|n| point(*n)).collect();
        assert_eq!(table.find(&points, &steps, &options), numbers.map(Some));
        assert_eq!(table.find(&[point(farthest + 1), point(-farthest - 1)], &steps, &options), [None, None]);
    }

    /// The table is made in blocks, and the last one may not be whole.
    #[test]
    fn tables_of_any_size_have_every_small_step() {
        let options = Options::default();
        let all = multiples(G1::generator(), BLOCKS * TOGETHER + 1, &options);
        for small in
            [1, TOGETHER - 1, TOGETHER, TOGETHER + 1, 3 * TOGETHER + 5, BLOCKS * TOGETHER, BLOCKS * TOGETHER + 1]
        {
            let table = DigitTable::new(G1::generator(), small as i64, &options);
            let expected: HashMap<u64, u32> = all[..small].iter().map(short).zip(1..).collect();
            assert!(table.places == expected && expected.len() == small, "{small}");
        }
    }

    /// More steps than are in memory: the first and the last ones that are taken together, and the numbers between two of them.
    #[test]
    fn numbers_are_found_among_many_steps() {
        let options = Options::default();
        let table = DigitTable::new(G1::generator(), SMALL, &options);
        let each_side = TOGETHER as i64 + 7;
        let steps = table.large_steps(each_side * LARGE + SMALL, &options);
        assert_eq!((steps.each_side, steps.near.len()), (each_side, TOGETHER));
        let edges = [-each_side, TOGETHER as i64 - each_side - 1, TOGETHER as i64 - each_side, each_side];
        let numbers: Vec<_> =
            edges.iter().flat_map(|step| [-SMALL, 0, SMALL].map(|small| step * LARGE + small)).collect();
        let points: Vec<_> = numbers.iter().map(|n| Backend::Portable.short_msm(&[(G1::generator(), *n)])).collect();
        let found: Vec<_> = table.find(&points, &steps, &options).into_iter().flatten().collect();
        assert_eq!(found, numbers);
    }
}
