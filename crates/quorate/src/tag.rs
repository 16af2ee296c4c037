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
///
/// The bytes alone do not hash a message: the suite in whose place the tag stands says by which function.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Tag {
    bytes: Bytes,
    /// A function that takes the place of the suite's too.
    function: Option<HashFunction>,
}

/// A suite's tag, or a caller's in its place, and the function that hashes messages under it.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SuiteTag {
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
    /// It counts up from the digest to the next coordinate of a point, so half of all numbers have the point of the number after
    /// them: only a message that nobody can choose, as a hash, is safe to sign.
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

/// The bytes of a tag. Equal bytes are one tag, whoever's they are.
#[derive(Clone)]
enum Bytes {
    /// A suite's.
    Static(&'static str),
    /// A caller's.
    Shared(Arc<[u8]>),
}

impl Tag {
    /// In the place of a tag of a suite on BN254: messages are hashed by [`quorate_bn254::hash_to_curve::try_and_increment`], as quorate's
    /// contracts do. They are digests of 32 bytes; of other messages it takes the Keccak-256 hash. A suite on BLS12-381 takes the bytes
    /// of this tag, as those of any other.
    #[cfg(feature = "bn254")]
    pub const fn try_and_increment() -> Self {
        Self { bytes: Bytes::Static("try-and-increment"), function: Some(HashFunction::TryAndIncrement) }
    }

    /// This tag in the place of a suite's, whose function it takes if it has none of its own.
    pub(crate) fn in_place_of(self, suites: &SuiteTag) -> SuiteTag {
        SuiteTag { bytes: self.bytes, function: self.function.unwrap_or(suites.function) }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl SuiteTag {
    /// A suite's tag, which takes no allocation.
    pub(crate) const fn new(id: &'static str, function: HashFunction) -> Self {
        Self { bytes: Bytes::Static(id), function }
    }

    /// Other bytes of the suite, for messages of another kind.
    pub(crate) const fn with_bytes(&self, id: &'static str) -> Self {
        Self::new(id, self.function)
    }

    /// The tag and the function.
    pub(crate) fn hashing(&self) -> Hashing<'_> {
        Hashing { tag: self.as_bytes(), function: self.function }
    }

    /// The bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Static(id) => id.as_bytes(),
            Self::Shared(bytes) => bytes,
        }
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Bytes {}

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_ref().hash(state);
    }
}

impl From<&[u8]> for Tag {
    fn from(bytes: &[u8]) -> Self {
        Self { bytes: Bytes::Shared(bytes.into()), function: None }
    }
}

impl Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_ref().escape_ascii())
    }
}

impl Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({:?})", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A suite's tag and a caller's with the same bytes in its place are one tag, so a message under both is hashed once.
    #[test]
    fn tags_are_their_bytes() {
        let suites = SuiteTag::new("a tag", HashFunction::Sha256);
        let [same, other] = [&b"a tag"[..], b"another"].map(Tag::from);
        assert_ne!(same, other);
        assert_eq!(same, Tag::from(&b"a tag"[..]));
        let tags = [suites.clone(), same.clone().in_place_of(&suites), other.in_place_of(&suites)];
        assert_eq!(tags[0], tags[1]);
        assert_ne!(tags[0], tags[2]);
        assert_eq!(tags.iter().collect::<HashSet<_>>().len(), 2);
        assert_eq!(format!("{:?}", Tag::from(&b"\x1b[1m"[..])), "Tag(\\x1b[1m)");
    }

    /// A caller's tag is hashed by the function of the suite in whose place it stands, unless it has its own.
    #[cfg(feature = "bn254")]
    #[test]
    fn a_tag_takes_the_suites_function() {
        let functions = [HashFunction::Sha256, HashFunction::Keccak256, HashFunction::EigenLayer];
        let placed = |tag: Tag| functions.map(|function| tag.clone().in_place_of(&SuiteTag::new("a tag", function)));
        assert_eq!(placed(Tag::from(&b"x"[..])).map(|tag| tag.function), functions);
        assert_eq!(placed(Tag::from(&b"a tag"[..])), functions.map(|function| SuiteTag::new("a tag", function)));
        assert_eq!(placed(Tag::try_and_increment()).map(|tag| tag.function), [HashFunction::TryAndIncrement; 3]);
    }
}
