//! What a program writes about itself, to standard error: one line an event, whatever text from outside is in it.
//!
//! A thread of its own writes the lines, so a log that nobody reads holds up nothing.

mod writer;

use std::io::{self, Write};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::LevelFilter,
    fmt,
    layer::{Layered, SubscriberExt as _},
    registry, reload,
    util::{SubscriberInitExt as _, TryInitError},
};

use crate::plain;

pub use writer::{LogEnd, LogWriter};

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Which events are written: a level, or rules such as `info,quorate_host=debug`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LogLevel(String);

/// Why nothing is logged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The system has no thread for the writer.
    #[error("cannot start the thread that writes the log: {0}")]
    Thread(#[from] io::Error),
    /// Something else in this process logs already.
    #[error("something else logs already: {0}")]
    Taken(#[from] TryInitError),
}

/// A text that is not a level.
#[derive(Debug, Error)]
#[error("found {found:?}, expected error, warn, info, debug, trace, or rules such as info,quorate_host=debug: {why}")]
pub struct NoLogLevel {
    found: String,
    why: String,
}

/// Another reader of all events, such as one that sends traces.
pub type AlsoTo = Box<dyn Layer<Registry> + Send + Sync>;

/// A log that runs.
#[derive(Debug)]
#[must_use = "lines that are in the queue when the program ends are lost without its end"]
pub struct RunningLog {
    /// What takes its lines.
    pub writer: LogWriter,
    /// What it lets through.
    pub level: LevelSwitch,
    /// Waits for its last lines.
    pub end: LogEnd,
}

/// Changes which events a log lets through.
#[derive(Clone)]
pub struct LevelSwitch(reload::Handle<EnvFilter, Layered<Option<AlsoTo>, Registry>>);

impl std::fmt::Debug for LevelSwitch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LevelSwitch").finish_non_exhaustive()
    }
}

impl LevelSwitch {
    /// Lets other events through from now on.
    ///
    /// # Errors
    /// The log has ended.
    pub fn set(&self, level: &LogLevel) -> Result<(), reload::Error> {
        self.0.reload(level.filter())
    }
}

/// Starts to log. The events that `level` lets through go to standard error, and to `also_to`.
///
/// # Errors
/// Something else logs already, or the system has no thread.
pub fn start(format: LogFormat, level: &LogLevel, also_to: Option<AlsoTo>) -> Result<RunningLog, LogError> {
    let (writer, end) = LogWriter::to_stderr(match format {
        LogFormat::Text => dropped_as_text,
        LogFormat::Json => dropped_as_json,
    })?;
    let lines = {
        let writer = writer.clone();
        move || Lines(writer.clone(), format)
    };
    let lines = match format {
        // Without colours, because most logs go to a file or a journal.
        LogFormat::Text => {
            fmt::layer().with_writer(lines).with_ansi(false).with_target(false).log_internal_errors(false).boxed()
        }
        LogFormat::Json => {
            fmt::layer().json().flatten_event(true).with_writer(lines).log_internal_errors(false).boxed()
        }
    };
    let (filter, switch) = reload::Layer::new(level.filter());
    registry().with(also_to).with(filter).with(lines).try_init()?;
    Ok(RunningLog { writer, level: LevelSwitch(switch), end })
}

impl LogLevel {
    fn filter(&self) -> EnvFilter {
        // It was read once already.
        EnvFilter::new(&self.0)
    }
}

impl Default for LogLevel {
    fn default() -> Self {
        Self("info".to_owned())
    }
}

impl TryFrom<String> for LogLevel {
    type Error = NoLogLevel;

    fn try_from(text: String) -> Result<Self, NoLogLevel> {
        let refused = |why| NoLogLevel { found: text.clone(), why };
        EnvFilter::try_new(&text).map_err(|error| refused(error.to_string()))?;
        let parts: Vec<_> = text.split(',').filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            return Err(refused("it is empty".to_owned()));
        }
        let unknown = parts.into_iter().find(|part| logs_nothing(part));
        if let Some(part) = unknown {
            return Err(refused(format!("{part:?} is not a level")));
        }
        Ok(Self(text))
    }
}

