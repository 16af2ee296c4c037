//! What is wrong with a network, and why no quorum can be made of it.

use super::plan::SignatureError;
use crate::{quorum::MisuseError, state::TooLarge};

/// What is wrong with the form of a network. Each names the field as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A member's key that is not as long as the back end's.
    #[error("keys[{index}]: {found} bytes, not {expected}")]
    KeyLength {
        /// The member.
        index: usize,
        /// Bytes of the back end's members.
        expected: usize,
        /// Bytes that it has.
        found: usize,
    },
    /// Weights of members that have no key.
    #[error("weights: {weights} of them, for {keys} keys")]
    WeightsBehindKeys {
        /// How many weights there are.
        weights: usize,
        /// How many keys there are.
        keys: usize,
    },
    /// A number that does not fit its bits of the contract's head.
    #[error(transparent)]
    Head(#[from] TooLarge),
    /// Members are counted from the first epoch on.
    #[error("epoch: 0, and the first in which members are counted is 1")]
    NoEpoch,
    /// So few members of the epoch may weigh less than what is required.
    #[error("enough: {enough}, and {least} members may be needed to weigh what is required")]
    Enough {
        /// What is said.
        enough: u32,
        /// The least that is right; [`NEVER`](crate::state::NEVER) where all weigh less.
        least: u32,
    },
    /// A page of keys that leaves a gap, overlaps, is empty or ends behind the last key.
    #[error(
        "key_pages[{page}]: {held} keys from {first} on; it must begin at {next} and end by {keys}, the number of keys"
    )]
    KeyPage {
        /// Its place.
        page: usize,
        /// The index it begins with.
        first: usize,
        /// How many it holds.
        held: usize,
        /// Where it has to begin.
        next: usize,
        /// How many keys there are.
        keys: usize,
    },
    /// A slot that stands for something else.
    #[error("bases[{place}]: there is no slot {slot:#x}")]
    ReservedSlot {
        /// The base's place.
        place: usize,
        /// Its slot.
        slot: u16,
    },
    /// Two bases in one slot.
    #[error("bases[{place}]: slot {slot} has a base already")]
    SlotTwice {
        /// The second base's place.
        place: usize,
        /// The slot.
        slot: u16,
    },
    /// A base's key that is not as long as the back end's.
    #[error("bases[{place}] (slot {slot}): a key of {found} bytes, not {expected}")]
    BaseKeyLength {
        /// The base's place.
        place: usize,
        /// Its slot.
        slot: u16,
        /// Bytes of the back end's keys.
        expected: usize,
        /// Bytes that it has.
        found: usize,
    },
    /// A base whose weight has more than 96 bits.
    #[error("bases[{place}] (slot {slot}): a weight of {weight}, which has more than 96 bits")]
    BaseWeight {
        /// The base's place.
        place: usize,
        /// Its slot.
        slot: u16,
        /// What it weighs.
        weight: u128,
    },
    /// A base of nobody: the empty one is always there, and has no slot.
    #[error("bases[{place}] (slot {slot}): it has no signers")]
    EmptyBase {
        /// The base's place.
        place: usize,
        /// Its slot.
        slot: u16,
    },
    /// A base's member that has no key.
    #[error("bases[{place}] (slot {slot}): member {member}, and there are {keys} keys")]
    BaseMember {
        /// The base's place.
        place: usize,
        /// Its slot.
        slot: u16,
        /// The member.
        member: usize,
        /// How many keys there are.
        keys: usize,
    },
}

/// Why no quorum can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The network does not hold together.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Nobody signed.
    #[error("a quorum of nobody")]
    Empty,
    /// A member that is not in the table.
    #[error("member {index}: the network has {members} keys, 0 to {}", members.saturating_sub(1))]
    NoSuchMember {
        /// The member.
        index: usize,
        /// How many keys there are.
        members: usize,
    },
    /// Signers that weigh less than the epoch requires.
    #[error("the quorum is too light: it weighs {weight}, and {required} are required")]
    TooLight {
        /// What they weigh.
        weight: u128,
        /// What is required.
        required: u128,
    },
    /// A member that is younger than the epoch's last page of weights.
    #[error("member {0}: no page of weights holds this index")]
    NoWeight(usize),
    /// A key of the network is none.
    #[error("key of member {index}: {why}")]
    Key {
        /// The member.
        index: usize,
        /// What is wrong.
        why: String,
    },
    /// A base's key is none, or not that of its members.
    #[error("key of the base in slot {slot}: {why}")]
    BaseKey {
        /// Its slot.
        slot: u16,
        /// What is wrong.
        why: String,
    },
    /// Keys that cancel out: under their sum everything is signed, and the contract refuses it.
    #[error("the quorum's keys add up to the identity")]
    Identity,
    /// What the packed form cannot hold.
    #[error(transparent)]
    Misuse(#[from] MisuseError),
    /// A signature of another back end, or none.
    #[error(transparent)]
    Signature(#[from] SignatureError),
}
