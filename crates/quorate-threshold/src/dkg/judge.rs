//! What signed messages prove.
//!
//! Nobody has to be believed. [`judge`] takes signed messages and says what they prove, and [`Blame`] carries the few
//! that prove one misdeed, so that a third party who has the ceremony comes to the same judgement.

use std::collections::BTreeMap;

use quorate::{Backend, Bls12381Suite};
use serde::{Deserialize, Serialize};

use super::{
    ceremony::{Ceremony, MemberNumber},
    dealing::{Deal, DealtShare, EPHEMERAL, VALUE, check_envelope, seal},
    message::{Body, CeremonyMessage, Seen, ShareOpening},
    misdeed::Misdeed,
    round::Round,
};

/// A misdeed and the signed messages that prove it. In JSON it is the messages: whoever reads it judges them again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    member: MemberNumber,
    misdeed: Misdeed,
    evidence: DealerEvidence,
}

/// Signed messages that prove something. Two of one sender and round are given in short, where that is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DealerEvidence {
    /// Whole messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    messages: Vec<CeremonyMessage>,
    /// Two that contradict each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seen: Vec<Seen>,
}

impl Blame {
    pub(super) fn equivocation(first: Seen, second: Seen) -> Self {
        let (member, misdeed) = (first.sender, Misdeed::Equivocation(first.round));
        Self { member, misdeed, evidence: DealerEvidence { messages: Vec::new(), seen: vec![first, second] } }
    }

    /// The member that broke a rule.
    pub fn member(&self) -> MemberNumber {
        self.member
    }

    /// What it did.
    pub fn misdeed(&self) -> &Misdeed {
        &self.misdeed
    }

    /// The JSON of a file for a third party.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.evidence).expect("text and numbers are JSON") + "\n"
    }

    /// Reads the JSON of a file, and says what the messages in it prove. Messages that are not signed by their senders,
    /// or that are of other ceremonies, prove nothing.
    ///
    /// # Errors
    /// The text is not the JSON of evidence.
    pub fn from_json<S: Bls12381Suite>(
        ceremony: &Ceremony<S>,
        json: &[u8],
        backend: Backend,
    ) -> Result<Vec<Self>, serde_json::Error> {
        let DealerEvidence { messages, seen } = serde_json::from_slice(json)?;
        let mut proven = judge(ceremony, &messages, backend);
        let signed: Vec<_> = seen.into_iter().filter(|seen| seen.is_signed(ceremony)).collect();
        proven.extend(contradictions(signed));
        Ok(proven)
    }
}

/// Everything that signed messages of a ceremony prove, in the order of the rounds.
pub fn judge<S: Bls12381Suite>(ceremony: &Ceremony<S>, messages: &[CeremonyMessage], backend: Backend) -> Vec<Blame> {
    let signed = |message: &&CeremonyMessage| message.ceremony() == ceremony.id() && message.seen().is_signed(ceremony);
    let signed: Vec<_> = messages.iter().filter(signed).collect();
    let mut proven: Vec<_> = contradictions(signed.iter().map(|message| message.seen()));
    let mut board = BTreeMap::new();
    for message in signed {
        board.entry((message.round(), message.sender())).or_insert(message);
    }
    proven.extend(Judgement::new(ceremony, &board, backend).blames);
    proven
}

/// Two messages of one sender and round that differ.
pub(super) fn contradictions(seen: impl IntoIterator<Item = Seen>) -> Vec<Blame> {
    let (mut first, mut proven) = (BTreeMap::<_, Seen>::new(), Vec::new());
    for seen in seen {
        match first.get(&(seen.round, seen.sender)) {
            Some(other) if other.body != seen.body => proven.push(Blame::equivocation(other.clone(), seen)),
            Some(_) => {}
            None => {
                first.insert((seen.round, seen.sender), seen);
            }
        }
    }
    proven
}

