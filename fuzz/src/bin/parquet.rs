//! The target `parquet` under libFuzzer.
#![cfg_attr(fuzzing, no_main)]

// libFuzzer's hook would also end the process where a panic is caught; an uncaught one still ends it.
quorate_fuzz::program!(parquet, std::panic::set_hook(Box::new(|_| {})));
