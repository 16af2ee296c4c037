//! A file of Arrow: a stream, or messages with a footer that says where they stand. Both may be compressed.
//!
//! The Arrow library decodes each message, and allocates what the message states before it looks at what is there. So that is
//! compared with the file first: what its compressed buffers state to hold, its rows, and the elements of its lists. A run of values takes
//! no bytes for each of them. Neither the blocks of a footer nor the buffers of a batch may name the same bytes twice.
//!
//! Spec: apache/arrow, `docs/source/format/Columnar.rst` ("IPC File Format", "Compression"), `format/Message.fbs` (`BodyCompression`).

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::vec;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::convert::{MessageBuffer, try_fb_to_schema};
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary, read_footer_length};
use arrow_ipc::{Block, Endianness, Message, MessageHeader, root_as_footer_with_opts};
use arrow_schema::{ArrowError, Schema};

use super::stream::{VALUES_LIMIT, check_header, header_limits};

/// Reads the batches of a file on disk, one by one. Give each to [`BatchRows`](super::BatchRows).
///
/// Damaged bytes can make the Arrow library panic: call [`open`](Self::open) and [`next`](Iterator::next) in
/// [`quorate_host::contained()`]. After an error the iterator ends.
#[derive(Debug)]
pub struct ArrowFile {
    source: Source,
    /// Bytes of the file.
    length: u64,
    layout: Layout,
    schema: Arc<Schema>,
    /// By the id of a dictionary, the first column that has it. The library would go through all columns for each message.
    with_dictionaries: HashMap<i64, Schema>,
    /// By their ids, with the bytes of each in memory.
    dictionaries: HashMap<i64, ArrayRef>,
    dictionary_bytes: HashMap<i64, u64>,
    /// Bytes of all dictionaries, and those that were copied because a dictionary grew.
    held: u64,
    copied: u64,
    /// Rows that the batches stated so far, and bytes of their values in memory.
    rows: u64,
    values: u64,
    ended: bool,
}

/// Where the next batch stands.
#[derive(Debug)]
enum Layout {
    Stream,
    /// The blocks of a footer. Their lengths together are at most that of the file.
    Footer {
        batches: vec::IntoIter<Block>,
        taken: u64,
    },
}

/// Bytes of the file from here on.
#[derive(Debug)]
struct Source {
    reader: BufReader<File>,
    /// How many there are up to the end.
    rest: u64,
}

