//! Claims as Parquet: one row a claim, with the column names of JSON Lines.
//!
//! A text column holds hexadecimal digits. A binary column, plain or of fixed size, holds the bytes themselves. The plural
//! columns are lists of either. Other columns are not read. A cell may be null where JSON Lines may leave its field out.
//!
//! Memory is bounded, whatever the file states: see [`PAGE_LIMIT`], [`PAGES_LIMIT`], [`DICTIONARY_LIMIT`], [`ELEMENTS_LIMIT`]
//! and [`ROW_LIMIT`]. Sizes that the file declares are checked before memory is allocated for them, and a value that many rows
//! repeat is held once.

// Columns and rows of one file.
mod column;
// What a file declares, and its pages within their limits.
mod declared;
mod pages;
mod whole_file;

use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ::parquet::arrow::parquet_to_arrow_schema;
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use arrow_schema::{DataType, Schema};
use quorate::SourceId;
use serde_json::value::RawValue;

use self::column::{Cell, Column, Value};
use self::declared::check_footer;
use self::pages::Budget;
pub use self::pages::{DICTIONARY_LIMIT, ELEMENTS_LIMIT, PAGE_LIMIT, PAGES_LIMIT};
use self::whole_file::WholeFile;
use crate::columns::{Columns, Field, Held, check_name};
use crate::entry::{Entry, Malformed};
use crate::error::{InputError, ParquetFileError};
use crate::record::{Id, Place, Record};

/// What the keys, or the messages, of one row take in memory, at most: 64 MiB, as for a line of JSON.
pub const ROW_LIMIT: usize = crate::columns::HELD_LIMIT;

/// Reads claims row by row.
///
/// After an `Err` from the outer result the iterator ends. Damage inside a page is found only when its rows are reached.
pub struct ParquetRows {
    file: Arc<WholeFile>,
    metadata: ParquetMetaData,
    columns: Vec<Named>,
    budget: Budget,
    /// The row group that is read next, and the rows that are left of the one before it.
    group: usize,
    left: u64,
    rows: u64,
    ended: bool,
}

/// A column with its name and its type.
struct Named {
    name: &'static str,
    kind: DataType,
    column: Column,
}

impl ParquetRows {
    /// Opens a file. A pipe cannot be read, see [`ParquetFileError::NeedsFile`].
    ///
    /// # Errors
    /// The file is not Parquet, is cut off, lacks a column that every claim needs, or has a column of a type that cannot hold
    /// it.
    pub fn open(mut file: File) -> Result<Self, InputError> {
        check_marks(&mut file)?;
        let unfit = |reason: String| ParquetFileError::NotParquet { reason };
        check_footer(&footer(&mut file)?).map_err(|error| unfit(error.to_string()))?;
        let file = Arc::new(WholeFile(file));
        let metadata = contained(|| ParquetMetaDataReader::new().parse_and_finish(file.as_ref())).map_err(unfit)?;
        let parts = metadata.file_metadata().schema_descr();
        // Without the file's own Arrow schema, which could only ask for other forms in memory of the same values.
        let schema = contained(|| parquet_to_arrow_schema(parts, None)).map_err(unfit)?;
        check_columns(&schema)?;
        let columns = COLUMNS.into_iter().filter_map(|name| {
            let kind = schema.field_with_name(name).ok()?.data_type().clone();
            Some(Named { name, kind, column: Column::find(parts, name)? })
        });
        let columns = columns.collect();
        Ok(Self { file, metadata, columns, budget: Budget::default(), group: 0, left: 0, rows: 0, ended: false })
    }

