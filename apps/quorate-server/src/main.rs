//! The program `quorate-server`.

#![forbid(unsafe_code)]

use std::{error::Error, io, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::{Context as _, anyhow};
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use quorate_batcher::{Batcher, StartError, StoreError};
use quorate_checkpoint::KeptBoardError;
use quorate_formats::key_sets::KeySetsError;
use quorate_host::{
    command_line,
    exit::{self, Ends as _, Exit, Failure, Result, in_full},
    file::FileError,
    flag::variable,
    manual::{Completions, ManPages},
    options::{self, Printed, Source},
    runtime::ProgramRuntime,
    service,
    socket::SocketError,
    unix_seconds,
};
use quorate_server::{
    Reloaded, Server,
    config::{Config, PREFIX},
    demo, fetch,
    log::{self, Logging},
};
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
    time::sleep,
};

/// Verifies BLS signatures for a node: claims over HTTP, gRPC and Unix sockets,
/// verdicts back.
///
/// It listens on http://127.0.0.1:9596 unless it is told otherwise. The dashboard
/// is at that address.
///
/// Examples:
///   quorate-server                                with the defaults
///   quorate-server demo                           traffic to look at
///   quorate-server --config server.toml --set limits.claims=500
///   quorate-server --print-config > server.toml   all that can be configured
#[derive(Debug, Parser)]
#[command(version, verbatim_doc_comment, max_term_width = 80)]
struct CommandLine {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a server and make traffic, to see batches, a liar and its ban.
    ///
    /// Twelve peers send claims at a changing rate, some of them twice, and a block follows each second. One more peer, mallory,
    /// sends false claims until it is banned. Watch it here, or on the dashboard.
    Demo {
        /// End after so many seconds; without it, Ctrl-C ends it.
        #[arg(long, value_name = "N")]
        seconds: Option<u64>,
    },
    /// Ask servers for assumed-valid checkpoints, and see what is held of them. It starts no server.
    #[command(subcommand)]
    Checkpoint(fetch::Command),
    Completions(Completions),
    Man(ManPages),
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Configuration of the server")]
struct Settings {
    /// A configuration file in TOML.
    #[arg(long, value_name = "FILE", env = variable("QUORATE_SERVER_CONFIG"), global = true)]
    config: Option<PathBuf>,
    /// The address for TCP; `--listen ''` for none [listen.address].
    #[arg(long, value_name = "IP:PORT", global = true)]
    listen: Option<String>,
    /// The Unix socket for claims [listen.socket].
    #[arg(long, value_name = "PATH", global = true)]
    socket: Option<String>,
    /// The Unix socket for bans and pardons [listen.admin_socket].
    #[arg(long, value_name = "PATH", global = true)]
    admin_socket: Option<String>,
    /// The suite of claims that name none [verify.suite].
    #[arg(long, value_name = "NAME", global = true)]
    suite: Option<String>,
    /// Threads that verify; 0 means one for each core [verify.threads].
    #[arg(long, value_name = "N", global = true)]
    threads: Option<String>,
    /// The folder of the store of known statements [known.folder].
    #[arg(long, value_name = "FOLDER", global = true)]
    known: Option<String>,
    /// `text` or `json` [log.format].
    #[arg(long, value_name = "FORMAT", global = true)]
    log: Option<String>,
    /// Any other field of the configuration, as often as needed.
    #[arg(long, value_name = "SECTION.FIELD=VALUE", global = true)]
    set: Vec<String>,
    /// Print the configuration and end. `--print-config=environment` prints variables for systemd's EnvironmentFile.
    #[arg(long, value_name = "FORM", num_args = 0..=1, default_missing_value = "toml", require_equals = true, global = true)]
    print_config: Option<Printed>,
}

impl Settings {
    /// Whether a flag is there. The name of the file may come from the environment.
    fn are_given(&self) -> bool {
        let Self { config: _, listen, socket, admin_socket, suite, threads, known, log, set, print_config } = self;
        [listen, socket, admin_socket, suite, threads, known, log].iter().any(|flag| flag.is_some())
            || !set.is_empty()
            || print_config.is_some()
    }

