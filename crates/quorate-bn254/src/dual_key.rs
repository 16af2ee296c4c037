//! Public keys of one secret in both groups. A contract adds keys up in G1, where additions are cheap; the pairing needs
//! the sum in G2, which the aggregator supplies.

use std::{
    cmp::Ordering,
    fmt::{self, Display},
    str::FromStr,
};

use ark_bn254::{Fr, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{PrimeField, Zero};

use crate::{
    encoding::{Bn254Item, Bn254ParseError, from_hex},
    keccak::keccak256,
    key::{Bn254PublicKey, Bn254SecretKey, aggregate},
    signature::{Bn254Signature, MessagePoint},
    verify::pairing_is_one,
};

/// The public keys of one secret in both groups. Whoever holds this value knows that they belong together.
///
/// `Display` and `FromStr` are hexadecimal; the order is that of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DualKey {
    g1: Bn254PublicKey<G1Affine>,
    g2: Bn254PublicKey<G2Affine>,
}

impl DualKey {
    /// The number of bytes of an encoded pair.
    pub const BYTES: usize = 192;

    /// Checks `e(pk1, -G2) · e(G1, pk2) = 1`, which holds only if one scalar makes both keys from the generators. Two
    /// Miller loops and one final exponentiation.
    ///
    /// # Errors
    /// [`Bn254ParseError::KeysDiffer`].
    pub fn new(g1: Bn254PublicKey<G1Affine>, g2: Bn254PublicKey<G2Affine>) -> Result<Self, Bn254ParseError> {
        let negated = (-g1.point().into_group()).into_affine();
        let same = pairing_is_one(&[(negated, G2Affine::generator()), (G1Affine::generator(), g2.point())]);
        if same { Ok(Self { g1, g2 }) } else { Err(Bn254ParseError::KeysDiffer) }
    }

    /// Reads 192 bytes: the key in G1 (64), then the key in G2 (128). Checks that they belong together: see
    /// [`new`](Self::new).
    ///
    /// # Errors
    /// [`Bn254ParseError`]: wrong length, a fault of either key, [`Bn254ParseError::KeysDiffer`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Bn254ParseError> {
        if bytes.len() != Self::BYTES {
            let item = Bn254Item::DualKey;
            return Err(Bn254ParseError::Length { item, expected: Self::BYTES, found: bytes.len() });
        }
        let (g1, g2) = bytes.split_at(64);
        Self::new(Bn254PublicKey::from_bytes(g1)?, Bn254PublicKey::from_bytes(g2)?)
    }

    /// The bytes that [`from_bytes`](Self::from_bytes) reads.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..64].copy_from_slice(&self.g1.to_bytes());
        bytes[64..].copy_from_slice(&self.g2.to_bytes());
        bytes
    }

    /// The key in G1, which the contract adds up.
    pub fn g1(&self) -> Bn254PublicKey<G1Affine> {
        self.g1
    }

    /// The key in G2, which the aggregator adds up.
    pub fn g2(&self) -> Bn254PublicKey<G2Affine> {
        self.g2
    }

    /// Both keys of a quorum. `None` if the sums are the identity.
    #[must_use]
    pub fn aggregate(keys: impl IntoIterator<Item = Self>) -> Option<Self> {
        let (g1, g2): (Vec<_>, Vec<_>) = keys.into_iter().map(|key| (key.g1, key.g2)).unzip();
        Some(Self { g1: aggregate(g1)?, g2: aggregate(g2)? })
    }
}

impl Bn254SecretKey {
    /// The public keys in both groups.
    pub fn dual_key(&self) -> DualKey {
        DualKey { g1: self.public_key_g1(), g2: self.public_key_g2() }
    }
}

impl TryFrom<&[u8]> for DualKey {
    type Error = Bn254ParseError;

    fn try_from(bytes: &[u8]) -> Result<Self, Bn254ParseError> {
        Self::from_bytes(bytes)
    }
}

impl FromStr for DualKey {
    type Err = Bn254ParseError;

    fn from_str(hex: &str) -> Result<Self, Bn254ParseError> {
        Self::from_bytes(&from_hex(hex, Bn254Item::DualKey)?)
    }
}

impl Ord for DualKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_bytes().cmp(&other.to_bytes())
    }
}

impl PartialOrd for DualKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Display for DualKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&const_hex::encode_prefixed(self.to_bytes()))
    }
}

/// γ = keccak256(TAG ‖ H ‖ pk1 ‖ pk2 ‖ s) mod r, where TAG = keccak256("quorate.bn254.dual-key") and all points are in
/// the EVM's byte order.
pub fn challenge(
    g1: &Bn254PublicKey<G1Affine>,
    g2: &Bn254PublicKey<G2Affine>,
    message: &MessagePoint,
    signature: &Bn254Signature,
) -> Fr {
    let tag = keccak256(&[b"quorate.bn254.dual-key"]);
    let hash = keccak256(&[&tag, &message.to_bytes(), &g1.to_bytes(), &g2.to_bytes(), &signature.to_bytes()]);
    Fr::from_be_bytes_mod_order(&hash)
}

/// The check that the contract makes of a pair that nobody checked: whether `e(s + γ·pk1, -G2) · e(H + γ·G1, pk2) = 1` for
/// the [`challenge`] γ. Two Miller loops, one final exponentiation, two multiplications in G1.
///
/// Let pk1 = a·G1, pk2 = b·G2, H = h·G1, s = σ·G1. Then the equation is σ - hb + γ(a - b) = 0. All four values are fixed
/// before γ is known. So a pair with a ≠ b, or an invalid signature, passes for at most one of the r values of γ. The
/// function refuses γ = 0, for which the equation says nothing about pk1.
#[must_use]
pub fn dual_key_verify(
    g1: &Bn254PublicKey<G1Affine>,
    g2: &Bn254PublicKey<G2Affine>,
    message: &MessagePoint,
    signature: &Bn254Signature,
) -> bool {
    let challenge = challenge(g1, g2, message, signature);
    let left = (signature.point() + g1.point() * challenge).into_affine();
    let right = (message.point() + G1Affine::generator() * challenge).into_affine();
    let negated_generator = (-G2Affine::generator().into_group()).into_affine();
    !challenge.is_zero() && pairing_is_one(&[(left, negated_generator), (right, g2.point())])
}
