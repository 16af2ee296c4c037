//! A committee's keys by index.

use super::{
    memory::{free, give, guarded, items, none, of, put, put_bytes, quorate_bytes, quorate_error},
    verifier::{quorate_verdicts, settle, undecided},
};
use crate::{sets::NumberedSet, suites};

/// A committee's keys, which are read and checked once. Bitmaps name its members: bit i, counted from the lowest bit of the first byte,
/// is the member with index i. Claims name them by the number of the set. Any number of threads can use one.
pub struct quorate_key_set(NumberedSet);

/// Makes an empty set. Free it by `quorate_key_set_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_key_set_new(
    suite: u32,
    set: *mut *mut quorate_key_set,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || unsafe {
        none(set);
        give(set, quorate_key_set(NumberedSet::new(suites::by_number(suite)?)))
    })
}

/// The number by which claims name a set until it is freed. It is not 0, and no other set of the process has or had it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_key_set_number(
    set: *const quorate_key_set,
    number: *mut u64,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || unsafe { put("number", number, of("set", set)?.0.number()) })
}

/// Adds keys, which stand one after another: all of them, or none. Their indices follow those of the members so far. No keys add no members.
/// `assumed` says that their owners have shown elsewhere that they hold their secrets, as validators of Ethereum do by their deposits; without
/// it, each needs `quorate_key_set_prove` in suites with such proofs. `QUORATE_CODE_ENCODING` if one does not decode or is cut.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_key_set_push(
    set: *const quorate_key_set,
    keys: *const u8,
    size: usize,
    assumed: bool,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || unsafe { of("set", set)?.0.push(items("keys", keys, size)?, assumed) })
}

/// Verifies that a member holds the secret of its key. `proven` says whether it is true; the set remembers it. If the call fails, `proven`
/// is false, and the set is as it was. `QUORATE_CODE_ENCODING` if the proof does not decode, `QUORATE_CODE_MISUSE` if there is no such member,
/// and in suites without such proofs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_key_set_prove(
    set: *const quorate_key_set,
    index: usize,
    proof: *const u8,
    size: usize,
    proven: *mut bool,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            // A null pointer fails before the set remembers anything.
            put("proven", proven, false)?;
            put("proven", proven, of("set", set)?.0.prove(index, items("proof", proof, size)?)?)
        }
    })
}

/// How many members there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_key_set_members(
    set: *const quorate_key_set,
    members: *mut usize,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || unsafe { put("members", members, of("set", set)?.0.members()) })
}

/// Writes the sum of members' keys, also of members that have proven nothing: verify with `quorate_key_set_verify`, and not under this sum.
/// It is as long as a public key, and under `eigenlayer` the sum in G2, 128 bytes. For no members it is the identity, which is not a key. The
/// set keeps its last sums, and computes the next one from the difference if that takes less. `QUORATE_CODE_MISUSE` if there is no such
/// member, and in a BDN suite, where keys are added with coefficients.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_key_set_sum(
    set: *const quorate_key_set,
    members: *const u8,
    members_size: usize,
    sum: *mut u8,
    size: usize,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe { put_bytes("sum", sum, size, &of("set", set)?.0.sum(items("members", members, members_size)?)?) }
    })
}

/// Verifies that these members signed a message. Writes a `quorate_verdict`, and its reason as `quorate_verify` does. A signature that does
/// not decode is the error `QUORATE_CODE_ENCODING`. `QUORATE_CODE_MISUSE` for no members, unless the suite allows that, as
/// `eth2-sync-aggregate` does; for members that are not there; for several of whom one has not proven its key, in suites with such proofs; for
/// keys that add up to the identity; and in suites without signatures of several keys over one message. In a claim, these are verdicts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_key_set_verify(
    set: *const quorate_key_set,
    members: quorate_bytes,
    message: quorate_bytes,
    signature: quorate_bytes,
    verdict: *mut u8,
    reasons: *mut *mut quorate_verdicts,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            let places = undecided(verdict, 1, reasons)?;
            let outcome = of("set", set)?.0.verify(
                items("members", members.data, members.size)?,
                items("message", message.data, message.size)?,
                items("signature", signature.data, signature.size)?,
            )?;
            settle(outcome, places, reasons)
        }
    })
}

/// Frees a set. Null is fine. Claims that were handed to a batcher keep what they need of it, and its number names nothing any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_key_set_free(set: *mut quorate_key_set) {
    // SAFETY: the caller keeps to the header.
    unsafe { free(set) }
}
