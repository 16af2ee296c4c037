//! Arrays of somebody else, by the C data and stream interfaces of Arrow.
//!
//! It does what the reader of the Arrow library does, and looks at the numbers of each array before that library computes with them.

use std::{
    ffi::{CStr, c_int},
    sync::Arc,
};

use arrow_array::{
    ArrayIterator, ArrayReader, ArrayRef,
    ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type},
    ffi_stream::FFI_ArrowArrayStream,
    make_array,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};

use crate::{
    fault::{CallFailure, Code},
    table,
};

/// The arrays of a stream. The stream is released when this is dropped.
pub(super) struct Arrays {
    stream: FFI_ArrowArrayStream,
    get_next: unsafe extern "C" fn(*mut FFI_ArrowArrayStream, *mut FFI_ArrowArray) -> c_int,
    field: FieldRef,
}

impl Arrays {
    /// Reads the schema of a stream.
    ///
    /// It panics on some schemas that are damaged, as does the iterator on some arrays: call both in [`table::contained`].
    ///
    /// # Errors
    /// [`Code::Claims`].
    ///
    /// # Safety
    /// If the stream is not released, its functions do what the interface says.
    pub(super) unsafe fn open(mut stream: FFI_ArrowArrayStream) -> Result<Self, CallFailure> {
        let unfit = |flaw: &str| CallFailure::new(Code::Claims, format!("claims: the stream {flaw}"));
        if stream.release().is_none() {
            return Err(unfit("is already released"));
        }
        let get_schema = stream.get_schema().ok_or_else(|| unfit("has no get_schema"))?;
        let get_next = stream.get_next().ok_or_else(|| unfit("has no get_next"))?;
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the function is that of this stream, which is not released, and `schema` is memory for a schema.
        let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        if code != 0 {
            // SAFETY: the call failed, and the caller keeps to the interface.
            return Err(table::unreadable(unsafe { failure(&mut stream, "schema", code) }));
        }
        let field = Field::try_from(&schema).map_err(table::unreadable)?;
        Ok(Self { stream, get_next, field: Arc::new(field) })
    }
}

impl Iterator for Arrays {
    type Item = Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the function is that of this stream, which is not released, and `array` is memory for an array.
        let code = unsafe { (self.get_next)(&raw mut self.stream, &raw mut array) };
        if code != 0 {
            // SAFETY: the call failed, and whoever opened the stream promised that it keeps to the interface.
            return Some(Err(unsafe { failure(&mut self.stream, "batch", code) }));
        }
        // So a stream says that it has ended.
        if array.is_released() {
            return None;
        }
        // SAFETY: whoever opened the stream promised that its arrays are of the type that it states.
        Some(unsafe { import(array, self.field.data_type()) })
    }
}

impl ArrayReader for Arrays {
    fn field(&self) -> &FieldRef {
        &self.field
    }
}

/// One array of rows, which is released when this is dropped.
///
/// It panics on some that are damaged: call it in [`table::contained`].
///
/// # Errors
/// [`Code::Claims`].
///
/// # Safety
/// If they are not released, they are a schema of the interface, and an array of the type that it states.
pub(super) unsafe fn one(
    array: FFI_ArrowArray,
    schema: &FFI_ArrowSchema,
) -> Result<ArrayIterator<[Result<ArrayRef, ArrowError>; 1]>, CallFailure> {
    let released = |what: &str| CallFailure::new(Code::Claims, format!("{what} is already released"));
    if array.is_released() {
        return Err(released("claims: the array"));
    }
    if schema.release().is_none() {
        return Err(released("schema: it"));
    }
    let field = Arc::new(Field::try_from(schema).map_err(table::unreadable)?);
    // SAFETY: as the caller promises.
    let rows = unsafe { import(array, field.data_type()) };
    Ok(ArrayIterator::new([rows], field))
}

/// An array of a type. It is released when nobody needs it any more.
///
/// # Safety
/// It is an array of the interface, and of this type.
unsafe fn import(array: FFI_ArrowArray, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    check(&array, kind)?;
    // SAFETY: as the caller promises.
    unsafe { from_ffi_and_data_type(array, kind.clone()) }.map(make_array)
}

/// Why a stream gave nothing, in its own words if it has any.
///
/// # Safety
/// The last call of a function of the stream failed, and the stream keeps to the interface.
unsafe fn failure(stream: &mut FFI_ArrowArrayStream, what: &str, code: c_int) -> ArrowError {
    let mut text = format!("the stream gives no {what}: error {code}");
    if let Some(get_last_error) = stream.get_last_error() {
        // SAFETY: the function is that of this stream, and the caller promises that a call of it failed.
        let told = unsafe { get_last_error(stream) };
        if !told.is_null() {
            // SAFETY: not null, and until the next call a text with a zero behind it.
            let told = unsafe { CStr::from_ptr(told) };
            text = format!("{text}: {}", told.to_string_lossy());
        }
    }
    ArrowError::CDataInterface(text)
}

/// Refuses an array with a number that no array has. The Arrow library takes them for sizes of memory before it compares anything.
fn check(array: &FFI_ArrowArray, kind: &DataType) -> Result<(), ArrowError> {
    let is_view = matches!(kind, DataType::Utf8View | DataType::BinaryView);
    let stated = [
        ("length", array.len(), 0),
        ("offset", array.offset(), 0),
        // -1 says that nobody has counted.
        ("null_count", array.null_count(), -1),
        // Views have a bitmap of nulls, the views, and the lengths of the buffers between those.
        ("n_buffers", array.num_buffers(), if is_view { 3 } else { 0 }),
        ("n_children", array.num_children(), 0),
    ];
    for (name, number, least) in stated {
        // The Arrow library has them without a sign.
        let number = number.cast_signed();
        if number < least {
            let text = format!("an array states the {name} {number}, expected {least} or more");
            return Err(ArrowError::CDataInterface(text));
        }
    }
    if is_view && array.num_buffers() > 3 && array.buffer(array.num_buffers() - 1).is_null() {
        let text = "an array of views has no lengths of its buffers".to_owned();
        return Err(ArrowError::CDataInterface(text));
    }
    for (place, kind) in children(kind).into_iter().enumerate() {
        check(array.child(place), kind)?;
    }
    match (array.dictionary(), kind) {
        (Some(values), DataType::Dictionary(_, kind)) => check(values, kind),
        _ => Ok(()),
    }
}

/// The types of the arrays within an array of a type.
fn children(kind: &DataType) -> Vec<&DataType> {
    match kind {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => vec![field.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.data_type()).collect(),
        DataType::RunEndEncoded(ends, values) => vec![ends.data_type(), values.data_type()],
        _ => Vec::new(),
    }
}
