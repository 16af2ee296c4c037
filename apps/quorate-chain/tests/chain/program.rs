//! The program: run to its end, or in the background.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use quorate_evm::{Network, alloy_primitives::Address};
use tempfile::TempDir;

/// A folder with a network file, in which the program runs.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// The network that was written.
    pub(crate) fn network(&self) -> Option<Network> {
        fs::read(self.path("network.json")).ok().map(|text| serde_json::from_slice(&text).unwrap())
    }

    pub(crate) fn has_cursor(&self) -> bool {
        self.path("network.json.cursor").exists()
    }

    /// `quorate-chain follow --once` with no confirmations, and more arguments.
    pub(crate) fn once(&self, url: &str, contract: Address, more: &[&str]) -> Ended {
        self.once_behind("0", url, contract, more)
    }

    /// The same with confirmations.
    pub(crate) fn once_behind(&self, confirmations: &str, url: &str, contract: Address, more: &[&str]) -> Ended {
        run(self.follow(url, contract).args(["--once", "--confirmations", confirmations]).args(more))
    }

    /// `quorate-chain follow` in the background.
    pub(crate) fn background(&self, url: &str, contract: Address, more: &[&str]) -> Background {
        let mut command = self.follow(url, contract);
        command.args(["--every", "0.1"]).args(more).stderr(Stdio::piped());
        Background(command.spawn().unwrap())
    }

    fn follow(&self, url: &str, contract: Address) -> Command {
        let mut command = program();
        command.args(["follow", "--rpc", url, "--contract", &contract.to_string(), "--network"]);
        command.arg(self.path("network.json"));
        command
    }

    /// Waits until the network that is written has a property.
    pub(crate) fn wait(&self, what: &str, holds: impl Fn(&Network) -> bool) -> Network {
        let begun = Instant::now();
        loop {
            if let Some(network) = self.network().filter(&holds) {
                return network;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "{what}: {:?}",
                self.network().map(|network| network.head())
            );
            sleep(Duration::from_millis(50));
        }
    }
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_quorate-chain")));
    command.env_remove("QUORATE_CHAIN_KEY").env_remove("QUORATE_CHAIN_RPC").stdin(Stdio::null());
    command
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) notes: String,
}

impl Ended {
    /// The notes have all of these words.
    pub(crate) fn says(&self, words: &[&str]) {
        words.iter().for_each(|word| assert!(self.notes.contains(word), "{word:?} is not in {self:#?}"));
    }

    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }
}

pub(crate) fn run(command: &mut Command) -> Ended {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: status.code().unwrap(), out: text(stdout), notes: text(stderr) }
}

/// A program that runs. Dropping it ends it.
pub(crate) struct Background(Child);

impl Background {
    /// Presses Ctrl-C.
    pub(crate) fn interrupt(mut self) -> Ended {
        let status = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status().unwrap();
        assert!(status.success());
        let code = self.0.wait().unwrap().code().unwrap();
        let mut notes = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut notes).unwrap();
        Ended { code, out: String::new(), notes }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
