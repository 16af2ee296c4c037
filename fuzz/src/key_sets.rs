//! The file of a key set. No bytes make the readers of saved sets and of lists panic, what they read is written and read as the same,
//! and a list has no more members than lines.

use std::num::NonZeroUsize;

use quorate::{AnyKeySet, Backend, KeySet, MinPk, MinSig};
use quorate_formats::key_sets::read_list;
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use sha2::{Digest, Sha256};

const ONE: NonZeroUsize = NonZeroUsize::MIN;

pub fn run(bytes: &[u8]) {
    saved(bytes);
    // The same with a digest that fits, so that the fuzzer gets beyond it.
    saved(&[bytes, &Sha256::digest(bytes)[..]].concat());
    if let Ok(set) = read_list(MinPk::Eth2, bytes, Backend::auto(), ONE, &mut ChaCha20Rng::from_seed([9; 32])) {
        crate::accepted();
        assert!((1..=bytes.split(|byte| *byte == b'\n').count()).contains(&set.len()));
        let again = set.to_saved();
        assert_eq!(to_saved(&from_saved(&again).expect("what we write we read")), again);
    }
}

fn saved(bytes: &[u8]) {
    if let Some(set) = from_saved(bytes) {
        crate::accepted();
        let header = AnyKeySet::saved_header(bytes).expect("the set was read");
        assert_eq!((header.members, header.bytes), (set.len() as u64, bytes.len() as u128));
        let written = to_saved(&set);
        assert_eq!(to_saved(&from_saved(&written).expect("what we write we read")), written);
    }
}

fn from_saved(bytes: &[u8]) -> Option<AnyKeySet> {
    AnyKeySet::from_saved(bytes, Backend::auto(), ONE).ok()
}

fn to_saved(set: &AnyKeySet) -> Vec<u8> {
    let min_pk = set.of_variant::<MinPk>().map(KeySet::to_saved);
    min_pk.or_else(|| set.of_variant::<MinSig>().map(KeySet::to_saved)).expect("a set on BLS12-381")
}
