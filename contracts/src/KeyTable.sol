// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {CodePages} from "./libraries/CodePages.sol";

/// @title The keys of all members, by index
/// @notice The table only grows: no index is used twice and no key changes. So a sum of keys that was right once stays
/// right. An operator who rotates gets a new index for the new key; whoever publishes weights gives the old index
/// weight zero from the next epoch on.
///
/// A new key lands in storage, where reading each word of 32 bytes costs 2,100 gas. Once enough new keys are there,
/// anyone may move them into a *page*, a contract whose code is data (`CodePages`). Opening a page costs 2,600 gas, and
/// reading a key from it 106 to 118. The weights of an epoch are published as pages too, 8 bytes for each index.
///
/// A derived contract must not create other contracts, because pages are named by the nonces of this contract's
/// creations.
abstract contract KeyTable {
    /// @dev The two kinds of pages, as their headers name them.
    uint8 internal constant KEYS = 1;
    uint8 internal constant WEIGHTS = 2;

    /// @notice Weights in one page: `CodePages.MOST_PAYLOAD` / 8. An epoch has as many pages as its indices need.
    /// @dev A literal, because the compiler would divide wherever it reads an expression.
    uint256 internal constant WEIGHTS_A_PAGE = 3_070;

    /// @notice The fewest keys that `compact` moves into a page. It keeps anyone from filling the table with tiny
    /// pages.
    uint256 public immutable leastKeysAPage;

    /// @notice How far the table has grown.
    struct Extent {
        /// Number of keys that have an index.
        uint64 keys;
        /// Number of keys that lie in pages: those with the lowest indices.
        uint64 paged;
        /// Number of pages of both kinds. It is the nonce of the last page.
        uint64 pages;
        /// One more than the last epoch that has weights; 0 if none has.
        uint64 weighedTo;
    }

    /// @dev How far the table has grown.
    Extent private _extent;

    /// @dev The words of each key that is in no page yet, by the key's index.
    mapping(uint256 index => mapping(uint256 word => uint256)) private _tail;

    /// @dev Whether a key, named by its hash, has an index.
    mapping(bytes32 keyHash => bool) private _taken;

    /// @notice A key was given an index.
    /// @param index The index.
    /// @param key The key, in the format of the curve.
    event KeyAdded(uint256 indexed index, bytes key);
    /// @notice Keys were moved from storage into a page.
    /// @param nonce The page's nonce.
    /// @param first The index of the page's first key.
    /// @param keys Number of keys in the page.
    event KeysPaged(uint256 indexed nonce, uint256 first, uint256 keys);
    /// @notice Weights were published in a page.
    /// @param nonce The page's nonce.
    /// @param epoch The epoch in which the weights count.
    /// @param first The index of the page's first weight.
    /// @param keys Number of weights in the page.
    event WeightsPaged(uint256 indexed nonce, uint256 indexed epoch, uint256 first, uint256 keys);

    /// @notice The key has an index already.
    /// @param key The key.
    error KeyTaken(bytes key);
    /// @notice No key of this index is where the caller looked: in storage, or in the page that was named.
    /// @param index The index.
    error NoSuchKey(uint256 index);
    /// @notice `compact` does not make a page of so few keys.
    /// @param keys Number of keys that were asked for.
    /// @param least The fewest keys in a page.
    error TooFewKeys(uint256 keys, uint256 least);
    /// @notice A page cannot hold so many keys, or fewer keys wait in storage.
    /// @param keys Number of keys that were asked for.
    /// @param most The most that are possible now.
    error TooManyKeys(uint256 keys, uint256 most);
    /// @notice This epoch or a later one has weights already.
    /// @param epoch The epoch.
    error EpochHasWeights(uint256 epoch);
    /// @notice The pages that were named do not hold the weight of this index in this epoch.
    /// @param epoch The epoch.
    /// @param index The index.
    error NoWeight(uint256 epoch, uint256 index);

    /// @param leastKeysAPage_ The fewest keys that `compact` moves into a page. Should be at least 1, which is not
    /// checked.
    constructor(uint256 leastKeysAPage_) {
        leastKeysAPage = leastKeysAPage_;
    }

    /// @notice Length of a key in the format of the table: a multiple of 32 bytes.
    function _keyBytes() internal pure virtual returns (uint256);

    /// @notice How far the table has grown.
    /// @return The numbers of keys, of keys in pages and of pages; and one more than the last epoch that has weights.
    function extent() external view returns (Extent memory) {
        return _extent;
    }

    /// @notice Reads one key, for callers off chain. The table does not store which page holds a key, so the caller
    /// names the page; the events `KeysPaged` tell it.
    /// @param index The key's index.
    /// @param nonce The nonce of the page that holds the key; 0 if the key is in storage.
    /// @return The key, in the format of the curve. Reverts if it is not there.
    function keyAt(uint256 index, uint256 nonce) external view returns (bytes memory) {
        return _keyAt(index, nonce);
    }

    /// @notice Moves the oldest keys in storage into a page. Anyone may call it. The refund for the storage that it
    /// clears pays part of the cost.
    /// @param keys Number of keys to move: at least `leastKeysAPage`, and as many as wait and fit into a page at most.
    function compact(uint256 keys) external {
        (uint256 size, uint256 first) = (_keyBytes(), _extent.paged);
        require(keys >= leastKeysAPage, TooFewKeys(keys, leastKeysAPage));
        uint256 most = CodePages.MOST_PAYLOAD / size;
        uint256 waiting = _extent.keys - first;
        if (waiting < most) most = waiting;
        require(keys <= most, TooManyKeys(keys, most));
        bytes memory payload = new bytes(keys * size);
        uint256 to;
        assembly ("memory-safe") {
            to := add(payload, 0x20)
        }
        for (uint256 i = 0; i < keys; i++) {
            for (uint256 word = 0; word < size / 32; word++) {
                uint256 value = _tail[first + i][word];
                delete _tail[first + i][word];
                assembly ("memory-safe") {
                    mstore(to, value)
                    to := add(to, 0x20)
                }
            }
        }
        _extent.paged += uint64(keys);
        uint256 nonce = _newPage(KEYS, _keysNumber(first, keys), payload);
        emit KeysPaged(nonce, first, keys);
    }

    /// @notice Appends a key to the table. Reverts if the table has it already.
    /// @dev NOT checked: that the bytes are a valid key, and that its owner holds the secret. That is the caller's
    /// duty.
    /// @param key The key, `_keyBytes()` long.
    /// @return index The key's index.
    function _append(bytes memory key) internal returns (uint256 index) {
        bytes32 hash = keccak256(key);
        require(!_taken[hash], KeyTaken(key));
        _taken[hash] = true;
        index = _extent.keys++;
        for (uint256 word = 0; word < _keyBytes() / 32; word++) {
            uint256 value;
            assembly ("memory-safe") {
                value := mload(add(key, mul(0x20, add(word, 1))))
            }
            _tail[index][word] = value;
        }
        emit KeyAdded(index, key);
    }

    /// @notice Publishes the weights of an epoch. An epoch gets weights once, and no earlier epoch gets any afterwards.
    /// Costs about 1,850 gas for each index.
    /// @dev NOT checked: that there is one weight for each key. An index without a weight weighs nothing.
    /// @param epoch The epoch, below 2^32.
    /// @param weights The weight of each index.
    function _publish(uint256 epoch, uint64[] memory weights) internal {
        require(epoch >= _extent.weighedTo, EpochHasWeights(epoch));
        SafeCast.toUint32(epoch);
        _extent.weighedTo = uint64(epoch + 1);
        for (uint256 first = 0; first == 0 || first < weights.length; first += WEIGHTS_A_PAGE) {
            uint256 count = weights.length - first;
            if (count > WEIGHTS_A_PAGE) count = WEIGHTS_A_PAGE;
            bytes memory payload = new bytes(count * 8);
            for (uint256 i = 0; i < count; i++) {
                uint256 weight = weights[first + i];
                // The word ends with the new weight. Its first 24 bytes overlap what was written before, and keep it.
                assembly ("memory-safe") {
                    let end := add(add(payload, 0x20), mul(add(i, 1), 8))
                    let word_ := sub(end, 0x20)
                    mstore(word_, or(shl(64, shr(64, mload(word_))), weight))
                }
            }
            uint256 nonce = _newPage(WEIGHTS, _weightsNumber(epoch, first), payload);
            emit WeightsPaged(nonce, epoch, first, count);
        }
    }

    /// @dev The number in the header of a page of keys: the index of its first key, above 16 bits of how many keys it
    /// holds. A page holds fewer than 768 keys, since a key has at least 32 bytes.
    function _keysNumber(uint256 first, uint256 keys) internal pure returns (uint64) {
        return uint64(first << 16 | keys);
    }

    /// @dev The number in the header of a page of weights: the epoch, above 16 bits of which of the epoch's pages this
    /// is.
    /// @param epoch The epoch.
    /// @param index The index of the page's first weight.
    function _weightsNumber(uint256 epoch, uint256 index) internal pure returns (uint64) {
        return uint64(epoch << 16 | index / WEIGHTS_A_PAGE);
    }

    /// @notice Copies a key from storage to memory. Reverts if storage holds no key of this index.
    /// @param index The key's index.
    /// @param to Where in memory the key is written; the caller has allocated the room.
    function _readTail(uint256 index, uint256 to) internal view {
        uint256 any = 0;
        mapping(uint256 word => uint256) storage words = _tail[index];
        for (uint256 word = 0; word < _keyBytes() / 32; word++) {
            uint256 value = words[word];
            any |= value;
            // Not memory-safe by itself: the caller allocated the memory at `to`.
            assembly {
                mstore(add(to, mul(0x20, word)), value)
            }
        }
        require(any != 0, NoSuchKey(index));
    }

    /// @dev What `keyAt` returns.
    function _keyAt(uint256 index, uint256 nonce) internal view returns (bytes memory key) {
        uint256 size = _keyBytes();
        key = new bytes(size);
        uint256 to;
        assembly ("memory-safe") {
            to := add(key, 0x20)
        }
        if (nonce == 0) {
            _readTail(index, to);
            return key;
        }
        (address page, uint256 number) = CodePages.open(nonce, KEYS);
        uint256 first = number >> 16;
        require(index >= first && index - first < uint16(number), NoSuchKey(index));
        CodePages.read(page, (index - first) * size, size, to);
    }

    /// @dev Creates a page and counts it, so that the count is the page's nonce.
    function _newPage(uint8 kind, uint64 number, bytes memory payload) private returns (uint256 nonce) {
        CodePages.create(kind, number, payload);
        nonce = ++_extent.pages;
    }

    /// @notice The nonce of the last page; 0 if there is no page.
    function _lastPage() internal view returns (uint256 nonce) {
        return _extent.pages;
    }
}
