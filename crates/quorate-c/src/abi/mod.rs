//! The C functions. `include/quorate.h` is made from this module.
//!
//! Every function reads its pointers here, and hands slices to the safe modules. No panic leaves a function: it is the error
//! [`Code::Internal`](crate::Code). Nothing that one side allocates is freed by the other: results go into memory of the caller, and
//! handles are freed by the function of their type.

// Functions of C are named and typed as in C, and say in `quorate.h` what a caller must keep to.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]

mod memory;
mod text;
mod suite;
mod claim;
mod verifier;
mod import;
mod arrow;
mod key;
mod committee;
mod batcher;

pub use self::{
    batcher::*,
    claim::*,
    committee::*,
    key::*,
    memory::{quorate_bytes, quorate_error},
    suite::*,
    text::*,
    verifier::*,
};
pub use arrow::*;
