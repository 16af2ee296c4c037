// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {CodePages} from "./libraries/CodePages.sol";
import {KeyTable} from "./KeyTable.sol";

/// @title Quorums by their difference from one that is known
/// @notice The key of a quorum is the sum of its members' keys. A *base* is a quorum whose key and weight were computed before;
/// a ring of slots holds commitments to bases, one word each. Whoever submits a quorum names the base that is nearest to it
/// and shows what the commitment was made of; only the members in which the two differ are read, and added or taken away.
///
/// A commitment is keccak256(epoch ‖ weight ‖ key ‖ bitmap). Keys never change, so its key holds for ever; its weight holds in
/// its epoch, and in another it is summed anew over all members.
///
/// A quorum is passed as packed bytes, big-endian:
///
///     4   slot of the base, or 0xffffffff: the empty quorum, of which nothing is shown
///     4   slot to store the result in, or 0xffffffff: none
///     2   n: bytes of the base's bitmap        2   m: bytes of the quorum's bitmap
///     1   k: pages of keys                     1   w: pages of weights
///     4·(k + w)  nonces of the pages, each kind in the order of the indices they hold
///     8   epoch of the base    16  its weight    K  its key    n  its bitmap
///     m   bitmap of the quorum
///     …   the proof, as the curve wants it
///
/// Bit i of a bitmap, counted from the most significant bit of the first byte, is the member with index i; its last byte is
/// not zero, so a quorum has one bitmap. Pages are those that hold the members in which the quorums differ; a member in none
/// of them is read from storage.
///
/// Curves are below this contract: it moves bytes of keys, and they add them.
abstract contract Quorums is KeyTable {
    /// @notice Slots from this one on are stored in by whoever proves a quorum; those before it only by `_pin`.
    uint256 public immutable pinnedSlots;

    uint256 internal constant NONE = type(uint32).max;

    /// @notice Bytes of a commitment's preimage before the key: epoch and weight.
    uint256 private constant BEFORE_KEY = 24;

    bytes32 private constant POSSESSION =
        keccak256("Possession(uint256 chainId,address verifier,address owner,bytes32 keyHash)");

    mapping(uint256 slot => bytes32 commitment) private _ring;

    event BasePinned(uint256 indexed slot, uint256 from);

    error NotThisBase(uint256 slot);
    error EmptyQuorum();
    /// @notice The last byte of a bitmap is zero: the same quorum has a shorter one.
    error BitmapNotShortest();
    error KeyLength(uint256 length, uint256 expected);
    error IdentityKey();
    error QuorumTooShort(uint256 length, uint256 least);
    error SlotPinned(uint256 slot);

    constructor(uint256 pinnedSlots_) {
        pinnedSlots = pinnedSlots_;
    }

    /// @notice What a slot of the ring holds; zero where it never held anything.
    function commitmentAt(uint256 slot) external view returns (bytes32) {
        return _ring[slot];
    }

    // What a curve does. Pointers are to memory; a key there is as the table keeps it.

    /// @notice An accumulator in memory that holds the key at `key`, or the identity where `key` is 0; and where it wants the
    /// keys that are added, each in its turn.
    function _begin(uint256 key) internal view virtual returns (uint256 accumulator, uint256 operand);

    /// @notice Adds the key at `operand` to an accumulator, or takes it away; complete. May change what is at `operand`.
    function _accumulate(uint256 accumulator, uint256 operand, bool subtract) internal view virtual;

    /// @notice Writes the sum to `to`, by a hint in the proof where the curve wants one, and answers with what is left of the
    /// proof. Reverts if the sum is the identity.
    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        view
        virtual
        returns (bytes calldata rest);

    /// @notice Reverts unless the proof is an aggregate signature over all digests under the key at `key`.
    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view virtual;

    /// @dev What a quorum was cut into and how far the walk through it came, in memory: the compiler has no stack for it.
    struct Parts {
        uint256 baseSlot;
        uint256 storeSlot;
        uint256 base; // the preimage of the commitment, in memory
        uint256 baseSigners; // calldata offset
        uint256 baseBytes;
        uint256 signers; // calldata offset
        uint256 ownBytes;
        uint256 epoch;
        // Pages of keys: calldata offsets of the next nonce and of the end of all, the page that is open, the index that it
        // begins with and the one behind its last.
        uint256 nextKeys;
        uint256 endKeys;
        address keys;
        uint256 firstKey;
        uint256 lastKey;
        // The same of weights, of which the nonces lie behind those. They are in memory, the first one at `weights`.
        uint256 nextWeights;
        uint256 endWeights;
        uint256 weights;
        uint256 firstWeight;
        uint256 lastWeight;
        uint256 accumulator; // 0 until a key changes
        uint256 operand;
        uint256 weight;
        uint256 changed; // members in which the quorums differ
    }

    /// @notice Verifies that a quorum signed every digest, stores it where it says so, and answers with its bitmap and its weight
    /// in `epoch`.
    ///
    /// NOT checked: that the weight is enough, that `epoch` is one that may be used, that a digest was not settled before.
    function _settle(bytes32[] memory digests, uint256 epoch, bytes calldata quorum)
        internal
        returns (bytes calldata signers, uint256 weight)
    {
        Parts memory parts;
        parts.epoch = epoch;
        bytes calldata proof;
        (signers, proof) = _open(parts, quorum);
        _walk(parts);
        uint256 key = _baseKey(parts);
        if (parts.accumulator != 0) {
            key = _allocate(_keyBytes());
            proof = _finish(parts.accumulator, key, proof);
        }
        _check(digests, key, proof);
        weight = parts.weight;
        _keep(parts, key, signers);
    }

    /// @notice Where the result is stored, given where its aggregator wants it and how many members changed.
    function _refresh(uint256 wanted, uint256 changed) internal virtual returns (uint256 slot);

    /// @notice Gives a key an index after its owner has proved to hold its secret: by a signature, under it, over a digest of
    /// the key and the owner that no task has. Keys of which that is proved cannot be made up from others, and the curves'
    /// checks of a signature check that the key is of the right order.
    function _admit(address owner, bytes calldata key, bytes calldata proof) internal returns (uint256 index) {
        require(key.length == _keyBytes(), KeyLength(key.length, _keyBytes()));
        bytes memory copy = key;
        require(!_isZero(copy), IdentityKey());
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = possessionDigest(owner, key);
        _check(digests, _pointer(copy), proof);
        return _append(copy);
    }

    /// @notice What is signed with a key to register it for an owner.
    function possessionDigest(address owner, bytes calldata key) public view returns (bytes32) {
        return keccak256(abi.encode(POSSESSION, block.chainid, address(this), owner, keccak256(key)));
    }

    /// @notice Reverts unless a member signed a digest. The proof is 4 bytes, the nonce of the page of its key or 0 if that is
    /// in storage, and then the curve's.
    function _checkMember(bytes32 digest, uint256 index, bytes calldata proof) internal view {
        bytes memory key = _keyAt(index, uint32(bytes4(proof)));
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = digest;
        _check(digests, _pointer(key), proof[4:]);
    }

    function _isZero(bytes memory data) private pure returns (bool) {
        return keccak256(data) == keccak256(new bytes(data.length));
    }

    /// @notice Copies a base to a slot that not everybody may store in. Whoever calls this decides who may.
    function _pin(uint256 slot, uint256 from) internal {
        require(slot < pinnedSlots && _ring[from] != 0, NotThisBase(from));
        _ring[slot] = _ring[from];
        emit BasePinned(slot, from);
    }

    /// @dev Cuts the bytes of a quorum, and checks the base against its slot.
    function _open(Parts memory parts, bytes calldata quorum)
        private
        view
        returns (bytes calldata signers, bytes calldata proof)
    {
        uint256 start;
        uint256 head;
        // Bytes that `quorum` may not have, and other calldata in their place: `end` says so below.
        assembly ("memory-safe") {
            start := quorum.offset
            head := calldataload(start)
        }
        (parts.baseSlot, parts.storeSlot) = (head >> 224, uint32(head >> 192));
        (parts.baseBytes, parts.ownBytes) = (uint16(head >> 176), uint16(head >> 160));
        require(parts.ownBytes != 0, EmptyQuorum());
        uint256 preimage;
        uint256 end;
        // Unchecked: sums of a position in calldata and of lengths of two bytes.
        unchecked {
            parts.nextKeys = start + 14;
            parts.endKeys = parts.nextWeights = start + 14 + 4 * uint256(uint8(head >> 152));
            preimage = parts.endWeights = parts.nextWeights + 4 * uint256(uint8(head >> 144));
            parts.baseSigners = parts.baseSlot == NONE ? preimage : preimage + BEFORE_KEY + _keyBytes();
            parts.signers = parts.baseSigners + parts.baseBytes;
            end = parts.signers + parts.ownBytes;
            require(end <= start + quorum.length, QuorumTooShort(quorum.length, end - start));
        }
        uint256 lastByte;
        // Slices within `quorum`, whose checks that one has made.
        assembly ("memory-safe") {
            signers.length := and(shr(160, head), 0xffff)
            signers.offset := sub(end, signers.length)
            proof.offset := end
            proof.length := sub(add(start, quorum.length), end)
            lastByte := byte(31, calldataload(sub(end, 32)))
        }
        require(lastByte != 0, BitmapNotShortest());
        _openBase(parts, preimage);
    }

    /// @dev Checks the preimage of the base, from a position in calldata to the quorum's bitmap, and keeps it.
    function _openBase(Parts memory parts, uint256 preimage) private view {
        uint256 slot = parts.baseSlot;
        if (slot == NONE) {
            require(parts.baseBytes == 0, NotThisBase(NONE));
            return;
        }
        uint256 own = parts.signers;
        uint256 base;
        bytes32 commitment;
        assembly ("memory-safe") {
            let length := sub(own, preimage)
            base := mload(0x40)
            mstore(0x40, add(base, length))
            calldatacopy(base, preimage, length)
            commitment := keccak256(base, length)
        }
        require(_ring[slot] == commitment, NotThisBase(slot));
        parts.base = base;
    }

    /// @dev Goes through both bitmaps word by word, adds and takes away the keys in which they differ and sums up the weight:
    /// from the base's, or from nothing if that is of another epoch, where everybody is weighed.
    function _walk(Parts memory parts) private view {
        bool sameEpoch;
        if (parts.baseSlot != NONE) {
            (uint256 epoch, uint256 weight) = _headOf(parts.base);
            sameEpoch = epoch == parts.epoch;
            if (sameEpoch) parts.weight = weight;
        }
        uint256 most = parts.ownBytes < parts.baseBytes ? parts.baseBytes : parts.ownBytes;
        // Unchecked: below 2^17.
        unchecked {
            for (uint256 i = 0; i < most; i += 32) {
                uint256 own = _word(parts.signers, parts.ownBytes, i);
                uint256 base = _word(parts.baseSigners, parts.baseBytes, i);
                if (own != base) _accumulateWord(parts, 8 * i, own ^ base, own);
                if (!sameEpoch) base = 0;
                if (own != base) _weighWord(parts, 8 * i, own, base);
            }
        }
        // Sums of words do not overflow; a difference would have, and be larger, if the base's weight were not its members'.
        require(parts.weight <= type(uint128).max, NotThisBase(parts.baseSlot));
    }

    function _baseKey(Parts memory parts) private pure returns (uint256) {
        unchecked {
            return parts.base + BEFORE_KEY;
        }
    }

    /// @dev Epoch and weight of a base.
    function _headOf(uint256 base) private pure returns (uint256 epoch, uint256 weight) {
        assembly ("memory-safe") {
            let head := mload(base)
            epoch := shr(192, head)
            weight := shr(128, shl(64, head))
        }
    }

    /// @dev 32 bytes of a bitmap from byte `i` on, zeros behind its end.
    function _word(uint256 offset, uint256 length, uint256 i) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            if lt(i, length) {
                word := calldataload(add(offset, i))
                let left := sub(length, i)
                if lt(left, 32) {
                    let unused := shl(3, sub(32, left))
                    word := shl(unused, shr(unused, word))
                }
            }
        }
    }

    /// @dev Adds and takes away the members of a word of bitmaps, which begins at index `start`, page by page.
    function _accumulateWord(Parts memory parts, uint256 start, uint256 changed, uint256 own) private view {
        if (parts.accumulator == 0) {
            (parts.accumulator, parts.operand) = _begin(parts.baseSlot == NONE ? 0 : _baseKey(parts));
        }
        // Unchecked: indices below 2^20, positions in calldata, and a page's number of eight bytes.
        unchecked {
            while (changed != 0) {
                uint256 index = start + _leadingZeros(changed);
                while (index >= parts.lastKey && parts.nextKeys != parts.endKeys) {
                    uint256 number;
                    (parts.keys, number) = CodePages.open(_nonceAt(parts.nextKeys), KEYS);
                    parts.nextKeys += 4;
                    parts.firstKey = number >> 16;
                    parts.lastKey = parts.firstKey + uint16(number);
                }
                if (index >= parts.firstKey && index < parts.lastKey) {
                    uint256 here = changed & _before(parts.lastKey, start);
                    changed ^= here;
                    parts.changed += _accumulatePage(parts, start, here, own);
                } else {
                    _readTail(index, parts.operand);
                    uint256 bit = _bit(index - start);
                    changed ^= bit;
                    parts.changed++;
                    _accumulate(parts.accumulator, parts.operand, own & bit == 0);
                }
            }
        }
    }

    /// @dev Adds and takes away members whose keys the open page holds, and counts them.
    function _accumulatePage(Parts memory parts, uint256 start, uint256 members, uint256 own)
        private
        view
        returns (uint256 count)
    {
        (uint256 accumulator, uint256 operand, address page) = (parts.accumulator, parts.operand, parts.keys);
        uint256 size = _keyBytes();
        uint256 first;
        // The key of the word's first index, before the page where that begins later: from there on every sum is of a member
        // in the page, so that the detour below zero is undone.
        unchecked {
            first = CodePages.HEADER + (start - parts.firstKey) * size;
        }
        while (members != 0) {
            uint256 bit;
            // Assembly, because each member that changed runs this: one copy from the page, to where the curve reads it. 146 gas and
            // the copy.
            assembly ("memory-safe") {
                let place := clz(members)
                bit := shr(place, shl(255, 1))
                members := xor(members, bit)
                extcodecopy(page, operand, add(first, mul(place, size)), size)
                count := add(count, 1)
            }
            _accumulate(accumulator, operand, own & bit == 0);
        }
    }

    /// @dev Weighs the members of a word of bitmaps that are in one of both, page by page. An index that has no weight in its
    /// epoch's page, since it is younger, weighs nothing.
    function _weighWord(Parts memory parts, uint256 start, uint256 own, uint256 base) private view {
        uint256 changed = own ^ base;
        // Unchecked: indices below 2^20; the word's first weight, before the page where that begins later, as above; and sums of
        // words of 64 bits, of which `_walk` checks the last.
        unchecked {
            while (changed != 0) {
                uint256 index = start + _leadingZeros(changed);
                while (index >= parts.lastWeight && parts.nextWeights != parts.endWeights) {
                    _openWeights(parts, index);
                }
                require(index >= parts.firstWeight && index < parts.lastWeight, NoWeight(parts.epoch, index));
                uint256 here = changed & _before(parts.lastWeight, start);
                changed ^= here;
                uint256 first = parts.weights + (start - parts.firstWeight) * 8;
                parts.weight = parts.weight + _total(here & own, first) - _total(here & base, first);
            }
        }
    }

    /// @dev The whole page, as far as the bitmaps reach, in one copy: 3 gas a word and as much for its memory, four members a
    /// word, where a copy a member takes 100. So it is cheaper from the first member on up to 64 in the page and from the second
    /// up to 128, and for 1,000 members it takes 1,600.
    function _openWeights(Parts memory parts, uint256 index) private view {
        // Unchecked: small numbers, positions in calldata and memory.
        unchecked {
            uint256 count = 8 * (parts.ownBytes < parts.baseBytes ? parts.baseBytes : parts.ownBytes);
            if (count > WEIGHTS_A_PAGE) count = WEIGHTS_A_PAGE;
            if (parts.weights == 0) parts.weights = _allocate(CodePages.HEADER + 8 * count) + CodePages.HEADER;
            uint256 nonce = _nonceAt(parts.nextWeights);
            uint256 number = CodePages.load(nonce, WEIGHTS, 8 * count, parts.weights - CodePages.HEADER);
            require(number >> 16 == parts.epoch, NoWeight(parts.epoch, index));
            parts.nextWeights += 4;
            parts.firstWeight = uint16(number) * WEIGHTS_A_PAGE;
            parts.lastWeight = parts.firstWeight + count;
        }
    }

    /// @dev The weights of members, of which the first index of their word has its weight at `first`.
    function _total(uint256 members, uint256 first) private pure returns (uint256 total) {
        // Assembly, because each member that is weighed runs this: 93 gas.
        assembly ("memory-safe") {
            for {} members {} {
                let place := clz(members)
                members := xor(members, shr(place, shl(255, 1)))
                total := add(total, shr(192, mload(add(first, shl(3, place)))))
            }
        }
    }

    function _leadingZeros(uint256 word) private pure returns (uint256 zeros) {
        assembly ("memory-safe") {
            zeros := clz(word)
        }
    }

    /// @dev The bit of a bitmap's word at a place.
    function _bit(uint256 place) private pure returns (uint256) {
        return (1 << 255) >> place;
    }

    /// @dev The bits of a word, which begins at index `start`, before an index that is larger.
    function _before(uint256 index, uint256 start) private pure returns (uint256) {
        unchecked {
            return ~(type(uint256).max >> (index - start));
        }
    }

    function _nonceAt(uint256 next) private pure returns (uint256 nonce) {
        assembly ("memory-safe") {
            nonce := shr(224, calldataload(next))
        }
    }

    /// @dev Commits to the result, if and where it is to be stored: 24 bytes, its key, its bitmap.
    function _keep(Parts memory parts, uint256 key, bytes calldata signers) private {
        uint256 slot = _refresh(parts.storeSlot, parts.changed);
        if (slot == NONE) return;
        require(slot >= pinnedSlots, SlotPinned(slot));
        uint256 size = _keyBytes();
        uint256 head = parts.epoch << 128 | parts.weight;
        bytes32 commitment;
        assembly ("memory-safe") {
            let preimage := mload(0x40)
            // Of this word 8 bytes too many, where the key comes next.
            mstore(preimage, shl(64, head))
            mcopy(add(preimage, 24), key, size)
            calldatacopy(add(add(preimage, 24), size), signers.offset, signers.length)
            commitment := keccak256(preimage, add(add(24, size), signers.length))
        }
        _ring[slot] = commitment;
    }

    function _pointer(bytes memory data) internal pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := add(data, 0x20)
        }
    }

    /// @dev Room in memory, which may hold anything.
    function _allocate(uint256 size) internal pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := mload(0x40)
            mstore(0x40, add(pointer, size))
        }
    }
}
