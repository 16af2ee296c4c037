//! A participant as a state machine: it takes messages and the end of each round, and says what to publish.
//!
//! [`Participant::step`] is pure: no clock, no random numbers, no files. All secrets follow from a seed that the
//! participant gets at the start, so a program that stops at any point and goes on from the last state says the same
//! again. Write the state to disk after each step, before the outputs leave.
//!
//! A round ends when everyone who has something to say in it has said it ([`Participant::is_complete`]), or when the
//! caller stops waiting. The caller ends it with [`CeremonyEvent::Close`].
//!
//! A dealer may reveal its contribution to some participants only, once it has seen the key. So whoever has a reveal that
//! another participant says it misses publishes it again, and reveals are taken until the shares of those that are missing
//! are disclosed. Everybody signs its messages, so it does not matter who passes them on.
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

use quorate::{Bls12381Suite, Options};
use quorate_curve::SecretError;
use zeroize::Zeroizing;

use super::{
    ceremony::{Ceremony, CeremonyError, MemberNumber},
    dealing::Dealer,
    hex::CeremonyDigest,
    identity::ParticipantIdentity,
    judge::{Blame, Board, Judgement, contradictions},
    message::{Body, CeremonyMessage, Disclosed, Seen},
    misdeed::Misdeed,
    outcome::{CeremonyFailure, CeremonyOutcome, Culprit},
    round::Round,
};
use crate::{committee::Index, shared_key::SharedKey, sharing::KeyShare};

/// One member's side of a ceremony.
#[derive(Clone)]
pub struct Participant<S: Bls12381Suite> {
    ceremony: Ceremony<S>,
    member: MemberNumber,
    identity: ParticipantIdentity,
    seed: Zeroizing<[u8; 32]>,
    /// The share of the previous key, if the member deals it.
    share: Option<KeyShare<S>>,
    /// How many rounds are closed.
    closed: usize,
    messages: BTreeMap<(Round, MemberNumber), CeremonyMessage>,
    /// What the messages of the closed rounds say.
    judgement: Arc<Judgement<S>>,
    /// Members who signed two messages, and how many rounds were closed when it was found.
    contradictions: Vec<(usize, Blame)>,
    end: Option<Result<CeremonyOutcome<S>, CeremonyFailure>>,
    options: Options,
}

/// What happens to a participant.
#[derive(Clone, Debug)]
pub enum CeremonyEvent {
    /// A message came, from whoever says so.
    Message(CeremonyMessage),
    /// The current round is over: whoever has not spoken is left out of it.
    Close,
}

/// What a participant answers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CeremonyOutput {
    /// Give this message to all other participants. It is this participant's, or a reveal that another participant misses.
    Publish(CeremonyMessage),
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
        found: CeremonyDigest,
        /// This one.
        expected: CeremonyDigest,
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
    /// The ceremony is in one round: nobody answers anybody.
    #[error("the ceremony is in one round, in which dealers publish a transcript each, and nobody answers")]
    OneRound,
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
    /// A secret in the state is not valid. The message does not repeat it.
    #[error("`{0}` is not 32 bytes in hexadecimal that are a secret")]
    Secret(&'static str),
    /// The state is of another ceremony, or of another member.
    #[error("the state belongs to member {found} of the ceremony {ceremony}")]
    OtherState {
        /// Its member.
        found: MemberNumber,
        /// Its ceremony.
        ceremony: CeremonyDigest,
    },
    /// The state does not describe its ceremony.
    #[error("the state has no description of its ceremony")]
    NoDescription,
    /// The description in the state is not that of such a ceremony.
    #[error("the ceremony in the state: {0}")]
    Description(#[source] CeremonyError),
    /// A message in the state is not one that the participant would have taken.
    #[error("a message in the state: {0}")]
    Message(MessageError),
}

impl From<serde_json::Error> for JoinError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json { line: error.line(), column: error.column() }
    }
}

