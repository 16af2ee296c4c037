//! The edge between a node and its user's work: what executes a task, and what judges a result.
//!
//! The user gives two programs in any language, or two HTTP endpoints. They carry out the outputs
//! [`Execute`](quorate_network::roles::NodeOutput::Execute) and [`Validate`](quorate_network::roles::NodeOutput::Validate).
//!
//! | | input | answer of a program | answer of an endpoint |
//! |---|---|---|---|
//! | execute | [`ProgramInput::Execute`] | the result's bytes on standard output, and status 0 | status 200, and the result's bytes |
//! | validate | [`ProgramInput::Validate`] | status 0 attests, status 1 rejects | status 200, and a [`ProgramVerdict`] |
//!
//! Everything else is a failure, which is neither a result nor a verdict: another status, a signal, a limit, an answer that
//! is cut off. A program that ended without reading its input to the end has failed as well, whatever its status is. So a
//! script with a syntax error, which Python ends with status 1, rejects nothing.
//!
//! The input is one JSON object on one line, with `\n` behind it. A payload or result is always hexadecimal, also where
//! it is text: so each has one form, whatever its bytes are.
//!
//! ```json
//! {"action": "validate", "version": 1, "network": {"chain_id": 1, "contract": "0x…"}, "epoch": 7, "id": "0x…",
//!  "payload": "0x7b7d", "result": "0x31"}
//! ```
//!
//! A program is started without a shell, in a process group of its own, with the variables [`ALWAYS_PASSED`] and those that
//! [`ProgramSettings::environment`] names. When it has ended or met a limit, its whole group is killed. A program with the
//! rights of the node's user can do what this user can: it can read the node's files, and a process that it moves to
//! another group lives on. To confine it, let the command start it as another user or in a container.
//!
//! docs/programs.md has the same for users.

mod settings;
mod schema;
mod error;
mod process;
mod endpoint;

use std::{str::FromStr, sync::Arc};

use quorate_evm::{alloy_primitives::Bytes, digest::Contract};
use tokio::sync::Semaphore;

use endpoint::Endpoint;
use process::{CommandLine, Ended, Output, Statuses};

pub use error::{ProgramError, ProgramFailure, ProgramSetupError};
pub use schema::{ProgramInput, ProgramNetwork, ProgramTask, ProgramVerdict, SCHEMA_VERSION};
pub use settings::{ALWAYS_PASSED, MAX_STANDARD_ERROR, ProgramSettings};

/// A program of the user, or an endpoint.
///
/// Parsed from text, it is an endpoint if the text begins with `http://` or `https://`, and else a command. Quotation marks
/// and backslashes group a command's words as in a shell; nothing else in it has a meaning: no variable, no pipe, no `~`.
#[derive(Clone, Debug)]
pub struct Program(Place);

#[derive(Clone, Debug)]
enum Place {
    Command(CommandLine),
    Endpoint(Endpoint),
}

impl Program {
    /// A program and its arguments, each of them as it is. A program without `/` is looked for in the folders of the `PATH`.
    ///
    /// # Errors
    /// [`ProgramSetupError`] if there is no program, or a word has a zero byte. Whether the program exists shows when it is
    /// started.
    pub fn command(words: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, ProgramSetupError> {
        CommandLine::new(words.into_iter().map(Into::into).collect()).map(|command| Self(Place::Command(command)))
    }

    /// An endpoint at an address of `http` or `https`. Certificates are checked against the machine's authorities. Neither
    /// redirects nor proxies are followed.
    ///
    /// # Errors
    /// [`ProgramSetupError`] if the text is not such an address, if it holds a user name or a password, or if the machine has no
    /// list of authorities for `https`.
    pub fn endpoint(url: &str) -> Result<Self, ProgramSetupError> {
        Endpoint::new(url).map(|endpoint| Self(Place::Endpoint(endpoint)))
    }

    fn shown(&self) -> String {
        match &self.0 {
            Place::Command(command) => command.shown(),
            Place::Endpoint(endpoint) => endpoint.shown(),
        }
    }
}

impl FromStr for Program {
    type Err = ProgramSetupError;