impl ArrowFile {
    /// Starts to read a file, whichever of the two it is.
    ///
    /// # Errors
    /// The file cannot be read, is cut off or damaged, or states more than it can hold.
    pub fn open(file: File) -> Result<Self, ArrowError> {
        let length = file.metadata()?.len();
        let mut source = Source { reader: BufReader::new(file), rest: length };
        source.go_to(0, length)?;
        let mut start = Vec::new();
        source.reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start)?;
        if start == MAGIC { Self::with_footer(source, length) } else { Self::stream(source, length) }
    }

    fn stream(mut source: Source, length: u64) -> Result<Self, ArrowError> {
        source.go_to(0, length)?;
        let Some((message, _)) = source.message()? else { return Err(damaged("it has no schema")) };
        let schema = message.as_ref().header_as_schema().ok_or_else(|| damaged("it does not begin with a schema"))?;
        let schema = schema_of(schema)?;
        Ok(Self::new(source, length, Layout::Stream, schema))
    }

    fn with_footer(mut source: Source, length: u64) -> Result<Self, ArrowError> {
        let cut_off = || damaged("it is cut off");
        let end = length.checked_sub(END).ok_or_else(cut_off)?;
        source.go_to(end, length)?;
        let mut tail = [0; END as usize];
        source.reader.read_exact(&mut tail)?;
        let start = end.checked_sub(read_footer_length(tail)? as u64).ok_or_else(cut_off)?;
        source.go_to(start, length)?;
        let footer = source.take(end - start)?;
        let footer = root_as_footer_with_opts(&header_limits(&footer), &footer)
            .map_err(|error| damaged(&format!("its footer cannot be read: {error}")))?;
        let schema = schema_of(footer.schema().ok_or_else(|| damaged("its footer has no schema"))?)?;
        let batches: Vec<Block> = footer.recordBatches().into_iter().flatten().copied().collect();
        let dictionaries: Vec<Block> = footer.dictionaries().into_iter().flatten().copied().collect();
        let layout = Layout::Footer { batches: batches.into_iter(), taken: 0 };
        let mut file = Self::new(source, length, layout, schema);
        for block in dictionaries {
            let (message, body) = file.block(block)?;
            file.dictionary(&message.as_ref(), &body)?;
        }
        Ok(file)
    }

    fn new(source: Source, length: u64, layout: Layout, schema: Schema) -> Self {
        Self {
            source,
            length,
            layout,
            with_dictionaries: with_dictionaries(&schema),
            schema: Arc::new(schema),
            dictionaries: HashMap::new(),
            dictionary_bytes: HashMap::new(),
            held: 0,
            copied: 0,
            rows: 0,
            values: 0,
            ended: false,
        }
    }

    /// Bytes that the rows of all batches may read together: 1 GiB, or 64 times the file if that is more. Compare it with what
    /// [`BatchRows::values`](super::BatchRows::values) counts.
    #[must_use]
    pub fn limit(&self) -> u64 {
        VALUES_LIMIT.max(self.length.saturating_mul(REPEATED))
    }

    /// Bytes that the values of a batch may take in memory, and all dictionaries together.
    fn memory_limit(&self) -> u64 {
        VALUES_LIMIT.max(self.length.saturating_mul(PACKED))
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        loop {
            let next = match &mut self.layout {
                Layout::Stream => self.source.message()?,
                Layout::Footer { batches, .. } => match batches.next() {
                    Some(block) => Some(self.block(block)?),
                    None => None,
                },
            };
            let Some((message, body)) = next else { return Ok(None) };
            let message = message.as_ref();
            match message.header_type() {
                MessageHeader::DictionaryBatch => self.dictionary(&message, &body)?,
                MessageHeader::RecordBatch => return self.batch(&message, &body).map(Some),
                other => return Err(damaged(&format!("found a message of the type {other:?}, expected a batch"))),
            }
        }
    }

    /// The message of a block, and its body.
    fn block(&mut self, block: Block) -> Result<(MessageBuffer, Buffer), ArrowError> {
        let (Ok(offset), Ok(header), Ok(body)) =
            (u64::try_from(block.offset()), u64::try_from(block.metaDataLength()), u64::try_from(block.bodyLength()))
        else {
            return Err(damaged("its footer states a negative length"));
        };
        if let Layout::Footer { taken, .. } = &mut self.layout {
            *taken = taken.saturating_add(header).saturating_add(body);
            if *taken > self.length {
                return Err(damaged("its footer names more bytes than there are"));
            }
        }
        self.source.go_to(offset, self.length)?;
        let header = self.source.take(header)?;
        // Writers before Arrow 0.15 leave the mark in front of the length out.
        let prefix = if header.starts_with(&CONTINUATION) { 2 * WORD } else { WORD };
        if header.len() < prefix {
            return Err(damaged("its footer names a message of no bytes"));
        }
        let header = header.slice(prefix);
        check_header(&header)?;
        Ok((MessageBuffer::try_new(header)?, self.source.take(body)?))
    }

    fn dictionary(&mut self, message: &Message<'_>, body: &Buffer) -> Result<(), ArrowError> {
        let no_values = || damaged("it has a dictionary without values");
        let dictionary = message.header_as_dictionary_batch().ok_or_else(no_values)?;
        let bytes = self.check(&dictionary.data().ok_or_else(no_values)?, body)?;
        let before = self.dictionary_bytes.get(&dictionary.id()).copied().unwrap_or(0);
        let now = if dictionary.isDelta() { before.saturating_add(bytes) } else { bytes };
        if dictionary.isDelta() {
            // The library copies all of it.
            self.copied = self.copied.saturating_add(now);
        }
        self.held = self.held.saturating_sub(before).saturating_add(now);
        self.dictionary_bytes.insert(dictionary.id(), now);
        let limit = self.memory_limit();
        if self.held > limit || self.copied > limit.saturating_mul(COPIES) {
            return Err(ArrowError::IpcError(format!(
                "the dictionaries of the file take more than {} MiB, or grow too often; write it without dictionaries",
                limit >> 20
            )));
        }
        let column = self.with_dictionaries.get(&dictionary.id());
        let column = column.ok_or_else(|| damaged("it has a dictionary of no column"))?;
        read_dictionary(body, dictionary, column, &mut self.dictionaries, &message.version())
    }

    fn batch(&mut self, message: &Message<'_>, body: &Buffer) -> Result<RecordBatch, ArrowError> {
        let batch = message.header_as_record_batch().ok_or_else(|| damaged("it has a batch without columns"))?;
        let values = self.check(&batch, body)?;
        self.values = self.values.saturating_add(values);
        self.rows = self.rows.saturating_add(u64::try_from(batch.length()).unwrap_or(u64::MAX));
        if self.rows > self.length.saturating_add(self.values / CLAIM) {
            return Err(ArrowError::IpcError(format!(
                "its batches state {} rows, in a file of {} bytes; write the columns of claims without runs",
                self.rows, self.length
            )));
        }
        let version = message.version();
        RecordBatchDecoder::try_new(body, batch, self.schema.clone(), &self.dictionaries, &version)?.read_record_batch()
    }

    /// Compares what a batch states with what there is, and gives the bytes that its values take in memory.
    fn check(&self, batch: &arrow_ipc::RecordBatch<'_>, body: &Buffer) -> Result<u64, ArrowError> {
        let outside = || damaged("a batch names bytes outside its own");
        let is_packed = batch.compression().is_some();
        let (mut stored, mut values) = (0_usize, 0_u64);
        for buffer in batch.buffers().into_iter().flatten() {
            let (Ok(offset), Ok(length)) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length())) else {
                return Err(outside());
            };
            if length == 0 {
                continue;
            }
            stored = stored.checked_add(length).filter(|stored| *stored <= body.len()).ok_or_else(outside)?;
            let end = offset.checked_add(length).ok_or_else(outside)?;
            let bytes = body.as_slice().get(offset..end).ok_or_else(outside)?;
            values = values.saturating_add(if is_packed { unpacked(bytes)? } else { length as u64 });
        }
        if values > self.memory_limit() {
            return Err(ArrowError::IpcError(format!(
                "a batch states {values} bytes of values, and at most {} MiB are read of a file of {} bytes; write it in smaller \
                 batches",
                self.memory_limit() >> 20,
                self.length
            )));
        }
        // Of lists of booleans, eight elements take a byte. The rows of all batches are compared with less.
        let most = self.length.saturating_add(values).saturating_mul(8);
        let lengths = batch.nodes().into_iter().flatten().map(|node| node.length());
        match lengths.chain([batch.length()]).find(|length| !u64::try_from(*length).is_ok_and(|length| length <= most))
        {
            Some(length) => Err(ArrowError::IpcError(format!(
                "a batch states {length} rows or elements, in a file of {} bytes; write the columns of claims without runs",
                self.length
            ))),
            None => Ok(values),
        }
    }
}

