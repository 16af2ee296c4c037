//! `quorate checkpoint sign` and `rotate`.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use quorate::{MinPk, SecretKey};
use quorate_checkpoint::{Checkpoint, Posting, SUITE, Sets, SignError, SignerRecord};
use quorate_host::{
    dash,
    exit::{Ends as _, Exit, Failure, Result},
    file::LARGEST_DOCUMENT,
};

use super::inputs::{SetsArguments, has_field, read};
use crate::commands::{
    print,
    unlock::{KeyFile, PassphraseArguments, name_of},
    value::path_to_write,
};

/// A signer's key and record.
#[derive(Clone, Debug, Args)]
struct SignerArguments {
    /// File with the secret key: hexadecimal digits, keystore or JSON Web Key; `-` means standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// What this key has signed so far. Keep one for each key, and never lose it
    #[arg(long, value_name = "FILE", value_parser = path_to_write())]
    record: PathBuf,

    /// Begin the record: this key has never signed a checkpoint or a change of a set
    #[arg(long)]
    new_record: bool,

    #[command(flatten)]
    passphrase: PassphraseArguments,
}

/// Sign a checkpoint and print the signature
///
/// What is signed is first written to the record, and is on the disk before the signature is printed. A second checkpoint at one
/// height is refused, and so is one below the highest that was signed. The record is of one key; --new-record begins the one of a
/// key that has never signed. A record that is cut off or changed signs nothing that it may have forbidden. Compare the block with a node of your own that has
/// verified it before you sign. Prints one JSON object on one line; give the lines of all signers to `combine`, or post each to
/// nodes. Exit code: 0 signed, 1 the record forbids it or another process uses the record, 2 usage or unreadable input, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = SIGN_EXAMPLES, override_usage = SIGN_USAGE)]
pub(super) struct SignArguments {
    #[command(flatten)]
    sets: SetsArguments,

    #[command(flatten)]
    signer: SignerArguments,

    /// The checkpoint, as `propose` prints it, or with signatures of others; `-` means standard input
    #[arg(value_name = "CHECKPOINT")]
    checkpoint: PathBuf,
}

/// Sign a change of the set of signers and print the signature
///
/// Enough signers of the old and of the new set must sign it, each by this command. Whoever is in both sets signs once. What is
/// signed is first written to the record; a change of the same set to another one is refused afterwards. Prints one JSON object
/// on one line; give the lines of all signers to `adopt`. Exit code: 0 signed, 1 the record forbids it or another process uses the
/// record, 2 usage or unreadable input, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = ROTATE_EXAMPLES, override_usage = ROTATE_USAGE)]
pub(super) struct RotateArguments {
    #[command(flatten)]
    sets: SetsArguments,

    /// File with the new set, as `set` prints it, with the next epoch; `-` means standard input
    #[arg(long, value_name = "FILE")]
    to: PathBuf,

    #[command(flatten)]
    signer: SignerArguments,
}

impl SignerArguments {
    fn open(&self) -> std::result::Result<(SecretKey<MinPk>, SignerRecord), Failure> {
        let key = KeyFile::read(&self.key)?.unlock(SUITE, &self.passphrase.source()?)?;
        let public_key = key.public_key();
        let opened = match self.new_record {
            true => SignerRecord::begin(&self.record, &public_key),
            false => SignerRecord::open(&self.record, &public_key),
        };
        let record = opened.map_err(refused)?;
        let name = self.record.display();
        if let Some(mended) = record.mended() {
            print::note(format_args!("warning: {name}, {mended}"));
        }
        if !record.names_key() {
            let key = const_hex::encode_prefixed(public_key.to_bytes());
            print::note(format_args!(
                "warning: {name} names no key, because an earlier version made it; what is signed next binds it to this key, {key}"
            ));
        }
        Ok((key, record))
    }
}

impl SignArguments {
    pub(super) fn run(self) -> Result {
        let chain = self.sets.read()?;
        let checkpoint = checkpoint(&self.checkpoint)?;
        let (key, mut record) = self.signer.open()?;
        print::json(&record.sign(&checkpoint, chain.newest(), &key).map_err(refused)?)?;
        Ok(Exit::Success)
    }
}

impl RotateArguments {
    pub(super) fn run(self) -> Result {
        let chain = self.sets.read()?;
        let to = read(&self.to, Sets::from_json)?;
        if !to.rotations.is_empty() {
            let error = anyhow!("{} has changes already; give the new set as `set` prints it", name_of(&self.to));
            return Err(Failure::usage(error));
        }
        let (key, mut record) = self.signer.open()?;
        print::json(&record.sign_rotation(chain.newest(), &to.first, &key).map_err(refused)?)?;
        Ok(Exit::Success)
    }
}

/// A bare checkpoint, or one with signatures, which are not looked at.
fn checkpoint(path: &Path) -> std::result::Result<Checkpoint, Failure> {
    let bytes = dash::text(path, LARGEST_DOCUMENT)?.into_bytes();
    let parsed = match has_field(&bytes, "document") {
        true => Posting::from_json(&bytes).map(|posting| posting.document),
        false => Checkpoint::from_json(&bytes),
    };
    parsed.map_err(|error| Failure::usage(error).context(name_of(path)))
}

/// The exit code of each reason.
fn refused(error: SignError) -> Failure {
    let exit = match &error {
        SignError::File(error) => error.exit(),
        SignError::Record(error) => error.exit(),
        SignError::Torn { .. }
        | SignError::AnotherAtThisHeight { .. }
        | SignError::Lower { .. }
        | SignError::NoPrevious { .. }
        | SignError::AnotherRotation { .. } => Exit::Negative,
        _ => Exit::Usage,
    };
    Failure { exit, error: error.into() }
}

/// Clap's own usage lines do not fit.
const SIGN_USAGE: &str = "\
quorate checkpoint sign [OPTIONS] --sets <FILE> --key <FILE>
           --record <FILE> [--new-record] <CHECKPOINT>";

const ROTATE_USAGE: &str = "\
quorate checkpoint rotate [OPTIONS] --sets <FILE> --to <FILE>
           --key <FILE> --record <FILE> [--new-record]";

const SIGN_EXAMPLES: &str = "\
Examples:
  quorate checkpoint sign --sets sets.json --key alice.key \\
      --record alice.record --new-record first.json >> signed.jsonl
  quorate checkpoint sign --sets sets.json --key alice.key \\
      --record alice.record checkpoint.json >> signed.jsonl";

const ROTATE_EXAMPLES: &str = "\
Examples:
  quorate checkpoint rotate --sets sets.json --to next.json \\
      --key alice.key --record alice.record >> rotation.jsonl
  quorate checkpoint adopt --sets sets.json rotation.jsonl > new-sets.json";
