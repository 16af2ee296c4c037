//! No file makes the container's reader panic, whatever its records and indices say.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use quorate_history::{EraFile, StateHead};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(mut file) = EraFile::open(Cursor::new(bytes)) {
        // Every block has a slot of its own before the state's.
        assert!(file.blocks() as u64 <= file.slot());
        let _ = StateHead::read(&mut file);
    }
});
