//! A settlement's network rebuilt from its logs, and from the calldata of their transactions. No I/O.
//!
//! The contract stores hashes, so what they are the hashes of is known from elsewhere:
//!
//! | part of [`Network`] | from |
//! |---|---|
//! | keys, pages | the logs `KeyAdded`, `KeysCarried`, `KeysPaged`; a key in G2 beside one in G1 from the calldata of `register` |
//! | weights, their pages | the calldata of `begin`, and of `prepare` where the log `WeightsPrepared` is; `WeightsPaged` |
//! | terms | the logs `EpochBegun` and `EpochEntered` |
//! | head, newest base's commitment | the last of the logs `Settled`, `SettledAll` and `EpochEntered` |
//! | bases | the calldata of the settlements that stored them; `BasePinned` |
//!
//! Of an `OptimisticSettlement` it also keeps the posting in each slot, from the logs `Posted`, `Demanded`, `Proven`, `Dropped`,
//! `Displaced` and `Finished`, and with it the keys and the weights that [recompute](Follower::recompute) it.
//!
//! A call that another contract made is found where that contract was passed its calldata. What is found nowhere is left out,
//! with a [`Note`]. The network is right without it, except for weights: without these there is none.
//!
//! Calldata proves nothing: anyone can write into it what looks like a call. So a call is looked for only in a transaction in
//! which the contract left the log of such a call. A stranger may send that transaction, too, if he may call the contract that
//! calls the settlement, such as a timelock. Then several calls may fit to one log, and the follower keeps the first 256 of them. He
//! may also hide the true call: behind so many others, or in a contract that makes it without having it in its calldata. Then the
//! weights are not known until [`Follower::take_weights`] gets them from elsewhere.
//!
//! What the follower cannot know is whether the logs are all there are, and which of several calls is the one that was made.
//! So compare [`Follower::state`] with the contract's `state()`, and each base's commitment with the contract's `commitmentAt`;
//! [`Follower::forget`] leaves a base out. Pass each part of the [weights](Follower::packed_weights) to the contract's
//! `publish`, and if it refuses, the [others](Follower::other_weights).

pub(crate) mod call;
pub(crate) mod log;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use alloy_primitives::{Address, B256, Bytes, U256};
use serde::{Deserialize, Serialize};

pub use log::{BadLog, SettlementEvent};

use crate::{
    base::{Base, KeyPage, NEWEST, PART, WeightPage},
    bls12381::DigestHash,
    digest::Contract,
    key_group::KeyGroup,
    member_set::MemberSet,
    network::{DecodedKeys, Network, NetworkError, check_lengths, sum_of_keys},
    posting::{PostedResults, PostingSources, PostingStatus, Recomputed},
    quorum::{Quorum, Store},
    state::{self, Head, NEVER},
};
use call::{Call, calls, dual_key, take};

/// What a settlement fixed when it was deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployment {
    /// The chain's id (EIP-155).
    pub chain_id: u64,
    /// The contract's address.
    pub contract: Address,
    /// Slots 1 to this number are pinned: the contract's `pinnedSlots()`.
    pub pinned_slots: u16,
    /// How many changed members ski rental waits for: the contract's `changesAStore()`.
    pub changes_a_store: u32,
    /// How the contract hashes digests to BLS12-381: [`DigestHash::in_code`] of the contract's code. `None` on BN254.
    ///
    /// The key groups of BLS12-381 have the same keys, so the logs do not tell them apart.
    pub digest_hash: Option<DigestHash>,
}

/// A settlement as its logs tell it. As JSON it is what a program keeps to go on later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Follower {
    deployment: Deployment,
    /// None before the first key.
    key_group: Option<KeyGroup>,
    /// The head that the next call passes, as a word.
    head: U256,
    newest: B256,
    /// The running table and the next one.
    tables: BTreeMap<u16, Keys>,
    epoch: Weights,
    /// The weights that were prepared of the next epoch, by their calls.
    #[serde(default)]
    prepared: Vec<Candidates>,
    /// An epoch that was begun and not entered.
    begun: Option<Begun>,
    bases: Vec<Stored>,
    /// The posting in each slot.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    postings: BTreeMap<u64, SlotPosting>,
    /// The weights of past epochs that postings name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    past: BTreeMap<u32, Weights>,
}

/// The posting in a slot of an `OptimisticSettlement`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotPosting {
    /// Its name in the logs.
    pub id: B256,
    /// The posting. Copies share it: whoever posts chooses how long it is, more than a megabyte if a contract posts.
    pub posting: Arc<PostedResults>,
    /// What happened to it. A posting that was displaced is [`PostingStatus::Dropped`]; its slot holds another word then.
    pub status: PostingStatus,
    /// Whether the slot still holds its word.
    pub in_slot: bool,
}

impl SlotPosting {
    /// Whether nothing has decided yet about the posting, except perhaps the time.
    pub fn is_open(&self) -> bool {
        matches!(self.status, PostingStatus::Posted | PostingStatus::Demanded(_))
    }
}

/// The keys of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Keys {
    keys: Vec<Bytes>,
    pages: Vec<KeyPage>,
}

