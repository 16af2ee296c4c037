// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @notice Makes bitmaps and packed quorums as an aggregator does, in plain Solidity.
library Members {
    uint256 internal constant NEWEST = 0;
    uint256 internal constant NONE = type(uint16).max;

    /// @notice A quorum whose key is known. Epoch and weight are 0 if it was not weighed.
    struct Base {
        uint256 slot;
        uint32 epoch;
        uint96 weight;
        bytes key;
        bytes signers;
    }

    function empty() internal pure returns (Base memory base) {
        base.slot = NONE;
    }

    /// @notice The shortest bitmap of the members that are marked.
    function bitmap(bool[] memory members) internal pure returns (bytes memory bits) {
        uint256 length = members.length;
        while (length > 0 && !members[length - 1]) length--;
        bits = new bytes((length + 7) / 8);
        for (uint256 i = 0; i < length; i++) {
            if (members[i]) bits[i / 8] |= bytes1(uint8(0x80 >> (i % 8)));
        }
    }

    function contains(bytes memory bits, uint256 index) internal pure returns (bool) {
        return index / 8 < bits.length && uint8(bits[index / 8]) & (0x80 >> (index % 8)) != 0;
    }

    /// @notice One digest as what a signature is over.
    function only(bytes32 digest) internal pure returns (bytes32[] memory digests) {
        digests = new bytes32[](1);
        digests[0] = digest;
    }

    function same(bytes memory a, bytes memory b) internal pure returns (bool) {
        return keccak256(a) == keccak256(b);
    }

    function preimage(Base memory base) internal pure returns (bytes memory) {
        return base.slot == NONE ? bytes("") : abi.encodePacked(base.epoch, base.weight, base.key, base.signers);
    }

    /// @notice The commitment that a slot holds; 0 for the empty quorum.
    function commitment(Base memory base) internal pure returns (bytes32) {
        return base.slot == NONE ? bytes32(0) : keccak256(preimage(base));
    }

    /// @notice What a quorum passes in calldata beside its base: keys that no page holds, and weights.
    struct Passed {
        uint256 keys;
        bytes keyBytes;
        bytes weightBytes;
    }

    function pack(
        Base memory base,
        uint256 store,
        uint256[] memory keyPages,
        uint256[] memory weightParts,
        bytes memory signers,
        bytes memory proof
    ) internal pure returns (bytes memory) {
        return pack(base, store, keyPages, weightParts, Passed(0, "", ""), signers, proof);
    }

    function pack(
        Base memory base,
        uint256 store,
        uint256[] memory keyPages,
        uint256[] memory weightParts,
        Passed memory passed,
        bytes memory signers,
        bytes memory proof
    ) internal pure returns (bytes memory) {
        bytes memory own = same(base.signers, signers) ? bytes("") : signers;
        return packOwn(base, store, keyPages, weightParts, passed, own, proof);
    }

    /// @notice Packs a quorum with the bytes of the bitmap as they are, even if they are the base's.
    function packOwn(
        Base memory base,
        uint256 store,
        uint256[] memory keyPages,
        uint256[] memory weightParts,
        Passed memory passed,
        bytes memory own,
        bytes memory proof
    ) internal pure returns (bytes memory quorum) {
        quorum = abi.encodePacked(
            uint16(base.slot),
            uint16(store),
            uint16(base.signers.length),
            uint16(own.length),
            uint8(keyPages.length),
            uint8(weightParts.length),
            uint8(passed.keys)
        );
        for (uint256 i = 0; i < keyPages.length; i++) {
            quorum = abi.encodePacked(quorum, uint32(keyPages[i]));
        }
        for (uint256 i = 0; i < weightParts.length; i++) {
            quorum = abi.encodePacked(quorum, uint32(weightParts[i]));
        }
        quorum = abi.encodePacked(quorum, passed.keyBytes, passed.weightBytes, preimage(base), own, proof);
    }

    /// @notice Weights in 8 bytes each.
    function packWeights(uint64[] memory weights) internal pure returns (bytes memory packed) {
        packed = new bytes(8 * weights.length);
        for (uint256 i = 0; i < weights.length; i++) {
            uint256 weight = weights[i];
            // The word ends with the weight. Its first 24 bytes keep what was written before.
            assembly {
                let word := add(packed, add(8, mul(8, i)))
                mstore(word, or(shl(64, shr(64, mload(word))), weight))
            }
        }
    }

    /// @notice The toy curve's keys of secrets that follow each other.
    function toyKeys(uint256 first, uint256 count) internal pure returns (bytes memory keys) {
        keys = new bytes(64 * count);
        for (uint256 i = 0; i < count; i++) {
            writeToyKey(keys, i, first + i);
        }
    }

    /// @notice Writes the toy curve's key of a secret.
    function writeToyKey(bytes memory keys, uint256 i, uint256 secret) internal pure {
        assembly {
            let to := add(add(keys, 0x20), mul(64, i))
            mstore(to, secret)
            mstore(add(to, 0x20), not(secret))
        }
    }

    /// @notice The bytes of part `part` of packed weights.
    function partOf(bytes memory packed, uint256 part) internal pure returns (bytes memory bytes_) {
        uint256 first = part * 8 * 2048;
        uint256 length = packed.length - first < 8 * 2048 ? packed.length - first : 8 * 2048;
        bytes_ = new bytes(length);
        assembly {
            mcopy(add(bytes_, 0x20), add(add(packed, 0x20), first), length)
        }
    }
}
