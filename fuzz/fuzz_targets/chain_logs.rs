//! What a chain's node answers about a task network: logs and calldata. Nothing panics, what is refused changes
//! nothing, and what is taken agrees with itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_lab::replay;

fuzz_target!(|bytes: &[u8]| {
    replay::check(bytes);
});
