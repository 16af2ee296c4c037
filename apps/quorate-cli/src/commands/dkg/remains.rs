//! What still makes a key after it was shared anew: files of a member that hold its old share.
//!
//! There are three: the share's own file, the private state of the ceremony that made it (`finish` writes the share from it),
//! and the private state of the ceremony that shared the key anew, in which it was dealt.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use quorate::{Backend, Bls12381Suite};
use quorate_host::{exit::Failure, file::folder_of};
use quorate_threshold::{
    SharedKey,
    dkg::{Ceremony, CeremonyPurpose},
};

use super::{session::Session, words};
use crate::{
    commands::print,
    secrets::{secret_file, share_file::ShareFile},
};

/// A file with a secret that is of no use any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Remains {
    pub(super) path: PathBuf,
    pub(super) what: &'static str,
}

/// The key that a ceremony shares anew, if it does.
pub(super) fn shared_anew<S: Bls12381Suite>(ceremony: &Ceremony<S>) -> Option<&SharedKey<S>> {
    match ceremony.purpose() {
        CeremonyPurpose::Reshare(previous) | CeremonyPurpose::ReshareInOneRound(previous) => Some(previous),
        _ => None,
    }
}

/// Says what is to be deleted after a key was shared anew, as far as it stands beside the identity, and by which command.
pub(super) fn say_what_to_delete<S: Bls12381Suite>(session: &Session<S>) {
    let Some(previous) = shared_anew(&session.ceremony) else { return };
    words::say(
        "When all members have finished, delete what still makes the key without the new shares. These files are yours:",
    );
    for Remains { path, what } in beside_identity(session, previous) {
        print::note(format_args!("  {}, {what}", path.display()));
    }
    words::say(
        "This command looks into them and deletes them, where OLD_FOLDER is that of the ceremony that made your old share; \
         without such a ceremony, name the old share with --share FILE in the place of --previous:",
    );
    print::note(format_args!("  quorate dkg forget {} --previous OLD_FOLDER", session.folder_and_identity()));
}

/// The old shares that have the names of such files, the states that have theirs, and the state of this ceremony.
fn beside_identity<S: Bls12381Suite>(session: &Session<S>, previous: &SharedKey<S>) -> Vec<Remains> {
    let (name, own) = (session.identity.identity.name(), session.identity.state_path(session.ceremony.id()));
    let folder = folder_of(&own);
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let (mut found, mut ids) = (Vec::new(), Vec::new());
    for file in &names {
        let id = file.strip_prefix(&format!("{name}.share-")).and_then(|rest| rest.strip_suffix(".json"));
        if let (Some(id), Ok(share)) = (id, old_share(&folder.join(file), previous)) {
            ids.push(id.to_owned());
            found.push(share);
        }
    }
    for file in &names {
        let id = file.strip_prefix(&format!("{name}.")).and_then(|rest| rest.strip_suffix(".state.json"));
        if id.is_some_and(|id| ids.iter().any(|start| id.starts_with(start))) {
            found.push(Remains { path: folder.join(file), what: OLD_STATE });
        }
    }
    // In one round no state holds a share.
    found.extend((!session.ceremony.is_one_round()).then_some(Remains { path: own, what: OWN_STATE }));
    found
}

/// The file of a share of the previous key. Everything else is refused.
pub(super) fn old_share<S: Bls12381Suite>(
    path: &Path,
    previous: &SharedKey<S>,
) -> std::result::Result<Remains, Failure> {
    let contents = secret_file::read(path)?.contents;
    let share =
        ShareFile::parse(&contents).map_err(|error| Failure::from(error).context(path.display().to_string()))?;
    let index = previous.committee().index(share.index());
    let verification_key = index.ok().and_then(|index| previous.verification_key(index, Backend::auto()).ok());
    let is_old = share.suite() == previous.suite().any()
        && share.public_key() == previous.public_key().to_bytes().as_ref()
        && verification_key.is_some_and(|key| share.verification_key() == key.to_bytes().as_ref());
    if !is_old {
        return Err(refused(&format!("{} is not a share of the key from before it was shared anew", path.display())));
    }
    Ok(Remains { path: path.to_owned(), what: "your share from before" })
}

/// Why nothing is deleted.
pub(super) fn refused(reason: &str) -> Failure {
    Failure::usage(anyhow!("{reason}; nothing was deleted"))
}

pub(super) const OLD_STATE: &str = "the private state from which `quorate dkg finish` would write that share again";
pub(super) const OWN_STATE: &str = "the private state of this ceremony, in which your old share was dealt";
