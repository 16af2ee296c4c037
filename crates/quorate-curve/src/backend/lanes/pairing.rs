//! Miller loops of eight products at a time, and the final exponentiation of eight values at a time or of single ones.
//!
//! Each lane computes a product of its own. Steps on the curve are affine, and one inversion serves all pairs and lanes
//! of a step. A line is scaled by factors that the final exponentiation removes, until it is 1 + (2a + 2b·v)·v^s·w, so
//! that eight products in Fp2 multiply it into the value ([`Accumulator::times_line`]). If few pairs share an
//! inversion, the steps are Jacobian instead and need none. Then a line has a scale in the place of 1, which the final
//! exponentiation removes too, and costs six products more.
//!
//! **The ate pairing** steps along multiples of Q. If the twist multiplies by ξ, as that of BLS12-381 does by 1 + i, E' is mapped to E by
//! (x, y) → (x/w², y/w³). The line through T with slope λ has this value at P, divided by y_P:
//!
//! ```text
//! 1 - λ·x_P/y_P · w⁻¹ + (λ·x_T - y_T)/y_P · w⁻³,    w⁻¹ = v²·w/(1 + i),    w⁻³ = v·w/(1 + i)
//! ```
//!
//! If it divides by ξ, as that of BN254 does by 9 + i, E' is mapped to E by (x, y) → (x·w², y·w³), and the line is
//! 1 - λ·x_P/y_P · w + (λ·x_T - y_T)/y_P · w³.
//!
//! **The twisted ate pairing** of BLS12-381 steps along multiples of P, whose coordinates are in Fp. The line has this value at Q,
//! times w³/y_Q:
//!
//! ```text
//! 1 - λ·x_Q/y_Q · w + (λ·x_T - y_T)/y_Q · w³
//! ```
//!
//! Its loop is twice as long: f(x², P) = f(|x|, P)^|x| · f(|x|, [|x|]P). It is bilinear for P of order r and every Q of
//! E'(Fp2). `docs/soundness.md` has the proof.

use alloc::vec::Vec;

use super::{
    few_pairs,
    field::{Extension, Field, LANES, Lanes, LoopStep, Parameters, PrimeField, invert_all},
    fp2::Fp2,
    fp12::{Accumulator, Fp12},
    instructions::in_lanes,
    lines::{self, Line, Lines},
    spread::Spread,
    steps::{
        G1, G2, Jacobian, Pair, Point, Value, added, at_point, at_twisted_point, each_ate_constants, each_line, idle,
        in_vectors, load, load_point, turned, twisted_constants,
    },
};
use crate::{
    arithmetic::{Curve, curve::PARAMETER},
    pairing::{Bls12381, Gt, MillerValue, Pairing, sealed::Target},
    segments::Cut,
};

/// A value for each segment of pairs. `finite` gives the points of a pair, or `None` if one of them is the identity.
///
/// A segment of few pairs is left to [`few_pairs`], if it is the only one or if all have few together. Otherwise eight segments at a time
/// share a loop. Fewer segments are cut, so that every lane has work. If four lanes cost less than eight, up to four segments take four,
/// and so do long segments.
pub(crate) fn ate_products<L: Lanes, T>(
    lanes: L,
    pairs: Cut<'_, T>,
    finite: impl Fn(&T) -> Option<Pair<L>>,
) -> Vec<MillerValue<L::Curve>> {
    let in_lanes = |pairs| {
        let products = |pairs: [&[Pair<L>]; LANES], width| match width < LANES {
            false => ate_of_even_lanes(lanes, pairs),
            true => ate(lanes.narrow(), pairs),
        };
        each_product(lanes, Pairing::Ate, pairs, &finite, products)
    };
    if pairs.len() == 1 || pairs.items().len() < L::THRESHOLDS.pairs {
        let few = pairs.iter().filter(|pairs| pairs.len() <= L::THRESHOLDS.spread_pairs);
        let few = few.map(|pairs| product_of_few(lanes, &pairs.iter().filter_map(&finite).collect::<Vec<_>>()));
        let values: Vec<_> = few.flatten().collect();
        if values.len() == pairs.len() {
            return values;
        }
    }
    if pairs.items().len() < L::THRESHOLDS.pairs {
        return L::Curve::miller_products(pairs, &finite);
    }
    let left = pairs.items().len() % <L::Narrow as Lanes>::WIDTH;
    if pairs.len() > 1 || left >= L::THRESHOLDS.pairs_left {
        return in_lanes(pairs);
    }
    let (pairs, rest) = pairs.items().split_at(pairs.items().len() - left);
    let values = in_lanes(Cut::new(pairs, &[pairs.len()]));
    let rest = L::Curve::miller_products(Cut::new(rest, &[rest.len()]), &finite);
    alloc::vec![values[0] * rest[0]]
}

