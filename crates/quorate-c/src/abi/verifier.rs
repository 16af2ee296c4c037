//! Verifiers, and the verdicts that they give.

use std::ffi::c_char;

use quorate::ClaimBytes;

use super::{
    claim::{self, quorate_claim},
    memory::{
        free, give, guarded, items, none, of, put, put_bytes, put_long_text, quorate_bytes, quorate_error, room, text,
    },
};
use crate::{
    engine::{Engine, EngineOptions},
    fault::CallFailure,
    packed, suites,
    verdicts::{Ruled, Verdicts},
};

/// How a verifier works. All zeros are the defaults: one thread, 64 bits, the fastest backend.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quorate_options {
    /// How many threads a call uses, its own included: 0 for one, `UINT32_MAX` for all of the machine. They start and end in the call, which
    /// uses no more than one for every sixteen keys of its claims. Other numbers above 1024 are refused.
    pub threads: u32,
    /// How unlikely it must be that a false claim passes: 64 or 128 bits.
    pub soundness: u32,
    /// The name of a backend, such as "portable"; null for the fastest of this machine.
    pub backend: *const c_char,
    /// The length of that name.
    pub backend_size: usize,
    /// At most so many known statements are kept of each variant: when there are more, the older half is forgotten. 0 for any number.
    pub most_known: u64,
}

/// Verifies claims. Any number of threads can use one at the same time. It keeps decoded keys, hashes of recent messages, and known
/// statements for later calls.
pub struct quorate_verifier(pub(super) Engine);

/// Verdicts with their reasons.
pub struct quorate_verdicts(Verdicts);

/// Makes a verifier. `options` may be null. Free it by `quorate_verifier_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verifier_new(
    options: *const quorate_options,
    verifier: *mut *mut quorate_verifier,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe { none(verifier) };
        let mut own = EngineOptions::default();
        // SAFETY: the caller keeps to the header.
        if let Some(options) = unsafe { options.as_ref() } {
            let quorate_options { threads, soundness, backend, backend_size, most_known } = *options;
            // SAFETY: the caller keeps to the header.
            let backend = unsafe { text("backend", backend, backend_size) }?;
            own = EngineOptions { threads, soundness, backend, most_known };
        }
        // SAFETY: the caller keeps to the header.
        unsafe { give(verifier, quorate_verifier(Engine::new(&own)?)) }
    })
}

/// Frees a verifier. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verifier_free(verifier: *mut quorate_verifier) {
    // SAFETY: the caller keeps to the header.
    unsafe { free(verifier) }
}

/// Verifies claims. Writes one `quorate_verdict` for each to `verdicts`, in their order, and makes a handle with their reasons if
/// `reasons` is not null; free that by `quorate_verdicts_free`. If the call fails, all verdicts are `QUORATE_VERDICT_UNDECIDED`.
///
/// With `remember`, valid claims of one key are known from then on: they cost an addition when a later claim repeats them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verify(
    verifier: *const quorate_verifier,
    claims: *const quorate_claim,
    count: usize,
    remember: bool,
    verdicts: *mut u8,
    reasons: *mut *mut quorate_verdicts,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            let places = undecided(verdicts, count, reasons)?;
            decide(of("verifier", verifier)?, &claim::claims(claims, count)?, remember, places, reasons)
        }
    })
}

/// The same for claims in one piece of memory: the number of claims must be `count`. For languages in which structures with pointers
/// are slow or not allowed.
///
/// A claim is, in little-endian numbers of 32 bits: its suite, its `quorate_messages`, how many keys, how many messages; then each key,
/// each message, the signature and the source, each as its length and its bytes.
///
/// One that names members of a key set has a `quorate_signers` added to its `quorate_messages`, and no keys. In their place stand the
/// number of the set, of 64 bits, and the members as the length and the bytes of a bitmap or of indices of 32 bits each, all little-endian.
/// As in `quorate_claim`, a set that is freed fails the whole call with `QUORATE_CODE_HANDLE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verify_packed(
    verifier: *const quorate_verifier,
    packed: *const u8,
    size: usize,
    count: usize,
    remember: bool,
    verdicts: *mut u8,
    reasons: *mut *mut quorate_verdicts,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            let places = undecided(verdicts, count, reasons)?;
            let claims = packed::read_all(items("packed", packed, size)?, count)?;
            decide(of("verifier", verifier)?, &claims, remember, places, reasons)
        }
    })
}

