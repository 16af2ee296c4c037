//! A point times a secret, in constant time: the one place where a secret scalar meets a curve.
//!
//! The same operations run in the same order for every secret. No branch and no address in memory depends on the secret,
//! nor on anything that is computed from it. Three things make this so:
//!
//! - The arithmetic modulo p and modulo r is that of `crypto-bigint`, whose functions take constant time unless their name
//!   ends in `_vartime`. It asks for a CPU that multiplies words in constant time.
//! - The additions are complete: one formula is right for every two points, also for equal ones, for opposite ones and for
//!   the identity. So nothing has to be told apart.
//! - The ladder has a fixed number of steps. Each step doubles, adds, and selects one of two points by a mask.
//!
//! The point is public, and so is the result.

use ark_bn254::{Fq, Fq2, G1Affine, G2Affine, g1, g2};
use ark_ec::{AffineRepr, short_weierstrass::SWCurveConfig};
use crypto_bigint::{Choice, CtLt, CtSelect, U256, modular::ConstMontyForm};
use zeroize::Zeroizing;

use crate::encoding::{fq_bytes, fq_from_bytes};

/// A number from 0 to 2^256 - 1 that nobody may learn.
pub(crate) type Scalar = U256;

/// The number of bits of the group order r.
const BITS: u32 = 254;

/// A point of G1 times the secret. 508 additions.
pub(crate) fn multiply_g1(point: G1Affine, secret: &Scalar) -> G1Affine {
    let triple_b = from_public(g1::Config::COEFF_B).triple();
    match point.xy().and_then(|(x, y)| multiply([x, y].map(from_public), secret, triple_b)) {
        Some([x, y]) => G1Affine::new_unchecked(publish(&x), publish(&y)),
        None => G1Affine::identity(),
    }
}

/// A point of G2 times the secret. 508 additions.
pub(crate) fn multiply_g2(point: G2Affine, secret: &Scalar) -> G2Affine {
    let read = |public: Fq2| Quadratic { real: from_public(public.c0), imaginary: from_public(public.c1) };
    let write = |result: Quadratic| Fq2::new(publish(&result.real), publish(&result.imaginary));
    let triple_b = read(g2::Config::COEFF_B).triple();
    match point.xy().and_then(|(x, y)| multiply([x, y].map(read), secret, triple_b)) {
        Some([x, y]) => G2Affine::new_unchecked(write(x), write(y)),
        None => G2Affine::identity(),
    }
}

/// Reads a scalar from 1 to r - 1, big-endian. Tells only whether it is one.
pub(crate) fn scalar_from_bytes(bytes: &[u8; 32]) -> Option<Scalar> {
    let scalar = U256::from_be_slice(bytes);
    let in_range = scalar.is_nonzero().and(scalar.ct_lt(Fr::MODULUS.as_ref()));
    in_range.to_bool().then_some(scalar)
}

/// 48 bytes, big-endian, modulo r; 1 in the place of 0.
pub(crate) fn reduce(bytes: &[u8; 48]) -> Scalar {
    let (high, low) = bytes.split_at(16);
    let mut word = Zeroizing::new([0; 32]);
    word[16..].copy_from_slice(high);
    let [high, low] = [&word[..], low].map(|bytes| Fr::new(&U256::from_be_slice(bytes)));
    // The Montgomery form of 1 is 2^256 modulo r.
    let shift = Fr::new(Fr::ONE.as_montgomery());
    let scalar = high.mul(&shift).add(&low).retrieve();
    U256::ONE.ct_select(&scalar, scalar.is_nonzero())
}

/// The scalar in 32 bytes, big-endian.
pub(crate) fn scalar_bytes(scalar: &Scalar) -> [u8; 32] {
    scalar.to_be_bytes().into()
}

