// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bitmaps} from "../src/Bitmaps.sol";
import {Test} from "./Test.sol";

/// @notice Makes the internal function external.
contract Ones is Bitmaps {
    function ones(uint256 word) external pure returns (uint256) {
        return _ones(word);
    }
}

contract OnesTest is Test {
    Ones private immutable caller = new Ones();

    function plain(uint256 word) private pure returns (uint256 count) {
        for (; word != 0; word &= word - 1) {
            ++count;
        }
    }

    /// @notice Words with many ones, with few, and with about half.
    function testFuzz_ones_of_any_word(uint256 word, uint256 mask, uint256 other) public view {
        assertEq(caller.ones(word), plain(word), "half");
        assertEq(caller.ones(word | mask | other), plain(word | mask | other), "many");
        assertEq(caller.ones(word & mask & other), plain(word & mask & other), "few");
    }

    function test_ones_at_the_ends() public view {
        assertEq(caller.ones(0), 0, "none");
        for (uint256 i = 0; i < 256; ++i) {
            assertEq(caller.ones(1 << i), 1, "one");
            assertEq(caller.ones(type(uint256).max >> i), 256 - i, "a run from the right");
            assertEq(caller.ones(type(uint256).max << i), 256 - i, "a run from the left");
            assertEq(caller.ones(~(1 << i)), 255, "all but one");
        }
    }
}
