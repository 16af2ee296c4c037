//! What several command lines read as the value of a flag.

use std::num::NonZeroU64;

use clap::builder::TypedValueParser;

/// Reads a whole number from 1 on. clap's message about a zero does not say what it expects, where the type alone forbids it.
pub fn from_one() -> impl TypedValueParser<Value = NonZeroU64> {
    clap::value_parser!(u64).range(1..).try_map(NonZeroU64::try_from)
}
