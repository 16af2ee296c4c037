//! One member's side of a ceremony over files: what is there is taken in, and what the member has to say is published.
//!
//! The order of writing makes every interruption harmless. The private state is written first, whole or not at all, and then the
//! message that belongs to it. If the program is stopped between the two, the next run finds the message in the state, and
//! publishes it. It never makes a second one: all that a member says follows from a seed in its state.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use quorate::{Bls12381Suite, Options};
use quorate_host::exit::{Exit, Failure};
use quorate_threshold::{
    KeyShare,
    dkg::{
        Body, Ceremony, CeremonyEvent, CeremonyMember, CeremonyMessage, CeremonyOutput, Culprit, JoinError,
        MemberNumber, MessageError, Participant, Round,
    },
};

use super::{
    folder::{CeremonyFile, Folder, MessageFile, Problems, gone_on_without, say_misnamed},
    identity_file::IdentityFile,
    members::{Names, names},
    public_file, words,
};
use crate::commands::{print, random, value::path_to_read};

/// Which ceremony, and as whom.
#[derive(Clone, Debug, Args)]
pub(super) struct SessionArguments {
    /// Folder of the ceremony, with ceremony.json and messages/
    #[arg(value_name = "FOLDER")]
    pub(super) folder: PathBuf,

    /// Your identity, as `quorate dkg identity` wrote it. The private state of the ceremony is kept beside it
    #[arg(short, long, value_name = "FILE", value_parser = path_to_read())]
    pub(super) identity: PathBuf,
}

/// Rounds that are closed though messages of them are missing.
#[derive(Clone, Debug, Args)]
pub(super) struct CloseArguments {
    /// Do not wait for the messages of this round any longer. Whoever has not spoken is left out of it. All members should
    /// agree on it first, because members who saw different messages may come to no common key
    #[arg(long, value_name = "ROUND")]
    close: Option<RoundName>,

    /// Do not wait for these members: a round is closed as soon as only their messages are missing. Names with commas between
    /// them. All members should agree on it first, as with --close
    #[arg(long, value_name = "NAMES", value_parser = names)]
    without: Option<Names>,
}

/// What a command does not wait for.
#[derive(Clone, Debug, Default)]
pub(super) struct Closing {
    pub(super) round: Option<Round>,
    pub(super) without: Vec<MemberNumber>,
}

impl Closing {
    /// Whether a round may be closed without the messages of some members.
    fn allows(&self, round: Round, missing: &[MemberNumber]) -> bool {
        self.round == Some(round) || missing.iter().all(|member| self.without.contains(member))
    }
}

/// [`Round`] as the command line writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoundName {
    Deal,
    Response,
    Justification,
    Reveal,
    Absence,
    Disclosure,
    Confirmation,
    Contribution,
}

impl From<RoundName> for Round {
    fn from(name: RoundName) -> Self {
        match name {
            RoundName::Deal => Self::Deal,
            RoundName::Response => Self::Response,
            RoundName::Justification => Self::Justification,
            RoundName::Reveal => Self::Reveal,
            RoundName::Absence => Self::Absence,
            RoundName::Disclosure => Self::Disclosure,
            RoundName::Contribution => Self::Contribution,
            RoundName::Confirmation => Self::Confirmation,
        }
    }
}

impl CloseArguments {
    /// The round and the members, in the words of a ceremony. Nobody goes on without itself.
    pub(super) fn closing<S: Bls12381Suite>(&self, session: &Session<S>) -> Result<Closing, Failure> {
        let without = without(&session.ceremony, self.without.as_ref())?;
        if without.contains(&session.number) {
            let me = session.ceremony.name(session.number);
            return Err(Failure::usage(anyhow!("--without: you are {me}; name those who are absent")));
        }
        Ok(Closing { round: self.close.map(Round::from), without })
    }
}

