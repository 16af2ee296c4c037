//! The target `key_file` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(key_file);
