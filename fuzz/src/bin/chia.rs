//! The target `chia` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(chia);
