//! Public keys, which are checked once, and secret keys, which are wiped and never printed.

use std::{
    cmp::Ordering,
    fmt::{self, Debug, Display},
    str::FromStr,
};

use ark_bn254::{G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use zeroize::Zeroizing;

use crate::{
    encoding::{Bn254Item, Bn254ParseError, KeyPoint, add_all, from_hex},
    ladder::{self, Scalar},
    signature::{Bn254Signature, MessagePoint},
};

/// A public key: canonical, on the curve, in the subgroup of order r, and not the identity.
///
/// `Bn254PublicKey` without a parameter is a key in G2 (128 bytes), which verifies signatures. A key in G1 (64 bytes) is
/// cheaper to add up on chain. `Display` and `FromStr` are hexadecimal; the order is that of the bytes.
///
/// The type does not say whether anybody knows the secret key. Before you add keys up, ask every owner for a proof of
/// possession.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bn254PublicKey<G: KeyPoint = G2Affine>(G);

impl<G: KeyPoint> Bn254PublicKey<G> {
    /// Reads a key in the EVM's byte order: 64 bytes in G1, 128 in G2.
    ///
    /// # Errors
    /// [`Bn254ParseError`]: wrong length, a coordinate that is too large, not on the curve, not in the subgroup, the
    /// identity.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Bn254ParseError> {
        Self::from_sum(G::decode(bytes, G::KEY)?).ok_or(Bn254ParseError::IdentityKey(G::KEY))
    }

    /// The bytes that [`from_bytes`](Self::from_bytes) reads: `[u8; 64]` in G1, `[u8; 128]` in G2.
    pub fn to_bytes(&self) -> G::Bytes {
        self.0.encode()
    }

    /// The point.
    pub fn point(&self) -> G {
        self.0
    }

    /// A sum of checked keys, which is in the subgroup as they are; `None` for the identity.
    fn from_sum(point: G) -> Option<Self> {
        (!point.is_zero()).then_some(Self(point))
    }
}

impl<G: KeyPoint> TryFrom<&[u8]> for Bn254PublicKey<G> {
    type Error = Bn254ParseError;

    fn try_from(bytes: &[u8]) -> Result<Self, Bn254ParseError> {
        Self::from_bytes(bytes)
    }
}

impl<G: KeyPoint> FromStr for Bn254PublicKey<G> {
    type Err = Bn254ParseError;

    fn from_str(hex: &str) -> Result<Self, Bn254ParseError> {
        Self::from_bytes(&from_hex(hex, G::KEY)?)
    }
}

impl<G: KeyPoint> Ord for Bn254PublicKey<G> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_bytes().cmp(&other.to_bytes())
    }
}

impl<G: KeyPoint> PartialOrd for Bn254PublicKey<G> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<G: KeyPoint> Display for Bn254PublicKey<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&const_hex::encode_prefixed(self.to_bytes()))
    }
}

impl<G: KeyPoint> Debug for Bn254PublicKey<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bn254PublicKey({self})")
    }
}

/// The key of a quorum: the sum of its members' keys. `None` if the sum is the identity, because there are no keys or
/// because they cancel.
///
/// Does not check the possession of the keys.
#[must_use]
pub fn aggregate<G: KeyPoint>(keys: impl IntoIterator<Item = Bn254PublicKey<G>>) -> Option<Bn254PublicKey<G>> {
    Bn254PublicKey::from_sum(add_all(keys.into_iter().map(|key| key.0)))
}

/// The key of a quorum, computed from the key of another quorum, its base: `base` + `added` - `removed`. A base of `None`
/// is the identity. `None` if the sum is the identity.
#[must_use]
pub fn sum<G: KeyPoint>(
    base: Option<Bn254PublicKey<G>>,
    added: impl IntoIterator<Item = Bn254PublicKey<G>>,
    removed: impl IntoIterator<Item = Bn254PublicKey<G>>,
) -> Option<Bn254PublicKey<G>> {
    let removed = removed.into_iter().map(|key| (-key.0.into_group()).into_affine());
    Bn254PublicKey::from_sum(add_all(base.into_iter().chain(added).map(|key| key.0).chain(removed)))
}

/// A secret key on BN254: a scalar between 1 and r - 1.
///
/// Everything that computes with the scalar takes constant time: no branch and no address in memory depends on it. blst, with
/// which quorate signs elsewhere, does not have this curve, so the multiplications are a ladder of our own over the
/// arithmetic of `crypto-bigint`. They take a few times as long as arkworks', which are not constant time.
///
/// The secret is wiped when it is dropped, and is never printed. Copies that the compiler leaves on the stack and in registers
/// are not wiped.
pub struct Bn254SecretKey(Zeroizing<[u8; 32]>);

impl Bn254SecretKey {
    /// Reads a scalar between 1 and r - 1, 32 bytes, big-endian.
    ///
    /// # Errors
    /// [`Bn254ParseError::Length`], [`Bn254ParseError::SecretOutOfRange`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Bn254ParseError> {
        let length = Bn254ParseError::Length { item: Bn254Item::SecretKey, expected: 32, found: bytes.len() };
        let word: &[u8; 32] = bytes.try_into().map_err(|_| length)?;
        let in_range = ladder::scalar_from_bytes(word).is_some();
        if in_range { Ok(Self(Zeroizing::new(*word))) } else { Err(Bn254ParseError::SecretOutOfRange) }
    }

    /// A key from 48 bytes of a CSPRNG. The bytes are reduced modulo r, which is uniform up to 2^-130; zero becomes 1.
    pub fn from_entropy(entropy: &[u8; 48]) -> Self {
        Self(Zeroizing::new(ladder::scalar_bytes(&ladder::reduce(entropy))))
    }

    /// The scalar, big-endian.
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        self.0.clone()
    }

    /// The public key in G1. One multiplication in G1.
    pub fn public_key_g1(&self) -> Bn254PublicKey<G1Affine> {
        Bn254PublicKey(ladder::multiply_g1(G1Affine::generator(), &self.scalar()))
    }

    /// The public key in G2. One multiplication in G2.
    pub fn public_key_g2(&self) -> Bn254PublicKey<G2Affine> {
        Bn254PublicKey(ladder::multiply_g2(G2Affine::generator(), &self.scalar()))
    }

    /// The signature: the message's point times the secret. One multiplication in G1.
    pub fn sign(&self, message: &MessagePoint) -> Bn254Signature {
        Bn254Signature::from_point(ladder::multiply_g1(message.point(), &self.scalar()))
    }

    fn scalar(&self) -> Zeroizing<Scalar> {
        Zeroizing::new(Scalar::from_be_slice(self.0.as_slice()))
    }
}

impl TryFrom<&[u8]> for Bn254SecretKey {
    type Error = Bn254ParseError;

    fn try_from(bytes: &[u8]) -> Result<Self, Bn254ParseError> {
        Self::from_bytes(bytes)
    }
}

impl Debug for Bn254SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bn254SecretKey(redacted)")
    }
}
