// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../libraries/Bn254.sol";
import {Bn254Hashes} from "./Bn254Hashes.sol";
import {Quorums} from "../Quorums.sol";

/// @title Quorums with keys in G1 of BN254, whose twin in G2 the aggregator shows
/// @notice A key is 64 bytes. A proof is the signature, 64 bytes; the sum's key in G2, 128 bytes in the EVM's order; and for
/// each digest its hint, `counter (1) ‖ y (32)`. The dual-key check shows that both keys have one secret. About 380 gas a
/// member that changed where they are dense, 500 where not, and 14,500 more than keys in G2 for the check. BN254 has about 100 bits of security.
abstract contract Bn254G1Keys is Quorums {
    uint256 private constant P = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;

    error FalseSignature();
    error SumIsIdentity();

    function _keyBytes() internal pure override returns (uint256) {
        return 64;
    }

    /// @dev The sum and, behind it, the key to be added: the input of the precompile.
    function _begin(uint256 key, bytes calldata) internal pure override returns (uint256 accumulator, uint256 operand) {
        accumulator = _allocate(128);
        // Room for two points: the identity is (0, 0).
        assembly {
            operand := add(accumulator, 64)
            switch key
            case 0 { calldatacopy(accumulator, calldatasize(), 64) }
            default { mcopy(accumulator, key, 64) }
        }
    }

    function _accumulate(uint256 accumulator, uint256, bool subtract) internal view override {
        bool done;
        // Registered keys are on the curve, so y is neither zero nor P.
        assembly {
            if subtract {
                let y := add(accumulator, 0x60)
                mstore(y, sub(P, mload(y)))
            }
            done := staticcall(150, 0x06, accumulator, 0x80, accumulator, 0x40)
            done := and(done, eq(returndatasize(), 0x40))
        }
        if (!done) revert Bn254.AddFailed();
    }

    /// @dev Those who left are added to the sum's negative: two negations instead of one for each. Where members are dense, the
    /// stretch of the page that holds their keys is copied at once: a copy for each takes 120 gas, and a key that is not wanted 12.
    function _accumulatePaged(uint256 sum, uint256 operand, uint256 page, uint256 first, uint256 members, uint256 own)
        internal
        view
        override
    {
        uint256 stretch;
        uint256 keys;
        assembly ("memory-safe") {
            stretch := sub(add(clz(and(members, sub(0, members))), 1), clz(members))
        }
        // Unchecked: 256 members at most.
        unchecked {
            if (stretch > 1 && stretch < 10 * _ones(members)) keys = _copyStretch(page, first, members, stretch);
        }
        uint256 left = members & ~own;
        if (left != 0) {
            _negate(sum);
            _addPaged(sum, operand, page, first, keys, left);
            _negate(sum);
        }
        if (left != members) _addPaged(sum, operand, page, first, keys, members & own);
    }

    /// @dev The keys from the first to the last of a word's members, in memory that is free again afterwards: where the key of the
    /// word's first index would be. Should that be 0, they are copied again, one by one.
    function _copyStretch(uint256 page, uint256 first, uint256 members, uint256 stretch)
        private
        view
        returns (uint256 keys)
    {
        assembly ("memory-safe") {
            keys := mload(0x40)
            let lead := shl(6, clz(members))
            extcodecopy(page, keys, add(first, lead), shl(6, stretch))
            keys := sub(keys, lead)
        }
    }

    /// @dev sum := -sum. Of a point of the curve y is not zero, and of the identity it stays so.
    function _negate(uint256 sum) private pure {
        assembly {
            let y := mload(add(sum, 0x20))
            mstore(add(sum, 0x20), mul(iszero(iszero(y)), sub(P, y)))
        }
    }

    /// @dev Adds members of a word, whose keys are in memory at `keys`, or else in the page.
    function _addPaged(uint256 sum, uint256 operand, uint256 page, uint256 first, uint256 keys, uint256 members)
        private
        view
    {
        bool done = true;
        assembly {
            switch keys
            case 0 {
                for {} members {} {
                    let place := clz(members)
                    members := xor(members, shr(place, shl(255, 1)))
                    extcodecopy(page, operand, add(first, shl(6, place)), 0x40)
                    done := and(done, staticcall(150, 0x06, sum, 0x80, sum, 0x40))
                }
            }
            default {
                for {} members {} {
                    let place := clz(members)
                    members := xor(members, shr(place, shl(255, 1)))
                    mcopy(operand, add(keys, shl(6, place)), 0x40)
                    done := and(done, staticcall(150, 0x06, sum, 0x80, sum, 0x40))
                }
            }
            // Calls that succeeded at one address: the length of the last answer is that of all.
            done := and(done, eq(returndatasize(), 0x40))
        }
        if (!done) revert Bn254.AddFailed();
    }

    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        pure
        override
        returns (uint256 rest)
    {
        bool identity;
        // `to` is room for a key.
        assembly {
            mcopy(to, accumulator, 64)
            identity := iszero(or(mload(to), mload(add(to, 32))))
        }
        require(!identity, SumIsIdentity());
        assembly ("memory-safe") {
            rest := proof.offset
        }
    }

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view override {
        uint256 transcript = _allocate(0x2e0);
        uint256 hash;
        bytes calldata hints;
        // A proof that is too short leaves a length below zero, which is not that of the hints.
        assembly ("memory-safe") {
            hash := add(transcript, 0x20)
            hints.offset := add(proof.offset, 0xc0)
            hints.length := sub(proof.length, 0xc0)
        }
        Bn254Hashes.sum(digests, hints, hash);
        // Room that was allocated, in the order of the transcript.
        assembly {
            mcopy(add(transcript, 0x60), key, 0x40)
            calldatacopy(add(transcript, 0xa0), add(proof.offset, 0x40), 0x80)
            calldatacopy(add(transcript, 0x120), proof.offset, 0x40)
        }
        require(Bn254.isDualKeySignatureAt(transcript), FalseSignature());
    }
}