    fn from_str(text: &str) -> Result<Self, ProgramSetupError> {
        if text.starts_with("http://") || text.starts_with("https://") {
            Self::endpoint(text)
        } else {
            CommandLine::split(text).map(|command| Self(Place::Command(command)))
        }
    }
}

/// The user's work for one network.
///
/// Clones share the limit of how many run at once. Calls need a tokio runtime whose input, output and time are enabled. A
/// call whose future is dropped kills its program.
#[derive(Clone, Debug)]
pub struct Programs {
    network: Contract,
    execute: Option<Program>,
    validate: Option<Program>,
    settings: Arc<ProgramSettings>,
    turns: Arc<Semaphore>,
}

impl Programs {
    /// A node that does not perform needs no `execute`, and one that does not attest no `validate`.
    pub fn new(
        network: Contract,
        execute: Option<Program>,
        validate: Option<Program>,
        settings: ProgramSettings,
    ) -> Self {
        let turns = Arc::new(Semaphore::new(settings.at_once.get().min(Semaphore::MAX_PERMITS)));
        Self { network, execute, validate, settings: Arc::new(settings), turns }
    }

    /// The result of a task: 1 to [`MAX_RESULT`](quorate_network::message::MAX_RESULT) bytes.
    ///
    /// # Errors
    /// [`ProgramError`] for everything else. The node answers with
    /// [`ExecuteFailed`](quorate_network::roles::NodeEvent::ExecuteFailed).
    pub async fn execute(&self, task: &ProgramTask) -> Result<Bytes, ProgramError> {
        let program = set(self.execute.as_ref(), "execute")?;
        let input = ProgramInput::execute(self.network, task).line();
        let result = match &program.0 {
            Place::Command(command) => {
                let ended = self.run(command, &input, Output::Kept, EXECUTED, task).await?;
                if ended.output.is_empty() {
                    let standard_error = ended.standard_error;
                    return Err(ProgramError { standard_error, ..failed(program)(ProgramFailure::NoResult) });
                }
                ended.output
            }
            Place::Endpoint(endpoint) => {
                let _turn = self.turns.acquire().await.expect("it is never closed");
                endpoint.execute(input, self.settings.time).await.map_err(failed(program))?
            }
        };
        Ok(result.into())
    }

    /// Whether a result of a task is right.
    ///
    /// # Errors
    /// [`ProgramError`] if the user's work gave no verdict. The node answers with
    /// [`ValidateFailed`](quorate_network::roles::NodeEvent::ValidateFailed).
    pub async fn validate(&self, task: &ProgramTask, result: &Bytes) -> Result<bool, ProgramError> {
        let program = set(self.validate.as_ref(), "validate")?;
        let input = ProgramInput::validate(self.network, task, result).line();
        match &program.0 {
            Place::Command(command) => {
                Ok(self.run(command, &input, Output::Dropped, VALIDATED, task).await?.status == ATTESTS)
            }
            Place::Endpoint(endpoint) => {
                let _turn = self.turns.acquire().await.expect("it is never closed");
                endpoint.validate(input, self.settings.time).await.map_err(failed(program))
            }
        }
    }

    /// Runs a program when its turn has come, and logs what it wrote to standard error.
    async fn run(
        &self,
        command: &CommandLine,
        input: &[u8],
        output: Output,
        statuses: Statuses,
        task: &ProgramTask,
    ) -> Result<Ended, ProgramError> {
        let _turn = self.turns.acquire().await.expect("it is never closed");
        let ended = process::run(command, input, output, statuses, &self.settings).await?;
        if !ended.standard_error.is_empty() {
            tracing::info!(id = %task.id, program = command.shown(), "standard error: {}", ended.standard_error);
        }
        Ok(ended)
    }
}

fn set<'a>(program: Option<&'a Program>, option: &'static str) -> Result<&'a Program, ProgramError> {
    program.ok_or_else(|| ProgramError {
        program: "the user's work".to_owned(),
        failure: ProgramFailure::NotSet(option),
        standard_error: String::new(),
    })
}

fn failed(program: &Program) -> impl Fn(ProgramFailure) -> ProgramError {
    |failure| ProgramError { program: program.shown(), failure, standard_error: String::new() }
}

/// The exit status that attests.
const ATTESTS: i32 = 0;
const EXECUTED: Statuses = Statuses { last: 0, expected: "0 says that standard output holds the result" };
const VALIDATED: Statuses = Statuses { last: 1, expected: "0 attests and 1 rejects" };
