//! How the program ends: one code a kind of trouble, and a hint with each error.

use std::{fmt, io, process::ExitCode};

/// The exit codes, everywhere in the command line. Where several apply, the greatest is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything asked for was done, and every claim is valid.
    Success,
    /// At least one claim is invalid.
    Invalid,
    /// The command line or the input cannot be understood.
    Usage,
    /// Reading or writing failed.
    Io,
    /// A fault of the program itself.
    Internal,
    /// Ctrl-C.
    Interrupted,
}

impl Exit {
    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Invalid => 1,
            Self::Usage => 2,
            Self::Io => 3,
            Self::Internal => 4,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// An error with the code it ends the program with.
#[derive(Debug)]
pub struct Failure {
    /// How the program ends.
    pub exit: Exit,
    /// What is said on standard error.
    pub error: anyhow::Error,
}

impl Failure {
    /// The command line or the input cannot be understood.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Usage, error: error.into() }
    }

    /// Reading or writing failed.
    pub fn io(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Io, error: error.into() }
    }

    /// A fault of the program itself, or of the machine under it.
    pub fn internal(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Internal, error: error.into() }
    }

    /// The same failure, behind what was being done.
    #[must_use]
    pub fn context(self, what: impl fmt::Display + Send + Sync + 'static) -> Self {
        Self { error: self.error.context(what), ..self }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::io(error)
    }
}

/// What a command comes to.
pub type Result = std::result::Result<Exit, Failure>;
