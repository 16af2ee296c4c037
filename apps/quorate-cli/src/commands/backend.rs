//! `--backend` of the commands that work on many points.

use clap::Args;
use quorate::Backend;

/// Who does the arithmetic.
#[derive(Clone, Copy, Debug, Args)]
pub struct BackendArgument {
    /// Backend that does the arithmetic: auto, portable or ifma; asking for one that this machine lacks is an error
    #[arg(long, value_name = "NAME", env = "QUORATE_BACKEND", default_value = "auto")]
    pub backend: Backend,
}
