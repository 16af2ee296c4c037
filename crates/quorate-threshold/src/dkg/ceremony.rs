//! A ceremony before anything was said: what it is for, who deals, who receives.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Debug},
    ops::Range,
};

use quorate::{Backend, Bls12381Suite, Scheme};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{
    hex::{Bytes, CeremonyDigest},
    identity::{CeremonyMember, Name, ParticipantIdentity},
    round::Round,
};
use crate::{
    committee::{Committee, CommitteeError, Identifiers, Index},
    one_round::{ShareReceivers, ShareReceiversError},
    shared_key::{SharedKey, SharedKeyError, SharedKeyFields},
};

/// What a ceremony is for, and who takes part. All participants must have the same: its digest, [`id`](Self::id), is in
/// every message, and participants should compare it over a channel they trust before they deal.
#[derive(Clone)]
pub struct Ceremony<S: Bls12381Suite> {
    suite: S,
    purpose: CeremonyPurpose<S>,
    committee: Committee,
    seats: Vec<Seat>,
    /// The members who deal, by their index as dealers.
    dealers: BTreeMap<u32, MemberNumber>,
    /// The members who receive, by the indices of their shares in the committee.
    receivers: BTreeMap<Index, MemberNumber>,
    dealers_needed: usize,
    nonce: [u8; 16],
    id: CeremonyDigest,
}

/// What a ceremony makes.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CeremonyPurpose<S: Bls12381Suite> {
    /// A new key, the sum of what each dealer contributes.
    NewKey(Variant),
    /// The same key, shared anew: among other participants, with another threshold, or among the same ones, so that
    /// shares stolen before are of no use after (refresh), if old identities are deleted, too: [`ParticipantIdentity`].
    Reshare(SharedKey<S>),
    /// The same, by one transcript of each dealer, as with [`Variant::OneRound`].
    ReshareInOneRound(SharedKey<S>),
    /// The share that one participant lost. All other shares stay as they are.
    Recover {
        /// The key.
        shared_key: SharedKey<S>,
        /// Whose share is lost.
        lost: Index,
    },
}

/// How a new key is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Variant {
    /// Joint-Feldman (Pedersen, 1991), with a proof of possession of each contribution. The fewest rounds.
    ///
    /// The dealer who speaks last sees the contributions of the others, and chooses by its own, or by making itself
    /// disqualified, among a few keys. BLS signatures stay unforgeable with such a key (Gennaro, Jarecki, Krawczyk and
    /// Rabin, 2007, for Schnorr's), but it is not uniformly random: do not use it as a source of randomness.
    JointFeldman,
    /// The commitments of all dealers hide their contributions until nobody can change or withdraw one any more
    /// (Gennaro, Jarecki, Krawczyk and Rabin, 1999). Every receiver deals. The key is uniformly random while fewer than t receivers are
    /// dishonest or were left out of a round before the confirmation, unless dishonest members end the ceremony when they have
    /// seen it: docs/ceremonies.md says who can, and what each attempt gives up. It takes one round more, and two further ones
    /// if a dealer then falls silent.
    CommitFirst,
    /// One transcript of each dealer, which anyone verifies ([`one_round`](crate::one_round)). As in Joint-Feldman, who speaks last
    /// chooses among a few keys. No [`Participant`](super::Participant) takes part in it: see [`SignedTranscript`](super::SignedTranscript).
    OneRound,
}

/// The number of a member in a ceremony, from 1 on, in the order in which the ceremony lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemberNumber(u32);

/// A member of a ceremony and its roles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seat {
    /// The member that sits here.
    pub member: CeremonyMember,
    /// The index as a dealer: from 1 on in a ceremony for a new key; the index of the share that the dealer has in the
    /// others.
    pub dealer: Option<u32>,
    /// The index as a receiver, 1 to n: that of its share, or of the first of its shares.
    pub receiver: Option<u32>,
    /// How many shares the receiver gets, with neighbouring indices: more than one in a ceremony in one round alone. In JSON it is left out
    /// where it is 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: u32,
    /// How many shares of the previous key the dealer deals, with neighbouring indices from `dealer` on: more than one where a key is
    /// shared anew in one round alone. In JSON it is left out where it is 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub deals: u32,
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

