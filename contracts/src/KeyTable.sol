// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Clz} from "./libraries/Clz.sol";
import {CodePages} from "./libraries/CodePages.sol";

/// @title The keys of all members, by index
/// @notice A table only grows: no index is used twice and no key changes. So a sum of keys that was right once stays
/// right. An operator who rotates gets a new index for the new key; whoever publishes weights gives the old index
/// weight zero from the next epoch on.
///
/// The contract stores one word for each key: its index, by the key's hash. Whoever needs a key passes it, and the
/// contract checks the hash for 2,100 gas. Or anyone copies keys into a *page*, a contract whose code is data
/// (`CodePages`). Opening a page costs 2,600 gas, and reading a key from it 106 to 118; or the page has a program that adds
/// its keys, which read for 9 to 80. A page holds the keys of
/// indices that follow each other, and a key may lie in several pages.
///
/// Since a table only grows, it is renewed from time to time. The running table is followed by the *next* one, whose
/// number is larger by one. Keys are *carried* to it while the running table is in use. No number of a table is used
/// twice, and indices, pages and bases belong to one table.
///
/// Quorums name pages by nonces below 2^31, and anyone may make pages. So many pages cost more than 10^14 gas.
///
/// A derived contract must not create other contracts, because pages are named by the nonces of this contract's
/// creations.
abstract contract KeyTable {
    /// @dev The kind of a page of keys, as its header names it.
    uint8 internal constant KEYS = 1;

    /// @notice How far the tables have grown.
    struct Extent {
        /// Number of keys that have an index in the running table.
        uint32 keys;
        /// Number of keys that were carried to the next table.
        uint32 carried;
        /// Number of contracts that this one created: the probe of `Clz`, and the pages of keys and of weights. It is the
        /// nonce of the last page.
        uint64 pages;
    }

    /// @dev How far the tables have grown, as in `Extent`. These three and the next two share a slot.
    uint32 private _keyCount;
    uint32 internal _carried;
    uint64 private _pages;

    /// @dev In a verifier, one more than the last epoch that has weights; 0 if none has. It stands here because it would
    /// cost a slot of its own elsewhere.
    // slither-disable-next-line unused-state,constable-states
    uint64 internal _weighedTo;
    /// @dev In a verifier, the number of the running table. It stands here for the same reason.
    // slither-disable-next-line unused-state,constable-states
    uint16 internal _running;

    /// @dev Where each key is, by its hash: table << 32 | index + 1, in 64 bits. Above them are up to three earlier places,
    /// the latest first, each 64 bits higher: those in the tables from which the key was carried. So a call which passes
    /// the key there does not fail. A verifier needs three places: that in the next table, that of the current epoch, and
    /// that of the previous epoch.
    mapping(bytes32 keyHash => uint256 places) internal _indexOf;

    /// @notice A key was given an index.
    /// @param table The table.
    /// @param index The index.
    /// @param key The key, in the format of the curve.
    event KeyAdded(uint256 indexed table, uint256 indexed index, bytes key);
    /// @notice Keys were copied into a page.
    /// @param nonce The page's nonce.
    /// @param table The table whose indices they have.
    /// @param first The index of the page's first key.
    /// @param keys Number of keys in the page.
    event KeysPaged(uint256 indexed nonce, uint256 indexed table, uint256 first, uint256 keys);
    /// @notice Keys were carried to the next table.
    /// @param table The next table.
    /// @param first The first key's index in it; the others follow.
    /// @param indices Their indices in the running table, 4 bytes each.
    event KeysCarried(uint256 indexed table, uint256 first, bytes indices);

    /// @notice The key has an index already, in the running table or in the next one; or, in a verifier, in any table.
    /// @param key The key.
    error KeyTaken(bytes key);
    /// @notice The key has no index.
    error UnknownKey();
    /// @notice No page that was named holds the key of this index, and the call does not pass it either.
    /// @param index The index.
    error NoSuchKey(uint256 index);
    /// @notice The call passes more keys than it needs.
    /// @param length Bytes that are left.
    error KeysLeft(uint256 length);
    /// @notice A page holds at least one key, and not so many.
    /// @param keys Number of keys that were asked for.
    /// @param most The most keys in a page.
    error KeysAPage(uint256 keys, uint256 most);
    /// @notice The key was carried to the next table before.
    /// @param index Its index in the running table.
    error KeyCarried(uint256 index);

    /// @notice Length of a key in the format of the table: a multiple of 32 bytes.
    function _keyBytes() internal pure virtual returns (uint256);

    /// @notice Length of the program that pages of keys have (`CodePages`), as the contracts in `curves/` decide; 0 if they
    /// have none.
    function _programBytes() internal view virtual returns (uint256);

    /// @notice The program of pages of keys; empty if they have none.
    function _program() internal pure virtual returns (bytes memory);

    /// @dev Reverts on a chain without CLZ, with which bitmaps are walked through. The probe takes the first nonces.
    constructor() {
        Clz.requireAvailable();
        _pages = uint64(Clz.NONCES);
    }

    /// @notice The number of the running table, below 2^16.
    function _table() internal view virtual returns (uint256);

    /// @notice How far the tables have grown.
    /// @return The numbers of keys, of carried keys and of created contracts.
    function extent() external view returns (Extent memory) {
        return Extent(_keyCount, _carried, _pages);
    }

    /// @notice Where a key is. If it was carried, that is the next table.
    /// @param key The key, in the format of the curve.
    /// @return table The table.
    /// @return index The key's index in it. Reverts if the key has none.
    function indexOf(bytes calldata key) public view returns (uint256 table, uint256 index) {
        uint256 place = uint64(_indexOf[_hashOf(key)]);
        require(place != 0, UnknownKey());
        unchecked {
            return (place >> 32, uint32(place) - 1);
        }
    }

    /// @notice Reads one key from a page, for callers off chain. The contract does not store which page holds a key, so
    /// the caller names the page; the events `KeysPaged` tell it.
    /// @param index The key's index in the running table.
    /// @param nonce The page's nonce.
    /// @return key The key, in the format of the curve. Reverts if it is not there.
    function keyAt(uint256 index, uint256 nonce) external view returns (bytes memory key) {
        uint256 to;
        (key, to) = _newBytes(_keyBytes());
        _readKey(_openKeys(nonce, _table()), index, to);
    }

    /// @notice Makes a page of keys whose indices follow each other. Anyone may call it, for any range of the running
    /// table. It removes nothing: other pages stay, and keys that calls pass stay valid.
    /// @param first The first index.
    /// @param keys Number of keys: at least one, and as many as fit into a page at most.
    /// @param nonces Pages to copy from, by rising indices.
    /// @param tail The keys that none of these pages holds, by rising indices.
    function compact(uint256 first, uint256 keys, uint256[] calldata nonces, bytes calldata tail) external {
        (bytes memory payload, uint256 to) = _newPayload(keys);
        uint256 table = _table();
        _collect(table, first, keys, nonces, tail, to);
        _pageKeys(table, first, keys, payload);
    }

    /// @dev Copies keys whose indices follow each other to memory, with the arguments of `compact`.
    function _collect(
        uint256 table,
        uint256 index,
        uint256 keys,
        uint256[] calldata nonces,
        bytes calldata tail,
        uint256 to
    ) private view {
        uint256 page = 0;
        // Unchecked: a key that is read has an index below 2^32, and a page holds fewer than 2^10 keys.
        unchecked {
            while (keys != 0) {
                if (index >= _lastOf(page) && nonces.length != 0) {
                    page = _openKeys(nonces[0], table);
                    nonces = nonces[1:];
                    continue;
                }
                uint256 count = 1;
                if (_holds(page, index)) {
                    count = _lastOf(page) - index;
                    if (count > keys) count = keys;
                    CodePages.read(address(uint160(page)), _offsetOf(page, index), count * _keyBytes(), to);
                } else {
                    uint256 from;
                    assembly ("memory-safe") {
                        from := tail.offset
                    }
                    from = _takeKey(from, from + tail.length, table, index, to) - from;
                    tail = tail[from:];
                }
                to += count * _keyBytes();
                index += count;
                keys -= count;
            }
        }
        _noKeysLeft(tail.length);
    }

    /// @notice Copies keys of the running table to the next table, where they get the next free indices, in a page of
    /// their own. The caller of this function decides who may do that.
    /// @dev Their proofs of possession were checked when they were admitted, and are not checked again.
    /// @param indices Their indices, 4 bytes each, in any order. Each key is carried once. A rest of fewer than 4 bytes is
    /// ignored.
    /// @param nonces Pages of the running table that hold the keys. Pages that come first are looked into first.
    function _carry(bytes calldata indices, uint256[] calldata nonces) internal {
        (uint256 table, uint256 first) = (_table(), _carried);
        uint256 keys = indices.length / 4;
        (bytes memory payload, uint256 to) = _newPayload(keys);
        uint256 page = 0;
        // Unchecked: a page holds fewer than 2^10 keys.
        unchecked {
            for (uint256 i = 0; i < keys; i++) {
                uint256 index;
                assembly ("memory-safe") {
                    index := shr(224, calldataload(add(indices.offset, shl(2, i))))
                }
                for (uint256 j = 0; j < nonces.length && !_holds(page, index); j++) {
                    page = _openKeys(nonces[j], table);
                }
                bytes32 hash = _readKey(page, index, to);
                to += _keyBytes();
                uint256 places = _indexOf[hash];
                require(uint64(places) == _place(table, index), KeyCarried(index));
                _indexOf[hash] = places << 64 | _place(table + 1, first + i);
            }
            _pageKeys(table + 1, first, keys, payload);
            emit KeysCarried(table + 1, first, indices);
        }
        _carried = uint32(first + keys);
    }

    /// @notice Appends a key to the running table. Reverts if the key is in it, or was carried to the next one.
    /// @dev NOT checked: that the bytes are a valid key, and that its owner holds the secret. That is the caller's
    /// duty.
    /// @param key The key, `_keyBytes()` long.
    /// @return index The key's index.
    function _append(bytes calldata key) internal returns (uint256 index) {
        uint256 table = _table();
        bytes32 hash = _hashOf(key);
        uint256 places = _indexOf[hash];
        require(places == 0 || uint64(places) >> 32 < table, KeyTaken(key));
        index = _keyCount++;
        _indexOf[hash] = places << 64 | _place(table, index);
        emit KeyAdded(table, index, key);
    }

    /// @notice Gives a key that was just appended the next free index of the next table, too, without a page. So a key
    /// that comes while others are carried need not be carried.
    /// @param key The key.
    /// @param index Its index in the running table.
    function _carryNew(bytes calldata key, uint256 index) internal {
        (uint256 table, uint256 next) = (_table() + 1, _carried++);
        bytes32 hash = _hashOf(key);
        _indexOf[hash] = _indexOf[hash] << 64 | _place(table, next);
        emit KeysCarried(table, next, abi.encodePacked(uint32(index)));
    }

    /// @notice Makes the next table the running one. `_table` has to return its number from now on.
    function _renew() internal {
        (_keyCount, _carried) = (_carried, 0);
    }

    /// @notice Creates a page and counts it.
    /// @param kind The page's kind.
    /// @param number The number in its header.
    /// @param payload The data, as long as a page can be at most.
    /// @param program The page's program.
    /// @return nonce The page's nonce.
    function _newPage(uint8 kind, uint64 number, bytes memory payload, bytes memory program)
        internal
        returns (uint256 nonce)
    {
        CodePages.create(kind, number, payload, program);
        // Callers make one page, or those of one epoch; each creation costs ten times as much.
        // slither-disable-next-line costly-loop
        nonce = ++_pages;
    }

    /// @notice The nonce of the last page; 0 if there is no page.
    function _lastPage() internal view returns (uint256 nonce) {
        return _pages;
    }

    /// @notice Opens a page of keys. Reverts if it is one of another table. Whoever has pages with a program checks that it has one.
    /// @param nonce The page's nonce.
    /// @param table The table.
    /// @return The index of its first key, above 16 bits of how many keys it holds, above its address.
    function _openKeys(uint256 nonce, uint256 table) internal view virtual returns (uint256);

    /// @notice What looks like a page of keys.
    /// @param nonce The page's nonce.
    /// @param table The table.
    /// @return As `_openKeys`.
    function _openHeader(uint256 nonce, uint256 table) internal view returns (uint256) {
        (address page, uint256 number) = CodePages.open(nonce, KEYS, _programBytes());
        if (number >> 48 != table) CodePages.refuse(nonce);
        return uint256(uint48(number)) << 160 | uint160(page);
    }

    /// @dev Reverts if keys are left over. A function, like the next one, so that the error is in the code once.
    /// @param length Bytes that are left.
    function _noKeysLeft(uint256 length) internal pure {
        require(length == 0, KeysLeft(length));
    }

    /// @dev Reverts unless the key of an index was found.
    function _found(bool found, uint256 index) private pure {
        require(found, NoSuchKey(index));
    }

    /// @dev One more than the index of the last key in a page.
    function _lastOf(uint256 page) internal pure returns (uint256) {
        unchecked {
            return (page >> 176) + uint16(page >> 160);
        }
    }

    /// @dev Whether a page, from `_openKeys`, holds the key of an index. No page, which is 0, holds none.
    function _holds(uint256 page, uint256 index) internal pure returns (bool) {
        return index >= page >> 176 && index < _lastOf(page);
    }

    /// @dev Where the key of an index lies in a page that begins with its program and the header, less the header; modulo
    /// 2^256 if the page begins with a later index.
    function _offsetOf(uint256 page, uint256 index) internal view returns (uint256) {
        unchecked {
            return _programBytes() + (index - (page >> 176)) * _keyBytes();
        }
    }

    /// @notice Copies a key from a page to memory. Reverts if the page does not hold it.
    /// @param page The page, from `_openKeys`.
    /// @param index The key's index.
    /// @param to Where in memory the key is written; the caller has allocated the room.
    /// @return hash The key's hash.
    function _readKey(uint256 page, uint256 index, uint256 to) internal view returns (bytes32 hash) {
        _found(_holds(page, index), index);
        uint256 size = _keyBytes();
        CodePages.read(address(uint160(page)), _offsetOf(page, index), size, to);
        assembly ("memory-safe") {
            hash := keccak256(to, size)
        }
    }

    /// @notice Copies a key from calldata to memory, and checks by its hash that it is the key of an index.
    /// @param from Calldata offset of the key.
    /// @param end Calldata offset at which the passed keys end.
    /// @param table The table.
    /// @param index The key's index.
    /// @param to Where in memory the key is written; the caller has allocated the room.
    /// @return next Calldata offset behind the key.
    function _takeKey(uint256 from, uint256 end, uint256 table, uint256 index, uint256 to)
        internal
        view
        returns (uint256 next)
    {
        uint256 size = _keyBytes();
        // Unchecked: a position in calldata.
        unchecked {
            next = from + size;
        }
        bytes32 hash;
        // Not memory-safe by itself: the caller allocated the memory at `to`.
        assembly {
            calldatacopy(to, from, size)
            hash := keccak256(to, size)
        }
        (uint256 places, uint256 place) = (_indexOf[hash], _place(table, index));
        // A larger index would change the table in `place`, or make it 0, which an unknown key has.
        _found(next <= end && index < type(uint32).max, index);
        for (; uint64(places) != place; places >>= 64) {
            _found(places != 0, index);
        }
    }

    /// @dev The hash of a key in calldata. Assembly, because it has a third of the code. The free memory is not kept.
    function _hashOf(bytes calldata key) internal pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            let to := mload(0x40)
            calldatacopy(to, key.offset, key.length)
            hash := keccak256(to, key.length)
        }
    }

    /// @dev A table and an index in one number. NOT checked: that the index is below 2^32 - 1; then it is not zero.
    function _place(uint256 table, uint256 index) private pure returns (uint256) {
        unchecked {
            return table << 32 | index + 1;
        }
    }

    /// @dev Memory for a page of keys. Reverts if a page cannot hold so many.
    function _newPayload(uint256 keys) private view returns (bytes memory, uint256) {
        uint256 most = (CodePages.MOST_PAYLOAD - _programBytes()) / _keyBytes();
        require(keys != 0 && keys <= most, KeysAPage(keys, most));
        unchecked {
            return _newBytes(keys * _keyBytes());
        }
    }

    /// @dev An array of bytes that hold anything, and where its bytes lie.
    function _newBytes(uint256 length) private pure returns (bytes memory data, uint256 to) {
        assembly ("memory-safe") {
            data := mload(0x40)
            to := add(data, 0x20)
            mstore(data, length)
            mstore(0x40, and(add(add(to, length), 0x1f), not(0x1f)))
        }
    }

    /// @dev Makes a page of keys.
    function _pageKeys(uint256 table, uint256 first, uint256 keys, bytes memory payload) private {
        uint256 nonce = _newPage(KEYS, uint64(table << 48 | first << 16 | keys), payload, _program());
        emit KeysPaged(nonce, table, first, keys);
    }
}
