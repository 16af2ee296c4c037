//! The target `server_config` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(server_config);