    fn read(&self) -> anyhow::Result<Config> {
        let text = self.config.as_deref().map(options::text_of).transpose()?;
        let name = self.config.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let file = text.as_deref().map(|text| Source { name: &name, text });
        let short = [
            ("listen.address", &self.listen),
            ("listen.socket", &self.socket),
            ("listen.admin_socket", &self.admin_socket),
            ("verify.suite", &self.suite),
            ("verify.threads", &self.threads),
            ("known.folder", &self.known),
            ("log.format", &self.log),
        ];
        let mut flags: Vec<(String, String)> =
            short.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value.clone()?))).collect();
        for set in &self.set {
            let (field, value) = set
                .split_once('=')
                .with_context(|| format!("--set {set}: expected SECTION.FIELD=VALUE, such as limits.claims=500"))?;
            flags.push((field.to_owned(), value.to_owned()));
        }
        Ok(Config::read(file, options::variables(PREFIX)?, &flags)?)
    }
}

fn main() -> ExitCode {
    command_line::run(|CommandLine { settings, command }| match command {
        None => start(&settings, None),
        Some(Command::Demo { seconds }) => start(&settings, Some(seconds)),
        Some(Command::Checkpoint(command)) => checkpoint(&settings, &command),
        Some(Command::Completions(arguments)) => arguments.run(CommandLine::command()),
        Some(Command::Man(arguments)) => arguments.run(CommandLine::command()),
    })
}

/// Starts a server, or the demonstration, which may end after so many seconds.
fn start(settings: &Settings, demo: Option<Option<u64>>) -> Result {
    let config = settings.read().map_err(Failure::usage)?;
    if let Some(printed) = settings.print_config {
        exit::print_all(printed.of(PREFIX, &config).as_bytes())?;
        return Ok(Exit::Success);
    }
    let runtime = ProgramRuntime::new(&mut Builder::new_multi_thread())?;
    // An exporter of traces connects on it.
    let entered = runtime.enter();
    // The demonstration has the terminal for itself.
    let logging = if demo.is_none() { log::start(&config.log).map_err(Failure::io)? } else { Logging::default() };
    drop(entered);
    let exit = match demo {
        None => runtime.block_on(serve(config, settings, &logging)),
        Some(seconds) => runtime.block_on(demo::run(config, seconds, exit::output())).map(|()| Exit::Success),
    };
    // The last traces need the runtime.
    drop(logging);
    exit.map_err(not_started)
}

/// The failure of a server that does not start. If another process holds what is needed, or the operating system refuses, a later
/// start can succeed. Everything else is wrong in the configuration or in a file that it names, and stays so.
fn not_started(error: anyhow::Error) -> Failure {
    let exits: Vec<Exit> = error.chain().filter_map(exit_of).collect();
    if exits.contains(&Exit::Negative) {
        Failure::refused(error)
    } else if exits.contains(&Exit::Io) {
        Failure::io(error)
    } else {
        Failure::usage(error)
    }
}

