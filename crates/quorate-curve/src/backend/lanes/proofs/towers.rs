//! Fp2, Fp6 and Fp12: products, squares, inverses, the Frobenius map, and squares in the cyclotomic subgroup.

use core::array::from_fn;

use super::{
    naive::{Naive2, Naive12, Ring as _, Specified, is_square, on_each_curve, w_to_p_minus_one, xi},
    proof::{Falsified, Number, Proof},
    symbolic::Symbolic,
};
use crate::{
    backend::lanes::{
        compressed::{Compressed, first_coefficients},
        field::{Extension as _, Field, Fp2, Wide, invert_all},
        fp12::{Accumulator, Fp6, compressed_squares, inverted6},
        spread::{ScaledLines, Spread},
    },
    pairing::Bls12381,
    polynomial::Coefficient as _,
};

on_each_curve! {
    /// Every operation by which a formula computes in Fp2, and those that a curve gives for its ξ.
    fn operations_of_fp2<C>() {
        let proof = Proof::<C>::new();
        let (a, b, s) = (proof.in_fp2(), proof.in_fp2(), proof.variable());
        let (x, y, xi) = (Naive2::of(&a), Naive2::of(&b), xi(&proof));
        let (zero, one) = (proof.number(0), proof.number(1));
        proof.equal("0 and 1", [Fp2::zero(proof.lanes), Fp2::one(proof.lanes)], [[zero, zero], [one, zero]].map(Naive2));
        proof.equal("a + b", a.plus(&b), x + y);
        proof.equal("a + b as a factor", a.sum_factor(&b), x + y);
        proof.equal("a - b", a.minus(&b), x - y);
        proof.equal("a - b less a sum", a.minus_sum(&b), x - y);
        proof.equal("a - b with a bound", a.subtract::<9, 4>(&b), x - y);
        proof.equal("2a", a.doubled(), x + x);
        proof.equal("-a", a.negated(), -x);
        proof.equal("the same numbers", [a.carried(), a.shrunk(), a.factor()], [x, x, x]);
        proof.equal("a·b", a.times(&b), x * y);
        proof.equal("a²", a.squared(), x * x);
        proof.equal("s·a", a.times_fp(&s), x * Naive2::real(s));
        proof.equal("the conjugate", a.conjugated(), x.conjugate());
        proof.equal("the norm", Naive2::real(a.norm()), x * x.conjugate());
        proof.equal("ξ·a", a.times_xi(), xi * x);
        let (wide_a, wide_b) = (Wide { c0: a.c0, c1: a.c1 }, Wide { c0: b.c0, c1: b.c1 });
        proof.equal("a product of sums", Wide::product(&a, &b), x * y);
        proof.equal("a square of sums", Wide::square(&a), x * x);
        proof.equal("the element of a sum", wide_a.reduced(), x);
        let mut onto = b;
        wide_a.reduce_onto(&mut onto);
        proof.equal("a sum reduced onto an element", onto, x + y);
        proof.equal("ξ times a sum", C::wide_times_xi(&wide_a), xi * x);
        proof.equal("a + ξ·b of sums", C::plus_times_xi(&wide_a, &wide_b), x + xi * y);
        // (a + αb)(a + βb) = a² + (α + β)ab + ξb².
        let [with_alpha, with_beta] = C::factors_of_norm(&a, &b).map(|factor| Naive2::of(&factor));
        let middle = Naive2::of(&C::times_sum_of_factors(&a)) * y;
        proof.equal("the factors of a² + ξb² with their sum", with_alpha * with_beta, x * x + xi * y * y + middle);
        proof.finish(&[]);
    }

    /// a·a⁻¹ = 1 unless the norm of a is zero, which it is for zero alone, because -1 is not a square.
    fn inverse_in_fp2<C>() {
        let proof = Proof::<C>::new();
        let a = proof.in_fp2();
        proof.equal("a·a⁻¹", Naive2::of(&a) * Naive2::of(&a.inverted()), Naive2::real(proof.number(1)));
        assert!(!is_square(Number::<C>::one().negated()));
        proof.finish(&[("norm of a", a.c0 * a.c0 + a.c1 * a.c1)]);
    }

    /// Montgomery's trick, with zeros before, between and after others.
    fn inverses_of_many<C>() {
        let proof = Proof::<C>::new();
        let [a, b, c] = proof.variables();
        let (zero, one) = (proof.number(0), proof.number(1));
        for zeros in 0..8_u8 {
            let elements = [a, b, c];
            let mut inverses: [_; 3] = from_fn(|i| if zeros >> i & 1 == 1 { zero } else { elements[i] });
            invert_all(&mut inverses);
            for i in 0..3 {
                let is_zero = zeros >> i & 1 == 1;
                let (found, expected) = if is_zero { (inverses[i], zero) } else { (inverses[i] * elements[i], one) };
                proof.equal("an inverse", found, expected);
            }
        }
        proof.finish(&[("a", a), ("b", b), ("c", c)]);
    }

    fn product_in_fp12<C>() {
        let proof = Proof::<C>::new();
        let (a, b) = (Naive12::variable(&proof), Naive12::variable(&proof));
        proof.equal("a·b", Naive12::of(&a.fp12().times(&b.fp12())), a * b);
        proof.finish(&[]);
    }

    fn square_in_fp12<C>() {
        let proof = Proof::<C>::new();
        let a = Naive12::variable(&proof);
        proof.equal("a²", Naive12::of(&a.fp12().squared()), a * a);
        proof.finish(&[]);
    }

    /// f(-w), which is f raised to p⁶: w^(p⁶) = w·ξ^((p⁶ - 1)/6), a power of w^(p - 1) times its conjugates.
    fn conjugate_in_fp12<C>() {
        let proof = Proof::<C>::new();
        let a = Naive12::variable(&proof);
        let conjugate = Naive12::of(&a.fp12().conjugated());
        proof.equal("f(-w)", conjugate, a.each(|k, c| if k % 2 == 0 { c } else { -c }));
        let raised = (0..6).fold(a, |raised, _| raised.frobenius(&proof));
        proof.equal("six times raised to p", conjugate, raised);
        proof.finish(&[]);
    }

    /// With the constants ξ^(k(p - 1)/6), computed from their definition.
    fn frobenius_in_fp12<C>() {
        let proof = Proof::<C>::new();
        let a = Naive12::variable(&proof);
        proof.equal("a raised to p", Naive12::of(&a.fp12().frobenius()), a.frobenius(&proof));
        proof.finish(&[]);
    }

    /// f·f⁻¹ = 1, in three steps, because the norm of f to Fp has a million terms. The norm to Fp6 gets variables of its own. The
    /// norm is zero for zero alone.
    fn inverse_in_fp12<C>() {
        let proof = Proof::<C>::new();
        let f = Naive12::variable(&proof);
        // Six parts of the norm to Fp6, and the two parts of its norm to Fp2 stay what they are.
        proof.cut(6);
        let inverse = Naive12::of(&f.fp12().inverted());
        let cut = proof.cut_off();
        let part = |i: usize| Naive2([cut[2 * i].1, cut[2 * i + 1].1]);
        let definition = |i: usize| Naive2([cut[2 * i].0, cut[2 * i + 1].0]);
        let conjugate = f.each(|k, c| if k % 2 == 0 { c } else { -c });
        let zero = Naive2::real(proof.number(0));
        // n = f·f(-w)
        proof.equal(
            "the norm to Fp6",
            Naive12([definition(0), zero, definition(1), zero, definition(2), zero]),
            f * conjugate,
        );
        // f⁻¹ = f(-w)·n⁻¹
        let norm: Fp6<Symbolic<C>> = from_fn(|i| part(i).fp2());
        let of_norm = inverted6(proof.lanes, &norm);
        let even = |parts: Fp6<Symbolic<C>>| {
            let [a, b, c] = parts.map(|part| Naive2::of(&part));
            Naive12([a, zero, b, zero, c, zero])
        };
        proof.equal("f⁻¹", inverse, conjugate * even(of_norm));
        // n·n⁻¹ = 1
        proof.equal("n·n⁻¹", even(norm) * even(of_norm), Naive12::one(&proof));
        // The norm of n to Fp: n0³ + ξn1³ + ξ²n2³ - 3ξ·n0n1n2 in Fp2, times its conjugate.
        let xi = xi(&proof);
        let [a, b, c] = norm.map(|part| Naive2::of(&part));
        let triple = xi * a * b * c;
        let to_fp2 = a.cubed() + xi * b.cubed() + xi * xi * c.cubed() - triple - triple - triple;
        let [to_fp, _] = (to_fp2 * to_fp2.conjugate()).0;
        proof.finish(&[("norm of f", to_fp)]);
    }

    /// The product with 1 + (2a + 2bv)·v^SHIFT·w, and with a scale in the place of 1.
    fn products_with_lines<C>() {
        products_with_shifted_lines::<C, 0>();
        products_with_shifted_lines::<C, 1>();
    }

    /// f² in the cyclotomic subgroup. Its definition f^(p⁴)·f = f^(p²) is the relation G = f^(p⁴)·f - f^(p²) = 0 with six parts, and
    /// the result is f² + 2κₖGₖ in the coefficient of w^k, for powers κₖ of a root of one.
    fn square_in_the_cyclotomic_subgroup<C>() {
        let proof = Proof::<C>::new();
        let f = Naive12::variable(&proof);
        let expected = square_by_relation(&proof, f);
        proof.equal("f²", Naive12::of(&f.fp12().cyclotomic_squared()), expected);
        proof.equal("f² with coefficients in lanes", spread(f).cyclotomic_squared().0, in_lanes(expected));
        proof.finish(&[]);
    }

    /// The same without a₀ and b₀, with elements in lanes and with coefficients in lanes.
    fn compressed_squares_in_the_cyclotomic_subgroup<C>() {
        let proof = Proof::<C>::new();
        let f = Naive12::variable(&proof);
        let known = |f: Naive12<C>| [f.0[1], f.0[4], f.0[2], f.0[5]];
        let expected = known(square_by_relation(&proof, f));
        let mut squared = known(f).map(Naive2::fp2);
        compressed_squares(proof.lanes, &mut squared, 1);
        proof.equal("a₁, b₁, a₂ and b₂ of f²", squared, expected);
        let row = |c: Naive2<C>| c.fp2().scatter()[0];
        let mut compressed = Compressed::<Symbolic<C>>::of_rows(proof.lanes, &known(f).map(row));
        compressed.square(1);
        let squared = compressed.to_rows().map(|row| Fp2::<Symbolic<C>>::gather(proof.lanes, &[&row; 8]));
        proof.equal("the same in lanes", squared, expected);
        proof.finish(&[]);
    }

    /// a₀ and b₀ from the other coefficients, unless a₁ is zero, where the caller squares without compression. Beside G = 0 the relations
    /// are U = f^(p⁶)·f - 1 = 0, because p⁴ - p² + 1 divides p⁶ + 1.
    fn decompression_in_the_cyclotomic_subgroup<C>() {
        let proof = Proof::<C>::new();
        let xi = xi(&proof);
        let times = |n: i64, c: Naive2<C>| Naive2::real(proof.number(n)) * c;
        let mut f = Naive12::variable(&proof);
        let relations = |f: Naive12<C>| {
            let (g, scale) = (relation(&proof, f), scales(&proof));
            let unitary = f.each(|k, c| if k % 2 == 0 { c } else { -c }) * f - Naive12::one(&proof);
            // Those of A² - conj(A) - s·BC = 0 and of A·B - s·C² - conj(B) = 0.
            (g.0[0], -(g.0[4] * scale[4]), unitary)
        };
        // 4a₁b₀ - (ξb₂² + 3a₂² - 2b₁) is a sum of relations.
        let (_, second, unitary) = relations(f);
        let [a0, a1, a2, b0, b1, b2] = f.0;
        let rest = xi * b2 * b2 + times(3, a2 * a2) - times(2, b1);
        proof.equal("b₀", times(4, a1 * b0) - rest, times(2, second) - unitary.0[4]);
        // So b₁ is what they make it, and then b₀ comes out, and a₀ up to relations.
        let half = proof.number(2).inverted();
        f.0[4] = (xi * b2 * b2 + times(3, a2 * a2) - times(4, a1 * b0)) * Naive2::real(half);
        let (first, _, unitary) = relations(f);
        let known = [a1, f.0[4], a2, b2].map(Naive2::fp2);
        let four_a1 = times(4, a1).fp2();
        let [found_a0, found_b0] = first_coefficients(&known, &four_a1.inverted());
        proof.equal("b₀ of the formula", found_b0, b0);
        proof.equal("a₀ of the formula", Naive2::of(&found_a0) - a0, first - unitary.0[0]);
        let [real, imaginary] = a1.0;
        proof.finish(&[("norm of a₁", real * real + imaginary * imaginary)]);
    }

    /// Products and squares of one element, with its coefficients in lanes.
    fn products_with_coefficients_in_lanes<C>() {
        let proof = Proof::<C>::new();
        let (a, b) = (Naive12::variable(&proof), Naive12::variable(&proof));
        proof.equal("a·b", spread(a).times(&spread(b)).0, in_lanes(a * b));
        proof.equal("a²", spread(a).squared().0, in_lanes(a * a));
        proof.equal("f(-w)", spread(a).conjugated().0, in_lanes(a.each(|k, c| if k % 2 == 0 { c } else { -c })));
        proof.equal("a raised to p", spread(a).frobenius().0, in_lanes(a.frobenius(&proof)));
        proof.equal("one", Spread::one(proof.lanes).0, in_lanes(Naive12::one(&proof)));
        proof.finish(&[]);
    }

    /// scale + (2a + 2bv)·w, times v if the twist multiplies by ξ, for the line of each of two pairs.
    fn product_with_a_line_with_coefficients_in_lanes<C>() {
        let proof = Proof::<C>::new();
        let f = Naive12::variable(&proof);
        let zero = Naive2::real(proof.number(0));
        let parts: [[Naive2<C>; 3]; 2] = from_fn(|_| from_fn(|_| Naive2::of(&proof.in_fp2())));
        let coefficients = from_fn(|i| {
            let at = |part: usize| Symbolic::of_lanes(from_fn(|lane| if lane < 2 { parts[lane][i].0[part] } else { zero.0[0] }));
            Fp2 { c0: at(0), c1: at(1) }
        });
        let lines = ScaledLines { coefficients, lanes: [0; 3] };
        for (pair, [scale, a, b]) in parts.into_iter().enumerate() {
            let line = line(scale, a, b, usize::from(C::TWIST_MULTIPLIES));
            proof.equal("f times the line", spread(f).times_line(&lines, pair).0, in_lanes(f * line));
        }
        proof.finish(&[]);
    }
}

