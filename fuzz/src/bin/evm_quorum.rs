//! The target `evm_quorum` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(evm_quorum);
