// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {HashToBn254Counting} from "../../src/libraries/HashToBn254Counting.sol";

/// @notice The function under proof, as an external function that may revert.
contract CountingSteps {
    function byWords(bytes32 digest, bytes32[] calldata words) external pure returns (uint256 x, uint256 y) {
        uint256 offset;
        assembly {
            offset := words.offset
        }
        return HashToBn254Counting.byWords(digest, offset, words.length);
    }
}

/// @notice halmos proves each `check` for every input.
contract HashToBn254CountingSymbolic {
    uint256 private constant P = 21888242871839275222246405745257275088696311157297823662689037894645226208583;

    CountingSteps private immutable steps = new CountingSteps();

    /// @notice One word gives a point exactly if its square is a root of x³ + 3 for the digest's x, and it gives that point.
    function check_one_word(bytes32 digest, uint256 word) external view {
        bytes32[] memory words = new bytes32[](1);
        words[0] = bytes32(word);
        uint256 x = uint256(digest) % P;
        uint256 y = mulmod(word, word, P);
        bool expected = mulmod(y, y, P) == addmod(mulmod(mulmod(x, x, P), x, P), 3, P);
        try steps.byWords(digest, words) returns (uint256 x_, uint256 y_) {
            assert(expected && x_ == x && y_ == y);
        } catch {
            assert(!expected);
        }
    }

    /// @notice No words give no point.
    function check_no_word(bytes32 digest) external view {
        try steps.byWords(digest, new bytes32[](0)) {
            assert(false);
        } catch {}
    }
}
