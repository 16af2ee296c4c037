//! The target `evm_network` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(evm_network);
