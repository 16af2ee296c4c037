//! The nonuniform hash of digests, and what is signed under it: known answers, and the two suites apart from each other.
#![allow(clippy::unwrap_used, reason = "an answer that cannot be read fails the test")]

use quorate::{Suite, aggregate::aggregate};
use quorate_curve::{Backend, Bls12381Group, G1, Group};
use quorate_evm::{
    KeyGroup, MemberSet, OperatorKey,
    alloy_primitives::Address,
    bls12381::{self, DigestHash, NONUNIFORM_SUITE, SUITE},
    digest::Contract,
};
use quorate_lab::operators::Operators;
use serde_json::Value;

/// The file that the contracts' tests read, too.
fn answers() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/test/vectors/EncodeToBls12381.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    const_hex::decode(value.as_str().unwrap()).unwrap()
}

/// RFC 9380, appendix J.9.2.
#[test]
fn known_answers_of_encode_to_curve() {
    let answers = answers();
    let dst = answers["dst"].as_str().unwrap().as_bytes();
    let vectors = answers["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 5);
    for vector in vectors {
        let message = vector["msg"].as_str().unwrap().as_bytes();
        let point: G1 = Backend::Portable.encode_to_curve_one(dst, (b"", message));
        assert_eq!(point.serialize()[..], bytes(&vector["point"]));
        // The two parts of a message are one message.
        let (prefix, body) = message.split_at(message.len() / 2);
        assert_eq!(Backend::Portable.encode_to_curve_one::<G1>(dst, (prefix, body)), point);
    }
}

/// The contracts' tests compare the same answers with their own hash.
#[test]
fn points_of_digests_are_those_of_the_contracts() {
    let answers = answers();
    assert_eq!(answers["suite"].as_str(), Some(NONUNIFORM_SUITE));
    let answers = answers["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 16);
    for answer in answers {
        let digest = bytes(&answer["digest"]).try_into().unwrap();
        let point = DigestHash::Nonuniform.point(&digest);
        assert_eq!(point.serialize()[..], bytes(&answer["point"]));
    }
}

/// A signature under one suite is false under the other, with the key, the digest and the contract the same.
#[test]
fn signatures_of_the_other_suite() {
    let secret = [3; 32];
    let uniform = OperatorKey::from_bytes(KeyGroup::Bls12381G2, &secret).unwrap();
    let nonuniform = OperatorKey::from_bytes(KeyGroup::Bls12381G2Nu, &secret).unwrap();
    assert_eq!(uniform.member(), nonuniform.member(), "one secret has one key");
    let key = bls12381::decode_key(&uniform.member()).unwrap();
    let digest = [7; 32];
    for (operator, own, other) in [
        (&uniform, DigestHash::Uniform, DigestHash::Nonuniform),
        (&nonuniform, DigestHash::Nonuniform, DigestHash::Uniform),
    ] {
        let signature = bls12381::decode_signature(operator.sign(&digest).as_bytes()).unwrap();
        assert!(own.verify(&key, &[digest], &signature));
        assert!(!other.verify(&key, &[digest], &signature));
        assert!(!own.verify(&key, &[[8; 32]], &signature) && !own.verify(&key, &[], &signature));
    }
    let contract = Contract { chain_id: 1, address: Address::repeat_byte(0xaa) };
    let owner = Address::repeat_byte(1);
    let (proof, other) = (uniform.registration(contract, owner), nonuniform.registration(contract, owner));
    assert_eq!((&proof.key, proof.digest), (&other.key, other.digest), "what is proven is the same");
    assert_ne!(proof.proof, other.proof, "the proof is not");
}

/// Neither the tag alone nor the number of maps alone tells the suites apart.
#[test]
fn one_map_under_the_other_tag_is_a_third_hash() {
    let digest = [7; 32];
    let message = (&b""[..], &digest[..]);
    let swapped: [G1; 2] = [
        Backend::Portable.encode_to_curve_one(SUITE.id().as_bytes(), message),
        Backend::Portable.hash_to_curve_one(NONUNIFORM_SUITE.as_bytes(), message),
    ];
    for point in swapped {
        assert!(point != DigestHash::Uniform.point(&digest) && point != DigestHash::Nonuniform.point(&digest));
        assert!(Backend::Portable.is_member(&point) && !point.is_identity());
    }
}

/// The sum of signatures over several digests verifies as one, and says nothing about other digests.
#[test]
fn sums_over_several_digests() {
    let operators = Operators::new(KeyGroup::Bls12381G2Nu, 3);
    let digests = [[1; 32], [2; 32], [3; 32]];
    let signature = operators.sign(&MemberSet::full(3), &digests);
    let signature = bls12381::decode_signature(signature.as_bytes()).unwrap();
    let keys: Vec<_> = operators.members().iter().map(|key| bls12381::decode_key(key).unwrap()).collect();
    let key = bls12381::sum(None, keys, []).unwrap();
    assert!(DigestHash::Nonuniform.verify(&key, &digests, &signature));
    assert!(!DigestHash::Nonuniform.verify(&key, &digests[..2], &signature));
    assert!(!DigestHash::Nonuniform.verify(&key, &[[1; 32], [2; 32], [4; 32]], &signature));
    let twice = aggregate(&[signature, signature], Backend::Portable).unwrap();
    assert!(!DigestHash::Nonuniform.verify(&key, &digests, &twice));
}
