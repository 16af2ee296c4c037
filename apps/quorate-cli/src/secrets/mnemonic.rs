//! Mnemonics of BIP-39: words that stand for the seed of a key tree.
//!
//! Which words are typed is not hidden from the machine's caches: the look-up in the word list is no constant-time code.

use bip39::{Language, Mnemonic};
use zeroize::{Zeroize as _, Zeroizing};

use crate::secrets::passphrase::Passphrase;

/// The bytes of a BIP-39 seed.
pub const SEED: usize = 64;

/// The seed of a mnemonic, with the passphrase that belongs to it or an empty one.
///
/// The words may stand on several lines, and the language is found out.
///
/// # Errors
/// [`MnemonicError`], which repeats none of the words.
pub fn seed(text: &str, passphrase: Option<&Passphrase>) -> Result<Zeroizing<[u8; SEED]>, MnemonicError> {
    let text = Zeroizing::new(text.to_lowercase());
    let mut mnemonic = parse(&text)?;
    let seed = Zeroizing::new(mnemonic.to_seed(passphrase.map_or("", Passphrase::expose)));
    mnemonic.zeroize();
    Ok(seed)
}

/// Why a text is no mnemonic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MnemonicError {
    /// Too few words, too many, or a number between two lengths.
    #[error("found {found} words, expected a mnemonic of 12, 15, 18, 21 or 24")]
    Words {
        /// How many there are.
        found: usize,
    },
    /// A word is in none of the lists.
    #[error("word {number} of the mnemonic is not in the word list; look for a slip of the pen")]
    UnknownWord {
        /// Its number, from 1.
        number: usize,
    },
    /// The last word does not fit the others.
    #[error("the mnemonic's checksum is wrong: a word is another one, or two words have changed places")]
    Checksum,
}

fn parse(text: &str) -> Result<Mnemonic, MnemonicError> {
    match Mnemonic::parse(text) {
        Ok(mnemonic) => Ok(mnemonic),
        // Some lists share words. The checksum decides, and the seed depends on the words alone.
        Err(bip39::Error::AmbiguousLanguages(languages)) => {
            let mut readings = languages.iter().map(|language: Language| Mnemonic::parse_in(language, text));
            readings.find_map(Result::ok).ok_or(MnemonicError::Checksum)
        }
        Err(bip39::Error::BadWordCount(found)) => Err(MnemonicError::Words { found }),
        Err(bip39::Error::UnknownWord(index)) => Err(MnemonicError::UnknownWord { number: index + 1 }),
        Err(_) => Err(MnemonicError::Checksum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::vectors;

    const ABANDON: &str =
        "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

    /// The mnemonic of EIP-2333's test case 0.
    #[test]
    fn the_seed_of_eip_2333() {
        let passphrase = Passphrase::from("TREZOR");
        let expected = "c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04";
        for text in [ABANDON.to_owned(), ABANDON.replace(' ', "\r\n"), format!("  {}\n", ABANDON.to_uppercase())] {
            assert_eq!(const_hex::encode(*seed(&text, Some(&passphrase)).expect("a mnemonic")), expected);
        }
        assert_ne!(const_hex::encode(*seed(ABANDON, None).expect("a mnemonic")), expected);
    }

    /// The staking deposit client's cases, in seven languages. Its passphrase is BIP-39's: TREZOR.
    #[test]
    fn published_mnemonics_of_seven_languages() {
        let Some(bytes) = vectors::read("05_keys/staking-deposit-cli/test_vectors/mnemonic.json") else { return };
        let languages: std::collections::BTreeMap<String, Vec<Vec<String>>> =
            serde_json::from_slice(&bytes).expect("lists of cases");
        let mut cases = 0;
        for (language, list) in languages {
            for case in list {
                let found = seed(&case[1], Some(&Passphrase::from("TREZOR")));
                assert_eq!(found.map(|seed| const_hex::encode(*seed)), Ok(case[2].clone()), "{language}");
                cases += 1;
            }
        }
        assert_eq!(cases, 7 * 24);
    }

    #[test]
    fn what_is_wrong_with_a_mnemonic() {
        let wrong = |text: &str| seed(text, None).expect_err("no mnemonic");
        assert_eq!(wrong(""), MnemonicError::Words { found: 0 });
        assert_eq!(wrong("abandon about"), MnemonicError::Words { found: 2 });
        assert_eq!(wrong(&ABANDON.replace("about", "abuot")), MnemonicError::UnknownWord { number: 12 });
        assert_eq!(wrong(&ABANDON.replace("about", "abandon")), MnemonicError::Checksum);
        assert!(!wrong(&ABANDON.replace("about", "abuot")).to_string().contains("ab"));
    }
}
