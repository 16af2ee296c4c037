//! The target `key_sets` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(key_sets);
