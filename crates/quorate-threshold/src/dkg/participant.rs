//! A participant as a state machine: it takes messages and the end of each round, and says what to publish.
//!
//! [`Participant::step`] is pure: no clock, no random numbers, no files. All secrets follow from a seed that the
//! participant gets at the start, so a program that stops at any point and goes on from the last state says the same
//! again. Write the state to disk after each step, before the outputs leave.
//!
//! A round ends when everyone who has something to say in it has said it ([`Participant::is_complete`]), or when the
//! caller stops waiting. The caller ends it with [`Event::Close`].
//!
//! Two participants may see different messages, if the network loses some or a member signs two of one kind. They may
//! then come to different outcomes. No outcome counts before [`Ceremony::confirmations_needed`] receivers have confirmed
//! it, and two outcomes cannot both get so many while fewer than t receivers are dishonest.

mod key;
mod state;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use quorate::{Options, Suite};
use quorate_curve::SecretError;
use zeroize::Zeroizing;

use super::{
    ceremony::{Ceremony, MemberNumber},
    dealing::Dealer,
    hex::Digest,
    identity::Identity,
    judge::{Blame, Board, Judgement, contradictions},
    message::{Body, Disclosed, Message, Seen},
    misdeed::Misdeed,
    outcome::{Culprit, Failure, Outcome},
    round::Round,
};
use crate::{committee::Index, sharing::KeyShare};

/// One member's side of a ceremony.
#[derive(Clone)]
pub struct Participant<S: Suite> {
    ceremony: Ceremony<S>,
    member: MemberNumber,
    identity: Identity,
    seed: Zeroizing<[u8; 32]>,
    /// The share of the previous key, if the member deals it.
    share: Option<KeyShare<S>>,
    /// How many rounds are closed.
    closed: usize,
    messages: BTreeMap<(Round, MemberNumber), Message>,
    /// What the messages of the closed rounds say.
    judgement: Arc<Judgement<S>>,
    /// Members who signed two messages, and how many rounds were closed when it was found.
    contradictions: Vec<(usize, Blame)>,
    end: Option<Result<Outcome<S>, Failure>>,
    options: Options,
}

/// What happens to a participant.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_enums, reason = "a ceremony has no clock: nothing else can happen")]
pub enum Event {
    /// A message came, from whoever says so.
    Message(Message),
    /// The current round is over: whoever has not spoken is left out of it.
    Close,
}

/// What a participant answers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Output {
    /// Give this message to all other participants.
    Publish(Message),
    /// The message was not taken.
    Refused(MessageError),
    /// The ceremony is over: [`Participant::end`] says how.
    Ended,
}

/// Why a message is not taken. It changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// It is of another ceremony.
    #[error("the message belongs to the ceremony {found}, and this one is {expected}")]
    OtherCeremony {
        /// Its ceremony.
        found: Digest,
        /// This one.
        expected: Digest,
    },
    /// No member has the sender's number.
    #[error("there is no member {0}")]
    NoSuchMember(MemberNumber),
    /// Who is named as its sender did not sign it.
    #[error("the signature is not that of member {0}")]
    Signature(MemberNumber),
    /// The sender has nothing to say in this round.
    #[error("member {sender} has no message in the round `{round}`")]
    NoRole {
        /// The sender.
        sender: MemberNumber,
        /// The round.
        round: Round,
    },
    /// The same message is there.
    #[error("the message is there already")]
    Duplicate,
    /// Another message of the sender and round is there. Both together prove that the sender signed two.
    #[error("member {sender} signed another message of the round `{round}`, which is there already")]
    Contradiction {
        /// The sender.
        sender: MemberNumber,
        /// The round.
        round: Round,
    },
    /// The round is over.
    #[error("the round `{0}` is over")]
    Late(Round),
}