/// A ceremony as a caller describes it. [`Ceremony::new`] checks it.
#[derive(Clone)]
pub struct Description<S: Bls12381Suite> {
    /// The suite of the shared key.
    pub suite: S,
    /// What the ceremony makes.
    pub purpose: CeremonyPurpose<S>,
    /// How many shares make a signature afterwards.
    pub threshold: usize,
    /// The points of the receivers.
    pub identifiers: Identifiers,
    /// How many dealers must be left in the end, so that at least one of them is honest. `None` for the default. Where every receiver of
    /// a new key deals, any so many dealers have a threshold of shares together, and a dealer who receives nothing adds none: it is the
    /// threshold if each dealer has one share. Where a receiver does not deal, it is a majority of the dealers. In one round a new key
    /// takes no fewer. Where a key is shared anew, it is the number of its shares that must be dealt, which is its threshold. Where a share
    /// is recovered, it is the threshold, and no fewer help, whatever is asked for.
    pub dealers_needed: Option<usize>,
    /// Who takes part.
    pub seats: Vec<Seat>,
    /// Random bytes, so that no two ceremonies have the same [`id`](Ceremony::id).
    pub nonce: [u8; 16],
}

/// Why there is no such ceremony.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CeremonyError {
    /// The text is not the JSON of a ceremony.
    #[error("it is not the JSON of a ceremony: {0}")]
    Json(#[from] serde_json::Error),
    /// The suite is of the other variant, or none.
    #[error("there is no suite `{0}` for such a ceremony")]
    Suite(String),
    /// An AUG suite hashes the signer's key before the message, so that shares cannot be combined.
    #[error("the suite {0} signs the signer's key with the message, so shares cannot be combined")]
    Augmented(&'static str),
    /// The shared key that is dealt again.
    #[error("the previous shared key: {0}")]
    Previous(#[from] SharedKeyError),
    /// The committee.
    #[error(transparent)]
    Committee(#[from] CommitteeError),
    /// Two members have the same name or the same key.
    #[error("{first} and {second} have the same {what}")]
    Twice {
        /// What they share.
        what: &'static str,
        /// The one.
        first: Name,
        /// The other.
        second: Name,
    },
    /// Two members have one index.
    #[error("two members have the {role} index {index}")]
    IndexTwice {
        /// "dealer" or "receiver".
        role: &'static str,
        /// The index.
        index: u32,
    },
    /// A member has a weight that it cannot have.
    #[error(
        "{name} has {weight} shares: a receiver of a ceremony in one round has one or more, and every other member 1"
    )]
    Weight {
        /// The member.
        name: Name,
        /// How many shares it would have.
        weight: u32,
    },
    /// A member deals a number of shares that it cannot deal.
    #[error(
        "{name} deals {deals} shares: a dealer of a key that is shared anew in one round deals one or more, and every other member 1"
    )]
    Deals {
        /// The member.
        name: Name,
        /// How many shares it would deal.
        deals: u32,
    },
    /// The indices of a role are not 1, 2, 3 and so on.
    #[error("no member has the {role} index {index}: the indices must be 1 to {count}")]
    IndexMissing {
        /// "dealer" or "receiver".
        role: &'static str,
        /// The first that is missing.
        index: u32,
        /// How many members have the role.
        count: usize,
    },
    /// Too few deal.
    #[error("there are {found} dealers or dealt shares, and at least {needed} are needed")]
    TooFewDealers {
        /// How many dealers there are; where a key is shared anew, how many shares of it they deal.
        found: usize,
        /// How many it takes.
        needed: usize,
    },
    /// With [`Variant::CommitFirst`] a receiver does not deal. Others could reveal their contributions before it has settled whose count, and
    /// a dealer who knows the key could still withdraw.
    #[error(
        "{0} receives a share and does not deal: with commitments first every receiver deals, or the key is not random"
    )]
    ReceiverWithoutDeal(Name),
    /// A number of dealers of which nobody could be honest, or that there are not.
    #[error("{needed} of {dealers} dealers cannot be needed: the number must be 1 to {dealers}")]
    DealersNeeded {
        /// The number.
        needed: usize,
        /// How many there are.
        dealers: usize,
    },
    /// In one round nobody confirms whose transcripts count, so whoever says it first must not choose so few that none of them is honest.
    #[error(
        "a new key in one round needs at least {least} dealers, and not {needed}: so few could all be dishonest, and would know the key"
    )]
    OneRoundDealersNeeded {
        /// The number given.
        needed: usize,
        /// The default.
        least: usize,
    },
    /// Resharing needs as many dealers as the threshold of the key that is shared anew.
    #[error("resharing takes the dealers that the old threshold asks for, {expected}, and not {found}")]
    ReshareDealersNeeded {
        /// The number given.
        found: usize,
        /// The old threshold.
        expected: usize,
    },
    /// A member of a recovery whose roles do not fit.
    #[error("{0} must have the same index as dealer and as receiver, and only who lost the share is not a dealer")]
    RecoverySeat(Name),
    /// The participant who lost a share is not there.
    #[error("participant {0} lost the share, and no member receives as participant {0}")]
    LostIsAbsent(Index),
    /// The participant whose share is to be recovered has none.
    #[error("participant {0} has no share of the key, since its verification key is the identity: share the key anew")]
    NoShare(Index),
    /// The committee of a recovery is not that of the shared key.
    #[error("recovery keeps threshold and identifiers of the shared key")]
    RecoveryCommittee,
    /// A receiver of a ceremony in one round has no key for it.
    #[error("{0} has no share key, which a ceremony in one round needs: `quorate dkg identity --one-round` writes it")]
    NoShareKey(Name),
    /// The receivers of a ceremony in one round.
    #[error(transparent)]
    Receivers(#[from] ShareReceiversError),
    /// With a threshold of 1 each share is the key.
    #[error("with a threshold of 1 every share is the secret key: copy one, there is nothing to recover")]
    NothingToRecover,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    suite: String,
    purpose: FilePurpose,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<SharedKeyFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u32>,
    threshold: usize,
    identifiers: Identifiers,
    dealers_needed: usize,
    members: Vec<Seat>,
    nonce: Bytes,
}

