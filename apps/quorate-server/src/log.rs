//! What the server writes about itself, to standard error.

use std::sync::OnceLock;

use quorate_host::log::{LogEnd, LogWriter, dropped_as_json, dropped_as_text};
use tracing_subscriber::{EnvFilter, Layer, fmt, layer::SubscriberExt as _, registry, util::SubscriberInitExt as _};

use crate::config::{Log, LogFormat};

/// Ends what logging needs until the server ends.
#[derive(Debug, Default)]
pub struct Logging {
    #[cfg(feature = "otlp")]
    provider: Option<opentelemetry_sdk::trace::SdkTracerProvider>,
    /// Waits for the last lines.
    _end: Option<LogEnd>,
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
pub(crate) fn dropped() -> u64 {
    WRITER.get().map_or(0, LogWriter::dropped)
}

/// The writer, once the server logs.
static WRITER: OnceLock<LogWriter> = OnceLock::new();

/// Starts to log.
///
/// # Errors
/// Something else logs already, or the exporter of traces cannot be made.
pub fn start(log: &Log) -> anyhow::Result<Logging> {
    let filter = EnvFilter::try_new(&log.level)?;
    let told = match log.format {
        LogFormat::Text => dropped_as_text,
        LogFormat::Json => dropped_as_json,
    };
    let (writer, end) = LogWriter::to_stderr(told)?;
    let writer = WRITER.get_or_init(|| writer).clone();
    let sink = move || writer.clone();
    let lines = match log.format {
        // Without colours, because most logs go to a file or a journal.
        LogFormat::Text => {
            fmt::layer().with_writer(sink).with_ansi(false).with_target(false).log_internal_errors(false).boxed()
        }
        LogFormat::Json => fmt::layer().json().flatten_event(true).with_writer(sink).log_internal_errors(false).boxed(),
    };
    let registry = registry().with(filter).with(lines);
    #[cfg(feature = "otlp")]
    if !log.otlp.is_empty() {
        use opentelemetry::trace::TracerProvider as _;
        use opentelemetry_otlp::{SpanExporter, WithExportConfig as _};

        let exporter = SpanExporter::builder().with_tonic().with_endpoint(&log.otlp).build()?;
        let provider = opentelemetry_sdk::trace::SdkTracerProvider::builder().with_batch_exporter(exporter).build();
        let traces = tracing_opentelemetry::layer().with_tracer(provider.tracer("quorate-server"));
        registry.with(traces).try_init()?;
        return Ok(Logging { provider: Some(provider), _end: Some(end) });
    }
    registry.try_init()?;
    Ok(Logging {
        _end: Some(end),
        #[cfg(feature = "otlp")]
        provider: None,
    })
}
