//! The target `node_saved` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(node_saved);
