//! The Miller loop of one product of few pairs, for when there are not enough to fill the lanes with values.
//!
//! The value has its coefficients in the lanes ([`Spread`]), and every line is multiplied into it. The steps have a pair in each lane. One
//! pair or two have four slots in a vector: a doubling computes four products of each pair at a time, and four products in lanes are
//! enough for its thirteen. All steps are Jacobian, so that none needs an inversion.

use alloc::vec::Vec;

use super::{
    field::{Extension, Field, LANES, Lanes, LoopStep, Mask, Parameters, PrimeField},
    fp2::Fp2,
    instructions::in_lanes,
    spread::{ScaledLines, Spread},
    steps::{
        Jacobian, Pair, Point, Value, added, at_point, ate_constants, denominator, each_ate_constants, each_line,
        generators, idle, load, load_pairs, turned,
    },
};

/// The product of the ate pairing over the pairs.
pub(super) fn ate<L: Lanes>(lanes: L, pairs: &[Pair<L>]) -> Value<L> {
    if pairs.len() <= 2 { of_two(lanes, pairs) } else { of_more(lanes, pairs) }
}

in_lanes! {
    /// It allocates nothing.
    fn of_two<L: Lanes>(lanes: L, pairs: &[Pair<L>]) -> Value<L> {
        let generators = generators::<L>();
        let (p, q) = load_pairs::<L>(lanes, core::array::from_fn(|lane| pairs.get(lane).unwrap_or(&generators)));
        let constants = ate_constants(&p, &denominator(&p).inverted(), 0);
        let mut two = Two::new(&q, &constants);
        looped(lanes, |f, step| {
            let lines = take(lanes, &mut two, step);
            for pair in 0..pairs.len() {
                *f = f.times_line(&lines, pair);
            }
        })
    }

    fn of_more<L: Lanes>(lanes: L, pairs: &[Pair<L>]) -> Value<L> {
        let mut each = [&[][..]; LANES];
        each.iter_mut().zip(pairs.chunks(pairs.len().div_ceil(LANES))).for_each(|(lane, pairs)| *lane = pairs);
        let (p, q) = load::<L>(lanes, &each);
        let idle = idle(&each);
        let constants = each_ate_constants(lanes, &p, &idle);
        let mut points: Vec<_> = q.iter().map(Jacobian::of).collect();
        looped(lanes, |f, step| {
            let all = constants.iter().copied().zip(idle.iter().copied());
            each_line(step, &mut points, &q, all, |line, (constants, idle)| {
                let (a, b) = at_point(&line.slope, &line.rest, &constants);
                let lines = ScaledLines { coefficients: [line.scale, a, b], lanes: [0; 3] };
                for lane in (0..LANES).filter(|lane| idle >> lane & 1 == 0) {
                    *f = f.times_line(&lines, lane);
                }
            });
        })
    }

    #[inline(never)]
    fn take<P: PrimeField>(lanes: P::Lanes, two: &mut Two<P>, step: &LoopStep) -> ScaledLines<P> {
        if *step == LoopStep::Double { two.double() } else { two.add(step) }
    }
}

/// The value of the loop. `times_lines` multiplies the lines of a step into it.
#[inline(always)]
fn looped<L: Lanes>(lanes: L, mut times_lines: impl FnMut(&mut Spread<L::Fp>, &LoopStep)) -> Value<L> {
    let mut f = Spread::<L::Fp>::one(lanes);
    for (i, step) in L::Curve::LOOP.iter().enumerate() {
        // The first square of one is one.
        if i > 0 && *step == LoopStep::Double {
            f = f.squared();
        }
        times_lines(&mut f, step);
    }
    if L::Curve::IS_LOOP_NEGATIVE { f.conjugated().store() } else { f.store() }
}

/// One pair, or two. A vector has four slots of two lanes, one for each pair.
pub(super) struct Two<P> {
    /// x, y and z of the point in the first three slots.
    pub(super) point: Fp2<P>,
    /// The base in the first slot.
    base: Point<Fp2<P>>,
    /// The constants of the line in the first slot.
    constants: (P, P),
    /// The same in the second slot and the third.
    constants_in_slots: Fp2<P>,
}

/// The first slot, the third and the last.
const FIRST: Mask = 0b11;
const THIRD: Mask = 0b11_0000;
const LAST: Mask = 0b1100_0000;

/// The lanes from which four slots come. From the fifth on they are those of a second vector.
const fn slots([a, b, c, d]: [i64; 4]) -> [i64; LANES] {
    [2 * a, 2 * a + 1, 2 * b, 2 * b + 1, 2 * c, 2 * c + 1, 2 * d, 2 * d + 1]
}