/// How a program ends for a cause, if the cause says so.
fn exit_of(cause: &(dyn Error + 'static)) -> Option<Exit> {
    let of_store = |error: &StoreError| match error {
        StoreError::InUse(_) => Exit::Negative,
        StoreError::Folder { .. } => Exit::Usage,
        _ => Exit::Io,
    };
    let of_start = |error: &StartError| match error {
        StartError::Settings(_) => Exit::Usage,
        StartError::Store(error) => of_store(error),
        _ => Exit::Io,
    };
    let of_system = cause.downcast_ref::<io::Error>().map(io::Error::exit);
    of_system
        .or_else(|| cause.downcast_ref::<FileError>().map(FileError::exit))
        .or_else(|| cause.downcast_ref::<SocketError>().map(SocketError::exit))
        .or_else(|| cause.downcast_ref::<KeySetsError>().map(KeySetsError::exit))
        .or_else(|| cause.downcast_ref::<KeptBoardError>().map(KeptBoardError::exit))
        .or_else(|| cause.downcast_ref::<StoreError>().map(of_store))
        .or_else(|| cause.downcast_ref::<StartError>().map(of_start))
}

/// A node that syncs asks servers.
fn checkpoint(settings: &Settings, command: &fetch::Command) -> Result {
    if settings.are_given() {
        return Err(Failure::usage(anyhow!(
            "`checkpoint` starts no server, so it takes no flag of the server's configuration; leave it out"
        )));
    }
    let runtime = ProgramRuntime::new(Builder::new_multi_thread().worker_threads(1))?;
    runtime.block_on(fetch::run(command, unix_seconds(), &mut exit::output()))
}

/// Serves until a signal comes, then answers what was asked. A second signal ends at once, and so does one during the start. SIGHUP
/// reads the configuration again.
async fn serve(config: Config, settings: &Settings, logging: &Logging) -> anyhow::Result<Exit> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut hangup = signal(SignalKind::hangup())?;
    let listen = config.listen.clone();
    let stopped = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    let server = tokio::select! {
        started = Server::start(config) => started?,
        () = stopped => {
            tracing::info!("stopped before it served");
            return Ok(Exit::Success);
        }
    };
    if let Some(address) = server.address() {
        tracing::info!("listening on http://{address}");
    }
    if let Some(address) = server.tls_address() {
        tracing::info!("listening on https://{address}");
    }
    if let Some(address) = server.metrics_address() {
        tracing::info!("listening on http://{address} for metrics");
    }
    for (what, path) in [("claims", &listen.socket), ("administration", &listen.admin_socket)] {
        if !path.is_empty() {
            tracing::info!("listening on {path} for {what}");
        }
    }
    let batcher = server.batcher().clone();
    tokio::spawn(service::watch(move || works(batcher.clone())));
    service::ready(SERVING);
    let reloads = async {
        while hangup.recv().await.is_some() {
            service::reloading();
            service::ready(reload(&server, settings, logging).await);
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = reloads => {}
    }
    let notice_ms = server.config().drain.notice_ms;
    tracing::info!(notice_ms, "stopping: answering what was asked; a second signal ends at once");
    service::stopping("answering what was asked");
    let answered = tokio::select! {
        answered = server.stop() => answered,
        _ = terminate.recv() => false,
        _ = interrupt.recv() => false,
    };
    if answered {
        tracing::info!("stopped: everything was answered");
        return Ok(Exit::Success);
    }
    tracing::warn!("stopped before everything was answered");
    Ok(Exit::Interrupted)
}

/// Reads the configuration again: the same file, the same flags, and the environment of the start. Says what the server does then.
async fn reload(server: &Server, settings: &Settings, logging: &Logging) -> &'static str {
    let settings = settings.clone();
    let reloaded = server.reload(move || settings.read()).await;
    let reloaded = reloaded.and_then(|reloaded| {
        logging.set_level(&server.config().log.level)?;
        Ok(reloaded)
    });
    match reloaded {
        Ok(Reloaded { changed, waiting }) => {
            tracing::info!(changed = changed.join(" "), "the configuration was read again, and is in force");
            if !waiting.is_empty() {
                tracing::warn!(
                    fields = waiting.join(" "),
                    "these fields have other values now, and need a restart to be in force"
                );
            }
            SERVING
        }
        Err(error) => {
            let error = in_full(&error);
            tracing::error!(error, "the configuration cannot be read again; everything stays as it was");
            "serving as before: the configuration could not be read again, as the log says"
        }
    }
}

/// What `systemctl status` says while the server serves.
const SERVING: &str = "serving";

/// Whether the server works: the runtime of the network by coming here at all, and the threads that verify by their pulse.
async fn works(batcher: Batcher) -> bool {
    let before = batcher.pulse();
    while !batcher.pulse().has_moved_since(before) {
        sleep(PULSE).await;
    }
    true
}

/// How often the pulse is taken until it has moved.
const PULSE: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn every_requirement_holds_beside_what_conflicts_with_it() {
        quorate_lab::command_line::requirements_hold(&super::CommandLine::command());
    }
}
