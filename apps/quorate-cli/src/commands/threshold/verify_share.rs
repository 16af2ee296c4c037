//! `quorate threshold verify-share`.

use std::{
    collections::{HashMap, hash_map::Entry},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate::{Backend, ClaimBytes, Options, ParseError, Reason, Suite, Verdict, Verifier};
use quorate_formats::{
    At, Id, Place, VerdictLine,
    judge::{Item, Judge, Ruling, Window, WindowLimit},
};
use quorate_host::exit::{Exit, Failure, Result};
use quorate_threshold::{KeyShare, SharedKey, SharingError};

use super::shares::{ShareLine, ShareLines, SignatureShare, Spot};
use crate::commands::{
    backend::BackendArgument,
    key_share::KeyShareFile,
    print::{self, plural},
    random,
    shared_key::SharedKeyFile,
    suite::{InSuite, KeySuite},
    threads,
    unlock::PassphraseArguments,
};

/// Verify signature shares, or a share of a key
///
/// Prints a verdict for each line of `quorate threshold sign`: its number, the participant, and whether its share is valid.
/// With --share, prints whether that share is the one that the shared key commits to. Exit code: 0 all valid, 1 at least one
/// invalid, 2 a line cannot be read, 3 I/O, 4 internal.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    /// The shared key, as `quorate threshold split` writes it. It is trusted
    #[arg(long, value_name = "FILE")]
    shared_key: PathBuf,

    /// Files with signature shares, one JSON object on each line; `-`, or no file, means standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Verify this file with a share of the key; `-` means standard input
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    share: Option<PathBuf>,

    #[command(flatten)]
    passphrase: PassphraseArguments,

    #[command(flatten)]
    backend: BackendArgument,

    /// Print a JSON object for each share, {"index":0,"id":3,"line":1,"valid":true}: "index" counts from 0, and "id" is the
    /// participant
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        if self.share.is_none() && self.passphrase.is_given() {
            return Err(Failure::usage(anyhow!(
                "--passphrase-file and --passphrase-fd are for the share of --share; leave them out"
            )));
        }
        let file = SharedKeyFile::read(&self.shared_key)?;
        file.suite().run(VerifyShare { arguments: self, file })
    }
}

/// The arguments, and the shared key that they name.
struct VerifyShare {
    arguments: Arguments,
    file: SharedKeyFile,
}

impl InSuite for VerifyShare {
    fn run_in<S: Suite>(self, suite: S) -> Result {
        let Self { arguments, file } = self;
        let key = file.key::<S>(arguments.backend.backend)?;
        match &arguments.share {
            Some(path) => arguments.key_share(suite, file.suite().suite, &key, path),
            None => arguments.signature_shares(suite, file.suite().suite, &key),
        }
    }
}

impl Arguments {
    /// Whether a share of a key is the one that the commitment commits to.
    fn key_share<S: Suite>(&self, suite: S, name: KeySuite, key: &SharedKey<S>, path: &Path) -> Result {
        let file = KeyShareFile::read(path)?;
        let (found, backend) = (file.suite().suite, self.backend.backend);
        if found != name {
            return Err(Failure::usage(anyhow!(
                "{}: \"suite\": found {found}, expected {name}, the suite of the shared key",
                path.display()
            )));
        }
        let share = file.unlock(suite, &self.passphrase.source()?)?;
        let index = share.index;
        let refuted = || {
            if share.public_key != key.public_key().to_bytes().as_ref() {
                return Err("the share is of another key than --shared-key".to_owned());
            }
            let index = key.committee().index(index).map_err(|error| error.to_string())?;
            let share = KeyShare::new(index, share.secret.clone());
            key.commitment().proves(key.committee(), &share, backend).map_err(|error| error.to_string())
        };
        let reason = refuted().err();
        let exit = if reason.is_none() { Exit::Success } else { Exit::Negative };
        if self.json {
            print::json(&VerdictLine::new(0, Some(&Id::number(index)), reason))?;
        } else {
            let verdict = reason.map_or("valid".to_owned(), |reason| format!("invalid: {reason}"));
            print::line(format_args!("participant {index}: {verdict}"))?;
        }
        Ok(exit)
    }

