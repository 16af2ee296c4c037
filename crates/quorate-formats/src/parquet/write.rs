//! Claims of a chain, written as a Parquet file that [`ParquetRows`](super::ParquetRows) reads.
//!
//! | column | type |
//! |---|---|
//! | `public_keys` | list of binary |
//! | `message`, `signature` | binary |
//! | `suite`, `kind`, `index` | text |
//! | `slot` | unsigned 64-bit integer |
//! | `reason` | text; null unless the chain refutes the claim, and then it says why |
//!
//! Columns are compressed with zstd. What is held is one row group: [`ROWS_OF_A_GROUP`] rows, or some [`BYTES_OF_A_GROUP`] bytes.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use ::parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer, get_typed_column_writer_mut};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use ::parquet::schema::parser::parse_message_type;
use bytes::Bytes;
use quorate::PublicKeys;

use crate::record::ClaimIndex;

/// Rows of a row group, at most.
pub const ROWS_OF_A_GROUP: usize = 16_384;
/// Bytes of a row group in the file, about, at most: 32 MiB.
pub const BYTES_OF_A_GROUP: usize = 32 << 20;

/// Rows and bytes that are gathered before they are encoded: few, so that they are still in the cache then.
const ROWS_OF_A_BATCH: usize = 1024;
const BYTES_OF_A_BATCH: usize = 256 << 10;

/// A claim of a chain, as a row.
#[derive(Clone, Copy, Debug)]
pub struct ChainRow<'a> {
    /// The suite's id or profile.
    pub suite: &'a str,
    /// Encoded keys. They all signed the message.
    pub public_keys: &'a PublicKeys,
    /// What they signed.
    pub message: &'a [u8],
    /// The encoded (aggregate) signature.
    pub signature: &'a [u8],
    /// What is signed: "attestation".
    pub kind: &'a str,
    /// The slot, the round or the height of the block in which it stands.
    pub slot: u64,
    /// Where in the block it stands.
    pub index: ClaimIndex,
    /// Why the chain refutes the claim, whatever its signature. Without it, the claim is as valid as its signature.
    pub reason: Option<&'a str>,
}

/// Writes claims of a chain as Parquet. Without [`finish`](Self::finish) the file has no end, and cannot be read.
pub struct ChainRows<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    /// The row group that is written next, encoded in memory.
    group: Vec<Column>,
    rows: usize,
    /// Rows of the group that are not encoded yet.
    batch: Batch,
}

/// The columns, in the order of [`Batch::columns`].
const SCHEMA: &str = "
message claims {
    REQUIRED GROUP public_keys (LIST) { REPEATED GROUP list { REQUIRED BYTE_ARRAY element; } }
    REQUIRED BYTE_ARRAY message;
    REQUIRED BYTE_ARRAY signature;
    REQUIRED BYTE_ARRAY suite (STRING);
    REQUIRED BYTE_ARRAY kind (STRING);
    REQUIRED INT64 slot (INTEGER(64,false));
    REQUIRED BYTE_ARRAY index (STRING);
    OPTIONAL BYTE_ARRAY reason (STRING);
}";

