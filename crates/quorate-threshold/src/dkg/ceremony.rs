//! A ceremony before anything was said: what it is for, who deals, who receives.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Debug},
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
    /// The members who receive, by their index in the committee.
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
    /// shares stolen before are of no use after (refresh).
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
    /// (Gennaro, Jarecki, Krawczyk and Rabin, 1999). The key is uniformly random, unless dishonest members end the ceremony
    /// when they have seen it: docs/ceremonies.md says who can, and what each attempt gives up. It takes one round more, and
    /// two further ones if a dealer then falls silent.
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
    /// The index as a receiver, 1 to n.
    pub receiver: Option<u32>,
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
    /// How many dealers must be left in the end, so that at least one of them is honest. `None` for the default: the
    /// threshold where dealers and receivers of a new key are the same, and a majority of the dealers where they are not.
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
    /// Nobody deals.
    #[error("there are {found} dealers, and at least {needed} are needed")]
    TooFewDealers {
        /// How many there are.
        found: usize,
        /// How many it takes.
        needed: usize,
    },
    /// A number of dealers of which nobody could be honest, or that there are not.
    #[error("{needed} of {dealers} dealers cannot be needed: the number must be 1 to {dealers}")]
    DealersNeeded {
        /// The number.
        needed: usize,
        /// How many there are.
        dealers: usize,
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
        let receivers = by_index("receiver", seats.iter().map(|seat| seat.receiver))?;
        let committee = match &purpose {
            CeremonyPurpose::Recover { shared_key, .. } => shared_key.committee().clone(),
            CeremonyPurpose::NewKey(_) | CeremonyPurpose::Reshare(_) | CeremonyPurpose::ReshareInOneRound(_) => {
                consecutive("receiver", &receivers)?;
                Committee::new(threshold, receivers.len(), identifiers, backend)?
            }
        };
        if (committee.threshold(), committee.identifiers()) != (threshold, identifiers) {
            return Err(CeremonyError::RecoveryCommittee);
        }
        let receivers = receivers.into_iter().map(|(index, member)| Ok((committee.index(index.into())?, member)));
        let receivers = receivers.collect::<Result<BTreeMap<_, _>, CommitteeError>>()?;
        let needed = needed(&purpose, &committee, &dealers, &receivers, dealers_needed)?;
        match &purpose {
            CeremonyPurpose::NewKey(_) => consecutive("dealer", &dealers)?,
            CeremonyPurpose::Reshare(previous) | CeremonyPurpose::ReshareInOneRound(previous) => {
                for index in dealers.keys() {
                    previous.committee().index((*index).into())?;
                }
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
        if dealers.len() < needed {
            return Err(CeremonyError::TooFewDealers { found: dealers.len(), needed });
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

    /// How many dealers must be left in the end.
    pub fn dealers_needed(&self) -> usize {
        self.dealers_needed
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

    /// The members to whom shares are dealt, ascending by their index. In a recovery it is those who help.
    pub fn receivers(&self) -> impl Iterator<Item = (Index, MemberNumber)> {
        let lost = self.lost();
        self.receivers.iter().map(|(index, member)| (*index, *member)).filter(move |(index, _)| Some(*index) != lost)
    }

    /// The index at which a member receives shares, if it does.
    pub fn receiver_index(&self, member: MemberNumber) -> Option<Index> {
        self.receivers().find(|(_, receiver)| *receiver == member).map(|(index, _)| index)
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

    /// The index of the previous share that a dealer has.
    pub fn previous_index(&self, dealer: MemberNumber) -> Option<Index> {
        let index = self.seat(dealer)?.dealer?;
        self.previous()?.committee().index(index.into()).ok()
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
        let key = |(_, member): (Index, MemberNumber)| {
            let member = &self.seats[member.place()].member;
            member.share_key().map(|key| (key, 1)).ok_or_else(|| CeremonyError::NoShareKey(member.name().clone()))
        };
        let keys = self.receivers().map(key).collect::<Result<Vec<_>, _>>()?;
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

/// How many dealers must be left in the end.
fn needed<S: Bls12381Suite>(
    purpose: &CeremonyPurpose<S>,
    committee: &Committee,
    dealers: &BTreeMap<u32, MemberNumber>,
    receivers: &BTreeMap<Index, MemberNumber>,
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
    let same = matches!(purpose, CeremonyPurpose::Recover { .. }) || dealers.values().eq(receivers.values());
    let default = if same { committee.threshold() } else { dealers.len() / 2 + 1 };
    match asked {
        Some(needed) if needed == 0 || needed > dealers.len() => {
            Err(CeremonyError::DealersNeeded { needed, dealers: dealers.len() })
        }
        _ => Ok(asked.unwrap_or(default)),
    }
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

fn consecutive(role: &'static str, members: &BTreeMap<u32, MemberNumber>) -> Result<(), CeremonyError> {
    let found: BTreeSet<_> = members.keys().copied().collect();
    let missing = (1..=members.len() as u32).find(|index| !found.contains(index));
    missing.map_or(Ok(()), |index| Err(CeremonyError::IndexMissing { role, index, count: members.len() }))
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
