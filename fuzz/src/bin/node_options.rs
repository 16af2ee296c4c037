//! The target `node_options` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(node_options);
