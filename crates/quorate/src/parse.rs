//! Bytes and text to keys and signatures: what can be wrong with them, and the conversions that all of them share.
//!
//! ```
//! use quorate::{DecodeError, MinPk, ParseError, PublicKey};
//! let short = PublicKey::<MinPk>::from_bytes(&[0; 47]).unwrap_err();
//! assert!(matches!(short, ParseError::Key(DecodeError::Length { expected: 48, found: 47, .. })));
//! let text = "0xb301803f8b5ac4a1133581fc676dfedc60d891dd5fa99028805e5ea5b08d3491af75d0707adab3b70c6a6a580217bf81";
//! let key: PublicKey<MinPk> = text.parse()?;
//! assert_eq!(format!("0x{key}"), text);
//! # Ok::<(), ParseError>(())
//! ```

pub use quorate_curve::{DecodeError, SecretError};

/// Bytes or text that are not a key or a signature: which of them, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// A public key that is not the canonical encoding of a point.
    #[error("public key: {0}")]
    Key(DecodeError),
    /// A public key outside the subgroup of order r.
    #[error("public key: the point is not in the subgroup")]
    KeyNotInSubgroup,
    /// The identity as a public key, under which the identity signature verifies for any message.
    #[error("public key: the point is the identity")]
    IdentityKey,
    /// A signature that is not the canonical encoding of a point.
    #[error("signature: {0}")]
    Signature(DecodeError),
    /// A signature outside the subgroup of order r.
    #[error("signature: the point is not in the subgroup")]
    SignatureNotInSubgroup,
    /// Bytes that are not a secret key.
    #[error("secret key: {0}")]
    Secret(SecretError),
    /// Text that is not hexadecimal.
    #[error("{0}: the text is not hexadecimal")]
    NotHex(Encoded),
    /// Bytes that are not a key, a signature or a message of a suite on BN254.
    #[cfg(feature = "bn254")]
    #[error(transparent)]
    Bn254(#[from] quorate_bn254::Bn254ParseError),
}

/// What bytes or text were read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoded {
    /// A public key.
    PublicKey,
    /// A signature.
    Signature,
}

impl std::fmt::Display for Encoded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::PublicKey => "public key",
            Self::Signature => "signature",
        })
    }
}

/// The conversions of a type that has `from_bytes` and `to_bytes`: from slices and hexadecimal text, to text, the order
/// of the encodings, and serde's (text in formats for people, bytes in others).
macro_rules! conversions {
    ($name:ident, $encoded:expr) => {
        impl<S: Suite> TryFrom<&[u8]> for $name<S> {
            type Error = $crate::parse::ParseError;

            fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
                Self::from_bytes(bytes)
            }
        }

        impl<S: Suite> std::str::FromStr for $name<S> {
            type Err = $crate::parse::ParseError;

            /// Reads hexadecimal in either case, with or without `0x` in front.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let bytes =
                    $crate::hexadecimal::from_hex(text).map_err(|_| $crate::parse::ParseError::NotHex($encoded))?;
                Self::from_bytes(&bytes)
            }
        }

        impl<S: Suite> std::fmt::Display for $name<S> {
            /// Lower-case hexadecimal of the compressed encoding.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&const_hex::encode(self.to_bytes()))
            }
        }

        impl<S: Suite> std::fmt::Debug for $name<S> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl<S: Suite> Ord for $name<S> {
            /// The order of the compressed encodings. It means nothing; sorted collections need one.
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.to_bytes().cmp(&other.to_bytes())
            }
        }

        impl<S: Suite> PartialOrd for $name<S> {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        #[cfg(feature = "serde")]
        impl<S: Suite> serde::Serialize for $name<S> {
            fn serialize<T: serde::Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    serializer.serialize_bytes(self.to_bytes().as_ref())
                }
            }
        }

        #[cfg(feature = "serde")]
        impl<'de, S: Suite> serde::Deserialize<'de> for $name<S> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::parse::deserialize(deserializer, $encoded, |bytes| Self::from_bytes(bytes))
            }
        }
    };
}

pub(crate) use conversions;

/// Reads text as hexadecimal in formats for people, and bytes in others.
#[cfg(feature = "serde")]
pub(crate) fn deserialize<'de, T, D: serde::Deserializer<'de>>(
    deserializer: D,
    encoded: Encoded,
    read: impl Fn(&[u8]) -> Result<T, ParseError>,
) -> Result<T, D::Error> {
    use serde::de::{Error, SeqAccess, Visitor};

    use crate::hexadecimal::from_hex;

    struct Bytes<R>(Encoded, R);

    impl<'de, T, R: Fn(&[u8]) -> Result<T, ParseError>> Visitor<'de> for Bytes<R> {
        type Value = T;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "a {} as hexadecimal text or as bytes", self.0)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            let bytes = from_hex(text).map_err(|_| E::custom(ParseError::NotHex(self.0)))?;
            (self.1)(&bytes).map_err(E::custom)
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<T, E> {
            (self.1)(bytes).map_err(E::custom)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
            let mut bytes = Vec::new();
            while let Some(byte) = seq.next_element()? {
                bytes.push(byte);
            }
            (self.1)(&bytes).map_err(A::Error::custom)
        }
    }

    let visitor = Bytes(encoded, read);
    if deserializer.is_human_readable() {
        deserializer.deserialize_str(visitor)
    } else {
        deserializer.deserialize_bytes(visitor)
    }
}
