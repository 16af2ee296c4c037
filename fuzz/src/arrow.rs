//! No Arrow stream makes its reader panic, and none reads more than its limit: what panics in the library below is contained. Nor does a
//! file, which Python reads: its caller contains the calls that decode, and the rows of a batch do not panic.

use std::io::Write;

use quorate_formats::arrow::{ArrowFile, ArrowRows, BatchRows};
use quorate_host::contained;

pub fn run(bytes: &[u8]) {
    for row in ArrowRows::new(bytes.to_vec()) {
        if row.is_ok_and(|entry| entry.is_ok()) {
            crate::accepted();
        }
    }
    of_file(bytes);
}

fn of_file(bytes: &[u8]) {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(bytes).expect("room for it");
    let Ok(Ok(mut file)) = contained(|| ArrowFile::open(file)) else { return };
    let mut values = 0;
    while let Ok(Some(Ok(batch))) = contained(|| file.next()) {
        let Ok(mut rows) = BatchRows::new(&batch, 0) else { return };
        while let Some(entry) = rows.next() {
            if entry.is_ok() {
                crate::accepted();
            }
            if values + rows.values() > file.limit() {
                return;
            }
        }
        values += rows.values();
    }
}
