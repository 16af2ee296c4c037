//! What a member can do wrong so that its own signed messages prove it.

use quorate::ParseError;

use super::{ceremony::MemberNumber, round::Round};

/// What a member did wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misdeed {
    /// It signed two different messages for one round.
    #[error("signed two different messages of the round `{0}`")]
    Equivocation(Round),
    /// Its commitment has another number of points than the threshold, so that another number of shares would sign.
    #[error("committed to a polynomial with {found} coefficients, where the threshold asks for {expected}")]
    CommitmentLength {
        /// The number of points.
        found: usize,
        /// How many there should be: t.
        expected: usize,
    },
    /// A point of its commitment does not decode, is outside the subgroup, or is the identity.
    #[error("published a commitment whose point {place}, from 0 on, is not valid: {reason}")]
    Point {
        /// Its place.
        place: usize,
        /// What is wrong with it.
        reason: ParseError,
    },
    /// It did not prove that it knows its contribution: perhaps it copied it, or made it from those of others.
    #[error("did not prove that it knows its contribution to the key")]
    Proof,
    /// It dealt to another number of receivers.
    #[error("dealt {found} shares to {expected} receivers")]
    ShareCount {
        /// The number of shares.
        found: usize,
        /// The number of receivers.
        expected: usize,
    },
    /// It sent a receiver an envelope that cannot hold a share, which everyone sees without opening it.
    #[error("sent member {receiver} an envelope of {found} bytes, and that of a share has {expected}")]
    EnvelopeLength {
        /// The receiver.
        receiver: MemberNumber,
        /// The bytes of the envelope.
        found: usize,
        /// The bytes of an envelope with a share.
        expected: usize,
    },
    /// In a resharing: it dealt something else than its share of the key.
    #[error("dealt something else than its share of the previous key")]
    OtherSecret,
    /// In a recovery: what it dealt would change the share that is recovered.
    #[error("dealt a polynomial that is not zero at the lost share")]
    NotZero,
    /// It named members who do not deal, or one twice, or not in order, or complained about a deal that it did not see.
    #[error("listed dealers in its {0} that are none, that it had not seen, or not in ascending order")]
    Dealers(Round),
    /// It said that it had seen a deal that the dealer did not sign.
    #[error("named a deal of member {dealer} that it did not sign")]
    FalseSighting {
        /// The dealer.
        dealer: MemberNumber,
    },
    /// It gave a receiver a share that its commitment does not commit to, or encrypted something else.
    #[error("gave member {receiver} a false share")]
    FalseShare {
        /// The receiver.
        receiver: MemberNumber,
    },
    /// It complained about a share that was right.
    #[error("complained about a true share of member {dealer}")]
    FalseComplaint {
        /// The dealer.
        dealer: MemberNumber,
    },
    /// It opened shares of members who receive none, or one twice, or not in order, or bytes of another length than a share has. A share
    /// about which nobody complained may be opened.
    #[error("opened shares of members who receive none, not in ascending order, or of another length than a share has")]
    Openings,
    /// It revealed another contribution than the one it had committed to.
    #[error("revealed another contribution than it had committed to")]
    OtherContribution,
    /// It disclosed a share that is not what the dealer committed to in the deal that its response lists. Of several the first is named.
    #[error("disclosed a share of member {dealer} that is not the one that was committed to")]
    FalseDisclosure {
        /// The dealer.
        dealer: MemberNumber,
    },
}
