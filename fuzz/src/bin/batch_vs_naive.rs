//! The target `batch_vs_naive` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(batch_vs_naive);