/// The weights of an epoch; none if they are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Weights {
    weights: Option<Vec<u64>>,
    pages: Vec<WeightPage>,
    /// Parts that other calls in the calldata would give. Empty if all calls are certain.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<usize, Vec<Vec<u64>>>,
    /// Whether the contract has these weights.
    #[serde(default)]
    confirmed: bool,
}

/// Weights that one log tells of: those of each call in the calldata that fits to it. They may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Candidates(Vec<Vec<u64>>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Begun {
    terms: U256,
    epoch: Weights,
}

/// A base whose key is computed once it is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stored {
    slot: u16,
    epoch: u32,
    #[serde(with = "crate::base::amount")]
    weight: u128,
    signers: MemberSet,
    key: Option<Bytes>,
}

/// The logs contradict each other, or this contract's rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FollowError {
    /// Logs are missing.
    #[error(
        "logs are missing: {what} {found} follows, expected {expected}; follow from the block of the deployment on, \
             with a node that has all logs from there"
    )]
    Gap {
        /// What is counted.
        what: &'static str,
        /// The number in the log.
        found: u64,
        /// The number that follows those before.
        expected: u64,
    },
    /// A result was settled, and no key is known: the logs before it are missing.
    #[error(
        "logs are missing: a result was settled before any key was admitted; follow from the block of the deployment on, \
             with a node that has all logs from there"
    )]
    NoKeys,
    /// A key has a length that no settlement with this hash of digests has, or another one than the keys before.
    #[error("a key has {0} bytes, which is not a key of this settlement; is this the address of one?")]
    KeyLength(usize),
    /// A key is carried that the running table does not have.
    #[error("key {index} was carried, but the table has {keys} keys; logs are missing, or this is not a settlement")]
    Carried {
        /// Its index.
        index: usize,
        /// The number of keys.
        keys: usize,
    },
    /// An epoch was entered that was not begun.
    #[error("epoch {0} was entered, but it was not begun; follow from the block of the deployment on")]
    NotBegun(u32),
    /// A posting names another head than the one before it.
    #[error(
        "the posting in slot {0} does not follow the head before it; logs are missing, or this is not a settlement"
    )]
    Posted(u64),
    /// A log names a posting that is in no slot.
    #[error("a log names the posting {0}, which is in no slot; follow from the block of the deployment on")]
    NoPosting(B256),
}

/// Why there is no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoNetwork {
    /// No key was admitted.
    #[error("the settlement has no keys yet")]
    NoKeys,
    /// An epoch was begun, and nothing settles until it is entered.
    #[error(
        "epoch {epoch} was begun, and nothing settles until someone sends `quorate evm call enter --head {head:#066x} --newest \
         {newest} --network FILE`, with any file of this network"
    )]
    Waiting {
        /// The epoch.
        epoch: u32,
        /// The head that `enter` takes.
        head: U256,
        /// The commitment that `enter` takes.
        newest: B256,
    },
    /// The calldata of `begin` or `prepare` was not found. [`Follower::take_weights`] takes the weights from elsewhere.
    #[error("the weights of epoch {0} are unknown: they are in no calldata of the transactions that began it")]
    NoWeights(u32),
    /// The network is not one that can be planned with.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

/// Something that the calldata does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The call that settled is not in the calldata, so a base that it stored is left out.
    SettledUnseen {
        /// The number of the first result.
        nonce: u64,
    },
    /// The weights of an epoch are not in the calldata.
    WeightsUnseen {
        /// The epoch.
        epoch: u32,
    },
    /// An epoch was entered that has more weights than its table has keys. The contract does not compare them.
    WeightsBehindKeys {
        /// The epoch.
        epoch: u32,
        /// The number of weights.
        weights: usize,
        /// The number of keys.
        keys: usize,
    },
    /// An epoch was entered of which all members together weigh less than a quorum needs. The contract does not compare them.
    NothingSettles {
        /// The epoch.
        epoch: u32,
        /// The weight of all members.
        total: u128,
        /// The weight that a quorum needs.
        required: u128,
    },
    /// The key in G2 beside a key in G1 is not in the calldata, or does not belong to it. Quorums without this member can be
    /// planned.
    TwinUnseen {
        /// The member.
        index: usize,
    },
    /// A slot holds a base that is not known.
    BaseUnknown {
        /// The slot.
        slot: u16,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SettledUnseen { nonce } => {
                write!(f, "result {nonce} was settled by a call that is not in its transaction's calldata; ")?;
                f.write_str("a base that the call stored is left out")
            }
            Self::WeightsUnseen { epoch } => {
                write!(f, "the weights of epoch {epoch} are not in the calldata of the transactions that set them")
            }
            Self::WeightsBehindKeys { epoch, weights, keys } => {
                write!(f, "epoch {epoch} has {weights} weights, and its table has {keys} keys; ")?;
                f.write_str("a key that is registered behind them has its weight at once")
            }
            Self::NothingSettles { epoch, total, required } => {
                write!(f, "all members of epoch {epoch} together weigh {total}, and a quorum needs {required}; ")?;
                f.write_str("nothing settles until another epoch is entered")
            }
            Self::TwinUnseen { index } => {
                write!(f, "the key in G2 of member {index} is not in the calldata of its registration; ")?;
                f.write_str("no quorum with this member can be planned")
            }
            Self::BaseUnknown { slot } => write!(f, "slot {slot} holds a base that is not known; it is left out"),
        }
    }
}

