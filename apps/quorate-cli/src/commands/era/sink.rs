//! The file that claims are written to, and its formats.

use std::{
    fs::{self, File},
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow};
use clap::ValueEnum;
use quorate::Messages;
use quorate_formats::{
    SignatureName,
    parquet::{ChainRow, ChainRows},
};
use quorate_history::ChainClaim;
use quorate_host::{
    exit::Failure,
    file::{self, Existing, NewFile, Readers},
};
use serde::Serialize;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    /// One claim a row
    Parquet,
    /// One claim a line, as JSON
    Jsonl,
}

/// A file that appears at its place whole, or not at all: until then it has another name, and vanishes when it is dropped.
pub(super) struct Sink {
    path: PathBuf,
    existing: Existing,
    unfinished: NewFile,
    rows: Rows,
}

enum Rows {
    Parquet(Box<ChainRows<File>>),
    Jsonl(BufWriter<File>),
}

impl Sink {
    /// Refuses a place where nothing may be written.
    pub(super) fn check(path: &Path, existing: Existing) -> Result<(), Failure> {
        let name = path.display();
        match (fs::symlink_metadata(path), existing) {
            (Ok(_), Existing::Refuse) => {
                Err(Failure::usage(anyhow!("{name} exists, and is not replaced; choose another name or add --force")))
            }
            (Err(_), Existing::Refuse) => Ok(()),
            (_, Existing::Replace) => Ok(file::refuse_irregular(path)?),
        }
    }

    /// Begins the file beside its place.
    pub(super) fn begin(path: &Path, format: OutputFormat, existing: Existing) -> Result<Self, Failure> {
        Self::check(path, existing)?;
        let begin = || {
            let mut unfinished = NewFile::begin(path, Readers::Everybody)?;
            let file = unfinished.file().try_clone()?;
            let rows = match format {
                OutputFormat::Parquet => Rows::Parquet(Box::new(ChainRows::new(file)?)),
                OutputFormat::Jsonl => Rows::Jsonl(BufWriter::new(file)),
            };
            Ok(Self { path: path.to_owned(), existing, unfinished, rows })
        };
        begin().map_err(|error| unwritten(path, error))
    }

    /// Adds a claim.
    pub(super) fn write(&mut self, claim: &ChainClaim) -> Result<(), Failure> {
        let reason = claim.failed.as_ref().map(ToString::to_string);
        let Messages::Shared(message) = &claim.claim.messages else {
            return Err(Failure::internal(anyhow!("a claim of a chain has several messages, expected one")));
        };
        let suite = claim.claim.suite.name();
        let written = match &mut self.rows {
            Rows::Parquet(rows) => rows.write(&ChainRow {
                suite,
                public_keys: &claim.claim.public_keys,
                message,
                signature: &claim.claim.signature,
                kind: claim.kind.name(),
                slot: claim.slot,
                index: claim.index,
                reason: reason.as_deref(),
            }),
            Rows::Jsonl(lines) => {
                let line = Line {
                    suite,
                    public_keys: claim.claim.public_keys.encodings().iter().map(const_hex::encode_prefixed).collect(),
                    message: const_hex::encode_prefixed(message),
                    signature: const_hex::encode_prefixed(&claim.claim.signature),
                    slot: claim.slot,
                    name: SignatureName::new(claim.kind.name(), claim.index),
                    reason,
                };
                serde_json::to_writer(&mut *lines, &line).map_err(io::Error::from).and_then(|()| lines.write_all(b"\n"))
            }
        };
        written.map_err(|error| unwritten(&self.path, error))
    }

    /// Puts the file to its place when all of it is on the disk. Answers with its length.
    pub(super) fn finish(self) -> Result<u64, Failure> {
        let Self { path, existing, mut unfinished, rows } = self;
        let finish = || {
            match rows {
                Rows::Parquet(rows) => drop(rows.finish()?),
                Rows::Jsonl(mut lines) => lines.flush()?,
            }
            let length = unfinished.file().metadata()?.len();
            unfinished.finish(existing)?;
            Ok(length)
        };
        finish().map_err(|error: io::Error| unwritten(&path, error))
    }
}

