//! Bases, which are quorums whose key the contract computed before, and the base from which a new quorum costs the least.

use alloy_primitives::{B256, Bytes, keccak256};
use serde::{Deserialize, Serialize};

use crate::{
    gas::{Measured, Start, Steps},
    key_group::KeyGroup,
    member_set::MemberSet,
    state::Head,
};

/// A quorum whose key the contract computed and to which one of its slots commits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Base {
    /// The slot that holds the commitment. Slot 0 is the newest base, whose commitment is part of the state; the other
    /// slots are the ring.
    pub slot: u16,
    /// The epoch in which the base was weighed; 0 if it never was, because its members were counted.
    pub epoch: u32,
    /// The sum of its members' weights, below 2^96; 0 if the base was not weighed.
    #[serde(with = "amount")]
    pub weight: u128,
    /// The sum of its members' keys, as the contract keeps keys.
    pub key: Bytes,
    /// Its members.
    pub signers: MemberSet,
}

impl Base {
    /// The word in the slot: keccak256(epoch (4 bytes) ‖ weight (12) ‖ key ([`KeyGroup::key_bytes`]) ‖ bitmap). A weight of
    /// 2^96 or more has no commitment; [`Network::check`](crate::Network::check) refuses it.
    pub fn commitment(&self) -> B256 {
        let weight = &self.weight.to_be_bytes()[4..];
        keccak256([&self.epoch.to_be_bytes()[..], weight, &self.key, self.signers.as_bytes()].concat())
    }

    /// Whether the base was weighed in this epoch.
    pub fn weighed_in(&self, epoch: u32) -> bool {
        self.epoch != 0 && self.epoch == epoch
    }
}

/// A sum of weights in JSON: a number, or its decimal digits in a string. Numbers of more than 64 bits are written as
/// strings, since many readers of JSON cannot read them as numbers.
pub(crate) mod amount {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a whole number, or its decimal digits in a string")]
    pub(super) enum Amount {
        Number(u64),
        Digits(String),
    }

