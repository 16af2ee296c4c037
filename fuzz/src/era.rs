//! No file makes the container's reader panic, whatever its records and indices say.

use std::io::Cursor;

use quorate_history::{EraFile, StateHead};

pub fn run(bytes: &[u8]) {
    let mut begins = 0;
    while let Ok(mut file) = EraFile::open_at(Cursor::new(bytes), begins) {
        // Every block has a slot of its own before the state's.
        assert!(file.blocks() as u64 <= file.slot());
        let _ = StateHead::read(&mut file);
        match file.next() {
            Some(next) => {
                assert!(next > begins);
                begins = next;
            }
            None => break,
        }
    }
}
