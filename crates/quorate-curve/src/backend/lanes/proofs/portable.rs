//! The affine additions of the portable backend, which are generic in the points.

use alloc::vec::Vec;

use super::{
    naive::{chord, tangent, third},
    proof::Proof,
    symbolic::{Single, Symbolic},
};
use crate::{
    arithmetic::{Curve, curve::GroupId},
    backend::portable::affine,
    pairing::Bls12381,
    segments::Segments,
};

type Number = Single<Bls12381>;

/// A point whose coordinates are polynomials. (0, 0) is the identity.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Point {
    x: Number,
    y: Number,
}

const UNUSED: &str = "affine additions do not use it";

impl Curve for Point {
    type Jacobian = ();
    type Field = Number;

    const ID: GroupId = GroupId::G1;
    const IDENTITY: Self = Self { x: Number::ZERO, y: Number::ZERO };
    const SUMMED_IN_STEP_FROM: usize = 1;

    fn generator() -> Self {
        unreachable!("{UNUSED}")
    }

    fn at(x: Number, y: Number) -> Self {
        Self { x, y }
    }

    fn x(&self) -> Number {
        self.x
    }

    fn y(&self) -> Number {
        self.y
    }

    fn one() -> Number {
        Number::ONE
    }

    fn in_subgroup(&self) -> bool {
        unreachable!("{UNUSED}")
    }

    fn turn_field(_: Number, _: u8) -> Number {
        unreachable!("{UNUSED}")
    }

    fn to_jacobian(&self) {
        unreachable!("{UNUSED}")
    }

    fn to_affine(_: &[()]) -> Vec<Self> {
        unreachable!("{UNUSED}")
    }

    fn double((): &()) {
        unreachable!("{UNUSED}")
    }

    fn add_affine((): &(), _: &Self) {
        unreachable!("{UNUSED}")
    }

    fn signed(self, _: bool) -> Self {
        unreachable!("{UNUSED}")
    }
}

/// Sums of pairs with one inversion for all: different points, equal ones, opposite ones, and identities.
#[test]
fn affine_additions() {
    let proof = Proof::<Bls12381>::new();
    let [x1, y1, x2, y2] = proof.variables();
    let (p, q, zero) = ([x1, y1], [x2, y2], [proof.number(0); 2]);
    let sums = [
        (p, q, third(p, q, chord(p, q))),
        (p, p, third(p, p, tangent(p, None))),
        (p, [x1, -y1], zero),
        (zero, q, q),
        (p, zero, p),
        (zero, zero, zero),
    ];
    let point = |[x, y]: [Symbolic<Bls12381>; 2]| Point { x: Number::of(x), y: Number::of(y) };
    let pairs = sums.iter().flat_map(|(a, b, _)| [point(*a), point(*b)]).collect();
    for (found, (_, _, expected)) in affine::sums(Segments::of_size(2, pairs)).into_iter().zip(sums) {
        proof.equal("the sum", [found.x.in_lanes(), found.y.in_lanes()], expected);
    }
    let mut doubled = [point(p), point(zero)];
    affine::double_all(&mut doubled);
    for (found, expected) in doubled.into_iter().zip([sums[1].2, zero]) {
        proof.equal("the double", [found.x.in_lanes(), found.y.in_lanes()], expected);
    }
    // Of x₁ and x₂ it is asked whether they are zero, as the identity's are with y.
    proof.finish(&[("difference of x", x2 - x1), ("y₁", y1), ("x₁", x1), ("x₂", x2)]);
}