/// The places of verdicts, which say that nothing is decided, and that of the handle with their reasons, which says that there is none.
///
/// # Safety
/// As [`room`], and as [`none`].
pub(super) unsafe fn undecided<'a>(
    verdicts: *mut u8,
    count: usize,
    reasons: *mut *mut quorate_verdicts,
) -> Result<&'a mut [u8], CallFailure> {
    // SAFETY: as the caller promises.
    unsafe { none(reasons) };
    // SAFETY: as the caller promises.
    let places = unsafe { room("verdicts", verdicts, count) }?;
    places.fill(Ruled::Undecided as u8);
    Ok(places)
}

/// # Safety
/// As [`give`].
unsafe fn decide(
    verifier: &quorate_verifier,
    claims: &[ClaimBytes],
    remember: bool,
    places: &mut [u8],
    reasons: *mut *mut quorate_verdicts,
) -> Result<(), CallFailure> {
    // SAFETY: as the caller promises.
    unsafe { settle(verifier.0.verify(claims, remember)?, places, reasons) }
}

/// Writes verdicts, and makes a handle with their reasons if there is a place for it.
///
/// # Safety
/// As [`give`].
pub(super) unsafe fn settle(
    verdicts: Verdicts,
    places: &mut [u8],
    reasons: *mut *mut quorate_verdicts,
) -> Result<(), CallFailure> {
    places.iter_mut().zip(verdicts.ruled()).for_each(|(place, ruled)| *place = ruled as u8);
    if reasons.is_null() {
        return Ok(());
    }
    // SAFETY: as the caller promises.
    unsafe { give(reasons, quorate_verdicts(verdicts)) }
}

/// Verifies one signature by one key over one message. Writes a `quorate_verdict`, and its reason as `quorate_verify` does: bytes that are no
/// key or no signature are a verdict. It remembers nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verify_one(
    verifier: *const quorate_verifier,
    suite: u32,
    public_key: quorate_bytes,
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
            let claim = ClaimBytes::single(
                suites::by_number(suite)?,
                items("public_key", public_key.data, public_key.size)?,
                items("message", message.data, message.size)?,
                items("signature", signature.data, signature.size)?,
            );
            decide(of("verifier", verifier)?, &[claim], false, places, reasons)
        }
    })
}

/// Why a claim is not valid, as a text of UTF-8 with a zero behind it, cut to `size`. `length` is how long all of it is, and may be
/// null. The text of a valid claim is empty. `index` counts the claims of the call from 0: `QUORATE_CODE_MISUSE` if there is no such claim.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verdicts_reason(
    verdicts: *const quorate_verdicts,
    index: usize,
    place: *mut c_char,
    size: usize,
    length: *mut usize,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            let verdicts = &of("verdicts", verdicts)?.0;
            if index >= verdicts.count() {
                return Err(CallFailure::misuse(format!("there is no claim {index} among {}", verdicts.count())));
            }
            put_long_text(place, size, length, &verdicts.reason(index))
        }
    })
}

/// Frees verdicts. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verdicts_free(verdicts: *mut quorate_verdicts) {
    // SAFETY: the caller keeps to the header.
    unsafe { free(verdicts) }
}

/// What would be computed to verify packed claims, as text. It is written as `quorate_verdicts_reason` writes. Nothing is verified.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_plan(
    verifier: *const quorate_verifier,
    packed: *const u8,
    packed_size: usize,
    place: *mut c_char,
    size: usize,
    length: *mut usize,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            let claims = packed::read(items("packed", packed, packed_size)?)?;
            put_long_text(place, size, length, &of("verifier", verifier)?.0.plan(&claims))
        }
    })
}

/// The sum of public keys, which stand one after another, as `quorate_aggregate_public_keys` makes it. Keys that the verifier has decoded
/// before are not decoded again, and a claim of the sum decodes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verifier_aggregate_public_keys(
    verifier: *const quorate_verifier,
    suite: u32,
    keys: *const u8,
    size: usize,
    sum: *mut u8,
    sum_size: usize,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            let (engine, keys) = (&of("verifier", verifier)?.0, items("keys", keys, size)?);
            put_bytes("sum", sum, sum_size, &engine.aggregate_public_keys(suites::by_number(suite)?, keys)?)
        }
    })
}

/// How many statements a verifier knows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verifier_known(
    verifier: *const quorate_verifier,
    known: *mut usize,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || unsafe { put("known", known, of("verifier", verifier)?.0.verifier().known()) })
}

/// Forgets all known statements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verifier_forget(verifier: *const quorate_verifier, error: *mut quorate_error) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe { of("verifier", verifier)? }.0.verifier().forget_known();
        Ok(())
    })
}
