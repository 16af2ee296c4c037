//! Tables through the C stream interface of Arrow.

use std::{mem, ptr, sync::Arc};

use arrow_array::{
    ArrayRef, BinaryArray, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray, UInt64Array,
    cast::AsArray,
    ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader},
};
use quorate::{MinPk, SecretKey};
use quorate_c::{
    Code,
    abi::{quorate_error, quorate_verifier, quorate_verifier_free, quorate_verifier_new, quorate_verify_arrow},
};

fn table(rows: &[u8], signed: impl Fn(u8) -> u8) -> RecordBatch {
    let secret = |row: u8| SecretKey::key_gen(MinPk::Eth2, &[row; 32], b"").expect("long enough");
    let keys: Vec<_> = rows.iter().map(|row| secret(*row).public_key().to_bytes().to_vec()).collect();
    let messages: Vec<_> = rows.iter().map(|row| vec![*row]).collect();
    let signatures: Vec<_> =
        rows.iter().map(|row| secret(*row).sign(MinPk::Eth2, &[signed(*row)]).to_bytes().to_vec()).collect();
    let binary = |values: Vec<Vec<u8>>| Arc::new(BinaryArray::from_iter_values(values)) as ArrayRef;
    let columns = [("public_key", binary(keys)), ("message", binary(messages)), ("signature", binary(signatures))];
    RecordBatch::try_from_iter(columns).expect("a table")
}

fn stream(batches: Vec<RecordBatch>) -> FFI_ArrowArrayStream {
    let schema = batches[0].schema();
    let batches: Box<dyn RecordBatchReader + Send> =
        Box::new(RecordBatchIterator::new(batches.into_iter().map(Ok), schema));
    FFI_ArrowArrayStream::new(batches)
}

/// The code, the error's text, and the verdicts.
fn verify(suite: u32, batches: Vec<RecordBatch>) -> (i32, String, Vec<RecordBatch>) {
    verify_stream(suite, stream(batches))
}

/// The same of a stream, which is released then.
fn verify_stream(suite: u32, mut claims: FFI_ArrowArrayStream) -> (i32, String, Vec<RecordBatch>) {
    let mut verifier: *mut quorate_verifier = ptr::null_mut();
    let mut error = quorate_error { code: -1, text: [0; 508] };
    let mut verdicts = FFI_ArrowArrayStream::empty();
    // SAFETY: all pointers are those of values that live until the call is over.
    let code = unsafe {
        assert_eq!(quorate_verifier_new(ptr::null(), &mut verifier, &mut error), 0);
        let code = quorate_verify_arrow(verifier, suite, &mut claims, &mut verdicts, &mut error);
        quorate_verifier_free(verifier);
        code
    };
    assert!(RecordBatchStreamReader::try_new(claims).is_err(), "a released stream gives nothing");
    let text = error.text.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8 as char).collect();
    if code != 0 {
        return (code, text, Vec::new());
    }
    let batches = RecordBatchStreamReader::try_new(verdicts).expect("a stream");
    (code, text, batches.map(|batch| batch.expect("a batch")).collect())
}

#[test]
fn rows_get_verdicts_in_order() {
    let rows: Vec<_> = (0..40).collect();
    let (code, text, verdicts) = verify(1, vec![table(&rows[..25], |row| row), table(&rows[25..], |row| row.max(30))]);
    assert_eq!((code, text.as_str()), (0, ""));
    assert_eq!(verdicts.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [25, 15], "a batch for each batch");
    let valid: Vec<_> = verdicts.iter().flat_map(|batch| batch["valid"].as_boolean().iter()).collect();
    assert_eq!(valid.len(), 40);
    for (row, valid) in valid.into_iter().enumerate() {
        assert_eq!(valid, Some(!(25..30).contains(&row)), "{row}");
    }
    let reasons: Vec<_> = verdicts.iter().flat_map(|batch| batch["reason"].as_string::<i32>().iter()).collect();
    assert_eq!(reasons[0], None);
    assert_eq!(reasons[27], Some("the signature does not match the keys and messages"));
}

#[test]
fn tables_that_are_none_of_claims_are_errors() {
    let (code, text, _) = verify(0, vec![table(&[1], |row| row)]);
    assert_eq!(code, 0, "{text}");
    let other = RecordBatch::try_from_iter([("name", Arc::new(StringArray::from(vec!["x"])) as ArrayRef)]);
    let (code, text, _) = verify(1, vec![other.expect("a table")]);
    assert_eq!(code, Code::Claims as i32, "{text}");
    let (code, text, _) = verify(99, vec![table(&[1], |row| row)]);
    assert_eq!((code, text.as_str()), (Code::Suite as i32, "there is no suite with the number 99"));
}

