//! What the node writes about itself, to standard error. Text from outside is escaped by whoever logs it.

use std::io;

use quorate_node::options::LogFormat;
use tracing_subscriber::{
    Layer as _, filter::LevelFilter, fmt, layer::SubscriberExt as _, registry, util::SubscriberInitExt as _,
};

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