impl<S: Bls12381Suite> Participant<S> {
    /// Takes part in a ceremony. `seed` must be 32 random bytes that were never used before, and `share` is the member's
    /// share of the previous key where it deals it. The output is the deal, of a member who deals.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn join(
        ceremony: Ceremony<S>,
        identity: ParticipantIdentity,
        seed: Zeroizing<[u8; 32]>,
        share: Option<KeyShare<S>>,
        options: Options,
    ) -> Result<(Self, Vec<CeremonyOutput>), JoinError> {
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
        identity: ParticipantIdentity,
        seed: Zeroizing<[u8; 32]>,
        share: Option<KeyShare<S>>,
        options: Options,
    ) -> Result<Self, JoinError> {
        if ceremony.is_one_round() {
            return Err(JoinError::OneRound);
        }
        let member = ceremony.number_of(&identity).ok_or_else(|| JoinError::NotAMember(identity.name().clone()))?;
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
    pub fn step(mut self, event: CeremonyEvent) -> (Self, Vec<CeremonyOutput>) {
        let mut outputs = Vec::new();
        match event {
            CeremonyEvent::Message(message) => {
                let before: Vec<_> = self.missed_elsewhere().cloned().collect();
                if let Err(error) = self.take(message) {
                    outputs.push(CeremonyOutput::Refused(error));
                }
                let new = self.missed_elsewhere().filter(|message| !before.contains(message));
                outputs.extend(new.cloned().map(CeremonyOutput::Publish));
            }
            CeremonyEvent::Close => self.close(&mut outputs),
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

    /// Whether the state of this participant holds its share of a key, or all that the share follows from: it deals the share,
    /// the ceremony has ended with it, or the ceremony gives it back to this participant, who had lost it.
    pub fn holds_share_of(&self, key: &SharedKey<S>) -> bool {
        let is_previous = self.ceremony.previous() == Some(key);
        let deals = is_previous && self.share.is_some();
        let recovers = is_previous && self.ceremony.lost_member() == Some(self.member);
        let ended_with = |outcome: &CeremonyOutcome<S>| outcome.shared_key == *key && outcome.key_share.is_some();
        deals || recovers || matches!(&self.end, Some(Ok(outcome)) if ended_with(outcome))
    }

    /// The current round, or `None` once the ceremony has ended.
    pub fn round(&self) -> Option<Round> {
        self.ceremony.rounds().get(self.closed).copied().filter(|_| self.end.is_none())
    }

    /// How the ceremony ended, once it has.
    pub fn end(&self) -> Option<&Result<CeremonyOutcome<S>, CeremonyFailure>> {
        self.end.as_ref()
    }

    /// The messages that this participant has published, in the order of the rounds: its own, and the reveals that others
    /// miss. Publish them again if they may not have arrived: they are the same.
    pub fn published(&self) -> impl Iterator<Item = &CeremonyMessage> {
        let missed: BTreeSet<_> = self.missed_elsewhere().map(CeremonyMessage::sender).collect();
        let again =
            move |message: &CeremonyMessage| message.round() == Round::Reveal && missed.contains(&message.sender());
        self.messages.values().filter(move |message| message.sender() == self.member || again(message))
    }

    /// The reveals that are here, and that others say they miss.
    fn missed_elsewhere(&self) -> impl Iterator<Item = &CeremonyMessage> {
        let absences = self.messages.values().filter(|message| message.sender() != self.member);
        let missed: BTreeSet<_> = absences.flat_map(|message| missed_by(message).iter().copied()).collect();
        self.messages
            .values()
            .filter(move |message| message.round() == Round::Reveal && missed.contains(&message.sender()))
    }

    /// All messages that were taken, in the order of the rounds.
    pub fn messages(&self) -> impl Iterator<Item = &CeremonyMessage> {
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
            let silent = self.silent(*round).filter(|member| !self.saw_otherwise(*round, *member));
            culprits.extend(silent.map(|member| Culprit::Silent { round: *round, member }));
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
            for member in self.contributions().1 {
                let twice = self.second_deals(member);
                if twice.is_empty() {
                    culprits.push(Culprit::FalseContribution { member });
                }
                for blame in twice {
                    let of = |blame: &Blame| (blame.member(), blame.misdeed().clone());
                    let is_same = |known: &Culprit| matches!(known, Culprit::Proven(known) if of(known) == of(&blame));
                    if !culprits.iter().any(is_same) {
                        culprits.push(Culprit::Proven(blame));
                    }
                }
            }
        }
        if let Some(Err(
            CeremonyFailure::Unconfirmed { .. }
            | CeremonyFailure::AbsenceNotAgreed { .. }
            | CeremonyFailure::TooFewDisclosures { .. },
        )) = self.end
        {
            culprits.extend(self.unequal_views());
        }
        culprits
    }

    /// The dealers of whom a helper of a recovery says to have seen another deal than the one that is here, with the signatures of both.
    /// What the helper sends fits the deal that it got: the digest that helpers confirm names the dealers, and not their deals.
    fn second_deals(&self, helper: MemberNumber) -> Vec<Blame> {
        let confirmed = self.messages.get(&(Round::Confirmation, helper)).map(CeremonyMessage::body);
        let Some(Body::Confirmation { seen, .. }) = confirmed else { return Vec::new() };
        let seen: BTreeMap<_, _> =
            seen.iter().filter(|seen| seen.round == Round::Deal).map(|seen| (seen.sender, seen)).collect();
        let twice = self.qualified().into_iter().filter_map(|dealer| {
            let (here, other) = (self.messages[&(Round::Deal, dealer)].seen(), *seen.get(&dealer)?);
            let is_second = here.body != other.body && other.is_signed(&self.ceremony);
            is_second.then(|| Blame::equivocation(here, other.clone()))
        });
        twice.collect()
    }

    /// Whether a member did not speak in a round because it had seen other reveals than this participant: it missed nothing
    /// and went on, or it said that it missed something else.
    fn saw_otherwise(&self, round: Round, member: MemberNumber) -> bool {
        let said = |round| self.messages.get(&(round, member));
        let confirmed = said(Round::Confirmation).is_some();
        let other_absence = said(Round::Absence).is_some_and(|message| missed_by(message) != self.unrevealed());
        match round {
            Round::Absence => confirmed,
            Round::Disclosure => confirmed || other_absence,
            Round::Confirmation => other_absence,
            Round::Deal | Round::Response | Round::Justification | Round::Reveal | Round::Contribution => false,
        }
    }

    fn place(&self, round: Round) -> usize {
        let place = self.ceremony.rounds().iter().position(|other| *other == round);
        place.expect("every ceremony has a round of justification")
    }

    fn publish(&mut self, body: Body, outputs: &mut Vec<CeremonyOutput>) {
        let message = CeremonyMessage::sign(&self.ceremony, self.member, &self.identity, body);
        self.messages.insert((message.round(), self.member), message.clone());
        outputs.push(CeremonyOutput::Publish(message));
    }

    /// For liars in the tests: remembers what was really published in a round, if anything.
    #[cfg(test)]
    pub(super) fn pretend(&mut self, round: Round, said: Option<CeremonyMessage>) {
        self.messages.remove(&(round, self.member));
        self.messages.extend(said.map(|message| ((round, self.member), message)));
    }

    fn take(&mut self, message: CeremonyMessage) -> Result<(), MessageError> {
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
            // A dealer that reveals its contribution to some and something else to others stops nobody: the true one counts.
            let replaces = round == Round::Reveal && !self.is_true_reveal(there) && self.is_true_reveal(&message);
            if replaces && self.accepts(round) {
                self.insert(message);
            }
            return Err(MessageError::Contradiction { sender, round });
        }
        if !self.accepts(round) {
            return Err(MessageError::Late(round));
        }
        self.insert(message);
        Ok(())
    }

    /// Whether a message of a round can still change something. A reveal can until the shares of those that are missing are
    /// disclosed: the dealer was late, or another participant passes it on. That one is missed can be said to the end, and to
    /// those who have ended with a key, so that whoever has it passes it on.
    fn accepts(&self, round: Round) -> bool {
        match (round, self.round()) {
            (Round::Reveal, Some(Round::Absence | Round::Disclosure))
            | (Round::Absence, Some(Round::Disclosure | Round::Confirmation)) => true,
            (Round::Absence, None) => matches!(self.end, Some(Ok(_))),
            (_, None) => false,
            (_, Some(_)) => !self.is_closed(round),
        }
    }

    fn is_closed(&self, round: Round) -> bool {
        self.ceremony.rounds()[..self.closed].contains(&round)
    }

    fn insert(&mut self, message: CeremonyMessage) {
        let (round, sender) = (message.round(), message.sender());
        self.messages.insert((round, sender), message);
        if self.is_closed(round) {
            self.judgement = Arc::new(Judgement::new(&self.ceremony, &self.board(), self.options.backend));
        }
    }

    /// Whether a message reveals the contribution that its sender has committed to.
    fn is_true_reveal(&self, message: &CeremonyMessage) -> bool {
        let deal = self.judgement.deals.get(&message.sender());
        deal.is_some_and(|deal| {
            deal.revealed(&self.ceremony, message.sender(), message.body(), self.options.backend).is_ok()
        })
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

    fn close(&mut self, outputs: &mut Vec<CeremonyOutput>) {
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
    fn failure_after(&self, closed: Round) -> Option<CeremonyFailure> {
        let (qualified, needed) = (self.qualified().len(), self.ceremony.dealers_needed());
        let quorum = self.ceremony.confirmations_needed();
        let left = match closed {
            // Fewer deals than dealers that are needed make no key, whatever comes.
            Round::Deal => self.judgement.deals.len(),
            Round::Justification => qualified,
            // What is disclosed is a secret no more.
            Round::Reveal => qualified - self.unrevealed().len(),
            Round::Absence if !self.unrevealed().is_empty() => {
                let agreeing = self.agreeing_absences();
                return (agreeing < quorum).then_some(CeremonyFailure::AbsenceNotAgreed { agreeing, needed: quorum });
            }
            Round::Confirmation => {
                let agreeing = self.agreeing().len();
                return (agreeing < quorum).then_some(CeremonyFailure::Unconfirmed { agreeing, needed: quorum });
            }
            _ => return None,
        };
        (left < needed).then_some(CeremonyFailure::TooFewDealers { left, needed })
    }

    /// How many receivers said that they miss the same contributions, among them all that this participant still misses.
    ///
    /// Only one list can be signed by as many as are needed, and each honest one among them saw that enough contributions stay
    /// hidden if those of the list do not. So no more is ever disclosed than is in that list, whoever misses less by now.
    fn agreeing_absences(&self) -> usize {
        let missing = self.unrevealed();
        let mut counts = BTreeMap::<&[MemberNumber], usize>::new();
        for dealers in self.judgement.absent.values() {
            if missing.iter().all(|dealer| dealers.contains(dealer)) {
                *counts.entry(dealers).or_default() += 1;
            }
        }
        counts.into_values().max().unwrap_or(0)
    }

    fn finish(&mut self, end: Result<CeremonyOutcome<S>, CeremonyFailure>, outputs: &mut Vec<CeremonyOutput>) {
        self.end = Some(end);
        outputs.push(CeremonyOutput::Ended);
    }

    pub(super) fn dealer(&self) -> Result<Dealer<'_, S>, SecretError> {
        Dealer::new(&self.ceremony, self.member, &self.seed, self.share.as_ref())
    }

    /// What this member says in a round that has just begun.
    fn speech(&self, round: Round) -> Result<Body, CeremonyFailure> {
        let judgement = &self.judgement;
        let zero = |_: SecretError| CeremonyFailure::Zero;
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

    /// Why receivers came to different outcomes, or to none: members who signed two messages, and messages that not all saw.
    fn unequal_views(&self) -> Vec<Culprit> {
        let mut views: BTreeMap<MemberNumber, BTreeSet<(Round, MemberNumber)>> = BTreeMap::new();
        let own: Vec<_> = self.messages.values().map(CeremonyMessage::seen).collect();
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
        // Who did not come so far that it confirmed has seen what it has.
        if self.ceremony.receiver_index(self.member).is_some() {
            let here = || own.iter().map(|seen| (seen.round, seen.sender)).collect();
            views.entry(self.member).or_insert_with(here);
        }
        let known: BTreeSet<_> = all.iter().map(|seen| (seen.round, seen.sender)).collect();
        let mut unseen: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for key in known.iter().filter(|(round, _)| !matches!(round, Round::Absence | Round::Confirmation)) {
            let without = views.iter().filter(|(_, view)| !view.contains(key)).map(|(member, _)| *member);
            unseen.entry(*key).or_default().extend(without);
        }
        for message in self.messages.values().filter(|message| !views.contains_key(&message.sender())) {
            for key in missed_by(message).iter().map(|dealer| (Round::Reveal, *dealer)) {
                if known.contains(&key) {
                    unseen.entry(key).or_default().insert(message.sender());
                }
            }
        }
        let missed: BTreeSet<_> = unseen.values().flatten().copied().collect();
        let unseen = unseen.into_iter().filter(|(_, members)| !members.is_empty()).map(|((round, sender), members)| {
            Culprit::NotSeenByAll { round, sender, unseen_by: members.into_iter().collect() }
        });
        let proven = contradictions(all).into_iter();
        let new = proven.filter(|blame| !self.contradictions.iter().any(|(_, known)| known.member() == blame.member()));
        let new: Vec<_> = new.map(Culprit::Proven).collect();
        let is_explained = !new.is_empty() || !self.contradictions.is_empty() || missed.contains(&self.member);
        let other = if is_explained { Vec::new() } else { self.other_outcomes() };
        let other = other.into_iter().filter(|member| !missed.contains(member));
        let other: Vec<_> = other.map(|member| Culprit::OtherOutcome { member }).collect();
        new.into_iter().chain(unseen).chain(other).collect()
    }

    /// Who confirmed another outcome than the one that this participant came to.
    fn other_outcomes(&self) -> Vec<MemberNumber> {
        if self.shared_key().is_err() {
            return Vec::new();
        }
        let agreeing: BTreeSet<_> = self.agreeing().into_iter().map(CeremonyMessage::sender).collect();
        let confirmed = self.messages.keys().filter(|(round, _)| *round == Round::Confirmation);
        let others = confirmed.map(|(_, member)| *member).filter(|member| *member != self.member);
        others.filter(|member| !agreeing.contains(member)).collect()
    }
}

/// The dealers whose contributions a message says are missing.
fn missed_by(message: &CeremonyMessage) -> &[MemberNumber] {
    match message.body() {
        Body::Absence { dealers } => dealers,
        _ => &[],
    }
}

impl<S: Bls12381Suite> std::fmt::Debug for Participant<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Participant({} of {:?}, {:?})", self.member, self.ceremony, self.round())
    }
}
