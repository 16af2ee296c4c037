//! How the binary is run, and claims to give it.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use quorate::{Backend, MinPk, MinSig, SecretKey, Signature, Suite, aggregate::aggregate};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Longer than anything waits, shorter than a person does.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Presses Ctrl-C.
pub(crate) fn interrupt(child: &Child) {
    let status = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(status.success());
}

/// Waits for the end of a run, and returns its exit code.
#[track_caller]
pub(crate) fn end_of(child: &mut Child) -> i32 {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().expect("it ends by itself");
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it does not end");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The binary with no setting of its own from the environment.
pub(crate) fn quorate() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quorate"));
    for name in ["QUORATE_BACKEND", "QUORATE_SUITE", "QUORATE_THREADS"] {
        command.env_remove(name);
    }
    command
}

/// `quorate verify` with nothing on standard input.
pub(crate) fn verify(arguments: &[&str]) -> Ran {
    verify_input(arguments, "")
}

/// `quorate verify` with something on standard input.
pub(crate) fn verify_input(arguments: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let mut command = quorate();
    command.arg("verify").args(arguments);
    ran(command, input)
}

/// Runs a command to its end.
pub(crate) fn ran(mut command: Command, input: impl AsRef<[u8]>) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    // A child that does not read its input closes it early, which is no fault.
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    output.into()
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("it ends by itself"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// The objects on standard output.
    pub(crate) fn objects(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line:?}; {self:?}"));
        self.out.lines().map(parse).collect()
    }

    /// The one object on standard output.
    pub(crate) fn object(&self) -> Value {
        let mut objects = self.objects();
        assert_eq!(objects.len(), 1, "{self:?}");
        objects.remove(0)
    }

    /// Which of the claims are valid, as the verdict lines say. Entries that make no claim are left out.
    pub(crate) fn valid(&self) -> Vec<bool> {
        let objects = self.objects();
        let claims = objects.iter().filter(|line| line["malformed"].is_null());
        claims.map(|line| line["valid"].as_bool().unwrap()).collect()
    }

    /// Checks the exit code and shows the whole run where it is another.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// Checks that standard error says something.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.err.contains(text), "expected {text:?} in {}", self.err);
        self
    }
}

/// A folder for a test's files.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file and gives its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }
}

/// A file of the repository's examples.
pub(crate) fn example(name: &str) -> String {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")).join(name).to_str().unwrap().to_owned()
}

/// The secret key number `i`.
pub(crate) fn secret<S: Suite>(suite: S, i: u8) -> SecretKey<S> {
    SecretKey::key_gen(suite, &[i; 32], b"").unwrap()
}

/// A true claim of one statement in `eth2`: key `i`, the message `[i]`.
pub(crate) fn claim(i: u8) -> Value {
    single(MinPk::Eth2, i, &[i], &[i])
}

/// A claim of one statement whose signature is over another message.
pub(crate) fn false_claim(i: u8) -> Value {
    single(MinPk::Eth2, i, &[i], b"something else")
}

/// The same in min-sig.
pub(crate) fn short_claim(i: u8) -> Value {
    single(MinSig::Basic, i, &[i], &[i])
}

/// Key `i` claims `message` with a signature over `signed`.
pub(crate) fn single<S: Suite>(suite: S, i: u8, message: &[u8], signed: &[u8]) -> Value {
    json!({
        "id": format!("c{i}"),
        "suite": suite.name(),
        "public_key": const_hex::encode(secret(suite, i).public_key().to_bytes()),
        "message": const_hex::encode(message),
        "signature": const_hex::encode(secret(suite, i).sign(suite, signed).to_bytes()),
    })
}

/// Keys over one message.
pub(crate) fn shared<S: Suite>(suite: S, keys: &[u8], message: &[u8]) -> Value {
    let signatures: Vec<_> = keys.iter().map(|i| secret(suite, *i).sign(suite, message)).collect();
    json!({
        "suite": suite.name(),
        "public_keys": public_keys(suite, keys),
        "message": const_hex::encode(message),
        "signature": sum(&signatures),
    })
}

/// Keys over a message each.
pub(crate) fn each<S: Suite>(suite: S, pairs: &[(u8, &[u8])]) -> Value {
    let signatures: Vec<_> = pairs.iter().map(|(i, message)| secret(suite, *i).sign(suite, message)).collect();
    json!({
        "suite": suite.name(),
        "public_keys": public_keys(suite, &pairs.iter().map(|(i, _)| *i).collect::<Vec<_>>()),
        "messages": pairs.iter().map(|(_, message)| const_hex::encode(message)).collect::<Vec<_>>(),
        "signature": sum(&signatures),
    })
}

/// The claim with a field replaced.
pub(crate) fn with(mut claim: Value, field: &str, value: impl Into<Value>) -> Value {
    claim[field] = value.into();
    claim
}

/// The claim without a field.
pub(crate) fn without(mut claim: Value, field: &str) -> Value {
    claim.as_object_mut().unwrap().remove(field).unwrap();
    claim
}

/// One claim a line.
pub(crate) fn lines(claims: &[Value]) -> String {
    claims.iter().map(|claim| format!("{claim}\n")).collect()
}

fn public_keys<S: Suite>(suite: S, keys: &[u8]) -> Vec<String> {
    keys.iter().map(|i| const_hex::encode(secret(suite, *i).public_key().to_bytes())).collect()
}

fn sum<S: Suite>(signatures: &[Signature<S>]) -> String {
    const_hex::encode(aggregate(signatures, Backend::auto()).unwrap().to_bytes())
}
