//! Public keys, which are checked once, and secret keys, which are wiped and never printed.

use std::{
    cmp::Ordering,
    fmt::{self, Debug, Display},
    str::FromStr,
};

use ark_bn254::{G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
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
#[derive(Clone)]
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

    /// `KeyGen` of draft-irtf-cfrg-bls-signature-05, section 2.3, with the r of this curve, from at least 32 secret bytes. The caller
    /// has counted them. If the scalar is zero, which has a probability of 2^-254, the key is 1, where the draft goes on.
    pub fn key_gen(key_material: &[u8], key_info: &[u8]) -> Self {
        Self::from_entropy(&expand_key_material(key_material, key_info))
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

/// HKDF-Extract and HKDF-Expand (RFC 5869) of `KeyGen`, to L = 48 bytes.
fn expand_key_material(key_material: &[u8], key_info: &[u8]) -> Zeroizing<[u8; 48]> {
    let mac = |key: &[u8], parts: &[&[u8]]| {
        let keyed = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
        let mac = parts.iter().fold(keyed, |mac, part| mac.chain_update(part));
        Zeroizing::new(<[u8; 32]>::from(mac.finalize().into_bytes()))
    };
    let salt = Sha256::digest(b"BLS-SIG-KEYGEN-SALT-");
    let extracted = mac(&salt, &[key_material, &[0]]);
    let length = 48u16.to_be_bytes();
    let first = mac(extracted.as_slice(), &[key_info, &length, &[1]]);
    let second = mac(extracted.as_slice(), &[first.as_slice(), key_info, &length, &[2]]);
    let mut expanded = Zeroizing::new([0; 48]);
    expanded[..32].copy_from_slice(first.as_slice());
    expanded[32..].copy_from_slice(&second[..16]);
    expanded
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

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    /// `KeyGen` expands alike on both curves, and only then takes the remainder by its curve's r. The first test case of EIP-2333,
    /// whose master key is `KeyGen` of the seed, is on BLS12-381.
    #[test]
    fn key_material_is_expanded_as_on_the_other_curve() {
        let seed = "c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04";
        let seed = const_hex::decode(seed).expect("hexadecimal");
        let number = |digits: &str| digits.parse::<BigUint>().expect("decimal");
        let expanded = BigUint::from_bytes_be(expand_key_material(&seed, b"").as_slice());
        let r = number("52435875175126190479447740508185965837690552500527637822603658699938581184513");
        let master = number("6083874454709270928345386274498605044986640685124978867557563392430687146096");
        assert_eq!(&expanded % r, master);
        let r = number("21888242871839275222246405745257275088548364400416034343698204186575808495617");
        let secret = Bn254SecretKey::key_gen(&seed, b"").to_bytes();
        assert_eq!(BigUint::from_bytes_be(secret.as_slice()), expanded % r);
        assert_ne!(*Bn254SecretKey::key_gen(&seed, b"info").to_bytes(), *secret);
    }
}
