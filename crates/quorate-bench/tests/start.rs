//! The commands of the page for researchers give what it shows.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

#[path = "../../../apps/quorate-cli/tests/samples/mod.rs"]
mod samples;

#[test]
fn a_researcher_gets_rows() {
    let bench = samples::Program { name: "quorate-bench", path: env!("CARGO_BIN_EXE_quorate-bench").into() };
    let wrong = bench.what_differs("docs/start/researcher.md", 2);
    assert!(wrong.is_empty(), "samples that are out of date; correct the page:\n{wrong}");
}