/// The messages of a ceremony, one for each round and sender, whose signatures were checked.
pub(super) type Board<'a> = BTreeMap<(Round, MemberNumber), &'a CeremonyMessage>;

/// What the messages up to now say about dealers and receivers.
pub(super) struct Judgement<S: Bls12381Suite> {
    /// The deals whose form is right.
    pub(super) deals: BTreeMap<MemberNumber, Deal<S>>,
    /// Who complained about each of them, ascending.
    pub(super) complaints: BTreeMap<MemberNumber, Vec<MemberNumber>>,
    /// The complaints that a dealer answered with a true share.
    pub(super) answered: Vec<(MemberNumber, MemberNumber)>,
    /// The contributions that were revealed and are true.
    pub(super) revealed: BTreeMap<MemberNumber, Vec<S::Key>>,
    /// Which contributions each receiver misses.
    pub(super) absent: BTreeMap<MemberNumber, Vec<MemberNumber>>,
    /// The true shares of each dealer that receivers disclosed.
    pub(super) disclosed: BTreeMap<MemberNumber, Vec<(MemberNumber, DealtShare)>>,
    /// What is proven.
    pub(super) blames: Vec<Blame>,
}

impl<S: Bls12381Suite> Judgement<S> {
    pub(super) fn new(ceremony: &Ceremony<S>, board: &Board<'_>, backend: Backend) -> Self {
        let mut judgement = Self {
            deals: BTreeMap::new(),
            complaints: BTreeMap::new(),
            answered: Vec::new(),
            revealed: BTreeMap::new(),
            absent: BTreeMap::new(),
            disclosed: BTreeMap::new(),
            blames: Vec::new(),
        };
        for ((round, sender), message) in board {
            match round {
                Round::Deal => judgement.deal(ceremony, *sender, message, backend),
                Round::Response => judgement.response(ceremony, *sender, message, board),
                Round::Justification => judgement.justification(ceremony, *sender, board, backend),
                Round::Reveal => judgement.reveal(ceremony, *sender, board, backend),
                Round::Disclosure => judgement.disclosure(ceremony, *sender, board, backend),
                Round::Absence => judgement.absence(ceremony, *sender, message),
                Round::Contribution => judgement.contribution(ceremony, *sender, message),
                Round::Confirmation => {}
            }
        }
        judgement
    }

    /// Whether something is proven against a member that shuts its deal out.
    pub(super) fn shuts_out(&self, dealer: MemberNumber) -> bool {
        self.blames.iter().any(|blame| {
            let serious = matches!(
                blame.misdeed,
                Misdeed::FalseShare { .. } | Misdeed::Openings | Misdeed::Equivocation(Round::Deal)
            );
            blame.member == dealer && serious
        })
    }

    /// Whether it is proven that a dealer gave a receiver a false share.
    pub(super) fn is_false_share(&self, dealer: MemberNumber, receiver: MemberNumber) -> bool {
        let misdeed = Misdeed::FalseShare { receiver };
        self.blames.iter().any(|blame| blame.member == dealer && blame.misdeed == misdeed)
    }

    fn blame(&mut self, member: MemberNumber, misdeed: Misdeed, messages: &[&CeremonyMessage]) {
        let messages = messages.iter().map(|message| (*message).clone()).collect();
        self.blames.push(Blame { member, misdeed, evidence: DealerEvidence { messages, seen: Vec::new() } });
    }

    fn deal(&mut self, ceremony: &Ceremony<S>, sender: MemberNumber, message: &CeremonyMessage, backend: Backend) {
        if !ceremony.is_dealer(sender) {
            return;
        }
        match Deal::read(ceremony, sender, message.body(), backend) {
            Ok(deal) => {
                self.deals.insert(sender, deal);
            }
            Err(misdeed) => self.blame(sender, misdeed, &[message]),
        }
    }

