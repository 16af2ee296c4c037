//! Bases, which are quorums whose key the contract computed before, and the base from which a new quorum costs the least.

use alloy_primitives::{B256, Bytes, keccak256};
use serde::{Deserialize, Serialize};

use crate::{
    gas::{Calldata, Measured, Start, Steps},
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

/// The pages of keys and of an epoch's weights that a contract has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Pages of keys, in any order. They may overlap, and leave keys out.
    pub key_pages: Vec<KeyPage>,
    /// Pages of the epoch's weights, in any order. Parts may have none.
    pub weight_pages: Vec<WeightPage>,
    /// The members' weights in the epoch, by index.
    pub weights: Vec<u64>,
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

impl KeyPage {
    /// Whether the page holds the key with this index.
    pub fn holds(&self, index: usize) -> bool {
        index.checked_sub(self.first).is_some_and(|place| place < self.keys)
    }
}

/// A page with the weights of one part of the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WeightPage {
    /// The nonce with which the contract created the page.
    pub nonce: u32,
    /// Which part: that of the members from index part · [`PART`] on.
    pub part: usize,
}

/// The slot of the newest base, whose commitment is part of a settlement's state.
pub const NEWEST: u16 = 0;

/// The number of members in a part of the weights. A contract keeps a hash of each part, and reads a part from a page or from
/// calldata.
pub const PART: usize = 2_048;

/// Where a contract reads the keys of the members that change: for each member in ascending order, from the page that is
/// open, else from the next named page, else from calldata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySources {
    /// The pages to name, ascending by their indices.
    pub pages: Vec<KeyPage>,
    /// The members whose keys are passed in calldata.
    pub passed: MemberSet,
}

/// Where a contract reads a part of the weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeightSource {
    /// A page with this nonce.
    Page(u32),
    /// Calldata: the part's weights, 8 bytes each.
    Passed(Bytes),
}

impl Table {
    /// A table whose keys are all in full pages, with a page for each part of the weights. The pages of keys have the nonces
    /// `first`, `first` + 1, …; the pages of weights follow.
    pub fn paged(key_group: KeyGroup, weights: Vec<u64>, first: u32) -> Self {
        let (n, most) = (weights.len(), key_group.page_keys());
        let firsts = (0..n).step_by(most);
        let key_pages: Vec<_> =
            firsts.zip(first..).map(|(first, nonce)| KeyPage { nonce, first, keys: most.min(n - first) }).collect();
        let next = first + key_pages.len() as u32;
        let weight_pages = (next..).zip(0..n.div_ceil(PART)).map(|(nonce, part)| WeightPage { nonce, part }).collect();
        Self { key_pages, weight_pages, weights }
    }

    /// The cheapest sources of these members' keys.
    ///
    /// Goes through the members from the last to the first. For each it knows what the members after it cost, and compares
    /// passing its key with opening each page that holds it. Time: members times pages.
    pub fn keys(&self, key_group: KeyGroup, measured: &Measured, members: &MemberSet) -> KeySources {
        let members: Vec<_> = members.iter().collect();
        let (opened, copied, passed) = measured.key_sources(key_group);
        // What the members from this one on cost, and the page to open for this one, if any.
        let mut best: Vec<(u64, Option<&KeyPage>)> = vec![(0, None); members.len() + 1];
        for (place, index) in members.iter().enumerate().rev() {
            best[place] = (passed + best[place + 1].0, None);
            for page in self.key_pages.iter().filter(|page| page.holds(*index)) {
                let here = members[place..].iter().take_while(|index| page.holds(**index)).count();
                let cost = opened + copied * here as u64 + best[place + here].0;
                if cost < best[place].0 {
                    best[place] = (cost, Some(page));
                }
            }
        }
        let (mut sources, mut place) = (KeySources::default(), 0);
        while let Some(index) = members.get(place) {
            match best[place].1 {
                Some(page) => {
                    sources.pages.push(*page);
                    place += members[place..].iter().take_while(|index| page.holds(**index)).count();
                }
                None => {
                    sources.passed.insert(*index);
                    place += 1;
                }
            }
        }
        sources
    }

    /// The cheapest source of each part that holds these members' weights, ascending. A member without a weight belongs to
    /// the part of its index, and weighs nothing.
    pub fn weights(&self, measured: &Measured, members: &MemberSet) -> Vec<WeightSource> {
        let mut parts: Vec<_> = members.iter().map(|index| index / PART).collect();
        parts.dedup();
        let source = |part: usize| {
            let end = self.weights.len().min((part + 1) * PART);
            let weights = self.weights.get(part * PART..end).unwrap_or_default();
            let passed: Vec<_> = weights.iter().flat_map(|weight| weight.to_be_bytes()).collect();
            let page = self.weight_pages.iter().find(|page| page.part == part);
            match page {
                Some(page) if measured.weights_from_page() <= measured.weights_passed(&passed) => {
                    WeightSource::Page(page.nonce)
                }
                _ => WeightSource::Passed(passed.into()),
            }
        };
        parts.into_iter().map(source).collect()
    }
}

impl KeySources {
    /// The number of keys that the contract copies out of pages. `members` are those for whom the sources were chosen. Pages
    /// with a program add their keys themselves, and nothing is copied.
    pub fn copies(&self, key_group: KeyGroup, members: &MemberSet) -> u64 {
        if key_group.pages_add() {
            return 0;
        }
        members.iter().filter(|index| !self.passed.contains(*index)).count() as u64
    }

