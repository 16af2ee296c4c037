//! Quorums that a contract settles: the digests that operators sign, their signatures added up, plans and calls. JavaScript checks
//! the lengths of what it passes; several results or signatures stand one after another in one array.

use std::sync::Arc;

use napi::{
    Env,
    bindgen_prelude::{BigInt, Object, Uint8Array, Uint8ArraySlice},
};
use napi_derive::napi;
use quorate::Options;
use quorate_c::{CallFailure, Code, Ruled, random};
use quorate_evm::{
    Collection, MemberSet, Network, NotAdded, Order, PlanError, QuorumSignature, SettlementPlan, Task,
    alloy_primitives::{Address, B256},
    base::Weigh,
    digest::{Contract, KeyPossession, Results},
    gas::Measured,
    hub::{self, Settling},
    posting::{Moment, PostingPlace, post_call},
    quorum::Store,
    task::SnapshotId,
};

use crate::{
    fault::{Result, called, guarded},
    job::job,
    keys::bytes,
    verdicts::NativeVerdicts,
};

/// A contract on a chain.
#[napi(object)]
pub struct NativeContract {
    /// The chain's id.
    pub chain_id: BigInt,
    /// 20 bytes.
    pub address: Uint8Array,
}

/// What a quorum is asked to settle.
#[napi(object)]
pub struct NativeOrder {
    /// 32 bytes each.
    pub results: Uint8Array,
    /// Seconds of Unix time.
    pub deadline: BigInt,
    /// The number in the packed quorum.
    pub store: u32,
    /// Whether weights are read also if the signers are counted.
    pub weigh: bool,
}

/// A task with a result and a verdict.
#[napi(object)]
pub struct NativeTask {
    /// The epoch in which it settles.
    pub epoch: BigInt,
    /// 20 bytes.
    pub snapshot: Uint8Array,
    /// 32 bytes.
    pub id: Uint8Array,
    /// The index of the performer's key.
    pub performer: BigInt,
    /// 32 bytes.
    pub result: Uint8Array,
    /// The verdict.
    pub approved: bool,
}

/// What a settlement's operators sign.
#[napi]
pub fn results_digest<'env>(
    env: &'env Env,
    settlement: NativeContract,
    epoch: u32,
    nonce: BigInt,
    order: NativeOrder,
) -> Result<Uint8ArraySlice<'env>> {
    bytes(env, || {
        let (settlement, nonce, deadline) = (contract(&settlement)?, number(&nonce)?, number(&order.deadline)?);
        let (store, results) = (slot(order.store)?, &words(&order.results)?[..]);
        Ok(Results { settlement, epoch, nonce, deadline, store, results }.digest().to_vec())
    })
}

/// What a network's operators sign.
#[napi]
pub fn task_digest<'env>(env: &'env Env, network: NativeContract, task: NativeTask) -> Result<Uint8ArraySlice<'env>> {
    bytes(env, || {
        let task = Task {
            epoch: number(&task.epoch)?,
            snapshot: fixed::<20, SnapshotId>(&task.snapshot)?,
            id: fixed::<32, B256>(&task.id)?,
            performer: number(&task.performer)?,
            result: fixed::<32, B256>(&task.result)?,
            approved: task.approved,
        };
        Ok(task.digest(contract(&network)?).to_vec())
    })
}

/// What an operator's key signs to be registered.
#[napi]
pub fn possession_digest<'env>(
    env: &'env Env,
    verifier: NativeContract,
    owner: &[u8],
    key: &[u8],
) -> Result<Uint8ArraySlice<'env>> {
    bytes(env, || {
        let (verifier, owner) = (contract(&verifier)?, fixed::<20, Address>(owner)?);
        Ok(KeyPossession { verifier, owner, key }.digest().to_vec())
    })
}

/// A settlement as its aggregator knows it.
#[napi]
pub struct NativeNetwork(Arc<Network>);

/// What JavaScript reads of a network.
#[napi(object)]
pub struct NativeNetworkFacts {
    /// The name of the curve and the group.
    pub key_group: String,
    /// The chain's id.
    pub chain_id: BigInt,
    /// In hexadecimal digits.
    pub contract: String,
    /// The running epoch.
    pub epoch: u32,
    /// The number of the next result, below 2^48.
    pub nonce: i64,
    /// How many keys there are.
    pub members: u32,
    /// The weight that a quorum needs.
    pub required: BigInt,
    /// In hexadecimal digits.
    pub state: String,
    /// How many bytes a signature has.
    pub signature_length: u32,
}

