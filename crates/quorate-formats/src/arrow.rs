//! Claims in Arrow record batches: one claim a row, with the columns of JSON Lines. [`ArrowRows`] reads a stream of batches as it
//! is sent (`application/vnd.apache.arrow.stream`), [`ArrowFile`] the batches of a file on disk, and [`BatchRows`] a batch that is in
//! memory already.
//!
//! `public_key`, `message` and `signature` are binary, or text of hexadecimal digits; `public_keys` and `messages` are lists of
//! these; `suite` is text; `source` is text or an integer; `id` is text, a number or a boolean. A claim of a chain has `kind`,
//! `slot` and `index`, as in Parquet. Values can have long offsets, be views, or stand in a dictionary or in runs; lists can have
//! long offsets or a fixed length, or be views. A column without any value is absent, whatever its type.
//!
//! A stream comes from somebody else, and a few of its bytes can stand for many: see [`VALUES_LIMIT`]. Rows are read one by one, so
//! a caller counts each record before it keeps the next one ([`Record::bytes`](crate::Record::bytes)). Compressed batches and
//! dictionaries that grow are refused. The Arrow library checks all offsets; where it panics on a damaged stream, that is an error
//! too.

// Whether what arrays state is so.
mod check;
// The messages of a stream.
mod stream;
// The messages of a file.
mod file;

use std::cell::Cell as Counter;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use quorate_host::clipped;

pub use self::check::check_array;
use self::check::check_size;
pub use self::file::ArrowFile;
pub use self::stream::VALUES_LIMIT;
use self::stream::{Stream, is_flat};
use crate::columns::{Room, Unbounded};
use crate::entry::Entry;
use crate::error::{ArrowBatchError, ArrowStreamError, InputError};
use crate::record::Place;
use crate::table::{Cell, ColumnFault, Elements, Kind, MOST_SHOWN, Named, TableColumn, Value, columns, record};

/// Reads claims row by row.
///
/// After an `Err` from the outer result the iterator ends.
#[derive(Debug)]
pub struct ArrowRows {
    stream: Stream,
    batch: Option<Batch>,
    /// Rows read.
    rows: u64,
    /// Bytes that rows read, and how many they may read.
    values: u64,
    limit: u64,
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
        check_size(batch)?;
        let arrays: Vec<_> = batch.columns().iter().cloned().map(Some).collect();
        let batch = Batch::new(&batch.schema(), &arrays, batch.num_rows())?;
        // The library that made the arrays may have taken them from somebody else without a look at them.
        for (Named { name, .. }, array) in &batch.columns {
            let damaged = |error: ArrowError| ArrowBatchError::Damaged { name, reason: error.to_string() };
            check_array(array).map_err(damaged)?;
        }
        Ok(Self { batch, rows: rows_before })
    }

    /// Bytes of the values that its rows read so far. A view, a dictionary or a run lets many rows name the same bytes; they are
    /// counted for each row.
    #[must_use]
    pub fn values(&self) -> u64 {
        self.batch.values.get()
    }
}

impl Iterator for BatchRows {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let entry = self.batch.next(self.rows + 1, &mut Unbounded)?;
        self.rows += 1;
        Some(entry)
    }
}

/// A batch, and how far it is read.
#[derive(Debug)]
struct Batch {
    columns: Vec<(Named, ArrayRef)>,
    rows: usize,
    next: usize,
    /// Bytes that its rows read so far.
    values: Counter<u64>,
}

impl ArrowRows {
    /// Starts to read a stream.
    #[must_use]
    pub fn new(stream: Vec<u8>) -> Self {
        let limit = VALUES_LIMIT.max(2 * stream.len() as u64);
        Self { stream: Stream::new(stream), batch: None, rows: 0, values: 0, limit, ended: false }
    }

