//! The messages of an Arrow stream: a schema, then dictionaries and batches, each behind its length.
//!
//! The Arrow library decodes each message. What a message states is compared with what it holds before that: its buffers must not
//! overlap, because the library copies a buffer that is not aligned; it must not have more rows than the stream has bytes, or elements
//! of lists than it has bits, because a run of values takes no bytes for each of them; and a dictionary must not grow, because the
//! library copies all of it each time. A header must not name the same parts many times, because the library copies a field each time
//! that it is named. Columns that are not read are not decoded, and neither are their dictionaries. Text in views is decoded as bytes,
//! because the library would look through the same bytes for each view of them; `table` checks the text that a row reads.
//!
//! Spec: apache/arrow, `docs/source/format/Columnar.rst` ("Encapsulated message format", "IPC Streaming Format").

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::Buffer;
use arrow_ipc::convert::{MessageBuffer, try_fb_to_schema};
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{Endianness, Message, MessageHeader, root_as_message_with_opts};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use flatbuffers::{InvalidFlatbuffer, VerifierOptions};

use crate::table::{Kind, fits, is_of_chain, is_read};

/// What the rows of a stream read, at most: 1 GiB, or twice the stream if that is more. A view, a dictionary or a run lets many
/// rows name the same bytes; they are counted for each row.
pub const VALUES_LIMIT: u64 = 1 << 30;

/// A stream in memory.
#[derive(Debug)]
pub(super) struct Stream {
    rest: Buffer,
    /// Bytes of the whole stream.
    length: usize,
    schema: Option<Read>,
    /// By their ids.
    dictionaries: HashMap<i64, ArrayRef>,
}

/// A schema, and which of its columns are decoded.
#[derive(Debug)]
struct Read {
    stated: Arc<Schema>,
    /// The same, with bytes in place of text in views.
    decoded: Arc<Schema>,
    columns: Vec<usize>,
    /// The columns that are decoded, and no other. The library decodes a dictionary as the first column has it that names its id.
    with_dictionaries: Arc<Schema>,
}

/// A batch whose columns stand at their places in the schema; those that are not read are missing.
pub(super) struct Decoded {
    pub(super) schema: Arc<Schema>,
    pub(super) columns: Vec<Option<ArrayRef>>,
    pub(super) rows: usize,
}

impl Stream {
    pub(super) fn new(stream: Vec<u8>) -> Self {
        let length = stream.len();
        Self { rest: stream.into(), length, schema: None, dictionaries: HashMap::new() }
    }

    /// About how many bytes of memory it takes to read a stream of which nothing was read yet, at most, beside what its rows hold.
    ///
    /// Batches that do not lie as they must are copied, and columns take more than the schema's bytes. The schema is the first
    /// message, or there is an error.
    pub(super) fn memory(&self) -> usize {
        let mut ahead =
            Self { rest: self.rest.clone(), length: self.length, schema: None, dictionaries: HashMap::new() };
        let schema = ahead.header_length().unwrap_or(0) as usize;
        self.length.saturating_add(schema.min(self.length).saturating_mul(COLUMN))
    }

    /// The next batch; none at the end.
    ///
    /// # Errors
    /// The stream is damaged, cut off or compressed, or is not an Arrow stream.
    pub(super) fn next(&mut self) -> Result<Option<Decoded>, String> {
        while let Some((message, body)) = self.message()? {
            let message = message.as_ref();
            match message.header_type() {
                MessageHeader::Schema => {
                    if self.schema.is_some() {
                        return Err("found a second schema, expected a batch".to_owned());
                    }
                    self.schema = Some(contained(|| Read::new(&message))?);
                }
                MessageHeader::DictionaryBatch => self.dictionary(&message, &body)?,
                MessageHeader::RecordBatch => return self.batch(&message, &body).map(Some),
                other => return Err(format!("found a message of the type {other:?}, expected a batch")),
            }
        }
        Ok(None)
    }

