//! No Arrow stream makes its reader panic, and none reads more than its limit: what panics in the library below is contained.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_formats::arrow::ArrowRows;

// The hook that ends the process would also end it where the panic is caught; an uncaught one still ends it.
fuzz_target!(init: std::panic::set_hook(Box::new(|_| {})), |bytes: &[u8]| {
    ArrowRows::new(bytes.to_vec()).for_each(drop);
});
