//! Settlements and reports of conflicts, verified before anybody pays for them.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;

use super::{change::EpochSnapshot, terms::ContractTerms};
use crate::{
    contract::{
        TaskNetwork,
        task_network::ITaskNetwork::{Attestation, Task as AbiTask},
    },
    gas::{Calldata, Measured, Rejection, RewardRecord, Storing, Submission},
    hint::CounterHint,
    key_group::KeyGroup,
    member_set::MemberSet,
    network::{Network, PlanError, PointError, QuorumSignature, SignatureError},
    quorum::{EncodeQuorumError, Store},
    task::Task,
};

/// A call of a network, or of its token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedCall {
    /// The contract.
    pub to: Address,
    /// The calldata.
    pub calldata: Bytes,
    /// The accounts of the access list (EIP-2930), without storage keys.
    pub access_list: Vec<Address>,
    /// The gas of the whole transaction, as estimated without a node. `None` for calls that have no such estimate.
    pub gas: Option<u64>,
}

/// Why a call cannot be planned. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The follower has no snapshot of the epoch.
    #[error("epoch {epoch} has no snapshot that can settle")]
    NoSnapshot {
        /// The epoch.
        epoch: u64,
    },
    /// The task is one of another epoch or snapshot.
    #[error("the task's {what} is not that of the snapshot")]
    OtherTask {
        /// What differs.
        what: &'static str,
    },
    /// The quorum cannot be planned: its signers weigh too little, or a key is missing.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The quorum has no packed bytes.
    #[error(transparent)]
    Encode(#[from] EncodeQuorumError),
    /// The bytes are not a signature.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// The signature is not one of these signers over this task.
    #[error("the signature is not one of these signers over this task")]
    FalseSignature,
    /// The two tasks do not conflict, so nobody is slashed for them.
    #[error("the two tasks do not conflict")]
    NotConflicting,
    /// A key does not have the length of the network's keys.
    #[error("the key has {found} bytes, expected {expected}")]
    KeyLength {
        /// The number of bytes of the network's keys.
        expected: usize,
        /// The number of bytes that it has.
        found: usize,
    },
    /// The bytes are not a key.
    #[error("the key: {0}")]
    Key(PointError),
}

/// A task that one key signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedTask {
    /// The task.
    pub task: Task,
    /// The key, as [`Member::key`](super::Member::key) has it.
    pub key: Bytes,
    /// The signature: `KeyGroup::signature_bytes` bytes.
    pub signature: Bytes,
}

/// What a settlement writes besides the task and the base.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writes {
    pub(super) record: RewardRecord,
    pub(super) pays: bool,
    /// Whether the performer was fined in the epoch, which happens once.
    pub(super) fined: bool,
}

/// The call that settles a task, by the cheapest way from a base that `network` has ([`NetworkView::network`]).
///
/// The aggregate signature is verified: two Miller loops and one final exponentiation. The estimate of the gas takes it
/// that the pool pays, that the signers submit for the first time in the epoch, and that the performer of a rejected task
/// is fined; [`NetworkView::settle`] knows better.
///
/// [`NetworkView::network`]: super::NetworkView::network
/// [`NetworkView::settle`]: super::NetworkView::settle
///
/// # Errors
/// [`CallError`].
pub fn settle(
    network: &Network,
    terms: &ContractTerms,
    snapshot: &EpochSnapshot,
    task: &Task,
    signers: &MemberSet,
    signature: &QuorumSignature,
    store: Store,
) -> Result<PlannedCall, CallError> {
    let record = if terms.attester_reward == 0 { RewardRecord::Untouched } else { RewardRecord::New };
    settle_with(network, terms, snapshot, task, signers, signature, store, Writes { record, pays: true, fined: false })
}

