//! How a program ends: an exit code for each kind of error, the same in all programs.

use std::{
    error::Error,
    fmt,
    io::{self, Write as _},
    process::ExitCode,
};

use crate::plain;

/// The exit codes. If several apply, a program ends with the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// What was asked for was done, and every claim is valid.
    Success,
    /// The answer is no: a claim is invalid, a misdeed is proven, blocks must be verified; or the state of a record, a ceremony or a
    /// chain does not allow what was asked for.
    Negative,
    /// The command line or an input is wrong.
    Usage,
    /// Reading or writing failed, or a peer cannot be reached. A standard output that is closed (`>&-`) is not a failure: Rust's runtime opens
    /// `/dev/null` in its place before the program starts, and the program cannot tell that from a caller who opened `/dev/null` for
    /// reading and writing, as Python's `subprocess.DEVNULL` does.
    Io,
    /// The program itself, or the machine, is at fault.
    Internal,
    /// Ctrl-C was pressed before the command was done.
    Interrupted,
}

impl Exit {
    /// The number that the shell sees.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Negative => 1,
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

/// The result of a command.
pub type Result<T = Exit> = std::result::Result<T, Failure>;

impl Failure {
    /// Things are not so that it can be done.
    pub fn refused(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Negative, error: error.into() }
    }

    /// An error in the command line or in an input.
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

    /// Ctrl-C was pressed.
    #[must_use]
    pub fn interrupted() -> Self {
        Self { exit: Exit::Interrupted, error: anyhow::anyhow!("interrupted") }
    }

    /// The same failure, with the action that failed in front of its message.
    #[must_use]
    pub fn context(self, what: impl fmt::Display + Send + Sync + 'static) -> Self {
        Self { error: self.error.context(what), ..self }
    }

    /// Whether the reader of the output left early, as in `quorate … | head`.
    fn is_broken_pipe(&self) -> bool {
        let cause = self.error.root_cause().downcast_ref::<io::Error>();
        cause.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// An error that says with which exit code it ends a program.
pub trait Ends: Error + Send + Sync + 'static {
    /// The code.
    fn exit(&self) -> Exit;
}

impl Ends for io::Error {
    fn exit(&self) -> Exit {
        Exit::Io
    }
}

impl<E: Ends> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { exit: error.exit(), error: error.into() }
    }
}

/// Runs a program, and says on standard error why it failed. Nothing is said after Ctrl-C, or if the reader of the output left early.
pub fn run(program: impl FnOnce() -> Result) -> ExitCode {
    let exit = program().unwrap_or_else(|failure| {
        if failure.exit != Exit::Interrupted && !failure.is_broken_pipe() {
            note(format!("error: {:#}", failure.error));
        }
        failure.exit
    });
    exit.into()
}

/// Prints one line to standard error, through [`plain()`]. If standard error is closed, there is no place for it, and it is dropped.
pub fn note(text: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{}", plain(&text.to_string()));
}
