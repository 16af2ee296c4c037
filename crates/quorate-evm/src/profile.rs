//! Networks that sign on BN254: what their bytes are, and whether a signature is true.
//!
//! ```
//! use quorate_evm::{Profile, SecretKey, profile::drand_message};
//! let secret = SecretKey::from_entropy(&[1; 48]);
//! let profile: Profile = "drand-evmnet".parse()?;
//! let message = drand_message(7);
//! let signature = secret.sign(&profile.hash(&message).expect("any bytes"));
//! let key = secret.public_key_g2().to_bytes();
//! assert_eq!(profile.verify(&key, &message, &signature.to_bytes()), Ok(()));
//! assert!(profile.verify(&key, &drand_message(8), &signature.to_bytes()).is_err());
//! # Ok::<(), quorate_evm::profile::UnknownProfile>(())
//! ```

use std::{collections::HashSet, fmt, str::FromStr};

use crate::{
    bn254::{self, DualKey, G2, MessagePoint, ParseError, PublicKey, Signature, aggregate_verify},
    hash_to_curve::{eigenlayer, hash_to_curve},
    keccak::keccak256,
};

/// A network's conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// `drand-evmnet`: keys of 128 bytes in G2, signatures of 64 in G1, RFC 9380 under
    /// `BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_`; messages are [`drand_message`]s. NUL: the messages of an aggregate
    /// differ.
    DrandEvmnet,
    /// `eigenlayer`: keys of 192 bytes, G1 (64) and G2 (128); messages are digests of 32 bytes, hashed as EigenLayer's
    /// middleware does. Its registry has operators prove possession, and so must whoever adds up keys here.
    EigenLayer,
}

/// Why a signature is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The key or the signature does not decode.
    #[error("{0}")]
    Parse(#[from] ParseError),
    /// One of several keys does not decode.
    #[error("{error} (key {} of {keys})", index + 1)]
    Key {
        /// Which, counted from 0.
        index: usize,
        /// How many there are.
        keys: usize,
        /// What is wrong with it.
        error: ParseError,
    },
    /// A message that is no digest, where the profile signs digests.
    #[error("message: {found} bytes, not the {expected} of a digest")]
    MessageLength {
        /// Bytes of a digest.
        expected: usize,
        /// Bytes of the message.
        found: usize,
    },
    /// The claim makes no statement.
    #[error("the claim has no keys and messages")]
    NoStatements,
    /// Two messages are equal, which a NUL suite forbids: a rogue key could forge the other's part.
    #[error("two messages of the aggregate are equal, which a NUL suite forbids")]
    RepeatedMessage,
    /// The keys add up to the identity, under which anything verifies.
    #[error("the keys add up to the identity")]
    IdentityAggregateKey,
    /// The signature is not the one that these keys make over these messages.
    #[error("the signature does not match the keys and messages")]
    Mismatch,
}

