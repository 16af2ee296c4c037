//! `quorate dkg run`: all steps of a member in one command.
//!
//! It does nothing of its own: each step is that of `deal`, `receive`, `complain` or `finish`. Between two looks at the folder it
//! holds no lock and no state, so that `status` and the other commands work meanwhile, and a kill loses nothing.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::anyhow;
use clap::Args;
use quorate::Bls12381Suite;
use quorate_host::exit::{Exit, Failure, Result};
use quorate_threshold::{
    SharedKey,
    dkg::{Ceremony, MemberNumber, Participant},
};

use super::{
    combine::{combine, write},
    deal::BeginArguments,
    finish::{ResultArguments, go_on},
    folder::{CeremonyFile, Problems},
    public_file,
    publish::{has_published, publish},
    session::{CloseArguments, Closing, Progress, Session, SessionArguments},
    transcripts::CombineError,
    watch::{Stamps, WaitArguments, Watch, Woken},
    words,
};
use crate::{
    commands::{print, suite::InBls12381, time::in_words, unlock::FromPassphraseArguments},
    secrets::passphrase::PassphraseSource,
};

/// Take part in a ceremony from its start to your share, with one command
///
/// Does every step that can be done now: `deal`, `receive`, `complain` and `finish`, in any kind of ceremony. With --wait it
/// watches FOLDER/messages, or in one round FOLDER/transcripts, and goes on as the files of the others arrive, until you have your
/// share and the key. Ctrl-C, a crash or a restart loses nothing: run the same command again. Files that are not whole yet are read
/// again later. It leaves nobody out by itself: --close and --without do, when all members have agreed. Exit code: 0 done, 1 it waits
/// for others (without --wait, or the time is over), 2 usage, unreadable input, or the ceremony ended without a key or without you,
/// 3 I/O, 130 interrupted.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    session: SessionArguments,

    #[command(flatten)]
    begin: BeginArguments,

    #[command(flatten)]
    opens: FromPassphraseArguments,

    #[command(flatten)]
    wait: WaitArguments,

    #[command(flatten)]
    close: CloseArguments,

    #[command(flatten)]
    results: ResultArguments,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let passphrase = self.results.keystore.check()?;
        if self.wait.wait && self.results.keystore.is_given() && passphrase == PassphraseSource::Terminal {
            return Err(Failure::usage(anyhow!(
                "--wait with --keystore needs --passphrase-file or --passphrase-fd, because perhaps nobody is at the terminal when \
                 the share is written"
            )));
        }
        let file = CeremonyFile::read(&self.session.folder)?;
        file.suite().run(Run { arguments: self, passphrase, file })
    }
}

struct Run {
    arguments: Arguments,
    passphrase: PassphraseSource,
    file: CeremonyFile,
}

/// What a look at the folder came to.
enum Step {
    /// The ceremony has ended for this member.
    Done(Exit),
    Waiting(Waiting),
}

struct Waiting {
    /// For whom or what.
    text: String,
    /// What to do to go on without them.
    hint: Option<String>,
    /// Where the files of the others come.
    folder: PathBuf,
    /// The files as they were before the look.
    before: Stamps,
}

impl InBls12381 for Run {
    fn run_in<S: Bls12381Suite>(self, _: S) -> Result {
        let waits = self.arguments.wait.wait;
        let mut problems = if waits { Problems::patient(PATIENCE) } else { Problems::default() };
        let ended = self.run::<S>(&mut problems);
        problems.name_unfinished();
        let (exit, waiting) = ended?;
        if exit == Exit::Interrupted {
            print::note("stopped; nothing is lost: run the same command again to go on");
        }
        if let Some(Waiting { text, hint, .. }) = waiting {
            words::say(&match waits {
                true => format!("the time is over; still {text}"),
                false => text,
            });
            words::say("run the same command again when their messages are there");
            if let Some(hint) = hint {
                words::say(&format!("to go on without them, if all members agree, {hint}"));
            }
        }
        Ok(exit)
    }
}