/// The members whom `--without` names.
pub(super) fn without<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    names: Option<&Names>,
) -> Result<Vec<MemberNumber>, Failure> {
    let number = |name| {
        ceremony.member_named(name).ok_or_else(|| {
            let members: Vec<_> = ceremony.members().collect();
            let members = words::names(ceremony, &members);
            Failure::usage(anyhow!("--without: the ceremony has no member {name}; its members are {members}"))
        })
    };
    names.iter().flat_map(|Names(names)| names).map(number).collect()
}

/// The commands that take a member through a ceremony. Each goes at most as far as its rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Deal,
    Receive,
    Complain,
    Finish,
}

impl Stage {
    /// The stage in which a round is closed.
    pub(super) fn closing<S: Bls12381Suite>(ceremony: &Ceremony<S>, round: Round) -> Self {
        match round {
            Round::Deal => Self::Receive,
            Round::Confirmation => Self::Finish,
            last if ceremony.rounds().last() == Some(&last) => Self::Finish,
            _ => Self::Complain,
        }
    }

    /// The command.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Deal => "deal",
            Self::Receive => "receive",
            Self::Complain => "complain",
            Self::Finish => "finish",
        }
    }

    fn may_close<S: Bls12381Suite>(self, ceremony: &Ceremony<S>, round: Round) -> bool {
        Self::closing(ceremony, round) <= self
    }
}

/// A member's side of a ceremony.
pub(super) struct Session<S: Bls12381Suite> {
    pub(super) folder: Folder,
    pub(super) identity: IdentityFile,
    pub(super) ceremony: Ceremony<S>,
    /// Which member this is.
    pub(super) number: MemberNumber,
    arguments: SessionArguments,
}

/// A round that is closed, and is not written down yet.
struct ClosedRound<S: Bls12381Suite> {
    round: Round,
    /// Whose messages were not waited for, if it was closed before it was complete.
    left_out: Option<Vec<MemberNumber>>,
    after: Participant<S>,
    outputs: Vec<CeremonyOutput>,
}

/// How far a run came.
#[derive(Clone, Debug)]
pub(super) enum Progress {
    /// All rounds of its stage are closed.
    Reached,
    /// Members have not spoken.
    Waiting { round: Round, missing: Vec<MemberNumber> },
}

impl<S: Bls12381Suite> Session<S> {
    /// Opens an identity for a ceremony in which it takes part.
    pub(super) fn open(file: &CeremonyFile, arguments: &SessionArguments) -> Result<Self, Failure> {
        let ceremony = file.ceremony()?;
        let identity = IdentityFile::open(&arguments.identity)?;
        let me = identity.identity.name();
        let Some(number) = ceremony.number_of(&identity.identity) else {
            let problem = match ceremony.member_named(me) {
                Some(_) => format!("lists other keys for {me} than those of this identity"),
                None => format!("has no member {me}"),
            };
            let members: Vec<_> = ceremony.members().collect();
            return Err(Failure::usage(anyhow!(
                "the ceremony in {} {problem}; its members are {}",
                file.folder.display(),
                words::names(&ceremony, &members)
            )));
        };
        Ok(Self { folder: file.folder.clone(), identity, ceremony, number, arguments: arguments.clone() })
    }

    /// What changes when others have spoken, or when another command of this member has gone on.
    pub(super) fn watched(&self) -> Vec<PathBuf> {
        let (folder, state) = (&self.folder, self.identity.state_path(self.ceremony.id()));
        let of_one_round = [folder.transcripts_path(), folder.combination_path()];
        [folder.messages_path(), folder.shared_key_path(), state].into_iter().chain(of_one_round).collect()
    }

    /// Whether this member deals.
    pub(super) fn deals(&self) -> bool {
        self.ceremony.dealers().any(|dealer| dealer == self.number)
    }

