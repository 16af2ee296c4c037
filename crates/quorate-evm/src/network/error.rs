//! What can be wrong with a network, with the keys and signatures in it, and with a quorum of it.

use quorate::ParseError;
use quorate_bn254::Bn254ParseError;

use crate::{quorum::EncodeQuorumError, state::TooLarge};

/// A text that is not a network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkJsonError {
    /// It is not JSON, or a field is missing or of the wrong type.
    #[error("this is not a network: {0}; `quorate evm plan --help` describes it")]
    Json(#[from] serde_json::Error),
    /// It is no object. Nothing of it is repeated, because it may be a secret, whose file was named by mistake.
    #[error("this is not a network: it does not begin with {{; `quorate evm plan --help` describes it")]
    NoObject,
    /// A field is wrong.
    #[error(transparent)]
    Form(#[from] NetworkError),
}

/// A fault of the form of a network. Each message begins with the field's name in JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A member's key does not have the length of the key group.
    #[error("keys[{index}]: {found} bytes, expected {expected}")]
    KeyLength {
        /// The member.
        index: usize,
        /// The number of bytes of the key group's members.
        expected: usize,
        /// The number of bytes that the key has.
        found: usize,
    },
    /// A number does not fit into its bits of the contract's head.
    #[error(transparent)]
    Head(#[from] TooLarge),
    /// Members are counted, but the epoch is 0.
    #[error("epoch: found 0, expected at least 1; before the first epoch, set enough to 16777215")]
    NoEpoch,
    /// The required weight is zero in an epoch, so any quorum would settle. The contract begins no such epoch.
    #[error("required: found 0, expected at least 1; only before the first epoch is nothing required")]
    NothingRequired,
    /// So few members may weigh less than what is required.
    #[error("enough: found {enough}, expected at least {least}; fewer members may weigh less than required")]
    Enough {
        /// The number in the file.
        enough: u32,
        /// The smallest number that is right; [`NEVER`](crate::state::NEVER) if all members together weigh too little.
        least: u32,
    },
    /// A page of keys is empty, or ends after the last key.
    #[error("key_pages[{page}]: {held} keys from {first} on, expected at least one key, ending by {keys}")]
    KeyPage {
        /// The index of the page in the list.
        page: usize,
        /// The index of its first key.
        first: usize,
        /// The number of its keys.
        held: usize,
        /// The number of keys.
        keys: usize,
    },
    /// The number of a base's slot has another meaning.
    #[error("bases[{place}]: {slot:#x} is not a slot; slots are below 0xfffe")]
    ReservedSlot {
        /// The index of the base in the list.
        place: usize,
        /// The slot.
        slot: u16,
    },
    /// Two bases are in one slot.
    #[error("bases[{place}]: slot {slot} already has a base in this list")]
    SlotTwice {
        /// The index of the second base in the list.
        place: usize,
        /// The slot.
        slot: u16,
    },
    /// A base's key does not have the length of the key group.
    #[error("bases[{place}] (slot {slot}): the key has {found} bytes, expected {expected}")]
    BaseKeyLength {
        /// The index of the base in the list.
        place: usize,
        /// The slot.
        slot: u16,
        /// The number of bytes of the key group's keys.
        expected: usize,
        /// The number of bytes that the key has.
        found: usize,
    },
    /// A base's weight has more than 96 bits.
    #[error("bases[{place}] (slot {slot}): the weight {weight} has more than 96 bits")]
    BaseWeight {
        /// The index of the base in the list.
        place: usize,
        /// The slot.
        slot: u16,
        /// The weight.
        weight: u128,
    },
    /// A base has no members. The empty quorum is always available, and has no slot.
    #[error("bases[{place}] (slot {slot}): there are no signers; leave the base out")]
    EmptyBase {
        /// The index of the base in the list.
        place: usize,
        /// The slot.
        slot: u16,
    },
    /// A member of a base has no key.
    #[error("bases[{place}] (slot {slot}): member {member} has no key; there are {keys} keys")]
    BaseMember {
        /// The index of the base in the list.
        place: usize,
        /// The slot.
        slot: u16,
        /// The member.
        member: usize,
        /// The number of keys.
        keys: usize,
    },
    /// The newest base is in the list, and said to be unknown.
    #[error("bases[{place}]: slot 0 has a base, so leave unknown_newest out")]
    NewestTwice {
        /// The index of the base in the list.
        place: usize,
    },
}

/// Why bytes are not a key or a signature, on either curve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PointError {
    /// On BN254.
    #[error(transparent)]
    Bn254(#[from] Bn254ParseError),
    /// On BLS12-381.
    #[error(transparent)]
    Bls12381(#[from] ParseError),
}

/// Why bytes are not a signature for a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The number of bytes is wrong.
    #[error("signature: {found} bytes, expected {expected}")]
    Length {
        /// The number of bytes of a signature of the key group.
        expected: usize,
        /// The number of bytes that were given.
        found: usize,
    },
    /// The bytes are not a point of the group.
    #[error(transparent)]
    Point(#[from] PointError),
    /// The signature is on the other curve.
    #[error("signature: found one of {found} bytes, expected one of {expected}; it is on another curve than the keys")]
    OtherCurve {
        /// The number of bytes of a signature of the plan's key group.
        expected: usize,
        /// The number of bytes of this signature.
        found: usize,
    },
}

/// Why there is no plan for a quorum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The form of the network has a fault.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// There are no signers.
    #[error("the quorum has no signers")]
    Empty,
    /// A signer has no key.
    #[error("there is no member {index}: the network has {members} keys, numbered from 0")]
    NoSuchMember {
        /// The member.
        index: usize,
        /// The number of keys.
        members: usize,
    },
    /// The signers weigh less than the epoch requires.
    #[error("the quorum is too light: it weighs {weight}, and {required} are required")]
    TooLight {
        /// The weight of the signers.
        weight: u128,
        /// The weight that is required.
        required: u128,
    },
    /// The bytes of a member's key are not a key.
    #[error("keys[{index}]: {source}")]
    Key {
        /// The member.
        index: usize,
        /// The fault.
        source: PointError,
    },
    /// The bytes of a base's key are not a key.
    #[error("bases: the key of the base in slot {slot}: {source}")]
    BaseKey {
        /// The slot of the base.
        slot: u16,
        /// The fault.
        source: PointError,
    },
    /// A base's key is not the sum of its members' keys.
    #[error("bases: the key of the base in slot {slot} is not the sum of its members' keys")]
    BaseSum {
        /// The slot of the base.
        slot: u16,
    },
    /// The signers' keys cancel. Under the identity anyone can sign, and the contract refuses it.
    #[error("the quorum's keys add up to the identity; no contract accepts this quorum")]
    Identity,
    /// The quorum has no packed bytes.
    #[error(transparent)]
    Encode(#[from] EncodeQuorumError),
}
