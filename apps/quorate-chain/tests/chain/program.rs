//! The program: run to its end, or in the background.

use std::{
    fs,
    io::Read as _,
    path::PathBuf,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use quorate_evm::{Network, alloy_primitives::Address};
use quorate_lab::run::{LIMIT, Ran, Run as _, Running, command};
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
    pub(crate) fn once(&self, url: &str, contract: Address, more: &[&str]) -> Ran {
        self.once_behind("0", url, contract, more)
    }

    /// The same with confirmations.
    pub(crate) fn once_behind(&self, confirmations: &str, url: &str, contract: Address, more: &[&str]) -> Ran {
        self.follow(url, contract).args(["--once", "--confirmations", confirmations]).args(more).ran()
    }

    /// `quorate-chain follow` in the background.
    pub(crate) fn background(&self, url: &str, contract: Address, more: &[&str]) -> Running {
        let mut command = self.follow(url, contract);
        command.args(["--every", "0.1"]).args(more).stderr(Stdio::piped());
        Running::start(&mut command)
    }

    /// The same without confirmations; it serves its metrics at this address.
    pub(crate) fn served(&self, url: &str, contract: Address) -> (Running, String) {
        let mut running = self.background(url, contract, &["--confirmations", "0", "--metrics", "127.0.0.1:0"]);
        // Byte by byte, so that what comes behind the line stays in the pipe.
        let mut stderr = running.child.stderr.take().unwrap();
        let address = loop {
            let mut line = Vec::new();
            while line.last() != Some(&b'\n') {
                let mut byte = [0];
                stderr.read_exact(&mut byte).expect("it says where its metrics are");
                line.extend(byte);
            }
            let line = String::from_utf8(line).unwrap();
            if let Some(address) = line.trim_end().strip_prefix("metrics are at http://") {
                break address.strip_suffix("/metrics").unwrap().to_owned();
            }
        };
        running.child.stderr = Some(stderr);
        (running, address)
    }

    /// `quorate-chain follow`, not yet started.
    pub(crate) fn follow(&self, url: &str, contract: Address) -> Command {
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
            assert!(begun.elapsed() < LIMIT, "{what}: {:?}", self.network().map(|network| network.head()));
            sleep(Duration::from_millis(50));
        }
    }
}

pub(crate) fn program() -> Command {
    command("quorate-chain")
}
