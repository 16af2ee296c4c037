//! The folder in which a node keeps what must survive a restart. One node at a time: the folder has a lock.
//!
//! | file | contents |
//! |---|---|
//! | `lock` | locked while a node runs |
//! | `state` | [`Saved`]: written before what depends on it leaves the node |
//! | `tasks.json` | tasks that came over the HTTP interface, as long as their epoch can settle |
//! | `node.toml` | the node's options, as `quorate-node init` was given them |
//! | `token` | what who hands in tasks must show |
//! | `identity` | the peer's key, made by the transport; not an operator's |
//!
//! A file is replaced whole or not at all: the new one is on disk before it gets the name.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use quorate_host::{
    exit::{Ends, Exit},
    file::{self, Existing, FileError, Readers},
    lock_file,
};
use quorate_network::roles::{Saved, SavedError};

use crate::kept_tasks::KeptTasks;

/// The name of the file of options.
pub const OPTIONS: &str = "node.toml";

/// What the node wrote is not too long for it.
const ANY_LENGTH: u64 = u64::MAX - 1;

/// A folder, locked for this process.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    /// Unlocks when it is dropped, and when the process ends in any way.
    _lock: File,
}

/// The folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataFolderError {
    /// Another node has it.
    #[error("{}: another node uses this folder; stop it first, or name another folder with --data", .0.display())]
    InUse(PathBuf),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The folder cannot be used, or a file not be written.
    #[error("{}: {what}: {source}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// What was done.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The saved state is damaged.
    #[error("{}: {source}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// The flaw of its content.
        source: SavedError,
    },
    /// The file of tasks is damaged.
    #[error("{}: this is not a list of tasks ({source}); remove it, and give the tasks again", path.display())]
    Tasks {
        /// The file.
        path: PathBuf,
        /// The flaw of its JSON.
        source: serde_json::Error,
    },
}

impl Ends for DataFolderError {
    fn exit(&self) -> Exit {
        match self {
            Self::InUse(_) => Exit::Negative,
            // No start finds another content.
            Self::State { .. } | Self::Tasks { .. } => Exit::Usage,
            Self::File(error) => error.exit(),
            Self::System { source, .. } => source.exit(),
        }
    }
}

impl DataFolder {
    /// Opens a folder, which is made if it is not there, with mode 0700. What is read from it is on the disk.
    ///
    /// # Errors
    /// [`DataFolderError`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, DataFolderError> {
        let path = path.into();
        let system = |path: &Path, what| {
            let path = path.to_owned();
            move |source| DataFolderError::System { path, what, source }
        };
        file::make_private_folder(&path).map_err(system(&path, "cannot make the folder"))?;
        let name = path.join("lock");
        let Some(lock) = lock_file(&name).map_err(system(&name, "cannot lock"))? else {
            return Err(DataFolderError::InUse(path));
        };
        // A node that was killed may have renamed its last state and not flushed the folder. What depends on it is sent again.
        file::flush_folder_of(&name).map_err(system(&path, "cannot flush"))?;
        Ok(Self { path, _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The saved state; the default if the node never saved.
    ///
    /// # Errors
    /// [`DataFolderError`].
    pub fn state(&self) -> Result<Saved, DataFolderError> {
        let path = self.path.join("state");
        let Some(bytes) = self.read(&path)? else { return Ok(Saved::default()) };
        Saved::from_bytes(&bytes).map_err(|source| DataFolderError::State { path, source })
    }

    /// Writes the saved state. It is on disk when this returns.
    ///
    /// # Errors
    /// [`DataFolderError::System`]; the state of before is still there then.
    pub fn write_state(&self, saved: &Saved) -> Result<(), DataFolderError> {
        self.write("state", &saved.to_bytes())
    }

    /// The tasks that were kept.
    ///
    /// # Errors
    /// [`DataFolderError`].
    pub fn tasks(&self) -> Result<KeptTasks, DataFolderError> {
        let path = self.path.join("tasks.json");
        let Some(bytes) = self.read(&path)? else { return Ok(KeptTasks::default()) };
        serde_json::from_slice(&bytes).map_err(|source| DataFolderError::Tasks { path, source })
    }

    /// Writes the tasks to keep.
    ///
    /// # Errors
    /// [`DataFolderError::System`].
    pub fn write_tasks(&self, tasks: &KeptTasks) -> Result<(), DataFolderError> {
        let text = serde_json::to_vec(tasks).expect("integers and hexadecimal text, whose serialization has no error");
        self.write("tasks.json", &text)
    }

    /// The file of options, which may not be there.
    pub fn options_file(&self) -> PathBuf {
        self.path.join(OPTIONS)
    }

    /// Writes the file of options.
    ///
    /// # Errors
    /// [`DataFolderError::System`].
    pub fn write_options(&self, text: &str) -> Result<(), DataFolderError> {
        self.write(OPTIONS, text.as_bytes())
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, DataFolderError> {
        Ok(file::read_if_there(path, ANY_LENGTH)?)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), DataFolderError> {
        let path = self.path.join(name);
        file::write(&path, Readers::Owner, Existing::Replace, bytes).map_err(|source| DataFolderError::System {
            path: path.clone(),
            what: "cannot write",
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use quorate_evm::alloy_primitives::{B256, Bytes};

    use super::*;

    #[test]
    fn a_folder_has_one_node() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/node");
        let first = DataFolder::open(&path).unwrap();
        let error = DataFolder::open(&path).unwrap_err();
        assert!(matches!(error, DataFolderError::InUse(_)) && error.to_string().contains("--data"), "{error}");
        drop(first);
        DataFolder::open(&path).unwrap();
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::open(folder.path()).unwrap();
        assert_eq!(data.tasks().unwrap(), KeptTasks::default());
        assert_eq!(data.state().unwrap(), Saved::default());
        let mut tasks = KeptTasks::default();
        tasks.add(B256::repeat_byte(7), 3, &Bytes::from_static(b"{}")).unwrap();
        data.write_tasks(&tasks).unwrap();
        data.write_state(&Saved::default()).unwrap();
        assert_eq!(data.tasks().unwrap(), tasks);
        assert_eq!(data.state().unwrap(), Saved::default());
        // Only what the table names is left in the folder.
        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["lock", "state", "tasks.json"]);
    }

    /// Replaced by a file, the state would be lost with the disk to which the link led it.
    #[test]
    fn a_link_in_place_of_a_file_is_refused_and_stays() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let data = DataFolder::open(folder.path()).unwrap();
        let names = ["state", "tasks.json"];
        names.iter().for_each(|name| symlink(elsewhere.path().join(name), folder.path().join(name)).unwrap());
        for (error, name) in [(data.state().unwrap_err(), "/state "), (data.tasks().unwrap_err(), "/tasks.json ")] {
            let told = error.to_string();
            assert!(error.exit() == Exit::Usage && told.contains(name) && told.contains("is a link"), "{told}");
        }
    }

    #[test]
    fn damage_is_told_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::open(folder.path()).unwrap();
        fs::write(folder.path().join("state"), [9, 9]).unwrap();
        fs::write(folder.path().join("tasks.json"), "[").unwrap();
        for (error, name) in [(data.state().unwrap_err(), "/state: "), (data.tasks().unwrap_err(), "/tasks.json: ")] {
            let told = error.to_string();
            assert!(error.exit() == Exit::Usage && told.contains(name) && told.contains("remove it"), "{told}");
        }
    }
}
