//! The target `exit` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(exit);
