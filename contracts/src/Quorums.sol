// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {CodePages} from "./libraries/CodePages.sol";
import {QuorumBytes} from "./QuorumBytes.sol";
import {Ring} from "./Ring.sol";
import {Weights} from "./Weights.sol";

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
/// `QuorumBytes` says how a quorum is passed: with pages of keys, and with those keys of changed members that no named
/// page holds. The contract checks each such key by its hash (`KeyTable`).
///
/// This contract does not know the curve: it moves keys as bytes, and the contracts in `curves/` do the arithmetic.
abstract contract Quorums is QuorumBytes, Weights {
    /// @dev Type of the digest that a proof of possession signs.
    bytes32 private constant POSSESSION =
        keccak256("Possession(uint256 chainId,address verifier,address owner,bytes32 keyHash)");

    /// @notice The quorum passes a bitmap of its own, but has the base's members. Pass no bitmap (m = 0) in that case.
    error NothingChanged();
    /// @notice A key has the wrong length for this curve.
    /// @param length Bytes of the key.
    /// @param expected Bytes that a key of this curve has.
    error KeyLength(uint256 length, uint256 expected);
    /// @notice The key is the identity of the group, under which everyone can sign.
    error IdentityKey();

    /// @param pinnedSlots_ How many slots are pinned: slots 1 to this number.
    constructor(uint256 pinnedSlots_) Ring(pinnedSlots_) {}

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

    /// @notice How many bytes a signature has, which stands first in the rest of a proof. Only one encoding of a point is
    /// valid.
    function _signatureBytes() internal pure virtual returns (uint256);

    /// @notice Computes the quorum's key if its members are not the base's. Reverts if the quorum passes keys that are not
    /// needed.
    /// @dev NOT checked: the base (`_checkBase`), the quorum's weight, and its signature, which is then the rest of its
    /// proof (`_check`).
    function _complete(Parts memory parts) internal view {
        if (_changes(parts)) _sum(parts);
        unchecked {
            _noKeysLeft(parts.weights - parts.keys);
        }
    }

    /// @notice Stores a quorum in a slot of the ring.
    /// @param parts The quorum, after `_complete`.
    /// @param slot The slot; reverts if it is pinned.
    /// @param epoch The epoch in which the quorum was weighed; 0 if it was not.
    /// @param weight The quorum's weight in that epoch; 0 if it was not weighed.
    function _store(Parts memory parts, uint256 slot, uint256 epoch, uint256 weight) internal {
        _storeAt(parts.table, slot, _commitment(parts, epoch, weight));
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
        uint256 copy = _allocate(_keyBytes());
        // The identity is written as zeros.
        uint256 any = 0;
        assembly ("memory-safe") {
            calldatacopy(copy, key.offset, key.length)
            for { let i := 0 } lt(i, key.length) { i := add(i, 0x20) } { any := or(any, mload(add(copy, i))) }
        }
        require(any != 0, IdentityKey());
        _check(_only(possessionDigest(owner, key)), copy, proof);
        return _append(key);
    }

    /// @notice The digest that a key's owner signs with it to register it.
    /// @param owner The owner.
    /// @param key The key.
    /// @return The digest. It names this chain and this contract.
    function possessionDigest(address owner, bytes calldata key) public view returns (bytes32) {
        return keccak256(abi.encode(POSSESSION, block.chainid, address(this), owner, _hashOf(key)));
    }

    /// @dev An array with one digest. Assembly, because the compiler takes 130 gas more to make it.
    function _only(bytes32 digest) internal pure returns (bytes32[] memory digests) {
        assembly ("memory-safe") {
            digests := mload(0x40)
            mstore(0x40, add(digests, 0x40))
            mstore(digests, 1)
            mstore(add(digests, 0x20), digest)
        }
    }

    /// @notice Reverts unless the slot of the base holds this commitment. Accepts the empty quorum, which has no base.
    function _checkBase(Parts memory parts, bytes32 commitment) internal view {
        uint256 slot = _baseSlot(parts);
        if (slot != NONE && _baseAt(parts.table, slot) != commitment) _notThisBase(slot);
    }

    /// @notice The sum of the signers' weights in an epoch. Starts from the base's weight if the base was weighed in
    /// this epoch, and otherwise from zero. Each member that it weighs costs 93 gas.
    /// @param parts The quorum.
    /// @param epoch The epoch.
    /// @param members How many indices have a weight, below 2^24. An index from there on weighs nothing.
    /// @return weight The sum.
    function _weigh(Parts memory parts, uint256 epoch, uint256 members) internal view returns (uint256 weight) {
        bool fromBase = _weighedIn(parts, epoch);
        if (fromBase) weight = _headOf(parts.base) & type(uint96).max;
        if (fromBase && !_changes(parts)) return weight;
        Pages memory pages;
        uint256 most = _mostBytes(parts);
        // Unchecked: indices are below 2^20, since a bitmap has fewer than 2^16 bytes. `weight` is computed modulo
        // 2^256.
        unchecked {
            pages.next = parts.nonces + 4 * _keyPages(parts);
            pages.end = pages.next + 4 * _weightParts(parts);
            pages.from = parts.weights;
            if (most > (members + 7) >> 3) most = (members + 7) >> 3;
            for (uint256 i = 0; i < most; i += 32) {
                (uint256 own, uint256 base) = _words(parts, i);
                uint256 weighed = _before(members, 8 * i);
                own &= weighed;
                base = fromBase ? base & weighed : 0;
                if (own != base) weight += _weighWord(pages, epoch, 8 * most, 8 * i, own, base);
            }
        }
        // Fewer than 2^20 weights of 64 bits add up to less than 2^96. A difference below zero would have wrapped
        // around to a larger number; a commitment that holds the sum of its members' weights never leads there.
        if (weight > type(uint96).max) _notThisBase(_baseSlot(parts));
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
                // Each changed member costs ten times as much elsewhere as a round of this loop.
                for (uint256 changed = own ^ base; changed != 0; changed &= changed - 1) {
                    distance++;
                }
            }
        }
    }

    /// @notice The commitment of a quorum.
    /// @param parts The quorum, after `_complete`.
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
        // `page` is the open page, as `_openKeys` returns it. `pages` is the calldata offset of the next page's nonce.
        uint256 page = 0;
        uint256 pages = parts.nonces;
        // Unchecked: indices are below 2^20. The other numbers are positions in calldata and the header of a page.
        unchecked {
            for (uint256 i = 0; i < most; i += 32) {
                (uint256 own, uint256 changed) = _words(parts, i);
                changed ^= own;
                any |= changed;
                while (changed != 0) {
                    uint256 index = 8 * i + _leadingZeros(changed);
                    uint256 last = _lastOf(page);
                    if (index >= last && pages != _endOfPages(parts)) {
                        page = _openNext(parts, pages);
                        pages += 4;
                    } else if (index >= page >> 176 && index < last) {
                        uint256 here = changed & _before(last, 8 * i);
                        changed ^= here;
                        _accumulatePaged(sum, operand, page, _firstKey(page, 8 * i), here, own);
                    } else {
                        parts.keys = _takeKey(parts.keys, parts.weights, parts.table, index, operand);
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

    /// @dev Calldata offset at which the nonces of pages of keys end.
    function _endOfPages(Parts memory parts) private pure returns (uint256) {
        unchecked {
            return parts.nonces + 4 * _keyPages(parts);
        }
    }

    /// @dev Opens the page of keys whose nonce lies at a calldata offset.
    function _openNext(Parts memory parts, uint256 next) private view returns (uint256) {
        uint256 nonce;
        assembly ("memory-safe") {
            nonce := shr(224, calldataload(next))
        }
        return _openKeys(nonce, parts.table);
    }

    /// @dev Offset in a page at which the key of a word's first index lies. It is negative, modulo 2^256, if the page
    /// begins with a later index. Callers add the offset of a member that the page holds, and the sum is a valid offset
    /// again.
    function _firstKey(uint256 page, uint256 start) private view returns (uint256) {
        unchecked {
            return CodePages.HEADER + _offsetOf(page, start);
        }
    }
}
