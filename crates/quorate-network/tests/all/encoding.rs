//! The encoding of messages: everything comes back, nothing has two encodings, and a decoder takes no more memory than the
//! input justifies.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use quorate_evm::{
    MemberSet, SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes},
    digest::Contract,
};
use quorate_network::{
    message::{
        Attestation, Branch, ConflictEvidence, HeldBallot, HeldTask, MAX_ANSWER_ATTESTATIONS, MAX_ANSWER_RESULTS,
        MAX_ANSWER_SUMS, MAX_BITMAP, MAX_EVIDENCE, MAX_MESSAGE, MAX_RESULT, MAX_SIGNATURE, Message, PartialSum,
        PeerAnswer, PeerRequest, Signed, TaskResult,
    },
    wire::{WireError, decode, encode},
};

const NETWORK: Contract = Contract { chain_id: 31_337, address: Address::repeat_byte(0xcc) };

fn word() -> impl Strategy<Value = B256> {
    any::<[u8; 32]>().prop_map(B256::from)
}

fn snapshot() -> impl Strategy<Value = SnapshotId> {
    any::<[u8; 20]>().prop_map(SnapshotId::from)
}

/// Half of all integers are at an edge of an encoding's length.
fn epoch() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), prop::sample::select(vec![0, 1, 127, 128, 16_383, 16_384, u64::MAX - 1, u64::MAX])]
}

fn signature() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(any::<u8>(), 1..=MAX_SIGNATURE).prop_map(Bytes::from)
}

prop_compose! {
    fn candidate()(
        epoch in epoch(), snapshot in snapshot(), id in word(), performer in any::<u32>(), result in word(),
        approved in any::<bool>(),
    ) -> Task {
        Task { epoch, snapshot, id, performer: performer.into(), result, approved }
    }
}

prop_compose! {
    fn attestation()(candidate in candidate(), index in any::<u32>(), signature in signature()) -> Attestation {
        Attestation::new(candidate, index, signature).unwrap()
    }
}

prop_compose! {
    fn result()(
        candidate in candidate(), performer in any::<u32>(), bytes in prop::collection::vec(any::<u8>(), 0..300), signature in signature(),
    ) -> TaskResult {
        let Task { epoch, snapshot, id, .. } = candidate;
        TaskResult::new(epoch, snapshot, id, performer, bytes.into(), signature).unwrap()
    }
}

prop_compose! {
    fn evidence()(first in attestation(), index in any::<u32>(), signature in signature(), later in any::<bool>()) -> ConflictEvidence {
        let held = first.candidate();
        let epoch = if later { held.epoch ^ 1 } else { held.epoch };
        let other = Task { approved: !held.approved, epoch, ..*held };
        ConflictEvidence::new(first.clone(), Attestation::new(other, index, signature).unwrap()).unwrap()
    }
}

fn members() -> impl Strategy<Value = MemberSet> {
    prop::collection::btree_set(0_usize..8192, 0..20).prop_map(|indices| indices.into_iter().collect())
}

prop_compose! {
    fn held()(
        id in word(), epoch in epoch(), snapshot in snapshot(), result in prop::option::of(word()),
        ballots in prop::collection::vec((word(), any::<bool>(), members()), 0..4), accused in members(),
    ) -> HeldTask {
        let ballot = |(result, approved, signers)| HeldBallot { result, approved, signers };
        HeldTask { id, epoch, snapshot, result, ballots: ballots.into_iter().map(ballot).collect(), accused }
    }
}

prop_compose! {
    fn sum()(held in attestation(), level in any::<u8>(), number in any::<u32>(), signers in members()) -> PartialSum {
        let mut signers = signers;
        signers.insert(7);
        let branch = Branch { level, number };
        PartialSum::new(*held.candidate(), branch, signers, held.signature().clone()).unwrap()
    }
}

fn message() -> impl Strategy<Value = Message> {
    let answer = (
        prop::collection::vec(result(), 0..3),
        prop::collection::vec(attestation(), 0..5),
        prop::collection::vec(evidence(), 0..3),
        prop::collection::vec(sum(), 0..3),
    );
    prop_oneof![
        result().prop_map(|result| Message::Signed(Signed::Result(result))),
        attestation().prop_map(|attestation| Message::Signed(Signed::Attestation(attestation))),
        evidence().prop_map(|evidence| Message::Signed(Signed::Evidence(evidence))),
        sum().prop_map(|sum| Message::Signed(Signed::Sum(sum))),
        prop::collection::vec(held(), 0..4).prop_map(|tasks| Message::Request(PeerRequest { tasks })),
        answer.prop_map(|(results, attestations, evidence, sums)| Message::Answer(PeerAnswer {
            results,
            attestations,
            evidence,
            sums
        })),
    ]
}

