//! Hand-made blocks of Electra: attestations of several committees, and messages of other epochs.

use quorate::{MinPk, SecretKey};

use super::*;
use crate::{
    block::{BlsToExecutionChange, Checkpoint, SignedVoluntaryExit, VoluntaryExit},
    preset::Preset,
    state::Validator,
};

/// The minimal preset, with Electra from epoch 3 on.
fn chain() -> Chain {
    let text = r#"{"preset": "minimal", "genesis_validators_root": "0x0707070707070707070707070707070707070707070707070707070707070707",
        "genesis_fork_version": "0x00000001", "capella_fork_version": "0x03000001", "forks": [
        {"name": "deneb", "epoch": 0, "version": "0x04000001"}, {"name": "electra", "epoch": 3, "version": "0x05000001"},
        {"name": "fulu", "epoch": 6, "version": "0x06000001"}]}"#;
    Chain::from_json(text, "hand-made").unwrap()
}

fn secret(index: u32) -> SecretKey<MinPk> {
    let mut material = [1; 32];
    material[..4].copy_from_slice(&index.to_le_bytes());
    SecretKey::key_gen(MinPk::Eth2, &material, b"").unwrap()
}

/// 128 validators, who make four committees of four in each slot. Only those that sign have keys of their own.
fn state() -> State {
    let validator = |index: u8| Validator { key: [index; 48], activation_epoch: 0, exit_epoch: u64::MAX };
    State {
        slot: 64,
        block_roots: vec![[0; 32]; 64],
        randao_mixes: (0..64).map(|epoch| [epoch; 32]).collect(),
        validators: (0..128).map(validator).collect(),
        sync_committee: None,
    }
}

fn data(slot: u64, index: u64, epoch: u64) -> AttestationData {
    let checkpoint = |epoch| Checkpoint { epoch, root: [3; 32] };
    AttestationData { slot, index, beacon_block_root: [2; 32], source: checkpoint(0), target: checkpoint(epoch) }
}

fn block(slot: u64, attestations: Vec<Attestation>) -> Block {
    Block {
        slot,
        parent_root: [0; 32],
        root: [1; 32],
        proposer_index: 0,
        signature: [0; 96],
        randao_reveal: [0; 96],
        proposer_slashings: Vec::new(),
        attester_slashings: Vec::new(),
        attestations,
        deposits: Vec::new(),
        voluntary_exits: Vec::new(),
        sync_aggregate: None,
        bls_to_execution_changes: Vec::new(),
        deposit_requests: Vec::new(),
    }
}

fn claims(block: &Block, state: &State) -> Vec<ChainClaim> {
    let chain = chain();
    let surroundings = Surroundings { chain: &chain, state, sync_committee: None, previous_root: [0; 32] };
    surroundings.claims(block, &mut Committees::new(Preset::Minimal))
}

/// The claim of an attestation of slot 33 in a block of slot 34.
fn attested(bits: &[bool], committees: Option<&[u64]>, index: u64) -> ChainClaim {
    let attestation = Attestation {
        bits: bits.to_vec(),
        committees: committees.map(<[u64]>::to_vec),
        data: data(33, index, 4),
        signature: [0; 96],
    };
    claims(&block(34, vec![attestation]), &state()).pop().unwrap()
}

fn failed(claim: &ChainClaim) -> String {
    let check = claim.failed.as_ref().expect("a check that failed");
    assert!(claim.claim.public_keys.is_empty());
    format!("{}: {}", check.name, check.detail)
}

/// The members of a committee of slot 33, by their keys.
fn members(index: u64) -> Vec<Vec<u8>> {
    let (state, mut committees) = (state(), Committees::new(Preset::Minimal));
    let committee = committees.of(4, &state).committee(33, index).unwrap().to_vec();
    assert_eq!(committee.len(), 4);
    committee.into_iter().map(|member| state.validators[member as usize].key.to_vec()).collect()
}

