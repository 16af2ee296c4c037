//! What the Miller loops have in common: the points of the pairs in lanes, steps without inversions, and a line of the ate pairing at the
//! other point.

use alloc::vec::Vec;

use super::{
    curve::Affine,
    field::{Field, LANES, Lanes, LoopStep, Mask, Parameters, PrimeField, invert_all},
    fp2::Fp2,
    instructions::in_lanes,
};
use crate::{arithmetic::Curve, pairing::sealed::Target};

/// A point of the curve outside the lanes.
pub(super) type G1<L> = <<L as Lanes>::Curve as Parameters>::G1;

/// A point of the twist outside the lanes.
pub(super) type G2<L> = <<L as Lanes>::Curve as Parameters>::G2;

pub(super) type Pair<L> = (G1<L>, G2<L>);

/// An element of Fp12 outside the lanes.
pub(super) type Value<L> = <<L as Lanes>::Curve as Target>::Value;

/// Affine coordinates.
pub(super) type Point<F> = (F, F);

in_lanes! {
    /// The [`ate_constants`] of all points, which share an inversion.
    pub(super) fn each_ate_constants<P: PrimeField>(lanes: P::Lanes, p: &[Point<P>], idle: &[Mask]) -> Vec<(P, P)> {
        let mut inverses: Vec<_> = p.iter().map(denominator).collect();
        invert_all(&mut inverses);
        p.iter().zip(&inverses).zip(idle).map(|((p, inverse), idle)| ate_constants(p, inverse, *idle)).collect()
    }
}

/// 2y_P, whose inverse [`ate_constants`] takes, or twice that if the twist multiplies by ξ.
#[inline(always)]
pub(super) fn denominator<P: PrimeField>((_, y): &Point<P>) -> P {
    let twice = y.doubled();
    if P::Curve::TWIST_MULTIPLIES { twice.doubled().shrunk() } else { twice }
}

/// -x_P/(2y_P) and 1/(2y_P), and zeros in idle lanes. If the twist multiplies by ξ, half of that: [`turned`] doubles it.
#[inline(always)]
pub(super) fn ate_constants<P: PrimeField>((x, y): &Point<P>, inverse: &P, idle: Mask) -> (P, P) {
    let over_y = P::zero(y.lanes()).or(idle, inverse);
    (x.negated().times(&over_y), over_y)
}

/// a and b of the line 1 + (2a + 2b·v)·w, times v if the twist multiplies by ξ, from its slope λ, its rest λ·x_T - y_T and the
/// [`ate_constants`] of the other point.
#[inline(always)]
pub(super) fn at_point<P: PrimeField>(slope: &Fp2<P>, rest: &Fp2<P>, (a, b): &(P, P)) -> (Fp2<P>, Fp2<P>) {
    let (slope, rest) = (slope.times_fp(a), rest.times_fp(b));
    if P::Curve::TWIST_MULTIPLIES { (turned(&rest).shrunk(), turned(&slope).shrunk()) } else { (slope, rest) }
}

/// -x_Q/(2y_Q) and 1/(2y_Q) of the twisted ate pairing, from 1/(2y_Q), and zeros in idle lanes.
#[inline(always)]
pub(super) fn twisted_constants<P: PrimeField>(
    (x, y): &Point<Fp2<P>>,
    inverse: &Fp2<P>,
    idle: Mask,
) -> (Fp2<P>, Fp2<P>) {
    let over_y = Fp2::zero(y.lanes()).or(idle, inverse);
    (x.negated().carried().times(&over_y), over_y)
}

/// a and b of the line 1 + (2a + 2b·v)·w of the twisted ate pairing, from its slope λ, its rest λ·x_T - y_T and the
/// [`twisted_constants`] of the other point.
#[inline(always)]
pub(super) fn at_twisted_point<P: PrimeField>(slope: &P, rest: &P, (a, b): &(Fp2<P>, Fp2<P>)) -> (Fp2<P>, Fp2<P>) {
    (a.times_fp(slope), b.times_fp(rest))
}

/// (1 - i)·c, which is 2c/ξ on the curve whose twist multiplies by ξ = 1 + i.
#[inline(always)]
pub(super) fn turned<P: PrimeField>(c: &Fp2<P>) -> Fp2<P> {
    Fp2::new(c.c0.plus(&c.c1), c.c1.minus(&c.c0)).carried()
}

/// Takes a step of every point without inversions, and hands each line and its constants to `hand`. This is for few
/// pairs in a lane.
#[inline(always)]
pub(super) fn each_line<F: Field, C>(
    step: &LoopStep,
    points: &mut [Jacobian<F>],
    bases: &[Point<F>],
    constants: impl IntoIterator<Item = C>,
    mut hand: impl FnMut(&ScaledLine<F>, C),
) {
    for ((point, base), constants) in points.iter_mut().zip(bases).zip(constants) {
        let line = match step {
            LoopStep::Double => point.double(),
            _ => point.add(&added(step, base)),
        };
        hand(&line, constants);
    }
}

/// The point (x/z², y/z³), with all coordinates below 2.1p.
pub(super) struct Jacobian<F> {
    pub(super) x: F,
    pub(super) y: F,
    pub(super) z: F,
}

