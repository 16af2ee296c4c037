//! Reads the inputs, in all formats, as one stream of arrivals.
//!
//! All light-client documents are read first, because one may contain the committee that another needs. The other inputs are read in
//! their order.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use quorate::AnySuite;
use quorate_formats::{
    Entry, Format, InputError, ParquetFileError, Place, Record, SigningContext,
    change::{self, Changes},
    compression::{Unpacked, unpack},
    deposit::{self, Deposits},
    drand::{self, ChainInfo, DrandOptions, Rounds},
    exit::{self, Exits},
    jsonl::JsonLines,
    key_sets::KeySets,
    light_client::{Document, Lesson, TRUSTED_ROOT},
    parquet::ParquetRows,
    peek,
};
use quorate_host::{dash, exit::Failure, file::LARGEST_DOCUMENT};

use super::{
    arguments::Arguments,
    arrival::{Arrival, Input, Pusher, arrive},
    light_client::LightClient,
    subjects::Subjects,
    unused,
};
use crate::commands::unlock::{is_dash, name_of};

/// All inputs of a run.
pub(super) struct Inputs {
    files: Vec<Source>,
    suite: Option<AnySuite>,
    drand: DrandOptions,
    expected: SigningContext,
    key_sets: KeySets,
    light_client: LightClient,
    lessons: Vec<Lesson>,
    /// What a flag about trust does not concern.
    warnings: Vec<String>,
    /// Their verdicts, once they are known, by document.
    judged: Vec<Vec<Arrival>>,
}

/// A document that cannot be read.
pub(super) struct Unreadable {
    pub(super) input: Input,
    pub(super) error: InputError,
}

/// Where an input is read.
enum Source {
    /// A file that is opened when its turn comes.
    File(Input, PathBuf, Format),
    /// Standard input or a pipe, which cannot be opened a second time.
    Stream(Input, Format, Box<dyn BufRead + Send>),
    /// A light-client document, by its index.
    Document(usize),
}

impl Inputs {
    /// Finds out every input's format, and reads the light-client documents. Beside the inputs stand the documents that
    /// cannot be read.
    pub(super) fn open(arguments: &Arguments) -> Result<(Self, Vec<Unreadable>), Failure> {
        let mut unreadable = Vec::new();
        let mut inputs = Self {
            files: Vec::new(),
            suite: arguments.suite,
            drand: DrandOptions {
                chain: chain(arguments)?,
                earlier: None,
                suite: arguments.suite.map(|s| s.name().to_owned()),
            },
            expected: arguments.expected()?,
            key_sets: KeySets::default(),
            light_client: LightClient::default(),
            lessons: Vec::new(),
            warnings: Vec::new(),
            judged: Vec::new(),
        };
        let committees =
            arguments.committee.iter().map(|path| Ok((name_of(path), dash::text(path, LARGEST_DOCUMENT)?)));
        let committees = committees.collect::<Result<Vec<_>, Failure>>()?;
        let (mut documents, mut formats) = (Vec::new(), Vec::new());
        let standard = [PathBuf::from("-")];
        let paths = if arguments.files.is_empty() { &standard } else { &arguments.files[..] };
        for (index, path) in paths.iter().enumerate() {
            let input = Input::new(index, name_of(path));
            let Looked { format, reader, was_packed } =
                look(path, arguments.format).map_err(|failure| failure.context(input.name.clone()))?;
            let format = match format {
                Ok(format) => format,
                Err(error) => {
                    unreadable.push(Unreadable { input, error });
                    continue;
                }
            };
            formats.push((input.clone(), format));
            if format == Format::LightClient {
                match Document::read(reader, index, &input.name) {
                    Ok(document) => {
                        inputs.files.push(Source::Document(documents.len()));
                        documents.push((input, document));
                    }
                    Err(error) => unreadable.push(Unreadable { input, error }),
                }
            } else if !is_dash(path) && path.is_file() && !(was_packed && format == Format::Parquet) {
                inputs.files.push(Source::File(input, path.clone(), format));
            } else {
                inputs.files.push(Source::Stream(input, format, reader));
            }
        }
        inputs.warnings = unused::warnings(arguments, formats.iter().map(|(input, format)| (&*input.name, *format)));
        let formats: Vec<Format> = formats.into_iter().map(|(_, format)| format).collect();
        // What an input that cannot be read would have used is not known.
        if unreadable.is_empty() {
            unused::refuse(arguments, &formats)?;
        }
        inputs.key_sets = arguments.key_sets()?;
        if formats.contains(&Format::LightClient) || !arguments.committee.is_empty() {
            let (light_client, lessons) = LightClient::learn(arguments, committees, documents)?;
            if unreadable.is_empty() && arguments.trusted_root.is_some() && !lessons.iter().any(rests_on_trust) {
                return Err(Failure::usage(anyhow!(
                    "--trusted-root names the block of a bootstrap, and the inputs have none, so it would check nothing; give the \
                     bootstrap, or leave the flag out"
                )));
            }
            (inputs.light_client, inputs.lessons) = (light_client, lessons);
        }
        Ok((inputs, unreadable))
    }

