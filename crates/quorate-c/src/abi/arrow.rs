//! Claims in tables, by the C interface of Arrow.

use arrow_array::{RecordBatchIterator, ffi_stream::FFI_ArrowArrayStream};

use super::{
    import::Arrays,
    memory::{guarded, of, put, quorate_error},
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
        let stream = stream.ok_or_else(|| CallFailure::new(Code::Null, "claims: the pointer is null"))?;
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
