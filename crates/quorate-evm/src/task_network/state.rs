//! A network as its logs tell it. No I/O, and cheap to copy: whoever goes back over a reorganisation keeps a copy for
//! each block.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use alloy_primitives::{Address, B256, Bytes, FixedBytes, U256, keccak256};
use alloy_sol_types::SolValue as _;

use super::{
    calldata::{NetworkCall, calls},
    change::{Change, EpochSnapshot, Member},
    contradiction::Contradiction,
    log::Event,
    terms::ContractTerms,
};
use crate::{
    base::{Base, KeyPage, NEWEST, PART, WeightPage},
    follow::call::{dual_key, take},
    gas::{CALLDATA_NONZERO, Measured, Steps},
    key_group::KeyGroup,
    member_set::MemberSet,
    network::{Network, sum_of_keys},
    quorum::{Quorum, Store},
    state::NEVER,
};

/// The logs of one transaction.
#[derive(Clone, Debug, Default)]
pub(super) struct TransactionLogs {
    pub(super) hash: B256,
    pub(super) events: Vec<Event>,
    /// Empty if [`needs_calldata`] says no.
    pub(super) calldata: Bytes,
}

/// A network after a block.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// The number of the running table.
    running: u16,
    /// The tables of the epochs below, the running one, and the next one.
    tables: BTreeMap<u16, Arc<Table>>,
    /// The hash of all keys, owners and carried keys: the first part of `Roster`.
    roster: U256,
    /// The operators that have a seat.
    seats: Arc<BTreeSet<Address>>,
    /// The nonce of the verifier's last page, less one: the first contract that it creates is a probe.
    pages: u64,
    /// The last epoch with a snapshot, and the one before it if it can still settle.
    epochs: BTreeMap<u64, Arc<Epoch>>,
    /// The bases by table and slot.
    bases: BTreeMap<(u16, u16), Arc<Stored>>,
    /// What the changes of members have cost since a base was stored, in gas: ski rental's account.
    rent: u64,
    /// The slot of the running table in which a quorum was stored last.
    stored: Option<u16>,
    /// Whether the pool paid for the last task; none if there was no task.
    pays: Option<bool>,
    /// Counts the submissions whose call is not in the calldata. Their quorum may be in any slot.
    unseen: u64,
}

#[derive(Clone, Debug, Default)]
struct Table {
    /// As [`Network::keys`] has them.
    keys: Vec<Bytes>,
    owners: Vec<Address>,
    pages: Vec<KeyPage>,
}

#[derive(Clone, Debug)]
struct Epoch {
    table: u16,
    /// `total`, `required`, `beacon` and `id`, as the log says.
    fixed: (u128, u128, B256, FixedBytes<20>),
    /// None if nobody asked for the weights.
    snapshot: Option<Arc<EpochSnapshot>>,
    weight_pages: Vec<WeightPage>,
    /// The hashes of the bitmaps that submitted in the epoch and are owed something.
    records: BTreeSet<B256>,
    /// The performers of rejected tasks, by the index of their key. Each was fined with its first.
    fined: BTreeSet<U256>,
}

/// A base whose key is computed once it is asked for.
#[derive(Debug)]
struct Stored {
    epoch: u32,
    weight: u128,
    signers: MemberSet,
    key: OnceLock<Option<Bytes>>,
}

/// Whether the logs of a transaction do not say all.
pub(super) fn needs_calldata(key_group: KeyGroup, events: &[Event]) -> bool {
    events.iter().any(|event| match event {
        Event::Attested { .. } => true,
        // The key in G2 that belongs to a key in G1 is in no log.
        Event::KeyAdded { .. } => key_group == KeyGroup::Bn254G1,
        _ => false,
    })
}

