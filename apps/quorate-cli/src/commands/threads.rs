//! How many threads a command uses by default.

use std::{num::NonZeroUsize, thread};

use super::value::Value;

/// As many threads as this process may run at once, or one if the operating system does not say.
pub(super) fn all() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The number of threads that a user asks for.
pub(super) fn value() -> Value<NonZeroUsize> {
    Value::new(|text| text.parse().map_err(|_| "expected a number of threads, at least 1".to_owned()))
}
