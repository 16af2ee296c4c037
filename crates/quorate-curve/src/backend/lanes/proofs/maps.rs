//! The maps of hashing: square roots, the simplified SWU map, sums on E', isogenies, and the endomorphisms.

use core::array::from_fn;

use blst::{blst_p1_affine, blst_p2_affine};

use super::{
    naive::{Naive2, Ring, Specified, chord, is_square, on_each_curve, tangent, third, xi},
    proof::{Number, Proof},
    symbolic::Symbolic,
};
use crate::{
    arithmetic::Curve,
    backend::lanes::{
        curve::{self, Affine, Encoded, InLanes},
        field::{Field, Fp2, Mask, Parameters},
        hash_to_curve::{Chord, HashInLanes, Swu},
        square_root::{from_norms, in_fp, in_fp2, roots},
    },
    pairing::Bls12381,
};

type Bls = Symbolic<Bls12381>;

/// Every lane or none.
fn all_if(holds: bool) -> Mask {
    if holds { !0 } else { 0 }
}

fn norm<C: Specified>(a: Naive2<C>) -> Symbolic<C> {
    let [real, imaginary] = a.0;
    real * real + imaginary * imaginary
}

on_each_curve! {
    /// r² = ±a and 1/r, from the power c = a^((p - 3)/4), of which the square is ±1/a: a^((p - 1)/2) is 1 or -1.
    fn square_roots_in_fp<C>() {
        for is_a_square in [true, false] {
            let proof = Proof::<C>::new();
            let a = proof.variable();
            proof.squares(&[is_a_square]);
            let [found] = roots(proof.lanes, &[a]);
            let signed = |c: Symbolic<C>| if is_a_square { c } else { -c };
            proof.equal("r²", found.root * found.root, signed(a));
            proof.equal("r times its inverse", found.root * found.inverse, signed(proof.number(1)));
            assert_eq!(found.is_square, all_if(is_a_square));
            let [(root, mask)] = in_fp(proof.lanes, &[a]);
            proof.equal("the same root", root, found.root);
            assert_eq!(mask, found.is_square);
            proof.finish(&[("a", a)]);
        }
        let proof = Proof::<C>::new();
        let zero = proof.number(0);
        let [(root, mask)] = in_fp(proof.lanes, &[zero]);
        proof.equal("the root of zero", root, zero);
        assert_eq!(mask, !0);
        proof.finish(&[]);
    }

    /// If the norm of a is a square, a root of a comes from a root of the norm, with d = (Re a + t)/2 or -d a square. If it is not, the lanes
    /// say so.
    fn square_roots_in_fp2<C>() {
        for (is_a_square, is_d_square) in [(true, true), (true, false), (false, true), (false, false)] {
            let proof = Proof::<C>::new();
            let a = proof.in_fp2();
            proof.squares(&[is_a_square, is_d_square]);
            let [(root, mask)] = in_fp2(proof.lanes, &[a]);
            assert_eq!(mask, all_if(is_a_square));
            if is_a_square {
                proof.equal("the square of the root", Naive2::of(&root) * Naive2::of(&root), Naive2::of(&a));
            }
            let [of_norm] = roots(proof.lanes, &[a.norm()]);
            proof.finish(&[("norm of a", a.norm()), ("d", a.c0 + of_norm.root)]);
        }
        let proof = Proof::<C>::new();
        let zero = Fp2::zero(proof.lanes);
        let [(root, mask)] = in_fp2(proof.lanes, &[zero]);
        proof.equal("the root of zero", root, zero);
        assert_eq!(mask, !0);
        proof.finish(&[]);
    }

    /// Where d = (Re a + t)/2 is zero, a is real and t is -a. Then the other root of the norm is used.
    fn square_roots_of_real_numbers<C>() {
        for is_a_square in [true, false] {
            let proof = Proof::<C>::new();
            let (a, zero) = (proof.variable(), proof.number(0));
            proof.squares(&[is_a_square]);
            let [root] = from_norms(proof.lanes, &[Fp2::new(a, zero)], &[-a]);
            proof.equal("the square of the root", Naive2::of(&root) * Naive2::of(&root), Naive2([a, zero]));
            proof.finish(&[("a", a)]);
        }
    }

    /// ψ takes the twist to itself: for (x, y) with y² = x³ + b', (f·conj(x), g·conj(y)) has g²·conj(x³ + b') = f³·conj(x)³ + b'.
    fn psi_takes_the_twist_to_itself<C>() {
        let proof = Proof::<C>::new();
        let (x, y) = (proof.in_fp2(), proof.in_fp2());
        let image = curve::psi(&Affine { x, y });
        let [f, g] = C::PSI.map(|constant| Naive2::of(&Fp2::constant(proof.lanes, &constant)));
        proof.equal("x of the image", image.x, f * Naive2::of(&x).conjugate());
        proof.equal("y of the image", image.y, g * Naive2::of(&y).conjugate());
        let b = twisted_b(&proof);
        proof.equal("g² and f³", g * g, f * f * f);
        proof.equal("g²·conj(b') and b'", g * g * b.conjugate(), b);
        proof.finish(&[]);
    }

    /// The generators lie on the curve and on the twist.
    fn generators<C>() {
        let proof = Proof::<C>::new();
        let p = Affine::<Symbolic<C>>::load(proof.lanes, &[C::G1::generator()]);
        proof.equal("y² of the curve", p.y * p.y, p.x.cubed() + proof.number(C::B));
        let q = Affine::<Fp2<Symbolic<C>>>::load(proof.lanes, &[C::G2::generator()]);
        let [x, y] = [q.x, q.y].map(|c| Naive2::of(&c));
        proof.equal("y² of the twist", y * y, x.cubed() + twisted_b(&proof));
        proof.finish(&[]);
    }
}

