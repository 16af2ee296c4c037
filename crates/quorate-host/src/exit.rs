//! How a program ends: an exit code for each kind of error, the same in all programs.

use std::{
    error::Error,
    fmt,
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Context as _;

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

    /// An error while reading or writing. If it comes of something that has its own code, such as a link in the place of a file, it is that.
    pub fn io(error: impl Into<anyhow::Error>) -> Self {
        let error = error.into();
        let own = error.chain().find_map(|cause| cause.downcast_ref().and_then(own_exit));
        Self { exit: own.unwrap_or(Exit::Io), error }
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

    /// The same failure, of which the user is told also if the reader of the [`output`] left early: something was done that is to be known.
    #[must_use]
    pub fn said(self) -> Self {
        Self { error: anyhow::anyhow!(in_full(&self.error)), ..self }
    }

    /// Whether the reader of the output left early, as in `quorate … | head`.
    fn is_broken_pipe(&self) -> bool {
        let is_marked = |error: &io::Error| error.get_ref().is_some_and(|inner| inner.is::<NoReader>());
        self.error.chain().any(|cause| cause.downcast_ref().is_some_and(is_marked))
    }
}

/// Standard output. A program writes to it through this alone, so that [`run`] tells a reader who left early from a peer who did.
#[derive(Debug)]
pub struct Output(io::Stdout);

/// Standard output.
#[must_use]
pub fn output() -> Output {
    Output(io::stdout())
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(output_error)
    }

    // In one piece, as the standard library's own.
    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.0.write_fmt(text).map_err(output_error)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(output_error)
    }
}

/// Prints a result on standard output, as it is.
///
/// # Errors
/// [`Exit::Io`].
pub fn print_all(bytes: &[u8]) -> Result<()> {
    let mut out = output();
    out.write_all(bytes).and_then(|()| out.flush()).context(OUTPUT_FAILED).map_err(Failure::io)
}

/// Which stream is at fault.
pub const OUTPUT_FAILED: &str = "cannot write to standard output";

/// Nobody reads standard output any more.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoReader(io::Error);

/// An error of standard output. A broken pipe is marked.
pub(crate) fn output_error(error: io::Error) -> io::Error {
    match error.kind() {
        kind @ io::ErrorKind::BrokenPipe => io::Error::new(kind, NoReader(error)),
        _ => error,
    }
}

/// An error that says with which exit code it ends a program.
pub trait Ends: Error + Send + Sync + 'static {
    /// The code.
    fn exit(&self) -> Exit;
}

impl Ends for io::Error {
    fn exit(&self) -> Exit {
        own_exit(self).unwrap_or(Exit::Io)
    }
}

/// An error of ours inside one of the system.
#[derive(Debug)]
struct Ours(Box<dyn Ends>);

impl fmt::Display for Ours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for Ours {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// An error of ours as one of the system, for callers that expect those. It keeps its exit code.
pub(crate) fn as_io(error: impl Ends) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, Ours(Box::new(error)))
}

/// The exit code of an error of ours inside one of the system.
fn own_exit(error: &io::Error) -> Option<Exit> {
    Some(error.get_ref()?.downcast_ref::<Ours>()?.0.exit())
}

impl<E: Ends> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { exit: error.exit(), error: error.into() }
    }
}

/// Runs a program, and says on standard error why it failed. Nothing is said after Ctrl-C, or if the reader of the [`output`] left early,
/// unless the failure is to be [said](Failure::said).
pub fn run(program: impl FnOnce() -> Result) -> ExitCode {
    let exit = program().unwrap_or_else(|failure| {
        if failure.exit != Exit::Interrupted && !failure.is_broken_pipe() {
            note(format!("error: {}", in_full(&failure.error)));
        }
        failure.exit
    });
    exit.into()
}

/// An error and its causes. Many messages end with the text of their cause, which is not repeated then.
///
/// ```
/// use std::io;
/// let cause = io::Error::other("the disk is away");
/// assert_eq!(quorate_host::exit::in_full(&anyhow::Error::new(cause).context("cannot open a.toml")), "cannot open a.toml: the disk is away");
/// ```
#[must_use]
pub fn in_full(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text += ": ";
            text += &cause;
        }
    }
    text
}

/// The text of an error's innermost cause. An error of an HTTP client says no more than that a request failed, and may name the URL, in
/// which a secret may stand; its innermost cause says why, and names no URL.
///
/// ```
/// use std::io;
/// let cause = anyhow::Error::new(io::Error::other("no route")).context("error sending request for http://h/KEY");
/// assert_eq!(quorate_host::exit::innermost(&*cause), "no route");
/// ```
#[must_use]
pub fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

/// Prints one line to standard error, through [`plain()`]. If standard error is closed, there is no place for it, and it is dropped.
pub fn note(text: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{}", plain(&text.to_string()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{FileError, read};

    #[test]
    fn no_cause_is_said_twice() {
        let folder = tempfile::tempdir().unwrap();
        let absent: FileError = read(&folder.path().join("absent"), 9).unwrap_err();
        let alone = absent.to_string();
        assert!(alone.ends_with("No such file or directory (os error 2)"), "{alone}");
        let error = anyhow::Error::new(absent);
        assert_ne!(format!("{error:#}"), alone, "its cause is known, too");
        assert_eq!(in_full(&error), alone);
        assert_eq!(in_full(&error.context("--config")), format!("--config: {alone}"));
        assert_eq!(in_full(&anyhow::anyhow!("root").context("between").context("top")), "top: between: root");
    }

    /// A peer who closes a socket causes the same error as a reader who closes the output. Of the first, the user must be told.
    #[test]
    fn a_broken_pipe_is_told_unless_it_is_that_of_the_output() {
        #[derive(Debug, thiserror::Error)]
        #[error("the peer closed the connection")]
        struct Lost {
            source: io::Error,
        }
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(!Failure::io(Lost { source: broken() }).is_broken_pipe());
        assert!(!Failure::io(broken()).is_broken_pipe());
        assert!(!Failure::io(output_error(io::ErrorKind::StorageFull.into())).is_broken_pipe());
        let left = output_error(broken());
        assert_eq!((left.kind(), left.to_string()), (io::ErrorKind::BrokenPipe, broken().to_string()));
        assert!(Failure::from(left).context("cannot write").is_broken_pipe());
        assert!(Failure::internal(Lost { source: output_error(broken()) }).is_broken_pipe());
        let said = Failure::io(output_error(broken())).context("the transaction was sent").said().context("line 2");
        assert!(!said.is_broken_pipe());
        assert_eq!(said.exit, Exit::Io);
        assert_eq!(in_full(&said.error), format!("line 2: the transaction was sent: {}", broken()));
    }
}
