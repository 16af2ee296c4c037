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

    /// @notice An accumulator in memory that holds the key at `key`, or the identity where `key` is 0.
    function _begin(uint256 key) internal view virtual returns (uint256 accumulator);

    /// @notice Adds a key to an accumulator, or takes it away; complete.
    function _accumulate(uint256 accumulator, uint256 key, bool subtract) internal view virtual;

    /// @notice Writes the sum to `to`, by a hint in the proof where the curve wants one, and answers with what is left of the
    /// proof. Reverts if the sum is the identity.
    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        view
        virtual
        returns (bytes calldata rest);

    /// @notice Reverts unless the proof is an aggregate signature over all digests under the key at `key`.
    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view virtual;

    /// @dev Pages of one kind while a quorum walks through them in ascending order.
    struct Pages {
        uint256 next; // calldata offset of the next nonce
        uint256 end; // calldata offset behind the last
        address page;
        uint256 first; // index that the page begins with
        uint256 last; // one more than the last index it holds
    }

    /// @dev What a quorum was cut into, in memory: the compiler has no stack for it.
    struct Parts {
        uint256 baseSlot;
        uint256 storeSlot;
        bytes base; // the preimage of the commitment, empty for the empty quorum
        bytes result; // that of the quorum
        uint256 baseSigners; // calldata offset
        uint256 baseBytes;
        uint256 signers; // calldata offset
        uint256 ownBytes;
        Pages keys;
        Pages weights;
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
        bytes calldata proof;
        (signers, proof) = _open(parts, quorum);
        // The preimage of the result: 24 bytes, the key, the bitmap.
        parts.result = new bytes(24 + _keyBytes() + signers.length);
        uint256 key = _pointer(parts.result) + 24;
        uint256 accumulator = _walk(parts, epoch);
        if (accumulator == 0) {
            _copy(_pointer(parts.base) + 24, key);
        } else {
            proof = _finish(accumulator, key, proof);
        }
        _check(digests, key, proof);
        weight = parts.weight;
        _keep(parts, epoch, signers);
    }

    /// @notice Where the result is stored, given where its aggregator wants it: there.
    function _refresh(uint256 wanted, uint256) internal virtual returns (uint256 slot) {
        return wanted;
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
        uint256 head = uint256(bytes32(quorum));
        (parts.baseSlot, parts.storeSlot) = (head >> 224, uint32(head >> 192));
        (parts.baseBytes, parts.ownBytes) = (uint16(head >> 176), uint16(head >> 160));
        require(parts.ownBytes != 0, EmptyQuorum());
        uint256 start;
        assembly ("memory-safe") {
            start := quorum.offset
        }
        parts.keys.next = start + 14;
        parts.keys.end = parts.weights.next = parts.keys.next + 4 * uint256(uint8(head >> 152));
        parts.weights.end = parts.weights.next + 4 * uint256(uint8(head >> 144));
        parts.baseSigners = parts.weights.end + (parts.baseSlot == NONE ? 0 : 24 + _keyBytes());
        parts.signers = parts.baseSigners + parts.baseBytes;
        uint256 own = parts.signers;
        uint256 end = own + parts.ownBytes;
        require(end <= start + quorum.length, QuorumTooShort(quorum.length, end - start));
        // Slices within `quorum`, whose checks that one has made.
        assembly ("memory-safe") {
            signers.offset := own
            signers.length := sub(end, own)
            proof.offset := end
            proof.length := sub(add(start, quorum.length), end)
        }
        require(signers[signers.length - 1] != 0, BitmapNotShortest());
        if (parts.baseSlot == NONE) {
            require(parts.baseBytes == 0, NotThisBase(NONE));
        } else {
            parts.base = quorum[parts.weights.end - start:own - start];
            require(_ring[parts.baseSlot] == keccak256(parts.base), NotThisBase(parts.baseSlot));
        }
    }

    /// @dev Goes through both bitmaps word by word, adds and takes away the keys in which they differ and sums up the weight.
    /// Answers with 0 where no key changed.
    function _walk(Parts memory parts, uint256 epoch) private view returns (uint256 accumulator) {
        bool sameEpoch;
        if (parts.baseSlot != NONE) {
            uint256 head = uint256(bytes32(parts.base));
            sameEpoch = head >> 192 == epoch;
            if (sameEpoch) parts.weight = uint128(head >> 64);
        }
        uint256 scratch = _allocate(_keyBytes());
        for (uint256 i = 0; i < parts.ownBytes || i < parts.baseBytes; i += 32) {
            uint256 own = _word(parts.signers, parts.ownBytes, i);
            uint256 differ = own ^ _word(parts.baseSigners, parts.baseBytes, i);
            uint256 rest = sameEpoch ? differ : differ | own;
            while (rest != 0) {
                uint256 index;
                uint256 bit;
                assembly ("memory-safe") {
                    index := clz(rest)
                    bit := shr(index, shl(255, 1))
                    rest := xor(rest, bit)
                    index := add(shl(3, i), index)
                }
                if (differ & bit != 0) {
                    if (accumulator == 0) {
                        accumulator = _begin(parts.baseSlot == NONE ? 0 : _pointer(parts.base) + 24);
                    }
                    _readKey(parts.keys, index, scratch);
                    _accumulate(accumulator, scratch, own & bit == 0);
                    parts.changed++;
                }
                if (own & bit != 0) parts.weight += _weight(parts.weights, epoch, index);
                else if (sameEpoch) parts.weight -= _weight(parts.weights, epoch, index);
            }
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

    function _readKey(Pages memory pages, uint256 index, uint256 to) private view {
        uint256 size = _keyBytes();
        while (index >= pages.last && pages.next != pages.end) {
            uint256 length;
            (pages.page, pages.first, length) = CodePages.open(_nextPage(pages), KEYS);
            pages.last = pages.first + length / size;
        }
        if (index >= pages.first && index < pages.last) {
            CodePages.read(pages.page, (index - pages.first) * size, size, to);
        } else {
            _readTail(index, to);
        }
    }

    /// @dev An index that has no weight in its epoch's page, since it is younger, weighs nothing.
    function _weight(Pages memory pages, uint256 epoch, uint256 index) private view returns (uint256 weight) {
        while (index >= pages.last && pages.next != pages.end) {
            uint256 number;
            (pages.page, number,) = CodePages.open(_nextPage(pages), WEIGHTS);
            require(number >> 16 == epoch, NoWeight(epoch, index));
            pages.first = uint16(number) * WEIGHTS_A_PAGE;
            pages.last = pages.first + WEIGHTS_A_PAGE;
        }
        require(index >= pages.first && index < pages.last, NoWeight(epoch, index));
        CodePages.read(pages.page, (index - pages.first) * 8, 32, 0);
        assembly ("memory-safe") {
            weight := shr(192, mload(0x00))
        }
    }

    function _nextPage(Pages memory pages) private pure returns (uint256 nonce) {
        uint256 next = pages.next;
        assembly ("memory-safe") {
            nonce := shr(224, calldataload(next))
        }
        pages.next = next + 4;
    }

    /// @dev Commits to the result, if and where it is to be stored. Its key is in its place.
    function _keep(Parts memory parts, uint256 epoch, bytes calldata signers) private {
        uint256 slot = _refresh(parts.storeSlot, parts.changed);
        if (slot == NONE) return;
        require(slot >= pinnedSlots, SlotPinned(slot));
        uint256 start = _pointer(parts.result);
        uint256 size = _keyBytes();
        uint256 head = epoch << 128 | parts.weight;
        assembly ("memory-safe") {
            // 24 bytes before the key, whose first word the store overlaps.
            let key := mload(add(start, 24))
            mstore(start, shl(64, head))
            mstore(add(start, 24), key)
            calldatacopy(add(add(start, 24), size), signers.offset, signers.length)
        }
        _ring[slot] = keccak256(parts.result);
    }

    function _copy(uint256 from, uint256 to) private pure {
        uint256 size = _keyBytes();
        // Not memory-safe by itself: both were allocated, and are as long.
        assembly {
            mcopy(to, from, size)
        }
    }

    function _pointer(bytes memory data) internal pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := add(data, 0x20)
        }
    }

    function _allocate(uint256 size) internal pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := mload(0x40)
            mstore(0x40, add(pointer, size))
        }
    }
}
