//! The target `history_ssz` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(history_ssz);
