//! The target `shared_key` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(shared_key);
