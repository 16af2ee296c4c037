//! The node's own time: milliseconds of Unix time, so that it goes on after a restart.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep_until};

/// The node's own time now: milliseconds of Unix time.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Waits until a time, or a day: the runtime's clock does not know all later times. The caller asks again then.
pub(super) async fn until(at: Option<u64>) {
    let wait = at.unwrap_or(u64::MAX).saturating_sub(now());
    sleep_until(Instant::now() + Duration::from_millis(wait.min(86_400_000))).await;
}
