// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bitmaps} from "../../src/Bitmaps.sol";

/// @notice halmos proves each `check` for every input.
contract BitmapsSymbolic is Bitmaps {
    /// @notice `_ones` is the number of ones in every word that has them all within 32 neighbouring bits.
    /// @dev No solver answers within minutes for all words at once. Fuzz tests compare those with a plain twin.
    function check_ones_of_32_neighbours(uint32 bits) external pure {
        unchecked {
            uint256 count = 0;
            for (uint256 i = 0; i < 32; ++i) {
                count += bits >> i & 1;
            }
            bool right = true;
            for (uint256 place = 0; place < 256; place += 32) {
                right = right && _ones(uint256(bits) << place) == count;
            }
            assert(right);
        }
    }

    /// @notice `_word` gives bit by bit what the bitmap holds, and zeros behind its end.
    /// @param data The bitmap, in calldata at offset 4.
    /// @param length Bytes of the bitmap, up to 64.
    /// @param second Whether the bitmap's second word is read.
    /// @param place The place in the word.
    function check_word(bytes32[2] calldata data, uint256 length, bool second, uint8 place) external pure {
        if (length > 64) return;
        uint256 word = _word(4, length, second ? 32 : 0);
        uint256 index = (second ? 256 : 0) + uint256(place);
        uint256 expected = index < 8 * length ? uint256(data[second ? 1 : 0]) >> (255 - place) & 1 : 0;
        assert(word >> (255 - place) & 1 == expected);
    }

    /// @notice `_before` has a one at each place before the index, and no other.
    function check_before(uint256 index, uint256 start, uint8 place) external pure {
        if (start >= 1 << 24 || index <= start || index >= 1 << 25) return;
        assert((_before(index, start) >> (255 - place) & 1 == 1) == (start + place < index));
    }
}
