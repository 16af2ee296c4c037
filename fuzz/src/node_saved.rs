//! No bytes make the reader of a node's kept state panic, and what it reads is written and read again as the same.

use quorate_network::roles::Saved;

pub fn run(bytes: &[u8]) {
    if let Ok(saved) = Saved::from_bytes(bytes) {
        crate::accepted();
        assert_eq!(Saved::from_bytes(&saved.to_bytes()).expect("it was written by us"), saved);
    }
}
