//! The key that pays for transactions. It is not an operator's key: it signs no result.

use std::fmt;

use alloy::{network::EthereumWallet, primitives::Address, signers::local::PrivateKeySigner};
use quorate_keystore::{
    hex,
    keystore::{AccountKeystore, AccountKeystoreError},
    passphrase::Passphrase,
};
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
    #[error(transparent)]
    Keystore(#[from] AccountKeystoreError),
}

impl Payer {
    /// A key as 64 hexadecimal digits, with or without `0x`, and with white space around it.
    ///
    /// # Errors
    /// [`PayerError::Digits`], [`PayerError::Range`].
    pub fn from_hex(text: &str) -> Result<Self, PayerError> {
        let mut bytes = Zeroizing::new([0; 32]);
        hex::decode_into(text.trim().as_bytes(), &mut *bytes).map_err(|_| PayerError::Digits)?;
        Self::of_bytes(&bytes)
    }

    /// The key of an Ethereum keystore (version 3), from its JSON. Takes as long as the keystore's function of the passphrase, about a
    /// second, within [bounds](quorate_keystore::keystore::Kdf).
    ///
    /// # Errors
    /// [`PayerError::Keystore`], [`PayerError::Range`].
    pub fn from_keystore(json: &[u8], passphrase: &Passphrase) -> Result<Self, PayerError> {
        Self::of_bytes(AccountKeystore::parse(json)?.decrypt(passphrase)?.expose())
    }

    fn of_bytes(bytes: &[u8; 32]) -> Result<Self, PayerError> {
        PrivateKeySigner::from_slice(bytes).map(Self).map_err(|_| PayerError::Range)
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

impl From<Payer> for PrivateKeySigner {
    fn from(payer: Payer) -> Self {
        payer.0
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
