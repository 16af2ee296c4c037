//! No file makes the reader of drand chains panic. Its spans hold every round that became a claim, and what joins them is true: a
//! chain that is whole has as many rounds as its range.

use quorate_formats::drand::{ChainInfo, DrandOptions};
use quorate_history::drand::{self, RoundRange};

pub fn run(bytes: &[u8]) {
    let quicknet = ChainInfo::well_known("quicknet").expect("it is built in");
    for chain in [None, Some(quicknet)] {
        let mut rounds = drand::read(bytes, &DrandOptions { chain, ..DrandOptions::default() });
        let mut claims = 0_u64;
        for entry in rounds.by_ref() {
            let Ok(Ok(round)) = entry else { continue };
            assert_eq!(round.claim.failed.is_some(), round.claim.claim.public_keys.is_empty());
            claims += 1;
            crate::accepted();
        }
        let spans = rounds.into_spans();
        let in_spans: u64 = spans.iter().map(|span| span.last - span.first + 1).sum();
        assert_eq!(in_spans, claims);
        let joined = drand::join(spans);
        if joined.is_whole() {
            let RoundRange { first, last, .. } = joined.range.expect("a chain has rounds");
            assert_eq!(last - first + 1, claims);
        }
    }
}
