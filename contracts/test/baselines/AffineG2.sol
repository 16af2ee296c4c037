// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// Addition on the twist of BN254 as in the contract that the benchmark compares with
/// @notice For the benchmark alone. Each addition checks both points, adds them in homogeneous coordinates (x = X/Z, y
/// = Y/Z) as if neither were affine, and makes the sum affine again by MODEXP. A product in Fp2 computes each term
/// alone, on the stack. Coordinates are in the EVM's order: the imaginary part comes first.
///
/// An addition costs 14,841 gas since Osaka, as `AffineG2.t.sol` measures. The library that the compared contract uses
/// costs 16,900 with a current compiler. So the comparison does not favour our contracts.
library AffineG2 {
    uint256 private constant P = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;
    // The real and imaginary part of 3/(9 + i).
    uint256 private constant B_REAL = 0x2b149d40ceb8aaae81be18991be06ac3b5b4c5e559dbefa33267e6dc24a138e5;
    uint256 private constant B_IMAGINARY = 0x009713b03af0fed4cd2cafadeed8fdf4a74fa084e52d1852e4a2bd0685c315d2;

    error NotOnTwist();

    /// @notice The sum of two affine points. (0, 0, 0, 0) is the identity.
    function add(uint256[4] memory a, uint256[4] memory b) internal view returns (uint256[4] memory) {
        if (_isIdentity(a)) return b;
        if (_isIdentity(b)) return a;
        require(_isOnTwist(a) && _isOnTwist(b), NotOnTwist());
        return _affine(_add(_projective(a), _projective(b)));
    }

    function negated(uint256[4] memory a) internal pure returns (uint256[4] memory) {
        return [a[0], a[1], (P - a[2]) % P, (P - a[3]) % P];
    }

    function _isIdentity(uint256[4] memory a) private pure returns (bool) {
        return a[0] | a[1] | a[2] | a[3] == 0;
    }

    function _isOnTwist(uint256[4] memory a) private pure returns (bool) {
        (uint256 rightIm, uint256 rightRe) = _times(a[0], a[1], a[0], a[1]);
        (rightIm, rightRe) = _times(rightIm, rightRe, a[0], a[1]);
        (uint256 leftIm, uint256 leftRe) = _times(a[2], a[3], a[2], a[3]);
        return leftIm == addmod(rightIm, B_IMAGINARY, P) && leftRe == addmod(rightRe, B_REAL, P);
    }

    function _projective(uint256[4] memory a) private pure returns (uint256[6] memory) {
        return [a[0], a[1], a[2], a[3], 0, 1];
    }

    function _affine(uint256[6] memory a) private view returns (uint256[4] memory affine) {
        (uint256 inverseIm, uint256 inverseRe) = _inverted(a[4], a[5]);
        (affine[0], affine[1]) = _times(a[0], a[1], inverseIm, inverseRe);
        (affine[2], affine[3]) = _times(a[2], a[3], inverseIm, inverseRe);
    }

    /// @dev Adds two points: u = y2·z1 - y1·z2 and v = x2·z1 - x1·z2.
    function _add(uint256[6] memory a, uint256[6] memory b) private pure returns (uint256[6] memory sum) {
        (uint256 uIm, uint256 uRe) = _times(b[2], b[3], a[4], a[5]);
        (uint256 vIm, uint256 vRe) = _times(b[0], b[1], a[4], a[5]);
        (uint256 xIm, uint256 xRe) = _times(a[0], a[1], b[4], b[5]);
        // Puts y1·z2 and w = z1·z2 where `_combine` reads them.
        (sum[2], sum[3]) = _times(a[2], a[3], b[4], b[5]);
        (sum[4], sum[5]) = _times(a[4], a[5], b[4], b[5]);
        (uIm, uRe) = _minus(uIm, uRe, sum[2], sum[3]);
        (vIm, vRe) = _minus(vIm, vRe, xIm, xRe);
        if (vIm | vRe != 0) {
            _combine(sum, uIm, uRe, vIm, vRe, xIm, xRe);
            return sum;
        }
        if (uIm | uRe == 0) return _double(a);
        return [uint256(0), 1, 0, 1, 0, 0];
    }

    /// @dev With rest = u²·w - v³ - 2·v²·x1·z2, the sum is (v·rest, u·(v²·x1·z2 - rest) - v³·y1·z2, v³·w).
    function _combine(
        uint256[6] memory sum,
        uint256 uIm,
        uint256 uRe,
        uint256 vIm,
        uint256 vRe,
        uint256 xIm,
        uint256 xRe
    ) private pure {
        (uint256 cubeIm, uint256 cubeRe) = _times(vIm, vRe, vIm, vRe);
        (xIm, xRe) = _times(cubeIm, cubeRe, xIm, xRe);
        (cubeIm, cubeRe) = _times(cubeIm, cubeRe, vIm, vRe);
        (uint256 restIm, uint256 restRe) = _times(uIm, uRe, uIm, uRe);
        (restIm, restRe) = _times(restIm, restRe, sum[4], sum[5]);
        (restIm, restRe) = _minus(restIm, restRe, cubeIm, cubeRe);
        (restIm, restRe) = _minus(restIm, restRe, addmod(xIm, xIm, P), addmod(xRe, xRe, P));
        (sum[0], sum[1]) = _times(vIm, vRe, restIm, restRe);
        (restIm, restRe) = _minus(xIm, xRe, restIm, restRe);
        (restIm, restRe) = _times(uIm, uRe, restIm, restRe);
        (xIm, xRe) = _times(cubeIm, cubeRe, sum[2], sum[3]);
        (sum[2], sum[3]) = _minus(restIm, restRe, xIm, xRe);
        (sum[4], sum[5]) = _times(cubeIm, cubeRe, sum[4], sum[5]);
    }

    /// @dev With w = 3·x², s = y·z, b = x·y·s and h = w² - 8·b, the double is (2·h·s, w·(4·b - h) - 8·y²·s², 8·s³).
    function _double(uint256[6] memory a) private pure returns (uint256[6] memory sum) {
        (uint256 wIm, uint256 wRe) = _times(a[0], a[1], a[0], a[1]);
        (wIm, wRe) = (mulmod(3, wIm, P), mulmod(3, wRe, P));
        (uint256 sIm, uint256 sRe) = _times(a[2], a[3], a[4], a[5]);
        (uint256 bIm, uint256 bRe) = _times(a[0], a[1], a[2], a[3]);
        (bIm, bRe) = _times(bIm, bRe, sIm, sRe);
        (uint256 hIm, uint256 hRe) = _times(wIm, wRe, wIm, wRe);
        (hIm, hRe) = _minus(hIm, hRe, mulmod(8, bIm, P), mulmod(8, bRe, P));
        (sum[0], sum[1]) = _times(mulmod(2, hIm, P), mulmod(2, hRe, P), sIm, sRe);
        (hIm, hRe) = _minus(mulmod(4, bIm, P), mulmod(4, bRe, P), hIm, hRe);
        (wIm, wRe) = _times(wIm, wRe, hIm, hRe);
        (bIm, bRe) = _times(a[2], a[3], sIm, sRe);
        (bIm, bRe) = _times(bIm, bRe, bIm, bRe);
        (sum[2], sum[3]) = _minus(wIm, wRe, mulmod(8, bIm, P), mulmod(8, bRe, P));
        (bIm, bRe) = _times(sIm, sRe, sIm, sRe);
        (bIm, bRe) = _times(bIm, bRe, sIm, sRe);
        (sum[4], sum[5]) = (mulmod(8, bIm, P), mulmod(8, bRe, P));
    }

    function _minus(uint256 aIm, uint256 aRe, uint256 bIm, uint256 bRe) private pure returns (uint256, uint256) {
        return (addmod(aIm, P - bIm, P), addmod(aRe, P - bRe, P));
    }

    function _times(uint256 aIm, uint256 aRe, uint256 bIm, uint256 bRe) private pure returns (uint256, uint256) {
        return
            (
                addmod(mulmod(aRe, bIm, P), mulmod(aIm, bRe, P), P),
                addmod(mulmod(aRe, bRe, P), P - mulmod(aIm, bIm, P), P)
            );
    }

    function _inverted(uint256 im, uint256 re) private view returns (uint256, uint256) {
        uint256 norm = addmod(mulmod(re, re, P), mulmod(im, im, P), P);
        (bool done, bytes memory out) =
            address(5).staticcall(abi.encode(uint256(32), uint256(32), uint256(32), norm, P - 2, P));
        require(done);
        uint256 inverse = abi.decode(out, (uint256));
        return (mulmod(P - im, inverse, P), mulmod(re, inverse, P));
    }
}