impl Run {
    /// Looks at the folder until the ceremony has ended, or as often as the member wants. For what it still waits.
    fn run<S: Bls12381Suite>(&self, problems: &mut Problems) -> Result<(Exit, Option<Waiting>)> {
        let wait = &self.arguments.wait;
        let mut watch = None;
        loop {
            let begun = Instant::now();
            let waiting = match self.look::<S>(watch.is_none(), problems)? {
                Step::Done(exit) => return Ok((exit, None)),
                Step::Waiting(waiting) if !wait.wait => return Ok((Exit::Negative, Some(waiting))),
                Step::Waiting(waiting) => waiting,
            };
            if problems.is_new(&waiting.text) {
                words::say(&waiting.text);
            }
            let watch = watch.get_or_insert_with(|| {
                let watch = Watch::begin(wait);
                let longest = wait.timeout.map_or(String::new(), |time| format!(" for {} at most", in_words(time)));
                let every = in_words(wait.every);
                words::say(&format!("looking into {} every {every}{longest}", waiting.folder.display()));
                watch
            });
            match watch.wait(&waiting.before, begun.elapsed(), problems) {
                Woken::Changed => {}
                Woken::TimedOut => return Ok((Exit::Negative, Some(waiting))),
                Woken::Interrupted => return Ok((Exit::Interrupted, None)),
            }
        }
    }

    /// Does every step that can be done now. While it does, no other command with the same identity goes on.
    fn look<S: Bls12381Suite>(&self, is_first: bool, problems: &mut Problems) -> Result<Step> {
        let Self { arguments, passphrase, file } = self;
        let session = Session::<S>::open(file, &arguments.session)?;
        let before = Stamps::of(session.watched());
        let has_compared = arguments.begin.compare(&session)?;
        let mut closing = arguments.close.closing(&session)?;
        if !is_first {
            // The round that the member saw is closed, and not a later one of which nobody can have spoken yet.
            closing.round = None;
        }
        if session.ceremony.is_one_round() {
            return self.look_in_one_round(&session, has_compared, &closing, before, problems);
        }
        let participant = match session.resume()? {
            Some(participant) => participant,
            None if has_compared => self.begin(&session, problems)?,
            None => return Err(self.id_is_missing()),
        };
        let (participant, progress) = go_on(&session, participant, &closing, problems)?;
        let is_without_key = !matches!(participant.end(), Some(Ok(_)));
        if is_without_key && let Some(advice) = session.advice_to_left_out(participant.messages()) {
            return Err(Failure::usage(anyhow!(advice)));
        }
        if let Progress::Waiting { round, missing } = progress {
            if let Some(later) = closing.round.filter(|closed| *closed > round) {
                print::note(format_args!("--close {later} does nothing yet, because the round `{round}` is not over"));
            }
            let text = format!("waiting for {} in the round `{round}`", words::names(&session.ceremony, &missing));
            let hint = can_be_left_out(&session.ceremony, &missing).then(|| match missing.len() {
                0..=words::MOST => words::advice_without(&session.ceremony, &closing.without, &missing),
                _ => format!("add: --close {round}"),
            });
            let folder = session.folder.messages_path();
            return Ok(Step::Waiting(Waiting { text, hint, folder, before }));
        }
        let end = participant.end().expect("the last stage closes every round");
        if let Ok(outcome) = end
            && self.is_key_on_its_way(&session, &outcome.shared_key, problems)
        {
            let text = format!("waiting for {} to be whole", session.folder.shared_key_path().display());
            let folder = session.folder.messages_path();
            return Ok(Step::Waiting(Waiting { text, hint: None, folder, before }));
        }
        arguments.results.write(&session, participant.member(), end, file.suite(), passphrase).map(Step::Done)
    }

