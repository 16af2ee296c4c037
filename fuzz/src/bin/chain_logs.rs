//! The target `chain_logs` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

quorate_fuzz::program!(chain_logs);
