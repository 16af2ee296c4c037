//! The sample outputs in the documents are what the program prints.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use quorate_lab::{
    needs::checkout,
    samples::{what_differs, what_differs_in_one_clone},
};

/// The documents with samples, and how many commands each has at least.
const DOCUMENTS: [(&str, usize); 5] = [
    ("README.md", 4),
    ("docs/command-line.md", 17),
    ("docs/history.md", 4),
    ("docs/checkpoints.md", 1),
    ("docs/onchain.md", 1),
];

#[test]
fn samples_are_what_the_program_prints() {
    let wrong: String =
        DOCUMENTS.iter().map(|(document, at_least)| what_differs("quorate", document, *at_least)).collect();
    assert!(wrong.is_empty(), "samples that are out of date; correct the documents:\n{wrong}");
}

/// A sample that no test runs goes out of date unseen.
#[test]
fn every_document_with_a_sample_is_listed() {
    let mut found = Vec::new();
    with_samples(checkout(), &mut found);
    assert!(found.len() > DOCUMENTS.len(), "{found:?}");
    // The pages of docs/start are all run.
    found.retain(|path| {
        let name = path.strip_prefix(checkout()).unwrap();
        !name.starts_with("docs/start") && DOCUMENTS.iter().all(|(document, _)| name != Path::new(document))
    });
    assert!(found.is_empty(), "no test runs the `console` blocks of {found:?}; add these documents to DOCUMENTS");
}

/// Our documents below a folder that have a `console` block.
fn with_samples(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_str().unwrap_or_default();
        if entry.file_type().unwrap().is_dir() {
            // What builds and package managers make has documents of others.
            if !name.starts_with('.') && !["target", "node_modules", "lib", "out", "cache"].contains(&name) {
                with_samples(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "md")
            && fs::read_to_string(&path).unwrap().contains("\n```console\n")
        {
            found.push(path);
        }
    }
}

/// Each of the eight kinds of users has a page, whose commands give what the page shows.
#[test]
fn getting_started_leads_to_the_results_it_shows() {
    let pages = pages();
    assert_eq!(pages.len(), 8, "{pages:?}");
    let index = fs::read_to_string(checkout().join(START).join("README.md")).unwrap();
    let mut wrong = String::new();
    for page in &pages {
        assert!(index.contains(&format!("({page})")), "{START}/README.md does not name {page}");
        wrong += &what_differs("quorate", &format!("{START}/{page}"), 2);
    }
    assert!(wrong.is_empty(), "samples that are out of date; correct the pages:\n{wrong}");
}

/// Every page says to run its commands in the clone: none may find what another one left, and none may leave a secret key where
/// `git add` takes it.
#[test]
fn the_pages_can_be_read_in_one_clone() {
    let pages = pages().into_iter().map(|page| format!("{START}/{page}"));
    let documents: Vec<_> = DOCUMENTS.iter().map(|(document, _)| (*document).to_owned()).chain(pages).collect();
    let (wrong, left) = what_differs_in_one_clone("quorate", &documents);
    assert!(
        wrong.is_empty(),
        "samples that find what another document left; give the files names of their own:\n{wrong}"
    );
    let ignored = fs::read_to_string(checkout().join(".gitignore")).unwrap();
    let is_ignored = |name: &str| {
        ignored.lines().filter_map(|line| line.strip_prefix('/')).any(|pattern| match pattern.split_once('*') {
            Some((begin, end)) => name.starts_with(begin) && name.ends_with(end),
            None => name == pattern,
        })
    };
    let seen: Vec<_> = left.iter().filter(|name| !is_ignored(name)).collect();
    assert!(left.contains("staker.key") && seen.is_empty(), "add these to .gitignore: {seen:?}");
}

/// The names of the pages of docs/start.
fn pages() -> Vec<String> {
    let entries = fs::read_dir(checkout().join(START)).unwrap();
    let mut pages: Vec<_> = entries.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    pages.retain(|page| page != "README.md");
    pages.sort();
    pages
}

/// Where the pages for the kinds of users are.
const START: &str = "docs/start";
