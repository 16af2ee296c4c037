//! The target `drand_chain` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(drand_chain);