/// Signatures over one digest, added up.
#[napi(object)]
pub struct NativeCollected {
    /// One for each signature.
    pub verdicts: NativeVerdicts,
    /// Whose signatures are true.
    pub signers: Vec<u32>,
    /// What they weigh.
    pub weight: BigInt,
    /// Whether that is enough.
    pub heavy_enough: bool,
    /// In hexadecimal digits, if there is one.
    pub signature: Option<String>,
}

#[napi]
impl NativeNetwork {
    /// Reads the JSON of `quorate evm plan`.
    #[napi(constructor)]
    pub fn new(text: String) -> Result<Self> {
        called(|| {
            let network = Network::from_json(text.as_bytes()).map_err(encoding)?;
            Ok(Self(Arc::new(network)))
        })
    }

    /// What is in it.
    #[napi]
    pub fn facts(&self) -> Result<NativeNetworkFacts> {
        let network = &self.0;
        called(|| {
            Ok(NativeNetworkFacts {
                key_group: network.key_group.name().to_owned(),
                chain_id: network.chain_id.into(),
                contract: network.contract.to_string(),
                epoch: network.epoch,
                nonce: network.nonce as i64,
                members: network.keys.len() as u32,
                required: network.required.into(),
                state: network.state().map_err(encoding)?.to_string(),
                signature_length: network.key_group.signature_bytes() as u32,
            })
        })
    }

    /// The index of a member's key.
    #[napi]
    pub fn member(&self, key: &[u8]) -> Option<u32> {
        self.0.keys.iter().position(|member| member[..] == *key).map(|index| index as u32)
    }

    /// What the members sign for the next results.
    #[napi]
    pub fn digest<'env>(&self, env: &'env Env, order: NativeOrder) -> Result<Uint8ArraySlice<'env>> {
        bytes(env, || Ok(self.0.digest(&order_of(&order)?).map_err(misuse)?.to_vec()))
    }

    /// Verifies members' signatures over a digest, and adds the true ones, on another thread.
    #[napi(ts_return_type = "Promise<NativeCollected>")]
    pub fn collect<'env>(
        &self,
        env: &'env Env,
        digest: &[u8],
        members: Vec<u32>,
        signatures: &[u8],
    ) -> Result<Object<'env>> {
        let (network, digest, signatures) = (self.0.clone(), digest.to_vec(), signatures.to_vec());
        let bytes = digest.len() + size_of_val(&*members) + signatures.len();
        job(env, bytes, move || collected(&network, &digest, &members, &signatures))
    }

    /// The cheapest way to settle, on another thread.
    #[napi(ts_return_type = "Promise<NativePlan>")]
    pub fn plan<'env>(&self, env: &'env Env, signers: Vec<u32>, order: NativeOrder) -> Result<Object<'env>> {
        let network = self.0.clone();
        let bytes = size_of_val(&*signers) + order.results.len();
        let order = guarded(|| order_of(&order));
        job(env, bytes, move || {
            let order = order?;
            let members = network.keys.len();
            let signers = signers.into_iter().map(|index| index as usize);
            // Before memory is taken for a bitmap that reaches so far.
            if let Some(index) = signers.clone().find(|index| *index >= members) {
                return Err(misuse(PlanError::NoSuchMember { index, members }));
            }
            let signers: MemberSet = signers.collect();
            let plan = network.plan(&Measured::default(), &signers, order).map_err(unplanned)?;
            Ok(NativePlan(Arc::new((network, plan))))
        })
    }
}

/// How a quorum settles.
#[napi]
pub struct NativePlan(Arc<(Arc<Network>, SettlementPlan)>);

/// What JavaScript reads of a plan. Bytes are hexadecimal digits.
#[napi(object)]
pub struct NativePlanFacts {
    /// What every signer signs.
    pub digest: String,
    /// The contract's state in which the call settles.
    pub state: String,
    /// The base's slot.
    pub base: Option<u32>,
    /// Who signs.
    pub signers: Vec<u32>,
    /// Who signs and is not in the base.
    pub added: Vec<u32>,
    /// Who is in the base and does not sign.
    pub removed: Vec<u32>,
    /// What the signers weigh.
    pub weight: BigInt,
    /// The gas of the transaction, as it is estimated.
    pub gas: i64,
}

/// A call of a contract. Bytes are hexadecimal digits.
#[napi(object)]
pub struct NativeCall {
    /// Whom to call.
    pub to: String,
    /// The calldata.
    pub data: String,
    /// The addresses of its access list.
    pub access_list: Vec<String>,
}

/// A call that a hub can make, and where.
#[napi(object)]
pub struct NativeSettling {
    /// 20 bytes.
    pub settlement: Uint8Array,
    /// The call of `settleByHub`.
    pub call: Uint8Array,
    /// The signature.
    pub proof: Uint8Array,
    /// The addresses of the plan's access list.
    pub pages: Vec<String>,
}

