//! Claims of any form that Python has, read window by window.
//!
//! `python/quorate/_sources.py` first makes tables of what has no Arrow interface of its own, or a wrong one.

use std::{
    fs::File,
    io::{BufReader, Read, Seek},
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{RecordBatch, ffi_stream::RecordBatchStreamReader};
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{ArrowError, Schema};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBytes, PyIterator, PyMapping, PyString},
};
use quorate::AnySuite;
use quorate_formats::{
    ClaimIndex, Entry, Format, Id, InputError, OfChain, Record,
    arrow::{ArrowFile, BatchRows},
    compression::unpack,
    jsonl::JsonLines,
    judge::{Item, Window, WindowLimit},
    key_sets::KeySets,
    parquet::ParquetRows,
    peek,
};

use crate::{
    argument::type_name,
    column::KeptColumns,
    errors::{TableError, file_error, regular_file},
    fault::Fault,
    row,
    texts::{Texts, VALUES_LIMIT, too_long},
};

/// What is known of an entry before it is judged: its place among all entries, and why it has no claim to verify.
pub(crate) struct Row {
    pub(crate) place: usize,
    pub(crate) fault: Option<Fault>,
}

/// What verdicts keep of the entries: a part for each batch, in their order.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) parts: Vec<Part>,
}

/// Entries that came together.
pub(crate) struct Part {
    /// The place of the first one.
    pub(crate) first: usize,
    pub(crate) named: Named,
}

/// What is kept of a part's entries.
pub(crate) enum Named {
    /// Of a table's batch.
    Columns { rows: usize, columns: KeptColumns },
    /// Of Python objects, and of the lines or rows of a file.
    Objects(Vec<ObjectName>),
}

/// What names one entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectName {
    /// As JSON.
    pub(crate) id: Option<Arc<str>>,
    /// Which signature of a chain it is. Most claims are not of a chain.
    pub(crate) chain: Option<Box<ObjectOfChain>>,
}

/// Which signature of a chain an entry is.
#[derive(Clone, Debug)]
pub(crate) struct ObjectOfChain {
    pub(crate) kind: Arc<str>,
    pub(crate) slot: u64,
    pub(crate) index: ClaimIndex,
}

impl Named {
    /// How many entries it names.
    pub(crate) fn entries(&self) -> usize {
        match self {
            Self::Columns { rows, .. } => *rows,
            Self::Objects(names) => names.len(),
        }
    }

    /// Bytes of the texts that name an entry, as far as a table of verdicts makes columns of them.
    pub(crate) fn texts(&self, entry: usize) -> usize {
        match self {
            Self::Columns { .. } => 0,
            Self::Objects(names) => {
                let ObjectName { id, chain } = &names[entry];
                id.as_ref().map_or(0, |id| id.len()) + chain.as_ref().map_or(0, |chain| chain.kind.len())
            }
        }
    }
}

/// Reads claims.
pub(crate) struct Reader {
    input: Input,
    suite: Option<AnySuite>,
    key_sets: KeySets,
    /// The batch that is being read.
    rows: Option<BatchRows>,
    /// Bytes that the rows of all batches read.
    values: u64,
    /// The columns of the batches.
    schema: Option<Schema>,
    /// Entries read.
    entries: usize,
    names: Names,
    ids: Texts,
    kinds: Texts,
    reasons: Texts,
    /// Bytes of the ids, kinds and reasons. Those of a table are the reasons alone: its other columns are kept as they are.
    texts: u64,
}

enum Input {
    Batch(Option<RecordBatch>),
    Stream(RecordBatchStreamReader),
    /// A file of Arrow.
    Arrow(Box<ArrowFile>),
    /// A file of another format.
    Entries {
        entries: Box<dyn Iterator<Item = Result<Entry, InputError>> + Send>,
        file_bytes: u64,
    },
    /// Tables, or objects that are a claim each.
    Items {
        items: Py<PyIterator>,
        table: Option<RecordBatchStreamReader>,
        what: Option<What>,
    },
}

