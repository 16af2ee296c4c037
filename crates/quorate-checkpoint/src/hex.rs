//! Bytes that stand in JSON as hexadecimal text with `0x` in front.

use std::fmt;

use quorate::{array_from_hex, from_hex};
use serde::{Deserializer, Serializer, de};

/// `#[serde(with = "hex::array")]`: exactly N bytes.
pub(crate) mod array {
    use super::*;

    pub(crate) fn serialize<S: Serializer, const N: usize>(bytes: &[u8; N], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&prefixed(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(from: D) -> Result<[u8; N], D::Error> {
        from.deserialize_str(Array::<N>)
    }
}

/// `#[serde(with = "hex::optional_array")]`: exactly N bytes, or the field is absent.
pub(crate) mod optional_array {
    use super::*;

    pub(crate) fn serialize<S: Serializer, const N: usize>(bytes: &Option<[u8; N]>, to: S) -> Result<S::Ok, S::Error> {
        match bytes {
            Some(bytes) => array::serialize(bytes, to),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(from: D) -> Result<Option<[u8; N]>, D::Error> {
        array::deserialize(from).map(Some)
    }
}

/// `#[serde(with = "hex::optional_bytes")]`: any number of bytes, or the field is absent.
pub(crate) mod optional_bytes {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(bytes: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
        match bytes {
            Some(bytes) => to.serialize_str(&prefixed(bytes)),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
        from.deserialize_str(Any).map(Some)
    }
}

/// Lower-case digits with `0x` in front.
pub(crate) fn prefixed(bytes: &[u8]) -> String {
    const_hex::encode_prefixed(bytes)
}

struct Array<const N: usize>;

impl<const N: usize> de::Visitor<'_> for Array<N> {
    type Value = [u8; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{N} bytes as a string of 0x and {} hexadecimal digits", 2 * N)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<[u8; N], E> {
        array_from_hex(with_prefix(text)?).map_err(E::custom)
    }
}

struct Any;

impl de::Visitor<'_> for Any {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes as a string of 0x and hexadecimal digits")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<u8>, E> {
        from_hex(with_prefix(text)?).map_err(E::custom)
    }
}

/// The text, if it has its prefix.
fn with_prefix<E: de::Error>(text: &str) -> Result<&str, E> {
    let prefixed = Some(text).filter(|text| text.starts_with("0x"));
    prefixed.ok_or_else(|| E::custom("expected a string that begins with 0x, followed by hexadecimal digits"))
}
