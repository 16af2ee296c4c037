//! Sets of keys that claims name, and the files that hold them.
//!
//! ```
//! use quorate_formats::{jsonl::JsonLines, key_sets::{KeySets, read_list}};
//! # use quorate::{Backend, MinPk, SecretKey, rand_core::SeedableRng};
//! # let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"")?;
//! # let list: String = secret.public_key().to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
//! # let mut rng = rand_chacha::ChaCha20Rng::from_seed([7; 32]);
//! // One key a line, in hexadecimal.
//! let set = read_list(MinPk::Eth2, list.as_bytes(), Backend::auto(), std::num::NonZero::<usize>::MIN, &mut rng)?;
//! let mut sets = KeySets::default();
//! sets.add("committee".to_owned(), set.into_any())?;
//! let line = r#"{"key_set": "committee", "members": "0x01", "message": "0x0b", "signature": "0x0c"}"#;
//! let entry = JsonLines::new(line.as_bytes()).with_key_sets(sets).next().expect("one line")?;
//! assert_eq!(entry.expect("a line that makes a claim").public_keys.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    num::NonZeroUsize,
    path::PathBuf,
    str::FromStr,
    sync::Arc,
};

use quorate::{
    AnyKeySet, AnySuite, Backend, Bls12381Suite, KeySet, Members, PublicKeys, keyset::SavedKeysError,
    rand_core::CryptoRng,
};
use quorate_host::{
    exit::{Ends, Exit},
    other_users::{OtherWriters, refuse_other_writers},
    text::WideText,
};
use thiserror::Error;

use crate::columns::{Field, check_name};
use crate::format::Foreign;
use crate::lines::{BoundedLines, LineRead};
use crate::signing_context::quoted;

/// The most members of a set that a file holds: 2^24, which take 1.6 GB in min-pk.
pub const MEMBER_LIMIT: usize = 1 << 24;

/// Keys of a list that are decoded together.
const TOGETHER: usize = 1 << 16;

/// The key sets that claims can name. A clone is a handle to the same sets.
#[derive(Clone, Debug, Default)]
pub struct KeySets(Arc<BTreeMap<String, AnyKeySet>>);

impl KeySets {
    /// Adds a set under a name that no other one has.
    ///
    /// # Errors
    /// [`NameTaken`].
    pub fn add(&mut self, name: String, set: AnyKeySet) -> Result<(), NameTaken> {
        if self.0.contains_key(&name) {
            return Err(NameTaken(name));
        }
        Arc::make_mut(&mut self.0).insert(name, set);
        Ok(())
    }

    /// Reads the sets of files.
    ///
    /// # Errors
    /// [`KeySetsError`], for the first file that cannot be used.
    pub fn load(files: &[KeySetFile], loading: &KeySetLoading, rng: &mut impl CryptoRng) -> Result<Self, KeySetsError> {
        let mut sets = Self::default();
        for file in files {
            let set = file.read(loading, rng);
            let set = set.map_err(|error| KeySetsError::File { path: file.path.clone(), error })?;
            sets.add(file.name.clone(), set)?;
        }
        Ok(sets)
    }

    /// The set of a name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&AnyKeySet> {
        self.0.get(name)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The public keys of a claim that names members of a set.
    ///
    /// # Errors
    /// There is no set of the name: what was found and expected.
    pub fn public_keys(&self, name: &str, members: Members) -> Result<PublicKeys, String> {
        check_name("key_set", name.len())?;
        if let Some(set) = self.find(name) {
            return Ok(PublicKeys::Members(set.clone(), members));
        }
        // Both are text from outside, which can be long.
        let found = quoted(name);
        if self.is_empty() {
            return Err(format!(
                "\"key_set\": found {found}, but no key sets were given; give one (on the command line --key-set NAME=FILE)"
            ));
        }
        let expected: Vec<_> = self.0.keys().take(NAMES_SHOWN).map(|name| quoted(name)).collect();
        let rest = self.0.len() - expected.len();
        let rest = if rest == 0 { String::new() } else { format!(" and {rest} more") };
        Err(format!("\"key_set\": found {found}, expected one of the key sets {}{rest}", expected.join(", ")))
    }
}

/// Names that a message shows.
const NAMES_SHOWN: usize = 16;

/// Another key set has the name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("two key sets have the name {0:?}; give one of them another name")]
pub struct NameTaken(pub String);