impl Follower {
    /// Follows a settlement from its deployment on.
    pub fn new(deployment: Deployment) -> Self {
        Self {
            deployment,
            key_group: None,
            head: U256::ZERO,
            newest: B256::ZERO,
            tables: BTreeMap::new(),
            epoch: Weights { weights: Some(Vec::new()), ..Weights::default() },
            prepared: Vec::new(),
            begun: None,
            bases: Vec::new(),
            postings: BTreeMap::new(),
            past: BTreeMap::new(),
        }
    }

    /// Checks the length of each key of a follower that was read from a file, which may be damaged.
    ///
    /// # Errors
    /// [`NetworkError::KeyLength`].
    pub fn check(&self) -> Result<(), NetworkError> {
        // Before the first key there is none.
        let expected = self.key_group.map_or(0, KeyGroup::member_bytes);
        self.tables.values().try_for_each(|table| check_lengths(&table.keys, expected))
    }

    /// What the settlement fixed when it was deployed.
    pub fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// The head that the next call passes.
    pub fn head(&self) -> Head {
        Head::decode(self.head)
    }

    /// The number of keys in the table whose indices members have.
    pub fn keys(&self) -> usize {
        self.tables.get(&self.head().table).map_or(0, |table| table.keys.len())
    }

    /// The state in which the contract must be. Compare it with the contract's `state()`.
    pub fn state(&self) -> B256 {
        let state = state::state(self.head, self.newest);
        self.begun.as_ref().map_or(state, |begun| state::entering(state, begun.terms))
    }

    /// The last epoch that was begun, and whether it waits to be entered.
    pub fn last_epoch(&self) -> (u32, bool) {
        self.begun.as_ref().map_or((self.head().epoch, false), |begun| (Head::decode(begun.terms).epoch, true))
    }

    /// The commitments of the bases in the ring: for each slot, the place at which the contract's `commitmentAt` has it, and
    /// the commitment. Compare them, and [`forget`](Self::forget) those that differ. Slot 0 is not among them: its
    /// commitment is a part of the state. Adds up keys as [`network`](Self::network) does.
    pub fn commitments(&mut self) -> Vec<(u16, U256, B256)> {
        let table = U256::from(self.head().table) << 16;
        let ring = self.bases().into_iter().filter(|base| base.slot != NEWEST);
        ring.map(|base| (base.slot, table | U256::from(base.slot), base.commitment())).collect()
    }

    /// The weights of the running epoch in parts, packed as `publish` takes them: the contract refuses other weights. Empty if
    /// they are not known.
    pub fn packed_weights(&self) -> Vec<Bytes> {
        let weights = self.epoch.weights.as_deref().unwrap_or_default();
        weights.chunks(PART).map(pack).collect()
    }

    /// Other weights of a part, packed as `publish` takes them, if the calldata holds several calls that fit to the logs. The
    /// contract takes one of them if it refuses those of [`packed_weights`](Self::packed_weights), unless the call which was
    /// made is not in the calldata.
    pub fn other_weights(&self, part: usize) -> Vec<Bytes> {
        let others = self.epoch.others.get(&part).map(Vec::as_slice).unwrap_or_default();
        others.iter().map(|weights| pack(weights)).collect()
    }

    /// Takes other weights of a part, by their place in [`other_weights`](Self::other_weights), because the contract has them.
    pub fn choose_weights(&mut self, part: usize, place: usize) {
        let Weights { weights: Some(weights), others, .. } = &mut self.epoch else { return };
        let chosen =
            others.remove(&part).and_then(|mut others| (place < others.len()).then(|| others.swap_remove(place)));
        let here = weights.get_mut(part.saturating_mul(PART)..);
        if let (Some(chosen), Some(here)) = (chosen, here)
            && let Some(here) = here.get_mut(..chosen.len())
        {
            here.copy_from_slice(&chosen);
        }
    }

    /// Takes the weights of the running epoch from elsewhere, since no calldata tells them. `false` if they are known, if another
    /// epoch was begun, or if they are not as many as the epoch has. Nothing else is checked: pass each part of
    /// [`packed_weights`](Self::packed_weights) to the contract's `publish`, and [forget](Self::forget_weights) them if it refuses.
    pub fn take_weights(&mut self, weights: Vec<u64>) -> bool {
        let fits = weights.len() == self.head().members as usize;
        let takes = fits && self.epoch.weights.is_none() && self.begun.is_none();
        if takes {
            (self.epoch.weights, self.epoch.others) = (Some(weights), BTreeMap::new());
        }
        takes
    }

    /// Leaves the weights of the running epoch out, because the contract has others.
    pub fn forget_weights(&mut self) -> Note {
        self.epoch.weights = None;
        Note::WeightsUnseen { epoch: self.head().epoch }
    }