/// What an iterator gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Tables,
    Claims,
}

impl Reader {
    /// A reader of claims, of which those that name no suite are of this one, and which can name members of these sets.
    ///
    /// # Errors
    /// `TypeError`, if they are nothing that can hold claims.
    pub(crate) fn open(claims: &Bound<'_, PyAny>, suite: Option<AnySuite>, key_sets: KeySets) -> PyResult<Self> {
        let path = claims.is_instance_of::<PyString>() || claims.hasattr("__fspath__")?;
        if path {
            let input = file(&claims.extract::<PathBuf>()?, &key_sets)?;
            return Ok(Self::new(input, suite, key_sets));
        }
        let claims = &source(claims)?;
        let input = if claims.hasattr("__arrow_c_stream__")? {
            Input::Stream(imported(claims)?)
        } else if claims.hasattr("__arrow_c_array__")? {
            Input::Batch(Some(imported(claims)?))
        } else {
            let is_one = claims.is_instance_of::<PyBytes>() || claims.cast::<PyMapping>().is_ok();
            let items = if is_one { None } else { claims.try_iter().ok() };
            let Some(items) = items else {
                return Err(PyTypeError::new_err(format!(
                    "claims: found {}, expected a table (with __arrow_c_stream__ or __arrow_c_array__), the path of a file, or a \
                     list of tables, dictionaries or quorate.Claim",
                    type_name(claims)?
                )));
            };
            Input::Items { items: items.unbind(), table: None, what: None }
        };
        Ok(Self::new(input, suite, key_sets))
    }

    fn new(input: Input, suite: Option<AnySuite>, key_sets: KeySets) -> Self {
        Self {
            input,
            suite,
            key_sets,
            rows: None,
            values: 0,
            schema: None,
            entries: 0,
            names: Names::default(),
            ids: Texts::default(),
            kinds: Texts::default(),
            reasons: Texts::default(),
            texts: 0,
        }
    }

    /// What the texts may take: those of a file twice its length if that is more than those of a table, and those of Python objects
    /// whatever Python has in memory.
    fn texts_limit(&self) -> u64 {
        match &self.input {
            Input::Entries { file_bytes, .. } => VALUES_LIMIT.max(file_bytes.saturating_mul(2)),
            Input::Items { what: Some(What::Claims), .. } => u64::MAX,
            _ => VALUES_LIMIT,
        }
    }

    /// Counts bytes of texts that are kept.
    ///
    /// # Errors
    /// There are too many.
    fn count(&mut self, bytes: usize) -> PyResult<()> {
        self.texts += bytes as u64;
        let limit = self.texts_limit();
        if self.texts <= limit { Ok(()) } else { Err(too_long(self.entries, limit)) }
    }

    /// Whether the length that Python says of the input is the number of its entries. That of a path and of a list of tables is not.
    pub(crate) fn has_length_of_input(&self) -> bool {
        match &self.input {
            Input::Batch(_) | Input::Stream(_) => true,
            Input::Items { what, .. } => *what != Some(What::Tables),
            Input::Arrow(_) | Input::Entries { .. } => false,
        }
    }

    /// What is kept of the entries that were read.
    pub(crate) fn into_names(self) -> (usize, Names) {
        (self.entries, self.names)
    }

    /// The next entries, as many as the limit allows. `None` at the end.
    ///
    /// # Errors
    /// The input raises, or it is not a table of claims.
    pub(crate) fn window(&mut self, py: Python<'_>, limit: WindowLimit) -> PyResult<Option<Vec<Item<Row>>>> {
        let mut window = Window::new(limit);
        while !window.is_full() {
            if self.rows.is_some() {
                // Nothing of Python is needed while rows are decoded.
                py.detach(|| self.fill(&mut window))?;
            } else if !self.advance(py, &mut window)? {
                break;
            }
        }
        Ok((!window.is_empty()).then(|| window.take()))
    }

