// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../../src/libraries/Bn254.sol";
import {Bn254G2} from "../../src/libraries/Bn254G2.sol";
import {PlainBn254} from "./PlainBn254.sol";

/// @notice The twist of BN254 in affine coordinates, as in a textbook, and the Z of a mixed addition, as the NatSpec of
/// Bn254G2 states it.
library PlainBn254G2 {
    struct Fp2 {
        uint256 im;
        uint256 re;
    }

    uint256 private constant P = PlainBn254.P;

    function plus(Fp2 memory a, Fp2 memory b) internal pure returns (Fp2 memory) {
        return Fp2(PlainBn254.plus(a.im, b.im), PlainBn254.plus(a.re, b.re));
    }

    function minus(Fp2 memory a, Fp2 memory b) internal pure returns (Fp2 memory) {
        return Fp2(PlainBn254.minus(a.im, b.im), PlainBn254.minus(a.re, b.re));
    }

    function times(Fp2 memory a, Fp2 memory b) internal pure returns (Fp2 memory) {
        return Fp2(
            PlainBn254.plus(mulmod(a.re, b.im, P), mulmod(a.im, b.re, P)),
            PlainBn254.minus(mulmod(a.re, b.re, P), mulmod(a.im, b.im, P))
        );
    }

    function inverse(Fp2 memory a) internal pure returns (Fp2 memory) {
        uint256 norm = PlainBn254.inverse(PlainBn254.plus(mulmod(a.im, a.im, P), mulmod(a.re, a.re, P)));
        return Fp2(mulmod(PlainBn254.minus(0, a.im), norm, P), mulmod(a.re, norm, P));
    }

    function equal(Fp2 memory a, Fp2 memory b) internal pure returns (bool) {
        return a.im % P == b.im % P && a.re % P == b.re % P;
    }

    function isZero(Fp2 memory a) internal pure returns (bool) {
        return a.im % P == 0 && a.re % P == 0;
    }

    function x(Bn254.G2 memory a) internal pure returns (Fp2 memory) {
        return Fp2(a.xIm, a.xRe);
    }

    function y(Bn254.G2 memory a) internal pure returns (Fp2 memory) {
        return Fp2(a.yIm, a.yRe);
    }

    function point(Fp2 memory px, Fp2 memory py) internal pure returns (Bn254.G2 memory) {
        return Bn254.G2(px.im, px.re, py.im, py.re);
    }

    function generator() internal pure returns (Bn254.G2 memory) {
        return Bn254.G2(
            11559732032986387107991004021392285783925812861821192530917403151452391805634,
            10857046999023057135944570762232829481370756359578518086990519993285655852781,
            4082367875863433681332203403145435568316851327593401208105741076214120093531,
            8495653923123431417604973247489272438418190587263600148770280649306958101930
        );
    }

    /// @notice Whether y² = x³ + 3/(9 + i).
    function isOnTwist(Bn254.G2 memory a) internal pure returns (bool) {
        Fp2 memory b = times(Fp2(0, 3), inverse(Fp2(1, 9)));
        return equal(times(y(a), y(a)), plus(times(times(x(a), x(a)), x(a)), b));
    }

    function isInfinity(Bn254.G2 memory a) internal pure returns (bool) {
        return isZero(x(a)) && isZero(y(a));
    }

    function negate(Bn254.G2 memory a) internal pure returns (Bn254.G2 memory) {
        return point(x(a), minus(Fp2(0, 0), y(a)));
    }

    function add(Bn254.G2 memory a, Bn254.G2 memory b) internal pure returns (Bn254.G2 memory) {
        if (isInfinity(a)) return b;
        if (isInfinity(b)) return a;
        Fp2 memory line;
        if (equal(x(a), x(b))) {
            if (isZero(plus(y(a), y(b)))) return Bn254.G2(0, 0, 0, 0);
            line = times(times(Fp2(0, 3), times(x(a), x(a))), inverse(plus(y(a), y(a))));
        } else {
            line = slope(a, b);
        }
        Fp2 memory sumX = minus(minus(times(line, line), x(a)), x(b));
        return point(sumX, minus(times(line, minus(x(a), sumX)), y(a)));
    }

    /// @notice The slope of the line through two points with different x.
    function slope(Bn254.G2 memory a, Bn254.G2 memory b) internal pure returns (Fp2 memory) {
        return times(minus(y(b), y(a)), inverse(minus(x(b), x(a))));
    }

    function mul(Bn254.G2 memory a, uint256 scalar) internal pure returns (Bn254.G2 memory sum) {
        for (; scalar != 0; scalar >>= 1) {
            if (scalar & 1 == 1) sum = add(sum, a);
            a = add(a, a);
        }
    }

    function z(Bn254G2.Accumulator memory sum) internal pure returns (Fp2 memory) {
        return Fp2(sum.zIm, sum.zRe);
    }

    /// @notice The affine point (X/Z², Y/Z³); infinity for Z = 0.
    function affine(Bn254G2.Accumulator memory sum) internal pure returns (Bn254.G2 memory) {
        if (isZero(z(sum))) return Bn254.G2(0, 0, 0, 0);
        Fp2 memory i = inverse(z(sum));
        Fp2 memory square = times(i, i);
        return point(times(Fp2(sum.xIm, sum.xRe), square), times(Fp2(sum.yIm, sum.yRe), times(square, i)));
    }

    /// @notice The Z after a mixed addition.
    function nextZ(Bn254G2.Accumulator memory sum, Bn254.G2 memory key, bool negative)
        internal
        pure
        returns (Fp2 memory)
    {
        if (isInfinity(key)) return z(sum);
        if (isZero(z(sum))) return Fp2(0, 1);
        Bn254.G2 memory addend = negative ? negate(key) : key;
        Fp2 memory square = times(z(sum), z(sum));
        Fp2 memory h = minus(times(x(addend), square), Fp2(sum.xIm, sum.xRe));
        if (!isZero(h)) return times(z(sum), h);
        Fp2 memory sumY = Fp2(sum.yIm, sum.yRe);
        if (equal(times(y(addend), times(square, z(sum))), sumY)) return times(Fp2(0, 2), times(sumY, z(sum)));
        return Fp2(0, 0);
    }
}