#[test]
fn committee_bits_over_several_committees() {
    // Members 1 and 3 of the first committee, 0 of the third.
    let bits = [false, true, false, true, true, false, false, false];
    let claim = attested(&bits, Some(&[0, 2]), 0);
    assert_eq!(claim.failed, None);
    let (first, third) = (members(0), members(2));
    assert_eq!(*claim.claim.public_keys.as_encoded().unwrap(), [first[1].clone(), first[3].clone(), third[0].clone()]);
    assert_ne!(members(1), third);
}

#[test]
fn aggregation_bits_that_do_not_fit() {
    let all = |count: usize| vec![true; count];
    assert_eq!(
        failed(&attested(&all(7), Some(&[0, 2]), 0)),
        "aggregation_bits: found 7 bits, expected 8, one for each member"
    );
    assert_eq!(
        failed(&attested(&all(9), Some(&[0, 2]), 0)),
        "aggregation_bits: found 9 bits, expected 8, one for each member"
    );
    assert_eq!(failed(&attested(&all(4), Some(&[0, 2]), 0)), "aggregation_bits: nobody of the committee 2 attests");
    // Before Electra.
    assert_eq!(failed(&attested(&all(5), None, 1)), "aggregation_bits: found 5 bits, expected 4, one for each member");
    assert_eq!(attested(&all(4), None, 1).claim.public_keys, members(1).into());
}

#[test]
fn committees_that_do_not_exist() {
    let bits = [true; 8];
    assert_eq!(failed(&attested(&bits, Some(&[0, 4]), 0)), "committee: found the committee 4, but the slot has 4");
    assert_eq!(
        failed(&attested(&bits, None, u64::MAX)),
        format!("committee: found the committee {}, but the slot has 4", u64::MAX)
    );
    assert_eq!(failed(&attested(&bits, Some(&[0, 2]), 2)), "committee: found the index 2, expected 0");
    // No committee at all: no key, which a claim of this suite cannot be valid with.
    let nobody = attested(&[], Some(&[]), 0);
    assert!(nobody.claim.public_keys.is_empty() && !nobody.claim.verify().is_valid());
}

#[test]
fn votes_for_other_epochs() {
    let vote = |slot, epoch| {
        let bits = vec![true; 4];
        let attestation =
            Attestation { bits, committees: Some(vec![0]), data: data(slot, 0, epoch), signature: [0; 96] };
        claims(&block(34, vec![attestation]), &state()).pop().unwrap()
    };
    assert_eq!(vote(24, 3).failed, None);
    assert_eq!(failed(&vote(23, 2)), "target: found the target epoch 2, expected 4 or the one before it");
    assert_eq!(failed(&vote(40, 5)), "target: found the target epoch 5, expected 4 or the one before it");
    assert_eq!(failed(&vote(31, 4)), "target: found the target epoch 4, but slot 31 is in 3");
}

#[test]
fn a_vote_of_electras_first_epoch_and_of_the_one_before() {
    // The block is in Electra's first epoch; its signatures are over the version of the target's epoch.
    let mut state = state();
    for (slot, epoch, version) in [(24, 3, [5, 0, 0, 1]), (23, 2, [4, 0, 0, 1])] {
        let committee = Committees::new(Preset::Minimal).of(epoch, &state).committee(slot, 3).unwrap().to_vec();
        let data = data(slot, 0, epoch);
        let message = signing_root(&root_of(&data), DomainType::BeaconAttester, version, &[7; 32]);
        let signatures = committee.iter().map(|member| {
            let secret = secret(*member);
            state.validators[*member as usize].key = secret.public_key().to_bytes().as_slice().try_into().unwrap();
            secret.sign(MinPk::Eth2, &message)
        });
        let signatures: Vec<_> = signatures.collect();
        let signature = quorate::aggregate::aggregate(&signatures, quorate::Backend::auto())
            .unwrap()
            .to_bytes()
            .as_slice()
            .try_into()
            .unwrap();
        let attestation = Attestation { bits: vec![true; 4], committees: Some(vec![3]), data, signature };
        let claim = claims(&block(25, vec![attestation]), &state).pop().unwrap();
        assert_eq!((claim.claim.public_keys.len(), claim.failed), (4, None));
        assert!(claim.claim.verify().is_valid(), "slot {slot}");
    }
}

