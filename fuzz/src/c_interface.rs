//! The C functions with any bytes. Claims have the verdicts that they have alone, however they are handed in: packed, as structures, as
//! rows of Arrow tables, and through a batcher, which may refuse them. A call that fails leaves every verdict undecided, and no handle.
//! What is read is written the same. Keys, sums, sets and secrets answer with a code, and what a secret signs is valid.

use std::{
    ffi::{c_char, c_void},
    ptr,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use arrow_array::{
    Array as _, ArrayRef, BinaryArray, RecordBatch, RecordBatchIterator, StringArray, StructArray,
    cast::AsArray as _,
    ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi},
    ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader},
};
use quorate::{AnySuite, ClaimBytes, Messages, Verdict};
use quorate_c::{Code, Engine, EngineOptions, Ruled, abi, packed};

/// Verifiers are made once.
static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(&EngineOptions::default()).expect("defaults"));

pub fn run(data: &[u8]) {
    let mut verifier = ptr::null_mut();
    // SAFETY: the pointer is that of a value that lives until the call is over.
    let code = unsafe { abi::quorate_verifier_new(ptr::null(), &mut verifier, ptr::null_mut()) };
    assert_eq!(code, 0);
    verdicts(verifier, data);
    keys(verifier, data);
    secrets(verifier, data);
    // SAFETY: it was made above, and nobody uses it any more.
    unsafe { abi::quorate_verifier_free(verifier) };
}

fn verdicts(verifier: *const abi::quorate_verifier, data: &[u8]) {
    let claims = packed::read(data);
    let count = claims.as_ref().map_or(3, Vec::len);
    let mut places = vec![Ruled::Valid as u8; count];
    let mut reasons = ptr::null_mut();
    let mut error = abi::quorate_error { code: -1, text: [1; 508] };
    // SAFETY: all pointers are those of values that live until the call is over, with their sizes.
    let code = unsafe {
        abi::quorate_verify_packed(
            verifier,
            data.as_ptr(),
            data.len(),
            count,
            false,
            places.as_mut_ptr(),
            &mut reasons,
            &mut error,
        )
    };
    assert_eq!(code, error.code);
    assert!(error.text.contains(&0), "the text ends");
    let Ok(claims) = claims else {
        assert!(code != 0 && reasons.is_null() && places.iter().all(|place| *place == Ruled::Undecided as u8));
        batch(data, &[], None, &mut places);
        return;
    };
    assert_eq!(code, 0);
    texts(reasons, &places);
    let mut written = Vec::new();
    claims.iter().for_each(|claim| packed::write(claim, &mut written).expect("what was read"));
    assert!(written == data, "what is read is written the same");
    let together = ENGINE.verify(&claims, false).expect("random numbers");
    let alone: Vec<_> = claims.iter().map(ClaimBytes::verify).collect();
    for ((alone, place), ruled) in alone.iter().zip(&places).zip(together.ruled()) {
        assert_eq!(*place, Ruled::from(*alone) as u8, "{alone}");
        assert_eq!(ruled, Ruled::from(*alone));
        assert!(*alone != Verdict::Invalid(quorate::Reason::Undecided));
    }
    planned(verifier, data);
    structures(verifier, data, &claims, &alone);
    tables(verifier, &claims, &alone);
}

/// Each verdict has a reason unless it is valid, and there is none beyond them. Frees the handle.
fn texts(reasons: *mut abi::quorate_verdicts, places: &[u8]) {
    let mut text: [c_char; 40] = [1; 40];
    for index in 0..=places.len() {
        let mut length = usize::MAX;
        // SAFETY: the handle is one that a call made, and the other pointers are those of values that live until the call is over.
        let code = unsafe {
            abi::quorate_verdicts_reason(reasons, index, text.as_mut_ptr(), 40, &mut length, ptr::null_mut())
        };
        let Some(place) = places.get(index) else {
            assert!(code != 0);
            break;
        };
        assert_eq!((code, length == 0), (0, *place == Ruled::Valid as u8));
        assert!(text.contains(&0), "the text ends");
    }
    // SAFETY: a call made it, and nobody uses it any more.
    unsafe { abi::quorate_verdicts_free(reasons) };
}

