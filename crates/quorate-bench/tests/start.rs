//! The commands of the page for researchers give what it shows.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use quorate_lab::run::{Folder, Run as _, command};

/// Files of services and of containers set a variable to nothing to unset it.
#[test]
fn an_empty_variable_is_unset() {
    let empty = Folder::new();
    let report = |backend: &str| {
        let mut bench = command("quorate-bench");
        bench.arg("report").arg("--dir").arg(empty.path("")).env("QUORATE_BACKEND", backend).ran()
    };
    // Where nothing is recorded, the report fails, and clap refuses no value.
    let ended = report("").exits(3);
    assert!(!ended.err.contains("--backend"), "{}", ended.err);
    report("abacus").exits(2).says("--backend");
}

#[test]
fn a_researcher_gets_rows() {
    let wrong = quorate_lab::samples::what_differs("quorate-bench", "docs/start/researcher.md", 2);
    assert!(wrong.is_empty(), "samples that are out of date; correct the page:\n{wrong}");
}
