//! The target `evm_follow` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(evm_follow);
