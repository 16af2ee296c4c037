// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title BN254 through the precompiles 0x06 (addition), 0x07 (multiplication) and 0x08 (pairing) of EIP-196 and EIP-197.
/// @notice G1 has order R and cofactor 1: a point on the curve is in the group. A G2 point is checked to be in its
/// subgroup by the pairing alone. BN254 gives about 100 bits of security.
/// @dev A precompile burns all that it is given when its input is wrong, and answers a call on a chain that lacks it
/// with success and no data. So each call is given the price of EIP-1108 and no more (a chain with other prices needs
/// other constants), and both its success and the length of its answer are checked.
library Bn254 {
    /// @notice A point of G1 in affine coordinates: y² = x³ + 3 over Fp; infinity is (0, 0).
    struct G1 {
        uint256 x;
        uint256 y;
    }

    /// @notice A point of G2 in affine coordinates, in the EVM's order: over Fp[i]/(i² + 1), imaginary part first.
    /// Infinity is four zeros.
    struct G2 {
        uint256 xIm;
        uint256 xRe;
        uint256 yIm;
        uint256 yRe;
    }

    /// @notice The prime of the field.
    uint256 internal constant P = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;
    /// @notice The prime order of G1, G2 and the target group.
    uint256 internal constant R = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;

    /// @notice The generator of G1.
    uint256 internal constant G1_X = 1;
    uint256 internal constant G1_Y = 2;

    /// @notice The generator of G2.
    uint256 internal constant G2_X_IM = 0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2;
    uint256 internal constant G2_X_RE = 0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed;
    uint256 internal constant G2_Y_IM = 0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b;
    uint256 internal constant G2_Y_RE = 0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa;

    /// @notice y of the generator of G2, negated; its x is that of the generator.
    uint256 internal constant NEGATED_G2_Y_IM = 0x275dc4a288d1afb3cbb1ac09187524c7db36395df7be3b99e673b13a075a65ec;
    uint256 internal constant NEGATED_G2_Y_RE = 0x1d9befcd05a5323e6da4d435f3b617cdb3af83285c2df711ef39c01571827f9d;

    /// @notice First word of the transcript of a dual key.
    bytes32 internal constant DUAL_KEY_TAG = keccak256("quorate.bn254.dual-key");

    /// @notice Gas of EIP-1108: an addition, a multiplication, a pairing of two pairs (45,000 + 2 · 34,000).
    uint256 internal constant ADD_GAS = 150;
    uint256 internal constant MUL_GAS = 6_000;
    uint256 internal constant TWO_PAIRS_GAS = 113_000;

    error AddFailed();
    error MulFailed();
    error PairingFailed();
    error NonCanonicalY();
    error IdentityKey();
    error ZeroChallenge();

    /// @notice a + b. Complete. About 480 gas.
    /// @dev Reverts with AddFailed if a coordinate is not below P or a point is not on the curve.
    function add(G1 memory a, G1 memory b) internal view returns (G1 memory sum) {
        bool ok;
        assembly ("memory-safe") {
            let input := mload(0x40)
            mcopy(input, a, 0x40)
            mcopy(add(input, 0x40), b, 0x40)
            ok := staticcall(ADD_GAS, 0x06, input, 0x80, sum, 0x40)
            ok := and(ok, eq(returndatasize(), 0x40))
        }
        if (!ok) revert AddFailed();
    }

    /// @notice scalar · a. The scalar is any word. About 6,310 gas.
    /// @dev Reverts with MulFailed if a coordinate is not below P or the point is not on the curve.
    function mul(G1 memory a, uint256 scalar) internal view returns (G1 memory product) {
        bool ok;
        assembly ("memory-safe") {
            let input := mload(0x40)
            mcopy(input, a, 0x40)
            mstore(add(input, 0x40), scalar)
            ok := staticcall(MUL_GAS, 0x07, input, 0x60, product, 0x40)
            ok := and(ok, eq(returndatasize(), 0x40))
        }
        if (!ok) revert MulFailed();
    }

    /// @notice -a; infinity for infinity.
    /// @dev Reverts with NonCanonicalY if y is not below P. Does not check x, nor that the point is on the curve.
    function negate(G1 memory a) internal pure returns (G1 memory) {
        if (a.y >= P) revert NonCanonicalY();
        return G1(a.x, a.y == 0 ? 0 : P - a.y);
    }

    /// @notice True for an affine point of the curve with both coordinates below P; false for infinity, which is
    /// neither a key nor a signature.
    function isOnCurve(G1 memory a) internal pure returns (bool) {
        return a.x < P && a.y < P && mulmod(a.y, a.y, P) == addmod(mulmod(mulmod(a.x, a.x, P), a.x, P), 3, P);
    }

    /// @notice True for (0, 0).
    function isInfinity(G1 memory a) internal pure returns (bool) {
        return a.x | a.y == 0;
    }

    /// @notice True for four zeros.
    function isInfinity(G2 memory a) internal pure returns (bool) {
        return a.xIm | a.xRe | a.yIm | a.yRe == 0;
    }

    /// @notice True if the four coordinates are below P, as the additions of Bn254G2 ask.
    /// @dev Does not check that the point is on the twist or in the subgroup.
    function isCanonical(G2 memory a) internal pure returns (bool) {
        return a.xIm < P && a.xRe < P && a.yIm < P && a.yRe < P;
    }

    /// @notice The generator of G1.
    function generator() internal pure returns (G1 memory) {
        return G1(G1_X, G1_Y);
    }

    /// @notice The generator of G2, negated.
    function negatedG2Generator() internal pure returns (G2 memory) {
        return G2(G2_X_IM, G2_X_RE, NEGATED_G2_Y_IM, NEGATED_G2_Y_RE);
    }

    /// @notice Whether e(a, b) · e(c, d) = 1. About 113,400 gas.
    /// @dev Reverts with PairingFailed if a coordinate is not below P, a point is not on its curve or a G2 point is
    /// not in the subgroup. A pair that holds infinity counts as 1: callers refuse infinity where it has no meaning.
    function isPairingOne(G1 memory a, G2 memory b, G1 memory c, G2 memory d) internal view returns (bool one) {
        bool ok;
        assembly ("memory-safe") {
            let input := mload(0x40)
            mcopy(input, a, 0x40)
            mcopy(add(input, 0x40), b, 0x80)
            mcopy(add(input, 0xc0), c, 0x40)
            mcopy(add(input, 0x100), d, 0x80)
            ok := staticcall(TWO_PAIRS_GAS, 0x08, input, 0x180, 0x00, 0x20)
            ok := and(ok, eq(returndatasize(), 0x20))
            one := eq(mload(0x00), 1)
        }
        if (!ok) revert PairingFailed();
    }

    /// @notice Back end a: whether e(signature, -G2) · e(messageHash, key) = 1, that is signature = sk · messageHash for
    /// key = sk · G2. About 113,750 gas.
    /// @dev Reverts with IdentityKey for the identity, the key of an empty quorum, under which the identity is a
    /// signature of everything. Does not check possession of the key: that is registration's.
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

    /// @notice `isSignature` of what lies where the pairing reads it: the signature at `pairs`, the hash at pairs + 0xc0, the
    /// key at pairs + 0x100, and room between for -G2. About 113,350 gas.
    function isSignatureAt(uint256 pairs) internal view returns (bool one) {
        bool ok;
        bool identity;
        // Not memory-safe by itself: `pairs` is 0x180 bytes that the caller allocated.
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
            ok := staticcall(TWO_PAIRS_GAS, 0x08, pairs, 0x180, 0x00, 0x20)
            ok := and(ok, eq(returndatasize(), 0x20))
            one := eq(mload(0x00), 1)
        }
        if (!ok) revert PairingFailed();
    }

    /// @notice Back end b: whether e(signature + γ·key1, -G2) · e(messageHash + γ·G1, key2) = 1 for the challenge γ of
    /// all five. About 127,700 gas.
    /// @dev Let key1 = a·G1, key2 = b·G2, messageHash = h·G1, signature = s·G1. The check is
    /// (s - hb) + γ(a - b) = 0. All of a, b, h, s are fixed before γ, the hash of them, is known; so unless
    /// s = hb (the signature is true) and a = b (the keys share their exponent), at most one γ of the R passes, and
    /// a forger hits it with probability below 6/2^256 a try (a word mod R takes a value at most six times).
    /// γ = 0 is refused with ZeroChallenge: it is the value at which the check says nothing of key1, so that a key
    /// pair of the forger's own would pass by construction. An honest quorum meets it with probability 2^-253.
    /// Every input enters a precompile, which refuses coordinates that are not below P, points off the curve and (key2)
    /// out of the subgroup: so the transcript of a point is unique. Reverts with IdentityKey if a key is the identity.
    /// Does not check possession of key1's summands: that is registration's.
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

    /// @notice `isDualKeySignature` of what lies where the transcript is hashed: room for the tag at `transcript`, then the
    /// hash, key1, key2, the signature, at 0x20, 0x60, 0xa0 and 0x120; and room for the work to 0x2e0. About 126,200 gas.
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
        // The input of the pairing lies behind the transcript, and what a sum takes is written where its result goes. Not
        // memory-safe by itself: `transcript` is 0x2e0 bytes that the caller allocated.
        assembly {
            function multiplyAdd(product, x, y, scalar, summand) -> didMultiply, didAdd {
                mstore(product, x)
                mstore(add(product, 0x20), y)
                mstore(add(product, 0x40), scalar)
                didMultiply := staticcall(MUL_GAS, 0x07, product, 0x60, product, 0x40)
                didMultiply := and(didMultiply, eq(returndatasize(), 0x40))
                mcopy(add(product, 0x40), summand, 0x40)
                didAdd := staticcall(ADD_GAS, 0x06, product, 0x80, product, 0x40)
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
            // Nothing is paired if a sum failed.
            if and(multiplied, added) {
                paired := staticcall(TWO_PAIRS_GAS, 0x08, pairs, 0x180, 0x00, 0x20)
                paired := and(paired, eq(returndatasize(), 0x20))
                one := eq(mload(0x00), 1)
            }
        }
        if (!multiplied) revert MulFailed();
        if (!added) revert AddFailed();
        if (!paired) revert PairingFailed();
        return one;
    }

    /// @notice γ = keccak256(DUAL_KEY_TAG ‖ messageHash ‖ key1 ‖ key2 ‖ signature) mod R, 352 bytes hashed.
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

    /// @dev Writes the tag before what lies behind it.
    function _challengeAt(uint256 transcript) private pure returns (uint256 gamma) {
        bytes32 tag = DUAL_KEY_TAG;
        // Not memory-safe by itself: `transcript` is memory that the caller allocated.
        assembly {
            mstore(transcript, tag)
            gamma := mod(keccak256(transcript, 0x160), R)
        }
    }
}
