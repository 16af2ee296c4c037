// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {Bn254} from "./Bn254.sol";
import {BN254_P} from "./Fields.sol";

/// @title Hashes messages to G1 of BN254 by RFC 9380, with hints
/// @notice The suite is BN254G1_XMD:KECCAK-256_SVDW_RO_, which drand's evmnet uses. The caller passes the inverse and
/// the square roots that the Shallue-van de Woestijne map needs, and the library checks them. For each message and tag
/// only one point passes, whatever the hints.
///
/// @dev The proof that no hint leads to another point. For u let d = (1 - 4u²)(1 + 4u²) and g(x) = x³ + 3. The map
/// tries three candidates in this order:
///
///     x1 = -1/2 - t,  x2 = -1/2 + t,  x3 = 1 + c4·((1 + 4u²)²/d)²,
///     with t = u·(1 - 4u²)·c3/d,  c3² = -12,  c4 = -16/3.
///
/// It takes the first x for which g(x) is a square, and the y that has the parity of u.
///
/// 1. The library checks the hint 1/d, and d has one inverse. Only u = ±1/2 gives d = 0, since 1 + 4u² = 0 would make
///    -1 a square. Then 1 - 4u² = 0, so t = 0 for any value of the hint.
/// 2. g has no root modulo P, because the order of the curve is odd. So g(x) is never zero; it is a square or it is
///    not.
/// 3. Candidate 1: the root proves that g(x1) is a square.
/// 4. Candidates 2 and 3 need a w with w² = -g(x1). P ≡ 3 mod 4, so -1 is not a square. So g(x1), which is not zero, is
///    not a square either, and x1 is excluded.
/// 5. Candidate 2: the root proves that g(x2) is a square.
/// 6. Candidate 3: let h = x1² + x1·x2 + x2². From x1 + x2 = -1 follow g(x) = (x - x1)(x - x2)(x - 1) + h·(x - 1) + 4
///    and g(x1)·g(x2) = h²·(3 - h) - 12h + 16. For d ≠ 0, h = 3(1 - 4u²)²/(4(1 + 4u²)²), so x3 - 1 = -4/h. With that,
///    -h³/4 · g(x3) gives the same polynomial in h, so g(x1)·g(x2)·g(x3) = -h/4 · (h·g(x3))². And -h/4 = 1/(x3 - 1) is
///    a square, since x3 - 1 = c4·(…)² and c4 = (2·c3/3)². So the product of the three is a square. If g(x1) is not a
///    square and g(x3) is one, g(x2) is not: x2 is excluded without a hint. For d = 0, x1 = x2 = -1/2 and g(x1) = 23/8
///    is a square. Then only candidate 1 passes, by 4., as in the RFC.
/// 7. The root is below P and has the parity of u. Of the two roots y and P - y exactly one has.
///
/// NOT checked: what the message is; that the caller uses the tag for nothing else; that the tag is not empty, as the
/// RFC demands; that the sum of the two points is not infinity, which happens with probability 1/R.
library HashToBn254Rfc9380 {
    /// @notice The hint for one field element u.
    /// @param candidate Which candidate for x is taken: 1, 2 or 3.
    /// @param root The y for that x: below P, with the parity of u.
    /// @param nonSquare For candidates 2 and 3, a root of -g(x1). Ignored for candidate 1.
    struct MapHint {
        uint256 candidate;
        uint256 root;
        uint256 nonSquare;
    }

    /// @dev The prime of the field.
    uint256 private constant P = BN254_P;
    /// @notice 2^256 mod P.
    uint256 private constant SHIFT_256 = 0x0e0a77c19a07df2f666ea36f7879462c0a78eb28f5c70b3dd35d438dc58f0d9d;
    /// @notice -Z/2 for Z = 1; the even root of -12; -16/3.
    uint256 private constant C2 = 0x183227397098d014dc2822db40c0ac2ecbc0b548b438e5469e10460b6c3e7ea3;
    uint256 private constant C3 = 0x16789af3a83522eb353c98fc6b36d713d5d8d1cc5dffffffa;
    uint256 private constant C4 = 0x10216f7ba065e00de81ac1e7808072c9dd2b2385cd7b438469602eb24829a9bd;

    /// @notice The tag has more than 255 bytes.
    error TagTooLong();
    /// @notice The hint for the inverse is wrong.
    error BadInverse();
    /// @notice A candidate is not 1, 2 or 3.
    error UnknownCandidate();
    /// @notice A hint does not prove that g(x1) is not a square.
    error BadNonSquare();
    /// @notice A root is not below P.
    error RootNotInField();
    /// @notice A root does not have the parity of u.
    error WrongSign();
    /// @notice A root is not a root of g(x).
    error BadRoot();

    /// @notice hash_to_curve (section 3). Costs at most about 4,150 gas for a message of 32 bytes.
    /// @param message The message.
    /// @param tag The domain separation tag, at most 255 bytes.
    /// @param inverse 1/(d0·d1), where d0 and d1 are the `denominator` of the two field elements.
    /// @param hint0 The hint for the first field element.
    /// @param hint1 The hint for the second field element.
    /// @return The point.
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

    /// @notice map_to_curve (section 6.6.1).
    /// @param u A field element, below P.
    /// @param inverse 1/denominator(u).
    /// @param hint The hint for u.
    /// @return The point.
    function mapToCurve(uint256 u, uint256 inverse, MapHint memory hint) internal pure returns (Bn254.G1 memory) {
        if (mulmod(denominator(u), inverse, P) != 1) revert BadInverse();
        return _map(u, inverse, hint);
    }

    /// @notice What the map divides by.
    /// @param u A field element, below P.
    /// @return d 1 - 16u⁴; or 1 if that is zero, for u = ±1/2.
    function denominator(uint256 u) internal pure returns (uint256 d) {
        uint256 square = mulmod(u, u, P);
        d = addmod(1, P - mulmod(16, mulmod(square, square, P), P), P);
        if (d == 0) return 1;
    }

    /// @notice hash_to_field (section 5.2): two field elements, from 48 bytes of expand_message_xmd each.
    /// @dev Reverts with TagTooLong if the tag has more than 255 bytes. The RFC would hash such a tag.
    /// @param message The message.
    /// @param tag The domain separation tag.
    /// @return u0 The first element, below P.
    /// @return u1 The second element, below P.
    function hashToField(bytes memory message, bytes memory tag) internal pure returns (uint256 u0, uint256 u1) {
        (uint256 b1, uint256 b2, uint256 b3) = expandMessage(message, tag);
        // Big-endian: u0 from b1 ‖ upper half of b2, and u1 from lower half of b2 ‖ b3.
        u0 = addmod(mulmod(b1, 1 << 128, P), b2 >> 128, P);
        u1 = addmod(mulmod(b2 & type(uint128).max, SHIFT_256, P), b3, P);
    }

    /// @notice expand_message_xmd (section 5.3.1) to 96 bytes with Keccak-256, whose blocks have 136 bytes and whose
    /// outputs have 32.
    /// @dev In assembly, so that the tag is written once; only the words before it change.
    /// @param message The message.
    /// @param tag The domain separation tag, at most 255 bytes.
    /// @return b1 The first 32 bytes.
    /// @return b2 The next 32 bytes.
    /// @return b3 The last 32 bytes.
    function expandMessage(bytes memory message, bytes memory tag)
        internal
        pure
        returns (uint256 b1, uint256 b2, uint256 b3)
    {
        if (tag.length > 255) revert TagTooLong();
        assembly ("memory-safe") {
            let input := mload(0x40)
            // Z_pad is 136 zeros. 160 are written, and the message overwrites the others.
            calldatacopy(input, calldatasize(), 0xa0)
            let size := mload(message)
            mcopy(add(input, 0x88), add(message, 0x20), size)
            // Two bytes of the wanted length, 96, and a zero byte.
            let end := add(add(input, 0x88), size)
            mstore(end, shl(232, 0x006000))
            // The tag, and a byte of its length.
            size := mload(tag)
            mcopy(add(end, 3), add(tag, 0x20), size)
            mstore8(add(add(end, 3), size), size)
            let b0 := keccak256(input, add(sub(end, input), add(size, 4)))

            // The next inputs have 32 bytes, an index, and the tag with its length. They end where the first input
            // ended.
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

    /// @dev The map of u < P. The caller has checked the inverse, which may be any word for d = 0.
    /// @param u A field element, below P.
    /// @param inverse 1/denominator(u).
    /// @param hint The hint for u.
    /// @return point The point.
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
        // The sign of an element of a prime field is its parity.
        if ((y ^ u) & 1 != 0) revert WrongSign();
        if (mulmod(y, y, P) != _rightSide(x)) revert BadRoot();
        (point.x, point.y) = (x, y);
    }

    /// @dev g(x) = x³ + 3.
    /// @param x Any word.
    /// @return x³ + 3 modulo P, below P.
    function _rightSide(uint256 x) private pure returns (uint256) {
        return addmod(mulmod(mulmod(x, x, P), x, P), 3, P);
    }
}
