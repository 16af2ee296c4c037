//! What the server writes about itself, to standard error.

use std::sync::OnceLock;

use anyhow::Context as _;
use quorate_host::log::{self, LogLevel, LogWriter, RunningLog};

use crate::config::Log;

/// Ends what logging needs until the server ends.
#[derive(Debug, Default)]
pub struct Logging {
    /// Its end waits for the last lines, once the last traces are sent.
    running: Option<RunningLog>,
    #[cfg(feature = "otlp")]
    provider: Option<opentelemetry_sdk::trace::SdkTracerProvider>,
}

impl Logging {
    /// Lets other events through from now on. Without a log there is nothing to do.
    ///
    /// # Errors
    /// The log has ended.
    pub fn set_level(&self, level: &LogLevel) -> anyhow::Result<()> {
        self.running.as_ref().map_or(Ok(()), |log| log.level.set(level)).context("log.level")
    }
}

impl Drop for Logging {
    fn drop(&mut self) {
        #[cfg(feature = "otlp")]
        if let Some(provider) = self.provider.take() {
            // What could not be sent by now is lost; the server ends all the same.
            let _ = provider.shutdown();
        }
    }
}

/// How many lines were dropped, because nobody read them or they could not be written.
pub(crate) fn unwritten() -> u64 {
    WRITER.get().map_or(0, LogWriter::dropped)
}

/// The one log of the process, for its counter.
static WRITER: OnceLock<LogWriter> = OnceLock::new();

/// Starts to log.
///
/// # Errors
/// Something else logs already, the system has no thread, or the exporter of traces cannot be made.
pub fn start(told: &Log) -> anyhow::Result<Logging> {
    #[cfg(feature = "otlp")]
    let (traces, provider) = traces(&told.otlp)?;
    #[cfg(not(feature = "otlp"))]
    let traces = None;
    let running = log::start(told.format, &told.level, traces)?;
    // Whoever logs already has one, and then this is not reached.
    let _ = WRITER.set(running.writer.clone());
    Ok(Logging {
        running: Some(running),
        #[cfg(feature = "otlp")]
        provider,
    })
}

/// What sends traces to a collector, and what flushes them at the end. No address means nowhere.
#[cfg(feature = "otlp")]
fn traces(address: &str) -> anyhow::Result<(Option<log::AlsoTo>, Option<opentelemetry_sdk::trace::SdkTracerProvider>)> {
    use opentelemetry::trace::TracerProvider as _;
    use opentelemetry_otlp::{SpanExporter, WithExportConfig as _};

    if address.is_empty() {
        return Ok((None, None));
    }
    let exporter = SpanExporter::builder().with_tonic().with_endpoint(address).build()?;
    let provider = opentelemetry_sdk::trace::SdkTracerProvider::builder().with_batch_exporter(exporter).build();
    let traces = tracing_opentelemetry::layer().with_tracer(provider.tracer("quorate-server"));
    Ok((Some(Box::new(traces)), Some(provider)))
}
