//! `quorate dkg forget`: deletes the old shares of a key that was shared anew, because together they still make the key.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use quorate::Bls12381Suite;
use quorate_host::{
    exit::{Exit, Failure, Result},
    file::{folder_of, unfinished_of},
};
use quorate_threshold::{KeyShare, SharedKey};

use super::{
    combine::{combine, own_shares},
    finish::{is_shared_key_there, share_paths, share_there, shared_key_digest},
    folder::{CeremonyFile, Problems},
    remains::{Beside, OLD_STATE, OldKey, Remains, holds_dealt, old_share, own_state, refused},
    session::{Session, SessionArguments, Stage},
    words,
};
use crate::{
    commands::{
        print,
        suite::InBls12381,
        unlock::{PassphraseArguments, ask, public_key_bytes, say_older_form},
        value::{bytes_32, path_to_read},
    },
    secrets::{
        passphrase::PassphrasePurpose,
        secret::Secret,
        secret_file::{self, SecretFileError},
        share_file::{ShareFile, ShareSecret},
    },
};

/// Delete your old share and the private states that hold it, after a key was shared anew
///
/// FOLDER is that of the ceremony that shared the key anew (`quorate dkg reshare` or `refresh`). Run it when all members have
/// finished that ceremony. It opens your shares and private states beside the identity, and deletes those with an old share: your
/// share of before, the state of the ceremony that made it, those of recoveries and failed ceremonies in which you dealt it or got
/// it back, all of these from before an earlier refresh, and at last the state of this ceremony, in which your old share was dealt.
/// It deletes nothing unless you have finished this ceremony with a confirmed key and your new share is there. In one round nobody
/// confirms the key, so it needs --digest there, with what all members compared. A new share in a keystore is opened before, because
/// a damaged one, or one whose passphrase is lost, would be the last copy. Files are overwritten, flushed and deleted; each step
/// of a ceremony overwrote the state before it, unless the program was killed. Snapshots, backups and flash memory can still hold what
/// was in them.
///
/// It leaves identities. The messages or transcripts of the ceremony in which you got your old share give that share again to whoever
/// has the identity with which you took part. Delete that identity, too, when no ceremony needs it. If it is the one with which you
/// take part now, make a new one for the next resharing or refresh. Exit code: 0 done, 2 usage, or nothing may be deleted yet, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    session: SessionArguments,

    /// Folder of the ceremony that made your old share
    #[arg(long, value_name = "OLD_FOLDER", required_unless_present = "shares")]
    previous: Option<PathBuf>,

    /// An old share with another name, or of `quorate threshold split`; repeat it for each
    #[arg(long = "share", value_name = "FILE", value_parser = path_to_read())]
    shares: Vec<PathBuf>,

    /// Your new share, if `quorate dkg finish` wrote it to another file with --out
    #[arg(short, long, value_name = "FILE", value_parser = path_to_read())]
    out: Option<PathBuf>,

    /// For a ceremony in one round: the digest of shared-key.json, as `quorate dkg combine` prints it and all members compared it.
    /// With another one, your new share makes no signature with theirs
    #[arg(long, value_name = "DIGEST", value_parser = bytes_32())]
    digest: Option<[u8; 32]>,

    #[command(flatten)]
    passphrase: PassphraseArguments,
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
        let Some(previous) = OldKey::of(&session.ceremony, session.number) else {
            return Err(Failure::usage(anyhow!(
                "the ceremony in {} does not share a key anew, so no share is useless after it; nothing was deleted",
                file.folder.display()
            )));
        };
        if arguments.digest.is_some() && !session.ceremony.is_one_round() {
            return Err(refused(
                "--digest is for ceremonies in one round, and in this one the members have confirmed the key",
            ));
        }
        let mut beside = Beside::look(&session, previous);
        let mut old = Vec::new();
        for path in &arguments.shares {
            add(&mut old, old_share(path, &beside.keys)?);
        }
        // A new member has had none, and needs no warning.
        let (mut had_share, mut elsewhere) = (session.deals(), None);
        if let Some(folder) = &arguments.previous {
            let found = of_ceremony(&session, folder, &beside.keys[..1])?;
            found.old.into_iter().for_each(|remains| add(&mut old, remains));
            had_share |= found.has_share;
            elsewhere = Some(folder).filter(|_| found.has_share && !found.is_own);
        }
        beside.old.drain(..).for_each(|remains| add(&mut old, remains));
        if let Some(folder) = elsewhere.filter(|_| old.is_empty()) {
            return Err(refused(&format!(
                "in the ceremony in {} you have another identity than {}, and your old share is not beside this one: find both, and name \
                 the share with --share FILE in the place of --previous",
                folder.display(),
                session.identity.path().display()
            )));
        }
        let own = Some(own_state(&session)).filter(|own| holds_dealt(&session) && is_there(&own.path));
        if own.is_none() && old.is_empty() {
            print::note("nothing is left to delete");
            if had_share {
                say_what_stays(&session);
            }
            return Ok(Exit::Success);
        }
        refuse_without_state(&session, &old)?;
        let Outcome { key, shares, command } = outcome(&session)?;
        let mut new = Vec::with_capacity(shares.len());
        for (share, path) in shares.iter().zip(share_paths(arguments.out.as_ref(), &session, &shares)?) {
            let Some(found) = share_there(&path, file.suite(), key.public_key().to_bytes().as_ref(), share)? else {
                return Err(refused(&format!(
                    "{} is not there, which would be your new share; run: {command}, or name the file with --out",
                    path.display()
                )));
            };
            new.push(NewShare { path, file: found, share });
        }
        let path = session.folder.shared_key_path();
        if !is_shared_key_there(&path, &key)? {
            return Err(refused(&format!("{} is not there; run: {command}", path.display())));
        }
        if session.ceremony.is_one_round() {
            refuse_other_sharing(&key, arguments.digest, &path, &command)?;
        }
        // The state of this ceremony is the last: without it, nobody could see that the others may be deleted.
        old.extend(own);
        let unfinished: Vec<_> = old.iter().flat_map(|Remains { path, .. }| unfinished(path)).collect();
        old.splice(0..0, unfinished);
        // Before the first is deleted, so that a link among them leaves all as they are.
        for Remains { path, .. } in &old {
            if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                return Err(SecretFileError::NotRegular { path: path.clone() }.into());
            }
        }
        open_all(new, key.suite(), &arguments.passphrase)?;
        for Remains { path, what } in &old {
            secret_file::destroy(path)?;
            print::note(format_args!("deleted {}, {what}", path.display()));
        }
        print::note("backups and snapshots may still hold these files: delete them there, too");
        beside.say_what_is_unknown(&key);
        say_what_stays(&session);
        Ok(Exit::Success)
    }
}

