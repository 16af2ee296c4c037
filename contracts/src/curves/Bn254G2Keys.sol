// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../libraries/Bn254.sol";
import {Bn254G2} from "../libraries/Bn254G2.sol";
import {Bn254Hashes} from "./Bn254Hashes.sol";
import {Quorums} from "../Quorums.sol";

/// @title Quorums with keys in G2 of BN254 and signatures in G1
/// @notice A key is 128 bytes in the EVM's order. A proof is how the sum is made, where any member changes; the signature, 64
/// bytes; and for each digest its hint, `counter (1) ‖ y (32)`. BN254 has about 100 bits of security. The sum is made
///
/// - by slopes: the byte 1, and for each addition the slope of the line through both points, imaginary part first, 64 bytes,
///   which is checked. About 1,650 gas a member that changed, 1,024 of them calldata. Of the empty quorum the first member is
///   loaded without one. Two points of one x have no slope: such a sum reverts.
/// - in Jacobian coordinates: the byte 0, and 1/Z of the sum, 64 bytes. About 1,680 gas a member, and 1,900 once. Complete; and
///   what is left where calldata is dear, on a rollup, or by EIP-7623 where hundreds of members change.
///
/// The pairing checks that a key is of order r when it is registered; sums of such keys are.
abstract contract Bn254G2Keys is Quorums {
    error FalseSignature();
    error UnknownSum(uint256 kind);

    function _keyBytes() internal pure override returns (uint256) {
        return 128;
    }

    /// @dev The accumulator of `Bn254G2`, six words; where in calldata the next slope is, or 0; and room for a key. A key that a
    /// base has is canonical: `_finish` reduced it, or the pairing refused it.
    function _begin(uint256 key, bytes calldata proof)
        internal
        pure
        override
        returns (uint256 accumulator, uint256 operand)
    {
        accumulator = _allocate(224 + 128);
        uint256 kind;
        // A byte that the proof may not have: then it ends too soon for what follows it.
        assembly {
            operand := add(accumulator, 224)
            calldatacopy(accumulator, calldatasize(), 224)
            if key {
                mcopy(accumulator, key, 128)
                // Z = 1
                mstore(add(accumulator, 160), 1)
            }
            kind := byte(0, calldataload(proof.offset))
            if kind { mstore(add(accumulator, 192), add(proof.offset, 1)) }
        }
        require(kind < 2, UnknownSum(kind));
    }

    function _accumulate(uint256 accumulator, uint256 operand, bool subtract) internal pure override {
        uint256 slope;
        uint256 z;
        assembly ("memory-safe") {
            slope := mload(add(accumulator, 192))
            z := mload(add(accumulator, 160))
        }
        // By slopes Z is 1 from the first key on.
        if (slope == 0 || z == 0) return Bn254G2.accumulateAt(accumulator, operand, subtract);
        Bn254G2.accumulateBySlopeAt(accumulator, operand, subtract, slope);
        assembly {
            mstore(add(accumulator, 192), add(slope, 64))
        }
    }

    function _accumulatePaged(uint256 sum, uint256 operand, address page, uint256 first, uint256 members, uint256 own)
        internal
        view
        override
    {
        _accumulateEach(sum, operand, page, first, members, own);
    }

    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        pure
        override
        returns (bytes calldata rest)
    {
        uint256 slope;
        uint256 used;
        assembly ("memory-safe") {
            slope := mload(add(accumulator, 192))
            used := sub(slope, proof.offset)
        }
        if (slope == 0) {
            // So the hint is there.
            rest = proof[65:];
            uint256 inverseIm;
            uint256 inverseRe;
            assembly ("memory-safe") {
                inverseIm := calldataload(add(proof.offset, 1))
                inverseRe := calldataload(add(proof.offset, 33))
            }
            Bn254G2.normalizeTo(accumulator, inverseIm, inverseRe, to);
        } else {
            // So the slopes were there.
            rest = proof[used:];
            assembly {
                mcopy(to, accumulator, 128)
            }
        }
    }

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view override {
        // So the signature is there.
        bytes calldata hints = proof[64:];
        uint256 pairs = _allocate(0x180);
        uint256 hash;
        assembly ("memory-safe") {
            hash := add(pairs, 0xc0)
        }
        Bn254Hashes.sum(digests, hints, hash);
        // Room that was allocated, in the order of the pairing.
        assembly {
            calldatacopy(pairs, proof.offset, 0x40)
            mcopy(add(pairs, 0x100), key, 0x80)
        }
        require(Bn254.isSignatureAt(pairs), FalseSignature());
    }
}
