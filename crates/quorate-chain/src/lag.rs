//! How long a chain that is shorter than it was is taken for the answer of a node that lags.

use std::time::{Duration, Instant};

/// Several nodes behind one URL answer like that, and one that has started anew reads the last blocks again.
const LAGS: Duration = Duration::from_secs(30);

/// Since when a node answers with a chain that is shorter than it was.
#[derive(Debug)]
pub(crate) struct Lag {
    limit: Duration,
    since: Option<Instant>,
}

impl Default for Lag {
    fn default() -> Self {
        Self::of(LAGS)
    }
}

impl Lag {
    /// A node that may lag for so long, and does not at the moment.
    pub(crate) fn of(limit: Duration) -> Self {
        Self { limit, since: None }
    }

    /// Whether the chain was shorter the last time.
    pub(crate) fn is_known(&self) -> bool {
        self.since.is_some()
    }

    /// The chain is shorter than it was. Whether that is still taken for a node that lags.
    pub(crate) fn may_pass(&mut self) -> bool {
        self.since.get_or_insert_with(Instant::now).elapsed() < self.limit
    }

    /// The chain is as long as it was, or what it is now is believed.
    pub(crate) fn end(&mut self) {
        self.since = None;
    }
}
