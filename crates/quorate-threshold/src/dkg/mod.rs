//! Ceremonies: participants make a shared key together, so that nobody ever holds it whole.
//!
//! Each dealer shares a secret of its own among the receivers, and the key is the sum of these secrets. The same
//! messages share an existing key anew, and recover a share that was lost.
//!
//! | round | who speaks | what |
//! |---|---|---|
//! | [deal](Round::Deal) | dealers | a commitment to a polynomial, and each receiver's share of it, encrypted |
//! | [response](Round::Response) | receivers | which dealers gave them a false share |
//! | [justification](Round::Justification) | dealers who were accused | what they had sent, so that everyone sees who lies |
//! | [reveal](Round::Reveal) | dealers | only with [`Variant::CommitFirst`]: the contributions |
//! | [absence](Round::Absence), [disclosure](Round::Disclosure) | receivers | only if one was not revealed: whose, and the shares of it |
//! | [confirmation](Round::Confirmation) | receivers | which outcome they came to |
//! | [contribution](Round::Contribution) | helpers | only in a recovery: what the lost share is recovered from |
//!
//! | module | noun |
//! |---|---|
//! | [`identity`] | [`ParticipantIdentity`] and [`CeremonyMember`]: the keys with which a participant signs and decrypts |
//! | [`ceremony`] | [`Ceremony`]: what it is for, and who takes part |
//! | [`round`] | [`Round`]: the steps of a ceremony |
//! | [`message`] | [`CeremonyMessage`]: what is said in a round |
//! | [`signed_transcript`] | [`SignedTranscript`]: what a dealer of a ceremony in one round publishes |
//! | [`misdeed`] | [`Misdeed`]: what a member can do wrong |
//! | [`mod@judge`] | [`judge()`] and [`Blame`]: what signed messages prove |
//! | [`outcome`] | [`CeremonyOutcome`], [`CeremonyFailure`] and [`Culprit`] |
//! | [`participant`] | [`Participant`]: the state machine |
//!
//! What a ceremony promises, while fewer than t receivers and fewer than [`Ceremony::dealers_needed`] dealers are
//! dishonest, whatever the network does:
//!
//! - Nobody learns the key.
//! - Two participants never end with different keys, and a participant's share fits its key.
//! - Whoever is proven guilty is guilty.
//!
//! A ceremony that loses too many messages or members ends with a [`CeremonyFailure`], and [`Participant::culprits`] names them.
//!
//! # Why
//!
//! `docs/ceremonies.md` says what is dealt, and when. There are m receivers, and an outcome counts once q = ⌊(m + t - 1)/2⌋ + 1 of them
//! have confirmed it.
//!
//! - **No honest member is blamed.** It signs one message a round, which passes the checks. A response names by its digest each deal
//!   that its sender saw. A justification counts against a complaint, and a deal against a disclosed share, only if it is about the
//!   deal that the response names.
//! - **No two keys.** Two outcomes would need q confirmations each, so at least 2q - m ≥ t receivers who sign both. One of them would
//!   be honest, and its program writes its one confirmation to disk before it publishes it.
//! - **Shares fit the key.** A receiver confirms, and ends with a key, only if its share fits the outcome's commitment.
//! - **The key stays secret.** At least one dealer who qualifies is honest, and the others learn fewer than t of its shares: it opens
//!   shares only of dishonest receivers, who had theirs already. With [`Variant::CommitFirst`] shares of an honest dealer may be
//!   disclosed, if its reveal got lost. But all disclosures are about one list, for the same reason that there are no two keys, and the
//!   list leaves as many dealers as must be left.
//! - **A recovered share at ℓ is all that its owner learns.** With the same dealers behind every sum, on whom the helpers agree first,
//!   the sums are values of one polynomial, φ plus a random one that is zero at ℓ. So they tell φ(ℓ) and nothing else.
//! - **A commit-first key is uniformly random,** if fewer than t receivers are dishonest or left out, and unless dishonest members end
//!   the ceremony after the reveals. Every receiver deals, and reveals its contribution only when it has closed the round of
//!   justification. From then on nothing changes which dealers qualify for it, and Pedersen's commitments bind what they contribute. A
//!   receiver that has not come so far may still learn of a second message of a dealer, but until then its own contribution is hidden,
//!   and the key with it. So when the key is known, a receiver that could still confirm either of two outcomes is dishonest or was left
//!   out, and it takes 2q - m ≥ t of these before both are possible. A dealer who sees the others' contributions can no longer change
//!   or withdraw its own: it is disclosed or passed on, if the messages of honest members arrive in time.
//! - **The revealed contribution is the committed one.** Suppose that the revealed A has other coefficients than φ, so that A(w) ≠
//!   φ(w)·g, which holds for all but t - 1 of the r possible challenges w. The dealer shows β' with C(w) - A(w) = β'·h. Then A(w) =
//!   φ(w)·g + (β(w) - β')·h contains h, and the signature under A(w) would be one under a key whose secret nobody knows.
//!
//! # Example
//!
//! ```
//! use quorate::{Backend, MinPk, Options};
//! use quorate_threshold::{Identifiers, dkg::*};
//! use zeroize::Zeroizing;
//!
//! // Three participants of whom any two sign.
//! let identities = ["alice", "bob", "carol"].map(|name| ParticipantIdentity::generate(name, &mut rand::rng()).unwrap());
//! let seat = |(member, i)| Seat { member, dealer: Some(i), receiver: Some(i), weight: 1, deals: 1 };
//! let description = Description {
//!     suite: MinPk::Eth2,
//!     purpose: CeremonyPurpose::NewKey(Variant::JointFeldman),
//!     threshold: 2,
//!     identifiers: Identifiers::Integers,
//!     dealers_needed: None,
//!     seats: identities.iter().map(ParticipantIdentity::member).zip(1..).map(seat).collect(),
//!     nonce: rand::random(),
//! };
//! let ceremony = Ceremony::new(description, Backend::auto())?;
//!
//! // Each on its own machine: `messages` stands for what connects them.
//! let mut messages = Vec::new();
//! let mut take = |outputs: Vec<CeremonyOutput>| {
//!     messages.extend(outputs.into_iter().filter_map(|output| match output {
//!         CeremonyOutput::Publish(message) => Some(message),
//!         _ => None,
//!     }));
//!     messages.clone()
//! };
//! let mut participants = Vec::new();
//! let mut heard = Vec::new();
//! for identity in identities {
//!     let seed = Zeroizing::new(rand::random());
//!     let (participant, outputs) = Participant::join(ceremony.clone(), identity, seed, None, Options::default())?;
//!     heard = take(outputs);
//!     participants.push(participant);
//! }
//! while participants.iter().any(|participant| participant.end().is_none()) {
//!     for place in 0..participants.len() {
//!         let mut participant = participants[place].clone();
//!         for message in &heard {
//!             participant = participant.step(CeremonyEvent::Message(message.clone())).0;
//!         }
//!         if participant.is_complete() {
//!             let (after, outputs) = participant.step(CeremonyEvent::Close);
//!             participant = after;
//!             heard = take(outputs);
//!         }
//!         participants[place] = participant;
//!     }
//! }
//! let key = |participant: &Participant<MinPk>| participant.end().unwrap().as_ref().unwrap().shared_key.public_key();
//! assert_eq!(key(&participants[0]), key(&participants[2]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod hex;
mod envelope;
pub mod identity;
pub mod round;
pub mod ceremony;
pub mod message;
pub mod signed_transcript;
pub mod misdeed;
mod dealing;
pub mod judge;
pub mod outcome;
mod lagrange;
pub mod participant;
#[cfg(test)]
mod simulator;
#[cfg(test)]
mod old_shares;
#[cfg(test)]
mod tests;

pub use ceremony::{Ceremony, CeremonyError, CeremonyPurpose, Description, MemberNumber, Seat, Variant};
pub use hex::{Bytes, CeremonyDigest};
pub use identity::{CeremonyMember, Name, ParticipantIdentity, ParticipantIdentityError};
pub use judge::{Blame, DealerEvidence, judge};
pub use message::{Body, CeremonyMessage, Disclosed, Seen, ShareOpening};
pub use misdeed::Misdeed;
pub use outcome::{CeremonyFailure, CeremonyOutcome, Culprit};
pub use participant::{CeremonyEvent, CeremonyOutput, JoinError, MessageError, Participant};
pub use round::Round;
pub use signed_transcript::{SignedTranscript, SignedTranscriptError, verify_signed};
