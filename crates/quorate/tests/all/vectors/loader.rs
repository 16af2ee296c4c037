//! The one loader of the known-answer data: where it lies, what each file is, and every signature in it as a [`Case`].
//!
//! Other crates' tests include this file by `#[path]` and run [`signature_cases`] through their own doors; it needs
//! quorate, base64, hex, serde, serde_json, serde_yaml_ng and sha2.
//!
//! Files are found by their set (the folder) and their shape (the name), as [`catalogue`] lists them, never one by one.
//! The data grows without this repository: a file that the catalogue does not list, and an item that does not have the
//! shape of its file, are counted and printed with the reason, and the rest is read. A set of which more items are
//! skipped than read fails, because then it is the loader that is wrong.

#![allow(dead_code, reason = "a test binary that includes this file uses a part of it")]

use std::{
    cell::Cell,
    collections::BTreeMap,
    env,
    fmt::Display,
    fs,
    path::{Path, PathBuf},
};

use quorate::AnySuite;
use serde::de::DeserializeOwned;
use serde_json::Value;

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

impl Case {
    /// The case, if it has one message or as many messages as keys. Otherwise it makes no claim that quorate could
    /// verify, and the case is skipped.
    pub(crate) fn paired(self, file: &File) -> Option<Self> {
        let Messages::Each(messages) = &self.messages else { return Some(self) };
        if messages.len() == self.keys.len() {
            return Some(self);
        }
        let says = if self.expected { "valid" } else { "invalid" };
        let (keys, messages) = (self.keys.len(), messages.len());
        file.skip(&self.id, format_args!("{keys} keys and {messages} messages make no claim; the source says {says}"));
        None
    }
}

/// Every signature in the data with its known answer, or with ours if quorate overrules the source. None if the folder
/// is absent.
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
    /// Items skipped by [`collect`](Self::collect), of all files.
    pub(crate) skipped: Cell<usize>,
}

/// A file that the catalogue knows.
pub(crate) struct File {
    pub(crate) set: String,
    /// Path below the folder.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    content: Content,
    /// Items skipped since [`Vectors::collect`] last looked.
    skipped: Cell<usize>,
}

/// Where the content of a file is.
#[derive(Clone)]
enum Content {
    At(PathBuf),
    /// Written in a test.
    Inline(&'static str),
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
        let mut vectors = Self { files: Vec::new(), skipped: Cell::new(0) };
        for (set, count) in vectors.list(&root) {
            println!("{set}: {count} files skipped, whose shape the catalogue does not list");
        }
        Some(vectors)
    }

