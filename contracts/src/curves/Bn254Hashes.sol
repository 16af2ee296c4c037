// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../libraries/Bn254.sol";
import {BN254_P} from "../libraries/Fields.sol";
import {HashToBn254} from "../libraries/HashToBn254.sol";

/// @title The sum of the hashes of several digests, on BN254
/// @notice A quorum that signs several results makes one signature for each. Their sum is checked against the sum of
/// the hashes, with one pairing.
library Bn254Hashes {
    /// @notice Bytes of a hint: 1 of the counter, 32 of y.
    uint256 private constant HINT = 33;

    /// @dev The prime of the field, and a mask of 254 bits.
    uint256 private constant P = BN254_P;
    uint256 private constant MASK = (1 << 254) - 1;

    /// @notice The proof does not hold one hint for each digest.
    /// @param length Bytes behind the rest of the proof.
    /// @param expected Bytes that the hints need.
    error HintsLength(uint256 length, uint256 expected);

    /// @notice Adds up `HashToBn254.hash` of each digest. Costs about 620 gas for the first digest and 650 for each
    /// other one, and the calldata of the hints.
    /// @dev NOT checked: that there is a digest. Without one it writes nothing.
    /// @param digests The digests, at least one.
    /// @param hints A hint for each digest, `counter (1) ‖ y (32)`.
    /// @param to Where in memory the sum is written, 64 bytes. The caller has allocated 128 bytes; the others are
    /// overwritten.
    function sum(bytes32[] memory digests, bytes calldata hints, uint256 to) internal view {
        uint256 length = hints.length;
        unchecked {
            require(length == HINT * digests.length, HintsLength(length, HINT * digests.length));
        }
        bytes32 tag = HashToBn254.TAG;
        bool accepted = true;
        bool added = true;
        // `HashToBn254.hash` is written out here, because every settled result runs it. Not memory-safe by itself: the
        // caller allocated the memory at `to`.
        assembly {
            let input := mload(0x40)
            mstore(input, tag)
            let digest := digests
            let next := to
            let first := hints.offset
            let end := add(first, length)
            for { let hint := first } lt(hint, end) { hint := add(hint, HINT) } {
                digest := add(digest, 0x20)
                mstore(add(input, 0x20), mload(digest))
                mstore(add(input, 0x40), byte(0, calldataload(hint)))
                let x := and(keccak256(input, 0x60), MASK)
                let y := calldataload(add(hint, 1))
                let isRoot := eq(mulmod(y, y, P), addmod(mulmod(mulmod(x, x, P), x, P), 3, P))
                accepted := and(and(accepted, isRoot), and(lt(x, P), and(lt(y, P), iszero(and(y, 1)))))
                mstore(next, x)
                mstore(add(next, 0x20), y)
                if gt(hint, first) {
                    // No gas if a hint is wrong: the precompile would burn nearly all, and `_refuse` needs some.
                    added := and(added, staticcall(mul(accepted, gas()), 0x06, to, 0x80, to, 0x40))
                    added := and(added, eq(returndatasize(), 0x40))
                }
                next := add(to, 0x40)
            }
        }
        if (!accepted) _refuse(digests, hints);
        if (!added) revert Bn254.AddFailed();
    }

    /// @dev Reverts with the error of the first hint that is wrong.
    /// @param digests The digests.
    /// @param hints A hint for each digest.
    function _refuse(bytes32[] memory digests, bytes calldata hints) private pure {
        for (uint256 i = 0; i < digests.length; i++) {
            bytes calldata hint = hints[HINT * i:HINT * (i + 1)];
            HashToBn254.hash(digests[i], uint8(hint[0]), uint256(bytes32(hint[1:])));
        }
    }
}
