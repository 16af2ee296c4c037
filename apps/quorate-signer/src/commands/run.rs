//! `quorate-signer run`.

use std::sync::Arc;

use anyhow::anyhow;
use clap::Args;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use tokio::{
    runtime,
    signal::unix::{SignalKind, signal},
};

use super::{DataArguments, SocketArguments, print};
use crate::{
    exit::{Exit, Failure, Result},
    key::KeyArguments,
    log::{self, LogFormat},
    server,
    signer::Signer,
    socket::{Socket, SocketError},
};

/// Serve signatures on a Unix socket
///
/// Prints where it listens. Ctrl-C or SIGTERM ends it, after requests in progress. The node that asks must run as the same
/// user.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    data: DataArguments,

    #[command(flatten)]
    socket: SocketArguments,

    #[command(flatten)]
    key: KeyArguments,

    /// How log lines look, on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text", env = "QUORATE_SIGNER_LOG")]
    log: LogFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result {
        log::start(self.log).map_err(Failure::internal)?;
        let mut store = self.data.open()?;
        let config = store.config().clone();
        if store.summary()?.retired {
            return Err(Failure::refused(anyhow!(
                "{}: the record was moved to another machine by `export --retire`; use the signer there",
                self.data.data.display()
            )));
        }
        let unlocked = self.key.unlock(config.identity.key_group)?;
        unlocked.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        let signer = Arc::new(Signer::new(unlocked.key, store).map_err(Failure::usage)?);
        let path = self.socket.path(&self.data.data);
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::internal)?;
        let answered = runtime.block_on(async {
            let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
            let (mut interrupt, mut terminate) =
                (interrupt.map_err(Failure::internal)?, terminate.map_err(Failure::internal)?);
            let socket = Socket::bind(&path).map_err(|error| match error {
                SocketError::InUse(_) => Failure::refused(error),
                SocketError::System { .. } => Failure::io(error),
                _ => Failure::usage(error),
            })?;
            print(&format!("listening on {}\n", path.display()))?;
            tracing::info!(public_key = %config.identity.public_key, "listening on {}", path.display());
            let stop = async {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                tracing::info!("stopping");
            };
            Ok::<_, Failure>(server::serve(&socket.listener, signer, stop).await)
        })?;
        if !answered {
            return Err(Failure::io(anyhow!("stopped before every request in progress was answered")));
        }
        tracing::info!("stopped");
        Ok(Exit::Success)
    }
}

/// Keeps the key out of core dumps, and from other processes of the same user, which could otherwise read this one's memory.
pub(crate) fn guard_memory() -> Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(Failure::internal)
}