    /// Takes rows of the batch.
    fn fill(&mut self, window: &mut Window<Row>) -> PyResult<()> {
        while !window.is_full() {
            let Some(rows) = &mut self.rows else { break };
            let before = rows.values();
            let Some(entry) = rows.next() else {
                self.rows = None;
                break;
            };
            self.values += rows.values() - before;
            self.check_values()?;
            self.push(window, entry)?;
        }
        Ok(())
    }

    /// Refuses a file whose rows repeat the same bytes too often. What Python has in memory is the caller's own.
    fn check_values(&self) -> PyResult<()> {
        match &self.input {
            Input::Arrow(file) if self.values > file.limit() => Err(TableError::new_err(format!(
                "cannot read the claims beyond row {}: the rows of the file repeat values of more than {} MiB together, the limit; \
                 write it as several files",
                self.entries,
                file.limit() >> 20
            ))),
            _ => Ok(()),
        }
    }

    fn push(&mut self, window: &mut Window<Row>, entry: Entry) -> PyResult<()> {
        let place = self.entries;
        self.entries += 1;
        let bytes =
            size_of::<Item<Row>>() + entry.as_ref().map_or_else(|malformed| malformed.reason.len(), Record::bytes);
        let (claim, fault) = match entry.and_then(|record| record.split(self.suite)) {
            Ok((claim, about)) => match about.failed_check() {
                Some(check) => (None, Some(Fault::Told(self.reasons.keep(&check.to_string())))),
                None => (Some(claim), None),
            },
            Err(malformed) => (None, Some(Fault::Malformed(self.reasons.keep(&malformed.reason)))),
        };
        if let Some(Fault::Told(reason) | Fault::Malformed(reason)) = &fault {
            self.count(reason.len())?;
        }
        window.push(Item { about: Row { place, fault }, claim, bytes });
        Ok(())
    }

    /// Goes on to the next batch, or takes the next object; false at the end.
    fn advance(&mut self, py: Python<'_>, window: &mut Window<Row>) -> PyResult<bool> {
        let batch = match &mut self.input {
            Input::Batch(batch) => batch.take(),
            Input::Stream(stream) => next_batch(py, stream, DAMAGED_TABLE)?,
            Input::Arrow(file) => next_batch(py, file, DAMAGED_FILE)?,
            Input::Entries { entries, .. } => {
                let next = py.detach(|| entries.next().transpose());
                py.check_signals()?;
                let Some(entry) = next.map_err(unreadable)? else { return Ok(false) };
                self.object(window, entry)?;
                return Ok(true);
            }
            Input::Items { items, table, what } => loop {
                if let Some(stream) = table {
                    if let Some(batch) = next_batch(py, stream, DAMAGED_TABLE)? {
                        break Some(batch);
                    }
                    *table = None;
                }
                let Some(item) = items.bind(py).clone().next().transpose()? else { break None };
                let item = source(&item)?;
                let is_stream = item.hasattr("__arrow_c_stream__")?;
                let is_table = is_stream || item.hasattr("__arrow_c_array__")?;
                let is = if is_table { What::Tables } else { What::Claims };
                if what.replace(is).is_some_and(|before| before != is) {
                    return Err(PyTypeError::new_err(format!(
                        "claims: found {} behind {} claims; give either tables or single claims",
                        type_name(&item)?,
                        self.entries
                    )));
                }
                if is_stream {
                    *table = Some(imported(&item)?);
                } else if is_table {
                    break Some(imported(&item)?);
                } else {
                    let entry = row::entry(self.entries, &item, &self.key_sets)?;
                    self.object(window, entry)?;
                    return Ok(true);
                }
            },
        };
        let Some(batch) = batch else { return Ok(false) };
        // Nothing of Python is needed while a batch is checked.
        let checked = py.detach(|| quorate_host::contained(|| self.batch(&batch)));
        checked.unwrap_or_else(|_| Err(TableError::new_err(format!("claims: {DAMAGED_TABLE}"))))?;
        Ok(true)
    }

