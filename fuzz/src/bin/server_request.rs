//! The target `server_request` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(server_request);