impl Iterator for ArrowFile {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.advance();
        self.ended = !matches!(batch, Ok(Some(_)));
        batch.transpose()
    }
}

impl Source {
    /// Goes to a place in a file of this length.
    fn go_to(&mut self, offset: u64, length: u64) -> Result<(), ArrowError> {
        self.rest = length.checked_sub(offset).ok_or_else(|| damaged("it names a place behind its end"))?;
        self.reader.seek(SeekFrom::Start(offset))?;
        Ok(())
    }

    /// The next message of a stream and its body; none at the end.
    fn message(&mut self) -> Result<Option<(MessageBuffer, Buffer)>, ArrowError> {
        if self.rest == 0 {
            return Ok(None);
        }
        let mut length = self.word()?;
        if length == CONTINUATION {
            length = self.word()?;
        }
        let length = u32::from_le_bytes(length);
        if length == 0 {
            return Ok(None);
        }
        let header = self.take(length.into())?;
        check_header(&header)?;
        let message = MessageBuffer::try_new(header)?;
        let length = u64::try_from(message.as_ref().bodyLength());
        let body = self.take(length.map_err(|_| damaged("a message states a negative length"))?)?;
        Ok(Some((message, body)))
    }

    fn word(&mut self) -> Result<[u8; WORD], ArrowError> {
        let bytes = self.take(WORD as u64)?;
        bytes.first_chunk().copied().ok_or_else(|| damaged("it is cut off"))
    }

