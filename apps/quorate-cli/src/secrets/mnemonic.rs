//! Mnemonics of BIP-39: words that stand for the seed of a key tree.
//!
//! Which words are typed is not hidden from the machine's caches: the look-up in the word list is not constant-time code.

use bip39::{Language, Mnemonic};
use zeroize::{Zeroize as _, Zeroizing};

use crate::secrets::passphrase::{Passphrase, nfkd};

/// The bytes of a BIP-39 seed.
pub const SEED: usize = 64;

/// The seed of a mnemonic, with the passphrase that belongs to it or an empty one.
///
/// The words may stand on several lines, and the language is found out. Each word may be cut to its first four letters, as steel
/// plates have them, if only one word of the list begins with them: so it is in English, French, Italian and Spanish. The seed is that
/// of the whole words.
///
/// # Errors
/// [`MnemonicError`], which repeats none of the words.
pub fn seed(text: &str, passphrase: Option<&Passphrase>) -> Result<Zeroizing<[u8; SEED]>, MnemonicError> {
    // In the form that it compares, or `bip39` would make copies that it does not wipe.
    let text = nfkd(&Zeroizing::new(text.to_lowercase()));
    let mut mnemonic = parse(&text).or_else(|error| match error {
        MnemonicError::UnknownWord { .. } => parse_abbreviated(&text).ok_or(error),
        _ => Err(error),
    })?;
    let passphrase = nfkd(passphrase.map_or("", Passphrase::expose));
    let seed = Zeroizing::new(mnemonic.to_seed(passphrase.as_str()));
    mnemonic.zeroize();
    Ok(seed)
}

/// Why a text is not a mnemonic.
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

/// The mnemonic of words of which some are abbreviated. `None` if there is none, or if two languages have one with this beginning.
fn parse_abbreviated(text: &str) -> Option<Mnemonic> {
    let mut readings = Language::ALL.iter().filter_map(|language| {
        // All of it is reserved at once, because a string that grows leaves a copy behind, which is not wiped.
        let mut whole = Zeroizing::new(String::with_capacity(MOST_WORDS * LONGEST_WORD));
        for (number, word) in text.split_whitespace().enumerate() {
            if number == MOST_WORDS {
                return None;
            }
            let mut begun = language.word_list().iter().filter(|whole| whole.starts_with(word));
            let found = match (begun.next(), begun.next()) {
                (Some(found), None) if word.chars().count() >= ABBREVIATION => found,
                // A whole word may be the beginning of another one.
                (Some(found), _) if *found == word => found,
                _ => return None,
            };
            whole.push_str(found);
            whole.push(' ');
        }
        Mnemonic::parse_in(*language, whole.as_str()).ok()
    });
    let found = readings.next()?;
    readings.all(|other| other == found).then_some(found)
}

/// The letters that tell the words of a list apart.
const ABBREVIATION: usize = 4;
const MOST_WORDS: usize = 24;
/// More than the bytes of any word in any list, with a space.
const LONGEST_WORD: usize = 64;

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
    use quorate_lab::vectors;

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
    fn words_of_four_letters() {
        let seeds = |text: &str| seed(text, None).map(|seed| *seed);
        let whole = "legal winner thank year wave sausage worth useful legal winner thank yellow";
        let cut: Vec<_> = whole.split(' ').map(|word| &word[..word.len().min(4)]).collect();
        assert_eq!(seeds(&cut.join(" ")), seeds(whole));
        assert_eq!(seeds(&cut.join("\n").to_uppercase()), seeds(whole));
        // Some are whole, and some have five letters.
        assert_eq!(seeds(&whole.replace("sausage", "sausa")), seeds(whole));
        // Three letters are not enough, also where only one word begins with them, and no word begins with these four.
        assert_eq!(seeds(&whole.replace("sausage", "sau")), Err(MnemonicError::UnknownWord { number: 6 }));
        assert_eq!(seeds(&whole.replace("sausage", "sasu")), Err(MnemonicError::UnknownWord { number: 6 }));
        // The checksum still decides.
        assert!(seeds(&cut.join(" ").replace("yell", "year")).is_err());
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
