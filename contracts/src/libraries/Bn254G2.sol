// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {Bn254} from "./Bn254.sol";
import {Bn254Fp} from "./Bn254Fp.sol";
import {BN254_2P, BN254_4P, BN254_P} from "./Fields.sol";

/// @title Sums of BN254 keys in G2
/// @notice An accumulator holds a sum in Jacobian coordinates (X, Y, Z), with x = X/Z² and y = Y/Z³. Affine keys are
/// added to it and subtracted from it. Every addition in Jacobian coordinates is complete: it is right for infinity on
/// either side, for equal points and for opposite points. Additions by slope have their own conditions
/// (`accumulateBySlopeAt`).
///
/// NOT checked: that a key is canonical, on the twist and in G2. Callers pass keys that were checked at registration,
/// and a sum of such keys needs no check.
///
/// @dev Bounds, which every function keeps, for both parts of each coordinate: X < P, Y < 4P and Z < 2P in an
/// accumulator, and below P in a key. `mulmod` and `addmod` take any word, so only `add` and `sub` need bounds: P is a
/// prime of 254 bits and 5P < 2^256. Infinity is six zero words. No other value with Z = 0 mod P is ever stored.
///
/// The next table says what Z becomes, for an aggregator that computes 1/Z off chain. Everything is modulo P, in Fp2.
/// (x2, y2) is the key; if the key is subtracted, y2 is negated first.
///
///     load                              Z3 = 1, or 0 for infinity
///     the key is infinity               Z3 = Z1
///     the sum is infinity               Z3 = 1
///     different x: x2·Z1² ≠ X1          Z3 = Z1 · (x2·Z1² - X1)
///     equal points: y2·Z1³ = Y1         Z3 = 2 · Y1 · Z1
///     opposite points: y2·Z1³ ≠ Y1      Z3 = 0
library Bn254G2 {
    /// @notice A sum in Jacobian coordinates, imaginary parts first. The parts are not reduced; their bounds are above.
    struct Accumulator {
        uint256 xIm;
        uint256 xRe;
        uint256 yIm;
        uint256 yRe;
        uint256 zIm;
        uint256 zRe;
    }

    /// @dev The prime of the field, its double and its quadruple.
    uint256 private constant P = BN254_P;
    uint256 private constant P2 = BN254_2P;
    uint256 private constant P4 = BN254_4P;

    /// @notice A coordinate of a key is not below P.
    error NonCanonicalKey();
    /// @notice The hint is not 1/Z, or the sum is infinity.
    error BadInverse();
    /// @notice The hint is not the slope, or the sum and the key have the same x.
    error BadSlope();
    /// @notice The sum is infinity, for which 1/Z does not exist.
    error Infinity();

    /// @notice Begins a sum with a key.
    /// @dev Reverts with NonCanonicalKey if a coordinate is not below P. NOT checked: that the key is on the twist and
    /// in G2.
    /// @param key The key, or four zeros for infinity.
    /// @return sum The sum, with Z = 1, or infinity.
    function load(Bn254.G2 memory key) internal pure returns (Accumulator memory sum) {
        if (!Bn254.isCanonical(key)) revert NonCanonicalKey();
        if (Bn254.isInfinity(key)) return sum;
        (sum.xIm, sum.xRe, sum.yIm, sum.yRe, sum.zRe) = (key.xIm, key.xRe, key.yIm, key.yRe, 1);
    }

    /// @notice Whether a sum is infinity, which is no key.
    /// @param sum The sum.
    /// @return Whether it is.
    function isInfinity(Accumulator memory sum) internal pure returns (bool) {
        return sum.zIm % P | sum.zRe % P == 0;
    }

    /// @notice Adds a key to a sum, or subtracts it. Costs about 1,540 gas.
    /// @param sum The sum, which is changed.
    /// @param keyAt Where in memory the key lies: four words, as in `Bn254.G2`. It is an address, because a struct
    /// variable in a loop over a page would take new memory in each turn.
    /// @param negative Whether the key is subtracted.
    function accumulate(Accumulator memory sum, uint256 keyAt, bool negative) internal pure {
        uint256 sumAt;
        assembly ("memory-safe") {
            sumAt := sum
        }
        accumulateAt(sumAt, keyAt, negative);
    }

    /// @notice Does what `accumulate` does, with the sum's address in memory. Costs about 1,480 gas.
    /// @dev Mixed addition, 8 multiplications and 3 squarings in Fp2: H = x2·Z1² - X1, r = y2·Z1³ - Y1, V = X1·H²,
    ///     X3 = r² - H³ - 2V,  Y3 = r·(V - X3) - Y1·H³,  Z3 = Z1·H.
    /// It is in assembly, because `mulmod` of words that are not reduced makes it cheap. A product is (a + bi)(c + di)
    /// = ac - bd + (ad + bc)i, with sums of mulmods. A square is (a + b)(a - b) + 2abi. Karatsuba's method would save a
    /// mulmod of 8 gas and cost more in additions. H = 0 goes to the slow path, and so does infinity, since X1 = Z1 = 0
    /// gives H = 0. NOT checked: the bounds of the library.
    /// @param sum Where in memory the sum lies, six words.
    /// @param keyAt Where in memory the key lies, four words.
    /// @param negative Whether the key is subtracted.
    function accumulateAt(uint256 sum, uint256 keyAt, bool negative) internal pure {
        bool exceptional;
        assembly ("memory-safe") {
            let hIm, hRe, rIm, rRe
            {
                let zIm := mload(add(sum, 0x80))
                let zRe := mload(add(sum, 0xa0))
                // a = Z1². The operands are below 4P: zRe + zIm, zRe + 2P - zIm and 2·zRe.
                let aRe := mulmod(add(zRe, zIm), add(zRe, sub(P2, zIm)), P)
                let aIm := mulmod(add(zRe, zRe), zIm, P)

                // H = x2·a - X1. It is reduced, because it is compared with zero.
                let kIm := mload(keyAt)
                let kRe := mload(add(keyAt, 0x20))
                hIm := addmod(add(mulmod(kIm, aRe, P), mulmod(kRe, aIm, P)), sub(P, mload(sum)), P)
                hRe := addmod(add(mulmod(kRe, aRe, P), sub(P, mulmod(kIm, aIm, P))), sub(P, mload(add(sum, 0x20))), P)
                // One branch for H = 0 and for x2 = 0, which a key at infinity has. A product of other words may be 0
                // mod 2^256 by chance. It goes to the slow path as well, which is right for every input.
                exceptional := iszero(mul(or(hIm, hRe), or(kIm, kRe)))

                if iszero(exceptional) {
                    // a := Z1³ = Z1·Z1². Its parts are below 2P.
                    kIm := add(mulmod(zIm, aRe, P), mulmod(zRe, aIm, P))
                    aRe := add(mulmod(zRe, aRe, P), sub(P, mulmod(zIm, aIm, P)))
                    aIm := kIm
                    // Z3 = Z1·H. Its parts are below 2P. It is not zero, because Fp2 is a field.
                    mstore(add(sum, 0x80), add(mulmod(zIm, hRe, P), mulmod(zRe, hIm, P)))
                    mstore(add(sum, 0xa0), add(mulmod(zRe, hRe, P), sub(P, mulmod(zIm, hIm, P))))

                    // k := y2, or P - y2, which is at most P.
                    kIm := mload(add(keyAt, 0x40))
                    kRe := mload(add(keyAt, 0x60))
                    if negative {
                        kIm := sub(P, kIm)
                        kRe := sub(P, kRe)
                    }
                    // r = y2·a - Y1. It is reduced, because it is doubled and squared below. 4P - Y1 is not negative.
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
                // V = X1·b. It is reduced.
                let vRe := mload(add(sum, 0x20))
                let vIm := mload(sum)
                let cRe := addmod(mulmod(vRe, bRe, P), sub(P, mulmod(vIm, bIm, P)), P)
                vIm := addmod(mulmod(vRe, bIm, P), mulmod(vIm, bRe, P), P)
                vRe := cRe
                // c = H³. Its parts are below 2P.
                let cIm := add(mulmod(hIm, bRe, P), mulmod(hRe, bIm, P))
                cRe := add(mulmod(hRe, bRe, P), sub(P, mulmod(hIm, bIm, P)))
                // X3 = r² - c - 2V. It is reduced. c + 2V is below 4P.
                hIm := addmod(mulmod(add(rRe, rRe), rIm, P), sub(P4, add(cIm, add(vIm, vIm))), P)
                hRe := addmod(mulmod(add(rRe, rIm), add(rRe, sub(P, rIm)), P), sub(P4, add(cRe, add(vRe, vRe))), P)
                mstore(sum, hIm)
                mstore(add(sum, 0x20), hRe)
                // V := V - X3. Its parts are below 2P.
                vIm := add(vIm, sub(P, hIm))
                vRe := add(vRe, sub(P, hRe))
                // Y3 = r·(V - X3) - Y1·c. Its parts are below 4P: two mulmods are added to 2P, and two are subtracted.
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

    /// @notice Adds a key to a sum, or subtracts it, in affine coordinates, with the slope of the line through both
    /// points as a hint. Costs about 790 gas, and the calldata of the slope.
    /// @dev The slope is λ = (y2 - y1)/(x2 - x1). The function checks λ·(x2 - x1) = y2 - y1 and x2 ≠ x1, so only one λ
    /// passes. Then x3 = λ² - x1 - x2 and y3 = λ·(x1 - x3) - y1. Reverts with BadSlope for any other λ, and if both
    /// points have the same x. The slope's parts may be any words; words with the same remainder modulo P are the same
    /// slope. NOT checked: that the parts of the sum and of the key are below P, and that neither is infinity. The
    /// parts of the result are below P again.
    /// @param sum Where in memory the sum lies: x and y, four words. Z is 1 and is not read.
    /// @param keyAt Where in memory the key lies, four words.
    /// @param negative Whether the key is subtracted.
    /// @param slopeAt Where in calldata the slope lies, 64 bytes, imaginary part first.
    function accumulateBySlopeAt(uint256 sum, uint256 keyAt, bool negative, uint256 slopeAt) internal pure {
        bool isSlope;
        assembly ("memory-safe") {
            let sIm := calldataload(slopeAt)
            let sRe := calldataload(add(slopeAt, 0x20))
            {
                // d = x2 - x1, below 2P. If x2 = x1, both of its parts are P.
                let dIm := add(mload(keyAt), sub(P, mload(sum)))
                let dRe := add(mload(add(keyAt, 0x20)), sub(P, mload(add(sum, 0x20))))
                // y1 - y2, below 2P; y1 + y2 if the key is subtracted.
                let yIm := mload(add(keyAt, 0x40))
                let yRe := mload(add(keyAt, 0x60))
                if iszero(negative) {
                    yIm := sub(P, yIm)
                    yRe := sub(P, yRe)
                }
                yIm := add(yIm, mload(add(sum, 0x40)))
                yRe := add(yRe, mload(add(sum, 0x60)))
                // λ·d + y1 - y2, from terms that add up to less than 4P.
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

    /// @notice Doubles a sum. Infinity stays infinity. A point with y = 0 would give infinity; the twist has none,
    /// because its order is odd.
    /// @dev M = 3·X1², S = 4·X1·Y1²; X3 = M² - 2S, Y3 = M·(S - X3) - 8·Y1⁴, Z3 = 2·Y1·Z1. The curve's a is 0. All parts
    /// of the result are below P.
    /// @param sum The sum, which is changed.
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

    /// @notice The affine key of a sum, in the EVM's order and reduced, with the hint 1/Z. Costs about 850 gas.
    /// @dev Checks Z · hint = 1. Reverts with BadInverse for any other hint, and for infinity, which has no inverse.
    /// The hint's parts may be any words; words with the same remainder modulo P give the same key. NOT checked: that
    /// the key is on the twist and in G2.
    /// @param sum The sum.
    /// @param inverseIm The imaginary part of 1/Z.
    /// @param inverseRe The real part of 1/Z.
    /// @return key The key.
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

    /// @notice Does what `normalize` does, with addresses in memory. Costs about 700 gas.
    /// @param sum Where in memory the sum lies, six words.
    /// @param inverseIm The imaginary part of 1/Z.
    /// @param inverseRe The real part of 1/Z.
    /// @param key Where in memory the key is written, 128 bytes.
    function normalizeTo(uint256 sum, uint256 inverseIm, uint256 inverseRe, uint256 key) internal pure {
        bool isInverse;
        // Not memory-safe by itself: the caller allocated the memory at both addresses.
        assembly {
            let aIm := mload(add(sum, 0x80))
            let aRe := mload(add(sum, 0xa0))
            let oneIm := addmod(mulmod(aRe, inverseIm, P), mulmod(aIm, inverseRe, P), P)
            let oneRe := addmod(mulmod(aRe, inverseRe, P), sub(P, mulmod(aIm, inverseIm, P)), P)
            // slither-disable-next-line incorrect-exp
            isInverse := iszero(or(oneIm, xor(oneRe, 1)))
            // a = 1/Z². The hint's parts may be any words, so they are not added to each other.
            aIm := mulmod(mulmod(inverseRe, inverseIm, P), 2, P)
            aRe := addmod(mulmod(inverseRe, inverseRe, P), sub(P, mulmod(inverseIm, inverseIm, P)), P)
            {
                let xIm := mload(sum)
                let xRe := mload(add(sum, 0x20))
                mstore(key, addmod(mulmod(xRe, aIm, P), mulmod(xIm, aRe, P), P))
                mstore(add(key, 0x20), addmod(mulmod(xRe, aRe, P), sub(P, mulmod(xIm, aIm, P)), P))
            }
            // one := 1/Z³. Its parts are below 2P.
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

    /// @notice The affine key of a sum without a hint. Costs about 5,800 gas, of which MODEXP takes 4,048 since Osaka.
    /// @dev Reverts with Infinity for the identity.
    /// @param sum The sum.
    /// @return key The key, in the EVM's order and reduced.
    function normalize(Accumulator memory sum) internal view returns (Bn254.G2 memory key) {
        (uint256 inverseIm, uint256 inverseRe) = inverseOfZ(sum);
        return normalize(sum, inverseIm, inverseRe);
    }

    /// @notice 1/Z of a sum: the hint, for an aggregator that asks a node by eth_call.
    /// @dev 1/(a + bi) = (a - bi)/(a² + b²). Only zero has a² + b² = 0, since -1 is not a square modulo P. Reverts with
    /// Infinity for the identity.
    /// @param sum The sum.
    /// @return inverseIm The imaginary part of 1/Z.
    /// @return inverseRe The real part of 1/Z.
    function inverseOfZ(Accumulator memory sum) internal view returns (uint256 inverseIm, uint256 inverseRe) {
        (uint256 a, uint256 b) = (sum.zRe % P, sum.zIm % P);
        uint256 norm = addmod(mulmod(a, a, P), mulmod(b, b, P), P);
        if (norm == 0) revert Infinity();
        uint256 inverse = Bn254Fp.inverse(norm);
        return (mulmod(P - b, inverse, P), mulmod(a, inverse, P));
    }

    /// @notice Negates a key; infinity stays infinity.
    /// @dev Reverts with NonCanonicalKey if a coordinate is not below P. NOT checked: that the key is on the twist and
    /// in G2.
    /// @param key The key.
    /// @return -key.
    function negated(Bn254.G2 memory key) internal pure returns (Bn254.G2 memory) {
        if (!Bn254.isCanonical(key)) revert NonCanonicalKey();
        return Bn254.G2(key.xIm, key.xRe, key.yIm == 0 ? 0 : P - key.yIm, key.yRe == 0 ? 0 : P - key.yRe);
    }

    /// @dev The slow path of `accumulateAt`, for H = 0 or x2 = 0. It is right for every input. It is plain Solidity and
    /// costs about 6,200 gas if it doubles; only an aggregator whose keys collide pays that.
    /// @param sum The sum, which is changed.
    /// @param keyAt Where in memory the key lies, four words.
    /// @param negative Whether the key is subtracted.
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

    /// @dev The ordinary addition, from H and r. For keys with x2 = 0 mod P, and for an x2 and H whose words multiply
    /// to 0 mod 2^256.
    /// @param sum The sum, which is changed; not infinity.
    /// @param hIm The imaginary part of H = x2·Z1² - X1, which is not zero.
    /// @param hRe The real part of H.
    /// @param rIm The imaginary part of r = y2·Z1³ - Y1.
    /// @param rRe The real part of r.
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
    /// @param sum The sum, which is changed.
    function _clear(Accumulator memory sum) private pure {
        (sum.xIm, sum.xRe, sum.yIm, sum.yRe, sum.zIm, sum.zRe) = (0, 0, 0, 0, 0, 0);
    }

    /// @dev The accumulator whose six words lie at an address in memory.
    /// @param sumAt Where in memory it lies.
    /// @return sum The accumulator. It is not a copy.
    function _sumAt(uint256 sumAt) private pure returns (Accumulator memory sum) {
        assembly ("memory-safe") {
            sum := sumAt
        }
    }

    /// @dev The key whose four words lie at an address in memory.
    /// @param keyAt Where in memory it lies.
    /// @return key The key. It is not a copy.
    function _at(uint256 keyAt) private pure returns (Bn254.G2 memory key) {
        assembly ("memory-safe") {
            key := keyAt
        }
    }

    /// @dev (a + bi)(c + di), from any words. The parts of the result are below P.
    /// @param b The imaginary part of the first factor.
    /// @param a The real part of the first factor.
    /// @param d The imaginary part of the second factor.
    /// @param c The real part of the second factor.
    /// @return im The imaginary part of the product.
    /// @return re The real part of the product.
    function _times(uint256 b, uint256 a, uint256 d, uint256 c) private pure returns (uint256 im, uint256 re) {
        im = addmod(mulmod(a, d, P), mulmod(b, c, P), P);
        // Unchecked: a mulmod is below P, so P minus it is not negative.
        unchecked {
            re = addmod(mulmod(a, c, P), P - mulmod(b, d, P), P);
        }
    }

    /// @dev (a + bi)², from any words. The parts of the result are below P.
    /// @param b The imaginary part.
    /// @param a The real part.
    /// @return im The imaginary part of the square.
    /// @return re The real part of the square.
    function _square(uint256 b, uint256 a) private pure returns (uint256 im, uint256 re) {
        return _times(b, a, b, a);
    }

    /// @dev (a + bi) - (c + di), from any words. The parts of the result are below P.
    /// @param b The imaginary part of the number to subtract from.
    /// @param a The real part of the number to subtract from.
    /// @param d The imaginary part of the number to subtract.
    /// @param c The real part of the number to subtract.
    /// @return im The imaginary part of the difference.
    /// @return re The real part of the difference.
    function _minus(uint256 b, uint256 a, uint256 d, uint256 c) private pure returns (uint256 im, uint256 re) {
        return (addmod(b, P - d % P, P), addmod(a, P - c % P, P));
    }
}
