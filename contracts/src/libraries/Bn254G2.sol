// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "./Bn254.sol";
import {Bn254Fp} from "./Bn254Fp.sol";

/// @title Sums of BN254 keys in G2: an accumulator in Jacobian coordinates (x = X/Z², y = Y/Z³), to which affine keys
/// are added and from which they are subtracted.
/// @notice Every addition is complete: infinity on either side, equal points and opposite points give the true sum.
/// NOT checked: that a key is canonical, on the twist and in the subgroup. Registration has done so, and a key that it
/// let in is what a caller may pass. A sum of such keys needs no check.
///
/// @dev Bounds, which every function keeps: in an accumulator X < P, Y < 4P and Z < 2P for both parts; a key's parts
/// are below P. `mulmod` and `addmod` take any word, so only what goes through `add` and `sub` has to be bounded: P is a
/// 254-bit prime and 5P < 2^256. Infinity is six zero words and no other value with Z = 0 mod P is ever stored.
///
/// What Z becomes, for one who computes 1/Z off chain (all mod P, in Fp2; (x2, y2) is the key, y2 negated first when it
/// is subtracted):
///   load                            Z3 = 1, or 0 for infinity
///   key infinity                    Z3 = Z1
///   accumulator infinity            Z3 = 1
///   x2·Z1² ≠ X1 (ordinary)          Z3 = Z1 · (x2·Z1² - X1)
///   same x, y2·Z1³ = Y1 (doubling)  Z3 = 2 · Y1 · Z1
///   same x, y2·Z1³ ≠ Y1 (opposite)  Z3 = 0
library Bn254G2 {
    /// @notice A sum in Jacobian coordinates, imaginary parts first. Parts are not reduced: see the bounds above.
    struct Accumulator {
        uint256 xIm;
        uint256 xRe;
        uint256 yIm;
        uint256 yRe;
        uint256 zIm;
        uint256 zRe;
    }

    /// @dev Bn254.P, 2P and 4P, written out: assembly takes literals alone.
    uint256 private constant P = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;
    uint256 private constant P2 = 0x60c89ce5c263405370a08b6d0302b0bb2f02d522d0e3951a7841182db0f9fa8e;
    uint256 private constant P4 = 0xc19139cb84c680a6e14116da060561765e05aa45a1c72a34f082305b61f3f51c;

    error NonCanonicalKey();
    error BadInverse();
    error BadSlope();
    error Infinity();

    /// @notice The accumulator of one key: Z = 1, or infinity for four zeros.
    /// @dev Reverts with NonCanonicalKey if a coordinate is not below P. Checks neither curve nor subgroup.
    function load(Bn254.G2 memory key) internal pure returns (Accumulator memory sum) {
        if (!Bn254.isCanonical(key)) revert NonCanonicalKey();
        if (Bn254.isInfinity(key)) return sum;
        (sum.xIm, sum.xRe, sum.yIm, sum.yRe, sum.zRe) = (key.xIm, key.xRe, key.yIm, key.yRe, 1);
    }

    /// @notice True if the sum is the identity, which is no key.
    function isInfinity(Accumulator memory sum) internal pure returns (bool) {
        return sum.zIm % P | sum.zRe % P == 0;
    }

    /// @notice sum := sum + key, or sum - key if `negative`. The key is four words (Bn254.G2) at the address `keyAt` in
    /// memory: an address, because a variable of a struct in a loop over a page would allocate at each turn. About
    /// 1,510 gas.
    function accumulate(Accumulator memory sum, uint256 keyAt, bool negative) internal pure {
        uint256 sumAt;
        assembly ("memory-safe") {
            sumAt := sum
        }
        accumulateAt(sumAt, keyAt, negative);
    }

    /// @notice `accumulate` where the accumulator, too, is named by its address. About 1,480 gas.
    /// @dev 8 multiplications and 3 squarings in Fp2 (mixed addition): H = x2·Z1² - X1, r = y2·Z1³ - Y1, V = X1·H²,
    ///   X3 = r² - H³ - 2V,  Y3 = r·(V - X3) - Y1·H³,  Z3 = Z1·H.
    /// Assembly, because `mulmod` of words that are not reduced is what makes it cheap: schoolbook products with
    /// (a + bi)(c + di) = ac - bd + (ad + bc)i as sums of mulmods, squares with (a + b)(a - b) + 2abi. Karatsuba saves a
    /// mulmod of 8 gas and costs more in additions. H = 0 takes the slow path; infinity (X1 = Z1 = 0) has H = 0.
    /// Preconditions, not checked: the bounds of the library.
    function accumulateAt(uint256 sum, uint256 keyAt, bool negative) internal pure {
        bool exceptional;
        assembly ("memory-safe") {
            let hIm, hRe, rIm, rRe
            {
                let zIm := mload(add(sum, 0x80))
                let zRe := mload(add(sum, 0xa0))
                // a = Z1². Operands: zRe + zIm < 4P, zRe + 2P - zIm < 4P, 2·zRe < 4P.
                let aRe := mulmod(add(zRe, zIm), add(zRe, sub(P2, zIm)), P)
                let aIm := mulmod(add(zRe, zRe), zIm, P)

                // H = x2·a - X1, reduced, for it is compared with zero.
                let kIm := mload(keyAt)
                let kRe := mload(add(keyAt, 0x20))
                hIm := addmod(add(mulmod(kIm, aRe, P), mulmod(kRe, aIm, P)), sub(P, mload(sum)), P)
                hRe := addmod(add(mulmod(kRe, aRe, P), sub(P, mulmod(kIm, aIm, P))), sub(P, mload(add(sum, 0x20))), P)
                // One branch for H = 0 and x2 = 0 (a key at infinity). A product of words that happens to vanish
                // mod 2^256 takes the slow path too, which is right for every input.
                exceptional := iszero(mul(or(hIm, hRe), or(kIm, kRe)))

                if iszero(exceptional) {
                    // a := Z1³ = Z1·Z1², parts < 2P.
                    kIm := add(mulmod(zIm, aRe, P), mulmod(zRe, aIm, P))
                    aRe := add(mulmod(zRe, aRe, P), sub(P, mulmod(zIm, aIm, P)))
                    aIm := kIm
                    // Z3 = Z1·H, parts < 2P; not zero, for Fp2 is a field.
                    mstore(add(sum, 0x80), add(mulmod(zIm, hRe, P), mulmod(zRe, hIm, P)))
                    mstore(add(sum, 0xa0), add(mulmod(zRe, hRe, P), sub(P, mulmod(zIm, hIm, P))))

                    // k := y2 or P - y2, at most P.
                    kIm := mload(add(keyAt, 0x40))
                    kRe := mload(add(keyAt, 0x60))
                    if negative {
                        kIm := sub(P, kIm)
                        kRe := sub(P, kRe)
                    }
                    // r = y2·a - Y1, reduced: it is doubled and squared below. 4P - Y1 does not underflow.
                    rIm := addmod(add(mulmod(kIm, aRe, P), mulmod(kRe, aIm, P)), sub(P4, mload(add(sum, 0x40))), P)
                    rRe := addmod(
                        add(mulmod(kRe, aRe, P), sub(P, mulmod(kIm, aIm, P))),
                        sub(P4, mload(add(sum, 0x60))),
                        P
                    )
                }
            }
            if iszero(exceptional) {
                // b = H².
                let bRe := mulmod(add(hRe, hIm), add(hRe, sub(P, hIm)), P)
                let bIm := mulmod(add(hRe, hRe), hIm, P)
                // V = X1·b, reduced.
                let vRe := mload(add(sum, 0x20))
                let vIm := mload(sum)
                let cRe := addmod(mulmod(vRe, bRe, P), sub(P, mulmod(vIm, bIm, P)), P)
                vIm := addmod(mulmod(vRe, bIm, P), mulmod(vIm, bRe, P), P)
                vRe := cRe
                // c = H³, parts < 2P.
                let cIm := add(mulmod(hIm, bRe, P), mulmod(hRe, bIm, P))
                cRe := add(mulmod(hRe, bRe, P), sub(P, mulmod(hIm, bIm, P)))
                // X3 = r² - c - 2V, reduced. c + 2V < 4P.
                hIm := addmod(mulmod(add(rRe, rRe), rIm, P), sub(P4, add(cIm, add(vIm, vIm))), P)
                hRe := addmod(mulmod(add(rRe, rIm), add(rRe, sub(P, rIm)), P), sub(P4, add(cRe, add(vRe, vRe))), P)
                mstore(sum, hIm)
                mstore(add(sum, 0x20), hRe)
                // V := V - X3, parts < 2P.
                vIm := add(vIm, sub(P, hIm))
                vRe := add(vRe, sub(P, hRe))
                // Y3 = r·(V - X3) - Y1·c, parts < 4P: four mulmods each, of which those to be subtracted are P - mulmod.
                hIm := mload(add(sum, 0x40))
                hRe := mload(add(sum, 0x60))
                mstore(
                    add(sum, 0x40),
                    sub(
                        add(add(mulmod(rIm, vRe, P), mulmod(rRe, vIm, P)), P2),
                        add(mulmod(hIm, cRe, P), mulmod(hRe, cIm, P))
                    )
                )
                mstore(
                    add(sum, 0x60),
                    sub(
                        add(add(mulmod(rRe, vRe, P), mulmod(hIm, cIm, P)), P2),
                        add(mulmod(rIm, vIm, P), mulmod(hRe, cRe, P))
                    )
                )
            }
        }
        if (exceptional) _accumulateComplete(_sumAt(sum), keyAt, negative);
    }

    /// @notice sum := sum + key, or sum - key, in affine coordinates: Z = 1, and the sum's parts below P before and after. The slope
    /// λ = (y2 - y1)/(x2 - x1) is a hint, 64 bytes of calldata at `slopeAt`, imaginary part first, and checked. About 740 gas
    /// beside them.
    /// @dev λ·(x2 - x1) = y2 - y1, and x2 ≠ x1, so that there is one λ; x3 = λ² - x1 - x2, y3 = λ·(x1 - x3) - y1. Reverts with BadSlope
    /// for another λ, and for two points of one x. The slope's parts may be any words.
    /// Preconditions, not checked: the parts' bounds; neither point is infinity.
    function accumulateBySlopeAt(uint256 sum, uint256 keyAt, bool negative, uint256 slopeAt) internal pure {
        bool isSlope;
        assembly ("memory-safe") {
            let sIm := calldataload(slopeAt)
            let sRe := calldataload(add(slopeAt, 0x20))
            {
                // x2 - x1, below 2P: zero is P, twice.
                let dIm := add(mload(keyAt), sub(P, mload(sum)))
                let dRe := add(mload(add(keyAt, 0x20)), sub(P, mload(add(sum, 0x20))))
                // y1 - y2, below 2P.
                let yIm := mload(add(keyAt, 0x40))
                let yRe := mload(add(keyAt, 0x60))
                if iszero(negative) {
                    yIm := sub(P, yIm)
                    yRe := sub(P, yRe)
                }
                yIm := add(yIm, mload(add(sum, 0x40)))
                yRe := add(yRe, mload(add(sum, 0x60)))
                // λ·d + y1 - y2, from terms below 4P in all.
                yIm := addmod(add(mulmod(sIm, dRe, P), mulmod(sRe, dIm, P)), yIm, P)
                yRe := addmod(add(mulmod(sRe, dRe, P), sub(P, mulmod(sIm, dIm, P))), yRe, P)
                isSlope := gt(iszero(or(yIm, yRe)), iszero(or(xor(dIm, P), xor(dRe, P))))
            }
            // x3, and x1 - x3 with parts below 2P.
            let xIm := mload(sum)
            let x3 := addmod(mulmod(mulmod(sRe, sIm, P), 2, P), sub(P2, add(xIm, mload(keyAt))), P)
            mstore(sum, x3)
            xIm := add(xIm, sub(P, x3))
            let xRe := mload(add(sum, 0x20))
            x3 := sub(P2, add(xRe, mload(add(keyAt, 0x20))))
            x3 := addmod(add(mulmod(sRe, sRe, P), sub(P, mulmod(sIm, sIm, P))), x3, P)
            mstore(add(sum, 0x20), x3)
            xRe := add(xRe, sub(P, x3))
            let yAt := add(sum, 0x40)
            mstore(yAt, addmod(add(mulmod(sIm, xRe, P), mulmod(sRe, xIm, P)), sub(P, mload(yAt)), P))
            yAt := add(sum, 0x60)
            mstore(yAt, addmod(add(mulmod(sRe, xRe, P), sub(P, mulmod(sIm, xIm, P))), sub(P, mload(yAt)), P))
        }
        if (!isSlope) revert BadSlope();
    }

    /// @notice sum := 2 · sum. Complete: infinity stays, and a point with y = 0 (there is none on the twist, whose order
    /// is odd) gives infinity. Z3 = 2·Y1·Z1.
    /// @dev M = 3·X1², S = 4·X1·Y1²; X3 = M² - 2S, Y3 = M·(S - X3) - 8·Y1⁴ (the curve's a is 0). Parts come out below P.
    function double(Accumulator memory sum) internal pure {
        (uint256 mIm, uint256 mRe) = _square(sum.xIm, sum.xRe);
        (mIm, mRe) = (mulmod(3, mIm, P), mulmod(3, mRe, P));
        (uint256 zIm, uint256 zRe) = _times(sum.yIm, sum.yRe, sum.zIm, sum.zRe);
        (uint256 yyIm, uint256 yyRe) = _square(sum.yIm, sum.yRe);
        (uint256 sIm, uint256 sRe) = _times(sum.xIm, sum.xRe, yyIm, yyRe);
        (sIm, sRe) = (mulmod(4, sIm, P), mulmod(4, sRe, P));
        (yyIm, yyRe) = _square(yyIm, yyRe);
        (zIm, zRe) = (mulmod(2, zIm, P), mulmod(2, zRe, P));
        if (zIm | zRe == 0) return _clear(sum);
        (sum.zIm, sum.zRe) = (zIm, zRe);

        (uint256 xIm, uint256 xRe) = _square(mIm, mRe);
        (xIm, xRe) = _minus(xIm, xRe, mulmod(2, sIm, P), mulmod(2, sRe, P));
        (sum.xIm, sum.xRe) = (xIm, xRe);
        (sIm, sRe) = _minus(sIm, sRe, xIm, xRe);
        (sIm, sRe) = _times(mIm, mRe, sIm, sRe);
        (sum.yIm, sum.yRe) = _minus(sIm, sRe, mulmod(8, yyIm, P), mulmod(8, yyRe, P));
    }

    /// @notice The affine key of a sum, in the EVM's order and reduced, by the hint (inverseIm, inverseRe) = 1/Z, which
    /// is checked: Z · hint = 1. About 800 gas.
    /// @dev Reverts with BadInverse for another hint, and for infinity, of which there is no inverse. The hint's parts may
    /// be any words: only their residues matter to the key. Does not check curve or subgroup.
    function normalize(Accumulator memory sum, uint256 inverseIm, uint256 inverseRe)
        internal
        pure
        returns (Bn254.G2 memory key)
    {
        uint256 sumAt;
        uint256 to;
        assembly ("memory-safe") {
            sumAt := sum
            to := key
        }
        normalizeTo(sumAt, inverseIm, inverseRe, to);
    }

    /// @notice `normalize` of the accumulator at an address in memory, to 128 bytes at another. About 700 gas.
    function normalizeTo(uint256 sum, uint256 inverseIm, uint256 inverseRe, uint256 key) internal pure {
        bool isInverse;
        // Not memory-safe by itself: both are memory that the caller allocated.
        assembly {
            let aIm := mload(add(sum, 0x80))
            let aRe := mload(add(sum, 0xa0))
            let oneIm := addmod(mulmod(aRe, inverseIm, P), mulmod(aIm, inverseRe, P), P)
            let oneRe := addmod(mulmod(aRe, inverseRe, P), sub(P, mulmod(aIm, inverseIm, P)), P)
            // slither-disable-next-line incorrect-exp
            isInverse := iszero(or(oneIm, xor(oneRe, 1)))
            // a = 1/Z². The hint may be any word: no sum of its parts is taken.
            aIm := mulmod(mulmod(inverseRe, inverseIm, P), 2, P)
            aRe := addmod(mulmod(inverseRe, inverseRe, P), sub(P, mulmod(inverseIm, inverseIm, P)), P)
            {
                let xIm := mload(sum)
                let xRe := mload(add(sum, 0x20))
                mstore(key, addmod(mulmod(xRe, aIm, P), mulmod(xIm, aRe, P), P))
                mstore(add(key, 0x20), addmod(mulmod(xRe, aRe, P), sub(P, mulmod(xIm, aIm, P)), P))
            }
            // one := 1/Z³, parts < 2P.
            oneIm := add(mulmod(inverseRe, aIm, P), mulmod(inverseIm, aRe, P))
            oneRe := add(mulmod(inverseRe, aRe, P), sub(P, mulmod(inverseIm, aIm, P)))
            {
                let yIm := mload(add(sum, 0x40))
                let yRe := mload(add(sum, 0x60))
                mstore(add(key, 0x40), addmod(mulmod(yRe, oneIm, P), mulmod(yIm, oneRe, P), P))
                mstore(add(key, 0x60), addmod(mulmod(yRe, oneRe, P), sub(P, mulmod(yIm, oneIm, P)), P))
            }
        }
        if (!isInverse) revert BadInverse();
    }

    /// @notice The affine key of a sum where no hint is given. About 5,800 gas, of which 4,048 are MODEXP's in Osaka.
    /// @dev Reverts with Infinity for the identity.
    function normalize(Accumulator memory sum) internal view returns (Bn254.G2 memory key) {
        (uint256 inverseIm, uint256 inverseRe) = inverseOfZ(sum);
        return normalize(sum, inverseIm, inverseRe);
    }

    /// @notice 1/Z: the hint itself, for an aggregator that asks a node by eth_call.
    /// @dev 1/(a + bi) = (a - bi)/(a² + b²), and a² + b² = 0 only for zero since -1 is no square mod P.
    function inverseOfZ(Accumulator memory sum) internal view returns (uint256 inverseIm, uint256 inverseRe) {
        (uint256 a, uint256 b) = (sum.zRe % P, sum.zIm % P);
        uint256 norm = addmod(mulmod(a, a, P), mulmod(b, b, P), P);
        if (norm == 0) revert Infinity();
        uint256 inverse = Bn254Fp.inverse(norm);
        return (mulmod(P - b, inverse, P), mulmod(a, inverse, P));
    }

    /// @notice -key; infinity for infinity.
    /// @dev Reverts with NonCanonicalKey if a coordinate is not below P. Checks neither curve nor subgroup.
    function negated(Bn254.G2 memory key) internal pure returns (Bn254.G2 memory) {
        if (!Bn254.isCanonical(key)) revert NonCanonicalKey();
        return Bn254.G2(key.xIm, key.xRe, key.yIm == 0 ? 0 : P - key.yIm, key.yRe == 0 ? 0 : P - key.yRe);
    }

    /// @dev The slow path of `accumulate`, for H = 0 or x2 = 0: right for every input. About 6,000 gas where it doubles, in plain
    /// Solidity: who makes keys collide pays for it.
    function _accumulateComplete(Accumulator memory sum, uint256 keyAt, bool negative) private pure {
        Bn254.G2 memory key = _at(keyAt);
        if (Bn254.isInfinity(key)) return;
        (uint256 yIm, uint256 yRe) = negative ? (P - key.yIm, P - key.yRe) : (key.yIm, key.yRe);
        if (isInfinity(sum)) {
            (sum.xIm, sum.xRe, sum.zIm, sum.zRe) = (key.xIm, key.xRe, 0, 1);
            (sum.yIm, sum.yRe) = (yIm, yRe);
            return;
        }
        (uint256 powerIm, uint256 powerRe) = _square(sum.zIm, sum.zRe);
        (uint256 hIm, uint256 hRe) = _times(key.xIm, key.xRe, powerIm, powerRe);
        (hIm, hRe) = _minus(hIm, hRe, sum.xIm, sum.xRe);
        (powerIm, powerRe) = _times(powerIm, powerRe, sum.zIm, sum.zRe);
        (uint256 rIm, uint256 rRe) = _times(yIm, yRe, powerIm, powerRe);
        (rIm, rRe) = _minus(rIm, rRe, sum.yIm, sum.yRe);
        if (hIm | hRe != 0) return _addDistinct(sum, hIm, hRe, rIm, rRe);
        if (rIm | rRe != 0) return _clear(sum);
        double(sum);
    }

    /// @dev The ordinary addition once more, from H and r: keys with x2 = 0 mod P, or whose words and H's multiply to
    /// zero mod 2^256.
    function _addDistinct(Accumulator memory sum, uint256 hIm, uint256 hRe, uint256 rIm, uint256 rRe) private pure {
        (sum.zIm, sum.zRe) = _times(sum.zIm, sum.zRe, hIm, hRe);
        (uint256 cIm, uint256 cRe) = _square(hIm, hRe);
        (uint256 vIm, uint256 vRe) = _times(sum.xIm, sum.xRe, cIm, cRe);
        (cIm, cRe) = _times(cIm, cRe, hIm, hRe);
        (uint256 xIm, uint256 xRe) = _square(rIm, rRe);
        (xIm, xRe) = _minus(xIm, xRe, cIm, cRe);
        (xIm, xRe) = _minus(xIm, xRe, mulmod(2, vIm, P), mulmod(2, vRe, P));
        (sum.xIm, sum.xRe) = (xIm, xRe);
        (vIm, vRe) = _minus(vIm, vRe, xIm, xRe);
        (vIm, vRe) = _times(rIm, rRe, vIm, vRe);
        (cIm, cRe) = _times(sum.yIm, sum.yRe, cIm, cRe);
        (sum.yIm, sum.yRe) = _minus(vIm, vRe, cIm, cRe);
    }

    /// @dev sum := infinity, six zeros.
    function _clear(Accumulator memory sum) private pure {
        (sum.xIm, sum.xRe, sum.yIm, sum.yRe, sum.zIm, sum.zRe) = (0, 0, 0, 0, 0, 0);
    }

    /// @dev The accumulator whose six words lie at an address in memory.
    function _sumAt(uint256 sumAt) private pure returns (Accumulator memory sum) {
        assembly ("memory-safe") {
            sum := sumAt
        }
    }

    /// @dev The key whose four words lie at an address in memory.
    function _at(uint256 keyAt) private pure returns (Bn254.G2 memory key) {
        assembly ("memory-safe") {
            key := keyAt
        }
    }

    /// @dev (a + bi)(c + di), parts below P, from any words.
    function _times(uint256 b, uint256 a, uint256 d, uint256 c) private pure returns (uint256 im, uint256 re) {
        im = addmod(mulmod(a, d, P), mulmod(b, c, P), P);
        // Unchecked: a mulmod is below P.
        unchecked {
            re = addmod(mulmod(a, c, P), P - mulmod(b, d, P), P);
        }
    }

    /// @dev (a + bi)², parts below P, from any words.
    function _square(uint256 b, uint256 a) private pure returns (uint256 im, uint256 re) {
        return _times(b, a, b, a);
    }

    /// @dev (a + bi) - (c + di), parts below P, from any words.
    function _minus(uint256 b, uint256 a, uint256 d, uint256 c) private pure returns (uint256 im, uint256 re) {
        return (addmod(b, P - d % P, P), addmod(a, P - c % P, P));
    }
}
