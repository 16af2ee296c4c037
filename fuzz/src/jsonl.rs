//! Lines are read alike however they arrive, and the guess of the format loses none of their bytes.

use std::{
    io::{BufReader, Read},
    sync::LazyLock,
};

use quorate::{Backend, KeySet, MinPk, SecretKey};
use quorate_formats::{guess, jsonl::JsonLines, key_sets::KeySets, peek};

/// The key set `a`, of three members.
pub(crate) static SETS: LazyLock<KeySets> = LazyLock::new(|| {
    let mut set = KeySet::new(MinPk::Eth2, Backend::Portable);
    let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"").expect("long enough");
    (0..3).for_each(|_| set.push_assumed(secret.public_key()));
    let mut sets = KeySets::default();
    sets.add("a".to_owned(), set.into_any()).expect("the first one");
    sets
});

pub fn run(bytes: &[u8]) {
    let read = |capacity| -> Vec<_> {
        JsonLines::new(BufReader::with_capacity(capacity, bytes))
            .with_key_sets(SETS.clone())
            .map(|entry| entry.map_err(|e| e.to_string()))
            .collect()
    };
    for capacity in [1, 3] {
        assert_eq!(read(capacity), read(1 << 16));
    }
    if read(1 << 16).iter().any(|entry| matches!(entry, Ok(Ok(_)))) {
        crate::accepted();
    }

    let (format, mut whole) = peek(BufReader::with_capacity(5, bytes)).expect("memory does not fail");
    let mut again = Vec::new();
    whole.read_to_end(&mut again).expect("memory does not fail");
    assert_eq!(again, bytes);
    let _ = (format, guess(bytes));
}
