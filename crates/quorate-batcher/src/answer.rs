//! What a claim gets: a verdict, or the reason why nobody looked at it.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use quorate::Verdict;
use tokio::sync::oneshot;

/// What a claim gets: its verdict, or why it was not verified.
pub type Answer = Result<Verdict, Refused>;

/// Why a claim was not verified. It says nothing about whether the claim is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// As much work waits as the settings allow. Send less, or later.
    #[error("overloaded: as much work waits as the settings allow; send it again later")]
    Overloaded,
    /// Its source sent false claims, and as much work of such sources waits as they may have: a part of the queue.
    #[error(
        "overloaded: this source sent false claims, and as much work of such sources waits as they may have; send it again later"
    )]
    SuspectsOverloaded,
    /// It alone takes more memory than [`Settings::queue_bytes`](crate::Settings::queue_bytes), or more bytes of messages would be
    /// [hashed](quorate::ClaimBytes::hashed_bytes) for it. It is always refused.
    #[error(
        "too large: this claim alone takes more memory than may wait, or so many bytes would be hashed for it, because its suite \
         hashes the message behind each key; send smaller claims"
    )]
    TooLarge,
    /// Its source is banned, because claims of it were false, or by [`Batcher::ban`](crate::Batcher::ban).
    #[error("banned: claims of this source were false, or the operator banned it")]
    Banned,
    /// Its deadline passed before a worker was free.
    #[error("the deadline passed before the claim was verified")]
    DeadlinePassed,
    /// The batcher is stopping.
    #[error("the batcher stops or has stopped; send the claim to another one")]
    Stopped,
    /// An internal error: the verification of its batch failed. Please report it.
    #[error("internal error: the batch of this claim was not verified; please report it")]
    Failed,
}

impl Refused {
    /// All of them. Three have the same [name](Self::name).
    pub const ALL: [Self; 7] = [
        Self::Overloaded,
        Self::SuspectsOverloaded,
        Self::TooLarge,
        Self::Banned,
        Self::DeadlinePassed,
        Self::Stopped,
        Self::Failed,
    ];

    /// A short name for metrics and machines: `overloaded`, `banned`, `deadline`, `stopped`, `failed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Overloaded | Self::SuspectsOverloaded | Self::TooLarge => "overloaded",
            Self::Banned => "banned",
            Self::DeadlinePassed => "deadline",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }
}

/// The answer to a claim that was submitted: a future, or something to wait for on a thread without a runtime.
///
/// Dropping it does not take the claim back: it is verified, and counts for its source.
#[derive(Debug)]
#[must_use = "a claim is valid only if the answer says so"]
pub struct Pending {
    answer: oneshot::Receiver<Answer>,
}

/// Where the answer of a claim is written to.
pub(crate) type Asker = oneshot::Sender<Answer>;

impl Pending {
    pub(crate) fn new() -> (Asker, Self) {
        let (asker, answer) = oneshot::channel();
        (asker, Self { answer })
    }

    /// Waits for the answer. For threads without an asynchronous runtime.
    ///
    /// # Panics
    /// On a thread of a tokio runtime, where it would block other tasks. Await it there.
    pub fn wait(self) -> Answer {
        self.answer.blocking_recv().unwrap_or(Err(Refused::Failed))
    }
}

impl Future for Pending {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        Pin::new(&mut self.answer).poll(context).map(|answer| answer.unwrap_or(Err(Refused::Failed)))
    }
}
