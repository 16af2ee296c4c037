//! One run of a program: a process group of its own, three pipes, and an end.
//!
//! The program's process is the leader of a new process group, and the group's number is the number of this process. The
//! system may give the number away once the process is reaped. So the end of the process is noticed without reaping it
//! (`waitid` with `WNOWAIT`), then the whole group is killed, and only then the process is reaped. Children that stayed in
//! the group are gone when [`run`] returns, and also when its future is dropped.

use std::{
    env,
    ffi::OsString,
    fs::File,
    io::{self, ErrorKind, PipeReader, Read},
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::unix::pipe::Sender,
    process::{Child, Command},
    signal::unix::{Signal as Signals, SignalKind, signal},
    time::timeout,
};

use super::{
    error::{ProgramError, ProgramFailure, ProgramSetupError, escaped},
    settings::{ALWAYS_PASSED, MAX_STANDARD_ERROR, ProgramSettings},
};
use quorate_network::message::MAX_RESULT;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandLine {
    program: String,
    arguments: Vec<String>,
}

impl CommandLine {
    pub(super) fn new(words: Vec<String>) -> Result<Self, ProgramSetupError> {
        if words.iter().any(|word| word.contains('\0')) {
            return Err(ProgramSetupError::ZeroByte);
        }
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty()).ok_or(ProgramSetupError::Empty)?;
        Ok(Self { program, arguments: words.collect() })
    }

    pub(super) fn split(text: &str) -> Result<Self, ProgramSetupError> {
        Self::new(shlex::split(text).ok_or_else(|| ProgramSetupError::Quotes(escaped(text.as_bytes())))?)
    }

    /// What errors call it.
    pub(super) fn shown(&self) -> String {
        escaped(self.program.as_bytes())
    }

    /// The file to execute.
    ///
    /// It is looked for here, because a search by the C library hands a file that is not a program to a shell.
    fn file(&self) -> Result<PathBuf, ProgramFailure> {
        if self.program.contains('/') {
            return Ok(PathBuf::from(&self.program));
        }
        let path = env::var_os("PATH").unwrap_or_default();
        // A relative folder would name another file wherever the node is started.
        let folders = env::split_paths(&path).filter(|folder| folder.is_absolute());
        let files: Vec<PathBuf> =
            folders.map(|folder| folder.join(&self.program)).filter(|file| file.is_file()).collect();
        let executable = files.iter().find(|file| is_executable(file));
        executable.or(files.first()).cloned().ok_or(ProgramFailure::NotFound)
    }
}

/// How a program ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// Its exit status, 0 to 255.
    pub(super) status: i32,
    /// What it wrote to standard output, if that was asked for.
    pub(super) output: Vec<u8>,
    /// What it wrote to standard error, as in [`ProgramError`].
    pub(super) standard_error: String,
}

/// What happens to what a program writes to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// At most [`MAX_RESULT`] bytes are kept.
    Kept,
    /// It goes nowhere.
    Dropped,
}

/// The statuses that mean something, and the words for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statuses {
    /// 0 to this.
    pub(super) last: i32,
    /// What they mean.
    pub(super) expected: &'static str,
}

/// Runs a program to its end, or to a limit.
pub(super) async fn run(
    command: &CommandLine,
    input: &[u8],
    output: Output,
    statuses: Statuses,
    settings: &ProgramSettings,
) -> Result<Ended, ProgramError> {
    let mut errors = Tail::default();
    run_with(command, input, output, statuses, settings, &mut errors).await.map_or_else(
        |failure| Err(ProgramError { program: command.shown(), failure, standard_error: errors.text() }),
        |(status, output)| Ok(Ended { status, output, standard_error: errors.text() }),
    )
}

