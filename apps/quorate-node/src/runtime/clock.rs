//! Two times, both in milliseconds since 1970: that of the machine's clock, and the node's own.
//!
//! The machine's clock can be set while the node runs, forward and back. The node reads it for what people see, and for the tasks of
//! a schedule, which all operators begin at one time.
//!
//! Everything else waits by the node's own time. It begins with what the machine's clock says when the node starts, and passes as a
//! stopwatch does, so no clock that is set stops or skips anything. It is not set right while the node runs: whoever waits by
//! it waits for a length of time, and nobody compares it with the time of a chain or of another machine. The next start takes the
//! machine's clock anew. What still waited then is bounded by `Node::step`.

use std::time::Duration;

pub use quorate_host::unix_ms as now;
use tokio::time::{Instant, sleep_until};

/// The node's own time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    begun: Instant,
    /// What the machine's clock said then.
    unix_ms: u64,
    /// How far the machine's clock was ahead of the node's own time when it was looked at last.
    ahead: i128,
}

/// What is more than a time server sets a clock right by, or a machine under load takes between two looks: in milliseconds.
const SET: u128 = 5_000;

impl Clock {
    /// A time that begins now, when the machine's clock says this.
    pub(super) fn begin(unix_ms: u64) -> Self {
        Self { begun: Instant::now(), unix_ms, ahead: 0 }
    }

    /// The node's own time.
    pub(super) fn now(&self) -> u64 {
        let passed = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.unix_ms.saturating_add(passed)
    }

    /// What the machine's clock says, as far as it is known now, at a time of the node's own.
    pub(super) fn shown(&self, at: u64) -> u64 {
        let own = self.now();
        if at >= own { now().saturating_add(at - own) } else { now().saturating_sub(own - at) }
    }

    /// Looks at the machine's clock, and logs if it was set since the last look.
    pub(super) fn look(&mut self) {
        let ahead = i128::from(now()) - i128::from(self.now());
        let set_by = ahead - std::mem::replace(&mut self.ahead, ahead);
        if set_by.unsigned_abs() > SET {
            let (seconds, direction) = (set_by.unsigned_abs() / 1_000, if set_by > 0 { "forward" } else { "back" });
            tracing::warn!(
                "the machine's clock went {direction} by {seconds} s: scheduled tasks follow it, and nothing else; let the machine \
                 follow a time server"
            );
        }
    }

    /// Waits until a time of the node's own, or a day.
    pub(super) async fn until(self, at: Option<u64>) {
        wait(at.map(|at| at.saturating_sub(self.now()))).await;
    }
}

/// Waits until the machine's clock says a second, or a day. A clock that is set meanwhile is not noticed, so the caller asks again
/// each time something happens.
pub(super) async fn until_second(second: Option<u64>) {
    wait(second.map(|second| second.saturating_mul(1_000).saturating_sub(now()))).await;
}

/// Waits for so many milliseconds, and at most a day: the runtime's clock does not know all later times. The caller asks again then.
async fn wait(milliseconds: Option<u64>) {
    let day = 86_400_000;
    sleep_until(Instant::now() + Duration::from_millis(milliseconds.unwrap_or(day).min(day))).await;
}