    /// Goes on from the private state, if there is one, and publishes again what is missing of one's own messages.
    pub(super) fn resume(&self) -> Result<Option<Participant<S>>, Failure> {
        if self.ceremony.is_one_round() {
            return Err(Failure::usage(anyhow!(
                "the ceremony in {} is in one round, in which nobody answers; run: quorate dkg run {}",
                self.folder.display(),
                self.folder_and_identity()
            )));
        }
        let Some(participant) = self.identity.participant(&self.ceremony)? else {
            self.refuse_lost_state()?;
            return Ok(None);
        };
        self.publish_missing(&participant)?;
        Ok(Some(participant))
    }

    /// Publishes again what is not in the folder: one's own messages, and the reveals that others miss.
    fn publish_missing(&self, participant: &Participant<S>) -> Result<(), Failure> {
        let is_there = |message: &CeremonyMessage| match message.sender() == participant.member() {
            true => self.is_there(message),
            // Whatever else stands there under another one's name is left as it is.
            false => Ok(self.path_of(message).symlink_metadata().is_ok()),
        };
        let missing = participant.published().map(|message| Ok((message, is_there(message)?)));
        let missing = missing.collect::<Result<Vec<_>, Failure>>()?;
        for (message, _) in missing.into_iter().filter(|(_, is_there)| !is_there) {
            self.publish(message, "published again")?;
        }
        Ok(())
    }

    /// Begins to take part. `share` is that of the previous key, if the member deals it.
    pub(super) fn join(&self, share: Option<KeyShare<S>>) -> Result<Participant<S>, Failure> {
        let seed = random::secret_bytes()?;
        let joined =
            Participant::join(self.ceremony.clone(), self.identity.identity.clone(), seed, share, Options::default());
        let (participant, outputs) = joined.map_err(|error| match error {
            JoinError::ShareMissing(index) => Failure::usage(anyhow!(
                "you deal your share {index} of the previous key in this ceremony; give its file with --share"
            )),
            JoinError::Zero(_) => Failure::internal(error),
            _ => Failure::usage(error),
        })?;
        self.save_and_publish(&participant, outputs)?;
        Ok(participant)
    }

    /// Takes in the messages that are there, and closes the rounds of a stage as they are complete, or as `closing` says. If that would
    /// leave the ceremony without a key because messages are missing, a round that is not complete stays open unless others left it.
    pub(super) fn advance(
        &self,
        mut participant: Participant<S>,
        stage: Stage,
        closing: &Closing,
        problems: &mut Problems,
    ) -> Result<(Participant<S>, Progress), Failure> {
        self.refuse_close(stage, closing.round)?;
        if !matches!(participant.end(), Some(Err(_))) {
            participant = self.take_in(participant, problems)?;
        }
        self.name_missed(&participant, problems);
        // What is published cannot be taken back, so all rounds are closed in memory before the first of them is written down.
        let (mut steps, mut ended, mut last) = (Vec::new(), Ok(Progress::Reached), participant.clone());
        while let Some(round) = last.round().filter(|round| stage.may_close(&self.ceremony, *round)) {
            let missing = last.missing();
            let is_forced = !last.is_complete();
            if is_forced && !closing.allows(round, &missing) {
                ended = Ok(Progress::Waiting { round, missing });
                break;
            }
            let (next, outputs) = last.step(CeremonyEvent::Close);
            if let (true, Some(Err(failure))) = (is_forced, next.end()) {
                self.name_culprits(&next, problems);
                let spoken = participant.messages().filter(|message| message.sender() != self.number);
                let latest = spoken.map(CeremonyMessage::round).max();
                // Where others have gone on, they wait for what this member says next.
                let left = steps.iter().rposition(|step: &ClosedRound<S>| latest > Some(step.round));
                let complete = steps.iter().take_while(|step| step.left_out.is_none()).count();
                let closed = complete.max(left.map_or(0, |place| place + 1));
                let open = steps.get(closed).map_or(round, |step| step.round);
                steps.truncate(closed);
                ended = Err(Failure::usage(anyhow!(
                    "without {}, the ceremony makes no key: {}. The round `{open}` is still open, so you may go on when more \
                     messages are there",
                    words::names(&self.ceremony, &missing),
                    words::failure(&self.ceremony, failure)
                )));
                break;
            }
            steps.push(ClosedRound { round, left_out: is_forced.then_some(missing), after: next.clone(), outputs });
            last = next;
        }
        for ClosedRound { round, left_out, after, outputs } in steps {
            self.save_and_publish(&after, outputs)?;
            if let Some(missing) = left_out {
                let names = words::names(&self.ceremony, &missing);
                print::note(format_args!("closed the round `{round}` without {names}"));
            }
            participant = after;
        }
        ended.map(|progress| (participant, progress))
    }

