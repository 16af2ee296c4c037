//! `quorate dkg publish`.

use std::path::Path;

use anyhow::anyhow;
use clap::Args;
use quorate::{Bls12381Suite, Options};
use quorate_host::exit::{Exit, Failure, Result};
use quorate_threshold::{KeyShare, dkg::SignedTranscript};

use super::{
    deal::BeginArguments,
    folder::CeremonyFile,
    public_file,
    session::{Session, SessionArguments},
    words,
};
use crate::commands::{
    key_share::{KeyShareFile, OpenShare},
    print, random,
    suite::InBls12381,
    unlock::PassphraseArguments,
};

/// Contribute to the key of a ceremony in one round: publish your transcript
///
/// It is all that you say: anyone verifies it, and each receiver decrypts its share of it, also later. Compare the id of the
/// ceremony with the other members before, and give it with --id. Writes FOLDER/transcripts/NAME.transcript, and a copy beside
/// your identity, from which the same is published again if the file is lost: never publish two.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    session: SessionArguments,

    #[command(flatten)]
    begin: BeginArguments,

    #[command(flatten)]
    passphrase: PassphraseArguments,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let file = CeremonyFile::read(&self.session.folder)?;
        file.suite().run(Publish { arguments: self, file })
    }
}

struct Publish {
    arguments: Arguments,
    file: CeremonyFile,
}

impl InBls12381 for Publish {
    fn run_in<S: Bls12381Suite>(self, _: S) -> Result {
        let Self { arguments: Arguments { session, begin, passphrase }, file } = self;
        let session = Session::<S>::open(&file, &session)?;
        if !session.ceremony.is_one_round() {
            return Err(Failure::usage(anyhow!(
                "members of this ceremony answer each other; run: quorate dkg run {}",
                session.folder_and_identity()
            )));
        }
        begin.compare(&session)?;
        if !session.deals() {
            return Err(Failure::usage(anyhow!(
                "{} does not deal in this ceremony; when the transcripts are there, run: quorate dkg combine {}",
                session.identity.identity.name(),
                session.folder_and_identity()
            )));
        }
        publish(&session, &begin, |share, suite| share.unlock(suite, &passphrase.source()?))?;
        print::note(format_args!("next: quorate dkg combine {}", session.folder_and_identity()));
        Ok(Exit::Success)
    }
}

/// Whether a member has published its transcript before.
pub(super) fn has_published<S: Bls12381Suite>(session: &Session<S>) -> std::result::Result<bool, Failure> {
    Ok(public_file::read_if_there(&session.identity.transcript_path(session.ceremony.id()))?.is_some())
}

/// Publishes the transcript of a member who deals, or the one that it has published before. `open` decrypts the file of a share.
pub(super) fn publish<S: Bls12381Suite>(
    session: &Session<S>,
    begin: &BeginArguments,
    open: impl Fn(KeyShareFile, S) -> std::result::Result<OpenShare<S>, Failure>,
) -> std::result::Result<(), Failure> {
    let (ceremony, name) = (&session.ceremony, session.identity.identity.name());
    let (copy, path) = (session.identity.transcript_path(ceremony.id()), session.folder.transcript_path(name));
    let own = |bytes: &[u8], path: &Path| {
        let signed = SignedTranscript::from_bytes(bytes, ceremony).ok();
        signed.filter(|signed| signed.sender() == session.number).map(|signed| signed.to_bytes()).ok_or_else(|| {
            Failure::usage(anyhow!(
                "{} stands where your transcript belongs, and is not it: it was cut off, changed, or written by somebody else. \
                 Remove it and run the same command again",
                path.display()
            ))
        })
    };
    let kept = match (public_file::read_if_there(&copy)?, public_file::read_if_there(&path)?) {
        (Some(kept), _) => own(&kept, &copy)?,
        // The copy was lost. A second transcript would prove that this member cheats.
        (None, Some(published)) => own(&published, &path)?,
        (None, None) => {
            let shares = dealt(session, begin.shares(ceremony, open)?)?;
            begin.say_id(session);
            let (options, mut rng) = (Options::default(), random::generator()?);
            let identity = &session.identity.identity;
            let signed = SignedTranscript::deal(ceremony, identity, &shares, &options, &mut rng);
            signed.map_err(Failure::internal)?.to_bytes()
        }
    };
    if public_file::write_new(&copy, &kept)? {
        print::note(format_args!("wrote {}, a copy of what you publish", copy.display()));
    }
    if session.folder.publish_transcript(name, &kept)? {
        print::note(format_args!("published {}", path.display()));
    } else if public_file::read_if_there(&path)?.is_some_and(|published| published != kept) {
        own(&public_file::read(&path)?, &path)?;
        return Err(Failure::usage(anyhow!(
            "{} is another transcript than {}, and you signed both. Do not publish both, because that would prove that you \
             cheat: the others leave you out if they see two",
            path.display(),
            copy.display()
        )));
    }
    Ok(())
}

/// The shares of the previous key that a member deals, in the order of their indices, out of those that it gave.
fn dealt<S: Bls12381Suite>(
    session: &Session<S>,
    mut given: Vec<KeyShare<S>>,
) -> std::result::Result<Vec<KeyShare<S>>, Failure> {
    let Some(previous) = session.ceremony.previous() else { return Ok(given) };
    let indices: Vec<_> = session.ceremony.previous_shares(session.number).collect();
    let named: Vec<_> = indices.iter().map(ToString::to_string).collect();
    let (noun, named) = (if indices.len() == 1 { "share" } else { "shares" }, words::listed(&named));
    given.sort_by_key(KeyShare::index);
    let found: Vec<_> = given.iter().map(KeyShare::index).collect();
    if let Some(index) = indices.iter().find(|index| !found.contains(index)) {
        return Err(Failure::usage(match indices[..] {
            [_] => anyhow!("you deal your share {named} of the previous key; give its file with --share"),
            _ => anyhow!(
                "you deal your shares {named} of the previous key; give the file of each with --share: that of share {index} is missing"
            ),
        }));
    }
    if found.len() > indices.len() {
        let given: Vec<_> = found.iter().map(ToString::to_string).collect();
        return Err(Failure::usage(anyhow!(
            "you deal your {noun} {named} of the previous key, and --share names the shares {}; give each of yours once",
            words::listed(&given)
        )));
    }
    let backend = Options::default().backend;
    for share in &given {
        previous.commitment().proves(previous.committee(), share, backend).map_err(Failure::usage)?;
    }
    Ok(given)
}

const EXAMPLES: &str = "\
Examples:
  quorate dkg publish ceremony --identity alice.identity.json \\
      --id 3f29c1d0… (all 64 digits)
  quorate dkg publish reshare --identity alice.identity.json \\
      --share alice.share-3f29c1d0.json
  quorate dkg publish reshare --identity carol.identity.json \\
      --share carol.share-3f29c1d0-4.json \\
      --share carol.share-3f29c1d0-5.json";
