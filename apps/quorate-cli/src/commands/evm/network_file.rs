//! `--network`: a network from a file.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use anyhow::Context as _;
use quorate_evm::Network;

use crate::{
    commands::unlock::{is_dash, name_of},
    exit::Failure,
};

/// A network, and the name of its file in messages.
pub(super) struct NetworkFile {
    pub(super) network: Network,
    pub(super) name: String,
}

impl NetworkFile {
    /// Reads a file and checks its form. `-` means standard input.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = name_of(path);
        let text = read(path).with_context(|| format!("cannot read {name}")).map_err(Failure::io)?;
        let network: Network = serde_json::from_str(&text).map_err(|error| {
            Failure::usage(error)
                .context(format!("{name}: this is not a network; `quorate evm plan --help` describes the fields"))
        })?;
        network.check().map_err(|error| Failure::usage(error).context(name.clone()))?;
        Ok(Self { network, name })
    }
}

fn read(path: &Path) -> io::Result<String> {
    if !is_dash(path) {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}