    /// Says who did not do what the ceremony asks for.
    pub(super) fn name_culprits(&self, participant: &Participant<S>, problems: &mut Problems) {
        for culprit in participant.culprits() {
            // Who ends without the last confirmations had enough of them.
            let is_unneeded =
                matches!(culprit, Culprit::Silent { round: Round::Confirmation | Round::Contribution, .. })
                    && participant.end().is_some_and(Result::is_ok);
            if !is_unneeded {
                // The same can be proven by several messages.
                problems.once(&words::culprit(&self.ceremony, &culprit));
            }
        }
    }

    /// Says which reveals are here that others miss. In a folder that all see the files are enough. Where everyone has a copy,
    /// the file has to be carried to them.
    fn name_missed(&self, participant: &Participant<S>, problems: &mut Problems) {
        let confirmed = |member| {
            participant.messages().any(|message| (message.round(), message.sender()) == (Round::Confirmation, member))
        };
        for reveal in participant.published().filter(|message| message.round() == Round::Reveal) {
            let misses = |message: &&CeremonyMessage| {
                matches!(message.body(), Body::Absence { dealers } if dealers.contains(&reveal.sender()))
                    && !confirmed(message.sender())
            };
            let members: Vec<_> = participant.messages().filter(misses).map(CeremonyMessage::sender).collect();
            if !members.is_empty() {
                problems.once(&format!(
                    "{} had not got the reveal of {}, which is here: see that they get {}",
                    words::names(&self.ceremony, &members),
                    self.ceremony.name(reveal.sender()),
                    self.path_of(reveal).display()
                ));
            }
        }
    }

    /// Says for whom a run waits, or what comes next, and gives the exit code.
    pub(super) fn report(&self, participant: &Participant<S>, stage: Stage, progress: &Progress) -> Exit {
        match (progress, participant.round()) {
            (Progress::Waiting { round, missing }, _) => {
                let by = Stage::closing(&self.ceremony, *round);
                print::note(format_args!(
                    "waiting for {} in the round `{round}`; when their messages are there, run: {}",
                    words::names(&self.ceremony, missing),
                    self.command(stage)
                ));
                print::note(format_args!("to go on without them: {} --close {round}", self.command(by)));
                Exit::Negative
            }
            (Progress::Reached, Some(round)) => {
                let next = Stage::closing(&self.ceremony, round);
                print::note(format_args!("next: {}", self.command(next)));
                Exit::Success
            }
            (Progress::Reached, None) => Exit::Success,
        }
    }

