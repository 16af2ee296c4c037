//! `quorate checkpoint show`.

use std::path::PathBuf;

use clap::Args;
use quorate_checkpoint::{Checkpoint, JsonError, Posting, Rotation, SetManifest, Sets};
use quorate_host::{
    dash,
    exit::{Exit, Failure, Result},
    file::LARGEST_DOCUMENT,
};

use super::inputs::has_field;
use crate::commands::{print, unlock::name_of};

/// Print what a checkpoint or a file of sets says, with its digest or its ids
///
/// Reads what the other commands print. Nothing is verified: `verify` does that. The digest of a checkpoint is what the next one
/// names as --previous.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A checkpoint, with or without signatures, a file of sets, or a signed change of a set; `-` means standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let bytes = dash::text(&self.file, LARGEST_DOCUMENT)?.into_bytes();
        let parse: fn(&[u8]) -> std::result::Result<String, JsonError> = if has_field(&bytes, "first") {
            |bytes| Ok(sets(&Sets::from_json(bytes)?))
        } else if has_field(&bytes, "document") {
            |bytes| Ok(posting(&Posting::from_json(bytes)?))
        } else if has_field(&bytes, "from") {
            |bytes| Ok(rotation(&Rotation::from_json(bytes)?))
        } else {
            |bytes| Ok(checkpoint(&Checkpoint::from_json(bytes)?))
        };
        let shown = parse(&bytes).map_err(|error| Failure::usage(error).context(name_of(&self.file)))?;
        for line in shown.lines() {
            print::line(line)?;
        }
        Ok(Exit::Success)
    }
}

fn checkpoint(checkpoint: &Checkpoint) -> String {
    let Checkpoint { chain_id, height, block_hash, previous, issued_at, expires_at, set_epoch } = checkpoint;
    let hex = const_hex::encode_prefixed;
    format!(
        "chain_id    {}\nheight      {height}\nblock_hash  {}\nprevious    {}\nissued_at   {issued_at}\n\
         expires_at  {expires_at}\nset_epoch   {set_epoch}\ndigest      {}\n",
        hex(chain_id),
        hex(block_hash),
        hex(previous),
        hex(&checkpoint.digest()),
    )
}

fn posting(posting: &Posting) -> String {
    let indices: Vec<_> = posting.signatures.iter().map(|signature| signature.index.to_string()).collect();
    format!("{}signers     {} (not verified)\n", checkpoint(&posting.document), indices.join(", "))
}

fn sets(sets: &Sets) -> String {
    let all = [&sets.first].into_iter().chain(sets.rotations.iter().map(|rotation| &rotation.to));
    all.map(set).collect()
}

fn set(set: &SetManifest) -> String {
    let head = format!(
        "set of epoch {}: {} of {} signers, id {}\n",
        set.epoch,
        set.threshold,
        set.signers.len(),
        const_hex::encode_prefixed(set.id())
    );
    let signers = set.signers.iter().enumerate();
    let lines =
        signers.map(|(index, signer)| format!("signer {index}: {}\n", const_hex::encode_prefixed(signer.public_key)));
    lines.fold(head, |text, line| text + &line)
}

fn rotation(rotation: &Rotation) -> String {
    let list = |signatures: &[quorate_checkpoint::IndexedSignature]| {
        signatures.iter().map(|signature| signature.index.to_string()).collect::<Vec<_>>().join(", ")
    };
    format!(
        "change from the set {}\n{}signed by signers of the old set (not verified): {}\n\
         signed by signers of the new set (not verified): {}\n",
        const_hex::encode_prefixed(rotation.from),
        set(&rotation.to),
        list(&rotation.old),
        list(&rotation.new)
    )
}

const EXAMPLES: &str = "\
Examples:
  quorate checkpoint show sets.json
  quorate checkpoint show signed.json";
