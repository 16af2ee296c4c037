//! What participants say to all others, signed.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{
    ceremony::{Ceremony, MemberNumber},
    hex::{Bytes, CeremonyDigest},
    identity::ParticipantIdentity,
    round::Round,
};
use quorate::Bls12381Suite;

/// A signed message of a ceremony. Every participant gets every message: on paper a broadcast, in practice files in a
/// folder that all of them read. In JSON:
///
/// ```text
/// {"ceremony": "9f…", "sender": 3, "body": {"response": {"deals": […], "complaints": [2]}}, "signature": "a4…"}
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CeremonyMessage {
    ceremony: CeremonyDigest,
    sender: MemberNumber,
    body: Body,
    signature: Bytes,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Body {
    /// [`Round::Deal`].
    #[serde(rename_all = "snake_case")]
    Deal {
        /// The commitment: t points of the group of keys, compressed. The coefficients times the generator, or, with
        /// [`Variant::CommitFirst`](super::Variant::CommitFirst), Pedersen's commitments to them.
        commitment: Vec<Bytes>,
        /// In Joint-Feldman: that the dealer knows its contribution.
        #[serde(skip_serializing_if = "Option::is_none")]
        proof: Option<Bytes>,
        /// The share of each receiver, encrypted, in the order of [`Ceremony::receivers`].
        shares: Vec<Bytes>,
    },
    /// [`Round::Response`].
    Response {
        /// The deals that the sender has seen, ascending by dealer. A dealer who signed two is found out by them.
        deals: Vec<Seen>,
        /// The dealers among them who gave the sender a share that is not what they committed to, ascending.
        complaints: Vec<MemberNumber>,
    },
    /// [`Round::Justification`].
    Justification {
        /// One for each complaint, ascending by receiver.
        openings: Vec<ShareOpening>,
    },
    /// [`Round::Reveal`].
    Reveal {
        /// The coefficients times the generator: t points.
        commitment: Vec<Bytes>,
        /// The blinding polynomial at the challenge: a scalar of 32 bytes.
        blinding: Bytes,
        /// That the dealer knows the value of its polynomial at the challenge.
        proof: Bytes,
    },
    /// [`Round::Absence`].
    Absence {
        /// The dealers who count and did not reveal their contribution, as far as the sender knows, ascending.
        dealers: Vec<MemberNumber>,
    },
    /// [`Round::Disclosure`].
    Disclosure {
        /// The sender's shares of the dealers who did not reveal their contribution, ascending by dealer.
        shares: Vec<Disclosed>,
    },
    /// [`Round::Contribution`].
    Contribution {
        /// What the participant who lost its share gets, encrypted.
        share: Bytes,
    },
    /// [`Round::Confirmation`].
    Confirmation {
        /// The digest of the outcome.
        outcome: CeremonyDigest,
        /// Every message that the sender had seen. If two participants saw different ones, the signatures tell why.
        seen: Vec<Seen>,
    },
}

/// A dealer's answer to a complaint: what it sent to the receiver, and the key material with which it was encrypted, so
/// that anyone can encrypt it again and compare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareOpening {
    /// Who complained.
    pub receiver: MemberNumber,
    /// The share, 32 bytes, or 64 with its blinding.
    pub share: Bytes,
    /// From which the ephemeral key was derived, 32 bytes.
    pub ephemeral: Bytes,
}

/// A share that its receiver makes public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disclosed {
    /// Who dealt it.
    pub dealer: MemberNumber,
    /// The share and its blinding, 64 bytes.
    pub share: Bytes,
}

/// That a message was seen: enough to prove who signed it, without what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Who signed it.
    pub sender: MemberNumber,
    /// The round.
    pub round: Round,
    /// The digest of what it says.
    pub body: CeremonyDigest,
    /// The signature.
    pub signature: Bytes,
}

impl CeremonyMessage {
    pub(super) fn sign<S: Bls12381Suite>(
        ceremony: &Ceremony<S>,
        sender: MemberNumber,
        identity: &ParticipantIdentity,
        body: Body,
    ) -> Self {
        let signed = signed_bytes(ceremony.id(), sender, body.round(), body.digest());
        let signature = identity.sign(&signed).to_bytes().into();
        Self { ceremony: ceremony.id(), sender, body, signature }
    }

    /// The ceremony that it belongs to.
    pub fn ceremony(&self) -> CeremonyDigest {
        self.ceremony
    }

    /// Who says it, if the signature is its own.
    pub fn sender(&self) -> MemberNumber {
        self.sender
    }

    /// The round it belongs to.
    pub fn round(&self) -> Round {
        self.body.round()
    }

    /// What it says.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// What it says and who signed it, in short.
    pub fn seen(&self) -> Seen {
        let signature = self.signature.clone();
        Seen { sender: self.sender, round: self.round(), body: self.body.digest(), signature }
    }

    /// The JSON of a file, with a line feed at its end.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("text and numbers are JSON") + "\n"
    }

    /// Reads the JSON of a file. The signature is checked by who takes the message.
    ///
    /// # Errors
    /// The text is not JSON, or not that of a message.
    pub fn from_json(json: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }
}

impl Seen {
    /// Whether the sender signed a message with this digest in this ceremony.
    pub fn is_signed<S: Bls12381Suite>(&self, ceremony: &Ceremony<S>) -> bool {
        let signed = signed_bytes(ceremony.id(), self.sender, self.round, self.body);
        ceremony.member(self.sender).is_some_and(|member| member.signed(&signed, &self.signature.0))
    }
}

/// What a participant signs: the ceremony, who it is, the round, and the digest of the body.
fn signed_bytes(ceremony: CeremonyDigest, sender: MemberNumber, round: Round, body: CeremonyDigest) -> Vec<u8> {
    [&ceremony.0[..], &sender.number().to_be_bytes(), &[round as u8], &body.0].concat()
}

impl Body {
    /// The round that such a message belongs to.
    pub fn round(&self) -> Round {
        match self {
            Self::Deal { .. } => Round::Deal,
            Self::Response { .. } => Round::Response,
            Self::Justification { .. } => Round::Justification,
            Self::Reveal { .. } => Round::Reveal,
            Self::Absence { .. } => Round::Absence,
            Self::Disclosure { .. } => Round::Disclosure,
            Self::Contribution { .. } => Round::Contribution,
            Self::Confirmation { .. } => Round::Confirmation,
        }
    }

    /// SHA-256 of the JSON without white space, its fields in the order in which they stand here.
    fn digest(&self) -> CeremonyDigest {
        CeremonyDigest(Sha256::digest(serde_json::to_vec(self).expect("text and numbers are JSON")).into())
    }
}
