//! A signer of a network on this machine: its folder, its keystore, its process.

use std::{
    fs,
    io::{BufRead, BufReader},
    num::NonZeroU64,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, LazyLock},
    thread::sleep,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use quorate_evm::{
    KeyGroup, OperatorKey, SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes, hex},
};
use quorate_keystore::{
    keystore::{Kdf, Keystore, KeystoreOptions, Scrypt},
    passphrase::Passphrase,
    secret::Secret,
    secret_file::{self, Existing},
};
use quorate_lab::run::{LIMIT, Ran, Run as _, Running, Signal, command_after};
use quorate_signer_client::{SignerClient, client::ClientSettings, network::NetworkTerms};
use tempfile::TempDir;

pub(crate) const VERIFIER: Address = Address::repeat_byte(0xee);
pub(crate) const OPERATOR: Address = Address::repeat_byte(0x0b);
pub(crate) const PASSPHRASE: &str = "correct horse battery staple";

/// A network in the middle of its epoch 7, whose epochs last longer than the tests.
pub(crate) fn network() -> NetworkTerms {
    static NETWORK: LazyLock<NetworkTerms> = LazyLock::new(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let (contract, length) = (Address::repeat_byte(0xc0), 100_000);
        let epoch_length = NonZeroU64::new(length).expect("not zero");
        let genesis = now - 7 * length - length / 2;
        NetworkTerms { chain_id: 31337, contract, genesis, epoch_length, slashing_window: 1000 }
    });
    *NETWORK
}

/// A folder with a keystore and a new record. Clones are the same place.
#[derive(Clone)]
pub(crate) struct Place {
    folder: Arc<TempDir>,
    pub(crate) public_key: Bytes,
    /// In hexadecimal digits.
    pub(crate) secret: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let key = OperatorKey::from_entropy(KeyGroup::Bls12381G2, &[7; 48]);
        keystore_of(folder.path(), "key.json", &[7; 48]);
        secret_file::write(&folder.path().join("passphrase"), PASSPHRASE.as_bytes(), Existing::Refuse).expect("writes");
        let place = Self { folder, public_key: key.member(), secret: hex::encode(*key.to_bytes()) };
        let data = place.folder().join("data");
        let (exit, out, error) = place.run_with("true", &place.init_arguments(data.to_str().expect("UTF-8")));
        assert!(exit == 0 && out.contains(&place.public_key.to_string()), "{out}{error}");
        place
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder().join("socket/signer.sock")
    }

    pub(crate) fn epoch(&self) -> u64 {
        7
    }

    /// A task of the running epoch.
    pub(crate) fn task(&self, id: u32, result: u32) -> Task {
        let word = |number: u32| B256::left_padding_from(&number.to_be_bytes());
        Task {
            epoch: self.epoch(),
            snapshot: SnapshotId::repeat_byte(3),
            id: word(id),
            performer: 2,
            result: word(result),
            approved: true,
        }
    }

    pub(crate) fn init_arguments<'a>(&self, data: &'a str) -> Vec<&'a str> {
        let leak = |text: String| -> &'static str { text.leak() };
        let NetworkTerms { chain_id, contract, genesis, epoch_length, slashing_window } = network();
        vec![
            "init",
            "--data",
            data,
            "--key-group",
            "bls12381-g2",
            "--chain-id",
            leak(chain_id.to_string()),
            "--contract",
            leak(contract.to_string()),
            "--verifier",
            leak(VERIFIER.to_string()),
            "--operator",
            leak(OPERATOR.to_string()),
            "--genesis",
            leak(genesis.to_string()),
            "--epoch-length",
            leak(epoch_length.to_string()),
            "--slashing-window",
            leak(slashing_window.to_string()),
        ]
    }

    pub(crate) fn command(&self, before: &str, arguments: &[&str]) -> Command {
        let mut command = command_after(before, "quorate-signer");
        command
            .args(arguments)
            .env("QUORATE_SIGNER_DATA", self.folder().join("data"))
            .env("QUORATE_SIGNER_SOCKET", self.socket())
            .env("QUORATE_SIGNER_KEYSTORE", self.folder().join("key.json"))
            .env("QUORATE_SIGNER_PASSPHRASE_FILE", self.folder().join("passphrase"));
        command
    }

    /// Runs a command to its end: exit code, standard output, standard error.
    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        self.run_with("true", arguments)
    }

    /// The same after a line of shell.
    pub(crate) fn run_with(&self, before: &str, arguments: &[&str]) -> (i32, String, String) {
        let Ran { code, out, err } = self.command(before, arguments).ran();
        (code, out, err)
    }

    /// A client that waits for as long as anything may take on a slow machine.
    pub(crate) fn client(&self) -> SignerClient {
        SignerClient::with(self.socket(), ClientSettings { connect: LIMIT, answer: LIMIT })
    }

    /// Starts the signer and waits until it listens.
    pub(crate) fn start(&self) -> Listening {
        self.start_with("true")
    }

    /// The same after a line of shell.
    pub(crate) fn start_with(&self, before: &str) -> Listening {
        let log = self.folder().join("log");
        let file = fs::File::create(&log).expect("a log");
        let mut command = self.command(before, &["run"]);
        let mut run = Running::start(command.stdout(Stdio::piped()).stderr(file));
        let mut line = String::new();
        BufReader::new(run.child.stdout.take().expect("piped")).read_line(&mut line).expect("reads");
        let listening = format!("listening on {}\n", self.socket().display());
        assert_eq!(line, listening, "{}", fs::read_to_string(&log).expect("a log"));
        Listening { run, log }
    }
}

/// Writes a keystore that opens fast.
pub(crate) fn keystore_of(folder: &Path, name: &str, entropy: &[u8; 48]) -> PathBuf {
    let key = OperatorKey::from_entropy(KeyGroup::Bls12381G2, entropy);
    let kdf = Kdf::Scrypt(Scrypt::new(2, 1, 1).expect("cheap"));
    let options = KeystoreOptions { kdf, ..KeystoreOptions::default() };
    let public_key = key.compressed().expect("on BLS12-381");
    let secret = Secret::new(key.to_bytes());
    let keystore = Keystore::encrypt(&secret, &public_key, &Passphrase::from(PASSPHRASE), options).expect("encrypts");
    let path = folder.join(name);
    secret_file::write(&path, keystore.to_json().as_bytes(), Existing::Refuse).expect("writes");
    path
}

/// A signer that runs. It is killed when it is dropped.
pub(crate) struct Listening {
    run: Running,
    log: PathBuf,
}

impl Listening {
    pub(crate) fn id(&self) -> u32 {
        self.run.child.id()
    }

    /// What it wrote to standard error.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("a log")
    }

    /// What it wrote to standard error, once that is so. A line comes a moment after what it tells of.
    #[track_caller]
    pub(crate) fn says(&self, is_so: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let log = self.log();
            if is_so(&log) {
                return log;
            }
            assert!(begun.elapsed() < LIMIT, "{log}");
            sleep(Duration::from_millis(20));
        }
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        self.run.kill();
    }

    /// Sends a signal, and returns the exit code.
    pub(crate) fn end(&mut self, signal: Signal) -> i32 {
        self.run.signal(signal);
        self.run.ended()
    }
}
