// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @title A contract that acts on settled results
/// @notice An implementation must check that its settlement calls.
interface IResultReceiver {
    /// @notice Takes results that were settled. If it reverts, the settlement reverts, and no later result settles
    /// either. In an optimistic settlement a proof reverts, which costs a poster its penalty if the proof was demanded. So
    /// it should not depend on calls that others can make fail: it notes the results, and acts later.
    /// @param nonce The number of the first result.
    /// @param results The results, whose numbers follow each other; at least one.
    function onResults(uint256 nonce, bytes32[] calldata results) external;
}