    /// How often the contract calls pages with a program, which add the keys of one word of the bitmap at a time.
    pub fn calls(&self, key_group: KeyGroup, members: &MemberSet) -> u64 {
        if !key_group.pages_add() {
            return 0;
        }
        let (mut calls, mut page, mut last) = (0, 0, None);
        for index in members.iter().filter(|index| !self.passed.contains(*index)) {
            // Pages and members rise.
            page += self.pages[page..].iter().take_while(|page| !page.holds(index)).count();
            let call = (page, index / 256);
            calls += u64::from(last.replace(call) != Some(call));
        }
        calls
    }
}

/// When the contract reads weights. The aggregator chooses it with the parts of the weights that the call names, and the
/// signature does not cover it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weigh {
    /// Only if the number of signers does not prove the required weight. This is the cheapest for the quorum itself.
    #[default]
    IfNeeded,
    /// Always, so that a quorum that is stored becomes a base with a weight. A later quorum of the epoch that has to be
    /// weighed then starts from this weight, and reads only the weights of the members in which the two differ.
    Always,
}

/// How the contract finds that a quorum weighs enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Where the contract reads the keys of the members that change.
    pub keys: KeySources,
    /// Where it reads weights, ascending by part; empty if it reads none.
    pub weights: Vec<WeightSource>,
    /// The work, as numbers.
    pub steps: Steps,
    /// The gas that depends on the base, with its calldata.
    pub gas: u64,
}

impl Way {
    /// The nonces of all pages that the call names: those of keys, then those of weights.
    pub fn pages(&self) -> impl Iterator<Item = u32> {
        let weights = self.weights.iter().filter_map(|source| match source {
            WeightSource::Page(nonce) => Some(*nonce),
            WeightSource::Passed(_) => None,
        });
        self.keys.pages.iter().map(|page| page.nonce).chain(weights)
    }
}

/// What the price of a way depends on, besides the base and the quorum.
#[derive(Clone, Copy, Debug)]
pub struct Pricing<'a> {
    /// The curve and the group of the keys.
    pub key_group: KeyGroup,
    /// The prices of the contract's code.
    pub measured: &'a Measured,
    /// The pages of keys, and the weights with their pages.
    pub table: &'a Table,
    /// The head, which says whether the number of signers suffices. If it does not, and the base was not weighed in this
    /// epoch, the contract reads the weights of all members.
    pub head: Head,
    /// Whether weights are read if the number of signers suffices.
    pub weigh: Weigh,
}

impl Pricing<'_> {
    /// The way from one base, or from the empty quorum for `None`. It assumes that the pages are in the transaction's access
    /// list, and that the call passes the cheaper of 1/Z and the slopes.
    pub fn way(&self, base: Option<(usize, &Base)>, quorum: &MemberSet) -> Way {
        let changed = base.map_or_else(|| quorum.clone(), |(_, base)| quorum.symmetric_difference(&base.signers));
        let from_base = base.is_some_and(|(_, base)| base.weighed_in(self.head.epoch));
        let counts = self.head.counts(quorum);
        let weighing = match self.weigh {
            Weigh::IfNeeded if counts => Weighing::Counted,
            _ if from_base => Weighing::FromBase,
            _ => Weighing::Anew,
        };
        let (weighed, weights) = match weighing {
            Weighing::Counted => (0, Vec::new()),
            Weighing::FromBase => (changed.len(), self.table.weights(self.measured, &changed)),
            Weighing::Anew => (quorum.len(), self.table.weights(self.measured, quorum)),
        };
        let keys = self.table.keys(self.key_group, self.measured, &changed);
        let (copies, calls) = (keys.copies(self.key_group, &changed), keys.calls(self.key_group, &changed));
        let passed = |source: &WeightSource| match source {
            WeightSource::Page(_) => None,
            WeightSource::Passed(weights) => Some(Calldata::of(weights)),
        };
        let passed: Vec<_> = weights.iter().filter_map(passed).collect();
        let weight_pages = (weights.len() - passed.len()) as u64;
        // The contract counts unless the call names a part of the weights. If none is read, since the quorum is a base with
        // a weight, the call names an empty part, which the contract does not look at.
        let named_in_vain = weighing != Weighing::Counted && counts && weights.is_empty();
        let bitmap = |base: &Base| base.signers.as_bytes().len() as u64;
        let mut steps = Steps {
            start: match base {
                None => Start::Empty,
                Some((_, base)) if base.slot == NEWEST => Start::Newest { bitmap: bitmap(base) },
                Some((_, base)) => Start::Slot { bitmap: bitmap(base) },
            },
            bitmap: if changed.is_empty() { 0 } else { quorum.as_bytes().len() as u64 },
            paged: (changed.len() - keys.passed.len()) as u64,
            copies,
            calls,
            passed: keys.passed.len() as u64,
            key_pages: keys.pages.len() as u64,
            weighed: weighed as u64,
            weight_pages,
            weight_parts_passed: passed.len() as u64,
            weights_passed: passed.into_iter().sum(),
            listed: keys.pages.len() as u64 + weight_pages,
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
        let weights = if named_in_vain { vec![WeightSource::Passed(Bytes::new())] } else { weights };
        Way { base: base.map(|(place, _)| place), changed, weighing, keys, weights, steps, gas }
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
