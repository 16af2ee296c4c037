//! What a chain's node answers about a task network: logs and calldata. Nothing panics, what is refused changes
//! nothing, and what is taken agrees with itself.
#![no_main]

#[path = "../../crates/quorate-chain/tests/replay/interpret.rs"]
mod interpret;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    interpret::check(bytes);
});