    /// Files written in a test, by their names in the data.
    ///
    /// # Panics
    /// If the catalogue does not read a file of such a name.
    pub(crate) fn inline(files: &[(&str, &'static str)]) -> Self {
        let file = |(name, text): &(&str, &'static str)| {
            let Some(Entry::Read(kind)) = catalogue::entry(name) else { panic!("{name} is not read") };
            let (set, content) = (set_of(name).to_owned(), Content::Inline(text));
            File { set, name: (*name).to_owned(), kind, content, skipped: Cell::new(0) }
        };
        Self { files: files.iter().map(file).collect(), skipped: Cell::new(0) }
    }

    /// Everything that `read` returns for the files. The items are counted and printed by set.
    ///
    /// # Panics
    /// If no item of a set is read, or if more items of a set are skipped than read.
    pub(crate) fn collect<T>(&self, what: &str, read: impl Fn(&File) -> Option<Vec<T>>) -> Vec<T> {
        let mut all = Vec::new();
        let mut counts = BTreeMap::<&str, (usize, usize)>::new();
        for file in &self.files {
            let items = read(file);
            let skipped = file.skipped.take();
            self.skipped.set(self.skipped.get() + skipped);
            if let Some(items) = items {
                let (count, all_skipped) = counts.entry(&file.set).or_default();
                *count += items.len();
                *all_skipped += skipped;
                all.extend(items);
            }
        }
        for (set, (count, skipped)) in counts {
            let beside = if skipped == 0 { String::new() } else { format!(", {skipped} of another shape skipped") };
            println!("{set}: {count} {what}{beside}");
            assert!(count > 0, "{set} holds no {what}{beside}");
            assert!(count >= skipped, "{set}: more {what} are skipped than read; its loader does not fit it");
        }
        all
    }

    /// Whether any file of a set is here.
    pub(crate) fn has(&self, set: &str) -> bool {
        self.files.iter().any(|file| file.set == set)
    }

    /// Lists the files below a folder, and counts by set those that the catalogue does not list.
    fn list(&mut self, root: &Path) -> BTreeMap<String, usize> {
        let mut unknown = BTreeMap::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
            for path in entries.map(|entry| entry.expect("a readable folder").path()) {
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(root).expect("a path below the root").to_string_lossy().replace('\\', "/");
                let set = set_of(&name).to_owned();
                match catalogue::entry(&name) {
                    Some(Entry::Read(kind)) => {
                        let content = Content::At(path);
                        self.files.push(File { set, name, kind, content, skipped: Cell::new(0) });
                    }
                    Some(Entry::Ignore(_)) => {}
                    None => *unknown.entry(set).or_default() += 1,
                }
            }
        }
        self.files.sort_by(|a, b| a.name.cmp(&b.name));
        unknown
    }
}

impl File {
    /// The content, which is YAML if the name ends in `.yaml`, else JSON. If it has another shape, that is counted and
    /// printed, and the answer is `None`.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Option<T> {
        if self.name.ends_with(".yaml") {
            return self.parse_as_yaml();
        }
        self.fitting(&self.name, serde_json::from_str(&self.text()))
    }

    /// The content read as YAML, which includes JSON. A YAML number of any size can be read as text.
    pub(crate) fn parse_as_yaml<T: DeserializeOwned>(&self) -> Option<T> {
        self.fitting(&self.name, serde_yaml_ng::from_str(&self.text()))
    }

    /// The items of the list in a field of the file, or of the file if it is a list, each with its index. Items of
    /// another shape are skipped.
    pub(crate) fn items<T: DeserializeOwned>(&self, field: &str) -> Vec<(usize, T)> {
        let list = match self.parse() {
            Some(Value::Array(list)) => list,
            Some(Value::Object(mut fields)) => match fields.remove(field) {
                Some(Value::Array(list)) => list,
                _ => {
                    self.skip(&self.name, format_args!("it has no list `{field}`"));
                    Vec::new()
                }
            },
            Some(_) => {
                self.skip(&self.name, "it is neither an object nor a list");
                Vec::new()
            }
            None => Vec::new(),
        };
        let items = list.into_iter().enumerate();
        items.filter_map(|(i, item)| Some((i, self.fitting(&self.id(i), serde_json::from_value(item))?))).collect()
    }

    /// Counts and prints an item that is not read.
    pub(crate) fn skip(&self, what: &str, why: impl Display) {
        self.skipped.set(self.skipped.get() + 1);
        println!("skipped: {what}: {why}");
    }

    /// The value. An error is counted and printed, and the answer is `None`.
    pub(crate) fn fitting<T>(&self, what: &str, read: Result<T, impl Display>) -> Option<T> {
        read.map_err(|why| self.skip(what, why)).ok()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        match &self.content {
            Content::At(path) => fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", self.name)),
            Content::Inline(text) => text.as_bytes().to_vec(),
        }
    }

    /// A file that this one names, by its path from the set's folder.
    pub(crate) fn sibling(&self, name: &str) -> Self {
        let name = format!("{}/{name}", self.set);
        let content = Content::At(root().join(&name));
        Self { set: self.set.clone(), name, kind: self.kind, content, skipped: Cell::new(0) }
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

fn set_of(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}

fn root() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    env::var_os("QUORATE_VECTORS").map_or_else(default, PathBuf::from)
}
