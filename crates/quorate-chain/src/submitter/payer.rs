//! The key that pays for transactions. It is not an operator's key: it signs no result.

use std::{fmt, path::Path};

use alloy::{network::EthereumWallet, primitives::Address, signers::local::PrivateKeySigner};
use zeroize::Zeroizing;

/// A key of secp256k1 that pays. It is wiped when it is dropped, and never printed.
pub struct Payer(PrivateKeySigner);

/// Why there is no key. No message repeats a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PayerError {
    /// The text is not 64 hexadecimal digits.
    #[error("the payer's key is not one: expected 64 hexadecimal digits")]
    Digits,
    /// The number is not below the order of the curve, or zero.
    #[error("the payer's key is not a key of secp256k1")]
    Range,
    /// The keystore cannot be read or opened.
    #[error(
        "{0}: the keystore cannot be read, is damaged, or the passphrase is wrong; expected an Ethereum keystore, version 3"
    )]
    Keystore(String),
}

impl Payer {
    /// A key as 64 hexadecimal digits, with or without `0x`, and with white space around it.
    ///
    /// # Errors
    /// [`PayerError::Digits`], [`PayerError::Range`].
    pub fn from_hex(text: &str) -> Result<Self, PayerError> {
        let mut bytes = Zeroizing::new([0; 32]);
        const_hex::decode_to_slice(text.trim(), &mut *bytes).map_err(|_| PayerError::Digits)?;
        PrivateKeySigner::from_slice(&*bytes).map(Self).map_err(|_| PayerError::Range)
    }

    /// The key of an Ethereum keystore (version 3). Takes as long as the keystore's function of the passphrase, about a
    /// second.
    ///
    /// # Errors
    /// [`PayerError::Keystore`].
    pub fn from_keystore(path: &Path, passphrase: &[u8]) -> Result<Self, PayerError> {
        let opened = PrivateKeySigner::decrypt_keystore(path, passphrase);
        opened.map(Self).map_err(|_| PayerError::Keystore(path.display().to_string()))
    }

    /// What signs transactions.
    pub(crate) fn wallet(self) -> EthereumWallet {
        EthereumWallet::from(self.0)
    }

    /// The account.
    pub fn address(&self) -> Address {
        self.0.address()
    }
}

impl From<PrivateKeySigner> for Payer {
    fn from(signer: PrivateKeySigner) -> Self {
        Self(signer)
    }
}

impl fmt::Debug for Payer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Payer").field(&self.address()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_never_printed() {
        let digits = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
        let payer = Payer::from_hex(&format!(" 0x{digits}\n")).unwrap();
        assert_eq!(payer.address().to_string(), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
        assert!(!format!("{payer:?}").contains(&digits[..8]));
        for (wrong, error) in
            [("", PayerError::Digits), (&digits[1..], PayerError::Digits), (&"0".repeat(64), PayerError::Range)]
        {
            assert_eq!(Payer::from_hex(wrong).unwrap_err(), error);
        }
    }
}
