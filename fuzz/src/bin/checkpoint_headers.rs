//! The target `checkpoint_headers` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(checkpoint_headers);
