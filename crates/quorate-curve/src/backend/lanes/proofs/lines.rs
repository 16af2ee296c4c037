//! The lines of the Miller loops and the steps of the point.

use alloc::vec::Vec;
use core::array::from_fn;

use super::{
    naive::{Naive2, Naive12, Ring as _, Specified, chord, on_each_curve, tangent, third, xi},
    proof::Proof,
    symbolic::Symbolic,
};
use crate::{
    backend::lanes::{
        few_pairs::Two,
        field::{Field, Fp2, LoopStep},
        fp12::{Accumulator, Fp12},
        pairing::Steps,
        steps::{Jacobian, added, at_point, at_twisted_point, ate_constants, denominator, turned, twisted_constants},
    },
    pairing::Bls12381,
};

/// A step of affine points: the slope, the rest and the next point.
fn affine_step<C: Specified>(
    proof: &Proof<C>,
    step: LoopStep,
    point: [Symbolic<C>; 2],
    base: [Symbolic<C>; 2],
) -> [Symbolic<C>; 4] {
    let pair = |[x, y]: [Symbolic<C>; 2]| (x, y);
    let mut steps =
        Steps { base: [pair(base)].into(), point: [pair(point)].into(), constants: [()].into(), inverses: Vec::new() };
    let mut lines = Vec::new();
    let keep = |lines: &mut Vec<_>, slope: &Symbolic<C>, rest: &Symbolic<C>, (): &()| lines.push((*slope, *rest));
    steps.each_line(proof.lanes, &step, &mut lines, &keep);
    let ([(slope, rest)], [(x, y)]) = (&lines[..], &steps.point[..]) else { unreachable!("one line") };
    [*slope, *rest, *x, *y]
}

