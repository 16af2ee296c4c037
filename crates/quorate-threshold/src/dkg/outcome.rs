//! How a ceremony ends: with a key, or with the names of those who prevented it.

use quorate::Bls12381Suite;

use super::{ceremony::MemberNumber, judge::Blame, message::CeremonyMessage, round::Round};
use crate::{committee::Index, shared_key::SharedKey, sharing::KeyShare};

/// What a ceremony made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CeremonyOutcome<S: Bls12381Suite> {
    /// The key.
    pub shared_key: SharedKey<S>,
    /// This participant's share of it, if it receives one. It was checked against the commitment.
    pub key_share: Option<KeyShare<S>>,
    /// The dealers who contributed.
    pub dealers: Vec<MemberNumber>,
    /// The signed confirmations of receivers that the outcome is this one.
    pub confirmations: Vec<CeremonyMessage>,
}

/// Why a ceremony ended without a key. [`Participant::culprits`](super::Participant::culprits) says who prevented it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CeremonyFailure {
    /// So few dealers are left that perhaps none of them is honest.
    #[error("{left} dealers are left, and {needed} are needed")]
    TooFewDealers {
        /// How many are left.
        left: usize,
        /// How many it takes.
        needed: usize,
    },
    /// The contribution that a dealer did not reveal could not be reconstructed.
    #[error(
        "member {dealer} did not reveal its contribution, and {found} receivers disclosed shares of it, where {needed} are needed"
    )]
    TooFewDisclosures {
        /// The dealer.
        dealer: MemberNumber,
        /// How many true shares were disclosed.
        found: usize,
        /// How many are needed: t.
        needed: usize,
    },
    /// Too few receivers miss the same contributions, so that nobody may make them public.
    #[error("{agreeing} receivers miss the same contributions, and {needed} are needed before they are disclosed")]
    AbsenceNotAgreed {
        /// How many miss those that this participant misses.
        agreeing: usize,
        /// How many it takes.
        needed: usize,
    },
    /// The lost share could not be recovered.
    #[error("{found} helpers sent what the share is recovered from, and {needed} are needed")]
    TooFewContributions {
        /// How many true ones came.
        found: usize,
        /// How many are needed: t.
        needed: usize,
    },
    /// Too few receivers came to the same outcome, or it is not known that they did.
    #[error("{agreeing} receivers confirmed this outcome, and {needed} are needed before it counts")]
    Unconfirmed {
        /// How many confirmed the outcome that this participant came to.
        agreeing: usize,
        /// How many it takes.
        needed: usize,
    },
    /// The sum of the contributions is not a key, or this participant's share of it is zero.
    ///
    /// To an honest participant it happens with a probability of 2^-254. A dealer who speaks last sees its own shares of the
    /// other deals, so it chooses what its own share becomes, zero included. The others then end with a key, sign without it,
    /// and [`SharedKey::without_share`] names it.
    ///
    /// Where fewer than t - 1 receivers are honest, dealers without [`Variant::CommitFirst`](super::Variant::CommitFirst) can cancel a
    /// coefficient of the others, and nothing says who did.
    #[error("the contributions add up to a key or share that is zero; run a new ceremony")]
    Zero,
    /// This participant's own share is not what the outcome commits to. It is a fault of this program.
    #[error("the share of participant {0} is not what the outcome commits to, which is a fault of this program")]
    ShareMismatch(Index),
}

/// Somebody who did not do what the ceremony asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Culprit {
    /// Its own signed messages prove it.
    Proven(Blame),
    /// Its message did not come before the round was closed. Perhaps it was not its fault.
    Silent {
        /// The round.
        round: Round,
        /// The member that this is about.
        member: MemberNumber,
    },
    /// A dealer did not answer a complaint.
    Unanswered {
        /// Who was accused.
        dealer: MemberNumber,
        /// By whom.
        receiver: MemberNumber,
    },
    /// So many receivers complained about a dealer that one of them is honest, if fewer than t are not.
    Accused {
        /// The dealer.
        dealer: MemberNumber,
        /// How many complained.
        complaints: usize,
    },
    /// In a recovery: what a helper sent is not what it should have been, by the deals that the helper says to have seen. Only who lost the
    /// share can tell.
    FalseContribution {
        /// The helper.
        member: MemberNumber,
    },
    /// It confirmed another outcome than this participant came to, and nothing that it says to have seen explains that. It lies, or it knows
    /// of a second message of a dealer, and can show it.
    OtherOutcome {
        /// Who confirmed it.
        member: MemberNumber,
    },
    /// A message reached some of the receivers who confirmed, and not others.
    NotSeenByAll {
        /// The round of the message.
        round: Round,
        /// Who sent it.
        sender: MemberNumber,
        /// Who did not see it.
        unseen_by: Vec<MemberNumber>,
    },
}

impl Culprit {
    /// Who did not do what the ceremony asks for, or whose message got lost.
    pub fn member(&self) -> MemberNumber {
        match self {
            Self::Proven(blame) => blame.member(),
            Self::Silent { member, .. } | Self::FalseContribution { member } | Self::OtherOutcome { member } => *member,
            Self::Unanswered { dealer, .. } | Self::Accused { dealer, .. } => *dealer,
            Self::NotSeenByAll { sender, .. } => *sender,
        }
    }
}
