//! `quorate dkg status`.

use std::path::PathBuf;

use clap::Args;
use quorate::{Backend, Bls12381Suite};
use quorate_host::exit::{Exit, Result};
use quorate_threshold::dkg::{Body, Ceremony, MemberNumber, Misdeed, Participant, Round, judge};
use serde::Serialize;

use super::{
    folder::{Board, CeremonyFile, Problems},
    session::{Session, SessionArguments, Stage},
    transcripts::Transcripts,
    words,
};
use crate::commands::{
    print,
    suite::{Bls12381Argument, InBls12381},
};

/// Say who has spoken in each round, who is missing, and what comes next
///
/// Without --identity it reads the public files alone. With it, it also says where you are, for whom you wait, and which
/// command comes next for you. It changes nothing.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folder of the ceremony, with ceremony.json and messages/
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// Your identity
    #[arg(short, long, value_name = "FILE")]
    identity: Option<PathBuf>,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Status {
    ceremony: String,
    makes: String,
    suite: &'static str,
    threshold: usize,
    participants: usize,
    rounds: Vec<RoundStatus>,
    /// Who comes next, by the public files.
    next: Next,
    #[serde(skip_serializing_if = "Option::is_none")]
    you: Option<You>,
}

#[derive(Serialize)]
struct RoundStatus {
    round: Round,
    spoken: Vec<String>,
    missing: Vec<String>,
}

#[derive(Serialize)]
struct Next {
    members: Vec<String>,
    command: &'static str,
    /// Dealers without whose deal the others have gone on. They get no share here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

#[derive(Serialize)]
struct You {
    name: String,
    /// `null` before the first step, and after the last.
    round: Option<Round>,
    waiting_for: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// What is left to do where no command goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let file = CeremonyFile::read(&self.folder)?;
        file.suite().run(Look { arguments: self, file })
    }
}

struct Look {
    arguments: Arguments,
    file: CeremonyFile,
}

impl InBls12381 for Look {
    fn run_in<S: Bls12381Suite>(self, _: S) -> Result {
        let Self { arguments, file } = self;
        let ceremony = file.ceremony::<S>()?;
        let mut problems = Problems::default();
        if ceremony.is_one_round() {
            return one_round(&file, &ceremony, arguments.json);
        }
        let board = file.folder.board(&ceremony, &mut problems)?;
        problems.end();
        let rounds = rounds(&ceremony, &board);
        let next = next(&ceremony, &board, &rounds);
        let you = match arguments.identity {
            Some(identity) => {
                let session = Session::<S>::open(&file, &SessionArguments { folder: arguments.folder, identity })?;
                Some(you(&session, &board, file.suite())?)
            }
            None => None,
        };
        let committee = ceremony.committee();
        let status = Status {
            ceremony: ceremony.id().to_string(),
            makes: words::purpose(&ceremony),
            suite: ceremony.suite().name(),
            threshold: committee.threshold(),
            participants: committee.participants(),
            rounds,
            next,
            you,
        };
        if arguments.json {
            print::json(&status)?;
        } else {
            status.print()?;
        }
        Ok(Exit::Success)
    }
}

/// What `--json` prints of a ceremony in one round.
#[derive(Serialize)]
struct OneRoundStatus {
    ceremony: String,
    makes: String,
    suite: &'static str,
    threshold: usize,
    participants: usize,
    published: Vec<String>,
    missing: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    signed_two: Vec<String>,
    dealers_needed: usize,
}