/// Why somebody cannot take part, or a state cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The ceremony lists no member with these keys.
    #[error("the ceremony has no member with the keys of {0}")]
    NotAMember(super::identity::Name),
    /// A dealer of a previous key needs its share of it.
    #[error("this member deals its share {0} of the previous key: give that share")]
    ShareMissing(Index),
    /// The share is of another participant.
    #[error("this member deals its share {expected} of the previous key, and the share given is {found}")]
    OtherShare {
        /// The index in the ceremony.
        expected: Index,
        /// That of the share.
        found: Index,
    },
    /// The share is not one of the previous key.
    #[error(transparent)]
    FalseShare(#[from] crate::sharing::SharingError),
    /// The ceremony needs no share of this member.
    #[error("this member deals no share of a previous key, and one was given")]
    ShareUnneeded,
    /// The seed gives a polynomial with a coefficient of zero: choose another seed. It does not happen.
    #[error("the seed gives a secret that is zero; choose another one")]
    Zero(#[from] SecretError),
    /// The text is not the JSON of a state. The parser's own message could repeat a secret, so only the place is named.
    #[error("it is not the JSON of a participant's state: line {line}, column {column} cannot be read")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// A secret in the state is none. What stands there is not repeated.
    #[error("`{0}` is not 32 bytes in hexadecimal that are a secret")]
    Secret(&'static str),
    /// The state is of another ceremony, or of another member.
    #[error("the state belongs to member {found} of the ceremony {ceremony}")]
    OtherState {
        /// Its member.
        found: MemberNumber,
        /// Its ceremony.
        ceremony: Digest,
    },
    /// A message in the state is not one that the participant would have taken.
    #[error("a message in the state: {0}")]
    Message(MessageError),
}

impl From<serde_json::Error> for JoinError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json { line: error.line(), column: error.column() }
    }
}

