// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {CodePages} from "./libraries/CodePages.sol";
import {KeyTable} from "./KeyTable.sol";

/// @title The keys of quorums, computed from the keys of quorums that the contract already knows
/// @notice A quorum is a set of members who signed together. Its aggregate key is the sum of its members' keys. Suppose
/// members 0 to 99 signed the last result, and members 0 to 98 sign the next one. The contract knows the first sum, so
/// it subtracts one key to get the second and does not add 99 keys again.
///
/// A *base* is a quorum whose aggregate key the contract computed earlier. The contract stores one word for each base,
/// its commitment:
///
///     commitment = keccak256(epoch ‖ weight ‖ key ‖ bitmap)
///
/// Commitments lie in the numbered slots of a ring. Whoever submits a quorum chooses a base that differs from it in few
/// members, and passes what the base's commitment was computed from. The contract checks the hash. Then it reads the
/// keys of the members in which the two quorums differ, and adds or subtracts them. Slot 0 holds the *newest* base; a
/// derived contract may keep that commitment elsewhere.
///
/// Keys never change, so the key of a base stays right for ever. Its weight is right in its epoch only; in another
/// epoch all members are weighed again. Epoch 0 in a commitment says that the base was not weighed.
///
/// A quorum is passed as packed bytes. Numbers are big-endian; the left column counts bytes:
///
///     2   slot of the base. 0xffff means: start from the empty quorum, and pass nothing of a base
///     2   slot in which the contract shall store the quorum as a base. 0xffff means: do not store it
///     2   n: bytes of the base's bitmap
///     2   m: bytes of the quorum's bitmap. 0 means: the quorum has the base's members
///     1   k: number of pages of keys
///     1   w: number of pages of weights
///     4·(k + w)  nonces of the pages: first those of keys, then those of weights, each kind by rising indices
///     4   epoch of the base        these four only with a base
///     12  its weight
///     K   its key
///     n   its bitmap
///     m   the quorum's bitmap
///     …   the proof, in the format of the curve
///
/// Bit i of a bitmap, counted from the most significant bit of the first byte, stands for the member with index i. The
/// last byte of a bitmap must not be zero, so that every quorum has exactly one bitmap.
///
/// A *page* is a contract whose code is data (`CodePages`). The named pages hold the keys of the members in which the
/// two quorums differ. The contract reads from storage the key of a member whom no named page holds.
///
/// This contract does not know the curve: it moves keys as bytes, and the contracts in `curves/` do the arithmetic.
abstract contract Quorums is KeyTable {
    /// @notice Slots 1 to `pinnedSlots` are pinned: only `_pin` writes them. Whoever proves a quorum may write the
    /// others.
    uint256 public immutable pinnedSlots;

    /// @notice The slot of the newest base.
    uint256 internal constant NEWEST = 0;
    /// @notice The slot number that means "no slot".
    uint256 internal constant NONE = 0xffff;

    /// @notice Bytes that stand before the key in what a commitment hashes: 4 of the epoch and 12 of the weight.
    uint256 private constant BEFORE_KEY = 16;

    /// @dev Type of the digest that a proof of possession signs.
    bytes32 private constant POSSESSION =
        keccak256("Possession(uint256 chainId,address verifier,address owner,bytes32 keyHash)");

    /// @dev The commitment of each slot; zero while the slot has held none.
    mapping(uint256 slot => bytes32 commitment) private _ring;

    /// @notice A commitment was copied to a pinned slot.
    /// @param slot The pinned slot.
    /// @param from The slot that was copied.
    event BasePinned(uint256 indexed slot, uint256 from);

    /// @notice The bytes that were passed are not those of the base in this slot, or the call does not take a base from
    /// this slot. Also: a base's bitmap was passed with the empty quorum; `_pin` was called with a slot that is not
    /// pinned, or with an empty one to copy.
    /// @param slot The slot of the base; 0xffff for the empty quorum; in `_pin`, the slot to copy.
    error NotThisBase(uint256 slot);
    /// @notice The quorum has no members.
    error EmptyQuorum();
    /// @notice The quorum passes a bitmap of its own, but has the base's members. Pass no bitmap (m = 0) in that case.
    error NothingChanged();
    /// @notice The last byte of a bitmap is zero, so the same quorum has a shorter bitmap.
    error BitmapNotShortest();
    /// @notice A key has the wrong length for this curve.
    /// @param length Bytes of the key.
    /// @param expected Bytes that a key of this curve has.
    error KeyLength(uint256 length, uint256 expected);
    /// @notice The key is the identity of the group, under which everyone can sign.
    error IdentityKey();
    /// @notice The bytes of a quorum end before its proof begins.
    /// @param length Bytes that were passed.
    /// @param least Bytes up to the beginning of the proof, by the lengths that the first bytes name.
    error QuorumTooShort(uint256 length, uint256 least);
    /// @notice Only `_pin` writes this slot.
    /// @param slot The slot in which the quorum should have been stored.
    error SlotPinned(uint256 slot);

    /// @param pinnedSlots_ How many slots are pinned: slots 1 to this number.
    constructor(uint256 pinnedSlots_) {
        pinnedSlots = pinnedSlots_;
    }

    /// @notice The commitment that a slot of the ring holds.
    /// @param slot The slot's number.
    /// @return The commitment; zero if nothing was ever stored in the slot.
    function commitmentAt(uint256 slot) external view returns (bytes32) {
        return _ring[slot];
    }

    // The contracts in `curves/` implement the next functions. All pointers are to memory, where a key has the format
    // of the key table.

    /// @notice Begins a sum of keys.
    /// @param key Where the key to begin with lies; 0 to begin with the identity.
    /// @param proof The quorum's proof, which may hold hints for the additions.
    /// @return sum Where the sum lies.
    /// @return operand Where the caller has to write each key before it calls `_accumulate`.
    function _begin(uint256 key, bytes calldata proof) internal view virtual returns (uint256 sum, uint256 operand);

    /// @notice Adds the key at `operand` to a sum, or subtracts it. May overwrite the key at `operand`.
    /// @param sum The sum, from `_begin`.
    /// @param operand The place of the key, from `_begin`.
    /// @param subtract Whether the key is subtracted.
    function _accumulate(uint256 sum, uint256 operand, bool subtract) internal view virtual;

    /// @notice Does what `_accumulate` does for several members whose keys lie in one page. All of them belong to one
    /// word (256 bits) of a bitmap.
    /// @param sum The sum, from `_begin`.
    /// @param operand The place of a key, from `_begin`.
    /// @param page The page: its address is in the lowest 160 bits, and the other bits may hold anything.
    /// @param first Offset in the page's code at which the key of the word's first index lies, or would lie.
    /// @param members The members to add or to subtract, as bits of the word.
    /// @param own The quorum's word of the bitmap. Members whose bit is set in it are added, the others subtracted.
    function _accumulatePaged(uint256 sum, uint256 operand, uint256 page, uint256 first, uint256 members, uint256 own)
        internal
        view
        virtual;

    /// @notice Ends a sum. Reverts if the sum is the identity.
    /// @param sum The sum, from `_begin`.
    /// @param to Where the sum is written as a key.
    /// @param proof The quorum's proof.
    /// @return rest Calldata offset at which the rest of the proof begins, behind the hints that the sum took.
    function _finish(uint256 sum, uint256 to, bytes calldata proof) internal view virtual returns (uint256 rest);

    /// @notice Reverts unless the proof is an aggregate signature over all digests.
    /// @param digests What was signed; at least one.
    /// @param key Where the aggregate key lies.
    /// @param proof The signature, and what else the curve's check needs.
    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view virtual;

    /// @dev The parts of a packed quorum. The struct lies in memory, since the compiler's stack has no room for it.
    struct Parts {
        uint256 head; // the first 32 of the quorum's bytes, with both slots and all lengths
        uint256 base; // memory: what the base's commitment hashes; 0 for the empty quorum
        uint256 result; // memory: the same for the quorum, once its key is computed; until then the base's
        uint256 preimage; // calldata: where the pages' nonces end and the base begins
        uint256 signers; // calldata: the quorum's bitmap, which is the base's if it has none of its own
        uint256 proof; // calldata: where the proof begins
        uint256 end; // calldata: where the proof ends
        uint256 baseBytes; // length of the base's bitmap
        uint256 ownBytes; // length of the quorum's bitmap
    }

    /// @dev A walk through the named pages of weights.
    struct Pages {
        uint256 next; // calldata: the next nonce
        uint256 end; // calldata: where the nonces end
        uint256 page; // memory: the payload of the page that is open
        uint256 first; // the index whose weight is the first of the page
        uint256 last; // one more than the index of the last weight that was copied from the page
    }

    /// @dev The slot of the base.
    function _baseSlot(Parts memory parts) internal pure returns (uint256) {
        return parts.head >> 240;
    }

    /// @dev The slot in which the quorum shall be stored.
    function _storeSlot(Parts memory parts) internal pure returns (uint256) {
        return uint16(parts.head >> 224);
    }

    /// @dev The 32 bytes from byte `i` on of the quorum's bitmap and of its base's. Bytes behind an end are zero.
    function _words(Parts memory parts, uint256 i) private pure returns (uint256 own, uint256 base) {
        own = _word(parts.signers, parts.ownBytes, i);
        unchecked {
            base = _word(parts.preimage + BEFORE_KEY + _keyBytes(), parts.baseBytes, i);
        }
    }

    /// @dev Length of the longer of the two bitmaps.
    function _mostBytes(Parts memory parts) private pure returns (uint256) {
        (uint256 own, uint256 base) = (parts.ownBytes, parts.baseBytes);
        return own < base ? base : own;
    }

    /// @dev Whether the quorum passes a bitmap of its own.
    function _changes(Parts memory parts) private pure returns (bool) {
        return uint16(parts.head >> 192) != 0;
    }

    /// @notice Whether the quorum has the base's members, and the base was weighed in this epoch.
    function _isWeighed(Parts memory parts, uint256 epoch) internal pure returns (bool) {
        return !_changes(parts) && _weighedIn(parts, epoch);
    }

    /// @notice How many pages of weights the quorum names.
    function _weightPages(Parts memory parts) internal pure returns (uint256) {
        return uint8(parts.head >> 176);
    }

    /// @dev How many pages of keys the quorum names.
    function _keyPages(Parts memory parts) private pure returns (uint256) {
        return uint8(parts.head >> 184);
    }

    /// @notice Reverts unless the quorum signed every digest. Computes the quorum's key first if its members are not
    /// the base's.
    /// @dev NOT checked: the base (`_checkBase`), and the quorum's weight.
    function _prove(Parts memory parts, bytes32[] memory digests) internal view {
        if (_changes(parts)) _sum(parts);
        _check(digests, _keyOf(parts.result), _proofOf(parts));
    }

    /// @dev The part of the proof that was not read yet.
    function _proofOf(Parts memory parts) private pure returns (bytes calldata proof) {
        (uint256 offset, uint256 end) = (parts.proof, parts.end);
        assembly ("memory-safe") {
            proof.offset := offset
            proof.length := sub(end, offset)
        }
    }

    /// @notice Stores a quorum that was proved in a slot of the ring.
    /// @param parts The quorum, after `_prove`.
    /// @param slot The slot; reverts if it is pinned.
    /// @param epoch The epoch in which the quorum was weighed; 0 if it was not.
    /// @param weight The quorum's weight in that epoch; 0 if it was not weighed.
    function _store(Parts memory parts, uint256 slot, uint256 epoch, uint256 weight) internal {
        require(slot == NEWEST || slot > pinnedSlots, SlotPinned(slot));
        _ring[slot] = _commitment(parts, epoch, weight);
    }

    /// @notice Gives a key an index, after a proof that its owner holds the secret key: a signature with it over a
    /// digest of the key and the owner. No result and no task has this digest. The proof excludes rogue keys, which are
    /// computed from other members' keys and whose secret nobody knows. The check of the signature also checks that the
    /// key lies on the curve and has order r.
    /// @param owner Who proves possession; the digest names this address.
    /// @param key The key.
    /// @param proof The signature, and what else the curve's check needs.
    /// @return index The key's index, which no other key ever gets.
    function _admit(address owner, bytes calldata key, bytes calldata proof) internal returns (uint256 index) {
        require(key.length == _keyBytes(), KeyLength(key.length, _keyBytes()));
        bytes memory copy = key;
        require(!_isZero(copy), IdentityKey());
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = possessionDigest(owner, key);
        _check(digests, _pointer(copy), proof);
        return _append(copy);
    }

    /// @notice The digest that a key's owner signs with it to register it.
    /// @param owner The owner.
    /// @param key The key.
    /// @return The digest. It names this chain and this contract.
    function possessionDigest(address owner, bytes calldata key) public view returns (bytes32) {
        return keccak256(abi.encode(POSSESSION, block.chainid, address(this), owner, keccak256(key)));
    }

    /// @notice Reverts unless one member signed a digest.
    /// @param digest What was signed.
    /// @param index The member's index.
    /// @param proof Four bytes, the nonce of the page that holds the member's key, or 0 if storage holds it; then the
    /// signature, and what else the curve's check needs.
    function _checkMember(bytes32 digest, uint256 index, bytes calldata proof) internal view {
        bytes memory key = _keyAt(index, uint32(bytes4(proof)));
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = digest;
        _check(digests, _pointer(key), proof[4:]);
    }

    /// @dev Whether all bytes are zero.
    function _isZero(bytes memory data) private pure returns (bool) {
        return keccak256(data) == keccak256(new bytes(data.length));
    }

    /// @notice Copies a base to a pinned slot. The caller of this function decides who may do that.
    /// @param slot A pinned slot.
    /// @param from The slot to copy, which must not be empty.
    function _pin(uint256 slot, uint256 from) internal {
        require(slot != NEWEST && slot <= pinnedSlots && _ring[from] != 0, NotThisBase(from));
        _ring[slot] = _ring[from];
        emit BasePinned(slot, from);
    }

    /// @notice Cuts the bytes of a quorum into its parts.
    /// @dev NOT checked: that a slot holds the commitment. That is the caller's duty (`_checkBase`).
    /// @param quorum The packed bytes.
    /// @return parts The parts.
    /// @return commitment The hash of what was passed of the base; 0 for the empty quorum.
    function _open(bytes calldata quorum) internal pure returns (Parts memory parts, bytes32 commitment) {
        uint256 beforeBitmap;
        unchecked {
            beforeBitmap = BEFORE_KEY + _keyBytes();
        }
        bool formed;
        // Assembly, because every settlement runs this. The sums cannot overflow: each adds a position in calldata and
        // a few lengths of two bytes. A read beyond the end of `quorum` finds other calldata, and then `formed` becomes
        // 0.
        assembly ("memory-safe") {
            let head := calldataload(quorum.offset)
            mstore(parts, head)
            let preimage := add(add(quorum.offset, 10), shl(2, add(byte(8, head), byte(9, head))))
            mstore(add(parts, 0x60), preimage)
            let lengths := and(shr(192, head), 0xffffffff)
            let next := preimage
            // The empty quorum passes no base's bitmap, so n is zero and both lengths together are m.
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
        require(_baseSlot(parts) != NONE || lengths <= type(uint16).max, NotThisBase(NONE));
        // The proof should begin at `parts.proof`, and the bytes end at `parts.end`.
        uint256 least = length + parts.proof - parts.end;
        require(least <= length, QuorumTooShort(length, least));
        revert BitmapNotShortest();
    }

    /// @notice Reverts unless the slot of the base holds this commitment. Accepts the empty quorum, which has no base.
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

    /// @notice The sum of the signers' weights in an epoch. Starts from the base's weight if the base was weighed in
    /// this epoch, and otherwise from zero. Each member that it weighs costs 93 gas.
    function _weigh(Parts memory parts, uint256 epoch) internal view returns (uint256 weight) {
        bool fromBase = _weighedIn(parts, epoch);
        if (fromBase) weight = _headOf(parts.base) & type(uint96).max;
        if (fromBase && !_changes(parts)) return weight;
        Pages memory pages;
        _name(pages, parts.preimage, _weightPages(parts));
        uint256 most = _mostBytes(parts);
        // Unchecked: indices are below 2^20, since a bitmap has fewer than 2^16 bytes. `weight` is computed modulo
        // 2^256.
        unchecked {
            for (uint256 i = 0; i < most; i += 32) {
                (uint256 own, uint256 base) = _words(parts, i);
                if (!fromBase) base = 0;
                if (own != base) weight += _weighWord(pages, epoch, 8 * most, 8 * i, own, base);
            }
        }
        // Fewer than 2^20 weights of 64 bits add up to less than 2^96. A difference below zero would have wrapped
        // around to a larger number; a commitment that holds the sum of its members' weights never leads there.
        require(weight <= type(uint96).max, NotThisBase(_baseSlot(parts)));
    }

    /// @notice How many signers have an index below `members`. Costs about 300 gas for each 256 indices.
    function _count(Parts memory parts, uint256 members) internal pure returns (uint256 count) {
        (uint256 signers, uint256 length) = (parts.signers, parts.ownBytes);
        // Unchecked: `members` has 24 bits, so every number here is below 2^25.
        unchecked {
            uint256 most = (members + 7) >> 3;
            if (length > most) length = most;
            for (uint256 i = 0; i < length; i += 32) {
                count += _ones(_word(signers, length, i) & _before(members, 8 * i));
            }
        }
    }

    /// @notice The number of members in which the quorum and its base differ.
    function _distance(Parts memory parts) internal pure returns (uint256 distance) {
        uint256 most = _mostBytes(parts);
        // Unchecked: a bitmap has fewer than 2^16 bytes, so every number here is below 2^20.
        unchecked {
            for (uint256 i = 0; i < most; i += 32) {
                (uint256 own, uint256 base) = _words(parts, i);
                distance += _ones(own ^ base);
            }
        }
    }

    /// @notice The commitment of a quorum that was proved.
    /// @param parts The quorum, after `_prove`.
    /// @param epoch The epoch in which the quorum was weighed; 0 if it was not.
    /// @param weight The quorum's weight in that epoch; 0 if it was not weighed.
    /// @return commitment The commitment.
    function _commitment(Parts memory parts, uint256 epoch, uint256 weight) internal pure returns (bytes32 commitment) {
        uint256 result = parts.result;
        (uint256 signers, uint256 length) = (parts.signers, parts.ownBytes);
        uint256 bitmap = _keyOf(result) + _keyBytes();
        assembly ("memory-safe") {
            // Only the first 16 bytes of the word change: the 16 behind them belong to the key.
            mstore(result, or(shl(128, or(shl(96, epoch), weight)), shr(128, shl(128, mload(result)))))
            calldatacopy(bitmap, signers, length)
            commitment := keccak256(result, sub(add(bitmap, length), result))
        }
    }

    /// @dev Computes the quorum's key. Walks through both bitmaps word by word and, within a word, page by page; adds
    /// the keys of the members who came and subtracts the keys of those who left.
    function _sum(Parts memory parts) private view {
        (uint256 sum, uint256 operand) = _begin(parts.base == 0 ? 0 : _keyOf(parts.base), _proofOf(parts));
        uint256 most = _mostBytes(parts);
        uint256 any = 0;
        // `page` is the open page: its header's number of 64 bits above its address. `pages` counts the named pages
        // that were not opened yet.
        uint256 page = 0;
        uint256 pages = _keyPages(parts);
        // Unchecked: indices are below 2^20. The other numbers are positions in calldata and the header of a page.
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

    /// @dev Opens a page of keys. Of the named pages, `pages` were not opened yet, and this is the first of them.
    /// @return The number in the page's header, above the page's address.
    function _openKeys(Parts memory parts, uint256 pages) private view returns (uint256) {
        unchecked {
            uint256 nonce = _nonceAt(parts.preimage - 4 * (_weightPages(parts) + pages));
            (address page, uint256 number) = CodePages.open(nonce, KEYS);
            return number << 160 | uint160(page);
        }
    }

    /// @dev Offset in a page at which the key of a word's first index lies. It is negative, modulo 2^256, if the page
    /// begins with a later index. Callers add the offset of a member that the page holds, and the sum is a valid offset
    /// again.
    function _firstKey(uint256 page, uint256 start) private pure returns (uint256) {
        unchecked {
            return CodePages.HEADER + (start - (page >> 176)) * _keyBytes();
        }
    }

    /// @dev The weights of the members who are in the quorum's word alone, minus the weights of those who are in the
    /// base's word alone, modulo 2^256. An index that is younger than the epoch's weights weighs nothing.
    /// @param pages The pages of weights.
    /// @param epoch The epoch.
    /// @param reach Number of bits in the longer bitmap: no index beyond it is read.
    /// @param start The index of the word's first bit.
    /// @param own The quorum's word.
    /// @param base The base's word.
    /// @return weight The difference.
    function _weighWord(Pages memory pages, uint256 epoch, uint256 reach, uint256 start, uint256 own, uint256 base)
        private
        view
        returns (uint256 weight)
    {
        uint256 changed = own ^ base;
        // Unchecked: indices are below 2^20. `first` may be negative, modulo 2^256, as in `_firstKey`. The difference
        // is computed modulo 2^256, and `_weigh` checks the result.
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

    /// @dev Opens the next page of weights and copies it, as far as the bitmaps reach. Copying takes 3 gas a word and
    /// memory as much again, and a word holds four weights. Copying each wanted weight alone would take 100 gas. So one
    /// copy is cheaper even for one weight if the bitmaps reach no more than 64 indices into the page, and for two
    /// weights up to 128 indices. A copy of 1,000 weights takes 1,600 gas.
    function _openWeights(Pages memory pages, uint256 epoch, uint256 reach, uint256 index) private view {
        // Unchecked: small numbers, and positions in calldata and in memory.
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

    /// @dev The sum of the members' weights.
    /// @param members The members, as bits of a word of the bitmap.
    /// @param first Where in memory the weight of the word's first index lies, or would lie.
    function _total(uint256 members, uint256 first) private pure returns (uint256 total) {
        // Assembly, because every weighed member runs this: 93 gas.
        assembly ("memory-safe") {
            for {} members {} {
                let place := clz(members)
                members := xor(members, shr(place, shl(255, 1)))
                total := add(total, shr(192, mload(add(first, shl(3, place)))))
            }
        }
    }

    /// @dev Whether there is a base that was weighed in this epoch. Epoch 0 stands for "not weighed".
    function _weighedIn(Parts memory parts, uint256 epoch) private pure returns (bool) {
        if (parts.base == 0) return false;
        uint256 weighed = _headOf(parts.base) >> 96;
        return weighed != 0 && weighed == epoch;
    }

    /// @dev The first 16 bytes of what a commitment hashes: the epoch above 96 bits of weight.
    function _headOf(uint256 preimage) private pure returns (uint256 head) {
        assembly ("memory-safe") {
            head := shr(128, mload(preimage))
        }
    }

    /// @dev Where the key lies in what a commitment hashes.
    function _keyOf(uint256 preimage) private pure returns (uint256) {
        unchecked {
            return preimage + BEFORE_KEY;
        }
    }

    /// @dev The 32 bytes of a bitmap from byte `i` on. Bytes behind its end are zero.
    /// @param offset Calldata offset of the bitmap.
    /// @param length Its length in bytes.
    /// @param i The first byte.
    function _word(uint256 offset, uint256 length, uint256 i) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            // A shift by 256 bits or more gives 0. So nothing is masked while 32 bytes or more are left.
            let others := shr(shl(3, sub(length, i)), not(0))
            word := mul(lt(i, length), and(calldataload(add(offset, i)), not(others)))
        }
    }

    /// @dev The number of one bits in a word. Adds neighbours into fields of 2, 4, 8 and 16 bits; one product then adds
    /// up the sixteen fields.
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

    /// @dev The number of zero bits before the first one bit: the place of the first member in a word.
    function _leadingZeros(uint256 word) private pure returns (uint256 zeros) {
        assembly ("memory-safe") {
            zeros := clz(word)
        }
    }

    /// @dev The word whose only one bit stands at a place, counted from the most significant bit.
    function _bit(uint256 place) private pure returns (uint256) {
        return (1 << 255) >> place;
    }

    /// @dev A mask of the bits of a word that stand before an index.
    /// @param index The index, which must be larger than `start`.
    /// @param start The index of the word's first bit.
    function _before(uint256 index, uint256 start) private pure returns (uint256) {
        unchecked {
            return ~(type(uint256).max >> (index - start));
        }
    }

    /// @dev Sets the pages to walk through: `count` nonces, which end at the calldata offset `end`.
    function _name(Pages memory pages, uint256 end, uint256 count) private pure {
        unchecked {
            (pages.next, pages.end) = (end - 4 * count, end);
        }
    }

    /// @dev The nonce of 4 bytes at a calldata offset.
    function _nonceAt(uint256 next) private pure returns (uint256 nonce) {
        assembly ("memory-safe") {
            nonce := shr(224, calldataload(next))
        }
    }

    /// @dev Where the bytes of an array lie, behind its length.
    function _pointer(bytes memory data) internal pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := add(data, 0x20)
        }
    }

    /// @dev Takes memory, which may hold anything.
    function _allocate(uint256 size) internal pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := mload(0x40)
            mstore(0x40, add(pointer, size))
        }
    }
}
