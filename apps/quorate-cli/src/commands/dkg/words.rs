//! What happened in a ceremony, in words that name its members.

use quorate::Bls12381Suite;
use quorate_threshold::dkg::{
    Ceremony, CeremonyFailure, CeremonyPurpose, Culprit, MemberNumber, MessageError, Misdeed, Round, Variant,
};

use crate::commands::print::{self, plural};

/// "alice", "alice and bob", "alice, bob and carol". Of many, the first ten and how many more there are.
pub(super) fn names<S: Bls12381Suite>(ceremony: &Ceremony<S>, members: &[MemberNumber]) -> String {
    let names: Vec<_> = members.iter().map(|member| ceremony.name(*member).as_str()).collect();
    listed(&names)
}

/// The same of names.
pub(super) fn listed(names: &[impl AsRef<str>]) -> String {
    let mut shown: Vec<_> = names.iter().take(MOST).map(|name| name.as_ref().to_owned()).collect();
    if names.len() > MOST {
        shown.push(format!("{} more", names.len() - MOST));
    }
    match shown.split_last() {
        None => "nobody".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// Names as a flag takes them: "alice,bob".
fn with_commas<S: Bls12381Suite>(ceremony: &Ceremony<S>, members: &[MemberNumber]) -> String {
    let names: Vec<_> = members.iter().map(|member| ceremony.name(*member).as_str()).collect();
    names.join(",")
}

/// What to do to go on without the members who are missing. The flag stands once, with those that it leaves out already.
pub(super) fn advice_without<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    left_out: &[MemberNumber],
    missing: &[MemberNumber],
) -> String {
    let more = missing.iter().filter(|member| !left_out.contains(member));
    let all: Vec<_> = left_out.iter().chain(more).copied().collect();
    let verb = if left_out.is_empty() { "add" } else { "give" };
    format!("{verb}: --without {}", with_commas(ceremony, &all))
}

/// What a ceremony makes: "a new key", "bob's lost share".
pub(super) fn purpose<S: Bls12381Suite>(ceremony: &Ceremony<S>) -> String {
    match ceremony.purpose() {
        CeremonyPurpose::NewKey(Variant::CommitFirst) => "a new key, commitments first".to_owned(),
        CeremonyPurpose::NewKey(Variant::OneRound) => "a new key, in one round".to_owned(),
        CeremonyPurpose::Reshare(_) => "the same key, shared anew".to_owned(),
        CeremonyPurpose::ReshareInOneRound(_) => "the same key, shared anew in one round".to_owned(),
        CeremonyPurpose::Recover { .. } => {
            let lost = ceremony.lost_member().map_or("a member", |member| ceremony.name(member).as_str());
            format!("the lost share of {lost}")
        }
        _ => "a new key".to_owned(),
    }
}

/// What a member did wrong, to stand after its name.
pub(super) fn misdeed<S: Bls12381Suite>(ceremony: &Ceremony<S>, misdeed: &Misdeed) -> String {
    let name = |member: &MemberNumber| ceremony.name(*member);
    match misdeed {
        Misdeed::FalseSighting { dealer } => format!("named a deal of {} that it did not sign", name(dealer)),
        Misdeed::EnvelopeLength { receiver, found, expected } => {
            format!("sent {} an envelope of {found} bytes, and that of a share has {expected}", name(receiver))
        }
        Misdeed::FalseShare { receiver } => format!("gave {} a false share", name(receiver)),
        Misdeed::FalseComplaint { dealer } => format!("complained about a true share of {}", name(dealer)),
        Misdeed::FalseDisclosure { dealer } => {
            format!("disclosed a share of {} that is not the one that was committed to", name(dealer))
        }
        other => other.to_string(),
    }
}

/// Who did not do what the ceremony asks for, and what.
pub(super) fn culprit<S: Bls12381Suite>(ceremony: &Ceremony<S>, culprit: &Culprit) -> String {
    let who = ceremony.name(culprit.member());
    match culprit {
        Culprit::Proven(blame) => format!("{who} {}, which is proven", misdeed(ceremony, blame.misdeed())),
        Culprit::Silent { round, .. } => format!("{who} said nothing in the round `{round}` before it was closed"),
        Culprit::Unanswered { receiver, .. } => {
            format!("{who} did not answer the complaint of {}", ceremony.name(*receiver))
        }
        Culprit::Accused { complaints, .. } => {
            format!("{who} dealt, and {} complained", plural(*complaints, "receiver"))
        }
        Culprit::FalseContribution { .. } => format!("{who} sent a false contribution to the lost share"),
        Culprit::OtherOutcome { .. } => format!(
            "{who} confirmed another key, and says to have seen the same messages: it lies, or it has seen a second message of a \
             member, and can show it"
        ),
        Culprit::NotSeenByAll { round, unseen_by, .. } => {
            format!("the message of {who} in the round `{round}` did not reach {}", names(ceremony, unseen_by))
        }
        _ => format!("{who} did not do what the ceremony asks for"),
    }
}

/// Why there is no key.
pub(super) fn failure<S: Bls12381Suite>(ceremony: &Ceremony<S>, failure: &CeremonyFailure) -> String {
    match failure {
        CeremonyFailure::TooFewDisclosures { dealer, found, needed } => format!(
            "{} did not reveal its contribution, and {} disclosed shares of it, where {needed} are needed",
            ceremony.name(*dealer),
            plural(*found, "receiver")
        ),
        CeremonyFailure::TooFewDealers { left, needed } => {
            format!("{} left, and {needed} are needed", are(*left, "dealer"))
        }
        CeremonyFailure::TooFewContributions { found, needed } => {
            format!("{} there from which the share is recovered, and {needed} are needed", are(*found, "contribution"))
        }
        CeremonyFailure::Unconfirmed { agreeing, needed } => {
            format!("{} confirmed this key, and {needed} are needed", plural(*agreeing, "receiver"))
        }
        other => other.to_string(),
    }
}

/// "1 dealer is", "2 dealers are".
fn are(number: usize, noun: &str) -> String {
    format!("{} {}", plural(number, noun), if number == 1 { "is" } else { "are" })
}

/// Why a message is not taken, and what to do.
pub(super) fn message_error<S: Bls12381Suite>(ceremony: &Ceremony<S>, error: &MessageError) -> String {
    match error {
        MessageError::OtherCeremony { found, expected } => format!(
            "the message belongs to the ceremony {found}, and this one is {expected}; move it to the folder of its ceremony"
        ),
        MessageError::NoSuchMember(member) => {
            format!("it names the member {member} as its sender, and the ceremony has no such member; remove it")
        }
        MessageError::Signature(member) => {
            let name = ceremony.name(*member);
            format!("{name} did not sign it; remove it, and ask {name} for the message")
        }
        MessageError::NoRole { sender, round } => {
            format!("{} has nothing to say in the round `{round}` of this ceremony; remove it", ceremony.name(*sender))
        }
        MessageError::Duplicate => "it is a copy of a message that is there; remove it".to_owned(),
        MessageError::Contradiction { sender, round } => format!(
            "{} signed another message of the round `{round}`, which came first and counts; keep this one too, because both \
             together prove it",
            ceremony.name(*sender)
        ),
        MessageError::Late(round) => late(*round),
        other => other.to_string(),
    }
}

fn late(round: Round) -> String {
    format!("it came after the round `{round}` was closed here, so it does not count")
}

/// Prints a note in lines that fit a terminal.
pub(super) fn say(text: &str) {
    wrapped(text, WIDTH).into_iter().for_each(print::note);
}

/// Text in lines of at most so many columns, as far as its words allow. At least one line.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Columns of a terminal.
pub(super) const WIDTH: usize = 80;

/// Names that are listed.
pub(super) const MOST: usize = 10;
