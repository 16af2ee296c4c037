//! What the proofs need to know of BN254, which is compiled where there are lanes for it, and what is proved of it alone.

use super::{
    maps::{psi_of_generator, times},
    naive::{Naive2, Ring as _, Specified},
    powers::{Family, at, final_exponentiation_of, loop_makes, parameter, polynomial, power_by_the_parameter},
    proof::Proof,
};
use crate::{
    Bn254,
    arithmetic::Curve,
    backend::lanes::{
        curve::{self, Affine, Jacobian},
        field::{LoopStep, Parameters},
    },
    bn254::lanes::image,
};

impl Specified for Bn254 {
    const XI: [i64; 2] = [9, 1];
    const B: i64 = 3;
}

/// BN: with the parameter x = n, p = 36x⁴ + 36x³ + 24x² + 6x + 1 and r = 36x⁴ + 36x³ + 18x² + 6x + 1.
fn bn() -> Family {
    Family {
        p: polynomial(&[1, 6, 24, 36, 36]),
        over: 1,
        r: polynomial(&[1, 6, 18, 36, 36]),
        hard: [
            polynomial(&[1, 6, 12, 12]),
            polynomial(&[0, 4, 6, 12]),
            polynomial(&[0, 6, 6, 12]),
            polynomial(&[-1, 4, 6, 12]),
        ],
        multiple: polynomial(&[0, 2, 6, 12]),
    }
}

#[test]
fn final_exponentiation() {
    use ark_ff::PrimeField as _;
    final_exponentiation_of::<Bn254>(&bn());
    let r = at(bn().r, parameter::<Bn254>());
    assert_eq!(r, core::array::from_fn(|i| ark_bn254::Fr::MODULUS.0.get(i).copied().unwrap_or(0)));
    power_by_the_parameter::<Bn254>();
}

/// f(6x + 2, Q), then the lines to ψ(Q) and -ψ²(Q).
#[test]
fn steps_of_the_miller_loop() {
    let images = &[LoopStep::AddImage, LoopStep::SubtractSecondImage][..];
    let n = i128::from(parameter::<Bn254>());
    assert_eq!(loop_makes(Bn254::LOOP), (6 * n + 2, images));
}

/// ψ(Q) = 6x²·Q, which is p·Q, and ω multiplies both subgroups by 36x³ + 18x² + 6x + 1 or by its square, -1 less that.
#[test]
fn eigenvalues() {
    type Points1 = <Bn254 as Parameters>::G1;
    type Points2 = <Bn254 as Parameters>::G2;
    let [plus, minus] = Bn254::PARAMETER;
    let x = u128::from(plus - minus);
    let square = 6 * x * x;
    assert!(psi_of_generator::<Bn254>() == times(&Points2::generator(), &[square as u64, (square >> 64) as u64]));
    fn root_of_one<G: Curve>(x: u64) -> bool {
        // ((36x + 18)·x + 6)·x + 1
        let base = G::generator();
        let by = |point: &G, n: u64| times(point, &[n]);
        let plus = |point: &G, n: u64| G::to_affine(&[G::add_affine(&by(&base, n).to_jacobian(), point)])[0];
        let multiple = plus(&by(&plus(&by(&plus(&by(&by(&base, 36), x), 18), x), 6), x), 1);
        let square = G::to_affine(&[G::add_affine(&multiple.to_jacobian(), &base)])[0].signed(true);
        let turned = base.turned(1);
        assert!((turned == multiple) ^ (turned == square));
        turned == multiple
    }
    assert_eq!(root_of_one::<Points1>(x as u64), root_of_one::<Points2>(x as u64));
}

/// ψ of points in Jacobian coordinates.
#[test]
fn psi_of_jacobian_points() {
    let proof = Proof::<Bn254>::new();
    let [x, y, z] = [(); 3].map(|()| Naive2::of(&proof.in_fp2()));
    let affine = curve::psi(&Affine { x: x.fp2(), y: y.fp2() });
    let jacobian = Jacobian { x: (x * z * z).fp2(), y: (y * z.cubed()).fp2(), z: z.fp2() };
    let image = image(&jacobian);
    let z = Naive2::of(&image.z);
    proof.equal("X and Y", [image.x, image.y], [Naive2::of(&affine.x) * z * z, Naive2::of(&affine.y) * z.cubed()]);
    proof.equal("Z", image.z, Naive2::of(&jacobian.z).conjugate());
    proof.finish(&[]);
}
