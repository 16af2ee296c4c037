// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

// What the adapters call of Symbiotic's core: symbioticfi/core, v1.0.3 and v2.0.0 (in both the same), in src/interfaces:
// common/IRegistry.sol, common/IEntity.sol, service/IOptInService.sol, service/INetworkMiddlewareService.sol,
// vault/IVaultStorage.sol, delegator/IBaseDelegator.sol, and of slasher: IBaseSlasher.sol, ISlasher.sol, IVetoSlasher.sol.

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

/// @title Four functions of a vault
interface IVault {
    /// @notice The contract that says which operator has which part of the vault's stake.
    /// @return The delegator; zero if it is not set yet.
    function delegator() external view returns (address);

    /// @notice The contract through which networks slash.
    /// @return The slasher; zero if nothing can be slashed.
    function slasher() external view returns (address);

    /// @notice Who gets what is slashed.
    /// @return The account; zero if nobody was named. Then most collateral refuses the transfer, and nothing can be slashed.
    function burner() external view returns (address);

    /// @notice The length of the vault's epochs. Stake that was there at a time can be slashed for as long.
    /// @return The length in seconds.
    function epochDuration() external view returns (uint48);
}

/// @title Two functions of a vault's delegator
interface IBaseDelegator {
    /// @notice The kind of delegator: 0 divides the vault's stake among operators, 1 gives all of it to each of them up to
    /// a limit, 2 and 3 give it to one operator.
    /// @return The kind.
    // The name is Symbiotic's.
    // slither-disable-next-line naming-convention
    function TYPE() external view returns (uint64);

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

/// @title The service where networks name who slashes for them
interface INetworkMiddlewareService {
    /// @notice Who slashes for a network.
    /// @param network The network.
    /// @return The account; zero if nobody.
    function middleware(address network) external view returns (address);
}

/// @title Three functions that all slashers have
interface IBaseSlasher {
    /// @notice The kind of slasher: 0 slashes at once, 1 lets a resolver veto.
    /// @return The kind.
    // The name is Symbiotic's.
    // slither-disable-next-line naming-convention
    function TYPE() external view returns (uint64);

    /// @notice The service that says who may slash.
    /// @return The service.
    // slither-disable-next-line naming-convention
    function NETWORK_MIDDLEWARE_SERVICE() external view returns (address);

    /// @notice What can still be slashed of the stake that an operator had at the end of a second. It is zero if that is
    /// longer ago than one of the vault's epochs, or if the operator was slashed for a later second.
    /// @param subnetwork The subnetwork.
    /// @param operator The operator.
    /// @param captureTimestamp The second.
    /// @param hints Where checkpoints are; may be empty.
    /// @return The amount, in units of the vault's collateral.
    function slashableStake(bytes32 subnetwork, address operator, uint48 captureTimestamp, bytes memory hints)
        external
        view
        returns (uint256);
}

/// @title A slasher of kind 0
interface ISlasher {
    /// @notice Slashes. Only for the network's middleware.
    /// @param subnetwork The subnetwork.
    /// @param operator The operator.
    /// @param amount At most so much is slashed.
    /// @param captureTimestamp The second whose stake is slashed.
    /// @param hints Where checkpoints are; may be empty.
    /// @return slashedAmount What was slashed.
    function slash(bytes32 subnetwork, address operator, uint256 amount, uint48 captureTimestamp, bytes calldata hints)
        external
        returns (uint256 slashedAmount);
}

/// @title Three functions of a slasher of kind 1
interface IVetoSlasher {
    /// @notice For how long a resolver may veto.
    /// @return The time in seconds.
    function vetoDuration() external view returns (uint48);

    /// @notice Asks for a slashing. Only for the network's middleware.
    /// @param subnetwork The subnetwork.
    /// @param operator The operator.
    /// @param amount At most so much is slashed.
    /// @param captureTimestamp The second whose stake is slashed.
    /// @param hints Where checkpoints are; may be empty.
    /// @return slashIndex The number of the request.
    function requestSlash(
        bytes32 subnetwork,
        address operator,
        uint256 amount,
        uint48 captureTimestamp,
        bytes calldata hints
    ) external returns (uint256 slashIndex);

    /// @notice Executes a request whose time for a veto is over. Only for the network's middleware.
    /// @param slashIndex The number of the request.
    /// @param hints Where checkpoints are; may be empty.
    /// @return slashedAmount What was slashed.
    function executeSlash(uint256 slashIndex, bytes calldata hints) external returns (uint256 slashedAmount);
}
