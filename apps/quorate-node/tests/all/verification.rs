//! Which messages count as verified, and whom the registry admits as a peer.

#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use std::sync::Arc;

use quorate_batcher::{Batcher, Settings};
use quorate_evm::{
    KeyGroup, MemberSet, OperatorKey, SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes},
    digest::{Contract, PeerBinding},
};
use quorate_network::{
    groups::add_up,
    message::{Attestation, Branch, ConflictEvidence, PartialSum, Signed, TaskResult, candidate_for},
    registry::{NotAdmitted, RegisteredMember, Registry},
};
use quorate_node::verification::{Checked, Checker};

const NETWORK: Contract = Contract { chain_id: 31337, address: Address::repeat_byte(0xCD) };
const SNAPSHOT: SnapshotId = SnapshotId::repeat_byte(5);

fn operator(number: u8) -> OperatorKey {
    OperatorKey::from_entropy(KeyGroup::Bls12381G2, &[number; 48])
}

fn member(number: u8, weight: u64) -> RegisteredMember {
    RegisteredMember { owner: Address::repeat_byte(number), weight, key: operator(number).member() }
}

/// Operators 1, 2 and 3 at the indices 0, 1 and 2; the second one without weight.
fn registry() -> Registry {
    let registry = Registry::new(NETWORK);
    registry.insert(7, SNAPSHOT, &[member(1, 10), member(2, 0), member(3, 5)], 0).unwrap();
    registry
}

fn candidate(result: u8) -> Task {
    candidate_for(7, SNAPSHOT, B256::repeat_byte(9), 0, &[result])
}

fn sign(number: u8, candidate: &Task) -> Bytes {
    Bytes::copy_from_slice(operator(number).sign(&candidate.digest(NETWORK)).as_bytes())
}

fn attestation(index: u32, candidate: Task, signature: Bytes) -> Attestation {
    Attestation::new(candidate, index, signature).unwrap()
}