async fn run_with(
    command: &CommandLine,
    input: &[u8],
    output: Output,
    statuses: Statuses,
    settings: &ProgramSettings,
    errors: &mut Tail,
) -> Result<(i32, Vec<u8>), ProgramFailure> {
    let mut ends = signal(SignalKind::child()).map_err(ProgramFailure::System)?;
    // The node keeps one end for reading, to see afterwards what the program did not read.
    let (reader, writer) = io::pipe().map_err(ProgramFailure::System)?;
    let writer = Sender::from_owned_fd(writer.into()).map_err(ProgramFailure::System)?;
    let input_end = reader.try_clone().map_err(ProgramFailure::System)?;
    let mut child = start(command, input_end, output, settings)?;
    let number = child.id().and_then(|number| Pid::from_raw(number.cast_signed()));
    let group = Group(Some(number.ok_or_else(|| ProgramFailure::System(io::ErrorKind::NotFound.into()))?));

    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut process_ended, mut is_written) = (false, false);
    let mut written = Vec::new();
    let talked = timeout(settings.time, async {
        let process = async {
            tokio::select! {
                biased;
                ended = end_of(&group, &mut ends) => ended?,
                written = write_all_and_close(writer, input) => {
                    is_written = written;
                    end_of(&group, &mut ends).await?;
                }
            }
            process_ended = true;
            // Now the pipes end as well.
            group.kill();
            Ok(())
        };
        tokio::try_join!(process, read_result(stdout, &mut written), errors.read(stderr))
    })
    .await;
    let status = reap(child, group).await;

    match talked {
        Err(_) if process_ended => return Err(ProgramFailure::OutputHeldOpen),
        Err(_) => return Err(ProgramFailure::Time(settings.time)),
        Ok(talked) => talked?,
    };
    let status = status.map_err(ProgramFailure::System)?;
    if let Some(signal) = status.signal() {
        return Err(ProgramFailure::Signal(signal));
    }
    let found = status.code().unwrap_or(-1);
    if !(0..=statuses.last).contains(&found) {
        return Err(ProgramFailure::Status { found, expected: statuses.expected });
    }
    if !is_written || !is_read(reader).map_err(ProgramFailure::System)? {
        return Err(ProgramFailure::InputNotRead);
    }
    Ok((found, written))
}

fn start(
    command: &CommandLine,
    input: PipeReader,
    output: Output,
    settings: &ProgramSettings,
) -> Result<Child, ProgramFailure> {
    let file = command.file()?;
    // Linux answers for itself what it executes, which may be more: a system can have interpreters of other beginnings (binfmt_misc).
    if cfg!(not(target_os = "linux")) && !may_be_a_program(&file) {
        return Err(ProgramFailure::NotAProgram);
    }
    Command::new(file)
        .args(&command.arguments)
        .env_clear()
        .envs(environment(&settings.environment))
        .process_group(0)
        // If the group is killed by dropping the future, the runtime reaps the process.
        .kill_on_drop(true)
        .stdin(Stdio::from(input))
        .stdout(if output == Output::Kept { Stdio::piped() } else { Stdio::null() })
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|why| match why.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => ProgramFailure::NotFound,
            ErrorKind::PermissionDenied => ProgramFailure::NotExecutable,
            _ if why.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => ProgramFailure::NotAProgram,
            _ => ProgramFailure::NotStarted(why),
        })
}

/// The variables that a program gets.
fn environment(names: &[String]) -> impl Iterator<Item = (&str, OsString)> {
    let names = ALWAYS_PASSED.into_iter().chain(names.iter().map(String::as_str));
    names.filter_map(|name| Some((name, env::var_os(name)?)))
}

/// A process group whose leader is not reaped. It is killed when it is dropped.
struct Group(Option<Pid>);

