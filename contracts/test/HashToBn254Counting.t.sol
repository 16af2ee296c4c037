// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254Fp} from "../src/libraries/Bn254Fp.sol";
import {HashToBn254Counting} from "../src/libraries/HashToBn254Counting.sol";

/// @notice The library, with its words in calldata.
contract CountingHarness {
    function byWords(bytes32 digest, uint256[] calldata words) external pure returns (uint256 x, uint256 y) {
        uint256 offset;
        assembly {
            offset := words.offset
        }
        return HashToBn254Counting.byWords(digest, offset, words.length);
    }
}

/// @notice Tests EigenLayer's hash to the curve: words give the same point as the search, and no other.
contract HashToBn254CountingTest is Test {
    uint256 private constant P = Bn254.P;
    CountingHarness private _harness = new CountingHarness();

    function _rightSide(uint256 x) private pure returns (uint256) {
        return addmod(mulmod(mulmod(x, x, P), x, P), 3, P);
    }

    function _isSquare(uint256 a) private view returns (bool square) {
        (, square) = Bn254Fp.squareRoot(a);
    }

    function testFuzz_wordsGiveWhatTheSearchGives(bytes32 digest) public view {
        (uint256 x, uint256 y) = HashToBn254Counting.search(digest);
        uint256[] memory words = HashToBn254Counting.find(digest);
        (uint256 byX, uint256 byY) = _harness.byWords(digest, words);
        assertEq(byX, x, "x");
        assertEq(byY, y, "y");
        assertTrue(Bn254.isOnCurve(Bn254.G1(x, y)), "on the curve");
        assertTrue(_isSquare(y), "the root that is a square");
        for (uint256 i = 1; i < words.length; i++) {
            assertTrue(!_isSquare(_rightSide(addmod(uint256(digest), i - 1, P))), "an earlier x");
        }
    }

    function testFuzz_trap_falseWords(bytes32 digest, uint256 seed) public {
        uint256[] memory words = HashToBn254Counting.find(digest);
        uint256 i = seed % words.length;
        uint256 right = words[i];
        words[i] = seed;
        vm.expectRevert(abi.encodeWithSelector(HashToBn254Counting.FalseWord.selector, i));
        _harness.byWords(digest, words);
        // A word and its negation prove the same.
        words[i] = P - right;
        (, uint256 y) = _harness.byWords(digest, words);
        assertTrue(_isSquare(y), "the same root");
    }

    /// @notice An x of the curve is passed over, for the next one. Nobody signs that point for this digest.
    function testFuzz_trap_anXThatIsPassedOver(uint256 seed) public {
        (uint256 x,) = HashToBn254Counting.search(bytes32(seed));
        uint256[] memory next = HashToBn254Counting.find(bytes32(addmod(x, 1, P)));
        uint256[] memory words = new uint256[](next.length + 1);
        for (uint256 i = 0; i < next.length; i++) {
            words[i + 1] = next[i];
        }
        // Neither any word nor a root of b or of -b passes it over.
        (uint256 root,) = Bn254Fp.squareRoot(_rightSide(x));
        uint256[3] memory tries = [seed, root, 0];
        for (uint256 i = 0; i < 3; i++) {
            words[0] = tries[i];
            vm.expectRevert(abi.encodeWithSelector(HashToBn254Counting.FalseWord.selector, 0));
            _harness.byWords(bytes32(x), words);
        }
    }

    function test_trap_anotherNumberOfWords() public {
        for (uint256 k = 0; k < 16; k++) {
            bytes32 digest = keccak256(abi.encode(k));
            uint256[] memory words = HashToBn254Counting.find(digest);
            uint256[] memory more = new uint256[](words.length + 1);
            for (uint256 i = 0; i < words.length; i++) {
                more[i] = words[i];
            }
            vm.expectRevert(abi.encodeWithSelector(HashToBn254Counting.NotTheseWords.selector, more.length));
            _harness.byWords(digest, more);
            assembly {
                mstore(more, sub(mload(words), 1))
            }
            vm.expectRevert(abi.encodeWithSelector(HashToBn254Counting.NotTheseWords.selector, more.length));
            _harness.byWords(digest, more);
        }
    }

    /// @notice The largest digests: x is the digest modulo P, and behind P - 1 comes 0.
    function test_wrapsAround() public view {
        for (uint256 k = 0; k < 4; k++) {
            bytes32 digest = bytes32(P - 1 - k);
            uint256[] memory words = HashToBn254Counting.find(digest);
            (uint256 x, uint256 y) = _harness.byWords(digest, words);
            assertTrue(Bn254.isOnCurve(Bn254.G1(x, y)), "on the curve");
            assertEq(words.length, addmod(x, P - uint256(digest), P) + 1, "words");
        }
        uint256[] memory words_ = HashToBn254Counting.find(bytes32(type(uint256).max));
        (uint256 x_,) = _harness.byWords(bytes32(type(uint256).max), words_);
        (uint256 expected,) = HashToBn254Counting.search(bytes32(type(uint256).max % P));
        assertEq(x_, expected, "modulo P");
    }
}
