//! How the work of a plan is cut into shares. Each thread takes the next share that no thread has taken.

use std::ops::Range;

use super::{Plan, blocks::ranges, position::Span};
use crate::suite::Suite;

/// The shares of each kind of work.
pub(crate) struct Shares {
    pub(crate) messages: Vec<Range<usize>>,
    pub(crate) members: Vec<Span>,
    pub(crate) sums: Vec<Range<usize>>,
    pub(crate) terms: Vec<Range<usize>>,
    /// Each share has spans of claims, and the signatures of each span are summed.
    pub(crate) signatures: Vec<Vec<Span>>,
    pub(crate) products: Vec<Range<usize>>,
}

impl<S: Suite> Plan<S> {
    /// Cuts the work for the plan's threads.
    pub(crate) fn shares(&self) -> Shares {
        let (threads, lanes) = (self.options.threads.get(), self.options.backend.lanes());
        let size = |n: usize, least: usize, most: usize| {
            // With four shares for each thread, a slow thread takes fewer. Smaller shares would waste inversions,
            // because a share needs one inversion whatever its size.
            let most = most * lanes;
            let size = if threads == 1 { most } else { n.div_ceil(threads.saturating_mul(4)).clamp(least, most) };
            size.next_multiple_of(lanes)
        };
        let cut = |n: usize, least: usize, most: usize| ranges(n, size(n, least, most));
        let claims = self.claims.span();
        Shares {
            messages: cut(self.messages.len(), 4, 64),
            members: claims.chunks(size(claims.len(), 8, 256)).collect(),
            sums: cut(self.sums.len(), 1, 64),
            terms: cut(self.terms.len(), 1, 256),
            signatures: match &self.apart[..] {
                [] => claims.chunks(claims.len().div_ceil(threads).max(64)).map(|span| vec![span]).collect(),
                apart => apart.chunks(apart.len().div_ceil(threads)).map(<[_]>::to_vec).collect(),
            },
            products: self.shares_of_products(threads, lanes),
        }
    }

    /// A backend that has lanes gets one share for each thread, in multiples of its lanes. Without lanes, each block is
    /// a share.
    fn shares_of_products(&self, threads: usize, lanes: usize) -> Vec<Range<usize>> {
        let size = if lanes == 1 { 1 } else { self.blocks.len().div_ceil(threads).max(1).next_multiple_of(lanes) };
        // A plan without blocks still has the product with the pair of the signatures.
        ranges(self.blocks.len().max(1), size)
    }
}