on_each_curve! {
    /// A T of order r does not have y = 0.
    fn affine_doubling_step<C>() {
        let proof = Proof::<C>::new();
        let [x, y, base_x, base_y] = proof.variables();
        let slope = tangent([x, y], None);
        let [next_x, next_y] = third([x, y], [x, y], slope);
        let found = affine_step(&proof, LoopStep::Double, [x, y], [base_x, base_y]);
        proof.equal("λ, λx - y and 2T", found, [slope, slope * x - y, next_x, next_y]);
        proof.finish(&[("y", y)]);
    }

    /// T = ±Q does not come up in the loop, whose T has the order r and whose multipliers are between 0 and r.
    fn affine_adding_steps<C>() {
        let proof = Proof::<C>::new();
        let [x, y, base_x, base_y] = proof.variables();
        for (step, base) in [(LoopStep::Add, [base_x, base_y]), (LoopStep::Subtract, [base_x, -base_y])] {
            let slope = chord([x, y], base);
            let [next_x, next_y] = third([x, y], base, slope);
            let found = affine_step(&proof, step, [x, y], [base_x, base_y]);
            proof.equal("λ, λx - y and T ± Q", found, [slope, slope * x - y, next_x, next_y]);
        }
        proof.finish(&[("difference of x", x - base_x)]);
    }

    /// Without inversions: the line times its scale. Z and the scale are zero where the affine step has no slope.
    fn jacobian_doubling_step<C>() {
        let proof = Proof::<C>::new();
        let [x, y, z] = proof.variables();
        let mut point = Jacobian { x: x * z * z, y: y * z * z * z, z };
        let line = point.double();
        let slope = tangent([x, y], None);
        let [next_x, next_y] = third([x, y], [x, y], slope);
        proof.equal("λ and λx - y", [line.slope, line.rest], [slope * line.scale, (slope * x - y) * line.scale]);
        proof.equal("2T", [point.x, point.y], [next_x * point.z * point.z, next_y * point.z.cubed()]);
        let twice = y + y;
        proof.equal("Z and the scale", [point.z, line.scale], [twice * z.squared().squared(), twice * z.cubed() * z.cubed()]);
        proof.finish(&[("y", y)]);
    }

    fn jacobian_adding_step<C>() {
        let proof = Proof::<C>::new();
        let [x, y, z, base_x, base_y] = proof.variables();
        let mut point = Jacobian { x: x * z * z, y: y * z * z * z, z };
        let line = point.add(&(base_x, base_y));
        let slope = chord([x, y], [base_x, base_y]);
        let [next_x, next_y] = third([x, y], [base_x, base_y], slope);
        proof.equal("λ and λx - y", [line.slope, line.rest], [slope * line.scale, (slope * x - y) * line.scale]);
        proof.equal("T + Q", [point.x, point.y], [next_x * point.z * point.z, next_y * point.z.cubed()]);
        proof.equal("Z and the scale", [point.z, line.scale], [z.cubed() * (x - base_x); 2]);
        proof.finish(&[("difference of x", x - base_x)]);
    }

    /// What a step adds: ψ is the Frobenius map between the isomorphisms to the curve over Fp12 and back.
    fn added_points<C>() {
        let proof = Proof::<C>::new();
        let (x, y) = (proof.in_fp2(), proof.in_fp2());
        // (x, y) → (x·w^m, y·w^n) is the isomorphism, and the image has w^(m(p - 1)) = ξ^(m(p - 1)/6) beside conjugates.
        let frobenius = |c: Naive2<C>, power: usize| {
            let moved = times_w(&proof, c, power).frobenius(&proof);
            let back = moved * times_w_inverse(&proof, power);
            proof.equal("an element of Fp2", back, Naive12::monomial(0, back.0[0]));
            back.0[0]
        };
        let image = |[x, y]: [Naive2<C>; 2]| [frobenius(x, 2), frobenius(y, 3)];
        let base = [Naive2::of(&x), Naive2::of(&y)];
        let negated = |[x, y]: [Naive2<C>; 2]| [x, -y];
        for (step, expected) in [
            (LoopStep::Add, base),
            (LoopStep::Subtract, negated(base)),
            (LoopStep::AddImage, image(base)),
            (LoopStep::SubtractSecondImage, negated(image(image(base)))),
        ] {
            proof.equal("the point", added(&step, &(x, y)), expected);
        }
        proof.finish(&[]);
    }

    /// The line through T with the slope λ of the twist, mapped to the curve over Fp12, at P and divided by y_P, which no
    /// point has zero. In an idle lane it is one.
    fn line_at_the_other_point<C>() {
        let proof = Proof::<C>::new();
        let [x_p, y_p] = proof.variables();
        let (slope, x, y) = (proof.in_fp2(), proof.in_fp2(), proof.in_fp2());
        let [slope_, x_, y_] = [&slope, &x, &y].map(Naive2::of);
        // The slope of the mapped line: that of the chord to a point Q of the line, and of a tangent with the slope λ.
        let mapped = |[x, y]: [Naive2<C>; 2]| [times_w(&proof, x, 2), times_w(&proof, y, 3)];
        let mapped_slope = times_w(&proof, slope_, 1);
        let ([x_t, y_t], x_q) = (mapped([x_, y_]), Naive2::of(&proof.in_fp2()));
        let [mapped_x_q, mapped_y_q] = mapped([x_q, y_ + slope_ * (x_q - x_)]);
        proof.equal("the slope of a chord", mapped_slope * (mapped_x_q - x_t), mapped_y_q - y_t);
        let cube = x_ * x_ + x_ * x_ + x_ * x_;
        let [x_r, twice_y_r] = [times_w(&proof, x_, 2), times_w(&proof, cube * slope_.inverse(), 3)];
        proof.equal("the slope of a tangent", mapped_slope * twice_y_r, x_r * x_r + x_r * x_r + x_r * x_r);
        // y_P - y_T - λ·(x_P - x_T)
        let of_fp = |c| Naive12::monomial(0, Naive2::real(c));
        let line = of_fp(y_p) - y_t - mapped_slope * (of_fp(x_p) - x_t);
        let expected = line * of_fp(y_p.inverted());
        let rest = (slope_ * x_ - y_).fp2();
        let p = (x_p, y_p);
        let constants = ate_constants(&p, &denominator(&p).inverted(), 0);
        let (a, b) = at_point(&slope, &rest, &constants);
        proof.equal("the line", product(&proof, None, &a, &b), expected);
        // The line without inversions: the scale lies in Fp2, and the final exponentiation removes it.
        let scale = proof.in_fp2();
        let (scaled_a, scaled_b) = at_point(&slope.times(&scale), &rest.times(&scale), &constants);
        let scaled = product(&proof, Some(&scale), &scaled_a, &scaled_b);
        proof.equal("the scaled line", scaled, expected * Naive12::monomial(0, Naive2::of(&scale)));
        // The line of a prepared point, whose coefficients are turned before they meet the constants.
        let prepared = if C::TWIST_MULTIPLIES {
            (turned(&rest).times_fp(&constants.1), turned(&slope).times_fp(&constants.0))
        } else {
            (slope.times_fp(&constants.0), rest.times_fp(&constants.1))
        };
        proof.equal("the coefficients of the line of a prepared point", prepared, (a, b));
        let idle = ate_constants(&p, &denominator(&p).inverted(), !0);
        let (a, b) = at_point(&slope, &rest, &idle);
        proof.equal("the line of an idle lane", product(&proof, None, &a, &b), Naive12::one(&proof));
        let [real, imaginary] = slope_.0;
        proof.finish(&[("y_P", y_p), ("norm of λ", real * real + imaginary * imaginary)]);
    }

    /// The steps of two points with their coordinates in slots. Z, the scale and W are zero together, where the affine step has no slope.
    fn steps_of_two_pairs<C>() {
        let proof = Proof::<C>::new();
        let variable = |_| Naive2::of(&proof.in_fp2());
        let bases: [[_; 2]; 2] = from_fn(|_| from_fn(variable));
        let points: [[_; 3]; 2] = from_fn(|_| from_fn(variable));
        let constants: [(_, _); 2] = from_fn(|_| (proof.variable(), proof.variable()));
        let zero = proof.number(0);
        let in_lanes = |of: &dyn Fn(usize) -> Option<Symbolic<C>>| Symbolic::of_lanes(from_fn(|lane| of(lane).unwrap_or(zero)));
        let in_fp2 = |of: &dyn Fn(usize) -> Option<Naive2<C>>| {
            let [c0, c1] = [0, 1].map(|part| in_lanes(&|lane| of(lane).map(|c| c.0[part])));
            Fp2::new(c0, c1)
        };
        let [base_x, base_y] = [0, 1].map(|i| in_fp2(&|lane| bases.get(lane).map(|base| base[i])));
        let [a, b] = [0, 1].map(|i| in_lanes(&|lane| constants.get(lane).map(|(a, b)| [*a, *b][i])));
        let times = |n: usize, c: Naive2<C>| (1..n).fold(c, |sum, _| sum + c);
        // Three times the constant of the curve on which a point is.
        let three_b = |x: Naive2<C>, y: Naive2<C>| times(3, y * y - x.cubed());
        let in_slot = |of: &Fp2<_>, slot: usize, pair: usize| lane(of, 2 * slot + pair);
        let steps = C::LOOP.iter().fold(Vec::new(), |mut kinds: Vec<LoopStep>, step| {
            if !kinds.contains(step) {
                kinds.push(*step);
            }
            kinds
        });
        for step in steps {
            let mut two = Two::new(&(base_x, base_y), &(a, b));
            // At first the point is the base. Then it is any, and so is its curve.
            for (pair, [x, y]) in bases.into_iter().enumerate() {
                let found = [0, 1, 2, 3].map(|slot| in_slot(&two.point, slot, pair));
                proof.equal("the base", found, [x, y, Naive2::real(proof.number(1)), three_b(x, y)]);
                let (a, b) = constants[pair];
                let found = [1, 2, 3].map(|slot| in_slot(&two.constants, slot, pair));
                proof.equal("the constants", found, [Naive2::real(a), Naive2::real(b), three_b(x, y)]);
            }
            let coordinates = points.map(|[x, y, z]| [x * z, y * z, z, three_b(x, y) * z]);
            two.point = in_fp2(&|lane| Some(coordinates[lane % 2][lane / 2]));
            let kept = two.constants;
            two.constants = in_fp2(&|lane| {
                let [x, y, _] = points[lane % 2];
                Some(if lane < 6 { self::lane(&kept, lane) } else { three_b(x, y) })
            });
            let lines = if step == LoopStep::Double { two.double() } else { two.add(&step) };
            for (pair, [x, y, z]) in points.into_iter().enumerate() {
                let [base_x, base_y] = bases[pair].map(Naive2::fp2);
                let (base_x, base_y) = added(&step, &(base_x, base_y));
                let other = if step == LoopStep::Double { [x, y] } else { [&base_x, &base_y].map(Naive2::of) };
                let slope = if step == LoopStep::Double { tangent([x, y], None) } else { chord([x, y], other) };
                let [next_x, next_y] = third([x, y], other, slope);
                let [scale, of_slope, of_rest]: [_; 3] = from_fn(|i| lane(&lines.coefficients[i], lines.lanes[i] as usize + pair));
                let (a, b) = at_point(&(slope * scale).fp2(), &((slope * x - y) * scale).fp2(), &constants[pair]);
                proof.equal("the line", [of_slope, of_rest], [a, b].map(|c| Naive2::of(&c)));
                let [found_x, found_y, found_z, found_w] = [0, 1, 2, 3].map(|slot| in_slot(&two.point, slot, pair));
                proof.equal("the point", [found_x, found_y], [next_x * found_z, next_y * found_z]);
                proof.equal("W", found_w, three_b(x, y) * found_z);
                let (of_scale, of_z) = if step == LoopStep::Double {
                    (times(2, y * z * z), times(8, y.cubed() * z.squared().squared()))
                } else {
                    let h = (x - other[0]) * z;
                    (h, h.cubed() * z)
                };
                proof.equal("the scale and Z", [scale, found_z], [of_scale, of_z]);
            }
        }
        let norm = |Naive2([real, imaginary]): Naive2<C>| real * real + imaginary * imaginary;
        let mut not_zero = Vec::new();
        for ([x, y, _], [base_x, base_y]) in points.into_iter().zip(bases) {
            not_zero.push(("norm of y", norm(y)));
            let kinds = [LoopStep::Add, LoopStep::AddImage, LoopStep::SubtractSecondImage];
            let images = kinds.iter().filter(|step| C::LOOP.contains(step));
            not_zero.extend(images.map(|step| {
                let (base_x, _) = added(step, &(base_x.fp2(), base_y.fp2()));
                ("norm of the difference of x", norm(x - Naive2::of(&base_x)))
            }));
        }
        proof.finish(&not_zero);
    }
}