/// The same in these lanes alone: BN254 has no other loop.
#[cfg(feature = "bn254")]
pub(crate) fn ate_products_in_lanes<L: Lanes, T>(
    lanes: L,
    pairs: Cut<'_, T>,
    finite: impl Fn(&T) -> Option<Pair<L>>,
) -> Vec<MillerValue<L::Curve>> {
    each_product(lanes, Pairing::Ate, pairs, &finite, |pairs, width| {
        if width < LANES { ate(lanes.narrow(), pairs) } else { ate(lanes, pairs) }
    })
}

/// The product of the ate pairing over the pairs, or `None` if they are not few for these lanes. Over two it allocates nothing, and over
/// none it costs nothing.
pub(crate) fn product_of_few<L: Lanes>(lanes: L, pairs: &[Pair<L>]) -> Option<MillerValue<L::Curve>> {
    if pairs.is_empty() {
        return Some(MillerValue::ONE);
    }
    if const { L::WIDTH == LANES && L::THRESHOLDS.spread_pairs > 0 } && pairs.len() <= L::THRESHOLDS.spread_pairs {
        return Some(MillerValue::new(Pairing::Ate, few_pairs::ate(lanes, pairs)));
    }
    None
}

/// The same as [`ate_products`] for the twisted ate pairing.
pub(crate) fn twisted_products<L: Lanes<Curve = Bls12381>, T>(
    lanes: L,
    pairs: Cut<'_, T>,
    finite: impl Fn(&T) -> Option<Pair<L>>,
) -> Vec<MillerValue> {
    each_product(lanes, Pairing::TwistedAte, pairs, &finite, |pairs, width| {
        if width < LANES { twisted(lanes.narrow(), pairs) } else { twisted(lanes, pairs) }
    })
}

/// The products of eight lanes. If one lane has a pair more than all others, it is left to the portable backend.
fn ate_of_even_lanes<L: Lanes>(lanes: L, mut pairs: [&[Pair<L>]; LANES]) -> [Value<L>; LANES] {
    let most = pairs.iter().map(|pairs| pairs.len()).max().unwrap_or(0);
    let mut longest = pairs.iter_mut().enumerate().filter(|(_, pairs)| pairs.len() == most);
    let (Some((lane, longest)), None, true) =
        (longest.next(), longest.next(), most > 1 && L::THRESHOLDS.pairs_left > 1)
    else {
        return ate(lanes, pairs);
    };
    let (even, left) = longest.split_at(most - 1);
    *longest = even;
    let left = L::Curve::miller_products(Cut::new(left, &[1]), |pair| Some(*pair));
    let mut values = ate(lanes, pairs);
    values[lane] = L::Curve::multiply(&values[lane], &left[0].value);
    values
}