/// Adds a file, unless it is there by another path: it can be deleted once.
fn add(old: &mut Vec<Remains>, new: Remains) {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if old.iter().all(|known| whole(&known.path) != whole(&new.path)) {
        old.push(new);
    }
}

/// Warns of what no deletion of shares takes away: what was encrypted to an identity, it can decrypt again. Nothing says whether a
/// share was made in no ceremony, by `quorate threshold split`.
fn say_what_stays<S: Bls12381Suite>(session: &Session<S>) {
    let name = session.identity.identity.name();
    words::say(&format!(
        "warning: where a ceremony gave {name} an old share, its messages or transcripts still give that share to whoever has the identity \
         with which {name} took part in it. Delete that identity, with its backups, once no ceremony needs it; if it is {}, take part in \
         the next one with a new identity.",
        session.identity.path().display()
    ));
}

/// Refuses a member who has taken part, and whose state of this ceremony is not there. Nothing else says that it has finished.
fn refuse_without_state<S: Bls12381Suite>(session: &Session<S>, old: &[Remains]) -> std::result::Result<(), Failure> {
    let state = session.identity.state_path(session.ceremony.id());
    if session.ceremony.is_one_round() || is_there(&state) || !session.has_spoken() {
        return Ok(());
    }
    let files: Vec<_> = old.iter().map(|Remains { path, .. }| path.display().to_string()).collect();
    Err(refused(&format!(
        "your private state of this ceremony, {}, is not there, and without it nothing shows that you have finished the ceremony. If \
         you have, and your new share is in a safe place, delete these files with an old share yourself: {}",
        state.display(),
        files.join(", ")
    )))
}

/// Refuses to delete a share before the members have compared the new sharing. Those who counted other transcripts have the same public
/// key, and only the old shares would sign together.
fn refuse_other_sharing<S: Bls12381Suite>(
    key: &SharedKey<S>,
    compared: Option<[u8; 32]>,
    path: &Path,
    command: &str,
) -> std::result::Result<(), Failure> {
    let (found, path) = (shared_key_digest(key), path.display());
    match compared {
        Some(digest) if digest == found => Ok(()),
        Some(digest) => Err(refused(&format!(
            "--digest: you compared {}, and {path} has the digest {}: it was made of other transcripts, and your new share makes no \
             signature with those of the others. Agree on one combination.json; whoever has another one moves it, shared-key.json and \
             its new share away, gets that file and its transcripts, and runs: {command}",
            const_hex::encode(digest),
            const_hex::encode(found)
        ))),
        None => Err(refused(&format!(
            "give --digest with the digest of shared-key.json, which all members compare over a channel that they trust, because those \
             who counted other transcripts have the same public key and shares that do not fit yours; to see yours, run: {command}"
        ))),
    }
}