/// Says whose transcripts are there. Whether they are true, `quorate dkg combine` says.
fn one_round<S: Bls12381Suite>(file: &CeremonyFile, ceremony: &Ceremony<S>, json: bool) -> Result {
    let mut problems = Problems::default();
    let transcripts = Transcripts::read(&file.folder, ceremony, &mut problems)?;
    problems.end();
    let names = |members: Vec<MemberNumber>| -> Vec<_> {
        members.into_iter().map(|member| ceremony.name(member).to_string()).collect()
    };
    let committee = ceremony.committee();
    let status = OneRoundStatus {
        ceremony: ceremony.id().to_string(),
        makes: words::purpose(ceremony),
        suite: ceremony.suite().name(),
        threshold: committee.threshold(),
        participants: committee.participants(),
        published: names(transcripts.signed.keys().copied().collect()),
        missing: names(transcripts.missing(ceremony)),
        signed_two: names(transcripts.twice.iter().copied().collect()),
        dealers_needed: ceremony.dealers_needed(),
    };
    if json {
        print::json(&status)?;
        return Ok(Exit::Success);
    }
    let OneRoundStatus { ceremony: id, makes, suite, threshold, participants, .. } = &status;
    print::line(format_args!("ceremony {id}"))?;
    print::line(format_args!("makes {makes}: {suite}, {threshold} of {participants}"))?;
    print::line("")?;
    let all = ceremony.dealers().count();
    for (what, members) in
        [("published", &status.published), ("missing", &status.missing), ("signed two", &status.signed_two)]
    {
        let text = if members.is_empty() { "-".to_owned() } else { words::listed(members) };
        let count = format!("{what:<12}{:<9}", format!("{} of {all}", members.len()));
        let lines = words::wrapped(&text, words::WIDTH - 21);
        print::line(format_args!("{count}{}", lines[0]))?;
        for line in &lines[1..] {
            print::line(format_args!("{:21}{line}", ""))?;
        }
    }
    print::line("")?;
    let next = match (status.missing.is_empty(), status.published.len() >= status.dealers_needed) {
        (true, _) => "next: anyone can run `quorate dkg combine`".to_owned(),
        (false, enough) => {
            let without =
                if enough { ", or all members agree to go on without: `quorate dkg combine --without`" } else { "" };
            format!("next: {} should run `quorate dkg publish`{without}", words::listed(&status.missing))
        }
    };
    for line in words::wrapped(&next, words::WIDTH) {
        print::line(line)?;
    }
    Ok(Exit::Success)
}

impl Status {
    fn print(&self) -> std::result::Result<(), quorate_host::exit::Failure> {
        let Self { ceremony: id, makes, suite, threshold, participants, rounds, next, you } = self;
        print::line(format_args!("ceremony {id}"))?;
        print::line(format_args!("makes {makes}: {suite}, {threshold} of {participants}"))?;
        print::line("")?;
        print::line(format_args!("{:<15}{:<13}missing", "round", "spoken"))?;
        for RoundStatus { round, spoken, missing } in rounds {
            let (found, all) = (spoken.len(), spoken.len() + missing.len());
            let count = if all == 0 { "-".to_owned() } else { format!("{found} of {all}") };
            let names = if missing.is_empty() { String::new() } else { words::listed(missing) };
            let lines = words::wrapped(&names, words::WIDTH - 28);
            print::line(format!("{round:<15}{count:<13}{}", lines[0]).trim_end())?;
            for line in &lines[1..] {
                print::line(format_args!("{:28}{line}", ""))?;
            }
        }
        print::line("")?;
        let who = match &next.members[..] {
            [] => "each member who has not done so".to_owned(),
            names => words::listed(names),
        };
        for line in words::wrapped(&format!("next: {who} should run `quorate dkg {}`", next.command), words::WIDTH) {
            print::line(line)?;
        }
        if !next.left_out.is_empty() {
            let (names, dealt, is) = match next.left_out.len() {
                1 => (words::listed(&next.left_out), "its deal", "gets no share"),
                _ => (words::listed(&next.left_out), "their deals", "get no shares"),
            };
            let text = format!(
                "{names}: the others have gone on without {dealt}, so {names} {is} here; `quorate dkg recover` gives one when \
                 the key is there"
            );
            for line in words::wrapped(&text, words::WIDTH) {
                print::line(line)?;
            }
        }
        let Some(you) = you else { return Ok(()) };
        let text = match you {
            You { failure: Some(failure), .. } => {
                format!("you are {}; the ceremony ended without a key: {failure}", you.name)
            }
            You { public_key: Some(_), .. } => format!("you are {}; the ceremony has ended with a key", you.name),
            You { round: Some(round), waiting_for, .. } if waiting_for.is_empty() => {
                format!("you are {}, in the round `{round}`; all its messages are there", you.name)
            }
            You { round: Some(round), waiting_for, .. } => {
                let names = words::listed(waiting_for);
                format!("you are {}, in the round `{round}`, waiting for {names}", you.name)
            }
            _ => format!("you are {}, and have said nothing yet", you.name),
        };
        for text in [Some(&text), you.advice.as_ref()].into_iter().flatten() {
            for line in words::wrapped(text, words::WIDTH) {
                print::line(line)?;
            }
        }
        if let Some(next) = &you.next {
            print::line(format_args!("your next command: {next}"))?;
        }
        Ok(())
    }
}

