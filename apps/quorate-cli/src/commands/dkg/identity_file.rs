//! A member's identity, and beside it the private state of each ceremony that the member takes part in.

use std::{
    fs::{File, TryLockError},
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use quorate::{Bls12381Suite, Options};
use quorate_host::{
    exit::Failure,
    file::{flush_folder_of, folder_of},
};
use quorate_threshold::{
    Index,
    dkg::{Ceremony, CeremonyDigest, CeremonyError, JoinError, Participant, ParticipantIdentity},
};

use crate::{
    commands::{
        print,
        unlock::{read_secret_bytes, warn},
    },
    secrets::secret_file::{self, SecretFile},
};

/// A file that was read. While it is held, no other run with the same identity goes on.
pub(super) struct IdentityFile {
    path: PathBuf,
    pub(super) identity: ParticipantIdentity,
    _lock: Option<File>,
}

/// What a private state opens as: `None` for a ceremony in another group.
type Opened<S> = Result<Option<Participant<S>>, Failure>;

impl IdentityFile {
    /// Reads a file, and waits until no other run uses it: two runs could say different things in the same round.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let json = read_secret_bytes(path)?;
        let identity = ParticipantIdentity::from_json(&json).map_err(|error| {
            Failure::usage(error).context(format!(
                "{name} is not an identity; give the file NAME.identity.json that `quorate dkg identity` wrote"
            ))
        })?;
        Ok(Self { path: path.to_owned(), identity, _lock: lock(path, &name)? })
    }

    /// The file of the identity.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What the files beside the identity begin with.
    fn beside(&self, name: &str) -> PathBuf {
        self.path.with_file_name(name)
    }

    /// Where the private state of a ceremony is kept.
    pub(super) fn state_path(&self, ceremony: CeremonyDigest) -> PathBuf {
        self.beside(&format!("{}.{ceremony}.state.json", self.identity.name()))
    }

    /// Where the key share of a ceremony is written, if the user names no other file.
    pub(super) fn share_path(&self, ceremony: CeremonyDigest) -> PathBuf {
        let ceremony = ceremony.to_string();
        self.beside(&format!("{}.share-{}.json", self.identity.name(), &ceremony[..8]))
    }

    /// The same of each of several key shares.
    pub(super) fn share_paths(&self, ceremony: CeremonyDigest, indices: &[Index]) -> Vec<PathBuf> {
        let id = ceremony.to_string();
        match indices {
            [] | [_] => vec![self.share_path(ceremony)],
            several => several
                .iter()
                .map(|index| self.beside(&format!("{}.share-{}-{index}.json", self.identity.name(), &id[..8])))
                .collect(),
        }
    }

    /// Where the copy of what is published in a ceremony in one round is kept.
    pub(super) fn transcript_path(&self, ceremony: CeremonyDigest) -> PathBuf {
        self.beside(&format!("{}.{ceremony}.transcript", self.identity.name()))
    }

    /// The participant as it was after its last step in a ceremony, if it has made one.
    pub(super) fn participant<S: Bls12381Suite>(
        &self,
        ceremony: &Ceremony<S>,
    ) -> Result<Option<Participant<S>>, Failure> {
        let path = self.state_path(ceremony.id());
        match path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            _ => {}
        }
        // A command that was killed may have renamed the state and not flushed the folder. Its message leaves now.
        flush_folder_of(&path)
            .map_err(|error| Failure::io(error).context(format!("cannot flush {}", path.display())))?;
        let SecretFile { contents, warning } = secret_file::read_own(&path)?;
        warn(warning);
        let participant =
            Participant::from_json(&contents, ceremony.clone(), self.identity.clone(), Options::default());
        participant.map(Some).map_err(|error| {
            Failure::usage(error).context(format!(
                "{} is not the private state of {} in this ceremony; restore it from a backup that is not older than your \
                 last message",
                path.display(),
                self.identity.name()
            ))
        })
    }

    /// The participants of all private states that are beside the identity, in the order of the files. Each ceremony is the one that
    /// its state describes.
    pub(super) fn participants<S: Bls12381Suite>(&self) -> Vec<(PathBuf, Opened<S>)> {
        let begin = format!("{}.", self.identity.name());
        // Another member, who is called NAME.SOMETHING, may have its files here.
        let is_id = |id: &str| id.len() == 64 && id.bytes().all(|digit| digit.is_ascii_hexdigit());
        let is_state = |name: &String| {
            name.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(".state.json")).is_some_and(is_id)
        };
        let entries = std::fs::read_dir(folder_of(&self.path)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<_> = names.filter(is_state).collect();
        names.sort();
        let open = |path: &Path| {
            let contents = secret_file::read_own(path)?.contents;
            match Participant::from_json_alone(&contents, self.identity.clone(), Options::default()) {
                Ok(participant) => Ok(Some(participant)),
                Err(JoinError::Description(CeremonyError::Suite(_))) => Ok(None),
                Err(error) => Err(Failure::usage(error)),
            }
        };
        let paths = names.iter().map(|name| self.beside(name));
        paths.map(|path| (path.clone(), open(&path))).collect()
    }

    /// Writes the state, in one step. The old one survives a full disk and Ctrl-C. When the new one is there, the old one is overwritten:
    /// `quorate dkg forget` finds the last one alone, and each of them holds the share that is to be forgotten.
    pub(super) fn save<S: Bls12381Suite>(&self, participant: &Participant<S>) -> Result<(), Failure> {
        let path = self.state_path(participant.ceremony().id());
        if let Some(error) = secret_file::replace(&path, participant.to_json().as_bytes())? {
            print::note(format_args!(
                "warning: the private state that {} had before is replaced and could not be overwritten, so it may still be on the \
                 disk: {error}",
                path.display()
            ));
        }
        Ok(())
    }
}

/// Locks the file of an identity. Some file systems have no locks.
fn lock(path: &Path, name: &str) -> Result<Option<File>, Failure> {
    let cannot = |error| Failure::io(anyhow!(std::io::Error::from(error)).context(format!("cannot lock {name}")));
    let file = File::open(path).map_err(|error| cannot(TryLockError::Error(error)))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            print::note(format_args!("waiting for another run with {name} to end"));
            file.lock().map_err(|error| cannot(TryLockError::Error(error)))?;
            Ok(Some(file))
        }
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(cannot(error)),
    }
}