fn planned(verifier: *const abi::quorate_verifier, data: &[u8]) {
    let (mut text, mut length): ([c_char; 100], usize) = ([1; 100], 0);
    // SAFETY: all pointers are those of values that live until the call is over, with their sizes.
    let code = unsafe {
        abi::quorate_plan(verifier, data.as_ptr(), data.len(), text.as_mut_ptr(), 100, &mut length, ptr::null_mut())
    };
    assert_eq!(code, 0);
    assert!(text.contains(&0), "the text ends");
}

/// The same claims as structures.
fn structures(verifier: *const abi::quorate_verifier, data: &[u8], claims: &[ClaimBytes], alone: &[Verdict]) {
    let parts: Vec<_> = claims
        .iter()
        .map(|claim| {
            let keys = claim.public_keys.as_encoded().expect("packed claims have encoded keys");
            let (kind, messages) = match &claim.messages {
                Messages::Shared(message) => (0, vec![of(message)]),
                Messages::Each(messages) => (1, messages.iter().map(|message| of(message)).collect()),
                _ => (2, Vec::new()),
            };
            (kind, keys.iter().map(|key| of(key)).collect::<Vec<_>>(), messages)
        })
        .collect();
    let made: Vec<_> = claims
        .iter()
        .zip(&parts)
        .map(|(claim, (kind, keys, messages))| abi::quorate_claim {
            suite: number(claim.suite),
            kind: *kind,
            public_keys: keys.as_ptr(),
            public_key_count: keys.len(),
            messages: messages.as_ptr(),
            message_count: messages.len(),
            signature: of(&claim.signature),
            ..no_claim()
        })
        .collect();
    let mut places = vec![Ruled::Undecided as u8; made.len()];
    let (mut reasons, mut known) = (ptr::null_mut(), usize::MAX);
    // SAFETY: all pointers are those of values that live until the calls are over, with their sizes.
    unsafe {
        // Remembered, and then perhaps known.
        for _ in 0..2 {
            let (at, place) = (made.as_ptr(), places.as_mut_ptr());
            let code = abi::quorate_verify(verifier, at, made.len(), true, place, &mut reasons, ptr::null_mut());
            assert_eq!(code, 0);
            texts(reasons, &places);
            for (place, alone) in places.iter().zip(alone) {
                assert_eq!(*place, Ruled::from(*alone) as u8, "{alone}");
            }
        }
        assert_eq!(abi::quorate_verifier_known(verifier, &mut known, ptr::null_mut()), 0);
        assert!(known <= alone.iter().filter(|alone| **alone == Verdict::Valid).count());
        assert_eq!(abi::quorate_verifier_forget(verifier, ptr::null_mut()), 0);
    }
    batch(data, &made, Some(alone), &mut places);
}

