//! Makes the key that checks and decrypts a keystore from a passphrase.

use std::fmt;

use aes::Aes128;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use sha3::Keccak256;
use subtle::ConstantTimeEq;
use unicode_normalization::{UnicodeNormalization, char::canonical_combining_class};
use zeroize::Zeroizing;

use super::kdf::{KEY_LENGTH, Kdf};
use crate::passphrase::{Passphrase, collected};

pub(super) const AES_128_CTR: &str = "aes-128-ctr";

/// The parameters of the cipher in a file of either version.
#[derive(Deserialize)]
pub(super) struct CipherParams {
    pub(super) iv: String,
}

/// The derived key. One half decrypts, the other half checks the passphrase.
pub(super) struct DecryptionKey(Zeroizing<[u8; KEY_LENGTH]>);

impl DecryptionKey {
    /// The key of a passphrase as the standard has it.
    pub(super) fn derive(kdf: &Kdf, passphrase: &Passphrase, salt: &[u8]) -> Self {
        Self::of_text(kdf, &processed(passphrase), salt)
    }

    /// The key of a processed passphrase.
    pub(super) fn of_text(kdf: &Kdf, processed: &str, salt: &[u8]) -> Self {
        Self(kdf.derive(processed.as_bytes(), salt))
    }

    /// EIP-2335, password verification: SHA-256(DK[16..32] || ciphertext).
    pub(super) fn checksum(&self, ciphertext: &[u8]) -> [u8; 32] {
        Sha256::new().chain_update(&self.0[16..]).chain_update(ciphertext).finalize().into()
    }

    /// The Web3 Secret Storage Definition's checksum: Keccak-256(DK[16..32] || ciphertext).
    pub(super) fn mac(&self, ciphertext: &[u8]) -> [u8; 32] {
        Keccak256::new().chain_update(&self.0[16..]).chain_update(ciphertext).finalize().into()
    }

    /// EIP-2335, secret decryption: AES-128-CTR under DK[0..16]. The same operation encrypts and decrypts.
    pub(super) fn apply_cipher(&self, iv: &[u8; 16], bytes: &mut [u8]) {
        let mut cipher = Ctr128BE::<Aes128>::new_from_slices(&self.0[..16], iv)
            .expect("AES-128 takes a key of 16 bytes and a block of 16 bytes");
        cipher.apply_keystream(bytes);
    }
}

/// How a program made bytes of a passphrase, where that was not as EIP-2335 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OlderForm {
    /// Of each character and the marks upon it, the first code point of its NFKD alone: `ü` counts as `u`.
    WithoutMarks,
    /// As it was typed.
    AsTyped,
    /// NFC, without control codes.
    Composed,
    /// NFKC, without control codes.
    CompatibilityComposed,
    /// NFKD, with control codes.
    WithControlCodes,
    /// NFKD, behind a byte order mark that stood in the file.
    WithByteOrderMark,
}

impl fmt::Display for OlderForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WithoutMarks => {
                "without the marks on its letters, as ethdo before 1.4.1, go-ssv and other programs of that time took it"
            }
            Self::AsTyped => "as it was typed, without any normalisation",
            Self::Composed => "in Unicode's form NFC",
            Self::CompatibilityComposed => "in Unicode's form NFKC",
            Self::WithControlCodes => "with its control codes",
            Self::WithByteOrderMark => "with the byte order mark at the start of its file",
        })
    }
}

