//! What the signer writes about itself, to standard error. No line has a secret, or text that a client sent.

use clap::ValueEnum;
use quorate_host::log::{LogEnd, LogWriter, dropped_as_json, dropped_as_text};
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

/// Starts to log. Lines are written by a thread of their own, so that a log that nobody reads stops no signature.
///
/// # Errors
/// Something else logs already, or the system has no thread.
pub(crate) fn start(format: LogFormat) -> anyhow::Result<(LogWriter, LogEnd)> {
    let told = match format {
        LogFormat::Text => dropped_as_text,
        LogFormat::Json => dropped_as_json,
    };
    let (writer, end) = LogWriter::to_stderr(told)?;
    let sink = writer.clone();
    let sink = move || sink.clone();
    let lines = match format {
        // Without colours, because most logs go to a file or a journal.
        LogFormat::Text => {
            fmt::layer().with_writer(sink).with_ansi(false).with_target(false).log_internal_errors(false).boxed()
        }
        LogFormat::Json => fmt::layer().json().flatten_event(true).with_writer(sink).log_internal_errors(false).boxed(),
    };
    registry().with(LevelFilter::INFO).with(lines).try_init()?;
    Ok((writer, end))
}
