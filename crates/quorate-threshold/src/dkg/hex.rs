//! Bytes that stand in JSON as hexadecimal.

use std::fmt::{self, Debug, Display};

use quorate::{array_from_hex, from_hex};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Public bytes of any length: points, proofs, ciphertexts. In JSON they are lower-case hexadecimal without a prefix.
#[derive(Clone, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

/// A SHA-256 digest, in JSON as hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CeremonyDigest(pub [u8; 32]);

impl<T: AsRef<[u8]>> From<T> for Bytes {
    fn from(bytes: T) -> Self {
        Self(bytes.as_ref().to_vec())
    }
}

impl Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&const_hex::encode(&self.0))
    }
}

impl Display for CeremonyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&const_hex::encode(self.0))
    }
}

impl Debug for CeremonyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&const_hex::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        from_hex(&text).map(Self).map_err(D::Error::custom)
    }
}

impl Serialize for CeremonyDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&const_hex::encode(self.0))
    }
}

impl<'de> Deserialize<'de> for CeremonyDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        array_from_hex(&text).map(Self).map_err(D::Error::custom)
    }
}
