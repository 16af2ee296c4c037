//! The target `signer_record` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(signer_record);
