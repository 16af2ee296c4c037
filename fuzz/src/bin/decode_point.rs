//! The target `decode_point` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(decode_point);
