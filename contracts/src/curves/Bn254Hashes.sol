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

    /// @notice Σ H(digest) to 64 bytes at `to`, behind which 64 more are room for the work. About 600 gas for the first digest,
    /// 750 for another, and 16 a byte of its hint.
    function sum(bytes32[] memory digests, bytes calldata hints, uint256 to) internal view {
        uint256 count = digests.length;
        uint256 next = to;
        // Unchecked: positions in memory and calldata, at 150 gas a digest.
        unchecked {
            require(hints.length == HINT * count, HintsLength(hints.length, HINT * count));
            for (uint256 i = 0; i < count; i++) {
                bytes32 digest;
                uint8 counter;
                uint256 y;
                // Both lengths were checked; slices would check them again, for 900 gas.
                assembly ("memory-safe") {
                    let hint := add(hints.offset, mul(HINT, i))
                    counter := byte(0, calldataload(hint))
                    y := calldataload(add(hint, 1))
                    digest := mload(add(add(digests, 0x20), shl(5, i)))
                }
                HashToBn254.hashTo(digest, counter, y, next);
                if (next != to) Bn254.addAt(to);
                next = to + 0x40;
            }
        }
    }
}
