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

    function pack(
        Base memory base,
        uint256 store,
        uint256[] memory keyPages,
        uint256[] memory weightPages,
        bytes memory signers,
        bytes memory proof
    ) internal pure returns (bytes memory) {
        bytes memory own = same(base.signers, signers) ? bytes("") : signers;
        return packOwn(base, store, keyPages, weightPages, own, proof);
    }

    /// @notice Packs a quorum with the bytes of the bitmap as they are, even if they are the base's.
    function packOwn(
        Base memory base,
        uint256 store,
        uint256[] memory keyPages,
        uint256[] memory weightPages,
        bytes memory own,
        bytes memory proof
    ) internal pure returns (bytes memory quorum) {
        quorum = abi.encodePacked(
            uint16(base.slot),
            uint16(store),
            uint16(base.signers.length),
            uint16(own.length),
            uint8(keyPages.length),
            uint8(weightPages.length)
        );
        for (uint256 i = 0; i < keyPages.length; i++) {
            quorum = abi.encodePacked(quorum, uint32(keyPages[i]));
        }
        for (uint256 i = 0; i < weightPages.length; i++) {
            quorum = abi.encodePacked(quorum, uint32(weightPages[i]));
        }
        quorum = abi.encodePacked(quorum, preimage(base), own, proof);
    }
}
