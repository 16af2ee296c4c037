//! The target `one_round` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(one_round);
