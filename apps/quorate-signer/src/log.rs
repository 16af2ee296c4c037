//! What the signer writes about itself, to standard error. No line has a secret, or text that a client sent.

use std::io;

use clap::ValueEnum;
use tracing_subscriber::{
    Layer as _, filter::LevelFilter, fmt, layer::SubscriberExt as _, registry, util::SubscriberInitExt as _,
};

/// How a log line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts to log.
///
/// # Errors
/// Something else logs already.
pub(crate) fn start(format: LogFormat) -> anyhow::Result<()> {
    // A line that cannot be written is lost. To complain about it on the same full disk would end the thread.
    let lines = match format {
        // Without colours, because most logs go to a file or a journal.
        LogFormat::Text => {
            fmt::layer().with_writer(io::stderr).with_ansi(false).with_target(false).log_internal_errors(false).boxed()
        }
        LogFormat::Json => {
            fmt::layer().json().flatten_event(true).with_writer(io::stderr).log_internal_errors(false).boxed()
        }
    };
    Ok(registry().with(LevelFilter::INFO).with(lines).try_init()?)
}