#[napi]
impl NativePlan {
    /// What is in it.
    #[napi]
    pub fn facts(&self) -> Result<NativePlanFacts> {
        let (network, plan) = &*self.0;
        let members = |set: &MemberSet| set.iter().map(|index| index as u32).collect();
        called(|| {
            let call = plan.call(&QuorumSignature::stand_in(plan.key_group)).map_err(misuse)?;
            let gas = plan.estimate(&Measured::default(), &call, network.storing(plan)).total();
            Ok(NativePlanFacts {
                digest: const_hex::encode_prefixed(network.digest(&plan.order).map_err(misuse)?),
                state: plan.state().map_err(misuse)?.to_string(),
                base: plan.base_slot().map(u32::from),
                signers: members(&plan.signers),
                added: members(&plan.added()),
                removed: members(&plan.removed()),
                weight: plan.weight.into(),
                gas: gas as i64,
            })
        })
    }

    /// Whether the contract will accept a signature, on another thread.
    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn verify<'env>(&self, env: &'env Env, signature: &[u8]) -> Result<Object<'env>> {
        let (both, signature) = (self.0.clone(), signature.to_vec());
        job(env, signature.len(), move || Ok(verified(&both.1, &signature)?.is_some()))
    }

    /// The call with a signature, on another thread; `null` if the signature is false.
    #[napi(ts_return_type = "Promise<NativeCall | null>")]
    pub fn call<'env>(&self, env: &'env Env, signature: &[u8]) -> Result<Object<'env>> {
        let (both, signature) = (self.0.clone(), signature.to_vec());
        job(env, signature.len(), move || {
            let (network, plan) = &*both;
            let Some(signature) = verified(plan, &signature)? else { return Ok(None) };
            let data = plan.call(&signature).map_err(misuse)?;
            Ok(Some(call_of(network.contract, &data, &plan.access_list)))
        })
    }

    /// The call that posts the results without a proof, on another thread; `null` if the signature is false.
    #[napi(ts_return_type = "Promise<NativeCall | null>")]
    pub fn post<'env>(
        &self,
        env: &'env Env,
        signature: &[u8],
        slot: u32,
        content: &[u8],
        time: BigInt,
        block: BigInt,
    ) -> Result<Object<'env>> {
        let (both, signature, content) = (self.0.clone(), signature.to_vec(), content.to_vec());
        job(env, signature.len() + content.len(), move || {
            let (network, plan) = &*both;
            let Some(signature) = verified(plan, &signature)? else { return Ok(None) };
            let when = Moment { time: number(&time)?, block: number(&block)? };
            let place = PostingPlace { slot: slot.into(), content: fixed::<32, B256>(&content)?, when };
            let data = post_call(plan, &signature, &place).map_err(misuse)?;
            Ok(Some(call_of(network.contract, &data, &[])))
        })
    }

    /// What a hub takes in place of the call, on another thread; `null` if the signature is false.
    #[napi(ts_return_type = "Promise<NativeSettling | null>")]
    pub fn settling<'env>(&self, env: &'env Env, signature: &[u8]) -> Result<Object<'env>> {
        let (both, signature) = (self.0.clone(), signature.to_vec());
        job(env, signature.len(), move || {
            let (network, plan) = &*both;
            let Some(signature) = verified(plan, &signature)? else { return Ok(None) };
            let calldata = plan.call(&signature).map_err(misuse)?;
            let settling = Settling::of_call(plan.key_group, network.contract, &calldata).map_err(misuse)?;
            Ok(Some(NativeSettling {
                settlement: settling.settlement.to_vec().into(),
                call: settling.call.to_vec().into(),
                proof: settling.proof.to_vec().into(),
                pages: plan.access_list.iter().map(Address::to_string).collect(),
            }))
        })
    }
}

/// One call of a hub for all of these.
#[napi]
pub fn hub_call(to: &[u8], all: Vec<NativeSettling>) -> Result<NativeCall> {
    called(|| {
        let settling = all.iter().map(|one| {
            let (call, proof) = (one.call.to_vec().into(), one.proof.to_vec().into());
            Ok(Settling { settlement: fixed::<20, Address>(&one.settlement)?, call, proof })
        });
        let settling = settling.collect::<std::result::Result<Vec<_>, CallFailure>>()?;
        let pages = all.iter().flat_map(|one| &one.pages).map(|page| page.parse().map_err(encoding));
        let pages = pages.collect::<std::result::Result<Vec<Address>, CallFailure>>()?;
        let listed = hub::access_list(&settling, &pages);
        Ok(call_of(fixed::<20, Address>(to)?, &hub::call(&settling), &listed))
    })
}

