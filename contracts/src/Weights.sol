// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bitmaps} from "./Bitmaps.sol";
import {CodePages} from "./libraries/CodePages.sol";
import {KeyTable} from "./KeyTable.sol";

/// @title The weights of an epoch, by index
/// @notice A weight has 8 bytes, big-endian. 2,048 weights that follow each other are a *part*: part 0 holds the weights
/// of the indices 0 to 2,047, and so on. The last part of an epoch may be shorter.
///
/// The contract stores a hash of each part, keccak256(epoch (32 bytes) ‖ weights). Whoever needs a part's weights
/// passes them, and the contract checks the hash. Or they lie in a page. A page costs 200 gas for each byte, once, and
/// weights in calldata up to 16 gas for each byte, each time.
abstract contract Weights is KeyTable, Bitmaps {
    /// @dev The kind of a page of weights, as its header names it.
    uint8 internal constant WEIGHTS = 2;

    /// @notice Weights in a part.
    uint256 internal constant PART = 2_048;

    /// @dev The hashes of parts, at the place (epoch & 1) << 16 | part. So each slot is used again in the epoch after
    /// the next one. A part's hash names the epoch, so a hash that is left from another epoch passes for none.
    mapping(uint256 place => bytes32 hash) private _weights;

    /// @notice Weights were published in a page.
    /// @param nonce The page's nonce.
    /// @param epoch The epoch in which the weights count.
    /// @param first The index of the page's first weight.
    /// @param keys Number of weights in the page.
    event WeightsPaged(uint256 indexed nonce, uint256 indexed epoch, uint256 first, uint256 keys);

    /// @notice What the quorum names does not hold the weight of this index in this epoch.
    /// @param epoch The epoch.
    /// @param index The index.
    error NoWeight(uint256 epoch, uint256 index);
    /// @notice The bytes that were passed are not the weights of this part in this epoch.
    /// @param epoch The epoch.
    /// @param part The part.
    error NotTheseWeights(uint256 epoch, uint256 part);

    /// @dev A walk through what a quorum names of weights.
    struct Pages {
        uint256 next; // calldata: the next entry: a page's nonce, or the length of weights in calldata
        uint256 end; // calldata: where the entries end
        uint256 from; // calldata: where the next part's weights begin
        uint256 buffer; // memory: room for a page or for a part in calldata
        uint256 room; // bytes of this room
        uint256 page; // memory: the weights that are open
        uint256 first; // the index of the first of them
        uint256 last; // one more than the index of the last of them
    }

    /// @notice Stores the hashes of parts.
    /// @param epoch The epoch.
    /// @param part The first part.
    /// @param weights The weights of all parts, 8 bytes each.
    function _commitWeights(uint256 epoch, uint256 part, bytes calldata weights) internal {
        uint256 to = _allocate(32 + 8 * PART);
        for (uint256 offset = 0; offset < weights.length; offset += 8 * PART) {
            uint256 length = weights.length - offset < 8 * PART ? weights.length - offset : 8 * PART;
            uint256 from;
            assembly ("memory-safe") {
                from := add(weights.offset, offset)
            }
            _weights[_partAt(epoch, part++)] = _loadPart(epoch, from, length, to);
        }
    }

    /// @notice Makes a page of a part's weights, which must have the stored hash.
    /// @param epoch The epoch.
    /// @param part The part.
    /// @param weights The weights, 8 bytes each.
    function _publishPart(uint256 epoch, uint256 part, bytes calldata weights) internal {
        bytes memory payload = weights;
        bytes32 hash;
        // The epoch stands before the weights while they are hashed, and then their length again.
        assembly ("memory-safe") {
            let length := mload(payload)
            mstore(payload, epoch)
            hash := keccak256(payload, add(length, 0x20))
            mstore(payload, length)
        }
        _checkPart(epoch, part, hash);
        _pageWeights(epoch, part, payload);
    }

    /// @notice Makes a page of a part's weights.
    /// @param epoch The epoch.
    /// @param part The part.
    /// @param weights The weights, 8 bytes each.
    function _pageWeights(uint256 epoch, uint256 part, bytes memory weights) internal {
        uint256 nonce = _newPage(WEIGHTS, uint64(epoch << 16 | part), weights, "");
        emit WeightsPaged(nonce, epoch, part * PART, weights.length / 8);
    }

    /// @notice The weights of the members who are in one word alone, minus the weights of those who are in another word
    /// alone, modulo 2^256. Each member costs 93 gas.
    /// @param pages What the quorum names of weights.
    /// @param epoch The epoch.
    /// @param reach Number of bits in the longer bitmap: no index beyond it is read.
    /// @param start The index of the word's first bit.
    /// @param own The quorum's word.
    /// @param base The base's word.
    /// @return weight The difference.
    function _weighWord(Pages memory pages, uint256 epoch, uint256 reach, uint256 start, uint256 own, uint256 base)
        internal
        view
        returns (uint256 weight)
    {
        uint256 changed = own ^ base;
        // Unchecked: indices are below 2^20. `first` may be negative, modulo 2^256; with the offset of a member whose
        // weight is there the sum is a valid place in memory again. The difference is computed modulo 2^256, and the
        // caller checks the result.
        unchecked {
            while (changed != 0) {
                uint256 index = start + _leadingZeros(changed);
                while (index >= pages.last && pages.next != pages.end) {
                    _openWeights(pages, epoch, reach, index);
                }
                _found(index >= pages.first && index < pages.last, epoch, index);
                uint256 here = changed & _before(pages.last, start);
                changed ^= here;
                uint256 first = pages.page + (start - pages.first) * 8;
                weight = weight + _total(here & own, first) - _total(here & base, first);
            }
        }
    }

    /// @dev Opens the next page of weights and copies it, as far as the bitmaps reach; or takes the weights of the
    /// part that holds the index from calldata. Copying takes 3 gas a word and memory as much again, and a word holds
    /// four weights. Copying each wanted weight of a page alone would take 100 gas.
    function _openWeights(Pages memory pages, uint256 epoch, uint256 reach, uint256 index) private view {
        uint256 next = pages.next;
        uint256 entry;
        // Unchecked: small numbers, and positions in calldata and in memory.
        unchecked {
            assembly ("memory-safe") {
                entry := shr(224, calldataload(next))
            }
            pages.next = next + 4;
            if (entry >> 31 == 0) {
                uint256 count = reach > PART ? PART : reach;
                uint256 to = _roomFor(pages, CodePages.HEADER + 8 * count);
                uint256 number = CodePages.load(entry, WEIGHTS, 8 * count, to);
                _found(number >> 16 == epoch, epoch, index);
                pages.page = to + CodePages.HEADER;
                pages.first = uint16(number) * PART;
                pages.last = pages.first + count;
            } else {
                uint256 length = entry ^ (1 << 31);
                uint256 part = index / PART;
                uint256 to = _roomFor(pages, 32 + length);
                bytes32 hash = _loadPart(epoch, pages.from, length, to);
                _checkPart(epoch, part, hash);
                pages.from += length;
                pages.page = to + 32;
                // The part's first index, so the division comes first.
                // slither-disable-next-line divide-before-multiply
                pages.first = part * PART;
                pages.last = pages.first + length / 8;
            }
        }
    }

    /// @dev The buffer of a walk, at least as long as is asked for.
    function _roomFor(Pages memory pages, uint256 length) private pure returns (uint256) {
        if (pages.room < length) (pages.room, pages.buffer) = (length, _allocate(length));
        return pages.buffer;
    }

    /// @dev Copies epoch and weights to memory, and hashes them.
    /// @param epoch The epoch.
    /// @param from Calldata offset of the weights.
    /// @param length Bytes of the weights.
    /// @param to Where in memory the epoch is written, the weights behind it. The caller has allocated 32 + length bytes.
    /// @return hash The hash of the part.
    function _loadPart(uint256 epoch, uint256 from, uint256 length, uint256 to) private pure returns (bytes32 hash) {
        // Not memory-safe by itself: the caller allocated the memory at `to`.
        assembly {
            mstore(to, epoch)
            calldatacopy(add(to, 0x20), from, length)
            hash := keccak256(to, add(length, 0x20))
        }
    }

    /// @dev Reverts unless the weight of an index was found. A function, so that the error is in the code once.
    function _found(bool found, uint256 epoch, uint256 index) private pure {
        require(found, NoWeight(epoch, index));
    }

    /// @dev Reverts unless this is the hash of a part.
    function _checkPart(uint256 epoch, uint256 part, bytes32 hash) private view {
        require(hash == _weights[_partAt(epoch, part)], NotTheseWeights(epoch, part));
    }

    /// @dev Where the hash of a part is stored.
    function _partAt(uint256 epoch, uint256 part) private pure returns (uint256) {
        return (epoch & 1) << 16 | part;
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
}