    /// The next message and its body.
    fn message(&mut self) -> Result<Option<(MessageBuffer, Buffer)>, String> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let length = self.header_length()?;
        if length == 0 {
            return match self.rest.len() {
                0 => Ok(None),
                more => Err(format!("found {more} bytes behind the end of the stream; send one stream")),
            };
        }
        let header = self.take(u64::from(length))?;
        let message = contained(|| {
            check_header(&header)?;
            MessageBuffer::try_new(header)
        })?;
        let length = u64::try_from(message.as_ref().bodyLength());
        let body = self.take(length.map_err(|_| "a message states a negative length".to_owned())?)?;
        Ok(Some((message, body)))
    }

    fn header_length(&mut self) -> Result<u32, String> {
        let length = self.number()?;
        // Writers before Arrow 0.15 leave the mark out.
        if length == CONTINUATION { self.number() } else { Ok(length) }
    }

    fn number(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn take(&mut self, length: u64) -> Result<Buffer, String> {
        let found = self.rest.len();
        match usize::try_from(length).ok().filter(|length| *length <= found) {
            Some(length) => {
                let taken = self.rest.slice_with_length(0, length);
                self.rest.advance(length);
                Ok(taken)
            }
            None => Err(format!("found {found} bytes, expected {length} more; the stream is cut off, send it again")),
        }
    }

    fn schema(&self) -> Result<&Read, String> {
        self.schema.as_ref().ok_or_else(|| "found a batch, expected a schema in front of it".to_owned())
    }

    fn dictionary(&mut self, message: &Message<'_>, body: &Buffer) -> Result<(), String> {
        let columns = self.schema()?.with_dictionaries.clone();
        let Some(dictionary) = message.header_as_dictionary_batch() else { return Err(damaged()) };
        if dictionary.isDelta() {
            return Err(
                "found a dictionary that continues the one before it, which is not read; write whole dictionaries"
                    .to_owned(),
            );
        }
        let values = dictionary.data().ok_or_else(damaged)?;
        self.check(&values, body)?;
        #[expect(deprecated, reason = "the library has no other way from an id to its columns")]
        let is_needed = !columns.fields_with_dict_id(dictionary.id()).is_empty();
        if !is_needed {
            return Ok(());
        }
        let dictionaries = &mut self.dictionaries;
        contained(|| read_dictionary(body, dictionary, &columns, dictionaries, &message.version()))
    }

    fn batch(&self, message: &Message<'_>, body: &Buffer) -> Result<Decoded, String> {
        let read = self.schema()?;
        let batch = message.header_as_record_batch().ok_or_else(damaged)?;
        self.check(&batch, body)?;
        let version = message.version();
        let decoded = contained(|| {
            RecordBatchDecoder::try_new(body, batch, read.decoded.clone(), &self.dictionaries, &version)?
                .with_projection(Some(&read.columns))
                .read_record_batch()
        })?;
        let mut columns = vec![None; read.stated.fields().len()];
        for (place, column) in read.columns.iter().zip(decoded.columns()) {
            columns[*place] = Some(column.clone());
        }
        Ok(Decoded { schema: read.stated.clone(), columns, rows: decoded.num_rows() })
    }

    /// Compares what a batch states with what there is.
    fn check(&self, batch: &arrow_ipc::RecordBatch<'_>, body: &Buffer) -> Result<(), String> {
        if batch.compression().is_some() {
            return Err("its batches are compressed, which is not read; write them without compression".to_owned());
        }
        // Of lists of booleans, eight elements take a byte.
        let most = self.length.saturating_mul(8);
        let lengths = batch.nodes().into_iter().flatten().map(|node| (node.length(), most));
        for (length, most) in lengths.chain([(batch.length(), self.length)]) {
            if !usize::try_from(length).is_ok_and(|length| length <= most) {
                return Err(format!("a batch states {length} rows or elements, in a stream of {} bytes", self.length));
            }
        }
        let mut lengths = batch.buffers().into_iter().flatten().map(|buffer| u64::try_from(buffer.length()).ok());
        let stated = lengths.try_fold(0u64, |sum, length| sum.checked_add(length?)).ok_or_else(damaged)?;
        if stated > body.len() as u64 {
            return Err(format!("the buffers of a batch state {stated} bytes, but it has {}", body.len()));
        }
        Ok(())
    }
}

const CONTINUATION: u32 = u32::MAX;

/// What a schema takes in memory for each of its bytes, at most, under the limits of [`check_header`]. A field of 32 bytes is three
/// objects of about 150 bytes each, and texts.
const COLUMN: usize = 100;

/// Refuses a header that names the same parts many times: each of its fields, keys and values is copied as often as it is named.
///
/// Where no table is named twice, one takes at least eight bytes: the offset of what it has, and the one that leads to it. Writers
/// share only the lists of what tables have, which makes the header of a schema look up to three times as long as it is.
pub(super) fn check_header(header: &[u8]) -> Result<(), ArrowError> {
    match root_as_message_with_opts(&header_limits(header), header) {
        Err(InvalidFlatbuffer::TooManyTables | InvalidFlatbuffer::ApparentSizeTooLarge) => {
            let reason = "a header names the same parts many times; write each field of the schema once";
            Err(ArrowError::IpcError(reason.to_owned()))
        }
        // Other faults are found where it is read.
        _ => Ok(()),
    }
}

/// The limits of [`check_header`].
pub(super) fn header_limits(header: &[u8]) -> VerifierOptions {
    VerifierOptions {
        max_tables: header.len() / 8,
        max_apparent_size: header.len().saturating_mul(4),
        ..VerifierOptions::default()
    }
}

