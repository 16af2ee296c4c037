//! Blocks: what they say that is signed, and their roots.
//!
//! The body of a block has other fields in each fork. Its fields are decoded one after the other as its fork has them, and hashed
//! on the way, so there is one reader and not one type for each fork and preset. What comes out of it is one [`Block`] for all.
//!
//! Spec: ethereum/consensus-specs, `BeaconBlockBody` in `specs/*/beacon-chain.md`.

use quorate_formats::network::Fork;
use ssz::{Decode, DecodeError, SszDecoder, SszDecoderBuilder};
use ssz_derive::Decode;
use ssz_types::{
    BitList, BitVector, FixedVector, VariableList,
    typenum::{U1, U2, U8, U16, U32, U33, U128, U2048, U4096, U8192, U1048576, U1073741824, Unsigned},
};
use tree_hash::TreeHash;
use tree_hash_derive::TreeHash;

use crate::preset::{Gnosis, Mainnet, Minimal, Preset, Sizes};

/// A signed block of any fork: what the claims that it makes depend on.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its slot.
    pub slot: u64,
    /// The root of the block that it builds on.
    pub parent_root: [u8; 32],
    /// Its own root, which its proposer signs.
    pub root: [u8; 32],
    pub(crate) proposer_index: u64,
    pub(crate) signature: [u8; 96],
    /// The proposer's signature of the epoch.
    pub randao_reveal: [u8; 96],
    pub(crate) proposer_slashings: Vec<ProposerSlashing>,
    pub(crate) attester_slashings: Vec<[IndexedAttestation; 2]>,
    pub(crate) attestations: Vec<Attestation>,
    pub(crate) deposits: Vec<DepositData>,
    pub(crate) voluntary_exits: Vec<SignedVoluntaryExit>,
    pub(crate) sync_aggregate: Option<SyncAggregate>,
    pub(crate) bls_to_execution_changes: Vec<SignedBlsToExecutionChange>,
    pub(crate) deposit_requests: Vec<DepositData>,
}

/// An attestation of any fork.
#[derive(Clone, Debug)]
pub(crate) struct Attestation {
    /// Who of the committees attests.
    pub(crate) bits: Vec<bool>,
    /// Since Electra: the committees, in their order. Before it there is one, the one that the data names.
    pub(crate) committees: Option<Vec<u64>>,
    pub(crate) data: AttestationData,
    pub(crate) signature: [u8; 96],
}

/// An attestation that names its validators.
#[derive(Clone, Debug)]
pub(crate) struct IndexedAttestation {
    pub(crate) indices: Vec<u64>,
    pub(crate) data: AttestationData,
    pub(crate) signature: [u8; 96],
}

/// What the sync committee signs of the previous slot.
#[derive(Clone, Debug)]
pub(crate) struct SyncAggregate {
    pub(crate) bits: Vec<bool>,
    pub(crate) signature: [u8; 96],
}

#[derive(Clone, Debug, Decode, TreeHash)]
pub(crate) struct AttestationData {
    pub(crate) slot: u64,
    pub(crate) index: u64,
    pub(crate) beacon_block_root: [u8; 32],
    pub(crate) source: Checkpoint,
    pub(crate) target: Checkpoint,
}

#[derive(Clone, Debug, Decode, TreeHash)]
pub(crate) struct Checkpoint {
    pub(crate) epoch: u64,
    pub(crate) root: [u8; 32],
}

#[derive(Clone, Debug, Decode, TreeHash)]
pub(crate) struct ProposerSlashing {
    pub(crate) signed_header_1: SignedHeader,
    pub(crate) signed_header_2: SignedHeader,
}

#[derive(Clone, Debug, Decode, TreeHash)]
pub(crate) struct SignedHeader {
    pub(crate) message: Header,
    pub(crate) signature: [u8; 96],
}

