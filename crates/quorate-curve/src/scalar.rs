//! Public scalars: elements of Fr, the integers modulo the group order r.
//!
//! They multiply points, and their polynomials share secrets. Nothing here runs in constant time: for secrets there is
//! [`SecretScalar`](crate::SecretScalar). Operations on many scalars are verbs of a [`Backend`](crate::Backend) and of a
//! [`Domain`](crate::Domain).

use core::{
    fmt,
    iter::{Product, Sum},
    ops::{Add, Mul, Neg, Sub},
};

use blst::*;

use crate::{
    arithmetic::curve::PARAMETER,
    weight::{Digit, Kind, Weight},
};

/// A public element of Fr. 32 bytes.
///
/// ```
/// use quorate_curve::Scalar;
/// let third = Scalar::from(3).inverse().expect("not zero");
/// assert_eq!(third + third + third, Scalar::ONE);
/// assert_eq!(Scalar::ONE - Scalar::from(2), -Scalar::ONE);
/// ```
// Canonical, in Montgomery form with R = 2^256.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Scalar(pub(crate) blst_fr);

/// Why bytes do not give a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ScalarError {
    /// The number is not below the group order r, so that another encoding names the same scalar.
    #[error("the scalar is not below the group order")]
    NotReduced,
}

/// A function of blst of two scalars.
type Binary = unsafe extern "C" fn(*mut blst_fr, *const blst_fr, *const blst_fr);

impl Scalar {
    /// The number zero.
    pub const ZERO: Self = Self(blst_fr { l: [0; 4] });
    /// One: 2^256 modulo r.
    pub const ONE: Self = Self(blst_fr {
        l: [0x0000_0001_ffff_fffe, 0x5884_b7fa_0003_4802, 0x998c_4fef_ecbc_4ff5, 0x1824_b159_acc5_056f],
    });

    /// Reads a big-endian number below r.
    ///
    /// # Errors
    /// [`ScalarError::NotReduced`].
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, ScalarError> {
        let (mut scalar, mut out) = (blst_scalar::default(), blst_fr::default());
        // SAFETY: 32 bytes in, and valid references.
        let reduced = unsafe {
            blst_scalar_from_bendian(&mut scalar, bytes.as_ptr());
            blst_scalar_fr_check(&scalar)
        };
        if !reduced {
            return Err(ScalarError::NotReduced);
        }
        // SAFETY: valid references, and a scalar below r.
        unsafe { blst_fr_from_scalar(&mut out, &scalar) };
        Ok(Self(out))
    }

    /// The big-endian number below r.
    pub fn to_bytes(&self) -> [u8; 32] {
        let mut bytes = self.to_le_bytes();
        bytes.reverse();
        bytes
    }

    /// The little-endian number below r.
    pub(crate) fn to_le_bytes(self) -> [u8; 32] {
        let mut scalar = blst_scalar::default();
        // SAFETY: valid references.
        unsafe { blst_scalar_from_fr(&mut scalar, &self.0) };
        scalar.b
    }

    /// A big-endian number modulo r. A uniform number of at least 48 bytes gives a scalar that is uniform up to 2^-128.
    pub fn reduce(bytes: &[u8]) -> Self {
        let word = |chunk: &[u8]| chunk.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let chunks = bytes.rchunks(8).rev();
        chunks.fold(Self::ZERO, |sum, chunk| sum * Self::TWO_TO_64 + Self::from(word(chunk)))
    }

    /// 2^64.
    const TWO_TO_64: Self = Self(blst_fr {
        l: [0xc98d_a28e_0121_c884, 0xe6f4_f4a0_c736_3c67, 0xb2d6_ebc4_e92e_7df1, 0x19ae_5794_9d26_242a],
    });

    /// Whether this is zero.
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// The inverse, or `None` of zero. It costs as much as some dozens of products. Many inverses: [`Backend::inverses`](crate::Backend::inverses).
    pub fn inverse(&self) -> Option<Self> {
        let mut out = blst_fr::default();
        // SAFETY: valid references.
        unsafe { blst_fr_eucl_inverse(&mut out, &self.0) };
        (!self.is_zero()).then_some(Self(out))
    }

    /// The power to an exponent. The power to zero is one.
    #[must_use]
    pub fn power(&self, exponent: u64) -> Self {
        (0..64 - exponent.leading_zeros()).rev().fold(Self::ONE, |power, bit| {
            let square = power * power;
            if exponent >> bit & 1 == 1 { square * *self } else { square }
        })
    }

    fn by(self, other: Self, function: Binary) -> Self {
        let mut out = blst_fr::default();
        // SAFETY: valid references, for each of the functions that this file passes.
        unsafe { function(&mut out, &self.0, &other.0) };
        Self(out)
    }
}

impl From<u64> for Scalar {
    fn from(n: u64) -> Self {
        let mut out = blst_fr::default();
        // SAFETY: four words in.
        unsafe { blst_fr_from_uint64(&mut out, [n, 0, 0, 0].as_ptr()) };
        Self(out)
    }
}

