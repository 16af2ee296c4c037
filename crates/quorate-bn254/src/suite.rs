//! The conventions of networks that sign on BN254: their bytes, their hash to the curve, their rule for aggregates.

use std::{fmt, str::FromStr};

use crate::{
    dual_key::DualKey,
    encoding::{Bn254Item, Bn254ParseError},
    hash_to_curve::{eigenlayer, hash_to_curve},
    keccak::keccak256,
    key::Bn254PublicKey,
    signature::MessagePoint,
};

/// A network's conventions. Signatures are [`Bn254Signature`](crate::Bn254Signature)s in both.
///
/// ```
/// use quorate_bn254::{Bn254SecretKey, Bn254Suite, drand_message, verify};
/// let suite: Bn254Suite = "drand-evmnet".parse()?;
/// let secret = Bn254SecretKey::from_entropy(&[1; 48]);
/// let signature = secret.sign(&suite.hash(&drand_message(7))?);
///
/// let key = suite.key(&secret.public_key_g2().to_bytes())?;
/// assert!(verify(&key, &suite.hash(&drand_message(7))?, &signature));
/// assert!(!verify(&key, &suite.hash(&drand_message(8))?, &signature));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bn254Suite {
    /// `drand-evmnet`: keys are points of G2 (128 bytes). Messages are any bytes, in practice a [`drand_message`], hashed
    /// by RFC 9380 under [`DRAND_EVMNET_TAG`]. The scheme is NUL: the messages of an aggregate must differ.
    DrandEvmnet,
    /// `eigenlayer`: keys are a point of G1 (64 bytes) and a point of G2 (128 bytes) of one secret. Messages are digests
    /// of 32 bytes, hashed as EigenLayer's middleware does. Its registry asks every operator for a proof of possession;
    /// so must everyone who adds up keys under this suite.
    EigenLayer,
}

impl Bn254Suite {
    /// All suites.
    pub const fn all() -> &'static [Self] {
        &[Self::DrandEvmnet, Self::EigenLayer]
    }

    /// The name by which users choose the suite.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DrandEvmnet => "drand-evmnet",
            Self::EigenLayer => "eigenlayer",
        }
    }

    /// The number of bytes of a public key: 128 or 192.
    pub const fn key_bytes(self) -> usize {
        match self {
            Self::DrandEvmnet => 128,
            Self::EigenLayer => DualKey::BYTES,
        }
    }

    /// Reads a public key of [`key_bytes`](Self::key_bytes) bytes: the key in G2, which verifies signatures. Under
    /// `eigenlayer` the bytes are a [`DualKey`], and the two keys are checked to belong together.
    ///
    /// # Errors
    /// [`Bn254ParseError`]: wrong length, a coordinate that is too large, not on the curve, not in the subgroup, the
    /// identity, keys of different secrets.
    pub fn key(self, bytes: &[u8]) -> Result<Bn254PublicKey, Bn254ParseError> {
        match self {
            Self::DrandEvmnet => Bn254PublicKey::from_bytes(bytes),
            Self::EigenLayer => Ok(DualKey::from_bytes(bytes)?.g2()),
        }
    }

    /// The point that is signed for a message. Under `eigenlayer` a message is a digest of 32 bytes.
    ///
    /// # Errors
    /// [`Bn254ParseError::Length`] of a [`Bn254Item::Message`].
    pub fn hash(self, message: &[u8]) -> Result<MessagePoint, Bn254ParseError> {
        match self {
            Self::DrandEvmnet => Ok(hash_to_curve(message, DRAND_EVMNET_TAG)),
            Self::EigenLayer => {
                let item = Bn254Item::Message;
                let length = Bn254ParseError::Length { item, expected: 32, found: message.len() };
                Ok(eigenlayer(message.try_into().map_err(|_| length)?))
            }
        }
    }
}

/// The message of a round of drand's networks on BN254: keccak256 of the round in 8 bytes, big-endian.
pub fn drand_message(round: u64) -> [u8; 32] {
    keccak256(&[&round.to_be_bytes()])
}

/// The domain separation tag of evmnet. The tags of older development networks say SSWU, but their map is SvdW too.
pub const DRAND_EVMNET_TAG: &[u8] = b"BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_";

impl fmt::Display for Bn254Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No BN254 suite has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no BN254 suite `{0}`; choose drand-evmnet or eigenlayer")]
pub struct UnknownBn254Suite(pub String);

impl FromStr for Bn254Suite {
    type Err = UnknownBn254Suite;

    fn from_str(name: &str) -> Result<Self, UnknownBn254Suite> {
        let found = Self::all().iter().find(|suite| suite.name() == name);
        found.copied().ok_or_else(|| UnknownBn254Suite(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for suite in Bn254Suite::all() {
            assert_eq!(suite.name().parse(), Ok(*suite));
        }
        let error = "eth2".parse::<Bn254Suite>().unwrap_err().to_string();
        assert!(Bn254Suite::all().iter().all(|suite| error.contains(suite.name())), "{error}");
    }
}
