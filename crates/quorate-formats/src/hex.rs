//! Fields of documents in hexadecimal.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use quorate::{NotHex, array_from_hex, from_hex};
use serde::{Deserialize, Deserializer, de};

/// A field of a document with exactly `N` bytes in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hex<const N: usize>(pub [u8; N]);

impl<const N: usize> Hex<N> {
    /// Whether all bytes are zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.0 == [0; N]
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Visitor(array_from_hex::<N>)).map(Self)
    }
}

/// A field of a document with any number of bytes in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HexBytes(pub Vec<u8>);

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Visitor(from_hex)).map(Self)
    }
}

struct Visitor<T>(fn(&str) -> Result<T, NotHex>);

impl<T> de::Visitor<'_> for Visitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string of hexadecimal digits")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

/// A field of a document with any number of bytes, in hexadecimal or in base64 with padding, as gRPC gateways write bytes.
///
/// A text that could be both is hexadecimal. A signature in base64 that has hexadecimal digits alone is read as other bytes, and is
/// invalid; one in sixteen million million million million million is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HexOrBase64(pub Vec<u8>);

impl<'de> Deserialize<'de> for HexOrBase64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let decoded = from_hex(&text).or_else(|not_hex| BASE64_STANDARD.decode(text.as_bytes()).map_err(|_| not_hex));
        decoded.map(Self).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_length_is_kept() {
        assert_eq!(serde_json::from_str::<Hex<2>>("\"0x00ff\"").unwrap(), Hex([0, 255]));
        let error = serde_json::from_str::<Hex<2>>("\"0x00\"").unwrap_err().to_string();
        assert!(error.starts_with("found 2 hexadecimal digits, expected 4"), "{error}");
    }
}