/// λ and λ·x_T - y_T of a line, each times the scale.
pub(super) struct ScaledLine<F> {
    pub(super) slope: F,
    pub(super) rest: F,
    pub(super) scale: F,
}

impl<F: Field> Jacobian<F> {
    pub(super) fn of((x, y): &Point<F>) -> Self {
        Self { x: *x, y: *y, z: F::one(x.lanes()) }
    }

    /// λ = 3x²/2yz, and (λ·x_T - y_T)·2yz³ = 3x³ - 2y².
    #[inline(always)]
    pub(super) fn double(&mut self) -> ScaledLine<F> {
        let (xx, yy, zz) = (self.x.squared(), self.y.squared(), self.z.squared());
        let slope = xx.doubled().plus(&xx).carried();
        let rest = slope.times(&self.x).minus_sum(&yy.doubled());
        let xyy4 = self.x.times(&yy).doubled().doubled().shrunk();
        let yyyy4 = yy.doubled().squared();
        self.z = self.y.doubled().times(&self.z);
        self.x = slope.squared().minus_sum(&xyy4.doubled()).shrunk();
        let drop = slope.times(&xyy4.minus(&self.x).carried());
        self.y = drop.minus_sum(&yyyy4.doubled()).shrunk();
        ScaledLine { slope: slope.times(&zz), rest, scale: self.z.times(&zz) }
    }

    /// With h = x - x_base·z² and s = y - y_base·z³: λ = s/hz, and (λ·x_base - y_base)·hz = s·x_base - hz·y_base.
    #[inline(always)]
    pub(super) fn add(&mut self, (base_x, base_y): &Point<F>) -> ScaledLine<F> {
        let zz = self.z.squared();
        let (x, y) = (base_x.times(&zz), base_y.times(&zz.times(&self.z)));
        let h = self.x.minus(&x).carried();
        let slope = self.y.minus(&y).carried();
        let hh = h.squared();
        let xhh = x.times(&hh);
        self.z = self.z.times(&h);
        self.x = slope.squared().minus_sum(&self.x.times(&hh).plus(&xhh)).shrunk();
        let drop = slope.times(&xhh.minus(&self.x).carried());
        self.y = drop.minus(&y.times(&h.times(&hh))).shrunk();
        let rest = slope.times(base_x).minus(&base_y.times(&self.z));
        ScaledLine { slope, rest, scale: self.z }
    }
}

/// The point that a step adds for a base.
#[inline(always)]
pub(super) fn added<F: Field>(step: &LoopStep, (x, y): &Point<F>) -> Point<F> {
    let negated = |(x, y): (F, F)| (x, y.negated().shrunk());
    match step {
        LoopStep::Double | LoopStep::Add => (*x, *y),
        LoopStep::Subtract => negated((*x, *y)),
        LoopStep::AddImage => F::image(x, y),
        LoopStep::SubtractSecondImage => {
            let (x, y) = F::image(x, y);
            negated(F::image(&x, &y))
        }
    }
}

/// Points of E and of the twist.
pub(super) type Vectors<L> = (Vec<Point<<L as Lanes>::Fp>>, Vec<Point<Fp2<<L as Lanes>::Fp>>>);

/// The points of all pairs as vectors, with generators in lanes without a pair.
pub(super) fn load<L: Lanes>(lanes: L, pairs: &[&[Pair<L>]; LANES]) -> Vectors<L> {
    in_vectors(pairs, &generators::<L>()).map(|at| load_pairs::<L>(lanes, at)).unzip()
}

/// What stands in a lane without a pair.
pub(super) fn generators<L: Lanes>() -> Pair<L> {
    (<G1<L>>::generator(), <G2<L>>::generator())
}

#[inline(always)]
pub(super) fn load_pairs<L: Lanes>(lanes: L, at: [&Pair<L>; LANES]) -> (Point<L::Fp>, Point<Fp2<L::Fp>>) {
    (load_point(lanes, &at.map(|(p, _)| p)), load_point(lanes, &at.map(|(_, q)| q)))
}

pub(super) fn load_point<F: Field, C: Curve<Field = F::Element>>(lanes: F::Lanes, points: &[&C; LANES]) -> Point<F> {
    let Affine { x, y } = Affine::load(lanes, &points.map(|point| *point));
    (x, y)
}

/// The first pair of each lane, then the second of each, and so on, with `idle` in lanes without a pair.
pub(super) fn in_vectors<'a, P>(pairs: &[&'a [P]; LANES], idle: &'a P) -> impl Iterator<Item = [&'a P; LANES]> {
    (0..longest(pairs)).map(move |i| core::array::from_fn(|lane| pairs[lane].get(i).unwrap_or(idle)))
}

/// The lanes without a pair, whose lines are one.
pub(super) fn idle<P>(pairs: &[&[P]; LANES]) -> Vec<Mask> {
    let idle = |i| (0..LANES).map(|lane| Mask::from(pairs[lane].len() <= i) << lane).sum();
    (0..longest(pairs)).map(idle).collect()
}

fn longest<P>(pairs: &[&[P]; LANES]) -> usize {
    pairs.iter().map(|pairs| pairs.len()).max().unwrap_or(0)
}
