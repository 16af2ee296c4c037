//! `quorate checkpoint verify` and `judge`.

use std::path::PathBuf;

use clap::Args;
use quorate::SourceId;
use quorate_checkpoint::{Equivocation, Posting, unite};
use quorate_host::{
    exit::{Exit, Result},
    unix_seconds,
};
use serde::Serialize;

use super::{
    combine::counted,
    inputs::{SetsArguments, read},
};
use crate::commands::{print, random, unlock::name_of};

/// Verify a checkpoint and say who signed it
///
/// Reads a checkpoint with its signatures, as `combine` prints it. It is valid if enough signers of the newest set have signed it,
/// none of its signatures is false, and it has been issued and has not expired. Nodes also compare it with their chain. Exit
/// code: 0 valid, 1 invalid, 2 usage or unreadable input.
#[derive(Debug, Args)]
#[command(before_long_help = VERIFY_EXAMPLES)]
pub(super) struct VerifyArguments {
    #[command(flatten)]
    sets: SetsArguments,

    /// The checkpoint with its signatures; `-` means standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The time at which it is to be valid, in Unix seconds; by default now
    #[arg(long, value_name = "SECONDS")]
    at: Option<u64>,

    /// Print a JSON object, in which "signers" are the indices of those who have signed, and "threshold" says how many must
    #[arg(long)]
    json: bool,
}

/// Say whether signers have provably signed two things that exclude each other
///
/// Reads what nodes serve in the field "evidence" of their answer: two checkpoints of one height with different blocks, or two changes of one set, each with
/// enough signatures. Anyone can verify it who has the sets. Prints the keys that signed both. Exit code: 0 nothing is proven, 1
/// it is proven, 2 usage or unreadable input.
#[derive(Debug, Args)]
#[command(before_long_help = JUDGE_EXAMPLES)]
pub(super) struct JudgeArguments {
    #[command(flatten)]
    sets: SetsArguments,

    /// The evidence; `-` means standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Verified {
    valid: bool,
    height: u64,
    block_hash: String,
    /// Who has signed it, by the index in the set.
    signers: Vec<u16>,
    /// How many must.
    threshold: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl VerifyArguments {
    pub(super) fn run(self) -> Result {
        let chain = self.sets.read()?;
        let posting = read(&self.file, Posting::from_json)?;
        let now = self.at.unwrap_or_else(unix_seconds);
        let newest = chain.newest();
        let source = SourceId::from(&*name_of(&self.file));
        let (united, flaws) = unite([(source, &posting)], chain.sets(), &mut random::generator()?);
        let document = &posting.document;
        let set = chain.sets().iter().find(|set| set.epoch() == document.set_epoch).unwrap_or(newest);
        let signed = united.first();
        let reason = if let Some(flaw) = flaws.first() {
            Some(flaw.to_string())
        } else if signed.is_none_or(|signed| !signed.is_complete()) {
            Some(signed.map_or_else(|| "nobody has signed it".to_owned(), counted))
        } else if set != newest {
            Some(format!("it is of the set with epoch {}, and the newest is {}", set.epoch(), newest.epoch()))
        } else if now < document.issued_at {
            Some(format!("it is issued at {}, and it is {now}", document.issued_at))
        } else {
            (now >= document.expires_at).then(|| format!("it expired at {}, and it is {now}", document.expires_at))
        };
        let verified = Verified {
            valid: reason.is_none(),
            height: document.height,
            block_hash: const_hex::encode_prefixed(document.block_hash),
            signers: signed.map(|signed| signed.signers().collect()).unwrap_or_default(),
            threshold: set.threshold(),
            reason,
        };
        if self.json {
            print::json(&verified)?;
        } else {
            let verdict = verified.reason.map_or_else(|| "valid".to_owned(), |reason| format!("invalid: {reason}"));
            print::line(format_args!("height {}, block {}: {verdict}", verified.height, verified.block_hash))?;
            for index in verified.signers {
                print::line(format_args!("signer {index}: 0x{}", set.keys()[usize::from(index)]))?;
            }
        }
        Ok(if verified.valid { Exit::Success } else { Exit::Negative })
    }
}

impl JudgeArguments {
    pub(super) fn run(self) -> Result {
        let chain = self.sets.read()?;
        let evidence = read(&self.file, Equivocation::from_json)?;
        match evidence.verify(&chain, &mut random::generator()?) {
            Ok(keys) => {
                print::line("proven: enough signers have signed two things that exclude each other")?;
                for key in keys {
                    print::line(format_args!("signed both: 0x{key}"))?;
                }
                Ok(Exit::Negative)
            }
            Err(error) => {
                print::line(format_args!("nothing is proven: {error}"))?;
                Ok(Exit::Success)
            }
        }
    }
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  quorate checkpoint verify --sets sets.json signed.json
  quorate checkpoint verify --sets sets.json --pin 0x4e… --json signed.json";

const JUDGE_EXAMPLES: &str = "\
Examples:
  quorate checkpoint judge --sets sets.json evidence.json";
