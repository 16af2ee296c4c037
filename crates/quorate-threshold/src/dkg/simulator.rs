//! Ceremonies in memory, for the tests: honest participants, participants who lie or fall silent, and a network that
//! loses, doubles and reorders. Everything follows from a seed.

use std::collections::BTreeMap;

use quorate::{Backend, Bls12381Suite, MinPk, Options, rand_core::Rng};
use quorate_curve::{Bls12381Group, Group, Scalar};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use serde_json::Value;
use zeroize::Zeroizing;

use super::{
    dealing::{Deal, Dealer, seal},
    *,
};
use crate::{Committee, Identifiers, Interpolation, KeyShare, SharedKey};

/// What a member does that it should not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    Honest,
    /// Says nothing from this round on.
    Silent(Round),
    /// Gives receivers with even numbers a false share, and answers complaints as an honest dealer would.
    FalseShares,
    /// The same, and does not answer.
    FalseSharesUnanswered,
    /// Encrypts garbage to everyone.
    Garbage,
    /// Sends the last receiver an envelope that is a byte too short, and all others true ones.
    ShortEnvelope,
    /// Complains about everyone.
    Complains,
    /// Says that it saw a deal that nobody signed.
    FalseSighting,
    /// Signs two messages of a round, one for members with even numbers.
    Equivocates(Round),
    /// Commits to a polynomial of a higher degree.
    RaisedDegree,
    /// Commits to one of a lower degree.
    LoweredDegree,
    /// Publishes the identity as a coefficient.
    Identity,
    /// Publishes a point outside the subgroup.
    OutsideSubgroup,
    /// Copies the proof of another deal.
    FalseProof,
    /// Deals another constant: in a resharing something else than its share.
    OtherConstant,
    /// Reveals another contribution than it committed to.
    FalseReveal,
    /// Deals a polynomial whose last coefficient is zero, and falls silent when contributions are revealed.
    ZeroCoefficient,
    /// Falls silent when contributions are revealed, and a confederate discloses a false share of it.
    FalseDisclosure,
    /// Changes something in each message before it signs it: a digit, a number, the length of a list.
    Mutates(u64),
    /// Confirms a false outcome.
    FalseConfirmation,
    /// In a recovery: sends another value.
    FalseContribution,
    /// In a recovery: sends an envelope that is a byte too short.
    ShortContribution,
    /// Waits for the deals of all others, opens its own shares of them, and deals such that its share of the key is zero. Then
    /// it confirms as the others do.
    ZeroShare,
    /// Reveals its contribution to members with even numbers alone.
    RevealsToSome,
    /// The same, and reveals something else to the others.
    RevealsTwo,
    /// Reveals its contribution to members with even numbers alone, once they have said that they miss it.
    RevealsLate,
}

pub(super) const LIES: [Behaviour; 29] = [
    Behaviour::Silent(Round::Deal),
    Behaviour::Silent(Round::Response),
    Behaviour::Silent(Round::Justification),
    Behaviour::Silent(Round::Reveal),
    Behaviour::Silent(Round::Absence),
    Behaviour::Silent(Round::Disclosure),
    Behaviour::Silent(Round::Confirmation),
    Behaviour::FalseShares,
    Behaviour::FalseSharesUnanswered,
    Behaviour::Garbage,
    Behaviour::ShortEnvelope,
    Behaviour::Complains,
    Behaviour::FalseSighting,
    Behaviour::Equivocates(Round::Deal),
    Behaviour::Equivocates(Round::Response),
    Behaviour::RaisedDegree,
    Behaviour::LoweredDegree,
    Behaviour::Identity,
    Behaviour::OutsideSubgroup,
    Behaviour::FalseProof,
    Behaviour::OtherConstant,
    Behaviour::FalseReveal,
    Behaviour::FalseDisclosure,
    Behaviour::FalseConfirmation,
    Behaviour::FalseContribution,
    Behaviour::ZeroShare,
    Behaviour::RevealsToSome,
    Behaviour::RevealsTwo,
    Behaviour::RevealsLate,
];

/// What the network does to each message on its way to each member, in parts of a hundred.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    pub(super) lost: u32,
    pub(super) doubled: u32,
    /// Whether every program is started again from its state after each step.
    pub(super) crashes: bool,
    /// Whether nothing arrives that a member passes on for another one.
    pub(super) nothing_passed_on: bool,
}