fn collected(
    network: &Network,
    digest: &[u8],
    members: &[u32],
    signatures: &[u8],
) -> std::result::Result<NativeCollected, CallFailure> {
    let each = signatures.chunks(network.key_group.signature_bytes());
    let read = members.iter().zip(each).map(|(index, bytes)| {
        let signature = QuorumSignature::from_bytes(network.key_group, bytes).map_err(encoding)?;
        Ok((*index as usize, signature))
    });
    let read = read.collect::<std::result::Result<Vec<_>, CallFailure>>()?;
    let mut collection = Collection::new(network, fixed::<32, B256>(digest)?.0);
    let answers = collection.add(&read, &Options::default(), &mut random()?);
    let ruled = |answer: &std::result::Result<(), NotAdded>| match answer {
        Ok(()) => Ruled::Valid,
        Err(NotAdded::Identity | NotAdded::Mismatch) => Ruled::Mismatch,
        Err(NotAdded::Malformed(_)) => Ruled::Encoding,
        Err(NotAdded::NoSuchMember { .. } | NotAdded::Twice(_)) => Ruled::Rule,
        // Such as `NotAdded::Key`: the file's key of the member does not decode, so nothing says whether the signature is true.
        Err(_) => Ruled::Undecided,
    };
    let reasons = answers.iter().filter_map(|answer| answer.as_ref().err().map(ToString::to_string)).collect();
    let signature = collection.aggregate().map_err(unplanned)?;
    Ok(NativeCollected {
        verdicts: NativeVerdicts::ruled(answers.iter().map(ruled), reasons),
        signers: collection.signers().iter().map(|index| index as u32).collect(),
        weight: collection.weight().into(),
        heavy_enough: collection.is_heavy_enough(),
        signature: signature.map(|signature| const_hex::encode_prefixed(signature.as_bytes())),
    })
}

/// A signature that the contract will accept; `None` if it will not.
fn verified(plan: &SettlementPlan, signature: &[u8]) -> std::result::Result<Option<QuorumSignature>, CallFailure> {
    let signature = QuorumSignature::from_bytes(plan.key_group, signature).map_err(encoding)?;
    Ok(plan.verify(&signature).map_err(encoding)?.then_some(signature))
}

fn call_of(to: Address, data: &[u8], access_list: &[Address]) -> NativeCall {
    let access_list = access_list.iter().map(Address::to_string).collect();
    NativeCall { to: to.to_string(), data: const_hex::encode_prefixed(data), access_list }
}

fn order_of(order: &NativeOrder) -> std::result::Result<Order, CallFailure> {
    let results = words(&order.results)?;
    let weigh = if order.weigh { Weigh::Always } else { Weigh::IfNeeded };
    Ok(Order { results, deadline: number(&order.deadline)?, store: Store::of_number(slot(order.store)?), weigh })
}

fn contract(contract: &NativeContract) -> std::result::Result<Contract, CallFailure> {
    Ok(Contract { chain_id: number(&contract.chain_id)?, address: fixed::<20, Address>(&contract.address)? })
}

fn words(bytes: &[u8]) -> std::result::Result<Vec<B256>, CallFailure> {
    if bytes.is_empty() {
        return Err(CallFailure::misuse("results: found none, expected at least one"));
    }
    bytes.chunks(32).map(fixed::<32, B256>).collect()
}

fn fixed<const N: usize, T: From<[u8; N]>>(bytes: &[u8]) -> std::result::Result<T, CallFailure> {
    let array: std::result::Result<[u8; N], _> = bytes.try_into();
    Ok(array.map_err(|_| encoding(format!("found {} bytes, expected {N}", bytes.len())))?.into())
}

fn number(big: &BigInt) -> std::result::Result<u64, CallFailure> {
    match big.get_u64() {
        (false, number, true) => Ok(number),
        _ => Err(CallFailure::misuse("a number is not of 64 bits")),
    }
}

fn slot(number: u32) -> std::result::Result<u16, CallFailure> {
    u16::try_from(number).map_err(|_| CallFailure::misuse(format!("store: {number} has more than 16 bits")))
}

fn encoding(error: impl ToString) -> CallFailure {
    CallFailure::new(Code::Encoding, error.to_string())
}

fn misuse(error: impl ToString) -> CallFailure {
    CallFailure::misuse(error.to_string())
}

/// A network whose keys or bases are no points is one that cannot be read; the rest is about the quorum.
fn unplanned(error: PlanError) -> CallFailure {
    match error {
        PlanError::Key { .. } | PlanError::BaseKey { .. } | PlanError::BaseSum { .. } => encoding(error),
        _ => misuse(error),
    }
}