/// scale + (2a + 2bv)·v^shift·w.
fn line<C: Specified>(scale: Naive2<C>, a: Naive2<C>, b: Naive2<C>, shift: usize) -> Naive12<C> {
    Naive12::monomial(0, scale) + Naive12::monomial(1 + 2 * shift, a + a) + Naive12::monomial(3 + 2 * shift, b + b)
}

fn products_with_shifted_lines<C: Specified, const SHIFT: usize>() {
    let proof = Proof::<C>::new();
    let f = Naive12::variable(&proof);
    let [scale, a, b] = [(); 3].map(|()| proof.in_fp2());
    let [of_scale, of_a, of_b] = [scale, a, b].map(|c| Naive2::of(&c));
    let mut product = Accumulator::new(f.fp12());
    product.times_line::<SHIFT>(&a, &b);
    let one = Naive2::real(proof.number(1));
    proof.equal("f times the line", Naive12::of(product.value()), f * line(one, of_a, of_b, SHIFT));
    let mut product = Accumulator::new(f.fp12());
    product.times_scaled_line::<SHIFT>(&scale, &a, &b);
    proof.equal("f times the scaled line", Naive12::of(product.value()), f * line(of_scale, of_a, of_b, SHIFT));
    proof.finish(&[]);
}

/// f^(p⁴)·f - f^(p²), which is zero in the cyclotomic subgroup and nowhere else.
fn relation<C: Specified>(proof: &Proof<C>, f: Naive12<C>) -> Naive12<C> {
    let twice = f.frobenius(proof).frobenius(proof);
    twice.frobenius(proof).frobenius(proof) * f - twice
}

