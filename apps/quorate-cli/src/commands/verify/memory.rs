//! `--known` and `--remember`: statements verified earlier, on disk as claims of one statement in JSON Lines.

use std::{
    fs::{File, OpenOptions},
    io::{BufReader, Write},
    path::Path,
};

use anyhow::Context as _;
use quorate::{AnySuite, ClaimBytes, Messages, Outcome, TrustError, Verifier};
use quorate_formats::jsonl::JsonLines;

use super::arguments::Arguments;
use crate::exit::Failure;

/// Where newly verified statements go.
pub(super) struct Memory {
    file: Option<(File, String)>,
    /// Statements appended by this run.
    pub(super) remembered: usize,
    /// Whether a valid claim was not remembered because its suite is on BN254.
    pub(super) forgot_bn254: bool,
}

impl Memory {
    /// Reads the known statements into the verifier, and opens the file to append to.
    pub(super) fn open(arguments: &Arguments, verifier: &mut Verifier) -> Result<Self, Failure> {
        if let Some(suite @ AnySuite::Bn254(_)) = arguments.suite {
            let asked = [(&arguments.remember, "--remember"), (&arguments.known, "--known")];
            if let Some((_, option)) = asked.into_iter().find(|(path, _)| path.is_some()) {
                return Err(Failure::usage(TrustError::NotSubtracted(suite)).context(option));
            }
        }
        if let Some(path) = &arguments.known {
            // The first run of a pair that reads and writes one file finds none.
            let first_run = arguments.remember.as_ref() == Some(path) && !path.exists();
            if !first_run {
                read(path, arguments.suite, verifier).map_err(|e| e.context(format!("--known {}", path.display())))?;
            }
        }
        let mut memory = Self { file: None, remembered: 0, forgot_bn254: false };
        if let Some(path) = &arguments.remember {
            let file = OpenOptions::new().append(true).create(true).open(path);
            let file =
                file.with_context(|| format!("cannot open --remember {}", path.display())).map_err(Failure::io)?;
            memory.file = Some((file, path.display().to_string()));
        }
        Ok(memory)
    }

    /// Appends the claims of one statement that are valid and were not known.
    pub(super) fn remember(&mut self, claims: &[ClaimBytes], outcome: &Outcome) -> Result<(), Failure> {
        let Some((file, name)) = &mut self.file else { return Ok(()) };
        let (mut text, mut appended) = (String::new(), 0);
        for ((claim, verdict), subtracted) in claims.iter().zip(&outcome.verdicts).zip(&outcome.subtracted) {
            if !verdict.is_valid() || *subtracted > 0 {
                continue;
            }
            if matches!(claim.suite, AnySuite::Bn254(_)) {
                self.forgot_bn254 = true;
            } else if let Some(line) = line(claim) {
                text += &line;
                appended += 1;
            }
        }
        if appended > 0 {
            let written =
                file.write_all(text.as_bytes()).with_context(|| format!("cannot append to --remember {name}"));
            written.map_err(Failure::io)?;
            self.remembered += appended;
        }
        Ok(())
    }
}

/// A claim of one statement as a line of JSON.
fn line(claim: &ClaimBytes) -> Option<String> {
    let [public_key] = &claim.public_keys[..] else { return None };
    let message = match &claim.messages {
        Messages::Shared(message) => message,
        Messages::Each(messages) => messages.first()?,
        _ => return None,
    };
    let object = serde_json::json!({
        "suite": claim.suite.name(),
        "public_key": const_hex::encode(public_key),
        "message": const_hex::encode(message),
        "signature": const_hex::encode(&claim.signature),
    });
    Some(format!("{object}\n"))
}

fn read(path: &Path, default: Option<AnySuite>, verifier: &mut Verifier) -> Result<(), Failure> {
    for entry in JsonLines::new(BufReader::new(File::open(path)?)) {
        let record = entry.map_err(Failure::from)?.map_err(Failure::usage)?;
        let place = record.place;
        let claim = record.into_claim(default).map_err(|error| Failure::usage(error).context(place))?;
        verifier.trust(&claim).map_err(|error| Failure::usage(error).context(place))?;
    }
    Ok(())
}
