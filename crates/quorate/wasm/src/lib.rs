//! Claims in, verdicts out, in a WebAssembly engine: a program without imports. `test.mjs` is its host.
//!
//! The host puts a list of byte strings into the program's memory. A list is each length, of 4 bytes from the lowest, and the bytes.
//! Of a claim it has the suite's name, the number of keys in 4 bytes, the keys, the messages, and at its end the signature.

use std::cell::RefCell;

use quorate::{AnySuite, ClaimBytes, Messages, Options, Verdict, Verifier};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

thread_local! {
    /// The claims that wait for their verdicts.
    static CLAIMS: RefCell<Vec<ClaimBytes>> = const { RefCell::new(Vec::new()) };
    /// What the host writes, and then what it reads.
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Where the host writes so many bytes. The place is good until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    BYTES.with_borrow_mut(|bytes| {
        bytes.clear();
        bytes.resize(length, 0);
        bytes.as_mut_ptr()
    })
}

/// Adds the claim that the host has written. False if it is no claim.
#[unsafe(no_mangle)]
pub extern "C" fn push() -> bool {
    let claim = BYTES.with_borrow(|bytes| claim(&strings(bytes)?));
    claim.map(|claim| CLAIMS.with_borrow_mut(|claims| claims.push(claim))).is_some()
}

/// Verifies the claims together, and forgets them. The host has written a seed of 32 bytes, which nobody may foresee; without
/// one there is no answer. Returns the length of the answer, which stands where [`answer`] says: a byte for each claim, one if it is valid.
#[unsafe(no_mangle)]
pub extern "C" fn verify() -> usize {
    BYTES.with_borrow_mut(|bytes| {
        let claims = CLAIMS.take();
        let Ok(seed) = <[u8; 32]>::try_from(&bytes[..]) else { return 0 };
        let outcome = Verifier::new(Options::default()).verify(&claims, &mut ChaCha20Rng::from_seed(seed));
        *bytes = outcome.verdicts.iter().map(|verdict| u8::from(verdict.is_valid())).collect();
        bytes.len()
    })
}

/// Verifies the last claim alone, which needs no seed. It stays. Returns the length of the verdict's text.
#[unsafe(no_mangle)]
pub extern "C" fn verify_last() -> usize {
    let verdict = CLAIMS.with_borrow(|claims| claims.last().map(ClaimBytes::verify));
    let text = verdict.map_or_else(|| "no claim".to_owned(), |verdict: Verdict| verdict.to_string());
    BYTES.with_borrow_mut(|bytes| {
        *bytes = text.into_bytes();
        bytes.len()
    })
}

/// Where the answer stands, until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    BYTES.with_borrow(|bytes| bytes.as_ptr())
}

/// The byte strings of a list.
fn strings(mut list: &[u8]) -> Option<Vec<&[u8]>> {
    let mut strings = Vec::new();
    while !list.is_empty() {
        let (length, rest) = list.split_first_chunk()?;
        let (string, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        strings.push(string);
        list = rest;
    }
    Some(strings)
}

fn claim(strings: &[&[u8]]) -> Option<ClaimBytes> {
    let [suite, keys, parts @ .., signature] = strings else { return None };
    let (keys, messages) = parts.split_at_checked(u32::from_le_bytes((*keys).try_into().ok()?) as usize)?;
    let suite: AnySuite = std::str::from_utf8(suite).ok()?.parse().ok()?;
    let messages = match messages {
        [shared] => Messages::Shared((*shared).into()),
        each => Messages::Each(each.iter().map(|message| (*message).into()).collect()),
    };
    let public_keys = keys.iter().map(|key| key.to_vec()).collect();
    Some(ClaimBytes { suite, public_keys, messages, signature: signature.to_vec(), source: None })
}
