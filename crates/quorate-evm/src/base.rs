//! Quorums whose key is known, and the one from which a new quorum is cheapest.

use alloy_primitives::Address;
use serde::{Deserialize, Serialize};

use crate::{
    back_end::BackEnd,
    bitmap::Bitmap,
    gas::{Measured, Start, Steps},
    keccak::keccak256,
    state::Head,
};

/// A quorum that a slot commits to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Base {
    /// The slot that holds the commitment: 0 for the newest of a settlement, which is in its state word, others in the
    /// ring.
    pub slot: u16,
    /// The epoch in which it was weighed; 0: in none, since its members were counted.
    pub epoch: u32,
    /// The sum of its members' weights, below 2^96; 0 if it was not weighed.
    #[serde(with = "amount")]
    pub weight: u128,
    /// The sum of its members' keys, as the contract keeps keys.
    #[serde(with = "crate::bitmap::hexadecimal")]
    pub key: Vec<u8>,
    /// Its members.
    pub signers: Bitmap,
}

impl Base {
    /// What the slot holds: keccak256(epoch ‖ weight ‖ key ‖ bitmap), in 4, 12, [`BackEnd::key_bytes`] and as many bytes
    /// as there are. A weight of 2^96 or more has no commitment; this takes its lower bytes.
    pub fn commitment(&self) -> [u8; 32] {
        keccak256(&[&self.epoch.to_be_bytes(), &self.weight.to_be_bytes()[4..], &self.key, self.signers.as_bytes()])
    }

    /// Whether it was weighed in an epoch.
    pub fn weighed_in(&self, epoch: u32) -> bool {
        self.epoch != 0 && self.epoch == epoch
    }
}

/// A sum of weights in JSON: a number, or its digits in a string. What is beyond 64 bits is written as a string, since
/// many readers of JSON have no such numbers.
pub(crate) mod amount {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a whole number, or its digits in a string")]
    pub(super) enum Amount {
        Number(u64),
        Digits(String),
    }

    impl Amount {
        pub(super) fn value<E: Error>(self) -> Result<u128, E> {
            match self {
                Self::Number(number) => Ok(number.into()),
                Self::Digits(digits) => {
                    digits.parse().map_err(|_| E::custom(format!("{digits:?} is no whole number of 128 bits")))
                }
            }
        }
    }

    pub(crate) fn serialize<S: Serializer>(amount: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(*amount) {
            Ok(number) => serializer.serialize_u64(number),
            Err(_) => serializer.collect_str(amount),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        Amount::deserialize(deserializer)?.value()
    }
}

/// Where the keys and the weights of an epoch are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Pages of keys, ascending and without gaps from index 0 on. Keys behind them are in storage.
    pub key_pages: Vec<KeyPage>,
    /// Nonces of the epoch's pages of weights, [`WEIGHTS_A_PAGE`] indices each.
    pub weight_pages: Vec<u32>,
}

/// A page of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeyPage {
    /// The nonce that names it.
    pub nonce: u32,
    /// The index of its first key.
    pub first: usize,
    /// How many keys it holds.
    pub keys: usize,
}

/// The slot of the newest base, which a settlement keeps in its state word.
pub const NEWEST: u16 = 0;

/// Bytes of the payload of a full page: EIP-170's limit less a header of 10.
pub const PAGE_BYTES: usize = 24_576 - 10;

/// Indices of a page of weights, 8 bytes each.
pub const WEIGHTS_A_PAGE: usize = PAGE_BYTES / 8;

impl Table {
    /// A table of `n` keys, the first `paged` of them in full pages, with the nonces 1, 2, …; weights follow.
    pub fn new(back_end: BackEnd, n: usize, paged: usize) -> Self {
        let most = PAGE_BYTES / back_end.key_bytes();
        let firsts = (0..paged.min(n)).step_by(most);
        let key_pages: Vec<_> = firsts
            .zip(1..)
            .map(|(first, nonce)| KeyPage { nonce, first, keys: most.min(paged.min(n) - first) })
            .collect();
        let next = key_pages.len() as u32 + 1;
        let weight_pages = (next..).take(n.div_ceil(WEIGHTS_A_PAGE)).collect();
        Self { key_pages, weight_pages }
    }

    /// Nonces of the pages that hold these members' keys, ascending, and how many members are in none.
    pub fn pages_of_keys(&self, members: &Bitmap) -> (Vec<u32>, usize) {
        let (mut nonces, mut in_slots) = (Vec::new(), 0);
        for index in members.iter() {
            match self.key_pages.iter().find(|page| (page.first..page.first + page.keys).contains(&index)) {
                Some(page) if nonces.last() == Some(&page.nonce) => {}
                Some(page) => nonces.push(page.nonce),
                None => in_slots += 1,
            }
        }
        (nonces, in_slots)
    }

    /// How many copies out of pages these members' keys take, and how many keys are copied: each by itself, but on back end
    /// b, where the members in a page with indices of one word of the bitmap are dense, the stretch from the first to the
    /// last (`Bn254G1Keys._accumulatePaged`).
    pub fn copies(&self, back_end: BackEnd, members: &Bitmap) -> (u64, u64) {
        let (mut copies, mut copied) = (0, 0);
        for page in &self.key_pages {
            let here: Vec<_> = members.iter().filter(|i| (page.first..page.first + page.keys).contains(i)).collect();
            for word in here.chunk_by(|a, b| a / 256 == b / 256) {
                let stretch = word[word.len() - 1] - word[0] + 1;
                let dense = back_end == BackEnd::Bn254G1 && stretch > 1 && stretch < 10 * word.len();
                let (times, keys) = if dense { (1, stretch) } else { (word.len(), word.len()) };
                copies += times as u64;
                copied += keys as u64;
            }
        }
        (copies, copied)
    }

