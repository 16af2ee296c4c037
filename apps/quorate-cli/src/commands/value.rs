//! Reads the values of flags. A message names the flag or the environment variable that the value came from, and says what is
//! allowed; completions know the names that a value can have.

use std::{ffi::OsStr, fmt::Display};

use clap::{
    Arg, Command,
    builder::{PossibleValue, TypedValueParser},
    error::ErrorKind,
    parser::ValueSource,
};
use quorate_formats::array_from_hex;

pub(super) use quorate_host::{
    dash::{path_to_read, path_to_write},
    flag::{exported, from_one, variable},
};

/// Reads a value from text.
#[derive(Clone)]
pub(super) struct Value<T> {
    read: fn(&str) -> Result<T, String>,
    /// The names for completions. Other values may be right too, such as a chain hash.
    names: fn() -> Vec<PossibleValue>,
}

impl<T> Value<T> {
    /// Values that `read` reads.
    pub(super) fn new(read: fn(&str) -> Result<T, String>) -> Self {
        Self { read, names: Vec::new }
    }

    /// The same values, of which completions know these.
    pub(super) fn with_names(self, names: fn() -> Vec<PossibleValue>) -> Self {
        Self { names, ..self }
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Value<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        self.parse_ref_(command, arg, value, ValueSource::CommandLine)
    }

    fn parse_ref_(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
        source: ValueSource,
    ) -> Result<T, clap::Error> {
        let text = value.to_string_lossy();
        (self.read)(&text).map_err(|reason| {
            let flag = arg.map(ToString::to_string).unwrap_or_default();
            let variable = arg.and_then(Arg::get_env).filter(|_| source == ValueSource::EnvVariable);
            let place = match variable {
                Some(variable) => format!("the environment variable {} ({flag})", variable.display()),
                None => flag,
            };
            let message =
                format!("invalid value {text:?} for {place}: {reason}\n\nFor more information, try '--help'.\n");
            clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = (self.names)();
        (!names.is_empty()).then(|| Box::new(names.into_iter()) as Box<dyn Iterator<Item = PossibleValue>>)
    }
}

/// Reads a type by its `FromStr`.
pub(super) fn parsed<T: std::str::FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// 32 bytes in hexadecimal digits, as the value of a flag.
pub(super) fn bytes_32() -> Value<[u8; 32]> {
    Value::new(|text| array_from_hex(text).map_err(|error| error.to_string()))
}

/// Names for completions.
pub(super) fn named(names: impl IntoIterator<Item = &'static str>) -> Vec<PossibleValue> {
    names.into_iter().map(PossibleValue::new).collect()
}