/// The same by a batcher, which can refuse claims: each is answered once.
fn batch(data: &[u8], claims: &[abi::quorate_claim], alone: Option<&[Verdict]>, places: &mut [u8]) {
    unsafe extern "C" fn answered(user: *mut c_void, _: u8, _: *const c_char, _: usize) {
        // SAFETY: the counter below, which lives until the batcher is freed.
        unsafe { &*user.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
    }
    let options = abi::quorate_batcher_options {
        threads: 1,
        soundness: 0,
        backend: ptr::null(),
        backend_size: 0,
        linger_us: 1,
        target_us: 0,
        queue_us: 0,
        queue_bytes: 0,
    };
    let answers = AtomicUsize::new(0);
    let user = (&raw const answers).cast_mut().cast::<c_void>();
    let (mut batcher, mut handed_in) = (ptr::null_mut(), 0);
    // SAFETY: all pointers are those of values that live until the batcher is freed, with their sizes.
    unsafe {
        assert_eq!(abi::quorate_batcher_new(&options, &mut batcher, ptr::null_mut()), 0);
        let (at, size) = (data.as_ptr(), data.len());
        let code = abi::quorate_batcher_verify_packed(
            batcher,
            at,
            size,
            places.len(),
            2,
            0,
            places.as_mut_ptr(),
            ptr::null_mut(),
        );
        assert_eq!(code == 0, alone.is_some());
        for (index, place) in places.iter().enumerate() {
            let expected = alone.map_or(Ruled::Undecided, |alone| Ruled::from(alone[index]));
            assert!(
                *place == expected as u8 || alone.is_some() && *place >= Ruled::Overloaded as u8,
                "{place} of {expected:?}"
            );
        }
        for claim in claims {
            let code = abi::quorate_batcher_submit(batcher, claim, 1, 0, Some(answered), user, ptr::null_mut());
            assert_eq!(code, 0);
            handed_in += 1;
        }
        let code = abi::quorate_batcher_submit_packed(batcher, at, size, 0, 0, Some(answered), user, ptr::null_mut());
        assert_eq!(code == 0, alone.is_some() && claims.len() == 1);
        handed_in += usize::from(code == 0);
        assert_eq!(abi::quorate_batcher_stop(batcher, 0, ptr::null_mut()), 0);
        abi::quorate_batcher_free(batcher);
    }
    assert_eq!(answers.load(Ordering::Relaxed), handed_in, "each claim is answered once");
}

/// Claims of one key and one message are rows of a table: of a stream of two batches that are cut out of it, and of one array.
fn tables(verifier: *const abi::quorate_verifier, claims: &[ClaimBytes], alone: &[Verdict]) {
    let rows = claims.iter().zip(alone).filter_map(|(claim, alone)| {
        let Messages::Shared(message) = &claim.messages else { return None };
        let [key] = &claim.public_keys.as_encoded()?[..] else { return None };
        Some((claim, key, message, *alone == Verdict::Valid))
    });
    let rows: Vec<_> = rows.collect();
    let binary = |values: Vec<&[u8]>| -> ArrayRef { Arc::new(BinaryArray::from_iter_values(values)) };
    let suites = StringArray::from_iter_values(rows.iter().map(|(claim, ..)| claim.suite.name()));
    let table = RecordBatch::try_from_iter([
        ("suite", Arc::new(suites) as ArrayRef),
        ("public_key", binary(rows.iter().map(|(_, key, ..)| &key[..]).collect())),
        ("message", binary(rows.iter().map(|(_, _, message, _)| &message[..]).collect())),
        ("signature", binary(rows.iter().map(|(claim, ..)| &claim.signature[..]).collect())),
    ]);
    let table = table.expect("columns of one length");
    let expected: Vec<_> = rows.iter().map(|(.., valid)| Some(*valid)).collect();

    let half = rows.len() / 2;
    let parts = [table.slice(0, half), table.slice(half, rows.len() - half)];
    let reader = RecordBatchIterator::new(parts.map(Ok), table.schema());
    let mut claims = FFI_ArrowArrayStream::new(Box::new(reader));
    let mut ruled = FFI_ArrowArrayStream::empty();
    // SAFETY: all pointers are those of values that live until the call is over.
    let code = unsafe { abi::quorate_verify_arrow(verifier, 0, &mut claims, &mut ruled, ptr::null_mut()) };
    assert_eq!(code, 0);
    assert!(claims.release().is_none());
    let batches = RecordBatchStreamReader::try_new(ruled).expect("a stream");
    let valid = batches.flat_map(|batch| {
        let batch = batch.expect("a batch");
        batch["valid"].as_boolean().iter().collect::<Vec<_>>()
    });
    assert_eq!(valid.collect::<Vec<_>>(), expected);

    let (mut claims, mut schema) = to_ffi(&StructArray::from(table).to_data()).expect("an array");
    let (mut ruled, mut fields) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
    // SAFETY: all pointers are those of values that live until the call is over.
    let code = unsafe {
        abi::quorate_verify_arrow_array(verifier, 0, &mut claims, &mut schema, &mut ruled, &mut fields, ptr::null_mut())
    };
    assert_eq!(code, 0);
    assert!(claims.is_released() && schema.release().is_none());
    // SAFETY: the call has written both.
    let ruled = StructArray::from(unsafe { from_ffi(ruled, &fields) }.expect("an array"));
    assert_eq!(ruled["valid"].as_boolean().iter().collect::<Vec<_>>(), expected);
}

fn of(bytes: &[u8]) -> abi::quorate_bytes {
    abi::quorate_bytes { data: bytes.as_ptr(), size: bytes.len() }
}

fn number(suite: AnySuite) -> u32 {
    let (name, mut number) = (suite.name(), 0);
    // SAFETY: all pointers are those of values that live until the call is over, with their sizes.
    let code = unsafe { abi::quorate_suite(name.as_ptr().cast(), name.len(), &mut number, ptr::null_mut()) };
    assert_eq!(code, 0);
    number
}

/// The first byte is a suite, and the rest is keys, signatures, proofs, bitmaps and messages.
fn keys(verifier: *const abi::quorate_verifier, data: &[u8]) {
    let Some((suite, bytes)) = data.split_first() else { return };
    let (suite, size) = (u32::from(*suite), bytes.len());
    let (mut out, mut same, mut set) = ([0; 192], [0; 192], ptr::null_mut());
    let (at, sum, again) = (bytes.as_ptr(), out.as_mut_ptr(), same.as_mut_ptr());
    let (all, null) = (of(bytes), ptr::null_mut());
    // SAFETY: all pointers are those of values that live until the calls are over, with their sizes.
    unsafe {
        let checked = abi::quorate_check_public_key(suite, at, size, null);
        let signature = abi::quorate_check_signature(suite, at, size, null);
        let added = abi::quorate_aggregate(suite, at, size, sum, 192, null);
        let checked_before = abi::quorate_aggregate_checked(suite, at, size, again, 192, null);
        assert!(signature != 0 || added == checked_before);
        assert!(added != 0 || sum.cast::<[u8; 192]>().read() == again.cast::<[u8; 192]>().read());
        let added = abi::quorate_aggregate_public_keys(suite, at, size, sum, 192, null);
        let by_verifier = abi::quorate_verifier_aggregate_public_keys(verifier, suite, at, size, again, 192, null);
        assert_eq!(added == 0, by_verifier == 0);
        abi::quorate_subtract(suite, all, all, sum, 192, null);

        let (mut key, mut signature) = (0, 0);
        let is_suite = abi::quorate_suite_lengths(suite, &mut key, &mut signature, null) == 0;
        let mut number = 0;
        abi::quorate_suite(at.cast(), size, &mut number, null);
        let mut verdict = Ruled::Valid as u8;
        let code = abi::quorate_verify_one(verifier, suite, all, all, all, &mut verdict, ptr::null_mut(), null);
        assert_eq!((code == 0, verdict == Ruled::Undecided as u8), (is_suite, !is_suite));

        let made = abi::quorate_key_set_new(suite, &mut set, null) == 0;
        assert_eq!((made, set.is_null()), (is_suite, !is_suite));
        if made {
            let pushed = abi::quorate_key_set_push(set, at, size, size.is_multiple_of(2), null);
            assert!(checked != 0 || pushed == 0, "a key that is one can be a member");
            let mut members = usize::MAX;
            assert_eq!(abi::quorate_key_set_members(set, &mut members, null), 0);
            assert!(pushed == 0 || members == 0);
            abi::quorate_key_set_sum(set, at, size, sum, 192, null);
            let mut proven = true;
            let code = abi::quorate_key_set_prove(set, size % 3, at, size, &mut proven, null);
            assert!(code == 0 || !proven);
            let mut verdict = Ruled::Valid as u8;
            let code = abi::quorate_key_set_verify(set, all, all, all, &mut verdict, ptr::null_mut(), null);
            assert!(code == 0 || verdict == Ruled::Undecided as u8);
            // No bitmap and no index makes a call fail, but the number of a set that is gone.
            let mut key_set = 0;
            assert_eq!(abi::quorate_key_set_number(set, &mut key_set, null), 0);
            let claim =
                abi::quorate_claim { suite, messages: &all, message_count: 1, signature: all, key_set, ..no_claim() };
            let indices: Vec<u32> = bytes.iter().map(|byte| u32::from(*byte)).collect();
            let by_index = (indices.as_ptr(), indices.len());
            let claims = [
                abi::quorate_claim { members: all, ..claim },
                abi::quorate_claim { indices: by_index.0, index_count: by_index.1, ..claim },
            ];
            let mut verdicts = [Ruled::Valid as u8; 2];
            let place = verdicts.as_mut_ptr();
            assert_eq!(abi::quorate_verify(verifier, claims.as_ptr(), 2, false, place, ptr::null_mut(), null), 0);
            assert!(!verdicts.contains(&(Ruled::Undecided as u8)));
            abi::quorate_key_set_free(set);
            let code = abi::quorate_verify(verifier, claims.as_ptr(), 2, false, place, ptr::null_mut(), null);
            assert_eq!((code, verdicts), (Code::Handle as i32, [Ruled::Undecided as u8; 2]));
        }
    }
}

/// The first byte is a suite, and the rest is a secret, the material of another, and what they sign.
fn secrets(verifier: *const abi::quorate_verifier, data: &[u8]) {
    let Some((suite, bytes)) = data.split_first() else { return };
    let (suite, size) = (u32::from(*suite), bytes.len());
    let (mut scalar, mut secret, null) = ([0; 32], ptr::null_mut(), ptr::null_mut());
    let at = bytes.as_ptr();
    // SAFETY: all pointers are those of values that live until the calls are over, with their sizes.
    unsafe {
        if abi::quorate_secret_key_from_bytes(suite, at, size, &mut secret, null) == 0 {
            assert_eq!(abi::quorate_secret_key_to_bytes(secret, scalar.as_mut_ptr(), 32, null), 0);
            assert_eq!(&scalar[..], bytes);
            abi::quorate_secret_key_free(secret);
        }
        if abi::quorate_secret_key_derive(suite, of(bytes), of(&[]), &mut secret, null) == 0 {
            signs(verifier, suite, secret, bytes);
            abi::quorate_secret_key_free(secret);
        }
        if abi::quorate_secret_key_generate(suite, &mut secret, null) == 0 {
            signs(verifier, suite, secret, &bytes[..size.min(32)]);
            abi::quorate_secret_key_free(secret);
        }
    }
}

/// Zeros, which say nothing.
fn no_claim() -> abi::quorate_claim {
    abi::quorate_claim {
        suite: 0,
        kind: 0,
        public_keys: ptr::null(),
        public_key_count: 0,
        messages: ptr::null(),
        message_count: 0,
        signature: of(&[]),
        source: of(&[]),
        key_set: 0,
        members: of(&[]),
        indices: ptr::null(),
        index_count: 0,
    }
}

/// A signature is valid, and so is a proof, unless the suite has none of this message.
///
/// # Safety
/// The secret is one that a call made, of this suite.
unsafe fn signs(
    verifier: *const abi::quorate_verifier,
    suite: u32,
    secret: *const abi::quorate_secret_key,
    message: &[u8],
) {
    let (mut key, mut signature, mut proof) = ([0; 192], [0; 192], [0; 192]);
    let (mut key_length, mut length, mut verdict, null) = (0, 0, 0, ptr::null_mut());
    // SAFETY: as the caller promises, and all pointers are those of values that live until the calls are over, with their sizes.
    unsafe {
        assert_eq!(abi::quorate_suite_lengths(suite, &mut key_length, &mut length, null), 0);
        assert_eq!(abi::quorate_secret_key_public_key(secret, key.as_mut_ptr(), key_length, null), 0);
        assert_eq!(abi::quorate_check_public_key(suite, key.as_ptr(), key_length, null), 0);
        let (at, size) = (message.as_ptr(), message.len());
        let key = of(&key[..key_length]);
        if abi::quorate_secret_key_sign(secret, at, size, signature.as_mut_ptr(), length, null) == 0 {
            let signature = of(&signature[..length]);
            let code = abi::quorate_verify_one(
                verifier,
                suite,
                key,
                of(message),
                signature,
                &mut verdict,
                ptr::null_mut(),
                null,
            );
            // In BDN suites the signature of a claim has its key's coefficient.
            let is_bdn = suite == 9 || suite == 25;
            assert!(code == 0 && (is_bdn || verdict == Ruled::Valid as u8), "{code}, {verdict}");
        }
        if abi::quorate_secret_key_prove(secret, proof.as_mut_ptr(), length, null) == 0 {
            let claim = abi::quorate_claim {
                suite,
                kind: 2,
                public_keys: &key,
                public_key_count: 1,
                messages: ptr::null(),
                message_count: 0,
                signature: of(&proof[..length]),
                ..no_claim()
            };
            let code = abi::quorate_verify(verifier, &claim, 1, false, &mut verdict, ptr::null_mut(), null);
            assert_eq!((code, verdict), (0, Ruled::Valid as u8));
        }
    }
}
