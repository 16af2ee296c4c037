//! What a chain's node answers about a task network: logs and calldata. Nothing panics, what is refused changes
//! nothing, and what is taken agrees with itself.

use quorate_lab::replay;

pub fn run(bytes: &[u8]) {
    if replay::check(bytes) > 0 {
        crate::accepted();
    }
}
