//! Claims in Arrow record batches: one claim a row, with the columns of JSON Lines. [`ArrowRows`] reads a stream of batches as it
//! is sent (`application/vnd.apache.arrow.stream`), and [`BatchRows`] a batch that is in memory already.
//!
//! `public_key`, `message` and `signature` are binary, or text of hexadecimal digits; `public_keys` and `messages` are lists of
//! these; `suite` is text; `source` is text or an integer; `id` is text, a number or a boolean. A claim of a chain has `kind`,
//! `slot` and `index`, as in Parquet. Types with long offsets are accepted. In a batch in memory, text and bytes can also be views
//! or stand in a dictionary, lists can have a fixed length, and a column without any value can have the type null.
//!
//! A stream comes from somebody else, so it must not say more than it holds: arrays share its bytes, and a row takes what its
//! values take. Therefore views, dictionaries and compressed batches are refused there. The Arrow library checks all offsets;
//! where it panics on a damaged stream, that is an error too.

use std::fmt::Display;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::entry::Entry;
use crate::error::{ArrowBatchError, ArrowStreamError, InputError};
use crate::record::Place;
use crate::table::{Cell, ColumnFault, LISTS, Named, Value, check_columns, read_columns, record};

/// Reads claims row by row.
///
/// After an `Err` from the outer result the iterator ends.
#[derive(Debug)]
pub struct ArrowRows {
    decoder: StreamDecoder,
    rest: Buffer,
    batch: Option<Batch>,
    /// Rows read.
    rows: u64,
    ended: bool,
}

/// Reads the claims of one record batch that is in memory, row by row. The batch is not copied.
#[derive(Debug)]
pub struct BatchRows {
    batch: Batch,
    /// Rows before the next one, those of earlier batches included.
    rows: u64,
}

impl BatchRows {
    /// Starts to read a batch that stands behind so many rows of the same table.
    ///
    /// # Errors
    /// [`ArrowBatchError`].
    pub fn new(batch: &RecordBatch, rows_before: u64) -> Result<Self, ArrowBatchError> {
        let batch = Batch::new(batch, in_memory)?;
        // The library that made the arrays may have taken them from somebody else without a look at them.
        for (Named { name, .. }, array) in &batch.columns {
            let damaged = |error: ArrowError| ArrowBatchError::Damaged { name, reason: error.to_string() };
            array.to_data().validate_full().map_err(damaged)?;
        }
        Ok(Self { batch, rows: rows_before })
    }
}

impl Iterator for BatchRows {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let entry = self.batch.next(self.rows + 1)?;
        self.rows += 1;
        Some(entry)
    }
}

/// A batch, and how far it is read.
#[derive(Debug)]
struct Batch {
    columns: Vec<(Named, Arc<dyn Array>)>,
    rows: usize,
    next: usize,
}

impl ArrowRows {
    /// Starts to read a stream.
    #[must_use]
    pub fn new(stream: Vec<u8>) -> Self {
        Self { decoder: StreamDecoder::new(), rest: stream.into(), batch: None, rows: 0, ended: false }
    }

    fn advance(&mut self) -> Result<Option<Entry>, InputError> {
        loop {
            if let Some(entry) = self.batch.as_mut().and_then(|batch| batch.next(self.rows + 1)) {
                self.rows += 1;
                return Ok(Some(entry));
            }
            self.batch = None;
            let row = self.rows;
            let damaged = |reason| ArrowStreamError::Damaged { row, reason };
            if self.rest.is_empty() {
                contained(|| self.decoder.finish()).map_err(damaged)?;
                return Ok(None);
            }
            if let Some(batch) = contained(|| self.decoder.decode(&mut self.rest)).map_err(damaged)? {
                self.batch = Some(Batch::new(&batch, in_stream).map_err(ArrowStreamError::from)?);
            }
        }
    }
}

impl Iterator for ArrowRows {
    type Item = Result<Entry, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let entry = self.advance();
        self.ended = !matches!(entry, Ok(Some(_)));
        entry.transpose()
    }
}

impl Batch {
    /// The columns of a batch that are read. `kind_of` says as what a column is read.
    fn new(batch: &RecordBatch, kind_of: impl Fn(&Field) -> DataType) -> Result<Self, ColumnFault> {
        let schema = batch.schema();
        let fields: Vec<Field> =
            schema.fields().iter().map(|field| Field::new(field.name(), kind_of(field), true)).collect();
        let schema = Schema::new(fields);
        check_columns(&schema)?;
        let columns = read_columns(&schema).filter_map(|name| {
            let (index, field) = schema.column_with_name(name)?;
            Some((Named { name, kind: field.data_type().clone() }, batch.column(index).clone()))
        });
        Ok(Self { columns: columns.collect(), rows: batch.num_rows(), next: 0 })
    }

    /// The next row, which has this number.
    fn next(&mut self, number: u64) -> Option<Entry> {
        let row = self.next;
        if row >= self.rows {
            return None;
        }
        self.next += 1;
        let place = Place::Row(number);
        let cells = self.columns.iter().map(|(named, array)| (named, cell(array, row)));
        Some(record(cells, place))
    }
}