impl State {
    /// Takes the logs of a transaction. `weights` are those that the contract has for epochs with a snapshot in these
    /// logs; the snapshot of an epoch without weights is not told.
    ///
    /// # Errors
    /// [`Contradiction`]. The state is not to be used any more then.
    pub(super) fn apply(
        &mut self,
        terms: &ContractTerms,
        transaction: &TransactionLogs,
        weights: &BTreeMap<u64, Vec<u64>>,
    ) -> Result<Vec<Change>, Contradiction> {
        let mut calls = calls(&transaction.calldata);
        let (mut changes, mut ids, mut paged) = (Vec::new(), Vec::new(), false);
        for event in &transaction.events {
            let paged_before = std::mem::take(&mut paged);
            match event {
                Event::KeyAdded { table, index, key } => self.key_added(terms, *table, *index, key, &mut calls)?,
                Event::KeysPaged { nonce, table, first, keys } => {
                    self.page(*nonce)?;
                    let page = KeyPage { nonce: *nonce as u32, first: *first, keys: *keys };
                    self.table(*table)?.pages.push(page);
                    paged = true;
                }
                // A page of its own comes before, unless the verifier carries a key that it just admitted.
                Event::KeysCarried { table, first, indices } => self.carried(*table, *first, indices, paged_before)?,
                Event::WeightsPaged { nonce, epoch, first } => {
                    self.page(*nonce)?;
                    let unknown = Contradiction::Unknown { what: "epoch", number: *epoch };
                    let of = Arc::make_mut(self.epochs.get_mut(epoch).ok_or(unknown)?);
                    of.weight_pages.push(WeightPage { nonce: *nonce as u32, part: first / PART });
                }
                Event::BasePinned { slot, from } => self.pinned(*slot, *from),
                Event::Snapshotted { .. } => {
                    changes.extend(self.snapshotted(terms, event, weights)?.map(Change::Snapshot))
                }
                Event::Attested { epoch, signers, weight, amount } => {
                    let ids = std::mem::take(&mut ids);
                    self.attested(terms.key_group, (*epoch, signers, *weight, *amount), &ids, &mut calls)?;
                    changes.push(Change::Attested {
                        epoch: *epoch,
                        signers: signers.clone(),
                        weight: *weight,
                        amount: *amount,
                        transaction: transaction.hash,
                    });
                }
                Event::Told(change) => {
                    match change {
                        Change::Registered { operator, index, .. } => {
                            self.owned(terms, *operator, *index)?;
                            Arc::make_mut(&mut self.seats).insert(*operator);
                        }
                        Change::SeatVacated { operator, .. } => {
                            Arc::make_mut(&mut self.seats).remove(operator);
                        }
                        Change::KeyRotated { operator, new, .. } => self.owned(terms, *operator, *new)?,
                        Change::Settled { id, epoch, performer, approved, rewarded, .. } => {
                            ids.push(*id);
                            self.pays = Some(*rewarded);
                            if !approved && let Some(of) = self.epochs.get_mut(epoch) {
                                Arc::make_mut(of).fined.insert(*performer);
                            }
                        }
                        _ => {}
                    }
                    changes.push(change.clone());
                }
            }
        }
        Ok(changes)
    }

    /// How many keys the running and the next table hold, and how many contracts the verifier created: its `extent()`.
    pub(super) fn extent(&self) -> (u64, u64, u64) {
        let keys = |table: Option<u16>| {
            let table = table.and_then(|table| self.tables.get(&table));
            table.map_or(0, |table| table.keys.len() as u64)
        };
        (keys(Some(self.running)), keys(self.running.checked_add(1)), self.pages + 1)
    }

    /// The operators that have a seat, by rising addresses.
    pub(super) fn seats(&self) -> &BTreeSet<Address> {
        &self.seats
    }