pub(super) struct Simulation<S: Bls12381Suite> {
    pub(super) ceremony: Ceremony<S>,
    pub(super) identities: Vec<ParticipantIdentity>,
    pub(super) participants: Vec<Participant<S>>,
    pub(super) behaviours: Vec<Behaviour>,
    faults: Faults,
    /// Who gets what, not yet delivered.
    queue: Vec<(usize, CeremonyMessage)>,
    rng: ChaCha20Rng,
}

pub(super) fn identities(n: usize) -> Vec<ParticipantIdentity> {
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    (1..=n).map(|i| ParticipantIdentity::generate(&format!("member-{i}"), &mut rng).expect("a name")).collect()
}

/// A ceremony in which all members deal and receive.
pub(super) fn description<S: Bls12381Suite>(
    suite: S,
    t: usize,
    n: usize,
    purpose: CeremonyPurpose<S>,
) -> Description<S> {
    let seats = identities(n).into_iter().map(|identity| identity.member()).zip(1..);
    let seats =
        seats.map(|(member, i)| Seat { member, dealer: Some(i), receiver: Some(i), weight: 1, deals: 1 }).collect();
    let identifiers = Identifiers::Integers;
    Description { suite, purpose, threshold: t, identifiers, dealers_needed: None, seats, nonce: [3; 16] }
}

impl<S: Bls12381Suite> Simulation<S> {
    /// `shares` are those of the previous key, by member.
    pub(super) fn new(
        description: Description<S>,
        shares: &[Option<KeyShare<S>>],
        behaviours: &[Behaviour],
        faults: Faults,
        seed: u64,
    ) -> Self {
        let n = description.seats.len();
        let ceremony = Ceremony::new(description, Backend::auto()).expect("a ceremony");
        let identities = identities(n);
        let mut simulation = Self {
            ceremony: ceremony.clone(),
            identities: identities.clone(),
            participants: Vec::new(),
            behaviours: behaviours.to_vec(),
            faults,
            queue: Vec::new(),
            rng: ChaCha20Rng::seed_from_u64(seed),
        };
        let mut last = Vec::new();
        for (place, identity) in identities.into_iter().enumerate() {
            let share = shares.get(place).cloned().flatten();
            let joined = Participant::join(ceremony.clone(), identity, member_seed(place), share, Options::default());
            let (participant, outputs) = joined.expect("a member");
            simulation.participants.push(participant);
            if behaviours[place] == Behaviour::ZeroShare {
                last.push((place, outputs));
            } else {
                simulation.send(place, outputs);
            }
        }
        for (place, outputs) in last {
            let deals: Vec<_> = simulation.queue.iter().filter(|(to, _)| *to == place).cloned().collect();
            deals.into_iter().for_each(|(_, deal)| simulation.step(place, CeremonyEvent::Message(deal)));
            simulation.send(place, outputs);
        }
        simulation
    }

    pub(super) fn is_honest(&self, member: MemberNumber) -> bool {
        self.behaviours[member.place()] == Behaviour::Honest
    }

    /// Runs to the end: messages are delivered in random order, rounds closed when they are complete, and if nothing
    /// moves any more, whoever still waits stops waiting.
    pub(super) fn run(&mut self) {
        loop {
            while !self.queue.is_empty() {
                let next = self.below(self.queue.len());
                let (place, message) = self.queue.swap_remove(next);
                self.step(place, CeremonyEvent::Message(message));
            }
            let ready: Vec<_> = self.places(Participant::is_complete);
            let waiting = self.places(|participant| participant.end().is_none());
            if waiting.is_empty() {
                return;
            }
            // Who has fallen behind stops waiting first.
            let behind = waiting.iter().map(|place| self.participants[*place].round()).min().expect("not empty");
            let behind: Vec<_> = self.places(|participant| participant.round() == behind && behind.is_some());
            for place in if ready.is_empty() { behind } else { ready } {
                self.step(place, CeremonyEvent::Close);
            }
        }
    }

    fn places(&self, test: impl Fn(&Participant<S>) -> bool) -> Vec<usize> {
        (0..self.participants.len()).filter(|place| test(&self.participants[*place])).collect()
    }

    fn below(&mut self, n: usize) -> usize {
        (self.rng.next_u64() % n as u64) as usize
    }

