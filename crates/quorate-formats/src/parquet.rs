//! Claims as Parquet: one row a claim, with the column names of JSON Lines.
//!
//! A text column holds hexadecimal digits. A binary column, plain or of fixed size, holds the bytes themselves. The plural
//! columns are lists of either. Other columns are not read. A cell may be null where JSON Lines may leave its field out.
//!
//! The reader takes the types from the Parquet schema. It ignores an Arrow schema that is stored beside it, which could only
//! ask for other in-memory forms (large, dictionary, view) of the same bytes.

mod whole_file;

use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use quorate::SourceId;
use serde_json::value::RawValue;

use self::whole_file::WholeFile;
use crate::columns::Columns;
use crate::entry::{Entry, Malformed};
use crate::error::{InputError, ParquetFileError};
use crate::hex::from_hex;
use crate::record::{Id, Place, Record};

/// How many rows are decoded at a time. This number and the size of a page bound the memory.
pub const BATCH_ROWS: usize = 1024;

/// Reads claims row by row.
///
/// After an `Err` from the outer result the iterator ends. Damage inside a page is found only when its rows are reached.
pub struct ParquetRows {
    batches: ParquetRecordBatchReader,
    current: Option<Batch>,
    rows: u64,
    ended: bool,
}

impl ParquetRows {
    /// Opens a file. A pipe cannot be read, see [`ParquetFileError::NeedsFile`].
    ///
    /// # Errors
    /// The file is not Parquet, is cut off, lacks a column that every claim needs, or has a column of a type that cannot hold
    /// it.
    pub fn open(mut file: File) -> Result<Self, InputError> {
        check_marks(&mut file)?;
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let builder = contained(|| ParquetRecordBatchReaderBuilder::try_new_with_options(WholeFile(file), options))
            .map_err(|reason| ParquetFileError::NotParquet { reason })?;
        check_columns(builder.schema())?;
        let columns = builder.parquet_schema();
        let roots = columns.root_schema().get_fields().iter().enumerate();
        let wanted = roots.filter(|(_, field)| COLUMNS.contains(&field.name())).map(|(index, _)| index);
        let mask = ProjectionMask::roots(columns, wanted);
        let batches = contained(|| builder.with_projection(mask).with_batch_size(BATCH_ROWS).build())
            .map_err(|reason| ParquetFileError::Damaged { row: 0, reason })?;
        Ok(Self { batches, current: None, rows: 0, ended: false })
    }

    fn advance(&mut self) -> Result<Option<Entry>, InputError> {
        loop {
            if let Some(batch) = &mut self.current {
                if batch.next < batch.rows {
                    let row = batch.next;
                    batch.next += 1;
                    self.rows += 1;
                    let place = Place::Row(self.rows);
                    return Ok(Some(batch.record(row, place).map_err(|reason| Malformed { place, reason })));
                }
                self.current = None;
            }
            let batch = contained(|| self.batches.next().transpose())
                .map_err(|reason| ParquetFileError::Damaged { row: self.rows, reason })?;
            let Some(batch) = batch else { return Ok(None) };
            self.current = Some(Batch::new(&batch));
        }
    }
}

impl Iterator for ParquetRows {
    type Item = Result<Entry, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let entry = self.advance();
        self.ended = entry.is_err();
        entry.transpose()
    }
}

const MAGIC: [u8; 4] = *b"PAR1";
/// The two marks and the length of the footer.
const SMALLEST_FILE: u64 = 12;

const COLUMNS: [&str; 8] = ["id", "suite", "public_key", "public_keys", "message", "messages", "signature", "source"];
const BYTES: [&str; 3] = ["public_key", "message", "signature"];
const LISTS: [&str; 2] = ["public_keys", "messages"];

/// Tells a Parquet file that was cut off from a file that is not Parquet.
fn check_marks(file: &mut File) -> Result<(), InputError> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut mark = [0; 4];
    file.seek(SeekFrom::Start(0))?;
    if length < SMALLEST_FILE || file.read_exact(&mut mark).is_err() || mark != MAGIC {
        let reason = "the file does not start with \"PAR1\"".to_owned();
        return Err(ParquetFileError::NotParquet { reason }.into());
    }
    file.seek(SeekFrom::End(-4))?;
    file.read_exact(&mut mark)?;
    if mark != MAGIC {
        return Err(ParquetFileError::Truncated.into());
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(())
}

