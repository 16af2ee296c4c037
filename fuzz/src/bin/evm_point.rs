//! The target `evm_point` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(evm_point);
