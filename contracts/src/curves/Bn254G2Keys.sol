// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../libraries/Bn254.sol";
import {Bn254G2} from "../libraries/Bn254G2.sol";
import {Bn254Hashes} from "./Bn254Hashes.sol";
import {KeyTable} from "../KeyTable.sol";
import {Quorums} from "../Quorums.sol";

/// @title Quorums with keys in G2 of BN254 and signatures in G1
/// @notice A key has 128 bytes, in the EVM's order: x, then y, imaginary part first. BN254 has about 100 bits of
/// security.
///
/// A proof holds, one after the other: if any member changes, hints for the sum of the keys; the signature, 64 bytes;
/// and for each digest the hint `counter (1) ‖ y (32)` of `HashToBn254`. The aggregator chooses one of two kinds of
/// hints for the sum:
///
/// - By slopes: the byte 1, and for each addition the slope of the line through the sum and the key, 64 bytes,
///   imaginary part first. The contract checks each slope. Each member that changes costs about 2,070 gas, of which
///   1,024 are calldata. A sum that starts from the empty quorum loads its first key without a slope. If the sum and
///   the key have the same x, no slope is accepted and the call reverts.
/// - In Jacobian coordinates: the byte 0, and 1/Z of the finished sum, 64 bytes. Each member that changes costs about
///   1,800 gas, and the inverse 1,700 once. Every sum but the identity has such a hint. It is cheaper from seven
///   members on, and where calldata is expensive.
///
/// A malformed point in a key or a proof costs nearly all the gas of the call, because the precompile that refuses it burns
/// what is left. Whoever pays for proofs of others, such as a relayer or a contract that catches the revert, limits the gas
/// of the call.
///
/// The pairing that checks a key's proof of possession also checks that the key has order r. So sums of registered keys
/// need no check of their order.
abstract contract Bn254G2Keys is Quorums {
    /// @notice The signature is not one of these digests under this key.
    error FalseSignature();
    /// @notice The proof's first byte is neither 0 nor 1.
    /// @param kind The byte.
    error UnknownSum(uint256 kind);

    /// @dev A key has 128 bytes.
    /// @return 128.
    function _keyBytes() internal pure override returns (uint256) {
        return 128;
    }

    /// @inheritdoc KeyTable
    /// @dev Pages have no program.
    /// @return 0.
    function _programBytes() internal pure override returns (uint256) {
        return 0;
    }

    /// @inheritdoc KeyTable
    /// @return program Nothing. An explicit "" would cost 20 bytes of code, which this contract has not got.
    function _program() internal pure override returns (bytes memory program) {}

    /// @inheritdoc KeyTable
    function _openKeys(uint256 nonce, uint256 table) internal view override returns (uint256) {
        return _openHeader(nonce, table);
    }

    /// @dev A signature has 64 bytes. No contract with these keys asks for it, because an optimistic settlement with them has
    /// no room.
    /// @return 64.
    // slither-disable-next-line dead-code
    function _signatureBytes() internal pure override returns (uint256) {
        return 64;
    }

    /// @inheritdoc Quorums
    /// @dev In memory: the accumulator of `Bn254G2`, six words; the calldata offset of the next slope, or 0 in Jacobian
    /// coordinates; room for a key. A base's key is canonical, since `_finish` reduces it and the pairing refuses any
    /// other.
    function _begin(uint256 key, bytes calldata proof)
        internal
        pure
        override
        returns (uint256 accumulator, uint256 operand)
    {
        accumulator = _allocate(224 + 128);
        uint256 kind;
        // The proof may be empty, so that this byte is other calldata. Then the proof is too short for the signature.
        assembly {
            operand := add(accumulator, 224)
            switch key
            case 0 { calldatacopy(accumulator, calldatasize(), 192) }
            default {
                mcopy(accumulator, key, 128)
                // Z is 1.
                mstore(add(accumulator, 128), 0)
                mstore(add(accumulator, 160), 1)
            }
            kind := byte(0, calldataload(proof.offset))
            mstore(add(accumulator, 192), mul(kind, add(proof.offset, 1)))
        }
        if (kind > 1) revert UnknownSum(kind);
    }

    /// @inheritdoc Quorums
    function _accumulate(uint256 accumulator, uint256 operand, bool subtract) internal pure override {
        uint256 slope = _nextSlope(accumulator);
        if (slope == 0) return Bn254G2.accumulateAt(accumulator, operand, subtract);
        Bn254G2.accumulateBySlopeAt(accumulator, operand, subtract, slope);
        assembly {
            mstore(add(accumulator, 192), add(slope, 64))
        }
    }

    /// @dev The calldata offset of the next slope. 0 in Jacobian coordinates, and while the sum is the identity and
    /// loads its first key. In a sum by slopes, Z is 1 from the first key on.
    /// @param accumulator Where in memory the sum lies.
    /// @return slope The calldata offset, or 0.
    function _nextSlope(uint256 accumulator) private pure returns (uint256 slope) {
        assembly ("memory-safe") {
            slope := mul(mload(add(accumulator, 192)), iszero(iszero(mload(add(accumulator, 160)))))
        }
    }

    /// @inheritdoc Quorums
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
                // Unchecked: a position in calldata does not overflow.
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

    /// @inheritdoc Quorums
    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        pure
        override
        returns (uint256 rest)
    {
        uint256 slope;
        uint256 inverseIm;
        uint256 inverseRe;
        // A proof that is too short makes these reads find other calldata. Then it is too short for the signature as
        // well.
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

    /// @inheritdoc Quorums
    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view override {
        uint256 pairs = _allocate(0x180);
        uint256 hash;
        bytes calldata hints;
        // If the proof is too short, this length wraps around and is not the length of the hints.
        assembly ("memory-safe") {
            hash := add(pairs, 0xc0)
            hints.offset := add(proof.offset, 0x40)
            hints.length := sub(proof.length, 0x40)
        }
        Bn254Hashes.sum(digests, hints, hash);
        // `_allocate` gave the memory from `pairs` on. The pairing reads the points in this order.
        assembly {
            calldatacopy(pairs, proof.offset, 0x40)
            mcopy(add(pairs, 0x100), key, 0x80)
        }
        require(Bn254.isSignatureAt(pairs), FalseSignature());
    }
}
