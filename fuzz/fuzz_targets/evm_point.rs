//! BN254 points in the EVM's order: what decodes is what it encodes to, in its group.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_evm::{
    DualKey, Profile, PublicKey, Signature,
    bn254::{G1, G2, Item, decode_g1, decode_g2, encode_g1, encode_g2},
};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(point) = decode_g1(bytes, Item::Point) {
        assert_eq!(encode_g1(&point), bytes);
        assert!(point.is_on_curve());
    }
    if let Ok(point) = decode_g2(bytes, Item::Point) {
        assert_eq!(encode_g2(&point), bytes);
        assert!(point.is_on_curve());
    }
    let zeros = bytes.iter().all(|byte| *byte == 0);
    if let Ok(key) = PublicKey::<G1>::from_bytes(bytes) {
        assert!(!zeros && key.to_bytes() == bytes);
    }
    if let Ok(key) = PublicKey::<G2>::from_bytes(bytes) {
        assert!(!zeros && key.to_bytes() == bytes);
    }
    if let Ok(key) = DualKey::from_bytes(bytes) {
        assert_eq!(key.to_bytes(), bytes);
    }
    if let Ok(signature) = Signature::from_bytes(bytes) {
        assert_eq!(signature.to_bytes(), bytes);
    }
    // A key and a signature that somebody made up hold for nothing.
    for profile in Profile::all() {
        let (key, signature) = bytes.split_at(bytes.len().min(profile.key_bytes()));
        assert!(profile.verify(key, &[0; 32], signature).is_err());
    }
});
