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
        uint256 length = hints.length;
        // Unchecked: lengths, and positions in memory and calldata.
        unchecked {
            require(length == HINT * digests.length, HintsLength(length, HINT * digests.length));
            uint256 next = to;
            for (uint256 i = 0; i < length; i += HINT) {
                bytes32 digest;
                uint256 counter;
                uint256 y;
                // Both lengths were checked; slices would check them again, for 900 gas.
                assembly ("memory-safe") {
                    digests := add(digests, 0x20)
                    digest := mload(digests)
                    let hint := add(hints.offset, i)
                    counter := byte(0, calldataload(hint))
                    y := calldataload(add(hint, 1))
                }
                HashToBn254.hashTo(digest, counter, y, next);
                if (next != to) Bn254.addAt(to);
                next = to + 0x40;
            }
        }
    }
}