    fn advance(&mut self) -> Result<Option<Entry>, InputError> {
        let damaged = |row| move |reason| ParquetFileError::Damaged { row, reason };
        while self.left == 0 {
            if self.group == self.metadata.num_row_groups() {
                return Ok(None);
            }
            let group = self.metadata.row_group(self.group);
            let rows = u64::try_from(group.num_rows())
                .map_err(|_| damaged(self.rows)("a row group states a negative number of rows".to_owned()))?;
            for named in &mut self.columns {
                let start = || named.column.start(&self.file, group, rows as usize, &self.budget);
                contained(start).map_err(damaged(self.rows))?;
            }
            (self.group, self.left) = (self.group + 1, rows);
        }
        let mut cells = Vec::with_capacity(self.columns.len());
        for named in &mut self.columns {
            cells.push(contained(|| named.column.next()).map_err(damaged(self.rows))?);
        }
        (self.rows, self.left) = (self.rows + 1, self.left - 1);
        let place = Place::Row(self.rows);
        Ok(Some(record(&self.columns, cells, place).map_err(|reason| Malformed { place, reason })))
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

/// The bytes of the footer.
fn footer(file: &mut File) -> Result<Vec<u8>, InputError> {
    let mut length = [0; 4];
    let end = file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut length)?;
    let length = u64::from(u32::from_le_bytes(length));
    let start = end.checked_sub(length).ok_or_else(|| ParquetFileError::NotParquet {
        reason: format!("its footer states {length} bytes, more than the file has"),
    })?;
    let mut footer = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    // Read no more than what a footer may have, and one byte.
    file.take(length.min(declared::FOOTER_LIMIT as u64 + 1)).read_to_end(&mut footer)?;
    Ok(footer)
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

fn record(columns: &[Named], cells: Vec<Cell>, place: Place) -> Result<Record, String> {
    let mut fields = Columns::default();
    for (Named { name, kind, .. }, cell) in columns.iter().zip(cells) {
        let value = match cell {
            Cell::Null => continue,
            Cell::List(items) => {
                let DataType::List(item) = kind else { return Err(format!("{name:?}: found a list")) };
                match *name {
                    "public_keys" => fields.public_keys = Some(list(Field::PublicKeys, item.data_type(), items)?),
                    _ => fields.messages = Some(list(Field::Messages, item.data_type(), items)?),
                }
                continue;
            }
            Cell::One(value) => value,
        };
        let bytes = |field: Field| {
            let named = |reason| format!("{name:?}: {reason}");
            field.one(bytes(&value)?, *kind == DataType::Utf8).map_err(named)
        };
        match *name {
            "id" => fields.id = id(&value, kind)?,
            "suite" => fields.suite = Some(text(name, &value)?),
            "source" => fields.source = Some(source(&value, kind)?),
            "public_key" => fields.public_key = Some(bytes(Field::PublicKeys)?),
            "message" => fields.message = Some(bytes(Field::Messages)?),
            "signature" => fields.signature = Some(bytes(Field::Signature)?),
            _ => return Err(format!("{name:?}: found one value, expected a list")),
        }
    }
    fields.into_record(place)
}

fn list(field: Field, kind: &DataType, items: Vec<Option<Value>>) -> Result<Vec<Vec<u8>>, String> {
    let name = field.list_name();
    let (mut held, mut list) = (Held::default(), Vec::with_capacity(items.len()));
    for (index, item) in items.into_iter().enumerate() {
        let item = item.ok_or_else(|| "found null, expected bytes".to_owned());
        let decoded = item.and_then(|value| field.one(bytes(&value)?, *kind == DataType::Utf8));
        let decoded = decoded.map_err(|reason| format!("\"{name}[{index}]\": {reason}"))?;
        held.add(&decoded).map_err(|reason| format!("\"{name}\": {reason}"))?;
        list.push(decoded);
    }
    Ok(list)
}

fn bytes(value: &Value) -> Result<&[u8], String> {
    match value {
        Value::Bytes(bytes) => Ok(bytes.data()),
        _ => Err("found a number, expected text or binary".to_owned()),
    }
}

fn text(name: &str, value: &Value) -> Result<String, String> {
    let found = bytes(value).map_err(|reason| format!("{name:?}: {reason}"))?;
    let text = std::str::from_utf8(found).map_err(|_| format!("{name:?}: the text is not UTF-8"))?;
    check_name(name, text.len())?;
    Ok(text.to_owned())
}

fn id(value: &Value, kind: &DataType) -> Result<Option<Id>, String> {
    if *kind == DataType::Utf8 {
        return Ok(Some(Id::text(&text("id", value)?)));
    }
    let json = scalar(value, kind)
        .ok_or_else(|| format!("\"id\": found the type {kind}, expected text, a number or a boolean"))?;
    // JSON cannot write infinity and NaN.
    let raw: &RawValue = serde_json::from_str(&json)
        .map_err(|_| format!("\"id\": found {json}, which JSON cannot write; expected a finite number"))?;
    Id::from_json(raw)
}

fn source(value: &Value, kind: &DataType) -> Result<SourceId, String> {
    if *kind == DataType::Utf8 {
        return Ok(SourceId::Name(text("source", value)?.into()));
    }
    let json =
        scalar(value, kind).ok_or_else(|| format!("\"source\": found the type {kind}, expected text or an integer"))?;
    json.parse()
        .map(SourceId::Number)
        .map_err(|_| format!("\"source\": found {json}, expected an integer from 0 to 2^64 - 1"))
}

/// A number or a boolean as JSON writes it. Parquet stores unsigned numbers in the bits of signed ones.
fn scalar(value: &Value, kind: &DataType) -> Option<String> {
    Some(match (value, kind) {
        (Value::Bool(value), _) => value.to_string(),
        (Value::Int32(value), DataType::UInt8 | DataType::UInt16 | DataType::UInt32) => {
            value.cast_unsigned().to_string()
        }
        (Value::Int64(value), DataType::UInt64) => value.cast_unsigned().to_string(),
        (Value::Int32(value), _) => value.to_string(),
        (Value::Int64(value), _) => value.to_string(),
        (Value::Float(value), _) => value.to_string(),
        (Value::Double(value), _) => value.to_string(),
        (Value::Bytes(_), _) => return None,
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
