//! `quorate dkg receive` and `quorate dkg complain`, which take in messages and answer them.

use clap::Args;
use quorate::Bls12381Suite;
use quorate_host::exit::{Failure, Result};
use quorate_threshold::dkg::Participant;

use super::{
    folder::{CeremonyFile, Problems},
    session::{CloseArguments, Session, SessionArguments, Stage},
    words,
};
use crate::commands::suite::InBls12381;

/// Take in the deals, and publish which of them gave you a false share, or none
///
/// Goes on when all deals are there. Exit code: 0 done, 1 it waits for others (run it again when their messages are there), 2
/// usage, unreadable input, or the ceremony ended without a key, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = RECEIVE_EXAMPLES)]
pub(super) struct ReceiveArguments {
    #[command(flatten)]
    session: SessionArguments,

    #[command(flatten)]
    close: CloseArguments,
}

/// Take in the responses, answer complaints about you, and publish what the rounds up to the last ask for
///
/// If nobody complains, it publishes your confirmation of the key at once. Otherwise it waits for those who were accused to
/// show what they had sent. In a ceremony with --commit-first it goes through the round `reveal` too, and through `absence` and
/// `disclosure` if a contribution was not revealed. Exit code: 0 done, 1 it waits for others (run it again when their messages
/// are there), 2 usage, unreadable input, or the ceremony ended without a key, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = COMPLAIN_EXAMPLES)]
pub(super) struct ComplainArguments {
    #[command(flatten)]
    session: SessionArguments,

    #[command(flatten)]
    close: CloseArguments,
}

impl ReceiveArguments {
    pub(super) fn run(self) -> Result {
        run(self.session, self.close, Stage::Receive)
    }
}

impl ComplainArguments {
    pub(super) fn run(self) -> Result {
        run(self.session, self.close, Stage::Complain)
    }
}

fn run(session: SessionArguments, close: CloseArguments, stage: Stage) -> Result {
    let file = CeremonyFile::read(&session.folder)?;
    file.suite().run(Step { session, close, stage, file })
}

struct Step {
    session: SessionArguments,
    close: CloseArguments,
    stage: Stage,
    file: CeremonyFile,
}

impl InBls12381 for Step {
    fn run_in<S: Bls12381Suite>(self, _: S) -> Result {
        let session = Session::<S>::open(&self.file, &self.session)?;
        let (closing, mut problems) = (self.close.closing(&session)?, Problems::default());
        let participant = begin(&session)?;
        let (participant, progress) = session.advance(participant, self.stage, &closing, &mut problems)?;
        session.name_culprits(&participant, &mut problems);
        if let Some(Err(failure)) = participant.end() {
            return Err(Failure::usage(anyhow::anyhow!(
                "the ceremony ended without a key: {}",
                words::failure(&session.ceremony, failure)
            )));
        }
        Ok(session.report(&participant, self.stage, &progress))
    }
}

/// Goes on from the private state. Whoever does not deal begins with the first message that it takes in.
pub(super) fn begin<S: Bls12381Suite>(session: &Session<S>) -> std::result::Result<Participant<S>, Failure> {
    if let Some(participant) = session.resume()? {
        return Ok(participant);
    }
    let board = session.folder.board(&session.ceremony, &mut Problems::default())?;
    if let Some(advice) = session.advice_to_left_out(board.messages.values()) {
        return Err(Failure::usage(anyhow::anyhow!(advice)));
    }
    if session.deals() {
        return Err(Failure::usage(anyhow::anyhow!(
            "you have not dealt yet, or your private state {} is not there; first run: {}",
            session.identity.state_path(session.ceremony.id()).display(),
            session.command(Stage::Deal)
        )));
    }
    session.join(None)
}

const RECEIVE_EXAMPLES: &str = "\
Examples:
  quorate dkg receive ceremony --identity alice.identity.json
  quorate dkg receive ceremony --identity alice.identity.json --close deal";

const COMPLAIN_EXAMPLES: &str = "\
Examples:
  quorate dkg complain ceremony --identity alice.identity.json
  quorate dkg complain ceremony --identity alice.identity.json \\
      --close response";