/// How the files of key sets are read.
#[derive(Clone, Copy, Debug)]
pub struct KeySetLoading {
    /// The suite of lists. A saved set states its own.
    pub suite: Option<AnySuite>,
    /// Who computes the sums of the sets.
    pub backend: Backend,
    /// Threads that decode.
    pub threads: NonZeroUsize,
}

/// A file with a key set, and the name that claims call it by: `NAME=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySetFile {
    /// The name.
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

impl FromStr for KeySetFile {
    type Err = NotAKeySetFile;

    fn from_str(text: &str) -> Result<Self, NotAKeySetFile> {
        match text.split_once('=') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => {
                Ok(Self { name: name.to_owned(), path: path.into() })
            }
            _ => Err(NotAKeySetFile),
        }
    }
}

impl fmt::Display for KeySetFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.path.display())
    }
}

/// A text that is not `NAME=FILE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected NAME=FILE: the name that claims use, and the file of the key set")]
pub struct NotAKeySetFile;

impl KeySetFile {
    /// Reads the file: a saved set ([`KeySet::to_saved`]), or a list ([`read_list`]).
    ///
    /// A saved set is refused if others than this program's user and root may write it: it is taken at its word that its keys are in
    /// the subgroup.
    ///
    /// # Errors
    /// [`KeySetError`].
    ///
    /// Cost: as of [`AnyKeySet::from_saved`], or of [`KeySet::decode`].
    pub fn read(&self, loading: &KeySetLoading, rng: &mut impl CryptoRng) -> Result<AnyKeySet, KeySetError> {
        let file = File::open(&self.path)?;
        let metadata = file.metadata()?;
        let mut file = BufReader::new(file);
        let mut start = Vec::new();
        file.by_ref().take(AnyKeySet::SAVED_HEADER as u64).read_to_end(&mut start)?;
        let KeySetLoading { suite, backend, threads } = *loading;
        if start.starts_with(AnyKeySet::SAVED) {
            refuse_other_writers(&metadata)?;
            let header = AnyKeySet::saved_header(&start)?;
            if header.members > MEMBER_LIMIT as u64 {
                return Err(KeySetError::TooMany);
            }
            // A byte more than the set has shows that the file is too long.
            file.take((header.bytes as u64 + 1).saturating_sub(start.len() as u64)).read_to_end(&mut start)?;
            let set = AnyKeySet::from_saved(&start, backend, threads)?;
            return if set.is_empty() { Err(KeySetError::Empty) } else { Ok(set) };
        }
        let list = start.chain(file);
        match suite.ok_or(KeySetError::NoSuite)? {
            AnySuite::MinPk(suite) => Ok(read_list(suite, list, backend, threads, rng)?.into_any()),
            AnySuite::MinSig(suite) => Ok(read_list(suite, list, backend, threads, rng)?.into_any()),
            suite => Err(KeySetError::OtherCurve(suite)),
        }
    }
}

/// Reads a list of encoded keys in hexadecimal, one a line, and takes its word that the owner of each key has proven possession of
/// its secret. Blank lines are skipped.
///
/// # Errors
/// [`KeySetError`]: reading fails, the first line that is no key, no keys, or more than [`MEMBER_LIMIT`].
///
/// Cost: that of [`KeySet::decode`]. Memory: the set, and 65,536 lines.
pub fn read_list<S: Bls12381Suite>(
    suite: S,
    list: impl BufRead,
    backend: Backend,
    threads: NonZeroUsize,
    rng: &mut impl CryptoRng,
) -> Result<KeySet<S>, KeySetError> {
    let (mut set, mut lines) = (KeySet::new(suite, backend), BoundedLines::new(list));
    loop {
        let keys = some_keys(&mut lines)?;
        if set.len() + keys.len() > MEMBER_LIMIT {
            return Err(KeySetError::TooMany);
        }
        let encodings: Vec<_> = keys.iter().map(|(_, key)| &key[..]).collect();
        let added = set.decode(&encodings, true, threads, rng);
        added.map_err(|wrong| KeySetError::Line { line: keys[wrong.index].0, reason: wrong.error.to_string() })?;
        if keys.len() < TOGETHER {
            return if set.is_empty() { Err(KeySetError::Empty) } else { Ok(set) };
        }
    }
}

