//! The drop-in beside blst itself, through the public interface of both.
//!
//! | module | what it checks |
//! |---|---|
//! | [`surface`] | one text compiles with both crates: every type, function, conversion and trait |
//! | [`hostile`] | points outside the subgroup, of small order, and the identity, for the others |
//! | [`differential`] | both crates give the same answer to every call, error for error |
//! | [`differences`] | the few answers that differ, which `docs/drop-in.md` names |
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

mod differences;
mod differential;
mod hostile;
mod surface;
