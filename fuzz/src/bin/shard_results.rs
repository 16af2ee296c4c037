//! The target `shard_results` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(shard_results);
