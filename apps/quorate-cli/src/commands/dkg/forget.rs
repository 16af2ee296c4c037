//! `quorate dkg forget`: deletes the secrets that a key shared anew has made useless, and that still make the key.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use quorate::Bls12381Suite;
use quorate_host::{
    exit::{Exit, Failure, Result},
    file::{folder_of, is_unfinished},
};
use quorate_threshold::{KeyShare, SharedKey};

use super::{
    combine::{combine, own_share},
    finish::{is_share_there, is_shared_key_there},
    folder::{CeremonyFile, Problems},
    remains::{OLD_STATE, OWN_STATE, Remains, old_share, refused, shared_anew},
    session::{Session, SessionArguments, Stage},
    words,
};
use crate::{
    commands::{print, suite::InBls12381},
    secrets::secret_file,
};

/// Delete your old share and the private states that hold it, after a key was shared anew
///
/// FOLDER is that of the ceremony that shared the key anew (`quorate dkg reshare` or `refresh`). Run it when all members have
/// finished that ceremony. It deletes your share of before, the private state of the ceremony that made it, and the private
/// state of this ceremony, in which your old share was dealt. It deletes nothing unless you have finished this ceremony with a
/// confirmed key and your new share is there, and it looks into each file first. Files are overwritten, flushed and deleted.
/// Snapshots, backups and flash memory can still hold what was in them. Exit code: 0 done, 2 usage, or nothing may be deleted
/// yet, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    session: SessionArguments,

    /// Folder of the ceremony that made your old share. Its private state is deleted, and the share beside the identity
    #[arg(long, value_name = "OLD_FOLDER", required_unless_present = "shares")]
    previous: Option<PathBuf>,

    /// An old share with another name, or of `quorate threshold split`; repeat it for each
    #[arg(long = "share", value_name = "FILE")]
    shares: Vec<PathBuf>,

    /// Your new share, if `quorate dkg finish` wrote it to another file with --out
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let file = CeremonyFile::read(&self.session.folder)?;
        file.suite().run(Forget { arguments: self, file })
    }
}

struct Forget {
    arguments: Arguments,
    file: CeremonyFile,
}

impl InBls12381 for Forget {
    fn run_in<S: Bls12381Suite>(self, _: S) -> Result {
        let Self { arguments, file } = self;
        let session = Session::<S>::open(&file, &arguments.session)?;
        let Some(previous) = shared_anew(&session.ceremony) else {
            return Err(Failure::usage(anyhow!(
                "the ceremony in {} does not share a key anew, so no share is useless after it; nothing was deleted",
                file.folder.display()
            )));
        };
        let mut old = Vec::new();
        for path in &arguments.shares {
            old.push(old_share(path, previous)?);
        }
        let mut was_one_round = false;
        if let Some(folder) = &arguments.previous {
            let of_previous;
            (of_previous, was_one_round) = of_ceremony(&session, folder, previous)?;
            old.extend(of_previous);
        }
        let state = session.identity.state_path(session.ceremony.id());
        if !is_there(&state) && old.is_empty() {
            print::note("nothing is left to delete");
            say_what_stays(was_one_round, &session);
            return Ok(Exit::Success);
        }
        let Outcome { key, share, command } = outcome(&session)?;
        if let Some(share) = &share {
            let default = session.identity.share_path(session.ceremony.id());
            let path = arguments.out.as_ref().unwrap_or(&default);
            if !is_share_there(path, file.suite(), key.public_key().to_bytes().as_ref(), share)? {
                return Err(refused(&format!(
                    "{} is not there, which would be your new share; run: {command}, or name the file with --out",
                    path.display()
                )));
            }
        }
        let path = session.folder.shared_key_path();
        if !is_shared_key_there(&path, &key)? {
            return Err(refused(&format!("{} is not there; run: {command}", path.display())));
        }
        // The state of this ceremony is the last: without it, nobody could see that the others may be deleted.
        old.extend(is_there(&state).then_some(Remains { path: state, what: OWN_STATE }));
        let unfinished: Vec<_> = old.iter().flat_map(|Remains { path, .. }| unfinished(path)).collect();
        old.splice(0..0, unfinished);
        for Remains { path, what } in &old {
            secret_file::destroy(path)?;
            print::note(format_args!("deleted {}, {what}", path.display()));
        }
        print::note("backups and snapshots may still hold these files: delete them there, too");
        say_what_stays(was_one_round, &session);
        Ok(Exit::Success)
    }
}

