// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @dev The modulus p of the base field, 381 bits: BLS12381_P_HIGH · 2^256 + BLS12381_P_LOW.
uint256 constant BLS12381_P_HIGH = 0x1a0111ea397fe69a4b1ba7b6434bacd7;
uint256 constant BLS12381_P_LOW = 0x64774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab;

/// @notice A point of G1 as EIP-2537 has it: two coordinates of 64 bytes, each in a high and a low word. Infinity is all
/// zero.
struct G1Point {
    uint256 xHigh;
    uint256 xLow;
    uint256 yHigh;
    uint256 yLow;
}

/// @notice A point of G2 as EIP-2537 has it: four coordinates of 64 bytes, x.c0, x.c1, y.c0, y.c1 (real part first).
/// Infinity is all zero.
struct G2Point {
    uint256 x0High;
    uint256 x0Low;
    uint256 x1High;
    uint256 x1Low;
    uint256 y0High;
    uint256 y0Low;
    uint256 y1High;
    uint256 y1Low;
}

/// @notice A running sum in G2, as the input of the G2ADD precompile: the sum (256 bytes), then the key to be added (256
/// bytes), so that a key is unpacked where the precompile reads it. A new one is infinity.
/// @dev Only this library writes to `operand*`. Of each of its coordinates the upper 16 bytes are never written and stay
/// zero: that is what lets a key be unpacked by four copies.
struct G2Sum {
    uint256 x0High;
    uint256 x0Low;
    uint256 x1High;
    uint256 x1Low;
    uint256 y0High;
    uint256 y0Low;
    uint256 y1High;
    uint256 y1Low;
    uint256 operandX0High;
    uint256 operandX0Low;
    uint256 operandX1High;
    uint256 operandX1Low;
    uint256 operandY0High;
    uint256 operandY0Low;
    uint256 operandY1High;
    uint256 operandY1Low;
}