/// Without its function a stream made the library panic, which is a fault of the library and not of the table.
#[test]
fn a_stream_that_has_no_next_batch_is_an_error() {
    let whole = stream(vec![table(&[1], |row| row)]);
    let (schema, error) = (whole.get_schema(), whole.get_last_error());
    let (release, data) = (whole.release(), whole.private_data());
    mem::forget(whole);
    // SAFETY: all that is there is of one stream, which is forgotten.
    let claims = unsafe { FFI_ArrowArrayStream::new_unchecked(schema, None, error, release, data) };
    let (code, text, _) = verify_stream(1, claims);
    assert_eq!((code, text.as_str()), (Code::Claims as i32, "claims: the stream has no get_next"));
    let (code, text, _) = verify_stream(1, FFI_ArrowArrayStream::empty());
    assert_eq!((code, text.contains("already released")), (Code::Claims as i32, true), "{text}");
}

#[test]
fn the_claims_are_released_also_if_nothing_can_be_answered() {
    let mut verifier: *mut quorate_verifier = ptr::null_mut();
    let mut claims = stream(vec![table(&[1], |row| row)]);
    // SAFETY: all pointers are null, or those of values that live until the calls are over.
    unsafe {
        assert_eq!(quorate_verifier_new(ptr::null(), &mut verifier, ptr::null_mut()), 0);
        let code = quorate_verify_arrow(verifier, 1, &mut claims, ptr::null_mut(), ptr::null_mut());
        quorate_verifier_free(verifier);
        assert_eq!(code, Code::Null as i32);
    }
    assert!(RecordBatchStreamReader::try_new(claims).is_err(), "a released stream gives nothing");
}

#[test]
fn a_call_that_fails_leaves_a_released_stream() {
    let mut verifier: *mut quorate_verifier = ptr::null_mut();
    // What stands in a place that a program has not initialized. Nothing releases it.
    let mut verdicts = stream(vec![table(&[1], |row| row)]);
    // SAFETY: all pointers are null, or those of values that live until the calls are over.
    unsafe {
        assert_eq!(quorate_verifier_new(ptr::null(), &mut verifier, ptr::null_mut()), 0);
        let code = quorate_verify_arrow(verifier, 1, ptr::null_mut(), &mut verdicts, ptr::null_mut());
        quorate_verifier_free(verifier);
        assert_eq!(code, Code::Null as i32);
    }
    assert!(RecordBatchStreamReader::try_new(verdicts).is_err(), "a released stream gives nothing");
}

/// A row that names no suite has no claim without one of the caller's, and is not valid.
#[test]
fn a_row_without_a_suite_is_not_valid() {
    let (_, _, verdicts) = verify(0, vec![table(&[1], |row| row)]);
    assert!(!verdicts[0]["valid"].as_boolean().value(0));
    assert!(verdicts[0]["reason"].as_string::<i32>().value(0).starts_with("the claim names no suite"));
}

/// The reasons are those of the command line and of the other packages.
#[test]
fn what_a_chain_refutes_is_not_valid() {
    let claims = table(&[1, 2], |row| row);
    let texts = |values: [Option<&str>; 2]| Arc::new(StringArray::from_iter(values)) as ArrayRef;
    let of_chain = [
        ("kind", texts([Some("exit"), Some("exit")])),
        ("slot", Arc::new(UInt64Array::from(vec![7, 8]))),
        ("index", texts([Some("0"), Some("1")])),
        ("reason", texts([None, Some("validator: found 9")])),
    ];
    let schema = claims.schema();
    let columns = schema.fields().iter().map(|field| field.name().as_str()).zip(claims.columns().iter().cloned());
    let claims = RecordBatch::try_from_iter(columns.chain(of_chain)).expect("a table");
    let (code, text, verdicts) = verify(1, vec![claims]);
    assert_eq!((code, text.as_str()), (0, ""));
    assert_eq!(verdicts[0]["valid"].as_boolean().iter().collect::<Vec<_>>(), [Some(true), Some(false)]);
    let reasons: Vec<_> = verdicts[0]["reason"].as_string::<i32>().iter().collect();
    assert_eq!(reasons, [None, Some("chain: validator: found 9")]);
}
