// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254G1Caller} from "../mocks/CurveCaller.sol";

/// @notice halmos proves each `check` for every input.
contract QuorumsSymbolic is Bn254G1Caller {
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

    /// @notice `_count` counts one member of the bitmap if and only if the member has an index below `members` and
    /// below the end of the bitmap: the masks of words are right at each place.
    /// @param word The bitmap, which holds the member alone. The function reads it from calldata, at offset 4.
    /// @param index The member's index.
    /// @param length Bytes of the bitmap, 1 to 32.
    /// @param members The indices that count.
    function check_masks_of_words(bytes32 word, uint8 index, uint256 length, uint256 members) external pure {
        if (length == 0 || length > 32 || members >= 1 << 24) return;
        if (uint256(word) != (1 << 255) >> index) return;
        Parts memory parts;
        (parts.signers, parts.ownBytes) = (4, length);
        assert(_count(parts, members) == (index < members && index < 8 * length ? 1 : 0));
    }
}
