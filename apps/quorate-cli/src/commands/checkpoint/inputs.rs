//! What the commands read: sets of signers, files of JSON, lines of signatures.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    slice,
};

use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate::SourceId;
use quorate_checkpoint::{JsonError, SetChain, Sets};
use quorate_host::{dash, exit::Failure, file::LARGEST_DOCUMENT};
use serde::de::IgnoredAny;

use crate::commands::{lines::Lines, random, unlock::name_of, value::bytes_32};

/// The sets of signers, and which of them is trusted.
#[derive(Clone, Debug, Args)]
pub(super) struct SetsArguments {
    /// File with the sets of signers, as `set` and `adopt` print it; `-` means standard input. The newest one counts
    #[arg(long, value_name = "FILE")]
    sets: PathBuf,

    /// The id of the first set, from somewhere that you trust. Without it the first set of the file is trusted
    #[arg(long, value_name = "HEX", value_parser = bytes_32())]
    pin: Option<[u8; 32]>,
}

impl SetsArguments {
    /// Reads the sets, and verifies every proof of possession and every change.
    pub(super) fn read(&self) -> Result<SetChain, Failure> {
        let sets = read(&self.sets, Sets::from_json)?;
        let pinned = self.pin.unwrap_or_else(|| sets.first.id());
        let chain = SetChain::follow(&sets, pinned, &mut random::generator()?);
        chain.with_context(|| name_of(&self.sets)).map_err(Failure::usage)
    }
}

/// Reads a file with one JSON object. `-` means standard input.
pub(super) fn read<T>(path: &Path, parse: impl FnOnce(&[u8]) -> Result<T, JsonError>) -> Result<T, Failure> {
    let text = dash::text(path, LARGEST_DOCUMENT)?;
    parse(text.as_bytes()).with_context(|| name_of(path)).map_err(Failure::usage)
}

/// Reads files with one JSON object on each line, and says which file each came from.
pub(super) fn read_lines<T>(
    paths: &[PathBuf],
    mut parse: impl FnMut(&[u8]) -> Result<T, JsonError>,
) -> Result<Vec<(SourceId, T)>, Failure> {
    let mut all = Vec::new();
    for path in paths {
        let lines = Lines::open(slice::from_ref(path))?
            .parse_all(|text| parse(text.as_bytes()).map_err(|error| error.to_string()))?;
        if lines.is_empty() {
            return Err(Failure::usage(anyhow!("{} is empty, so there is nothing to unite", name_of(path))));
        }
        all.extend(lines.into_iter().map(|line| (SourceId::from(&*name_of(path)), line)));
    }
    Ok(all)
}

/// Whether bytes are a JSON object with this field, by which files are told apart. An error is then about that kind of file.
pub(super) fn has_field(bytes: &[u8], name: &str) -> bool {
    serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(bytes).is_ok_and(|fields| fields.contains_key(name))
}
