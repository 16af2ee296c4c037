//! A block becomes claims, one for each signature in it.
//!
//! | kind | who signed | under |
//! |---|---|---|
//! | `proposer` | the proposer that the block names | the block's fork |
//! | `randao` | the same | the block's fork |
//! | `proposer_slashing` | the proposer, two headers | the version of each header's epoch |
//! | `attester_slashing` | the validators that it lists, two votes | the version of each target epoch |
//! | `attestation` | members of committees | the version of the target epoch |
//! | `deposit`, `deposit_request` | the key in the message | the genesis fork, without a chain |
//! | `exit` | the validator | the version of the exit's epoch; since Deneb always Capella's |
//! | `sync` | members of the sync committee, the previous slot's block | the version of the previous slot's epoch |
//! | `bls_change` | the key in the message | the genesis fork |
//!
//! The version of an epoch is the one that the block's state knows: its own fork's, or for all earlier epochs that of the fork
//! before (`get_domain`).
//!
//! What the specification asks of an operation before it looks at the signature, and what decides which keys signed, is a
//! [`Check`]: for example that as many bits are there as a committee has members. A claim with a failed check is invalid.

use std::fmt;

use quorate::{AnySuite, ClaimBytes, Messages, MinPk};
use quorate_formats::{
    Check, CheckResult, ClaimIndex, Place,
    signing::{DomainType, signing_root},
};

use crate::{
    block::{
        Attestation, AttestationData, Block, DepositData, DepositMessage, IndexedAttestation, SyncAggregate, root_of,
    },
    chain::Chain,
    committees::Committees,
    state::State,
};

/// A signature of a chain.
#[derive(Clone, Debug)]
pub struct ChainClaim {
    /// The keys, the message and the signature.
    pub claim: ClaimBytes,
    /// The slot of the block in which it stands. In a drand chain it is the round, in a Chia chain the height
    /// ([`ClaimKind::place`]).
    pub slot: u64,
    /// What is signed.
    pub kind: ClaimKind,
    /// Where in the block it stands.
    pub index: ClaimIndex,
    /// Why the claim is invalid whatever its signature; none if nothing is wrong beside the signature. If there is a reason, `claim`
    /// has no keys and is invalid as well.
    pub failed: Option<Check>,
}

/// What a signature of a chain is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ClaimKind {
    /// The proposer signs its block.
    Proposer,
    /// The proposer signs the epoch, which makes the chain's randomness.
    Randao,
    /// A proposer signed two blocks of one slot.
    ProposerSlashing,
    /// Validators signed two votes that exclude each other.
    AttesterSlashing,
    /// Members of committees vote.
    Attestation,
    /// A deposit, by way of the deposit contract's log.
    Deposit,
    /// A validator leaves.
    Exit,
    /// The sync committee signs the previous block.
    Sync,
    /// A validator changes its withdrawal credentials.
    BlsChange,
    /// A deposit, by way of a request of the execution layer (EIP-6110).
    DepositRequest,
    /// A round of drand: its group signs the round, and on a chained network the signature before it.
    Beacon,
    /// Chia: the plot signs the signage point of the challenge chain.
    ChallengeChainSp,
    /// Chia: the plot signs the signage point of the reward chain.
    RewardChainSp,
    /// Chia: the plot signs where the rewards go.
    FoliageBlockData,
    /// Chia: the plot signs what the transactions of the block come to.
    FoliageTransactionBlock,
    /// Chia: the pool signs where its reward goes.
    Pool,
    /// Chia: the aggregate of all that the transactions of the block sign.
    Transactions,
}

impl ClaimKind {
    /// All kinds.
    const ALL: [Self; 17] = [
        Self::Proposer,
        Self::Randao,
        Self::ProposerSlashing,
        Self::AttesterSlashing,
        Self::Attestation,
        Self::Deposit,
        Self::Exit,
        Self::Sync,
        Self::BlsChange,
        Self::DepositRequest,
        Self::Beacon,
        Self::ChallengeChainSp,
        Self::RewardChainSp,
        Self::FoliageBlockData,
        Self::FoliageTransactionBlock,
        Self::Pool,
        Self::Transactions,
    ];