/// The constant of the twist's equation.
fn twisted_b<C: Specified>(proof: &Proof<C>) -> Naive2<C> {
    let (b, xi) = (Naive2::real(proof.number(C::B)), xi(proof));
    if C::TWIST_MULTIPLIES { b * xi } else { b * xi.inverse() }
}

/// The multiple by a number in words of 64 bits, the lowest first.
pub(super) fn times<G: Curve>(point: &G, words: &[u64]) -> G {
    let sum = (0..64 * words.len()).rev().fold(G::IDENTITY.to_jacobian(), |sum, bit| {
        let twice = G::double(&sum);
        if words[bit / 64] >> (bit % 64) & 1 == 1 { G::add_affine(&twice, point) } else { twice }
    });
    G::to_affine(&[sum])[0]
}

/// ψ of the generator of the twist's subgroup. ψ is a homomorphism, so it multiplies the whole subgroup by the same number.
pub(super) fn psi_of_generator<C: Specified>() -> C::G2 {
    let proof = Proof::<C>::new();
    let image = curve::psi(&Affine::<Fp2<Symbolic<C>>>::load(proof.lanes, &[C::G2::generator()]));
    let [x, y] = [image.x.store()[0], image.y.store()[0]];
    proof.finish(&[]);
    C::G2::at(x, y)
}

/// ψ(Q) = z·Q, ω(P) = -z²·P and ω(Q) = -z²·Q for the parameter z, which is negative.
#[test]
fn eigenvalues_bls12381() {
    let [z, _] = Bls12381::PARAMETER;
    let square = u128::from(z) * u128::from(z);
    let square = [square as u64, (square >> 64) as u64];
    assert!(psi_of_generator::<Bls12381>() == times(&blst_p2_affine::generator(), &[z]).signed(true));
    assert!(blst_p1_affine::generator().turned(1) == times(&blst_p1_affine::generator(), &square).signed(true));
    assert!(blst_p2_affine::generator().turned(1) == times(&blst_p2_affine::generator(), &square).signed(true));
}

