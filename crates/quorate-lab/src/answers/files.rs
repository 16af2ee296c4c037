//! The files that the catalogue knows, and what is skipped of them.

use std::{
    cell::Cell,
    collections::BTreeMap,
    fmt::Display,
    fs,
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::catalogue::{self, CatalogueEntry, Kind};
use crate::{
    needs::skip,
    vectors::{path, root},
};

/// The data, file by file.
pub struct Vectors {
    /// The files in the order of their names.
    pub files: Vec<File>,
    /// Items skipped by [`collect`](Self::collect), of all files.
    pub skipped: Cell<usize>,
}

/// A file that the catalogue knows.
pub struct File {
    /// The folder of the data that the file lies in.
    pub set: String,
    /// Path below the folder.
    pub name: String,
    /// The shape that the catalogue states.
    pub kind: Kind,
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
    /// Lists the data, or says what the test skips: `None` where the folder is absent. Each of `sets` is the beginning of
    /// the names of the folders that the test reads.
    ///
    /// # Panics
    /// If the folder or one of the sets is absent and `CI=true`.
    pub fn open(test: &str, sets: &[&str]) -> Option<Self> {
        let Some(root) = path("") else {
            println!("skipped with it: {} sets ({}) for {test}", sets.len(), sets.join(", "));
            return None;
        };
        let mut vectors = Self { files: Vec::new(), skipped: Cell::new(0) };
        for (set, count) in vectors.list(&root) {
            println!("{set}: {count} files skipped, whose shape the catalogue does not list");
        }
        for set in vectors.absent(sets) {
            skip(format_args!("{} has no file of a set {set}, which {test} reads", root.display()));
        }
        Some(vectors)
    }

    /// Files written in a test, by their names in the data.
    ///
    /// # Panics
    /// If the catalogue does not read a file of such a name.
    pub fn inline(files: &[(&str, &'static str)]) -> Self {
        let file = |(name, text): &(&str, &'static str)| {
            let Some(CatalogueEntry::Read(kind)) = catalogue::entry(name) else { panic!("{name} is not read") };
            let (set, content) = (set_of(name).to_owned(), Content::Inline(text));
            File { set, name: (*name).to_owned(), kind, content, skipped: Cell::new(0) }
        };
        Self { files: files.iter().map(file).collect(), skipped: Cell::new(0) }
    }

    /// Everything that `read` returns for the files. The items are counted and printed by set.
    ///
    /// # Panics
    /// If no item of a set is read, or if more items of a set are skipped than read.
    pub fn collect<T>(&self, what: &str, read: impl Fn(&File) -> Option<Vec<T>>) -> Vec<T> {
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

    /// Those of the sets, each named by the beginning of its folders' names, of which no file is here.
    pub fn absent<'a>(&self, sets: &[&'a str]) -> Vec<&'a str> {
        sets.iter().copied().filter(|set| !self.files.iter().any(|file| file.set.starts_with(*set))).collect()
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
                    Some(CatalogueEntry::Read(kind)) => {
                        let content = Content::At(path);
                        self.files.push(File { set, name, kind, content, skipped: Cell::new(0) });
                    }
                    Some(CatalogueEntry::Ignore(_)) => {}
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
    pub fn parse<T: DeserializeOwned>(&self) -> Option<T> {
        if self.name.ends_with(".yaml") {
            return self.parse_as_yaml();
        }
        self.fitting(&self.name, serde_json::from_str(&self.text()))
    }

    /// The content read as YAML, which includes JSON. A YAML number of any size can be read as text.
    pub fn parse_as_yaml<T: DeserializeOwned>(&self) -> Option<T> {
        self.fitting(&self.name, serde_yaml_ng::from_str(&self.text()))
    }

    /// The items of the list in a field of the file, or of the file if it is a list, each with its index. Items of
    /// another shape are skipped.
    pub fn items<T: DeserializeOwned>(&self, field: &str) -> Vec<(usize, T)> {
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
    pub fn skip(&self, what: &str, why: impl Display) {
        self.skipped.set(self.skipped.get() + 1);
        println!("skipped: {what}: {why}");
    }

    /// The value. An error is counted and printed, and the answer is `None`.
    pub fn fitting<T>(&self, what: &str, read: Result<T, impl Display>) -> Option<T> {
        read.map_err(|why| self.skip(what, why)).ok()
    }

    /// The content, which must be UTF-8.
    pub fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    /// The content as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        match &self.content {
            Content::At(path) => fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", self.name)),
            Content::Inline(text) => text.as_bytes().to_vec(),
        }
    }

    /// A file that this one names, by its path from the set's folder.
    pub fn sibling(&self, name: &str) -> Self {
        let name = format!("{}/{name}", self.set);
        let content = Content::At(root().join(&name));
        Self { set: self.set.clone(), name, kind: self.kind, content, skipped: Cell::new(0) }
    }

    /// The name without its folders and its extension.
    pub fn stem(&self) -> &str {
        let last = self.name.rsplit('/').next().unwrap_or_default();
        last.rsplit_once('.').map_or(last, |(stem, _)| stem)
    }

    /// The id of the file's item at `index`.
    pub fn id(&self, index: usize) -> String {
        format!("{}#{index}", self.name)
    }
}

fn set_of(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}