/// The next keys of a list, each with the number of its line: as many as are decoded together, or fewer at its end.
fn some_keys(lines: &mut BoundedLines<impl BufRead>) -> Result<Vec<(u64, Vec<u8>)>, KeySetError> {
    let (mut keys, mut line) = (Vec::new(), Vec::new());
    while keys.len() < TOGETHER
        && let Some(read) = lines.read(&mut line)?
    {
        let at = |reason| KeySetError::Line { line: lines.number(), reason };
        if let LineRead::TooLong(too_long) = read {
            return Err(at(too_long.to_string()));
        }
        let text = line.trim_ascii();
        if !text.is_empty() {
            keys.push((lines.number(), Field::PublicKeys.one(text, true).map_err(at)?));
        }
    }
    Ok(keys)
}

/// Why a file is no key set.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeySetError {
    /// The operating system returned an error.
    #[error("cannot read the key set: {0}")]
    Read(io::Error),
    /// It is text in another encoding.
    #[error(transparent)]
    Foreign(Foreign),
    /// A saved set is damaged, or is none.
    #[error("{0}; make it again with `quorate key-set`")]
    Saved(#[from] SavedKeysError),
    /// Others may write a saved set.
    #[error(
        "{0}; whoever writes a saved key set can make false claims pass, so it must be its user's alone: chmod 600 it"
    )]
    OtherWriters(#[from] OtherWriters),
    /// A list of keys, and no suite.
    #[error("a list of keys does not say its suite; give one (on the command line --suite NAME)")]
    NoSuite,
    /// A suite on another curve.
    #[error("the suite {0} is on BN254, and key sets are on BLS12-381; give a suite on that curve")]
    OtherCurve(AnySuite),
    /// A line of a list is no key.
    #[error("line {line}: {reason}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What was found and expected.
        reason: String,
    },
    /// There are no keys in it.
    #[error("the key set has no keys; give a list with one key on each line, or a saved set")]
    Empty,
    /// There are too many keys in it.
    #[error("the key set has more than {MEMBER_LIMIT} members, the limit; split it into several sets")]
    TooMany,
}

impl From<io::Error> for KeySetError {
    fn from(error: io::Error) -> Self {
        error.downcast::<WideText>().map_or_else(Self::Read, |wide| Self::Foreign(Foreign::Wide(wide)))
    }
}

impl Ends for KeySetError {
    fn exit(&self) -> Exit {
        if matches!(self, Self::Read(_)) { Exit::Io } else { Exit::Usage }
    }
}

/// Why the key sets of some files cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeySetsError {
    /// A file is no key set.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: KeySetError,
    },
    /// Two sets have one name.
    #[error(transparent)]
    NameTaken(#[from] NameTaken),
}

