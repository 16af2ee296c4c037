//! Suites.

use std::ffi::c_char;

use super::memory::{guarded, put, quorate_error, text};
use crate::suites;

/// The number of a suite by its name: "eth2", "drand-quicknet", "eigenlayer", or an id of the IETF in full. `size` is the length of the
/// name, without a zero. `docs/schemes.md` describes the suites.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_suite(
    name: *const c_char,
    size: usize,
    suite: *mut u32,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe { put("suite", suite, suites::number(suites::by_name(text("name", name, size)?)?)?) }
    })
}

/// How many bytes a public key and a signature of a suite have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_suite_lengths(
    suite: u32,
    public_key: *mut usize,
    signature: *mut usize,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        let (key, of_signature) = suites::lengths(suites::by_number(suite)?);
        // SAFETY: the caller keeps to the header.
        unsafe {
            put("public_key", public_key, key)?;
            put("signature", signature, of_signature)
        }
    })
}
