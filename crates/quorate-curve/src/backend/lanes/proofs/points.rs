//! Sums and doubles of points. Formulas over Fp are proved. They hold over Fp2 too, because its operations are those of a ring with the
//! same constants ([`towers`](super::towers)).

use alloc::vec::Vec;
use core::array::from_fn;

use super::{
    naive::{Naive2, Ring, Specified, chord, on_each_curve, tangent, third},
    proof::Proof,
    symbolic::Symbolic,
};
use crate::{
    arithmetic::Curve,
    backend::lanes::{
        affine::{self, Chain, Points, Table},
        curve::{self, Affine, Jacobian},
        field::{Field, LANES},
        spread_point::{self, InSlots, SpreadPoint},
    },
    pairing::Bls12381,
};

/// The point (x/1, y/1) as (X/Z², Y/Z³).
fn jacobian<C: Specified>([x, y]: [Symbolic<C>; 2], z: Symbolic<C>) -> Jacobian<Symbolic<C>> {
    Jacobian { x: x * z * z, y: y * z * z * z, z }
}

/// The point is (x, y), if its Z is not zero.
fn is<C: Specified>(proof: &Proof<C>, what: &str, p: &Jacobian<Symbolic<C>>, [x, y]: [Symbolic<C>; 2]) {
    let expected = jacobian([x, y], p.z);
    proof.equal(what, [p.x, p.y], [expected.x, expected.y]);
}

