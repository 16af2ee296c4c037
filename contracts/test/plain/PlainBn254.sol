// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../../src/libraries/Bn254.sol";

/// @notice The base field and G1 of BN254 as in a textbook: no precompile but the pairing, and no assembly.
library PlainBn254 {
    uint256 internal constant P = 21888242871839275222246405745257275088696311157297823662689037894645226208583;
    uint256 internal constant R = 21888242871839275222246405745257275088548364400416034343698204186575808495617;

    function power(uint256 base, uint256 exponent) internal pure returns (uint256 result) {
        result = 1;
        for (uint256 bit = 1 << 255; bit != 0; bit >>= 1) {
            result = mulmod(result, result, P);
            if (exponent & bit != 0) result = mulmod(result, base, P);
        }
    }

    function inverse(uint256 a) internal pure returns (uint256) {
        return power(a, P - 2);
    }

    function isSquare(uint256 a) internal pure returns (bool) {
        return power(a, (P - 1) / 2) <= 1;
    }

    function squareRoot(uint256 a) internal pure returns (uint256) {
        return power(a, (P + 1) / 4);
    }

    function plus(uint256 a, uint256 b) internal pure returns (uint256) {
        return addmod(a, b, P);
    }

    function minus(uint256 a, uint256 b) internal pure returns (uint256) {
        return addmod(a, P - b % P, P);
    }

    function times(uint256 a, uint256 b) internal pure returns (uint256) {
        return mulmod(a, b, P);
    }

    function curve(uint256 x) internal pure returns (uint256) {
        return plus(times(times(x, x), x), 3);
    }

    function isZero(Bn254.G1 memory a) internal pure returns (bool) {
        return a.x == 0 && a.y == 0;
    }

    function add(Bn254.G1 memory a, Bn254.G1 memory b) internal pure returns (Bn254.G1 memory) {
        if (isZero(a)) return b;
        if (isZero(b)) return a;
        if (a.x == b.x && plus(a.y, b.y) == 0) return Bn254.G1(0, 0);
        uint256 slope = a.x == b.x
            ? times(times(3, times(a.x, a.x)), inverse(times(2, a.y)))
            : times(minus(b.y, a.y), inverse(minus(b.x, a.x)));
        uint256 x = minus(minus(times(slope, slope), a.x), b.x);
        return Bn254.G1(x, minus(times(slope, minus(a.x, x)), a.y));
    }

    function mul(Bn254.G1 memory a, uint256 scalar) internal pure returns (Bn254.G1 memory sum) {
        for (; scalar != 0; scalar >>= 1) {
            if (scalar & 1 == 1) sum = add(sum, a);
            a = add(a, a);
        }
    }

    /// @notice The product of any number of pairs by the precompile, with all gas forwarded.
    function pairing(Bn254.G1[] memory a, Bn254.G2[] memory b) internal view returns (bool) {
        bytes memory input;
        for (uint256 i = 0; i < a.length; ++i) {
            input = abi.encodePacked(input, a[i].x, a[i].y, b[i].xIm, b[i].xRe, b[i].yIm, b[i].yRe);
        }
        (bool ok, bytes memory output) = address(8).staticcall(input);
        require(ok && output.length == 32, "pairing precompile");
        return abi.decode(output, (bool));
    }

    function challenge(Bn254.G1 memory h, Bn254.G1 memory key1, Bn254.G2 memory key2, Bn254.G1 memory s)
        internal
        pure
        returns (uint256)
    {
        bytes32 tag = keccak256("quorate.bn254.dual-key");
        bytes memory keys = abi.encodePacked(key1.x, key1.y, key2.xIm, key2.xRe, key2.yIm, key2.yRe);
        return uint256(keccak256(abi.encodePacked(tag, h.x, h.y, keys, s.x, s.y))) % R;
    }
}
