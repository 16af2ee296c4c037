//! What several command lines read as the value of a flag.

use std::{env, ffi::OsString, num::NonZeroU64};

use clap::builder::TypedValueParser;

/// Reads a whole number from 1 on. clap's message about a zero does not say what it expects, where the type alone forbids it.
pub fn from_one() -> impl TypedValueParser<Value = NonZeroU64> {
    clap::value_parser!(u64).range(1..).try_map(NonZeroU64::try_from)
}

/// The variable of the environment that stands for a flag; none if it is set to nothing, which is how files of services and of
/// containers unset one.
pub fn variable(name: &'static str) -> Option<&'static str> {
    env::var_os(name).is_none_or(|value| !value.is_empty()).then_some(name)
}

/// The value of a variable of the environment, if it is set to something.
pub fn exported(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
