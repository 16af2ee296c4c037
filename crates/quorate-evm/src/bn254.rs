//! BN254: points in the EVM's byte order, keys, signatures, the dual-key check.
//!
//! Words are 32 bytes, big-endian, below the prime. A point of G1 is x ‖ y, a point of G2 is x imaginary ‖ x real ‖
//! y imaginary ‖ y real (EIP-197); zeros are the identity. G1 has cofactor 1, so that a point on the curve is in the
//! group; G2 has not, and every point of it is checked.
//!
//! Signatures are in G1. Back end a registers keys in G2 and needs nothing else. Back end b registers keys in G1, where
//! additions are cheapest, and the aggregator supplies the key in G2: [`dual_key_verify`].
//!
//! The types of points, [`G1`], [`G2`], [`Fp`], [`Fp2`] and [`Scalar`], are those of arkworks.

mod dual_key;
mod encoding;
mod key;
mod signature;

pub use ark_bn254::{Fq as Fp, Fq2 as Fp2, Fr as Scalar, G1Affine as G1, G2Affine as G2};
pub use dual_key::{DualKey, challenge, dual_key_verify, dual_key_verify_exact};
pub use encoding::{
    Coordinate, Group, Item, ParseError, decode_g1, decode_g2, encode_g1, encode_g2, fp_bytes, fp_from_bytes,
};
pub use key::{PublicKey, SecretKey, aggregate, sum};
pub use signature::{MessagePoint, Signature, aggregate_verify, pairing_is_one, verify, verify_all};
