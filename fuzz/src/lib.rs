//! Fuzz targets: parsers, and batches against the oracle.
//!
//! A target is a module with one function, `run`, which panics where what the module says does not hold. `src/bin/` has a program for each,
//! which `make fuzz` runs under libFuzzer. The tests run each on its seeds and on variations of them, without a nightly compiler.
// Each module says what its one function checks.
#![allow(missing_docs)]

pub mod arrow;
pub mod batch_vs_naive;
pub mod c_interface;
pub mod chain_logs;
pub mod change;
pub mod checkpoint;
pub mod checkpoint_files;
pub mod checkpoint_headers;
pub mod chia;
pub mod claims;
pub mod combination;
pub mod compression;
pub mod decode_point;
pub mod deposit;
pub mod dkg;
pub mod drand;
pub mod drand_chain;
pub mod era;
pub mod evm_follow;
pub mod evm_network;
pub mod evm_point;
pub mod evm_quorum;
pub mod evm_signatures;
pub mod exit;
pub mod grpc_message;
pub mod history_ssz;
pub mod jsonl;
pub mod key_file;
pub mod key_sets;
pub mod keystore;
pub mod light_client;
pub mod lines;
pub mod node_bodies;
pub mod node_message;
pub mod node_options;
pub mod node_saved;
pub mod one_round;
pub mod parquet;
pub mod server_config;
pub mod server_request;
pub mod shard_results;
pub mod shards;
pub mod shared_key;
pub mod shares;
pub mod signer_record;
pub mod signer_request;
pub mod verbs;

use std::cell::Cell;

use arbitrary::{Arbitrary, Unstructured};

/// The program of a target. Without libFuzzer it runs the target once on each file that its arguments name, as one that `make fuzz` left.
#[macro_export]
macro_rules! program {
    ($target:ident $(, $init:expr)?) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!($(init: $init,)? |bytes: &[u8]| $crate::$target::run(bytes));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            std::env::args_os().skip(1).try_for_each(|file| std::fs::read(file).map(|bytes| $crate::$target::run(&bytes)))
        }
    };
}

/// What a target takes in place of bytes, made of them. None where they are too few.
fn structured<'a, T: Arbitrary<'a>>(bytes: &'a [u8]) -> Option<T> {
    T::arbitrary_take_rest(Unstructured::new(bytes)).ok()
}

thread_local! {
    static ACCEPTED: Cell<bool> = const { Cell::new(false) };
}

/// A reader has accepted the bytes. The tests ask for a seed of each target of which this is said.
fn accepted() {
    ACCEPTED.set(true);
}

#[cfg(test)]
mod tests;
