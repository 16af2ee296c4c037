//! How many threads a command uses where nobody says it.

use std::{num::NonZeroUsize, thread};

/// As many threads as this process may run at once; one where the system does not tell.
pub(super) fn all() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
