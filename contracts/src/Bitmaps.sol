// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title Bitmaps of members in calldata, and room in memory
/// @notice Bit i of a bitmap, counted from the most significant bit of the first byte, stands for index i. A *word* is
/// 256 bits of a bitmap.
abstract contract Bitmaps {
    /// @dev The 32 bytes of a bitmap from byte `i` on. Bytes behind its end are zero.
    /// @param offset Calldata offset of the bitmap.
    /// @param length Its length in bytes.
    /// @param i The first byte.
    function _word(uint256 offset, uint256 length, uint256 i) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            // A shift by 256 bits or more gives 0. So nothing is masked while 32 bytes or more are left.
            let others := shr(shl(3, sub(length, i)), not(0))
            word := mul(lt(i, length), and(calldataload(add(offset, i)), not(others)))
        }
    }

    /// @dev The number of one bits in a word. Adds neighbours into fields of 2, 4, 8 and 16 bits; one product then adds
    /// up the sixteen fields.
    function _ones(uint256 word) internal pure returns (uint256 count) {
        assembly ("memory-safe") {
            word := sub(word, and(shr(1, word), 0x5555555555555555555555555555555555555555555555555555555555555555))
            let fours := 0x3333333333333333333333333333333333333333333333333333333333333333
            word := add(and(word, fours), and(shr(2, word), fours))
            word := and(add(word, shr(4, word)), 0x0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f)
            word := and(add(word, shr(8, word)), 0x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff)
            count := shr(240, mul(word, 0x0001000100010001000100010001000100010001000100010001000100010001))
        }
    }

    /// @dev The number of zero bits before the first one bit: the place of the first member in a word.
    function _leadingZeros(uint256 word) internal pure returns (uint256 zeros) {
        assembly ("memory-safe") {
            zeros := clz(word)
        }
    }

    /// @dev The word whose only one bit stands at a place, counted from the most significant bit.
    function _bit(uint256 place) internal pure returns (uint256) {
        return (1 << 255) >> place;
    }

    /// @dev A mask of the bits of a word that stand before an index.
    /// @param index The index, which must be larger than `start`.
    /// @param start The index of the word's first bit.
    function _before(uint256 index, uint256 start) internal pure returns (uint256) {
        unchecked {
            return ~(type(uint256).max >> (index - start));
        }
    }

    /// @dev Where the bytes of an array lie, behind its length.
    function _pointer(bytes memory data) internal pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := add(data, 0x20)
        }
    }

    /// @dev Takes memory, which may hold anything.
    function _allocate(uint256 size) internal pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := mload(0x40)
            mstore(0x40, add(pointer, size))
        }
    }
}
