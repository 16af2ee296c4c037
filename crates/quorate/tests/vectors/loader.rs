//! The one loader of the known-answer data: where it lies, what each file is, and every signature in it as a [`Case`].
//!
//! Other crates' tests include this file by `#[path]` and run [`signature_cases`] through their own doors; it needs
//! quorate, base64, hex, serde, serde_json, serde_yaml_ng and sha2.
//!
//! Files are found by their set (the folder) and their shape (the name), as [`catalogue`] lists them, never one by one.
//! A file that the catalogue does not list, or that does not have the shape of its name, is an error that names it.

#![allow(dead_code, reason = "a test binary that includes this file uses a part of it")]

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use quorate::AnySuite;
use serde::de::DeserializeOwned;

#[path = "loader/bytes.rs"]
pub(crate) mod bytes;
#[path = "loader/catalogue.rs"]
pub(crate) mod catalogue;
#[path = "loader/drand.rs"]
pub(crate) mod drand;
#[path = "loader/ethereum.rs"]
pub(crate) mod ethereum;
#[path = "loader/herumi.rs"]
pub(crate) mod herumi;
#[path = "loader/schemes.rs"]
pub(crate) mod schemes;
#[path = "loader/secrets.rs"]
pub(crate) mod secrets;
#[path = "loader/wycheproof.rs"]
pub(crate) mod wycheproof;

use catalogue::{Entry, Kind};

/// "These keys signed these messages, and this is the signature over all of them", as bytes, with the known answer.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The folder it comes from.
    pub(crate) set: String,
    /// File and place in the file.
    pub(crate) id: String,
    pub(crate) suite: AnySuite,
    pub(crate) keys: Vec<Vec<u8>>,
    pub(crate) messages: Messages,
    pub(crate) signature: Vec<u8>,
    /// Whether the source says that it is true.
    pub(crate) expected: bool,
}

/// What the keys of a case signed.
#[derive(Clone, Debug)]
pub(crate) enum Messages {
    /// All of them one message.
    Shared(Vec<u8>),
    /// Each its own.
    Each(Vec<Vec<u8>>),
    /// The one key itself, under the tag of proofs of possession.
    Possession,
}

/// Every signature in the data with its known answer, the overruled ones with ours; none where the folder is absent.
pub(crate) fn signature_cases() -> Vec<Case> {
    let Some(vectors) = Vectors::open("signature cases", &["01", "03", "05", "06", "07", "09"]) else {
        return Vec::new();
    };
    let mut cases = stated_cases(&vectors);
    cases.iter_mut().filter(|case| is_overruled(case)).for_each(|case| case.expected = !case.expected);
    let valid = cases.iter().filter(|case| case.expected).count();
    println!("{} signature cases, of which {valid} are valid and {} invalid", cases.len(), cases.len() - valid);
    cases
}

/// Every signature with the verdict that its source states.
pub(crate) fn stated_cases(vectors: &Vectors) -> Vec<Case> {
    let signed = secrets::signings(vectors).into_iter().filter_map(|signing| signing.case());
    signed
        .chain(ethereum::cases(vectors))
        .chain(ethereum::batches(vectors).into_iter().filter(|batch| batch.expected).flat_map(|batch| batch.members))
        .chain(herumi::cases(vectors))
        .chain(schemes::cases(vectors))
        .chain(drand::cases(vectors))
        .chain(wycheproof::cases(vectors))
        .collect()
}

/// Whether quorate contradicts the source on purpose. The reasons are in the table of known disagreements.
pub(crate) fn is_overruled(case: &Case) -> bool {
    case.set == herumi::SET && case.expected && case.keys.iter().any(|key| key.first() == Some(&0xc0))
}

/// The data, file by file.
pub(crate) struct Vectors {
    pub(crate) files: Vec<File>,
    /// Paths of files that the catalogue does not know.
    pub(crate) unknown: Vec<String>,
}

/// A file that the catalogue knows.
pub(crate) struct File {
    pub(crate) set: String,
    /// Path below the folder.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    path: PathBuf,
}

impl Vectors {
    /// Lists the data, or says what the test skips: `None` where the folder is absent.
    ///
    /// # Panics
    /// If the folder is absent and `CI=true`.
    pub(crate) fn open(test: &str, sets: &[&str]) -> Option<Self> {
        let root = root();
        if !root.is_dir() {
            let line = format!(
                "skipped: {} sets ({}) for {test}; there is no {}",
                sets.len(),
                sets.join(", "),
                root.display()
            );
            assert!(env::var("CI").as_deref() != Ok("true"), "{line}, and this is CI");
            println!("{line}");
            return None;
        }
        let mut vectors = Self { files: Vec::new(), unknown: Vec::new() };
        vectors.list(&root, &root);
        Some(vectors)
    }

    /// What `read` makes of the files, where it is not `None`; counted and printed by set.
    ///
    /// # Panics
    /// If the files of a set come to nothing.
    pub(crate) fn collect<T>(&self, what: &str, read: impl Fn(&File) -> Option<Vec<T>>) -> Vec<T> {
        let mut all = Vec::new();
        let mut counts = BTreeMap::<&str, usize>::new();
        for file in &self.files {
            if let Some(items) = read(file) {
                *counts.entry(&file.set).or_default() += items.len();
                all.extend(items);
            }
        }
        for (set, count) in counts {
            println!("{set}: {count} {what}");
            assert!(count > 0, "{set} holds no {what}");
        }
        all
    }

    /// Whether any file of a set is here.
    pub(crate) fn has(&self, set: &str) -> bool {
        self.files.iter().any(|file| file.set == set)
    }

    fn list(&mut self, root: &Path, folder: &Path) {
        let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                self.list(root, &path);
                continue;
            }
            let name = path.strip_prefix(root).expect("a path below the root").to_string_lossy().replace('\\', "/");
            match catalogue::entry(&name) {
                Some(Entry::Read(kind)) => {
                    let set = name.split('/').next().unwrap_or_default().to_owned();
                    self.files.push(File { set, name, kind, path });
                }
                Some(Entry::Ignore(_)) => {}
                None => self.unknown.push(name),
            }
        }
    }
}

impl File {
    /// The content as it should be by the file's name: YAML for `.yaml`, else JSON.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> T {
        if self.name.ends_with(".yaml") {
            return self.parse_as_yaml();
        }
        serde_json::from_str(&self.text())
            .unwrap_or_else(|e| panic!("{} does not have the shape of its name: {e}", self.name))
    }

    /// The content read as YAML, of which JSON is a part: a number of any size can be had as the text it stands as.
    pub(crate) fn parse_as_yaml<T: DeserializeOwned>(&self) -> T {
        serde_yaml_ng::from_str(&self.text())
            .unwrap_or_else(|e| panic!("{} does not have the shape of its name: {e}", self.name))
    }

    pub(crate) fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    /// A file that this one names, by its path from the set's folder.
    pub(crate) fn sibling(&self, name: &str) -> Self {
        let name = format!("{}/{name}", self.set);
        Self { set: self.set.clone(), path: root().join(&name), name, kind: self.kind }
    }

    /// The name without its folders and its extension.
    pub(crate) fn stem(&self) -> &str {
        let last = self.name.rsplit('/').next().unwrap_or_default();
        last.rsplit_once('.').map_or(last, |(stem, _)| stem)
    }

    /// The id of the file's item at `index`.
    pub(crate) fn id(&self, index: usize) -> String {
        format!("{}#{index}", self.name)
    }
}

fn root() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    env::var_os("QUORATE_VECTORS").map_or_else(default, PathBuf::from)
}
