//! The target `c_interface` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(c_interface);
