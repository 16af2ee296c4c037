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
pub struct Tag(Bytes);

#[derive(Clone)]
enum Bytes {
    /// A suite's.
    Static(&'static str),
    /// A caller's.
    Shared(Arc<[u8]>),
}

impl Tag {
    /// A suite's tag, which takes no allocation.
    pub(crate) const fn of_suite(id: &'static str) -> Self {
        Self(Bytes::Static(id))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Static(id) => id.as_bytes(),
            Bytes::Shared(bytes) => bytes,
        }
    }
}

impl From<&[u8]> for Tag {
    fn from(bytes: &[u8]) -> Self {
        Self(Bytes::Shared(bytes.into()))
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Tag {}

impl Hash for Tag {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
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
        let tags = [Tag::of_suite("a tag"), Tag::from(&b"a tag"[..]), Tag::from(&b"another"[..])];
        assert_eq!(tags[0], tags[1]);
        assert_ne!(tags[0], tags[2]);
        assert_eq!(tags.iter().collect::<HashSet<_>>().len(), 2);
        assert_eq!(format!("{:?}", Tag::from(&b"\x1b[1m"[..])), "Tag(\\x1b[1m)");
    }
}
