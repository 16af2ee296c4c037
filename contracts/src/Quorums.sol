// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {CodePages} from "./libraries/CodePages.sol";
import {KeyTable} from "./KeyTable.sol";

/// @title Quorums by their difference from one that is known
/// @notice The key of a quorum is the sum of its members' keys. A *base* is a quorum whose key was computed before; whoever submits
/// a quorum names the base that is nearest to it and shows what its commitment was made of; only the members in which the two
/// differ are read, and added or taken away. Commitments are one word each, in the slots of a ring; where the base of slot 0, the
/// newest, is kept, the derived contract may choose.
///
/// A commitment is keccak256(epoch ‖ weight ‖ key ‖ bitmap). Keys never change, so its key holds for ever; its weight holds in
/// its epoch, and in another it is summed anew over all members. Epoch 0 says that the base was not weighed.
///
/// A quorum is passed as packed bytes, big-endian:
///
///     2   slot of the base, or 0xffff: the empty quorum, of which nothing is shown
///     2   slot to store the result in, or 0xffff: none
///     2   n: bytes of the base's bitmap
///     2   m: bytes of the quorum's bitmap, or 0: the quorum is the base
///     1   k: pages of keys                     1   w: pages of weights
///     4·(k + w)  nonces of the pages, each kind in the order of the indices they hold
///     4   epoch of the base    12  its weight    K  its key    n  its bitmap
///     m   bitmap of the quorum
///     …   the proof, as the curve wants it
///
/// Bit i of a bitmap, counted from the most significant bit of the first byte, is the member with index i; its last byte is
/// not zero, so a quorum has one bitmap. Pages are those that hold the members in which the quorums differ; a member in none
/// of them is read from storage.
///
/// Curves are below this contract: it moves bytes of keys, and they add them.
abstract contract Quorums is KeyTable {
    /// @notice Slots from 1 to this one are stored in by `_pin` only, the others by whoever proves a quorum.
    uint256 public immutable pinnedSlots;

    /// @notice The slot of the newest base.
    uint256 internal constant NEWEST = 0;
    uint256 internal constant NONE = type(uint16).max;

    /// @notice Bytes of a commitment's preimage before the key: epoch and weight.
    uint256 private constant BEFORE_KEY = 16;

    bytes32 private constant POSSESSION =
        keccak256("Possession(uint256 chainId,address verifier,address owner,bytes32 keyHash)");

    mapping(uint256 slot => bytes32 commitment) private _ring;

    event BasePinned(uint256 indexed slot, uint256 from);

    error NotThisBase(uint256 slot);
    error EmptyQuorum();
    /// @notice A bitmap of its own, but the base's members.
    error NothingChanged();
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

    /// @notice A sum in memory that begins with the key at `key`, or the identity where `key` is 0; and where it wants the keys
    /// that are added, each in its turn. The proof may help with the additions.
    function _begin(uint256 key, bytes calldata proof) internal view virtual returns (uint256 sum, uint256 operand);

    /// @notice Adds the key at `operand` to a sum, or takes it away. May change what is at `operand`.
    function _accumulate(uint256 sum, uint256 operand, bool subtract) internal view virtual;

    /// @notice `_accumulate` for members of a word of a bitmap, whose keys are in a page, in which that of the word's first index
    /// lies at `first`. `_accumulateEach` does it; a curve for which the calls show writes it out.
    function _accumulatePaged(uint256 sum, uint256 operand, address page, uint256 first, uint256 members, uint256 own)
        internal
        view
        virtual;

    /// @notice Writes the sum's key to `to`, and answers with what is left of the proof. Reverts if it is the identity.
    function _finish(uint256 sum, uint256 to, bytes calldata proof) internal view virtual returns (bytes calldata rest);

    /// @notice Reverts unless the proof is an aggregate signature over all digests under the key at `key`.
    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view virtual;

    /// @dev What a quorum was cut into. In memory: the compiler has no stack for it.
    struct Parts {
        uint256 baseSlot;
        uint256 storeSlot;
        bool changes; // it has a bitmap of its own
        uint256 base; // the preimage of the base's commitment, in memory; 0 for the empty quorum
        uint256 baseSigners; // calldata offset
        uint256 baseBytes;
        uint256 signers; // calldata offset
        uint256 ownBytes;
        uint256 nonces; // calldata offset: pages of keys
        uint256 weightNonces; // calldata offset
        uint256 endNonces; // calldata offset
        uint256 proof; // calldata offset
        uint256 proofBytes;
        uint256 result; // the base's preimage, or that of the quorum: its key is there once it was proved
    }

    /// @dev How far a walk through pages came.
    struct Pages {
        uint256 next; // calldata offset of the next nonce
        uint256 end; // and of the end of all
        uint256 page; // the page that is open: its address; or its payload in memory
        uint256 first; // the index that it begins with
        uint256 last; // and the one behind its last
    }

    /// @notice Whether the quorum is another than its base, or the base was not weighed in this epoch.
    function _needsWeights(Parts memory parts, uint256 epoch) internal pure returns (bool) {
        return parts.changes || !_weighedIn(parts, epoch);
    }

    /// @notice Whether pages of weights are named.
    function _hasWeights(Parts memory parts) internal pure returns (bool) {
        return parts.endNonces != parts.weightNonces;
    }

    /// @notice Proves that a quorum signed every digest.
    function _prove(Parts memory parts, bytes32[] memory digests) internal view {
        bytes calldata proof;
        (uint256 offset, uint256 length) = (parts.proof, parts.proofBytes);
        assembly ("memory-safe") {
            proof.offset := offset
            proof.length := length
        }
        if (parts.changes) proof = _sum(parts, proof);
        _check(digests, _keyOf(parts.result), proof);
    }

    /// @notice Stores a quorum that was proved in a slot of the ring, with its weight in an epoch, or with epoch 0 and none.
    function _store(Parts memory parts, uint256 slot, uint256 epoch, uint256 weight) internal {
        require(slot == NEWEST || slot > pinnedSlots, SlotPinned(slot));
        _ring[slot] = _commitment(parts, epoch, weight);
    }

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
        require(slot != NEWEST && slot <= pinnedSlots && _ring[from] != 0, NotThisBase(from));
        _ring[slot] = _ring[from];
        emit BasePinned(slot, from);
    }

    /// @notice Cuts the bytes of a quorum, and hashes what they show of the base: 0 for the empty quorum. Whether that is what
    /// a slot holds the caller has to check.
    function _open(bytes calldata quorum) internal pure returns (Parts memory parts, bytes32 commitment) {
        uint256 start;
        uint256 head;
        // Bytes that `quorum` may not have, and other calldata in their place: `end` says so below.
        assembly ("memory-safe") {
            start := quorum.offset
            head := calldataload(start)
        }
        (parts.baseSlot, parts.storeSlot) = (head >> 240, uint16(head >> 224));
        (uint256 baseBytes, uint256 ownBytes) = (uint16(head >> 208), uint16(head >> 192));
        parts.baseBytes = baseBytes;
        uint256 end;
        // Unchecked: sums of a position in calldata and of lengths of two bytes.
        unchecked {
            uint256 at = start + 10;
            parts.nonces = at;
            at += 4 * uint256(uint8(head >> 184));
            parts.weightNonces = at;
            at += 4 * uint256(uint8(head >> 176));
            parts.endNonces = at;
            end = parts.baseSlot == NONE ? at : at + BEFORE_KEY + _keyBytes();
            (parts.baseSigners, parts.signers) = (end, end);
            end += baseBytes;
            if (ownBytes == 0) {
                parts.ownBytes = baseBytes;
                require(baseBytes != 0, EmptyQuorum());
            } else {
                (parts.changes, parts.signers, parts.ownBytes) = (true, end, ownBytes);
                end += ownBytes;
            }
            require(end <= start + quorum.length, QuorumTooShort(quorum.length, end - start));
            (parts.proof, parts.proofBytes) = (end, start + quorum.length - end);
        }
        uint256 lastByte;
        assembly ("memory-safe") {
            lastByte := byte(31, calldataload(sub(end, 32)))
        }
        require(lastByte != 0, BitmapNotShortest());
        if (parts.baseSlot == NONE) {
            require(baseBytes == 0, NotThisBase(NONE));
            return (parts, 0);
        }
        uint256 preimage = parts.endNonces;
        uint256 base;
        assembly ("memory-safe") {
            base := mload(0x40)
        }
        unchecked {
            uint256 length = parts.baseSigners + baseBytes - preimage;
            assembly ("memory-safe") {
                mstore(0x40, add(base, length))
                calldatacopy(base, preimage, length)
                commitment := keccak256(base, length)
            }
        }
        (parts.base, parts.result) = (base, base);
    }

    /// @notice Reverts unless the slot of the base holds what was shown of it. Of the empty quorum nothing was.
    function _checkBase(Parts memory parts, bytes32 commitment) internal view {
        uint256 slot = parts.baseSlot;
        require(slot == NONE || _ring[slot] == commitment, NotThisBase(slot));
    }

    /// @notice The quorum's bitmap.
    function _signersOf(Parts memory parts) internal pure returns (bytes calldata signers) {
        (uint256 offset, uint256 length) = (parts.signers, parts.ownBytes);
        assembly ("memory-safe") {
            signers.offset := offset
            signers.length := length
        }
    }

    /// @notice The sum of the signers' weights in an epoch: from the base's, or from nothing if that was not weighed in this
    /// epoch. 93 gas for each member that is weighed.
    function _weigh(Parts memory parts, uint256 epoch) internal view returns (uint256 weight) {
        bool fromBase = _weighedIn(parts, epoch);
        if (fromBase) weight = _headOf(parts.base) & type(uint96).max;
        if (fromBase && !parts.changes) return weight;
        Pages memory pages;
        (pages.next, pages.end) = (parts.weightNonces, parts.endNonces);
        uint256 most = parts.ownBytes < parts.baseBytes ? parts.baseBytes : parts.ownBytes;
        // Unchecked: below 2^17; sums of words of 64 bits.
        unchecked {
            for (uint256 i = 0; i < most; i += 32) {
                uint256 own = _word(parts.signers, parts.ownBytes, i);
                uint256 base = fromBase ? _word(parts.baseSigners, parts.baseBytes, i) : 0;
                if (own != base) weight += _weighWord(pages, epoch, 8 * most, 8 * i, own, base);
            }
        }
        // Sums of words do not overflow; a difference would have, and be larger, if the base's weight were not its members'.
        require(weight <= type(uint96).max, NotThisBase(parts.baseSlot));
    }

    /// @notice How many signers have an index below `members`. About 200 gas for each 256 indices.
    function _count(Parts memory parts, uint256 members) internal pure returns (uint256 count) {
        // Unchecked: below 2^20.
        unchecked {
            for (uint256 i = 0; i < parts.ownBytes; i += 32) {
                uint256 word = _word(parts.signers, parts.ownBytes, i);
                if (8 * i + 256 > members) word &= 8 * i < members ? _before(members, 8 * i) : 0;
                count += _ones(word);
            }
        }
    }

    /// @notice In how many members the quorum and its base differ.
    function _distance(Parts memory parts) internal pure returns (uint256 distance) {
        uint256 most = parts.ownBytes < parts.baseBytes ? parts.baseBytes : parts.ownBytes;
        // Unchecked: below 2^20.
        unchecked {
            for (uint256 i = 0; i < most; i += 32) {
                distance += _ones(
                    _word(parts.signers, parts.ownBytes, i) ^ _word(parts.baseSigners, parts.baseBytes, i)
                );
            }
        }
    }

    /// @notice What commits to a quorum that was proved, with its weight in an epoch, or with epoch 0 and none.
    function _commitment(Parts memory parts, uint256 epoch, uint256 weight) internal pure returns (bytes32 commitment) {
        uint256 result = parts.result;
        (uint256 signers, uint256 length) = (parts.signers, parts.ownBytes);
        uint256 bitmap = _keyOf(result) + _keyBytes();
        assembly ("memory-safe") {
            // The 16 bytes behind the head are the key's.
            mstore(result, or(shl(128, or(shl(96, epoch), weight)), shr(128, shl(128, mload(result)))))
            calldatacopy(bitmap, signers, length)
            commitment := keccak256(result, sub(add(bitmap, length), result))
        }
    }

    /// @dev The key of the quorum to a preimage of its own: goes through both bitmaps word by word, and adds and takes away
    /// the keys in which they differ.
    function _sum(Parts memory parts, bytes calldata proof) private view returns (bytes calldata) {
        Pages memory pages;
        (pages.next, pages.end) = (parts.nonces, parts.weightNonces);
        (uint256 sum, uint256 operand) = _begin(parts.base == 0 ? 0 : _keyOf(parts.base), proof);
        bool any;
        uint256 most = parts.ownBytes < parts.baseBytes ? parts.baseBytes : parts.ownBytes;
        // Unchecked: below 2^17.
        unchecked {
            for (uint256 i = 0; i < most; i += 32) {
                uint256 own = _word(parts.signers, parts.ownBytes, i);
                uint256 changed = own ^ _word(parts.baseSigners, parts.baseBytes, i);
                if (changed != 0) {
                    any = true;
                    _sumWord(pages, sum, operand, 8 * i, changed, own);
                }
            }
            require(any, NothingChanged());
            parts.result = _allocate(BEFORE_KEY + _keyBytes() + parts.ownBytes);
        }
        return _finish(sum, _keyOf(parts.result), proof);
    }

    /// @dev Adds and takes away the members of a word of bitmaps, which begins at index `start`, page by page.
    function _sumWord(Pages memory pages, uint256 sum, uint256 operand, uint256 start, uint256 changed, uint256 own)
        private
        view
    {
        uint256 size = _keyBytes();
        // Unchecked: indices below 2^20, positions in calldata, and a page's number of eight bytes.
        unchecked {
            while (changed != 0) {
                uint256 index = start + _leadingZeros(changed);
                while (index >= pages.last && pages.next != pages.end) {
                    (address page, uint256 number) = CodePages.open(_nonceAt(pages.next), KEYS);
                    pages.next += 4;
                    (pages.page, pages.first) = (uint160(page), number >> 16);
                    pages.last = pages.first + uint16(number);
                }
                if (index >= pages.first && index < pages.last) {
                    uint256 here = changed & _before(pages.last, start);
                    changed ^= here;
                    // The key of the word's first index, before the page where that begins later: from there on every sum is of a
                    // member in the page, so that the detour below zero is undone.
                    uint256 first = CodePages.HEADER + (start - pages.first) * size;
                    _accumulatePaged(sum, operand, address(uint160(pages.page)), first, here, own);
                } else {
                    _readTail(index, operand);
                    uint256 bit = _bit(index - start);
                    changed ^= bit;
                    _accumulate(sum, operand, own & bit == 0);
                }
            }
        }
    }

    /// @dev `_accumulatePaged` by one `_accumulate` for each member.
    function _accumulateEach(uint256 sum, uint256 operand, address page, uint256 first, uint256 members, uint256 own)
        internal
        view
    {
        uint256 size = _keyBytes();
        while (members != 0) {
            uint256 bit;
            // Assembly, because each member that changed runs this: one copy from the page, to where the curve reads it.
            assembly ("memory-safe") {
                let place := clz(members)
                bit := shr(place, shl(255, 1))
                members := xor(members, bit)
                extcodecopy(page, operand, add(first, mul(place, size)), size)
            }
            _accumulate(sum, operand, own & bit == 0);
        }
    }

    /// @dev What the members of a word of bitmaps that are in one of both add to the weight, page by page; modulo 2^256. An index
    /// that has no weight in its epoch's page, since it is younger, weighs nothing.
    function _weighWord(Pages memory pages, uint256 epoch, uint256 reach, uint256 start, uint256 own, uint256 base)
        private
        view
        returns (uint256 weight)
    {
        uint256 changed = own ^ base;
        // Unchecked: indices below 2^20; the word's first weight, before the page where that begins later, as above; and sums of
        // words of 64 bits, of which `_weigh` checks the last.
        unchecked {
            while (changed != 0) {
                uint256 index = start + _leadingZeros(changed);
                while (index >= pages.last && pages.next != pages.end) {
                    _openWeights(pages, epoch, reach, index);
                }
                require(index >= pages.first && index < pages.last, NoWeight(epoch, index));
                uint256 here = changed & _before(pages.last, start);
                changed ^= here;
                uint256 first = pages.page + (start - pages.first) * 8;
                weight = weight + _total(here & own, first) - _total(here & base, first);
            }
        }
    }

    /// @dev The whole page, as far as the bitmaps reach, in one copy: 3 gas a word and as much for its memory, four members a
    /// word, where a copy a member takes 100. So it is cheaper from the first member on up to 64 in the page and from the second
    /// up to 128, and for 1,000 members it takes 1,600.
    function _openWeights(Pages memory pages, uint256 epoch, uint256 reach, uint256 index) private view {
        // Unchecked: small numbers, positions in calldata and memory.
        unchecked {
            uint256 count = reach > WEIGHTS_A_PAGE ? WEIGHTS_A_PAGE : reach;
            if (pages.page == 0) pages.page = _allocate(CodePages.HEADER + 8 * count) + CodePages.HEADER;
            uint256 number = CodePages.load(_nonceAt(pages.next), WEIGHTS, 8 * count, pages.page - CodePages.HEADER);
            require(number >> 16 == epoch, NoWeight(epoch, index));
            pages.next += 4;
            pages.first = uint16(number) * WEIGHTS_A_PAGE;
            pages.last = pages.first + count;
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

    function _weighedIn(Parts memory parts, uint256 epoch) private pure returns (bool) {
        if (parts.base == 0) return false;
        uint256 weighed = _headOf(parts.base) >> 96;
        return weighed != 0 && weighed == epoch;
    }

    /// @dev Epoch, above 96 bits of weight, of a commitment's preimage.
    function _headOf(uint256 preimage) private pure returns (uint256 head) {
        assembly ("memory-safe") {
            head := shr(128, mload(preimage))
        }
    }

    /// @dev Where the key is in a commitment's preimage.
    function _keyOf(uint256 preimage) private pure returns (uint256) {
        unchecked {
            return preimage + BEFORE_KEY;
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

    /// @dev How many bits of a word are one: sums of 2, 4, 8 and 16 bits, and of all sixteens by one product.
    function _ones(uint256 word) private pure returns (uint256 count) {
        assembly ("memory-safe") {
            word := sub(word, and(shr(1, word), 0x5555555555555555555555555555555555555555555555555555555555555555))
            let fours := 0x3333333333333333333333333333333333333333333333333333333333333333
            word := add(and(word, fours), and(shr(2, word), fours))
            word := and(add(word, shr(4, word)), 0x0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f)
            word := and(add(word, shr(8, word)), 0x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff)
            count := shr(240, mul(word, 0x0001000100010001000100010001000100010001000100010001000100010001))
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
