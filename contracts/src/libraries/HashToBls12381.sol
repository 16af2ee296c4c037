// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {BLS12381_P_HIGH, BLS12381_P_LOW, Bls12381, G1Point} from "./Bls12381.sol";

/// @title Hashing to G1 of BLS12-381
/// @notice RFC 9380, suite BLS12381G1_XMD:SHA-256_SSWU_RO_: two field elements from expand_message_xmd, each mapped by the
/// precompile of EIP-2537, and their sum. Any message, any domain separation tag (DST) that is not empty.
///
/// The answer is in the subgroup of order r. That it is not infinity is not checked: no message is known for which it is.
library HashToBls12381 {
    /// @dev RFC 9380, section 3.1: a tag is not empty.
    error DstEmpty();
    /// @dev SHA-256 did not answer: too little gas, or no precompile at 0x02.
    error Sha256Failed();

    uint256 internal constant SHA256 = 0x02;

    /// @dev floor(2^636 / p), of 256 bits.
    uint256 internal constant RECIPROCAL_OF_P = 0x9d835d2f3cc9e45ce28101b0cc7a6ba291b82741ff6a0a94bdf4771e0286779d;

    /// @notice hash_to_curve of 32 bytes. About 14,500 gas with a tag of 53 bytes, 12,700 of them the precompiles'.
    function hashToG1(bytes32 digest, bytes memory dst) internal view returns (G1Point memory point) {
        dst = _shortDst(dst);
        uint256 start;
        assembly ("memory-safe") {
            start := mload(0x40)
            mstore(add(start, 0x40), digest)
        }
        _hashToG1(start, 32, dst, point);
    }

    /// @notice hash_to_curve of a message of any length.
    function hashToG1(bytes memory message, bytes memory dst) internal view returns (G1Point memory point) {
        dst = _shortDst(dst);
        uint256 start;
        assembly ("memory-safe") {
            start := mload(0x40)
            mcopy(add(start, 0x40), add(message, 0x20), mload(message))
        }
        _hashToG1(start, message.length, dst, point);
    }

    /// @notice (high · 2^256 + low) mod p, as high and low words. About 290 gas; MODEXP would take 500 and its call.
    ///
    /// Barrett reduction. With u = high · 2^256 + low and c = floor(2^636 / p) let q = floor(high · c / 2^380). Then
    /// u/p - q < 1 + 2^256/p + high/2^380 < 1 + 2^-123, and q <= u/p: so q is floor(u/p) or one less, the remainder
    /// u - q·p is below 2p < 2^382, and it is right to compute its high word modulo 2^256.
    function reduce(uint256 high, uint256 low) internal pure returns (uint256 reducedHigh, uint256 reducedLow) {
        assembly ("memory-safe") {
            // q: the high word of high · c from the product modulo 2^256 and that modulo 2^256 - 1, shifted by 124.
            let productLow := mul(high, RECIPROCAL_OF_P)
            let modulo := mulmod(high, RECIPROCAL_OF_P, not(0))
            let q := shr(124, sub(sub(modulo, productLow), lt(modulo, productLow)))

            // u - q·p
            productLow := mul(q, BLS12381_P_LOW)
            modulo := mulmod(q, BLS12381_P_LOW, not(0))
            reducedLow := sub(low, productLow)
            reducedHigh := sub(
                sub(sub(high, mul(q, BLS12381_P_HIGH)), sub(sub(modulo, productLow), lt(modulo, productLow))),
                lt(low, productLow)
            )

            // The quotient was one too small: about once in 2^123 for an honest hash.
            if iszero(
                or(
                    lt(reducedHigh, BLS12381_P_HIGH),
                    and(eq(reducedHigh, BLS12381_P_HIGH), lt(reducedLow, BLS12381_P_LOW))
                )
            ) {
                reducedHigh := sub(sub(reducedHigh, BLS12381_P_HIGH), lt(reducedLow, BLS12381_P_LOW))
                reducedLow := sub(reducedLow, BLS12381_P_LOW)
            }
        }
    }

    /// @notice expand_message_xmd to 128 bytes, hash_to_field, map_to_curve twice, the sum. The message lies at
    /// start + 0x40 in free memory.
    /// @dev One buffer serves all five hashes: Z_pad (64 bytes) ‖ message ‖ 0x0080 ‖ counter ‖ DST ‖ its length. The last
    /// four hashes read 32 bytes in front of the counter, where the message or Z_pad is no longer wanted.
    function _hashToG1(uint256 start, uint256 messageLength, bytes memory dst, G1Point memory point) private view {
        uint256 u0High;
        uint256 u0Low;
        uint256 u1High;
        uint256 u1Low;
        uint256 to;
        bool answered;
        assembly ("memory-safe") {
            let dstLength := mload(dst)
            mstore(start, 0)
            mstore(add(start, 0x20), 0)
            // The length asked for in two bytes, 128, and the counter 0.
            let counter := add(start, add(messageLength, 0x42))
            mstore(sub(counter, 2), shl(232, 0x008000))
            mcopy(add(counter, 1), add(dst, 0x20), dstLength)
            let end := add(add(counter, 1), dstLength)
            mstore8(end, dstLength)
            end := add(end, 1)

            answered := staticcall(gas(), SHA256, start, sub(end, start), 0x00, 0x20)
            let b0 := mload(0x00)

            let block32 := sub(counter, 0x20)
            let size := sub(end, block32)
            mstore(block32, b0)
            mstore8(counter, 1)
            answered := and(answered, staticcall(gas(), SHA256, block32, size, 0x00, 0x20))
            u0High := mload(0x00)
            mstore(block32, xor(b0, u0High))
            mstore8(counter, 2)
            answered := and(answered, staticcall(gas(), SHA256, block32, size, 0x00, 0x20))
            u0Low := mload(0x00)
            mstore(block32, xor(b0, u0Low))
            mstore8(counter, 3)
            answered := and(answered, staticcall(gas(), SHA256, block32, size, 0x00, 0x20))
            u1High := mload(0x00)
            mstore(block32, xor(b0, u1High))
            mstore8(counter, 4)
            answered := and(answered, staticcall(gas(), SHA256, block32, size, 0x00, 0x20))
            u1Low := mload(0x00)
            // Five calls that succeeded at one address: the length of the last answer is that of all.
            answered := and(answered, eq(returndatasize(), 0x20))
            to := point
        }
        if (!answered) revert Sha256Failed();

        (u0High, u0Low) = reduce(u0High, u0Low);
        Bls12381.mapToG1At(u0High, u0Low, start);
        (u1High, u1Low) = reduce(u1High, u1Low);
        // A position in memory does not overflow.
        unchecked {
            Bls12381.mapToG1At(u1High, u1Low, start + 0x80);
        }
        Bls12381.addPairG1(start, to);
    }

    /// @dev RFC 9380, section 5.3.3: a tag longer than 255 bytes is hashed.
    function _shortDst(bytes memory dst) private pure returns (bytes memory) {
        if (dst.length == 0) revert DstEmpty();
        if (dst.length < 256) return dst;
        return abi.encodePacked(sha256(abi.encodePacked("H2C-OVERSIZE-DST-", dst)));
    }
}