    fn batch(&mut self, batch: &RecordBatch) -> PyResult<()> {
        let schema = batch.schema();
        match &self.schema {
            Some(expected) if !have_same_columns(expected, &schema) => {
                return Err(TableError::new_err(format!(
                    "the batch behind row {} has the columns {}, but the batches before it have {}; give batches of one schema",
                    self.entries,
                    columns(&schema),
                    columns(expected)
                )));
            }
            Some(_) => {}
            None => self.schema = Some(schema.as_ref().clone()),
        }
        let rows =
            BatchRows::new(batch, self.entries as u64).map_err(|error| TableError::new_err(error.to_string()))?;
        let named = Named::Columns { rows: batch.num_rows(), columns: KeptColumns::of(batch)? };
        self.names.parts.push(Part { first: self.entries, named });
        self.rows = Some(rows);
        Ok(())
    }

    fn object(&mut self, window: &mut Window<Row>, entry: Entry) -> PyResult<()> {
        let name = match &entry {
            Ok(Record { id, chain, .. }) => self.named(id.as_ref(), chain.as_ref())?,
            Err(malformed) => self.named(malformed.id.as_ref(), None)?,
        };
        if self.names.parts.is_empty() {
            self.names.parts.push(Part { first: 0, named: Named::Objects(Vec::new()) });
        }
        if let Some(Part { named: Named::Objects(names), .. }) = self.names.parts.last_mut() {
            names.push(name);
        }
        self.push(window, entry)
    }

    fn named(&mut self, id: Option<&Id>, chain: Option<&OfChain>) -> PyResult<ObjectName> {
        let id = id.map(|id| self.ids.keep(id.as_json()));
        let chain = chain.map(|OfChain { kind, slot, index }| {
            Box::new(ObjectOfChain { kind: self.kinds.keep(kind), slot: *slot, index: *index })
        });
        let kind = chain.as_ref().map_or(0, |chain| chain.kind.len());
        self.count(id.as_ref().map_or(0, |id| id.len()) + kind)?;
        Ok(ObjectName { id, chain })
    }
}

/// What an object gives by the Arrow interface. Where the Arrow library panics on it, the table is damaged.
fn imported<T: FromPyArrow>(claims: &Bound<'_, PyAny>) -> PyResult<T> {
    let imported = quorate_host::contained(|| T::from_pyarrow_bound(claims).map_err(|error| unfit(claims, error)));
    imported.unwrap_or_else(|_| Err(TableError::new_err(format!("claims: {DAMAGED_TABLE}"))))
}

/// What is said where the Arrow library panics.
const DAMAGED_TABLE: &str = "the table is damaged: its schema or one of its arrays is not as the Arrow interface says";
const DAMAGED_FILE: &str = "the file is damaged; write or fetch it again";

/// The next batch of a stream. What makes it may need Python, so Python is free meanwhile.
fn next_batch(
    py: Python<'_>,
    stream: &mut (impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + ?Sized),
    damaged: &str,
) -> PyResult<Option<RecordBatch>> {
    let next = py.detach(|| quorate_host::contained(|| stream.next().transpose()));
    // A signal that came meanwhile says more than the error that it made.
    py.check_signals()?;
    let next = match next {
        Ok(next) => next.map_err(|error| error.to_string()),
        Err(_) => Err(damaged.to_owned()),
    };
    next.map_err(|error| TableError::new_err(format!("cannot read the claims: {error}")))
}

/// What the Arrow interface of an object gives is not a table: a column alone, or of a type that this package does not have, or an array
/// that does not agree with its type.
fn unfit(claims: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = claims.py();
    // Of this name is the Arrow library's own error about an array. Its class is that of pyarrow, which need not be there.
    let is_of_arrow = error.get_type(py).name().is_ok_and(|name| name == "ArrowException");
    if !is_of_arrow && !error.is_instance_of::<PyValueError>(py) {
        return error;
    }
    let found = type_name(claims).unwrap_or_default();
    TableError::new_err(format!(
        "claims: found a {found} that is not a table with columns of known types: {}",
        error.value(py)
    ))
}

