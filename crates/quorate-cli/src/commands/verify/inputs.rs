//! The inputs, whatever their format, as one stream of arrivals.
//!
//! Light-client documents are read first, all of them, since one may hold the committee that another needs; the others
//! are read as they come.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use quorate::AnySuite;

use super::{
    arguments::Arguments,
    judge::{Judged, Pending},
    queue::Pusher,
    report::Report,
};
use crate::{
    exit::Failure,
    input::{
        Entry, Format, InputError, Malformed, Record,
        drand::{self, ChainInfo},
        jsonl::JsonLines,
        light_client::{Committees, Document, Lesson},
        parquet::ParquetRows,
        peek,
    },
};

/// Something that the inputs hold.
pub(super) enum Arrival {
    /// A claim to judge.
    Claim(Box<Pending>),
    /// A claim that was judged with the other light-client updates.
    Judged(Judged),
    /// An entry that makes no claim.
    Malformed { file: Arc<str>, malformed: Malformed },
    /// A file that cannot be read on.
    Failed { file: Arc<str>, error: InputError },
}

impl Arrival {
    /// About how much memory it holds.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Claim(pending) => pending.bytes(),
            Self::Malformed { malformed, .. } => malformed.reason.len(),
            Self::Judged(_) | Self::Failed { .. } => 0,
        }
    }
}

/// All inputs of a run.
pub(super) struct Inputs {
    files: Vec<Source>,
    suite: Option<AnySuite>,
    drand: drand::Options,
    lessons: Vec<Lesson>,
    /// The light-client entries, by document.
    updates: Vec<(Arc<str>, Vec<Entry>)>,
    /// Their verdicts, once they are known, by document.
    judged: Vec<Vec<Arrival>>,
}

/// One input.
enum Source {
    /// A file to open when its turn comes.
    File(Arc<str>, PathBuf, Format),
    /// Standard input or another pipe, its first bytes looked at: opened again it would go on after them.
    Pipe(Arc<str>, Format, Box<dyn BufRead + Send>),
    /// A light-client document, by its index.
    Document(usize),
}

impl Inputs {
    /// Finds out every input's format, and reads the light-client documents.
    pub(super) fn open(arguments: &Arguments, report: &mut Report) -> Result<Self, Failure> {
        let mut inputs = Self {
            files: Vec::new(),
            suite: arguments.suite,
            drand: drand::Options { chain: chain(arguments)?, suite: arguments.suite.map(|s| s.name().to_owned()) },
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
                    Err(error) => report.unreadable(&name, error)?,
                }
            } else if path.is_file() {
                inputs.files.push(Source::File(name, path.clone(), format));
            } else {
                inputs.files.push(Source::Pipe(name, format, reader));
            }
        }
        let (names, documents): (Vec<_>, Vec<_>) = documents.into_iter().unzip();
        inputs.lessons = committees.learn(&documents, &network);
        let entries = documents.iter().map(|d| d.records(&committees, &network, arguments.min_participants).collect());
        inputs.updates = names.into_iter().zip(entries.collect::<Vec<_>>()).collect();
        Ok(inputs)
    }

    /// What the light-client documents taught about committees.
    pub(super) fn lessons(&self) -> &[Lesson] {
        &self.lessons
    }

    /// The light-client entries, taken out to be judged together.
    pub(super) fn take_updates(&mut self) -> Vec<(Arc<str>, Vec<Entry>)> {
        std::mem::take(&mut self.updates)
    }

    /// Gives back what became of them, by document.
    pub(super) fn put_judged(&mut self, judged: Vec<Vec<Arrival>>) {
        self.judged = judged;
    }

    /// Reads everything and sends it on, in the order of the inputs, until nobody listens.
    pub(super) fn send(self, to: &Pusher) {
        let mut judged: Vec<_> = self.judged.into_iter().map(Some).collect();
        for file in self.files {
            let (name, format, reader): (Arc<str>, Format, io::Result<Box<dyn BufRead + Send>>) = match file {
                Source::Document(i) => {
                    let arrivals = judged[i].take().unwrap_or_default();
                    if arrivals.into_iter().any(|arrival| to.push(arrival).is_none()) {
                        return;
                    }
                    continue;
                }
                Source::Pipe(name, format, reader) => (name, format, Ok(reader)),
                Source::File(name, path, Format::Parquet) => {
                    let rows = File::open(path).map_err(InputError::from).and_then(ParquetRows::open);
                    if send(to, &name, self.suite, flatten(rows)).is_none() {
                        return;
                    }
                    continue;
                }
                Source::File(name, path, format) => (name, format, open(&path)),
            };
            let entries: Box<dyn Iterator<Item = Result<Entry, InputError>>> = match (format, reader) {
                (_, Err(error)) => Box::new(std::iter::once(Err(error.into()))),
                (Format::Parquet, _) => Box::new(std::iter::once(Err(InputError::ParquetNeedsFile))),
                (Format::Drand, Ok(reader)) => {
                    let entries = drand::read(reader, &self.drand).map(|entries| entries.into_iter().map(Ok));
                    flatten(entries)
                }
                (_, Ok(reader)) => Box::new(JsonLines::new(reader)),
            };
            if send(to, &name, self.suite, entries).is_none() {
                return;
            }
        }
    }
}

/// An iterator, or the one error that stands in its place.
fn flatten<'a, I>(entries: Result<I, InputError>) -> Box<dyn Iterator<Item = Result<Entry, InputError>> + 'a>
where
    I: Iterator<Item = Result<Entry, InputError>> + 'a,
{
    match entries {
        Ok(entries) => Box::new(entries),
        Err(error) => Box::new(std::iter::once(Err(error))),
    }
}

/// Sends a file's entries on. `None` once nobody listens.
fn send(
    to: &Pusher,
    file: &Arc<str>,
    suite: Option<AnySuite>,
    mut entries: impl Iterator<Item = Result<Entry, InputError>>,
) -> Option<()> {
    entries.try_for_each(|entry| {
        to.push(match entry {
            Ok(entry) => arrive(file, entry, suite),
            Err(error) => Arrival::Failed { file: file.clone(), error },
        })
    })
}

/// An entry with its suite found.
pub(super) fn arrive(file: &Arc<str>, entry: Entry, default: Option<AnySuite>) -> Arrival {
    let pending = entry.and_then(|record| {
        let suite = suite_of(&record, default).map_err(|reason| Malformed::new(record.place, reason))?;
        Ok(Pending { file: file.clone(), record, suite })
    });
    match pending {
        Ok(pending) => Arrival::Claim(Box::new(pending)),
        Err(malformed) => Arrival::Malformed { file: file.clone(), malformed },
    }
}

fn suite_of(record: &Record, default: Option<AnySuite>) -> Result<AnySuite, String> {
    match &record.suite {
        Some(name) => name.parse().map_err(|error: quorate::suite::UnknownSuite| error.to_string()),
        None => {
            default.ok_or_else(|| "the claim names no suite; add a field \"suite\", or give --suite NAME".to_owned())
        }
    }
}

/// The first bytes of an input, and so its format.
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
    Ok(Box::new(BufReader::with_capacity(1 << 16, File::open(path)?)))
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