    /// What the light-client documents say about committees.
    pub(super) fn lessons(&self) -> &[Lesson] {
        &self.lessons
    }

    /// What to say of inputs that a flag about trust does not concern.
    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Takes out the light-client documents, whose updates are judged together.
    pub(super) fn take_light_client(&mut self) -> LightClient {
        std::mem::take(&mut self.light_client)
    }

    /// Puts back what they came to, by document.
    pub(super) fn put_judged(&mut self, judged: Vec<Vec<Arrival>>) {
        self.judged = judged;
    }

    /// Reads everything and sends it on, in the order of the inputs, until the other end is dropped.
    pub(super) fn send(self, to: &Pusher) {
        let mut judged: Vec<_> = self.judged.into_iter().map(Some).collect();
        let mut subjects = Subjects::default();
        for source in self.files {
            let reading = Reading { drand: &self.drand, expected: &self.expected, key_sets: &self.key_sets };
            let (input, entries) = match source {
                Source::Document(i) => {
                    if judged[i].take().unwrap_or_default().into_iter().try_for_each(|a| to.push(a)).is_none() {
                        return;
                    }
                    continue;
                }
                Source::File(input, path, format) => (input, read_file(&path, format, &reading)),
                Source::Stream(input, format, reader) => (input, read(reader, format, &reading)),
            };
            let heard = match entries {
                Ok(Entries::Drand(mut rounds)) => {
                    let heard = send_naming(to, &input, self.suite, &mut *rounds, |_| None);
                    // A chain info speaks for the rounds of its own document alone. One that agrees with the flag may stand alone.
                    if rounds.chain_info().is_some() && self.drand.chain.is_some() {
                        heard.and_then(|()| to.push(Arrival::ChainInfo { input }))
                    } else {
                        heard
                    }
                }
                Ok(Entries::Lines(mut lines)) => send_naming(to, &input, self.suite, &mut *lines, |_| None),
                Ok(Entries::Rows(mut rows)) => {
                    let mut columns = rows.unknown_columns().into_iter();
                    let unknown = |name| Arrival::UnknownField { input: input.clone(), place: Place::Row(1), name };
                    let heard = columns.try_for_each(|column| to.push(unknown(column)));
                    heard.and_then(|()| send(to, &input, self.suite, &mut *rows))
                }
                Ok(Entries::OfValidators(format, mut entries)) => {
                    send_naming(to, &input, self.suite, &mut *entries, |record| {
                        subjects.repeated(format, record, &input)
                    })
                }
                Err(error) => to.push(Arrival::failed(&input, &error)),
            };
            if heard.is_none() {
                return;
            }
        }
    }
}

/// Whether the block that the user trusts decides on a lesson.
fn rests_on_trust(lesson: &Lesson) -> bool {
    lesson.checks.iter().any(|check| check.name == TRUSTED_ROOT)
}

/// Sends an input's entries on. Returns `None` if the other end was dropped.
fn send(
    to: &Pusher,
    input: &Input,
    suite: Option<AnySuite>,
    mut entries: impl Iterator<Item = Result<Entry, InputError>>,
) -> Option<()> {
    entries.try_for_each(|entry| {
        to.push(match entry {
            Ok(entry) => arrive(input, entry, suite),
            Err(error) => Arrival::failed(input, &error),
        })
    })
}

/// Sends an input's entries on, each with what is to be said beside it, and with the fields that it was the first to have and that are
/// skipped. Returns `None` if the other end was dropped.
fn send_naming(
    to: &Pusher,
    input: &Input,
    suite: Option<AnySuite>,
    entries: &mut dyn Skipping,
    mut beside: impl FnMut(&Record) -> Option<Arrival>,
) -> Option<()> {
    while let Some(entry) = entries.next() {
        let beside = if let Ok(Ok(record)) = &entry { beside(record) } else { None };
        send(to, input, suite, std::iter::once(entry))?;
        for (name, place) in entries.take_unknown() {
            to.push(Arrival::UnknownField { input: input.clone(), place, name })?;
        }
        beside.map_or(Some(()), |arrival| to.push(arrival))?;
    }
    Some(())
}