#[allow(clippy::too_many_arguments, reason = "the two callers pass what they have")]
pub(super) fn settle_with(
    network: &Network,
    terms: &ContractTerms,
    snapshot: &EpochSnapshot,
    task: &Task,
    signers: &MemberSet,
    signature: &QuorumSignature,
    store: Store,
    writes: Writes,
) -> Result<PlannedCall, CallError> {
    if task.epoch != snapshot.epoch || u64::from(network.epoch) != snapshot.epoch {
        return Err(CallError::OtherTask { what: "epoch" });
    }
    if task.snapshot != snapshot.id || network.table != snapshot.table {
        return Err(CallError::OtherTask { what: "snapshot" });
    }
    let measured = Measured::default();
    let plan = network.plan_digests(&measured, signers, &[task.digest(terms.domain())], store)?;
    if !plan.verify(signature)? {
        return Err(CallError::FalseSignature);
    }
    let quorum = plan.quorum(signature).encode()?.into();
    let call = TaskNetwork::submitTasksCall { epoch: U256::from(task.epoch), tasks: vec![abi(task)], quorum };
    let calldata = call.abi_encode();
    let rewards = terms.attester_reward != 0 || (task.approved && terms.performer_reward != 0);
    let rejection = Rejection { keys: snapshot.members.len() as u64, fines: u64::from(!writes.fined) };
    let submission = Submission {
        tasks: 1,
        rejected: (!task.approved).then_some(rejection),
        record: writes.record,
        pays: writes.pays && rewards,
    };
    let storing = match store {
        Store::Slot(slot) => storing(network, plan.base_slot(), slot),
        Store::Nowhere | Store::Rental => Storing::Nowhere,
    };
    let of = Calldata::of(&calldata);
    let gas = measured.submit(network.key_group, of, submission, &plan.way.steps, storing).total();
    Ok(PlannedCall { to: terms.contract, calldata: calldata.into(), access_list: plan.access_list, gas: Some(gas) })
}

/// The call that reports an operator who signed two tasks that conflict: in one epoch, any two with one id; in two
/// epochs, two with another result or verdict. Both signatures are verified. Whether one operator owns both keys is the
/// contract's to check, and the caller's to know.
///
/// # Errors
/// [`CallError`].
pub fn report_conflict(
    terms: &ContractTerms,
    first: &SignedTask,
    second: &SignedTask,
) -> Result<PlannedCall, CallError> {
    if !first.task.is_slashed_with(&second.task) {
        return Err(CallError::NotConflicting);
    }
    let attestation = |signed: &SignedTask| -> Result<Attestation, CallError> {
        let proof = proof(terms, signed)?;
        Ok(Attestation { epoch: U256::from(signed.task.epoch), task: abi(&signed.task), proof })
    };
    let call = TaskNetwork::reportConflictCall { first: attestation(first)?, second: attestation(second)? };
    Ok(PlannedCall::of(terms.contract, &call))
}

/// How a verifier's storing in a slot is priced, for a quorum that is planned from the base in slot `from`. Unlike a
/// settlement's, a verifier's ring holds the newest base like the others.
pub(super) fn storing(network: &Network, from: Option<u16>, slot: u16) -> Storing {
    if from == Some(slot) {
        Storing::OverTheBase
    } else if network.bases.iter().any(|base| base.slot == slot) {
        Storing::OverAnother
    } else {
        Storing::New
    }
}

impl PlannedCall {
    /// A call without an estimate.
    pub(super) fn of(to: Address, call: &impl SolCall) -> Self {
        Self { to, calldata: call.abi_encode().into(), access_list: Vec::new(), gas: None }
    }
}

/// The task as the contract's functions take it, which know the epoch and its snapshot.
pub(super) fn abi(task: &Task) -> AbiTask {
    AbiTask { id: task.id, performer: U256::from(task.performer), result: task.result, approved: task.approved }
}

/// The key, the signature and the curve's hints, as `IVerifier.signerOf` takes them, once the signature is verified.
fn proof(terms: &ContractTerms, signed: &SignedTask) -> Result<Bytes, CallError> {
    let (key_group, digest) = (terms.key_group, signed.task.digest(terms.domain()));
    let (expected, found) = (key_group.member_bytes(), signed.key.len());
    if found != expected {
        return Err(CallError::KeyLength { expected, found });
    }
    let signature = QuorumSignature::from_bytes(key_group, &signed.signature)?;
    // A network of this member alone, whose quorum is the member.
    let alone = Network {
        epoch: 1,
        required: 1,
        keys: vec![signed.key.clone()],
        weights: vec![1],
        ..Network::deployed(key_group, terms.chain_id, terms.verifier)
    };
    let plan = alone.plan_digests(&Measured::default(), &MemberSet::full(1), &[digest], Store::Nowhere);
    let plan = plan.map_err(|error| match error {
        PlanError::Key { source, .. } => CallError::Key(source),
        error => error.into(),
    })?;
    if !plan.verify(&signature)? {
        return Err(CallError::FalseSignature);
    }
    let (key, twin) = signed.key.split_at(key_group.key_bytes());
    let mut proof = [key, signature.as_bytes(), twin].concat();
    match key_group {
        KeyGroup::Bn254G2 | KeyGroup::Bn254G1 => {
            let CounterHint { counter, y } = CounterHint::new(&digest);
            proof.push(counter);
            proof.extend(y);
        }
        KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => {}
    }
    Ok(proof.into())
}