    /// The kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name in verdicts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proposer => "proposer",
            Self::Randao => "randao",
            Self::ProposerSlashing => "proposer_slashing",
            Self::AttesterSlashing => "attester_slashing",
            Self::Attestation => "attestation",
            Self::Deposit => "deposit",
            Self::Exit => "exit",
            Self::Sync => "sync",
            Self::BlsChange => "bls_change",
            Self::DepositRequest => "deposit_request",
            Self::Beacon => "beacon",
            Self::ChallengeChainSp => "challenge_chain_sp",
            Self::RewardChainSp => "reward_chain_sp",
            Self::FoliageBlockData => "foliage_block_data",
            Self::FoliageTransactionBlock => "foliage_transaction_block",
            Self::Pool => "pool",
            Self::Transactions => "transactions",
        }
    }

    /// Whether a block may hold a false signature of this kind.
    ///
    /// A deposit is paid before the chain sees it, so a false one is skipped and does not make the block invalid. Of a deposit
    /// to a key that is already a validator's, the chain does not check the signature at all (`apply_deposit`).
    #[must_use]
    pub const fn may_be_false(self) -> bool {
        match self {
            Self::Deposit | Self::DepositRequest => true,
            Self::Proposer
            | Self::Randao
            | Self::ProposerSlashing
            | Self::AttesterSlashing
            | Self::Attestation
            | Self::Exit
            | Self::Sync
            | Self::BlsChange
            | Self::Beacon
            | Self::ChallengeChainSp
            | Self::RewardChainSp
            | Self::FoliageBlockData
            | Self::FoliageTransactionBlock
            | Self::Pool
            | Self::Transactions => false,
        }
    }

    /// Where in its chain a signature of this kind stands: what [`ChainClaim::slot`] counts.
    #[must_use]
    pub const fn place(self, slot: u64) -> Place {
        match self {
            Self::Beacon => Place::Round(slot),
            Self::ChallengeChainSp
            | Self::RewardChainSp
            | Self::FoliageBlockData
            | Self::FoliageTransactionBlock
            | Self::Pool
            | Self::Transactions => Place::Height(slot),
            Self::Proposer
            | Self::Randao
            | Self::ProposerSlashing
            | Self::AttesterSlashing
            | Self::Attestation
            | Self::Deposit
            | Self::Exit
            | Self::Sync
            | Self::BlsChange
            | Self::DepositRequest => Place::Slot(slot),
        }
    }
}

impl fmt::Display for ClaimKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the claims of a block depend on beside the block.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The chain.
    pub chain: &'a Chain,
    /// A state that knows all validators of the block's epoch, and the RANDAO mixes of two epochs before it and earlier. The state
    /// at the end of the era does.
    pub state: &'a State,
    /// The keys of the sync committee of the block's slot.
    pub sync_committee: Option<&'a [[u8; 48]]>,
    /// The root of the newest block at the slot before the block's.
    pub previous_root: [u8; 32],
}

