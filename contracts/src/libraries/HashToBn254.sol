// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {Bn254} from "./Bn254.sol";
import {Bn254Fp} from "./Bn254Fp.sol";
import {BN254_P} from "./Fields.sol";

/// @title Hashes a digest to a point of BN254's G1 by try-and-increment, with a hint
/// @notice For the counters c = 0, 1, 2, … let x = keccak256(TAG ‖ digest ‖ uint256(c)) mod 2^254. A counter is
/// accepted if x < P and x³ + 3 is a square. The point is (x, y), where y is the even root.
///
/// A signer takes the first counter that is accepted. An aggregator passes this counter and y as a hint. To check the
/// hint, the contract computes one hash and one equation; without it, it would compute a square root for each counter.
/// @dev NOT checked: that c is the first accepted counter. A later one gives another point. Nobody knows its discrete
/// logarithm, and no honest operator signs it, neither for this digest nor for another, because c and the digest are
/// both hashed. So a wrong hint can make a true signature fail, and never a false one pass.
///
/// A counter is accepted with probability 0.378. All 256 are refused with probability 2^-175. The running time depends
/// on the digest, which is public.
library HashToBn254 {
    /// @dev The domain separation tag of this hash.
    bytes32 internal constant TAG = keccak256("quorate.bn254.g1.try-and-increment");

    /// @dev The prime of the field, and a mask of 254 bits.
    uint256 private constant P = BN254_P;
    uint256 private constant MASK = (1 << 254) - 1;

    /// @notice The counter's x is not below P.
    error XNotInField();
    /// @notice The hint's y is not below P.
    error YNotInField();
    /// @notice The hint's y is odd.
    error YIsOdd();
    /// @notice The hint's y is not a root of x³ + 3.
    error NotOnCurve();
    /// @notice No counter below 256 is accepted.
    error NoCounter();

    /// @notice The point of a digest, by the hint. Costs about 510 gas.
    /// @param digest The digest.
    /// @param counter The hint's counter.
    /// @param y The hint's y.
    /// @return point The point.
    function hash(bytes32 digest, uint8 counter, uint256 y) internal pure returns (Bn254.G1 memory point) {
        uint256 x = candidate(digest, counter);
        if (x >= P) revert XNotInField();
        if (y >= P) revert YNotInField();
        if (y & 1 != 0) revert YIsOdd();
        if (mulmod(y, y, P) != _rightSide(x)) revert NotOnCurve();
        return Bn254.G1(x, y);
    }

    /// @notice The x of a counter. NOT checked: that it is below P, and that it is the x of a point.
    /// @param digest The digest.
    /// @param counter The counter.
    /// @return x The x, below 2^254.
    function candidate(bytes32 digest, uint256 counter) internal pure returns (uint256 x) {
        bytes32 tag = TAG;
        assembly ("memory-safe") {
            let input := mload(0x40)
            mstore(input, tag)
            mstore(add(input, 0x20), digest)
            mstore(add(input, 0x40), counter)
            x := and(keccak256(input, 0x60), MASK)
        }
    }

    /// @notice Computes the hint. For signers and aggregators that ask a node by eth_call: each counter whose x is
    /// below P costs about 4,900 gas.
    /// @param digest The digest.
    /// @return counter The first accepted counter.
    /// @return y The even root.
    function find(bytes32 digest) internal view returns (uint8 counter, uint256 y) {
        for (uint256 c = 0; c < 256; ++c) {
            uint256 x = candidate(digest, c);
            if (x >= P) continue;
            (uint256 root, bool square) = Bn254Fp.squareRoot(_rightSide(x));
            // A root is not zero, so exactly one of the two is even: the order of the curve is odd, and it has no point
            // with y = 0. The cast keeps c, which is below 256.
            // forge-lint: disable-next-line(unsafe-typecast)
            if (square) return (uint8(c), root & 1 == 0 ? root : P - root);
        }
        revert NoCounter();
    }

    /// @dev x³ + 3.
    /// @param x Any word.
    /// @return x³ + 3 modulo P, below P.
    function _rightSide(uint256 x) private pure returns (uint256) {
        return addmod(mulmod(mulmod(x, x, P), x, P), 3, P);
    }
}
