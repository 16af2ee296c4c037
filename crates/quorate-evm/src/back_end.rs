//! Which curve, and which of its groups, holds the keys of a contract.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A back end of the contracts. Which one costs least depends on how many members change: `quorate-bench gas`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(clippy::exhaustive_enums, reason = "the contracts have three, and callers match on all of them")]
pub enum BackEnd {
    #[serde(rename = "a")]
    /// a: BN254, keys in G2, signatures in G1.
    Bn254G2,
    #[serde(rename = "b")]
    /// b: BN254, keys in G1, the sum in G2 supplied and checked against them.
    Bn254G1,
    #[serde(rename = "d")]
    /// d: BLS12-381 over EIP-2537, keys in G2, signatures in G1.
    Bls12381G2,
}

impl BackEnd {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bn254G2, Self::Bn254G1, Self::Bls12381G2];

    /// Bytes of a key as the contract keeps it: in pages, in a base's preimage.
    pub const fn key_bytes(self) -> usize {
        match self {
            Self::Bn254G2 => 128,
            Self::Bn254G1 => 64,
            Self::Bls12381G2 => 192,
        }
    }

    /// Bytes of an aggregate signature in the packed quorum.
    pub const fn signature_bytes(self) -> usize {
        match self {
            Self::Bn254G2 | Self::Bn254G1 => 64,
            Self::Bls12381G2 => 96,
        }
    }
}

impl fmt::Display for BackEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Bn254G2 => "a (BN254, keys in G2)",
            Self::Bn254G1 => "b (BN254, keys in G1)",
            Self::Bls12381G2 => "d (BLS12-381, keys in G2)",
        })
    }
}