proptest! {
    #[test]
    fn what_is_encoded_decodes(message in message()) {
        prop_assert_eq!(decode(&encode(&message, NETWORK), NETWORK).unwrap(), message);
    }

    /// Whatever decodes after a change of any byte is another message, and has these bytes.
    #[test]
    fn a_changed_byte_changes_the_message(message in message(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = encode(&message, NETWORK);
        let place = place.index(bytes.len());
        prop_assume!(bytes[place] != byte);
        bytes[place] = byte;
        if let Ok(other) = decode(&bytes, NETWORK) {
            prop_assert_ne!(&other, &message);
            prop_assert_eq!(encode(&other, NETWORK), bytes);
        }
    }

    #[test]
    fn a_part_is_no_message(message in message(), length in any::<prop::sample::Index>()) {
        let bytes = encode(&message, NETWORK);
        let refused = decode(&bytes[..length.index(bytes.len())], NETWORK);
        prop_assert!(matches!(refused, Err(WireError::Field { .. } | WireError::Length { .. })), "{:?}", refused);
    }

    #[test]
    fn trailing_bytes_are_refused(message in message(), more in prop::collection::vec(any::<u8>(), 1..9)) {
        let mut bytes = encode(&message, NETWORK);
        let at = bytes.len();
        bytes.extend(&more);
        prop_assert_eq!(decode(&bytes, NETWORK), Err(WireError::Trailing { at, count: more.len() }));
    }

    #[test]
    fn any_bytes_are_refused_or_canonical(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(message) = decode(&bytes, NETWORK) {
            prop_assert_eq!(encode(&message, NETWORK), bytes);
        }
    }
}

fn sample() -> Attestation {
    let candidate = Task {
        epoch: 1,
        snapshot: SnapshotId::repeat_byte(2),
        id: B256::repeat_byte(3),
        performer: 4,
        result: B256::repeat_byte(5),
        approved: true,
    };
    Attestation::new(candidate, 6, Bytes::from_static(&[7, 8])).unwrap()
}

fn sample_bytes() -> Vec<u8> {
    encode(&Message::Signed(Signed::Attestation(sample())), NETWORK)
}

/// The layout, byte by byte. A change of it is a new version.
#[test]
fn the_layout_is_fixed() {
    let mut expected = vec![2, 0xe9, 0xf4, 0x01];
    expected.extend([0xcc; 20]);
    expected.push(2);
    expected.extend([3; 32]);
    expected.push(1);
    expected.extend([2; 20]);
    expected.push(4);
    expected.extend([5; 32]);
    expected.extend([1, 6, 2, 7, 8]);
    assert_eq!(sample_bytes(), expected);
}

/// The same of a sum: the places 1 and 9 of branch 300 at level 1.
#[test]
fn the_layout_of_a_sum_is_fixed() {
    let branch = Branch { level: 1, number: 300 };
    let places = [1, 9].into_iter().collect();
    let sum = PartialSum::new(*sample().candidate(), branch, places, Bytes::from_static(&[7, 8])).unwrap();
    let mut expected = sample_bytes();
    expected[24] = 6;
    expected.truncate(expected.len() - 4);
    expected.extend([1, 0xac, 0x02, 2, 0x40, 0x40, 2, 7, 8]);
    let bytes = encode(&Message::Signed(Signed::Sum(sum.clone())), NETWORK);
    assert_eq!(bytes, expected);
    assert_eq!(decode(&bytes, NETWORK), Ok(Message::Signed(Signed::Sum(sum.clone()))));
    // A bitmap without a signer, and one that ends with zeros.
    let at = bytes.len() - 6;
    let empty = [&bytes[..at], &[0, 2, 7, 8]].concat();
    let length = WireError::Length { field: "bitmap of signers", at, found: 0, least: 1, most: MAX_BITMAP };
    assert_eq!(decode(&empty, NETWORK), Err(length));
    let zeros = [&bytes[..at], &[2, 0x40, 0, 2, 7, 8]].concat();
    assert!(matches!(decode(&zeros, NETWORK), Err(WireError::NotCanonical { .. })));
    let candidate = *sum.candidate();
    for (places, signature) in
        [(MemberSet::default(), 1), (MemberSet::full(8 * MAX_BITMAP + 1), 1), (MemberSet::full(1), 97)]
    {
        assert!(PartialSum::new(candidate, branch, places, vec![1; signature].into()).is_err());
    }
}

#[test]
fn other_networks_and_versions_are_refused() {
    let bytes = sample_bytes();
    for expected in [Contract { chain_id: 1, ..NETWORK }, Contract { address: Address::ZERO, ..NETWORK }] {
        assert_eq!(decode(&bytes, expected), Err(WireError::Network { found: NETWORK, expected }));
    }
    let version = |version| [&[version], &bytes[1..]].concat();
    for found in [0, 1, 3, 255] {
        assert_eq!(decode(&version(found), NETWORK), Err(WireError::Version { found }));
    }
    let mut kind = bytes.clone();
    for found in [0, 7, 255] {
        kind[24] = found;
        assert_eq!(decode(&kind, NETWORK), Err(WireError::Kind { found, at: 24 }));
    }
}

/// The epoch 1 as two bytes, and a verdict that is neither 0 nor 1.
#[test]
fn longer_integers_and_other_flags_are_refused() {
    let bytes = sample_bytes();
    let longer = [&bytes[..57], &[0x81, 0x00], &bytes[58..]].concat();
    assert_eq!(decode(&longer, NETWORK), Err(WireError::NotCanonical { at: 57 }));
    let mut flag = bytes.clone();
    let at = bytes.len() - 5;
    flag[at] = 2;
    assert!(matches!(decode(&flag, NETWORK), Err(WireError::Field { field: "verdict", at: found, .. }) if found == at));
}

#[test]
fn lengths_beyond_their_limits_are_refused_where_they_stand() {
    let bytes = sample_bytes();
    let at = bytes.len() - 3;
    for (length, found) in [(vec![0], 0), (vec![97], 97), (vec![0xff, 0xff, 0x7f], 0x1f_ffff)] {
        let changed = [&bytes[..at], &length, &[7, 8]].concat();
        let expected = WireError::Length { field: "signature", at, found, least: 1, most: MAX_SIGNATURE };
        assert_eq!(expected.to_string(), format!("byte {at}: the signature has length {found}; it must have 1 to 96"));
        assert_eq!(decode(&changed, NETWORK), Err(expected));
    }
    let request = encode(&Message::Request(PeerRequest::default()), NETWORK);
    let long = [&request[..25], &[65]].concat();
    let expected = WireError::Length { field: "tasks", at: 25, found: 65, least: 0, most: 64 };
    assert_eq!(decode(&long, NETWORK), Err(expected));
}

#[test]
fn evidence_is_in_order_and_conflicts() {
    let first = sample();
    let other = Task { approved: false, ..*first.candidate() };
    let second = Attestation::new(other, 6, Bytes::from_static(&[9])).unwrap();
    let evidence = ConflictEvidence::new(first.clone(), second.clone()).unwrap();
    let bytes = encode(&Message::Signed(Signed::Evidence(evidence.clone())), NETWORK);
    let body = |attestation: &Attestation| {
        encode(&Message::Signed(Signed::Attestation(attestation.clone())), NETWORK)[25..].to_vec()
    };
    let parts = |one, two| [&bytes[..25], &body(one), &body(two)].concat();
    assert_eq!(parts(evidence.first(), evidence.second()), bytes);
    for (one, two) in [(evidence.second(), evidence.first()), (&first, &first)] {
        assert_eq!(decode(&parts(one, two), NETWORK), Err(WireError::NotEvidence { at: 25 }));
    }
    let no_conflict = Attestation::new(Task { epoch: 2, ..*first.candidate() }, 6, Bytes::from_static(&[7])).unwrap();
    assert_eq!(decode(&parts(&first, &no_conflict), NETWORK), Err(WireError::NotEvidence { at: 25 }));
}

/// The greatest messages that nodes make fit into the limit of all messages.
#[test]
fn the_greatest_messages_fit() {
    let signature = Bytes::from(vec![1; MAX_SIGNATURE]);
    let greatest = Task { epoch: u64::MAX, performer: u32::MAX.into(), ..*sample().candidate() };
    let attestation = Attestation::new(greatest, u32::MAX, signature.clone()).unwrap();
    let other = Task { approved: false, ..greatest };
    let other = Attestation::new(other, u32::MAX, signature.clone()).unwrap();
    let evidence = ConflictEvidence::new(attestation.clone(), other).unwrap();
    let (branch, places) = (Branch { level: u8::MAX, number: u32::MAX }, MemberSet::full(8 * MAX_BITMAP));
    let sum = PartialSum::new(greatest, branch, places, signature.clone()).unwrap();
    let result =
        TaskResult::new(u64::MAX, SnapshotId::ZERO, B256::ZERO, u32::MAX, vec![0; MAX_RESULT].into(), signature);
    let message = Message::Answer(PeerAnswer {
        results: vec![result.unwrap(); MAX_ANSWER_RESULTS],
        attestations: vec![attestation; MAX_ANSWER_ATTESTATIONS],
        evidence: vec![evidence; MAX_EVIDENCE],
        sums: vec![sum; MAX_ANSWER_SUMS],
    });
    let bytes = encode(&message, NETWORK);
    assert!(bytes.len() <= MAX_MESSAGE, "{} bytes", bytes.len());
    assert_eq!(decode(&bytes, NETWORK).unwrap(), message);
    let found = MAX_MESSAGE + 1;
    assert_eq!(decode(&vec![1; found], NETWORK), Err(WireError::TooLarge { found }));
}

/// The fuzzer's seeds are messages, so it begins behind every check.
#[test]
fn seeds_of_the_fuzzer_decode() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds");
    let network = Contract { chain_id: 1, address: Address::ZERO };
    for kind in ["result", "attestation", "evidence", "request", "answer", "sum"] {
        let bytes = std::fs::read(format!("{folder}/node-message-{kind}")).unwrap();
        assert_eq!(encode(&decode(&bytes, network).unwrap_or_else(|error| panic!("{kind}: {error}")), network), bytes);
    }
    let [saved, before] = ["node-saved", "node-saved-1"].map(|name| std::fs::read(format!("{folder}/{name}")).unwrap());
    let read = |bytes: &[u8]| quorate_network::roles::Saved::from_bytes(bytes).unwrap();
    assert_eq!(read(&saved).to_bytes(), saved);
    assert_eq!(read(&before), read(&saved), "a file of version 1");
}
