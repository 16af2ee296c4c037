//! What a program may use.

use std::{num::NonZeroUsize, time::Duration};

/// What one call may use, and how many run at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSettings {
    /// How long a program or a request may take, from its start to the end of its output. Ten seconds.
    pub time: Duration,
    /// How many programs and requests run at once; further ones wait for their turn, and their time begins with it. Four.
    pub at_once: NonZeroUsize,
    /// The names of variables that a program gets from the node's environment, beside [`ALWAYS_PASSED`]. None.
    pub environment: Vec<String>,
}

impl Default for ProgramSettings {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), at_once: NonZeroUsize::MIN.saturating_add(3), environment: Vec::new() }
    }
}

/// The variables of the node's environment that every program gets, where the node has them.
pub const ALWAYS_PASSED: [&str; 3] = ["PATH", "HOME", "LANG"];
/// How many of the last bytes on standard error are kept for the log. An endpoint's refusal is cut at the same length.
pub const MAX_STANDARD_ERROR: usize = 4 * 1024;
