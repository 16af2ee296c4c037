//! Versions.

use std::ffi::c_char;

/// The version of the library, as text.
#[unsafe(no_mangle)]
pub extern "C" fn quorate_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The number of this interface. A program that was compiled with a header runs with every library that answers the header's
/// `QUORATE_ABI`.
#[unsafe(no_mangle)]
pub extern "C" fn quorate_abi() -> u32 {
    QUORATE_ABI
}

/// The interface of this header. It rises when a program that was compiled with an earlier header would go wrong with the library: when the
/// size of a structure changes, or the place, the type or the meaning of a field, of an argument or of a number, and when a function goes. A
/// new function, or a new number for a new case, leaves it.
pub const QUORATE_ABI: u32 = 1;
