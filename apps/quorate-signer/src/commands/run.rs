//! `quorate-signer run`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::anyhow;
use clap::Args;
use quorate_host::{
    exit::{Exit, Failure, Result},
    flag::variable,
    listen::{Connections, Routers},
    log::{self, LogFormat, LogLevel},
    metrics, plain,
    runtime::ProgramRuntime,
    service,
    socket::{self, SocketFile},
    unix_seconds,
};
use tokio::{
    net::UnixListener,
    runtime::Builder,
    signal::unix::{Signal, SignalKind, signal},
    task::spawn_blocking,
    time::sleep,
};

use super::{DataArguments, SocketArguments, print};
use crate::{
    clock::ClockWatch,
    key::KeyArguments,
    server::{self, LAST_REQUESTS},
    signer::Signer,
};

/// Serve signatures on a Unix socket
///
/// Prints where it listens. Ctrl-C or SIGTERM ends it, after requests in progress; if they take longer than ten seconds, or at a
/// second signal, with 130.
/// The node that asks must run as the same user.
#[derive(Debug, Args)]
#[command(override_usage = USAGE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    data: DataArguments,

    #[command(flatten)]
    socket: SocketArguments,

    #[command(flatten)]
    key: KeyArguments,

    /// Unix socket for whoever watches the signer: HTTP with /livez, /readyz and /metrics, and nothing that signs. Its folder must
    /// have mode 0700, and should be another one than that of the socket for signatures
    #[arg(long, value_name = "PATH", env = variable("QUORATE_SIGNER_METRICS_SOCKET"))]
    metrics_socket: Option<PathBuf>,

    /// The network is in this epoch now, by a clock that you have compared. Needed where the signer did not run for more than two
    /// epochs, or ten minutes if they are longer: it does not believe a clock that has jumped so far, because it would sign nothing for
    /// as long afterwards. An epoch that has not begun by the signer's clock is refused
    #[arg(long, value_name = "EPOCH", env = variable("QUORATE_SIGNER_ACCEPT_EPOCH"))]
    accept_epoch: Option<u64>,

    /// How log lines look, on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text", env = variable("QUORATE_SIGNER_LOG"))]
    log: LogFormat,

    /// Which events are logged: error, warn, info, debug, trace, or rules such as info,quorate_signer=debug
    #[arg(long, value_name = "LEVEL", default_value_t, env = variable("QUORATE_SIGNER_LOG_LEVEL"))]
    log_level: LogLevel,
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate-signer run [OPTIONS] --data <FOLDER> --keystore <FILE>
           --passphrase-file <FILE>";

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let log = log::start(self.log, &self.log_level, None).map_err(Failure::internal)?;
        let mut store = self.data.open_to_run()?;
        let config = store.config().clone();
        if store.summary()?.retired {
            return Err(Failure::refused(anyhow!(
                "{}: the record was moved to another machine by `export --retire`; use the signer there",
                self.data.data.display()
            )));
        }
        let watch = ClockWatch::accepting(&config.identity.network, self.accept_epoch, unix_seconds());
        store.watch(watch.map_err(Failure::usage)?);
        let unlocked = self.key.unlock(config.identity.key_group)?;
        unlocked.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        let signer = Arc::new(Signer::new(unlocked.key, store, Some(log.writer.clone())).map_err(Failure::usage)?);
        signer.look_at_clock(unix_seconds());
        let path = self.socket.path(&self.data.data);
        to_end(async {
            let mut signals = Signals::listen()?;
            let (listener, _file) = listen(&path)?;
            let watchers = Connections::new(metrics::BOUNDS, None);
            let _end = watchers.abort_on_drop();
            if let Some(path) = &self.metrics_socket {
                let routers = Routers { running: metrics::routes(&signer), draining: None };
                watchers.listen_unix(listen(path)?, routers);
            }
            let name = plain(&path.display().to_string());
            print(&format!("listening on {name}\n"))?;
            tracing::info!(public_key = %config.identity.public_key, "listening on {name}");
            #[allow(clippy::async_yields_async, reason = "`serve` gives requests in progress until then")]
            let stop = async move {
                signals.next().await;
                tracing::info!("stopping; a second signal ends at once");
                service::stopping("answering requests in progress");
                async move {
                    tokio::select! {
                        () = sleep(LAST_REQUESTS) => {}
                        () = signals.next() => {}
                    }
                }
            };
            let pause = Duration::from_secs((config.identity.network.epoch_length.get() / 2).clamp(1, MOST_SECONDS));
            let watch = tokio::spawn(watch_clock(Arc::clone(&signer), pause));
            let proof = Arc::clone(&signer);
            tokio::spawn(service::watch(move || works(Arc::clone(&proof))));
            service::ready(&format!("listening on {name}"));
            let answered = server::serve(&listener, signer, stop).await;
            watch.abort();
            Ok(answered)
        })
    }
}

/// Serves, and says how the program ends. It waits for no disk that hangs: what is not written by then is as after a kill.
pub(crate) fn to_end(serving: impl Future<Output = Result<bool>>) -> Result {
    let runtime = ProgramRuntime::new(&mut Builder::new_current_thread()).map_err(Failure::internal)?;
    if !runtime.block_on(serving)? {
        tracing::warn!("stopped before every request in progress was answered");
        return Ok(Exit::Interrupted);
    }
    tracing::info!("stopped");
    Ok(Exit::Success)
}

/// The two signals that end the signer.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).map_err(Failure::internal);
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Listens on a socket that only its folder's owner reaches.
fn listen(path: &Path) -> Result<(UnixListener, SocketFile)> {
    socket::make_private_folder_of(path)?;
    let (listener, file) = socket::listen(path, 0o600)?;
    Ok((UnixListener::from_std(listener).map_err(Failure::io)?, file))
}

/// Looks at the clock again and again, so that time which passes while nobody asks is not a jump.
async fn watch_clock(signer: Arc<Signer>, pause: Duration) {
    loop {
        sleep(pause).await;
        let signer = Arc::clone(&signer);
        // A panic is in the log already.
        let _ = spawn_blocking(move || signer.look_at_clock(unix_seconds())).await;
    }
}

/// Whether the record answers: a look at the clock waits for it, as each signature does.
async fn works(signer: Arc<Signer>) -> bool {
    spawn_blocking(move || signer.look_at_clock(unix_seconds())).await.is_ok()
}

/// The longest time between two looks at the clock.
const MOST_SECONDS: u64 = 60;

/// Keeps the key out of core dumps, and from other processes of the same user, which could otherwise read this one's memory. Only Linux
/// has this, so elsewhere it does nothing.
pub(crate) fn guard_memory() -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(Failure::internal)?;
    }
    Ok(())
}
