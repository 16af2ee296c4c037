//! The programs of a run, and the folder in which they run.

use std::{
    env, fs,
    os::unix::{fs::symlink, process::CommandExt as _},
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use quorate_lab::{
    anvil,
    needs::{checkout, skip},
    run::{Running, program_of, programs},
};
use tempfile::TempDir;

/// A folder that is thrown away, in which `contracts` and `examples` are those of the repository, and the programs are found.
pub(crate) struct Workplace(TempDir);

/// How a script ended, and what it printed, standard error included.
#[derive(Debug)]
pub(crate) struct Transcript {
    /// `None` if it ran too long.
    code: Option<i32>,
    pub(crate) out: String,
}

/// How long a run may take.
const MOST: Duration = Duration::from_secs(900);

impl Workplace {
    /// `None` if something is absent that the tests need.
    pub(crate) fn new() -> Option<Self> {
        let contracts = checkout().join("contracts");
        for needed in [
            contracts.join("node_modules/@foundry-rs/forge/bin.mjs"),
            contracts.join("out/Treasury.sol/Treasury.json"),
            contracts.join("out/DeployRestaking.s.sol/DeployRestaking.json"),
        ] {
            if !needed.exists() {
                skip(format_args!("there is no {} (`make contracts` makes it)", needed.display()));
                return None;
            }
        }
        anvil::program()?;
        program_of("quorate-cli", "quorate")?;
        let folder = tempfile::tempdir().unwrap();
        for name in ["contracts", "examples"] {
            symlink(checkout().join(name), folder.path().join(name)).unwrap();
        }
        Some(Self(folder))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs a script of bash. What it left in the background is ended with it.
    pub(crate) fn bash(&self, script: &str) -> Transcript {
        let others = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([programs()].into_iter().chain(env::split_paths(&others))).unwrap();
        // Not pipes, which what runs in the background would keep open.
        let log = tempfile::NamedTempFile::new().unwrap();
        let out = log.reopen().unwrap();
        let mut command = Command::new("bash");
        command.args(["-c", &format!("set -euo pipefail\n{script}")]).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("PATH", path).env_remove("QUORATE_CHAIN_KEY").stderr(out.try_clone().unwrap()).stdout(out);
        let mut bash = Running::start(command.process_group(0));
        let code = bash.ended_within(MOST);
        bash.end_group();
        Transcript { code, out: fs::read_to_string(log.path()).unwrap() }
    }
}

impl Transcript {
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.out);
        self
    }

    pub(crate) fn says(&self, words: &[&str]) {
        words.iter().for_each(|word| assert!(self.out.contains(word), "{word:?} is not in:\n{}", self.out));
    }
}
