//! A settlement as its aggregator follows it off the chain: keys, pages, weights, bases; and how the next quorum settles.
//!
//! ```
//! use quorate_evm::{BackEnd, Bitmap, Network, SecretKey, Signature, hash_to_curve::try_and_increment, network, quorum::Store};
//! # use quorate_evm::{alloy_primitives::{Address, B256}, base::Table, gas::Measured};
//! let operators: Vec<_> = (1u8..=4).map(|i| SecretKey::from_entropy(&[i; 48])).collect();
//! # let Table { key_pages, weight_pages } = Table::new(BackEnd::Bn254G2, 4, 4);
//! let network = Network {
//!     back_end: BackEnd::Bn254G2,
//!     chain_id: 1,
//!     contract: Address::repeat_byte(0xaa),
//!     nonce: 0,
//!     epoch: 1,
//!     required: 300,
//!     enough: 3,
//!     paid: 0,
//!     keys: operators.iter().map(|operator| operator.public_key_g2().to_bytes().into()).collect(),
//!     weights: vec![100; 4],
//!     key_pages,
//!     weight_pages,
//!     bases: vec![],
//! };
//! let signers: Bitmap = [0, 1, 3].into_iter().collect();
//! let results = [B256::repeat_byte(7)];
//! let plan = network.plan(&Measured::default(), &signers, &results)?;
//!
//! // Each operator signs every digest; the aggregator adds up, and settles.
//! let message = try_and_increment(&plan.digests[0]).point;
//! let sum: Signature = signers.iter().map(|i| operators[i].sign(&message)).sum();
//! let signature = network::Signature::Bn254(sum.to_bytes());
//! assert!(plan.verify(&signature)?);
//! let calldata = plan.call(Store::Nowhere, &signature, &results)?;
//! # assert!(calldata.len() > 300);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod plan;

use std::ops::Range;

use alloy_primitives::{Address, B256, Bytes};
use quorate_curve::{Backend, G2, Group};
use serde::{Deserialize, Serialize};

pub use self::{
    error::{NetworkError, PlanError},
    plan::{Plan, Signature, SignatureError},
};
use crate::{
    back_end::BackEnd,
    base::{Base, Costs, KeyPage, NEWEST, Table, WEIGHTS_A_PAGE, Way, Weighing, page_address},
    bitmap::Bitmap,
    bls12381,
    bn254::{self, PublicKey},
    digest::{Contract, Settled},
    gas::{Measured, Storing},
    hint::{self, Change, CounterHint},
    quorum::{KeySum, NONE, RENTAL, Store, WEIGHT_LIMIT},
    state::{self, Head, NEVER},
};

/// What is known of a settlement. As JSON it is the input of `quorate evm plan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The curve and the group of the keys.
    pub back_end: BackEnd,
    /// EIP-155's id of the chain.
    pub chain_id: u64,
    /// The contract's address.
    pub contract: Address,
    /// The number of the next result.
    pub nonce: u64,
    /// The epoch that settles; from 1 on where members are counted.
    pub epoch: u32,
    /// The weight that a quorum needs in the epoch, below 2^88.
    #[serde(with = "crate::base::amount")]
    pub required: u128,
    /// Any so many of the members that `weights` has weigh as much; [`NEVER`] where members are not counted, as by a
    /// `Verifier`.
    pub enough: u32,
    /// Members that changed since the last store by ski rental.
    #[serde(default)]
    pub paid: u32,
    /// By index, the members' keys, of [`BackEnd::member_bytes`] bytes.
    pub keys: Vec<Bytes>,
    /// By index, what they weigh in the epoch; those behind the last weigh nothing.
    pub weights: Vec<u64>,
    /// Pages of keys, ascending and without gaps from index 0 on; the keys behind them are in storage.
    pub key_pages: Vec<KeyPage>,
    /// Nonces of the epoch's pages of weights, in the order of the indices they hold.
    pub weight_pages: Vec<u32>,
    /// What the slots commit to; slot 0 is the newest's.
    pub bases: Vec<Base>,
}

impl BackEnd {
    /// Bytes of a member's key off the chain: that of the contract, and on b its twin in G2 behind it.
    pub const fn member_bytes(self) -> usize {
        match self {
            Self::Bn254G2 => 128,
            Self::Bn254G1 | Self::Bls12381G2 => 192,
        }
    }
}

