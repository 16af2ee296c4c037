//! Claims as a stream of Arrow record batches (`application/vnd.apache.arrow.stream`): one claim a row, with the columns of JSON
//! Lines.
//!
//! `public_key`, `message` and `signature` are binary, or text of hexadecimal digits; `public_keys` and `messages` are lists of
//! these; `suite` is text; `source` is text or an integer; `id` is text, a number or a boolean. Types with long offsets are
//! accepted; views, dictionaries and compressed batches are not.
//!
//! A stream is in memory, and arrays share its bytes, so that a row takes what its values take. The Arrow library checks all
//! offsets; where it panics on a damaged stream, that is an error too.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::{DataType, Field, Schema};

use crate::entry::{Entry, Malformed};
use crate::error::{ArrowStreamError, InputError};
use crate::record::Place;
use crate::table::{COLUMNS, Cell, ColumnFault, Named, Value, check_columns, record};

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
            if let Some(batch) = &mut self.batch
                && batch.next < batch.rows
            {
                let row = batch.next;
                batch.next += 1;
                self.rows += 1;
                let place = Place::Row(self.rows);
                let cells = batch.columns.iter().map(|(named, array)| (named, cell(array, row)));
                return Ok(Some(record(cells, place).map_err(|reason| Malformed { place, reason })));
            }
            self.batch = None;
            let row = self.rows;
            let damaged = |reason| ArrowStreamError::Damaged { row, reason };
            if self.rest.is_empty() {
                contained(|| self.decoder.finish()).map_err(damaged)?;
                return Ok(None);
            }
            if let Some(batch) = contained(|| self.decoder.decode(&mut self.rest)).map_err(damaged)? {
                self.batch = Some(Batch::new(&batch)?);
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
    fn new(batch: &RecordBatch) -> Result<Self, ArrowStreamError> {
        let schema = batch.schema();
        let fields: Vec<Field> =
            schema.fields().iter().map(|field| Field::new(field.name(), plain(field.data_type()), true)).collect();
        let schema = Schema::new(fields);
        check_columns(&schema).map_err(|fault| match fault {
            ColumnFault::Missing { name, found } => ArrowStreamError::MissingColumn { name, found },
            ColumnFault::Type { name, found, expected } => ArrowStreamError::ColumnType { name, found, expected },
        })?;
        let columns = COLUMNS.into_iter().filter_map(|name| {
            let (index, field) = schema.column_with_name(name)?;
            Some((Named { name, kind: field.data_type().clone() }, batch.column(index).clone()))
        });
        Ok(Self { columns: columns.collect(), rows: batch.num_rows(), next: 0 })
    }
}

/// The type with short offsets, which `table` knows.
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

fn cell(array: &Arc<dyn Array>, row: usize) -> Cell<&[u8]> {
    let range = |start: usize, end: usize, items| (start..end).map(|item| value(items, item)).collect();
    match array.data_type() {
        _ if array.is_null(row) => Cell::Null,
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let offsets = list.value_offsets();
            Cell::List(range(offsets[row] as usize, offsets[row + 1] as usize, list.values()))
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let offsets = list.value_offsets();
            Cell::List(range(offsets[row] as usize, offsets[row + 1] as usize, list.values()))
        }
        _ => value(array, row).map_or(Cell::Null, Cell::One),
    }
}

/// A value of a type that [`check_columns`] lets pass. Unsigned numbers are put into the bits of signed ones.
fn value(array: &Arc<dyn Array>, at: usize) -> Option<Value<&[u8]>> {
    if array.is_null(at) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Utf8 => Value::Bytes(array.as_string::<i32>().value(at).as_bytes()),
        DataType::LargeUtf8 => Value::Bytes(array.as_string::<i64>().value(at).as_bytes()),
        DataType::Binary => Value::Bytes(array.as_binary::<i32>().value(at)),
        DataType::LargeBinary => Value::Bytes(array.as_binary::<i64>().value(at)),
        DataType::FixedSizeBinary(_) => Value::Bytes(array.as_fixed_size_binary().value(at)),
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
        // No other type passes.
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
