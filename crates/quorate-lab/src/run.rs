//! Programs that a test runs: found, given an input, limited in time, and never left behind.
//!
//! It stands on the `Command` of std and not on `assert_cmd`: that one runs a program to its end and no other way, and half of
//! these tests signal, kill or watch a program that runs. Only processes that a test has started are ended.

use std::{
    env, fs,
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpListener},
    ops::Range,
    path::{Path, PathBuf},
    process::{self, Child, Command, ExitStatus, Stdio},
    sync::{LazyLock, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

#[cfg(unix)]
use std::os::unix::net::UnixDatagram;

#[cfg(unix)]
pub use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::needs::skip;

/// Longer than a program takes on a busy machine; after it, the test fails.
pub const LIMIT: Duration = Duration::from_secs(300);

/// The file of one of our programs.
///
/// # Panics
/// If it is not built. Cargo builds a package's own programs for its tests.
#[track_caller]
pub fn program(name: &str) -> PathBuf {
    let path = place_of(name);
    assert!(path.is_file(), "there is no {}: `cargo build -p` its package", path.display());
    path
}

/// The file of a program of another package; `None`, with a printed line, if it is not built.
///
/// # Panics
/// If it is not built and `CI=true`.
#[track_caller]
pub fn program_of(package: &str, name: &str) -> Option<PathBuf> {
    let path = place_of(name);
    if path.is_file() {
        return Some(path);
    }
    skip(format_args!("there is no {} (`cargo build -p {package}` makes it)", path.display()));
    None
}

/// One of our programs without the caller's settings and without an input.
#[track_caller]
pub fn command(name: &str) -> Command {
    without_settings(Command::new(program(name)))
}

/// The same after a line of shell, as `ulimit -v 300000`.
#[track_caller]
pub fn command_after(line: &str, name: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{line}; exec \"$0\" \"$@\"")]).arg(program(name));
    without_settings(command)
}

/// One test of the program that runs, in a process of its own, which writes what it prints.
pub fn test(name: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]).stdin(Stdio::null());
    command
}

/// A script of `sh`, which finds our programs and those that every system has, and no settings.
pub fn shell(script: &str) -> Command {
    let folders = [programs(), "/usr/bin".into(), "/bin".into()];
    let mut command = Command::new("sh");
    command.args(["-c", script]).env_clear().env("PATH", env::join_paths(folders).unwrap()).stdin(Stdio::null());
    command
}

/// Asks a program for a resource over HTTP, on a connection to it: the status, and the body.
pub fn get(mut connection: impl Read + Write, path: &str) -> (u16, String) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("not HTTP: {answer}"));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Whether a program of the system is here; if not, with a printed line.
///
/// # Panics
/// If it is not here and `CI=true`.
#[track_caller]
pub fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        skip(format_args!("there is no {program}"));
    }
    found
}

/// The folder of our programs: that of the test's own program, or the one above it.
pub fn programs() -> PathBuf {
    let test = env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    if folder.ends_with("deps") { folder.parent().unwrap() } else { folder }.to_owned()
}

/// Ports of loopback that nobody listens on, in increasing order unless the numbers start again. A process is told no port
/// twice before it was told 16,384.
///
/// They are none of those that a system gives to outgoing connections (from 32,768 on Linux, from 49,152 elsewhere). Such
/// a connection, of any process, could take the port before the one that it was chosen for listens, and each time that
/// one starts again.
///
/// # Errors
/// Fewer are free.
pub fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    const PORTS: Range<u16> = 16_384..32_768;
    static NEXT: LazyLock<Mutex<u16>> = LazyLock::new(|| {
        // Processes that run at a time start far from each other.
        let apart = u64::from(process::id()) * 997 % u64::from(PORTS.end - PORTS.start);
        Mutex::new(PORTS.start + u16::try_from(apart).unwrap_or_default())
    });
    let mut next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut free = Vec::with_capacity(count);
    for _ in PORTS {
        if free.len() == count {
            return Ok(free);
        }
        let port = *next;
        *next = if port + 1 < PORTS.end { port + 1 } else { PORTS.start };
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            free.push(port);
        }
    }
    Err(io::Error::other(format!("{count} ports of loopback are needed, {} are free", free.len())))
}

/// Runs commands to their end.
pub trait Run {
    /// Runs the command.
    ///
    /// # Panics
    /// If it cannot be started, or does not end within [`LIMIT`].
    fn ran(&mut self) -> Ran;

    /// Runs the command with something on standard input. A program that does not read it all is not a fault.
    ///
    /// # Panics
    /// If it cannot be started, or does not end within [`LIMIT`].
    fn ran_with(&mut self, input: impl AsRef<[u8]>) -> Ran;
}

impl Run for Command {
    #[track_caller]
    fn ran(&mut self) -> Ran {
        Running::start(self.stdout(Stdio::piped()).stderr(Stdio::piped())).ends()
    }

    #[track_caller]
    fn ran_with(&mut self, input: impl AsRef<[u8]>) -> Ran {
        let mut running = Running::start(self.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
        let (mut stdin, input) = (running.child.stdin.take().unwrap(), input.as_ref().to_vec());
        thread::spawn(move || stdin.write_all(&input));
        running.ends()
    }
}

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The exit code; of a run that a signal ended, the signal's number, negative.
    pub code: i32,
    /// Standard output, if it was a pipe.
    pub out: String,
    /// Standard error, if it was a pipe.
    pub err: String,
}

