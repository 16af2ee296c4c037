//! A settlement as its aggregator follows it off the chain (keys, pages, weights, bases), and the plan of the next quorum.
//!
//! ```
//! use quorate_bn254::{Bn254SecretKey, Bn254Signature, hash_to_curve::try_and_increment};
//! use quorate_evm::{KeyGroup, MemberSet, Network, QuorumSignature, network::Order};
//! # use quorate_evm::{alloy_primitives::{Address, B256}, gas::Measured};
//! let operators: Vec<_> = (1u8..=4).map(|i| Bn254SecretKey::from_entropy(&[i; 48])).collect();
//! let network = Network {
//!     key_group: KeyGroup::Bn254G2,
//!     chain_id: 1,
//!     contract: Address::repeat_byte(0xaa),
//!     nonce: 0,
//!     table: 0,
//!     epoch: 1,
//!     required: 300,
//!     enough: 3,
//!     paid: 0,
//!     keys: operators.iter().map(|operator| operator.public_key_g2().to_bytes().into()).collect(),
//!     weights: vec![100; 4],
//!     key_pages: vec![],
//!     weight_pages: vec![],
//!     bases: vec![],
//!     unknown_newest: None,
//! };
//! let signers: MemberSet = [0, 1, 3].into_iter().collect();
//! let plan = network.plan(&Measured::default(), &signers, Order::of(&[B256::repeat_byte(7)]))?;
//!
//! // Each operator signs the digest. The aggregator adds the signatures up, verifies the sum, and settles.
//! let message = try_and_increment(&plan.digests[0]).point;
//! let sum: Bn254Signature = signers.iter().map(|i| operators[i].sign(&message)).sum();
//! let signature = QuorumSignature::Bn254(sum.to_bytes());
//! assert!(plan.verify(&signature)?);
//! let calldata = plan.call(&signature)?;
//! # assert!(calldata.len() > 300);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod key;
mod plan;

use alloy_primitives::{Address, B256, Bytes};
use serde::{Deserialize, Serialize};

pub(crate) use self::plan::verify_sum;
pub use self::{
    error::{NetworkError, NetworkJsonError, PlanError, PointError, SignatureError},
    key::{DecodedKeys, QuorumKey, sum_of_keys},
    plan::{Order, QuorumSignature, SettlementPlan},
};
use crate::{
    base::{Base, KeyPage, NEWEST, Pricing, Table, Way, Weigh, WeightPage},
    digest::{Contract, Results},
    gas::{Measured, Storing},
    hint::CounterHint,
    key_group::KeyGroup,
    member_set::MemberSet,
    quorum::{EncodeQuorumError, KeySum, NONE, RENTAL, Store, WEIGHT_LIMIT},
    state::{self, Head, NEVER},
};
use key::MemberKeys;

/// A settlement and its members, as their aggregator knows them. As JSON it is the input of `quorate evm plan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The curve and the group of the keys.
    pub key_group: KeyGroup,
    /// The chain's id (EIP-155).
    pub chain_id: u64,
    /// The contract's address.
    pub contract: Address,
    /// The number of the next result, below 2^48.
    pub nonce: u64,
    /// The number of the key table, which counts from 0.
    #[serde(default)]
    pub table: u16,
    /// The current epoch, from 1 on. 0 is possible only if `enough` is [`NEVER`].
    pub epoch: u32,
    /// The weight that a quorum needs in the epoch, below 2^88. 0 is possible only if `epoch` is 0.
    #[serde(with = "crate::base::amount")]
    pub required: u128,
    /// Any `enough` of the members in `weights` weigh at least `required` together. [`NEVER`] if the contract does not count
    /// members, as `Verifier` does not.
    pub enough: u32,
    /// The number of members that changed since ski rental last stored a base.
    #[serde(default)]
    pub paid: u32,
    /// The members' keys by index, [`KeyGroup::member_bytes`] bytes each.
    pub keys: Vec<Bytes>,
    /// The members' weights in the epoch by index. Members after the last weight weigh nothing. Weights after the last key are those of
    /// keys that are registered later; the contract takes them, and no quorum has them before.
    pub weights: Vec<u64>,
    /// The pages of this table's keys, in any order. They may overlap. Keys in no page are passed in calldata.
    pub key_pages: Vec<KeyPage>,
    /// The pages of the epoch's weights. A part without a page is passed in calldata.
    pub weight_pages: Vec<WeightPage>,
    /// The bases to which the contract's slots commit. Slot 0 is the newest.
    pub bases: Vec<Base>,
    /// The newest base's commitment, if the base itself is not known. `bases` has none in slot 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_newest: Option<B256>,
}