impl std::str::FromStr for LogLevel {
    type Err = NoLogLevel;

    fn from_str(text: &str) -> Result<Self, NoLogLevel> {
        text.to_owned().try_into()
    }
}

impl From<LogLevel> for String {
    fn from(level: LogLevel) -> Self {
        level.0
    }
}

impl std::fmt::Display for LogLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a rule is a word that names neither a level nor one of our crates. The filter takes any other word as the name of what is
/// logged, and would log nothing else. In what is logged, a crate's name has no dash.
fn logs_nothing(rule: &str) -> bool {
    let names_a_crate = rule.starts_with("quorate") && !rule.contains('-');
    !rule.contains(['=', '[']) && !names_a_crate && rule.parse::<LevelFilter>().is_err()
}

/// A writer that gets a line at a time, and escapes what a reader would not see in it.
struct Lines<W>(W, LogFormat);

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let line = match self.1 {
            LogFormat::Text => plain(line),
            LogFormat::Json => plain::in_json(line),
        };
        // In one piece, so that no other line comes between.
        self.0.write_all(format!("{line}\n").as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The line that says how many were dropped, for people.
fn dropped_as_text(dropped: u64) -> String {
    format!("WARN {dropped} lines of this log were dropped, because nobody read them or they could not be written\n")
}

/// The same line as a JSON object.
fn dropped_as_json(dropped: u64) -> String {
    let message = "lines of this log were dropped, because nobody read them or they could not be written";
    format!("{{\"level\":\"WARN\",\"message\":\"{message}\",\"dropped\":{dropped}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(line: &str, format: LogFormat) -> String {
        let mut bytes = Vec::new();
        Lines(&mut bytes, format).write_all(line.as_bytes()).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_stays_one_line_and_moves_nothing() {
        let mischief = "the chain's node: \u{1b}[2J\nINFO all is well \u{202e}dab\n";
        let expected = "the chain's node: \\u{1b}[2J\\u{a}INFO all is well \\u{202e}dab\n";
        assert_eq!(written(mischief, LogFormat::Text), expected);
        let line = written("{\"message\":\"größer \u{202e} \u{e0041}\"}\n", LogFormat::Json);
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["message"], "größer \u{202e} \u{e0041}", "it is the same to whoever reads it");
        assert_eq!(plain(line.trim_end()), line.trim_end());
    }

    #[test]
    fn what_was_dropped_is_one_line_in_both_forms() {
        let (text, json) = (dropped_as_text(7), dropped_as_json(7));
        assert!(text.contains("7 lines") && text.ends_with('\n') && text.lines().count() == 1);
        let object: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((object["dropped"].as_u64(), json.lines().count()), (Some(7), 1));
    }

    #[test]
    fn levels_are_checked_before_anything_starts() {
        for good in ["info", "error", "info,quorate_node=debug", "off"] {
            assert_eq!(good.parse::<LogLevel>().unwrap().to_string(), good);
        }
        let error = "loud=very=much".parse::<LogLevel>().unwrap_err().to_string();
        assert!(error.starts_with("found \"loud=very=much\", expected error, warn, info"), "{error}");
    }

    /// The filter takes such a word as the name of what is logged. A program said nothing more, not even its errors.
    #[test]
    fn a_word_that_is_no_level_is_refused() {
        for good in ["WARN", "2", "quorate_node", "warn,quorate_node", "h2=info", "info,[span]=trace", "warn,"] {
            assert_eq!(good.parse::<LogLevel>().unwrap().to_string(), good);
        }
        for (wrong, part) in [
            ("warning", "warning"),
            ("loud", "loud"),
            ("infos", "infos"),
            (" info", " info"),
            ("verbose,quorate_node=debug", "verbose"),
            ("info,loud", "loud"),
            ("quorate-node", "quorate-node"),
        ] {
            let error = wrong.parse::<LogLevel>().unwrap_err().to_string();
            assert!(error.ends_with(&format!(": {part:?} is not a level")), "{error}");
        }
        for empty in ["", ","] {
            let error = empty.parse::<LogLevel>().unwrap_err().to_string();
            assert!(error.ends_with("it is empty"), "{error}");
        }
    }
}
