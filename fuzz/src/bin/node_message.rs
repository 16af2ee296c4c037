//! The target `node_message` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(node_message);