#[derive(Clone, Debug, Decode, TreeHash)]
pub(crate) struct Header {
    pub(crate) slot: u64,
    pub(crate) proposer_index: u64,
    pub(crate) parent_root: [u8; 32],
    pub(crate) state_root: [u8; 32],
    pub(crate) body_root: [u8; 32],
}

#[derive(Clone, Debug, Decode, TreeHash)]
pub(crate) struct DepositData {
    pub(crate) pubkey: [u8; 48],
    pub(crate) withdrawal_credentials: [u8; 32],
    pub(crate) amount: u64,
    pub(crate) signature: [u8; 96],
}

/// A deposit without its signature, which is what is signed.
#[derive(TreeHash)]
pub(crate) struct DepositMessage {
    pub(crate) pubkey: [u8; 48],
    pub(crate) withdrawal_credentials: [u8; 32],
    pub(crate) amount: u64,
}

#[derive(Clone, Debug, Decode, TreeHash)]
pub(crate) struct SignedVoluntaryExit {
    pub(crate) message: VoluntaryExit,
    pub(crate) signature: [u8; 96],
}

#[derive(Clone, Debug, Decode, TreeHash)]
pub(crate) struct VoluntaryExit {
    pub(crate) epoch: u64,
    pub(crate) validator_index: u64,
}

#[derive(Clone, Debug, Decode, TreeHash)]
pub(crate) struct SignedBlsToExecutionChange {
    pub(crate) message: BlsToExecutionChange,
    pub(crate) signature: [u8; 96],
}

#[derive(Clone, Debug, Decode, TreeHash)]
pub(crate) struct BlsToExecutionChange {
    pub(crate) validator_index: u64,
    pub(crate) from_bls_pubkey: [u8; 48],
    pub(crate) to_execution_address: [u8; 20],
}

impl Block {
    /// A signed block from its bytes.
    ///
    /// # Errors
    /// The bytes are no block of this fork and preset; the answer says why.
    pub fn from_bytes(bytes: &[u8], fork: Fork, preset: Preset) -> Result<Self, String> {
        if fork > Fork::Fulu {
            return Err("its fork is Gloas, which this version cannot read; it reads phase0 to Fulu".to_owned());
        }
        let decoded = match preset {
            Preset::Mainnet => signed_block::<Mainnet>(bytes, fork),
            Preset::Minimal => signed_block::<Minimal>(bytes, fork),
            Preset::Gnosis => signed_block::<Gnosis>(bytes, fork),
        };
        decoded.map_err(|error| {
            let fork = format!("{fork:?}").to_lowercase();
            format!("it is not a block of the fork {fork} and the preset {preset}: {}", reason(&error))
        })
    }
}

fn signed_block<S: Sizes>(bytes: &[u8], fork: Fork) -> Result<Block, DecodeError> {
    let mut signed = SszDecoderBuilder::new(bytes);
    signed.register_anonymous_variable_length_item()?;
    signed.register_type::<[u8; 96]>()?;
    let mut signed = signed.build()?;
    let mut block = signed.decode_next_with(|message| unsigned_block::<S>(message, fork))?;
    block.signature = signed.decode_next()?;
    Ok(block)
}

/// A block whose signature is still missing.
fn unsigned_block<S: Sizes>(bytes: &[u8], fork: Fork) -> Result<Block, DecodeError> {
    let mut fields = SszDecoderBuilder::new(bytes);
    fields.register_type::<u64>()?;
    fields.register_type::<u64>()?;
    fields.register_type::<[u8; 32]>()?;
    fields.register_type::<[u8; 32]>()?;
    fields.register_anonymous_variable_length_item()?;
    let mut fields = Fields::new(fields.build()?);
    let (slot, proposer_index, parent_root): (u64, u64, [u8; 32]) = (fields.next()?, fields.next()?, fields.next()?);
    let _state_root: [u8; 32] = fields.next()?;
    let mut block = fields.decoder.decode_next_with(|body| body_of::<S>(body, fork))?;
    // So far the block's root is its body's.
    fields.roots.push(block.root);
    block.root = fields.root();
    Ok(Block { slot, proposer_index, parent_root, ..block })
}

