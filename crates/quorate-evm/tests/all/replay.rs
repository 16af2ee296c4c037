//! What a chain's node may answer, made of random bytes: nothing panics, what is refused changes nothing, and what is
//! taken agrees with itself. The fuzz target `chain_logs` looks for more of the same.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use quorate_lab::replay;

/// Four operators, a snapshot, tasks and bases, then a second epoch: as bytes that `replay` reads.
const WHOLE: &[u8] = include_bytes!("../../../../fuzz/seeds/chain-logs");

#[test]
fn a_whole_network_is_taken() {
    assert_eq!(replay::check(WHOLE), 10);
}

proptest! {
    #[test]
    fn random_logs_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..1_500)) {
        replay::check(&bytes);
    }

    #[test]
    fn damaged_logs_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        more in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = WHOLE.to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        replay::check(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        bytes.extend(more);
        replay::check(&bytes);
    }
}