/// Who has spoken in each round, and who is missing, as far as the messages tell.
fn rounds<S: Bls12381Suite>(ceremony: &Ceremony<S>, board: &Board) -> Vec<RoundStatus> {
    let speakers = Speakers::new(ceremony, board);
    let status = |round: &Round| {
        let has_spoken = |member: &MemberNumber| board.messages.contains_key(&(*round, *member));
        let spoken: Vec<_> = ceremony.members().filter(has_spoken).collect();
        let missing: Vec<_> = speakers.of(*round).into_iter().filter(|member| !has_spoken(member)).collect();
        let names =
            |members: &[MemberNumber]| members.iter().map(|member| ceremony.name(*member).to_string()).collect();
        RoundStatus { round: *round, spoken: names(&spoken), missing: names(&missing) }
    };
    ceremony.rounds().iter().map(status).collect()
}

/// Who should run which command, by the newest round in which somebody has spoken.
fn next<S: Bls12381Suite>(ceremony: &Ceremony<S>, board: &Board, rounds: &[RoundStatus]) -> Next {
    let newest = rounds.iter().rposition(|status| !status.spoken.is_empty()).unwrap_or(0);
    let left_out = board.left_out(ceremony);
    let is_left_out = |name: &&String| left_out.iter().any(|member| ceremony.name(*member).as_str() == name.as_str());
    let can_go_on =
        |status: &RoundStatus| -> Vec<_> { status.missing.iter().filter(|name| !is_left_out(name)).cloned().collect() };
    let names = left_out.iter().map(|member| ceremony.name(*member).to_string()).collect();
    let confirmed = board.messages.keys().filter(|(round, _)| *round == Round::Confirmation).count();
    let due = rounds[newest..].iter().find(|status| !can_go_on(status).is_empty());
    match due {
        Some(status) if status.round != Round::Confirmation || confirmed < ceremony.confirmations_needed() => {
            let command = match status.round {
                Round::Deal => Stage::Deal,
                Round::Response => Stage::Receive,
                _ => Stage::Complain,
            };
            Next { members: can_go_on(status), command: command.name(), left_out: names }
        }
        _ => Next { members: Vec::new(), command: Stage::Finish.name(), left_out: names },
    }
}

/// Where a member is, by its private state and the messages that are there.
fn you<S: Bls12381Suite>(
    session: &Session<S>,
    board: &Board,
    suite: Bls12381Argument,
) -> std::result::Result<You, quorate_host::exit::Failure> {
    let ceremony = &session.ceremony;
    let name = session.identity.identity.name().to_string();
    let (round, waiting_for) = (None, Vec::new());
    let none = You { name, round, waiting_for, public_key: None, failure: None, next: None, advice: None };
    let left_out = session.is_left_out(board).then(|| session.advice_to_left_out());
    let Some(participant) = session.identity.participant(ceremony)? else {
        if left_out.is_some() {
            return Ok(You { advice: left_out, ..none });
        }
        let stage = if session.deals() { Stage::Deal } else { Stage::Receive };
        return Ok(You { next: Some(session.command(stage)), ..none });
    };
    let participant = session.look(participant, &mut Problems::default())?;
    let waiting_for = if participant.is_complete() { Vec::new() } else { participant.missing() };
    let waiting_for = waiting_for.into_iter().map(|member| ceremony.name(member).to_string()).collect();
    Ok(match participant.end() {
        Some(Ok(outcome)) => You {
            public_key: Some(suite.hex(outcome.shared_key.public_key().to_bytes())),
            next: Some(session.command(Stage::Finish)),
            ..none
        },
        Some(Err(failure)) => You { failure: Some(words::failure(ceremony, failure)), ..none },
        None => {
            let next = Some(following(session, &participant));
            You { round: participant.round(), waiting_for, next, advice: left_out, ..none }
        }
    })
}

