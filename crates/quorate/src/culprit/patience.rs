//! How long a search goes on for a source whose claims are false.

use crate::{claim::SourceId, verdict::Reason};

/// Whom a caller bans, and after how many false claims.
///
/// For example, a node bans a peer after its third false claim. The peer fills half a batch with false claims. To find all
/// of them would cost about as much as to check each. With a patience of three, the search ends after three of them, and
/// the others stay undecided ([`Reason::GivenUp`]).
pub trait Patience {
    /// How many more false claims of this source the search should find. Zero gives the source up. It is asked again
    /// after each level of the search, and may have changed, because another batch has found false claims, too.
    fn left(&mut self, source: &SourceId) -> usize;

    /// A claim is not valid. `index` is its place in the caller's slice. Whether its source is to blame says
    /// [`Reason::proves_a_lie`].
    fn found(&mut self, index: usize, source: Option<&SourceId>, reason: Reason);
}

/// Finds every false claim.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exhaustive;

impl Patience for Exhaustive {
    fn left(&mut self, _: &SourceId) -> usize {
        usize::MAX
    }

    fn found(&mut self, _: usize, _: Option<&SourceId>, _: Reason) {}
}