    /// The verdicts of signature shares.
    fn signature_shares<S: Suite>(&self, suite: S, name: KeySuite, key: &SharedKey<S>) -> Result {
        let mut lines = ShareLines::open(&self.files, name, key.public_key().to_bytes().as_ref().to_vec())?;
        let options = Options { threads: threads::all(), backend: self.backend.backend, ..Options::default() };
        let mut keys = VerificationKeys::new(key, options.backend);
        let (mut judge, mut window) =
            (Judge::new(Verifier::new(options)), Window::new(WindowLimit::of(options.threads)));
        let mut count = Count::default();
        loop {
            while !window.is_full()
                && let Some(ShareLine { spot, share }) = lines.next()?
            {
                match share.and_then(|share| Ok((keys.of(share.index)?, share))) {
                    Ok((verification_key, SignatureShare { index, message, signature })) => {
                        let claim =
                            verification_key.map(|key| ClaimBytes::single(suite.any(), &key, &message, &signature));
                        let bytes = message.len() + claim.as_ref().map_or(0, ClaimBytes::memory);
                        window.push(Item { about: (spot, index), claim, bytes });
                    }
                    Err(reason) => {
                        count.unreadable += 1;
                        lines.complain(&spot, &reason);
                    }
                }
            }
            if window.is_empty() {
                break;
            }
            for judged in judge.judge(window.take(), &mut random::generator()?).judged {
                let (spot, index) = judged.about;
                // Nothing is the share of a participant whose verification key is the identity.
                let identity = Verdict::Invalid(Reason::Parse(ParseError::IdentityKey));
                let verdict = judged.ruling.map_or(Ok(identity), Ruling::decided);
                let place = || format!("{}, line {}", spot.file, spot.line);
                let verdict = verdict.with_context(place).map_err(Failure::internal)?;
                self.print(&lines, spot, index, count.judged(), verdict)?;
                if verdict.is_valid() { count.valid += 1 } else { count.invalid += 1 }
            }
        }
        lines.complain_of_the_rest();
        count.settle(lines.names())
    }

    fn print(
        &self,
        lines: &ShareLines,
        spot: Spot,
        index: u64,
        number: usize,
        verdict: Verdict,
    ) -> std::result::Result<(), Failure> {
        let Spot { file, line } = spot;
        if self.json {
            let at = At::new(lines.several().then_some(file), Some(Place::Line(line)));
            let reason = verdict.reason().map(|reason| reason.to_string());
            return print::json(&VerdictLine::new(number, Some(&Id::number(index)), reason).at(Some(at)));
        }
        let file = if lines.several() { format!("{file}, line ") } else { String::new() };
        print::line(format_args!("{file}{line}: participant {index}: {verdict}"))
    }
}

/// The keys of the participants whose shares were there, encoded. `None` if it is the identity, which is not a key.
struct VerificationKeys<'a, S: Suite> {
    key: &'a SharedKey<S>,
    backend: Backend,
    known: HashMap<u64, Option<Vec<u8>>>,
}

impl<'a, S: Suite> VerificationKeys<'a, S> {
    fn new(key: &'a SharedKey<S>, backend: Backend) -> Self {
        Self { key, backend, known: HashMap::new() }
    }

    fn of(&mut self, index: u64) -> std::result::Result<Option<Vec<u8>>, String> {
        match self.known.entry(index) {
            Entry::Occupied(entry) => Ok(entry.get().clone()),
            Entry::Vacant(entry) => {
                let index = self.key.committee().index(index).map_err(|error| format!("\"index\": {error}"))?;
                let key = match self.key.verification_key(index, self.backend) {
                    Ok(key) => Some(key.to_bytes().as_ref().to_vec()),
                    Err(SharingError::IdentityKey(_)) => None,
                    Err(error) => return Err(error.to_string()),
                };
                Ok(entry.insert(key).clone())
            }
        }
    }
}

/// The counts of a run.
#[derive(Default)]
struct Count {
    valid: usize,
    invalid: usize,
    unreadable: usize,
}

impl Count {
    fn judged(&self) -> usize {
        self.valid + self.invalid
    }

    fn settle(&self, names: &str) -> Result {
        let Self { valid, invalid, unreadable } = self;
        let total = self.judged() + unreadable;
        if total == 0 {
            return Err(Failure::usage(anyhow!("no share in {names}, so there is nothing to verify")));
        }
        let shares = plural(total, "share");
        print::note(format_args!("{shares}: {valid} valid, {invalid} invalid, {unreadable} unreadable"));
        Ok(match (unreadable, invalid) {
            (0, 0) => Exit::Success,
            (0, _) => Exit::Negative,
            _ => Exit::Usage,
        })
    }
}

/// Clap's own usage line does not show the two uses apart.
const USAGE: &str = "\
quorate threshold verify-share [OPTIONS] --shared-key <FILE> [FILE]...
       quorate threshold verify-share [OPTIONS] --shared-key <FILE>
           --share <FILE>";

const EXAMPLES: &str = "\
Examples:
  quorate threshold verify-share --shared-key shared-key.json signed.jsonl
  quorate threshold verify-share --shared-key shared-key.json --json - \\
      < signed.jsonl
  quorate threshold verify-share --shared-key shared-key.json \\
      --share share-3.json";