/// ψ² is -ω, and β·x is what turns a point.
#[test]
fn endomorphisms_of_bls12381() {
    let proof = Proof::<Bls12381>::new();
    let (x, y) = (proof.in_fp2(), proof.in_fp2());
    let image = curve::psi(&curve::psi(&Affine { x, y }));
    let of_g2 = Symbolic::splat(proof.lanes, &blst_p2_affine::beta());
    proof.equal("ψ²", [image.x, image.y], [Naive2::of(&x) * Naive2::real(of_g2), -Naive2::of(&y)]);
    let of_g1 = Symbolic::splat(proof.lanes, &blst_p1_affine::beta());
    proof.equal("ω", curve::turned(&x.c0), x.c0 * of_g1);
    proof.equal("b", blst_p1_affine::b(proof.lanes), proof.number(Bls12381::B));
    proof.equal("b of the twist", blst_p2_affine::b(proof.lanes), twisted_b(&proof));
    proof.finish(&[]);
}

/// g(x₂) = (Zu²)³·g(x₁) for x₂ = Zu²·x₁, for all A, B and Z, so that x₁ or x₂ is the x of a point of E' if Z is not a square.
#[test]
fn simplified_swu_map() {
    let proof = Proof::<Bls12381>::new();
    let [a, b, z, u] = proof.variables();
    let swu = Swu { a, b, z, minus_b_over_a: -b * a.inverted(), b_over_z_a: b * (z * a).inverted() };
    let g = |x: Bls| x.cubed() + a * x + b;
    let z_u2 = z * u * u;
    proof.equal("Zu²", swu.z_u2(&u), z_u2);
    let denominator = swu.denominator(&u);
    proof.equal("the denominator", denominator, z * z * u * u * u * u + z * u * u);
    let x1 = swu.x1(&denominator.inverted());
    // RFC 9380, section 6.6.2: x1 = (-B / A) * (1 + inv0(Z^2 * u^4 + Z * u^2)).
    proof.equal("x₁", x1, -b * a.inverted() * (proof.number(1) + denominator.inverted()));
    proof.equal("g", swu.g(&x1), g(x1));
    proof.equal("g(x₂)", g(z_u2 * x1), z_u2.cubed() * g(x1));
    // The inverse of a zero denominator is zero: x1 = B / (Z * A).
    proof.equal("x₁ of a zero denominator", swu.x1(&proof.number(0)), b * (z * a).inverted());
    proof.finish(&[("A", a), ("Z·A", z * a), ("denominator", denominator)]);
}

/// The constants of both suites, and that g(B/(ZA)) is a square and Z is not, as the map needs.
#[test]
fn constants_of_the_swu_maps() {
    let proof = Proof::<Bls12381>::new();
    let swu = blst_p1_affine::swu(proof.lanes);
    proof.equal("-B/A of G1", swu.minus_b_over_a * swu.a, -swu.b);
    proof.equal("B/(ZA) of G1", swu.b_over_z_a * swu.z * swu.a, swu.b);
    proof.equal("Z of G1", swu.z, proof.number(11));
    let square = |a: Bls| is_square(Number::<Bls12381>(a.store()[0]));
    assert!(square(swu.g(&swu.b_over_z_a)) && !square(swu.z));
    let swu = blst_p2_affine::swu(proof.lanes);
    let [a, b, z, minus_b_over_a, b_over_z_a] =
        [swu.a, swu.b, swu.z, swu.minus_b_over_a, swu.b_over_z_a].map(|c| Naive2::of(&c));
    let small = |real, imaginary| Naive2([proof.number(real), proof.number(imaginary)]);
    proof.equal("A, B and Z of G2", [a, b, z], [small(0, 240), small(1012, 1012), small(-2, -1)]);
    proof.equal("-B/A of G2", minus_b_over_a * a, -b);
    proof.equal("B/(ZA) of G2", b_over_z_a * z * a, b);
    // An element of Fp2 is a square if its norm is one.
    assert!(square(swu.g(&swu.b_over_z_a).norm()) && !square(swu.z.norm()));
    proof.finish(&[]);
}

