//! No file makes the reader of Parquet panic: where the library below does, that is contained.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use quorate_formats::parquet::ParquetRows;

// The hook that ends the process would also end it where the panic is caught; an uncaught one still ends it.
fuzz_target!(init: std::panic::set_hook(Box::new(|_| {})), |bytes: &[u8]| {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(bytes).expect("room for it");
    if let Ok(rows) = ParquetRows::open(file) {
        rows.for_each(drop);
    }
});