/// A claim as `quorate verify` reads it.
#[derive(Serialize)]
struct Line {
    suite: &'static str,
    public_keys: Vec<String>,
    message: String,
    signature: String,
    slot: u64,
    #[serde(flatten)]
    name: SignatureName<'static>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn unwritten(path: &Path, error: io::Error) -> Failure {
    let what = match error.kind() {
        ErrorKind::AlreadyExists => format!("{} appeared meanwhile, and is not replaced", path.display()),
        _ => format!("cannot write {}, and nothing of it is kept", path.display()),
    };
    Failure::io(Err::<(), _>(error).context(what).expect_err("it is an error"))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use quorate::{AnySuite, ClaimBytes, MinPk};
    use quorate_formats::{Check, CheckResult, Entry, jsonl::JsonLines, parquet::ParquetRows};
    use quorate_history::{ClaimIndex, ClaimKind};

    use super::*;

    /// A claim whose signers cannot be told, as a block makes it.
    fn refuted() -> ChainClaim {
        let claim = ClaimBytes {
            suite: AnySuite::MinPk(MinPk::Eth2),
            public_keys: Vec::new().into(),
            messages: Messages::Shared([7; 32].into()),
            signature: [&[0xc0][..], &[0; 95]].concat(),
            source: None,
        };
        let check = Check::decided("validator", CheckResult::Failed, "found the validator 9, but the chain has 8");
        let index = ClaimIndex { operation: 0, half: Some(1) };
        ChainClaim { claim, slot: 5, kind: ClaimKind::ProposerSlashing, index, failed: Some(check) }
    }

    fn entries(path: &Path, format: OutputFormat) -> Vec<Entry> {
        let file = File::open(path).expect("opens");
        let entries: Result<_, _> = match format {
            OutputFormat::Parquet => ParquetRows::open(file).expect("a Parquet file").collect(),
            OutputFormat::Jsonl => JsonLines::new(BufReader::new(file)).collect(),
        };
        entries.expect("whole")
    }

    #[test]
    fn a_claim_whose_signers_cannot_be_told_stays_invalid() {
        let folder = tempfile::tempdir().expect("a folder");
        for format in [OutputFormat::Parquet, OutputFormat::Jsonl] {
            let path = folder.path().join(format!("{format:?}"));
            let mut sink = Sink::begin(&path, format, Existing::Refuse).expect("begins");
            sink.write(&refuted()).expect("writes");
            assert_eq!(sink.finish().expect("is written"), fs::metadata(&path).expect("is there").len());
            let record = entries(&path, format).remove(0).expect("a claim");
            let check = record.failed_check().expect("a check that failed");
            assert_eq!(check.detail, "validator: found the validator 9, but the chain has 8");
            let chain = record.chain.clone().expect("of a chain");
            assert_eq!(
                (chain.kind.as_str(), chain.slot, chain.index.to_string().as_str()),
                ("proposer_slashing", 5, "0.1")
            );
            // Also for a reader that does not know the reason, because no key has signed.
            assert!(!record.into_claim(None).expect("a suite").verify().is_valid());
        }
    }

    /// As when the program is interrupted, or an era cannot be read.
    #[test]
    fn a_file_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("claims.parquet");
        let mut sink = Sink::begin(&path, OutputFormat::Parquet, Existing::Replace).expect("begins");
        sink.write(&refuted()).expect("writes");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        drop(sink);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("claims.jsonl");
        let mut sink = Sink::begin(&path, OutputFormat::Jsonl, Existing::Refuse).expect("begins");
        sink.write(&refuted()).expect("writes");
        fs::write(&path, "other").expect("writes");
        let failure = sink.finish().expect_err("is refused");
        assert!(failure.error.to_string().contains("appeared meanwhile"), "{}", failure.error);
        assert_eq!(fs::read(&path).expect("reads"), b"other");
    }
}
