//! The target `signer_request` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(signer_request);
