//! How many threads a command uses by default.

use std::{num::NonZeroUsize, thread};

use quorate::threads::MOST_THREADS;

use super::value::Value;

/// As many threads as this process may run at once, or one if the operating system does not say.
pub(super) fn all() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The number of threads that a user asks for.
pub(super) fn value() -> Value<NonZeroUsize> {
    Value::new(|text| {
        let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MOST_THREADS);
        number.ok_or_else(|| format!("expected a number of threads, 1 to {MOST_THREADS}"))
    })
}