on_each_curve! {
    /// Z of 2P is zero for the identity and for y = 0, which neither curve has.
    fn jacobian_double<C>() {
        let proof = Proof::<C>::new();
        let [x, y, z] = proof.variables();
        let point = [x, y];
        let double = curve::double(proof.lanes, &jacobian(point, z));
        is(&proof, "2P", &double, third(point, point, tangent(point, None)));
        // So it is the identity for the identity and for points of order two, which neither curve has.
        proof.equal("Z of 2P", double.z, z * z * z * z * (y + y));
        let z = proof.number(0);
        proof.equal("Z of 2O", curve::double(proof.lanes, &Jacobian { x, y, z }).z, z);
        proof.finish(&[("y", y)]);
    }

    /// Z is zero for P = ±Q and for P = O, which callers compute otherwise.
    fn jacobian_add_affine<C>() {
        let proof = Proof::<C>::new();
        let [x1, y1, z, x2, y2] = proof.variables();
        let (p, q) = ([x1, y1], [x2, y2]);
        let add = |p, [x, y]: [_; 2]| curve::add_affine(proof.lanes, &p, &Affine { x, y });
        let sum = add(jacobian(p, z), q);
        is(&proof, "P + Q", &sum, third(p, q, chord(p, q)));
        // So it is zero for ±P and for the identity alone.
        proof.equal("Z of P + Q", sum.z, z * z * z * (x2 - x1));
        let zero = proof.number(0);
        proof.equal("Z of P + P", add(jacobian(p, z), p).z, zero);
        proof.equal("Z of P - P", add(jacobian(p, z), [x1, -y1]).z, zero);
        proof.equal("Z of O + Q", add(Jacobian { x: x1, y: y1, z: zero }, q).z, zero);
        proof.finish(&[("difference of x", x2 - x1)]);
    }

    /// Z is zero for P = ±Q and where P or Q is the identity.
    fn jacobian_add<C>() {
        let proof = Proof::<C>::new();
        let [x1, y1, z1, x2, y2, z2] = proof.variables();
        let (p, q) = ([x1, y1], [x2, y2]);
        let add = |p, q| curve::add(proof.lanes, &p, &q);
        let sum = add(jacobian(p, z1), jacobian(q, z2));
        is(&proof, "P + Q", &sum, third(p, q, chord(p, q)));
        // So it is zero for ±P and for identities alone.
        proof.equal("Z of P + Q", sum.z, (z1 * z2).cubed() * (x2 - x1));
        let zero = proof.number(0);
        proof.equal("Z of P + P", add(jacobian(p, z1), jacobian(p, z2)).z, zero);
        proof.equal("Z of P - P", add(jacobian(p, z1), jacobian([x1, -y1], z2)).z, zero);
        proof.equal("Z of O + Q", add(Jacobian { x: x1, y: y1, z: zero }, jacobian(q, z2)).z, zero);
        proof.equal("Z of P + O", add(jacobian(p, z1), Jacobian { x: x2, y: y2, z: zero }).z, zero);
        proof.finish(&[("difference of x", x2 - x1)]);
    }

    /// With one inversion for all, and zeros and the bit of the lane where Z is zero.
    fn jacobian_to_affine<C>() {
        let proof = Proof::<C>::new();
        let [x1, y1, z1, x2, y2, z2] = proof.variables();
        let zero = proof.number(0);
        let points = [jacobian([x1, y1], z1), Jacobian { x: x1, y: y1, z: zero }, jacobian([x2, y2], z2)];
        let affine = curve::to_affine_lanes(proof.lanes, &points);
        for ((found, identities), (expected, identity)) in affine.iter().zip([([x1, y1], 0), ([zero; 2], !0), ([x2, y2], 0)]) {
            proof.equal("x and y", [found.x, found.y], expected);
            assert_eq!(*identities, identity);
        }
        proof.finish(&[("z₁", z1), ("z₂", z2)]);
    }

    /// Whether X/Z² = x and Y/Z³ = y.
    fn jacobian_equals<C>() {
        let proof = Proof::<C>::new();
        let [x1, y1, z, x2, y2] = proof.variables();
        let equals = |[x, y]: [_; 2]| jacobian([x1, y1], z).equals(&Affine { x, y });
        assert_eq!(equals([x1, y1]), !0);
        assert_eq!([equals([x2, y1]), equals([x1, y2]), equals([x2, y2])], [0; 3]);
        proof.finish(&[("difference of x", z * z * (x2 - x1)), ("difference of y", z * z * z * (y2 - y1))]);
    }

    /// A round of additions with one inversion, with another kind of sum in each lane: of different points, of equal ones and opposite
    /// ones, with an identity on either side, of two identities. Answers about lanes with an identity are not used, so the proof is
    /// repeated where they are others: with x₁ = 0, with x₂ = 0 and with y₁ = y₂.
    fn affine_additions<C>() {
        let proof = Proof::<C>::new();
        let [x1, y1, x2, y2] = proof.variables();
        affine_additions_of(&proof, [x1, y1], [x2, y2]);
        let unused = [("x₁", x1), ("x₂", x2), ("difference of y", y2 - y1)];
        proof.finish(&[&[("difference of x", x2 - x1), ("y₁", y1), ("y₂", y2)], &unused[..]].concat());
        let proof = Proof::<C>::new();
        let ([y1, x2, y2], zero) = (proof.variables(), proof.number(0));
        affine_additions_of(&proof, [zero, y1], [x2, y2]);
        proof.finish(&[("x₂", x2), ("y₁", y1), ("y₂", y2), ("difference of y", y2 - y1)]);
        let proof = Proof::<C>::new();
        let ([x1, y1, y2], zero) = (proof.variables(), proof.number(0));
        affine_additions_of(&proof, [x1, y1], [zero, y2]);
        proof.finish(&[("x₁", x1), ("y₁", y1), ("y₂", y2), ("difference of y", y2 - y1)]);
        let proof = Proof::<C>::new();
        let [x1, y, x2] = proof.variables();
        affine_additions_of(&proof, [x1, y], [x2, y]);
        proof.finish(&[("difference of x", x2 - x1), ("y", y), ("x₁", x1), ("x₂", x2)]);
    }

    /// The rows of ωP, ω²P and -P in a table, with identities among them.
    fn turns_of_points<C>() {
        let proof = Proof::<C>::new();
        let [x, y, beta] = proof.variables();
        let zero = proof.number(0);
        // The turns have no other entry than β·x and -(1 + β)·x, for a β with 1 + β + β² = 0.
        let of_lanes = |c: Symbolic<C>| Symbolic::of_lanes(from_fn(|lane| if lane == 3 { zero } else { c }));
        let points = Points { x: of_lanes(x), y: of_lanes(y), identity: 1 << 3 };
        let indices: [u32; LANES] = from_fn(|i| i as u32);
        let mut table = Table::<Symbolic<C>>::new(proof.lanes, LANES, true, C::G1::one());
        table.put(&points, &indices, &beta);
        for (turn, factor) in [proof.number(1), beta, -proof.number(1) - beta].into_iter().enumerate() {
            for (is_negative, sign) in [(false, y), (true, -y)] {
                let entries = from_fn(|lane| affine::Entry::new(lane, turn as u8, is_negative));
                let found = affine::Source::gather(&table, &entries);
                proof.equal("an entry", [found.x, found.y], [of_lanes(x * factor), of_lanes(sign)]);
                assert_eq!(found.identity, 1 << 3);
            }
        }
        let of_g2 = C::G2::turn_field(C::G2::one(), 1);
        let [of_g2, imaginary] = C::parts(&of_g2).map(|part| Symbolic::splat(proof.lanes, part));
        proof.equal("β of G2", imaginary, zero);
        let of_g1 = Symbolic::splat(proof.lanes, &C::G1::turn_field(C::G1::one(), 1));
        for beta in [of_g1, of_g2] {
            proof.equal("1 + β + β²", proof.number(1) + beta + beta * beta, zero);
        }
        proof.finish(&[]);
    }
}

