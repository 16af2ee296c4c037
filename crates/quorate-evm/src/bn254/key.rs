//! Public keys, checked once, and secret keys, wiped and redacted.

use std::fmt::{self, Debug};

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{PrimeField, Zero};
use zeroize::{Zeroize, Zeroizing};

use super::{
    DualKey, G1, G2, MessagePoint, Scalar, Signature,
    encoding::{Group, ParseError, add_all, from_word, to_word},
};

/// A public key: canonical, on the curve, in the subgroup of order r, not the identity.
///
/// It says nothing of whether anyone knows its secret: see [`possession`](crate::digest::Possession).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey<G: Group>(G);

impl<G: Group> PublicKey<G> {
    /// Reads a key in the EVM's order: 64 bytes in G1, 128 in G2.
    ///
    /// # Errors
    /// [`ParseError`]: length, canonical words, curve, subgroup, identity.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        Self::from_sum(G::decode(bytes, G::KEY)?).ok_or(ParseError::IdentityKey(G::KEY))
    }

    /// The encoding that [`from_bytes`](Self::from_bytes) reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.encode()
    }

    /// The point.
    pub fn point(&self) -> G {
        self.0
    }

    /// A sum of checked keys, which is in the subgroup with them; `None` for the identity.
    pub(super) fn from_sum(point: G) -> Option<Self> {
        (!point.is_zero()).then_some(Self(point))
    }
}

impl<G: Group> Debug for PublicKey<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.0)
    }
}

/// The key of a quorum: the sum of its members' keys. `None` where that is the identity: no keys, or keys that cancel.
///
/// Does not check possession of the keys.
pub fn aggregate<G: Group>(keys: impl IntoIterator<Item = PublicKey<G>>) -> Option<PublicKey<G>> {
    PublicKey::from_sum(add_all(keys.into_iter().map(|key| key.0)))
}

/// The key of a quorum from that of another: the base's, and those added, less those removed. `None` where the sum is
/// the identity; so is a base of `None`.
pub fn sum<G: Group>(
    base: Option<PublicKey<G>>,
    added: impl IntoIterator<Item = PublicKey<G>>,
    removed: impl IntoIterator<Item = PublicKey<G>>,
) -> Option<PublicKey<G>> {
    let removed = removed.into_iter().map(|key| (-key.0.into_group()).into_affine());
    PublicKey::from_sum(add_all(base.into_iter().chain(added).map(|key| key.0).chain(removed)))
}

/// A secret key on BN254, for tests, tools and operators of networks that sign on this curve.
///
/// **Not constant time.** blst, which quorate signs with elsewhere, has no BN254; the multiplications here are those of
/// arkworks, and how long they take depends on the secret. Whoever can time many signatures of one key, on the same
/// machine or over a quiet network, may learn of it. Sign where nobody else runs, and do not answer requests to sign
/// whose time the asker can measure.
///
/// Wiped when dropped, never printed. Copies that the compiler or arkworks leaves on the stack are not wiped.
pub struct SecretKey(Scalar);

impl SecretKey {
    /// Reads a big-endian scalar in 1..r.
    ///
    /// # Errors
    /// [`ParseError::Secret`].
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, ParseError> {
        let scalar = from_word(bytes).filter(|scalar: &Scalar| !scalar.is_zero());
        scalar.map(Self).ok_or(ParseError::Secret)
    }

    /// A key from 48 bytes of a CSPRNG, reduced modulo r: uniform but for 2^-130, and 1 in place of zero.
    pub fn from_entropy(entropy: &[u8; 48]) -> Self {
        let scalar = Scalar::from_be_bytes_mod_order(entropy);
        Self(if scalar.is_zero() { Scalar::from(1u8) } else { scalar })
    }

    /// The big-endian scalar.
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        let mut integer = self.0.into_bigint();
        let word = Zeroizing::new(to_word(integer));
        integer.zeroize();
        word
    }

    /// The public key in G1 (back end b).
    pub fn public_key_g1(&self) -> PublicKey<G1> {
        PublicKey((G1::generator() * self.0).into_affine())
    }

    /// The public key in G2 (back end a).
    pub fn public_key_g2(&self) -> PublicKey<G2> {
        PublicKey((G2::generator() * self.0).into_affine())
    }

    /// Both public keys.
    pub fn dual_key(&self) -> DualKey {
        DualKey::of_one_secret(self.public_key_g1(), self.public_key_g2())
    }

    /// The signature: the message's point times the secret. One multiplication in G1, not constant time.
    pub fn sign(&self, message: &MessagePoint) -> Signature {
        Signature::from_point((message.point() * self.0).into_affine())
    }
}

impl Drop for SecretKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(redacted)")
    }
}
