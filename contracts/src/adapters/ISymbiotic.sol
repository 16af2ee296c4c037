// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

// What the adapter calls of Symbiotic's core: symbioticfi/core, v1.0.3 and v2.0.0 (in both the same), in src/interfaces:
// common/IRegistry.sol, service/IOptInService.sol, vault/IVaultStorage.sol and delegator/IBaseDelegator.sol.

/// @title A registry of networks, of operators or of vaults
interface IRegistry {
    /// @notice Whether an account is registered.
    /// @param account The account.
    /// @return Whether it is.
    function isEntity(address account) external view returns (bool);
}

/// @title The service where operators opt in to networks
interface IOptInService {
    /// @notice Whether an operator is opted in.
    /// @param who The operator.
    /// @param where The network.
    /// @return Whether it is.
    function isOptedIn(address who, address where) external view returns (bool);
}

/// @title Three functions of a vault
interface IVault {
    /// @notice The contract that says which operator has which part of the vault's stake.
    /// @return The delegator; zero if it is not set yet.
    function delegator() external view returns (address);

    /// @notice The contract through which networks slash.
    /// @return The slasher; zero if nothing can be slashed.
    function slasher() external view returns (address);

    /// @notice The length of the vault's epochs. Stake that was there at a time can be slashed for as long.
    /// @return The length in seconds.
    function epochDuration() external view returns (uint48);
}

/// @title One function of a vault's delegator
interface IBaseDelegator {
    /// @notice The stake that a subnetwork can slash of an operator, as it was at the end of a second. It is zero unless
    /// the operator was opted in to the vault and to the network then.
    /// @param subnetwork The network's address, above 96 bits of an identifier.
    /// @param operator The operator.
    /// @param timestamp The second, in Unix time.
    /// @param hints Where checkpoints are; may be empty.
    /// @return The stake, in units of the vault's collateral.
    function stakeAt(bytes32 subnetwork, address operator, uint48 timestamp, bytes memory hints)
        external
        view
        returns (uint256);
}