impl Read {
    fn new(message: &Message<'_>) -> Result<Self, ArrowError> {
        let schema = message.header_as_schema().ok_or_else(|| ArrowError::IpcError(damaged()))?;
        if schema.endianness() != Endianness::Little {
            let reason = "its numbers are big-endian, which is not read; write it as little-endian";
            return Err(ArrowError::IpcError(reason.to_owned()));
        }
        let stated = try_fb_to_schema(schema)?;
        let has_kind = stated.fields().iter().any(|field| field.name() == "kind");
        // Nulls alone are absent, whatever their column is called.
        let is_decoded = |field: &FieldRef| {
            is_read(field.name())
                && (has_kind || !is_of_chain(field.name()))
                && is_flat(field.data_type())
                && Kind::from(field.data_type()) != Kind::Null
        };
        let fields = stated.fields().iter().enumerate();
        let columns: Vec<_> = fields.filter(|(_, field)| is_decoded(field)).map(|(place, _)| place).collect();
        let fields =
            stated.fields().iter().map(|field| if is_decoded(field) { with_bytes(field) } else { field.clone() });
        let decoded = Schema::new(fields.collect::<Vec<_>>());
        check_names(&stated, &columns)?;
        let with_dictionaries = Arc::new(decoded.project(&columns)?);
        Ok(Self { stated: Arc::new(stated), decoded: Arc::new(decoded), columns, with_dictionaries })
    }
}

/// Refuses two columns of one name that is read, so that few columns are decoded. A column of a type that its name does not fit may
/// stand beside the other: it can be without any value.
fn check_names(schema: &Schema, columns: &[usize]) -> Result<(), ArrowError> {
    let mut found: Vec<(&String, bool)> = Vec::new();
    for field in columns.iter().map(|place| schema.field(*place)) {
        let column = (field.name(), fits(field.name(), &Kind::from(field.data_type())));
        if found.contains(&column) {
            let reason =
                format!("found two columns \"{}\", expected one; send it with one column of each name", field.name());
            return Err(ArrowError::IpcError(reason));
        }
        found.push(column);
    }
    Ok(())
}

/// Whether a column can hold claims at all: values, or lists of values.
pub(super) fn is_flat(kind: &DataType) -> bool {
    match Kind::from(kind) {
        Kind::List(element) => !matches!(*element, Kind::List(_) | Kind::Nested(_)),
        kind => !matches!(kind, Kind::Nested(_)),
    }
}

fn with_bytes(field: &FieldRef) -> FieldRef {
    let kind = bytes_of(field.data_type());
    Arc::new(Field::clone(field).with_data_type(kind))
}

/// The same type, with bytes in place of text in views.
fn bytes_of(kind: &DataType) -> DataType {
    match kind {
        DataType::Utf8View => DataType::BinaryView,
        DataType::Dictionary(keys, values) => DataType::Dictionary(keys.clone(), Box::new(bytes_of(values))),
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(ends.clone(), with_bytes(values)),
        DataType::List(item) => DataType::List(with_bytes(item)),
        DataType::LargeList(item) => DataType::LargeList(with_bytes(item)),
        DataType::ListView(item) => DataType::ListView(with_bytes(item)),
        DataType::LargeListView(item) => DataType::LargeListView(with_bytes(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(with_bytes(item), *length),
        other => other.clone(),
    }
}

/// Calls into the Arrow reader, and makes an error of a panic in there: of a stream from a network it must not be one of ours.
/// No call follows on what a panic left behind: the caller ends with the error.
fn contained<T, E: Display>(call: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match quorate_host::contained(call) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err(damaged()),
    }
}

fn damaged() -> String {
    "the stream is damaged; send it again".to_owned()
}

#[cfg(test)]
mod tests {
    use arrow_ipc::writer::StreamWriter;

    use super::*;

    /// A message that names an identifier of a dictionary costs a walk through these columns.
    #[test]
    fn dictionaries_that_no_column_has_cost_nothing_by_the_columns() {
        let own = (0..1000).map(|place| Field::new(format!("own {place}"), DataType::Null, true));
        let read = ["message", "signature"].map(|name| Field::new(name, DataType::Binary, true));
        let schema = Schema::new(own.chain(read).collect::<Vec<_>>());
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
        writer.finish().unwrap();
        let mut stream = Stream::new(writer.into_inner().unwrap());
        assert!(stream.next().unwrap().is_none());
        let walked = &stream.schema().unwrap().with_dictionaries;
        let names: Vec<_> = walked.fields().iter().map(|field| field.name()).collect();
        assert_eq!(names, ["message", "signature"]);
    }
}
