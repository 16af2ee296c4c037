//! The node's own time: milliseconds of Unix time, so that it goes on after a restart.

use std::time::Duration;

pub use quorate_host::unix_ms as now;
use tokio::time::{Instant, sleep_until};

/// Waits until a time, or a day: the runtime's clock does not know all later times. The caller asks again then.
pub(super) async fn until(at: Option<u64>) {
    let wait = at.unwrap_or(u64::MAX).saturating_sub(now());
    sleep_until(Instant::now() + Duration::from_millis(wait.min(86_400_000))).await;
}
