//! Suites on BN254: their bytes, their hash to the curve, what is signed under them.

use std::{borrow::Cow, fmt, str::FromStr};

use crate::{
    dual_key::DualKey,
    encoding::{Bn254Item, Bn254ParseError},
    hash_to_curve::{XmdHash, XmdTag, eigenlayer, hash_to_curve},
    keccak::keccak256,
    key::{Bn254PublicKey, Bn254SecretKey},
    signature::{Bn254Signature, MessagePoint},
};

/// A ciphersuite of the form of draft-irtf-cfrg-bls-signature, or a network's conventions. BN254 gives about 100 bits of
/// security.
///
/// Signatures are [`Bn254Signature`]s. Keys are points of G2 (128 bytes), under `eigenlayer` with a point of G1 in front.
/// The six suites that are no network's hash messages by RFC 9380 with the Shallue–van de Woestijne map, by Keccak-256 or
/// SHA-256, under the suite's name as tag. The draft defines suites for BLS12-381 alone; on this curve the schemes are those
/// of its section 3, and the names follow its section 4.
///
/// ```
/// use quorate_bn254::{Bn254SecretKey, Bn254Suite, drand_message, verify};
/// let suite: Bn254Suite = "drand-evmnet".parse()?;
/// let secret = Bn254SecretKey::from_entropy(&[1; 48]);
/// let signature = suite.sign(&secret, &drand_message(7))?;
///
/// let key = suite.key(&secret.public_key_g2().to_bytes())?;
/// assert!(verify(&key, &suite.hash_by(&key, &drand_message(7))?, &signature));
/// assert!(!verify(&key, &suite.hash_by(&key, &drand_message(8))?, &signature));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The enum is exhaustive, because the engine `quorate` must say of each suite how its aggregates are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bn254Suite {
    /// `BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_`: the messages of an aggregate must differ.
    KeccakBasic,
    /// `BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_AUG_`: each message is hashed behind its signer's key.
    KeccakAugmented,
    /// `BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_POP_`: each key comes with a proof of possession.
    KeccakProofOfPossession,
    /// `BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_NUL_`: the messages of an aggregate must differ.
    Sha256Basic,
    /// `BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_AUG_`: each message is hashed behind its signer's key.
    Sha256Augmented,
    /// `BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_POP_`: each key comes with a proof of possession.
    Sha256ProofOfPossession,
    /// `drand-evmnet`: [`KeccakBasic`](Self::KeccakBasic). Messages are any bytes, in practice a [`drand_message`].
    DrandEvmnet,
    /// `eigenlayer`: keys are a point of G1 (64 bytes) and a point of G2 (128 bytes) of one secret. Messages are digests
    /// of 32 bytes, hashed as EigenLayer's middleware does. Its registry asks every operator for a proof of possession;
    /// so must everyone who adds up keys under this suite.
    EigenLayer,
}

