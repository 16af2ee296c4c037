//! Keys and signatures one by one, and their sums.

use super::memory::{free, give, guarded, items, none, of, put_bytes, quorate_bytes, quorate_error};
use crate::{
    fault::CallFailure,
    suites,
    verbs::{self, Signer, SuiteVerbs},
};

/// A secret key. It is wiped when it is freed, and constant-time code alone computes with it. Any number of threads can use one.
pub struct quorate_secret_key(Box<dyn Signer>);

/// The verbs of a suite.
fn verbs(suite: u32) -> Result<Box<dyn SuiteVerbs>, CallFailure> {
    Ok(verbs::of(suites::by_number(suite)?))
}

/// Whether bytes are a public key of a suite: canonical, in the subgroup, not the identity. `QUORATE_CODE_ENCODING` if not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_check_public_key(
    suite: u32,
    key: *const u8,
    size: usize,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || verbs(suite)?.check_public_key(unsafe { items("key", key, size) }?))
}

/// Whether bytes are a signature of a suite: canonical, in the subgroup. It says nothing about who signed what.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_check_signature(
    suite: u32,
    signature: *const u8,
    size: usize,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || verbs(suite)?.check_signature(unsafe { items("signature", signature, size) }?))
}

/// The sum of signatures, which stand one after another: `size` is that of all. `sum_size` is the room at `sum`, which must be at
/// least that of a signature. All are checked, and the sum says nothing about whether any is valid. `QUORATE_CODE_ENCODING` if one does not
/// decode or is cut, `QUORATE_CODE_MISUSE` for no signatures, and in a BDN suite, where each signature needs its key:
/// `quorate_bdn_aggregate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_aggregate(
    suite: u32,
    signatures: *const u8,
    size: usize,
    sum: *mut u8,
    sum_size: usize,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe { put_bytes("sum", sum, sum_size, &verbs(suite)?.aggregate(items("signatures", signatures, size)?)?) }
    })
}

/// The same of signatures that `quorate_check_signature` has accepted: whether they are in the subgroup is not checked again. Its answer
/// about others means nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_aggregate_checked(
    suite: u32,
    signatures: *const u8,
    size: usize,
    sum: *mut u8,
    sum_size: usize,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            put_bytes("sum", sum, sum_size, &verbs(suite)?.aggregate_checked(items("signatures", signatures, size)?)?)
        }
    })
}

/// The aggregate of a BDN suite: the signature of several keys over one message, with the coefficients of exactly these keys. Keys and
/// signatures stand one after another, and the signature of each key at its place. All are checked, but not whether each signature is valid:
/// verify them first, as claims of one key, or a false one spoils the aggregate. Verify it by a claim of these keys, in any order.
/// `QUORATE_CODE_MISUSE` in another suite, for none, for other numbers of keys than of signatures, and if a key stands there twice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_bdn_aggregate(
    suite: u32,
    keys: quorate_bytes,
    signatures: quorate_bytes,
    aggregate: *mut u8,
    aggregate_size: usize,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            let keys = items("keys", keys.data, keys.size)?;
            let signatures = items("signatures", signatures.data, signatures.size)?;
            put_bytes("aggregate", aggregate, aggregate_size, &verbs(suite)?.bdn_aggregate(keys, signatures)?)
        }
    })
}

/// The sum of public keys, which stand one after another; in a BDN suite with its coefficients. It is as long as a public key. All are
/// checked. In the other suites rely on it only if the owner of each key has shown that it holds the secret. `QUORATE_CODE_ENCODING` if one
/// does not decode or is cut, `QUORATE_CODE_MISUSE` for no keys, if they add up to the identity, in a BDN suite if one stands there twice, and
/// under `eigenlayer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_aggregate_public_keys(
    suite: u32,
    keys: *const u8,
    size: usize,
    sum: *mut u8,
    sum_size: usize,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe { put_bytes("sum", sum, sum_size, &verbs(suite)?.aggregate_public_keys(items("keys", keys, size)?)?) }
    })
}