/// A block of which only the body is filled in; its root is the body's.
fn body_of<S: Sizes>(bytes: &[u8], fork: Fork) -> Result<Block, DecodeError> {
    let mut fields = SszDecoderBuilder::new(bytes);
    fields.register_type::<[u8; 96]>()?;
    fields.register_type::<Eth1Data>()?;
    fields.register_type::<[u8; 32]>()?;
    // Slashings, attestations, deposits and exits.
    (0..5).try_for_each(|_| fields.register_anonymous_variable_length_item())?;
    if fork >= Fork::Altair {
        fields.register_type::<SyncAggregateOf<S>>()?;
    }
    // Payload, changes of credentials, commitments, requests.
    for first in [Fork::Bellatrix, Fork::Capella, Fork::Deneb, Fork::Electra] {
        if fork >= first {
            fields.register_anonymous_variable_length_item()?;
        }
    }
    let mut fields = Fields::new(fields.build()?);

    let randao_reveal = fields.next()?;
    let _: Eth1Data = fields.next()?;
    let _graffiti: [u8; 32] = fields.next()?;
    let proposer_slashings: VariableList<ProposerSlashing, U16> = fields.next()?;
    let (attester_slashings, attestations) = if fork >= Fork::Electra {
        let slashings: VariableList<AttesterSlashing<S::Attesters>, U1> = fields.next()?;
        let attestations: VariableList<CommitteesAttestation<S>, U8> = fields.next()?;
        (
            slashings.iter().map(|s| s.halves()).collect(),
            attestations.iter().map(CommitteesAttestation::of_any).collect(),
        )
    } else {
        let slashings: VariableList<AttesterSlashing<U2048>, U2> = fields.next()?;
        let attestations: VariableList<CommitteeAttestation, U128> = fields.next()?;
        (
            slashings.iter().map(|s| s.halves()).collect(),
            attestations.iter().map(CommitteeAttestation::of_any).collect(),
        )
    };
    let deposits: VariableList<Deposit, U16> = fields.next()?;
    let voluntary_exits: VariableList<SignedVoluntaryExit, U16> = fields.next()?;
    let mut sync_aggregate = None;
    if fork >= Fork::Altair {
        let read: SyncAggregateOf<S> = fields.next()?;
        let bits = read.sync_committee_bits.iter().collect();
        sync_aggregate = Some(SyncAggregate { bits, signature: read.sync_committee_signature });
    }
    if fork >= Fork::Bellatrix {
        let root = fields.decoder.decode_next_with(|payload| payload_root::<S>(payload, fork))?;
        fields.roots.push(root);
    }
    let mut bls_to_execution_changes = Vec::new();
    if fork >= Fork::Capella {
        let read: VariableList<SignedBlsToExecutionChange, U16> = fields.next()?;
        bls_to_execution_changes = read.into();
    }
    if fork >= Fork::Deneb {
        let _commitments: VariableList<[u8; 48], U4096> = fields.next()?;
    }
    let mut deposit_requests = Vec::new();
    if fork >= Fork::Electra {
        let read: ExecutionRequests = fields.next()?;
        deposit_requests = read.deposits.iter().map(DepositRequest::data).collect();
    }
    Ok(Block {
        slot: 0,
        parent_root: [0; 32],
        root: fields.root(),
        proposer_index: 0,
        signature: [0; 96],
        randao_reveal,
        proposer_slashings: proposer_slashings.into(),
        attester_slashings,
        attestations,
        deposits: deposits.iter().map(|deposit| deposit.data.clone()).collect(),
        voluntary_exits: voluntary_exits.into(),
        sync_aggregate,
        bls_to_execution_changes,
        deposit_requests,
    })
}