/// The scalar by which a weight multiplies points of order r.
impl From<Weight> for Scalar {
    fn from(weight: Weight) -> Self {
        // ω acts as -z², where z is the curve's parameter.
        let z = Self::from(PARAMETER);
        let turn = -(z * z);
        (0..weight.digits()).rev().fold(Self::ZERO, |sum, place| {
            let four_times = sum + sum + sum + sum;
            four_times + of_digit(weight.digit(place), turn)
        })
    }
}

/// A digit of a weight, where ω stands for `turn`.
fn of_digit(digit: Digit, turn: Scalar) -> Scalar {
    let size = match digit.kind {
        Kind::Zero => Scalar::ZERO,
        Kind::One => Scalar::ONE,
        Kind::Two => Scalar::from(2),
        Kind::Theta => Scalar::ONE - turn,
    };
    let turned = size * turn.power(digit.turn.into());
    if digit.negative { -turned } else { turned }
}

impl Add for Scalar {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.by(other, blst_fr_add)
    }
}

impl Sub for Scalar {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.by(other, blst_fr_sub)
    }
}

impl Mul for Scalar {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        self.by(other, blst_fr_mul)
    }
}

impl Neg for Scalar {
    type Output = Self;
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl Sum for Scalar {
    fn sum<I: Iterator<Item = Self>>(scalars: I) -> Self {
        scalars.fold(Self::ZERO, Add::add)
    }
}

impl Product for Scalar {
    fn product<I: Iterator<Item = Self>>(scalars: I) -> Self {
        scalars.fold(Self::ONE, Mul::mul)
    }
}

/// The big-endian number in hexadecimal.
impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scalar(0x")?;
        self.to_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Backend, Bls12381Group, G1, G2, WeightedSegments};
    use alloc::{format, vec, vec::Vec};

    /// r - 1, big-endian.
    const LARGEST: [u8; 32] = [
        0x73, 0xed, 0xa7, 0x53, 0x29, 0x9d, 0x7d, 0x48, 0x33, 0x39, 0xd8, 0x08, 0x09, 0xa1, 0xd8, 0x05, 0x53, 0xbd,
        0xa4, 0x02, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
    ];

    /// 0, 1, -1, powers of two, their negatives, and scalars that look random.
    pub(crate) fn scalars(n: usize) -> Vec<Scalar> {
        let mut state = Scalar::from(0x9e37_79b9_7f4a_7c15);
        let scalar = |i: usize| match i % 16 {
            0 => Scalar::ZERO,
            1 => Scalar::ONE,
            2 => -Scalar::ONE,
            3 => Scalar::from(2).power(i as u64 % 255),
            4 => -Scalar::from(2).power(i as u64 % 255),
            _ => {
                state = state * state + Scalar::from(i as u64);
                state
            }
        };
        (0..n).map(scalar).collect()
    }

    #[test]
    fn bytes_there_and_back() {
        for scalar in scalars(64) {
            assert_eq!(Scalar::from_bytes(&scalar.to_bytes()), Ok(scalar));
            assert_eq!(Scalar::reduce(&scalar.to_bytes()), scalar);
        }
        assert_eq!(Scalar::from_bytes(&LARGEST), Ok(-Scalar::ONE));
        let mut order = LARGEST;
        order[31] = 1;
        for bytes in [order, [0xff; 32]] {
            assert_eq!(Scalar::from_bytes(&bytes), Err(ScalarError::NotReduced));
        }
        assert_eq!(Scalar::reduce(&order), Scalar::ZERO);
        assert_eq!(Scalar::reduce(&[]), Scalar::ZERO);
        let mut long = [0; 49];
        long[0] = 1;
        assert_eq!(Scalar::reduce(&long), Scalar::from(2).power(384));
        assert_eq!(format!("{:?}", Scalar::from(0x1f)), format!("Scalar(0x{:064x})", 0x1f));
    }

    #[test]
    fn inverses_and_powers() {
        assert_eq!(Scalar::ZERO.inverse(), None);
        for scalar in scalars(64).into_iter().filter(|scalar| !scalar.is_zero()) {
            assert_eq!(scalar * scalar.inverse().expect("not zero"), Scalar::ONE);
            assert_eq!(scalar.power(5), scalar * scalar * scalar * scalar * scalar);
            assert_eq!((scalar.power(0), scalar.power(1)), (Scalar::ONE, scalar));
        }
        assert_eq!(Scalar::ZERO.power(0), Scalar::ONE);
    }

    /// A point times a weight is the point times the weight's scalar.
    fn weights_are_scalars<G: Bls12381Group>() {
        let backend = Backend::Portable;
        for bits in [1, 2, 15, 0x1234_5678_9abc_def0, u128::MAX, 1 << 124, 0xfedc_ba98 << 96 | 7] {
            let weight = Weight::from_bits(bits).expect("not zero");
            let mut weighted = WeightedSegments::new();
            weighted.push(G::generator(), weight);
            weighted.close();
            let product = backend.msm(&[(G::generator(), Scalar::from(weight))]);
            assert_eq!(backend.weighted_sums(&weighted), vec![product]);
        }
    }

    #[test]
    fn weights_are_scalars_on_both_groups() {
        weights_are_scalars::<G1>();
        weights_are_scalars::<G2>();
    }
}
