// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {Bls12381, G1Point} from "./Bls12381.sol";
import {BLS12381_P_HIGH, BLS12381_P_LOW} from "./Fields.sol";

/// @title Hashes messages to G1 of BLS12-381
/// @notice RFC 9380, in two suites. Both take any message, and any domain separation tag (DST) that is not empty.
///
/// `hashToG1` is hash_to_curve of BLS12381G1_XMD:SHA-256_SSWU_RO_: expand_message_xmd gives two field elements, the
/// precompile of EIP-2537 maps each to a point, and the hash is the sum of both points.
///
/// `encodeToG1` is encode_to_curve of BLS12381G1_XMD:SHA-256_SSWU_NU_: one field element and one point, for half of the
/// gas. Its points are NOT uniformly distributed. That is enough for BLS signatures (docs/nonuniform.md has the proof),
/// and not for every protocol that hashes to a curve.
///
/// The point is in the subgroup of order r. NOT checked: that it is not infinity. No message is known whose hash is
/// infinity.
library HashToBls12381 {
    /// @notice The tag is empty, which RFC 9380 forbids in section 3.1.
    error DstEmpty();
    /// @notice SHA-256 did not answer: too little gas, or there is no precompile at 0x02.
    error Sha256Failed();

    /// @dev The address of the precompile SHA-256.
    uint256 internal constant SHA256 = 0x02;

    /// @dev floor(2^636 / p), of 256 bits.
    uint256 internal constant RECIPROCAL_OF_P = 0x9d835d2f3cc9e45ce28101b0cc7a6ba291b82741ff6a0a94bdf4771e0286779d;

    /// @notice hash_to_curve of a message of 32 bytes. Costs about 14,300 gas with a tag of 53 bytes, of which
    /// precompiles take 12,700.
    /// @param digest The message.
    /// @param dst The tag.
    /// @return point The point.
    function hashToG1(bytes32 digest, bytes memory dst) internal view returns (G1Point memory point) {
        hashToG1At(digest, dst, _position(point));
    }

    /// @notice hash_to_curve of a message of any length.
    /// @param message The message.
    /// @param dst The tag.
    /// @return point The point.
    function hashToG1(bytes memory message, bytes memory dst) internal view returns (G1Point memory point) {
        dst = _shortDst(dst);
        _hashToG1(_place(message), message.length, dst, _position(point));
    }

    /// @notice Does what `hashToG1` does with a message of 32 bytes, and writes the point to memory.
    /// @param digest The message.
    /// @param dst The tag.
    /// @param to Where in memory the point is written, 128 bytes that the caller owns.
    function hashToG1At(bytes32 digest, bytes memory dst, uint256 to) internal view {
        dst = _shortDst(dst);
        _hashToG1(_place(digest), 32, dst, to);
    }

    /// @notice encode_to_curve of a message of 32 bytes. Costs about 7,150 gas with a tag of 43 bytes, of which
    /// precompiles take 6,200. The points are not uniformly distributed: see above.
    /// @param digest The message.
    /// @param dst The tag.
    /// @return point The point.
    function encodeToG1(bytes32 digest, bytes memory dst) internal view returns (G1Point memory point) {
        encodeToG1At(digest, dst, _position(point));
    }

    /// @notice encode_to_curve of a message of any length. The points are not uniformly distributed: see above.
    /// @param message The message.
    /// @param dst The tag.
    /// @return point The point.
    function encodeToG1(bytes memory message, bytes memory dst) internal view returns (G1Point memory point) {
        dst = _shortDst(dst);
        _encodeToG1(_place(message), message.length, dst, _position(point));
    }

    /// @notice Does what `encodeToG1` does with a message of 32 bytes, and writes the point to memory.
    /// @param digest The message.
    /// @param dst The tag.
    /// @param to Where in memory the point is written, 128 bytes that the caller owns.
    function encodeToG1At(bytes32 digest, bytes memory dst, uint256 to) internal view {
        dst = _shortDst(dst);
        _encodeToG1(_place(digest), 32, dst, to);
    }

    /// @notice Reduces a number of 512 bits modulo p. Costs about 270 gas; MODEXP would cost 500 and its call.
    ///
    /// It is Barrett's reduction. Let u = high · 2^256 + low, c = floor(2^636 / p) and q = floor(high · c / 2^380).
    /// Then u/p - q < 1 + 2^256/p + high/2^380 < 1 + 2^-123, and q <= u/p. So q is floor(u/p) or one less. The
    /// remainder u - q·p is below 2p < 2^382, so its high word may be computed modulo 2^256.
    /// @param high The number's high word.
    /// @param low The number's low word.
    /// @return reducedHigh The high word of the number modulo p.
    /// @return reducedLow The low word of the number modulo p.
    function reduce(uint256 high, uint256 low) internal pure returns (uint256 reducedHigh, uint256 reducedLow) {
        assembly ("memory-safe") {
            // high · c has two words. The product modulo 2^256 and the product modulo 2^256 - 1 give the high one, and
            // q is the high word shifted by 124 bits.
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

            // The quotient may be one too small. For an honest hash that happens about once in 2^123, so the high words
            // are compared alone first.
            if iszero(lt(reducedHigh, BLS12381_P_HIGH)) {
                if or(gt(reducedHigh, BLS12381_P_HIGH), iszero(lt(reducedLow, BLS12381_P_LOW))) {
                    reducedHigh := sub(sub(reducedHigh, BLS12381_P_HIGH), lt(reducedLow, BLS12381_P_LOW))
                    reducedLow := sub(reducedLow, BLS12381_P_LOW)
                }
            }
        }
    }

    /// @dev expand_message_xmd to 128 bytes, hash_to_field, map_to_curve twice, and the sum.
    ///
    /// One buffer serves all five hashes: Z_pad (64 bytes) ‖ message ‖ 0x0080 ‖ counter ‖ DST ‖ its length. The last
    /// four hashes begin 32 bytes before the counter, over the message and Z_pad, which are not needed any more.
    /// @param start Where free memory begins. The message lies at start + 0x40.
    /// @param messageLength The message's length.
    /// @param dst The tag, 1 to 255 bytes.
    /// @param to Where the hash is written.
    function _hashToG1(uint256 start, uint256 messageLength, bytes memory dst, uint256 to) private view {
        uint256 u0High;
        uint256 u0Low;
        uint256 u1High;
        uint256 u1Low;
        bool answered;
        assembly ("memory-safe") {
            let dstLength := mload(dst)
            mstore(start, 0)
            mstore(add(start, 0x20), 0)
            // Two bytes of the wanted length, 128, and the counter 0.
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
            // If a call to one address has answered with 32 bytes, earlier calls to it that succeeded have, too.
            answered := and(answered, eq(returndatasize(), 0x20))
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

    /// @dev expand_message_xmd to 64 bytes, hash_to_field, and map_to_curve. The buffer is that of `_hashToG1`, with
    /// 0x0040 in place of 0x0080. The first hash is written where the second one reads it.
    /// @param start Where free memory begins. The message lies at start + 0x40.
    /// @param messageLength The message's length.
    /// @param dst The tag, 1 to 255 bytes.
    /// @param to Where the point is written.
    function _encodeToG1(uint256 start, uint256 messageLength, bytes memory dst, uint256 to) private view {
        uint256 high;
        uint256 low;
        bool answered;
        assembly ("memory-safe") {
            let size := mload(dst)
            mstore(start, 0)
            mstore(add(start, 0x20), 0)
            // Two bytes of the wanted length, 64, and the counter 0. Then the tag and its length.
            let counter := add(start, add(messageLength, 0x42))
            mstore(sub(counter, 2), shl(232, 0x004000))
            mcopy(add(counter, 1), add(dst, 0x20), size)
            mstore8(add(counter, add(size, 1)), size)

            let block32 := sub(counter, 0x20)
            answered := staticcall(gas(), SHA256, start, add(messageLength, add(size, 0x44)), block32, 0x20)
            size := add(size, 0x22)
            mstore8(counter, 1)
            answered := and(answered, staticcall(gas(), SHA256, block32, size, 0x00, 0x20))
            high := mload(0x00)
            mstore(block32, xor(mload(block32), high))
            mstore8(counter, 2)
            answered := and(answered, staticcall(gas(), SHA256, block32, size, 0x00, 0x20))
            low := mload(0x00)
            // If a call to one address has answered with 32 bytes, earlier calls to it that succeeded have, too.
            answered := and(answered, eq(returndatasize(), 0x20))
        }
        if (!answered) revert Sha256Failed();

        (high, low) = reduce(high, low);
        Bls12381.mapToG1At(high, low, to);
    }

    /// @dev Copies a message behind the end of allocated memory, where the hash expects it.
    /// @param digest The message.
    /// @return start Where free memory begins.
    function _place(bytes32 digest) private pure returns (uint256 start) {
        assembly ("memory-safe") {
            start := mload(0x40)
            mstore(add(start, 0x40), digest)
        }
    }

    /// @dev The same for a message of any length.
    /// @param message The message.
    /// @return start Where free memory begins.
    function _place(bytes memory message) private pure returns (uint256 start) {
        assembly ("memory-safe") {
            start := mload(0x40)
            mcopy(add(start, 0x40), add(message, 0x20), mload(message))
        }
    }

    /// @dev Where a point lies in memory.
    /// @param point The point.
    /// @return to Its position.
    function _position(G1Point memory point) private pure returns (uint256 to) {
        assembly ("memory-safe") {
            to := point
        }
    }

    /// @dev The tag itself, or its hash if it is longer than 255 bytes (RFC 9380, section 5.3.3).
    /// @param dst The tag. Reverts with DstEmpty if it is empty.
    /// @return The tag or its hash, 1 to 255 bytes.
    function _shortDst(bytes memory dst) private pure returns (bytes memory) {
        unchecked {
            // One comparison for the usual case: 0 - 1 is a large number.
            if (dst.length - 1 < 255) return dst;
        }
        if (dst.length == 0) revert DstEmpty();
        return abi.encodePacked(sha256(abi.encodePacked("H2C-OVERSIZE-DST-", dst)));
    }
}
