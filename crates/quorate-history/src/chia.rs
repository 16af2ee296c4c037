//! Chia's full blocks in JSON, as a full node's RPC gives them: every BLS signature that can be verified from the block itself.
//!
//! | kind | who signed | what |
//! |---|---|---|
//! | `reward_chain_sp` | the plot | the hash of the reward chain's signage point |
//! | `challenge_chain_sp` | the plot | the hash of the challenge chain's signage point |
//! | `foliage_block_data` | the plot | the hash of `foliage_block_data` |
//! | `foliage_transaction_block` | the plot | the hash of `foliage_transaction_block` |
//! | `pool` | the pool's key, if the plot has one | `pool_target` itself |
//!
//! A signature covers fields, so the hashes are computed here from the fields: SHA-256 of their streamable encoding. Three fields state
//! such a hash (`unfinished_reward_block_hash`, `foliage_transaction_block_hash`, `transactions_info_hash`), and the block contradicts
//! itself if it is another one; then the claim is invalid whatever its signature.
//!
//! **Three signatures are not verified,** and are reported as such ([`Unverified`]), never as valid:
//!
//! - `transactions_info.aggregated_signature`, the kind `transactions`. The puzzles of the spent coins say which keys signed which
//!   messages. To know them, the block's program must be run, with the coins that it spends.
//! - `reward_chain_sp` in the first signage point of a sub-slot, if the block does not hold the end of the slot before: its message
//!   is in an earlier block.
//! - `pool`, if a pool has signed although the plot pays to a contract: the block has no key for it.
//!
//! Nothing else of a block is checked: proofs of space and time, its place in the chain, its height, what is added to
//! `reward_chain_block` after the plot has signed it and the `reward_block_hash` over that, the program of the transactions. Blocks with
//! proofs of space of another version than 0 are refused.
//!
//! Spec: Chia-Network/chia-blockchain, `chia/consensus/block_header_validation.py` (checks 11 to 18 and 20) and
//! `chia/util/streamable.py`; the field order of the encodings is that of the classes in chia_rs, `chia-protocol`.

use std::io::{self, BufRead, Read};

use quorate::{AnySuite, ClaimBytes, Messages, MinPk};
use quorate_formats::{Check, CheckResult, Malformed, Place, json};
use quorate_host::text::WithoutMark;
use serde_json::value::RawValue;
use thiserror::Error;

use self::full_block::{Encoded, FullBlock, hash};
use crate::claims::{ChainClaim, ClaimKind};

mod full_block;

/// The longest JSON value that is read, 64 MiB: some ten of the largest blocks.
pub const VALUE_LIMIT: usize = 64 << 20;

/// Reads blocks: one or several JSON values, each a block, `{"block": …}`, `{"blocks": […]}` or a list of blocks. A byte order mark may
/// stand before the first. One value is held at a time.
pub fn read<R: BufRead>(reader: R) -> ChiaBlocks<R> {
    let values = Values { reader: WithoutMark::new(reader), limit: VALUE_LIMIT };
    ChiaBlocks { values, pending: Pending::default(), next: 0, ended: false }
}

/// The blocks of a file, one after the other.
///
/// After an `Err` from the outer result the iterator ends. What is not a block is [`Malformed`]; the blocks after it are read.
#[derive(Debug)]
pub struct ChiaBlocks<R> {
    values: Values<R>,
    /// What is left of the last value.
    pending: Pending,
    next: u64,
    ended: bool,
}

/// What is signed in a block.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChiaBlock {
    /// The height that the block states.
    pub height: u64,
    /// The block's place in its file.
    pub place: Place,
    /// The signatures that can be verified. Their slot is the height.
    pub claims: Vec<ChainClaim>,
    /// Those that cannot.
    pub unverified: Vec<Unverified>,
}

/// A signature that is in a block, but of which the block does not say what it signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unverified {
    /// What is signed.
    pub kind: ClaimKind,
    /// Why it cannot be verified.
    pub reason: &'static str,
}

/// A file of blocks cannot be read, or not any further. The caller knows the file's name and puts it in front.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChiaError {
    /// The operating system returned an error.
    #[error("cannot read the file: {0}")]
    Read(io::Error),
    /// A value is too long.
    #[error("{place}: found a JSON value of more than {} MiB, the limit; give each block as a value of its own", VALUE_LIMIT >> 20)]
    TooLong {
        /// The block that begins there.
        place: Place,
    },
    /// The file is not JSON, or ends in the middle.
    #[error("{place}: expected a block in JSON, but {reason}")]
    NotJson {
        /// The block that begins there.
        place: Place,
        /// What was found.
        reason: String,
    },
}