fn affine_additions_of<C: Specified>(proof: &Proof<C>, p: [Symbolic<C>; 2], q: [Symbolic<C>; 2]) {
    let [[x1, y1], zero] = [p, [proof.number(0); 2]];
    let sums = [
        (p, q, third(p, q, chord(p, q))),
        (p, p, third(p, p, tangent(p, None))),
        (p, [x1, -y1], zero),
        (zero, q, q),
        (p, zero, p),
        (zero, zero, zero),
    ];
    let in_lanes = |point: &dyn Fn(usize) -> [Symbolic<C>; 2]| {
        let [x, y] = [0, 1].map(|i| Symbolic::of_lanes(from_fn(|lane| point(lane)[i])));
        Points { x, y, identity: x.blank() & y.blank() }
    };
    // Each vector has the kinds of sums in the lanes beside those of the last one.
    let of = |vector: usize, lane: usize| sums[(vector + lane) % sums.len()];
    let left = (0..sums.len()).map(|i| in_lanes(&|lane| of(i, lane).0));
    let right = (0..sums.len()).map(|i| in_lanes(&|lane| of(i, lane).1));
    let mut points: Vec<_> = left.chain(right).collect();
    let pairs: Vec<_> = (0..sums.len() as u32).map(|i| (i, i + sums.len() as u32)).collect();
    affine::add_pairs(proof.lanes, &mut points, &pairs, &mut Chain::new(proof.lanes));
    for (i, found) in points[..sums.len()].iter().enumerate() {
        let expected = in_lanes(&|lane| of(i, lane).2);
        proof.equal("the sums", [found.x, found.y], [expected.x, expected.y]);
        assert_eq!(found.identity, expected.identity);
    }
}

/// The complete formulas of Renes, Costello and Batina for y² = x³ + b, from 3b, as they stand there: algorithm 7.
fn complete_sum<F: Ring>([x1, y1, z1]: [F; 3], [x2, y2, z2]: [F; 3], three_b: F) -> [F; 3] {
    let three = |a: F| a + a + a;
    let (xy, yz, zx) = (x1 * y2 + x2 * y1, y1 * z2 + y2 * z1, x1 * z2 + x2 * z1);
    let (less, more) = (y1 * y2 - three_b * z1 * z2, y1 * y2 + three_b * z1 * z2);
    [xy * less - three_b * yz * zx, more * less + three(three_b * x1 * x2 * zx), yz * more + three(x1 * x2 * xy)]
}

/// Algorithm 9.
fn complete_double<F: Ring>([x, y, z]: [F; 3], three_b: F) -> [F; 3] {
    let (twice, square) = (|a: F| a + a, y * y);
    let c = three_b * z * z;
    let u = square - c - c - c;
    let eight = twice(twice(twice(square)));
    [twice(x * y * u), eight * c + u * (square + c), eight * y * z]
}

