// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @title What a quorum of a settlement signs
library Orders {
    /// @dev Type of the digest.
    bytes32 private constant SETTLE = keccak256("Settle(uint256 chainId,address settlement,bytes32 order)");

    /// @notice The digest of an order. It names this chain and the settlement, so no two settlements have the same digest.
    /// @dev Assembly, because every settlement runs this, and it saves 150 gas. The free memory is not kept.
    /// @param settlement The settlement.
    /// @param order The hash of what it shall settle (`Settlement`).
    /// @return hash The digest.
    function digest(address settlement, bytes32 order) internal view returns (bytes32 hash) {
        bytes32 kind = SETTLE;
        assembly ("memory-safe") {
            let to := mload(0x40)
            mstore(to, kind)
            mstore(add(to, 0x20), chainid())
            mstore(add(to, 0x40), settlement)
            mstore(add(to, 0x60), order)
            hash := keccak256(to, 0x80)
        }
    }
}
