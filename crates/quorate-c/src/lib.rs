//! libquorate: quorate for programs in C, and in every language that calls C.
//!
//! `include/quorate.h` is made from `abi` and is the documentation of the interface; `docs/languages.md` is the guide. The packages for
//! Node and Java use the modules above it, which have no `unsafe`: keys, signatures and claims are bytes there, and errors a number
//! and a text.
//!
//! | module | noun |
//! |---|---|
//! | [`fault`] | [`CallFailure`]: why a call failed, as a number and a text |
//! | [`suites`] | suites by number |
//! | [`verdicts`] | verdicts as numbers, with their reasons: [`Verdicts`] |
//! | [`engine`] | claims to verdicts: [`Engine`] |
//! | [`verbs`] | what keys and signatures can do, as bytes: [`SuiteVerbs`], [`Signer`], [`MemberKeys`] |
//! | [`sets`] | key sets by number, whose members claims name: [`NumberedSet`] |
//! | [`packed`] | claims in one piece of memory |
//! | `table` | claims in Arrow tables, with the feature `c` |
//! | [`service`] | claims as they come: [`Service`] |
//! | `abi` | the C functions, and the only `unsafe` code, with the feature `c` |

#![deny(unsafe_code)]

pub mod fault;
pub mod suites;
pub mod verdicts;
pub mod engine;
pub mod verbs;
pub mod sets;
pub mod packed;
#[cfg(feature = "c")]
pub mod table;
pub mod service;
#[cfg(feature = "c")]
#[allow(unsafe_code)]
pub mod abi;

pub use engine::{Engine, EngineOptions, random};
pub use fault::{CallFailure, Code};
pub use service::{Service, ServiceOptions};
pub use sets::NumberedSet;
pub use verbs::{MemberKeys, Signer, SuiteVerbs};
pub use verdicts::{Ruled, Verdicts};