impl Network {
    /// Checks the form: lengths, indices, pages, slots. Points are checked by [`plan`](Self::plan), where they are used.
    ///
    /// # Errors
    /// [`NetworkError`], which names the field.
    pub fn check(&self) -> Result<(), NetworkError> {
        let (keys, expected) = (self.keys.len(), self.back_end.member_bytes());
        if let Some((index, key)) = self.keys.iter().enumerate().find(|(_, key)| key.len() != expected) {
            return Err(NetworkError::KeyLength { index, expected, found: key.len() });
        }
        if self.weights.len() > keys {
            return Err(NetworkError::WeightsBehindKeys { weights: self.weights.len(), keys });
        }
        self.head().encode()?;
        if self.epoch == 0 && self.enough != NEVER {
            return Err(NetworkError::NoEpoch);
        }
        let (_, least) = state::enough(&self.weights, self.required);
        if self.enough < least {
            return Err(NetworkError::Enough { enough: self.enough, least });
        }
        let mut next = 0;
        for (page, KeyPage { first, keys: held, .. }) in self.key_pages.iter().enumerate() {
            if *first != next || *held == 0 || keys - next < *held {
                return Err(NetworkError::KeyPage { page, first: *first, held: *held, next, keys });
            }
            next += held;
        }
        for (place, base) in self.bases.iter().enumerate() {
            let (slot, expected, found) = (base.slot, self.back_end.key_bytes(), base.key.len());
            if slot == NONE || slot == RENTAL {
                return Err(NetworkError::ReservedSlot { place, slot });
            }
            if self.bases[..place].iter().any(|other| other.slot == slot) {
                return Err(NetworkError::SlotTwice { place, slot });
            }
            if found != expected {
                return Err(NetworkError::BaseKeyLength { place, slot, expected, found });
            }
            if base.weight >= WEIGHT_LIMIT {
                return Err(NetworkError::BaseWeight { place, slot, weight: base.weight });
            }
            match base.signers.iter().last() {
                None => return Err(NetworkError::EmptyBase { place, slot }),
                Some(member) if member >= keys => {
                    return Err(NetworkError::BaseMember { place, slot, member, keys });
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The head of the settlement.
    pub fn head(&self) -> Head {
        Head {
            nonce: self.nonce,
            epoch: self.epoch,
            members: self.weights.len().try_into().unwrap_or(u32::MAX),
            enough: self.enough,
            required: self.required,
            paid: self.paid,
        }
    }

    /// What the state word says of the newest base: its commitment, zero before the first.
    pub fn newest(&self) -> B256 {
        let newest = self.bases.iter().find(|base| base.slot == NEWEST);
        newest.map(|base| base.commitment().into()).unwrap_or_default()
    }

    /// The word that the contract's `state()` should answer.
    ///
    /// # Errors
    /// [`NetworkError::Head`].
    pub fn state(&self) -> Result<B256, NetworkError> {
        Ok(state::state(self.head().encode()?, self.newest()))
    }

    /// What the next results' signers sign.
    pub fn digests(&self, results: &[B256]) -> Vec<[u8; 32]> {
        let settlement = Contract { chain_id: self.chain_id, address: self.contract.into() };
        let numbered = (self.nonce..).zip(results);
        numbered.map(|(nonce, result)| Settled { settlement, nonce, result: result.0 }.digest()).collect()
    }

    /// The ways to a quorum from every base and from the empty one, the cheapest first; of equals the first base first.
    ///
    /// # Errors
    /// [`PlanError`]: the form, nobody, members without a key or a page of weights.
    pub fn ways(&self, measured: &Measured, signers: &Bitmap) -> Result<Vec<Way>, PlanError> {
        self.check()?;
        let last = signers.iter().last().ok_or(PlanError::Empty)?;
        if last >= self.keys.len() {
            return Err(PlanError::NoSuchMember { index: last, members: self.keys.len() });
        }
        let weight = self.weight(signers);
        if weight < self.required {
            return Err(PlanError::TooLight { weight, required: self.required });
        }
        let table = Table { key_pages: self.key_pages.clone(), weight_pages: self.weight_pages.clone() };
        let costs = Costs { back_end: self.back_end, measured, table: &table, head: self.head() };
        let mut ways = costs.ways(&self.bases, signers);
        // A weight that no page holds stops whoever reads weights; a base's last member may be behind the signers'.
        let weighed_to = table.weight_pages.len() * WEIGHTS_A_PAGE;
        let unweighed = |way: &Way| match way.weighing {
            Weighing::Counted => None,
            Weighing::FromBase => way.changed.iter().find(|index| *index >= weighed_to),
            Weighing::Anew => signers.iter().find(|index| *index >= weighed_to),
        };
        let missing = ways.iter().find_map(unweighed);
        ways.retain(|way| unweighed(way).is_none());
        match missing {
            Some(index) if ways.is_empty() => Err(PlanError::NoWeight(index)),
            _ => Ok(ways),
        }
    }

    /// The cheapest way to settle results that these members sign: nothing is signed yet.
    ///
    /// Cost: each base is priced; the keys of the base's members and those that change are checked and added.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plan(&self, measured: &Measured, signers: &Bitmap, results: &[B256]) -> Result<Plan, PlanError> {
        self.plan_digests(measured, signers, self.digests(results))
    }

    /// [`plan`](Self::plan) for a contract that makes its digests in another way than `Settlement` does. The access list
    /// names pages of `contract`: if another contract made them, it is of no use.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plan_digests(
        &self,
        measured: &Measured,
        signers: &Bitmap,
        digests: Vec<[u8; 32]>,
    ) -> Result<Plan, PlanError> {
        let way = self.ways(measured, signers)?.swap_remove(0);
        let base = way.base.map(|place| self.bases[place].clone());
        let (key, sums) = self.key(base.as_ref(), signers, &way.changed)?;
        let key_g2 = if self.back_end == BackEnd::Bn254G1 { Some(self.key_g2(signers)?) } else { None };
        let hints = match self.back_end {
            BackEnd::Bls12381G2 => Vec::new(),
            _ => digests.iter().map(CounterHint::new).collect(),
        };
        let pages = way.key_pages.iter().chain(&way.weight_pages);
        let access_list: Vec<_> = pages.map(|nonce| page_address(self.contract, *nonce)).collect();
        let plan = Plan {
            back_end: self.back_end,
            signers: signers.clone(),
            way,
            key,
            key_g2,
            weight: self.weight(signers),
            sum: KeySum::Unchanged,
            digests,
            hints,
            head: self.head(),
            newest: self.newest(),
            access_list: Vec::new(),
            base,
        };
        // The first of those that cost least in all, the least price of calldata included.
        let listed = [Vec::new(), access_list];
        let plans = sums.into_iter().flat_map(|sum| {
            let plan = &plan;
            listed.iter().map(move |listed| plan.with(sum.clone(), listed.clone()))
        });
        let mut cheapest: Option<(u64, Plan)> = None;
        for plan in plans {
            let total = plan.total(measured)?;
            if cheapest.as_ref().is_none_or(|(least, _)| total < *least) {
                cheapest = Some((total, plan));
            }
        }
        Ok(cheapest.expect("a sum is shown in one way at least").1)
    }

    /// What these members weigh in the epoch.
    pub fn weight(&self, signers: &Bitmap) -> u128 {
        signers.iter().map(|index| u128::from(self.weights.get(index).copied().unwrap_or(0))).sum()
    }

    /// What storing a plan's result costs: which slots are read and which hold something. The contract's ski rental is
    /// its own affair, so for that it is what not storing costs.
    pub fn storing(&self, plan: &Plan, store: Store) -> Storing {
        match store {
            Store::Nowhere | Store::Rental => Storing::Nowhere,
            Store::Slot(NEWEST) => Storing::AsNewest,
            Store::Slot(slot) if plan.base_slot() == Some(slot) => Storing::OverTheBase,
            Store::Slot(slot) if self.bases.iter().any(|base| base.slot == slot) => Storing::OverAnother,
            Store::Slot(_) => Storing::New,
        }
    }

    /// Follows a settlement: the results are settled, and the quorum stands where it was stored. By [`Store::Rental`] it
    /// was not; where it was, [`settled_and_rented`](Self::settled_and_rented) follows.
    pub fn settled(&mut self, plan: &Plan, store: Store) {
        self.nonce += plan.digests.len() as u64;
        match store {
            Store::Nowhere => {}
            Store::Rental => self.paid += plan.way.changed.len() as u32,
            Store::Slot(slot) => self.store(plan, slot),
        }
    }

    /// Follows a settlement with [`Store::Rental`] that stored the quorum, in the first slot after the pinned ones.
    pub fn settled_and_rented(&mut self, plan: &Plan, slot: u16) {
        self.nonce += plan.digests.len() as u64;
        self.paid = 0;
        self.store(plan, slot);
    }

    fn store(&mut self, plan: &Plan, slot: u16) {
        self.bases.retain(|base| base.slot != slot);
        self.bases.push(plan.result(slot));
        self.bases.sort_by_key(|base| base.slot);
    }

    /// The quorum's key as the contract makes it from a base's, and on back end a how it can be shown: by slopes first.
    fn key(
        &self,
        base: Option<&Base>,
        signers: &Bitmap,
        changed: &Bitmap,
    ) -> Result<(Vec<u8>, Vec<KeySum>), PlanError> {
        let change = |index| if signers.contains(index) { Change::Added } else { Change::Removed };
        match self.back_end {
            BackEnd::Bn254G2 => {
                let start = self.start::<bn254::G2>(base, 0..128)?.map(|key| key.point());
                let change = |index| Ok((self.member::<bn254::G2>(index, 0..128)?.point(), change(index)));
                let changes: Vec<_> = changed.iter().map(change).collect::<Result<_, PlanError>>()?;
                let mut sum = hint::Accumulator::new(start);
                changes.iter().for_each(|(key, change)| sum.change(*key, *change));
                let inverse_of_z = sum.inverse_of_z().ok_or(PlanError::Identity)?;
                let sums = if changes.is_empty() {
                    vec![KeySum::Unchanged]
                } else {
                    let slopes = hint::slopes(start, changes).map(KeySum::Slopes);
                    slopes.into_iter().chain([KeySum::Jacobian { inverse_of_z }]).collect()
                };
                Ok((bn254::encode_g2(&sum.sum()).to_vec(), sums))
            }
            BackEnd::Bn254G1 => {
                let start = self.start::<bn254::G1>(base, 0..64)?;
                let (mut added, mut removed) = (Vec::new(), Vec::new());
                for index in changed.iter() {
                    let to = if change(index) == Change::Added { &mut added } else { &mut removed };
                    to.push(self.member(index, 0..64)?);
                }
                let key = bn254::sum(start, added, removed).ok_or(PlanError::Identity)?;
                Ok((key.to_bytes(), vec![KeySum::Unchanged]))
            }
            BackEnd::Bls12381G2 => {
                let mut keys: Vec<G2> = self.bls_start(base)?.into_iter().collect();
                for index in changed.iter() {
                    let key = self.bls_member(index)?;
                    keys.push(if change(index) == Change::Added { key } else { key.negate() });
                }
                let sum = Backend::auto().sum(&keys);
                if sum.is_identity() {
                    return Err(PlanError::Identity);
                }
                Ok((bls12381::encode_key(&sum).to_vec(), vec![KeySum::Unchanged]))
            }
        }
    }

    fn key_g2(&self, signers: &Bitmap) -> Result<[u8; 128], PlanError> {
        let keys: Result<Vec<_>, _> = signers.iter().map(|index| self.member::<bn254::G2>(index, 64..192)).collect();
        let key = bn254::aggregate(keys?).ok_or(PlanError::Identity)?;
        Ok(bn254::encode_g2(&key.point()))
    }

    /// A base's key, which must be the sum of its members' keys: a file that is wrong in one place is found out here and
    /// not by a transaction that fails.
    fn start<G: bn254::Group>(
        &self,
        base: Option<&Base>,
        part: Range<usize>,
    ) -> Result<Option<PublicKey<G>>, PlanError> {
        let Some(base) = base else { return Ok(None) };
        let key = PublicKey::from_bytes(&base.key).map_err(|why| base_key(base, why.to_string()))?;
        let members = base.signers.iter().map(|index| self.member::<G>(index, part.clone()));
        let sum = bn254::aggregate(members.collect::<Result<Vec<_>, _>>()?);
        if sum == Some(key) { Ok(Some(key)) } else { Err(base_key(base, NOT_THE_SUM.into())) }
    }

    /// [`start`](Self::start) on BLS12-381.
    fn bls_start(&self, base: Option<&Base>) -> Result<Option<G2>, PlanError> {
        let Some(base) = base else { return Ok(None) };
        let key = bls12381::decode_key(&base.key).map_err(|why| base_key(base, why.to_string()))?;
        let members: Result<Vec<_>, _> = base.signers.iter().map(|index| self.bls_member(index)).collect();
        let sum = Backend::auto().sum(&members?);
        if sum == key { Ok(Some(key)) } else { Err(base_key(base, NOT_THE_SUM.into())) }
    }

    fn member<G: bn254::Group>(&self, index: usize, part: Range<usize>) -> Result<PublicKey<G>, PlanError> {
        let key = PublicKey::from_bytes(&self.keys[index][part]);
        key.map_err(|why| PlanError::Key { index, why: why.to_string() })
    }

    fn bls_member(&self, index: usize) -> Result<G2, PlanError> {
        bls12381::decode_key(&self.keys[index]).map_err(|why| PlanError::Key { index, why: why.to_string() })
    }
}

fn base_key(base: &Base, why: String) -> PlanError {
    PlanError::BaseKey { slot: base.slot, why }
}

const NOT_THE_SUM: &str = "it is not the sum of its members' keys";