    /// Takes note that the contract has the weights of the running epoch. Later, when it is past, the contract does not say any more.
    pub fn confirm_weights(&mut self) {
        self.epoch.confirmed = self.epoch.weights.is_some();
    }

    /// The posting in each slot, by rising slots.
    pub fn postings(&self) -> impl Iterator<Item = &SlotPosting> {
        self.postings.values()
    }

    /// Whether a true quorum signed a posting that is in a slot, by the keys that the logs tell and by
    /// [confirmed](Self::confirm_weights) weights: see [`PostedResults::recompute`]. `decoded` holds at most as many keys as the tables
    /// have.
    pub fn recompute(&self, posting: &PostedResults, decoded: &mut DecodedKeys) -> Recomputed {
        self.recompute_by(posting, decoded, |weights| weights.confirmed)
    }

    /// The same by weights that may not be confirmed, as those of an epoch that began and ended before the contract was asked. Calldata
    /// may tell others than the epoch has, so a posting is true by them only if the contract takes its
    /// [proof](crate::watch::prove_call). It has the hashes of past weights until those of the epoch after the next one are prepared.
    pub fn recompute_unconfirmed(&self, posting: &PostedResults, decoded: &mut DecodedKeys) -> Recomputed {
        self.recompute_by(posting, decoded, |_| true)
    }

    fn recompute_by(
        &self,
        posting: &PostedResults,
        decoded: &mut DecodedKeys,
        are_known: impl FnOnce(&&Weights) -> bool,
    ) -> Recomputed {
        let head = Head::decode(posting.head);
        let Some(key_group) = self.key_group else { return Recomputed::Unknown("there are no keys".to_owned()) };
        let Some(table) = self.tables.get(&head.table) else {
            return Recomputed::Unknown(format!("the keys of table {} are not known any more", head.table));
        };
        if decoded.members() > self.tables.values().map(|table| table.keys.len()).sum() {
            // Some are of tables that are gone.
            decoded.clear();
        }
        let weights = self.weights_of(head.epoch).filter(are_known);
        let Deployment { chain_id, contract, .. } = self.deployment;
        let sources = PostingSources {
            key_group,
            settlement: Contract { chain_id, address: contract },
            keys: &table.keys,
            weights: weights.and_then(|weights| weights.weights.as_deref()),
        };
        posting.recompute(&sources, decoded)
    }

    fn weights_of(&self, epoch: u32) -> Option<&Weights> {
        if self.head().epoch == epoch { Some(&self.epoch) } else { self.past.get(&epoch) }
    }

    /// The network with which a posting is proven: the head, the table and the epoch are those of the posting. It has the bases from
    /// which a proof may start now.
    ///
    /// # Errors
    /// [`NoNetwork`].
    pub fn network_of(&mut self, posting: &PostedResults) -> Result<Network, NoNetwork> {
        let (now, then) = (self.head(), Head::decode(posting.head));
        let key_group = self.key_group.ok_or(NoNetwork::NoKeys)?;
        let mut bases = if now.table == then.table { self.bases() } else { Vec::new() };
        // The state names slot 0, and while an epoch waits to be entered it is another one.
        let (waits, newest) = (self.begun.is_some(), self.newest);
        bases.retain(|base| base.slot != NEWEST || (!waits && base.commitment() == newest));
        let table = self.tables.get(&then.table).ok_or(NoNetwork::NoKeys)?;
        let epoch = self.weights_of(then.epoch).ok_or(NoNetwork::NoWeights(then.epoch))?;
        let network = Network {
            key_group,
            chain_id: self.deployment.chain_id,
            contract: self.deployment.contract,
            nonce: then.nonce,
            table: then.table,
            epoch: then.epoch,
            required: then.required,
            enough: then.enough,
            paid: then.paid,
            keys: table.keys.clone(),
            weights: epoch.weights.clone().ok_or(NoNetwork::NoWeights(then.epoch))?,
            key_pages: table.pages.clone(),
            weight_pages: epoch.pages.clone(),
            bases,
            unknown_newest: None,
        };
        network.check()?;
        Ok(network)
    }

    /// The present head and newest base's commitment, as the contract's calls pass them.
    pub fn passed(&self) -> (U256, B256) {
        (self.head, self.newest)
    }

    /// The bases, with keys that are added up once. Leaves out a base whose keys have no sum, which the contract refuses.
    fn bases(&mut self) -> Vec<Base> {
        let table = self.tables.get(&self.head().table);
        let (Some(key_group), Some(Keys { keys, .. })) = (self.key_group, table) else { return Vec::new() };
        self.bases.retain_mut(|base| {
            base.key = base.key.take().or_else(|| sum_of_keys(key_group, keys, &base.signers).ok());
            base.key.is_some()
        });
        let base = |base: &Stored| {
            let Stored { slot, epoch, weight, ref signers, ref key } = *base;
            Some(Base { slot, epoch, weight, key: key.clone()?, signers: signers.clone() })
        };
        self.bases.iter().filter_map(base).collect()
    }

