//! Tags: the domain separation tag (DST) that messages are hashed under.
//!
//! A suite has its tag. A protocol that signs several kinds of messages, or has a tag of its own, puts its tag in the
//! place of the suite's: [`Claim::under_tag`](crate::Claim::under_tag). The suite still says which group holds the keys
//! and how aggregates are protected.
//!
//! ```
//! use quorate::{Claim, MinPk, SecretKey, Tag, naive};
//! let suite = MinPk::Basic;
//! let tag = Tag::from(&b"EXAMPLE-V01-BLS12381G2_XMD:SHA-256_SSWU_RO_"[..]);
//! let secret = SecretKey::key_gen(suite, &[1; 32], b"")?;
//! let signature = secret.sign_under_tag(suite, &tag, b"hello");
//! let claim = Claim::single(suite, secret.public_key(), *b"hello", signature);
//! assert!(naive::verify(&claim.clone().under_tag(tag)).is_valid());
//! assert!(!naive::verify(&claim).is_valid());
//! # Ok::<(), quorate::ParseError>(())
//! ```

use std::{
    fmt::{self, Debug},
    hash::{Hash, Hasher},
    sync::Arc,
};

/// A domain separation tag: bytes of any length. RFC 9380 asks for at least 16 bytes in new protocols, and hashes a tag
/// of more than 255 bytes first (section 5.3.3).
#[derive(Clone)]
pub struct Tag {
    bytes: Bytes,
    function: HashFunction,
}

/// A function from messages to points of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum HashFunction {
    /// RFC 9380 with SHA-256.
    Sha256,
    /// RFC 9380 with Keccak-256.
    #[cfg(feature = "bn254")]
    Keccak256,
    /// EigenLayer's, of digests of 32 bytes. It takes no tag.
    #[cfg(feature = "bn254")]
    EigenLayer,
    /// That of `Tag::try_and_increment`.
    #[cfg(feature = "bn254")]
    TryAndIncrement,
}

/// What decides about the hash of a message, beside the message.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hashing<'a> {
    pub(crate) tag: &'a [u8],
    pub(crate) function: HashFunction,
}

#[derive(Clone)]
enum Bytes {
    /// A suite's.
    Static(&'static str),
    /// A caller's.
    Shared(Arc<[u8]>),
}

impl Tag {
    /// A suite's tag, which takes no allocation.
    pub(crate) const fn of_suite(id: &'static str, function: HashFunction) -> Self {
        Self { bytes: Bytes::Static(id), function }
    }

    /// In the place of a tag of a suite on BN254: messages are hashed by [`quorate_bn254::hash_to_curve::try_and_increment`], as quorate's
    /// contracts do. They are digests of 32 bytes; of other messages it takes the Keccak-256 hash. A suite on BLS12-381 takes the bytes
    /// of this tag, as those of any other.
    #[cfg(feature = "bn254")]
    pub const fn try_and_increment() -> Self {
        Self::of_suite("try-and-increment", HashFunction::TryAndIncrement)
    }

    /// This tag in the place of a suite's, whose function it takes if it has none of its own.
    pub(crate) fn in_place_of(self, suites: &Self) -> Self {
        match self.function {
            HashFunction::Sha256 => Self { function: suites.function, ..self },
            #[cfg(feature = "bn254")]
            HashFunction::Keccak256 | HashFunction::EigenLayer | HashFunction::TryAndIncrement => self,
        }
    }

    /// The tag and the function.
    pub(crate) fn hashing(&self) -> Hashing<'_> {
        Hashing { tag: self.as_bytes(), function: self.function }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Static(id) => id.as_bytes(),
            Bytes::Shared(bytes) => bytes,
        }
    }
}

impl From<&[u8]> for Tag {
    fn from(bytes: &[u8]) -> Self {
        Self { bytes: Bytes::Shared(bytes.into()), function: HashFunction::Sha256 }
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.hashing() == other.hashing()
    }
}

impl Eq for Tag {}

impl Hash for Tag {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.as_bytes(), self.function).hash(state);
    }
}

impl Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({})", self.as_bytes().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A suite's tag and a caller's with the same bytes are one tag, so a message under both is hashed once.
    #[test]
    fn tags_are_their_bytes() {
        let tags = [Tag::of_suite("a tag", HashFunction::Sha256), Tag::from(&b"a tag"[..]), Tag::from(&b"another"[..])];
        assert_eq!(tags[0], tags[1]);
        assert_ne!(tags[0], tags[2]);
        assert_eq!(tags.iter().collect::<HashSet<_>>().len(), 2);
        assert_eq!(format!("{:?}", Tag::from(&b"\x1b[1m"[..])), "Tag(\\x1b[1m)");
    }
}
