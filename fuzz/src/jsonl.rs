//! Lines are read alike however they arrive, and the guess of the format loses none of their bytes.

use std::io::{BufReader, Read};

use quorate_formats::{guess, jsonl::JsonLines, peek};

pub fn run(bytes: &[u8]) {
    let read = |capacity| -> Vec<_> {
        JsonLines::new(BufReader::with_capacity(capacity, bytes))
            .map(|entry| entry.map_err(|e| e.to_string()))
            .collect()
    };
    for capacity in [1, 3] {
        assert_eq!(read(capacity), read(1 << 16));
    }

    let (format, mut whole) = peek(BufReader::with_capacity(5, bytes)).expect("memory does not fail");
    let mut again = Vec::new();
    whole.read_to_end(&mut again).expect("memory does not fail");
    assert_eq!(again, bytes);
    let _ = (format, guess(bytes));
}