/// What [`File`] is: other versions have another name.
const FORMAT: &str = "quorate-dkg-v1";

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FilePurpose {
    NewKeyJointFeldman,
    NewKeyCommitFirst,
    NewKeyOneRound,
    Reshare,
    ReshareOneRound,
    Recover,
}

impl<S: Bls12381Suite> Ceremony<S> {
    /// Checks a description.
    ///
    /// # Errors
    /// [`CeremonyError`].
    pub fn new(description: Description<S>, backend: Backend) -> Result<Self, CeremonyError> {
        let Description { suite, purpose, threshold, identifiers, dealers_needed, seats, nonce } = description;
        if suite.scheme() == Scheme::Augmented {
            return Err(CeremonyError::Augmented(suite.name()));
        }
        distinct(&seats)?;
        let dealers = by_index("dealer", seats.iter().map(|seat| seat.dealer))?;
        let firsts = by_index("receiver", seats.iter().map(|seat| seat.receiver))?;
        let weights = weights(&purpose, &seats, &firsts)?;
        refuse_deals(&purpose, &seats)?;
        refuse_receivers_without_deal(&purpose, &seats)?;
        let committee = match &purpose {
            CeremonyPurpose::Recover { shared_key, .. } => shared_key.committee().clone(),
            CeremonyPurpose::NewKey(_) | CeremonyPurpose::Reshare(_) | CeremonyPurpose::ReshareInOneRound(_) => {
                consecutive("receiver", firsts.keys().copied().zip(weights.iter().copied()))?;
                let participants = weights.iter().map(|weight| *weight as usize).sum();
                Committee::new(threshold, participants, identifiers, backend)?
            }
        };
        if (committee.threshold(), committee.identifiers()) != (threshold, identifiers) {
            return Err(CeremonyError::RecoveryCommittee);
        }
        let needed = needed(&purpose, &committee, &dealers, &firsts, &weights, dealers_needed)?;
        let shares = firsts.into_iter().zip(weights).flat_map(|((first, member), weight)| {
            (0..weight).map(move |further| (u64::from(first) + u64::from(further), member))
        });
        let receivers = shares.map(|(index, member)| Ok((committee.index(index)?, member)));
        let receivers = receivers.collect::<Result<BTreeMap<_, _>, CommitteeError>>()?;
        match &purpose {
            CeremonyPurpose::NewKey(_) => consecutive("dealer", dealers.keys().map(|index| (*index, 1)))?,
            CeremonyPurpose::Reshare(previous) | CeremonyPurpose::ReshareInOneRound(previous) => {
                dealt_shares(previous.committee(), &dealers, &seats)?;
            }
            CeremonyPurpose::Recover { shared_key, lost } => {
                for seat in &seats {
                    let expected = seat.receiver.filter(|index| *index != lost.number());
                    if seat.receiver.is_none() || seat.dealer != expected {
                        return Err(CeremonyError::RecoverySeat(seat.member.name().clone()));
                    }
                }
                if !receivers.contains_key(lost) {
                    return Err(CeremonyError::LostIsAbsent(*lost));
                }
                if threshold == 1 {
                    return Err(CeremonyError::NothingToRecover);
                }
                shared_key.verification_key(*lost, backend).map_err(|_| CeremonyError::NoShare(*lost))?;
            }
        }
        let found = dealers.values().map(|dealer| seats[dealer.place()].deals as usize).sum();
        // A lost share takes a threshold of contributions, from however few dealers their masks are.
        let least = match &purpose {
            CeremonyPurpose::Recover { .. } => needed.max(threshold),
            CeremonyPurpose::NewKey(_) | CeremonyPurpose::Reshare(_) | CeremonyPurpose::ReshareInOneRound(_) => needed,
        };
        if found < least {
            return Err(CeremonyError::TooFewDealers { found, needed: least });
        }
        let id = CeremonyDigest([0; 32]);
        let mut ceremony =
            Self { suite, purpose, committee, seats, dealers, receivers, dealers_needed: needed, nonce, id };
        let json = serde_json::to_vec(&ceremony.file()).expect("text and numbers are JSON");
        ceremony.id = CeremonyDigest(Sha256::digest(json).into());
        if ceremony.is_one_round() {
            ceremony.share_receivers()?;
        }
        Ok(ceremony)
    }

