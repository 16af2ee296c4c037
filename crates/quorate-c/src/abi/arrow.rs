//! Claims in tables, by the C interface of Arrow.

use arrow_array::{
    Array as _, RecordBatch, RecordBatchIterator, StructArray,
    ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi},
    ffi_stream::FFI_ArrowArrayStream,
};

use super::{
    import::{self, Arrays},
    memory::{absent, guarded, of, put, quorate_error},
    verifier::quorate_verifier,
};
use crate::{
    fault::{CallFailure, Code},
    suites, table,
};

/// Verifies a table: one claim a row, with the columns `public_key` or `public_keys`, `message` or `messages`, and `signature`, as
/// binary or as hexadecimal text, and if need be `suite` and `source`. A row without a suite is a claim of `suite`; 0 is no suite. A
/// claim of a chain also has `kind`, `slot` and `index`, and a `reason` if the chain refutes it: such a claim is not valid, and the
/// reason of its verdict is "chain: " and that text. A row that is null as a whole is an error: `QUORATE_CODE_CLAIMS`.
///
/// `claims` is a `struct ArrowArrayStream` of the C stream interface of Arrow. It is read to its end and released, also if the call
/// fails. `verdicts` is memory for another one, which the caller releases: one row for each row, with the columns `valid` and
/// `reason`, and a batch for each batch, or several if its reasons take more than 1 GiB. If the reasons that come from the table
/// take more than 1 GiB together, that is an error: `QUORATE_CODE_CLAIMS`. If the call fails, `verdicts` is a released stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verify_arrow(
    verifier: *const quorate_verifier,
    suite: u32,
    claims: *mut FFI_ArrowArrayStream,
    verdicts: *mut FFI_ArrowArrayStream,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // From here on the stream is released, whatever happens.
        // SAFETY: null, or the caller keeps to the header: it is a stream that was not released.
        let stream = unsafe { claims.as_mut().map(|claims| FFI_ArrowArrayStream::from_raw(claims)) };
        // SAFETY: null, or the caller keeps to the header: it is memory for a stream.
        unsafe { put("verdicts", verdicts, FFI_ArrowArrayStream::empty()) }?;
        let stream = stream.ok_or_else(|| absent("claims"))?;
        // SAFETY: the caller keeps to the header: it is a stream of the interface.
        let reader = table::contained(|| unsafe { Arrays::open(stream) })?;
        let suite = if suite == 0 { None } else { Some(suites::by_number(suite)?) };
        // SAFETY: the caller keeps to the header.
        let ruled = table::verify(unsafe { &of("verifier", verifier)?.0 }, suite, reader)?;
        let stream = RecordBatchIterator::new(ruled.into_iter().map(Ok), table::schema());
        // SAFETY: not null, and the caller keeps to the header: it is memory for a stream.
        unsafe { put("verdicts", verdicts, FFI_ArrowArrayStream::new(Box::new(stream))) }
    })
}

/// Verifies a table that is one array of rows: the same by the C data interface of Arrow.
///
/// `claims` is a `struct ArrowArray`, and `schema` is its `struct ArrowSchema`. Both are released, also if the call fails. `verdicts` and
/// `verdicts_schema` are memory for others, which the caller releases: one row for each row. If all reasons together take more than
/// 1 GiB, that is an error: `QUORATE_CODE_CLAIMS`. If the call fails, what it writes there is released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_verify_arrow_array(
    verifier: *const quorate_verifier,
    suite: u32,
    claims: *mut FFI_ArrowArray,
    schema: *mut FFI_ArrowSchema,
    verdicts: *mut FFI_ArrowArray,
    verdicts_schema: *mut FFI_ArrowSchema,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // From here on both are released, whatever happens.
        // SAFETY: null, or the caller keeps to the header: it is an array that was not released.
        let array = unsafe { claims.as_mut().map(|claims| FFI_ArrowArray::from_raw(claims)) };
        // SAFETY: null, or the caller keeps to the header: it is a schema that was not released.
        let fields = unsafe { schema.as_mut().map(|schema| FFI_ArrowSchema::from_raw(schema)) };
        // SAFETY: null, or the caller keeps to the header: it is memory for an array.
        let place = unsafe { put("verdicts", verdicts, FFI_ArrowArray::empty()) };
        // SAFETY: null, or the caller keeps to the header: it is memory for a schema.
        unsafe { put("verdicts_schema", verdicts_schema, FFI_ArrowSchema::empty()) }?;
        place?;
        let array = array.ok_or_else(|| absent("claims"))?;
        let fields = fields.ok_or_else(|| absent("schema"))?;
        // SAFETY: the caller keeps to the header: they are an array and a schema of the interface.
        let reader = table::contained(|| unsafe { import::one(array, &fields) })?;
        let suite = if suite == 0 { None } else { Some(suites::by_number(suite)?) };
        // SAFETY: the caller keeps to the header.
        let ruled = table::verify(unsafe { &of("verifier", verifier)?.0 }, suite, reader)?;
        let Ok([ruled]) = <[RecordBatch; 1]>::try_from(ruled) else {
            let text = "the reasons of all rows take more than 1 GiB; verify the table in parts";
            return Err(CallFailure::new(Code::Claims, text));
        };
        let (ruled, fields) = to_ffi(&StructArray::from(ruled).to_data()).map_err(table::unwritable)?;
        // SAFETY: not null, and the caller keeps to the header: it is memory for an array.
        unsafe { put("verdicts", verdicts, ruled) }?;
        // SAFETY: not null, and the caller keeps to the header: it is memory for a schema.
        unsafe { put("verdicts_schema", verdicts_schema, fields) }
    })
}
