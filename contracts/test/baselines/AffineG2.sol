// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title Addition on the twist of BN254 as the source's contract does it
/// @notice For the benchmark alone. Points are checked, added in homogeneous coordinates (x = X/Z, y = Y/Z) and made affine
/// again, each time; Fp2 by one product a term. Coordinates are in the order of the EVM: imaginary, real.
library AffineG2 {
    uint256 private constant P = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;
    // 3/(9 + i)
    uint256 private constant B_REAL = 0x2b149d40ceb8aaae81be18991be06ac3b5b4c5e559dbefa33267e6dc24a138e5;
    uint256 private constant B_IMAGINARY = 0x009713b03af0fed4cd2cafadeed8fdf4a74fa084e52d1852e4a2bd0685c315d2;

    struct Fp2 {
        uint256 real;
        uint256 imaginary;
    }

    struct Point {
        Fp2 x;
        Fp2 y;
        Fp2 z;
    }

    error NotOnTwist();

    /// @notice The sum of two affine points, (0, 0, 0, 0) being the identity.
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
        (Fp2 memory x, Fp2 memory y) = (Fp2(a[1], a[0]), Fp2(a[3], a[2]));
        Fp2 memory right = _plus(_times(_times(x, x), x), Fp2(B_REAL, B_IMAGINARY));
        Fp2 memory left = _times(y, y);
        return left.real == right.real && left.imaginary == right.imaginary;
    }

    function _projective(uint256[4] memory a) private pure returns (Point memory) {
        return Point(Fp2(a[1], a[0]), Fp2(a[3], a[2]), Fp2(1, 0));
    }

    function _affine(Point memory a) private view returns (uint256[4] memory) {
        Fp2 memory inverse = _inverted(a.z);
        (Fp2 memory x, Fp2 memory y) = (_times(a.x, inverse), _times(a.y, inverse));
        return [x.imaginary, x.real, y.imaginary, y.real];
    }

    function _add(Point memory a, Point memory b) private pure returns (Point memory) {
        (Fp2 memory u1, Fp2 memory u2) = (_times(b.y, a.z), _times(a.y, b.z));
        (Fp2 memory v1, Fp2 memory v2) = (_times(b.x, a.z), _times(a.x, b.z));
        if (v1.real == v2.real && v1.imaginary == v2.imaginary) {
            if (u1.real == u2.real && u1.imaginary == u2.imaginary) return _double(a);
            return Point(Fp2(1, 0), Fp2(1, 0), Fp2(0, 0));
        }
        (Fp2 memory u, Fp2 memory v) = (_minus(u1, u2), _minus(v1, v2));
        Fp2 memory v22 = _times(v, v);
        Fp2 memory v3 = _times(v22, v);
        v22 = _times(v22, v2);
        Fp2 memory w = _times(a.z, b.z);
        Fp2 memory rest = _minus(_minus(_times(_times(u, u), w), v3), _plus(v22, v22));
        return Point(_times(v, rest), _minus(_times(u, _minus(v22, rest)), _times(v3, u2)), _times(v3, w));
    }

    function _double(Point memory a) private pure returns (Point memory) {
        Fp2 memory w = _times(Fp2(3, 0), _times(a.x, a.x));
        Fp2 memory s = _times(a.y, a.z);
        Fp2 memory b = _times(_times(a.x, a.y), s);
        Fp2 memory h = _minus(_times(w, w), _times(Fp2(8, 0), b));
        Fp2 memory s2 = _times(s, s);
        Fp2 memory y2 = _times(a.y, a.y);
        return Point(
            _times(_plus(h, h), s),
            _minus(_times(w, _minus(_times(Fp2(4, 0), b), h)), _times(Fp2(8, 0), _times(y2, s2))),
            _times(Fp2(8, 0), _times(s, s2))
        );
    }

    function _plus(Fp2 memory a, Fp2 memory b) private pure returns (Fp2 memory) {
        return Fp2(addmod(a.real, b.real, P), addmod(a.imaginary, b.imaginary, P));
    }

    function _minus(Fp2 memory a, Fp2 memory b) private pure returns (Fp2 memory) {
        return Fp2(addmod(a.real, P - b.real, P), addmod(a.imaginary, P - b.imaginary, P));
    }

    function _times(Fp2 memory a, Fp2 memory b) private pure returns (Fp2 memory) {
        return Fp2(
            addmod(mulmod(a.real, b.real, P), P - mulmod(a.imaginary, b.imaginary, P), P),
            addmod(mulmod(a.real, b.imaginary, P), mulmod(a.imaginary, b.real, P), P)
        );
    }

    function _inverted(Fp2 memory a) private view returns (Fp2 memory) {
        uint256 norm = addmod(mulmod(a.real, a.real, P), mulmod(a.imaginary, a.imaginary, P), P);
        (bool done, bytes memory out) =
            address(5).staticcall(abi.encode(uint256(32), uint256(32), uint256(32), norm, P - 2, P));
        require(done);
        uint256 inverse = abi.decode(out, (uint256));
        return Fp2(mulmod(a.real, inverse, P), mulmod(P - a.imaginary, inverse, P));
    }
}
