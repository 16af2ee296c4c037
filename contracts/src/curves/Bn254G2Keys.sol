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
///   which is checked. About 2,070 gas a member that changed, 1,024 of them calldata. Of the empty quorum the first member is
///   loaded without one. Two points of one x have no slope: such a sum reverts.
/// - in Jacobian coordinates: the byte 0, and 1/Z of the sum, 64 bytes. About 1,800 gas a member, and 1,700 once. Complete, and
///   cheaper from seven members on, or where calldata is dear.
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
            switch key
            case 0 { calldatacopy(accumulator, calldatasize(), 192) }
            default {
                mcopy(accumulator, key, 128)
                // Z = 1
                mstore(add(accumulator, 128), 0)
                mstore(add(accumulator, 160), 1)
            }
            kind := byte(0, calldataload(proof.offset))
            mstore(add(accumulator, 192), mul(kind, add(proof.offset, 1)))
        }
        if (kind > 1) revert UnknownSum(kind);
    }

    function _accumulate(uint256 accumulator, uint256 operand, bool subtract) internal pure override {
        uint256 slope = _nextSlope(accumulator);
        if (slope == 0) return Bn254G2.accumulateAt(accumulator, operand, subtract);
        Bn254G2.accumulateBySlopeAt(accumulator, operand, subtract, slope);
        assembly {
            mstore(add(accumulator, 192), add(slope, 64))
        }
    }

    /// @dev Where the next slope is, or 0: in Jacobian coordinates, and while the sum is the identity. By slopes Z is 1 from the
    /// first key on.
    function _nextSlope(uint256 accumulator) private pure returns (uint256 slope) {
        assembly ("memory-safe") {
            slope := mul(mload(add(accumulator, 192)), iszero(iszero(mload(add(accumulator, 160)))))
        }
    }

    function _accumulatePaged(uint256 sum, uint256 operand, uint256 page, uint256 first, uint256 members, uint256 own)
        internal
        view
        override
    {
        uint256 slope = _nextSlope(sum);
        while (members != 0) {
            bool subtract;
            assembly {
                let place := clz(members)
                let bit := shr(place, shl(255, 1))
                members := xor(members, bit)
                subtract := iszero(and(own, bit))
                extcodecopy(page, operand, add(first, shl(7, place)), 128)
            }
            if (slope == 0) {
                Bn254G2.accumulateAt(sum, operand, subtract);
                slope = _nextSlope(sum);
            } else {
                Bn254G2.accumulateBySlopeAt(sum, operand, subtract, slope);
                // Unchecked: a position in calldata.
                unchecked {
                    slope += 64;
                }
            }
        }
        if (slope != 0) {
            assembly {
                mstore(add(sum, 192), slope)
            }
        }
    }

    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        pure
        override
        returns (uint256 rest)
    {
        uint256 slope;
        uint256 inverseIm;
        uint256 inverseRe;
        // What the proof may not have is other calldata, and then the rest is too short.
        assembly ("memory-safe") {
            slope := mload(add(accumulator, 192))
            rest := slope
            if iszero(slope) {
                inverseIm := calldataload(add(proof.offset, 1))
                inverseRe := calldataload(add(proof.offset, 33))
                rest := add(proof.offset, 65)
            }
        }
        if (slope == 0) {
            Bn254G2.normalizeTo(accumulator, inverseIm, inverseRe, to);
        } else {
            assembly {
                mcopy(to, accumulator, 128)
            }
        }
    }

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view override {
        uint256 pairs = _allocate(0x180);
        uint256 hash;
        bytes calldata hints;
        // A proof that is too short leaves a length below zero, which is not that of the hints.
        assembly ("memory-safe") {
            hash := add(pairs, 0xc0)
            hints.offset := add(proof.offset, 0x40)
            hints.length := sub(proof.length, 0x40)
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
