//! `quorate dkg combine`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use quorate::{Bls12381Suite, Options};
use quorate_host::exit::{Exit, Failure, Result};
use quorate_threshold::{
    KeyShare,
    dkg::{Ceremony, MemberNumber},
};

use super::{
    finish::{ResultArguments, is_shared_key_there, shared_key_digest, warn_of_missing_shares, write_shared_key},
    folder::{CeremonyFile, Folder, Problems},
    members::{Names, names},
    publish::has_published,
    remains,
    session::{Session, SessionArguments, without},
    transcripts::{CombineError, Combined, Transcripts},
    words,
};
use crate::{
    commands::{
        print, random,
        suite::{Bls12381Argument, InBls12381},
        value::path_to_read,
    },
    secrets::passphrase::PassphraseSource,
};

/// End a ceremony in one round: verify the transcripts, write the shared key and your share, and print the public key
///
/// Anyone can run it, and has the key. With --identity it also decrypts your share and writes it (mode 0600), whether you have
/// dealt or not, now or in a year. The first run writes which transcripts count into FOLDER/combination.json; later runs take the
/// same: where each member has a copy of the folder, carry that file and transcripts/. It says whose transcripts count, and warns you if
/// yours is not among them. Compare the public key that it prints with the other members: those who saw other transcripts have another
/// key. After a `reshare` or `refresh` the public key is the same for all: compare the digest of shared-key.json that it prints then,
/// before anybody deletes an old share. Exit code: 0 done, 1 transcripts are missing (--without goes on), 2 usage, unreadable input, or
/// there is no key, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folder of the ceremony, with ceremony.json and transcripts/
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// Your identity, to decrypt your share
    #[arg(short, long, value_name = "FILE", value_parser = path_to_read())]
    identity: Option<PathBuf>,

    /// Do not wait for the transcripts of these dealers: names with commas between them. Those that are there count all the same.
    /// All members should agree on it first
    #[arg(long, value_name = "NAMES", value_parser = names)]
    without: Option<Names>,

    #[command(flatten)]
    results: ResultArguments,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let passphrase = self.results.keystore.check()?;
        let file = CeremonyFile::read(&self.folder)?;
        file.suite().run(Combine { arguments: self, passphrase, file })
    }
}

struct Combine {
    arguments: Arguments,
    passphrase: PassphraseSource,
    file: CeremonyFile,
}

impl InBls12381 for Combine {
    fn run_in<S: Bls12381Suite>(self, _: S) -> Result {
        let Self { arguments, passphrase, file } = self;
        let ceremony = file.ceremony::<S>()?;
        if !ceremony.is_one_round() {
            return Err(Failure::usage(anyhow!(
                "members of this ceremony answer each other; use `quorate dkg run` or `quorate dkg finish`"
            )));
        }
        let left_out = without(&ceremony, arguments.without.as_ref())?;
        let session = arguments.identity.map(|identity| {
            Session::<S>::open(&file, &SessionArguments { folder: arguments.folder.clone(), identity })
        });
        let session = session.transpose()?;
        let mut problems = Problems::default();
        let combined = combine(&file.folder, &ceremony, &left_out, &mut problems);
        problems.end();
        match combined? {
            Err(missing) => {
                words::say(&format!(
                    "waiting for the transcripts of {}; to go on without them, if all members agree, {}",
                    words::names(&ceremony, &missing),
                    words::advice_without(&ceremony, &left_out, &missing)
                ));
                Ok(Exit::Negative)
            }
            Ok(combined) => Ok(write(
                &file.folder,
                &ceremony,
                &combined,
                session.as_ref(),
                &arguments.results,
                file.suite(),
                &passphrase,
            )?),
        }
    }
}

/// The key that the transcripts make, or the dealers whose transcripts are waited for.
pub(super) fn combine<S: Bls12381Suite>(
    folder: &Folder,
    ceremony: &Ceremony<S>,
    without: &[MemberNumber],
    problems: &mut Problems,
) -> std::result::Result<std::result::Result<Combined<S>, Vec<MemberNumber>>, CombineError> {
    let transcripts = Transcripts::read(folder, ceremony, problems)?;
    let mut missing = transcripts.missing(ceremony);
    missing.retain(|dealer| !without.contains(dealer));
    if !missing.is_empty() && folder.combination_path().symlink_metadata().is_err() {
        return Ok(Err(missing));
    }
    transcripts.combine(folder, ceremony, problems).map(Ok)
}

/// Writes the key, and the share of a member who receives one, and prints the public key.
pub(super) fn write<S: Bls12381Suite>(
    folder: &Folder,
    ceremony: &Ceremony<S>,
    combined: &Combined<S>,
    session: Option<&Session<S>>,
    results: &ResultArguments,
    suite: Bls12381Argument,
    passphrase: &PassphraseSource,
) -> std::result::Result<Exit, CombineError> {
    let (key, path) = (&combined.key, folder.shared_key_path());
    // Both are looked at before one of them is written.
    let is_key_there = is_shared_key_there(&path, key)?;
    // The list is the first: a share without it, after a crash, would be of a key that a later transcript changes.
    combined.write_list(folder, ceremony)?;
    if let Some(session) = session {
        if has_published(session)? && !combined.dealers().contains(&session.number) {
            words::say(&format!(
                "warning: your own transcript is not among them; if nothing above says why, whoever wrote {} has left it out, and nobody \
                 signs that file. Do not use the key before all members say that they agree",
                folder.combination_path().display()
            ));
        }
        results.write_shares(session, key, &own_shares(session, combined)?, suite, passphrase)?;
    }
    if !is_key_there {
        write_shared_key(&path, key)?;
        print::note(format_args!("wrote {}", path.display()));
    }
    warn_of_missing_shares(ceremony, key);
    if ceremony.previous().is_some() {
        words::say(
            "Compare this digest of shared-key.json with all members: whoever counted other transcripts has the same public key, and \
             a share that makes no signature with yours:",
        );
        print::note(format_args!("  {}", const_hex::encode(shared_key_digest(key))));
    }
    if let Some(session) = session {
        remains::say_what_to_delete(session, key);
    }
    print::line(suite.hex(key.public_key().to_bytes()))?;
    Ok(Exit::Success)
}

/// The shares of a member, decrypted. Who receives nothing has none.
pub(super) fn own_shares<S: Bls12381Suite>(
    session: &Session<S>,
    combined: &Combined<S>,
) -> std::result::Result<Vec<KeyShare<S>>, Failure> {
    let ceremony = &session.ceremony;
    let Some(place) = ceremony.receiver_place(session.number) else { return Ok(Vec::new()) };
    let receivers = ceremony.share_receivers().map_err(Failure::usage)?;
    let secret = session.identity.identity.share_decryption_key();
    let (contributions, mut rng) = (combined.contributions(ceremony)?, random::generator()?);
    let shares = contributions.decrypt(&secret, &receivers, place, &Options::default(), &mut rng);
    shares.map_err(Failure::usage)
}

const EXAMPLES: &str = "\
Examples:
  quorate dkg combine ceremony --identity alice.identity.json
  quorate dkg combine ceremony --without mallory
  quorate dkg combine ceremony --identity alice.identity.json \\
      --keystore --out alice-share.json";