fn check_columns(schema: &Schema) -> Result<(), ParquetFileError> {
    let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let needed: [(&[&str], &'static str); 3] = [
        (&["public_key", "public_keys"], "\"public_key\" (or \"public_keys\")"),
        (&["message", "messages"], "\"message\" (or \"messages\")"),
        (&["signature"], "\"signature\""),
    ];
    for (alternatives, name) in needed {
        if !alternatives.iter().any(|column| found.contains(column)) {
            return Err(ParquetFileError::MissingColumn { name, found: found.join(", ") });
        }
    }
    for name in COLUMNS {
        let mut of_that_name = schema.fields().iter().filter(|field| field.name() == name);
        let Some(field) = of_that_name.next() else { continue };
        let kind = field.data_type();
        let (fits, expected) = if BYTES.contains(&name) {
            (holds_bytes(kind), "text (hexadecimal digits) or binary")
        } else if LISTS.contains(&name) {
            (
                matches!(kind, DataType::List(item) if holds_bytes(item.data_type())),
                "a list of text (hexadecimal digits) or binary",
            )
        } else if name == "suite" {
            (*kind == DataType::Utf8, "text")
        } else if name == "source" {
            (*kind == DataType::Utf8 || kind.is_integer(), "text or an integer")
        } else {
            (holds_id(kind), "text, a number or a boolean")
        };
        if !fits {
            return Err(ParquetFileError::ColumnType { name, found: kind.to_string(), expected });
        }
        if of_that_name.next().is_some() {
            return Err(ParquetFileError::ColumnType { name, found: "two columns".to_owned(), expected: "one column" });
        }
    }
    Ok(())
}

fn holds_bytes(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::Binary | DataType::FixedSizeBinary(_))
}

fn holds_id(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::Boolean | DataType::Float32 | DataType::Float64) || kind.is_integer()
}

/// A batch of rows. Its columns are looked up once.
struct Batch {
    rows: usize,
    next: usize,
    id: Option<ArrayRef>,
    suite: Option<ArrayRef>,
    public_key: Option<ArrayRef>,
    public_keys: Option<ArrayRef>,
    message: Option<ArrayRef>,
    messages: Option<ArrayRef>,
    signature: Option<ArrayRef>,
    source: Option<ArrayRef>,
}

impl Batch {
    fn new(batch: &RecordBatch) -> Self {
        let column = |name| batch.column_by_name(name).cloned();
        Self {
            rows: batch.num_rows(),
            next: 0,
            id: column("id"),
            suite: column("suite"),
            public_key: column("public_key"),
            public_keys: column("public_keys"),
            message: column("message"),
            messages: column("messages"),
            signature: column("signature"),
            source: column("source"),
        }
    }

    fn record(&self, row: usize, place: Place) -> Result<Record, String> {
        let columns = Columns {
            id: cell(self.id.as_ref(), row).map(|array| id(array, row)).transpose()?.flatten(),
            suite: cell(self.suite.as_ref(), row).and_then(|array| text(array, row)),
            public_key: bytes("public_key", self.public_key.as_ref(), row)?,
            public_keys: list("public_keys", self.public_keys.as_ref(), row)?,
            message: bytes("message", self.message.as_ref(), row)?,
            messages: list("messages", self.messages.as_ref(), row)?,
            signature: bytes("signature", self.signature.as_ref(), row)?,
            source: cell(self.source.as_ref(), row).map(|array| source(array, row)).transpose()?,
        };
        columns.into_record(place)
    }
}

/// The column, if its cell in this row is not null.
fn cell(column: Option<&ArrayRef>, row: usize) -> Option<&dyn Array> {
    column.filter(|array| array.is_valid(row)).map(AsRef::as_ref)
}

fn bytes(name: &str, column: Option<&ArrayRef>, row: usize) -> Result<Option<Vec<u8>>, String> {
    let Some(array) = cell(column, row) else { return Ok(None) };
    cell_bytes(array, row).map(Some).map_err(|reason| format!("\"{name}\": {reason}"))
}

