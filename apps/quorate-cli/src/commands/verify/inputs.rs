//! Reads the inputs, in all formats, as one stream of arrivals.
//!
//! All light-client documents are read first, because one may contain the committee that another needs. The other inputs are read in
//! their order.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use quorate::AnySuite;
use quorate_formats::{
    Entry, Format, InputError, ParquetFileError,
    drand::{self, ChainInfo, DrandOptions},
    jsonl::JsonLines,
    light_client::{Committees, Document, Lesson},
    parquet::ParquetRows,
    peek,
};

use super::{
    arguments::Arguments,
    arrival::{Arrival, arrive},
    queue::Pusher,
};
use crate::exit::Failure;

/// All inputs of a run.
pub(super) struct Inputs {
    files: Vec<Source>,
    suite: Option<AnySuite>,
    drand: DrandOptions,
    lessons: Vec<Lesson>,
    /// The light-client entries, by document.
    updates: Vec<(Arc<str>, Vec<Entry>)>,
    /// Their verdicts, once they are known, by document.
    judged: Vec<Vec<Arrival>>,
}

/// A document that cannot be read.
pub(super) struct Unreadable {
    pub(super) name: Arc<str>,
    pub(super) error: InputError,
}

/// One input.
enum Source {
    /// A file that is opened when its turn comes.
    File(Arc<str>, PathBuf, Format),
    /// Standard input or a pipe, which cannot be opened a second time.
    Stream(Arc<str>, Format, Box<dyn BufRead + Send>),
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
            drand: DrandOptions { chain: chain(arguments)?, suite: arguments.suite.map(|s| s.name().to_owned()) },
            lessons: Vec::new(),
            updates: Vec::new(),
            judged: Vec::new(),
        };
        let network = arguments.network();
        let mut committees = Committees::default();
        for path in &arguments.committee {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
            let text = text.map_err(Failure::io)?;
            let name = path.display().to_string();
            committees.add_file(&text, &name, None, &network).map_err(|e| Failure::usage(e).context(name))?;
        }

        let mut documents = Vec::new();
        let standard = [PathBuf::from("-")];
        for path in if arguments.files.is_empty() { &standard } else { &arguments.files[..] } {
            let name: Arc<str> = name(path).into();
            let (format, reader) = look(path, arguments.format).map_err(|e| e.context(name.clone()))?;
            if format == Format::LightClient {
                match Document::read(reader, &name) {
                    Ok(document) => {
                        inputs.files.push(Source::Document(documents.len()));
                        documents.push((name, document));
                    }
                    Err(error) => unreadable.push(Unreadable { name, error }),
                }
            } else if path.is_file() {
                inputs.files.push(Source::File(name, path.clone(), format));
            } else {
                inputs.files.push(Source::Stream(name, format, reader));
            }
        }
        let (names, documents): (Vec<_>, Vec<_>) = documents.into_iter().unzip();
        inputs.lessons = committees.learn(&documents, &network);
        let entries = documents.iter().map(|d| d.records(&committees, &network, arguments.min_participants).collect());
        inputs.updates = names.into_iter().zip(entries.collect::<Vec<_>>()).collect();
        Ok((inputs, unreadable))
    }

    /// What the light-client documents say about committees.
    pub(super) fn lessons(&self) -> &[Lesson] {
        &self.lessons
    }

    /// Takes out the light-client entries, which are judged together.
    pub(super) fn take_updates(&mut self) -> Vec<(Arc<str>, Vec<Entry>)> {
        std::mem::take(&mut self.updates)
    }

    /// Puts back what they came to, by document.
    pub(super) fn put_judged(&mut self, judged: Vec<Vec<Arrival>>) {
        self.judged = judged;
    }

    /// Reads everything and sends it on, in the order of the inputs, until the other end is dropped.
    pub(super) fn send(self, to: &Pusher) {
        let mut judged: Vec<_> = self.judged.into_iter().map(Some).collect();
        for source in self.files {
            let heard = match source {
                Source::Document(i) => judged[i].take().unwrap_or_default().into_iter().try_for_each(|a| to.push(a)),
                Source::File(name, path, format) => send(to, &name, self.suite, read_file(&path, format, &self.drand)),
                Source::Stream(name, format, reader) => send(to, &name, self.suite, read(reader, format, &self.drand)),
            };
            if heard.is_none() {
                return;
            }
        }
    }
}

/// Sends a file's entries on. Returns `None` if the other end was dropped.
fn send(to: &Pusher, file: &Arc<str>, suite: Option<AnySuite>, mut entries: Entries) -> Option<()> {
    entries.try_for_each(|entry| {
        to.push(match entry {
            Ok(entry) => arrive(file, entry, suite),
            Err(error) => Arrival::Failed { file: file.clone(), error },
        })
    })
}

/// The entries of one input, and the error that ends it.
type Entries = Box<dyn Iterator<Item = Result<Entry, InputError>>>;

fn read_file(path: &Path, format: Format, drand: &DrandOptions) -> Entries {
    match File::open(path) {
        Err(error) => Box::new(std::iter::once(Err(error.into()))),
        Ok(file) if format == Format::Parquet => match ParquetRows::open(file) {
            Ok(rows) => Box::new(rows),
            Err(error) => Box::new(std::iter::once(Err(error))),
        },
        Ok(file) => read(Box::new(BufReader::with_capacity(READ_AHEAD, file)), format, drand),
    }
}

fn read(reader: Box<dyn BufRead + Send>, format: Format, drand: &DrandOptions) -> Entries {
    match format {
        Format::Parquet => Box::new(std::iter::once(Err(ParquetFileError::NeedsFile.into()))),
        Format::Drand => match drand::read(reader, drand) {
            Ok(entries) => Box::new(entries.into_iter().map(Ok)),
            Err(error) => Box::new(std::iter::once(Err(error))),
        },
        Format::Jsonl | Format::LightClient => Box::new(JsonLines::new(reader)),
    }
}

const READ_AHEAD: usize = 1 << 16;

/// Opens an input and finds out its format.
fn look(path: &Path, format: Option<Format>) -> Result<(Format, Box<dyn BufRead + Send>), Failure> {
    let reader = open(path)?;
    match format {
        Some(format) => Ok((format, reader)),
        None => {
            let (format, reader) = peek(reader)?;
            Ok((format, Box::new(reader)))
        }
    }
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    Ok(Box::new(BufReader::with_capacity(READ_AHEAD, File::open(path)?)))
}

fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

fn chain(arguments: &Arguments) -> Result<Option<ChainInfo>, Failure> {
    if let Some(name) = &arguments.chain {
        return ChainInfo::well_known(name).map(Some).map_err(Failure::usage);
    }
    let Some(path) = &arguments.chain_info else { return Ok(None) };
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
    let info = ChainInfo::from_json(&text.map_err(Failure::io)?);
    info.map(Some).map_err(|error| Failure::usage(error).context(path.display().to_string()))
}