/// A value for each segment of pairs with prepared points. `finite` gives a point of G1 and the lines of a point of G2,
/// or `None` if either point is the identity. There must be at least two pairs.
pub(crate) fn miller_products_prepared<'a, L: Lanes, T: 'a>(
    lanes: L,
    pairs: Cut<'a, T>,
    finite: impl Fn(&'a T) -> Option<PreparedPair<'a, L>>,
) -> Vec<MillerValue<L::Curve>> {
    each_product(lanes, Pairing::Ate, pairs, finite, |pairs, width| {
        if width < LANES { ate_prepared(lanes.narrow(), pairs) } else { ate_prepared(lanes, pairs) }
    })
}

/// Distributes the segments among the lanes. `finite` converts a pair for `products`, or leaves it out. `products` is told
/// how many lanes are used.
fn each_product<'a, L: Lanes, P: 'a, Q>(
    _: L,
    pairing: Pairing,
    segments: Cut<'a, P>,
    finite: impl Fn(&'a P) -> Option<Q>,
    products: impl Fn([&[Q]; LANES], usize) -> [Value<L>; LANES],
) -> Vec<MillerValue<L::Curve>> {
    let segments: Vec<Vec<Q>> = segments.iter().map(|pairs| pairs.iter().filter_map(&finite).collect()).collect();
    let mut values = alloc::vec![MillerValue::ONE; segments.len()];
    let narrow = <L::Narrow as Lanes>::WIDTH;
    let longest = segments.iter().map(Vec::len).max().unwrap_or(0);
    let is_long = pairing == Pairing::Ate && longest >= L::THRESHOLDS.narrow_pairs;
    let most = if is_long { narrow } else { L::WIDTH };
    for (group, values) in segments.chunks(most).zip(values.chunks_mut(most)) {
        let mut lanes: [&[Q]; LANES] = [&[]; LANES];
        let width = if group.len() <= narrow { narrow } else { L::WIDTH };
        let cut = width / group.len();
        for (segment, lanes) in group.iter().zip(lanes.chunks_exact_mut(cut)) {
            let size = segment.len().div_ceil(cut).max(1);
            lanes.iter_mut().zip(segment.chunks(size)).for_each(|(lane, chunk)| *lane = chunk);
        }
        let made = products(lanes, width);
        for (i, made) in made.chunks_exact(cut).take(group.len()).enumerate() {
            if !group[i].is_empty() {
                let used = group[i].len().min(cut);
                let value = made[1..used].iter().fold(made[0], |a, b| L::Curve::multiply(&a, b));
                values[i] = MillerValue::new(pairing, value);
            }
        }
    }
    values
}

/// One element of Fp in memory.
pub(crate) type Row<L> = <<L as Lanes>::Fp as Field>::Row;

type PreparedPair<'a, L> = (G1<L>, &'a Lines<Row<L>>);

/// The pairs of eight lanes in a loop: the point that is multiplied, and the constants of a line that depend on the
/// other point.
pub(super) struct Steps<F, C> {
    pub(super) base: Vec<Point<F>>,
    pub(super) point: Vec<Point<F>>,
    pub(super) constants: Vec<C>,
    /// The denominators of a step.
    pub(super) inverses: Vec<F>,
}

in_lanes! {
    fn ate<L: Lanes>(lanes: L, pairs: [&[Pair<L>]; LANES]) -> [Value<L>; LANES] {
        let (p, q) = load::<L>(lanes, &pairs);
        let constants = each_ate_constants(lanes, &p, &idle(&pairs));
        let f = if const { L::THRESHOLDS.inversions > 1 } && q.len() < L::THRESHOLDS.inversions {
            let mut points: Vec<_> = q.iter().map(Jacobian::of).collect();
            ate_loop(lanes, |f, step| {
                each_line(&step, &mut points, &q, &constants, |line, constants| {
                    let (a, b) = at_point(&line.slope, &line.rest, constants);
                    if L::Curve::TWIST_MULTIPLIES {
                        f.times_scaled_line::<1>(&line.scale, &a, &b);
                    } else {
                        f.times_scaled_line::<0>(&line.scale, &a, &b);
                    }
                });
            })
        } else {
            let mut steps = Steps { point: q.clone(), base: q, constants, inverses: Vec::new() };
            ate_loop(lanes, |f, step| {
                steps.each_line(lanes, &step, f, &|f: &mut Accumulator<L::Fp>, slope: &Fp2<L::Fp>, rest: &Fp2<L::Fp>, constants: &(L::Fp, L::Fp)| {
                    let (a, b) = at_point(slope, rest, constants);
                    times_line(f, &a, &b);
                });
            })
        };
        f.store()
    }

    fn ate_prepared<L: Lanes>(lanes: L, pairs: [&[PreparedPair<'_, L>]; LANES]) -> [Value<L>; LANES] {
        // A lane without a pair may use any point, because its line becomes one.
        let Some(any) = pairs.iter().find_map(|pairs| pairs.first()) else { return [L::Curve::ONE; LANES] };
        let p: Vec<_> = in_vectors(&pairs, any).map(|at| load_point::<L::Fp, _>(lanes, &at.map(|(p, _)| p))).collect();
        let constants = each_ate_constants(lanes, &p, &idle(&pairs));
        let lines: Vec<_> = in_vectors(&pairs, any).map(|at| at.map(|(_, lines)| &lines[..])).collect();
        let mut step = 0;
        let f = ate_loop(lanes, |f, _| {
            for (lines, (a, b)) in lines.iter().zip(&constants) {
                let (slope, rest) = lines::gather(lanes, &lines.map(|lines| &lines[step]));
                let (slope, rest) = (slope.times_fp(a), rest.times_fp(b));
                if L::Curve::TWIST_MULTIPLIES { times_line(f, &rest, &slope) } else { times_line(f, &slope, &rest) }
            }
            step += 1;
        });
        f.store()
    }

    fn twisted<L: Lanes<Curve = Bls12381>>(lanes: L, pairs: [&[Pair<L>]; LANES]) -> [Value<L>; LANES] {
        let (p, q) = load::<L>(lanes, &pairs);
        let mut half_inverses: Vec<_> = q.iter().map(|(_, y)| y.doubled()).collect();
        invert_all(&mut half_inverses);
        let idle = idle(&pairs);
        let constants = q.iter().zip(&half_inverses).zip(&idle);
        let constants: Vec<_> = constants.map(|((q, inverse), idle)| twisted_constants(q, inverse, *idle)).collect();
        if const { L::THRESHOLDS.twisted_inversions > 1 } && p.len() < L::THRESHOLDS.twisted_inversions {
            let rounds = |bases: &[Point<L::Fp>], points: &mut [Jacobian<L::Fp>], start, power| {
                parameter_loop(start, power, |f, step| {
                    each_line(&step, points, bases, &constants, |line, constants| {
                        let (a, b) = at_twisted_point(&line.slope, &line.rest, constants);
                        f.times_scaled_line::<0>(&Fp2::new(line.scale, L::Fp::zero(lanes)), &a, &b);
                    });
                })
            };
            let mut points: Vec<_> = p.iter().map(Jacobian::of).collect();
            let first = rounds(&p, &mut points, Fp12::one(lanes), None);
            let bases = affine(lanes, &points);
            points = bases.iter().map(Jacobian::of).collect();
            return rounds(&bases, &mut points, first, Some(&first)).store();
        }
        let mut steps = Steps { point: p.clone(), base: p, constants, inverses: Vec::new() };
        let line = |f: &mut Accumulator<L::Fp>, slope: &L::Fp, rest: &L::Fp, constants: &(Fp2<L::Fp>, Fp2<L::Fp>)| {
            let (a, b) = at_twisted_point(slope, rest, constants);
            f.times_line::<0>(&a, &b);
        };
        let first = parameter_loop(Fp12::<L::Fp>::one(lanes), None, |f, step| steps.each_line(lanes, &step, f, &line));
        steps.base.clone_from(&steps.point);
        parameter_loop(first, Some(&first), |f, step| steps.each_line(lanes, &step, f, &line)).store()
    }
}

/// The number of points that are prepared at a time and share their inversions.
const PREPARED_AT_A_TIME: usize = 16 * LANES;

/// The lines of each point in the steps of the ate pairing: λ and λ·x_T - y_T, [`turned`] if the twist multiplies by ξ.
pub(crate) fn prepare<L: Lanes>(lanes: L, points: &[G2<L>]) -> impl Iterator<Item = Lines<Row<L>>> {
    points.chunks(PREPARED_AT_A_TIME).flat_map(move |points| prepare_lines(lanes, points))
}

in_lanes! {
    fn prepare_lines<L: Lanes>(lanes: L, points: &[G2<L>]) -> Vec<Lines<Row<L>>> {
        let generator = <G2<L>>::generator();
        let base: Vec<Point<Fp2<L::Fp>>> = points
            .chunks(LANES)
            .map(|chunk| {
                let at: [_; LANES] = core::array::from_fn(|lane| chunk.get(lane).unwrap_or(&generator));
                load_point(lanes, &at)
            })
            .collect();
        let mut lines: Vec<_> = points.iter().map(|_| Vec::with_capacity(L::Curve::LOOP.len())).collect();
        let constants = (0..base.len()).collect();
        let mut steps = Steps { point: base.clone(), base, constants, inverses: Vec::new() };
        let keep = |lines: &mut Vec<Vec<Line<_>>>, slope: &Fp2<L::Fp>, rest: &Fp2<L::Fp>, vector: &usize| {
            let made = if L::Curve::TWIST_MULTIPLIES {
                lines::scatter(&turned(slope).shrunk(), &turned(&rest.shrunk()).shrunk())
            } else {
                lines::scatter(&slope.shrunk(), &rest.shrunk())
            };
            lines[vector * LANES..].iter_mut().zip(made).for_each(|(lines, line)| lines.push(line));
        };
        for step in L::Curve::LOOP {
            steps.each_line(lanes, step, &mut lines, &keep);
        }
        lines.into_iter().map(Vec::into_boxed_slice).collect()
    }
}

/// Multiplies by 1 + (2a + 2b·v)·w, and times v if the twist multiplies by ξ.
#[inline(always)]
fn times_line<P: PrimeField>(f: &mut Accumulator<P>, a: &Fp2<P>, b: &Fp2<P>) {
    if P::Curve::TWIST_MULTIPLIES {
        f.times_line::<1>(a, b);
    } else {
        f.times_line::<0>(a, b);
    }
}

/// The value of the ate pairing's loop. `times_lines` multiplies the lines of a step into it.
#[inline(always)]
fn ate_loop<P: PrimeField>(lanes: P::Lanes, mut times_lines: impl FnMut(&mut Accumulator<P>, LoopStep)) -> Fp12<P> {
    let mut f = Accumulator::new(Fp12::one(lanes));
    for (i, step) in P::Curve::LOOP.iter().enumerate() {
        // The first square of one is one.
        if i > 0 && *step == LoopStep::Double {
            let value = f.value();
            *value = value.squared();
        }
        times_lines(&mut f, *step);
    }
    let value = *f.value();
    if P::Curve::IS_LOOP_NEGATIVE { value.conjugated() } else { value }
}

/// `start`^|x| times the lines of a loop. `times_lines` multiplies the lines of a step into the value. `power` is
/// multiplied in for each bit of |x| that is set below the highest.
#[inline(always)]
fn parameter_loop<P: PrimeField>(
    start: Fp12<P>,
    power: Option<&Fp12<P>>,
    mut times_lines: impl FnMut(&mut Accumulator<P>, LoopStep),
) -> Fp12<P> {
    let mut f = Accumulator::new(start);
    for bit in (0..63).rev() {
        // The first square of one is one.
        if power.is_some() || bit < 62 {
            let value = f.value();
            *value = value.squared();
        }
        times_lines(&mut f, LoopStep::Double);
        if PARAMETER >> bit & 1 == 1 {
            if let Some(power) = power {
                let value = f.value();
                *value = value.times(power);
            }
            times_lines(&mut f, LoopStep::Add);
        }
    }
    *f.value()
}

in_lanes! {
    /// The points in affine coordinates.
    fn affine<F: Field>(lanes: F::Lanes, points: &[Jacobian<F>]) -> Vec<Point<F>> {
        let mut inverses: Vec<_> = points.iter().map(|point| point.z).collect();
        invert_all(&mut inverses);
        let affine = |(point, inverse): (&Jacobian<F>, &F)| {
            let square = inverse.squared();
            (point.x.times(&square), point.y.times(&square.times(inverse)))
        };
        points.iter().zip(&inverses).map(affine).collect()
    }
}

impl<F: Field, C> Steps<F, C> {
    /// Takes a step of every point with one inversion for all, and multiplies the lines into f.
    #[inline(always)]
    pub(super) fn each_line<A>(
        &mut self,
        lanes: F::Lanes,
        step: &LoopStep,
        f: &mut A,
        line: &impl Fn(&mut A, &F, &F, &C),
    ) {
        match step {
            LoopStep::Double => double(lanes, self, f, line),
            _ => add(lanes, self, f, step, line),
        }
    }
}

in_lanes! {
    /// Doubles every point. The slope is 3x²/2y.
    fn double<F: Field, C, A>(lanes: F::Lanes, steps: &mut Steps<F, C>, f: &mut A, line: &impl Fn(&mut A, &F, &F, &C)) {
        steps.inverses.clear();
        steps.inverses.extend(steps.point.iter().map(|(_, y)| y.doubled()));
        invert_all(&mut steps.inverses);
        for (((x, y), inverse), constants) in steps.point.iter_mut().zip(&steps.inverses).zip(&steps.constants) {
            let square = x.squared();
            let slope = square.doubled().plus(&square).carried().times(inverse);
            let x_of_base = *x;
            step(x, y, &x_of_base, &slope, f, constants, line);
        }
    }
}

in_lanes! {
    /// Adds its base to every point. The slope is (y - y_base)/(x - x_base).
    fn add<F: Field, C, A>(
        lanes: F::Lanes, steps: &mut Steps<F, C>, f: &mut A, kind: &LoopStep, line: &impl Fn(&mut A, &F, &F, &C),
    ) {
        steps.inverses.clear();
        let differences = steps.point.iter().zip(&steps.base).map(|((x, _), base)| x.minus(&added(kind, base).0).carried());
        steps.inverses.extend(differences);
        invert_all(&mut steps.inverses);
        let bases = steps.base.iter().zip(&steps.constants);
        for (((x, y), inverse), (base, constants)) in steps.point.iter_mut().zip(&steps.inverses).zip(bases) {
            let (base_x, base_y) = added(kind, base);
            let slope = y.minus(&base_y).carried().times(inverse);
            step(x, y, &base_x, &slope, f, constants, line);
        }
    }
}

/// Multiplies the line through (x, y) into f and moves the point along the line.
#[inline(always)]
fn step<F: Field, C, A>(
    x: &mut F,
    y: &mut F,
    other_x: &F,
    slope: &F,
    f: &mut A,
    constants: &C,
    line: &impl Fn(&mut A, &F, &F, &C),
) {
    let rest = slope.times(x).minus(y);
    line(f, slope, &rest, constants);
    let next = slope.squared().minus_sum(&x.plus(other_x)).shrunk();
    // λ·(x - next) - y = (λ·x - y) - λ·next
    *y = rest.minus(&slope.times(&next)).shrunk();
    *x = next;
}

/// Raises each value to the power of its curve: 3(p¹² - 1)/r on BLS12-381. Eight at a time have a value in each lane. Few values are raised one by one.
pub(crate) fn final_exponentiations<L: Lanes>(lanes: L, values: &[MillerValue<L::Curve>]) -> Vec<Gt<L::Curve>> {
    let mut out = Vec::with_capacity(values.len());
    for chunk in values.chunks(L::WIDTH) {
        if chunk.len() < L::THRESHOLDS.values {
            out.extend(chunk.iter().map(|value| final_exponentiation_of_one(lanes, value)));
        } else {
            let eight =
                Fp12::<L::Fp>::load(lanes, &core::array::from_fn(|lane| &chunk.get(lane).unwrap_or(&chunk[0]).value));
            out.extend(final_exponentiation(lanes, &eight).store().into_iter().take(chunk.len()).map(Gt));
        }
    }
    out
}

/// The same for one value, with a coefficient in each lane if that is faster than the portable backend.
pub(crate) fn final_exponentiation_of_one<L: Lanes>(lanes: L, value: &MillerValue<L::Curve>) -> Gt<L::Curve> {
    if !L::THRESHOLDS.spread {
        return L::Curve::final_exponentiation(value);
    }
    Gt(final_exponentiation(lanes, &Spread::<L::Fp>::load(lanes, &value.value)).store())
}

in_lanes! {
    pub(super) fn final_exponentiation<L: Lanes, E: Extension>(lanes: L, value: &E) -> E {
        let unitary = value.conjugated().times(&value.inverted());
        L::Curve::hard_part(&unitary.frobenius().frobenius().times(&unitary))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blst::blst_fp12;

    use crate::{
        Backend, G1, G2, Group, Segments,
        backend::{finite, lanes::tests::in_each_kind_and_one_lane},
    };
    use alloc::vec;

    fn products<L: Lanes<Curve = crate::pairing::Bls12381>>(
        lanes: L,
        pairing: Pairing,
        pairs: &Segments<(G1, G2)>,
    ) -> Vec<MillerValue> {
        let finite = |pair: &(G1, G2)| finite(*pair);
        match pairing {
            Pairing::Ate => ate_products(lanes, pairs.cut(), finite),
            Pairing::TwistedAte => twisted_products(lanes, pairs.cut(), finite),
        }
    }

    /// Pairs of points that differ.
    fn pairs(n: usize) -> Vec<(G1, G2)> {
        let b = Backend::Portable;
        let names: Vec<_> = (0..n).map(|i| i.to_le_bytes()).collect();
        let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
        b.hash_to_curve::<G1>(b"p", &messages).into_iter().zip(b.hash_to_curve::<G2>(b"q", &messages)).collect()
    }

    in_each_kind_and_one_lane! {
        fn ate_products_and_final_exponentiations_are_the_portable_ones(lanes: L) {
            let b = Backend::Portable;
            // With the last count the lanes have inversions.
            for n in [0, 1, 2, 7, 8, 9, 17, 65, LANES * L::THRESHOLDS.inversions + 1] {
                let mut pairs = pairs(n);
                if n > 7 {
                    pairs[3].0 = G1::IDENTITY;
                    pairs[n - 1].1 = G2::IDENTITY;
                }
                for ends in [vec![n], vec![n / 2, n], vec![0, n / 3, n / 3, n], (0..=n).collect()] {
                    let segments = Segments::from_ends(pairs.clone(), ends);
                    let values = products(lanes, Pairing::Ate, &segments);
                    let expected = b.final_exponentiations(&b.miller_products(Pairing::Ate, &segments));
                    assert_eq!(b.final_exponentiations(&values), expected, "{n} pairs");
                    assert_eq!(final_exponentiations(lanes, &values), expected, "{n} pairs");
                }
            }
        }
    }

    in_each_kind_and_one_lane! {
        /// Each lane has a pair more than the others in turn, also one that is the identity's.
        fn one_lane_has_a_pair_more(lanes: L) {
            let b = Backend::Portable;
            for (even, lane) in (0..LANES).flat_map(|lane| [1, 2, 5].map(|even| (even, lane))) {
                let mut pairs = pairs(LANES * even + 1);
                pairs[LANES].0 = G1::IDENTITY;
                let ends = (1..=LANES).map(|end| end * even + usize::from(end > lane)).collect();
                let segments = Segments::from_ends(pairs, ends);
                let expected = b.final_exponentiations(&b.miller_products(Pairing::Ate, &segments));
                let values = products(lanes, Pairing::Ate, &segments);
                assert_eq!(b.final_exponentiations(&values), expected, "lane {lane}");
            }
        }
    }

    in_each_kind_and_one_lane! {
        /// Every count of values, of both pairings and with one among them.
        fn every_count_of_values_is_raised(lanes: L) {
            let pairs = Segments::of_size(1, pairs(8));
            let mut values = products(lanes, Pairing::TwistedAte, &pairs);
            values.push(MillerValue::ONE);
            values.extend(products(lanes, Pairing::Ate, &pairs));
            let expected = Backend::Portable.final_exponentiations(&values);
            for n in 0..=values.len() {
                assert_eq!(final_exponentiations(lanes, &values[..n]), expected[..n]);
                assert_eq!(final_exponentiations(lanes, &values[n..]), expected[n..]);
            }
        }
    }

    in_each_kind_and_one_lane! {
        /// Zero is not a value of a pairing. It must not become one, which would prove what it stands for.
        fn zero_does_not_become_one(lanes: L) {
            let zero = MillerValue::new(Pairing::Ate, blst_fp12 { fp6: [blst::blst_fp6::default(); 2] });
            for n in 1..=LANES {
                let values = final_exponentiations(lanes, &vec![zero; n]);
                assert!(values.iter().all(|value| !value.is_one()), "{n} values");
            }
        }
    }

    in_each_kind_and_one_lane! {
        /// e(2P, Q) = e(P, 2Q) in the twisted pairing, for a Q outside the subgroup.
        fn twisted_ate_is_bilinear_on_uncleared_points(lanes: L) {
            let b = Backend::Portable;
            let p = b.hash_to_curve::<G1>(b"p", &[(b"", b"p")])[0];
            let q = b.hash_for_sums::<G2>(b"q", &[(b"", b"q")])[0];
            assert!(!b.in_subgroup(&[q])[0]);
            let (p2, q2) = (b.sum(&[p, p]), b.sum(&[q, q]));
            let pairs = Segments::of_size(2, vec![(p2, q), (p.negate(), q2), (p, q)]);
            let values = products(lanes, Pairing::TwistedAte, &pairs);
            let values = b.final_exponentiations(&values);
            assert!(values[0].is_one());
            assert!(!values[1].is_one());
        }
    }

    in_each_kind_and_one_lane! {
        /// Steps with and without inversions, both with lanes without a pair.
        fn twisted_ate_products_are_products_of_single_values(lanes: L) {
            let b = Backend::Portable;
            // With inversions and without, whatever the threshold.
            let pairs = pairs(5 * LANES + 1);
            let singles = products(lanes, Pairing::TwistedAte, &Segments::of_size(1, pairs.clone()));
            let most = singles.len();
            for n in [1, 9, 17, 25, 31, 32, 33, most - 9, most - 8, most - 1, most] {
                let value = products(lanes, Pairing::TwistedAte, &Segments::one(pairs[..n].to_vec()))[0];
                let expected = singles[..n].iter().copied().product();
                assert_eq!(b.final_exponentiation(value), b.final_exponentiation(expected), "{n} pairs");
            }
        }
    }
}