impl Ends for KeySetsError {
    fn exit(&self) -> Exit {
        match self {
            Self::File { error, .. } => error.exit(),
            Self::NameTaken(_) => Exit::Usage,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quorate::{Bitmap, ClaimBytes, MinPk, MinSig, SecretKey, Suite, aggregate::aggregate};
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;
    use crate::jsonl::JsonLines;

    const ONE: NonZeroUsize = NonZeroUsize::MIN;

    fn rng() -> ChaCha20Rng {
        ChaCha20Rng::seed_from_u64(7)
    }

    fn secret<S: Bls12381Suite>(suite: S, i: u8) -> SecretKey<S> {
        SecretKey::key_gen(suite, &[i; 32], b"").unwrap()
    }

    fn list_of<S: Bls12381Suite>(suite: S, members: u8) -> String {
        let key = |i| const_hex::encode_prefixed(secret(suite, i).public_key().to_bytes());
        (0..members).map(|i| key(i) + "\n").collect()
    }

    #[test]
    fn a_name_that_is_cut_says_so() {
        let refused = |name: &str| KeySets::default().public_keys(name, Members::Indices(Vec::new())).unwrap_err();
        assert!(refused(&"n".repeat(100)).contains("nn…\""));
        assert!(refused("\u{1b}[2J").contains(r#"found "\u{1b}[2J","#));
    }

    fn list(text: &str) -> Result<KeySet<MinPk>, String> {
        read_list(MinPk::Eth2, text.as_bytes(), Backend::Portable, ONE, &mut rng()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_is_read_and_its_flaws_are_named() {
        let good = list_of(MinPk::Eth2, 3);
        let set = list(&format!("\u{feff}\r\n{}\n  \n", good.replace("0x", "").replace('\n', "\r\n"))).unwrap();
        assert_eq!(set.len(), 3);
        assert_eq!(list(&good).unwrap().keys(&[0, 1, 2]), set.keys(&[0, 1, 2]));
        for (text, expected) in [
            ("", "the key set has no keys"),
            ("\n \n", "the key set has no keys"),
            (&format!("{good}\n{}", &good[..97]), "line 5: found 95 hexadecimal digits, expected an even number"),
            (&format!("{good}\n{}", &good[..96]), "line 5: public key: found 47 bytes, expected the 48 bytes"),
            (&format!("{good}c0{}\n{good}", "00".repeat(47)), "line 4: "),
            (&format!("{}\n", "00".repeat(193)), "line 1: found 193 bytes, more than the 192"),
            ("{\"public_key\": \"00\"}", "line 1: found '{' at digit 1"),
            (&list_of(MinSig::Basic, 1), "line 1: public key: found 96 bytes, expected the 48 bytes"),
        ] {
            let found = list(text).unwrap_err();
            assert!(found.starts_with(expected), "{found}");
        }
    }

    /// Possession is taken from the list's word, so that members sign one message together.
    #[test]
    fn a_file_is_a_list_or_a_saved_set() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let named = |name: &str| format!("{name}={}", path.display()).parse::<KeySetFile>().unwrap();
        let loading = KeySetLoading { suite: Some(MinPk::Eth2.any()), backend: Backend::Portable, threads: ONE };
        let load = |loading: &KeySetLoading| KeySets::load(&[named("a")], loading, &mut rng());
        let fault = |loading: &KeySetLoading| {
            let error = load(loading).unwrap_err();
            (error.exit(), error.to_string().replace(path.to_str().unwrap(), "keys"))
        };
        assert_eq!(fault(&loading).0, Exit::Io);
        std::fs::write(&path, list_of(MinPk::Eth2, 3)).unwrap();
        let sets = load(&loading).unwrap();
        assert_eq!(sets.find("a").map(AnyKeySet::len), Some(3));
        let (exit, text) = fault(&KeySetLoading { suite: None, ..loading });
        assert!(exit == Exit::Usage && text.starts_with("keys: a list of keys does not say its suite"), "{text}");
        let utf_16: Vec<_> =
            format!("\u{feff}{}", list_of(MinPk::Eth2, 3)).encode_utf16().flat_map(u16::to_le_bytes).collect();
        std::fs::write(&path, utf_16).unwrap();
        let (exit, text) = fault(&loading);
        assert!(exit == Exit::Usage && text.starts_with("keys: found text in UTF-16, expected UTF-8"), "{text}");
        std::fs::write(&path, list_of(MinPk::Eth2, 3)).unwrap();
        let (_, text) = fault(&KeySetLoading { suite: Some(MinSig::Basic.any()), ..loading });
        assert!(text.starts_with("keys: line 1: public key: found 48 bytes, expected the 96"), "{text}");
        let twice = KeySets::load(&[named("a"), named("a")], &loading, &mut rng()).unwrap_err();
        assert_eq!(twice.to_string(), "two key sets have the name \"a\"; give one of them another name");

        let saved = list(&list_of(MinPk::Eth2, 3)).unwrap().to_saved();
        quorate_host::file::write(
            &path,
            quorate_host::file::Readers::Owner,
            quorate_host::file::Existing::Replace,
            &saved,
        )
        .unwrap();
        // A saved set states its suite.
        assert_eq!(load(&KeySetLoading { suite: None, ..loading }).unwrap().find("a").map(AnyKeySet::len), Some(3));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
            let (exit, text) = fault(&loading);
            assert!(exit == Exit::Usage && text.starts_with("keys: others may write it (mode 666)"), "{text}");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        let mut damaged = saved.clone();
        damaged[100] ^= 1;
        for content in [&damaged[..], &saved[..saved.len() - 1], &saved[..18]] {
            std::fs::write(&path, content).unwrap();
            let (exit, text) = fault(&loading);
            assert!(exit == Exit::Usage && text.contains("make it again with `quorate key-set`"), "{text}");
        }
        let empty = KeySet::new(MinPk::Eth2, Backend::Portable).to_saved();
        // A file that goes on behind its set, also if its first bytes hold the whole set.
        for mut longer in [saved.clone(), empty.clone()] {
            longer.extend([0; 200]);
            std::fs::write(&path, longer).unwrap();
            let (_, text) = fault(&loading);
            assert!(text.contains("members has") && text.contains("but there are"), "{text}");
        }
        // The limit is asked before the members are read, which are not even there.
        let mut large = saved[..AnyKeySet::SAVED.len() + "eth2\n".len()].to_vec();
        large.extend((MEMBER_LIMIT as u64 + 1).to_le_bytes());
        std::fs::write(&path, large).unwrap();
        assert!(fault(&loading).1.starts_with("keys: the key set has more than 16777216 members"));
        std::fs::write(&path, empty).unwrap();
        assert!(fault(&loading).1.starts_with("keys: the key set has no keys"));
    }

    #[test]
    fn a_name_and_a_file() {
        let file: KeySetFile = "sync=/a=b".parse().unwrap();
        assert_eq!((file.name.as_str(), file.path.to_str()), ("sync", Some("/a=b")));
        assert_eq!(file.to_string(), "sync=/a=b");
        for bad in ["", "sync", "=file", "sync="] {
            assert_eq!(bad.parse::<KeySetFile>(), Err(NotAKeySetFile), "{bad}");
        }
        let mut sets = KeySets::default();
        for i in 0..20u8 {
            let set = list(&list_of(MinPk::Eth2, 1)).unwrap().into_any();
            sets.add(format!("set {i:02}"), set).unwrap();
        }
        let unknown = sets.public_keys("x", Members::Indices(vec![])).unwrap_err();
        assert!(unknown.contains("\"set 15\" and 4 more") && !unknown.contains("set 16"), "{unknown}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        /// A line that names members gets the verdict of the line with their keys.
        #[test]
        fn members_and_their_keys_get_one_verdict(
            signers in prop::collection::vec(0u8..6, 0..5),
            named in prop::collection::vec(0u32..7, 0..5),
            is_bitmap: bool,
            is_each: bool,
            has_other_suite: bool,
            honest: bool,
        ) {
            let suite = MinPk::Eth2;
            let set = list(&list_of(suite, 6)).unwrap().into_any();
            let named = if honest { signers.iter().map(|i| u32::from(*i)).collect() } else { named };
            let message = |i: usize| vec![if is_each { i as u8 } else { 0 }];
            let members = if is_bitmap {
                Members::Bitmap(Bitmap::from_indices(named.iter().map(|index| *index as usize)))
            } else {
                Members::Indices(named.clone())
            };
            let order: Vec<u32> = if is_bitmap {
                let mut order = named.clone();
                order.sort_unstable();
                order.dedup();
                order
            } else {
                named.clone()
            };
            let signed = if honest { order.clone() } else { signers.iter().map(|i| u32::from(*i)).collect() };
            let signatures = signed.iter().enumerate();
            let signatures: Vec<_> = signatures.map(|(i, key)| secret(suite, *key as u8).sign(suite, &message(i))).collect();
            let signature = aggregate(&signatures, Backend::Portable).map_or(vec![0xc0; 1], |sum| sum.to_bytes().to_vec());
            let messages: Vec<_> = (0..order.len()).map(|i| const_hex::encode(message(i))).collect();
            let mut line = serde_json::json!({
                "suite": if has_other_suite { MinPk::ProofOfPossession.name() } else { suite.name() },
                "signature": const_hex::encode(signature),
            });
            if is_each { line["messages"] = messages.into() } else { line["message"] = "00".into() }
            let mut by_keys = line.clone();
            by_keys["public_keys"] = order.iter().map(|i| {
                const_hex::encode(set.encoded_key(*i).unwrap_or_default())
            }).collect();
            line["key_set"] = "set".into();
            line["members"] = match &members {
                Members::Indices(indices) => indices.clone().into(),
                Members::Bitmap(_) => {
                    let mut bytes = [0u8; 1];
                    order.iter().for_each(|i| bytes[0] |= 1 << i);
                    const_hex::encode(bytes).into()
                }
            };
            let mut sets = KeySets::default();
            sets.add("set".to_owned(), set).unwrap();
            let verdict = |line: &serde_json::Value| {
                let line = line.to_string();
                let entry = JsonLines::new(line.as_bytes()).with_key_sets(sets.clone()).next().unwrap().unwrap().unwrap();
                ClaimBytes::verify(&entry.into_claim(None).unwrap())
            };
            let (found, expected) = (verdict(&line), verdict(&by_keys));
            prop_assert_eq!(found.is_valid(), expected.is_valid());
            if honest && !order.is_empty() {
                prop_assert!(found.is_valid(), "{:?}", found);
            }
        }
    }
}
