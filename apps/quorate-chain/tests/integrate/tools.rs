//! The programs of a run, and the folder in which they run.

use std::{
    env, fs,
    os::unix::{fs::symlink, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// A folder that is thrown away, in which `contracts` and `examples` are those of the repository, and the programs are found.
pub(crate) struct Workplace(TempDir);

/// How a command ended, and what it printed, standard error included.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
}

/// How long a run may take.
const MOST: Duration = Duration::from_secs(110);

impl Workplace {
    /// `None` if something is absent that the tests need.
    pub(crate) fn new() -> Option<Self> {
        let contracts = root().join("contracts");
        for needed in [
            contracts.join("node_modules/.bin/anvil"),
            contracts.join("node_modules/@foundry-rs/forge/bin.mjs"),
            contracts.join("out/Treasury.sol/Treasury.json"),
            contracts.join("out/DeployRestaking.s.sol/DeployRestaking.json"),
            programs().join("quorate"),
        ] {
            if !needed.exists() {
                let line = format!("skipped: no {}; `make contracts` and `cargo build` make it", needed.display());
                assert!(env::var("CI").as_deref() != Ok("true"), "{line}, and this is CI");
                println!("{line}");
                return None;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        for name in ["contracts", "examples"] {
            symlink(root().join(name), folder.path().join(name)).unwrap();
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
    pub(crate) fn bash(&self, script: &str) -> Ran {
        let others = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([programs()].into_iter().chain(env::split_paths(&others))).unwrap();
        // Not pipes, which what runs in the background would keep open.
        let log = tempfile::NamedTempFile::new().unwrap();
        let out = log.reopen().unwrap();
        let mut child = Command::new("bash")
            .args(["-c", &format!("set -euo pipefail\n{script}")])
            .current_dir(self.0.path())
            .env("PATH", path)
            .env_remove("QUORATE_CHAIN_KEY")
            .stdin(Stdio::null())
            .stderr(out.try_clone().unwrap())
            .stdout(out)
            .process_group(0)
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if begun.elapsed() > MOST {
                break None;
            }
            sleep(Duration::from_millis(20));
        };
        // The group is that of the child, which began it. It may be empty already.
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-TERM", "--", &group]).stderr(Stdio::null()).status();
        let _ = child.wait();
        Ran { code: status.and_then(|status| status.code()), out: fs::read_to_string(log.path()).unwrap() }
    }
}

impl Ran {
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.out);
        self
    }

    pub(crate) fn says(&self, words: &[&str]) {
        words.iter().for_each(|word| assert!(self.out.contains(word), "{word:?} is not in:\n{}", self.out));
    }
}

/// Where the programs are.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_quorate-chain")).parent().unwrap().to_owned()
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