impl Group {
    fn kill(&self) {
        if let Some(number) = self.0 {
            // Fails if nothing is left to kill, or if all that is left belongs to another user, which nobody but root can
            // end.
            let _ = kill_process_group(number, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the end of the group's leader, and leaves it to be reaped.
async fn end_of(group: &Group, ends: &mut Signals) -> Result<(), ProgramFailure> {
    let Some(leader) = group.0 else { return Ok(()) };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // The signal has been listened for since before the process was there, so none is missed between two looks.
    while waitid(WaitId::Pid(leader), options).map_err(|why| ProgramFailure::System(why.into()))?.is_none() {
        ends.recv().await;
    }
    Ok(())
}

/// Kills the group and reaps its leader.
async fn reap(mut child: Child, mut group: Group) -> io::Result<ExitStatus> {
    group.kill();
    // A killed process ends at once, unless it waits for a device. Then the runtime reaps it when it ends.
    let status = timeout(REAP, child.wait()).await.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()));
    if status.is_ok() {
        group.0 = None;
    }
    status
}

/// Whether all of it was written. An error is a pipe that nobody reads any more.
async fn write_all_and_close(mut writer: Sender, input: &[u8]) -> bool {
    writer.write_all(input).await.is_ok()
}

async fn read_result(from: Option<impl AsyncRead + Unpin>, result: &mut Vec<u8>) -> Result<(), ProgramFailure> {
    let Some(from) = from else { return Ok(()) };
    from.take(MAX_RESULT as u64 + 1).read_to_end(result).await.map_err(ProgramFailure::System)?;
    if result.len() > MAX_RESULT { Err(ProgramFailure::Output) } else { Ok(()) }
}

/// Whether nothing but the end of the line is left in a pipe that nobody can write to any more.
fn is_read(mut reader: PipeReader) -> io::Result<bool> {
    let mut left = Vec::new();
    reader.read_to_end(&mut left)?;
    Ok(matches!(&*left, b"" | b"\n"))
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// Whether a file begins as a script, a program of ELF or one of Mach-O does. If it cannot be read, the system says what is wrong with it.
///
/// The C libraries of Apple and FreeBSD hand a file that the kernel does not know to a shell, and say nothing.
fn may_be_a_program(file: &Path) -> bool {
    // To open a pipe would wait for somebody who writes to it.
    if !file.is_file() {
        return true;
    }
    let mut beginning = Vec::new();
    match File::open(file).and_then(|file| file.take(4).read_to_end(&mut beginning)) {
        Ok(_) => BEGINNINGS.iter().any(|known| beginning.starts_with(known)),
        Err(_) => true,
    }
}

/// A script; ELF; Mach-O of 32 and 64 bits in either order of bytes, and of several processors.
const BEGINNINGS: [&[u8]; 7] = [
    b"#!",
    b"\x7fELF",
    b"\xfe\xed\xfa\xce",
    b"\xce\xfa\xed\xfe",
    b"\xfe\xed\xfa\xcf",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
];

/// The last bytes of a stream.
#[derive(Debug, Default)]
struct Tail(Vec<u8>);

impl Tail {
    async fn read(&mut self, from: Option<impl AsyncRead + Unpin>) -> Result<(), ProgramFailure> {
        let Some(mut from) = from else { return Ok(()) };
        let mut chunk = [0; 4096];
        loop {
            match from.read(&mut chunk).await.map_err(ProgramFailure::System)? {
                0 => return Ok(()),
                length => self.push(&chunk[..length]),
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        self.0.drain(..self.0.len().saturating_sub(MAX_STANDARD_ERROR));
    }

    fn text(&self) -> String {
        escaped(&self.0)
    }
}

/// How long a killed process may take to end before it is left to the runtime.
const REAP: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_without_a_known_beginning_is_no_program() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p");
        let begins = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            may_be_a_program(&file)
        };
        for known in BEGINNINGS {
            assert!(begins(known) && begins(&[known, b"\0rest"].concat()), "{known:?}");
        }
        for unknown in
            [&b""[..], b"#", b"echo 1\n", b" #!/bin/sh\n", b"\xef\xbb\xbf#!/bin/sh\n", b"\x7fEL", b"MZ\x90\0"]
        {
            assert!(!begins(unknown), "{unknown:?}");
        }
        // This test is a program itself. What is not there, and what is no file, the system names better.
        assert!(may_be_a_program(&env::current_exe().unwrap()));
        assert!(may_be_a_program(&folder.path().join("none")) && may_be_a_program(folder.path()));
    }
}
