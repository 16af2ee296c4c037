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
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use arrow_array::builder::{BinaryBuilder, ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use crate::record::ClaimIndex;

/// Rows of a row group, at most.
pub const ROWS_OF_A_GROUP: usize = 16_384;
/// Bytes of a row group in the file, about, at most: 32 MiB.
pub const BYTES_OF_A_GROUP: usize = 32 << 20;

/// Rows and bytes that are gathered before they are encoded.
const ROWS_OF_A_BATCH: usize = 1024;
const BYTES_OF_A_BATCH: usize = 4 << 20;

/// A claim of a chain, as a row.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "it is the columns")]
pub struct ChainRow<'a> {
    /// The suite's id or profile.
    pub suite: &'a str,
    /// Encoded keys. They all signed the message.
    pub public_keys: &'a [Vec<u8>],
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
    writer: ArrowWriter<W>,
    schema: Arc<Schema>,
    batch: Batch,
}

impl<W: Write + Send> ChainRows<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Nothing can be written.
    pub fn new(to: W) -> io::Result<Self> {
        let key = Arc::new(Field::new(ELEMENT, DataType::Binary, false));
        let text = |name: &str| Field::new(name, DataType::Utf8, false);
        let schema = Arc::new(Schema::new(vec![
            Field::new("public_keys", DataType::List(key), false),
            Field::new("message", DataType::Binary, false),
            Field::new("signature", DataType::Binary, false),
            text("suite"),
            text("kind"),
            Field::new("slot", DataType::UInt64, false),
            text("index"),
            Field::new("reason", DataType::Utf8, true),
        ]));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            // The least and the greatest of keys and signatures tell nobody anything.
            .set_statistics_enabled(EnabledStatistics::None)
            .set_column_statistics_enabled("slot".into(), EnabledStatistics::Chunk)
            // No signature stands twice in a chain.
            .set_column_dictionary_enabled("signature".into(), false)
            .set_max_row_group_row_count(Some(ROWS_OF_A_GROUP))
            .set_max_row_group_bytes(Some(BYTES_OF_A_GROUP));
        let writer = ArrowWriter::try_new(to, schema.clone(), Some(properties.build())).map_err(unwritten)?;
        Ok(Self { writer, schema, batch: Batch::default() })
    }

    /// Adds a claim.
    ///
    /// # Errors
    /// Nothing can be written.
    pub fn write(&mut self, row: &ChainRow<'_>) -> io::Result<()> {
        self.batch.push(row);
        if self.batch.rows >= ROWS_OF_A_BATCH || self.batch.bytes >= BYTES_OF_A_BATCH {
            self.encode()?;
        }
        Ok(())
    }

    /// Ends the file, and gives back what it was written to.
    ///
    /// # Errors
    /// Nothing can be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.encode()?;
        self.writer.into_inner().map_err(unwritten)
    }

    fn encode(&mut self) -> io::Result<()> {
        let columns = std::mem::take(&mut self.batch).columns();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(unwritten)
    }
}

/// Rows that are not encoded yet.
struct Batch {
    public_keys: ListBuilder<BinaryBuilder>,
    message: BinaryBuilder,
    signature: BinaryBuilder,
    suite: StringBuilder,
    kind: StringBuilder,
    slot: UInt64Builder,
    index: StringBuilder,
    reason: StringBuilder,
    rows: usize,
    bytes: usize,
}

impl Default for Batch {
    fn default() -> Self {
        let key = Field::new(ELEMENT, DataType::Binary, false);
        Self {
            public_keys: ListBuilder::new(BinaryBuilder::new()).with_field(key),
            message: BinaryBuilder::new(),
            signature: BinaryBuilder::new(),
            suite: StringBuilder::new(),
            kind: StringBuilder::new(),
            slot: UInt64Builder::new(),
            index: StringBuilder::new(),
            reason: StringBuilder::new(),
            rows: 0,
            bytes: 0,
        }
    }
}

impl Batch {
    fn push(&mut self, row: &ChainRow<'_>) {
        for key in row.public_keys {
            self.public_keys.values().append_value(key);
            self.bytes += key.len();
        }
        self.public_keys.append(true);
        self.message.append_value(row.message);
        self.signature.append_value(row.signature);
        self.suite.append_value(row.suite);
        self.kind.append_value(row.kind);
        self.slot.append_value(row.slot);
        self.index.append_value(row.index.to_string());
        self.reason.append_option(row.reason);
        self.rows += 1;
        self.bytes += row.message.len() + row.signature.len() + row.reason.map_or(0, str::len);
    }

    /// The columns, in the order of the schema.
    fn columns(mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(self.public_keys.finish()),
            Arc::new(self.message.finish()),
            Arc::new(self.signature.finish()),
            Arc::new(self.suite.finish()),
            Arc::new(self.kind.finish()),
            Arc::new(self.slot.finish()),
            Arc::new(self.index.finish()),
            Arc::new(self.reason.finish()),
        ]
    }
}

/// How Parquet calls what a list holds.
const ELEMENT: &str = "element";

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
        public_keys: Vec<Vec<u8>>,
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
                public_keys,
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