/// What has no Arrow interface of its own, or a wrong one, as something that has.
fn source<'py>(claims: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let sources = claims.py().import("quorate._sources")?;
    sources.call_method1("table", (claims,)).map_err(|error| unfit(claims, error))
}

/// A file of claims: JSON Lines, Parquet, or Arrow as a stream or a file.
fn file(path: &Path, key_sets: &KeySets) -> PyResult<Input> {
    // A pipe cannot be read from its beginning again.
    let file_bytes = regular_file(path, TableError::new_err)?;
    let mut opened = File::open(path).map_err(|error| file_error(path, error))?;
    let mut start = Vec::new();
    opened.by_ref().take(ARROW_FILE.len() as u64).read_to_end(&mut start).map_err(|error| file_error(path, error))?;
    opened.rewind().map_err(|error| file_error(path, error))?;
    if start == ARROW_FILE || start.starts_with(ARROW_STREAM) {
        let damaged = |error: String| TableError::new_err(format!("{}: {error}", path.display()));
        let reader = quorate_host::contained(|| ArrowFile::open(opened).map(Box::new));
        let reader = reader.map_err(|_| damaged(DAMAGED_FILE.to_owned()))?;
        return reader.map(Input::Arrow).map_err(|error| damaged(error.to_string()));
    }
    let unreadable = |error: InputError| match error {
        InputError::Read(error) => file_error(path, error),
        other => TableError::new_err(format!("{}: {other}", path.display())),
    };
    if start.starts_with(PARQUET_FILE) {
        let entries = Box::new(ParquetRows::open(opened).map_err(unreadable)?);
        return Ok(Input::Entries { entries, file_bytes });
    }
    let unpacked = unpack(BufReader::new(opened)).map_err(|error| unreadable(error.into()))?.reader;
    let (format, reader) = peek(unpacked).map_err(|error| unreadable(error.into()))?;
    match format.map_err(|error| unreadable(error.into()))? {
        Format::Jsonl => {
            let entries = Box::new(JsonLines::new(reader).with_key_sets(key_sets.clone()));
            Ok(Input::Entries { entries, file_bytes })
        }
        other => Err(TableError::new_err(format!(
            "{}: found the format {other}, expected JSON Lines, Parquet or Arrow; `quorate verify` on the command line reads it",
            path.display()
        ))),
    }
}

/// The beginnings of a file of Arrow, of a stream, and of a file of Parquet.
const ARROW_FILE: &[u8] = b"ARROW1";
const ARROW_STREAM: &[u8] = &[0xff; 4];
const PARQUET_FILE: &[u8] = b"PAR1";

fn unreadable(error: InputError) -> PyErr {
    match error {
        InputError::Read(error) => error.into(),
        other => TableError::new_err(other.to_string()),
    }
}

/// Whether columns have the same names and types. Whether they may have nulls, and their metadata, differ between files of one table.
fn have_same_columns(schema: &Schema, other: &Schema) -> bool {
    let (fields, others) = (schema.fields(), other.fields());
    let mut pairs = fields.iter().zip(others.iter());
    fields.len() == others.len()
        && pairs.all(|(a, b)| a.name() == b.name() && a.data_type().equals_datatype(b.data_type()))
}

/// The first columns, for an error.
fn columns(schema: &Schema) -> String {
    let columns = schema.fields().iter().map(|field| format!("{}: {}", field.name(), field.data_type()));
    let mut columns: Vec<_> = columns.take(MOST_LISTED).collect();
    match schema.fields().len() - columns.len() {
        0 => {}
        more => columns.push(format!("and {more} more")),
    }
    columns.join(", ")
}

/// How many columns an error lists.
const MOST_LISTED: usize = 50;
