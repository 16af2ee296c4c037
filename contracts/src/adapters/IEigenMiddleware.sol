// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

// What the signature checker reads of a service's registries: Layr-Labs/eigenlayer-middleware. Contracts of theirs are
// addresses here, which have the same selectors and encodings.
//
// Each value has a history, an array of entries, each with the block from which it counts and the block from which the
// next one does. The functions with an index revert unless the entry at the index counted in the block.

/// @title What is read of their RegistryCoordinator
interface IEigenCoordinator {
    /// @notice The contract that keeps the stakes.
    /// @return Its address.
    function stakeRegistry() external view returns (address);

    /// @notice The contract that keeps the keys.
    /// @return Its address.
    function blsApkRegistry() external view returns (address);

    /// @notice How many quorums there are.
    /// @return The number.
    function quorumCount() external view returns (uint8);

    /// @notice The block in which the stakes of all operators of a quorum were last updated by one call.
    /// @param quorumNumber The quorum.
    /// @return The block; 0 if that never happened.
    function quorumUpdateBlockNumber(uint8 quorumNumber) external view returns (uint256);

    /// @notice The quorums of an operator in a block.
    /// @param operatorId The hash of the operator's key.
    /// @param blockNumber The block.
    /// @param index The index of the entry that counted.
    /// @return A bitmap.
    function getQuorumBitmapAtBlockNumberByIndex(bytes32 operatorId, uint32 blockNumber, uint256 index)
        external
        view
        returns (uint192);

    /// @notice The indices of the entries that counted in a block.
    /// @param blockNumber The block.
    /// @param operatorIds The operators.
    /// @return An index for each operator.
    function getQuorumBitmapIndicesAtBlockNumber(uint32 blockNumber, bytes32[] memory operatorIds)
        external
        view
        returns (uint32[] memory);
}

/// @title What is read of their StakeRegistry
interface IEigenStakes {
    /// @notice EigenLayer's DelegationManager.
    /// @return Its address.
    function delegation() external view returns (address);

    /// @notice The stake of a quorum in a block.
    /// @param quorumNumber The quorum.
    /// @param blockNumber The block.
    /// @param index The index of the entry that counted.
    /// @return The stake of all its operators.
    function getTotalStakeAtBlockNumberFromIndex(uint8 quorumNumber, uint32 blockNumber, uint256 index)
        external
        view
        returns (uint96);

    /// @notice The stake of an operator in a block.
    /// @param quorumNumber The quorum.
    /// @param blockNumber The block.
    /// @param operatorId The hash of the operator's key.
    /// @param index The index of the entry that counted.
    /// @return Its stake in the quorum.
    function getStakeAtBlockNumberAndIndex(uint8 quorumNumber, uint32 blockNumber, bytes32 operatorId, uint256 index)
        external
        view
        returns (uint96);

    /// @notice The index of the entry that counted in a block.
    /// @param operatorId The operator.
    /// @param quorumNumber The quorum.
    /// @param blockNumber The block.
    /// @return The index.
    function getStakeUpdateIndexAtBlockNumber(bytes32 operatorId, uint8 quorumNumber, uint32 blockNumber)
        external
        view
        returns (uint32);

    /// @notice The indices of the entries that counted in a block.
    /// @param blockNumber The block.
    /// @param quorumNumbers The quorums.
    /// @return An index for each quorum.
    function getTotalStakeIndicesAtBlockNumber(uint32 blockNumber, bytes calldata quorumNumbers)
        external
        view
        returns (uint32[] memory);
}

/// @title What is read of their BLSApkRegistry
interface IEigenKeys {
    /// @notice The hash of a quorum's aggregate key in a block.
    /// @param quorumNumber The quorum.
    /// @param blockNumber The block.
    /// @param index The index of the entry that counted.
    /// @return The first 24 bytes of the hash.
    function getApkHashAtBlockNumberAndIndex(uint8 quorumNumber, uint32 blockNumber, uint256 index)
        external
        view
        returns (bytes24);

    /// @notice The indices of the entries that counted in a block.
    /// @param quorumNumbers The quorums.
    /// @param blockNumber The block.
    /// @return An index for each quorum.
    function getApkIndicesAtBlockNumber(bytes calldata quorumNumbers, uint256 blockNumber)
        external
        view
        returns (uint32[] memory);
}
