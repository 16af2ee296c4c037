// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../../src/libraries/Bn254.sol";
import {HashToBn254Rfc9380} from "../../src/libraries/HashToBn254Rfc9380.sol";
import {PlainBn254} from "./PlainBn254.sol";

/// @notice RFC 9380 hash_to_curve for BN254's G1 without hints, by the steps of appendix F.1. It also makes the hints
/// for the library.
library PlainHashToBn254Rfc9380 {
    using PlainBn254 for uint256;

    uint256 private constant P = PlainBn254.P;
    uint256 private constant C1 = 4;

    /// @notice The constants of section 6.6.1 for Z = 1, A = 0 and B = 3.
    function constants() internal pure returns (uint256 c2, uint256 c3, uint256 c4) {
        uint256 g = PlainBn254.curve(1);
        c2 = P - PlainBn254.inverse(2);
        c3 = PlainBn254.squareRoot(P - mulmod(g, 3, P));
        if (c3 % 2 == 1) c3 = P - c3;
        c4 = P - mulmod(4 * g, PlainBn254.inverse(3), P);
    }

    /// @notice The denominator tv3 before its inversion, and the three candidates for x.
    function candidates(uint256 u) internal pure returns (uint256 d, uint256[3] memory x) {
        (uint256 c2, uint256 c3, uint256 c4) = constants();
        uint256 tv1 = mulmod(mulmod(u, u, P), C1, P);
        uint256 tv2 = addmod(1, tv1, P);
        tv1 = PlainBn254.minus(1, tv1);
        d = mulmod(tv1, tv2, P);
        uint256 tv3 = PlainBn254.inverse(d);
        uint256 tv4 = u.times(tv1).times(tv3).times(c3);
        x[0] = c2.minus(tv4);
        x[1] = c2.plus(tv4);
        uint256 s = tv2.times(tv2).times(tv3);
        x[2] = s.times(s).times(c4).plus(1);
    }

    function mapToCurve(uint256 u) internal pure returns (Bn254.G1 memory) {
        (, uint256[3] memory x) = candidates(u);
        uint256 chosen = PlainBn254.isSquare(x[0].curve()) ? x[0] : PlainBn254.isSquare(x[1].curve()) ? x[1] : x[2];
        uint256 y = PlainBn254.squareRoot(chosen.curve());
        return Bn254.G1(chosen, y % 2 == u % 2 ? y : P - y);
    }

    function expandMessage(bytes memory message, bytes memory tag) internal pure returns (bytes memory) {
        bytes memory tagPrime = abi.encodePacked(tag, uint8(tag.length));
        bytes32 b0 = keccak256(abi.encodePacked(new bytes(136), message, uint16(96), uint8(0), tagPrime));
        bytes32 b1 = keccak256(abi.encodePacked(b0, uint8(1), tagPrime));
        bytes32 b2 = keccak256(abi.encodePacked(b0 ^ b1, uint8(2), tagPrime));
        bytes32 b3 = keccak256(abi.encodePacked(b0 ^ b2, uint8(3), tagPrime));
        return abi.encodePacked(b1, b2, b3);
    }

    function hashToField(bytes memory message, bytes memory tag) internal pure returns (uint256[2] memory u) {
        bytes memory uniform = expandMessage(message, tag);
        for (uint256 i = 0; i < 96; ++i) {
            u[i / 48] = addmod(mulmod(u[i / 48], 256, P), uint8(uniform[i]), P);
        }
    }

    function hash(bytes memory message, bytes memory tag) internal pure returns (Bn254.G1 memory) {
        uint256[2] memory u = hashToField(message, tag);
        return PlainBn254.add(mapToCurve(u[0]), mapToCurve(u[1]));
    }

    /// @notice The hint for the map of u: 1/d (1 for d = 0), and the candidate with its roots.
    function mapHint(uint256 u) internal pure returns (uint256 inverse, HashToBn254Rfc9380.MapHint memory hint) {
        (uint256 d, uint256[3] memory x) = candidates(u);
        inverse = d == 0 ? 1 : PlainBn254.inverse(d);
        Bn254.G1 memory point = mapToCurve(u);
        hint.candidate = point.x == x[0] ? 1 : point.x == x[1] ? 2 : 3;
        hint.root = point.y;
        // P - g(x1) has a root, because g(x1) is not a square.
        if (hint.candidate != 1) hint.nonSquare = PlainBn254.squareRoot(P - x[0].curve());
    }

    function hints(bytes memory message, bytes memory tag)
        internal
        pure
        returns (uint256 inverse, HashToBn254Rfc9380.MapHint memory hint0, HashToBn254Rfc9380.MapHint memory hint1)
    {
        uint256[2] memory u = hashToField(message, tag);
        uint256 second;
        (inverse, hint0) = mapHint(u[0]);
        (second, hint1) = mapHint(u[1]);
        inverse = mulmod(inverse, second, P);
    }
}
