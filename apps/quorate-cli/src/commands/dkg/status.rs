//! `quorate dkg status`.

use std::path::{Path, PathBuf};

use clap::Args;
use quorate::{Backend, Bls12381Suite};
use quorate_host::exit::{Exit, Result};
use quorate_threshold::{
    Index, KeyShare,
    dkg::{Body, Ceremony, MemberNumber, Misdeed, Round, Seat, judge},
};
use serde::Serialize;

use super::{
    finish::share_to_write,
    folder::{Board, CeremonyFile, Problems},
    publish::has_published,
    session::{Session, SessionArguments, Stage},
    transcripts::Transcripts,
    words,
};
use crate::commands::{
    print,
    suite::{Bls12381Argument, InBls12381},
    value::path_to_read,
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
    #[arg(short, long, value_name = "FILE", value_parser = path_to_read())]
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
    /// `run`, which does the step.
    command: &'static str,
    /// The command of the step alone.
    step: &'static str,
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
    /// What is left to do where no command goes on, or what to know before the next one.
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
            return one_round(&file, &ceremony, arguments);
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
    /// Who has how many of the shares, where somebody has more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shares: Vec<SharesOf>,
    published: Vec<String>,
    missing: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    signed_two: Vec<String>,
    dealers_needed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    you: Option<OneRoundYou>,
}

#[derive(Serialize)]
struct SharesOf {
    name: String,
    shares: u32,
    /// The first and the last of them.
    participants: [u32; 2],
}

impl SharesOf {
    /// Those of all receivers, by their indices, or of nobody if each has one.
    fn all<S: Bls12381Suite>(ceremony: &Ceremony<S>) -> Vec<Self> {
        let mut found: Vec<_> = ceremony
            .seats()
            .iter()
            .filter_map(|Seat { member, receiver, weight, .. }| {
                let first = (*receiver)?;
                Some(Self {
                    name: member.name().to_string(),
                    shares: *weight,
                    participants: [first, first + weight - 1],
                })
            })
            .collect();
        found.sort_by_key(|of| of.participants);
        if found.iter().all(|of| of.shares == 1) { Vec::new() } else { found }
    }
}

#[derive(Serialize)]
struct OneRoundYou {
    name: String,
    deals: bool,
    published: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// What to know before the next command.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// What a member still has to do when a key is there.
struct Left {
    next: Option<String>,
    advice: Option<String>,
}

impl Left {
    /// `shares` are those that the member gets. Where a member wrote one with `--out`, nothing says so, and a second copy would stand beside
    /// its identity, perhaps without a passphrase.
    fn of<S: Bls12381Suite>(session: &Session<S>, shares: &[Index]) -> Self {
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        let has_key = is_there(&session.folder.shared_key_path());
        let mut paths = session.identity.share_paths(session.ceremony.id(), shares).into_iter();
        let missing = paths.find(|path| !shares.is_empty() && !is_there(path));
        let next = (!has_key || missing.is_some()).then(|| session.run_command(false));
        let advice = missing.filter(|_| has_key && shares.len() == 1).map(|path| {
            format!(
                "{} is not there: if you wrote your share to another file with --out, nothing is left to do",
                path.display()
            )
        });
        Self { next, advice }
    }
}

impl OneRoundYou {
    /// Where a member is, by the files beside its identity.
    fn of<S: Bls12381Suite>(session: &Session<S>) -> std::result::Result<Self, quorate_host::exit::Failure> {
        let (deals, published) = (session.deals(), has_published(session)?);
        let indices: Vec<_> = session.ceremony.shares_of(session.number).collect();
        let Left { next, advice } = match deals && !published {
            true => Left { next: Some(session.run_command(true)), advice: None },
            false => Left::of(session, &indices),
        };
        Ok(Self { name: session.identity.identity.name().to_string(), deals, published, next, advice })
    }