    /// The digest of everything else: SHA-256 of the JSON without white space.
    pub fn id(&self) -> CeremonyDigest {
        self.id
    }

    /// The suite of the shared key.
    pub fn suite(&self) -> S {
        self.suite
    }

    /// What the ceremony makes.
    pub fn purpose(&self) -> &CeremonyPurpose<S> {
        &self.purpose
    }

    /// Who shares the key afterwards.
    pub fn committee(&self) -> &Committee {
        &self.committee
    }

    /// How many dealers must be left in the end. Where a key is shared anew, it is the number of its shares that must be dealt.
    pub fn dealers_needed(&self) -> usize {
        self.dealers_needed
    }

    /// Whether these dealers are [as many as must be left](Self::dealers_needed), with all that they deal. Each is named once.
    pub fn are_enough(&self, dealers: impl IntoIterator<Item = MemberNumber>) -> bool {
        dealers.into_iter().map(|dealer| self.dealer_indices(dealer).len()).sum::<usize>() >= self.dealers_needed
    }

    /// All members, ascending.
    pub fn members(&self) -> impl Iterator<Item = MemberNumber> + use<S> {
        (1..=self.seats.len() as u32).map(MemberNumber)
    }

    /// The member with a number, if there is one.
    pub fn member(&self, number: MemberNumber) -> Option<&CeremonyMember> {
        self.seat(number).map(|seat| &seat.member)
    }

    /// The number of the member with a name.
    pub fn member_named(&self, name: &Name) -> Option<MemberNumber> {
        self.members().find(|number| self.seats[number.place()].member.name() == name)
    }

    /// The number of the member who has the keys of an identity.
    pub fn number_of(&self, identity: &ParticipantIdentity) -> Option<MemberNumber> {
        let number = self.member_named(identity.name());
        number.filter(|number| self.member(*number).is_some_and(|member| identity.is(member)))
    }

    /// What a member is called, for messages to people.
    ///
    /// # Panics
    /// If there is no such member.
    pub fn name(&self, number: MemberNumber) -> &Name {
        self.seats[number.place()].member.name()
    }

    /// The members with their roles, in the order of their numbers.
    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    pub(super) fn seat(&self, number: MemberNumber) -> Option<&Seat> {
        self.seats.get((number.0 as usize).checked_sub(1)?)
    }

    /// The members who deal, ascending by their index as dealers.
    pub fn dealers(&self) -> impl Iterator<Item = MemberNumber> {
        self.dealers.values().copied()
    }

    pub(super) fn is_dealer(&self, member: MemberNumber) -> bool {
        self.seat(member).is_some_and(|seat| seat.dealer.is_some())
    }

    /// The members to whom shares are dealt, ascending by the index of the share: who has several is there for each. In a recovery it is
    /// those who help.
    pub fn receivers(&self) -> impl Iterator<Item = (Index, MemberNumber)> {
        let lost = self.lost();
        self.receivers.iter().map(|(index, member)| (*index, *member)).filter(move |(index, _)| Some(*index) != lost)
    }