impl Surroundings<'_> {
    /// The claims of a block, in the order of its body.
    #[must_use]
    pub fn claims(&self, block: &Block, committees: &mut Committees) -> Vec<ChainClaim> {
        let now = self.chain.epoch(block.slot);
        let mut claims = Claims { of: self, now, slot: block.slot, claims: Vec::new() };
        let proposer = Signers::validators(self.state, &[block.proposer_index]);
        claims.push(
            ClaimKind::Proposer,
            0,
            proposer.clone(),
            &block.root,
            DomainType::BeaconProposer,
            now,
            &block.signature,
        );
        claims.push(ClaimKind::Randao, 0, proposer, &root_of(&now), DomainType::Randao, now, &block.randao_reveal);
        for (i, slashing) in block.proposer_slashings.iter().enumerate() {
            // The chain takes the key of the first header's proposer for both; that they are the same is a rule of its own.
            let proposer = Signers::validators(self.state, &[slashing.signed_header_1.message.proposer_index]);
            for (half, signed) in [&slashing.signed_header_1, &slashing.signed_header_2].into_iter().enumerate() {
                let index = ClaimIndex { operation: i, half: Some(half) };
                let epoch = self.chain.epoch(signed.message.slot);
                let root = root_of(&signed.message);
                claims.push(
                    ClaimKind::ProposerSlashing,
                    index,
                    proposer.clone(),
                    &root,
                    DomainType::BeaconProposer,
                    epoch,
                    &signed.signature,
                );
            }
        }
        for (i, slashing) in block.attester_slashings.iter().enumerate() {
            for (half, IndexedAttestation { indices, data, signature }) in slashing.iter().enumerate() {
                let index = ClaimIndex { operation: i, half: Some(half) };
                let signers = Signers::listed(self.state, indices);
                claims.vote(ClaimKind::AttesterSlashing, index, signers, data, signature);
            }
        }
        for (i, attestation) in block.attestations.iter().enumerate() {
            let signers = self.attesters(attestation, now, committees);
            let index = ClaimIndex { operation: i, half: None };
            claims.vote(ClaimKind::Attestation, index, signers, &attestation.data, &attestation.signature);
        }
        for (i, deposit) in block.deposits.iter().enumerate() {
            claims.deposit(ClaimKind::Deposit, i, deposit);
        }
        for (i, exit) in block.voluntary_exits.iter().enumerate() {
            let signers = Signers::validators(self.state, &[exit.message.validator_index]);
            let version = self.chain.exit_version(now, exit.message.epoch);
            let message = self.signed(&root_of(&exit.message), DomainType::VoluntaryExit, version);
            claims.add(ClaimKind::Exit, i, signers, message, &exit.signature);
        }
        if let Some(aggregate) = &block.sync_aggregate {
            let epoch = self.chain.epoch(block.slot.max(1) - 1);
            let signers = self.sync_signers(aggregate);
            claims.push(
                ClaimKind::Sync,
                0,
                signers,
                &self.previous_root,
                DomainType::SyncCommittee,
                epoch,
                &aggregate.signature,
            );
        }
        for (i, change) in block.bls_to_execution_changes.iter().enumerate() {
            let signers = Signers::keys(&[change.message.from_bls_pubkey]);
            let version = self.chain.genesis_fork_version;
            let message = self.signed(&root_of(&change.message), DomainType::BlsToExecutionChange, version);
            claims.add(ClaimKind::BlsChange, i, signers, message, &change.signature);
        }
        for (i, deposit) in block.deposit_requests.iter().enumerate() {
            claims.deposit(ClaimKind::DepositRequest, i, deposit);
        }
        claims.claims
    }

    fn signed(&self, root: &[u8; 32], domain_type: DomainType, version: [u8; 4]) -> [u8; 32] {
        signing_root(root, domain_type, version, &self.chain.genesis_validators_root)
    }

    /// Who signed an attestation (`get_attesting_indices`, and what `process_attestation` asks of it before).
    fn attesters(&self, attestation: &Attestation, now: u64, committees: &mut Committees) -> Signers {
        let AttestationData { slot, index, target, .. } = &attestation.data;
        if target.epoch > now || target.epoch + 1 < now {
            let detail = format!("found the target epoch {}, expected {now} or the one before it", target.epoch);
            return Signers::failed("target", detail);
        }
        if target.epoch != self.chain.epoch(*slot) {
            let epoch = self.chain.epoch(*slot);
            return Signers::failed(
                "target",
                format!("found the target epoch {}, but slot {slot} is in {epoch}", target.epoch),
            );
        }
        let indices = match &attestation.committees {
            Some(_) if *index != 0 => {
                return Signers::failed("committee", format!("found the index {index}, expected 0"));
            }
            Some(indices) => indices.clone(),
            None => vec![*index],
        };
        let epoch = committees.of(target.epoch, self.state);
        let (mut signers, mut seen) = (Vec::new(), 0);
        for index in indices {
            let Some(committee) = epoch.committee(*slot, index) else {
                let count = epoch.per_slot();
                return Signers::failed("committee", format!("found the committee {index}, but the slot has {count}"));
            };
            let before = signers.len();
            let bits = attestation.bits.get(seen..).unwrap_or_default();
            signers.extend(committee.iter().zip(bits).filter(|(_, bit)| **bit).map(|(member, _)| u64::from(*member)));
            if signers.len() == before {
                return Signers::failed("aggregation_bits", format!("nobody of the committee {index} attests"));
            }
            seen += committee.len();
        }
        if seen != attestation.bits.len() {
            let found = attestation.bits.len();
            return Signers::failed(
                "aggregation_bits",
                format!("found {found} bits, expected {seen}, one for each member"),
            );
        }
        Signers::validators(self.state, &signers)
    }

    fn sync_signers(&self, aggregate: &SyncAggregate) -> Signers {
        let Some(committee) = self.sync_committee else {
            return Signers::failed("sync_committee", "the chain has no sync committee yet".to_owned());
        };
        let present = committee.iter().zip(&aggregate.bits).filter(|(_, bit)| **bit).map(|(key, _)| *key);
        Signers::keys(&present.collect::<Vec<_>>())
    }
}

