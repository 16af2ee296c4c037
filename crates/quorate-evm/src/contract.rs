//! The contracts' interfaces and creation code, generated from the compiled contracts of `contracts/`.
//!
//! `make contracts-snapshots` writes the files in `abi/` and `code/`; `make contracts` fails if they differ from what the contracts
//! compile to. Contracts that differ by their keys alone have one interface, with the errors of all. [`HubSettlement`] has what
//! a settlement with a hub adds to a [`Settlement`], and [`OptimisticSettlement`] what one adds to which results are posted.
//! [`RestakedTaskNetwork`] has what a network with restaked operators adds to a [`TaskNetwork`]; its source answers to the network's
//! own `stakeOf`. [`TestToken`] is what a network of one's own gets if it names no token. The types of a contract's parameters are in
//! the module of its name, such as [`task_network::ITaskNetwork::Task`].

use crate::key_group::KeyGroup;

macro_rules! interfaces {
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

interfaces! {
    settlement: Settlement, "abi/Settlement.json";
    hub_settlement: HubSettlement, "abi/HubSettlement.json";
    optimistic_settlement: OptimisticSettlement, "abi/OptimisticSettlement.json";
    hub: Hub, "abi/Hub.json";
    verifier: Verifier, "abi/Verifier.json";
    task_network: TaskNetwork, "abi/TaskNetwork.json";
    restaked_task_network: RestakedTaskNetwork, "abi/RestakedTaskNetwork.json";
    stake_registrar: StakeRegistrar, "abi/StakeRegistrar.json";
    test_token: TestToken, "abi/TestToken.json";
}

/// The calls that are made to a token, whichever it is (ERC-20).
#[allow(missing_docs, reason = "generated; the functions are those of the standard")]
pub mod token {
    alloy_sol_types::sol! {
        interface Erc20 {
            function allowance(address owner, address spender) external view returns (uint256);
            function approve(address spender, uint256 value) external returns (bool);
            function balanceOf(address account) external view returns (uint256);
            function decimals() external view returns (uint8);
            function symbol() external view returns (string);
            function transfer(address to, uint256 value) external returns (bool);
        }
    }
}
pub use token::Erc20;

/// What reads of a restaking protocol revert with (`Reads.sol`). A network hands it on from its source.
#[allow(missing_docs, reason = "generated; the comment is in the contract")]
pub mod reads {
    alloy_sol_types::sol! {
        error NotEnoughGas(uint256 left, uint256 least);
    }
}
pub use reads::NotEnoughGas;

/// The creation code of a task network. The constructor's arguments follow it.
pub const TASK_NETWORK_CODE: &[u8] = include_bytes!("../code/TaskNetwork.bin");

/// The creation code of the token for tests. The constructor's arguments follow it.
pub const TEST_TOKEN_CODE: &[u8] = include_bytes!("../code/TestToken.bin");

impl KeyGroup {
    /// The creation code of the settlement for these keys. The constructor's arguments follow it.
    pub fn creation_code(self) -> &'static [u8] {
        match self {
            Self::Bn254G2 => include_bytes!("../code/SettlementBn254G2.bin"),
            Self::Bn254G1 => include_bytes!("../code/SettlementBn254G1.bin"),
            Self::Bls12381G2 => include_bytes!("../code/SettlementBls12381G2.bin"),
            Self::Bls12381G2Nu => include_bytes!("../code/SettlementBls12381G2Nu.bin"),
        }
    }

    /// The creation code of a task network's verifier for these keys. The constructor's arguments follow it: the
    /// network, and how many slots are pinned.
    pub fn verifier_code(self) -> &'static [u8] {
        match self {
            Self::Bn254G2 => include_bytes!("../code/VerifierBn254G2.bin"),
            Self::Bn254G1 => include_bytes!("../code/VerifierBn254G1.bin"),
            Self::Bls12381G2 => include_bytes!("../code/VerifierBls12381G2.bin"),
            Self::Bls12381G2Nu => include_bytes!("../code/VerifierBls12381G2Nu.bin"),
        }
    }

    /// The creation code of the settlement for these keys to which results may also be posted without a proof. The constructor's
    /// arguments follow it. `None` if there is none for such keys.
    pub fn optimistic_code(self) -> Option<&'static [u8]> {
        match self {
            Self::Bn254G2 => None,
            Self::Bn254G1 => Some(include_bytes!("../code/OptimisticSettlementBn254G1.bin")),
            Self::Bls12381G2 => Some(include_bytes!("../code/OptimisticSettlementBls12381G2.bin")),
            Self::Bls12381G2Nu => Some(include_bytes!("../code/OptimisticSettlementBls12381G2Nu.bin")),
        }
    }

    /// The creation code of a hub for these keys, which has no constructor, and of a settlement that it serves, before the
    /// constructor's arguments; `None` if hubs do not take such keys.
    pub fn hub_codes(self) -> Option<[&'static [u8]; 2]> {
        match self {
            Self::Bn254G2 => None,
            Self::Bn254G1 => {
                Some([include_bytes!("../code/HubBn254G1.bin"), include_bytes!("../code/HubSettlementBn254G1.bin")])
            }
            Self::Bls12381G2 => Some([
                include_bytes!("../code/HubBls12381G2.bin"),
                include_bytes!("../code/HubSettlementBls12381G2.bin"),
            ]),
            Self::Bls12381G2Nu => Some([
                include_bytes!("../code/HubBls12381G2Nu.bin"),
                include_bytes!("../code/HubSettlementBls12381G2Nu.bin"),
            ]),
        }
    }
}
