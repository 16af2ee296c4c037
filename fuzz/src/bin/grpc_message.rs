//! The target `grpc_message` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(grpc_message);