fn payload_root<S: Sizes>(bytes: &[u8], fork: Fork) -> Result<[u8; 32], DecodeError> {
    let mut fields = SszDecoderBuilder::new(bytes);
    fields.register_type::<PayloadHead>()?;
    fields.register_anonymous_variable_length_item()?;
    fields.register_type::<[u8; 32]>()?;
    fields.register_type::<[u8; 32]>()?;
    fields.register_anonymous_variable_length_item()?;
    if fork >= Fork::Capella {
        fields.register_anonymous_variable_length_item()?;
    }
    if fork >= Fork::Deneb {
        fields.register_type::<u64>()?;
        fields.register_type::<u64>()?;
    }
    let mut fields = Fields::new(fields.build()?);
    let head: PayloadHead = fields.decoder.decode_next()?;
    fields.roots = head.roots();
    let _extra_data: VariableList<u8, U32> = fields.next()?;
    let _base_fee_per_gas: [u8; 32] = fields.next()?;
    let _block_hash: [u8; 32] = fields.next()?;
    let _transactions: VariableList<VariableList<u8, U1073741824>, U1048576> = fields.next()?;
    if fork >= Fork::Capella {
        let _: VariableList<Withdrawal, S::Withdrawals> = fields.next()?;
    }
    if fork >= Fork::Deneb {
        let (_blob_gas_used, _excess_blob_gas): (u64, u64) = (fields.next()?, fields.next()?);
    }
    Ok(fields.root())
}

/// The fields of a container, which are decoded and hashed one after the other.
struct Fields<'a> {
    decoder: SszDecoder<'a>,
    roots: Vec<[u8; 32]>,
}

impl<'a> Fields<'a> {
    fn new(decoder: SszDecoder<'a>) -> Self {
        Self { decoder, roots: Vec::new() }
    }

    fn next<T: Decode + TreeHash>(&mut self) -> Result<T, DecodeError> {
        let field: T = self.decoder.decode_next()?;
        self.roots.push(root_of(&field));
        Ok(field)
    }

    /// The root of the container.
    fn root(&self) -> [u8; 32] {
        tree_hash::merkle_root(self.roots.as_flattened(), self.roots.len()).0
    }
}

/// The hash tree root of an object.
pub(crate) fn root_of(object: &impl TreeHash) -> [u8; 32] {
    object.tree_hash_root().0
}

/// Why bytes are not the object that they should be.
fn reason(error: &DecodeError) -> String {
    match error {
        DecodeError::InvalidByteLength { len, expected } => {
            format!("found a part of {len} bytes, expected {expected}")
        }
        DecodeError::OutOfBoundsByte { i } => format!("byte {i} of a part is behind its end"),
        DecodeError::OffsetIntoFixedPortion(offset) => {
            format!("the offset {offset} points into the fields of fixed length")
        }
        DecodeError::OffsetSkipsVariableBytes(offset) => {
            format!("the first offset {offset} skips bytes behind the fields of fixed length")
        }
        DecodeError::OffsetsAreDecreasing(offset) => {
            format!("the offset {offset} is less than the one before it")
        }
        DecodeError::OffsetOutOfBounds(offset) => format!("the offset {offset} points behind the end"),
        DecodeError::InvalidLengthPrefix { len, expected } => {
            format!("found {len} bytes for an offset, expected {expected}")
        }
        DecodeError::BytesInvalid(reason) => reason.clone(),
        other => format!("{other:?}"),
    }
}

// Parts whose content is only hashed, and those that depend on the fork.

#[derive(Decode, TreeHash)]
struct Eth1Data {
    deposit_root: [u8; 32],
    deposit_count: u64,
    block_hash: [u8; 32],
}

#[derive(Decode, TreeHash)]
struct Deposit {
    proof: FixedVector<[u8; 32], U33>,
    data: DepositData,
}

#[derive(Decode, TreeHash)]
struct AttesterSlashing<N: Unsigned> {
    attestation_1: IndexedAttestationOf<N>,
    attestation_2: IndexedAttestationOf<N>,
}

impl<N: Unsigned> AttesterSlashing<N> {
    fn halves(&self) -> [IndexedAttestation; 2] {
        [&self.attestation_1, &self.attestation_2].map(|half| IndexedAttestation {
            indices: half.attesting_indices.to_vec(),
            data: half.data.clone(),
            signature: half.signature,
        })
    }
}