    fn response(&mut self, ceremony: &Ceremony<S>, sender: MemberNumber, message: &CeremonyMessage, board: &Board<'_>) {
        let Body::Response { deals, complaints } = message.body() else { return };
        if ceremony.receiver_index(sender).is_none() {
            return;
        }
        let dealers: Vec<_> = deals.iter().map(|deal| deal.sender).collect();
        let are_deals = deals.iter().all(|deal| deal.round == Round::Deal && ceremony.is_dealer(deal.sender));
        let seen = complaints.iter().all(|dealer| dealers.contains(dealer));
        if !ascending(&dealers) || !ascending(complaints) || !are_deals || !seen {
            return self.blame(sender, Misdeed::Dealers(Round::Response), &[message]);
        }
        let mut others = Vec::new();
        for deal in deals {
            let own = board.get(&(Round::Deal, deal.sender)).map(|message| message.seen());
            // What is signed was checked when it came. Whoever has another deal, or none, has to check it now.
            match own {
                Some(own) if own == *deal => {}
                _ if !deal.is_signed(ceremony) => {
                    return self.blame(sender, Misdeed::FalseSighting { dealer: deal.sender }, &[message]);
                }
                Some(own) => others.push((own, deal.clone())),
                None => {}
            }
        }
        for (own, other) in &others {
            let blame = Blame::equivocation(own.clone(), other.clone());
            let known =
                self.blames.iter().any(|known| (known.member, &known.misdeed) == (blame.member, &blame.misdeed));
            if !known {
                self.blames.push(blame);
            }
        }
        // A complaint about a deal that this board does not have says nothing about the one that it has.
        for dealer in complaints.iter().filter(|dealer| others.iter().all(|(own, _)| own.sender != **dealer)) {
            self.complaints.entry(*dealer).or_default().push(sender);
        }
    }

    fn justification(&mut self, ceremony: &Ceremony<S>, dealer: MemberNumber, board: &Board<'_>, backend: Backend) {
        let message = board[&(Round::Justification, dealer)];
        let Body::Justification { openings } = message.body() else { return };
        let receivers: Vec<_> = openings.iter().map(|opening| opening.receiver).collect();
        let is_receiver = |receiver: &MemberNumber| ceremony.receiver_index(*receiver).is_some();
        let has_length = |opening: &ShareOpening| {
            opening.share.0.len() == DealtShare::length(ceremony) && opening.ephemeral.0.len() == EPHEMERAL
        };
        // Each opening that is judged costs a copy of the message as evidence, so what is judged has no more of them, and no longer ones,
        // than an honest dealer sends. Whoever sends something else is out, whatever stands there.
        if !ascending(&receivers) || !receivers.iter().all(is_receiver) || !openings.iter().all(has_length) {
            return self.blame(dealer, Misdeed::Openings, &[message]);
        }
        let Some(deal) = self.deals.remove(&dealer) else { return };
        let dealt = board[&(Round::Deal, dealer)];
        let complaints = self.complaints.get(&dealer).cloned().unwrap_or_default();
        for opening in openings.iter().filter(|opening| complaints.contains(&opening.receiver)) {
            let response = board[&(Round::Response, opening.receiver)];
            let evidence = [dealt, response, message];
            if is_what_was_sent(ceremony, dealer, &deal, opening, backend) {
                self.answered.push((dealer, opening.receiver));
                self.blame(opening.receiver, Misdeed::FalseComplaint { dealer }, &evidence);
            } else {
                self.blame(dealer, Misdeed::FalseShare { receiver: opening.receiver }, &evidence);
            }
        }
        self.deals.insert(dealer, deal);
    }

    fn reveal(&mut self, ceremony: &Ceremony<S>, dealer: MemberNumber, board: &Board<'_>, backend: Backend) {
        let message = board[&(Round::Reveal, dealer)];
        let Some(deal) = self.deals.get(&dealer) else { return };
        if !ceremony.hides_contributions() {
            return;
        }
        match deal.revealed(ceremony, dealer, message.body(), backend) {
            Ok(commitment) => {
                self.revealed.insert(dealer, commitment);
            }
            Err(misdeed) => self.blame(dealer, misdeed, &[board[&(Round::Deal, dealer)], message]),
        }
    }

