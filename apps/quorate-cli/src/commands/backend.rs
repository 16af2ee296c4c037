//! `--backend` of the commands that work on many points.

use clap::Args;
use quorate::Backend;

use super::value::{Value, named, parsed, variable};

/// Who does the arithmetic.
#[derive(Clone, Copy, Debug, Args)]
pub struct BackendArgument {
    /// Backend that does the arithmetic: auto, ifma, fma-avx512, fma-avx2, fma-neon, fma (the fastest of these three) or portable; asking
    /// for one that this machine lacks is an error
    #[arg(long, value_name = "NAME", env = variable("QUORATE_BACKEND"), default_value = "auto")]
    #[arg(value_parser = value(), hide_possible_values = true)]
    pub backend: Backend,
}

fn value() -> Value<Backend> {
    let names = || named(["auto", "fma"].into_iter().chain(Backend::available().iter().map(|backend| backend.name())));
    Value::new(parsed).with_names(names)
}
