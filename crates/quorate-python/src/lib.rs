//! The Python package `quorate`, as far as it is Rust: the module `quorate._quorate`. `docs/python.md` is its documentation, and
//! `python/quorate/_quorate.pyi` describes every name.
//!
//! | module | what it is for |
//! |---|---|
//! | `errors` | exceptions of Python |
//! | `argument` | what callers pass: bytes, suites, how to verify |
//! | `key` | keys and signatures one by one |
//! | `key_set` | a committee's keys |
//! | `column` | columns of a table that verdicts keep |
//! | `row` | claims that are Python objects |
//! | `fault` | why an entry has no valid claim |
//! | `texts` | texts that verdicts keep |
//! | `reader` | claims of any form, also of files, window by window |
//! | `verdicts` | what comes back |
//! | `known` | statements that were verified earlier |
//! | `verify` | claims to verdicts; plans; single claims |
//! | `ciphersuite` | what `quorate.py_ecc` calls |
//! | `threshold` | what `quorate.threshold` calls: keys that several participants share |
//! | `evm` | what `quorate.evm` calls: quorums that a contract settles |
//! | `history` | what `quorate.history` calls: runs over shards |
//!
//! It only passes on: the engine's one entry for claims, `quorate::Verifier`, verifies, and `quorate-formats` reads tables.

#![forbid(unsafe_code)]

mod errors;
mod argument;
mod key;
mod key_set;
mod column;
mod row;
mod fault;
mod texts;
mod reader;
mod verdicts;
mod known;
mod verify;
mod ciphersuite;
mod threshold;
mod evm;
mod history;

use pyo3::prelude::*;

/// The module `quorate._quorate`.
#[pymodule]
mod _quorate {
    #[pymodule_export]
    use crate::{
        ciphersuite::{
            core_aggregate_verify, core_sign, core_verify, fast_aggregate_verify, key_gen, key_validate, sk_to_pk,
            sum_of_keys, sum_of_signatures,
        },
        evm::{QuorumPlan, plan_quorum},
        history::{Runner, has_plan, merge_shards, plan_shards, shard_status},
        key::{PublicKey, SecretKey, Signature, aggregate, aggregate_public_keys, subtract},
        key_set::KeySet,
        known::Known,
        threshold::{Combined, Share, SharedKey, split},
        verdicts::{Verdict, Verdicts, verdict_of, verdicts_of},
        verify::{Plan, backends, plan, suites, verify, verify_one, verify_possession},
    };
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