    fn text(&self) -> String {
        let what = match self {
            Self { next: None, .. } => "have your part of the key",
            Self { published: true, .. } => "have published your transcript",
            Self { deals: true, .. } => "have not published your transcript",
            _ => "publish nothing here",
        };
        format!("you are {}, and {what}", self.name)
    }
}

/// Says whose transcripts are there. Whether they are true, `quorate dkg combine` says.
fn one_round<S: Bls12381Suite>(file: &CeremonyFile, ceremony: &Ceremony<S>, arguments: Arguments) -> Result {
    let mut problems = Problems::default();
    let transcripts = Transcripts::read(&file.folder, ceremony, &mut problems)?;
    problems.end();
    let names = |members: Vec<MemberNumber>| -> Vec<_> {
        members.into_iter().map(|member| ceremony.name(member).to_string()).collect()
    };
    let you = arguments.identity.map(|identity| {
        let session = Session::<S>::open(file, &SessionArguments { folder: arguments.folder, identity })?;
        OneRoundYou::of(&session)
    });
    let you = you.transpose()?;
    let (committee, published) = (ceremony.committee(), transcripts.published());
    let are_enough = ceremony.are_enough(published.iter().copied());
    let status = OneRoundStatus {
        ceremony: ceremony.id().to_string(),
        makes: words::purpose(ceremony),
        suite: ceremony.suite().name(),
        threshold: committee.threshold(),
        participants: committee.participants(),
        shares: SharesOf::all(ceremony),
        published: names(published),
        missing: names(transcripts.missing(ceremony)),
        signed_two: names(transcripts.twice()),
        dealers_needed: ceremony.dealers_needed(),
        you,
    };
    if arguments.json {
        print::json(&status)?;
        return Ok(Exit::Success);
    }
    let OneRoundStatus { ceremony: id, makes, suite, threshold, participants, dealers_needed, .. } = &status;
    print::line(format_args!("ceremony {id}"))?;
    print::line(format_args!("makes {makes}: {suite}, {threshold} of {participants}"))?;
    if !status.shares.is_empty() {
        let shares: Vec<_> =
            status.shares.iter().map(|SharesOf { name, shares, .. }| format!("{name} {shares}")).collect();
        for line in words::wrapped(&format!("shares: {}", words::listed(&shares)), words::WIDTH) {
            print::line(line)?;
        }
    }
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
    let needed = if ceremony.previous().is_some() { "shares of the previous key" } else { "transcripts" };
    print::line(format_args!("{:<12}{dealers_needed} {needed} at least", "needed"))?;
    print::line("")?;
    let next = match (status.missing.is_empty(), are_enough) {
        (true, _) => {
            "next: each member should run `quorate dkg run`; `quorate dkg combine` gives anyone the key".to_owned()
        }
        (false, enough) => {
            let without = if enough { ", or all members agree to go on without, with `--without`" } else { "" };
            let missing = words::listed(&status.missing);
            format!("next: {missing} should run `quorate dkg run` (step `publish`){without}")
        }
    };
    let you = status.you.as_ref();
    for text in [Some(next), you.map(OneRoundYou::text), you.and_then(|you| you.advice.clone())].into_iter().flatten() {
        for line in words::wrapped(&text, words::WIDTH) {
            print::line(line)?;
        }
    }
    say_next_command(you.and_then(|you| you.next.as_deref()))?;
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
        let Next { command, step, .. } = next;
        let text = format!("next: {who} should run `quorate dkg {command}` (step `{step}`)");
        for line in words::wrapped(&text, words::WIDTH) {
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
        say_next_command(you.next.as_deref())
    }
}

/// Says the command that a member can copy. A shell takes no other lines.
fn say_next_command(command: Option<&str>) -> std::result::Result<(), quorate_host::exit::Failure> {
    command.map_or(Ok(()), |command| print::line(format_args!("your next command: {command}")))
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
            let step = match status.round {
                Round::Deal => Stage::Deal,
                Round::Response => Stage::Receive,
                _ => Stage::Complain,
            };
            Next { members: can_go_on(status), command: "run", step: step.name(), left_out: names }
        }
        _ => Next { members: Vec::new(), command: "run", step: Stage::Finish.name(), left_out: names },
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
    let left_out = session.advice_to_left_out(board.messages.values());
    let Some(participant) = session.identity.participant(ceremony)? else {
        if left_out.is_some() {
            return Ok(You { advice: left_out, ..none });
        }
        return Ok(You { next: Some(session.run_command(true)), ..none });
    };
    let participant = session.look(participant, &mut Problems::default())?;
    let waiting_for = if participant.is_complete() { Vec::new() } else { participant.missing() };
    let waiting_for = waiting_for.into_iter().map(|member| ceremony.name(member).to_string()).collect();
    Ok(match participant.end() {
        Some(Ok(outcome)) => {
            let share = share_to_write(ceremony, session.number, outcome).map(KeyShare::index);
            let Left { next, advice } = Left::of(session, share.as_slice());
            let public_key = Some(suite.hex(outcome.shared_key.public_key().to_bytes()));
            You { public_key, next, advice, ..none }
        }
        Some(Err(failure)) => You { failure: Some(words::failure(ceremony, failure)), ..none },
        None => {
            let next = Some(session.run_command(false));
            You { round: participant.round(), waiting_for, next, advice: left_out, ..none }
        }
    })
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