/// A new share whose file is there.
struct NewShare<'a, S: Bls12381Suite> {
    path: PathBuf,
    file: ShareFile,
    share: &'a KeyShare<S>,
}

/// Opens the new shares that are keystores: what is deleted would otherwise be the last copy of what they should hold. Each asks for
/// its passphrase.
fn open_all<S: Bls12381Suite>(
    new: Vec<NewShare<'_, S>>,
    suite: S,
    passphrase: &PassphraseArguments,
) -> std::result::Result<(), Failure> {
    let is_encrypted = |NewShare { file, .. }: &NewShare<'_, S>| matches!(file.secret(), ShareSecret::Keystore(_));
    if passphrase.is_given() && !new.iter().any(is_encrypted) {
        return Err(refused("no new share of yours is a keystore, so none has a passphrase; leave the flag out"));
    }
    let source = passphrase.source()?;
    for NewShare { path, file, share } in new.into_iter().filter(is_encrypted) {
        let name = path.display().to_string();
        let asked = || ask(&source, PassphrasePurpose::Unlock, &name);
        let opened = file.unlock(asked, |secret| public_key_bytes(suite, secret)).map_err(|error| {
            Failure::from(error).context(format!("{name}, your new share, cannot be opened; nothing was deleted"))
        })?;
        if opened.secret != Secret::new(share.secret().to_bytes()) {
            return Err(refused(&format!("{name} holds another secret than your new share")));
        }
        say_older_form(&name, opened.older);
    }
    Ok(())
}

/// What a ceremony ended with for a member.
struct Outcome<S: Bls12381Suite> {
    key: SharedKey<S>,
    shares: Vec<KeyShare<S>>,
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
        return Ok(Outcome { shares: own_shares(session, &combined)?, key: combined.key, command });
    }
    let command = session.command(Stage::Finish);
    let Some(participant) = session.resume()? else {
        return Err(refused(&format!("you have not taken part in the ceremony in {}", folder.display())));
    };
    let Some(Ok(outcome)) = participant.end() else { return Err(not_ended(&command)) };
    let shares = outcome.key_share.iter().cloned().collect();
    Ok(Outcome { key: outcome.shared_key.clone(), shares, command })
}

/// What a member has of a ceremony that made the previous key, or recovered a share of it.
struct OfCeremony {
    /// What is beside the identity.
    old: Vec<Remains>,
    /// Whether the member has a share of the key.
    has_share: bool,
    /// Whether it took part with this identity.
    is_own: bool,
}

fn of_ceremony<S: Bls12381Suite>(
    session: &Session<S>,
    folder: &Path,
    previous: &[OldKey<S>],
) -> std::result::Result<OfCeremony, Failure> {
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
    let member = ceremony.member_named(session.identity.identity.name());
    let indices: Vec<_> = member.into_iter().flat_map(|member| ceremony.shares_of(member)).collect();
    for share in session.identity.share_paths(ceremony.id(), &indices) {
        if is_there(&share) {
            found.push(old_share(&share, previous)?);
        }
    }
    // The state of another identity cannot be opened, and is named as such.
    let is_own = ceremony.number_of(&session.identity.identity).is_some();
    if is_own && let Some(participant) = session.identity.participant(&ceremony)? {
        match participant.end() {
            Some(Ok(outcome)) if previous.iter().any(|old| old.key == outcome.shared_key) => {
                let path = session.identity.state_path(ceremony.id());
                found.push(Remains { path, what: OLD_STATE });
            }
            _ => return Err(other()),
        }
    }
    Ok(OfCeremony { old: found, has_share: !indices.is_empty(), is_own })
}

/// What a program that was killed while it wrote a file has left beside it.
fn unfinished(path: &Path) -> Vec<Remains> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let entries = std::fs::read_dir(folder_of(path)).into_iter().flatten().flatten();
    let found = entries.filter(|entry| unfinished_of(&entry.file_name()) == Some(name));
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
      --previous ceremony --out alice-share.json \\
      --passphrase-file passphrase
  quorate dkg forget refresh --identity alice.identity.json \\
      --share shares/share-1.json
  quorate dkg forget one-round --identity alice.identity.json \\
      --previous ceremony --digest 8c05e1f7… (all 64 digits)";