/// @title BLS12-381 through the precompiles of EIP-2537
/// @notice Sums of packed keys in G2, sums in G1, the pairing check of two pairs, the map of a field element to G1.
///
/// Packed form: 48 bytes a coordinate, big-endian; 96 bytes in G1 (x, y), 192 in G2 (x.c0, x.c1, y.c0, y.c1).
///
/// What the precompiles check: every one refuses a coordinate that is not below p (so an accepted point has one encoding
/// only) and a point off the curve. The pairing refuses, besides, a point outside the subgroup of order r. The additions
/// do NOT check the subgroup: a key has to go through a pairing once, when it is registered (proof of possession).
/// What nothing here checks: that a point is not infinity. Infinity passes a pairing with anything.
///
/// Each call is given the gas that EIP-2537 prices it at and no more, for a precompile that refuses burns all that it is
/// given. On a chain that prices them higher every call fails.
library Bls12381 {
    /// @dev Nothing at the address answers as EIP-2537 says: the call succeeded with an answer of another length, as it
    /// does on a chain without the precompile.
    error PrecompileMissing(uint256 precompile);
    /// @dev G1ADD refused (a coordinate not below p, a point off the curve) or had too little gas.
    error G1AddFailed();
    /// @dev G2ADD refused (a coordinate not below p, a point off the curve) or had too little gas.
    error G2AddFailed();
    /// @dev PAIRING_CHECK refused (as the additions; a point outside its subgroup) or had too little gas.
    error PairingFailed();
    /// @dev MAP_FP_TO_G1 refused (a field element not below p) or had too little gas.
    error MapToG1Failed();
    /// @dev A packed point is not 96 bytes in G1 or 192 in G2.
    error PackedLengthWrong(uint256 length);

    uint256 internal constant G1ADD = 0x0b;
    uint256 internal constant G2ADD = 0x0d;
    uint256 internal constant PAIRING_CHECK = 0x0f;
    uint256 internal constant MAP_FP_TO_G1 = 0x10;

    uint256 internal constant G1ADD_GAS = 375;
    uint256 internal constant G2ADD_GAS = 600;
    /// @dev 32,600 a pair and 37,700.
    uint256 internal constant PAIRING_CHECK_2_GAS = 102_900;
    uint256 internal constant MAP_FP_TO_G1_GAS = 5_500;

    // ---------------------------------------------------------------------------------------------------------- sums

    /// @notice sum := the packed key at `key`. Checks nothing: the first addition or pairing does.
    /// @param key Memory position of 192 bytes.
    function loadG2(G2Sum memory sum, uint256 key) internal pure {
        uint256 position;
        assembly ("memory-safe") {
            position := sum
        }
        unpackG2At(key, position);
    }

    /// @notice The point of 192 packed bytes at a memory position, to 256 bytes at another. Checks nothing.
    function unpackG2At(uint256 key, uint256 to) internal pure {
        // Not memory-safe by itself: both are memory that the caller allocated.
        assembly {
            // The upper 16 bytes of a coordinate, which may hold anything.
            calldatacopy(to, calldatasize(), 0x100)
            mcopy(add(to, 0x10), key, 0x30)
            mcopy(add(to, 0x50), add(key, 0x30), 0x30)
            mcopy(add(to, 0x90), add(key, 0x60), 0x30)
            mcopy(add(to, 0xd0), add(key, 0x90), 0x30)
        }
    }

    /// @notice 192 packed bytes, to a memory position, of the point at another; whether that is infinity. The padding is dropped
    /// unseen, as by `packG2`.
    function packG2At(uint256 point, uint256 to) internal pure returns (bool infinity) {
        // Not memory-safe by itself: both are memory that the caller allocated.
        assembly {
            mcopy(to, add(point, 0x10), 0x30)
            mcopy(add(to, 0x30), add(point, 0x50), 0x30)
            mcopy(add(to, 0x60), add(point, 0x90), 0x30)
            mcopy(add(to, 0x90), add(point, 0xd0), 0x30)
            let any := or(or(mload(to), mload(add(to, 0x20))), or(mload(add(to, 0x40)), mload(add(to, 0x60))))
            infinity := iszero(or(any, or(mload(add(to, 0x80)), mload(add(to, 0xa0)))))
        }
    }

    /// @notice sum := sum + the packed key at `key`. Complete: equal points, opposite points, infinity on either side.
    /// Does not check that the key is in the subgroup. About 940 gas, 700 of them the precompile's.
    /// @param key Memory position of 192 bytes, which must lie outside `sum`.
    function addG2(G2Sum memory sum, uint256 key) internal view {
        uint256 position;
        assembly ("memory-safe") {
            position := sum
        }
        addG2At(position, key);
    }

    /// @notice `addG2` to the G2Sum at a memory position: a variable of a struct allocates one at each turn of a loop. About 915
    /// gas.
    function addG2At(uint256 sum, uint256 key) internal view {
        uint256 outcome;
        // Four copies onto zeroed padding: half the gas of eight loads, shifts and stores. The call is that of
        // `_addOperand`, written out: this is what a quorum runs for each key, and a jump there costs 35 gas.
        // Not memory-safe by itself: `sum` is a G2Sum that the caller allocated.
        assembly {
            mcopy(add(sum, 0x110), key, 0x30)
            mcopy(add(sum, 0x150), add(key, 0x30), 0x30)
            mcopy(add(sum, 0x190), add(key, 0x60), 0x30)
            mcopy(add(sum, 0x1d0), add(key, 0x90), 0x30)
            let failed := iszero(staticcall(G2ADD_GAS, G2ADD, sum, 0x200, sum, 0x100))
            outcome := or(failed, shl(1, xor(returndatasize(), 0x100)))
        }
        if (outcome != 0) _revert(outcome, G2ADD, G2AddFailed.selector);
    }

    /// @notice `addG2` of a key in calldata: 192 bytes, else it reverts.
    function addG2Calldata(G2Sum memory sum, bytes calldata key) internal view {
        if (key.length != 192) revert PackedLengthWrong(key.length);
        assembly ("memory-safe") {
            calldatacopy(add(sum, 0x110), key.offset, 0x30)
            calldatacopy(add(sum, 0x150), add(key.offset, 0x30), 0x30)
            calldatacopy(add(sum, 0x190), add(key.offset, 0x60), 0x30)
            calldatacopy(add(sum, 0x1d0), add(key.offset, 0x90), 0x30)
        }
        _addOperand(sum);
    }

    /// @notice sum := sum - the packed key at `key`. As `addG2`, and about 390 gas more. Where many are to be subtracted,
    /// `negateG2` before and after their additions costs less.
    /// @param key Memory position of 192 bytes, which must lie outside `sum`.
    function subG2(G2Sum memory sum, uint256 key) internal view {
        uint256 operandY;
        assembly ("memory-safe") {
            mcopy(add(sum, 0x110), key, 0x30)
            mcopy(add(sum, 0x150), add(key, 0x30), 0x30)
            mcopy(add(sum, 0x190), add(key, 0x60), 0x30)
            mcopy(add(sum, 0x1d0), add(key, 0x90), 0x30)
            operandY := add(sum, 0x180)
        }
        _negateY(operandY);
        // A part that was not below p is now p, or has borrowed into the padding: refused, as it would be by `addG2`.
        _addOperand(sum);
    }

    /// @notice sum := -sum, no precompile. A part of y that is not below p stays refusable: p itself is left as it is, a
    /// larger one borrows into the padding.
    function negateG2(G2Sum memory sum) internal pure {
        uint256 position;
        assembly ("memory-safe") {
            position := sum
        }
        negateG2At(position);
    }

    /// @notice `negateG2` of the G2Sum at a memory position.
    function negateG2At(uint256 sum) internal pure {
        uint256 y;
        assembly ("memory-safe") {
            y := add(sum, 0x80)
        }
        _negateY(y);
    }

    /// @notice The sum as a point. Not a copy: it follows the sum.
    function pointG2(G2Sum memory sum) internal pure returns (G2Point memory point) {
        assembly ("memory-safe") {
            point := sum
        }
    }

    /// @notice sum := sum + point in G1. Complete. Does not check the subgroup. About 700 gas.
    function addG1(G1Point memory sum, G1Point memory point) internal view {
        uint256 pair;
        uint256 to;
        assembly ("memory-safe") {
            pair := mload(0x40)
            mcopy(pair, sum, 0x80)
            mcopy(add(pair, 0x80), point, 0x80)
            to := sum
        }
        addPairG1(pair, to);
    }

    // ------------------------------------------------------------------------------------------------ pairing and map

    /// @notice Whether e(a1, a2) · e(b1, b2) = 1. Reverts on a point that is not canonical, not on its curve or not in its
    /// subgroup. Infinity is accepted on every side: a caller refuses it first. About 103,400 gas.
    function isPairingOne(G1Point memory a1, G2Point memory a2, G1Point memory b1, G2Point memory b2)
        internal
        view
        returns (bool isOne)
    {
        uint256 pairs;
        assembly ("memory-safe") {
            pairs := mload(0x40)
            mcopy(pairs, a1, 0x80)
            mcopy(add(pairs, 0x80), a2, 0x100)
            mcopy(add(pairs, 0x180), b1, 0x80)
            mcopy(add(pairs, 0x200), b2, 0x100)
        }
        return isPairingOneAt(pairs);
    }

    /// @notice `isPairingOne` of the four points where the precompile reads them: a1, a2, b1 and b2 at `pairs`, behind it at 0x80,
    /// 0x180 and 0x200. About 103,100 gas.
    function isPairingOneAt(uint256 pairs) internal view returns (bool isOne) {
        uint256 outcome;
        assembly ("memory-safe") {
            let failed := iszero(staticcall(PAIRING_CHECK_2_GAS, PAIRING_CHECK, pairs, 0x300, 0x00, 0x20))
            outcome := or(failed, shl(1, xor(returndatasize(), 0x20)))
            isOne := eq(mload(0x00), 1)
        }
        if (outcome != 0) _revert(outcome, PAIRING_CHECK, PairingFailed.selector);
    }

    /// @notice MAP_FP_TO_G1: simplified SWU, the isogeny and the clearing of the cofactor, so a point of the subgroup.
    /// The element is high · 2^256 + low and has to be below p. About 5,700 gas.
    function mapToG1(uint256 high, uint256 low) internal view returns (G1Point memory point) {
        uint256 to;
        assembly ("memory-safe") {
            to := point
        }
        mapToG1At(high, low, to);
    }

    /// @notice -G2, the generator of G2 negated: with it e(signature, -G2) · e(hash, key) = 1 is the check of a signature.
    function negatedGeneratorG2() internal pure returns (G2Point memory) {
        return G2Point({
            x0High: 0x024aa2b2f08f0a91260805272dc51051,
            x0Low: 0xc6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8,
            x1High: 0x13e02b6052719f607dacd3a088274f65,
            x1Low: 0x596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e,
            y0High: 0x0d1b3cc2c7027888be51d9ef691d77bc,
            y0Low: 0xb679afda66c73f17f9ee3837a55024f78c71363275a75d75d86bab79f74782aa,
            y1High: 0x13fa4d4a0ad8b1ce186ed5061789213d,
            y1Low: 0x993923066dddaf1040bc3ff59f825c78df74f2d75467e25e0f55f8a00fa030ed
        });
    }

    // -------------------------------------------------------------------------------------------------------- packing

    /// @notice Whether all four words are zero.
    function isInfinity(G1Point memory point) internal pure returns (bool) {
        return point.xHigh | point.xLow | point.yHigh | point.yLow == 0;
    }

    /// @notice Whether all eight words are zero.
    function isInfinity(G2Point memory point) internal pure returns (bool) {
        return point.x0High | point.x0Low | point.x1High | point.x1Low | point.y0High | point.y0Low | point.y1High
                | point.y1Low == 0;
    }

    /// @notice The point of 96 packed bytes. Checks their number, and nothing else.
    function unpackG1(bytes memory packed) internal pure returns (G1Point memory point) {
        if (packed.length != 96) revert PackedLengthWrong(packed.length);
        // `point` is new memory, which the compiler has zeroed: so is the padding.
        assembly ("memory-safe") {
            mcopy(add(point, 0x10), add(packed, 0x20), 0x30)
            mcopy(add(point, 0x50), add(packed, 0x50), 0x30)
        }
    }

    /// @notice `unpackG1` of calldata.
    function unpackG1Calldata(bytes calldata packed) internal pure returns (G1Point memory point) {
        if (packed.length != 96) revert PackedLengthWrong(packed.length);
        assembly ("memory-safe") {
            calldatacopy(add(point, 0x10), packed.offset, 0x30)
            calldatacopy(add(point, 0x50), add(packed.offset, 0x30), 0x30)
        }
    }

    /// @notice The point of 192 packed bytes. Checks their number, and nothing else.
    function unpackG2(bytes memory packed) internal pure returns (G2Point memory point) {
        if (packed.length != 192) revert PackedLengthWrong(packed.length);
        assembly ("memory-safe") {
            mcopy(add(point, 0x10), add(packed, 0x20), 0x30)
            mcopy(add(point, 0x50), add(packed, 0x50), 0x30)
            mcopy(add(point, 0x90), add(packed, 0x80), 0x30)
            mcopy(add(point, 0xd0), add(packed, 0xb0), 0x30)
        }
    }

    /// @notice 96 bytes. The padding is dropped unseen: it is zero in what a precompile answered or accepted.
    function packG1(G1Point memory point) internal pure returns (bytes memory packed) {
        packed = new bytes(96);
        assembly ("memory-safe") {
            mcopy(add(packed, 0x20), add(point, 0x10), 0x30)
            mcopy(add(packed, 0x50), add(point, 0x50), 0x30)
        }
    }

    /// @notice 192 bytes. The padding is dropped unseen: it is zero in what a precompile answered or accepted.
    function packG2(G2Point memory point) internal pure returns (bytes memory packed) {
        packed = new bytes(192);
        assembly ("memory-safe") {
            mcopy(add(packed, 0x20), add(point, 0x10), 0x30)
            mcopy(add(packed, 0x50), add(point, 0x50), 0x30)
            mcopy(add(packed, 0x80), add(point, 0x90), 0x30)
            mcopy(add(packed, 0xb0), add(point, 0xd0), 0x30)
        }
    }

    // ------------------------------------------------------------------------------------------- calls by memory position

    /// @notice MAP_FP_TO_G1 to the 128 bytes at `to`, which the caller owns.
    function mapToG1At(uint256 high, uint256 low, uint256 to) internal view {
        uint256 outcome;
        assembly ("memory-safe") {
            mstore(to, high)
            mstore(add(to, 0x20), low)
            let failed := iszero(staticcall(MAP_FP_TO_G1_GAS, MAP_FP_TO_G1, to, 0x40, to, 0x80))
            outcome := or(failed, shl(1, xor(returndatasize(), 0x80)))
        }
        if (outcome != 0) _revert(outcome, MAP_FP_TO_G1, MapToG1Failed.selector);
    }

    /// @notice G1ADD of the two points in the 256 bytes at `pair`, to the 128 bytes at `to`.
    function addPairG1(uint256 pair, uint256 to) internal view {
        uint256 outcome;
        assembly ("memory-safe") {
            let failed := iszero(staticcall(G1ADD_GAS, G1ADD, pair, 0x100, to, 0x80))
            outcome := or(failed, shl(1, xor(returndatasize(), 0x80)))
        }
        if (outcome != 0) _revert(outcome, G1ADD, G1AddFailed.selector);
    }

    /// @dev sum := sum + operand.
    function _addOperand(G2Sum memory sum) private view {
        uint256 outcome;
        assembly ("memory-safe") {
            let failed := iszero(staticcall(G2ADD_GAS, G2ADD, sum, 0x200, sum, 0x100))
            outcome := or(failed, shl(1, xor(returndatasize(), 0x100)))
        }
        if (outcome != 0) _revert(outcome, G2ADD, G2AddFailed.selector);
    }

    /// @dev y := p - y for both parts of y, 64 bytes each. 0 stays 0, for p - 0 is not canonical; p stays p, for 0 is
    /// and would be accepted. Above p the difference borrows into the upper 16 bytes, which the precompiles refuse.
    function _negateY(uint256 y) private pure {
        assembly ("memory-safe") {
            function negate(part) {
                let high := mload(part)
                let low := mload(add(part, 0x20))
                if or(high, low) {
                    high := sub(sub(BLS12381_P_HIGH, high), gt(low, BLS12381_P_LOW))
                    low := sub(BLS12381_P_LOW, low)
                    if or(high, low) {
                        mstore(part, high)
                        mstore(add(part, 0x20), low)
                    }
                }
            }
            negate(y)
            negate(add(y, 0x40))
        }
    }

    /// @dev `outcome` has bit 0 set if the call failed: it was refused. Otherwise the length was wrong: no precompile.
    function _revert(uint256 outcome, uint256 precompile, bytes4 refused) private pure {
        if (outcome & 1 == 0) revert PrecompileMissing(precompile);
        assembly ("memory-safe") {
            mstore(0x00, refused)
            revert(0x00, 0x04)
        }
    }
}