/// κₖ = ω^k with ω = ξ^((p² - 1)/3), a cube root of one.
fn scales<C: Specified>(proof: &Proof<C>) -> [Naive2<C>; 6] {
    let w = w_to_p_minus_one(proof);
    // w^(p² - 1) = w^(p - 1) times its conjugate.
    let w_to_p2 = w * w.conjugate();
    let omega = w_to_p2 * w_to_p2;
    from_fn(|k| (0..k).fold(Naive2::real(proof.number(1)), |product, _| product * omega))
}

/// f² + 2κₖGₖ.
fn square_by_relation<C: Specified>(proof: &Proof<C>, f: Naive12<C>) -> Naive12<C> {
    let (square, g, scale) = (f * f, relation(proof, f), scales(proof));
    square.each(|k, c| c + scale[k] * g.0[k] + scale[k] * g.0[k])
}

/// The coefficients in six lanes, by the powers of w.
fn in_lanes<C: Specified>(f: Naive12<C>) -> Fp2<Symbolic<C>> {
    const POWERS: [usize; 6] = [0, 3, 1, 4, 2, 5];
    let zero = Symbolic::zero(f.0[0].0[0].lanes());
    let part = |i: usize| Symbolic::of_lanes(from_fn(|lane| POWERS.get(lane).map_or(zero, |power| f.0[*power].0[i])));
    Fp2 { c0: part(0), c1: part(1) }
}