    /// Nonces of the pages that hold these members' weights, ascending. A member behind the last page has no weight,
    /// and the contract refuses it.
    pub fn pages_of_weights(&self, members: &Bitmap) -> Vec<u32> {
        let mut pages: Vec<_> = members.iter().map(|index| index / WEIGHTS_A_PAGE).collect();
        pages.dedup();
        pages.into_iter().filter_map(|page| self.weight_pages.get(page).copied()).collect()
    }
}

/// The address of the page that a contract made with a nonce from 1 on, by CREATE's rule: the last 20 bytes of
/// keccak256(rlp([contract, nonce])).
pub fn page_address(contract: Address, nonce: u32) -> Address {
    let digits = nonce.to_be_bytes();
    let digits = &digits[(nonce.leading_zeros() / 8) as usize..];
    let number = match digits {
        [small @ 0..=0x7f] => vec![*small],
        _ => [&[0x80 + digits.len() as u8], digits].concat(),
    };
    // A list of so many bytes, of which the first is a string of 20.
    let hash = keccak256(&[&[0xc0 + 21 + number.len() as u8, 0x80 + 20], contract.as_slice(), &number]);
    Address::from_slice(&hash[12..])
}

/// How the contract is shown that a quorum weighs enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the contract knows no other")]
pub enum Weighing {
    /// Its members are counted, and no weight is read.
    Counted,
    /// By the weight of a base that was weighed in this epoch, and of the members that change.
    FromBase,
    /// By the weights of all its members.
    Anew,
}

/// The way from a base to a quorum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The base's place among those that were offered; `None` for the empty base.
    pub base: Option<usize>,
    /// Members that are added or removed.
    pub changed: Bitmap,
    /// How its weight is shown.
    pub weighing: Weighing,
    /// Pages of keys to name, ascending.
    pub key_pages: Vec<u32>,
    /// Pages of weights to name, ascending.
    pub weight_pages: Vec<u32>,
    /// The same in numbers.
    pub steps: Steps,
    /// Gas that depends on the base, its calldata included.
    pub gas: u64,
}

/// What a way costs: the back end, the prices, where keys and weights are, the head of the settlement.
#[derive(Clone, Copy, Debug)]
pub struct Costs<'a> {
    /// The back end.
    pub back_end: BackEnd,
    /// Prices of the contract's code.
    pub measured: &'a Measured,
    /// Where keys and weights are.
    pub table: &'a Table,
    /// Whether a quorum is enough by its number; if not, a base that was not weighed in this epoch is weighed anew over
    /// all members.
    pub head: Head,
}

impl Costs<'_> {
    /// The way from one base, the empty one for `None`. The pages are taken to be in the transaction's access list, and
    /// the sum of keys to be shown in the cheaper way.
    pub fn way(&self, base: Option<(usize, &Base)>, quorum: &Bitmap) -> Way {
        let changed = base.map_or_else(|| quorum.clone(), |(_, base)| quorum.difference(&base.signers));
        let from_base = base.is_some_and(|(_, base)| base.weighed_in(self.head.epoch));
        let weighing = match self.head.counts(quorum) {
            true => Weighing::Counted,
            false if from_base => Weighing::FromBase,
            false => Weighing::Anew,
        };
        let (weighed, weight_pages) = match weighing {
            Weighing::Counted => (0, Vec::new()),
            Weighing::FromBase => (changed.len(), self.table.pages_of_weights(&changed)),
            Weighing::Anew => (quorum.len(), self.table.pages_of_weights(quorum)),
        };
        let (key_pages, in_slots) = self.table.pages_of_keys(&changed);
        let (copies, copied) = self.table.copies(self.back_end, &changed);
        let bitmap = |base: &Base| base.signers.as_bytes().len() as u64;
        let mut steps = Steps {
            start: match base {
                None => Start::Empty,
                Some((_, base)) if base.slot == NEWEST => Start::Newest { bitmap: bitmap(base) },
                Some((_, base)) => Start::Slot { bitmap: bitmap(base) },
            },
            bitmap: if changed.is_empty() { 0 } else { quorum.as_bytes().len() as u64 },
            paged: (changed.len() - in_slots) as u64,
            copies,
            copied,
            in_slots: in_slots as u64,
            key_pages: key_pages.len() as u64,
            weighed: weighed as u64,
            weight_pages: weight_pages.len() as u64,
            listed: (key_pages.len() + weight_pages.len()) as u64,
            slopes: None,
        };
        let mut gas = self.measured.difference(self.back_end, &steps);
        if self.back_end == BackEnd::Bn254G2 && !changed.is_empty() {
            let slopes = Steps { slopes: Some(changed.len() as u64 - u64::from(base.is_none())), ..steps };
            let by_slopes = self.measured.difference(self.back_end, &slopes);
            if by_slopes <= gas {
                (steps, gas) = (slopes, by_slopes);
            }
        }
        Way { base: base.map(|(place, _)| place), changed, weighing, key_pages, weight_pages, steps, gas }
    }

    /// The ways from every base and from the empty one, the cheapest first; of equals the first base first, the empty one
    /// last.
    ///
    /// Every base is priced in full: the time grows with bases times members.
    pub fn ways(&self, bases: &[Base], quorum: &Bitmap) -> Vec<Way> {
        let from = bases.iter().enumerate().map(Some).chain([None]);
        let mut ways: Vec<_> = from.map(|base| self.way(base, quorum)).collect();
        ways.sort_by_key(|way| way.gas);
        ways
    }
}