    /// The index at which a member receives shares, if it does: the first one of several.
    pub fn receiver_index(&self, member: MemberNumber) -> Option<Index> {
        self.shares_of(member).next()
    }

    /// The indices of the shares of a member.
    pub fn shares_of(&self, member: MemberNumber) -> impl Iterator<Item = Index> {
        self.receivers().filter(move |(_, receiver)| *receiver == member).map(|(index, _)| index)
    }

    /// The place of a member in [`share_receivers`](Self::share_receivers), if it receives shares.
    pub fn receiver_place(&self, member: MemberNumber) -> Option<usize> {
        let first = self.seat(member)?.receiver?;
        Some(self.seats.iter().filter(|seat| seat.receiver.is_some_and(|other| other < first)).count())
    }

    /// The most shares of one member.
    pub(super) fn most_shares(&self) -> usize {
        self.seats.iter().filter(|seat| seat.receiver.is_some()).map(|seat| seat.weight as usize).max().unwrap_or(0)
    }

    /// Whose share is recovered.
    pub(super) fn lost(&self) -> Option<Index> {
        match &self.purpose {
            CeremonyPurpose::Recover { lost, .. } => Some(*lost),
            CeremonyPurpose::NewKey(_) | CeremonyPurpose::Reshare(_) | CeremonyPurpose::ReshareInOneRound(_) => None,
        }
    }

    /// In a recovery: the member whose share is recovered.
    pub fn lost_member(&self) -> Option<MemberNumber> {
        self.lost().map(|lost| self.receivers[&lost])
    }

    /// The shared key whose shares the dealers have.
    pub fn previous(&self) -> Option<&SharedKey<S>> {
        match &self.purpose {
            CeremonyPurpose::Reshare(previous)
            | CeremonyPurpose::ReshareInOneRound(previous)
            | CeremonyPurpose::Recover { shared_key: previous, .. } => Some(previous),
            CeremonyPurpose::NewKey(_) => None,
        }
    }

    /// The index of the previous share that a dealer deals: the first one of several.
    pub fn previous_index(&self, dealer: MemberNumber) -> Option<Index> {
        self.previous_shares(dealer).next()
    }

