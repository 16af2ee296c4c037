//! `quorate aggregate`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{ArgGroup, Args};
use quorate::{
    AnySuite, InSuite, PublicKey, Scheme, Signature, Suite,
    aggregate::{MisuseError, aggregate},
    bdn,
};
use serde::Serialize;

use super::{
    backend::BackendArgument,
    lines::{Field, Lines, bytes},
    print,
    suite::{SuiteArgument, hex},
};
use quorate_host::exit::{Exit, Failure, Result};

/// Add signatures, or public keys, and print the sum
///
/// Each line has one item: hexadecimal digits, or a JSON object such as a claim with a field "signature" ("public_key"). Every
/// item must decode, or nothing is printed. The sum does not say that the signatures are valid, or that the owners of the keys
/// have the secret keys. A sum of keys stands for its members only in a POP suite, after `quorate pop verify`, and in a BDN suite.
///
/// A BDN suite multiplies each signature by a coefficient of its key, so each line must be a JSON object with the fields
/// "public_key" and "signature". The lines are exactly the signers, in any order, and none occurs twice.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, group = ArgGroup::new("kind"))]
pub struct Arguments {
    #[command(flatten)]
    suite: SuiteArgument,

    #[command(flatten)]
    backend: BackendArgument,

    /// Add signatures; this is the default
    #[arg(long, group = "kind")]
    signatures: bool,

    /// Add public keys
    #[arg(long, group = "kind")]
    public_keys: bool,

    /// File with one item on each line; `-`, or no file, means standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Print a JSON object with the sum and the count
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Sum {
    suite: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    count: usize,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// An item cannot be read, there is none, or reading or writing fails.
    pub fn run(self) -> Result {
        self.suite.suite.run(self)
    }
}

impl InSuite for Arguments {
    type Output = Result;

    fn run_in<S: Suite>(self, suite: S) -> Result {
        let lines = Lines::open(self.file.as_slice())?;
        let name = lines.names();
        let empty = |error: MisuseError| Failure::usage(anyhow!(error).context(name));
        let (sum, count) = if self.public_keys {
            refuse_keys_in_both_groups(suite)?;
            let keys = lines.parse_all(|text| key(text, suite))?;
            let sum = bdn::sum_of_keys(suite, &keys, self.backend.backend);
            (hex(suite.any(), sum.map_err(empty)?.to_bytes()), keys.len())
        } else if suite.scheme() == Scheme::Bdn {
            let signed = lines.parse_all(|text| signed(text, suite))?;
            let sum = bdn::aggregate(suite, &signed, self.backend.backend).map_err(empty)?;
            (hex(suite.any(), sum.to_bytes()), signed.len())
        } else {
            let signatures = signatures(lines, suite)?;
            (
                hex(suite.any(), aggregate(&signatures, self.backend.backend).map_err(empty)?.to_bytes()),
                signatures.len(),
            )
        };
        if self.json {
            let (signature, public_key) = if self.public_keys { (None, Some(sum)) } else { (Some(sum), None) };
            print::json(&Sum { suite: suite.name(), signature, public_key, count })?;
        } else {
            print::line(sum)?;
        }
        Ok(Exit::Success)
    }
}

/// Refuses a suite whose keys are two points, because [`PublicKey`] is one of them.
fn refuse_keys_in_both_groups<S: Suite>(suite: S) -> std::result::Result<(), Failure> {
    match suite.any() {
        AnySuite::Bn254(bn254) if bn254.has_dual_keys() => Err(Failure::usage(anyhow!(
            "keys of {suite} are points of both groups, and this command adds points of one; a claim names its signers one by one in \
             \"public_keys\""
        ))),
        _ => Ok(()),
    }
}

/// Every line as a signature.
pub(super) fn signatures<S: Suite>(lines: Lines, suite: S) -> std::result::Result<Vec<Signature<S>>, Failure> {
    lines.parse_all(|text| signature(text, suite))
}

fn signature<S: Suite>(text: &str, suite: S) -> std::result::Result<Signature<S>, String> {
    Signature::from_bytes(&bytes(text, Field::Signature, suite.any())?).map_err(|error| error.to_string())
}

fn key<S: Suite>(text: &str, suite: S) -> std::result::Result<PublicKey<S>, String> {
    PublicKey::from_claim(suite, &bytes(text, Field::PublicKey, suite.any())?).map_err(|error| error.to_string())
}

/// A line as a key and its signature.
fn signed<S: Suite>(text: &str, suite: S) -> std::result::Result<(PublicKey<S>, Signature<S>), String> {
    if !text.starts_with('{') {
        return Err("found no JSON object, expected one with \"public_key\" and \"signature\", because a BDN suite multiplies each \
                    signature by a coefficient of its key"
            .to_owned());
    }
    Ok((key(text, suite)?, signature(text, suite)?))
}

const EXAMPLES: &str = "\
Examples:
  quorate aggregate --suite eth2 signatures.txt
  quorate aggregate --suite eth2 claims.jsonl
  quorate aggregate --suite eth2 --public-keys - < keys.txt";