    fn take(&mut self, length: u64) -> Result<Buffer, ArrowError> {
        let found = self.rest;
        self.rest = found
            .checked_sub(length)
            .ok_or_else(|| damaged(&format!("it is cut off: found {found} bytes, expected {length} more")))?;
        let length = usize::try_from(length).map_err(|error| ArrowError::MemoryError(error.to_string()))?;
        let mut buffer =
            MutableBuffer::try_from_len_zeroed(length).map_err(|error| ArrowError::MemoryError(error.to_string()))?;
        self.reader.read_exact(&mut buffer)?;
        Ok(buffer.into())
    }
}

/// The bytes that a compressed buffer states to hold, in front of what is compressed.
fn unpacked(buffer: &[u8]) -> Result<u64, ArrowError> {
    let (stated, rest) = buffer.split_first_chunk().ok_or_else(|| damaged("a compressed buffer is cut off"))?;
    match i64::from_le_bytes(*stated) {
        // It was not compressed after all.
        -1 => Ok(rest.len() as u64),
        stated => u64::try_from(stated).map_err(|_| damaged("a compressed buffer states a negative length")),
    }
}

fn schema_of(schema: arrow_ipc::Schema<'_>) -> Result<Schema, ArrowError> {
    if schema.endianness() != Endianness::Little {
        let reason = "its numbers are big-endian, which is not read; write it as little-endian";
        return Err(ArrowError::IpcError(reason.to_owned()));
    }
    try_fb_to_schema(schema)
}

fn with_dictionaries(schema: &Schema) -> HashMap<i64, Schema> {
    let mut columns = HashMap::new();
    for field in schema.flattened_fields() {
        #[expect(deprecated, reason = "the library has no other way from a column to its id")]
        let id = field.dict_id();
        if let Some(id) = id {
            columns.entry(id).or_insert_with(|| Schema::new(vec![field.clone()]));
        }
    }
    columns
}

fn damaged(reason: &str) -> ArrowError {
    ArrowError::IpcError(format!("the Arrow file is damaged: {reason}; write or fetch it again"))
}

/// The beginning of a file with a footer.
const MAGIC: &[u8] = b"ARROW1";
/// Bytes behind its footer: the length of the footer, and the same mark.
const END: u64 = 10;
/// The mark in front of the length of a message.
const CONTINUATION: [u8; WORD] = [0xff; WORD];
/// Bytes of a length.
const WORD: usize = 4;
/// How often a batch may hold the bytes of its file. Keys and messages that repeat compress well, and signatures do not.
const PACKED: u64 = 8;
/// How often its rows may read the bytes of their file. A key of a list can stand as an index of two bytes, and be 96 digits.
const REPEATED: u64 = 64;
/// How often dictionaries that grow may be copied.
const COPIES: u64 = 16;
/// A claim takes more bytes than that, unless its columns are runs: a signature alone is 32 bytes or more.
const CLAIM: u64 = 32;