    /// Leaves the base in a slot out, because the contract's slot holds another one.
    pub fn forget(&mut self, slot: u16) {
        self.bases.retain(|base| base.slot != slot);
    }

    /// Takes the logs of one transaction, in order. The calldata is empty if no log [needs it](SettlementEvent::needs_calldata), or if
    /// it is not known.
    ///
    /// # Errors
    /// [`FollowError`]. The follower is not to be used any more then.
    pub fn apply(&mut self, events: &[SettlementEvent], calldata: &[u8]) -> Result<Vec<Note>, FollowError> {
        let fits = |call: &Call| events.iter().any(|event| is_call_of(call, event));
        let (mut calls, mut weighed, mut notes) = (calls(calldata, fits), None, Vec::new());
        for event in events {
            match event {
                SettlementEvent::EpochWeighed { required, weights } => weighed = Some((*required, &weights[..])),
                SettlementEvent::EpochBegun { terms } => {
                    notes.extend(self.begin(*terms, weighed.take(), &mut calls)?)
                }
                event => notes.extend(self.apply_one(event, &mut calls)?),
            }
        }
        Ok(notes)
    }

    /// Takes one log. Takes the call that belongs to it out of the calls, so that several logs of one transaction find a call
    /// each.
    fn apply_one(&mut self, event: &SettlementEvent, calls: &mut Vec<Call>) -> Result<Option<Note>, FollowError> {
        match event {
            SettlementEvent::KeyAdded { table, index, key } => return self.added(*table, *index, key, calls),
            SettlementEvent::KeysPaged { nonce, table, first, keys } => {
                let page = KeyPage { nonce: *nonce, first: *first, keys: *keys };
                self.tables.entry(*table).or_default().pages.push(page);
            }
            SettlementEvent::KeysCarried { table, first, indices } => self.carried(*table, *first, indices)?,
            SettlementEvent::WeightsPaged { nonce, epoch, first } => {
                let page = WeightPage { nonce: *nonce, part: first / PART };
                if let Some(begun) = self.begun.as_mut().filter(|begun| Head::decode(begun.terms).epoch == *epoch) {
                    begun.epoch.pages.push(page);
                } else if self.head().epoch == *epoch {
                    self.epoch.pages.push(page);
                }
            }
            SettlementEvent::WeightsPrepared { members, weights } => {
                if *members == 0 {
                    self.prepared.clear();
                }
                self.prepared.push(prepared(*weights, calls));
            }
            // With the log of a stake registrar before it: see `apply`.
            SettlementEvent::EpochWeighed { .. } | SettlementEvent::EpochBegun { .. } => {}
            SettlementEvent::EpochEntered { head, newest } => return self.enter(*head, *newest),
            SettlementEvent::Settled { head, newest, results } => return self.settled(*head, *newest, results, calls),
            SettlementEvent::BasePinned { slot, from } => return Ok(self.pinned(*slot, *from)),
            SettlementEvent::Posted { head, newest, posting } => self.posted(*head, *newest, posting)?,
            SettlementEvent::PostingDemanded { id, demand } => {
                self.posting(*id)?.status = PostingStatus::Demanded(*demand);
            }
            SettlementEvent::PostingProven { id } | SettlementEvent::PostingFinished { id } => {
                self.posting(*id)?.status = PostingStatus::Settled;
            }
            SettlementEvent::PostingDropped { id } => self.posting(*id)?.status = PostingStatus::Dropped,
            SettlementEvent::PostingDisplaced { id } => {
                let posting = self.posting(*id)?;
                (posting.status, posting.in_slot) = (PostingStatus::Dropped, false);
            }
        }
        Ok(None)
    }

    fn posted(&mut self, head: U256, newest: B256, posting: &Arc<PostedResults>) -> Result<(), FollowError> {
        let before = Head::decode(posting.head);
        follows("result", before.nonce, self.head().nonce)?;
        // A posting changes nothing but the number.
        if (posting.head, newest) != (self.head, self.newest) {
            return Err(FollowError::Posted(posting.slot));
        }
        self.head = head;
        let (id, status) = (posting.id(), PostingStatus::Posted);
        self.postings.insert(posting.slot, SlotPosting { id, posting: Arc::clone(posting), status, in_slot: true });
        self.forget_past();
        Ok(())
    }

    fn posting(&mut self, id: B256) -> Result<&mut SlotPosting, FollowError> {
        let found = self.postings.values_mut().find(|posting| posting.id == id && posting.in_slot);
        found.ok_or(FollowError::NoPosting(id))
    }

    /// Forgets the tables and the weights that no open posting names.
    fn forget_past(&mut self) {
        let named: Vec<_> = self
            .postings
            .values()
            .filter(|posting| posting.is_open())
            .map(|open| Head::decode(open.posting.head))
            .collect();
        let table = self.head().table;
        self.tables.retain(|number, _| *number >= table || named.iter().any(|head| head.table == *number));
        self.past.retain(|epoch, _| named.iter().any(|head| head.epoch == *epoch));
    }

