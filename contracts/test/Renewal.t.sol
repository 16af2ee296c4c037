// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {QuorumFixture} from "./QuorumFixture.sol";
import {ToyCurve, ToyKeys} from "./mocks/ToyCurve.sol";
import {CodePages} from "../src/libraries/CodePages.sol";
import {Head} from "../src/Head.sol";
import {KeyTable} from "../src/KeyTable.sol";
import {Ring} from "../src/Ring.sol";
import {Settlement} from "../src/Settlement.sol";

/// @notice Tests how a key table is renewed: keys are carried to the next one, and an epoch begins with it. Eight of
/// the keys lie in a page, and four do not.
contract RenewalTest is QuorumFixture {
    /// The secrets that were carried, and the page of them.
    uint256[] private _next;
    uint256[] private _nextPages;

    function _noSuchPage(uint256 nonce) private pure returns (bytes memory) {
        return abi.encodeWithSelector(CodePages.NoSuchPage.selector, nonce);
    }

    /// @dev Carries the keys of these indices, one byte each.
    function _carry(bytes memory indices) private {
        _settlement.carry(_wide(indices), _keyPages);
        for (uint256 i = 0; i < indices.length; i++) {
            _next.push(_secrets[uint8(indices[i])]);
        }
        _nextPages.push(_settlement.extent().pages);
    }

    /// @dev Indices of 4 bytes.
    function _wide(bytes memory indices) private pure returns (bytes memory wide) {
        for (uint256 i = 0; i < indices.length; i++) {
            wide = abi.encodePacked(wide, uint32(uint8(indices[i])));
        }
    }

    function _begun() private {
        uint64[] memory weights = new uint64[](_next.length);
        for (uint256 i = 0; i < weights.length; i++) {
            weights[i] = 1;
        }
        _settlement.begin(1, Members.packWeights(weights), 1, true);
        _weights = weights;
    }

    /// @dev Begins and enters an epoch with the next table, whose members weigh 1 each.
    function _renew() private {
        _begun();
        _switch();
    }

    function _switch() private {
        _settlement.enter(_head, Members.commitment(_newest));
        _entered();
        _secrets = _next;
        _keyPages = _nextPages;
        _paged = _next.length;
        delete _next;
        delete _nextPages;
    }

    function test_renewed() public {
        _settle(Members.empty(), NEWEST, _range(0, N));
        _carry(hex"0703");
        _registerSecret(1000);
        _carry(hex"00");
        assertTrue(_settlement.extent().keys == N + 1 && _settlement.extent().carried == 3, "extent");
        _settle(_newest, NEWEST, _range(0, 8));
        _renew();
        assertTrue(_head.table() == 1 && _head.epoch() == 2 && _head.nonce() == 2, "head");
        assertEq(_newest.slot, NONE, "no newest base");
        assertTrue(_settlement.extent().keys == 3 && _settlement.extent().carried == 0, "extent");
        _settle(Members.empty(), NEWEST, _range(0, 3));
        Members.Base memory base = _settle(_newest, 2, _range(1, 3));
        _settle(base, RENTAL, _range(0, 1));
        // New keys follow the carried ones.
        _registerSecret(1001);
        (uint256 table, uint256 index) = _settlement.indexOf(_keys(3, 4));
        assertTrue(table == 1 && index == 3, "a new key");
        _settle(_newest, NONE, _range(0, 4));
        // And again, with a key that was never in the first table.
        _compact(1);
        _carry(hex"0302");
        _renew();
        assertEq(_head.table(), 2, "the third table");
        _settle(Members.empty(), NEWEST, _range(0, 2));
    }

    /// @notice Bases of the old table mean other members. No slot names one, and the newest base is gone.
    function test_trap_aBaseOfTheOldTable() public {
        Members.Base memory ring = _settle(Members.empty(), 2, _range(0, 8));
        Members.Base memory newest = _settle(ring, NEWEST, _range(0, 8));
        _settlement.pin(1, 2);
        _carry(hex"0001020304050607");
        _renew();
        _refuse(ring, NONE, _range(0, 8), abi.encodeWithSelector(Ring.NotThisBase.selector, 2));
        ring.slot = 1;
        _refuse(ring, NONE, _range(0, 8), abi.encodeWithSelector(Ring.NotThisBase.selector, 1));
        _refuse(newest, NONE, _range(0, 8), abi.encodeWithSelector(Settlement.NotThisState.selector));
        bytes32[] memory results = _results(1);
        bytes memory quorum = _quorum(newest, NONE, _range(0, 8), _signature(results, NONE, _range(0, 8)));
        bytes memory call = _callAll(Members.commitment(newest), _head, results, quorum);
        _refuse(call, Settlement.NotThisState.selector);
        // A head that names the old table is not the state's.
        Head old = Head.wrap(Head.unwrap(_head) ^ 1 << 192);
        assertEq(old.table(), 0, "the old table");
        _refuse(_callAll(0, old, results, quorum), Settlement.NotThisState.selector);
        // Nothing of the old table can be pinned, and no slot that would be one of another table.
        vm.expectRevert(abi.encodeWithSelector(Ring.NotThisBase.selector, 2));
        _settlement.pin(1, 2);
        _settle(Members.empty(), 2, _range(0, 8));
        vm.expectRevert(abi.encodeWithSelector(Ring.NotThisBase.selector, 1 << 16 | 2));
        _settlement.pin(1, 1 << 16 | 2);
        _settlement.pin(1, 2);
    }

    /// @notice A page belongs to one table. In another one it would hold other members' keys.
    function test_trap_aPageOfTheOldTable() public {
        uint256[] memory old = _keyPages;
        _carry(hex"0706050403020100");
        // The page of the next table serves in no quorum of the running one, and not in `compact`.
        _keyPages = _nextPages;
        _refuse(Members.empty(), NONE, _range(0, 8), _noSuchPage(_nextPages[0]));
        vm.expectRevert(_noSuchPage(_nextPages[0]));
        _settlement.compact(0, 8, _nextPages, "");
        vm.expectRevert(_noSuchPage(_nextPages[0]));
        _settlement.keyAt(0, _nextPages[0]);
        vm.expectRevert(_noSuchPage(_nextPages[0]));
        _settlement.carry(_wide(hex"00"), _nextPages);
        _keyPages = old;
        _renew();
        uint256[] memory renewed = _keyPages;
        _keyPages = old;
        _refuse(Members.empty(), NONE, _range(0, 8), _noSuchPage(old[0]));
        vm.expectRevert(_noSuchPage(old[0]));
        _settlement.compact(0, 8, old, "");
        vm.expectRevert(_noSuchPage(old[0]));
        _settlement.carry(_wide(hex"00"), old);
        vm.expectRevert(_noSuchPage(old[0]));
        _settlement.keyAt(0, old[0]);
        _keyPages = renewed;
        _settle(Members.empty(), NONE, _range(0, 8));
        assertEq(_settlement.keyAt(0, renewed[0]), Members.toyKeys(8, 1), "the first key of the next table");
    }

    function test_trap_aKeyCarriedTwice() public {
        bytes memory why = abi.encodeWithSelector(KeyTable.KeyCarried.selector, 3);
        vm.expectRevert(why);
        _settlement.carry(_wide(hex"020303"), _keyPages);
        _carry(hex"0203");
        vm.expectRevert(why);
        _settlement.carry(_wide(hex"0103"), _keyPages);
        _carry(hex"01");
        assertEq(_settlement.extent().carried, 3, "carried");
    }

    /// @notice Indices beyond the table, and keys that lie in no page, or in a page that is not named.
    function test_trap_anIndexBeyond() public {
        uint256[3] memory indices = [uint256(N), 9, 255];
        for (uint256 i = 0; i < 3; i++) {
            bytes memory why = abi.encodeWithSelector(KeyTable.NoSuchKey.selector, indices[i]);
            vm.expectRevert(why);
            _settlement.carry(_wide(abi.encodePacked(uint8(1), uint8(indices[i]))), _keyPages);
        }
        vm.expectRevert(abi.encodeWithSelector(KeyTable.NoSuchKey.selector, 2 ** 32 - 1));
        _settlement.carry(hex"ffffffff", _keyPages);
        vm.expectRevert(abi.encodeWithSelector(KeyTable.NoSuchKey.selector, 1));
        _settlement.carry(_wide(hex"01"), _none);
        vm.expectRevert(abi.encodeWithSelector(KeyTable.KeysAPage.selector, 0, 383));
        _settlement.carry("", _keyPages);
        assertEq(_settlement.extent().carried, 0, "nothing");
    }

    /// @notice A carried key still settles in the running table, from its page and from calldata, until the switch.
    /// Then it has its new index alone.
    function test_trap_aCarriedKeyUntilTheSwitch() public {
        _settlement.compact(8, 4, _none, _keys(8, N));
        uint256 page = _settlement.extent().pages;
        // The quorum passes the keys 8 to 11, and waits while they are carried.
        bytes memory pending = _call(Members.empty(), NONE, _range(4, N));
        _keyPages.push(page);
        _carry(hex"090804");
        _accept(pending);
        _settled(Members.empty(), NONE, _range(4, N), 1);
        _paged = N;
        _settle(Members.empty(), NONE, _range(4, N));
        (uint256 table, uint256 index) = _settlement.indexOf(_keys(8, 9));
        assertTrue(table == 1 && index == 1, "where");
        bytes memory key = _keys(8, 9);
        _settlement.compact(8, 1, _none, key);
        _renew();
        vm.expectRevert(abi.encodeWithSelector(KeyTable.NoSuchKey.selector, 8));
        _settlement.compact(8, 1, _none, key);
        _settlement.compact(1, 1, _none, key);
        _settle(Members.empty(), NONE, _range(0, 3));
    }

    /// @notice The same members sign with the same indices in both tables. The digest names the epoch, so the old
    /// signature does not count.
    function test_trap_aSignatureOfTheOldTable() public {
        bytes32[] memory results = _results(1);
        bytes memory proof = _signature(results, NONE, _range(0, 8));
        _carry(hex"0001020304050607");
        _renew();
        bytes memory quorum = _quorum(Members.empty(), NONE, _range(0, 8), proof);
        _refuse(_call(Members.empty(), results, quorum), ToyKeys.FalseSignature.selector);
        _settle(Members.empty(), NONE, _range(0, 8));
    }

    /// @notice Keys are carried in another order. A bitmap means the members of its table.
    function test_trap_aBitmapThatMeansOtherMembers() public {
        _carry(hex"0706050403020100");
        _renew();
        bytes32[] memory results = _results(1);
        bytes32 digest = _digest(_epoch(), _nonce(), _deadline, NONE, results);
        // The member with secret 1 had index 0, and has index 7.
        bytes memory proof = _settlement.signature(Members.only(digest), 1);
        bytes memory quorum = _quorum(Members.empty(), NONE, _range(0, 1), proof);
        _refuse(_call(Members.empty(), results, quorum), ToyKeys.FalseSignature.selector);
        quorum = _quorum(Members.empty(), NONE, _range(7, 8), proof);
        _accept(_call(Members.empty(), results, quorum));
    }

    /// @notice A carried key is taken, before and after the switch. A key that was left behind may be registered again.
    function test_trap_registeredAgain() public {
        bytes memory carried = _keys(2, 3);
        bytes memory left = _keys(5, 6);
        bytes32[] memory digests = Members.only(_settlement.possessionDigest(address(this), carried));
        bytes memory proof = _settlement.signature(digests, 3);
        _carry(hex"0200");
        bytes memory why = abi.encodeWithSelector(KeyTable.KeyTaken.selector, carried);
        vm.expectRevert(why);
        _settlement.register(address(this), carried, proof);
        _renew();
        vm.expectRevert(why);
        _settlement.register(address(this), carried, proof);
        _registerSecret(6);
        (uint256 table, uint256 index) = _settlement.indexOf(left);
        assertTrue(table == 1 && index == 2, "registered again");
        digests[0] = _settlement.possessionDigest(address(this), left);
        proof = _settlement.signature(digests, 6);
        vm.expectRevert(abi.encodeWithSelector(KeyTable.KeyTaken.selector, left));
        _settlement.register(address(this), left, proof);
        _settle(Members.empty(), NONE, _range(0, 3));
    }

    /// @notice Between `begin` and `enter` the next table is the running one: keys are registered in it.
    function test_registeredWhileTheNextTableWaits() public {
        _settle(Members.empty(), NEWEST, _range(0, 8));
        _carry(hex"0100");
        _begun();
        uint256[] memory old = _secrets;
        _secrets = _next;
        _registerSecret(1000);
        _next.push(1000);
        (uint256 table, uint256 index) = _settlement.indexOf(_keys(2, 3));
        assertTrue(table == 1 && index == 2, "where");
        _settlement.compact(2, 1, _none, _keys(2, 3));
        _nextPages.push(_settlement.extent().pages);
        _secrets = old;
        _switch();
        _settle(Members.empty(), NONE, _range(0, 3));
    }

    /// @notice Nothing was carried: the next table is empty.
    function test_renewedWithoutKeys() public {
        _renew();
        assertTrue(_head.table() == 1 && _members() == 0, "empty");
        _paged = 0;
        _registerSecret(1000);
        uint64[] memory weights = new uint64[](1);
        weights[0] = 1;
        _begin(weights, 1, 1);
        assertTrue(_head.table() == 1 && _epoch() == 3, "the same table");
        _settle(Members.empty(), NONE, _range(0, 1));
    }
}

