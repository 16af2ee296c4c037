//! `quorate dkg finish`.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use clap::Args;
use quorate::{Bls12381Suite, Options};
use quorate_host::exit::{Exit, Failure, Result};
use quorate_threshold::{
    KeyShare, SharedKey,
    dkg::{Ceremony, CeremonyFailure, CeremonyOutcome, Culprit, MemberNumber, Participant},
};
use sha2::{Digest as _, Sha256};

use super::{
    folder::{CeremonyFile, Problems},
    public_file,
    receive::begin,
    remains,
    session::{CloseArguments, Closing, Progress, Session, SessionArguments, Stage},
    words,
};
use crate::{
    commands::{
        key_share,
        lock::KeystoreArguments,
        print,
        suite::{Bls12381Argument, InBls12381},
        unlock,
        value::path_to_write,
    },
    secrets::{
        passphrase::{PassphrasePurpose, PassphraseSource},
        secret::Secret,
        secret_file::{self, SecretFileError},
        share_file::{ShareFile, ShareSecret},
    },
};

/// End the ceremony: write the shared key and your share of it, and print the public key
///
/// Takes in what is there, and ends when enough members have confirmed the same key. Writes FOLDER/shared-key.json, which everyone may
/// have, and your share (mode 0600), in the format of `quorate threshold`. What proves that somebody cheated is written to
/// FOLDER/blame-NAME-….json, for `quorate dkg judge`. In a recovery it writes the share of the member who had lost it. Your share is
/// secret: show it to nobody. Guard your identity as well, also if the share is in a keystore: whoever has the identity and the messages
/// has the share. After a key was shared anew, it says which files of yours still hold the old share, and `quorate dkg forget` deletes
/// them. Exit code: 0 done, 1 it waits for others (run it again when their messages are there), 2 usage, unreadable input, or the ceremony
/// ended without a key, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    session: SessionArguments,

    #[command(flatten)]
    results: ResultArguments,

    #[command(flatten)]
    close: CloseArguments,
}

/// Where the share goes.
#[derive(Clone, Debug, Args)]
pub(super) struct ResultArguments {
    /// File to write your share to; by default NAME.share-NUMBER.json beside the identity, with the first digits of the
    /// ceremony's id
    #[arg(short, long, value_name = "FILE", value_parser = path_to_write())]
    out: Option<PathBuf>,

    #[command(flatten)]
    pub(super) keystore: KeystoreArguments,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let passphrase = self.results.keystore.check()?;
        let file = CeremonyFile::read(&self.session.folder)?;
        file.suite().run(Finish { arguments: self, passphrase, file })
    }
}

struct Finish {
    arguments: Arguments,
    passphrase: PassphraseSource,
    file: CeremonyFile,
}

impl InBls12381 for Finish {
    fn run_in<S: Bls12381Suite>(self, _: S) -> Result {
        let session = Session::<S>::open(&self.file, &self.arguments.session)?;
        let (closing, mut problems) = (self.arguments.close.closing(&session)?, Problems::default());
        let participant = begin(&session)?;
        let (participant, progress) = go_on(&session, participant, &closing, &mut problems)?;
        match participant.end() {
            None => Ok(session.report(&participant, Stage::Finish, &progress)),
            Some(end) => {
                let results = &self.arguments.results;
                results.write(&session, participant.member(), end, self.file.suite(), &self.passphrase)
            }
        }
    }
}

/// Takes a member as far as the messages that are there allow, and says and writes down who did not do its part.
pub(super) fn go_on<S: Bls12381Suite>(
    session: &Session<S>,
    participant: Participant<S>,
    closing: &Closing,
    problems: &mut Problems,
) -> std::result::Result<(Participant<S>, Progress), Failure> {
    let (participant, progress) = session.advance(participant, Stage::Finish, closing, problems)?;
    session.name_culprits(&participant, problems);
    write_blames(session, &participant)?;
    Ok((participant, progress))
}

