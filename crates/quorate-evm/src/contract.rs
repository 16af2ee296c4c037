//! The contracts as Rust calls them: their ABI and creation code, as `contracts/` compiles to.
//!
//! The files in `abi/` are written by `make contracts-snapshots`, and `make contracts` fails where they are not what the
//! contracts compile to.

/// The settlements, one for each back end, with one interface.
#[allow(missing_docs, reason = "generated from the ABI; the documentation is in the contracts")]
mod generated {
    use alloy_sol_types::sol;

    sol!(#[sol(ignore_unlinked)] SettlementBn254G2, "abi/SettlementBn254G2.json");
    sol!(#[sol(ignore_unlinked)] SettlementBn254G1, "abi/SettlementBn254G1.json");
    sol!(#[sol(ignore_unlinked)] SettlementBls12381G2, "abi/SettlementBls12381G2.json");
}

pub use generated::{SettlementBls12381G2, SettlementBn254G1, SettlementBn254G2};

use alloy_primitives::Bytes;

use crate::back_end::BackEnd;

impl BackEnd {
    /// The creation code of its settlement, before the arguments of the constructor.
    pub fn creation_code(self) -> &'static Bytes {
        match self {
            Self::Bn254G2 => &SettlementBn254G2::BYTECODE,
            Self::Bn254G1 => &SettlementBn254G1::BYTECODE,
            Self::Bls12381G2 => &SettlementBls12381G2::BYTECODE,
        }
    }
}