/// As what a column of a stream is read: the type with short offsets, which `table` knows.
fn in_stream(field: &Field) -> DataType {
    plain(field.data_type())
}

fn plain(kind: &DataType) -> DataType {
    match kind {
        DataType::LargeUtf8 => DataType::Utf8,
        DataType::LargeBinary => DataType::Binary,
        // Any number of these takes no bytes of the stream.
        DataType::FixedSizeBinary(0) => DataType::Null,
        DataType::List(item) | DataType::LargeList(item) => {
            DataType::List(Arc::new(Field::new(item.name(), plain(item.data_type()), true)))
        }
        other => other.clone(),
    }
}

/// As what a column of a batch in memory is read. Libraries give the type null to a column without any value.
fn in_memory(field: &Field) -> DataType {
    let kind = of_values(field.data_type());
    match kind {
        DataType::Null if LISTS.contains(&field.name().as_str()) => {
            DataType::List(Arc::new(Field::new("item", DataType::Binary, true)))
        }
        DataType::Null => DataType::Utf8,
        kind => kind,
    }
}

/// The type of the values, whether they stand in views, in a dictionary or in lists of one length.
fn of_values(kind: &DataType) -> DataType {
    match kind {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::Dictionary(_, values) => of_values(values),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            let kind = match of_values(item.data_type()) {
                DataType::Null => DataType::Binary,
                kind => kind,
            };
            DataType::List(Arc::new(Field::new(item.name(), kind, true)))
        }
        other => plain(other),
    }
}

fn cell(array: &Arc<dyn Array>, row: usize) -> Cell<&[u8]> {
    match array.data_type() {
        _ if array.is_null(row) => Cell::Null,
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let offsets = list.value_offsets();
            list_of(list.values(), offsets[row] as usize..offsets[row + 1] as usize)
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let offsets = list.value_offsets();
            list_of(list.values(), offsets[row] as usize..offsets[row + 1] as usize)
        }
        DataType::FixedSizeList(..) => {
            let list = array.as_fixed_size_list();
            let start = list.value_offset_at(row);
            list_of(list.values(), start..start + list.value_length() as usize)
        }
        _ => value(array, row).map_or(Cell::Null, Cell::One),
    }
}

fn list_of(items: &dyn Array, places: Range<usize>) -> Cell<&[u8]> {
    Cell::List(places.map(|item| value(items, item)).collect())
}

/// A value of a type that [`check_columns`] lets pass. Unsigned numbers are put into the bits of signed ones.
fn value(array: &dyn Array, at: usize) -> Option<Value<&[u8]>> {
    if array.is_null(at) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Utf8 => Value::Bytes(array.as_string::<i32>().value(at).as_bytes()),
        DataType::LargeUtf8 => Value::Bytes(array.as_string::<i64>().value(at).as_bytes()),
        DataType::Utf8View => Value::Bytes(array.as_string_view().value(at).as_bytes()),
        DataType::Binary => Value::Bytes(array.as_binary::<i32>().value(at)),
        DataType::LargeBinary => Value::Bytes(array.as_binary::<i64>().value(at)),
        DataType::BinaryView => Value::Bytes(array.as_binary_view().value(at)),
        DataType::FixedSizeBinary(_) => Value::Bytes(array.as_fixed_size_binary().value(at)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let key = match value(dictionary.keys(), at)? {
                Value::Int32(key) => key.cast_unsigned() as usize,
                Value::Int64(key) => key as usize,
                _ => return None,
            };
            return value(dictionary.values(), key);
        }
        DataType::Boolean => Value::Bool(array.as_boolean().value(at)),
        DataType::Int8 => Value::Int32(array.as_primitive::<Int8Type>().value(at).into()),
        DataType::Int16 => Value::Int32(array.as_primitive::<Int16Type>().value(at).into()),
        DataType::Int32 => Value::Int32(array.as_primitive::<Int32Type>().value(at)),
        DataType::Int64 => Value::Int64(array.as_primitive::<Int64Type>().value(at)),
        DataType::UInt8 => Value::Int32(array.as_primitive::<UInt8Type>().value(at).into()),
        DataType::UInt16 => Value::Int32(array.as_primitive::<UInt16Type>().value(at).into()),
        DataType::UInt32 => Value::Int32(array.as_primitive::<UInt32Type>().value(at).cast_signed()),
        DataType::UInt64 => Value::Int64(array.as_primitive::<UInt64Type>().value(at).cast_signed()),
        DataType::Float32 => Value::Float(array.as_primitive::<Float32Type>().value(at)),
        DataType::Float64 => Value::Double(array.as_primitive::<Float64Type>().value(at)),
        // Null, of which an array has only nulls. No other type passes.
        _ => return None,
    })
}

/// Calls into the Arrow reader, and makes an error of a panic in there: of a stream from a network it must not be one of ours.
/// No call follows on what a panic left behind: the caller ends with the error.
fn contained<T, E: Display>(call: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("the stream is damaged; send it again".to_owned()),
    }
}

#[cfg(test)]
mod tests;