impl Ran {
    /// Checks the exit code, and shows the whole run if it is another.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Checks that standard error says something.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.err.contains(text), "expected {text:?} in {}", self.err);
        self
    }

    /// Checks that the program refused what it was given: exit code 2, and a reason on standard error.
    #[track_caller]
    pub fn refused(self, text: &str) -> Self {
        self.exits(2).says(text)
    }

    /// Both outputs.
    pub fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    /// The objects on standard output, one a line.
    #[track_caller]
    pub fn objects(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line:?}; {self:?}"));
        self.out.lines().map(parse).collect()
    }

    /// The one object on standard output.
    #[track_caller]
    pub fn object(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A program that runs. It is killed when this is dropped.
#[derive(Debug)]
pub struct Running {
    /// The process, whose pipes a test may take.
    pub child: Child,
}

impl Running {
    /// Starts a command as it says.
    ///
    /// # Panics
    /// If it cannot be started.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self { child }
    }

    /// Sends a signal.
    #[cfg(unix)]
    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// Whether the program handles a signal by now, as `/proc` says.
    #[cfg(target_os = "linux")]
    pub fn catches(&self, signal: Signal) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << (signal.as_raw() - 1)) != 0
    }

    /// Ends the processes of the group that the program leads.
    #[cfg(unix)]
    pub fn end_group(&self) {
        // It may be empty already.
        let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(&self.child), Signal::TERM);
    }

    /// Kills the program, and waits for its end.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether the program runs.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for the end of the program. The exit code, or a signal's number, negative; `None` if it still runs after `limit`.
    pub fn ended_within(&mut self, limit: Duration) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some(code_of(status));
            }
            if begun.elapsed() > limit {
                return None;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the end of the program: its exit code, or a signal's number, negative.
    ///
    /// # Panics
    /// If it does not end within [`LIMIT`].
    #[track_caller]
    pub fn ended(&mut self) -> i32 {
        self.ended_within(LIMIT).expect("the program does not end")
    }

    /// Waits for the end of the program, and reads what is left in its pipes meanwhile.
    ///
    /// # Panics
    /// If it does not end within [`LIMIT`], or what it wrote is not UTF-8.
    #[track_caller]
    pub fn ends(mut self) -> Ran {
        let (out, err) = (in_background(self.child.stdout.take()), in_background(self.child.stderr.take()));
        let begun = Instant::now();
        let mut read = |pipe: mpsc::Receiver<Vec<u8>>| {
            let text = pipe.recv_timeout(LIMIT.saturating_sub(begun.elapsed())).unwrap_or_else(|_| {
                let _ = self.child.kill();
                panic!("the program does not end, or a process that it started holds its pipe");
            });
            String::from_utf8(text).unwrap()
        };
        let (out, err) = (read(out), read(err));
        Ran { code: self.ended(), out, err }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Stands in for systemd: a socket on which a program says that it is ready, works and stops.
#[cfg(unix)]
#[derive(Debug)]
pub struct ServiceManager {
    socket: UnixDatagram,
    folder: TempDir,
}

#[cfg(unix)]
impl ServiceManager {
    /// A socket that nobody knows yet.
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let socket = UnixDatagram::bind(folder.path().join("notify")).unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        Self { socket, folder }
    }

    /// Names the socket to a program, and for how long it is waited for a sign of life.
    pub fn starts(&self, command: &mut Command, watchdog: Duration) {
        command.env("NOTIFY_SOCKET", self.folder.path().join("notify"));
        command.env("WATCHDOG_USEC", watchdog.as_micros().to_string());
    }

    /// The lines of the next message.
    ///
    /// # Panics
    /// If none comes within [`LIMIT`].
    #[track_caller]
    pub fn hears(&self) -> Vec<String> {
        let mut buffer = [0; 4096];
        let length = self.socket.recv(&mut buffer).expect("the program says nothing");
        String::from_utf8_lossy(&buffer[..length]).lines().map(str::to_owned).collect()
    }

    /// The lines of the next message that is not a sign of life.
    ///
    /// # Panics
    /// If none comes within [`LIMIT`].
    #[track_caller]
    pub fn hears_news(&self) -> Vec<String> {
        let begun = Instant::now();
        loop {
            let lines = self.hears();
            if lines != [ALIVE] {
                return lines;
            }
            assert!(begun.elapsed() < LIMIT, "the program says nothing but that it lives");
        }
    }

    /// Waits for a sign of life that comes from now on.
    ///
    /// # Panics
    /// If none comes within [`LIMIT`], or something else comes.
    #[track_caller]
    pub fn hears_life(&self) {
        self.socket.set_nonblocking(true).unwrap();
        while self.socket.recv(&mut [0; 4096]).is_ok() {}
        self.socket.set_nonblocking(false).unwrap();
        assert_eq!(self.hears(), [ALIVE]);
    }
}

#[cfg(unix)]
impl Default for ServiceManager {
    fn default() -> Self {
        Self::new()
    }
}

/// What a program says that works.
#[cfg(unix)]
const ALIVE: &str = "WATCHDOG=1";

/// A folder for a test's files, which goes with the test.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Folder {
    /// An empty folder.
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// The path of a file in the folder, as an argument has it.
    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file, and gives its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

/// All that comes out of a pipe, read by a thread of its own.
fn in_background(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read: io::Result<usize> = pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes));
        read.map(|_| sender.send(bytes))
    });
    receiver
}

fn code_of(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None;
    signal.map_or_else(|| status.code().unwrap(), |signal: i32| -signal)
}

/// The command without what the caller's environment sets for our programs.
fn without_settings(mut command: Command) -> Command {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("QUORATE_")) {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// Where cargo puts a program.
fn place_of(name: &str) -> PathBuf {
    let named = env::var_os(format!("CARGO_BIN_EXE_{name}")).map(PathBuf::from);
    named.unwrap_or_else(|| programs().join(Path::new(name).with_extension(env::consts::EXE_EXTENSION)))
}