/// Warns of what no deletion of shares takes away: what was encrypted to an identity, it can decrypt again.
fn say_what_stays<S: Bls12381Suite>(was_one_round: bool, session: &Session<S>) {
    if was_one_round {
        let name = session.identity.identity.name();
        words::say(&format!(
            "warning: the old ceremony had one round, and its transcripts still give the old share to whoever has the identity of {name}. \
             Delete the identity once no ceremony needs it, and take part in the next one with a new identity."
        ));
    }
}

/// What a ceremony ended with for a member.
struct Outcome<S: Bls12381Suite> {
    key: SharedKey<S>,
    share: Option<KeyShare<S>>,
    /// The command that writes both.
    command: String,
}

fn outcome<S: Bls12381Suite>(session: &Session<S>) -> std::result::Result<Outcome<S>, Failure> {
    let folder = &session.folder;
    let not_ended = |command: &str| {
        refused(&format!(
            "the ceremony in {} has not ended with a confirmed key for you; first run: {command}",
            folder.display()
        ))
    };
    if session.ceremony.is_one_round() {
        let command = format!("quorate dkg combine {}", session.folder_and_identity());
        let combined = combine(folder, &session.ceremony, &[], &mut Problems::default())?;
        let combined = combined.map_err(|_| not_ended(&command))?;
        return Ok(Outcome { share: own_share(session, &combined)?, key: combined.key, command });
    }
    let command = session.command(Stage::Finish);
    let Some(participant) = session.resume()? else {
        return Err(refused(&format!("you have not taken part in the ceremony in {}", folder.display())));
    };
    let Some(Ok(outcome)) = participant.end() else { return Err(not_ended(&command)) };
    Ok(Outcome { key: outcome.shared_key.clone(), share: outcome.key_share.clone(), command })
}

/// What is beside the identity of the ceremony that made the previous key, and whether that ceremony had one round.
fn of_ceremony<S: Bls12381Suite>(
    session: &Session<S>,
    folder: &Path,
    previous: &SharedKey<S>,
) -> std::result::Result<(Vec<Remains>, bool), Failure> {
    let file = CeremonyFile::read(folder)?;
    let other = || {
        refused(&format!(
            "the ceremony in {} did not make the key that was shared anew in {}",
            folder.display(),
            session.folder.display()
        ))
    };
    if file.suite().suite.name() != session.ceremony.suite().name() {
        return Err(other());
    }
    let ceremony = file.ceremony::<S>()?;
    let mut found = Vec::new();
    let share = session.identity.share_path(ceremony.id());
    if is_there(&share) {
        found.push(old_share(&share, previous)?);
    }
    if let Some(participant) = session.identity.participant(&ceremony)? {
        match participant.end() {
            Some(Ok(outcome)) if outcome.shared_key == *previous => {
                let path = session.identity.state_path(ceremony.id());
                found.push(Remains { path, what: OLD_STATE });
            }
            _ => return Err(other()),
        }
    }
    Ok((found, ceremony.is_one_round()))
}

/// What a program that was killed while it wrote a file has left beside it.
fn unfinished(path: &Path) -> Vec<Remains> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let entries = std::fs::read_dir(folder_of(path)).into_iter().flatten().flatten();
    let is_of = |file: &str| file.starts_with(&format!(".{name}.")) && is_unfinished(file.as_ref());
    let found = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_of));
    found
        .map(|entry| Remains { path: entry.path(), what: "which was left when it was not written to the end" })
        .collect()
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate dkg forget <FOLDER> --identity <FILE> --previous <OLD_FOLDER>
       quorate dkg forget <FOLDER> --identity <FILE> --share <FILE>";

const EXAMPLES: &str = "\
Examples:
  quorate dkg forget refresh --identity alice.identity.json \\
      --previous ceremony
  quorate dkg forget refresh --identity alice.identity.json \\
      --share shares/share-1.json";
