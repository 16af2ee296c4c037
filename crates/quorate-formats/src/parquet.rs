//! Claims as Parquet: one row a claim, with the column names of JSON Lines.
//!
//! A text column holds hexadecimal digits. A binary column, plain or of fixed size, holds the bytes themselves. The plural
//! columns are lists of either. A claim of a chain has `kind` (text), `slot` (an integer) and `index` (an integer or text), as in JSON
//! Lines. Other columns are not read. A cell may be null where JSON Lines may leave its field out, and a column without any value is
//! absent, whatever its type.
//!
//! Memory is bounded, whatever the file states: see [`PAGE_LIMIT`], [`PAGES_LIMIT`], [`DICTIONARY_LIMIT`], [`ELEMENTS_LIMIT`]
//! and [`ROW_LIMIT`]. Sizes that the file declares are checked before memory is allocated for them, and a value that many rows
//! repeat is held once.

// What a file declares, and its pages within their limits.
mod declared;
mod schema;
mod delta;
mod whole_file;
mod pages;
// Columns and rows of one file.
mod column;
// Claims of a chain, written.
mod write;

use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use ::parquet::file::statistics::Statistics;
use ::parquet::schema::types::SchemaDescriptor;

use self::column::Column;
pub use self::declared::PAGE_LIMIT;
use self::declared::check_footer;
use self::pages::Budget;
pub use self::pages::{DICTIONARY_LIMIT, ELEMENTS_LIMIT, PAGES_LIMIT};
use self::schema::columns_of;
use self::whole_file::WholeFile;
pub use self::write::{BYTES_OF_A_GROUP, ChainRow, ChainRows, ROWS_OF_A_GROUP};
use crate::columns::Unbounded;
use crate::entry::Entry;
use crate::error::{InputError, ParquetFileError};
use crate::record::Place;
use crate::table::{ColumnFault, FEW_ROWS, Named, columns, record};

/// What the keys, or the messages, of one row take in memory, at most: 64 MiB, as for a line of JSON.
pub const ROW_LIMIT: usize = crate::columns::HELD_LIMIT;