fn list(name: &str, column: Option<&ArrayRef>, row: usize) -> Result<Option<Vec<Vec<u8>>>, String> {
    let Some(array) = cell(column, row) else { return Ok(None) };
    let Some(lists) = array.as_list_opt::<i32>() else {
        return Err(format!("\"{name}\": found {}, expected a list", array.data_type()));
    };
    let items = lists.value(row);
    let item = |index| {
        let found = if items.is_valid(index) {
            cell_bytes(&items, index)
        } else {
            Err("found null, expected bytes".to_owned())
        };
        found.map_err(|reason| format!("\"{name}[{index}]\": {reason}"))
    };
    (0..items.len()).map(item).collect::<Result<_, _>>().map(Some)
}

/// Text is hexadecimal digits; binary is the bytes themselves.
fn cell_bytes(array: &dyn Array, row: usize) -> Result<Vec<u8>, String> {
    match array.data_type() {
        DataType::Utf8 => from_hex(array.as_string::<i32>().value(row)).map_err(|error| error.to_string()),
        DataType::Binary => Ok(array.as_binary::<i32>().value(row).to_vec()),
        DataType::FixedSizeBinary(_) => Ok(array.as_fixed_size_binary().value(row).to_vec()),
        other => Err(format!("found the type {other}, expected text or binary")),
    }
}

fn text(array: &dyn Array, row: usize) -> Option<String> {
    array.as_string_opt::<i32>().map(|texts| texts.value(row).to_owned())
}

fn id(array: &dyn Array, row: usize) -> Result<Option<Id>, String> {
    if let Some(text) = text(array, row) {
        return Ok(Some(Id::text(&text)));
    }
    let json = scalar(array, row)
        .ok_or_else(|| format!("\"id\": found the type {}, expected text, a number or a boolean", array.data_type()))?;
    // JSON cannot write infinity and NaN.
    let raw: &RawValue = serde_json::from_str(&json)
        .map_err(|_| format!("\"id\": found {json}, which JSON cannot write; expected a finite number"))?;
    Id::from_json(raw)
}

fn source(array: &dyn Array, row: usize) -> Result<SourceId, String> {
    if let Some(text) = text(array, row) {
        return Ok(SourceId::Name(text.into()));
    }
    let json = scalar(array, row)
        .ok_or_else(|| format!("\"source\": found the type {}, expected text or an integer", array.data_type()))?;
    json.parse()
        .map(SourceId::Number)
        .map_err(|_| format!("\"source\": found {json}, expected an integer from 0 to 2^64 - 1"))
}

/// A number or a boolean as JSON writes it, if the column holds numbers or booleans.
fn scalar(array: &dyn Array, row: usize) -> Option<String> {
    macro_rules! number {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value(row).to_string()
        };
    }
    Some(match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        _ => return None,
    })
}

/// Calls into the Parquet reader, and makes an error of a panic in there.
///
/// The reader, parquet 60.1, should return an error for every damaged file, but panics for some. Changing one byte of a small
/// file is enough to reach five of its panics: a negative column offset in the footer (`file/metadata/mod.rs`), a page that
/// refers to a dictionary that is not there (`column/reader/decoder.rs`), a division by zero (`arrow/array_reader/byte_array.rs`),
/// and two indices out of bounds. The checks would have to repeat its parser, so the panic is caught here, around each call and
/// nothing else. No call follows on what a panic left behind: the caller ends with the error. The test
/// `the_reader_below_panics_on_some_damaged_files` says when this can go.
fn contained<T, E: Display>(call: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(|error| codec_named(&error.to_string())),
        Err(_) => Err("the file is damaged; write or fetch it again".to_owned()),
    }
}

/// The Parquet library's message, in plain words if the columns are compressed with a codec that is not built in.
fn codec_named(reason: &str) -> String {
    match reason.split_once("Disabled feature at compile time: ") {
        Some((_, codec)) => {
            format!(
                "its columns are compressed with {codec}, which is not read; write it again with zstd, snappy, gzip or lz4"
            )
        }
        None => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests;
