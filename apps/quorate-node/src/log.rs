//! What the node writes about itself, to standard error. Text from outside is escaped by whoever logs it.

use quorate_host::log::{LogEnd, LogWriter, dropped_as_json, dropped_as_text};
use quorate_node::options::LogFormat;
use tracing_subscriber::{
    Layer as _, filter::LevelFilter, fmt, layer::SubscriberExt as _, registry, util::SubscriberInitExt as _,
};

/// Starts to log. Lines are written by a thread of their own, so that a log that nobody reads holds up nothing. The node ends when
/// the lines in the queue are written, or a second later.
///
/// # Errors
/// Something else logs already, or the system has no thread.
pub(crate) fn start(format: LogFormat) -> anyhow::Result<LogEnd> {
    let told = match format {
        LogFormat::Text => dropped_as_text,
        LogFormat::Json => dropped_as_json,
    };
    let (writer, end) = LogWriter::to_stderr(told)?;
    let sink = move || writer.clone();
    let lines = match format {
        // Without colours, because most logs go to a file or a journal.
        LogFormat::Text => {
            fmt::layer().with_writer(sink).with_ansi(false).with_target(false).log_internal_errors(false).boxed()
        }
        LogFormat::Json => fmt::layer().json().flatten_event(true).with_writer(sink).log_internal_errors(false).boxed(),
    };
    registry().with(LevelFilter::INFO).with(lines).try_init()?;
    Ok(end)
}
