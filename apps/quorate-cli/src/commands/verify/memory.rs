//! `--known` and `--remember`: statements verified earlier, on disk as claims of one statement in JSON Lines.

use std::{
    fs::{File, OpenOptions},
    io::{BufReader, Write},
    path::Path,
};

use anyhow::{Context as _, anyhow};
use quorate::{AnySuite, Claim, Known, MinPk, MinSig, PublicKey, Signature, Suite};
use quorate_formats::{Messages, Record, jsonl::JsonLines};

use super::{arguments::Arguments, suite::ClaimSuite};
use crate::exit::Failure;

/// What is known of both variants, and where new statements go.
pub(super) struct Memory {
    pub(super) min_pk: Remembered<MinPk>,
    pub(super) min_sig: Remembered<MinSig>,
    file: Option<(File, String)>,
    /// Statements appended by this run.
    pub(super) remembered: usize,
}

/// What is known of one variant, and lines to append.
pub(super) struct Remembered<S: Suite> {
    pub(super) known: Known<S>,
    lines: Vec<String>,
    keep: bool,
}

impl Memory {
    /// Reads the known statements and opens the file to append to.
    pub(super) fn open(arguments: &Arguments) -> Result<Self, Failure> {
        let keep = arguments.remember.is_some();
        if let Some(suite @ ClaimSuite::Bn254(_)) = arguments.suite {
            let option = if keep { "--remember" } else { "--known" };
            if keep || arguments.known.is_some() {
                return Err(Failure::usage(not_on_bn254(suite).context(option)));
            }
        }
        let mut memory =
            Self { min_pk: Remembered::new(keep), min_sig: Remembered::new(keep), file: None, remembered: 0 };
        if let Some(path) = &arguments.known {
            // The first run of a pair that reads and writes one file finds none.
            let first_run = arguments.remember.as_ref() == Some(path) && !path.exists();
            if !first_run {
                memory.read(path, arguments.suite).map_err(|e| e.context(format!("--known {}", path.display())))?;
            }
        }
        if let Some(path) = &arguments.remember {
            let file = OpenOptions::new().append(true).create(true).open(path);
            let file =
                file.with_context(|| format!("cannot open --remember {}", path.display())).map_err(Failure::io)?;
            memory.file = Some((file, path.display().to_string()));
        }
        Ok(memory)
    }

    /// Whether valid claims are to be remembered.
    pub(super) fn keeps(&self) -> bool {
        self.file.is_some()
    }

    /// How many statements were known before this run.
    pub(super) fn known(&self) -> usize {
        self.min_pk.known.len() + self.min_sig.known.len()
    }

    /// Appends the statements found valid since the last time.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let lines: Vec<_> = self.min_pk.lines.drain(..).chain(self.min_sig.lines.drain(..)).collect();
        let Some((file, name)) = &mut self.file else { return Ok(()) };
        if lines.is_empty() {
            return Ok(());
        }
        let written =
            file.write_all(lines.concat().as_bytes()).with_context(|| format!("cannot append to --remember {name}"));
        written.map_err(Failure::io)?;
        self.remembered += lines.len();
        Ok(())
    }

    fn read(&mut self, path: &Path, default: Option<ClaimSuite>) -> Result<(), Failure> {
        for entry in JsonLines::new(BufReader::new(File::open(path)?)) {
            let entry = entry.map_err(Failure::from)?;
            let record = entry.map_err(Failure::usage)?;
            let place = record.place;
            self.trust(record, default).map_err(|error| Failure::usage(error).context(place))?;
        }
        Ok(())
    }

    fn trust(&mut self, record: Record, default: Option<ClaimSuite>) -> anyhow::Result<()> {
        let named = record.suite.as_deref().map(str::parse).transpose()?;
        let suite = named.or(default).ok_or_else(|| anyhow!("the claim names no suite; give --suite NAME"))?;
        match suite {
            ClaimSuite::Bls12381(AnySuite::MinPk(suite)) => self.min_pk.trust(suite, &record),
            ClaimSuite::Bls12381(AnySuite::MinSig(suite)) => self.min_sig.trust(suite, &record),
            ClaimSuite::Bn254(_) => Err(not_on_bn254(suite)),
        }
    }
}

/// A variant that a suite chosen at run time may be of.
pub(super) trait Chosen: Suite {
    fn chosen(suite: ClaimSuite) -> Option<Self>;
    fn remembered(memory: &mut Memory) -> &mut Remembered<Self>;
}

impl Chosen for MinPk {
    fn chosen(suite: ClaimSuite) -> Option<Self> {
        if let ClaimSuite::Bls12381(AnySuite::MinPk(suite)) = suite { Some(suite) } else { None }
    }
    fn remembered(memory: &mut Memory) -> &mut Remembered<Self> {
        &mut memory.min_pk
    }
}

impl Chosen for MinSig {
    fn chosen(suite: ClaimSuite) -> Option<Self> {
        if let ClaimSuite::Bls12381(AnySuite::MinSig(suite)) = suite { Some(suite) } else { None }
    }
    fn remembered(memory: &mut Memory) -> &mut Remembered<Self> {
        &mut memory.min_sig
    }
}

impl<S: Chosen> Remembered<S> {
    /// Remembers a claim that was found valid, if it makes one statement.
    pub(super) fn append(&mut self, claim: &Claim<S>) {
        let mut statements = claim.statements();
        if let (true, Some((key, message)), None) = (self.keep, statements.next(), statements.next()) {
            let object = serde_json::json!({
                "suite": claim.suite().name(),
                "public_key": const_hex::encode(key.to_bytes()),
                "message": const_hex::encode(message),
                "signature": const_hex::encode(claim.signature().to_bytes()),
            });
            self.lines.push(format!("{object}\n"));
        }
    }

    fn trust(&mut self, suite: S, record: &Record) -> anyhow::Result<()> {
        let message = match (&record.public_keys[..], &record.messages) {
            ([_], Messages::Shared(message)) => message,
            ([_], Messages::Each(messages)) => &messages[0],
            (keys, _) => anyhow::bail!("a known claim makes one statement, this one makes {}", keys.len()),
        };
        let key = PublicKey::from_bytes(&record.public_keys[0])?;
        self.known.trust(suite, key, message.clone(), Signature::from_bytes(&record.signature)?);
        Ok(())
    }
}

fn not_on_bn254(suite: ClaimSuite) -> anyhow::Error {
    anyhow!("{suite} is on BN254, where nothing is known or remembered: each claim is verified by itself")
}

impl<S: Suite> Remembered<S> {
    fn new(keep: bool) -> Self {
        Self { known: Known::new(), lines: Vec::new(), keep }
    }
}