    /// What this member can do, if so many others have answered the deals without its own that it has no part in the key. They are named:
    /// somebody of them may have seen the deal all the same.
    pub(super) fn advice_to_left_out<'a>(&self, messages: impl Iterator<Item = &'a CeremonyMessage>) -> Option<String> {
        let without = gone_on_without(&self.ceremony, self.number, messages)?;
        let SessionArguments { folder, .. } = &self.arguments;
        let (name, others) = (self.identity.identity.name(), words::names(&self.ceremony, &without));
        let have = if without.len() == 1 { "has" } else { "have" };
        Some(format!(
            "{others} {have} closed the round `deal` without your deal, so you get no share in this ceremony. When the others have \
             finished, they can give you yours: quorate dkg recover NEW_FOLDER --previous {} --lost {name}",
            quoted(folder)
        ))
    }

    /// A command of this member.
    pub(super) fn command(&self, stage: Stage) -> String {
        format!("quorate dkg {} {}", stage.name(), self.folder_and_identity())
    }

    /// The one command that takes this member from where it is to its share. Before it has said anything, it compares the id, which nobody
    /// else can do.
    pub(super) fn run_command(&self, begins: bool) -> String {
        let id = if begins { " --id ID" } else { "" };
        let dealt = if begins { self.ceremony.previous_shares(self.number).count() } else { 0 };
        format!("quorate dkg run {}{id}{} --wait", self.folder_and_identity(), " --share FILE".repeat(dealt))
    }

    /// The arguments that all commands of this member have.
    pub(super) fn folder_and_identity(&self) -> String {
        let SessionArguments { folder, identity } = &self.arguments;
        format!("{} --identity {}", quoted(folder), quoted(identity))
    }

    /// Takes in the messages that are there. Nothing is written.
    pub(super) fn look(
        &self,
        mut participant: Participant<S>,
        problems: &mut Problems,
    ) -> Result<Participant<S>, Failure> {
        let mut misnamed = Vec::new();
        for file in self.folder.messages(&self.ceremony, problems)? {
            let (round, sender) = (file.message.round(), file.message.sender());
            if !file.is_named_rightly {
                // Under a wrong name a message counts only if it proves that its sender signed two. Of two such none is taken.
                let mut known =
                    participant.messages().filter(|known| (known.round(), known.sender()) == (round, sender));
                if known.all(|known| *known == file.message) {
                    misnamed.push(file);
                    continue;
                }
            } else if sender == participant.member() {
                // What this member says comes from its state alone. It was compared, or will be before it is published.
                continue;
            } else if participant.end().is_some() && round != Round::Absence {
                // Whoever has ended only passes on what others miss.
                continue;
            }
            let MessageFile { name, message, .. } = file;
            let (next, outputs) = participant.step(CeremonyEvent::Message(message));
            participant = next;
            for output in outputs {
                match output {
                    CeremonyOutput::Refused(MessageError::Duplicate) => {}
                    CeremonyOutput::Refused(error) => problems.of(&name, &words::message_error(&self.ceremony, &error)),
                    _ => {}
                }
            }
        }
        say_misnamed(&self.ceremony, &BTreeMap::new(), &misnamed, problems);
        Ok(participant)
    }

    /// Takes in the messages that are there, and writes the state if they change it.
    fn take_in(&self, participant: Participant<S>, problems: &mut Problems) -> Result<Participant<S>, Failure> {
        let before = participant.to_json();
        let participant = self.look(participant, problems)?;
        problems.end();
        if *participant.to_json() != *before {
            self.identity.save(&participant)?;
            self.publish_missing(&participant)?;
        }
        Ok(participant)
    }

    /// Writes the state, and then the messages that belong to it. Refuses both if other messages are in their place.
    fn save_and_publish(&self, participant: &Participant<S>, outputs: Vec<CeremonyOutput>) -> Result<(), Failure> {
        let messages = outputs.into_iter().filter_map(|output| match output {
            CeremonyOutput::Publish(message) => Some(message),
            _ => None,
        });
        let messages: Vec<_> =
            messages.map(|message| Ok((self.is_there(&message)?, message))).collect::<Result<_, Failure>>()?;
        self.identity.save(participant)?;
        for (_, message) in messages.iter().filter(|(is_there, _)| !is_there) {
            self.publish(message, "published")?;
        }
        Ok(())
    }

    fn publish(&self, message: &CeremonyMessage, what: &str) -> Result<(), Failure> {
        let path = self.path_of(message);
        let write = || {
            self.folder.make_messages_folder()?;
            Ok(public_file::write_new(&path, message.to_json().as_bytes())?)
        };
        let written = write().map_err(|failure: Failure| {
            failure.context(
                "your message is kept in your private state and is not published yet; run the same command again to publish it",
            )
        })?;
        // Another program wrote it meanwhile.
        if !written && !self.is_there(message)? {
            return self.publish(message, what);
        }
        print::note(format_args!("{what} {}", path.display()));
        Ok(())
    }

    /// Whether one's own message is in the folder. Refuses everything else in its place.
    fn is_there(&self, message: &CeremonyMessage) -> Result<bool, Failure> {
        let path = self.path_of(message);
        let Some(json) = public_file::read_if_there(&path)? else { return Ok(false) };
        let path = path.display();
        match CeremonyMessage::from_json(&json) {
            Ok(found) if found == *message => Ok(true),
            // The name of the ceremony in a file is not signed: with another one it is the same message, changed by somebody.
            Ok(found)
                if found.sender() == message.sender()
                    && found.seen() != message.seen()
                    && found.seen().is_signed(&self.ceremony) =>
            {
                Err(Failure::usage(anyhow!(
                    "{path} is another message than the one in your private state, and you signed both. Either the state was \
                     restored from an old copy, or the same identity is used in two places. Do not publish both, because that \
                     would prove that you cheat: restore the newest {}",
                    self.identity.state_path(self.ceremony.id()).display()
                )))
            }
            _ => Err(Failure::usage(anyhow!(
                "{path} stands where your message belongs, and is not it: it was cut off, changed, or written by somebody else. \
                 Remove it and run the same command again, which publishes your message"
            ))),
        }
    }

    /// Whether a message of this member is in the folder.
    pub(super) fn has_spoken(&self) -> bool {
        let name = self.identity.identity.name();
        self.ceremony.rounds().iter().any(|round| self.folder.message_path(*round, name).symlink_metadata().is_ok())
    }

    /// Refuses to begin anew in a ceremony in which this member has spoken.
    fn refuse_lost_state(&self) -> Result<(), Failure> {
        let me = self.identity.identity.member();
        let state = self.identity.state_path(self.ceremony.id());
        for round in self.ceremony.rounds() {
            let path = self.folder.message_path(*round, me.name());
            let Some(json) = public_file::read_if_there(&path)? else { continue };
            let (path, state) = (path.display(), state.display());
            let is_own = CeremonyMessage::from_json(&json).is_ok_and(|message| {
                self.ceremony.member(message.sender()).map(CeremonyMember::name) == Some(me.name())
                    && message.seen().is_signed(&self.ceremony)
            });
            return Err(Failure::usage(match is_own {
                true => anyhow!(
                    "you signed {path}, and your private state of this ceremony, {state}, is not there. Restore it: without it \
                     you would say something else in the same round, which would prove that you cheat. If it is lost, the \
                     others have to go on without you. If `quorate dkg forget` deleted it, do not restore it. Look whether an old \
                     share is left that it did not know: in files that `--out` or you wrote elsewhere, in private states in other \
                     folders, and in backups"
                ),
                false => anyhow!(
                    "{path} stands where your message belongs, and you did not sign it in this ceremony; remove it and run the \
                     same command again"
                ),
            }));
        }
        Ok(())
    }

    fn refuse_close(&self, stage: Stage, close: Option<Round>) -> Result<(), Failure> {
        let Some(round) = close else { return Ok(()) };
        if !self.ceremony.rounds().contains(&round) {
            let rounds: Vec<_> = self.ceremony.rounds().iter().map(ToString::to_string).collect();
            return Err(Failure::usage(anyhow!(
                "--close: this ceremony has no round `{round}`; its rounds are {}",
                rounds.join(", ")
            )));
        }
        if !stage.may_close(&self.ceremony, round) {
            return Err(Failure::usage(anyhow!(
                "--close: `{}` ends before the round `{round}` is closed; use: {} --close {round}",
                stage.name(),
                self.command(Stage::closing(&self.ceremony, round))
            )));
        }
        Ok(())
    }

    fn path_of(&self, message: &CeremonyMessage) -> PathBuf {
        self.folder.message_path(message.round(), self.ceremony.name(message.sender()))
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |letter: char| letter.is_alphanumeric() || "-_./+:@%".contains(letter);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