    fn added(
        &mut self,
        table: u16,
        index: usize,
        key: &Bytes,
        calls: &mut Vec<Call>,
    ) -> Result<Option<Note>, FollowError> {
        let hash = self.deployment.digest_hash;
        let fits = |group: &KeyGroup| group.key_bytes() == key.len() && DigestHash::of(*group) == hash;
        let group = KeyGroup::ALL.into_iter().find(fits);
        let group = group.ok_or(FollowError::KeyLength(key.len()))?;
        if *self.key_group.get_or_insert(group) != group {
            return Err(FollowError::KeyLength(key.len()));
        }
        let keys = &mut self.tables.entry(table).or_default().keys;
        follows("key", index, keys.len())?;
        if group != KeyGroup::Bn254G1 {
            keys.push(key.clone());
            return Ok(None);
        }
        let call = take(calls, |call| match call {
            Call::Register { key: registered, proof } if registered == key => dual_key(key, proof),
            _ => None,
        });
        let unseen = call.is_none().then_some(Note::TwinUnseen { index });
        // Zeros are the identity, which is not a key, so no plan uses them.
        keys.push(call.unwrap_or_else(|| [&key[..], &[0; 128]].concat().into()));
        Ok(unseen)
    }

    fn carried(&mut self, table: u16, first: usize, indices: &[usize]) -> Result<(), FollowError> {
        let from = table.checked_sub(1).and_then(|before| self.tables.get(&before));
        let from = from.map(|from| &from.keys[..]).unwrap_or_default();
        let key =
            |index: &usize| from.get(*index).cloned().ok_or(FollowError::Carried { index: *index, keys: from.len() });
        let carried: Vec<_> = indices.iter().map(key).collect::<Result<_, _>>()?;
        let keys = &mut self.tables.entry(table).or_default().keys;
        follows("carried key", first, keys.len())?;
        keys.extend(carried);
        Ok(())
    }

    /// Begins an epoch with the required weight and the weights that a stake registrar's log states, or else with those of
    /// the calls.
    fn begin(
        &mut self,
        terms: U256,
        weighed: Option<(u128, &[u64])>,
        calls: &mut Vec<Call>,
    ) -> Result<Option<Note>, FollowError> {
        let Head { epoch, table, .. } = Head::decode(terms);
        let before = self.head();
        follows("epoch", u64::from(epoch), u64::from(before.epoch) + 1)?;
        let prepared = std::mem::take(&mut self.prepared);
        let epoch_weights = match weighed {
            Some((required, weights)) => {
                Weights { weights: stated_weights(terms, required, weights), ..Weights::default() }
            }
            None => {
                let renews = table != before.table;
                // `discard` leaves no log. After it the call has the weights of all members, and those that were prepared are none.
                let weights = all_weights(terms, renews, prepared, calls);
                weights.or_else(|| all_weights(terms, renews, Vec::new(), calls)).unwrap_or_default()
            }
        };
        let note = epoch_weights.weights.is_none().then_some(Note::WeightsUnseen { epoch });
        self.begun = Some(Begun { terms, epoch: epoch_weights });
        Ok(note)
    }

    fn enter(&mut self, head: U256, newest: B256) -> Result<Option<Note>, FollowError> {
        let (before, after) = (self.head(), Head::decode(head));
        let begun = self.begun.take().ok_or(FollowError::NotBegun(after.epoch))?;
        let expected = Head::decode(begun.terms).entered(&before);
        follows("epoch", after.epoch, expected.epoch)?;
        follows("result", after.nonce, before.nonce)?;
        if before.table != after.table {
            self.bases.clear();
        }
        self.head = head;
        let past = std::mem::replace(&mut self.epoch, begun.epoch);
        self.past.insert(before.epoch, past);
        self.forget_past();
        self.replaced(newest);
        let (epoch, weights, keys) = (after.epoch, after.members as usize, self.keys());
        // Which of several calls was made is not certain yet.
        let known = self.epoch.weights.as_ref().filter(|_| self.epoch.others.is_empty());
        let total: Option<u128> = known.map(|weights| weights.iter().map(|weight| u128::from(*weight)).sum());
        if let Some(total) = total.filter(|total| *total < after.required) {
            return Ok(Some(Note::NothingSettles { epoch, total, required: after.required }));
        }
        Ok((weights > keys).then_some(Note::WeightsBehindKeys { epoch, weights, keys }))
    }

    fn settled(
        &mut self,
        head: U256,
        newest: B256,
        results: &[B256],
        calls: &mut Vec<Call>,
    ) -> Result<Option<Note>, FollowError> {
        let (before, after) = (self.head(), Head::decode(head));
        follows("result", after.nonce, before.nonce + results.len() as u64)?;
        let key_group = self.key_group.ok_or(FollowError::NoKeys)?;
        let quorum = take(calls, |call| match call {
            Call::Settle { head, results: settled, quorum, by_hub } if *head == self.head && settled == results => {
                // Zeros stand for what the hub has: the signature and, beside keys in G1, the quorum's key in G2.
                let hub_has = key_group.signature_bytes() + key_group.member_bytes() - key_group.key_bytes();
                let missing = vec![0; if *by_hub { hub_has } else { 0 }];
                Quorum::decode(key_group, &[&quorum[..], &missing].concat()).ok()
            }
            _ => None,
        });
        let stored = quorum.map(|quorum| self.stored(&quorum));
        self.head = head;
        let note = match stored {
            // What the log says of ski rental and of the newest base is what the call does.
            Some((paid, stored)) if paid == after.paid && (newest == self.newest || is_newest(stored.as_ref())) => {
                if let Some(base) = stored {
                    self.forget(base.slot);
                    self.bases.push(base);
                    self.bases.sort_by_key(|base| base.slot);
                }
                self.newest = newest;
                None
            }
            _ => {
                self.replaced(newest);
                Some(Note::SettledUnseen { nonce: before.nonce })
            }
        };
        Ok(note)
    }