/// The point (x, y) of the curve Y²Z = X³ + b·Z³ times the secret, from the most significant bit on; `None` for the
/// identity. The curve must have no point of order 2, for which the additions would not be complete: G1 has the odd order r,
/// and the twist that holds G2 has the odd order r·(2p - r).
fn multiply<F: Field>([x, y]: [F; 2], secret: &Scalar, triple_b: F) -> Option<[F; 2]> {
    let point = Projective { x, y, z: F::ONE };
    let mut sum = Projective { x: F::ZERO, y: F::ONE, z: F::ZERO };
    for bit in (0..BITS).rev() {
        sum = sum.add(&sum, &triple_b);
        let added = sum.add(&point, &triple_b);
        sum = sum.select(&added, secret.bit(bit));
    }
    // Z tells something of the secret, so the inverse is computed in constant time, too.
    let inverse = sum.z.invert();
    (!sum.z.is_zero()).then(|| [sum.x.mul(&inverse), sum.y.mul(&inverse)])
}

/// x = X/Z and y = Y/Z; (0 : 1 : 0) is the identity.
#[derive(Clone, Copy)]
struct Projective<F> {
    x: F,
    y: F,
    z: F,
}

impl<F: Field> Projective<F> {
    /// The complete addition on y² = x³ + b, with `triple_b` = 3b: J. Renes, C. Costello and L. Batina, "Complete addition
    /// formulas for prime order elliptic curves" (2016), section 3.3, algorithm 7.
    fn add(&self, other: &Self, triple_b: &F) -> Self {
        let (xx, yy, zz) = (self.x.mul(&other.x), self.y.mul(&other.y), self.z.mul(&other.z));
        // X1·Y2 + X2·Y1, and the same for the other two pairs of coordinates.
        let xy = self.x.add(&self.y).mul(&other.x.add(&other.y)).sub(&xx.add(&yy));
        let yz = self.y.add(&self.z).mul(&other.y.add(&other.z)).sub(&yy.add(&zz));
        let xz = self.x.add(&self.z).mul(&other.x.add(&other.z)).sub(&xx.add(&zz));
        let (xx, zz, xz) = (xx.triple(), zz.mul(triple_b), xz.mul(triple_b));
        let (plus, minus) = (yy.add(&zz), yy.sub(&zz));
        Self {
            x: xy.mul(&minus).sub(&yz.mul(&xz)),
            y: plus.mul(&minus).add(&xx.mul(&xz)),
            z: yz.mul(&plus).add(&xy.mul(&xx)),
        }
    }

    fn select(&self, other: &Self, choice: Choice) -> Self {
        Self {
            x: self.x.select(&other.x, choice),
            y: self.y.select(&other.y, choice),
            z: self.z.select(&other.z, choice),
        }
    }
}

/// A field of coordinates, in constant time but for [`is_zero`](Field::is_zero) and `publish`.
trait Field: Copy {
    const ZERO: Self;
    const ONE: Self;

    fn add(&self, other: &Self) -> Self;
    fn sub(&self, other: &Self) -> Self;
    fn mul(&self, other: &Self) -> Self;

    /// The inverse; anything for zero.
    fn invert(&self) -> Self;

    /// `self`, or `other` if the choice is true.
    fn select(&self, other: &Self, choice: Choice) -> Self;

    /// Tells whether a result is zero, which is public.
    fn is_zero(&self) -> bool;

    fn triple(&self) -> Self {
        self.add(self).add(self)
    }
}

mod modulus {
    #![allow(missing_docs, unreachable_pub, reason = "the macro makes public types")]
    use crypto_bigint::{U256, const_monty_params};

    const_monty_params!(P, U256, "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47");
    const_monty_params!(R, U256, "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001");
}

/// A number modulo the field modulus p.
type Fp = ConstMontyForm<modulus::P, { U256::LIMBS }>;
/// A number modulo the group order r.
type Fr = ConstMontyForm<modulus::R, { U256::LIMBS }>;

impl Field for Fp {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;

    fn add(&self, other: &Self) -> Self {
        self.add(other)
    }

