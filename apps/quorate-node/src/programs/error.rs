//! Why the user's work gave no result and no verdict.

use std::{io, time::Duration};

use quorate_host::plain;

use quorate_network::message::MAX_RESULT;

/// A call of the user's work failed. It is neither a result nor a verdict.
#[derive(Debug, thiserror::Error)]
#[error("{program}: {failure}{}", said(.standard_error))]
pub struct ProgramError {
    /// The program's name, or the endpoint's address without its query.
    pub program: String,
    /// What is wrong, and what to do.
    #[source]
    pub failure: ProgramFailure,
    /// The end of what the program wrote to standard error, at most [`MAX_STANDARD_ERROR`](super::MAX_STANDARD_ERROR)
    /// bytes, with everything escaped that a terminal could obey. Empty for an endpoint.
    pub standard_error: String,
}

/// What is wrong with the user's work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramFailure {
    /// The node has no program and no endpoint for this action.
    #[error("there is no program to {0}; set one")]
    NotSet(&'static str),
    /// There is no such file.
    #[error(
        "not found; give the path of a file or a name on the PATH. If the file is there, the interpreter in its first line is not"
    )]
    NotFound,
    /// The file may not be executed.
    #[error("may not be executed by the node's user; `chmod +x` the file, and let its folders be entered")]
    NotExecutable,
    /// The file is neither a program of this machine nor a script with an interpreter.
    #[error("is not a program of this machine; a script needs a first line such as `#!/usr/bin/env python3`")]
    NotAProgram,
    /// The system did not start it.
    #[error("could not be started: {0}")]
    NotStarted(#[source] io::Error),
    /// It took too long.
    #[error("took longer than the limit of {}; make it faster, or raise the limit of time", seconds(.0))]
    Time(Duration),
    /// It wrote too much.
    #[error("gave more than the limit of {MAX_RESULT} bytes; a longer result cannot be published")]
    Output,
    /// It ended, and a process that it started outside its process group keeps its output open.
    #[error("ended, but a process that it started and that left its process group still holds its output open")]
    OutputHeldOpen,
    /// It exited with another status than those that mean something.
    #[error("exited with status {found}; {expected}")]
    Status {
        /// Its status.
        found: i32,
        /// What the statuses mean.
        expected: &'static str,
    },
    /// A signal ended it.
    #[error("was ended by signal {0}; if that is 9, the machine may lack memory")]
    Signal(i32),
    /// It answered without having read the whole task.
    #[error("ended without reading the whole task from standard input; read to the end before answering")]
    InputNotRead,
    /// It gave no bytes as a result.
    #[error("ended well, but gave no result; a result has at least one byte")]
    NoResult,
    /// A pipe to it failed, or what became of it cannot be told.
    #[error("the system failed while it ran: {0}")]
    System(#[source] io::Error),
    /// The endpoint did not answer.
    #[error("no answer: {0}; is it running at this address?")]
    NoAnswer(String),
    /// The endpoint refused.
    #[error("answered with HTTP status {found}, expected 200{}{}", redirected(*.found), said(.text))]
    HttpStatus {
        /// The status.
        found: u16,
        /// The beginning of its answer, escaped.
        text: String,
    },
    /// The endpoint's verdict cannot be read.
    #[error("answered with no verdict, expected {{\"approved\": true}} or {{\"approved\": false}}: {0}")]
    NoVerdict(String),
}

/// A command or an address that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramSetupError {
    /// There is nothing in it.
    #[error("the command is empty; give a program and its arguments")]
    Empty,
    /// A quotation mark has no partner, or a backslash stands at the end.
    #[error("the command has a quotation mark without its partner, or ends with a backslash: {0}")]
    Quotes(String),
    /// A byte with value zero cannot be handed to a program.
    #[error("the command has a zero byte, which no argument can have")]
    ZeroByte,
    /// The address does not parse.
    #[error("the address is not a URL of http or https: {0}")]
    Address(String),
    /// The address has a name or a password.
    #[error("the address holds a user name or a password, which would stand in logs; leave it out")]
    Credentials,
    /// The client cannot be made, such as where the machine has no list of certificate authorities.
    #[error("no client for the address: {0}")]
    Client(String),
}

/// Bytes from outside as text on one line that a terminal does not obey.
pub(super) fn escaped(bytes: &[u8]) -> String {
    plain(String::from_utf8_lossy(bytes).trim())
}

fn said(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(". It said: {text}") }
}

fn seconds(time: &Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

fn redirected(status: u16) -> &'static str {
    if (300..400).contains(&status) { "; redirects are not followed, so give the address that it leads to" } else { "" }
}
