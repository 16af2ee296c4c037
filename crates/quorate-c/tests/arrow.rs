//! Tables through the C data and stream interfaces of Arrow.

use std::{
    ffi::{c_int, c_void},
    mem, ptr,
    sync::Arc,
};

use arrow_array::{
    Array as _, ArrayRef, BinaryArray, BinaryViewArray, RecordBatch, RecordBatchIterator, RecordBatchReader,
    StringArray, StructArray, UInt64Array,
    cast::AsArray,
    ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi},
    ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader},
};
use quorate::{MinPk, SecretKey};
use quorate_c::{
    Code,
    abi::{
        quorate_error, quorate_verifier, quorate_verifier_free, quorate_verifier_new, quorate_verify_arrow,
        quorate_verify_arrow_array,
    },
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
    if code != 0 {
        return (code, text_of(&error), Vec::new());
    }
    let batches = RecordBatchStreamReader::try_new(verdicts).expect("a stream");
    (code, text_of(&error), batches.map(|batch| batch.expect("a batch")).collect())
}

fn text_of(error: &quorate_error) -> String {
    error.text.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8 as char).collect()
}

/// The same of one array with its schema, which are released then.
fn verify_array(
    suite: u32,
    mut claims: FFI_ArrowArray,
    mut schema: FFI_ArrowSchema,
) -> (i32, String, Option<StructArray>) {
    let mut verifier: *mut quorate_verifier = ptr::null_mut();
    let mut error = quorate_error { code: -1, text: [0; 508] };
    let (mut verdicts, mut fields) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
    // SAFETY: all pointers are those of values that live until the call is over.
    let code = unsafe {
        assert_eq!(quorate_verifier_new(ptr::null(), &mut verifier, &mut error), 0);
        let code = quorate_verify_arrow_array(
            verifier,
            suite,
            &mut claims,
            &mut schema,
            &mut verdicts,
            &mut fields,
            &mut error,
        );
        quorate_verifier_free(verifier);
        code
    };
    assert!(claims.is_released() && schema.release().is_none());
    assert_eq!((verdicts.is_released(), fields.release().is_none()), (code != 0, code != 0));
    if code != 0 {
        return (code, text_of(&error), None);
    }
    // SAFETY: the call has written both.
    let verdicts = unsafe { from_ffi(verdicts, &fields) }.expect("an array");
    (code, text_of(&error), Some(StructArray::from(verdicts)))
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
fn one_array_of_rows_gets_one_of_verdicts() {
    let array = |rows: &[u8]| {
        let rows = StructArray::from(table(rows, |row| row.max(1)));
        to_ffi(&rows.to_data()).expect("an array")
    };
    let (claims, schema) = array(&[0, 1, 2]);
    let (code, text, verdicts) = verify_array(1, claims, schema);
    assert_eq!((code, text.as_str()), (0, ""));
    let verdicts = verdicts.expect("an array");
    assert_eq!(verdicts["valid"].as_boolean().iter().collect::<Vec<_>>(), [Some(false), Some(true), Some(true)]);
    assert_eq!(verdicts["reason"].as_string::<i32>().value(0), "the signature does not match the keys and messages");
    let (claims, schema) = array(&[]);
    assert_eq!(verify_array(1, claims, schema).2.expect("an array").len(), 0);

    let (mut claims, schema) = array(&[1, 2]);
    // SAFETY: an array begins with these fields.
    unsafe { (*(&raw mut claims).cast::<RawArray>()).length = -1 };
    let (code, text, _) = verify_array(1, claims, schema);
    assert_eq!(code, Code::Claims as i32, "{text}");
    assert!(text.contains("an array states the length -1"), "{text}");
    let (claims, schema) = array(&[1]);
    let (code, text, _) = verify_array(99, claims, schema);
    assert_eq!((code, text.as_str()), (Code::Suite as i32, "there is no suite with the number 99"));
    let (claims, schema) = array(&[1]);
    let (code, text, _) = verify_array(1, FFI_ArrowArray::empty(), schema);
    assert_eq!((code, text.as_str()), (Code::Claims as i32, "claims: the array is already released"));
    let (code, text, _) = verify_array(1, claims, FFI_ArrowSchema::empty());
    assert_eq!((code, text.as_str()), (Code::Claims as i32, "schema: it is already released"));
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

/// What `struct ArrowArray` begins with.
#[repr(C)]
struct RawArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut RawArray,
}

impl RawArray {
    fn child(&mut self, place: usize) -> &mut RawArray {
        assert!((place as i64) < self.n_children);
        // SAFETY: there are so many children, and nothing else uses them.
        unsafe { &mut **self.children.add(place) }
    }
}

/// A stream, and what happens to its schema and to its arrays before somebody gets them.
struct Damaging {
    stream: FFI_ArrowArrayStream,
    /// Of a schema it gets the place of its first field, the format.
    schema: fn(&mut *mut u8),
    array: fn(&mut RawArray),
}

impl Damaging {
    fn stream(claims: RecordBatch, schema: fn(&mut *mut u8), array: fn(&mut RawArray)) -> FFI_ArrowArrayStream {
        let own = Box::into_raw(Box::new(Self { stream: stream(vec![claims]), schema, array }));
        let (schema, next, release) = (Self::get_schema, Self::get_next, Self::release);
        // SAFETY: the functions take what they find at `own`, which is freed by the last of them.
        unsafe { FFI_ArrowArrayStream::new_unchecked(Some(schema), Some(next), None, Some(release), own.cast()) }
    }

    /// # Safety
    /// [`Damaging::stream`] made it, and it is not released.
    unsafe fn of<'a>(stream: *mut FFI_ArrowArrayStream) -> &'a mut Self {
        // SAFETY: as the caller promises.
        unsafe { &mut *(&*stream).private_data().cast::<Self>() }
    }

    unsafe extern "C" fn get_schema(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowSchema) -> c_int {
        // SAFETY: whoever calls it keeps to the interface, and a schema begins with its format.
        unsafe {
            let own = Self::of(stream);
            let code = own.stream.get_schema().expect("a function")(&raw mut own.stream, out);
            (own.schema)(&mut *out.cast::<*mut u8>());
            code
        }
    }

    unsafe extern "C" fn get_next(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowArray) -> c_int {
        // SAFETY: whoever calls it keeps to the interface, and an array begins with these fields.
        unsafe {
            let own = Self::of(stream);
            let code = own.stream.get_next().expect("a function")(&raw mut own.stream, out);
            if !(&*out).is_released() {
                (own.array)(&mut *out.cast::<RawArray>());
            }
            code
        }
    }

    unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
        // SAFETY: whoever calls it keeps to the interface: it is called once.
        unsafe {
            let stream = &mut *stream;
            drop(Box::from_raw(stream.private_data().cast::<Self>()));
            stream.set_release(None);
        }
    }
}

