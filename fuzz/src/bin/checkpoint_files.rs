//! The target `checkpoint_files` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(checkpoint_files);
