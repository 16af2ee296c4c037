// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "./Bn254.sol";

/// @title RFC 9380 hash_to_curve for BN254's G1, suite BN254G1_XMD:KECCAK-256_SVDW_RO_ (drand evmnet's), with hints.
/// @notice The inverse and the square roots of the Shallue-van de Woestijne map come from the caller and are checked;
/// for one message and one tag a single point passes, whatever the hints.
///
/// @dev Why no hint can lead elsewhere. For u let d = (1 - 4u²)(1 + 4u²) and g(x) = x³ + 3. The map tries, in this order,
///   x1 = -1/2 - t,  x2 = -1/2 + t,  x3 = 1 + c4·((1 + 4u²)²/d)²,   t = u·(1 - 4u²)·c3/d,  c3² = -12,  c4 = -16/3,
/// and takes the first x whose g(x) is a square, with the y of u's parity.
/// 1. 1/d is checked: it is the one inverse of d. d = 0 only for u = ±1/2 (1 + 4u² = 0 would make -1 a square); there
///    t = 0 as 1 - 4u² = 0, whatever stands for 1/d: 1 does.
/// 2. g has no root mod P, since the curve's order is odd. So each g(x) is a square or not, never zero.
/// 3. "x1": the root shows that g(x1) is a square.
/// 4. "x2" and "x3" come with w, w² = -g(x1). As P ≡ 3 mod 4, -1 is not a square, so g(x1) ≠ 0 is not one: x1 is
///    excluded.
/// 5. "x2": the root shows that g(x2) is a square.
/// 6. "x3": let h = x1² + x1·x2 + x2². As x1 + x2 = -1, g(x) = (x - x1)(x - x2)(x - 1) + h·(x - 1) + 4, so
///    g(x1)·g(x2) = h²·(3 - h) - 12h + 16. With x3 - 1 = -4/h (h = 3(1 - 4u²)²/(4(1 + 4u²)²) for d ≠ 0) expanding g
///    at 1 gives the same for -h³/4 · g(x3), so g(x1)·g(x2)·g(x3) = -h/4 · (h·g(x3))². And -h/4 = 1/(x3 - 1) is a
///    square, x3 - 1 = c4·(…)² with c4 = (2·c3/3)². So if g(x1) is not a square and g(x3) is one, g(x2) is not:
///    x2 is excluded with no hint of its own. For d = 0, x1 = x2 = -1/2 and g(x1) = 23/8 is a square: by 4, only x1
///    passes, as in the RFC.
/// 7. The root is below P and has the parity of u; of the two roots, y and P - y, one has.
/// NOT checked: what the message is, and that the tag (DST), a constant of the caller's of at most 255 bytes, is used for
/// nothing else. Nor that the sum of the two points is not infinity, which happens with probability 1/R.
library HashToBn254Rfc9380 {
    /// @notice What proves the choice of x for one u.
    /// @param candidate 1, 2 or 3: which x is taken.
    /// @param root the y of that x: below P, of the parity of u.
    /// @param nonSquare for candidates 2 and 3 a root of -g(x1); ignored for 1.
    struct MapHint {
        uint256 candidate;
        uint256 root;
        uint256 nonSquare;
    }

    uint256 private constant P = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;
    /// @notice 2^256 mod P.
    uint256 private constant SHIFT_256 = 0x0e0a77c19a07df2f666ea36f7879462c0a78eb28f5c70b3dd35d438dc58f0d9d;
    /// @notice -Z/2 with Z = 1; the root of -12 with even parity; -16/3.
    uint256 private constant C2 = 0x183227397098d014dc2822db40c0ac2ecbc0b548b438e5469e10460b6c3e7ea3;
    uint256 private constant C3 = 0x16789af3a83522eb353c98fc6b36d713d5d8d1cc5dffffffa;
    uint256 private constant C4 = 0x10216f7ba065e00de81ac1e7808072c9dd2b2385cd7b438469602eb24829a9bd;

    error TagTooLong();
    error BadInverse();
    error UnknownCandidate();
    error BadNonSquare();
    error RootNotInField();
    error WrongSign();
    error BadRoot();

    /// @notice hash_to_curve (section 3): the point of a message under a tag. At most about 4,150 gas for 32 bytes.
    /// @param inverse 1/(d0·d1) for the two field elements' denominators.
    function hash(bytes memory message, bytes memory tag, uint256 inverse, MapHint memory hint0, MapHint memory hint1)
        internal
        view
        returns (Bn254.G1 memory)
    {
        (uint256 u0, uint256 u1) = hashToField(message, tag);
        uint256 d0 = denominator(u0);
        uint256 d1 = denominator(u1);
        if (mulmod(mulmod(d0, d1, P), inverse, P) != 1) revert BadInverse();
        return Bn254.add(_map(u0, mulmod(inverse, d1, P), hint0), _map(u1, mulmod(inverse, d0, P), hint1));
    }

    /// @notice map_to_curve (section 6.6.1) of u < P.
    /// @param inverse 1/denominator(u).
    function mapToCurve(uint256 u, uint256 inverse, MapHint memory hint) internal pure returns (Bn254.G1 memory) {
        if (mulmod(denominator(u), inverse, P) != 1) revert BadInverse();
        return _map(u, inverse, hint);
    }

    /// @notice What the map divides by: d = 1 - 16u⁴, or 1 for d = 0, that is for u = ±1/2.
    function denominator(uint256 u) internal pure returns (uint256 d) {
        uint256 square = mulmod(u, u, P);
        d = addmod(1, P - mulmod(16, mulmod(square, square, P), P), P);
        if (d == 0) return 1;
    }

    /// @notice hash_to_field (section 5.2): two elements below P, 48 bytes of expand_message_xmd each.
    /// @dev Reverts with TagTooLong above 255 bytes, where the RFC would hash the tag.
    function hashToField(bytes memory message, bytes memory tag) internal pure returns (uint256 u0, uint256 u1) {
        (uint256 b1, uint256 b2, uint256 b3) = expandMessage(message, tag);
        // Big-endian: b1 ‖ upper half of b2, and lower half of b2 ‖ b3.
        u0 = addmod(mulmod(b1, 1 << 128, P), b2 >> 128, P);
        u1 = addmod(mulmod(b2 & type(uint128).max, SHIFT_256, P), b3, P);
    }

    /// @notice expand_message_xmd (section 5.3.1) to 96 bytes with Keccak-256: blocks of 136 bytes, outputs of 32.
    /// @dev In assembly, so that tag' is written once: the words before it are changed in place.
    function expandMessage(bytes memory message, bytes memory tag)
        internal
        pure
        returns (uint256 b1, uint256 b2, uint256 b3)
    {
        if (tag.length > 255) revert TagTooLong();
        assembly ("memory-safe") {
            let input := mload(0x40)
            // Z_pad, 136 zeros, written as 160.
            calldatacopy(input, calldatasize(), 0xa0)
            let size := mload(message)
            mcopy(add(input, 0x88), add(message, 0x20), size)
            // l_i_b_str = 96 in two bytes, then a zero byte.
            let end := add(add(input, 0x88), size)
            mstore(end, shl(232, 0x006000))
            // tag' = tag ‖ its length.
            size := mload(tag)
            mcopy(add(end, 3), add(tag, 0x20), size)
            mstore8(add(add(end, 3), size), size)
            let b0 := keccak256(input, add(sub(end, input), add(size, 4)))

            // 32 bytes ‖ index ‖ tag', ending where the first input ended.
            input := sub(end, 30)
            size := add(size, 34)
            mstore(input, b0)
            mstore8(add(end, 2), 1)
            b1 := keccak256(input, size)
            mstore(input, xor(b0, b1))
            mstore8(add(end, 2), 2)
            b2 := keccak256(input, size)
            mstore(input, xor(b0, b2))
            mstore8(add(end, 2), 3)
            b3 := keccak256(input, size)
        }
    }

    /// @dev The map with 1/d proved (any word for d = 0), u < P.
    function _map(uint256 u, uint256 inverse, MapHint memory hint) private pure returns (Bn254.G1 memory point) {
        uint256 fourSquares = mulmod(mulmod(u, u, P), 4, P);
        // t = u·(1 - 4u²)·c3/d, below P.
        uint256 t = mulmod(mulmod(u, inverse, P), mulmod(P + 1 - fourSquares, C3, P), P);
        uint256 x = addmod(C2, P - t, P);
        if (hint.candidate != 1) {
            if (addmod(mulmod(hint.nonSquare, hint.nonSquare, P), _rightSide(x), P) != 0) revert BadNonSquare();
            if (hint.candidate == 2) {
                x = addmod(C2, t, P);
            } else if (hint.candidate == 3) {
                uint256 s = mulmod(mulmod(fourSquares + 1, fourSquares + 1, P), inverse, P);
                x = addmod(mulmod(mulmod(s, s, P), C4, P), 1, P);
            } else {
                revert UnknownCandidate();
            }
        }
        uint256 y = hint.root;
        if (y >= P) revert RootNotInField();
        // sgn0 of a prime field is the parity.
        if ((y ^ u) & 1 != 0) revert WrongSign();
        if (mulmod(y, y, P) != _rightSide(x)) revert BadRoot();
        (point.x, point.y) = (x, y);
    }

    /// @dev g(x) = x³ + 3.
    function _rightSide(uint256 x) private pure returns (uint256) {
        return addmod(mulmod(mulmod(x, x, P), x, P), 3, P);
    }
}
