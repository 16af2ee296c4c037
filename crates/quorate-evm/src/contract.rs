//! The contracts' ABI and creation code, generated from the compiled contracts of `contracts/`.
//!
//! `make contracts-snapshots` writes the files in `abi/`; `make contracts` fails if they differ from what the contracts
//! compile to. [`TestToken`] is what a network of one's own gets if it names no token. The settlements have one interface, so calls to any of them can be made with
//! [`SettlementBn254G2`]; and so have the verifiers of task networks, with [`VerifierBls12381G2`]. The types of a
//! contract's parameters are in the module of its name, such as [`task_network::ITaskNetwork::Task`].

use alloy_primitives::Bytes;

use crate::key_group::KeyGroup;

macro_rules! contracts {
    ($($module:ident: $name:ident, $path:literal;)*) => { $(
        // Each contract has a module of its own: the ABIs share types, and the macro makes a module of each library and
        // base contract.
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
    bls12381_g2_nu: SettlementBls12381G2Nu, "abi/SettlementBls12381G2Nu.json";
    hub_bls12381_g2: HubBls12381G2, "abi/HubBls12381G2.json";
    hub_bls12381_g2_nu: HubBls12381G2Nu, "abi/HubBls12381G2Nu.json";
    hub_settlement_bls12381_g2: HubSettlementBls12381G2, "abi/HubSettlementBls12381G2.json";
    hub_settlement_bls12381_g2_nu: HubSettlementBls12381G2Nu, "abi/HubSettlementBls12381G2Nu.json";
    task_network: TaskNetwork, "abi/TaskNetwork.json";
    verifier_bn254_g2: VerifierBn254G2, "abi/VerifierBn254G2.json";
    verifier_bn254_g1: VerifierBn254G1, "abi/VerifierBn254G1.json";
    verifier_bls12381_g2: VerifierBls12381G2, "abi/VerifierBls12381G2.json";
    verifier_bls12381_g2_nu: VerifierBls12381G2Nu, "abi/VerifierBls12381G2Nu.json";
    stake_registrar: StakeRegistrar, "abi/StakeRegistrar.json";
    test_token: TestToken, "abi/TestToken.json";
}

/// The calls that are made to a token, whichever it is (ERC-20).
#[allow(missing_docs, reason = "generated; the functions are those of the standard")]
pub mod token {
    alloy_sol_types::sol! {
        interface Erc20 {
            function approve(address spender, uint256 value) external returns (bool);
            function balanceOf(address account) external view returns (uint256);
            function decimals() external view returns (uint8);
            function symbol() external view returns (string);
            function transfer(address to, uint256 value) external returns (bool);
        }
    }
}
pub use token::Erc20;

impl KeyGroup {
    /// The creation code of the settlement for these keys. The constructor's arguments follow it.
    pub fn creation_code(self) -> &'static Bytes {
        match self {
            Self::Bn254G2 => &SettlementBn254G2::BYTECODE,
            Self::Bn254G1 => &SettlementBn254G1::BYTECODE,
            Self::Bls12381G2 => &SettlementBls12381G2::BYTECODE,
            Self::Bls12381G2Nu => &SettlementBls12381G2Nu::BYTECODE,
        }
    }

    /// The creation code of a task network's verifier for these keys. The constructor's arguments follow it: the
    /// network, and how many slots are pinned.
    pub fn verifier_code(self) -> &'static Bytes {
        match self {
            Self::Bn254G2 => &VerifierBn254G2::BYTECODE,
            Self::Bn254G1 => &VerifierBn254G1::BYTECODE,
            Self::Bls12381G2 => &VerifierBls12381G2::BYTECODE,
            Self::Bls12381G2Nu => &VerifierBls12381G2Nu::BYTECODE,
        }
    }
}
