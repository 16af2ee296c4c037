// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {QuorumFixture} from "./QuorumFixture.sol";
import {CodePages} from "../src/libraries/CodePages.sol";
import {KeyTable} from "../src/KeyTable.sol";
import {Quorums} from "../src/Quorums.sol";

/// @notice Tests the key table: keys by hash, keys that calls pass, and pages of any range.
contract KeyTableTest is QuorumFixture {
    address private constant STRANGER = address(0xbad);

    function _noSuchKey(uint256 index) private pure returns (bytes memory) {
        return abi.encodeWithSelector(KeyTable.NoSuchKey.selector, index);
    }

    function _nonces(uint256 a, uint256 b) private pure returns (uint256[] memory nonces) {
        nonces = new uint256[](2);
        (nonces[0], nonces[1]) = (a, b);
    }

    function test_whereAKeyIs() public {
        for (uint256 i = 0; i < N; i++) {
            (uint256 table, uint256 index) = _settlement.indexOf(_keys(i, i + 1));
            assertTrue(table == 0 && index == i, "where");
        }
        vm.expectRevert(KeyTable.UnknownKey.selector);
        _settlement.indexOf(abi.encode(77, ~uint256(77)));
        vm.expectRevert(KeyTable.UnknownKey.selector);
        _settlement.indexOf("");
    }

    function test_keysOfAPage() public {
        for (uint256 i = 0; i < 8; i++) {
            assertEq(_settlement.keyAt(i, 2), _keys(i, i + 1), "key");
        }
        vm.expectRevert(_noSuchKey(8));
        _settlement.keyAt(8, 2);
        vm.expectRevert(abi.encodeWithSelector(CodePages.NoSuchPage.selector, 0));
        _settlement.keyAt(9, 0);
        vm.expectRevert(abi.encodeWithSelector(CodePages.NoSuchPage.selector, 3));
        _settlement.keyAt(0, 3);
        vm.expectRevert(abi.encodeWithSelector(CodePages.NoSuchPage.selector, 4));
        _settlement.keyAt(0, 4);
    }

    /// @dev A call with these keys in calldata, of the members 6 to 9, of whom 6 and 7 lie in a page.
    function _passing(uint256 keys, bytes memory bytes_) private view returns (bytes memory) {
        bytes memory signers = _range(6, 10);
        bytes32[] memory results = _results(1);
        bytes memory proof = _signature(results, NONE, signers);
        Members.Passed memory passed = Members.Passed(keys, bytes_, "");
        return
            _call(
                Members.empty(), results, Members.pack(Members.empty(), NONE, _keyPages, _none, passed, signers, proof)
            );
    }

    /// @notice The quorum needs the keys 8 and 9, in this order. Anything else is refused.
    function test_trap_keysInCalldata() public {
        _refuse(_passing(0, ""), _noSuchKey(8));
        _refuse(_passing(1, _keys(8, 9)), _noSuchKey(9));
        _refuse(_passing(1, _keys(9, 10)), _noSuchKey(8));
        _refuse(_passing(2, abi.encodePacked(_keys(9, 10), _keys(8, 9))), _noSuchKey(8));
        _refuse(_passing(2, abi.encodePacked(_keys(8, 9), _keys(8, 9))), _noSuchKey(9));
        // A key of no member, and the key of a member in the page.
        _refuse(_passing(2, abi.encodePacked(_keys(8, 9), abi.encode(77, ~uint256(77)))), _noSuchKey(9));
        _refuse(_passing(3, _keys(7, 10)), _noSuchKey(8));
        _refuse(_passing(3, _keys(8, 11)), abi.encodeWithSelector(KeyTable.KeysLeft.selector, 64));
        _accept(_passing(2, _keys(8, 10)));
    }

    /// @notice A quorum with the base's members needs no keys, and passes none.
    function test_trap_keysOfAQuorumThatDoesNotChange() public {
        Members.Base memory base = _settle(Members.empty(), 2, _range(6, 10));
        bytes32[] memory results = _results(1);
        bytes memory proof = _signature(results, NONE, base.signers);
        Members.Passed memory passed = Members.Passed(1, _keys(8, 9), "");
        bytes memory quorum = Members.packOwn(base, NONE, _none, _none, passed, "", proof);
        _refuse(_call(base, results, quorum), abi.encodeWithSelector(KeyTable.KeysLeft.selector, 64));
    }

    function test_compactedByAnyone() public {
        vm.recordLogs();
        vm.prank(STRANGER);
        _settlement.compact(3, 8, _one(2), _keys(8, 11));
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs[0].topics[0], KeyTable.KeysPaged.selector, "paged");
        assertTrue(uint256(logs[0].topics[1]) == 4 && uint256(logs[0].topics[2]) == 0, "nonce and table");
        assertEq(logs[0].data, abi.encode(3, 8), "first and keys");
        for (uint256 i = 3; i < 11; i++) {
            assertEq(_settlement.keyAt(i, 4), _keys(i, i + 1), "key");
        }
        vm.expectRevert(_noSuchKey(2));
        _settlement.keyAt(2, 4);
    }

    function _one(uint256 nonce) private pure returns (uint256[] memory nonces) {
        nonces = new uint256[](1);
        nonces[0] = nonce;
    }

    /// @notice Keys that no named page holds are passed in order, and each has the hash of its index.
    function test_trap_falseTails() public {
        vm.expectRevert(_noSuchKey(8));
        _settlement.compact(6, 4, _one(2), "");
        vm.expectRevert(_noSuchKey(8));
        _settlement.compact(6, 4, _one(2), abi.encodePacked(_keys(9, 10), _keys(8, 9)));
        vm.expectRevert(_noSuchKey(6));
        _settlement.compact(6, 4, _none, _keys(8, 10));
        vm.expectRevert(_noSuchKey(8));
        _settlement.compact(6, 4, _one(2), _keys(6, 10));
        bytes memory half = abi.encodePacked(_keys(8, 9), uint256(10));
        vm.expectRevert(_noSuchKey(9));
        _settlement.compact(6, 4, _one(2), half);
        half = abi.encodePacked(_keys(8, 10), uint8(0));
        vm.expectRevert(abi.encodeWithSelector(KeyTable.KeysLeft.selector, 1));
        _settlement.compact(6, 4, _one(2), half);
        vm.expectRevert(_noSuchKey(N));
        _settlement.compact(6, 7, _one(2), abi.encodePacked(_keys(8, N), abi.encode(N + 1, ~(N + 1))));
        _settlement.compact(6, 4, _one(2), _keys(8, 10));
    }

    /// @notice Pages that `compact` copies from: named twice, in the wrong order, not needed, and of another kind.
    function test_trap_pagesToCopyFrom() public {
        _settlement.compact(8, 4, _none, _keys(8, N));
        uint256 weights = _weightPages[0];
        assertTrue(weights == 3 && _settlement.extent().pages == 4, "pages");
        vm.expectRevert(_noSuchKey(6));
        _settlement.compact(6, 4, _nonces(4, 2), "");
        vm.expectRevert(abi.encodeWithSelector(CodePages.NoSuchPage.selector, weights));
        _settlement.compact(6, 4, _nonces(weights, 4), "");
        vm.expectRevert(abi.encodeWithSelector(CodePages.NoSuchPage.selector, 9));
        _settlement.compact(6, 4, _nonces(2, 9), _keys(8, 10));
        _settlement.compact(6, 4, _nonces(2, 4), "");
        _settlement.compact(6, 2, _nonces(2, 9), "");
        _settlement.compact(0, N, _nonces(2, 4), "");
        assertEq(_settlement.keyAt(11, 7), _keys(11, 12), "the last");
    }

    /// @notice Upper bits of a nonce do not get into the creator's place, where they would name a page that a contract at another
    /// address made, with any keys.
    function test_trap_aPageOfAnotherCreator() public {
        uint160 mask = uint160(uint256(keccak256("any bits")));
        uint256 nonce = uint256(mask) << 40 | 0x01000001;
        address page = vm.computeCreateAddress(address(uint160(address(_settlement)) | mask), 0x01000001);
        vm.etch(page, abi.encodePacked(uint8(0), uint8(1), uint64(1), new bytes(_keys(0, 1).length)));
        vm.expectRevert(abi.encodeWithSelector(CodePages.NoSuchPage.selector, nonce));
        _settlement.compact(0, 1, _one(nonce), "");
        vm.expectRevert(abi.encodeWithSelector(CodePages.NoSuchPage.selector, nonce));
        _settlement.keyAt(0, nonce);
    }

    /// @notice A settlement waits in the mempool while anyone makes pages of the same keys. It names older pages and
    /// passes keys, and both stay valid.
    function test_trap_compactingBeforeAPendingSettlement() public {
        bytes memory pending = _call(Members.empty(), NONE, _range(3, N));
        _settlement.compact(0, N, _one(2), _keys(8, N));
        _settlement.compact(8, 4, _none, _keys(8, N));
        _settlement.compact(5, 5, _nonces(4, 5), "");
        _accept(pending);
    }

    /// @notice Anyone merges small pages, so a table that somebody cut into pieces costs no more than before.
    function test_mergedAgain() public {
        uint256 keys = 1_000;
        _register(keys - N);
        uint256[] memory small = new uint256[](keys / 8);
        for (uint256 i = 0; i < small.length; i++) {
            _settlement.compact(8 * i, 8, _none, _keys(8 * i, 8 * i + 8));
            small[i] = _settlement.extent().pages;
        }
        bool[] memory members = new bool[](keys);
        for (uint256 i = 0; i < keys; i += 50) {
            members[i] = true;
        }
        bytes memory signers = Members.bitmap(members);
        _begin(1);
        _paged = keys;
        // The quorum names the page of each member.
        delete _keyPages;
        for (uint256 i = 0; i < keys; i += 50) {
            _keyPages.push(small[i / 8]);
        }
        _settle(Members.empty(), NEWEST, signers);
        uint256 before = _gas;
        delete _keyPages;
        for (uint256 first = 0; first < keys; first += 376) {
            uint256 count = keys - first < 376 ? keys - first : 376;
            uint256[] memory from = new uint256[](count / 8);
            for (uint256 i = 0; i < from.length; i++) {
                from[i] = small[first / 8 + i];
            }
            _settlement.compact(first, count, from, "");
            _keyPages.push(_settlement.extent().pages);
        }
        for (uint256 i = 0; i < keys; i += 37) {
            assertEq(_settlement.keyAt(i, _keyPages[i / 376]), _keys(i, i + 1), "key");
        }
        _settle(Members.empty(), NEWEST, signers);
        uint256 later = _gas;
        vm.snapshotValue("KeyTable", "20 members in 20 pages of 8", before);
        vm.snapshotValue("KeyTable", "20 members in 3 merged pages", later);
        // 17 pages fewer, of 2,600 gas each.
        assertTrue(later + 17 * 2_600 < before, "cheaper");
    }

    /// @notice Compares a page that is copied from random pages, and from calldata, with the keys.
    /// forge-config: default.fuzz.runs = 64
    function testFuzz_pagesOfAnyRange(uint256 seed) public {
        uint256[] memory firsts = new uint256[](6);
        uint256[] memory lasts = new uint256[](6);
        (firsts[0], lasts[0]) = (0, 8);
        uint256 pages = _settlement.extent().pages;
        for (uint256 p = 1; p < 6; p++) {
            uint256 random = uint256(keccak256(abi.encode(seed, p)));
            (firsts[p], lasts[p]) = (random % N, 0);
            lasts[p] = firsts[p] + 1 + (random >> 8) % (N - firsts[p]);
            // Names earlier pages in a rising order, each with some chance, and passes the other keys.
            uint256[] memory named = new uint256[](N);
            bytes memory tail;
            (uint256 count, uint256 to, uint256 passedTo) = (0, 0, 0);
            for (uint256 i = firsts[p]; i < lasts[p]; i++) {
                if (i < to) continue;
                uint256 q = (random >> (16 + i)) % p;
                if (firsts[q] <= i && i < lasts[q] && firsts[q] >= passedTo) {
                    named[count++] = q == 0 ? 2 : pages + q;
                    to = lasts[q];
                } else {
                    tail = abi.encodePacked(tail, _keys(i, i + 1));
                    passedTo = i + 1;
                }
            }
            assembly {
                mstore(named, count)
            }
            _settlement.compact(firsts[p], lasts[p] - firsts[p], named, tail);
            for (uint256 i = firsts[p]; i < lasts[p]; i++) {
                assertEq(_settlement.keyAt(i, pages + p), _keys(i, i + 1), "key");
            }
        }
    }
}