impl ResultArguments {
    /// Writes the key and the share, and prints the public key, once the ceremony has ended for a member.
    pub(super) fn write<S: Bls12381Suite>(
        &self,
        session: &Session<S>,
        member: MemberNumber,
        end: &std::result::Result<CeremonyOutcome<S>, CeremonyFailure>,
        suite: Bls12381Argument,
        passphrase: &PassphraseSource,
    ) -> Result {
        let outcome = end.as_ref().map_err(|failure| {
            Failure::usage(anyhow!(
                "the ceremony ended without a key: {}. Make a new one, without those who are named above",
                words::failure(&session.ceremony, failure)
            ))
        })?;
        let key = &outcome.shared_key;
        // Both are looked at before one of them is written.
        let path = session.folder.shared_key_path();
        let is_key_there = is_shared_key_there(&path, key)?;
        if let Some(share) = share_to_write(&session.ceremony, member, outcome) {
            self.write_shares(session, key, std::slice::from_ref(share), suite, passphrase)?;
        }
        if !is_key_there {
            write_shared_key(&path, key)?;
            print::note(format_args!("wrote {}", path.display()));
        }
        warn_of_missing_shares(&session.ceremony, key);
        remains::say_what_to_delete(session, key);
        print::line(suite.hex(key.public_key().to_bytes()))?;
        Ok(Exit::Success)
    }

    /// Writes the shares whose files are not there. All are looked at before one of them is written.
    pub(super) fn write_shares<S: Bls12381Suite>(
        &self,
        session: &Session<S>,
        key: &SharedKey<S>,
        shares: &[KeyShare<S>],
        suite: Bls12381Argument,
        passphrase: &PassphraseSource,
    ) -> std::result::Result<(), Failure> {
        let public_key = key.public_key().to_bytes();
        let mut new = Vec::with_capacity(shares.len());
        for (share, path) in shares.iter().zip(share_paths(self.out.as_ref(), session, shares)?) {
            if share_there(&path, suite, public_key.as_ref(), share)?.is_none() {
                new.push((share, path));
            }
        }
        let Some((_, path)) = new.first() else { return Ok(()) };
        let passphrase = match self.keystore.is_given() {
            true => Some(unlock::ask(passphrase, PassphrasePurpose::Create, &path.display().to_string())?),
            false => None,
        };
        for (share, path) in &new {
            let lock = passphrase.as_ref().map(|passphrase| (passphrase, self.keystore.kdf()));
            key_share::write(path, key.suite(), public_key.as_ref(), share, lock)?;
            print::note(format_args!("wrote {}", path.display()));
        }
        let (all, signers) = (key.committee().participants(), key.committee().threshold());
        let indices: Vec<_> = new.iter().map(|(share, _)| share.index().to_string()).collect();
        let (it_is, it, noun) = if new.len() == 1 { ("It is", "it", "share") } else { ("They are", "them", "shares") };
        words::say(&format!(
            "{it_is} your {noun} {} of {all}, and {signers} of these sign together. {it_is} secret: show {it} to nobody, the \
             other members included, and keep a copy in a safe place.",
            words::listed(&indices)
        ));
        Ok(())
    }
}

/// The share that a ceremony gave a member. A recovery gives one to whoever had lost it alone.
pub(super) fn share_to_write<'a, S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    member: MemberNumber,
    outcome: &'a CeremonyOutcome<S>,
) -> Option<&'a KeyShare<S>> {
    let receives = ceremony.lost_member().is_none_or(|lost| lost == member);
    outcome.key_share.as_ref().filter(|_| receives)
}

/// Where the shares of a member go, in their order: beside the identity, or in a file that the user names.
///
/// # Errors
/// There are several, and the user names one file.
pub(super) fn share_paths<S: Bls12381Suite>(
    out: Option<&PathBuf>,
    session: &Session<S>,
    shares: &[KeyShare<S>],
) -> std::result::Result<Vec<PathBuf>, Failure> {
    match out {
        Some(_) if shares.len() > 1 => Err(Failure::usage(anyhow!(
            "--out names one file, and you have {} shares; leave it out, and they are written beside your identity",
            shares.len()
        ))),
        Some(out) => Ok(vec![out.clone()]),
        None => {
            let indices: Vec<_> = shares.iter().map(KeyShare::index).collect();
            Ok(session.identity.share_paths(session.ceremony.id(), &indices))
        }
    }
}