/// The element of a lane.
fn lane<C: Specified>(c: &Fp2<Symbolic<C>>, lane: usize) -> Naive2<C> {
    Naive2([c.c0.lane(lane), c.c1.lane(lane)])
}

/// c·w^power where the twist divides by ξ, and c/w^power where it multiplies by it.
fn times_w<C: Specified>(proof: &Proof<C>, c: Naive2<C>, power: usize) -> Naive12<C> {
    if C::TWIST_MULTIPLIES {
        Naive12::monomial(0, c) * Naive12::over_w(proof, power)
    } else {
        Naive12::monomial(power, c)
    }
}

fn times_w_inverse<C: Specified>(proof: &Proof<C>, power: usize) -> Naive12<C> {
    if C::TWIST_MULTIPLIES {
        Naive12::monomial(power, Naive2::real(proof.number(1)))
    } else {
        Naive12::over_w(proof, power)
    }
}

/// One times a line, by the functions that the Miller loops call.
fn product<C: Specified>(
    proof: &Proof<C>,
    scale: Option<&Fp2<Symbolic<C>>>,
    a: &Fp2<Symbolic<C>>,
    b: &Fp2<Symbolic<C>>,
) -> Naive12<C> {
    let mut f = Accumulator::new(Fp12::one(proof.lanes));
    match (scale, C::TWIST_MULTIPLIES) {
        (None, true) => f.times_line::<1>(a, b),
        (None, false) => f.times_line::<0>(a, b),
        (Some(scale), true) => f.times_scaled_line::<1>(scale, a, b),
        (Some(scale), false) => f.times_scaled_line::<0>(scale, a, b),
    }
    Naive12::of(f.value())
}