#[derive(Decode, TreeHash)]
struct IndexedAttestationOf<N: Unsigned> {
    attesting_indices: VariableList<u64, N>,
    data: AttestationData,
    signature: [u8; 96],
}

/// An attestation of one committee, before Electra.
#[derive(Decode, TreeHash)]
struct CommitteeAttestation {
    aggregation_bits: BitList<U2048>,
    data: AttestationData,
    signature: [u8; 96],
}

impl CommitteeAttestation {
    fn of_any(&self) -> Attestation {
        Attestation {
            bits: self.aggregation_bits.iter().collect(),
            committees: None,
            data: self.data.clone(),
            signature: self.signature,
        }
    }
}

/// An attestation of several committees of a slot, since Electra (EIP-7549).
#[derive(Decode, TreeHash)]
struct CommitteesAttestation<S: Sizes> {
    aggregation_bits: BitList<S::Attesters>,
    data: AttestationData,
    signature: [u8; 96],
    committee_bits: BitVector<S::Committees>,
}

impl<S: Sizes> CommitteesAttestation<S> {
    fn of_any(&self) -> Attestation {
        let committees = (0..).zip(self.committee_bits.iter()).filter(|(_, bit)| *bit).map(|(index, _)| index);
        Attestation {
            bits: self.aggregation_bits.iter().collect(),
            committees: Some(committees.collect()),
            data: self.data.clone(),
            signature: self.signature,
        }
    }
}

#[derive(Decode, TreeHash)]
struct SyncAggregateOf<S: Sizes> {
    sync_committee_bits: BitVector<S::SyncCommittee>,
    sync_committee_signature: [u8; 96],
}

/// The first fields of an execution payload, all of fixed length.
#[derive(Decode)]
struct PayloadHead {
    parent_hash: [u8; 32],
    fee_recipient: [u8; 20],
    state_root: [u8; 32],
    receipts_root: [u8; 32],
    logs_bloom: [u8; 256],
    prev_randao: [u8; 32],
    block_number: u64,
    gas_limit: u64,
    gas_used: u64,
    timestamp: u64,
}

impl PayloadHead {
    fn roots(&self) -> Vec<[u8; 32]> {
        vec![
            self.parent_hash,
            root_of(&self.fee_recipient),
            self.state_root,
            self.receipts_root,
            root_of(&self.logs_bloom),
            self.prev_randao,
            root_of(&self.block_number),
            root_of(&self.gas_limit),
            root_of(&self.gas_used),
            root_of(&self.timestamp),
        ]
    }
}

#[derive(Decode, TreeHash)]
struct Withdrawal {
    index: u64,
    validator_index: u64,
    address: [u8; 20],
    amount: u64,
}

#[derive(Decode, TreeHash)]
struct ExecutionRequests {
    deposits: VariableList<DepositRequest, U8192>,
    withdrawals: VariableList<WithdrawalRequest, U16>,
    consolidations: VariableList<ConsolidationRequest, U2>,
}

#[derive(Decode, TreeHash)]
struct DepositRequest {
    pubkey: [u8; 48],
    withdrawal_credentials: [u8; 32],
    amount: u64,
    signature: [u8; 96],
    index: u64,
}

impl DepositRequest {
    fn data(&self) -> DepositData {
        let Self { pubkey, withdrawal_credentials, amount, signature, index: _ } = *self;
        DepositData { pubkey, withdrawal_credentials, amount, signature }
    }
}

#[derive(Decode, TreeHash)]
struct WithdrawalRequest {
    source_address: [u8; 20],
    validator_pubkey: [u8; 48],
    amount: u64,
}

#[derive(Decode, TreeHash)]
struct ConsolidationRequest {
    source_address: [u8; 20],
    source_pubkey: [u8; 48],
    target_pubkey: [u8; 48],
}
