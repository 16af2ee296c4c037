// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @title A contract that acts on settled results
/// @notice An implementation must check that its settlement calls.
interface IResultReceiver {
    /// @notice Takes results that were settled. If it reverts, the settlement reverts, and no later result settles
    /// either. So it should not depend on calls that others can make fail.
    /// @param nonce The number of the first result.
    /// @param results The results, whose numbers follow each other; at least one.
    function onResults(uint256 nonce, bytes32[] calldata results) external;
}