/// The claims of one block, as they are collected.
struct Claims<'a> {
    of: &'a Surroundings<'a>,
    /// The block's epoch.
    now: u64,
    slot: u64,
    claims: Vec<ChainClaim>,
}

impl Claims<'_> {
    /// A signature of an object of an epoch.
    #[allow(clippy::too_many_arguments, reason = "a signature is as much")]
    fn push(
        &mut self,
        kind: ClaimKind,
        index: impl Into<ClaimIndex>,
        signers: Signers,
        root: &[u8; 32],
        domain_type: DomainType,
        epoch: u64,
        signature: &[u8; 96],
    ) {
        let message = self.of.signed(root, domain_type, self.of.chain.version(self.now, epoch));
        self.add(kind, index, signers, message, signature);
    }

    /// A vote.
    fn vote(
        &mut self,
        kind: ClaimKind,
        index: ClaimIndex,
        signers: Signers,
        data: &AttestationData,
        signature: &[u8; 96],
    ) {
        self.push(kind, index, signers, &root_of(data), DomainType::BeaconAttester, data.target.epoch, signature);
    }

    /// A deposit, whose signature counts on all chains with the genesis fork version.
    fn deposit(&mut self, kind: ClaimKind, index: usize, deposit: &DepositData) {
        let DepositData { pubkey, withdrawal_credentials, amount, signature } = *deposit;
        let root = root_of(&DepositMessage { pubkey, withdrawal_credentials, amount });
        let message = signing_root(&root, DomainType::Deposit, self.of.chain.genesis_fork_version, &[0; 32]);
        self.add(kind, index, Signers::keys(&[pubkey]), message, &signature);
    }

    fn add(
        &mut self,
        kind: ClaimKind,
        index: impl Into<ClaimIndex>,
        signers: Signers,
        message: [u8; 32],
        signature: &[u8; 96],
    ) {
        // If a check failed, there are no keys, and then `eth2` takes no signature for valid. The other suite takes the identity.
        let suite = match kind {
            ClaimKind::Sync if signers.failed.is_none() => MinPk::Eth2SyncAggregate,
            _ => MinPk::Eth2,
        };
        let claim = ClaimBytes {
            suite: AnySuite::MinPk(suite),
            public_keys: signers.keys.into(),
            messages: Messages::Shared(message.into()),
            signature: signature.to_vec(),
            source: None,
        };
        self.claims.push(ChainClaim { claim, slot: self.slot, kind, index: index.into(), failed: signers.failed });
    }
}

/// Whose signature a claim is, or why nobody's.
#[derive(Clone, Default)]
struct Signers {
    keys: Vec<Vec<u8>>,
    failed: Option<Check>,
}

impl Signers {
    fn keys(keys: &[[u8; 48]]) -> Self {
        Self { keys: keys.iter().map(|key| key.to_vec()).collect(), failed: None }
    }

    fn validators(state: &State, indices: &[u64]) -> Self {
        let key = |index: &u64| usize::try_from(*index).ok().and_then(|i| state.validators.get(i)).ok_or(*index);
        let keys = indices.iter().map(|index| key(index).map(|validator| validator.key.to_vec()));
        match keys.collect::<Result<Vec<_>, u64>>() {
            Ok(keys) => Self { keys, failed: None },
            Err(index) => {
                let count = state.validators.len();
                Self::failed("validator", format!("found the validator {index}, but the chain has {count}"))
            }
        }
    }

    /// Validators that a message lists, which has to be in order and without repetition (`is_valid_indexed_attestation`).
    fn listed(state: &State, indices: &[u64]) -> Self {
        if !indices.is_sorted_by(|a, b| a < b) {
            return Self::failed("attesting_indices", "found indices out of order or twice".to_owned());
        }
        Self::validators(state, indices)
    }

    fn failed(name: &'static str, detail: String) -> Self {
        Self { keys: Vec::new(), failed: Some(Check::decided(name, CheckResult::Failed, detail)) }
    }
}

#[cfg(test)]
mod tests;
