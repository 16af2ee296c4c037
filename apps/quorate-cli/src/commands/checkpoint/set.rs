//! `quorate checkpoint set`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use quorate_checkpoint::{SUITE, SetManifest, Sets, SignerEntry, SignerSet};
use quorate_formats::json;
use quorate_host::exit::{Exit, Failure, Result};
use serde::Deserialize;

use crate::commands::{
    lines::{Lines, field},
    print, random,
};

/// Describe a set of signers: keys, proofs of possession, and how many must sign
///
/// Reads proofs as `quorate pop prove --suite eth2 --json` prints them, one JSON object on each line: {"public_key": hex, "proof":
/// hex}. Verifies every proof. More than half of the signers must sign, so that any two checkpoints have signers in common.
/// Prints the set as JSON, and its id on standard error. The id is what nodes pin. For a set that replaces another one, give the
/// epoch of that one plus 1, and go on with `rotate`.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// How many signers must sign: more than half of them
    #[arg(long, value_name = "M")]
    threshold: u16,

    /// Number of the set: 1 for the first one, and one more with each change
    #[arg(long, value_name = "N", default_value_t = 1)]
    epoch: u64,

    /// Proofs of possession, with one JSON object on each line; `-`, or no file, means standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let Self { threshold, epoch, files } = self;
        let signers = Lines::open(&files)?.parse_all(parse)?;
        let set = SignerSet::prove(SetManifest { epoch, threshold, signers }, &mut random::generator()?);
        let set = set.context("no set of signers, whose numbers count from 0").map_err(Failure::usage)?;
        print::json(&Sets { first: set.manifest().clone(), rotations: Vec::new() })?;
        print::note(format_args!("the id of the set, which nodes pin: {}", const_hex::encode_prefixed(set.id())));
        Ok(Exit::Success)
    }
}

fn parse(text: &str) -> std::result::Result<SignerEntry, String> {
    let object: Object = json::object(text).map_err(|error| error.to_string())?;
    if let Some(suite) = object.suite.filter(|suite| *suite != SUITE.to_string()) {
        return Err(format!("\"suite\": found {suite:?}, expected {SUITE}; make the proof with --suite {SUITE}"));
    }
    let exact =
        |name: &str, found: usize, expected: usize| format!("\"{name}\": found {found} bytes, expected {expected}");
    let (key, proof) = (field("public_key", object.public_key)?, field("proof", object.proof)?);
    let public_key = key.try_into().map_err(|key: Vec<u8>| exact("public_key", key.len(), 48))?;
    let proof = proof.try_into().map_err(|proof: Vec<u8>| exact("proof", proof.len(), 96))?;
    Ok(SignerEntry { public_key, proof })
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Object {
    suite: Option<String>,
    public_key: Option<String>,
    proof: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  quorate checkpoint set --threshold 3 proofs.jsonl > sets.json
  quorate checkpoint set --threshold 3 --epoch 2 new-proofs.jsonl > next.json";