/// Each was called a fault of the library, in a text with a path of the machine that had built it. A negative number could make a build
/// without checks of overflow read memory in front of an array.
#[test]
fn a_damaged_array_is_the_tables_fault() {
    const DAMAGED: &str = "the table is damaged: its schema or one of its arrays is not as the Arrow interface says";
    fn refused(claims: RecordBatch, schema: fn(&mut *mut u8), array: fn(&mut RawArray), expected: &str) {
        let (code, text, _) = verify_stream(1, Damaging::stream(claims, schema, array));
        assert_eq!(code, Code::Claims as i32, "{text}");
        assert!(text.contains(expected) && !text.contains(".rs"), "{text}");
    }
    let claims = table(&[1, 2, 3, 4], |row| row);
    type Damage = (fn(&mut RawArray), &'static str);
    let damages: [Damage; 9] = [
        (|rows| rows.child(1).length = 3, DAMAGED),
        (|rows| rows.child(0).n_buffers = 1, DAMAGED),
        (|rows| rows.child(1).buffers = ptr::null_mut(), DAMAGED),
        (|rows| rows.n_children = 2, DAMAGED),
        (|rows| rows.length = -1, "an array states the length -1, expected 0 or more"),
        (|rows| rows.child(0).length = -1, "an array states the length -1, expected 0 or more"),
        (|rows| rows.child(2).offset = -4, "an array states the offset -4, expected 0 or more"),
        (|rows| rows.child(2).null_count = -2, "an array states the null_count -2, expected -1 or more"),
        (|rows| rows.child(1).n_buffers = -1, "an array states the n_buffers -1, expected 0 or more"),
    ];
    for (damage, expected) in damages {
        refused(claims.clone(), |_| (), damage, expected);
    }
    // SAFETY: the format is a text that is not empty, and belongs to whoever releases the schema.
    let no_text: fn(&mut *mut u8) = |format| unsafe { **format = 0xff };
    refused(claims.clone(), no_text, |_| (), DAMAGED);
    let (key, signature) = (claims["public_key"].slice(0, 1), claims["signature"].slice(0, 1));
    let views = Arc::new(BinaryViewArray::from_iter_values([b"m"])) as ArrayRef;
    let views = RecordBatch::try_from_iter([("public_key", key), ("message", views), ("signature", signature)]);
    let damage: fn(&mut RawArray) = |rows| rows.child(1).n_buffers = 2;
    refused(views.expect("a table"), |_| (), damage, "an array states the n_buffers 2, expected 3 or more");
    // Whoever has not counted the nulls says so.
    let uncounted: fn(&mut RawArray) = |rows| rows.child(0).null_count = -1;
    let (code, text, verdicts) = verify_stream(1, Damaging::stream(claims, |_| (), uncounted));
    assert_eq!((code, text.as_str()), (0, ""));
    assert_eq!(verdicts[0]["valid"].as_boolean().iter().collect::<Vec<_>>(), [Some(true); 4]);
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
