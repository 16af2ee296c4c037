//! Back end b: keys are summed in G1, where additions are cheapest, and the aggregator supplies the sum in G2.

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{PrimeField, Zero};

use super::{
    G1, G2, MessagePoint, ParseError, PublicKey, Scalar, Signature,
    encoding::Item,
    signature::{pairing_is_one, verify},
};
use crate::keccak::keccak256;

/// One secret's public keys in both groups, which were checked to belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DualKey {
    g1: PublicKey<G1>,
    g2: PublicKey<G2>,
}

impl DualKey {
    /// Bytes of an encoded pair.
    pub const BYTES: usize = 192;

    /// Checks `e(pk1, -G2) · e(G1, pk2) = 1`, which is so only for multiples of the generators by one scalar.
    ///
    /// # Errors
    /// [`ParseError::KeysDiffer`].
    pub fn new(g1: PublicKey<G1>, g2: PublicKey<G2>) -> Result<Self, ParseError> {
        let negated = (-g1.point().into_group()).into_affine();
        let same = pairing_is_one(&[(negated, G2::generator()), (G1::generator(), g2.point())]);
        if same { Ok(Self { g1, g2 }) } else { Err(ParseError::KeysDiffer) }
    }

    /// Reads 192 bytes: the key in G1 (64), the key in G2 (128).
    ///
    /// # Errors
    /// [`ParseError`]: length, either key, [`ParseError::KeysDiffer`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        if bytes.len() != Self::BYTES {
            return Err(ParseError::Length { item: Item::DualKey, expected: Self::BYTES, found: bytes.len() });
        }
        let (g1, g2) = bytes.split_at(64);
        Self::new(PublicKey::from_bytes(g1)?, PublicKey::from_bytes(g2)?)
    }

    /// The encoding that [`from_bytes`](Self::from_bytes) reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.g1.to_bytes(), self.g2.to_bytes()].concat()
    }

    /// The key in G1, which the contract adds up.
    pub fn g1(&self) -> PublicKey<G1> {
        self.g1
    }

    /// The key in G2, which the aggregator adds up.
    pub fn g2(&self) -> PublicKey<G2> {
        self.g2
    }

    /// Both keys of a quorum. `None` where they are the identity.
    pub fn aggregate(keys: impl IntoIterator<Item = Self>) -> Option<Self> {
        let (g1, g2): (Vec<_>, Vec<_>) = keys.into_iter().map(|key| (key.g1, key.g2)).unzip();
        Some(Self { g1: super::aggregate(g1)?, g2: super::aggregate(g2)? })
    }

    pub(super) fn of_one_secret(g1: PublicKey<G1>, g2: PublicKey<G2>) -> Self {
        Self { g1, g2 }
    }
}

/// γ = keccak256(TAG ‖ H ‖ pk1 ‖ pk2 ‖ s) mod r, TAG = keccak256("quorate.bn254.dual-key"), points in the EVM's order.
pub fn challenge(message: &MessagePoint, g1: &PublicKey<G1>, g2: &PublicKey<G2>, signature: &Signature) -> Scalar {
    let tag = keccak256(&[b"quorate.bn254.dual-key"]);
    let transcript = [&message.to_bytes()[..], &g1.to_bytes(), &g2.to_bytes(), &signature.to_bytes()].concat();
    Scalar::from_be_bytes_mod_order(&keccak256(&[&tag, &transcript]))
}

/// The check that the contract makes of an untrusted pair: whether `e(s + γ·pk1, -G2) · e(H + γ·G1, pk2) = 1` for the
/// challenge γ. Two Miller loops and a final exponentiation, two multiplications in G1.
///
/// For pk1 = a·G1, pk2 = b·G2, H = h·G1, s = σ·G1 it says σ - hb + γ(a - b) = 0; all four are fixed before γ is known,
/// so a pair with a ≠ b, or a false signature, passes for one γ of r at most. γ = 0 is refused, since it would say
/// nothing of pk1.
pub fn dual_key_verify(message: &MessagePoint, g1: &PublicKey<G1>, g2: &PublicKey<G2>, signature: &Signature) -> bool {
    let challenge = challenge(message, g1, g2, signature);
    let left = (signature.point() + g1.point() * challenge).into_affine();
    let right = (message.point() + G1::generator() * challenge).into_affine();
    let negated_generator = (-G2::generator().into_group()).into_affine();
    !challenge.is_zero() && pairing_is_one(&[(left, negated_generator), (right, g2.point())])
}

/// What [`dual_key_verify`] stands for, by two checks and without a challenge: the keys belong together, and the
/// signature is true. Four Miller loops. The oracle of tests.
pub fn dual_key_verify_exact(
    message: &MessagePoint,
    g1: &PublicKey<G1>,
    g2: &PublicKey<G2>,
    signature: &Signature,
) -> bool {
    DualKey::new(*g1, *g2).is_ok() && verify(g2, message, signature)
}