/// A vector with the first slots of three others.
#[inline(always)]
fn slots_of<F: Field>(a: &F, b: &F, c: &F) -> F {
    a.gathered(b, slots([0, 4, 0, 0])).gathered(c, slots([0, 1, 4, 0]))
}

impl<P: PrimeField> Two<P> {
    /// The pairs of the first two lanes.
    #[inline(always)]
    pub(super) fn new(base: &Point<Fp2<P>>, (a, b): &(P, P)) -> Self {
        let lanes = a.lanes();
        let of_fp = |c: &P| Fp2::new(*c, P::zero(lanes));
        Self {
            point: slots_of(&base.0, &base.1, &Fp2::one(lanes)),
            base: *base,
            constants: (*a, *b),
            constants_in_slots: slots_of(&of_fp(a), &of_fp(a), &of_fp(b)),
        }
    }

    /// The formulas of [`Jacobian::double`], and the line at the other point.
    #[inline(always)]
    pub(super) fn double(&mut self) -> ScaledLines<P> {
        let point = &self.point;
        // x², y², z², 2yz
        let left = point.permuted(slots([0, 1, 2, 1]));
        let squares = left.doubled().or(LAST, &left).times(&point.permuted(slots([0, 1, 2, 2])));
        // λ = 3x², and 2y²
        let doubled = squares.doubled();
        let slope = doubled.plus(&squares).or(FIRST, &doubled).shrunk();
        // x·y², y⁴, λ², λ·x
        let left = squares.gathered(&slope, slots([1, 1, 4, 4]));
        let right = point.gathered(&squares, slots([0, 5, 0, 0])).gathered(&slope, slots([0, 1, 4, 3]));
        let products = left.times(&right);
        // λ·z², 2yz³
        let scaled = slope.gathered(&squares, slots([0, 7, 0, 0])).times(&squares.permuted(slots([2, 2, 2, 2])));
        // x = λ² - 8x·y², λ·x - 2y², and z = 2yz
        let four = products.doubled().doubled().shrunk();
        let eight = four.doubled();
        let less = eight.gathered(&slope, slots([0, 5, 0, 0]));
        let less = Fp2::zero(point.lanes()).or(THIRD, &less);
        let x = products.gathered(&squares, slots([2, 3, 7, 2])).minus_sum(&less).shrunk();
        // λ·(4x·y² - x), and λ·z² and λ·x - 2y² times the constants of the other point
        let left = slope.gathered(&scaled, slots([0, 4, 0, 0])).gathered(&x, slots([0, 1, 5, 0]));
        let drop = four.minus(&x).carried();
        let line = left.times(&drop.gathered(&self.constants_in_slots, slots([0, 5, 6, 0])));
        let y = line.minus_sum(&eight.permuted(slots([1, 1, 1, 1]))).shrunk();
        self.point = x.gathered(&y, slots([0, 4, 2, 0]));
        if P::Curve::TWIST_MULTIPLIES {
            let line = turned(&line).shrunk();
            ScaledLines { coefficients: [scaled, line, line], lanes: [2, 4, 2] }
        } else {
            ScaledLines { coefficients: [scaled, line, line], lanes: [2, 2, 4] }
        }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, step: &LoopStep) -> ScaledLines<P> {
        let [x, y, z] = [0, 1, 2].map(|slot| self.point.permuted(slots([slot; 4])));
        let mut point = Jacobian { x, y, z };
        let line = point.add(&added(step, &self.base));
        self.point = slots_of(&point.x, &point.y, &point.z);
        let (a, b) = at_point(&line.slope, &line.rest, &self.constants);
        ScaledLines { coefficients: [line.scale, a, b], lanes: [0; 3] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Backend, G1, G2,
        backend::{finite, lanes::tests::in_each_kind},
        pairing::{MillerValue, Pairing},
    };

    in_each_kind! {
        /// Every count up to more than two in each lane, after the final exponentiation, which removes the factors of the lines.
        fn values_are_the_portable_ones(lanes: L) {
            if L::WIDTH < LANES {
                return;
            }
            let b = Backend::Portable;
            let names: Vec<_> = (0..18_u8).map(|i| [i]).collect();
            let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
            let (p, q) = (b.hash_to_curve::<G1>(b"p", &messages), b.hash_to_curve::<G2>(b"q", &messages));
            let pairs: Vec<_> = p.into_iter().zip(q).collect();
            for n in 0..=pairs.len() {
                let some: Vec<_> = pairs[..n].iter().copied().filter_map(finite).collect();
                let value = MillerValue::new(Pairing::Ate, ate(lanes, &some));
                let expected = b.final_exponentiation(b.miller_product(&pairs[..n]));
                assert_eq!(b.final_exponentiation(value), expected, "{n} pairs");
            }
        }
    }
}
