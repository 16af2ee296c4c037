//! The key that pays for transactions. It is not an operator's key: it signs no result.

use std::fmt;

use alloy::{network::EthereumWallet, primitives::Address, signers::local::PrivateKeySigner};
use quorate_host::BYTE_ORDER_MARK;
use quorate_keystore::{
    hex,
    keystore::{AccountKeystore, AccountKeystoreError},
    passphrase::Passphrase,
};
use zeroize::Zeroizing;

/// A key of secp256k1 that pays. It is wiped when it is dropped, and never printed.
#[derive(Clone)]
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
    /// The keystore has the key of another account than it says.
    #[error(
        "the keystore says that its account is {stated}, and its key is that of {found}; the file is damaged, or put together from two: \
         bring it back from a copy"
    )]
    OtherAccount {
        /// The address in the file.
        stated: Address,
        /// The address of the key.
        found: Address,
    },
}

impl Payer {
    /// A key as 64 hexadecimal digits, with or without `0x`, and with white space around it. A byte order mark before it is skipped.
    ///
    /// # Errors
    /// [`PayerError::Digits`], [`PayerError::Range`].
    pub fn from_hex(text: &str) -> Result<Self, PayerError> {
        let mut bytes = Zeroizing::new([0; 32]);
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim();
        hex::decode_into(text.as_bytes(), &mut *bytes).map_err(|_| PayerError::Digits)?;
        Self::of_bytes(&bytes)
    }

    /// The key of an Ethereum keystore (version 3), from its JSON. Takes as long as the keystore's function of the passphrase, about a
    /// second, within [bounds](quorate_keystore::keystore::Kdf).
    ///
    /// # Errors
    /// [`PayerError::Keystore`], [`PayerError::Range`], [`PayerError::OtherAccount`].
    pub fn from_keystore(json: &[u8], passphrase: &Passphrase) -> Result<Self, PayerError> {
        let keystore = AccountKeystore::parse(json)?;
        let payer = Self::of_bytes(keystore.decrypt(passphrase)?.expose())?;
        match keystore.address().map(Address::from) {
            Some(stated) if stated != payer.address() => {
                Err(PayerError::OtherAccount { stated, found: payer.address() })
            }
            _ => Ok(payer),
        }
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
        assert_eq!(Payer::from_hex(&format!("\u{feff}{digits}\r\n")).unwrap().address(), payer.address());
        for (wrong, error) in
            [("", PayerError::Digits), (&digits[1..], PayerError::Digits), (&"0".repeat(64), PayerError::Range)]
        {
            assert_eq!(Payer::from_hex(wrong).unwrap_err(), error);
        }
    }

    /// The checksum of a keystore does not cover the initialisation vector, so with a damaged one another key comes out.
    #[test]
    fn a_keystore_of_another_account_than_it_says_is_refused() {
        let file = |address: &str, iv: &str| {
            format!(
                r#"{{"version": 3, "address": "{address}", "crypto": {{"cipher": "aes-128-ctr", "cipherparams": {{"iv": "{iv}"}},
                    "ciphertext": "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46", "kdf": "pbkdf2",
                    "kdfparams": {{"c": 262144, "dklen": 32, "prf": "hmac-sha256",
                        "salt": "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd"}},
                    "mac": "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2"}}}}"#
            )
        };
        let open = |address: &str, iv: &str| {
            Payer::from_keystore(file(address, iv).as_bytes(), &"testpassword".into()).map(|payer| payer.address())
        };
        let (address, iv) = ("008aeeda4d805471df9b2a5b0f38a0c3bcba786b", "6087dab2f9fdbbfaddc31a909735c1e6");
        let stated: Address = address.parse().unwrap();
        assert_eq!((open(address, iv), open("", iv)), (Ok(stated), Ok(stated)));
        let damaged = open(address, &iv.replacen('6', "7", 1));
        assert!(
            matches!(damaged, Err(PayerError::OtherAccount { stated: found, .. }) if found == stated),
            "{damaged:?}"
        );
        let another = open(&"11".repeat(20), iv);
        assert!(matches!(another, Err(PayerError::OtherAccount { found, .. }) if found == stated), "{another:?}");
    }
}
