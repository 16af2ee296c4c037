//! `quorate-signer status`.

use clap::Args;
use quorate_host::{
    exit::{Exit, Failure, Result},
    runtime::ProgramRuntime,
    unix_seconds,
};
use quorate_signer_client::{SignerClient, SignerError, protocol::StatusAnswer};
use tokio::runtime::Builder;

use super::{DataArguments, SocketArguments, print};
use crate::{
    signer,
    store::{Store, StoreError},
};

/// Print the state of a signer as JSON
///
/// A signer that runs is asked over its socket. Else the record is read, unless --running is given.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    data: DataArguments,

    #[command(flatten)]
    socket: SocketArguments,

    /// Ask the signer that runs, and do not touch the record. The exit code is 1 if it signs no task now, and 3 if none runs: for
    /// probes
    #[arg(long)]
    running: bool,
}

impl Arguments {
    pub(crate) fn run(self) -> Result {
        if self.running {
            let status = self.ask()?;
            show(&status)?;
            return Ok(if status.obstacle().is_some() { Exit::Negative } else { Exit::Success });
        }
        let status = match Store::open_to_read(&self.data.data) {
            Ok(mut store) => {
                let summary = store.summary_as_left().map_err(signer::told);
                signer::status(&store.config().clone(), summary, unix_seconds())
            }
            Err(StoreError::InUse(_)) => self.ask()?,
            Err(error) => return Err(error.into()),
        };
        let broken = status.storage_error.is_some();
        show(&status)?;
        Ok(if broken { Exit::Io } else { Exit::Success })
    }

    fn ask(&self) -> Result<StatusAnswer> {
        let client = SignerClient::new(self.socket.path(&self.data.data));
        let runtime = ProgramRuntime::new(&mut Builder::new_current_thread()).map_err(Failure::internal)?;
        runtime.block_on(client.status()).map_err(|error| match error {
            SignerError::Refused(_) => Failure::refused(error),
            _ => Failure::io(error),
        })
    }
}

fn show(status: &StatusAnswer) -> Result<()> {
    let text = serde_json::to_string_pretty(status).map_err(Failure::internal)?;
    print(&format!("{text}\n"))
}
