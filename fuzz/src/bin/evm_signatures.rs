//! The target `evm_signatures` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(evm_signatures);