    fn step(&mut self, place: usize, event: CeremonyEvent) {
        match (self.behaviours[place], &event) {
            (Behaviour::ZeroShare, CeremonyEvent::Message(message)) => self.confirm_as(place, message),
            (Behaviour::RevealsLate, CeremonyEvent::Message(message)) => self.reveal_late(place, message),
            _ => {}
        }
        let (participant, outputs) = self.participants[place].clone().step(event);
        self.participants[place] = participant;
        if self.faults.crashes {
            self.restart(place);
        }
        self.send(place, outputs);
    }

    /// A liar whose share is zero confirms what another one confirms.
    fn confirm_as(&mut self, place: usize, message: &CeremonyMessage) {
        let member = self.participants[place].member();
        let confirmed = self.participants[place].published().any(|message| message.round() == Round::Confirmation);
        if message.round() == Round::Confirmation && !confirmed {
            let copy = CeremonyMessage::sign(&self.ceremony, member, &self.identities[place], message.body().clone());
            self.send(place, vec![CeremonyOutput::Publish(copy)]);
        }
    }

    /// A dealer whose deal makes its own share of the key zero, by what it holds of the others' deals. `None` for a member who
    /// does not receive, or whose polynomial is a constant.
    fn zero_share(&self, place: usize) -> Option<Dealer<'_, S>> {
        let participant = &self.participants[place];
        let (ceremony, member) = (&self.ceremony, participant.member());
        let x = ceremony.committee().point(ceremony.receiver_index(member)?);
        if ceremony.committee().threshold() < 2 || ceremony.lost_member().is_some() {
            return None;
        }
        let deals =
            participant.messages().filter(|message| message.round() == Round::Deal && message.sender() != member);
        let shares = deals.filter_map(|message| {
            let deal = Deal::read(ceremony, message.sender(), message.body(), Backend::auto()).ok()?;
            let share = participant.dealt_share(message.sender(), &deal)?;
            Some((message.sender(), Scalar::from_bytes(&share.value.to_bytes()).ok()?))
        });
        let shares: BTreeMap<_, _> = shares.collect();
        // By what each share is multiplied in the new one.
        let weights: BTreeMap<_, _> = match ceremony.previous() {
            None => shares.keys().copied().chain([member]).map(|dealer| (dealer, Scalar::ONE)).collect(),
            Some(previous) => {
                let dealers = shares.keys().copied().chain([member]);
                let by_index: BTreeMap<_, _> =
                    dealers.filter_map(|dealer| Some((ceremony.previous_index(dealer)?, dealer))).collect();
                let indices: Vec<_> = by_index.keys().copied().collect();
                let interpolation = Interpolation::new(previous.committee(), &indices, &Options::default()).ok()?;
                let signers: Vec<_> = interpolation.signers().iter().map(|index| by_index[index]).collect();
                signers.into_iter().zip(interpolation.coefficients()).collect()
            }
        };
        let inverse = Backend::auto().inverses(&[*weights.get(&member)?])?[0];
        let others = shares.iter().filter_map(|(dealer, share)| Some(*weights.get(dealer)? * *share));
        let value = -(others.sum::<Scalar>() * inverse);
        Some(participant.dealer().expect("a dealer").through(x, value))
    }

    /// What a dealer with such a deal says in the place of what an honest one would.
    fn of_zero_share(&self, place: usize, honest: Body) -> Body {
        let Some(dealer) = self.zero_share(place) else { return honest };
        let said = match honest {
            Body::Deal { .. } => dealer.deal(),
            Body::Reveal { .. } => {
                let (ceremony, participant) = (&self.ceremony, &self.participants[place]);
                let deal = participant.published().find(|message| message.round() == Round::Deal).expect("a deal");
                let deal = Deal::<S>::read(ceremony, participant.member(), deal.body(), Backend::auto());
                dealer.reveal(&deal.expect("its own deal").commitment)
            }
            Body::Justification { openings } => {
                let openings = openings.iter().map(|opening| dealer.opening(opening.receiver));
                openings.collect::<Result<_, _>>().map(|openings| Body::Justification { openings })
            }
            other => Ok(other),
        };
        said.expect("no secret is zero")
    }

    /// A liar who shows its contribution late gives it to one half of those who say that they miss it.
    fn reveal_late(&mut self, place: usize, message: &CeremonyMessage) {
        let Body::Absence { dealers } = message.body() else { return };
        let member = self.participants[place].member();
        if dealers.contains(&member) && message.sender().number().is_multiple_of(2) {
            let reveal = self.participants[place].published().find(|message| message.round() == Round::Reveal);
            self.queue.extend(reveal.cloned().map(|reveal| (message.sender().place(), reveal)));
        }
    }

    /// The program stops and starts again from its state.
    fn restart(&mut self, place: usize) {
        let state = self.participants[place].to_json();
        let (ceremony, identity) = (self.ceremony.clone(), self.identities[place].clone());
        let resumed = Participant::from_json(state.as_bytes(), ceremony, identity, Options::default());
        let resumed = resumed.expect("its own state");
        let (before, after) = (&self.participants[place], &resumed);
        assert_eq!((before.round(), before.end().is_some()), (after.round(), after.end().is_some()));
        assert_eq!(before.culprits(), after.culprits());
        assert_eq!(*after.to_json(), *state);
        self.participants[place] = resumed;
    }

    fn send(&mut self, place: usize, outputs: Vec<CeremonyOutput>) {
        for output in outputs {
            let CeremonyOutput::Publish(message) = output else { continue };
            // What it passes on is signed by another one, so it can only be as it is.
            let own = message.sender() == self.participants[place].member();
            if own {
                let said = self.said(place, place, &message);
                self.participants[place].pretend(message.round(), said);
            }
            if !own && self.faults.nothing_passed_on {
                continue;
            }
            for receiver in 0..self.participants.len().max(self.behaviours.len()) {
                if receiver == place {
                    continue;
                }
                let said = if own { self.said(place, receiver, &message) } else { Some(message.clone()) };
                let Some(said) = said else { continue };
                if self.below(100) < self.faults.lost as usize {
                    continue;
                }
                self.queue.push((receiver, said.clone()));
                if self.below(100) < self.faults.doubled as usize {
                    self.queue.push((receiver, said));
                }
            }
        }
    }

    /// What a member really tells another.
    fn said(&self, place: usize, to: usize, message: &CeremonyMessage) -> Option<CeremonyMessage> {
        let ceremony = &self.ceremony;
        let sender = message.sender();
        let even = (to + 1).is_multiple_of(2);
        let mut body = message.body().clone();
        match (self.behaviours[place], &mut body) {
            (Behaviour::Silent(round), _) if message.round() >= round => return None,
            (Behaviour::ZeroCoefficient, _) if message.round() >= Round::Reveal => return None,
            (Behaviour::ZeroCoefficient, Body::Deal { .. }) => {
                let dealer = self.participants[place].dealer().expect("a dealer");
                body = dealer.deal_with_zero_coefficient().expect("no share is zero");
            }
            (Behaviour::FalseSharesUnanswered, Body::Justification { .. }) => return None,
            (Behaviour::FalseDisclosure, Body::Reveal { .. }) => return None,
            // It has its own reveal, whomever it gives it to.
            (Behaviour::RevealsToSome, Body::Reveal { .. }) if to != place && !even => return None,
            (Behaviour::RevealsTwo, Body::Reveal { blinding, .. }) if to != place && !even => {
                blinding.0[0] ^= 1;
            }
            (Behaviour::RevealsLate, Body::Reveal { .. }) if to != place => return None,
            (Behaviour::ZeroShare, Body::Deal { .. } | Body::Reveal { .. } | Body::Justification { .. }) => {
                body = self.of_zero_share(place, body);
            }
            (Behaviour::FalseShares | Behaviour::FalseSharesUnanswered, Body::Deal { shares, .. }) => {
                for ((_, receiver), share) in ceremony.receivers().zip(shares) {
                    if receiver.number().is_multiple_of(2) {
                        let length = if ceremony.hides_contributions() { 64 } else { 32 };
                        *share = seal(ceremony, sender, receiver, &vec![1; length], &[receiver.number() as u8; 32]);
                    }
                }
            }
            (Behaviour::Garbage, Body::Deal { shares, .. }) => shares.iter_mut().for_each(|share| share.0.fill(7)),
            (Behaviour::ShortEnvelope, Body::Deal { shares, .. }) => {
                shares.last_mut().expect("a receiver").0.pop();
            }
            (Behaviour::ShortContribution, Body::Contribution { share }) => {
                share.0.pop();
            }
            (Behaviour::Complains, Body::Response { deals, complaints }) => {
                *complaints = deals.iter().map(|deal| deal.sender).collect();
            }
            (Behaviour::Equivocates(Round::Deal), Body::Deal { shares, .. }) if even => {
                shares.last_mut().expect("a receiver").0[0] ^= 1;
            }
            (Behaviour::Equivocates(Round::Response), Body::Response { complaints, .. }) if even => {
                *complaints = ceremony.dealers().take(1).collect();
            }
            (Behaviour::RaisedDegree, Body::Deal { commitment, .. }) => {
                commitment.push(S::Key::generator().compress().into());
            }
            (Behaviour::LoweredDegree, Body::Deal { commitment, .. }) => {
                commitment.pop();
            }
            (Behaviour::Identity, Body::Deal { commitment, .. }) => {
                *commitment.last_mut().expect("a coefficient") = S::Key::IDENTITY.compress().into();
            }
            (Behaviour::OutsideSubgroup, Body::Deal { commitment, .. }) => {
                commitment[0] = outside_subgroup::<S::Key>().into();
            }
            (Behaviour::FalseProof, Body::Deal { proof: Some(proof), .. }) => {
                *proof = S::Signature::generator().compress().into();
            }
            (Behaviour::OtherConstant, Body::Deal { commitment, .. }) => {
                commitment[0] = S::Key::generator().compress().into();
            }
            (Behaviour::FalseReveal, Body::Reveal { commitment, .. }) => {
                commitment[0] = S::Key::generator().compress().into();
            }
            (Behaviour::FalseDisclosure, Body::Disclosure { shares }) => {
                for disclosed in shares {
                    disclosed.share = Bytes(vec![1; 64]);
                }
            }
            (Behaviour::FalseSighting, Body::Response { deals, .. }) => {
                deals.last_mut().expect("a deal").body = CeremonyDigest([1; 32]);
            }
            (Behaviour::FalseConfirmation, Body::Confirmation { outcome, .. }) => *outcome = CeremonyDigest([1; 32]),
            (Behaviour::Mutates(seed), said) => *said = mutated(said, seed ^ u64::from(message.round() as u8) << 32)?,
            (Behaviour::FalseContribution, Body::Contribution { share }) => {
                let lost = ceremony.lost_member().expect("a recovery");
                *share = seal(ceremony, sender, lost, &[1; 32], &[2; 32]);
            }
            _ => return Some(message.clone()),
        }
        Some(CeremonyMessage::sign(ceremony, sender, &self.identities[place], body))
    }

    /// What must hold however the members and the network behave. Returns how the honest ones ended.
    pub(super) fn check(&self) -> Vec<&Result<CeremonyOutcome<S>, CeremonyFailure>> {
        let honest = self.participants.iter().filter(|participant| self.is_honest(participant.member()));
        let honest: Vec<_> = honest.collect();
        let ends: Vec<_> = honest.iter().map(|participant| participant.end().expect("it ran to the end")).collect();
        let outcomes: Vec<_> = ends.iter().filter_map(|end| end.as_ref().ok()).collect();
        for pair in outcomes.windows(2) {
            assert_eq!(pair[0].shared_key, pair[1].shared_key, "two keys");
        }
        if let Some(outcome) = outcomes.first() {
            let shares: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.key_share.clone()).collect();
            assert_signs(&outcome.shared_key, &shares);
        }
        for participant in honest {
            let culprits = participant.culprits();
            for culprit in &culprits {
                let Culprit::Proven(blame) = culprit else { continue };
                assert!(!self.is_honest(blame.member()), "{blame:?}");
                let judged = Blame::from_json(&self.ceremony, blame.to_json().as_bytes(), Backend::auto());
                assert!(judged.expect("evidence").contains(blame), "a third party does not see {blame:?}");
            }
            let failed = participant.end().is_some_and(Result::is_err);
            assert!(!failed || !culprits.is_empty(), "{:?} and nobody is named", participant.end());
        }
        ends
    }
}