/// A sum of signatures without some of its parts, which stand one after another. That they are parts of it is the caller's knowledge. Without
/// parts it is the sum. `QUORATE_CODE_ENCODING` if one does not decode or is cut, `QUORATE_CODE_MISUSE` in a BDN suite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_subtract(
    suite: u32,
    sum: quorate_bytes,
    parts: quorate_bytes,
    rest: *mut u8,
    rest_size: usize,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            let (sum, parts) = (items("sum", sum.data, sum.size)?, items("parts", parts.data, parts.size)?);
            put_bytes("rest", rest, rest_size, &verbs(suite)?.subtract(sum, parts)?)
        }
    })
}

/// Makes a new secret key from the random numbers of the operating system. Free it by `quorate_secret_key_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_secret_key_generate(
    suite: u32,
    secret: *mut *mut quorate_secret_key,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || unsafe {
        none(secret);
        give(secret, quorate_secret_key(verbs(suite)?.generate()?))
    })
}

/// Derives a secret key from at least 32 bytes of key material: `KeyGen` of draft-irtf-cfrg-bls-signature-05, in the suite `chia` that of
/// draft 3. `info` may be empty. The caller wipes the material. `QUORATE_CODE_ENCODING` for material that is too short. Free the key by
/// `quorate_secret_key_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_secret_key_derive(
    suite: u32,
    material: quorate_bytes,
    info: quorate_bytes,
    secret: *mut *mut quorate_secret_key,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            none(secret);
            let (material, info) =
                (items("material", material.data, material.size)?, items("info", info.data, info.size)?);
            give(secret, quorate_secret_key(verbs(suite)?.derive(material, info)?))
        }
    })
}

/// Reads a secret key: 32 bytes, big-endian, from 1 to the order of the group less one; others are `QUORATE_CODE_ENCODING`. The caller wipes
/// its copy. Free the key by `quorate_secret_key_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_secret_key_from_bytes(
    suite: u32,
    bytes: *const u8,
    size: usize,
    secret: *mut *mut quorate_secret_key,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || unsafe {
        none(secret);
        give(secret, quorate_secret_key(verbs(suite)?.secret(items("bytes", bytes, size)?)?))
    })
}

/// Writes the 32 bytes of a secret key, big-endian. The caller wipes them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_secret_key_to_bytes(
    secret: *const quorate_secret_key,
    bytes: *mut u8,
    size: usize,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || unsafe { put_bytes("bytes", bytes, size, &*of("secret", secret)?.0.to_bytes()) })
}

/// Writes the public key of a secret. `size` is the room at `key`, which must be at least that of a key of its suite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_secret_key_public_key(
    secret: *const quorate_secret_key,
    key: *mut u8,
    size: usize,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || unsafe { put_bytes("key", key, size, &of("secret", secret)?.0.public_key()) })
}

/// Signs a message. `size` is the room at `signature`, which must be at least that of a signature. `QUORATE_CODE_MISUSE` if the suite signs no
/// such message: `eigenlayer` signs 32 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_secret_key_sign(
    secret: *const quorate_secret_key,
    message: *const u8,
    message_size: usize,
    signature: *mut u8,
    size: usize,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            let signed = of("secret", secret)?.0.sign(items("message", message, message_size)?)?;
            put_bytes("signature", signature, size, &signed)
        }
    })
}

/// Proves that the owner of the public key holds its secret. The proof is as long as a signature. Verify it by a claim of the kind
/// `QUORATE_MESSAGES_POSSESSION`. `QUORATE_CODE_MISUSE` in suites without such proofs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_secret_key_prove(
    secret: *const quorate_secret_key,
    proof: *mut u8,
    size: usize,
    error: *mut quorate_error,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    guarded(error, || unsafe { put_bytes("proof", proof, size, &of("secret", secret)?.0.prove()?) })
}

/// Wipes and frees a secret key. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_secret_key_free(secret: *mut quorate_secret_key) {
    // SAFETY: the caller keeps to the header.
    unsafe { free(secret) }
}