    impl Amount {
        pub(super) fn value<E: Error>(self) -> Result<u128, E> {
            match self {
                Self::Number(number) => Ok(number.into()),
                Self::Digits(digits) => {
                    digits.parse().map_err(|_| E::custom(format!("{digits:?} is not a whole number below 2^128")))
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

/// The pages that hold the keys and the weights of an epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Pages of keys, ascending and without gaps from index 0 on. The keys after them are in storage.
    pub key_pages: Vec<KeyPage>,
    /// The nonces of the epoch's pages of weights, [`WEIGHTS_A_PAGE`] indices each.
    pub weight_pages: Vec<u32>,
}

/// A page of keys: a contract whose code is the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeyPage {
    /// The nonce with which the contract created the page. `contract.create(nonce)` is the page's address.
    pub nonce: u32,
    /// The index of its first key.
    pub first: usize,
    /// The number of its keys.
    pub keys: usize,
}

/// The slot of the newest base, whose commitment is part of a settlement's state.
pub const NEWEST: u16 = 0;

/// The number of bytes in a full page: EIP-170's limit without the header of 10.
pub const PAGE_BYTES: usize = 24_576 - 10;

/// The number of weights in a full page, 8 bytes each.
pub const WEIGHTS_A_PAGE: usize = PAGE_BYTES / 8;

impl Table {
    /// A table of `n` keys, the first `paged` of them in full pages. The pages of keys have the nonces 1, 2, …; the pages of
    /// weights follow.
    pub fn new(key_group: KeyGroup, n: usize, paged: usize) -> Self {
        let most = PAGE_BYTES / key_group.key_bytes();
        let firsts = (0..paged.min(n)).step_by(most);
        let key_pages: Vec<_> = firsts
            .zip(1..)
            .map(|(first, nonce)| KeyPage { nonce, first, keys: most.min(paged.min(n) - first) })
            .collect();
        let next = key_pages.len() as u32 + 1;
        let weight_pages = (next..).take(n.div_ceil(WEIGHTS_A_PAGE)).collect();
        Self { key_pages, weight_pages }
    }

    /// The nonces of the pages that hold these members' keys, ascending, and the number of members whose key is in storage.
    pub fn pages_of_keys(&self, members: &MemberSet) -> (Vec<u32>, usize) {
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

    /// The number of copies out of pages that these members' keys take, and the number of keys in these copies.
    ///
    /// Each key is copied by itself, with one exception. For keys in G1 of BN254, the contract looks at the members of a page
    /// whose indices lie in one word of the bitmap; if they are dense, it copies all keys from the first to the last of
    /// them at once (`Bn254G1Keys._accumulatePaged`).
    pub fn copies(&self, key_group: KeyGroup, members: &MemberSet) -> (u64, u64) {
        let (mut copies, mut copied) = (0, 0);
        for page in &self.key_pages {
            let here: Vec<_> = members.iter().filter(|i| (page.first..page.first + page.keys).contains(i)).collect();
            for word in here.chunk_by(|a, b| a / 256 == b / 256) {
                let stretch = word[word.len() - 1] - word[0] + 1;
                let dense = key_group == KeyGroup::Bn254G1 && stretch > 1 && stretch < 10 * word.len();
                let (times, keys) = if dense { (1, stretch) } else { (word.len(), word.len()) };
                copies += times as u64;
                copied += keys as u64;
            }
        }
        (copies, copied)
    }

    /// The nonces of the pages that hold these members' weights, ascending. A member after the last page has no weight, and
    /// the contract refuses it.
    pub fn pages_of_weights(&self, members: &MemberSet) -> Vec<u32> {
        let mut pages: Vec<_> = members.iter().map(|index| index / WEIGHTS_A_PAGE).collect();
        pages.dedup();
        pages.into_iter().filter_map(|page| self.weight_pages.get(page).copied()).collect()
    }
}

/// How the contract finds that a quorum weighs enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the contract knows no other")]
pub enum Weighing {
    /// It counts the members, and reads no weight.
    Counted,
    /// It takes the weight of a base that was weighed in this epoch, and reads the weights of the members that change.
    FromBase,
    /// It reads the weights of all members.
    Anew,
}

/// The way from a base to a quorum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The index of the base in the list of bases; `None` for the empty quorum.
    pub base: Option<usize>,
    /// The members that are added or removed.
    pub changed: MemberSet,
    /// How the contract finds the weight.
    pub weighing: Weighing,
    /// The nonces of the pages of keys to name, ascending.
    pub key_pages: Vec<u32>,
    /// The nonces of the pages of weights to name, ascending.
    pub weight_pages: Vec<u32>,
    /// The work, as numbers.
    pub steps: Steps,
    /// The gas that depends on the base, with its calldata.
    pub gas: u64,
}

/// What the price of a way depends on, besides the base and the quorum.
#[derive(Clone, Copy, Debug)]
pub struct Pricing<'a> {
    /// The curve and the group of the keys.
    pub key_group: KeyGroup,
    /// The prices of the contract's code.
    pub measured: &'a Measured,
    /// The pages of keys and of weights.
    pub table: &'a Table,
    /// The head, which says whether the number of signers suffices. If it does not, and the base was not weighed in this
    /// epoch, the contract reads the weights of all members.
    pub head: Head,
}

impl Pricing<'_> {
    /// The way from one base, or from the empty quorum for `None`. It assumes that the pages are in the transaction's access
    /// list, and that the call passes the cheaper of 1/Z and the slopes.
    pub fn way(&self, base: Option<(usize, &Base)>, quorum: &MemberSet) -> Way {
        let changed = base.map_or_else(|| quorum.clone(), |(_, base)| quorum.symmetric_difference(&base.signers));
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
        let (copies, copied) = self.table.copies(self.key_group, &changed);
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
        let mut gas = self.measured.difference(self.key_group, &steps);
        if self.key_group == KeyGroup::Bn254G2 && !changed.is_empty() {
            let slopes = Steps { slopes: Some(changed.len() as u64 - u64::from(base.is_none())), ..steps };
            let by_slopes = self.measured.difference(self.key_group, &slopes);
            if by_slopes <= gas {
                (steps, gas) = (slopes, by_slopes);
            }
        }
        Way { base: base.map(|(place, _)| place), changed, weighing, key_pages, weight_pages, steps, gas }
    }

    /// The ways from every base and from the empty quorum, the cheapest first. Ways of the same price keep the order of the
    /// bases; the empty quorum comes last.
    ///
    /// Every way is priced in full, so the time grows with the number of bases times the number of members.
    pub fn ways(&self, bases: &[Base], quorum: &MemberSet) -> Vec<Way> {
        let from = bases.iter().enumerate().map(Some).chain([None]);
        let mut ways: Vec<_> = from.map(|base| self.way(base, quorum)).collect();
        ways.sort_by_key(|way| way.gas);
        ways
    }
}