/// @notice The registrar and the aggregator of a settlement whose 100 operators rotate each week.
contract Rotation {
    uint256 public constant OPERATORS = 100;
    ToyCurve public immutable settlement = new ToyCurve(1, 1_000);
    Head public head;
    /// Keys that were ever made; the newest hundred are in use. Their first index in the table.
    uint256 public made;
    uint256 public first;
    /// Gas of the last calls, without the transaction and its calldata.
    uint256 public beginGas;
    uint256 public settleGas;
    uint256 public keyPage;

    /// @notice All operators rotate, an epoch begins, and they settle a result.
    function week() external {
        for (uint256 i = 1; i <= OPERATORS; i++) {
            bytes memory key = Members.toyKeys(made + i, 1);
            bytes32 digest = settlement.possessionDigest(address(this), key);
            uint256 index =
                settlement.register(address(this), key, settlement.signature(Members.only(digest), made + i));
            if (i == 1) first = index;
        }
        settlement.compact(first, OPERATORS, new uint256[](0), Members.toyKeys(made + 1, OPERATORS));
        keyPage = settlement.extent().pages;
        made += OPERATORS;
        _settle(false);
    }

    /// @notice The keys in use are carried to the next table, and settle a result there.
    function renew() external {
        bytes memory indices;
        for (uint256 i = 0; i < OPERATORS; i++) {
            indices = abi.encodePacked(indices, uint32(first + i));
        }
        uint256[] memory nonces = new uint256[](1);
        nonces[0] = keyPage;
        settlement.carry(indices, nonces);
        keyPage = settlement.extent().pages;
        first = 0;
        _settle(true);
    }

    /// @dev Only the keys in use have a weight. Two thirds of them are required.
    function _settle(bool next) private {
        uint64[] memory weights = new uint64[](first + OPERATORS);
        bool[] memory members = new bool[](first + OPERATORS);
        for (uint256 i = first; i < weights.length; i++) {
            (weights[i], members[i]) = (1, true);
        }
        bytes memory packed = Members.packWeights(weights);
        uint256 gas = gasleft();
        settlement.begin(1, packed, 67, next);
        beginGas = gas - gasleft();
        settlement.enter(head, 0);
        head = head.enter(settlement.terms());
        bytes32[] memory results = new bytes32[](1);
        bytes32 digest = settlement.resultsDigest(head.epoch(), head.nonce(), type(uint64).max, Members.NONE, results);
        uint256 secret = OPERATORS * made - OPERATORS * (OPERATORS - 1) / 2;
        bytes memory proof = settlement.signature(Members.only(digest), secret);
        bytes memory quorum = _pack(packed, Members.bitmap(members), proof);
        Head before = head;
        gas = gasleft();
        settlement.settleAll(before, 0, type(uint64).max, results, quorum);
        settleGas = gas - gasleft();
        head = head.advance(1);
    }

    function _pack(bytes memory weights, bytes memory signers, bytes memory proof) private view returns (bytes memory) {
        uint256[] memory pages = new uint256[](1);
        pages[0] = keyPage;
        uint256 low = first / 2048;
        uint256 high = (first + OPERATORS - 1) / 2048;
        uint256[] memory parts = new uint256[](high - low + 1);
        Members.Passed memory passed;
        for (uint256 part = low; part <= high; part++) {
            bytes memory some = Members.partOf(weights, part);
            parts[part - low] = 1 << 31 | some.length;
            passed.weightBytes = abi.encodePacked(passed.weightBytes, some);
        }
        return Members.pack(Members.empty(), Members.NONE, pages, parts, passed, signers, proof);
    }
}

