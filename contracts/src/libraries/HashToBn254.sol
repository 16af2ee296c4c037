// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "./Bn254.sol";
import {Bn254Fp} from "./Bn254Fp.sol";

/// @title A digest to a point of BN254's G1 by try-and-increment, with a hint.
/// @notice For c = 0, 1, 2, …: x = keccak256(TAG ‖ digest ‖ uint256(c)) mod 2^254; c is accepted if x < P and x³ + 3 is a
/// square; y is its even root. Signers take the least accepted c. An aggregator supplies (c, y), which are checked with
/// one multiplication and one hash instead of a root a try.
/// @dev NOT checked: that c is the least accepted counter. A later one names another point, of which nobody knows the
/// discrete logarithm and which no honest operator signs for this digest: c is inside the hashed words, so no other
/// digest gives it either. A wrong hint can make a signature fail, never pass.
/// A counter is accepted with probability 0.378; no counter of 256 with probability 2^-175. Not constant time: a digest
/// is public.
library HashToBn254 {
    bytes32 internal constant TAG = keccak256("quorate.bn254.g1.try-and-increment");

    uint256 private constant P = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;
    uint256 private constant MASK = (1 << 254) - 1;

    error XNotInField();
    error YNotInField();
    error YIsOdd();
    error NotOnCurve();
    error NoCounter();

    /// @notice The point of a digest, by the hint (counter, y). About 510 gas.
    function hash(bytes32 digest, uint8 counter, uint256 y) internal pure returns (Bn254.G1 memory point) {
        uint256 x = candidate(digest, counter);
        if (x >= P) revert XNotInField();
        if (y >= P) revert YNotInField();
        if (y & 1 != 0) revert YIsOdd();
        if (mulmod(y, y, P) != _rightSide(x)) revert NotOnCurve();
        return Bn254.G1(x, y);
    }

    /// @notice x of a counter, below 2^254 and not yet checked to be below P or on the curve.
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

    /// @notice The hint: the least accepted counter and its even root. For signers and aggregators that ask by eth_call;
    /// about 4,900 gas a counter tried.
    function find(bytes32 digest) internal view returns (uint8 counter, uint256 y) {
        for (uint256 c = 0; c < 256; ++c) {
            uint256 x = candidate(digest, c);
            if (x >= P) continue;
            (uint256 root, bool square) = Bn254Fp.squareRoot(_rightSide(x));
            // A root is not zero: the order of the curve is odd, so it has no point with y = 0.
            // c < 256.
            // forge-lint: disable-next-line(unsafe-typecast)
            if (square) return (uint8(c), root & 1 == 0 ? root : P - root);
        }
        revert NoCounter();
    }

    /// @dev x³ + 3.
    function _rightSide(uint256 x) private pure returns (uint256) {
        return addmod(mulmod(mulmod(x, x, P), x, P), 3, P);
    }
}