impl<R: BufRead> Iterator for ChiaBlocks<R> {
    type Item = Result<Result<ChiaBlock, Malformed>, ChiaError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let place = Place::Element(self.next);
        loop {
            if let Some(block) = self.pending.next() {
                self.next += 1;
                let block = block.map(|block| ChiaBlock { place, ..block });
                return Some(Ok(block.map_err(|reason| Malformed::new(place, reason))));
            }
            match self.values.next(place) {
                Ok(Some(text)) => self.pending = Pending::of(text),
                Ok(None) => {
                    self.ended = true;
                    return None;
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// JSON values one after the other, each as its text.
#[derive(Debug)]
struct Values<R> {
    reader: WithoutMark<R>,
    limit: usize,
}

impl<R: BufRead> Values<R> {
    /// The text of the next value; none at the end.
    fn next(&mut self, place: Place) -> Result<Option<String>, ChiaError> {
        self.skip_white_space().map_err(ChiaError::Read)?;
        let mut bounded = Bounded { reader: &mut self.reader, left: self.limit };
        let value = serde_json::Deserializer::from_reader(&mut bounded).into_iter::<Box<RawValue>>().next();
        match value {
            None => Ok(None),
            Some(Ok(value)) => Ok(Some(Box::<str>::from(value).into())),
            Some(Err(_)) if bounded.left == 0 => Err(ChiaError::TooLong { place }),
            Some(Err(error)) if error.is_io() => Err(ChiaError::Read(error.into())),
            Some(Err(error)) if error.is_eof() => Err(ChiaError::NotJson {
                place,
                reason: "the file ends in the middle of it; fetch it again".to_owned(),
            }),
            Some(Err(error)) => {
                Err(ChiaError::NotJson { place, reason: format!("the value is not JSON: {error} of it") })
            }
        }
    }

    /// Skips the white space before a value, as JSON defines it. It may be longer than a value: if it took of the value's bound, the
    /// value behind it would look like the end of the file.
    fn skip_white_space(&mut self) -> io::Result<()> {
        loop {
            let seen = self.reader.fill_buf()?;
            let white = seen.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
            if white == 0 {
                return Ok(());
            }
            self.reader.consume(white);
        }
    }
}

/// Gives so many bytes, one by one, and then ends. The parser asks for single bytes, and takes none after a value, so that the next
/// one can begin where this one ends.
struct Bounded<'a, R> {
    reader: &'a mut R,
    left: usize,
}

impl<R: BufRead> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        let longest = buffer.len().min(self.left);
        let read = self.reader.read(&mut buffer[..longest])?;
        self.left -= read;
        Ok(read)
    }
}

/// Blocks of a JSON value that were not given yet.
#[derive(Debug, Default)]
enum Pending {
    #[default]
    None,
    One(Box<Result<ChiaBlock, String>>),
    /// The text of a list, and how much of it was read. It stays text, because a list of 64 MiB has up to 32 million elements.
    List(String, usize),
}

impl Pending {
    fn of(text: String) -> Self {
        if text.starts_with('[') {
            return Self::List(text, 1);
        }
        let one = match json::object::<full_block::Envelope<'_>>(&text) {
            Ok(envelope) => match (envelope.field_of_block(), envelope.block, envelope.blocks) {
                (None, Some(block), None) => block_of(block.get()),
                (None, None, Some(list)) if list.get().starts_with('[') => return Self::List(list.get().to_owned(), 1),
                (None, None, Some(_)) => Err("\"blocks\": expected a list of blocks".to_owned()),
                (_, None, None) => block_of(&text),
                (_, Some(_), Some(_)) => Err(both_given("block", "blocks")),
                (Some(field), Some(_), None) => Err(both_given(field, "block")),
                (Some(field), None, Some(_)) => Err(both_given(field, "blocks")),
            },
            Err(error) => Err(error.to_string()),
        };
        Self::One(Box::new(one))
    }
}

impl Iterator for Pending {
    type Item = Result<ChiaBlock, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Self::List(text, read) = self {
            let rest = text[*read..].trim_start_matches([' ', '\t', '\n', '\r', ',']);
            if rest != "]" {
                let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
                let block = values.next().expect("the list does not end here").expect("it was read as JSON");
                *read = text.len() - rest.len() + values.byte_offset();
                return Some(block_of(block.get()));
            }
        }
        match std::mem::take(self) {
            Self::One(block) => Some(*block),
            Self::None | Self::List(..) => None,
        }
    }
}

/// One of two fields would hide what the other one holds.
fn both_given(one: &str, other: &str) -> String {
    format!("\"{one}\" and \"{other}\" are both given; keep one of them")
}