/// What the price of a way leaves out, at most: one result is settled from the newest base by a shorter call, an access
/// list may not be worth its price, and zero bytes of calldata are cheaper than others.
const LEFT_OUT: u64 = 2_500;

impl Network {
    /// The network of a settlement that was just deployed: it has no epoch, and no members, pages or bases.
    pub fn deployed(key_group: KeyGroup, chain_id: u64, contract: Address) -> Self {
        Self {
            key_group,
            chain_id,
            contract,
            nonce: 0,
            table: 0,
            epoch: 0,
            required: 0,
            enough: NEVER,
            paid: 0,
            keys: Vec::new(),
            weights: Vec::new(),
            key_pages: Vec::new(),
            weight_pages: Vec::new(),
            bases: Vec::new(),
            unknown_newest: None,
        }
    }

    /// Reads the JSON of `quorate evm plan`, and checks its form.
    ///
    /// # Errors
    /// [`NetworkJsonError`].
    pub fn from_json(json: &[u8]) -> Result<Self, NetworkJsonError> {
        if json.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
            return Err(NetworkJsonError::NoObject);
        }
        let network: Self = serde_json::from_slice(json)?;
        network.check()?;
        Ok(network)
    }

    /// Checks the form: lengths, indices, pages, slots. [`plan`](Self::plan) checks the points that it uses.
    ///
    /// # Errors
    /// [`NetworkError`], which names the field.
    pub fn check(&self) -> Result<(), NetworkError> {
        check_lengths(&self.keys, self.key_group.member_bytes())?;
        let keys = self.keys.len();
        self.head().encode()?;
        if self.epoch == 0 && self.enough != NEVER {
            return Err(NetworkError::NoEpoch);
        }
        if self.epoch != 0 && self.required == 0 {
            return Err(NetworkError::NothingRequired);
        }
        let (_, least) = state::enough(&self.weights, self.required);
        if self.enough < least {
            return Err(NetworkError::Enough { enough: self.enough, least });
        }
        for (page, KeyPage { first, keys: held, .. }) in self.key_pages.iter().enumerate() {
            if *held == 0 || *first >= keys || keys - first < *held {
                return Err(NetworkError::KeyPage { page, first: *first, held: *held, keys });
            }
        }
        for (place, base) in self.bases.iter().enumerate() {
            let (slot, expected, found) = (base.slot, self.key_group.key_bytes(), base.key.len());
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
            if slot == NEWEST && self.unknown_newest.is_some() {
                return Err(NetworkError::NewestTwice { place });
            }
        }
        Ok(())
    }

    /// The head of the settlement.
    pub fn head(&self) -> Head {
        Head {
            nonce: self.nonce,
            table: self.table,
            epoch: self.epoch,
            members: self.weights.len().try_into().unwrap_or(u32::MAX),
            // The contract's head has no member and no number of members then.
            enough: if self.epoch == 0 { 0 } else { self.enough },
            required: self.required,
            paid: self.paid,
        }
    }

    /// The newest base's commitment, or zero if there is none: a part of the state.
    pub fn newest(&self) -> B256 {
        let newest = self.bases.iter().find(|base| base.slot == NEWEST);
        newest.map(Base::commitment).or(self.unknown_newest).unwrap_or_default()
    }

    /// The state that this network implies. Compare it with the contract's `state()`.
    ///
    /// # Errors
    /// [`NetworkError::Head`].
    pub fn state(&self) -> Result<B256, NetworkError> {
        Ok(state::state(self.head().encode()?, self.newest()))
    }

    /// The digest of the next results: what the members sign.
    ///
    /// # Errors
    /// [`EncodeQuorumError::ReservedSlot`].
    pub fn digest(&self, order: &Order) -> Result<[u8; 32], EncodeQuorumError> {
        let settlement = Contract { chain_id: self.chain_id, address: self.contract };
        let Order { ref results, deadline, store, weigh: _ } = *order;
        let (epoch, nonce, store) = (self.epoch, self.nonce, store.number()?);
        Ok(Results { settlement, epoch, nonce, deadline, store, results }.digest())
    }

    /// The ways to a quorum from every base and from the empty quorum, the cheapest first.
    ///
    /// # Errors
    /// [`PlanError`]: a fault of the form, no signers, signers who weigh too little, members without a key.
    pub fn ways(&self, measured: &Measured, signers: &MemberSet, weigh: Weigh) -> Result<Vec<Way>, PlanError> {
        self.check()?;
        let last = signers.iter().last().ok_or(PlanError::Empty)?;
        if last >= self.keys.len() {
            return Err(PlanError::NoSuchMember { index: last, members: self.keys.len() });
        }
        let weight = self.weight(signers);
        if !self.weighs_enough(weight) {
            return Err(PlanError::TooLight { weight, required: self.least_weight() });
        }
        let table = self.sources();
        let pricing = Pricing { key_group: self.key_group, measured, table: &table, head: self.head(), weigh };
        Ok(pricing.ways(&self.bases, signers))
    }

    /// The pages of keys, and the weights with their pages.
    pub fn sources(&self) -> Table {
        let Self { key_pages, weight_pages, weights, .. } = self;
        Table { key_pages: key_pages.clone(), weight_pages: weight_pages.clone(), weights: weights.clone() }
    }

    /// The cheapest way to settle results that these members will sign.
    ///
    /// Prices the ways from all bases, and then the whole transactions of those that cost nearly as little as the cheapest.
    /// For each of these it checks and adds the keys of the base's members and of those that change. It also checks the
    /// newest base, whose commitment is a part of the state that the call passes.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plan(&self, measured: &Measured, signers: &MemberSet, order: Order) -> Result<SettlementPlan, PlanError> {
        let digest = self.digest(&order)?;
        self.cheapest(measured, signers, order, &[digest])
    }

    /// [`plan`](Self::plan) for a `TaskNetwork`, which computes its digests in another way than `Settlement` does. The plan
    /// has no results, so it makes no call of a settlement. It takes weights from pages, since a network's verifier has no
    /// hashes of weights. The access list names pages that `contract` created; if another contract created them, do not
    /// use it.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plan_digests(
        &self,
        measured: &Measured,
        signers: &MemberSet,
        digests: &[[u8; 32]],
        store: Store,
    ) -> Result<SettlementPlan, PlanError> {
        // As if passing weights cost more than any transaction may.
        let measured = Measured { pass_weights: u32::MAX.into(), ..measured.clone() };
        self.cheapest(&measured, signers, Order::of(&[]).stored(store), digests)
    }

    fn cheapest(
        &self,
        measured: &Measured,
        signers: &MemberSet,
        order: Order,
        digests: &[[u8; 32]],
    ) -> Result<SettlementPlan, PlanError> {
        let ways = self.ways(measured, signers, order.weigh)?;
        self.member_keys().check(self.bases.iter().find(|base| base.slot == NEWEST))?;
        // A way for which the call has no room is skipped. If there is no other, the cheapest tells why.
        let fits = |way: &Way| way.check().is_ok();
        let first = ways.iter().find(|way| fits(way)).unwrap_or(&ways[0]);
        first.check()?;
        let nearly_cheapest = first.gas + LEFT_OUT;
        // The cheapest plan, with the least price of calldata; the first one of several.
        let mut cheapest: Option<(u64, SettlementPlan)> = None;
        for way in ways.into_iter().take_while(|way| way.gas <= nearly_cheapest).filter(fits) {
            for plan in self.plans(signers, &order, digests, way)? {
                let total = plan.total(measured)?;
                if cheapest.as_ref().is_none_or(|(least, _)| total < *least) {
                    cheapest = Some((total, plan));
                }
            }
        }
        Ok(cheapest.expect("there is at least one way to compute a sum").1)
    }

    fn member_keys(&self) -> MemberKeys<'_> {
        MemberKeys { key_group: self.key_group, keys: &self.keys }
    }

    /// The plans that go this way: with each way to compute the sum, with and without an access list.
    fn plans(
        &self,
        signers: &MemberSet,
        order: &Order,
        digests: &[[u8; 32]],
        way: Way,
    ) -> Result<impl Iterator<Item = SettlementPlan>, PlanError> {
        let base = way.base.map(|place| self.bases[place].clone());
        let (key, sums) = self.member_keys().quorum(base.as_ref(), signers, &way.changed)?;
        let hints = match self.key_group {
            KeyGroup::Bn254G2 | KeyGroup::Bn254G1 => digests.iter().map(CounterHint::new).collect(),
            KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => Vec::new(),
        };
        let access_list: Vec<_> = way.pages().map(|nonce| self.contract.create(u64::from(nonce))).collect();
        let keys = way.keys.passed.iter().map(|index| self.keys[index].slice(..self.key_group.key_bytes())).collect();
        let plan = SettlementPlan {
            key_group: self.key_group,
            signers: signers.clone(),
            way,
            key,
            weight: self.weight(signers),
            sum: KeySum::Unchanged,
            keys,
            order: order.clone(),
            digests: digests.to_vec(),
            hints,
            head: self.head(),
            newest: self.newest(),
            access_list: Vec::new(),
            base,
        };
        let listed = [Vec::new(), access_list];
        Ok(sums.into_iter().flat_map(move |sum| listed.clone().map(|listed| plan.with(sum.clone(), listed))))
    }

    /// The weight of these members in the epoch.
    pub fn weight(&self, signers: &MemberSet) -> u128 {
        signers.iter().map(|index| u128::from(self.weights.get(index).copied().unwrap_or(0))).sum()
    }

    /// Whether members who weigh so much are a quorum: [`Head::weighs_enough`].
    pub fn weighs_enough(&self, weight: u128) -> bool {
        self.head().weighs_enough(weight)
    }

    /// What a quorum weighs at least: [`Head::least_weight`].
    pub fn least_weight(&self) -> u128 {
        self.head().least_weight()
    }

    /// How storing the plan's quorum is priced, by whether the slot is read and holds a base. With [`Store::Rental`] the
    /// contract decides; the answer is then that nothing is stored.
    pub fn storing(&self, plan: &SettlementPlan) -> Storing {
        match plan.order.store {
            Store::Nowhere | Store::Rental => Storing::Nowhere,
            Store::Slot(NEWEST) => Storing::AsNewest,
            Store::Slot(slot) if plan.base_slot() == Some(slot) => Storing::OverTheBase,
            Store::Slot(slot) if self.bases.iter().any(|base| base.slot == slot) => Storing::OverAnother,
            Store::Slot(_) => Storing::New,
        }
    }

    /// Updates the network after a settlement: the nonce, and the base if the quorum was stored. With [`Store::Rental`] it
    /// assumes that the contract did not store; if it did, call [`settled_and_rented`](Self::settled_and_rented) instead.
    pub fn settled(&mut self, plan: &SettlementPlan) {
        self.nonce += plan.order.results.len() as u64;
        match plan.order.store {
            Store::Nowhere => {}
            Store::Rental => self.paid += plan.way.changed.len() as u32,
            Store::Slot(slot) => self.store(plan, slot),
        }
    }

    /// Updates the network after a settlement with [`Store::Rental`] that stored the quorum in `slot`, the first that is not
    /// pinned.
    pub fn settled_and_rented(&mut self, plan: &SettlementPlan, slot: u16) {
        self.nonce += plan.order.results.len() as u64;
        self.paid = 0;
        self.store(plan, slot);
    }

    fn store(&mut self, plan: &SettlementPlan, slot: u16) {
        self.bases.retain(|base| base.slot != slot);
        if slot == NEWEST {
            self.unknown_newest = None;
        }
        self.bases.push(plan.result(slot));
        self.bases.sort_by_key(|base| base.slot);
    }
}

/// Refuses a member's key that has another length: what adds keys up cuts each at fixed places.
pub(crate) fn check_lengths(keys: &[Bytes], expected: usize) -> Result<(), NetworkError> {
    match keys.iter().enumerate().find(|(_, key)| key.len() != expected) {
        Some((index, key)) => Err(NetworkError::KeyLength { index, expected, found: key.len() }),
        None => Ok(()),
    }
}