impl Bn254Suite {
    /// All suites.
    pub const fn all() -> &'static [Self] {
        &[
            Self::KeccakBasic,
            Self::KeccakAugmented,
            Self::KeccakProofOfPossession,
            Self::Sha256Basic,
            Self::Sha256Augmented,
            Self::Sha256ProofOfPossession,
            Self::DrandEvmnet,
            Self::EigenLayer,
        ]
    }

    /// The name by which users choose the suite.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeccakBasic => KECCAK_BASIC,
            Self::KeccakAugmented => "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_AUG_",
            Self::KeccakProofOfPossession => "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_POP_",
            Self::Sha256Basic => "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_NUL_",
            Self::Sha256Augmented => "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_AUG_",
            Self::Sha256ProofOfPossession => "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_POP_",
            Self::DrandEvmnet => "drand-evmnet",
            Self::EigenLayer => "eigenlayer",
        }
    }

    /// The hash function and the tag of [`hash_to_curve`] that messages are hashed by. `None` under `eigenlayer`, which has
    /// a hash of its own, without a tag.
    pub const fn tag(self) -> Option<XmdTag<'static>> {
        let (hash, tag) = match self {
            Self::KeccakBasic | Self::KeccakAugmented | Self::KeccakProofOfPossession => {
                (XmdHash::Keccak256, self.name())
            }
            Self::Sha256Basic | Self::Sha256Augmented | Self::Sha256ProofOfPossession => (XmdHash::Sha256, self.name()),
            Self::DrandEvmnet => return Some(DRAND_EVMNET_TAG),
            Self::EigenLayer => return None,
        };
        Some(XmdTag { hash, bytes: tag.as_bytes() })
    }

    /// The tag that proofs of possession are hashed under, by the hash function of [`tag`](Self::tag). `None` in suites of
    /// other schemes than POP, and under `eigenlayer`, whose proofs are another protocol:
    /// [`dual_key_verify`](crate::dual_key_verify).
    pub const fn proof_of_possession_tag(self) -> Option<&'static str> {
        match self {
            Self::KeccakProofOfPossession => Some("BLS_POP_BN254G1_XMD:KECCAK-256_SVDW_RO_POP_"),
            Self::Sha256ProofOfPossession => Some("BLS_POP_BN254G1_XMD:SHA-256_SVDW_RO_POP_"),
            Self::KeccakBasic
            | Self::KeccakAugmented
            | Self::Sha256Basic
            | Self::Sha256Augmented
            | Self::DrandEvmnet
            | Self::EigenLayer => None,
        }
    }

    /// The number of bytes of a public key: 128 or 192.
    pub const fn key_bytes(self) -> usize {
        if self.has_dual_keys() { DualKey::BYTES } else { 128 }
    }

    /// Reads a public key of [`key_bytes`](Self::key_bytes) bytes: the key in G2, which verifies signatures. Under
    /// `eigenlayer` the bytes are a [`DualKey`], and the two keys are checked to belong together.
    ///
    /// # Errors
    /// [`Bn254ParseError`]: wrong length, a coordinate that is too large, not on the curve, not in the subgroup, the
    /// identity, keys of different secrets.
    pub fn key(self, bytes: &[u8]) -> Result<Bn254PublicKey, Bn254ParseError> {
        if self.has_dual_keys() { Ok(DualKey::from_bytes(bytes)?.g2()) } else { Bn254PublicKey::from_bytes(bytes) }
    }

    /// Whether a public key is a [`DualKey`]: the keys of one secret in both groups.
    pub const fn has_dual_keys(self) -> bool {
        match self {
            Self::EigenLayer => true,
            Self::KeccakBasic
            | Self::KeccakAugmented
            | Self::KeccakProofOfPossession
            | Self::Sha256Basic
            | Self::Sha256Augmented
            | Self::Sha256ProofOfPossession
            | Self::DrandEvmnet => false,
        }
    }

    /// The point that the owner of a key signs for a message: in an AUG suite the hash of the key and the message, in other
    /// suites the [`hash`](Self::hash) of the message alone.
    ///
    /// # Errors
    /// As [`hash`](Self::hash).
    pub fn hash_by(self, key: &Bn254PublicKey, message: &[u8]) -> Result<MessagePoint, Bn254ParseError> {
        self.hash(&self.signed_bytes(|| *key, message))
    }

    /// The bytes that are hashed when the owner of a key signs a message.
    fn signed_bytes(self, key: impl FnOnce() -> Bn254PublicKey, message: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::KeccakAugmented | Self::Sha256Augmented => [&key().to_bytes(), message].concat().into(),
            Self::KeccakBasic
            | Self::KeccakProofOfPossession
            | Self::Sha256Basic
            | Self::Sha256ProofOfPossession
            | Self::DrandEvmnet
            | Self::EigenLayer => message.into(),
        }
    }

    /// The point of some bytes. In an AUG suite these are the signer's key and the message, which [`hash_by`](Self::hash_by)
    /// joins. Under `eigenlayer` they are a digest of 32 bytes.
    ///
    /// # Errors
    /// [`Bn254ParseError::Length`] of a [`Bn254Item::Message`].
    pub fn hash(self, message: &[u8]) -> Result<MessagePoint, Bn254ParseError> {
        match self.tag() {
            Some(tag) => Ok(hash_to_curve(message, tag)),
            None => {
                let item = Bn254Item::Message;
                let length = Bn254ParseError::Length { item, expected: 32, found: message.len() };
                Ok(eigenlayer(message.try_into().map_err(|_| length)?))
            }
        }
    }

    /// Signs a message, in constant time. The message is public.
    ///
    /// # Errors
    /// As [`hash`](Self::hash).
    ///
    /// Cost: a hash and a multiplication in G1. An AUG suite also needs the public key, a multiplication in G2.
    pub fn sign(self, secret: &Bn254SecretKey, message: &[u8]) -> Result<Bn254Signature, Bn254ParseError> {
        let signed = self.signed_bytes(|| secret.public_key_g2(), message);
        Ok(secret.sign(&self.hash(&signed)?))
    }

    /// Proves possession of a secret key: signs its public key in G2 under
    /// [`proof_of_possession_tag`](Self::proof_of_possession_tag). `None` where there is no such tag.
    ///
    /// Cost: a hash, and a multiplication in each group.
    pub fn prove_possession(self, secret: &Bn254SecretKey) -> Option<Bn254Signature> {
        let tag = XmdTag { bytes: self.proof_of_possession_tag()?.as_bytes(), ..self.tag()? };
        Some(secret.sign(&hash_to_curve(&secret.public_key_g2().to_bytes(), tag)))
    }
}

