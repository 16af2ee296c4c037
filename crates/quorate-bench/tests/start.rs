//! The commands of the page for researchers give what it shows.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

#[test]
fn a_researcher_gets_rows() {
    let wrong = quorate_lab::samples::what_differs("quorate-bench", "docs/start/researcher.md", 2);
    assert!(wrong.is_empty(), "samples that are out of date; correct the page:\n{wrong}");
}