    /// The number of changed members that are paid after a quorum, and the base as which the contract stores it.
    fn stored(&self, quorum: &Quorum) -> (u32, Option<Stored>) {
        let head = self.head();
        let changed = quorum.base.as_ref().map_or(quorum.signers.len(), |base| base.signers.distance(&quorum.signers));
        let (paid, slot) = match quorum.store {
            Store::Nowhere => (head.paid, None),
            Store::Slot(slot) => (head.paid, Some(slot)),
            Store::Rental => {
                let paid = head.paid.saturating_add(changed.try_into().unwrap_or(u32::MAX));
                let rented = paid >= self.deployment.changes_a_store;
                if rented { (0, self.deployment.pinned_slots.checked_add(1)) } else { (paid, None) }
            }
        };
        // The contract counts the members if the quorum names no weights, and if there are enough of them.
        let (epoch, weight) = match (&self.epoch.weights, quorum.weights.is_empty() && head.counts(&quorum.signers)) {
            (_, true) => (0, 0),
            (Some(weights), false) => {
                let weight = |index: usize| u128::from(weights.get(index).copied().unwrap_or(0));
                (head.epoch, quorum.signers.iter().map(weight).sum())
            }
            // Nobody can compute the commitment.
            (None, false) => return (paid, None),
        };
        (paid, slot.map(|slot| Stored { slot, epoch, weight, signers: quorum.signers.clone(), key: None }))
    }

    /// Takes the commitment of the newest base from a log. If it changed, that base is not known.
    fn replaced(&mut self, newest: B256) {
        if self.newest != newest {
            self.forget(NEWEST);
            self.newest = newest;
        }
    }

    fn pinned(&mut self, slot: u16, from: u16) -> Option<Note> {
        let base = self.bases.iter().find(|base| base.slot == from).cloned();
        self.forget(slot);
        let Some(base) = base else { return Some(Note::BaseUnknown { slot }) };
        self.bases.push(Stored { slot, ..base });
        self.bases.sort_by_key(|base| base.slot);
        None
    }

    /// The network. Adds up the keys of bases that are new since the last call: a decoding and an addition for each member.
    ///
    /// A newest base whose commitment is not that of the log is left out, with a note.
    ///
    /// # Errors
    /// [`NoNetwork`].
    pub fn network(&mut self) -> Result<(Network, Vec<Note>), NoNetwork> {
        let head = self.head();
        let key_group = self.key_group.ok_or(NoNetwork::NoKeys)?;
        if let Some(begun) = &self.begun {
            let epoch = Head::decode(begun.terms).epoch;
            return Err(NoNetwork::Waiting { epoch, head: self.head, newest: self.newest });
        }
        // Before the first epoch there are keys and nothing else, which is what its weights are chosen from.
        let (enough, weights) = match head.epoch {
            0 => (NEVER, Vec::new()),
            epoch => (head.enough, self.epoch.weights.clone().ok_or(NoNetwork::NoWeights(epoch))?),
        };
        let bases = self.bases();
        let table = self.tables.get(&head.table).ok_or(NoNetwork::NoKeys)?;
        let is_known = |base: &Base| base.slot != NEWEST || base.commitment() == self.newest;
        let (bases, unknown): (Vec<_>, Vec<_>) = bases.into_iter().partition(is_known);
        let newest_is_known = self.newest.is_zero() || bases.iter().any(|base| base.slot == NEWEST);
        let network = Network {
            key_group,
            chain_id: self.deployment.chain_id,
            contract: self.deployment.contract,
            nonce: head.nonce,
            table: head.table,
            epoch: head.epoch,
            required: head.required,
            enough,
            paid: head.paid,
            keys: table.keys.clone(),
            weights,
            key_pages: table.pages.clone(),
            weight_pages: self.epoch.pages.clone(),
            bases,
            unknown_newest: (!newest_is_known).then_some(self.newest),
        };
        network.check()?;
        for base in &unknown {
            self.forget(base.slot);
        }
        Ok((network, unknown.into_iter().map(|base| Note::BaseUnknown { slot: base.slot }).collect()))
    }
}