    /// The indices of the previous shares that a dealer deals, ascending.
    pub fn previous_shares(&self, dealer: MemberNumber) -> impl Iterator<Item = Index> + use<'_, S> {
        let previous = self.previous().map(SharedKey::committee);
        let index = move |index: u32| previous?.index(index.into()).ok();
        self.dealer_indices(dealer).filter_map(index)
    }

    /// The indices of a member as a dealer: one for each share that it deals, and none of who does not deal.
    pub(super) fn dealer_indices(&self, member: MemberNumber) -> Range<u32> {
        let seat = self.seat(member);
        seat.and_then(|seat| Some(seat.dealer?..seat.dealer?.saturating_add(seat.deals))).unwrap_or_default()
    }

    /// The most shares of the previous key that one dealer deals; 1 for a new key.
    pub(super) fn most_dealt(&self) -> usize {
        self.dealers().map(|dealer| self.dealer_indices(dealer).len()).max().unwrap_or(0)
    }

    /// Whether dealers publish a transcript each, and there is nothing else to say.
    pub fn is_one_round(&self) -> bool {
        matches!(self.purpose, CeremonyPurpose::NewKey(Variant::OneRound) | CeremonyPurpose::ReshareInOneRound(_))
    }

    /// To whom the dealers of a ceremony in one round encrypt shares.
    ///
    /// # Errors
    /// [`CeremonyError::NoShareKey`], [`CeremonyError::Receivers`]. In a ceremony of [`new`](Self::new) that is one there are none.
    pub fn share_receivers(&self) -> Result<ShareReceivers, CeremonyError> {
        let mut receiving: Vec<_> = self.seats.iter().filter(|seat| seat.receiver.is_some()).collect();
        receiving.sort_by_key(|seat| seat.receiver);
        let key = |Seat { member, weight, .. }: &Seat| {
            let key = member.share_key().ok_or_else(|| CeremonyError::NoShareKey(member.name().clone()))?;
            Ok::<_, CeremonyError>((key, *weight))
        };
        let keys = receiving.into_iter().map(key).collect::<Result<Vec<_>, _>>()?;
        Ok(ShareReceivers::new(self.committee.clone(), &keys)?)
    }

    /// The rounds in which members of this ceremony answer each other, in their order. A ceremony in one round has none.
    pub fn rounds(&self) -> &'static [Round] {
        match self.purpose {
            CeremonyPurpose::NewKey(Variant::JointFeldman) | CeremonyPurpose::Reshare(_) => {
                &[Round::Deal, Round::Response, Round::Justification, Round::Confirmation]
            }
            CeremonyPurpose::NewKey(Variant::CommitFirst) => &[
                Round::Deal,
                Round::Response,
                Round::Justification,
                Round::Reveal,
                Round::Absence,
                Round::Disclosure,
                Round::Confirmation,
            ],
            CeremonyPurpose::NewKey(Variant::OneRound) | CeremonyPurpose::ReshareInOneRound(_) => &[],
            CeremonyPurpose::Recover { .. } => {
                &[Round::Deal, Round::Response, Round::Justification, Round::Confirmation, Round::Contribution]
            }
        }
    }

    pub(super) fn hides_contributions(&self) -> bool {
        matches!(self.purpose, CeremonyPurpose::NewKey(Variant::CommitFirst))
    }

    /// How many receivers must say the same before it counts: so many that two different things would need t receivers
    /// who say both, which no honest one does.
    pub fn confirmations_needed(&self) -> usize {
        (self.receivers().count() + self.committee.threshold() - 1) / 2 + 1
    }

    fn file(&self) -> File {
        let (purpose, lost) = match &self.purpose {
            CeremonyPurpose::NewKey(Variant::JointFeldman) => (FilePurpose::NewKeyJointFeldman, None),
            CeremonyPurpose::NewKey(Variant::CommitFirst) => (FilePurpose::NewKeyCommitFirst, None),
            CeremonyPurpose::NewKey(Variant::OneRound) => (FilePurpose::NewKeyOneRound, None),
            CeremonyPurpose::ReshareInOneRound(_) => (FilePurpose::ReshareOneRound, None),
            CeremonyPurpose::Reshare(_) => (FilePurpose::Reshare, None),
            CeremonyPurpose::Recover { lost, .. } => (FilePurpose::Recover, Some(lost.number())),
        };
        File {
            format: FORMAT.to_owned(),
            suite: self.suite.name().to_owned(),
            purpose,
            previous: self.previous().map(SharedKey::fields),
            lost,
            threshold: self.committee.threshold(),
            identifiers: self.committee.identifiers(),
            dealers_needed: self.dealers_needed,
            members: self.seats.clone(),
            nonce: self.nonce.into(),
        }
    }

    /// The JSON of a file, with a line feed at its end.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.file()).expect("text and numbers are JSON") + "\n"
    }

    /// Reads the JSON of a file, and checks it as [`new`](Self::new) does.
    ///
    /// # Errors
    /// [`CeremonyError`].
    pub fn from_json(json: &[u8], backend: Backend) -> Result<Self, CeremonyError> {
        use serde::de::Error;
        let file: File = serde_json::from_slice(json)?;
        let wrong = |text: String| CeremonyError::Json(serde_json::Error::custom(text));
        if file.format != FORMAT {
            let found = file.format.escape_debug();
            return Err(wrong(format!("its format is `{found}`, and this program reads `{FORMAT}`")));
        }
        let suite = file.suite.parse().map_err(|_| CeremonyError::Suite(file.suite.escape_debug().to_string()))?;
        if let (FilePurpose::ReshareOneRound, Some(previous)) = (file.purpose, &file.previous) {
            refuse_many_shares(previous.participants())?;
        }
        let previous = file.previous.map(|previous| SharedKey::from_fields(&previous, backend));
        let purpose = match (file.purpose, previous.transpose()?, file.lost) {
            (FilePurpose::NewKeyJointFeldman, None, None) => CeremonyPurpose::NewKey(Variant::JointFeldman),
            (FilePurpose::NewKeyCommitFirst, None, None) => CeremonyPurpose::NewKey(Variant::CommitFirst),
            (FilePurpose::NewKeyOneRound, None, None) => CeremonyPurpose::NewKey(Variant::OneRound),
            (FilePurpose::Reshare, Some(previous), None) => CeremonyPurpose::Reshare(previous),
            (FilePurpose::ReshareOneRound, Some(previous), None) => CeremonyPurpose::ReshareInOneRound(previous),
            (FilePurpose::Recover, Some(shared_key), Some(lost)) => {
                let lost = shared_key.committee().index(lost.into())?;
                CeremonyPurpose::Recover { shared_key, lost }
            }
            _ => {
                return Err(wrong("`previous` belongs to `reshare` and `recover`, and `lost` to `recover`".to_owned()));
            }
        };
        let nonce = file.nonce.0.try_into().map_err(|_| wrong("the nonce has not 16 bytes".to_owned()))?;
        let description = Description {
            suite,
            purpose,
            threshold: file.threshold,
            identifiers: file.identifiers,
            dealers_needed: Some(file.dealers_needed),
            seats: file.members,
            nonce,
        };
        Self::new(description, backend)
    }
}

