//! Quorums whose key is known, and the one from which a new quorum is cheapest.

use serde::{Deserialize, Serialize};

use crate::{
    back_end::BackEnd,
    bitmap::Bitmap,
    gas::{Measured, Steps},
    keccak::keccak256,
};

/// A quorum that a slot of the ring commits to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Base {
    /// The slot that holds the commitment.
    pub slot: u32,
    /// The epoch in which its weight was summed.
    pub epoch: u64,
    /// The sum of its members' weights.
    #[serde(with = "amount")]
    pub weight: u128,
    /// The sum of its members' keys, as the contract keeps keys.
    #[serde(with = "crate::bitmap::hexadecimal")]
    pub key: Vec<u8>,
    /// Its members.
    pub signers: Bitmap,
}

impl Base {
    /// What the slot holds: keccak256(epoch ‖ weight ‖ key ‖ bitmap), in 8, 16, [`BackEnd::key_bytes`] and as many bytes
    /// as there are.
    pub fn commitment(&self) -> [u8; 32] {
        keccak256(&[&self.epoch.to_be_bytes(), &self.weight.to_be_bytes(), &self.key, self.signers.as_bytes()])
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

/// [`amount`], where it may be absent.
pub(crate) mod optional_amount {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(amount: &Option<u128>, serializer: S) -> Result<S::Ok, S::Error> {
        match amount {
            Some(amount) => super::amount::serialize(amount, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u128>, D::Error> {
        Option::<super::amount::Amount>::deserialize(deserializer)?.map(super::amount::Amount::value).transpose()
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

    /// Nonces of the pages that hold these members' weights, ascending. A member behind the last page has no weight,
    /// and the contract refuses it.
    pub fn pages_of_weights(&self, members: &Bitmap) -> Vec<u32> {
        let mut pages: Vec<_> = members.iter().map(|index| index / WEIGHTS_A_PAGE).collect();
        pages.dedup();
        pages.into_iter().filter_map(|page| self.weight_pages.get(page).copied()).collect()
    }
}

/// The way from a base to a quorum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The base's place among those that were offered; `None` for the empty base.
    pub base: Option<usize>,
    /// Members that are added or removed.
    pub changed: Bitmap,
    /// Pages of keys to name, ascending.
    pub key_pages: Vec<u32>,
    /// Pages of weights to name, ascending.
    pub weight_pages: Vec<u32>,
    /// The same in numbers.
    pub steps: Steps,
    /// Gas that depends on the base, its calldata included.
    pub gas: u64,
}

/// What a way costs: the back end, the prices, where keys and weights are, the epoch of the settlement.
#[derive(Clone, Copy, Debug)]
pub struct Costs<'a> {
    /// The back end.
    pub back_end: BackEnd,
    /// Prices of the contract's code.
    pub measured: &'a Measured,
    /// Where keys and weights are.
    pub table: &'a Table,
    /// The epoch in which the quorum settles: a base of another is weighed anew over all members.
    pub epoch: u64,
}

impl Costs<'_> {
    /// The way from one base, the empty one for `None`.
    pub fn way(&self, base: Option<(usize, &Base)>, quorum: &Bitmap) -> Way {
        let changed = base.map_or_else(|| quorum.clone(), |(_, base)| quorum.difference(&base.signers));
        let same_epoch = base.is_some_and(|(_, base)| base.epoch == self.epoch);
        let weighed = if same_epoch { changed.clone() } else { quorum.clone() };
        let (key_pages, in_slots) = self.table.pages_of_keys(&changed);
        let weight_pages = self.table.pages_of_weights(&weighed);
        let steps = Steps {
            base_bitmap: base.map(|(_, base)| base.signers.as_bytes().len() as u64),
            paged: (changed.len() - in_slots) as u64,
            in_slots: in_slots as u64,
            key_pages: key_pages.len() as u64,
            weighed: weighed.len() as u64,
            weight_pages: weight_pages.len() as u64,
        };
        let gas = self.measured.difference(self.back_end, &steps);
        Way { base: base.map(|(place, _)| place), changed, key_pages, weight_pages, steps, gas }
    }

    /// The cheapest way from any of the bases or the empty one; of equals the first, the empty one last.
    ///
    /// Every base is priced in full: the time grows with bases times members.
    pub fn nearest(&self, bases: &[Base], quorum: &Bitmap) -> Way {
        let ways = bases.iter().enumerate().map(|base| self.way(Some(base), quorum));
        ways.chain([self.way(None, quorum)]).min_by_key(|way| way.gas).expect("the empty base is always there")
    }
}
