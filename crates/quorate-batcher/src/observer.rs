//! What happens inside, for metrics and dashboards.

use std::time::Duration;

use quorate::Work;

use crate::{
    answer::Refused,
    class::Class,
    schedule::{BatchKind, ClosedBy},
    source::SourceReport,
};

/// Is told what happens.
///
/// It is called on the threads of the batcher and of those who submit claims, without a lock. It must return soon.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn observe(&self, event: &Event<'_>);
}

/// What happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A batch was verified.
    Batch(&'a BatchReport),
    /// A claim was refused.
    Refused {
        /// The claim's class.
        class: Class,
        /// The reason of the refusal.
        refused: Refused,
    },
    /// A source was banned.
    Banned {
        /// What is known of it.
        source: &'a SourceReport,
        /// How many of its claims were waiting and were refused.
        evicted: usize,
    },
    /// Claims are refused for lack of room from now on. It is said once for each overload.
    OverloadBegins,
    /// The overload is over.
    OverloadEnds {
        /// How many claims were refused meanwhile.
        refused: u64,
    },
    /// Verified statements could not be written to the store. It is said each time; the store is opened again after a pause.
    StoreFailed {
        /// The error, in words.
        error: &'a str,
    },
    /// Verified statements were written to the store.
    Stored {
        /// How many.
        statements: usize,
    },
}

/// A batch that was verified.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BatchReport {
    /// What it was made of.
    pub kind: BatchKind,
    /// Why it was closed.
    pub closed_by: ClosedBy,
    /// How many claims it had.
    pub claims: usize,
    /// How many statements they made.
    pub statements: usize,
    /// How many statements were known and subtracted.
    pub subtracted: usize,
    /// How many claims are false.
    pub invalid: usize,
    /// How many claims stayed undecided, because their source was banned meanwhile.
    pub given_up: usize,
    /// What it was planned to take.
    pub planned: Duration,
    /// What it took, from its closing to its verdicts.
    pub took: Duration,
    /// How long each claim had waited when the batch was closed.
    pub waits: Vec<Duration>,
    /// The operations that the verdicts took.
    pub work: Work,
}
