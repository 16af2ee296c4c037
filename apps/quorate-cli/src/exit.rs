//! How the program ends: an exit code for each kind of error.

use std::{fmt, io, process::ExitCode};

/// The exit codes of all commands. If several apply, the program ends with the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything asked for was done, and every claim is valid.
    Success,
    /// At least one claim is invalid. In ceremonies: not done yet, because others have not spoken; or a misdeed is proven.
    Invalid,
    /// The command line or the input is wrong.
    Usage,
    /// Reading or writing failed. A standard output that is closed (`>&-`) is no failure: Rust's runtime opens `/dev/null`
    /// in its place before the program starts, and the program cannot tell that from a caller who opened `/dev/null` for
    /// reading and writing, as Python's `subprocess.DEVNULL` does.
    Io,
    /// The program itself, or the machine, is at fault.
    Internal,
    /// Ctrl-C was pressed.
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

/// An error, and the exit code with which it ends the program.
#[derive(Debug)]
pub struct Failure {
    /// How the program ends.
    pub exit: Exit,
    /// What is printed on standard error.
    pub error: anyhow::Error,
}

impl Failure {
    /// An error in the command line or in the input.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Usage, error: error.into() }
    }

    /// An error while reading or writing.
    pub fn io(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Io, error: error.into() }
    }

    /// An error in the program itself, or in the machine.
    pub fn internal(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Internal, error: error.into() }
    }

    /// The same failure, with the action that failed in front of its message.
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

/// The result of a command.
pub type Result = std::result::Result<Exit, Failure>;
