//! The target `light_client` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(light_client);
