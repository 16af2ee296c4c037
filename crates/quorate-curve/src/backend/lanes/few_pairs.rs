//! The Miller loop of one product of few pairs, for when there are not enough to fill the lanes with values.
//!
//! The value has its coefficients in the lanes ([`Spread`]), and every line is multiplied into it. The steps have a pair in each lane. One
//! pair or two have four slots in a vector: a doubling computes four products of each pair at a time, and three products in lanes are
//! enough for its twelve. No step needs an inversion: the point of one pair or two is projective, that of more is Jacobian.

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
///
/// The point is (X/Z, Y/Z). The curve is y² = x³ + b, and W = 3b·Z stands beside the coordinates, so that each product has a slot.
pub(super) struct Two<P> {
    /// X, Y, Z and W.
    pub(super) point: Fp2<P>,
    /// The base in every slot.
    base: Point<Fp2<P>>,
    /// What is multiplied last: anything, the constants of the line, and 3b.
    pub(super) constants: Fp2<P>,
}

const FIRST: Mask = 0b11;
const SECOND: Mask = 0b1100;
const THIRD: Mask = 0b11_0000;
const LAST: Mask = 0b1100_0000;

/// The lanes from which four slots come.
const fn slots([a, b, c, d]: [i64; 4]) -> [i64; LANES] {
    [2 * a, 2 * a + 1, 2 * b, 2 * b + 1, 2 * c, 2 * c + 1, 2 * d, 2 * d + 1]
}

/// One slot everywhere.
#[inline(always)]
fn everywhere<F: Field>(c: &F, slot: i64) -> F {
    c.permuted(slots([slot; 4]))
}

/// A slot of each of four vectors, in which it stands at the same place.
#[inline(always)]
fn each_slot<F: Field>(a: &F, b: &F, c: &F, d: &F) -> F {
    a.or(FIRST, &b.or(SECOND, &c.or(THIRD, d)))
}

impl<P: PrimeField> Two<P> {
    /// The pairs of the first two lanes.
    #[inline(always)]
    pub(super) fn new((x, y): &Point<Fp2<P>>, (a, b): &(P, P)) -> Self {
        let lanes = a.lanes();
        let (x, y) = (everywhere(x, 0), everywhere(y, 0));
        // The base says which curve it is on.
        let b_of_curve = y.squared().minus(&x.squared().times(&x)).carried();
        let three_b = b_of_curve.doubled().plus(&b_of_curve).shrunk();
        let constant = |c: &P| everywhere(&Fp2::new(*c, P::zero(lanes)), 0);
        Self {
            point: each_slot(&x, &y, &Fp2::one(lanes), &three_b),
            base: (x, y),
            constants: each_slot(&three_b, &constant(a), &constant(b), &three_b),
        }
    }

    /// Three times four products. With B = Y², E = W·Z = 3b·Z² and H = 2YZ the tangent has λ = 3X²/H and λ·x - y = (B - E)/H, and the
    /// next point is 2XY·(B - 3E), (B + 3E)² - 12E², 4BH.
    #[inline(always)]
    pub(super) fn double(&mut self) -> ScaledLines<P> {
        let point = &self.point;
        // X², B, E and H
        let left = point.permuted(slots([0, 1, 3, 1]));
        let first = left.doubled().or(LAST, &left).times(&point.permuted(slots([0, 1, 2, 2])));
        let doubled = first.doubled();
        let tripled = doubled.plus(&first).shrunk();
        // B + 3E, and in their slots B - 3E and B - E
        let (b, three_e) = (everywhere(&first, 1), everywhere(&tripled, 2));
        let sum = b.plus(&three_e);
        let differences = b.minus(&first.or(THIRD, &three_e)).carried();
        // 2XY, (B + 3E)², 12E² and 4BH
        let left = each_slot(&point.doubled(), &sum, &doubled, &b.doubled());
        let right = each_slot(&everywhere(point, 1), &sum, &tripled.doubled(), &doubled);
        let second = left.times(&right);
        // X, 3X² and B - E times the constants of the line, and W
        let left = each_slot(&second, &everywhere(&tripled, 0), &differences, &second);
        let third = left.times(&differences.or(FIRST, &self.constants));
        let y = second.minus(&everywhere(&second, 2));
        self.point = each_slot(&third, &y, &everywhere(&second, 3), &third).shrunk();
        scaled_lines(first, 3, &third)
    }

    /// Five times four products. With θ = Y - y·Z and h = X - x·Z the chord has λ = θ/h and λ·x - y = (θ·x - h·y)/h. With V = X·h² and
    /// G = h³ + Z·θ² - 2V the next point is h·G, θ·(V - G) - h³·Y, h³·Z.
    #[inline(always)]
    pub(super) fn add(&mut self, step: &LoopStep) -> ScaledLines<P> {
        let (x, y) = added(step, &self.base);
        let point = &self.point;
        let z = everywhere(point, 2);
        // h, θ, h and θ
        let differences = point.minus(&x.or(FIRST, &y).times(&z)).shrunk().permuted(slots([0, 1, 0, 1]));
        // h², θ², h·y and θ·x
        let first = differences.times(&each_slot(&differences, &differences, &y, &x));
        // h³, θ times its constant, V and Z·θ²
        let left = each_slot(&differences, &differences, &everywhere(point, 0), &z);
        let second = left.times(&self.constants.or(SECOND, &first.permuted(slots([0, 0, 0, 1]))));
        let (hhh, v) = (everywhere(&second, 0), everywhere(&second, 2));
        let g = hhh.plus(&everywhere(&second, 3)).minus_sum(&v.doubled()).shrunk();
        // X, θ·(V - G), h³·Y and Z
        let left = differences.or(FIRST | SECOND, &point.permuted(slots([0, 0, 1, 2])));
        let third = left.times(&each_slot(&g, &v.minus(&g).carried(), &hhh, &hhh));
        let y = third.minus(&everywhere(&third, 2));
        // The rest times its constant, and W
        let rest = everywhere(&first, 3).minus(&first).carried();
        let fourth = rest.or(THIRD, &third).times(&self.constants);
        self.point = each_slot(&third, &y, &everywhere(&third, 3), &fourth).shrunk();
        scaled_lines(differences, 0, &second.or(SECOND, &fourth))
    }
}

/// The lines with the scale of a slot. The second slot of `line` has the slope times its constant, and the third one the rest.
#[inline(always)]
fn scaled_lines<P: PrimeField>(scale: Fp2<P>, slot: i64, line: &Fp2<P>) -> ScaledLines<P> {
    if P::Curve::TWIST_MULTIPLIES {
        let line = turned(line).shrunk();
        ScaledLines { coefficients: [scale, line, line], lanes: [2 * slot, 4, 2] }
    } else {
        ScaledLines { coefficients: [scale, *line, *line], lanes: [2 * slot, 2, 4] }
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