impl<S: Suite> Participant<S> {
    /// Takes part in a ceremony. `seed` must be 32 random bytes that were never used before, and `share` is the member's
    /// share of the previous key where it deals it. The output is the deal, of a member who deals.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn join(
        ceremony: Ceremony<S>,
        identity: Identity,
        seed: Zeroizing<[u8; 32]>,
        share: Option<KeyShare<S>>,
        options: Options,
    ) -> Result<(Self, Vec<Output>), JoinError> {
        let mut participant = Self::new(ceremony, identity, seed, share, options)?;
        let mut outputs = Vec::new();
        if participant.ceremony.is_dealer(participant.member) {
            let deal = participant.dealer()?.deal()?;
            participant.publish(deal, &mut outputs);
        }
        Ok((participant, outputs))
    }

    fn new(
        ceremony: Ceremony<S>,
        identity: Identity,
        seed: Zeroizing<[u8; 32]>,
        share: Option<KeyShare<S>>,
        options: Options,
    ) -> Result<Self, JoinError> {
        let me = identity.member();
        let member = ceremony.member_named(me.name()).filter(|number| ceremony.member(*number) == Some(&me));
        let member = member.ok_or_else(|| JoinError::NotAMember(me.name().clone()))?;
        match (ceremony.previous(), ceremony.previous_index(member), &share) {
            (Some(previous), Some(expected), Some(share)) if share.index() == expected => {
                previous.commitment().proves(previous.committee(), share, options.backend)?;
            }
            (_, Some(expected), Some(share)) => return Err(JoinError::OtherShare { expected, found: share.index() }),
            (_, Some(expected), None) => return Err(JoinError::ShareMissing(expected)),
            (_, None, Some(_)) => return Err(JoinError::ShareUnneeded),
            (_, None, None) => {}
        }
        let judgement = Arc::new(Judgement::new(&ceremony, &BTreeMap::new(), options.backend));
        Ok(Self {
            ceremony,
            member,
            identity,
            seed,
            share,
            closed: 0,
            messages: BTreeMap::new(),
            judgement,
            contradictions: Vec::new(),
            end: None,
            options,
        })
    }

    /// The state after an event, and what to do. Each message is checked before anything is done with it: a message that
    /// is not taken changes nothing.
    ///
    /// Cost: for a message, a signature is verified. At the end of a round each deal is read again (t points, one
    /// multi-scalar multiplication), a hundredth of a second for a hundred dealers and a threshold of fifty.
    #[must_use]
    pub fn step(mut self, event: Event) -> (Self, Vec<Output>) {
        let mut outputs = Vec::new();
        match event {
            Event::Message(message) => {
                if let Err(error) = self.take(message) {
                    outputs.push(Output::Refused(error));
                }
            }
            Event::Close => self.close(&mut outputs),
        }
        (self, outputs)
    }

    /// The ceremony.
    pub fn ceremony(&self) -> &Ceremony<S> {
        &self.ceremony
    }

    /// Which member this is.
    pub fn member(&self) -> MemberNumber {
        self.member
    }

    /// The current round, or `None` once the ceremony has ended.
    pub fn round(&self) -> Option<Round> {
        self.ceremony.rounds().get(self.closed).copied().filter(|_| self.end.is_none())
    }

    /// How the ceremony ended, once it has.
    pub fn end(&self) -> Option<&Result<Outcome<S>, Failure>> {
        self.end.as_ref()
    }

    /// The messages that this participant has published, in the order of the rounds. Publish them again if they may not
    /// have arrived: they are the same.
    pub fn published(&self) -> impl Iterator<Item = &Message> {
        self.messages.values().filter(|message| message.sender() == self.member)
    }

    /// All messages that were taken, in the order of the rounds.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.values()
    }

    /// Whose messages the current round still waits for.
    pub fn missing(&self) -> Vec<MemberNumber> {
        let Some(round) = self.round() else { return Vec::new() };
        self.silent(round).collect()
    }

    /// Who has something to say in a round that this participant waits for, and has not said it. Only who lost its share
    /// waits for contributions.
    fn silent(&self, round: Round) -> impl Iterator<Item = MemberNumber> {
        let waits = round != Round::Contribution || self.ceremony.lost_member() == Some(self.member);
        let speakers = if waits { self.speakers(round) } else { Vec::new() };
        speakers.into_iter().filter(move |member| !self.messages.contains_key(&(round, *member)))
    }

    /// Whether the current round has all that it needs: every message, or as many equal confirmations or true contributions
    /// as are needed.
    pub fn is_complete(&self) -> bool {
        match self.round() {
            Some(Round::Confirmation) if self.agreeing().len() >= self.ceremony.confirmations_needed() => true,
            Some(Round::Contribution) if self.ceremony.lost_member() == Some(self.member) => {
                self.missing().is_empty() || self.contributions().0.len() >= self.ceremony.committee().threshold()
            }
            Some(_) => self.missing().is_empty(),
            None => false,
        }
    }

    /// Everyone who did not do what the ceremony asks for, as far as the closed rounds and the contradictions tell.
    pub fn culprits(&self) -> Vec<Culprit> {
        let judgement = &self.judgement;
        let contradictions = self.contradictions.iter().map(|(_, blame)| blame);
        let proven = contradictions.chain(&judgement.blames).cloned().map(Culprit::Proven);
        let mut culprits: Vec<_> = proven.collect();
        for round in &self.ceremony.rounds()[..self.closed] {
            culprits.extend(self.silent(*round).map(|member| Culprit::Silent { round: *round, member }));
        }
        if self.closed > self.place(Round::Justification) {
            for (dealer, receivers) in &judgement.complaints {
                if receivers.len() >= self.ceremony.committee().threshold() {
                    culprits.push(Culprit::Accused { dealer: *dealer, complaints: receivers.len() });
                    continue;
                }
                let unanswered = receivers.iter().filter(|receiver| {
                    let answered = judgement.answered.contains(&(*dealer, **receiver));
                    let false_share = judgement.is_false_share(*dealer, **receiver);
                    judgement.deals.contains_key(dealer) && !answered && !false_share
                });
                culprits
                    .extend(unanswered.map(|receiver| Culprit::Unanswered { dealer: *dealer, receiver: *receiver }));
            }
        }
        if self.ceremony.lost_member() == Some(self.member) && self.end.is_some() {
            let members = self.contributions().1.into_iter();
            culprits.extend(members.map(|member| Culprit::FalseContribution { member }));
        }
        if matches!(self.end, Some(Err(Failure::Unconfirmed { .. }))) {
            culprits.extend(self.unequal_views());
        }
        culprits
    }

    fn place(&self, round: Round) -> usize {
        let place = self.ceremony.rounds().iter().position(|other| *other == round);
        place.expect("every ceremony has a round of justification")
    }

    fn publish(&mut self, body: Body, outputs: &mut Vec<Output>) {
        let message = Message::sign(&self.ceremony, self.member, &self.identity, body);
        self.messages.insert((message.round(), self.member), message.clone());
        outputs.push(Output::Publish(message));
    }

    /// For liars in the tests: remembers what was really published in a round, if anything.
    #[cfg(test)]
    pub(super) fn pretend(&mut self, round: Round, said: Option<Message>) {
        self.messages.remove(&(round, self.member));
        self.messages.extend(said.map(|message| ((round, self.member), message)));
    }

    fn take(&mut self, message: Message) -> Result<(), MessageError> {
        let (round, sender) = (message.round(), message.sender());
        if message.ceremony() != self.ceremony.id() {
            return Err(MessageError::OtherCeremony { found: message.ceremony(), expected: self.ceremony.id() });
        }
        if self.ceremony.member(sender).is_none() {
            return Err(MessageError::NoSuchMember(sender));
        }
        if !self.ceremony.rounds().contains(&round) || !self.has_role(sender, round) {
            return Err(MessageError::NoRole { sender, round });
        }
        let there = self.messages.get(&(round, sender));
        if there == Some(&message) {
            return Err(MessageError::Duplicate);
        }
        let seen = message.seen();
        if !seen.is_signed(&self.ceremony) {
            return Err(MessageError::Signature(sender));
        }
        if let Some(there) = there {
            // A BLS signature is unique, so an equal body has the equal signature.
            let first = there.seen();
            let blame = Blame::equivocation(first, seen);
            if !self
                .contradictions
                .iter()
                .any(|(_, known)| known.misdeed() == blame.misdeed() && known.member() == sender)
            {
                self.contradictions.push((self.closed, blame));
            }
            return Err(MessageError::Contradiction { sender, round });
        }
        let over = self.ceremony.rounds()[..self.closed].contains(&round);
        if over || self.end.is_some() {
            return Err(MessageError::Late(round));
        }
        self.messages.insert((round, sender), message);
        Ok(())
    }

    fn has_role(&self, member: MemberNumber, round: Round) -> bool {
        match round {
            Round::Deal | Round::Justification | Round::Reveal => self.ceremony.is_dealer(member),
            Round::Response | Round::Absence | Round::Disclosure | Round::Confirmation | Round::Contribution => {
                self.ceremony.receiver_index(member).is_some()
            }
        }
    }

    /// The messages of the closed rounds.
    fn board(&self) -> Board<'_> {
        let closed = &self.ceremony.rounds()[..self.closed];
        let messages = self.messages.iter().filter(|((round, _), _)| closed.contains(round));
        messages.map(|(key, message)| (*key, message)).collect()
    }

    /// Who has something to say in a round, by what was said before it.
    fn speakers(&self, round: Round) -> Vec<MemberNumber> {
        let judgement = &self.judgement;
        let receivers = || self.ceremony.receivers().map(|(_, member)| member);
        match round {
            Round::Deal => self.ceremony.dealers().collect(),
            Round::Response | Round::Contribution | Round::Confirmation => receivers().collect(),
            Round::Justification => {
                let t = self.ceremony.committee().threshold();
                let accused = judgement.complaints.iter().filter(|(_, receivers)| receivers.len() < t);
                accused.map(|(dealer, _)| *dealer).filter(|dealer| judgement.deals.contains_key(dealer)).collect()
            }
            Round::Reveal => self.qualified(),
            Round::Absence | Round::Disclosure if self.unrevealed().is_empty() => Vec::new(),
            Round::Absence | Round::Disclosure => receivers().collect(),
        }
    }

    /// The dealers whose contributions count: their deals are right, and every complaint was answered.
    fn qualified(&self) -> Vec<MemberNumber> {
        let judgement = &self.judgement;
        let t = self.ceremony.committee().threshold();
        let qualified = judgement.deals.keys().copied().filter(|dealer| {
            let complaints = judgement.complaints.get(dealer).map_or(&[][..], Vec::as_slice);
            let answered = |receiver: &MemberNumber| judgement.answered.contains(&(*dealer, *receiver));
            complaints.len() < t
                && complaints.iter().all(answered)
                && !judgement.shuts_out(*dealer)
                && !self.contradicted(*dealer)
        });
        qualified.collect()
    }

    /// Whether a member is known to have signed two deals or two justifications, so that others may have seen another
    /// one. What is found later changes nothing any more: the participant has already said whose contributions count.
    fn contradicted(&self, dealer: MemberNumber) -> bool {
        let in_time = self.contradictions.iter().filter(|(closed, _)| *closed <= self.place(Round::Justification));
        in_time.map(|(_, blame)| blame).any(|blame| {
            let round = match blame.misdeed() {
                Misdeed::Equivocation(round) => Some(*round),
                _ => None,
            };
            blame.member() == dealer && matches!(round, Some(Round::Deal | Round::Justification))
        })
    }

    fn unrevealed(&self) -> Vec<MemberNumber> {
        let mut dealers = self.qualified();
        dealers.retain(|dealer| !self.judgement.revealed.contains_key(dealer));
        dealers
    }

    fn close(&mut self, outputs: &mut Vec<Output>) {
        while let Some(closing) = self.round() {
            self.closed += 1;
            self.judgement = Arc::new(Judgement::new(&self.ceremony, &self.board(), self.options.backend));
            if let Some(failure) = self.failure_after(closing) {
                return self.finish(Err(failure), outputs);
            }
            let Some(round) = self.round() else {
                return self.finish(self.result(), outputs);
            };
            let speakers = self.speakers(round);
            if speakers.contains(&self.member) {
                match self.speech(round) {
                    Ok(body) => self.publish(body, outputs),
                    Err(failure) => return self.finish(Err(failure), outputs),
                }
            }
            if !speakers.is_empty() {
                return;
            }
        }
    }

    /// Why the ceremony cannot go on after a round, if it cannot.
    fn failure_after(&self, closed: Round) -> Option<Failure> {
        let (qualified, needed) = (self.qualified().len(), self.ceremony.dealers_needed());
        let quorum = self.ceremony.confirmations_needed();
        let left = match closed {
            Round::Justification => qualified,
            // What is disclosed is a secret no more.
            Round::Reveal => qualified - self.unrevealed().len(),
            Round::Absence if !self.unrevealed().is_empty() => {
                let absent = self.unrevealed();
                let agreeing = self.judgement.absent.values().filter(|dealers| **dealers == absent).count();
                return (agreeing < quorum).then_some(Failure::AbsenceNotAgreed { agreeing, needed: quorum });
            }
            Round::Confirmation => {
                let agreeing = self.agreeing().len();
                return (agreeing < quorum).then_some(Failure::Unconfirmed { agreeing, needed: quorum });
            }
            _ => return None,
        };
        (left < needed).then_some(Failure::TooFewDealers { left, needed })
    }

    fn finish(&mut self, end: Result<Outcome<S>, Failure>, outputs: &mut Vec<Output>) {
        self.end = Some(end);
        outputs.push(Output::Ended);
    }

    fn dealer(&self) -> Result<Dealer<'_, S>, SecretError> {
        Dealer::new(&self.ceremony, self.member, &self.seed, self.share.as_ref())
    }

    /// What this member says in a round that has just begun.
    fn speech(&self, round: Round) -> Result<Body, Failure> {
        let judgement = &self.judgement;
        let zero = |_: SecretError| Failure::Zero;
        match round {
            Round::Deal => self.dealer().and_then(|dealer| dealer.deal()).map_err(zero),
            Round::Response => {
                let mut complaints: Vec<_> = judgement.deals.keys().copied().collect();
                complaints.retain(|dealer| self.dealt_share(*dealer, &judgement.deals[dealer]).is_none());
                let deals = self.board().into_iter().filter(|((round, _), _)| *round == Round::Deal);
                Ok(Body::Response { deals: deals.map(|(_, message)| message.seen()).collect(), complaints })
            }
            Round::Justification => {
                let dealer = self.dealer().map_err(zero)?;
                let openings = judgement.complaints[&self.member].iter().map(|receiver| dealer.opening(*receiver));
                Ok(Body::Justification { openings: openings.collect::<Result<_, _>>().map_err(zero)? })
            }
            Round::Reveal => {
                let hidden = &judgement.deals[&self.member].commitment;
                self.dealer().and_then(|dealer| dealer.reveal(hidden)).map_err(zero)
            }
            Round::Absence => Ok(Body::Absence { dealers: self.unrevealed() }),
            Round::Disclosure => {
                let shares = self.unrevealed().into_iter().filter_map(|dealer| {
                    let share = self.dealt_share(dealer, &judgement.deals[&dealer])?;
                    Some(Disclosed { dealer, share: share.to_bytes().as_slice().into() })
                });
                Ok(Body::Disclosure { shares: shares.collect() })
            }
            Round::Contribution => self.contribution(),
            Round::Confirmation => {
                let shared_key = self.shared_key()?;
                if self.ceremony.lost().is_none() {
                    self.key_share(&shared_key)?;
                }
                let outcome = self.digest(&shared_key, &self.qualified());
                let seen = self.board().values().map(|message| message.seen()).collect();
                Ok(Body::Confirmation { outcome, seen })
            }
        }
    }

    /// Why receivers came to different outcomes: members who signed two messages, and messages that not all saw.
    fn unequal_views(&self) -> Vec<Culprit> {
        let mut views: BTreeMap<MemberNumber, BTreeSet<(Round, MemberNumber)>> = BTreeMap::new();
        let own: Vec<_> = self.messages.values().map(Message::seen).collect();
        let mut all: Vec<Seen> = own.clone();
        for message in self.messages.values() {
            let Body::Confirmation { seen, .. } = message.body() else { continue };
            // One of each kind: a list of any length costs no more signatures than there are messages.
            let seen: BTreeMap<_, _> = seen.iter().map(|seen| ((seen.round, seen.sender), seen)).collect();
            // What this participant has seen itself needs no second look.
            let is_message = |seen: &&Seen| self.has_role(seen.sender, seen.round);
            let other = seen.values().copied().filter(is_message);
            let other = other.filter(|seen| !own.contains(seen) && seen.is_signed(&self.ceremony));
            all.extend(other.cloned());
            views.insert(message.sender(), seen.into_keys().collect());
        }
        let known: BTreeSet<_> = all.iter().map(|seen| (seen.round, seen.sender)).collect();
        let unseen = known.into_iter().filter(|(round, _)| *round != Round::Confirmation).filter_map(|key| {
            let unseen_by = views.iter().filter(|(_, view)| !view.contains(&key)).map(|(member, _)| *member);
            let unseen_by: Vec<_> = unseen_by.collect();
            (!unseen_by.is_empty()).then_some(Culprit::NotSeenByAll { round: key.0, sender: key.1, unseen_by })
        });
        let proven = contradictions(all).into_iter();
        let new = proven.filter(|blame| !self.contradictions.iter().any(|(_, known)| known.member() == blame.member()));
        new.map(Culprit::Proven).chain(unseen).collect()
    }
}

impl<S: Suite> std::fmt::Debug for Participant<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Participant({} of {:?}, {:?})", self.member, self.ceremony, self.round())
    }
}
