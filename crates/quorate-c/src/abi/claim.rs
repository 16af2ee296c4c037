//! Claims as structures.

use quorate::ClaimBytes;

use super::memory::{items, quorate_bytes};
use crate::{fault::CallFailure, packed, suites};

/// A claim: these keys signed these messages, and this is the sum of their signatures. Zeros are no claim, but no danger either.
///
/// Keys, messages and signatures may have any length: what does not decode is the verdict of its claim alone.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quorate_claim {
    /// Its number: `quorate_suite`.
    pub suite: u32,
    /// What was signed: a `quorate_messages`. Another number makes the whole call fail with `QUORATE_CODE_CLAIMS`.
    pub kind: u32,
    /// The encoded public keys.
    pub public_keys: *const quorate_bytes,
    /// How many there are.
    pub public_key_count: usize,
    /// The messages: one, or one for each key, or none of a proof of possession.
    pub messages: *const quorate_bytes,
    /// How many there are. With another number than its kind has, a claim makes the whole call fail with `QUORATE_CODE_CLAIMS`. But with
    /// `QUORATE_MESSAGES_EACH` it gets the verdict `QUORATE_VERDICT_RULE`, and the others are verified.
    pub message_count: usize,
    /// The encoded signature, an aggregate if there are several keys.
    pub signature: quorate_bytes,
    /// Who sent the claim: any bytes, none if nobody is named. Equal bytes are one source, and the batcher bans by it.
    pub source: quorate_bytes,
}

/// Reads claims.
///
/// # Safety
/// As [`items`], for everything that is pointed to.
pub(super) unsafe fn claims(data: *const quorate_claim, count: usize) -> Result<Vec<ClaimBytes>, CallFailure> {
    // SAFETY: as the caller promises.
    let claims = unsafe { items("claims", data, count) }?.iter().enumerate();
    let read = claims.map(|(number, claim)| {
        // SAFETY: as the caller promises.
        unsafe { read(claim) }
            .map_err(|CallFailure { code, text }| CallFailure::new(code, format!("claim {number}: {text}")))
    });
    read.collect()
}

/// # Safety
/// As [`claims`].
pub(super) unsafe fn read(claim: &quorate_claim) -> Result<ClaimBytes, CallFailure> {
    let quorate_claim { suite, kind, public_keys, public_key_count, messages, message_count, signature, source } =
        *claim;
    let suite = suites::by_number(suite)?;
    // SAFETY: as the caller promises.
    unsafe {
        let keys = items("public_keys", public_keys, public_key_count)?;
        let keys = keys.iter().map(|key| Ok(items("public key", key.data, key.size)?.to_vec()));
        let messages = items("messages", messages, message_count)?;
        let messages = messages.iter().map(|message| Ok(items("message", message.data, message.size)?.into()));
        let messages = messages.collect::<Result<Vec<_>, CallFailure>>()?;
        let signature = items("signature", signature.data, signature.size)?.to_vec();
        let source = items("source", source.data, source.size)?;
        packed::made(suite, kind, keys.collect::<Result<_, CallFailure>>()?, messages, signature, source)
    }
}
