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
    uint256 internal constant NONE = 0xffff;

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

    /// @notice `_accumulate` for each of the members in a word of a bitmap, of which those in `own` are added. Their keys are in a
    /// page, whose address the lowest bits of `page` are, and that of the word's first index lies in it at `first`.
    function _accumulatePaged(uint256 sum, uint256 operand, uint256 page, uint256 first, uint256 members, uint256 own)
        internal
        view
        virtual;

    /// @notice Writes the sum's key to `to`, and answers with where in calldata the rest of the proof begins. Reverts if it is the
    /// identity.
    function _finish(uint256 sum, uint256 to, bytes calldata proof) internal view virtual returns (uint256 rest);

    /// @notice Reverts unless the proof is an aggregate signature over all digests under the key at `key`.
    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view virtual;

    /// @dev What a quorum was cut into. In memory: the compiler has no stack for it.
    struct Parts {
        uint256 head; // the first word of its bytes: slots and lengths
        uint256 base; // the preimage of the base's commitment, in memory; 0 for the empty quorum
        uint256 result; // that of the quorum's own, or the base's: its key is there once it was proved
        uint256 preimage; // calldata offsets: behind the nonces,
        uint256 signers; // of the quorum's bitmap, which may be the base's,
        uint256 proof;
        uint256 end;
        uint256 baseBytes; // of the bitmaps
        uint256 ownBytes;
    }

    /// @dev How far a walk through pages of weights came.
    struct Pages {
        uint256 next; // calldata offset of the next nonce
        uint256 end; // and of the end of all
        uint256 page; // the payload of the page that is open, in memory
        uint256 first; // the index that it begins with
        uint256 last; // and the one behind its last
    }

    function _baseSlot(Parts memory parts) internal pure returns (uint256) {
        return parts.head >> 240;
    }

    function _storeSlot(Parts memory parts) internal pure returns (uint256) {
        return uint16(parts.head >> 224);
    }

    /// @dev 32 bytes of both bitmaps, of the quorum and of its base.
    function _words(Parts memory parts, uint256 i) private pure returns (uint256 own, uint256 base) {
        own = _word(parts.signers, parts.ownBytes, i);
        unchecked {
            base = _word(parts.preimage + BEFORE_KEY + _keyBytes(), parts.baseBytes, i);
        }
    }

    /// @dev Bytes of the longer bitmap.
    function _mostBytes(Parts memory parts) private pure returns (uint256) {
        (uint256 own, uint256 base) = (parts.ownBytes, parts.baseBytes);
        return own < base ? base : own;
    }

    /// @dev Whether the quorum has a bitmap of its own.
    function _changes(Parts memory parts) private pure returns (bool) {
        return uint16(parts.head >> 192) != 0;
    }

    /// @notice Whether the quorum is its base, and that was weighed in this epoch.
    function _isWeighed(Parts memory parts, uint256 epoch) internal pure returns (bool) {
        return !_changes(parts) && _weighedIn(parts, epoch);
    }

    /// @notice How many pages of weights are named.
    function _weightPages(Parts memory parts) internal pure returns (uint256) {
        return uint8(parts.head >> 176);
    }

    /// @dev How many pages of keys are named.
    function _keyPages(Parts memory parts) private pure returns (uint256) {
        return uint8(parts.head >> 184);
    }

    /// @notice Proves that a quorum signed every digest.
    function _prove(Parts memory parts, bytes32[] memory digests) internal view {
        if (_changes(parts)) _sum(parts);
        _check(digests, _keyOf(parts.result), _proofOf(parts));
    }

    /// @dev What is left of the proof.
    function _proofOf(Parts memory parts) private pure returns (bytes calldata proof) {
        (uint256 offset, uint256 end) = (parts.proof, parts.end);
        assembly ("memory-safe") {
            proof.offset := offset
            proof.length := sub(end, offset)
        }
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
        uint256 beforeBitmap;
        unchecked {
            beforeBitmap = BEFORE_KEY + _keyBytes();
        }
        bool formed;
        // Assembly, because every settlement runs this. Sums of a position in calldata and of lengths of two bytes. What is read
        // behind the end of `quorum` is other calldata, and then it is not formed.
        assembly ("memory-safe") {
            let head := calldataload(quorum.offset)
            mstore(parts, head)
            let preimage := add(add(quorum.offset, 10), shl(2, add(byte(8, head), byte(9, head))))
            mstore(add(parts, 0x60), preimage)
            let lengths := and(shr(192, head), 0xffffffff)
            let next := preimage
            // The empty quorum has no bitmap: the lengths are m.
            formed := lt(lengths, 0x10000)
            if lt(shr(240, head), NONE) {
                formed := 1
                next := add(add(preimage, beforeBitmap), shr(16, lengths))
                let length := sub(next, preimage)
                let base := mload(0x40)
                mstore(0x40, add(base, length))
                calldatacopy(base, preimage, length)
                commitment := keccak256(base, length)
                mstore(add(parts, 0x20), base)
                mstore(add(parts, 0x40), base)
            }
            mstore(add(parts, 0xe0), shr(16, lengths))
            let own := and(lengths, 0xffff)
            let signers := next
            switch own
            case 0 {
                own := shr(16, lengths)
                signers := sub(next, own)
            }
            default { next := add(next, own) }
            mstore(add(parts, 0x80), signers)
            mstore(add(parts, 0x100), own)
            mstore(add(parts, 0xa0), next)
            let end := add(quorum.offset, quorum.length)
            mstore(add(parts, 0xc0), end)
            // A last byte of zero is that of no bitmap, or of one that is not the shortest.
            formed := and(and(formed, iszero(gt(next, end))), lt(signers, next))
            formed := mul(formed, and(calldataload(sub(next, 32)), 0xff))
        }
        if (!formed) _refuse(parts, quorum.length);
    }

    /// @dev Says what is wrong with the bytes of a quorum.
    function _refuse(Parts memory parts, uint256 length) private pure {
        uint256 lengths = uint32(parts.head >> 192);
        require(lengths != 0, EmptyQuorum());
        require(_baseSlot(parts) != NONE || lengths <= type(uint16).max, NotThisBase(NONE));
        // The start is so many bytes before the end.
        uint256 least = length + parts.proof - parts.end;
        require(least <= length, QuorumTooShort(length, least));
        revert BitmapNotShortest();
    }

    /// @notice Reverts unless the slot of the base holds what was shown of it. Of the empty quorum nothing was.
    function _checkBase(Parts memory parts, bytes32 commitment) internal view {
        uint256 slot = _baseSlot(parts);
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
        if (fromBase && !_changes(parts)) return weight;
        Pages memory pages;
        _name(pages, parts.preimage, _weightPages(parts));
        uint256 most = _mostBytes(parts);
        // Unchecked: below 2^17; sums of words of 64 bits.
        unchecked {
            for (uint256 i = 0; i < most; i += 32) {
                (uint256 own, uint256 base) = _words(parts, i);
                if (!fromBase) base = 0;
                if (own != base) weight += _weighWord(pages, epoch, 8 * most, 8 * i, own, base);
            }
        }
        // Sums of words do not overflow; a difference would have, and be larger, if the base's weight were not its members'.
        require(weight <= type(uint96).max, NotThisBase(_baseSlot(parts)));
    }

    /// @notice How many signers have an index below `members`. About 200 gas for each 256 indices.
    function _count(Parts memory parts, uint256 members) internal pure returns (uint256 count) {
        (uint256 signers, uint256 length) = (parts.signers, parts.ownBytes);
        // Unchecked: below 2^25.
        unchecked {
            uint256 most = (members + 7) >> 3;
            if (length > most) length = most;
            for (uint256 i = 0; i < length; i += 32) {
                count += _ones(_word(signers, length, i) & _before(members, 8 * i));
            }
        }
    }

    /// @notice In how many members the quorum and its base differ.
    function _distance(Parts memory parts) internal pure returns (uint256 distance) {
        uint256 most = _mostBytes(parts);
        // Unchecked: below 2^20.
        unchecked {
            for (uint256 i = 0; i < most; i += 32) {
                (uint256 own, uint256 base) = _words(parts, i);
                distance += _ones(own ^ base);
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
    /// the keys in which they differ, page by page.
    function _sum(Parts memory parts) private view {
        (uint256 sum, uint256 operand) = _begin(parts.base == 0 ? 0 : _keyOf(parts.base), _proofOf(parts));
        uint256 most = _mostBytes(parts);
        uint256 any = 0;
        // The page that is open: its number of 64 bits and its address; and how many are named and were not opened.
        uint256 page = 0;
        uint256 pages = _keyPages(parts);
        // Unchecked: indices below 2^20, positions in calldata, and a page's number of eight bytes.
        unchecked {
            for (uint256 i = 0; i < most; i += 32) {
                (uint256 own, uint256 changed) = _words(parts, i);
                changed ^= own;
                any |= changed;
                while (changed != 0) {
                    uint256 index = 8 * i + _leadingZeros(changed);
                    uint256 last = (page >> 176) + uint16(page >> 160);
                    if (index >= last && pages != 0) {
                        page = _openKeys(parts, pages--);
                    } else if (index >= page >> 176 && index < last) {
                        uint256 here = changed & _before(last, 8 * i);
                        changed ^= here;
                        _accumulatePaged(sum, operand, page, _firstKey(page, 8 * i), here, own);
                    } else {
                        _readTail(index, operand);
                        uint256 bit = _bit(index - 8 * i);
                        changed ^= bit;
                        _accumulate(sum, operand, own & bit == 0);
                    }
                }
            }
            require(any != 0, NothingChanged());
            parts.result = _allocate(BEFORE_KEY + _keyBytes() + parts.ownBytes);
        }
        parts.proof = _finish(sum, _keyOf(parts.result), _proofOf(parts));
    }

    /// @dev The number and the address of a page of keys, of which so many are named from it on.
    function _openKeys(Parts memory parts, uint256 pages) private view returns (uint256) {
        unchecked {
            uint256 nonce = _nonceAt(parts.preimage - 4 * (_weightPages(parts) + pages));
            (address page, uint256 number) = CodePages.open(nonce, KEYS);
            return number << 160 | uint160(page);
        }
    }

    /// @dev Where in a page the key of a word's first index is: before the page where that begins later. From there on every sum is
    /// of a member in the page, so that the detour below zero is undone.
    function _firstKey(uint256 page, uint256 start) private pure returns (uint256) {
        unchecked {
            return CodePages.HEADER + (start - (page >> 176)) * _keyBytes();
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
            // A shift by 256 or more is to 0, so that all of a whole word is taken.
            let others := shr(shl(3, sub(length, i)), not(0))
            word := mul(lt(i, length), and(calldataload(add(offset, i)), not(others)))
        }
    }

    /// @dev How many bits of a word are one: sums of 2, 4, 8 and 16 bits, and of all sixteens by one product.
    function _ones(uint256 word) internal pure returns (uint256 count) {
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

    /// @dev The pages of which the nonces end at a position in calldata.
    function _name(Pages memory pages, uint256 end, uint256 count) private pure {
        unchecked {
            (pages.next, pages.end) = (end - 4 * count, end);
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