/// @notice 100 operators rotate weekly for ten years, and the table is renewed once a year: 52,000 registrations. The
/// table, the gas of `begin` and that of a settlement do not grow from year to year.
contract RotationTest is Test {
    function test_tenYears() public {
        Rotation rotation = new Rotation();
        uint256[3] memory most;
        for (uint256 year = 0; year < 10; year++) {
            uint256[3] memory now_;
            for (uint256 week = 0; week < 52; week++) {
                // A test has less gas than ten years take.
                vm.resetGasMetering();
                rotation.week();
                now_ = _most(now_, rotation);
            }
            rotation.renew();
            now_ = _most(now_, rotation);
            if (year == 0) most = now_;
            if (year == 1) most = _most(most, now_);
            for (uint256 i = 0; i < 3; i++) {
                assertTrue(now_[i] <= most[i] * 101 / 100, "no more than in the first years");
            }
        }
        assertEq(rotation.made(), 52_000, "registered");
        assertEq(rotation.settlement().terms().table(), 10, "tables");
        assertTrue(most[0] <= 5_400, "keys of a table");
        vm.snapshotValue("Renewal", "most keys of a table, 100 operators that rotate weekly", most[0]);
        vm.snapshotValue("Renewal", "dearest begin, without calldata", most[1]);
        vm.snapshotValue("Renewal", "dearest settlement of 100 members from nothing, without calldata", most[2]);
    }

    function _most(uint256[3] memory most, Rotation rotation) private view returns (uint256[3] memory) {
        return _most(most, [uint256(rotation.settlement().extent().keys), rotation.beginGas(), rotation.settleGas()]);
    }

    function _most(uint256[3] memory a, uint256[3] memory b) private pure returns (uint256[3] memory most) {
        for (uint256 i = 0; i < 3; i++) {
            most[i] = a[i] > b[i] ? a[i] : b[i];
        }
    }
}
