// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @title Reads settled results by their numbers
interface IResults {
    /// @notice A result.
    /// @param nonce The result's number.
    /// @return The result. Reverts if none is stored under this number.
    function resultAt(uint256 nonce) external view returns (bytes32);
}
