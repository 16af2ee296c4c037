// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../libraries/Bn254.sol";
import {HashToBn254} from "../libraries/HashToBn254.sol";

/// @title Hashes of several digests, summed
/// @notice One signature over several digests by one key is checked with the sum of their hashes.
library Bn254Hashes {
    /// @notice Bytes of a hint: the counter, and y.
    uint256 private constant HINT = 33;

    error HintsLength(uint256 length, uint256 expected);

    /// @notice Σ H(digest). About 500 gas a digest, and 16 a byte of its hint.
    function sum(bytes32[] memory digests, bytes calldata hints) internal view returns (Bn254.G1 memory hash) {
        require(hints.length == HINT * digests.length, HintsLength(hints.length, HINT * digests.length));
        for (uint256 i = 0; i < digests.length; i++) {
            uint8 counter;
            uint256 y;
            // The length was checked; slices would check it again, for 900 gas.
            assembly ("memory-safe") {
                let hint := add(hints.offset, mul(HINT, i))
                counter := byte(0, calldataload(hint))
                y := calldataload(add(hint, 1))
            }
            Bn254.G1 memory one = HashToBn254.hash(digests[i], counter, y);
            hash = i == 0 ? one : Bn254.add(hash, one);
        }
    }
}
