//! The time of the machine.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970. A clock before 1970 is wrong, and counts as the beginning of 1970: then nothing is recent, and everything
/// comes from the future.
pub fn unix_ms() -> u64 {
    ms_at(SystemTime::now())
}

/// The same in whole seconds.
pub fn unix_seconds() -> u64 {
    unix_ms() / 1000
}

fn ms_at(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_before_1970_is_at_its_beginning() {
        let second = Duration::from_secs(1);
        assert_eq!([UNIX_EPOCH - second, UNIX_EPOCH, UNIX_EPOCH + second].map(ms_at), [0, 0, 1000]);
    }
}