/// The other forms in which programs have taken the passphrase, each text once, without the one of the standard.
pub(super) fn older(passphrase: &Passphrase) -> Vec<(OlderForm, Zeroizing<String>)> {
    let text = passphrase.expose();
    let printed = |c: &char| !c.is_control();
    let marked = passphrase.was_marked().then(|| {
        let marked = || "\u{feff}".chars().chain(text.nfkd().filter(printed));
        (OlderForm::WithByteOrderMark, collected(marked))
    });
    let forms = [
        (OlderForm::WithoutMarks, collected(|| without_marks(text).filter(printed))),
        (OlderForm::AsTyped, collected(|| text.chars())),
        (OlderForm::Composed, collected(|| text.nfc().filter(printed))),
        (OlderForm::CompatibilityComposed, collected(|| text.nfkc().filter(printed))),
        (OlderForm::WithControlCodes, collected(|| text.nfkd())),
    ];
    let mut seen = vec![processed(passphrase)];
    let mut older = Vec::new();
    for (form, text) in marked.into_iter().chain(forms) {
        if !seen.iter().any(|other| bool::from(other.as_bytes().ct_eq(text.as_bytes()))) {
            seen.push(text.clone());
            older.push((form, text));
        }
    }
    older
}

/// What go-eth2-wallet-encryptor-keystorev4 up to 1.1.3 made of a text. It went through the segments of NFKD, each a character
/// with the marks that follow it, and kept the first code point of each. A Hangul syllable is one segment.
fn without_marks(text: &str) -> impl Iterator<Item = char> {
    let first = |c: char| match u32::from(c).checked_sub(HANGUL_FIRST) {
        Some(syllable) if syllable < HANGUL_SYLLABLES => {
            char::from_u32(JAMO_FIRST + syllable / SYLLABLES_OF_JAMO).unwrap_or(c)
        }
        _ => c,
    };
    // The first code point of a text begins a segment, whatever it is.
    text.chars()
        .map(first)
        .nfkd()
        .enumerate()
        .filter(|(at, c)| *at == 0 || canonical_combining_class(*c) == 0)
        .map(|(_, c)| c)
}

/// The Hangul syllables, and the consonants with which they begin, by section 3.12 of the Unicode standard.
const HANGUL_FIRST: u32 = 0xac00;
const HANGUL_SYLLABLES: u32 = 11_172;
const JAMO_FIRST: u32 = 0x1100;
const SYLLABLES_OF_JAMO: u32 = 588;

/// EIP-2335, password requirements: NFKD, then no control codes, then UTF-8.
///
/// Unicode's category Cc is exactly the standard's list: C0, Delete and C1.
fn processed(passphrase: &Passphrase) -> Zeroizing<String> {
    collected(|| passphrase.expose().nfkd().filter(|c| !c.is_control()))
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

    #[test]
    fn older_forms_are_tried_once_each() {
        let forms = |text: &str| {
            let older = older(&Passphrase::from(text));
            older.iter().map(|(form, text)| (*form, text.to_string())).collect::<Vec<_>>()
        };
        assert_eq!(forms("correct horse"), []);
        assert_eq!(
            forms("contrase\u{f1}a"),
            [(OlderForm::WithoutMarks, "contrasena".to_owned()), (OlderForm::AsTyped, "contrase\u{f1}a".to_owned()),]
        );
        assert_eq!(
            forms("n\u{303}\u{fb01}"),
            [
                (OlderForm::WithoutMarks, "nfi".to_owned()),
                (OlderForm::AsTyped, "n\u{303}\u{fb01}".to_owned()),
                (OlderForm::Composed, "\u{f1}\u{fb01}".to_owned()),
                (OlderForm::CompatibilityComposed, "\u{f1}fi".to_owned()),
            ]
        );
        assert_eq!(forms("a\tb"), [(OlderForm::AsTyped, "a\tb".to_owned())]);
        // 각 is ㄱ, ㅏ, ㄱ.
        assert_eq!(forms("\u{ac01}")[0], (OlderForm::WithoutMarks, "\u{1100}".to_owned()));
        let marked = Passphrase::first_line(&b"\xef\xbb\xbfa\n"[..], String::new()).expect("a line");
        let older = older(&marked);
        assert_eq!((older.len(), older[0].0, older[0].1.as_str()), (1, OlderForm::WithByteOrderMark, "\u{feff}a"));
    }
}