/// The message of a round of drand's networks on BN254: keccak256 of the round in 8 bytes, big-endian.
pub fn drand_message(round: u64) -> [u8; 32] {
    keccak256(&[&round.to_be_bytes()])
}

/// The tag of evmnet. The tags of older development networks say SSWU, but their map is SvdW too.
pub const DRAND_EVMNET_TAG: XmdTag<'static> = XmdTag { hash: XmdHash::Keccak256, bytes: KECCAK_BASIC.as_bytes() };

const KECCAK_BASIC: &str = "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_";

impl fmt::Display for Bn254Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No BN254 suite has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no BN254 suite `{0}`; choose one of {names}", names = names())]
pub struct UnknownBn254Suite(pub String);

fn names() -> String {
    let names: Vec<_> = Bn254Suite::all().iter().map(|suite| suite.name()).collect();
    names.join(", ")
}

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

    /// The draft's form (section 4.1): BLS_POP_ in the place of BLS_SIG_, and the hash function's name in both.
    #[test]
    fn tags_follow_the_names() {
        for suite in Bn254Suite::all() {
            let Some(tag) = suite.tag() else { continue };
            let text = std::str::from_utf8(tag.bytes).expect("ASCII");
            let hash = if text.contains("_XMD:KECCAK-256_") { XmdHash::Keccak256 } else { XmdHash::Sha256 };
            assert_eq!(tag.hash, hash, "{suite}");
            assert_eq!(text.contains("SHA-256"), hash == XmdHash::Sha256, "{suite}");
            let proofs = text.ends_with("_POP_").then(|| text.replace("BLS_SIG_", "BLS_POP_"));
            assert_eq!(suite.proof_of_possession_tag(), proofs.as_deref(), "{suite}");
        }
    }

    #[test]
    fn names_parse_back() {
        for suite in Bn254Suite::all() {
            assert_eq!(suite.name().parse(), Ok(*suite));
        }
        let error = "eth2".parse::<Bn254Suite>().unwrap_err().to_string();
        assert!(Bn254Suite::all().iter().all(|suite| error.contains(suite.name())), "{error}");
    }
}