/// The line through a T of E at a point Q of the twist, mapped to E over Fp12 by (x, y) → (x/w², y/w³), times w³/y_Q. No point has
/// y_Q = 0.
#[test]
fn line_of_the_twisted_pairing() {
    let proof = Proof::<Bls12381>::new();
    let [slope, x_t, y_t] = proof.variables();
    let q = (proof.in_fp2(), proof.in_fp2());
    let [x_q, y_q] = [&q.0, &q.1].map(Naive2::of);
    let of_fp = |c| Naive12::monomial(0, Naive2::real(c));
    let line = times_w(&proof, y_q, 3) - of_fp(y_t) - of_fp(slope) * (times_w(&proof, x_q, 2) - of_fp(x_t));
    let expected = line * Naive12::monomial(3, y_q.inverse());
    let product = |(a, b): (Fp2<_>, Fp2<_>)| {
        let mut f = Accumulator::new(Fp12::one(proof.lanes));
        f.times_line::<0>(&a, &b);
        Naive12::of(f.value())
    };
    let inverse = q.1.doubled().inverted();
    let constants = twisted_constants(&q, &inverse, 0);
    let rest = slope * x_t - y_t;
    proof.equal("the line", product(at_twisted_point(&slope, &rest, &constants)), expected);
    let idle = twisted_constants(&q, &inverse, !0);
    proof.equal("the line of an idle lane", product(at_twisted_point(&slope, &rest, &idle)), Naive12::one(&proof));
    let [real, imaginary] = y_q.0;
    proof.finish(&[("norm of y_Q", real * real + imaginary * imaginary)]);
}

/// (1 - i)·c, which is 2c/ξ.
#[test]
fn turned_is_twice_over_xi() {
    let proof = Proof::<Bls12381>::new();
    let c = proof.in_fp2();
    let twice = Naive2::of(&c) + Naive2::of(&c);
    proof.equal("ξ·turned", Naive2::of(&turned(&c)) * xi(&proof), twice);
    proof.finish(&[]);
}

/// A line whose rest is added with the wrong sign.
#[test]
#[should_panic(expected = "not proved: λ and λx - y")]
fn a_wrong_rest_is_not_proved() {
    let proof = Proof::<Bls12381>::new();
    let [x, y, z] = proof.variables();
    let line = Jacobian { x: x * z * z, y: y * z * z * z, z }.double();
    let slope = tangent([x, y], None);
    proof.equal("λ and λx - y", [line.slope, line.rest], [slope * line.scale, (slope * x + y) * line.scale]);
}
