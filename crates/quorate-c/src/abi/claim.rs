//! Claims as structures.

use quorate::{Bitmap, ClaimBytes, Members, PublicKeys};

use super::memory::{items, quorate_bytes};
use crate::{
    fault::{CallFailure, Code},
    packed, sets, suites,
};

/// A claim: these keys signed these messages, and this is the sum of their signatures. The keys stand in it, or it names members of a key
/// set. Zeros are no claim, but no danger either.
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
    /// In the place of keys: the number of a set of this variant, `quorate_key_set_number`; 0 for none. The claim is about the set as it is
    /// when the function is called. If the set is freed, the whole call fails with `QUORATE_CODE_HANDLE`.
    pub key_set: u64,
    /// Its members who signed, as a bitmap: bit i, counted from the lowest bit of the first byte, is the member with index i. Zeros at the
    /// end stand for nobody. A member that the set does not have is the verdict `QUORATE_VERDICT_KEY_SET` of this claim alone.
    pub members: quorate_bytes,
    /// Or their indices, in any order. An index may repeat, and each counts: do not take their number for that of the members. In a BDN
    /// suite a repeated one is the verdict `QUORATE_VERDICT_RULE`.
    pub indices: *const u32,
    /// How many there are. With members and indices, or with members and keys, the whole call fails with `QUORATE_CODE_CLAIMS`.
    pub index_count: usize,
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
    let quorate_claim { suite, kind, messages, message_count, signature, source, .. } = *claim;
    let suite = suites::by_number(suite)?;
    // SAFETY: as the caller promises.
    unsafe {
        let keys = signers(claim)?;
        let messages = items("messages", messages, message_count)?;
        let messages = messages.iter().map(|message| Ok(items("message", message.data, message.size)?.into()));
        let messages = messages.collect::<Result<Vec<_>, CallFailure>>()?;
        let signature = items("signature", signature.data, signature.size)?.to_vec();
        let source = items("source", source.data, source.size)?;
        packed::made(suite, kind, keys, messages, signature, source)
    }
}

/// The keys of a claim: encoded, or those of members of a set.
///
/// # Safety
/// As [`claims`].
unsafe fn signers(claim: &quorate_claim) -> Result<PublicKeys, CallFailure> {
    let quorate_claim { public_keys, public_key_count, key_set, members, indices, index_count, .. } = *claim;
    // SAFETY: as the caller promises.
    let (keys, members, indices) = unsafe {
        (
            items("public_keys", public_keys, public_key_count)?,
            items("members", members.data, members.size)?,
            items("indices", indices, index_count)?,
        )
    };
    let wrong = |text| Err(CallFailure::new(Code::Claims, text));
    match (key_set, members.is_empty(), indices.is_empty()) {
        (0, true, true) => {
            // SAFETY: as the caller promises.
            let keys = keys.iter().map(|key| Ok(unsafe { items("public key", key.data, key.size) }?.to_vec()));
            Ok(keys.collect::<Result<Vec<_>, CallFailure>>()?.into())
        }
        (0, ..) => wrong("members are named, but no key set; give its number in key_set"),
        _ if !keys.is_empty() => wrong("public_keys and key_set are both given; keep one of them"),
        (_, false, false) => wrong("members and indices are both given; keep one of them"),
        (_, _, true) => sets::public_keys(key_set, Members::Bitmap(Bitmap::from_le_bytes(members))),
        _ => sets::public_keys(key_set, Members::Indices(indices.to_vec())),
    }
}
