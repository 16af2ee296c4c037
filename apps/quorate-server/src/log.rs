//! What the server writes about itself, to standard error.

use std::io;

use tracing_subscriber::{EnvFilter, Layer, fmt, layer::SubscriberExt as _, registry, util::SubscriberInitExt as _};

use crate::config::{Log, LogFormat};

/// Ends what logging needs until the server ends.
#[derive(Debug, Default)]
pub struct Logging {
    #[cfg(feature = "otlp")]
    provider: Option<opentelemetry_sdk::trace::SdkTracerProvider>,
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

/// Starts to log.
///
/// # Errors
/// Something else logs already, or the exporter of traces cannot be made.
pub fn start(log: &Log) -> anyhow::Result<Logging> {
    let filter = EnvFilter::try_new(&log.level)?;
    // A line that cannot be written is lost. To complain about it on the same full disk would end the thread.
    let lines = match log.format {
        // Without colours, because most logs go to a file or a journal.
        LogFormat::Text => {
            fmt::layer().with_writer(io::stderr).with_ansi(false).with_target(false).log_internal_errors(false).boxed()
        }
        LogFormat::Json => {
            fmt::layer().json().flatten_event(true).with_writer(io::stderr).log_internal_errors(false).boxed()
        }
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
        return Ok(Logging { provider: Some(provider) });
    }
    registry.try_init()?;
    Ok(Logging::default())
}
