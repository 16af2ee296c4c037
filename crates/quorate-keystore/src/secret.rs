//! A secret key as bytes, before its scheme is known.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::hex::{self, HexError};

/// A secret scalar: 32 bytes, big-endian, as EIP-2333, EIP-2335 and the COSE draft have it.
///
/// It is wiped when dropped, redacted in `Debug`, compared in constant time, and neither `Copy` nor `Clone`. It is not checked
/// against the group order here; the code that derives the public key does that.
pub struct Secret(Zeroizing<[u8; Secret::LENGTH]>);

impl Secret {
    /// Bytes in a secret.
    pub const LENGTH: usize = 32;

    /// A secret with these bytes, big-endian.
    pub fn new(bytes: Zeroizing<[u8; Self::LENGTH]>) -> Self {
        Self(bytes)
    }

    /// Reads 64 hexadecimal digits, with or without `0x`, either case.
    ///
    /// # Errors
    /// [`HexError`]: the number of digits is wrong, or one of them is not a digit.
    pub fn from_hex(text: &[u8]) -> Result<Self, HexError> {
        let mut bytes = Zeroizing::new([0; Self::LENGTH]);
        hex::decode_into(text, bytes.as_mut())?;
        Ok(Self(bytes))
    }

    /// The bytes, big-endian. The method's name makes every use of them easy to find.
    pub fn expose(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }

    /// The content of a plain key file: 64 lower-case hexadecimal digits and a newline.
    pub fn to_hex_line(&self) -> Zeroizing<String> {
        let digits = Zeroizing::new(hex::encode(self.expose()));
        // The capacity includes the newline, because a string that grows leaves a copy behind, which is not wiped.
        let mut line = Zeroizing::new(String::with_capacity(digits.len() + 1));
        line.push_str(&digits);
        line.push('\n');
        line
    }

    /// Returns the secret if it is a secret key and belongs to the public key that its file states.
    ///
    /// `derive` returns the encoded public key, or `None` if the bytes are not a secret key. If the file states no public key, the
    /// comparison is left out.
    pub fn checked(
        self,
        stated: Option<&[u8]>,
        derive: impl FnOnce(&Secret) -> Option<Vec<u8>>,
    ) -> Result<Self, NotASecret> {
        let derived = derive(&self).ok_or(NotASecret::NotASecretKey)?;
        match stated {
            Some(stated) if stated != derived => {
                Err(NotASecret::PublicKeyMismatch { stated: stated.to_vec(), derived })
            }
            _ => Ok(self),
        }
    }
}

/// The bytes were read, but they are not a secret key, or not the one of the stated public key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotASecret {
    /// Zero, or not below the group order.
    #[error("the 32 bytes are not a secret key: they are zero, or not below the group order")]
    NotASecretKey,
    /// The file states one public key and holds the secret of another.
    #[error(
        "the file states the public key {}, but its secret belongs to {}",
        hex::encode(stated),
        hex::encode(derived)
    )]
    PublicKeyMismatch {
        /// The public key in the file.
        stated: Vec<u8>,
        /// The public key of the secret in the file.
        derived: Vec<u8>,
    },
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.expose().ct_eq(other.expose()).into()
    }
}

impl Eq for Secret {}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(byte: u8) -> Secret {
        Secret::new(Zeroizing::new([byte; 32]))
    }

    #[test]
    fn hexadecimal_there_and_back() {
        let line = secret(0xab).to_hex_line();
        assert_eq!(*line, format!("{}\n", "ab".repeat(32)));
        assert_eq!(Secret::from_hex(line.trim_end().as_bytes()), Ok(secret(0xab)));
        assert_ne!(secret(0xab), secret(0xac));
    }

    #[test]
    fn debug_is_redacted() {
        assert_eq!(format!("{:?}", secret(0xab)), "Secret(redacted)");
        assert_eq!(format!("{:#?}", Some(secret(0xab))), "Some(\n    Secret(redacted),\n)");
    }

    #[test]
    fn another_keys_secret_is_not_given_out() {
        assert_eq!(secret(1).checked(Some(&[7]), |_| Some(vec![7])), Ok(secret(1)));
        assert_eq!(secret(1).checked(None, |_| Some(vec![7])), Ok(secret(1)));
        assert_eq!(
            secret(1).checked(Some(&[8]), |_| Some(vec![7])),
            Err(NotASecret::PublicKeyMismatch { stated: vec![8], derived: vec![7] })
        );
        assert_eq!(secret(0).checked(None, |_| None), Err(NotASecret::NotASecretKey));
    }

    #[test]
    fn a_mismatch_prints_both_keys() {
        let error = NotASecret::PublicKeyMismatch { stated: vec![0xaa], derived: vec![0xbb] };
        assert_eq!(error.to_string(), "the file states the public key aa, but its secret belongs to bb");
    }
}