impl Profile {
    /// All of them.
    pub const fn all() -> &'static [Self] {
        &[Self::DrandEvmnet, Self::EigenLayer]
    }

    /// The name it is chosen by.
    pub fn name(self) -> &'static str {
        match self {
            Self::DrandEvmnet => "drand-evmnet",
            Self::EigenLayer => "eigenlayer",
        }
    }

    /// Bytes of a public key.
    pub fn key_bytes(self) -> usize {
        match self {
            Self::DrandEvmnet => 128,
            Self::EigenLayer => DualKey::BYTES,
        }
    }

    /// The point that is signed for a message.
    ///
    /// # Errors
    /// [`Reason::MessageLength`].
    pub fn hash(self, message: &[u8]) -> Result<MessagePoint, Reason> {
        match self {
            Self::DrandEvmnet => Ok(hash_to_curve(message, DRAND_EVMNET_TAG)),
            Self::EigenLayer => {
                let length = Reason::MessageLength { expected: 32, found: message.len() };
                Ok(eigenlayer(message.try_into().map_err(|_| length)?))
            }
        }
    }

    /// Whether a signature over a message is true: two Miller loops, and two more for a key in both groups.
    ///
    /// # Errors
    /// The [`Reason`] why it is not.
    pub fn verify(self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), Reason> {
        self.verify_each(&[(public_key, message)], signature)
    }

    /// Whether the signature is the sum of every key's over one message. Two Miller loops, and two for each key in both
    /// groups. Does not check possession, without which a sum of keys means nothing. In a NUL suite, one key at most.
    ///
    /// # Errors
    /// The [`Reason`] why it is not.
    pub fn verify_shared(
        self,
        public_keys: &[impl AsRef<[u8]>],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Reason> {
        let keys = self.keys(public_keys.iter().map(AsRef::as_ref))?;
        let signature = Signature::from_bytes(signature)?;
        if keys.is_empty() {
            return Err(Reason::NoStatements);
        }
        let several = keys.len() > 1;
        let message = self.hash(message)?;
        let key = bn254::aggregate(keys).ok_or(Reason::IdentityAggregateKey)?;
        if self == Self::DrandEvmnet && several {
            return Err(Reason::RepeatedMessage);
        }
        truth(bn254::verify(&key, &message, &signature))
    }

    /// Whether the signature is the sum of each key's over its own message. A Miller loop a statement and one more, and
    /// two for each key in both groups.
    ///
    /// # Errors
    /// The [`Reason`] why it is not.
    pub fn verify_each(self, statements: &[(&[u8], &[u8])], signature: &[u8]) -> Result<(), Reason> {
        let keys = self.keys(statements.iter().map(|(key, _)| *key))?;
        let parsed = keys.into_iter().zip(statements).map(|(key, (_, message))| Ok((key, self.hash(message)?)));
        let parsed = parsed.collect::<Result<Vec<_>, Reason>>()?;
        let signature = Signature::from_bytes(signature)?;
        if parsed.is_empty() {
            return Err(Reason::NoStatements);
        }
        let messages: HashSet<_> = statements.iter().map(|(_, message)| message).collect();
        if self == Self::DrandEvmnet && messages.len() < statements.len() {
            return Err(Reason::RepeatedMessage);
        }
        truth(aggregate_verify(&parsed, &signature))
    }

    fn keys<'a>(self, keys: impl ExactSizeIterator<Item = &'a [u8]>) -> Result<Vec<PublicKey<G2>>, Reason> {
        let of = keys.len();
        let parsed = keys.enumerate().map(|(index, key)| {
            self.key(key).map_err(|error| if of == 1 { error.into() } else { Reason::Key { index, keys: of, error } })
        });
        parsed.collect()
    }

    fn key(self, bytes: &[u8]) -> Result<PublicKey<G2>, ParseError> {
        match self {
            Self::DrandEvmnet => PublicKey::from_bytes(bytes),
            Self::EigenLayer => Ok(DualKey::from_bytes(bytes)?.g2()),
        }
    }
}

fn truth(holds: bool) -> Result<(), Reason> {
    if holds { Ok(()) } else { Err(Reason::Mismatch) }
}

/// What drand's BN254 networks sign: keccak256 of the round in 8 bytes, big-endian.
pub fn drand_message(round: u64) -> [u8; 32] {
    keccak256(&[&round.to_be_bytes()])
}

/// The tag of evmnet. Older development networks say SSWU in theirs, though their map was this one too.
pub const DRAND_EVMNET_TAG: &[u8] = b"BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_";

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no profile has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no BN254 profile `{0}`; profiles: drand-evmnet, eigenlayer")]
pub struct UnknownProfile(pub String);

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        let found = Self::all().iter().find(|profile| profile.name() == name);
        found.copied().ok_or_else(|| UnknownProfile(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for profile in Profile::all() {
            assert_eq!(profile.name().parse(), Ok(*profile));
        }
        assert!("eth2".parse::<Profile>().is_err());
    }
}
