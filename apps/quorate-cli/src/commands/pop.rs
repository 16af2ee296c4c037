//! `quorate pop`: proofs that the owner of a public key has its secret key.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use quorate::{AnySuite, ClaimBytes, InSuite, Suite, Verdict, proof_of_possession};
use quorate_formats::{At, Id, Place, VerdictLine, check_name, from_hex, json};
use quorate_host::exit::{Exit, Failure, Result};
use serde::{Deserialize, Serialize};

use super::{
    backend::BackendArgument,
    line_verdicts::{LineClaim, judge_lines, judge_one},
    lines::{Lines, field, refuse_other},
    print,
    suite::{ProofSuiteArgument, hex},
    unlock::{KeyFile, PassphraseArguments},
};

/// Make and verify proofs of possession
///
/// In a POP suite, keys may be added up only if each owner has proven possession of the secret key. Without the proofs, an
/// attacker can choose a rogue key and forge signatures of the whole group. Suites of other schemes have no such proofs.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: PopCommand,
}

#[derive(Debug, Subcommand)]
enum PopCommand {
    Prove(Prove),
    Verify(Verify),
}

/// Prove possession of a secret key and print the proof
#[derive(Debug, Args)]
#[command(before_long_help = PROVE_EXAMPLES)]
struct Prove {
    #[command(flatten)]
    suite: ProofSuiteArgument,

    /// File with the secret key: hexadecimal digits, keystore or JSON Web Key; `-` means standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    #[command(flatten)]
    passphrase: PassphraseArguments,

    /// Print a JSON object with the public key, as `quorate pop verify` reads it
    #[arg(long)]
    json: bool,
}

/// Verify proofs of possession: one on the command line, or a batch
///
/// For one proof, prints `valid` or `invalid: reason`. A batch has one JSON object on each line, {"public_key": hex, "proof":
/// hex}, with "id" and "suite" if you like; for each, prints the number of the line and the verdict. Exit code: 0 all valid,
/// 1 at least one invalid, 2 a line cannot be read.
#[derive(Debug, Args)]
#[command(before_long_help = VERIFY_EXAMPLES, override_usage = VERIFY_USAGE)]
struct Verify {
    #[command(flatten)]
    suite: ProofSuiteArgument,

    #[command(flatten)]
    backend: BackendArgument,

    /// One public key
    #[arg(long, value_name = "HEX", requires = "proof", conflicts_with = "file")]
    public_key: Option<String>,

    /// Its proof
    #[arg(long, value_name = "HEX", requires = "public_key", conflicts_with = "file")]
    proof: Option<String>,

    /// A batch, with one JSON object on each line; `-`, or no file, means standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Print a JSON object for each proof, {"index":0,"id":"…","line":1,"valid":true}: "index" counts from 0, and a proof of the
    /// command line has no "line"
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line or an input is wrong, or reading or writing fails.
    pub fn run(self) -> Result {
        match self.command {
            PopCommand::Prove(arguments) => arguments.suite.suite.run(arguments),
            PopCommand::Verify(arguments) => arguments.run(),
        }
    }
}

impl InSuite for Prove {
    type Output = Result;

    fn run_in<S: Suite>(self, suite: S) -> Result {
        let key = KeyFile::read(&self.key)?.unlock(suite, &self.passphrase.source()?)?;
        let proof = proof_of_possession::prove(suite, &key)
            .expect("the suite has proofs of possession, or the flag had been refused");
        let proof = hex(suite.any(), proof.to_bytes());
        if self.json {
            let public_key = hex(suite.any(), key.claim_key(suite));
            print::json(&ProofLine { suite: suite.name(), public_key, proof })?;
        } else {
            print::line(proof)?;
        }
        Ok(Exit::Success)
    }
}

/// What `prove --json` prints.
#[derive(Serialize)]
struct ProofLine {
    suite: &'static str,
    public_key: String,
    proof: String,
}

impl Verify {
    fn run(self) -> Result {
        match (&self.public_key, &self.proof) {
            (Some(key), Some(proof)) => self.one(key, proof),
            _ => self.batch(),
        }
    }

    fn one(&self, key: &str, proof: &str) -> Result {
        let field = |name: &str, text: &str| from_hex(text).map_err(|error| Failure::usage(anyhow!("{name}: {error}")));
        let (key, proof) = (field("--public-key", key)?, field("--proof", proof)?);
        let claim = ClaimBytes::proof_of_possession(self.suite.suite, &key, &proof);
        let verdict = judge_one(claim, self.backend.backend)?;
        if self.json {
            print::json(&VerdictLine::new(0, None, reason(verdict)))?;
        } else {
            print::line(verdict)?;
        }
        Ok(if verdict.is_valid() { Exit::Success } else { Exit::Negative })
    }

    fn batch(&self) -> Result {
        let mut lines = Lines::open(self.file.as_slice())?;
        let read = |text: &str| parse(self.suite.suite, text);
        let counts = judge_lines(&mut lines, self.backend.backend, read, |number, spot, id, verdict| {
            if self.json {
                let at = At::new(None, Some(Place::Line(spot.line)));
                print::json(&VerdictLine::new(number, id.as_ref(), reason(verdict)).at(Some(at)))
            } else {
                print::line(format_args!("{}: {verdict}", spot.line))
            }
        })?;
        counts.settle("proof", &lines.names())
    }
}

/// The proof on a line, and its id.
fn parse(suite: AnySuite, text: &str) -> std::result::Result<(Option<Id>, LineClaim), String> {
    let object: Object<'_> = json::object(text).map_err(|error| error.to_string())?;
    check_name("id", object.id.map_or(0, |id| id.get().len()))?;
    refuse_other(object.suite.as_deref(), suite)?;
    let (key, proof) = (field("public_key", object.public_key)?, field("proof", object.proof)?);
    let id = object.id.map(Id::from_json).transpose()?.flatten();
    Ok((id, Ok(ClaimBytes::proof_of_possession(suite, &key, &proof))))
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Object<'a> {
    #[serde(borrow)]
    id: Option<&'a serde_json::value::RawValue>,
    suite: Option<String>,
    public_key: Option<String>,
    proof: Option<String>,
}

fn reason(verdict: Verdict) -> Option<String> {
    verdict.reason().map(|reason| reason.to_string())
}

/// Clap's own usage line does not show the two uses apart.
const VERIFY_USAGE: &str = "\
quorate pop verify --suite <NAME> --public-key <HEX> --proof <HEX>
       quorate pop verify [OPTIONS] --suite <NAME> [FILE]";

const EXAMPLES: &str = "\
Examples:
  quorate pop prove --suite eth2 --key key.json
  quorate pop verify --suite eth2 --public-key 0x9612… --proof 0xb23c…
  quorate pop verify --suite eth2 proofs.jsonl";

const PROVE_EXAMPLES: &str = "\
Examples:
  quorate pop prove --suite eth2 --key key.json
  quorate pop prove --suite eth2 --key key.json --json >> proofs.jsonl";

const VERIFY_EXAMPLES: &str = "\
Examples:
  quorate pop verify --suite eth2 --public-key 0x9612… --proof 0xb23c…
  quorate pop verify --suite eth2 proofs.jsonl
  quorate pop verify --suite eth2 --json - < proofs.jsonl";
