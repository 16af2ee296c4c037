// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bitmaps} from "./Bitmaps.sol";
import {KeyTable} from "./KeyTable.sol";
import {Ring} from "./Ring.sol";

/// @title The bytes of a quorum
/// @notice A quorum is passed as packed bytes. Numbers are big-endian; the left column counts bytes:
///
///     2   slot of the base. 0xffff means: start from the empty quorum, and pass nothing of a base
///     2   slot in which the contract shall store the quorum as a base. 0xffff means: do not store it
///     2   n: bytes of the base's bitmap
///     2   m: bytes of the quorum's bitmap. 0 means: the quorum has the base's members
///     1   k: number of pages of keys
///     1   w: number of parts of weights
///     1   t: number of keys in calldata
///     4·k nonces of the pages of keys, by rising indices
///     4·w for each part of weights, by rising indices: the nonce of its page; or, with the top bit set, the number of
///         bytes of its weights in calldata
///     K·t keys, by rising indices: those of the changed members that no named page holds
///     …   the parts of weights in calldata, in their order
///     4   epoch of the base        these four only with a base
///     12  its weight
///     K   its key
///     n   its bitmap
///     m   the quorum's bitmap
///     …   the proof, in the format of the curve
///
/// Bit i of a bitmap, counted from the most significant bit of the first byte, stands for the member with index i. The
/// last byte of a bitmap must not be zero, so that every quorum has exactly one bitmap.
abstract contract QuorumBytes is KeyTable, Bitmaps, Ring {
    /// @notice Bytes that stand before the key in what a commitment hashes: 4 of the epoch and 12 of the weight.
    uint256 internal constant BEFORE_KEY = 16;

    /// @notice The quorum has no members.
    error EmptyQuorum();
    /// @notice The last byte of a bitmap is zero, so the same quorum has a shorter bitmap.
    error BitmapNotShortest();
    /// @notice The bytes of a quorum end before its proof begins.
    /// @param length Bytes that were passed.
    /// @param least Bytes up to the beginning of the proof, by the lengths that the first bytes name.
    error QuorumTooShort(uint256 length, uint256 least);

    /// @dev The parts of a packed quorum. The struct lies in memory, since the compiler's stack has no room for it.
    struct Parts {
        uint256 head; // the first 32 of the quorum's bytes, with both slots and all lengths
        uint256 base; // memory: what the base's commitment hashes; 0 for the empty quorum
        uint256 result; // memory: the same for the quorum, once its key is computed; until then the base's
        uint256 nonces; // calldata: where the pages' nonces begin
        uint256 keys; // calldata: the next key
        uint256 weights; // calldata: where the keys end and the weights begin
        uint256 preimage; // calldata: where the weights end and the base begins
        uint256 signers; // calldata: the quorum's bitmap, which is the base's if it has none of its own
        uint256 proof; // calldata: where the proof begins
        uint256 end; // calldata: where the proof ends
        uint256 baseBytes; // length of the base's bitmap
        uint256 ownBytes; // length of the quorum's bitmap
        uint256 table; // the key table whose indices the bitmaps mean; 0 until the caller sets it
    }

    /// @notice Cuts the bytes of a quorum into its parts.
    /// @dev NOT checked: that a slot holds the commitment. That is the caller's duty.
    /// @param quorum The packed bytes.
    /// @return parts The parts.
    /// @return commitment The hash of what was passed of the base; 0 for the empty quorum.
    function _open(bytes calldata quorum) internal pure returns (Parts memory parts, bytes32 commitment) {
        uint256 keyBytes = _keyBytes();
        bool formed;
        // Assembly, because every settlement runs this. The sums cannot overflow: each adds a position in calldata and
        // at most 255 lengths below 2^31. A read beyond the end of `quorum` finds other calldata, and then `formed`
        // becomes 0.
        assembly ("memory-safe") {
            let head := calldataload(quorum.offset)
            mstore(parts, head)
            let next := add(quorum.offset, 11)
            mstore(add(parts, 0x60), next)
            next := add(next, shl(2, add(byte(8, head), byte(9, head))))
            let entry := sub(next, shl(2, byte(9, head)))
            let entries := next
            mstore(add(parts, 0x80), next)
            next := add(next, mul(keyBytes, byte(10, head)))
            mstore(add(parts, 0xa0), next)
            for {} lt(entry, entries) { entry := add(entry, 4) } {
                let word := calldataload(entry)
                next := add(next, mul(shr(255, word), shr(225, shl(1, word))))
            }
            mstore(add(parts, 0xc0), next)
            let lengths := and(shr(192, head), 0xffffffff)
            // The empty quorum passes no base's bitmap, so n is zero and both lengths together are m.
            formed := lt(lengths, 0x10000)
            if lt(shr(240, head), NONE) {
                formed := 1
                let preimage := next
                next := add(add(preimage, add(BEFORE_KEY, keyBytes)), shr(16, lengths))
                let length := sub(next, preimage)
                let base := mload(0x40)
                mstore(0x40, add(base, length))
                calldatacopy(base, preimage, length)
                commitment := keccak256(base, length)
                mstore(add(parts, 0x20), base)
                mstore(add(parts, 0x40), base)
            }
            mstore(add(parts, 0x140), shr(16, lengths))
            let own := and(lengths, 0xffff)
            let signers := next
            switch own
            case 0 {
                own := shr(16, lengths)
                signers := sub(next, own)
            }
            default { next := add(next, own) }
            mstore(add(parts, 0xe0), signers)
            mstore(add(parts, 0x160), own)
            mstore(add(parts, 0x100), next)
            let end := add(quorum.offset, quorum.length)
            mstore(add(parts, 0x120), end)
            // The last byte of the bitmap is zero if the bitmap is not the shortest.
            formed := and(and(formed, iszero(gt(next, end))), lt(signers, next))
            formed := mul(formed, and(calldataload(sub(next, 32)), 0xff))
        }
        if (!formed) _refuse(parts, quorum.length);
    }

    /// @dev Reverts with the error that says what is wrong with the bytes of a quorum.
    function _refuse(Parts memory parts, uint256 length) private pure {
        uint256 lengths = uint32(parts.head >> 192);
        require(lengths != 0, EmptyQuorum());
        if (_baseSlot(parts) == NONE && lengths > type(uint16).max) _notThisBase(NONE);
        // The proof should begin at `parts.proof`, and the bytes end at `parts.end`.
        uint256 least;
        unchecked {
            least = length + parts.proof - parts.end;
        }
        require(least <= length, QuorumTooShort(length, least));
        revert BitmapNotShortest();
    }

    /// @dev The slot of the base.
    function _baseSlot(Parts memory parts) internal pure returns (uint256) {
        return parts.head >> 240;
    }

    /// @dev The slot in which the quorum shall be stored.
    function _storeSlot(Parts memory parts) internal pure returns (uint256) {
        return uint16(parts.head >> 224);
    }

    /// @dev Whether the quorum passes a bitmap of its own.
    function _changes(Parts memory parts) internal pure returns (bool) {
        return uint16(parts.head >> 192) != 0;
    }

    /// @dev How many pages of keys the quorum names.
    function _keyPages(Parts memory parts) internal pure returns (uint256) {
        return uint8(parts.head >> 184);
    }

    /// @notice How many parts of weights the quorum names.
    function _weightParts(Parts memory parts) internal pure returns (uint256) {
        return uint8(parts.head >> 176);
    }

    /// @dev The 32 bytes from byte `i` on of the quorum's bitmap and of its base's. Bytes behind an end are zero.
    function _words(Parts memory parts, uint256 i) internal pure returns (uint256 own, uint256 base) {
        own = _word(parts.signers, parts.ownBytes, i);
        unchecked {
            base = _word(parts.preimage + BEFORE_KEY + _keyBytes(), parts.baseBytes, i);
        }
    }

    /// @dev Length of the longer of the two bitmaps.
    function _mostBytes(Parts memory parts) internal pure returns (uint256) {
        (uint256 own, uint256 base) = (parts.ownBytes, parts.baseBytes);
        return own < base ? base : own;
    }

    /// @notice The quorum's bitmap.
    function _signersOf(Parts memory parts) internal pure returns (bytes calldata signers) {
        (uint256 offset, uint256 length) = (parts.signers, parts.ownBytes);
        assembly ("memory-safe") {
            signers.offset := offset
            signers.length := length
        }
    }

    /// @dev The part of the proof that was not read yet.
    function _proofOf(Parts memory parts) internal pure returns (bytes calldata proof) {
        (uint256 offset, uint256 end) = (parts.proof, parts.end);
        assembly ("memory-safe") {
            proof.offset := offset
            proof.length := sub(end, offset)
        }
    }

    /// @dev The first 16 bytes of what a commitment hashes: the epoch above 96 bits of weight.
    function _headOf(uint256 preimage) internal pure returns (uint256 head) {
        assembly ("memory-safe") {
            head := shr(128, mload(preimage))
        }
    }

    /// @dev Where the key lies in what a commitment hashes.
    function _keyOf(uint256 preimage) internal pure returns (uint256) {
        unchecked {
            return preimage + BEFORE_KEY;
        }
    }

    /// @dev Whether there is a base that was weighed in this epoch. Epoch 0 stands for "not weighed".
    function _weighedIn(Parts memory parts, uint256 epoch) internal pure returns (bool) {
        if (parts.base == 0) return false;
        uint256 weighed = _headOf(parts.base) >> 96;
        return weighed != 0 && weighed == epoch;
    }

    /// @notice Whether the quorum has the base's members, and the base was weighed in this epoch.
    function _isWeighed(Parts memory parts, uint256 epoch) internal pure returns (bool) {
        return !_changes(parts) && _weighedIn(parts, epoch);
    }
}
