//! `quorate threshold verify-share`.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use clap::Args;
use quorate::{Backend, Bls12381Suite, ClaimBytes, Options, ParseError, PublicKey, Reason, Verdict};
use quorate_formats::{At, Id, Place, VerdictLine};
use quorate_host::exit::{Exit, Failure, Result};
use quorate_threshold::{Identifiers, KeyShare, SharedKey, SharingError};

use super::shares::{ShareReader, SignatureShare};
use crate::commands::{
    backend::BackendArgument,
    key_share::KeyShareFile,
    line_verdicts::judge_lines,
    lines::{Lines, Spot},
    print,
    shared_key::SharedKeyFile,
    suite::{Bls12381Choice, InBls12381},
    threads,
    unlock::{PassphraseArguments, name_of},
};

/// Verify signature shares, or a share of a key
///
/// Prints a verdict for each line of `quorate threshold sign`: its number, the participant, and whether its share is valid.
/// With --share, prints whether that share is the one that the shared key commits to. Exit code: 0 all valid, 1 at least one
/// invalid, 2 a line cannot be read, 3 I/O, 4 internal.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    /// The shared key, as `quorate threshold split` writes it; `-` means standard input. It is trusted
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

impl InBls12381 for VerifyShare {
    fn run_in<S: Bls12381Suite>(self, suite: S) -> Result {
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
    fn key_share<S: Bls12381Suite>(&self, suite: S, name: Bls12381Choice, key: &SharedKey<S>, path: &Path) -> Result {
        let file = KeyShareFile::read(path)?;
        let (found, backend) = (file.suite().suite, self.backend.backend);
        if found != name {
            return Err(Failure::usage(anyhow!(
                "{}: \"suite\": found {found}, expected {name}, the suite of the shared key",
                name_of(path)
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
    fn signature_shares<S: Bls12381Suite>(&self, suite: S, name: Bls12381Choice, key: &SharedKey<S>) -> Result {
        let reader = ShareReader { suite: name, public_key: key.public_key().to_bytes().as_ref().to_vec() };
        let mut keys = VerificationKeys::new(key, self.backend.backend);
        let read = |text: &str| {
            let SignatureShare { index, message, signature } = reader.read(text)?;
            // Nothing is the share of a participant whose verification key is the identity.
            let key = keys.of(index)?.ok_or(Reason::Parse(ParseError::IdentityKey));
            Ok((index, key.map(|key| ClaimBytes::single(suite.any(), &key, &message, &signature))))
        };
        let mut lines = Lines::open(&self.files)?;
        let several = lines.several();
        let tell = |number, spot: &Spot, index, verdict| self.print(several, spot, index, number, verdict);
        let counts = judge_lines(&mut lines, self.backend.backend, read, tell)?;
        counts.settle("share", &lines.names())
    }

    fn print(
        &self,
        several: bool,
        Spot { file, line }: &Spot,
        index: u64,
        number: usize,
        verdict: Verdict,
    ) -> std::result::Result<(), Failure> {
        if self.json {
            let at = At::new(several.then(|| file.clone()), Some(Place::Line(*line)));
            let reason = verdict.reason().map(|reason| reason.to_string());
            return print::json(&VerdictLine::new(number, Some(&Id::number(index)), reason).at(Some(at)));
        }
        let file = if several { format!("{file}, line ") } else { String::new() };
        print::line(format_args!("{file}{line}: participant {index}: {verdict}"))
    }
}

/// The keys of the participants whose shares were there, encoded. `None` if it is the identity, which is not a key.
struct VerificationKeys<'a, S: Bls12381Suite> {
    key: &'a SharedKey<S>,
    backend: Backend,
    known: HashMap<u64, Option<Vec<u8>>>,
    /// Those of all participants, once so many are named that they cost less together.
    all: Option<Vec<Option<PublicKey<S>>>>,
}

impl<'a, S: Bls12381Suite> VerificationKeys<'a, S> {
    fn new(key: &'a SharedKey<S>, backend: Backend) -> Self {
        Self { key, backend, known: HashMap::new(), all: None }
    }

    fn of(&mut self, index: u64) -> std::result::Result<Option<Vec<u8>>, String> {
        if let Some(known) = self.known.get(&index) {
            return Ok(known.clone());
        }
        let committee = self.key.committee();
        let participant = committee.index(index).map_err(|error| format!("\"index\": {error}"))?;
        if self.all.is_none() && self.is_less_for_all() {
            let options = Options { threads: threads::all(), backend: self.backend, ..Options::default() };
            self.all = Some(self.key.commitment().verification_keys(committee, &options));
        }
        let key = match &self.all {
            Some(all) => all[participant.place()],
            None => match self.key.verification_key(participant, self.backend) {
                Ok(key) => Some(key),
                Err(SharingError::IdentityKey(_)) => None,
                Err(error) => return Err(error.to_string()),
            },
        };
        let key = key.map(|key| key.to_bytes().as_ref().to_vec());
        self.known.insert(index, key.clone());
        Ok(key)
    }

    /// Whether the keys of all participants would have cost less than those that were made one by one. Each of these is a sum of t points,
    /// some 20 additions a point. For roots of unity those of all are log2(t)/2 multiplications a key, some 300 additions each.
    fn is_less_for_all(&self) -> bool {
        let committee = self.key.committee();
        let (t, n) = (committee.threshold() as u64, committee.participants() as u64);
        let (one_by_one, all) = (self.known.len() as u64 * t, n * (u64::from(t.ilog2()) + 1) * 8);
        committee.identifiers() == Identifiers::RootsOfUnity && one_by_one > all
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

#[cfg(test)]
mod tests {
    use quorate::{MinPk, SecretKey};
    use quorate_threshold::{Committee, deal};

    use super::*;

    fn shared(t: usize, n: usize, identifiers: Identifiers) -> SharedKey<MinPk> {
        let committee = Committee::new(t, n, identifiers, Backend::auto()).expect("a committee");
        let mut rng = crate::commands::random::generator().expect("random numbers");
        let secret = SecretKey::generate(MinPk::Eth2, &mut rng);
        let (_, commitment) = deal(&committee, MinPk::Eth2, &secret, &Options::default(), &mut rng).expect("shares");
        SharedKey::new(MinPk::Eth2, committee, commitment).expect("t points")
    }

    /// For each of thousands of participants, a sum of thousands of points would take minutes.
    #[test]
    fn the_keys_of_many_participants_are_made_at_once_and_are_the_same() {
        for (t, n, identifiers, at_once) in [
            (60, 64, Identifiers::RootsOfUnity, true),
            (60, 64, Identifiers::Integers, false),
            (2, 64, Identifiers::RootsOfUnity, false),
        ] {
            let key = shared(t, n, identifiers);
            let mut keys = VerificationKeys::new(&key, Backend::auto());
            for number in 1..=n as u64 {
                let index = key.committee().index(number).expect("a participant");
                let alone = key.verification_key(index, Backend::auto()).expect("a key").to_bytes();
                assert_eq!(keys.of(number).expect("a participant").as_deref(), Some(&alone[..]), "{number}");
                assert!(number > 1 || keys.all.is_none());
            }
            assert_eq!(keys.all.is_some(), at_once, "{t} of {n}");
        }
    }
}