/// Whether a log may be that of a call, by what both of them say.
fn is_call_of(call: &Call, event: &SettlementEvent) -> bool {
    match (call, event) {
        (Call::Register { key, .. }, SettlementEvent::KeyAdded { key: added, .. }) => key == added,
        (Call::Prepare { weights }, SettlementEvent::WeightsPrepared { weights: prepared, .. }) => {
            weights.len() == *prepared
        }
        (Call::Begin { weights, required, .. }, SettlementEvent::EpochBegun { terms }) => {
            let terms = Head::decode(*terms);
            // Parts are prepared whole.
            let prepared = (terms.members as usize).checked_sub(weights.len());
            *required == terms.required && prepared.is_some_and(|prepared| prepared % PART == 0)
        }
        (Call::Settle { results, .. }, SettlementEvent::Settled { results: settled, .. }) => results == settled,
        _ => false,
    }
}

/// The weights of one log of `prepare`: those of each call with so many weights. Takes the first of these calls out.
fn prepared(length: usize, calls: &mut Vec<Call>) -> Candidates {
    let fits = |call: &Call| matches!(call, Call::Prepare { weights } if weights.len() == length);
    candidates(calls, fits, |call| match call {
        Call::Prepare { weights } => Some(weights),
        _ => None,
    })
}

/// The weights of an epoch with these terms: those that were prepared, and those of the calls of `begin` that fit. `None` if
/// those of a log are in no call.
fn all_weights(terms: U256, renews: bool, mut chunks: Vec<Candidates>, calls: &mut Vec<Call>) -> Option<Weights> {
    let Head { members, required, enough, .. } = Head::decode(terms);
    let first = |chunk: &Candidates| chunk.0.first().map(Vec::len);
    let before: usize = chunks.iter().map(first).sum::<Option<usize>>()?;
    let length = (members as usize).checked_sub(before)?;
    let fits = |call: &Call| {
        matches!(call, Call::Begin { threshold, weights, required: said, renew }
            if weights.len() == length && *said == required && *renew == renews && *threshold != 0)
    };
    let thresholds: BTreeSet<u64> = calls
        .iter()
        .filter_map(|call| match call {
            Call::Begin { threshold, .. } if fits(call) => Some(*threshold),
            _ => None,
        })
        .collect();
    if thresholds.is_empty() {
        return None;
    }
    chunks.push(candidates(calls, fits, |call| match call {
        Call::Begin { weights, .. } => Some(weights),
        _ => None,
    }));
    let all: Vec<u64> = chunks.iter().filter_map(|chunk| chunk.0.first()).flatten().copied().collect();
    let is_certain = chunks.iter().all(|chunk| chunk.0.len() == 1);
    // Of several calls the contract says which was made, by the hash of its weights.
    let leads = |threshold: &u64| state::enough_by(&all, required, *threshold) == enough;
    if is_certain && !thresholds.iter().any(leads) {
        return None;
    }
    let (mut others, mut part) = (BTreeMap::<usize, Vec<Vec<u64>>>::new(), 0);
    for Candidates(chunk) in chunks {
        let parts = chunk.first().map_or(0, |weights| weights.len().div_ceil(PART));
        for weights in chunk.iter().skip(1) {
            for (at, (other, first)) in weights.chunks(PART).zip(chunk[0].chunks(PART)).enumerate() {
                let of_part = others.entry(part + at).or_default();
                if other != first && !of_part.iter().any(|held| held == other) {
                    of_part.push(other.to_vec());
                }
            }
        }
        part += parts;
    }
    others.retain(|_, others| !others.is_empty());
    Some(Weights { weights: Some(all), others, ..Weights::default() })
}

/// The weights of all calls that fit, each once. Takes the first of these calls out, since the next log is of another one.
fn candidates(
    calls: &mut Vec<Call>,
    fits: impl Fn(&Call) -> bool,
    weights: impl Fn(&Call) -> Option<&Vec<u64>>,
) -> Candidates {
    let mut found: Vec<Vec<u64>> = Vec::new();
    for held in calls.iter().filter(|call| fits(call)).filter_map(&weights) {
        if !found.contains(held) {
            found.push(held.clone());
        }
    }
    if let Some(place) = calls.iter().position(fits) {
        calls.remove(place);
    }
    Candidates(found)
}

/// The weights that a stake registrar states, if they are those of the terms. It takes no threshold but the sharpest.
fn stated_weights(terms: U256, required: u128, weights: &[u64]) -> Option<Vec<u64>> {
    let terms = Head::decode(terms);
    let fits = weights.len() == terms.members as usize
        && required == terms.required
        && state::enough(weights, required).1 == terms.enough;
    fits.then(|| weights.to_vec())
}

/// Weights as the contract takes them: 8 bytes each.
fn pack(weights: &[u64]) -> Bytes {
    weights.iter().flat_map(|weight| weight.to_be_bytes()).collect()
}

fn is_newest(base: Option<&Stored>) -> bool {
    base.is_some_and(|base| base.slot == NEWEST)
}

fn follows<T: TryInto<u64>>(what: &'static str, found: T, expected: T) -> Result<(), FollowError> {
    let number = |number: T| number.try_into().unwrap_or(u64::MAX);
    let (found, expected) = (number(found), number(expected));
    if found == expected { Ok(()) } else { Err(FollowError::Gap { what, found, expected }) }
}