/// The body with one thing changed, or `None` if it is then no body any more.
fn mutated(body: &Body, seed: u64) -> Option<Body> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut below = |n: usize| (rng.next_u64() % n.max(1) as u64) as usize;
    let mut json = serde_json::to_value(body).expect("JSON");
    let mut place = &mut json;
    loop {
        // A list or an object is changed itself, or what is in it.
        match place {
            Value::Array(items) if items.is_empty() || below(4) == 0 => {
                match below(4) {
                    0 => drop(items.pop()),
                    1 => items.reverse(),
                    2 => items.clear(),
                    _ => items.extend(items.first().cloned()),
                }
                break;
            }
            Value::Array(items) => {
                let item = below(items.len());
                place = &mut items[item];
            }
            Value::Object(fields) => {
                let field = below(fields.len());
                place = fields.values_mut().nth(field).expect("a field");
            }
            Value::String(text) if !text.is_empty() => {
                let (digit, by) = (below(text.len()), ["0", "f", "", "00"][below(4)]);
                text.replace_range(digit..=digit, by);
                break;
            }
            Value::Number(number) => {
                let by = [0, 1, 2, 3, 5, u64::from(u32::MAX)][below(6)];
                *number = by.into();
                break;
            }
            Value::String(_) | Value::Null | Value::Bool(_) => break,
        }
    }
    serde_json::from_value(json).ok()
}

