//! Points of BN254 and of its twist outside the lanes: arkworks' fields and projective coordinates.

use alloc::vec::Vec;

use ark_bn254::{Fq, Fq2, Fq12, G2Affine, g1, g2};
use ark_ec::{
    AffineRepr, CurveGroup,
    scalar_mul::glv::GLVConfig,
    short_weierstrass::{Affine as ArkAffine, Projective, SWCurveConfig},
};
use ark_ff::{AdditiveGroup, Field as _, MontFp, SqrtPrecomputation};

use super::{fp2, inverse};
use crate::{
    arithmetic::{Curve, curve::GroupId, field::Field},
    pairing::sealed::Target,
};

/// The curve BN254, as a type. No value of it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bn254 {}

impl Target for Bn254 {
    type Value = Fq12;
    const ONE: Fq12 = Fq12::ONE;

    fn multiply(a: &Fq12, b: &Fq12) -> Fq12 {
        a * b
    }

    fn conjugate(a: &Fq12) -> Fq12 {
        let mut out = *a;
        out.conjugate_in_place();
        out
    }
}

/// A point by its coordinates; (0, 0) is the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Coordinates<F> {
    pub(super) x: F,
    pub(super) y: F,
}

macro_rules! field {
    ($field:ident, $product:expr, $square:expr, $inverse:expr) => {
        impl Field for $field {
            #[inline]
            fn plus(&self, other: &Self) -> Self {
                *self + other
            }

            #[inline]
            fn minus(&self, other: &Self) -> Self {
                *self - other
            }

            #[inline]
            fn times(&self, other: &Self) -> Self {
                let product: fn(&Self, &Self) -> Self = $product;
                product(self, other)
            }

            #[inline]
            fn squared(&self) -> Self {
                let square: fn(&Self) -> Self = $square;
                square(self)
            }

            fn inverse(&self) -> Self {
                let inverse: fn(&Self) -> Self = $inverse;
                inverse(self)
            }
        }
    };
}

field!(Fq, |a, b| *a * b, |a| a.square(), inverse::inverse);
field!(Fq2, fp2::product, fp2::square, |element| {
    let inverse = inverse::inverse(&(element.c0.square() + element.c1.square()));
    Fq2::new(element.c0 * inverse, -element.c1 * inverse)
});

macro_rules! curve {
    ($id:ident, $field:ident, $config:path, $omega:expr, $is_member:expr) => {
        impl Curve for Coordinates<$field> {
            type Jacobian = Projective<$config>;
            type Field = $field;

            const ID: GroupId = GroupId::$id;
            const IDENTITY: Self = Self { x: $field::ZERO, y: $field::ZERO };
            const SUMMED_IN_STEP_FROM: usize = 128;

            fn generator() -> Self {
                let point = <$config as SWCurveConfig>::GENERATOR;
                Self { x: point.x, y: point.y }
            }

            #[inline]
            fn at(x: $field, y: $field) -> Self {
                Self { x, y }
            }

            #[inline]
            fn x(&self) -> $field {
                self.x
            }

            #[inline]
            fn y(&self) -> $field {
                self.y
            }

            fn one() -> $field {
                $field::ONE
            }

            fn in_subgroup(&self) -> bool {
                $is_member(self)
            }

            fn turn_field(x: $field, turn: u8) -> $field {
                let omega: $field = $omega;
                match turn {
                    0 => x,
                    1 => x * omega,
                    _ => x * omega.square(),
                }
            }

            fn to_jacobian(&self) -> Self::Jacobian {
                to_ark(self).into_group()
            }

            fn to_affine(points: &[Self::Jacobian]) -> Vec<Self> {
                Projective::normalize_batch(points).iter().map(from_ark).collect()
            }

            fn double(point: &Self::Jacobian) -> Self::Jacobian {
                point.double()
            }

            fn add_affine(a: &Self::Jacobian, b: &Self) -> Self::Jacobian {
                *a + to_ark(b)
            }

            fn signed(self, negative: bool) -> Self {
                if negative { Self { x: self.x, y: -self.y } } else { self }
            }
        }
    };
}

// ω has one eigenvalue on both groups: arkworks' endomorphisms have λ and λ².
curve!(G1, Fq, g1::Config, g1::Config::ENDO_COEFFS[0], |_| true);
curve!(G2, Fq2, g2::Config, g2::Config::ENDO_COEFFS[0].square(), is_member);

/// (p + 1)/4 in words of 64 bits, the lowest first.
pub(super) const ROOT_EXPONENT: &[u64] = match Fq::SQRT_PRECOMP {
    Some(SqrtPrecomputation::Case3Mod4 { modulus_plus_one_div_four }) => modulus_plus_one_div_four,
    _ => panic!("p is 3 modulo 4"),
};

pub(super) fn to_ark<P: SWCurveConfig>(point: &Coordinates<P::BaseField>) -> ArkAffine<P> {
    if point.x == P::BaseField::ZERO && point.y == P::BaseField::ZERO {
        ArkAffine::identity()
    } else {
        ArkAffine::new_unchecked(point.x, point.y)
    }
}

pub(super) fn from_ark<P: SWCurveConfig>(point: &ArkAffine<P>) -> Coordinates<P::BaseField> {
    let zero = P::BaseField::ZERO;
    point.xy().map_or(Coordinates { x: zero, y: zero }, |(x, y)| Coordinates { x, y })
}

/// The curve's parameter x.
pub(super) const PARAMETER: u64 = 4_965_661_367_192_848_881;

/// Whether a point of the twist has order r: [x+1]Q + ψ([x]Q) + ψ²([x]Q) = ψ³([2x]Q) (Dai, Lin, Zhao and Zhou, ePrint 2022/348, section 5.1).
///
/// Cost: a multiplication by the 63 bits of x, where arkworks multiplies by the 127 bits of 6x².
pub(super) fn is_member(point: &Coordinates<Fq2>) -> bool {
    let affine: G2Affine = to_ark(point);
    let by_x =
        (0..u64::BITS - PARAMETER.leading_zeros()).rev().fold(Projective::default(), |sum: Projective<_>, bit| {
            let twice = sum.double();
            if PARAMETER >> bit & 1 == 1 { twice + affine } else { twice }
        });
    let once = psi(by_x);
    by_x + affine + once + psi(once) == psi(psi(psi(by_x.double())))
}

/// The endomorphism ψ, the Frobenius map of the curve carried over to the twist: (x, y) → (ξ^((p-1)/3)·xᵖ, ξ^((p-1)/2)·yᵖ), where ξ = 9 + i.
fn psi(point: Projective<g2::Config>) -> Projective<g2::Config> {
    const OF_X: Fq2 = Fq2::new(
        MontFp!("21575463638280843010398324269430826099269044274347216827212613867836435027261"),
        MontFp!("10307601595873709700152284273816112264069230130616436755625194854815875713954"),
    );
    const OF_Y: Fq2 = Fq2::new(
        MontFp!("2821565182194536844548159561693502659359617185244120367078079554186484126554"),
        MontFp!("3505843767911556378687030309984248845540243509899259641013678093033130930403"),
    );
    let [mut x, mut y, mut z] = [point.x, point.y, point.z];
    [&mut x, &mut y, &mut z].into_iter().for_each(|coordinate| coordinate.frobenius_map_in_place(1));
    Projective::new_unchecked(OF_X * x, OF_Y * y, z)
}
