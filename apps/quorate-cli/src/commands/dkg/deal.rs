//! `quorate dkg deal`.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use quorate::Bls12381Suite;
use quorate_host::exit::{Failure, Result};
use quorate_threshold::{
    KeyShare, SharedKey,
    dkg::{Ceremony, Participant},
};

use super::{
    folder::{CeremonyFile, Problems},
    session::{Progress, Session, SessionArguments, Stage},
};
use crate::commands::{
    key_share::{KeyShareFile, OpenShare},
    print,
    suite::InBls12381,
    unlock::PassphraseArguments,
    value::Value,
};

/// Contribute to the key: publish your deal, which has an encrypted share for each receiver
///
/// Compare the id of the ceremony with the other members before you deal, and give it with --id. Writes the private state beside the identity,
/// and then FOLDER/messages/1-deal-NAME.json. Run again, it changes nothing, and publishes the deal again if the file is
/// missing.
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

/// What a member begins with.
#[derive(Clone, Debug, Args)]
pub(super) struct BeginArguments {
    /// The id of the ceremony that all members compared. With it, nothing is dealt in any other ceremony
    #[arg(long, value_name = "ID", value_parser = Value::new(id))]
    id: Option<Id>,

    /// Your share of the previous key, where the ceremony shares a key anew or recovers a share; repeat it for each that you deal;
    /// `-` means standard input
    #[arg(long = "share", value_name = "FILE")]
    shares: Vec<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let file = CeremonyFile::read(&self.session.folder)?;
        file.suite().run(Deal { arguments: self, file })
    }
}

impl BeginArguments {
    /// Whether the member gave the id that it compared. Another ceremony than the one with this id is refused.
    pub(super) fn compare<S: Bls12381Suite>(&self, session: &Session<S>) -> std::result::Result<bool, Failure> {
        match self.id {
            None => Ok(false),
            Some(Id(id)) if id == session.ceremony.id().0 => Ok(true),
            Some(Id(id)) => Err(Failure::usage(anyhow!(
                "--id: you compared the id {}, and the ceremony in {} has the id {}: it is not the one that the members agreed on. \
                 Nothing was dealt; get the right ceremony.json from whoever made it",
                const_hex::encode(id),
                session.folder.display(),
                session.ceremony.id()
            ))),
        }
    }

    /// Says the id of the ceremony to a member who did not give it.
    pub(super) fn say_id<S: Bls12381Suite>(&self, session: &Session<S>) {
        if self.id.is_none() {
            print::note(format_args!(
                "the id of the ceremony is {}; go on only if all members have the same",
                session.ceremony.id()
            ));
        }
    }

    /// Publishes the deal of a member who has said nothing yet. `open` decrypts the file of its share.
    pub(super) fn deal<S: Bls12381Suite>(
        &self,
        session: &Session<S>,
        problems: &mut Problems,
        open: impl Fn(KeyShareFile, S) -> std::result::Result<OpenShare<S>, Failure>,
    ) -> std::result::Result<Participant<S>, Failure> {
        let mut shares = self.shares(&session.ceremony, open)?;
        let share = shares.pop();
        if !shares.is_empty() {
            return Err(Failure::usage(anyhow!(
                "--share is there {} times, and in this ceremony each member deals one share; give one file",
                shares.len() + 1
            )));
        }
        let board = session.folder.board(&session.ceremony, problems)?;
        let participant = session.join(share)?;
        self.say_id(session);
        if let Some(advice) = session.advice_to_left_out(board.messages.values()) {
            print::note(format_args!("warning: {advice}"));
        }
        Ok(participant)
    }

    /// The shares of the previous key, in the order in which the member names them.
    pub(super) fn shares<S: Bls12381Suite>(
        &self,
        ceremony: &Ceremony<S>,
        open: impl Fn(KeyShareFile, S) -> std::result::Result<OpenShare<S>, Failure>,
    ) -> std::result::Result<Vec<KeyShare<S>>, Failure> {
        let Some(previous) = ceremony.previous() else {
            return match self.shares[..] {
                [] => Ok(Vec::new()),
                _ => Err(Failure::usage(anyhow!(
                    "--share is for ceremonies with a previous key, and this one makes a new key"
                ))),
            };
        };
        // A list that grows would leave copies of secrets behind.
        let mut shares = Vec::with_capacity(self.shares.len());
        for path in &self.shares {
            shares.push(share_of(path, ceremony, previous, &open)?);
        }
        Ok(shares)
    }
}

/// A share of the previous key of a ceremony.
fn share_of<S: Bls12381Suite>(
    path: &Path,
    ceremony: &Ceremony<S>,
    previous: &SharedKey<S>,
    open: impl Fn(KeyShareFile, S) -> std::result::Result<OpenShare<S>, Failure>,
) -> std::result::Result<KeyShare<S>, Failure> {
    let name = path.display();
    let share = KeyShareFile::read(path)?;
    let (suite, expected) = (share.suite().suite.name(), ceremony.suite());
    if suite != expected.name() {
        return Err(Failure::usage(anyhow!("{name}: the share's suite is {suite}, and the ceremony's is {expected}")));
    }
    let share = open(share, expected)?;
    if share.public_key != previous.public_key().to_bytes().as_ref() {
        return Err(Failure::usage(anyhow!(
            "{name} is a share of the key {}, and this ceremony is about {}; give your share of that key",
            const_hex::encode(share.public_key),
            const_hex::encode(previous.public_key().to_bytes())
        )));
    }
    let index =
        previous.committee().index(share.index).map_err(|error| Failure::usage(error).context(name.to_string()))?;
    Ok(KeyShare::new(index, share.secret))
}

/// The id of a ceremony, as a member compared it.
#[derive(Clone, Copy, Debug)]
struct Id([u8; 32]);

fn id(text: &str) -> std::result::Result<Id, String> {
    let mut bytes = [0; 32];
    let length = text.strip_prefix("0x").unwrap_or(text).chars().count();
    const_hex::decode_to_slice(text, &mut bytes)
        .map_err(|_| format!("found {length} characters, expected the 64 hexadecimal digits of a ceremony's id"))?;
    Ok(Id(bytes))
}

/// The arguments, and the ceremony that they name.
struct Deal {
    arguments: Arguments,
    file: CeremonyFile,
}

impl InBls12381 for Deal {
    fn run_in<S: Bls12381Suite>(self, _: S) -> Result {
        let Self { arguments, file } = self;
        let session = Session::<S>::open(&file, &arguments.session)?;
        arguments.begin.compare(&session)?;
        if !session.deals() {
            return Err(Failure::usage(anyhow!(
                "{} does not deal in this ceremony; when the deals are there, run: {}",
                session.identity.identity.name(),
                session.command(Stage::Receive)
            )));
        }
        let participant = match session.resume()? {
            Some(participant) => participant,
            None => arguments.begin.deal(&session, &mut Problems::default(), |share, suite| {
                share.unlock(suite, &arguments.passphrase.source()?)
            })?,
        };
        Ok(session.report(&participant, Stage::Deal, &Progress::Reached))
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate dkg deal ceremony --identity alice.identity.json
  quorate dkg deal ceremony --identity alice.identity.json \
      --id 3f29c1d0… (all 64 digits)
  quorate dkg deal reshare --identity alice.identity.json \\
      --share alice.share-3f29c1d0.json";