/// Reads claims row by row.
///
/// After an `Err` from the outer result the iterator ends. Damage inside a page is found only when its rows are reached.
pub struct ParquetRows {
    file: Arc<WholeFile>,
    metadata: ParquetMetaData,
    footer: (u64, u64),
    columns: Vec<(Named, Column)>,
    budget: Budget,
    /// The rows of each row group.
    rows_of_groups: Vec<u64>,
    /// The row group that is read next, where to end, and the rows that are left of the group before it.
    group: usize,
    end: usize,
    left: u64,
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
        let unfit = |reason: String| ParquetFileError::NotParquet { reason };
        let (start, bytes) = footer(&mut file)?;
        check_footer(&bytes).map_err(|error| unfit(error.to_string()))?;
        let footer = (start, bytes.len() as u64);
        let file = Arc::new(WholeFile(file));
        let metadata = contained(|| ParquetMetaDataReader::new().parse_and_finish(file.as_ref())).map_err(unfit)?;
        let length = file.0.metadata()?.len();
        let rows_of_groups = rows_of_groups(&metadata, length).map_err(unfit)?;
        let parts = metadata.file_metadata().schema_descr();
        let table = columns_of(parts);
        let is_empty = |place: usize| is_empty(&metadata, parts, place);
        let read = columns(&table, is_empty).map_err(|fault| match fault {
            ColumnFault::Missing { name, found } => ParquetFileError::MissingColumn { name, found },
            ColumnFault::Type { name, found, expected } => ParquetFileError::ColumnType { name, found, expected },
            ColumnFault::Repeated { name } => ParquetFileError::RepeatedColumn { name },
        })?;
        let columns = read.into_iter().map(|(place, named)| match Column::of(parts, place) {
            Some(column) => Ok((named, column)),
            None => Err(unfit(format!("its column \"{}\" has not one part", named.name))),
        });
        let columns = columns.collect::<Result<_, _>>()?;
        let end = metadata.num_row_groups();
        let budget = Budget::default();
        let (group, left, rows, ended) = (0, 0, 0, false);
        Ok(Self { file, metadata, footer, columns, budget, rows_of_groups, group, end, left, rows, ended })
    }

    /// The row groups of the file. Each can be read by itself.
    ///
    /// # Errors
    /// The footer states sizes that no file has.
    pub fn groups(&self) -> Result<Vec<RowGroup>, InputError> {
        let groups = self.metadata.row_groups().iter().zip(&self.rows_of_groups).map(|(group, rows)| {
            let parts = contained(|| -> Result<_, std::convert::Infallible> {
                Ok(group.columns().iter().map(|column| column.byte_range()).collect::<Vec<_>>())
            });
            let unfit = |reason| InputError::from(ParquetFileError::NotParquet { reason });
            Ok(RowGroup { rows: *rows, parts: parts.map_err(unfit)? })
        });
        groups.collect()
    }

    /// Where the footer stands, which describes all groups: offset and length, in bytes.
    #[must_use]
    pub fn footer(&self) -> (u64, u64) {
        self.footer
    }

    /// The names of columns that no claim has, which are skipped: the first [`UNKNOWN_FIELDS`](crate::UNKNOWN_FIELDS) of them,
    /// cut to [`UNKNOWN_CHARACTERS`](crate::UNKNOWN_CHARACTERS).
    #[must_use]
    pub fn unknown_columns(&self) -> Vec<String> {
        crate::table::unknown(&columns_of(self.metadata.file_metadata().schema_descr()))
    }

    /// The rows of some row groups alone. Each row keeps its number in the file.
    ///
    /// # Errors
    /// The file has no such groups.
    pub fn of_groups(mut self, groups: Range<usize>) -> Result<Self, InputError> {
        let all = &self.rows_of_groups;
        if groups.start > groups.end || groups.end > all.len() {
            let reason =
                format!("found {} row groups, expected those from {} to {}", all.len(), groups.start, groups.end);
            return Err(ParquetFileError::NotParquet { reason }.into());
        }
        self.rows = all[..groups.start].iter().sum();
        (self.group, self.end) = (groups.start, groups.end);
        Ok(self)
    }

    fn advance(&mut self) -> Result<Option<Entry>, InputError> {
        let damaged = |row| move |reason| ParquetFileError::Damaged { row, reason };
        while self.left == 0 {
            for (_, column) in &mut self.columns {
                contained(|| column.end()).map_err(damaged(self.rows))?;
            }
            if self.group == self.end {
                return Ok(None);
            }
            let (group, rows) = (self.metadata.row_group(self.group), self.rows_of_groups[self.group]);
            for (_, column) in &mut self.columns {
                let start = || column.start(&self.file, group, rows as usize, &self.budget);
                contained(start).map_err(damaged(self.rows))?;
            }
            (self.group, self.left) = (self.group + 1, rows);
        }
        let mut cells = Vec::with_capacity(self.columns.len());
        for (_, column) in &mut self.columns {
            cells.push(contained(|| column.next()).map_err(damaged(self.rows))?);
        }
        (self.rows, self.left) = (self.rows + 1, self.left - 1);
        let place = Place::Row(self.rows);
        Ok(Some(record(self.columns.iter().map(|(named, _)| named).zip(cells), place, &mut Unbounded)))
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

/// The rows that each row group states, which are those of the file together. They are no more than the file has bytes: a signature of
/// its own takes 32 bytes or more, and a dictionary and a run none for each row.
fn rows_of_groups(metadata: &ParquetMetaData, length: u64) -> Result<Vec<u64>, String> {
    let groups: Vec<i64> = metadata.row_groups().iter().map(RowGroupMetaData::num_rows).collect();
    let all: i128 = groups.iter().copied().map(i128::from).sum();
    let stated = metadata.file_metadata().num_rows();
    if all != stated.into() {
        return Err(format!(
            "its footer states {stated} rows, and its row groups {all} together; write or fetch it again"
        ));
    }
    let rows = groups.into_iter().map(u64::try_from).collect::<Result<_, _>>();
    let rows = rows.map_err(|_| "a row group states a negative number of rows".to_owned())?;
    if all > i128::from(length.max(FEW_ROWS as u64)) {
        return Err(format!(
            "its footer states {all} rows, in a file of {length} bytes, which holds no signature for each; if they repeat claims, write \
             it without dictionaries and compression"
        ));
    }
    Ok(rows)
}

/// Whether every row group says that the column at a place of the schema has no values. DuckDB gives such a column the type of integers.
fn is_empty(metadata: &ParquetMetaData, schema: &SchemaDescriptor, place: usize) -> bool {
    let has_none = |column: &ColumnChunkMetaData| {
        let nulls = column.statistics().and_then(Statistics::null_count_opt);
        nulls.is_some_and(|nulls| i64::try_from(nulls) == Ok(column.num_values()))
    };
    let of_the_column = |group: &RowGroupMetaData| {
        let leaves = group.columns().iter().enumerate().filter(|(leaf, _)| schema.get_column_root_idx(*leaf) == place);
        leaves.map(|(_, column)| column).all(has_none)
    };
    metadata.num_row_groups() > 0 && metadata.row_groups().iter().all(of_the_column)
}

/// A part of a Parquet file that can be read by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowGroup {
    /// The number of its rows.
    pub rows: u64,
    /// Where its columns stand in the file: offset and length, in bytes.
    pub parts: Vec<(u64, u64)>,
}

const MAGIC: [u8; 4] = *b"PAR1";
/// The two marks and the length of the footer.
const SMALLEST_FILE: u64 = 12;

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

/// Where the footer stands, and its bytes.
fn footer(file: &mut File) -> Result<(u64, Vec<u8>), InputError> {
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
    Ok((start, footer))
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
    match quorate_host::contained(call) {
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