impl<W: Write + Send> ChainRows<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Nothing can be written.
    pub fn new(to: W) -> io::Result<Self> {
        let schema = parse_message_type(SCHEMA).map_err(unwritten)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            // The least and the greatest of keys and signatures tell nobody anything.
            .set_statistics_enabled(EnabledStatistics::None)
            .set_column_statistics_enabled("slot".into(), EnabledStatistics::Chunk)
            // No signature stands twice in a chain.
            .set_column_dictionary_enabled("signature".into(), false);
        let writer = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties.build()));
        let writer = writer.map_err(unwritten)?;
        let group = group_of(&writer);
        Ok(Self { writer, group, rows: 0, batch: Batch::default() })
    }

    /// Adds a claim.
    ///
    /// # Errors
    /// Nothing can be written.
    pub fn write(&mut self, row: &ChainRow<'_>) -> io::Result<()> {
        self.batch.push(row);
        self.rows += 1;
        let group_is_full = self.rows == ROWS_OF_A_GROUP;
        if group_is_full || self.batch.rows >= ROWS_OF_A_BATCH || self.batch.bytes >= BYTES_OF_A_BATCH {
            self.encode().map_err(unwritten)?;
            let bytes: u64 = self.group.iter().map(Column::bytes).sum();
            if group_is_full || bytes >= BYTES_OF_A_GROUP as u64 {
                self.end_group().map_err(unwritten)?;
            }
        }
        Ok(())
    }

    /// Ends the file, and gives back what it was written to.
    ///
    /// # Errors
    /// Nothing can be written.
    pub fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.encode().and_then(|()| self.end_group()).map_err(unwritten)?;
        }
        self.writer.into_inner().map_err(unwritten)
    }

    fn encode(&mut self) -> Result<()> {
        let columns = std::mem::take(&mut self.batch).columns();
        self.group.iter_mut().zip(columns).try_for_each(|(column, values)| column.encode(&values))
    }

    fn end_group(&mut self) -> Result<()> {
        let next = group_of(&self.writer);
        let mut group = self.writer.next_row_group()?;
        for column in std::mem::replace(&mut self.group, next) {
            let (bytes, closed) = column.close()?;
            group.append_column(&bytes, closed)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

/// A column of a row group, encoded into memory: all columns of a group grow together, and stand one after another in the file.
struct Column {
    writer: ColumnWriter<'static>,
    pages: EncodedPages,
    values: u64,
}

/// The columns of an empty row group.
fn group_of<W: Write + Send>(writer: &SerializedFileWriter<W>) -> Vec<Column> {
    let column = |column: &_| {
        let pages = EncodedPages::default();
        let writer = get_column_writer(Arc::clone(column), writer.properties().clone(), Box::new(pages.clone()));
        Column { writer, pages, values: 0 }
    };
    writer.schema_descr().columns().iter().map(column).collect()
}

impl Column {
    fn encode(&mut self, values: &Values) -> Result<()> {
        match values {
            Values::Bytes(values) => self.write::<ByteArrayType>(values, None, None),
            Values::Numbers(values) => self.write::<Int64Type>(values, None, None),
            Values::Optional { values, definition } => self.write::<ByteArrayType>(values, Some(definition), None),
            Values::Lists { values, definition, repetition } => {
                self.write::<ByteArrayType>(values, Some(definition), Some(repetition))
            }
        }
    }

    fn write<T: DataType>(
        &mut self,
        values: &[T::T],
        definition: Option<&[i16]>,
        repetition: Option<&[i16]>,
    ) -> Result<()> {
        self.values += values.len() as u64;
        get_typed_column_writer_mut::<T>(&mut self.writer).write_batch(values, definition, repetition).map(drop)
    }

    /// Bytes of the column so far, about: of its finished pages, and of those that wait until their dictionary is whole, which hold
    /// two bytes a value.
    fn bytes(&self) -> u64 {
        let written = match &self.writer {
            ColumnWriter::ByteArrayColumnWriter(writer) => writer.get_total_bytes_written(),
            ColumnWriter::Int64ColumnWriter(writer) => writer.get_total_bytes_written(),
            _ => 0,
        };
        written.max(2 * self.values)
    }

    fn close(self) -> Result<(Bytes, ColumnCloseResult)> {
        let closed = self.writer.close()?;
        Ok((self.pages.take().into(), closed))
    }
}

/// The pages of a column, one after another.
#[derive(Clone, Default)]
struct EncodedPages(Arc<Mutex<Vec<u8>>>);

impl EncodedPages {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl PageWriter for EncodedPages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = pages.len() as u64;
        let mut written = TrackedWrite::new(&mut *pages);
        let mut place = SerializedPageWriter::new(&mut written).write_page(page)?;
        written.flush()?;
        place.offset += before;
        Ok(place)
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Rows that are not encoded yet.
#[derive(Default)]
struct Batch {
    public_keys: Vec<ByteArray>,
    /// Of each key, and of each row without keys: whether there is a key, and whether the row began before it.
    key_levels: (Vec<i16>, Vec<i16>),
    message: Vec<ByteArray>,
    signature: Vec<ByteArray>,
    suite: Vec<ByteArray>,
    kind: Vec<ByteArray>,
    slot: Vec<i64>,
    index: Vec<ByteArray>,
    reason: Vec<ByteArray>,
    /// Of each row, whether there is a reason.
    reason_levels: Vec<i16>,
    rows: usize,
    bytes: usize,
}

/// The values of a column, with the levels of Parquet.
enum Values {
    Bytes(Vec<ByteArray>),
    /// Unsigned numbers, in the bits of signed ones.
    Numbers(Vec<i64>),
    Optional {
        values: Vec<ByteArray>,
        definition: Vec<i16>,
    },
    Lists {
        values: Vec<ByteArray>,
        definition: Vec<i16>,
        repetition: Vec<i16>,
    },
}

impl Batch {
    fn push(&mut self, row: &ChainRow<'_>) {
        let (definition, repetition) = &mut self.key_levels;
        for (place, key) in row.public_keys.encodings().iter().enumerate() {
            self.public_keys.push((**key).into());
            definition.push(1);
            repetition.push((place > 0).into());
            self.bytes += key.len();
        }
        if row.public_keys.is_empty() {
            definition.push(0);
            repetition.push(0);
        }
        self.message.push(row.message.into());
        self.signature.push(row.signature.into());
        self.suite.push(row.suite.into());
        self.kind.push(row.kind.into());
        self.slot.push(row.slot.cast_signed());
        self.index.push(row.index.to_string().as_str().into());
        self.reason.extend(row.reason.map(ByteArray::from));
        self.reason_levels.push(row.reason.is_some().into());
        self.rows += 1;
        self.bytes += row.message.len() + row.signature.len() + row.reason.map_or(0, str::len);
    }

    /// The columns, in the order of the schema.
    fn columns(self) -> [Values; 8] {
        let (definition, repetition) = self.key_levels;
        [
            Values::Lists { values: self.public_keys, definition, repetition },
            Values::Bytes(self.message),
            Values::Bytes(self.signature),
            Values::Bytes(self.suite),
            Values::Bytes(self.kind),
            Values::Numbers(self.slot),
            Values::Bytes(self.index),
            Values::Optional { values: self.reason, definition: self.reason_levels },
        ]
    }
}

/// The operating system's error, which the Parquet library wraps.
fn unwritten(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Seek;

    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use arrow_array::cast::AsArray;
    use proptest::prelude::*;
    use quorate::Messages;
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::entry::Entry;
    use crate::parquet::ParquetRows;
    use crate::record::OfChain;

    #[derive(Clone, Debug)]
    struct Row {
        suite: String,
        public_keys: PublicKeys,
        message: Vec<u8>,
        signature: Vec<u8>,
        chain: OfChain,
        reason: Option<String>,
    }

    impl Row {
        fn as_row(&self) -> ChainRow<'_> {
            let Self { suite, public_keys, message, signature, chain, reason } = self;
            let OfChain { kind, slot, index } = chain;
            let (slot, index, reason) = (*slot, *index, reason.as_deref());
            ChainRow { suite, public_keys, message, signature, kind, slot, index, reason }
        }
    }

    fn row() -> impl Strategy<Value = Row> {
        let bytes = |longest: usize| prop::collection::vec(any::<u8>(), 0..=longest);
        let index = (any::<usize>(), prop::option::of(any::<usize>()));
        let index = index.prop_map(|(operation, half)| ClaimIndex { operation, half });
        let chain = (".*", any::<u64>(), index).prop_map(|(kind, slot, index)| OfChain { kind, slot, index });
        let keys = prop::collection::vec(bytes(60), 0..5);
        (".*", keys, bytes(100), bytes(96), chain, prop::option::of(".*")).prop_map(
            |(suite, public_keys, message, signature, chain, reason)| Row {
                suite,
                public_keys: public_keys.into(),
                message,
                signature,
                chain,
                reason,
            },
        )
    }

    fn written(rows: &[Row]) -> File {
        let mut writer = ChainRows::new(tempfile::tempfile().unwrap()).unwrap();
        rows.iter().for_each(|row| writer.write(&row.as_row()).unwrap());
        let mut file = writer.finish().unwrap();
        file.rewind().unwrap();
        file
    }

    fn read(file: File) -> Vec<Entry> {
        ParquetRows::open(file).unwrap().map(Result::unwrap).collect()
    }

    fn agree(rows: &[Row], found: Vec<Entry>) {
        assert_eq!(found.len(), rows.len());
        for (row, entry) in rows.iter().zip(found) {
            let record = entry.unwrap();
            assert_eq!(record.suite.as_ref(), Some(&row.suite));
            assert_eq!(record.public_keys, row.public_keys);
            assert_eq!(record.messages, Messages::Shared(row.message.as_slice().into()));
            assert_eq!((&record.signature, &record.chain), (&row.signature, &Some(row.chain.clone())));
            assert_eq!(record.failed_check().map(|check| &check.detail), row.reason.as_ref());
        }
    }

    /// Other libraries read the file by Arrow's rules.
    #[test]
    fn other_libraries_find_these_types() {
        let bytes = Bytes::from({
            let mut writer = ChainRows::new(Vec::new()).unwrap();
            many(3, 2).iter().for_each(|row| writer.write(&row.as_row()).unwrap());
            writer.finish().unwrap()
        });
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        let fields = reader.schema().fields().iter();
        let fields: Vec<_> = fields.map(|f| format!("{} {} {}", f.name(), f.data_type(), f.is_nullable())).collect();
        assert_eq!(
            fields,
            [
                "public_keys List(non-null Binary, field: 'element') false",
                "message Binary false",
                "signature Binary false",
                "suite Utf8 false",
                "kind Utf8 false",
                "slot UInt64 false",
                "index Utf8 false",
                "reason Utf8 true",
            ]
        );
        let batch = reader.build().unwrap().next().unwrap().unwrap();
        let keys = batch.column(0).as_list::<i32>();
        assert_eq!((batch.num_rows(), keys.value(1).as_binary::<i32>().value(1)), (3, &noise(1 << 32 | 1)[..]));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(rows in prop::collection::vec(row(), 0..20)) {
            agree(&rows, read(written(&rows)));
        }
    }

    fn noise(number: u64) -> Vec<u8> {
        Sha256::digest(number.to_le_bytes()).to_vec()
    }

    fn many(count: u64, keys: usize) -> Vec<Row> {
        let row = |slot: u64| Row {
            suite: "eth2".to_owned(),
            // Bytes that do not compress, as those of real keys.
            public_keys: (0..keys as u64).map(|key| noise(slot << 32 | key)).collect(),
            message: slot.to_le_bytes().to_vec(),
            signature: noise(slot),
            chain: OfChain { kind: "attestation".to_owned(), slot, index: 0.into() },
            reason: None,
        };
        (0..count).map(row).collect()
    }

    #[test]
    fn row_groups_are_bounded_by_rows_and_by_bytes() {
        let rows = many(ROWS_OF_A_GROUP as u64 + 10, 1);
        let file = written(&rows);
        let groups = ParquetRows::open(file.try_clone().unwrap()).unwrap().groups().unwrap().len();
        assert_eq!(groups, 2);
        agree(&rows, read(file));
        // 3,000 rows of 32 KB of keys.
        let file = written(&many(3000, 1000));
        let groups = ParquetRows::open(file).unwrap().groups().unwrap().len();
        assert!((2..=4).contains(&groups), "{groups}");
    }

    #[test]
    fn a_full_disk_is_the_operating_systems_error() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let write = |room: usize| {
            let mut writer = ChainRows::new(Full(room))?;
            many(3000, 1).iter().try_for_each(|row| writer.write(&row.as_row()))?;
            writer.finish().map(drop)
        };
        for room in [0, 4, 20_000, 60_000] {
            assert_eq!(write(room).unwrap_err().kind(), io::ErrorKind::StorageFull, "{room}");
        }
        assert!(write(10 << 20).is_ok());
    }

    #[test]
    fn a_file_that_was_not_finished_cannot_be_read() {
        let mut file = tempfile::tempfile().unwrap();
        let mut writer = ChainRows::new(file.try_clone().unwrap()).unwrap();
        many(3000, 1).iter().for_each(|row| writer.write(&row.as_row()).unwrap());
        drop(writer);
        file.rewind().unwrap();
        assert!(ParquetRows::open(file).is_err());
    }
}
