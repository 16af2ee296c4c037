//! How many threads a command uses by default.

use std::{num::NonZeroUsize, thread};

/// As many threads as this process may run at once, or one if the operating system does not say.
pub(super) fn all() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Reads the number of threads that a user asks for.
pub(super) fn parse(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a number of at least 1".to_owned())
}
