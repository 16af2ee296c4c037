//! What still makes a key after it was shared anew: files of a member that hold its old share.
//!
//! They are files of the share, and private states: of the ceremony that made the share (`finish` writes it from there), of the
//! one that shared the key anew, in which it was dealt, and of any other in which the member dealt it or got it back: recoveries,
//! and ceremonies that failed. A state says of which key it holds a share, so all that stand beside the identity are opened.
//! Shares from before the previous key was shared anew itself make the same key, so they count, too.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use quorate::{Backend, Bls12381Suite};
use quorate_host::{exit::Failure, file::folder_of};
use quorate_threshold::{
    Index, SharedKey,
    dkg::{Ceremony, CeremonyPurpose, MemberNumber, Participant},
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

/// A key from before it was shared anew, and who dealt which of its shares then.
pub(super) struct OldKey<S: Bls12381Suite> {
    pub(super) key: SharedKey<S>,
    /// The shares that this member dealt; none if it did not deal.
    own: Vec<Index>,
    /// Those that the others dealt.
    others: Vec<Index>,
}

/// What stands beside an identity.
pub(super) struct Beside<S: Bls12381Suite> {
    /// The files with an old share, without the state of the ceremony that shared the key anew.
    pub(super) old: Vec<Remains>,
    /// Shares of the same key that are not known to be old ones of this member.
    shares: Vec<(PathBuf, ShareFile)>,
    /// States that cannot be opened.
    unopened: Vec<PathBuf>,
    /// What the old shares are shares of: the previous key, and those from before it.
    pub(super) keys: Vec<OldKey<S>>,
}

/// The key that a ceremony shares anew, if it does.
fn shared_anew<S: Bls12381Suite>(ceremony: &Ceremony<S>) -> Option<&SharedKey<S>> {
    match ceremony.purpose() {
        CeremonyPurpose::Reshare(previous) | CeremonyPurpose::ReshareInOneRound(previous) => Some(previous),
        _ => None,
    }
}

impl<S: Bls12381Suite> OldKey<S> {
    /// The key that a ceremony shares anew, if it does, as one of its members has it.
    pub(super) fn of(ceremony: &Ceremony<S>, member: MemberNumber) -> Option<Self> {
        let key = shared_anew(ceremony)?.clone();
        let others = ceremony.dealers().filter(|dealer| *dealer != member);
        let others = others.flat_map(|dealer| ceremony.previous_shares(dealer)).collect();
        Some(Self { key, own: ceremony.previous_shares(member).collect(), others })
    }

    /// Whether a file has this member's share of the key.
    fn is_in(&self, share: &ShareFile) -> bool {
        has_share_of(share, &self.key) && self.is_own(share)
    }

    /// Whose share it is cannot be told of a member who did not deal, unless another one dealt it.
    fn is_own(&self, share: &ShareFile) -> bool {
        let is_among = |indices: &[Index]| indices.iter().any(|index| u64::from(index.number()) == share.index());
        if self.own.is_empty() { !is_among(&self.others) } else { is_among(&self.own) }
    }
}

impl<S: Bls12381Suite> Beside<S> {
    /// Opens what stands beside the identity of a member.
    pub(super) fn look(session: &Session<S>, previous: OldKey<S>) -> Self {
        let own = session.identity.state_path(session.ceremony.id());
        let (mut states, mut unopened) = (Vec::new(), Vec::new());
        for (path, participant) in session.identity.participants::<S>() {
            match participant {
                _ if path == own => {}
                Ok(participant) => states.extend(participant.map(|participant| (path, participant))),
                Err(_) => unopened.push(path),
            }
        }
        let mut keys = vec![previous];
        let mut old_states: Vec<(PathBuf, Participant<S>)> = Vec::new();
        // The state of a refresh names the key before it, of which further states may hold shares.
        loop {
            let holds_old =
                |(_, state): &mut (PathBuf, Participant<S>)| keys.iter().any(|old| state.holds_share_of(&old.key));
            let found: Vec<_> = states.extract_if(.., holds_old).collect();
            if found.is_empty() {
                break;
            }
            for (_, state) in &found {
                if let Some(before) = OldKey::of(state.ceremony(), state.member())
                    && keys.iter().all(|old| old.key != before.key)
                {
                    keys.push(before);
                }
            }
            old_states.extend(found);
        }
        let (mut old, mut shares) = (Vec::new(), Vec::new());
        for path in share_files(session) {
            let Ok(share) = read(&path) else { continue };
            if keys.iter().any(|old| old.is_in(&share)) {
                old.push(Remains { path, what: OLD_SHARE });
            } else if is_of_public_key(&share, &keys[0].key) {
                shares.push((path, share));
            }
        }
        old_states.sort_by(|(one, _), (other, _)| one.cmp(other));
        old.extend(old_states.into_iter().map(|(path, state)| {
            let has_ended = keys.iter().any(|old| has_made(&state, &old.key));
            Remains { path, what: if has_ended { OLD_STATE } else { DEALT_STATE } }
        }));
        Self { old, shares, unopened, keys }
    }

    /// Says of which files nobody knows whether they hold an old share. `key` is the key as it was shared anew.
    pub(super) fn say_what_is_unknown(&self, key: &SharedKey<S>) {
        for (path, share) in self.shares.iter().filter(|(_, share)| !has_share_of(share, key)) {
            let path = path.display();
            words::say(&match self.keys.iter().any(|old| has_share_of(share, &old.key)) {
                true => format!(
                    "warning: {path} is the old share {}, which is another member's: see that it is deleted",
                    share.index()
                ),
                false => format!(
                    "warning: {path} is a share of the same key, and nothing here says whether it is older or newer than this \
                     ceremony: if it is older, delete it yourself"
                ),
            });
        }
        for path in &self.unopened {
            words::say(&format!(
                "warning: {} cannot be opened with this identity, and may hold an old share: find out, and delete it yourself",
                path.display()
            ));
        }
    }
}

/// Says what is to be deleted after a key was shared anew, as far as it stands beside the identity, and by which command. `key` is
/// the key as it was shared anew.
pub(super) fn say_what_to_delete<S: Bls12381Suite>(session: &Session<S>, key: &SharedKey<S>) {
    let Some(previous) = OldKey::of(&session.ceremony, session.number) else { return };
    let beside = Beside::look(session, previous);
    let own = holds_dealt(session).then(|| own_state(session));
    // A new member has nothing from before.
    if session.deals() || !beside.old.is_empty() {
        let (compared, digest) = match session.ceremony.is_one_round() {
            true => (" and compared the digest", " --digest DIGEST"),
            false => ("", ""),
        };
        let files: Vec<_> = beside.old.iter().chain(&own).collect();
        let list = if files.is_empty() { "" } else { " These files are yours:" };
        words::say(&format!(
            "When all members have finished{compared}, delete what still makes the key without the new shares.{list}"
        ));
        for Remains { path, what } in files {
            print::note(format_args!("  {}, {what}", path.display()));
        }
        let (text, old) = match beside.old.is_empty() {
            true => (
                "No old share of yours stands beside this identity. If you have not deleted it, it stands elsewhere, such as beside the \
                 identity that you had then. This command deletes it, where FILE is its file, with --share for each:",
                "--share FILE",
            ),
            false => (
                "This command looks into them and deletes them, where OLD_FOLDER is that of the ceremony that made your old share; \
                 without such a ceremony, name the old share with --share FILE in the place of --previous, and an old share in another \
                 place with --share as well:",
                "--previous OLD_FOLDER",
            ),
        };
        words::say(text);
        print::note(format_args!("  quorate dkg forget {} {old}{digest}", session.folder_and_identity()));
    }
    beside.say_what_is_unknown(key);
}

/// Whether the state of this ceremony holds an old share of this member. In one round no state holds a share.
pub(super) fn holds_dealt<S: Bls12381Suite>(session: &Session<S>) -> bool {
    session.deals() && !session.ceremony.is_one_round()
}

/// The state of this ceremony.
pub(super) fn own_state<S: Bls12381Suite>(session: &Session<S>) -> Remains {
    Remains { path: session.identity.state_path(session.ceremony.id()), what: OWN_STATE }
}

/// The file of this member's share of an old key. Everything else is refused.
pub(super) fn old_share<S: Bls12381Suite>(path: &Path, keys: &[OldKey<S>]) -> std::result::Result<Remains, Failure> {
    let share = read(path)?;
    let Some(old) = keys.iter().find(|old| has_share_of(&share, &old.key)) else {
        return Err(refused(&format!("{} is not a share of the key from before it was shared anew", path.display())));
    };
    if !old.is_own(&share) {
        let own: Vec<_> = old.own.iter().map(ToString::to_string).collect();
        let yours = match own.len() {
            0 => "you dealt none".to_owned(),
            1 => format!("you dealt share {}", own[0]),
            _ => format!("you dealt the shares {}", words::listed(&own)),
        };
        return Err(refused(&format!(
            "{} is share {} of the key from before, which is another member's: {yours}",
            path.display(),
            share.index()
        )));
    }
    Ok(Remains { path: path.to_owned(), what: OLD_SHARE })
}

/// Why nothing is deleted.
pub(super) fn refused(reason: &str) -> Failure {
    Failure::usage(anyhow!("{reason}; nothing was deleted"))
}

/// Whether a ceremony made a key, in a state that holds the member's share. A recovery makes none.
fn has_made<S: Bls12381Suite>(state: &Participant<S>, key: &SharedKey<S>) -> bool {
    state.ceremony().lost_member().is_none()
        && matches!(state.end(), Some(Ok(outcome)) if outcome.shared_key == *key && outcome.key_share.is_some())
}

fn is_of_public_key<S: Bls12381Suite>(share: &ShareFile, key: &SharedKey<S>) -> bool {
    share.suite() == key.suite().any() && share.public_key() == key.public_key().to_bytes().as_ref()
}

/// Whether a file has a share that a key commits to.
fn has_share_of<S: Bls12381Suite>(share: &ShareFile, key: &SharedKey<S>) -> bool {
    let index = key.committee().index(share.index());
    let verification_key = index.ok().and_then(|index| key.verification_key(index, Backend::auto()).ok());
    is_of_public_key(share, key)
        && verification_key.is_some_and(|key| share.verification_key() == key.to_bytes().as_ref())
}

/// The files beside the identity that have the names of this member's shares.
fn share_files<S: Bls12381Suite>(session: &Session<S>) -> Vec<PathBuf> {
    let folder = folder_of(session.identity.path());
    let begin = format!("{}.share-", session.identity.identity.name());
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| name.starts_with(&begin) && name.ends_with(".json")).collect();
    names.sort();
    names.iter().map(|name| session.identity.path().with_file_name(name)).collect()
}

fn read(path: &Path) -> std::result::Result<ShareFile, Failure> {
    let contents = secret_file::read(path)?.contents;
    ShareFile::parse(&contents).map_err(|error| Failure::from(error).context(path.display().to_string()))
}

const OLD_SHARE: &str = "your share from before";
pub(super) const OLD_STATE: &str = "the private state from which `quorate dkg finish` would write an old share again";
const DEALT_STATE: &str = "the private state of another ceremony, which holds an old share";
const OWN_STATE: &str = "the private state of this ceremony, in which your old share was dealt";