    /// Publishes the transcript of a member who deals, and ends with the key when those of the others are there.
    fn look_in_one_round<S: Bls12381Suite>(
        &self,
        session: &Session<S>,
        has_compared: bool,
        closing: &Closing,
        before: Stamps,
        problems: &mut Problems,
    ) -> Result<Step> {
        let Self { arguments, passphrase, file } = self;
        let ceremony = &session.ceremony;
        if session.deals() {
            if !has_compared && !has_published(session)? {
                return Err(self.id_is_missing());
            }
            let opens = &arguments.opens;
            publish(session, &arguments.begin, |share, suite| {
                opens.open(|passphrase| share.unlock(suite, passphrase))
            })?;
        }
        let waiting = |awaited: String, hint| {
            let (text, folder) = (format!("waiting for {awaited}"), session.folder.transcripts_path());
            Ok(Step::Waiting(Waiting { text, hint, folder, before }))
        };
        let combined = match combine(&file.folder, ceremony, &closing.without, problems) {
            Ok(Ok(combined)) if self.is_key_on_its_way(session, &combined.key, problems) => {
                return waiting(format!("{} to be whole", session.folder.shared_key_path().display()), None);
            }
            Ok(Ok(combined)) => Ok(combined),
            Ok(Err(missing)) => {
                let is_left = |dealer: &MemberNumber| !missing.contains(dealer);
                let enough = ceremony.are_enough(ceremony.dealers().filter(is_left));
                let hint = enough.then(|| words::advice_without(ceremony, &closing.without, &missing));
                return waiting(format!("the transcripts of {}", words::names(ceremony, &missing)), hint);
            }
            Err(error) => Err(error),
        };
        let ended = combined.and_then(|combined| {
            write(&file.folder, ceremony, &combined, Some(session), &arguments.results, file.suite(), passphrase)
        });
        match ended {
            Err(CombineError::Unfinished { path, problem }) if arguments.wait.wait => {
                problems.unfinished(&path, problem);
                waiting(format!("{} to be whole", path.display()), None)
            }
            Err(CombineError::Listed { awaited, .. }) if arguments.wait.wait => waiting(awaited, None),
            ended => Ok(Step::Done(ended?)),
        }
    }

    fn id_is_missing(&self) -> Failure {
        Failure::usage(anyhow!(
            "to begin, give --id with the id of the ceremony, which all members compare over a channel that they trust; `quorate \
             dkg status {}` says which one is here",
            self.file.folder.display()
        ))
    }

    /// Begins to take part.
    fn begin<S: Bls12381Suite>(&self, session: &Session<S>, problems: &mut Problems) -> Result<Participant<S>> {
        if !session.deals() {
            return session.join(None);
        }
        let board = session.folder.board(&session.ceremony, problems)?;
        if let Some(advice) = session.advice_to_left_out(board.messages.values()) {
            return Err(Failure::usage(anyhow!(advice)));
        }
        let opens = &self.arguments.opens;
        self.arguments
            .begin
            .deal(session, problems, |share, suite| opens.open(|passphrase| share.unlock(suite, passphrase)))
    }

    /// Whether somebody else copies the shared key into the folder, and has not come to its end. It is given time for that.
    fn is_key_on_its_way<S: Bls12381Suite>(
        &self,
        session: &Session<S>,
        key: &SharedKey<S>,
        problems: &mut Problems,
    ) -> bool {
        let path = session.folder.shared_key_path();
        let (Ok(Some(found)), whole) = (public_file::read_if_there(&path), key.to_json()) else { return false };
        let is_part = whole.len() > found.len() && whole.as_bytes().starts_with(&found);
        if !self.arguments.wait.wait || !is_part || problems.is_stalled(&path) {
            return false;
        }
        problems.unfinished(&path, format!("{}: it is not whole", path.display()));
        true
    }
}

/// Whether the other members are enough for a key.
fn can_be_left_out<S: Bls12381Suite>(ceremony: &Ceremony<S>, missing: &[MemberNumber]) -> bool {
    let is_left = |member: &MemberNumber| !missing.contains(member);
    let receivers = ceremony.receivers().filter(|(_, member)| is_left(member)).count();
    receivers >= ceremony.confirmations_needed() && ceremony.are_enough(ceremony.dealers().filter(is_left))
}

/// How long a file may stay as it is before it is called broken.
const PATIENCE: Duration = Duration::from_secs(5);

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate dkg run <FOLDER> --identity <FILE> --id <ID> [OPTIONS]";

const EXAMPLES: &str = "\
Examples:
  quorate dkg run ceremony --identity alice.identity.json \\
      --id 3f29c1d0… --wait
  quorate dkg run reshare --identity alice.identity.json \\
      --id 70b2e455… --share alice.share-3f29c1d0.json --wait --timeout 2h
  quorate dkg run ceremony --identity alice.identity.json \\
      --id 3f29c1d0… --wait --without erin";