    fn absence(&mut self, ceremony: &Ceremony<S>, sender: MemberNumber, message: &CeremonyMessage) {
        let Body::Absence { dealers } = message.body() else { return };
        if ascending(dealers) && dealers.iter().all(|dealer| ceremony.is_dealer(*dealer)) {
            self.absent.insert(sender, dealers.clone());
        } else {
            self.blame(sender, Misdeed::Dealers(Round::Absence), &[message]);
        }
    }

    fn contribution(&mut self, ceremony: &Ceremony<S>, sender: MemberNumber, message: &CeremonyMessage) {
        let (Body::Contribution { share }, Some(lost)) = (message.body(), ceremony.lost_member()) else { return };
        match check_envelope(lost, share, VALUE) {
            Ok(()) => {}
            Err(misdeed) => self.blame(sender, misdeed, &[message]),
        }
    }

    fn disclosure(&mut self, ceremony: &Ceremony<S>, sender: MemberNumber, board: &Board<'_>, backend: Backend) {
        let message = board[&(Round::Disclosure, sender)];
        let Body::Disclosure { shares } = message.body() else { return };
        let Some(index) = ceremony.receiver_index(sender) else { return };
        let dealers: Vec<_> = shares.iter().map(|share| share.dealer).collect();
        if !ascending(&dealers) || !dealers.iter().all(|dealer| ceremony.is_dealer(*dealer)) {
            self.blame(sender, Misdeed::Dealers(Round::Disclosure), &[message]);
            return;
        }
        let mut is_blamed = false;
        for disclosed in shares {
            let dealer = disclosed.dealer;
            let Some(deal) = self.deals.get(&dealer) else { continue };
            let share = DealtShare::read(ceremony, &disclosed.share.0);
            match share.filter(|share| deal.proves(ceremony, index, share, backend)) {
                Some(share) => self.disclosed.entry(dealer).or_default().push((sender, share)),
                None => {
                    // It may be a true share of another deal that the dealer signed. The receiver has said which one it saw.
                    let (dealt, response) = (board[&(Round::Deal, dealer)], board.get(&(Round::Response, sender)));
                    if let Some(response) = response.filter(|response| !is_blamed && lists(response, dealt)) {
                        let evidence = [dealt, *response, message];
                        self.blame(sender, Misdeed::FalseDisclosure { dealer }, &evidence);
                        // One false share is proof enough. The evidence has the whole message, for however many shares there are.
                        is_blamed = true;
                    }
                }
            }
        }
    }
}

/// Whether a dealer shows the share that it committed to, and encrypting it again gives what it had sent.
fn is_what_was_sent<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    dealer: MemberNumber,
    deal: &Deal<S>,
    opening: &ShareOpening,
    backend: Backend,
) -> bool {
    let receiver = opening.receiver;
    let index = ceremony.receiver_index(receiver).expect("who complains is a receiver");
    let Ok(ephemeral) = <[u8; EPHEMERAL]>::try_from(&opening.ephemeral.0[..]) else { return false };
    let Some(share) = DealtShare::read(ceremony, &opening.share.0) else { return false };
    deal.proves(ceremony, index, &share, backend)
        && seal(ceremony, dealer, receiver, &opening.share.0, &ephemeral) == *deal.share(ceremony, receiver)
}

/// Whether a response says that its sender saw a deal.
fn lists(response: &CeremonyMessage, deal: &CeremonyMessage) -> bool {
    matches!(response.body(), Body::Response { deals, .. } if deals.contains(&deal.seen()))
}

fn ascending(members: &[MemberNumber]) -> bool {
    members.windows(2).all(|pair| pair[0] < pair[1])
}
