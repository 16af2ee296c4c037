//! How the program ends: an exit code for each kind of error. The codes are those of `quorate`.

use std::process::ExitCode;

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for was done.
    Success,
    /// The chain's state, the signer or another process does not allow it.
    Refused,
    /// The command line or a file is wrong.
    Usage,
    /// The chain's node or the signer cannot be reached, or a file cannot be read or written.
    Io,
    /// The program itself is at fault.
    Internal,
    /// Ctrl-C was pressed before the command was done.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Refused => 1,
            Exit::Usage => 2,
            Exit::Io => 3,
            Exit::Internal => 4,
            Exit::Interrupted => 130,
        })
    }
}

/// An error, and the exit code with which it ends the program.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: anyhow::Error,
}

impl Failure {
    pub(crate) fn refused(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Refused, error: error.into() }
    }

    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Usage, error: error.into() }
    }

    pub(crate) fn io(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Io, error: error.into() }
    }

    pub(crate) fn internal(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Internal, error: error.into() }
    }

    pub(crate) fn interrupted() -> Self {
        Self { exit: Exit::Interrupted, error: anyhow::anyhow!("interrupted") }
    }
}

/// The result of a command.
pub(crate) type Result<T = Exit> = std::result::Result<T, Failure>;
