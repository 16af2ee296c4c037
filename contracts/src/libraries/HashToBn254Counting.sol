// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {Bn254Fp} from "./Bn254Fp.sol";
import {BN254_P} from "./Fields.sol";

/// @title EigenLayer's hash to BN254's G1
/// @notice x is the digest modulo P, counted up until b = x³ + 3 is a square. y is the root of b that is a square itself.
///
/// A caller can pass a word for each x. Since P ≡ 3 mod 4, exactly one of b and -b is a square for b ≠ 0, and b is never 0
/// because the curve has no point of order two. So a word w with w² = -b proves that this x is none of the curve, and
/// one with (w²)² = b proves that y = w² is the root. The point is the same as without words. Each word costs about 100
/// gas and its calldata; a root by MODEXP costs about 4,300 gas, and two of them are needed on average.
/// @dev A digest is not hashed again, so digests that differ by little have the same point if no x between them is one of
/// the curve. Messages must be hashes.
library HashToBn254Counting {
    /// @dev The prime of the field.
    uint256 private constant P = BN254_P;

    /// @notice A word proves neither that its x is on the curve nor that it is not.
    /// @param word Its place.
    error FalseWord(uint256 word);
    /// @notice No word is left, and no x was found. Or words are left behind the last one.
    /// @param words How many words were passed.
    error NotTheseWords(uint256 words);

    /// @notice The point of a digest, by words.
    /// @param digest The digest.
    /// @param words Where in calldata the words begin.
    /// @param count How many there are.
    /// @return x The point's x.
    /// @return y The point's y.
    function byWords(bytes32 digest, uint256 words, uint256 count) internal pure returns (uint256 x, uint256 y) {
        uint256 i = 0;
        for (x = uint256(digest) % P; i < count; x = addmod(x, 1, P)) {
            uint256 word;
            assembly ("memory-safe") {
                word := calldataload(add(words, shl(5, i)))
            }
            y = mulmod(word, word, P);
            uint256 b = _rightSide(x);
            // Unchecked: counts up to `count`.
            unchecked {
                i++;
            }
            if (mulmod(y, y, P) == b) {
                if (i != count) revert NotTheseWords(count);
                return (x, y);
            }
            if (addmod(y, b, P) != 0) revert FalseWord(i - 1);
        }
        revert NotTheseWords(count);
    }

    /// @notice The point of a digest, without words.
    /// @param digest The digest.
    /// @return x The point's x.
    /// @return y The point's y.
    function search(bytes32 digest) internal view returns (uint256 x, uint256 y) {
        bool square;
        for (x = uint256(digest) % P;; x = addmod(x, 1, P)) {
            (y, square) = Bn254Fp.squareRoot(_rightSide(x));
            if (square) return (x, y);
        }
    }

    /// @notice Computes the words. For aggregators, who ask a node by eth_call.
    /// @param digest The digest.
    /// @return words The words.
    function find(bytes32 digest) internal view returns (uint256[] memory words) {
        (uint256 end, uint256 y) = search(digest);
        uint256 x = uint256(digest) % P;
        words = new uint256[](addmod(end, P - x, P) + 1);
        for (uint256 i = 0; i < words.length; i++) {
            // The power of a number that is no square is a root of its negation.
            (words[i],) = Bn254Fp.squareRoot(i == words.length - 1 ? y : _rightSide(x));
            x = addmod(x, 1, P);
        }
    }

    /// @dev x³ + 3.
    function _rightSide(uint256 x) private pure returns (uint256) {
        return addmod(mulmod(mulmod(x, x, P), x, P), 3, P);
    }
}
