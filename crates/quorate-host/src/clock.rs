//! The time of the machine.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970. A clock before 1970 is wrong, and then nothing is recent.
pub fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