    fn sub(&self, other: &Self) -> Self {
        self.sub(other)
    }

    fn mul(&self, other: &Self) -> Self {
        self.mul(other)
    }

    fn invert(&self) -> Self {
        self.invert().to_inner_unchecked()
    }

    fn select(&self, other: &Self, choice: Choice) -> Self {
        self.ct_select(other, choice)
    }

    fn is_zero(&self) -> bool {
        !self.as_montgomery().is_nonzero().to_bool()
    }
}

/// real + imaginary·i with i² = -1.
#[derive(Clone, Copy)]
struct Quadratic {
    real: Fp,
    imaginary: Fp,
}

impl Field for Quadratic {
    const ZERO: Self = Self { real: Fp::ZERO, imaginary: Fp::ZERO };
    const ONE: Self = Self { real: Fp::ONE, imaginary: Fp::ZERO };

    fn add(&self, other: &Self) -> Self {
        Self { real: self.real.add(&other.real), imaginary: self.imaginary.add(&other.imaginary) }
    }

    fn sub(&self, other: &Self) -> Self {
        Self { real: self.real.sub(&other.real), imaginary: self.imaginary.sub(&other.imaginary) }
    }

    fn mul(&self, other: &Self) -> Self {
        let (real, imaginary) = (self.real.mul(&other.real), self.imaginary.mul(&other.imaginary));
        let both = self.real.add(&self.imaginary).mul(&other.real.add(&other.imaginary));
        Self { real: real.sub(&imaginary), imaginary: both.sub(&real).sub(&imaginary) }
    }

    /// (a - b·i)/(a² + b²).
    fn invert(&self) -> Self {
        let norm = self.real.square().add(&self.imaginary.square());
        let inverse = Field::invert(&norm);
        Self { real: self.real.mul(&inverse), imaginary: self.imaginary.neg().mul(&inverse) }
    }

    fn select(&self, other: &Self, choice: Choice) -> Self {
        let real = self.real.select(&other.real, choice);
        Self { real, imaginary: self.imaginary.select(&other.imaginary, choice) }
    }

    fn is_zero(&self) -> bool {
        Field::is_zero(&self.real) && Field::is_zero(&self.imaginary)
    }
}

fn from_public(element: Fq) -> Fp {
    Fp::new(&U256::from_be_slice(&fq_bytes(&element)))
}

/// A coordinate of the result, which everyone may know.
fn publish(element: &Fp) -> Fq {
    fq_from_bytes(&element.retrieve().to_be_bytes().into()).expect("it is reduced modulo p")
}

#[cfg(test)]
mod tests {
    use ark_ec::CurveGroup;
    use ark_ff::{BigInteger, Field as _, PrimeField};
    use proptest::prelude::*;

    use super::*;

    type Theirs = ark_bn254::Fr;

    /// The oracle: arkworks' multiplications, which skip zeros.
    fn agrees(scalar: &[u8; 32], g1: G1Affine, g2: G2Affine) {
        let secret = U256::from_be_slice(scalar);
        let theirs = Theirs::from_be_bytes_mod_order(scalar);
        assert_eq!(multiply_g1(g1, &secret), (g1 * theirs).into_affine(), "{scalar:?}");
        assert_eq!(multiply_g2(g2, &secret), (g2 * theirs).into_affine(), "{scalar:?}");
    }

    fn word(scalar: impl BigInteger) -> [u8; 32] {
        scalar.to_bytes_be().try_into().expect("four limbs")
    }

