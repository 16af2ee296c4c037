//! No Arrow stream makes its reader panic, and none reads more than its limit: what panics in the library below is contained.

use quorate_formats::arrow::ArrowRows;

pub fn run(bytes: &[u8]) {
    for row in ArrowRows::new(bytes.to_vec()) {
        if row.is_ok_and(|entry| entry.is_ok()) {
            crate::accepted();
        }
    }
}
