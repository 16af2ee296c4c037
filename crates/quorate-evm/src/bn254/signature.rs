//! Signatures, and the pairings that check them.

use std::{
    fmt::{self, Debug},
    iter::Sum,
    ops::Sub,
};

use ark_bn254::Bn254;
use ark_ec::{AffineRepr, CurveGroup, pairing::Pairing};
use ark_ff::Zero;

use super::{
    G1, G2,
    encoding::{Item, ParseError, add_all, decode_g1, encode_g1},
    key::PublicKey,
};

/// A message as a point of G1: what [`hash_to_curve`](crate::hash_to_curve) makes. Never the identity in practice, and
/// nobody knows its discrete logarithm.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessagePoint(G1);

impl MessagePoint {
    /// A point that the caller hashed to. One that was made in another way (a multiple of the generator, say) lets
    /// anyone sign.
    pub fn from_point(point: G1) -> Self {
        Self(point)
    }

    /// The point.
    pub fn point(&self) -> G1 {
        self.0
    }

    /// x ‖ y.
    pub fn to_bytes(&self) -> [u8; 64] {
        encode_g1(&self.0)
    }
}

impl Debug for MessagePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessagePoint({})", self.0)
    }
}

/// A signature: a point of G1. It may be the identity, which an aggregate of cancelling keys can be.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature(G1);

impl Signature {
    /// Reads 64 bytes, x ‖ y.
    ///
    /// # Errors
    /// [`ParseError::Length`], [`ParseError::NotCanonical`], [`ParseError::NotOnCurve`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        decode_g1(bytes, Item::Signature).map(Self)
    }

    /// A point of G1.
    pub fn from_point(point: G1) -> Self {
        Self(point)
    }

    /// x ‖ y; zeros for the identity.
    pub fn to_bytes(&self) -> [u8; 64] {
        encode_g1(&self.0)
    }

    /// The point.
    pub fn point(&self) -> G1 {
        self.0
    }
}

/// The aggregate signature; the identity where there is nothing to add.
impl Sum for Signature {
    fn sum<I: Iterator<Item = Self>>(signatures: I) -> Self {
        Self(add_all(signatures.map(|signature| signature.0)))
    }
}

/// An aggregate less a signature in it.
impl Sub for Signature {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self((self.0 - other.0).into_affine())
    }
}

impl Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({})", self.0)
    }
}

/// Whether `e(s, -G2) · e(H, pk) = 1`: one signature over one message under one key, or under the sum of a quorum's
/// keys. Two Miller loops, one final exponentiation.
///
/// Does not check possession of the keys in a sum.
pub fn verify(key: &PublicKey<G2>, message: &MessagePoint, signature: &Signature) -> bool {
    aggregate_verify(&[(*key, *message)], signature)
}

/// Whether `e(s, -G2) · e(H_1 + … + H_n, pk) = 1`: the sum of one key's signatures over several messages. Two Miller
/// loops whatever n is. No messages and the identity: true of nothing, so false.
///
/// The messages have to differ where the key is a sum of keys that signed in turn; a quorum that signed each is one key.
pub fn verify_all(key: &PublicKey<G2>, messages: &[MessagePoint], signature: &Signature) -> bool {
    let message = MessagePoint(add_all(messages.iter().map(|message| message.0)));
    !messages.is_empty() && verify(key, &message, signature)
}

/// Whether `e(s, -G2) · prod_i e(H_i, pk_i) = 1`: each key signed its own message. n + 1 Miller loops, one final
/// exponentiation. No statements: false.
///
/// Equal messages need keys whose possession was proved.
pub fn aggregate_verify(statements: &[(PublicKey<G2>, MessagePoint)], signature: &Signature) -> bool {
    let negated_generator = (-G2::generator().into_group()).into_affine();
    let pairs = statements.iter().map(|(key, message)| (message.0, key.point()));
    let pairs: Vec<_> = pairs.chain([(signature.0, negated_generator)]).collect();
    !statements.is_empty() && pairing_is_one(&pairs)
}

/// Whether the product of pairings is one, as the precompile 0x08 answers for points in their groups; true for none.
pub fn pairing_is_one(pairs: &[(G1, G2)]) -> bool {
    let (left, right): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    Bn254::multi_pairing(left, right).is_zero()
}
