//! Messages as points, and signatures.

use std::{
    cmp::Ordering,
    fmt::{self, Debug, Display},
    iter::Sum,
    ops::Sub,
    str::FromStr,
};

use ark_bn254::G1Affine;
use ark_ec::{AffineRepr, CurveGroup};

use crate::encoding::{Bn254Item, Bn254ParseError, add_all, decode_g1, encode_g1, from_hex};

/// A message as a point of G1: the result of a function of [`hash_to_curve`](crate::hash_to_curve).
///
/// Nobody knows the discrete logarithm of a hashed point, and it is the identity with negligible probability. The
/// security of a signature depends on both.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessagePoint(G1Affine);

impl MessagePoint {
    /// Takes a point that the caller hashed a message to. Do not pass any other point: for a known multiple of the
    /// generator, or for the identity, everyone can make a signature that verifies.
    pub fn from_point(point: G1Affine) -> Self {
        Self(point)
    }

    /// The sum of messages that one key signed. `None` if it is the identity, as the sum of no messages is.
    #[must_use]
    pub fn sum_of(messages: &[Self]) -> Option<Self> {
        let sum = add_all(messages.iter().map(|message| message.0));
        (!sum.is_zero()).then_some(Self(sum))
    }

    /// The point.
    pub fn point(&self) -> G1Affine {
        self.0
    }

    /// x ‖ y.
    pub fn to_bytes(&self) -> [u8; 64] {
        encode_g1(&self.0)
    }
}

impl Debug for MessagePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessagePoint({})", const_hex::encode_prefixed(self.to_bytes()))
    }
}

/// A signature: a point of G1 in 64 bytes. The identity is a signature too; an aggregate of cancelling keys makes it.
///
/// `Display` and `FromStr` are hexadecimal; the order is that of the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bn254Signature(G1Affine);

impl Bn254Signature {
    /// Reads 64 bytes, x ‖ y; zeros are the identity.
    ///
    /// # Errors
    /// [`Bn254ParseError::Length`], [`Bn254ParseError::NotCanonical`], [`Bn254ParseError::NotOnCurve`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Bn254ParseError> {
        decode_g1(bytes, Bn254Item::Signature).map(Self)
    }

    /// A point of G1.
    pub fn from_point(point: G1Affine) -> Self {
        Self(point)
    }

    /// x ‖ y; zeros for the identity.
    pub fn to_bytes(&self) -> [u8; 64] {
        encode_g1(&self.0)
    }

    /// The point.
    pub fn point(&self) -> G1Affine {
        self.0
    }
}

/// The aggregate signature; the identity if there is nothing to add.
impl Sum for Bn254Signature {
    fn sum<I: Iterator<Item = Self>>(signatures: I) -> Self {
        Self(add_all(signatures.map(|signature| signature.0)))
    }
}

/// An aggregate without one of the signatures in it.
impl Sub for Bn254Signature {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self((self.0 - other.0).into_affine())
    }
}

impl TryFrom<&[u8]> for Bn254Signature {
    type Error = Bn254ParseError;

    fn try_from(bytes: &[u8]) -> Result<Self, Bn254ParseError> {
        Self::from_bytes(bytes)
    }
}

impl FromStr for Bn254Signature {
    type Err = Bn254ParseError;

    fn from_str(hex: &str) -> Result<Self, Bn254ParseError> {
        Self::from_bytes(&from_hex(hex, Bn254Item::Signature)?)
    }
}

impl Ord for Bn254Signature {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_bytes().cmp(&other.to_bytes())
    }
}

impl PartialOrd for Bn254Signature {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Display for Bn254Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&const_hex::encode_prefixed(self.to_bytes()))
    }
}

impl Debug for Bn254Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bn254Signature({self})")
    }
}