/// The claims of a block.
fn block_of(text: &str) -> Result<ChiaBlock, String> {
    let block: FullBlock = json::object(text).map_err(|error| error.to_string())?;
    let proof = &block.reward_chain_block.proof_of_space;
    if let Some(version) = proof.version.filter(|version| *version != 0) {
        return Err(format!(
            "\"reward_chain_block.proof_of_space.version\": found {version}, expected 0; proofs of space of other versions are not \
             read yet"
        ));
    }
    let height = u64::from(block.reward_chain_block.height);
    let mut found = Found { height, claims: Vec::new(), unverified: Vec::new() };
    let (chains, foliage) = (&block.reward_chain_block, &block.foliage);
    let plot = &proof.plot_public_key.0;

    let rewards = match (&chains.reward_chain_sp_vdf, block.finished_sub_slots.last()) {
        (Some(vdf), _) => Some(hash(&vdf.output)),
        // The first signage point of a sub-slot is the end of the slot before.
        (None, Some(ended)) => Some(hash(&ended.reward_chain)),
        (None, None) => None,
    };
    match rewards {
        Some(signed) => found.add(ClaimKind::RewardChainSp, plot, &signed, &chains.reward_chain_sp_signature.0, None),
        None => found.unverified.push(Unverified { kind: ClaimKind::RewardChainSp, reason: SLOT_IS_ELSEWHERE }),
    }
    let challenge = chains.challenge_chain_sp_vdf.as_ref();
    let challenge = challenge.map_or(chains.pos_ss_cc_challenge_hash.0, |vdf| hash(&vdf.output));
    found.add(ClaimKind::ChallengeChainSp, plot, &challenge, &chains.challenge_chain_sp_signature.0, None);

    let data = &foliage.foliage_block_data;
    let unfinished = compared("unfinished_reward_block_hash", &data.unfinished_reward_block_hash.0, &hash(chains));
    found.add(ClaimKind::FoliageBlockData, plot, &hash(data), &foliage.foliage_block_data_signature.0, unfinished);

    let (signature, stated) = (&foliage.foliage_transaction_block_signature, &foliage.foliage_transaction_block_hash);
    match (&block.foliage_transaction_block, stated, signature, &block.transactions_info) {
        (None, None, None, None) => {}
        (Some(transactions), Some(stated), Some(signature), Some(info)) => {
            let computed = hash(transactions);
            let stated_info = &transactions.transactions_info_hash.0;
            let differs = compared("foliage_transaction_block_hash", &stated.0, &computed)
                .or_else(|| compared("transactions_info_hash", stated_info, &hash(info)));
            found.add(ClaimKind::FoliageTransactionBlock, plot, &computed, &signature.0, differs);
            found.unverified.push(Unverified { kind: ClaimKind::Transactions, reason: NEEDS_PUZZLES });
        }
        _ => {
            return Err("\"foliage_transaction_block\", its hash and its signature in \"foliage\", and \"transactions_info\": found \
                        some of them, expected all four, or none in a block without transactions"
                .to_owned());
        }
    }
    match (&proof.pool_public_key, &data.pool_signature) {
        (Some(pool), Some(signature)) => {
            let target = Encoded::of(&data.pool_target);
            found.add(ClaimKind::Pool, &pool.0, &target.0, &signature.0, None);
        }
        (Some(_), None) => {
            return Err(
                "\"foliage.foliage_block_data.pool_signature\" is missing; the plot's pool has a key, and must sign"
                    .to_owned(),
            );
        }
        // The plot pays to a contract, whose reward nobody signs for.
        (None, None) => {}
        (None, Some(_)) => {
            found.unverified.push(Unverified { kind: ClaimKind::Pool, reason: POOL_WITHOUT_KEY });
        }
    }
    let Found { height, claims, unverified } = found;
    Ok(ChiaBlock { height, place: Place::Height(height), claims, unverified })
}

const SLOT_IS_ELSEWHERE: &str = "it signs the end of a sub-slot that an earlier block holds";
const POOL_WITHOUT_KEY: &str = "the plot pays to a contract and states no key of a pool";
const NEEDS_PUZZLES: &str = "the puzzles of the spent coins say which keys signed what, and they are not run";

/// What was found in a block so far.
struct Found {
    height: u64,
    claims: Vec<ChainClaim>,
    unverified: Vec<Unverified>,
}

impl Found {
    fn add(&mut self, kind: ClaimKind, key: &[u8], message: &[u8], signature: &[u8], failed: Option<Check>) {
        let claim = ClaimBytes {
            suite: AnySuite::MinPk(MinPk::Chia),
            public_keys: if failed.is_none() { vec![key.to_vec()].into() } else { Vec::new().into() },
            messages: Messages::Shared(message.into()),
            signature: signature.to_vec(),
            source: None,
        };
        self.claims.push(ChainClaim { claim, slot: self.height, kind, index: 0.into(), failed });
    }
}

/// The check that a field states the hash of other fields; none if it does.
fn compared(name: &'static str, stated: &[u8; 32], computed: &[u8; 32]) -> Option<Check> {
    let (stated_hex, computed_hex) = (const_hex::encode_prefixed(stated), const_hex::encode_prefixed(computed));
    let detail = format!("found {stated_hex}, but the fields of the block hash to {computed_hex}");
    (stated != computed).then(|| Check::decided(name, CheckResult::Failed, detail))
}

#[cfg(test)]
mod tests;