    /// About how many bytes of memory it takes to read the whole stream, at most, beside the claims. Ask before the first claim is
    /// read.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.stream.memory()
    }

    /// The next claim, which finds room before it is kept.
    ///
    /// # Errors
    /// [`InputError`], after which nothing follows.
    pub fn next_within(&mut self, room: &mut dyn Room) -> Result<Option<Entry>, InputError> {
        if self.ended {
            return Ok(None);
        }
        let entry = self.advance(room);
        self.ended = !matches!(entry, Ok(Some(_)));
        entry
    }

    fn advance(&mut self, room: &mut dyn Room) -> Result<Option<Entry>, InputError> {
        loop {
            let row = self.rows;
            let damaged = |reason| ArrowStreamError::Damaged { row, reason };
            if let Some(batch) = &mut self.batch {
                if let Some(entry) = batch.next(self.rows + 1, room) {
                    self.rows += 1;
                    self.values += batch.values.take();
                    if self.values > self.limit {
                        return Err(damaged(format!(
                            "its rows repeat values of more than {} MiB together, the limit; send it in several streams",
                            self.limit >> 20
                        ))
                        .into());
                    }
                    return Ok(Some(entry));
                }
                self.batch = None;
            }
            let Some(batch) = self.stream.next().map_err(damaged)? else { return Ok(None) };
            self.batch = Some(Batch::new(&batch.schema, &batch.columns, batch.rows).map_err(ArrowStreamError::from)?);
        }
    }
}

impl Iterator for ArrowRows {
    type Item = Result<Entry, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_within(&mut Unbounded).transpose()
    }
}

impl Batch {
    /// The columns of a batch that are read, out of all columns of its table. A column that nobody reads may be missing.
    fn new(schema: &Schema, arrays: &[Option<ArrayRef>], rows: usize) -> Result<Self, ColumnFault> {
        let array = |place: usize| arrays.get(place).cloned().flatten();
        let is_empty = |place| array(place).is_some_and(|array| rows > 0 && array.logical_null_count() == array.len());
        let table: Vec<_> = schema.fields().iter().map(|field| TableColumn::from(field.as_ref())).collect();
        let columns = columns(&table, is_empty)?.into_iter();
        let columns = columns.filter_map(|(place, named)| Some((named, array(place)?))).collect();
        Ok(Self { columns, rows, next: 0, values: Counter::new(0) })
    }

    /// The next row, which has this number.
    fn next(&mut self, number: u64, room: &mut dyn Room) -> Option<Entry> {
        let row = self.next;
        if row >= self.rows {
            return None;
        }
        self.next += 1;
        let place = Place::Row(number);
        let cells = self.columns.iter().map(|(named, array)| (named, cell(array, row, &self.values)));
        Some(record(cells, place, room))
    }
}

impl From<&Field> for TableColumn {
    fn from(field: &Field) -> Self {
        let kind = Kind::from(field.data_type());
        // The format's own text of a type of several parts has the names of all of them.
        let stated = if is_flat(field.data_type()) { shown(field.data_type()) } else { kind.to_string() };
        Self { name: field.name().clone(), kind, stated }
    }
}

/// Values can stand with long offsets, in views, in a dictionary or in runs; lists can have one length or be views.
impl From<&DataType> for Kind {
    fn from(kind: &DataType) -> Self {
        match kind {
            DataType::Null => Self::Null,
            DataType::Boolean => Self::Boolean,
            DataType::Int8 => Self::Signed(8),
            DataType::Int16 => Self::Signed(16),
            DataType::Int32 => Self::Signed(32),
            DataType::Int64 => Self::Signed(64),
            DataType::UInt8 => Self::Unsigned(8),
            DataType::UInt16 => Self::Unsigned(16),
            DataType::UInt32 => Self::Unsigned(32),
            DataType::UInt64 => Self::Unsigned(64),
            DataType::Float32 => Self::Float(32),
            DataType::Float64 => Self::Float(64),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Self::Bytes,
            DataType::FixedSizeBinary(length) => Self::BytesOf(*length),
            DataType::Dictionary(_, values) => Self::from(values.as_ref()),
            DataType::RunEndEncoded(_, values) => Self::from(values.data_type()),
            DataType::List(element)
            | DataType::LargeList(element)
            | DataType::ListView(element)
            | DataType::LargeListView(element)
            | DataType::FixedSizeList(element, _) => Self::list(element.data_type().into()),
            DataType::Struct(_) => Self::Nested("Struct".to_owned()),
            DataType::Union(..) => Self::Nested("Union".to_owned()),
            DataType::Map(..) => Self::Nested("Map".to_owned()),
            other => Self::Other(shown(other)),
        }
    }
}

