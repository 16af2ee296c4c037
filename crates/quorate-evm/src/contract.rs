//! The contracts as Rust calls them: their ABI and creation code, as `contracts/` compiles to.
//!
//! The files in `abi/` are written by `make contracts-snapshots`, and `make contracts` fails where they are not what the
//! contracts compile to. The three settlements have one interface; that of the first stands for all. Types that a contract
//! takes are in the module of its name: [`task_network::ITaskNetwork::Task`].

use alloy_primitives::Bytes;

use crate::back_end::BackEnd;

macro_rules! contracts {
    ($($module:ident: $name:ident, $path:literal;)*) => { $(
        // A module each: their ABIs share types, and the macro makes a module of each library and base contract.
        #[allow(missing_docs, clippy::all, reason = "generated from the ABI; the documentation is in the contract")]
        pub mod $module {
            alloy_sol_types::sol!($name, $path);
        }
        pub use $module::$name;
    )* };
}

contracts! {
    bn254_g2: SettlementBn254G2, "abi/SettlementBn254G2.json";
    bn254_g1: SettlementBn254G1, "abi/SettlementBn254G1.json";
    bls12381_g2: SettlementBls12381G2, "abi/SettlementBls12381G2.json";
    task_network: TaskNetwork, "abi/TaskNetwork.json";
    verifier_bn254_g2: VerifierBn254G2, "abi/VerifierBn254G2.json";
    test_token: TestToken, "abi/TestToken.json";
    sum_of_all: SumOfAll, "abi/SumOfAll.json";
    exact_match: ExactMatchCache, "abi/ExactMatchCache.json";
    difference: DifferenceCache, "abi/DifferenceCache.json";
}

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