fn check(registry: Registry, message: Signed) -> Checked {
    let checker = Checker::new(NETWORK, registry, Batcher::start(Settings::default()).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(checker.check(Arc::new(message), None, None))
}

fn check_attestation(index: u32, candidate: Task, signature: Bytes) -> Checked {
    check(registry(), Signed::Attestation(attestation(index, candidate, signature)))
}

#[test]
fn true_messages_are_verified() {
    let found = check_attestation(2, candidate(1), sign(3, &candidate(1)));
    assert!(
        matches!(&found, Checked::True(message) if matches!(message.message(), Signed::Attestation(_))),
        "{found:?}"
    );
    let result = TaskResult::new(7, SNAPSHOT, B256::repeat_byte(9), 0, vec![1].into(), sign(1, &candidate(1))).unwrap();
    assert!(matches!(check(registry(), Signed::Result(result)), Checked::True(_)));
    let pair = [1, 2].map(|result| attestation(2, candidate(result), sign(3, &candidate(result))));
    let [one, other] = pair;
    assert!(matches!(
        check(registry(), Signed::Evidence(ConflictEvidence::new(one, other).unwrap())),
        Checked::True(_)
    ));
}

#[test]
fn false_messages_are_not() {
    let right = sign(3, &candidate(1));
    // Of another operator, of another candidate, of no curve point, of the wrong length, the identity.
    let flipped = |at: usize| {
        let mut bytes = right.to_vec();
        bytes[at] ^= 1;
        Bytes::from(bytes)
    };
    for signature in [
        sign(1, &candidate(1)),
        sign(3, &candidate(2)),
        flipped(0),
        flipped(95),
        right.slice(..95),
        Bytes::from_static(&[0; 96]),
        Bytes::from_static(&[1]),
    ] {
        let found = check_attestation(2, candidate(1), signature.clone());
        assert!(matches!(found, Checked::False), "{signature}: {found:?}");
    }
    // One half of the evidence is false.
    let one = attestation(2, candidate(1), sign(3, &candidate(1)));
    let other = attestation(2, candidate(2), sign(3, &candidate(1)));
    assert!(matches!(check(registry(), Signed::Evidence(ConflictEvidence::new(one, other).unwrap())), Checked::False));
}

/// The same x with the y of the negative point, and with a y that is on no curve. The engine's encoding holds x and a sign,
/// so the second would pass if y were not checked, and would spoil the sum.
#[test]
fn the_second_coordinate_counts() {
    let right = sign(3, &candidate(1)).to_vec();
    let mut other = right.clone();
    other[94] ^= 2;
    let found = check_attestation(2, candidate(1), other.into());
    assert!(matches!(found, Checked::False), "{found:?}");
    let mut zero = right;
    zero[48..].fill(0);
    assert!(matches!(check_attestation(2, candidate(1), zero.into()), Checked::False));
}

#[test]
fn without_a_key_there_is_no_answer() {
    let signature = sign(2, &candidate(1));
    assert!(matches!(check_attestation(1, candidate(1), signature.clone()), Checked::NoKey), "no weight");
    assert!(matches!(check_attestation(3, candidate(1), signature.clone()), Checked::NoKey), "no such index");
    let other = Task { snapshot: SnapshotId::ZERO, ..candidate(1) };
    assert!(matches!(check_attestation(2, other, signature), Checked::NoKey), "no such snapshot");
}

/// A sum is verified against the sum of the keys at the indices that the node found for its places.
#[test]
fn sums_are_verified_against_the_sum_of_their_keys() {
    let registry = || {
        let registry = Registry::new(NETWORK);
        let members = [member(1, 10), member(2, 0), member(3, 5), member(4, 7)];
        registry.insert(7, SNAPSHOT, &members, 0).unwrap();
        registry
    };
    let candidate = candidate(1);
    let signed = |numbers: &[u8], of: &Task| {
        let signatures: Vec<Bytes> = numbers.iter().map(|number| sign(*number, of)).collect();
        add_up(&signatures.iter().collect::<Vec<_>>()).unwrap()
    };
    let check = |signers: Option<&[usize]>, signature: Bytes| {
        let branch = Branch { level: 0, number: 0 };
        let sum = PartialSum::new(candidate, branch, MemberSet::full(2), signature).unwrap();
        let checker = Checker::new(NETWORK, registry(), Batcher::start(Settings::default()).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let signers: Option<MemberSet> = signers.map(|signers| signers.iter().copied().collect());
        runtime.block_on(checker.check(Arc::new(Signed::Sum(sum)), signers, None))
    };
    assert!(matches!(check(Some(&[0, 2]), signed(&[1, 3], &candidate)), Checked::True(_)));
    assert!(matches!(check(Some(&[0, 2, 3]), signed(&[1, 3, 4], &candidate)), Checked::True(_)));
    // Another signer, one too few, one twice, another candidate, and something that is not a signature.
    for signature in [
        signed(&[1, 4], &candidate),
        signed(&[1], &candidate),
        signed(&[1, 3, 3], &candidate),
        signed(&[1, 3], &self::candidate(2)),
        Bytes::from(vec![7; 96]),
    ] {
        assert!(matches!(check(Some(&[0, 2]), signature), Checked::False));
    }
    // An index without weight, one that is not there, no index, and a sum whose signers the node did not name.
    for signers in [Some(&[0, 1][..]), Some(&[0, 9]), Some(&[]), None] {
        assert!(matches!(check(signers, signed(&[1, 3], &candidate)), Checked::NoKey), "{signers:?}");
    }
    assert_eq!(add_up(&[&Bytes::from(vec![7; 96])]), None);
    assert_eq!(add_up(&[]), None);
}

#[test]
fn a_full_batcher_says_nothing() {
    let settings = Settings { queue_bytes: 1, ..Settings::default() };
    let checker = Checker::new(NETWORK, registry(), Batcher::start(settings).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let message = Arc::new(Signed::Attestation(attestation(2, candidate(1), sign(3, &candidate(1)))));
    let found = runtime.block_on(checker.check(message, None, None));
    assert!(matches!(found, Checked::NotChecked(quorate_batcher::Refused::TooLarge)), "{found:?}");
}

#[test]
fn a_snapshot_with_a_bad_key_is_refused_whole() {
    let registry = Registry::new(NETWORK);
    let mut bad = member(3, 5);
    let mut key = bad.key.to_vec();
    key[191] ^= 1;
    bad.key = key.into();
    let error = registry.insert(7, SNAPSHOT, &[member(1, 10), bad], 0).unwrap_err();
    assert!(error.to_string().starts_with("epoch 7: the key at index 1 is not valid"), "{error}");
    assert_eq!(registry.key(7, SNAPSHOT, 0), None);
    assert!(!registry.has(7, SNAPSHOT));
    // A key without weight is not looked at.
    registry.insert(7, SNAPSHOT, &[RegisteredMember { weight: 0, ..member(1, 0) }], 0).unwrap();
}

/// Whichever of their ids is greater. After a reorganisation the one that was told last is the chain's.
#[test]
fn a_snapshot_takes_the_place_of_another_one_of_its_epoch() {
    for (before, after) in [(3, 4), (4, 3)] {
        let [before, after] = [before, after].map(SnapshotId::repeat_byte);
        let registry = Registry::new(NETWORK);
        let weight = || registry.weight(&Address::repeat_byte(1));
        registry.insert(7, before, &[member(1, 10), member(2, 1)], 0).unwrap();
        registry.insert(7, after, &[member(1, 4)], 0).unwrap();
        assert_eq!((weight(), registry.weight(&Address::repeat_byte(2))), (4, 0));
        assert!(!registry.has(7, before) && registry.has(7, after));
        // One of an epoch before is no newer, whenever it is told.
        registry.insert(6, before, &[member(1, 9)], 0).unwrap();
        assert_eq!(weight(), 4);
        registry.insert(8, before, &[member(1, 6)], 0).unwrap();
        assert_eq!(weight(), 6);
        registry.remove(8);
        assert_eq!(weight(), 4);
    }
}

/// The statement by which an operator's key binds a peer.
fn bind(number: u8, network: Contract, peer: &[u8]) -> Bytes {
    Bytes::copy_from_slice(operator(number).sign(&PeerBinding { network, peer }.digest()).as_bytes())
}

/// Epochs without a snapshot lie between: the newest two that have one are not the newest one and the one before it.
#[test]
fn a_key_counts_in_the_newest_snapshot_and_in_the_epoch_before_it() {
    let (registry, statement) = (registry(), bind(3, NETWORK, b"peer"));
    let admitted = || registry.admit(b"peer", &operator(3).member(), &statement);
    assert_eq!(admitted(), Ok(Address::repeat_byte(3)));
    registry.insert(10, SNAPSHOT, &[member(1, 10)], 7).unwrap();
    assert_eq!(admitted(), Err(NotAdmitted::UnknownKey));
    registry.insert(9, SNAPSHOT, &[member(3, 5)], 7).unwrap();
    assert_eq!(admitted(), Ok(Address::repeat_byte(3)));
}

#[test]
fn peers_of_operators_are_admitted() {
    let registry = registry();
    let statement = bind(3, NETWORK, b"peer");
    for _ in 0..2 {
        assert_eq!(registry.admit(b"peer", &operator(3).member(), &statement), Ok(Address::repeat_byte(3)));
    }
    let other = Contract { chain_id: 1, ..NETWORK };
    for (peer, key, signature, expected) in [
        (&b"pier"[..], 3, statement.clone(), NotAdmitted::FalseSignature),
        (b"peer", 1, statement.clone(), NotAdmitted::FalseSignature),
        (b"peer", 3, bind(3, other, b"peer"), NotAdmitted::FalseSignature),
        (b"peer", 3, bind(1, NETWORK, b"peer"), NotAdmitted::FalseSignature),
        (b"peer", 3, Bytes::new(), NotAdmitted::FalseSignature),
        (b"peer", 2, bind(2, NETWORK, b"peer"), NotAdmitted::UnknownKey),
        (b"peer", 4, bind(4, NETWORK, b"peer"), NotAdmitted::UnknownKey),
    ] {
        assert_eq!(registry.admit(peer, &operator(key).member(), &signature), Err(expected));
    }
    assert_eq!(Registry::new(NETWORK).admit(b"peer", &operator(3).member(), &statement), Err(NotAdmitted::NoSnapshot));

    // Two epochs later the operator has left. Its statement holds no longer, though it was verified before.
    registry.insert(8, SNAPSHOT, &[member(1, 10)], 7).unwrap();
    assert_eq!(registry.admit(b"peer", &operator(3).member(), &statement), Ok(Address::repeat_byte(3)));
    registry.insert(9, SNAPSHOT, &[member(1, 10)], 8).unwrap();
    assert_eq!(registry.admit(b"peer", &operator(3).member(), &statement), Err(NotAdmitted::UnknownKey));
    assert_eq!(registry.key(7, SNAPSHOT, 2), None);

    // A reorganisation removed the epoch's snapshot.
    registry.remove(9);
    assert!(registry.key(8, SNAPSHOT, 0).is_some() && registry.key(9, SNAPSHOT, 0).is_none());
}
