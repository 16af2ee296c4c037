//! The target `deposit` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(deposit);