/// How many dealers must be left in the end. `weights` are those of the receivers, in the order of their indices. By default, if every
/// receiver deals, any so many dealers have a threshold of shares together; who receives nothing adds none.
fn needed<S: Bls12381Suite>(
    purpose: &CeremonyPurpose<S>,
    committee: &Committee,
    dealers: &BTreeMap<u32, MemberNumber>,
    receivers: &BTreeMap<u32, MemberNumber>,
    weights: &[u32],
    asked: Option<usize>,
) -> Result<usize, CeremonyError> {
    if let CeremonyPurpose::Reshare(previous) | CeremonyPurpose::ReshareInOneRound(previous) = purpose {
        let expected = previous.committee().threshold();
        let found = asked.unwrap_or(expected);
        return if found == expected {
            Ok(found)
        } else {
            Err(CeremonyError::ReshareDealersNeeded { found, expected })
        };
    }
    let weights: BTreeMap<_, _> = receivers.values().zip(weights.iter().copied()).collect();
    let dealing: BTreeSet<_> = dealers.values().collect();
    let default = match purpose {
        CeremonyPurpose::Recover { .. } => committee.threshold(),
        _ if weights.keys().all(|receiver| dealing.contains(receiver)) => {
            let of_dealers = dealing.iter().map(|dealer| weights.get(dealer).copied().unwrap_or(0)).collect();
            enough(of_dealers, committee.threshold())
        }
        _ => dealers.len() / 2 + 1,
    };
    match asked {
        Some(needed) if needed == 0 || needed > dealers.len() => {
            Err(CeremonyError::DealersNeeded { needed, dealers: dealers.len() })
        }
        Some(needed) if needed < default && matches!(purpose, CeremonyPurpose::NewKey(Variant::OneRound)) => {
            Err(CeremonyError::OneRoundDealersNeeded { needed, least: default })
        }
        _ => Ok(asked.unwrap_or(default)),
    }
}

/// The smallest number of members of whom any so many have a threshold of shares together, so that one of them is honest.
fn enough(mut weights: Vec<u32>, threshold: usize) -> usize {
    weights.sort_unstable();
    let mut shares = 0;
    let is_less = |weight: &&u32| {
        shares += **weight as usize;
        shares < threshold
    };
    weights.iter().take_while(is_less).count() + 1
}

/// How many shares each receiver gets, in the order of their indices. Their sum is a committee's, at most.
fn weights<S: Bls12381Suite>(
    purpose: &CeremonyPurpose<S>,
    seats: &[Seat],
    receivers: &BTreeMap<u32, MemberNumber>,
) -> Result<Vec<u32>, CeremonyError> {
    let is_one_round =
        matches!(purpose, CeremonyPurpose::NewKey(Variant::OneRound) | CeremonyPurpose::ReshareInOneRound(_));
    for Seat { member, receiver, weight, .. } in seats {
        if *weight == 0 || (*weight != 1 && !(is_one_round && receiver.is_some())) {
            return Err(CeremonyError::Weight { name: member.name().clone(), weight: *weight });
        }
    }
    let weights: Vec<_> = receivers.values().map(|member| seats[member.place()].weight).collect();
    let participants = weights.iter().fold(0_usize, |sum, weight| sum.saturating_add(*weight as usize));
    if is_one_round {
        refuse_many_shares(participants)?;
    }
    if let CeremonyPurpose::ReshareInOneRound(previous) = purpose {
        refuse_many_shares(previous.committee().participants())?;
    }
    Ok(weights)
}

/// Refuses more shares than one round deals: of a new key, or of the one before it.
fn refuse_many_shares(participants: usize) -> Result<(), CeremonyError> {
    if participants > ShareReceivers::MOST {
        return Err(ShareReceiversError::TooMany { participants }.into());
    }
    Ok(())
}

