// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {BLS12381_P_HIGH, BLS12381_P_LOW} from "./Fields.sol";

/// @notice A point of G1 as EIP-2537 encodes it: two coordinates of 64 bytes, each as a high and a low word. Infinity
/// is all zeros.
struct G1Point {
    uint256 xHigh;
    uint256 xLow;
    uint256 yHigh;
    uint256 yLow;
}

/// @notice A point of G2 as EIP-2537 encodes it: four numbers of 64 bytes, x.c0, x.c1, y.c0 and y.c1, so the real part
/// comes first. Infinity is all zeros.
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

/// @notice A running sum in G2, laid out as the input of the precompile G2ADD: 256 bytes of the sum, then 256 bytes of
/// the key to be added. So a key is unpacked where the precompile reads it. A new struct holds infinity.
/// @dev The upper 16 bytes of each coordinate of `operand*` must stay zero, so that four copies unpack a key. This
/// library leaves them zero unless it reverts.
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
/// @notice Adds packed keys in G2 and points in G1, checks a product of two pairings, and maps a field element to G1.
///
/// A packed point has 48 bytes for each number, big-endian: 96 bytes in G1 (x, y), and 192 in G2 (x.c0, x.c1, y.c0,
/// y.c1).
///
/// Every precompile refuses a coordinate that is not below p, so each point has one encoding, and a point off the
/// curve. The pairing also refuses a point outside the subgroup of order r. The additions do NOT check the subgroup: a
/// key has to go through a pairing once, with its proof of possession at registration.
///
/// NOT checked by anything here: that a point is not infinity. A pair that holds infinity counts as 1 in the pairing.
///
/// Every call of a precompile forwards all gas that is left, of which the EVM keeps back 1/64 (EIP-150). A contract that
/// cannot change would stop for ever if it forwarded a fixed amount and prices rose. A precompile that refuses its input
/// burns what it was given. So a malformed point costs nearly all the gas of the call. A caller who passes points of
/// others, and wants to go on after the revert, limits the gas of the call.
library Bls12381 {
    /// @notice The precompile is not there: a call succeeded, but its answer has the wrong length.
    /// @param precompile The precompile's address.
    error PrecompileMissing(uint256 precompile);
    /// @notice G1ADD refused a coordinate that is not below p or a point off the curve, or had too little gas.
    error G1AddFailed();
    /// @notice G2ADD refused a coordinate that is not below p or a point off the curve, or had too little gas.
    error G2AddFailed();
    /// @notice PAIRING_CHECK refused a coordinate that is not below p, a point off its curve or a point outside its
    /// subgroup, or had too little gas.
    error PairingFailed();
    /// @notice MAP_FP_TO_G1 refused a field element that is not below p, or had too little gas.
    error MapToG1Failed();
    /// @notice A packed point does not have 96 bytes in G1, or 192 in G2.
    /// @param length Its length.
    error PackedLengthWrong(uint256 length);

    /// @dev The addresses of the precompiles.
    uint256 internal constant G1ADD = 0x0b;
    uint256 internal constant G2ADD = 0x0d;
    uint256 internal constant PAIRING_CHECK = 0x0f;
    uint256 internal constant MAP_FP_TO_G1 = 0x10;

    // ---------------------------------------------------------------------------------------------------------- sums

    /// @notice Begins a sum with a packed key. NOT checked: the key, which the first addition or pairing checks.
    /// @param sum The sum, which is overwritten.
    /// @param key Where in memory the key lies, 192 bytes.
    function loadG2(G2Sum memory sum, uint256 key) internal pure {
        uint256 position;
        assembly ("memory-safe") {
            position := sum
        }
        unpackG2At(key, position);
    }

    /// @notice Unpacks a point of G2 in memory. NOT checked: the point.
    /// @param key Where the packed point lies, 192 bytes.
    /// @param to Where the point is written, 256 bytes.
    function unpackG2At(uint256 key, uint256 to) internal pure {
        // Not memory-safe by itself: the caller allocated the memory at both addresses.
        assembly {
            // Clears the upper 16 bytes of each coordinate, which may hold anything.
            calldatacopy(to, calldatasize(), 0x100)
            mcopy(add(to, 0x10), key, 0x30)
            mcopy(add(to, 0x50), add(key, 0x30), 0x30)
            mcopy(add(to, 0x90), add(key, 0x60), 0x30)
            mcopy(add(to, 0xd0), add(key, 0x90), 0x30)
        }
    }

    /// @notice Packs a point of G2 in memory. It drops the upper 16 bytes of each coordinate without a look: they are
    /// zero in what a precompile returned or accepted.
    /// @param point Where the point lies, 256 bytes.
    /// @param to Where the packed point is written, 192 bytes.
    /// @return infinity Whether the point is infinity.
    function packG2At(uint256 point, uint256 to) internal pure returns (bool infinity) {
        // Not memory-safe by itself: the caller allocated the memory at both addresses.
        assembly {
            mcopy(to, add(point, 0x10), 0x30)
            mcopy(add(to, 0x30), add(point, 0x50), 0x30)
            mcopy(add(to, 0x60), add(point, 0x90), 0x30)
            mcopy(add(to, 0x90), add(point, 0xd0), 0x30)
            let any := or(or(mload(to), mload(add(to, 0x20))), or(mload(add(to, 0x40)), mload(add(to, 0x60))))
            infinity := iszero(or(any, or(mload(add(to, 0x80)), mload(add(to, 0xa0)))))
        }
    }

    /// @notice Adds a packed key to a sum. All cases are covered: equal points, opposite points, and infinity on either
    /// side. Costs about 940 gas, of which the precompile takes 700. NOT checked: that the key is in the subgroup.
    /// @param sum The sum, which is changed.
    /// @param key Where in memory the key lies, 192 bytes; outside `sum`.
    function addG2(G2Sum memory sum, uint256 key) internal view {
        uint256 position;
        assembly ("memory-safe") {
            position := sum
        }
        addG2At(position, key);
    }

    /// @notice Does what `addG2` does, with the sum's address in memory: a struct variable in a loop takes new memory
    /// in each turn. Costs about 915 gas.
    /// @param sum Where in memory the sum lies, laid out as `G2Sum`.
    /// @param key Where in memory the key lies, 192 bytes; outside the sum.
    function addG2At(uint256 sum, uint256 key) internal view {
        uint256 outcome;
        // Four copies between zeros cost half as much as eight loads, shifts and stores. The call is that of
        // `_addOperand`, written out: a quorum runs this for each key, and a jump costs 35 gas. Not memory-safe by
        // itself: the caller allocated the memory at `sum`.
        assembly {
            mcopy(add(sum, 0x110), key, 0x30)
            mcopy(add(sum, 0x150), add(key, 0x30), 0x30)
            mcopy(add(sum, 0x190), add(key, 0x60), 0x30)
            mcopy(add(sum, 0x1d0), add(key, 0x90), 0x30)
            let failed := iszero(staticcall(gas(), G2ADD, sum, 0x200, sum, 0x100))
            outcome := or(failed, shl(1, xor(returndatasize(), 0x100)))
        }
        if (outcome != 0) _revert(outcome, G2ADD, G2AddFailed.selector);
    }

    /// @notice Adds a packed key in calldata to a sum, as `addG2` does.
    /// @param sum The sum, which is changed.
    /// @param key The key; reverts unless it has 192 bytes.
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

    /// @notice Subtracts a packed key from a sum. Like `addG2`, but costs about 400 gas more. To subtract many keys, it
    /// is cheaper to call `negateG2`, add the keys, and call `negateG2` again.
    /// @param sum The sum, which is changed.
    /// @param key Where in memory the key lies, 192 bytes; outside `sum`.
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
        // If a part of y was not below p, it is p now, or it has borrowed into the upper 16 bytes. The precompile
        // refuses both, as `addG2` would have refused the key.
        _addOperand(sum);
    }

    /// @notice Negates a sum, without a precompile. If a part of y is not below p, the precompiles refuse the result as
    /// they would have refused the sum: p itself stays p, and a larger number borrows into the upper 16 bytes.
    /// @param sum The sum, which is changed.
    function negateG2(G2Sum memory sum) internal pure {
        uint256 position;
        assembly ("memory-safe") {
            position := sum
        }
        negateG2At(position);
    }

    /// @notice Does what `negateG2` does, with the sum's address in memory.
    /// @param sum Where in memory the sum lies.
    function negateG2At(uint256 sum) internal pure {
        uint256 y;
        assembly ("memory-safe") {
            y := add(sum, 0x80)
        }
        _negateY(y);
    }

    /// @notice The sum as a point. It is not a copy: it changes with the sum.
    /// @param sum The sum.
    /// @return point The point.
    function pointG2(G2Sum memory sum) internal pure returns (G2Point memory point) {
        assembly ("memory-safe") {
            point := sum
        }
    }

    /// @notice Adds a point of G1 to another. All cases are covered. Costs about 700 gas. NOT checked: that the points
    /// are in the subgroup.
    /// @param sum The point that becomes the sum.
    /// @param point The point to add.
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

    /// @notice Whether e(a1, a2) · e(b1, b2) = 1. Reverts if a point is not canonical, not on its curve or not in its
    /// subgroup. Costs about 103,400 gas. A pair that holds infinity counts as 1, so callers refuse infinity first.
    /// @param a1 A point of G1.
    /// @param a2 A point of G2.
    /// @param b1 A point of G1.
    /// @param b2 A point of G2.
    /// @return isOne Whether the product is 1.
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
        return isProductOneAt(pairs, 2);
    }

    /// @notice Whether the product of several pairings is 1. Reverts as `isPairingOne` does. Costs about 37,900 gas, and
    /// 32,600 for each pairing.
    /// @param pairs Where in memory the pairs lie, behind each other: a point of G1 and a point of G2 each, 384 bytes.
    /// @param count Their number.
    /// @return isOne Whether the product is 1.
    function isProductOneAt(uint256 pairs, uint256 count) internal view returns (bool isOne) {
        uint256 outcome;
        assembly ("memory-safe") {
            let failed := iszero(staticcall(gas(), PAIRING_CHECK, pairs, mul(count, 0x180), 0x00, 0x20))
            outcome := or(failed, shl(1, xor(returndatasize(), 0x20)))
            isOne := eq(mload(0x00), 1)
        }
        if (outcome != 0) _revert(outcome, PAIRING_CHECK, PairingFailed.selector);
    }

    /// @notice Maps a field element to a point of the subgroup: the simplified SWU map, the isogeny and cofactor
    /// clearing. Costs about 5,700 gas. The element is high · 2^256 + low and must be below p.
    /// @param high The element's high word.
    /// @param low The element's low word.
    /// @return point The point.
    function mapToG1(uint256 high, uint256 low) internal view returns (G1Point memory point) {
        uint256 to;
        assembly ("memory-safe") {
            to := point
        }
        mapToG1At(high, low, to);
    }

    /// @notice -G2, the negated generator of G2. A signature is right if e(signature, -G2) · e(hash, key) = 1.
    /// @return point The point.
    function negatedGeneratorG2() internal pure returns (G2Point memory point) {
        uint256 to;
        assembly ("memory-safe") {
            to := point
        }
        negatedGeneratorG2At(to);
    }

    // -------------------------------------------------------------------------------------------------------- packing

    /// @notice Whether a point of G1 is infinity: all four words are zero.
    /// @param point The point.
    /// @return Whether it is.
    function isInfinity(G1Point memory point) internal pure returns (bool) {
        return point.xHigh | point.xLow | point.yHigh | point.yLow == 0;
    }

    /// @notice Whether a point of G2 is infinity: all eight words are zero.
    /// @param point The point.
    /// @return Whether it is.
    function isInfinity(G2Point memory point) internal pure returns (bool) {
        return point.x0High | point.x0Low | point.x1High | point.x1Low | point.y0High | point.y0Low | point.y1High
                | point.y1Low == 0;
    }

    /// @notice Unpacks a point of G1. Checks the length. NOT checked: the point.
    /// @param packed The packed point, 96 bytes.
    /// @return point The point.
    function unpackG1(bytes memory packed) internal pure returns (G1Point memory point) {
        if (packed.length != 96) revert PackedLengthWrong(packed.length);
        // `point` is new memory, which the compiler has filled with zeros. So the upper 16 bytes are zero.
        assembly ("memory-safe") {
            mcopy(add(point, 0x10), add(packed, 0x20), 0x30)
            mcopy(add(point, 0x50), add(packed, 0x50), 0x30)
        }
    }

    /// @notice Unpacks a point of G1 from calldata, as `unpackG1` does.
    /// @param packed The packed point, 96 bytes.
    /// @return point The point.
    function unpackG1Calldata(bytes calldata packed) internal pure returns (G1Point memory point) {
        if (packed.length != 96) revert PackedLengthWrong(packed.length);
        assembly ("memory-safe") {
            calldatacopy(add(point, 0x10), packed.offset, 0x30)
            calldatacopy(add(point, 0x50), add(packed.offset, 0x30), 0x30)
        }
    }

    /// @notice Unpacks a point of G2. Checks the length. NOT checked: the point.
    /// @param packed The packed point, 192 bytes.
    /// @return point The point.
    function unpackG2(bytes memory packed) internal pure returns (G2Point memory point) {
        if (packed.length != 192) revert PackedLengthWrong(packed.length);
        assembly ("memory-safe") {
            mcopy(add(point, 0x10), add(packed, 0x20), 0x30)
            mcopy(add(point, 0x50), add(packed, 0x50), 0x30)
            mcopy(add(point, 0x90), add(packed, 0x80), 0x30)
            mcopy(add(point, 0xd0), add(packed, 0xb0), 0x30)
        }
    }

    /// @notice Packs a point of G1. Drops the upper 16 bytes of each coordinate without a look: they are zero in what a
    /// precompile returned or accepted.
    /// @param point The point.
    /// @return packed The packed point, 96 bytes.
    function packG1(G1Point memory point) internal pure returns (bytes memory packed) {
        packed = new bytes(96);
        assembly ("memory-safe") {
            mcopy(add(packed, 0x20), add(point, 0x10), 0x30)
            mcopy(add(packed, 0x50), add(point, 0x50), 0x30)
        }
    }

    /// @notice Packs a point of G2. Drops the upper 16 bytes of each coordinate without a look: they are zero in what a
    /// precompile returned or accepted.
    /// @param point The point.
    /// @return packed The packed point, 192 bytes.
    function packG2(G2Point memory point) internal pure returns (bytes memory packed) {
        packed = new bytes(192);
        assembly ("memory-safe") {
            mcopy(add(packed, 0x20), add(point, 0x10), 0x30)
            mcopy(add(packed, 0x50), add(point, 0x50), 0x30)
            mcopy(add(packed, 0x80), add(point, 0x90), 0x30)
            mcopy(add(packed, 0xb0), add(point, 0xd0), 0x30)
        }
    }

    // ---------------------------------------------------------------------------------------- calls by memory position

    /// @notice Writes -G2 to memory.
    /// @param to Where in memory the point is written, 256 bytes that the caller owns.
    function negatedGeneratorG2At(uint256 to) internal pure {
        // Not memory-safe by itself: the caller allocated the memory at `to`.
        assembly {
            mstore(to, 0x024aa2b2f08f0a91260805272dc51051)
            mstore(add(to, 0x20), 0xc6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8)
            mstore(add(to, 0x40), 0x13e02b6052719f607dacd3a088274f65)
            mstore(add(to, 0x60), 0x596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e)
            mstore(add(to, 0x80), 0x0d1b3cc2c7027888be51d9ef691d77bc)
            mstore(add(to, 0xa0), 0xb679afda66c73f17f9ee3837a55024f78c71363275a75d75d86bab79f74782aa)
            mstore(add(to, 0xc0), 0x13fa4d4a0ad8b1ce186ed5061789213d)
            mstore(add(to, 0xe0), 0x993923066dddaf1040bc3ff59f825c78df74f2d75467e25e0f55f8a00fa030ed)
        }
    }

    /// @notice Does what `mapToG1` does, and writes the point to memory.
    /// @param high The element's high word.
    /// @param low The element's low word.
    /// @param to Where in memory the point is written, 128 bytes that the caller owns.
    function mapToG1At(uint256 high, uint256 low, uint256 to) internal view {
        uint256 outcome;
        assembly ("memory-safe") {
            mstore(to, high)
            mstore(add(to, 0x20), low)
            let failed := iszero(staticcall(gas(), MAP_FP_TO_G1, to, 0x40, to, 0x80))
            outcome := or(failed, shl(1, xor(returndatasize(), 0x80)))
        }
        if (outcome != 0) _revert(outcome, MAP_FP_TO_G1, MapToG1Failed.selector);
    }

    /// @notice Adds two points of G1 that lie behind each other. NOT checked: that the points are in the subgroup.
    /// @param pair Where in memory both points lie, 256 bytes.
    /// @param to Where in memory the sum is written, 128 bytes.
    function addPairG1(uint256 pair, uint256 to) internal view {
        uint256 outcome;
        assembly ("memory-safe") {
            let failed := iszero(staticcall(gas(), G1ADD, pair, 0x100, to, 0x80))
            outcome := or(failed, shl(1, xor(returndatasize(), 0x80)))
        }
        if (outcome != 0) _revert(outcome, G1ADD, G1AddFailed.selector);
    }

    /// @dev Adds the operand of a sum to the sum.
    /// @param sum The sum, which is changed.
    function _addOperand(G2Sum memory sum) private view {
        uint256 outcome;
        assembly ("memory-safe") {
            let failed := iszero(staticcall(gas(), G2ADD, sum, 0x200, sum, 0x100))
            outcome := or(failed, shl(1, xor(returndatasize(), 0x100)))
        }
        if (outcome != 0) _revert(outcome, G2ADD, G2AddFailed.selector);
    }

    /// @dev y := p - y for both parts of y, 64 bytes each. 0 stays 0, because p - 0 = p is not canonical. p stays p,
    /// because p - p = 0 would be accepted. For a number above p the difference borrows into the upper 16 bytes, and
    /// the precompiles refuse that.
    /// @param y Where in memory y lies, 128 bytes.
    function _negateY(uint256 y) private pure {
        assembly ("memory-safe") {
            function negate(part) {
                let high := mload(part)
                let low := mload(add(part, 0x20))
                let zero := iszero(or(high, low))
                high := sub(sub(BLS12381_P_HIGH, high), gt(low, BLS12381_P_LOW))
                low := sub(BLS12381_P_LOW, low)
                if iszero(or(zero, iszero(or(high, low)))) {
                    mstore(part, high)
                    mstore(add(part, 0x20), low)
                }
            }
            negate(y)
            negate(add(y, 0x40))
        }
    }

    /// @dev Reverts. If bit 0 of `outcome` is set, the call failed because the precompile refused. Otherwise the answer
    /// had the wrong length, because there is no precompile.
    /// @param outcome Two flags; at least one is set.
    /// @param precompile The address of the precompile.
    /// @param refused The selector of the error that says that the precompile refused.
    function _revert(uint256 outcome, uint256 precompile, bytes4 refused) private pure {
        if (outcome & 1 == 0) revert PrecompileMissing(precompile);
        assembly ("memory-safe") {
            mstore(0x00, refused)
            revert(0x00, 0x04)
        }
    }
}