#[test]
fn an_exit_of_fulu_is_under_capellas_version() {
    let mut state = state();
    let secret = secret(5);
    state.validators[5].key = secret.public_key().to_bytes().as_slice().try_into().unwrap();
    let message = VoluntaryExit { epoch: 6, validator_index: 5 };
    let exit = |version| {
        let root = signing_root(&root_of(&message), DomainType::VoluntaryExit, version, &[7; 32]);
        let signature = secret.sign(MinPk::Eth2, &root).to_bytes().as_slice().try_into().unwrap();
        let exit = SignedVoluntaryExit { message: message.clone(), signature };
        let block = Block { voluntary_exits: vec![exit], ..block(50, Vec::new()) };
        claims(&block, &state).pop().unwrap().claim.verify().is_valid()
    };
    assert!(exit([3, 0, 0, 1]));
    assert!(!exit([6, 0, 0, 1]));
}

#[test]
fn validators_that_do_not_exist_or_are_listed_twice() {
    let proposed = |index: u64| claims(&Block { proposer_index: index, ..block(34, Vec::new()) }, &state()).remove(0);
    assert_eq!(proposed(127).failed, None);
    assert_eq!(failed(&proposed(128)), "validator: found the validator 128, but the chain has 128");
    let half =
        |indices: &[u64]| IndexedAttestation { indices: indices.to_vec(), data: data(1, 0, 0), signature: [0; 96] };
    let slashing = [half(&[3, 5]), half(&[5, 3])];
    let twice = Block { attester_slashings: vec![slashing, [half(&[3, 3]), half(&[])]], ..block(34, Vec::new()) };
    let found = claims(&twice, &state()).split_off(2);
    let indices: Vec<String> = found.iter().map(|claim| claim.index.to_string()).collect();
    assert_eq!(indices, ["0.0", "0.1", "1.0", "1.1"]);
    assert_eq!(found[0].failed, None);
    assert_eq!(failed(&found[1]), "attesting_indices: found indices out of order or twice");
    assert_eq!(failed(&found[2]), "attesting_indices: found indices out of order or twice");
    // Nobody: no check fails, but a claim without keys is never valid here.
    assert!(!found[3].claim.verify().is_valid());
}

/// Nobody with the identity signature is a valid sync aggregate, but not if nobody knows who the committee is.
#[test]
fn sync_aggregate_without_a_known_committee() {
    let mut signature = [0; 96];
    signature[0] = 0xc0;
    let aggregate = SyncAggregate { bits: vec![false; 32], signature };
    let claims = claims(&Block { sync_aggregate: Some(aggregate), ..block(34, Vec::new()) }, &state());
    let sync = claims.iter().find(|claim| claim.kind == ClaimKind::Sync).unwrap();
    assert!(sync.failed.is_some());
    assert!(!sync.claim.verify().is_valid());
}

/// `quorate_formats::operation` computes by hand what is derived here.
#[test]
fn operations_have_the_roots_of_their_containers() {
    use quorate_formats::operation;

    let deposit = operation::DepositMessage { public_key: [1; 48], withdrawal_credentials: [2; 32], amount: 3 };
    let data = DepositData { pubkey: [1; 48], withdrawal_credentials: [2; 32], amount: 3, signature: [4; 96] };
    assert_eq!(deposit.data_root(&[4; 96]), root_of(&data));
    let derived = DepositMessage { pubkey: [1; 48], withdrawal_credentials: [2; 32], amount: 3 };
    assert_eq!(deposit.root(), root_of(&derived));
    let change = operation::CredentialsChange { validator_index: 5, from_public_key: [6; 48], to_address: [7; 20] };
    let derived = BlsToExecutionChange { validator_index: 5, from_bls_pubkey: [6; 48], to_execution_address: [7; 20] };
    assert_eq!(change.root(), root_of(&derived));
    let exit = operation::VoluntaryExit { epoch: 8, validator_index: 9 };
    assert_eq!(exit.root(), root_of(&VoluntaryExit { epoch: 8, validator_index: 9 }));
}
