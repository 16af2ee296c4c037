//! Makes the key that checks and decrypts a keystore from a passphrase.

use aes::Aes128;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;
use zeroize::Zeroizing;

use super::kdf::{KEY_LENGTH, Kdf};
use crate::passphrase::Passphrase;

/// The derived key. One half decrypts, the other half checks the passphrase.
pub(super) struct DecryptionKey(Zeroizing<[u8; KEY_LENGTH]>);

impl DecryptionKey {
    pub(super) fn derive(kdf: &Kdf, passphrase: &Passphrase, salt: &[u8]) -> Self {
        Self(kdf.derive(processed(passphrase).as_bytes(), salt))
    }

    /// EIP-2335, password verification: SHA-256(DK[16..32] || ciphertext).
    pub(super) fn checksum(&self, ciphertext: &[u8]) -> [u8; 32] {
        Sha256::new().chain_update(&self.0[16..]).chain_update(ciphertext).finalize().into()
    }

    /// EIP-2335, secret decryption: AES-128-CTR under DK[0..16]. The same operation encrypts and decrypts.
    pub(super) fn apply_cipher(&self, iv: &[u8; 16], bytes: &mut [u8]) {
        let mut cipher = Ctr128BE::<Aes128>::new_from_slices(&self.0[..16], iv)
            .expect("AES-128 takes a key of 16 bytes and a block of 16 bytes");
        cipher.apply_keystream(bytes);
    }
}

/// EIP-2335, password requirements: NFKD, then no control codes, then UTF-8.
///
/// Unicode's category Cc is exactly the standard's list: C0, Delete and C1.
fn processed(passphrase: &Passphrase) -> Zeroizing<String> {
    let characters = || passphrase.expose().nfkd().filter(|c| !c.is_control());
    // The length is counted first, because a string that grows leaves a copy behind, which is not wiped.
    let length = characters().map(char::len_utf8).sum();
    let mut text = Zeroizing::new(String::with_capacity(length));
    text.extend(characters());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passphrases_are_processed_as_the_standard_says() {
        for (passphrase, processed_bytes) in [
            ("𝔱𝔢𝔰𝔱𝔭𝔞𝔰𝔰𝔴𝔬𝔯𝔡🔑", "7465737470617373776f7264f09f9491"),
            // Composed and decomposed are the same passphrase.
            ("\u{e9}", "65cc81"),
            ("e\u{301}", "65cc81"),
            // C0, Delete and C1 vanish, at both ends of each range; space stays.
            ("a\u{0}\u{1f}\u{7f}\u{80}\u{9f}\r\nb", "6162"),
            (" a b ", "2061206220"),
            ("\u{a0}", "20"),
            // One character becomes eighteen.
            ("\u{fdfa}", "d8b5d984d98920d8a7d984d984d98720d8b9d984d98ad98720d988d8b3d984d985"),
            ("", ""),
        ] {
            let text = processed(&Passphrase::from(passphrase));
            assert_eq!(crate::hex::encode(text.as_bytes()), processed_bytes);
        }
    }
}
