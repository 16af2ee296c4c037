//! BN254 points in the EVM's byte order: what decodes is in its group, and encodes to the same bytes.

use quorate_bn254::{
    Bn254Item, Bn254PublicKey, Bn254Signature, Bn254Suite, DualKey, G1Affine, G2Affine,
    encoding::{decode_g1, decode_g2, encode_g1, encode_g2},
    verify,
};

pub fn run(bytes: &[u8]) {
    if let Ok(point) = decode_g1(bytes, Bn254Item::Point) {
        crate::accepted();
        assert_eq!(encode_g1(&point), bytes);
        assert!(point.is_on_curve());
    }
    if let Ok(point) = decode_g2(bytes, Bn254Item::Point) {
        assert_eq!(encode_g2(&point), bytes);
        assert!(point.is_on_curve());
    }
    let zeros = bytes.iter().all(|byte| *byte == 0);
    if let Ok(key) = Bn254PublicKey::<G1Affine>::from_bytes(bytes) {
        assert!(!zeros && key.to_bytes() == bytes);
    }
    if let Ok(key) = Bn254PublicKey::<G2Affine>::from_bytes(bytes) {
        assert!(!zeros && key.to_bytes() == bytes);
    }
    if let Ok(key) = DualKey::from_bytes(bytes) {
        assert_eq!(key.to_bytes(), bytes);
    }
    if let Ok(signature) = Bn254Signature::from_bytes(bytes) {
        assert_eq!(signature.to_bytes(), bytes);
    }
    // Nobody finds a signature by chance.
    for suite in Bn254Suite::all() {
        let (key, signature) = bytes.split_at(bytes.len().min(suite.key_bytes()));
        let Ok(message) = suite.hash(&[0; 32]) else { continue };
        if let (Ok(key), Ok(signature)) = (suite.key(key), Bn254Signature::from_bytes(signature)) {
            assert!(!verify(&key, &message, &signature));
        }
    }
}