/// Refuses dealers of several shares in ceremonies in which each deals one.
fn refuse_deals<S: Bls12381Suite>(purpose: &CeremonyPurpose<S>, seats: &[Seat]) -> Result<(), CeremonyError> {
    let several = matches!(purpose, CeremonyPurpose::ReshareInOneRound(_));
    let is_wrong = |seat: &&Seat| seat.deals == 0 || (seat.deals != 1 && !(several && seat.dealer.is_some()));
    match seats.iter().find(is_wrong) {
        None => Ok(()),
        Some(Seat { member, deals, .. }) => Err(CeremonyError::Deals { name: member.name().clone(), deals: *deals }),
    }
}

/// Refuses receivers who do not deal where contributions are hidden. The contribution of one who deals stays hidden until it has settled
/// whose count.
fn refuse_receivers_without_deal<S: Bls12381Suite>(
    purpose: &CeremonyPurpose<S>,
    seats: &[Seat],
) -> Result<(), CeremonyError> {
    let is_commit_first = matches!(purpose, CeremonyPurpose::NewKey(Variant::CommitFirst));
    let is_wrong = |seat: &&Seat| is_commit_first && seat.receiver.is_some() && seat.dealer.is_none();
    match seats.iter().find(is_wrong) {
        None => Ok(()),
        Some(Seat { member, .. }) => Err(CeremonyError::ReceiverWithoutDeal(member.name().clone())),
    }
}

/// Checks that the shares that dealers deal are shares of the previous key, and that nobody deals a share of another.
fn dealt_shares(
    previous: &Committee,
    dealers: &BTreeMap<u32, MemberNumber>,
    seats: &[Seat],
) -> Result<(), CeremonyError> {
    let mut free = 0;
    for (first, dealer) in dealers {
        if u64::from(*first) < free {
            return Err(CeremonyError::IndexTwice { role: "dealer", index: *first });
        }
        previous.index((*first).into())?;
        free = u64::from(*first) + u64::from(seats[dealer.place()].deals);
        previous.index(free - 1)?;
    }
    Ok(())
}

fn distinct(seats: &[Seat]) -> Result<(), CeremonyError> {
    let mut seen = BTreeMap::new();
    for seat in seats {
        let member = &seat.member;
        let unique = [
            ("name", member.name().as_str().to_lowercase().into_bytes()),
            ("signing key", member.signing_key().to_bytes().to_vec()),
            ("encryption key", member.encryption_key().to_bytes()),
        ];
        for (what, bytes) in unique {
            if let Some(first) = seen.insert((what, bytes), member.name()) {
                let (first, second) = (first.clone(), member.name().clone());
                return Err(CeremonyError::Twice { what, first, second });
            }
        }
    }
    Ok(())
}

fn by_index(
    role: &'static str,
    indices: impl Iterator<Item = Option<u32>>,
) -> Result<BTreeMap<u32, MemberNumber>, CeremonyError> {
    let mut members = BTreeMap::new();
    for (member, index) in (1..).map(MemberNumber).zip(indices) {
        let Some(index) = index else { continue };
        if members.insert(index, member).is_some() {
            return Err(CeremonyError::IndexTwice { role, index });
        }
    }
    Ok(members)
}

/// Checks that indices, each with how many it stands for, are 1, 2, 3 and so on.
fn consecutive(role: &'static str, indices: impl Iterator<Item = (u32, u32)> + Clone) -> Result<(), CeremonyError> {
    let count: usize = indices.clone().map(|(_, weight)| weight as usize).sum();
    let mut expected = 1;
    let missing = |index: u64| CeremonyError::IndexMissing { role, index: index as u32, count };
    for (index, weight) in indices.filter(|(index, _)| *index > 0) {
        match u64::from(index).cmp(&expected) {
            Ordering::Less => return Err(CeremonyError::IndexTwice { role, index }),
            Ordering::Equal => expected += u64::from(weight),
            Ordering::Greater => return Err(missing(expected)),
        }
    }
    if expected == count as u64 + 1 { Ok(()) } else { Err(missing(expected)) }
}

impl MemberNumber {
    /// The number, from 1 on.
    pub fn number(self) -> u32 {
        self.0
    }

    pub(super) fn place(self) -> usize {
        self.0 as usize - 1
    }
}

impl fmt::Display for MemberNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl<S: Bls12381Suite> Debug for Ceremony<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ceremony({})", self.id)
    }
}