/// Names the participants who have no share of the key. The others sign without them.
pub(super) fn warn_of_missing_shares<S: Bls12381Suite>(ceremony: &Ceremony<S>, key: &SharedKey<S>) {
    for index in key.without_share(&Options::default()) {
        let member = ceremony.receivers().find(|(receiver, _)| *receiver == index);
        let name = member.map_or(format!("participant {index}"), |(_, member)| ceremony.name(member).to_string());
        let signers = key.committee().threshold();
        print::note(format_args!(
            "warning: {name} has no share of the key: its verification key is the identity, which a dealer can choose for itself \
             if it deals last. {signers} of the others sign together. But a share of zero is known to everybody, and with it {} \
             of them could: share the key anew without {name}",
            signers - 1
        ));
    }
}

/// Whether the file of the shared key is there. Another key in its place is an error.
pub(super) fn is_shared_key_there<S: Bls12381Suite>(
    path: &Path,
    key: &SharedKey<S>,
) -> std::result::Result<bool, Failure> {
    match public_file::read_if_there(path)? {
        None => Ok(false),
        Some(found) if found == key.to_json().as_bytes() => Ok(true),
        Some(_) => Err(Failure::usage(anyhow!(
            "{} is not the key that this ceremony made, which is {}; find out who wrote it, move it away, and run the same command \
             again",
            path.display(),
            const_hex::encode(key.public_key().to_bytes())
        ))),
    }
}

/// The digest of the file of a shared key. Two sharings of one public key have two.
pub(super) fn shared_key_digest<S: Bls12381Suite>(key: &SharedKey<S>) -> [u8; 32] {
    Sha256::digest(key.to_json()).into()
}

/// Writes the file of the shared key. Several members may do it at the same time.
pub(super) fn write_shared_key<S: Bls12381Suite>(path: &Path, key: &SharedKey<S>) -> std::result::Result<(), Failure> {
    if !public_file::write_new(path, key.to_json().as_bytes())? {
        is_shared_key_there(path, key)?;
    }
    Ok(())
}

/// The file of the share, if it is there. Another file in its place is an error. A keystore is not opened: its public key is the
/// verification key, and [`ShareFile::unlock`] says whether it can be decrypted.
pub(super) fn share_there<S: Bls12381Suite>(
    path: &Path,
    suite: Bls12381Argument,
    public_key: &[u8],
    share: &KeyShare<S>,
) -> std::result::Result<Option<ShareFile>, Failure> {
    let contents = match secret_file::read(path) {
        Err(SecretFileError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => return Ok(None),
        read => read?.contents,
    };
    let expected = Secret::new(share.secret().to_bytes());
    let is_same = |found: &ShareFile| {
        found.suite() == suite.suite.into()
            && found.index() == u64::from(share.index().number())
            && found.public_key() == public_key
            && found.verification_key() == share.verification_key().to_bytes().as_ref()
            && match found.secret() {
                ShareSecret::Plain(secret) => *secret == expected,
                ShareSecret::Keystore(_) => true,
            }
    };
    match ShareFile::parse(&contents) {
        Ok(found) if is_same(&found) => Ok(Some(found)),
        _ => Err(Failure::usage(anyhow!(
            "{} is there, and is not your share of the key that this ceremony made; name another file with --out",
            path.display()
        ))),
    }
}

/// Writes a file for each misdeed that is proven.
fn write_blames<S: Bls12381Suite>(
    session: &Session<S>,
    participant: &Participant<S>,
) -> std::result::Result<(), Failure> {
    for culprit in participant.culprits() {
        let Culprit::Proven(blame) = culprit else { continue };
        let json = blame.to_json();
        let digest = const_hex::encode(Sha256::digest(&json));
        let path = session.folder.blame_path(session.ceremony.name(blame.member()), &digest[..8]);
        if public_file::write_new(&path, json.as_bytes())? {
            print::note(format_args!("wrote {}, which proves it", path.display()));
        }
    }
    Ok(())
}

const EXAMPLES: &str = "\
Examples:
  quorate dkg finish ceremony --identity alice.identity.json
  quorate dkg finish ceremony --identity alice.identity.json \\
      --keystore --out alice-share.json";