/// The root of g(x₁), or that of (Zu²)³·g(x₁) if g(x₁) is not a square. g(x₁) is never zero: E' has no point of order two.
#[test]
fn roots_of_the_swu_map_g1() {
    for is_first in [true, false] {
        let proof = Proof::<Bls12381>::new();
        let [u, g1] = proof.variables();
        let swu = blst_p1_affine::swu(proof.lanes);
        let z_u2 = swu.z_u2(&u);
        proof.squares(&[is_first]);
        let [(root, mask)] = blst_p1_affine::roots(proof.lanes, &[u], &[z_u2], &[g1]);
        assert_eq!(mask, all_if(is_first));
        proof.equal("the square of the root", root * root, if is_first { g1 } else { z_u2.cubed() * g1 });
        proof.finish(&[("g(x₁)", g1)]);
    }
}

/// The same in Fp2, with a root of the norm that the square root of the other norm gives.
#[test]
fn roots_of_the_swu_map_g2() {
    for (is_first, is_d_square) in [(true, true), (true, false), (false, true), (false, false)] {
        let proof = Proof::<Bls12381>::new();
        let (u, g1) = (proof.in_fp2(), proof.in_fp2());
        let swu = blst_p2_affine::swu(proof.lanes);
        let z_u2 = swu.z_u2(&u);
        let z_u2_ = Naive2::of(&z_u2);
        let expected = if is_first { Naive2::of(&g1) } else { z_u2_ * z_u2_ * z_u2_ * Naive2::of(&g1) };
        proof.squares(&[is_first, is_d_square]);
        let [(root, mask)] = blst_p2_affine::roots(proof.lanes, &[u], &[z_u2], &[g1]);
        assert_eq!(mask, all_if(is_first));
        proof.equal("the square of the root", Naive2::of(&root) * Naive2::of(&root), expected);
        // d is half the real part and half a root t of the norm of the square.
        let [of_norm] = roots(proof.lanes, &[g1.norm()]);
        let of_minus_125 = Symbolic::splat(proof.lanes, &crate::backend::portable::map_to_g2::ROOT_OF_MINUS_125);
        let t = if is_first { of_norm.root } else { of_minus_125 * norm(Naive2::of(&u)).cubed() * of_norm.root };
        proof.finish(&[("norm of g(x₁)", g1.norm()), ("d", expected.0[0] + t)]);
    }
}

/// Sums on E': of different points, of equal ones, and the lanes of opposite ones, whose sum is the identity. Whether the y of different
/// points are the same is asked and not used, so the proof is repeated where they are.
#[test]
fn sums_on_the_isogenous_curve() {
    let sums = |proof: &Proof<Bls12381>, [a, x1, y1, x2, y2]: [Bls; 5]| {
        let (p, q) = ([x1, y1], [x2, y2]);
        let in_lanes = |point: [[Bls; 2]; 3]| {
            let coordinate = |i: usize| Symbolic::of_lanes(from_fn(|lane| point[lane % 3][i]));
            Affine { x: coordinate(0), y: coordinate(1) }
        };
        let pair = [in_lanes([p, p, p]), in_lanes([q, p, [x1, -y1]])];
        let chord_of_pair = Chord::new(&pair, &a);
        assert_eq!(chord_of_pair.opposite, 0b0010_0100);
        let defined = chord_of_pair.run.or(!chord_of_pair.opposite, &Field::one(proof.lanes));
        let sum = chord_of_pair.sum(&pair, &defined.inverted());
        for (lane, expected) in [third(p, q, chord(p, q)), third(p, p, tangent(p, Some(a)))].into_iter().enumerate() {
            proof.equal("the sum", [sum.x.lane(lane), sum.y.lane(lane)], expected);
        }
        // All lanes with different points take another way.
        let pair = [in_lanes([p; 3]), in_lanes([q; 3])];
        let chord_of_pair = Chord::new(&pair, &a);
        let sum = chord_of_pair.sum(&pair, &chord_of_pair.run.inverted());
        proof.equal("the sum", [sum.x, sum.y], third(p, q, chord(p, q)));
    };
    let proof = Proof::new();
    let [a, x1, y1, x2, y2] = proof.variables();
    sums(&proof, [a, x1, y1, x2, y2]);
    proof.finish(&[("difference of x", x2 - x1), ("y₁", y1), ("difference of y, not used", y2 - y1)]);
    let proof = Proof::new();
    let [a, x1, y, x2] = proof.variables();
    sums(&proof, [a, x1, y, x2, y]);
    proof.finish(&[("difference of x", x2 - x1), ("y", y)]);
}