/// The command that goes on from the round in which a member is.
fn following<S: Bls12381Suite>(session: &Session<S>, participant: &Participant<S>) -> String {
    let stage = participant.round().map_or(Stage::Finish, |round| Stage::closing(&session.ceremony, round));
    session.command(stage)
}

/// Who has something to say in each round, by the messages that are there. Members who saw others may differ.
struct Speakers {
    dealers: Vec<MemberNumber>,
    receivers: Vec<MemberNumber>,
    accused: Vec<MemberNumber>,
    revealing: Vec<MemberNumber>,
    /// Of the rounds that most ceremonies skip, those in which somebody has spoken.
    unusual: Vec<Round>,
}

impl Speakers {
    fn new<S: Bls12381Suite>(ceremony: &Ceremony<S>, board: &Board) -> Self {
        let messages: Vec<_> = board.messages.values().chain(&board.others).cloned().collect();
        let blames = judge(ceremony, &messages, Backend::auto());
        let is_out = |dealer: &MemberNumber| {
            blames.iter().any(|blame| {
                blame.member() == *dealer
                    && !matches!(
                        blame.misdeed(),
                        Misdeed::Dealers(_)
                            | Misdeed::FalseSighting { .. }
                            | Misdeed::FalseComplaint { .. }
                            | Misdeed::FalseDisclosure { .. }
                    )
            })
        };
        let complaints = |dealer: &MemberNumber| {
            let complains =
                |body: &Body| matches!(body, Body::Response { complaints, .. } if complaints.contains(dealer));
            board.messages.values().filter(|message| complains(message.body())).count()
        };
        let dealers: Vec<_> = ceremony.dealers().collect();
        let has_spoken = |round, member: &MemberNumber| board.messages.contains_key(&(round, *member));
        let valid = |dealer: &&MemberNumber| has_spoken(Round::Deal, dealer) && !is_out(dealer);
        let valid: Vec<_> = dealers.iter().filter(valid).copied().collect();
        let t = ceremony.committee().threshold();
        let accused = valid.iter().copied().filter(|dealer| (1..t).contains(&complaints(dealer))).collect();
        let stays = |dealer: &MemberNumber| match complaints(dealer) {
            0 => true,
            number => number < t && has_spoken(Round::Justification, dealer),
        };
        let revealing = valid.iter().copied().filter(stays).collect();
        let spoken = |wanted: &Round| board.messages.keys().any(|(round, _)| round == wanted);
        let unusual = [Round::Absence, Round::Disclosure].into_iter().filter(spoken).collect();
        let receivers = ceremony.receivers().map(|(_, member)| member).collect();
        Self { dealers, receivers, accused, revealing, unusual }
    }

    fn of(&self, round: Round) -> Vec<MemberNumber> {
        match round {
            Round::Deal => self.dealers.clone(),
            Round::Justification => self.accused.clone(),
            Round::Reveal => self.revealing.clone(),
            Round::Absence | Round::Disclosure if !self.unusual.contains(&round) => Vec::new(),
            _ => self.receivers.clone(),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate dkg status ceremony
  quorate dkg status ceremony --identity alice.identity.json
  quorate dkg status ceremony --json";
