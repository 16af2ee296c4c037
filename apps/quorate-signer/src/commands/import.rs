//! `quorate-signer import`.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate_evm::alloy_primitives::Bytes;
use quorate_host::{
    dash,
    exit::{Exit, Failure, Result},
    text::json_reason,
};
use quorate_signer_client::record_file::{LARGEST, RecordFile, RecordFileError};

use super::{DataArguments, print};
use crate::store::NotMerged;

/// Add to the record what another signer with this key has signed
///
/// The file must be the last that `quorate-signer export` wrote there, after that signer had stopped. All of it is taken, or
/// nothing. No import makes a task signable that was not.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    data: DataArguments,

    /// The file is of this public key, which the operator used before: 192 bytes. The contract holds conflicts against all
    /// keys of an operator
    #[arg(long, value_name = "HEX")]
    previous_key: Option<Bytes>,

    /// File that `quorate-signer export` wrote; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let (name, json) = (dash::name_of(&self.file), dash::text(&self.file, LARGEST)?);
        let parsed = RecordFile::parse(json.as_bytes()).map_err(|error| {
            // What the parser says can repeat a file that is a secret, such as a passphrase, and was named by mistake.
            let reason = match &error {
                RecordFileError::Json(error) => Some(json_reason(json.as_bytes(), error)),
                _ => None,
            };
            reason.map_or_else(|| anyhow!(error.to_string()), |reason| anyhow!(reason).context(error.to_string()))
        });
        let file = parsed.with_context(|| name.clone()).map_err(Failure::usage)?;
        let mut store = self.data.open()?;
        let ours = &store.config().identity;
        let public_key = self.previous_key.as_ref().unwrap_or(&ours.public_key);
        for (what, same) in [
            ("network", file.identity.network == ours.network),
            ("key group", file.identity.key_group == ours.key_group),
            ("public key", file.identity.public_key == *public_key),
        ] {
            if !same {
                return Err(Failure::usage(anyhow!("{name}: the file is of another {what}")));
            }
        }
        let merged = store.merge(&file).map_err(|error| match error {
            NotMerged::Store(error) => error.into(),
            error => Failure::refused(anyhow::Error::from(error).context(name)),
        })?;
        print(&format!("{} of {} tasks added, floor at epoch {}\n", merged.added, file.tasks.len(), merged.floor))?;
        Ok(Exit::Success)
    }
}