    /// The epochs that can settle, as far as they have a snapshot in the logs.
    pub(super) fn epochs(&self) -> impl Iterator<Item = u64> + '_ {
        self.epochs.keys().copied()
    }

    /// What the log says is fixed for an epoch: `total`, `required`, `table`, `beacon` and `id`.
    pub(super) fn fixed(&self, epoch: u64) -> Option<(u128, u128, u16, B256, FixedBytes<20>)> {
        let epoch = self.epochs.get(&epoch)?;
        let (total, required, beacon, id) = epoch.fixed;
        Some((total, required, epoch.table, beacon, id))
    }

    /// The snapshot of an epoch that can settle.
    pub(super) fn snapshot(&self, epoch: u64) -> Option<&Arc<EpochSnapshot>> {
        self.epochs.get(&epoch)?.snapshot.as_ref()
    }

    /// The commitments of the bases by table and slot. Adds up the keys of those that are new. A base whose keys have
    /// no sum is left out, as the contract refuses it.
    pub(super) fn commitments(&self, key_group: KeyGroup) -> Vec<((u16, u16), B256)> {
        let commitment = |(place, base): (&(u16, u16), &Arc<Stored>)| {
            Some((*place, self.base(key_group, *place, base)?.commitment()))
        };
        self.bases.iter().filter_map(commitment).collect()
    }

    /// Leaves a base out, because the verifier's slot holds another one.
    pub(super) fn forget(&mut self, place: (u16, u16)) {
        self.bases.remove(&place);
    }

    /// Counts the submissions whose call was not found. After one of them, any slot may hold another base.
    pub(super) fn unseen(&self) -> u64 {
        self.unseen
    }

    /// Whether the pool will pay for the next task, as it did for the last one.
    pub(super) fn pays(&self) -> bool {
        self.pays.unwrap_or(true)
    }

    /// Whether a quorum submitted in an epoch, and is owed something.
    pub(super) fn is_recorded(&self, epoch: u64, signers: &MemberSet) -> bool {
        self.epochs.get(&epoch).is_some_and(|epoch| epoch.records.contains(&keccak256(signers.as_bytes())))
    }

    /// Whether a performer, by the index of its key, was fined in an epoch: it is fined once, for its first rejected task.
    pub(super) fn is_fined(&self, epoch: u64, performer: u64) -> bool {
        self.epochs.get(&epoch).is_some_and(|epoch| epoch.fined.contains(&U256::from(performer)))
    }

    /// What the changes of members have cost since a base was stored, in gas.
    pub(super) fn rent(&self) -> u64 {
        self.rent
    }

    /// The slot for the next base of the running table: [`BASES`] slots in turn, slot 0 and those behind the pinned ones.
    ///
    /// With one slot alone, a settlement that was planned from its base fails when another one stores a base first.
    pub(super) fn next_slot(&self, pinned: u16) -> u16 {
        let behind = (1..BASES).filter_map(|place| pinned.checked_add(place)).filter(|slot| *slot < NO_SLOT);
        let ring: Vec<u16> = std::iter::once(NEWEST).chain(behind).collect();
        let last = ring.iter().position(|slot| Some(*slot) == self.stored);
        last.map_or(NEWEST, |last| ring[(last + 1) % ring.len()])
    }

    /// What quorums of an epoch are planned with. `None` without its snapshot.
    pub(super) fn network(&self, terms: &ContractTerms, epoch: u64) -> Option<Network> {
        let of = self.epochs.get(&epoch)?;
        let snapshot = of.snapshot.as_ref()?;
        let table = self.tables.get(&of.table)?;
        let here = self.bases.range((of.table, 0)..=(of.table, u16::MAX));
        let bases = here.filter_map(|(place, base)| self.base(terms.key_group, *place, base)).collect();
        Some(Network {
            key_group: terms.key_group,
            chain_id: terms.chain_id,
            // The verifier makes the pages, which access lists name.
            contract: terms.verifier,
            nonce: 0,
            table: of.table,
            epoch: u32::try_from(epoch).ok()?,
            required: snapshot.required + 1,
            enough: NEVER,
            paid: 0,
            keys: table.keys.clone(),
            weights: snapshot.members.iter().map(|member| member.weight).collect(),
            key_pages: table.pages.clone(),
            weight_pages: of.weight_pages.clone(),
            bases,
            unknown_newest: None,
        })
    }

    fn base(&self, key_group: KeyGroup, (table, slot): (u16, u16), base: &Stored) -> Option<Base> {
        let Stored { epoch, weight, ref signers, ref key } = *base;
        let keys = &self.tables.get(&table)?.keys;
        let key = key.get_or_init(|| sum_of_keys(key_group, keys, signers).ok()).clone()?;
        Some(Base { slot, epoch, weight, key, signers: signers.clone() })
    }

    /// The running table or the next one.
    fn table(&mut self, table: u16) -> Result<&mut Table, Contradiction> {
        if table != self.running && Some(table) != self.running.checked_add(1) {
            return Err(Contradiction::Unknown { what: "key table", number: table.into() });
        }
        Ok(Arc::make_mut(self.tables.entry(table).or_default()))
    }

    /// The verifier made a page.
    fn page(&mut self, nonce: u64) -> Result<(), Contradiction> {
        // The first contract that it creates is the probe of CLZ, with nonce 1.
        follows("page", nonce, self.pages + 2)?;
        if nonce > u64::from(u32::MAX) {
            return Err(Contradiction::Unknown { what: "page", number: nonce });
        }
        self.pages += 1;
        Ok(())
    }

    fn key_added(
        &mut self,
        terms: &ContractTerms,
        number: u16,
        index: usize,
        key: &Bytes,
        calls: &mut Vec<NetworkCall>,
    ) -> Result<(), Contradiction> {
        let (found, expected) = (key.len(), terms.key_group.key_bytes());
        if found != expected {
            let why = format!("a key has {found} bytes, expected {expected}");
            return Err(Contradiction::Form { name: "KeyAdded", why });
        }
        follows("the key table", u64::from(number), u64::from(self.running))?;
        let table = self.table(number)?;
        follows("key", index as u64, table.keys.len() as u64)?;
        let key = if terms.key_group == KeyGroup::Bn254G1 {
            let call = take(calls, |call| match call {
                NetworkCall::Register { key: registered, proof } if registered == key => dual_key(key, proof),
                _ => None,
            });
            // Zeros are the identity, which is not a key, so no plan uses them.
            call.unwrap_or_else(|| [&key[..], &[0; 128]].concat().into())
        } else {
            key.clone()
        };
        table.keys.push(key);
        table.owners.push(Address::ZERO);
        Ok(())
    }

    /// An operator registered the key at an index of the running table.
    fn owned(&mut self, terms: &ContractTerms, operator: Address, index: u32) -> Result<(), Contradiction> {
        let (running, at) = (self.running, index as usize);
        let table = self.table(running)?;
        let unknown = Contradiction::Unknown { what: "key", number: index.into() };
        let (Some(key), Some(owner)) = (table.keys.get(at).cloned(), table.owners.get_mut(at)) else {
            return Err(unknown);
        };
        if *owner != Address::ZERO {
            return Err(unknown);
        }
        *owner = operator;
        // A key that comes while others are carried is in both tables. It is the last of the next one.
        if let Some(next) = running.checked_add(1).and_then(|next| self.tables.get_mut(&next))
            && next.keys.last() == Some(&key)
            && let Some(owner) = Arc::make_mut(next).owners.last_mut()
        {
            *owner = operator;
        }
        // The contract hashes the key as it keeps it, without the key in G2 that stands behind one in G1.
        let kept = &key[..terms.key_group.key_bytes()];
        let part = (self.roster, U256::from(running), U256::from(index), operator, keccak256(kept));
        self.roster = low_160(keccak256(part.abi_encode()));
        Ok(())
    }

    fn carried(&mut self, number: u16, first: usize, indices: &Bytes, in_a_page: bool) -> Result<(), Contradiction> {
        follows("carried keys' table", u64::from(number), u64::from(self.running) + 1)?;
        let index = |bytes: &[u8]| bytes.iter().fold(0_usize, |index, byte| index << 8 | usize::from(*byte));
        let from = self.tables.get(&self.running).cloned().unwrap_or_default();
        let next = self.table(number)?;
        follows("carried key", first as u64, next.keys.len() as u64)?;
        // A rest of fewer than 4 bytes is ignored, as by the contract.
        for at in indices.chunks_exact(4).map(index) {
            let unknown = Contradiction::Unknown { what: "carried key", number: at as u64 };
            let (Some(key), Some(owner)) = (from.keys.get(at), from.owners.get(at)) else { return Err(unknown) };
            next.keys.push(key.clone());
            next.owners.push(*owner);
        }
        if in_a_page {
            self.roster = low_160(keccak256((self.roster, keccak256(indices)).abi_encode()));
        }
        Ok(())
    }

    fn snapshotted(
        &mut self,
        terms: &ContractTerms,
        event: &Event,
        weights: &BTreeMap<u64, Vec<u64>>,
    ) -> Result<Option<Arc<EpochSnapshot>>, Contradiction> {
        let Event::Snapshotted { epoch, total, required, table: number, beacon, id } = *event else { return Ok(None) };
        let wrong = Contradiction::SnapshotId { epoch };
        if self.epochs.keys().any(|before| *before >= epoch) || terms.required(total) != required || total == 0 {
            return Err(wrong);
        }
        if number != self.running {
            follows("the snapshot's key table", u64::from(number), u64::from(self.running) + 1)?;
            self.running = number;
            self.rent = 0;
            self.stored = None;
        }
        let unknown = Contradiction::Unknown { what: "key table", number: number.into() };
        let table = self.tables.get(&number).ok_or(unknown)?;
        let snapshot = match weights.get(&epoch) {
            None => None,
            Some(weights) => {
                let packed: Vec<u8> = weights.iter().flat_map(|weight| weight.to_be_bytes()).collect();
                let parts = (beacon, U256::from(number), self.roster, keccak256(packed)).abi_encode();
                let sum: u128 = weights.iter().copied().map(u128::from).sum();
                if weights.len() != table.keys.len() || sum != total || keccak256(parts)[..20] != id[..] {
                    return Err(wrong);
                }
                let members = weights.iter().zip(&table.keys).zip(&table.owners);
                let member = |((weight, key), owner): ((&u64, &Bytes), &Address)| Member {
                    owner: *owner,
                    weight: *weight,
                    key: key.clone(),
                };
                let members = members.map(member).collect();
                Some(Arc::new(EpochSnapshot { epoch, id, beacon, required, total, table: number, members }))
            }
        };
        // Nothing before the previous epoch can settle any more.
        self.epochs.retain(|before, _| before.saturating_add(1) >= epoch);
        let of = Epoch {
            table: number,
            fixed: (total, required, beacon, id),
            snapshot: snapshot.clone(),
            weight_pages: Vec::new(),
            records: BTreeSet::new(),
            fined: BTreeSet::new(),
        };
        self.epochs.insert(epoch, Arc::new(of));
        let oldest = self.epochs.values().map(|epoch| epoch.table).min().unwrap_or(number);
        self.tables.retain(|table, _| *table >= oldest);
        self.bases.retain(|(table, _), _| *table >= oldest);
        Ok(snapshot)
    }

    fn attested(
        &mut self,
        key_group: KeyGroup,
        (epoch, signers, weight, amount): (u64, &MemberSet, u128, u128),
        ids: &[B256],
        calls: &mut Vec<NetworkCall>,
    ) -> Result<(), Contradiction> {
        let unknown = Contradiction::Unknown { what: "epoch", number: epoch };
        let of = Arc::make_mut(self.epochs.get_mut(&epoch).ok_or(unknown)?);
        if amount != 0 {
            of.records.insert(keccak256(signers.as_bytes()));
        }
        let table = of.table;
        let quorum = take(calls, |call| match call {
            NetworkCall::Submit { epoch: of, ids: tasks, quorum } if *of == epoch && tasks == ids => {
                Quorum::decode(key_group, quorum).ok().filter(|quorum| quorum.signers == *signers)
            }
            _ => None,
        });
        let Some(quorum) = quorum else {
            self.unseen += 1;
            return Ok(());
        };
        if table == self.running {
            let from = quorum.base.as_ref().map(|base| &base.signers);
            let changed = from.map_or(signers.len(), |from| from.distance(signers)) as u64;
            let passed = (quorum.keys.len() as u64).min(changed);
            let rent = rent_of(key_group, changed - passed, passed, quorum.key_pages.len() as u64);
            self.rent = self.rent.saturating_add(rent);
        }
        if let (Store::Slot(slot), Ok(epoch)) = (quorum.store, u32::try_from(epoch)) {
            let base = Stored { epoch, weight, signers: signers.clone(), key: OnceLock::new() };
            self.bases.insert((table, slot), Arc::new(base));
            if table == self.running {
                self.rent = 0;
                self.stored = Some(slot);
            }
        }
        Ok(())
    }

    fn pinned(&mut self, slot: u16, from: u16) {
        let table = self.running;
        match self.bases.get(&(table, from)).cloned() {
            Some(base) => drop(self.bases.insert((table, slot), base)),
            None => self.forget((table, slot)),
        }
    }
}

/// How many slots of a table hold bases in turn. Each costs 17,100 gas more the first time that it is written.
const BASES: u16 = 4;
/// Slots have smaller numbers (`network::CheckError`, `Quorums.sol`).
const NO_SLOT: u16 = 0xfffe;

/// What it costs to bring members in, in gas: `paged` of them from so many pages, and `passed` of them from calldata.
pub(super) fn rent_of(key_group: KeyGroup, paged: u64, passed: u64, key_pages: u64) -> u64 {
    let copies = if key_group.pages_add() { 0 } else { paged };
    let calls = if key_group.pages_add() { key_pages } else { 0 };
    let steps = Steps { paged, copies, calls, passed, key_pages, ..Steps::default() };
    let calldata = CALLDATA_NONZERO * passed * key_group.key_bytes() as u64;
    Measured::default().steps(key_group, &steps).saturating_add(calldata)
}

/// The number that a roster keeps of a hash.
fn low_160(hash: B256) -> U256 {
    U256::from_be_slice(&hash[12..])
}

fn follows(what: &'static str, found: u64, expected: u64) -> Result<(), Contradiction> {
    if found == expected { Ok(()) } else { Err(Contradiction::Gap { what, found, expected }) }
}