    /// Small numbers and numbers near r, for which the sum meets the point, its opposite and the identity; powers of two and
    /// numbers of ones.
    #[test]
    fn edges() {
        let (g1, g2) = (G1Affine::generator(), G2Affine::generator());
        let minus = |k: u64| word((-Theirs::from(k)).into_bigint());
        for k in 1..=8 {
            agrees(&word(Theirs::from(k).into_bigint()), g1, g2);
            agrees(&minus(k), g1, g2);
        }
        for bit in [63, 64, 127, 128, 191, 192, 252, 253] {
            let mut scalar = [0; 32];
            scalar[31 - bit / 8] = 1 << (bit % 8);
            agrees(&scalar, g1, g2);
            let scalar: U256 = U256::from_be_slice(&scalar).wrapping_sub(&U256::ONE);
            agrees(&scalar_bytes(&scalar), g1, g2);
        }
        // (r - 1)/2 and (r + 1)/2: the last doubling makes -P and P.
        let half = Theirs::from(2u8).inverse().expect("two is not zero");
        agrees(&word(half.into_bigint()), g1, g2);
        agrees(&word((half - Theirs::from(1u8)).into_bigint()), g1, g2);
    }

    #[test]
    fn zero_r_and_the_identity_make_the_identity() {
        let r: [u8; 32] = word(Theirs::MODULUS);
        for scalar in [[0; 32], r] {
            agrees(&scalar, G1Affine::generator(), G2Affine::generator());
        }
        agrees(&[1; 32], G1Affine::identity(), G2Affine::identity());
    }

    #[test]
    fn scalars_in_range() {
        let r: [u8; 32] = word(Theirs::MODULUS);
        let mut below = r;
        below[31] -= 1;
        let mut above = r;
        above[31] += 1;
        let mut one = [0; 32];
        one[31] = 1;
        for scalar in [[0; 32], r, above, [0xff; 32]] {
            assert_eq!(scalar_from_bytes(&scalar), None);
        }
        for scalar in [one, below] {
            assert_eq!(scalar_from_bytes(&scalar).map(|read| scalar_bytes(&read)), Some(scalar));
        }
    }

    #[test]
    fn zero_is_reduced_to_one() {
        let r: [u8; 32] = word(Theirs::MODULUS);
        let mut multiple = [0; 48];
        assert_eq!(reduce(&multiple), U256::ONE);
        multiple[16..].copy_from_slice(&r);
        assert_eq!(reduce(&multiple), U256::ONE);
        multiple[47] += 2;
        assert_eq!(reduce(&multiple), U256::from(2u8));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn arkworks_agrees(scalar: [u8; 32], seed: u64) {
            let mut scalar = scalar;
            scalar[0] &= 0x1f;
            let point = Theirs::from(seed) + Theirs::from(1u8);
            agrees(&scalar, (G1Affine::generator() * point).into_affine(), (G2Affine::generator() * point).into_affine());
        }

        #[test]
        fn arkworks_reduces_alike(bytes: [u8; 48]) {
            let theirs = Theirs::from_be_bytes_mod_order(&bytes);
            prop_assert_eq!(scalar_bytes(&reduce(&bytes)), word(theirs.into_bigint()));
        }

        /// The identity, equal points and opposite points are no exceptions.
        #[test]
        fn additions_are_complete(a in 0u64..6, b in 0u64..6, negative: bool) {
            let triple_b = from_public(g1::Config::COEFF_B).triple();
            let times = |k: u64| (G1Affine::generator() * Theirs::from(k)).into_affine();
            let other = if negative { -times(b) } else { times(b) };
            // Z is not 1.
            let projective = |point: G1Affine| match point.xy() {
                Some((x, y)) => {
                    let z = Fq::from(7u8);
                    Projective { x: from_public(x * z), y: from_public(y * z), z: from_public(z) }
                }
                None => Projective { x: Fp::ZERO, y: Fp::ONE, z: Fp::ZERO },
            };
            let sum = projective(times(a)).add(&projective(other), &triple_b);
            let inverse = Field::invert(&sum.z);
            let expected = (times(a) + other).into_affine();
            prop_assert_eq!(Field::is_zero(&sum.z), expected.xy().is_none());
            if let Some((x, y)) = expected.xy() {
                prop_assert_eq!((publish(&sum.x.mul(&inverse)), publish(&sum.y.mul(&inverse))), (x, y));
            }
        }
    }
}