fn spread<C: Specified>(f: Naive12<C>) -> Spread<Symbolic<C>> {
    Spread(in_lanes(f))
}

/// Without the relations of the cyclotomic subgroup its square is not the square.
#[test]
#[should_panic(expected = "not proved: f²")]
fn a_square_without_its_relation_is_not_proved() {
    let proof = Proof::<Bls12381>::new();
    let f = Naive12::variable(&proof);
    proof.equal("f²", Naive12::of(&f.fp12().cyclotomic_squared()), f * f);
}

/// A difference with a wrong sign, in the product with ξ alone.
#[test]
#[should_panic(expected = "not proved: ξ·a")]
fn a_wrong_sign_in_xi_is_not_proved() {
    let proof = Proof::<Bls12381>::new();
    let a = proof.in_fp2();
    proof.falsify(Falsified::Minus);
    proof.equal("ξ·a", a.times_xi(), xi(&proof) * Naive2::of(&a));
}

/// Every reduced sum twice.
#[test]
#[should_panic(expected = "not proved: a·b")]
fn a_doubled_term_is_not_proved() {
    let proof = Proof::<Bls12381>::new();
    let (a, b) = (Naive12::variable(&proof), Naive12::variable(&proof));
    proof.falsify(Falsified::Reduced);
    proof.equal("a·b", Naive12::of(&a.fp12().times(&b.fp12())), a * b);
}

/// What a formula divides by must be named.
#[test]
#[should_panic(expected = "unnamed exceptional cases")]
fn an_exception_without_a_name_is_not_proved() {
    let proof = Proof::<Bls12381>::new();
    let a = proof.variable();
    proof.equal("a·a⁻¹", a * a.inverted(), proof.number(1));
    proof.finish(&[]);
}

/// Nor may a proof name what it does not need.
#[test]
#[should_panic(expected = "the proof needs no b")]
fn an_exception_that_is_none_is_not_proved() {
    let proof = Proof::<Bls12381>::new();
    let [a, b] = proof.variables();
    proof.equal("a·a⁻¹", a * a.inverted(), proof.number(1));
    proof.finish(&[("a", a), ("b", b)]);
}

#[test]
#[should_panic(expected = "zero has no inverse")]
fn zero_has_no_inverse() {
    let proof = Proof::<Bls12381>::new();
    let a = proof.variable();
    let _ = (a + -a).inverted();
}
