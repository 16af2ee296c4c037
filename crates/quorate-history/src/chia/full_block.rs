//! The fields of a full block that signatures cover, and their streamable encoding.
//!
//! The encoding has no names and no lengths of fixed fields: integers are big-endian, bytes of any length and lists have four bytes of
//! length before them, and an optional field has a byte before it that says whether it is there.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny},
};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// What a node's RPC puts around blocks.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct Envelope<'a> {
    #[serde(borrow)]
    pub(super) block: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) blocks: Option<&'a RawValue>,
    /// Fields of a block, which an envelope does not have.
    reward_chain_block: Option<IgnoredAny>,
    foliage: Option<IgnoredAny>,
}

impl Envelope<'_> {
    /// The field that a block has and an envelope does not.
    pub(super) fn field_of_block(&self) -> Option<&'static str> {
        let block = self.reward_chain_block.is_some().then_some("reward_chain_block");
        block.or(self.foliage.is_some().then_some("foliage"))
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct FullBlock {
    pub(super) finished_sub_slots: Vec<EndOfSubSlot>,
    pub(super) reward_chain_block: RewardChainBlock,
    pub(super) foliage: Foliage,
    pub(super) foliage_transaction_block: Option<FoliageTransactionBlock>,
    pub(super) transactions_info: Option<TransactionsInfo>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct EndOfSubSlot {
    pub(super) reward_chain: RewardChainSubSlot,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct RewardChainSubSlot {
    end_of_slot_vdf: VdfInfo,
    challenge_chain_sub_slot_hash: Bytes<32>,
    infused_challenge_chain_sub_slot_hash: Option<Bytes<32>>,
    deficit: u8,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct VdfInfo {
    challenge: Bytes<32>,
    number_of_iterations: u64,
    pub(super) output: VdfOutput,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct VdfOutput {
    data: Bytes<100>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct RewardChainBlock {
    pub(super) height: u32,
    total_iters: u128,
    signage_point_index: u8,
    pub(super) pos_ss_cc_challenge_hash: Bytes<32>,
    pub(super) proof_of_space: ProofOfSpace,
    pub(super) challenge_chain_sp_vdf: Option<VdfInfo>,
    pub(super) challenge_chain_sp_signature: Bytes<96>,
    pub(super) reward_chain_sp_vdf: Option<VdfInfo>,
    pub(super) reward_chain_sp_signature: Bytes<96>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct ProofOfSpace {
    challenge: Bytes<32>,
    pub(super) pool_public_key: Option<Bytes<48>>,
    pool_contract_puzzle_hash: Option<Bytes<32>>,
    pub(super) plot_public_key: Bytes<48>,
    /// Blocks of older nodes do not have it.
    pub(super) version: Option<u8>,
    size: u8,
    proof: Blob,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct Foliage {
    pub(super) foliage_block_data: FoliageBlockData,
    pub(super) foliage_block_data_signature: Bytes<96>,
    pub(super) foliage_transaction_block_hash: Option<Bytes<32>>,
    pub(super) foliage_transaction_block_signature: Option<Bytes<96>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct FoliageBlockData {
    pub(super) unfinished_reward_block_hash: Bytes<32>,
    pub(super) pool_target: PoolTarget,
    pub(super) pool_signature: Option<Bytes<96>>,
    farmer_reward_puzzle_hash: Bytes<32>,
    extension_data: Bytes<32>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct PoolTarget {
    puzzle_hash: Bytes<32>,
    max_height: u32,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct FoliageTransactionBlock {
    prev_transaction_block_hash: Bytes<32>,
    timestamp: u64,
    filter_hash: Bytes<32>,
    additions_root: Bytes<32>,
    removals_root: Bytes<32>,
    pub(super) transactions_info_hash: Bytes<32>,
}

/// Its aggregated signature is not verified.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct TransactionsInfo {
    generator_root: Bytes<32>,
    generator_refs_root: Bytes<32>,
    aggregated_signature: Bytes<96>,
    fees: u64,
    cost: u64,
    reward_claims_incorporated: Vec<Coin>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Coin {
    parent_coin_info: Bytes<32>,
    puzzle_hash: Bytes<32>,
    amount: u64,
}

/// The hash that stands for a value in Chia: SHA-256 of its encoding.
pub(super) fn hash(value: &impl Streamable) -> [u8; 32] {
    Sha256::digest(Encoded::of(value).0).into()
}

/// The bytes of an encoding.
#[derive(Default)]
pub(super) struct Encoded(pub(super) Vec<u8>);

impl Encoded {
    pub(super) fn of(value: &impl Streamable) -> Self {
        let mut encoded = Self::default();
        value.stream(&mut encoded);
        encoded
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn and(&mut self, value: &impl Streamable) -> &mut Self {
        value.stream(self);
        self
    }

    fn length(&mut self, length: usize) -> &mut Self {
        let length = u32::try_from(length).expect("a value of JSON is shorter than 4 GiB");
        self.bytes(&length.to_be_bytes())
    }
}

/// A value that is hashed in its streamable encoding.
pub(super) trait Streamable {
    fn stream(&self, to: &mut Encoded);
}

impl Streamable for VdfOutput {
    fn stream(&self, to: &mut Encoded) {
        to.and(&self.data);
    }
}

impl Streamable for VdfInfo {
    fn stream(&self, to: &mut Encoded) {
        to.and(&self.challenge).bytes(&self.number_of_iterations.to_be_bytes()).and(&self.output);
    }
}

impl Streamable for RewardChainSubSlot {
    fn stream(&self, to: &mut Encoded) {
        to.and(&self.end_of_slot_vdf)
            .and(&self.challenge_chain_sub_slot_hash)
            .and(&self.infused_challenge_chain_sub_slot_hash)
            .bytes(&[self.deficit]);
    }
}

/// As its farmer has signed it: without what is infused later (`RewardChainBlockUnfinished`).
impl Streamable for RewardChainBlock {
    fn stream(&self, to: &mut Encoded) {
        to.bytes(&self.total_iters.to_be_bytes())
            .bytes(&[self.signage_point_index])
            .and(&self.pos_ss_cc_challenge_hash)
            .and(&self.proof_of_space)
            .and(&self.challenge_chain_sp_vdf)
            .and(&self.challenge_chain_sp_signature)
            .and(&self.reward_chain_sp_vdf)
            .and(&self.reward_chain_sp_signature);
    }
}

/// Of version 0.
impl Streamable for ProofOfSpace {
    fn stream(&self, to: &mut Encoded) {
        to.and(&self.challenge)
            .and(&self.pool_public_key)
            .and(&self.pool_contract_puzzle_hash)
            .and(&self.plot_public_key)
            .bytes(&[self.size])
            .and(&self.proof);
    }
}

impl Streamable for FoliageBlockData {
    fn stream(&self, to: &mut Encoded) {
        to.and(&self.unfinished_reward_block_hash)
            .and(&self.pool_target)
            .and(&self.pool_signature)
            .and(&self.farmer_reward_puzzle_hash)
            .and(&self.extension_data);
    }
}

impl Streamable for PoolTarget {
    fn stream(&self, to: &mut Encoded) {
        to.and(&self.puzzle_hash).bytes(&self.max_height.to_be_bytes());
    }
}

impl Streamable for FoliageTransactionBlock {
    fn stream(&self, to: &mut Encoded) {
        to.and(&self.prev_transaction_block_hash)
            .bytes(&self.timestamp.to_be_bytes())
            .and(&self.filter_hash)
            .and(&self.additions_root)
            .and(&self.removals_root)
            .and(&self.transactions_info_hash);
    }
}

impl Streamable for TransactionsInfo {
    fn stream(&self, to: &mut Encoded) {
        to.and(&self.generator_root)
            .and(&self.generator_refs_root)
            .and(&self.aggregated_signature)
            .bytes(&self.fees.to_be_bytes())
            .bytes(&self.cost.to_be_bytes())
            .and(&self.reward_claims_incorporated);
    }
}

impl Streamable for Coin {
    fn stream(&self, to: &mut Encoded) {
        to.and(&self.parent_coin_info).and(&self.puzzle_hash).bytes(&self.amount.to_be_bytes());
    }
}

impl<T: Streamable> Streamable for Vec<T> {
    fn stream(&self, to: &mut Encoded) {
        to.length(self.len());
        self.iter().for_each(|value| value.stream(to));
    }
}

impl<T: Streamable> Streamable for Option<T> {
    fn stream(&self, to: &mut Encoded) {
        match self {
            None => to.bytes(&[0]),
            Some(value) => to.bytes(&[1]).and(value),
        };
    }
}

impl<const N: usize> Streamable for Bytes<N> {
    fn stream(&self, to: &mut Encoded) {
        to.bytes(&self.0);
    }
}

impl Streamable for Blob {
    fn stream(&self, to: &mut Encoded) {
        to.length(self.0.len()).bytes(&self.0);
    }
}

/// So many bytes, in hexadecimal.
pub(super) struct Bytes<const N: usize>(pub(super) [u8; N]);

/// Bytes of any length, in hexadecimal.
struct Blob(Vec<u8>);

impl<'de, const N: usize> Deserialize<'de> for Bytes<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<const N: usize>;

        impl<const N: usize> de::Visitor<'_> for Visitor<N> {
            type Value = Bytes<N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a string of {N} bytes in hexadecimal")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes<N>, E> {
                quorate_formats::array_from_hex(text).map(Bytes).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Visitor::<N>)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        quorate_formats::from_hex(&text).map(Blob).map_err(de::Error::custom)
    }
}