pub(super) fn member_seed(place: usize) -> Zeroizing<[u8; 32]> {
    Zeroizing::new([place as u8 + 1; 32])
}

/// Any t of the shares make the signature of the key, for whoever collects them by what is public.
pub(super) fn assert_signs<S: Bls12381Suite>(shared_key: &SharedKey<S>, shares: &[KeyShare<S>]) {
    let (committee, options, suite) = (shared_key.committee(), Options::default(), shared_key.suite());
    let t = committee.threshold();
    for share in shares {
        shared_key.commitment().proves(committee, share, options.backend).expect("the share fits the key");
    }
    if shares.len() < t {
        return;
    }
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    for chosen in [&shares[..t], &shares[shares.len() - t..]] {
        let mut collector = shared_key.collector(b"m", options).expect("a suite whose shares can be combined");
        for share in chosen {
            let number = share.index().number().into();
            collector.add(number, share.sign(suite, b"m").to_bytes().as_ref(), &mut rng).expect("a true share");
        }
        let signature = collector.signature().expect("t true shares make a signature");
        assert!(shared_key.public_key().verify(suite, b"m", signature).is_valid());
        assert_eq!(collector.work().combinations, 1);
    }
}

/// A key that a dealer shared, for ceremonies that need a previous one.
pub(super) fn previous<S: Bls12381Suite>(suite: S, t: usize, n: usize) -> (SharedKey<S>, Vec<KeyShare<S>>) {
    let mut rng = ChaCha20Rng::from_seed([8; 32]);
    let committee = Committee::new(t, n, Identifiers::Integers, Backend::auto()).expect("a committee");
    let secret = quorate::SecretKey::generate(suite, &mut rng);
    let (shares, commitment) = crate::deal(&committee, suite, &secret, &Options::default(), &mut rng).expect("shares");
    (SharedKey::new(suite, committee, commitment).expect("t points"), shares)
}