/// A reader that names the fields that it skips.
trait Skipping: Iterator<Item = Result<Entry, InputError>> {
    fn take_unknown(&mut self) -> Vec<(String, Place)>;
}

impl Skipping for JsonLines<Box<dyn BufRead + Send>> {
    fn take_unknown(&mut self) -> Vec<(String, Place)> {
        Self::take_unknown(self)
    }
}

impl Skipping for Rounds {
    fn take_unknown(&mut self) -> Vec<(String, Place)> {
        Self::take_unknown(self)
    }
}

impl Skipping for Deposits {
    fn take_unknown(&mut self) -> Vec<(String, Place)> {
        Self::take_unknown(self)
    }
}

impl Skipping for Changes {
    fn take_unknown(&mut self) -> Vec<(String, Place)> {
        Self::take_unknown(self)
    }
}

impl Skipping for Exits {
    fn take_unknown(&mut self) -> Vec<(String, Place)> {
        Self::take_unknown(self)
    }
}

/// The entries of one input, and the error that ends it.
enum Entries {
    Lines(Box<JsonLines<Box<dyn BufRead + Send>>>),
    Drand(Box<Rounds>),
    OfValidators(Format, Box<dyn Skipping>),
    Rows(Box<ParquetRows>),
}

/// What the readers of the formats need to know.
struct Reading<'a> {
    drand: &'a DrandOptions,
    expected: &'a SigningContext,
    key_sets: &'a KeySets,
}

fn read_file(path: &Path, format: Format, reading: &Reading<'_>) -> Result<Entries, InputError> {
    let file = File::open(path)?;
    match format {
        Format::Parquet => Ok(Entries::Rows(Box::new(ParquetRows::open(file)?))),
        _ => read(unpack(BufReader::with_capacity(READ_AHEAD, file))?.reader, format, reading),
    }
}

fn read(reader: Box<dyn BufRead + Send>, format: Format, reading: &Reading<'_>) -> Result<Entries, InputError> {
    let Reading { drand, expected, key_sets } = reading;
    match format {
        Format::Parquet => Err(ParquetFileError::NeedsFile.into()),
        Format::Drand => Ok(Entries::Drand(Box::new(drand::read(reader, drand)?))),
        Format::Deposit => Ok(Entries::OfValidators(format, Box::new(deposit::read(reader, expected)?))),
        Format::Change => Ok(Entries::OfValidators(format, Box::new(change::read(reader, expected)?))),
        Format::Exit => Ok(Entries::OfValidators(format, Box::new(exit::read(reader, expected)?))),
        Format::Jsonl | Format::LightClient => {
            let lines = JsonLines::new(reader).with_key_sets((*key_sets).clone());
            Ok(Entries::Lines(Box::new(lines)))
        }
    }
}

const READ_AHEAD: usize = 1 << 16;

/// An input that was opened, with the first bytes looked at.
struct Looked {
    format: Result<Format, InputError>,
    reader: Box<dyn BufRead + Send>,
    was_packed: bool,
}

/// Opens an input, unpacks it and finds out its format.
fn look(path: &Path, format: Option<Format>) -> Result<Looked, Failure> {
    let Unpacked { reader, was_packed } = open(path)?;
    if let Some(format) = format {
        return Ok(Looked { format: Ok(format), reader, was_packed });
    }
    match peek(reader) {
        Ok((format, reader)) => Ok(Looked { format: format.map_err(Into::into), reader: Box::new(reader), was_packed }),
        // A packed input that is damaged from its first bytes on.
        Err(error) if was_packed => Ok(Looked { format: Err(error.into()), reader: Box::new(io::empty()), was_packed }),
        Err(error) => Err(error.into()),
    }
}

fn open(path: &Path) -> Result<Unpacked, Failure> {
    if is_dash(path) {
        return Ok(unpack(BufReader::new(dash::standard_input()?))?);
    }
    if path.is_dir() {
        let folder = path.display();
        return Err(Failure::usage(anyhow!(
            "found a folder, expected a file; name its files ({folder}/*.json), or give it to `quorate history verify {folder}` if it \
             holds a chain"
        )));
    }
    Ok(unpack(BufReader::with_capacity(READ_AHEAD, File::open(path)?))?)
}

fn chain(arguments: &Arguments) -> Result<Option<ChainInfo>, Failure> {
    if let Some(name) = &arguments.chain {
        return ChainInfo::well_known(name).map(Some).map_err(Failure::usage);
    }
    let Some(path) = &arguments.chain_info else { return Ok(None) };
    let info = ChainInfo::from_json(&dash::text(path, LARGEST_DOCUMENT)?);
    info.map(Some).map_err(|error| Failure::usage(error).context(name_of(path)))
}
