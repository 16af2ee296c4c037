// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {CodePages} from "./libraries/CodePages.sol";

/// @title The keys of a quorum's members
/// @notice Append-only: an index is never used again and a key never changes, so every sum of keys that was ever right stays
/// right. An operator who rotates takes a new index, and the old one weighs nothing from the next epoch on.
///
/// New keys land in storage, 2,100 gas a word to read. When enough of them are there, anyone moves them into a code page,
/// where reading one costs about 120 gas after 2,600 for the page. Weights of an epoch are pages too, 8 bytes an index.
///
/// A derived contract must create no contracts: the nonces of CREATE name the pages.
abstract contract KeyTable {
    uint8 internal constant KEYS = 1;
    uint8 internal constant WEIGHTS = 2;

    /// @notice Weights in one page, CodePages.MOST_PAYLOAD / 8; an epoch has as many pages as its indices need. A literal: the
    /// compiler divides anew wherever it reads an expression.
    uint256 internal constant WEIGHTS_A_PAGE = 3_070;

    /// @notice The fewest keys that make a page, so that nobody cuts the table into crumbs.
    uint256 public immutable leastKeysAPage;

    struct Extent {
        /// Indices that were given out.
        uint64 keys;
        /// Of these, from the first on, those in pages.
        uint64 paged;
        /// Pages of both kinds, which is the nonce of the last.
        uint64 pages;
        /// One more than the last epoch that has weights.
        uint64 weighedTo;
    }

    Extent private _extent;

    /// @dev By index, the words of a key that is in no page yet.
    mapping(uint256 index => mapping(uint256 word => uint256)) private _tail;

    mapping(bytes32 keyHash => bool) private _taken;

    event KeyAdded(uint256 indexed index, bytes key);
    event KeysPaged(uint256 indexed nonce, uint256 first, uint256 keys);
    event WeightsPaged(uint256 indexed nonce, uint256 indexed epoch, uint256 first, uint256 keys);

    error KeyTaken(bytes key);
    error NoSuchKey(uint256 index);
    error TooFewKeys(uint256 keys, uint256 least);
    error TooManyKeys(uint256 keys, uint256 most);
    error EpochHasWeights(uint256 epoch);
    /// @notice The pages that were named do not hold the weight of this index.
    error NoWeight(uint256 epoch, uint256 index);

    constructor(uint256 leastKeysAPage_) {
        leastKeysAPage = leastKeysAPage_;
    }

    /// @notice Bytes of a key as it is kept: a multiple of 32.
    function _keyBytes() internal pure virtual returns (uint256);

    /// @notice How many keys were given an index, how many of them are in pages, how many pages of both kinds there are, and
    /// one more than the last epoch that has weights.
    function extent() external view returns (Extent memory) {
        return _extent;
    }

    /// @notice A key, wherever it is. For reading off chain and for proofs about one key: it does not name its page, so a
    /// paged one needs its page's nonce.
    function keyAt(uint256 index, uint256 nonce) external view returns (bytes memory) {
        return _keyAt(index, nonce);
    }

    /// @notice Moves the next `keys` keys from storage into a page. Anyone may; the storage that is freed pays part of it.
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

    /// @notice Appends a key. The caller has checked that it is one, and that somebody holds its secret.
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

    /// @notice Gives every index its weight in an epoch, once and in the order of epochs. About 1,700 gas an index.
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
                // The word overlaps what comes before it, which is there already.
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

    /// @dev The index that a page of keys begins with, and how many it holds: 767 at most.
    function _keysNumber(uint256 first, uint256 keys) internal pure returns (uint64) {
        return uint64(first << 16 | keys);
    }

    /// @dev The epoch, and which of its pages, counted in pages.
    function _weightsNumber(uint256 epoch, uint256 index) internal pure returns (uint64) {
        return uint64(epoch << 16 | index / WEIGHTS_A_PAGE);
    }

    /// @notice A key from storage, to memory at `to`; reverts if the index has none there.
    function _readTail(uint256 index, uint256 to) internal view {
        uint256 any = 0;
        mapping(uint256 word => uint256) storage words = _tail[index];
        for (uint256 word = 0; word < _keyBytes() / 32; word++) {
            uint256 value = words[word];
            any |= value;
            // Not memory-safe by itself: `to` is memory that the caller allocated.
            assembly {
                mstore(add(to, mul(0x20, word)), value)
            }
        }
        require(any != 0, NoSuchKey(index));
    }

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

    function _newPage(uint8 kind, uint64 number, bytes memory payload) private returns (uint256 nonce) {
        CodePages.create(kind, number, payload);
        nonce = ++_extent.pages;
    }

    /// @notice The nonce of the page that was made last; 0 before the first.
    function _lastPage() internal view returns (uint256 nonce) {
        return _extent.pages;
    }
}
