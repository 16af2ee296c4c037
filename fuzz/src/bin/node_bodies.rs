//! The target `node_bodies` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(node_bodies);
