//! Known answers of RFC 9380's hash on BN254, through the hints and the contract's check of them.
#![allow(clippy::unwrap_used, reason = "an answer that cannot be read fails the test")]

use ark_ec::AffineRepr;
use quorate_bn254::MessagePoint;
use quorate_evm::hint::{MapHint, Rfc9380Hint};
use quorate_lab::bn254::{bytes, cases, element, text};

/// All three candidates occur.
#[test]
fn hints_of_the_map() {
    let mut by_candidate = [0; 4];
    for case in cases("02_bn254_h2c", "svdw_map_to_point", "cases") {
        let u = element(&case["u"], 10);
        let expected = (element(&case["x"], 10), element(&case["y"], 10));
        let hint = MapHint::new(u);
        assert_eq!(hint.check(u).unwrap().xy(), Some(expected));
        by_candidate[hint.candidate as usize] += 1;
    }
    assert!(by_candidate[1..].iter().all(|n| *n > 0) || by_candidate == [0; 4]);
}

#[test]
fn hints_of_whole_hashes() {
    for case in cases("02_bn254_h2c", "hash_to_curve_keccak", "cases") {
        let (message, tag) = (bytes(&case["msg"]), text(&case["dst"]).as_bytes());
        let point = Rfc9380Hint::new(&message, tag).check(&message, tag);
        assert_eq!(point.as_ref().map(MessagePoint::to_bytes).unwrap().to_vec(), bytes(&case["point"]));
    }
}
