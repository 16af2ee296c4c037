//! What the server writes about itself, to standard error.

use std::{
    io::{self, Write},
    sync::atomic::{AtomicU64, Ordering},
};

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

/// How many lines could not be written.
pub(crate) fn unwritten() -> u64 {
    UNWRITTEN.load(Ordering::Relaxed)
}

static UNWRITTEN: AtomicU64 = AtomicU64::new(0);
/// How many of them are not told yet.
static UNTOLD: AtomicU64 = AtomicU64::new(0);

/// Standard error, or what stands for it in a test. A line that cannot be written is counted, and the next one that can be says how many
/// were lost.
struct Lines<W>(W);

impl Lines<io::Stderr> {
    fn new() -> Self {
        Self(io::stderr())
    }
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.write_all(line).map(|()| line.len())
    }

    fn write_all(&mut self, line: &[u8]) -> io::Result<()> {
        let untold = UNTOLD.swap(0, Ordering::Relaxed);
        let told = if untold > 0 { writeln!(self.0, "{untold} log lines could not be written") } else { Ok(()) };
        let written = told.and_then(|()| self.0.write_all(line));
        if written.is_err() {
            UNTOLD.fetch_add(untold + 1, Ordering::Relaxed);
            UNWRITTEN.fetch_add(1, Ordering::Relaxed);
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
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
            fmt::layer().with_writer(Lines::new).with_ansi(false).with_target(false).log_internal_errors(false).boxed()
        }
        LogFormat::Json => {
            fmt::layer().json().flatten_event(true).with_writer(Lines::new).log_internal_errors(false).boxed()
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Disk {
        full: bool,
        written: Vec<u8>,
    }

    impl Write for &mut Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.full {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.written.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_were_lost_are_counted_and_told() {
        let mut disk = Disk { full: true, written: Vec::new() };
        for line in [&b"a\n"[..], b"b\n"] {
            assert!(Lines(&mut disk).write(line).is_err());
        }
        assert!(unwritten() >= 2);
        disk.full = false;
        for line in [&b"c\n"[..], b"d\n"] {
            Lines(&mut disk).write_all(line).unwrap();
        }
        assert_eq!(String::from_utf8(disk.written).unwrap(), "2 log lines could not be written\nc\nd\n");
    }
}