/// The complete formulas are right for every case, on every curve y² = x³ + b whose points have y ≠ 0.
#[test]
fn complete_formulas() {
    let proof = Proof::<Bls12381>::new();
    let [b, x1, x2, z1, z2] = proof.variables();
    let [y1, y2] = [x1, x2].map(|x| proof.root(2, x.cubed() + b));
    let three_b = b + b + b;
    let zero = proof.number(0);
    let projective = |[x, y]: [_; 2], z| [x * z, y * z, z];
    // X = xZ and Y = yZ. Where Z is not zero, this is the point (x, y).
    let is = |what: &str, [found_x, found_y, z]: [_; 3], [x, y]: [_; 2]| {
        proof.equal(what, [found_x, found_y], [x * z, y * z])
    };
    let (p, q, minus_p) = ([x1, y1], [x2, y2], [x1, -y1]);
    let sum = |p, q| complete_sum(p, q, three_b);
    let double = third(p, p, tangent(p, None));
    is("P + Q", sum(projective(p, z1), projective(q, z2)), third(p, q, chord(p, q)));
    is("P + P", sum(projective(p, z1), projective(p, z2)), double);
    is("2P", complete_double(projective(p, z1), three_b), double);
    // Z is zero for no sum that is finite: P - Q has not the order two, so its y is not zero.
    let [_, y_of_difference] = third(p, [x2, -y2], chord(p, [x2, -y2]));
    let [_, _, z] = sum(projective(p, z1), projective(q, z2));
    proof.equal("Z of P + Q", z, (x2 - x1).cubed() * y_of_difference * (z1 * z2).squared());
    let [_, _, z] = sum(projective(p, z1), projective(p, z2));
    proof.equal("Z of P + P", z, (y1 + y1).cubed() * (z1 * z2) * (z1 * z2));
    let [_, _, z] = complete_double(projective(p, z1), three_b);
    proof.equal("Z of 2P", z, (y1 + y1).cubed() * z1.squared().squared());
    // The identity is (0 : Y : 0) with Y ≠ 0.
    let [x, y, z] = sum(projective(p, z1), projective(minus_p, z2));
    proof.equal("P - P", [x, z], [zero; 2]);
    proof.equal("Y of P - P", y, (y1 + y1).cubed() * double[1] * (z1 * z2).squared());
    is("P + O", sum(projective(p, z1), [zero, z2, zero]), p);
    is("O + P", sum([zero, z2, zero], projective(p, z1)), p);
    proof.equal("Z of P + O", sum(projective(p, z1), [zero, z2, zero])[2], y1 * (z1 * z2).squared());
    proof.equal("O + O", sum([zero, z1, zero], [zero, z2, zero]), [zero, (z1 * z2).squared(), zero]);
    proof.equal("2O", complete_double([zero, z1, zero], three_b), [zero, z1.squared().squared(), zero]);
    proof.finish(&[("difference of x", x2 - x1), ("y", y1)]);
}

/// Points with coordinates in lanes compute the complete formulas.
fn spread_points<C: InSlots, F: Ring>(
    variable: impl Fn(&Proof<Bls12381>) -> F,
    parts: impl Fn(F) -> Vec<Symbolic<Bls12381>>,
    three_b: impl Fn(&Proof<Bls12381>) -> F,
) {
    let proof = Proof::<Bls12381>::new();
    let [p, q]: [[F; 3]; 2] = from_fn(|_| from_fn(|_| variable(&proof)));
    let zero = proof.number(0);
    let loaded = |point: [F; 3]| {
        let coordinates: Vec<_> = point.into_iter().flat_map(&parts).collect();
        SpreadPoint::<_, C>::new(Symbolic::of_lanes(from_fn(|lane| coordinates.get(lane).copied().unwrap_or(zero))))
    };
    let is = |what: &str, found: SpreadPoint<Symbolic<Bls12381>, C>, expected: [F; 3]| {
        for (i, part) in expected.into_iter().flat_map(&parts).enumerate() {
            proof.equal(what, found.0.lane(i), part);
        }
    };
    let three_b = three_b(&proof);
    is("P + Q", spread_point::add(proof.lanes, &loaded(p), &loaded(q)), complete_sum(p, q, three_b));
    is("2P", spread_point::double(proof.lanes, &loaded(p)), complete_double(p, three_b));
    proof.finish(&[]);
}

#[test]
fn spread_points_compute_complete_formulas_g1() {
    spread_points::<blst::blst_p1_affine, _>(Proof::variable, |c| [c].into(), |proof| proof.number(3 * Bls12381::B));
}

#[test]
fn spread_points_compute_complete_formulas_g2() {
    spread_points::<blst::blst_p2_affine, _>(
        |proof| Naive2::of(&proof.in_fp2()),
        |c| c.0.into(),
        |proof| Naive2::real(proof.number(3 * Bls12381::B)) * super::naive::xi(proof),
    );
}

/// A tangent without its factor.
#[test]
#[should_panic(expected = "not proved: 2P")]
fn a_wrong_slope_is_not_proved() {
    let proof = Proof::<Bls12381>::new();
    let [x, y, z] = proof.variables();
    let double = curve::double(proof.lanes, &jacobian([x, y], z));
    is(&proof, "2P", &double, third([x, y], [x, y], x * x * (y + y).inverted()));
}