/// Images of points of E' lie on E. Where h is zero, X is not, so that the image is the identity (X : Y : 0). The vectors of
/// RFC 9380 say which of the isogenies with this kernel it is.
#[test]
fn isogeny_of_g1() {
    let proof = Proof::<Bls12381>::new();
    let swu = blst_p1_affine::swu(proof.lanes);
    let x = proof.variable();
    let y = proof.root(2, x.cubed() + swu.a * x + swu.b);
    let image = blst_p1_affine::isogeny(proof.lanes, &Affine { x, y });
    let on_curve =
        |y: Bls, x: Bls, z: Bls| proof.equal("Y²", y * y, x.cubed() + proof.number(Bls12381::B) * z.cubed().squared());
    on_curve(image.y, image.x, image.z);
    // Degrees 11 and 5: the identity alone and what h makes zero is mapped to the identity.
    assert_eq!([image.x.degree(), image.z.degree()], [11, 5]);
    assert!(image.x.is_coprime_to(image.z));
    proof.finish(&[]);
}

/// The same over Fp2, for all x. Y is y times a function of x.
#[test]
fn isogeny_of_g2() {
    let proof = Proof::<Bls12381>::new();
    let swu = blst_p2_affine::swu(proof.lanes);
    let [a, b] = [swu.a, swu.b].map(|c| Naive2::of(&c));
    let (x, y) = (proof.in_fp2(), proof.in_fp2());
    let image = |y| blst_p2_affine::isogeny(proof.lanes, &Affine { x, y });
    let [with_one, with_y] = [image(Fp2::one(proof.lanes)), image(y)];
    proof.equal("Y and y", with_y.y, Naive2::of(&with_one.y) * Naive2::of(&y));
    proof.equal("X and Z", [with_y.x, with_y.z], [with_one.x, with_one.z].map(|c| Naive2::of(&c)));
    let [x, of_y, image_x, z] = [x, with_one.y, with_y.x, with_y.z].map(|c| Naive2::of(&c));
    let y_squared = x.cubed() + a * x + b;
    let z6 = z.cubed() * z.cubed();
    proof.equal("Y²", of_y * of_y * y_squared, image_x.cubed() + twisted_b(&proof) * z6);
    // Vélu: the kernel has x = -6 + 6i, where X is not zero.
    let kernel = Fp2::new(proof.number(-6), proof.number(6));
    let at_kernel = blst_p2_affine::isogeny(proof.lanes, &Affine { x: kernel, y });
    proof.equal("Z at the kernel", at_kernel.z, Naive2::real(proof.number(0)));
    assert_eq!(at_kernel.x.is_zero(), 0);
    proof.finish(&[]);
}

/// A map to another curve.
#[test]
#[should_panic(expected = "not proved: Y²")]
fn a_wrong_curve_is_not_proved() {
    let proof = Proof::<Bls12381>::new();
    let swu = blst_p1_affine::swu(proof.lanes);
    let x = proof.variable();
    let y = proof.root(2, x.cubed() + swu.a * x + swu.b);
    let image = blst_p1_affine::isogeny(proof.lanes, &Affine { x, y });
    proof.equal("Y²", image.y * image.y, image.x.cubed() + proof.number(5) * image.z.cubed() * image.z.cubed());
}