/// The share of the previous key that each member has.
type Held = Vec<Option<KeyShare<MinPk>>>;

/// A ceremony in which helpers give the first member the share that it lost, what each member holds, and all shares of the key.
pub(super) fn recovery(helpers: &[usize], lost: usize) -> (Description<MinPk>, Held, Vec<KeyShare<MinPk>>) {
    let (shared_key, shares) = previous(MinPk::Eth2, 3, 6);
    let lost_index = shared_key.committee().index(lost as u64).expect("one of six");
    let purpose = CeremonyPurpose::Recover { shared_key, lost: lost_index };
    let mut description = description(MinPk::Eth2, 3, helpers.len() + 1, purpose);
    for (seat, index) in description.seats.iter_mut().zip([&[lost], helpers].concat()) {
        seat.receiver = Some(index as u32);
        seat.dealer = (index != lost).then_some(index as u32);
    }
    let held = [None].into_iter().chain(helpers.iter().map(|index| Some(shares[index - 1].clone()))).collect();
    (description, held, shares)
}

/// A point of the curve that is not in the subgroup of order r: (0, 2) in G1, and the first one found in G2.
fn outside_subgroup<G: Bls12381Group>() -> Vec<u8> {
    let backend = Backend::auto();
    let candidates = (0..=u8::MAX).map(|last| {
        let mut bytes = vec![0; G::COMPRESSED];
        bytes[0] = 0x80;
        bytes[G::COMPRESSED - 1] = last;
        bytes
    });
    let outside =
        candidates.into_iter().find(|bytes| backend.decode::<G>(bytes).is_ok_and(|point| !backend.is_member(&point)));
    outside.expect("every other x is one of a point, and few are in the subgroup")
}