/// A type as an error shows it. It can hold a name: that of a time zone.
fn shown(kind: &DataType) -> String {
    clipped(&kind.to_string(), MOST_SHOWN)
}

fn cell<'a>(array: &'a dyn Array, row: usize, read: &'a Counter<u64>) -> Cell<'a, &'a [u8]> {
    let Some((array, row)) = resolved(array, row) else { return Cell::Null };
    let (items, places): (&ArrayRef, Range<usize>) = match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            (list.values(), list.value_offsets()[row] as usize..list.value_offsets()[row + 1] as usize)
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            (list.values(), list.value_offsets()[row] as usize..list.value_offsets()[row + 1] as usize)
        }
        DataType::ListView(_) => {
            let list = array.as_list_view::<i32>();
            let start = list.value_offset(row) as usize;
            (list.values(), start..start + list.value_size(row) as usize)
        }
        DataType::LargeListView(_) => {
            let list = array.as_list_view::<i64>();
            let start = list.value_offset(row) as usize;
            (list.values(), start..start + list.value_size(row) as usize)
        }
        DataType::FixedSizeList(..) => {
            let list = array.as_fixed_size_list();
            let start = list.value_offset_at(row);
            (list.values(), start..start + list.value_length() as usize)
        }
        _ => return value(array, row, read).map_or(Cell::Null, Cell::One),
    };
    let elements: Elements<'a, _> = Box::new(places.map(move |place| {
        let (array, place) = resolved(items, place)?;
        value(array, place, read)
    }));
    Cell::List(elements)
}

/// The array without dictionaries and runs in which a value stands, and its place there; none for null.
fn resolved(array: &dyn Array, at: usize) -> Option<(&dyn Array, usize)> {
    if array.is_null(at) {
        return None;
    }
    match array.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let key = match value(dictionary.keys(), at, &Counter::new(0))? {
                Value::Int32(key) => key.cast_unsigned() as usize,
                Value::Int64(key) => usize::try_from(key).ok()?,
                _ => return None,
            };
            resolved(dictionary.values(), key)
        }
        DataType::RunEndEncoded(run_ends, _) => match run_ends.data_type() {
            DataType::Int16 => {
                let runs = array.as_run::<Int16Type>();
                resolved(runs.values(), runs.get_physical_index(at))
            }
            DataType::Int32 => {
                let runs = array.as_run::<Int32Type>();
                resolved(runs.values(), runs.get_physical_index(at))
            }
            _ => {
                let runs = array.as_run::<Int64Type>();
                resolved(runs.values(), runs.get_physical_index(at))
            }
        },
        _ => Some((array, at)),
    }
}

/// A value that is not null, of a type that [`columns`] lets pass. Unsigned numbers are put into the bits of signed ones.
fn value<'a>(array: &'a dyn Array, at: usize, read: &Counter<u64>) -> Option<Value<&'a [u8]>> {
    let bytes = |bytes: &'a [u8]| {
        read.set(read.get() + 1 + bytes.len() as u64);
        Value::Bytes(bytes)
    };
    Some(match array.data_type() {
        DataType::Utf8 => bytes(array.as_string::<i32>().value(at).as_bytes()),
        DataType::LargeUtf8 => bytes(array.as_string::<i64>().value(at).as_bytes()),
        DataType::Utf8View => bytes(array.as_string_view().value(at).as_bytes()),
        DataType::Binary => bytes(array.as_binary::<i32>().value(at)),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().value(at)),
        DataType::BinaryView => bytes(array.as_binary_view().value(at)),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().value(at)),
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

#[cfg(test)]
mod tests;
