// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {BN254_P, BN254_R} from "./Fields.sol";

/// @title BN254 through the precompiles 0x06 (addition), 0x07 (multiplication) and 0x08 (pairing) of EIP-196 and
/// EIP-197
/// @notice Every point of the curve belongs to G1, since G1 has cofactor 1. Only the pairing checks that a point of the
/// twist belongs to G2. BN254 has about 100 bits of security.
/// @dev Every call of a precompile forwards all gas that is left, of which the EVM keeps back 1/64 (EIP-150). A
/// contract that cannot change would stop for ever if it forwarded a fixed amount and prices rose. A precompile that
/// refuses its input burns what it was given. So a malformed point costs nearly all the gas of the call. A caller who
/// passes points of others, and wants to go on after the revert, limits the gas of the call.
///
/// On a chain without the precompile, a call succeeds and returns nothing. So both the success of each call and the
/// length of its answer are checked.
library Bn254 {
    /// @notice A point of G1 in affine coordinates, with y² = x³ + 3 modulo P. Infinity is (0, 0).
    struct G1 {
        uint256 x;
        uint256 y;
    }

    /// @notice A point of G2 in affine coordinates over Fp[i]/(i² + 1). As everywhere in the EVM, the imaginary part
    /// comes first. Infinity is four zeros.
    struct G2 {
        uint256 xIm;
        uint256 xRe;
        uint256 yIm;
        uint256 yRe;
    }

    /// @notice The prime of the field.
    uint256 internal constant P = BN254_P;
    /// @notice The prime order of G1, G2 and the target group.
    uint256 internal constant R = BN254_R;

    /// @notice The generator of G1.
    uint256 internal constant G1_X = 1;
    uint256 internal constant G1_Y = 2;

    /// @notice The generator of G2.
    uint256 internal constant G2_X_IM = 0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2;
    uint256 internal constant G2_X_RE = 0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed;
    uint256 internal constant G2_Y_IM = 0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b;
    uint256 internal constant G2_Y_RE = 0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa;

    /// @notice The y of the negated generator of G2. Its x is the generator's.
    uint256 internal constant NEGATED_G2_Y_IM = 0x275dc4a288d1afb3cbb1ac09187524c7db36395df7be3b99e673b13a075a65ec;
    uint256 internal constant NEGATED_G2_Y_RE = 0x1d9befcd05a5323e6da4d435f3b617cdb3af83285c2df711ef39c01571827f9d;

    /// @notice The first word of what the dual-key check hashes.
    bytes32 internal constant DUAL_KEY_TAG = keccak256("quorate.bn254.dual-key");

    /// @notice A point to be added is not canonical or not on the curve, or there is too little gas, or the precompile
    /// is not there.
    error AddFailed();
    /// @notice A point to be multiplied is not canonical or not on the curve, or there is too little gas, or the
    /// precompile is not there.
    error MulFailed();
    /// @notice A point to be paired is not canonical, not on its curve or not in its subgroup, or there is too little
    /// gas, or the precompile is not there.
    error PairingFailed();
    /// @notice A y is not below P.
    error NonCanonicalY();
    /// @notice A key is the identity, under which everyone can sign.
    error IdentityKey();
    /// @notice The challenge of the dual-key check is zero.
    error ZeroChallenge();

    /// @notice Adds two points; all cases are covered. Costs about 480 gas.
    /// @dev Reverts with AddFailed if a coordinate is not below P or a point is not on the curve.
    /// @param a A point.
    /// @param b A point.
    /// @return sum a + b.
    function add(G1 memory a, G1 memory b) internal view returns (G1 memory sum) {
        bool ok;
        assembly ("memory-safe") {
            let input := mload(0x40)
            mcopy(input, a, 0x40)
            mcopy(add(input, 0x40), b, 0x40)
            ok := staticcall(gas(), 0x06, input, 0x80, sum, 0x40)
            ok := and(ok, eq(returndatasize(), 0x40))
        }
        if (!ok) revert AddFailed();
    }

    /// @notice Multiplies a point by a scalar. Costs about 6,310 gas.
    /// @dev Reverts with MulFailed if a coordinate is not below P or the point is not on the curve.
    /// @param a A point.
    /// @param scalar Any word.
    /// @return product scalar · a.
    function mul(G1 memory a, uint256 scalar) internal view returns (G1 memory product) {
        bool ok;
        assembly ("memory-safe") {
            let input := mload(0x40)
            mcopy(input, a, 0x40)
            mstore(add(input, 0x40), scalar)
            ok := staticcall(gas(), 0x07, input, 0x60, product, 0x40)
            ok := and(ok, eq(returndatasize(), 0x40))
        }
        if (!ok) revert MulFailed();
    }

    /// @notice Negates a point; infinity stays infinity.
    /// @dev Reverts with NonCanonicalY if y is not below P. NOT checked: x, and that the point is on the curve.
    /// @param a A point.
    /// @return -a.
    function negate(G1 memory a) internal pure returns (G1 memory) {
        if (a.y >= P) revert NonCanonicalY();
        return G1(a.x, a.y == 0 ? 0 : P - a.y);
    }

    /// @notice Whether a point is on the curve, with both coordinates below P. False for infinity, which is neither a
    /// key nor a signature.
    /// @param a A point.
    /// @return Whether it is.
    function isOnCurve(G1 memory a) internal pure returns (bool) {
        return a.x < P && a.y < P && mulmod(a.y, a.y, P) == addmod(mulmod(mulmod(a.x, a.x, P), a.x, P), 3, P);
    }

    /// @notice Whether a point of G1 is infinity, (0, 0).
    /// @param a A point.
    /// @return Whether it is.
    function isInfinity(G1 memory a) internal pure returns (bool) {
        return a.x | a.y == 0;
    }

    /// @notice Whether a point of G2 is infinity, four zeros.
    /// @param a A point.
    /// @return Whether it is.
    function isInfinity(G2 memory a) internal pure returns (bool) {
        return a.xIm | a.xRe | a.yIm | a.yRe == 0;
    }

    /// @notice Whether all four coordinates are below P, as the additions of `Bn254G2` require.
    /// @dev NOT checked: that the point is on the twist, and that it is in G2.
    /// @param a A point.
    /// @return Whether they are.
    function isCanonical(G2 memory a) internal pure returns (bool) {
        return a.xIm < P && a.xRe < P && a.yIm < P && a.yRe < P;
    }

    /// @notice The generator of G1.
    /// @return (1, 2).
    function generator() internal pure returns (G1 memory) {
        return G1(G1_X, G1_Y);
    }

    /// @notice The negated generator of G2.
    /// @return -G2.
    function negatedG2Generator() internal pure returns (G2 memory) {
        return G2(G2_X_IM, G2_X_RE, NEGATED_G2_Y_IM, NEGATED_G2_Y_RE);
    }

    /// @notice Whether e(a, b) · e(c, d) = 1. Costs about 113,400 gas.
    /// @dev Reverts with PairingFailed if a coordinate is not below P, a point is not on its curve, or a point of the
    /// twist is not in G2. A pair that holds infinity counts as 1, so callers refuse infinity where it has no meaning.
    /// @param a A point of G1.
    /// @param b A point of G2.
    /// @param c A point of G1.
    /// @param d A point of G2.
    /// @return one Whether the product is 1.
    function isPairingOne(G1 memory a, G2 memory b, G1 memory c, G2 memory d) internal view returns (bool one) {
        bool ok;
        assembly ("memory-safe") {
            let input := mload(0x40)
            mcopy(input, a, 0x40)
            mcopy(add(input, 0x40), b, 0x80)
            mcopy(add(input, 0xc0), c, 0x40)
            mcopy(add(input, 0x100), d, 0x80)
            ok := staticcall(gas(), 0x08, input, 0x180, 0x00, 0x20)
            ok := and(ok, eq(returndatasize(), 0x20))
            one := eq(mload(0x00), 1)
        }
        if (!ok) revert PairingFailed();
    }

    /// @notice Checks a signature in G1 under a key in G2: e(signature, -G2) · e(messageHash, key) = 1. That says
    /// signature = sk · messageHash, where key = sk · G2. Costs about 113,550 gas.
    /// @dev Reverts with IdentityKey if the key is the identity: an empty quorum has this key, and the identity is its
    /// signature of every message. NOT checked: possession of the key, which is proved at registration.
    /// @param messageHash The message's point in G1.
    /// @param key The key.
    /// @param signature The signature.
    /// @return Whether the signature is right.
    function isSignature(G1 memory messageHash, G2 memory key, G1 memory signature) internal view returns (bool) {
        uint256 pairs;
        assembly ("memory-safe") {
            pairs := mload(0x40)
            mcopy(pairs, signature, 0x40)
            mcopy(add(pairs, 0xc0), messageHash, 0x40)
            mcopy(add(pairs, 0x100), key, 0x80)
        }
        return isSignatureAt(pairs);
    }

    /// @notice Does what `isSignature` does with points that lie where the pairing reads them. Costs about 113,350 gas.
    /// @param pairs Where in memory the caller has allocated 0x180 bytes. The signature lies at `pairs`, the hash at
    /// pairs + 0xc0 and the key at pairs + 0x100. The bytes between are room for -G2.
    /// @return one Whether the signature is right.
    function isSignatureAt(uint256 pairs) internal view returns (bool one) {
        bool ok;
        bool identity;
        // Not memory-safe by itself: the caller allocated the memory at `pairs`.
        assembly {
            let key := add(pairs, 0x100)
            identity := iszero(
                or(or(mload(key), mload(add(key, 0x20))), or(mload(add(key, 0x40)), mload(add(key, 0x60))))
            )
            mstore(add(pairs, 0x40), G2_X_IM)
            mstore(add(pairs, 0x60), G2_X_RE)
            mstore(add(pairs, 0x80), NEGATED_G2_Y_IM)
            mstore(add(pairs, 0xa0), NEGATED_G2_Y_RE)
        }
        if (identity) revert IdentityKey();
        assembly ("memory-safe") {
            ok := staticcall(gas(), 0x08, pairs, 0x180, 0x00, 0x20)
            ok := and(ok, eq(returndatasize(), 0x20))
            one := eq(mload(0x00), 1)
        }
        if (!ok) revert PairingFailed();
    }

    /// @notice The dual-key check: a signature in G1 under a key that is passed in G1 and in G2. With a challenge γ,
    /// the hash of all points, it checks e(signature + γ·key1, -G2) · e(messageHash + γ·G1, key2) = 1. Costs about
    /// 127,150 gas.
    /// @dev Let key1 = a·G1, key2 = b·G2, messageHash = h·G1 and signature = s·G1. The check says (s - hb) + γ(a - b) =
    /// 0. All of a, b, h and s are fixed before γ is known, since γ is the hash of them. Suppose that s ≠ hb (the
    /// signature is false) or a ≠ b (the keys have different secrets). Then at most one γ modulo R passes. A forger
    /// hits it with probability at most 6/2^256 in each try, because at most six words have the same remainder modulo
    /// R.
    ///
    /// With γ = 0 the check would say nothing about key1, and a key pair of the forger's own would pass. So γ = 0
    /// reverts with ZeroChallenge. An honest quorum meets it with probability 2^-253.
    ///
    /// Every point enters a precompile, which refuses coordinates that are not below P and points off the curve; the
    /// pairing also refuses a key2 outside G2. So only one encoding of a point can be hashed and pass. Reverts with
    /// IdentityKey if a key is the identity. NOT checked: possession of the keys that add up to key1, which is proved
    /// at registration.
    /// @param messageHash The message's point in G1.
    /// @param key1 The key in G1.
    /// @param key2 The key in G2.
    /// @param signature The signature.
    /// @return Whether the signature is right and both keys have the same secret.
    function isDualKeySignature(G1 memory messageHash, G1 memory key1, G2 memory key2, G1 memory signature)
        internal
        view
        returns (bool)
    {
        uint256 transcript;
        assembly ("memory-safe") {
            transcript := mload(0x40)
            mcopy(add(transcript, 0x20), messageHash, 0x40)
            mcopy(add(transcript, 0x60), key1, 0x40)
            mcopy(add(transcript, 0xa0), key2, 0x80)
            mcopy(add(transcript, 0x120), signature, 0x40)
        }
        return isDualKeySignatureAt(transcript);
    }

    /// @notice Does what `isDualKeySignature` does with points that lie where they are hashed. Costs about 126,900 gas.
    /// @param transcript Where in memory the caller has allocated 0x2e0 bytes. The first word is room for the tag. The
    /// hash lies at transcript + 0x20, key1 at + 0x60, key2 at + 0xa0 and the signature at + 0x120. The bytes from +
    /// 0x160 on are room for the pairing's input.
    /// @return Whether the signature is right and both keys have the same secret.
    function isDualKeySignatureAt(uint256 transcript) internal view returns (bool) {
        bool identity;
        assembly ("memory-safe") {
            let key2 := add(transcript, 0xa0)
            identity := or(
                iszero(or(mload(add(transcript, 0x60)), mload(add(transcript, 0x80)))),
                iszero(or(or(mload(key2), mload(add(key2, 0x20))), or(mload(add(key2, 0x40)), mload(add(key2, 0x60)))))
            )
        }
        if (identity) revert IdentityKey();
        uint256 gamma = _challengeAt(transcript);
        if (gamma == 0) revert ZeroChallenge();
        bool multiplied;
        bool added;
        bool paired;
        bool one;
        // The pairing's input lies behind the transcript. The input of each multiplication and addition is written
        // where its result goes. Not memory-safe by itself: the caller allocated the memory at `transcript`.
        assembly {
            function multiplyAdd(product, x, y, scalar, summand) -> didMultiply, didAdd {
                mstore(product, x)
                mstore(add(product, 0x20), y)
                mstore(add(product, 0x40), scalar)
                didMultiply := staticcall(gas(), 0x07, product, 0x60, product, 0x40)
                didMultiply := and(didMultiply, eq(returndatasize(), 0x40))
                mcopy(add(product, 0x40), summand, 0x40)
                // No gas if the multiplication failed: it burnt nearly all, and the rest is for the revert.
                didAdd := staticcall(mul(didMultiply, gas()), 0x06, product, 0x80, product, 0x40)
                didAdd := and(didAdd, eq(returndatasize(), 0x40))
            }
            let pairs := add(transcript, 0x160)
            let second := add(pairs, 0xc0)
            multiplied, added := multiplyAdd(second, G1_X, G1_Y, gamma, add(transcript, 0x20))
            {
                let didMultiply, didAdd :=
                    multiplyAdd(
                        pairs,
                        mload(add(transcript, 0x60)),
                        mload(add(transcript, 0x80)),
                        gamma,
                        add(transcript, 0x120)
                    )
                multiplied := and(multiplied, didMultiply)
                added := and(added, didAdd)
            }
            mstore(add(pairs, 0x40), G2_X_IM)
            mstore(add(pairs, 0x60), G2_X_RE)
            mstore(add(pairs, 0x80), NEGATED_G2_Y_IM)
            mstore(add(pairs, 0xa0), NEGATED_G2_Y_RE)
            mcopy(add(second, 0x40), add(transcript, 0xa0), 0x80)
            // If a sum failed, the pairing is not called.
            if and(multiplied, added) {
                paired := staticcall(gas(), 0x08, pairs, 0x180, 0x00, 0x20)
                paired := and(paired, eq(returndatasize(), 0x20))
                one := eq(mload(0x00), 1)
            }
        }
        if (!multiplied) revert MulFailed();
        if (!added) revert AddFailed();
        if (!paired) revert PairingFailed();
        return one;
    }

    /// @notice The challenge γ = keccak256(DUAL_KEY_TAG ‖ messageHash ‖ key1 ‖ key2 ‖ signature) mod R. It hashes 352
    /// bytes.
    /// @param messageHash The message's point in G1.
    /// @param key1 The key in G1.
    /// @param key2 The key in G2.
    /// @param signature The signature.
    /// @return gamma The challenge, below R.
    function dualKeyChallenge(G1 memory messageHash, G1 memory key1, G2 memory key2, G1 memory signature)
        internal
        pure
        returns (uint256 gamma)
    {
        uint256 transcript;
        assembly ("memory-safe") {
            transcript := mload(0x40)
            mcopy(add(transcript, 0x20), messageHash, 0x40)
            mcopy(add(transcript, 0x60), key1, 0x40)
            mcopy(add(transcript, 0xa0), key2, 0x80)
            mcopy(add(transcript, 0x120), signature, 0x40)
        }
        return _challengeAt(transcript);
    }

    /// @dev The challenge of the points that lie behind the first word of a transcript. Writes the tag to that word.
    /// @param transcript Where in memory the transcript lies, 352 bytes.
    /// @return gamma The challenge, below R.
    function _challengeAt(uint256 transcript) private pure returns (uint256 gamma) {
        bytes32 tag = DUAL_KEY_TAG;
        // Not memory-safe by itself: the caller allocated the memory at `transcript`.
        assembly {
            mstore(transcript, tag)
            gamma := mod(keccak256(transcript, 0x160), R)
        }
    }
}
