//! The batcher as a tower service, so that a node's middleware (timeouts, limits, tracing) stands in front of it.

use std::{
    task::{Context, Poll},
    time::Instant,
};

use quorate::{ClaimBytes, Verdict};
use tower_service::Service;

use crate::{
    answer::{Pending, Refused},
    batcher::Batcher,
    class::Class,
};

/// A claim that a tower service verifies.
#[derive(Clone, Debug)]
pub struct Request {
    /// The claim.
    pub claim: ClaimBytes,
    /// How urgent it is.
    pub class: Class,
    /// When the verdict is needed.
    pub deadline: Option<Instant>,
}

/// It is always ready. Overload is an answer and not a lack of readiness, because a middleware that waits for readiness
/// would hold the newest claims back, and these are worth the most.
impl Service<Request> for Batcher {
    type Response = Verdict;
    type Error = Refused;
    type Future = Pending;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, Request { claim, class, deadline }: Request) -> Pending {
        self.submit(claim, class, deadline)
    }
}
