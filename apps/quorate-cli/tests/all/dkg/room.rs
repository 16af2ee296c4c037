//! How the binary is run, as which member.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{ChildStderr, Command, Stdio},
    time::Duration,
};

use quorate_lab::run::{Ran, Run as _, Running, command};
use serde_json::Value;
use tempfile::TempDir;

/// The commands of a member, in their order.
pub(crate) const STEPS: [&str; 4] = ["deal", "receive", "complain", "finish"];

/// The files below a folder, by path.
pub(crate) type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// A folder with a sub-folder for each member.
pub(crate) struct Room(TempDir);

impl Room {
    /// A folder whose members have identities.
    pub(crate) fn new(names: &[&str]) -> Self {
        let room = Self(tempfile::tempdir().unwrap());
        for name in names {
            room.identity(name);
        }
        room
    }

    /// Members of whom any two sign, who have run all commands up to one.
    pub(crate) fn after(last: &str, names: &[&str]) -> Self {
        let room = Self::new(names);
        room.init("c", &["--suite", "eth2", "-t", "2"], names).exits(0);
        let place = STEPS.iter().position(|step| *step == last).unwrap();
        STEPS[..=place].iter().for_each(|step| room.all(step, "c", names));
        room
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn identity(&self, name: &str) {
        fs::create_dir_all(self.path(name)).unwrap();
        self.run(&["dkg", "identity", name, "--out", name]).exits(0);
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = command("quorate");
        command.current_dir(self.0.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.command().args(arguments).ran()
    }

    pub(crate) fn init(&self, folder: &str, flags: &[&str], names: &[&str]) -> Ran {
        let files = member_files(names);
        let files: Vec<_> = files.iter().map(String::as_str).collect();
        self.run(&[&["dkg", "init", folder], flags, &files].concat())
    }

    /// A command of a member.
    pub(crate) fn step(&self, step: &str, folder: &str, name: &str, flags: &[&str]) -> Ran {
        let identity = format!("{name}/{name}.identity.json");
        self.run(&[&["dkg", step, folder, "--identity", &identity], flags].concat())
    }

    /// `dkg run` of a member, which waits for the others and looks often. It is killed when it is dropped.
    pub(crate) fn starts(&self, folder: &str, name: &str, flags: &[&str]) -> Running {
        let (identity, id) = (format!("{name}/{name}.identity.json"), self.id(folder));
        let mut command = self.command();
        command.args(["dkg", "run", folder, "--identity", &identity, "--id", &id, "--wait", "--every", "0.05s"]);
        Running::start(command.args(flags).stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// A command of several members, each of whom is done with it.
    #[track_caller]
    pub(crate) fn all(&self, step: &str, folder: &str, names: &[&str]) {
        for name in names {
            self.step(step, folder, name, &[]).exits(0);
        }
    }

    /// All commands of members who do not wait for each other.
    #[track_caller]
    pub(crate) fn ceremony(&self, folder: &str, names: &[&str]) {
        for step in STEPS {
            self.all(step, folder, names);
        }
    }

    pub(crate) fn id(&self, folder: &str) -> String {
        self.run(&["dkg", "status", folder, "--json"]).exits(0).object()["ceremony"].as_str().unwrap().to_owned()
    }

    /// Where a member's private state of a ceremony stands.
    pub(crate) fn state(&self, folder: &str, name: &str) -> PathBuf {
        self.path(&format!("{name}/{name}.{}.state.json", self.id(folder)))
    }

    /// The share of a ceremony, beside its owner's identity.
    pub(crate) fn share(&self, folder: &str, name: &str) -> String {
        format!("{name}/{name}.share-{}.json", &self.id(folder)[..8])
    }

    pub(crate) fn public_key(&self, folder: &str) -> String {
        let key: Value = serde_json::from_slice(&self.read(&format!("{folder}/shared-key.json"))).unwrap();
        key["public_key"].as_str().unwrap().to_owned()
    }

    /// Signs with shares, and verifies what they make under the shared key of a folder.
    #[track_caller]
    pub(crate) fn assert_signs(&self, folder: &str, shares: &[String]) {
        let sign = |share: &String| {
            self.run(&["threshold", "sign", "--share", share, "--message", &"2a".repeat(32)]).exits(0).out
        };
        let lines: String = shares.iter().map(sign).collect();
        self.write("signed.jsonl", lines);
        let key = format!("{folder}/shared-key.json");
        let claim = self.run(&["threshold", "combine", "--shared-key", &key, "signed.jsonl"]).exits(0).out;
        self.write("claim.jsonl", claim);
        self.run(&["verify", "claim.jsonl"]).exits(0);
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// All files.
    pub(crate) fn tree(&self) -> Tree {
        fn walk(folder: &Path, tree: &mut Tree) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, tree);
                } else if path.is_file() {
                    tree.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        let mut tree = Tree::new();
        walk(self.0.path(), &mut tree);
        tree
    }

    /// Checks that the files are what they were, and names those that are not.
    #[track_caller]
    pub(crate) fn assert_is(&self, before: &Tree, what: &str) {
        let after = self.tree();
        let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
        let differing: Vec<_> = before.keys().chain(after.keys()).filter(differs).collect();
        assert!(differing.is_empty(), "{what}: {differing:?} differ");
    }

    /// Makes the files what they were.
    pub(crate) fn restore(&self, tree: &Tree) {
        for path in self.tree().keys().filter(|path| !tree.contains_key(*path)) {
            fs::remove_file(path).unwrap();
        }
        for (path, content) in tree {
            fs::write(path, content).unwrap();
        }
    }
}

/// For so long at least, a run that waits does not name a file that is not whole. A busy machine may write the rest later.
pub(crate) const UNNAMED: Duration = Duration::from_secs(5);

/// A run that waits for what the others write.
pub(crate) struct Waiting {
    pub(crate) run: Running,
    stderr: BufReader<ChildStderr>,
    err: String,
}

impl Waiting {
    /// Reads what a run says until it has looked once, and found that something is missing.
    #[track_caller]
    pub(crate) fn of(mut run: Running) -> Self {
        let (mut stderr, mut err) = (BufReader::new(run.child.stderr.take().unwrap()), String::new());
        while !err.contains("looking into") {
            assert!(stderr.read_line(&mut err).unwrap() > 0, "{err}");
        }
        Self { run, stderr, err }
    }

    /// Waits for the end of the run, with all that it said.
    #[track_caller]
    pub(crate) fn ends(mut self) -> Ran {
        self.stderr.read_to_string(&mut self.err).unwrap();
        Ran { err: self.err, ..self.run.ends() }
    }
}

/// After which time a program is killed next, if it was not done after this one: 7 ms later, and an eighth later if that is more.
pub(crate) fn later(delay: Duration) -> Duration {
    delay + (delay / 8).max(Duration::from_millis(7))
}

pub(crate) fn member_files(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{name}/{name}.member.json")).collect()
}
